//! [`EagerTensor`]: a tensor whose operations run immediately, and are recorded if it is tracked.

use super::apply::apply_to;
use super::backward::{BackwardOptions, pull, push};
use super::error::{Error, Result};
use super::hook::HookHandle;
use super::ids::recording;
use super::runtime::EagerRuntime;
use super::tape::{Edge, Grad, Gradient, Node, NodeKind, Shared, Value, Values};
use super::turns::lock;
use crate::here::here;
use crate::tensor::{Given, Order, Tensor};
use cotangent_core::{Code, DType, Element, Env, Loc, Op, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::panic::Location;
use std::sync::Arc;

/// A tensor of an [`EagerRuntime`]. Operations run immediately, and are recorded if an operand is
/// tracked.
///
/// Operators cannot return an error: a failed operator returns a tensor that carries it, and every
/// method of that tensor returns the error. Cloning is cheap: clones share the value and its
/// gradient.
///
/// ```
/// use cotangent::ad::{EagerRuntime, EagerTensor};
/// use cotangent::{DType, Tensor};
/// let rt = EagerRuntime::new();
/// let x = EagerTensor::requires_grad_in(Tensor::vector(vec![1.0, 2.0, 3.0]), &rt)?;
/// let y = EagerTensor::from_tensor_in(Tensor::vector(vec![4.0, 5.0, 6.0]), &rt)?;
/// let loss = (&x * &y).exp()?.mul(&y)?.sum(..)?;
/// assert_eq!((loss.shape(), loss.rank(), loss.dtype()), (&[][..], 0, DType::F64));
/// assert!(loss.tracks_grad() && loss.same_context(&x) && !y.tracks_grad());
/// // Forward mode, on the recorded operations.
/// let dx = x.zeros_like()?;
/// assert_eq!(loss.jvp(&x, &dx)?.item::<f64>()?, 0.0);
/// assert!(!loss.detach().tracks_grad());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone)]
pub struct EagerTensor {
    value: std::result::Result<Value, Box<Error>>,
    rt: Arc<EagerRuntime>,
    /// The gradient of a variable.
    grad: Option<Grad>,
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
/// assert!(!all.is_empty() && all.len() >= 2);
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
}

impl std::fmt::Debug for Cotangents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cotangents of {} tensors", self.len())
    }
}

/// The tensor outside the runtime, contiguous in its memory order.
fn tensor_of(v: &Value) -> Result<Tensor> {
    Ok(Tensor::computed(v.tensor.clone(), v.given)?)
}

#[track_caller]
fn core<T>(code: Code, message: String) -> Result<T> {
    Err(cotangent_core::Error::new(code, message).at(here()).into())
}

impl EagerTensor {
    /// A constant of a runtime. It tracks no gradient.
    pub fn from_tensor_in(
        tensor: impl Into<Tensor>,
        ctx: impl Borrow<Arc<EagerRuntime>>,
    ) -> Result<EagerTensor> {
        let tensor = tensor.into();
        let given = tensor.given();
        Ok(EagerTensor::from_value(
            Value::new(tensor.into_view(), given),
            ctx.borrow(),
        ))
    }

    /// A variable of a runtime: gradients with respect to it are tracked. The elements are not
    /// copied. An error for integers and booleans, which have no tangent.
    pub fn requires_grad_in(
        tensor: impl Into<Tensor>,
        ctx: impl Borrow<Arc<EagerRuntime>>,
    ) -> Result<EagerTensor> {
        let mut x = EagerTensor::from_tensor_in(tensor, ctx)?;
        let dtype = x.dtype();
        if !dtype.has_tangent() {
            return core(
                Code::IntegerInput,
                format!("a variable of dtype {dtype} has no gradient: convert it to a float first"),
            );
        }
        let (edge, grad) = Node::leaf();
        x.rt.note_variable(&grad);
        if let Ok(v) = &mut x.value {
            v.edge = Some(edge);
        }
        x.grad = Some(grad);
        Ok(x)
    }

    pub(super) fn from_value(value: Value, rt: &Arc<EagerRuntime>) -> EagerTensor {
        EagerTensor {
            value: Ok(value),
            rt: rt.clone(),
            grad: None,
        }
    }

    /// The result of an operator: the tensor, or one that carries the error.
    pub(super) fn from_result(r: Result<EagerTensor>, rt: &Arc<EagerRuntime>) -> EagerTensor {
        r.unwrap_or_else(|e| EagerTensor {
            value: Err(Box::new(e)),
            rt: rt.clone(),
            grad: None,
        })
    }

    pub(super) fn value(&self) -> Result<&Value> {
        self.value.as_ref().map_err(|e| (**e).clone())
    }

    pub(super) fn belongs_to(&self, rt: &EagerRuntime) -> Result<()> {
        if self.rt.id() != rt.id() {
            return Err(Error::ContextMismatch {
                lhs: rt.id(),
                rhs: self.rt.id(),
            });
        }
        Ok(())
    }

    /// Runs an operation with one result.
    #[track_caller]
    pub(super) fn one(&self, op: impl Into<Op>, x: &[&Value]) -> Result<EagerTensor> {
        let loc = Loc::Rust(Location::caller());
        let mut y = Values::new();
        apply_to(
            &self.rt,
            &op.into(),
            x,
            true,
            loc,
            &mut Env::default(),
            &mut y,
        )
        .map_err(|e| e.at(loc))?;
        let y = y.pop().expect("the operation has one result");
        Ok(EagerTensor {
            value: Ok(y),
            rt: self.rt.clone(),
            grad: None,
        })
    }

    /// Applies an operation, built-in or extension. Returns a tensor per result. Use
    /// [`EagerRuntime::apply`] for an operation without operands.
    #[track_caller]
    pub fn apply(op: impl Into<Op>, operands: &[&EagerTensor]) -> Result<Vec<EagerTensor>> {
        match operands.first() {
            Some(x) => x.rt.apply(op, operands),
            None => core(
                Code::Arity,
                "an operation without operands needs a runtime: use EagerRuntime::apply".into(),
            ),
        }
    }

    /// The extents of the axes (none for a tensor that carries an error).
    pub fn shape(&self) -> &[usize] {
        self.value.as_ref().map_or(&[], |v| v.tensor.shape())
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// Number of elements (1 for a tensor that carries an error).
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type (`f64` for a tensor that carries an error).
    pub fn dtype(&self) -> DType {
        self.value.as_ref().map_or(DType::F64, |v| v.tensor.dtype())
    }

    /// Element type and shape.
    pub fn ty(&self) -> Result<Type> {
        Ok(self.value()?.ty().clone())
    }

    /// The memory order in which its elements are listed.
    pub fn order(&self) -> Order {
        self.given().order()
    }

    fn given(&self) -> Given {
        self.value.as_ref().map_or(Given::Nothing, |v| v.given)
    }

    /// Whether it depends on a variable, so that gradients are tracked.
    pub fn tracks_grad(&self) -> bool {
        matches!(&self.value, Ok(Value { edge: Some(_), .. }))
    }

    /// Whether it depends on a variable: PyTorch's name of [`EagerTensor::tracks_grad`].
    pub fn requires_grad(&self) -> bool {
        self.tracks_grad()
    }

    /// The id of the runtime.
    pub fn ctx_id(&self) -> u64 {
        self.rt.id()
    }

    /// The runtime.
    pub fn runtime(&self) -> &Arc<EagerRuntime> {
        &self.rt
    }

    /// Whether both belong to one runtime.
    pub fn same_context(&self, other: &EagerTensor) -> bool {
        self.rt.id() == other.rt.id()
    }

    /// The elements, contiguous in the tensor's order. No copy if they are contiguous already.
    pub fn to_tensor(&self) -> Result<Tensor> {
        tensor_of(self.value()?)
    }

    /// As [`EagerTensor::to_tensor`], in an `Arc`.
    pub fn materialized(&self) -> Result<Arc<Tensor>> {
        Ok(Arc::new(self.to_tensor()?))
    }

    /// As [`EagerTensor::materialized`].
    pub fn tensor_read(&self) -> Result<Arc<Tensor>> {
        self.materialized()
    }

    /// The elements in the tensor's order, copied.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        Ok(self.to_tensor()?.to_vec()?)
    }

    /// The only element.
    pub fn item<T: Element>(&self) -> Result<T> {
        Ok(self.to_tensor()?.item()?)
    }

    /// The same elements as a constant: no gradient is tracked through it.
    pub fn detach(&self) -> EagerTensor {
        let value = self
            .value
            .as_ref()
            .map(|v| Value {
                edge: None,
                sides: None,
                ..v.clone()
            })
            .map_err(Clone::clone);
        EagerTensor {
            value,
            rt: self.rt.clone(),
            grad: None,
        }
    }

    /// The same elements as a constant of another runtime.
    pub fn detach_into(&self, ctx: &Arc<EagerRuntime>) -> Result<EagerTensor> {
        Ok(EagerTensor::from_value(
            Value {
                edge: None,
                sides: None,
                ..self.value()?.clone()
            },
            ctx,
        ))
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
            return Err(Error::NonScalarGrad {
                shape: v.tensor.shape().to_vec(),
            });
        }
        match v.tensor.dtype() {
            d if d.is_complex() => core(
                Code::ComplexLoss,
                format!(
                    "backward needs a real scalar, got {d}: take real() or abs2(), or use vjp with a cotangent"
                ),
            ),
            d if !d.has_tangent() => core(
                Code::IntegerOutput,
                format!("backward needs a float, got {d}: integers have no tangent"),
            ),
            _ => Ok(()),
        }
    }

    /// Adds the gradient of this real scalar to the gradient of every variable that it was computed
    /// from, and releases the saved tensors. Returns the cotangents of variables and of
    /// intermediate tensors that are still alive.
    #[track_caller]
    pub fn backward(&self) -> Result<Cotangents> {
        self.backward_with(BackwardOptions::default())
    }

    /// As [`EagerTensor::backward`], with options.
    #[track_caller]
    pub fn backward_with(&self, options: BackwardOptions) -> Result<Cotangents> {
        self.check_loss()?;
        let seed = (self.edge()?.clone(), self.seed_one());
        let mut all = Cotangents(Vec::with_capacity(4));
        let mut leaves: SmallVec<[(Shared<Node>, Value); 2]> = SmallVec::new();
        pull(&self.rt, &[seed], options, &mut |node, slots, held| {
            for (slot, v) in slots {
                if node.is_leaf() {
                    leaves.push((node.clone(), v.clone()));
                }
                if held {
                    all.0.push(((node.id, *slot), v.clone()));
                }
            }
        })?;
        for (node, v) in leaves {
            // A variable without live tensors needs no gradient.
            if let NodeKind::Leaf { grad } = &node.kind
                && let Some(grad) = grad.upgrade()
            {
                Gradient::add(&grad, &self.rt, v, options.create_graph)?;
            }
        }
        Ok(all)
    }

    fn seed_one(&self) -> Value {
        Value::new(self.rt.one(self.dtype()), Given::Nothing)
    }

    /// The gradient of this variable; `None` for other tensors.
    fn leaf_grad(&self) -> Result<Option<Grad>> {
        let Some(Edge { node, .. }) = &self.value()?.edge else {
            return Ok(None);
        };
        Ok(match &node.kind {
            NodeKind::Leaf { grad } => self.grad.clone().or_else(|| grad.upgrade()),
            NodeKind::Op { .. } => None,
        })
    }

    /// The accumulated gradient, in the memory order of this tensor.
    fn gradient(&self) -> Result<Option<Value>> {
        let value = self.leaf_grad()?.and_then(|g| lock(&g).value.clone());
        Ok(value.map(|v| Value {
            given: self.given(),
            ..v
        }))
    }

    /// The accumulated gradient of this variable; `None` if no reverse pass has reached it, and for
    /// tensors that are not variables.
    pub fn grad(&self) -> Result<Option<Arc<Tensor>>> {
        self.gradient()?
            .map(|v| Ok(Arc::new(tensor_of(&v)?)))
            .transpose()
    }

    /// As [`EagerTensor::grad`], as a tensor of the runtime. It is tracked after a pass with
    /// [`BackwardOptions::create_graph`].
    pub fn grad_tensor(&self) -> Result<Option<EagerTensor>> {
        Ok(self
            .gradient()?
            .map(|v| EagerTensor::from_value(v, &self.rt)))
    }

    /// Clears the gradient of this variable.
    pub fn clear_grad(&self) -> Result<()> {
        let old = self.leaf_grad()?.and_then(|g| lock(&g).take());
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
            x.belongs_to(&self.rt)?;
            keys.push(x.edge()?.key());
        }
        let Some(edge) = self.value()?.edge.clone() else {
            return Ok(vec![None; wrt.len()]);
        };
        let seed = (edge, ct);
        let mut found: FxHashMap<(u64, u32), Value> = FxHashMap::default();
        pull(&self.rt, &[seed], options, &mut |node, slots, _| {
            for (slot, v) in slots
                .iter()
                .filter(|(slot, _)| keys.contains(&(node.id, *slot)))
            {
                found.insert((node.id, *slot), v.clone());
            }
        })?;
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
    /// tensor that it does not depend on. The gradients of variables do not change. With
    /// [`BackwardOptions::create_graph`] the results can be differentiated again.
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

    /// The gradients with respect to tensors: as [`EagerTensor::grad_of`], the former name.
    #[track_caller]
    pub fn grads_of(
        &self,
        wrt: &[&EagerTensor],
        options: BackwardOptions,
    ) -> Result<Vec<EagerTensor>> {
        self.grad_of(wrt, options)
    }

    /// As [`EagerTensor::grads_of`], with `None` for a tensor that the scalar does not depend on.
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
        self.belongs_to(&of.rt)?;
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
        back.map_or_else(|| x.no_derivative(), Ok)
    }

    /// The tangent of this tensor for a tangent `dx` of `x`, by replaying the recorded operations.
    /// Keeps the graph.
    #[track_caller]
    pub fn jvp(&self, x: &EagerTensor, dx: &EagerTensor) -> Result<EagerTensor> {
        let seed = dx.direction(Code::TangentMismatch, "tangent", x)?;
        self.belongs_to(&x.rt)?;
        let seed = vec![(x.edge()?.clone(), seed)];
        let t = match &self.value()?.edge {
            Some(out) => push(&self.rt, std::slice::from_ref(out), seed, true)?.remove(0),
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

    /// A constant of zeros with the same type.
    pub fn zeros_like(&self) -> Result<EagerTensor> {
        let v = self.value()?;
        EagerTensor::from_tensor_in(Tensor::zeros(v.tensor.dtype(), v.tensor.shape())?, &self.rt)
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

    /// Updates the elements, which `f` receives in the tensor's order. Clones, views and saved
    /// tensors keep the old elements. An error for a tracked tensor, except for a variable inside
    /// [`no_grad`](super::no_grad) (the step of an optimizer).
    pub fn update<T: Element>(&mut self, f: impl FnOnce(&mut [T])) -> Result<()> {
        let v = self.value()?;
        match &v.edge {
            Some(e) if !e.node.is_leaf() => {
                return Err(Error::ModifiedInPlace {
                    what: format!(
                        "in-place modification of the result of `{}`: detach it first",
                        e.node.name()
                    ),
                });
            }
            Some(_) if recording() => {
                return Err(Error::ModifiedInPlace {
                    what:
                        "in-place modification of a variable that requires gradients: do it inside \
                           no_grad"
                            .into(),
                });
            }
            _ => {}
        }
        let (given, edge) = (v.given, v.edge.clone());
        let shape = v.tensor.shape().to_vec();
        let mut data = self.to_tensor()?.to_vec::<T>()?;
        f(&mut data);
        let new = match given.order() {
            Order::RowMajor => Tensor::from_vec_row_major(shape, data)?,
            Order::ColumnMajor => Tensor::from_vec_col_major(shape, data)?,
        };
        self.value = Ok(Value {
            edge,
            ..Value::new(new.into_view(), given)
        });
        Ok(())
    }
}

impl std::fmt::Debug for EagerTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_tensor() {
            Ok(t) if self.tracks_grad() => write!(f, "EagerTensor({t}, tracked)"),
            Ok(t) => write!(f, "EagerTensor({t})"),
            Err(e) => write!(f, "EagerTensor({e})"),
        }
    }
}

impl std::fmt::Display for EagerTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_tensor() {
            Ok(t) => std::fmt::Display::fmt(&t, f),
            Err(e) => std::fmt::Display::fmt(&e, f),
        }
    }
}
