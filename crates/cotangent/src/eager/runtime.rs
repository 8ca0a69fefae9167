//! [`EagerRuntime`]: the backend of eager tensors, the rules of their derivatives, and the caches of extensions.

use super::cache::{EagerRuntimeCacheStats, ExtensionCacheLimits, ExtensionCaches};
use super::context_id::ContextId;
use super::device::Device;
use super::error::Result;
use super::profile::{OpProfile, Profile, Section};
use super::recording::no_grad;
use super::rule::table::Rules;
use super::tape::{Grad, Gradient};
use super::turns::{Turns, lock};
use crate::ad_context::AdContext;
use crate::here::AtCaller;
use cotangent_core::tape::TapeLock;
use cotangent_core::transform::Session;
use cotangent_core::{DType, Env, Function, Op, Scalar, bail};
use cotangent_cpu::kernel::{Operands, Results};
use cotangent_cpu::{Executor, Program};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

/// The runtime of eager tensors: backend, rules and caches. An operation on tensors of two runtimes
/// is an error.
///
/// ```
/// use cotangent::{CpuBackend, Tensor, ad::{AdContext, EagerRuntime}};
/// let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &AdContext::default());
/// let w = rt.variable_from(Tensor::vector(vec![1.0, 2.0]))?;
/// let x = rt.constant_from(Tensor::vector(vec![3.0, 4.0]))?;
/// w.mul(&x)?.sum(..)?.backward()?;
/// assert_eq!(w.grad()?.unwrap().to_vec::<f64>()?, [3.0, 4.0]);
/// rt.clear_grads()?;
/// // Nothing is recorded here.
/// assert!(!rt.no_grad(|| w.mul(&x))?.tracks_grad());
/// // Any function of the core's emitter.
/// let y = rt.write(&[&w], |cx, x| vec![cx.logsumexp(x[0], &[0])])?.remove(0);
/// assert!(y.tracks_grad() && y.ctx_id() == rt.id());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub struct EagerRuntime {
    id: ContextId,
    session: Session,
    /// The executor of the backend, which runs operations. It is cloned before a run, so the lock
    /// is not held meanwhile.
    executor: RwLock<Arc<Executor>>,
    /// The device that operations run on instead; `None`: the CPU.
    device: Option<Arc<dyn Device>>,
    /// Exclusive access for changes of the backend.
    changing: Turns<()>,
    caches: Turns<ExtensionCaches>,
    rules: Rules,
    tape_lock: TapeLock,
    /// The scalar 1 in f64 and f32.
    ones: [OnceLock<cotangent_cpu::Tensor>; 2],
    /// The gradients of the variables.
    gradients: Mutex<Vec<Weak<Mutex<Gradient>>>>,
    /// How often all gradients were cleared.
    clears: AtomicU64,
    anomaly: AtomicBool,
    profiling: AtomicBool,
    profile: Arc<Profile>,
}

impl EagerRuntime {
    /// A runtime with this executor, and with the rules of this context.
    pub(crate) fn on(executor: Executor, ad: &AdContext) -> Arc<EagerRuntime> {
        EagerRuntime::with(executor, None, ad)
    }

    /// A runtime of tensors on a device, with the rules of this context.
    pub(crate) fn on_device(device: Arc<dyn Device>, ad: &AdContext) -> Arc<EagerRuntime> {
        EagerRuntime::with(Executor::new(), Some(device), ad)
    }

    fn with(
        executor: Executor,
        device: Option<Arc<dyn Device>>,
        ad: &AdContext,
    ) -> Arc<EagerRuntime> {
        let (profile, profiling) = Profile::of_environment();
        Arc::new(EagerRuntime {
            id: ContextId::fresh(),
            session: ad.session_of_many(),
            executor: RwLock::new(Arc::new(executor)),
            device,
            changing: Turns::new(()),
            caches: Turns::new(ExtensionCaches::default()),
            rules: Rules::default(),
            tape_lock: TapeLock::default(),
            ones: Default::default(),
            gradients: Mutex::default(),
            clears: AtomicU64::new(0),
            anomaly: AtomicBool::new(false),
            profiling: AtomicBool::new(profiling),
            profile,
        })
    }

    /// The id of this runtime, unique in the process.
    pub fn id(&self) -> ContextId {
        self.id
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// How often all gradients were cleared. A gradient of the result of an operation is none if it
    /// is older than the last time.
    pub(super) fn clears(&self) -> u64 {
        self.clears.load(Ordering::Acquire)
    }

    /// Notes the gradient of a variable, for [`EagerRuntime::clear_grads`].
    pub(super) fn note_gradient(&self, grad: &Grad) {
        let mut all = lock(&self.gradients);
        if all.len() == all.capacity() {
            all.retain(|v| v.strong_count() > 0);
        }
        all.push(Arc::downgrade(grad));
    }

    /// Clears the gradients of all tensors.
    #[track_caller]
    pub fn clear_grads(&self) -> Result<()> {
        self.clears.fetch_add(1, Ordering::AcqRel);
        let all: Vec<Grad> = lock(&self.gradients)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for grad in all {
            let old = lock(&grad).take();
            drop(old);
        }
        Ok(())
    }

    /// Runs `f` without recording operations on this thread.
    pub fn no_grad<R>(&self, f: impl FnOnce() -> R) -> R {
        no_grad(f)
    }

    /// The current executor.
    pub(super) fn executor(&self) -> Arc<Executor> {
        self.executor
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The scalar 1, the seed of most reverse passes.
    pub(super) fn one(&self, dtype: DType) -> cotangent_cpu::Tensor {
        let one = || Scalar::F(1.0).array(dtype).into();
        let kept = match dtype {
            DType::F64 => &self.ones[0],
            DType::F32 => &self.ones[1],
            _ => return one(),
        };
        kept.get_or_init(one).clone()
    }

    /// The lock of traversals that mark nodes of the tape.
    pub(super) fn tape_lock(&self) -> &TapeLock {
        &self.tape_lock
    }

    /// Compiles a function on the backend.
    #[track_caller]
    pub(super) fn compile(&self, f: Arc<Function>) -> cotangent_core::Result<Program> {
        self.executor().compile(&f)
    }

    /// The device of the tensors; `None`: the host.
    pub(super) fn device(&self) -> Option<&Arc<dyn Device>> {
        self.device.as_ref()
    }

    /// Whether each operation goes through [`EagerRuntime::execute`]: those of a device, and those
    /// that are observed by profiling or anomaly detection.
    pub(super) fn is_watched(&self) -> bool {
        self.device.is_some()
            || self.anomaly.load(Ordering::Relaxed)
            || self.profiling.load(Ordering::Relaxed)
    }

    /// Runs one operation.
    #[track_caller]
    pub(super) fn execute(
        &self,
        op: &Op,
        x: Operands,
        env: &Env,
    ) -> cotangent_core::Result<Results> {
        if let Some(device) = &self.device {
            let run = || device.execute(op, &x);
            return self.timed(op.name(), Section::Run, run);
        }
        if self.is_watched() {
            return self.execute_watched(op, x, env);
        }
        self.execute_plain(op, x, env)
    }

    fn execute_plain(&self, op: &Op, x: Operands, env: &Env) -> cotangent_core::Result<Results> {
        // A guard is an error here instead of NaN in the result.
        if let (Op::Guard(guard), [_, ok, measure @ ..]) = (op, &x[..])
            && let ok = ok.clone().into_array()?
            && ok.as_slice::<bool>().is_some_and(|ok| ok.contains(&false))
        {
            let measure = measure
                .first()
                .map(|m| m.clone().into_array())
                .transpose()?;
            return Err(guard.error(&ok, measure.as_ref()));
        }
        let executor = self.timed(op.name(), Section::Lock, || self.executor());
        if op.runs() {
            executor.apply(op, x, env)
        } else {
            executor.apply(&op.legal(&self.session)?, x, env)
        }
    }

    /// Runs `f`, a section of an operation, and adds its time to the profile if profiling is on.
    #[inline]
    pub(super) fn timed<R>(&self, op: &str, section: Section, f: impl FnOnce() -> R) -> R {
        match self.profiling.load(Ordering::Relaxed) {
            true => self.profile.timed(op, section, f),
            false => f(),
        }
    }

    fn execute_watched(&self, op: &Op, x: Operands, env: &Env) -> cotangent_core::Result<Results> {
        let anomaly = self.anomaly.load(Ordering::Relaxed);
        let before = anomaly && x.iter().any(has_nan);
        let y = self.timed(op.name(), Section::Run, || self.execute_plain(op, x, env))?;
        if anomaly && !before && y.iter().any(has_nan) {
            bail!(
                CheckFailed,
                "`{}` produced the first NaN: its operands had none (anomaly detection)",
                op.name()
            );
        }
        Ok(y)
    }

    /// Turns anomaly detection on or off: an operation with a NaN result from operands without NaN
    /// is then an error that names it.
    pub fn set_anomaly_detection(&self, on: bool) {
        self.anomaly.store(on, Ordering::Relaxed);
    }

    /// Turns profiling of operations on or off.
    pub fn set_profiling(&self, on: bool) {
        self.profiling.store(on, Ordering::Relaxed);
    }

    /// The profile of operations that ran with profiling on, sorted by total time, descending.
    pub fn profile(&self) -> Vec<OpProfile> {
        self.profile.operations()
    }

    /// Clears the profile.
    pub fn reset_profile(&self) {
        self.profile.reset();
    }

    /// Calls `f` with a copy of the executor, which replaces the executor when `f` returns. `call`
    /// is the name of the public function, for errors.
    #[track_caller]
    pub(super) fn change<R>(
        &self,
        call: &'static str,
        f: impl FnOnce(&mut Executor) -> R,
    ) -> Result<R> {
        let changed = self.changing.with(call, |()| {
            let mut executor = Executor::clone(&self.executor());
            let y = f(&mut executor);
            let new = Arc::new(executor);
            let old = std::mem::replace(
                &mut *self
                    .executor
                    .write()
                    .unwrap_or_else(PoisonError::into_inner),
                new,
            );
            drop(old);
            self.rules.clear();
            y
        });
        Ok(changed.at_caller()?)
    }

    /// Waits until all submitted operations have run, and returns the first error. On the CPU
    /// operations run synchronously, so it returns immediately.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        match &self.device {
            None => Ok(()),
            Some(device) => Ok(device.synchronize().at_caller()?),
        }
    }

    /// Statistics of the caches.
    #[track_caller]
    pub fn cache_stats(&self) -> Result<EagerRuntimeCacheStats> {
        let (operations, tapes) = self.rules.count();
        let extensions = self
            .caches
            .with("cache_stats", |caches| caches.stats())
            .at_caller()?;
        Ok(EagerRuntimeCacheStats {
            extensions,
            operations,
            tapes,
        })
    }

    /// Clears all caches, and frees the unused buffers of the process
    /// ([`release_memory`](crate::release_memory)).
    #[track_caller]
    pub fn clear_caches(&self) -> Result<()> {
        let kept = self
            .caches
            .with("clear_caches", ExtensionCaches::take)
            .at_caller()?;
        drop(kept);
        self.rules.clear();
        self.session.forget();
        crate::release_memory();
        Ok(())
    }

    /// Clears the caches of extensions.
    #[track_caller]
    pub fn clear_extension_caches(&self) -> Result<()> {
        let kept = self
            .caches
            .with("clear_extension_caches", ExtensionCaches::take)
            .at_caller()?;
        drop(kept);
        Ok(())
    }

    /// The limits of the caches of extensions.
    #[track_caller]
    pub fn extension_cache_limits(&self) -> Result<ExtensionCacheLimits> {
        Ok(self
            .caches
            .with("extension_cache_limits", |caches| caches.limits())
            .at_caller()?)
    }

    /// Sets the limits of the caches of extensions.
    #[track_caller]
    pub fn set_extension_cache_limits(&self, limits: ExtensionCacheLimits) -> Result<()> {
        let evicted = self
            .caches
            .with("set_extension_cache_limits", |caches| caches.limit(limits))
            .at_caller()?;
        drop(evicted);
        Ok(())
    }

    /// Calls `f` with the caches of extensions. Other threads that use them wait. A nested use
    /// inside `f` is an error.
    #[track_caller]
    pub fn with_extension_caches_mut<R>(
        &self,
        f: impl FnOnce(&mut ExtensionCaches) -> R,
    ) -> Result<R> {
        Ok(self
            .caches
            .with("with_extension_caches_mut", f)
            .at_caller()?)
    }
}

/// Whether a float or a part of a complex number is NaN.
fn has_nan(x: &cotangent_cpu::Tensor) -> bool {
    x.dtype().has_tangent() && x.clone().into_array().is_ok_and(|a| a.has_nan())
}

/// The device of a runtime in its debug output.
struct OrHost<'r>(Option<&'r Arc<dyn Device>>);

impl std::fmt::Debug for OrHost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(device) => device.fmt(f),
            None => f.write_str("cpu"),
        }
    }
}

/// A part of a runtime in its debug output; `None` while another call uses it.
struct OrLocked<T>(Option<T>);

impl<T: std::fmt::Debug> std::fmt::Debug for OrLocked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(x) => x.fmt(f),
            None => f.write_str("<locked>"),
        }
    }
}

impl std::fmt::Debug for EagerRuntime {
    /// Prints the backend, its executor, the number of compiled rules, and that of live variables.
    /// A part that another call uses is `<locked>`: the executor, while a call changes the backend.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let executor = self.executor.try_read().ok();
        let executor = executor.filter(|_| !self.changing.is_held());
        let slots = self.gradients.try_lock().ok();
        let slots = slots.map(|all| all.iter().filter(|v| v.strong_count() > 0).count());
        f.debug_struct("EagerRuntime")
            .field("id", &self.id)
            .field("backend", &OrHost(self.device.as_ref()))
            .field("executor", &OrLocked(executor))
            .field(
                "rules",
                &OrLocked(
                    self.rules
                        .try_count()
                        .map(|(operations, tapes)| operations + tapes),
                ),
            )
            .field("slots", &OrLocked(slots))
            .finish()
    }
}
