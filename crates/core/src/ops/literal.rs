//! Element types of literals: numbers, `true` and `false` that a text has as operands.

use super::Composite;
use crate::dtype::DType;
use crate::ir::{Attr, Attrs, Function, Op};
use std::sync::Arc;

/// The rule for the element type of a literal operand: the operands that determine it, and a
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// The element type of the other `Like` operands, preferably of those that are not boolean;
    /// else that of the result.
    Like,
    /// The element type of the other operands; else the attribute `dtype`, that of the result, or
    /// this type.
    Made(DType),
    /// The element type of the other `Index` operands; else `i64`.
    Index,
    /// This type.
    Of(DType),
}

/// The element type of a parameter.
fn param(f: &Arc<Function>, k: usize) -> Literal {
    f.params()
        .get(k)
        .map_or(Literal::Like, |&p| Literal::Of(f.ty(p).dtype))
}

impl Op {
    /// The rule for the element type of a literal as operand `k`.
    pub(crate) fn literal(&self, k: usize) -> Literal {
        match self {
            Op::Select(_) if k == 0 => Literal::Of(DType::Bool),
            Op::Guard(_) if k == 1 => Literal::Of(DType::Bool),
            // Operands with an independent type: the measure of a guard, and the summands of a
            // window selection.
            Op::Guard(_) | Op::SelectWindow(_) if k == 2 => Literal::Made(DType::F64),
            Op::DynamicSlice(_) if k >= 1 => Literal::Index,
            Op::DynamicUpdateSlice(_) if k >= 2 => Literal::Index,
            Op::Gather(_) | Op::Scatter(_) if k == 1 => Literal::Index,
            Op::Switch(_) if k == 0 => Literal::Index,
            Op::Switch(s) => s
                .branches
                .first()
                .map_or(Literal::Like, |b| param(b, k - 1)),
            Op::While(w) if k < w.cond_consts => param(&w.cond, k),
            Op::While(w) => param(&w.body, k - w.cond_consts),
            // The parameters of the first region are the operands.
            Op::Call(_)
            | Op::Scan(_)
            | Op::CustomJvp(_)
            | Op::CustomVjp(_)
            | Op::LinearSolve(_) => self
                .regions()
                .first()
                .map_or(Literal::Like, |f| param(f, k)),
            _ => Literal::Like,
        }
    }
}

impl Composite {
    /// The rule for the element type of a literal as operand `k`.
    pub(crate) fn literal(&self, attrs: &Attrs, k: usize) -> Literal {
        if let Some((_, Attr::Fn(f))) = attrs.0.iter().find(|(key, _)| key == "callee") {
            return param(f, k);
        }
        match (self.name, k) {
            ("one_hot", 0) | ("cross_entropy", 1) => Literal::Index,
            ("masked_logsumexp", 1) => Literal::Of(DType::Bool),
            ("linspace", _) => Literal::Made(DType::F64),
            ("random_fold_in", 1) => Literal::Of(DType::U32),
            ("random_int", 1 | 2) => Literal::Made(DType::I64),
            ("random_uniform" | "random_truncated_normal" | "random_bernoulli", 1 | 2) => {
                Literal::Made(DType::F32)
            }
            (name, 0) if name.starts_with("random_") => Literal::Of(DType::U32),
            _ => Literal::Like,
        }
    }

    /// Whether its operands are broadcast to one shape, as those of elementwise operations.
    pub(crate) fn is_elementwise(&self) -> bool {
        matches!(self.name, "logaddexp" | "fma")
    }
}
