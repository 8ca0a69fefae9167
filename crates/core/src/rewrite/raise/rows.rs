//! [`RowExponentials`]: matcher for values with one element for each row of an array, shared by the patterns
//! of `softmax`, `log_softmax` and `logsumexp`.
//!
//! Programs keep reduced axes with extent 1 or remove them, so broadcasts and reshapes that add no
//! element are looked through.

use super::pattern::{Raising, in_either_order};
use crate::dtype::DType;
use crate::ir::{Op, Val};
use crate::ops::{Binary, Reduce, Reduction, Unary};
use crate::shape::Type;

/// Maximum number of broadcasts, reshapes and conversions between two operations of a pattern.
const MAX_FOLLOWED: usize = 8;

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// The sum of the exponentials of the rows of `x`, from which a row value is subtracted.
pub(super) struct RowExponentials<'a> {
    r: &'a Raising<'a>,
    pub x: Val,
    ty: Type,
    pub axes: Vec<usize>,
    /// The exponentials.
    pub exp: Val,
    /// `x` minus the row value.
    pub difference: Val,
    /// The row value, without broadcasts.
    pub shift: Val,
    /// The sum, without broadcasts.
    sum: Val,
}

impl RowExponentials<'_> {
    /// The rows whose exponentials `sum` adds up, if the shift is the maximum of each row, or zero
    /// where that is not finite.
    pub(super) fn of_sum<'a>(r: &'a Raising<'a>, sum: Val) -> Option<RowExponentials<'a>> {
        let sum = r.without_new_elements(sum);
        let (e, axes) = r.reduced(sum, Reduction::Sum)?;
        // Halves may be added in single precision.
        let exp = match r.widened(e) {
            Some(half) => half,
            None => e,
        };
        let difference = r.unary(exp, Unary::Exp)?;
        let [x, shift] = r.binary(difference, Binary::Sub)?;
        let ty = r.ty(x);
        if !ty.dtype.is_float() || r.ty(exp) != ty || axes.is_empty() {
            return None;
        }
        let mut rows = RowExponentials {
            r,
            x,
            ty,
            axes,
            exp,
            difference,
            shift,
            sum,
        };
        rows.shift = rows.row_value(shift)?;
        rows.is_greatest(rows.shift, MAX_FOLLOWED).then_some(rows)
    }

    /// The value of which `v` is a broadcast along exactly the reduced axes.
    pub(super) fn row_value(&self, v: Val) -> Option<Val> {
        let (inner, dims) = self.r.broadcast_source(v);
        let (from, to) = (self.r.ty(inner), &self.ty.shape);
        if self.r.ty(v).shape != *to {
            return None;
        }
        let kept = (0..to.rank()).filter(|k| !self.axes.contains(k));
        let has = |k: usize| dims.iter().position(|d| *d == k);
        let covered = kept
            .clone()
            .all(|k| has(k).map_or(to[k].is(1), |i| from.shape[i] == to[k]));
        let single = self
            .axes
            .iter()
            .all(|&k| has(k).is_none_or(|i| from.shape[i].is(1)));
        (covered && single).then_some(inner)
    }

    /// Whether a value is the sum of the exponentials, possibly with other axes of extent 1.
    pub(super) fn is_sum(&self, v: Val) -> bool {
        self.r.same(self.r.without_new_elements(v), self.sum)
    }

    /// Whether a row value is the maximum of each row of `x`, computed within `left` operations.
    fn is_greatest(&self, v: Val, left: usize) -> bool {
        let (r, v) = (self.r, self.r.without_new_elements(v));
        let Some(left) = left.checked_sub(1) else {
            return false;
        };
        let least = |v: Val| r.is_number(v, f64::NEG_INFINITY);
        if let Some(both) = r.binary(v, Binary::Max) {
            let greatest = |a, b| (least(a) && self.is_greatest(b, left)).then_some(());
            return in_either_order(both, greatest).is_some();
        }
        if let Some((condition, value)) = r.zero_unless(v) {
            let finite = r.unary(condition, Unary::IsFinite);
            return finite.is_some_and(|of| r.same(of, value)) && self.is_greatest(value, left);
        }
        if let Some(inner) = r.unary(v, Unary::StopGradient) {
            return self.is_greatest(inner, left);
        }
        r.reduced(v, Reduction::Max)
            .is_some_and(|(of, axes)| axes == self.axes && r.same(of, self.x))
    }
}

impl Raising<'_> {
    /// The operand and the axes of a reduction whose sums are not compensated.
    fn reduced(&self, v: Val, by: Reduction) -> Option<(Val, Vec<usize>)> {
        let plain = |f: &Reduce| f.op == by && !f.stable;
        let is = |op: &Op, x: &[Val]| match op {
            Op::Reduce(f) if plain(f) => Some((x[0], f.axes_given()?.to_vec())),
            _ => None,
        };
        self.with_def(v, is)?
    }

    /// The half that a value in single precision was converted from.
    fn widened(&self, v: Val) -> Option<Val> {
        let converted = |op: &Op, x: &[Val]| matches!(op, Op::Convert(_)).then(|| x[0]);
        let half = self.with_def(v, converted)??;
        (is_half(self.ty(half).dtype) && self.ty(v).dtype == DType::F32).then_some(half)
    }

    /// The condition and the value of `condition ? value : 0`.
    fn zero_unless(&self, v: Val) -> Option<(Val, Val)> {
        let is = |op: &Op, x: &[Val]| matches!(op, Op::Select(_)).then(|| (x[0], x[1], x[2]));
        let (condition, value, zero) = self.with_def(v, is)??;
        self.is_number(zero, 0.0).then_some((condition, value))
    }

    /// The value with these elements before reshapes, broadcasts that add no element, and
    /// conversions of sums from single precision to a half.
    pub(super) fn without_new_elements(&self, mut v: Val) -> Val {
        for _ in 0..MAX_FOLLOWED {
            let inner = |op: &Op, x: &[Val]| match op {
                Op::Reshape(_) => Some((x[0], false)),
                Op::BroadcastInDim(b) if b.dims.is_sorted() => Some((x[0], false)),
                Op::Convert(_) => Some((x[0], true)),
                _ => None,
            };
            let Some((x, converted)) = self.with_def(v, inner).flatten() else {
                break;
            };
            let (from, to) = (self.ty(x), self.ty(v));
            let half = is_half(to.dtype) && from.dtype == DType::F32;
            let same = from.shape.numel().same(&to.shape.numel()) == Some(true);
            if !same || (converted && !half) {
                break;
            }
            v = x;
        }
        v
    }

    /// The value before a chain of broadcasts, and the axis of `v` for each of its axes.
    pub(super) fn broadcast_source(&self, v: Val) -> (Val, Vec<usize>) {
        let mut dims: Vec<usize> = (0..self.ty(v).rank()).collect();
        let mut inner = v;
        for _ in 0..MAX_FOLLOWED {
            let step = self.with_def(inner, |op, x| match op {
                Op::BroadcastInDim(b) => Some((x[0], b.dims.clone())),
                Op::Reshape(_) => Some((x[0], self.axes_of_reshape(x[0], inner)?)),
                _ => None,
            });
            let Some((x, to)) = step.flatten() else {
                break;
            };
            dims = to.iter().map(|&k| dims[k]).collect();
            inner = x;
        }
        (inner, dims)
    }

    /// For each axis of `x` its axis in `y`, which has further axes of extent 1.
    fn axes_of_reshape(&self, x: Val, y: Val) -> Option<Vec<usize>> {
        let (from, to) = (self.ty(x).shape, self.ty(y).shape);
        let (mut dims, mut k) = (Vec::with_capacity(from.rank()), 0);
        for d in from.iter() {
            while to.get(k)? != d {
                to[k].is(1).then_some(())?;
                k += 1;
            }
            dims.push(k);
            k += 1;
        }
        to[k..].iter().all(|d| d.is(1)).then_some(dims)
    }
}
