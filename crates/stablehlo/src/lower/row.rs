//! Rows of the lowering table.

use super::function::FunctionLowering;
use crate::ast::Operation;
use cotangent_core::Result;
use cotangent_core::ops::{Binary, Unary};
use cotangent_core::primitive::Vals;

/// How an operation is lowered.
#[derive(Clone, Copy)]
pub(crate) enum LoweringRule {
    /// A unary operation.
    Unary(Unary),
    /// A binary operation.
    Binary(Binary),
    /// A function that emits the operation and returns its results.
    Custom(fn(&FunctionLowering<'_>, &Operation<'_>) -> Result<Vals>),
}

/// Name of an operation without its dialect, and its rule.
pub(crate) type LoweringRow = (&'static str, LoweringRule);
