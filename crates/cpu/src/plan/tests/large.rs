//! Programs over many elements: several threads, long rows, both engines, and concurrent runs.

use super::{PlannedFunction, one_by_one, same};
use crate::executor::Executor;
use crate::nests::tests::function;
use crate::plan::folded::row_boxes;
use crate::tensor::Tensor;
use cotangent_core::{Array, DType, Dim, Emit, Type, Val};
use smallvec::SmallVec;
use std::sync::Arc;

fn numbers(shape: &[usize], seed: usize) -> Array {
    let n: usize = shape.iter().product();
    let x = (0..n).map(|i| ((i + seed) * 7919 % 1009) as f64 / 250.0 - 2.0);
    Array::from_vec(shape.to_vec(), x.map(|x| x as f32).collect::<Vec<f32>>()).unwrap()
}

/// Functions of a matrix: maps, folds over each axis, views that are choices, products.
fn bodies() -> Vec<fn(&dyn Emit, Val) -> Val> {
    vec![
        |cx, x| cx.mul(cx.tanh(x), cx.exp(cx.neg(cx.mul(x, x)))),
        |cx, x| cx.softmax(x, 1),
        |cx, x| cx.softmax(x, 0),
        |cx, x| cx.reduce_sum(cx.exp(x), &[0, 1]),
        |cx, x| cx.reduce_sum(cx.exp(x), &[0]),
        |cx, x| cx.reduce_max(x, &[1]),
        |cx, x| cx.sin(cx.transpose(cx.exp(x), &[1, 0])),
        |cx, x| {
            let n = cx.ty(x).shape[1].as_const().unwrap();
            let left = cx.slice_axis(x, 1, 0, n - 1);
            let right = cx.slice_axis(x, 1, 1, n);
            cx.exp(cx.add(
                cx.pad_zeros(left, &[0, 1], &[0, 0], &[0, 0]),
                cx.pad_zeros(right, &[0, 0], &[0, 1], &[0, 0]),
            ))
        },
        |cx, x| cx.exp(cx.concatenate(&[x, cx.reverse(x, &[0, 1]), x], 1)),
        |cx, x| cx.exp(cx.concatenate(&[x, cx.reverse(x, &[0])], 0)),
        |cx, x| {
            let ty = cx.ty(x);
            cx.mul(x, cx.iota(&ty, 1))
        },
        |cx, x| {
            let y = cx.reduce_sum(x, &[0]);
            let ty = cx.ty(x);
            cx.add(x, cx.broadcast_in_dim(y, &ty.shape, &[1]))
        },
        |cx, x| cx.exp(cx.pad_zeros(x, &[1, 2], &[0, 1], &[0, 1])),
    ]
}

#[test]
fn threads_engines_and_repeated_runs_change_no_bit() {
    for shape in [[257, 100], [2, 70_001], [40_000, 3]] {
        for (k, body) in bodies().into_iter().enumerate() {
            let f = function(&[Type::new(DType::F32, shape)], |cx, x| {
                vec![body(cx, x[0])]
            });
            let x = Tensor::from(numbers(&shape, k));
            let what = format!("body {k} of {shape:?}");
            // The second run of a body is compiled.
            let pair = PlannedFunction::new(&f);
            (0..2).for_each(|_| pair.check(&what, std::slice::from_ref(&x)));
            let want = one_by_one(&f, std::slice::from_ref(&x)).unwrap();
            let f = Arc::new(f);
            for threads in [1, 2, 8] {
                let executor = Executor::new().with_threads(threads);
                let y = executor.compile(&f).unwrap().run_tensors([x.clone()]);
                let y = y.unwrap().into_iter().map(|y| y.into_array().unwrap());
                same(&what, &want, &y.collect::<Vec<_>>(), || f.to_string());
            }
        }
    }
}

#[test]
fn one_program_runs_on_two_threads_at_once() {
    let f = function(&[Type::new(DType::F32, [300, 200])], |cx, x| {
        let y = cx.softmax(cx.exp(x[0]), 1);
        vec![cx.add(y, cx.transpose(cx.transpose(x[0], &[1, 0]), &[1, 0]))]
    });
    let pair = PlannedFunction::new(&f);
    std::thread::scope(|s| {
        for k in 0..2 {
            let pair = &pair;
            s.spawn(move || {
                for i in 0..20 {
                    let x = Tensor::from(numbers(&[300, 200], 31 * i + k));
                    pair.check("two threads", &[x]);
                }
            });
        }
    });
}

#[test]
fn extents_are_resolved_for_each_run() {
    let (m, n) = (Dim::sym("m"), Dim::sym("n"));
    let f = function(&[Type::new(DType::F32, vec![m, n])], |cx, x| {
        let s = cx.softmax(x[0], 1);
        let back = cx.reverse(cx.transpose(s, &[1, 0]), &[0]);
        vec![
            cx.reduce_sum(cx.exp(back), &[0]),
            cx.exp(cx.concatenate(&[s, s], 0)),
        ]
    });
    let pair = PlannedFunction::new(&f);
    for round in 0..2 {
        for shape in [
            [3, 4],
            [1, 7],
            [20, 1],
            [0, 3],
            [33, 65],
            [2, 2],
            [5, 40_000],
        ] {
            let x = Tensor::from(numbers(&shape, round));
            pair.check(&format!("{shape:?}"), &[x]);
        }
    }
}

#[test]
fn boxes_of_rows_divide_their_range_in_order() {
    let extents = [3, 2, 4];
    let all: usize = extents.iter().product();
    for (start, end) in (0..all).flat_map(|a| (a + 1..=all).map(move |b| (a, b))) {
        let mut next = start;
        row_boxes(
            &extents,
            start..end,
            0,
            &mut SmallVec::new(),
            &mut |at, own, first| {
                let inner: usize = extents[at.len() + 1..].iter().product();
                let mut number = own.start;
                let mut step = extents[at.len()];
                for (&i, &n) in at.iter().zip(&extents).rev() {
                    number += i * step;
                    step *= n;
                }
                assert_eq!((first, number * inner), (next, next), "{start}..{end}");
                next += own.len() * inner;
            },
        );
        assert_eq!(next, end, "{start}..{end}");
    }
}
