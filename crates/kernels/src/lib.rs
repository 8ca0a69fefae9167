//! CPU kernels on slices and strides: the loops behind every operation, with no idea of graphs or tensors.
//!
//! A kernel reads [`View`]s (a slice with an offset, a shape and strides), writes a slice, and is generic over the
//! element and the scalar function, so that each use compiles to a loop of its own. Nothing is decided per element.
//!
//! Invariants, for every kernel here:
//!
//! - **Same bits.** The order in which elements are combined depends on shapes alone: never on strides, alignment,
//!   the number of threads or where in a batch a row lies. [`tree`] states the order of reductions, [`mod@gemm`] that of
//!   products.
//! - **One thread.** Callers split work; kernels do not.
//! - **Sizes are the caller's business.** Lengths and bounds are checked once per call, and a wrong one panics.
//!
//! `dst` always comes first, and is row-major unless a function takes its strides.

pub mod copy;
pub mod cumulative;
pub mod element;
pub mod gemm;
pub mod index;
pub mod loops;
pub mod map;
pub mod reduce;
pub mod sort;
pub mod tree;
pub mod twice;
pub mod view;

pub use element::{Index, Number, Ordered};
pub use gemm::Gemm;
pub use view::View;

#[cfg(test)]
mod testing;
