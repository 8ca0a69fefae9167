//! Second and higher derivatives at kinks are one-sided.
//!
//! The derivative of `|x|` at 0 is the mean of both sides, and a product of two means is not a
//! second derivative. A function that holds such means
//! ([`Primitive::kink`](crate::Primitive::kink)) is a derivative. It is differentiated on one side
//! of all kinks: means are replaced by [`Primitive::one_sided`](crate::Primitive::one_sided), and
//! other kinks are differentiated by the rules of a session [on one side](Session::on_one_side).
//! Results keep their means. So a smooth function has the correct derivatives of every order,
//! however it is written.
//!
//! A kink that is not combined with a mean, as in `penalty(gradient) + |z|`, keeps the mean of
//! first derivatives.

use super::memo::FnKey;
use crate::error::{Error, Loc, Result};
use crate::ir::{
    Builder, Emit, Function, Kink, LinearProgram, MemoKey, Op, Operand, Session, Val, Vals, Visit,
    Walk,
};
use crate::shape::{Sym, Type};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// An emitter whose rules differentiate kinks on one side.
pub(super) struct OneSide<'a> {
    inner: &'a dyn Emit,
    session: Session,
}

impl<'a> OneSide<'a> {
    pub(super) fn new(inner: &'a dyn Emit) -> OneSide<'a> {
        OneSide {
            inner,
            session: inner.session().on_one_side(),
        }
    }
}

impl Emit for OneSide<'_> {
    fn emit(&self, op: Op, operands: &[Val]) -> Vals {
        self.inner.emit(op, operands)
    }

    fn ty(&self, v: Val) -> Type {
        self.inner.ty(v)
    }

    fn fail(&self, e: Error) {
        self.inner.fail(e);
    }

    fn failed(&self) -> bool {
        self.inner.failed()
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_loc(&self, loc: Loc) {
        self.inner.set_loc(loc);
    }

    fn loc(&self) -> Loc {
        self.inner.loc()
    }

    fn written(&self, v: Val) -> Option<(Op, Vals)> {
        self.inner.written(v)
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        self.inner.fresh_sym(base)
    }

    fn nested(&self, name: &str) -> Builder {
        self.inner.nested(name).under(self.session.clone())
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        self.inner.claim_sym(s)
    }
}

/// An operation of a program, as input of [`on_one_side`]. Values are indices.
pub struct Step {
    /// Its operands.
    pub operands: SmallVec<[usize; 4]>,
    /// Its results.
    pub results: Range<usize>,
    /// Whether it holds derivatives at kinks, regions included.
    pub kinks: bool,
    /// The operand that is its weight, if it is such a derivative itself.
    pub weight: Option<usize>,
    /// Whether it is not linear in the operands that depend on the differentiated values.
    pub mixes: bool,
}

/// Mask of the steps that are differentiated on one side. These are steps that hold means, steps
/// whose operands determine the weight of a mean, and steps whose results are combined with a mean
/// other than in a sum. `moves` is the mask of values that depend on the differentiated values.
pub fn on_one_side(steps: &[Step], moves: &[bool]) -> Vec<bool> {
    let mut derived = vec![false; moves.len()];
    let mut meets = Vec::with_capacity(steps.len());
    for s in steps {
        let derives = s.kinks || s.operands.iter().any(|&v| derived[v]);
        meets.push(s.kinks || (derives && s.mixes));
        s.results.clone().for_each(|r| derived[r] = derives);
    }
    let mut onto = vec![false; moves.len()];
    // Values from which weights were computed: from each weight back to the first values that move.
    let (mut weighed, mut still) = (vec![false; moves.len()], vec![false; moves.len()]);
    let mut out = vec![false; steps.len()];
    for (i, s) in steps.iter().enumerate().rev() {
        let leads = s.results.clone().any(|r| onto[r]);
        out[i] = leads || s.kinks;
        if leads || meets[i] {
            s.operands.iter().for_each(|&v| onto[v] = true);
        }
        if let Some(w) = s.weight {
            (weighed[w], still[w]) = (true, true);
        } else if s.results.clone().any(|r| still[r]) {
            for &v in &s.operands {
                weighed[v] = true;
                still[v] |= !moves[v];
            }
        }
    }
    for (out, s) in out.iter_mut().zip(steps) {
        *out |= s.operands.iter().any(|&v| weighed[v]);
    }
    out
}

/// [`on_one_side`] of the equations of a function. `active` marks the differentiated values.
pub(super) fn sided(f: &Function, session: &Session, active: &dyn Fn(Val) -> bool) -> Vec<bool> {
    let all = session.is_one_sided();
    if all || !f.kinks().any {
        return vec![all; f.eqns().len()];
    }
    let mut moves: Vec<bool> = f.vals().map(active).collect();
    let mut steps = Vec::with_capacity(f.eqns().len());
    for e in f.eqns() {
        let operands: SmallVec<[usize; 4]> = f.operands(e).iter().map(|v| v.index()).collect();
        let mask: SmallVec<[bool; 4]> = operands.iter().map(|&v| moves[v]).collect();
        let on = mask.contains(&true);
        for r in e.results() {
            moves[r.index()] |= on && f.ty(r).dtype.has_tangent();
        }
        let first = e.results().next().map_or(0, Val::index);
        steps.push(Step {
            results: first..first + e.results().len(),
            kinks: e.op.kinks().any,
            weight: e.op.kink().and(operands.first().copied()),
            mixes: on && e.op.mixes(&mask),
            operands,
        });
    }
    on_one_side(&steps, &moves)
}

impl Op {
    /// Whether it is not linear in these operands.
    pub fn mixes(&self, mask: &[bool]) -> bool {
        !self.regions().is_empty() || !self.linear_in(mask)
    }

    /// Whether it holds derivatives at kinks, regions included.
    #[inline] // asked in every eager call
    pub fn has_kinks(&self) -> bool {
        !self.is_smooth() && self.kinks().any
    }

    /// Whether it holds means of both sides of a kink, regions included.
    pub fn has_means(&self) -> bool {
        !self.is_smooth() && self.kinks().mean
    }
}

impl LinearProgram {
    /// Whether it holds means of both sides of a kink, regions included.
    pub fn has_means(&self) -> bool {
        self.eqns().iter().any(|e| e.op.has_means())
    }

    /// This program on one side of its kinks, regions included. New ordinary operands of its
    /// equations are written to `cx`.
    pub fn on_one_side(&self, cx: &dyn Emit) -> Result<LinearProgram> {
        let mut out = self.clone();
        for e in out.eqns_mut().iter_mut().filter(|e| e.op.has_means()) {
            if e.op.kink() != Some(Kink::Mean) {
                e.op = cx.session().bodies_on_one_side(&e.op)?;
                continue;
            }
            let value = |o: &Operand| {
                if let Operand::R(v) = o {
                    Some(*v)
                } else {
                    None
                }
            };
            let mut x: Vec<Option<Val>> = e.operands.iter().map(value).collect();
            e.op = e.op.one_sided(cx, &mut x);
            e.operands
                .iter_mut()
                .zip(x)
                .for_each(|(o, v)| *o = v.map_or(*o, Operand::R));
        }
        Ok(out)
    }

    /// This program with the two sides of its means swapped.
    pub fn turned(&self) -> LinearProgram {
        let mut out = self.clone();
        for e in out
            .eqns_mut()
            .iter_mut()
            .filter(|e| e.op.kink() == Some(Kink::Mean))
        {
            e.op = e.op.turned();
        }
        out
    }
}

/// Values on one side, where they differ from those with means.
pub(super) struct OneSidedValues(Vec<Option<Val>>);

impl OneSidedValues {
    pub(super) fn of(f: &Function) -> OneSidedValues {
        OneSidedValues(if f.kinks().mean {
            vec![None; f.len()]
        } else {
            Vec::new()
        })
    }

    /// Whether the results of an equation differ on one side. An equation that binds a symbol is
    /// not computed a second time.
    pub(super) fn differ(&self, op: &Op, x: &[Val]) -> bool {
        (op.kinks().mean || x.iter().any(|v| self.get(*v).is_some())) && op.binds().is_empty()
    }

    pub(super) fn get(&self, v: Val) -> Option<Val> {
        self.0.get(v.index()).copied().flatten()
    }

    pub(super) fn set(&mut self, v: Val, twin: Val) {
        self.0[v.index()] = Some(twin);
    }
}

/// Region whose kinks are on one side.
#[derive(PartialEq, Eq, Hash)]
struct OneSidedKey(FnKey);

impl MemoKey for OneSidedKey {
    type Value = Arc<Function>;
}

impl Session {
    /// The operation on one side of the kinks in its regions.
    pub fn bodies_on_one_side(&self, op: &Op) -> Result<Op> {
        let regions = op.regions();
        if !regions.iter().any(|r| r.kinks().mean) {
            return Ok(op.clone());
        }
        let regions = regions
            .into_iter()
            .map(|r| self.body_on_one_side(r))
            .collect::<Result<Vec<_>>>()?;
        Ok(op.with_regions(&regions))
    }

    fn body_on_one_side(&self, f: &Arc<Function>) -> Result<Arc<Function>> {
        if !f.kinks().mean {
            return Ok(f.clone());
        }
        let key = OneSidedKey(FnKey(f.clone()));
        if let Some(r) = self.memoized(&key) {
            return Ok(r);
        }
        let b = Builder::new(&f.name, self.clone());
        let mut walk = Walk::copying(f);
        walk.copy_params(&b);
        while let Some(Visit { eqn, op, x, .. }) = walk.next(&b) {
            walk.set_results(eqn, self.write_on_one_side(&b, &op, &x)?);
        }
        let r = Arc::new(b.finish(&walk.results())?);
        self.memoize(key, r.clone());
        Ok(r)
    }

    /// Writes the operation on one side of its kinks.
    pub fn write_on_one_side(&self, cx: &dyn Emit, op: &Op, x: &[Val]) -> Result<Vals> {
        match op.kink() {
            Some(Kink::Mean) => {
                let mut x: Vec<Option<Val>> = x.iter().copied().map(Some).collect();
                let op = op.one_sided(cx, &mut x);
                Ok(cx.emit(op, &x.into_iter().flatten().collect::<Vals>()))
            }
            _ => Ok(cx.emit(self.bodies_on_one_side(op)?, x)),
        }
    }
}
