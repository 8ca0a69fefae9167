//! The tape: operations that run immediately and are recorded, and reverse passes over the record.
//!
//! ```text
//! record   : x -> y, residuals            one node per operation, with its derivative
//! pullback : residuals, ct -> ct_x        node by node, in the reverse order of recording
//! ```
//! The engine knows no runtime. It derives functions by the rules of the operations, and an
//! [`Executor`] runs them on values of its own. [`Tape`] is an engine for any executor; a runtime
//! that compiles functions uses the parts: nodes and edges ([`Node`]), the order of a pass
//! ([`TapeSubgraph`], [`reverse()`]), and the functions of a node ([`RecordedRule`], [`Pullback`]).
//!
//! Nodes refer to the nodes of their operands, so a tape lives as long as a value that was computed
//! with it. No function recurses over it.

mod derivative;
mod engine;
mod executor;
mod ids;
mod node;
mod pullback;
mod reverse;
mod rule;
mod subgraph;
mod value;

pub use derivative::{
    NodeResidual, OpDerivative, ResidualOrigin, ResidualSource, SavedValue, TrackedOperands,
};
pub use engine::Tape;
pub use executor::{Compiled, Executor};
pub use ids::{next_id, next_ids};
pub use node::{Edge, Mark, Node, NodeData, Shared, UniqueNode};
pub use pullback::{InputCotangent, Pullback, PullbackEntry, Pullbacks};
pub use reverse::{ReversePass, reverse};
pub use rule::RecordedRule;
pub use subgraph::{NodeCotangents, TapeLock, TapeNode, TapeSubgraph};
pub use value::{Cotangents, TapeValue};
