//! Loops as machine code ([`steps`](super::steps)): when they are compiled, and how they run.

use super::carries::CarryBuffers;
use super::in_place::InPlace;
use super::steps::{LoopSteps, Placed, StepRecorder, table};
use crate::interrupt::{Pulse, interrupted};
use cotangent_core::Result;
use cotangent_kernels::tile::StepsEnd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Number of steps from which a loop is compiled in its first run. Others are in the second.
const MIN_COMPILED_STEPS: usize = 32;

/// Estimated work of the steps between two looks at the hook that may end a run, in elementary
/// operations.
const WORK_OF_A_CALL: usize = 1 << 20;

/// A region in place, and the code of the loop whose body it is.
pub(super) struct LoopBody {
    pub(super) form: Arc<InPlace>,
    pub(super) code: LoopCode,
}

impl LoopBody {
    pub(super) fn new(form: InPlace) -> LoopBody {
        LoopBody {
            form: Arc::new(form),
            code: LoopCode::default(),
        }
    }
}

/// The code of a loop, which is compiled in a run.
#[derive(Default)]
pub(super) struct LoopCode {
    has_run: AtomicBool,
    code: OnceLock<Option<LoopSteps>>,
}

impl LoopCode {
    /// The code for a run of `steps` steps.
    pub(super) fn get(
        &self,
        steps: usize,
        compile: impl FnOnce() -> Option<LoopSteps>,
    ) -> Option<&LoopSteps> {
        match self.code.get() {
            Some(code) => code.as_ref(),
            None => {
                let again = self.has_run.swap(true, Ordering::Relaxed);
                (again || steps >= MIN_COMPILED_STEPS)
                    .then(|| self.code.get_or_init(compile).as_ref())?
            }
        }
    }
}

/// Whether the carry `k` of a body has one buffer, in which a step changes a window.
fn is_in_place(body: &InPlace, consts: usize, k: usize) -> bool {
    body.over[k] == Some(consts + k)
}

/// Bytes by which an entry advances in a step.
fn advance(bytes: usize, reverse: bool) -> Option<i32> {
    let bytes = i32::try_from(bytes).ok()?;
    Some(if reverse { -bytes } else { bytes })
}

/// Describes the carries of a body, then records it and what it keeps for the next step.
fn record<'a>(r: &mut StepRecorder<'a>, p: Placed<'a>, [consts, carry]: [usize; 2]) -> Option<()> {
    r.record(p)?;
    for k in (0..carry).filter(|&k| !is_in_place(p.f, consts, k)) {
        let (from, to) = (p.f.output_entries[k], consts + k);
        r.keep(p.first + from as u32, p.first + to as u32, &p.f.outputs[k])?;
    }
    Some(())
}

fn carries(r: &mut StepRecorder<'_>, p: Placed<'_>, [consts, carry]: [usize; 2]) {
    for k in (0..carry).filter(|&k| is_in_place(p.f, consts, k)) {
        let own = p.at(InPlace::entry(consts + k));
        r.change_in_place(own.base);
        r.alias(p.first + p.f.output_entries[k] as u32, own);
    }
}

/// The code of a scan.
pub(super) fn scan_code(body: &InPlace, counts: [usize; 2], reverse: bool) -> Option<LoopSteps> {
    let [consts, carry] = counts;
    let mut r = StepRecorder::new()?;
    let p = r.add(body);
    carries(&mut r, p, counts);
    let mut advances = Vec::new();
    for (k, form) in body.outputs.iter().enumerate().skip(carry) {
        let entry = body.output_entries[k] as u32;
        r.store_at_once(entry);
        advances.push((entry, advance(form.bytes, reverse)?));
    }
    for (k, form) in body.inputs.iter().enumerate().skip(consts + carry) {
        advances.push((k as u32, advance(form.bytes, reverse)?));
    }
    record(&mut r, p, counts)?;
    r.finish(advances)
}

/// The code of a `while`.
pub(super) fn while_code(
    [cond, body]: [&Arc<InPlace>; 2],
    [of_cond, of_body]: [usize; 2],
) -> Option<LoopSteps> {
    let carry = body.inputs.len() - of_body;
    let mut r = StepRecorder::new()?;
    let p = r.add(body);
    let q = r.add(cond);
    carries(&mut r, p, [of_body, carry]);
    for k in 0..carry {
        r.alias(
            q.first + (of_cond + k) as u32,
            p.at(InPlace::entry(of_body + k)),
        );
    }
    r.record(q)?;
    r.continue_if(q)?;
    record(&mut r, p, [of_body, carry])?;
    let code = r.finish(Vec::new())?;
    Some(LoopSteps {
        condition: Some(cond.clone()),
        ..code
    })
}

/// The number of steps of one call of code.
fn steps_of_a_call(work: usize) -> usize {
    (WORK_OF_A_CALL / work.max(1)).max(1)
}

/// Runs a scan by code.
///
/// # Safety
/// The preconditions of [`NestedRun::run`](crate::plan::nested::NestedRun::run); the code is that
/// of [`scan_code`].
pub(super) unsafe fn run_scan(
    code: &LoopSteps,
    body: &InPlace,
    steps: usize,
    reverse: bool,
    [consts, carry]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
) -> Result<()> {
    let buffers = CarryBuffers::new(body, [consts, carry], y)?;
    // SAFETY: the caller guarantees the first values (# Safety).
    unsafe { buffers.finish(|k| x[consts + k]) };
    let most = steps_of_a_call(body.work);
    let mut pulse = Pulse::new(body.work.saturating_mul(most));
    let parts = code.part_states()?;
    body.with_state(|s| {
        for (k, &at) in x[..consts].iter().enumerate() {
            body.set_input(s, k, at);
        }
        buffers.set_inputs(s, 0);
        buffers.set_outputs(s, 1);
        let mut done = 0;
        while done < steps {
            if pulse.is_interrupted() {
                return Err(interrupted());
            }
            let row = |done: usize| if reverse { steps - 1 - done } else { done };
            let set_rows = |s: &mut _, i: usize| {
                for (k, form) in body.inputs.iter().enumerate().skip(consts + carry) {
                    body.set_input(s, k, x[k].wrapping_add(i * form.bytes));
                }
                for (k, form) in body.outputs.iter().enumerate().skip(carry) {
                    body.set_output(s, k, y[k].wrapping_add(i * form.bytes));
                }
            };
            set_rows(s, row(done));
            let count = most.min(steps - done);
            // SAFETY: constants, rows and results are valid for each step; carries have the values
            // of the step before (# Safety).
            match unsafe { code.code.run(&mut table(&[s], &parts), count) } {
                StepsEnd::Done => done += count,
                StepsEnd::Stopped(_) => unreachable!("a scan has no condition"),
                StepsEnd::Rare(left) => {
                    done += count - left;
                    set_rows(s, row(done));
                    // SAFETY: as in `scan`; carries are read from the first buffers, written to the
                    // second ones, and copied.
                    unsafe {
                        body.execute(s)?;
                        buffers.finish(|k| buffers.at[k][1]);
                    }
                    done += 1;
                }
            }
        }
        Ok(())
    })
}

/// Runs a `while` by code.
///
/// # Safety
/// The preconditions of [`NestedRun::run`](crate::plan::nested::NestedRun::run); the code is that
/// of [`while_code`].
pub(super) unsafe fn run_while(
    code: &LoopSteps,
    [cond, body]: [&InPlace; 2],
    [of_cond, of_body]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
) -> Result<()> {
    let carry = body.inputs.len() - of_body;
    let buffers = CarryBuffers::new(body, [of_body, carry], y)?;
    // SAFETY: the caller guarantees the first values (# Safety).
    unsafe { buffers.finish(|k| x[of_cond + of_body + k]) };
    let work = cond.work + body.work;
    let most = steps_of_a_call(work);
    let mut pulse = Pulse::new(work.saturating_mul(most));
    let parts = code.part_states()?;
    cond.with_state(|t| {
        body.with_state(|s| {
            let mut holds = 0u8;
            cond.set_output(t, 0, &raw mut holds);
            for (k, &at) in x[..of_cond].iter().enumerate() {
                cond.set_input(t, k, at);
            }
            for (k, at) in buffers.at.iter().enumerate() {
                cond.set_input(t, of_cond + k, at[0]);
            }
            for (k, &at) in x[of_cond..of_cond + of_body].iter().enumerate() {
                body.set_input(s, k, at);
            }
            buffers.set_inputs(s, 0);
            buffers.set_outputs(s, 1);
            loop {
                if pulse.is_interrupted() {
                    return Err(interrupted());
                }
                // SAFETY: as in `run_scan`.
                match unsafe { code.code.run(&mut table(&[s, t], &parts), most) } {
                    StepsEnd::Done => {}
                    StepsEnd::Stopped(_) => return Ok(()),
                    // SAFETY: as in `while_loop`; carries are copied to the first buffers.
                    StepsEnd::Rare(_) => unsafe {
                        cond.execute(t)?;
                        if (&raw const holds).read_volatile() == 0 {
                            return Ok(());
                        }
                        body.execute(s)?;
                        buffers.finish(|k| buffers.at[k][1]);
                    },
                }
            }
        })
    })
}
