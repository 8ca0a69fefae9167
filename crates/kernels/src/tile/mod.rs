//! Tiles: elementwise programs over registers that fit the L1 cache.
//!
//! A [`Body`] is a list of instructions over registers of [`TILE_BYTES`] bytes. It runs over the
//! elements of its outputs a tile at a time. Every instruction is one call of a [`TileOp`] on
//! contiguous memory: a chain of operations reads its inputs and writes its outputs once, and no
//! kernel depends on strides. Row-major inputs are read in place. Strided inputs are packed into a
//! register first, and a broadcast scalar fills a register once.
//!
//! A body that runs again, or over many elements, is compiled to one loop of machine code if
//! possible ([`emit`](crate::emit)). The results have the same bits.
//!
//! The value of an element does not depend on its position in a tile, nor on the tile: kernels
//! compute each element independently.

mod body;
pub mod complex;
pub mod convert;
mod emitted;
pub mod fold;
pub mod halves;
pub mod integers;
mod kernel;
pub mod kernels;
pub(crate) mod pack;
pub mod rounding;
mod steps;
mod variants;
mod vector_loop;

use kernels::{Comparison, comparison};

pub use body::{
    Body, BodyLayouts, Builder, Instruction, KernelData, PREFETCH_ELEMENTS, TileBlock, Value,
    min_stream_bytes,
};
pub use kernel::{TileFn, TileOp};
pub use steps::{ElementAddress, RecordedSteps, StepFn, StepValue, Steps, StepsBuilder, StepsEnd};
pub use vector_loop::VectorLoop;

use crate::emit::instruction;
use crate::simd::Isa;

/// Size of a register, in bytes. It holds `TILE_BYTES` divided by the size of the widest element.
pub const TILE_BYTES: usize = 2048;

/// Float types with vector kernels.
pub trait TileFloat: Copy + 'static {
    /// The kernel of a function of one operand.
    fn unary(f: crate::vector::functions::Unary, isa: Isa) -> TileOp;
    /// The kernel of a function of two operands.
    fn binary(f: crate::vector::functions::Binary, isa: Isa) -> TileOp;
    /// The kernel of a comparison.
    fn compare(c: Comparison) -> TileOp;
    /// The kernel that converts a boolean to 1 or 0.
    fn of_truth() -> TileOp;
}

impl TileFloat for f32 {
    fn unary(f: crate::vector::functions::Unary, isa: Isa) -> TileOp {
        f.kernel::<f32>(isa)
    }
    fn binary(f: crate::vector::functions::Binary, isa: Isa) -> TileOp {
        f.kernel::<f32>(isa)
    }
    fn compare(c: Comparison) -> TileOp {
        comparison::<f32>(c)
    }
    fn of_truth() -> TileOp {
        kernels::map::<bool, f32, kernels::OfBool>().recorded(instruction::bool_to_f32)
    }
}

impl TileFloat for f64 {
    fn unary(f: crate::vector::functions::Unary, isa: Isa) -> TileOp {
        f.kernel::<f64>(isa)
    }
    fn binary(f: crate::vector::functions::Binary, isa: Isa) -> TileOp {
        f.kernel::<f64>(isa)
    }
    fn compare(c: Comparison) -> TileOp {
        comparison::<f64>(c)
    }
    fn of_truth() -> TileOp {
        kernels::map::<bool, f64, kernels::OfBool>().recorded(instruction::bool_to_f64)
    }
}
