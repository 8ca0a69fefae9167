//! Shapes, products and triangles of batches of matrices, for the operations of this folder.

use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Emit, Lin, Lv, Primitive, Val};
use crate::ops::entry::arity;
pub(super) use crate::ops::support::batch_leading;
use crate::ops::{Comparison, DotGeneral, Reshape, Transpose, Unary};
use crate::shape::{Dim, Type};

/// Checks that the operand is a matrix or a batch of matrices of floats or complex numbers. Returns
/// the extents of the matrix.
pub(super) fn matrix<'a>(op: &dyn Primitive, x: &'a Type) -> Result<(&'a Dim, &'a Dim)> {
    if !matches!(x.dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        bail!(
            DTypeMismatch,
            "`{}` takes f32, f64, c64 or c128, got {x}; convert it",
            op.name()
        );
    }
    match &x.shape[..] {
        [.., m, n] => Ok((m, n)),
        _ => bail!(
            ShapeMismatch,
            "`{}` takes matrices in the last two axes, got {x}",
            op.name()
        ),
    }
}

/// Checks the single operand of a factorization. Returns the extents of the matrix.
pub(super) fn one_matrix<'a>(op: &dyn Primitive, x: &'a [Type]) -> Result<(&'a Dim, &'a Dim)> {
    arity(op, x, 1)?;
    matrix(op, &x[0])
}

/// Checks that a matrix is square. Returns its extent.
pub(super) fn square<'a>(op: &dyn Primitive, x: &'a Type) -> Result<&'a Dim> {
    let (m, n) = matrix(op, x)?;
    if m.same(n) == Some(false) {
        bail!(
            ShapeMismatch,
            "`{}` takes square matrices, got {x}: {m} rows and {n} columns",
            op.name()
        );
    }
    Ok(if m.as_const().is_some() { m } else { n })
}

/// The type with the last two axes replaced.
pub(super) fn ending(x: &Type, dtype: DType, last: &[&Dim]) -> Type {
    let lead = &x.shape[..x.rank().saturating_sub(2)];
    Type::new(
        dtype,
        lead.iter()
            .chain(last.iter().copied())
            .cloned()
            .collect::<Vec<_>>(),
    )
}

/// Matrix products in the last two axes of operands with the same leading axes.
pub(super) fn product(rank: usize) -> DotGeneral {
    let lead: Vec<usize> = (0..rank.saturating_sub(2)).collect();
    DotGeneral::contract(&[rank.saturating_sub(1)], &[rank.saturating_sub(2)]).batched(&lead, &lead)
}

/// The permutation that swaps the last two axes.
pub(super) fn exchange(rank: usize) -> Transpose {
    let mut perm: Vec<usize> = (0..rank).collect();
    if rank > 1 {
        perm.swap(rank - 1, rank - 2);
    }
    Transpose { perm }
}

/// An estimate for costs: the product of the leading extents.
pub(super) fn batches(x: &Type) -> f64 {
    x.shape[..x.rank().saturating_sub(2)]
        .iter()
        .map(size)
        .product()
}

/// An extent for costs.
pub(super) fn size(d: &Dim) -> f64 {
    d.as_const().unwrap_or(1) as f64
}

impl dyn Emit + '_ {
    /// The transpose of the last two axes.
    pub fn matrix_transpose(&self, x: Val) -> Val {
        self.op(exchange(self.ty(x).rank()), &[x])
    }

    /// The conjugate transpose of the last two axes.
    pub fn adjoint(&self, x: Val) -> Val {
        self.conj(self.matrix_transpose(x))
    }

    /// Matrix products of operands with the same leading axes.
    pub(crate) fn mm(&self, x: Val, y: Val) -> Val {
        self.op(product(self.ty(x).rank()), &[x, y])
    }

    /// Mask of the elements of matrices of this type for which `column - row` satisfies the
    /// comparison with `k`.
    pub(crate) fn band(&self, ty: &Type, c: Comparison, k: i64) -> Val {
        let index = ty.with_dtype(DType::I64);
        let rank = ty.rank();
        if rank < 2 {
            // The operation that reads the mask reports the wrong rank.
            return self.full(&ty.with_dtype(DType::Bool), true);
        }
        let distance = self.sub(self.iota(&index, rank - 1), self.iota(&index, rank - 2));
        self.compare(distance, c, self.full(&index, k))
    }

    /// True on diagonal `k` (negative: below the main one) of matrices of this type.
    pub fn band_of(&self, ty: &Type, k: i64) -> Val {
        self.band(ty, Comparison::Eq, k)
    }

    /// The elements on and below diagonal `k` (0: the main one, positive: above it), zero
    /// elsewhere.
    pub fn tril(&self, x: Val, k: i64) -> Val {
        let ty = self.ty(x);
        self.select(self.band(&ty, Comparison::Le, k), x, self.zeros(&ty))
    }

    /// The elements on and above diagonal `k`, zero elsewhere.
    pub fn triu(&self, x: Val, k: i64) -> Val {
        let ty = self.ty(x);
        self.select(self.band(&ty, Comparison::Ge, k), x, self.zeros(&ty))
    }
}

impl Lin<'_> {
    /// `a t`.
    pub(super) fn lmm(&self, a: Val, t: Lv) -> Lv {
        self.apply1(product(self.ty(a).rank()), &[a.into(), t.into()])
    }

    /// `t a`.
    pub(super) fn rmm(&self, t: Lv, a: Val) -> Lv {
        self.apply1(product(self.ty(a).rank()), &[t.into(), a.into()])
    }

    /// The conjugate transpose of a tangent.
    pub(super) fn ladjoint(&self, t: Lv) -> Lv {
        let ty = self.lty(t);
        let t = self.apply1(exchange(ty.rank()), &[t.into()]);
        if ty.dtype.is_complex() {
            self.apply1(Unary::Conj, &[t.into()])
        } else {
            t
        }
    }

    /// `(t + tᴴ) / 2`.
    pub(super) fn lhermitian(&self, t: Lv) -> Lv {
        self.scale_by(0.5, self.sum(t, self.ladjoint(t)))
    }

    /// A tangent of a square matrix whose extents may be different symbols, with one symbol for
    /// both.
    pub(super) fn lsquare(&self, t: Lv) -> Lv {
        match &self.lty(t).shape[..] {
            [lead @ .., m, n] if m != n => {
                let n = if m.as_const().is_some() { m } else { n };
                self.apply1(
                    Reshape {
                        shape: lead.iter().chain([n, n]).cloned().collect(),
                    },
                    &[t.into()],
                )
            }
            _ => t,
        }
    }

    /// The elements where `mask` is true, zero elsewhere.
    pub(super) fn lkeep(&self, mask: Val, t: Lv) -> Lv {
        let zero = self.zeros(&self.lty(t));
        self.lselect(mask, t, zero)
    }
}
