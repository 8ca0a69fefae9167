//! `custom_jvp` and `custom_vjp`: closures with derivatives of your own.

use super::capture::{Closed, types, union, write};
use super::tree::{Returns, Tree, leaves, owned, structure};
use crate::traced::here;
use crate::{Code, Error, Loc, Result, Type, Val};

fn same_structure(loc: Loc, what: &str, got: String, want: String) -> Result<()> {
    if got != want {
        return Err(Error::new(Code::RuleArity, format!("{what} has the structure {got}, not {want}")).at(loc));
    }
    Ok(())
}

/// A value per entry of `has`, taken from `some` or zero.
fn full(cx: &dyn crate::Emit, some: &[Option<Val>], types: &[Type]) -> Vec<Val> {
    some.iter().zip(types).map(|(v, t)| v.unwrap_or_else(|| cx.zeros(t))).collect()
}

/// `f` with the derivative `rule(x, dx)`, which returns what `f` does and its tangent. It must be linear in `dx`.
/// Tensors that `f` and the rule captured count as constants here.
///
/// ```
/// use cotangent::{TracedTensor, closures::{custom_jvp, grad}};
/// let f = custom_jvp(
///     |x: TracedTensor| &x * &x,
///     |x: TracedTensor, t: TracedTensor| (&x * &x, &t * &x * 100.0),
/// );
/// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.to_tensor()?.item::<f64>()?, 300.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn custom_jvp<A: Tree, B: Tree, R: Returns<Out = B>, S: Returns<Out = (B, B)>>(
    f: impl Fn(A) -> R,
    rule: impl Fn(A, A) -> S,
) -> impl Fn(A) -> Result<B> {
    let loc = here();
    move |x| {
        let of = types(&x)?;
        let closed = Closed::like("f", loc, &x, &f)?;
        let like = (x.rebuild(&mut owned(&x).into_iter()), x);
        let both = [&of[..], &of].concat();
        let ruled = Closed::call("rule", loc, &like, &both, |(x, t)| rule(x, t))?;
        same_structure(loc, "the tangent that the rule returns", structure(&ruled.out.1), structure(&closed.out))?;
        let outs = leaves(&closed.out).len();
        let captures = union(&[closed.captures()?, ruled.captures()?]);
        let (body, rule) = (closed.after(&captures)?, ruled.after(&captures)?);
        let nc = captures.len();
        let args = [captures, owned(&like.1)].concat();
        let y = write(loc, &args, |cx, x| {
            cx.custom_jvp(
                x,
                |cx, x| cx.inline(&body, x),
                |cx, x, _, t| {
                    let t = full(cx, &t[nc..], &of);
                    let y = cx.inline(&rule, &[x, &t].concat());
                    y[outs..].iter().map(|v| Some(*v)).collect()
                },
            )
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}

/// `f` with a reverse derivative: `fwd(x)` returns what `f` does and residuals, `bwd(residuals, ct)` the cotangent of
/// `x`. Run forward, the derivative is `bwd` transposed, which must then be linear. Tensors that the closures captured
/// count as constants here.
///
/// ```
/// use cotangent::{TracedTensor, closures::{custom_vjp, grad}};
/// let f = custom_vjp(
///     |x: TracedTensor| x.sin(),
///     |x: TracedTensor| (x.sin(), x),
///     |x: TracedTensor, ct: TracedTensor| ct * x.cos() * 10.0,
/// );
/// let g = grad(f)(TracedTensor::scalar(1.0))?.to_tensor()?.item::<f64>()?;
/// assert!((g - 10.0 * 1f64.cos()).abs() < 1e-12);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn custom_vjp<A, B, C, R, S, T>(
    f: impl Fn(A) -> R,
    fwd: impl Fn(A) -> S,
    bwd: impl Fn(C, B) -> T,
) -> impl Fn(A) -> Result<B>
where
    A: Tree,
    B: Tree,
    C: Tree,
    R: Returns<Out = B>,
    S: Returns<Out = (B, C)>,
    T: Returns<Out = A>,
{
    let loc = here();
    move |x| {
        let closed = Closed::like("f", loc, &x, &f)?;
        let forward = Closed::like("fwd", loc, &x, &fwd)?;
        let (b, c) = (structure(&forward.out.0), structure(&closed.out));
        same_structure(loc, "what fwd returns first", b, c)?;
        let of_residuals = types(&forward.out.1)?;
        let outs = types(&closed.out)?;
        let like = (
            forward.out.1.rebuild(&mut owned(&forward.out.1).into_iter()),
            closed.out.rebuild(&mut owned(&closed.out).into_iter()),
        );
        let back = Closed::call("bwd", loc, &like, &[&of_residuals[..], &outs].concat(), |(r, ct)| bwd(r, ct))?;
        same_structure(loc, "what bwd returns", structure(&back.out), structure(&x))?;
        let captures = union(&[closed.captures()?, forward.captures()?, back.captures()?]);
        let (body, fwd, bwd) = (closed.after(&captures)?, forward.after(&captures)?, back.after(&captures)?);
        let (nc, n) = (captures.len(), outs.len());
        let args = [captures, owned(&x)].concat();
        let y = write(loc, &args, |cx, x| {
            cx.custom_vjp(
                x,
                |cx, x| cx.inline(&body, x),
                |cx, x| {
                    let mut y = cx.inline(&fwd, x);
                    let mut r = x[..nc].to_vec();
                    r.extend(y.split_off(n));
                    (y, r)
                },
                |cx, r, ct| {
                    let ct = full(cx, ct, &outs);
                    let back = cx.inline(&bwd, &[r, &ct].concat());
                    std::iter::repeat_n(None, nc).chain(back.into_iter().map(Some)).collect()
                },
            )
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}
