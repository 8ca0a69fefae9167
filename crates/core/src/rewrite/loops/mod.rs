//! Loops as they run: the bodies of `scan` and `while` with less work in each step.
//!
//! ```text
//! c' = f(c, g(w))           ->  h = g(w);  c' = f(c, h)         equations of constants leave the loop
//! c' = f(c), d' = f(d)      ->  c' = f(c)                       carries of one start and one update
//! c' = c                    ->  a constant                      a carry that nothing needs is removed
//! c' = f(c, w), w = 2       ->  c' = f(c, 2)                    a number is part of a step
//! c' = f(c, w == 0), w = 2  ->  c' = f(c, false)                what integers decide, too; in the
//!                                                               inner loops of a step, too
//! while i < n { .. }        ->  scan                            the number of steps is known
//! scan of few steps         ->  its steps, one after the other
//! shard x                   ->  x                               a program that runs here is on one device
//! gather, scatter, ..       ->  simpler operations              in steps, on few elements; again
//!                                                               where a number is an index
//! cond(p, ..)               ->  select                          in steps, of few numbers
//! dot of 16-bit floats      ->  dot of f32                      in steps
//! x + update(0, u, i)       ->  update(x + 0, x[i] + u, i)      in steps
//! h' = a + b, l' = error    ->  in the windows of a and b       compensated sums of few windows
//! c' = c + 0                ->  c' = c                          no element of `c` is -0
//! ```
//! The pass is for a function that runs: derivatives are derived before it, so their sums keep
//! their order. Each body is visited once, inner ones first. Results keep their bits, but for the
//! sign and payload of NaN. An equation that may fail stays in its loop and in its order
//! ([`total`]).

mod carries;
mod choices;
mod form;
mod halves;
mod hoist;
mod pairs;
mod prefix;
mod small;
mod sums;
mod total;
mod unroll;
mod updates;
mod zeros;

use super::fold;
use super::pass::{Pass, RewrittenRegion};
use super::raise::counted_loops;
use crate::analysis::without_dead;
use crate::ir::{Def, Emit, Function, Op, Val, Visit, Walk};
use form::LoopForm;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The function with simpler loops; the function itself if it has no loop that changes. Regions
/// that several equations share stay shared unless they change. O(equations).
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type, rewrite::with_simple_loops};
/// use std::sync::Arc;
/// let ty = Type::scalar(DType::F64);
/// let b = Builder::new("f", Default::default());
/// let (w, x) = (b.param(ty.clone(), Some("w")), b.param(ty, Some("x")));
/// let cx: &dyn Emit = &b;
/// let (c, _) = cx.scan(&[w], &[x], &[], &100.into(), false, |cx, w, c, _| {
///     (vec![cx.mul(c[0], cx.exp(w[0]))], vec![])
/// });
/// let f = with_simple_loops(&Arc::new(b.finish(&c)?));
/// // The exponential is computed once.
/// assert_eq!(f.eqns()[0].op.name(), "exp");
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn with_simple_loops(f: &Arc<Function>) -> Arc<Function> {
    LoopPass::default().function(f, false)
}

/// Rewritten functions by identity. The original is stored with the result, so that its address is
/// not reused.
#[derive(Default)]
struct LoopPass {
    /// Whether a function has a loop or a `shard`, regions included.
    loops: FxHashMap<*const Function, bool>,
    /// Functions between both passes, kept so that their addresses are not reused.
    kept: Vec<Arc<Function>>,
    /// By the function and whether it is part of a step.
    done: FxHashMap<(*const Function, bool), RewrittenRegion>,
}

impl LoopPass {
    /// The function, which is part of the step of a loop if `in_step`.
    fn function(&mut self, f: &Arc<Function>, in_step: bool) -> Arc<Function> {
        if !in_step && !self.has_loop(f) {
            return f.clone();
        }
        let key = (Arc::as_ptr(f), in_step);
        if let Some(known) = self.done.get(&key) {
            return known.new.clone();
        }
        let counted = counted_loops(f).map_or_else(|| f.clone(), Arc::new);
        let new = self
            .rewritten(&counted, in_step)
            .map_or_else(|| counted.clone(), Arc::new);
        self.kept.push(counted);
        self.done.insert(
            key,
            RewrittenRegion {
                _original: f.clone(),
                new: new.clone(),
            },
        );
        new
    }

    fn has_loop(&mut self, f: &Function) -> bool {
        if f.depth() == 0 {
            return false;
        }
        let key = std::ptr::from_ref(f);
        if let Some(&known) = self.loops.get(&key) {
            return known;
        }
        let is_loop = |op: &Op| matches!(op, Op::Scan(_) | Op::While(_) | Op::Shard(_));
        let mut regions = f.eqns().iter().flat_map(|e| e.op.regions());
        let known = f.eqns().iter().any(|e| is_loop(&e.op)) || regions.any(|r| self.has_loop(r));
        self.loops.insert(key, known);
        known
    }

    /// The function with other loops and regions; `None` if none changes.
    fn rewritten(&mut self, f: &Function, in_step: bool) -> Option<Function> {
        let mut pass = Pass::new(&f.name, f.eqns().len());
        pass.b.reserve(f);
        let needed = f.needed(None);
        let mut walk = Walk::copying(f).only(f.computing(&needed));
        walk.copy_params(&pass.b);
        let mut changed = false;
        while let Some(Visit { eqn, op, x, .. }) = walk.next(&pass.b) {
            let new = self.regions(&op, in_step);
            changed |= new.is_some();
            let op = new.unwrap_or_else(|| op.into_owned());
            let used: Vec<bool> = eqn.results().map(|r| needed[r.index()]).collect();
            let y = match simpler(&mut pass, &op, &x, &used, in_step) {
                Some(y) => {
                    changed = true;
                    y
                }
                None => pass.b.emit(op, &x).into_iter().map(Some).collect(),
            };
            for (r, y) in eqn.results().zip(y) {
                if let Some(y) = y {
                    walk.set_named(&pass.b, r, y);
                }
            }
        }
        if !changed {
            return None;
        }
        match pass.b.finish(&walk.results()) {
            Ok(g) => Some(without_dead(&g).unwrap_or(g)),
            // A rewrite that does not type-check is a bug of this crate. The original program is
            // still correct.
            Err(e) => {
                debug_assert!(false, "loops of `{}`: {e}", f.name);
                None
            }
        }
    }

    /// The operation with rewritten regions, if one changes.
    fn regions(&mut self, op: &Op, in_step: bool) -> Option<Op> {
        let in_step = in_step || matches!(op, Op::Scan(_) | Op::While(_));
        let old = op.regions();
        let new: Vec<Arc<Function>> = old.iter().map(|r| self.function(r, in_step)).collect();
        let same = old.iter().zip(&new).all(|(a, b)| Arc::ptr_eq(a, b));
        (!same).then(|| op.with_regions(&new))
    }
}

/// The loop with steps that are rewritten again: numbers that became part of them may be indices of
/// gathers and scatters, some of which have fewer updates, and constants of inner loops.
fn with_known_numbers(op: &Op) -> Option<Op> {
    let changes = |f: &&Arc<Function>| {
        let is_constant = |v: Val| match f.def(v) {
            Def::Eqn(k) => matches!(f.eqns()[k].op, Op::Constant(_)),
            Def::Param(_) => false,
        };
        let is_number = |&v: &Val| match f.def(v) {
            Def::Eqn(k) => match (&f.eqns()[k].op, f.operands(&f.eqns()[k])) {
                (Op::BroadcastInDim(_), x) => is_constant(x[0]),
                _ => is_constant(v),
            },
            Def::Param(_) => false,
        };
        let has_number = |form: LoopForm<'_>| {
            let of_cond = form.cond.map_or(&[][..], |(_, consts)| consts);
            form.consts.iter().chain(of_cond).any(is_number)
        };
        f.eqns().iter().any(|e| match &e.op {
            Op::Gather(_) | Op::Scatter(_) => true,
            op => LoopForm::of(op, f.operands(e)).is_some_and(has_number),
        })
    };
    if !op.regions().iter().any(changes) {
        return None;
    }
    LoopPass::default().regions(op, true)
}

/// Results of a loop by a simpler one, in order; `None` for those that are not used.
type LoopResults = Vec<Option<Val>>;

/// The results of an equation that becomes simpler.
fn simpler(
    pass: &mut Pass,
    op: &Op,
    x: &[Val],
    used: &[bool],
    in_step: bool,
) -> Option<LoopResults> {
    if let Op::Shard(_) = op {
        return Some(vec![Some(x[0])]);
    }
    if let Some(c) = fold::exact_constant(&pass.b, op, x) {
        return Some(pass.b.emit(c.into(), &[]).into_iter().map(Some).collect());
    }
    if in_step && let Some(y) = small::written(pass, op, x) {
        return Some(y.into_iter().map(Some).collect());
    }
    let form = LoopForm::of(op, x)?;
    let loc = pass.b.loc();
    let sums = pairs::in_windows(&pass.b, &form);
    let op = sums.as_ref().unwrap_or(op);
    let form = LoopForm::of(op, x)?;
    let sums = zeros::without_zeros(&pass.b, &form).or_else(|| sums.clone());
    let op = sums.as_ref().unwrap_or(op);
    let form = LoopForm::of(op, x)?;
    let new = carries::Carries::of(&form, used).and_then(|c| c.write(pass, &form));
    let Some((op, x, results)) = new else {
        let y = match unroll::steps(pass, op, x) {
            Some(y) => y,
            None => {
                let op = sums?;
                let op = with_known_numbers(&op).unwrap_or(op);
                pass.b.emit(op, x).to_vec()
            }
        };
        return Some(y.into_iter().map(Some).collect());
    };
    let op = with_known_numbers(&op).unwrap_or(op);
    pass.b.set_loc(loc);
    let y = match unroll::steps(pass, &op, &x) {
        Some(y) => y,
        None => pass.b.emit(op, &x).to_vec(),
    };
    let of = |source: &carries::ResultSource| match *source {
        carries::ResultSource::Given(v) => Some(v),
        carries::ResultSource::Of(k) => Some(y[k]),
        carries::ResultSource::Unused => None,
    };
    Some(results.iter().map(of).collect())
}
