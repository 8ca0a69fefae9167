//! [`EagerTensor`]: a tensor whose operations run immediately, and are recorded if it is tracked.

use super::apply::apply_to;
use super::context_id::ContextId;
use super::error::{Error, Result};
use super::recording::recording;
use super::runtime::EagerRuntime;
use super::tape::{Grad, NodeBody, Value, Values};
use crate::here::{AtCaller, here};
use crate::tensor::{Given, OneLine, Order, Tensor};
use cotangent_core::tape::NodeData;
use cotangent_core::{Code, DType, Element, Env, Loc, Op, Type};
use once_cell::race::OnceBox;
use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::Deref;
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
    pub(super) value: std::result::Result<Value, Box<Error>>,
    pub(super) rt: Arc<EagerRuntime>,
    /// The gradient of a variable.
    pub(super) grad: Option<Grad>,
    /// The elements, contiguous, after the first [`EagerTensor::materialized`].
    pub(super) dense: OnceBox<Arc<Tensor>>,
}

/// The elements of a tensor, read where they are: a view with strides, in any memory order. It is
/// used as a [`Tensor`].
///
/// ```
/// use cotangent::ad::{EagerRuntime, TensorRead};
/// let x = EagerRuntime::new().from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// let t = x.t()?;
/// let read: TensorRead<'_> = t.tensor_read()?;
/// // No copy: the axes of the same elements are permuted.
/// assert_eq!(read.strides(), [1, 2]);
/// assert_eq!(read.to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensorRead<'a> {
    tensor: Tensor,
    of: PhantomData<&'a EagerTensor>,
}

impl Deref for TensorRead<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

/// The tensor outside the runtime, contiguous in its memory order.
pub(super) fn tensor_of(v: &Value) -> Result<Tensor> {
    Ok(Tensor::computed(v.tensor.clone(), v.given)?)
}

#[track_caller]
pub(super) fn core<T>(code: Code, message: String) -> Result<T> {
    Err(cotangent_core::Error::new(code, message).at(here()).into())
}

/// A tensor as a value of a runtime. It must be where the runtime computes.
#[track_caller]
fn placed(tensor: Tensor, rt: &EagerRuntime) -> Result<Value> {
    let mismatch = |text: String| core(Code::DeviceMismatch, text);
    match (rt.device(), tensor.remote()) {
        (None, None) => {}
        (Some(device), Some(remote)) if device.holds(remote) => {}
        (None, Some(remote)) => {
            return mismatch(format!(
                "a tensor of type {} is on {remote:?}, and the runtime computes on the host: copy it by \
                 `download_tensor` or `to_host`, or use a runtime of that device",
                tensor.ty()
            ));
        }
        (Some(device), None) => {
            return mismatch(format!(
                "a tensor of type {} is on the host, and the runtime computes on {device:?}: copy it by \
                 `upload_tensor` or `to_device`",
                tensor.ty()
            ));
        }
        (Some(device), Some(remote)) => {
            return mismatch(format!(
                "a tensor of type {} is on {remote:?}, and the runtime computes on {device:?}: copy it by \
                 `to_host`, then by `upload_tensor` or `to_device`",
                tensor.ty()
            ));
        }
    }
    let given = tensor.given();
    Ok(Value::new(tensor.into_view(), given))
}

#[track_caller]
fn modified_in_place<T>(what: String) -> Result<T> {
    Err(Error::ModifiedInPlace { what: what.into() }.at(here()))
}

impl EagerTensor {
    /// A constant of a runtime. It tracks no gradient.
    #[track_caller]
    pub fn from_tensor_in(
        tensor: impl Into<Tensor>,
        ctx: impl Borrow<Arc<EagerRuntime>>,
    ) -> Result<EagerTensor> {
        let rt = ctx.borrow();
        Ok(EagerTensor::from_value(placed(tensor.into(), rt)?, rt))
    }

    /// As [`from_tensor_in`](Self::from_tensor_in). A tensor of another device becomes one that
    /// carries the error.
    #[track_caller]
    pub(crate) fn constant(tensor: Tensor, rt: &Arc<EagerRuntime>) -> EagerTensor {
        let value = placed(tensor, rt).map(|value| EagerTensor::from_value(value, rt));
        EagerTensor::from_result(value, rt)
    }

    /// A constant of a tensor that a method of the runtime made on the host: it is copied to the
    /// device of the runtime.
    #[track_caller]
    pub(super) fn created(tensor: Tensor, rt: &Arc<EagerRuntime>) -> Result<EagerTensor> {
        let tensor = match rt.device() {
            None => tensor,
            Some(device) => device.upload(&tensor).at_caller()?,
        };
        EagerTensor::from_tensor_in(tensor, rt)
    }

    /// A variable of a runtime: gradients with respect to it are tracked. The elements are not
    /// copied. An error for integers and booleans, which have no tangent.
    #[track_caller]
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
        let (edge, grad) = NodeBody::leaf();
        x.rt.note_gradient(&grad);
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
            dense: OnceBox::new(),
        }
    }

    /// The result of an operator: the tensor, or one that carries the error.
    #[track_caller]
    pub(super) fn from_result(r: Result<EagerTensor>, rt: &Arc<EagerRuntime>) -> EagerTensor {
        r.unwrap_or_else(|e| EagerTensor {
            value: Err(Box::new(e)),
            rt: rt.clone(),
            grad: None,
            dense: OnceBox::new(),
        })
    }

    #[inline] // every operation comes here
    pub(super) fn value(&self) -> Result<&Value> {
        #[cold]
        fn error(e: &Error) -> Error {
            e.clone()
        }
        self.value.as_ref().map_err(|e| error(e))
    }

    #[track_caller]
    pub(super) fn belongs_to(&self, rt: &EagerRuntime) -> Result<()> {
        if self.rt.id() != rt.id() {
            return Err(Error::ContextMismatch {
                lhs: rt.id().into(),
                rhs: self.rt.id().into(),
            });
        }
        Ok(())
    }

    /// Runs an operation with one result. Errors name the method that is called.
    #[track_caller]
    pub(super) fn one(&self, method: &str, op: impl Into<Op>, x: &[&Value]) -> Result<EagerTensor> {
        let loc = Loc::caller();
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
        .map_err(|e| e.of_call(method, x.iter().map(|v| v.ty())).at(loc))?;
        let none = || Error::Internal(format!("`{method}` has no result"));
        let y = y.pop().ok_or_else(none)?;
        Ok(EagerTensor::from_value(y, &self.rt))
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
    #[track_caller]
    pub fn ty(&self) -> Result<Type> {
        Ok(self.value()?.ty().clone())
    }

    /// The memory order in which its elements are listed.
    pub fn order(&self) -> Order {
        self.given().order()
    }

    pub(super) fn given(&self) -> Given {
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
    pub fn ctx_id(&self) -> ContextId {
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
    #[track_caller]
    pub fn to_tensor(&self) -> Result<Tensor> {
        tensor_of(self.value()?).at_caller()
    }

    /// As [`EagerTensor::to_tensor`], computed once and shared by further calls.
    #[track_caller]
    pub fn materialized(&self) -> Result<Arc<Tensor>> {
        if let Some(dense) = self.dense.get() {
            return Ok(dense.clone());
        }
        let dense = Arc::new(self.to_tensor()?);
        Ok(self.dense.get_or_init(|| Box::new(dense)).clone())
    }

    /// The elements where they are, without a copy: a view with strides.
    #[track_caller]
    pub fn tensor_read(&self) -> Result<TensorRead<'_>> {
        let v = self.value()?;
        Ok(TensorRead {
            tensor: Tensor::strided(v.tensor.clone(), v.given),
            of: PhantomData,
        })
    }

    /// The elements in the tensor's order, copied.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        Ok(self.to_tensor()?.to_vec()?)
    }

    /// The only element.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        Ok(self.to_tensor()?.item()?)
    }

    /// The same elements as a constant: no gradient is tracked through it.
    pub fn detach(&self) -> EagerTensor {
        let value = self.value.as_ref().map(|v| Value {
            edge: None,
            sides: None,
            ..v.clone()
        });
        EagerTensor {
            value: value.map_err(Clone::clone),
            rt: self.rt.clone(),
            grad: None,
            dense: self.dense.clone(),
        }
    }

    /// The same elements as a constant of another runtime.
    #[track_caller]
    pub fn detach_into(&self, ctx: &Arc<EagerRuntime>) -> Result<EagerTensor> {
        let v = self.value()?;
        EagerTensor::from_tensor_in(Tensor::strided(v.tensor.clone(), v.given), ctx)
    }

    /// A constant of zeros with the same type.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<EagerTensor> {
        let v = self.value()?;
        EagerTensor::created(Tensor::zeros(v.tensor.dtype(), v.tensor.shape())?, &self.rt)
    }

    /// The value, if it may be replaced: that of a constant, or of a variable inside
    /// [`no_grad`](super::no_grad).
    #[track_caller]
    fn writable(&self) -> Result<&Value> {
        let v = self.value()?;
        match &v.edge {
            Some(e) if !e.node.is_leaf() => modified_in_place(format!(
                "in-place modification of the result of `{}`: detach it first",
                e.node.name()
            )),
            Some(_) if recording() => modified_in_place(
                "in-place modification of a variable that requires gradients: do it inside no_grad"
                    .into(),
            ),
            _ => Ok(v),
        }
    }

    /// Replaces the elements by those of a tensor of the same type and runtime. As
    /// [`EagerTensor::update`], it is an error for a tracked tensor, except for a variable inside
    /// [`no_grad`](super::no_grad).
    ///
    /// ```
    /// use cotangent::ad::{EagerRuntime, no_grad};
    /// let mut w = EagerRuntime::new().variable_from([1.0, 2.0])?;
    /// w.square()?.sum(..)?.backward()?;
    /// no_grad(|| w.assign(&w - w.grad_or_zero()? * 0.5))?;
    /// assert_eq!(w.to_vec::<f64>()?, [0.0, 0.0]);
    /// assert!(w.tracks_grad());
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&mut self, value: impl Borrow<EagerTensor>) -> Result<()> {
        let (old, value) = (self.writable()?, value.borrow());
        let new = value.value()?;
        value.belongs_to(&self.rt).at_caller()?;
        let (of, by) = (old.ty(), new.ty());
        if of != by {
            let code = match of.dtype == by.dtype {
                true => Code::ShapeMismatch,
                false => Code::DTypeMismatch,
            };
            return core(
                code,
                format!(
                    "`assign` of {by} to {of}: an assignment keeps the type; convert or reshape it"
                ),
            );
        }
        self.value = Ok(Value {
            edge: old.edge.clone(),
            ..Value::new(new.tensor.clone(), old.given)
        });
        self.dense = OnceBox::new();
        Ok(())
    }

    /// Updates the elements, which `f` receives in the tensor's order. Clones, views and saved
    /// tensors keep the old elements. An error for a tracked tensor, except for a variable inside
    /// [`no_grad`](super::no_grad) (the step of an optimizer).
    #[track_caller]
    pub fn update<T: Element>(&mut self, f: impl FnOnce(&mut [T])) -> Result<()> {
        let v = self.writable()?;
        let (given, edge) = (v.given, v.edge.clone());
        let shape = v.tensor.shape().to_vec();
        let mut data = self.to_tensor()?.to_vec::<T>()?;
        f(&mut data);
        let new = match given.order() {
            Order::RowMajor => Tensor::from_vec_row_major(shape, data)?,
            Order::ColumnMajor => Tensor::from_vec_col_major(shape, data)?,
        };
        let new = EagerTensor::created(new, &self.rt)?;
        self.value = Ok(Value {
            edge,
            given,
            ..new.value()?.clone()
        });
        self.dense = OnceBox::new();
        Ok(())
    }
}

impl std::fmt::Debug for EagerTensor {
    /// Prints the type, the key of its recorded operation, and the elements on one line; of a
    /// tensor that carries an error, the error.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = match self.value() {
            Ok(value) => value,
            Err(e) => return f.debug_tuple("EagerTensor").field(&e).finish(),
        };
        let edge = value.edge.as_ref();
        let key = edge.map(|e| format!("{}.{}", e.node.id(), e.slot));
        let mut out = f.debug_struct("EagerTensor");
        out.field("dtype", &format_args!("{}", self.dtype()))
            .field("shape", &self.shape())
            .field("key", &format_args!("{}", key.as_deref().unwrap_or("none")))
            .field("requires_grad", &self.requires_grad())
            .field("has_trace", &edge.is_some_and(|e| !e.node.is_leaf()))
            .field("ctx_id", &self.ctx_id());
        match tensor_of(value) {
            Ok(t) => out.field("elements", &OneLine(&t)),
            Err(e) => out.field("elements", &e),
        };
        out.finish()
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
