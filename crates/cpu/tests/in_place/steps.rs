//! Products, folds and stencils whose axes are short or in an unusual order, alone and in the steps
//! of a loop.

use super::common::products::Random;
use super::{build, compare};
use cotangent_core::ops::{Bounds, Comparison, DotGeneral, Reduction};
use cotangent_core::{Array, DType, Emit, Env, Function, Type, Val, reference};
use cotangent_cpu::plan_text;
use std::sync::Arc;

/// The numbers below `n` in another order.
fn shuffled(random: &mut Random, n: usize) -> Vec<usize> {
    let mut out: Vec<usize> = (0..n).collect();
    for k in (1..n).rev() {
        out.swap(k, random.below(k + 1));
    }
    out
}

fn numbers(ty: &Type) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = |i: usize| ((i * 37 + 11) % 101) as f64 / 101.0 - 0.4;
    let x = Array::from_vec(shape, (0..n).map(x).collect::<Vec<f64>>()).unwrap();
    let to = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], ty.dtype)]);
    reference::run(&to, &[x]).unwrap().remove(0)
}

/// A function of arrays of these types, and the sum of its results in some steps of a loop.
fn both(types: &[Type], f: &dyn Fn(&dyn Emit, &[Val]) -> Val) -> [Arc<Function>; 2] {
    let alone = build(types, |cx, x| vec![f(cx, x)]);
    let in_steps = build(types, |cx, x| {
        let zero = cx.zeros(alone.ty(alone.results()[0]));
        let first = cx.zeros(&Type::scalar(types[0].dtype));
        let steps = cx.scan(x, &[zero, first], &[], &7.into(), false, |cx, w, c, _| {
            // The first operand changes from step to step.
            let shift = cx.broadcast_in_dim(c[1], &cx.ty(w[0]).shape, &[]);
            let moved = cx.add(w[0], shift);
            let y = f(cx, &[&[moved], &w[1..]].concat());
            let one = cx.full_like(c[1], 1i64);
            (vec![cx.add(c[0], y), cx.add(c[1], one)], vec![])
        });
        vec![steps.0[0]]
    });
    [alone, in_steps]
}

fn check(what: &str, types: &[Type], f: &dyn Fn(&dyn Emit, &[Val]) -> Val) {
    let args: Vec<Array> = types.iter().map(numbers).collect();
    check_with(what, types, &args, f);
}

fn check_with(what: &str, types: &[Type], args: &[Array], f: &dyn Fn(&dyn Emit, &[Val]) -> Val) {
    for (own, f) in ["alone", "in steps"].iter().zip(both(types, f)) {
        compare(&format!("{what}, {own}"), &f, args);
    }
}

/// Axes of a product: batch, of one factor, and summed over, in any order in each factor.
#[test]
fn factors_of_products_have_any_order_of_axes() {
    for seed in 0..150 {
        let mut random = Random(seed * 77 + 5);
        let counts = [2, 3, 3, 3].map(|n| random.below(n));
        let mut extents = |n: usize| (0..n).map(|_| 1 + random.below(6)).collect::<Vec<_>>();
        let [batch, rows, columns, folded] = counts.map(&mut extents);
        let dtype = [DType::F64, DType::F32, DType::C128, DType::I32][random.below(4)];
        let mut factor = |free: &[usize]| {
            let all = [&batch[..], free, &folded[..]].concat();
            let order = shuffled(&mut random, all.len());
            let shape: Vec<usize> = order.iter().map(|&k| all[k]).collect();
            // Where each axis is among those in order.
            let at = |k: usize| order.iter().position(|&o| o == k).unwrap();
            let first = batch.len() + free.len();
            let own = (0..batch.len()).map(at).collect::<Vec<_>>();
            let sum = (first..all.len()).map(at).collect::<Vec<_>>();
            (Type::new(dtype, &shape[..]), own, sum)
        };
        let (a, lhs_batch, lhs_contract) = factor(&rows);
        let (b, rhs_batch, rhs_contract) = factor(&columns);
        let product = DotGeneral {
            lhs_batch,
            rhs_batch,
            lhs_contract,
            rhs_contract,
            stable: false,
            strong_zero: seed % 3 == 0 && dtype != DType::I32,
        };
        let what = format!("seed {seed} {a} {b} {product:?}");
        check(&what, &[a, b], &|cx, x| {
            let y = cx.op(product.clone(), x);
            let rank = cx.ty(y).rank();
            // Its sum is one row, which makes groups with several products.
            let all = cx.reduce_sum(y, &(0..rank).collect::<Vec<_>>());
            let shape = cx.ty(y).shape;
            cx.add(y, cx.broadcast_in_dim(all, &shape, &[]))
        });
    }
}

/// Rows at computed indices, folded.
#[test]
fn rows_at_an_index_are_folded() {
    for width in [1, 2, 3, 4, 8, 12, 16, 20, 33] {
        for (how, stable) in [
            (Reduction::Sum, false),
            (Reduction::Sum, true),
            (Reduction::Max, false),
        ] {
            for (rows, count) in [(16, 10), (3, 4), (64, 6)] {
                let types = [
                    Type::new(DType::F32, [40, width]),
                    Type::new(DType::I32, [rows, count]),
                ];
                let at: Vec<i32> = (0..rows * count).map(|k| (k * 7 % 43) as i32 - 1).collect();
                let at = Array::from_vec(vec![rows, count], at).unwrap();
                let args = [numbers(&types[0]), at];
                let what = format!("{how:?} of {count} of {width} for {rows}");
                check_with(&what, &types, &args, &|cx, x| {
                    let taken = cx.take(x[0], x[1], 0, Bounds::Clip);
                    match (how, stable) {
                        (Reduction::Max, _) => cx.reduce_max(taken, &[1]),
                        (_, false) => cx.reduce_sum(taken, &[1]),
                        (_, true) => cx.reduce_sum(cx.tanh(taken), &[1]),
                    }
                });
            }
        }
    }
}

/// Neighbours along axes of which the last one is short.
#[test]
fn stencils_have_short_last_axes() {
    for n in 1..=20 {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::I32] {
            for axes in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
                let ty = Type::new(dtype, [5, 6, n]);
                check(&format!("{ty} along {axes:?}"), &[ty], &|cx, x| {
                    let mut sum = cx.add(x[0], x[0]);
                    for &axis in axes {
                        sum = cx.add(sum, cx.roll(x[0], 1, axis));
                        sum = cx.sub(sum, cx.roll(x[0], -1, axis));
                    }
                    sum
                });
                let ty = Type::new(dtype, [2, 6, n]);
                check(
                    &format!("components of {ty} along {axes:?}"),
                    &[ty],
                    &|cx, x| {
                        let [p, q] = [0, 1].map(|k| cx.index_axis(x[0], 0, k));
                        let d = |a: Val, axis: usize| cx.sub(cx.roll(a, -1, axis), a);
                        let s = cx.add(d(p, 0), d(q, 1));
                        let t = cx.sub(d(q, 0), d(p, 1));
                        let [s, t] = [cx.add(d(s, 0), d(t, 1)), cx.add(d(t, 0), d(s, 1))];
                        let shape = cx.ty(s).shape;
                        let rows = |v: Val| {
                            let shape = [&[1.into()], &shape[..]].concat();
                            cx.reshape(v, &shape)
                        };
                        cx.concatenate(&[rows(s), rows(t)], 0)
                    },
                );
            }
        }
    }
}

/// Matrices that are the same in all steps, from both sides of what changes.
#[test]
fn constant_matrices_are_read_in_any_order() {
    let product = |lhs: usize, rhs: usize| DotGeneral {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![lhs],
        rhs_contract: vec![rhs],
        stable: false,
        strong_zero: false,
    };
    for n in [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33] {
        for dtype in [DType::F32, DType::F64] {
            for rank in [1, 2] {
                let state = vec![n; rank];
                let types = [Type::new(dtype, &state[..]), Type::new(dtype, [n, n])];
                for [lhs, rhs] in [[1, 0], [0, 0], [1, rank - 1]] {
                    let what = format!("{n} of rank {rank} along {lhs} and {rhs} {dtype:?}");
                    check(&what, &types, &|cx, x| {
                        let y = cx.op(product(lhs, rhs), &[x[1], x[0]]);
                        cx.tanh(cx.add(y, x[0]))
                    });
                }
            }
        }
    }
}

/// Matrices of more than the memory that is lent to kernels on tensors.
#[test]
fn products_with_large_matrices_are_steps_in_place() {
    let product = |lhs: usize| DotGeneral {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![lhs],
        rhs_contract: vec![0],
        stable: false,
        strong_zero: false,
    };
    for (n, lhs) in [(100, 0), (150, 0), (150, 1)] {
        let types = [&[n][..], &[n, n]].map(|shape| Type::new(DType::F64, shape));
        let f = |cx: &dyn Emit, x: &[Val]| cx.tanh(cx.op(product(lhs), &[x[1], x[0]]));
        check(&format!("{n} along {lhs}"), &types, &f);
        let [_, in_steps] = both(&types, &f);
        let plan = plan_text(&in_steps, &Env::default()).unwrap();
        assert!(plan.contains("steps in place"), "{plan}");
    }
}

/// Steps with too many elements for code, whose reads differ from index to index: at computed
/// indices, alone or as the value, and in pieces that a start divides.
#[test]
fn reads_that_are_packed_in_steps() {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::I16, DType::U8] {
        for n in [90, 300, 3000] {
            let types = [
                Type::new(dtype, [n]),
                Type::new(DType::I32, [n]),
                Type::new(dtype, [40]),
            ];
            let mut args = types.each_ref().map(numbers);
            let at = (0..n).map(|k| ((k * 37 + 5) % (n + 9)) as i32 - 4);
            args[1] = Array::vector(at.collect::<Vec<_>>());
            // Sums of complex numbers are no numbers of one part.
            let kinds = if dtype.is_complex() { 2 } else { 3 };
            for kind in 0..kinds {
                let f = |cx: &dyn Emit, x: &[Val]| {
                    let taken = cx.take(x[0], x[1], 0, Bounds::Clip);
                    let joined = cx.concatenate(&[x[2], x[0]], 0);
                    let start = cx.index_axis(x[1], 0, 0);
                    let window = cx.dynamic_slice(joined, &[start], &[n.into()]);
                    match kind {
                        0 => taken,
                        1 => cx.select(cx.compare(taken, Comparison::Eq, x[0]), x[0], window),
                        _ => {
                            let number = cx.convert(taken, DType::F64);
                            let sum = cx.reduce_sum(number, &[0]);
                            let same = cx.compare(window, Comparison::Eq, taken);
                            let many = cx.convert(same, DType::F64);
                            let both = cx.add(sum, cx.reduce_sum(many, &[0]));
                            cx.broadcast_in_dim(cx.convert(both, dtype), &[n.into()], &[])
                        }
                    }
                };
                check_with(&format!("{dtype} {n}, {kind}"), &types, &args, &f);
            }
        }
    }
}
