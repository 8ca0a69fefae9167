//! The buffer pool of the process: its statistics, and the call that frees it.

pub use cotangent_cpu::pool::Stats as MemoryStats;

/// Frees the unused buffers of the runtime's pool. Returns their size in bytes.
///
/// All threads of the process share one pool of buffers of at least 32 KiB. It holds at most
/// [`MemoryStats::limit`] bytes. After this call the next run allocates its buffers again. Buffers
/// of live tensors, such as results and arguments, are not freed.
/// [`EagerRuntime::clear_caches`](crate::EagerRuntime::clear_caches) also calls this function.
///
/// ```
/// # fn main() -> cotangent::Result<()> {
/// use cotangent::{EagerRuntime, Tensor};
///
/// let rt = EagerRuntime::new();
/// let x = rt.constant_from(Tensor::full(cotangent::DType::F64, [1 << 17], 0.5)?)?;
/// drop(x.exp()?);
/// cotangent::release_memory();
/// assert_eq!(cotangent::memory_stats().bytes, 0);
/// # Ok(())
/// # }
/// ```
pub fn release_memory() -> usize {
    cotangent_cpu::pool::release_memory()
}

/// Statistics of the runtime's pool of unused buffers.
///
/// ```
/// let kept = cotangent::memory_stats();
/// assert!(kept.bytes <= kept.limit);
/// ```
pub fn memory_stats() -> MemoryStats {
    cotangent_cpu::pool::memory_stats()
}
