//! Buffers of the carries of a loop in place.

use super::frame::State;
use super::in_place::InPlace;
use crate::plan::arena::{Arena, padded};
use cotangent_core::Result;
use smallvec::SmallVec;

/// The buffers of carries: a step reads one and writes the other, or changes the one buffer of a
/// carry.
pub(super) struct CarryBuffers<'a> {
    body: &'a InPlace,
    consts: usize,
    carry: usize,
    /// The buffers of each carry.
    pub(super) at: SmallVec<[[*mut u8; 2]; 8]>,
    /// The memory of the second buffers.
    memory: Arena,
}

/// Whether the carry `k` of a body has one buffer, which a step changes.
pub(super) fn is_in_place(body: &InPlace, consts: usize, k: usize) -> bool {
    body.over[k].contains(&(consts + k))
}

/// Bytes of the second buffers of the carries.
pub(super) fn second_buffers(body: &InPlace, [consts, carry]: [usize; 2]) -> usize {
    let two = (0..carry).filter(|&k| !is_in_place(body, consts, k));
    two.map(|k| padded(body.outputs[k].bytes)).sum()
}

impl CarryBuffers<'_> {
    pub(super) fn new<'a>(
        body: &'a InPlace,
        [consts, carry]: [usize; 2],
        y: &[*mut u8],
    ) -> Result<CarryBuffers<'a>> {
        let memory = Arena::new(second_buffers(body, [consts, carry]))?;
        Ok(CarryBuffers::in_memory(body, [consts, carry], y, memory))
    }

    /// Buffers of which the second ones are in this memory, which has [`second_buffers`] bytes.
    pub(super) fn in_memory<'a>(
        body: &'a InPlace,
        [consts, carry]: [usize; 2],
        y: &[*mut u8],
        memory: Arena,
    ) -> CarryBuffers<'a> {
        let mut offset = 0;
        let at = (0..carry)
            .map(|k| match is_in_place(body, consts, k) {
                true => [y[k], y[k]],
                false => {
                    let second = memory.ptr().wrapping_add(offset);
                    offset += padded(body.outputs[k].bytes);
                    [y[k], second]
                }
            })
            .collect();
        CarryBuffers {
            body,
            consts,
            carry,
            at,
            memory,
        }
    }

    /// The memory of the second buffers.
    pub(super) fn into_memory(self) -> Arena {
        self.memory
    }

    /// Sets the addresses of constants, and of the carries: their first buffers are read, their
    /// second ones written. `x` are the constants.
    pub(super) fn set_first(&self, s: &mut State, x: &[*const u8]) {
        for (k, &at) in x[..self.consts].iter().enumerate() {
            self.body.set_input(s, k, at);
        }
        self.set_inputs(s, 0);
        self.set_outputs(s, 1);
    }

    /// Sets the addresses of the `i`-th rows of operands `x` and of stacked results `y`.
    pub(super) fn set_rows(&self, s: &mut State, i: usize, x: &[*const u8], y: &[*mut u8]) {
        let body = self.body;
        for (k, form) in (body.inputs.iter().enumerate()).skip(self.consts + self.carry) {
            body.set_input(s, k, x[k].wrapping_add(i * form.bytes));
        }
        for (k, form) in body.outputs.iter().enumerate().skip(self.carry) {
            body.set_output(s, k, y[k].wrapping_add(i * form.bytes));
        }
    }

    /// Sets the addresses of the condition of a `while`: its constants `x`, the first buffers of
    /// the carries, and its result.
    pub(super) fn set_condition(
        &self,
        cond: &InPlace,
        s: &mut State,
        x: &[*const u8],
        holds: *mut u8,
    ) {
        cond.set_output(s, 0, holds);
        let carries = self.at.iter().map(|at| at[0].cast_const());
        for (k, at) in x.iter().copied().chain(carries).enumerate() {
            cond.set_input(s, k, at);
        }
    }

    /// Sets the addresses of the carries that a step writes.
    pub(super) fn set_outputs(&self, s: &mut State, buffer: usize) {
        for (k, at) in self.at.iter().enumerate() {
            self.body.set_output(s, k, at[buffer]);
        }
    }

    /// Sets the addresses of the carries that a step reads.
    pub(super) fn set_inputs(&self, s: &mut State, buffer: usize) {
        for (k, at) in self.at.iter().enumerate() {
            self.body.set_input(s, self.consts + k, at[buffer]);
        }
    }

    /// Copies carries to the results: those of the second buffers, or first values.
    ///
    /// # Safety
    /// `from` has the address of each carry.
    pub(super) unsafe fn finish(&self, from: impl Fn(usize) -> *const u8) {
        for k in 0..self.carry {
            let (from, to) = (from(k), self.at[k][0]);
            if from != to.cast_const() {
                // SAFETY: the caller guarantees the carries (# Safety), which have memory of their
                // own.
                unsafe { to.copy_from_nonoverlapping(from, self.body.outputs[k].bytes) };
            }
        }
    }
}
