//! `checkpoint`, `cond` and `switch` of closures. Each closure becomes a region of the operation,
//! and its captures become operands.

use super::capture::{Closed, difference, union, with, write};
use super::tree::{Returns, Tree, owned, structure};
use crate::here::here;
use crate::{Code, Emit, Error, Function, Result, TracedTensor, Val};

/// A closure that computes `f`. Its derivatives recompute the intermediate values of `f` instead of
/// saving them.
///
/// ```
/// use cotangent::{TracedTensor, closures::{checkpoint, grad}};
/// let f = |x: TracedTensor| x.sin().sin();
/// let x = || TracedTensor::scalar(1.0);
/// let (a, b) = (grad(f)(x())?.to_tensor()?, grad(checkpoint(f))(x())?.to_tensor()?);
/// assert!(a.same_bits(&b));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn checkpoint<A: Tree, R: Returns>(f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Out> {
    let loc = here();
    move |x| {
        let closed = Closed::like("checkpoint", loc, &x, &f)?;
        let (f, captures) = closed.function()?;
        let y = write(loc, &with(&x, &captures), |cx, x| {
            cx.checkpoint(x, |cx, x| cx.inline(&f, x))
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}

/// `yes(x)` if `p`, a boolean scalar, holds, and `no(x)` otherwise. Only the chosen closure runs.
/// Both return the same structure and types.
///
/// ```
/// use cotangent::{TracedTensor, closures::{cond, grad}};
/// let f = |x: TracedTensor| cond(&x.greater(0.0), x, |x: TracedTensor| x.sqrt(), |x| x * 0.0);
/// assert_eq!(grad(f)(TracedTensor::scalar(4.0))?.item::<f64>()?, 0.25);
/// assert_eq!(grad(f)(TracedTensor::scalar(-1.0))?.item::<f64>()?, 0.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn cond<A: Tree, R: Returns, S: Returns<Out = R::Out>>(
    p: &TracedTensor,
    x: A,
    yes: impl FnOnce(A) -> R,
    no: impl FnOnce(A) -> S,
) -> Result<R::Out> {
    let loc = here();
    let (yes, no) = (
        Closed::like("then", loc, &x, yes)?,
        Closed::like("else", loc, &x, no)?,
    );
    let (a, b) = (structure(&yes.out), structure(&no.out));
    if a != b {
        let text =
            format!("the branches of `cond` return different structures: `yes` {a}, `no` {b}");
        return Err(Error::new(Code::BranchMismatch, text).at(loc));
    }
    if let Some(d) = difference(&no.out, &yes.out)? {
        let text = format!(
            "`cond`: {} is {} from `yes` but {} from `no`: both return the same types; convert or reshape one",
            d.leaf("the result"),
            d.want,
            d.got
        );
        return Err(Error::new(Code::BranchMismatch, text).at(loc));
    }
    let captures = union(&[yes.captures()?, no.captures()?]);
    let (then, other) = (yes.after(&captures)?, no.after(&captures)?);
    let args = [std::slice::from_ref(p), &captures[..], &owned(&x)].concat();
    let y = write(loc, &args, |cx, x| {
        cx.cond(
            x[0],
            &x[1..],
            |cx, x| cx.inline(&then, x),
            |cx, x| cx.inline(&other, x),
        )
    })?;
    Ok(yes.out.rebuild(&mut y.into_iter()))
}

/// The result of one of several closures, chosen by an integer scalar. An index out of range is
/// clamped to the nearest valid one.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, switch}};
/// type F = fn(TracedTensor) -> TracedTensor;
/// let branches: [F; 3] = [|x| x, |x| &x * &x, |x| x.powi(3)];
/// let d = |k: i64| grad(move |x: TracedTensor| switch(&TracedTensor::scalar(k), x, &branches))(TracedTensor::scalar(2.0));
/// assert_eq!(d(1)?.item::<f64>()?, 4.0);
/// assert_eq!(d(7)?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn switch<A: Tree, R: Returns>(
    index: &TracedTensor,
    x: A,
    branches: &[impl Fn(A) -> R],
) -> Result<R::Out> {
    let loc = here();
    let closed: Vec<Closed<R::Out>> = branches
        .iter()
        .map(|f| Closed::like("branch", loc, &x, f))
        .collect::<Result<_>>()?;
    let Some(first) = closed.first() else {
        return Err(Error::new(Code::Arity, "`switch` needs at least one branch").at(loc));
    };
    for (k, c) in closed.iter().enumerate() {
        let (a, b) = (structure(&first.out), structure(&c.out));
        if a != b {
            let text = format!("branch {k} of `switch` returns the structure {b}, branch 0 {a}");
            return Err(Error::new(Code::BranchMismatch, text).at(loc));
        }
        if let Some(d) = difference(&c.out, &first.out)? {
            let text = format!(
                "`switch`: {} is {} from branch 0 but {} from branch {k}: all return the same types; convert or \
                 reshape one",
                d.leaf("the result"),
                d.want,
                d.got
            );
            return Err(Error::new(Code::BranchMismatch, text).at(loc));
        }
    }
    let captures = union(
        &closed
            .iter()
            .map(Closed::captures)
            .collect::<Result<Vec<_>>>()?,
    );
    let bodies: Vec<Function> = closed
        .iter()
        .map(|c| c.after(&captures))
        .collect::<Result<_>>()?;
    let args = [std::slice::from_ref(index), &captures[..], &owned(&x)].concat();
    type Body<'a> = Box<dyn Fn(&dyn Emit, &[Val]) -> Vec<Val> + 'a>;
    let bodies: Vec<Body<'_>> = bodies
        .iter()
        .map(|f| Box::new(move |cx: &dyn Emit, x: &[Val]| cx.inline(f, x)) as Body<'_>)
        .collect();
    let all: Vec<_> = bodies.iter().map(|b| &**b).collect();
    let y = write(loc, &args, |cx, x| cx.switch(x[0], &x[1..], &all))?;
    Ok(first.out.rebuild(&mut y.into_iter()))
}
