//! [`Executor`]: a runtime of functions, and [`Compiled`]: a function that it prepared.

use crate::bail;
use crate::error::Result;
use crate::ir::Function;
use crate::shape::Type;
use std::sync::Arc;

/// A runtime: it runs functions on values of its own.
///
/// A [`Tape`](super::Tape) runs functions of few equations: the operations that were applied, and
/// those that their rules write. An executor of programs compiles a function, and runs it many
/// times. All functions are closed.
pub trait Executor {
    /// A value. Clones are cheap, or the tape copies what derivatives need.
    type Value: Clone;

    /// The type of a value.
    fn ty(&self, v: &Self::Value) -> Type;

    /// Runs a function on one value per parameter. Returns one value per result.
    fn run(&mut self, f: &Function, x: &[Self::Value]) -> Result<Vec<Self::Value>>;

    /// Compiles a function that runs many times. By default nothing is prepared: a clone of the
    /// executor runs the function each time.
    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Self::Value>>
    where
        Self: Clone + Send + Sync + 'static,
    {
        let (executor, function) = (self.clone(), f.clone());
        let run = move |x: Vec<Self::Value>| executor.clone().run(&function, &x);
        Ok(Compiled::new(f, run))
    }
}

/// A function that an [`Executor`] compiled.
///
/// ```
/// use cotangent_core::tape::Compiled;
/// use cotangent_core::{Array, Function, reference};
/// use std::sync::Arc;
/// let empty = Arc::new(Function::default());
/// let f = empty.clone();
/// let compiled = Compiled::new(&empty, move |x: Vec<Array>| reference::run(&f, &x));
/// assert_eq!(compiled.run(Vec::new())?, []);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub struct Compiled<V> {
    function: Arc<Function>,
    run: Box<RunFunction<V>>,
}

/// Runs a function on one value per parameter. Returns one value per result.
type RunFunction<V> = dyn Fn(Vec<V>) -> Result<Vec<V>> + Send + Sync;

impl<V> Compiled<V> {
    /// The compiled form of a function, as a closure that runs it.
    pub fn new(
        f: &Arc<Function>,
        run: impl Fn(Vec<V>) -> Result<Vec<V>> + Send + Sync + 'static,
    ) -> Compiled<V> {
        Compiled {
            function: f.clone(),
            run: Box::new(run),
        }
    }

    /// Runs it on one value per parameter. Returns one value per result. An error if the executor
    /// returned another number of values.
    pub fn run(&self, x: Vec<V>) -> Result<Vec<V>> {
        check_count(&self.function, (self.run)(x)?)
    }
}

/// The values, if there is one per result of the function.
pub(super) fn check_count<V>(f: &Function, y: Vec<V>) -> Result<Vec<V>> {
    if y.len() != f.results().len() {
        bail!(
            Arity,
            "the executor returned {} values for the {} results of `{}`",
            y.len(),
            f.results().len(),
            f.name
        );
    }
    Ok(y)
}
