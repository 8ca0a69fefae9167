//! Derivatives that are conventions, and derivatives in corner cases.

use super::*;
use cotangent_core::check::{Options, check_function};
use cotangent_core::ops::{Binary, Bounds, Combine, Windows};
use cotangent_core::transform::{Numerics, batch, hessian, jvp, linear_transpose};
use cotangent_core::{Code, Dim, Op};

/// Elements of a vector, by index.
fn elements() -> Windows {
    Windows {
        collapsed: vec![0],
        axes: vec![0],
        vector: 1,
        ..Windows::default()
    }
}

/// A scatter of `u` into `x`, both of one rank.
fn scatter(combine: Combine, x: usize, u: usize) -> Function {
    build([f64s(&[x]), i64s(&[u]), f64s(&[u])], |cx, [x, i, u]| {
        vec![cx.scatter(combine, &elements(), Bounds::Drop, x, i, u)]
    })
}

#[test]
fn l067_a_gather_with_equal_indices_sums() {
    let f = build([f64s(&[2]), i64s(&[3])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Error)]
    });
    let ct = floats(&[1.0, 10.0, 100.0]);
    assert_eq!(
        pull(&f, &[0], &[floats(&[5.0, 6.0]), ints(&[0, 0, 1])], ct)[0],
        [11.0, 100.0]
    );
}

#[test]
fn l068_out_of_bounds_follows_the_mode() {
    let f = |mode| {
        build([f64s(&[2]), i64s(&[3])], |cx, [x, i]| {
            vec![cx.take(x, i, 0, mode)]
        })
    };
    let args = [floats(&[5.0, 6.0]), ints(&[-1, 1, 7])];
    let e = reference::run(&f(Bounds::Error), &args).unwrap_err();
    assert_eq!(e.code(), Code::OutOfBounds);
    assert_eq!(
        e.message(),
        "`gather`: index -1 at [0] is out of bounds for axis 0 of extent 2 (window 1)"
    );
    assert_eq!(run(&f(Bounds::Clip), &args)[0], [5.0, 6.0, 6.0]);
    assert_eq!(weighted_grad(&f(Bounds::Clip), &[0], &args)[0], [1.0, 5.0]);
    assert_eq!(run(&f(Bounds::Drop), &args)[0], [0.0, 6.0, 0.0]);
    assert_eq!(weighted_grad(&f(Bounds::Drop), &[0], &args)[0], [0.0, 2.0]);
}

#[test]
fn l069_of_equal_indices_the_last_is_set_and_has_the_gradient() {
    let f = scatter(Combine::Set, 2, 2);
    let args = [floats(&[1.0, 2.0]), ints(&[0, 0]), floats(&[5.0, 6.0])];
    assert_eq!(run(&f, &args)[0], [6.0, 2.0]);
    let g = pull(&f, &[0, 2], &args, floats(&[1.0, 10.0]));
    assert_eq!((&*g[0], &*g[1]), (&[0.0, 10.0][..], &[0.0, 1.0][..]));
    // An update that is dropped has no cotangent, and does not count as the last one.
    let args = [floats(&[1.0, 2.0]), ints(&[1, -1]), floats(&[5.0, 6.0])];
    let g = pull(&f, &[0, 2], &args, floats(&[1.0, 10.0]));
    assert_eq!((&*g[0], &*g[1]), (&[1.0, 0.0][..], &[10.0, 0.0][..]));
}

#[test]
fn l070_ties_of_scatter_max_and_min_split_evenly() {
    for combine in [Combine::Max, Combine::Min] {
        let f = scatter(combine, 2, 1);
        let g = pull(
            &f,
            &[0, 2],
            &[floats(&[3.0, 9.0]), ints(&[0]), floats(&[3.0])],
            floats(&[1.0, 1.0]),
        );
        assert_eq!((&*g[0], &*g[1]), (&[0.5, 1.0][..], &[0.5][..]));
        let f = scatter(combine, 1, 3);
        let args = [floats(&[2.0]), ints(&[0, 0, 0]), floats(&[2.0, 2.0, 2.0])];
        let g = pull(&f, &[0, 2], &args, floats(&[8.0]));
        assert_eq!((&*g[0], &*g[1]), (&[2.0][..], &[2.0, 2.0, 2.0][..]));
    }
    // Updates out of bounds are not extrema, for any value.
    let f = scatter(Combine::Max, 1, 2);
    let g = pull(
        &f,
        &[0, 2],
        &[floats(&[-1.0]), ints(&[5, 0]), floats(&[0.0, -2.0])],
        floats(&[1.0]),
    );
    assert_eq!((&*g[0], &*g[1]), (&[1.0][..], &[0.0, 0.0][..]));
    // As for a reduction (line 27): if the result is NaN, the gradients are NaN.
    let g = pull(
        &f,
        &[0, 2],
        &[floats(&[1.0]), ints(&[0, 0]), floats(&[f64::NAN, 3.0])],
        floats(&[1.0]),
    );
    assert!(g.iter().flatten().all(|g| g.is_nan()));
}

#[test]
fn l071_a_clamped_start_has_the_gradient_at_the_clamped_window() {
    let f = build([f64s(&[4]), i64s(&[])], |cx, [x, i]| {
        vec![cx.dynamic_slice(x, &[i], &[2.into()])]
    });
    assert_eq!(
        weighted_grad(&f, &[0], &[counting(&[4]), Array::scalar(99i64)])[0],
        [0.0, 0.0, 1.0, 2.0]
    );
    let f = build([f64s(&[4]), f64s(&[2]), i64s(&[])], |cx, [x, u, i]| {
        vec![cx.dynamic_update_slice(x, u, &[i])]
    });
    let g = weighted_grad(
        &f,
        &[0, 1],
        &[counting(&[4]), counting(&[2]), Array::scalar(-3i64)],
    );
    assert_eq!(
        (&*g[0], &*g[1]),
        (&[0.0, 0.0, 3.0, 4.0][..], &[1.0, 2.0][..])
    );
}

#[test]
fn l072_permuted_operands_have_permuted_gradients() {
    let rows = build([f64s(&[3, 2]), i64s(&[2])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Clip)]
    });
    let columns = build([f64s(&[2, 3]), i64s(&[2])], |cx, [x, i]| {
        vec![cx.transpose(cx.take(x, i, 1, Bounds::Clip), &[1, 0])]
    });
    let i = ints(&[2, 2]);
    let a = weighted_grad(&rows, &[0], &[counting(&[3, 2]), i.clone()]).remove(0);
    let b = weighted_grad(&columns, &[0], &[counting(&[2, 3]), i]).remove(0);
    assert_eq!(a, [0.0, 0.0, 0.0, 0.0, 4.0, 6.0]);
    assert_eq!(b, [0.0, 0.0, 4.0, 0.0, 0.0, 6.0]);
}

#[test]
fn products_with_zeros_and_equal_indices_to_second_order() {
    // y = x u0 u1 u2 at one element: every derivative is a product of the other factors, not a
    // quotient.
    let f = build([f64s(&[1]), i64s(&[3]), f64s(&[3])], |cx, [x, i, u]| {
        let y = cx.scatter(Combine::Mul, &elements(), Bounds::Drop, x, i, u);
        vec![cx.reshape(y, &[])]
    });
    let at = |u: [f64; 3]| [floats(&[5.0]), ints(&[0, 0, 0]), floats(&u)];
    let g = gradients(&f, &[0, 2], &at([0.0, 2.0, 3.0]));
    assert_eq!((&*g[0], &*g[1]), (&[0.0][..], &[30.0, 0.0, 0.0][..]));
    assert_eq!(gradients(&f, &[2], &at([0.0, 0.0, 3.0]))[0], [0.0; 3]);
    let h = run(
        &hessian(&AdContext::default(), &f, &[f.params()[2]]).unwrap(),
        &at([0.0, 0.0, 3.0]),
    );
    assert_eq!(h[0], [0.0, 15.0, 0.0, 15.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // Third order: d3y / du0 du1 du2 = x.
    let mut g = f.clone();
    for k in 0..3 {
        let d = grad(&AdContext::default(), &g, &[g.params()[2]]).unwrap();
        g = build([f64s(&[1]), i64s(&[3]), f64s(&[3])], |cx, x| {
            vec![cx.index_axis(cx.inline(&d, &x)[0], 0, k)]
        });
    }
    assert_eq!(run(&g, &at([0.0, 0.0, 0.0]))[0], [5.0]);
}

#[test]
fn taking_and_putting_are_adjoint() {
    let f = build([f64s(&[2, 3]), i64s(&[2, 2])], |cx, [x, i]| {
        vec![cx.take(x, i, 1, Bounds::Clip)]
    });
    let g = build([f64s(&[2, 2, 2]), i64s(&[2, 2])], |cx, [u, i]| {
        vec![cx.put(
            Combine::Add,
            cx.full(&f64s(&[2, 3]), 0.0),
            i,
            u,
            1,
            Bounds::Clip,
        )]
    });
    let i = ints(&[0, 2, 9, 2]).reshape([2, 2]).unwrap();
    let (x, u) = (counting(&[2, 3]), counting(&[2, 2, 2]));
    assert_eq!(
        pull(&f, &[0], &[x.clone(), i.clone()], u.clone())[0],
        run(&g, &[u.clone(), i.clone()])[0]
    );
    assert_eq!(
        pull(&g, &[0], &[u, i.clone()], x.clone())[0],
        run(&f, &[x, i])[0]
    );

    let f = build([f64s(&[2, 3]), i64s(&[2, 2])], |cx, [x, i]| {
        vec![cx.take_along_axis(x, i, 1, Bounds::Drop)]
    });
    let g = build([f64s(&[2, 2]), i64s(&[2, 2])], |cx, [u, i]| {
        vec![cx.put_along_axis(
            Combine::Add,
            cx.full(&f64s(&[2, 3]), 0.0),
            i,
            u,
            1,
            Bounds::Drop,
        )]
    });
    let (i, u) = (
        ints(&[1, 1, -1, 2]).reshape([2, 2]).unwrap(),
        counting(&[2, 2]),
    );
    let want = pull(&f, &[0], &[counting(&[2, 3]), i.clone()], u.clone()).remove(0);
    assert_eq!(
        (&want[..], run(&g, &[u, i])[0].clone()),
        (&[0.0, 3.0, 0.0, 0.0, 0.0, 4.0][..], want.clone())
    );
}

#[test]
fn sums_at_one_place_are_compensated_on_request() {
    let f = build([f64s(&[1]), i64s(&[4])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Clip)]
    });
    let numerics = Numerics {
        stable: true,
        ..Numerics::default()
    };
    let ad = AdContext::builder()
        .with_numerics(numerics)
        .build()
        .unwrap();
    let g = vjp(&ad, &f, &f.params()[..1]).unwrap();
    assert!(
        g.eqns()
            .iter()
            .any(|e| matches!(&e.op, Op::Scatter(s) if s.stable))
    );
    let ct = floats(&[1.0, 1e100, 1.0, -1e100]);
    assert_eq!(run(&g, &[floats(&[0.0]), ints(&[0; 4]), ct])[0], [2.0]);
}

#[test]
fn a_padding_value_has_the_gradient_of_the_padding() {
    let f = build([f64s(&[2]), f64s(&[])], |cx, [x, p]| {
        vec![cx.pad(x, p, &[1], &[-1], &[1])]
    });
    // p x0 p: the second element is cut off.
    let g = weighted_grad(&f, &[0, 1], &[floats(&[5.0, 6.0]), Array::scalar(7.0)]);
    assert_eq!((&*g[0], &*g[1]), (&[2.0, 0.0][..], &[4.0][..]));
    // An infinite cotangent of an element does not affect that of the padding.
    let g = pull(
        &f,
        &[0, 1],
        &[floats(&[5.0, 6.0]), Array::scalar(7.0)],
        floats(&[1.0, f64::INFINITY, 2.0]),
    );
    assert_eq!((&*g[0], &*g[1]), (&[f64::INFINITY, 0.0][..], &[3.0][..]));
}

#[test]
fn programs_of_several_operations_keep_every_law() {
    let f = build(
        [f64s(&[4, 3]), f64s(&[2, 3]), i64s(&[2])],
        |cx, [x, u, i]| {
            let rows = Windows {
                window: vec![1],
                collapsed: vec![0],
                axes: vec![0],
                vector: 1,
                ..Windows::default()
            };
            let y = cx.scatter(Combine::Mul, &rows, Bounds::Clip, x, i, u);
            let z = cx.scatter(
                Combine::Set,
                &rows,
                Bounds::Clip,
                cx.mul(x, y),
                i,
                cx.sin(u),
            );
            let z = cx.concatenate(&[z, cx.full(&f64s(&[1, 3]), 2.0), cx.reverse(u, &[1])], 0);
            let value = cx.reduce_sum(cx.take(x, i, 0, Bounds::Drop), &[0, 1]);
            let z = cx.pad(z, value, &[1, -1], &[0, 2], &[0, 1]);
            vec![cx.reduce_sum(cx.mul(z, z), &[0, 1])]
        },
    );
    let args = [counting(&[4, 3]), counting(&[2, 3]), ints(&[2, 2])];
    let args = [
        scaled(&args[0], 0.1),
        scaled(&args[1], -0.3),
        args[2].clone(),
    ];
    let report = check_function(&AdContext::default(), &f, &args, &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn batches_of_linear_functions_transpose() {
    // An explicit zero next to a tangent is broadcast along the batch axis, and stays linear.
    let f = build([f64s(&[2])], |cx, [x]| {
        vec![cx.concatenate(&[x, cx.full(&f64s(&[1]), 1.0)], 0)]
    });
    let t = jvp(&AdContext::default(), &f, f.params()).unwrap();
    let tangent = t.clone().with_results(&t.results()[1..]);
    let tangent = build([f64s(&[2])], |cx, [t]| {
        cx.inline(&tangent, &[cx.full(&f64s(&[2]), 0.0), t])
    });
    let (many, _) = batch(
        &Session::default(),
        &tangent,
        &[true],
        &[true],
        &Dim::Const(3),
    )
    .unwrap();
    let back = linear_transpose(&AdContext::default(), &many).unwrap();
    assert_eq!(
        run(&back, &[counting(&[3, 3])])[0],
        [1.0, 2.0, 4.0, 5.0, 7.0, 8.0]
    );
}

fn scaled(x: &Array, by: f64) -> Array {
    Array::from_vec(x.shape(), x.to_f64().into_iter().map(|v| v * by).collect()).unwrap()
}

#[test]
fn cotangents_of_reads_are_added_in_their_windows() {
    let types = [f64s(&[4, 6]), i64s(&[3]), i64s(&[])];
    let f = build(types, |cx, [x, rows, i]| {
        let at = |v: i64| cx.full_like(i, v);
        let row = cx.dynamic_slice(x, &[i, at(0)], &[Dim::Const(1), Dim::Const(6)]);
        let part = cx.dynamic_slice(x, &[at(1), i], &[Dim::Const(2), Dim::Const(3)]);
        let taken = cx.take(x, rows, 0, Bounds::Clip);
        // The table is read as a whole, at starts that overlap, and at equal indices.
        let parts = [
            cx.sin(x),
            cx.mul(row, row),
            cx.exp(part),
            cx.mul(taken, taken),
        ];
        let sums = parts.map(|v| cx.reduce_sum(v, &[0, 1]));
        vec![sums.into_iter().reduce(|a, b| cx.add(a, b)).unwrap()]
    });
    let args = [
        scaled(&counting(&[4, 6]), 0.1),
        ints(&[2, 0, 2]),
        Array::scalar(2i64),
    ];
    let report = check_function(&AdContext::default(), &f, &args, &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
    let g = grad(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    // The cotangent of the sine is the first: others are added to parts of it.
    let is_sum = |op: &Op| matches!(op, Op::Binary(Binary::Add));
    let sums = g.eqns().iter().filter(|e| is_sum(&e.op));
    let types: Vec<&Type> = sums.map(|e| g.ty(e.results().next().unwrap())).collect();
    assert!(
        !types.is_empty() && types.iter().all(|ty| **ty != f64s(&[4, 6])),
        "{types:?}"
    );
}
