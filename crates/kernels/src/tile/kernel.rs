//! [`Kernel`]: one instruction of a body.

use crate::emit::Record;

/// What one instruction does to a tile: `y[i] = f(x[0][i], x[1][i], x[2][i])` for `i < n`.
///
/// # Safety
/// The pointers that the kernel's function reads and writes are valid for `n` elements of its
/// types; `y` may be the very place of an operand of the same size, else it overlaps none. `data`
/// is what the kernel was made with.
pub type Run = unsafe fn(n: usize, y: *mut u8, x: [*const u8; 3], data: usize);

/// An instruction: how it runs over a tile, and what it writes down for [`emit`](crate::emit), if
/// it can.
#[derive(Clone, Copy)]
pub struct Kernel {
    pub(crate) run: Run,
    pub(crate) record: Option<Record>,
}

impl Kernel {
    /// An instruction that only runs over tiles.
    pub const fn new(run: Run) -> Kernel {
        Kernel { run, record: None }
    }

    /// With what it is in emitted code.
    pub(crate) const fn recorded(self, record: Record) -> Kernel {
        Kernel {
            record: Some(record),
            ..self
        }
    }
}
