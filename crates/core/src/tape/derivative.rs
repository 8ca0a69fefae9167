//! The derivative of a recorded operation: its linear program, and where the values come from that
//! the program refers to.

use crate::ir::{LinearProgram, Lv, Op};
use crate::shape::Type;
use smallvec::SmallVec;

/// A flag for each operand.
pub type TrackedOperands = SmallVec<[bool; 8]>;

/// A value that the equations of a derivative refer to.
pub struct NodeResidual {
    /// The value's index in the equations.
    pub at: usize,
    /// Where the value comes from.
    pub source: ResidualSource,
    /// Its type.
    pub ty: Type,
    /// Its tangent.
    pub origin: ResidualOrigin,
}

/// The source of a residual.
pub enum ResidualSource {
    /// A saved value of the node.
    Saved(SavedValue),
    /// An operation without operands: its value is the same for all nodes.
    Constant(Op),
}

/// The source of a saved value: an operand, or a result of the recorded function, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedValue {
    /// An operand.
    Operand(usize),
    /// A result.
    Result(usize),
}

/// The tangent of a residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidualOrigin {
    /// It has none.
    None,
    /// The tangent of an input of the node.
    Input(usize),
    /// A linear value of the node.
    Result(u32),
}

/// The derivative of an operation, for all operands of the same types.
pub struct OpDerivative {
    /// The tangents of the results as a linear program in the tangents of the tracked operands,
    /// which are its first linear values.
    pub program: LinearProgram,
    /// Whether each operand is tracked.
    pub tracked: TrackedOperands,
    /// Number of tracked operands.
    pub inputs: usize,
    /// The index of the first linear value that is the tangent of a result. A rule may return the
    /// tangent of an operand.
    pub results_from: usize,
    /// The values that the program's equations refer to.
    pub residuals: Vec<NodeResidual>,
    /// The operands, if the program refers to intermediate values. A derivative of the derivative
    /// then linearizes the operation again.
    pub relinearize: Option<Vec<NodeResidual>>,
    /// The sources of the saved values, in order: of the residuals without constants, then of the
    /// operands in `relinearize`.
    pub saved: SmallVec<[SavedValue; 2]>,
}

impl OpDerivative {
    /// The derivative of this program. `tangents` are the tangents of the results.
    pub fn new(
        program: LinearProgram,
        tangents: &[Option<Lv>],
        tracked: TrackedOperands,
        residuals: Vec<NodeResidual>,
        relinearize: Option<Vec<NodeResidual>>,
    ) -> OpDerivative {
        let from = |k: &NodeResidual| match k.source {
            ResidualSource::Saved(from) => Some(from),
            ResidualSource::Constant(_) => None,
        };
        let saved = residuals
            .iter()
            .chain(relinearize.iter().flatten())
            .filter_map(from)
            .collect();
        let results_from = tangents.iter().flatten().map(|l| l.index()).min();
        OpDerivative {
            program,
            inputs: tracked.iter().filter(|t| **t).count(),
            tracked,
            results_from: results_from.unwrap_or(0),
            residuals,
            relinearize,
            saved,
        }
    }

    /// The tangents of the tracked operands.
    pub fn input_tangents(&self) -> SmallVec<[Lv; 4]> {
        (0..self.inputs).map(Lv::from_index).collect()
    }

    /// Number of saved values that the program refers to. The operands for another linearization
    /// follow.
    pub fn saved_residuals(&self) -> usize {
        self.saved.len() - self.relinearize.as_ref().map_or(0, Vec::len)
    }
}
