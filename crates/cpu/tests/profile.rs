//! Profiles of programs: steps cover every equation once, and counts are right.

use cotangent_core::ops::{Cumulative, Running};
use cotangent_core::transform::Session;
use cotangent_core::{Array, Builder, DType, Dim, Emit, Env, Function, Type, Val};
use cotangent_cpu::profile::{Machine, StepInfo, steps};
use cotangent_cpu::{Tensor, compile};
use std::sync::Arc;

/// `sum(exp(x) x) + sum(x xᵀ)` for a square matrix `x`.
fn program() -> Function {
    let b = Builder::new("f", Session::default());
    let n = Dim::sym("n");
    let x = b.param(Type::new(DType::F32, vec![n.clone(), n]), Some("x"));
    let cx: &dyn Emit = &b;
    let chain = cx.reduce_sum(cx.mul(cx.exp(x), x), &[0, 1]);
    let product = cx.reduce_sum(cx.matmul(x, cx.transpose(x, &[1, 0])), &[0, 1]);
    let y = cx.add(chain, product);
    b.finish(&[y]).unwrap()
}

#[test]
fn steps_hold_every_equation_once_and_read_what_is_there() {
    let f = program();
    let (mut made, mut seen) = (f.params().to_vec(), Vec::new());
    for step in steps(&f) {
        assert!(
            step.reads.iter().all(|v| made.contains(v)),
            "{step:?} of\n{f:?}"
        );
        made.extend(&step.writes);
        seen.extend(step.equations);
    }
    assert!(f.results().iter().all(|v| made.contains(v)));
    seen.sort_unstable();
    assert!(
        seen.windows(2).all(|w| w[0] < w[1]),
        "an equation runs twice: {seen:?}"
    );
    // The transpose is a view.
    let view = |e: &usize| f.eqns()[*e].op.name() == "transpose";
    let all: Vec<usize> = (0..f.eqns().len()).filter(|e| !view(e)).collect();
    assert_eq!(seen, all, "{f:?}");
}

#[test]
fn a_product_and_what_follows_it_are_one_step() {
    let b = Builder::new("f", Session::default());
    let [m, k, n] = [30, 16, 40];
    let x = b.param(Type::new(DType::F32, [m, k]), Some("x"));
    let w = b.param(Type::new(DType::F32, [k, n]), Some("w"));
    let cx: &dyn Emit = &b;
    let y = cx.softmax(cx.matmul(x, w), 1);
    let f = Arc::new(b.finish(&[y]).unwrap());
    let product = steps(&f).into_iter().find(|s| {
        s.equations
            .iter()
            .any(|&e| f.eqns()[e].op.name() == "dot_general")
    });
    let product = product.unwrap();
    assert!(
        product
            .equations
            .iter()
            .any(|&e| f.eqns()[e].op.name() == "exp"),
        "{product:?}"
    );
    assert!(
        product.reads.len() == 2 && [x, w].iter().all(|v| product.reads.contains(v)),
        "{product:?}"
    );
    assert_eq!(product.writes, [y]);
    let ones = |shape: [usize; 2]| {
        Tensor::from(&Array::from_vec(shape, vec![1f32; shape[0] * shape[1]]).unwrap())
    };
    let p = compile(&f)
        .unwrap()
        .profile(&[ones([m, k]), ones([k, n])], 1)
        .unwrap();
    let step = p.steps.iter().find(|s| s.step.equations.len() > 4).unwrap();
    assert!(step.cost.flops > (2 * m * k * n) as f64, "{step:?}");
    assert_eq!(step.cost.bytes, (4 * (m * k + k * n + m * n)) as f64);
}

#[test]
fn a_profile_counts_with_the_actual_sizes() {
    let f = Arc::new(program());
    let program = compile(&f).unwrap();
    let n = 24;
    let x = Tensor::from(&Array::from_vec([n, n], vec![0.5f32; n * n]).unwrap());
    let p = program.profile(std::slice::from_ref(&x), 3).unwrap();
    assert_eq!(p.steps.len(), steps(&f).len());
    assert!(p.total >= p.steps.iter().map(|s| s.time).min().unwrap());
    let named = |name: &str| {
        p.steps
            .iter()
            .find(|s| {
                s.step
                    .equations
                    .iter()
                    .any(|&e| f.eqns()[e].op.name() == name)
            })
            .unwrap()
    };
    // All is one step: the product, `exp`, `mul`, two sums and their sum. It reads `x` once and
    // writes one number.
    let step = named("dot_general");
    let product = 2 * n * n * n;
    let flops = step.cost.flops - product as f64;
    assert!((0.0..(20 * n * n) as f64).contains(&flops), "{step:?}");
    assert_eq!(step.cost.bytes, (4 * n * n + 4) as f64, "{p}{step:?}");
    let machine = Machine::measure();
    assert!(machine.copies.iter().all(|(_, speed)| *speed > 0.0));
    let (arithmetic, bandwidth) = machine.share(named("dot_general"));
    assert!(arithmetic > 0.0 && bandwidth > 0.0);
}

/// `exp(x - s) + s`, where `s = stop_gradient(max(stop_gradient(x)))` over rows. With `marked`
/// false there is no `stop_gradient`.
fn shifted(marked: bool) -> Function {
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::new(DType::F32, [40, 30]), Some("x"));
    let cx: &dyn Emit = &b;
    let stop = |v| if marked { cx.stop_gradient(v) } else { v };
    let most = stop(cx.reduce_max(stop(x), &[1]));
    let all = cx.broadcast_in_dim(most, &[40.into(), 30.into()], &[0]);
    let y = cx.add(cx.exp(cx.sub(x, all)), all);
    b.finish(&[y, most]).unwrap()
}

#[test]
fn a_group_reads_what_stop_gradient_reads() {
    fn names(f: &Function) -> Vec<Vec<&str>> {
        let of = |s: &StepInfo| s.equations.iter().map(|&e| f.eqns()[e].op.name()).collect();
        steps(f).iter().map(of).collect()
    }
    let (marked, plain) = (Arc::new(shifted(true)), Arc::new(shifted(false)));
    let expected = [
        "stop_gradient",
        "reduce_max",
        "stop_gradient",
        "sub",
        "exp",
        "add",
    ];
    assert_eq!(names(&marked), [expected.to_vec()], "{marked:?}");
    let x: Vec<f32> = (0..1200).map(|i| (i * i % 97) as f32 / 50.0).collect();
    let x = [Array::from_vec([40, 30], x).unwrap()];
    let run = |f: &Arc<Function>| compile(f).unwrap().run(&x).unwrap();
    assert_eq!(run(&marked), run(&plain));
}

/// 40 steps of a carry of 3 numbers.
fn looped(step: impl Fn(&dyn Emit, Val) -> Val) -> Arc<Function> {
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::new(DType::F64, [3]), Some("x"));
    let cx: &dyn Emit = &b;
    let (y, _) = cx.scan(&[], &[x], &[], &40.into(), false, |cx, _, c, _| {
        (vec![step(cx, c[0])], Vec::new())
    });
    Arc::new(b.finish(&y).unwrap())
}

#[test]
fn profiles_and_plans_name_loops_that_are_code_and_why_others_are_not() {
    let turned = |cx: &dyn Emit, x: Val| {
        let parts = [1, 2, 0].map(|k| cx.slice_axis(x, 0, k, k + 1));
        cx.sub(cx.concatenate(&parts, 0), x)
    };
    let running = Cumulative {
        op: Running::LogSumExp,
        axis: 0,
        reverse: false,
        exclusive: false,
    };
    let cases = [
        (looped(turned), "code of "),
        (
            looped(|cx, x| cx.op(running, &[cx.sin(x)])),
            "steps in place, no code because of kernels on vectors, which take less time",
        ),
        (
            looped(|cx, x| cx.sin(x)),
            "one loop of code for each element",
        ),
    ];
    for (f, want) in cases {
        let x = Array::from_vec(vec![3], vec![0.1, 0.2, 0.3]).unwrap();
        let profile = compile(&f).unwrap().profile(&[Tensor::from(&x)], 1);
        let profile = profile.unwrap();
        let how = profile.steps.iter().find_map(|s| s.how.as_deref());
        assert!(how.is_some_and(|how| how.starts_with(want)), "{how:?}");
        assert!(profile.table(None).contains(want), "{profile}");
        let plan = cotangent_cpu::plan_text(&f, &Env::default()).unwrap();
        assert!(plan.contains(want), "{plan}");
    }
}
