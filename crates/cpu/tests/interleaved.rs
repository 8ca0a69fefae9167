//! Arrays whose axes are read by quotients and remainders, with extents that are and are not
//! multiples of the divisor: interleaved arrays, zeros between elements, transposed rows as a line.

mod common;

use common::build;
use cotangent_core::ops::Pad;
use cotangent_core::rewrite::simplify;
use cotangent_core::{Array, DType, Dim, Emit, Env, Function, Type, Val, reference};
use cotangent_cpu::{Executor, plan_text};
use std::sync::Arc;

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

/// Small integers, whose sums are exact.
fn numbers(ty: &Type, first: usize) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = |i: usize| ((i * 37 + first) % 101) as f64 - 40.0;
    Array::from_vec(shape, (0..n).map(x).collect::<Vec<f64>>()).unwrap()
}

fn dims(shape: &[usize]) -> Vec<Dim> {
    shape.iter().map(|&n| n.into()).collect()
}

/// Rows of arrays, interleaved, of which each has the first `len` elements.
fn interleaved(cx: &dyn Emit, x: &[Val], len: usize) -> Val {
    let [rows, n] = cx.ty(x[0]).shape.as_const().unwrap()[..] else {
        panic!("matrices")
    };
    let columns = x.iter().map(|&x| cx.reshape(x, &dims(&[rows, n, 1])));
    let all = cx.concatenate(&columns.collect::<Vec<_>>(), 2);
    let all = cx.reshape(all, &dims(&[rows, n * x.len()]));
    cx.slice_axis(all, 1, 0, len)
}

/// The sum of rows of arrays with zeros between elements.
fn between_zeros(cx: &dyn Emit, x: &[Val], len: usize) -> Val {
    let n = cx.ty(x[0]).shape.as_const().unwrap()[1];
    let apart = |(k, &x): (usize, &Val)| {
        let all = (n - 1) * 2 + 1 + k;
        let pad = Pad {
            low: vec![0, k as i64],
            high: vec![0, len as i64 - all as i64],
            interior: vec![0, 1],
        };
        cx.emit(pad.into(), &[x])[0]
    };
    let parts: Vec<Val> = x.iter().enumerate().map(apart).collect();
    parts[1..].iter().fold(parts[0], |sum, &x| cx.add(sum, x))
}

/// The columns of each array, one after another.
fn columns(cx: &dyn Emit, x: &[Val], len: usize) -> Val {
    let [rows, n] = cx.ty(x[0]).shape.as_const().unwrap()[..] else {
        panic!("matrices")
    };
    let line = |&x: &Val| {
        let y = cx.reshape(cx.transpose(x, &[1, 0]), &dims(&[rows * n]));
        cx.slice_axis(y, 0, 0, (rows * n).min(len))
    };
    x.iter().map(line).reduce(|a, b| cx.add(a, b)).unwrap()
}

type RowForm = fn(&dyn Emit, &[Val], usize) -> Val;

/// A value, its double, sums of its rows and of its columns.
fn with_sums(cx: &dyn Emit, y: Val) -> Vec<Val> {
    let twice = cx.add(y, y);
    let mut out = vec![y, twice, cx.reduce_sum(twice, &[0])];
    if cx.ty(y).rank() > 1 {
        out.push(cx.reduce_sum(twice, &[1]));
    }
    out
}

fn check(what: &str, f: &Arc<Function>, x: &[Array]) {
    let want = reference::run(f, x).unwrap();
    let f = Arc::new(simplify(f));
    for executor in [
        Executor::new(),
        Executor::new().stepwise(),
        Executor::new().with_loops_compiled_after(1),
    ] {
        let got = executor.compile(&f).unwrap().run(x).unwrap();
        let same = want.iter().zip(&got).all(|(a, b)| a.same_bits(b));
        assert!(same, "{what}: {got:?} is not {want:?}\n{f}");
    }
}

#[test]
fn every_length() {
    let forms: [(&str, RowForm); 3] = [
        ("interleaved", interleaved),
        ("between zeros", between_zeros),
        ("columns", columns),
    ];
    for (name, form) in forms {
        for (rows, n, count) in [(1, 5, 2), (3, 5, 2), (2, 4, 3), (3, 40, 2), (7, 33, 2)] {
            if name == "between zeros" && count > 2 {
                continue;
            }
            let of_row = match name {
                "columns" => rows * n,
                _ => n * count,
            };
            let types = vec![f64s(&[rows, n]); count];
            let x: Vec<Array> = (0..count).map(|k| numbers(&types[k], k)).collect();
            for len in (of_row - of_row.min(7)).max(1)..=of_row {
                let what = format!("{name} {rows} x {n} x {count} to {len}");
                let f = build(&types, |cx, x| with_sums(cx, form(cx, x, len)));
                check(&what, &f, &x);
                let looped = build(&types, |cx, x| {
                    let first = form(cx, x, len);
                    let (last, _) =
                        cx.scan(x, &[first], &[], &Dim::from(3), false, |cx, x, c, _| {
                            let y = form(cx, x, len);
                            (vec![cx.add(y, c[0])], vec![])
                        });
                    last
                });
                check(&format!("{what} in a loop"), &looped, &x);
            }
        }
    }
}

/// Two axes whose last parts are shorter.
#[test]
fn both_axes() {
    for (n, m) in [(5, 7), (21, 30)] {
        let ty = f64s(&[n, m]);
        let f = build(&vec![ty.clone(); 4], |cx, x| {
            let pair = |k: usize| interleaved(cx, &x[k..k + 2], 2 * m - 1);
            let rows = [pair(0), pair(2)].map(|y| cx.transpose(y, &[1, 0]));
            let all = interleaved(cx, &rows, 2 * n - 1);
            with_sums(cx, all)
        });
        let x: Vec<Array> = (0..4).map(|k| numbers(&ty, k)).collect();
        check(&format!("{n} x {m}"), &f, &x);
    }
}

/// The rows of interleaved arrays of an odd length are not packed element by element.
#[test]
fn odd_lengths_are_strided() {
    for len in [4094, 4095, 4096] {
        let types = vec![f64s(&[1, 2048]); 2];
        for form in [interleaved as RowForm, between_zeros] {
            let f = build(&types, |cx, x| vec![cx.exp(form(cx, x, len))]);
            let text = plan_text(&Arc::new(simplify(&f)), &Env::default()).unwrap();
            assert!(!text.contains("packed"), "{len}:\n{text}");
        }
    }
}

/// Pairs of rows one after another by their sums, and zeros between their columns: the reads of
/// rows by quotients are not packed for the sake of blocks of rows.
#[test]
fn blocks_of_rows_do_not_pack() {
    for n in [37, 2048] {
        let types = vec![f64s(&[n, 8]); 2];
        let f = build(&types, |cx, x| {
            let apart = |k: usize| {
                let pad = Pad {
                    low: vec![k as i64, 0],
                    high: vec![1 - k as i64, 0],
                    interior: vec![1, 0],
                };
                cx.emit(pad.into(), &[x[k]])[0]
            };
            let rows = cx.add(apart(0), apart(1));
            let sums = cx.broadcast_in_dim(cx.reduce_sum(rows, &[1]), &cx.ty(rows).shape, &[0]);
            let pad = Pad {
                low: vec![0, 0],
                high: vec![0, 1],
                interior: vec![0, 1],
            };
            vec![cx.emit(pad.into(), &[cx.mul(rows, sums)])[0]]
        });
        check(
            &format!("{n} pairs"),
            &f,
            &[0, 1].map(|k| numbers(&types[k], k)),
        );
        let text = plan_text(&Arc::new(simplify(&f)), &Env::default()).unwrap();
        assert!(n < 1000 || !text.contains("packed"), "{text}");
    }
}
