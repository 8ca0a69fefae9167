//! Tapes: variables, reverse passes, and operations that are not recorded.

use crate::array::{Array, Parameter, State, parameter};
use crate::device::Device;
use crate::error::{OrRaise, raise};
use crate::{dtype, operand};
use cotangent::ad::{Backward, BackwardOptions};
use cotangent::{DType, EagerTensor};
use pyo3::prelude::*;
use std::cell::Cell;

thread_local! {
    static SILENT: Cell<u32> = const { Cell::new(0) };
}

/// Whether operations of this thread are not recorded.
pub(crate) fn is_silent() -> bool {
    SILENT.get() > 0
}

/// Enters or leaves a block whose operations are not recorded.
#[pyfunction]
pub(crate) fn silence(enter: bool) {
    SILENT.set(match enter {
        true => SILENT.get() + 1,
        false => SILENT.get().saturating_sub(1),
    });
}

/// A parameter on a tape: operations on it are recorded.
#[pyfunction]
pub(crate) fn variable<'py>(x: &Bound<'py, PyAny>) -> PyResult<Py<Parameter>> {
    let py = x.py();
    let x = operand::array(x)?;
    let d = x.get().dtype();
    if !d.has_tangent() {
        return Err(raise(
            "IntegerInput",
            format!(
                "a variable of {} has no gradient: convert it to floats (2.0 instead of 2, x.astype('float64'))",
                dtype::name(d)
            ),
        ));
    }
    let copy = Array::eager(x.get().elements(py, "a variable")?);
    parameter(py, &copy, true)
}

/// The tensor of the tape that an array is.
fn recorded(x: &Array, py: Python<'_>) -> PyResult<EagerTensor> {
    match &x.state {
        State::Traced(_) => Err(raise(
            "Concretization",
            "a value of a program is on no tape: take its gradient with cotangent.grad",
        )),
        _ => x.elements(py, "a tape"),
    }
}

/// Why an array has no gradient without a seed, if it has none: a code and an error message.
pub(crate) fn no_loss(what: &str, d: DType, rank: usize) -> Option<(&'static str, String)> {
    let name = dtype::name(d);
    let (code, why) = match d {
        _ if rank > 0 => (
            "NonScalarOutput",
            format!(
                "{what} needs a scalar, this array has rank {rank}: reduce it, as with cotangent.sum"
            ),
        ),
        d if d.is_complex() => (
            "ComplexLoss",
            format!(
                "{what} needs a real number, this one is {name}: take cotangent.real or cotangent.abs of it"
            ),
        ),
        d if !d.has_tangent() => (
            "IntegerOutput",
            format!("{what} needs a float, this number is {name}: integers have no derivative"),
        ),
        _ => return None,
    };
    Some((
        code,
        format!("{why}, or give a cotangent: backward(seed), cotangent.vjp"),
    ))
}

/// An error for an array from which no reverse pass can begin.
fn check_backward(y: &EagerTensor, what: &str, seeded: bool) -> PyResult<()> {
    if !y.tracks_grad() {
        return Err(raise(
            "Unbound",
            format!(
                "{what} of an array that is on no tape: it was not computed from a cotangent.variable, or it was \
                 detached, or computed within cotangent.no_grad()"
            ),
        ));
    }
    match no_loss(what, y.dtype(), y.rank()).filter(|_| !seeded) {
        Some((code, why)) => Err(raise(code, why)),
        None => Ok(()),
    }
}

#[pymethods]
impl Array {
    /// Adds the gradients of this scalar to the variables that it depends on. With `seed`, the
    /// cotangent of an array of any shape. `keep_graph`: a further pass may follow.
    #[pyo3(signature = (seed=None, keep_graph=false))]
    fn backward(
        slf: &Bound<'_, Self>,
        seed: Option<&Bound<'_, PyAny>>,
        keep_graph: bool,
    ) -> PyResult<()> {
        let py = slf.py();
        let y = recorded(slf.get(), py)?;
        check_backward(&y, "backward()", seed.is_some())?;
        let options = match keep_graph {
            true => BackwardOptions::keep_graph(),
            false => BackwardOptions::free_graph(),
        };
        let seed = match seed {
            None => None,
            Some(s) => {
                let s = crate::ops::cast(&operand::array(s)?, y.dtype())?;
                Some(recorded(s.get(), py)?)
            }
        };
        let how = Backward {
            seed: seed.as_ref(),
            options,
        };
        y.backward_with(how).map(drop).or_raise(py)
    }

    /// The sum of the gradients of reverse passes; `None` before the first one.
    #[getter]
    fn grad<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, Array>>> {
        let py = slf.py();
        if slf.get().is_traced() {
            return Ok(None);
        }
        let g = recorded(slf.get(), py)?.grad_tensor().or_raise(py)?;
        g.map(|g| Bound::new(py, Array::eager(g))).transpose()
    }

    /// Forgets the gradient.
    fn clear_grad(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        recorded(slf.get(), py)?.clear_grad().or_raise(py)
    }

    /// The same elements, which are not recorded.
    fn detach<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        let py = slf.py();
        match slf.get().is_traced() {
            true => crate::ops::emit_one(py, std::slice::from_ref(slf), slf.get().weak, |cx, x| {
                cx.stop_gradient(x[0])
            }),
            false => {
                let x = slf.get().elements(py, "detach")?;
                Bound::new(py, Array::eager(x.detach()))
            }
        }
    }

    /// Whether operations on it are recorded.
    #[getter]
    fn tracked(&self) -> bool {
        self.is_recorded()
    }
}

/// The gradients of a recorded scalar, which are not added to variables.
#[pyfunction]
pub(crate) fn grad_of<'py>(
    py: Python<'py>,
    y: &Bound<'py, Array>,
    xs: Vec<Bound<'py, Array>>,
    create_graph: bool,
) -> PyResult<Vec<Bound<'py, Array>>> {
    let y = recorded(y.get(), py)?;
    check_backward(&y, "grad_of()", false)?;
    let xs: Vec<EagerTensor> = xs
        .iter()
        .map(|x| recorded(x.get(), py))
        .collect::<PyResult<_>>()?;
    let options = match create_graph {
        true => BackwardOptions::create_graph(),
        false => BackwardOptions::keep_graph(),
    };
    let refs: Vec<&EagerTensor> = xs.iter().collect();
    let found = y.grad_optional(&refs, options).or_raise(py)?;
    found
        .into_iter()
        .zip(&xs)
        .map(|(g, x)| {
            let g = match g {
                Some(g) => g,
                None => x.zeros_like().or_raise(py)?,
            };
            Bound::new(py, Array::eager(g))
        })
        .collect()
}

/// The gradient sets of all variables are forgotten.
#[pyfunction]
pub(crate) fn clear_grads(py: Python<'_>) -> PyResult<()> {
    Device::all()
        .iter()
        .try_for_each(|d| d.runtime.clear_grads().or_raise(py))
}
