//! Operations as methods, for every tensor that implements [`TensorOps`]: traced,
//! eager and plain ones.
//!
//! Traced and eager tensors have the same methods without an import: those of traced tensors store
//! the error in the result, and those of eager tensors run frequent operations without an emitter.
//! Plain tensors have them by these traits, and run them immediately on a backend of the thread. By
//! [`TensorOpsExt`](crate::TensorOpsExt) they run them on a backend that is passed: a program
//! imports one of the two. Functions over any kind of tensor are written with the traits, too.
//!
//! ```
//! use cotangent::{Tensor, methods::*};
//! let a = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
//! let b = a.matmul(&a.exp()?)?.sum(-1)?;
//! assert_eq!(b.shape(), [2]);
//! fn rms<T: TensorOps>(x: &T) -> Result<T, T::Error> {
//!     x.square()?.mean(..)?.sqrt()
//! }
//! assert_eq!(rms(&Tensor::vector(vec![1.0, 7.0]))?.item::<f64>()?, 5.0);
//! # Ok::<(), cotangent::Error>(())
//! ```

mod broadcast;
mod elementwise;
mod functions;
mod indexing;
mod keepdims;
mod products;
mod reductions;
mod shapes;

pub use crate::TensorOps;
pub use crate::operand::{NumberOperand, Operand};
pub(crate) use broadcast::{aligned, different_dtypes, different_extents};
pub use elementwise::Elementwise;
pub use functions::Functions;
pub use indexing::Indexing;
pub use keepdims::KeepDims;
pub use products::Products;
pub use reductions::Reductions;
pub use shapes::Shapes;
