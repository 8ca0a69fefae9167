//! Tiles: elementwise programs over registers that stay in the first-level cache.
//!
//! A [`Body`] is a list of instructions over registers of [`TILE_BYTES`]. It runs over the elements of its outputs a
//! tile at a time: every instruction is one [`Kernel`] call on a contiguous piece, so a chain of operations reads its
//! inputs and writes its outputs once, and no kernel is compiled for strides. Inputs that lie row-major are read where
//! they are; others are packed into a register first; one value for all elements fills a register once.
//!
//! An element's value does not depend on which tile it lies in, or where: kernels compute each element alone.

mod body;
pub mod fold;
pub mod kernels;
mod pack;

pub use body::{Body, Builder, Source, Value};

use crate::simd::Level;

/// What one instruction does: `y[i] = f(x[0][i], x[1][i], x[2][i])` for `i < n`.
///
/// # Safety
/// The pointers that the kernel's function reads and writes are valid for `n` elements of its types; `y` may be the very
/// place of an operand of the same size, else it overlaps none. `data` is what the kernel was made with.
pub type Kernel = unsafe fn(n: usize, y: *mut u8, x: [*const u8; 3], data: usize);

/// The size of a register: its elements are `TILE_BYTES` over the size of the widest element.
pub const TILE_BYTES: usize = 2048;

/// The floats with vectors.
pub trait Float: Copy + 'static {
    /// The kernel of a function.
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel;
    /// The kernel of a function.
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel;
}

impl Float for f32 {
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel {
        f.kernel::<f32>(level)
    }
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel {
        f.kernel::<f32>(level)
    }
}

impl Float for f64 {
    fn unary(f: crate::vector::functions::Unary, level: Level) -> Kernel {
        f.kernel::<f64>(level)
    }
    fn binary(f: crate::vector::functions::Binary, level: Level) -> Kernel {
        f.kernel::<f64>(level)
    }
}
