//! [`GraphCompiler`]: what tensors need becomes a program.

use super::cache::{Cache, CacheStats};
use super::{Kind, Trace, TracedTensor, fresh_id};
use crate::{Function, Result, Tensor, bail, rewrite};
use std::sync::{Arc, Mutex, MutexGuard};

/// Programs that a compiler keeps unless it is told otherwise.
const LIMIT: usize = 256;

/// A program: a simplified function, and what its parameters are bound to. Cheap to clone; runs any number of times.
///
/// ```
/// use cotangent::{DType, GraphCompiler, TracedTensor};
/// let x = TracedTensor::input(DType::F64, [2]);
/// let program = GraphCompiler::new().compile_many(&[&x.exp(), &x.sin()])?;
/// assert_eq!((program.outputs(), program.inputs().len()), (2, 1));
/// assert!(program.inputs()[0].same(&x));
/// assert_eq!(program.function().result_types().len(), 2);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct GraphProgram(Arc<Program>);

struct Program {
    id: u64,
    function: Arc<Function>,
    params: Vec<TracedTensor>,
}

impl GraphProgram {
    pub(super) fn id(&self) -> u64 {
        self.0.id
    }

    /// The function that runs: its parameters are the arrays and placeholders that the results need.
    pub fn function(&self) -> &Arc<Function> {
        &self.0.function
    }

    /// Number of results.
    pub fn outputs(&self) -> usize {
        self.0.function.results().len()
    }

    /// The placeholders whose arrays the caller must pass, in the order they were made.
    pub fn inputs(&self) -> Vec<TracedTensor> {
        self.0.params.iter().filter(|p| !p.is_concrete()).cloned().collect()
    }

    /// An array per parameter: what the caller passed, or what the trace knows.
    pub(super) fn arguments(&self, passed: &[(&TracedTensor, &Tensor)]) -> Result<Vec<Tensor>> {
        if let Some((t, _)) = passed.iter().find(|(t, _)| !matches!(t.node.kind, Kind::Input(_) | Kind::Value(_))) {
            bail!(ForeignValue, "{t:?} is computed: only placeholders and arrays can be given another array");
        }
        let mut all = Vec::with_capacity(self.0.params.len());
        for (k, p) in self.0.params.iter().enumerate() {
            all.push(match (passed.iter().find(|(t, _)| t.same(p)), &p.node.kind) {
                (Some((_, t)), _) => (*t).clone(),
                (None, Kind::Value(t)) => t.clone(),
                (None, _) => {
                    return Err(crate::Error::new(
                        crate::Code::Unbound,
                        format!(
                            "the placeholder {p:?} (parameter {k}) has no array: pass it with run_with_inputs(&program, \
                             &[(&x, &tensor)])"
                        ),
                    )
                    .at(p.node.loc));
                }
            });
        }
        Ok(all)
    }
}

/// Turns traced tensors into programs, and keeps those that it made.
///
/// ```
/// use cotangent::{GraphCompiler, GraphExecutor, TracedTensor};
/// let compiler = GraphCompiler::new();
/// compiler.set_cache_limit(16);
/// let x = TracedTensor::from_vec_row_major([2], vec![1.0, 2.0]);
/// let program = compiler.compile(&(&x * &x).sum())?;
/// assert_eq!(GraphExecutor::default().run(&program)?.item::<f64>()?, 5.0);
/// compiler.clear_caches();
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct GraphCompiler {
    programs: Mutex<Cache<Vec<(u64, u32)>, GraphProgram>>,
}

impl Default for GraphCompiler {
    fn default() -> GraphCompiler {
        GraphCompiler::new()
    }
}

impl GraphCompiler {
    /// A compiler with an empty cache.
    pub fn new() -> GraphCompiler {
        GraphCompiler { programs: Mutex::new(Cache::new(LIMIT)) }
    }

    fn programs(&self) -> MutexGuard<'_, Cache<Vec<(u64, u32)>, GraphProgram>> {
        self.programs.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The program of one tensor, or the error that it carries.
    ///
    /// ```
    /// use cotangent::runtime::{GraphCompiler, TracedTensor};
    /// let x = TracedTensor::from_vec_col_major(vec![2], vec![1.0, 2.0]);
    /// let y = TracedTensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0]);
    /// let z = (&x + &y) * 2.0; // nothing happens here
    /// let e = GraphCompiler::new().compile(&z).err().unwrap();
    /// assert!(e.to_string().contains("`add` of f64[2] and f64[3]"), "{e}");
    /// assert!(e.to_string().contains(".rs:"), "{e}"); // the line of `+`
    /// ```
    pub fn compile(&self, output: &TracedTensor) -> Result<GraphProgram> {
        self.compile_many(&[output])
    }

    /// One program of several tensors, whose results come in this order. What they share is computed once.
    pub fn compile_many(&self, outputs: &[&TracedTensor]) -> Result<GraphProgram> {
        let key: Vec<(u64, u32)> = outputs.iter().map(|t| (t.node.id, t.index)).collect();
        if let Some(p) = self.programs().get(&key) {
            return Ok(p);
        }
        let Trace { function, params, .. } = Trace::of("main", outputs, &[])?;
        let function = Arc::new(rewrite::simplify(&function));
        let p = GraphProgram(Arc::new(Program { id: fresh_id(), function, params }));
        self.programs().insert(key, p.clone());
        Ok(p)
    }

    /// What the cache of programs holds and did.
    pub fn cache_stats(&self) -> CacheStats {
        self.programs().stats()
    }

    /// Keeps at most this many programs, those used last.
    pub fn set_cache_limit(&self, programs: usize) {
        self.programs().set_limit(programs);
    }

    /// Forgets all programs; those that were handed out still run.
    pub fn clear_caches(&self) {
        self.programs().clear();
    }
}
