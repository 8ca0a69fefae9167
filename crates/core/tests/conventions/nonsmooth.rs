//! Lines 22 to 53: kinks, jumps, singular points, NaN.

use super::*;
use cotangent_core::ops::{Running, Select, Unary};

fn select_positive(cx: &dyn Emit, x: Val, a: Val, b: Val) -> Val {
    cx.select(cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0)), a, b)
}

#[test]
fn l22_abs_at_zero() {
    for x in [0.0, -0.0] {
        same(&grad_of([x], |cx, [x]| cx.abs(x)), &[0.0]);
    }
    same(&grad_of([-3.0], |cx, [x]| cx.abs(x)), &[-1.0]);
}

#[test]
fn l23_steps_have_derivative_zero_everywhere() {
    let steps = [
        Unary::Sign,
        Unary::Floor,
        Unary::Ceil,
        Unary::Trunc,
        Unary::RoundHalfEven,
        Unary::RoundHalfAway,
    ];
    for op in steps {
        for x in [0.0, -0.0, 0.5, 1.0, -2.7, INF] {
            same(&grad_of([x], |cx, [x]| cx.op(op, &[x])), &[0.0]);
        }
    }
}

#[test]
fn l24_relu_at_zero() {
    for (x, want) in [(0.0, 0.0), (-0.0, 0.0), (2.0, 1.0), (-2.0, 0.0)] {
        same(&grad_of([x], |cx, [x]| cx.relu(x)), &[want]);
    }
}

#[test]
fn l25_maximum_and_minimum_share_ties() {
    same(
        &grad_of([0.0], |cx, [x]| cx.maximum(x, cx.full_like(x, 0.0))),
        &[0.5],
    );
    same(
        &grad_of([1.0, 1.0], |cx, [x, y]| cx.maximum(x, y)),
        &[0.5, 0.5],
    );
    same(
        &grad_of([1.0, 1.0], |cx, [x, y]| cx.minimum(x, y)),
        &[0.5, 0.5],
    );
    same(
        &grad_of([2.0, 1.0], |cx, [x, y]| cx.minimum(x, y)),
        &[0.0, 1.0],
    );
}

#[test]
fn l29_clip_at_a_bound() {
    let clip =
        |cx: &dyn Emit, [x]: [Val; 1]| cx.clamp(cx.full_like(x, 0.0), x, cx.full_like(x, 1.0));
    let composite =
        |cx: &dyn Emit, [x]: [Val; 1]| cx.clip(x, cx.full_like(x, 0.0), cx.full_like(x, 1.0));
    for (x, want) in [(0.0, 0.5), (1.0, 0.5), (0.3, 1.0), (-1.0, 0.0), (2.0, 0.0)] {
        same(&grad_of([x], clip), &[want]);
        same(&grad_of([x], composite), &[want]);
    }
}

#[test]
fn l30_select_and_where() {
    let choose =
        |cx: &dyn Emit, [x, y]: [Val; 2]| select_positive(cx, x, cx.mul(x, x), cx.mul(y, y));
    same(&grad_of([3.0, 5.0], choose), &[6.0, 0.0]);
    same(&grad_of([-3.0, 5.0], choose), &[0.0, 10.0]);
    let single =
        |cx: &dyn Emit, [x]: [Val; 1]| select_positive(cx, x, cx.sqrt(x), cx.full_like(x, 0.0));
    same(&grad_of([0.0], single), &[NAN]);
    let f = scalars(single);
    same(
        &flat(run(
            &grad(&strong_zero(), &f, f.params()).unwrap(),
            &at([0.0]),
        )),
        &[0.0],
    );
    let double = |cx: &dyn Emit, [x]: [Val; 1]| {
        let safe = select_positive(cx, x, x, cx.full_like(x, 1.0));
        select_positive(cx, x, cx.sqrt(safe), cx.full_like(x, 0.0))
    };
    let f = scalars(double);
    for ad in [ad(), strong_zero()] {
        same(
            &flat(run(&grad(&ad, &f, f.params()).unwrap(), &at([0.0]))),
            &[0.0],
        );
    }
    // The predicate has no derivative.
    let f = build([Type::scalar(DType::Bool), f64s(&[])], |cx, [p, x]| {
        vec![cx.op(Select, &[p, x, x])]
    });
    assert_eq!(
        grad(&ad(), &f, &f.params()[..1]).unwrap_err().code(),
        Code::IntegerInput
    );
}

#[test]
fn l31_to_l33_infinite_slopes() {
    same(&grad_of([0.0], |cx, [x]| cx.sqrt(x)), &[INF]);
    same(
        &grad_of([0.0], |cx, [x]| cx.pow(x, cx.full_like(x, 0.5))),
        &[INF],
    );
    same(&grad_of([0.0], |cx, [x]| cx.log(x)), &[INF]);
}

#[test]
fn l34_to_l38_powers_at_zero_and_of_negative_numbers() {
    let pow = |x: f64, y: f64| grad_of([x, y], |cx, [x, y]| cx.pow(x, y));
    same(&pow(0.0, 0.0), &[0.0, 0.0]);
    same(&pow(0.0, 1.0), &[1.0, 0.0]);
    same(&pow(0.0, 2.0), &[0.0, 0.0]);
    same(&pow(-2.0, 3.0), &[12.0, NAN]);
    same(&pow(0.0, -1.0), &[-INF, -INF]);
}

#[test]
fn l39_integer_powers() {
    for (n, want) in [(0, 0.0), (1, 1.0), (2, 0.0)] {
        same(&grad_of([0.0], |cx, [x]| cx.integer_pow(x, n)), &[want]);
    }
    let f = scalars(|cx, [x]| cx.integer_pow(x, 2));
    let g = grad(&ad(), &f, f.params()).unwrap();
    assert!(!ops(&g).contains(&"log".into()), "{:?}", ops(&g));
    same(&flat(run(&g, &at([-3.0]))), &[-6.0]);
}

#[test]
fn l40_zero_times_infinity() {
    let f = scalars(|cx, [x]| cx.mul(cx.full_like(x, 0.0), cx.exp(x)));
    let of =
        |ad: &AdContext, f: &Function| flat(run(&grad(ad, f, f.params()).unwrap(), &at([1000.0])));
    same(&of(&ad(), &f), &[NAN]);
    same(&of(&strong_zero(), &f), &[0.0]);
    let exp = scalars(|cx, [x]| cx.exp(x));
    let back = |ad: &AdContext| {
        flat(run(
            &vjp(ad, &exp, exp.params()).unwrap(),
            &at([1000.0, 0.0]),
        ))
    };
    same(&back(&ad()), &[NAN]);
    same(&back(&strong_zero()), &[0.0]);
    // The derivative of an operation without a cotangent is not computed.
    let f = build([f64s(&[]), f64s(&[])], |cx, [x, y]| {
        vec![cx.mul(cx.stop_gradient(cx.exp(x)), y)]
    });
    same(
        &flat(run(
            &grad(&ad(), &f, &f.params()[..1]).unwrap(),
            &at([1000.0, 1.0]),
        )),
        &[0.0],
    );
}

#[test]
fn l42_atan2_at_the_origin() {
    same(
        &grad_of([0.0, 0.0], |cx, [y, x]| cx.atan2(y, x)),
        &[0.0, 0.0],
    );
}

#[test]
fn l46_xlogy_at_zero() {
    same(
        &grad_of([0.0, 0.0], |cx, [x, y]| cx.xlogy(x, y)),
        &[-INF, 0.0],
    );
    same(
        &flat(run(&scalars(|cx, [x, y]| cx.xlogy(x, y)), &at([0.0, 0.0]))),
        &[0.0],
    );
    close(
        &grad_of([0.0, 2.0], |cx, [x, y]| cx.xlogy(x, y)),
        &[2f64.ln(), 0.0],
    );
}

#[test]
fn l48_remainder() {
    // 7.5 = 3 * 2 + 1.5: the derivative in the divisor is minus the integer quotient.
    let g = grad_of([7.5, 2.0], |cx, [x, y]| cx.rem(x, y));
    same(&g, &[1.0, -3.0]);
}

#[test]
fn l52_nan_where_nothing_depends_on_it() {
    same(&grad_of([NAN], |cx, [x]| cx.scale_by(2.0, x)), &[2.0]);
    let f = scalars(|cx, [x]| cx.select(cx.is_nan(x), cx.full_like(x, 0.0), cx.mul(x, x)));
    let of = |ad: &AdContext| flat(run(&grad(ad, &f, f.params()).unwrap(), &at([NAN])));
    same(&of(&ad()), &[NAN]);
    same(&of(&strong_zero()), &[0.0]);
}

#[test]
fn l53_signs_of_zeros() {
    // d(-x * 0)/dx = -0: a first cotangent is never added to +0.
    let g = grad_of([2.0], |cx, [x]| cx.mul(cx.neg(x), cx.full_like(x, 0.0)));
    assert!(g[0] == 0.0 && g[0].is_sign_negative());
    let f = build([f64s(&[])], |_, [x]| vec![x]);
    let g = flat(run(&vjp(&ad(), &f, f.params()).unwrap(), &at([1.0, -0.0])));
    assert!(g[0].is_sign_negative());
}

#[test]
fn l26_l27_reduce_max_shares_ties_and_keeps_nan() {
    let max = |x: &[f64]| grad_sum(x, |cx, x| cx.reduce_max(x, &[0]));
    same(&max(&[1.0, 3.0, 3.0, 2.0]), &[0.0, 0.5, 0.5, 0.0]);
    same(
        &grad_sum(&[1.0, 3.0, 1.0], |cx, x| cx.reduce_min(x, &[0])),
        &[0.5, 0.0, 0.5],
    );
    same(&max(&[1.0, NAN, 3.0]), &[NAN; 3]);
}

#[test]
fn l49_products_with_zeros() {
    let prod = |x: &[f64]| grad_sum(x, |cx, x| cx.reduce_prod(x, &[0]));
    same(&prod(&[0.0, 2.0, 3.0]), &[6.0, 0.0, 0.0]);
    same(&prod(&[0.0, 0.0, 3.0]), &[0.0; 3]);
    same(
        &grad_sum(&[2.0, 0.0, 3.0], |cx, x| cx.cumulative(Running::Prod, x, 0)),
        &[1.0, 8.0, 0.0],
    );
}

#[test]
fn l28_the_element_at_argmax_is_the_first() {
    let at_argmax = |cx: &dyn Emit, x: Val| cx.dynamic_slice(x, &[cx.argmax(x, 0)], &[1.into()]);
    same(
        &grad_sum(&[1.0, 3.0, 3.0, 2.0], at_argmax),
        &[0.0, 1.0, 0.0, 0.0],
    );
}

#[test]
fn l41_the_norm_of_zero() {
    same(
        &grad_sum(&[0.0, 0.0], |cx, x| cx.norm(x, &[0])),
        &[0.0, 0.0],
    );
    close(
        &grad_sum(&[3.0, 4.0], |cx, x| cx.norm(x, &[0])),
        &[0.6, 0.8],
    );
}

#[test]
fn l43_spread_of_equal_numbers() {
    same(
        &grad_sum(&[2.0, 2.0, 2.0], |cx, x| cx.std(x, &[0], 0.0)),
        &[0.0; 3],
    );
    let f = build([f64s(&[1])], |cx, [x]| vec![cx.var(x, &[0], 1.0)]);
    same(&flat(run(&f, &[vector(&[2.0])])), &[NAN]);
    same(
        &flat(run(
            &grad(&ad(), &f, f.params()).unwrap(),
            &[vector(&[2.0])],
        )),
        &[NAN],
    );
}

#[test]
fn l44_logsumexp_of_infinities() {
    let slope = |x: &[f64]| grad_sum(x, |cx, x| cx.logsumexp(x, &[0]));
    same(&slope(&[-INF, -INF]), &[NAN, NAN]);
    same(&slope(&[INF, 0.0]), &[NAN, 0.0]);
    let masked = |cx: &dyn Emit, x: Val| {
        let nothing = cx.compare(x, Comparison::Ne, x);
        cx.masked_logsumexp(x, nothing, &[0])
    };
    same(&grad_sum(&[1.0, 2.0], masked), &[0.0, 0.0]);
    same(&grad_sum(&[-INF, -INF], masked), &[0.0, 0.0]);
}

#[test]
fn l45_softmax_of_minus_infinity() {
    let first = |cx: &dyn Emit, x: Val| cx.slice_axis(cx.softmax(x, 0), 0, 0, 1);
    same(&grad_sum(&[0.0, -INF], first), &[0.0, 0.0]);
}

#[test]
fn l47_sinc_at_zero() {
    same(&[nth_grad(1, 0.0, |cx, x| cx.sinc(x))], &[0.0]);
    close(
        &[nth_grad(2, 0.0, |cx, x| cx.sinc(x))],
        &[-std::f64::consts::PI.powi(2) / 3.0],
    );
}

#[test]
fn l50_sorting_with_ties_is_stable() {
    let f = build([f64s(&[3])], |cx, [x]| vec![cx.sort(x, 0, false)]);
    let back = vjp(&ad(), &f, f.params()).unwrap();
    same(
        &flat(run(
            &back,
            &[vector(&[2.0, 1.0, 2.0]), vector(&[10.0, 20.0, 30.0])],
        )),
        &[20.0, 10.0, 30.0],
    );
}

#[test]
fn l51_the_median_of_four_is_a_mean_of_two() {
    same(
        &grad_sum(&[1.0, 2.0, 3.0, 4.0], |cx, x| cx.median(x, 0)),
        &[0.0, 0.5, 0.5, 0.0],
    );
    same(
        &grad_sum(&[4.0, 1.0, 3.0, 2.0], |cx, x| cx.median(x, 0)),
        &[0.0, 0.0, 0.5, 0.5],
    );
}
