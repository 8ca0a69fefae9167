//! Derivatives over a tape: reverse passes transpose node by node, forward passes replay the linear
//! programs.
//!
//! A reverse pass visits nodes in the reverse order of recording. The equations of a node are
//! transposed by the core ([`LinearMap`](cotangent_core::transform::LinearMap)), and
//! cotangents are added in the order of arrival. So the bits are those of a traced gradient.

mod emitter;
mod options;
mod pull;
mod push;
pub(super) mod subgraph;

pub use options::BackwardOptions;
pub(super) use pull::{CotangentSink, pull};
pub(super) use push::push;
