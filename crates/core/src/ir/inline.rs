//! Inlining: the equations of a function, written to an emitter.

use super::{Emit, Eqn, Function, Rename, Val, Vals};
use crate::error::{Code, Error};

impl dyn Emit + '_ {
    /// Writes the equations of `f` applied to `args`, and returns its results.
    pub fn inline(&self, f: &Function, args: &[Val]) -> Vec<Val> {
        self.inline_known(f, args, &[])
    }

    /// As [`inline`](Self::inline), where some values of `f` are known in this function. Equations
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
        let mut map = vec![Val::POISON; f.len()];
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
            map[p.index()] = a;
        }
        for &(v, here) in known {
            map[v.index()] = here;
        }
        // A symbol that is bound in this function already is not bound again.
        let same = |v: &Val| map[v.index()] != Val::POISON && self.ty(map[v.index()]) == *f.ty(*v);
        let decided = |e: &Eqn| e.results().all(|r| same(&r));
        let skipped = if known.is_empty() {
            Vec::new()
        } else {
            unneeded(f, known, &decided)
        };
        let mut rename = Rename::default();
        for (i, e) in f.eqns().iter().enumerate() {
            if skipped.get(i) == Some(&true) {
                continue;
            }
            let x: Vals = f.operands(e).iter().map(|v| map[v.index()]).collect();
            self.set_loc(e.loc);
            for (r, y) in e
                .results()
                .zip(self.emit(rename.op(self, &e.op).into_owned(), &x))
            {
                if map[r.index()] == Val::POISON {
                    map[r.index()] = y;
                }
            }
        }
        f.results().iter().map(|r| map[r.index()]).collect()
    }
}

/// Equations of `f` that no result needs once some values are known. An equation that binds a
/// symbol stays, unless the symbol is bound already.
fn unneeded(f: &Function, known: &[(Val, Val)], decided: &dyn Fn(&Eqn) -> bool) -> Vec<bool> {
    let at_all = f.needed(None);
    let (mut need, mut is_known) = (vec![false; f.len()], vec![false; f.len()]);
    known.iter().for_each(|(v, _)| is_known[v.index()] = true);
    f.results().iter().for_each(|r| need[r.index()] = true);
    let mut skipped = vec![true; f.eqns().len()];
    for (i, e) in f.eqns().iter().enumerate().rev() {
        let binds =
            !e.op.binds().is_empty() && e.results().any(|r| at_all[r.index()]) && !decided(e);
        if binds || e.results().any(|r| need[r.index()] && !is_known[r.index()]) {
            skipped[i] = false;
            f.operands(e).iter().for_each(|x| need[x.index()] = true);
        }
    }
    skipped
}
