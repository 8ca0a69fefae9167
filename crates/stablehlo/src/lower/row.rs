//! Rows of the table of operations.

use super::function::FunctionLowering;
use crate::ast::Operation;
use cotangent_core::Result;
use cotangent_core::ops::{Binary, Unary};
use cotangent_core::primitive::Vals;

/// How an operation is lowered.
#[derive(Clone, Copy)]
pub enum LoweringRule {
    /// To the function of one operand.
    Unary(Unary),
    /// To the function of two operands.
    Binary(Binary),
    /// By what this writes.
    Custom(fn(&FunctionLowering<'_>, &Operation<'_>) -> Result<Vals>),
}

/// A name without its dialect, and what it means.
pub type LoweringRow = (&'static str, LoweringRule);
