//! Differentiable tensor programs: what users import.
//!
//! A program is a [`Function`]: built in Rust through [`Builder`], or read from text. The
//! transforms in [`ad`] give functions again; [`run`] computes them. [`npz`] carries arrays in and
//! out.

pub mod ad;
pub mod closures;
pub mod cpu;
mod eager;
pub mod einsum;
pub mod fft;
pub mod files;
mod here;
pub mod linalg;
mod lru;
mod memory;
mod methods;
pub mod npy;
mod npy_header;
pub mod npz;
pub mod program;
pub mod random;
pub mod runtime;
pub mod safetensors;
pub mod tensor;
mod traced;
pub mod windows;
mod write;

pub use closures::Tree;
pub use cotangent_core::*;
pub use cotangent_derive::Tree;
pub use cotangent_stablehlo as stablehlo;
pub use cpu::CpuBackend;
pub use eager::{EagerRuntime, EagerTensor};
pub use memory::{MemoryStats, memory_stats, release_memory};
pub use program::Program;
pub use tensor::{Tensor, TypedTensor};
pub use traced::{
    AdContext, AdContextBuilder, GraphCompiler, GraphExecutor, GraphProgram, TracedTensor,
    TracedTensorAdExt,
};
pub use write::Write;

pub use cotangent_cpu::Program as Executable;
use std::sync::Arc;

/// Compiles a function: once, for every size that its types admit.
///
/// ```
/// use cotangent::{Array, Builder, DType, Emit, Type};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let y = (&b as &dyn Emit).square(x);
/// let f = cotangent::compile(&b.finish(&[y])?.into())?;
/// assert_eq!(f.run(&[Array::scalar(3.0)])?[0], Array::scalar(9.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn compile(f: &Arc<Function>) -> Result<Executable> {
    cotangent_cpu::compile(f)
}

/// Runs a function on arrays, once.
///
/// Symbols of its types are bound by the arguments; an argument of the wrong type is an error that
/// names it.
///
/// ```
/// use cotangent::{Array, Builder, DType, Emit, Type};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let y = (&b as &dyn Emit).sqrt(x);
/// assert_eq!(cotangent::run(&b.finish(&[y])?.into(), &[Array::scalar(9.0)])?[0], Array::scalar(3.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn run(f: &Arc<Function>, args: &[Array]) -> Result<Vec<Array>> {
    compile(f)?.run(args)
}

/// The README's programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The guides' programs are tests, a name for each.
#[cfg(doctest)]
mod guides {
    macro_rules! guides {
        ($($name:ident $file:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../../../docs/", $file))]
            struct $name;)*
        };
    }
    guides! {
        Eager "eager.md",
        Traced "traced.md",
        Closures "closures.md",
        Complex "complex.md",
        Numerics "numerics.md",
        LinearAlgebra "linear-algebra.md",
        Extensions "extensions.md",
        FromPyTorch "from-pytorch.md",
        FromJax "from-jax.md",
    }
}
