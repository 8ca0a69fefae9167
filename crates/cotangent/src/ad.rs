//! Derivatives: the core's transforms of functions, contexts for traced tensors, and eager tensors.

pub use crate::ad_context::{AdContext, AdContextBuilder};
/// The former name of [`EagerRuntimeCacheStats`].
#[doc(hidden)]
pub use crate::eager::EagerRuntimeCacheStats as EagerCacheStats;
pub use crate::eager::{
    Backward, BackwardOptions, ContextId, Cotangents, EagerRuntime, EagerRuntimeCacheStats,
    EagerTensor, Error, ExtensionCacheLimits, ExtensionCacheStats, ExtensionCaches, HookHandle,
    Located, OpProfile, PROFILE_EVERY_VARIABLE, PROFILE_VARIABLE, Result, TensorKey, TensorRead,
    ThreadProfile, no_grad,
};
pub use crate::tensor::Tensor;
pub use crate::traced::TracedTensorAdExt;
pub use cotangent_core::transform::*;
