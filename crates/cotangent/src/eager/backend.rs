//! The backend of a runtime: constructors, and changes of its kernels.

use super::error::Result;
use super::runtime::EagerRuntime;
use crate::ad_context::AdContext;
use crate::cpu::CpuBackend;
use crate::here::AtCaller;
use cotangent_cpu::Executor;
use std::sync::Arc;

impl EagerRuntime {
    /// A runtime on the CPU, with the rules of the operations.
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Arc<EagerRuntime> {
        EagerRuntime::with_cpu_backend(CpuBackend::new())
    }

    /// A runtime on this backend.
    pub fn with_cpu_backend(backend: CpuBackend) -> Arc<EagerRuntime> {
        EagerRuntime::with_cpu_backend_and_ad_context(backend, &AdContext::default())
    }

    /// A runtime on this backend, with the rules of this context.
    pub fn with_cpu_backend_and_ad_context(
        backend: CpuBackend,
        ad: &AdContext,
    ) -> Arc<EagerRuntime> {
        EagerRuntime::on(backend.executor().clone(), ad)
    }

    /// Calls `f` to add kernels of extension operations to the backend. If it fails, nothing is
    /// added.
    #[track_caller]
    pub fn register_extension(
        &self,
        f: impl FnOnce(&mut CpuBackend) -> cotangent_core::Result<()>,
    ) -> Result<()> {
        let register = |executor: &mut Executor| {
            let mut backend = CpuBackend::of(executor.clone());
            f(&mut backend).and_then(|()| backend.check())?;
            *executor = backend.executor().clone();
            Ok(())
        };
        let done: cotangent_core::Result<()> = self.change("register_extension", register)?;
        Ok(done.at_caller()?)
    }

    /// Calls `f` with a copy of the backend, which replaces the backend when `f` returns.
    /// Operations that start before that, inside `f` too, use the old backend. A nested change of
    /// the backend is an error.
    #[track_caller]
    pub fn with_backend_mut<R>(&self, f: impl FnOnce(&mut CpuBackend) -> R) -> Result<R> {
        self.change("with_backend_mut", |executor| {
            let mut backend = CpuBackend::of(executor.clone());
            let y = f(&mut backend);
            *executor = backend.executor().clone();
            y
        })
    }
}
