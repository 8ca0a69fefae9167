//! Derivatives over a tape: reverse passes transpose node by node, forward passes replay the linear
//! programs.
//!
//! A reverse pass visits nodes in the reverse order of recording, equations of a node in reverse,
//! and operands in order. Cotangents are added in the order of arrival. This is the order of
//! [`transpose_program`](cotangent_core::transform::transpose_program), so the bits are those of a
//! traced gradient.

mod emitter;
mod options;
mod pull;
mod push;
pub(super) mod subgraph;

pub use options::BackwardOptions;
pub(super) use pull::pull;
pub(super) use push::push;
