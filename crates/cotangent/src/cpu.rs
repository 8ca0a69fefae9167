//! The CPU backend, and the type of kernels of extension operations: functions of strided
//! [`View`]s.

use crate::tensor::Given;
use crate::{AdContext, EagerRuntime, Function, Primitive, Result, Tensor, Type, bail};
use cotangent_core::tape::{self, Compiled};
use cotangent_cpu::Executor;
pub use cotangent_cpu::Tensor as View;
/// Forgets the threads of this process's pool: the next run starts others. For a child process
/// after a fork, where the threads of its parent do not exist. On Linux children do it by
/// themselves.
pub use cotangent_cpu::forget_threads;
pub use cotangent_cpu::kernel::{Kernel, Operands, Results};
pub use cotangent_cpu::memory::{Memory, memory};
pub use cotangent_cpu::passes::passes;
pub use cotangent_cpu::plan_text;
pub use cotangent_cpu::profile::{Machine, Profile, StepInfo, StepProfile, steps};
pub use cotangent_cpu::{Hook, Raw, RawMut, with_interrupt};
use std::sync::{Arc, OnceLock};

/// A backend that runs programs on the CPU: a thread limit, kernels of extension operations, and
/// the compiled operations of plain tensors. Cheap to clone.
///
/// Its methods are the operations of tensors, run immediately on plain tensors:
/// [`TensorOpsExt`](crate::TensorOpsExt) has them as methods of tensors. No tape is recorded, and
/// an undefined result is an error. The bits of results are those of eager tensors.
///
/// ```
/// use cotangent::Tensor;
/// use cotangent::cpu::{CpuBackend, Results};
/// let mut backend = CpuBackend::new();
/// // The kernel of an extension operation `twice.v1`, chosen by operand types: here the operand as it is.
/// backend.register_kernel("twice.v1", |_, _| Ok(Box::new(|_, x| Ok(x.into_iter().collect::<Results>()))));
/// assert_eq!(backend.threads(), None);
/// backend.check()?;
/// // Operations on plain tensors.
/// let (a, b) = (Tensor::vector(vec![4.0, 9.0]), Tensor::scalar(0.5));
/// let a = backend.sqrt(&a)?;
/// assert_eq!(backend.mul(&a, &b)?.to_vec::<f64>()?, [1.0, 1.5]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct CpuBackend {
    executor: Executor,
    /// The runtime of operations on plain tensors, with its compiled operations, after the first
    /// one. Clones share it until kernels are added to one of them.
    plain: OnceLock<Arc<EagerRuntime>>,
}

impl std::fmt::Debug for CpuBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CpuBackend").field(&self.executor).finish()
    }
}

impl CpuBackend {
    /// A backend with the default number of threads. Results never depend on the number of threads.
    pub fn new() -> CpuBackend {
        CpuBackend::default()
    }

    /// A backend with at most `n` threads. An error if `n` is 0.
    ///
    /// ```
    /// use cotangent::cpu::CpuBackend;
    /// assert_eq!(CpuBackend::with_threads(2)?.threads(), Some(2));
    /// assert!(CpuBackend::with_threads(0).is_err());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn with_threads(n: usize) -> Result<CpuBackend> {
        if n == 0 {
            bail!(Input, "a backend needs at least one thread");
        }
        Ok(CpuBackend::of(Executor::new().with_threads(n)))
    }

    /// The same backend with a hook, which its runs ask at most every 10 ms, on their thread. If it
    /// returns true, the run ends with [`Code::Interrupted`](crate::Code::Interrupted).
    /// [`with_interrupt`] has a hook for every run of a thread.
    ///
    /// ```
    /// use cotangent::{Code, CpuBackend, TracedTensor, Type, DType, closures::{trace, while_loop}};
    /// use std::sync::Arc;
    /// let backend = CpuBackend::new().with_interrupt(Arc::new(|| true));
    /// let forever = |x: Vec<TracedTensor>| while_loop(|x: TracedTensor| x.is_finite(), |x: TracedTensor| x * 1.0, x[0].clone());
    /// let f = trace(forever, &[Type::scalar(DType::F64)])?.on_backend(backend);
    /// let e = f.call(&[TracedTensor::scalar(1.0)]).err().unwrap();
    /// assert_eq!(e.code(), Code::Interrupted);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn with_interrupt(self, hook: Hook) -> CpuBackend {
        CpuBackend::of(self.executor.with_interrupt(hook))
    }

    /// The backend with this executor.
    pub(crate) fn of(executor: Executor) -> CpuBackend {
        CpuBackend {
            executor,
            plain: OnceLock::new(),
        }
    }

    /// The thread limit, if one was set.
    pub fn threads(&self) -> Option<usize> {
        self.executor.threads()
    }

    /// Adds the kernel of an extension operation. An extension without a kernel runs by its `eval`.
    /// A second kernel of one name is a mistake, and a kernel under the name of a built-in
    /// operation would never run: `register_extension` of executors and runtimes returns an error
    /// for them, and then nothing runs on the backend.
    #[track_caller]
    pub fn register_kernel(
        &mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) {
        *self = CpuBackend::of(std::mem::take(&mut self.executor).with_kernel(name, lower));
    }

    /// As [`register_kernel`](Self::register_kernel), in place of the kernel of this name, if there
    /// is one.
    ///
    /// ```
    /// use cotangent::{CpuBackend, bail};
    /// let mut backend = CpuBackend::new();
    /// backend.register_kernel("filter.v1", |op, _| bail!(NoRule, "`{}`: first", op.name()));
    /// backend.replace_kernel("filter.v1", |op, _| bail!(NoRule, "`{}`: second", op.name()));
    /// backend.check()?;
    /// backend.register_kernel("filter.v1", |op, _| bail!(NoRule, "`{}`: third", op.name()));
    /// let error = backend.check().unwrap_err().to_string();
    /// assert!(error.starts_with("two kernels for `filter.v1`"), "{error}");
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn replace_kernel(
        &mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) {
        let executor = std::mem::take(&mut self.executor);
        *self = CpuBackend::of(executor.with_replaced_kernel(name, lower));
    }

    /// Returns an error for the first kernel that cannot be used: the second one of a name, or one
    /// under the name of a built-in operation.
    ///
    /// ```
    /// use cotangent::{CpuBackend, bail};
    /// let mut backend = CpuBackend::new();
    /// backend.register_kernel("exp", |op, _| bail!(NoRule, "`{}` of mine", op.name()));
    /// assert!(backend.check().unwrap_err().to_string().contains("`exp`"));
    /// ```
    pub fn check(&self) -> Result<()> {
        self.executor.check()
    }

    /// The runtime below.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The runtime of operations on plain tensors, which caches compiled ones.
    pub(crate) fn plain(&self) -> &Arc<EagerRuntime> {
        self.plain
            .get_or_init(|| EagerRuntime::on(self.executor.clone(), &AdContext::default()))
    }
}

impl tape::Executor for CpuBackend {
    type Value = Tensor;

    fn ty(&self, v: &Tensor) -> Type {
        v.ty()
    }

    fn run(&mut self, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>> {
        let y = self.compile(&Arc::new(f.clone()))?.run(x.to_vec())?;
        y.iter().map(Tensor::contiguous).collect()
    }

    /// Compiles a function. Its results are views as the program computes them, listed in the
    /// common order of the operands.
    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        let program = self.executor.compile(f)?;
        Ok(Compiled::new(f, move |x: Vec<Tensor>| {
            x.iter()
                .try_for_each(|x| x.needs_host("a program on the CPU"))?;
            let given = Given::of_results(x.iter().map(Tensor::given));
            let y = program.run_tensors(x.into_iter().map(Tensor::into_view))?;
            let listed = |view| Tensor::strided(view, given);
            Ok(y.into_iter().map(listed).collect())
        }))
    }
}
