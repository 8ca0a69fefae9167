//! Operations on plain tensors, run immediately.

use crate::{CpuBackend, EagerRuntime, EagerTensor, Emit, Result, Tensor, TensorOps, Val, ad};
use std::sync::Arc;

thread_local! {
    /// The runtime of plain tensors: compiled operations are cached per thread.
    static RUNTIME: Arc<EagerRuntime> = EagerRuntime::with_cpu_backend(CpuBackend::new());
}

impl TensorOps for Tensor {
    type Error = crate::Error;

    #[track_caller]
    fn emit(x: &[&Self], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Result<Vec<Self>> {
        // `f` may use plain tensors itself, so the runtime is not borrowed while it runs.
        let runtime = RUNTIME.with(Arc::clone);
        run_on(&runtime, x, f)
    }
}

/// Runs the operations that `f` emits for plain tensors.
#[track_caller]
pub(crate) fn run_on(
    runtime: &Arc<EagerRuntime>,
    x: &[&Tensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<Tensor>> {
    let x: Vec<EagerTensor> = x
        .iter()
        .map(|&x| runtime.constant_from(x.clone()))
        .collect::<ad::Result<_>>()?;
    let y = EagerTensor::emit(&x.iter().collect::<Vec<_>>(), f)?;
    Ok(y.iter()
        .map(EagerTensor::to_tensor)
        .collect::<ad::Result<_>>()?)
}
