//! What the runtime keeps of memory that nobody uses: buffers for the next tensors of their sizes,
//! one pool for the process ([`cotangent_kernels::memory`]), and each thread's small ones
//! ([`spare`]).

use crate::spare;
use cotangent_kernels::memory::{release, stats};

pub use cotangent_kernels::memory::Stats;

/// Frees what the process keeps of large buffers, and this thread of small ones; how many bytes the
/// large ones had.
pub fn release_memory() -> usize {
    spare::clear();
    release()
}

/// What the process keeps of large buffers.
pub fn memory_stats() -> Stats {
    stats()
}
