//! A function that runs in place: instructions over a table of addresses, for given extents. A run
//! reads its inputs and writes its results where its caller says.

use super::frame::{FrameAddress, InPlaceForm, State, frame_entry, start};
use super::instruction::{Instruction, TileBody, TileCode, TileRun};
use crate::element::limit;
use crate::folds::RawView;
use crate::plan::Plan;
use crate::plan::arena::{Arena, padded};
use crate::plan::build::StepKind;
use crate::plan::code::{CodeMember, Finish};
use crate::plan::execute::GroupRun;
use crate::plan::laid::{LaidStep, Resolved};
use crate::plan::pack::{Addresses, LocalPlaces};
use crate::plan::rows::copy_rows;
use cotangent_core::{DType, Env, Op, Result};
use cotangent_kernels::Fallible;
use cotangent_kernels::parallel::Shared;
use cotangent_kernels::tile::fold::{FOLD_CHUNK_ELEMENTS, ReduceOp, Reduced};
use cotangent_kernels::tile::{Body, BodyLayouts};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest memory of a run that stays with the function between runs, in bytes.
pub(super) const MAX_KEPT_FRAME_BYTES: usize = 1 << 20;

/// A function in place.
pub(crate) struct InPlace {
    pub(super) plan: Arc<Plan>,
    pub(super) resolved: Arc<Resolved>,
    pub(super) env: Env,
    pub(super) instructions: Vec<Instruction>,
    pub(super) inputs: Vec<InPlaceForm>,
    pub(super) outputs: Vec<InPlaceForm>,
    /// The entry of the table for the address of each result.
    pub(super) output_entries: Vec<usize>,
    /// For each result the inputs whose memory it may have, one of which the run then changes: the
    /// result is an update of a window of that input, or has many elements that are computed from
    /// those at their indices, and nothing reads the input afterwards.
    pub(super) over: Vec<SmallVec<[usize; 1]>>,
    /// For each result that is an input, changed by several steps, the values in between: they have
    /// the memory of the result.
    pub(super) through: Vec<SmallVec<[usize; 1]>>,
    /// Entries of the table that are addresses in the frame, with their offsets.
    pub(super) entries: Vec<(usize, usize)>,
    /// Entries of the table that are tensors of the plan.
    pub(super) constants: Vec<(usize, *const u8)>,
    /// Bytes of the frame that are the same in every run.
    pub(super) image: Vec<(usize, Vec<u8>)>,
    pub(super) frame: usize,
    /// Entries of results that their step writes, with offsets after the frame, and the size of the
    /// frame with these results: memory of a function that is a part of a loop's code.
    pub(super) results: Vec<(usize, usize)>,
    pub(super) frame_with_results: usize,
    pub(super) table: usize,
    pub(super) starts: usize,
    /// Estimated work of a run, in elementary operations.
    pub(super) work: usize,
    pub(super) states: Mutex<Vec<State>>,
}

// SAFETY: pointers of `constants` lead into tensors that the plan keeps and nothing writes.
unsafe impl Send for InPlace {}
// SAFETY: pointers of `constants` lead into tensors that the plan keeps and nothing writes.
unsafe impl Sync for InPlace {}

impl InPlace {
    /// Calls `f` with memory for runs.
    pub(super) fn with_state<R>(&self, f: impl FnOnce(&mut State) -> Result<R>) -> Result<R> {
        let states = || self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = states().pop();
        let mut state = match kept {
            Some(state) => state,
            None => self.new_state(self.frame)?,
        };
        let y = f(&mut state);
        if state.frame.bytes() <= MAX_KEPT_FRAME_BYTES {
            states().push(state);
        }
        y
    }

    /// Bytes that a run takes besides its inputs and results.
    pub(super) fn memory(&self) -> usize {
        let of = |i: &Instruction| match i {
            Instruction::Control { run, .. } => run.memory(),
            Instruction::Call(c) => c.results.iter().flatten().map(|(_, form)| form.bytes).sum(),
            _ => 0,
        };
        let most = self.instructions.iter().map(of).max();
        self.frame + self.table * size_of::<Shared<u8>>() + most.unwrap_or(0)
    }

    /// Memory for runs as a part of a loop's code: its results and these inputs have memory, too.
    pub(super) fn new_part_state(&self, inputs: Range<usize>) -> Result<State> {
        let bytes = |k: usize| padded(self.inputs[k].bytes);
        let of_inputs: usize = inputs.clone().map(bytes).sum();
        let mut state = self.new_state(self.frame_with_results + of_inputs)?;
        let mut at = self.frame_with_results;
        for k in inputs {
            state.table[k] = Shared(state.frame.ptr().wrapping_add(at));
            at += bytes(k);
        }
        for &(entry, at) in &self.results {
            state.table[entry] = Shared(state.frame.ptr().wrapping_add(at));
        }
        Ok(state)
    }

    /// Memory for runs.
    pub(super) fn new_state(&self, frame: usize) -> Result<State> {
        let frame = Arena::new(frame)?;
        let mut table: Vec<Shared<u8>> = Vec::new();
        table.resize_with(self.table, || Shared(std::ptr::null_mut()));
        for (at, bytes) in &self.image {
            let to = frame.ptr().wrapping_add(*at);
            // SAFETY: the image is inside of the frame, which is exclusive.
            unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        for &(entry, at) in &self.entries {
            table[entry] = Shared(frame.ptr().wrapping_add(at));
        }
        for &(entry, at) in &self.constants {
            table[entry] = Shared(at.cast_mut());
        }
        Ok(State {
            frame,
            table,
            starts: vec![0; self.starts],
        })
    }

    /// Sets the address of an input. Those of the others stay.
    pub(super) fn set_input(&self, s: &mut State, k: usize, at: *const u8) {
        s.table[k] = Shared(at.cast_mut());
    }

    /// Sets the address of a result.
    #[inline]
    pub(super) fn set_output(&self, s: &mut State, k: usize, at: *mut u8) {
        s.table[self.output_entries[k]] = Shared(at);
        for &place in &self.through[k] {
            s.table[place] = Shared(at);
        }
    }

    /// Runs once.
    ///
    /// # Safety
    /// Inputs are valid for reading their elements, row-major; outputs for writing theirs, and
    /// overlap nothing else.
    pub(super) unsafe fn run(&self, x: &[*const u8], y: &[*mut u8]) -> Result<()> {
        self.with_state(|s| {
            x.iter()
                .enumerate()
                .for_each(|(k, &at)| self.set_input(s, k, at));
            y.iter()
                .enumerate()
                .for_each(|(k, &at)| self.set_output(s, k, at));
            // SAFETY: the caller guarantees inputs and outputs (# Safety).
            unsafe { self.execute(s) }
        })
    }

    /// The operation that a step computes.
    pub(super) fn op(&self, step: usize) -> &Op {
        let eqn = self.plan.parts.steps[step].eqn as usize;
        &self.plan.function.eqns()[eqn].op
    }

    /// The name of the operation that a step computes.
    pub(super) fn operation(&self, step: usize) -> &str {
        self.op(step).name()
    }

    /// The entry of the table with the address of the frame.
    pub(super) fn frame_entry(&self) -> usize {
        frame_entry(self.plan.parts.places.len())
    }

    /// The operand of an entry of the table.
    pub(super) fn entry(base: usize) -> FrameAddress {
        FrameAddress {
            base: base as u32,
            offset: 0,
        }
    }
}

impl InPlace {
    /// The body of a tile.
    pub(super) fn body<'a>(&'a self, code: &'a TileCode) -> &'a Body {
        let [step, phase] = code.at;
        match (&code.decided, &self.plan.parts.steps[step].kind) {
            (Some(decided), _) => &decided.body,
            (None, StepKind::Code(c)) => &c.phases[phase].code.body,
            (None, StepKind::Call(_)) => unreachable!("a step of code"),
        }
    }

    pub(super) fn member(&self, [step, phase]: [usize; 2], member: usize) -> &CodeMember {
        match &self.plan.parts.steps[step].kind {
            StepKind::Code(c) => &c.phases[phase].code.members[member],
            StepKind::Call(_) => unreachable!("a step of code"),
        }
    }

    /// Runs the instructions.
    ///
    /// # Safety
    /// The state is one of this body. Its table has the addresses of all inputs and outputs: inputs
    /// are row-major and initialised, outputs are valid for their elements and overlap nothing that
    /// an instruction reads after it writes them.
    pub(super) unsafe fn execute(&self, s: &mut State) -> Result<()> {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.execute_all(s, &self.instructions) }
    }

    /// Runs some instructions.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    unsafe fn execute_all(&self, s: &mut State, all: &[Instruction]) -> Result<()> {
        for i in all {
            // SAFETY: the builder made each instruction of a step of a verified plan: operands are
            // inside of their values, which are in the table (# Safety) or in the frame.
            unsafe {
                match i {
                    Instruction::Body(b) => match &b.run {
                        TileRun::Kernels(tiles) => {
                            for t in tiles {
                                let x = t.x.map(|x| s.at(x).cast_const());
                                (t.kernel)(b.n, s.at(t.y), x, t.data);
                            }
                        }
                        TileRun::Compiled { layouts, .. } => self.compiled(s, b, layouts),
                    },
                    Instruction::Address { to, x, moves } => {
                        let moved = moves
                            .iter()
                            .map(|(slot, bytes)| s.starts[*slot] as isize * bytes);
                        let at = s.at(*x).wrapping_offset(moved.sum());
                        s.table[*to] = Shared(at);
                    }
                    Instruction::Start {
                        slot,
                        dtype,
                        last,
                        x,
                    } => s.starts[*slot] = start(*dtype, s.at(*x), *last),
                    Instruction::Fill { size, n, y, x } => {
                        let to = (0..*n as isize).map(|k| (k, 0));
                        moved(*size, s.at(*y), s.at(*x), to);
                    }
                    Instruction::Gather { size, at, y, x } => {
                        let all = at.iter().enumerate().map(|(k, &from)| (k as isize, from));
                        moved(*size, s.at(*y), s.at(*x), all);
                    }
                    Instruction::Scatter { size, at, y, x } => {
                        let all = at.iter().enumerate().map(|(k, &to)| (to, k as isize));
                        moved(*size, s.at(*y), s.at(*x), all);
                    }
                    Instruction::Rows {
                        bytes, at, y, x, ..
                    } => {
                        copy_rows(*bytes, s.at(*y), s.at(*x), at.iter().copied());
                    }
                    Instruction::Copy { bytes, y, x, .. } => {
                        s.at(*y).copy_from_nonoverlapping(s.at(*x), *bytes);
                    }
                    Instruction::Pack(p) => {
                        let places = Addresses {
                            table: &s.table[..self.plan.parts.places.len()],
                            local: LocalPlaces::default(),
                        };
                        p.read.lines.pack(s.at(p.y), 0..p.n, places);
                    }
                    Instruction::Code { packed, .. } if !packed.is_empty() => {
                        self.execute_all(s, packed)?;
                    }
                    other => self.execute_large(s, other)?,
                }
            }
        }
        Ok(())
    }

    /// Runs the compiled body of a tile.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    unsafe fn compiled(&self, s: &State, b: &TileBody, layouts: &BodyLayouts) {
        let x: SmallVec<[*const u8; 16]> =
            b.inputs.iter().map(|x| s.at(x.at).cast_const()).collect();
        let y: SmallVec<[*mut u8; 8]> = b.outputs.iter().map(|&y| s.at(y)).collect();
        // SAFETY: the caller guarantees the table (# Safety); outputs are contiguous, and
        // the layouts are those of the inputs.
        unsafe { self.body(&b.code).run(layouts, 0..b.n, &x, &y) }
    }

    /// Runs an instruction that is a function of its own.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    #[inline(never)] // the others are the fast ones
    unsafe fn execute_large(&self, s: &mut State, i: &Instruction) -> Result<()> {
        // SAFETY: as in `execute`, whose preconditions the caller guarantees (# Safety).
        unsafe {
            match i {
                Instruction::Fold {
                    at,
                    member,
                    rows,
                    len,
                    y,
                    x,
                } => {
                    let m = self.member(*at, *member);
                    let Finish::Fold(f) = &m.finish else {
                        unreachable!("a fold");
                    };
                    if let Some(fold) = f.of_short_rows
                        && *len <= FOLD_CHUNK_ELEMENTS
                    {
                        let (y, x) = (s.at(*y), s.at(*x).cast_const());
                        match m.dtype {
                            DType::F32 => short_rows::<f32>(fold, y, x, *rows, *len),
                            _ => short_rows::<f64>(fold, y, x, *rows, *len),
                        }
                        return Ok(());
                    }
                    prepare(s.at(*y), *rows, m.dtype);
                    let x = RawView {
                        first: s.at(*x),
                        shape: &[*rows, *len],
                        strides: &[*len as isize, 1],
                    };
                    f.fold.run(s.at(*y), *rows, x, &[1]);
                    Ok(())
                }
                Instruction::Product {
                    product,
                    dtype,
                    n,
                    y,
                    x,
                } => {
                    prepare(s.at(*y), *n, *dtype);
                    let factors = [s.view(&x[0]), s.view(&x[1])];
                    product.run(s.at(*y), *n, factors).map_err(limit)
                }
                Instruction::Update(u) => {
                    u.run(s);
                    Ok(())
                }
                Instruction::Code { at, .. } => self.general(s, *at).map_err(limit),
                Instruction::Call(c) => self.call(s, c),
                Instruction::Control { run, eqn, x, y } => {
                    let x: SmallVec<[*const u8; 8]> =
                        x.iter().map(|&o| s.at(o).cast_const()).collect();
                    let y: SmallVec<[*mut u8; 4]> = y.iter().map(|&o| s.at(o)).collect();
                    let loc = self.plan.function.eqns()[*eqn].loc;
                    run.run(&x, &y).map_err(|err| err.at(loc))
                }
                _ => unreachable!("a small instruction"),
            }
        }
    }

    /// Runs a phase of a step of code in its general form.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    unsafe fn general(&self, s: &State, [step, phase]: [usize; 2]) -> Fallible {
        let StepKind::Code(code) = &self.plan.parts.steps[step].kind else {
            unreachable!("a step of code");
        };
        let LaidStep::Code(laid) = &self.resolved.steps[step] else {
            unreachable!("a step that is laid as code");
        };
        let run = GroupRun {
            step: code,
            laid,
            table: &s.table[..self.plan.parts.places.len()],
            arena: Shared(s.frame.ptr()),
        };
        // SAFETY: the caller guarantees the table (# Safety). The frame begins with the arena, in
        // which scratch memory and the values that only the step reads are.
        unsafe { run.run_phase(phase) }
    }
}

/// Copies elements of `size` bytes, each from and to its position.
///
/// # Safety
/// Both pointers are valid for elements of `size` bytes at all of their positions, and the
/// destination overlaps nothing that is read.
unsafe fn moved(
    size: usize,
    y: *mut u8,
    x: *const u8,
    positions: impl Iterator<Item = (isize, isize)>,
) {
    macro_rules! elements {
        ($($n:literal $T:ty),*) => {
            match size {
                $($n => for (to, from) in positions {
                    // SAFETY: the caller guarantees the positions (# Safety).
                    unsafe {
                        let value = x.cast::<$T>().offset(from).read_unaligned();
                        y.cast::<$T>().offset(to).write_unaligned(value);
                    }
                },)*
                _ => unreachable!("elements have 1, 2, 4, 8 or 16 bytes"),
            }
        };
    }
    elements!(1 u8, 2 u16, 4 u32, 8 u64, 16 u128);
}

/// Reduces `count` rows of `len` elements, where `len` is at least 1 and at most
/// [`FOLD_CHUNK_ELEMENTS`].
///
/// # Safety
/// `x` is valid for reading `count * len` elements, `y` for writing `count`, and they do not
/// overlap.
unsafe fn short_rows<T: Reduced>(
    fold: ReduceOp,
    y: *mut u8,
    x: *const u8,
    count: usize,
    len: usize,
) {
    // SAFETY: the caller guarantees `count * len` readable and `count` exclusive, writable elements
    // (# Safety). Every bit pattern is a value of `T`.
    let (y, x) = unsafe {
        (
            std::slice::from_raw_parts_mut(y.cast::<T>(), count),
            std::slice::from_raw_parts(x.cast::<T>(), count * len),
        )
    };
    fold.pieces(y, x, len);
}

/// Makes memory valid for elements that kernels receive as slices.
///
/// # Safety
/// The memory is valid for `n` elements.
unsafe fn prepare(to: *mut u8, n: usize, dtype: DType) {
    if dtype == DType::Bool {
        // SAFETY: the caller guarantees `n` elements of one byte (# Safety).
        unsafe { to.write_bytes(0, n) };
    }
}
