//! Operations with regions, as a plan sees them: at given extents they run on memory.

use crate::tensor::Extents;
use cotangent_core::{DType, Env, Result};
use std::any::Any;

/// Memory for the rows that a `while` stacks: from the number of steps that are done, the addresses
/// of the next rows and the number of steps for which they have room.
pub(crate) type RoomFn<'a> = dyn FnMut(usize, &mut [*mut u8]) -> Result<usize> + 'a;

/// An operation with regions.
pub(crate) trait Nested: Send + Sync {
    /// The operation for operands of these types; `None` if it runs on tensors only.
    fn at(&self, x: &[(DType, Extents)], env: &Env) -> Option<Box<dyn NestedRun>>;

    /// Whether it is a `while` that stacks results.
    fn stacks(&self) -> bool;

    /// How the operation runs on operands of these types.
    fn text(&self, x: &[(DType, Extents)], env: &Env) -> String;

    /// Bytes that a run on operands of these types takes besides its operands and results.
    fn memory(&self, x: &[(DType, Extents)], env: &Env) -> Result<usize>;
}

/// An operation with regions at given extents.
pub(crate) trait NestedRun: Send + Sync {
    /// The run, for the module that made it.
    fn as_any(&self) -> &dyn Any;

    /// Compiles a loop, if that is not done. Whether it runs as machine code.
    fn compile(&self) -> bool;

    /// How the operation runs: by code, or the reason for which not.
    fn text(&self) -> String;

    /// The types of the results; those that a `while` stacks are not among them.
    fn results(&self) -> Vec<(DType, Extents)>;

    /// The types of the rows that a `while` stacks.
    fn stacked_rows(&self) -> Vec<(DType, Extents)> {
        Vec::new()
    }

    /// Estimated work of a run, in elementary operations.
    fn work(&self) -> usize;

    /// Bytes that a run takes besides its operands and results.
    fn memory(&self) -> usize;

    /// Runs the operation.
    ///
    /// # Safety
    /// Operands are valid for reading, row-major, and have the extents that the operation was made
    /// for. Results are valid for writing, and overlap nothing else.
    unsafe fn run(&self, x: &[*const u8], y: &[*mut u8]) -> Result<()>;

    /// Runs a `while` that is [compiled](NestedRun::compile) and stacks results. Returns the number
    /// of steps. `room` gives the rows.
    ///
    /// # Safety
    /// The preconditions of [`NestedRun::run`]; rows are valid for writing.
    unsafe fn run_stacked(
        &self,
        x: &[*const u8],
        y: &[*mut u8],
        room: &mut RoomFn<'_>,
    ) -> Result<usize>;
}
