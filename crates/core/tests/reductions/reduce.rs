//! Reductions over axes.

use crate::support::{check, gradient, matrix, noise, pull, value, vector};
use cotangent_core::ops::{Reduce, Reduction};
use cotangent_core::transform::{AdContext, Session, grad, hessian};
use cotangent_core::{Array, Builder, C128, Code, DType, Emit, Type, Val, reference};
use std::slice::from_ref;

const NAN: f64 = f64::NAN;

fn nan_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

fn prod(cx: &dyn Emit, v: &[Val]) -> Val {
    cx.reduce_prod(v[0], &[0])
}

#[test]
fn extremum_gradients_are_split_among_ties_and_nan_spreads() {
    let max = |cx: &dyn Emit, v: &[Val]| cx.reduce_max(v[0], &[0]);
    let min = |cx: &dyn Emit, v: &[Val]| cx.reduce_min(v[0], &[0]);
    assert_eq!(
        gradient(&[vector(&[1.0, 3.0, 3.0, 2.0])], max),
        [0.0, 0.5, 0.5, 0.0]
    );
    assert_eq!(
        gradient(&[vector(&[1.0, 3.0, 1.0, 2.0, 1.0])], min),
        [1.0 / 3.0, 0.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]
    );
    assert!(nan_same(
        &gradient(&[vector(&[1.0, NAN, 3.0])], max),
        &[NAN; 3]
    ));
    assert_eq!(gradient(&[vector(&[f64::INFINITY, 0.0])], max), [1.0, 0.0]);
    assert!(value(&[vector(&[1.0, NAN])], max).to_f64()[0].is_nan());
    let zeros = value(&[vector(&[-0.0, 0.0])], max).to_f64()[0];
    assert!(zeros.is_sign_positive());
    assert!(value(&[vector(&[0.0, -0.0])], min).to_f64()[0].is_sign_negative());
    // More ties than a 16-bit float can represent.
    let zeros = Array::full([70_000], cotangent_core::bf16::from_f32(0.0)).unwrap();
    let share = cotangent_core::bf16::from_f64(1.0 / 70_000.0).to_f64();
    assert_eq!(gradient(&[zeros], max), vec![share; 70_000]);
    // A row with a NaN does not affect the other row.
    let rows = pull(&[matrix(2, &[1.0, NAN, 4.0, 2.0])], &[1.0, 1.0], |cx, v| {
        cx.reduce_max(v[0], &[1])
    });
    assert!(nan_same(&rows, &[NAN, NAN, 1.0, 0.0]));
}

#[test]
fn product_gradients_with_zeros() {
    assert_eq!(gradient(&[vector(&[0.0, 2.0, 3.0])], prod), [6.0, 0.0, 0.0]);
    assert_eq!(gradient(&[vector(&[0.0, 0.0, 3.0])], prod), [0.0; 3]);
    assert_eq!(gradient(&[vector(&[5.0])], prod), [1.0]);
    assert_eq!(gradient(&[vector(&[])], prod), [0.0; 0]);
    // Subnormal and infinite factors, for which a division would fail.
    assert_eq!(gradient(&[vector(&[1e-320, 2.0])], prod), [2.0, 1e-320]);
    let ad = AdContext::default();
    let f = crate::support::function(&[vector(&[0.0, 0.0, 3.0])], prod);
    let h = hessian(&ad, &f, f.params()).unwrap();
    let at = |v: &[f64]| reference::run(&h, &[vector(v)]).unwrap()[0].to_f64();
    assert_eq!(
        at(&[0.0, 0.0, 3.0]),
        [0.0, 3.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        at(&[0.0, 2.0, 3.0]),
        [0.0, 3.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0, 0.0]
    );
    assert_eq!(at(&[0.0, 0.0, 0.0]), [0.0; 9]);
}

#[test]
fn third_derivative_of_a_product_at_the_origin() {
    let ad = &AdContext::default();
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(Type::new(DType::F64, [3]), Some("x"));
    let y = cx.reduce_prod(x, &[0]);
    let mut f = b.finish(&[y]).unwrap();
    for (k, want) in [(0, 0.0), (1, 0.0), (2, 1.0)] {
        let g = grad(ad, &f, &f.params()[..1]).unwrap();
        // The k-th element of the gradient is the next function.
        let b = Builder::new("f", Session::default());
        let cx: &dyn Emit = &b;
        let x = b.param(Type::new(DType::F64, [3]), Some("x"));
        let g = cx.inline(&g, &[x])[0];
        let mut pick = vec![0.0; 3];
        pick[k] = 1.0;
        let y = cx.reduce_sum(cx.mul(g, cx.constant(vector(&pick))), &[0]);
        f = b.finish(&[y]).unwrap();
        assert_eq!(
            reference::run(&f, &[vector(&[0.0; 3])]).unwrap()[0].to_f64(),
            [want]
        );
    }
}

#[test]
fn derivatives_to_second_order() {
    for axes in [&[0usize][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
        let x = Array::from_vec([2, 3, 2], noise(12, 5)).unwrap();
        for op in [
            Reduction::Sum,
            Reduction::Prod,
            Reduction::Max,
            Reduction::Min,
        ] {
            check(from_ref(&x), |cx, v| {
                let y = cx.reduce(op, cx.mul(v[0], cx.sin(v[0])), axes);
                cx.mul(y, y)
            });
        }
    }
    let z = crate::support::noise_array(&Array::full([2, 3], C128::ZERO).unwrap(), 1);
    check(from_ref(&z), |cx, v| cx.reduce_prod(v[0], &[1]));
    check(&[z], |cx, v| cx.reduce_sum(cx.mul(v[0], v[0]), &[0, 1]));
}

#[test]
fn empty_reductions() {
    let none = Array::from_vec([0, 3], Vec::<f64>::new()).unwrap();
    assert_eq!(
        value(from_ref(&none), |cx, v| cx.reduce_sum(v[0], &[0])).to_f64(),
        [0.0; 3]
    );
    assert_eq!(
        value(from_ref(&none), |cx, v| cx.reduce_prod(v[0], &[0])).to_f64(),
        [1.0; 3]
    );
    assert_eq!(
        value(from_ref(&none), |cx, v| cx.reduce_max(v[0], &[1])).to_f64(),
        [0.0; 0]
    );
    assert_eq!(
        gradient(&[none], |cx, v| cx.reduce_sum(v[0], &[0, 1])).len(),
        0
    );
    // The maximum of no elements is an error: from the type rule if the extent is constant, else at
    // run time.
    let f = |n: cotangent_core::Dim| {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::new(DType::F64, vec![n]), Some("x"));
        let y = (&b as &dyn Emit).reduce_max(x, &[0]);
        b.finish(&[y])
    };
    assert_eq!(f(0.into()).unwrap_err().code(), Code::ShapeMismatch);
    let g = f("n".into()).unwrap();
    assert!(
        reference::run(&g, &[vector(&[])])
            .unwrap_err()
            .to_string()
            .contains("reduce_max")
    );
    assert_eq!(
        reference::run(&g, &[vector(&[2.0])]).unwrap()[0].to_f64(),
        [2.0]
    );
}

#[test]
fn stable_sums_in_single_precision() {
    let mut v: Vec<f32> = [1e8f32, 1.0, -1e8].repeat(1000);
    v.push(1.0);
    let y = value(&[Array::vector(v)], |cx, v| {
        cx.op(Reduce::new(Reduction::Sum, &[0], true), &[v[0]])
    });
    assert_eq!(y.as_slice::<f32>().unwrap(), [1001.0]);
}

#[test]
fn logic_and_bits() {
    let p = Array::from_vec([2, 2], vec![true, false, true, true]).unwrap();
    let run = |op| value(from_ref(&p), |cx, v| cx.reduce(op, v[0], &[1]));
    assert_eq!(
        run(Reduction::Any).as_slice::<bool>().unwrap(),
        [true, true]
    );
    assert_eq!(
        run(Reduction::All).as_slice::<bool>().unwrap(),
        [false, true]
    );
    assert_eq!(
        run(Reduction::Xor).as_slice::<bool>().unwrap(),
        [true, false]
    );
    let x = Array::vector(vec![0b1100u8, 0b1010]);
    let bits = |op| {
        value(from_ref(&x), |cx, v| cx.reduce(op, v[0], &[0]))
            .as_slice::<u8>()
            .unwrap()[0]
    };
    assert_eq!(
        [
            bits(Reduction::And),
            bits(Reduction::Or),
            bits(Reduction::Xor)
        ],
        [0b1000, 0b1110, 0b0110]
    );
    assert_eq!(
        [
            bits(Reduction::Max),
            bits(Reduction::Min),
            bits(Reduction::Prod)
        ],
        [12, 10, 120]
    );
    let none = Array::vector(Vec::<u8>::new());
    assert_eq!(
        value(&[none], |cx, v| cx.reduce_and(v[0], &[0]))
            .as_slice::<u8>()
            .unwrap(),
        [255]
    );
}

#[test]
fn extrema_with_an_identity() {
    let none = Array::from_vec([0, 2], Vec::<f64>::new()).unwrap();
    let of = |op, x: &Array| {
        value(from_ref(x), |cx, v| {
            cx.op(Reduce::new(op, &[0], false).or_identity(), v)
        })
    };
    assert_eq!(of(Reduction::Max, &none).to_f64(), [f64::NEG_INFINITY; 2]);
    assert_eq!(of(Reduction::Min, &none).to_f64(), [f64::INFINITY; 2]);
    let bytes = Array::vector(Vec::<i8>::new());
    assert_eq!(of(Reduction::Max, &bytes).to_f64(), [-128.0]);
    assert_eq!(of(Reduction::Min, &bytes).to_f64(), [127.0]);
}
