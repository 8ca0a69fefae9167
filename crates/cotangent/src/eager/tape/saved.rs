//! Data of a node for `backward`: the derivative of its operation, and the residuals of the
//! derivative.

use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::tape::{OpDerivative, Pullbacks, TrackedOperands};
use cotangent_core::transform::LinearProgram;
use cotangent_core::{Env, Error, Op};
use cotangent_cpu::{Program, Tensor};
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Saved tensors of a node, until they are released.
#[derive(Default)]
pub(in crate::eager) struct SavedState {
    tape: Mutex<SavedTensors>,
    /// Whether the tensors were released, readable without the lock.
    released: AtomicBool,
}

impl SavedState {
    /// The saved tensors, unless they were released. No user code may run while they are borrowed.
    pub(crate) fn get(&self) -> Option<MutexGuard<'_, SavedTensors>> {
        let tape = lock(&self.tape);
        (!self.released()).then_some(tape)
    }

    /// The saved tensors for a pass that keeps (`keep`) or releases them.
    pub(crate) fn for_pass(&self, keep: bool) -> Option<SavedTensors> {
        let mut tape = self.get()?;
        if keep {
            return Some(tape.clone());
        }
        self.released.store(true, Ordering::Release);
        Some(std::mem::take(&mut tape))
    }

    /// Restores the saved tensors after a failed pass.
    pub(crate) fn restore(&self, tape: SavedTensors) {
        *lock(&self.tape) = tape;
        self.released.store(false, Ordering::Release);
    }

    /// Releases the saved tensors.
    pub(crate) fn release(&self, tape: &mut SavedTensors) {
        self.released.store(true, Ordering::Release);
        tape.clear();
    }

    pub(super) fn released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    pub(super) fn get_mut(&mut self) -> &mut SavedTensors {
        self.tape.get_mut().unwrap_or_else(|e| e.into_inner())
    }

    /// Resets to an empty state that is not released.
    pub(super) fn renew(&mut self) {
        self.get_mut().clear();
        *self.released.get_mut() = false;
    }
}

/// The derivative of an operation. That of a compiled rule is shared by all nodes of the rule.
pub(in crate::eager) struct NodeDerivative {
    pub op: Op,
    pub rule: OpDerivative,
    /// Data of the [residuals](OpDerivative::residuals), then of the
    /// [operands](OpDerivative::relinearize).
    pub restored: Vec<RestoredTensor>,
    /// Whether the operation contains derivatives at kinks.
    pub kinks: bool,
    /// The error of the operation's rule, if it has none. The program is empty then.
    pub missing: Option<Error>,
    /// Whether other nodes share it.
    pub reusable: bool,
    /// Compiled pullbacks, by the linear values that have cotangents.
    pub pullbacks: Pullbacks<Program>,
}

/// The data of a residual that only the runtime knows.
pub(in crate::eager) struct RestoredTensor {
    pub given: Given,
    /// The value of a constant.
    pub constant: Option<Tensor>,
}

impl Deref for NodeDerivative {
    type Target = OpDerivative;

    #[inline]
    fn deref(&self) -> &OpDerivative {
        &self.rule
    }
}

/// The tensors of a derivative at one point.
#[derive(Clone, Default)]
pub(in crate::eager) struct SavedTensors {
    /// The [residuals](OpDerivative::residuals) without constants, then the operands if they are
    /// saved.
    pub saved: SmallVec<[Tensor; 2]>,
    pub env: Env,
}

impl SavedTensors {
    fn clear(&mut self) {
        self.saved.clear();
        // Most operations have no symbolic extents, and to clear an empty table takes a while.
        if !self.env.is_empty() {
            self.env.clear();
        }
    }
}

impl NodeDerivative {
    pub(crate) fn new(
        op: Op,
        rule: OpDerivative,
        restored: Vec<RestoredTensor>,
        reusable: bool,
    ) -> NodeDerivative {
        NodeDerivative {
            kinks: op.has_kinks(),
            op,
            rule,
            restored,
            missing: None,
            reusable,
            pullbacks: Pullbacks::default(),
        }
    }

    /// The derivative of an operation whose rule returned this error.
    pub(crate) fn missing(op: Op, tracked: TrackedOperands, e: Error) -> NodeDerivative {
        let rule = OpDerivative::new(LinearProgram::default(), &[], tracked, Vec::new(), None);
        NodeDerivative {
            missing: Some(e),
            ..NodeDerivative::new(op, rule, Vec::new(), false)
        }
    }
}
