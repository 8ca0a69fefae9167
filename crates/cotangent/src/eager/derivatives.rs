//! Derivatives of eager tensors: reverse passes from a tensor and what they return, and tangents.

use super::backward::{BackwardOptions, pull, push};
use super::error::{Error, Result};
use super::hook::HookHandle;
use super::tape::{Edge, Gradient, GradientPlace, Node, Value, gradient_place};
use super::tensor::{EagerTensor, core, tensor_of};
use crate::here::{AtCaller, here};
use crate::tensor::{Given, Tensor};
use cotangent_core::Code;
use cotangent_core::tape::{NodeData, Shared};
use cotangent_core::transform::check_holomorphic;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The identity of a tracked tensor in its tape: equal for tensors with one gradient.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// let x = rt.variable_from(cotangent::Tensor::scalar(0.5))?;
/// assert_eq!(x.key(), x.clone().key());
/// assert!(x.key() != x.square()?.key() && x.detach().key().is_none());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorKey {
    node: u64,
    slot: u32,
}

/// The cotangents that a reverse pass computed: of variables, and of every intermediate tensor that
/// is still alive.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// let x = rt.variable_from(cotangent::Tensor::scalar(0.5))?;
/// let y = x.square()?;
/// let z = y.exp()?;
/// let all = z.backward()?;
/// // Of an intermediate tensor.
/// assert_eq!(all.get(&y).unwrap().item::<f64>()?, z.item::<f64>()?);
/// assert_eq!(all.len(), 3);
/// assert!(all.keys().any(|key| Some(key) == x.key()));
/// assert!(all.iter().all(|(_, ct)| ct.rank() == 0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Cotangents(Vec<((u64, u32), Value)>);

impl Cotangents {
    /// The cotangent of a tensor; `None` if the pass did not reach it.
    pub fn get(&self, x: &EagerTensor) -> Option<Arc<Tensor>> {
        let v = x.value.as_ref().ok()?;
        // Sorted by node id, descending.
        let (node, slot) = v.edge.as_ref()?.key();
        let at = self.0.partition_point(|((id, _), _)| *id > node);
        let (_, ct) = self.0[at..]
            .iter()
            .take_while(|((id, _), _)| *id == node)
            .find(|((_, s), _)| *s == slot)?;
        Some(Arc::new(
            tensor_of(&Value {
                given: v.given,
                ..ct.clone()
            })
            .ok()?,
        ))
    }

    /// Number of tensors with a cotangent.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no tensor has a cotangent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys of tensors with a cotangent, the last recorded first.
    pub fn keys(&self) -> impl Iterator<Item = TensorKey> + '_ {
        self.0.iter().map(|((node, slot), _)| TensorKey {
            node: *node,
            slot: *slot,
        })
    }

    /// Keys and cotangents, the last recorded first.
    pub fn iter(&self) -> impl Iterator<Item = (TensorKey, Arc<Tensor>)> + '_ {
        let tensors = self.0.iter().map(|(_, v)| tensor_of(v));
        (self.keys().zip(tensors)).filter_map(|(key, ct)| Some((key, Arc::new(ct.ok()?))))
    }
}

impl std::fmt::Debug for Cotangents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cotangents of {} tensors", self.len())
    }
}

/// A reverse pass of [`EagerTensor::backward_with`]: options, a seed, or both. The seed is the
/// cotangent of the tensor; without one it is 1, and the tensor a real scalar.
///
/// ```
/// use cotangent::ad::{BackwardOptions, EagerRuntime};
/// let rt = EagerRuntime::new();
/// let x = rt.variable_from(cotangent::Tensor::vector(vec![1.0, 2.0]))?;
/// let (y, seed) = (x.square()?, rt.vector(vec![1.0, 10.0])?);
/// y.backward_with((&seed, BackwardOptions::keep_graph()))?;
/// y.backward_with(&seed)?;
/// assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [4.0, 80.0]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Backward<'a> {
    /// The cotangent of the tensor.
    pub seed: Option<&'a EagerTensor>,
    /// Options of the pass.
    pub options: BackwardOptions,
}

impl From<BackwardOptions> for Backward<'_> {
    fn from(options: BackwardOptions) -> Self {
        Backward {
            seed: None,
            options,
        }
    }
}

impl<'a> From<&'a EagerTensor> for Backward<'a> {
    fn from(seed: &'a EagerTensor) -> Self {
        (seed, BackwardOptions::default()).into()
    }
}

impl<'a> From<(&'a EagerTensor, BackwardOptions)> for Backward<'a> {
    fn from((seed, options): (&'a EagerTensor, BackwardOptions)) -> Self {
        Backward {
            seed: Some(seed),
            options,
        }
    }
}

impl EagerTensor {
    /// The key of a tracked tensor; `None` if it tracks no gradient.
    pub fn key(&self) -> Option<TensorKey> {
        let (node, slot) = self.value.as_ref().ok()?.edge.as_ref()?.key();
        Some(TensorKey { node, slot })
    }

    #[track_caller]
    fn edge(&self) -> Result<&Edge> {
        match &self.value()?.edge {
            Some(e) => Ok(e),
            None => core(
                Code::Unbound,
                "the tensor tracks no gradient: it was not computed from a tensor of requires_grad_in, or it \
                 does not depend on that in a differentiable way"
                    .into(),
            ),
        }
    }

    /// Checks that the tensor is a real scalar.
    #[track_caller]
    fn check_loss(&self) -> Result<()> {
        let v = self.value()?;
        if v.rank() != 0 {
            let shape = v.tensor.shape().to_vec().into();
            return Err(Error::NonScalarGrad { shape }.at(here()));
        }
        match v.tensor.dtype() {
            d if d.is_complex() => core(
                Code::ComplexLoss,
                format!(
                    "backward needs a real scalar, got {d}: take real() or abs2(), or use backward_with(&seed), vjp with a \
                     cotangent, or holomorphic_derivative"
                ),
            ),
            d if !d.has_tangent() => core(
                Code::IntegerOutput,
                format!("backward needs a float, got {d}: integers have no tangent"),
            ),
            _ => Ok(()),
        }
    }

    /// Adds the gradient of this real scalar to the gradients of the variables and of the live
    /// intermediate tensors that it was computed from. Returns these cotangents. Saved tensors are
    /// kept until this tensor is dropped, so another pass may follow.
    #[track_caller]
    pub fn backward(&self) -> Result<Cotangents> {
        self.backward_with(BackwardOptions::default())
    }

    /// As [`EagerTensor::backward`], with options, or with a seed for a tensor that is no real
    /// scalar (see [`Backward`]).
    #[track_caller]
    pub fn backward_with<'a>(&self, how: impl Into<Backward<'a>>) -> Result<Cotangents> {
        let Backward { seed, options } = how.into();
        let seed = match seed {
            Some(ct) => ct.direction(Code::SeedMismatch, "cotangent", self)?,
            None => {
                self.check_loss()?;
                self.seed_one()
            }
        };
        let seed = (self.edge()?.clone(), seed);
        let mut all = Cotangents(Vec::with_capacity(4));
        let mut reached: SmallVec<[Shared<Node>; 4]> = SmallVec::new();
        pull(&self.rt, &[seed], options, &mut |node, slot, ct| {
            reached.push(node.clone());
            all.0.push(((node.id(), slot), ct));
        })
        .at_caller()?;
        for (node, ((_, slot), ct)) in reached.iter().zip(&all.0) {
            let track = options.create_graph && node.is_leaf();
            let ct = match track {
                true => ct.clone(),
                false => Value::new(ct.tensor.clone(), ct.given),
            };
            if let Some(place) = gradient_place(node, *slot) {
                Gradient::add(&place, &self.rt, ct, track).at_caller()?;
            }
        }
        Ok(all)
    }

    fn seed_one(&self) -> Value {
        Value::new(self.rt.one(self.dtype()), Given::Nothing)
    }

    /// The place of the gradient; `None` if there is none.
    fn gradient_place(&self) -> Result<Option<GradientPlace<'_>>> {
        Ok(match (&self.grad, &self.value()?.edge) {
            (Some(grad), _) => Some(GradientPlace::Variable(grad.clone())),
            (None, Some(e)) => gradient_place(&e.node, e.slot),
            (None, None) => None,
        })
    }

    /// The accumulated gradient, in the memory order of this tensor.
    fn gradient(&self) -> Result<Option<Value>> {
        let place = self.gradient_place()?;
        let value = place.and_then(|g| g.with(self.rt.clears(), |g| g.value.clone()));
        Ok(value.map(|v| Value {
            given: self.given(),
            ..v
        }))
    }

    /// The accumulated gradient of this tensor, a variable or not; `None` if no
    /// [`backward`](Self::backward) reached it. A gradient is stored for each tracked tensor that
    /// is alive during the pass; other results cost nothing. [`EagerTensor::grad_or_zero`] is zero
    /// instead of `None`.
    #[track_caller]
    pub fn grad(&self) -> Result<Option<Arc<Tensor>>> {
        self.gradient()?
            .map(|v| Ok(Arc::new(tensor_of(&v)?)))
            .transpose()
            .at_caller()
    }

    /// As [`EagerTensor::grad`], as a tensor of the runtime. It is tracked after a pass with
    /// [`BackwardOptions::create_graph`] if this is a variable; use [`EagerTensor::grad_of`] for a
    /// tracked gradient with respect to another tensor.
    #[track_caller]
    pub fn grad_tensor(&self) -> Result<Option<EagerTensor>> {
        Ok(self
            .gradient()?
            .map(|v| EagerTensor::from_value(v, &self.rt)))
    }

    /// As [`EagerTensor::grad_tensor`]; zeros if no pass reached this tensor.
    ///
    /// ```
    /// use cotangent::EagerRuntime;
    /// let rt = EagerRuntime::new();
    /// let (x, y) = (rt.variable_from([1.0, 2.0])?, rt.variable_from(3.0)?);
    /// x.square()?.sum(..)?.backward()?;
    /// assert_eq!(x.grad_or_zero()?.to_vec::<f64>()?, [2.0, 4.0]);
    /// assert_eq!(y.grad_or_zero()?.item::<f64>()?, 0.0);
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn grad_or_zero(&self) -> Result<EagerTensor> {
        match self.grad_tensor()? {
            Some(g) => Ok(g),
            None => self.zeros_like(),
        }
    }

    /// Checks that the tensor is tracked. Its gradient is stored anyway while it is alive: the
    /// method exists for programs that call PyTorch's `retain_grad`.
    #[track_caller]
    pub fn retain_grad(&self) -> Result<()> {
        self.edge().map(|_| ())
    }

    /// Clears the gradient of this tensor.
    #[track_caller]
    pub fn clear_grad(&self) -> Result<()> {
        let place = self.gradient_place()?;
        let old = place.and_then(|g| g.with(self.rt.clears(), Gradient::take));
        drop(old);
        Ok(())
    }

    /// Registers a hook: every reverse pass that reaches this tensor calls it with the complete
    /// gradient with respect to the tensor. A returned tensor replaces the gradient. A hook that
    /// captures its own tensor is a reference cycle, and leaks unless it is removed.
    #[track_caller]
    pub fn register_hook(
        &self,
        hook: impl Fn(&EagerTensor) -> Option<EagerTensor> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let (e, rt) = (self.edge()?, self.rt.clone());
        let call = move |v: &Value| {
            let Some(new) = hook(&EagerTensor::from_value(v.clone(), &rt)) else {
                return Ok(None);
            };
            new.belongs_to(&rt)?;
            Ok(Some(new.value()?.clone()))
        };
        Ok(e.node.add_hook(e.slot, self.given(), Arc::new(call)))
    }

    #[track_caller]
    fn pull_to(
        &self,
        ct: Value,
        wrt: &[&EagerTensor],
        options: BackwardOptions,
    ) -> Result<Vec<Option<EagerTensor>>> {
        let mut keys = Vec::new();
        for x in wrt {
            x.belongs_to(&self.rt).at_caller()?;
            keys.push(x.edge()?.key());
        }
        let Some(edge) = self.value()?.edge.clone() else {
            return Ok(vec![None; wrt.len()]);
        };
        let seed = (edge, ct);
        let mut found: FxHashMap<(u64, u32), Value> = FxHashMap::default();
        pull(&self.rt, &[seed], options, &mut |node, slot, ct| {
            let key = (node.id(), slot);
            if keys.contains(&key) {
                found.insert(key, ct);
            }
        })
        .at_caller()?;
        Ok(wrt
            .iter()
            .zip(&keys)
            .map(|(x, key)| {
                let v = Value {
                    given: x.given(),
                    ..found.get(key)?.clone()
                };
                Some(EagerTensor::from_value(v, &self.rt))
            })
            .collect())
    }

    /// The gradients of this real scalar with respect to tensors, variables or not; zeros for a
    /// tensor that it does not depend on ([`EagerTensor::grad_optional`] tells these). The
    /// gradients of variables do not change. With [`BackwardOptions::create_graph`] the results can
    /// be differentiated again.
    #[track_caller]
    pub fn grad_of(
        &self,
        wrt: &[&EagerTensor],
        options: BackwardOptions,
    ) -> Result<Vec<EagerTensor>> {
        let found = self.grad_optional(wrt, options)?;
        found
            .into_iter()
            .zip(wrt)
            .map(|(g, x)| g.map_or_else(|| x.no_derivative(), Ok))
            .collect()
    }

    /// Gradients with respect to several tensors: [`EagerTensor::grad_of`] by another name.
    #[track_caller]
    pub fn grads_of(
        &self,
        wrt: &[&EagerTensor],
        options: BackwardOptions,
    ) -> Result<Vec<EagerTensor>> {
        self.grad_of(wrt, options)
    }

    /// As [`EagerTensor::grad_of`], with `None` for a tensor that the scalar does not depend on.
    #[track_caller]
    pub fn grad_optional(
        &self,
        wrt: &[&EagerTensor],
        options: BackwardOptions,
    ) -> Result<Vec<Option<EagerTensor>>> {
        self.check_loss()?;
        self.pull_to(self.seed_one(), wrt, options)
    }

    #[track_caller]
    fn direction(&self, code: Code, what: &str, of: &EagerTensor) -> Result<Value> {
        self.belongs_to(&of.rt).at_caller()?;
        let (given, of) = (self.value()?, of.value()?);
        if given.tensor.dtype() != of.tensor.dtype() || given.tensor.shape() != of.tensor.shape() {
            let text = format!(
                "the {what} of a value of type {} must have that type, got {}",
                of.tensor.ty(),
                given.tensor.ty()
            );
            return core(code, text);
        }
        Ok(given.clone())
    }

    /// The cotangent of `x` for a cotangent `ct` of this tensor. Keeps the graph. The result is
    /// tracked if `ct` or a residual is.
    #[track_caller]
    pub fn vjp(&self, x: &EagerTensor, ct: &EagerTensor) -> Result<EagerTensor> {
        let seed = ct.direction(Code::SeedMismatch, "cotangent", self)?;
        let back = self
            .pull_to(seed, &[x], BackwardOptions::create_graph())?
            .remove(0);
        back.map_or_else(|| x.no_derivative(), Ok).at_caller()
    }

    /// The derivative of this complex scalar by a complex tensor that it depends on
    /// holomorphically: the conjugate of its cotangent for 1. Keeps the graph. Undefined for
    /// functions that are not holomorphic, which is not checked.
    ///
    /// ```
    /// use cotangent::{C128, EagerRuntime, Tensor};
    /// let z = EagerRuntime::new().variable_from(Tensor::scalar(C128::new(1.0, 2.0)))?;
    /// let d = z.powi(3)?.holomorphic_derivative(&z)?;
    /// assert_eq!(d.item::<C128>()?, C128::new(-9.0, 12.0));
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn holomorphic_derivative(&self, x: &EagerTensor) -> Result<EagerTensor> {
        check_holomorphic(&self.ty()?, &x.ty()?).at_caller()?;
        self.vjp(x, &self.ones_like()?)?.conj()
    }

    /// The tangent of this tensor for a tangent `dx` of `x`, by replaying the recorded operations.
    /// Keeps the graph.
    #[track_caller]
    pub fn jvp(&self, x: &EagerTensor, dx: &EagerTensor) -> Result<EagerTensor> {
        let seed = dx.direction(Code::TangentMismatch, "tangent", x)?;
        self.belongs_to(&x.rt).at_caller()?;
        let seed = vec![(x.edge()?.clone(), seed)];
        let t = match &self.value()?.edge {
            Some(out) => push(&self.rt, std::slice::from_ref(out), seed, true)
                .at_caller()?
                .remove(0),
            None => None,
        };
        match t {
            Some(v) => Ok(EagerTensor::from_value(
                Value {
                    given: self.given(),
                    ..v
                },
                &self.rt,
            )),
            None => self.no_derivative(),
        }
    }

    /// The derivative of, or by, an independent tensor: zeros in the memory order of this tensor.
    fn no_derivative(&self) -> Result<EagerTensor> {
        let zeros = self.zeros_like()?.value()?.clone();
        Ok(EagerTensor::from_value(
            Value {
                given: self.given(),
                ..zeros
            },
            &self.rt,
        ))
    }
}
