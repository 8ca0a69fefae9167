//! `Q` and `R` of a QR factorisation by reflectors.
//!
//! ```text
//! product of the reflectors of a             ->  Q of qr(a)
//! packed reflectors of a, above the diagonal ->  R of qr(a)
//! ```
//! The scans over columns are those that [`Reflectors`] and [`product_of_reflectors`] write: their
//! bodies are compared equation by equation. `R` is recognised as the operand of a select whose
//! condition is `row - 1 >= column`. Condition: the matrix is real, its extents are constants
//! (those of a batch may be symbols), and `Q` has the columns that `qr` returns. For real matrices
//! `qr` has the signs of LAPACK, so values agree within rounding. The derivative is that of `qr`,
//! not of a loop over columns.

use super::pattern::{Raising, one};
use crate::array::Scalar;
use crate::ir::{Builder, Function, Op, Session, Val, Vals};
use crate::ops::{Binary, Comparison, Reflectors, Scan, product_of_reflectors};
use crate::shape::Type;
use std::slice::from_ref;
use std::sync::Arc;

/// Maximum number of slices or transposes between two operations of the pattern.
const MAX_FOLLOWED: usize = 8;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    match (op, x) {
        (Op::Scan(s), &[packed, start, steps, taus]) => {
            let q = r.orthogonal_factor(s, packed, taus)?;
            (r.is_eye(start) && r.counts(steps, 0)).then(|| one(q))?
        }
        (Op::Select(_), &[mask, a, packed]) => {
            let reflectors = r.reflectors_of(packed)?;
            let upper = r
                .is_below_diagonal(mask)
                .then(|| r.upper(&reflectors, packed))?;
            one(r.cx().select(mask, a, upper))
        }
        _ => None,
    }
}

/// A reduction by reflectors.
struct ReflectorScan {
    /// The matrix.
    a: Val,
    /// The packed reflectors.
    packed: Val,
    /// The scalar factors, stacked along the first axis.
    taus: Val,
}

/// The scan that `write` writes for operands of these types.
fn expected(types: &[Type], write: impl Fn(&Builder, &[Val]) -> Option<Val>) -> Option<Scan> {
    let b = Builder::new("expected", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = write(&b, &x)?;
    b.with_def(y, |op, _| match op {
        Op::Scan(s) => Some(s.clone()),
        _ => None,
    })?
}

/// Whether two scans compute the same function.
fn same_scan(a: &Scan, b: &Scan) -> bool {
    let body = |f: &Arc<Function>, g: &Arc<Function>| Arc::ptr_eq(f, g) || f.computes_same(g);
    (&a.length, a.reverse, a.consts, a.carry) == (&b.length, b.reverse, b.consts, b.carry)
        && a.checkpoint == b.checkpoint
        && body(&a.body, &b.body)
}

impl Raising<'_> {
    /// The reduction whose packed reflectors, or leading rows and columns of them, `v` is.
    fn reflectors_of(&self, mut v: Val) -> Option<ReflectorScan> {
        for _ in 0..MAX_FOLLOWED {
            let part = self.with_def(v, |op, x| match op {
                Op::Slice(s) if s.start.iter().all(|d| d.is(0)) => {
                    s.stride.iter().all(|&s| s == 1).then_some(x[0])
                }
                _ => None,
            });
            match part.flatten() {
                Some(x) => v = x,
                None => break,
            }
        }
        let scan = self.with_def(v, |op, x| match (op, x) {
            (Op::Scan(s), &[a, columns, steps]) => Some((s.clone(), a, columns, steps)),
            _ => None,
        });
        let (scan, a, columns, steps) = scan.flatten()?;
        let results = self.defined_with(v);
        let ([packed, _, taus], ty) = (results[..].try_into().ok()?, self.ty(a));
        let matrix = &ty.shape[ty.rank().checked_sub(2)?..];
        let filled = matrix.iter().all(|d| d.as_const().is_some_and(|n| n > 0));
        if packed != v || !ty.dtype.is_float() || !filled {
            return None;
        }
        let form = Reflectors {
            offset: 0,
            pivoted: false,
        };
        let written = expected(from_ref(&ty), |b, x| Some(form.reduce(b, x[0]).ok()?[0]))?;
        let counted = self.counts(columns, ty.rank() - 2) && self.counts(steps, 0);
        let reflectors = ReflectorScan { a, packed, taus };
        (counted && same_scan(&scan, &written)).then_some(reflectors)
    }

    /// `Q`, if a scan is the product of the reflectors in `packed`, and `Q` has its type.
    fn orthogonal_factor(&self, s: &Scan, packed: Val, stacked: Val) -> Option<Val> {
        let reflectors = self.reflectors_of(packed)?;
        if !self.is_transposed_twice(stacked, reflectors.taus) {
            return None;
        }
        let (a, taus) = (self.ty(packed), self.ty(stacked));
        // The factors are stacked along the first axis of the scan's operand.
        let shape: Vec<_> = taus.shape[1..]
            .iter()
            .chain(&taus.shape[..1])
            .cloned()
            .collect();
        let types = [a.clone(), taus.with_shape(shape)];
        let written = expected(&types, |b, x| product_of_reflectors(b, x[0], x[1]).ok())?;
        let q = same_scan(s, &written).then(|| self.qr_of(&reflectors))?[0];
        (self.ty(q) == a).then_some(q)
    }

    /// `Q` and `R` of the matrix, written once.
    fn qr_of(&self, reflectors: &ReflectorScan) -> Vals {
        self.written_once(reflectors.packed, |cx| cx.qr(reflectors.a))
    }

    /// A matrix of the type of `packed` that equals it on and above the diagonal.
    fn upper(&self, reflectors: &ReflectorScan, packed: Val) -> Val {
        let (cx, ty) = (self.cx(), self.ty(packed));
        let (r, rank) = (self.qr_of(reflectors)[1], ty.rank());
        let rows = |ty: &Type| ty.shape[rank - 2].as_const().unwrap_or(0);
        let (have, want) = (rows(&cx.ty(r)), rows(&ty));
        let (none, mut high) = (vec![0; rank], vec![0; rank]);
        high[rank - 2] = want.saturating_sub(have) as i64;
        let r = match want > have {
            true => cx.pad_zeros(r, &none, &high, &vec![0; rank]),
            false => r,
        };
        match cx.ty(r) == ty {
            true => r,
            false => cx.slice(r, &vec![0usize.into(); rank], &ty.shape, &vec![1; rank]),
        }
    }

    /// Whether `v` is `x` after transposes that cancel.
    fn is_transposed_twice(&self, mut v: Val, x: Val) -> bool {
        let mut order: Vec<usize> = (0..self.ty(v).rank()).collect();
        for _ in 0..MAX_FOLLOWED {
            let step = self.with_def(v, |op, x| match op {
                Op::Transpose(t) => Some((x[0], t.perm.clone())),
                _ => None,
            });
            let Some((inner, perm)) = step.flatten() else {
                break;
            };
            order = order.iter().map(|&k| perm[k]).collect();
            v = inner;
        }
        v == x && order.iter().enumerate().all(|(i, &k)| i == k)
    }

    /// Whether a value counts from 0 along an axis.
    fn counts(&self, v: Val, axis: usize) -> bool {
        self.with_def(v, |op, _| matches!(op, Op::Iota(i) if i.axis == axis)) == Some(true)
    }

    fn compared(&self, v: Val, by: Comparison) -> Option<(Val, Val)> {
        let is = |op: &Op| matches!(op, Op::Compare(c) if c.0 == by);
        self.with_def(v, |op, x| is(op).then(|| (x[0], x[1])))?
    }

    /// Whether a matrix is 1 on the diagonal and 0 elsewhere.
    fn is_eye(&self, v: Val) -> bool {
        let rank = self.ty(v).rank();
        let is = |op: &Op, x: &[Val]| matches!(op, Op::Select(_)).then(|| (x[0], x[1], x[2]));
        let Some((mask, one, zero)) = self.with_def(v, is).flatten() else {
            return false;
        };
        self.compared(mask, Comparison::Eq)
            .is_some_and(|(row, column)| {
                self.counts(row, rank - 2) && self.counts(column, rank - 1)
            })
            && self.is_number(one, 1.0)
            && self.is_number(zero, 0.0)
    }

    /// Whether a mask is true exactly below the diagonal: `row - 1 >= column`.
    fn is_below_diagonal(&self, mask: Val) -> bool {
        let rank = self.ty(mask).rank();
        // A mask broadcast over a batch.
        let repeated = self.with_def(mask, |op, x| match op {
            Op::BroadcastInDim(b) if b.dims[..] == [rank - 2, rank - 1] => Some(x[0]),
            _ => None,
        });
        let mask = repeated.flatten().unwrap_or(mask);
        let rank = self.ty(mask).rank();
        let Some((above, column)) = self.compared(mask, Comparison::Ge) else {
            return false;
        };
        let Some([row, offset]) = self.binary(above, Binary::Add) else {
            return false;
        };
        matches!(self.number(offset), Some(Scalar::I(-1)))
            && self.counts(row, rank - 2)
            && self.counts(column, rank - 1)
    }
}
