//! Sorts and positions of extrema.

use crate::support::{check, close, gradient, matrix, noise, pull, value, vector};
use cotangent_core::ops::{ArgReduce, Sort};
use cotangent_core::{Array, Builder, Code, DType, Emit, Type, Val, reference};
use std::slice::from_ref;

const NAN: f64 = f64::NAN;

#[test]
fn sorted_values() {
    let run =
        |v: &[f64], descending| value(&[vector(v)], |cx, x| cx.sort(x[0], 0, descending)).to_f64();
    assert_eq!(run(&[3.0, -1.0, 2.0], false), [-1.0, 2.0, 3.0]);
    assert_eq!(run(&[3.0, -1.0, 2.0], true), [3.0, 2.0, -1.0]);
    for descending in [false, true] {
        let y = run(&[NAN, 1.0, NAN, 2.0], descending);
        assert!(y[0].is_finite() && y[1].is_finite() && y[2].is_nan() && y[3].is_nan());
        let zeros = run(&[0.0, -0.0, 0.0], descending);
        assert_eq!(
            zeros
                .iter()
                .map(|z| z.is_sign_negative())
                .collect::<Vec<_>>(),
            [false, true, false]
        );
    }
    let rows = value(&[matrix(2, &[3.0, 1.0, 2.0, 4.0])], |cx, x| {
        cx.sort(x[0], 0, false)
    })
    .to_f64();
    assert_eq!(rows, [2.0, 1.0, 3.0, 4.0]);
}

#[test]
fn several_keys_and_payloads() {
    let x = [
        Array::vector(vec![2i32, 1, 2, 1]),
        Array::vector(vec![4i32, 3, 1, 2]),
        vector(&[10.0, 20.0, 30.0, 40.0]),
    ];
    let by = |keys, descending| value(&x, |cx, v| cx.sort_by(v, 0, keys, descending)[2]).to_f64();
    assert_eq!(by(1, false), [20.0, 40.0, 10.0, 30.0]);
    assert_eq!(by(2, false), [40.0, 20.0, 30.0, 10.0]);
    assert_eq!(by(1, true), [10.0, 30.0, 20.0, 40.0]);
    assert_eq!(by(2, true), [10.0, 30.0, 20.0, 40.0]);
}

#[test]
fn gradient_of_a_sort_is_its_permutation() {
    let sort = |cx: &dyn Emit, v: &[Val]| cx.sort(v[0], 0, false);
    assert_eq!(
        pull(&[vector(&[2.0, 1.0, 2.0])], &[10.0, 20.0, 30.0], sort),
        [20.0, 10.0, 30.0]
    );
    for (axis, descending) in [(0, false), (1, true)] {
        check(&[matrix(3, &noise(12, 4))], |cx, v| {
            let y = cx.sort(cx.sin(v[0]), axis, descending);
            cx.mul(y, y)
        });
    }
    // Payloads are permuted with their keys, real or integer.
    check(&[vector(&noise(5, 1)), vector(&noise(5, 2))], |cx, v| {
        let y = cx.sort_by(v, 0, 1, false);
        cx.mul(y[0], cx.mul(y[1], y[1]))
    });
    check(
        &[Array::vector(vec![3u8, 1, 2]), vector(&noise(3, 2))],
        |cx, v| cx.exp(cx.sort_by(v, 0, 1, false)[1]),
    );
}

#[test]
fn argsort_has_no_gradient_and_inverts() {
    let x = [vector(&[3.0, 1.0, 2.0, 1.0])];
    assert_eq!(
        value(&x, |cx, v| cx.argsort(v[0], 0, false))
            .as_slice::<i64>()
            .unwrap(),
        [1, 3, 2, 0]
    );
    assert_eq!(
        value(&x, |cx, v| cx.argsort(v[0], 0, true))
            .as_slice::<i64>()
            .unwrap(),
        [0, 2, 1, 3]
    );
    let g = gradient(&x, |cx, v| {
        cx.reduce_sum(cx.convert(cx.argsort(v[0], 0, false), DType::F64), &[0])
    });
    assert_eq!(g, [0.0; 4]);
}

#[test]
fn positions_of_extrema() {
    let at = |v: &[f64], min| {
        let op = ArgReduce {
            min,
            axis: 0,
            dtype: DType::I32,
        };
        value(&[vector(v)], |cx, x| cx.op(op, x))
            .as_slice::<i32>()
            .unwrap()[0]
    };
    assert_eq!(at(&[1.0, 3.0, 3.0, 2.0], false), 1);
    assert_eq!(at(&[2.0, 1.0, 1.0], true), 1);
    assert_eq!(
        (
            at(&[1.0, NAN, 5.0, NAN], false),
            at(&[1.0, NAN, -5.0, NAN], true)
        ),
        (1, 1)
    );
    assert_eq!((at(&[-0.0, 0.0], false), at(&[0.0, -0.0], true)), (0, 0));
    let x = matrix(2, &[1.0, 5.0, 2.0, 9.0, 7.0, 8.0]);
    assert_eq!(
        value(from_ref(&x), |cx, v| cx.argmax(v[0], 1))
            .as_slice::<i64>()
            .unwrap(),
        [1, 0]
    );
    assert_eq!(
        value(from_ref(&x), |cx, v| cx.argmin(v[0], 0))
            .as_slice::<i64>()
            .unwrap(),
        [0, 0, 0]
    );
    assert_eq!(
        value(&[Array::vector(vec![false, true])], |cx, v| cx
            .argmax(v[0], 0))
        .to_f64(),
        [1.0]
    );
}

#[test]
fn mistakes_are_errors() {
    let build = |dtype, f: &dyn Fn(&dyn Emit, Val) -> Val| {
        let b = Builder::new("f", Default::default());
        let x = b.param(Type::new(dtype, vec!["n".into()]), Some("x"));
        let y = f(&b, x);
        b.finish(&[y])
    };
    assert_eq!(
        build(DType::C128, &|cx, x| cx.sort(x, 0, false))
            .unwrap_err()
            .code(),
        Code::DTypeMismatch
    );
    assert_eq!(
        build(DType::F64, &|cx, x| cx.sort(x, 1, false))
            .unwrap_err()
            .code(),
        Code::Attribute
    );
    let two_keys = Sort {
        axis: 0,
        operands: 1,
        num_keys: 2,
        descending: false,
    };
    assert_eq!(
        build(DType::F64, &|cx, x| cx.op(two_keys, &[x]))
            .unwrap_err()
            .code(),
        Code::Attribute
    );
    let f = build(DType::F64, &|cx, x| cx.argmax(x, 0)).unwrap();
    assert!(
        reference::run(&f, &[vector(&[])])
            .unwrap_err()
            .to_string()
            .contains("argmax")
    );
    close(
        &reference::run(&f, &[vector(&[1.0, 2.0])]).unwrap()[0].to_f64(),
        &[1.0],
        0.0,
    );
}
