//! Cumulative operations, and the linear recurrence that is their derivative.

use crate::support::{check, gradient, noise, pull, value, vector};
use cotangent_core::ops::{Cumulative, Factors, LinearRecurrence, Running};
use cotangent_core::{Array, Emit, Val};
use std::slice::from_ref;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn run(op: Running, v: &[f64], reverse: bool, exclusive: bool) -> Vec<f64> {
    value(&[vector(v)], |cx, x| {
        cx.op(
            Cumulative {
                op,
                axis: 0,
                reverse,
                exclusive,
            },
            x,
        )
    })
    .to_f64()
}

#[test]
fn values() {
    let x = [3.0, 1.0, 4.0, 1.5];
    assert_eq!(run(Running::Sum, &x, false, false), [3.0, 4.0, 8.0, 9.5]);
    assert_eq!(run(Running::Sum, &x, true, false), [9.5, 6.5, 5.5, 1.5]);
    assert_eq!(run(Running::Sum, &x, false, true), [0.0, 3.0, 4.0, 8.0]);
    assert_eq!(run(Running::Prod, &x, true, true), [6.0, 6.0, 1.5, 1.0]);
    assert_eq!(run(Running::Max, &x, false, false), [3.0, 3.0, 4.0, 4.0]);
    assert_eq!(run(Running::Min, &x, true, false), [1.0, 1.0, 1.5, 1.5]);
    assert_eq!(run(Running::Max, &x, false, true), [-INF, 3.0, 3.0, 4.0]);
    let y = run(
        Running::LogSumExp,
        &[-INF, 1000.0, 1000.0, -1000.0, INF],
        false,
        false,
    );
    assert_eq!((y[0], y[1], y[3], y[4]), (-INF, 1000.0, y[2], INF));
    assert!((y[2] - 1000.0 - 2f64.ln()).abs() < 1e-12);
    assert!(run(Running::Max, &[1.0, NAN, 2.0], false, false)[2].is_nan());
    assert!(run(Running::Sum, &[-0.0], false, false)[0].is_sign_negative());
    // Every prefix of a cumulative sum is as accurate as a separate sum.
    let hard = run(Running::Sum, &[1e16, 1.0, -1e16, 1.0], false, false);
    assert_eq!(hard[3], 2.0);
    let two = value(
        &[Array::from_vec([2, 2], vec![1i32, 2, 3, 4]).unwrap()],
        |cx, v| cx.cumulative(Running::Sum, v[0], 0),
    );
    assert_eq!(two.as_slice::<i32>().unwrap(), [1, 2, 4, 6]);
}

#[test]
fn product_gradient_with_zeros() {
    let sum = |cx: &dyn Emit, v: &[Val]| cx.reduce_sum(cx.cumulative(Running::Prod, v[0], 0), &[0]);
    assert_eq!(gradient(&[vector(&[2.0, 0.0, 3.0])], sum), [1.0, 8.0, 0.0]);
    assert_eq!(gradient(&[vector(&[0.0, 0.0, 3.0])], sum), [1.0, 0.0, 0.0]);
    assert_eq!(gradient(&[vector(&[INF])], sum), [1.0]);
}

#[test]
fn extremum_gradient_is_split_among_ties_so_far() {
    let max = |cx: &dyn Emit, v: &[Val]| cx.cumulative(Running::Max, v[0], 0);
    let x = [vector(&[1.0, 3.0, 3.0, 2.0, 3.0, 5.0])];
    let row = |k: usize| {
        let mut ct = vec![0.0; 6];
        ct[k] = 1.0;
        pull(&x, &ct, max)
    };
    assert_eq!(row(0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(row(2), [0.0, 0.5, 0.5, 0.0, 0.0, 0.0]);
    assert_eq!(row(3), [0.0, 0.5, 0.5, 0.0, 0.0, 0.0]);
    crate::support::close(
        &row(4),
        &[0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0, 0.0],
        1e-15,
    );
    assert_eq!(row(5), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let nan = pull(&[vector(&[1.0, NAN, 3.0])], &[0.0, 0.0, 1.0], max);
    assert!(nan.iter().all(|g| g.is_nan()));
}

#[test]
fn nothing_before_the_first_finite_exponent() {
    let lse = |cx: &dyn Emit, v: &[Val]| cx.cumulative(Running::LogSumExp, v[0], 0);
    assert_eq!(
        pull(&[vector(&[-INF, -INF, 2.0])], &[1.0, 1.0, 1.0], lse),
        [0.0, 0.0, 1.0]
    );
    let g = pull(&[vector(&[1000.0, 1000.0, -1000.0])], &[0.0, 0.0, 1.0], lse);
    crate::support::close(&g, &[0.5, 0.5, 0.0], 1e-12);
}

#[test]
fn derivatives_to_second_order() {
    let x = Array::from_vec([2, 4], noise(8, 11)).unwrap();
    for op in [
        Running::Sum,
        Running::Prod,
        Running::Max,
        Running::Min,
        Running::LogSumExp,
    ] {
        for (axis, reverse, exclusive) in [
            (0, false, false),
            (1, false, false),
            (1, true, false),
            (1, true, true),
        ] {
            // Exclusive extrema start at infinity.
            if exclusive && !matches!(op, Running::Sum | Running::Prod) {
                continue;
            }
            check(from_ref(&x), |cx, v| {
                let y = cx.op(
                    Cumulative {
                        op,
                        axis,
                        reverse,
                        exclusive,
                    },
                    &[cx.mul(v[0], cx.exp(v[0]))],
                );
                cx.mul(y, y)
            });
        }
    }
    let z = crate::support::noise_array(&Array::full([4], cotangent_core::C128::ZERO).unwrap(), 2);
    check(&[z], |cx, v| cx.cumulative(Running::Prod, v[0], 0));
}

#[test]
fn recurrence_values_and_derivatives() {
    let (a, b) = (vector(&[9.0, 2.0, 3.0]), vector(&[1.0, 10.0, 100.0]));
    let run = |reverse, exclusive| {
        let of = LinearRecurrence {
            axis: 0,
            reverse,
            exclusive,
            factors: Factors::Any,
        };
        value(&[a.clone(), b.clone()], |cx, v| {
            cx.linear_recurrence(v[0], v[1], of)
        })
        .to_f64()
    };
    assert_eq!(run(false, false), [1.0, 12.0, 136.0]);
    assert_eq!(run(false, true), [0.0, 1.0, 12.0]);
    assert_eq!(run(true, false), [9.0 * 210.0 + 1.0, 210.0, 100.0]);
    let (a, b) = (
        Array::from_vec([3, 2], noise(6, 1)).unwrap(),
        Array::from_vec([3, 2], noise(6, 2)).unwrap(),
    );
    for (reverse, exclusive) in [(false, false), (false, true), (true, false), (true, true)] {
        let of = LinearRecurrence {
            axis: 0,
            reverse,
            exclusive,
            factors: Factors::Any,
        };
        check(&[a.clone(), b.clone()], |cx, v| {
            cx.linear_recurrence(v[0], v[1], of)
        });
    }
}
