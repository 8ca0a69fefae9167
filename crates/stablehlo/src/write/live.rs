//! Dead operations of a syntax tree: those without effects whose results nothing reads.

use crate::ast::{Attr, Id, Operation, ParsedModule, Region};
use rustc_hash::FxHashSet;

/// Operations of StableHLO with effects, and those that end a region.
const KEPT: [&str; 5] = ["infeed", "outfeed", "recv", "return", "send"];

/// Removes the dead operations of all functions.
pub(crate) fn retain(module: &mut ParsedModule<'_>) {
    let bodies = module.functions.iter_mut().filter_map(|f| f.body.as_mut());
    bodies.for_each(region);
}

fn region(r: &mut Region<'_>) {
    let mut live: FxHashSet<Id> = FxHashSet::default();
    let mut kept: Vec<bool> = Vec::with_capacity(r.ops.len());
    for op in r.ops.iter_mut().rev() {
        let is_read = (op.first..op.first + op.count).any(|id| live.contains(&id));
        let keeps = is_read || has_effect(op);
        kept.push(keeps);
        if keeps {
            op.regions.iter_mut().for_each(region);
            live.extend(&op.operands);
            live.extend(op.regions.iter().flat_map(|r| &r.captures));
        }
    }
    let mut kept = kept.into_iter().rev();
    r.ops.retain(|_| kept.next().unwrap_or(true));
}

/// Whether an operation may do more than compute its results. Operations of other dialects, calls
/// included, may.
fn has_effect(op: &Operation<'_>) -> bool {
    let Some(name) = op.name.strip_prefix("stablehlo.") else {
        return true;
    };
    let declared = op.attr("has_side_effect").and_then(Attr::bool);
    KEPT.contains(&name)
        || name == "custom_call" && declared != Some(false)
        || op.regions.iter().flat_map(|r| &r.ops).any(inner)
}

/// Whether an operation of a region has an effect other than the end of the region.
fn inner(op: &Operation<'_>) -> bool {
    op.name != "stablehlo.return" && has_effect(op)
}
