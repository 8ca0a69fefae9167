//! Basic indexing: integers, slices, `None` and `...`. Other keys are for Python.

use crate::array::Array;
use crate::dims;
use crate::error::raise;
use crate::ops::emit_one;
use cotangent::{Dim, Emit, Val};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// One axis of a basic key.
enum KeyPart {
    /// One index; the axis is removed.
    At(Dim),
    /// `start + step k` for `count` numbers k; `step` may be negative.
    Range {
        start: usize,
        count: usize,
        step: isize,
    },
    /// The whole axis.
    All,
    /// A new axis of extent 1.
    New,
}

fn is_basic(x: &Bound<'_, PyAny>) -> bool {
    x.is_none()
        || x.is_instance_of::<PySlice>()
        || x.is_instance_of::<PyEllipsis>()
        || (x.is_instance_of::<PyInt>() && !x.is_instance_of::<PyBool>())
        || (x.cast::<Array>().is_err() && !x.is_instance_of::<PyBool>() && index(x).is_some())
}

/// The integer that an object is, if it is one of Python or a scalar of NumPy.
fn index(x: &Bound<'_, PyAny>) -> Option<isize> {
    if x.is_instance_of::<PyInt>() {
        return x.extract().ok();
    }
    match x.hasattr("shape").ok()? && x.getattr("shape").ok()?.len().ok()? > 0 {
        true => None,
        false
            if x.hasattr("dtype").ok()?
                && x.getattr("dtype")
                    .ok()?
                    .getattr("kind")
                    .ok()?
                    .extract::<String>()
                    .ok()?
                    == "b" =>
        {
            None
        }
        false => x.call_method0("__index__").ok()?.extract().ok(),
    }
}

/// The parts of a key, one or more for each axis. `None`: the key is not basic.
fn parts(x: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Vec<KeyPart>>> {
    let items: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(t) => t.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    if !items.iter().all(is_basic) {
        return Ok(None);
    }
    let shape = x.ty().shape;
    let used = items
        .iter()
        .filter(|i| !i.is_none() && !i.is_instance_of::<PyEllipsis>())
        .count();
    if used > shape.len() {
        return Err(PyIndexError::new_err(format!(
            "{used} indices for an array of {} axes",
            shape.len()
        )));
    }
    if items
        .iter()
        .filter(|i| i.is_instance_of::<PyEllipsis>())
        .count()
        > 1
    {
        return Err(PyIndexError::new_err("a key has one ellipsis at most"));
    }
    let (mut axis, mut out) = (0, Vec::new());
    for item in &items {
        if item.is_none() {
            out.push(KeyPart::New);
        } else if item.is_instance_of::<PyEllipsis>() {
            for _ in 0..shape.len() - used {
                out.push(KeyPart::All);
                axis += 1;
            }
        } else {
            out.push(part(item, &shape[axis], axis)?);
            axis += 1;
        }
    }
    out.extend((axis..shape.len()).map(|_| KeyPart::All));
    Ok(Some(out))
}

fn part(item: &Bound<'_, PyAny>, extent: &Dim, axis: usize) -> PyResult<KeyPart> {
    if let Ok(s) = item.cast::<PySlice>() {
        let whole = ["start", "stop", "step"]
            .iter()
            .all(|n| s.getattr(*n).is_ok_and(|v| v.is_none()));
        if whole {
            return Ok(KeyPart::All);
        }
        let Some(n) = extent.as_const() else {
            return Err(raise(
                "Concretization",
                format!("a slice of axis {axis}, whose extent {extent} is known at run time only"),
            ));
        };
        let i = s.indices(n as isize)?;
        return Ok(KeyPart::Range {
            start: i.start.max(0) as usize,
            count: i.slicelength,
            step: i.step,
        });
    }
    let Some(i) = index(item) else {
        return Err(PyTypeError::new_err(format!("{item} is no index")));
    };
    let at = match extent.as_const() {
        Some(n) if i < 0 => i + n as isize,
        None if i < 0 => return Ok(KeyPart::At(extent.affine(1, i as i64))),
        _ => i,
    };
    let inside = at >= 0 && extent.as_const().is_none_or(|n| (at as usize) < n);
    if !inside {
        return Err(raise(
            "OutOfBounds",
            format!("index {i} is out of bounds of axis {axis}, which has extent {extent}"),
        ));
    }
    Ok(KeyPart::At((at as usize).into()))
}

/// The value at these parts.
fn write(cx: &dyn Emit, mut x: Val, parts: &[KeyPart]) -> Val {
    let ty = cx.ty(x);
    let (mut start, mut limit, mut stride) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reversed, mut shape) = (Vec::new(), Vec::new());
    let zero = Dim::from(0usize);
    let mut axis = 0;
    for p in parts {
        match p {
            KeyPart::New => {
                shape.push(Dim::from(1usize));
                continue;
            }
            KeyPart::All => {
                start.push(zero.clone());
                limit.push(ty.shape[axis].clone());
                stride.push(1);
                shape.push(ty.shape[axis].clone());
            }
            KeyPart::At(i) => {
                start.push(i.clone());
                limit.push(i.affine(1, 1));
                stride.push(1);
            }
            KeyPart::Range {
                start: s,
                count,
                step,
            } => {
                let size = step.unsigned_abs();
                let low = match (*step > 0, *count) {
                    (_, 0) => 0,
                    (true, _) => *s,
                    (false, n) => s - (n - 1) * size,
                };
                if *step < 0 {
                    reversed.push(axis);
                }
                start.push(low.into());
                limit.push(
                    if *count == 0 {
                        low
                    } else {
                        low + (count - 1) * size + 1
                    }
                    .into(),
                );
                stride.push(size);
                shape.push((*count).into());
            }
        }
        axis += 1;
    }
    let whole = start.iter().all(|s| s.is(0))
        && limit[..] == ty.shape[..]
        && stride.iter().all(|&s| s == 1);
    if !whole {
        x = cx.slice(x, &start, &limit, &stride);
    }
    if !reversed.is_empty() {
        x = cx.reverse(x, &reversed);
    }
    match cx.ty(x).shape[..] == shape[..] {
        true => x,
        false => cx.reshape(x, &shape),
    }
}

#[pymethods]
impl Array {
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some(parts) = parts(slf.get(), key)? else {
            let other = py.import("cotangent._indexing")?.getattr("get")?;
            return other.call1((slf, key));
        };
        let one = std::slice::from_ref(slf);
        let y = emit_one(py, one, slf.get().weak, |cx, x| write(cx, x[0], &parts))?;
        Ok(y.into_any())
    }

    fn __setitem__(&self, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "arrays are immutable: x.at[i].set(v) returns a new array with other elements, also .add, .multiply, .min, .max",
        ))
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.ty().shape.first() {
            None => Err(PyTypeError::new_err("len() of an array of rank 0")),
            Some(d) => d.as_const().ok_or_else(|| {
                raise(
                    "Concretization",
                    format!("the extent {d} is known at run time only"),
                )
            }),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let n = slf.get().__len__().map_err(|_| {
            PyTypeError::new_err("iteration over an array of rank 0, or of an unknown extent")
        })?;
        let all: Vec<_> = (0..n).map(|i| slf.get_item(i)).collect::<PyResult<_>>()?;
        Ok(PyTuple::new(slf.py(), all)?.try_iter()?.into_any())
    }
}

/// The shape of an array: integers, and extents of traced arrays.
pub(crate) fn shape<'py>(slf: &Bound<'py, Array>) -> PyResult<Bound<'py, PyTuple>> {
    let (py, a) = (slf.py(), slf.get());
    match &a.state {
        crate::array::State::Traced(t) => dims::of_traced(py, t, a.scope.as_ref()),
        crate::array::State::Eager(x) => PyTuple::new(py, x.shape()),
        crate::array::State::Parameter(_) | crate::array::State::Donable(_) => {
            PyTuple::new(py, a.ty().shape.as_const().unwrap_or_default())
        }
    }
}
