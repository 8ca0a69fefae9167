//! `while`: a loop with a data-dependent number of steps; `fori`: a counted loop.
//!
//! ```text
//! while cond(w, c) { c, r = body(v, c) }      ->  c                      plain
//!                                             ->  c, r stacked, alive    saving
//! ```
//! The saving form stacks the results of each step after its carries. It binds a symbol to the
//! number of steps, and returns `alive`, one boolean per step, which is true. The derivative of
//! both forms is a scan of that length over the stacks. So it exists in forward and reverse mode,
//! at any order, and for nested loops.
//!
//! XLA has no arrays of unknown length: there the stacks have `bound` rows.
//!
//! In a batch, the loop runs until every element is done. A finished element keeps its carries; its
//! stacked values are undefined and `alive` is false. Steps of the linear scan do nothing there.

use super::body::{RegionFn, check_operands, check_results, mask, params, rewrap, sample_function};
use super::entry::{Entry, Spelled};
use super::loops::{FixedCarries, LoopJvp, LoopLin, batch_body, check_carries, stack, swap};
use super::support::bytes;
use super::{Call, Checkpoint, Comparison, Loops, Reduction};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attr, Attrs, Batched, Class, Cost, Emit, Function, Jvp, Lin, Linearized, Lv, Narrow, Op,
    Primitive, Sample, Session, Val, no_rule,
};
use crate::reference;
use crate::shape::{Dim, Env, Sym, Type};
use std::sync::Arc;

/// A loop that runs while a condition holds. Operands: constants of the condition, of the body,
/// then carries.
#[derive(Clone, Debug)]
pub struct While {
    /// `constants.., carries.. -> boolean`.
    pub cond: Arc<Function>,
    /// `constants.., carries.. -> carries.., stacked values..`.
    pub body: Arc<Function>,
    /// Number of constants of the condition.
    pub cond_consts: usize,
    /// Number of constants of the body.
    pub body_consts: usize,
    /// The symbol of the number of steps, if this is the saving form.
    pub saves: Option<Sym>,
    /// Residuals that derivatives save: [`Checkpoint::Never`] or [`Checkpoint::Every`].
    pub checkpoint: Checkpoint,
    /// Largest number of steps whose values derivatives store on devices that need it before a run.
    pub bound: Option<usize>,
}

impl While {
    /// Number of carries.
    pub fn carry(&self) -> usize {
        self.body.params().len().saturating_sub(self.body_consts)
    }

    /// Constants of the condition, of the body, and carries.
    fn split<'a, T>(&self, x: &'a [T]) -> (&'a [T], &'a [T], &'a [T]) {
        let (cond, rest) = x.split_at(self.cond_consts);
        let (body, init) = rest.split_at(self.body_consts);
        (cond, body, init)
    }
}

impl Primitive for While {
    fn name(&self) -> &str {
        "while"
    }

    fn attrs(&self) -> Attrs {
        let mut a = Attrs::default()
            .with_if(self.cond_consts > 0, "cond_consts", self.cond_consts)
            .with_if(self.body_consts > 0, "body_consts", self.body_consts);
        if let Some(s) = &self.saves {
            a = a.with("saves", &**s);
        }
        if let Some(n) = self.bound {
            a = a.with("bound", n);
        }
        self.checkpoint
            .attrs(a)
            .with("cond", self.cond.clone())
            .with("body", self.body.clone())
    }

    fn results(&self) -> usize {
        self.body.results().len() + usize::from(self.saves.is_some())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        check_carries(self, &self.body, self.body_consts, self.carry())?;
        self.checkpoint.check("while")?;
        match self.checkpoint {
            Checkpoint::Never => {}
            Checkpoint::Every(_) if self.saves.is_none() => {}
            Checkpoint::Every(_) => bail!(
                Attribute,
                "the saving form of `while` takes no `checkpoint`"
            ),
            c => bail!(
                ReverseWhile,
                "the derivative of `while` cannot save by {c:?}: its number of steps is data-dependent; save a \
                 carry every k steps (`checkpoint = k`, `Checkpoint::Every(k)`)"
            ),
        }
        if x.len() != self.cond_consts + self.body.params().len() {
            bail!(
                Arity,
                "`while` takes {} constants and {} carries, got {} operands",
                self.cond_consts + self.body_consts,
                self.carry(),
                x.len()
            );
        }
        let (cond, body, init) = self.split(x);
        check_operands(self, "the condition", &self.cond, &[cond, init].concat())?;
        check_operands(self, "the body", &self.body, &[body, init].concat())?;
        check_results(self, "the body", &self.body)?;
        match &self.cond.result_types()[..] {
            [t] if *t == Type::scalar(DType::Bool) => {}
            t => bail!(
                DTypeMismatch,
                "the condition of `while` must return one scalar boolean, not {t:?}"
            ),
        }
        let mut y = self.body.result_types();
        let stacks = y.split_off(self.carry());
        y = self.body.param_types().split_off(self.body_consts);
        match &self.saves {
            Some(s) => {
                let trips = Dim::sym(s);
                y.extend(stacks.iter().map(|t| t.batched(&trips)));
                y.push(Type::new(DType::Bool, vec![trips]));
            }
            None if !stacks.is_empty() => {
                bail!(
                    Arity,
                    "the body of `while` returns {} values for {} carries; only the saving form returns more",
                    self.body.results().len(),
                    self.carry()
                )
            }
            None => {}
        }
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let (cond, body, init) = self.split(x);
        let mut carry = init.to_vec();
        let types = self.body.result_types().split_off(carry.len());
        let mut stacks: Vec<Vec<Array>> = vec![Vec::new(); types.len()];
        let mut trips = 0;
        while reference::run_body(&self.cond, &[cond, &carry].concat(), env)?[0].as_slice()
            == Some(&[true])
        {
            let mut y = reference::run_body(&self.body, &[body, &carry].concat(), env)?;
            for (all, y) in stacks.iter_mut().zip(y.drain(init.len()..)) {
                all.push(y);
            }
            carry = y;
            trips += 1;
        }
        if self.saves.is_some() {
            for (rows, t) in stacks.iter().zip(&types) {
                carry.push(stack(rows, t, env)?);
            }
            carry.push(Array::vector(vec![true; trips]));
        }
        Ok(carry)
    }

    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        let (cond, body, init) = self.split(x);
        let y = self.body.loop_classes(body, init, &[])?;
        // The number of steps must not depend on linear values. The saving form occurs in
        // derivatives only.
        let test = self.cond.classes(&[cond, &y[..init.len()]].concat())?;
        (test == [Class::Ordinary] && self.saves.is_none()).then_some(y)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        if let Some(fixed) = FixedCarries::of(&self.body, self.body_consts, self.carry()) {
            return self.linearize_without(&fixed, cx, x, t);
        }
        if let Checkpoint::Every(k) = self.checkpoint {
            let callee = self.in_pieces(cx.session(), k, &cx.types(x))?;
            return Call {
                callee,
                checkpoint: false,
            }
            .linearize(cx, x, t);
        }
        let nk = self.carry();
        let (of_body, t) = (&x[self.cond_consts..], &t[self.cond_consts..]);
        let body = LoopLin::new(
            cx.emit(),
            &self.body,
            self.body_consts,
            nk,
            of_body,
            mask(t),
        )?;
        if !body.moves() {
            return Ok((
                cx.emit().emit(self.clone().into(), x),
                vec![None; self.results()],
            ));
        }
        let trips = self.saves.clone().unwrap_or_else(|| cx.fresh_sym("trips"));
        let forward = While {
            body: body.forward.clone(),
            saves: Some(trips),
            ..self.clone()
        };
        let mut y = cx.emit().emit(forward.into(), x);
        let alive = y.pop().expect("the saving form has a result");
        let n = self.body.results().len();
        let length = cx.ty(alive).shape.first().cloned().unwrap_or(Dim::Const(0));
        let mut dy = body.linear(cx, &length, false, &y[n..], Some(alive), t)?;
        y.truncate(n);
        if self.saves.is_some() {
            y.push(alive);
            dy.push(None);
        }
        Ok((y, dy))
    }

    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        Some(self.forward(cx, x, t))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        // The linear program of a while is a scan.
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let session = cx.session();
        let nk = self.carry();
        let (of_cond, of_body, init) = self.split(x);
        let marks = |x: &[Batched]| x.iter().map(|b| b.mapped).collect::<Vec<bool>>();
        let mut mapped = marks(&x[self.cond_consts..]);
        let mut body = batch_body(session, &self.body, self.body_consts, nk, &mut mapped, size)?;
        let of_carry = |mapped: &[bool]| [&marks(of_cond), &mapped[self.body_consts..]].concat();
        let mut cond = session.batch_region(&self.cond, &of_carry(&mapped), &[false], size)?;
        let ragged = cond.out_mapped[0];
        if ragged {
            // Batch elements finish at different steps, so every carry has the batch axis.
            mapped[self.body_consts..].fill(true);
            body = batch_body(session, &self.body, self.body_consts, nk, &mut mapped, size)?;
            cond = session.batch_region(&self.cond, &of_carry(&mapped), &[true], size)?;
        }
        let init = init.iter().zip(&mapped[self.body_consts..]);
        let init: Vec<Val> = init
            .map(|(&b, &m)| if m { cx.replicate(b, size).val } else { b.val })
            .collect();
        let (cc, bc): (Vec<Val>, Vec<Val>) = (
            of_cond.iter().map(|b| b.val).collect(),
            of_body.iter().map(|b| b.val).collect(),
        );
        let batched = if ragged {
            let both = [&cc[..], &bc].concat();
            let new = self.waiting(session, &cond.func, &body.func)?;
            cx.emit(new.into(), &[&cc[..], &both, &init].concat())
        } else {
            let new = While {
                cond: cond.func.clone(),
                body: body.func.clone(),
                ..self.clone()
            };
            cx.emit(new.into(), &[&cc[..], &bc, &init].concat())
        };
        let n = self.body.results().len();
        let mut y: Vec<Batched> = (0..n)
            .map(|k| Batched {
                val: batched[k],
                mapped: body.out_mapped[k],
            })
            .collect();
        if self.saves.is_some() {
            // The batched form stacks the mask of unfinished elements after the other results.
            y.push(Batched {
                val: batched[n],
                mapped: ragged,
            });
        }
        y[nk..].iter_mut().for_each(|b| b.val = swap(cx, *b));
        Ok(y)
    }

    fn cost(&self, _: &[Type], y: &[Type]) -> Cost {
        let mut c = self.body.cost();
        c += self.cond.cost();
        c.bytes += y[self.carry().min(y.len())..]
            .iter()
            .map(bytes)
            .sum::<f64>();
        c
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.cond, &self.body]
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        if self.cond_consts + self.body_consts > x.len() {
            return vec![None; 2];
        }
        let (cond, rest) = x.split_at(self.cond_consts);
        vec![
            Some([cond, &rest[self.body_consts..]].concat()),
            Some(rest.to_vec()),
        ]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        While {
            cond: regions[0].clone(),
            body: regions[1].clone(),
            ..self.clone()
        }
        .into()
    }

    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        let (nk, n) = (self.carry(), self.body.results().len());
        let mut kept: Vec<bool> = used.iter().enumerate().map(|(k, u)| k < nk || *u).collect();
        let saves = self.saves.clone().filter(|_| used[nk..].contains(&true));
        if saves.is_some() {
            kept[n] = true;
        }
        Some((
            While {
                body: narrow(&self.body, &kept[..n]),
                saves,
                ..self.clone()
            }
            .into(),
            kept,
        ))
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let new = f(&Dim::sym(self.saves.as_ref()?)).as_sym()?.clone();
        Some(
            While {
                saves: Some(new),
                ..self.clone()
            }
            .into(),
        )
    }

    fn binds(&self) -> Vec<Sym> {
        self.saves.iter().cloned().collect()
    }
}

impl While {
    /// [`Primitive::linearize`] of the loop in which fixed carries are constants, also of the
    /// condition.
    fn linearize_without(
        &self,
        fixed: &FixedCarries,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Result<Linearized> {
        let of_cond = FixedCarries {
            consts: self.cond_consts,
            ..fixed.clone()
        };
        let body = fixed.constants(cx.session(), &self.body, true)?;
        let cond = of_cond.constants(cx.session(), &self.cond, false)?;
        let (cond_consts, body_consts) = (
            self.cond_consts + fixed.count,
            self.body_consts + fixed.count,
        );
        let new = While {
            cond,
            body,
            cond_consts,
            body_consts,
            ..self.clone()
        };
        let (xc, xb) = x.split_at(self.cond_consts);
        let (tc, tb) = t.split_at(self.cond_consts);
        let first = of_cond.ordered(&[xc, &xb[self.body_consts..]].concat());
        let first_t = of_cond.ordered(&[tc, &tb[self.body_consts..]].concat());
        let operands = [&first[..cond_consts], &fixed.ordered(xb)].concat();
        let tangents = [&first_t[..cond_consts], &fixed.ordered(tb)].concat();
        Ok(fixed.results(new.linearize(cx, &operands, &tangents)?, xb, tb))
    }

    fn forward(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Result<Jvp> {
        let (of_cond, of_body) = x.split_at(self.cond_consts);
        let t = &t[self.cond_consts..];
        let l = LoopJvp::new(
            cx.session(),
            &self.body,
            self.body_consts,
            self.carry(),
            mask(t),
        )?;
        let (consts, carry) = l.moving();
        // The condition does not depend on tangents.
        let tangents = &l.body.param_types()[l.body.params().len() - carry..];
        let cond = rewrap(cx.session(), &self.cond.name, &[&self.cond], |b| {
            let x = params(b, &self.cond.param_types());
            params(b, tangents);
            (b as &dyn Emit).inline(&self.cond, &x)
        })?;
        let body_consts = self.body_consts + consts;
        let new = While {
            cond,
            body: l.body.clone(),
            body_consts,
            ..self.clone()
        };
        let mut y = cx.emit(new.into(), &[of_cond, &l.operands(cx, of_body, t)].concat());
        let alive = self.saves.is_some().then(|| y.pop()).flatten();
        let (mut y, mut dy) = l.split(&y);
        y.extend(alive);
        dy.extend(alive.map(|_| None));
        Ok((y, dy))
    }

    /// The batched loop, which runs until all elements are done. Its body also takes the constants
    /// of the condition.
    fn waiting(
        &self,
        session: &Session,
        cond: &Arc<Function>,
        body: &Arc<Function>,
    ) -> Result<While> {
        let (nc, nb, nk) = (self.cond_consts, self.body_consts, self.carry());
        let any = rewrap(session, &self.cond.name, &[cond], |b| {
            let x = params(b, &cond.param_types());
            let cx: &dyn Emit = b;
            vec![cx.reduce(Reduction::Any, cx.inline(cond, &x)[0], &[0])]
        })?;
        let body = rewrap(session, &self.body.name, &[cond, body], |b| {
            let (of_cond, of_body) = (cond.param_types(), body.param_types());
            let (w, v) = (params(b, &of_cond[..nc]), params(b, &of_body[..nb]));
            let c = params(b, &of_body[nb..]);
            let cx: &dyn Emit = b;
            let alive = cx.inline(cond, &[&w[..], &c].concat())[0];
            let mut y = cx.inline(body, &[&v[..], &c].concat());
            for (new, &old) in y.iter_mut().zip(&c) {
                let p = cx.broadcast_in_dim(alive, &cx.ty(old).shape, &[0]);
                *new = cx.select(p, *new, old);
            }
            if self.saves.is_some() {
                y.push(alive);
            }
            debug_assert!(y.len() >= nk);
            y
        })?;
        Ok(While {
            cond: any,
            body,
            body_consts: nc + nb,
            ..self.clone()
        })
    }
}

/// A bound of a counted loop.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A constant.
    Const(i64),
    /// A data-dependent scalar of type `i64`.
    Val(Val),
}

impl From<i64> for Bound {
    fn from(i: i64) -> Bound {
        Bound::Const(i)
    }
}

impl From<Val> for Bound {
    fn from(v: Val) -> Bound {
        Bound::Val(v)
    }
}

impl dyn Emit + '_ {
    /// [`Loops::while_loop`] with [`Checkpoint::Never`].
    pub fn while_loop(
        &self,
        consts: &[Val],
        init: &[Val],
        cond: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Val,
        body: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        self.checkpointing(Checkpoint::Never)
            .while_loop(consts, init, cond, body)
    }

    /// [`Loops::fori`] with [`Checkpoint::Never`].
    pub fn fori(
        &self,
        lo: impl Into<Bound>,
        hi: impl Into<Bound>,
        consts: &[Val],
        init: &[Val],
        body: impl FnOnce(&dyn Emit, &[Val], Val, &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        self.checkpointing(Checkpoint::Never)
            .fori(lo, hi, consts, init, body)
    }
}

impl Loops<'_> {
    /// `c = body(consts, c)` while `cond(consts, c)`, a scalar boolean, is true.
    pub fn while_loop(
        &self,
        consts: &[Val],
        init: &[Val],
        cond: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Val,
        body: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        let cx = self.cx;
        let types = [cx.types(consts), cx.types(init)].concat();
        let n = consts.len();
        let cond = cx.body("cond", &types, |cx, x| vec![cond(cx, &x[..n], &x[n..])]);
        let body = cx.body("body", &types, |cx, x| body(cx, &x[..n], &x[n..]));
        let (Some(cond), Some(body)) = (cond.func, body.func) else {
            return vec![Val::POISON; init.len()];
        };
        let op = While {
            cond,
            body,
            cond_consts: n,
            body_consts: n,
            saves: None,
            checkpoint: self.checkpoint,
            bound: self.bound,
        };
        let mut y = cx
            .emit(op.into(), &[consts, consts, init].concat())
            .to_vec();
        y.resize(init.len(), Val::POISON);
        y
    }

    /// `c = body(consts, i, c)` for `i` in `lo..hi`: a `scan` if both bounds are constants,
    /// otherwise a `while`.
    pub fn fori(
        &self,
        lo: impl Into<Bound>,
        hi: impl Into<Bound>,
        consts: &[Val],
        init: &[Val],
        body: impl FnOnce(&dyn Emit, &[Val], Val, &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        let i64s = Type::scalar(DType::I64);
        let number = |cx: &dyn Emit, b: &Bound| match b {
            Bound::Const(i) => cx.full(&i64s, *i),
            Bound::Val(v) => *v,
        };
        let (lo, hi) = (lo.into(), hi.into());
        if let (Bound::Const(lo), Bound::Const(hi)) = (&lo, &hi) {
            let n = Dim::Const(usize::try_from(hi.saturating_sub(*lo)).unwrap_or(0));
            let all = Type::new(DType::I64, vec![n.clone()]);
            let cx = self.cx;
            let index = cx.add(cx.iota(&all, 0), cx.full(&all, *lo));
            return self
                .scan(consts, init, &[index], &n, false, |cx, w, c, x| {
                    (body(cx, w, x[0], c), vec![])
                })
                .0;
        }
        let (lo, hi) = (number(self.cx, &lo), number(self.cx, &hi));
        let n = consts.len();
        let mut c = self.while_loop(
            &[consts, &[hi]].concat(),
            &[&[lo], init].concat(),
            |cx, w, c| cx.compare(c[0], Comparison::Lt, w[n]),
            |cx, w, c| {
                let next = cx.add(c[0], cx.full(&i64s, 1i64));
                [vec![next], body(cx, &w[..n], c[0], &c[1..])].concat()
            },
        );
        c.remove(0);
        c
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let cond_consts: usize = s.attrs.opt("cond_consts")?.unwrap_or(0);
    let body_consts: usize = s.attrs.opt("body_consts")?.unwrap_or(0);
    if cond_consts.max(body_consts) > s.operands.len() {
        bail!(
            Arity,
            "`while` of {} operands cannot have that many constants",
            s.operands.len()
        );
    }
    let saves = match s.attrs.opt::<Attr>("saves")? {
        None => None,
        Some(Attr::Str(s)) => Some(s.as_str().into()),
        Some(Attr::Dim(d)) if d.as_sym().is_some() => d.as_sym().cloned(),
        Some(_) => bail!(Attribute, "the attribute `saves` must name an extent"),
    };
    let checkpoint = Checkpoint::take(s)?;
    let bound = s.attrs.opt("bound")?;
    let (cond, body) = (s.attrs.get("cond")?, s.attrs.get("body")?);
    Ok(While {
        cond,
        body,
        cond_consts,
        body_consts,
        saves,
        checkpoint,
        bound,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let make =
        |consts: (usize, usize), types: &[Type], cond: &RegionFn<'_>, body: &RegionFn<'_>| {
            let (cond_consts, body_consts) = consts;
            let of_cond = [&types[..cond_consts], &types[cond_consts + body_consts..]].concat();
            While {
                cond: sample_function("body", &of_cond, cond),
                body: sample_function("body", &types[cond_consts..], body),
                cond_consts,
                body_consts,
                saves: None,
                checkpoint: Checkpoint::Never,
                bound: None,
            }
        };
    let (i, r, c) = (
        Type::scalar(DType::I64),
        Type::scalar(DType::F64),
        Type::scalar(DType::C128),
    );
    let v = Type::new(DType::F64, [2]);
    let below: &RegionFn<'_> = &|cx, x| vec![cx.compare(x[1], Comparison::Lt, x[0])];
    // The sine of the constant is the same in every step.
    let rnn: &RegionFn<'_> = &|cx, x| {
        vec![
            cx.add(x[1], cx.full_like(x[1], 1i64)),
            cx.tanh(cx.mul(cx.sin(x[0]), x[2])),
        ]
    };
    let power: &RegionFn<'_> =
        &|cx, x| vec![cx.add(x[1], cx.full_like(x[1], 1i64)), cx.mul(x[2], x[0])];
    // Doubles until the square exceeds a bound: the number of steps depends on the carry.
    let small: &RegionFn<'_> =
        &|cx, x| vec![cx.compare(cx.mul(x[0], x[0]), Comparison::Lt, cx.full_like(x[0], 20.0))];
    let double: &RegionFn<'_> = &|cx, x| vec![cx.mul(x[0], cx.full_like(x[0], 2.0))];
    let n = |n: i64| Array::scalar(n);
    let w = Array::vector(vec![0.4f64, -0.7]);
    let z = |re, im| Array::scalar(crate::C128::new(re, im));
    let counted = |t: &Type| [i.clone(), t.clone(), i.clone(), t.clone()];
    let saving = While {
        checkpoint: Checkpoint::Every(2),
        bound: Some(8),
        ..make((1, 1), &counted(&v), below, rnn)
    };
    vec![
        Sample::new(saving, vec![n(5), w.clone(), n(0), w.clone()]),
        Sample::new(
            make((1, 1), &counted(&v), below, rnn),
            vec![n(3), w.clone(), n(0), w.clone()],
        ),
        Sample::new(
            make((1, 1), &counted(&r), below, power),
            vec![n(0), Array::scalar(1.5), n(0), Array::scalar(2.0)],
        ),
        Sample::new(
            make((1, 1), &counted(&c), below, power),
            vec![n(4), z(0.4, 0.9), n(0), z(-0.3, 1.1)],
        ),
        Sample::new(make((0, 0), &[r], small, double), vec![Array::scalar(0.7)]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "while",
        doc: "A loop that runs while a condition on its carries is true.",
        parse,
        samples,
    }]
}
