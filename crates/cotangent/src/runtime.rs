//! Programs from traced tensors: writing, compiling, running.

pub use crate::eager::ExtensionCacheKey;
pub use crate::traced::{CacheStats, GraphCompiler, GraphExecutor, GraphProgram, TracedTensor};
