//! Compilation of functions, and operations run eagerly, with the kernels of all operations.

use crate::checks::resolve;
use crate::compiler::Compiler;
use crate::executor::Executor;
use crate::interrupt::{catch, is_active};
use crate::kernel::{Operands, Results, UsedResults};
use crate::lower::{LOWERING, lower};
use crate::maps;
use crate::nests::lower::Role;
use crate::plan::Plan;
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::rewrite::with_simple_loops;
use cotangent_core::{Array, Env, Function, Op, Result, Type};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The plan of a function as text, for extents of symbols, with row-major arguments: its steps, the
/// place of each value, calls with their reasons, and the bytes of the arena.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Env, Type, transform::Session};
/// let b = Builder::new("f", Session::default());
/// let x = b.param(Type::new(DType::F32, [2, 3]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.exp(cx.reduce_sum(cx.exp(x), &[1]));
/// let f = b.finish(&[y]).unwrap();
/// let text = cotangent_cpu::plan_text(&f.into(), &Env::default()).unwrap();
/// assert!(text.contains("arena 0 B; 3 of 3 equations without a call"), "{text}");
/// ```
pub fn plan_text(f: &Arc<Function>, env: &Env) -> Result<String> {
    plan_of(f)?.text(env)
}

/// The plan of a function with the built-in kernels only.
pub(crate) fn plan_of(f: &Arc<Function>) -> Result<Plan> {
    let executor = Executor::new();
    Compiler::new(&executor, &LOWERING).plan(f, Role::Whole)
}

/// Compiles a function with the built-in kernels only.
pub fn compile(f: &Arc<Function>) -> Result<Program> {
    Executor::new().compile(f)
}

/// Runs a program; see [`Program::run`].
pub fn run(program: &Program, inputs: &[Array]) -> Result<Vec<Array>> {
    program.run(inputs)
}

impl Executor {
    /// Compiles a function, in O(equations). A region shared by several equations is compiled once.
    /// Returns an error if it has values of an opaque type.
    pub fn compile(&self, f: &Arc<Function>) -> Result<Program> {
        self.check()?;
        f.check_arrays()?;
        let f = &with_simple_loops(f);
        Compiler::new(self, &LOWERING).program(f, Role::Whole)
    }

    /// Runs one operation eagerly: checks its type rule, then runs its kernel. `env` binds the
    /// symbols of its attributes.
    pub fn apply(&self, op: &Op, x: Operands, env: &Env) -> Result<Results> {
        self.check()?;
        let run = || match maps::known(op, &x) {
            Some(map) => Ok(smallvec![map.run(x)?]),
            None => self.apply_prepared(op, x, env),
        };
        self.limits().apply(|| match is_active() {
            true => catch(run),
            false => run(),
        })
    }

    /// Slow path of [`Executor::apply`]: selects and prepares a kernel.
    fn apply_prepared(&self, op: &Op, x: Operands, env: &Env) -> Result<Results> {
        let resolved = (!env.is_empty()).then(|| resolve(op, env));
        let op = resolved.as_ref().unwrap_or(op);
        let types: SmallVec<[Type; 3]> = x.iter().map(Tensor::ty).collect();
        op.infer(&types)?.iter().try_for_each(Type::check_array)?;
        if let Some(map) = maps::kept(op, &x) {
            return Ok(smallvec![map.run(x)?]);
        }
        lower(
            &Compiler::new(self, &LOWERING),
            op,
            &types,
            UsedResults::ALL,
        )?(env, x)
    }
}

impl Program {
    /// Compiles a copy of a function; [`compile`] shares the function instead.
    pub fn new(f: &Function) -> Result<Program> {
        compile(&Arc::new(f.clone()))
    }
}
