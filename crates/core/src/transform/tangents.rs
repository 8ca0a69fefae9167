//! The pass of linearization and of forward mode: it writes a copy of a function, and the tangents
//! of the values that depend on the differentiated ones.
//!
//! Only equations between the seeded values and the wanted results are differentiated; other
//! equations are copied. A shift that cancels ([`cancelling`]) is held constant.

use super::kinks::{self, OneSide, OneSidedValues};
use crate::analysis::cancelling;
use crate::error::{Code, Error, Result};
use crate::ir::{Def, Emit, Eqn, Function, Op, Val, Vals, Visit, Walk};
use smallvec::SmallVec;
use std::borrow::Cow;

/// A function with its tangents.
pub struct WithTangents<T> {
    /// The results.
    pub outs: Vec<Val>,
    /// Their tangents (`None`: zero).
    pub tangents: Vec<Option<T>>,
    /// The new value of each needed value of the original function.
    pub map: Vec<Option<Val>>,
}

/// The results of an operation, and their tangents (`None`: zero).
pub(super) type OpTangents<T> = (Vals, Vec<Option<T>>);

/// A form of tangents: linear values of a program, or ordinary values.
pub(super) trait TangentMode {
    /// A tangent.
    type Tangent: Copy;
    /// The name of the mode in error messages.
    const NAME: &'static str;

    /// The sum of two tangents.
    fn sum(&self, a: Self::Tangent, b: Self::Tangent) -> Self::Tangent;

    /// Writes the operation of equation `e` of `f` to `cx`, for operands `x` with tangents `t`.
    fn write(
        &self,
        cx: &dyn Emit,
        f: &Function,
        e: &Eqn,
        op: &Op,
        x: &[Val],
        t: &[Option<Self::Tangent>],
    ) -> Result<OpTangents<Self::Tangent>>;
}

/// Writes `f` applied to `args`, and its tangents. `seeds` assigns tangents to values of `f`. The
/// seed of an intermediate value is added to its own tangent. Only `wanted` results (all if `None`)
/// are differentiated.
///
/// O(equations); one traversal.
pub(super) fn with_tangents<M: TangentMode>(
    cx: &dyn Emit,
    mode: &M,
    f: &Function,
    args: &[Val],
    seeds: &[(Val, M::Tangent)],
    wanted: Option<&[bool]>,
) -> Result<WithTangents<M::Tangent>> {
    let add = |a: Option<M::Tangent>, b: Option<M::Tangent>| match (a, b) {
        (Some(a), Some(b)) => Some(mode.sum(a, b)),
        (a, b) => a.or(b),
    };
    let mut seed: Vec<Option<M::Tangent>> = vec![None; f.len()];
    for &(v, t) in seeds {
        seed[v.index()] = add(seed[v.index()], Some(t));
    }
    let reached: Vec<bool> = seed.iter().map(Option::is_some).collect();
    let needed = f.needed_for(wanted, &seeds.iter().map(|s| s.0).collect::<Vec<_>>());
    let mut walk = Walk::copying(f).only(f.computing(&needed)).renaming();
    walk.set_params(args.iter().copied());
    let mut tangents: Vec<Option<M::Tangent>> = vec![None; f.len()];
    for p in f.params() {
        tangents[p.index()] = seed[p.index()];
    }
    let fixed = cancelling(f, &needed, |v| reached[v.index()]);
    let session = cx.session().clone();
    let sided = kinks::sided(f, &session, &|v| reached[v.index()]);
    let (one_side, mut twins) = (OneSide::new(cx), OneSidedValues::of(f));
    let mut t = SmallVec::<[Option<M::Tangent>; 8]>::new();
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
            let (cx, op): (&dyn Emit, _) = if sided[index] {
                (&one_side, Cow::Owned(session.bodies_on_one_side(&op)?))
            } else {
                (cx, op)
            };
            let (y, dy) = mode
                .write(cx, f, e, &op, &x, &t)
                .map_err(|err| decorate(err, f, &reached, e, M::NAME))?;
            for ((r, y), dy) in e.results().zip(y).zip(dy) {
                if !twin {
                    walk.set(r, y);
                }
                tangents[r.index()] = dy.filter(|_| f.ty(r).dtype.has_tangent());
            }
        }
        for r in e.results() {
            tangents[r.index()] = add(tangents[r.index()], seed[r.index()]);
            if tangents[r.index()].is_some() && fixed.contains(&r) {
                tangents[r.index()] = None;
                walk.set(r, cx.stop_gradient(walk.image(r)));
                if let Some(v) = twins.get(r) {
                    twins.set(r, cx.stop_gradient(v));
                }
            }
        }
    }
    Ok(WithTangents {
        outs: walk.results(),
        tangents: f.results().iter().map(|v| tangents[v.index()]).collect(),
        map: walk.into_copies(),
    })
}

/// Adds the source location, the mode and the path from `wrt` to an error of a rule.
fn decorate(err: Error, f: &Function, seeded: &[bool], e: &Eqn, mode: &str) -> Error {
    let loc = e.loc;
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
