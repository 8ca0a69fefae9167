//! CPU kernels on slices and strides: the loops behind every operation, with no idea of graphs or
//! tensors.
//!
//! A kernel reads [`View`]s (a slice with an offset, a shape and strides) and writes a slice.
//! Elementwise operations are [`tile`] programs instead: kernels on contiguous tiles, chosen while
//! running, that see no strides.
//!
//! Invariants, for every kernel here:
//!
//! - **Same bits.** The order in which elements are combined depends on shapes alone: never on
//!   strides, alignment, the number of threads or where in a batch a row lies. [`tree`] states the
//!   order of reductions, [`mod@gemm`] that of products.
//! - **Threads.** Work is split by [`parallel`](mod@parallel), at places that depend on shapes
//!   alone.
//! - **Sizes are the caller's business.** Lengths and bounds are checked once per call, and a wrong
//!   one panics.
//! - **Workspaces may not be there.** What needs one returns a [`Fallible`]; memory comes from
//!   [`mod@memory`] alone.
//!
//! `dst` always comes first, and is row-major unless a function takes its strides.
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
pub mod element;
pub mod emit;
pub mod environment;
pub mod fourier;
pub mod gemm;
pub mod halves;
pub mod index;
mod inlined;
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
pub mod tile;
pub mod tree;
mod turn;
pub mod twice;
pub mod vector;
pub mod view;
pub mod window;

pub use element::{Index, Number, Ordered};
pub use gemm::Gemm;
pub use memory::{Fallible, OutOfMemory};
pub use view::View;

#[cfg(test)]
mod testing;
