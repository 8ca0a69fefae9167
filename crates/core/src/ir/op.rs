//! [`Op`]: the closed sum of the operations, and extensions.

use super::{OpClass, Primitive};
use crate::array::Scalar;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::{
    ArgReduce, AtKink, BesselIe, Betainc, Binary, Bitcast, BroadcastInDim, Call, Cholesky, Compare,
    Complex, Concatenate, Constant, Convert, Convolution, Count, Cumulative, CustomJvp, CustomVjp,
    CustomVjpLin, Det, DotGeneral, DynamicSlice, DynamicUpdateSlice, Eig, Eigh, Fft, Gather, Guard,
    IntegerPow, Iota, LinearRecurrence, LinearSolve, Lu, Pad, Polygamma, Qr, Reduce,
    ReducePrecision, ReduceWindow, Reshape, Reverse, RoundTo, Scan, Scatter, ScatterRecurrence,
    Schur, Select, SelectWindow, Shard, Slice, Slogdet, Solve, Sort, Special, Spectral, Svd,
    Switch, Transpose, TriangularSolve, Unary, While,
};
use crate::shape::Type;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// An operation as a hashable key without allocation, for tables of operations.
///
/// Name and attributes determine an operation, but printing them takes longer than many operations.
/// The common operations without regions are compared and hashed directly: those that the list of
/// operations marks as `keyed`, and constants whose elements are one number.
#[derive(Clone, Copy)]
pub struct OpKey<'a>(&'a Op);

impl Eq for OpKey<'_> {}

macro_rules! operations {
    (
        $($(#[$doc:meta])* $variant:ident($t:ty) $($keyed:ident)?),* ;
        $($(#[$large_doc:meta])* $large:ident($l:ty) $($large_keyed:ident)?),* $(,)?
    ) => {
        /// A built-in operation, or an extension defined in another crate. Those with many
        /// attributes are boxed, so that equations are small.
        #[derive(Clone, Debug)]
        pub enum Op {
            $($(#[$doc])* $variant($t),)*
            $($(#[$large_doc])* $large(Box<$l>),)*
            /// An operation defined in another crate.
            Extension(Arc<dyn Primitive>),
        }

        impl Deref for Op {
            type Target = dyn Primitive;
            fn deref(&self) -> &dyn Primitive {
                match self {
                    $(Op::$variant(p) => p,)*
                    $(Op::$large(p) => &**p,)*
                    Op::Extension(p) => &**p,
                }
            }
        }

        $(impl From<$t> for Op {
            fn from(p: $t) -> Op { Op::$variant(p) }
        })*
        $(impl From<$l> for Op {
            fn from(p: $l) -> Op { Op::$large(Box::new(p)) }
        })*

        impl PartialEq for OpKey<'_> {
            fn eq(&self, other: &OpKey<'_>) -> bool {
                match (self.0, other.0) {
                    (Op::Constant(a), Op::Constant(b)) => {
                        a.ty == b.ty && a.as_splat() == b.as_splat()
                    }
                    $($((Op::$variant(a), Op::$variant(b)) => {
                        let $keyed = a == b;
                        $keyed
                    })?)*
                    $($((Op::$large(a), Op::$large(b)) => {
                        let $large_keyed = a == b;
                        $large_keyed
                    })?)*
                    _ => false,
                }
            }
        }

        impl Hash for OpKey<'_> {
            fn hash<H: Hasher>(&self, h: &mut H) {
                std::mem::discriminant(self.0).hash(h);
                match self.0 {
                    Op::Constant(c) => (&c.ty, c.as_splat()).hash(h),
                    $($(Op::$variant(p) => {
                        let $keyed = p;
                        $keyed.hash(h);
                    })?)*
                    $($(Op::$large(p) => {
                        let $large_keyed = p;
                        $large_keyed.hash(h);
                    })?)*
                    _ => {}
                }
            }
        }

        impl OpKey<'_> {
            /// Whether it is the key of an operation.
            pub fn is_of(&self, op: &Op) -> bool {
                *self == OpKey(op)
            }
        }

        impl Op {
            /// The operation as a key; `None` for an operation that must be printed. Two operations
            /// with keys are equal if their keys are equal.
            pub fn key_without_text(&self) -> Option<OpKey<'_>> {
                let has_key = match self {
                    Op::Constant(c) => c.as_splat().is_some(),
                    $($(Op::$variant(_) => {
                        let $keyed = true;
                        $keyed
                    })?)*
                    $($(Op::$large(_) => {
                        let $large_keyed = true;
                        $large_keyed
                    })?)*
                    _ => false,
                };
                has_key.then_some(OpKey(self))
            }
        }
    };
}

operations! {
    /// Elementwise function of one operand.
    Unary(Unary) keyed,
    /// Elementwise function of two operands.
    Binary(Binary) keyed,
    /// Elementwise comparison.
    Compare(Compare) keyed,
    /// Elementwise choice.
    Select(Select) keyed,
    /// A tangent times the weight of a kink.
    AtKink(AtKink) keyed,
    /// Complex numbers from their parts.
    Complex(Complex) keyed,
    /// Power with a constant integer exponent.
    IntegerPow(IntegerPow) keyed,
    /// Derivative of digamma of a constant order.
    Polygamma(Polygamma) keyed,
    /// Modified Bessel functions, scaled.
    BesselIe(BesselIe),
    /// Special functions of a parameter and an argument.
    Special(Special),
    /// The incomplete beta function.
    Betainc(Betainc),
    /// Change of element type.
    Convert(Convert) keyed,
    /// The same bits as another element type.
    Bitcast(Bitcast),
    /// Rounding to fewer bits.
    ReducePrecision(ReducePrecision),
    /// Rounding to the numbers of a small format.
    RoundTo(RoundTo),
    /// A constant.
    Constant(Constant),
    /// The index along an axis.
    Iota(Iota),
    /// A broadcast along new or expanded axes.
    BroadcastInDim(BroadcastInDim) keyed,
    /// The same elements in another shape.
    Reshape(Reshape) keyed,
    /// Permutation of axes.
    Transpose(Transpose) keyed,
    /// Reduction over axes.
    Reduce(Reduce) keyed,
    /// Positions of extrema.
    ArgReduce(ArgReduce),
    /// Sorting along an axis.
    Sort(Sort),
    /// Cumulative operations along an axis.
    Cumulative(Cumulative) keyed,
    /// `y[k] = a[k] y[k-1] + b[k]`.
    LinearRecurrence(LinearRecurrence),
    /// Fourier transforms along an axis.
    Fft(Fft),
    /// A function call.
    Call(Call),
    /// A choice of one of several regions.
    Switch(Switch),
    /// Reversal along axes.
    Reverse(Reverse) keyed,
    /// A division among the devices of a mesh.
    Shard(Shard) keyed,
    /// A strided window.
    Slice(Slice) keyed,
    /// Elements added around and between.
    Pad(Pad) keyed,
    /// Operands joined along an axis.
    Concatenate(Concatenate) keyed,
    /// Reads a window at a data-dependent start.
    DynamicSlice(DynamicSlice),
    /// Writes a window at a data-dependent start.
    DynamicUpdateSlice(DynamicUpdateSlice),
    /// A loop with a number of steps that is an extent.
    Scan(Scan),
    /// A loop while a condition holds.
    While(While),
    /// The factor of a positive definite matrix.
    Cholesky(Cholesky),
    /// The solution of a triangular system.
    TriangularSolve(TriangularSolve),
    /// LU factorization with row swaps.
    Lu(Lu),
    /// The solution of a system of equations.
    Solve(Solve),
    /// The determinant.
    Det(Det),
    /// The sign and the logarithm of the determinant.
    Slogdet(Slogdet),
    /// QR factorization.
    Qr(Qr),
    /// Eigenvalues and eigenvectors of Hermitian matrices.
    Eigh(Eigh),
    /// Singular values and vectors.
    Svd(Svd),
    /// Eigenvalues and eigenvectors.
    Eig(Eig),
    /// Schur decomposition.
    Schur(Schur),
    /// A function of eigenvalues.
    Spectral(Spectral),
    /// A value that is valid under a condition.
    Guard(Guard),
    /// An iota of data-dependent length.
    Count(Count),
    /// A function with a user-defined forward derivative.
    CustomJvp(CustomJvp),
    /// A function with a user-defined reverse derivative.
    CustomVjp(CustomVjp),
    /// The derivative of [`CustomVjp`].
    CustomVjpLin(CustomVjpLin),
    /// The solution of a linear system.
    LinearSolve(LinearSolve);
    /// Reduction over sliding windows.
    ReduceWindow(ReduceWindow),
    /// Sums at selected elements of sliding windows.
    SelectWindow(SelectWindow),
    /// Products summed over pairs of axes.
    DotGeneral(DotGeneral) keyed,
    /// A convolution with a sliding kernel.
    Convolution(Convolution),
    /// Windows at indices.
    Gather(Gather),
    /// Windows combined into an operand at indices.
    Scatter(Scatter),
    /// A linear recurrence along the updates of each element.
    ScatterRecurrence(ScatterRecurrence),
}

impl Op {
    /// The operation that merges fan-out.
    pub(crate) fn sum() -> Op {
        Binary::Add.into()
    }

    /// The constant of a type with all elements equal to `value`.
    pub(crate) fn splat(ty: &Type, value: i128) -> Op {
        Constant::splat(ty.clone(), Scalar::I(value)).into()
    }

    /// Returns an error for an operation that cannot add two cotangents.
    pub(super) fn check_sum(&self) -> Result<()> {
        if self.results() != 1 || !self.linear_in(&[true, true]) {
            bail!(
                NotLinear,
                "`{}` cannot add cotangents: a sum has one result, and is linear in two operands \
                 together (`linear_in(&[true, true])`)",
                self.name()
            );
        }
        Ok(())
    }

    /// Whether operands and results may have opaque types: the operation is an extension, or passes
    /// values on.
    pub(super) fn passes_values(&self) -> bool {
        matches!(
            self,
            Op::Extension(_)
                | Op::Call(_)
                | Op::Switch(_)
                | Op::Scan(_)
                | Op::While(_)
                | Op::CustomJvp(_)
                | Op::CustomVjp(_)
                | Op::CustomVjpLin(_)
                | Op::LinearSolve(_)
                | Op::Unary(Unary::StopGradient)
        )
    }

    /// Whether the operation certainly is no derivative at a kink: a fast test for most operations.
    #[inline]
    pub(crate) fn is_smooth(&self) -> bool {
        matches!(self, Op::Unary(_) | Op::Binary(_))
            || !matches!(self, Op::AtKink(_)) && self.key_without_text().is_some()
    }

    /// Whether it is elementwise on operands of these types, with one result.
    pub fn is_elementwise<'a>(&self, x: impl IntoIterator<Item = &'a Type>) -> bool {
        let types: SmallVec<[DType; 4]> = x.into_iter().map(|t| t.dtype).collect();
        self.results() == 1 && self.class(&types) == OpClass::Elementwise
    }

    /// An operation defined in another crate.
    pub fn extension(p: impl Primitive) -> Op {
        Op::Extension(Arc::new(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of samples are equal exactly if the samples print as the same text.
    #[test]
    fn keys_are_equal_exactly_if_printed_forms_are() {
        let ops: Vec<Op> = crate::ops::entries()
            .iter()
            .flat_map(|e| (e.samples)(e.name))
            .map(|s| s.op)
            .collect();
        let printed = |op: &Op| format!("{} {op:?}", op.name());
        let mut same = 0;
        for a in &ops {
            for b in &ops {
                if let (Some(x), Some(y)) = (a.key_without_text(), b.key_without_text()) {
                    assert_eq!(x == y, printed(a) == printed(b), "{a:?} {b:?}");
                    same += usize::from(x == y);
                }
            }
        }
        assert!(same > ops.len() / 3, "{same}");
    }
}
