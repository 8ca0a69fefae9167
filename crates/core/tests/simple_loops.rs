//! Loops as they run: what leaves a loop, what stays, and errors that keep their order.

#[path = "simple_loops/constants.rs"]
mod constants;
#[path = "simple_loops/updates.rs"]
mod updates;

use cotangent_core::ops::{Binary, Comparison, DotGeneral, entries};
use cotangent_core::primitive::{Arg, Batched, Cost, Linearized, Primitive, no_rule};
use cotangent_core::rewrite::with_simple_loops;
use cotangent_core::transform::{Lin, Lv, Session};
use cotangent_core::{
    Array, Attrs, Builder, Code, DType, Dim, Emit, Env, Function, Op, Result, Type, Val, reference,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn build(types: &[Type], f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>) -> Arc<Function> {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = f(&b, &x);
    Arc::new(b.finish(&y).unwrap())
}

fn real() -> Type {
    Type::scalar(DType::F64)
}

fn names(f: &Function) -> Vec<String> {
    f.eqns().iter().map(|e| e.op.name().to_owned()).collect()
}

/// Constants, carries, stacked operands and results, and the operations of the only scan.
fn scan_of(f: &Function) -> ([usize; 4], Vec<String>) {
    let mut scans = f.eqns().iter().filter_map(|e| match &e.op {
        Op::Scan(s) => Some((s, f.operands(e).len())),
        _ => None,
    });
    let (s, operands) = scans.next().expect("a scan");
    assert!(scans.next().is_none(), "one scan");
    let rows = operands - s.consts - s.carry;
    let stacks = s.body.results().len() - s.carry;
    ([s.consts, s.carry, rows, stacks], names(&s.body))
}

/// The function with simpler loops, whose results on `x` have the same bits.
fn simple(f: &Arc<Function>, x: &[Array]) -> Arc<Function> {
    let g = with_simple_loops(f);
    let (want, got) = (
        reference::run(f, x).unwrap(),
        reference::run(&g, x).unwrap(),
    );
    let same = |(a, b): (&Array, &Array)| a.same_bits(b);
    assert!(want.iter().zip(&got).all(same), "{want:?} {got:?}\n{g}");
    g
}

fn x(n: usize) -> Vec<Array> {
    (0..n).map(|k| Array::scalar(0.3 + k as f64)).collect()
}

#[test]
fn equations_of_constants_leave_nested_loops() {
    let f = build(&[real(), real()], |cx, x| {
        let n = 20.into();
        cx.scan(&x[..1], &x[1..], &[], &n, false, |cx, w, c, _| {
            let inner = cx.scan(w, c, &[], &n, false, |cx, w, c, _| {
                (vec![cx.mul(cx.sin(w[0]), c[0])], vec![])
            });
            (inner.0, vec![])
        })
        .0
    });
    let g = simple(&f, &x(2));
    assert_eq!(names(&g), ["sin", "scan"]);
    assert_eq!(scan_of(&g), ([1, 1, 0, 0], vec!["scan".to_owned()]));
}

#[test]
fn numbers_are_part_of_a_step() {
    let ty = Type::new(DType::F64, [3]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let (two, one) = (cx.full(&real(), 2.0), cx.full(&ty, 1.0));
        let twos = cx.broadcast_in_dim(two, &[3.into()], &[]);
        cx.scan(
            &[twos, one, two],
            x,
            &[],
            &20.into(),
            false,
            |cx, w, c, _| {
                let wide = cx.broadcast_in_dim(w[2], &[3.into()], &[]);
                let y = cx.mul(cx.op(Binary::MulStrongZero, &[w[0], c[0]]), w[1]);
                (vec![cx.sub(cx.cos(y), wide)], vec![])
            },
        )
        .0
    });
    let g = simple(&f, &[Array::vector(vec![0.3, -0.0, 2.0])]);
    let (counts, body) = scan_of(&g);
    assert_eq!(counts, [0, 1, 0, 0], "{g}");
    // A finite factor needs no strong zero, and a factor of one is none.
    let named = |name: &str| body.iter().filter(|n| *n == name).count();
    assert_eq!((named("mul"), named("mul_strong_zero")), (1, 0), "{g}");
}

/// The remainder of JAX, which treats a divisor of 0 apart.
#[test]
fn integers_that_constants_decide_are_part_of_a_step() {
    let ty = Type::new(DType::I32, [3]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let [seven, zero, one] = [7, 0, 1].map(|n| cx.full(&Type::scalar(DType::I32), n));
        let steps = 20.into();
        let consts = [seven, zero, one];
        cx.scan(&consts, x, &[], &steps, false, |cx, w, c, _| {
            let none = cx.compare(w[0], Comparison::Eq, w[1]);
            let divisor = cx.select(none, w[2], w[0]);
            let negative = cx.compare(divisor, Comparison::Lt, w[1]);
            let [divisor, negative] =
                [divisor, negative].map(|v| cx.broadcast_in_dim(v, &[3.into()], &[]));
            let rest = cx.op(Binary::Rem, &[cx.mul(c[0], c[0]), divisor]);
            (vec![cx.select(negative, c[0], rest)], vec![])
        })
        .0
    });
    let g = simple(&f, &[Array::vector(vec![3i32, -12, 5])]);
    let (counts, body) = scan_of(&g);
    assert_eq!(counts, [0, 1, 0, 0], "{g}");
    assert!(
        !body.iter().any(|n| n == "eq" || n == "lt" || n == "select"),
        "{g}"
    );
}

#[test]
fn numbers_of_the_condition_are_part_of_it() {
    let f = build(&[real()], |cx, x| {
        let (most, two) = (cx.full(&real(), 100.0), cx.full(&real(), 2.0));
        let body = |cx: &dyn Emit, w: &[Val], c: &[Val]| vec![cx.mul(c[0], w[1])];
        cx.while_loop(
            &[most, two],
            x,
            |cx, w, c| cx.compare(c[0], Comparison::Lt, w[0]),
            body,
        )
    });
    let g = simple(&f, &x(1));
    let operands = g
        .eqns()
        .iter()
        .find(|e| e.op.name() == "while")
        .map(|e| g.operands(e).len());
    assert_eq!(operands, Some(1), "{g}");
}

#[test]
fn a_large_result_of_constants_stays_in_the_loop() {
    let rows = |n: usize| {
        build(&[Type::new(DType::F64, [n]), real()], |cx, x| {
            let steps = 20.into();
            cx.scan(&x[..1], &x[1..], &[], &steps, false, |cx, w, c, _| {
                let wide = cx.broadcast_in_dim(w[0], &[10.into(), n.into()], &[1]);
                (
                    vec![cx.add(c[0], cx.reduce_sum(cx.sin(wide), &[0, 1]))],
                    vec![],
                )
            })
            .0
        })
    };
    let args = |n: usize| [Array::vector(vec![0.5; n]), Array::scalar(1.0)];
    let small = simple(&rows(100), &args(100));
    assert_eq!(
        names(&small),
        ["sin", "broadcast_in_dim", "reduce_sum", "scan"]
    );
    let large = simple(&rows(1000), &args(1000));
    assert_eq!(names(&large), ["scan"]);
}

#[test]
fn conversions_of_constant_16_bit_factors_leave_the_loop() {
    let steps = |n: usize| {
        let ty = |shape: &[usize]| Type::new(DType::F16, shape);
        build(&[ty(&[n, n]), ty(&[n])], |cx, x| {
            let d = DotGeneral {
                lhs_contract: vec![1],
                rhs_contract: vec![0],
                ..DotGeneral::default()
            };
            let steps = 20.into();
            cx.scan(&x[..1], &x[1..], &[], &steps, false, |cx, w, c, _| {
                (vec![cx.dot_general(w[0], c[0], d.clone())], vec![])
            })
            .0
        })
    };
    let small = with_simple_loops(&steps(256));
    assert_eq!(names(&small), ["convert", "scan"]);
    assert_eq!(scan_of(&small).1, ["convert", "dot_general", "convert"]);
    // The copy of a large factor would not stay in a cache.
    let large = with_simple_loops(&steps(1000));
    assert_eq!(names(&large), ["scan"]);
    assert_eq!(scan_of(&large).1, ["dot_general"]);
}

#[test]
fn carries_of_one_start_and_one_update_are_one() {
    let f = build(&[real()], |cx, x| {
        let n = 20.into();
        let init = [x[0], x[0], x[0], x[0]];
        // The last two exchange their places, the first two are updated alike.
        let step = |cx: &dyn Emit, c: &[Val]| {
            let next = |v: Val| cx.sin(cx.mul(v, v));
            vec![next(c[0]), next(c[1]), cx.exp(c[3]), cx.cos(c[2])]
        };
        cx.scan(&[], &init, &[], &n, false, |cx, _, c, _| {
            (step(cx, c), vec![])
        })
        .0
    });
    let g = simple(&f, &x(1));
    let (sizes, body) = scan_of(&g);
    assert_eq!(sizes, [0, 3, 0, 0]);
    assert_eq!(body, ["mul", "sin", "exp", "cos"]);
}

#[test]
fn carries_that_nothing_needs_and_constant_ones_are_removed() {
    let f = build(&[real(), real(), real()], |cx, x| {
        let n = 20.into();
        let step = |cx: &dyn Emit, c: &[Val]| {
            let (unused, fixed, used) = (c[0], c[1], c[2]);
            vec![
                cx.sin(cx.mul(unused, used)),
                fixed,
                cx.mul(used, cx.exp(fixed)),
            ]
        };
        let y = cx.scan(&[], x, &[], &n, false, |cx, _, c, _| {
            (step(cx, c), vec![c[0]])
        });
        vec![y.0[1], y.0[2]]
    });
    let g = simple(&f, &x(3));
    assert_eq!(scan_of(&g), ([1, 1, 0, 0], vec!["mul".to_owned()]));
    assert_eq!(names(&g), ["exp", "scan"]);
}

#[test]
fn a_counted_while_is_a_scan_and_an_endless_one_stays() {
    let index = Type::scalar(DType::I64);
    let f = build(&[real()], |cx, x| {
        let zero = cx.full(&index, 0i64);
        let y = cx.while_loop(
            &[],
            &[zero, x[0]],
            |cx, _, c| cx.compare(c[0], Comparison::Lt, cx.full(&index, 50i64)),
            |cx, _, c| vec![cx.add(c[0], cx.full(&index, 1i64)), cx.sin(c[1])],
        );
        vec![y[1]]
    });
    assert_eq!(
        scan_of(&simple(&f, &x(1))),
        ([0, 1, 0, 0], vec!["sin".to_owned()])
    );
    let endless = build(&[real()], |cx, x| {
        cx.while_loop(&[], x, |cx, _, c| cx.is_finite(c[0]), |_, _, c| c.to_vec())
    });
    assert_eq!(names(&with_simple_loops(&endless)), ["while"]);
}

#[test]
fn scans_of_few_steps_are_their_steps() {
    let steps = |n: usize| {
        build(&[real(), real()], move |cx, x| {
            let n = n.into();
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| (vec![cx.mul(c[0], w[0])], vec![]);
            cx.scan(&x[..1], &x[1..], &[], &n, false, |cx, w, c, _| {
                step(cx, w, c)
            })
            .0
        })
    };
    assert_eq!(names(&simple(&steps(3), &x(2))), ["mul", "mul", "mul"]);
    assert_eq!(names(&simple(&steps(9), &x(2))), ["scan"]);
    assert_eq!(names(&simple(&steps(0), &x(2))), ["scan"]);
    let one = build(&[real(), Type::new(DType::F64, [1, 2])], |cx, x| {
        let y = cx.scan(&[], &x[..1], &x[1..], &1.into(), true, |cx, _, c, row| {
            (
                vec![cx.add(c[0], cx.reduce_sum(row[0], &[0]))],
                vec![cx.exp(row[0])],
            )
        });
        vec![y.0[0], y.1[0]]
    });
    let rows = Array::from_vec([1, 2], vec![1.0, 2.0]).unwrap();
    let g = simple(&one, &[Array::scalar(0.5), rows]);
    assert!(!names(&g).contains(&"scan".to_owned()), "{g}");
}

/// A loop of `n` steps in which one equation of constants fails, after another that fails in the
/// last step.
fn failing(n: usize) -> Arc<Function> {
    build(&[real(), real()], move |cx, x| {
        let n = n.into();
        cx.scan(&x[..1], &x[1..], &[], &n, false, |cx, w, c, _| {
            let below = |limit: f64, v: Val| cx.compare(v, Comparison::Lt, cx.full_like(v, limit));
            let first = cx.require(below(4.5, c[0]), c[0], &[c[0]], "the carry")[0];
            let second = cx.require(below(1.0, w[0]), w[0], &[w[0]], "the constant")[0];
            let next = cx.add(first, cx.sin(second));
            (vec![next], vec![])
        })
        .0
    })
}

#[test]
fn equations_that_may_fail_stay_in_their_order() {
    for (n, w, c, want) in [
        (20, 0.5, 0.0, Some("the carry")),
        (20, 2.0, 9.0, Some("the carry")),
        (20, 2.0, 0.0, Some("the constant")),
        (0, 2.0, 9.0, None),
        (9, 0.1, 0.0, None),
    ] {
        let f = failing(n);
        let args = [Array::scalar(w), Array::scalar(c)];
        let run = |f: &Function| reference::run(f, &args).err().map(|e| e.to_string());
        let (before, after) = (run(&f), run(&with_simple_loops(&f)));
        assert_eq!(before, after);
        match (want, before) {
            (Some(want), Some(text)) => assert!(text.contains(want), "{text}"),
            (want, text) => assert!(want.is_none() && text.is_none(), "{text:?}"),
        }
    }
    // The unused carry has a check, so it stays.
    let f = build(&[real(), real()], |cx, x| {
        let y = cx.scan(&[], x, &[], &20.into(), false, |cx, _, c, _| {
            let ok = cx.is_finite(c[0]);
            let checked = cx.require(ok, c[0], &[c[0]], "not finite")[0];
            (vec![cx.exp(checked), cx.sin(c[1])], vec![])
        });
        vec![y.0[1]]
    });
    let args = [Array::scalar(1.0), Array::scalar(1.0)];
    let code = |f: &Function| reference::run(f, &args).unwrap_err().code();
    assert_eq!(code(&f), Code::NotConverged);
    assert_eq!(code(&with_simple_loops(&f)), Code::NotConverged);
}

#[test]
fn a_function_without_loops_is_itself() {
    let f = build(&[real()], |cx, x| vec![cx.sin(x[0])]);
    assert!(Arc::ptr_eq(&f, &with_simple_loops(&f)));
}

/// Number of evaluations of [`Count`].
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// The identity, which counts its evaluations: they are needed though nothing reads the result.
#[derive(Debug)]
struct Count;

impl Primitive for Count {
    fn name(&self) -> &str {
        "test.count"
    }

    fn has_effect(&self) -> bool {
        true
    }

    fn must_run(&self) -> bool {
        true
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(x.to_vec())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        COUNTED.fetch_add(1, Ordering::Relaxed);
        Ok(x.to_vec())
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(no_rule(self, "linearize"))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

#[test]
fn effects_happen_in_every_step_although_nothing_reads_their_results() {
    let evaluations = |f: &Function| {
        let before = COUNTED.load(Ordering::Relaxed);
        reference::run(f, &x(3)).unwrap();
        COUNTED.load(Ordering::Relaxed) - before
    };
    // Of a constant of the loop, of a carry that nothing needs, and of one that changes; in a body
    // that becomes simpler, in few steps and in many.
    for steps in [3usize, 20] {
        for counted in 0..3 {
            let f = build(&[real(), real(), real()], |cx, x| {
                let n = steps.into();
                let body = |cx: &dyn Emit, w: &[Val], c: &[Val], _: &[Val]| {
                    let of = [w[0], c[1], c[0]][counted];
                    cx.emit(Op::extension(Count), &[of]);
                    (vec![cx.mul(cx.sin(w[0]), c[0]), cx.add(c[1], c[1])], vec![])
                };
                cx.scan(&x[..1], &x[1..], &[], &n, false, body).0[..1].to_vec()
            });
            assert_eq!(evaluations(&f), steps);
            let g = with_simple_loops(&f);
            assert_eq!(names(&g)[0], "sin", "{g}");
            assert_eq!(evaluations(&g), steps, "{counted}: {g}");
        }
    }
}

/// A scan whose two steps apply an operation to rows of operands, and operands with two rows.
fn stepped(op: &Op, operands: &[Array]) -> (Arc<Function>, Vec<Array>) {
    let types: Vec<Type> = operands
        .iter()
        .map(|x| Type::new(x.dtype(), &[&[2], x.shape()].concat()[..]))
        .collect();
    let f = build(&types, |cx, rows| {
        let body = |cx: &dyn Emit, _: &[Val], _: &[Val], x: &[Val]| {
            (vec![], cx.emit(op.clone(), x).to_vec())
        };
        cx.scan(&[], &[], rows, &2.into(), false, body).1
    });
    let types: Vec<Type> = operands.iter().map(Array::ty).collect();
    let twice = build(&types, |cx, x| {
        x.iter()
            .map(|&x| {
                let one = cx.reshape(x, &[&[Dim::Const(1)], &cx.ty(x).shape[..]].concat());
                cx.concatenate(&[one, one], 0)
            })
            .collect()
    });
    (f, reference::run(&twice, operands).unwrap())
}

#[test]
fn operations_on_few_elements_in_steps_have_the_same_bits() {
    let mut rewritten = std::collections::BTreeMap::<&str, usize>::new();
    for name in ["gather", "scatter", "argmax", "argmin", "sort"] {
        let entry = entries().into_iter().find(|e| e.name == name).unwrap();
        for sample in (entry.samples)(name) {
            let (f, x) = stepped(&sample.op, &sample.operands);
            let g = simple(&f, &x);
            // A gather stays, with another mode.
            let kept = match name {
                "gather" => !scan_of(&g).1.iter().any(|n| n == "select"),
                name => scan_of(&g).1.iter().any(|n| n == name),
            };
            *rewritten.entry(name).or_default() += usize::from(!kept);
        }
    }
    for (name, least) in [
        ("gather", 1),
        ("scatter", 8),
        ("argmax", 2),
        ("argmin", 2),
        ("sort", 4),
    ] {
        assert!(rewritten[name] >= least, "{name}: {rewritten:?}");
    }
}

/// Sums and errors of sums in a function and in its regions, of arrays of this type.
fn additions(f: &Function, ty: &Type) -> usize {
    let each = f.eqns().iter().map(|e| {
        let is_sum = matches!(e.op.name(), "add" | "add_error");
        let own = is_sum && e.results().all(|r| f.ty(r) == ty);
        let inside = e.op.regions().into_iter().map(|r| additions(r, ty));
        usize::from(own) + inside.sum::<usize>()
    });
    each.sum()
}

/// Numbers with zeros of both signs, of a type.
fn with_zeros(ty: &Type, first: i64) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let at = |k: usize| match (k as i64 * 5 + first) % 7 {
        0 | 3 => -0.0,
        1 => 0.0,
        m => (m as f64 - 3.0) / 2.0,
    };
    let values = (0..shape.iter().product()).map(at).collect();
    let numbers = Array::vector(values).reshape(&*shape).unwrap();
    let convert = build(&[numbers.ty()], |cx, x| vec![cx.convert(x[0], ty.dtype)]);
    reference::run(&convert, &[numbers]).unwrap().remove(0)
}

#[test]
fn sums_with_updated_zeros_are_sums_in_their_windows() {
    let sizes: [(&[usize], &[usize]); 4] = [
        (&[160], &[1]),
        (&[160], &[3]),
        (&[20, 8], &[1, 8]),
        (&[8, 20], &[8, 1]),
    ];
    let types = [DType::F64, DType::F32, DType::BF16, DType::C64, DType::I16];
    for (dtype, (shape, window)) in types.iter().flat_map(|&d| sizes.map(|s| (d, s))) {
        let (ty, part) = (Type::new(dtype, shape), Type::new(dtype, window));
        let starts = Type::new(DType::I32, [6]);
        let real = matches!(dtype, DType::F64 | DType::F32);
        for form in 0..if real { 6 } else { 4 } {
            let rows = |ty: &Type| {
                Type::new(
                    dtype,
                    &[&[6], &ty.shape.as_const().unwrap()[..]].concat()[..],
                )
            };
            let operands = [
                rows(&ty),
                rows(&part),
                rows(&part),
                starts.clone(),
                starts.clone(),
            ];
            let f = build(&operands, |cx, x| {
                let body = |cx: &dyn Emit, _: &[Val], _: &[Val], x: &[Val]| {
                    let at = |i: Val| vec![i; shape.len()];
                    let zeros = cx.zeros(&ty);
                    let first = cx.dynamic_update_slice(zeros, x[1], &at(x[3]));
                    // Starts of another type.
                    let wide = cx.convert(x[4], DType::I64);
                    let second = cx.dynamic_update_slice(zeros, x[2], &at(wide));
                    let both = cx.dynamic_update_slice(first, x[2], &at(x[4]));
                    let y = match form {
                        0 => cx.add(first, x[0]),
                        1 => cx.add(cx.add(x[0], first), second),
                        2 => cx.add(x[0], cx.add(first, second)),
                        3 => cx.add(x[0], both),
                        4 => cx.op(Binary::AddError, &[x[0], both]),
                        _ => cx.op(Binary::AddError, &[first, x[0]]),
                    };
                    (vec![], vec![y])
                };
                cx.scan(&[], &[], x, &6.into(), false, body).1
            });
            let integers = |v: [i32; 6]| {
                let x = Array::vector(v.iter().map(|&i| f64::from(i)).collect());
                let f = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], DType::I32)]);
                reference::run(&f, &[x]).unwrap().remove(0)
            };
            let x = [
                with_zeros(&operands[0], 0),
                with_zeros(&operands[1], 2),
                with_zeros(&operands[2], 5),
                integers([0, -3, 2, 4, 19, 200]),
                integers([0, 1, 3, 4, -9, 159]),
            ];
            let g = simple(&f, &x);
            let most = usize::from(dtype.is_inexact() && form < 4);
            assert_eq!(additions(&g, &ty), most, "{form} {ty} {g}");
        }
    }
}

/// A loop that adds `u` to an element of a carry in every step, and changes the carry by `then`.
fn accumulating(then: &dyn Fn(&dyn Emit, Val) -> Val, zero: bool, nested: bool) -> Arc<Function> {
    let ty = Type::new(DType::F64, [40]);
    build(&[ty.clone(), real()], |cx, x| {
        let step = |cx: &dyn Emit, u: Val, c: Val, i: Val| {
            let u = cx.broadcast_in_dim(cx.mul(u, cx.convert(i, DType::F64)), &[1.into()], &[]);
            let u = cx.dynamic_update_slice(cx.zeros(&ty), u, &[i]);
            then(cx, cx.add(c, u))
        };
        let first = if zero { cx.zeros(&ty) } else { x[0] };
        let rows = [cx.iota(&Type::new(DType::I32, [20]), 0)];
        let body = |cx: &dyn Emit, w: &[Val], c: &[Val], i: &[Val]| {
            let y = match nested {
                false => step(cx, w[0], c[0], i[0]),
                true => {
                    let body = |cx: &dyn Emit, w: &[Val], c: &[Val], i: &[Val]| {
                        (vec![step(cx, w[0], c[0], i[0])], vec![])
                    };
                    cx.scan(w, c, &[w[1]], &20.into(), false, body).0[0]
                }
            };
            (vec![y], vec![])
        };
        let consts = [x[1], rows[0]];
        cx.scan(&consts, &[first], &rows, &20.into(), false, body).0
    })
}

#[test]
fn a_carry_without_negative_zeros_is_summed_in_windows_alone() {
    let ty = Type::new(DType::F64, [40]);
    let x = [with_zeros(&ty, 0), Array::scalar(-0.5)];
    let same: &dyn Fn(&dyn Emit, Val) -> Val = &|_, c| c;
    let reversed: &dyn Fn(&dyn Emit, Val) -> Val = &|cx, c| cx.reverse(c, &[0]);
    let scaled: &dyn Fn(&dyn Emit, Val) -> Val = &|cx, c| cx.mul(c, cx.full_like(c, -0.5));
    for (then, zero, additions_of_arrays) in [
        (same, true, 0),
        (reversed, true, 0),
        (same, false, 1),
        (scaled, true, 1),
    ] {
        for nested in [false, true] {
            let g = simple(&accumulating(then, zero, nested), &x);
            assert_eq!(additions(&g, &ty), additions_of_arrays, "{nested} {g}");
        }
    }
}

/// A scan over integers whose steps choose a branch by them, on numbers of this type.
fn branching(ty: &Type, boolean: bool, then: fn(&dyn Emit, Val) -> Val) -> Arc<Function> {
    let steps = Type::new(DType::I32, [6]);
    build(&[ty.clone(), steps], |cx, x| {
        let body = |cx: &dyn Emit, _: &[Val], c: &[Val], i: &[Val]| {
            let first = |_: &dyn Emit, c: &[Val]| vec![c[0], c[0]];
            let second = |cx: &dyn Emit, c: &[Val]| vec![then(cx, c[0]), c[0]];
            let third = |cx: &dyn Emit, c: &[Val]| vec![cx.neg(c[0]), cx.add(c[0], c[0])];
            let y = match boolean {
                true => {
                    let p = cx.compare(i[0], Comparison::Gt, cx.full_like(i[0], 0));
                    cx.cond(p, c, third, second)
                }
                false => cx.switch(i[0], c, &[&first, &second, &third]),
            };
            (vec![y[0]], vec![y[1]])
        };
        let y = cx.scan(&[], &x[..1], &x[1..], &6.into(), false, body);
        [y.0, y.1].concat()
    })
}

#[test]
fn branches_on_few_numbers_are_choices() {
    let indices = Array::vector(vec![0i32, 2, 1, -5, 7, 1]);
    let (number, two) = (real(), Type::new(DType::F64, [2]));
    let many = Type::new(DType::F64, [5]);
    let shifted: fn(&dyn Emit, Val) -> Val = |cx, c| cx.add(c, cx.full_like(c, 1.5));
    let costly: fn(&dyn Emit, Val) -> Val = |cx, c| cx.sin(c);
    for (ty, then, is_choice) in [
        (&number, shifted, true),
        (&two, shifted, true),
        (&number, costly, false),
        (&many, shifted, false),
    ] {
        for boolean in [true, false] {
            let g = simple(
                &branching(ty, boolean, then),
                &[with_zeros(ty, 1), indices.clone()],
            );
            let (_, body) = scan_of(&g);
            let branches = body.iter().any(|n| n == "cond" || n == "switch");
            assert_eq!(branches, !is_choice, "{ty} {g}");
        }
    }
}

/// Extents that are known when a program runs may be 1 where others are not.
#[test]
fn sums_of_different_symbolic_extents_stay() {
    let [one, two] = ["n", "m"].map(|s| Type::new(DType::F64, vec![Dim::sym(s)]));
    let known = Type::new(DType::F64, [40]);
    for large in [two.clone(), known] {
        let f = build(&[one.clone(), large.clone()], |cx, x| {
            let body = |cx: &dyn Emit, w: &[Val], c: &[Val], _: &[Val]| {
                let start = cx.full(&Type::scalar(DType::I32), 0);
                let u = cx.full(&Type::new(DType::F64, [1]), 2.0);
                let updated = cx.dynamic_update_slice(cx.zeros(&one), u, &[start]);
                let sums = vec![cx.add(c[0], cx.zeros(&large)), cx.add(w[0], updated)];
                (vec![cx.reverse(c[0], &[0])], sums)
            };
            let y = cx.scan(&x[1..], &[cx.zeros(&one)], &[], &20.into(), false, body);
            [y.0, y.1].concat()
        });
        let g = with_simple_loops(&f);
        for (n, m) in [(1, 40), (40, 40), (3, 40)] {
            let x = [n, m].map(|n| Array::vector(vec![0.5; n]));
            match (reference::run(&f, &x), reference::run(&g, &x)) {
                (Ok(want), Ok(got)) => {
                    assert!(
                        want.iter().zip(&got).all(|(a, b)| a.same_bits(b)),
                        "{n} {g}"
                    );
                }
                (want, got) => {
                    let code = |r: Result<Vec<Array>>| r.map(|_| ()).map_err(|e| e.code());
                    assert_eq!(code(want), code(got), "{n} {g}");
                }
            }
        }
    }
}
