//! Conversion of a closure to a closed function: it is called on fresh placeholders, and the
//! function is extracted from the trace of its results.
//!
//! Tensors that the closure captured are older than the call, so the extraction stops at them. They
//! become further operands. A transform of the closure is therefore linear in the size of the
//! closure, whatever computed its captures.

use super::tree::{Returns, Tree, leaf_name, leaves, owned};
use crate::traced::{Orders, Trace, fresh_id, record_in};
use crate::{Emit, Function, Loc, Result, TracedTensor, Type, Val};
use cotangent_core::transform::{AdContext, Numerics, RuleSet, Session};
use std::cell::RefCell;

/// The trace of a closure that was called once on placeholders.
pub(super) struct Closed<B> {
    name: &'static str,
    start: u64,
    inputs: Vec<TracedTensor>,
    /// The tree that it returned, computed from placeholders.
    pub out: B,
}

impl<B: Tree> Closed<B> {
    /// Calls `f` on placeholders of these types in the structure of `like`.
    pub(super) fn call<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        loc: Loc,
        like: &A,
        types: &[Type],
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        let start = fresh_id();
        let inputs: Vec<TracedTensor> = types
            .iter()
            .map(|t| TracedTensor::input_like(t.clone(), loc))
            .collect();
        Closed::on(name, start, inputs, like, f)
    }

    /// Calls `f` on these placeholders, which are not older than `start`.
    fn on<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        start: u64,
        inputs: Vec<TracedTensor>,
        like: &A,
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        let out = f(like.rebuild(&mut inputs.iter().cloned())).done()?;
        Ok(Closed {
            name,
            start,
            inputs,
            out,
        })
    }

    /// Calls `f` on placeholders with the types and names of the leaves of `x`.
    pub(super) fn named<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        x: &A,
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        let start = fresh_id();
        let placeholder = |(k, ty): (usize, Type)| {
            let leaf = leaf_name(x, k).unwrap_or("x".into());
            TracedTensor::input_named(leaf.trim_matches('`'), ty.dtype, ty.shape)
        };
        let inputs = types(x)?.into_iter().enumerate().map(placeholder).collect();
        Closed::on(name, start, inputs, x, f)
    }

    /// Calls `f` on placeholders of the types of `x`.
    pub(super) fn like<A: Tree, R: Returns<Out = B>>(
        name: &'static str,
        loc: Loc,
        x: &A,
        f: impl FnOnce(A) -> R,
    ) -> Result<Closed<B>> {
        Closed::call(name, loc, x, &types(x)?, f)
    }

    /// The function of its arguments followed by its captures; and the captures.
    pub(super) fn function(&self) -> Result<(Function, Vec<TracedTensor>)> {
        let mut trace = Trace::cut(self.name, &self.inputs, &leaves(&self.out), &[], self.start)?;
        let captures = trace.params.split_off(self.inputs.len());
        Ok((trace.function, captures))
    }

    /// The memory orders of its results, given the orders of its arguments and then of its
    /// captures.
    pub(super) fn orders(&self, captures: &[TracedTensor]) -> Orders {
        Orders::of(&leaves(&self.out), &[&self.inputs, captures].concat())
    }

    /// The tensors it captured.
    pub(super) fn captures(&self) -> Result<Vec<TracedTensor>> {
        Ok(self.function()?.1)
    }

    /// The function of these tensors, which include all captures, followed by its arguments.
    pub(super) fn after(&self, first: &[TracedTensor]) -> Result<Function> {
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

/// A leaf whose type is not that of another tree of the same structure.
pub(super) struct Difference {
    /// Its name; `None` for a tree that is a tensor.
    name: Option<String>,
    pub want: Type,
    pub got: Type,
}

impl Difference {
    /// `what`, or the leaf of it: "the carry", "tensor #1 of the carry".
    pub(super) fn leaf(&self, what: &str) -> String {
        match &self.name {
            None => what.to_owned(),
            Some(name) => format!("{name} of {what}"),
        }
    }
}

/// The first leaf of `given` whose type differs from that in `like`, a tree of the same structure.
pub(super) fn difference<T: Tree>(given: &T, like: &T) -> Result<Option<Difference>> {
    let pairs = types(given)?.into_iter().zip(types(like)?);
    let differs = |(got, want): &(Type, Type)| got.differs(want);
    let found = pairs.enumerate().find(|(_, pair)| differs(pair));
    Ok(found.map(|(k, (got, want))| Difference {
        name: leaf_name(like, k),
        want,
        got,
    }))
}

/// Emits with the rules in force.
pub(super) fn write(
    loc: Loc,
    x: &[TracedTensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<TracedTensor>> {
    record_in(session(), loc, &x.iter().collect::<Vec<_>>(), f)
}

thread_local! {
    /// The context that transforms of closures use here: [`with_rules`], [`with_numerics`].
    static CONTEXT: RefCell<AdContext> = RefCell::default();
}

/// Restores the previous context, also when the scope panics.
struct Restored(Option<AdContext>);

impl Drop for Restored {
    fn drop(&mut self) {
        if let Some(old) = self.0.take() {
            CONTEXT.set(old);
        }
    }
}

fn scoped<T>(context: AdContext, f: impl FnOnce() -> T) -> T {
    let _restored = Restored(Some(CONTEXT.replace(context)));
    f()
}

/// Calls `f`. Inside it, transforms of closures use these rules before those of the operations. A
/// transform happens when the closure that it returns is called, so call that closure inside `f`.
///
/// ```
/// use cotangent::transform::{Lin, Lv, Rule, RuleSet};
/// use cotangent::{Op, Result, TracedTensor, Val, closures::{grad, with_rules}, primitive::Linearized};
/// /// A constant in place of the derivative of the sine.
/// struct Gentle;
/// impl Rule for Gentle {
///     fn linearize(&self, op: &Op, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Option<Result<Linearized>> {
///         let (y, half) = (cx.op(op.clone(), x), cx.full_like(x[0], 0.5));
///         Some(Ok(cx.one(y, t[0].map(|t| cx.scale(half, t)))))
///     }
/// }
/// let d = || grad(|x: TracedTensor| x.sin())(TracedTensor::scalar(0.0))?.item::<f64>();
/// assert_eq!(with_rules(RuleSet::default().with("sin", Gentle), d)?, 0.5);
/// assert_eq!(d()?, 1.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn with_rules<T>(rules: RuleSet, f: impl FnOnce() -> T) -> T {
    scoped(CONTEXT.with_borrow(|c| c.with_rules(rules)), f)
}

/// Calls `f`. Inside it, transforms of closures use this arithmetic. A transform happens when the
/// closure that it returns is called, so call that closure inside `f`.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, with_numerics}, transform::Numerics};
/// // The root of 0 is not chosen, but its derivative is infinite.
/// let f = |x: TracedTensor| x.greater(0.0).select(&x.sqrt(), &(&x * 0.0));
/// let d = || grad(f)(TracedTensor::scalar(0.0))?.item::<f64>();
/// assert!(d()?.is_nan());
/// assert_eq!(with_numerics(Numerics { strong_zero: true, ..Numerics::default() }, d)?, 0.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn with_numerics<T>(numerics: Numerics, f: impl FnOnce() -> T) -> T {
    let mut context = CONTEXT.with_borrow(AdContext::clone);
    context.numerics = numerics;
    scoped(context, f)
}

pub(super) fn session() -> Session {
    CONTEXT.with_borrow(AdContext::session)
}

/// Derivatives, each in the memory order of the tensor that it was taken by or of.
pub(super) fn listed_as(y: Vec<TracedTensor>, of: &[&TracedTensor]) -> Vec<TracedTensor> {
    y.into_iter()
        .zip(of)
        .map(|(y, of)| y.listed_as(of, &[]))
        .collect()
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
