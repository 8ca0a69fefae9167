//! Derivatives: the core's transforms of functions, contexts for traced tensors, and eager tensors.

pub use crate::ad_context::{AdContext, AdContextBuilder};
pub use crate::eager::{
    BackwardOptions, Cotangents, EagerCacheStats, EagerRuntime, EagerTensor, Error,
    ExtensionCacheLimits, ExtensionCacheStats, ExtensionCaches, HookHandle, OpProfile,
    PROFILE_VARIABLE, Result, TensorKey, no_grad,
};
pub use crate::tensor::Tensor;
pub use crate::traced::TracedTensorAdExt;
pub use cotangent_core::transform::*;
