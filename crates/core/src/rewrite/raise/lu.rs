//! Results of an LU factorisation, as programs use them: the facts behind the patterns of `solve`,
//! `slogdet` and the row permutation.

use super::pattern::Raising;
use crate::array::Scalar;
use crate::ir::{Op, Val};
use crate::ops::{Binary, Comparison};
use crate::shape::Type;

/// A result of the LU factorisation of `a`, whose row permutation is `order`.
#[derive(Clone, Copy)]
pub(super) struct LuValue {
    pub part: LuPart,
    pub a: Val,
    pub order: Val,
}

/// Which result of an LU factorisation a value is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LuPart {
    /// The packed factors.
    Packed,
    /// Row swaps, as indices that count from this number.
    RowSwaps(i128),
    /// The row permutation.
    Permutation,
}

/// Maximum number of operations between a factorisation and the use of its results.
const MAX_FOLLOWED: usize = 16;

/// An operation on a result of a factorisation.
enum LuStep {
    /// A conversion to another integer type.
    Same,
    /// A select, by its condition.
    Selected(Val),
    /// The sum with a value, or the difference, by its sign.
    Moved(Val, i128),
}

impl Raising<'_> {
    /// The factorisation result that `v` is. Conversions, offsets of row swaps, and a select whose
    /// condition is the constant true (a test of `info`) are looked through.
    pub(super) fn factor(&self, mut v: Val) -> Option<LuValue> {
        let mut steps = Vec::new();
        for _ in 0..MAX_FOLLOWED {
            if let Some(f) = self.lu_result(v) {
                return steps.into_iter().rev().try_fold(f, |f, s| self.after(f, s));
            }
            let step = |op: &Op, x: &[Val]| match op {
                Op::Select(_) => Some((x[1], LuStep::Selected(x[0]))),
                Op::Binary(Binary::Sub) => Some((x[0], LuStep::Moved(x[1], -1))),
                Op::Binary(Binary::Add) => Some((x[0], LuStep::Moved(x[1], 1))),
                Op::Convert(c) if c.to.is_int() => Some((x[0], LuStep::Same)),
                _ => None,
            };
            let (x, step) = self.with_def(v, step)??;
            steps.push(step);
            v = x;
        }
        None
    }

    /// The result of an operation on a factorisation result.
    fn after(&self, f: LuValue, step: LuStep) -> Option<LuValue> {
        match (f.part, step) {
            (LuPart::Packed, LuStep::Selected(c)) => {
                matches!(self.number(c), Some(Scalar::I(1))).then_some(f)
            }
            (LuPart::RowSwaps(first), LuStep::Moved(n, sign)) => match self.number(n)? {
                Scalar::I(n) => Some(LuValue {
                    part: LuPart::RowSwaps(first + sign * n),
                    ..f
                }),
                _ => None,
            },
            (LuPart::RowSwaps(_) | LuPart::Permutation, LuStep::Same) => Some(f),
            _ => None,
        }
    }

    fn lu_result(&self, v: Val) -> Option<LuValue> {
        let operand = |op: &Op, x: &[Val]| matches!(op, Op::Lu(_)).then(|| x[0]);
        let a = self.with_def(v, operand)??;
        let all = self.defined_with(v);
        let [packed, swaps, order] = all[..] else {
            return None;
        };
        let part = match v {
            v if v == packed => LuPart::Packed,
            v if v == swaps => LuPart::RowSwaps(0),
            _ => LuPart::Permutation,
        };
        Some(LuValue { part, a, order })
    }

    /// Whether a condition is `x < 0` for a value `x` that `are` accepts.
    pub(super) fn is_negative(&self, condition: Val, are: &dyn Fn(Val) -> bool) -> bool {
        let below = |op: &Op, x: &[Val]| {
            matches!(op, Op::Compare(c) if c.0 == Comparison::Lt).then(|| (x[0], x[1]))
        };
        let compared = self.with_def(condition, below).flatten();
        compared.is_some_and(|(x, zero)| matches!(self.number(zero), Some(Scalar::I(0))) && are(x))
    }
}

/// Whether the elements are unchanged in row-major order: a reshape, or a broadcast without new
/// elements.
pub(super) fn keeps_elements(op: &Op, from: &Type, to: &Type) -> bool {
    match op {
        Op::Reshape(_) => true,
        Op::BroadcastInDim(b) => {
            b.dims.is_sorted() && from.shape.numel().same(&to.shape.numel()) == Some(true)
        }
        _ => false,
    }
}
