//! What a frame records of factorisations.

use cotangent_core::Val;

/// What a value is to a factorisation of `a`.
#[derive(Clone, Copy)]
pub struct LuValue {
    pub(super) part: LuPart,
    pub(super) a: Val,
    pub(super) order: Val,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum LuPart {
    Packed,
    /// Rows exchanged, that count from here.
    RowSwaps(i128),
    Permutation,
    /// Zero.
    Success,
}

/// What a packed matrix, or its first rows and columns, stands for.
#[derive(Clone, Copy)]
pub struct PackedQr {
    pub(super) taus: Val,
    pub(super) q: Val,
    /// Equal to it on and above the diagonal.
    pub(super) upper: Val,
}
