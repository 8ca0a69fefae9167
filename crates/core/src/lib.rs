//! The language of Cotangent: typed graphs, operations, and their derivatives.
//!
//! Start with [`primitive`]: what an operation is. [`graph`] is how programs are kept,
//! [`transform`] how they are differentiated, [`reference`] what they mean, [`text`] how they are
//! written.

mod analysis;
pub mod array;
pub mod attr;
pub mod check;
mod directive;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod graph;
pub mod math;
mod names;
pub mod ops;
pub mod primitive;
pub mod reference;
pub mod rewrite;
pub mod shape;
pub mod text;
pub mod transform;
pub mod verify;

pub use array::{Array, Data, Element, Scalar, Wide};
pub use attr::{Attr, Attrs};
pub use dtype::{C32, C64, C128, DType, bf16, f16};
pub use emit::Emit;
pub use error::{Code, Error, Loc, Result};
pub use graph::{Builder, Function, MAX_DEPTH};
pub use ops::Op;
pub use primitive::{Arg, Batched, Cost, Owner, Primitive, Sample, Val, Vals};
pub use shape::{Dim, Env, Shape, Sym, Type};
pub use transform::AdContext;
pub use verify::verify;

/// The tutorial of an operation set of one's own is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/scalar-operations.md")]
struct ScalarOperations;
