//! Derivatives over a tape: cotangents pulled back by transposing node after node, tangents pushed
//! forward by replaying.
//!
//! Nodes are visited in the reverse of the order they were recorded in, equations of a node
//! backwards, operands in order, and cotangents are folded as they come: the order of
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
