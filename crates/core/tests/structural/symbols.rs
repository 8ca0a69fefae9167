//! Programs with symbolic extents.

use super::*;
use cotangent_core::check::{Options, check_function};
use cotangent_core::ops::{Bounds, Combine, Windows};
use cotangent_core::rewrite::{raise, simplify};
use cotangent_core::{Code, Dim};

fn n() -> Dim {
    Dim::sym("n")
}

fn minus(k: usize) -> Dim {
    n() - Dim::Const(k)
}

fn vector() -> Type {
    Type::new(DType::F64, vec![n()])
}

fn ramp(n: usize) -> Array {
    floats(&(0..n).map(|i| 0.3 * i as f64 - 0.7).collect::<Vec<_>>())
}

/// Checks every law of one program, for these extents.
fn keeps_every_law(f: &Function, sizes: &[usize]) {
    for &n in sizes {
        let report =
            check_function(&AdContext::default(), f, &[ramp(n)], &Options::default()).unwrap();
        assert!(report.passed(), "n = {n}: {report}");
    }
}

/// The sum of squares of a slice, whose gradient depends on the slice.
fn squares(part: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build([vector()], |cx, [x]| {
        let y = part(cx, x);
        vec![cx.reduce_sum(cx.mul(cx.mul(y, y), y), &[0])]
    })
}

#[test]
fn slices_of_an_unknown_extent() {
    let all = build([vector()], |cx, [x]| vec![cx.slice_axis(x, 0, 0, n())]);
    assert!(all.eqns().is_empty(), "the whole axis is no slice");
    let tail = build([vector()], |cx, [x]| {
        vec![
            cx.slice_axis(x, 0, 1, n()),
            cx.slice_axis(x, 0, 0, minus(1)),
        ]
    });
    assert_eq!(
        tail.result_types(),
        [
            Type::new(DType::F64, vec![minus(1)]),
            Type::new(DType::F64, vec![minus(1)])
        ]
    );
    keeps_every_law(
        &squares(|cx, x| {
            cx.sub(
                cx.slice_axis(x, 0, 1, n()),
                cx.slice_axis(x, 0, 0, minus(1)),
            )
        }),
        &[1, 2, 6],
    );
    for stride in [2, 3] {
        keeps_every_law(
            &squares(|cx, x| cx.slice(x, &[0.into()], &[n()], &[stride])),
            &[0, 1, 2, 5, 6],
        );
    }
    keeps_every_law(&squares(|cx, x| cx.slice_axis(x, 0, 0, 2)), &[2, 3, 5]);
    keeps_every_law(
        &squares(|cx, x| cx.slice(x, &[n().floor_div(2)], &[minus(1)], &[2])),
        &[2, 3, 8],
    );
}

#[test]
fn pads_joins_and_reversals_of_an_unknown_extent() {
    keeps_every_law(
        &squares(|cx, x| cx.pad_zeros(cx.sin(x), &[2], &[1], &[0])),
        &[0, 1, 4],
    );
    keeps_every_law(
        &squares(|cx, x| cx.pad(x, cx.full(&f64s(&[]), 2.0), &[-1], &[3], &[2])),
        &[0, 1, 4],
    );
    keeps_every_law(
        &squares(|cx, x| cx.concatenate(&[x, cx.full(&f64s(&[2]), 1.0), cx.reverse(x, &[0])], 0)),
        &[0, 1, 4],
    );
    keeps_every_law(
        &squares(|cx, x| {
            let parts = cx.split(x, 0, &[n().floor_div(2), n() - n().floor_div(2)]);
            cx.concatenate(&[parts[1], parts[0]], 0)
        }),
        &[0, 1, 5],
    );
    let cut = build([vector()], |cx, [x]| {
        vec![cx.pad_zeros(cx.pad_zeros(x, &[2], &[1], &[0]), &[-2], &[-1], &[0])]
    });
    assert_eq!(
        cut.result_types(),
        [vector()],
        "what was added and taken away again leaves the extent as it was"
    );
}

#[test]
fn windows_at_indices_of_an_unknown_extent() {
    let every_other = |cx: &dyn Emit| {
        let ty = Type::new(DType::I64, vec![n()]);
        let i = cx.iota(&ty, 0);
        cx.mul(i, cx.full(&ty, 2i64))
    };
    for mode in [Bounds::Clip, Bounds::Drop] {
        keeps_every_law(
            &squares(|cx, x| cx.take(x, every_other(cx), 0, mode)),
            &[0, 1, 5],
        );
        for combine in [Combine::Set, Combine::Add, Combine::Mul] {
            let w = Windows {
                collapsed: vec![0],
                axes: vec![0],
                vector: 1,
                ..Windows::default()
            };
            keeps_every_law(
                &squares(|cx, x| cx.scatter(combine, &w, mode, x, every_other(cx), cx.sin(x))),
                &[0, 1, 5],
            );
        }
    }
    let last = |cx: &dyn Emit| cx.extent(&i64s(&[]), &n());
    keeps_every_law(
        &squares(|cx, x| cx.dynamic_slice(x, &[last(cx)], &[minus(1)])),
        &[1, 2, 5],
    );
    keeps_every_law(
        &squares(|cx, x| cx.dynamic_update_slice(x, cx.full(&f64s(&[1]), 2.0), &[last(cx)])),
        &[1, 2, 5],
    );
}

#[test]
fn one_window_at_an_index_of_an_extent_is_a_slice() {
    // Indices and sizes `number + times n`, and whether the window is known to be inside.
    let sizes = [[1, 0], [-1, 1], [-2, 1], [0, 1]];
    let indices = [
        [0, 0],
        [1, 0],
        [2, 0],
        [-1, 0],
        [-1, 1],
        [-2, 1],
        [0, 1],
        [-4, 1],
    ];
    let dim = |size: [i64; 2]| match size {
        [number, 0] => Dim::Const(number as usize),
        [number, _] => minus(-number as usize),
    };
    let inside = |[size, whole]: [i64; 2], [index, extents]: [i64; 2], bounds| {
        let (last, clipped) = ([-size, 1 - whole], bounds == Bounds::Clip);
        match (last, [index, extents]) {
            ([last, 0], [i, 0]) => clipped || (0..=last).contains(&i),
            // Nothing is known of an extent.
            _ if bounds == Bounds::Drop => false,
            ([last, 0], [i, _]) => clipped && i >= last,
            (_, [i, 0]) => i == 0 || clipped && i < 0,
            (last, [i, _]) => i == last[0] || clipped && i > last[0],
        }
    };
    let int = i64s(&[]);
    let w = Windows {
        window: vec![0],
        axes: vec![0],
        ..Windows::default()
    };
    for (size, index) in sizes.iter().flat_map(|s| indices.map(|i| (*s, i))) {
        for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
            let start = |cx: &dyn Emit| {
                let narrow = cx.extent(&Type::scalar(DType::I32), &n());
                let extent = cx.convert(narrow, DType::I64);
                let number = cx.full(&int, index[0]);
                let one = match index[1] {
                    0 => number,
                    _ => cx.add(number, extent),
                };
                cx.broadcast_in_dim(one, &[Dim::Const(1)], &[])
            };
            let gather = build([vector()], |cx, [x]| {
                vec![cx.gather(&w, &[dim(size)], bounds, x, start(cx))]
            });
            let mut functions = vec![gather];
            for combine in [Combine::Set, Combine::Add] {
                functions.push(build([vector()], |cx, [x]| {
                    let zeros = cx.zeros(&vector());
                    let u = cx.neg(cx.slice_axis(x, 0, 0, dim(size)));
                    vec![cx.scatter(combine, &w, bounds, zeros, start(cx), u)]
                }));
            }
            let raised = raise(&functions[0]);
            let pairs = functions.into_iter().map(|f| (f.clone(), simplify(&f)));
            let mut pairs: Vec<(Function, Function)> = pairs.collect();
            pairs.push((pairs[0].0.clone(), raised));
            for (f, simple) in pairs {
                let names = simple.eqns().iter().map(|e| e.op.name());
                let kept = { names }.any(|n| matches!(n, "gather" | "scatter"));
                assert_eq!(
                    kept,
                    !inside(size, index, bounds),
                    "{size:?} at {index:?}, {bounds:?}: {f} {simple}"
                );
                for n in 0..5 {
                    let x = [ramp(n)];
                    match (reference::run(&f, &x), reference::run(&simple, &x)) {
                        (Ok(a), Ok(b)) => assert!(a[0].same_bits(&b[0]), "{n}: {f} {simple}"),
                        (Err(_), Err(_)) => {}
                        (a, b) => panic!("{n}: {a:?} and {b:?} of {f} {simple}"),
                    }
                }
            }
        }
    }
}

#[test]
fn a_window_at_an_extent_that_was_rounded_stays() {
    // `f32` has no 16,777,217.
    let w = Windows {
        window: vec![0],
        axes: vec![0],
        ..Windows::default()
    };
    let at = |dtype| {
        build([vector()], |cx, [x]| {
            let extent = cx.extent(&Type::scalar(dtype), &n());
            let index = cx.broadcast_in_dim(cx.convert(extent, DType::I64), &[Dim::Const(1)], &[]);
            vec![cx.gather(&w, &[n()], Bounds::Clip, x, index)]
        })
    };
    let kept = |dtype| {
        let f = simplify(&at(dtype));
        f.eqns().iter().any(|e| e.op.name() == "gather")
    };
    assert!(kept(DType::F32) && !kept(DType::I32));
}

#[test]
fn mismatched_extents_are_errors_at_run_time() {
    let f = build([vector()], |cx, [x]| vec![cx.slice_axis(x, 0, 0, 3)]);
    let e = reference::run(&f, &[ramp(2)]).unwrap_err();
    assert_eq!(
        e.message(),
        "`slice` of f64[2]: 0..3 is not within the extent 2 of axis 0"
    );
    let f = build([vector()], |cx, [x]| {
        vec![cx.pad_zeros(x, &[-2], &[-1], &[0])]
    });
    assert_eq!(
        reference::run(&f, &[ramp(2)]).unwrap_err().code(),
        Code::Attribute
    );
    assert_eq!(run(&f, &[ramp(3)])[0], [0.0; 0]);
    let f = build([vector()], |cx, [x]| {
        vec![cx.dynamic_slice(x, &[cx.full(&i64s(&[]), 0i64)], &[3.into()])]
    });
    assert_eq!(
        reference::run(&f, &[ramp(2)]).unwrap_err().code(),
        Code::ShapeMismatch
    );
    let f = build(
        [vector(), Type::new(DType::F64, vec![Dim::sym("m")])],
        |cx, [x, y]| vec![cx.stack(&[x, y], 0)],
    );
    assert!(reference::run(&f, &[ramp(2), ramp(3)]).is_err());
}
