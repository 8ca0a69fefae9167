//! Counted loops: a `while` whose condition compares a counter with a constant, or with an extent,
//! becomes a scan.
//!
//! Programs print `scan` and `fori_loop` as loops with a counter. Scanned operands are read with
//! `dynamic_slice` at the counter, and stacked results are written with `dynamic_update_slice`.
//! They are converted back to scans:
//!
//! ```text
//! i = lo; while i < hi { c = body(i, c, x[i]); y[i] = ..; i += s }
//!     ->  scan of length ceil((hi - lo) / s)
//! ```
//! Integer scalars are tracked as `a t + b` at step `t` ([`Affine`]). Carries that do not change
//! become constants. Arrays read at `±t + b` within bounds become scanned operands. Carries that
//! are only written at `±t + b` become stacked results. Condition: the step is a constant, start
//! and bound are sums of constants and extents, and the counter does not wrap. Values are equal to
//! the bit.

use super::affine::{Affine, affine_values, computed, literal, trips};
use super::pattern::Raising;
use crate::array::Scalar;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Def, Emit, Function, Op, Val, Vals};
use crate::ops::{Binary, Checkpoint, Scan, While};
use crate::rewrite::extent_sum::ExtentSum;
use crate::shape::{Dim, Type};
use std::sync::Arc;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::While(w) = op else { return None };
    CountedLoop::new(r, w, x)?.write(r, w, x).ok()
}

/// Largest known number of steps of [`raise_short`]. Counters become arrays, with an element for
/// each step.
const MAX_SHORT_STEPS: usize = 1 << 16;

/// As [`raise`], for loops of few steps and of an extent.
pub(super) fn raise_short(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::While(w) = op else { return None };
    let counted = CountedLoop::new(r, w, x)?;
    let short = (counted.length().as_const()).is_none_or(|n| n <= MAX_SHORT_STEPS);
    short.then(|| counted.write(r, w, x).ok())?
}

/// Change of a carry per step.
#[derive(Clone, PartialEq)]
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

/// A loop whose number of steps is a sum of a number and extents.
pub(super) struct CountedLoop {
    /// The number of steps, or a negative number if there are none.
    steps: ExtentSum,
    carries: Vec<Carry>,
    /// The form `a t + b` of each value of the body that has one.
    affine: Vec<Option<Affine>>,
}

/// Maximum number of operations through which an integer scalar outside of the loop is followed.
const MAX_FOLLOWED_OPERATIONS: usize = 8;

/// An integer scalar outside of the loop that is a sum of constants and extents.
fn count(f: &Raising, v: Val) -> Option<ExtentSum> {
    followed(f, v, MAX_FOLLOWED_OPERATIONS).map(|v| v.b)
}

fn followed(f: &Raising, v: Val, operations: usize) -> Option<Affine> {
    let ty = f.ty(v);
    if ty.rank() != 0 || !ty.dtype.is_int() {
        return None;
    }
    let once = ExtentSum::number(1);
    let value = match f.number(v) {
        Some(Scalar::I(i)) => Affine::constant(ExtentSum::number(i)),
        _ => {
            let left = operations.checked_sub(1)?;
            let of = |x: &[Val], k: usize| followed(f, *x.get(k)?, left);
            f.with_def(v, |op, x| computed(op, |k| of(x, k), || None, &once))??
        }
    };
    value.fits(ty.dtype, &once).then_some(value)
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
                r => match (count(f, init[k]), step(body, r, params[k])) {
                    (Some(b), Some(a)) => Carry::Counter(Affine { a, b }),
                    _ => Carry::Free,
                },
            })
            .collect();
        let seeds = |function: &Function, consts: &[Val], steps: &ExtentSum| {
            let mut seeds = vec![None; function.len()];
            for (p, &v) in function.params().iter().zip(consts) {
                seeds[p.index()] = count(f, v).map(Affine::constant);
            }
            for (k, p) in function.params()[consts.len()..].iter().enumerate() {
                seeds[p.index()] = match &carries[k] {
                    Carry::Fixed => count(f, init[k]).map(Affine::constant),
                    Carry::Counter(a) if a.fits(function.ty(*p).dtype, steps) => Some(a.clone()),
                    _ => None,
                };
            }
            affine_values(function, seeds, steps)
        };
        let one = ExtentSum::number(1);
        let steps = trips(&w.cond, &seeds(&w.cond, &x[..nc], &one))?;
        // The counter must not wrap in the step after the last one, where the condition fails.
        let again = seeds(&w.cond, &x[..nc], &steps.plus(&one, 1));
        if trips(&w.cond, &again).as_ref() != Some(&steps) {
            return None;
        }
        let affine = seeds(body, &x[nc..nc + nb], &steps);
        let used = body.uses(&vec![true; body.len()]);
        for k in 0..n {
            if carries[k] != Carry::Free || used[params[k].index()] != 1 {
                continue;
            }
            if let Some((eqn, row)) = writes_row(body, &affine, params[k], body.results()[k])
                && in_bounds(&row, body.ty(params[k]), &steps)
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
            .map(|r| &r.row)
            .chain(stacks.iter().filter_map(|&k| self.row_of(k)));
        let backward = all.map(|r| r.a.signum()).sum::<i128>() < 0;
        let along = |v: Val, row: &Affine| match (row.a < 0) != backward {
            true => cx.reverse(v, &[0]),
            false => v,
        };
        let mut inputs: Vec<Val> = rows
            .iter()
            .map(|r| {
                let array = source(r.array);
                // Without a step, there may be no such row.
                let first = self.first(&r.row).least(&cx.ty(array).shape[0]);
                let limit = first.clone() + self.length();
                along(cx.slice_axis(array, 0, first, limit), &r.row)
            })
            .collect();
        // Counters that the body still uses become scanned operands.
        let counters = self.carries_where(|c| matches!(c, Carry::Counter(_)));
        let counters: Vec<usize> = counters
            .into_iter()
            .filter(|&k| needed[body.params()[nb + k].index()])
            .collect();
        for &k in &counters {
            if let Carry::Counter(a) = &self.carries[k] {
                inputs.push(self.counted(cx, a, init[k], backward));
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
            length: self.length(),
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

    /// The values of a counter in all steps, in the order of the scan.
    fn counted(&self, cx: &dyn Emit, a: &Affine, init: Val, backward: bool) -> Val {
        let ty = cx.ty(init).batched(&self.length());
        let (first, by) = match backward {
            true => (self.after(cx, a, init, -1), -a.a),
            false => (init, a.a),
        };
        // Counters wrap in their element type.
        let by = cx.full(&ty, Scalar::I(by).cast(ty.dtype));
        cx.add(
            cx.mul(cx.iota(&ty, 0), by),
            cx.broadcast_in_dim(first, &ty.shape, &[]),
        )
    }

    /// The value of a counter that begins with `init`, `more` steps after the last step.
    fn after(&self, cx: &dyn Emit, a: &Affine, init: Val, more: i128) -> Val {
        let ty = cx.ty(init);
        let number = |n: i128| cx.full(&ty, Scalar::I(n).cast(ty.dtype));
        match (self.steps.as_number(), a.b.as_number()) {
            (Some(steps), Some(first)) => number(a.a * (steps + more) + first),
            _ => {
                let steps = cx.add(cx.extent(&ty, &self.length()), number(more));
                cx.add(init, cx.mul(number(a.a), steps))
            }
        }
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
    pub(super) fn length(&self) -> Dim {
        self.steps.dim()
    }

    /// The first of the rows that all steps access.
    fn first(&self, row: &Affine) -> Dim {
        row.ends(&self.steps).0.dim()
    }

    /// Indices of the carries that are neither constant nor counters.
    pub(super) fn free(&self) -> Vec<usize> {
        self.carries_where(|c| !matches!(c, Carry::Fixed | Carry::Counter(_)))
    }

    /// Whether a carry equals the step index.
    pub(super) fn counts_steps(&self, k: usize) -> bool {
        let step = Affine {
            a: 1,
            b: ExtentSum::number(0),
        };
        self.carries[k] == Carry::Counter(step)
    }

    /// Whether a carry is constant.
    pub(super) fn stays(&self, k: usize) -> bool {
        self.carries[k] == Carry::Fixed
    }

    /// The carries after the last step. `free` returns those of form [`Carry::Free`].
    pub(super) fn results(&self, cx: &dyn Emit, init: &[Val], free: impl Fn(usize) -> Val) -> Vals {
        let of = |(k, c): (usize, &Carry)| match c {
            Carry::Free => free(k),
            Carry::Counter(a) => self.after(cx, a, init[k], 0),
            Carry::Fixed | Carry::Stack { .. } => init[k],
        };
        self.carries.iter().enumerate().map(of).collect()
    }

    /// The initial array with `rows` written at their positions.
    fn insert_rows(&self, cx: &dyn Emit, init: Val, rows: Val, row: &Affine) -> Val {
        if cx.ty(init).shape[0] == self.length() {
            return rows;
        }
        let (first, zero) = (self.first(row), Dim::Const(0));
        let index = Type::scalar(DType::I64);
        let start: Vec<Val> = (0..cx.ty(init).rank())
            .map(|k| cx.extent(&index, if k == 0 { &first } else { &zero }))
            .collect();
        cx.dynamic_update_slice(init, rows, &start)
    }

    fn carries_where(&self, is: impl Fn(&Carry) -> bool) -> Vec<usize> {
        (0..self.carries.len())
            .filter(|&k| is(&self.carries[k]))
            .collect()
    }

    fn row_of(&self, k: usize) -> Option<&Affine> {
        match &self.carries[k] {
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
            let Some(row) = x.get(1).and_then(|s| self.affine[s.index()].clone()) else {
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
                && in_bounds(&row, ty, &self.steps)
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
fn in_bounds(row: &Affine, ty: &Type, steps: &ExtentSum) -> bool {
    let Some(extent) = ty.shape.first() else {
        return false;
    };
    let (least, most) = row.ends(steps);
    let after = ExtentSum::extent(extent).plus(&most, -1);
    row.a.abs() == 1
        && least.is_never_negative_in(steps)
        && after
            .plus(&ExtentSum::number(1), -1)
            .is_never_negative_in(steps)
}

/// The constant `c` of `param + c`, if `result` has that form and `c` is not zero.
fn step(body: &Function, result: Val, param: Val) -> Option<i128> {
    let (op, x) = body.definition(result)?;
    let other = |v: Val| literal(body.definition(v)?.0)?.as_number();
    if body.ty(param).rank() != 0 || !body.ty(param).dtype.is_int() {
        return None;
    }
    match op {
        Op::Binary(Binary::Add) if x[0] == param => other(x[1]),
        Op::Binary(Binary::Add) if x[1] == param => other(x[0]),
        Op::Binary(Binary::Sub) if x[0] == param => other(x[1]).map(|c| -c),
        _ => None,
    }
    .filter(|&s| s != 0)
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
    (*x == param && tu.shape[0].is(1) && whole).then_some((i, affine[start.index()].clone()?))
}
