//! [`GraphCompiler`]: converts the part of a trace that some tensors need to a program.

use super::cache::{Cache, CacheStats};
use super::node::has_extent;
use super::{Orders, Trace, TraceNode, TraceNodeKind, TracedTensor, fresh_id};
use crate::here::AtCaller;
use crate::tensor::Given;
use crate::{Function, Result, Sym, Tensor, Type, bail, rewrite};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// Default limit of the programs that a compiler caches.
const DEFAULT_CACHED_PROGRAMS: usize = 256;

/// A program: a simplified function, and the tensors that its parameters are bound to. Cheap to
/// clone. It runs any number of times.
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
    orders: Arc<Orders>,
    outputs: Vec<WeakTensor>,
}

/// Node and index of a tensor, which the program does not keep alive.
type WeakTensor = (Weak<TraceNode>, u32);

fn weak(t: &TracedTensor) -> WeakTensor {
    (Arc::downgrade(&t.node), t.index)
}

fn strong((node, i): &WeakTensor) -> Option<TracedTensor> {
    Some(TracedTensor::result(node.upgrade()?, *i as usize))
}

/// Arrays, and the memory orders of the results that are computed from them: first those that
/// callers get, then those that the results pass on in the trace (see [`TracedTensor::array`]).
type Arguments = (Vec<Tensor>, Arc<[Given]>);

impl GraphProgram {
    pub(super) fn id(&self) -> u64 {
        self.0.id
    }

    /// The function that runs: its parameters are the arrays and placeholders that the results
    /// need.
    pub fn function(&self) -> &Arc<Function> {
        &self.0.function
    }

    /// Number of results.
    pub fn outputs(&self) -> usize {
        self.0.function.results().len()
    }

    /// The placeholders whose arrays the caller must pass, in order of creation.
    pub fn inputs(&self) -> Vec<TracedTensor> {
        self.0
            .params
            .iter()
            .filter(|p| !p.is_concrete())
            .cloned()
            .collect()
    }

    /// The tensors of the parameters of [`GraphProgram::function`], in order: placeholders, and
    /// values whose arrays the program reads from the trace.
    ///
    /// ```
    /// use cotangent::{DType, GraphCompiler, TracedTensor};
    /// let (a, x) = (TracedTensor::scalar(2.0), TracedTensor::input(DType::F64, []));
    /// let program = GraphCompiler::new().compile(&(&x * &a))?;
    /// let parameters = program.parameters();
    /// assert!(parameters[0].same(&a) && parameters[1].same(&x));
    /// assert_eq!(program.inputs().len(), 1);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn parameters(&self) -> &[TracedTensor] {
        &self.0.params
    }

    /// Stores the arrays of its results, which a run computed from the arrays in the trace. The
    /// orders are those of [`GraphProgram::arguments`].
    pub(super) fn store(&self, results: &[Tensor], orders: &[Given]) -> Result<()> {
        let own = &orders[results.len()..];
        for ((t, array), &given) in self.0.outputs.iter().zip(results).zip(own) {
            if let Some(t) = strong(t) {
                t.store(Tensor::computed(array.view().clone(), given)?);
            }
        }
        Ok(())
    }

    /// An array per parameter: the one that the caller passed, or the one in the trace.
    #[track_caller]
    pub(super) fn arguments(&self, passed: &[(&TracedTensor, &Tensor)]) -> Result<Arguments> {
        let params = &self.0.params;
        let mut given: Vec<Option<&Tensor>> = vec![None; params.len()];
        let (mut others, mut sizes) = (Vec::new(), Vec::<(&TracedTensor, &Tensor)>::new());
        for (t, array) in passed {
            if !matches!(
                t.node.kind,
                TraceNodeKind::Input(_) | TraceNodeKind::Value(_)
            ) {
                bail!(
                    ForeignValue,
                    "{} is computed: only placeholders and arrays can be given another array",
                    t.described()
                );
            }
            // Another array in place of one that the parameters were computed from has no effect.
            let computed = |p: &&TracedTensor| p.node.ancestors().is_some_and(|a| a.has(&t.node));
            if !t.node.open
                && let Some(p) = params.iter().find(computed)
            {
                bail!(
                    GraphFreed,
                    "{} is given another array, but the program reads an array that was computed from it at {}",
                    t.described(),
                    p.node.loc
                );
            }
            // Parameters are sorted by order of creation.
            let twice = match params
                .binary_search_by_key(&(t.node.id, t.index), |p| (p.node.id, p.index))
            {
                Ok(k) => given[k].replace(array).is_some(),
                Err(_) => match self.0.orders.accepts(t, array) {
                    Some(k) => {
                        let k = k?;
                        others.push((k, array.given()));
                        others[..others.len() - 1].iter().any(|o| o.0 == k)
                    }
                    // The placeholder is not read, but it shares symbolic extents with a parameter.
                    None if self.shares_extents(t) => {
                        sizes.push((*t, *array));
                        sizes[..sizes.len() - 1].iter().any(|o| o.0.same(t))
                    }
                    None => {
                        let text = format!(
                            "{} is given an array, but is not an input of this program",
                            t.described()
                        );
                        return Err(
                            crate::Error::new(crate::Code::ForeignValue, text).at(t.node.loc)
                        );
                    }
                },
            };
            if twice {
                let text = format!("{} is given an array twice", t.described());
                return Err(crate::Error::new(crate::Code::DuplicateName, text).at(t.node.loc));
            }
        }
        let (mut all, mut orders) = (Vec::with_capacity(params.len()), Vec::new());
        for (k, (p, array)) in params.iter().zip(given).enumerate() {
            let stored = || p.array();
            let Some(array) = array.or_else(stored) else {
                return Err(without_array(p, k));
            };
            all.push(array.clone());
            orders.push(array.given());
        }
        for (t, array) in sizes {
            self.check_extents(t, array, &all)?;
        }
        let orders = self.0.orders.results(orders.into_iter(), &others);
        Ok((all, orders))
    }

    /// Whether a tensor shares a symbolic extent with a parameter.
    fn shares_extents(&self, t: &TracedTensor) -> bool {
        let mut shared = false;
        t.node.types[t.index as usize].syms(&mut |s| {
            shared |= self
                .0
                .params
                .iter()
                .any(|p| has_extent(&p.node.types[p.index as usize], s));
        });
        shared
    }

    /// Checks that the extents of an array equal those of the arguments wherever they share a
    /// symbol.
    fn check_extents(&self, t: &TracedTensor, array: &Tensor, arguments: &[Tensor]) -> Result<()> {
        let want = &t.node.types[t.index as usize];
        let of = |ty: &Type, x: &Tensor, s: &Sym| {
            ty.shape
                .iter()
                .zip(x.shape())
                .find(|d| d.0.as_sym() == Some(s))
                .map(|d| *d.1)
        };
        let differs = |s: &Sym, n: usize| {
            let params = self.0.params.iter().zip(arguments);
            params
                .filter_map(|(p, x)| of(&p.node.types[p.index as usize], x, s))
                .any(|m| m != n)
        };
        let fits = want.rank() == array.rank()
            && want.dtype == array.dtype()
            && want
                .shape
                .iter()
                .zip(array.shape())
                .all(|(d, &n)| d.as_sym().is_none_or(|s| !differs(s, n)));
        if !fits {
            bail!(
                ShapeMismatch,
                "{} got {}, whose extents differ from those of other inputs with the same symbols",
                t.described(),
                array.ty()
            );
        }
        Ok(())
    }
}

/// A function as a hash key, compared by structure.
#[derive(Clone)]
struct FunctionKey(Arc<Function>, u64);

impl PartialEq for FunctionKey {
    fn eq(&self, o: &FunctionKey) -> bool {
        self.1 == o.1 && (Arc::ptr_eq(&self.0, &o.0) || self.0.same(&o.0))
    }
}

impl Eq for FunctionKey {}

impl Hash for FunctionKey {
    fn hash<H: Hasher>(&self, h: &mut H) {
        h.write_u64(self.1);
    }
}

/// A simplified function, with its number.
type Simplified = (u64, Arc<Function>);

/// Keys of tensors: node and index of each, and of the tensor that determines its memory order.
type Ids = Vec<[(u64, u32); 2]>;

/// A program with weak references to its tensors.
#[derive(Clone)]
struct WeakProgram {
    made: Simplified,
    params: Vec<WeakTensor>,
    orders: Arc<Orders>,
    outputs: Vec<WeakTensor>,
}

impl WeakProgram {
    fn of(p: &Program) -> WeakProgram {
        WeakProgram {
            made: (p.id, p.function.clone()),
            params: p.params.iter().map(weak).collect(),
            orders: p.orders.clone(),
            outputs: p.outputs.clone(),
        }
    }

    /// The program, if all tensors that it reads are alive.
    fn program(self) -> Option<GraphProgram> {
        let params = self.params.iter().map(strong).collect::<Option<_>>()?;
        let (id, function) = self.made;
        Some(GraphProgram(Arc::new(Program {
            id,
            function,
            params,
            orders: self.orders,
            outputs: self.outputs,
        })))
    }
}

/// Compiles traced tensors to programs. The cache compares programs by structure: the same
/// expression over other arrays is found there. The cache holds no array.
///
/// ```
/// use cotangent::{GraphCompiler, GraphExecutor, TracedTensor};
/// let compiler = GraphCompiler::new();
/// compiler.set_cache_limit(16);
/// for k in 0..10 {
///     compiler.compile(&(TracedTensor::scalar(k as f64) * 2.0).exp())?;
/// }
/// assert_eq!((compiler.cache_stats().misses, compiler.cache_stats().hits), (1, 9));
/// let x = TracedTensor::from_vec_row_major([2], vec![1.0, 2.0]);
/// let program = compiler.compile(&(&x * &x).sum(..))?;
/// assert_eq!(GraphExecutor::default().run(&program)?.item::<f64>()?, 5.0);
/// compiler.clear_caches();
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct GraphCompiler {
    /// Programs by structure, so that the same expression, traced again, is a hit.
    programs: Cache<FunctionKey, Simplified>,
    /// Programs by tensors, so that tensors that are compiled again need no traversal. Holds no
    /// array.
    known: Cache<Ids, WeakProgram>,
}

impl Default for GraphCompiler {
    fn default() -> GraphCompiler {
        GraphCompiler::new()
    }
}

impl GraphCompiler {
    /// A compiler with an empty cache.
    pub fn new() -> GraphCompiler {
        GraphCompiler {
            programs: Cache::new(DEFAULT_CACHED_PROGRAMS),
            known: Cache::new(DEFAULT_CACHED_PROGRAMS),
        }
    }

    /// The program of one tensor, or the error that it carries.
    ///
    /// ```
    /// use cotangent::runtime::{GraphCompiler, TracedTensor};
    /// let x = TracedTensor::from_vec_col_major(vec![2], vec![1.0, 2.0]);
    /// let y = TracedTensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0]);
    /// let z = (&x + &y) * 2.0; // nothing runs here
    /// let e = GraphCompiler::new().compile(&z).err().unwrap();
    /// assert!(e.to_string().contains("`add` of f64[2] and f64[3]"), "{e}");
    /// assert!(e.to_string().contains(".rs:"), "{e}"); // the line of `+`
    /// ```
    #[track_caller]
    pub fn compile(&self, output: &TracedTensor) -> Result<GraphProgram> {
        self.compile_many(&[output])
    }

    /// One program of several tensors, with results in this order. Shared values are computed once.
    #[track_caller]
    pub fn compile_many(&self, outputs: &[&TracedTensor]) -> Result<GraphProgram> {
        let ids: Ids = outputs.iter().map(|t| t.ids()).collect();
        if let Some(p) = self.known.peek(&ids).and_then(WeakProgram::program) {
            self.programs.count(true);
            return Ok(p);
        }
        let p = self.compile_trace(outputs, Trace::of("main", outputs, &[]).at_caller()?);
        self.known.insert(ids, WeakProgram::of(&p.0));
        Ok(p)
    }

    /// The program of tensors, with all stored arrays as parameters.
    pub(super) fn compile_from_arrays(&self, outputs: &[&TracedTensor]) -> Result<GraphProgram> {
        let trace = Trace::of_arrays("main", outputs)?;
        Ok(self.compile_trace(outputs, trace))
    }

    fn compile_trace(&self, outputs: &[&TracedTensor], trace: Trace) -> GraphProgram {
        let Trace {
            function, params, ..
        } = trace;
        let own: Vec<TracedTensor> = outputs.iter().map(|t| t.without_order()).collect();
        let of: Vec<&TracedTensor> = outputs.iter().copied().chain(&own).collect();
        let orders = Arc::new(Orders::of(&of, &params));
        // Names of unknown extents differ from trace to trace.
        let function = function.with_numbered_symbols();
        let fingerprint = function.fingerprint();
        let written = FunctionKey(Arc::new(function), fingerprint);
        let (id, function) = match self.programs.get(&written) {
            Some(made) => made,
            None => {
                let made = (fresh_id(), Arc::new(rewrite::simplify(&written.0)));
                self.programs.insert(written, made.clone());
                made
            }
        };
        GraphProgram(Arc::new(Program {
            id,
            function,
            params,
            orders,
            outputs: outputs.iter().map(|t| weak(t)).collect(),
        }))
    }

    /// Statistics of the cache of programs.
    pub fn cache_stats(&self) -> CacheStats {
        self.programs.stats()
    }

    /// Sets the maximum number of cached programs.
    pub fn set_cache_limit(&self, programs: usize) {
        self.programs.set_limit(programs);
        self.known.set_limit(programs);
    }

    /// Removes all programs from the cache. Programs that callers hold still run.
    pub fn clear_caches(&self) {
        self.programs.clear();
        self.known.clear();
    }
}

/// The error for parameter `k` without an array.
fn without_array(p: &TracedTensor, k: usize) -> crate::Error {
    let described = p.described();
    if p.node.of_closure {
        let text = format!(
            "{described} is the argument of a closure that is being traced; its value is not known here. \
             Use cond or select to choose by it; return it to see it"
        );
        let closure = format!("the closure: {}", p.node.loc);
        return crate::Error::new(crate::Code::Unbound, text).note(closure);
    }
    let text = format!(
        "the placeholder {described} (parameter {k}) has no array: pass it with run_with_inputs(&program, \
         &[(&x, &tensor)])"
    );
    crate::Error::new(crate::Code::Unbound, text).at(p.node.loc)
}
