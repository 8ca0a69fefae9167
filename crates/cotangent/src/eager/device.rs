//! [`Device`]: where the operations of a runtime run, if that is not the CPU.

use crate::tensor::{Remote, Tensor};
use cotangent_core::{Op, Result};
use cotangent_cpu::kernel::{Operands, Results};
use std::fmt::Debug;
use std::sync::Arc;

/// The device of a runtime. Its [`Debug`] is its name: `cuda:0`.
pub(crate) trait Device: Debug + Send + Sync {
    /// Runs an operation, or records it to be run later. Operands on the host are constants of the
    /// runtime itself, numbers for example.
    fn execute(&self, op: &Op, x: &Operands) -> Result<Results>;

    /// A copy of a tensor on the device.
    fn upload(&self, x: &Tensor) -> Result<Tensor>;

    /// Whether the elements are on this device.
    fn holds(&self, x: &Arc<dyn Remote>) -> bool;

    /// Waits for all operations, and returns the first error.
    fn synchronize(&self) -> Result<()>;
}
