//! [`Backend`]: the CPU or a device of a plugin, chosen at run time.

use crate::pjrt::PjrtBackend;
use crate::{AdContext, CpuBackend, EagerRuntime, Function, Result, Tensor, Type};
use cotangent_core::tape::{Compiled, Executor};
use std::fmt::Debug;
use std::sync::Arc;

/// The CPU or a device of a plugin, as an object: [`backend`] chooses one by name.
///
/// Executors of graphs, eager runtimes and compiled closures take it as they take a [`CpuBackend`]
/// or a [`PjrtBackend`].
///
/// ```
/// use cotangent::closures::{grad, on};
/// use cotangent::runtime::{Backend, backend};
/// use cotangent::{EagerRuntime, GraphCompiler, GraphExecutor, Tensor, TracedTensor};
///
/// let name = std::env::args().nth(1).unwrap_or("cpu".into()); // or `xla`, `cuda:1`
/// # let name = "cpu";
/// let device: Box<dyn Backend> = backend(&name)?;
/// let x = device.to_device(&Tensor::vector(vec![1.0, 2.0]))?;
///
/// let sum = GraphCompiler::new().compile(&TracedTensor::from(x.clone()).sum(..))?;
/// assert_eq!(GraphExecutor::new(device.clone()).run(&sum)?.item::<f64>()?, 3.0);
///
/// let slope = on(&*device).jit(grad(|x: TracedTensor| x.square().sum(..)));
/// assert_eq!(slope(TracedTensor::from(x.clone()))?.to_vec::<f64>()?, [2.0, 4.0]);
///
/// let x = EagerRuntime::with_backend(device).variable_from(x)?;
/// x.square()?.sum(..)?.backward()?;
/// assert_eq!(x.grad_or_zero()?.to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub trait Backend: Debug + Send + Sync {
    /// The name of the device: `cpu`, `cuda:1`.
    fn name(&self) -> String;

    /// Checks that a function has a form on the device, before anything is compiled.
    ///
    /// # Errors
    /// [`Code::Unsupported`](crate::Code::Unsupported), with the equation and the way out.
    fn supports(&self, f: &Arc<Function>) -> Result<()>;

    /// Compiles a function. Its results are where its arguments are.
    ///
    /// # Errors
    /// As [`supports`](Self::supports); the compiler's error.
    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>>;

    /// The tensor with its elements on the device.
    ///
    /// # Errors
    /// The device has too little memory, or lacks the element type.
    fn to_device(&self, x: &Tensor) -> Result<Tensor>;

    /// Waits until all submitted operations have run.
    ///
    /// # Errors
    /// The first error of an operation.
    fn synchronize(&self) -> Result<()>;

    /// A runtime of eager tensors on the device, with the rules of this context.
    fn eager_runtime(&self, ad: &AdContext) -> Arc<EagerRuntime>;

    /// The same backend as an object.
    fn boxed(&self) -> Box<dyn Backend>;
}

/// The backend of a device: `cpu` is this library's own runtime, other names are those of
/// [`PjrtBackend::new`].
///
/// ```
/// use cotangent::runtime::backend;
/// assert_eq!(backend("cpu")?.name(), "cpu");
/// assert!(backend("npu").is_err());
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// As [`PjrtBackend::new`].
pub fn backend(name: &str) -> Result<Box<dyn Backend>> {
    match name {
        "cpu" => Ok(Box::new(CpuBackend::new())),
        _ => Ok(Box::new(PjrtBackend::new(name)?)),
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        "cpu".to_owned()
    }

    fn supports(&self, _: &Arc<Function>) -> Result<()> {
        Ok(())
    }

    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        Executor::compile(self, f)
    }

    fn to_device(&self, x: &Tensor) -> Result<Tensor> {
        x.to_host()
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn eager_runtime(&self, ad: &AdContext) -> Arc<EagerRuntime> {
        EagerRuntime::with_cpu_backend_and_ad_context(self.clone(), ad)
    }

    fn boxed(&self) -> Box<dyn Backend> {
        Box::new(self.clone())
    }
}

impl Backend for PjrtBackend {
    fn name(&self) -> String {
        format!("{self:?}")
    }

    fn supports(&self, f: &Arc<Function>) -> Result<()> {
        self.program(f).map(|_| ())
    }

    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        Executor::compile(self, f)
    }

    fn to_device(&self, x: &Tensor) -> Result<Tensor> {
        PjrtBackend::to_device(self, x)
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_for_all()
    }

    fn eager_runtime(&self, ad: &AdContext) -> Arc<EagerRuntime> {
        EagerRuntime::on_device(Arc::new(self.clone()), ad)
    }

    fn boxed(&self) -> Box<dyn Backend> {
        Box::new(self.clone())
    }
}

/// An object is the backend that it holds.
impl Backend for Box<dyn Backend> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn supports(&self, f: &Arc<Function>) -> Result<()> {
        (**self).supports(f)
    }

    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        (**self).compile(f)
    }

    fn to_device(&self, x: &Tensor) -> Result<Tensor> {
        (**self).to_device(x)
    }

    fn synchronize(&self) -> Result<()> {
        (**self).synchronize()
    }

    fn eager_runtime(&self, ad: &AdContext) -> Arc<EagerRuntime> {
        (**self).eager_runtime(ad)
    }

    fn boxed(&self) -> Box<dyn Backend> {
        (**self).boxed()
    }
}

impl Clone for Box<dyn Backend> {
    fn clone(&self) -> Box<dyn Backend> {
        (**self).boxed()
    }
}

impl Executor for Box<dyn Backend> {
    type Value = Tensor;

    fn ty(&self, x: &Tensor) -> Type {
        x.ty()
    }

    fn run(&mut self, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>> {
        (**self).compile(&Arc::new(f.clone()))?.run(x.to_vec())
    }

    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        (**self).compile(f)
    }
}
