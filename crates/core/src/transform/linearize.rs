//! linearize: one pass over a function that writes a copy of it, and its derivative as a linear
//! program.
//!
//! ```text
//! y = f(x)   =>   y, residuals  and  dy = sum over equations of (op'(x)) dx
//! ```
//! Only equations between `wrt` and the wanted results are differentiated; other equations are
//! copied. A shift that cancels ([`cancelling`]) is held constant.

use super::kinks::{self, OneSide, OneSidedValues};
use crate::analysis::cancelling;
use crate::error::{Code, Error, Result};
use crate::ir::{Def, Emit, Function, Lin, LinearProgram, Lv, Operand, Val, Visit, Walk};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::RefCell;

/// The result of [`linearize_into`].
pub struct Linear {
    /// The results.
    pub outs: Vec<Val>,
    /// Their tangents (`None`: zero).
    pub tangents: Vec<Option<Lv>>,
    /// The new value of each needed value of the original function.
    pub map: Vec<Option<Val>>,
}

/// Writes `f` applied to `args`, and its derivative. `seeds` assigns tangents to values of `f`. The
/// seed of an intermediate value is added to its own tangent. Only `wanted` results (all if `None`)
/// are differentiated.
///
/// O(equations); one traversal.
pub fn linearize_into(
    cx: &dyn Emit,
    program: &RefCell<LinearProgram>,
    f: &Function,
    args: &[Val],
    seeds: &[(Val, Lv)],
    wanted: Option<&[bool]>,
) -> Result<Linear> {
    let lin = Lin::new(cx, program);
    let needed = f.needed_for(wanted, &seeds.iter().map(|s| s.0).collect::<Vec<_>>());
    let mut walk = Walk::copying(f).only(f.computing(&needed)).renaming();
    let mut tangents: Vec<Option<Lv>> = vec![None; f.len()];
    let mut seed: Vec<Option<Lv>> = vec![None; f.len()];
    for &(v, t) in seeds {
        seed[v.index()] = lin.sum_opt(seed[v.index()], Some(t));
    }
    let reached: Vec<bool> = seed.iter().map(Option::is_some).collect();
    walk.set_params(args.iter().copied());
    for p in f.params() {
        tangents[p.index()] = seed[p.index()];
    }
    let fixed = cancelling(f, &needed, |v| reached[v.index()]);
    let mut t = SmallVec::<[Option<Lv>; 8]>::new();
    let session = cx.session().clone();
    let sided = kinks::sided(f, &session, &|v| reached[v.index()]);
    let (one_side, mut twins) = (OneSide::new(cx), OneSidedValues::of(f));
    let lin_on_one_side = Lin::new(&one_side, program);
    while let Some(Visit {
        index,
        eqn: e,
        op,
        mut x,
    }) = walk.next(cx)
    {
        t.clear();
        t.extend(f.operands(e).iter().map(|v| tangents[v.index()]));
        let twin = twins.differ(&e.op, f.operands(e));
        if twin || t.iter().all(Option::is_none) {
            walk.set_results(e, cx.emit(op.clone().into_owned(), &x));
        }
        for (x, v) in x.iter_mut().zip(f.operands(e)) {
            *x = twins.get(*v).unwrap_or(*x);
        }
        if twin {
            let y = session.write_on_one_side(cx, &op, &x)?;
            e.results().zip(y).for_each(|(r, y)| twins.set(r, y));
        }
        if t.iter().any(Option::is_some) {
            let lin = if sided[index] { &lin_on_one_side } else { &lin };
            let op = if sided[index] {
                Cow::Owned(session.bodies_on_one_side(&op)?)
            } else {
                op
            };
            let (y, dy) = lin
                .session()
                .linearize(&op, lin, &x, &t)
                .map_err(|err| decorate(err, f, e.loc, &reached, e, "linearize"))?;
            check(f, e, &y, &dy, cx, lin)?;
            for ((r, y), dy) in e.results().zip(y).zip(dy) {
                if !twin {
                    walk.set(r, y);
                }
                tangents[r.index()] = dy.filter(|_| f.ty(r).dtype.has_tangent());
            }
        }
        for r in e.results() {
            if let s @ Some(_) = seed[r.index()] {
                tangents[r.index()] = lin.sum_opt(tangents[r.index()], s);
            }
            if tangents[r.index()].is_some() && fixed.contains(&r) {
                tangents[r.index()] = None;
                walk.set(r, cx.stop_gradient(walk.image(r)));
                if let Some(v) = twins.get(r) {
                    twins.set(r, cx.stop_gradient(v));
                }
            }
        }
    }
    Ok(Linear {
        outs: walk.results(),
        tangents: f.results().iter().map(|v| tangents[v.index()]).collect(),
        map: walk.into_copies(),
    })
}

/// Checks that a rule returned the number of results of the operation, and one tangent per result,
/// of the result's type.
pub(super) fn check(
    f: &Function,
    e: &crate::ir::Eqn,
    y: &[Val],
    dy: &[Option<Lv>],
    cx: &dyn Emit,
    lin: &Lin<'_>,
) -> Result<()> {
    let n = e.results().len();
    let name = e.op.name();
    if y.len() != n || dy.len() != n {
        let text = format!(
            "linearize rule of `{name}` produced {} results and {} tangents for {n} results",
            y.len(),
            dy.len()
        );
        return Err(Error::new(Code::RuleArity, text).at(e.loc));
    }
    for (r, (&y, dy)) in e.results().zip(y.iter().zip(dy)) {
        let want = f.ty(r);
        for (got, what) in [
            (Some(cx.ty(y)), "result"),
            (dy.map(|d| lin.lty(d)), "tangent"),
        ] {
            if let Some(got) =
                got.filter(|g| !cx.failed() && (g.dtype != want.dtype || g.rank() != want.rank()))
            {
                let text = format!(
                    "linearize rule of `{name}` produced the {what} {got} for a result of type {want}"
                );
                return Err(Error::new(Code::RuleType, text).at(e.loc));
            }
        }
    }
    Ok(())
}

/// Adds the source location, the mode and the path from `wrt` to an error of a rule.
pub(super) fn decorate(
    err: Error,
    f: &Function,
    loc: crate::error::Loc,
    seeded: &[bool],
    e: &crate::ir::Eqn,
    mode: &str,
) -> Error {
    if err.code() != Code::NoRule {
        return err.at(loc);
    }
    // Walks back from the equation along operands that depend on a seed.
    let mut reached = seeded.to_vec();
    for e in f.eqns() {
        let on = f.operands(e).iter().any(|v| reached[v.index()]);
        for r in e.results() {
            reached[r.index()] |= on;
        }
    }
    let mut path = vec![e.op.name().to_owned()];
    let mut at = f.operands(e).iter().copied().find(|v| reached[v.index()]);
    while let Some(v) = at {
        match f.def(v) {
            Def::Eqn(i) if !seeded[v.index()] && path.len() < 12 => {
                let e = &f.eqns()[i];
                path.push(e.op.name().to_owned());
                at = f.operands(e).iter().copied().find(|v| reached[v.index()]);
            }
            _ => {
                path.push(f.show(v));
                at = None;
            }
        }
    }
    path.reverse();
    err.at(loc).note(format!(
        "while deriving ({mode}); path from wrt: {}",
        path.join(" -> ")
    ))
}

/// Writes a linear program as ordinary equations (forward mode): tangents for `inputs` -> the
/// values of `outs`. Only equations that `outs` need are written. `residual` maps each ordinary
/// value to its new value.
pub fn replay(
    cx: &dyn Emit,
    program: &LinearProgram,
    inputs: &[(Lv, Val)],
    outs: &[Lv],
    residual: &dyn Fn(Val) -> Val,
) -> Vec<Val> {
    let need = reaching(program, outs);
    let mut map = vec![Val::POISON; program.len()];
    for &(l, v) in inputs {
        map[l.index()] = v;
    }
    for e in program.eqns() {
        if e.results().any(|r| need[r.index()]) {
            let x: SmallVec<[Val; 4]> = e
                .operands
                .iter()
                .map(|o| match o {
                    Operand::R(v) => residual(*v),
                    Operand::L(v) => map[v.index()],
                })
                .collect();
            cx.set_loc(e.loc);
            for (r, y) in e.results().zip(cx.emit(e.op.clone(), &x)) {
                map[r.index()] = y;
            }
        }
    }
    outs.iter()
        .map(|o| {
            if *o == Lv::POISON {
                Val::POISON
            } else {
                map[o.index()]
            }
        })
        .collect()
}

/// Mask of the linear values that `outs` need.
pub(super) fn reaching(program: &LinearProgram, outs: &[Lv]) -> Vec<bool> {
    let mut need = vec![false; program.len()];
    for o in outs.iter().filter(|&&o| o != Lv::POISON) {
        need[o.index()] = true;
    }
    for e in program.eqns().iter().rev() {
        if e.results().any(|r| need[r.index()]) {
            for o in &e.operands {
                if let Operand::L(v) = o {
                    need[v.index()] = true;
                }
            }
        }
    }
    need
}
