//! Operations on few elements in the steps of loops, and windows at starts that a run decides.

mod common;

use common::{Draws, build, unfused};
use cotangent_core::ops::{Cumulative, Factors, LinearRecurrence, Pad, Running, Sort};
use cotangent_core::rewrite::simplify;
use cotangent_core::{Array, DType, Dim, Emit, Function, Scalar, Type, Val, Wide};
use cotangent_cpu::Executor;
use std::sync::Arc;

/// Numbers of several sizes and signs; one in `rare` is a zero, an infinity or NaN.
fn numbers(draws: &mut Draws, ty: &Type, rare: usize) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = (0..n).map(|_| match draws.below(rare) {
        0 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY][draws.below(5)],
        _ => (draws.below(2000) as f64 - 1000.0) * 10f64.powi(draws.below(5) as i32 - 5),
    });
    match ty.dtype.is_float() {
        true => Wide::F(x.collect()).narrow(ty.dtype, shape).unwrap(),
        false => Wide::I((0..n).map(|_| draws.below(200) as i128).collect())
            .narrow(ty.dtype, shape)
            .unwrap(),
    }
}

type StepFn<'a> = &'a dyn Fn(&dyn Emit, Val) -> Val;

/// Three steps of a loop have the bits of a step that runs three times, operation by operation.
fn check_steps(what: &str, x: &Array, step: StepFn<'_>) {
    let ty = x.ty();
    let one = build(std::slice::from_ref(&ty), |cx, x| vec![step(cx, x[0])]);
    let mut want = x.clone();
    for _ in 0..3 {
        want = unfused(&one, &[want]).remove(0);
    }
    let looped = build(&[ty], |cx, x| {
        let (y, _) = cx.scan(&[], &[x[0]], &[], &3.into(), false, |cx, _, c, _| {
            (vec![step(cx, c[0])], Vec::new())
        });
        y
    });
    for executor in [Executor::new(), Executor::new().stepwise()] {
        let got = executor
            .compile(&looped)
            .unwrap()
            .run(std::slice::from_ref(x))
            .unwrap();
        assert!(
            want.same_bits(&got[0]),
            "{what}: {got:?} is not {want:?} of {x:?}"
        );
    }
}

const SHAPES: [&[usize]; 9] = [
    &[2],
    &[7],
    &[16],
    &[17],
    &[3, 40],
    &[40, 3],
    &[9, 16],
    &[2, 5, 3],
    &[1, 4],
];

#[test]
fn running_operations_in_steps_have_the_bits_of_kernels() {
    let draws = &mut Draws(1);
    let kinds = [
        Running::Sum,
        Running::Prod,
        Running::Max,
        Running::Min,
        Running::LogSumExp,
    ];
    for dtype in [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::I32,
        DType::U8,
        DType::U64,
    ] {
        for (op, shape) in kinds.iter().flat_map(|op| SHAPES.map(|s| (*op, s))) {
            if op == Running::LogSumExp && !dtype.is_float() {
                continue;
            }
            let ty = Type::new(dtype, shape);
            for (axis, how) in (0..shape.len()).flat_map(|a| (0..4).map(move |how| (a, how))) {
                let c = Cumulative {
                    op,
                    axis,
                    reverse: how % 2 == 1,
                    exclusive: how / 2 == 1,
                };
                let x = numbers(draws, &ty, if how == 0 { 1000 } else { 6 });
                check_steps(&format!("{c:?} of {ty}"), &x, &|cx, x| cx.op(c, &[x]));
            }
        }
    }
}

#[test]
fn recurrences_in_steps_have_the_bits_of_kernels() {
    let draws = &mut Draws(2);
    for (dtype, shape) in [DType::F32, DType::F64, DType::F16]
        .into_iter()
        .flat_map(|d| SHAPES.map(|s| (d, s)))
    {
        for (axis, how) in (0..shape.len()).flat_map(|a| (0..8).map(move |how| (a, how))) {
            let r = LinearRecurrence {
                axis,
                reverse: how % 2 == 1,
                exclusive: how / 2 % 2 == 1,
                factors: if how < 4 {
                    Factors::Any
                } else {
                    Factors::Strong
                },
            };
            let x = numbers(draws, &Type::new(dtype, shape), 8);
            check_steps(&format!("{r:?} of {shape:?}"), &x, &|cx, x| {
                cx.op(r, &[cx.sin(x), x])
            });
        }
    }
}

#[test]
fn first_elements_of_sorts_in_steps_have_the_bits_of_kernels() {
    let draws = &mut Draws(3);
    for dtype in [DType::F32, DType::F64, DType::I32, DType::Bool] {
        for (shape, axis) in [
            (vec![40], 0),
            (vec![5, 33], 1),
            (vec![33, 5], 0),
            (vec![4, 9], 1),
            (vec![3, 4], 1),
        ] {
            for kept in [1, 2, 8, 9] {
                let ty = Type::new(DType::F64, &shape[..]);
                let kept = kept.min(shape[axis]);
                let sort = Sort {
                    axis,
                    operands: 2,
                    num_keys: 1,
                    descending: draws.below(2) == 1,
                };
                let x = numbers(draws, &ty, 5);
                check_steps(&format!("{kept} of {shape:?} {dtype}"), &x, &|cx, x| {
                    let key = match dtype {
                        DType::Bool => {
                            cx.compare(x, cotangent_core::ops::Comparison::Lt, cx.zeros(&ty))
                        }
                        _ => cx.convert(x, dtype),
                    };
                    let sorted = cx.emit(sort.into(), &[key, x]);
                    let first = cx.slice_axis(sorted[1], axis, 0, kept);
                    let mut high = vec![0; shape.len()];
                    high[axis] = (shape[axis] - kept) as i64;
                    let pad = Pad {
                        low: vec![0; shape.len()],
                        high,
                        interior: vec![0; shape.len()],
                    };
                    cx.mul(cx.emit(pad.into(), &[first])[0], cx.full(&ty, 0.5))
                });
            }
        }
    }
}

/// The results of a function, as it is and in the steps of a loop, against its operations.
fn check(what: &str, f: &Function, x: &[Array]) {
    let want = unfused(f, x);
    let f = Arc::new(simplify(f));
    for threads in [1, 4] {
        let program = Executor::new().with_threads(threads).compile(&f).unwrap();
        let got = program.run(x).unwrap();
        for (want, got) in want.iter().zip(&got) {
            assert!(want.same_bits(got), "{what}: {got:?} is not {want:?}\n{f}");
        }
    }
}

fn start(i: i64) -> Array {
    Scalar::I(i.into()).array(DType::I32)
}

#[test]
fn windows_at_starts_are_those_of_their_operations() {
    let draws = &mut Draws(4);
    for seed in 0..150 {
        let rank = 1 + draws.below(3);
        let shape: Vec<usize> = (0..rank)
            .map(|_| 1 + draws.below([1500, 60, 15][rank - 1]))
            .collect();
        let part: Vec<usize> = shape.iter().map(|&n| 1 + draws.below(n)).collect();
        let ty = Type::new(
            [DType::F32, DType::F64, DType::U8][draws.below(3)],
            &shape[..],
        );
        let small: Vec<Dim> = part.iter().map(|&n| n.into()).collect();
        let small = ty.with_shape(small);
        let mut types = vec![ty.clone(), small.clone()];
        types.extend((0..rank).map(|_| Type::scalar(DType::I32)));
        let axis = draws.below(rank);
        let f = build(&types, |cx, v| {
            let (x, u, at) = (v[0], v[1], &v[2..]);
            let updated = cx.dynamic_update_slice(x, u, at);
            let twice = cx.add(updated, x);
            // A roll, of which the start is that of a window in two copies.
            let both = cx.concatenate(&[x, x], axis);
            let mut from = vec![cx.full(&Type::scalar(DType::I32), 0); rank];
            from[axis] = at[axis];
            let rolled = cx.dynamic_slice(both, &from, &ty.shape);
            // A window of an updated array, in an updated array.
            let inner = cx.dynamic_slice(twice, at, &small.shape);
            let again = cx.dynamic_update_slice(cx.add(rolled, x), inner, &from);
            vec![twice, cx.add(rolled, x), cx.add(again, rolled)]
        });
        let mut x: Vec<Array> = types[..2].iter().map(|t| numbers(draws, t, 50)).collect();
        for &n in &shape {
            x.push(start(draws.below(2 * n) as i64 - n as i64 / 2));
        }
        check(&format!("{seed}: {shape:?}, windows of {part:?}"), &f, &x);
    }
}

#[test]
fn concatenations_of_many_pieces_are_those_of_their_operations() {
    let draws = &mut Draws(5);
    for seed in 0..60 {
        let shape = [1 + draws.below(9), 1 + draws.below(12)];
        let (axis, pieces) = (draws.below(2), 2 + draws.below(70));
        let ty = Type::new(DType::F64, shape);
        let cuts: Vec<[usize; 2]> = (0..pieces)
            .map(|_| {
                let end = draws.below(shape[axis] + 1);
                [draws.below(end + 1), end]
            })
            .collect();
        let f = build(std::slice::from_ref(&ty), |cx, x| {
            let part = |&[from, to]: &[usize; 2]| {
                let part = cx.slice_axis(x[0], axis, from, to);
                if from % 2 == 0 { cx.sin(part) } else { part }
            };
            let parts: Vec<Val> = cuts.iter().map(part).collect();
            let y = cx.concatenate(&parts, axis);
            vec![cx.add(y, y), cx.reduce_sum(y, &[axis])]
        });
        let x = numbers(draws, &ty, 50);
        check(
            &format!("{seed}: {cuts:?} of {shape:?}"),
            &f,
            std::slice::from_ref(&x),
        );
        if cuts.iter().map(|c| c[1] - c[0]).sum::<usize>() >= shape[axis] {
            check_steps(
                &format!("{seed}: steps of {cuts:?} of {shape:?}"),
                &x,
                &|cx, x| {
                    let parts = cuts.iter().map(|c| cx.slice_axis(x, axis, c[0], c[1]));
                    let y = cx.concatenate(&parts.collect::<Vec<_>>(), axis);
                    cx.slice_axis(y, axis, 0, shape[axis])
                },
            );
        }
    }
}

/// Prefixes by halves: each level is interleaved with the one below, as `associative_scan` does.
fn prefixes(cx: &dyn Emit, x: Val) -> Val {
    let n = cx.ty(x).shape.as_const().unwrap()[0];
    if n < 2 {
        return x;
    }
    let every = |x: Val, from: usize, to: usize| cx.slice(x, &[from.into()], &[to.into()], &[2]);
    let sums = prefixes(cx, cx.add(every(x, 0, n / 2 * 2), every(x, 1, n)));
    let before = cx.slice_axis(sums, 0, 0, n.div_ceil(2) - 1);
    let evens = cx.add(before, every(x, 2, n.max(2)));
    let evens = cx.concatenate(&[cx.slice_axis(x, 0, 0, 1), evens], 0);
    let apart = |x: Val, low: usize| {
        let own = cx.ty(x).shape.as_const().unwrap()[0] * 2 - 1;
        let pad = Pad {
            low: vec![low as i64],
            high: vec![n as i64 - (own + low) as i64],
            interior: vec![1],
        };
        cx.emit(pad.into(), &[x])[0]
    };
    cx.add(apart(evens, 0), apart(sums, 1))
}

#[test]
fn nested_interleaved_arrays_are_those_of_their_operations() {
    for n in [2, 3, 5, 8, 31, 64, 100, 1001] {
        let ty = Type::new(DType::F64, [n]);
        let f = build(std::slice::from_ref(&ty), |cx, x| {
            let y = prefixes(cx, x[0]);
            vec![y, prefixes(cx, cx.mul(y, x[0]))]
        });
        check(
            &format!("{n} numbers"),
            &f,
            &[numbers(&mut Draws(n as u64), &ty, 1000)],
        );
    }
}

#[test]
fn values_without_elements_cost_no_call() {
    let ty = Type::new(DType::F64, [5, 3]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let none = cx.slice_axis(x[0], 0, 2, 2);
        let flat = cx.reshape(none, &[0.into(), 3.into(), 1.into()]);
        let sums = cx.reduce_sum(cx.reshape(flat, &[1.into(), 0.into(), 3.into()]), &[1]);
        let edge = cx.concatenate(&[none, x[0], cx.reshape(flat, &[0.into(), 3.into()])], 0);
        vec![cx.add(edge, x[0]), sums]
    });
    check(
        "edges of no width",
        &f,
        &[numbers(&mut Draws(6), &ty, 1000)],
    );
    let plan = cotangent_cpu::plan_text(&f, &Default::default()).unwrap();
    assert!(!plan.contains(" call "), "{plan}");
}
