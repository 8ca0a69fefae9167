//! Eager tensors: operations run when they are called, and are recorded where a gradient is
//! tracked.
//!
//! ```
//! use cotangent::ad::{EagerRuntime, EagerTensor, Tensor};
//! let rt = EagerRuntime::new();
//! let x = EagerTensor::requires_grad_in(Tensor::vector(vec![1.0, 2.0, 3.0]), &rt)?;
//! let loss = (&x * &x).sum()?;
//! loss.backward()?;
//! assert_eq!(x.grad()?.unwrap().as_slice::<f64>()?, [2.0, 4.0, 6.0]);
//! # Ok::<(), cotangent::ad::Error>(())
//! ```
//!
//! The derivative of every operation is the core's rule, the same that traced programs are derived
//! with: recording is `linearize` run at once, `backward` is `transpose` over what was recorded.
//! What a tape saves is what the linear equations refer to, no more.

mod apply;
mod backward;
mod cache;
mod create;
mod error;
mod exec;
mod gradient;
mod hook;
mod ids;
mod kinks;
mod methods;
mod record;
mod rule;
mod run;
mod runtime;
mod tape;
mod tape_program;
mod tensor;
mod transpose;
mod turns;

pub use backward::BackwardOptions;
pub use cache::{
    EagerCacheStats, ExtensionCacheKey, ExtensionCacheLimits, ExtensionCacheStats, ExtensionCaches,
};
pub use error::{Error, Result};
pub use hook::HookHandle;
pub use ids::no_grad;
pub use runtime::{EagerRuntime, OpProfile, PROFILE_VARIABLE};
pub use tensor::{Cotangents, EagerTensor};
