//! Operands of operations: arrays, Python numbers, and everything that becomes an array.

use crate::array::Array;
use crate::buffer;
use crate::dtype::{self, level};
use crate::error::{OrRaise, raise};
use cotangent::{C128, DType, Scalar, Tensor};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple};

/// A Python number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(C128),
}

impl Number {
    /// The number that an object is, if it is a Python number itself (NumPy's scalars are arrays).
    pub(crate) fn of(x: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
        if x.is_exact_instance_of::<PyFloat>() {
            return Ok(Some(Number::Float(x.extract()?)));
        }
        if x.is_exact_instance_of::<PyInt>() {
            return match x.extract::<i128>() {
                Ok(i) => Ok(Some(Number::Int(i))),
                Err(_) => Err(PyOverflowError::new_err(format!(
                    "the integer {x} fits no element type"
                ))),
            };
        }
        if x.is_exact_instance_of::<PyBool>() {
            return Ok(Some(Number::Bool(x.extract()?)));
        }
        if let Ok(c) = x.cast_exact::<PyComplex>() {
            use pyo3::types::PyComplexMethods;
            return Ok(Some(Number::Complex(C128::new(c.real(), c.imag()))));
        }
        // An enumeration of integers is an integer.
        if x.is_instance_of::<PyInt>() {
            return Ok(Some(Number::Int(x.extract()?)));
        }
        Ok(None)
    }

    pub(crate) fn level(self) -> u8 {
        match self {
            Number::Bool(_) => 0,
            Number::Int(_) => 1,
            Number::Float(_) => 2,
            Number::Complex(_) => 3,
        }
    }

    /// The number as an element. An integer outside the range of the type is an error.
    pub(crate) fn scalar(self, d: DType) -> PyResult<Scalar> {
        Ok(match self {
            Number::Bool(b) => Scalar::from(b).cast(d),
            Number::Int(i) => {
                if let Some((low, high)) = range(d)
                    && !(low..=high).contains(&i)
                {
                    return Err(PyOverflowError::new_err(format!(
                        "the integer {i} does not fit {}",
                        dtype::name(d)
                    )));
                }
                Scalar::I(i).cast(d)
            }
            Number::Float(x) => Scalar::F(x).cast(d),
            Number::Complex(c) => Scalar::C(c).cast(d),
        })
    }

    /// A rank-0 array of this type.
    pub(crate) fn array(self, d: DType) -> PyResult<Array> {
        let scalar = self.scalar(d)?;
        let t = Python::attach(|py| Tensor::full(d, Vec::new(), scalar).or_raise(py))?;
        Array::known(t)
    }
}

/// The smallest and the greatest number of an integer type.
fn range(d: DType) -> Option<(i128, i128)> {
    let bits = 8 * d.size() as u32;
    match level(d) {
        1 if dtype::unsigned(d) => Some((0, (1 << bits) - 1)),
        1 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

/// An operand: an array or a Python number.
pub(crate) enum Operand<'py> {
    Array(Bound<'py, Array>),
    Number(Number),
}

impl<'py> Operand<'py> {
    /// The operand that an object is. `None` for objects that have their own idea of operators with
    /// arrays.
    pub(crate) fn find(x: &Bound<'py, PyAny>) -> PyResult<Option<Operand<'py>>> {
        // The two frequent cases compare the object's type; subclasses are searched for.
        if let Ok(a) = x.cast_exact::<Array>() {
            return Ok(Some(Operand::Array(a.clone())));
        }
        if let Some(n) = Number::of(x)? {
            return Ok(Some(Operand::Number(n)));
        }
        if let Ok(a) = x.cast::<Array>() {
            return Ok(Some(Operand::Array(a.clone())));
        }
        if let Some(a) = crate::numpy::array(x)? {
            return Ok(Some(Operand::Array(Bound::new(x.py(), a)?)));
        }
        if let Some(d) = crate::dims::array(x)? {
            return Ok(Some(Operand::Array(d)));
        }
        Ok(None)
    }

    /// As [`find`](Self::find), for everything that is an array.
    pub(crate) fn of(x: &Bound<'py, PyAny>) -> PyResult<Operand<'py>> {
        match Operand::find(x)? {
            Some(o) => Ok(o),
            None => Ok(Operand::Array(array(x)?)),
        }
    }

    /// Its element type, if it decides; or the kind of a weak value.
    pub(crate) fn vote(&self) -> Result<DType, u8> {
        match self {
            Operand::Array(a) if a.get().weak => Err(level(a.get().dtype())),
            Operand::Array(a) => Ok(a.get().dtype()),
            Operand::Number(n) => Err(n.level()),
        }
    }
}

/// The common element type of operands, and whether the result is weak.
pub(crate) fn common(operands: &[Operand<'_>]) -> PyResult<(DType, bool)> {
    let mut arrays = smallvec::SmallVec::<[DType; 4]>::new();
    let mut weak = smallvec::SmallVec::<[u8; 4]>::new();
    for o in operands {
        match o.vote() {
            Ok(d) => arrays.push(d),
            Err(l) => weak.push(l),
        }
    }
    let traced = |o: &Operand<'_>| matches!(o, Operand::Array(a) if a.get().weak);
    let (d, all_weak) = dtype::common(&arrays, &weak)?;
    // Weak values remain so inside the trace that they belong to.
    Ok((d, all_weak && operands.iter().any(traced)))
}

/// The array of an object.
pub(crate) fn array<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
    if let Ok(a) = x.cast::<Array>() {
        return Ok(a.clone());
    }
    let py = x.py();
    if let Some(n) = Number::of(x)? {
        return Bound::new(py, n.array(dtype::default(n.level()))?);
    }
    if let Some(a) = crate::numpy::array(x)? {
        return Bound::new(py, a);
    }
    if x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        return nested(x);
    }
    if x.is_instance_of::<PyRange>() {
        let arange = py.import("cotangent._create")?.getattr("arange")?;
        let ends = (x.getattr("start")?, x.getattr("stop")?, x.getattr("step")?);
        return Ok(arange.call1(ends)?.cast_into::<Array>()?);
    }
    if let Some(d) = crate::dims::array(x)? {
        return Ok(d);
    }
    if x.is_instance_of::<PyString>() {
        return Err(refused(x));
    }
    if let Some(a) = buffer::array(x)? {
        return Bound::new(py, a);
    }
    if x.hasattr("__dlpack__")? {
        return Bound::new(py, crate::dlpack::array(x, Some(true))?);
    }
    if x.hasattr("__array__")? || x.hasattr("__array_interface__")? {
        let np = py.import("numpy")?.call_method1("asarray", (x,))?;
        if let Some(a) = crate::numpy::array(&np)? {
            return Bound::new(py, a);
        }
    }
    Err(refused(x))
}

fn refused(x: &Bound<'_, PyAny>) -> PyErr {
    let kind = x.get_type().qualname().map(|n| n.to_string());
    raise(
        "DTypeMismatch",
        format!(
            "an object of type {} is no array: arrays come from numbers, nested lists of numbers, NumPy arrays, buffers \
             and DLPack objects",
            kind.unwrap_or_default()
        ),
    )
}

/// The array of nested lists: of Python numbers by kind, and of arrays and Python numbers stacked.
fn nested<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
    let py = x.py();
    let (mut shape, mut leaves) = (Vec::new(), Vec::new());
    walk(x, 0, &mut shape, &mut leaves)?;
    let (numbers, others): (Vec<_>, Vec<_>) = leaves
        .iter()
        .map(|x| Number::of(x))
        .collect::<PyResult<Vec<_>>>()?
        .into_iter()
        .partition(Option::is_some);
    if others.is_empty() {
        let numbers: Vec<Number> = numbers.into_iter().flatten().collect();
        let d = dtype::default(numbers.iter().map(|n| n.level()).max().unwrap_or(2));
        return Bound::new(py, Array::known(of_numbers(py, &shape, &numbers, d)?)?);
    }
    let stack = py.import("cotangent._shapes")?.getattr("of_nested")?;
    let all = PyList::new(py, &leaves)?;
    Ok(stack
        .call1((all, PyTuple::new(py, &shape)?))?
        .cast_into::<Array>()?)
}

/// The array of nested lists of integers as this integer type, whose range each must fit: of
/// unsigned numbers of 64 bits, or of signed ones for any other type. `None` for another type, and
/// for any other object.
pub(crate) fn integers<'py>(
    x: &Bound<'py, PyAny>,
    d: DType,
) -> PyResult<Option<Bound<'py, Array>>> {
    let is_list = x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>();
    if !(is_list && level(d) == 1) {
        return Ok(None);
    }
    let (mut shape, mut leaves) = (Vec::new(), Vec::new());
    walk(x, 0, &mut shape, &mut leaves)?;
    let mut numbers = Vec::with_capacity(leaves.len());
    for x in &leaves {
        match Number::of(x)? {
            Some(n @ (Number::Bool(_) | Number::Int(_))) => match n.scalar(d)? {
                Scalar::I(i) => numbers.push(i),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    let py = x.py();
    let t = match d {
        DType::U64 => {
            let all = numbers.iter().map(|&i| i as u64).collect::<Vec<_>>();
            Tensor::from_vec_row_major(shape, all)
        }
        _ => {
            let all = numbers.iter().map(|&i| i as i64).collect::<Vec<_>>();
            Tensor::from_vec_row_major(shape, all)
        }
    };
    Bound::new(py, Array::known(t.or_raise(py)?)?).map(Some)
}

fn of_numbers(py: Python<'_>, shape: &[usize], x: &[Number], d: DType) -> PyResult<Tensor> {
    let shape = shape.to_vec();
    match d {
        DType::Bool => {
            let all = x.iter().map(|n| matches!(n, Number::Bool(true)));
            Tensor::from_vec_row_major(shape, all.collect::<Vec<bool>>())
        }
        DType::I64 => {
            let one = |n: &Number| match n.scalar(DType::I64)? {
                Scalar::I(i) => Ok(i as i64),
                _ => Ok(0),
            };
            Tensor::from_vec_row_major(shape, x.iter().map(one).collect::<PyResult<Vec<i64>>>()?)
        }
        DType::F64 => {
            let one = |n: &Number| match *n {
                Number::Bool(b) => f64::from(u8::from(b)),
                Number::Int(i) => i as f64,
                Number::Float(x) => x,
                Number::Complex(c) => c.re,
            };
            Tensor::from_vec_row_major(shape, x.iter().map(one).collect::<Vec<f64>>())
        }
        _ => {
            let one = |n: &Number| match *n {
                Number::Bool(b) => C128::new(f64::from(u8::from(b)), 0.0),
                Number::Int(i) => C128::new(i as f64, 0.0),
                Number::Float(x) => C128::new(x, 0.0),
                Number::Complex(c) => c,
            };
            Tensor::from_vec_row_major(shape, x.iter().map(one).collect::<Vec<C128>>())
        }
    }
    .or_raise(py)
}

/// Appends the leaves of nested lists in order, and checks that they are a box.
fn walk<'py>(
    x: &Bound<'py, PyAny>,
    depth: usize,
    shape: &mut Vec<usize>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let is_list = x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>();
    let ragged = |text: &str| {
        raise(
            "ShapeMismatch",
            format!("a nested list is no array: {text} at depth {depth}"),
        )
    };
    if !is_list {
        if !leaves.is_empty() && shape.len() != depth {
            return Err(ragged("a number and a list are side by side"));
        }
        leaves.push(x.clone());
        return Ok(());
    }
    let n = x.len()?;
    match shape.get(depth) {
        None if leaves.is_empty() && shape.len() == depth => shape.push(n),
        None => return Err(ragged("a number and a list are side by side")),
        Some(&m) if m != n => return Err(ragged(&format!("rows have {m} and {n} elements"))),
        Some(_) => {}
    }
    if depth > 64 {
        return Err(ragged("it has more than 64 levels"));
    }
    for item in x.try_iter()? {
        walk(&item?, depth + 1, shape, leaves)?;
    }
    Ok(())
}
