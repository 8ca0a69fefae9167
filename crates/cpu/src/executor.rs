//! [`Executor`]: what a compilation may use besides the operations' own kernels.

use crate::kernel::Kernel;
use crate::program::Program;
use cotangent_core::{Function, Primitive, Result, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Makes the kernel of an extension operation for operands of these types.
pub type Lower = dyn Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync;

/// Kernels of extension operations, by name. Operations without one run by their `eval`.
#[derive(Clone, Default)]
pub struct Executor {
    extensions: FxHashMap<String, Arc<Lower>>,
}

impl Executor {
    /// No kernels but our own.
    pub fn new() -> Executor {
        Executor::default()
    }

    /// Adds the kernel of an extension operation (builder style).
    pub fn with_kernel(
        mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) -> Executor {
        self.extensions.insert(name.into(), Arc::new(lower));
        self
    }

    /// The program of a function: O(equations).
    pub fn compile(&self, f: &Arc<Function>) -> Result<Program> {
        Program::compile(&Compiler { executor: self }, f)
    }

    pub(crate) fn kernel(&self, op: &dyn Primitive, x: &[Type]) -> Result<Option<Kernel>> {
        self.extensions.get(op.name()).map(|lower| lower(op, x)).transpose()
    }
}

/// One compilation.
pub(crate) struct Compiler<'a> {
    pub(crate) executor: &'a Executor,
}
