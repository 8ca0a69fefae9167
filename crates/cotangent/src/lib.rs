//! Differentiable tensor programs: what users import.
//!
//! A program is a [`Function`]: built in Rust through [`Builder`], or read from text. The transforms in [`ad`] give
//! functions again; [`run`] computes them. [`npz`] carries arrays in and out.

pub mod ad;
pub mod closures;
pub mod cpu;
pub mod npy;
pub mod npz;
pub mod runtime;
pub mod tensor;
mod traced;

pub use closures::Tree;
pub use cotangent_core::*;
pub use cpu::CpuBackend;
pub use tensor::{Tensor, TypedTensor};
pub use traced::{
    AdContext, AdContextBuilder, GraphCompiler, GraphExecutor, GraphProgram, TracedTensor, TracedTensorAdExt,
};

/// Runs a function on arrays.
///
/// Symbols of its types are bound by the arguments; an argument of the wrong type is an error that names it.
pub fn run(f: &Function, args: &[Array]) -> Result<Vec<Array>> {
    reference::run(f, args)
}
