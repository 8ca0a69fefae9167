//! `scan`: a loop over the first axis of its inputs.
//!
//! ```text
//! c[0] = init,   c[i+1], y[i] = body(w, c[i], x[i]),   i = 0 .. length      ->  c[length], y
//! ```
//! Operands are constants `w`, `init`, and the stacked `x`. Results are the last carry and the
//! stacked `y`. With `reverse` the loop runs from the last step to the first. The adjoint of a
//! linear scan is a scan in the other direction. The cotangents of the constants are computed after
//! the loop from stacked values ([`step_sums`](super::step_sums)), or they are additional carries,
//! as compensated sums ([`sums`](super::sums)):
//!
//! ```text
//! ct_c[i], dct_w, ct_x[i] = bodyᵀ(ct_c[i+1], ct_y[i]),   ct_w += dct_w
//! ```
//! A carry that the body returns unchanged is a constant in derivatives, so that its cotangent is
//! such a sum.

use super::body::{
    RegionFn, check_operands, check_results, mask, params, rewrap, sample_function, some, spread,
};
use super::entry::{Entry, Spelled};
use super::loops::{
    FixedCarries, LoopJvp, LoopLin, batch_body, check_carries, inline_values, row, stack, swap,
};
use super::step_sums::StepSums;
use super::support::bytes;
use super::{Call, Checkpoint, Loops};
use crate::array::Array;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Class, Cost, Emit, Function, Jvp, Lin, Linearized, Lv, Narrow, Op,
    Operand, Primitive, Sample, Session, Val, Vals,
};
use crate::shape::{Dim, Env, Type};
use crate::transform::RegionTranspose;
use crate::{bail, reference};
use smallvec::SmallVec;
use std::sync::Arc;

/// A loop with `length` steps.
#[derive(Clone, Debug)]
pub struct Scan {
    /// `consts.., carry.., x.. -> carry.., y..`.
    pub body: Arc<Function>,
    /// Number of steps.
    pub length: Dim,
    /// Whether it runs from the last step to the first.
    pub reverse: bool,
    /// Number of operands that are constants.
    pub consts: usize,
    /// Number of operands that are carries.
    pub carry: usize,
    /// Residuals that derivatives save.
    pub checkpoint: Checkpoint,
}

impl Scan {
    /// The transpose of the body. `has` marks the cotangents that are not zero; carries whose
    /// cotangents become nonzero in some step are added. The first `consts` linear parameters are
    /// constants.
    fn transposed_body(
        &self,
        session: &Session,
        linear: &[bool],
        consts: usize,
        has: &mut [bool],
    ) -> Result<Arc<RegionTranspose>> {
        loop {
            let back = session.transpose_region(&self.body, linear, has)?;
            let late: Vec<usize> = (0..self.carry)
                .filter(|&k| back.out_nonzero[consts + k] && !has[k])
                .collect();
            if late.is_empty() {
                return Ok(back);
            }
            late.into_iter().for_each(|k| has[k] = true);
        }
    }
}

impl Primitive for Scan {
    fn name(&self) -> &str {
        "scan"
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default()
            .with("length", self.length.clone())
            .with_if(self.reverse, "reverse", true)
            .with_if(self.consts > 0, "consts", self.consts)
            .with("carry", self.carry);
        self.checkpoint.attrs(a).with("body", self.body.clone())
    }

    fn results(&self) -> usize {
        self.body.results().len()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let first = self.consts + self.carry;
        self.checkpoint.check("scan")?;
        check_carries(self, &self.body, self.consts, self.carry)?;
        check_results(self, "the body", &self.body)?;
        let mut one = x.to_vec();
        for (k, t) in one.iter_mut().enumerate().skip(first) {
            if t.rank() == 0 || t.shape[0].same(&self.length) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`scan` takes {} steps along the first axis, operand {k} is {t}",
                    self.length
                );
            }
            *t = t.unbatched();
        }
        check_operands(self, "the body", &self.body, &one)?;
        let mut y = self.body.result_types();
        y[self.carry..]
            .iter_mut()
            .for_each(|t| *t = t.batched(&self.length));
        y[..self.carry].clone_from_slice(&self.body.param_types()[self.consts..first]);
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let n = self.length.eval(env)?;
        let (consts, rest) = x.split_at(self.consts);
        let (init, xs) = rest.split_at(self.carry);
        let mut carry = init.to_vec();
        let types = self.body.result_types();
        let mut ys: Vec<Vec<Array>> = vec![Vec::new(); types.len() - self.carry];
        for step in 0..n {
            let i = if self.reverse { n - 1 - step } else { step };
            let slices = xs.iter().map(|x| row(x, i)).collect::<Result<Vec<_>>>()?;
            let mut y = reference::run_body(&self.body, &[consts, &carry, &slices].concat(), env)?;
            for (all, y) in ys.iter_mut().zip(y.drain(self.carry..)) {
                all.push(y);
            }
            carry = y;
        }
        for (rows, t) in ys.iter_mut().zip(&types[self.carry..]) {
            if self.reverse {
                rows.reverse();
            }
            carry.push(stack(rows, t, env)?);
        }
        Ok(carry)
    }

    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        let (consts, rest) = x.split_at(self.consts);
        let (carry, rows) = rest.split_at(self.carry);
        self.body.loop_classes(consts, carry, rows)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask.iter().skip(self.consts).take(self.carry).all(|m| *m) && self.body.linear_in(mask)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        if let Some(fixed) = FixedCarries::of(&self.body, self.consts, self.carry) {
            let body = fixed.constants(cx.session(), &self.body, true)?;
            let (consts, carry) = (self.consts + fixed.count, self.carry - fixed.count);
            let scan = Scan {
                body,
                consts,
                carry,
                ..self.clone()
            };
            return Ok(fixed.results(
                scan.linearize(cx, &fixed.ordered(x), &fixed.ordered(t))?,
                x,
                t,
            ));
        }
        if let Some(callee) = self.in_pieces(cx.session(), &cx.types(x))? {
            return Call {
                callee,
                checkpoint: false,
            }
            .linearize(cx, x, t);
        }
        let body = LoopLin::new(cx.emit(), &self.body, self.consts, self.carry, x, mask(t))?;
        let n = self.results();
        let y = cx.emit().emit(
            Scan {
                body: body.forward.clone(),
                ..self.clone()
            }
            .into(),
            x,
        );
        let dy = match body.moves() {
            true => body.linear(cx, &self.length, self.reverse, &y[n..], None, t)?,
            false => vec![None; n],
        };
        Ok((Vals::from_slice(&y[..n]), dy))
    }

    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        let loops = LoopJvp::new(cx.session(), &self.body, self.consts, self.carry, mask(t));
        Some(loops.map(|l| {
            let (consts, carry) = l.moving();
            let (consts, carry) = (self.consts + consts, self.carry + carry);
            let scan = Scan {
                body: l.body.clone(),
                consts,
                carry,
                ..self.clone()
            };
            l.split(&cx.emit(scan.into(), &l.operands(cx, x, t)))
        }))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let session = cx.session();
        let linear: Vec<bool> = x.iter().map(Arg::is_linear).collect();
        let (nc, nk) = (self.consts, self.carry);
        let lc = linear[..nc].iter().filter(|l| **l).count();
        let mut has = mask(ct);
        let back = self.transposed_body(session, &linear, lc, &mut has)?;
        let f = &back.func;
        let types = self.body.param_types();
        // The parameters of `f`: ordinary constants, ordinary xs, cotangents of carries, of ys.
        let rc = nc - lc;
        let rx = linear[nc + nk..].iter().filter(|l| !**l).count();
        let carried = has[..nk].iter().filter(|h| **h).count();
        let given = f.param_types();
        let of_consts = back.out_nonzero[..lc].iter().filter(|o| **o).count();
        let rows = [&f.params()[rc..rc + rx], &f.params()[rc + rx + carried..]].concat();
        let (w, rest) = f.results().split_at(of_consts);
        let sums = StepSums::new(cx, f, w, &rows);
        let held = sums.held();
        let results = rest.iter().chain(&sums.stacked).copied();
        let wanted: Vec<Val> = results.chain(sums.within()).collect();
        let body = rewrap(session, &f.name, &[f], |b| {
            let consts = params(b, &given[..rc]);
            let carry = params(b, &given[rc + rx..rc + rx + carried]);
            let sums_before = params(b, &held);
            let rows = params(b, &given[rc..rc + rx]);
            let ys = params(b, &given[rc + rx + carried..]);
            let cx: &dyn Emit = b;
            let y = inline_values(cx, f, &[consts, rows, carry, ys].concat(), &wanted);
            let (y, within) = y.split_at(rest.len() + sums.stacked.len());
            let (y, stacked) = y.split_at(rest.len());
            let y = spread(&back.out_nonzero[lc..], y);
            let (c, xs) = y.split_at(nk);
            let zero = |k: usize| cx.zeros(&types[nc + k]);
            let c = c
                .iter()
                .enumerate()
                .filter(|(k, _)| has[*k])
                .map(|(k, v)| v.unwrap_or_else(|| zero(k)));
            c.chain(sums.add(cx, &sums_before, within))
                .chain(some(xs))
                .chain(stacked.iter().copied())
                .collect()
        })?;
        let init = (0..nk)
            .filter(|&k| has[k])
            .map(|k| ct[k].unwrap_or_else(|| cx.zeros(&x[nc + k].ty(cx))));
        let consts = x[..nc].iter().filter_map(Arg::val);
        let arrays: Vec<Val> = x[nc + nk..]
            .iter()
            .filter_map(Arg::val)
            .chain(some(&ct[nk..]))
            .collect();
        let operands: Vec<Val> = consts
            .chain(init)
            .chain(held.iter().map(|t| cx.zeros(t)))
            .chain(arrays.iter().copied())
            .collect();
        let carry = carried + held.len();
        let scan = Scan {
            body,
            reverse: !self.reverse,
            consts: rc,
            carry,
            ..self.clone()
        };
        let y = cx.emit(scan.into(), &operands);
        let (c, y) = y.split_at(carried);
        let (parts, y) = y.split_at(held.len());
        let (xs, stacked) = y.split_at(y.len() - sums.stacked.len());
        let w = sums.values(cx, parts, &[&arrays, stacked].concat());
        let by_linear = spread(&back.out_nonzero[..lc], &w).into_iter();
        let by_linear = by_linear
            .chain(spread(&has[..nk], c))
            .chain(spread(&back.out_nonzero[lc + nk..], xs));
        let mut by_linear = by_linear.collect::<Vec<_>>().into_iter();
        Ok(linear
            .iter()
            .map(|&l| if l { by_linear.next().flatten() } else { None })
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let mut mapped: Vec<bool> = x.iter().map(|b| b.mapped).collect();
        let first = self.consts + self.carry;
        let body = batch_body(
            cx.session(),
            &self.body,
            self.consts,
            self.carry,
            &mut mapped,
            size,
        )?;
        let operands: Vec<Val> = x
            .iter()
            .enumerate()
            .map(|(k, &b)| match k {
                k if k >= first => swap(cx, b),
                k if mapped[k] => cx.replicate(b, size).val,
                _ => b.val,
            })
            .collect();
        let y = cx.emit(
            Scan {
                body: body.func.clone(),
                ..self.clone()
            }
            .into(),
            &operands,
        );
        let back = y
            .into_iter()
            .zip(&body.out_mapped)
            .enumerate()
            .map(|(k, (val, &mapped))| {
                let b = Batched { val, mapped };
                if k < self.carry {
                    b
                } else {
                    Batched {
                        val: swap(cx, b),
                        mapped,
                    }
                }
            });
        Ok(back.collect())
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = self.length.as_const().unwrap_or(1) as f64;
        let one = self.body.cost();
        let stacked: f64 = x[self.consts + self.carry..]
            .iter()
            .chain(&y[self.carry..])
            .map(bytes)
            .sum();
        Cost {
            flops: n * one.flops,
            bytes: n * one.bytes + stacked,
        }
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.body]
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        let first = self.consts + self.carry;
        let one = |(k, t): (usize, &Type)| {
            if k < first || t.rank() == 0 {
                t.clone()
            } else {
                t.unbatched()
            }
        };
        vec![Some(x.iter().enumerate().map(one).collect())]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        Scan {
            body: regions[0].clone(),
            ..self.clone()
        }
        .into()
    }

    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        let kept: Vec<bool> = used
            .iter()
            .enumerate()
            .map(|(k, u)| k < self.carry || *u)
            .collect();
        Some((
            Scan {
                body: narrow(&self.body, &kept),
                ..self.clone()
            }
            .into(),
            kept,
        ))
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Scan {
                length: f(&self.length),
                ..self.clone()
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// [`Loops::scan`] with [`Checkpoint::Never`].
    pub fn scan(
        &self,
        consts: &[Val],
        init: &[Val],
        xs: &[Val],
        length: &Dim,
        reverse: bool,
        body: impl FnOnce(&dyn Emit, &[Val], &[Val], &[Val]) -> (Vec<Val>, Vec<Val>),
    ) -> (Vec<Val>, Vec<Val>) {
        self.checkpointing(Checkpoint::Never)
            .scan(consts, init, xs, length, reverse, body)
    }
}

impl Lin<'_> {
    /// A scan that is linear in its `L` operands together: constants, carries, stacked operands.
    pub(super) fn linear_scan(
        &self,
        body: Arc<Function>,
        length: &Dim,
        reverse: bool,
        consts: usize,
        carry: usize,
        operands: &[Operand],
    ) -> SmallVec<[Lv; 2]> {
        let scan = Scan {
            body,
            length: length.clone(),
            reverse,
            consts,
            carry,
            checkpoint: Checkpoint::Never,
        };
        self.apply(scan, operands)
    }
}

impl Loops<'_> {
    /// `c, y[i] = body(consts, c, xs[i])` for each of `length` steps, from the last one if
    /// `reverse`. Returns the last carries, and the `y` stacked along a new first axis.
    pub fn scan(
        &self,
        consts: &[Val],
        init: &[Val],
        xs: &[Val],
        length: &Dim,
        reverse: bool,
        body: impl FnOnce(&dyn Emit, &[Val], &[Val], &[Val]) -> (Vec<Val>, Vec<Val>),
    ) -> (Vec<Val>, Vec<Val>) {
        let cx = self.cx;
        let row = |t: Type| if t.rank() > 0 { t.unbatched() } else { t };
        let types: Vec<Type> = [
            cx.types(consts),
            cx.types(init),
            cx.types(xs).into_iter().map(row).collect(),
        ]
        .concat();
        let (nc, nk) = (consts.len(), init.len());
        let body = cx.body("body", &types, |cx, x| {
            let (carry, ys) = body(cx, &x[..nc], &x[nc..nc + nk], &x[nc + nk..]);
            if carry.len() != nk {
                let text = format!(
                    "the body of `scan` returns {} carries, not {nk}",
                    carry.len()
                );
                cx.fail(crate::Error::new(crate::Code::CarryMismatch, text));
            }
            [carry, ys].concat()
        });
        let mut y = body.emit(cx, &[consts, init, xs].concat(), |body| {
            Scan {
                body,
                length: length.clone(),
                reverse,
                consts: nc,
                carry: nk,
                checkpoint: self.checkpoint,
            }
            .into()
        });
        y.resize(y.len().max(nk), Val::POISON);
        let ys = y.split_off(nk);
        (y, ys)
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let consts: usize = s.attrs.opt("consts")?.unwrap_or(0);
    let carry: usize = s.attrs.get("carry")?;
    if consts.max(carry) > s.operands.len() {
        bail!(
            Arity,
            "`scan` of {} operands cannot have {consts} constants and {carry} carries",
            s.operands.len()
        );
    }
    let length = match s.attrs.opt("length")? {
        Some(n) => n,
        None => match s.operands.get(consts + carry).and_then(|t| t.shape.first()) {
            Some(n) => n.clone(),
            None => bail!(
                Attribute,
                "`scan` without stacked operands needs its `length`"
            ),
        },
    };
    let reverse = s.attrs.opt("reverse")?.unwrap_or(false);
    let checkpoint = Checkpoint::take(s)?;
    Ok(Scan {
        body: s.attrs.get("body")?,
        length,
        reverse,
        consts,
        carry,
        checkpoint,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let make = |consts, carry, length: usize, reverse, types: &[Type], write: &RegionFn<'_>| Scan {
        body: sample_function("body", types, write),
        length: length.into(),
        reverse,
        consts,
        carry,
        checkpoint: Checkpoint::Never,
    };
    let (r, v, c) = (
        Type::scalar(DType::F64),
        Type::new(DType::F64, [2]),
        Type::scalar(DType::C128),
    );
    let i = Type::scalar(DType::I64);
    let scalar = |x: f64| Array::scalar(x);
    let w = Array::vector(vec![0.4f64, -0.7]);
    let z = |re, im| crate::C128::new(re, im);
    let rows =
        Array::from_vec([3, 2], vec![0.1f64, 0.5, -0.3, 0.8, 0.2, -0.6]).expect("six elements");
    // A recurrence with a constant, a carry and rows. The sine of the constant is the same in every
    // step.
    let rnn: &RegionFn<'_> = &|cx, x| {
        let h = cx.tanh(cx.add(cx.mul(cx.sin(x[0]), x[1]), x[2]));
        vec![h, cx.mul(h, x[2])]
    };
    // A carry that becomes active after one step, and one that counts.
    let late: &RegionFn<'_> = &|cx, x| {
        vec![
            x[2],
            cx.mul(x[2], x[0]),
            cx.add(x[3], cx.full_like(x[3], 1i64)),
            x[3],
        ]
    };
    let power: &RegionFn<'_> = &|cx, x| vec![cx.mul(x[0], x[1])];
    let square: &RegionFn<'_> = &|cx, x| vec![cx.mul(x[0], x[0])];
    let five = Array::from_vec(
        [5, 2],
        (0..10).map(|k| 0.3 * f64::from(k % 7) - 0.9).collect(),
    )
    .expect("ten elements");
    let saving = |checkpoint, reverse| {
        let scan = Scan {
            checkpoint,
            ..make(1, 1, 5, reverse, &[v.clone(), v.clone(), v.clone()], rnn)
        };
        Sample::new(scan, vec![w.clone(), w.clone(), five.clone()])
    };
    vec![
        saving(Checkpoint::Sqrt, false),
        saving(Checkpoint::Snapshots(2), true),
        Sample::new(
            make(1, 1, 3, false, &[v.clone(), v.clone(), v.clone()], rnn),
            vec![w.clone(), w.clone(), rows.clone()],
        ),
        Sample::new(
            make(1, 1, 3, true, &[v.clone(), v.clone(), v.clone()], rnn),
            vec![w.clone(), w.clone(), rows.clone()],
        ),
        Sample::new(
            make(0, 0, 3, false, std::slice::from_ref(&v), square),
            vec![rows],
        ),
        Sample::new(
            make(1, 1, 0, false, &[r.clone(), r.clone()], power),
            vec![scalar(1.5), scalar(2.0)],
        ),
        Sample::new(
            make(1, 1, 4, false, &[r.clone(), r.clone()], power),
            vec![scalar(1.5), scalar(2.0)],
        ),
        Sample::new(
            make(1, 3, 3, false, &[r.clone(), r.clone(), r, i], late),
            vec![scalar(1.5), scalar(0.5), scalar(-2.0), Array::scalar(0i64)],
        ),
        Sample::new(
            make(1, 1, 3, true, &[c.clone(), c.clone()], power),
            vec![Array::scalar(z(0.4, 0.9)), Array::scalar(z(-0.3, 1.1))],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "scan",
        doc: "A loop over the first axis, with carries.",
        parse,
        samples,
    }]
}
