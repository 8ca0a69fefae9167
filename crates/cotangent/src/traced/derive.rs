//! Derivatives of traced tensors, which are traced tensors, so derivatives of any order exist.
//!
//! The differentiated part of the trace becomes a function, the core derives it, and the derivative
//! is emitted into the trace. It refers to the primal values that are already in the trace, so they
//! are not computed twice.

use super::{Trace, TracedTensor, record_in};
use crate::ad_context::AdContext;
use crate::here::{AtCaller, bail_here, here};
use crate::{Code, Error, Loc, Result, Val};
use cotangent_core::transform::{
    Derived, Seed, check_holomorphic, check_scalar_loss, jvp_derived, vjp_derived,
};

fn refs(x: &[TracedTensor]) -> Vec<&TracedTensor> {
    x.iter().collect()
}

/// Checks that a tangent or cotangent has the type of its value.
fn check_type(code: Code, what: &str, given: &TracedTensor, of: &TracedTensor) -> Result<()> {
    let (got, want) = (given.ty()?, of.ty()?);
    if got.differs(&want) {
        return Err(Error::new(
            code,
            format!("the {what} of a value of type {want} must have that type, got {got}"),
        ));
    }
    Ok(())
}

impl AdContext {
    /// Emits a derived function into the trace. Its parameters are those of `trace`, then `extra`.
    /// Each result has the memory order of its tensor in `as_these`.
    fn write(
        &self,
        loc: Loc,
        trace: &Trace,
        d: &Derived,
        extra: &[&TracedTensor],
        as_these: &[&TracedTensor],
    ) -> Result<Vec<TracedTensor>> {
        let mut known: Vec<(Val, TracedTensor)> = Vec::new();
        for (t, v) in trace.computed() {
            if let Some(here) = d.map[v.index()] {
                known.push((here, t));
            }
        }
        let mut x: Vec<&TracedTensor> = refs(&trace.params);
        x.extend(extra);
        let n = x.len();
        x.extend(known.iter().map(|(_, t)| t));
        let y = record_in(self.0.session(), loc, &x, |cx, x| {
            let known: Vec<(Val, Val)> = known
                .iter()
                .zip(&x[n..])
                .map(|((v, _), &here)| (*v, here))
                .collect();
            cx.inline_known(&d.f, &x[..n], &known)
        })?;
        Ok(y.into_iter()
            .zip(as_these)
            .map(|(y, of)| y.listed_as(of, &trace.params))
            .collect())
    }

    fn wrt(trace: &Trace, wrt: &[&TracedTensor]) -> Result<Vec<Val>> {
        wrt.iter().map(|t| trace.val(t)).collect()
    }

    /// The gradient of a real scalar with respect to `x`: zeros of its type if the loss does not
    /// depend on it. The loss depends on the tensor that it was computed from: another one with the
    /// same elements, built again, has gradient zero.
    ///
    /// `x` may be an intermediate value. It is then an independent variable, and the gradient
    /// covers the operations after it.
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::AdContext};
    /// let ad = AdContext::default();
    /// let x = TracedTensor::scalar(0.0);
    /// let h = x.sin() + 2.0;
    /// let loss = &h * &h;
    /// assert_eq!(ad.grad(&loss, &h)?.item::<f64>()?, 4.0);
    /// assert_eq!(ad.grad(&loss, &x)?.item::<f64>()?, 4.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn grad(&self, loss: &TracedTensor, x: &TracedTensor) -> Result<TracedTensor> {
        Ok(self.grad_many(loss, &[x])?.remove(0))
    }

    /// The gradients with respect to several values, from one reverse pass.
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::AdContext};
    /// let (x, y) = (TracedTensor::scalar(2.0), TracedTensor::scalar(5.0));
    /// let g = AdContext::default().grad_many(&(&x * &y), &[&x, &y])?;
    /// assert_eq!(g[0].item::<f64>()?, 5.0);
    /// assert_eq!(g[1].item::<f64>()?, 2.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn grad_many(
        &self,
        loss: &TracedTensor,
        wrt: &[&TracedTensor],
    ) -> Result<Vec<TracedTensor>> {
        let loc = here();
        let trace = Trace::of("loss", &[loss], wrt).at_caller()?;
        let derived = check_scalar_loss(&trace.function).and_then(|()| {
            vjp_derived(
                self,
                &trace.function,
                &Self::wrt(&trace, wrt).at_caller()?,
                Seed::One,
                false,
                "grad",
            )
        });
        self.write(loc, &trace, &derived.map_err(|e| e.at(loc))?, &[], wrt)
    }

    /// The loss, and its gradients with respect to several values.
    ///
    /// ```
    /// use cotangent::{GraphCompiler, GraphExecutor, TracedTensor, ad::AdContext};
    /// let x = TracedTensor::scalar(3.0);
    /// let (y, g) = AdContext::default().value_and_grad(&(&x * &x), &[&x])?;
    /// let program = GraphCompiler::new().compile_many(&[&y, &g[0]])?;
    /// let r = GraphExecutor::default().run_many(&program)?;
    /// assert_eq!((r[0].item::<f64>()?, r[1].item::<f64>()?), (9.0, 6.0));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn value_and_grad(
        &self,
        loss: &TracedTensor,
        wrt: &[&TracedTensor],
    ) -> Result<(TracedTensor, Vec<TracedTensor>)> {
        Ok((loss.clone(), self.grad_many(loss, wrt)?))
    }

    /// The cotangent of `x` for a cotangent of `y`.
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::AdContext};
    /// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
    /// let ct = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 10.0]);
    /// let g = AdContext::default().vjp(&(&x * &x), &x, &ct)?;
    /// assert_eq!(g.to_vec::<f64>()?, [2.0, 40.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn vjp(
        &self,
        y: &TracedTensor,
        x: &TracedTensor,
        ct: &TracedTensor,
    ) -> Result<TracedTensor> {
        Ok(self.vjp_many(&[y], &[x], &[ct])?.remove(0))
    }

    /// The cotangents of several values for cotangents of several others, from one reverse pass.
    #[track_caller]
    pub fn vjp_many(
        &self,
        ys: &[&TracedTensor],
        wrt: &[&TracedTensor],
        cts: &[&TracedTensor],
    ) -> Result<Vec<TracedTensor>> {
        let loc = here();
        if ys.len() != cts.len() {
            bail_here!(
                SeedMismatch,
                "vjp of {} values needs as many cotangents, got {}",
                ys.len(),
                cts.len()
            );
        }
        for (y, ct) in ys.iter().zip(cts) {
            if !y.dtype()?.has_tangent() {
                let text = format!(
                    "a value of type {} has no cotangent: it is not a float or complex number",
                    y.ty()?
                );
                return Err(Error::new(Code::IntegerOutput, text).at(loc));
            }
            check_type(Code::SeedMismatch, "cotangent", ct, y).map_err(|e| e.at(loc))?;
        }
        let trace = Trace::of("y", ys, wrt).at_caller()?;
        let derived = vjp_derived(
            self,
            &trace.function,
            &Self::wrt(&trace, wrt).at_caller()?,
            Seed::Argument,
            false,
            "vjp",
        );
        self.write(loc, &trace, &derived.map_err(|e| e.at(loc))?, cts, wrt)
    }

    /// The derivative of a complex scalar by a complex value that it depends on holomorphically:
    /// the conjugate of its cotangent for 1. Undefined for functions that are not holomorphic,
    /// which is not checked.
    ///
    /// ```
    /// use cotangent::{C128, TracedTensor, ad::AdContext};
    /// let z = TracedTensor::scalar(C128::new(1.0, 2.0));
    /// let d = AdContext::default().holomorphic_derivative(&z.powi(3), &z)?;
    /// assert_eq!(d.item::<C128>()?, C128::new(-9.0, 12.0));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn holomorphic_derivative(
        &self,
        y: &TracedTensor,
        x: &TracedTensor,
    ) -> Result<TracedTensor> {
        check_holomorphic(&y.ty()?, &x.ty()?).at_caller()?;
        Ok(self.vjp(y, x, &y.ones_like())?.conj())
    }

    /// The tangent of `y` for a tangent of `x`; `None` is a tangent of ones.
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::AdContext};
    /// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
    /// let t = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 10.0]);
    /// let dy = AdContext::default().jvp(&(&x * &x).sum(..), &x, &t)?;
    /// assert_eq!(dy.item::<f64>()?, 42.0);
    /// let dy = AdContext::default().jvp(&(&x * &x).sum(..), &x, None)?;
    /// assert_eq!(dy.item::<f64>()?, 6.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn jvp<'t>(
        &self,
        y: &TracedTensor,
        x: &TracedTensor,
        tangent: impl Into<Option<&'t TracedTensor>>,
    ) -> Result<TracedTensor> {
        let dy = match tangent.into() {
            Some(t) => self.jvp_many(&[y], &[x], &[t]),
            None => self.jvp_many(&[y], &[x], &[&x.full_like(1.0)]),
        };
        Ok(dy?.remove(0))
    }

    /// The product of the Hessian of a real scalar with a direction of `x`: the tangent of its
    /// gradient.
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::AdContext};
    /// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
    /// let dir = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 10.0]);
    /// let h = AdContext::default().hvp(&x.powi(3).sum(..), &x, &dir)?;
    /// assert_eq!(h.to_vec::<f64>()?, [6.0, 120.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn hvp(
        &self,
        loss: &TracedTensor,
        x: &TracedTensor,
        dir: &TracedTensor,
    ) -> Result<TracedTensor> {
        self.jvp(&self.grad(loss, x)?, x, dir)
    }

    /// The tangents of several values for tangents of several others, from one forward pass.
    #[track_caller]
    pub fn jvp_many(
        &self,
        ys: &[&TracedTensor],
        wrt: &[&TracedTensor],
        tangents: &[&TracedTensor],
    ) -> Result<Vec<TracedTensor>> {
        let loc = here();
        if wrt.len() != tangents.len() {
            bail_here!(
                TangentMismatch,
                "jvp by {} values needs as many tangents, got {}",
                wrt.len(),
                tangents.len()
            );
        }
        for (x, t) in wrt.iter().zip(tangents) {
            check_type(Code::TangentMismatch, "tangent", t, x).map_err(|e| e.at(loc))?;
        }
        if let Some(y) = ys
            .iter()
            .find(|y| y.dtype().is_ok_and(|d| !d.has_tangent()))
        {
            let text = format!(
                "a value of type {} has no tangent: it is not a float or complex number",
                y.ty()?
            );
            return Err(Error::new(Code::IntegerOutput, text).at(loc));
        }
        let trace = Trace::of("y", ys, wrt).at_caller()?;
        let derived = jvp_derived(
            self,
            &trace.function,
            &Self::wrt(&trace, wrt).at_caller()?,
            false,
        );
        self.write(loc, &trace, &derived.map_err(|e| e.at(loc))?, tangents, ys)
    }
}

/// Derivatives as methods of tensors, with the default rules.
///
/// ```
/// use cotangent::{TracedTensor, TracedTensorAdExt};
/// let x = TracedTensor::from_vec_row_major([2], vec![1.0, 2.0]);
/// let y = &x * &x;
/// let one = TracedTensor::from_vec_row_major([2], vec![1.0, 1.0]);
/// assert_eq!(y.sum(..).grad(&x)?.to_vec::<f64>()?, [2.0, 4.0]);
/// assert_eq!(y.vjp(&x, &one)?.to_tensor()?, y.jvp(&x, &one)?.to_tensor()?);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait TracedTensorAdExt {
    /// See [`AdContext::grad`].
    ///
    /// ```
    /// use cotangent::{TracedTensor, ad::TracedTensorAdExt};
    /// let x = TracedTensor::scalar(2.0);
    /// let y = x.powi(3);
    /// assert_eq!(y.grad(&x)?.grad(&x)?.to_tensor()?.as_slice::<f64>().unwrap(), &[12.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    fn grad(&self, x: &TracedTensor) -> Result<TracedTensor>;

    /// See [`AdContext::vjp`].
    fn vjp(&self, x: &TracedTensor, cotangent: &TracedTensor) -> Result<TracedTensor>;

    /// See [`AdContext::holomorphic_derivative`].
    fn holomorphic_derivative(&self, x: &TracedTensor) -> Result<TracedTensor>;

    /// See [`AdContext::jvp`].
    fn jvp<'t>(
        &self,
        x: &TracedTensor,
        tangent: impl Into<Option<&'t TracedTensor>>,
    ) -> Result<TracedTensor>;

    /// See [`AdContext::hvp`].
    ///
    /// ```
    /// use cotangent::{TracedTensor, TracedTensorAdExt};
    /// let x = TracedTensor::scalar(2.0);
    /// let u = x.powi(3);
    /// assert_eq!(u.jvp(&x, None)?.item::<f64>()?, 12.0);
    /// assert_eq!(u.hvp(&x, &TracedTensor::scalar(10.0))?.item::<f64>()?, 120.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    fn hvp(&self, x: &TracedTensor, dir: &TracedTensor) -> Result<TracedTensor>;
}

impl TracedTensorAdExt for TracedTensor {
    #[track_caller]
    fn grad(&self, x: &TracedTensor) -> Result<TracedTensor> {
        AdContext::default().grad(self, x)
    }

    #[track_caller]
    fn vjp(&self, x: &TracedTensor, cotangent: &TracedTensor) -> Result<TracedTensor> {
        AdContext::default().vjp(self, x, cotangent)
    }

    #[track_caller]
    fn jvp<'t>(
        &self,
        x: &TracedTensor,
        tangent: impl Into<Option<&'t TracedTensor>>,
    ) -> Result<TracedTensor> {
        AdContext::default().jvp(self, x, tangent)
    }

    #[track_caller]
    fn holomorphic_derivative(&self, x: &TracedTensor) -> Result<TracedTensor> {
        AdContext::default().holomorphic_derivative(self, x)
    }

    #[track_caller]
    fn hvp(&self, x: &TracedTensor, dir: &TracedTensor) -> Result<TracedTensor> {
        AdContext::default().hvp(self, x, dir)
    }
}
