//! Programs of traced tensors: tracing, compilation and execution, on a backend that may be chosen
//! at run time.

pub use crate::backend::{Backend, backend};
pub use crate::eager::ExtensionCacheKey;
pub use crate::traced::{CacheStats, GraphCompiler, GraphExecutor, GraphProgram, TracedTensor};
pub use cotangent_core::tape::{Compiled, Executor};
