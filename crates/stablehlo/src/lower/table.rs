//! The operations by name.

use super::frame::{self, Frame};
use super::{
    collectives, composite, control, dynamic, elementwise, indexing, lapack, reduce, shape, sort,
    special,
};
use crate::ast::Operation;
use cotangent_core::ops::{Binary, Unary};
use cotangent_core::primitive::Vals;
use cotangent_core::{Result, bail};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// How an operation is lowered.
#[derive(Clone, Copy)]
pub enum How {
    /// To the function of one operand.
    Unary(Unary),
    /// To the function of two operands.
    Binary(Binary),
    /// By what this writes.
    By(fn(&Frame<'_>, &Operation<'_>) -> Result<Vals>),
}

/// A name without its dialect, and what it means.
pub type Row = (&'static str, How);

fn table() -> &'static FxHashMap<&'static str, How> {
    static TABLE: OnceLock<FxHashMap<&'static str, How>> = OnceLock::new();
    TABLE.get_or_init(|| {
        [
            elementwise::TABLE,
            shape::TABLE,
            indexing::TABLE,
            reduce::TABLE,
            control::TABLE,
            composite::TABLE,
            collectives::TABLE,
            dynamic::TABLE,
            sort::TABLE,
            special::TABLE,
            lapack::TABLE,
        ]
        .concat()
        .into_iter()
        .collect()
    })
}

/// How the operation of this name without its dialect is lowered.
pub fn find(name: &str) -> Option<How> {
    table().get(name).copied()
}

/// Writes one operation.
pub fn lower(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let known = ["stablehlo.", "chlo.", "mhlo."]
        .iter()
        .find_map(|d| op.name.strip_prefix(d));
    let how = match op.name {
        "func.call" => Some(How::By(control::call)),
        // One device: what says where a value lives changes nothing.
        "sdy.sharding_constraint" | "sdy.reshard" | "sdy.propagation_barrier" => {
            Some(How::By(control::identity))
        }
        _ => known.and_then(find),
    };
    match how.filter(|_| !op.opaque) {
        Some(how) => match f.of_few_bits(op)? {
            Some(y) => Ok(y),
            None => apply(f, op, how),
        },
        None => bail!(
            UnknownOperation,
            "the operation `{}` is not supported",
            op.name
        ),
    }
}

/// Writes an operation in this way.
pub fn apply(f: &Frame<'_>, op: &Operation<'_>, how: How) -> Result<Vals> {
    match how {
        How::Unary(u) => {
            let x: [_; 1] = f.take(op)?;
            Ok(f.cx().emit(u.into(), &x))
        }
        How::Binary(b) => {
            let x: [_; 2] = f.take(op)?;
            if matches!(b, Binary::Max | Binary::Min) && f.cx().ty(x[0]).dtype.is_complex() {
                return frame::one(elementwise::extremum(f.cx(), x, b == Binary::Max));
            }
            Ok(f.cx().emit(b.into(), &x))
        }
        How::By(by) => by(f, op),
    }
}
