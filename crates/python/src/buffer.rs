//! Memory of others as arrays, and arrays as memory for others (the buffer protocol).
//!
//! A buffer of memory of others holds its owner.

use crate::array::Array;
use crate::error::{OrRaise, raise};
use cotangent::extend::array::{Buffer, Elements};
use cotangent::extend::{Data, View, for_dtype};
use cotangent::tensor::Order;
use cotangent::{DType, Element, Tensor};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CString, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Memory of another owner, which the last tensor that refers to it lets go.
struct Foreign<T> {
    ptr: *const T,
    len: usize,
    #[expect(dead_code, reason = "it is held, not read")]
    owner: Option<Py<PyAny>>,
    #[expect(dead_code, reason = "it is counted, not read")]
    alive: Arc<()>,
}

// SAFETY: the memory is read only, and the creator (`Lent::new`) guarantees that nothing writes.
unsafe impl<T: Sync> Send for Foreign<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Foreign<T> {}

impl<T: Send + Sync> Elements<T> for Foreign<T> {
    fn elements(&self) -> &[T] {
        // SAFETY: `Lent::new` is called with memory that is valid as long as this value lives.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }
}

/// Memory of another owner as elements.
pub(crate) struct Lent {
    data: Mutex<Option<Data>>,
    alive: Weak<()>,
}

impl Lent {
    /// The elements at this address, and the object that keeps them, if there is one.
    ///
    /// # Safety
    /// `ptr` is aligned for the element type and valid for reads of `len` initialised elements as
    /// long as `owner` lives; without one, until the result and all tensors that were made of it
    /// are dropped. Nothing writes to them meanwhile.
    pub(crate) unsafe fn new(
        dtype: DType,
        ptr: *const c_void,
        len: usize,
        owner: Option<Py<PyAny>>,
    ) -> Lent {
        let alive = Arc::new(());
        let weak = Arc::downgrade(&alive);
        let data = match len {
            0 => for_dtype!(dtype, T => T::wrap(Vec::<T>::new())),
            _ => for_dtype!(dtype, T => T::share(Buffer::of_owner(Foreign::<T> {
                ptr: ptr.cast(),
                len,
                owner,
                alive,
            }))),
        };
        Lent {
            data: Mutex::new(Some(data)),
            alive: weak,
        }
    }

    /// A row-major tensor of the elements.
    pub(crate) fn tensor(&self, shape: &[usize]) -> cotangent::Result<Tensor> {
        let data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let data = data.clone().expect("it is released after the last use");
        Ok(cotangent::Array::from_data(shape.to_vec(), data)?.into())
    }

    /// Drops the reference to the memory. Whether tensors still refer to it.
    pub(crate) fn release(&self) -> bool {
        let data = self
            .data
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(data);
        self.alive.strong_count() > 0
    }
}

/// A tensor with elements of its own.
pub(crate) fn copied(lent: &Lent, shape: &[usize], py: Python<'_>) -> PyResult<Tensor> {
    fn copy<T: Element>(t: &Tensor, shape: &[usize]) -> cotangent::Result<Tensor> {
        Tensor::from_vec_row_major(shape.to_vec(), t.as_slice::<T>()?.to_vec())
    }
    let t = lent.tensor(shape).or_raise(py)?;
    for_dtype!(t.dtype(), T => copy::<T>(&t, shape)).or_raise(py)
}

/// The array of an object with a buffer: through NumPy, which reads every format.
pub(crate) fn array(x: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    // SAFETY: the pointer is that of a live object.
    if unsafe { ffi::PyObject_CheckBuffer(x.as_ptr()) } == 0 {
        return Ok(None);
    }
    let a = x.py().import("numpy")?.call_method1("asarray", (x,))?;
    crate::numpy::array(&a)
}

/// The format of elements in the buffer protocol.
fn format(d: DType) -> Option<&'static str> {
    Some(match d {
        DType::Bool => "?",
        DType::I8 => "b",
        DType::I16 => "h",
        DType::I32 => "i",
        DType::I64 => "q",
        DType::U8 => "B",
        DType::U16 => "H",
        DType::U32 => "I",
        DType::U64 => "Q",
        DType::F16 => "e",
        DType::F32 => "f",
        DType::F64 => "d",
        DType::C64 => "Zf",
        DType::C128 => "Zd",
        DType::BF16 | DType::Opaque(_) => return None,
    })
}

/// The address of the first element of a view.
pub(crate) fn address(view: &View) -> *const c_void {
    view.as_ptr().cast()
}

/// The values that a consumer of a buffer reads until it releases it.
struct Exported {
    #[expect(dead_code, reason = "it keeps the memory")]
    tensor: Tensor,
    format: CString,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// The elements, dense if the consumer cannot read strides.
fn exported(x: &Array, py: Python<'_>, flags: c_int) -> PyResult<(Tensor, &'static str)> {
    let t = x.tensor(py, "a buffer")?;
    let Some(format) = format(t.dtype()) else {
        return Err(PyBufferError::new_err(
            "the buffer protocol has no format for bfloat16: convert with astype(float32)",
        ));
    };
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err(
            "the elements of an array cannot be written: copy them with numpy.array(x)",
        ));
    }
    let strided = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
    let t = match strided {
        true => t,
        false => t.to_order(Order::RowMajor).or_raise(py)?,
    };
    Ok((t, format))
}

#[pymethods]
impl Array {
    // SAFETY: the interpreter passes a view that it owns, and releases it once.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("a view is missing"));
        }
        // SAFETY: checked for null, and the interpreter's to write.
        unsafe { (*view).obj = std::ptr::null_mut() };
        let (tensor, format) = exported(slf.get(), slf.py(), flags)?;
        let size = tensor.dtype().size() as isize;
        let (first, count) = (address(tensor.view()), tensor.len() as isize);
        let mut out = Box::new(Exported {
            format: CString::new(format).unwrap_or_default(),
            shape: tensor.shape().iter().map(|&n| n as isize).collect(),
            strides: tensor.strides().iter().map(|&s| s * size).collect(),
            tensor,
        });
        let all = |f| flags & f == f;
        // SAFETY: the view is the interpreter's to write. The pointers are into `out`, which
        // `internal` keeps until the release, and into the tensor's buffer, which `out` keeps.
        unsafe {
            (*view).buf = first.cast_mut();
            (*view).len = count * size;
            (*view).readonly = 1;
            (*view).itemsize = size;
            (*view).format = match all(ffi::PyBUF_FORMAT) {
                true => out.format.as_ptr().cast_mut(),
                false => std::ptr::null_mut(),
            };
            (*view).ndim = out.shape.len() as c_int;
            (*view).shape = match all(ffi::PyBUF_ND) {
                true => out.shape.as_mut_ptr(),
                false => std::ptr::null_mut(),
            };
            (*view).strides = match all(ffi::PyBUF_STRIDES) {
                true => out.strides.as_mut_ptr(),
                false => std::ptr::null_mut(),
            };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = Box::into_raw(out).cast();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    // SAFETY: the interpreter passes a view that `__getbuffer__` filled, once.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box of `__getbuffer__`.
        unsafe { drop(Box::from_raw((*view).internal.cast::<Exported>())) };
    }
}

/// The limit of a copy: an array of that many elements would take all memory.
pub(crate) fn check_size(shape: &[usize], d: DType) -> PyResult<usize> {
    let n = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m));
    match n.and_then(|n| n.checked_mul(d.size()).map(|bytes| (n, bytes))) {
        Some((n, bytes)) if bytes <= 1 << 43 => Ok(n),
        _ => Err(raise(
            "Limit",
            format!("an array of shape {shape:?} is too large"),
        )),
    }
}
