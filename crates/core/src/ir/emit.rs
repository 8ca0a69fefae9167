//! The emitter: the interface that rules and composites write operations to.
//!
//! Methods take `&self`, and the emitter stores failures: it keeps the first error, and later
//! results are poison. So formulas need no error handling: `cx.mul(x, cx.cos(y))`.

use super::{Builder, Op, Session, Val, Vals};
use crate::error::{Error, Loc};
use crate::shape::{Sym, Type};

/// A receiver of operations: a graph under construction, or a runtime that computes eagerly.
pub trait Emit {
    /// Writes one operation and returns its results. After a failure, the results are poison
    /// values.
    fn emit(&self, op: Op, operands: &[Val]) -> Vals;

    /// The type of a value (a scalar type for poison).
    fn ty(&self, v: Val) -> Type;

    /// Stores an error. The first one is reported.
    fn fail(&self, e: Error);

    /// Whether an error is stored.
    fn failed(&self) -> bool;

    /// The session: rules, numerics and memoised transforms of regions.
    fn session(&self) -> &Session;

    /// Sets the source location of the next operations.
    fn set_loc(&self, loc: Loc) {
        let _ = loc;
    }

    /// The current source location.
    fn loc(&self) -> Loc {
        Loc::None
    }

    /// Sets the name of the method that is called, for error messages.
    fn set_method(&self, name: &'static str) {
        let _ = name;
    }

    /// The operation that computes a value, and its operands, if they are recorded.
    fn written(&self, v: Val) -> Option<(Op, Vals)> {
        let _ = v;
        None
    }

    /// A symbol name that this function does not use yet.
    fn fresh_sym(&self, base: &str) -> Sym {
        base.into()
    }

    /// A builder for a region of an operation of this function.
    fn nested(&self, name: &str) -> Builder {
        Builder::new(name, self.session().clone())
    }

    /// The symbol to use in this function for `s` when an equation that binds `s` is copied: `s`,
    /// unless it is in use.
    fn claim_sym(&self, s: &Sym) -> Sym {
        s.clone()
    }
}

impl dyn Emit + '_ {
    /// Writes an operation with one result.
    pub fn op(&self, op: impl Into<Op>, operands: &[Val]) -> Val {
        let r = self.emit(op.into(), operands);
        debug_assert_eq!(r.len(), 1);
        r[0]
    }

    /// The zero of a type.
    pub fn zeros(&self, ty: &Type) -> Val {
        self.op(self.session().zeros(ty), &[])
    }
}
