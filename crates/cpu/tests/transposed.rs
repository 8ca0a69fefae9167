//! Programs most of whose inputs are adjacent along another axis than outputs, which run in blocks:
//! every extent about that of a block, on one thread and on several.

mod common;

use common::build;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::Pad;
use cotangent_core::rewrite::simplify;
use cotangent_core::{Array, C128, DType, Emit, Env, Function, Type, Val, Wide, reference};
use cotangent_cpu::{Executor, Tensor, plan_text};
use std::sync::Arc;

/// Small integers, whose sums are exact.
fn numbers(ty: &Type, first: usize) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = (0..n).map(|i| ((i * 37 + first) % 101) as i128 % 11 - 5);
    let x = match ty.dtype.kind() {
        Kind::Float => Wide::F(x.map(|v| v as f64).collect()),
        Kind::Complex => Wide::C(x.map(|v| C128::new(v as f64, 1.0)).collect()),
        _ => Wide::I(x.collect()),
    };
    x.narrow(ty.dtype, shape).unwrap()
}

/// The sum of the elements beside each element of the last two axes, of which none are at the ends.
fn stencil(cx: &dyn Emit, x: Val) -> Val {
    let shape = cx.ty(x).shape.as_const().unwrap();
    let [m, n] = [shape.len() - 2, shape.len() - 1];
    let part = |i: usize, j: usize| {
        let rows = cx.slice_axis(x, m, i, i + shape[m] - 2);
        cx.slice_axis(rows, n, j, j + shape[n] - 2)
    };
    let parts = [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)].map(|(i, j)| part(i, j));
    parts[1..].iter().fold(parts[0], |sum, &y| cx.add(sum, y))
}

/// A transposed stencil, its sums along each axis, and it beside an array in order.
fn program(cx: &dyn Emit, x: Val) -> Vec<Val> {
    let rank = cx.ty(x).rank();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 1, rank - 2);
    let y = stencil(cx, cx.transpose(x, &perm));
    let own = cx.transpose(stencil(cx, x), &perm);
    let both = cx.mul(cx.add(own, y), y);
    let mut all = vec![y, both];
    all.extend((0..rank).map(|k| cx.reduce_sum(cx.mul(y, y), &[k])));
    all.push(cx.concatenate(&[y, own, y], rank - 1));
    all.push(cx.concatenate(&[y, own, y], rank - 2));
    // A sum in regions.
    let padded = (0..6).map(|k| {
        let mut pad = Pad {
            low: vec![0; rank],
            high: vec![0; rank],
            interior: vec![0; rank],
        };
        (pad.low[rank - 1], pad.high[rank - 1]) = (k, 5 - k);
        (pad.low[rank - 2], pad.high[rank - 2]) = (5 - k, k);
        cx.emit(pad.into(), &[y])[0]
    });
    all.push(padded.reduce(|a, b| cx.add(a, b)).unwrap());
    all
}

fn check(what: &str, f: &Arc<Function>, x: &[Array]) {
    let want = reference::run(f, x).unwrap();
    let f = Arc::new(simplify(f));
    for threads in [1, 3] {
        let p = Executor::new().with_threads(threads).compile(&f).unwrap();
        for (k, (want, got)) in want.iter().zip(p.run(x).unwrap()).enumerate() {
            assert!(want.same_bits(&got), "{what}, result {k}\n{f}");
        }
    }
}

#[test]
fn every_extent() {
    let types = [DType::F32, DType::F64, DType::I8, DType::C128, DType::BF16];
    for (k, [m, n]) in [
        [66, 18],
        [65, 17],
        [67, 19],
        [130, 34],
        [131, 100],
        [18, 66],
        [10, 300],
        [300, 5],
    ]
    .into_iter()
    .enumerate()
    {
        for shape in [vec![m, n], vec![3, m, n]] {
            let ty = Type::new(types[k % types.len()], &shape[..]);
            let f = build(std::slice::from_ref(&ty), |cx, x| program(cx, x[0]));
            check(&format!("{ty}"), &f, &[numbers(&ty, k)]);
        }
    }
}

/// A result is not written over an argument that is read at other indices.
#[test]
fn squares_in_place() {
    let n = 200;
    let ty = Type::new(DType::F64, [n, n]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let y = cx.transpose(x[0], &[1, 0]);
        vec![cx.add(cx.mul(y, y), cx.mul(x[0], y))]
    });
    let x = numbers(&ty, 0);
    let want = &reference::run(&f, std::slice::from_ref(&x)).unwrap()[0];
    let p = Executor::new().compile(&f).unwrap();
    let got = p.run_tensors([Tensor::from(x)]).unwrap().remove(0);
    assert!(want.same_bits(&got.into_array().unwrap()));
}

/// Stencils of transposed arrays are in blocks, those of arrays in order are not.
#[test]
fn blocks_are_chosen() {
    let ty = Type::new(DType::F32, [1002, 1002]);
    let text = |transposed: bool| {
        let f = build(std::slice::from_ref(&ty), |cx, x| {
            vec![match transposed {
                true => stencil(cx, cx.transpose(x[0], &[1, 0])),
                false => stencil(cx, x[0]),
            }]
        });
        plan_text(&Arc::new(simplify(&f)), &Env::default()).unwrap()
    };
    let (blocks, plain) = (text(true), text(false));
    assert!(blocks.contains("[15, 62, 16, 64]"), "{blocks}");
    assert!(plain.contains("over [1000, 1000]"), "{plain}");
}

/// Columns of rows of nine share no lines of the cache along another axis: no loop is in blocks.
#[test]
fn columns_of_a_batch_are_read_in_lines() {
    let ty = Type::new(DType::F64, [3, 5000, 9]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let parts: Vec<Val> = (0..9).map(|k| cx.slice_axis(x[0], 2, k, k + 1)).collect();
        vec![parts[1..].iter().fold(parts[0], |y, &x| cx.mul(y, x))]
    });
    let text = plan_text(&Arc::new(simplify(&f)), &Env::default()).unwrap();
    assert!(text.contains("over [3, 5000"), "{text}");
}

/// The rows of a transposed array by their sums of squares, which run by blocks of rows.
fn by_sums(cx: &dyn Emit, x: Val) -> Val {
    let x = cx.transpose(x, &[1, 0]);
    let one = cx.full_like(x, 1.0);
    // Enough work that the values are kept.
    let y = (0..8).fold(x, |y, _| cx.abs(cx.sub(y, one)));
    let sums = cx.reduce_sum(cx.mul(y, y), &[1]);
    cx.mul(y, cx.broadcast_in_dim(sums, &cx.ty(y).shape, &[0]))
}

#[test]
fn rows_of_every_length() {
    let types = [DType::F32, DType::I8, DType::F64, DType::BF16, DType::I16];
    let lengths = [
        [300, 20],
        [129, 64],
        [1100, 9],
        [2100, 8],
        [260, 500],
        [40, 7],
    ];
    for (k, [n, rows]) in lengths.into_iter().enumerate() {
        for dtype in types {
            let ty = Type::new(dtype, [n, rows]);
            let f = build(std::slice::from_ref(&ty), |cx, x| vec![by_sums(cx, x[0])]);
            check(&format!("{ty}"), &f, &[numbers(&ty, k)]);
        }
    }
}

/// Long rows of a transposed array are cut, so that several are transposed together.
#[test]
fn rows_are_cut() {
    let ty = Type::new(DType::F32, [1000, 512]);
    let f = build(std::slice::from_ref(&ty), |cx, x| vec![by_sums(cx, x[0])]);
    let text = plan_text(&Arc::new(simplify(&f)), &Env::default()).unwrap();
    assert!(text.contains("[512, 64] [512, 64]"), "{text}");
}
