//! The CPU runtime: a function becomes a [`Program`], a program runs on arrays.
//!
//! ```
//! use cotangent_core::{Array, Builder, DType, Dim, Emit, Type, transform::Session};
//! let b = Builder::new("f", Session::default());
//! let x = b.param(Type::new(DType::F64, vec![Dim::sym("n")]), Some("x"));
//! let cx: &dyn Emit = &b;
//! let y = cx.mul(x, x);
//! let program = cotangent_cpu::compile(&b.finish(&[y]).unwrap().into()).unwrap();
//! let y = cotangent_cpu::run(&program, &[Array::vector(vec![1.0, 2.0, 3.0])]).unwrap();
//! assert_eq!(y[0].to_f64(), [1.0, 4.0, 9.0]);
//! ```
//!
//! A function becomes a plan: `nests` are its computations, `groups` what runs together, `plan` the
//! steps over memory that is laid out before they run. [`lower`](mod@lower) compiles the operations
//! that are calls of a kernel. A [`program`] whose values are all small runs its plan in place.
//! Sizes that only a run knows are checked when a plan is laid out for them.
//!
//! The reference semantics of an operation is its `eval`, and this runtime gives the same bits with
//! two exceptions. Sums and products may be folded in another fixed order. Functions of
//! [`cotangent_kernels::vector`] are within 2 units in the last place.

mod axes;
mod checks;
mod compilation;
mod compiler;
mod contract;
mod control;
mod convert;
mod element;
mod elementwise;
mod evaluated;
pub mod executor;
mod folds;
mod fourier;
mod generate;
mod groups;
mod interrupt;
pub mod kernel;
mod linalg;
mod loops;
pub mod lower;
mod maps;
pub mod memory;
mod movement;
mod nests;
pub mod passes;
mod plan;
pub mod pool;
pub mod profile;
pub mod program;
mod raw;
mod raw_kernel;
mod reduce;
mod scalar;
mod sliding;
mod sort;
mod spare;
pub mod tensor;
mod tuning;
mod windows;

pub use compilation::plan_text;
#[doc(hidden)]
pub use compilation::{compile, run};
pub use cotangent_kernels::parallel::forget as forget_threads;
pub use executor::Executor;
pub use interrupt::{Hook, with_interrupt};
#[doc(hidden)]
pub use program::Program;
pub use raw::{Raw, RawMut};
pub use tensor::Tensor;
