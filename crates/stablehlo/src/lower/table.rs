//! The lowering table: rules by operation name.

use super::attributes::attribute;
use super::function::{self, FunctionLowering};
use super::row::LoweringRule;
use super::{
    callbacks, collectives, control, dynamic, elementwise, indexing, lapack, needed, reduce, shape,
    sort, sparse, special, windows,
};
use crate::ast::Operation;
use cotangent_core::ops::Binary;
use cotangent_core::primitive::Vals;
use cotangent_core::{Result, bail};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

fn table() -> &'static FxHashMap<&'static str, LoweringRule> {
    static TABLE: OnceLock<FxHashMap<&'static str, LoweringRule>> = OnceLock::new();
    TABLE.get_or_init(|| {
        [
            elementwise::ELEMENTWISE,
            shape::SHAPES,
            indexing::INDEXING,
            reduce::REDUCTIONS,
            control::CONTROL,
            windows::WINDOWS,
            collectives::COLLECTIVES,
            dynamic::DYNAMIC,
            sort::SORTS,
            special::SPECIAL_FUNCTIONS,
            lapack::LAPACK,
            &[("custom_call", LoweringRule::Custom(custom_call))],
        ]
        .concat()
        .into_iter()
        .collect()
    })
}

/// The rule of the operation of this name, without its dialect.
fn find(name: &str) -> Option<LoweringRule> {
    table().get(name).copied()
}

/// Lowers one operation.
pub(super) fn lower(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let known = ["stablehlo.", "chlo.", "mhlo."]
        .iter()
        .find_map(|d| op.name.strip_prefix(d));
    let how = match op.name {
        "func.call" => Some(LoweringRule::Custom(control::call)),
        // There is one device: shardings have no effect.
        "sdy.sharding_constraint" | "sdy.reshard" | "sdy.propagation_barrier" => {
            Some(LoweringRule::Custom(control::identity))
        }
        _ => known.and_then(find),
    };
    match how.filter(|_| !op.opaque) {
        Some(how) => match f.lower_narrow(op)? {
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

/// Lowers an operation by this rule.
fn apply(f: &FunctionLowering<'_>, op: &Operation<'_>, how: LoweringRule) -> Result<Vals> {
    match how {
        LoweringRule::Unary(u) => {
            let x: [_; 1] = f.operand_array(op)?;
            Ok(f.cx().emit(u.into(), &x))
        }
        LoweringRule::Binary(b) => {
            let x: [_; 2] = f.operand_array(op)?;
            if matches!(b, Binary::Max | Binary::Min) && f.cx().ty(x[0]).dtype.is_complex() {
                return function::one(elementwise::extremum(f.cx(), x, b == Binary::Max));
            }
            Ok(f.cx().emit(b.into(), &x))
        }
        LoweringRule::Custom(by) => by(f, op),
    }
}

/// Custom calls that are the identity on one device.
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

/// Custom calls that check shapes or values, or print shardings. They are dropped.
/// `dce_sink` keeps its operands alive in other compilers.
const ASSERTIONS: [&str; 4] = ["shape_assertion", "check.eq", "InspectSharding", "dce_sink"];

fn custom_call(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let Some(target) = needed::target(op) else {
        return Err(attribute(op, "call_target_name", "a name"));
    };
    if IDENTITIES.contains(&target) {
        return control::identity(f, op);
    }
    if ASSERTIONS.contains(&target) {
        return control::nothing(f, op);
    }
    if target == callbacks::HOST_CALLBACK {
        return callbacks::host_callback(f, op);
    }
    if needed::is_callback(target) {
        return callbacks::callback(f, op, target);
    }
    // Operations of other dialects occur as custom calls: `mhlo.erf`, `stablehlo.dynamic_..`.
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
