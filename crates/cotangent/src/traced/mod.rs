//! Traced tensors: programs that are recorded lazily, differentiated, compiled and run.
//!
//! A [`TracedTensor`] is a value of a program that has not run yet. An operation on it adds a value
//! to the program. Its error, if any, is stored in the tensor and returned by
//! [`GraphCompiler::compile`], with the source line of the operation.
//!
//! ```
//! use cotangent::runtime::{GraphCompiler, GraphExecutor, TracedTensor};
//! use cotangent::{ad::TracedTensorAdExt, cpu::CpuBackend};
//!
//! let x = TracedTensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0]);
//! let loss = (&x * &x).reduce_sum(&[0]);
//! let g = loss.grad(&x)?;
//! let program = GraphCompiler::new().compile(&g)?;
//! let y = GraphExecutor::new(CpuBackend::new()).run(&program)?;
//! assert_eq!(y.as_slice::<f64>().unwrap(), &[2.0, 4.0, 6.0]);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! Arrays of several axes are row- or column-major. A result is column-major if every array of more
//! than one axis that it was computed from is, and row-major otherwise. A gradient has the memory
//! order of the tensor that it was taken by, a tangent that of the differentiated tensor.

mod ancestors;
mod cache;
mod compiler;
mod derive;
mod evaluate;
mod executor;
mod generated;
mod methods;
mod node;
mod operator;
mod orders;
mod record;
mod tensor;
mod trace;

pub(crate) use cache::Cache;
pub use cache::CacheStats;
pub use compiler::{GraphCompiler, GraphProgram};
pub use derive::TracedTensorAdExt;
pub(crate) use evaluate::{ancestors_of, computed_from, evaluate_all, evaluate_arguments};
pub use executor::GraphExecutor;
pub use node::TracedTensor;
pub(crate) use node::{TraceNode, TraceNodeKind, fresh_id};
pub(crate) use orders::Orders;
pub(crate) use record::record_in;
pub(crate) use trace::Trace;
