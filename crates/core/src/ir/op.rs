//! [`Op`]: the closed sum of the operations, and extensions.

use super::Primitive;
use crate::array::Scalar;
use crate::ops::{
    ArgReduce, AtKink, BesselIe, Betainc, Binary, Bitcast, BroadcastInDim, Call, Cholesky, Compare,
    Complex, Concatenate, Constant, Convert, Convolution, Count, Cumulative, CustomJvp, CustomVjp,
    CustomVjpLin, Det, DotGeneral, DynamicSlice, DynamicUpdateSlice, Eig, Eigh, Fft, Gather, Guard,
    IntegerPow, Iota, LinearRecurrence, LinearSolve, Lu, Pad, Polygamma, Qr, Reduce,
    ReducePrecision, ReduceWindow, Reshape, Reverse, RoundTo, Scan, Scatter, ScatterRecurrence,
    Schur, Select, SelectWindow, Side, Slice, Slogdet, Solve, Sort, Special, Spectral, Svd, Switch,
    Transpose, TriangularSolve, Unary, While,
};
use crate::shape::Type;
use std::ops::Deref;
use std::sync::Arc;

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident($t:ty)),* $(,)?) => {
        /// A built-in operation, or an extension defined in another crate.
        #[derive(Clone, Debug)]
        pub enum Op {
            $($(#[$doc])* $variant($t),)*
            /// An operation defined in another crate.
            Extension(Arc<dyn Primitive>),
        }

        impl Deref for Op {
            type Target = dyn Primitive;
            fn deref(&self) -> &dyn Primitive {
                match self {
                    $(Op::$variant(p) => p,)*
                    Op::Extension(p) => &**p,
                }
            }
        }

        $(impl From<$t> for Op {
            fn from(p: $t) -> Op { Op::$variant(p) }
        })*
    };
}

operations! {
    /// Elementwise function of one operand.
    Unary(Unary),
    /// Elementwise function of two operands.
    Binary(Binary),
    /// Elementwise comparison.
    Compare(Compare),
    /// Elementwise choice.
    Select(Select),
    /// A tangent times the weight of a kink.
    AtKink(AtKink),
    /// Complex numbers from their parts.
    Complex(Complex),
    /// Power with a constant integer exponent.
    IntegerPow(IntegerPow),
    /// Derivative of digamma of a constant order.
    Polygamma(Polygamma),
    /// Modified Bessel functions, scaled.
    BesselIe(BesselIe),
    /// Special functions of a parameter and an argument.
    Special(Special),
    /// The incomplete beta function.
    Betainc(Betainc),
    /// Change of element type.
    Convert(Convert),
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
    BroadcastInDim(BroadcastInDim),
    /// The same elements in another shape.
    Reshape(Reshape),
    /// Permutation of axes.
    Transpose(Transpose),
    /// Reduction over axes.
    Reduce(Reduce),
    /// Reduction over sliding windows.
    ReduceWindow(ReduceWindow),
    /// Sums at selected elements of sliding windows.
    SelectWindow(SelectWindow),
    /// Positions of extrema.
    ArgReduce(ArgReduce),
    /// Sorting along an axis.
    Sort(Sort),
    /// Cumulative operations along an axis.
    Cumulative(Cumulative),
    /// `y[k] = a[k] y[k-1] + b[k]`.
    LinearRecurrence(LinearRecurrence),
    /// Products summed over pairs of axes.
    DotGeneral(DotGeneral),
    /// A convolution with a sliding kernel.
    Convolution(Convolution),
    /// Fourier transforms along an axis.
    Fft(Fft),
    /// A function call.
    Call(Call),
    /// A choice of one of several regions.
    Switch(Switch),
    /// Reversal along axes.
    Reverse(Reverse),
    /// A strided window.
    Slice(Slice),
    /// Elements added around and between.
    Pad(Pad),
    /// Operands joined along an axis.
    Concatenate(Concatenate),
    /// Reads a window at a data-dependent start.
    DynamicSlice(DynamicSlice),
    /// Writes a window at a data-dependent start.
    DynamicUpdateSlice(DynamicUpdateSlice),
    /// Windows at indices.
    Gather(Gather),
    /// Windows combined into an operand at indices.
    Scatter(Scatter),
    /// A linear recurrence along the updates of each element.
    ScatterRecurrence(ScatterRecurrence),
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
    LinearSolve(LinearSolve),
}

impl Op {
    /// The operation that merges fan-out.
    pub(crate) fn sum() -> Op {
        Binary::Add.into()
    }

    /// The zero of a type.
    pub(crate) fn zeros(ty: &Type) -> Op {
        Constant::splat(ty.clone(), Scalar::I(0)).into()
    }

    /// Whether it is a constant zero.
    pub fn is_zeros(&self) -> bool {
        matches!(self, Op::Constant(c) if c.is_zero())
    }

    /// Whether it is elementwise on operands of one shape.
    pub fn is_elementwise(&self) -> bool {
        // The axes in its attribute refer to the operands, so it is not elementwise.
        if let Op::AtKink(AtKink {
            side: Side::Along { .. },
        }) = self
        {
            return false;
        }
        matches!(
            self,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Compare(_)
                | Op::Convert(_)
                | Op::Select(_)
                | Op::AtKink(_)
                | Op::Complex(_)
                | Op::IntegerPow(_)
                | Op::Polygamma(_)
                | Op::BesselIe(_)
                | Op::Special(_)
                | Op::Betainc(_)
                | Op::ReducePrecision(_)
                | Op::RoundTo(_)
        )
    }

    /// An operation defined in another crate.
    pub fn extension(p: impl Primitive) -> Op {
        Op::Extension(Arc::new(p))
    }
}
