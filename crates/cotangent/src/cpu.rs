//! The CPU backend, and the type of kernels of extension operations: functions of strided
//! [`View`]s.

use crate::{Primitive, Result, Type, bail};
use cotangent_cpu::Executor;
pub use cotangent_cpu::Tensor as View;
pub use cotangent_cpu::kernel::{Kernel, Operands, Results};
pub use cotangent_cpu::memory::{Memory, memory};
pub use cotangent_cpu::nests::passes;
pub use cotangent_cpu::profile::{Machine, Profile, StepInfo, StepProfile, steps};
use std::collections::BTreeSet;

/// A backend that runs programs on the CPU: a thread limit, and kernels of extension operations.
/// Cheap to clone.
///
/// ```
/// use cotangent::cpu::{CpuBackend, Results};
/// let mut backend = CpuBackend::new();
/// // The kernel of an extension operation `twice.v1`, chosen by operand types: here the operand as it is.
/// backend.register_kernel("twice.v1", |_, _| Ok(Box::new(|_, x| Ok(x.into_iter().collect::<Results>()))));
/// assert_eq!(backend.threads(), None);
/// backend.check()?;
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct CpuBackend {
    executor: Executor,
    /// Names of extension operations with a kernel.
    kernels: BTreeSet<String>,
}

impl std::fmt::Debug for CpuBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuBackend")
            .field("threads", &self.threads())
            .field("kernels", &self.kernels)
            .finish()
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
        Ok(CpuBackend {
            executor: Executor::new().with_threads(n),
            kernels: BTreeSet::new(),
        })
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
        self.executor = std::mem::take(&mut self.executor).with_kernel(name, lower);
        self.kernels.insert(name.to_owned());
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
        self.executor = std::mem::take(&mut self.executor).with_replaced_kernel(name, lower);
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
}
