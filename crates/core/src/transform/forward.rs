//! Forward mode through regions: values and tangents are computed together, so that loops save no
//! residuals.
//!
//! Linearizing a loop gives two loops: one that saves residuals, and a linear one that reads them.
//! Forward mode needs only one loop over values and tangents. Operations with regions implement it
//! ([`Primitive::jvp`](crate::Primitive::jvp)). All others use `linearize`, equation by equation.

use super::kinks::{self, OneSide, OneSidedValues};
use super::linearize::{check, decorate, replay};
use super::memo::FnKey;
use crate::analysis::{cancelling, dce};
use crate::error::Result;
use crate::ir::{
    Builder, Emit, Eqn, Function, Jvp, Lin, LinearProgram, Lv, MemoKey, Op, Session, Val, Visit,
    Walk,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

/// The result of [`forward_into`].
pub(super) struct Forward {
    pub outs: Vec<Val>,
    pub tangents: Vec<Option<Val>>,
    /// The new value of each needed value of the function.
    pub map: Vec<Option<Val>>,
}

/// A region in forward mode.
#[derive(Debug)]
pub struct RegionJvp {
    /// Parameters of the region, tangents of the active ones -> its results, tangents of those that
    /// have one.
    pub func: Arc<Function>,
    /// Mask of the results that have a tangent.
    pub out_active: Vec<bool>,
}

/// Writes `f` applied to `args`, and its tangents. `seeds` and `wanted` are as in
/// [`linearize_into`](super::linearize_into). O(equations).
pub(super) fn forward_into(
    cx: &dyn Emit,
    f: &Function,
    args: &[Val],
    seeds: &[(Val, Val)],
    wanted: Option<&[bool]>,
) -> Result<Forward> {
    let session = cx.session().clone();
    let needed = f.needed_for(wanted, &seeds.iter().map(|s| s.0).collect::<Vec<_>>());
    let add = |a: Option<Val>, b: Option<Val>| match (a, b) {
        (Some(a), Some(b)) => Some(cx.emit(session.sum(), &[a, b])[0]),
        (a, b) => a.or(b),
    };
    let mut seed: Vec<Option<Val>> = vec![None; f.len()];
    for &(v, t) in seeds {
        seed[v.index()] = add(seed[v.index()], Some(t));
    }
    let reached: Vec<bool> = seed.iter().map(Option::is_some).collect();
    let mut walk = Walk::copying(f).only(f.computing(&needed)).renaming();
    walk.set_params(args.iter().copied());
    let mut tangents = vec![None; f.len()];
    for p in f.params() {
        tangents[p.index()] = seed[p.index()];
    }
    let fixed = cancelling(f, &needed, |v| reached[v.index()]);
    let sided = kinks::sided(f, &session, &|v| reached[v.index()]);
    let (one_side, mut twins) = (OneSide::new(cx), OneSidedValues::of(f));
    while let Some(Visit {
        index,
        eqn: e,
        op,
        x,
    }) = walk.next(cx)
    {
        let t: Vec<Option<Val>> = f.operands(e).iter().map(|v| tangents[v.index()]).collect();
        let twin = twins.differ(&e.op, f.operands(e));
        if twin || t.iter().all(Option::is_none) {
            walk.set_results(e, cx.emit(op.clone().into_owned(), &x));
        }
        let xs: Vec<Val> = f
            .operands(e)
            .iter()
            .zip(&x)
            .map(|(&v, &x)| twins.get(v).unwrap_or(x))
            .collect();
        if twin {
            let y = session.write_on_one_side(cx, &op, &xs)?;
            e.results().zip(y).for_each(|(r, y)| twins.set(r, y));
        }
        if t.iter().any(Option::is_some) {
            let cx: &dyn Emit = if sided[index] { &one_side } else { cx };
            let op = if sided[index] {
                Cow::Owned(session.bodies_on_one_side(&op)?)
            } else {
                op
            };
            let step = step(cx, cx.session(), f, e, &op, &xs, &t);
            let (y, dy) = step.map_err(|err| decorate(err, f, e.loc, &reached, e, "jvp"))?;
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
    Ok(Forward {
        outs: walk.results(),
        tangents: f.results().iter().map(|v| tangents[v.index()]).collect(),
        map: walk.into_copies(),
    })
}

/// Emits one equation and its tangents: by the operation's `jvp`, or by its linear program.
fn step(
    cx: &dyn Emit,
    session: &Session,
    f: &Function,
    e: &Eqn,
    op: &Op,
    x: &[Val],
    t: &[Option<Val>],
) -> Result<Jvp> {
    if let Some(r) = session.jvp(op, cx, x, t) {
        return r;
    }
    let program = RefCell::new(LinearProgram::default());
    let mut inputs = Vec::new();
    let lt: Vec<Option<Lv>> = t
        .iter()
        .map(|t| {
            t.map(|t| {
                let l = program.borrow_mut().input(cx.ty(t));
                inputs.push((l, t));
                l
            })
        })
        .collect();
    let lin = Lin::new(cx, &program);
    let (y, dy) = session.linearize(op, &lin, x, &lt)?;
    check(f, e, &y, &dy, cx, &lin)?;
    let active: Vec<Lv> = dy.iter().flatten().copied().collect();
    let mut vals = replay(cx, &program.into_inner(), &inputs, &active, &|v| v).into_iter();
    Ok((
        y,
        dy.into_iter()
            .map(|d| d.and_then(|_| vals.next()))
            .collect(),
    ))
}

/// Region, active inputs, and whether kinks are differentiated on one side.
#[derive(PartialEq, Eq, Hash)]
struct ForwardKey(FnKey, Vec<bool>, bool);

impl MemoKey for ForwardKey {
    type Value = Arc<RegionJvp>;
}

impl Session {
    /// The region in forward mode, with tangents of the parameters marked active.
    pub fn jvp_region(&self, f: &Arc<Function>, active: &[bool]) -> Result<Arc<RegionJvp>> {
        let key = ForwardKey(FnKey(f.clone()), active.to_vec(), self.is_one_sided());
        if let Some(r) = self.memoized(&key) {
            return Ok(r);
        }
        let b = Builder::deriving(&format!("{}_jvp", f.name), self, &[f]);
        let args: Vec<Val> = f
            .params()
            .iter()
            .map(|&p| b.param(f.ty(p).clone(), f.name_of(p).map(|n| &**n)))
            .collect();
        let moving = f.params().iter().zip(active).filter(|(_, a)| **a);
        let seeds: Vec<(Val, Val)> = moving
            .map(|(&p, _)| (p, b.param(f.ty(p).clone(), None)))
            .collect();
        let y = forward_into(&b, f, &args, &seeds, None)?;
        let results: Vec<Val> = y
            .outs
            .into_iter()
            .chain(y.tangents.iter().flatten().copied())
            .collect();
        let out_active = y.tangents.iter().map(Option::is_some).collect();
        let func = b.finish(&results)?;
        let func = Arc::new(if func.pending() { dce(&func) } else { func });
        let r = Arc::new(RegionJvp { func, out_active });
        self.memoize(key, r.clone());
        Ok(r)
    }
}
