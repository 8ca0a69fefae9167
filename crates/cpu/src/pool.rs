//! Pools of unused buffers: one for large buffers in the process ([`cotangent_kernels::memory`]),
//! and one for small buffers in each thread (`spare`).

use crate::spare;
use cotangent_kernels::memory::{release, stats};

pub use cotangent_kernels::memory::Stats;

/// Frees the pooled large buffers of the process and the pooled small buffers of this thread.
/// Returns the number of bytes of the large buffers.
pub fn release_memory() -> usize {
    spare::clear();
    release()
}

/// Statistics of the process's pool of large buffers.
pub fn memory_stats() -> Stats {
    stats()
}
