//! `jit`: a closure that is traced once per types of its arguments, and compiled.

use super::capture::{Closed, types, with, write};
use super::tree::{Returns, Tree, leaves, owned, structure};
use crate::tensor::Order;
use crate::traced::{Kind, here};
use crate::{CpuBackend, Function, Loc, Result, Tensor, TracedTensor, Type, rewrite};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// A closure traced at some types.
struct Entry<B> {
    function: Arc<Function>,
    captures: Vec<TracedTensor>,
    /// The structure that it returns.
    out: B,
    program: OnceCell<cotangent_cpu::Program>,
}

/// A closure that is traced once for each structure and types of its argument.
///
/// On arrays it runs at once, and what it returns are arrays. On tensors that are not known yet (inside another
/// transform, say) it becomes a call. What the closure captured is kept with it.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, jit}};
/// use std::cell::Cell;
/// let traced = Cell::new(0);
/// let f = jit(|x: TracedTensor| {
///     traced.set(traced.get() + 1);
///     (&x * &x).sum()
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
    let loc = here();
    let entries: RefCell<FxHashMap<(String, Vec<Type>), Rc<Entry<R::Out>>>> = RefCell::default();
    let backend = CpuBackend::new();
    move |x| {
        let key = (structure(&x), types(&x)?);
        let known = entries.borrow().get(&key).cloned();
        let entry = match known {
            Some(e) => e,
            None => {
                // The closure may call this very one: nothing is borrowed while it is traced.
                let e = Rc::new(trace(loc, &x, &f)?);
                entries.borrow_mut().insert(key, e.clone());
                e
            }
        };
        let args = with(&x, &entry.captures);
        let known: Option<Vec<&Tensor>> = args.iter().map(concrete).collect();
        let y = match known {
            Some(args) => run(&backend, &entry, &args)?,
            None => write(loc, &args, |cx, x| cx.call(&entry.function, x))?,
        };
        Ok(entry.out.rebuild(&mut y.into_iter()))
    }
}

fn trace<A: Tree, R: Returns>(loc: Loc, x: &A, f: impl FnOnce(A) -> R) -> Result<Entry<R::Out>> {
    let closed = Closed::like("jit", loc, x, f)?;
    let (function, captures) = closed.function()?;
    // Only the structure is kept, not the trace.
    let mut blank = leaves(&closed.out).into_iter().map(|_| TracedTensor::scalar(0.0));
    let out = closed.out.rebuild(&mut blank);
    let function = Arc::new(rewrite::simplify(&function));
    Ok(Entry { function, captures, out, program: OnceCell::new() })
}

fn concrete(t: &TracedTensor) -> Option<&Tensor> {
    match &t.node.kind {
        Kind::Value(t) => Some(t),
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
    let order = Order::of_results(args.iter().map(|t| (t.order(), t.rank())));
    let y = program.run_tensors(args.iter().map(|t| t.view().clone()))?;
    y.into_iter()
        .map(|t| Tensor::from_view(t, Order::RowMajor).to_order(order).map(TracedTensor::from_tensor))
        .collect()
}

/// The arrays of a tree of tensors: what is not known yet is compiled together and run.
///
/// ```
/// use cotangent::{TracedTensor, closures::evaluate};
/// let x = TracedTensor::scalar(2.0);
/// let (y, z) = evaluate((&x * &x, x.exp()))?;
/// assert!(y.is_concrete() && z.is_concrete());
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn evaluate<T: Tree>(t: T) -> Result<T> {
    let program = crate::GraphCompiler::new().compile_many(&owned(&t).iter().collect::<Vec<_>>())?;
    let y = crate::GraphExecutor::default().run_many(&program)?;
    Ok(t.rebuild(&mut y.into_iter().map(TracedTensor::from_tensor)))
}
