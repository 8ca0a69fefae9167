//! The list of operations. Each operation or family has a file.
//!
//! A new operation needs a file, its module here and its [`Entry`] in [`entries`], a variant in
//! [`Op`], and an arm in the runtime's lowering.

mod arg_reduce;
mod at_kink;
mod bessel;
mod betainc;
mod binary;
mod bitcast;
mod body;
mod broadcast;
mod call;
mod callback;
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
mod polygamma;
mod recurrence;
mod reduce;
mod reduce_precision;
mod reduce_window;
mod reshape;
mod reverse;
mod round_to;
mod scalar_function;
mod scan;
mod scatter;
mod scatter_recurrence;
mod select;
mod select_window;
mod shard;
mod side;
mod slice;
mod sliding;
mod sort;
mod special;
mod step_sums;
mod sums;
mod support;
mod switch;
mod transpose;
mod unary;
mod while_loop;
mod windows;

pub use crate::ir::Op;
pub use arg_reduce::ArgReduce;
pub use at_kink::AtKink;
pub use bessel::BesselIe;
pub use betainc::Betainc;
pub use binary::{BINARY, Binary, BinaryDef, BinaryTranspose};
pub use bitcast::Bitcast;
pub use body::RegionFn;
pub use broadcast::BroadcastInDim;
pub use call::Call;
pub use callback::callback;
pub use checkpoint::{Checkpoint, Loops};
pub use compare::{COMPARISONS, Compare, Comparison, ComparisonDef};
pub use complex::Complex;
pub use composite::{Composite, CompositeFn, LossReduction, MatrixNorm, applied, composites};
pub use concatenate::Concatenate;
pub use constant::{Constant, Value};
pub use convert::Convert;
pub use convolution::{Convolution, ConvolutionSpec};
pub use cumulative::{Cumulative, Running};
pub use custom_jvp::CustomJvp;
pub use custom_vjp::{CustomVjp, CustomVjpLin};
pub use dot_general::DotGeneral;
pub use dynamic_slice::{DynamicSlice, DynamicUpdateSlice};
pub use entry::{Entry, OpaqueEntry, Spelled};
pub use fft::{Fft, FftKind};
pub use gather::Gather;
pub use guard::Guard;
pub use implicit::{Solution, Solver, Stopping};
pub use integer_pow::IntegerPow;
pub use iota::Iota;
pub(crate) use linalg::solve_of_vector;
pub use linalg::{
    ANCHOR, Cholesky, Count, Det, Eig, EigOrder, Eigh, Lu, Qr, Schur, Slogdet, Solve, Spectral,
    Svd, TriangularSolve, Turn, eig_order,
};
#[doc(hidden)]
pub use linalg::{Reflectors, apply_reflectors, product_of_reflectors};
pub use linear_solve::{Apply, LinearSolve};
pub(crate) use literal::Literal;
pub use pad::Pad;
pub use polygamma::Polygamma;
pub use recurrence::{Factors, LinearRecurrence};
pub use reduce::{REDUCTIONS, Reduce, Reduction, ReductionDef};
pub use reduce_precision::ReducePrecision;
pub use reduce_window::ReduceWindow;
pub use reshape::Reshape;
pub use reverse::Reverse;
pub use round_to::{Beyond, Format, RoundTo};
pub use scalar_function::elementwise;
pub use scan::Scan;
pub use scatter::Scatter;
pub use scatter_recurrence::ScatterRecurrence;
pub use select::Select;
pub use select_window::SelectWindow;
pub use shard::Shard;
pub use side::Side;
pub use slice::Slice;
pub use sliding::Sliding;
pub(crate) use sliding::indices;
pub use sort::Sort;
pub use special::{Special, SpecialFn};
pub use switch::Switch;
pub use transpose::Transpose;
pub use unary::{UNARY, Unary, UnaryDef, UnaryTranspose};
pub use while_loop::{Bound, While};
pub use windows::{Bounds, Combine, Windows};

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
        shard::entries(),
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
