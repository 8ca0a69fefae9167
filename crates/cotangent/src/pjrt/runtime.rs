//! Eager tensors on a backend.

use crate::backend::Backend;
use crate::{AdContext, EagerRuntime};
use std::sync::Arc;

impl EagerRuntime {
    /// A runtime of tensors on a backend. On a device its operations and their derivatives wait
    /// until a result is read, and then run as one program
    /// ([`PjrtBackend::to_device`](crate::pjrt::PjrtBackend::to_device)). A training loop that
    /// reads its loss once in each step compiles its step once.
    ///
    /// ```no_run
    /// use cotangent::{EagerRuntime, Tensor, ad::no_grad, pjrt::PjrtBackend};
    /// let device = PjrtBackend::new("cuda")?;
    /// let rt = EagerRuntime::with_backend(device.clone());
    /// let mut w = rt.variable_from(device.to_device(&Tensor::vector(vec![1.0f32, 2.0]))?)?;
    /// for _ in 0..10 {
    ///     let loss = w.square()?.sum(..)?;
    ///     loss.backward()?;
    ///     no_grad(|| w.assign(&w - w.grad_or_zero()? * 0.1))?;
    ///     rt.clear_grads()?;
    ///     println!("{}", loss.item::<f32>()?);
    /// }
    /// assert_eq!(device.cache_stats().misses, 1);
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    pub fn with_backend(backend: impl Backend) -> Arc<EagerRuntime> {
        EagerRuntime::with_backend_and_ad_context(backend, &AdContext::default())
    }

    /// As [`with_backend`](Self::with_backend), with the rules of this context.
    pub fn with_backend_and_ad_context(backend: impl Backend, ad: &AdContext) -> Arc<EagerRuntime> {
        backend.eager_runtime(ad)
    }
}
