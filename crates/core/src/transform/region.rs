//! Transforms of regions, memoised by region and active inputs, so that nested control flow is
//! transformed in linear time.
//!
//! A region shares the symbols of the enclosing function. A value whose type mentions an extent
//! that is bound inside the region (the number of steps of a nested loop) is not saved as a
//! residual. It is recomputed in the linear region. So are constants and broadcasts of them.

use super::batch::batch;
use super::linearize::linearize_into;
use super::memo::FnKey;
use super::replay::{reaching, replay};
use super::transpose::transpose_into;
use crate::error::Result;
use crate::ir::{
    Builder, Def, Function, LinearProgram, Lv, MemoKey, Op, Operand, Session, Val, Walk,
};
use crate::shape::{Dim, Sym, Type};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::sync::Arc;

/// The source of a residual of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residual {
    /// The region's parameter at this position. It needs no saving.
    Param(usize),
    /// The extra result at this position of the forward region (after the region's own results).
    Extra(usize),
}

/// A linearized region.
#[derive(Debug)]
pub struct RegionLin {
    /// Parameters of the region -> its results, then the extra results.
    pub forward: Arc<Function>,
    /// Residuals, then tangents of the active inputs -> tangents of the active results.
    pub linear: Arc<Function>,
    /// Mask of the results that have a tangent.
    pub out_active: Vec<bool>,
    /// The sources of the residuals.
    pub residuals: Vec<Residual>,
}

impl RegionLin {
    /// The value of the forward region that is this residual.
    pub fn residual(&self, r: &Residual) -> Val {
        match *r {
            Residual::Param(i) => self.forward.params()[i],
            Residual::Extra(j) => self.forward.results()[self.out_active.len() + j],
        }
    }

    /// Types of the extra results.
    pub fn extra_types(&self) -> Vec<Type> {
        self.forward.result_types().split_off(self.out_active.len())
    }
}

/// The transpose of a linear region.
#[derive(Debug)]
pub struct RegionTranspose {
    /// Ordinary parameters, then cotangents of the results that have one -> cotangents of the
    /// linear parameters that have one.
    pub func: Arc<Function>,
    /// Mask of the linear parameters that have a cotangent.
    pub out_nonzero: Vec<bool>,
}

/// A batched region.
#[derive(Debug)]
pub struct RegionBatch {
    /// The batched function.
    pub func: Arc<Function>,
    /// Mask of the results that have the batch axis.
    pub out_mapped: Vec<bool>,
}

/// Values that a linearized region saves for its linear part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SavePolicy {
    /// Every value that the linear part uses.
    Residuals,
    /// Only its parameters. The linear part recomputes the values that it uses.
    Inputs,
}

/// Region, active inputs, saved values, and whether kinks are differentiated on one side.
#[derive(PartialEq, Eq, Hash)]
struct LinearizedKey(FnKey, Vec<bool>, SavePolicy, bool);

impl MemoKey for LinearizedKey {
    type Value = Arc<RegionLin>;
}

/// Region, linear parameters, and results that have a cotangent.
#[derive(PartialEq, Eq, Hash)]
struct TransposedKey(FnKey, Vec<bool>, Vec<bool>);

impl MemoKey for TransposedKey {
    type Value = Arc<RegionTranspose>;
}

/// Region, batched parameters, results that are always batched, and the extent of the batch.
#[derive(PartialEq, Eq, Hash)]
struct BatchedKey(FnKey, Vec<bool>, Vec<bool>, Dim);

impl MemoKey for BatchedKey {
    type Value = Arc<RegionBatch>;
}

/// Region that is legalized.
#[derive(PartialEq, Eq, Hash)]
struct LegalKey(FnKey);

impl MemoKey for LegalKey {
    type Value = Arc<Function>;
}

/// Region, and the symbols that are replaced.
#[derive(PartialEq, Eq, Hash)]
struct SpecializedKey(FnKey, Vec<(Sym, Dim)>);

impl MemoKey for SpecializedKey {
    type Value = Arc<Function>;
}

impl Session {
    /// Linearizes a region with respect to the parameters marked active.
    pub fn linearize_region(
        &self,
        f: &Arc<Function>,
        active: &[bool],
        saving: SavePolicy,
    ) -> Result<Arc<RegionLin>> {
        let key = LinearizedKey(
            FnKey(f.clone()),
            active.to_vec(),
            saving,
            self.is_one_sided(),
        );
        if let Some(r) = self.memoized(&key) {
            return Ok(r);
        }
        let r = Arc::new(linearize_region(self, f, active, saving)?);
        self.memoize(key, r.clone());
        Ok(r)
    }

    /// Transposes a region that is linear in the parameters marked `linear`, for cotangents of the
    /// marked results.
    pub fn transpose_region(
        &self,
        f: &Arc<Function>,
        linear: &[bool],
        ct: &[bool],
    ) -> Result<Arc<RegionTranspose>> {
        let key = TransposedKey(FnKey(f.clone()), linear.to_vec(), ct.to_vec());
        if let Some(r) = self.memoized(&key) {
            return Ok(r);
        }
        let r = Arc::new(transpose_region(self, f, linear, ct)?);
        self.memoize(key, r.clone());
        Ok(r)
    }

    /// Batches a region: `mapped` parameters have a leading axis of extent `size`. Results marked
    /// `force` get it, too.
    pub fn batch_region(
        &self,
        f: &Arc<Function>,
        mapped: &[bool],
        force: &[bool],
        size: &Dim,
    ) -> Result<Arc<RegionBatch>> {
        let key = BatchedKey(
            FnKey(f.clone()),
            mapped.to_vec(),
            force.to_vec(),
            size.clone(),
        );
        if let Some(r) = self.memoized(&key) {
            return Ok(r);
        }
        let (func, out_mapped) = batch(self, f, mapped, force, size)?;
        let r = Arc::new(RegionBatch {
            func: Arc::new(func),
            out_mapped,
        });
        self.memoize(key, r.clone());
        Ok(r)
    }

    /// This function with executable operations only ([`Primitive::runs`](crate::Primitive::runs)),
    /// for a linear program in forward mode.
    pub fn legalize(&self, f: &Function) -> Result<Function> {
        if !f.pending() {
            return Ok(f.clone());
        }
        f.map_ops(&mut |op| {
            if !op.pending() {
                return Ok(None);
            }
            let op = if op.runs() {
                op.clone()
            } else {
                op.legal(self)?
            };
            let body = |f: &Arc<Function>| {
                let key = LegalKey(FnKey(f.clone()));
                if let Some(r) = self.memoized(&key) {
                    return Ok(r);
                }
                let r = Arc::new(self.legalize(f)?);
                self.memoize(key, r.clone());
                Ok(r)
            };
            let regions = op
                .regions()
                .into_iter()
                .map(body)
                .collect::<Result<Vec<_>>>()?;
            Ok(Some(op.with_regions(&regions)))
        })
    }

    /// A called module with its local symbols replaced by the operands' extents. It then shares the
    /// caller's symbols, as regions do.
    pub fn specialize(&self, f: &Arc<Function>, x: &[Type]) -> Arc<Function> {
        let mut bound: Vec<(Sym, Dim)> = f
            .bind(x)
            .into_iter()
            .filter(|(s, d)| d.as_sym() != Some(s))
            .collect();
        if bound.is_empty() {
            return f.clone();
        }
        bound.sort();
        let key = SpecializedKey(FnKey(f.clone()), bound);
        if let Some(r) = self.memoized(&key) {
            return r;
        }
        let find = |s: &Sym| key.1.iter().find(|(k, _)| k == s).map(|(_, d)| d.clone());
        let r = Arc::new(f.subst(&find));
        self.memoize(key, r.clone());
        r
    }
}

fn linearize_region(
    session: &Session,
    f: &Arc<Function>,
    active: &[bool],
    saving: SavePolicy,
) -> Result<RegionLin> {
    let b = Builder::deriving(&f.name, session, &[f]);
    let args: Vec<Val> = f
        .params()
        .iter()
        .map(|&p| b.param(f.ty(p).clone(), f.name_of(p).map(|n| &**n)))
        .collect();
    let program = RefCell::new(LinearProgram::default());
    let seeds: Vec<(Val, Lv)> = f
        .params()
        .iter()
        .zip(active)
        .filter(|(_, a)| **a)
        .map(|(&p, _)| (p, program.borrow_mut().input(f.ty(p).tangent())))
        .collect();
    let lin = linearize_into(&b, &program, f, &args, &seeds, None)?;
    let program = program.into_inner();
    let out_active: Vec<bool> = lin.tangents.iter().map(Option::is_some).collect();
    let outs: Vec<Lv> = lin.tangents.iter().flatten().copied().collect();
    let forward = b.finish(&lin.outs)?;

    let ResidualPlan { saved, recompute } = plan_residuals(&forward, &program, &outs, saving);

    let lb = Builder::deriving(&format!("{}_lin", f.name), session, &[&forward]);
    let mut walk = Walk::copying(&forward).only(recompute);
    for &v in &saved {
        walk.set(v, lb.param(forward.ty(v).clone(), None));
    }
    let inputs: Vec<(Lv, Val)> = seeds
        .iter()
        .map(|&(p, l)| (l, lb.param(f.ty(p).tangent(), None)))
        .collect();
    walk.copy(&lb);
    let results = replay(&lb, &program, &inputs, &outs, &|v| walk.image(v));
    let linear = Arc::new(lb.finish(&results)?);

    let mut results = forward.results().to_vec();
    let residuals = saved
        .iter()
        .map(|&v| match forward.def(v) {
            Def::Param(i) => Residual::Param(i),
            Def::Eqn(_) => {
                results.push(v);
                Residual::Extra(results.len() - 1 - out_active.len())
            }
        })
        .collect();
    Ok(RegionLin {
        forward: Arc::new(forward.with_results(&results)),
        linear,
        out_active,
        residuals,
    })
}

/// The values of the forward region that the linear region receives, and the equations that it
/// recomputes.
struct ResidualPlan {
    saved: Vec<Val>,
    recompute: Vec<bool>,
}

fn plan_residuals(
    forward: &Function,
    program: &LinearProgram,
    outs: &[Lv],
    saving: SavePolicy,
) -> ResidualPlan {
    let local = forward.bound_syms();
    // Values, and symbols bound here, that the linear region uses.
    let mut wanted = vec![false; forward.len()];
    let mut syms = FxHashSet::default();
    let mut mention = |s: &Sym| {
        if local.contains(s) {
            syms.insert(s.clone());
        }
    };
    let need = reaching(program, outs);
    for e in program
        .eqns()
        .iter()
        .filter(|e| e.results().any(|r| need[r.index()]))
    {
        for o in &e.operands {
            if let Operand::R(v) = o {
                wanted[v.index()] = true;
            }
        }
        if !local.is_empty() {
            e.results().for_each(|r| program.ty(r).syms(&mut mention));
            e.op.attr_syms(&mut mention);
        }
    }
    let mut recompute = vec![false; forward.eqns().len()];
    let fixed = constants(forward);
    for (i, e) in forward.eqns().iter().enumerate().rev() {
        let stays = |r: Val| {
            let mut local_extent = false;
            forward
                .ty(r)
                .syms(&mut |s| local_extent |= local.contains(s));
            saving == SavePolicy::Inputs || fixed[r.index()] || local_extent
        };
        if e.results().any(|r| wanted[r.index()] && stays(r))
            || e.op.binds().iter().any(|s| syms.contains(s))
        {
            recompute[i] = true;
            for &x in forward.operands(e) {
                wanted[x.index()] = true;
            }
            if !local.is_empty() {
                forward.eqn_syms(e, &mut |s| {
                    syms.insert(s.clone());
                });
            }
        }
    }
    let by_eqn = |v: Val| matches!(forward.def(v), Def::Eqn(i) if recompute[i]);
    let saved = forward
        .vals()
        .filter(|&v| wanted[v.index()] && !by_eqn(v))
        .collect();
    ResidualPlan { saved, recompute }
}

/// Mask of the values that are constants, or broadcasts of them.
fn constants(f: &Function) -> Vec<bool> {
    let mut fixed = vec![false; f.len()];
    for e in f.eqns() {
        let x = f.operands(e);
        let view = matches!(e.op, Op::BroadcastInDim(_) | Op::Reshape(_));
        if x.is_empty() || view && x.iter().all(|v| fixed[v.index()]) {
            e.results().for_each(|r| fixed[r.index()] = true);
        }
    }
    fixed
}

fn transpose_region(
    session: &Session,
    f: &Arc<Function>,
    linear: &[bool],
    ct: &[bool],
) -> Result<RegionTranspose> {
    let b = Builder::deriving(&format!("{}_t", f.name), session, &[f]);
    let args: Vec<Option<Val>> = f
        .params()
        .iter()
        .zip(linear)
        .map(|(&p, &l)| (!l).then(|| b.param(f.ty(p).clone(), None)))
        .collect();
    let cts: Vec<Option<Val>> = f
        .results()
        .iter()
        .zip(ct)
        .map(|(&r, &c)| c.then(|| b.param(f.ty(r).clone(), None)))
        .collect();
    let back = transpose_into(&b, f, linear, &args, &cts)?;
    let results: Vec<Val> = back.iter().flatten().copied().collect();
    Ok(RegionTranspose {
        func: Arc::new(b.finish(&results)?),
        out_nonzero: back.iter().map(Option::is_some).collect(),
    })
}
