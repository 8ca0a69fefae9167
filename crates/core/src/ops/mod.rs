//! The operations: one list, one file per operation or family beside it.
//!
//! Adding one: its file, two lines here (module and variant), its [`Entry`] in [`entries`], and the
//! arm in the runtime's lowering.

mod arg_reduce;
mod at_kink;
mod bessel;
mod betainc;
mod binary;
mod bitcast;
mod body;
mod broadcast;
mod call;
mod checkpoint;
mod checkpointing;
mod compare;
mod complex;
mod composite;
mod concatenate;
mod constant;
mod convert;
mod convolution;
mod cumulative;
mod custom_jvp;
mod custom_vjp;
mod dot_general;
mod dynamic_slice;
mod entry;
mod fft;
mod gather;
mod guard;
mod implicit;
mod integer_pow;
mod iota;
pub(crate) mod linalg;
mod linear_solve;
mod literal;
mod loops;
mod moving;
mod pad;
mod plain;
mod polygamma;
mod recurrence;
mod reduce;
mod reduce_precision;
mod reduce_window;
mod reshape;
mod reverse;
mod round_to;
mod scan;
mod scatter;
mod scatter_recurrence;
mod select;
mod select_window;
mod side;
mod slice;
mod sliding;
mod sort;
mod special;
mod sums;
mod support;
mod switch;
mod transpose;
mod unary;
mod while_loop;
mod windows;

pub use arg_reduce::ArgReduce;
pub use at_kink::AtKink;
pub use bessel::BesselIe;
pub use betainc::Betainc;
pub use binary::{BINARY, Binary, BinaryDef};
pub use bitcast::Bitcast;
pub(crate) use body::body_operands;
pub use broadcast::BroadcastInDim;
pub use call::Call;
pub use checkpoint::{Checkpoint, Loops};
pub use compare::{Compare, Comparison};
pub use complex::Complex;
pub use composite::{Composite, MatrixNorm, applied, composites};
pub use concatenate::Concatenate;
pub use constant::{Constant, Value};
pub use convert::Convert;
pub use convolution::{Convolution, ConvolutionSpec};
pub use cumulative::{Cumulative, Running};
pub use custom_jvp::CustomJvp;
pub use custom_vjp::{CustomVjp, CustomVjpLin};
pub use dot_general::DotGeneral;
pub use dynamic_slice::{DynamicSlice, DynamicUpdateSlice};
pub use entry::{Entry, Spelled};
pub use fft::{Fft, FftKind};
pub use gather::Gather;
pub use guard::Guard;
pub use implicit::{Solution, Solver, Stopping};
pub use integer_pow::IntegerPow;
pub use iota::Iota;
pub use linalg::{
    ANCHOR, Cholesky, Count, Det, Eig, EigOrder, Eigh, Lu, Qr, Schur, Slogdet, Solve, Spectral,
    Svd, TriangularSolve, Turn, eig_order,
};
pub use linear_solve::{Apply, LinearSolve};
pub(crate) use literal::Literal;
pub use pad::Pad;
pub use plain::Plain;
pub use polygamma::Polygamma;
pub use recurrence::{Factors, LinearRecurrence};
pub use reduce::{REDUCTIONS, Reduce, Reduction, ReductionDef};
pub use reduce_precision::ReducePrecision;
pub use reduce_window::ReduceWindow;
pub use reshape::Reshape;
pub use reverse::Reverse;
pub use round_to::{Beyond, Format, RoundTo};
pub use scan::Scan;
pub use scatter::Scatter;
pub use scatter_recurrence::ScatterRecurrence;
pub use select::Select;
pub use select_window::SelectWindow;
pub use side::Side;
pub use slice::Slice;
pub use sliding::Sliding;
pub use sort::Sort;
pub use special::{Special, SpecialFn};
pub use switch::Switch;
pub use transpose::Transpose;
pub use unary::{UNARY, Unary, UnaryDef};
pub use while_loop::{Bound, While};
pub use windows::{Bounds, Combine, Windows};

use crate::array::Scalar;
use crate::primitive::Primitive;
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

/// Every operation by name, in the order of the list.
pub fn entries() -> Vec<Entry> {
    [
        unary::entries(),
        binary::entries(),
        compare::entries(),
        select::entries(),
        at_kink::entries(),
        complex::entries(),
        integer_pow::entries(),
        polygamma::entries(),
        bessel::entries(),
        special::entries(),
        betainc::entries(),
        convert::entries(),
        bitcast::entries(),
        reduce_precision::entries(),
        round_to::entries(),
        constant::entries(),
        iota::entries(),
        broadcast::entries(),
        reshape::entries(),
        transpose::entries(),
        reduce::entries(),
        reduce_window::entries(),
        select_window::entries(),
        arg_reduce::entries(),
        sort::entries(),
        cumulative::entries(),
        recurrence::entries(),
        dot_general::entries(),
        convolution::entries(),
        fft::entries(),
        call::entries(),
        switch::entries(),
        reverse::entries(),
        slice::entries(),
        pad::entries(),
        concatenate::entries(),
        dynamic_slice::entries(),
        gather::entries(),
        scatter::entries(),
        scatter_recurrence::entries(),
        scan::entries(),
        while_loop::entries(),
        linalg::entries(),
        custom_jvp::entries(),
        custom_vjp::entries(),
        linear_solve::entries(),
        guard::entries(),
    ]
    .concat()
}

/// The operation that merges fan-out.
pub(crate) fn sum_op() -> Op {
    Binary::Add.into()
}

/// The zero of a type.
pub(crate) fn zeros_op(ty: &Type) -> Op {
    Constant::splat(ty.clone(), Scalar::I(0)).into()
}

impl Op {
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
