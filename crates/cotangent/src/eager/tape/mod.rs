//! The tape: a node per recorded operation, with its derivative as a linear program and the
//! residuals of that program.
//!
//! Recording is `linearize`: the rule emits the operation and linear equations. Of the computed
//! values a node saves those that the equations refer to. An operation that occurred before runs as
//! a compiled rule ([`Rules`](super::rule::table::Rules)). Otherwise its rule is applied with an
//! emitter that computes immediately ([`Exec`](super::exec::Exec)). Nodes are those of the core's
//! engine ([`cotangent_core::tape`]).

mod node;
mod saved;

pub(super) use node::{
    Edge, Grad, Gradient, GradientPlace, Hook, HookFn, Hooks, Inputs, Node, NodeBody, NodeKind,
    Sides, Value, Values, given_by, gradient_place, record_node,
};
pub(super) use saved::{NodeDerivative, RestoredTensor, SavedTensors};
