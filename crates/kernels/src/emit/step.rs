//! [`StepRecorder`]: records the step of a loop, for [`steps`](super::steps).

use super::recorder::with;
use super::trace::{
    BinaryInst, IntegerInst, LaneType, Record, StepAddress, Trace, TraceId, predicate,
};

/// An effect of a step, in the order of its operations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepEffect {
    /// Stores the first lanes of a value at an address plus a distance that was computed, if there
    /// is one.
    Store {
        to: StepAddress,
        offset: Option<TraceId>,
        value: TraceId,
        lanes: u8,
    },
    /// Ends the loop before this step if the boolean is false.
    Continue(TraceId),
    /// Makes an entry of the table an address, and a distance from it that was computed if there is
    /// one.
    Point {
        entry: u32,
        to: StepAddress,
        offset: Option<TraceId>,
    },
    /// Begins an inner loop.
    Begin(u32),
    /// Leaves the innermost loop if the boolean is false.
    Leave(TraceId),
    /// Ends an inner loop.
    End(u32),
    /// Calls a function.
    Call(StepCall),
}

/// A function that a step calls with the table and a context. It returns 0; after any other number
/// the run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepCall {
    /// Address of the function.
    pub(crate) function: u64,
    pub(crate) context: u64,
    /// Whether it changes memory that the step reads.
    pub(crate) changes: bool,
}

impl StepEffect {
    /// The values that it reads.
    pub(super) fn values(&self) -> impl Iterator<Item = TraceId> {
        let both = match *self {
            StepEffect::Store { offset, value, .. } => [Some(value), offset],
            StepEffect::Continue(holds) | StepEffect::Leave(holds) => [Some(holds), None],
            StepEffect::Point { offset, .. } => [offset, None],
            StepEffect::Begin(_) | StepEffect::End(_) | StepEffect::Call(_) => [None, None],
        };
        both.into_iter().flatten()
    }
}

/// Largest depth of inner loops in a step.
pub(crate) const MAX_INNER_DEPTH: usize = 2;

/// A loop within a step.
#[derive(Clone)]
pub(crate) struct InnerLoop {
    /// Number of iterations, at least one; `None` if a condition ends the loop.
    pub(super) trips: Option<u32>,
    /// Entries of the table that advance after an iteration, with their bytes.
    pub(super) advances: Vec<(u32, i32)>,
}

/// A value that is kept for the next step, and the operands that its first lanes replace: that at
/// an address, and those after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptValue {
    pub(super) to: StepAddress,
    pub(super) value: TraceId,
    pub(super) lanes: u8,
}

/// A copy of an element, made before the steps.
#[derive(Clone, Copy)]
pub(crate) struct ElementCopy {
    pub(super) from: StepAddress,
    /// Distance of the copy from the first one, in bytes.
    pub(super) to: i32,
    /// In bytes: 4 or 8.
    pub(super) size: usize,
}

/// Copies of elements that are the same in all steps, where adjacent lanes read elements that are
/// not adjacent.
#[derive(Clone, Default)]
pub(crate) struct ElementCopies {
    /// Entries of the table that do not advance and lead to memory that no step changes.
    pub(super) constant: Vec<u32>,
    /// The entry of the copies.
    pub(super) entry: u32,
    pub(super) all: Vec<ElementCopy>,
    /// Size of all copies, in bytes.
    pub(super) bytes: usize,
}

impl ElementCopies {
    /// Copies the elements.
    ///
    /// # Safety
    /// The addresses of the table are valid for the elements, and that of the copies for all.
    pub(crate) unsafe fn copy(&self, table: &[*mut u8]) {
        for c in &self.all {
            // SAFETY: the caller guarantees the addresses (# Safety).
            unsafe {
                let from = table[c.from.entry as usize].offset(c.from.offset as isize);
                let to = table[self.entry as usize].offset(c.to as isize);
                match c.size {
                    4 => to.cast::<u32>().write(from.cast::<u32>().read()),
                    _ => to.cast::<u64>().write(from.cast::<u64>().read()),
                }
            }
        }
    }

    /// Size of all copies, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A recorded step.
pub(crate) struct StepTrace {
    pub(super) trace: Trace,
    /// Address of each input of the trace.
    pub(super) loads: Vec<StepAddress>,
    /// Effects, each with the number of operations that were recorded before it.
    pub(super) effects: Vec<(usize, StepEffect)>,
    /// Values that are kept for the next step.
    pub(super) kept: Vec<KeptValue>,
    /// Entries of the table that advance, with their bytes.
    pub(super) advances: Vec<(u32, i32)>,
    /// Entries of the table that lead to memory that a step reads before it stores to it.
    pub(super) changed: Vec<u32>,
    pub(super) loops: Vec<InnerLoop>,
    /// Number of iterations after which loops with a condition ask whether the run should end.
    pub(super) look_after: u32,
    pub(super) copies: ElementCopies,
    /// Values that were computed alike, in groups.
    pub(super) alike: Vec<Vec<TraceId>>,
}

impl StepTrace {
    /// The largest number of lanes of a value or of a store.
    pub(super) fn lanes(&self) -> usize {
        let stored = self.effects.iter().map(|(_, e)| match e {
            StepEffect::Store { lanes, .. } => *lanes,
            _ => 1,
        });
        let kept = self.kept.iter().map(|k| k.lanes);
        let values = self.trace.lanes.iter().copied();
        values.chain(stored).chain(kept).max().unwrap_or(1).into()
    }

    /// Makes the values that effects read and that are kept the outputs of the trace.
    pub(super) fn with_outputs(mut self) -> StepTrace {
        let values = self.effects.iter().flat_map(|(_, e)| e.values());
        let kept = self.kept.iter().map(|k| k.value);
        self.trace.outputs = values.chain(kept).collect();
        self
    }

    /// The number of operations besides loads, constants and parts.
    pub(super) fn operations(&self) -> usize {
        let loads = self.trace.ops.iter().filter(|op| op.input().is_some());
        self.trace.ops.len() - loads.count()
    }
}

/// A step under construction. One at a time is recorded on a thread.
pub(crate) struct StepRecorder {
    step: StepTrace,
    /// The loops that have begun and not ended.
    open: Vec<u32>,
}

/// The addresses of the parts of an element: two if it has 16 bytes.
fn parts_at(at: StepAddress) -> [StepAddress; 2] {
    let second = StepAddress {
        offset: at.offset + 8,
        ..at
    };
    [at, second]
}

impl StepRecorder {
    /// Starts a step for AVX-512 (`wide`) or AVX2.
    pub(crate) fn start(wide: bool) -> StepRecorder {
        with(|p| p.start(wide, 1));
        StepRecorder {
            step: StepTrace {
                trace: Trace::default(),
                loads: Vec::new(),
                effects: Vec::new(),
                kept: Vec::new(),
                advances: Vec::new(),
                changed: Vec::new(),
                loops: Vec::new(),
                look_after: u32::MAX,
                copies: ElementCopies::default(),
                alike: Vec::new(),
            },
            open: Vec::new(),
        }
    }

    /// An element that no store of the step changes before its last use.
    pub(crate) fn fixed(&mut self, at: StepAddress, size: usize) -> TraceId {
        if size == 16 {
            let parts = parts_at(at).map(|at| self.fixed(at, 8));
            return with(|p| p.pair(parts));
        }
        self.step.loads.push(at);
        with(|p| p.input(size))
    }

    /// An element as it is after the stores that were recorded, at a distance in bytes that was
    /// computed if there is one.
    pub(crate) fn load(
        &mut self,
        at: StepAddress,
        offset: Option<TraceId>,
        size: usize,
    ) -> TraceId {
        if size == 16 {
            let parts = parts_at(at).map(|at| self.load(at, offset, 8));
            return with(|p| p.pair(parts));
        }
        self.step.loads.push(at);
        with(|p| p.load(size, offset))
    }

    /// The operation of a kernel.
    pub(crate) fn op(&mut self, record: Record, x: [TraceId; 3], data: usize) -> TraceId {
        record(x, data)
    }

    /// The elements of `size` bytes that are stored for a value: two if it has 16 bytes.
    fn stored(
        &mut self,
        at: StepAddress,
        size: usize,
        x: TraceId,
    ) -> [Option<(StepAddress, TraceId)>; 2] {
        if size == 16 {
            let values = with(|p| p.parts_of(x, 16));
            let [a, b] = parts_at(at);
            return [Some((a, values[0])), Some((b, values[1]))];
        }
        let x = with(|p| {
            let x = if size == 1 { p.byte(x) } else { x };
            match p.kind(x) == LaneType::Lane(size as u8) {
                true => x,
                false => p.fail(),
            }
        });
        [Some((at, x)), None]
    }

    /// Stores an element, at a distance in bytes that was computed if there is one.
    pub(crate) fn store(
        &mut self,
        to: StepAddress,
        offset: Option<TraceId>,
        size: usize,
        x: TraceId,
    ) {
        for (to, value) in self.stored(to, size, x).into_iter().flatten() {
            self.effect(StepEffect::Store {
                to,
                offset,
                value,
                lanes: 1,
            });
        }
    }

    fn effect(&mut self, effect: StepEffect) {
        self.step.effects.push((self.recorded(), effect));
    }

    /// The number of values that were recorded: those of larger numbers are recorded later.
    pub(crate) fn recorded(&self) -> usize {
        with(|p| p.len())
    }

    /// Makes an entry of the table an address, and a distance from it that was computed if there is
    /// one.
    pub(crate) fn point(&mut self, entry: u32, to: StepAddress, offset: Option<TraceId>) {
        self.effect(StepEffect::Point { entry, to, offset });
    }

    /// Begins an inner loop of a number of iterations, at least one, or one that a condition ends.
    /// `None` if it is too deep.
    pub(crate) fn begin(&mut self, trips: Option<u32>) -> Option<()> {
        (self.open.len() < MAX_INNER_DEPTH).then_some(())?;
        let k = self.step.loops.len() as u32;
        self.step.loops.push(InnerLoop {
            trips,
            advances: Vec::new(),
        });
        self.open.push(k);
        self.effect(StepEffect::Begin(k));
        Some(())
    }

    /// Leaves the innermost loop if the boolean is false.
    pub(crate) fn leave_unless(&mut self, x: TraceId) {
        let holds = with(|p| p.truth(x));
        self.effect(StepEffect::Leave(holds));
    }

    /// Ends the innermost loop. Entries of the table advance by these bytes after an iteration.
    pub(crate) fn end(&mut self, advances: Vec<(u32, i32)>) {
        let k = self.open.pop().expect("a loop has begun");
        self.step.loops[k as usize].advances = advances;
        self.effect(StepEffect::End(k));
    }

    /// Stores an element at the end of the step, after the last use of what was there.
    pub(crate) fn keep(&mut self, to: StepAddress, size: usize, x: TraceId) {
        let stored = self.stored(to, size, x);
        let kept = |(to, value)| KeptValue {
            to,
            value,
            lanes: 1,
        };
        self.step
            .kept
            .extend(stored.into_iter().flatten().map(kept));
    }

    /// Ends the loop before this step if the boolean is false.
    pub(crate) fn continue_if(&mut self, x: TraceId) {
        let holds = with(|p| p.truth(x));
        self.effect(StepEffect::Continue(holds));
    }

    /// Calls a function after the loads and stores that were recorded, and before those to come.
    pub(crate) fn call(&mut self, call: StepCall) {
        self.effect(StepEffect::Call(call));
    }

    /// The integer `clamp(x, 0, last)` as a lane of 8 bytes, for an integer of `size` bytes.
    pub(crate) fn start_of_window(
        &mut self,
        x: TraceId,
        size: usize,
        signed: bool,
        last: u64,
    ) -> TraceId {
        with(|p| {
            let x = if size == 1 { p.byte(x) } else { x };
            // A number of fewer bytes than the limit is clamped after it is extended.
            let x = p.resize(x, 8, signed);
            let last = p.constant(last, 8);
            if !signed {
                return p.whole(IntegerInst::MinUnsigned, x, last);
            }
            let zero = p.constant(0, 8);
            let x = p.whole(IntegerInst::Max, x, zero);
            p.whole(IntegerInst::Min, x, last)
        })
    }

    /// `to + start * bytes`, where the start is below 2^31 and the product below 2^63.
    pub(crate) fn moved(&mut self, to: Option<TraceId>, start: TraceId, bytes: i64) -> TraceId {
        with(|p| {
            let factor = p.constant(bytes.unsigned_abs(), 8);
            let by = match bytes.unsigned_abs() {
                1 => start,
                _ => p.two(BinaryInst::Integer(IntegerInst::MulLow, 8), start, factor),
            };
            let to = match (to, bytes < 0) {
                (None, false) => return by,
                (None, true) => p.constant(0, 8),
                (Some(to), _) => to,
            };
            let f = if bytes < 0 {
                IntegerInst::Sub
            } else {
                IntegerInst::Add
            };
            p.two(BinaryInst::Integer(f, 8), to, by)
        })
    }

    pub(crate) fn plus(&mut self, x: TraceId, y: TraceId) -> TraceId {
        with(|p| p.two(BinaryInst::Integer(IntegerInst::Add, 8), x, y))
    }

    /// `x < y` of signed lanes of 8 bytes.
    pub(crate) fn less(&mut self, x: TraceId, y: TraceId) -> TraceId {
        with(|p| p.order(predicate::WHOLE_LT, true, x, y))
    }

    /// `clamp(x, limits[0], limits[1])` of a signed lane of 8 bytes.
    pub(crate) fn clamped(&mut self, x: TraceId, limits: [i64; 2]) -> TraceId {
        with(|p| {
            let [low, high] = limits.map(|l| p.constant(l as u64, 8));
            let x = p.whole(IntegerInst::Max, x, low);
            p.whole(IntegerInst::Min, x, high)
        })
    }

    pub(crate) fn both(&mut self, x: TraceId, y: TraceId) -> TraceId {
        with(|p| p.both(x, y))
    }

    pub(crate) fn either(&mut self, x: TraceId, y: TraceId) -> TraceId {
        with(|p| p.either(x, y))
    }

    /// Whether a float is NaN.
    pub(crate) fn is_nan(&mut self, x: TraceId) -> TraceId {
        with(|p| p.compare(predicate::opposite(predicate::EQ), x, x))
    }

    /// The step needs the scalar fallback where the boolean is false.
    pub(crate) fn rare_unless(&mut self, x: TraceId) {
        with(|p| {
            let rare = p.not(x);
            p.rare.push(rare);
        });
    }

    /// The step needs the scalar fallback where the boolean is true.
    pub(crate) fn rare(&mut self, x: TraceId) {
        with(|p| p.rare.push(x));
    }

    pub(crate) fn select(&mut self, holds: TraceId, x: TraceId, y: TraceId) -> TraceId {
        with(|p| p.select(holds, x, y))
    }

    /// An element of these bytes.
    pub(crate) fn constant(&mut self, bytes: &[u8]) -> TraceId {
        let number = |bytes: &[u8]| {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(all)
        };
        with(|p| match bytes.len() {
            16 => {
                let parts = [&bytes[..8], &bytes[8..]].map(|half| p.constant(number(half), 8));
                p.pair(parts)
            }
            size => p.constant(number(bytes), size),
        })
    }

    /// The parts of a complex number of `size` bytes.
    pub(crate) fn parts(&mut self, z: TraceId, size: usize) -> [TraceId; 2] {
        with(|p| p.parts_of(z, size))
    }

    /// The complex number `re + i im` of the parts of `x` and `y`: `re = x[0] - x[1]`,
    /// `im = y[0] + y[1]`.
    pub(crate) fn complex(&mut self, x: [TraceId; 2], y: [TraceId; 2]) -> TraceId {
        with(|p| {
            let re = p.two(BinaryInst::Sub, x[0], x[1]);
            let im = p.two(BinaryInst::Add, y[0], y[1]);
            p.pair([re, im])
        })
    }

    /// `a b + c` of floats of `size` bytes, rounded once.
    pub(crate) fn fma(&mut self, a: TraceId, b: TraceId, c: TraceId) -> TraceId {
        with(|p| p.fma(a, b, c))
    }

    /// Entries that do not advance and lead to memory that no step changes. Copies of its elements
    /// are at the entry `copies`.
    pub(crate) fn constants(&mut self, entries: Vec<u32>, copies: u32) {
        self.step.copies.constant = entries;
        self.step.copies.entry = copies;
    }

    /// Values that were computed alike, such as the lanes of a reduction.
    pub(crate) fn alike(&mut self, values: Vec<TraceId>) {
        self.step.alike.push(values);
    }

    /// The number of operations besides loads.
    pub(crate) fn len(&self) -> usize {
        with(|p| p.len()) - self.step.loads.len()
    }

    /// The step. Entries of the table advance by bytes; those of `changed` lead to memory that the
    /// step reads before it stores to it. Loops with a condition ask after `look_after`
    /// iterations whether the run should end.
    pub(crate) fn finish(
        mut self,
        advances: Vec<(u32, i32)>,
        changed: Vec<u32>,
        look_after: u32,
    ) -> StepTrace {
        self.step.trace = with(std::mem::take);
        self.step.advances = advances;
        self.step.changed = changed;
        self.step.look_after = look_after;
        self.step.with_outputs()
    }
}
