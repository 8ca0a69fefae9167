//! Control flow and custom rules: corner cases, derivatives of every order, nesting, batching, linear size.

use cotangent_core::ops::{Call, Comparison};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, batch, grad, hvp, hvp_reverse, jvp, value_and_grad, vjp};
use cotangent_core::{Array, Builder, Code, DType, Dim, Emit, Function, Type, Val, reference};
use std::sync::Arc;

fn ad() -> AdContext {
    AdContext::default()
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

fn build(types: &[Type], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Function {
    let b = Builder::new("f", ad().session());
    let x: Vec<Val> = types.iter().enumerate().map(|(i, t)| b.param(t.clone(), Some(&format!("x{i}")))).collect();
    let y = f(&b, &x);
    b.finish(&y).unwrap()
}

/// A function of one real number.
fn scalar(f: impl FnOnce(&dyn Emit, Val) -> Val) -> Function {
    build(&[f64s(&[])], |cx, x| vec![f(cx, x[0])])
}

fn run(f: &Function, x: &[Array]) -> Vec<Vec<f64>> {
    reference::run(f, x).unwrap().iter().map(Array::to_f64).collect()
}

fn at(f: &Function, x: f64) -> f64 {
    run(f, &[Array::scalar(x)])[0][0]
}

fn derivative(f: &Function) -> Function {
    grad(&ad(), f, f.params()).unwrap()
}

fn close(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

/// Numbers without a pattern.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn like(x: &Array, seed: u64) -> Array {
    Array::from_vec(x.shape(), numbers(x.len(), seed)).unwrap()
}

fn axpy(x: &Array, h: f64, t: &Array) -> Array {
    let v = x.to_f64().iter().zip(t.to_f64()).map(|(x, t)| x + h * t).collect::<Vec<f64>>();
    Array::from_vec(x.shape(), v).unwrap()
}

fn dot(a: &[Vec<f64>], b: &[Array]) -> f64 {
    a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b.to_f64()).map(|(a, b)| a * b).collect::<Vec<_>>()).sum()
}

/// Everything a real function at smooth points must satisfy: finite differences, the adjoint law, second derivatives
/// both ways and against differences of first ones.
fn laws(f: &Function, x: &[Array]) {
    let wrt: Vec<Val> = f.params().iter().copied().filter(|&p| f.ty(p).dtype == DType::F64).collect();
    let pos: Vec<usize> = (0..x.len()).filter(|&i| x[i].dtype() == DType::F64).collect();
    let t: Vec<Array> = pos.iter().enumerate().map(|(k, &i)| like(&x[i], 7 + k as u64)).collect();
    let moved = |h: f64, by: &[Array]| {
        let mut y = x.to_vec();
        for (k, &i) in pos.iter().enumerate() {
            y[i] = axpy(&x[i], h, &by[k]);
        }
        y
    };
    let floats: Vec<usize> = (0..f.results().len()).filter(|&k| f.ty(f.results()[k]).dtype == DType::F64).collect();
    let f = &f.clone().with_results(&floats.iter().map(|&k| f.results()[k]).collect::<Vec<_>>());
    let y = reference::run(f, x).unwrap();
    let ct: Vec<Array> = y.iter().enumerate().map(|(k, y)| like(y, 70 + k as u64)).collect();
    let j = jvp(&ad(), f, &wrt).unwrap();
    let back = vjp(&ad(), f, &wrt).unwrap();
    let jt = run(&j, &[x, &t].concat())[y.len()..].to_vec();
    let h = 1e-6;
    let (hi, lo) = (run(f, &moved(h, &t)), run(f, &moved(-h, &t)));
    for k in 0..y.len() {
        for i in 0..jt[k].len() {
            close(jt[k][i], (hi[k][i] - lo[k][i]) / (2.0 * h), 1e-6);
        }
    }
    let g = run(&back, &[x, &ct].concat());
    close(dot(&g, &t), dot(&jt, &ct), 1e-11);
    let seeded = |by: f64| run(&back, &[moved(by, &t), ct.clone()].concat());
    let (hi, lo) = (seeded(h), seeded(-h));
    // A real scalar is seeded by itself.
    let scalar = y.len() == 1 && y[0].shape().is_empty();
    let scale = if scalar { ct[0].to_f64()[0] } else { 1.0 };
    let args = if scalar { [x, &t].concat() } else { [x, &ct, &t].concat() };
    let a = run(&hvp(&ad(), f, &wrt).unwrap(), &args);
    let args = if scalar { args } else { [x, &t, &ct].concat() };
    let b = run(&hvp_reverse(&ad(), f, &wrt).unwrap(), &args);
    for k in 0..a.len() {
        for i in 0..a[k].len() {
            close(a[k][i], b[k][i], 1e-11);
            close(scale * a[k][i], (hi[k][i] - lo[k][i]) / (2.0 * h), 2e-6);
        }
    }
}

/// Batching agrees with a loop, for every choice of mapped arguments; so does the batched gradient, and the gradient
/// of the batched function.
fn batches(f: &Function, x: &[Array], n: usize) {
    let wrt: Vec<Val> = f.params().iter().copied().filter(|&p| f.ty(p).dtype == DType::F64).collect();
    let y = reference::run(f, x).unwrap();
    let back = vjp(&ad(), f, &wrt).unwrap();
    let ct: Vec<Array> = y.iter().filter(|y| y.dtype() == DType::F64).map(|y| like(y, 5)).collect();
    for (f, x) in [(f, x.to_vec()), (&back, [x, &ct].concat())] {
        for m in 1usize..1 << x.len() {
            let mapped: Vec<bool> = (0..x.len()).map(|i| m >> i & 1 == 1).collect();
            let each: Vec<Vec<Array>> = (0..n)
                .map(|k| x.iter().enumerate().map(|(i, x)| if mapped[i] { vary(x, k) } else { x.clone() }).collect())
                .collect();
            let stacked: Vec<Array> = (0..x.len())
                .map(|i| {
                    if mapped[i] { stack(&each.iter().map(|e| e[i].clone()).collect::<Vec<_>>()) } else { x[i].clone() }
                })
                .collect();
            let size = Dim::Const(n);
            let force = vec![true; f.results().len()];
            let (b, _) = batch(&ad().session(), f, &mapped, &force, &size).unwrap();
            let got = run(&b, &stacked);
            let want: Vec<Vec<Vec<f64>>> = each.iter().map(|x| run(f, x)).collect();
            for (r, got) in got.iter().enumerate() {
                let want: Vec<f64> = want.iter().flat_map(|w| w[r].clone()).collect();
                assert_eq!(got.len(), want.len());
                for (g, w) in got.iter().zip(want) {
                    close(*g, w, 1e-12);
                }
            }
        }
    }
}

/// Another value of the same type: integers and booleans change too.
fn vary(x: &Array, k: usize) -> Array {
    match x.dtype() {
        DType::F64 => axpy(x, 0.3 * k as f64, &like(x, 11 + k as u64)),
        DType::Bool => {
            Array::from_vec(x.shape(), x.to_f64().iter().map(|b| (*b != 0.0) ^ (k % 2 == 1)).collect()).unwrap()
        }
        _ => Array::from_vec(x.shape(), x.to_f64().iter().map(|i| *i as i64 + k as i64).collect()).unwrap(),
    }
}

fn stack(x: &[Array]) -> Array {
    let shape = [&[x.len()], x[0].shape()].concat();
    let v: Vec<f64> = x.iter().flat_map(Array::to_f64).collect();
    match x[0].dtype() {
        DType::F64 => Array::from_vec(shape, v).unwrap(),
        DType::Bool => Array::from_vec(shape, v.iter().map(|b| *b != 0.0).collect()).unwrap(),
        _ => Array::from_vec(shape, v.iter().map(|i| *i as i64).collect()).unwrap(),
    }
}

fn function(name: &str, types: &[Type], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Arc<Function> {
    Arc::new(build(types, f).renamed(name))
}

fn positive(cx: &dyn Emit, x: Val) -> Val {
    cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0))
}

// Calls and checkpoints.

#[test]
fn call_with_its_own_symbols() {
    let g = function("g", &[Type::new(DType::F64, vec![Dim::sym("k")])], |cx, x| {
        vec![cx.mul(cx.sin(x[0]), x[0]), cx.extent(&f64s(&[]), &Dim::sym("k"))]
    });
    let f = build(&[Type::new(DType::F64, vec![Dim::sym("n")]), f64s(&[4])], |cx, x| {
        let (a, b) = (cx.call(&g, &x[..1]), cx.call(&g, &x[1..]));
        let s = cx.add(cx.reduce_sum(a[0], &[0]), cx.reduce_sum(b[0], &[0]));
        vec![cx.mul(s, cx.mul(a[1], b[1]))]
    });
    for n in [1, 3] {
        laws(&f, &[Array::vector(numbers(n, 1)), Array::vector(numbers(4, 2))]);
    }
    assert_eq!(run(&f, &[Array::vector(Vec::<f64>::new()), Array::vector(vec![0.0; 4])]), [[0.0]]);
    batches(&f, &[Array::vector(numbers(2, 1)), Array::vector(numbers(4, 2))], 3);
}

#[test]
fn a_tower_of_doubling_calls_is_derived_at_once() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    for k in 1..=40 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    let start = std::time::Instant::now();
    let g = grad(&ad(), &f, f.params()).unwrap();
    grad(&ad(), &g, g.params()).unwrap();
    hvp(&ad(), &f, f.params()).unwrap();
    batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert!(f.cost().flops > 1e12);
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

#[test]
fn calls_share_and_are_right() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let plain = scalar(|cx, x| (0..8).fold(x, |x, _| cx.sin(x)));
    for k in 1..=3 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    laws(&f, &[Array::scalar(0.7)]);
    let (mut a, mut b) = ((*f).clone(), plain);
    for _ in 0..4 {
        close(at(&a, 0.7), at(&b, 0.7), 1e-12);
        (a, b) = (derivative(&a), derivative(&b));
    }
}

/// Equations in a function and its distinct bodies, by operation.
fn count(f: &Function, name: &str) -> usize {
    fn walk(f: &Function, name: &str, seen: &mut Vec<*const Function>) -> usize {
        let mut n = 0;
        for e in f.eqns() {
            n += usize::from(name.is_empty() || e.op.name() == name);
            for r in e.op.regions() {
                if !seen.contains(&Arc::as_ptr(r)) {
                    seen.push(Arc::as_ptr(r));
                    n += walk(r, name, seen);
                }
            }
        }
        n
    }
    walk(f, name, &mut Vec::new())
}

#[test]
fn checkpoint_computes_again_and_changes_no_bit() {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.sin(x[0]))];
    let plain = scalar(|cx, x| body(cx, &[x])[0]);
    let check = scalar(|cx, x| cx.checkpoint(&[x], body)[0]);
    // sin(x) is computed again.
    let both = |f: &Function| simplify(&value_and_grad(&ad(), f, f.params()).unwrap());
    assert_eq!((count(&both(&plain), "sin"), count(&both(&check), "sin")), (2, 3));
    assert_eq!(count(&both(&check), "checkpoint"), 2);
    let (mut a, mut b) = (plain, check);
    for order in 0..4 {
        let (x, y) = (at(&a, 1.0), at(&b, 1.0));
        if order < 2 {
            assert_eq!(x.to_bits(), y.to_bits());
        }
        close(x, y, 1e-13);
        if order == 1 {
            close(y, 0.360039, 1e-6);
        }
        (a, b) = (derivative(&a), derivative(&b));
    }
}

#[test]
fn checkpoints_nest() {
    let f = build(&[f64s(&[3]), f64s(&[3])], |cx, x| {
        let y = cx.checkpoint(x, |cx, x| {
            let y = cx.checkpoint(x, |cx, x| vec![cx.mul(cx.sin(x[0]), x[1]), cx.exp(x[1])]);
            vec![cx.cos(cx.mul(y[0], y[1])), cx.full_like(y[0], 3.0)]
        });
        vec![cx.reduce_sum(cx.mul(y[0], y[1]), &[0]), y[1]]
    });
    let x = [Array::vector(numbers(3, 1)), Array::vector(numbers(3, 2))];
    laws(&f, &x);
    batches(&f, &x, 2);
}

#[test]
fn linear_calls() {
    let g = function("g", &[f64s(&[]), f64s(&[])], |cx, x| vec![cx.mul(cx.sin(x[0]), x[1])]);
    assert!(g.linear_in(&[false, true]) && !g.linear_in(&[true, false]) && !g.linear_in(&[true, true]));
    let f = scalar(|cx, x| cx.call(&g, &[cx.full_like(x, 2.0), x])[0]);
    let t = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap();
    close(at(&t, 2.0), 2.0 * 2f64.sin(), 1e-15);
    let f = scalar(|cx, x| cx.call(&g, &[x, x])[0]);
    let e = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap_err();
    assert_eq!(e.code(), Code::NotLinear);
}

// Branches.

#[test]
fn cond_takes_the_gradient_of_the_branch() {
    // Line 92.
    let f = scalar(|cx, x| {
        cx.cond(positive(cx, x), &[x], |cx, x| vec![cx.mul(x[0], x[0])], |cx, x| vec![cx.full_like(x[0], 5.0)])[0]
    });
    let g = derivative(&f);
    assert_eq!((at(&f, 3.0), at(&f, -3.0), at(&g, 3.0), at(&g, -3.0)), (9.0, 5.0, 6.0, 0.0));
    let h = derivative(&g);
    assert_eq!((at(&h, 3.0), at(&h, -3.0)), (2.0, 0.0));
}

#[test]
fn batched_gradient_of_cond_has_no_nan() {
    // Line 93.
    let f = scalar(|cx, x| {
        let no = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], 0.0), x[0])];
        cx.cond(positive(cx, x), &[x], |cx, x| vec![cx.sqrt(x[0])], no)[0]
    });
    let g = derivative(&f);
    let (b, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert_eq!(run(&b, &[Array::vector(vec![4.0, 0.0, -1.0])])[0], [0.25, 0.0, 0.0]);
}

#[test]
fn switch_clamps() {
    // Line 94.
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        let by = |c: f64| move |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], c), x[0])];
        cx.switch(x[0], &x[1..], &[&by(1.0), &by(2.0), &by(3.0)])
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    for (index, want) in [(-5, 1.0), (0, 1.0), (1, 2.0), (2, 3.0), (9, 3.0)] {
        let x = [Array::scalar(index as i64), Array::scalar(2.0)];
        assert_eq!(run(&f, &x)[0][0], 2.0 * want);
        assert_eq!(run(&g, &x)[0][0], want);
    }
    batches(&f, &[Array::scalar(-1i64), Array::scalar(2.0)], 5);
}

#[test]
fn branches_must_agree() {
    // Line 95.
    let b = Builder::new("f", ad().session());
    let cx: &dyn Emit = &b;
    let x = b.param(f64s(&[]), Some("x"));
    let y = cx.cond(positive(cx, x), &[x], |_, x| vec![x[0], x[0]], |_, x| vec![x[0]]);
    let e = b.finish(&y).unwrap_err();
    assert_eq!(e.code(), Code::BranchMismatch);
    assert_eq!(e.message(), "branch 1 returns (f64[], f64[]) but branch 0 returns f64[]");
}

#[test]
fn branches_with_different_residuals() {
    // Line 96, and results that only one branch moves, in every direction.
    let f = build(&[Type::scalar(DType::Bool), f64s(&[2]), f64s(&[2])], |cx, x| {
        let y = cx.cond(
            x[0],
            &x[1..],
            |cx, x| {
                let e = cx.exp(x[0]);
                vec![cx.mul(cx.sin(cx.mul(e, x[1])), e), x[0]]
            },
            |cx, x| vec![x[1], cx.full_like(x[0], 1.5)],
        );
        vec![y[0], cx.mul(y[1], cx.cos(y[0]))]
    });
    for p in [true, false] {
        let x = [Array::scalar(p), Array::vector(numbers(2, 1)), Array::vector(numbers(2, 2))];
        laws(&f, &x);
        batches(&f, &x, 3);
    }
    // What the untaken branch would save is not computed.
    let g = vjp(&ad(), &f, &f.params()[1..]).unwrap();
    assert!(count(&g, "cond") == 2);
}

#[test]
fn cond_in_cond() {
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.cond(
            positive(cx, x[0]),
            x,
            |cx, x| {
                let p = positive(cx, x[1]);
                cx.cond(p, x, |cx, x| vec![cx.mul(cx.sin(x[0]), x[1])], |cx, x| vec![cx.exp(x[1])])
            },
            |cx, x| vec![cx.checkpoint(x, |cx, x| vec![cx.mul(x[0], cx.mul(x[0], x[1]))])[0]],
        )
    });
    for (a, b) in [(0.5, 0.7), (0.5, -0.7), (-0.5, 0.7)] {
        laws(&f, &[Array::scalar(a), Array::scalar(b)]);
        batches(&f, &[Array::scalar(a), Array::scalar(b)], 4);
    }
}

#[test]
fn nested_bodies_cannot_be_endless() {
    let mut f = function("f", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let deep = (0..1000).find_map(|_| {
        let b = Builder::new("f", ad().session());
        let x = b.param(f64s(&[]), None);
        let y = b.emit(Call { callee: f.clone(), checkpoint: false }.into(), &[x]);
        match b.finish(&y) {
            Ok(g) => {
                f = Arc::new(g);
                None
            }
            Err(e) => Some(e),
        }
    });
    assert_eq!(deep.unwrap().code(), Code::Limit);
    // The deepest one is still derived on a small stack.
    let f = (*f).clone();
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(move || derivative(&derivative(&f))).unwrap().join().unwrap();
}
