//! [`Program`]: a compiled function: its plan, and the extents that its arguments bind.
//!
//! One program serves every size of its symbols: extents come from the arguments. Recursion depth
//! is that of nested bodies and does not depend on the number of equations.

use crate::executor::RunLimits;
use crate::kernel::{Operands, Results, Sizes};
use crate::plan::control::DirectProgram;
use crate::plan::{Plan, RunObserver};
use crate::raw::{Raw, RawMut};
use crate::tensor::{Extents, Strides, Tensor, copied};
use cotangent_core::{Array, DType, Env, Function, Result, Sym, Type, bail, reference};
use std::borrow::Cow;
use std::sync::Arc;

/// A compiled function.
pub struct Program {
    function: Arc<Function>,
    params: Vec<Param>,
    /// Symbols, each with the parameter and axis that bind it.
    symbols: Vec<(Sym, usize, usize)>,
    limits: RunLimits,
    plan: Arc<Plan>,
    /// The plan in place, if every value is small.
    direct: Option<DirectProgram>,
}

struct Param {
    dtype: DType,
    shape: Sizes,
}

impl Program {
    /// A function that was compiled to this plan.
    pub(crate) fn of(
        f: &Arc<Function>,
        plan: Arc<Plan>,
        direct: Option<DirectProgram>,
        limits: RunLimits,
    ) -> Program {
        let (mut params, mut symbols) = (Vec::new(), Vec::<(Sym, usize, usize)>::new());
        for (i, &p) in f.params().iter().enumerate() {
            let ty = f.ty(p);
            params.push(Param {
                dtype: ty.dtype,
                shape: Sizes::of(&ty.shape),
            });
            for (axis, d) in ty.shape.iter().enumerate() {
                if let Some(s) = d.as_sym().filter(|s| symbols.iter().all(|(t, ..)| t != *s)) {
                    symbols.push((s.clone(), i, axis));
                }
            }
        }
        Program {
            function: f.clone(),
            params,
            symbols,
            limits,
            plan,
            direct,
        }
    }

    /// Live equations that the plan runs without a call of a kernel, and all live equations.
    #[doc(hidden)]
    pub fn plan_share(&self) -> [usize; 2] {
        self.plan.share()
    }

    /// Operations with regions that the plan runs in place for these arguments, and all of them.
    /// Extents that data decides end the count.
    #[doc(hidden)]
    pub fn regions_in_place(&self, inputs: &[Tensor]) -> Result<[usize; 2]> {
        let arguments: Vec<Strides> = inputs.iter().map(|x| x.strides().into()).collect();
        let outer = Env::default();
        self.plan.in_place(&arguments, &*self.bind(inputs, &outer)?)
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
        if let Some(direct) = &self.direct
            && let Some(done) = self.limited(direct, || direct.run(inputs.clone(), &mut give))
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
            if let Some(done) = self.limited(direct, run) {
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

    /// Like [`Program::run_each`], for operands in memory: a [direct](Program::is_direct) program
    /// creates no tensors for them. `None`, without running, for another program, another number or
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
        let direct = self.direct.as_ref().filter(|d| !d.has_regions())?;
        // SAFETY: the caller guarantees the operands (# Safety), which are aligned.
        let run = || unsafe { direct.run_on(inputs, give) };
        (inputs.iter().all(Raw::is_aligned)).then(|| self.limited(direct, run))?
    }

    /// Calls `f`, a run of the program in place, with the limits of runs if they matter to it.
    #[inline]
    fn limited<R>(&self, direct: &DirectProgram, f: impl FnOnce() -> R) -> R {
        match direct.is_brief() {
            true => f(),
            false => self.limits.apply(f),
        }
    }

    /// Whether the program has no loops and all its values are small. Such a program reads operands
    /// and writes results where they are, and creates no tensors for intermediate values. One with
    /// loops may do so, too, and may run long.
    pub fn is_direct(&self) -> bool {
        self.direct.as_ref().is_some_and(|d| !d.has_regions())
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Runs the program on tensors. Its parameters bind their symbols anew.
    pub(crate) fn call(&self, inputs: Operands, outer: &Env) -> Result<Results> {
        if let Some(direct) = &self.direct {
            let mut y = Results::new();
            let run = || direct.run(inputs.iter(), |t| y.push(t));
            if let Some(done) = self.limited(direct, run) {
                return done.map(|()| y);
            }
        }
        let env = self.bind(&inputs, outer)?;
        self.limits.apply(|| self.plan.run(inputs, env))
    }

    /// Runs the program as a body inside a program with extents `outer`, whose symbols it shares.
    pub(crate) fn run_inside(&self, inputs: Operands, outer: &Env) -> Result<Results> {
        let env = self.bind_inside(&inputs, outer)?;
        self.plan.run(inputs, env)
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

    /// Runs the plan; `observer` sees its steps.
    pub(crate) fn run_observed(
        &self,
        inputs: Operands,
        observer: &mut impl RunObserver,
    ) -> Result<()> {
        let outer = Env::default();
        let env = self.bind(&inputs, &outer)?;
        self.limits
            .apply(|| self.plan.run_observed(inputs, env, observer))
            .map(drop)
    }
}

/// A body that runs many times.
pub(crate) struct BodyRun<'p> {
    program: &'p Program,
    /// Shapes of the inputs of the previous step, and the extents bound by them.
    bound: Option<(Vec<Extents>, Env)>,
}

impl<'p> BodyRun<'p> {
    pub(crate) fn new(program: &'p Program) -> BodyRun<'p> {
        BodyRun {
            program,
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
        self.program.plan.run(inputs, Cow::Borrowed(env))
    }
}
