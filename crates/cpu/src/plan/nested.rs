//! Operations with regions, as a plan sees them: at given extents they run on memory.

use crate::tensor::Extents;
use cotangent_core::{DType, Env, Result};
use std::any::Any;

/// An operation with regions.
pub(crate) trait Nested: Send + Sync {
    /// The operation for operands of these types; `None` if it runs on tensors only.
    fn at(&self, x: &[(DType, Extents)], env: &Env) -> Option<Box<dyn NestedRun>>;
}

/// An operation with regions at given extents.
pub(crate) trait NestedRun: Send + Sync {
    /// The run, for the module that made it.
    fn as_any(&self) -> &dyn Any;

    /// Whether it is a loop that runs as machine code.
    fn is_code(&self) -> bool;

    /// The types of the results.
    fn results(&self) -> Vec<(DType, Extents)>;

    /// Estimated work of a run, in elementary operations.
    fn work(&self) -> usize;

    /// Runs the operation.
    ///
    /// # Safety
    /// Operands are valid for reading, row-major, and have the extents that the operation was made
    /// for. Results are valid for writing, and overlap nothing else.
    unsafe fn run(&self, x: &[*const u8], y: &[*mut u8]) -> Result<()>;
}
