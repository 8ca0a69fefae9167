//! NumPy's arrays: read through their struct, copied or borrowed.

use crate::array::Array;
use crate::buffer::{Lent, check_size, copied};
use crate::error::raise;
use cotangent::ad::TensorRead;
use cotangent::cpu::{Raw, View};
use cotangent::{DType, Executable, Tensor};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// NumPy's array class and the class of its scalars, if NumPy is imported.
fn classes(py: Python<'_>) -> PyResult<Option<&(Py<PyType>, Py<PyType>)>> {
    static CLASSES: PyOnceLock<(Py<PyType>, Py<PyType>)> = PyOnceLock::new();
    if let Some(found) = CLASSES.get(py) {
        return Ok(Some(found));
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let Some(np) = modules.cast::<PyDict>()?.get_item("numpy")? else {
        return Ok(None);
    };
    // NumPy may be half imported.
    let Ok(class) = np.getattr("ndarray") else {
        return Ok(None);
    };
    let class = class.cast_into::<PyType>()?.unbind();
    let generic = np.getattr("generic")?.cast_into::<PyType>()?.unbind();
    Ok(Some(CLASSES.get_or_init(py, || (class, generic))))
}

/// The object as an array of NumPy, if it is one, or a scalar of NumPy.
fn find<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    let py = x.py();
    let Some((class, generic)) = classes(py)? else {
        return Ok(None);
    };
    let exact = x.get_type().is(class.bind(py));
    if exact || x.is_instance(class.bind(py))? {
        if !exact && x.hasattr("mask")? {
            return Err(raise(
                "DTypeMismatch",
                "a masked array has no counterpart: fill its elements (`x.filled(0.0)`), or leave the mask out \
                 (`numpy.asarray(x)`)",
            ));
        }
        return Ok(Some(x.cast::<PyUntypedArray>()?.clone()));
    }
    if x.is_instance(generic.bind(py))? {
        let a = py.import("numpy")?.call_method1("asarray", (x,))?;
        return Ok(Some(a.cast_into::<PyUntypedArray>()?));
    }
    Ok(None)
}

/// The element type, by NumPy's number of it.
fn dtype(descr: &Bound<'_, PyArrayDescr>) -> PyResult<DType> {
    let log2 = || descr.itemsize().ilog2() as usize;
    Ok(match (descr.num(), descr.kind()) {
        (0, _) => DType::Bool,
        (11, _) => DType::F32,
        (12, _) => DType::F64,
        (_, b'i') => [DType::I8, DType::I16, DType::I32, DType::I64][log2()],
        (_, b'u') => [DType::U8, DType::U16, DType::U32, DType::U64][log2()],
        (14, _) => DType::C64,
        (15, _) => DType::C128,
        (23, _) => DType::F16,
        (256.., _) if descr.getattr("name")?.extract::<String>()? == "bfloat16" => DType::BF16,
        _ => {
            return Err(raise(
                "UnknownDType",
                format!(
                    "NumPy's element type {} has no counterpart: arrays hold booleans, integers, floats of 16 to 64 bits \
                     and complex numbers",
                    descr.str()?
                ),
            ));
        }
    })
}

/// The memory of an array, if it is dense in C or Fortran order, aligned and native.
pub(crate) struct Borrowed<'py> {
    array: Bound<'py, PyUntypedArray>,
    pub dtype: DType,
    /// Number of elements.
    n: usize,
    /// The memory as elements, after the first use as a tensor.
    lent: OnceCell<Lent>,
    /// Whether the first axis is the fastest.
    column_major: bool,
}

impl Borrowed<'_> {
    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    fn data(&self) -> *const u8 {
        // SAFETY: the array is alive.
        unsafe { (*self.array.as_array_ptr()).fields.data }
            .cast::<u8>()
            .cast_const()
    }

    fn lent(&self) -> &Lent {
        let owner = || Some(self.array.clone().into_any().unbind());
        // SAFETY: the memory is alive as long as its owner, and dense, aligned and native: it has
        // `n` elements of this type in a row.
        let new = || unsafe { Lent::new(self.dtype, self.data().cast(), self.n, owner()) };
        self.lent.get_or_init(new)
    }

    /// Whether tensors still refer to the memory after a run: it is not lent any more.
    pub(crate) fn release(&self) -> bool {
        self.lent.get().is_some_and(Lent::release)
    }

    /// Whether the address is in this memory.
    pub(crate) fn holds(&self, at: *const std::ffi::c_void) -> bool {
        let first = self.data() as usize;
        let bytes = self.n * self.dtype.size();
        (first..first + bytes).contains(&(at as usize))
    }

    /// The elements where they are.
    pub(crate) fn tensor(&self) -> cotangent::Result<Tensor> {
        if !self.column_major {
            return self.lent().tensor(self.array.shape());
        }
        let mut shape = self.array.shape().to_vec();
        shape.reverse();
        self.lent().tensor(&shape)?.t()
    }
}

/// An operand of a program over small tensors.
pub(crate) enum Small<'a, 'py> {
    Borrowed(&'a Borrowed<'py>),
    Read(TensorRead<'a>),
    Tensor(Tensor),
}

fn raw_of(t: &Tensor) -> Raw<'_> {
    Raw {
        dtype: t.dtype(),
        data: t.as_ptr(),
        shape: t.shape(),
        strides: t.strides(),
    }
}

impl Small<'_, '_> {
    /// Its elements; `None` if they are not in row-major order.
    fn raw(&self) -> Option<Raw<'_>> {
        match self {
            Small::Borrowed(b) => (!b.column_major).then(|| Raw {
                dtype: b.dtype,
                data: b.data(),
                shape: b.shape(),
                strides: &[],
            }),
            Small::Read(t) => Some(raw_of(t)),
            Small::Tensor(t) => Some(raw_of(t)),
        }
    }

    /// Runs a program over small tensors on operands where they are; `None`, without running, if
    /// that is not possible.
    pub(crate) fn run(
        program: &Executable,
        x: &[Small<'_, '_>],
        give: impl FnMut(View),
    ) -> Option<cotangent::Result<()>> {
        let mut raw = SmallVec::<[Raw<'_>; 4]>::new();
        for x in x {
            raw.push(x.raw()?);
        }
        // SAFETY: the operands are borrowed and tensors, which live during the call: borrowed
        // memory is dense, native, has valid booleans, and is not written meanwhile, as `borrow`
        // says.
        unsafe { program.run_raw(&raw, give) }
    }
}

fn is_native(descr: &Bound<'_, PyArrayDescr>) -> bool {
    descr.is_native_byteorder() != Some(false)
}

/// Borrows the memory of an array of NumPy for as long as the result lives.
///
/// The caller drops all tensors that it makes of it first, or copies them. Other threads must not
/// write to the array meanwhile, as for every function of NumPy.
pub(crate) fn borrow<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Borrowed<'py>>> {
    let Some(a) = find(x)? else { return Ok(None) };
    let descr = a.dtype();
    let d = dtype(&descr)?;
    let n = check_size(a.shape(), d)?;
    let packed = a.is_contiguous() && a.is_aligned() && is_native(&descr);
    let a = match packed {
        true => a,
        false => pack(&a, d)?,
    };
    let a = match d == DType::Bool && !holds_booleans(&a, n) {
        true => booleans(&a)?,
        false => a,
    };
    Ok(Some(Borrowed {
        column_major: !a.is_c_contiguous(),
        array: a,
        dtype: d,
        n,
        lent: OnceCell::new(),
    }))
}

/// Whether all bytes of a dense array of booleans are 0 or 1: those of a view of other memory may
/// not be.
fn holds_booleans(a: &Bound<'_, PyUntypedArray>, n: usize) -> bool {
    if n == 0 {
        return true;
    }
    // SAFETY: the array is dense and has `n` elements of one byte.
    let bytes =
        unsafe { std::slice::from_raw_parts((*a.as_array_ptr()).fields.data.cast::<u8>(), n) };
    bytes.iter().fold(0u8, |all, &b| all | b) <= 1
}

/// The booleans that the bytes of an array read as: true unless they are 0.
fn booleans<'py>(a: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let bytes = a.call_method1("view", ("uint8",))?;
    let all = bytes.call_method1("__ne__", (0,))?;
    Ok(all.cast_into::<PyUntypedArray>()?)
}

/// A dense copy.
fn pack<'py>(x: &Bound<'py, PyUntypedArray>, d: DType) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = x.py();
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    options.set_item("dtype", crate::dtype::numpy(py, d)?)?;
    let a = py
        .import("numpy")?
        .call_method("array", (x,), Some(&options))?;
    Ok(a.cast_into::<PyUntypedArray>()?)
}

/// The array of an array of NumPy or of one of its scalars: copied, because the array may change.
pub(crate) fn array(x: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let Some(b) = borrow(x)? else { return Ok(None) };
    let py = x.py();
    let t = match b.column_major {
        false => copied(b.lent(), b.array.shape(), py)?,
        true => {
            let mut shape = b.array.shape().to_vec();
            shape.reverse();
            let t = copied(b.lent(), &shape, py)?;
            let t = crate::error::OrRaise::or_raise(t.t(), py)?;
            crate::error::OrRaise::or_raise(t.to_order(cotangent::tensor::Order::RowMajor), py)?
        }
    };
    Ok(Some(Array::known(t)?))
}

/// The array that shares the memory of an array of NumPy. An error where a copy would be necessary.
pub(crate) fn shared(x: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let Some(a) = find(x)? else { return Ok(None) };
    let descr = a.dtype();
    let d = dtype(&descr)?;
    let n = check_size(a.shape(), d)?;
    let dense = a.is_c_contiguous() && a.is_aligned() && is_native(&descr);
    if !dense || (d == DType::Bool && !holds_booleans(&a, n)) {
        return Err(PyValueError::new_err(
            "this array cannot be shared without a copy: it is not dense, aligned and native; leave out copy=False",
        ));
    }
    // SAFETY: `a` is dense, aligned and native, and `share` keeps it alive as long as arrays refer
    // to its memory. The caller of `asarray(copy=False)` promises not to write to it.
    let lent = unsafe {
        Lent::new(
            d,
            (*a.as_array_ptr()).fields.data.cast(),
            n,
            Some(a.clone().into_any().unbind()),
        )
    };
    let t = crate::error::OrRaise::or_raise(lent.tensor(a.shape()), x.py())?;
    Ok(Some(Array::known(t)?))
}
