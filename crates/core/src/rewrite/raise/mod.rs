//! Raising: patterns of operations, as other programs print them, become one operation or a
//! numerically stable composite.
//!
//! ```text
//! 1 / (1 + exp(-x))                    ->  logistic(x)
//! while i < n { .. x[i] .. }           ->  scan over x
//! ```
//! Values agree with those of the original program within rounding, but their bits may differ, so
//! [`raise`] is no part of [`simplify`](super::simplify). Derivatives of a raised program are those
//! of the operation: they are defined where the pattern gives NaN, and at the kinks of `abs` and
//! `max` that the function does not have.
//!
//! One forward pass visits the needed equations. Each is tried as the last one of every
//! pattern ([`RULES`]). A rule reads the equations that define its operands, and either writes a
//! replacement or leaves the equation unchanged. Equations that only the pattern needed are removed
//! at the end. Each file has one target, and states the pattern and the condition under which it
//! keeps meaning.

mod affine;
mod counted_loop;
mod cut;
mod determinant;
mod gelu;
mod log_sigmoid;
mod log_softmax;
mod logaddexp;
mod logistic;
mod logsumexp;
mod lu;
mod pattern;
mod qr;
mod row_permutation;
mod rows;
mod softmax;
mod solve;
mod unshifted;
mod window;

pub use cut::raise_for_derivatives;

use super::dce;
use crate::ir::{Emit, Eqn, Function, Op, Val, Vals};
use pattern::Raising;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Results that replace those of an operation, if it ends a pattern.
type RaiseRule = fn(&Raising, &Op, &[Val]) -> Option<Vals>;

/// The rules, in the order in which they are tried.
const RULES: &[RaiseRule] = &[
    logistic::raise,
    logaddexp::raise,
    log_sigmoid::raise,
    logsumexp::raise,
    softmax::raise,
    log_softmax::raise,
    gelu::raise,
    determinant::raise,
    solve::raise,
    qr::raise,
    row_permutation::raise,
    counted_loop::raise,
    window::raise,
];

/// Maximum number of equations of a function that is copied in place of a call.
const MAX_COPIED_EQUATIONS: usize = 128;

/// The rules of a pass.
#[derive(Clone, Copy, Default, PartialEq)]
enum Rules {
    #[default]
    All,
    /// Also those of `unshifted`.
    Unshifted,
    /// Only counted loops, which keep their bits.
    Counted,
}

impl Rules {
    fn iter(self) -> impl Iterator<Item = RaiseRule> {
        const COUNTED: &[RaiseRule] = &[counted_loop::raise_short];
        const UNSHIFTED: &[RaiseRule] = &[unshifted::raise];
        let (first, more) = match self {
            Rules::All => (RULES, &[][..]),
            Rules::Unshifted => (RULES, UNSHIFTED),
            Rules::Counted => (COUNTED, &[][..]),
        };
        first.iter().chain(more).copied()
    }
}

/// Raised regions.
#[derive(Default)]
struct RaisedRegions {
    /// By identity; `None` if no rule applies. The original is stored with the result, so that its
    /// address is not reused.
    done: FxHashMap<*const Function, (Arc<Function>, Option<Arc<Function>>)>,
    rules: Rules,
}

impl RaisedRegions {
    fn get(&mut self, f: &Arc<Function>) -> Option<Arc<Function>> {
        let key = Arc::as_ptr(f);
        if let Some((_, known)) = self.done.get(&key) {
            return known.clone();
        }
        let new = raised(f, self).map(Arc::new);
        self.done.insert(key, (f.clone(), new.clone()));
        new
    }

    /// The operation with raised regions, if a rule applies in one.
    fn op(&mut self, op: &Op) -> Option<Op> {
        let regions = op.regions();
        let new: Vec<Option<Arc<Function>>> = regions.iter().map(|f| self.get(f)).collect();
        new.iter().any(Option::is_some).then(|| {
            let all: Vec<Arc<Function>> = new
                .into_iter()
                .zip(&regions)
                .map(|(new, old)| new.unwrap_or_else(|| (*old).clone()))
                .collect();
            op.with_regions(&all)
        })
    }
}

/// A function in which known patterns are replaced by the operations that they compute, in regions
/// and called functions, too. Equal to `f` if there is no pattern. O(equations).
///
/// Bits of results may change (`docs/decisions/raising.md`).
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type, rewrite::raise};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let cx: &dyn Emit = &b;
/// let one = cx.full_like(x, 1.0);
/// let y = cx.div(one, cx.add(one, cx.exp(cx.neg(x))));
/// let f = raise(&b.finish(&[y])?);
/// assert_eq!(f.eqns().len(), 1);
/// assert_eq!(f.eqns()[0].op.name(), "logistic");
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn raise(f: &Function) -> Function {
    raised(f, &mut RaisedRegions::default()).unwrap_or_else(|| f.clone())
}

/// The function with a `scan` for each `while` whose number of steps is small or a sum of extents;
/// `None` if there is none. Results keep their bits.
pub(super) fn counted_loops(f: &Function) -> Option<Function> {
    let mut regions = RaisedRegions {
        rules: Rules::Counted,
        ..RaisedRegions::default()
    };
    raised(f, &mut regions)
}

/// The raised function, or `None` if no rule applies.
fn raised(f: &Function, regions: &mut RaisedRegions) -> Option<Function> {
    let mut pass = RaisePass {
        to: Raising::new(f),
        regions,
        applied: false,
    };
    // The values of the source, until a rule applies. The parameters of the new function come
    // first.
    let mut map: Vec<Val> = f.vals().collect();
    for (i, p) in f.params().iter().enumerate() {
        map[p.index()] = Val::from_index(i);
    }
    pass.raise(f, &mut map);
    if !pass.applied {
        return None;
    }
    let results: Vec<Val> = f.results().iter().map(|r| map[r.index()]).collect();
    match pass.to.finish(&results)? {
        Ok(g) => Some(dce(&g)),
        // A rule that does not type-check is a bug of this crate. The original program is still
        // correct.
        Err(e) => {
            debug_assert!(false, "raise of `{}`: {e}", f.name);
            None
        }
    }
}

struct RaisePass<'f, 'a> {
    to: Raising<'f>,
    regions: &'a mut RaisedRegions,
    applied: bool,
}

impl RaisePass<'_, '_> {
    /// Raises the needed equations of `f`: of the source, or of a function that it calls. `map` has
    /// the values of its parameters, and receives those of its equations.
    fn raise(&mut self, f: &Function, map: &mut [Val]) {
        let needed = f.needed(None);
        let uses = f.uses(&needed);
        for (i, e) in f.eqns().iter().enumerate() {
            if !e.results().any(|r| needed[r.index()]) {
                continue;
            }
            let x: Vals = f.operands(e).iter().map(|v| map[v.index()]).collect();
            self.to.visit(i, e);
            let y = self.write(e, &x);
            for (r, &y) in e.results().zip(&y) {
                map[r.index()] = y;
                self.to.set_uses(y, uses[r.index()]);
                if let Some(name) = f.name_of(r) {
                    self.to.set_name(y, name);
                }
            }
        }
    }

    /// The results of an equation: what a rule writes for it, the operation with raised regions, or
    /// the equation itself.
    fn write(&mut self, e: &Eqn, x: &[Val]) -> Vals {
        if let Op::Call(c) = &e.op
            && self.regions.rules != Rules::Counted
            && self.uses_factors(&c.callee, x)
        {
            self.to.writer();
            let mut map = vec![Val::POISON; c.callee.len()];
            let params = c.callee.params().iter().zip(x);
            params.for_each(|(p, &v)| map[p.index()] = v);
            self.raise(&c.callee, &mut map);
            return c.callee.results().iter().map(|r| map[r.index()]).collect();
        }
        let inner = self.regions.op(&e.op);
        self.applied |= inner.is_some();
        let op = inner.as_ref().unwrap_or(&e.op);
        self.to.update();
        let mut rules = self.regions.rules.iter();
        if let Some(y) = rules.find_map(|rule| rule(&self.to, op, x)) {
            self.to.writer();
            self.applied = true;
            return y;
        }
        if inner.is_none() && !self.to.writes() {
            return e.results().collect();
        }
        self.to.writer().emit(op.clone(), x)
    }
}

impl RaisePass<'_, '_> {
    /// Whether a call of `f` passes results of a factorisation. A short function is then copied, so
    /// that its use of the factors is recognised.
    fn uses_factors(&self, f: &Function, x: &[Val]) -> bool {
        self.to.update();
        f.eqns().len() <= MAX_COPIED_EQUATIONS
            && f.bound_syms().is_empty()
            && x.iter().any(|&v| self.to.factor(v).is_some())
            && f.params()
                .iter()
                .zip(x)
                .all(|(&p, &v)| *f.ty(p) == self.to.ty(v))
    }
}
