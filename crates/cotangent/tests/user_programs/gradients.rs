//! Gradients by the first of two arguments, and with further results; names of leaves in messages.

use super::{T, at, text, vals, vector};
use cotangent::closures::{
    Tree, check, grad, grad_aux, grad_of, hessian, hvp, jacobian, jit, jvp, scan, value_and_grad,
    value_and_grad_aux, value_and_grad_of, vjp, vmap,
};
use cotangent::{Code, DType, Result};
use std::cell::Cell;

#[derive(Clone, Debug, Tree)]
struct Batch {
    x: T,
    labels: T,
}

fn batch() -> Batch {
    Batch {
        x: T::from_vec_row_major([3, 2], vec![1.0, 2.0, -1.0, 0.5, 0.25, -2.0]),
        labels: T::vector(vec![0i32, 2, 1]),
    }
}

fn weights() -> T {
    let w = (0..6).map(|k| (f64::from(k) * 0.7).sin());
    T::from_vec_row_major([2, 3], w.collect::<Vec<f64>>())
}

fn loss(w: T, b: Batch) -> Result<T> {
    Ok(b.x.matmul(&w)?.cross_entropy(&b.labels, 1).mean(..))
}

#[test]
fn the_second_argument_may_hold_integers() {
    let b = batch();
    let captured = |w: T| loss(w, b.clone());
    let (want_l, want_g) = value_and_grad(captured)(weights()).unwrap();
    let (l, g) = value_and_grad_of(loss)(weights(), b.clone()).unwrap();
    assert_eq!((vals(&l), vals(&g)), (vals(&want_l), vals(&want_g)));
    assert_eq!(
        vals(&grad_of(loss)(weights(), b.clone()).unwrap()),
        vals(&want_g)
    );
    assert!(check(captured, weights()).unwrap().passed());
    // Compiled, with other data of the same types.
    let traced = Cell::new(0);
    let step = jit(|(w, b): (T, Batch)| {
        traced.set(traced.get() + 1);
        value_and_grad_of(loss)(w, b)
    });
    for labels in [vec![0i32, 2, 1], vec![1, 1, 0]] {
        let b = Batch {
            labels: T::vector(labels),
            ..b.clone()
        };
        let want = grad(|w: T| loss(w, b.clone()))(weights()).unwrap();
        let (_, g) = step((weights(), b)).unwrap();
        assert_eq!(vals(&g), vals(&want));
    }
    assert_eq!(traced.get(), 1);
}

/// d/dx of x * d/dy (x y) at y = 1 is 2 x, whether `x` is captured or data.
#[test]
fn the_second_argument_is_differentiated_by_outer_transforms() {
    let f = |x: T| {
        let dy = grad_of(|y: T, x: T| x * y)(at(1.0), x.clone())?;
        Ok(&x * &dy)
    };
    assert_eq!(vals(&grad(f)(at(3.0)).unwrap()), [6.0]);
    let many = vmap(|x: T| grad_of(|y: T, x: T| (x * y).powi(2))(at(2.0), x));
    assert_eq!(vals(&many(vector(&[1.0, 3.0])).unwrap()), [4.0, 36.0]);
}

#[test]
fn auxiliary_results_have_no_part_in_the_gradient() {
    let f = |x: T| {
        let e = x.exp();
        (
            (&e * &x).sum(..),
            (e, T::scalar(7i32), x.greater(&x.zeros_like())),
        )
    };
    let x = vector(&[0.5, -1.0]);
    let ((l, (e, seven, positive)), g) = value_and_grad_aux(f)(x.clone()).unwrap();
    let (want_l, want_g) = value_and_grad(|x: T| f(x).0)(x.clone()).unwrap();
    assert_eq!((vals(&l), vals(&g)), (vals(&want_l), vals(&want_g)));
    assert_eq!(vals(&e), [0.5f64.exp(), (-1f64).exp()]);
    assert_eq!(seven.item::<i32>().unwrap(), 7);
    assert_eq!(
        positive.to_tensor().unwrap().to_vec::<bool>().unwrap(),
        [true, false]
    );
    let (g, (e, ..)) = grad_aux(f)(x).unwrap();
    assert_eq!(
        (vals(&g), vals(&e)),
        (vals(&want_g), vec![0.5f64.exp(), (-1f64).exp()])
    );
}

/// A loop is a single operation, so it would be run twice if loss and auxiliary results were two
/// programs.
#[test]
fn auxiliary_results_are_computed_once() {
    let f = |x: T| {
        let step = |c: T, s: T| (&c * &s, &c + &s);
        let (c, all) = scan(step, x.clone(), vector(&[1.0, 2.0, 3.0]))?;
        Ok((c, all))
    };
    let g = jit(value_and_grad_aux(f));
    let ((c, all), dc) = g(at(2.0)).unwrap();
    assert_eq!(
        (vals(&c), vals(&all), vals(&dc)),
        (vec![12.0], vec![3.0, 4.0, 7.0], vec![6.0])
    );
    let forward_loops = |table: String| table.matches("scan").count();
    let both = cotangent::closures::profile(value_and_grad_aux(f), at(2.0)).unwrap();
    let alone = cotangent::closures::profile(value_and_grad(|x: T| Ok(f(x)?.0)), at(2.0)).unwrap();
    assert_eq!(
        forward_loops(both.to_string()),
        forward_loops(alone.to_string())
    );
}

/// Outer transforms differentiate auxiliary results.
#[test]
fn auxiliary_results_are_differentiated_by_outer_transforms() {
    let f = |x: T| {
        let (_, aux) = grad_aux(|x: T| (x.sin(), x.powi(3)))(x)?;
        Ok(aux)
    };
    assert_eq!(vals(&grad(f)(at(2.0)).unwrap()), [12.0]);
    let f = |x: T| Ok(grad_aux(|x: T| (x.powi(3), x.exp()))(x)?.0);
    assert_eq!(vals(&grad(f)(at(2.0)).unwrap()), [12.0]);
}

#[test]
fn a_loss_that_is_no_real_scalar_is_an_error() {
    let vector_loss = value_and_grad_aux(|x: T| (x.clone(), x))(vector(&[1.0]));
    assert_eq!(vector_loss.unwrap_err().code(), Code::NonScalarOutput);
    let integer = value_and_grad_of(|x: T, _: T| x.astype(DType::I64))(at(1.0), at(1.0));
    assert_eq!(integer.unwrap_err().code(), Code::IntegerOutput);
}

#[test]
fn messages_name_the_leaf() {
    let three = || (at(1.0), at(2.0), T::vector(vec![1i32, 2]));
    let e = text(grad(|(a, ..): (T, T, T)| a)(three()));
    assert!(e.contains("with respect to `.2`, which is i32[2]"), "{e}");
    assert!(
        e.contains("value_and_grad_of") && e.contains("gradients.rs:"),
        "{e}"
    );
    let e = text(value_and_grad(|b: Batch| b.x.sum(..))(batch()));
    assert!(
        e.contains("with respect to `labels`, which is i32[3]"),
        "{e}"
    );
    let nested = |(b, _): (Vec<Batch>, T)| b[0].x.sum(..);
    for e in [
        text(value_and_grad_of(|x: (Vec<Batch>, T), _: ()| nested(x))(
            (vec![batch()], at(1.0)),
            (),
        )),
        text(jacobian(nested)((vec![batch()], at(1.0)))),
        text(hvp(nested)(
            (vec![batch()], at(1.0)),
            (vec![batch()], at(1.0)),
        )),
        text(grad_aux(|x: (Vec<Batch>, T)| (nested(x), ()))((
            vec![batch()],
            at(1.0),
        ))),
    ] {
        assert!(e.contains("with respect to `.0.0.labels`"), "{e}");
    }
    let e = text(hessian(|x: T| x.astype(DType::F64).sum(..))(T::vector(
        vec![1i64],
    )));
    assert!(
        e.contains("with respect to the argument, which is i64[1]"),
        "{e}"
    );
}

#[test]
fn messages_about_directions_and_axes_name_the_leaf() {
    let pair = |a: &[f64], b: &[f64]| (vector(a), vector(b));
    let f = |(a, b): (T, T)| (a.sum(..), b);
    let x = || pair(&[1.0], &[2.0, 3.0]);
    let e = text(jvp(f, x(), pair(&[1.0], &[2.0])));
    assert!(
        e.contains("the tangent of `.1` must have the type f64[2], got f64[1]"),
        "{e}"
    );
    let (_, back) = vjp(f, x()).unwrap();
    let e = text(back((at(1.0), at(1.0))));
    assert!(
        e.contains("the cotangent of `.1` must have the type f64[2], got f64[]"),
        "{e}"
    );
    let (_, back) = vjp(|x: T| x.sum(..), vector(&[1.0])).unwrap();
    let e = text(back(vector(&[1.0])));
    assert!(
        e.contains("the cotangent must have the type f64[], got f64[1]"),
        "{e}"
    );
    let e = text(vmap(f)((vector(&[1.0]), at(1.0))));
    assert!(
        e.contains("vmap over axis 0 of `.1`, which has type f64[]"),
        "{e}"
    );
    let e = text(vmap(f)(x()));
    assert!(e.contains("1, and 2 in `.1`"), "{e}");
    let e = text(scan(
        |c: T, _: (T, T)| (c, ()),
        at(1.0),
        (vector(&[1.0]), at(1.0)),
    ));
    assert!(e.contains("`.1` is f64[]"), "{e}");
}
