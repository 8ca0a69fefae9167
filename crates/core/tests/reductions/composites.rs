//! Composites: values, conventions, stability of values and of first and second derivatives.

mod programs;

use crate::support::{
    check, close, function, gradient, matrix, noise, noise_array, pull, run, value, vector,
};
use cotangent_core::attr::{Attr, Attrs};
use cotangent_core::ops::{Spelled, composites};
use cotangent_core::transform::{AdContext, Session, grad, hessian};
use cotangent_core::{
    Array, Builder, C128, Code, DType, Dim, Emit, Error, Function, Type, Val, bf16, reference,
};
use std::f64::consts::PI;
use std::slice::from_ref;

/// A composite of several operands.
type CompositeOf<'a> = dyn Fn(&dyn Emit, &[Val]) -> Val + 'a;
/// A composite of one operand.
type UnaryOf<'a> = dyn Fn(&dyn Emit, Val) -> Val + 'a;
type Attributes<'a> = &'a [(&'static str, Attr)];

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn same(got: &[f64], want: &[f64]) {
    close(got, want, 0.0);
}

/// The second derivative of a scalar function at `x`.
fn second(x: &[f64], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Vec<f64> {
    let x = [vector(x)];
    let f = function(&x, f);
    run(&hessian(&AdContext::default(), &f, f.params()).unwrap(), &x).to_f64()
}

/// Derivatives of order 0, 1, 2, .. of an elementwise function at a number.
fn tower(x: f64, order: usize, f: impl Fn(&dyn Emit, Val) -> Val) -> Vec<f64> {
    let at = [Array::scalar(x)];
    let mut f = function(&at, |cx, v| f(cx, v[0]));
    let mut out = vec![run(&f, &at).to_f64()[0]];
    for _ in 0..order {
        f = grad(&AdContext::default(), &f, f.params()).unwrap();
        out.push(run(&f, &at).to_f64()[0]);
    }
    out
}

/// A composite by name, as the text form builds it.
fn spelled(
    name: &'static str,
    attrs: Attributes<'_>,
    x: &[Array],
) -> Result<(Function, Vec<Array>), Error> {
    let c = composites()
        .iter()
        .find(|c| c.name == name)
        .expect("a composite of the table");
    let b = Builder::new("f", Session::default());
    let args: Vec<Val> = x.iter().map(|a| b.param(a.ty(), None)).collect();
    let types: Vec<Type> = x.iter().map(Array::ty).collect();
    let attrs = Attrs(
        attrs
            .iter()
            .map(|(n, a)| ((*n).into(), a.clone()))
            .collect(),
    );
    let mut s = Spelled {
        name,
        attrs,
        operands: &types,
        results: None,
    };
    let y = (c.build)(&b, &mut s, &args)?;
    s.attrs.finish(name)?;
    let f = b.finish(&y)?;
    let y = reference::run(&f, x)?;
    Ok((f, y))
}

#[test]
fn logsumexp_and_softmax_in_range_and_out_of_it() {
    let lse = |cx: &dyn Emit, v: &[Val]| cx.logsumexp(v[0], &[0]);
    let at = |v: &[f64]| {
        (
            value(&[vector(v)], lse).to_f64()[0],
            gradient(&[vector(v)], lse),
        )
    };
    for shift in [0.0, 1000.0, -1000.0] {
        let (y, g) = at(&[shift, shift + 1.0]);
        assert!((y - shift - (1.0 + 1f64.exp()).ln()).abs() < 2e-13);
        let p = 1.0 / (1.0 + 1f64.exp());
        close(&g, &[p, 1.0 - p], 1e-15);
        close(
            &second(&[shift, shift + 1.0], lse),
            &[p * (1.0 - p), p * (p - 1.0), p * (p - 1.0), p * (1.0 - p)],
            1e-14,
        );
    }
    let (y, g) = at(&[1000.0, -1000.0]);
    assert_eq!((y, g), (1000.0, vec![1.0, 0.0]));
    same(&second(&[1000.0, -1000.0], lse), &[0.0; 4]);
    // The conventions.
    let (y, g) = at(&[-INF, -INF]);
    assert_eq!(y, -INF);
    same(&g, &[NAN, NAN]);
    let (y, g) = at(&[INF, 0.0]);
    assert_eq!(y, INF);
    same(&g, &[NAN, 0.0]);
    assert_eq!(at(&[-INF, 2.0]), (2.0, vec![0.0, 1.0]));
    let soft = |cx: &dyn Emit, v: &[Val]| cx.softmax(v[0], 0);
    same(
        &pull(&[vector(&[0.0, -INF])], &[1.0, 0.0], soft),
        &[0.0, 0.0],
    );
    close(
        &value(&[vector(&[1000.0, 1001.0])], soft).to_f64(),
        &[0.2689414213699951, 0.7310585786300049],
        1e-15,
    );
    let log_soft = |cx: &dyn Emit, v: &[Val]| cx.log_softmax(v[0], 0);
    same(
        &value(&[vector(&[1000.0, -1000.0])], log_soft).to_f64(),
        &[0.0, -2000.0],
    );
    same(
        &pull(&[vector(&[1000.0, -1000.0])], &[0.0, 1.0], log_soft),
        &[-1.0, 1.0],
    );
    // The value for no elements.
    let none = Array::from_vec([2, 0], Vec::<f64>::new()).unwrap();
    assert_eq!(
        value(from_ref(&none), |cx, v| cx.softmax(v[0], 1)).shape(),
        [2, 0]
    );
    same(
        &value(&[none], |cx, v| cx.logsumexp(v[0], &[1])).to_f64(),
        &[-INF, -INF],
    );
}

#[test]
fn masked_logsumexp_has_zero_gradient_where_nothing_counts() {
    let mask = Array::from_vec([2, 2], vec![true, false, false, false]).unwrap();
    let x = matrix(2, &[1.0, INF, NAN, -INF]);
    let f = |cx: &dyn Emit, v: &[Val]| cx.masked_logsumexp(v[0], v[1], &[1]);
    same(&value(&[x.clone(), mask.clone()], f).to_f64(), &[1.0, -INF]);
    same(&pull(&[x, mask], &[1.0, 1.0], f), &[1.0, 0.0, 0.0, 0.0]);
    let mask = Array::from_vec([2, 3], vec![true, false, true, true, true, false]).unwrap();
    check(&[matrix(2, &noise(6, 3)), mask], f);
}

#[test]
fn smooth_composites_have_both_derivatives() {
    let x = Array::from_vec([2, 3], noise(6, 21)).unwrap();
    let w = Array::vector(vec![0.5, -1.5, 2.0]);
    let all: &[&CompositeOf<'_>] = &[
        &|cx, v| cx.softmax(v[0], 1),
        &|cx, v| cx.softmax(v[0], 0),
        &|cx, v| cx.log_softmax(v[0], 1),
        &|cx, v| cx.logsumexp(v[0], &[0, 1]),
        &|cx, v| cx.mean(cx.exp(v[0]), &[0]),
        &|cx, v| cx.var(v[0], &[1], 1.0),
        &|cx, v| cx.std(v[0], &[0, 1], 0.0),
        &|cx, v| cx.norm(v[0], &[1]),
        &|cx, v| cx.median(cx.sin(v[0]), 1),
        &|cx, v| cx.median(cx.sin(v[0]), 0),
        &|cx, v| cx.layer_norm(v[0], None, None, &[1], 1e-5),
        &|cx, v| cx.layer_norm(v[0], Some(v[1]), Some(v[1]), &[1], 0.1),
        &|cx, v| cx.gelu(v[0]),
        &|cx, v| cx.gelu_tanh(v[0]),
        &|cx, v| cx.silu(v[0]),
        &|cx, v| cx.softplus(v[0]),
        &|cx, v| cx.sinc(v[0]),
        &|cx, v| cx.logaddexp(v[0], cx.neg(v[0])),
        &|cx, v| cx.pick_along(v[0], cx.argmax(v[0], 1), 1),
        &|cx, v| cx.top_k(v[0], 1, &Dim::Const(2)).0,
        &|cx, v| cx.matmul(v[0], v[1]),
        &|cx, v| cx.diagonal(cx.mul(v[0], v[0])),
        &|cx, v| cx.trace(cx.exp(v[0])),
    ];
    for f in all {
        check(&[x.clone(), w.clone()], f);
    }
    let (z, y) = (
        noise_array(&Array::full([2, 2], C128::ZERO).unwrap(), 8),
        vector(&[1.0]),
    );
    let complex: &[&CompositeOf<'_>] = &[
        &|cx, v| cx.mean(v[0], &[0]),
        &|cx, v| cx.norm(v[0], &[0, 1]),
        &|cx, v| cx.var(v[0], &[1], 0.0),
        &|cx, v| cx.logsumexp(v[0], &[1]),
        &|cx, v| cx.softmax(v[0], 1),
        &|cx, v| cx.matmul(v[0], v[0]),
        &|cx, v| cx.sinc(v[0]),
    ];
    for f in complex {
        check(&[z.clone(), y.clone()], f);
    }
}

#[test]
fn norm_in_range_and_at_zero() {
    let norm = |cx: &dyn Emit, v: &[Val]| cx.norm(v[0], &[0]);
    for (v, want) in [
        ([3.0, 4.0], 5.0),
        ([3e200, 4e200], 5e200),
        ([3e-200, 4e-200], 5e-200),
        ([0.0, 0.0], 0.0),
        ([INF, 1.0], INF),
        ([NAN, 1.0], NAN),
        ([5e-324, 0.0], 5e-324),
    ] {
        let y = value(&[vector(&v)], norm).to_f64();
        assert!(
            y[0] == want || (y[0] - want).abs() <= 1e-15 * want || (y[0].is_nan() && want.is_nan()),
            "{v:?}: {y:?}"
        );
    }
    same(&gradient(&[vector(&[0.0, 0.0])], norm), &[0.0, 0.0]);
    for s in [1e200, 1e-200, 1.0] {
        close(
            &gradient(&[vector(&[3.0 * s, 4.0 * s])], norm),
            &[0.6, 0.8],
            1e-15,
        );
    }
    close(
        &second(&[3e-200, 4e-200], norm)
            .iter()
            .map(|h| h * 5e-200)
            .collect::<Vec<_>>(),
        &[0.64, -0.48, -0.48, 0.36],
        1e-14,
    );
    let none = Array::from_vec([0, 2], Vec::<f64>::new()).unwrap();
    same(&value(&[none], norm).to_f64(), &[0.0, 0.0]);
    let rows = pull(&[matrix(2, &[0.0, 0.0, 3.0, 4.0])], &[1.0, 1.0], |cx, v| {
        cx.norm(v[0], &[1])
    });
    close(&rows, &[0.0, 0.0, 0.6, 0.8], 1e-15);
}

#[test]
fn means_and_spreads() {
    let x = [vector(&[1.0, 2.0, 4.0])];
    let of = |f: &dyn Fn(&dyn Emit, Val) -> Val| value(&x, |cx, v| f(cx, v[0])).to_f64()[0];
    assert!((of(&|cx, x| cx.mean(x, &[0])) - 7.0 / 3.0).abs() < 1e-15);
    assert!((of(&|cx, x| cx.var(x, &[0], 1.0)) - 7.0 / 3.0).abs() < 1e-15);
    assert!((of(&|cx, x| cx.std(x, &[0], 0.0)) - (14.0f64 / 9.0).sqrt()).abs() < 1e-15);
    let std = |cx: &dyn Emit, v: &[Val]| cx.std(v[0], &[0], 0.0);
    for c in [2.0, 0.1, -7.3e5, 1e300, 0.0] {
        for n in [1, 3, 10] {
            let x = [vector(&vec![c; n])];
            same(&value(&x, std).to_f64(), &[0.0]);
            same(&gradient(&x, std), &vec![0.0; n]);
        }
    }
    assert_eq!(value(&[vector(&[1e200, -1e200])], std).to_f64(), [1e200]);
    let var = |cx: &dyn Emit, v: &[Val]| cx.var(v[0], &[0], 1.0);
    same(&value(&[vector(&[5.0])], var).to_f64(), &[NAN]);
    same(&gradient(&[vector(&[5.0])], var), &[NAN]);
    same(
        &value(&[vector(&[])], |cx, v| cx.mean(v[0], &[0])).to_f64(),
        &[NAN],
    );
    assert_eq!(
        gradient(&[vector(&[])], |cx, v| cx.mean(v[0], &[0])).len(),
        0
    );
    // The number of elements is known at run time, and need not be representable in a 16-bit float.
    let b = Builder::new("f", Session::default());
    let v = b.param(
        Type::new(DType::BF16, vec!["n".into(), 2.into()]),
        Some("x"),
    );
    let y = (&b as &dyn Emit).mean(v, &[0, 1]);
    let f = b.finish(&[y]).unwrap();
    for n in [1, 5, 1000] {
        let ones = Array::full([n, 2], bf16::from_f32(3.0)).unwrap();
        assert_eq!(reference::run(&f, &[ones]).unwrap()[0].to_f64(), [3.0]);
    }
}

#[test]
fn median_of_even_odd_and_nan() {
    let median = |cx: &dyn Emit, v: &[Val]| cx.median(v[0], 0);
    let at = |v: &[f64]| {
        (
            value(&[vector(v)], median).to_f64()[0],
            gradient(&[vector(v)], median),
        )
    };
    assert_eq!(at(&[4.0, 2.0, 3.0, 1.0]), (2.5, vec![0.0, 0.5, 0.5, 0.0]));
    assert_eq!(at(&[4.0, 2.0, 3.0]), (3.0, vec![0.0, 0.0, 1.0]));
    assert!(at(&[4.0, NAN, 3.0]).0.is_nan());
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::new(DType::F64, vec!["n".into()]), Some("x"));
    let y = (&b as &dyn Emit).median(x, 0);
    let f = b.finish(&[y]).unwrap();
    let g = grad(&AdContext::default(), &f, f.params()).unwrap();
    for (v, want, slope) in [
        (&[3.0, 1.0, 2.0][..], 2.0, &[0.0, 0.0, 1.0][..]),
        (&[3.0, 1.0], 2.0, &[0.5, 0.5]),
        (&[7.0], 7.0, &[1.0]),
    ] {
        assert_eq!(
            reference::run(&f, &[vector(v)]).unwrap()[0].to_f64(),
            [want]
        );
        assert_eq!(reference::run(&g, &[vector(v)]).unwrap()[0].to_f64(), slope);
    }
}

#[test]
fn activations_at_zero_and_far_out() {
    same(&tower(0.0, 2, |cx, x| cx.relu(x)), &[0.0, 0.0, 0.0]);
    same(&tower(NAN, 0, |cx, x| cx.relu(x)), &[NAN]);
    close(
        &tower(0.0, 4, |cx, x| cx.softplus(x)),
        &[2f64.ln(), 0.5, 0.25, 0.0, -0.125],
        1e-14,
    );
    same(
        &tower(1000.0, 2, |cx, x| cx.softplus(x)),
        &[1000.0, 1.0, 0.0],
    );
    same(&tower(-1000.0, 2, |cx, x| cx.softplus(x)), &[0.0, 0.0, 0.0]);
    same(&tower(INF, 1, |cx, x| cx.softplus(x)), &[INF, 1.0]);
    let e = (-50f64).exp();
    for (got, want) in tower(-50.0, 2, |cx, x| cx.softplus(x))
        .iter()
        .zip([e, e, e])
    {
        assert!((got / want - 1.0).abs() < 1e-12);
    }
    let far: &[(&UnaryOf<'_>, f64)] = &[
        (&|cx, x| cx.gelu(x), 0.797_884_560_802_865_4),
        (&|cx, x| cx.gelu_tanh(x), 0.797_884_560_802_865_4),
        (&|cx, x| cx.silu(x), 0.5),
    ];
    for (f, curvature) in far {
        same(&tower(1000.0, 2, f), &[1000.0, 1.0, 0.0]);
        same(&tower(-1000.0, 2, f), &[0.0, 0.0, 0.0]);
        close(&tower(0.0, 2, f), &[0.0, 0.5, *curvature], 1e-14);
    }
    // The far tail has a small relative error: x Φ(x) at -10 is -10 · 7.619853024160525e-24.
    let tail = tower(-10.0, 0, |cx, x| cx.gelu(x))[0];
    assert!(
        (tail / -7.619853024160525e-23 - 1.0).abs() < 1e-12,
        "{tail}"
    );
}

#[test]
fn sinc_and_its_derivatives_everywhere() {
    let p2 = PI * PI;
    close(
        &tower(0.0, 4, |cx, x| cx.sinc(x)),
        &[1.0, 0.0, -p2 / 3.0, 0.0, p2 * p2 / 5.0],
        1e-14,
    );
    // Both forms agree at their boundary, up to the fourth derivative.
    let (a, b) = (1.0 / PI - 1e-9, 1.0 / PI + 1e-9);
    for (l, r) in tower(a, 4, |cx, x| cx.sinc(x))
        .iter()
        .zip(tower(b, 4, |cx, x| cx.sinc(x)))
    {
        assert!((l - r).abs() < 1e-6, "{l} {r}");
    }
    let x = 1000.25;
    let want = (PI * x).sin() / (PI * x);
    close(&tower(x, 0, |cx, x| cx.sinc(x)), &[want], 1e-12);
    close(
        &tower(1e-8, 2, |cx, x| cx.sinc(x)),
        &[1.0, -p2 / 3.0 * 1e-8, -p2 / 3.0],
        1e-14,
    );
}

#[test]
fn logaddexp_at_ties_infinities_and_far_out() {
    let f = |cx: &dyn Emit, v: &[Val]| {
        let at = |i: usize| cx.index_axis(v[0], 0, i);
        cx.logaddexp(at(0), at(1))
    };
    let at = |v: [f64; 2]| {
        (
            value(&[vector(&v)], f).to_f64()[0],
            gradient(&[vector(&v)], f),
        )
    };
    assert_eq!(at([1.0, 1.0]), (1.0 + 2f64.ln(), vec![0.5, 0.5]));
    close(&second(&[1.0, 1.0], f), &[0.25, -0.25, -0.25, 0.25], 1e-15);
    assert_eq!(at([1000.0, -1000.0]), (1000.0, vec![1.0, 0.0]));
    assert_eq!(at([-1000.0, 1000.0]), (1000.0, vec![0.0, 1.0]));
    assert_eq!(at([-INF, 3.0]), (3.0, vec![0.0, 1.0]));
    for v in [[INF, INF], [-INF, -INF]] {
        assert_eq!(at(v).0, v[0]);
    }
    assert!(at([NAN, 1.0]).0.is_nan());
}

#[test]
fn cross_entropy_with_classes_and_probabilities() {
    let x = matrix(2, &[1000.0, 0.0, -1000.0, 0.5, 0.25, -0.5]);
    let labels = Array::vector(vec![0i32, 2]);
    let rows = |cx: &dyn Emit, v: &[Val]| cx.cross_entropy(v[0], v[1], 1);
    let lse = (0.5f64.exp() + 0.25f64.exp() + (-0.5f64).exp()).ln();
    close(
        &value(&[x.clone(), labels.clone()], rows).to_f64(),
        &[0.0, lse + 0.5],
        1e-15,
    );
    let worst = Array::vector(vec![2i32, 0]);
    close(
        &value(&[x.clone(), worst], rows).to_f64(),
        &[2000.0, lse - 0.5],
        1e-15,
    );
    let g = pull(&[x.clone(), labels.clone()], &[1.0, 1.0], rows);
    let p: Vec<f64> = [0.5, 0.25, -0.5].iter().map(|x| (x - lse).exp()).collect();
    close(&g, &[0.0, 0.0, 0.0, p[0], p[1], p[2] - 1.0], 1e-15);
    // One-hot probabilities agree with classes. A class with logit -inf and probability zero
    // contributes zero.
    let hot = value(from_ref(&labels), |cx, v| {
        cx.one_hot(v[0], &Dim::Const(3), DType::F64)
    });
    close(
        &value(&[x.clone(), hot.clone()], rows).to_f64(),
        &[0.0, lse + 0.5],
        1e-15,
    );
    close(&pull(&[x.clone(), hot], &[1.0, 1.0], rows), &g, 1e-15);
    let masked = [matrix(1, &[0.0, -INF, 0.0]), matrix(1, &[1.0, 0.0, 0.0])];
    close(&value(&masked, rows).to_f64(), &[2f64.ln()], 1e-15);
    let classes = [masked[0].clone(), Array::vector(vec![0i32])];
    close(&pull(&classes, &[1.0], rows), &[-0.5, 0.0, 0.5], 1e-15);
    let wide = matrix(1, &[0.0; 300]);
    close(
        &value(&[wide, Array::vector(vec![3u8])], rows).to_f64(),
        &[300f64.ln()],
        1e-15,
    );
    // A label out of range gives NaN, not zero.
    assert!(value(&[masked[0].clone(), Array::vector(vec![7i32])], rows).to_f64()[0].is_nan());
    check(&[matrix(2, &noise(6, 9)), labels], rows);
    check(
        &[
            matrix(2, &noise(6, 9)),
            matrix(2, &[0.2, 0.3, 0.5, 0.1, 0.8, 0.1]),
        ],
        rows,
    );
    let mean = spelled("cross_entropy", &[], &[x, Array::vector(vec![0i64, 2])])
        .unwrap()
        .1;
    close(&mean[0].to_f64(), &[(lse + 0.5) / 2.0], 1e-15);
}

#[test]
fn matmul_aligns_as_numpy_does() {
    let of = |s: &[usize], seed| Array::from_vec(s, noise(s.iter().product(), seed)).unwrap();
    let shapes: &[(&[usize], &[usize], &[usize])] = &[
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[3], &[3], &[]),
        (&[3], &[3, 4], &[4]),
        (&[2, 3], &[3], &[2]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[5, 2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[6, 1, 2, 3], &[5, 3, 4], &[6, 5, 2, 4]),
        (&[1, 2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[3], &[5, 3, 4], &[5, 4]),
        (&[5, 2, 3], &[3], &[5, 2]),
        (&[5, 0, 3], &[3, 4], &[5, 0, 4]),
    ];
    for (a, b, want) in shapes {
        let (x, y) = (of(a, 1), of(b, 2));
        let z = value(&[x.clone(), y.clone()], |cx, v| cx.matmul(v[0], v[1]));
        assert_eq!(z.shape(), *want, "{a:?} {b:?}");
        let expected = matmul_by_loops(&x, &y, want);
        close(&z.to_f64(), &expected, 1e-14);
        check(&[x, y], |cx, v| cx.matmul(v[0], v[1]));
    }
    for (a, b) in [
        (&[2usize, 3][..], &[4usize, 2][..]),
        (&[], &[3]),
        (&[2, 2, 3], &[3, 3, 2]),
    ] {
        assert_eq!(
            spelled("matmul", &[], &[of(a, 1), of(b, 2)])
                .unwrap_err()
                .code(),
            Code::ShapeMismatch
        );
    }
}

fn matmul_by_loops(x: &Array, y: &Array, shape: &[usize]) -> Vec<f64> {
    let row = |s: &[usize]| {
        if s.len() == 1 {
            vec![1, s[0]]
        } else {
            s.to_vec()
        }
    };
    let column = |s: &[usize]| {
        if s.len() == 1 {
            vec![s[0], 1]
        } else {
            s.to_vec()
        }
    };
    let (xs, ys) = (row(x.shape()), column(y.shape()));
    let rank = xs.len().max(ys.len());
    let batch: Vec<usize> = (0..rank - 2)
        .map(|k| {
            let of = |s: &[usize]| (k + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
            of(&xs).max(of(&ys))
        })
        .collect();
    let (m, kk, n) = (xs[xs.len() - 2], xs[xs.len() - 1], ys[ys.len() - 1]);
    let (xv, yv) = (x.to_f64(), y.to_f64());
    let mut out = Vec::new();
    for at in 0..batch.iter().product() {
        let offset = |s: &[usize]| {
            let (mut rest, mut o, mut stride) = (at, 0, s[s.len() - 2] * s[s.len() - 1]);
            for k in (0..batch.len()).rev() {
                let i = rest % batch[k];
                rest /= batch[k];
                if let Some(j) = (k + s.len()).checked_sub(rank) {
                    o += if s[j] == 1 { 0 } else { i * stride };
                    stride *= s[j];
                }
            }
            o
        };
        let (ox, oy) = (offset(&xs), offset(&ys));
        for i in 0..m {
            for j in 0..n {
                out.push(
                    (0..kk)
                        .map(|k| xv[ox + i * kk + k] * yv[oy + k * n + j])
                        .sum(),
                );
            }
        }
    }
    assert_eq!(out.len(), shape.iter().product::<usize>());
    out
}

/// For large arguments there is no overflow, cancellation or NaN: shift-invariant functions have
/// the same derivatives as near zero, the others finite ones.
#[test]
fn second_derivatives_far_out() {
    let pick = |cx: &dyn Emit, y: Val| {
        let w = cx.constant(vector(&[1.0, -2.0, 0.5]));
        cx.reduce_sum(cx.mul(y, w), &[0])
    };
    let label = |cx: &dyn Emit| cx.constant(Array::scalar(1i32));
    let invariant: &[&CompositeOf<'_>] = &[
        &|cx, v| pick(cx, cx.softmax(v[0], 0)),
        &|cx, v| pick(cx, cx.log_softmax(v[0], 0)),
        &|cx, v| cx.logsumexp(v[0], &[0]),
        &|cx, v| cx.cross_entropy(v[0], label(cx), 0),
        &|cx, v| cx.std(v[0], &[0], 1.0),
        &|cx, v| cx.var(v[0], &[0], 0.0),
        &|cx, v| pick(cx, cx.layer_norm(v[0], None, None, &[0], 1e-5)),
    ];
    let near = [0.5, -0.25, 1.0];
    for f in invariant {
        for shift in [1000.0, -1000.0] {
            let far = near.map(|x| x + shift);
            close(
                &gradient(&[vector(&far)], f),
                &gradient(&[vector(&near)], f),
                1e-12,
            );
            close(&second(&far, f), &second(&near, f), 1e-11);
        }
        for x in [[1000.0, -1000.0, 0.0], [-1000.0, 1000.0, 1000.0]] {
            let all = [gradient(&[vector(&x)], f), second(&x, f)].concat();
            assert!(all.iter().all(|d| d.is_finite()), "{all:?}");
        }
    }
    let p = |x: f64| 1.0 / (1.0 + (-x).exp());
    for x in [-700.0, -30.0, 30.0, 700.0] {
        let (l, m) = (p(x), p(-x));
        for (got, want) in [
            (
                tower(x, 2, |cx, x| cx.softplus(x)),
                [if x > 0.0 { x + m } else { l }, l, l * m],
            ),
            (
                tower(x, 2, |cx, x| cx.silu(x)),
                [x * l, l + x * l * m, l * m * (2.0 + x * (m - l))],
            ),
        ] {
            for (g, w) in got.iter().zip(want) {
                assert!(
                    (g - w).abs() <= 1e-12 * w.abs(),
                    "{x}: {got:?} against {want:?}"
                );
            }
        }
    }
}

#[test]
fn max_with_index_gives_all_to_the_first() {
    let g = gradient(&[vector(&[1.0, 3.0, 3.0, 2.0])], |cx, v| {
        cx.pick_along(v[0], cx.argmax(v[0], 0), 0)
    });
    assert_eq!(g, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn clip_is_half_at_its_bounds() {
    let clip =
        |cx: &dyn Emit, v: &[Val]| cx.clip(v[0], cx.full_like(v[0], 0.0), cx.full_like(v[0], 1.0));
    assert_eq!(
        pull(&[vector(&[-1.0, 0.0, 0.5, 1.0, 2.0])], &[1.0; 5], clip),
        [0.0, 0.5, 1.0, 0.5, 0.0]
    );
}
