//! [`GraphExecutor`]: runs programs on a backend.

use super::cache::{Cache, CacheStats};
use super::{GraphProgram, TracedTensor};
use crate::cpu::CpuBackend;
use crate::here::{AtCaller, bail_here};
use crate::{Result, Tensor};
use cotangent_core::tape::{Compiled, Executor};
use std::sync::Arc;

/// Default limit of the compiled programs that an executor caches.
const DEFAULT_COMPILED_PROGRAMS: usize = 256;

/// Runs programs on a backend, and caches their compiled form.
///
/// A backend is an [`Executor`] whose values are tensors: [`CpuBackend`], or a type of your own.
///
/// ```
/// use cotangent::{CpuBackend, GraphCompiler, GraphExecutor, TracedTensor};
/// let x = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
/// let program = GraphCompiler::new().compile_many(&[&x.exp().log(), &x.sum(..)])?;
/// let executor = GraphExecutor::new(CpuBackend::new());
/// for _ in 0..2 {
///     assert_eq!(executor.run_many(&program)?[1].item::<f64>()?, 3.0);
/// }
/// let stats = executor.cache_stats();
/// assert_eq!((stats.entries, stats.misses, stats.hits), (1, 1, 1));
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// ```
/// use cotangent::runtime::Executor;
/// use cotangent::{Array, Function, GraphCompiler, GraphExecutor, Result, Tensor, TracedTensor, Type, reference};
/// /// The reference evaluation as a backend.
/// #[derive(Clone)]
/// struct Reference;
/// impl Executor for Reference {
///     type Value = Tensor;
///     fn ty(&self, x: &Tensor) -> Type {
///         x.ty()
///     }
///     fn run(&mut self, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>> {
///         let x: Vec<Array> = x.iter().map(Tensor::to_array).collect::<Result<_>>()?;
///         Ok(reference::run(f, &x)?.into_iter().map(Tensor::from).collect())
///     }
/// }
/// let x = TracedTensor::vector(vec![1.0, 2.0]);
/// let program = GraphCompiler::new().compile(&x.square().sum(..))?;
/// assert_eq!(GraphExecutor::new(Reference).run(&program)?.item::<f64>()?, 5.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct GraphExecutor<B = CpuBackend> {
    backend: B,
    compiled: Cache<u64, Arc<Compiled<Tensor>>>,
}

impl Default for GraphExecutor {
    fn default() -> GraphExecutor {
        GraphExecutor::new(CpuBackend::new())
    }
}

impl<B> GraphExecutor<B> {
    /// An executor on this backend.
    pub fn new(backend: B) -> GraphExecutor<B> {
        GraphExecutor {
            backend,
            compiled: Cache::new(DEFAULT_COMPILED_PROGRAMS),
        }
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Statistics of the cache of compiled programs.
    pub fn cache_stats(&self) -> CacheStats {
        self.compiled.stats()
    }

    /// Sets the maximum number of cached programs.
    pub fn set_cache_limit(&self, programs: usize) {
        self.compiled.set_limit(programs);
    }

    /// Removes all compiled programs from the cache.
    pub fn clear_caches(&self) {
        self.compiled.clear();
    }
}

impl GraphExecutor {
    /// Lets `f` add kernels of extension operations to the backend. Programs are compiled again.
    ///
    /// ```
    /// use cotangent::{CpuBackend, GraphExecutor};
    /// fn register(backend: &mut CpuBackend) -> cotangent::Result<()> {
    ///     backend.register_kernel("median_filter", |op, types| {
    ///         cotangent::bail!(NoRule, "`{}` of {types:?} is not written yet", op.name())
    ///     });
    ///     Ok(())
    /// }
    /// GraphExecutor::new(CpuBackend::new()).register_extension(register)?;
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn register_extension(
        &mut self,
        f: impl FnOnce(&mut CpuBackend) -> Result<()>,
    ) -> Result<()> {
        let mut backend = self.backend.clone();
        f(&mut backend).and_then(|()| backend.check()).at_caller()?;
        self.backend = backend;
        self.clear_caches();
        Ok(())
    }
}

impl<B> GraphExecutor<B>
where
    B: Executor<Value = Tensor> + Clone + Send + Sync + 'static,
{
    /// The only result of a program without placeholders.
    #[track_caller]
    pub fn run(&self, program: &GraphProgram) -> Result<Tensor> {
        self.run_with_inputs(program, &[])
    }

    /// The only result, with arrays for placeholders (or in place of arrays in the trace).
    #[track_caller]
    pub fn run_with_inputs(
        &self,
        program: &GraphProgram,
        inputs: &[(&TracedTensor, &Tensor)],
    ) -> Result<Tensor> {
        if program.outputs() != 1 {
            bail_here!(
                Arity,
                "the program has {} results: run it with run_many",
                program.outputs()
            );
        }
        Ok(self.run_many_with_inputs(program, inputs)?.remove(0))
    }

    /// All results of a program without placeholders.
    #[track_caller]
    pub fn run_many(&self, program: &GraphProgram) -> Result<Vec<Tensor>> {
        self.run_many_with_inputs(program, &[])
    }

    /// All results, with arrays for placeholders (or in place of arrays in the trace). Without
    /// `inputs` the tensors of the program store their arrays, and are not computed again. Errors:
    /// an array without the type of its placeholder, a placeholder that is given twice or belongs
    /// to another program, and different extents for one symbol.
    #[track_caller]
    pub fn run_many_with_inputs(
        &self,
        program: &GraphProgram,
        inputs: &[(&TracedTensor, &Tensor)],
    ) -> Result<Vec<Tensor>> {
        let (arguments, orders) = program.arguments(inputs).at_caller()?;
        let known = self.compiled.get(&program.id());
        let compiled = match known {
            Some(p) => p,
            None => {
                let p = Arc::new(self.backend.compile(program.function()).at_caller()?);
                self.compiled.insert(program.id(), p.clone());
                p
            }
        };
        let results: Vec<Tensor> = compiled
            .run(arguments)
            .at_caller()?
            .into_iter()
            .zip(&*orders)
            .map(|(t, &given)| Tensor::computed(t.into_view(), given))
            .collect::<Result<_>>()
            .at_caller()?;
        if inputs.is_empty() {
            program.store(&results, &orders)?;
        }
        Ok(results)
    }
}
