//! Scatters into the carries of a loop.

use super::{build, compare};
use cotangent_core::ops::{Bounds, Combine, Windows};
use cotangent_core::{Array, DType, Emit, Function, Type, Val, reference};
use cotangent_cpu::Executor;
use std::sync::Arc;

/// Operations of a step besides its scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Others {
    Nothing,
    /// It reads the table before the scatter, and what it wrote afterwards.
    Reads,
    /// It computes what may need the scalar fallback from what it wrote.
    Rare,
    /// A second scatter changes the table again.
    Twice,
    /// Its next step needs the table of the step before, too.
    Before,
}

/// Steps that combine rows of updates with rows of a table at indices of which some are equal and
/// some outside.
fn scatters(
    [rows, width, count]: [usize; 3],
    dtype: DType,
    combine: Combine,
    others: Others,
) -> Arc<Function> {
    let table = Type::new(dtype, [rows, width]);
    let updates = Type::new(dtype, [count, width]);
    let types = [table, updates, Type::new(DType::I32, [20, count])];
    build(&types, move |cx, x| {
        let windows = Windows::parts(2, 0, 1);
        let step = |cx: &dyn Emit, w: &[Val], c: &[Val], row: &[Val]| {
            let put = |t: Val, u: Val| cx.scatter(combine, &windows, Bounds::Drop, t, row[0], u);
            let sum = |t: Val| cx.reduce_sum(cx.convert(t, DType::F64), &[0, 1]);
            let mut t = put(c[0], w[0]);
            let mut seen = cx.full(&Type::scalar(DType::F64), 1.0);
            match others {
                Others::Nothing | Others::Before => {}
                Others::Reads => {
                    let taken = cx.take(c[0], row[0], 0, Bounds::Clip);
                    let after = cx.take(t, row[0], 0, Bounds::Clip);
                    seen = cx.add(sum(taken), cx.mul(sum(after), sum(after)));
                }
                Others::Rare => {
                    let after = cx.take(t, row[0], 0, Bounds::Clip);
                    seen = cx.log(cx.exp(cx.neg(sum(after))));
                }
                Others::Twice => t = put(t, cx.add(w[0], w[0])),
            }
            match others {
                Others::Before => (vec![t, c[0]], vec![seen]),
                _ => (vec![t], vec![seen]),
            }
        };
        let carries = match others {
            Others::Before => vec![x[0], x[0]],
            _ => vec![x[0]],
        };
        let (c, ys) = cx.scan(&x[1..2], &carries, &x[2..], &20.into(), false, step);
        [c, ys].concat()
    })
}

fn numbers(shape: [usize; 2], dtype: DType) -> Array {
    let n = shape[0] * shape[1];
    let x = (0..n).map(|i| ((i * 37 + 5) % 101) as f64 / 7.0 - 3.0);
    let x = Array::from_vec(shape, x.collect::<Vec<f64>>()).unwrap();
    let to = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], dtype)]);
    reference::run(&to, &[x]).unwrap().remove(0)
}

/// A step changes the rows of the updates alone, whatever the size of the table.
#[test]
fn steps_scatter_into_tables_where_they_are() {
    let all = [
        Others::Nothing,
        Others::Reads,
        Others::Rare,
        Others::Twice,
        Others::Before,
    ];
    let combines = [Combine::Add, Combine::Set, Combine::Mul, Combine::Max];
    let mut number = 0;
    for [rows, width, count] in [
        [40, 1, 9],
        [3, 2, 9],
        [700, 1, 33],
        [300, 3, 20],
        [9000, 2, 70],
    ] {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::C64, DType::BF16] {
            for others in all {
                number += 1;
                let combine = combines[if dtype == DType::C64 { 0 } else { number % 4 }];
                // Values of the other combinations grow without bound.
                let combine = if number % 3 == 0 {
                    Combine::Add
                } else {
                    combine
                };
                let f = scatters([rows, width, count], dtype, combine, others);
                let at = (0..20 * count).map(|k| ((k * k) % (rows + 5)) as i32 - 2);
                let at = Array::from_vec(vec![20, count], at.collect::<Vec<i32>>()).unwrap();
                let what = format!("{rows} x {width}, {count}, {dtype}, {combine:?}, {others:?}");
                let args = [
                    numbers([rows, width], dtype),
                    numbers([count, width], dtype),
                    at,
                ];
                compare(&what, &f, &args);
                if combine == Combine::Mul && dtype.has_tangent() {
                    // The reference rounds a product of several factors once.
                    continue;
                }
                let want = reference::run(&f, &args).unwrap().remove(0);
                let got = Executor::new().compile(&f).unwrap().run(&args).unwrap();
                assert!(
                    want.same_bits(&got[0]),
                    "{what}: {:?} is not {want:?}",
                    got[0]
                );
            }
        }
    }
}
