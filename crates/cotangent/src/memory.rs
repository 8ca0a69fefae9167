//! Memory that is kept for what comes: its statistics, and the call that frees it.

pub use cotangent_cpu::pool::Stats as MemoryStats;

/// Frees the buffers that the runtime keeps for tensors to come; how many bytes they had.
///
/// All threads of the process share one pool of buffers of 32 KiB and more, which keeps at most
/// [`MemoryStats::limit`] bytes: buffers whose sizes programs asked for, and ask for again. To free
/// them costs the next run that would have taken them. Results, arguments and whatever else is
/// referred to stay. [`EagerRuntime::clear_caches`](crate::EagerRuntime::clear_caches) calls this,
/// too.
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

/// What the runtime keeps of memory that nobody refers to.
///
/// ```
/// let kept = cotangent::memory_stats();
/// assert!(kept.bytes <= kept.limit);
/// ```
pub fn memory_stats() -> MemoryStats {
    cotangent_cpu::pool::memory_stats()
}
