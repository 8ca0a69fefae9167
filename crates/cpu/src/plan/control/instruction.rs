//! Instructions of a body that runs in place.

use super::frame::{FrameAddress, InPlaceForm, StridedOperand};
use super::update::Update;
use crate::folds::RawProduct;
use crate::plan::laid::{DecidedCode, PackedRead};
use crate::plan::nested::NestedRun;
use crate::plan::rows::rows_time;
use crate::raw_kernel::RawKernel;
use crate::tuning::{
    BODY_PS, CALL_PS, COMPILED_BYTE_PS, CONTROL_PS, COPIED_BYTE_PS, ELEMENT_PS, KERNEL_PS,
    MIN_COMPILED_BYTES, MOVE_PS, PRODUCT_PS,
};
use cotangent_core::DType;
use cotangent_kernels::tile::{Body, BodyLayouts, TileFn};
use smallvec::SmallVec;
use std::sync::Arc;

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
    /// The kernel on memory, if the operation has one at these extents.
    pub(super) raw: Option<RawKernel>,
}

/// The `n` elements of a read that no other instruction has, over a box. It is a part of `Code`.
pub(super) struct Pack {
    pub(super) read: Arc<PackedRead>,
    pub(super) n: usize,
    /// Estimated time, in ps.
    pub(super) time: usize,
    pub(super) y: FrameAddress,
}

/// A kernel on the elements of a tile.
pub(super) struct Tile {
    pub(super) kernel: TileFn,
    pub(super) data: usize,
    pub(super) y: FrameAddress,
    pub(super) x: [FrameAddress; 3],
}

/// The code of a tile: that of a phase of a step, or of one of its boxes.
#[derive(Clone)]
pub(super) struct TileCode {
    pub(super) at: [usize; 2],
    pub(super) decided: Option<Arc<DecidedCode>>,
}

/// An input of code on a tile: an element for each one of the tile, or a broadcast scalar.
#[derive(Clone, Copy)]
pub(super) struct TileInput {
    pub(super) at: FrameAddress,
    pub(super) is_scalar: bool,
}

impl TileInput {
    /// Adjacent elements.
    pub(super) fn each(at: FrameAddress) -> TileInput {
        TileInput {
            at,
            is_scalar: false,
        }
    }

    /// A broadcast scalar.
    pub(super) fn scalar(at: FrameAddress) -> TileInput {
        TileInput {
            at,
            is_scalar: true,
        }
    }

    /// The distance of its elements.
    pub(super) fn stride(&self) -> isize {
        isize::from(!self.is_scalar)
    }
}

/// Code on a tile of `n` elements: how it runs, and its operands. Kernels have inputs with an
/// element for each one of the tile.
pub(super) struct TileBody {
    pub(super) n: usize,
    /// Bytes of an element of the widest type.
    pub(super) widest: usize,
    pub(super) run: TileRun,
    pub(super) code: TileCode,
    pub(super) inputs: SmallVec<[TileInput; 8]>,
    pub(super) outputs: SmallVec<[FrameAddress; 2]>,
}

/// How the body of a tile runs.
pub(super) enum TileRun {
    /// Kernel after kernel.
    Kernels(Box<[Tile]>),
    /// Compiled, with these layouts of the inputs.
    Compiled {
        layouts: Box<BodyLayouts>,
        steps: usize,
    },
}

impl TileRun {
    /// Whether compiled code of a body takes less time than its kernels, on `n` elements.
    pub(super) fn is_compiled(body: &Body, n: usize) -> bool {
        let (steps, bytes) = (body.steps(), n * body.widest());
        let less = compiled_time(steps, bytes) < kernels_time(steps, bytes);
        bytes >= MIN_COMPILED_BYTES && less && body.is_compiled()
    }
}

/// Estimated time of a body on `n` elements, in ps: of its compiled code if that takes less time,
/// otherwise by the time for each element.
pub(super) fn body_time(body: &Body, n: usize, of_element: usize) -> usize {
    match TileRun::is_compiled(body, n) {
        true => compiled_time(body.steps(), n * body.widest()),
        false => n.saturating_mul(of_element),
    }
}

/// Estimated time of the compiled code of kernels on values of this size, in ps.
fn compiled_time(steps: usize, bytes: usize) -> usize {
    BODY_PS + steps * bytes * COMPILED_BYTE_PS
}

/// Estimated time of kernels on values of this size, in ps.
fn kernels_time(steps: usize, bytes: usize) -> usize {
    steps * (KERNEL_PS + bytes * ELEMENT_PS / size_of::<f32>())
}

/// An instruction. All sizes are numbers: nothing is computed from extents in a step.
pub(super) enum Instruction {
    Body(Box<TileBody>),
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
    /// Rows of this many bytes, in elements of `size` bytes, each from and to its offset.
    Rows {
        bytes: usize,
        size: usize,
        at: Box<[(isize, isize)]>,
        y: FrameAddress,
        x: FrameAddress,
    },
    Copy {
        bytes: usize,
        size: usize,
        y: FrameAddress,
        x: FrameAddress,
    },
    Pack(Box<Pack>),
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
    /// A matrix product of `n` results.
    Product {
        product: RawProduct,
        dtype: DType,
        n: usize,
        y: FrameAddress,
        x: Box<[StridedOperand; 2]>,
    },
    Update(Box<Update>),
    /// A phase of a step of code with reads that are packed: by these instructions, or in its
    /// general form if there are none. The code of a loop has it index by index.
    Code {
        at: [usize; 2],
        packed: Box<[Instruction]>,
        /// Estimated time, in ps.
        time: usize,
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

impl Instruction {
    /// Estimated time, in ps.
    pub(super) fn time(&self) -> usize {
        match self {
            Instruction::Body(b) => match &b.run {
                TileRun::Kernels(tiles) => kernels_time(tiles.len(), b.n * b.widest),
                TileRun::Compiled { steps, .. } => compiled_time(*steps, b.n * b.widest),
            },
            Instruction::Fill { n, .. } => KERNEL_PS + n * ELEMENT_PS,
            Instruction::Gather { at, .. } | Instruction::Scatter { at, .. } => {
                KERNEL_PS + at.len() * MOVE_PS
            }
            Instruction::Rows { bytes, at, .. } => rows_time(*bytes, at.len()),
            Instruction::Copy { bytes, .. } => rows_time(*bytes, 1),
            Instruction::Start { .. } | Instruction::Address { .. } => KERNEL_PS / 2,
            Instruction::Fold { rows, len, .. } => KERNEL_PS * (1 + rows) + rows * len * ELEMENT_PS,
            Instruction::Product { n, x, .. } => {
                let depth = x[0].shape.last().copied().unwrap_or(1);
                PRODUCT_PS + n * depth * ELEMENT_PS * 2
            }
            Instruction::Update(u) => KERNEL_PS * 2 + u.bytes * COPIED_BYTE_PS,
            Instruction::Pack(p) => p.time,
            Instruction::Code { time, .. } => *time,
            Instruction::Call(_) => CALL_PS,
            // Its own instructions count.
            Instruction::Control { .. } => CONTROL_PS,
        }
    }
}
