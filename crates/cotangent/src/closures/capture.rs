//! A closure becomes a closed function: fresh placeholders go in, what comes out is cut from the trace.
//!
//! Tensors that the closure captured are older than the call, so they are where the cut ends: they become further
//! operands, and a transform of the closure is linear in the size of the closure, not of what its captures come from.

use super::tree::{Returns, Tree, leaves, owned};
use crate::traced::{Trace, fresh_id, record_in};
use crate::{Emit, Function, Loc, Result, TracedTensor, Type, Val};
use cotangent_core::transform::{AdContext, Session};

/// A closure that was called once on placeholders.
pub(super) struct Closed<B> {
    name: &'static str,
    start: u64,
    inputs: Vec<TracedTensor>,
    /// What it returned, of placeholders.
    pub out: B,
}

impl<B: Tree> Closed<B> {
    /// Calls `f` on placeholders of these types in the structure of `like`.
    pub fn call<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        loc: Loc,
        like: &A,
        types: &[Type],
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        let start = fresh_id();
        let inputs: Vec<TracedTensor> = types.iter().map(|t| TracedTensor::input_like(t.clone(), loc)).collect();
        let out = f(like.rebuild(&mut inputs.iter().cloned())).done()?;
        Ok(Closed { name, start, inputs, out })
    }

    /// Calls `f` on placeholders of the types of `x`.
    pub fn like<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        loc: Loc,
        x: &A,
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        Closed::call(name, loc, x, &types(x)?, f)
    }

    /// The function of its arguments, then of what it captured; and the captures.
    pub fn function(&self) -> Result<(Function, Vec<TracedTensor>)> {
        let mut trace = Trace::cut(self.name, &self.inputs, &leaves(&self.out), &[], self.start)?;
        let captures = trace.params.split_off(self.inputs.len());
        Ok((trace.function, captures))
    }

    /// The tensors it captured.
    pub fn captures(&self) -> Result<Vec<TracedTensor>> {
        Ok(self.function()?.1)
    }

    /// The function of these tensors, which hold all captures, then of its arguments.
    pub fn after(&self, first: &[TracedTensor]) -> Result<Function> {
        let params = [first, &self.inputs].concat();
        Ok(Trace::cut(self.name, &params, &leaves(&self.out), &[], self.start)?.function)
    }
}

/// Each tensor of several lists once.
pub(super) fn union(lists: &[Vec<TracedTensor>]) -> Vec<TracedTensor> {
    let mut all: Vec<TracedTensor> = lists.concat();
    all.sort_by_key(|t| (t.node.id, t.index));
    all.dedup_by(|a, b| a.same(b));
    all
}

/// Types of the leaves.
pub(super) fn types<T: Tree>(t: &T) -> Result<Vec<Type>> {
    leaves(t).into_iter().map(TracedTensor::ty).collect()
}

/// Writes with the rules of the default context.
pub(super) fn write(
    loc: Loc,
    x: &[TracedTensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<TracedTensor>> {
    record_in(session(), loc, &x.iter().collect::<Vec<_>>(), f)
}

pub(super) fn session() -> Session {
    AdContext::default().session()
}

/// `f` of all leaves of these trees, then of the captures.
pub(super) fn inline(loc: Loc, f: &Function, x: &[TracedTensor]) -> Result<Vec<TracedTensor>> {
    write(loc, x, |cx, x| cx.inline(f, x))
}

/// The leaves of `x`, then `more`.
pub(super) fn with<T: Tree>(x: &T, more: &[TracedTensor]) -> Vec<TracedTensor> {
    let mut all = owned(x);
    all.extend_from_slice(more);
    all
}
