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
        /// An operation: one of ours, or anybody's.
        #[derive(Clone, Debug)]
        pub enum Op {
            $($(#[$doc])* $variant($t),)*
            /// An operation of another crate.
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
    /// A tangent times the weight that a kink gives it.
    AtKink(AtKink),
    /// Complex numbers from their parts.
    Complex(Complex),
    /// Power with a fixed integer exponent.
    IntegerPow(IntegerPow),
    /// Derivative of digamma of a fixed order.
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
    /// Counting along an axis.
    Iota(Iota),
    /// Repetition along new or expanded axes.
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
    /// Where extrema are.
    ArgReduce(ArgReduce),
    /// Sorting along an axis.
    Sort(Sort),
    /// Running reductions along an axis.
    Cumulative(Cumulative),
    /// `y[k] = a[k] y[k-1] + b[k]`.
    LinearRecurrence(LinearRecurrence),
    /// Products summed over pairs of axes.
    DotGeneral(DotGeneral),
    /// A kernel that slides over an operand.
    Convolution(Convolution),
    /// Fourier transforms along an axis.
    Fft(Fft),
    /// A function applied.
    Call(Call),
    /// One of several bodies.
    Switch(Switch),
    /// Reversal along axes.
    Reverse(Reverse),
    /// A strided window.
    Slice(Slice),
    /// Elements added around and between.
    Pad(Pad),
    /// Operands one after the other.
    Concatenate(Concatenate),
    /// A window at a start known when it runs.
    DynamicSlice(DynamicSlice),
    /// A window written at a start known when it runs.
    DynamicUpdateSlice(DynamicUpdateSlice),
    /// Windows at indices.
    Gather(Gather),
    /// Windows combined into an operand at indices.
    Scatter(Scatter),
    /// A linear recurrence along the updates of each place.
    ScatterRecurrence(ScatterRecurrence),
    /// A loop of known length.
    Scan(Scan),
    /// A loop while a condition holds.
    While(While),
    /// The factor of a positive definite matrix.
    Cholesky(Cholesky),
    /// The solution of a triangular system.
    TriangularSolve(TriangularSolve),
    /// A matrix as a product of triangular ones.
    Lu(Lu),
    /// The solution of a system of equations.
    Solve(Solve),
    /// The determinant.
    Det(Det),
    /// Its sign and logarithm.
    Slogdet(Slogdet),
    /// A matrix as a product of an orthogonal and a triangular one.
    Qr(Qr),
    /// Eigenvalues and eigenvectors of Hermitian matrices.
    Eigh(Eigh),
    /// Singular values and vectors.
    Svd(Svd),
    /// Eigenvalues and eigenvectors.
    Eig(Eig),
    /// A matrix as a triangular one in another basis.
    Schur(Schur),
    /// A function of eigenvalues.
    Spectral(Spectral),
    /// A value that holds under a condition.
    Guard(Guard),
    /// As many numbers as a number says.
    Count(Count),
    /// A function with a forward derivative of its own.
    CustomJvp(CustomJvp),
    /// A function with a reverse derivative of its own.
    CustomVjp(CustomVjp),
    /// The derivative of that.
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

    /// Whether it acts on each element alone, all operands having one shape.
    pub fn is_elementwise(&self) -> bool {
        // Its axes are those of its operands.
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

    /// An operation of another crate.
    pub fn extension(p: impl Primitive) -> Op {
        Op::Extension(Arc::new(p))
    }
}
