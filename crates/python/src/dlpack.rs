//! DLPack: arrays as tensors of other libraries, without a copy.

use crate::array::Array;
use crate::buffer::address;
use crate::error::OrRaise;
use cotangent::extend::Kind;
use cotangent::{DType, Tensor};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{CStr, c_void};

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct Element {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Managed {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: Element,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// The unversioned form.
#[repr(C)]
struct Old {
    tensor: Managed,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Old)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Managed,
}

/// Memory that the pointers of an export refer to.
struct Context {
    #[expect(dead_code, reason = "it keeps the memory")]
    tensor: Tensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

const READ_ONLY: u64 = 1;
const OLD: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// Frees an export that a consumer took.
unsafe extern "C" fn delete_old(x: *mut Old) {
    // SAFETY: the consumer calls it once, with the box that `export` leaked.
    unsafe {
        let x = Box::from_raw(x);
        drop(Box::from_raw(x.context.cast::<Context>()));
    }
}

/// As [`delete_old`].
unsafe extern "C" fn delete_versioned(x: *mut Versioned) {
    // SAFETY: the consumer calls it once, with the box that `export` leaked.
    unsafe {
        let x = Box::from_raw(x);
        drop(Box::from_raw(x.context.cast::<Context>()));
    }
}

/// Frees an export that no consumer took: its capsule still has its first name.
unsafe extern "C" fn free_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter passes a capsule that is being destroyed; a valid name implies the
    // pointer of `export`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, OLD.as_ptr()) != 0 {
            delete_old(ffi::PyCapsule_GetPointer(capsule, OLD.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) != 0 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}

fn element(d: DType) -> Element {
    let code = match d.kind() {
        Kind::Bool => 6,
        Kind::Int if crate::dtype::unsigned(d) => 1,
        Kind::Int => 0,
        Kind::Float if d == DType::BF16 => 4,
        Kind::Float => 2,
        _ => 5,
    };
    Element {
        code,
        bits: 8 * d.size() as u8,
        lanes: 1,
    }
}

fn export<'py>(py: Python<'py>, t: Tensor, versioned: bool) -> PyResult<Bound<'py, PyAny>> {
    let data = address(t.view()).cast_mut();
    let dtype = element(t.dtype());
    let mut context = Box::new(Context {
        shape: t.shape().iter().map(|&n| n as i64).collect(),
        strides: t.strides().iter().map(|&n| n as i64).collect(),
        tensor: t,
    });
    let tensor = Managed {
        data,
        device: Device { kind: 1, id: 0 },
        ndim: context.shape.len() as i32,
        dtype,
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(context).cast();
    let (pointer, name): (*mut c_void, _) = match versioned {
        true => (
            Box::into_raw(Box::new(Versioned {
                major: 1,
                minor: 0,
                context,
                deleter: Some(delete_versioned),
                flags: READ_ONLY,
                tensor,
            }))
            .cast(),
            VERSIONED,
        ),
        false => (
            Box::into_raw(Box::new(Old {
                tensor,
                context,
                deleter: Some(delete_old),
            }))
            .cast(),
            OLD,
        ),
    };
    // SAFETY: the pointer is not null, the name is static, and the destructor frees what this
    // function leaked.
    unsafe {
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyCapsule_New(pointer, name.as_ptr(), Some(free_capsule)),
        )
    }
}

#[pymethods]
impl Array {
    /// A DLPack capsule of the elements. The consumer must not write to them. Those of another
    /// device are copied to the CPU.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if stream.is_some_and(|s| !s.is_none()) {
            return Err(PyBufferError::new_err(
                "the CPU has no streams: stream must be None",
            ));
        }
        if dl_device.is_some_and(|d| d != (1, 0)) {
            return Err(PyBufferError::new_err(
                "arrays are on the CPU, device (1, 0)",
            ));
        }
        let t = slf.get().tensor(py, "DLPack")?;
        let t = match copy {
            Some(true) if slf.get().placement().is_cpu() => {
                let a = slf.get().elements(py, "DLPack")?;
                a.to_tensor().or_raise(py)?
            }
            _ => t,
        };
        export(py, t, max_version.is_some_and(|v| v.0 >= 1))
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }
}

/// The array of a DLPack object: through NumPy, which checks versions and flags. An array of NumPy
/// is read as it is: before 2.1 NumPy exports no array that is read-only. `copy`: `Some(false)` and
/// `None` share its memory.
pub(crate) fn array(x: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Array> {
    let py = x.py();
    let device: Bound<'_, PyTuple> = x
        .call_method0("__dlpack_device__")?
        .cast_into::<PyTuple>()
        .map_err(|_| PyTypeError::new_err("__dlpack_device__ returns a pair"))?;
    let kind: i32 = device.get_item(0)?.extract()?;
    // 1: CPU; 3: memory of the CPU that a CUDA device reads, too.
    if kind != 1 && kind != 3 {
        return Err(PyBufferError::new_err(format!(
            "a DLPack object on device ({kind}, ..): copy it to the CPU first"
        )));
    }
    let np = py.import("numpy")?;
    let a = match x.is_instance(&np.getattr("ndarray")?)? {
        true => x.clone(),
        false => np.call_method1("from_dlpack", (x,))?,
    };
    let shared = match copy {
        Some(true) => crate::numpy::array(&a)?,
        _ => crate::numpy::shared(&a).or_else(|e| match copy {
            Some(false) => Err(e),
            _ => crate::numpy::array(&a),
        })?,
    };
    shared.ok_or_else(|| PyTypeError::new_err("a DLPack object that is no array"))
}

/// The array of a DLPack object, sharing its memory where it is dense.
#[pyfunction]
#[pyo3(signature = (x, copy=None))]
pub(crate) fn from_dlpack(x: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Array> {
    array(x, copy)
}
