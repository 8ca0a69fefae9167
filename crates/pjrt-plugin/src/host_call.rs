//! Calls of the host: the kernel of the operation that stands for a call of a Python function.
//!
//! The package gives the address of one function, which takes the index of a Python function and
//! the addresses of arrays. That function takes Python's lock, and nothing here does.

use crate::value;
use cotangent::cpu::{Kernel, Results, View};
use cotangent::stablehlo::{HOST_CALL, HostCall};
use cotangent::{Array, Code, CpuBackend, DType, Error, Type};
use std::ffi::c_void;

/// An array in a call of the host.
#[repr(C)]
struct HostArray {
    data: *mut c_void,
    dims: *const i64,
    rank: i32,
    element_type: i32,
}

/// The function of the host: the index, arguments, results, and memory for a message. Returns 0, or
/// another number for an error with a message.
type Function = unsafe extern "C" fn(
    index: i64,
    count: i64,
    arguments: *const HostArray,
    results_count: i64,
    results: *const HostArray,
    message: *mut u8,
    message_size: i64,
) -> i32;

/// Largest length of a message of the host.
const MAX_MESSAGE: usize = 1 << 14;

/// The function of the host, if there is one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Host(Option<Function>);

impl Host {
    /// The function at an address; none at 0.
    pub(crate) fn at(address: i64) -> Host {
        if address == 0 {
            return Host(None);
        }
        // SAFETY: the option `callback` is the address of a function of this type, which lives as
        // long as the process.
        Host(Some(unsafe {
            std::mem::transmute::<*const c_void, Function>(address as *const c_void)
        }))
    }

    /// The backend with the kernel of calls.
    pub(crate) fn register(self, mut backend: CpuBackend) -> CpuBackend {
        backend.register_kernel(HOST_CALL, move |op, operands| {
            let call = HostCall::of(op)?;
            let results = op.infer(operands)?;
            Ok(self.kernel(call, results))
        });
        backend
    }

    fn kernel(self, call: HostCall, results: Vec<Type>) -> Kernel {
        Box::new(move |_, operands| {
            let Some(function) = self.0 else {
                let text = "the program calls Python, and the client has no function for it";
                return Err(Error::new(Code::UnknownOperation, text));
            };
            let arrays = operands.into_iter().skip(call.tokens).map(View::into_array);
            let arrays = arrays.collect::<cotangent::Result<Vec<Array>>>()?;
            let token = Array::from_vec::<bool>(vec![0], Vec::new())?;
            let mut out: Results = [View::from(token)].into_iter().collect();
            let computed = self::call(function, call.index, &arrays, &results[1..])?;
            out.extend(computed.into_iter().map(View::from));
            Ok(out)
        })
    }
}

/// Extents of an array for the host.
fn dims(array: &Array) -> Vec<i64> {
    array.shape().iter().map(|&n| n as i64).collect()
}

/// Memory for a result of the host.
struct Written {
    dtype: DType,
    dims: Vec<i64>,
    /// Words are aligned for every element type.
    memory: Vec<u128>,
}

impl Written {
    fn new(t: &Type) -> cotangent::Result<Written> {
        let Some(shape) = t.shape.as_const() else {
            return Err(Error::new(
                Code::ShapeMismatch,
                format!("a call returns {t}"),
            ));
        };
        let bytes = cotangent::array::room(&shape, t.dtype.size())? * t.dtype.size();
        Ok(Written {
            dtype: t.dtype,
            dims: shape.iter().map(|&n| n as i64).collect(),
            memory: vec![0; bytes.div_ceil(size_of::<u128>())],
        })
    }

    fn for_host(&mut self) -> HostArray {
        HostArray {
            data: self.memory.as_mut_ptr().cast(),
            dims: self.dims.as_ptr(),
            rank: self.dims.len() as i32,
            element_type: value::number(self.dtype),
        }
    }

    /// The array that the host wrote.
    fn array(&self) -> cotangent::Result<Array> {
        let memory = self.memory.as_ptr().into();
        let host = value::HostArray::new(memory, self.dtype, &self.dims, None);
        // SAFETY: the memory has room for the elements, and any bytes are values of the type.
        let array = host.and_then(|host| unsafe { host.copied() });
        array.map_err(|e| Error::new(Code::Foreign, e.message))
    }
}

fn call(
    function: Function,
    index: i64,
    arguments: &[Array],
    results: &[Type],
) -> cotangent::Result<Vec<Array>> {
    let shapes: Vec<Vec<i64>> = arguments.iter().map(dims).collect();
    let given = arguments
        .iter()
        .zip(&shapes)
        .map(|(array, dims)| HostArray {
            data: value::memory(array).as_ptr().cast_mut().cast(),
            dims: dims.as_ptr(),
            rank: dims.len() as i32,
            element_type: value::number(array.dtype()),
        });
    let given: Vec<HostArray> = given.collect();
    let mut written = results
        .iter()
        .map(Written::new)
        .collect::<cotangent::Result<Vec<_>>>()?;
    let wanted: Vec<HostArray> = written.iter_mut().map(Written::for_host).collect();
    let mut message = vec![0u8; MAX_MESSAGE];
    // SAFETY: the function takes lists of these lengths. It reads arguments and writes results,
    // within their types.
    let code = unsafe {
        function(
            index,
            given.len() as i64,
            given.as_ptr(),
            wanted.len() as i64,
            wanted.as_ptr(),
            message.as_mut_ptr(),
            MAX_MESSAGE as i64,
        )
    };
    if code != 0 {
        let end = message.iter().position(|&b| b == 0).unwrap_or(MAX_MESSAGE);
        let text = String::from_utf8_lossy(&message[..end]).into_owned();
        return Err(Error::new(Code::Foreign, text));
    }
    written.iter().map(Written::array).collect()
}
