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
            // Other readers refuse layouts of operands without layouts of results.
            let absent = |name: &str| match op.attr(name) {
                Some(Attr::List(l)) => l.is_empty(),
                other => other.is_none(),
            };
            if absent("operand_layouts") || absent("result_layouts") {
                op.attrs.retain(|a| !a.0.ends_with("_layouts"));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    #[test]
    fn operations_that_are_read_or_have_effects_stay() {
        let text = "func.func public @main(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  %1 = stablehlo.multiply %0, %x : tensor<f32>
  %2 = stablehlo.subtract %x, %x : tensor<f32>
  stablehlo.custom_call @dce_sink(%1) {has_side_effect = true} : (tensor<f32>) -> ()
  %3 = \"stablehlo.if\"(%c) ({
    %4 = stablehlo.divide %2, %x : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %5 = stablehlo.sine %x : tensor<f32>
  return %5 : tensor<f32>
}";
        let mut module = parse(text).unwrap();
        retain(&mut module);
        let body = module.functions[0].body.as_ref().unwrap();
        let names: Vec<&str> = body.ops.iter().map(|op| op.name).collect();
        let short = names.into_iter().map(|n| n.rsplit('.').next().unwrap());
        let short: Vec<&str> = short.collect();
        assert_eq!(short, ["add", "multiply", "custom_call", "sine", "return"]);
    }
}
