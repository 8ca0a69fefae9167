//! Matrices that `geqrf` has packed: on and above the diagonal they are `R`, and the product of
//! their reflectors is `Q`.
//!
//! Both come from the operation `qr`, which has derivatives of its own; what reads no more than
//! them (as `jnp.linalg.qr` does) leaves the reflectors, one by one, without a reader. The signs
//! are LAPACK's for real matrices; of complex ones, and of columns that `qr` does not have, the
//! reflectors are read.

use super::factors::PackedQr;
use super::function::FunctionLowering;
use cotangent_core::ops::{Binary, Comparison, Op};
use cotangent_core::{Type, Val};

impl FunctionLowering<'_> {
    /// Keeps in mind that `packed` and `taus` are the factors of `a`.
    pub(super) fn factored(&self, a: Val, packed: Val, taus: Val) {
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

    /// `part` is `whole` without some of its last rows and columns, if it starts with its first
    /// element.
    pub(super) fn first_part(&self, whole: Val, part: Val, start: &[usize], stride: &[usize]) {
        let Some(p) = self.packed_as(whole) else {
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

    /// The product of the reflectors in the columns of `packed`, if it is a factor of this type.
    pub(super) fn orthogonal(&self, packed: Val, taus: Val, ty: &Type) -> Option<Val> {
        let p = self.packed_as(packed)?;
        (p.taus == taus && self.cx().ty(p.q) == *ty).then_some(p.q)
    }

    /// What may be read in place of `x` where `mask` is false.
    pub(super) fn outside(&self, mask: Val, x: Val) -> Val {
        match self.packed_as(x) {
            Some(p) if self.is_below(mask) => p.upper,
            _ => x,
        }
    }

    fn packed_as(&self, v: Val) -> Option<PackedQr> {
        self.packed.borrow().get(&v).copied()
    }

    /// Whether `mask` is true below the diagonal and nowhere else: `row - 1 >= column`.
    fn is_below(&self, mask: Val) -> bool {
        let rank = self.cx().ty(mask).rank();
        let counts = |v: Val, axis: usize| {
            let found = self.with_def(
                v,
                |op, _| matches!(op, Op::Iota(i) if i.axis + 2 == i.ty.rank() + axis),
            );
            found == Some(true)
        };
        // The same for every matrix of a batch.
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
