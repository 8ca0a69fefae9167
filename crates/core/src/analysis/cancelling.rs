//! Shifts that cancel: values that only prevent overflow, such as the maximum that softmax and
//! logsumexp subtract.
//!
//! ```text
//! exp(x - m) / sum(exp(x - m)),    (x - m) - log(sum(exp(x - m))),    log(sum(exp(x - m))) + m
//! ```
//! do not depend on `m`, and neither do their derivatives of any order. They are differentiated
//! with `m` held constant. The analysis follows the uses of `m`. If `m` grows by `d`, a value is
//! `v + k d` ([`ShiftKind::Sum`]) or `v exp(k d)` ([`ShiftKind::Factor`]), with an integer `k` and
//! `d` broadcast along the axes that `m` does not have. Where `k` is 0, and in values without a
//! derivative (booleans, integers), `m` has cancelled. Any other use, and a use as a result, keeps
//! the dependence on `m`.

use crate::ir::{Def, Eqn, Function, ShiftRule, Val};
use crate::shape::Shape;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The dependence of a value on the shift.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShiftKind {
    /// `v + k d`
    Sum,
    /// `v exp(k d)`
    Factor,
}

/// A value that depends on the shift: the kind, the factor `k`, and for each of its axes the axis
/// of the shift, if any.
#[derive(Clone, PartialEq, Eq)]
struct Shifted {
    by: ShiftKind,
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

/// Maximum number of equations that depend on a shift. If there are more, the shift is assumed not
/// to cancel.
const MAX_FOLLOWED_EQUATIONS: usize = 64;

/// Values that `needed` equations subtract before an exponential and that cancel afterwards. A
/// shift does not cancel if an intermediate value has a tangent of its own (`seeds`). O(equations).
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

/// The operand below broadcasts and reshapes that only insert axes of length 1.
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

/// Whether `m` cancels in all values that depend on it.
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
            by: ShiftKind::Sum,
            k: 1,
            axes,
        },
    )]);
    let readers = |v: Val| users.get(&v).into_iter().flatten().copied();
    let mut next: BTreeSet<usize> = readers(m).collect();
    if f.results().contains(&m) {
        return false;
    }
    for _ in 0..MAX_FOLLOWED_EQUATIONS {
        // In the order of equations, so that operands are processed first.
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

/// The dependence of an equation's result on the shift, or `None` if it has another form.
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
            (Some(a), None) => {
                (a.by == ShiftKind::Factor && f.is_zero(unrepeated(f, x[2]))).then_some(a)
            }
            (None, Some(b)) => {
                (b.by == ShiftKind::Factor && f.is_zero(unrepeated(f, x[1]))).then_some(b)
            }
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
        (ShiftRule::Negate, ShiftKind::Sum) => Some(x.times(-1)),
        (ShiftRule::Negate | ShiftRule::Magnitude, ShiftKind::Factor) => Some(x),
        (ShiftRule::Sign, ShiftKind::Factor) => Some(x.times(0)),
        (ShiftRule::Exp, ShiftKind::Sum) => Some(Shifted {
            by: ShiftKind::Factor,
            ..x
        }),
        (ShiftRule::Log, ShiftKind::Factor) => Some(Shifted {
            by: ShiftKind::Sum,
            ..x
        }),
        _ => None,
    }
}

/// The result for one operand that does not depend on the shift, or two that depend on it along the
/// same axes.
fn binary(rule: ShiftRule<'_>, a: Option<Shifted>, b: Option<Shifted>) -> Option<Shifted> {
    let by = a.as_ref().or(b.as_ref())?.by;
    let sign = match (rule, by) {
        (ShiftRule::Add, ShiftKind::Sum) | (ShiftRule::Multiply, ShiftKind::Factor) => 1,
        (ShiftRule::Subtract, ShiftKind::Sum) | (ShiftRule::Divide, ShiftKind::Factor) => -1,
        (ShiftRule::Add | ShiftRule::Subtract, ShiftKind::Factor) => {
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

/// A sum over axes along which the shift is broadcast.
fn sum(gone: &[usize], x: Shifted) -> Option<Shifted> {
    if x.by != ShiftKind::Factor {
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

/// A reshape that inserts or removes axes of length 1.
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
