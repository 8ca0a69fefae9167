//! The tape: a node per recorded operation, holding its derivative as a linear program and what
//! that program refers to.
//!
//! Recording is `linearize`: the rule writes the operation and linear equations, and of all values
//! it made, a node keeps those that the equations refer to. What was seen before is ready to run
//! ([`Rule`](super::rule::Rule)); else the rule is applied with an emitter that computes at once
//! ([`Exec`](super::exec::Exec)). Nodes refer to the nodes of their operands, so a tape lives as
//! long as a tensor that was computed with it. Nothing recurses over it.

mod node;
mod saved;

pub(super) use node::{
    Edge, Grad, Gradient, Hook, HookFn, Hooks, Inputs, Node, NodeKind, Shared, Sides, Value,
    Values, given_by, number,
};
pub(super) use saved::{
    NodeDerivative, Residual, ResidualOrigin, ResidualSource, SavedTensors, SavedValue,
};
