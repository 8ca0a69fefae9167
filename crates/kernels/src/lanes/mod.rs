//! Jobs over vectors in which each lane is a separate line or matrix, and panels of such lanes.

pub(crate) mod lines;

use crate::memory::{Fallible, with_scratch};
use crate::parallel::attempt;
use crate::simd::Isa;
use crate::vector::{V, VectorFloat};

/// Vectors that a job runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// One lane, with the instruction set.
    Single(Isa),
    /// All lanes of the vectors of the instruction set.
    Whole(Isa),
}

impl Width {
    /// Returns the vectors for a number of lines. Narrower vectors are used if they have enough
    /// lanes.
    pub(crate) fn of<E: VectorFloat>(isa: Isa, lines: usize) -> Width {
        /// Maximum number of lines that are faster one by one than in mostly idle lanes.
        const MAX_SINGLE_LINES: usize = 1;
        if lines <= MAX_SINGLE_LINES {
            return Width::Single(isa);
        }
        #[cfg(target_arch = "x86_64")]
        if isa == Isa::Avx512 && lines <= E::Avx2::N {
            return Width::Whole(Isa::Avx2);
        }
        Width::Whole(isa)
    }

    /// Number of lanes of a vector.
    pub(crate) fn lanes<E: VectorFloat>(self) -> usize {
        match self {
            Width::Single(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Width::Whole(Isa::Avx512) => E::Avx512::N,
            #[cfg(target_arch = "x86_64")]
            Width::Whole(Isa::Avx2) => E::Avx2::N,
            Width::Whole(_) => E::Plain::N,
        }
    }
}

/// Work on vectors. Functions that `run` calls must be inlined, or they are not compiled for the
/// instruction set.
pub(crate) trait Job<E: VectorFloat> {
    /// Does the work.
    ///
    /// # Safety
    /// The pointers of the job are valid for its reads and writes, and no other thread accesses
    /// their memory.
    unsafe fn run<W: V<E = E>>(&self);
}

/// Runs a job on these vectors.
///
/// # Safety
/// As [`Job::run`].
pub(crate) unsafe fn dispatch<E: VectorFloat, J: Job<E>>(width: Width, job: &J) {
    #[cfg(target_arch = "x86_64")]
    {
        /// # Safety
        /// As [`Job::run`]; the CPU supports AVX2.
        #[target_feature(enable = "avx2,fma")]
        unsafe fn single<E: VectorFloat, J: Job<E>>(job: &J) {
            // SAFETY: the caller guarantees the memory of the job (# Safety).
            unsafe { job.run::<E::Single>() }
        }
        /// # Safety
        /// As [`Job::run`]; the CPU supports AVX2.
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2<E: VectorFloat, J: Job<E>>(job: &J) {
            // SAFETY: the caller guarantees the memory of the job (# Safety).
            unsafe { job.run::<E::Avx2>() }
        }
        /// # Safety
        /// As [`Job::run`]; the CPU supports AVX-512.
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
        unsafe fn avx512<E: VectorFloat, J: Job<E>>(job: &J) {
            // SAFETY: the caller guarantees the memory of the job (# Safety).
            unsafe { job.run::<E::Avx512>() }
        }
        match width {
            Width::Single(isa) if isa.has_avx2() => {
                // SAFETY: the CPU supports the features of every `Isa` that exists; the caller
                // guarantees the memory of the job (# Safety).
                return unsafe { single(job) };
            }
            // SAFETY: the CPU supports AVX-512 if this `Isa` exists; the caller guarantees the
            // memory of the job (# Safety).
            Width::Whole(Isa::Avx512) => return unsafe { avx512(job) },
            // SAFETY: the CPU supports AVX2 if this `Isa` exists; the caller guarantees the
            // memory of the job (# Safety).
            Width::Whole(isa) if isa.has_avx2() => return unsafe { avx2(job) },
            _ => {}
        }
    }
    /// One function for both widths where they are the same vectors.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(never)]
    unsafe fn portable<W: V, J: Job<W::E>>(job: &J) {
        // SAFETY: the caller guarantees the memory of the job (# Safety).
        unsafe { job.run::<W>() }
    }
    match width {
        // SAFETY: the caller guarantees the memory of the job (# Safety); a vector of one lane
        // needs no instruction set.
        Width::Single(_) => unsafe { portable::<E::Single, J>(job) },
        // SAFETY: the caller guarantees the memory of the job (# Safety); plain vectors need no
        // instruction set.
        Width::Whole(_) => unsafe { portable::<E::Plain, J>(job) },
    }
}

/// Calls `f` for every panel, with the vectors, the first line, the number of lines and scratch
/// memory of `elements` elements per lane. `nanos` is the estimated run time on one thread, in ns.
pub(crate) fn over_panels<E: VectorFloat>(
    isa: Isa,
    lines: usize,
    elements: usize,
    nanos: u64,
    f: impl Fn(Width, usize, usize, *mut E) + Sync,
) -> Fallible {
    let lanes = Width::of::<E>(isa, lines).lanes::<E>();
    let panels = lines.div_ceil(lanes);
    // Number of panels per claim: about 20 microseconds.
    let group = (20_000 * panels as u64 / nanos.max(1)).clamp(1, 1 << 20) as usize;
    attempt(panels.div_ceil(group), nanos, |chunk| {
        with_scratch(elements * lanes * size_of::<E>(), |scratch| {
            for panel in chunk * group..panels.min((chunk + 1) * group) {
                let first = panel * lanes;
                let count = lanes.min(lines - first);
                let width = Width::of::<E>(isa, if count == lanes { lines } else { count });
                f(width, first, count, scratch.cast());
            }
        })
    })
}
