//! Integers that are affine in the step of a loop: `a t + b` at step `t`, with a number `a` and a
//! sum `b` of a number and extents.
//!
//! Comparisons hold for all extents for which the loop has a step.

use crate::array::Scalar;
use crate::dtype::DType;
use crate::ir::{Eqn, Function, Op, Val};
use crate::ops::{Binary, Comparison, Unary, Value};
use crate::rewrite::extent_sum::{ExtentSum, MAX_FOLLOWED};

/// The integer `a t + b` at step `t`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) a: i128,
    pub(super) b: ExtentSum,
}

impl Affine {
    pub(super) fn constant(b: ExtentSum) -> Affine {
        Affine { a: 0, b }
    }

    /// The least and greatest value over all steps.
    pub(super) fn ends(&self, steps: &ExtentSum) -> (ExtentSum, ExtentSum) {
        let last = match steps.as_number() {
            Some(n) => ExtentSum::number((n - 1).max(0)),
            None => steps.minus(&ExtentSum::number(1)),
        };
        let last = self.b.plus(&last, self.a);
        if self.a < 0 {
            (last, self.b.clone())
        } else {
            (self.b.clone(), last)
        }
    }

    /// Whether the value is in the range of an element type at every step, so that it does not
    /// wrap.
    pub(super) fn fits(&self, dtype: DType, steps: &ExtentSum) -> bool {
        let (least, most) = self.ends(steps);
        self.a.abs() < MAX_FOLLOWED
            && [&self.b, &least, &most].iter().all(|c| c.is_followed())
            && least.fits(dtype)
            && most.fits(dtype)
    }

    fn plus(&self, other: &Affine, scale: i128) -> Affine {
        Affine {
            a: self.a + scale * other.a,
            b: self.b.plus(&other.b, scale),
        }
    }

    fn minus(&self, other: &Affine) -> Affine {
        self.plus(other, -1)
    }

    fn times(&self, other: &Affine) -> Option<Affine> {
        let number = |v: &Affine| v.b.as_number().filter(|_| v.a == 0);
        let (scale, of) = match (number(self), number(other)) {
            (Some(n), _) => (n, other),
            (None, Some(n)) => (n, self),
            (None, None) => return None,
        };
        Some(Affine {
            a: scale.checked_mul(of.a)?,
            b: of.b.times(scale),
        })
    }
}

/// A constant integer scalar.
pub(super) fn literal(op: &Op) -> Option<ExtentSum> {
    match op {
        Op::Constant(c) if c.ty.rank() == 0 && c.ty.dtype.is_int() => match &c.value {
            Value::Splat(Scalar::I(i)) => Some(ExtentSum::number(*i)),
            Value::Extent(d) => Some(ExtentSum::extent(d)),
            _ => None,
        },
        _ => None,
    }
}

/// The integer scalar that an operation computes from integer scalars. `select` is the value that a
/// `select` takes.
pub(super) fn computed(
    op: &Op,
    of: impl Fn(usize) -> Option<Affine>,
    select: impl Fn() -> Option<Affine>,
    steps: &ExtentSum,
) -> Option<Affine> {
    match op {
        Op::Constant(_) => literal(op).map(Affine::constant),
        Op::Convert(_) | Op::Reshape(_) => of(0),
        Op::Unary(Unary::Neg) => of(0).map(|v| Affine::constant(ExtentSum::number(0)).minus(&v)),
        Op::Binary(b) => {
            let (u, v) = of(0).zip(of(1))?;
            match b {
                Binary::Add => Some(u.plus(&v, 1)),
                Binary::Sub => Some(u.minus(&v)),
                Binary::Mul => u.times(&v),
                Binary::Max | Binary::Min => {
                    let at_least = always(Comparison::Ge, &u.minus(&v), steps)?;
                    Some(if at_least == (*b == Binary::Max) {
                        u
                    } else {
                        v
                    })
                }
                _ => None,
            }
        }
        Op::Select(_) => select(),
        _ => None,
    }
}

/// The form `a t + b` of integer scalars that have one and do not wrap.
pub(super) fn affine_values(
    f: &Function,
    mut known: Vec<Option<Affine>>,
    steps: &ExtentSum,
) -> Vec<Option<Affine>> {
    // Boolean scalars that are equal at every step.
    let mut truth: Vec<Option<bool>> = vec![None; f.len()];
    for e in f.eqns() {
        let Some(r) = scalar_result(f, e) else {
            continue;
        };
        let x = f.operands(e);
        let of = |k: usize| x.get(k).and_then(|v: &Val| known[v.index()].clone());
        if let (Op::Compare(c), Some(u), Some(v)) = (&e.op, of(0), of(1)) {
            truth[r.index()] = always(c.0, &u.minus(&v), steps);
        } else if f.ty(r).dtype.is_int() {
            let select = || of(if truth[x[0].index()]? { 1 } else { 2 });
            let value = computed(&e.op, of, select, steps);
            // An extent that the step itself binds differs from step to step.
            let steady = |v: &Affine| f.bound_syms().is_empty() || v.b.as_number().is_some();
            let fits = |v: &Affine| v.fits(f.ty(r).dtype, steps) && steady(v);
            known[r.index()] = value.filter(fits);
        }
    }
    known
}

/// The result of an equation with one result, a scalar.
fn scalar_result(f: &Function, e: &Eqn) -> Option<Val> {
    let mut results = e.results();
    let r = results.next()?;
    (results.next().is_none() && f.ty(r).rank() == 0).then_some(r)
}

/// Whether a difference satisfies a comparison with zero at every step (`Some(true)`) or at no step
/// (`Some(false)`).
fn always(c: Comparison, difference: &Affine, steps: &ExtentSum) -> Option<bool> {
    let (least, most) = difference.ends(steps);
    let at_least = |c: &ExtentSum, n: i128| {
        let more = c.minus(&ExtentSum::number(n));
        more.is_never_negative_in(steps)
    };
    let at_most = |c: &ExtentSum, n: i128| at_least(&c.times(-1), -n);
    let known = |holds: bool, fails: bool| (holds || fails).then_some(holds);
    let zero = Some(0);
    match c {
        Comparison::Lt => known(at_most(&most, -1), at_least(&least, 0)),
        Comparison::Ge => known(at_least(&least, 0), at_most(&most, -1)),
        Comparison::Le => known(at_most(&most, 0), at_least(&least, 1)),
        Comparison::Gt => known(at_least(&least, 1), at_most(&most, 0)),
        Comparison::Eq | Comparison::Ne => {
            let equal = least.as_number() == zero && most.as_number() == zero;
            let differ = at_least(&least, 1) || at_most(&most, -1);
            known(equal, differ).map(|equal| equal == (c == Comparison::Eq))
        }
    }
}

/// The number of steps until a condition `counter < bound` fails: not positive if it fails at
/// first. It does not depend on the assumed number of steps: the counter is a seed, and the bound a
/// constant.
pub(super) fn trips(cond: &Function, known: &[Option<Affine>]) -> Option<ExtentSum> {
    let (op, x) = cond.definition(*cond.results().first()?)?;
    let (Op::Compare(c), [x, y]) = (op, x) else {
        return None;
    };
    // The difference `a t + b`, which is compared with zero.
    let d = known[x.index()].as_ref()?.minus(known[y.index()].as_ref()?);
    let below = |n: i128| d.b.times(-1).plus(&ExtentSum::number(n), 1);
    let above = |n: i128| d.b.plus(&ExtentSum::number(n), 1);
    let n = match c.0 {
        Comparison::Lt if d.a > 0 => below(0).ceil_div(d.a)?,
        Comparison::Le if d.a > 0 => below(1).ceil_div(d.a)?,
        Comparison::Gt if d.a < 0 => above(0).ceil_div(-d.a)?,
        Comparison::Ge if d.a < 0 => above(1).ceil_div(-d.a)?,
        Comparison::Ne => steps_to_zero(&d)?,
        _ => return None,
    };
    let countable = n.as_number().is_none_or(|n| n < 1 << 40);
    (countable && n.is_followed()).then_some(n)
}

/// The step at which a value is zero.
fn steps_to_zero(d: &Affine) -> Option<ExtentSum> {
    let n = match d.b.as_number() {
        Some(b) if d.a != 0 && b % d.a == 0 => ExtentSum::number(-b / d.a),
        None if d.a.abs() == 1 => d.b.times(-d.a),
        _ => return None,
    };
    n.is_never_negative().then_some(n)
}
