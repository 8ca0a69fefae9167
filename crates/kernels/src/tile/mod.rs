//! Tiles: elementwise programs over registers that stay in the first-level cache.
//!
//! A [`Body`] is a list of instructions over registers of [`TILE_BYTES`]. It runs over the elements
//! of its outputs a tile at a time: every instruction is one [`Kernel`] call on a contiguous piece,
//! so a chain of operations reads its inputs and writes its outputs once, and no kernel is compiled
//! for strides. Inputs that lie row-major are read where they are; others are packed into a
//! register first; one value for all elements fills a register once.
//!
//! A body that runs again, or over many elements, becomes one loop of machine code where that can
//! be ([`emit`](crate::emit)), with the same bits.
//!
//! An element's value does not depend on which tile it lies in, or where: kernels compute each
//! element alone.

mod body;
pub mod complex;
pub mod convert;
mod emitted;
pub mod fold;
pub mod halves;
pub mod integers;
mod kernel;
pub mod kernels;
mod pack;
mod recurrence;
pub mod rounding;
mod variants;

use kernels::{Comparison, comparison};

pub use body::{AHEAD, Body, Builder, Instruction, Laid, Line, Value, past_caches};
pub use kernel::{Kernel, Run};
pub use recurrence::Recurrence;

use crate::emit::instruction;
use crate::simd::Level;

/// The size of a register: its elements are `TILE_BYTES` over the size of the widest element.
pub const TILE_BYTES: usize = 2048;

/// The floats with vectors.
pub trait Float: Copy + 'static {
    /// The kernel of a function.
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel;
    /// The kernel of a function.
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel;
    /// The kernel of a comparison.
    fn compare(c: Comparison) -> Kernel;
    /// The kernel that makes 1 or 0 of a truth value.
    fn of_truth() -> Kernel;
}

impl Float for f32 {
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel {
        f.kernel::<f32>(level)
    }
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel {
        f.kernel::<f32>(level)
    }
    fn compare(c: Comparison) -> Kernel {
        comparison::<f32>(c)
    }
    fn of_truth() -> Kernel {
        kernels::map::<bool, f32, kernels::OfBool>().recorded(instruction::bool_to_f32)
    }
}

impl Float for f64 {
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel {
        f.kernel::<f64>(level)
    }
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel {
        f.kernel::<f64>(level)
    }
    fn compare(c: Comparison) -> Kernel {
        comparison::<f64>(c)
    }
    fn of_truth() -> Kernel {
        kernels::map::<bool, f64, kernels::OfBool>().recorded(instruction::bool_to_f64)
    }
}
