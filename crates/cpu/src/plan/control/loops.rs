//! Loops as machine code ([`steps`](super::steps)): when they are compiled, and how they run.

use super::called::failure;
use super::carries::{CarryBuffers, is_in_place};
use super::element_loop::ElementLoop;
use super::in_place::InPlace;
use super::steps::{
    Compiled, LoopMemory, LoopSteps, NotCode, PartMemory, Placed, StepRecorder, table,
};
use crate::interrupt::{Pulse, interrupted};
use crate::plan::nested::RoomFn;
use cotangent_core::Result;
use cotangent_kernels::tile::StepsEnd;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Estimated work of the steps between two looks at the hook that may end a run, in elementary
/// operations.
const WORK_OF_A_CALL: usize = 1 << 20;

/// The steps that a loop has run, which decide when it is compiled.
pub(crate) struct StepCount {
    steps: AtomicUsize,
    limit: usize,
}

impl StepCount {
    /// A loop that is compiled when it has run `limit` steps.
    pub(crate) fn new(limit: usize) -> StepCount {
        StepCount {
            steps: AtomicUsize::new(0),
            limit,
        }
    }

    /// Counts the steps of a run, `None` if their number is not known. Whether the loop is compiled
    /// for this run.
    pub(crate) fn is_due(&self, steps: Option<usize>) -> bool {
        let counted = steps.unwrap_or(self.limit).min(self.limit);
        let before = self.steps.load(Ordering::Relaxed);
        // No overflow: the count stays below twice the limit. A step that threads lose is no harm.
        if before < self.limit {
            self.steps.store(before + counted, Ordering::Relaxed);
        }
        before + steps.map_or(0, |_| counted) >= self.limit
    }
}

/// A region in place, and the code of the loop whose body it is.
pub(super) struct LoopBody {
    pub(super) form: Arc<InPlace>,
    pub(super) code: LoopCode,
    elements: OnceLock<Option<Arc<ElementLoop>>>,
}

impl LoopBody {
    pub(super) fn new(form: InPlace, compiled_after: usize) -> LoopBody {
        LoopBody {
            form: Arc::new(form),
            code: LoopCode {
                count: StepCount::new(compiled_after),
                code: OnceLock::new(),
            },
            elements: OnceLock::new(),
        }
    }

    /// The code of a scan with this body for each vector of elements. The first call compiles it,
    /// which records a trace: none may be in the making on this thread.
    pub(super) fn elements(&self, counts: [usize; 2]) -> Option<Arc<ElementLoop>> {
        let compile = || ElementLoop::of(&self.form, counts).map(Arc::new);
        self.elements.get_or_init(compile).clone()
    }
}

/// The code of a loop, which is compiled in a run.
pub(super) struct LoopCode {
    count: StepCount,
    code: OnceLock<Compiled<LoopSteps>>,
}

impl LoopCode {
    /// The code for a run of `steps` steps, `None` if their number is not known. The loop is
    /// compiled if that is due.
    pub(super) fn get(
        &self,
        steps: Option<usize>,
        compile: impl FnOnce() -> Compiled<LoopSteps>,
    ) -> Option<&LoopSteps> {
        match self.code.get() {
            Some(code) => code.as_ref().ok(),
            None => (self.count.is_due(steps)).then(|| self.compiled(compile).ok())?,
        }
    }

    /// Number of steps after which the loop is compiled.
    pub(super) fn compiled_after(&self) -> usize {
        self.count.limit
    }

    /// The code, or the reason for which there is none.
    pub(super) fn compiled(
        &self,
        compile: impl FnOnce() -> Compiled<LoopSteps>,
    ) -> Compiled<&LoopSteps> {
        self.code
            .get_or_init(compile)
            .as_ref()
            .map_err(Clone::clone)
    }
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

/// Records a loop and compiles it. If inner loops that change carries of the loop where they are
/// make that impossible, they change copies.
fn compiled<'a>(
    work: usize,
    record: impl Fn(&mut StepRecorder<'a>) -> Option<Vec<(u32, i32)>>,
) -> Compiled<LoopSteps> {
    let code = |in_place: bool| {
        let mut r = StepRecorder::new(in_place).ok_or(NotCode::Compiler)?;
        match record(&mut r) {
            Some(advances) => r.finish(advances, look_after(work)),
            None => Err(r.why_not()),
        }
    };
    match code(true) {
        Err(NotCode::Carries) => code(false),
        done => done,
    }
}

/// The code of a scan, or the reason for which there is none.
pub(super) fn scan_code(body: &InPlace, counts: [usize; 2], reverse: bool) -> Compiled<LoopSteps> {
    compiled(body.work, |r| record_scan(r, body, counts, reverse))
}

/// Records the steps of a scan. Bytes by which entries advance in a step.
fn record_scan<'a>(
    r: &mut StepRecorder<'a>,
    body: &'a InPlace,
    counts: [usize; 2],
    reverse: bool,
) -> Option<Vec<(u32, i32)>> {
    let [consts, carry] = counts;
    let p = r.add(body);
    r.constant(p, consts);
    carries(r, p, counts);
    let mut advances = Vec::new();
    for (k, form) in body.outputs.iter().enumerate().skip(carry) {
        let entry = body.output_entries[k] as u32;
        r.store_at_once(entry);
        advances.push((entry, advance(form.bytes, reverse)?));
    }
    for (k, form) in body.inputs.iter().enumerate().skip(consts + carry) {
        advances.push((k as u32, advance(form.bytes, reverse)?));
    }
    record(r, p, counts)?;
    Some(advances)
}

/// The code of a `while`, or the reason for which there is none.
pub(super) fn while_code(both: [&Arc<InPlace>; 2], consts: [usize; 2]) -> Compiled<LoopSteps> {
    let work = both[0].work + both[1].work;
    let mut steps = compiled(work, |r| record_while(r, both, consts))?;
    steps.condition = Some(both[0].clone());
    Ok(steps)
}

/// Records the condition and the steps of a `while`. Bytes by which entries advance in a step.
fn record_while<'a>(
    r: &mut StepRecorder<'a>,
    [cond, body]: [&'a Arc<InPlace>; 2],
    [of_cond, of_body]: [usize; 2],
) -> Option<Vec<(u32, i32)>> {
    let carry = body.inputs.len() - of_body;
    let p = r.add(body);
    let q = r.add(cond);
    r.constant(p, of_body);
    r.constant(q, of_cond);
    carries(r, p, [of_body, carry]);
    for k in 0..carry {
        r.alias(
            q.first + (of_cond + k) as u32,
            p.at(InPlace::entry(of_body + k)),
        );
    }
    let mut advances = Vec::new();
    for (k, form) in body.outputs.iter().enumerate().skip(carry) {
        let entry = body.output_entries[k] as u32;
        r.store_at_once(entry);
        advances.push((entry, advance(form.bytes, false)?));
    }
    r.record(q)?;
    r.continue_if(q)?;
    record(r, p, [of_body, carry])?;
    Some(advances)
}

/// Number of iterations of inner loops, in steps with this work, after which they ask whether the
/// run should end.
fn look_after(work: usize) -> u32 {
    u32::try_from(steps_of_a_call(work)).unwrap_or(u32::MAX)
}

/// The number of steps of one call of code.
fn steps_of_a_call(work: usize) -> usize {
    (WORK_OF_A_CALL / work.max(1)).max(1)
}

/// Steps that are interpreted after one that needs the scalar fallback: twice as many each time as
/// long as code makes no step in between.
#[derive(Default)]
struct InterpretedSpan {
    left: usize,
    length: usize,
}

impl InterpretedSpan {
    /// Begins a span after code made this number of steps.
    fn begin(&mut self, steps_of_code: usize) {
        self.length = match steps_of_code {
            0 => self.length.saturating_mul(2).max(1),
            _ => 1,
        };
        self.left = self.length;
    }

    /// Whether the next step is interpreted.
    fn has_next(&mut self) -> bool {
        let next = self.left > 0;
        self.left -= usize::from(next);
        next
    }
}

/// Runs a function on memory for a loop of code: the buffers of carries, with their first values,
/// and the memory of the code's parts. Another run may take the memory afterwards.
///
/// # Safety
/// `first` gives the memory of the first value of each carry.
unsafe fn with_buffers<R>(
    code: &LoopSteps,
    body: &InPlace,
    counts: [usize; 2],
    y: &[*mut u8],
    first: impl Fn(usize) -> *const u8,
    run: impl FnOnce(&CarryBuffers<'_>, &PartMemory) -> Result<R>,
) -> Result<R> {
    let LoopMemory { carries, parts } = code.memory(body, counts)?;
    let buffers = CarryBuffers::in_memory(body, counts, y, carries);
    // SAFETY: the caller guarantees the first values (# Safety).
    unsafe { buffers.finish(first) };
    let done = run(&buffers, &parts);
    let carries = buffers.into_memory();
    code.keep(LoopMemory { carries, parts });
    done
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
    let most = steps_of_a_call(body.work);
    let mut pulse = Pulse::new(body.work.saturating_mul(most));
    let run = |buffers: &CarryBuffers<'_>, parts: &PartMemory| {
        body.with_state(|s| {
            buffers.set_first(s, x);
            // SAFETY: constants are valid (# Safety).
            unsafe { code.code.copy(&table(&[s], parts)) };
            let (mut done, mut span) = (0, InterpretedSpan::default());
            while done < steps {
                if pulse.is_interrupted() {
                    return Err(interrupted());
                }
                let row = if reverse { steps - 1 - done } else { done };
                buffers.set_rows(s, row, x, y);
                if span.has_next() {
                    // SAFETY: as in `scan`; carries are read from the first buffers, written to the
                    // second ones, and copied.
                    unsafe {
                        body.execute(s)?;
                        buffers.finish(|k| buffers.at[k][1]);
                    }
                    done += 1;
                    continue;
                }
                let count = most.min(steps - done);
                // SAFETY: constants, rows and results are valid for each step; carries have the
                // values of the step before (# Safety).
                match unsafe { code.code.run(&mut table(&[s], parts), count) } {
                    StepsEnd::Done => done += count,
                    StepsEnd::Stopped(_) => unreachable!("a scan has no condition"),
                    StepsEnd::Ended => return Err(failure()),
                    StepsEnd::Rare(left) => {
                        span.begin(count - left);
                        done += count - left;
                    }
                }
            }
            Ok(())
        })
    };
    // SAFETY: the caller guarantees the first values (# Safety).
    unsafe { with_buffers(code, body, [consts, carry], y, |k| x[consts + k], run) }
}

/// Runs a `while` by code. Returns the number of steps.
///
/// # Safety
/// The preconditions of [`NestedRun::run_stacked`](crate::plan::nested::NestedRun::run_stacked);
/// the code is that of [`while_code`].
pub(super) unsafe fn run_while(
    code: &LoopSteps,
    [cond, body]: [&InPlace; 2],
    [of_cond, of_body]: [usize; 2],
    x: &[*const u8],
    y: &[*mut u8],
    room: &mut RoomFn<'_>,
) -> Result<usize> {
    let carry = body.inputs.len() - of_body;
    let work = cond.work + body.work;
    let most = steps_of_a_call(work);
    let mut pulse = Pulse::new(work.saturating_mul(most));
    let run = |buffers: &CarryBuffers<'_>, parts: &PartMemory| {
        cond.with_state(|t| {
            body.with_state(|s| {
                let mut holds = 0u8;
                buffers.set_first(s, &x[of_cond..]);
                buffers.set_condition(cond, t, &x[..of_cond], &raw mut holds);
                // SAFETY: as in `run_scan`.
                unsafe { code.code.copy(&table(&[s, t], parts)) };
                let (mut done, mut span) = (0, InterpretedSpan::default());
                let mut rows: SmallVec<[*mut u8; 4]> = SmallVec::new();
                rows.resize(body.outputs.len() - carry, std::ptr::null_mut());
                loop {
                    if pulse.is_interrupted() {
                        return Err(interrupted());
                    }
                    let count = most.min(room(done, &mut rows)?);
                    for (k, &row) in rows.iter().enumerate() {
                        body.set_output(s, carry + k, row);
                    }
                    if span.has_next() {
                        // SAFETY: as in `while_loop`; carries are copied to the first buffers.
                        unsafe {
                            cond.execute(t)?;
                            if (&raw const holds).read_volatile() == 0 {
                                return Ok(done);
                            }
                            body.execute(s)?;
                            buffers.finish(|k| buffers.at[k][1]);
                        }
                        done += 1;
                        continue;
                    }
                    // SAFETY: as in `run_scan`.
                    match unsafe { code.code.run(&mut table(&[s, t], parts), count) } {
                        StepsEnd::Done => done += count,
                        StepsEnd::Stopped(left) => return Ok(done + count - left),
                        StepsEnd::Ended => return Err(failure()),
                        StepsEnd::Rare(left) => {
                            span.begin(count - left);
                            done += count - left;
                        }
                    }
                }
            })
        })
    };
    let first = |k: usize| x[of_cond + of_body + k];
    // SAFETY: the caller guarantees the first values (# Safety).
    unsafe { with_buffers(code, body, [of_body, carry], y, first, run) }
}

#[cfg(test)]
mod tests {
    use super::{InterpretedSpan, StepCount};

    #[test]
    fn loops_are_compiled_after_a_number_of_steps_of_all_runs() {
        let runs = |steps: Option<usize>| {
            let count = StepCount::new(256);
            (1..=40).find(|_| count.is_due(steps))
        };
        assert_eq!(runs(Some(1000)), Some(1));
        assert_eq!(runs(Some(256)), Some(1));
        assert_eq!(runs(Some(255)), Some(2));
        assert_eq!(runs(Some(20)), Some(13));
        assert_eq!(runs(Some(0)), None);
        assert_eq!(runs(None), Some(2));
        let count = StepCount::new(1);
        assert!(!count.is_due(Some(0)) && count.is_due(Some(usize::MAX)) && count.is_due(None));
    }

    #[test]
    fn spans_double_while_code_makes_no_step() {
        // Steps of code, and interpreted ones, until code makes a step.
        let mut span = InterpretedSpan::default();
        let mut length = |steps_of_code| {
            span.begin(steps_of_code);
            let mut n = 0;
            while span.has_next() {
                n += 1;
            }
            n
        };
        assert_eq!([0, 0, 0, 0].map(&mut length), [1, 2, 4, 8]);
        assert_eq!([3, 0, 0, 9].map(&mut length), [1, 2, 4, 1]);
    }
}
