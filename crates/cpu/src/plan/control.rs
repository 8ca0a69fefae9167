//! Loops, branches and other regions in place: their bodies are instructions over addresses
//! ([`InPlace`]), so a step allocates nothing, counts no references and computes no extents.
//!
//! ```text
//! scan      rows and stacks are addressed by the step; carries have two buffers that a step swaps
//! while     the condition is a body of its own; stacks grow
//! switch    one of several bodies
//! ```
//! A carry that a step changes by an update of a window has one buffer, in which the window is
//! written. Loops and branches of a body run in place, too. A body with a kernel on large tensors,
//! or with extents that data decides, has no such form and runs on tensors. A loop whose steps
//! compute few numbers is machine code ([`steps`], [`loops`]), which calls kernels ([`called`]). A
//! loop whose steps compute each element from those at the same index is a loop for each
//! ([`element_loop`]).

mod assembled;
mod build;
mod called;
mod calls;
mod carries;
mod code;
mod direct;
mod element_loop;
mod elements;
mod frame;
mod in_place;
mod inline;
mod inner;
mod instruction;
mod known;
mod loops;
mod phases;
mod recorded;
mod recorded_calls;
mod steps;
mod update;
mod views;

use super::Plan;
use super::memory::Memory;
use super::nested::{Nested, NestedRun, RoomFn};
use crate::axes::rows_of;
use crate::interrupt::{Pulse, interrupted};
use crate::tensor::{Extents, Strides, row_major};
use crate::tuning::{MIN_COMPILED_STEPS, MIN_LOOP_ELEMENTS};
use carries::CarryBuffers;
use code::MAX_TILE_BYTES;
use cotangent_core::{DType, Dim, Env, Function, Result, Type, reference};
pub(crate) use direct::DirectProgram;
use element_loop::ElementLoop;
use frame::InPlaceForm;
use in_place::InPlace;
use loops::LoopBody;
pub(crate) use loops::StepCount;
use std::sync::{Arc, Mutex, PoisonError};
use steps::{Compiled, LoopSteps, NotCode};

/// Number of sets of extents for which a region keeps its instructions.
const KEPT_EXTENTS: usize = 4;

/// A region at some extents of its inputs, with the extents outside of it.
struct KnownRegion {
    inputs: Vec<Extents>,
    outer: Env,
    /// `None`: the region runs on tensors.
    body: Option<Arc<LoopBody>>,
}

/// A region of an operation, with its instructions for the last extents.
pub(crate) struct ControlRegion {
    plan: Arc<Plan>,
    /// Whether its symbols are its own, instead of those of the function around it.
    own_symbols: bool,
    /// Number of steps after which a loop with this body is compiled.
    compiled_after: usize,
    known: Mutex<Vec<KnownRegion>>,
}

impl ControlRegion {
    pub(crate) fn new(plan: Arc<Plan>, own_symbols: bool, compiled_after: usize) -> ControlRegion {
        ControlRegion {
            plan,
            own_symbols,
            compiled_after,
            known: Mutex::default(),
        }
    }

    /// The region in place, for inputs of these extents.
    fn at(&self, inputs: &[Extents], outer: &Env) -> Option<Arc<InPlace>> {
        Some(self.body_at(inputs, outer)?.form.clone())
    }

    /// The region as the body of a loop, for inputs of these extents.
    fn body_at(&self, inputs: &[Extents], outer: &Env) -> Option<Arc<LoopBody>> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |k: &KnownRegion| k.inputs == inputs && k.outer == *outer;
        if let Some(k) = known().iter().find(|k| same(k)) {
            return k.body.clone();
        }
        let env = self.bound(inputs, outer).ok();
        let body = env
            .and_then(|env| build::in_place(&self.plan, inputs, env, MAX_TILE_BYTES))
            .map(|form| Arc::new(LoopBody::new(form, self.compiled_after)));
        let mut known = known();
        known.insert(
            0,
            KnownRegion {
                inputs: inputs.to_vec(),
                outer: outer.clone(),
                body: body.clone(),
            },
        );
        known.truncate(KEPT_EXTENTS);
        body
    }

    /// Memory of a run on tensors, for inputs of these extents.
    fn memory(&self, inputs: &[Extents], outer: &Env) -> Result<Memory> {
        let layouts: Vec<Strides> = inputs.iter().map(|x| row_major(x)).collect();
        self.plan.memory(&self.bound(inputs, outer)?, &layouts)
    }

    /// The extents of symbols inside of the region. An error if the inputs do not fit.
    fn bound(&self, inputs: &[Extents], outer: &Env) -> Result<Env> {
        let f: &Function = &self.plan.function;
        let pairs = f.params().iter().zip(inputs);
        let types: Vec<Type> = pairs
            .map(|(&p, shape)| Type::new(f.ty(p).dtype, &shape[..]))
            .collect();
        if !self.own_symbols {
            return reference::bind_body(f, &types, outer);
        }
        let mut env = outer.clone();
        reference::bind(f, &types, &mut env)?;
        Ok(env)
    }
}

/// An operation with regions.
pub(crate) enum Control {
    Scan {
        body: ControlRegion,
        length: Dim,
        reverse: bool,
        consts: usize,
        carry: usize,
    },
    While {
        cond: ControlRegion,
        body: ControlRegion,
        cond_consts: usize,
        body_consts: usize,
        /// Whether it stacks results.
        saves: bool,
    },
    Switch(Vec<ControlRegion>),
    Once(ControlRegion),
}

/// An operation with regions at given extents.
enum ControlRun {
    Scan {
        body: Arc<LoopBody>,
        /// The code for each vector of elements, if there is one.
        elements: Option<Arc<ElementLoop>>,
        steps: usize,
        reverse: bool,
        consts: usize,
        carry: usize,
    },
    While {
        cond: Arc<InPlace>,
        body: Arc<LoopBody>,
        cond_consts: usize,
        body_consts: usize,
        carry: usize,
    },
    Switch {
        arms: Vec<Arc<InPlace>>,
        dtype: DType,
    },
    Once(Arc<InPlace>),
}

impl Nested for Control {
    fn stacks(&self) -> bool {
        matches!(self, Control::While { saves: true, .. })
    }

    fn text(&self, x: &[(DType, Extents)], env: &Env) -> String {
        match self.at(x, env) {
            Some(run) => run.text(),
            None => "steps on tensors".to_owned(),
        }
    }

    fn memory(&self, x: &[(DType, Extents)], env: &Env) -> Result<usize> {
        if let Some(run) = self.at(x, env) {
            return Ok(run.memory());
        }
        // A region on tensors. The results of one that runs once are those of the operation.
        let shapes = |x: &[(DType, Extents)]| x.iter().map(|x| x.1.clone()).collect::<Vec<_>>();
        let once = |r: &ControlRegion, x: &[(DType, Extents)]| {
            let memory = r.memory(&shapes(x), env)?;
            Ok(memory.peak - memory.results)
        };
        match self {
            Control::Scan {
                body,
                consts,
                carry,
                ..
            } => {
                let mut inputs = shapes(x);
                for rows in &mut inputs[consts + carry..] {
                    rows.remove(0);
                }
                Ok(body.memory(&inputs, env)?.peak)
            }
            Control::While {
                cond,
                body,
                cond_consts,
                body_consts,
                ..
            } => {
                let (of_cond, rest) = x.split_at(*cond_consts);
                let of_cond = shapes(&[of_cond, &rest[*body_consts..]].concat());
                let cond = cond.memory(&of_cond, env)?.peak;
                Ok(cond.max(body.memory(&shapes(rest), env)?.peak))
            }
            Control::Switch(arms) => {
                let mut all = arms.iter().map(|a| once(a, &x[1..]));
                all.try_fold(0, |most, n| Ok(most.max(n?)))
            }
            Control::Once(body) => once(body, x),
        }
    }

    fn at(&self, x: &[(DType, Extents)], env: &Env) -> Option<Box<dyn NestedRun>> {
        let shapes = |x: &[(DType, Extents)]| x.iter().map(|x| x.1.clone()).collect::<Vec<_>>();
        Some(Box::new(match self {
            Control::Scan {
                body,
                length,
                reverse,
                consts,
                carry,
            } => {
                let steps = length.eval(env).ok()?;
                let mut inputs = shapes(x);
                for rows in inputs.get_mut(consts + carry..)? {
                    if rows.first() != Some(&steps) {
                        return None;
                    }
                    rows.remove(0);
                }
                let body = body.body_at(&inputs, env)?;
                has_carries(&body.form, *consts, *carry).then(|| ControlRun::Scan {
                    elements: (steps >= MIN_COMPILED_STEPS)
                        .then(|| body.elements([*consts, *carry]))
                        .flatten(),
                    body,
                    steps,
                    reverse: *reverse,
                    consts: *consts,
                    carry: *carry,
                })?
            }
            Control::While {
                cond,
                body,
                cond_consts,
                body_consts,
                ..
            } => {
                let (of_cond, rest) = x.split_at_checked(*cond_consts)?;
                let carries = rest.get(*body_consts..)?;
                let body = body.body_at(&shapes(rest), env)?;
                let cond = cond.at(&shapes(&[of_cond, carries].concat()), env)?;
                has_carries(&body.form, *body_consts, carries.len()).then(|| ControlRun::While {
                    cond,
                    body,
                    cond_consts: *cond_consts,
                    body_consts: *body_consts,
                    carry: carries.len(),
                })?
            }
            Control::Switch(arms) => {
                let ((dtype, _), rest) = x.split_first()?;
                let inputs = shapes(rest);
                let arms: Vec<Arc<InPlace>> = arms
                    .iter()
                    .map(|a| a.at(&inputs, env))
                    .collect::<Option<_>>()?;
                let same = |a: &InPlaceForm, b: &InPlaceForm| a.shape == b.shape;
                let first = &arms.first()?.outputs;
                let fits =
                    |arm: &Arc<InPlace>| arm.outputs.iter().zip(first).all(|(a, b)| same(a, b));
                arms.iter().all(fits).then_some(())?;
                ControlRun::Switch {
                    arms,
                    dtype: *dtype,
                }
            }
            Control::Once(body) => ControlRun::Once(body.at(&shapes(x), env)?),
        }))
    }
}

/// Whether the carries that a body returns have the extents of those that it takes.
fn has_carries(body: &InPlace, consts: usize, carry: usize) -> bool {
    let inputs = &body.inputs[consts..consts + carry];
    let same = |(a, b): (&InPlaceForm, &InPlaceForm)| a.shape == b.shape && a.dtype == b.dtype;
    inputs.iter().zip(&body.outputs).all(same)
}

impl ControlRun {
    /// The results of a loop that are carries which its body changes in place, and the operands
    /// with their first values.
    fn changed_carries(&self) -> Vec<(usize, usize)> {
        let (body, consts, carry, before) = match self {
            ControlRun::Scan {
                body,
                consts,
                carry,
                ..
            } => (body, *consts, *carry, 0),
            ControlRun::While {
                body,
                cond_consts,
                body_consts,
                carry,
                ..
            } => (body, *body_consts, *carry, *cond_consts),
            ControlRun::Switch { .. } | ControlRun::Once(_) => return Vec::new(),
        };
        let changed = (0..carry).filter(|&k| carries::is_in_place(&body.form, consts, k));
        changed.map(|k| (k, before + consts + k)).collect()
    }

    /// The code of a scan for each vector of elements.
    fn elements(&self) -> Option<&ElementLoop> {
        match self {
            ControlRun::Scan { elements, .. } => elements.as_deref(),
            _ => None,
        }
    }

    /// Whether it is a scan by code for each vector of elements, which have several lanes.
    fn has_vectors(&self) -> bool {
        self.elements().is_some_and(|e| e.n() >= MIN_LOOP_ELEMENTS)
    }

    /// The operands of a scan.
    fn operands(&self) -> Vec<(DType, Extents)> {
        let ControlRun::Scan {
            body,
            steps,
            consts,
            carry,
            ..
        } = self
        else {
            return Vec::new();
        };
        let form = |(k, f): (usize, &InPlaceForm)| match k < consts + carry {
            true => (f.dtype, f.shape.clone()),
            false => (f.dtype, rows_of(*steps, &f.shape)),
        };
        body.form.inputs.iter().enumerate().map(form).collect()
    }

    /// The code of a loop, if it is compiled or that is due.
    fn code(&self) -> Option<&LoopSteps> {
        let (body, steps) = match self {
            ControlRun::Scan { body, steps, .. } => (body, Some(*steps)),
            ControlRun::While { body, .. } => (body, None),
            ControlRun::Switch { .. } | ControlRun::Once(_) => return None,
        };
        let code = body.code.get(steps, || self.new_code())?;
        self.is_of_this_run(code).then_some(code)
    }

    /// The code of a loop, or the reason for which there is none.
    fn compiled(&self) -> Compiled<&LoopSteps> {
        match self {
            ControlRun::Scan { body, .. } | ControlRun::While { body, .. } => {
                let code = body.code.compiled(|| self.new_code())?;
                (self.is_of_this_run(code).then_some(code)).ok_or(NotCode::Extents)
            }
            ControlRun::Switch { .. } | ControlRun::Once(_) => Err(NotCode::NoLoop),
        }
    }

    fn new_code(&self) -> Compiled<LoopSteps> {
        match self {
            ControlRun::Scan {
                body,
                reverse,
                consts,
                carry,
                ..
            } => loops::scan_code(&body.form, [*consts, *carry], *reverse),
            ControlRun::While {
                cond,
                body,
                cond_consts,
                body_consts,
                ..
            } => loops::while_code([cond, &body.form], [*cond_consts, *body_consts]),
            ControlRun::Switch { .. } | ControlRun::Once(_) => Err(NotCode::NoLoop),
        }
    }

    /// The condition may have been made for other extents of its constants.
    fn is_of_this_run(&self, code: &LoopSteps) -> bool {
        match self {
            ControlRun::While { cond, .. } => code.is_of(cond),
            _ => true,
        }
    }
}

impl NestedRun for ControlRun {
    fn compile(&self) -> bool {
        self.elements().is_some() || self.compiled().is_ok()
    }

    fn text(&self) -> String {
        if self.elements().is_some() {
            return "one loop of code for each element".to_owned();
        }
        match self.compiled() {
            Ok(code) => code.text(),
            Err(NotCode::NoLoop) => "in place".to_owned(),
            Err(why) => format!("steps in place, no code because of {}", why.text()),
        }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn results(&self) -> Vec<(DType, Extents)> {
        let of = |f: &InPlaceForm| (f.dtype, f.shape.clone());
        match self {
            ControlRun::Scan {
                body, steps, carry, ..
            } => {
                let stacked = |(k, f): (usize, &InPlaceForm)| match k < *carry {
                    true => of(f),
                    false => (f.dtype, rows_of(*steps, &f.shape)),
                };
                body.form.outputs.iter().enumerate().map(stacked).collect()
            }
            ControlRun::While { body, carry, .. } => {
                body.form.outputs[..*carry].iter().map(of).collect()
            }
            ControlRun::Once(body) => body.outputs.iter().map(of).collect(),
            ControlRun::Switch { arms, .. } => arms[0].outputs.iter().map(of).collect(),
        }
    }

    fn stacked_rows(&self) -> Vec<(DType, Extents)> {
        match self {
            ControlRun::While { body, carry, .. } => {
                let rows = &body.form.outputs[*carry..];
                rows.iter().map(|f| (f.dtype, f.shape.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn work(&self) -> usize {
        match self {
            ControlRun::Scan { body, steps, .. } => body.form.work.saturating_mul(*steps),
            ControlRun::While { body, .. } => body.form.work,
            ControlRun::Once(body) => body.work,
            ControlRun::Switch { arms, .. } => arms.iter().map(|a| a.work).max().unwrap_or(0),
        }
    }

    fn memory(&self) -> usize {
        let carries = |body: &InPlace, consts: usize, carry: usize| -> usize {
            body.memory() + carries::second_buffers(body, [consts, carry])
        };
        if let Some(elements) = self.elements() {
            return elements.memory();
        }
        match self {
            ControlRun::Scan {
                body,
                consts,
                carry,
                ..
            } => carries(&body.form, *consts, *carry),
            ControlRun::While {
                cond,
                body,
                body_consts,
                carry,
                ..
            } => cond.memory() + carries(&body.form, *body_consts, *carry),
            ControlRun::Switch { arms, .. } => arms.iter().map(|a| a.memory()).max().unwrap_or(0),
            ControlRun::Once(body) => body.memory(),
        }
    }

    unsafe fn run_stacked(
        &self,
        x: &[*const u8],
        y: &[*mut u8],
        room: &mut RoomFn<'_>,
    ) -> Result<usize> {
        match (self, self.compiled()) {
            (
                ControlRun::While {
                    cond,
                    body,
                    cond_consts,
                    body_consts,
                    ..
                },
                Ok(code),
            ) => {
                let (both, consts) = ([&**cond, &*body.form], [*cond_consts, *body_consts]);
                // SAFETY: the caller guarantees operands, results and rows (# Safety).
                unsafe { loops::run_while(code, both, consts, x, y, room) }
            }
            _ => unreachable!("a `while` that is compiled"),
        }
    }

    unsafe fn run(&self, x: &[*const u8], y: &[*mut u8]) -> Result<()> {
        // SAFETY: the caller guarantees operands and results (# Safety).
        unsafe {
            match self {
                ControlRun::Scan {
                    body,
                    steps,
                    reverse,
                    consts,
                    carry,
                    elements,
                } => {
                    if let Some(elements) = elements {
                        return elements.run(*steps, *reverse, x, y);
                    }
                    let counts = [*consts, *carry];
                    match self.code() {
                        Some(code) => {
                            loops::run_scan(code, &body.form, *steps, *reverse, counts, x, y)
                        }
                        None => scan(&body.form, *steps, *reverse, counts, x, y),
                    }
                }
                ControlRun::While {
                    cond,
                    body,
                    cond_consts,
                    body_consts,
                    ..
                } => {
                    let (both, consts) = ([&**cond, &*body.form], [*cond_consts, *body_consts]);
                    if let Some(code) = self.code() {
                        return loops::run_while(code, both, consts, x, y, &mut |_, _| {
                            Ok(usize::MAX)
                        })
                        .map(drop);
                    }
                    let (after, code) = (body.code.compiled_after(), || self.compiled().ok());
                    match while_loop(both, consts, x, y, after, code)? {
                        // The results have the carries so far.
                        Some(code) => {
                            let fixed = x[..cond_consts + body_consts].iter().copied();
                            let carries = y.iter().map(|y| y.cast_const());
                            let x: Vec<*const u8> = fixed.chain(carries).collect();
                            loops::run_while(code, both, consts, &x, y, &mut |_, _| Ok(usize::MAX))
                                .map(drop)
                        }
                        None => Ok(()),
                    }
                }
                ControlRun::Switch { arms, dtype } => {
                    let k = frame::start(*dtype, x[0], arms.len() as i64 - 1);
                    arms[k as usize].run(&x[1..], y)
                }
                ControlRun::Once(body) => body.run(x, y),
            }
        }
    }
}

/// Runs a scan.
///
/// # Safety
/// The preconditions of [`NestedRun::run`].
unsafe fn scan(
    body: &InPlace,
    steps: usize,
    reverse: bool,
    [consts, carry]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
) -> Result<()> {
    let buffers = CarryBuffers::new(body, [consts, carry], y)?;
    if steps == 0 {
        // SAFETY: the caller guarantees the first values (# Safety).
        unsafe { buffers.finish(|k| x[consts + k]) };
        return Ok(());
    }
    let mut pulse = Pulse::new(body.work);
    body.with_state(|s| {
        for (k, &at) in x[..consts + carry].iter().enumerate() {
            body.set_input(s, k, at);
        }
        for step in 0..steps {
            if pulse.is_interrupted() {
                return Err(interrupted());
            }
            let i = if reverse { steps - 1 - step } else { step };
            buffers.set_rows(s, i, x, y);
            // The last step writes the results.
            let buffer = (steps - 1 - step) % 2;
            buffers.set_outputs(s, buffer);
            // SAFETY: inputs are constants, carries that the last step wrote or that are given, and
            // rows of operands; outputs are the other buffers, and rows of stacks (# Safety).
            unsafe { body.execute(s)? };
            buffers.set_inputs(s, buffer);
        }
        Ok(())
    })
}

/// Runs a `while`. After `after` steps, and if there is code, it ends: the results are the carries,
/// with which the code goes on.
///
/// # Safety
/// The preconditions of [`NestedRun::run`].
unsafe fn while_loop<C>(
    [cond, body]: [&InPlace; 2],
    [of_cond, of_body]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
    after: usize,
    code: impl FnOnce() -> Option<C>,
) -> Result<Option<C>> {
    let carry = body.inputs.len() - of_body;
    let buffers = CarryBuffers::new(body, [of_body, carry], y)?;
    let first = &x[of_cond + of_body..];
    let mut pulse = Pulse::new(cond.work + body.work);
    let mut code = Some(code);
    cond.with_state(|t| {
        body.with_state(|s| {
            let mut holds = 0u8;
            cond.set_output(t, 0, &raw mut holds);
            for (k, &at) in x[..of_cond].iter().chain(first).enumerate() {
                cond.set_input(t, k, at);
            }
            for (k, &at) in x[of_cond..].iter().enumerate() {
                body.set_input(s, k, at);
            }
            let (mut buffer, mut steps, mut next) = (0, 0usize, None);
            loop {
                if pulse.is_interrupted() {
                    return Err(interrupted());
                }
                if steps == after {
                    next = code.take().and_then(|code| code());
                    if next.is_some() {
                        break;
                    }
                }
                // SAFETY: the carries are given or those of the last step; the result of the
                // condition is one boolean, for which `holds` has room (# Safety).
                unsafe { cond.execute(t)? };
                // SAFETY: the run wrote it.
                if unsafe { (&raw const holds).read_volatile() } == 0 {
                    break;
                }
                buffers.set_outputs(s, buffer);
                // SAFETY: as in `scan`.
                unsafe { body.execute(s)? };
                buffers.set_inputs(s, buffer);
                for (k, at) in buffers.at.iter().enumerate() {
                    cond.set_input(t, of_cond + k, at[buffer]);
                }
                buffer = 1 - buffer;
                steps += 1;
            }
            // SAFETY: the carries are given, or the last step wrote them.
            unsafe {
                buffers.finish(|k| match steps {
                    0 => first[k],
                    _ => buffers.at[k][1 - buffer].cast_const(),
                });
            }
            Ok(next)
        })
    })
}
