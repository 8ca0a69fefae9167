//! Instructions of a body that runs in place.

use super::frame::{InPlaceForm, Operand, StridedOperand};
use super::update::Update;
use crate::plan::nested::NestedRun;
use cotangent_core::DType;
use cotangent_kernels::tile::TileFn;
use smallvec::SmallVec;

/// An operand of a call in place.
pub(super) struct LentOperand {
    pub(super) dtype: DType,
    pub(super) at: Operand,
    pub(super) shape: SmallVec<[usize; 4]>,
    pub(super) strides: SmallVec<[isize; 4]>,
}

/// A kernel on tensors: a step of the plan, its operands, and memory for the results that are read.
pub(super) struct InPlaceCall {
    pub(super) step: usize,
    pub(super) operands: Vec<LentOperand>,
    pub(super) results: Vec<Option<(Operand, InPlaceForm)>>,
}

/// An instruction. All sizes are numbers: nothing is computed from extents in a step.
pub(super) enum Instruction {
    /// A kernel on `n` elements.
    Tile {
        kernel: TileFn,
        n: usize,
        data: usize,
        y: Operand,
        x: [Operand; 3],
    },
    /// One element, `n` times.
    Fill {
        size: usize,
        n: usize,
        y: Operand,
        x: Operand,
    },
    /// `y[i] = x[at[i]]`.
    Gather {
        size: usize,
        at: Box<[isize]>,
        y: Operand,
        x: Operand,
    },
    /// `y[at[i]] = x[i]`.
    Scatter {
        size: usize,
        at: Box<[isize]>,
        y: Operand,
        x: Operand,
    },
    /// Rows of this many bytes, each from and to its offset.
    Rows {
        bytes: usize,
        at: Box<[(isize, isize)]>,
        y: Operand,
        x: Operand,
    },
    Copy {
        bytes: usize,
        y: Operand,
        x: Operand,
    },
    /// A start of windows: `clamp(x, 0, last)`.
    Start {
        slot: usize,
        dtype: DType,
        last: i64,
        x: Operand,
    },
    /// `to = x + Σ start * bytes`.
    Address {
        to: usize,
        x: Operand,
        moves: SmallVec<[(usize, isize); 2]>,
    },
    /// The fold of `rows` contiguous rows of `len` elements, by a member of a step.
    Fold {
        step: usize,
        member: usize,
        rows: usize,
        len: usize,
        y: Operand,
        x: Operand,
    },
    /// A matrix product of `n` results, by a member of a step.
    Product {
        step: usize,
        member: usize,
        n: usize,
        y: Operand,
        x: Box<[StridedOperand; 2]>,
    },
    Update(Box<Update>),
    /// A step of code in its general form.
    Code {
        step: usize,
        outputs: SmallVec<[Operand; 2]>,
    },
    /// A kernel on tensors that are lent for the time of the call.
    Call(Box<InPlaceCall>),
    /// A loop, a branch or another region in place.
    Control {
        run: Box<dyn NestedRun>,
        eqn: usize,
        x: SmallVec<[Operand; 8]>,
        y: SmallVec<[Operand; 4]>,
    },
}
