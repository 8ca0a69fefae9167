//! [`PyDType`]: element types, equal to NumPy's, and the promotion of several.

use crate::error::raise;
use cotangent::DType;
use cotangent::extend::Kind;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};

/// An element type. Equal to NumPy's element type of this name, to its scalar type, and to the
/// name.
///
/// >>> ct.float32 == np.float32, ct.float32 == "float32", ct.float32.itemsize
/// (True, True, 4)
#[pyclass(name = "DType", module = "cotangent", frozen)]
pub(crate) struct PyDType(pub(crate) DType);

/// The name in Python.
pub(crate) fn name(d: DType) -> &'static str {
    match d {
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::C64 => "complex64",
        DType::C128 => "complex128",
        DType::Opaque(t) => t.text(),
    }
}

fn of_name(text: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|&d| name(d) == text)
}

/// The object of an element type: there is one for each.
pub(crate) fn object(py: Python<'_>, d: DType) -> PyResult<Bound<'_, PyDType>> {
    static ALL: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();
    let all = ALL.get_or_try_init(py, || {
        DType::ALL
            .into_iter()
            .map(|d| Py::new(py, PyDType(d)))
            .collect::<PyResult<Vec<_>>>()
    })?;
    Ok(all[d.number()].bind(py).clone())
}

/// The element type that an object names, if it names one.
pub(crate) fn find(x: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let py = x.py();
    // NumPy takes `None` for float64.
    if x.is_none() {
        return Ok(None);
    }
    if let Ok(d) = x.cast::<PyDType>() {
        return Ok(Some(d.get().0));
    }
    if let Ok(s) = x.cast::<PyString>() {
        return Ok(of_name(&s.to_string_lossy()));
    }
    if let Ok(t) = x.cast::<PyType>() {
        let builtin = [
            (py.get_type::<PyBool>(), DType::Bool),
            (py.get_type::<PyInt>(), DType::I64),
            (py.get_type::<PyFloat>(), DType::F64),
            (py.get_type::<PyComplex>(), DType::C128),
        ];
        if let Some((_, d)) = builtin.into_iter().find(|(b, _)| t.is(b)) {
            return Ok(Some(d));
        }
    }
    // An element type of NumPy has a name, a scalar type of NumPy its element type.
    if let Ok(named) = x.getattr("name").and_then(|n| n.extract::<String>())
        && !x.is_instance_of::<PyType>()
    {
        return Ok(of_name(&named));
    }
    match py
        .import("numpy")
        .and_then(|np| np.call_method1("dtype", (x,)))
    {
        Ok(d) => Ok(of_name(&d.getattr("name")?.extract::<String>()?)),
        Err(_) => Ok(None),
    }
}

/// As [`find`]. An error for anything else.
pub(crate) fn parse(x: &Bound<'_, PyAny>) -> PyResult<DType> {
    // NumPy knows further names, such as "f4".
    let found = match find(x)? {
        None if x.is_instance_of::<PyString>() => {
            let np = x.py().import("numpy")?;
            match np.call_method1("dtype", (x,)) {
                Ok(d) if d.getattr("isnative")?.is_truthy()? => find(&d)?,
                _ => None,
            }
        }
        found => found,
    };
    match found {
        Some(d) => Ok(d),
        None => Err(raise(
            "UnknownDType",
            format!(
                "{} is no element type of cotangent; the element types are {}",
                x.repr()?,
                DType::ALL.map(name).join(", ")
            ),
        )),
    }
}

#[pymethods]
impl PyDType {
    #[getter]
    fn name(&self) -> &'static str {
        name(self.0)
    }

    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// The letter of the kind, as NumPy's.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind() {
            Kind::Bool => "b",
            Kind::Int if unsigned(self.0) => "u",
            Kind::Int => "i",
            Kind::Float => "f",
            _ => "c",
        }
    }

    /// NumPy's element type of this name; that of `ml_dtypes` for bfloat16.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy(py, self.0)
    }

    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy(py, self.0)
    }

    fn __repr__(&self) -> String {
        format!("cotangent.{}", name(self.0))
    }

    fn __str__(&self) -> &'static str {
        name(self.0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        matches!(find(other), Ok(Some(d)) if d == self.0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, name(self.0)).hash()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        let find = py.import("cotangent._cotangent")?.getattr("dtype")?;
        Ok((find, (name(self.0),)))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// NumPy's element type.
pub(crate) fn numpy(py: Python<'_>, d: DType) -> PyResult<Bound<'_, PyAny>> {
    let np = py.import("numpy")?;
    if d != DType::BF16 {
        return np.call_method1("dtype", (name(d),));
    }
    let types = py.import("ml_dtypes").map_err(|_| {
        raise(
            "UnknownDType",
            "NumPy has no bfloat16: install ml_dtypes, or convert with astype(cotangent.float32)",
        )
    })?;
    np.call_method1("dtype", (types.getattr("bfloat16")?,))
}

/// The object of the element type that `x` names.
#[pyfunction]
pub(crate) fn dtype<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDType>> {
    object(x.py(), parse(x)?)
}

pub(crate) fn unsigned(d: DType) -> bool {
    matches!(d, DType::U8 | DType::U16 | DType::U32 | DType::U64)
}

/// Rank of the kind: bool < integer < float < complex.
pub(crate) fn level(d: DType) -> u8 {
    match d.kind() {
        Kind::Bool => 0,
        Kind::Int => 1,
        Kind::Float => 2,
        _ => 3,
    }
}

/// The default element type of a kind.
pub(crate) fn default(level: u8) -> DType {
    [DType::Bool, DType::I64, DType::F64, DType::C128][level as usize]
}

/// The common element type of two arrays, or why there is none.
pub(crate) fn promote(a: DType, b: DType) -> PyResult<DType> {
    use DType::*;
    if a == b {
        return Ok(a);
    }
    let (la, lb) = (level(a), level(b));
    if la != lb {
        let (low, high) = if la < lb { (a, b) } else { (b, a) };
        return Ok(match (low, high) {
            (F64, C64) => C128,
            _ => high,
        });
    }
    let wider = |a: DType, b: DType| if a.size() >= b.size() { a } else { b };
    match la {
        1 if unsigned(a) == unsigned(b) => Ok(wider(a, b)),
        1 => {
            let (u, s) = if unsigned(a) { (a, b) } else { (b, a) };
            if s.size() > u.size() {
                return Ok(s);
            }
            match u {
                U8 => Ok(I16),
                U16 => Ok(I32),
                U32 => Ok(I64),
                _ => Err(raise(
                    "DTypeMismatch",
                    format!(
                        "no integer type holds both uint64 and {}: convert one with astype",
                        name(s)
                    ),
                )),
            }
        }
        2 if a.size() == b.size() => Ok(F32),
        _ => Ok(wider(a, b)),
    }
}

/// The element type of an array beside a Python number of this kind.
pub(crate) fn beside(d: DType, number: u8) -> DType {
    match (level(d), number) {
        (l, n) if n <= l => d,
        (_, 1) => DType::I64,
        (_, 2) => DType::F64,
        _ => match d {
            DType::F16 | DType::BF16 | DType::F32 => DType::C64,
            _ => DType::C128,
        },
    }
}

/// The common element type of arrays and weak values; and whether it is weak.
pub(crate) fn common(arrays: &[DType], weak: &[u8]) -> PyResult<(DType, bool)> {
    let number = weak.iter().copied().max();
    let Some((&first, rest)) = arrays.split_first() else {
        return Ok((default(number.unwrap_or(2)), true));
    };
    let mut d = first;
    for &other in rest {
        d = promote(d, other)?;
    }
    Ok((number.map_or(d, |n| beside(d, n)), false))
}
