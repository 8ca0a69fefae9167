//! Derivatives of `scan` and `while`: the derivative of a loop is a scan over the residuals of its
//! steps.
//!
//! ```text
//! c[i+1], y[i] = body(w, c[i], x[i])
//! dc[i+1], dy[i] = linear(r[i]; dw, dc[i], dx[i])
//! ```
//! A residual `r` that is an operand of the loop is passed directly. A residual that is the same in
//! every step is computed once, outside the loop. The others are stacked. The set of carries with a
//! tangent is a fixed point: a carry may become active only after several steps.

use super::Switch;
use super::body::{params, rewrap, spread};
use crate::array::Array;
use crate::bail;
use crate::error::{Code, Error, Result};
use crate::for_dtype;
use crate::ir::{
    Batched, Emit, Function, Jvp, Lin, Linearized, Lv, Operand, Primitive, Session, Val, Vals, Walk,
};
use crate::shape::{Dim, Env, Type};
use crate::transform::{RegionBatch, RegionLin, Residual, SavePolicy};
use std::sync::Arc;

/// Carries that the loop body returns unchanged: constants of programs whose loops have no
/// captures.
///
/// Derivatives treat them as constants: the cotangent of a constant is a sum over all steps, which
/// is compensated.
#[derive(Clone)]
pub(crate) struct FixedCarries {
    /// Number of constants, which precede the carries.
    pub consts: usize,
    pub fixed: Vec<bool>,
    pub count: usize,
}

impl FixedCarries {
    /// The fixed carries of a loop body, if it has both fixed and other carries.
    pub(super) fn of(body: &Function, consts: usize, carry: usize) -> Option<FixedCarries> {
        let fixed: Vec<bool> = (0..carry)
            .map(|k| body.results()[k] == body.params()[consts + k])
            .collect();
        let count = fixed.iter().filter(|f| **f).count();
        (0 < count && count < carry).then_some(FixedCarries {
            consts,
            fixed,
            count,
        })
    }

    /// Old positions of the new parameters: constants, fixed carries, other carries, the rest.
    fn order(&self, n: usize) -> Vec<usize> {
        let carries = |fixed: bool| {
            let kept = self
                .fixed
                .iter()
                .enumerate()
                .filter(move |(_, f)| **f == fixed);
            kept.map(|(k, _)| self.consts + k)
        };
        let rest = self.consts + self.fixed.len()..n;
        (0..self.consts)
            .chain(carries(true))
            .chain(carries(false))
            .chain(rest)
            .collect()
    }

    /// Operands in the order of the new parameters.
    pub(super) fn ordered<T: Clone>(&self, x: &[T]) -> Vec<T> {
        self.order(x.len())
            .into_iter()
            .map(|i| x[i].clone())
            .collect()
    }

    /// The body of the loop in which fixed carries are constants. With `carries` false, its
    /// condition.
    pub(super) fn constants(
        &self,
        session: &Session,
        f: &Arc<Function>,
        carries: bool,
    ) -> Result<Arc<Function>> {
        let types = f.param_types();
        rewrap(session, &f.name, &[f], |b| {
            let mut args = vec![Val::POISON; types.len()];
            for i in self.order(types.len()) {
                args[i] = b.param(types[i].clone(), None);
            }
            let y = (b as &dyn Emit).inline(f, &args);
            let kept = |k: usize| !carries || !self.fixed.get(k).is_some_and(|f| *f);
            y.into_iter()
                .enumerate()
                .filter(|(k, _)| kept(*k))
                .map(|(_, v)| v)
                .collect()
        })
    }

    /// The results of the original loop from those of the new one. `x` and `t` are operands of the
    /// body and their tangents.
    pub(super) fn results(&self, (y, dy): Linearized, x: &[Val], t: &[Option<Lv>]) -> Linearized {
        let (mut y, mut dy) = (y.into_iter(), dy.into_iter());
        let (mut all, mut tangents) = (Vals::new(), Vec::new());
        for (k, fixed) in self.fixed.iter().enumerate() {
            if *fixed {
                all.push(x[self.consts + k]);
                tangents.push(t[self.consts + k]);
            } else {
                all.extend(y.next());
                tangents.extend(dy.next());
            }
        }
        all.extend(y);
        tangents.extend(dy);
        (all, tangents)
    }
}

/// A linearized loop body: `consts.., carry.., x.. -> carry.., y..`.
pub(crate) struct LoopLin {
    lin: Arc<RegionLin>,
    consts: usize,
    /// Operands for the parameters of the body.
    x: Vec<Val>,
    /// Mask of the operands that have a tangent.
    active: Vec<bool>,
    /// Mask of the carries that have a tangent.
    carry: Vec<bool>,
    /// The source of each residual of the linear body.
    places: Vec<ResidualSource>,
    /// The forward body, which returns the stacked residuals after its own results.
    pub forward: Arc<Function>,
}

#[derive(Clone, Copy)]
enum ResidualSource {
    /// A loop constant.
    Const(Val),
    /// Sliced from an operand.
    Xs(Val),
    /// Sliced from the result at this position that the forward loop stacked.
    Stack(usize),
}

impl LoopLin {
    /// Linearizes the body for operands `x` (consts, init, xs), of which `active` have a tangent.
    pub(super) fn new(
        cx: &dyn Emit,
        body: &Arc<Function>,
        consts: usize,
        carry: usize,
        x: &[Val],
        mut active: Vec<bool>,
    ) -> Result<LoopLin> {
        let mut saving = SavePolicy::Residuals;
        let lin = loop {
            let lin = (cx.session()).linearize_region(body, &active, saving)?;
            if let Some(ty) = opaque_stack(&lin, consts, carry) {
                if saving == SavePolicy::Inputs {
                    return Err(cannot_stack(&ty));
                }
                // The values that cannot be stacked are computed again.
                saving = SavePolicy::Inputs;
                continue;
            }
            let late: Vec<usize> = (0..carry)
                .filter(|&k| lin.out_active[k] && !active[consts + k])
                .collect();
            if late.is_empty() {
                break lin;
            }
            late.into_iter().for_each(|k| active[consts + k] = true);
        };
        let f = &lin.forward;
        let n = lin.out_active.len();
        let fixed = fixed_values(f, consts);
        let mut results = f.results()[..n].to_vec();
        let mut hoisted = Vec::new();
        let mut places = Vec::new();
        for r in &lin.residuals {
            let v = lin.residual(r);
            places.push(match *r {
                Residual::Param(i) if i < consts => ResidualSource::Const(x[i]),
                Residual::Param(i) if i >= consts + carry => ResidualSource::Xs(x[i]),
                Residual::Extra(_) if fixed[v.index()] => {
                    hoisted.push(v);
                    ResidualSource::Const(Val::POISON)
                }
                _ => {
                    results.push(v);
                    ResidualSource::Stack(results.len() - 1 - n)
                }
            });
        }
        let mut hoisted = inline_values(cx, f, x, &hoisted).into_iter();
        for p in &mut places {
            if let ResidualSource::Const(v) = p
                && *v == Val::POISON
            {
                *v = hoisted.next().unwrap_or(Val::POISON);
            }
        }
        let same = results == f.results();
        let forward = if same {
            f.clone()
        } else {
            Arc::new((**f).clone().with_results(&results))
        };
        let carry = active[consts..consts + carry].to_vec();
        Ok(LoopLin {
            lin,
            consts,
            x: x.to_vec(),
            active,
            carry,
            places,
            forward,
        })
    }

    /// Whether any result has a tangent.
    pub(super) fn moves(&self) -> bool {
        self.carry.contains(&true) || self.lin.out_active.contains(&true)
    }

    /// Writes the linear loop. Returns the tangents of carries and ys. `stacks` are the stacked
    /// residuals of the forward loop. Steps where `alive` is false do nothing.
    pub(super) fn linear(
        &self,
        cx: &Lin<'_>,
        length: &Dim,
        reverse: bool,
        stacks: &[Val],
        alive: Option<Val>,
        t: &[Option<Lv>],
    ) -> Result<Vec<Option<Lv>>> {
        let (nr, nk) = (self.places.len(), self.carry.len());
        let tangent: Vec<usize> = (0..self.active.len()).filter(|&i| self.active[i]).collect();
        // Parameters of the linear body, by their position in `lin.linear`, in the order of a scan.
        let (mut consts, mut carry, mut xs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut const_args, mut carry_args, mut xs_args) = (Vec::new(), Vec::new(), Vec::new());
        for (i, p) in self.places.iter().enumerate() {
            let (to, args, v) = match *p {
                ResidualSource::Const(v) => (&mut consts, &mut const_args, v),
                ResidualSource::Xs(v) => (&mut xs, &mut xs_args, v),
                ResidualSource::Stack(s) => (&mut xs, &mut xs_args, stacks[s]),
            };
            to.push(i);
            args.push(Operand::R(v));
        }
        let residual_xs = xs.len();
        xs_args.extend(alive.map(Operand::R));
        for (k, &i) in tangent.iter().enumerate() {
            let (to, args) = if i < self.consts {
                (&mut consts, &mut const_args)
            } else if i < self.consts + nk {
                (&mut carry, &mut carry_args)
            } else {
                (&mut xs, &mut xs_args)
            };
            to.push(nr + k);
            args.push(Operand::L(cx.or_zeros(t[i], self.x[i])));
        }
        let order = [&consts[..], &carry, &xs].concat();
        let step = self.step(cx.session(), &order)?;
        let body = match alive {
            None => step,
            Some(_) => guarded(
                cx.session(),
                &step,
                consts.len(),
                carry.len(),
                consts.len() + carry.len() + residual_xs,
            )?,
        };
        let operands = [const_args, carry_args, xs_args].concat();
        let y = cx.linear_scan(body, length, reverse, consts.len(), carry.len(), &operands);
        let out: Vec<bool> = self
            .carry
            .iter()
            .chain(&self.lin.out_active[nk..])
            .copied()
            .collect();
        Ok(spread(&out, &y))
    }

    /// One linear step: parameters of `lin.linear` in this order -> tangents of the active carries
    /// and ys.
    fn step(&self, session: &Session, order: &[usize]) -> Result<Arc<Function>> {
        let f = &self.lin.linear;
        let types = f.param_types();
        rewrap(session, &f.name, &[f], |b| {
            let mut args = vec![Val::POISON; types.len()];
            for &i in order {
                args[i] = b.param(types[i].clone(), None);
            }
            let cx: &dyn Emit = b;
            let dy = spread(&self.lin.out_active, &cx.inline(f, &args));
            let (carry, ys) = dy.split_at(self.carry.len());
            let carry = carry
                .iter()
                .enumerate()
                .filter(|(k, _)| self.carry[*k])
                .map(|(k, dy)| {
                    dy.unwrap_or_else(|| {
                        let carry = self.forward.params()[self.consts + k];
                        cx.zeros(&self.forward.ty(carry).tangent())
                    })
                });
            carry.chain(ys.iter().flatten().copied()).collect()
        })
    }
}

/// A loop body in forward mode:
/// `consts.., dconsts.., carry.., dcarry.., x.., dx.. -> carry.., dcarry.., y.., dy..`.
pub(crate) struct LoopJvp {
    pub body: Arc<Function>,
    /// Mask of the parameters of the original body that have a tangent.
    active: Vec<bool>,
    /// Mask of the results that have a tangent.
    out: Vec<bool>,
    consts: usize,
    carry: usize,
}

impl LoopJvp {
    pub(super) fn new(
        session: &Session,
        body: &Arc<Function>,
        consts: usize,
        carry: usize,
        mut active: Vec<bool>,
    ) -> Result<LoopJvp> {
        let jvp = loop {
            let jvp = session.jvp_region(body, &active)?;
            let late: Vec<usize> = (0..carry)
                .filter(|&k| jvp.out_active[k] && !active[consts + k])
                .collect();
            if late.is_empty() {
                break jvp;
            }
            late.into_iter().for_each(|k| active[consts + k] = true);
        };
        let n = jvp.out_active.len();
        let out: Vec<bool> = active[consts..consts + carry]
            .iter()
            .chain(&jvp.out_active[carry..])
            .copied()
            .collect();
        let types = body.param_types();
        let wrapped = rewrap(session, &jvp.func.name, &[&jvp.func], |b| {
            let (mut x, mut t) = (Vec::new(), Vec::new());
            for part in [
                0..consts,
                consts..consts + carry,
                consts + carry..types.len(),
            ] {
                x.extend(params(b, &types[part.clone()]));
                let moving: Vec<Type> = part
                    .filter(|&i| active[i])
                    .map(|i| types[i].tangent())
                    .collect();
                t.extend(params(b, &moving));
            }
            let cx: &dyn Emit = b;
            let y = cx.inline(&jvp.func, &[x, t].concat());
            let dy = spread(&jvp.out_active, &y[n..]);
            let zero = |k: usize| cx.zeros(&body.ty(body.results()[k]).tangent());
            let dy = |k: usize| dy[k].unwrap_or_else(|| zero(k));
            let moving =
                |part: std::ops::Range<usize>| part.filter(|&k| out[k]).map(dy).collect::<Vec<_>>();
            [
                &y[..carry],
                &moving(0..carry),
                &y[carry..n],
                &moving(carry..n),
            ]
            .concat()
        })?;
        Ok(LoopJvp {
            body: wrapped,
            active,
            out,
            consts,
            carry,
        })
    }

    /// Numbers of constants and of carries that have a tangent.
    pub(super) fn moving(&self) -> (usize, usize) {
        let count = |m: &[bool]| m.iter().filter(|a| **a).count();
        (
            count(&self.active[..self.consts]),
            count(&self.out[..self.carry]),
        )
    }

    /// Operands in the order of the parameters, from those of the original body and their tangents.
    pub(super) fn operands(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Vec<Val> {
        let mut all = Vec::new();
        for part in [
            0..self.consts,
            self.consts..self.consts + self.carry,
            self.consts + self.carry..x.len(),
        ] {
            all.extend_from_slice(&x[part.clone()]);
            let moving = part.filter(|&i| self.active[i]);
            let zero = |i: usize| cx.zeros(&cx.ty(x[i]).tangent());
            all.extend(moving.map(|i| t[i].unwrap_or_else(|| zero(i))));
        }
        all
    }

    /// Results of the original body, and their tangents, from the results of the loop.
    pub(super) fn split(&self, y: &[Val]) -> Jvp {
        let (nk, n) = (self.carry, self.out.len());
        let moving = self.moving().1;
        let (carry, ys) = y.split_at(nk + moving);
        let (ys, dys) = ys.split_at(n - nk);
        let dy = spread(&self.out, &[&carry[nk..], dys].concat());
        (carry[..nk].iter().chain(ys).copied().collect(), dy)
    }
}

/// `step` with a boolean parameter at `at`. If it is false, carries keep their values and ys are
/// zero.
fn guarded(
    session: &Session,
    step: &Arc<Function>,
    consts: usize,
    carry: usize,
    at: usize,
) -> Result<Arc<Function>> {
    let types = step.param_types();
    let idle = rewrap(session, "idle", &[step], |b| {
        let x = params(b, &types);
        let cx: &dyn Emit = b;
        let ys = step.result_types().split_off(carry);
        x[consts..consts + carry]
            .iter()
            .copied()
            .chain(ys.iter().map(|t| cx.zeros(t)))
            .collect()
    })?;
    rewrap(session, &step.name, &[step], |b| {
        let mut x = params(b, &types[..at]);
        let alive = b.param(Type::scalar(crate::DType::Bool), Some("alive"));
        x.extend(params(b, &types[at..]));
        x.insert(0, alive);
        let op = Switch {
            branches: vec![idle, step.clone()],
            boolean: true,
        };
        b.emit(op.into(), &x).to_vec()
    })
}

/// The opaque type of a residual that would be stacked, if there is one.
fn opaque_stack(lin: &RegionLin, consts: usize, carry: usize) -> Option<Type> {
    let f = &lin.forward;
    let opaque = |r: &&Residual| f.ty(lin.residual(r)).dtype.opaque().is_some();
    let mut all = lin.residuals.iter().filter(opaque).peekable();
    all.peek()?;
    let fixed = fixed_values(f, consts);
    let stacked = all.find(|r| match **r {
        Residual::Param(i) => (consts..consts + carry).contains(&i),
        Residual::Extra(_) => !fixed[lin.residual(r).index()],
    })?;
    Some(f.ty(lin.residual(stacked)).clone())
}

/// The error of a loop whose derivative must store a value of an opaque type per step.
fn cannot_stack(ty: &Type) -> Error {
    let text = format!(
        "the derivative of a loop needs the carry of type {ty} of every step, and values of opaque \
         types cannot be stacked; pass it as a constant of the loop, use forward mode, or unroll \
         the loop"
    );
    Error::new(Code::Limit, text)
}

/// Mask of the values of a body that depend only on its first parameters, and are not parameters.
fn fixed_values(f: &Function, consts: usize) -> Vec<bool> {
    let mut fixed = vec![false; f.len()];
    for p in &f.params()[..consts] {
        fixed[p.index()] = true;
    }
    for e in f.eqns() {
        let all = f.operands(e).iter().all(|v| fixed[v.index()]);
        e.results().for_each(|r| fixed[r.index()] = all);
    }
    fixed
}

/// Writes the equations that these values of `f` need. Returns the values.
pub(super) fn inline_values(cx: &dyn Emit, f: &Function, args: &[Val], values: &[Val]) -> Vec<Val> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut walk = Walk::copying(f).only(f.computing_alone(values)).renaming();
    walk.set_params(args.iter().copied());
    walk.copy(cx);
    values.iter().map(|&v| walk.image(v)).collect()
}

/// Batches a loop body. Carries that become mapped in some step are mapped from the start.
pub(crate) fn batch_body(
    session: &Session,
    body: &Arc<Function>,
    consts: usize,
    carry: usize,
    mapped: &mut [bool],
    size: &Dim,
) -> Result<Arc<RegionBatch>> {
    loop {
        let mut force = vec![false; body.results().len()];
        force[..carry].copy_from_slice(&mapped[consts..consts + carry]);
        let b = session.batch_region(body, mapped, &force, size)?;
        if b.out_mapped[..carry] == mapped[consts..consts + carry] {
            return Ok(b);
        }
        mapped[consts..consts + carry].copy_from_slice(&b.out_mapped[..carry]);
    }
}

/// The value with axes 0 and 1 swapped: between `[batch, step, ..]` and `[step, batch, ..]`.
pub(crate) fn swap(cx: &dyn Emit, x: Batched) -> Val {
    if !x.mapped {
        return x.val;
    }
    let mut perm: Vec<usize> = (0..cx.ty(x.val).rank()).collect();
    if perm.len() > 1 {
        perm.swap(0, 1);
    }
    cx.transpose(x.val, &perm)
}

/// Checks that the carries that a body returns have the types of those it takes.
pub(crate) fn check_carries(
    op: &dyn Primitive,
    body: &Function,
    consts: usize,
    carry: usize,
) -> Result<()> {
    if body.params().len() < consts + carry || body.results().len() < carry {
        bail!(
            Arity,
            "the body of `{}` takes {} and returns {} values: too few for {consts} constants and {carry} carries",
            op.name(),
            body.params().len(),
            body.results().len()
        );
    }
    for k in 0..carry {
        let (from, to) = (
            body.ty(body.params()[consts + k]),
            body.ty(body.results()[k]),
        );
        if from.differs(to) {
            bail!(
                CarryMismatch,
                "carry {k} of `{}` is {from} but the body returns {to}: a carry keeps its type; convert or reshape it",
                op.name()
            );
        }
    }
    Ok(())
}

/// `x[i]` along the first axis.
pub(crate) fn row(x: &Array, i: usize) -> Result<Array> {
    let shape = &x.shape()[1..];
    let n: usize = shape.iter().product();
    for_dtype!(x.dtype(), T => {
        let all = x.as_slice::<T>().unwrap_or(&[]);
        Array::from_vec(shape, all[i * n..(i + 1) * n].to_vec())
    })
}

/// Stacks arrays of one type along a new first axis. `ty` is the type of each array, also if there
/// are none.
pub(crate) fn stack(rows: &[Array], ty: &Type, env: &Env) -> Result<Array> {
    let shape = match rows.first() {
        Some(r) => r.shape().to_vec(),
        None => ty.shape.eval(env)?,
    };
    if let Some(r) = rows.iter().find(|r| r.shape() != shape) {
        bail!(
            ShapeMismatch,
            "steps of a loop gave {} and an array of shape {shape:?}",
            r.ty()
        );
    }
    for_dtype!(ty.dtype, T => {
        let all: Vec<T> = rows.iter().flat_map(|r| r.as_slice::<T>().unwrap_or(&[])).copied().collect();
        Array::from_vec([&[rows.len()], &shape[..]].concat(), all)
    })
}
