//! Kernels that the code of a step calls, against steps over tensors.

mod common;

use common::build;
use cotangent_core::ops::{
    Bounds, Combine, Comparison, Cumulative, Running, Scatter, Sort, Windows,
};
use cotangent_core::{Array, Code, DType, Emit, Env, Function, Type, Val};
use cotangent_cpu::{Executor, plan_text};
use std::sync::Arc;

const STEPS: usize = 12;

/// Integers from `low` to `high`.
fn integers(n: usize, [low, high]: [i64; 2], seed: u64) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        low + ((state >> 11) % (high - low + 1) as u64) as i64
    };
    (0..n).map(|_| next()).collect()
}

fn numbers(shape: &[usize], range: [i64; 2], seed: u64) -> Array {
    Array::from_vec(shape, integers(shape.iter().product(), range, seed)).unwrap()
}

/// Floats from -`most` to `most`.
fn floats(shape: &[usize], most: f64, seed: u64) -> Array {
    let all = integers(shape.iter().product(), [-1000, 1000], seed);
    let x = all.into_iter().map(|x| x as f64 / 999.0 * most);
    Array::from_vec(shape, x.collect::<Vec<f64>>()).unwrap()
}

/// The results of the steps over tensors and of code are the same bits, or errors of one code.
/// Returns the code of the error.
fn compare(what: &str, f: &Arc<Function>, x: &[Array]) -> Option<Code> {
    let on_tensors = Executor::new().stepwise().compile(f).unwrap();
    let code = Executor::new()
        .with_loops_compiled_after(1)
        .compile(f)
        .unwrap();
    let want = on_tensors.run(x);
    for run in 1..=2 {
        match (&want, code.run(x)) {
            (Ok(want), Ok(got)) => {
                for (want, got) in want.iter().zip(&got) {
                    assert!(want.same_bits(got), "{what}: {got:?} is not {want:?}\n{f}");
                }
            }
            (Err(want), Err(got)) => {
                assert_eq!(want.code(), got.code(), "{what}, run {run}");
                assert_eq!(want.to_string(), got.to_string(), "{what}, run {run}");
            }
            (want, got) => panic!("{what}, run {run}: {want:?} and {got:?}\n{f}"),
        }
    }
    want.err().map(|e| e.code())
}

/// The line of a plan for the loop of a function.
fn plan(f: &Arc<Function>) -> String {
    plan_text(f, &Env::default()).unwrap()
}

fn words(all: [&[usize]; 5], vector: usize) -> Windows {
    let [window, collapsed, operand_batch, index_batch, axes] = all.map(<[usize]>::to_vec);
    Windows {
        window,
        collapsed,
        operand_batch,
        index_batch,
        axes,
        vector,
    }
}

/// Windows, with the shapes of operand, indices and updates.
type Case = (&'static str, Windows, [&'static [usize]; 3]);

fn cases() -> Vec<Case> {
    vec![
        (
            "elements",
            words([&[], &[0], &[], &[], &[0]], 1),
            [&[6], &[9, 1], &[9]],
        ),
        (
            "two",
            words([&[], &[0], &[], &[], &[0]], 1),
            [&[6], &[2, 1], &[2]],
        ),
        (
            "scalars",
            words([&[], &[0], &[], &[], &[0]], 1),
            [&[6], &[9], &[9]],
        ),
        (
            "rows",
            words([&[1], &[0], &[], &[], &[0]], 1),
            [&[4, 3], &[7, 1], &[7, 3]],
        ),
        (
            "across",
            words([&[0], &[0], &[], &[], &[0]], 1),
            [&[4, 3], &[7, 1], &[3, 7]],
        ),
        (
            "points",
            words([&[], &[0, 1], &[], &[], &[1, 0]], 1),
            [&[3, 4], &[8, 2], &[8]],
        ),
        (
            "first vectors",
            words([&[], &[0, 1], &[], &[], &[0, 1]], 0),
            [&[3, 4], &[2, 8], &[8]],
        ),
        (
            "long",
            words([&[1], &[], &[], &[], &[0]], 1),
            [&[7], &[5, 1], &[5, 2]],
        ),
        (
            "batches",
            words([&[], &[1], &[0], &[0], &[1]], 2),
            [&[3, 5], &[3, 4, 1], &[3, 4]],
        ),
    ]
}

/// A loop whose carry is the operand of a scatter, with a stack of its results.
fn scattering(
    s: &Scatter,
    [dtype, of_indices]: [DType; 2],
    shapes: [&[usize]; 3],
) -> Arc<Function> {
    let rows = |shape: &[usize]| [&[STEPS], shape].concat();
    let i64s = |shape: &[usize]| Type::new(DType::I64, shape);
    let types = [
        i64s(shapes[0]),
        i64s(&rows(shapes[1])),
        i64s(&rows(shapes[2])),
    ];
    build(&types, |cx, x| {
        let first = cx.convert(x[0], dtype);
        let trips = STEPS.into();
        let (c, y) = cx.scan(&[], &[first], &x[1..], &trips, false, |cx, _, c, rows| {
            let indices = cx.convert(rows[0], of_indices);
            let updates = cx.convert(rows[1], dtype);
            let y = cx.op(s.clone(), &[c[0], indices, updates]);
            // Elements are read before and after the call.
            let next = match dtype {
                DType::Bool => y,
                _ => cx.sub(y, cx.reverse(c[0], &[0])),
            };
            (vec![next], vec![y, next])
        });
        [c, y].concat()
    })
}

#[test]
fn scatters_of_all_types_and_windows() {
    let combine = [
        Combine::Set,
        Combine::Add,
        Combine::Mul,
        Combine::Min,
        Combine::Max,
    ];
    let indices = [
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U64,
        DType::I8,
        DType::U32,
        DType::I16,
        DType::U16,
    ];
    let (mut n, mut errors) = (0, 0);
    for (name, windows, shapes) in cases() {
        for combine in combine {
            for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
                for (k, dtype) in DType::ALL.into_iter().enumerate() {
                    let ordered = matches!(combine, Combine::Min | Combine::Max);
                    let few = matches!(dtype, DType::F32 | DType::F64 | DType::I32 | DType::C64);
                    if ordered && dtype.is_complex() || !few && name != "elements" {
                        continue;
                    }
                    let stable = combine == Combine::Add && k % 2 == 0;
                    let s = Scatter {
                        combine,
                        windows: windows.clone(),
                        bounds,
                        unique: false,
                        stable,
                    };
                    n += 1;
                    let of_indices = indices[n % indices.len()];
                    let what = format!("{name}, {combine:?}, {bounds:?}, {dtype}, {of_indices}");
                    let f = scattering(&s, [dtype, of_indices], shapes);
                    let rows = |shape: &[usize]| [&[STEPS], shape].concat();
                    let args = |range: [i64; 2]| {
                        [
                            numbers(shapes[0], [-3, 5], 1),
                            numbers(&rows(shapes[1]), range, 2 + n as u64),
                            numbers(&rows(shapes[2]), [-4, 9], 3),
                        ]
                    };
                    assert_eq!(compare(&what, &f, &args([0, 2])), None);
                    errors += usize::from(compare(&what, &f, &args([-2, 7])).is_some());
                    if k % 5 == 0 {
                        let plan = plan(&f);
                        assert!(plan.contains("the kernel of"), "{what}: {plan}");
                    }
                }
            }
        }
    }
    assert!(n > 500 && errors > 100, "{n} scatters, {errors} errors");
}

#[test]
fn unique_indices_have_plain_sums() {
    let (_, windows, shapes) = cases().remove(0);
    let s = Scatter {
        combine: Combine::Add,
        windows,
        bounds: Bounds::Drop,
        unique: true,
        stable: false,
    };
    let f = scattering(&s, [DType::F32, DType::I32], shapes);
    let x = [
        numbers(&[6], [-3, 5], 1),
        numbers(&[STEPS, 9, 1], [-2, 7], 2),
        numbers(&[STEPS, 9], [-1 << 40, 1 << 40], 3),
    ];
    assert_eq!(compare("unique", &f, &x), None);
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

/// The real parts, in double precision.
fn real(cx: &dyn Emit, y: Val) -> Val {
    let y = match cx.ty(y).dtype.is_complex() {
        true => cx.real(y),
        false => y,
    };
    cx.convert(y, DType::F64)
}

/// `clamp(x, -2, 2)`.
fn bounded(cx: &dyn Emit, x: Val) -> Val {
    let limit = |by: f64| cx.full_like(x, by);
    cx.maximum(cx.minimum(x, limit(2.0)), limit(-2.0))
}

/// A loop over a carry and rows of one shape.
fn looped(
    shape: &[usize],
    step: impl Fn(&dyn Emit, Val, Val) -> Vec<Val>,
) -> (Arc<Function>, [Array; 2]) {
    let rows = [&[STEPS], shape].concat();
    let f = build(&[f64s(shape), f64s(&rows)], |cx, x| {
        let (c, y) = cx.scan(
            &[],
            &x[..1],
            &x[1..],
            &STEPS.into(),
            false,
            |cx, _, c, row| {
                let mut y = step(cx, c[0], row[0]);
                (vec![y.remove(0)], y)
            },
        );
        [c, y].concat()
    });
    (f, [floats(shape, 1.0, 5), floats(&rows, 1.0, 6)])
}

#[test]
fn systems_of_all_sizes_and_types() {
    for n in [1, 2, 3, 5, 9, 20] {
        for columns in [1, 2, 4] {
            for dtype in [DType::F64, DType::F32, DType::C128, DType::C64] {
                let (f, x) = looped(&[n, n], |cx, c, row| {
                    let a = cx.convert(cx.transpose(row, &[1, 0]), dtype);
                    let b = cx.slice_axis(cx.convert(c, dtype), 1, 0, columns.min(n));
                    let y = cx.solve(a, b);
                    // The first row of the matrix is zero where a row is small: a singular matrix.
                    let real = real(cx, y);
                    let sum = cx.reduce_sum(real, &[1]);
                    let wide = cx.broadcast_in_dim(sum, &[n.into(), n.into()], &[0]);
                    vec![bounded(cx, cx.add(cx.mul(wide, c), row)), y]
                });
                let what = format!("{n} x {columns} {dtype}");
                assert_eq!(compare(&what, &f, &x), None);
                if n == 5 {
                    let plan = plan(&f);
                    assert!(plan.contains("of `solve`"), "{what}: {plan}");
                }
                let singular = floats(&[STEPS, n, n], 0.0, 1);
                assert_eq!(compare(&what, &f, &[x[0].clone(), singular]), None);
            }
        }
    }
}

#[test]
fn cumulative_operations_and_sorts() {
    for dtype in DType::ALL.into_iter().filter(|d| *d != DType::Bool) {
        for op in [Running::Sum, Running::Prod, Running::Max, Running::Min] {
            for reverse in [false, true] {
                for exclusive in [false, true] {
                    if dtype.is_complex() && matches!(op, Running::Max | Running::Min) {
                        continue;
                    }
                    let running = Cumulative {
                        op,
                        axis: usize::from(reverse),
                        reverse,
                        exclusive,
                    };
                    // Steps of the larger array run in place, those of the smaller one are code.
                    for shape in [[3, 7], [2, 3]] {
                        let (f, x) = looped(&shape, |cx, c, row| {
                            let scaled = cx.mul(row, cx.full_like(row, 40.0));
                            let y = cx.op(running, &[cx.convert(scaled, dtype)]);
                            let real = real(cx, y);
                            vec![bounded(cx, cx.add(c, real)), y]
                        });
                        let what = format!("{op:?} of {dtype}, {reverse}, {exclusive}");
                        assert_eq!(compare(&what, &f, &x), None);
                        let plan = plan(&f);
                        let few = matches!(dtype, DType::F64 | DType::F32 | DType::I64);
                        let is_code = plan.contains("the kernel of");
                        assert!(!few || shape == [3, 7] || is_code, "{what}: {plan}");
                    }
                }
            }
        }
    }
}

#[test]
fn sorts_of_all_types() {
    for (k, dtype) in DType::ALL
        .into_iter()
        .filter(|d| !d.is_complex())
        .enumerate()
    {
        for (descending, rows) in [(false, 2), (true, 2), (false, 3), (true, 3)] {
            let (axis, num_keys) = (k % 2, 1 + k % 3 / 2);
            let (f, x) = looped(&[rows, 7], |cx, c, row| {
                let s = Sort {
                    axis,
                    operands: 2,
                    num_keys,
                    descending,
                };
                // Few different keys, and keys that are NaN.
                let key = cx.convert(cx.mul(row, cx.full_like(row, 3.0)), dtype);
                let key = match dtype {
                    DType::F32 | DType::F64 => cx.sqrt(key),
                    _ => key,
                };
                let y = cx.emit(s.into(), &[key, c]).to_vec();
                let next = bounded(cx, cx.add(y[1], row));
                // The sorted keys are read in half of the cases.
                vec![next, if descending { y[0] } else { y[1] }]
            });
            let what = format!("sort of {dtype}, {axis}, {num_keys}, {descending}");
            assert_eq!(compare(&what, &f, &x), None);
            // More rows take less time by kernels on vectors.
            if dtype == DType::F64 && rows == 2 {
                let plan = plan(&f);
                assert!(plan.contains("the kernel of"), "{what}: {plan}");
            }
        }
    }
}

/// More values live across calls than there are registers, comparisons among them.
#[test]
fn values_live_across_calls() {
    let (f, x) = looped(&[4, 7], |cx, c, row| {
        let running = Cumulative {
            op: Running::Sum,
            axis: 1,
            reverse: false,
            exclusive: false,
        };
        let larger = cx.compare(c, Comparison::Gt, row);
        let product = cx.mul(c, row);
        let a = cx.op(running, &[product]);
        let b = cx.op(running, &[cx.mul(a, product)]);
        let chosen = cx.select(larger, a, product);
        let part = cx.slice_axis(cx.slice_axis(chosen, 0, 0, 4), 1, 0, 4);
        let solved = cx.solve(part, cx.slice_axis(row, 1, 3, 7));
        let sum = cx.reduce_sum(solved, &[1]);
        let sum = cx.broadcast_in_dim(sum, &[4.into(), 7.into()], &[0]);
        let next = bounded(cx, cx.add(cx.add(chosen, b), sum));
        vec![next, cx.sub(product, b), solved]
    });
    assert_eq!(compare("live values", &f, &x), None);
    let plan = plan(&f);
    assert!(plan.contains("the kernels of"), "{plan}");
}

/// A step that fails in the middle of a loop gives the error of steps over tensors, with the
/// location; the carry that a step changes in place comes after it.
#[test]
fn a_kernel_that_fails_ends_the_loop_with_its_error() {
    let (f, x) = looped(&[5], |cx, c, row| {
        let total = cx.reduce_sum(c, &[0]);
        let ok = cx.compare(total, Comparison::Lt, cx.full_like(total, 7.0));
        let kept = cx.require(ok, total, &[total], "too large")[0];
        let next = cx.add(c, cx.abs(row));
        let wide = cx.broadcast_in_dim(kept, &[5.into()], &[]);
        vec![next, wide]
    });
    assert_eq!(compare("a guard", &f, &x), Some(Code::NotConverged));
    let less = floats(&[STEPS, 5], 0.01, 6);
    assert_eq!(
        compare("a guard that holds", &f, &[x[0].clone(), less]),
        None
    );
    let plan = plan(&f);
    assert!(plan.contains("code of"), "{plan}");
}

/// Kernels in loops of a step, whose rows and carries they read and write.
#[test]
fn kernels_in_inner_loops() {
    for limit in [0.0, 0.7, 9.0] {
        let (f, x) = looped(&[5, 7], |cx, c, row| {
            let running = Cumulative {
                op: Running::Sum,
                axis: 0,
                reverse: false,
                exclusive: false,
            };
            // A scan over the rows of a value that the step computes.
            let rows = cx.concatenate(&[row; 14], 0);
            let (sums, stacked) = cx.scan(
                &[c],
                &[cx.index_axis(row, 0, 0)],
                &[rows],
                &70.into(),
                true,
                |cx, w, c, row| {
                    let y = cx.op(running, &[cx.mul(c[0], row[0])]);
                    let next = bounded(cx, cx.add(y, cx.index_axis(w[0], 0, 2)));
                    (vec![next], vec![y])
                },
            );
            // A loop until a sum is large, which solves a system in each iteration.
            let more = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                let total = cx.reduce_sum(cx.abs(c[0]), &[0, 1]);
                let few = cx.compare(c[1], Comparison::Lt, cx.full_like(c[1], 9i64));
                let small = cx.compare(total, Comparison::Lt, w[0]);
                cx.and(few, small)
            };
            let step = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
                let part = cx.slice_axis(c[0], 1, 0, 5);
                let more = cx.add(part, cx.iota(&cx.ty(part), 1));
                let solved = cx.solve(more, c[0]);
                let next = bounded(cx, cx.add(solved, c[0]));
                vec![next, cx.add(c[1], cx.full_like(c[1], 1i64))]
            };
            let zero = cx.full(&Type::scalar(DType::I64), 0i64);
            let first = cx.add(c, cx.broadcast_in_dim(sums[0], &[5.into(), 7.into()], &[1]));
            let limit = cx.full(&f64s(&[]), limit * 35.0);
            let found = cx.while_loop(&[limit], &[bounded(cx, first), zero], more, step);
            let counted = cx.convert(found[1], DType::F64);
            vec![found[0], cx.reduce_sum(stacked[0], &[0]), counted]
        });
        assert_eq!(compare(&format!("limit {limit}"), &f, &x), None);
        let plan = plan(&f);
        assert!(plan.contains("`cumsum`, `solve`"), "{plan}");
    }
}
