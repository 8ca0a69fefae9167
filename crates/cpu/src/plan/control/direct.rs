//! A program whose values are all small, in place: a run sets the addresses of operands and results
//! and executes instructions. It creates no tensors but its results.

use super::build::in_place;
use super::code::MAX_DIRECT_TILE_BYTES;
use super::frame::{InPlaceForm, State};
use super::in_place::InPlace;
use super::instruction::Instruction;
use crate::interrupt::{is_brief, watched};
use crate::maps::copied;
use crate::plan::Plan;
use crate::raw::{Raw, RawMut};
use crate::tensor::{Extents, Fresh, Tensor, volume};
use crate::tuning::{MAX_DIRECT_ELEMENTS, MAX_FRAME_BYTES, MAX_VALUE_BYTES};
use cotangent_core::{DType, Env, Result, Type};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, TryLockError};

/// A program in place.
pub(crate) struct DirectProgram {
    form: InPlace,
    /// Whether a run takes less time than passes before a hook is asked, and calls no kernels.
    brief: bool,
    /// Whether it has loops, branches or other regions.
    regions: bool,
    /// Memory of a run. A run beside another one has its own.
    state: Mutex<DirectState>,
}

/// Memory of a run.
struct DirectState {
    state: State,
    /// Row-major copies of operands that are not row-major, by input.
    copies: Vec<Vec<u128>>,
}

impl DirectState {
    fn new(form: &InPlace) -> Result<DirectState> {
        Ok(DirectState {
            state: form.new_state(form.frame)?,
            copies: vec![Vec::new(); form.inputs.len()],
        })
    }

    /// The address of the elements of operand `k`, row-major.
    #[inline]
    fn row_major(&mut self, k: usize, x: &Tensor) -> *const u8 {
        match x.is_row_major() {
            true => x.first_ptr(),
            false => copied(&mut self.copies[k], x),
        }
    }
}

/// The extents of a type of known and small size that has elements.
fn small(ty: &Type) -> Option<Extents> {
    let extents = ty.shape.iter().map(|d| d.as_const());
    let shape: Extents = extents.collect::<Option<_>>()?;
    let n = volume(&shape).ok()?;
    let bytes = n.checked_mul(ty.dtype.size())?;
    (1..=MAX_VALUE_BYTES).contains(&bytes).then_some(shape)
}

impl InPlaceForm {
    /// Whether these are its element type and extents.
    #[inline]
    fn has(&self, dtype: DType, shape: &[usize]) -> bool {
        // Compared inline: a call to `memcmp` takes longer for a few extents.
        let same =
            self.shape.len() == shape.len() && self.shape.iter().zip(shape).all(|(a, b)| a == b);
        same && self.dtype == dtype
    }

    #[inline]
    fn fresh(&self) -> Result<Fresh> {
        Fresh::new(self.dtype, self.bytes / self.dtype.size())
    }
}

impl DirectProgram {
    /// The program of a plan, if its values are small and of known extents and it has a form in
    /// place.
    #[inline(never)] // its frame is large, and programs of regions are compiled by recursion
    pub(crate) fn new(plan: &Arc<Plan>) -> Option<DirectProgram> {
        let f = &plan.function;
        let mut all = f.vals().map(|v| small(f.ty(v)));
        let elements = all.try_fold(0, |sum, shape| Some(sum + volume(&shape?).ok()?))?;
        (elements <= MAX_DIRECT_ELEMENTS).then_some(())?;
        let inputs = f.params().iter().map(|&p| small(f.ty(p)));
        let inputs: Vec<Extents> = inputs.collect::<Option<_>>()?;
        let form = in_place(plan, &inputs, Env::default(), MAX_DIRECT_TILE_BYTES)?;
        (form.memory() <= MAX_FRAME_BYTES).then_some(())?;
        let state = Mutex::new(DirectState::new(&form).ok()?);
        let calls =
            |i: &Instruction| matches!(i, Instruction::Call(_) | Instruction::Control { .. });
        let brief = is_brief(form.work) && !form.instructions.iter().any(calls);
        Some(DirectProgram {
            form,
            brief,
            regions: f.depth() > 0,
            state,
        })
    }

    /// Whether it has loops, branches or other regions.
    pub(crate) fn has_regions(&self) -> bool {
        self.regions
    }

    /// Whether the limits of a run do not matter to a run of this program: it is too short for
    /// threads and for a hook.
    #[inline]
    pub(crate) fn is_brief(&self) -> bool {
        self.brief
    }

    /// Calls `f` with memory for a run.
    #[inline]
    fn with_state<R>(&self, f: impl FnOnce(&mut DirectState) -> Result<R>) -> Result<R> {
        match self.state.try_lock() {
            Ok(mut state) => f(&mut state),
            Err(TryLockError::Poisoned(e)) => f(&mut e.into_inner()),
            Err(TryLockError::WouldBlock) => f(&mut DirectState::new(&self.form)?),
        }
    }

    /// Runs the instructions.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    #[inline]
    unsafe fn execute(&self, s: &mut State) -> Result<()> {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        watched(self.form.work, || unsafe { self.form.execute(s) })
    }

    /// Runs the program and passes each result to `give`; `None`, without running, unless the
    /// operands have the types of the inputs.
    pub(crate) fn run<'t>(
        &self,
        x: impl Iterator<Item = &'t Tensor> + Clone,
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        let mut types = x.clone();
        let fits =
            |form: &InPlaceForm| (types.next()).is_some_and(|x| form.has(x.dtype(), x.shape()));
        if !self.form.inputs.iter().all(fits) || types.next().is_some() {
            return None;
        }
        Some(self.with_state(|s| {
            for (k, x) in x.enumerate() {
                let at = s.row_major(k, x);
                self.form.set_input(&mut s.state, k, at);
            }
            // SAFETY: every operand has the type of its input and is row-major or was copied. `x`
            // and the state keep them alive.
            unsafe { self.give_results(&mut s.state, give) }
        }))
    }

    /// Whether operands have the types of the inputs and are contiguous.
    fn takes_raw(&self, x: &[Raw<'_>]) -> bool {
        let inputs = &self.form.inputs;
        let fits =
            |(x, form): (&Raw<'_>, &InPlaceForm)| form.has(x.dtype, x.shape) && x.is_row_major();
        x.len() == inputs.len() && x.iter().zip(inputs).all(fits)
    }

    /// Runs on contiguous operands `x` and passes each result to `give`; `None`, without running,
    /// unless they have the types of the inputs.
    ///
    /// # Safety
    /// Operands are valid for reading.
    pub(crate) unsafe fn run_on(
        &self,
        x: &[Raw<'_>],
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        self.takes_raw(x).then(|| {
            self.with_state(|s| {
                let s = &mut s.state;
                (x.iter().enumerate()).for_each(|(k, x)| self.form.set_input(s, k, x.data));
                // SAFETY: operands have the types of the inputs and are contiguous (checked above).
                // The caller guarantees that they can be read (# Safety).
                unsafe { self.give_results(s, give) }
            })
        })
    }

    /// Runs on contiguous operands `x` and writes results to `y`; `None`, without running, unless
    /// they have the types of inputs and outputs.
    ///
    /// # Safety
    /// Operands are valid for reading. Results are valid for writing, and overlap nothing else.
    pub(crate) unsafe fn run_raw(&self, x: &[Raw<'_>], y: &[RawMut<'_>]) -> Option<Result<()>> {
        let outputs = &self.form.outputs;
        let fits = |(y, form): (&RawMut<'_>, &InPlaceForm)| form.has(y.dtype, y.shape);
        let results = y.len() == outputs.len() && y.iter().zip(outputs).all(fits);
        (self.takes_raw(x) && results).then(|| {
            self.with_state(|s| {
                let s = &mut s.state;
                (x.iter().enumerate()).for_each(|(k, x)| self.form.set_input(s, k, x.data));
                (y.iter().enumerate()).for_each(|(k, y)| self.form.set_output(s, k, y.data));
                // SAFETY: operands and results have the types of inputs and outputs, and operands
                // are contiguous (checked above). The caller guarantees that they can be read and
                // written (# Safety).
                unsafe { self.execute(s) }
            })
        })
    }

    /// Allocates results and runs on the operands in the table.
    ///
    /// # Safety
    /// The table has the addresses of contiguous operands of the input types.
    unsafe fn give_results(&self, s: &mut State, mut give: impl FnMut(Tensor)) -> Result<()> {
        let outputs = &self.form.outputs;
        // A single result, the most common case, needs no vector.
        if let [form] = &outputs[..] {
            let result = form.fresh()?;
            self.form.set_output(s, 0, result.ptr());
            // SAFETY: the caller guarantees the operands (# Safety). The new buffer has room for
            // the result, and the run writes all its elements.
            give(unsafe {
                self.execute(s)?;
                result.into_tensor(&form.shape)
            });
            return Ok(());
        }
        let mut results: SmallVec<[Fresh; 2]> = SmallVec::new();
        for (k, form) in outputs.iter().enumerate() {
            let result = form.fresh()?;
            self.form.set_output(s, k, result.ptr());
            results.push(result);
        }
        // SAFETY: the caller guarantees the operands (# Safety). New buffers have room for the
        // results, and the run writes all their elements.
        unsafe {
            self.execute(s)?;
            for (r, form) in results.into_iter().zip(outputs) {
                give(r.into_tensor(&form.shape));
            }
        }
        Ok(())
    }
}
