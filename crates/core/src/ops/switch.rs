//! `cond` and `switch`: one of several regions, chosen at run time.
//!
//! ```text
//! y = branch[i](x)  =>  (y, r) = forward[i](x),  dy = linear[i](r; dx)
//! ```
//! All branches return the same types, so the residuals of all branches share slots: a branch fills
//! its slots and sets the others to zero. Slots of equal type are shared. `switch` clamps an index
//! out of range to the nearest branch. `cond` takes a boolean; its branches are in the order false,
//! true.

use super::Comparison;
use super::body::{
    RegionFn, check_operands, check_results, mask, or, params, residual_params, rewrap,
    sample_function, show_types, some, spread,
};
use super::entry::{Entry, Spelled};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Class, Cost, Emit, Function, Jvp, Lin, Linearized, Lv, Narrow, Op,
    Operand, Primitive, Sample, Session, Val, Vals,
};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use crate::transform::{RegionLin, Residual, SavePolicy};
use std::sync::Arc;

/// `branches[index](operands)`. The first operand is the index, a scalar.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The branches; for `cond` the one for false, then the one for true.
    pub branches: Vec<Arc<Function>>,
    /// Whether the index is a boolean (`cond`).
    pub boolean: bool,
}

impl Switch {
    fn of(&self, branches: Vec<Arc<Function>>) -> Op {
        Switch {
            branches,
            boolean: self.boolean,
        }
        .into()
    }

    fn choose(&self, index: &Array) -> usize {
        match index.wide() {
            Wide::I(v) => v[0].clamp(0, self.branches.len() as i128 - 1) as usize,
            _ => 0,
        }
    }
}

impl Primitive for Switch {
    fn name(&self) -> &str {
        if self.boolean { "cond" } else { "switch" }
    }

    fn attrs(&self) -> Attrs {
        match &self.branches[..] {
            [no, yes] if self.boolean => Attrs::default()
                .with("then", yes.clone())
                .with("else", no.clone()),
            b => Attrs::default().with("branches", b),
        }
    }

    fn results(&self) -> usize {
        self.branches.first().map_or(0, |b| b.results().len())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let (Some(index), Some(first)) = (x.first(), self.branches.first()) else {
            bail!(
                Arity,
                "`{}` needs an index and at least one branch",
                self.name()
            );
        };
        let kind = if self.boolean { Kind::Bool } else { Kind::Int };
        if index.rank() != 0 || index.dtype.kind() != kind {
            let want = if self.boolean {
                "a boolean"
            } else {
                "an integer"
            };
            bail!(
                DTypeMismatch,
                "`{}` chooses by {want} of rank 0, got {index}; reduce or convert it",
                self.name()
            );
        }
        if self.boolean && self.branches.len() != 2 {
            bail!(
                Attribute,
                "`cond` has two branches, not {}",
                self.branches.len()
            );
        }
        let y = first.result_types();
        for (k, b) in self.branches.iter().enumerate() {
            check_operands(self, &format!("branch {k}"), b, &x[1..])?;
            check_results(self, &format!("branch {k}"), b)?;
            let t = b.result_types();
            if t.len() != y.len() || t.iter().zip(&y).any(|(a, b)| a.differs(b)) {
                bail!(
                    BranchMismatch,
                    "branch {k} returns {} but branch 0 returns {}",
                    show_types(&t),
                    show_types(&y)
                );
            }
        }
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let k = self.choose(&x[0]);
        let y = reference::run_body(&self.branches[k], &x[1..], env)?;
        for (y, t) in y.iter().zip(self.branches[0].result_types()) {
            if t.shape.eval(env).is_ok_and(|s| s != y.shape()) {
                bail!(
                    BranchMismatch,
                    "branch {k} returned {} but branch 0 returns {t}",
                    y.ty()
                );
            }
        }
        Ok(y)
    }

    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        let mut all = self.branches.iter().map(|b| b.classes(&x[1..]));
        let first = all.next()??;
        all.try_fold(first, |a, b| Class::join_all(&a, &b?))
            .filter(|_| x[0] == Class::Ordinary)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && self.branches.iter().all(|b| b.linear_in(&mask[1..]))
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let session = cx.session();
        let active = mask(&t[1..]);
        let lins: Vec<Arc<RegionLin>> = self
            .branches
            .iter()
            .map(|b| linearized(session, b, &active))
            .collect::<Result<_>>()?;
        let n = self.results();
        let out = lins
            .iter()
            .fold(vec![false; n], |a, l| or(&a, &l.out_active));
        let slots = ResidualSlots::new(&lins);
        let forward = lins
            .iter()
            .zip(&slots.of_extra)
            .map(|(l, of)| slots.forward(session, l, of))
            .collect::<Result<Vec<_>>>()?;
        let y = cx.emit().emit(self.of(forward), x);
        if !out.contains(&true) {
            return Ok((Vals::from_slice(&y[..n]), vec![None; n]));
        }
        let saved = residual_params(lins.iter().flat_map(|l| &l.residuals));
        let linear = lins
            .iter()
            .zip(&slots.of_extra)
            .map(|(l, of)| slots.linear(session, l, of, &saved, &active, &out))
            .collect::<Result<Vec<_>>>()?;
        let r = [x[0]]
            .into_iter()
            .chain(saved.iter().map(|&i| x[1 + i]))
            .chain(y[n..].iter().copied());
        let operands: Vec<Operand> = r
            .map(Operand::R)
            .chain(some(t).into_iter().map(Operand::L))
            .collect();
        let dy = cx.apply(self.of(linear), &operands);
        Ok((Vals::from_slice(&y[..n]), spread(&out, &dy)))
    }

    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        Some(self.forward(cx, x, t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let session = cx.session();
        let linear: Vec<bool> = x[1..].iter().map(Arg::is_linear).collect();
        let back = self
            .branches
            .iter()
            .map(|b| session.transpose_region(b, &linear, &mask(ct)))
            .collect::<Result<Vec<_>>>()?;
        let k = linear.iter().filter(|l| **l).count();
        let out = back
            .iter()
            .fold(vec![false; k], |a, b| or(&a, &b.out_nonzero));
        let types: Vec<Type> = x[1..]
            .iter()
            .filter(|a| a.is_linear())
            .map(|a| a.ty(cx))
            .collect();
        let branches = back
            .iter()
            .map(|b| padded(session, &b.func, 0, &b.out_nonzero, &out, &types))
            .collect::<Result<Vec<_>>>()?;
        let operands: Vec<Val> = x.iter().filter_map(Arg::val).chain(some(ct)).collect();
        let y = if out.contains(&true) {
            cx.emit(self.of(branches), &operands)
        } else {
            Vals::new()
        };
        let mut y = spread(&out, &y).into_iter();
        Ok(x.iter()
            .map(|a| {
                if a.is_linear() {
                    y.next().flatten()
                } else {
                    None
                }
            })
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let session = cx.session();
        let mapped: Vec<bool> = x[1..].iter().map(|b| b.mapped).collect();
        let batched = |force: &[bool]| {
            self.branches
                .iter()
                .map(|b| session.batch_region(b, &mapped, force, size))
                .collect::<Result<Vec<_>>>()
        };
        let mut force = vec![x[0].mapped; self.results()];
        let mut branches = batched(&force)?;
        force = branches.iter().fold(force, |a, b| or(&a, &b.out_mapped));
        branches = batched(&force)?;
        let args: Vec<Val> = x.iter().map(|b| b.val).collect();
        let vals = if x[0].mapped {
            self.choose_each(
                cx,
                size,
                &branches.iter().map(|b| b.func.clone()).collect::<Vec<_>>(),
                &args,
            )
        } else {
            cx.emit(
                self.of(branches.into_iter().map(|b| b.func.clone()).collect()),
                &args,
            )
            .to_vec()
        };
        Ok(vals
            .into_iter()
            .zip(force)
            .map(|(val, mapped)| Batched { val, mapped })
            .collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        let worst = |a: Cost, b: Cost| Cost {
            flops: a.flops.max(b.flops),
            bytes: a.bytes.max(b.bytes),
        };
        self.branches
            .iter()
            .map(|b| b.cost())
            .fold(Cost::default(), worst)
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        self.branches.iter().collect()
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        vec![x.get(1..).map(<[Type]>::to_vec); self.branches.len()]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        self.of(regions.to_vec())
    }

    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        Some((
            self.of(self.branches.iter().map(|b| narrow(b, used)).collect()),
            used.to_vec(),
        ))
    }
}

impl Switch {
    fn forward(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Result<Jvp> {
        let session = cx.session();
        let active = mask(&t[1..]);
        let bodies = self
            .branches
            .iter()
            .map(|b| session.jvp_region(b, &active))
            .collect::<Result<Vec<_>>>()?;
        let n = self.results();
        let out = bodies
            .iter()
            .fold(vec![false; n], |a, b| or(&a, &b.out_active));
        let types: Vec<Type> = (self.branches[0].result_types().iter())
            .map(Type::tangent)
            .collect();
        let branches = bodies
            .iter()
            .map(|b| padded(session, &b.func, n, &b.out_active, &out, &types))
            .collect::<Result<Vec<_>>>()?;
        let y = cx.emit(self.of(branches), &[x, &some(t)].concat());
        Ok((Vals::from_slice(&y[..n]), spread(&out, &y[n..])))
    }

    /// Evaluates every branch on the whole batch, then selects per batch element.
    fn choose_each(
        &self,
        cx: &dyn Emit,
        size: &Dim,
        branches: &[Arc<Function>],
        x: &[Val],
    ) -> Vec<Val> {
        let index = x[0];
        let mut y: Option<Vec<Val>> = None;
        for (k, b) in branches.iter().enumerate().rev() {
            let this = cx.call(b, &x[1..]);
            let Some(other) = y else {
                y = Some(this);
                continue;
            };
            let here = if self.boolean {
                // The last branch is chosen where the predicate is true.
                cx.compare(index, Comparison::Eq, cx.full_like(index, false))
            } else {
                cx.compare(index, Comparison::Le, cx.full_like(index, k as i64))
            };
            debug_assert!(cx.failed() || cx.ty(here).shape[0].same(size) != Some(false));
            let pick = |(a, b): (&Val, Val)| {
                let p = cx.broadcast_in_dim(here, &cx.ty(*a).shape, &[0]);
                cx.select(p, *a, b)
            };
            y = Some(this.iter().zip(other).map(pick).collect());
        }
        y.unwrap_or_default()
    }
}

/// A linearized branch. It saves its parameters alone if a residual has no zero, which the other
/// branches return in its place.
fn linearized(session: &Session, f: &Arc<Function>, active: &[bool]) -> Result<Arc<RegionLin>> {
    let lin = session.linearize_region(f, active, SavePolicy::Residuals)?;
    match lin.extra_types().iter().all(Type::has_zero) {
        true => Ok(lin),
        false => session.linearize_region(f, active, SavePolicy::Inputs),
    }
}

/// A branch whose results from `first` on are the `wanted` ones: those that it `has`, and zeros for
/// the others.
fn padded(
    session: &Session,
    f: &Arc<Function>,
    first: usize,
    has: &[bool],
    wanted: &[bool],
    types: &[Type],
) -> Result<Arc<Function>> {
    if has == wanted {
        return Ok(f.clone());
    }
    rewrap(session, &f.name, &[f], |b| {
        let x = params(b, &f.param_types());
        let cx: &dyn Emit = b;
        let mut y = cx.inline(f, &x);
        let have = spread(has, &y.split_off(first));
        let rest = have.into_iter().zip(types).zip(wanted).filter(|(_, w)| **w);
        y.extend(rest.map(|((v, t), _)| v.unwrap_or_else(|| cx.zeros(t))));
        y
    })
}

/// The slots of the residuals of all branches.
struct ResidualSlots {
    types: Vec<Type>,
    /// Per branch, the slot of each extra result.
    of_extra: Vec<Vec<usize>>,
}

impl ResidualSlots {
    fn new(lins: &[Arc<RegionLin>]) -> ResidualSlots {
        let mut types: Vec<Type> = Vec::new();
        let of_extra = lins
            .iter()
            .map(|l| {
                let mut used = vec![false; types.len()];
                l.extra_types()
                    .into_iter()
                    .map(|t| {
                        let free = (0..types.len()).find(|&k| !used[k] && types[k] == t);
                        let k = free.unwrap_or_else(|| {
                            types.push(t);
                            used.push(false);
                            types.len() - 1
                        });
                        used[k] = true;
                        k
                    })
                    .collect()
            })
            .collect();
        ResidualSlots { types, of_extra }
    }

    /// The forward branch: its results, then all slots.
    fn forward(
        &self,
        session: &Session,
        lin: &RegionLin,
        of_extra: &[usize],
    ) -> Result<Arc<Function>> {
        let f = &lin.forward;
        if of_extra.iter().copied().eq(0..self.types.len()) {
            return Ok(f.clone());
        }
        rewrap(session, &f.name, &[f], |b| {
            let x = f
                .params()
                .iter()
                .map(|&p| b.param(f.ty(p).clone(), f.name_of(p).map(|n| &**n)))
                .collect::<Vec<_>>();
            let cx: &dyn Emit = b;
            let mut y = cx.inline(f, &x);
            let extra = y.split_off(lin.out_active.len());
            y.extend(self.types.iter().enumerate().map(|(k, t)| {
                match of_extra.iter().position(|&s| s == k) {
                    Some(j) => extra[j],
                    None => cx.zeros(t),
                }
            }));
            y
        })
    }

    /// The linear branch: saved parameters, all slots, tangents -> tangents of the results that
    /// have a tangent in any branch.
    fn linear(
        &self,
        session: &Session,
        lin: &RegionLin,
        of_extra: &[usize],
        saved: &[usize],
        active: &[bool],
        out: &[bool],
    ) -> Result<Arc<Function>> {
        let types = lin.forward.param_types();
        let outs = lin.forward.result_types();
        rewrap(session, &lin.linear.name, &[&lin.linear], |b| {
            let p = params(
                b,
                &saved.iter().map(|&i| types[i].clone()).collect::<Vec<_>>(),
            );
            let slots = params(b, &self.types);
            let t: Vec<Type> = types
                .iter()
                .zip(active)
                .filter(|(_, a)| **a)
                .map(|(t, _)| t.tangent())
                .collect();
            let t = params(b, &t);
            let cx: &dyn Emit = b;
            let r = lin.residuals.iter().map(|r| match *r {
                Residual::Param(i) => {
                    p[saved
                        .iter()
                        .position(|&s| s == i)
                        .expect("collected from all branches")]
                }
                Residual::Extra(j) => slots[of_extra[j]],
            });
            let args: Vec<Val> = r.chain(t).collect();
            let dy = spread(&lin.out_active, &cx.inline(&lin.linear, &args));
            let wanted = dy.into_iter().zip(&outs).zip(out).filter(|(_, o)| **o);
            wanted
                .map(|((dy, t), _)| dy.unwrap_or_else(|| cx.zeros(&t.tangent())))
                .collect()
        })
    }
}

impl dyn Emit + '_ {
    /// `yes(x)` if `p`, a scalar boolean, is true, else `no(x)`. Both return the same types.
    pub fn cond(
        &self,
        p: Val,
        x: &[Val],
        yes: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
        no: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        let types = self.types(x);
        let (yes, no) = (
            self.body("then", &types, yes),
            self.body("else", &types, no),
        );
        let operands: Vec<Val> = [p].iter().chain(x).copied().collect();
        match (yes.func, no.func) {
            (Some(yes), Some(no)) => self
                .emit(
                    Switch {
                        branches: vec![no, yes],
                        boolean: true,
                    }
                    .into(),
                    &operands,
                )
                .to_vec(),
            _ => vec![Val::POISON; yes.results],
        }
    }

    /// `branches[index](x)`. An index out of range is clamped. All branches return the same types.
    pub fn switch(&self, index: Val, x: &[Val], branches: &[&RegionFn<'_>]) -> Vec<Val> {
        let types = self.types(x);
        let bodies: Vec<_> = branches
            .iter()
            .enumerate()
            .map(|(k, f)| self.body(&format!("branch{k}"), &types, f))
            .collect();
        let results = bodies.first().map_or(0, |b| b.results);
        let operands: Vec<Val> = [index].iter().chain(x).copied().collect();
        match bodies
            .into_iter()
            .map(|b| b.func)
            .collect::<Option<Vec<_>>>()
        {
            Some(branches) => self
                .emit(
                    Switch {
                        branches,
                        boolean: false,
                    }
                    .into(),
                    &operands,
                )
                .to_vec(),
            None => vec![Val::POISON; results],
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(if s.name == "cond" {
        let yes = s.attrs.get("then")?;
        Switch {
            branches: vec![s.attrs.get("else")?, yes],
            boolean: true,
        }
        .into()
    } else {
        Switch {
            branches: s.attrs.get("branches")?,
            boolean: false,
        }
        .into()
    })
}

fn samples(name: &str) -> Vec<Sample> {
    let make = |types: &[Type], branches: &[&RegionFn<'_>]| {
        let branches = branches.iter();
        Switch {
            branches: branches
                .map(|write| sample_function("branch", types, write))
                .collect(),
            boolean: name == "cond",
        }
    };
    let index = |k: i64| {
        if name == "cond" {
            Array::scalar(k != 0)
        } else {
            Array::scalar(k)
        }
    };
    let real = vec![Type::new(DType::F64, [2]); 2];
    let complex = vec![Type::new(DType::C128, [2]); 2];
    let (x, y) = (
        Array::vector(vec![0.4f64, -0.7]),
        Array::vector(vec![1.5f64, 0.3]),
    );
    let z = Array::vector(vec![
        crate::C128::new(0.4, 0.2),
        crate::C128::new(-0.3, 1.1),
    ]);
    // Branches with different residuals. A result has a tangent in one branch only.
    let a: &RegionFn<'_> = &|cx, x| vec![cx.mul(x[0], cx.exp(x[1])), cx.full_like(x[0], 2.0)];
    let b: &RegionFn<'_> = &|cx, x| vec![x[0], cx.sin(cx.mul(x[1], x[1]))];
    let mut out = Vec::new();
    for k in [0, 1] {
        out.push(Sample::new(
            make(&real, &[a, b]),
            vec![index(k), x.clone(), y.clone()],
        ));
        out.push(Sample::new(
            make(&complex, &[b, a]),
            vec![index(k), z.clone(), z.clone()],
        ));
    }
    if name == "switch" {
        for k in [-3i32, 2, 7] {
            let c: &RegionFn<'_> = &|cx, x| vec![cx.neg(x[1]), cx.cos(x[0])];
            out.push(Sample::new(
                make(&real, &[a, b, c]),
                vec![Array::scalar(k), x.clone(), y.clone()],
            ));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "cond",
            doc: "Applies one of two regions, chosen by a scalar boolean; both return the same types.",
            parse,
            samples,
        },
        Entry {
            name: "switch",
            doc: "Applies one of several regions, chosen by a scalar index, which is clamped; all return the same types.",
            parse,
            samples,
        },
    ]
}
