//! Updates of tables in the steps of a loop.

use super::{build, compare};
use cotangent_core::ops::{Comparison, RegionFn};
use cotangent_core::rewrite::with_simple_loops;
use cotangent_core::{Array, DType, Dim, Emit, Env, Function, Type, Val, reference};
use cotangent_cpu::plan_text;
use std::sync::Arc;

/// Steps that update windows of two tables at starts that they read. `kind` chooses what is added:
/// numbers, functions of windows that need the scalar fallback, what a branch adds, or what an
/// inner loop adds in each of its steps.
fn tables(shape: &[usize], window: &[usize], dtype: DType, kind: usize) -> Arc<Function> {
    let table = Type::new(dtype, shape);
    let types = [table.clone(), table, Type::new(DType::I64, [30, 3])];
    let sizes: Vec<Dim> = window.iter().map(|&n| n.into()).collect();
    let rank = shape.len();
    build(&types, move |cx, x| {
        let read = |cx: &dyn Emit, t: Val, i: Val| cx.dynamic_slice(t, &vec![i; rank], &sizes);
        let add = |cx: &dyn Emit, t: Val, u: Val, i: Val| {
            let u = cx.broadcast_in_dim(cx.convert(u, dtype), &sizes, &[]);
            let new = cx.add(read(cx, t, i), u);
            cx.dynamic_update_slice(t, new, &vec![i; rank])
        };
        let squashed = |cx: &dyn Emit, t: Val, i: Val| {
            let x = read(cx, t, i);
            let new = match dtype.is_float() && kind == 1 {
                true => cx.logistic(cx.mul(x, x)),
                false => cx.mul(x, cx.full_like(x, 3i64)),
            };
            cx.dynamic_update_slice(t, new, &vec![i; rank])
        };
        cx.scan(&[], &x[..2], &x[2..], &30.into(), false, |cx, _, c, row| {
            let [i, j, k] = [0, 1, 2].map(|k| cx.index_axis(row[0], 0, k));
            let b = squashed(cx, squashed(cx, c[1], i), j);
            let a = match kind {
                0 | 1 => add(cx, add(cx, c[0], i, k), j, i),
                2 => {
                    let which = cx.compare(i, Comparison::Lt, j);
                    let taken = |cx: &dyn Emit, x: &[Val]| vec![add(cx, x[0], x[1], x[2])];
                    let other = |_: &dyn Emit, x: &[Val]| vec![x[0]];
                    cx.cond(which, &[c[0], i, k], taken, other)[0]
                }
                _ => {
                    let step = |cx: &dyn Emit, w: &[Val], c: &[Val], i: &[Val]| {
                        (vec![add(cx, c[0], w[0], i[0])], vec![])
                    };
                    cx.scan(&[j], &c[..1], row, &3.into(), false, step).0[0]
                }
            };
            (vec![a, b], vec![])
        })
        .0
    })
}

/// A step writes the windows alone, also of tables whose last axes are short.
#[test]
fn steps_update_tables_where_they_are() {
    let sizes: [(&[usize], &[usize]); 6] = [
        (&[100, 8], &[1, 1]),
        (&[60, 8], &[1, 8]),
        (&[300, 2], &[2, 2]),
        (&[64, 4, 5], &[1, 1, 5]),
        (&[8, 100], &[1, 1]),
        (&[700], &[3]),
    ];
    for (shape, window) in sizes {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::U8, DType::C64] {
            for kind in 0..4 {
                let f = tables(shape, window, dtype, kind);
                let n: usize = shape.iter().product();
                let table = |k: usize| {
                    let x = (0..n).map(|i| ((i * 37 + k) % 101) as f64 / 16.0);
                    let x = Array::from_vec(shape, x.collect::<Vec<f64>>()).unwrap();
                    let to = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], dtype)]);
                    reference::run(&to, &[x]).unwrap().remove(0)
                };
                let at = (0..90).map(|k| (k * 7 % 11 - 2) as i64);
                let at = Array::from_vec(vec![30, 3], at.collect::<Vec<i64>>()).unwrap();
                let what = format!("{shape:?} {dtype} {kind}");
                compare(&what, &f, &[table(3), table(50), at]);
                let plan = plan_text(&with_simple_loops(&f), &Env::default()).unwrap();
                let operations = plan.split("loop, code of ").nth(1);
                let count = operations.and_then(|t| t.split(' ').next()?.parse::<usize>().ok());
                let each = if kind == 1 { 400 } else { 80 };
                let few = n / 2 + each * window.iter().product::<usize>();
                assert!(count.is_some_and(|n| n <= few), "{what}: {plan}");
            }
        }
    }
}

/// Steps that change a table of rows by numbers of a row. `kind` chooses what a step needs after
/// its update, where the window is, or which branch writes.
fn rows(shape: [usize; 2], dtype: DType, kind: usize) -> Arc<Function> {
    let types = [Type::new(dtype, shape), Type::new(DType::I64, [30, 2])];
    build(&types, move |cx, x| {
        let sizes = |n: usize| [Dim::Const(1), Dim::Const(n)];
        let all = shape[1];
        let at = |cx: &dyn Emit, i: Val, k: i64| [i, cx.full_like(i, k)];
        let read =
            move |cx: &dyn Emit, t: Val, i: Val| cx.dynamic_slice(t, &at(cx, i, 0), &sizes(all));
        let write = move |cx: &dyn Emit, t: Val, u: Val, i: Val| {
            cx.dynamic_update_slice(t, u, &at(cx, i, 0))
        };
        let body = move |cx: &dyn Emit, _: &[Val], c: &[Val], row: &[Val]| {
            let [i, j] = [0, 1].map(|k| cx.index_axis(row[0], 0, k));
            let (t, old) = (c[0], read(cx, c[0], i));
            let twice = cx.add(old, old);
            match kind {
                // The old row is a row of the results.
                0 => (vec![write(cx, t, twice, i)], vec![old]),
                // Two rows change places.
                1 => {
                    let other = read(cx, t, j);
                    let t = write(cx, t, other, i);
                    (vec![write(cx, t, old, j)], vec![twice])
                }
                // A known column.
                2 => {
                    let one = |k: i64| cx.dynamic_slice(t, &at(cx, i, k), &sizes(1));
                    let sum = cx.add(one(0), one(1));
                    let new = cx.dynamic_update_slice(t, sum, &at(cx, i, 1));
                    (vec![new], vec![old])
                }
                // Branches, of which some write.
                _ => {
                    let arms: Vec<Box<RegionFn<'_>>> = (0..6)
                        .map(|k: usize| -> Box<RegionFn<'_>> {
                            Box::new(move |cx, x| match k {
                                0 | 2 => vec![x[0]],
                                1 | 4 => vec![write(cx, x[0], x[1], x[3])],
                                3 => vec![write(cx, x[0], cx.mul(x[1], x[1]), x[2])],
                                _ => {
                                    let t = write(cx, x[0], x[1], x[2]);
                                    vec![write(cx, t, cx.sub(x[1], x[1]), x[3])]
                                }
                            })
                        })
                        .collect();
                    let arms: Vec<_> = arms.iter().map(|f| &**f).collect();
                    let which = cx.add(i, j);
                    let y = cx.switch(which, &[t, twice, i, j], &arms);
                    (vec![y[0]], vec![old])
                }
            }
        };
        let (c, ys) = cx.scan(&[], &x[..1], &x[1..], &30.into(), false, body);
        [c, ys].concat()
    })
}

/// Rows that are read before an update and needed after it, known columns and branches leave a
/// table where it is.
#[test]
fn tables_stay_where_they_are_whatever_a_step_needs_afterwards() {
    for shape in [[600, 8], [90, 3], [40, 20]] {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            for kind in 0..4 {
                let f = rows(shape, dtype, kind);
                let n = shape[0] * shape[1];
                let x = (0..n).map(|i| ((i * 37) % 101) as f64 / 16.0);
                let x = Array::from_vec(shape, x.collect::<Vec<f64>>()).unwrap();
                let to = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], dtype)]);
                let table = reference::run(&to, &[x]).unwrap().remove(0);
                let at = (0..60).map(|k| (k * 7 % 11 - 2) as i64);
                let at = Array::from_vec(vec![30, 2], at.collect::<Vec<i64>>()).unwrap();
                let what = format!("{shape:?} {dtype} {kind}");
                compare(&what, &f, &[table, at]);
                let plan = plan_text(&with_simple_loops(&f), &Env::default()).unwrap();
                let operations = plan.split("loop, code of ").nth(1);
                let count = operations.and_then(|t| t.split(' ').next()?.parse::<usize>().ok());
                // Branches that write several windows may run as instructions.
                let few = count.is_some_and(|c| c <= 60 + 30 * shape[1]);
                assert!(few || kind == 3, "{what}: {plan}");
            }
        }
    }
}
