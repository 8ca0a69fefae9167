//! Operations from outside: a circular convolution with everything an operation can have, and a
//! quantiser without a derivative.

mod convolve;
mod quantize;

pub use convolve::{Convolve, convolve};
pub use quantize::Quantize;

use cotangent::cpu::CpuBackend;
use cotangent::ops::Entry;
use cotangent::{DType, Result};

/// How the text form reads these operations: give them to `Program::parse_with`.
pub fn entries() -> Vec<Entry> {
    vec![convolve::entry(), quantize::entry()]
}

/// Adds the kernels of these operations to a backend: give it to `register_extension`.
pub fn register(backend: &mut CpuBackend) -> Result<()> {
    backend.register_kernel("convolve", |op, x| match x[0].dtype {
        DType::F32 => Ok(convolve::kernel::<f32>(op)),
        _ => Ok(convolve::kernel::<f64>(op)),
    });
    Ok(())
}
