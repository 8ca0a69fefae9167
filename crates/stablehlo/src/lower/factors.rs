//! Results of factorisations that are recorded during lowering.

use cotangent_core::Val;

/// A result of the LU factorisation of `a`, whose row permutation is `order`.
#[derive(Clone, Copy)]
pub struct LuValue {
    pub(super) part: LuPart,
    pub(super) a: Val,
    pub(super) order: Val,
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
    /// The `info` result: zero for success.
    Success,
}

/// The QR factorisation behind a packed matrix, or behind its leading rows and columns.
#[derive(Clone, Copy)]
pub struct PackedQr {
    /// The scalar factors of the reflectors.
    pub(super) taus: Val,
    /// The orthogonal factor.
    pub(super) q: Val,
    /// A matrix that equals the packed one on and above the diagonal.
    pub(super) upper: Val,
}
