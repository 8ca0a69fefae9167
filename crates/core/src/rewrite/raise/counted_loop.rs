//! Counted loops: a `while` whose condition compares a counter with a constant becomes a scan.
//!
//! Programs print `scan` and `fori_loop` as loops with a counter. Scanned operands are read with
//! `dynamic_slice` at the counter, and stacked results are written with `dynamic_update_slice`.
//! They are converted back to scans:
//!
//! ```text
//! i = lo; while i < hi { c = body(i, c, x[i]); y[i] = ..; i += s }
//!     ->  scan of length ceil((hi - lo) / s)
//! ```
//! Integer scalars are tracked as `a t + b` at step `t`. Carries that do not change become
//! constants. Arrays read at `±t + b` within bounds become scanned operands. Carries that are only
//! written at `±t + b` become stacked results. Condition: start, step and bound are constants, and
//! the counter does not wrap. Values are equal to the bit.

use super::pattern::Raising;
use crate::array::Scalar;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Def, Emit, Eqn, Function, Op, Val, Vals};
use crate::ops::{Binary, Checkpoint, Comparison, Scan, Unary, Value, While};
use crate::shape::{Dim, Type};
use std::sync::Arc;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::While(w) = op else { return None };
    CountedLoop::new(r, w, x)?.write(r, w, x).ok()
}

/// Largest number of steps of [`raise_short`]. Counters become arrays, with an element for each
/// step.
const MAX_SHORT_STEPS: usize = 1 << 16;

/// As [`raise`], for loops of few steps.
pub(super) fn raise_short(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::While(w) = op else { return None };
    let counted = CountedLoop::new(r, w, x)?;
    let short = counted.steps() <= MAX_SHORT_STEPS;
    short.then(|| counted.write(r, w, x).ok())?
}

/// The integer `a t + b` at step `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Affine {
    a: i128,
    b: i128,
}

impl Affine {
    fn constant(b: i128) -> Affine {
        Affine { a: 0, b }
    }

    /// The least and greatest value over all steps.
    fn ends(self, steps: i128) -> (i128, i128) {
        let last = self.a * (steps - 1).max(0) + self.b;
        (self.b.min(last), self.b.max(last))
    }

    /// Whether the value is in the range of an element type at every step, so that it does not
    /// wrap.
    fn fits(self, dtype: DType, steps: i128) -> bool {
        let (lo, hi) = dtype.int_range();
        let (least, most) = self.ends(steps);
        self.a.abs() < 1 << 62 && self.b.abs() < 1 << 62 && lo <= least && most <= hi
    }
}

/// Change of a carry per step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Carry {
    /// It is constant.
    Fixed,
    /// It is an affine function of the step.
    Counter(Affine),
    /// A row is written at each step, and the carry is not read. `eqn` is the equation that writes,
    /// and `row` the row index.
    Stack { eqn: usize, row: Affine },
    /// Any other change.
    Free,
}

/// A loop with a known number of steps.
pub(super) struct CountedLoop {
    steps: usize,
    carries: Vec<Carry>,
    /// The form `a t + b` of each value of the body that has one.
    affine: Vec<Option<Affine>>,
}

fn number(f: &Raising, v: Val) -> Option<i128> {
    let ty = f.ty(v);
    match f.number(v)? {
        Scalar::I(i) if ty.rank() == 0 && ty.dtype.is_int() => Some(i),
        _ => None,
    }
}

impl CountedLoop {
    pub(super) fn new(f: &Raising, w: &While, x: &[Val]) -> Option<CountedLoop> {
        let (n, nc, nb) = (w.carry(), w.cond_consts, w.body_consts);
        let (body, init) = (&*w.body, &x[nc + nb..]);
        let params = &body.params()[nb..];
        // A loop that saves residuals, or that chooses what to save, keeps its form.
        if w.saves.is_some() || w.checkpoint != Checkpoint::Never {
            return None;
        }
        // A scan has the carries that change, and effects are executed for their loop.
        if body.must_run() || w.cond.must_run() {
            return None;
        }
        if body.results().len() != n || w.cond.params().len() != nc + n {
            return None;
        }
        // Constant carries and counters do not depend on the number of steps.
        let mut carries: Vec<Carry> = (0..n)
            .map(|k| match body.results()[k] {
                r if r == params[k] => Carry::Fixed,
                r => match (number(f, init[k]), step(body, r, params[k])) {
                    (Some(b), Some(a)) => Carry::Counter(Affine { a, b }),
                    _ => Carry::Free,
                },
            })
            .collect();
        let seeds = |function: &Function, consts: &[Val], steps: i128| {
            let mut seeds = vec![None; function.len()];
            for (p, &v) in function.params().iter().zip(consts) {
                seeds[p.index()] = number(f, v).map(Affine::constant);
            }
            for (k, p) in function.params()[consts.len()..].iter().enumerate() {
                seeds[p.index()] = match carries[k] {
                    Carry::Fixed => number(f, init[k]).map(Affine::constant),
                    Carry::Counter(a) if a.fits(function.ty(*p).dtype, steps) => Some(a),
                    _ => None,
                };
            }
            affine_values(function, seeds, steps)
        };
        let steps = trips(&w.cond, &seeds(&w.cond, &x[..nc], 1))?;
        // The counter must not wrap in the step after the last one, where the condition fails.
        let again = seeds(&w.cond, &x[..nc], steps as i128 + 1);
        if trips(&w.cond, &again) != Some(steps) {
            return None;
        }
        let affine = seeds(body, &x[nc..nc + nb], steps as i128);
        let used = body.uses(&vec![true; body.len()]);
        for k in 0..n {
            if carries[k] != Carry::Free || used[params[k].index()] != 1 {
                continue;
            }
            if let Some((eqn, row)) = writes_row(body, &affine, params[k], body.results()[k])
                && in_bounds(row, body.ty(params[k]), steps)
            {
                carries[k] = Carry::Stack { eqn, row };
            }
        }
        Some(CountedLoop {
            steps,
            carries,
            affine,
        })
    }

    /// Emits the scan and returns the results of the loop.
    fn write(&self, f: &Raising, w: &While, x: &[Val]) -> Result<Vals> {
        let (nc, nb) = (w.cond_consts, w.body_consts);
        let (consts, init) = (&x[nc..nc + nb], &x[nc + nb..]);
        let (cx, body) = (f.cx(), &*w.body);
        let rows = self.rows(body, nb);
        let needed = self.needed(body, nb, &rows);
        let fixed: Vec<usize> = self.carries_where(|c| matches!(c, Carry::Fixed));
        let free: Vec<usize> = self.carries_where(|c| matches!(c, Carry::Free));
        let stacks: Vec<usize> = self.carries_where(|c| matches!(c, Carry::Stack { .. }));
        let source = |v: Val| match body.def(v) {
            Def::Param(p) if p < nb => consts[p],
            Def::Param(p) => init[p - nb],
            Def::Eqn(_) => Val::POISON,
        };
        // All arrays are scanned in one direction: in reverse if most row indices decrease.
        let all = rows
            .iter()
            .map(|r| r.row)
            .chain(stacks.iter().filter_map(|&k| self.row_of(k)));
        let backward = all.map(|r| r.a.signum()).sum::<i128>() < 0;
        let along = |v: Val, row: Affine| match (row.a < 0) != backward {
            true => cx.reverse(v, &[0]),
            false => v,
        };
        let mut inputs: Vec<Val> = rows
            .iter()
            .map(|r| {
                let (lo, _) = r.row.ends(self.steps as i128);
                along(
                    cx.slice_axis(source(r.array), 0, lo as usize, lo as usize + self.steps),
                    r.row,
                )
            })
            .collect();
        // Counters that the body still uses become scanned operands.
        let counters = self.carries_where(|c| matches!(c, Carry::Counter(_)));
        let counters: Vec<usize> = counters
            .into_iter()
            .filter(|&k| needed[body.params()[nb + k].index()])
            .collect();
        for &k in &counters {
            if let Carry::Counter(a) = self.carries[k] {
                inputs.push(self.counted(cx, a, &cx.ty(init[k]), backward));
            }
        }
        let params = [&fixed[..], &free].concat();
        let before: Vec<Val> = body.params()[..nb]
            .iter()
            .copied()
            .chain(params.iter().map(|&k| body.params()[nb + k]))
            .collect();
        let after: Vec<Val> = counters.iter().map(|&k| body.params()[nb + k]).collect();
        let scan = Scan {
            body: self.scan_body(f, body, [&before, &after], &rows, &needed)?,
            length: Dim::Const(self.steps),
            reverse: backward,
            consts: nb + fixed.len(),
            carry: free.len(),
            checkpoint: Checkpoint::Never,
        };
        let operands: Vec<Val> = consts
            .iter()
            .copied()
            .chain(params.iter().map(|&k| init[k]))
            .chain(inputs)
            .collect();
        let y = cx.emit(scan.into(), &operands);
        let (last, stacked) = y.split_at(free.len());
        let at = |k: usize| last[free.iter().position(|&f| f == k).expect("a free carry")];
        let mut out = self.results(cx, init, at);
        for (&k, &v) in stacks.iter().zip(stacked) {
            if let Some(row) = self.row_of(k) {
                out[k] = self.insert_rows(cx, init[k], along(v, row), row);
            }
        }
        Ok(out)
    }

    /// The values of a counter of this type in all steps, in the order of the scan.
    fn counted(&self, cx: &dyn Emit, a: Affine, ty: &Type, backward: bool) -> Val {
        let ty = ty.batched(&Dim::Const(self.steps));
        let (first, by) = if backward {
            (a.b + a.a * (self.steps as i128 - 1), -a.a)
        } else {
            (a.b, a.a)
        };
        // Counters wrap in their element type.
        let number = |n: i128| cx.full(&ty, Scalar::I(n).cast(ty.dtype));
        cx.add(cx.mul(cx.iota(&ty, 0), number(by)), number(first))
    }

    /// The body of the scan: the needed equations of the loop's body. Its parameters are those of
    /// the first list, then `rows`, then those of the second list; its results are the free carries
    /// and the rows of stacks.
    fn scan_body(
        &self,
        f: &Raising,
        body: &Function,
        [before, after]: [&[Val]; 2],
        rows: &[RowRead],
        needed: &[bool],
    ) -> Result<Arc<Function>> {
        let b = f.cx().nested("body");
        let inner: &dyn Emit = &b;
        let mut map = vec![Val::POISON; body.len()];
        let param = |p: Val| b.param(body.ty(p).clone(), body.name_of(p).map(|n| &**n));
        for &p in before {
            map[p.index()] = param(p);
        }
        for r in rows {
            map[r.result.index()] = b.param(body.ty(r.result).clone(), None);
        }
        for &p in after {
            map[p.index()] = param(p);
        }
        for e in body.eqns() {
            let is_needed = e
                .results()
                .any(|r| needed[r.index()] && map[r.index()] == Val::POISON);
            if is_needed {
                let x: Vals = body.operands(e).iter().map(|v| map[v.index()]).collect();
                inner.set_loc(e.loc);
                for (r, y) in e.results().zip(inner.emit(e.op.clone(), &x)) {
                    map[r.index()] = y;
                }
            }
        }
        let (mut results, mut stacked) = (Vec::new(), Vec::new());
        for (carry, r) in self.carries.iter().zip(body.results()) {
            match carry {
                Carry::Free => results.push(map[r.index()]),
                Carry::Stack { eqn, .. } => {
                    let u = body.operands(&body.eqns()[*eqn])[1];
                    stacked.push(inner.reshape(map[u.index()], &body.ty(u).shape[1..]));
                }
                Carry::Fixed | Carry::Counter(_) => {}
            }
        }
        results.append(&mut stacked);
        Ok(Arc::new(b.finish(&results)?))
    }

    /// Number of steps.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Indices of the carries that are neither constant nor counters.
    pub(super) fn free(&self) -> Vec<usize> {
        self.carries_where(|c| !matches!(c, Carry::Fixed | Carry::Counter(_)))
    }

    /// Whether a carry equals the step index.
    pub(super) fn counts_steps(&self, k: usize) -> bool {
        self.carries[k] == Carry::Counter(Affine { a: 1, b: 0 })
    }

    /// Whether a carry is constant.
    pub(super) fn stays(&self, k: usize) -> bool {
        self.carries[k] == Carry::Fixed
    }

    /// The carries after the last step. `free` returns those of form [`Carry::Free`].
    pub(super) fn results(&self, cx: &dyn Emit, init: &[Val], free: impl Fn(usize) -> Val) -> Vals {
        let of = |(k, c): (usize, &Carry)| match c {
            Carry::Free => free(k),
            Carry::Counter(a) => {
                let last = Scalar::I(a.a * self.steps as i128 + a.b);
                cx.full_like(init[k], last.cast(cx.ty(init[k]).dtype))
            }
            Carry::Fixed | Carry::Stack { .. } => init[k],
        };
        self.carries.iter().enumerate().map(of).collect()
    }

    /// The initial array with `rows` written at their positions.
    fn insert_rows(&self, cx: &dyn Emit, init: Val, rows: Val, row: Affine) -> Val {
        if cx.ty(init).shape[0].is(self.steps) {
            return rows;
        }
        let (lo, _) = row.ends(self.steps as i128);
        let index = Type::scalar(DType::I64);
        let start: Vec<Val> = (0..cx.ty(init).rank())
            .map(|k| cx.full(&index, if k == 0 { lo as i64 } else { 0 }))
            .collect();
        cx.dynamic_update_slice(init, rows, &start)
    }

    fn carries_where(&self, is: impl Fn(&Carry) -> bool) -> Vec<usize> {
        (0..self.carries.len())
            .filter(|&k| is(&self.carries[k]))
            .collect()
    }

    fn row_of(&self, k: usize) -> Option<Affine> {
        match self.carries[k] {
            Carry::Stack { row, .. } => Some(row),
            _ => None,
        }
    }

    /// Reads of rows of constant arrays: a slice of extent 1 at `±t + b`, followed by a reshape.
    fn rows(&self, body: &Function, nb: usize) -> Vec<RowRead> {
        let fixed = |v: Val| match body.def(v) {
            Def::Param(p) => p < nb || matches!(self.carries[p - nb], Carry::Fixed),
            Def::Eqn(_) => false,
        };
        let mut out: Vec<RowRead> = Vec::new();
        for e in body.eqns() {
            let Op::Reshape(_) = e.op else { continue };
            let Def::Eqn(i) = body.def(body.operands(e)[0]) else {
                continue;
            };
            let slice = &body.eqns()[i];
            let Op::DynamicSlice(d) = &slice.op else {
                continue;
            };
            let x = body.operands(slice);
            let (array, ty) = (x[0], body.ty(x[0]));
            let Some(row) = x.get(1).and_then(|s| self.affine[s.index()]) else {
                continue;
            };
            let whole = d
                .sizes
                .iter()
                .zip(ty.shape.iter())
                .skip(1)
                .all(|(s, n)| s == n);
            let result = e.results().next().unwrap_or(Val::POISON);
            if fixed(array)
                && d.sizes[0].is(1)
                && whole
                && *body.ty(result).shape == ty.shape[1..]
                && in_bounds(row, ty, self.steps)
            {
                out.push(RowRead { array, row, result });
            }
        }
        out
    }

    /// Values that the body of the scan computes. Reads and writes of rows are left to the scan.
    fn needed(&self, body: &Function, nb: usize, rows: &[RowRead]) -> Vec<bool> {
        let mut need = vec![false; body.len()];
        for (k, c) in self.carries.iter().enumerate() {
            match c {
                Carry::Free => need[body.results()[k].index()] = true,
                Carry::Stack { eqn, .. } => {
                    need[body.operands(&body.eqns()[*eqn])[1].index()] = true
                }
                Carry::Fixed | Carry::Counter(_) => {}
            }
        }
        debug_assert!(body.params().len() >= nb);
        for e in body.eqns().iter().rev() {
            let given = rows.iter().any(|r| e.results().any(|v| v == r.result));
            if !given && e.results().any(|r| need[r.index()]) {
                body.operands(e).iter().for_each(|v| need[v.index()] = true);
            }
        }
        need
    }
}

/// A read of one row of `array` per step.
struct RowRead {
    array: Val,
    row: Affine,
    result: Val,
}

/// Whether all rows are in bounds and each is accessed once.
fn in_bounds(row: Affine, ty: &Type, steps: usize) -> bool {
    let (lo, hi) = row.ends(steps as i128);
    let extent = ty.shape.first().and_then(Dim::as_const);
    row.a.abs() == 1 && extent.is_some_and(|n| lo >= 0 && hi < n as i128 && steps <= n)
}

/// The constant `c` of `param + c`, if `result` has that form and `c` is not zero.
fn step(body: &Function, result: Val, param: Val) -> Option<i128> {
    let Def::Eqn(i) = body.def(result) else {
        return None;
    };
    let e = &body.eqns()[i];
    let x = body.operands(e);
    let other = |v: Val| match body.def(v) {
        Def::Eqn(i) => literal(body, &body.eqns()[i]),
        Def::Param(_) => None,
    };
    if body.ty(param).rank() != 0 || !body.ty(param).dtype.is_int() {
        return None;
    }
    match e.op {
        Op::Binary(Binary::Add) if x[0] == param => other(x[1]),
        Op::Binary(Binary::Add) if x[1] == param => other(x[0]),
        Op::Binary(Binary::Sub) if x[0] == param => other(x[1]).map(|c| -c),
        _ => None,
    }
    .filter(|&s| s != 0)
}

fn literal(f: &Function, e: &Eqn) -> Option<i128> {
    let r = e.results().next()?;
    match &e.op {
        Op::Constant(c) if f.ty(r).rank() == 0 => match &c.value {
            Value::Splat(Scalar::I(i)) => Some(*i),
            _ => None,
        },
        _ => None,
    }
}

/// The equation and the row index of a carry that is its parameter with one row overwritten.
fn writes_row(
    f: &Function,
    affine: &[Option<Affine>],
    param: Val,
    result: Val,
) -> Option<(usize, Affine)> {
    let Def::Eqn(i) = f.def(result) else {
        return None;
    };
    let e = &f.eqns()[i];
    let (Op::DynamicUpdateSlice(_), [x, u, start, ..]) = (&e.op, f.operands(e)) else {
        return None;
    };
    let (ty, tu) = (f.ty(*x), f.ty(*u));
    let whole = tu.shape[1..]
        .iter()
        .zip(&ty.shape[1..])
        .all(|(a, b)| a == b);
    (*x == param && tu.shape[0].is(1) && whole).then_some((i, affine[start.index()]?))
}

/// The form `a t + b` of integer scalars that have one and do not wrap.
fn affine_values(f: &Function, mut known: Vec<Option<Affine>>, steps: i128) -> Vec<Option<Affine>> {
    // Boolean scalars that are equal at every step.
    let mut truth: Vec<Option<bool>> = vec![None; f.len()];
    for e in f.eqns() {
        let Some(r) = e.results().next() else {
            continue;
        };
        if f.ty(r).rank() != 0 || e.results().len() != 1 {
            continue;
        }
        let x = f.operands(e);
        let of = |k: usize| x.get(k).and_then(|v: &Val| known[v.index()]);
        if let (Op::Compare(c), Some(a), Some(b)) = (&e.op, of(0), of(1)) {
            truth[r.index()] = always(
                c.0,
                Affine {
                    a: a.a - b.a,
                    b: a.b - b.b,
                }
                .ends(steps),
            );
            continue;
        }
        if !f.ty(r).dtype.is_int() {
            continue;
        }
        let value = match &e.op {
            Op::Constant(_) => literal(f, e).map(Affine::constant),
            Op::Convert(_) if f.ty(x[0]).dtype.is_int() => of(0),
            Op::Reshape(_) => of(0),
            Op::Unary(Unary::Neg) => of(0).map(|v| Affine { a: -v.a, b: -v.b }),
            Op::Binary(b) => of(0).zip(of(1)).and_then(|(u, v)| match b {
                Binary::Add => Some(Affine {
                    a: u.a + v.a,
                    b: u.b + v.b,
                }),
                Binary::Sub => Some(Affine {
                    a: u.a - v.a,
                    b: u.b - v.b,
                }),
                Binary::Mul if u.a == 0 => Some(Affine {
                    a: u.b.checked_mul(v.a)?,
                    b: u.b.checked_mul(v.b)?,
                }),
                Binary::Mul if v.a == 0 => Some(Affine {
                    a: v.b.checked_mul(u.a)?,
                    b: v.b.checked_mul(u.b)?,
                }),
                Binary::Max | Binary::Min => {
                    let d = Affine {
                        a: u.a - v.a,
                        b: u.b - v.b,
                    }
                    .ends(steps);
                    let at_least = always(Comparison::Ge, d)?;
                    Some(if at_least == (*b == Binary::Max) {
                        u
                    } else {
                        v
                    })
                }
                _ => None,
            }),
            Op::Select(_) => match truth[x[0].index()] {
                Some(true) => of(1),
                Some(false) => of(2),
                None => None,
            },
            _ => None,
        };
        known[r.index()] = value.filter(|v| v.fits(f.ty(r).dtype, steps));
    }
    known
}

/// Whether a difference within these bounds satisfies a comparison with zero at every step
/// (`Some(true)`) or at no step (`Some(false)`).
fn always(c: Comparison, (least, most): (i128, i128)) -> Option<bool> {
    let (at_least, at_most) = (c.holds(Some(least.cmp(&0))), c.holds(Some(most.cmp(&0))));
    match c {
        // Zero between the ends may be reached at some step.
        Comparison::Eq | Comparison::Ne if least <= 0 && most >= 0 && least != most => None,
        _ if at_least == at_most => Some(at_least),
        _ => None,
    }
}

/// The number of steps until a condition `counter < bound` fails. It does not depend on the assumed
/// number of steps: the counter is a seed, and the bound a constant.
fn trips(cond: &Function, known: &[Option<Affine>]) -> Option<usize> {
    let Def::Eqn(i) = cond.def(*cond.results().first()?) else {
        return None;
    };
    let e = &cond.eqns()[i];
    let (Op::Compare(c), [x, y]) = (&e.op, cond.operands(e)) else {
        return None;
    };
    let (u, v) = (known[x.index()]?, known[y.index()]?);
    // The difference `a t + b`, which is compared with zero.
    let d = Affine {
        a: u.a - v.a,
        b: u.b - v.b,
    };
    let ceil = |num: i128, den: i128| if num <= 0 { 0 } else { (num - 1) / den + 1 };
    let n = match c.0 {
        Comparison::Lt if d.a > 0 => ceil(-d.b, d.a),
        Comparison::Le if d.a > 0 => ceil(1 - d.b, d.a),
        Comparison::Gt if d.a < 0 => ceil(d.b, -d.a),
        Comparison::Ge if d.a < 0 => ceil(d.b + 1, -d.a),
        Comparison::Ne if d.a != 0 && d.b % d.a == 0 && -d.b / d.a >= 0 => -d.b / d.a,
        _ => return None,
    };
    usize::try_from(n).ok().filter(|&n| n < 1 << 40)
}
