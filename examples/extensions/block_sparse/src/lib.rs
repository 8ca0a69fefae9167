//! Block-sparse matrices as values: an opaque type whose parameters hold the pattern of blocks, so
//! that a gradient by a matrix has the same blocks; operations on it, and a runtime.
//!
//! ```
//! use block_sparse::{Executor, Matrix, Pattern, SparseOp, Value};
//! use cotangent_core::{Array, tape::Tape};
//! // Blocks of 2 by 2 elements: the first on the diagonal, the second to the right of it.
//! let pattern = Pattern::declare(2, 4, 2, &[(0, 0), (0, 1)])?;
//! let a = Matrix::new(pattern, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
//! let tape = Tape::new(Executor, &Default::default());
//! let a = tape.variable(Value::Sparse(a))?;
//! let x = tape.constant(Value::Dense(Array::vector(vec![1.0, 0.0, 0.0, 2.0])));
//! let y = tape.apply(SparseOp::MATMUL, &[&a, &x])?.remove(0);
//! let loss = tape.apply(SparseOp::dot_of_vectors(), &[&y, &y])?.remove(0);
//! // 2 y xᵀ, in the blocks of `a` alone.
//! let cotangents = tape.backward(&loss)?;
//! let Some(Value::Sparse(g)) = cotangents.get(&a) else { panic!("of the type of the matrix") };
//! assert_eq!(g.elements(), [26.0, 0.0, 38.0, 0.0, 0.0, 52.0, 0.0, 76.0]);
//! # Ok::<(), cotangent_core::Error>(())
//! ```

mod executor;
mod matrix;
mod operations;
mod text;

pub use executor::{Executor, Value};
pub use matrix::{Matrix, Pattern};
pub use operations::SparseOp;
pub use text::{operations, types};
