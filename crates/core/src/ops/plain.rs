//! [`Plain`]: operations as hashable keys without allocation, for tables of operations.
//!
//! Name and attributes determine an operation, but printing them takes longer than many operations.
//! The common operations without regions are compared and hashed directly.

use super::{
    AtKink, Binary, BroadcastInDim, Compare, Complex, Concatenate, Constant, Convert, Cumulative,
    DotGeneral, IntegerPow, Pad, Polygamma, Reduce, Reshape, Reverse, Select, Slice, Transpose,
    Unary, Value,
};
use crate::array::Scalar;
use crate::ir::Op;
use crate::shape::Type;

/// An operation that is compared and hashed directly.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Plain<'a> {
    Unary(Unary),
    Binary(Binary),
    Compare(Compare),
    Select(Select),
    AtKink(&'a AtKink),
    Complex(Complex),
    IntegerPow(IntegerPow),
    Polygamma(Polygamma),
    Convert(Convert),
    Splat(&'a Type, Scalar),
    BroadcastInDim(&'a BroadcastInDim),
    Reshape(&'a Reshape),
    Transpose(&'a Transpose),
    Reduce(&'a Reduce),
    Cumulative(Cumulative),
    DotGeneral(&'a DotGeneral),
    Reverse(&'a Reverse),
    Slice(&'a Slice),
    Pad(&'a Pad),
    Concatenate(&'a Concatenate),
}

impl Op {
    /// The operation as a key; `None` for an operation that must be printed. Two operations with
    /// keys are equal if their keys are equal.
    pub fn plain(&self) -> Option<Plain<'_>> {
        Some(match self {
            Op::Unary(f) => Plain::Unary(*f),
            Op::Binary(f) => Plain::Binary(*f),
            Op::Compare(c) => Plain::Compare(*c),
            Op::Select(s) => Plain::Select(*s),
            Op::AtKink(k) => Plain::AtKink(k),
            Op::Complex(c) => Plain::Complex(*c),
            Op::IntegerPow(p) => Plain::IntegerPow(*p),
            Op::Polygamma(p) => Plain::Polygamma(*p),
            Op::Convert(c) => Plain::Convert(*c),
            Op::Constant(Constant {
                ty,
                value: Value::Splat(s),
            }) => Plain::Splat(ty, *s),
            Op::BroadcastInDim(b) => Plain::BroadcastInDim(b),
            Op::Reshape(r) => Plain::Reshape(r),
            Op::Transpose(t) => Plain::Transpose(t),
            Op::Reduce(r) => Plain::Reduce(r),
            Op::Cumulative(c) => Plain::Cumulative(*c),
            Op::DotGeneral(d) => Plain::DotGeneral(d),
            Op::Reverse(r) => Plain::Reverse(r),
            Op::Slice(s) => Plain::Slice(s),
            Op::Pad(p) => Plain::Pad(p),
            Op::Concatenate(c) => Plain::Concatenate(c),
            _ => return None,
        })
    }

    /// Whether the operation certainly is no derivative at a kink: a fast test for most operations.
    pub(crate) fn is_smooth(&self) -> bool {
        self.plain().is_some_and(|p| !matches!(p, Plain::AtKink(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of samples are equal exactly if the samples print as the same text.
    #[test]
    fn keys_are_equal_as_spelled() {
        let ops: Vec<Op> = super::super::entries()
            .iter()
            .flat_map(|e| (e.samples)(e.name))
            .map(|s| s.op)
            .collect();
        let spelled = |op: &Op| format!("{} {op:?}", op.name());
        let mut same = 0;
        for a in &ops {
            for b in &ops {
                if let (Some(x), Some(y)) = (a.plain(), b.plain()) {
                    assert_eq!(x == y, spelled(a) == spelled(b), "{a:?} {b:?}");
                    same += usize::from(x == y);
                }
            }
        }
        assert!(same > ops.len() / 3, "{same}");
    }
}
