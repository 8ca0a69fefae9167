//! Recognition of `Q` and `R` of `geqrf`: `R` is the packed matrix on and above the diagonal, and
//! `Q` the product of its reflectors.
//!
//! Both are taken from the operation `qr`, which has its own derivative. A program that reads only
//! these (as `jnp.linalg.qr` does) leaves the reflectors unused. For real matrices `qr` has
//! LAPACK's signs. For complex matrices, and for columns that `qr` does not return, the reflectors
//! are used.

use super::factors::PackedQr;
use super::function::FunctionLowering;
use cotangent_core::ops::{Binary, Comparison, Op};
use cotangent_core::{Type, Val};

impl FunctionLowering<'_> {
    /// Records that `packed` and `taus` are the factors of `a`.
    pub(super) fn record_qr(&self, a: Val, packed: Val, taus: Val) {
        let (cx, ty) = (self.cx(), self.cx().ty(a));
        let rank = ty.rank();
        let (Some(m), Some(n)) = (ty.shape[rank - 2].as_const(), ty.shape[rank - 1].as_const())
        else {
            return;
        };
        if ty.dtype.is_complex() || m.min(n) == 0 {
            return;
        }
        let y = cx.qr(a);
        let (none, mut high) = (vec![0; rank], vec![0; rank]);
        high[rank - 2] = m.saturating_sub(n) as i64;
        let upper = if m > n {
            cx.pad_zeros(y[1], &none, &high, &vec![0; rank])
        } else {
            y[1]
        };
        self.packed.borrow_mut().insert(
            packed,
            PackedQr {
                taus,
                q: y[0],
                upper,
            },
        );
    }

    /// Records that `part` consists of the leading rows and columns of `whole`, if it does.
    pub(super) fn record_leading_part(
        &self,
        whole: Val,
        part: Val,
        start: &[usize],
        stride: &[usize],
    ) {
        let Some(p) = self.packed_qr(whole) else {
            return;
        };
        if start.iter().all(|&s| s == 0) && stride.iter().all(|&s| s == 1) {
            let shape = self.cx().ty(part).shape;
            let upper = self
                .cx()
                .slice(p.upper, &vec![0usize.into(); start.len()], &shape, stride);
            self.packed
                .borrow_mut()
                .insert(part, PackedQr { upper, ..p });
        }
    }

    /// `Q`, if `packed` and `taus` belong to one factorisation and `Q` has this type.
    pub(super) fn orthogonal_factor(&self, packed: Val, taus: Val, ty: &Type) -> Option<Val> {
        let p = self.packed_qr(packed)?;
        (p.taus == taus && self.cx().ty(p.q) == *ty).then_some(p.q)
    }

    /// A replacement for `x` that equals it where `mask` is false.
    pub(super) fn upper_outside(&self, mask: Val, x: Val) -> Val {
        match self.packed_qr(x) {
            Some(p) if self.is_below(mask) => p.upper,
            _ => x,
        }
    }

    fn packed_qr(&self, v: Val) -> Option<PackedQr> {
        self.packed.borrow().get(&v).copied()
    }

    /// Whether `mask` is true exactly below the diagonal: `row - 1 >= column`.
    fn is_below(&self, mask: Val) -> bool {
        let rank = self.cx().ty(mask).rank();
        let counts = |v: Val, axis: usize| {
            let is_iota = self.with_def(
                v,
                |op, _| matches!(op, Op::Iota(i) if i.axis + 2 == i.ty.rank() + axis),
            );
            is_iota == Some(true)
        };
        // A mask broadcast over a batch.
        let repeated = self.with_def(mask, |op, x| match op {
            Op::BroadcastInDim(b) if b.dims[..] == [rank - 2, rank - 1] => Some(x[0]),
            _ => None,
        });
        let mask = repeated.flatten().unwrap_or(mask);
        let compared = self.with_def(mask, |op, x| match op {
            Op::Compare(c) if c.0 == Comparison::Ge => Some((x[0], x[1])),
            _ => None,
        });
        let Some((above, column)) = compared.flatten() else {
            return false;
        };
        let added = self.with_def(above, |op, x| {
            matches!(op, Op::Binary(Binary::Add)).then(|| (x[0], x[1]))
        });
        let Some((row, offset)) = added.flatten() else {
            return false;
        };
        let number = self.with_def(offset, |op, x| match op {
            Op::BroadcastInDim(_) => x[0],
            _ => offset,
        });
        let one_less = number
            .and_then(|v| self.numbers(v))
            .is_some_and(|n| n.iter().all(|&n| n == -1));
        one_less && counts(row, 0) && counts(column, 1)
    }
}
