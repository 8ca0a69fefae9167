//! Eager tensors: operations run immediately, and are recorded if a gradient is tracked.
//!
//! ```
//! use cotangent::ad::{EagerRuntime, EagerTensor, Tensor};
//! let rt = EagerRuntime::new();
//! let x = EagerTensor::requires_grad_in(Tensor::vector(vec![1.0, 2.0, 3.0]), &rt)?;
//! let loss = (&x * &x).sum(..)?;
//! loss.backward()?;
//! assert_eq!(x.grad()?.unwrap().as_slice::<f64>()?, [2.0, 4.0, 6.0]);
//! # Ok::<(), cotangent::ad::Error>(())
//! ```
//!
//! Derivatives use the rules of the core, as for traced programs. Recording runs `linearize`
//! immediately, and `backward` transposes the recorded programs. A tape saves only values that the
//! linear equations refer to. Nodes, edges, the order of a pass, and the functions of a node are
//! those of the core's engine ([`cotangent_core::tape`]); this module compiles the functions and
//! runs them on tensors.
//!
//! Layers, lowest first; a file imports its own layer without circles, and lower ones:
//!
//! 1. `error`, `recording`, `context_id`, `turns`, `cache`, `device`
//! 2. `profile`, `tape` (values, nodes, saved tensors), `kinks::weights`
//! 3. `rule::table`, `runtime`
//! 4. `exec`, `run`, the other files of `rule`, `backward::subgraph`
//! 5. `record`, `kinks`, `apply`
//! 6. `gradient`, `backward`, `tape_program`
//! 7. `backend`, `hook`, `tensor`, `derivatives`, `create`, `methods`, `operator`, `generated`

mod apply;
mod backend;
mod backward;
mod cache;
mod context_id;
mod create;
mod derivatives;
mod device;
mod error;
mod exec;
mod generated;
mod gradient;
mod hook;
mod kinks;
mod methods;
mod operator;
mod profile;
mod record;
mod recording;
mod rule;
mod run;
mod runtime;
mod tape;
mod tape_program;
mod tensor;
mod turns;

pub use backward::BackwardOptions;
pub use cache::{
    EagerRuntimeCacheStats, ExtensionCacheKey, ExtensionCacheLimits, ExtensionCacheStats,
    ExtensionCaches,
};
pub use context_id::ContextId;
pub use derivatives::{Backward, Cotangents, TensorKey};
pub(crate) use device::Device;
pub use error::{Error, Located, Result};
pub use hook::HookHandle;
pub use profile::{OpProfile, PROFILE_EVERY_VARIABLE, PROFILE_VARIABLE, ThreadProfile};
pub use recording::no_grad;
pub use runtime::EagerRuntime;
pub use tensor::{EagerTensor, TensorRead};
