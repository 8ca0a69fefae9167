//! What a node keeps for `backward`: the derivative of its operation, and the values that this
//! refers to.

use crate::eager::rule::pullback::Pullbacks;
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::transform::LinearProgram;
use cotangent_core::{Env, Op, Type};
use cotangent_cpu::Tensor;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// What a node keeps for `backward`, until it is released.
#[derive(Default)]
pub(in crate::eager) struct SavedState {
    tape: Mutex<SavedTensors>,
    /// Nodes are asked far more often than they are taken from.
    released: AtomicBool,
}

impl SavedState {
    /// What is kept, unless it was released. No foreign code may run while it is borrowed.
    pub fn get(&self) -> Option<MutexGuard<'_, SavedTensors>> {
        let tape = lock(&self.tape);
        (!self.released()).then_some(tape)
    }

    /// What is kept, for a pass that leaves it (`keep`) or releases it.
    pub fn for_pass(&self, keep: bool) -> Option<SavedTensors> {
        let mut tape = self.get()?;
        if keep {
            return Some(tape.clone());
        }
        self.released.store(true, Ordering::Release);
        Some(std::mem::take(&mut tape))
    }

    /// Gives back what a pass took and failed with.
    pub fn restore(&self, tape: SavedTensors) {
        *lock(&self.tape) = tape;
        self.released.store(false, Ordering::Release);
    }

    /// Lets it go.
    pub fn release(&self, tape: &mut SavedTensors) {
        self.released.store(true, Ordering::Release);
        tape.clear();
    }

    pub(super) fn released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    pub(super) fn get_mut(&mut self) -> &mut SavedTensors {
        self.tape.get_mut().unwrap_or_else(|e| e.into_inner())
    }

    /// An empty tape that is not released.
    pub(super) fn renew(&mut self) {
        self.get_mut().clear();
        *self.released.get_mut() = false;
    }
}

/// The derivative of an operation: at any point, for a rule that is used again.
pub(in crate::eager) struct NodeDerivative {
    pub op: Op,
    pub program: LinearProgram,
    /// Which operands are tracked.
    pub tracked: Tracked,
    /// How many operands are tracked: the first linear values are their tangents.
    pub inputs: usize,
    /// Whether derivatives at kinks are in the operation.
    pub kinks: bool,
    /// The values that the program's equations refer to.
    pub residuals: Vec<Residual>,
    /// The operands, if the program refers to values that were computed from them: a derivative of
    /// the derivative linearizes again.
    pub relinearize: Option<Vec<Residual>>,
    /// Where what a tape holds comes from, in order.
    pub saved: SmallVec<[SavedValue; 2]>,
    /// Other points will follow.
    pub reusable: bool,
    /// Programs by the linear values that have cotangents.
    pub pullbacks: Pullbacks,
}

/// A flag for each operand.
pub(in crate::eager) type Tracked = SmallVec<[bool; 8]>;

/// The derivative at one point.
#[derive(Clone, Default)]
pub(in crate::eager) struct SavedTensors {
    /// What is [kept](Derivative::kept), then the operands if they are; without what is fixed.
    pub saved: SmallVec<[Tensor; 2]>,
    pub env: Env,
}

impl SavedTensors {
    fn clear(&mut self) {
        self.saved.clear();
        self.env.clear();
    }
}

/// A value that a derivative refers to.
pub(in crate::eager) struct Residual {
    /// The value's index in the equations.
    pub at: usize,
    pub source: ResidualSource,
    pub ty: Type,
    pub given: Given,
    pub origin: ResidualOrigin,
}

/// Where a kept value comes from.
pub(in crate::eager) enum ResidualSource {
    /// A tape holds it.
    Saved(SavedValue),
    /// An operation without operands: the same at every point.
    Constant(Box<(Op, Tensor)>),
}

/// Where what a tape holds comes from: an operand, or what running the operation gives at a
/// position.
#[derive(Clone, Copy)]
pub(in crate::eager) enum SavedValue {
    Operand(usize),
    Result(usize),
}

/// What a kept value's own tangent is.
#[derive(Clone, Copy)]
pub(in crate::eager) enum ResidualOrigin {
    None,
    /// That of an input of the node.
    Input(usize),
    /// A linear value of the node.
    Result(u32),
}

impl NodeDerivative {
    pub fn new(
        op: Op,
        program: LinearProgram,
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
            residuals,
            relinearize,
            saved,
            reusable,
            pullbacks: Pullbacks::default(),
        }
    }
}
