//! Derivatives of lazy values, for graph modules: every array has one value of programs, so an
//! array that went into a computation is found in it.

use crate::array::Array;
use crate::error::OrRaise;
use crate::operand;
use crate::scope;
use cotangent::{AdContext, TracedTensor};
use pyo3::prelude::*;

fn nodes(x: &[Bound<'_, PyAny>]) -> PyResult<Vec<TracedTensor>> {
    x.iter().map(|x| Array::node(&operand::array(x)?)).collect()
}

fn arrays<'py>(py: Python<'py>, y: Vec<TracedTensor>) -> PyResult<Vec<Bound<'py, Array>>> {
    y.into_iter()
        .map(|t| {
            t.ty().or_raise(py)?;
            let scope = if t.is_known() { None } else { scope::current() };
            Bound::new(py, Array::of_node(t, scope))
        })
        .collect()
}

/// The lazy value of an array.
#[pyfunction]
pub(crate) fn lazy<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
    let a = operand::array(x)?;
    if a.get().is_traced() {
        return Ok(a);
    }
    let node = Array::node(&a)?;
    let scope = if node.is_known() {
        None
    } else {
        scope::current()
    };
    Bound::new(x.py(), Array::of_node(node, scope))
}

/// The gradients of a scalar value by other values.
#[pyfunction]
pub(crate) fn lazy_grad<'py>(
    py: Python<'py>,
    loss: &Bound<'py, PyAny>,
    wrt: Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, Array>>> {
    let (loss, x) = (Array::node(&operand::array(loss)?)?, nodes(&wrt)?);
    let refs: Vec<&TracedTensor> = x.iter().collect();
    let g = AdContext::default().grad_many(&loss, &refs).or_raise(py)?;
    arrays(py, g)
}

/// The cotangents of values for cotangents of others.
#[pyfunction]
pub(crate) fn lazy_vjp<'py>(
    py: Python<'py>,
    y: Vec<Bound<'py, PyAny>>,
    wrt: Vec<Bound<'py, PyAny>>,
    ct: Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, Array>>> {
    let (y, x, ct) = (nodes(&y)?, nodes(&wrt)?, nodes(&ct)?);
    let (ys, xs, cts): (Vec<_>, Vec<_>, Vec<_>) =
        (y.iter().collect(), x.iter().collect(), ct.iter().collect());
    let g = AdContext::default().vjp_many(&ys, &xs, &cts).or_raise(py)?;
    arrays(py, g)
}

/// The tangents of values along tangents of others.
#[pyfunction]
pub(crate) fn lazy_jvp<'py>(
    py: Python<'py>,
    y: Vec<Bound<'py, PyAny>>,
    wrt: Vec<Bound<'py, PyAny>>,
    tangents: Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, Array>>> {
    let (y, x, t) = (nodes(&y)?, nodes(&wrt)?, nodes(&tangents)?);
    let (ys, xs, ts): (Vec<_>, Vec<_>, Vec<_>) =
        (y.iter().collect(), x.iter().collect(), t.iter().collect());
    let dy = AdContext::default().jvp_many(&ys, &xs, &ts).or_raise(py)?;
    arrays(py, dy)
}
