//! [`PyDim`]: extents that are known when a program runs, and shapes with them.

use crate::array::Array;
use crate::error::{OrRaise, raise};
use crate::scope::Scope;
use cotangent::{DType, Dim, Shape, TensorOps, TracedTensor, Type};
use pyo3::exceptions::{PyTypeError, PyZeroDivisionError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};
use std::sync::Arc;

/// An extent that is known at run time: a polynomial over symbols, with integer arithmetic.
///
/// >>> f = ct.jit(lambda x: x.shape[0] * 2 + 1, shapes=(("n",),))
/// >>> int(f(ct.ones(3))), int(f(ct.ones(5)))
/// (7, 11)
#[pyclass(name = "Dim", module = "cotangent", frozen)]
pub(crate) struct PyDim {
    dim: Dim,
    /// A value of the program with symbolic extents, which define the symbols.
    source: TracedTensor,
    scope: Option<Arc<Scope>>,
}

/// A Python integer, or an extent.
fn one<'py>(
    py: Python<'py>,
    dim: &Dim,
    source: &TracedTensor,
    scope: Option<&Arc<Scope>>,
) -> PyResult<Bound<'py, PyAny>> {
    match dim.as_const() {
        Some(n) => Ok(n.into_pyobject(py)?.into_any()),
        None => {
            let dim = PyDim {
                dim: dim.clone(),
                source: source.clone(),
                scope: scope.cloned(),
            };
            Ok(Bound::new(py, dim)?.into_any())
        }
    }
}

/// The shape of a traced array.
pub(crate) fn of_traced<'py>(
    py: Python<'py>,
    t: &TracedTensor,
    scope: Option<&Arc<Scope>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let shape = t.shape().or_raise(py)?;
    let all: Vec<_> = shape
        .iter()
        .map(|d| one(py, d, t, scope))
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, all)
}

/// The extent that an object is, if it is a symbolic one.
pub(crate) fn of(x: &Bound<'_, PyAny>) -> Option<Dim> {
    Some(x.cast::<PyDim>().ok()?.get().dim.clone())
}

/// The weak integer of a program that an extent is.
pub(crate) fn array<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Array>>> {
    let Ok(d) = x.cast::<PyDim>() else {
        return Ok(None);
    };
    let (py, d) = (x.py(), d.get());
    if let Some(scope) = &d.scope {
        scope.check()?;
    }
    let t = TracedTensor::emit_one(&[&d.source], |cx, _| {
        cx.extent(&Type::scalar(DType::I64), &d.dim)
    });
    let array = Array::of_node(t.or_raise(py)?, d.scope.clone()).weak(true);
    Ok(Some(Bound::new(py, array)?))
}

fn no_shape(x: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "a shape is an integer or a tuple of integers, not {x}"
    ))
}

/// An extent of a shape.
fn extent(x: &Bound<'_, PyAny>) -> PyResult<Dim> {
    if let Some(d) = of(x) {
        return Ok(d);
    }
    let n: i64 = match x.extract() {
        Ok(n) => n,
        Err(_) => x
            .call_method0("__index__")
            .and_then(|i| i.extract())
            .map_err(|_| no_shape(x))?,
    };
    match usize::try_from(n) {
        Ok(n) => Ok(n.into()),
        Err(_) => Err(raise(
            "ShapeMismatch",
            format!("an extent cannot be negative: {n}"),
        )),
    }
}

/// A shape: an integer, or a sequence of integers and extents.
pub(crate) fn shape(x: &Bound<'_, PyAny>) -> PyResult<Shape> {
    if x.is_instance_of::<PyInt>() || of(x).is_some() || x.is_instance_of::<Array>() {
        return Ok(vec![extent(x)?].into());
    }
    let all = x.try_iter().map_err(|_| no_shape(x))?;
    let all = all.map(|d| extent(&d?));
    Ok(all.collect::<PyResult<Vec<Dim>>>()?.into())
}

impl PyDim {
    fn with<'py>(&self, py: Python<'py>, dim: Dim) -> PyResult<Bound<'py, PyAny>> {
        one(py, &dim, &self.source, self.scope.as_ref())
    }
}

/// The other operand of integer arithmetic. `None`: it is an array or a float, whose arithmetic
/// applies.
fn other(x: &Bound<'_, PyAny>) -> Option<Dim> {
    match of(x) {
        Some(d) => Some(d),
        None if x.is_instance_of::<PyInt>() && !x.is_instance_of::<PyBool>() => {
            Some(usize::try_from(x.extract::<i64>().ok()?).ok()?.into())
        }
        None => None,
    }
}

/// The arithmetic of arrays, for operands that are no extents.
fn by_array<'py>(
    slf: &Bound<'py, PyDim>,
    x: &Bound<'py, PyAny>,
    (name, kind): (&str, &str),
    reflected: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (a, b) = match reflected {
        false => (slf.as_any(), x),
        true => (x, slf.as_any()),
    };
    Ok(crate::ops::binary(slf.py(), name, kind, a, b)?.into_any())
}

#[pymethods]
impl PyDim {
    fn __repr__(&self) -> String {
        self.dim.to_string()
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match other(x) {
            Some(d) => slf.get().with(slf.py(), slf.get().dim.clone() + d),
            None => match x.extract::<i64>() {
                Ok(n) => slf.get().with(slf.py(), slf.get().dim.affine(1, n)),
                Err(_) => by_array(slf, x, ("add", "any"), false),
            },
        }
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        PyDim::__add__(slf, x)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match (of(x), x.extract::<i64>()) {
            (None, Ok(n)) => slf.get().with(slf.py(), slf.get().dim.affine(1, -n)),
            _ => by_array(slf, x, ("sub", "any"), false),
        }
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        by_array(slf, x, ("sub", "any"), true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match other(x) {
            Some(d) => slf.get().with(slf.py(), slf.get().dim.clone() * d),
            None => by_array(slf, x, ("mul", "any"), false),
        }
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        PyDim::__mul__(slf, x)
    }

    fn __truediv__<'py>(
        slf: &Bound<'py, Self>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        by_array(slf, x, ("div", "float"), false)
    }

    fn __rtruediv__<'py>(
        slf: &Bound<'py, Self>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        by_array(slf, x, ("div", "float"), true)
    }

    fn __floordiv__<'py>(
        slf: &Bound<'py, Self>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match x.extract::<usize>() {
            Ok(0) => Err(PyZeroDivisionError::new_err("an extent divided by zero")),
            Ok(n) => slf.get().with(slf.py(), slf.get().dim.floor_div(n)),
            Err(_) => by_array(slf, x, ("div", "integer"), false),
        }
    }

    fn __eq__(&self, x: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(d) = other(x) else { return Ok(false) };
        match self.dim.same(&d) {
            Some(same) => Ok(same),
            None => Err(raise(
                "Concretization",
                format!(
                    "whether the extent {} is {d} is known at run time only",
                    self.dim
                ),
            )),
        }
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        self.dim.to_string().hash(&mut h);
        h.finish()
    }

    fn __index__(&self) -> PyResult<usize> {
        Err(raise(
            "Concretization",
            format!("the extent {} is known at run time only", self.dim),
        ))
    }
}
