//! [`Recurrence`]: a loop whose step is a body, as machine code.
//!
//! Elementwise steps on values of one extent are a recurrence for each element. A vector of
//! elements goes through all steps in one call of code ([`emit`](crate::emit)). A step with a rare
//! lane is interpreted, and code goes on after it.
//!
//! Products with subnormal numbers take some Intel machines as long as a hundred others, and a
//! recurrence that decays, as most adjoints do, consists of them: where the flags say that a few
//! steps met some, the following ones run code that has no such products
//! ([`gradual`](crate::vector::gradual)). The bits are the same.

use super::Body;
use super::body::Line;
use super::emitted::is_wanted;
use super::pack::fill;
use crate::emit::Looped;
use crate::simd::{Level, is_intel};
use std::sync::OnceLock;

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// Steps after which the flags are asked.
const FLAG_CHECK_STEPS: usize = 32;

/// A loop: inputs of its body are constants, carries and rows, outputs are carries and rows.
pub struct Recurrence {
    body: Body,
    consts: usize,
    carries: usize,
    level: Level,
    /// Code, and code for subnormal numbers.
    code: [OnceLock<Option<Looped>>; 2],
}

impl Recurrence {
    /// The loop of a body with so many constants and carries, for the vectors of this machine.
    pub fn new(body: Body, consts: usize, carries: usize) -> Recurrence {
        Recurrence {
            body,
            consts,
            carries,
            level: Level::chosen(),
            code: Default::default(),
        }
    }

    /// Whether there is code for it. Compiles it the first time.
    pub fn is_ready(&self) -> bool {
        is_wanted() && self.code(false).is_some()
    }

    fn code(&self, gradual: bool) -> Option<&Looped> {
        let compile = || {
            Looped::compile(
                &self.body.program(self.level == Level::Avx512, gradual)?,
                self.consts,
                self.carries,
            )
        };
        self.code[usize::from(gradual)]
            .get_or_init(compile)
            .as_ref()
    }

    /// Runs `steps` steps on `n` elements; backwards if rows are read and written from the last on.
    /// O(steps × n).
    ///
    /// # Panics
    /// If it is not ready.
    ///
    /// # Safety
    /// Inputs and outputs are valid for `n` elements of their sizes, rows for `n` in each step.
    /// Outputs overlap nothing.
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
            // Where subnormal numbers cost much: whether the next steps run code for subnormal
            // numbers, and how many do.
            let (mut left, mut gradual, mut span) = (steps, false, FLAG_CHECK_STEPS);
            while left > 0 {
                let (code, most) = match gradual {
                    true => (self.code(true).unwrap_or(code), span),
                    false => (code, if is_intel() { FLAG_CHECK_STEPS } else { left }),
                };
                let most = most.min(left);
                let asked = is_intel() && !gradual;
                if asked {
                    met_subnormals();
                }
                // SAFETY: the caller's promise, for so many steps and these lanes; there is at
                // least one of each.
                let moved = unsafe { code.call(&table, most, stride, lanes) };
                gradual = asked && met_subnormals();
                if gradual {
                    // Calls that end at rare lanes may be many.
                    span = span.saturating_mul(4);
                }
                for k in 0..self.carries {
                    table[self.consts + k] = table[inputs.len() + k];
                }
                advance(&mut table, moved);
                let done = (moved / stride) as usize;
                left -= done;
                if done < most {
                    // SAFETY: as above, for one step.
                    unsafe { self.interpret(&table, lanes) };
                    advance(&mut table, stride);
                    left -= 1;
                }
            }
        }
    }

    /// One step on a few elements, instruction by instruction.
    ///
    /// # Safety
    /// That of [`Recurrence::run`] for the addresses in `table`, where a carry may be its own
    /// input.
    #[cold]
    unsafe fn interpret(&self, table: &[*mut u8], n: usize) {
        let (body, inputs) = (&self.body, self.body.inputs.len());
        // As many bytes of each place as a vector has at most, for every byte of an element.
        let lines = body.widest;
        let own = body.registers + body.constants.len() + self.carries;
        let mut memory = vec![Line([0; 64]); own * lines];
        let base = memory.as_mut_ptr();
        let place = |k: usize| base.wrapping_add(k * lines).cast::<u8>();
        let mut at: Vec<*mut u8> = (0..body.registers).map(place).collect();
        at.extend_from_slice(&table[..inputs]);
        for (k, (bytes, size)) in body.constants.iter().enumerate() {
            let to = place(body.registers + k);
            // SAFETY: a place has room for as many elements as a vector has.
            unsafe { fill(*size, to, bytes.as_ptr(), n) };
            at.push(to);
        }
        let carries = own - self.carries..own;
        at.extend(carries.clone().map(place));
        at.extend_from_slice(&table[inputs + self.carries..]);
        for i in body.code() {
            let x = i.x.map(|x| at[x].cast_const());
            // SAFETY: every place holds `n` elements of the size that its value has.
            unsafe { (i.kernel)(n, at[i.y], x, i.data) };
        }
        for (k, from) in carries.enumerate() {
            // SAFETY: as many elements of the new carry, and room for them.
            unsafe {
                std::ptr::copy_nonoverlapping(place(from), table[inputs + k], n * body.outputs[k].0)
            };
        }
    }
}

/// Whether an operation of this thread read or made a subnormal number since it was asked last.
#[cfg(target_arch = "x86_64")]
fn met_subnormals() -> bool {
    /// A subnormal operand; a result that is inexact because it is.
    const MET: u32 = 1 << 1 | 1 << 4;
    let mut flags = 0u32;
    // SAFETY: the register of flags is read and written back without the flags, which no code
    // relies on.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut flags, options(nostack));
        let clear = flags & !0x3f;
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const clear, options(nostack));
    }
    flags & MET != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn met_subnormals() -> bool {
    false
}
