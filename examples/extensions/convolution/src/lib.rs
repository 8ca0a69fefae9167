//! Extension operations: a circular convolution with all optional parts of an operation, and a
//! quantizer without a derivative.

mod convolve;
mod quantize;

pub use convolve::{Convolve, convolve};
pub use quantize::Quantize;

use cotangent::cpu::CpuBackend;
use cotangent::extend::Entry;
use cotangent::{DType, Result};

/// The entries of these operations for the text form, an argument of `Program::parse_with`.
pub fn entries() -> Vec<Entry> {
    vec![convolve::entry(), quantize::entry()]
}

/// Registers the kernels of these operations with a backend. An argument of `register_extension`.
pub fn register(backend: &mut CpuBackend) -> Result<()> {
    backend.register_kernel("convolve", |op, x| match x[0].dtype {
        DType::F32 => Ok(convolve::kernel::<f32>(op)),
        _ => Ok(convolve::kernel::<f64>(op)),
    });
    Ok(())
}
