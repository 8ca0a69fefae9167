//! `jit`: a closure that is traced once per types of its arguments, and compiled.

use super::capture::{Closed, types, with};
use super::nans;
use super::traced::Traced;
use super::tree::{Returns, Tree, leaves, structure};
use crate::backend::Backend;
use crate::here::here;
use crate::runtime::CacheStats;
use crate::traced::{Cache, ancestors_of, computed_from, evaluate_all, evaluate_arguments};
use crate::{CpuBackend, Loc, Result, Tensor, TracedTensor, Type};
use std::sync::Arc;

/// A closure traced at some types, and the structure that it returns.
struct Entry<B> {
    traced: Traced,
    out: B,
}

/// Structure and types of an argument.
type Key = (String, Vec<Type>);

/// Default limit of the programs that a closure caches.
const DEFAULT_CLOSURE_PROGRAMS: usize = 256;

/// The cache of a closure of [`jit_with_cache`]: the most recently used programs, one for each
/// structure and types of the argument.
///
/// ```
/// use cotangent::{TracedTensor, closures::jit_with_cache};
/// let (f, cache) = jit_with_cache(|x: TracedTensor| x.exp());
/// cache.set_limit(1);
/// for n in [1, 2, 2] {
///     f(TracedTensor::from_vec_row_major([n], vec![0.0; n]))?;
/// }
/// let stats = cache.stats();
/// assert_eq!((stats.entries, stats.limit, stats.misses, stats.hits, stats.evictions), (1, 1, 2, 1, 1));
/// cache.clear();
/// assert_eq!(cache.stats().entries, 0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct JitCache<B>(Arc<Cache<Key, Arc<Entry<B>>>>);

impl<B> JitCache<B> {
    /// The contents of the cache, and counts of its hits, misses and evictions.
    pub fn stats(&self) -> CacheStats {
        self.0.stats()
    }

    /// Sets the maximum number of programs.
    pub fn set_limit(&self, programs: usize) {
        self.0.set_limit(programs);
    }

    /// Removes all programs. The next call traces the closure again.
    pub fn clear(&self) {
        self.0.clear();
    }
}

/// A closure that is traced once for each structure and types of its argument.
///
/// If its argument and captures are [known](TracedTensor::is_known), it computes their arrays
/// unless they are stored, and runs immediately. Its results are then arrays, which record no
/// derivative. If they depend on a placeholder (inside another transform, for example), it becomes
/// a call.
///
/// The captures of the closure live as long as it does. The compiled closure is `Send` and `Sync`
/// if `f` is: threads share its programs. The 256 most recently used programs are cached.
/// [`jit_with_cache`] sets another limit, clears the cache and counts its hits.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, jit}};
/// use std::cell::Cell;
/// let traced = Cell::new(0);
/// let f = jit(|x: TracedTensor| {
///     traced.set(traced.get() + 1);
///     (&x * &x).sum(..)
/// });
/// for k in 0..3 {
///     let y = f(TracedTensor::scalar(k as f64))?;
///     assert!(y.is_concrete());
///     assert_eq!(y.item::<f64>()?, (k * k) as f64);
/// }
/// assert_eq!(traced.get(), 1);
/// // Values that were computed are known, too: each step runs once.
/// let (step, mut w) = (jit(grad(&f)), TracedTensor::scalar(1.0));
/// for _ in 0..3 {
///     let g = step(w.clone())?;
///     w = w - g * 0.25;
/// }
/// assert_eq!(w.item::<f64>()?, 0.125);
/// assert_eq!(grad(&f)(TracedTensor::scalar(3.0))?.item::<f64>()?, 6.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn jit<A: Tree, R: Returns>(f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Out> {
    jit_with_cache(f).0
}

/// As [`jit`], with the cache of the closure.
///
/// ```
/// use cotangent::{TracedTensor, closures::jit_with_cache};
/// let (f, cache) = jit_with_cache(|x: TracedTensor| &x + &x);
/// f(TracedTensor::scalar(1.0))?;
/// assert_eq!(cache.stats().entries, 1);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn jit_with_cache<A: Tree, R: Returns>(
    f: impl Fn(A) -> R,
) -> (impl Fn(A) -> Result<R::Out>, JitCache<R::Out>) {
    debug_nans(false).jit_with_cache(f)
}

/// Options of [`jit`]: see [`debug_nans`].
///
/// ```
/// use cotangent::{TracedTensor, closures::{Jit, debug_nans}};
/// let options: Jit = debug_nans(true);
/// let (f, cache) = options.jit_with_cache(|x: TracedTensor| x.sqrt());
/// assert!(f(TracedTensor::scalar(-1.0)).is_err());
/// assert_eq!(cache.stats().entries, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Jit {
    debug_nans: bool,
    device: Option<Box<dyn Backend>>,
}

/// Compiled closures run on this backend: see [`jit`]. Arguments and captures that are on the host
/// are copied there in each run; results are copied back unless one of them is on the device.
/// Inside another transform the closure is a call, as others are.
///
/// ```no_run
/// use cotangent::{Tensor, TracedTensor, closures::{grad, on}, pjrt::PjrtBackend};
/// let device = PjrtBackend::new("cuda")?;
/// let slope = on(&device).jit(grad(|x: TracedTensor| x.sin().sum(..)));
/// let x = device.to_device(&Tensor::vector(vec![0.0f32; 3]))?;
/// let y = slope(TracedTensor::from(x))?.to_tensor()?;
/// assert_eq!((y.device().as_deref(), y.to_vec::<f32>()?), (Some("cuda:0"), vec![1.0; 3]));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn on(device: &dyn Backend) -> Jit {
    debug_nans(false).on(device)
}

/// With `on`, a compiled closure whose results have a NaN returns an error that names the first
/// operation that made one, with the line that wrote it. The operations of loops and branches are
/// named, too.
///
/// The program runs as without this option. Only if a result has a NaN, it runs again, one
/// operation after another. A NaN that does not reach a result is no error. Inside another
/// transform the closure is a call, which is not checked: apply this option to the outermost
/// closure.
///
/// ```
/// use cotangent::{TracedTensor, closures::debug_nans};
/// let f = debug_nans(true).jit(|x: TracedTensor| (x - 2.0).log() * 3.0);
/// assert_eq!(f(TracedTensor::scalar(3.0))?.item::<f64>()?, 0.0);
/// let e = f(TracedTensor::scalar(1.0)).err().unwrap().to_string();
/// assert!(e.contains("`log` produced the first NaN") && e.contains(".rs:"), "{e}");
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn debug_nans(on: bool) -> Jit {
    Jit {
        debug_nans: on,
        device: None,
    }
}

impl Jit {
    /// The same options, on a device: see [`on`].
    pub fn on(self, device: &dyn Backend) -> Jit {
        Jit {
            device: Some(device.boxed()),
            ..self
        }
    }

    /// As [`jit`].
    #[track_caller]
    pub fn jit<A: Tree, R: Returns>(self, f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Out> {
        self.jit_with_cache(f).0
    }

    /// As [`jit_with_cache`].
    #[track_caller]
    pub fn jit_with_cache<A: Tree, R: Returns>(
        self,
        f: impl Fn(A) -> R,
    ) -> (impl Fn(A) -> Result<R::Out>, JitCache<R::Out>) {
        compiled(here(), self, f)
    }
}

fn compiled<A: Tree, R: Returns>(
    loc: Loc,
    options: Jit,
    f: impl Fn(A) -> R,
) -> (impl Fn(A) -> Result<R::Out>, JitCache<R::Out>) {
    let entries: Arc<Cache<Key, Arc<Entry<R::Out>>>> =
        Arc::new(Cache::new(DEFAULT_CLOSURE_PROGRAMS));
    let cache = JitCache(entries.clone());
    let backend = CpuBackend::new();
    let call = move |x: A| {
        let known = leaves(&x).iter().all(|t| t.is_known());
        let types = match known {
            true => types_of_arrays(&leaves(&x))?,
            false => types(&x)?,
        };
        let key = (structure(&x), types);
        let entry = match entries.get(&key) {
            Some(e) => e,
            None => {
                // The closure may call itself: no lock is held while it is traced.
                let e = Arc::new(trace(loc, (&backend, &options), &x, &key.1, &f)?);
                entries.insert(key, e.clone());
                e
            }
        };
        let traced = &entry.traced;
        let args = with(&x, traced.captures());
        let y = if known && traced.captures().iter().all(TracedTensor::is_known) {
            let args: Vec<&TracedTensor> = args.iter().collect();
            evaluate_arguments(&args)?;
            let y = traced.run(&args)?;
            if options.debug_nans {
                nans::check(&backend, traced.function(), &x, traced.captures(), &y)
                    .map_err(|e| e.at(loc))?;
            }
            y
        } else {
            let args: Vec<TracedTensor> = args.iter().map(|t| of_traced_type(loc, t)).collect();
            traced.write(loc, &args)?
        };
        Ok(entry.out.rebuild(&mut y.into_iter()))
    };
    (call, cache)
}

/// Evaluates tensors. Returns the types of their arrays, whose extents are numbers.
fn types_of_arrays(tensors: &[&TracedTensor]) -> Result<Vec<Type>> {
    evaluate_arguments(tensors)?;
    let arrays = tensors.iter().filter_map(|t| t.array());
    Ok(arrays.map(Tensor::ty).collect())
}

/// The operand of a call. A run decided the extents of an evaluated tensor with symbolic extents,
/// and the closure was traced with them: the operand is the array.
fn of_traced_type(loc: Loc, t: &TracedTensor) -> TracedTensor {
    match t.array() {
        Some(array) if t.shape().is_ok_and(|shape| shape.as_const().is_none()) => {
            computed_from(array.clone(), ancestors_of(&[t]), loc)
        }
        _ => t.clone(),
    }
}

fn trace<A: Tree, R: Returns>(
    loc: Loc,
    (backend, options): (&CpuBackend, &Jit),
    x: &A,
    types: &[Type],
    f: impl FnOnce(A) -> R,
) -> Result<Entry<R::Out>> {
    let closed = Closed::call("jit", loc, x, types, f)?;
    let mut traced = Traced::of(&closed, loc)?.on_backend(backend.clone());
    if let Some(device) = &options.device {
        traced = traced.on(&**device);
    }
    // The cache holds only the structure, not the trace.
    let mut blank = leaves(&closed.out)
        .into_iter()
        .map(|_| TracedTensor::scalar(0.0));
    let out = closed.out.rebuild(&mut blank);
    Ok(Entry { traced, out })
}

/// A tree of arrays, which are constants of programs that read them. Tensors whose arrays are not
/// stored are computed together, and then store them. An error if one is not
/// [known](TracedTensor::is_known).
///
/// A call is needed for speed nowhere: [`jit`] and [`TracedTensor::to_tensor`] compute a tensor
/// once.
///
/// ```
/// use cotangent::{TracedTensor, closures::evaluate};
/// let x = TracedTensor::scalar(2.0);
/// let (y, z) = evaluate((&x * &x, x.exp()))?;
/// assert!(y.is_concrete() && z.is_concrete());
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn evaluate<T: Tree>(t: T) -> Result<T> {
    let all = leaves(&t);
    evaluate_all(&all)?;
    let arrays: Vec<TracedTensor> = all.iter().map(|t| t.evaluate()).collect::<Result<_>>()?;
    Ok(t.rebuild(&mut arrays.into_iter()))
}
