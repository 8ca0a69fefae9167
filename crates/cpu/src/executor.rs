//! [`Executor`]: what a compilation may use besides the operations' own kernels.

use crate::kernel::{Kernel, Operands, Results, UsedResults};
use crate::lower::{lower, resolve};
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::{Code, Env, Error, Function, Op, Primitive, Result, Type, ops};
use cotangent_kernels::parallel::with_threads;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::sync::Arc;

/// Makes the kernel of an extension operation for operands of these types.
pub type Lower = dyn Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync;

/// Kernels of extension operations, by name, and how many threads may run. Operations without a
/// kernel run by their `eval`.
#[derive(Clone, Default)]
pub struct Executor {
    extensions: FxHashMap<String, Arc<Lower>>,
    /// The first kernel that cannot be used.
    refused: Option<Error>,
    stepwise: bool,
    threads: Threads,
}

/// The most threads of a run; as many as the process uses if none is said.
#[derive(Clone, Copy, Default)]
pub(crate) struct Threads(Option<usize>);

impl Threads {
    /// Calls `f`, whose kernels use so many.
    pub(crate) fn limit<R>(self, f: impl FnOnce() -> R) -> R {
        match self.0 {
            Some(n) => with_threads(n, f),
            None => f(),
        }
    }
}

impl Executor {
    /// No kernels but our own.
    pub fn new() -> Executor {
        Executor::default()
    }

    /// Adds the kernel of an extension operation (builder style). Core operations have their own: a
    /// kernel under the name of one would never run, so nothing runs on this executor then
    /// ([`Executor::check`]).
    pub fn with_kernel(
        mut self,
        name: &str,
        lower: impl Fn(&dyn Primitive, &[Type]) -> Result<Kernel> + Send + Sync + 'static,
    ) -> Executor {
        if ops::entries().iter().any(|e| e.name == name) {
            let text = format!(
                "a kernel for `{name}` would never run: that is an operation of the core, which has its own; give the \
                 operation of yours another name"
            );
            self.refused
                .get_or_insert_with(|| Error::new(Code::DuplicateName, text));
            return self;
        }
        self.extensions.insert(name.into(), Arc::new(lower));
        self
    }

    /// Whether all kernels can be used; an error that names the first one that cannot.
    pub fn check(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Programs over a few elements run like all others (builder style). They give the same bits,
    /// later.
    pub fn stepwise(self) -> Executor {
        Executor {
            stepwise: true,
            ..self
        }
    }

    /// Programs and operations use at most `n` threads, at least one (builder style). The bits do
    /// not depend on it.
    pub fn with_threads(self, n: usize) -> Executor {
        Executor {
            threads: Threads(Some(n.max(1))),
            ..self
        }
    }

    /// The limit that was asked for.
    pub fn threads(&self) -> Option<usize> {
        self.threads.0
    }

    pub(crate) fn limit(&self) -> Threads {
        self.threads
    }

    pub(crate) fn is_stepwise(&self) -> bool {
        self.stepwise
    }

    /// The program of a function: O(equations), bodies once each.
    pub fn compile(&self, f: &Arc<Function>) -> Result<Program> {
        self.check()?;
        Program::compile(
            &Compiler {
                executor: self,
                bodies: RefCell::default(),
            },
            f,
            None,
        )
    }

    /// Runs one operation at once: its type rule, its kernel. `env` gives the symbols of its
    /// attributes.
    pub fn apply(&self, op: &Op, x: Operands, env: &Env) -> Result<Results> {
        self.check()?;
        if let Some(y) = crate::small::apply(op, &x) {
            return Ok(smallvec![y]);
        }
        self.threads.limit(|| self.apply_prepared(op, x, env))
    }

    /// As [`Executor::apply`], where a kernel has to be chosen.
    fn apply_prepared(&self, op: &Op, x: Operands, env: &Env) -> Result<Results> {
        let resolved = (!env.is_empty()).then(|| resolve(op, env));
        let op = resolved.as_ref().unwrap_or(op);
        let types: SmallVec<[Type; 3]> = x.iter().map(Tensor::ty).collect();
        op.infer(&types)?;
        if let Some(fused) = crate::fused::cached(op, &x) {
            return fused.run(env, x);
        }
        lower(
            &Compiler {
                executor: self,
                bodies: RefCell::default(),
            },
            op,
            &types,
            UsedResults::ALL,
        )?(env, x)
    }

    pub(crate) fn kernel(&self, op: &dyn Primitive, x: &[Type]) -> Result<Option<Kernel>> {
        self.extensions
            .get(op.name())
            .map(|lower| lower(op, x))
            .transpose()
    }
}

/// One compilation: bodies that several equations share are compiled once.
pub(crate) struct Compiler<'a> {
    pub(crate) executor: &'a Executor,
    /// By function, and how many inputs are the same if it is run again and again.
    bodies: RefCell<FxHashMap<(*const Function, Option<usize>), Arc<Program>>>,
}

impl Compiler<'_> {
    /// The program of a body.
    pub(crate) fn body(&self, f: &Arc<Function>) -> Result<Arc<Program>> {
        self.program(f, None)
    }

    /// The program of a loop's body, of which so many first inputs are the same in each step.
    pub(crate) fn looped(&self, f: &Arc<Function>, consts: usize) -> Result<Arc<Program>> {
        self.program(f, Some(consts))
    }

    fn program(&self, f: &Arc<Function>, looped: Option<usize>) -> Result<Arc<Program>> {
        // The program keeps the function alive, so no other one gets its address.
        let key = (Arc::as_ptr(f), looped);
        if let Some(p) = self.bodies.borrow().get(&key) {
            return Ok(p.clone());
        }
        let p = Arc::new(Program::compile(self, f, looped)?);
        self.bodies.borrow_mut().insert(key, p.clone());
        Ok(p)
    }
}
