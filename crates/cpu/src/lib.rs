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
//! [`fuse`] groups elementwise operations and reductions of rows, which become code over tiles
//! ([`elementwise`], [`fused`], [`phases`]); [`lower`](mod@lower) turns every other operation into
//! a kernel for its element types; [`program`] orders them, lets go of every value at its last use
//! and checks sizes that are known only now. What an operation means is its `eval`; this runtime
//! gives the same bits, except where sums and products are folded in another (fixed) order, and
//! where a function is [`cotangent_kernels::vector`]'s (within 2 units in the last place).

mod across;
mod axes;
mod contract;
mod control;
mod convert;
mod element;
mod elementwise;
pub mod executor;
mod fourier;
mod fuse;
mod fused;
mod generate;
pub mod kernel;
mod linalg;
mod loops;
pub mod lower;
pub mod memory;
mod movement;
mod phases;
pub mod pool;
mod products;
pub mod profile;
pub mod program;
mod recurrence;
mod reduce;
mod scalar;
mod sliding;
mod small;
mod sort;
mod spare;
pub mod tensor;
mod tiny;
mod windows;

pub use executor::Executor;
pub use program::{Program, compile, run};
pub use tensor::Tensor;
