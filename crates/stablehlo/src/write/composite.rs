//! Operations that are written as `stablehlo.composite`, because their decomposition has other bits
//! or derivatives.
//!
//! ```text
//! %1 = stablehlo.composite "cotangent.stop_gradient" %0 {
//!        composite_attributes = {tgraph = "tgraph.module @op .."},
//!        decomposition = @stop_gradient} : (tensor<f64>) -> tensor<f64>
//! ```
//! Other compilers run the decomposition. The reader parses the operation from the attribute, so a
//! round trip preserves bits and derivatives.

use super::ops;
use super::text::{TextEmitter, shown, tuple};
use crate::names::{COMPOSITE_MODULE, COMPOSITE_PREFIX};
use cotangent_core::ops::{Binary, FftKind, Unary};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::text::print_function;
use cotangent_core::transform::Session;
use cotangent_core::{Builder, DType, Emit, Function, Op, Result, Type};
use std::sync::Arc;

/// Whether an operation is written as a composite.
fn is_composite(op: &Op, types: &[Type]) -> bool {
    match op {
        Op::Unary(Unary::StopGradient) => true,
        // The decomposition rounds differently and has other derivatives at infinities.
        Op::Unary(Unary::Exp2 | Unary::Log2 | Unary::OneMinusSquare) => true,
        Op::Unary(Unary::SechSquare | Unary::RecipOnePlusSquare) => true,
        Op::Binary(Binary::Xlogy | Binary::MulStrongZero | Binary::DivStrongZero)
        | Op::IntegerPow(_) => true,
        // The derivative of a derivative at a kink depends on the operation.
        Op::AtKink(_) => true,
        // The reader stores narrow floats in `f32`, which would round tangents of wider types.
        Op::RoundTo(_) => types[0].dtype == DType::F64,
        // Sums in the core are compensated.
        Op::LinearRecurrence(_) | Op::ScatterRecurrence(_) | Op::Binary(Binary::AddError) => true,
        // StableHLO has no attribute for the rounding of sums, nor for strong zeros in products.
        Op::Reduce(r) => r.stable,
        Op::DotGeneral(d) => d.stable || d.strong_zero,
        Op::Convolution(c) => c.stable || c.strong_zero,
        Op::Scatter(s) => s.stable,
        // StableHLO's inverse divides by the length.
        Op::Fft(f) => matches!(f.kind, FftKind::Adjoint | FftKind::RealAdjoint),
        // LAPACK has other signs or another order, or several calls are needed.
        Op::Qr(_) | Op::Svd(_) | Op::Eig(_) | Op::Schur(_) | Op::Solve(_) => true,
        Op::CustomJvp(_) | Op::CustomVjp(_) | Op::LinearSolve(_) | Op::Guard(_) => true,
        Op::Spectral(_) | Op::Det(_) | Op::Slogdet(_) | Op::Cholesky(_) => true,
        _ => false,
    }
}

/// The operation as a function, if all its extents are constants.
fn closed_function(op: &Op, types: &[Type], y: &[Type]) -> Option<Function> {
    let is_constant = |t: &Type| t.shape.as_const().is_some();
    if !op.binds().is_empty() || !types.iter().chain(y).all(is_constant) {
        return None;
    }
    let b = Builder::new(COMPOSITE_MODULE, Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let results = b.emit(op.clone(), &x);
    b.finish(&results).ok()
}

/// Writes an operation as a composite; `None` if it is decomposed.
fn write(t: &TextEmitter<'_>, op: &Op, x: &[Val], y: &[Type]) -> Option<Vals> {
    let types = t.types(x);
    if y.is_empty() || t.is_portable() || !is_composite(op, &types) || t.expands.take() {
        return None;
    }
    let f = closed_function(op, &types, y)?;
    let text = print_function(&f);
    let name = t
        .names
        .borrow_mut()
        .decomposition(Arc::new(f), op.name(), &text);
    let text_line = format!(
        "stablehlo.composite \"{COMPOSITE_PREFIX}{}\" {} {{composite_attributes = {{tgraph = {}}}, decomposition = @{}}} : ({}) -> {}",
        op.name(),
        t.list(x),
        quoted(&text),
        super::names::symbol(&name),
        shown(&types),
        tuple(y)
    );
    Some(t.line(&text_line, y.to_vec()))
}

/// A quoted MLIR string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.trim().chars() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => out.push_str("\\5C"),
            '\n' => out.push_str("\\0A"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes one operation: as a composite, or by its StableHLO form.
pub(super) fn write_operation(
    t: &TextEmitter<'_>,
    op: &Op,
    x: &[Val],
    y: Vec<Type>,
) -> Result<Vals> {
    match write(t, op, x, &y) {
        Some(v) => Ok(v),
        None => ops::write(t, op, x, y),
    }
}
