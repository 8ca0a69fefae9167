//! Automatic differentiation of tensor programs, and a runtime on CPUs.
//!
//! Transforms take ordinary closures:
//!
//! ```
//! use cotangent::closures::{jit, value_and_grad};
//! use cotangent::{DType, TracedTensor};
//!
//! let x = TracedTensor::linspace(DType::F64, 0.0, 1.0, 20);
//! let y = &x * 3.0;
//! let f = jit(value_and_grad(|w: TracedTensor| (&x * w - &y).square().mean(..)));
//! let mut w = TracedTensor::from(0.0);
//! for _ in 0..100 {
//!     let (_loss, g) = f(w.clone())?;
//!     w = w - g;
//! }
//! assert!((w.item::<f64>()? - 3.0).abs() < 1e-9);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! Eager tensors run each operation when it is called:
//!
//! ```
//! use cotangent::EagerRuntime;
//!
//! let rt = EagerRuntime::new();
//! let x = rt.variable_from([1.0, 2.0])?;
//! (&x * &x).sum(..)?.backward()?;
//! assert_eq!(x.grad_or_zero()?.to_vec::<f64>()?, [2.0, 4.0]);
//! # Ok::<(), cotangent::ad::Error>(())
//! ```
//!
//! | you have, or want | interface | tensor | error |
//! |---|---|---|---|
//! | closures: derivatives, batches, compilation | [`closures`], [`optim`] | [`TracedTensor`] | [`Error`] |
//! | one operation after another, `backward` | [`EagerRuntime`] | [`EagerTensor`] | [`ad::Error`] |
//! | numbers, files | [`methods`], [`files`] | [`Tensor`] | [`Error`] |
//! | text: `.tgraph`, StableHLO | [`Program`] | [`Array`]; traced in `Program::call` | [`Error`] |
//! | placeholders, an explicit compiler | [`GraphCompiler`], [`GraphExecutor`] | [`TracedTensor`] | [`Error`] |
//! | transforms of functions, operation by operation | [`ad`], [`Builder`], [`Emit`] | [`Val`], [`Array`] | [`Error`] |
//! | an operation of one's own | [`extend`] | [`Val`], [`Array`] | [`Error`] |
//!
//! `?` converts each of the two errors into the other.

pub mod ad;
mod ad_context;
mod axes;
mod backend;
pub mod closures;
pub mod cpu;
mod eager;
pub mod einsum;
pub mod extend;
pub mod fft;
pub mod files;
pub mod gpu;
mod here;
mod inspect;
#[cfg(any(feature = "ndarray", feature = "serde"))]
mod interop;
pub mod linalg;
mod lru;
mod memory;
pub mod methods;
pub mod npy;
mod npy_header;
pub mod npz;
mod operand;
mod operators;
pub mod optim;
pub mod pjrt;
mod plain;
pub mod program;
pub mod random;
mod report;
pub mod runtime;
pub mod safetensors;
pub mod tensor;
mod tensor_ops;
mod traced;
pub mod windows;

// `#[derive(Tree)]` names items by `::cotangent`.
extern crate self as cotangent;

pub use ad_context::{AdContext, AdContextBuilder};
pub use axes::{Axes, Axis};
pub use closures::Tree;
pub use cotangent_core::{
    Array, Buffer, Builder, C32, C64, C128, Code, Complex32, Complex64, DType, Dim, Element,
    Elements, Emit, Error, Function, Loc, Op, Result, Scalar, Shape, SourceLine, Type, Val, bf16,
    check, dtype, error, f16, ops, reference, rewrite, text, verify,
};
// Names for authors of operations, at their former paths: `extend` has them.
#[doc(hidden)]
pub use cotangent_core::{
    Arg, Attr, Attrs, Batched, Cost, Data, Env, MAX_DEPTH, Owner, Primitive, Sample, Sym, Vals,
    Wide, array, attr, bail, emit, for_dtype, graph, math, primitive, shape,
};
pub use cotangent_stablehlo as stablehlo;
pub use cpu::CpuBackend;
pub use eager::{EagerRuntime, EagerTensor};
pub use memory::{MemoryStats, memory_stats, release_memory};
pub use plain::TensorOpsExt;
pub use program::Program;
pub use tensor::{Tensor, Typed, TypedTensor};
pub use tensor_ops::TensorOps;
/// The former name of [`TensorOps`].
#[doc(hidden)]
pub use tensor_ops::TensorOps as Write;
pub use traced::{GraphCompiler, GraphExecutor, GraphProgram, TracedTensor, TracedTensorAdExt};

pub use cotangent_cpu::Program as Executable;
use std::sync::Arc;

/// Transforms of functions: derivatives, and batches.
pub mod transform {
    pub use crate::ad_context::{AdContext, AdContextBuilder};
    pub use cotangent_core::transform::*;
}

/// Compiles a function once for all sizes that its types admit.
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

/// Compiles a function and runs it on arrays.
///
/// Symbols of its types are bound by the arguments. An argument of the wrong type is an error that
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

/// Runs the programs of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Runs the programs of the chapter on optional features as tests, if the features are on.
#[cfg(all(doctest, feature = "ndarray", feature = "serde"))]
#[doc = include_str!("../../../book/src/interop.md")]
struct Interop;

/// Runs the programs of the book as tests, a name for each chapter.
#[cfg(doctest)]
mod book {
    macro_rules! chapters {
        ($($name:ident $file:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../../../book/src/", $file))]
            struct $name;)*
        };
    }
    chapters! {
        Accuracy "accuracy.md",
        Closures "closures.md",
        CommandLine "command-line.md",
        Complex "complex.md",
        Conventions "conventions.md",
        DerivedPrograms "derived-programs.md",
        Devices "devices.md",
        Eager "eager.md",
        Einsum "einsum.md",
        Equations "equations.md",
        Extending "extending.md",
        FirstSteps "first-steps.md",
        FromJax "from-jax.md",
        FromPyTorch "from-pytorch.md",
        FromTenferro "from-tenferro.md",
        FromTessera "from-tessera.md",
        LinearAlgebra "linear-algebra.md",
        Loops "loops.md",
        Numerics "numerics.md",
        Performance "performance.md",
        Random "random.md",
        Reproducibility "reproducibility.md",
        Scaling "scaling.md",
        StableHlo "stablehlo.md",
        Tensors "tensors.md",
        Testing "testing.md",
        Text "text.md",
        TextDirectives "text-directives.md",
        TextRegions "text-regions.md",
        Traced "traced.md",
        Training "training.md",
    }
}
