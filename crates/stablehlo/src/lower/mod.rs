//! Lowering of the [`ast`](crate::ast) to graphs: one table from operation names to rules, one file
//! per family of operations.
//!
//! Functions are lowered callees first. A small function, or one with a single call, is inlined;
//! other calls remain calls. An unknown operation is an error of the functions that reach it, not
//! of the whole text.

mod asserted;
mod attributes;
mod body;
mod callbacks;
mod collectives;
mod control;
mod dynamic;
pub(crate) mod elementwise;
mod extents;
mod function;
mod indexing;
mod lapack;
mod module;
mod narrow;
mod needed;
mod reduce;
pub(crate) mod row;
mod shape;
mod sort;
mod sparse;
pub(crate) mod special;
mod table;
mod tridiagonal;
mod windows;

use crate::ast::{ParsedModule, Region};
use attributes::callee;
use cotangent_core::transform::Session;
use cotangent_core::{Code, Error, Function, Result};
use function::FunctionLowering;
use module::ModuleLowering;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Maximum nesting depth of functions that are inlined because they are called once.
const MAX_EXPANSION_DEPTH: usize = 48;

/// The functions of a text, and notes for the user.
type Lowered = (Vec<Result<Arc<Function>>>, Vec<String>);

/// Lowers the functions that have a body, in the order of the text: all of them, or only the one of
/// this name.
pub(crate) fn lower(text: &ParsedModule<'_>, only: Option<&str>) -> Result<Lowered> {
    let mut by_name = FxHashMap::default();
    for (i, f) in text.functions.iter().enumerate() {
        if by_name.insert(&*f.name, i).is_some() {
            let e = Error::new(
                Code::DuplicateName,
                format!("the function `@{}` is defined twice", f.name),
            );
            return Err(e.at(f.pos));
        }
    }
    let mut callees: Vec<Vec<usize>> = Vec::with_capacity(text.functions.len());
    let mut calls = vec![0; text.functions.len()];
    for f in &text.functions {
        let mut to = Vec::new();
        f.body.iter().for_each(|b| called(b, &by_name, &mut to));
        to.iter().for_each(|&c| calls[c] += 1);
        callees.push(to);
    }
    let n = text.functions.len();
    let only = only.and_then(|name| by_name.get(name).copied());
    let order = match only {
        Some(root) => callees_first(&callees, std::iter::once(root)),
        None => callees_first(&callees, 0..n),
    };
    // For each function, the nesting depth of functions inlined into it. Callees come first.
    let (mut height, mut place) = (vec![0usize; n], vec![usize::MAX; n]);
    let mut called_once = vec![false; n];
    for (at, &i) in order.iter().enumerate() {
        place[i] = at;
        for &c in &callees[i] {
            // A callee later in the order is part of a cycle.
            if calls[c] == 1
                && place[c] < at
                && text.functions[c].body.is_some()
                && height[c] + 1 < MAX_EXPANSION_DEPTH
            {
                height[i] = height[i].max(height[c] + 1);
                called_once[c] = true;
            }
        }
    }
    let lowering = ModuleLowering {
        text,
        by_name,
        calls,
        called_once: called_once.clone(),
        lowered: RefCell::new(vec![None; n]),
        session: Session::default(),
        expanded: Cell::new(0),
        needed: needed::needed(text),
        dropped: RefCell::default(),
    };
    for i in order {
        let f = &text.functions[i];
        // A function inlined into its only caller is lowered there, unless it was requested by
        // name.
        if f.body.is_some() && !(called_once[i] && only.is_some_and(|o| o != i)) {
            let r = FunctionLowering::function(&lowering, f, table::lower);
            lowering.lowered.borrow_mut()[i] = Some(r);
        }
    }
    let notes = lowering.dropped_callbacks().into_iter().collect();
    let mut done = lowering.lowered.into_inner();
    for (&i, &at) in &lowering.needed.private_results {
        if let Some(Ok(_)) = &done[i] {
            done[i] = Some(Err(callbacks::unsupported_callback("python").at(at)));
        }
    }
    let is_requested = |i: usize| only.is_none_or(|o| o == i);
    let lowered = done
        .into_iter()
        .enumerate()
        .filter(|(i, _)| is_requested(*i))
        .filter_map(|(_, r)| r);
    Ok((lowered.collect(), notes))
}

fn called(region: &Region<'_>, by_name: &FxHashMap<&str, usize>, out: &mut Vec<usize>) {
    for op in &region.ops {
        out.extend(callee(op).and_then(|c| by_name.get(c)));
        op.regions.iter().for_each(|r| called(r, by_name, out));
    }
}

/// An order with callees before callers. A cycle is broken at one of its functions.
fn callees_first(callees: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut seen, mut order) = (
        vec![false; callees.len()],
        Vec::with_capacity(callees.len()),
    );
    for root in roots {
        let mut stack = vec![(root, 0)];
        while let Some((f, at)) = stack.pop() {
            if at == 0 && std::mem::replace(&mut seen[f], true) {
                continue;
            }
            match callees[f].get(at) {
                Some(&next) => {
                    stack.push((f, at + 1));
                    if !seen[next] {
                        stack.push((next, 0));
                    }
                }
                None => order.push(f),
            }
        }
    }
    order
}
