//! Shifts that cancel: values that only keep numbers in range, as the maximum that softmax and
//! logsumexp subtract.
//!
//! ```text
//! exp(x - m) / sum(exp(x - m)),    (x - m) - log(sum(exp(x - m))),    log(sum(exp(x - m))) + m
//! ```
//! do not depend on `m`, so neither does any of their derivatives, of any order: they are derived
//! with `m` held fixed. That the rest of a program does not depend on `m` is followed from use to
//! use. If `m` grows by `d`, a value is `v + k d` ([`By::Sum`]) or `v exp(k d)` ([`By::Factor`]),
//! with an integer `k` and `d` repeated along the axes that `m` does not have; where `k` is 0, and
//! in what has no derivative (truth values, integers), `m` has cancelled. A use that leads to
//! anything else, or to a result, keeps `m`.

use crate::ir::{Def, Eqn, Function, ShiftRule, Val};
use crate::shape::Shape;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// How a value changes with the shift.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// `v + k d`
    Sum,
    /// `v exp(k d)`
    Factor,
}

/// A value that changes with the shift: how, how often, and which axis of the shift each of its
/// axes is, if any.
#[derive(Clone, PartialEq, Eq)]
struct Shifted {
    by: By,
    k: i32,
    axes: Vec<Option<usize>>,
}

impl Shifted {
    fn times(self, k: i32) -> Shifted {
        Shifted {
            k: self.k * k,
            ..self
        }
    }
}

/// More equations than this are not followed.
const FAR: usize = 64;

/// The values that `needed` equations subtract before an exponential and that cancel afterwards. A
/// value that is given a tangent of its own on the way, one of `seeds`, keeps the shift.
/// O(equations).
pub(crate) fn cancelling(
    f: &Function,
    needed: &[bool],
    seeds: impl Fn(Val) -> bool,
) -> FxHashSet<Val> {
    let mut shifts: Vec<Val> = live(f, needed)
        .filter_map(|(_, e)| subtracted(f, e))
        .collect();
    shifts.dedup();
    if shifts.is_empty() {
        return FxHashSet::default();
    }
    let mut users: FxHashMap<Val, Vec<usize>> = FxHashMap::default();
    for (i, e) in live(f, needed) {
        f.operands(e)
            .iter()
            .for_each(|&v| users.entry(v).or_default().push(i));
    }
    shifts
        .into_iter()
        .filter(|&m| !seeds(m) && cancels(f, m, &users, &seeds))
        .collect()
}

fn live<'f>(f: &'f Function, needed: &'f [bool]) -> impl Iterator<Item = (usize, &'f Eqn)> {
    f.eqns()
        .iter()
        .enumerate()
        .filter(|(_, e)| e.results().any(|r| needed[r.index()]))
}

fn eqn(f: &Function, v: Val) -> Option<&Eqn> {
    match f.def(v) {
        Def::Eqn(i) => Some(&f.eqns()[i]),
        Def::Param(_) => None,
    }
}

/// The value itself where one is repeated or gets axes of length 1.
fn unrepeated(f: &Function, mut v: Val) -> Val {
    let is_view = |e: &&Eqn| {
        matches!(
            e.op.shift_rule(),
            Some(ShiftRule::Broadcast(_) | ShiftRule::Reshape)
        )
    };
    while let Some(e) = eqn(f, v).filter(is_view) {
        v = f.operands(e)[0];
    }
    v
}

/// The `m` of `exp(x - m)`, if it was computed and can have a tangent.
fn subtracted(f: &Function, e: &Eqn) -> Option<Val> {
    if e.op.shift_rule() != Some(ShiftRule::Exp) {
        return None;
    }
    let difference =
        eqn(f, f.operands(e)[0]).filter(|e| e.op.shift_rule() == Some(ShiftRule::Subtract))?;
    let m = unrepeated(f, f.operands(difference)[1]);
    let fixed = eqn(f, m)?.op.shift_rule() == Some(ShiftRule::Fixed);
    (!fixed && f.ty(m).dtype.is_float()).then_some(m)
}

/// Whether nothing depends on `m` but through values in which it cancels.
fn cancels(
    f: &Function,
    m: Val,
    users: &FxHashMap<Val, Vec<usize>>,
    seeds: &impl Fn(Val) -> bool,
) -> bool {
    let of = &f.ty(m).shape;
    let axes = (0..of.rank())
        .map(|a| (!of[a].is(1)).then_some(a))
        .collect();
    let mut known = FxHashMap::from_iter([(
        m,
        Shifted {
            by: By::Sum,
            k: 1,
            axes,
        },
    )]);
    let readers = |v: Val| users.get(&v).into_iter().flatten().copied();
    let mut next: BTreeSet<usize> = readers(m).collect();
    if f.results().contains(&m) {
        return false;
    }
    for _ in 0..FAR {
        // In the order of the equations: what one reads is known by then.
        let Some(i) = next.pop_first() else {
            return true;
        };
        let e = &f.eqns()[i];
        if e.results().all(|r| !f.ty(r).dtype.has_tangent()) {
            continue;
        }
        let (Some(y), Some(r)) = (result(f, e, &known), e.results().next()) else {
            return false;
        };
        if y.k == 0 {
            continue;
        }
        if seeds(r) || f.results().contains(&r) {
            return false;
        }
        next.extend(readers(r));
        known.insert(r, y);
    }
    false
}

/// How the result of an equation changes, if that can be said.
fn result(f: &Function, e: &Eqn, known: &FxHashMap<Val, Shifted>) -> Option<Shifted> {
    let x = f.operands(e);
    let to = &f.ty(e.results().next()?).shape;
    let of = |k: usize| known.get(&x[k]).cloned();
    match e.op.shift_rule()? {
        ShiftRule::Fixed => None,
        rule @ (ShiftRule::Negate
        | ShiftRule::Magnitude
        | ShiftRule::Sign
        | ShiftRule::Exp
        | ShiftRule::Log) => unary(rule, of(0)?),
        rule @ (ShiftRule::Add | ShiftRule::Subtract | ShiftRule::Multiply | ShiftRule::Divide) => {
            binary(rule, of(0), of(1))
        }
        ShiftRule::Convert => of(0).filter(|_| f.ty(x[0]).dtype.is_float()),
        ShiftRule::Choose => match (of(1), of(2)) {
            (Some(a), Some(b)) => (a == b).then_some(a),
            // Zero times anything is zero.
            (Some(a), None) => (a.by == By::Factor && f.is_zero(unrepeated(f, x[2]))).then_some(a),
            (None, Some(b)) => (b.by == By::Factor && f.is_zero(unrepeated(f, x[1]))).then_some(b),
            (None, None) => None,
        },
        ShiftRule::Sum(axes) => sum(axes, of(0)?),
        ShiftRule::Broadcast(dims) => repeated(of(0)?, &f.ty(x[0]).shape, to, dims),
        ShiftRule::Reshape => reshaped(of(0)?, &f.ty(x[0]).shape, to),
        ShiftRule::Permute(perm) => {
            let x = of(0)?;
            Some(Shifted {
                axes: perm.iter().map(|&a| x.axes[a]).collect(),
                ..x
            })
        }
    }
}

fn unary(rule: ShiftRule<'_>, x: Shifted) -> Option<Shifted> {
    match (rule, x.by) {
        (ShiftRule::Negate, By::Sum) => Some(x.times(-1)),
        (ShiftRule::Negate | ShiftRule::Magnitude, By::Factor) => Some(x),
        (ShiftRule::Sign, By::Factor) => Some(x.times(0)),
        (ShiftRule::Exp, By::Sum) => Some(Shifted {
            by: By::Factor,
            ..x
        }),
        (ShiftRule::Log, By::Factor) => Some(Shifted { by: By::Sum, ..x }),
        _ => None,
    }
}

/// With one operand that does not change, or two that change along the same axes.
fn binary(rule: ShiftRule<'_>, a: Option<Shifted>, b: Option<Shifted>) -> Option<Shifted> {
    let by = a.as_ref().or(b.as_ref())?.by;
    let sign = match (rule, by) {
        (ShiftRule::Add, By::Sum) | (ShiftRule::Multiply, By::Factor) => 1,
        (ShiftRule::Subtract, By::Sum) | (ShiftRule::Divide, By::Factor) => -1,
        (ShiftRule::Add | ShiftRule::Subtract, By::Factor) => {
            return a.filter(|a| Some(a) == b.as_ref());
        }
        _ => return None,
    };
    match (a, b.map(|b| b.times(sign))) {
        (Some(a), Some(b)) => {
            (a.by == b.by && a.axes == b.axes).then(|| Shifted { k: a.k + b.k, ..a })
        }
        (a, b) => a.or(b),
    }
}

/// A sum over axes along which the shift repeats.
fn sum(gone: &[usize], x: Shifted) -> Option<Shifted> {
    if x.by != By::Factor {
        return None;
    }
    let axes: Vec<_> = x
        .axes
        .iter()
        .enumerate()
        .filter(|(a, _)| !gone.contains(a))
        .map(|(_, &m)| m)
        .collect();
    gone.iter()
        .all(|&a| x.axes[a].is_none())
        .then_some(Shifted { axes, ..x })
}

fn repeated(x: Shifted, from: &Shape, to: &Shape, dims: &[usize]) -> Option<Shifted> {
    let mut axes = vec![None; to.rank()];
    for ((&d, m), n) in dims.iter().zip(&x.axes).zip(from.iter()) {
        if m.is_some() && n.same(&to[d]) != Some(true) {
            return None;
        }
        axes[d] = *m;
    }
    Some(Shifted { axes, ..x })
}

/// Axes of length 1 put in or left out.
fn reshaped(x: Shifted, from: &Shape, to: &Shape) -> Option<Shifted> {
    let long = |s: &Shape| {
        (0..s.rank())
            .filter(|&a| !s[a].is(1))
            .collect::<Vec<usize>>()
    };
    let (a, b) = (long(from), long(to));
    if a.len() != b.len()
        || a.iter()
            .zip(&b)
            .any(|(&a, &b)| from[a].same(&to[b]) != Some(true))
    {
        return None;
    }
    let mut axes = vec![None; to.rank()];
    a.iter().zip(&b).for_each(|(&a, &b)| axes[b] = x.axes[a]);
    Some(Shifted { axes, ..x })
}
