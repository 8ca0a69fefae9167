//! Inlining: the equations of a function, written to an emitter.

use super::{Emit, Eqn, Function, Val, Visit, Walk};
use crate::error::{Code, Error};

impl dyn Emit + '_ {
    /// Writes the equations of `f` applied to `args`, and returns its results.
    pub fn inline(&self, f: &Function, args: &[Val]) -> Vec<Val> {
        self.inline_known(f, args, &[])
    }

    /// As `inline`, where some values of `f` are known in this function. Equations
    /// that only these values need are not written.
    pub fn inline_known(&self, f: &Function, args: &[Val], known: &[(Val, Val)]) -> Vec<Val> {
        if args.len() != f.params().len() {
            let text = format!(
                "`{}` takes {} arguments, got {}",
                f.name,
                f.params().len(),
                args.len()
            );
            self.fail(Error::new(Code::Arity, text).at(self.loc()));
            return vec![Val::POISON; f.results().len()];
        }
        let mut walk = Walk::copying(f).renaming();
        for (p, &a) in f.params().iter().zip(args) {
            let (want, got) = (f.ty(*p), self.ty(a));
            if (want.dtype != got.dtype || want.rank() != got.rank())
                && a != Val::POISON
                && !self.failed()
            {
                let text = format!("`{}` takes {want} for {}, got {got}", f.name, f.show(*p));
                self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
                return vec![Val::POISON; f.results().len()];
            }
            walk.set(*p, a);
        }
        for &(v, here) in known {
            walk.set(v, here);
        }
        if known.is_empty() {
            walk.copy(self);
            return walk.results();
        }
        // A symbol that is bound in this function already is not bound again.
        let here = |r: Val| Some(walk.image(r)).filter(|v| *v != Val::POISON);
        let is_here = |r: Val| here(r).is_some_and(|v| self.ty(v) == *f.ty(r));
        let needed = needed_with(f, known, &|e| e.results().all(is_here));
        walk = walk.only(needed);
        while let Some(Visit { eqn, op, x, .. }) = walk.next(self) {
            for (r, y) in eqn.results().zip(self.emit(op.into_owned(), &x)) {
                if walk.image(r) == Val::POISON {
                    walk.set(r, y);
                }
            }
        }
        walk.results()
    }
}

/// Mask of the equations of `f` that a result needs once some values are known. An equation that
/// binds a symbol stays, unless the symbol is bound already.
fn needed_with(f: &Function, known: &[(Val, Val)], decided: &dyn Fn(&Eqn) -> bool) -> Vec<bool> {
    let at_all = f.needed(None);
    let (mut need, mut is_known) = (vec![false; f.len()], vec![false; f.len()]);
    known.iter().for_each(|(v, _)| is_known[v.index()] = true);
    f.results().iter().for_each(|r| need[r.index()] = true);
    let mut stays = vec![false; f.eqns().len()];
    for (i, e) in f.eqns().iter().enumerate().rev() {
        let binds =
            !e.op.binds().is_empty() && e.results().any(|r| at_all[r.index()]) && !decided(e);
        let is_needed = e.results().any(|r| need[r.index()] && !is_known[r.index()]);
        if binds || is_needed || e.op.must_run() {
            stays[i] = true;
            f.operands(e).iter().for_each(|x| need[x.index()] = true);
        }
    }
    stays
}
