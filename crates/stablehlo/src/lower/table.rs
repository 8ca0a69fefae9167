//! The operations by name.

use super::attributes::attribute;
use super::frame::{self, Frame};
use super::row::How;
use super::{
    callbacks, collectives, composite, control, dynamic, elementwise, indexing, lapack, needed,
    reduce, shape, sort, sparse, special,
};
use crate::ast::Operation;
use cotangent_core::ops::Binary;
use cotangent_core::primitive::Vals;
use cotangent_core::{Result, bail};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

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
            &[("custom_call", How::By(custom_call))],
        ]
        .concat()
        .into_iter()
        .collect()
    })
}

/// How the operation of this name without its dialect is lowered.
fn find(name: &str) -> Option<How> {
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
fn apply(f: &Frame<'_>, op: &Operation<'_>, how: How) -> Result<Vals> {
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

/// Targets that change nothing on one device.
const IDENTITIES: [&str; 8] = [
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
];

/// Targets that check what has been checked already, or show where values lie.
const ASSERTIONS: [&str; 3] = ["shape_assertion", "check.eq", "InspectSharding"];

fn custom_call(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let Some(target) = needed::target(op) else {
        return Err(attribute(op, "call_target_name", "a name"));
    };
    if IDENTITIES.contains(&target) {
        return control::identity(f, op);
    }
    if ASSERTIONS.contains(&target) {
        return control::nothing(f, op);
    }
    if needed::is_callback(target) {
        return callbacks::callback(f, op, target);
    }
    // Operations of other dialects travel as custom calls: `mhlo.erf`, `stablehlo.dynamic_..`.
    let name = ["mhlo.", "chlo.", "stablehlo."]
        .iter()
        .find_map(|d| target.strip_prefix(d))
        .unwrap_or(target);
    match lapack::routine(target)
        .or_else(|| sparse::routine(target))
        .or_else(|| find(name))
        .filter(|_| name != "custom_call")
    {
        Some(how) => apply(f, op, how),
        None => bail!(
            UnknownOperation,
            "the custom call `@{target}` is not supported"
        ),
    }
}
