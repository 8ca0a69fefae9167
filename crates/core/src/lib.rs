//! The language of Cotangent: typed graphs, operations, and their derivatives.
//!
//! Start with [`primitive`], the interface of operations. [`graph`] represents programs,
//! [`transform`] differentiates them, [`reference`](mod@reference) defines their results, and
//! [`text`] parses and prints them.

mod analysis;
pub mod array;
mod buffer;
pub mod check;
mod directive;
pub mod dtype;
pub mod error;
mod ir;
mod loc;
pub mod math;
mod names;
pub mod ops;
pub mod reference;
pub mod rewrite;
pub mod shape;
pub mod tape;
pub mod text;
pub mod transform;
pub mod verify;

pub use array::{Array, Buffer, Data, Element, Elements, Scalar, Wide};
pub use dtype::{C32, C64, C128, Complex32, Complex64, DType, OpaqueType, bf16, f16};
pub use error::{Code, Error, Loc, Result, SourceLine};
pub use ir::{
    AdContext, Arg, Attr, Attrs, Batched, Builder, Cost, Cotangent, Emit, EmitterStatus, Function,
    MAX_DEPTH, Op, OpKey, Opaque, Owner, Primitive, Sample, Val, Vals,
};
pub use ir::{attr, emit};
pub use shape::{Dim, Env, Shape, Sym, Type};
pub use verify::verify;

/// The interface of operations, and operations from functions of numbers and of arrays.
pub mod primitive {
    pub use crate::ir::primitive::*;
    pub use crate::ops::{callback, elementwise};
}

/// Functions and their builder.
pub mod graph {
    pub use crate::ir::{Builder, Def, Eqn, Function, MAX_DEPTH, WriteEquation, unbound};
}

/// The book's chapter on writing a set of operations, as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/operation-set.md")]
struct ScalarOperations;

/// The book's chapter on opaque types, as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/opaque-types.md")]
struct OpaqueTypes;
