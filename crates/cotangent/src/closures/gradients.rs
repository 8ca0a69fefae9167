//! Gradients of closures that return a real scalar: by every leaf of the argument (`grad`,
//! `value_and_grad`), by the first of two arguments (`.._of`), and with further results (`.._aux`).

use super::capture::{Closed, inline, listed_as, with};
use super::derivatives::{ad, check_tangents, derivative_at};
use super::tree::{Returns, Tree, leaves};
use crate::here::here;
use crate::{Loc, Result, TracedTensor};
use cotangent_core::transform as core;

/// The results of `f` at `x`, and the gradient of the first one by the first `n` leaves of `x`.
fn by_leaves<A: Tree, R: Returns>(
    loc: Loc,
    f: impl FnOnce(A) -> R,
    x: &A,
    n: usize,
) -> Result<(R::Out, Vec<TracedTensor>)> {
    let closed = Closed::like("f", loc, x, f)?;
    let (f, captures) = closed.function()?;
    let g = core::value_and_grad_aux(&ad(), &f, &f.params()[..n]).map_err(|e| e.at(loc))?;
    let mut y = inline(loc, &g, &with(x, &captures))?;
    let gradient = listed_as(y.split_off(f.results().len()), &leaves(x)[..n]);
    Ok((closed.out.rebuild(&mut y.into_iter()), gradient))
}

/// The closure that returns the results of `f`, and the gradient of the first one.
fn with_gradient<A: Tree, R: Returns>(
    loc: Loc,
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<(R::Out, A)> {
    move |x| {
        check_tangents(&x).map_err(|e| e.at(loc))?;
        let (y, g) = by_leaves(loc, &f, &x, leaves(&x).len())?;
        Ok((y, x.rebuild(&mut g.into_iter())))
    }
}

/// The gradient of a closure that returns a real scalar: a tree like its argument.
///
/// ```
/// use cotangent::{TracedTensor, closures::grad};
/// let x = || TracedTensor::scalar(2.0);
/// let f = |x: TracedTensor| &x * &x * &x;
/// assert_eq!(grad(f)(x())?.item::<f64>()?, 12.0);
/// assert_eq!(grad(grad(f))(x())?.item::<f64>()?, 12.0);
/// // Several arguments are a tuple.
/// let (dx, dy) = grad(|(x, y): (TracedTensor, TracedTensor)| x.sin() * y)((x(), x()))?;
/// assert_eq!(dx.item::<f64>()?, 2.0 * 2f64.cos());
/// assert_eq!(dy.item::<f64>()?, 2f64.sin());
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn grad<A: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<A> {
    let loc = here();
    move |x| derivative_at(loc, &f, &x, |f, wrt| core::grad(&ad(), f, wrt))
}

/// The value of a closure that returns a real scalar, and its gradient, by one forward and one
/// reverse pass.
///
/// ```
/// use cotangent::{TracedTensor, closures::value_and_grad};
/// let (y, g) = value_and_grad(|x: TracedTensor| x.exp())(TracedTensor::scalar(0.0))?;
/// assert_eq!((y.item::<f64>()?, g.item::<f64>()?), (1.0, 1.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn value_and_grad<A: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<(TracedTensor, A)> {
    with_gradient(here(), f)
}

/// The gradient by the first argument of a closure of two. The second argument is data: it may
/// hold integers, and may be a tuple.
///
/// ```
/// use cotangent::{TracedTensor, closures::grad_of, ops::Bounds};
/// let x = TracedTensor::vector(vec![1.0, 2.0]);
/// let at = TracedTensor::scalar(1i64);
/// let g = grad_of(|x: TracedTensor, i: TracedTensor| x.take(&i, 0, Bounds::Error).square())(x, at)?;
/// assert_eq!(g.to_vec::<f64>()?, [0.0, 4.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn grad_of<A: Tree, B: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A, B) -> R,
) -> impl Fn(A, B) -> Result<A> {
    let both = value_and_grad_of(f);
    move |a, b| Ok(both(a, b)?.1)
}

/// The value of a closure of two arguments, and its gradient by the first one. The second argument
/// is data: it may hold integers, and may be a tuple.
///
/// ```
/// use cotangent::{TracedTensor, closures::value_and_grad_of};
/// let loss = |w: TracedTensor, (x, labels): (TracedTensor, TracedTensor)| {
///     Ok(x.matmul(&w)?.cross_entropy(&labels, 1).mean(..))
/// };
/// let w = TracedTensor::from_vec_row_major([1, 2], vec![0.0, 0.0]);
/// let x = TracedTensor::from_vec_row_major([2, 1], vec![1.0, 3.0]);
/// let labels = TracedTensor::vector(vec![0i32, 1]);
/// let (l, g) = value_and_grad_of(loss)(w, (x, labels))?;
/// assert_eq!(l.item::<f64>()?, 2f64.ln());
/// assert_eq!(g.to_vec::<f64>()?, [0.5, -0.5]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn value_and_grad_of<A: Tree, B: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A, B) -> R,
) -> impl Fn(A, B) -> Result<(TracedTensor, A)> {
    let loc = here();
    move |a, b| {
        check_tangents(&a).map_err(|e| e.at(loc))?;
        let (n, x) = (leaves(&a).len(), (a, b));
        let (y, g) = by_leaves(loc, |(a, b)| f(a, b), &x, n)?;
        Ok((y, x.0.rebuild(&mut g.into_iter())))
    }
}

/// The gradient of a closure that returns a real scalar and further results, and these results.
///
/// ```
/// use cotangent::{TracedTensor, closures::grad_aux};
/// let f = |x: TracedTensor| (x.square().sum(..), x.exp());
/// let (g, e) = grad_aux(f)(TracedTensor::scalar(0.0))?;
/// assert_eq!((g.item::<f64>()?, e.item::<f64>()?), (0.0, 1.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn grad_aux<A: Tree, B: Tree, R: Returns<Out = (TracedTensor, B)>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<(A, B)> {
    let both = value_and_grad_aux(f);
    move |x| both(x).map(|((_, aux), g)| (g, aux))
}

/// The results of a closure that returns a real scalar and further results, and the gradient of the
/// scalar.
///
/// ```
/// use cotangent::{TracedTensor, closures::value_and_grad_aux};
/// let f = |x: TracedTensor| {
///     let r = &x - 1.0;
///     (r.square().sum(..), r)
/// };
/// let ((l, r), g) = value_and_grad_aux(f)(TracedTensor::scalar(3.0))?;
/// assert_eq!((l.item::<f64>()?, r.item::<f64>()?, g.item::<f64>()?), (4.0, 2.0, 4.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn value_and_grad_aux<A: Tree, B: Tree, R: Returns<Out = (TracedTensor, B)>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<((TracedTensor, B), A)> {
    with_gradient(here(), f)
}
