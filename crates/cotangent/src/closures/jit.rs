//! `jit`: a closure that is traced once per types of its arguments, and compiled.

use super::capture::{Closed, types, with, write};
use super::tree::{Returns, Tree, leaves, owned, structure};
use crate::here::here;
use crate::runtime::CacheStats;
use crate::traced::{Cache, Orders, TraceNodeKind};
use crate::{CpuBackend, Function, Loc, Result, Tensor, TracedTensor, Type, rewrite};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// A closure traced at some types.
struct Entry<B> {
    function: Arc<Function>,
    captures: Vec<TracedTensor>,
    /// The structure that it returns.
    out: B,
    orders: Orders,
    program: OnceCell<cotangent_cpu::Program>,
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
pub struct JitCache<B>(Rc<Cache<Key, Rc<Entry<B>>>>);

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
/// On arrays it runs immediately, and its results are arrays. On tensors without values (inside
/// another transform, for example) it becomes a call. The captures of the closure live as long as
/// it does. The 256 most recently used programs are cached. [`jit_with_cache`] sets another limit,
/// clears the cache and counts its hits.
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
///     assert_eq!(y.to_tensor()?.item::<f64>()?, (k * k) as f64);
/// }
/// assert_eq!(traced.get(), 1);
/// assert_eq!(grad(&f)(TracedTensor::scalar(3.0))?.to_tensor()?.item::<f64>()?, 6.0);
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
    let loc = here();
    let entries: Rc<Cache<Key, Rc<Entry<R::Out>>>> = Rc::new(Cache::new(DEFAULT_CLOSURE_PROGRAMS));
    let cache = JitCache(entries.clone());
    let backend = CpuBackend::new();
    let call = move |x| {
        let key = (structure(&x), types(&x)?);
        let entry = match entries.get(&key) {
            Some(e) => e,
            None => {
                // The closure may call itself: no lock is held while it is traced.
                let e = Rc::new(trace(loc, &x, &f)?);
                entries.insert(key, e.clone());
                e
            }
        };
        let args = with(&x, &entry.captures);
        let known: Option<Vec<&Tensor>> = args.iter().map(concrete).collect();
        let y = match known {
            Some(args) => run(&backend, &entry, &args).map_err(|e| e.at(loc))?,
            None => write(loc, &args, |cx, x| cx.call(&entry.function, x))?,
        };
        Ok(entry.out.rebuild(&mut y.into_iter()))
    };
    (call, cache)
}

fn trace<A: Tree, R: Returns>(loc: Loc, x: &A, f: impl FnOnce(A) -> R) -> Result<Entry<R::Out>> {
    let closed = Closed::like("jit", loc, x, f)?;
    let (function, captures) = closed.function()?;
    let orders = closed.orders(&captures);
    // The cache holds only the structure, not the trace.
    let mut blank = leaves(&closed.out)
        .into_iter()
        .map(|_| TracedTensor::scalar(0.0));
    let out = closed.out.rebuild(&mut blank);
    let function = Arc::new(rewrite::simplify(&function));
    Ok(Entry {
        function,
        captures,
        out,
        orders,
        program: OnceCell::new(),
    })
}

fn concrete(t: &TracedTensor) -> Option<&Tensor> {
    match &t.node.kind {
        TraceNodeKind::Value(t) => Some(t),
        _ => None,
    }
}

fn run<B>(backend: &CpuBackend, entry: &Entry<B>, args: &[&Tensor]) -> Result<Vec<TracedTensor>> {
    let program = match entry.program.get() {
        Some(p) => p,
        None => {
            let p = backend.executor().compile(&entry.function)?;
            entry.program.get_or_init(|| p)
        }
    };
    let orders = entry.orders.results(args.iter().map(|t| t.given()), &[]);
    let y = program.run_tensors(args.iter().map(|t| t.view().clone()))?;
    y.into_iter()
        .zip(&*orders)
        .map(|(t, &g)| Tensor::computed(t, g).map(TracedTensor::from_tensor))
        .collect()
}

/// The arrays of a tree of tensors. Tensors without values are compiled as one program and run.
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
    let program =
        crate::GraphCompiler::new().compile_many(&owned(&t).iter().collect::<Vec<_>>())?;
    let y = crate::GraphExecutor::default().run_many(&program)?;
    Ok(t.rebuild(&mut y.into_iter().map(TracedTensor::from_tensor)))
}
