//! [`Recurrence`]: a loop whose step is a body, compiled to machine code.
//!
//! Elementwise steps on values of one extent are an independent recurrence for each element. One
//! call of compiled code runs a vector of elements through all steps ([`emit`](crate::emit)). A
//! step in which some lane needs the scalar fallback is interpreted; the code then continues after
//! it.
//!
//! On some Intel CPUs a product with subnormal numbers takes 100 times as long as another. A
//! decaying recurrence, such as most adjoints, has many of them. After every few steps the
//! floating-point flags are read. If they show subnormal numbers, the following steps run code
//! without such products ([`gradual`](crate::vector::gradual)). The results have the same bits.

use super::Body;
use super::body::TileBlock;
use super::emitted::is_wanted;
use super::pack::fill;
use crate::emit::Looped;
use crate::simd::{Isa, is_intel};
use crate::tuning::FLAG_CHECK_STEPS;
use std::sync::OnceLock;

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// A loop. Inputs of its body are constants, carries and rows; outputs are carries and rows.
pub struct Recurrence {
    body: Body,
    consts: usize,
    carries: usize,
    isa: Isa,
    /// The code, and the code that avoids operations on subnormal numbers.
    code: [OnceLock<Option<Looped>>; 2],
}

impl Recurrence {
    /// The loop of a body with `consts` constants and `carries` carries, for the chosen instruction
    /// set.
    pub fn new(body: Body, consts: usize, carries: usize) -> Recurrence {
        Recurrence {
            body,
            consts,
            carries,
            isa: Isa::chosen(),
            code: Default::default(),
        }
    }

    /// Whether the loop can be compiled. The first call compiles it.
    pub fn is_ready(&self) -> bool {
        is_wanted() && self.code(false).is_some()
    }

    fn code(&self, gradual: bool) -> Option<&Looped> {
        let compile = || {
            Looped::compile(
                &self.body.trace(self.isa == Isa::Avx512, gradual)?,
                self.consts,
                self.carries,
            )
        };
        self.code[usize::from(gradual)]
            .get_or_init(compile)
            .as_ref()
    }

    /// Runs `steps` steps on `n` elements. Rows are read and written from the last to the first if
    /// `backwards`. O(steps × n).
    ///
    /// # Panics
    /// If the loop cannot be compiled.
    ///
    /// # Safety
    /// Inputs and outputs are valid for `n` elements of their sizes; rows are valid for `n`
    /// elements in each step. Outputs overlap nothing, except that a carry may be its own input.
    pub unsafe fn run(
        &self,
        n: usize,
        steps: usize,
        backwards: bool,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        let code = self.code(false).expect("there is code");
        assert!(
            inputs.len() == self.body.inputs.len() && outputs.len() == self.body.outputs.len(),
            "operands of a body"
        );
        if steps == 0 {
            return;
        }
        let sizes = self
            .body
            .inputs
            .iter()
            .chain(&self.body.outputs)
            .map(|x| x.0);
        let stacks = self.consts + self.carries;
        let is_row =
            |k: usize| k >= stacks && !(inputs.len()..inputs.len() + self.carries).contains(&k);
        let stride = if backwards { -(n as isize) } else { n as isize };
        for start in (0..n).step_by(code.lanes) {
            let lanes = code.lanes.min(n - start);
            let all = inputs
                .iter()
                .map(|x| x.cast_mut())
                .chain(outputs.iter().copied());
            let first = |(k, (at, size)): (usize, (*mut u8, usize))| {
                let row = if backwards && is_row(k) {
                    (steps - 1) * n
                } else {
                    0
                };
                at.wrapping_add((row + start) * size)
            };
            let mut table: Vec<*mut u8> = all.zip(sizes.clone()).enumerate().map(first).collect();
            let advance = |table: &mut [*mut u8], by: isize| {
                for (k, (at, size)) in table.iter_mut().zip(sizes.clone()).enumerate() {
                    if is_row(k) {
                        *at = at.wrapping_offset(by * size as isize);
                    }
                }
            };
            // On Intel CPUs: whether the next steps run the code that avoids subnormal numbers, and
            // for how many steps.
            let (mut left, mut gradual, mut span) = (steps, false, FLAG_CHECK_STEPS);
            while left > 0 {
                let (code, most) = match gradual {
                    true => (self.code(true).unwrap_or(code), span),
                    false => (code, if is_intel() { FLAG_CHECK_STEPS } else { left }),
                };
                let most = most.min(left);
                let checks_flags = is_intel() && !gradual;
                if checks_flags {
                    take_subnormal_flags();
                }
                // SAFETY: the caller guarantees that the addresses are valid for these lanes in all
                // steps. `most` and `lanes` are at least 1.
                let moved = unsafe { code.call(&table, most, stride, lanes) };
                gradual = checks_flags && take_subnormal_flags();
                if gradual {
                    // Short spans would cost many calls, so the span grows.
                    span = span.saturating_mul(4);
                }
                for k in 0..self.carries {
                    table[self.consts + k] = table[inputs.len() + k];
                }
                advance(&mut table, moved);
                let done = (moved / stride) as usize;
                left -= done;
                if done < most {
                    // SAFETY: the caller guarantees that the addresses are valid for these lanes in
                    // the next step; `done < most`, so there is one.
                    unsafe { self.interpret(&table, lanes) };
                    advance(&mut table, stride);
                    left -= 1;
                }
            }
        }
    }

    /// Interprets one step on at most one vector of elements.
    ///
    /// # Safety
    /// The preconditions of [`Recurrence::run`] for the addresses in `table`; a carry may be its
    /// own input.
    #[cold]
    unsafe fn interpret(&self, table: &[*mut u8], n: usize) {
        let (body, inputs) = (&self.body, self.body.inputs.len());
        // Blocks of 64 bytes per operand, one for each byte of the widest element: memory for 64
        // elements.
        let lines = body.widest;
        let own = body.registers + body.constants.len() + self.carries;
        let mut memory = vec![TileBlock([0; 64]); own * lines];
        let base = memory.as_mut_ptr();
        let place = |k: usize| base.wrapping_add(k * lines).cast::<u8>();
        let mut at: Vec<*mut u8> = (0..body.registers).map(place).collect();
        at.extend_from_slice(&table[..inputs]);
        for (k, (bytes, size)) in body.constants.iter().enumerate() {
            let to = place(body.registers + k);
            // SAFETY: an operand has 64 elements of the widest size, and `n` is at most the lanes
            // of a vector.
            unsafe { fill(*size, to, bytes.as_ptr(), n) };
            at.push(to);
        }
        let carries = own - self.carries..own;
        at.extend(carries.clone().map(place));
        at.extend_from_slice(&table[inputs + self.carries..]);
        for i in body.code() {
            let x = i.x.map(|x| at[x].cast_const());
            // SAFETY: every operand is valid for `n` elements of its size: those in `table` by the
            // caller's guarantee, the others by their allocation.
            unsafe { (i.kernel)(n, at[i.y], x, i.data) };
        }
        for (k, from) in carries.enumerate() {
            // SAFETY: the caller guarantees that the carry is valid for `n` elements, and the copy
            // has as many.
            unsafe {
                std::ptr::copy_nonoverlapping(place(from), table[inputs + k], n * body.outputs[k].0)
            };
        }
    }
}

/// Whether an operation of this thread read or produced a subnormal number since the last call.
#[cfg(target_arch = "x86_64")]
fn take_subnormal_flags() -> bool {
    /// Flags DE (subnormal operand) and UE (inexact subnormal result) of MXCSR.
    const MET: u32 = 1 << 1 | 1 << 4;
    let mut flags = 0u32;
    // SAFETY: only the exception flags of MXCSR change, and no code depends on them.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut flags, options(nostack));
        let clear = flags & !0x3f;
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const clear, options(nostack));
    }
    flags & MET != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn take_subnormal_flags() -> bool {
    false
}
