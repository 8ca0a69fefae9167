//! Derivatives: the core's transforms of functions, and contexts for traced tensors.

pub use crate::tensor::Tensor;
pub use crate::traced::{AdContext, AdContextBuilder, TracedTensorAdExt};
pub use cotangent_core::transform::*;
