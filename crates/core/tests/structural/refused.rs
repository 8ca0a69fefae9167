//! Programs that are rejected, with their error messages. No input panics.

use super::*;
use cotangent_core::ops::{
    Bounds, Combine, Concatenate, DynamicSlice, Gather, Pad, Reverse, Scatter, Slice, Windows,
};
use cotangent_core::{Code, Dim, Op};

fn dims(v: &[usize]) -> Vec<Dim> {
    v.iter().map(|&d| Dim::Const(d)).collect()
}

/// The error of an operation on operands of these types.
fn refused(op: impl Into<Op>, x: &[Type]) -> (Code, String) {
    let e = op.into().infer(x).unwrap_err();
    (e.code(), e.message().to_owned())
}

fn slice(start: &[usize], limit: &[usize], stride: &[usize]) -> Slice {
    Slice {
        start: dims(start),
        limit: dims(limit),
        stride: stride.to_vec(),
    }
}

fn pad(low: &[i64], high: &[i64], interior: &[usize]) -> Pad {
    Pad {
        low: low.to_vec(),
        high: high.to_vec(),
        interior: interior.to_vec(),
    }
}

#[test]
fn messages_name_axes_and_extents() {
    let x = [f64s(&[2, 3])];
    let cases: Vec<(Op, &str)> = vec![
        (
            slice(&[0, 2], &[2, 4], &[1, 1]).into(),
            "`slice` of f64[2,3]: 2..4 is not within the extent 3 of axis 1",
        ),
        (
            slice(&[2, 0], &[1, 3], &[1, 2]).into(),
            "`slice` of f64[2,3]: 2..1 is not within the extent 2 of axis 0",
        ),
        (
            slice(&[0, 0], &[2, 3], &[0, 1]).into(),
            "`slice`: the stride of axis 0 is 0; it must be positive",
        ),
        (
            slice(&[0], &[2], &[1]).into(),
            "`slice`: `start` has 1 entries for the 2 axes of f64[2,3]",
        ),
        (
            Reverse { axes: vec![2] }.into(),
            "`reverse`: `axes` = [2] must be different axes of f64[2,3]",
        ),
        (
            Reverse { axes: vec![1, 1] }.into(),
            "`reverse`: `axes` = [1, 1] must be different axes of f64[2,3]",
        ),
        (
            Concatenate { axis: 2 }.into(),
            "`concatenate`: f64[2,3] has no axis 2",
        ),
        (
            pad(&[0], &[0], &[0]).into(),
            "`pad`: `low` has 1 entries for the 2 axes of f64[2,3]",
        ),
        (
            pad(&[-2, 0], &[-1, 0], &[0, 0]).into(),
            "2 elements, -2 before them and -1 after them are fewer than none",
        ),
        (
            DynamicSlice {
                sizes: dims(&[1, 1]),
            }
            .into(),
            "`dynamic_slice` of f64[2,3] needs a start and an extent for each of its 2 axes, got 0 and 2",
        ),
    ];
    for (op, want) in cases {
        assert_eq!(refused(op, &x).1, want);
    }
    let two = [f64s(&[2, 3]), f64s(&[2, 4])];
    assert_eq!(
        refused(Concatenate { axis: 0 }, &two).1,
        "cannot concatenate f64[2,3] and f64[2,4] along axis 0: axis 1 of operand 1 is 4, not 3"
    );
    let start = [f64s(&[2]), Type::scalar(DType::F64)];
    assert_eq!(
        refused(DynamicSlice { sizes: dims(&[1]) }, &start).0,
        Code::DTypeMismatch
    );
    assert_eq!(
        refused(DynamicSlice { sizes: dims(&[3]) }, &[f64s(&[2]), i64s(&[])]).0,
        Code::ShapeMismatch
    );
}

#[test]
fn huge_attributes_overflow_nothing() {
    let x = [f64s(&[3])];
    let unknown = [Type::new(DType::F64, vec![Dim::sym("n")])];
    for big in [usize::MAX, i64::MAX as usize, 1 << 62] {
        for op in [
            slice(&[big], &[3], &[1]),
            slice(&[0], &[big], &[1]),
            slice(&[big], &[big], &[big]),
        ] {
            refused(op.clone(), &x);
            let _ = Op::from(op).infer(&unknown);
        }
        let _ = Op::from(slice(&[0], &[3], &[big])).infer(&x);
        let _ = Op::from(slice(&[0], &[3], &[big])).infer(&unknown);
        refused(pad(&[0], &[0], &[big]), &x);
        let _ = Op::from(pad(&[0], &[0], &[big])).infer(&unknown);
        refused(
            DynamicSlice {
                sizes: dims(&[big]),
            },
            &[f64s(&[3]), i64s(&[])],
        );
        refused(Reverse { axes: vec![big] }, &x);
        refused(Concatenate { axis: big }, &x);
    }
    for (low, high) in [
        (i64::MIN, 0),
        (i64::MIN, i64::MIN),
        (i64::MAX, i64::MAX),
        (0, i64::MAX),
    ] {
        refused(pad(&[low], &[high], &[0]), &x);
        let _ = Op::from(pad(&[low], &[high], &[1])).infer(&unknown);
    }
    let fits = Op::from(pad(&[i64::MIN], &[i64::MAX], &[0]));
    assert_eq!(fits.infer(&x).unwrap(), [f64s(&[2])]);
    let f = build([f64s(&[3])], |cx, [x]| {
        vec![cx.pad_zeros(x, &[i64::MIN], &[i64::MAX], &[0])]
    });
    assert_eq!(run(&f, &[counting(&[3])])[0], [0.0, 0.0]);
    assert_eq!(
        weighted_grad(
            &build([f64s(&[3])], |cx, [x]| {
                vec![cx.slice(x, &[1.into()], &[3.into()], &[i64::MAX as usize])]
            }),
            &[0],
            &[counting(&[3])]
        )[0],
        [0.0, 1.0, 0.0]
    );
}

/// A window along an axis of extent 0: clamped indices have no value there, others are out of
/// bounds in a run, and without windows there is nothing to read.
#[test]
fn a_window_does_not_fit_an_axis_without_elements() {
    let rows = |axes: &[usize]| Windows {
        window: vec![1],
        collapsed: vec![0],
        axes: axes.to_vec(),
        vector: 1,
        ..Windows::default()
    };
    for (bounds, axes, windows, fits) in [
        (Bounds::Clip, &[0], 3, false),
        (Bounds::Error, &[0], 3, true),
        (Bounds::Drop, &[0], 3, true),
        (Bounds::Clip, &[0], 0, true),
        (Bounds::Clip, &[1], 3, false),
        (Bounds::Error, &[1], 3, false),
        (Bounds::Drop, &[1], 3, false),
        (Bounds::Error, &[1], 0, true),
    ] {
        let (x, i, u) = (f64s(&[0, 2]), i64s(&[windows, 1]), f64s(&[windows, 2]));
        let gather = Gather {
            windows: rows(axes),
            sizes: dims(&[1, 2]),
            bounds,
        };
        let scatter = Scatter {
            windows: rows(axes),
            combine: Combine::Add,
            bounds,
            unique: false,
            stable: false,
        };
        let read = Op::from(gather).infer(&[x.clone(), i.clone()]).map(|_| ());
        let write = Op::from(scatter).infer(&[x, i, u]).map(|_| ());
        for (op, checked) in [("gather", read), ("scatter", write)] {
            let what = format!("{op} of {windows} windows, axis {axes:?}, {bounds:?}");
            match checked {
                Ok(()) => assert!(fits, "{what}"),
                Err(e) => {
                    assert!(!fits, "{what}: {e}");
                    let want = format!("`{op}`: a window of 1 does not fit axis 0 of f64[0,2]");
                    assert_eq!((e.code(), e.message()), (Code::OutOfBounds, &*want));
                }
            }
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn dimension_numbers_are_checked() {
    let good = Windows {
        window: vec![1],
        collapsed: vec![0],
        axes: vec![0],
        vector: 1,
        ..Windows::default()
    };
    let (x, i) = (f64s(&[3, 2]), i64s(&[4]));
    let gather = |w: Windows, sizes: &[usize]| Gather {
        windows: w,
        sizes: dims(sizes),
        bounds: Bounds::Clip,
    };
    let types = [x.clone(), i.clone()];
    assert!(
        Op::from(gather(good.clone(), &[1, 2]))
            .infer(&types)
            .is_ok()
    );
    let batch = Windows {
        operand_batch: vec![0],
        index_batch: vec![0],
        collapsed: vec![],
        axes: vec![1],
        ..good.clone()
    };
    let bad: Vec<(Gather, &str)> = vec![
        (
            gather(good.clone(), &[1, 3]),
            "a window of 3 does not fit axis 1 of f64[3,2]",
        ),
        (gather(good.clone(), &[2, 2]), "its slice is 1, not 2"),
        (
            gather(good.clone(), &[1]),
            "`slice_sizes` has 1 entries for the 2 axes",
        ),
        (
            gather(
                Windows {
                    window: vec![2],
                    ..good.clone()
                },
                &[1, 2],
            ),
            "`offset_dims` = [2] must be ascending axes",
        ),
        (
            gather(
                Windows {
                    window: vec![],
                    ..good.clone()
                },
                &[1, 2],
            ),
            "are not the 2 of f64[3,2]",
        ),
        (
            gather(
                Windows {
                    collapsed: vec![7],
                    ..good.clone()
                },
                &[1, 2],
            ),
            "`collapsed_slice_dims` = [7]",
        ),
        (
            gather(
                Windows {
                    axes: vec![0, 0],
                    ..good.clone()
                },
                &[1, 2],
            ),
            "`start_index_map` = [0, 0]",
        ),
        (
            gather(
                Windows {
                    axes: vec![0, 1],
                    ..good.clone()
                },
                &[1, 2],
            ),
            "have 1 components",
        ),
        (
            gather(
                Windows {
                    vector: 2,
                    ..good.clone()
                },
                &[1, 2],
            ),
            "index_vector_dim = 2",
        ),
        (
            gather(batch.clone(), &[1, 1]),
            "batch axes 0 of f64[3,2] and 0 of the indices i64[4] differ",
        ),
        (
            gather(
                Windows {
                    index_batch: vec![],
                    ..batch.clone()
                },
                &[1, 1],
            ),
            "must pair axes",
        ),
        (
            gather(
                Windows {
                    axes: vec![0],
                    ..batch
                },
                &[1, 1],
            ),
            "differ",
        ),
    ];
    for (op, want) in bad {
        let (_, message) = refused(op, &types);
        assert!(message.contains(want), "{message}");
    }
    assert_eq!(
        refused(gather(good.clone(), &[1, 2]), &[x.clone(), f64s(&[4])]).0,
        Code::DTypeMismatch
    );
    assert_eq!(
        refused(gather(good.clone(), &[1, 2]), std::slice::from_ref(&x)).0,
        Code::Arity
    );
    let write = |u: Type| {
        try_build([x.clone(), i.clone(), u], |cx, [x, i, u]| {
            vec![cx.scatter(Combine::Add, &good, Bounds::Drop, x, i, u)]
        })
    };
    assert!(write(f64s(&[4, 2])).is_ok() && write(f64s(&[4, 1])).is_ok());
    for u in [
        f64s(&[4, 3]),
        f64s(&[5, 2]),
        f64s(&[4]),
        Type::new(DType::F32, [4, 2]),
    ] {
        assert_eq!(write(u).unwrap_err().code(), Code::ShapeMismatch);
    }
    let complex = Type::new(DType::C128, [2]);
    let extreme = try_build([complex.clone(), i64s(&[2]), complex], |cx, [x, i, u]| {
        let w = Windows {
            collapsed: vec![0],
            axes: vec![0],
            vector: 1,
            ..Windows::default()
        };
        vec![cx.scatter(Combine::Max, &w, Bounds::Drop, x, i, u)]
    });
    assert_eq!(extreme.unwrap_err().code(), Code::DTypeMismatch);
}

#[test]
fn shorthands_name_the_axis_too() {
    let fails = |f: fn(&dyn Emit, Val, Val) -> Val| {
        try_build([f64s(&[2, 3]), i64s(&[2])], |cx, [x, i]| vec![f(cx, x, i)])
            .unwrap_err()
            .message()
            .to_owned()
    };
    assert_eq!(
        fails(|cx, x, i| cx.take(x, i, 2, Bounds::Clip)),
        "`take`: f64[2,3] has no axis 2"
    );
    assert_eq!(
        fails(|cx, x, _| cx.slice_axis(x, 5, 0, 1)),
        "`slice`: f64[2,3] has no axis 5"
    );
    assert_eq!(
        fails(|cx, x, _| cx.index_axis(x, 5, 0)),
        "`slice`: f64[2,3] has no axis 5"
    );
    assert_eq!(
        fails(|cx, x, i| cx.take_along_axis(x, i, 1, Bounds::Clip)),
        "`take_along_axis` of f64[2,3] along axis 1 at i64[2]: there must be such an axis in both"
    );
    assert_eq!(
        fails(|cx, x, _| cx.stack(&[x], 3)),
        "a new axis of f64[2,3] cannot be at position 3"
    );
    assert_eq!(
        fails(|cx, _, _| cx.concatenate(&[], 0)),
        "`concatenate` takes at least one operand, got none"
    );
    assert_eq!(
        fails(|cx, x, _| cx.split(x, 1, &[1.into(), 1.into()])[0]),
        "cannot split axis 1 of f64[2,3] into parts [1, 1]: they add up to 2"
    );
    assert_eq!(
        fails(|cx, x, _| cx.split(x, 9, &[1.into()])[0]),
        "`slice`: f64[2,3] has no axis 9"
    );
}

#[test]
fn arrays_larger_than_memory_are_errors() {
    let huge = 1usize << 57;
    let fs: Vec<Function> = vec![
        build([f64s(&[1])], |cx, [x]| {
            vec![cx.pad_zeros(x, &[1 << 57], &[0], &[0])]
        }),
        build([f64s(&[1])], |cx, [x]| {
            vec![cx.pad_zeros(cx.concatenate(&[x, x], 0), &[0], &[0], &[huge])]
        }),
        build([f64s(&[1])], |cx, [x]| {
            vec![cx.broadcast_in_dim(x, &dims(&[huge]), &[0])]
        }),
        build([f64s(&[1])], |cx, _| vec![cx.iota(&f64s(&[huge]), 0)]),
        build([f64s(&[1])], |cx, _| vec![cx.full(&f64s(&[huge]), 1.0)]),
    ];
    for f in fs {
        assert_eq!(
            reference::run(&f, &[floats(&[1.0])]).unwrap_err().code(),
            Code::Limit
        );
    }
}
