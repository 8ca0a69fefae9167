//! Properties, operators and conversions of arrays.

use crate::array::{Array, State};
use crate::dtype::{self, PyDType, level, name, unsigned};
use crate::error::{OrRaise, raise};
use crate::operand::{Number, Operand};
use crate::ops::{Domain, PairFunction, PairOp, apply, emit_one, of_two};
use crate::{index, operand};
use cotangent::extend::for_dtype;
use cotangent::ops::{Binary, Comparison};
use cotangent::{C64, C128, DType, Element, Tensor, bf16, f16};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyMemoryView, PyTuple};

/// An element as a Python number.
trait Scalar: Element {
    fn python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

macro_rules! scalars {
    ($($t:ty: |$x:ident, $py:ident| $e:expr),* $(,)?) => {$(
        impl Scalar for $t {
            fn python<'py>(self, $py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let $x = self;
                Ok($e)
            }
        }
    )*};
}

scalars! {
    bool: |x, py| x.into_pyobject(py)?.to_owned().into_any(),
    i8: |x, py| x.into_pyobject(py)?.into_any(),
    i16: |x, py| x.into_pyobject(py)?.into_any(),
    i32: |x, py| x.into_pyobject(py)?.into_any(),
    i64: |x, py| x.into_pyobject(py)?.into_any(),
    u8: |x, py| x.into_pyobject(py)?.into_any(),
    u16: |x, py| x.into_pyobject(py)?.into_any(),
    u32: |x, py| x.into_pyobject(py)?.into_any(),
    u64: |x, py| x.into_pyobject(py)?.into_any(),
    f16: |x, py| x.to_f64().into_pyobject(py)?.into_any(),
    bf16: |x, py| x.to_f64().into_pyobject(py)?.into_any(),
    f32: |x, py| f64::from(x).into_pyobject(py)?.into_any(),
    f64: |x, py| x.into_pyobject(py)?.into_any(),
    C64: |x, py| PyComplex::from_doubles(py, x.re.into(), x.im.into()).into_any(),
    C128: |x, py| PyComplex::from_doubles(py, x.re, x.im).into_any(),
}

/// The elements as Python numbers, row by row.
fn numbers<'py>(py: Python<'py>, t: &Tensor) -> PyResult<Vec<Bound<'py, PyAny>>> {
    fn of<'py, T: Scalar>(py: Python<'py>, t: &Tensor) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let x = t.to_vec_row_major::<T>().or_raise(py)?;
        x.into_iter().map(|x| x.python(py)).collect()
    }
    for_dtype!(t.dtype(), T => of::<T>(py, t))
}

impl Array {
    /// The only element as a Python number. `rank0`: the array has rank 0.
    fn number<'py>(&self, py: Python<'py>, what: &str, rank0: bool) -> PyResult<Bound<'py, PyAny>> {
        let ty = self.ty();
        let n = ty.shape.as_const().map(|s| s.iter().product::<usize>());
        if (rank0 && ty.rank() != 0) || n.is_some_and(|n| n != 1) {
            return Err(PyTypeError::new_err(format!(
                "{what} needs an array of {}, not {ty}",
                if rank0 { "rank 0" } else { "one element" }
            )));
        }
        let t = self.tensor(py, what)?;
        let mut all = numbers(py, &t)?;
        Ok(all.remove(0))
    }
}

type Maybe<'py> = PyResult<Bound<'py, PyAny>>;

/// A function of two operands that is an operation of the core.
const fn function_of(op: Binary, domain: Domain) -> PairFunction<'static> {
    PairFunction::new(PairOp::Function(op), domain)
}

const ADD: PairFunction<'static> = function_of(Binary::Add, Domain::Any);
const SUB: PairFunction<'static> = function_of(Binary::Sub, Domain::Any);
const MUL: PairFunction<'static> = function_of(Binary::Mul, Domain::Any);
const DIV: PairFunction<'static> = function_of(Binary::Div, Domain::Float);
const POW: PairFunction<'static> = function_of(Binary::Pow, Domain::Any);
const AND: PairFunction<'static> = function_of(Binary::And, Domain::Any);
const OR: PairFunction<'static> = function_of(Binary::Or, Domain::Any);
const XOR: PairFunction<'static> = function_of(Binary::Xor, Domain::Any);
const SHIFT_LEFT: PairFunction<'static> = function_of(Binary::ShiftLeft, Domain::Integer);
const FLOOR_DIVIDE: PairFunction<'static> =
    PairFunction::new(PairOp::Named("floor_divide"), Domain::Integer);
const FLOOR_MOD: PairFunction<'static> =
    PairFunction::new(PairOp::Named("floor_mod"), Domain::Integer);

/// An operator; `NotImplemented` for operands that are no arrays.
fn operator<'py>(
    slf: &Bound<'py, Array>,
    other: &Bound<'py, PyAny>,
    pair: PairFunction<'_>,
    reflected: bool,
) -> Maybe<'py> {
    let py = slf.py();
    let Some(other) = Operand::find(other)? else {
        return Ok(py.NotImplemented().into_bound(py));
    };
    let this = Operand::Array(slf.clone());
    let operands = match reflected {
        false => [this, other],
        true => [other, this],
    };
    Ok(of_two(py, pair, operands)?.into_any())
}

/// An operator that is a function of the Python layer.
fn function<'py>(
    slf: &Bound<'py, Array>,
    other: &Bound<'py, PyAny>,
    name: &str,
    reflected: bool,
) -> Maybe<'py> {
    let py = slf.py();
    if Operand::find(other)?.is_none() {
        return Ok(py.NotImplemented().into_bound(py));
    }
    let f = py.import("cotangent")?.getattr(name)?;
    match reflected {
        false => f.call1((slf, other)),
        true => f.call1((other, slf)),
    }
}

fn shift_right(d: DType) -> PairFunction<'static> {
    let op = match unsigned(d) {
        true => Binary::ShiftRightLogical,
        false => Binary::ShiftRightArithmetic,
    };
    PairFunction::new(PairOp::Function(op), Domain::Integer)
}

#[pymethods]
impl Array {
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        index::shape(slf)
    }

    #[getter(dtype)]
    fn python_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype())
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.rank()
    }

    #[getter]
    fn size<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let mut n = 1i64.into_pyobject(slf.py())?.into_any();
        for extent in index::shape(slf)?.iter() {
            n = extent.mul(n)?;
        }
        Ok(n)
    }

    /// The name of the device of the elements: `cpu`, or as in `cuda:1`.
    #[getter]
    fn device(&self) -> String {
        self.placement().name.clone()
    }

    /// Number of bytes of the elements.
    #[getter]
    fn nbytes(&self) -> usize {
        let shape = self.ty().shape.as_const().unwrap_or_default();
        shape.iter().product::<usize>() * self.dtype().size()
    }

    #[getter]
    #[pyo3(name = "T")]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        let perm: Vec<usize> = (0..slf.get().rank()).rev().collect();
        let one = std::slice::from_ref(slf);
        emit_one(slf.py(), one, slf.get().weak, |cx, x| {
            cx.transpose(x[0], &perm)
        })
    }

    #[getter]
    #[pyo3(name = "mT")]
    fn matrix_transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        let rank = slf.get().rank();
        if rank < 2 {
            return Err(raise(
                "ShapeMismatch",
                format!(
                    "a matrix has two axes or more, not {rank}: the transpose of all axes is x.T"
                ),
            ));
        }
        let one = std::slice::from_ref(slf);
        emit_one(slf.py(), one, slf.get().weak, |cx, x| {
            cx.matrix_transpose(x[0])
        })
    }

    /// Whether it is a value of a program, whose elements are not known.
    #[getter]
    fn traced(&self) -> bool {
        match &self.state {
            State::Traced(t) => !t.is_known(),
            _ => self.is_traced(),
        }
    }

    /// Whether it is a Python number that a traced function received.
    #[getter]
    fn weak_type(&self) -> bool {
        self.weak
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, ADD, false)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, ADD, true)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, SUB, false)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, SUB, true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, MUL, false)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, MUL, true)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, DIV, false)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, DIV, true)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, FLOOR_DIVIDE, false)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, FLOOR_DIVIDE, true)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, FLOOR_MOD, false)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, FLOOR_MOD, true)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        function(slf, o, "matmul", false)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        function(slf, o, "matmul", true)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        o: &Bound<'py, PyAny>,
        _modulo: &Bound<'py, PyAny>,
    ) -> Maybe<'py> {
        power(slf, o)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        o: &Bound<'py, PyAny>,
        _modulo: &Bound<'py, PyAny>,
    ) -> Maybe<'py> {
        operator(slf, o, POW, true)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, AND, false)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, AND, true)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, OR, false)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, OR, true)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, XOR, false)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, XOR, true)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, SHIFT_LEFT, false)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, SHIFT_LEFT, true)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, shift_right(slf.get().dtype()), false)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
        operator(slf, o, shift_right(slf.get().dtype()), true)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        apply(slf, cotangent::ops::Unary::Neg)
    }

    fn __pos__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let f = slf.py().import("cotangent")?.getattr("abs")?;
        f.call1((slf,))
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        apply(slf, cotangent::ops::Unary::Not)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        o: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> Maybe<'py> {
        let op = match op {
            CompareOp::Eq => Comparison::Eq,
            CompareOp::Ne => Comparison::Ne,
            CompareOp::Lt => Comparison::Lt,
            CompareOp::Le => Comparison::Le,
            CompareOp::Gt => Comparison::Gt,
            CompareOp::Ge => Comparison::Ge,
        };
        let pair = PairFunction::new(PairOp::Comparison(op), Domain::Any);
        operator(slf, o, pair, false)
    }

    fn __hash__(&self) -> PyResult<isize> {
        Err(PyTypeError::new_err("unhashable type: 'Array'"))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let ty = self.ty();
        let n = ty.shape.as_const().map(|s| s.iter().product::<usize>());
        if n.is_some_and(|n| n != 1) {
            return Err(PyValueError::new_err(format!(
                "the truth of an array of several elements ({ty}) is ambiguous: use any() or all()"
            )));
        }
        self.number(py, "bool()", false)?.is_truthy()
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<f64> {
        let x = self.number(py, "float()", true)?;
        match x.is_instance_of::<PyComplex>() {
            true => Err(PyTypeError::new_err(
                "float() of a complex number: take real(x)",
            )),
            false => x.extract(),
        }
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let x = self.number(py, "int()", true)?;
        py.import("builtins")?.getattr("int")?.call1((x,))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let x = self.number(py, "complex()", true)?;
        py.import("builtins")?.getattr("complex")?.call1((x,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if level(self.dtype()) != 1 || self.rank() != 0 {
            return Err(PyTypeError::new_err(format!(
                "an index is an integer array of rank 0, not {}",
                self.ty()
            )));
        }
        self.number(py, "an index", true)
    }

    /// The only element as a Python number, or the element at an index.
    #[pyo3(signature = (*index))]
    fn item<'py>(
        slf: &Bound<'py, Self>,
        index: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match index.len() {
            0 => slf.get().number(py, "item()", false),
            1 => slf
                .call_method1("reshape", (-1,))?
                .get_item(index.get_item(0)?)?
                .call_method0("item"),
            _ => slf.get_item(index)?.call_method0("item"),
        }
    }

    /// The elements as nested lists of Python numbers.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let t = self.tensor(py, "tolist()")?;
        let mut all = numbers(py, &t)?;
        for &n in t.shape().iter().skip(1).rev() {
            let rows = match n {
                0 => t.shape().iter().product::<usize>().max(1),
                n => all.len() / n,
            };
            let mut rest = all.into_iter();
            all = (0..rows)
                .map(|_| {
                    Ok(
                        pyo3::types::PyList::new(py, rest.by_ref().take(n).collect::<Vec<_>>())?
                            .into_any(),
                    )
                })
                .collect::<PyResult<_>>()?;
        }
        match t.rank() {
            0 => Ok(all.remove(0)),
            _ => Ok(pyo3::types::PyList::new(py, all)?.into_any()),
        }
    }

    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let format = py.import("builtins")?.getattr("format")?;
        match slf.get().rank() == 0 && !slf.get().traced() {
            true => format.call1((slf.get().number(py, "format()", true)?, spec)),
            false => format.call1((slf.str()?, spec)),
        }
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("cotangent._show")?
            .call_method1("text", (slf, true))
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("cotangent._show")?
            .call_method1("text", (slf, false))
    }

    /// The type, for messages: `f64[3,2]`.
    fn _type(&self) -> String {
        self.ty().to_string()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// As an array of NumPy: the same memory, read-only; a copy of the elements of another device.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let t = this.tensor(py, "a NumPy array")?;
        let slf = &match this.placement().is_cpu() {
            true => slf.clone(),
            false => Bound::new(py, Array::known(t)?)?,
        };
        let np = py.import("numpy")?;
        let of =
            |x: &Bound<'py, Array>| np.call_method1("asarray", (PyMemoryView::from(x.as_any())?,));
        let a = match this.dtype() {
            DType::BF16 => {
                let to = dtype::numpy(py, DType::BF16)?;
                let one = std::slice::from_ref(slf);
                let bits = emit_one(py, one, false, |cx, x| cx.bitcast(x[0], DType::U16))?;
                of(&bits)?.call_method1("view", (to,))?
            }
            _ => of(slf)?,
        };
        let a = match dtype {
            Some(d) if !d.is_none() => {
                let same = a.getattr("dtype")?.eq(np.call_method1("dtype", (d,))?)?;
                if !same && copy == Some(false) {
                    return Err(PyValueError::new_err(
                        "another element type needs a copy: leave out copy=False",
                    ));
                }
                let options = PyDict::new(py);
                options.set_item("copy", false)?;
                a.call_method("astype", (d,), Some(&options))?
            }
            _ => a,
        };
        match copy {
            Some(true) => a.call_method0("copy"),
            _ => Ok(a),
        }
    }

    fn __reduce_ex__<'py>(
        slf: &Bound<'py, Self>,
        protocol: i32,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let module = py.import("cotangent._cotangent")?;
        if this.slot().is_some() {
            let elements = Bound::new(py, Array::eager(this.elements(py, "pickling")?.detach()))?;
            let class = module.getattr("Parameter")?;
            return Ok((class, PyTuple::new(py, [elements])?));
        }
        let t = this.tensor(py, "pickling")?;
        let dense = Array::known(
            t.to_order(cotangent::tensor::Order::RowMajor)
                .or_raise(py)?,
        )?;
        let dense = Bound::new(py, dense)?;
        let bits = match this.dtype() {
            DType::BF16 => emit_one(py, &[dense], false, |cx, x| cx.bitcast(x[0], DType::U16))?,
            _ => dense,
        };
        let memory = PyMemoryView::from(bits.as_any())?;
        let data = match protocol >= 5 {
            true => py
                .import("pickle")?
                .getattr("PickleBuffer")?
                .call1((memory,))?,
            false => memory.call_method0("tobytes")?,
        };
        let args = (name(this.dtype()), index::shape(slf)?, data).into_pyobject(py)?;
        Ok((module.getattr("array_of")?, args))
    }
}

/// `x ** y`: constant integer exponents are repeated multiplications.
fn power<'py>(slf: &Bound<'py, Array>, o: &Bound<'py, PyAny>) -> Maybe<'py> {
    let d = slf.get().dtype();
    let one = std::slice::from_ref(slf);
    match Number::of(o)? {
        Some(Number::Int(n)) if d.has_tangent() && i32::try_from(n).is_ok() => {
            let y = emit_one(slf.py(), one, slf.get().weak, |cx, x| {
                cx.integer_pow(x[0], n as i64)
            })?;
            Ok(y.into_any())
        }
        Some(Number::Int(n)) if n < 0 && level(d) == 1 => Err(PyValueError::new_err(
            "integers to a negative integer power are no integers: convert with astype(float64)",
        )),
        _ => operator(slf, o, POW, false),
    }
}

/// An array as it was pickled.
#[pyfunction]
pub(crate) fn array_of<'py>(
    dtype: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyTuple>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let py = data.py();
    let d = dtype::parse(dtype)?;
    let bits = if d == DType::BF16 { DType::U16 } else { d };
    let np = py.import("numpy")?;
    let a = np.call_method1("frombuffer", (data, name(bits)))?;
    let x = operand::array(&a.call_method1("reshape", (shape,))?)?;
    match d == bits {
        true => Ok(x),
        false => emit_one(py, &[x], false, |cx, x| cx.bitcast(x[0], d)),
    }
}

/// Raises an error with this code.
#[pyfunction]
pub(crate) fn fail(code: &str, message: &str) -> PyResult<()> {
    Err(raise(code, message))
}
