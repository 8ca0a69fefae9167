//! `vjp`, `jvp`, `jacobian`, `hessian`, `hvp`, `vmap` of closures.

use super::capture::{Closed, inline, listed_as, session, types, with, write};
use super::tree::{Nest, Returns, Tree, leaf_name, leaves, owned, structure};
use crate::here::here;
use crate::{Code, Dim, Error, Function, Loc, Result, TracedTensor, Type, Val, bail};
use cotangent_core::transform as core;
use cotangent_core::transform::{AdContext, Direction};

pub(super) fn ad() -> AdContext {
    session().context().clone()
}

/// Checks that every leaf has a tangent.
pub(super) fn check_tangents<T: Tree>(x: &T) -> Result<()> {
    let types = types(x)?;
    match types.iter().position(|t| !t.dtype.has_tangent()) {
        Some(k) => bail!(
            IntegerInput,
            "cannot differentiate with respect to {}, which is {}: integers and booleans have no tangent. Capture it, \
             or pass it in the second argument of value_and_grad_of, or convert it to a float",
            leaf_name(x, k).unwrap_or("the argument".into()),
            types[k]
        ),
        None => Ok(()),
    }
}

/// A function derived from a closure at the types of `x`, by all leaves of `x`; and the captures.
pub(super) fn derived<A: Tree, R: Returns>(
    loc: Loc,
    f: &impl Fn(A) -> R,
    x: &A,
    derive: impl FnOnce(&Function, &[Val]) -> Result<Function>,
) -> Result<(Function, Vec<TracedTensor>)> {
    check_tangents(x).map_err(|e| e.at(loc))?;
    let (f, captures) = Closed::like("f", loc, x, f)?.function()?;
    let n = f.params().len() - captures.len();
    let d = derive(&f, &f.params()[..n]).map_err(|e| e.at(loc))?;
    Ok((d, captures))
}

/// The results of a function derived from a closure, at `x`: a tree like `x`, each tensor in the
/// memory order of the tensor of `x` that it belongs to.
pub(super) fn derivative_at<A: Tree, R: Returns>(
    loc: Loc,
    f: &impl Fn(A) -> R,
    x: &A,
    derive: impl FnOnce(&Function, &[Val]) -> Result<Function>,
) -> Result<A> {
    let (d, captures) = derived(loc, f, x, derive)?;
    let y = inline(loc, &d, &with(x, &captures))?;
    Ok(x.rebuild(&mut listed_as(y, &leaves(x)).into_iter()))
}

/// The derivative of a closure that returns a complex scalar, by complex tensors that it depends on
/// holomorphically: a tree like its argument. Undefined for functions that are not holomorphic,
/// which is not checked.
///
/// ```
/// use cotangent::{C128, TracedTensor, closures::holomorphic_derivative};
/// let d = holomorphic_derivative(|z: TracedTensor| z.powi(3));
/// let z = TracedTensor::scalar(C128::new(1.0, 2.0));
/// assert_eq!(d(z)?.item::<C128>()?, C128::new(-9.0, 12.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn holomorphic_derivative<A: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<A> {
    let loc = here();
    move |x| {
        derivative_at(loc, &f, &x, |f, wrt| {
            core::holomorphic_derivative(&ad(), f, wrt)
        })
    }
}

/// The closure from a tree like `from` to a tree like `to`, by a function of `first` and of the
/// leaves that have a tangent. `what` names its argument in errors.
pub(super) fn linear_map<A: Tree, B: Tree>(
    loc: Loc,
    f: Function,
    first: Vec<TracedTensor>,
    (code, what): (Code, &'static str),
    from: A,
    to: B,
) -> Result<impl Fn(A) -> Result<B>> {
    let (ins, outs) = (types(&from)?, types(&to)?);
    Ok(move |t: A| {
        check_directions(code, what, &t, &from).map_err(|e| e.at(loc))?;
        let mut args = first.clone();
        args.extend(moving(&t, &ins));
        let y = spread(loc, inline(loc, &f, &args)?, &outs)?;
        Ok(to.rebuild(&mut listed_as(y, &leaves(&to)).into_iter()))
    })
}

/// A tree of the same tensors.
pub(super) fn copied<T: Tree>(t: &T) -> T {
    t.rebuild(&mut owned(t).into_iter())
}

/// Checks that a tree of directions has the structure and types of the values that it belongs to.
fn check_directions<T: Tree>(code: Code, what: &str, given: &T, of: &T) -> Result<()> {
    let (got, want) = (structure(given), structure(of));
    if got != want {
        return Err(Error::new(
            code,
            format!("{what} has the structure {got}, not {want}"),
        ));
    }
    for (k, (got, want)) in types(given)?.iter().zip(types(of)?).enumerate() {
        if want.dtype.has_tangent() && got.differs(&want) {
            let of = leaf_name(of, k).map_or(String::new(), |n| format!(" of {n}"));
            return Err(Error::new(
                code,
                format!("{what}{of} must have the type {want}, got {got}"),
            ));
        }
    }
    Ok(())
}

/// Leaves that have a tangent.
fn moving<T: Tree>(t: &T, like: &[Type]) -> Vec<TracedTensor> {
    leaves(t)
        .into_iter()
        .zip(like)
        .filter(|(_, t)| t.dtype.has_tangent())
        .map(|(t, _)| t.clone())
        .collect()
}

/// Returns a tensor per type: the next of `some` where the type has a tangent, zeros otherwise.
fn spread(loc: Loc, some: Vec<TracedTensor>, types: &[Type]) -> Result<Vec<TracedTensor>> {
    let mut some = some.into_iter();
    let one = |t: &Type| match t.dtype.has_tangent() {
        true => Ok(some.next().expect("one per type with a tangent")),
        false => Ok(write(loc, &[], |cx, _| vec![cx.zeros(t)])?.remove(0)),
    };
    types.iter().map(one).collect()
}

/// The parameters that have a tangent.
pub(super) fn differentiable(f: &Function, wrt: &[Val]) -> Vec<Val> {
    wrt.iter()
        .copied()
        .filter(|&v| f.ty(v).dtype.has_tangent())
        .collect()
}

/// The result of a closure at `x`, and its tangent for the tangent `t` of `x`.
///
/// ```
/// use cotangent::{TracedTensor, closures::jvp};
/// let (x, t) = (TracedTensor::scalar(3.0), TracedTensor::scalar(10.0));
/// let (y, dy) = jvp(|x: TracedTensor| &x * &x, x, t)?;
/// assert_eq!((y.item::<f64>()?, dy.item::<f64>()?), (9.0, 60.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn jvp<A: Tree, R: Returns>(f: impl Fn(A) -> R, x: A, t: A) -> Result<(R::Out, R::Out)> {
    let loc = here();
    check_directions(Code::TangentMismatch, "the tangent", &t, &x).map_err(|e| e.at(loc))?;
    let closed = Closed::like("f", loc, &x, f)?;
    let (f, captures) = closed.function()?;
    let n = f.params().len() - captures.len();
    let d = core::jvp(&ad(), &f, &differentiable(&f, &f.params()[..n])).map_err(|e| e.at(loc))?;
    let mut args = with(&x, &captures);
    args.extend(moving(&t, &types(&x)?));
    let mut y = inline(loc, &d, &args)?;
    let dy = spread(loc, y.split_off(f.results().len()), &f.result_types())?;
    let dy = listed_as(dy, &y.iter().collect::<Vec<_>>());
    Ok((
        closed.out.rebuild(&mut y.into_iter()),
        closed.out.rebuild(&mut dy.into_iter()),
    ))
}

/// The argument of a map of cotangents, for errors.
pub(super) const COTANGENT: (Code, &str) = (Code::SeedMismatch, "the cotangent");

/// The result of a closure at `x`, and a closure that maps a cotangent of the result to the
/// cotangent of `x`.
///
/// ```
/// use cotangent::{TracedTensor, closures::vjp};
/// let (y, back) = vjp(|x: TracedTensor| &x * &x, TracedTensor::scalar(3.0))?;
/// assert_eq!(y.item::<f64>()?, 9.0);
/// assert_eq!(back(TracedTensor::scalar(1.0))?.item::<f64>()?, 6.0);
/// assert_eq!(back(TracedTensor::scalar(2.0))?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
#[expect(clippy::type_complexity, reason = "`impl Fn` has no alias")]
pub fn vjp<A: Tree, R: Returns>(
    f: impl Fn(A) -> R,
    x: A,
) -> Result<(R::Out, impl Fn(R::Out) -> Result<A>)> {
    let loc = here();
    let closed = Closed::like("f", loc, &x, f)?;
    let (f, captures) = closed.function()?;
    let n = f.params().len() - captures.len();
    let d = core::vjp(&ad(), &f, &differentiable(&f, &f.params()[..n])).map_err(|e| e.at(loc))?;
    let args = with(&x, &captures);
    let y = closed.out.rebuild(&mut inline(loc, &f, &args)?.into_iter());
    let pull = linear_map(loc, d, args, COTANGENT, copied(&y), x)?;
    Ok((y, pull))
}

/// The Jacobian of a closure that returns a tensor: for each leaf of the argument an array of shape
/// `result.shape + leaf.shape`. Computed in forward or reverse mode, whichever takes fewer passes.
///
/// ```
/// use cotangent::{TracedTensor, closures::jacobian};
/// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
/// let j = jacobian(|x: TracedTensor| &x * &x)(x)?;
/// assert_eq!(j.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn jacobian<A: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<A> {
    let loc = here();
    move |x| {
        derivative_at(loc, &f, &x, |f, wrt| {
            core::jacobian(&ad(), f, wrt, Direction::Auto)
        })
    }
}

/// The Hessian of a closure that returns a real scalar: a tree of trees like its argument. `h.a.b`
/// has the shape `a.shape + b.shape`; of a tensor alone it is a tensor of shape
/// `x.shape + x.shape`.
///
/// ```
/// use cotangent::{TracedTensor, closures::hessian};
/// let x = TracedTensor::from_vec_row_major(vec![2], vec![2.0, 3.0]);
/// let h = hessian(|x: TracedTensor| x.index(0, 0).powi(2) * x.index(0, 1))(x)?;
/// assert_eq!(h.to_vec::<f64>()?, [6.0, 4.0, 4.0, 0.0]);
/// // Several arguments: a block for each pair of them.
/// let at = (TracedTensor::scalar(2.0), TracedTensor::scalar(3.0));
/// let ((xx, xy), (yx, yy)) = hessian(|(x, y): (TracedTensor, TracedTensor)| x.powi(2) * y)(at)?;
/// let number = |t: TracedTensor| t.item::<f64>();
/// assert_eq!([number(xx)?, number(xy)?, number(yx)?, number(yy)?], [6.0, 4.0, 4.0, 0.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn hessian<A: Nest<A>, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<<A as Nest<A>>::Of> {
    let loc = here();
    move |x| {
        let (h, captures) = derived(loc, &f, &x, |f, wrt| core::hessian(&ad(), f, wrt))?;
        let y = inline(loc, &h, &with(&x, &captures))?;
        let rows = leaves(&x);
        let of: Vec<&TracedTensor> = rows
            .iter()
            .flat_map(|&row| std::iter::repeat_n(row, rows.len()))
            .collect();
        let mut y = listed_as(y, &of).into_iter();
        Ok(x.nest(&mut || x.rebuild(&mut y)))
    }
}

/// The product of a direction with the Hessian of a closure that returns a real scalar.
///
/// ```
/// use cotangent::{TracedTensor, closures::hvp};
/// let h = hvp(|x: TracedTensor| x.powi(3));
/// assert_eq!(h(TracedTensor::scalar(2.0), TracedTensor::scalar(1.0))?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn hvp<A: Tree, R: Returns<Out = TracedTensor>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A, A) -> Result<A> {
    let loc = here();
    move |x, v| {
        check_directions(Code::TangentMismatch, "the direction", &v, &x).map_err(|e| e.at(loc))?;
        let (h, captures) = derived(loc, &f, &x, |f, wrt| {
            core::check_scalar_loss(f)?;
            core::hvp(&ad(), f, wrt)
        })?;
        let mut args = with(&x, &captures);
        args.extend(owned(&v));
        let y = inline(loc, &h, &args)?;
        Ok(x.rebuild(&mut listed_as(y, &leaves(&x)).into_iter()))
    }
}

/// A closure on one element becomes a closure on a batch, along the first axis of every argument
/// and result.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, vmap}};
/// let x = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let g = vmap(grad(|x: TracedTensor| &x * &x))(x)?;
/// assert_eq!(g.to_vec::<f64>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn vmap<A: Tree, R: Returns>(f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Out> {
    let loc = here();
    move |x| {
        let axes = vec![Some(0); leaves(&x).len()];
        batched(loc, &f, x, &axes, None)
    }
}

/// As [`vmap`], with the batch axis of each tensor of the argument, in order. `None`: the tensor is
/// the same for every element.
///
/// ```
/// use cotangent::{TracedTensor, closures::vmap_axes};
/// let x = TracedTensor::from_vec_row_major(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]);
/// let s = TracedTensor::scalar(10.0);
/// let f = vmap_axes(|(x, s): (TracedTensor, TracedTensor)| x.sum(..) * s, &[Some(1), None]);
/// assert_eq!(f((x, s))?.to_vec::<f64>()?, [40.0, 60.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn vmap_axes<A: Tree, R: Returns>(
    f: impl Fn(A) -> R,
    axes: &[Option<usize>],
) -> impl Fn(A) -> Result<R::Out> {
    let (loc, axes) = (here(), axes.to_vec());
    move |x| batched(loc, &f, x, &axes, None)
}

/// As [`vmap_axes`], with the batch axis of each tensor of the result, in order. `None`: the result
/// is the same for every element, and an error if it is not.
///
/// ```
/// use cotangent::{TracedTensor, closures::vmap_axes_to};
/// let x = TracedTensor::from_vec_row_major(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]);
/// let f = vmap_axes_to(|x: TracedTensor| (&x * 10.0, x.sum(..)), &[Some(0)], &[Some(1), Some(0)]);
/// let (y, sums) = f(x)?;
/// assert_eq!(y.to_vec::<f64>()?, [10.0, 30.0, 20.0, 40.0]);
/// assert_eq!(sums.to_vec::<f64>()?, [3.0, 7.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn vmap_axes_to<A: Tree, R: Returns>(
    f: impl Fn(A) -> R,
    axes: &[Option<usize>],
    of_results: &[Option<usize>],
) -> impl Fn(A) -> Result<R::Out> {
    let (loc, axes, to) = (here(), axes.to_vec(), of_results.to_vec());
    move |x| batched(loc, &f, x, &axes, Some(&to))
}

/// Moves the first axis of each result to the requested axis.
fn placed(
    loc: Loc,
    y: Vec<TracedTensor>,
    mapped: &[bool],
    to: &[Option<usize>],
) -> Result<Vec<TracedTensor>> {
    let one = |(k, y): (usize, TracedTensor)| {
        let rank = y.ty()?.rank();
        let fail = |text: String| Err(Error::new(Code::ShapeMismatch, text).at(loc));
        match to[k] {
            None if mapped[k] => fail(format!(
                "result #{k} of vmap differs between the elements, and has no axis"
            )),
            Some(axis) if axis >= rank => fail(format!(
                "vmap to axis {axis} of result #{k}, which has type {}",
                y.ty()?
            )),
            None | Some(0) => Ok(y),
            Some(axis) => {
                let mut perm: Vec<usize> = (1..rank).collect();
                perm.insert(axis, 0);
                Ok(write(loc, &[y], |cx, x| vec![cx.transpose(x[0], &perm)])?.remove(0))
            }
        }
    };
    y.into_iter().enumerate().map(one).collect()
}

fn batched<A: Tree, R: Returns>(
    loc: Loc,
    f: &impl Fn(A) -> R,
    x: A,
    axes: &[Option<usize>],
    to: Option<&[Option<usize>]>,
) -> Result<R::Out> {
    let mut of = types(&x)?;
    if of.len() != axes.len() {
        let text = format!(
            "vmap over {} tensors needs as many axes, got {}",
            of.len(),
            axes.len()
        );
        return Err(Error::new(Code::Arity, text).at(loc));
    }
    let mut args = owned(&x);
    let mut size: Option<Dim> = None;
    let name = |k| leaf_name(&x, k).unwrap_or("the argument".into());
    for (k, axis) in axes.iter().enumerate() {
        let Some(axis) = *axis else { continue };
        if axis >= of[k].rank() {
            let text = format!(
                "vmap over axis {axis} of {}, which has type {}",
                name(k),
                of[k]
            );
            return Err(Error::new(Code::ShapeMismatch, text).at(loc));
        }
        let n = of[k].shape[axis].clone();
        if let Some(m) = size.as_ref().filter(|m| m.same(&n) == Some(false)) {
            let text = format!(
                "vmap over tensors of different extents: {m}, and {n} in {}",
                name(k)
            );
            return Err(Error::new(Code::ShapeMismatch, text).at(loc));
        }
        size.get_or_insert(n);
        let rest = (0..of[k].rank()).filter(|&a| a != axis);
        let shape: Vec<Dim> = rest.clone().map(|a| of[k].shape[a].clone()).collect();
        let perm: Vec<usize> = std::iter::once(axis).chain(rest).collect();
        of[k] = of[k].with_shape(shape);
        if axis > 0 {
            args[k] = write(loc, &args[k..=k], |cx, x| vec![cx.transpose(x[0], &perm)])?.remove(0);
        }
    }
    let Some(size) = size else {
        let text = "vmap needs at least one tensor with a batch axis";
        return Err(Error::new(Code::Arity, text).at(loc));
    };
    let closed = Closed::call("f", loc, &x, &of, f)?;
    let (f, captures) = closed.function()?;
    let mapped: Vec<bool> = axes
        .iter()
        .map(Option::is_some)
        .chain(std::iter::repeat_n(false, captures.len()))
        .collect();
    let all = vec![Some(0); f.results().len()];
    let to = to.unwrap_or(&all);
    if to.len() != all.len() {
        let text = format!(
            "vmap with {} results needs as many axes of results, got {}",
            all.len(),
            to.len()
        );
        return Err(Error::new(Code::Arity, text).at(loc));
    }
    let force: Vec<bool> = to.iter().map(Option::is_some).collect();
    let (many, of_results) =
        core::batch(&session(), &f, &mapped, &force, &size).map_err(|e| e.at(loc))?;
    args.extend(captures);
    let y = placed(loc, inline(loc, &many, &args)?, &of_results, to)?;
    Ok(closed.out.rebuild(&mut y.into_iter()))
}
