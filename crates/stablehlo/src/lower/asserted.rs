//! Extents of parameters that a text asserts to be equal, as exports of JAX with symbolic
//! dimensions do. They are one symbol, so a call with different extents is an error, and
//! derivatives know that nothing is broadcast.

use super::attributes::{direction, size};
use super::needed;
use crate::ast::{Id, Operation, Region};
use cotangent_core::ops::Comparison;
use rustc_hash::FxHashMap;

/// An axis of a parameter: their positions.
pub(super) type ParameterAxis = (usize, usize);

/// The meaning of an integer or a boolean of the text.
#[derive(Clone, Copy)]
enum Asserted {
    Extent(ParameterAxis),
    Equal(ParameterAxis, ParameterAxis),
}

/// For axes of parameters whose extent is asserted to be that of an earlier axis, the first of
/// these. O(operations).
pub(super) fn equal_extents(body: &Region<'_>) -> FxHashMap<ParameterAxis, ParameterAxis> {
    let (mut known, mut first) = (FxHashMap::<Id, Asserted>::default(), FxHashMap::default());
    let mut own = FxHashMap::default();
    own.extend(body.args.iter().enumerate().map(|(k, a)| (a.id, k)));
    for op in &body.ops {
        let at = |k: usize| op.operands.get(k).and_then(|id| known.get(id)).copied();
        let new = match op.name.trim_start_matches("stablehlo.") {
            "get_dimension_size" => extent(&own, op).map(Asserted::Extent),
            "convert" | "reshape" => at(0),
            "compare" => match (at(0), at(1), direction(op)) {
                (Some(Asserted::Extent(a)), Some(Asserted::Extent(b)), Ok(Comparison::Eq)) => {
                    Some(Asserted::Equal(a.min(b), a.max(b)))
                }
                _ => None,
            },
            "custom_call" if needed::target(op) == Some("shape_assertion") => {
                if let Some(Asserted::Equal(a, b)) = at(0) {
                    join(&mut first, a, b);
                }
                None
            }
            _ => None,
        };
        known.extend(new.map(|new| (op.first, new)));
    }
    let axes: Vec<ParameterAxis> = first.keys().copied().collect();
    let all = axes.into_iter().map(|a| (a, earliest(&mut first, a)));
    all.collect()
}

fn extent(own: &FxHashMap<Id, usize>, op: &Operation<'_>) -> Option<ParameterAxis> {
    let parameter = own.get(op.operands.first()?)?;
    Some((*parameter, size(op, &["dim", "dimension"]).ok()?))
}

/// Axes of equal extents: for an axis an earlier one, up to the first.
type EarlierAxes = FxHashMap<ParameterAxis, ParameterAxis>;

/// The first axis that has the extent of this one. Each way there halves the next one.
fn earliest(first: &mut EarlierAxes, a: ParameterAxis) -> ParameterAxis {
    let mut a = a;
    while let Some(&earlier) = first.get(&a) {
        if let Some(&before) = first.get(&earlier) {
            first.insert(a, before);
        }
        a = earlier;
    }
    a
}

fn join(first: &mut EarlierAxes, a: ParameterAxis, b: ParameterAxis) {
    let (a, b) = (earliest(first, a), earliest(first, b));
    if a != b {
        first.insert(a.max(b), a.min(b));
    }
}
