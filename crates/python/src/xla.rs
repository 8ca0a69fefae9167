//! Programs as custom calls of XLA: one typed handler of its foreign function interface, in which
//! an attribute is the number of a program in a table.
//!
//! The layout of the structs is that of `xla/ffi/api/c_api.h`; the handler reads fields only of
//! structs that are as large as this file knows them.

use crate::buffer::Lent;
use crate::error::OrRaise;
use crate::program::PyProgram;
use cotangent::{DType, Executable};
use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::hash_map::RandomState;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    size: usize,
    extensions: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct ErrorArgs {
    size: usize,
    extensions: *mut Extension,
    message: *const c_char,
    code: c_int,
}

/// The beginning of the table of XLA's functions.
#[repr(C)]
struct Api {
    size: usize,
    extensions: *mut Extension,
    version: Version,
    internal: *const c_void,
    create_error: unsafe extern "C" fn(*mut ErrorArgs) -> *mut c_void,
}

#[repr(C)]
struct List {
    size: usize,
    extensions: *mut Extension,
    count: i64,
    types: *mut c_int,
    items: *mut *mut c_void,
}

#[repr(C)]
struct Span {
    ptr: *const u8,
    len: usize,
}

#[repr(C)]
struct Attributes {
    size: usize,
    extensions: *mut Extension,
    count: i64,
    types: *mut c_int,
    names: *mut *mut Span,
    items: *mut *mut c_void,
}

#[repr(C)]
struct ScalarAttribute {
    dtype: c_int,
    value: *mut c_void,
}

#[repr(C)]
struct Buffer {
    size: usize,
    extensions: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *mut i64,
}

#[repr(C)]
struct CallFrame {
    size: usize,
    extensions: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    args: List,
    rets: List,
    attrs: Attributes,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

const METADATA: c_int = 1;
const EXECUTE: c_int = 3;
const BUFFER: c_int = 1;
const SCALAR: c_int = 3;
const S64: c_int = 5;
const INVALID_ARGUMENT: c_int = 3;
/// The version that this file was written for.
const MAJOR: c_int = 0;
const MINOR: c_int = 3;

/// The last number that was given, and the programs by number.
struct Table {
    last: i64,
    all: FxHashMap<i64, Arc<Executable>>,
}

impl Table {
    /// An empty table. Numbers of two processes differ: a module that XLA compiled in another one
    /// and kept in a file finds no program here, instead of a wrong one.
    fn new() -> Table {
        let random = RandomState::new().hash_one(std::process::id());
        Table {
            last: (random >> 2) as i64,
            all: FxHashMap::default(),
        }
    }
}

static PROGRAMS: Mutex<Option<Table>> = Mutex::new(None);

/// A program of the table, which the last reference to this object removes.
#[pyclass(module = "cotangent", frozen)]
pub(crate) struct Listed {
    /// The attribute of its calls.
    #[pyo3(get)]
    number: i64,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut table = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let old = table.as_mut().and_then(|t| t.all.remove(&self.number));
        drop(table);
        drop(old);
    }
}

/// Lists a program.
#[pyfunction]
pub(crate) fn xla_register(py: Python<'_>, program: &Bound<'_, PyProgram>) -> PyResult<Listed> {
    let function = program.get().function().clone();
    let executable = py.detach(|| cotangent::compile(&function)).or_raise(py)?;
    let mut table = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let table = table.get_or_insert_with(Table::new);
    table.last += 1;
    table.all.insert(table.last, Arc::new(executable));
    Ok(Listed { number: table.last })
}

/// Number of programs in the table.
#[pyfunction]
pub(crate) fn xla_programs() -> usize {
    let table = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    table.as_ref().map_or(0, |t| t.all.len())
}

/// The handler as a capsule.
#[pyfunction]
pub(crate) fn xla_handler(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    const NAME: &CStr = c"xla._CUSTOM_CALL_TARGET";
    let pointer = handler as unsafe extern "C" fn(*mut CallFrame) -> *mut c_void as *mut c_void;
    // SAFETY: the pointer is that of a function, the name is static, and there is no destructor.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, NAME.as_ptr(), None)) }
}

fn dtype(code: c_int) -> Option<DType> {
    Some(match code {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        15 => DType::C64,
        16 => DType::BF16,
        18 => DType::C128,
        _ => return None,
    })
}

/// Runs a program on XLA's buffers, or describes the handler.
unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut c_void {
    // SAFETY: XLA passes a frame that is valid for the call.
    let done = std::panic::catch_unwind(|| unsafe { answer(frame) });
    let message = match done {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(message)) => message,
        Err(_) => "a defect of cotangent, please report it".to_owned(),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut args = ErrorArgs {
        size: size_of::<ErrorArgs>(),
        extensions: std::ptr::null_mut(),
        message: message.as_ptr(),
        code: INVALID_ARGUMENT,
    };
    // SAFETY: XLA passes a valid frame, and every version of its table has this function.
    unsafe { ((*(*frame).api).create_error)(&mut args) }
}

/// # Safety
/// The frame is valid, as its struct sizes say.
unsafe fn answer(frame: *mut CallFrame) -> Result<(), String> {
    // SAFETY: the first fields of every version of the frame.
    let (size, extensions) = unsafe { ((*frame).size, (*frame).extensions) };
    if size < size_of::<CallFrame>() {
        return Err(format!(
            "XLA's call frame has {size} bytes: another version of its interface"
        ));
    }
    // SAFETY: an extension that is not null is valid; one of this kind has this layout.
    unsafe {
        if !extensions.is_null() && (*extensions).kind == METADATA {
            let metadata = (*extensions.cast::<MetadataExtension>()).metadata;
            (*metadata).version.major = MAJOR;
            (*metadata).version.minor = MINOR;
            (*metadata).traits = 0;
            return Ok(());
        }
    }
    // SAFETY: the frame is as large as this layout.
    let frame = unsafe { &*frame };
    if frame.stage != EXECUTE {
        return Ok(());
    }
    // SAFETY: lists of the frame are valid, as their counts say.
    unsafe {
        let version = &(*frame.api).version;
        if version.major != MAJOR {
            return Err(format!(
                "XLA has version {}.{} of its interface, cotangent {MAJOR}.{MINOR}",
                version.major, version.minor
            ));
        }
        let program = program(&frame.attrs)?;
        let mut lent = Vec::new();
        let mut args = Vec::new();
        for k in 0..frame.args.count as usize {
            let (dtype, shape, data) = buffer(&frame.args, k)?;
            let n: usize = shape.iter().product();
            let memory = Lent::new(dtype, data, n, None);
            args.push(
                memory
                    .tensor(&shape)
                    .map_err(|e| e.to_string())?
                    .into_view(),
            );
            lent.push(memory);
        }
        let y = program.run_tensors(args).map_err(|e| e.to_string())?;
        if y.len() != frame.rets.count as usize {
            return Err(format!(
                "{} results for {} buffers",
                y.len(),
                frame.rets.count
            ));
        }
        for (k, y) in y.into_iter().enumerate() {
            let (dtype, shape, data) = buffer(&frame.rets, k)?;
            let y = y.into_dense().map_err(|e| e.to_string())?;
            if y.dtype() != dtype || y.shape() != shape {
                return Err(format!("result {k} is {}, not {dtype}{shape:?}", y.ty()));
            }
            let bytes = y.numel() * dtype.size();
            std::ptr::copy_nonoverlapping(
                crate::buffer::address(&y).cast::<u8>(),
                data.cast::<u8>(),
                bytes,
            );
        }
        Ok(())
    }
}

/// The program whose number is an attribute.
///
/// # Safety
/// The attributes are valid, as their count says.
unsafe fn program(attrs: &Attributes) -> Result<Arc<Executable>, String> {
    for k in 0..attrs.count as usize {
        // SAFETY: the caller guarantees the lists, and the type of an item tells its layout.
        unsafe {
            let name = &**attrs.names.add(k);
            if std::slice::from_raw_parts(name.ptr, name.len) != b"program" {
                continue;
            }
            let scalar = *attrs.items.add(k) as *const ScalarAttribute;
            if *attrs.types.add(k) != SCALAR || (*scalar).dtype != S64 {
                return Err("the attribute program is no 64-bit integer".to_owned());
            }
            let number = *((*scalar).value as *const i64);
            let table = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
            let found = table.as_ref().and_then(|t| t.all.get(&number).cloned());
            return found.ok_or_else(|| format!("there is no program {number}: it was released"));
        }
    }
    Err("the attribute program is missing".to_owned())
}

/// Element type, shape and address of a buffer.
///
/// # Safety
/// The list is valid, and has this index.
unsafe fn buffer(list: &List, k: usize) -> Result<(DType, Vec<usize>, *mut c_void), String> {
    // SAFETY: the caller guarantees it, and the type of an item tells its layout.
    unsafe {
        if *list.types.add(k) != BUFFER {
            return Err(format!("operand {k} is no buffer"));
        }
        let b = &*(*list.items.add(k)).cast::<Buffer>();
        let dims = match b.rank {
            0 => &[],
            n => std::slice::from_raw_parts(b.dims, n as usize),
        };
        let dtype = dtype(b.dtype).ok_or_else(|| format!("element type {} of XLA", b.dtype))?;
        Ok((dtype, dims.iter().map(|&n| n as usize).collect(), b.data))
    }
}
