//! [`Pass`]: the forward pass of [`simplify`](super::simplify), which every rewrite writes to.

use super::cse::ExpressionTable;
use super::fold;
use super::uses::UseCounts;
use crate::array::Scalar;
use crate::ir::{Builder, Emit, Function, Op, Session, Val, Vals};
use crate::shape::Type;
use std::sync::Arc;

/// A rewritten function.
pub(super) struct RewrittenRegion {
    /// Kept alive so that its address is not reused.
    pub _original: Arc<Function>,
    pub new: Arc<Function>,
}

/// The state of the forward pass: the new function, and the table of common subexpressions.
pub(super) struct Pass {
    pub b: Builder,
    table: ExpressionTable,
    pub uses: UseCounts,
    /// Whether all constants are computed, by the arithmetic of the reference.
    folds: bool,
}

/// The function that a rewrite reads and writes.
pub(super) trait Writer {
    /// The type of a value.
    fn ty(&self, v: Val) -> Type;

    /// The operation that defines a value, and its operands.
    fn definition(&self, v: Val) -> Option<(Op, Vals)>;

    /// The element that all elements of a value equal, if it is constant.
    fn number(&self, v: Val) -> Option<Scalar>;

    /// Writes an operation with one result.
    fn emit_one(&mut self, op: Op, x: &[Val]) -> Val;
}

impl Writer for Pass {
    fn ty(&self, v: Val) -> Type {
        self.b.ty(v)
    }

    fn definition(&self, v: Val) -> Option<(Op, Vals)> {
        let copied = |op: &Op, x: &[Val]| (op.clone(), Vals::from_slice(x));
        self.b.with_def(v, copied)
    }

    fn number(&self, v: Val) -> Option<Scalar> {
        fold::number_everywhere(&self.b, v)
    }

    fn emit_one(&mut self, op: Op, x: &[Val]) -> Val {
        self.one(op, x)
    }
}

impl Pass {
    /// A pass that writes a function of this name, with memory for about `equations` equations.
    pub(super) fn new(name: &str, equations: usize) -> Pass {
        Pass {
            b: Builder::new(name, Session::default()),
            table: ExpressionTable::for_equations(equations),
            uses: UseCounts::default(),
            folds: true,
        }
    }

    /// A pass that computes only exact constants, integers and booleans: results keep the bits of
    /// the runtime's arithmetic.
    pub(super) fn without_folding(name: &str, equations: usize) -> Pass {
        Pass {
            folds: false,
            ..Pass::new(name, equations)
        }
    }

    /// Whether one equation or result reads the value in the source.
    pub(super) fn is_used_once(&self, v: Val) -> bool {
        self.uses.of(v) == 1
    }

    /// The results of an operation: existing values, a constant, or a new equation.
    pub(super) fn write(&mut self, op: Op, x: &[Val]) -> Vals {
        if let Some(v) = self.rewrite(&op, x) {
            return Vals::from_slice(&[v]);
        }
        let constant = match self.folds {
            true => fold::constant(&self.b, &op, x),
            false => fold::exact_constant(&self.b, &op, x),
        };
        match constant {
            Some(c) => self.write_new(c.into(), &[]),
            None => self.write_new(op, x),
        }
    }

    /// [`write`](Pass::write) with the bits of the runtime's arithmetic.
    pub(super) fn write_exactly(&mut self, op: Op, x: &[Val]) -> Vals {
        let folds = std::mem::replace(&mut self.folds, false);
        let y = self.write(op, x);
        self.folds = folds;
        y
    }

    fn write_new(&mut self, op: Op, x: &[Val]) -> Vals {
        let key = self.table.key(&op, x);
        if let Some(old) = key.as_ref().and_then(|k| self.table.get(k)) {
            return old.clone();
        }
        let y = self.b.emit(op, x);
        if let Some(key) = key {
            self.table.insert(key, y.clone());
        }
        y
    }

    /// Writes an operation with one result, through all steps.
    pub(super) fn one(&mut self, op: impl Into<Op>, x: &[Val]) -> Val {
        self.write(op.into(), x)[0]
    }
}
