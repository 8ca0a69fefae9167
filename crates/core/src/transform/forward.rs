//! Forward mode through regions: values and tangents are computed together, so that loops save no
//! residuals.
//!
//! Linearizing a loop gives two loops: one that saves residuals, and a linear one that reads them.
//! Forward mode needs only one loop over values and tangents. Operations with regions implement it
//! ([`Primitive::jvp`](crate::Primitive::jvp)). All others use `linearize`, equation by equation.

use super::linearize::linearize_op;
use super::memo::FnKey;
use super::replay::replay;
use super::tangents::{OpTangents, TangentMode, WithTangents, with_tangents};
use crate::analysis::dce;
use crate::error::Result;
use crate::ir::{Builder, Emit, Eqn, Function, Lin, LinearProgram, Lv, MemoKey, Op, Session, Val};
use std::cell::RefCell;
use std::sync::Arc;

/// A function in forward mode.
pub(super) type Forward = WithTangents<Val>;

/// A region in forward mode.
#[derive(Debug)]
pub struct RegionJvp {
    /// Parameters of the region, tangents of the active ones -> its results, tangents of those that
    /// have one.
    pub func: Arc<Function>,
    /// Mask of the results that have a tangent.
    pub out_active: Vec<bool>,
}

/// Tangents that are values of the function that is written to an emitter.
struct ForwardTangents<'a>(&'a dyn Emit);

impl TangentMode for ForwardTangents<'_> {
    type Tangent = Val;
    const NAME: &'static str = "jvp";

    fn sum(&self, a: Val, b: Val) -> Val {
        let sum = self.0.session().sum(&self.0.ty(a));
        self.0.emit(sum, &[a, b])[0]
    }

    /// Writes the operation's `jvp`, or replays its linear program.
    fn write(
        &self,
        cx: &dyn Emit,
        f: &Function,
        e: &Eqn,
        op: &Op,
        x: &[Val],
        t: &[Option<Val>],
    ) -> Result<OpTangents<Val>> {
        if let Some(r) = cx.session().jvp(op, cx, x, t) {
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
        let (y, dy) = linearize_op(&Lin::new(cx, &program), f, e, op, x, &lt)?;
        let active: Vec<Lv> = dy.iter().flatten().copied().collect();
        let mut vals = replay(cx, &program.into_inner(), &inputs, &active, &|v| v).into_iter();
        let dy = dy.into_iter().map(|d| d.and_then(|_| vals.next()));
        Ok((y, dy.collect()))
    }
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
    with_tangents(cx, &ForwardTangents(cx), f, args, seeds, wanted)
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
            .map(|(&p, _)| (p, b.param(f.ty(p).tangent(), None)))
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
