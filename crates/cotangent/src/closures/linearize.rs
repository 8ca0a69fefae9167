//! `linearize` of closures: the derivative at a point, applied any number of times.

use super::capture::{Closed, inline, with};
use super::derivatives::{COTANGENT, ad, copied, differentiable, linear_map};
use super::tree::{Returns, Tree};
use crate::here::here;
use crate::{Code, Result};
use cotangent_core::transform as core;
use std::ops::Deref;
use std::sync::Arc;

/// The derivative of a closure at a point: a linear closure from tangents of its argument to
/// tangents of its result. Returned by [`linearize`].
///
/// ```
/// use cotangent::{TracedTensor, closures::linearize};
/// let number = |x: f64| TracedTensor::scalar(x);
/// let product = |(a, b): (TracedTensor, TracedTensor)| a * b;
/// let (_, map) = linearize(product)((number(3.0), number(4.0)))?;
/// assert_eq!(map((number(1.0), number(0.5)))?.item::<f64>()?, 4.0 + 1.5);
/// let (a, b) = map.transpose()(number(2.0))?;
/// assert_eq!((a.item::<f64>()?, b.item::<f64>()?), (8.0, 6.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct DerivativeMap<A, B> {
    push: Arc<dyn Fn(A) -> Result<B> + Send + Sync>,
    pull: Arc<dyn Fn(B) -> Result<A> + Send + Sync>,
}

impl<A: 'static, B: 'static> DerivativeMap<A, B> {
    /// The transpose: from cotangents of the result to cotangents of the argument. Its transpose is
    /// this map.
    pub fn transpose(&self) -> DerivativeMap<B, A> {
        DerivativeMap {
            push: self.pull.clone(),
            pull: self.push.clone(),
        }
    }
}

impl<A, B> Clone for DerivativeMap<A, B> {
    fn clone(&self) -> DerivativeMap<A, B> {
        DerivativeMap {
            push: self.push.clone(),
            pull: self.pull.clone(),
        }
    }
}

impl<A: 'static, B: 'static> Deref for DerivativeMap<A, B> {
    type Target = dyn Fn(A) -> Result<B> + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.push
    }
}

impl<A, B> std::fmt::Debug for DerivativeMap<A, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DerivativeMap")
    }
}

/// The result of a closure at a point, and its derivative there as a [`DerivativeMap`]. The closure
/// is evaluated a single time, however often the map and its transpose are applied, on any thread.
///
/// ```
/// use cotangent::{TracedTensor, closures::linearize};
/// let (y, map) = linearize(|x: TracedTensor| x.sin())(TracedTensor::scalar(0.0))?;
/// assert_eq!(y.item::<f64>()?, 0.0);
/// for t in [1.0, 2.0] {
///     assert_eq!(map(TracedTensor::scalar(t))?.item::<f64>()?, t);
/// }
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
#[expect(clippy::type_complexity, reason = "`impl Fn` has no alias")]
pub fn linearize<A: Tree + Send + Sync + 'static, R: Returns<Out: Send + Sync + 'static>>(
    f: impl Fn(A) -> R,
) -> impl Fn(A) -> Result<(R::Out, DerivativeMap<A, R::Out>)> {
    let loc = here();
    move |x| {
        let closed = Closed::like("f", loc, &x, &f)?;
        let (f, captures) = closed.function()?;
        let n = f.params().len() - captures.len();
        let lin = core::linearize(&ad(), &f, &differentiable(&f, &f.params()[..n]))
            .map_err(|e| e.at(loc))?;
        let back = lin.transpose(&ad()).map_err(|e| e.at(loc))?;
        let mut y = inline(loc, &lin.primal, &with(&x, &captures))?;
        let saved = y.split_off(f.results().len());
        let y = closed.out.rebuild(&mut y.into_iter());
        let tangent = (Code::TangentMismatch, "the tangent");
        let map = DerivativeMap {
            push: Arc::new(linear_map(
                loc,
                lin.tangent,
                saved.clone(),
                tangent,
                copied(&x),
                copied(&y),
            )?),
            pull: Arc::new(linear_map(loc, back, saved, COTANGENT, copied(&y), x)?),
        };
        Ok((y, map))
    }
}
