//! CPU kernels on slices and strides: the loops of every operation. They know no graphs or tensors.
//!
//! A kernel reads [`View`]s (a slice with an offset, a shape and strides) and writes a slice.
//! Elementwise operations are [`tile`] programs instead: kernels on contiguous tiles, selected at
//! run time, without strides.
//!
//! Invariants of every kernel:
//!
//! - **Same bits.** The order in which elements are combined depends only on shapes. It does not
//!   depend on strides, alignment, the number of threads or the position of a row in a batch.
//!   [`tree`] defines the order of reductions, [`mod@gemm`] that of products.
//! - **Threads.** [`parallel`](mod@parallel) splits work at positions that depend only on shapes.
//! - **Sizes are checked.** Lengths and bounds are checked once per call, and a wrong one panics.
//! - **Workspaces may be unavailable.** A kernel that needs one returns a [`Fallible`]. Memory is
//!   allocated only by [`mod@memory`].
//!
//! `dst` is always the first argument, and it is row-major unless a function takes its strides.
//!
//! ```
//! use cotangent_kernels::{View, gemm, reduce};
//!
//! let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let transposed = View::new(&x, 0, &[3, 2], &[1, 3]);
//! let mut sums = [0.0; 2];
//! reduce::sum(&mut sums, transposed, &[0], false);
//! assert_eq!(sums, [6.0, 15.0]);
//!
//! let mut product = [0.0; 4];
//! gemm::gemm(&mut product, View::dense(&x, &[2, 3]), transposed).unwrap();
//! assert_eq!(product, [14.0, 32.0, 32.0, 77.0]);
//! ```

pub mod convolution;
pub mod copy;
pub mod cumulative;
pub mod double_double;
pub mod element;
pub mod emit;
pub mod environment;
pub mod fourier;
pub mod gemm;
pub mod halves;
pub mod index;
mod inlined;
pub mod interrupt;
mod lanes;
pub mod linalg;
pub mod loops;
mod mac;
pub mod memory;
pub mod parallel;
pub mod reduce;
pub mod simd;
pub mod sliding;
pub mod sort;
pub mod spaced;
pub mod tile;
pub mod tree;
mod tuning;
pub mod turn;
pub mod vector;
pub mod view;
pub mod window;

pub use element::{Index, Number, Ordered};
pub use gemm::Gemm;
pub use memory::{Fallible, OutOfMemory};
pub use view::View;

#[cfg(test)]
mod testing;
