//! [`Array`]: the one array class, in its states: elements (on a tape or not), a value of a program,
//! or a parameter, whose elements can be replaced.

use crate::device::{self, Device};
use crate::error::{OrRaise, raise};
use crate::scope::{self, Scope};
use cotangent::pjrt::PjrtBackend;
use cotangent::{DType, EagerRuntime, EagerTensor, Tensor, TracedTensor, Type};
use pyo3::prelude::*;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// The runtime of eager operations on the CPU.
pub(crate) static RUNTIME: LazyLock<Arc<EagerRuntime>> =
    LazyLock::new(|| EagerRuntime::with_cpu_backend(crate::run::backend()));

/// The elements of a parameter, and its value of programs.
pub(crate) struct ParameterSlot {
    pub value: EagerTensor,
    node: Option<TracedTensor>,
    /// Whether it is a variable of the tape.
    pub tape: bool,
}

pub(crate) enum State {
    /// Elements; recorded if they depend on a variable.
    Eager(EagerTensor),
    /// A value of a program.
    Traced(TracedTensor),
    /// Elements that can be replaced.
    Parameter(Mutex<ParameterSlot>),
    /// A result of a function that takes over arguments: it can be one of them.
    Donable(Donable),
}

/// Elements that a call may take over.
pub(crate) struct Donable {
    ty: Type,
    device: Arc<Device>,
    value: Mutex<Option<EagerTensor>>,
}

impl Donable {
    pub(crate) fn device(&self) -> Arc<Device> {
        self.device.clone()
    }

    fn value(&self) -> MutexGuard<'_, Option<EagerTensor>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An immutable n-dimensional array of numbers of one type.
///
/// Its elements are known, or recorded on a tape, or those of a value of a program that is being
/// traced. Functions and operators of the package work on all of them alike.
///
/// >>> ct.asarray([1.0, 2.0]).at[0].set(5.0) * 2
/// array([10.,  4.], dtype=float64)
#[pyclass(module = "cotangent", frozen, subclass, weakref)]
pub(crate) struct Array {
    pub state: State,
    /// Whether it is a Python number that a traced function received: it does not decide element
    /// types.
    pub weak: bool,
    pub scope: Option<Arc<Scope>>,
    /// Its value of programs, after the first use in one.
    node: OnceLock<TracedTensor>,
}

impl Array {
    fn of(state: State) -> Array {
        Array {
            state,
            weak: false,
            scope: None,
            node: OnceLock::new(),
        }
    }

    pub(crate) fn eager(x: EagerTensor) -> Array {
        Array::of(State::Eager(x))
    }

    pub(crate) fn known(t: Tensor) -> PyResult<Array> {
        let constant = match PjrtBackend::of(&t) {
            None => RUNTIME.constant_from(t),
            Some(_) => Device::of(&t).runtime.constant_from(t),
        };
        match constant {
            Ok(x) => Ok(Array::eager(x)),
            Err(e) => Python::attach(|py| Err(crate::error::python(py, e.into()))),
        }
    }

    /// Elements that a call may take over.
    pub(crate) fn donable(t: Tensor) -> PyResult<Array> {
        let array = Array::known(t)?;
        let ty = array.ty();
        match array.state {
            State::Eager(x) => Ok(Array::of(State::Donable(Donable {
                ty,
                device: Device::of_runtime(x.runtime()),
                value: Mutex::new(Some(x)),
            }))),
            _ => Ok(array),
        }
    }

    /// The elements, which the array gives up if it can: nothing else refers to them then.
    pub(crate) fn given_up(&self, py: Python<'_>) -> PyResult<Tensor> {
        let State::Donable(d) = &self.state else {
            return self.placed(py, "a call");
        };
        let x = d.value().take().ok_or_else(donated)?;
        let t = Tensor::clone(&*x.tensor_read().or_raise(py)?);
        Ok(t)
    }

    pub(crate) fn of_node(t: TracedTensor, scope: Option<Arc<Scope>>) -> Array {
        Array {
            scope,
            ..Array::of(State::Traced(t))
        }
    }

    pub(crate) fn weak(self, weak: bool) -> Array {
        Array { weak, ..self }
    }

    /// The elements of a parameter, and its variable.
    pub(crate) fn slot(&self) -> Option<MutexGuard<'_, ParameterSlot>> {
        match &self.state {
            State::Parameter(slot) => Some(slot.lock().unwrap_or_else(PoisonError::into_inner)),
            _ => None,
        }
    }

    /// Whether it is a value of a program: a parameter is one while a compiled function is traced,
    /// which reads its elements at each call.
    pub(crate) fn is_traced(&self) -> bool {
        match self.state {
            State::Traced(_) => true,
            State::Parameter(_) => scope::captures(),
            State::Eager(_) | State::Donable(_) => false,
        }
    }

    /// Whether it depends on a variable of the tape.
    pub(crate) fn is_recorded(&self) -> bool {
        match &self.state {
            State::Eager(x) => x.tracks_grad(),
            State::Traced(_) | State::Donable(_) => false,
            State::Parameter(_) => self.slot().is_some_and(|s| s.tape),
        }
    }

    /// Element type and shape.
    pub(crate) fn ty(&self) -> Type {
        match &self.state {
            State::Eager(x) => eager_type(x),
            State::Traced(t) => t.ty().unwrap_or_else(|_| Type::scalar(DType::F64)),
            State::Donable(d) => d.ty.clone(),
            State::Parameter(_) => {
                let slot = self.slot().expect("it is a parameter");
                eager_type(&slot.value)
            }
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match &self.state {
            State::Eager(x) => x.dtype(),
            _ => self.ty().dtype,
        }
    }

    pub(crate) fn rank(&self) -> usize {
        match &self.state {
            State::Eager(x) => x.rank(),
            _ => self.ty().rank(),
        }
    }

    /// An error if it is a value of a trace that ended.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.scope.as_ref().map_or(Ok(()), |s| s.check())
    }

    /// The elements as a tensor of the eager runtime. `what` needs them, if they are not known.
    pub(crate) fn elements(&self, py: Python<'_>, what: &str) -> PyResult<EagerTensor> {
        match &self.state {
            State::Eager(x) => Ok(x.clone()),
            State::Parameter(_) if scope::captures() => Err(unknown(what, &self.ty())),
            State::Parameter(_) => Ok(self.slot().expect("it is a parameter").value.clone()),
            State::Donable(d) => d.value().clone().ok_or_else(donated),
            State::Traced(t) => {
                self.check()?;
                if !t.is_known() {
                    return Err(unknown(what, &self.ty()));
                }
                let t = t.to_tensor().or_raise(py)?;
                Device::of(&t).runtime.constant_from(t).or_raise(py)
            }
        }
    }

    /// The elements on the CPU, as they are stored: a copy of those of another device.
    pub(crate) fn tensor(&self, py: Python<'_>, what: &str) -> PyResult<Tensor> {
        device::host(py, &self.placed(py, what)?)
    }

    /// The elements, as they are stored, on their device.
    pub(crate) fn placed(&self, py: Python<'_>, what: &str) -> PyResult<Tensor> {
        if let (State::Traced(t), Ok(())) = (&self.state, self.check())
            && t.is_known()
        {
            return t.to_tensor().or_raise(py);
        }
        let read = |x: &EagerTensor| Ok(Tensor::clone(&*x.tensor_read().or_raise(py)?));
        match &self.state {
            State::Eager(x) => read(x),
            _ => read(&self.elements(py, what)?),
        }
    }

    /// The value of a program that it is, or becomes.
    pub(crate) fn node(slf: &Bound<'_, Self>) -> PyResult<TracedTensor> {
        let py = slf.py();
        let array = slf.get();
        match &array.state {
            State::Traced(t) => {
                array.check()?;
                if !t.is_known() {
                    return Ok(t.clone());
                }
                // A lazy array that a compiled function captures.
                match scope::capture(slf, || array.ty()) {
                    Some(placeholder) => Ok(placeholder),
                    None => Ok(t.clone()),
                }
            }
            State::Eager(_) | State::Donable(_) => {
                let x = array.elements(py, "a program")?;
                if x.tracks_grad() {
                    return Err(recorded());
                }
                if let Some(placeholder) = scope::capture(slf, || array.ty()) {
                    return Ok(placeholder);
                }
                if let Some(node) = array.node.get() {
                    return Ok(node.clone());
                }
                let node = TracedTensor::from_tensor(x.to_tensor().or_raise(py)?);
                Ok(array.node.get_or_init(|| node).clone())
            }
            State::Parameter(_) => {
                if let Some(placeholder) = scope::capture(slf, || array.ty()) {
                    return Ok(placeholder);
                }
                let mut slot = array.slot().expect("it is a parameter");
                if slot.tape && scope::tracing() {
                    return Err(recorded());
                }
                if let Some(node) = &slot.node {
                    return Ok(node.clone());
                }
                let node = TracedTensor::from_tensor(slot.value.to_tensor().or_raise(py)?);
                Ok(slot.node.insert(node).clone())
            }
        }
    }
}

fn eager_type(x: &EagerTensor) -> Type {
    Type::new(
        x.dtype(),
        x.shape().iter().map(|&n| n.into()).collect::<Vec<_>>(),
    )
}

/// The error of a trace that captures a recorded array.
fn recorded() -> PyErr {
    raise(
        "GraphFreed",
        "a traced function captures an array that is recorded on a tape: its gradient would be lost. Pass it as an \
         argument, or detach it",
    )
}

/// The error of a use of elements that a call took over.
fn donated() -> PyErr {
    raise(
        "ModifiedInPlace",
        "the elements of this array were donated to a compiled function (donate_argnums), whose results have their \
         memory: use its results, or copy the array before the call",
    )
}

/// The error of a use of elements that are not known while a function is traced.
pub(crate) fn unknown(what: &str, ty: &Type) -> PyErr {
    raise(
        "Concretization",
        format!(
            "{what} needs the elements of an array that is being traced ({ty}), which are known only when the program \
             runs. Choose by it with cotangent.where or cotangent.cond, or make it a static argument"
        ),
    )
}

/// An array whose elements can be replaced: a hidden argument of compiled functions, read anew at
/// each call.
///
/// >>> w = ct.Parameter([1.0, 2.0])
/// >>> f = ct.jit(lambda: ct.sum(w))
/// >>> f()
/// array(3., dtype=float64)
/// >>> w.set([5.0, 5.0])
/// >>> f()
/// array(10., dtype=float64)
#[pyclass(module = "cotangent", frozen, extends = Array)]
pub(crate) struct Parameter;

/// A parameter with these elements; `tape`: a variable of the tape.
pub(crate) fn parameter(py: Python<'_>, x: &Array, tape: bool) -> PyResult<Py<Parameter>> {
    let value = fresh(py, x, tape)?;
    let slot = ParameterSlot {
        value,
        node: None,
        tape,
    };
    let base = Array::of(State::Parameter(Mutex::new(slot)));
    Py::new(py, PyClassInitializer::from(base).add_subclass(Parameter))
}

fn fresh(py: Python<'_>, x: &Array, tape: bool) -> PyResult<EagerTensor> {
    let elements = x.elements(py, "a parameter")?;
    match tape {
        true => elements
            .runtime()
            .variable_from(elements.to_tensor().or_raise(py)?)
            .or_raise(py),
        false => Ok(elements.detach()),
    }
}

#[pymethods]
impl Parameter {
    #[new]
    fn new(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Parameter>> {
        let x = crate::operand::array(value)?;
        let slot = ParameterSlot {
            value: fresh(py, x.get(), false)?,
            node: None,
            tape: false,
        };
        let base = Array::of(State::Parameter(Mutex::new(slot)));
        Ok(PyClassInitializer::from(base).add_subclass(Parameter))
    }

    /// Replaces the elements by those of an array of the same shape, converted to the element type.
    fn set(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let base = slf.as_super().get();
        let (tape, ty) = (base.slot().is_some_and(|s| s.tape), base.ty());
        let x = crate::operand::array(value)?;
        let x = crate::ops::cast(&x, ty.dtype)?;
        let x = device::same(&x, &base.placement())?;
        if x.get().ty().differs(&ty) {
            return Err(raise(
                "ShapeMismatch",
                format!("a parameter of type {ty} cannot be set to {}", x.get().ty()),
            ));
        }
        let value = fresh(py, x.get(), tape)?;
        let Some(mut slot) = base.slot() else {
            return Ok(());
        };
        let old = std::mem::replace(&mut slot.value, value);
        let node = slot.node.take();
        drop(slot);
        drop((old, node));
        Ok(())
    }
}
