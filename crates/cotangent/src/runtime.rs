//! Programs of traced tensors: tracing, compilation and execution.

pub use crate::eager::ExtensionCacheKey;
pub use crate::traced::{CacheStats, GraphCompiler, GraphExecutor, GraphProgram, TracedTensor};
pub use cotangent_core::tape::{Compiled, Executor};
