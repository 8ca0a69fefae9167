//! [`Program`]: a compiled function: kernels in execution order, with a slot for every live value.
//!
//! Dead equations are removed, and elementwise equations run in groups (`fuse`). A
//! value is moved out of its slot at its last use, so the kernel owns it and may write its result
//! over it. One program serves every size of its symbols: extents come from the arguments.
//! Equalities of extents that the graph could only assume are checked in each run, by the type
//! rule.
//!
//! Recursion depth is that of nested bodies and does not depend on the number of equations.

use crate::checks::{check_types, first_read, needs_check};
use crate::executor::{Compiler, Executor, RunLimits};
use crate::fuse::{Node, plan};
use crate::interrupt::{catch, interrupted, is_active, spend, step_work};
use crate::kernel::{Kernel, Operands, Results, Sizes, UsedResults, elements};
use crate::lower::{lower, nested, product};
use crate::nests::nest::Why;
use crate::plan::control::DirectProgram;
use crate::plan::{Kernels, Plan, RunObserver, Runtime};
use crate::raw::{Raw, RawMut};
use crate::tensor::{Extents, Strides, Tensor, copied};
use cotangent_core::graph::{Def, Eqn};
use cotangent_core::{
    Array, Code, DType, Env, Error, Function, Result, Sym, Type, Val, bail, reference,
};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// A compiled function.
pub struct Program {
    function: Arc<Function>,
    params: Vec<Param>,
    /// Symbols, each with the parameter and axis that bind it.
    symbols: Vec<(Sym, usize, usize)>,
    steps: Vec<Step>,
    /// Operand and result slots of all steps, concatenated.
    pool: Vec<Slot>,
    results: Vec<Slot>,
    slots: usize,
    limits: RunLimits,
    /// The plan that runs instead of steps.
    plan: Option<Arc<Plan>>,
    /// The plan in place, if every value is small.
    direct: Option<DirectProgram>,
    /// The program whose results are compared with those of this one.
    other: Option<Box<Program>>,
}

struct Param {
    dtype: DType,
    shape: Sizes,
    slot: Slot,
}

/// One equation or one fused group.
struct Step {
    kernel: Kernel,
    /// Index of the equation; of the last one for a group.
    eqn: u32,
    /// Indices into `pool`: start of the operands, start of the results, end of the results.
    bounds: [u32; 3],
    /// Whether the type rule is checked in each run with the actual sizes.
    check: bool,
    /// Whether the equation defines symbols.
    binds: bool,
}

/// Index of a value's slot, with the flag [`Slot::LAST`].
#[derive(Clone, Copy)]
struct Slot(u32);

impl Slot {
    /// Slot of an unused value.
    const NONE: Slot = Slot(u32::MAX);
    /// Flag of the last use of the value.
    const LAST: u32 = 1 << 31;

    fn index(self) -> usize {
        (self.0 & !Slot::LAST) as usize
    }

    fn read(self, slots: &mut [Option<Tensor>]) -> Tensor {
        let slot = &mut slots[self.index()];
        let value = if self.0 & Slot::LAST != 0 {
            slot.take()
        } else {
            slot.clone()
        };
        value.expect("values are read after they are written and before their last use")
    }

    fn write(self, slots: &mut [Option<Tensor>], value: Tensor) {
        if self.0 != Slot::NONE.0 {
            slots[self.index()] = Some(value);
        }
    }
}

/// Allocator of slots.
#[derive(Default)]
struct Slots {
    of: Vec<Slot>,
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    fn allocate(&mut self, v: Val) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of[v.index()] = Slot(slot);
        Slot(slot)
    }
}

/// The part that a function has in a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// A program.
    Whole,
    /// A region that runs once.
    Region,
    /// The body of a loop, with the number of leading inputs that are the same in each step.
    Looped(usize),
}

/// The plan of a function, if the compilation makes plans, or the reason for which it has none.
fn planned(cx: &Compiler<'_>, f: &Arc<Function>) -> Result<std::result::Result<Plan, Option<Why>>> {
    if cx.runtime != Runtime::New {
        return Ok(Err(None));
    }
    let kernels = Kernels {
        lower: &|op, types, used| lower(cx, op, types, used),
        nested: &|op| nested(cx, op),
        product: &product,
        extension: &|op| cx.executor.has_kernel(op),
    };
    Ok(Plan::new(f, &kernels)?.map_err(Some))
}

/// The results as arrays.
fn stored(results: &Results) -> Result<Vec<Array>> {
    results.iter().cloned().map(Tensor::into_array).collect()
}

/// The results of a program, which must have the bits of those of another runtime.
fn compared(f: &Function, old: Result<Results>, new: Result<Results>) -> Result<Results> {
    let (old, new) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(old), Err(new)) if old.code() == new.code() => return Err(old),
        // A view of few elements that cannot be stored as a whole.
        (Ok(old), Err(new)) if stored(&old).is_err_and(|e| e.code() == new.code()) => {
            return Ok(old);
        }
        (old, new) => {
            let text = |r: Result<Results>| r.map_or_else(|e| e.to_string(), |_| "results".into());
            let (old, new) = (text(old), text(new));
            bail!(
                Invalid,
                "the runtimes differ in `{}`: {old}; the new one: {new}",
                f.name
            )
        }
    };
    for (k, (x, y)) in old.iter().zip(&new).enumerate() {
        let (x, y) = (x.clone().into_array()?, y.clone().into_array()?);
        if !x.same_bits(&y) {
            let v = f.results()[k];
            let what = match f.def(v) {
                Def::Eqn(e) => format!("equation {e} (`{}`)", f.eqns()[e].op.name()),
                _ => "an argument".to_owned(),
            };
            bail!(
                Invalid,
                "the runtimes differ in `{}`, result {k}, {} by {what}: {x:?}; the new one: {y:?}",
                f.name,
                f.show(v)
            );
        }
    }
    Ok(old)
}

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
/// let text = cotangent_cpu::program::plan_text(&f.into(), &Env::default()).unwrap();
/// assert!(text.contains("arena 0 B; 3 of 3 equations without a call"), "{text}");
/// ```
pub fn plan_text(f: &Arc<Function>, env: &Env) -> Result<String> {
    plan_of(f)?.text(env)
}

/// The plan of a function with the built-in kernels only.
pub(crate) fn plan_of(f: &Arc<Function>) -> Result<Plan> {
    let executor = Executor::new();
    let cx = Compiler::new(&executor, Runtime::New);
    planned(&cx, f)?.map_err(|why| {
        let why = why.map_or("not asked for", Why::text);
        Error::new(
            Code::Unsupported,
            format!("`{}` has no plan: {why}", f.name),
        )
    })
}

/// Compiles a function with the built-in kernels only.
pub fn compile(f: &Arc<Function>) -> Result<Program> {
    Executor::new().compile(f)
}

/// Runs a program; see [`Program::run`].
pub fn run(program: &Program, inputs: &[Array]) -> Result<Vec<Array>> {
    program.run(inputs)
}

impl Program {
    /// Compiles a copy of a function; [`compile`] shares the function instead.
    pub fn new(f: &Function) -> Result<Program> {
        compile(&Arc::new(f.clone()))
    }

    /// Compiles a function.
    #[expect(
        clippy::too_many_lines,
        reason = "passes over vectors that share the indices of one function"
    )]
    pub(crate) fn compile(cx: &Compiler<'_>, f: &Arc<Function>, role: Role) -> Result<Program> {
        // The last step that reads each value; results are read after the last step.
        const UNREAD: u32 = u32::MAX;
        let need = f.needed(None);
        let live = |e: &Eqn| e.results().any(|r| need[r.index()]);
        let plan_of_f = planned(cx, f)?.ok().map(Arc::new);
        // Plans run the plans of regions in place.
        let direct = match role == Role::Whole && !cx.executor.is_stepwise() {
            true => plan_of_f.as_ref().and_then(DirectProgram::new),
            false => None,
        };
        let nodes = match plan_of_f.is_some() {
            true => Vec::new(),
            false => plan(f, live, true),
        };
        let mut last = vec![UNREAD; f.len()];
        for (i, node) in nodes.iter().enumerate() {
            match node {
                Node::Single(e) => f
                    .operands(&f.eqns()[*e])
                    .iter()
                    .for_each(|v| last[v.index()] = i as u32),
                Node::Group(g) => g.reads().for_each(|v| last[v.index()] = i as u32),
            }
        }
        let end = nodes.len() as u32;
        f.results().iter().for_each(|v| last[v.index()] = end);

        let mut slots = Slots {
            of: vec![Slot::NONE; f.len()],
            ..Slots::default()
        };
        let (mut params, mut symbols) = (Vec::new(), Vec::<(Sym, usize, usize)>::new());
        for (i, &p) in f.params().iter().enumerate() {
            let ty = f.ty(p);
            let slot = if last[p.index()] == UNREAD {
                Slot::NONE
            } else {
                slots.allocate(p)
            };
            params.push(Param {
                dtype: ty.dtype,
                shape: Sizes::of(&ty.shape),
                slot,
            });
            for (axis, d) in ty.shape.iter().enumerate() {
                if let Some(s) = d.as_sym().filter(|s| symbols.iter().all(|(t, ..)| t != *s)) {
                    symbols.push((s.clone(), i, axis));
                }
            }
        }

        let (mut steps, mut pool) = (Vec::with_capacity(nodes.len()), Vec::new());
        let mut types = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            let start = pool.len() as u32;
            let ends = |v: Val| last[v.index()] == i as u32;
            let (eqn, results) = match node {
                Node::Single(eqn) => {
                    let e = &f.eqns()[*eqn];
                    read(&mut pool, &mut slots, f.operands(e), ends);
                    (*eqn, e.results().collect::<SmallVec<[Val; 4]>>())
                }
                Node::Group(g) => {
                    let reads: SmallVec<[Val; 4]> = g.reads().collect();
                    read(&mut pool, &mut slots, &reads, ends);
                    (g.last(), g.results().collect())
                }
            };
            let middle = pool.len() as u32;
            for r in results {
                pool.push(if last[r.index()] == UNREAD {
                    Slot::NONE
                } else {
                    slots.allocate(r)
                });
            }
            let e = &f.eqns()[eqn];
            types.clear();
            types.extend(f.operands(e).iter().map(|&v| f.ty(v).clone()));
            let (kernel, check) = match node {
                Node::Single(_) => {
                    let used = UsedResults::of(e.results().map(|r| last[r.index()] != UNREAD));
                    let used = first_read(f, e, live).map_or(used, |first| used.only(first));
                    (
                        lower(cx, &e.op, &types, used).map_err(|err| err.at(e.loc))?,
                        needs_check(f, e, &types),
                    )
                }
                Node::Group(g) => (g.lower(f).kernel(), false),
            };
            let bounds = [start, middle, pool.len() as u32];
            steps.push(Step {
                kernel,
                eqn: eqn as u32,
                bounds,
                check,
                binds: !e.op.binds().is_empty(),
            });
        }
        let mut results = Vec::with_capacity(f.results().len());
        if plan_of_f.is_none() {
            read(&mut results, &mut slots, f.results(), |_| true);
        }
        let slots = slots.count as usize;
        Ok(Program {
            function: f.clone(),
            params,
            symbols,
            steps,
            pool,
            results,
            slots,
            direct,
            limits: cx.executor.limits().clone(),
            plan: plan_of_f,
            other: None,
        })
    }

    /// Compares every run with one of another program of the same function.
    pub(crate) fn compared_with(self, other: Program) -> Program {
        Program {
            other: Some(Box::new(other)),
            ..self
        }
    }

    /// Live equations that a plan runs without a call of a kernel, and all live equations; `None`
    /// without a plan.
    #[doc(hidden)]
    pub fn plan_share(&self) -> Option<[usize; 2]> {
        let own = self.plan.as_ref().map(|p| p.share());
        own.or_else(|| self.other.as_ref()?.plan_share())
    }

    /// Operations with regions that a plan runs in place for these arguments, and all of them;
    /// `None` without a plan. Extents that data decides end the count.
    #[doc(hidden)]
    pub fn regions_in_place(&self, inputs: &[Tensor]) -> Option<Result<[usize; 2]>> {
        let Some(plan) = &self.plan else {
            return self.other.as_ref()?.regions_in_place(inputs);
        };
        let arguments: Vec<Strides> = inputs.iter().map(|x| x.strides().into()).collect();
        let outer = Env::default();
        let env = self.bind(inputs, &outer);
        Some(env.and_then(|env| plan.in_place(&arguments, &env)))
    }

    /// The compiled function.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Runs the program. Inputs are not modified; results that are views of inputs may share their
    /// buffers.
    ///
    /// Returns an error if an input does not have the type of its parameter, or if sizes that must
    /// be equal differ. Other errors are buffers that are too large and operations that fail on
    /// their data.
    pub fn run(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let results = self.call(inputs.iter().map(Tensor::from).collect(), &Env::default())?;
        results.into_iter().map(Tensor::into_array).collect()
    }

    /// Like [`Program::run`], for tensors.
    pub fn run_tensors(&self, inputs: impl IntoIterator<Item = Tensor>) -> Result<Vec<Tensor>> {
        Ok(self
            .call(inputs.into_iter().collect(), &Env::default())?
            .into_vec())
    }

    /// Like [`Program::run_tensors`] with borrowed inputs; passes each result to `give`. For small
    /// programs no vectors are built.
    #[inline]
    pub fn run_each<'t>(
        &self,
        inputs: impl Iterator<Item = &'t Tensor> + Clone,
        mut give: impl FnMut(Tensor),
    ) -> Result<()> {
        if let Some(direct) = self.direct.as_ref().filter(|_| self.other.is_none())
            && let Some(done) = self.limits.apply(|| direct.run(inputs.clone(), &mut give))
        {
            return done;
        }
        self.call(inputs.cloned().collect(), &Env::default())?
            .into_iter()
            .for_each(give);
        Ok(())
    }

    /// Runs the program on operands in memory, and writes its results to memory. A
    /// [direct](Program::is_direct) program on contiguous operands creates no tensors. Unlike
    /// [`Program::run`], results are never views of operands.
    ///
    /// ```
    /// use cotangent_core::{Builder, DType, Emit, Type};
    /// use cotangent_cpu::{Raw, RawMut};
    /// let b = Builder::new("f", Default::default());
    /// let x = b.param(Type::new(DType::F64, [3]), None);
    /// let y = (&b as &dyn Emit).square(x);
    /// let program = cotangent_cpu::compile(&b.finish(&[y])?.into())?;
    /// let (x, mut y) = ([1.0f64, 2.0, 3.0], [0.0f64; 3]);
    /// let operand = Raw { dtype: DType::F64, data: x.as_ptr().cast(), shape: &[3], strides: &[] };
    /// let result = RawMut { dtype: DType::F64, data: y.as_mut_ptr().cast(), shape: &[3] };
    /// // SAFETY: both arrays live, have three elements, and do not overlap.
    /// unsafe { program.run_into(&[operand], &mut [result])? };
    /// assert_eq!(y, [1.0, 4.0, 9.0]);
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Program::run`]; another number, type or shape of results; memory that is
    /// not aligned for its element type. Results are partially written after an error.
    ///
    /// # Safety
    /// Operands are valid for reading, with valid elements (a boolean is the byte 0 or 1), and
    /// nothing writes them during the call. Results are valid for writing, and overlap neither
    /// operands nor each other. Kernels of extension operations do not keep their operands.
    pub unsafe fn run_into(&self, inputs: &[Raw<'_>], outputs: &mut [RawMut<'_>]) -> Result<()> {
        let aligned = inputs.iter().all(Raw::is_aligned) && outputs.iter().all(RawMut::is_aligned);
        if let Some(direct) = self.direct.as_ref().filter(|_| aligned) {
            // SAFETY: the caller guarantees operands and results (# Safety), which are aligned.
            let run = || unsafe { direct.run_raw(inputs, outputs) };
            if let Some(done) = self.limits.apply(run) {
                return done;
            }
        }
        // SAFETY: the caller guarantees that operands can be read during the call (# Safety). The
        // program and its kernels do not keep operands, and results are dropped below.
        let lend = |x: &Raw<'_>| unsafe { x.lend() };
        let x = inputs.iter().map(lend).collect::<Result<Operands>>()?;
        let y = self.call(x, &Env::default())?;
        if y.len() != outputs.len() {
            bail!(
                Arity,
                "the program has {} results, and memory is given for {}",
                y.len(),
                outputs.len()
            );
        }
        for (to, y) in outputs.iter_mut().zip(&y) {
            // SAFETY: the caller guarantees that results can be written (# Safety).
            unsafe { to.write(y)? };
        }
        Ok(())
    }

    /// Like [`Program::run_each`], for operands in memory: a [direct](Program::is_direct)
    /// program creates no tensors for them. `None`, without running, for another program, another number or
    /// types of operands, and operands that are not contiguous and aligned.
    ///
    /// ```
    /// use cotangent_core::{Builder, DType, Emit, Type};
    /// use cotangent_cpu::Raw;
    /// let b = Builder::new("f", Default::default());
    /// let x = b.param(Type::new(DType::F64, [3]), None);
    /// let y = (&b as &dyn Emit).square(x);
    /// let program = cotangent_cpu::compile(&b.finish(&[y])?.into())?;
    /// let x = [1.0f64, 2.0, 3.0];
    /// let operand = Raw { dtype: DType::F64, data: x.as_ptr().cast(), shape: &[3], strides: &[] };
    /// let mut results = Vec::new();
    /// // SAFETY: the array lives and has three elements.
    /// let done = unsafe { program.run_raw(&[operand], |y| results.push(y)) };
    /// assert!(matches!(done, Some(Ok(()))));
    /// assert_eq!(results[0].clone().into_array()?.as_slice::<f64>(), Some(&[1.0, 4.0, 9.0][..]));
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    ///
    /// # Safety
    /// Operands are valid for reading, with valid elements (a boolean is the byte 0 or 1), and
    /// nothing writes them during the call.
    #[inline]
    pub unsafe fn run_raw(
        &self,
        inputs: &[Raw<'_>],
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        let direct = self.direct.as_ref().filter(|_| self.other.is_none())?;
        // SAFETY: the caller guarantees the operands (# Safety), which are aligned.
        let run = || unsafe { direct.run_on(inputs, give) };
        (inputs.iter().all(Raw::is_aligned)).then(|| self.limits.apply(run))?
    }

    /// Whether the program has no loops and all its values are small. Such a program reads operands
    /// and writes results where they are, and creates no tensors for intermediate values.
    pub fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    /// The plan that runs instead of steps.
    pub(crate) fn plan(&self) -> Option<&Arc<Plan>> {
        self.plan.as_ref()
    }

    /// Runs the program on tensors. Its parameters bind their symbols anew.
    pub(crate) fn call(&self, inputs: Operands, outer: &Env) -> Result<Results> {
        match &self.other {
            None => self.call_alone(inputs, outer),
            Some(other) => self.call_both(other, inputs, outer),
        }
    }

    /// Runs this program and another one, and compares their results.
    #[cold]
    fn call_both(&self, other: &Program, inputs: Operands, outer: &Env) -> Result<Results> {
        let copies = inputs.clone();
        let own = self.call_alone(inputs, outer);
        compared(&self.function, own, other.call(copies, outer))
    }

    #[inline(always)]
    fn call_alone(&self, inputs: Operands, outer: &Env) -> Result<Results> {
        let env = self.bind(&inputs, outer)?;
        self.limits
            .apply(|| self.run_bound(&mut vec![None; self.slots], inputs, env))
    }

    /// Runs the program as a body inside a program with extents `outer`, whose symbols it shares.
    pub(crate) fn run_inside(&self, inputs: Operands, outer: &Env) -> Result<Results> {
        let env = self.bind_inside(&inputs, outer)?;
        self.run_bound(&mut vec![None; self.slots], inputs, env)
    }

    /// Like [`Program::bind`], but extents bound in `outer` must be equal here.
    fn bind_inside<'e>(&self, inputs: &[Tensor], outer: &'e Env) -> Result<Cow<'e, Env>> {
        let env = self.bind(inputs, outer)?;
        if self
            .symbols
            .iter()
            .any(|(s, ..)| outer.get(s).is_some_and(|n| env[s] != *n))
        {
            let types: Vec<Type> = inputs.iter().map(Tensor::ty).collect();
            return Ok(Cow::Owned(reference::bind_body(
                &self.function,
                &types,
                outer,
            )?));
        }
        Ok(env)
    }

    /// Binds the extents of all symbols for these arguments.
    fn bind<'e>(&self, inputs: &[Tensor], outer: &'e Env) -> Result<Cow<'e, Env>> {
        let mut env = Cow::Borrowed(outer);
        let ranks =
            |(p, x): (&Param, &Tensor)| p.dtype == x.dtype() && p.shape.rank() == x.shape().len();
        if inputs.len() == self.params.len() && self.params.iter().zip(inputs).all(ranks) {
            for (symbol, param, axis) in &self.symbols {
                env.to_mut()
                    .insert(symbol.clone(), inputs[*param].shape()[*axis]);
            }
            if self
                .params
                .iter()
                .zip(inputs)
                .all(|(p, x)| p.shape.fits(x.shape(), &env))
            {
                return Ok(env);
            }
        }
        // The reference reports the mismatch.
        let (types, mut env) = (
            inputs.iter().map(Tensor::ty).collect::<Vec<_>>(),
            outer.clone(),
        );
        reference::bind(&self.function, &types, &mut env)?;
        Ok(Cow::Owned(env))
    }

    fn run_bound(
        &self,
        slots: &mut [Option<Tensor>],
        inputs: Operands,
        env: Cow<'_, Env>,
    ) -> Result<Results> {
        if let Some(direct) = &self.direct {
            let mut y = Results::new();
            direct
                .run(inputs.iter(), |t| y.push(t))
                .expect("operands were compared with the parameters")?;
            return Ok(y);
        }
        if let Some(plan) = &self.plan {
            return plan.run(inputs, env);
        }
        self.run_steps(slots, inputs, env)
    }

    /// Runs the plan; `observer` sees its steps.
    pub(crate) fn run_observed(
        &self,
        inputs: Operands,
        observer: &mut impl RunObserver,
    ) -> Result<()> {
        let outer = Env::default();
        let env = self.bind(&inputs, &outer)?;
        let plan = self.plan.as_ref().expect("a program with a plan");
        self.limits
            .apply(|| plan.run_observed(inputs, env, observer))
            .map(drop)
    }

    fn run_steps(
        &self,
        slots: &mut [Option<Tensor>],
        inputs: Operands,
        mut env: Cow<'_, Env>,
    ) -> Result<Results> {
        for (p, x) in self.params.iter().zip(inputs) {
            p.slot.write(slots, x);
        }
        let watched = is_active();
        for step in &self.steps {
            let [start, middle, end] = step.bounds.map(|b| b as usize);
            let x: Operands = self.pool[start..middle]
                .iter()
                .map(|s| s.read(slots))
                .collect();
            if step.check {
                self.check(step, &x, &env)?;
            }
            let at = |err: Error| err.at(self.eqn(step).loc);
            let y = if watched {
                let work = step_work(elements(&x));
                let y = catch(|| (step.kernel)(&env, x)).map_err(at)?;
                if spend(work) {
                    return Err(at(interrupted()));
                }
                y
            } else {
                (step.kernel)(&env, x).map_err(at)?
            };
            if step.binds {
                self.bind_results(step, &y, env.to_mut());
            }
            for (slot, y) in self.pool[middle..end].iter().zip(y) {
                slot.write(slots, y);
            }
        }
        Ok(self.results.iter().map(|s| s.read(slots)).collect())
    }

    fn eqn(&self, step: &Step) -> &Eqn {
        &self.function.eqns()[step.eqn as usize]
    }

    /// Checks the type rule of a step with the actual sizes.
    fn check(&self, step: &Step, x: &[Tensor], env: &Env) -> Result<()> {
        let types: Vec<Type> = x.iter().map(Tensor::ty).collect();
        check_types(&self.function, self.eqn(step), &types, env)
    }

    /// Binds the symbols that an equation defines.
    fn bind_results(&self, step: &Step, y: &[Tensor], env: &mut Env) {
        let e = self.eqn(step);
        for (r, y) in e.results().zip(y) {
            for (d, &n) in self.function.ty(r).shape.iter().zip(y.shape()) {
                if let Some(s) = d.as_sym().filter(|s| e.op.binds().contains(s)) {
                    env.insert(s.clone(), n);
                }
            }
        }
    }
}

/// A body that runs many times with the same slots.
pub(crate) struct BodyRun<'p> {
    program: &'p Program,
    slots: Vec<Option<Tensor>>,
    /// Shapes of the inputs of the previous step, and the extents bound by them.
    bound: Option<(Vec<Extents>, Env)>,
}

impl<'p> BodyRun<'p> {
    pub(crate) fn new(program: &'p Program) -> BodyRun<'p> {
        BodyRun {
            program,
            slots: vec![None; program.slots],
            bound: None,
        }
    }

    /// Runs one step, inside a program with extents `outer`.
    pub(crate) fn step(&mut self, inputs: Operands, outer: &Env) -> Result<Results> {
        let same = |(a, b): (&Extents, &Tensor)| a.as_slice() == b.shape();
        let (_, env) = match &mut self.bound {
            Some(bound) if bound.0.iter().zip(&inputs).all(same) => bound,
            bound => {
                let env = self.program.bind_inside(&inputs, outer)?.into_owned();
                bound.insert((inputs.iter().map(|x| copied(x.shape())).collect(), env))
            }
        };
        self.program
            .run_bound(&mut self.slots, inputs, Cow::Borrowed(env))
    }
}

/// Appends the slots of values that are read, and frees the slots of values whose last use is here.
fn read(pool: &mut Vec<Slot>, slots: &mut Slots, x: &[Val], ends: impl Fn(Val) -> bool) {
    let start = pool.len();
    pool.extend(x.iter().map(|v| slots.of[v.index()]));
    for (k, &v) in x.iter().enumerate() {
        if ends(v) && !x[k + 1..].contains(&v) {
            slots.free.push(slots.of[v.index()].0);
            pool[start + k].0 |= Slot::LAST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nests::tests::function;

    #[test]
    fn a_difference_of_runtimes_names_the_equation() {
        let ty = Type::new(DType::F64, [2]);
        let f = function(&[ty], |cx, x| vec![x[0], cx.exp(x[0])]);
        let tensor = |x: f64| Tensor::from(Array::vector(vec![1.0, x]));
        let of = |x: f64| Ok(Results::from_iter([tensor(1.0), tensor(x)]));
        assert!(compared(&f, of(2.0), of(2.0)).is_ok());
        let text = compared(&f, of(2.0), of(3.0)).unwrap_err().to_string();
        assert!(
            text.contains("result 1, %1 by equation 0 (`exp`)"),
            "{text}"
        );
        let failed = |code| Err(cotangent_core::Error::new(code, "why"));
        let text = compared(&f, of(2.0), failed(Code::Limit)).unwrap_err();
        assert!(
            text.to_string()
                .contains("the runtimes differ in `f`: results")
        );
        let code = compared(&f, failed(Code::Limit), failed(Code::Limit)).unwrap_err();
        assert_eq!(code.code(), Code::Limit);
    }
}
