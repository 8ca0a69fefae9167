//! [`VectorLoop`]: a loop whose step is a body, compiled to machine code.
//!
//! If a step reads and writes every value at the index itself, each element has a loop of its own.
//! One call of compiled code runs some vectors of elements through all steps
//! ([`emit`](crate::emit)), up to [`MAX_LOOP_VECTORS`]: a step waits for the one before it, and the
//! vectors do not wait for each other. Few elements run in small vectors, which take less time on
//! some CPUs. A step in which some lane needs the scalar fallback is
//! interpreted; the code then continues after it.
//!
//! On some Intel CPUs a product with subnormal numbers takes 100 times as long as another. A
//! decaying loop, such as most adjoints, has many of them. After every few steps the
//! floating-point flags are read. If they show subnormal numbers, the following steps run code
//! without such products ([`gradual`](crate::vector::gradual)). The results have the same bits.

use super::Body;
use super::body::TileBlock;
use super::emitted::is_wanted;
use super::pack::fill;
use crate::emit::{LoopVector, Looped, Trace};
use crate::parallel::{Shared, parallel};
use crate::simd::{Isa, is_intel};
use crate::tuning::{FLAG_CHECK_STEPS, LOOP_OPERATIONS_PER_NS, MAX_LOOP_OPS, MAX_LOOP_VECTORS};
use std::sync::OnceLock;

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// A loop. Inputs of its body are constants, carries and rows; outputs are carries and rows.
pub struct VectorLoop {
    body: Body,
    consts: usize,
    carries: usize,
    isa: Isa,
    /// The code by the kind of vectors.
    code: [LoopCode; LOOP_LANES],
}

/// The code, and the code that avoids operations on subnormal numbers, by the logarithm of the
/// number of vectors.
type LoopCode = [[OnceLock<Option<Looped>>; 2]; MAX_LOOP_VECTORS.ilog2() as usize + 1];

/// Number of kinds of vectors.
const LOOP_LANES: usize = 3;

/// The elements that run in one vector.
#[derive(Clone, Copy)]
struct LoopLanes {
    /// Which of the kinds of vectors it is.
    kind: usize,
    lanes: usize,
}

impl VectorLoop {
    /// The loop of a body with `consts` constants and `carries` carries, for the chosen instruction
    /// set.
    pub fn new(body: Body, consts: usize, carries: usize) -> VectorLoop {
        VectorLoop {
            body,
            consts,
            carries,
            isa: Isa::chosen(),
            code: Default::default(),
        }
    }

    /// Whether the loop can be compiled for `n` elements. The first call compiles it.
    pub fn is_ready(&self, n: usize) -> bool {
        is_wanted() && self.code(self.lanes(n), 1, false).is_some()
    }

    /// The vectors that run next, of `left` elements, at least one: the smallest that hold them in
    /// AVX-512, the largest that they fill in AVX2.
    fn lanes(&self, left: usize) -> LoopLanes {
        let size = self.body.widest;
        let bytes = left.saturating_mul(size);
        let is_larger = |smaller: &&usize| match self.isa {
            Isa::Avx512 => bytes > **smaller,
            _ => bytes >= **smaller,
        };
        let kind = [16, 32].iter().filter(is_larger).count();
        let vector = self.vector(kind);
        let lanes = match vector.single {
            true => 1,
            false => left.min(vector.bytes / size),
        };
        LoopLanes { kind, lanes }
    }

    /// The vectors of a kind.
    fn vector(&self, kind: usize) -> LoopVector {
        match self.isa {
            Isa::Avx512 => LoopVector {
                bytes: 16 << kind,
                single: false,
            },
            _ => LoopVector {
                bytes: [16, 16, 32][kind],
                single: kind == 0,
            },
        }
    }

    /// The code for this number of vectors, a power of two.
    fn code(&self, of: LoopLanes, vectors: usize, gradual: bool) -> Option<&Looped> {
        let compile = || {
            let trace = self.trace(vectors, gradual)?;
            let stacks = [self.consts * vectors, self.carries * vectors];
            Looped::compile(&trace, stacks, self.vector(of.kind))
        };
        self.code[of.kind][vectors.ilog2() as usize][usize::from(gradual)]
            .get_or_init(compile)
            .as_ref()
    }

    /// The trace of a step on some vectors: each input and output is there for every vector before
    /// the next one.
    fn trace(&self, vectors: usize, gradual: bool) -> Option<Trace> {
        let recording = self.body.start_trace(self.isa == Isa::Avx512)?;
        let mut inputs = vec![Vec::new(); vectors];
        for (size, _) in &self.body.inputs {
            inputs
                .iter_mut()
                .for_each(|x| x.push(recording.input(*size)));
        }
        let mut of_vectors = Vec::new();
        for x in &inputs {
            of_vectors.push(self.body.record(&recording, x, gradual)?);
        }
        let outputs = 0..self.body.outputs.len();
        let outputs = outputs.flat_map(|k| of_vectors.iter().map(move |y| y[k]));
        Some(recording.finish(&outputs.collect::<Vec<_>>()))
    }

    /// The number of vectors that run together, of `left` elements.
    fn vectors(&self, of: LoopLanes, left: usize) -> usize {
        let one = self.code(of, 1, false).map_or(0, |one| one.operations);
        let mut vectors = 1;
        while 2 * vectors <= MAX_LOOP_VECTORS
            && 2 * vectors * of.lanes <= left
            && 2 * vectors * one <= MAX_LOOP_OPS
            && self.code(of, 2 * vectors, false).is_some()
        {
            vectors *= 2;
        }
        vectors
    }

    /// Runs `steps` steps on `n` elements. Rows are read and written from the last to the first if
    /// `backwards`. Elements are shared among threads. O(steps × n).
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
        assert!(
            inputs.len() == self.body.inputs.len() && outputs.len() == self.body.outputs.len(),
            "operands of a body"
        );
        if steps == 0 || n == 0 {
            return;
        }
        let all = inputs.iter().map(|x| x.cast_mut());
        let all: Vec<Shared<u8>> = all.chain(outputs.iter().copied()).map(Shared).collect();
        let first = self.lanes(n);
        let one = self.code(first, 1, false).expect("there is code");
        let block = self.vectors(first, n) * first.lanes;
        let operations = one.operations.saturating_mul(steps);
        let nanos =
            operations.saturating_mul(n.div_ceil(first.lanes)) as u64 / LOOP_OPERATIONS_PER_NS;
        parallel(n.div_ceil(block), nanos, |chunk| {
            let (mut start, end) = (chunk * block, n.min((chunk + 1) * block));
            while start < end {
                let of = self.lanes(end - start);
                let vectors = self.vectors(of, end - start);
                // The first rows of these vectors in memory.
                let first = |(k, (at, size)): (usize, (&Shared<u8>, usize))| {
                    let row = match backwards && self.is_row(k) {
                        true => (steps - 1) * n,
                        false => 0,
                    };
                    let at = at.get().wrapping_add((row + start) * size);
                    (0..vectors).map(move |v| at.wrapping_add(v * of.lanes * size))
                };
                let table = all.iter().zip(self.sizes()).enumerate().flat_map(first);
                let stride = if backwards { -(n as isize) } else { n as isize };
                // SAFETY: the caller guarantees that the addresses are valid for these lanes in
                // all steps (# Safety); there is code for this number of vectors. Chunks have
                // different elements.
                unsafe { self.run_vectors(table.collect(), vectors, steps, stride, of) };
                start += vectors * of.lanes;
            }
        });
    }

    /// Sizes of the elements of inputs and outputs.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.body
            .inputs
            .iter()
            .chain(&self.body.outputs)
            .map(|x| x.0)
    }

    /// Whether an input or an output advances in each step.
    fn is_row(&self, k: usize) -> bool {
        let (stacks, inputs) = (self.consts + self.carries, self.body.inputs.len());
        k >= stacks && !(inputs..inputs + self.carries).contains(&k)
    }

    /// Runs all steps on some vectors of elements.
    ///
    /// # Safety
    /// `table` has the addresses of the first row of each input and output of each vector, which
    /// are valid for the elements of a vector in each step. There is code for this number of
    /// vectors.
    unsafe fn run_vectors(
        &self,
        mut table: Vec<*mut u8>,
        vectors: usize,
        steps: usize,
        stride: isize,
        of: LoopLanes,
    ) {
        let code = self.code(of, vectors, false).expect("there is code");
        let inputs = self.body.inputs.len();
        let advance = |table: &mut [*mut u8], by: isize| {
            for (k, (at, size)) in table.chunks_mut(vectors).zip(self.sizes()).enumerate() {
                if self.is_row(k) {
                    at.iter_mut()
                        .for_each(|at| *at = at.wrapping_offset(by * size as isize));
                }
            }
        };
        // On Intel CPUs: whether the next steps run the code that avoids subnormal numbers, and
        // for how many steps.
        let (mut left, mut gradual, mut span) = (steps, false, FLAG_CHECK_STEPS);
        while left > 0 {
            let (code, most) = match gradual {
                true => (self.code(of, vectors, true).unwrap_or(code), span),
                false => (code, if is_intel() { FLAG_CHECK_STEPS } else { left }),
            };
            let most = most.min(left);
            let checks_flags = is_intel() && !gradual;
            if checks_flags {
                take_subnormal_flags();
            }
            // SAFETY: the caller guarantees that the addresses are valid for these lanes in all
            // steps. `most` and the number of lanes are at least 1.
            let moved = unsafe { code.call(&table, most, stride, of.lanes) };
            gradual = checks_flags && take_subnormal_flags();
            if gradual {
                // Short spans would cost many calls, so the span grows.
                span = span.saturating_mul(4);
            }
            let carries = vectors * self.carries;
            let last = table[vectors * inputs..][..carries].to_vec();
            table[vectors * self.consts..][..carries].copy_from_slice(&last);
            advance(&mut table, moved);
            let done = (moved / stride) as usize;
            left -= done;
            if done < most {
                for v in 0..vectors {
                    let own: Vec<*mut u8> =
                        table.iter().skip(v).step_by(vectors).copied().collect();
                    // SAFETY: the caller guarantees that the addresses are valid for these lanes
                    // in the next step; `done < most`, so there is one.
                    unsafe { self.interpret(&own, of.lanes) };
                }
                advance(&mut table, stride);
                left -= 1;
            }
        }
    }

    /// Interprets one step on at most one vector of elements.
    ///
    /// # Safety
    /// The preconditions of [`VectorLoop::run`] for the addresses in `table`; a carry may be its
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
