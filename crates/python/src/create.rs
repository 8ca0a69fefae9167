//! Arrays of numbers, lists and memory; constants; files.

use crate::array::Array;
use crate::error::{OrRaise, raise};
use crate::operand::{self, Number};
use crate::{dims, dtype};
use cotangent::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The array of an object. `copy=False` shares memory of NumPy and DLPack objects, or raises
/// `ValueError`.
#[pyfunction]
pub(crate) fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, Array>> {
    let py = obj.py();
    let to = dtype.map(dtype::parse).transpose()?;
    // A Python number takes the element type, and must fit it.
    if let (Some(d), Some(n)) = (to, Number::of(obj)?) {
        if copy == Some(false) {
            return Err(needs_copy());
        }
        return Bound::new(py, n.array(d)?);
    }
    let x = match copy {
        Some(false) if !obj.is_instance_of::<Array>() => {
            let shared = match crate::numpy::shared(obj)? {
                Some(a) => Some(a),
                None if obj.hasattr("__dlpack__")? => Some(crate::dlpack::array(obj, copy)?),
                None if obj.hasattr("__array_interface__")? || is_buffer(obj) => {
                    let np = py.import("numpy")?.call_method1("asarray", (obj,))?;
                    crate::numpy::shared(&np)?
                }
                None => None,
            };
            Bound::new(py, shared.ok_or_else(needs_copy)?)?
        }
        _ => match to.map(|d| operand::integers(obj, d)).transpose()? {
            Some(Some(x)) => x,
            _ => operand::array(obj)?,
        },
    };
    match to {
        Some(d) if d != x.get().dtype() => match copy {
            Some(false) => Err(needs_copy()),
            _ => crate::ops::convert(x.as_any(), dtype::object(py, d)?.as_any()),
        },
        Some(_) => crate::ops::strong(&x),
        None => Ok(x),
    }
}

fn is_buffer(x: &Bound<'_, PyAny>) -> bool {
    pyo3::types::PyMemoryView::from(x).is_ok()
}

fn needs_copy() -> PyErr {
    PyValueError::new_err("this object cannot become an array without a copy: leave out copy=False")
}

/// An array with one number in every element.
#[pyfunction]
pub(crate) fn full<'py>(
    shape: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Array>> {
    let py = shape.py();
    let shape = dims::shape(shape)?;
    let given = dtype.map(dtype::parse).transpose()?;
    match (Number::of(value)?, shape.as_const()) {
        (Some(n), Some(extents)) => {
            let d = given.unwrap_or(dtype::default(n.level()));
            crate::buffer::check_size(&extents, d)?;
            let t = Tensor::full(d, extents, n.scalar(d)?).or_raise(py)?;
            Bound::new(py, Array::known(t)?)
        }
        _ => {
            let x = operand::array(value)?;
            let x = match given {
                Some(d) => crate::ops::cast(&x, d)?,
                None => x,
            };
            crate::ops::emit_one(py, &[x], false, |cx, v| cx.broadcast_to(v[0], &shape))
        }
    }
}

/// `0, 1, ..` below `n`, in this element type.
#[pyfunction]
pub(crate) fn iota<'py>(
    py: Python<'py>,
    n: usize,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let d = dtype::parse(dtype)?;
    crate::buffer::check_size(&[n], d)?;
    Bound::new(py, Array::known(Tensor::iota(d, vec![n], 0).or_raise(py)?)?)
}

/// The error of a file that cannot be read.
pub(crate) fn unreadable(path: &Path, e: &std::io::Error) -> PyErr {
    let code = match e.kind() {
        ErrorKind::NotFound => "FileNotFound",
        _ => "Io",
    };
    raise(code, format!("{}: {e}", path.display()))
}

/// The arrays of a file, by name (`""` for a file of one array).
#[pyfunction]
pub(crate) fn read_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    std::fs::File::open(&path).map_err(|e| unreadable(&path, &e))?;
    let all = py.detach(|| match path.extension().is_some_and(|e| e == "npy") {
        true => Ok(vec![(String::new(), Tensor::read_npy(&path)?)]),
        false => Tensor::read_all(&path),
    });
    let all = all.or_raise(py)?;
    let out = PyDict::new(py);
    for (name, t) in all {
        out.set_item(name, Bound::new(py, Array::known(t)?)?)?;
    }
    Ok(out)
}

/// Writes named arrays to a file of the format of its extension.
#[pyfunction]
pub(crate) fn write_file(
    py: Python<'_>,
    path: PathBuf,
    arrays: Vec<(String, Bound<'_, Array>)>,
) -> PyResult<()> {
    let all: Vec<(String, Tensor)> = arrays
        .iter()
        .map(|(name, a)| Ok((name.clone(), a.get().tensor(py, "a file")?)))
        .collect::<PyResult<_>>()?;
    let refs: Vec<(&str, &Tensor)> = all.iter().map(|(n, t)| (n.as_str(), t)).collect();
    py.detach(|| Tensor::write_all(&path, &refs)).or_raise(py)
}

/// Writes an `.npy` file.
#[pyfunction]
pub(crate) fn write_npy(py: Python<'_>, path: PathBuf, x: &Bound<'_, Array>) -> PyResult<()> {
    let t = x.get().tensor(py, "a file")?;
    py.detach(|| t.write_npy(&path)).or_raise(py)
}
