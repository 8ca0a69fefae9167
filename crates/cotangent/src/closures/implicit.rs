//! `root`, `fixed_point`, `argmin`, `linear_solve` of closures: values defined by an equation, and
//! their derivatives.
//!
//! ```text
//! r(c, x) = 0          dx = -(∂r/∂x)⁻¹ ∂r/∂c dc
//! ```
//! The captures of the closure are the equation's parameters `c`: outer transforms differentiate by
//! them. The iteration is not differentiated, and the derivative by its start is zero. Reverse mode
//! adds one transposed solve, at every order.

use super::capture::{Closed, write};
use super::tree::{Returns, Tree, owned, structure};
use crate::here::here;
use crate::{Code, Emit, Error, Function, Loc, Result, TracedTensor, Val, ops};
use cotangent_core::ops::{Solver, Stopping};

/// The result of an iteration. Values that did not converge are an error at run time, and so are
/// their derivatives, unless [`Stopping::accept_unconverged`]. The flags can be read in any case.
///
/// ```
/// use cotangent::TracedTensor;
/// use cotangent::closures::{Stopping, fixed_point_with};
/// let few = Stopping { max_steps: Some(3), ..Stopping::default() };
/// let s = fixed_point_with(|x: TracedTensor| x.cos(), TracedTensor::scalar(1.0), few)?;
/// assert!(!s.converged.item::<bool>()?);
/// assert!(s.residual.item::<f64>()? > 1e-3);
/// assert_eq!(s.steps.item::<i64>()?, 3);
/// assert!(s.x.to_tensor().unwrap_err().to_string().contains("did not converge"));
/// let any = Stopping { accept_unconverged: true, ..few };
/// let s = fixed_point_with(|x: TracedTensor| x.cos(), TracedTensor::scalar(1.0), any)?;
/// assert!((s.x.item::<f64>()? - 0.739).abs() < 0.1);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solution<T> {
    /// The values.
    pub x: T,
    /// Norm of the equation's residual, an `f64` scalar.
    pub residual: TracedTensor,
    /// Number of steps, an `i64` scalar.
    pub steps: TracedTensor,
    /// Whether they are a solution, a boolean scalar.
    pub converged: TracedTensor,
}

/// The emitter of a solver, from constants, the start, and the region of the equation.
type Solve<'a> = dyn Fn(&dyn Emit, &[Val], &[Val], &Function) -> ops::Solution + 'a;

/// Converts the equation to a closed function, and solves it. Execution returns an error with this
/// message if there is no convergence, unless `stop` accepts that.
fn solve<X: Tree, B: Tree>(
    loc: Loc,
    closed: &Closed<B>,
    start: &X,
    (stop, message): (Stopping, &str),
    how: &Solve<'_>,
) -> Result<Solution<X>> {
    let captures = closed.captures()?;
    let f = closed.after(&captures)?;
    let nc = captures.len();
    let args = [captures, owned(start)].concat();
    let mut y = write(loc, &args, |cx, x| {
        let (c, x) = x.split_at(nc);
        let s = how(cx, c, x, &f);
        let x = s.checked_unless_accepted(cx, stop, message);
        [&x[..], &[s.residual, s.steps, s.converged]].concat()
    })?;
    let rest = y.split_off(y.len() - 3);
    let [residual, steps, converged] = <[TracedTensor; 3]>::try_from(rest).expect("three");
    Ok(Solution {
        x: start.rebuild(&mut y.into_iter()),
        residual,
        steps,
        converged,
    })
}

fn same<X: Tree>(loc: Loc, what: &str, given: &X, like: &X) -> Result<()> {
    let (got, want) = (structure(given), structure(like));
    if got != want {
        let text =
            format!("the closure of `{what}` returns the structure {got} for unknowns {want}");
        return Err(Error::new(Code::CarryMismatch, text).at(loc));
    }
    Ok(())
}

fn solve_root<X: Tree, R: Returns<Out = X>>(
    loc: Loc,
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    let closed = Closed::like("equation", loc, &start, f)?;
    same(loc, "root", &closed.out, &start)?;
    let message = "`root`: Newton's method did not converge";
    solve(loc, &closed, &start, (stop, message), &|cx, c, x, f| {
        cx.root(c, x, stop, |cx, c, x| cx.inline(f, &[c, x].concat()))
    })
}

/// A solution `x` of `f(x) = 0`, by Newton's method from `start`. An error at run time if the
/// iteration does not converge.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, root}};
/// let square_root = |a: TracedTensor| root(|x: TracedTensor| &x * &x - &a, TracedTensor::scalar(1.0));
/// let four = TracedTensor::scalar(4.0);
/// assert_eq!(square_root(four.clone())?.item::<f64>()?, 2.0);
/// assert_eq!(grad(square_root)(four.clone())?.item::<f64>()?, 0.25);
/// assert_eq!(grad(grad(square_root))(four)?.item::<f64>()?, -0.03125);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn root<X: Tree, R: Returns<Out = X>>(f: impl FnOnce(X) -> R, start: X) -> Result<X> {
    Ok(solve_root(here(), f, start, Stopping::default())?.x)
}

/// As [`root`], with flags and a choice of [`Stopping`].
///
/// ```
/// use cotangent::{TracedTensor, closures::{Stopping, root, root_with}};
/// let no_root = |x: TracedTensor| &x * &x + 1.0;
/// let s = root_with(no_root, TracedTensor::scalar(1.0), Stopping::default())?;
/// assert!(!s.converged.item::<bool>()?);
/// let error = root(no_root, TracedTensor::scalar(1.0))?.to_tensor().unwrap_err();
/// assert!(error.to_string().contains("did not converge"), "{error}");
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn root_with<X: Tree, R: Returns<Out = X>>(
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    solve_root(here(), f, start, stop)
}

fn solve_fixed_point<X: Tree, R: Returns<Out = X>>(
    loc: Loc,
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    let closed = Closed::like("fixed_point", loc, &start, f)?;
    same(loc, "fixed_point", &closed.out, &start)?;
    let message = "`fixed_point` did not converge";
    solve(loc, &closed, &start, (stop, message), &|cx, c, x, f| {
        cx.fixed_point(c, x, stop, |cx, c, x| cx.inline(f, &[c, x].concat()))
    })
}

/// A solution `x` of `f(x) = x`, by iterating `f` from `start`. An error at run time if the
/// iteration does not converge.
///
/// ```
/// use cotangent::{TracedTensor, closures::{fixed_point, grad}};
/// let dottie = |a: TracedTensor| fixed_point(|x: TracedTensor| (&a * &x).cos(), TracedTensor::scalar(0.5));
/// let x = dottie(TracedTensor::scalar(1.0))?.item::<f64>()?;
/// assert!((x - 0.7390851332151607).abs() < 1e-14);
/// // dx = -sin(a x) (x da + a dx)
/// let d = grad(dottie)(TracedTensor::scalar(1.0))?.item::<f64>()?;
/// assert!((d + x * x.sin() / (1.0 + x.sin())).abs() < 1e-12);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn fixed_point<X: Tree, R: Returns<Out = X>>(f: impl FnOnce(X) -> R, start: X) -> Result<X> {
    Ok(solve_fixed_point(here(), f, start, Stopping::default())?.x)
}

/// As [`fixed_point`], with flags and a choice of [`Stopping`].
#[track_caller]
pub fn fixed_point_with<X: Tree, R: Returns<Out = X>>(
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    solve_fixed_point(here(), f, start, stop)
}

fn minimize<X: Tree, R: Returns<Out = TracedTensor>>(
    loc: Loc,
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    let closed = Closed::like("loss", loc, &start, f)?;
    let message = "`argmin` did not converge";
    solve(loc, &closed, &start, (stop, message), &|cx, c, x, f| {
        cx.minimize(c, x, stop, |cx, c, x| cx.inline(f, &[c, x].concat())[0])
    })
}

/// A local minimizer of the real scalar `f(x)` near `start`. An error at run time if none is found.
///
/// The search ends where the gradient vanishes, and every step reduces `f`. The result is therefore
/// a minimum unless it is the start itself. A maximum or a saddle has no descent direction of first
/// order: start next to it instead.
///
/// ```
/// use cotangent::{TracedTensor, closures::{argmin, jacobian}};
/// // Ridge regression: the weights of a line through two points, and how they move with the data.
/// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
/// let slope = |y: TracedTensor| argmin(|w: TracedTensor| (&x * &w - &y).square().sum(..), TracedTensor::scalar(0.0));
/// let y = TracedTensor::from_vec_row_major(vec![2], vec![3.0, 6.0]);
/// assert!((slope(y.clone())?.item::<f64>()? - 3.0).abs() < 1e-12);
/// let d = jacobian(slope)(y)?.to_vec::<f64>()?;
/// assert!((d[0] - 0.2).abs() < 1e-12 && (d[1] - 0.4).abs() < 1e-12);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn argmin<X: Tree, R: Returns<Out = TracedTensor>>(
    f: impl FnOnce(X) -> R,
    start: X,
) -> Result<X> {
    Ok(minimize(here(), f, start, Stopping::default())?.x)
}

/// As [`argmin`], with flags and a choice of [`Stopping`].
#[track_caller]
pub fn argmin_with<X: Tree, R: Returns<Out = TracedTensor>>(
    f: impl FnOnce(X) -> R,
    start: X,
    stop: Stopping,
) -> Result<Solution<X>> {
    minimize(here(), f, start, stop)
}

/// A solution `x` of `matvec(x) = b` for a linear closure, by matrix-free products or by the matrix
/// that they form. An error at run time if no solution is found.
///
/// ```
/// use cotangent::{TracedTensor, closures::{Solver, grad, linear_solve}};
/// let b = TracedTensor::scalar(6.0);
/// let solve = |a: TracedTensor| linear_solve(|x: TracedTensor| &a * &x, b.clone(), Solver::Gmres);
/// let two = TracedTensor::scalar(2.0);
/// assert_eq!(solve(two.clone())?.item::<f64>()?, 3.0);
/// assert_eq!(grad(solve)(two)?.item::<f64>()?, -1.5);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn linear_solve<X: Tree, R: Returns<Out = X>>(
    matvec: impl FnOnce(X) -> R,
    b: X,
    solver: Solver,
) -> Result<X> {
    let loc = here();
    let closed = Closed::like("matvec", loc, &b, matvec)?;
    same(loc, "linear_solve", &closed.out, &b)?;
    let captures = closed.captures()?;
    let f = closed.after(&captures)?;
    let nc = captures.len();
    let args = [captures, owned(&b)].concat();
    let y = write(loc, &args, |cx, x| {
        let matvec = |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(&f, &[w, v].concat());
        cx.solve_linear(&x[..nc], &x[nc..], solver, matvec, Stopping::default())
    })?;
    Ok(b.rebuild(&mut y.into_iter()))
}

/// As [`linear_solve`], with flags and a choice of [`Stopping`].
#[track_caller]
pub fn linear_solve_with<X: Tree, R: Returns<Out = X>>(
    matvec: impl FnOnce(X) -> R,
    b: X,
    solver: Solver,
    stop: Stopping,
) -> Result<Solution<X>> {
    let loc = here();
    let closed = Closed::like("matvec", loc, &b, matvec)?;
    same(loc, "linear_solve", &closed.out, &b)?;
    let message = solver.complaint();
    solve(loc, &closed, &b, (stop, message), &|cx, c, b, f| {
        let matvec = |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(f, &[w, v].concat());
        cx.try_solve_linear(c, b, solver, matvec, stop)
    })
}
