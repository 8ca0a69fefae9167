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
//! compute few numbers is machine code ([`steps`], [`loops`]).

mod build;
mod calls;
mod carries;
mod code;
mod frame;
mod in_place;
mod inline;
mod instruction;
mod loops;
mod phases;
mod recorded;
mod steps;
mod update;
mod views;

use super::Plan;
use super::nested::{Nested, NestedRun};
use crate::interrupt::{Pulse, interrupted};
use crate::tensor::Extents;
use carries::CarryBuffers;
use cotangent_core::{DType, Dim, Env, Function, Result, Type, reference};
use frame::InPlaceForm;
use in_place::InPlace;
use loops::LoopBody;
use std::sync::{Arc, Mutex, PoisonError};
use steps::LoopSteps;

/// Number of sets of extents for which a region keeps its instructions.
const KEPT_EXTENTS: usize = 4;

/// A region at some extents of its inputs, with the extents outside of it.
struct KnownRegion {
    inputs: Vec<Extents>,
    outer: Env,
    /// `None`: the region runs on tensors.
    body: Option<Arc<LoopBody>>,
}

/// Assumed number of steps of a `while`.
const ASSUMED_STEPS: usize = 32;

/// A region of an operation, with its instructions for the last extents.
pub(crate) struct ControlRegion {
    plan: Arc<Plan>,
    /// Whether its symbols are its own, instead of those of the function around it.
    own_symbols: bool,
    known: Mutex<Vec<KnownRegion>>,
}

impl ControlRegion {
    pub(crate) fn new(plan: Arc<Plan>, own_symbols: bool) -> ControlRegion {
        ControlRegion {
            plan,
            own_symbols,
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
        let env = self.bound(inputs, outer);
        let body = env
            .and_then(|env| build::in_place(&self.plan, inputs, env))
            .map(|form| Arc::new(LoopBody::new(form)));
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

    /// The extents of symbols inside of the region; `None` if the inputs do not fit.
    fn bound(&self, inputs: &[Extents], outer: &Env) -> Option<Env> {
        let f: &Function = &self.plan.function;
        let pairs = f.params().iter().zip(inputs);
        let types: Vec<Type> = pairs
            .map(|(&p, shape)| Type::new(f.ty(p).dtype, &shape[..]))
            .collect();
        if !self.own_symbols {
            return reference::bind_body(f, &types, outer).ok();
        }
        let mut env = outer.clone();
        reference::bind(f, &types, &mut env).ok()?;
        Some(env)
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
        /// Whether a compiled loop of all steps exists for this number of steps.
        compiled: Box<dyn Fn(usize) -> bool + Send + Sync>,
    },
    /// A `while` without stacked results.
    While {
        cond: ControlRegion,
        body: ControlRegion,
        cond_consts: usize,
        body_consts: usize,
    },
    Switch(Vec<ControlRegion>),
    Once(ControlRegion),
}

/// An operation with regions at given extents.
enum ControlRun {
    Scan {
        body: Arc<LoopBody>,
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
    },
    Switch {
        arms: Vec<Arc<InPlace>>,
        dtype: DType,
    },
    Once(Arc<InPlace>),
}

impl Nested for Control {
    fn at(&self, x: &[(DType, Extents)], env: &Env) -> Option<Box<dyn NestedRun>> {
        let shapes = |x: &[(DType, Extents)]| x.iter().map(|x| x.1.clone()).collect::<Vec<_>>();
        Some(Box::new(match self {
            Control::Scan {
                body,
                length,
                reverse,
                consts,
                carry,
                compiled,
            } => {
                let steps = length.eval(env).ok()?;
                if compiled(steps) {
                    return None;
                }
                let mut inputs = shapes(x);
                for rows in inputs.get_mut(consts + carry..)? {
                    if rows.first() != Some(&steps) {
                        return None;
                    }
                    rows.remove(0);
                }
                let body = body.body_at(&inputs, env)?;
                has_carries(&body.form, *consts, *carry).then(|| ControlRun::Scan {
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
    /// The code of a loop, if it is compiled.
    fn code(&self) -> Option<&LoopSteps> {
        match self {
            ControlRun::Scan {
                body,
                steps,
                reverse,
                consts,
                carry,
            } => (body.code).get(*steps, || {
                loops::scan_code(&body.form, [*consts, *carry], *reverse)
            }),
            ControlRun::While {
                cond,
                body,
                cond_consts,
                body_consts,
            } => {
                let consts = [*cond_consts, *body_consts];
                let compile = || loops::while_code([cond, &body.form], consts);
                let code = (body.code).get(ASSUMED_STEPS, compile)?;
                // The condition may have been made for other extents of its constants.
                code.is_of(cond).then_some(code)
            }
            ControlRun::Switch { .. } | ControlRun::Once(_) => None,
        }
    }
}

impl NestedRun for ControlRun {
    fn is_code(&self) -> bool {
        self.code().is_some()
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
                let stacked = |(k, f): (usize, &InPlaceForm)| {
                    let (dtype, mut shape) = of(f);
                    if k >= *carry {
                        shape.insert(0, *steps);
                    }
                    (dtype, shape)
                };
                body.form.outputs.iter().enumerate().map(stacked).collect()
            }
            ControlRun::While { body, .. } => body.form.outputs.iter().map(of).collect(),
            ControlRun::Once(body) => body.outputs.iter().map(of).collect(),
            ControlRun::Switch { arms, .. } => arms[0].outputs.iter().map(of).collect(),
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
                } => {
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
                } => {
                    let (both, consts) = ([&**cond, &*body.form], [*cond_consts, *body_consts]);
                    match self.code() {
                        Some(code) => loops::run_while(code, both, consts, x, y),
                        None => while_loop(both, consts, x, y),
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
    let rows = consts + carry;
    let mut pulse = Pulse::new(body.work);
    body.with_state(|s| {
        for (k, &at) in x[..rows].iter().enumerate() {
            body.set_input(s, k, at);
        }
        for step in 0..steps {
            if pulse.is_interrupted() {
                return Err(interrupted());
            }
            let i = if reverse { steps - 1 - step } else { step };
            for (k, form) in body.inputs.iter().enumerate().skip(rows) {
                body.set_input(s, k, x[k].wrapping_add(i * form.bytes));
            }
            // The last step writes the results.
            let buffer = (steps - 1 - step) % 2;
            buffers.set_outputs(s, buffer);
            for (k, form) in body.outputs.iter().enumerate().skip(carry) {
                body.set_output(s, k, y[k].wrapping_add(i * form.bytes));
            }
            // SAFETY: inputs are constants, carries that the last step wrote or that are given, and
            // rows of operands; outputs are the other buffers, and rows of stacks (# Safety).
            unsafe { body.execute(s)? };
            buffers.set_inputs(s, buffer);
        }
        Ok(())
    })
}

/// Runs a `while`.
///
/// # Safety
/// The preconditions of [`NestedRun::run`].
unsafe fn while_loop(
    [cond, body]: [&InPlace; 2],
    [of_cond, of_body]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
) -> Result<()> {
    let carry = body.inputs.len() - of_body;
    let buffers = CarryBuffers::new(body, [of_body, carry], y)?;
    let first = &x[of_cond + of_body..];
    let mut pulse = Pulse::new(cond.work + body.work);
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
            let (mut buffer, mut steps) = (0, 0usize);
            loop {
                if pulse.is_interrupted() {
                    return Err(interrupted());
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
            Ok(())
        })
    })
}
