//! Updates of windows in the steps of a loop: gradients of reads, and branches.

use super::{additions, build, scan_of, simple, with_zeros};
use cotangent_core::ops::{Binary, Bounds, Combine, Comparison, Pad};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Array, DType, Dim, Emit, Function, Type, Val, reference};
use std::sync::Arc;

/// Steps that read windows of a table at starts.
fn reading(table: &Type, windows: &'static [[usize; 2]]) -> Function {
    let starts = Type::new(DType::I32, [7]);
    let types = [vec![table.clone()], vec![starts; windows.len()]].concat();
    let f = build(&types, |cx, x| {
        let body = |cx: &dyn Emit, t: &[Val], _: &[Val], at: &[Val]| {
            let read = |(&i, w): (&Val, &[usize; 2])| {
                let sizes = w.map(Dim::Const);
                let y = cx.dynamic_slice(t[0], &[i, cx.full_like(i, 1)], &sizes);
                cx.reshape(y, &[Dim::Const(w[0] * w[1])])
            };
            let parts: Vec<Val> = at.iter().zip(windows).map(read).collect();
            (vec![], vec![cx.concatenate(&parts, 0)])
        };
        cx.scan(&x[..1], &[], &x[1..], &7.into(), false, body).1
    });
    vjp(&AdContext::default(), &f, &f.params()[..1]).unwrap()
}

#[test]
fn compensated_sums_of_windows_are_sums_in_their_windows() {
    let windows: [&'static [[usize; 2]]; 5] = [
        &[[1, 1]],
        &[[1, 4]],
        &[[3, 4]],
        &[[1, 4], [1, 4]],
        &[[2, 3], [1, 2], [1, 1]],
    ];
    let numbers = [
        1.0,
        -0.0,
        1e-8,
        f64::INFINITY,
        -1e9,
        3.0,
        1e30,
        f64::NAN,
        -1.0,
        -1e30,
        0.0,
    ];
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::C64] {
        let table = Type::new(dtype, [40, 6]);
        for windows in windows {
            let g = Arc::new(simplify(&reading(&table, windows)));
            for kinds in [3, 6, 11] {
                let of_param = |&p: &Val| {
                    let ty = g.ty(p);
                    let shape = ty.shape.as_const().unwrap();
                    let n: usize = shape.iter().product();
                    let at = |k: usize| match ty.dtype {
                        DType::I32 => [4.0, 4.0, 5.0, -3.0, 90.0, 5.0, 37.0][(k + p.index()) % 7],
                        _ => numbers[(k * 7 + 3) % kinds],
                    };
                    let x = Array::vector((0..n).map(at).collect::<Vec<f64>>());
                    let x = x.reshape(&*shape).unwrap();
                    let to = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], ty.dtype)]);
                    reference::run(&to, &[x]).unwrap().remove(0)
                };
                let x: Vec<Array> = g.params().iter().map(of_param).collect();
                let h = simple(&g, &x);
                let part = match dtype {
                    DType::F64 => DType::F64,
                    _ => DType::F32,
                };
                // After the loop, both parts are added up.
                let most = usize::from(dtype == DType::F64);
                assert_eq!(
                    additions(&h, &table.with_dtype(part)),
                    most,
                    "{windows:?} {h}"
                );
            }
        }
    }
}

/// A loop around [`reading`] whose sum does not begin with zeros keeps its sums of arrays.
#[test]
fn compensated_sums_that_begin_with_other_numbers_stay() {
    let ty = Type::new(DType::F32, [40]);
    for (high, low, all) in [(0.0, 0.0, 0), (2.5, 0.0, 0), (-0.0, 0.0, 2), (1.0, 1e-3, 2)] {
        let f = build(
            &[Type::new(DType::I32, [9]), Type::new(DType::F32, [9])],
            |cx, x| {
                let first = [high, low].map(|c| cx.full(&ty, c));
                let body = |cx: &dyn Emit, _: &[Val], c: &[Val], x: &[Val]| {
                    let u = cx.reshape(x[1], &[1.into()]);
                    let u = cx.dynamic_update_slice(cx.zeros(&ty), u, &[x[0]]);
                    let error = |a: Val, b: Val| cx.op(Binary::AddError, &[a, b]);
                    let sum = cx.add(c[0], u);
                    let rest = cx.add(c[1], error(c[0], u));
                    (vec![cx.add(sum, rest), error(sum, rest)], vec![])
                };
                cx.scan(&[], &first, x, &9.into(), false, body).0
            },
        );
        let at = Array::vector(vec![3i32, 3, 0, -7, 39, 40, 3, 5, 5]);
        let u = Array::vector(vec![1e-7f32, 1.0, -0.0, 2.5, -2.5, 1e9, 1e-9, -0.0, 3.0]);
        let g = simple(&f, &[at, u]);
        assert_eq!(additions(&g, &ty) > 0, all > 0, "{high} {low} {g}");
    }
}

/// A scan whose steps update an array in some branches.
fn updating(n: usize, kind: usize) -> Arc<Function> {
    let (ty, steps) = (Type::new(DType::F64, [n]), Type::new(DType::I32, [8]));
    build(&[ty, steps], |cx, x| {
        let body = |cx: &dyn Emit, _: &[Val], c: &[Val], i: &[Val]| {
            let i = i[0];
            let operands = [c[0], i];
            let write = |cx: &dyn Emit, c: Val, at: Val, by: f64| {
                let old = cx.dynamic_slice(c, &[at], &[2.into()]);
                let new = cx.add(old, cx.full_like(old, by));
                cx.dynamic_update_slice(c, new, &[at])
            };
            let nothing = |_: &dyn Emit, x: &[Val]| vec![x[0], x[1]];
            let once = |cx: &dyn Emit, x: &[Val]| vec![write(cx, x[0], x[1], 0.5), x[1]];
            let twice = |cx: &dyn Emit, x: &[Val]| {
                let y = write(cx, x[0], x[1], -1.25);
                let at = cx.add(x[1], cx.full_like(x[1], 1));
                vec![write(cx, y, at, 3.0), at]
            };
            let two = cx.compare(i, Comparison::Gt, cx.full_like(i, 2));
            let y = match kind {
                0 => cx.cond(two, &operands, once, nothing),
                1 => cx.cond(two, &operands, nothing, twice),
                2 => cx.cond(two, &operands, once, twice),
                3 => cx.switch(i, &operands, &[&nothing, &once, &twice]),
                _ => {
                    let [a, b] = [once(cx, &operands)[0], twice(cx, &operands)[0]];
                    let two = cx.broadcast_in_dim(two, &cx.ty(a).shape, &[]);
                    vec![cx.select(two, a, b), i]
                }
            };
            (vec![y[0]], vec![y[1]])
        };
        let y = cx.scan(&[], &x[..1], &x[1..], &8.into(), false, body);
        [y.0, y.1].concat()
    })
}

#[test]
fn branches_that_update_windows_are_updates() {
    let at = Array::vector(vec![3i32, 0, 1, 2, -4, 90, 4, 3]);
    for (n, kind) in [5, 300].iter().flat_map(|&n| (0..5).map(move |k| (n, k))) {
        let x = Array::vector((0..n).map(|k| 0.1 * k as f64 - 2.0).collect::<Vec<f64>>());
        let g = simple(&updating(n, kind), &[x, at.clone()]);
        let (_, body) = scan_of(&g);
        let is_branch = |n: &String| n == "cond" || n == "switch";
        assert!(!body.iter().any(is_branch), "{kind} {g}");
        let arrays = Type::new(DType::F64, [n]);
        let selects = g.eqns().iter().flat_map(|e| e.op.regions()).any(|f| {
            f.eqns()
                .iter()
                .any(|e| e.op.name() == "select" && e.results().any(|r| *f.ty(r) == arrays))
        });
        assert!(!selects, "{kind} {g}");
    }
}

/// Zeros around the updates of a scatter change nothing in a carry that is never `-0`: the one
/// window that is left is written where it is.
#[test]
fn zeros_around_updates_are_not_added() {
    let ty = Type::new(DType::F64, [9]);
    let types = [
        ty.clone(),
        Type::new(DType::F64, [20]),
        Type::new(DType::I32, [20, 5]),
    ];
    let adding = |first: Option<i64>| {
        build(&types, |cx, x| {
            let body = |cx: &dyn Emit, _: &[Val], c: &[Val], row: &[Val]| {
                let u = cx.reshape(row[0], &[1.into()]);
                let pad = Pad {
                    low: vec![2],
                    high: vec![2],
                    interior: vec![0],
                };
                let u = cx.op(pad, &[u]);
                (
                    vec![cx.put(Combine::Add, c[0], row[1], u, 0, Bounds::Drop)],
                    vec![],
                )
            };
            let first = match first {
                Some(n) => cx.full(&ty, n),
                None => x[0],
            };
            cx.scan(&[], &[first], &x[1..], &20.into(), false, body).0
        })
    };
    let x = [
        with_zeros(&ty, 0),
        Array::vector((0..20).map(|k| k as f64 - 3.5).collect::<Vec<_>>()),
        Array::from_vec(
            vec![20, 5],
            (0..100).map(|k| k * 7 % 12 - 1).collect::<Vec<i32>>(),
        )
        .unwrap(),
    ];
    for (first, scatters) in [(Some(0), 0), (Some(2), 0), (None, 1)] {
        let g = simple(&adding(first), &x);
        let names = scan_of(&g).1;
        let count = names.iter().filter(|n| *n == "scatter").count();
        assert_eq!(count, scatters, "{first:?} {g}");
    }
}
