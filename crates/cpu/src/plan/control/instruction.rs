//! Instructions of a body that runs in place.

use super::frame::{FrameAddress, InPlaceForm, StridedOperand};
use super::update::Update;
use crate::plan::nested::NestedRun;
use cotangent_core::DType;
use cotangent_kernels::tile::TileFn;
use smallvec::SmallVec;

/// An operand of a call in place.
pub(super) struct LentOperand {
    pub(super) dtype: DType,
    pub(super) at: FrameAddress,
    pub(super) shape: SmallVec<[usize; 4]>,
    pub(super) strides: SmallVec<[isize; 4]>,
}

/// A kernel on tensors: a step of the plan, its operands, and memory for the results that are read.
pub(super) struct InPlaceCall {
    pub(super) step: usize,
    pub(super) operands: Vec<LentOperand>,
    pub(super) results: Vec<Option<(FrameAddress, InPlaceForm)>>,
}

/// An instruction. All sizes are numbers: nothing is computed from extents in a step.
pub(super) enum Instruction {
    /// A kernel on `n` elements.
    Tile {
        kernel: TileFn,
        n: usize,
        data: usize,
        y: FrameAddress,
        x: [FrameAddress; 3],
    },
    /// One element, `n` times.
    Fill {
        size: usize,
        n: usize,
        y: FrameAddress,
        x: FrameAddress,
    },
    /// `y[i] = x[at[i]]`.
    Gather {
        size: usize,
        at: Box<[isize]>,
        y: FrameAddress,
        x: FrameAddress,
    },
    /// `y[at[i]] = x[i]`.
    Scatter {
        size: usize,
        at: Box<[isize]>,
        y: FrameAddress,
        x: FrameAddress,
    },
    /// Rows of this many bytes, each from and to its offset.
    Rows {
        bytes: usize,
        at: Box<[(isize, isize)]>,
        y: FrameAddress,
        x: FrameAddress,
    },
    Copy {
        bytes: usize,
        y: FrameAddress,
        x: FrameAddress,
    },
    /// A start of windows: `clamp(x, 0, last)`.
    Start {
        slot: usize,
        dtype: DType,
        last: i64,
        x: FrameAddress,
    },
    /// `to = x + Σ start * bytes`.
    Address {
        to: usize,
        x: FrameAddress,
        moves: SmallVec<[(usize, isize); 2]>,
    },
    /// The fold of `rows` contiguous rows of `len` elements, by a member of a phase of a step.
    Fold {
        at: [usize; 2],
        member: usize,
        rows: usize,
        len: usize,
        y: FrameAddress,
        x: FrameAddress,
    },
    /// A matrix product of `n` results, by a member of a phase of a step.
    Product {
        at: [usize; 2],
        member: usize,
        n: usize,
        y: FrameAddress,
        x: Box<[StridedOperand; 2]>,
    },
    Update(Box<Update>),
    /// A phase of a step of code in its general form.
    Code {
        at: [usize; 2],
    },
    /// A kernel on tensors that are lent for the time of the call.
    Call(Box<InPlaceCall>),
    /// A loop, a branch or another region in place.
    Control {
        run: Box<dyn NestedRun>,
        eqn: usize,
        x: SmallVec<[FrameAddress; 8]>,
        y: SmallVec<[FrameAddress; 4]>,
    },
}
