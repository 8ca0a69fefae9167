//! [`Executor`]: settings of a compilation: kernels of extension operations, the number of threads,
//! and the hook of its runs.

use crate::interrupt::{Hook, with_interrupt};
use crate::kernel::Kernel;
use crate::tuning::MIN_LOOP_STEPS;
use cotangent_core::{Code, Error, Op, Primitive, Result, Type, ops};
use cotangent_kernels::parallel::with_threads;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Arc;

/// Function that compiles an extension operation to a kernel for operands of the given types.
pub type Lower = dyn Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync;

/// A kernel, and the source location where it was added.
#[derive(Clone)]
struct Extension {
    lower: Arc<Lower>,
    added: &'static Location<'static>,
}

/// Kernels of extension operations, by name, the maximum number of threads, and a hook that may end
/// runs. Extension operations without a kernel run by their `eval`.
#[derive(Clone, Default)]
pub struct Executor {
    extensions: FxHashMap<String, Extension>,
    /// The first kernel that cannot be used.
    refused: Option<Error>,
    stepwise: bool,
    limits: RunLimits,
    /// Number of steps after which loops are compiled, if it is not the default.
    compiled_after: Option<usize>,
}

/// Limits of a run.
#[derive(Clone, Default)]
pub(crate) struct RunLimits {
    /// Maximum number of threads; `None` is the number that the process uses.
    threads: Option<usize>,
    /// The hook that may end the run.
    hook: Option<Hook>,
}

impl RunLimits {
    /// Calls `f` with these limits on its kernels.
    #[inline]
    pub(crate) fn apply<R>(&self, f: impl FnOnce() -> R) -> R {
        let limited = || match self.threads {
            Some(n) => with_threads(n, f),
            None => f(),
        };
        match &self.hook {
            Some(hook) => with_interrupt(hook, limited),
            None => limited(),
        }
    }
}

impl std::fmt::Debug for Executor {
    /// Prints the limit of threads, and the names of extension operations with a kernel.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kernels: BTreeSet<&String> = self.extensions.keys().collect();
        f.debug_struct("Executor")
            .field("threads", &self.threads())
            .field("kernels", &kernels)
            .finish()
    }
}

impl Executor {
    /// An executor with built-in kernels only.
    pub fn new() -> Executor {
        Executor::default()
    }

    /// Adds the kernel of an extension operation (builder style). A second kernel of one name, and
    /// a kernel under the name of a built-in operation, which would never run, make every use of
    /// this executor an error ([`Executor::check`]).
    #[track_caller]
    pub fn with_kernel(
        mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) -> Executor {
        if let Some(first) = self.extensions.get(name) {
            let text = format!(
                "two kernels for `{name}`: one was added at {}, another at {}; use replace_kernel to replace one on \
                 purpose",
                first.added,
                Location::caller()
            );
            self.refused
                .get_or_insert_with(|| Error::new(Code::DuplicateName, text));
            return self;
        }
        self.with_replaced_kernel(name, lower)
    }

    /// As [`with_kernel`](Self::with_kernel), in place of the kernel of this name, if there is one.
    #[track_caller]
    pub fn with_replaced_kernel(
        mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) -> Executor {
        if ops::entries().iter().any(|e| e.name == name) {
            let text = format!(
                "a kernel for `{name}` would never run: `{name}` is a built-in operation with its own kernel; give the \
                 extension another name"
            );
            self.refused
                .get_or_insert_with(|| Error::new(Code::DuplicateName, text));
            return self;
        }
        let extension = Extension {
            lower: Arc::new(lower),
            added: Location::caller(),
        };
        self.extensions.insert(name.into(), extension);
        self
    }

    /// Returns an error that names the first added kernel that cannot be used, if there is one.
    pub fn check(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Runs every step of a program on tensors: small programs, loops and branches are not run in
    /// place (builder style). The bits are the same; such programs take longer.
    pub fn stepwise(self) -> Executor {
        Executor {
            stepwise: true,
            ..self
        }
    }

    /// Limits programs and operations to `n` threads, at least one (builder style). The bits of
    /// results do not depend on it.
    pub fn with_threads(mut self, n: usize) -> Executor {
        self.limits.threads = Some(n.max(1));
        self
    }

    /// The limit set by [`Executor::with_threads`].
    pub fn threads(&self) -> Option<usize> {
        self.limits.threads
    }

    /// Sets a hook for programs and operations (builder style). It is asked at most every 10 ms, on
    /// the thread of the run. If it returns true, the run ends with
    /// [`Code::Interrupted`]; a program can run again afterwards.
    /// [`with_interrupt`] tells between what it is asked.
    ///
    /// ```
    /// use cotangent_core::{Array, Builder, Code, DType, Emit, Type};
    /// use cotangent_cpu::Executor;
    /// use std::sync::Arc;
    /// use std::time::{Duration, Instant};
    /// // A loop that never ends.
    /// let b = Builder::new("forever", Default::default());
    /// let x = b.param(Type::scalar(DType::F64), None);
    /// let cx: &dyn Emit = &b;
    /// let y = cx.while_loop(&[], &[x], |cx, _, c| cx.is_finite(c[0]), |_, _, c| c.to_vec());
    /// let f = Arc::new(b.finish(&y)?);
    /// let begin = Instant::now();
    /// let hook = Arc::new(move || begin.elapsed() > Duration::from_millis(30));
    /// let program = Executor::new().with_interrupt(hook).compile(&f)?;
    /// let e = program.run(&[Array::scalar(1.0)]).unwrap_err();
    /// assert_eq!(e.code(), Code::Interrupted);
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    pub fn with_interrupt(mut self, hook: Hook) -> Executor {
        self.limits.hook = Some(hook);
        self
    }

    pub(crate) fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Compiles loops when they have run this number of steps (builder style).
    #[doc(hidden)]
    pub fn with_loops_compiled_after(self, steps: usize) -> Executor {
        Executor {
            compiled_after: Some(steps),
            ..self
        }
    }

    /// Number of steps, in all runs of a loop, after which it is compiled.
    pub(crate) fn compiled_after(&self) -> usize {
        self.compiled_after.unwrap_or(MIN_LOOP_STEPS)
    }

    /// Whether an extension operation has a kernel of its own.
    pub(crate) fn has_kernel(&self, op: &Op) -> bool {
        matches!(op, Op::Extension(p) if self.extensions.contains_key(p.name()))
    }

    pub(crate) fn is_stepwise(&self) -> bool {
        self.stepwise
    }

    pub(crate) fn kernel(&self, op: &dyn Primitive, x: &[Type]) -> Result<Option<Kernel>> {
        self.extensions
            .get(op.name())
            .map(|extension| (extension.lower)(op, x))
            .transpose()
    }
}
