//! The language: values, operations, functions, and the emitters that write them.
//!
//! The files of this folder import each other: an operation writes to an emitter, an emitter takes
//! operations, and an equation holds one. `op` is the only file that imports the list of
//! operations.

pub mod attr;
mod builder;
mod context;
pub mod emit;
mod function;
mod inline;
mod linear;
mod op;
mod opaque;
pub(crate) mod primitive;
mod same;
mod status;
mod symbols;
mod value;
mod walk;

pub(crate) use attr::FromAttr;
pub use attr::{Attr, Attrs};
pub use builder::Builder;
pub(crate) use context::MemoKey;
pub use context::{AdContext, AdContextBuilder, Numerics, Rule, RuleSet, Session};
pub use emit::Emit;
pub(crate) use function::Kinks;
pub use function::{Def, Eqn, Function, MAX_DEPTH, unbound};
pub use linear::{Class, Lin, LinEqn, LinearProgram, Lv, Operand};
pub use op::{Op, OpKey};
pub use opaque::{Cotangent, Opaque};
pub use primitive::{Arg, Batched, Cost, Primitive, Sample};
pub(crate) use primitive::{Jvp, Kink, Linearized, Narrow, OpClass, ShiftRule, no_rule};
pub use status::EmitterStatus;
use symbols::Rename;
pub(crate) use symbols::keep_extents;
pub use value::{Owner, Val, Vals};
pub use walk::WriteEquation;
pub(crate) use walk::{Visit, Walk};
