//! Choices between arrays that are updates of one array, in the steps of a loop.
//!
//! ```text
//! select(p, update(x, u, i), x)                =  update(x, select(p, u, x[i]), i)
//! select(p, update(x, u, i), update(x, v, j))  =  y = update(x, select(p, u, x[i]), i)
//!                                                 update(y, select(p, y[j], v), j)
//! ```

use crate::ir::{Builder, Emit, Op, Val, Vals};

/// A window of an array that is updated.
pub(super) struct Update {
    pub new: Val,
    pub start: Vals,
}

/// The last update of an array, and the array before it.
pub(super) fn update(b: &Builder, v: Val) -> Option<(Val, Update)> {
    b.with_def(v, |op, x| match op {
        Op::DynamicUpdateSlice(_) => Some((
            x[0],
            Update {
                new: x[1],
                start: Vals::from_slice(&x[2..]),
            },
        )),
        _ => None,
    })?
}

/// Largest number of updates of an array that a choice follows.
const MAX_UPDATES: usize = 8;

/// A choice between two arrays with windows of one array updated, by one boolean: the choice is
/// made in the windows.
pub(super) fn update_if(b: &Builder, [which, x, y]: [Val; 3]) -> Option<Val> {
    if x == y {
        return Some(x);
    }
    let cx: &dyn Emit = b;
    let scalar = |v: Val| (cx.ty(v).rank() == 0).then_some(v);
    let spread = || {
        b.with_def(which, |op, x| match op {
            Op::BroadcastInDim(_) => scalar(x[0]),
            _ => None,
        })?
    };
    let which = scalar(which).or_else(spread)?;
    let [of_x, of_y] = [x, y].map(|v| updates(b, v));
    // The last array that both are updates of.
    let after = |(newer, v): (usize, Val)| Some((newer, of_y.iter().position(|u| u.0 == v)?, v));
    let arrays = of_x.iter().map(|u| u.0).enumerate();
    let (newer_x, newer_y, common) = arrays.filter_map(after).next()?;
    let mut out = common;
    for (updates, is_x) in [(&of_x[..newer_x], true), (&of_y[..newer_y], false)] {
        for (_, update) in updates.iter().rev() {
            let Update { new, start } = update.as_ref()?;
            let old = cx.dynamic_slice(out, start, &cx.ty(*new).shape);
            let chosen = match is_x {
                true => cx.select(which, *new, old),
                false => cx.select(which, old, *new),
            };
            out = cx.dynamic_update_slice(out, chosen, start);
        }
    }
    Some(out)
}

/// An array with updated windows and the arrays that it was before, each with its last update, the
/// newest first.
fn updates(b: &Builder, v: Val) -> Vec<(Val, Option<Update>)> {
    let (mut out, mut at) = (Vec::new(), v);
    while out.len() < MAX_UPDATES
        && let Some((before, update)) = update(b, at)
    {
        out.push((at, Some(update)));
        at = before;
    }
    out.push((at, None));
    out
}
