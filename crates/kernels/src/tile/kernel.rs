//! [`TileOp`]: one instruction of a body.

use crate::emit::Record;

/// The function of a kernel: `y[i] = f(x[0][i], x[1][i], x[2][i])` for `i < n`.
///
/// # Safety
/// The pointers that the function reads and writes are valid for `n` elements of its types. `y` may
/// be equal to an operand with the same element size; otherwise it overlaps none. `data` is the
/// kernel's parameter.
pub type TileFn = unsafe fn(n: usize, y: *mut u8, x: [*const u8; 3], data: usize);

/// An instruction: its function on tiles, and its recording function for [`emit`](crate::emit), if
/// it can be emitted.
#[derive(Clone, Copy)]
pub struct TileOp {
    pub(crate) run: TileFn,
    pub(crate) record: Option<Record>,
}

impl TileOp {
    /// An instruction that can only be interpreted.
    pub const fn new(run: TileFn) -> TileOp {
        TileOp { run, record: None }
    }

    /// Adds the recording function.
    pub(crate) const fn recorded(self, record: Record) -> TileOp {
        TileOp {
            record: Some(record),
            ..self
        }
    }
}
