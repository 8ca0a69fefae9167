//! [`EagerRuntime`]: the backend that eager tensors run on, the rules of their derivatives, and caches of extensions.

use super::cache::{EagerCacheStats, ExtensionCacheLimits, ExtensionCaches};
use super::error::Result;
use super::ids::{next_id, no_grad};
use super::rule::table::Rules;
use super::tape::{Grad, Gradient, number};
use super::turns::{Turns, lock};
use crate::AdContext;
use crate::cpu::CpuBackend;
use cotangent_core::transform::Session;
use cotangent_core::{DType, Env, Function, Op, bail};
use cotangent_cpu::Program;
use cotangent_cpu::kernel::{Operands, Results};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

/// Turns on the profile of every runtime made after it is set (to anything but `0`).
pub const PROFILE_VARIABLE: &str = "COTANGENT_EAGER_PROFILE";

/// How often an operation ran, and how long that took.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// rt.set_profiling(true);
/// let x = rt.constant_from(cotangent::Tensor::scalar(1.0))?;
/// x.exp()?.exp()?;
/// let exp = &rt.profile()[0];
/// assert_eq!((&*exp.name, exp.calls), ("exp", 2));
/// assert!(exp.per_call() <= exp.total);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OpProfile {
    /// The operation's name.
    pub name: String,
    /// How often it ran.
    pub calls: u64,
    /// How long that took altogether.
    pub total: Duration,
}

impl OpProfile {
    /// How long it took on average.
    pub fn per_call(&self) -> Duration {
        self.total / u32::try_from(self.calls.max(1)).unwrap_or(u32::MAX)
    }
}

/// What eager tensors belong to. Tensors of two runtimes do not meet in one operation.
///
/// ```
/// use cotangent::{CpuBackend, Tensor, ad::{AdContext, EagerRuntime}};
/// let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &AdContext::default());
/// let w = rt.variable_from(Tensor::vector(vec![1.0, 2.0]))?;
/// let x = rt.constant_from(Tensor::vector(vec![3.0, 4.0]))?;
/// w.mul(&x)?.sum()?.backward()?;
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
    id: u64,
    session: Session,
    /// What runs operations: taken out before anything runs.
    backend: RwLock<Arc<CpuBackend>>,
    /// Held while the backend is changed.
    changing: Turns<()>,
    caches: Turns<ExtensionCaches>,
    rules: Rules,
    walks: Mutex<()>,
    /// The number 1 in f64 and f32.
    ones: [OnceLock<cotangent_cpu::Tensor>; 2],
    variables: Mutex<Vec<Weak<Mutex<Gradient>>>>,
    anomaly: AtomicBool,
    profiling: AtomicBool,
    profile: Mutex<FxHashMap<String, (u64, Duration)>>,
}

impl EagerRuntime {
    /// A runtime on the processor, with the rules of the operations themselves.
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
        Arc::new(EagerRuntime {
            id: next_id(),
            session: ad.session_of_many(),
            backend: RwLock::new(Arc::new(backend)),
            changing: Turns::new(()),
            caches: Turns::new(ExtensionCaches::default()),
            rules: Rules::default(),
            walks: Mutex::default(),
            ones: Default::default(),
            variables: Mutex::default(),
            anomaly: AtomicBool::new(false),
            profiling: AtomicBool::new(
                std::env::var_os(PROFILE_VARIABLE).is_some_and(|v| v != "0"),
            ),
            profile: Mutex::default(),
        })
    }

    /// A number that no other runtime has.
    pub fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn note_variable(&self, grad: &Grad) {
        let mut all = lock(&self.variables);
        if all.len() == all.capacity() {
            all.retain(|v| v.strong_count() > 0);
        }
        all.push(Arc::downgrade(grad));
    }

    /// Forgets the gradients of all variables.
    pub fn clear_grads(&self) -> Result<()> {
        let all: Vec<Grad> = lock(&self.variables)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for grad in all {
            let old = lock(&grad).take();
            drop(old);
        }
        Ok(())
    }

    /// Runs `f` with nothing recorded on this thread.
    pub fn no_grad<R>(&self, f: impl FnOnce() -> R) -> R {
        no_grad(f)
    }

    /// The backend as it is now.
    fn backend(&self) -> Arc<CpuBackend> {
        self.backend
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The number 1: where most reverse passes begin.
    pub(super) fn one(&self, dtype: DType) -> cotangent_cpu::Tensor {
        let kept = match dtype {
            DType::F64 => &self.ones[0],
            DType::F32 => &self.ones[1],
            dtype => return number(dtype, 1.0),
        };
        kept.get_or_init(|| number(dtype, 1.0)).clone()
    }

    /// Held while nodes of the tape are marked.
    pub(super) fn walk(&self) -> MutexGuard<'_, ()> {
        lock(&self.walks)
    }

    /// The program of a function on the backend.
    pub(super) fn compile(&self, f: Arc<Function>) -> cotangent_core::Result<Program> {
        self.backend().executor().compile(&f)
    }

    /// Whether every operation is looked at as it runs.
    pub(super) fn is_watched(&self) -> bool {
        self.anomaly.load(Ordering::Relaxed) || self.profiling.load(Ordering::Relaxed)
    }

    /// Runs one operation.
    pub(super) fn execute(
        &self,
        op: &Op,
        x: Operands,
        env: &Env,
    ) -> cotangent_core::Result<Results> {
        if self.is_watched() {
            return self.execute_watched(op, x, env);
        }
        self.execute_plain(op, x, env)
    }

    fn execute_plain(&self, op: &Op, x: Operands, env: &Env) -> cotangent_core::Result<Results> {
        // What a program marks as NaN can be said at once.
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
        let backend = self.backend();
        if op.runs() {
            backend.executor().apply(op, x, env)
        } else {
            backend.executor().apply(&op.legal(&self.session)?, x, env)
        }
    }

    fn execute_watched(&self, op: &Op, x: Operands, env: &Env) -> cotangent_core::Result<Results> {
        let anomaly = self.anomaly.load(Ordering::Relaxed);
        let before = anomaly && x.iter().any(has_nan);
        let start = Instant::now();
        let y = self.execute_plain(op, x, env)?;
        if self.profiling.load(Ordering::Relaxed) {
            let (name, took) = (op.name().to_owned(), start.elapsed());
            let mut profile = lock(&self.profile);
            let entry = profile.entry(name).or_default();
            *entry = (entry.0 + 1, entry.1 + took);
        }
        if anomaly && !before && y.iter().any(has_nan) {
            bail!(
                CheckFailed,
                "`{}` produced the first NaN: its operands had none (anomaly detection)",
                op.name()
            );
        }
        Ok(y)
    }

    /// Whether an operation that makes a NaN from operands without one is an error that names it.
    pub fn set_anomaly_detection(&self, on: bool) {
        self.anomaly.store(on, Ordering::Relaxed);
    }

    /// Whether operations are timed.
    pub fn set_profiling(&self, on: bool) {
        self.profiling.store(on, Ordering::Relaxed);
    }

    /// What ran since profiling was turned on, the longest first.
    pub fn profile(&self) -> Vec<OpProfile> {
        let mut all: Vec<OpProfile> = lock(&self.profile)
            .iter()
            .map(|(name, &(calls, total))| OpProfile {
                name: name.clone(),
                calls,
                total,
            })
            .collect();
        all.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// Lets `f` add kernels of extension operations to the backend; where it fails nothing is
    /// added.
    pub fn register_extension(
        &self,
        f: impl FnOnce(&mut CpuBackend) -> cotangent_core::Result<()>,
    ) -> Result<()> {
        let register = |backend: &mut CpuBackend| {
            let before = backend.clone();
            let done = f(backend).and_then(|()| backend.check());
            if done.is_err() {
                *backend = before;
            }
            done
        };
        Ok(self.change("register_extension", register)??)
    }

    /// Lets `f` use the backend. What it changes holds for operations that begin when it has
    /// returned; until then they run as before, inside `f` too. Changing the backend inside `f` is
    /// an error.
    pub fn with_backend_mut<R>(&self, f: impl FnOnce(&mut CpuBackend) -> R) -> Result<R> {
        self.change("with_backend_mut", f)
    }

    fn change<R>(&self, call: &'static str, f: impl FnOnce(&mut CpuBackend) -> R) -> Result<R> {
        Ok(self.changing.with(call, |()| {
            let mut backend = CpuBackend::clone(&self.backend());
            let y = f(&mut backend);
            let new = Arc::new(backend);
            let old = std::mem::replace(
                &mut *self.backend.write().unwrap_or_else(PoisonError::into_inner),
                new,
            );
            drop(old);
            self.rules.clear();
            y
        })?)
    }

    /// Waits until everything submitted has run; on the processor nothing is left to wait for.
    pub fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// What the caches hold.
    pub fn cache_stats(&self) -> Result<EagerCacheStats> {
        let (operations, tapes) = self.rules.count();
        let extensions = self.caches.with("cache_stats", |caches| caches.stats())?;
        Ok(EagerCacheStats {
            extensions,
            operations,
            tapes,
        })
    }

    /// Forgets everything cached, and frees the buffers that the process keeps for tensors to come
    /// ([`release_memory`](crate::release_memory)).
    pub fn clear_caches(&self) -> Result<()> {
        let kept = self.caches.with("clear_caches", ExtensionCaches::take)?;
        drop(kept);
        self.rules.clear();
        self.session.forget();
        crate::release_memory();
        Ok(())
    }

    /// Forgets what extensions keep.
    pub fn clear_extension_caches(&self) -> Result<()> {
        let kept = self
            .caches
            .with("clear_extension_caches", ExtensionCaches::take)?;
        drop(kept);
        Ok(())
    }

    /// How much extensions may keep.
    pub fn extension_cache_limits(&self) -> Result<ExtensionCacheLimits> {
        Ok(self
            .caches
            .with("extension_cache_limits", |caches| caches.limits())?)
    }

    /// Sets how much extensions may keep.
    pub fn set_extension_cache_limits(&self, limits: ExtensionCacheLimits) -> Result<()> {
        let evicted = self
            .caches
            .with("set_extension_cache_limits", |caches| caches.limit(limits))?;
        drop(evicted);
        Ok(())
    }

    /// Lets `f` use the caches of extensions. Other threads that ask for them wait; inside `f` that
    /// is an error.
    pub fn with_extension_caches_mut<R>(
        &self,
        f: impl FnOnce(&mut ExtensionCaches) -> R,
    ) -> Result<R> {
        Ok(self.caches.with("with_extension_caches_mut", f)?)
    }
}

/// Whether a float or a part of a complex number is NaN.
fn has_nan(x: &cotangent_cpu::Tensor) -> bool {
    use cotangent_core::{Wide, dtype::Kind};
    if !matches!(x.dtype().kind(), Kind::Float | Kind::Complex) {
        return false;
    }
    match x.clone().into_array().map(|a| a.wide()) {
        Ok(Wide::F(v)) => v.iter().any(|x| x.is_nan()),
        Ok(Wide::C(v)) => v.iter().any(|z| z.re.is_nan() || z.im.is_nan()),
        _ => false,
    }
}

impl std::fmt::Debug for EagerRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EagerRuntime #{}", self.id)
    }
}
