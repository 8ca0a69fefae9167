//! Data of a node for `backward`: the derivative of its operation, and the residuals of the
//! derivative.

use crate::eager::rule::pullback::Pullbacks;
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::transform::{LinearProgram, Lv};
use cotangent_core::{Env, Op, Type};
use cotangent_cpu::Tensor;
use smallvec::SmallVec;
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
    pub program: LinearProgram,
    /// Whether each operand is tracked.
    pub tracked: Tracked,
    /// Number of tracked operands. The first linear values are their tangents.
    pub inputs: usize,
    /// The index of the first linear value that is the tangent of a result. A rule may return the
    /// tangent of an operand.
    pub results_from: usize,
    /// Whether the operation contains derivatives at kinks.
    pub kinks: bool,
    /// The residuals: values that the program's equations refer to.
    pub residuals: Vec<Residual>,
    /// The operands, if the program refers to intermediate values. A derivative of the derivative
    /// then linearizes the operation again.
    pub relinearize: Option<Vec<Residual>>,
    /// The sources of the saved tensors, in order.
    pub saved: SmallVec<[SavedValue; 2]>,
    /// Whether other nodes share it.
    pub reusable: bool,
    /// Compiled pullbacks, by the linear values that have cotangents.
    pub pullbacks: Pullbacks,
}

/// A flag for each operand.
pub(in crate::eager) type Tracked = SmallVec<[bool; 8]>;

/// The tensors of a derivative at one point.
#[derive(Clone, Default)]
pub(in crate::eager) struct SavedTensors {
    /// The [residuals](NodeDerivative::residuals) without constants, then the operands if they are
    /// saved.
    pub saved: SmallVec<[Tensor; 2]>,
    pub env: Env,
}

impl SavedTensors {
    fn clear(&mut self) {
        self.saved.clear();
        self.env.clear();
    }
}

/// A value that the equations of a derivative refer to.
pub(in crate::eager) struct Residual {
    /// The value's index in the equations.
    pub at: usize,
    pub source: ResidualSource,
    pub ty: Type,
    pub given: Given,
    pub origin: ResidualOrigin,
}

/// The source of a residual.
pub(in crate::eager) enum ResidualSource {
    /// A saved tensor of the node.
    Saved(SavedValue),
    /// An operation without operands, and its value: the same for all nodes.
    Constant(Box<(Op, Tensor)>),
}

/// The source of a saved tensor: an operand, or an output of the compiled program, by index.
#[derive(Clone, Copy)]
pub(in crate::eager) enum SavedValue {
    Operand(usize),
    Result(usize),
}

/// The tangent of a residual.
#[derive(Clone, Copy)]
pub(in crate::eager) enum ResidualOrigin {
    None,
    /// The tangent of an input of the node.
    Input(usize),
    /// A linear value of the node.
    Result(u32),
}

impl NodeDerivative {
    /// The tangents of the tracked operands.
    pub(crate) fn input_tangents(&self) -> SmallVec<[Lv; 4]> {
        (0..self.inputs).map(Lv::from_index).collect()
    }

    pub(crate) fn new(
        op: Op,
        program: LinearProgram,
        tangents: &[Option<Lv>],
        tracked: Tracked,
        residuals: Vec<Residual>,
        relinearize: Option<Vec<Residual>>,
        reusable: bool,
    ) -> NodeDerivative {
        let from = |k: &Residual| match k.source {
            ResidualSource::Saved(from) => Some(from),
            ResidualSource::Constant(_) => None,
        };
        let saved = residuals
            .iter()
            .chain(relinearize.iter().flatten())
            .filter_map(from)
            .collect();
        let inputs = tracked.iter().filter(|t| **t).count();
        NodeDerivative {
            kinks: op.has_kinks(),
            op,
            program,
            tracked,
            inputs,
            results_from: tangents
                .iter()
                .flatten()
                .map(|l| l.index())
                .min()
                .unwrap_or(0),
            residuals,
            relinearize,
            saved,
            reusable,
            pullbacks: Pullbacks::default(),
        }
    }
}
