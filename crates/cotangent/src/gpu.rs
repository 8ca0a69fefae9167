//! GPUs under the names of their runtimes: a backend, explicit transfers, and runtimes of eager
//! tensors on it.
//!
//! A [`CudaBackend`] is the CUDA plugin of PJRT, which is found at run time; building this crate
//! needs no CUDA. Nothing moves by itself: [`upload_tensor`] and [`download_tensor`] copy.
//! Operations return before they run, and reading a result waits.
//!
//! ```no_run
//! use cotangent::gpu::{CudaBackend, download_tensor, gpu_available, upload_tensor};
//! use cotangent::{EagerRuntime, Tensor};
//! if gpu_available() {
//!     let backend = CudaBackend::new(0)?;
//!     let a = upload_tensor(backend.runtime(), &Tensor::vector(vec![1.0, 2.0]))?;
//!     let b = backend.add(&a, &a)?;
//!     assert_eq!(download_tensor(backend.runtime(), &b)?.to_vec::<f64>()?, [2.0, 4.0]);
//!     let rt = EagerRuntime::with_cuda_backend(backend);
//!     let x = rt.variable_from(a)?;
//!     x.square()?.sum(..)?.backward()?;
//!     assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [2.0, 4.0]);
//! }
//! # Ok::<(), cotangent::ad::Error>(())
//! ```

use crate::methods::{Elementwise, Products};
use crate::pjrt::{OptionValue, PjrtBackend, find};
use crate::{AdContext, EagerRuntime, Result, Tensor, bail};
use std::sync::Arc;

/// Options of a [`CudaBackend`].
///
/// ```
/// use cotangent::gpu::CudaOptions;
/// let options = CudaOptions { memory_fraction: Some(0.5), ..CudaOptions::default() };
/// assert!(!options.preallocate && options.visible_devices.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CudaOptions {
    /// The part of a device's memory that is used at most; `None`: 0.75.
    pub memory_fraction: Option<f32>,
    /// Whether this memory is taken at the start, and not when it is needed.
    pub preallocate: bool,
    /// Ordinals of the devices that are used; `None`: all.
    pub visible_devices: Option<Vec<i64>>,
}

/// A CUDA device. Clones share its compiled programs. Its operations, and those of
/// [`methods`](crate::methods), run on tensors that [`upload_tensor`] copied there.
///
/// ```no_run
/// use cotangent::Tensor;
/// use cotangent::gpu::{CudaBackend, download_tensor, upload_tensor};
/// let backend = CudaBackend::new(0)?;
/// let a = upload_tensor(backend.runtime(), &Tensor::vector(vec![1.0, 2.0]))?;
/// let b = backend.mul(&a, &a)?;
/// assert_eq!(download_tensor(backend.runtime(), &b)?.to_vec::<f64>()?, [1.0, 4.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CudaBackend(PjrtBackend);

impl CudaBackend {
    /// The device of this ordinal, with the default options.
    ///
    /// ```
    /// use cotangent::gpu::CudaBackend;
    /// if let Err(e) = CudaBackend::new(0) {
    ///     println!("{e}"); // what is missing, and what installs it
    /// }
    /// ```
    ///
    /// # Errors
    /// The plugin is not installed, a driver is missing, or there is no such device.
    pub fn new(ordinal: usize) -> Result<CudaBackend> {
        CudaBackend::with_options(ordinal, &CudaOptions::default())
    }

    /// The device of this ordinal. Options are those of the first backend of the process that is
    /// alive with the same ones.
    ///
    /// # Errors
    /// As [`CudaBackend::new`]; the fraction is not between 0 and 1.
    pub fn with_options(ordinal: usize, options: &CudaOptions) -> Result<CudaBackend> {
        let fraction = options.memory_fraction.unwrap_or(0.75);
        if !(fraction > 0.0 && fraction <= 1.0) {
            bail!(
                Input,
                "memory_fraction is {fraction}: it is above 0 and at most 1"
            );
        }
        let mut all = vec![
            ("memory_fraction", OptionValue::Float(fraction)),
            ("preallocate", OptionValue::Bool(options.preallocate)),
        ];
        if let Some(visible) = &options.visible_devices {
            all.push(("visible_devices", OptionValue::Ints(visible.clone())));
        }
        let backend = PjrtBackend::with_library(find("cuda")?, &all).map_err(|e| {
            e.note("the CUDA plugin needs a driver, its `nvidia-*` wheels and `ptxas`")
        })?;
        Ok(CudaBackend(backend.on(ordinal)?))
    }

    /// The device, for [`upload_tensor`], [`download_tensor`] and compiled programs.
    pub fn runtime(&self) -> &PjrtBackend {
        &self.0
    }
}

/// Operations of a backend on tensors of its device.
macro_rules! operations {
    ($($name:ident: $doc:literal),*) => {
        impl CudaBackend {
            $(#[doc = $doc]
            ///
            /// # Errors
            /// The types do not fit; an operand is not on the device.
            #[track_caller]
            pub fn $name(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
                self.0.holding(&[a, b])?;
                a.$name(b)
            })*
        }
    };
}

operations! {
    add: "`a + b`, broadcast by NumPy's rule.",
    sub: "`a - b`, broadcast by NumPy's rule.",
    mul: "`a * b`, broadcast by NumPy's rule.",
    div: "`a / b`, broadcast by NumPy's rule.",
    matmul: "The matrix product, by NumPy's rule."
}

/// Whether there is a CUDA device that can be used. [`CudaBackend::new`] says what is missing.
pub fn gpu_available() -> bool {
    CudaBackend::new(0).is_ok()
}

/// A copy of a tensor on a device.
///
/// # Errors
/// The tensor is on another device; the device has too little memory.
pub fn upload_tensor(runtime: &PjrtBackend, x: &Tensor) -> Result<Tensor> {
    runtime.to_device(x)
}

/// A copy of a tensor on the host, after waiting for it.
///
/// # Errors
/// The tensor is not on this device; the error of what should have computed it.
pub fn download_tensor(runtime: &PjrtBackend, x: &Tensor) -> Result<Tensor> {
    runtime.holding(&[x])?;
    x.to_host()
}

impl EagerRuntime {
    /// A runtime of tensors on a CUDA device.
    pub fn with_cuda_backend(backend: CudaBackend) -> Arc<EagerRuntime> {
        EagerRuntime::with_backend(backend.0)
    }

    /// As [`with_cuda_backend`](Self::with_cuda_backend), with the rules of this context.
    pub fn with_cuda_backend_and_ad_context(
        backend: CudaBackend,
        ad: &AdContext,
    ) -> Arc<EagerRuntime> {
        EagerRuntime::with_backend_and_ad_context(backend.0, ad)
    }
}

/// A backend on WebGPU, which this crate does not have.
///
/// ```
/// let error = cotangent::gpu::WebGpuBackend::new().unwrap_err();
/// assert_eq!(error.code(), cotangent::Code::Unsupported);
/// ```
#[derive(Clone, Debug)]
pub struct WebGpuBackend(());

impl WebGpuBackend {
    /// Always an error: no plugin of PJRT is for WebGPU.
    ///
    /// ```
    /// assert!(cotangent::gpu::WebGpuBackend::new().is_err());
    /// ```
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<WebGpuBackend> {
        bail!(
            Unsupported,
            "there is no backend on WebGPU: use `CudaBackend`, or `pjrt::PjrtBackend` for other devices"
        )
    }
}
