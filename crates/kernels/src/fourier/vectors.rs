//! Jobs over the vectors of a level, and of how many lanes.

use crate::simd::Level;
use crate::vector::{Float, V};

/// The kind of vectors that a job runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// One lane, with the instructions of the level.
    Single(Level),
    /// All lanes of the level's vectors.
    Whole(Level),
}

impl Width {
    /// The vectors for a number of lines: not more lanes than are used, where a level has narrower vectors.
    pub(super) fn of<E: Float>(level: Level, lines: usize) -> Width {
        /// Lines that take as long one by one as in lanes that are mostly idle.
        const FEW: usize = 1;
        if lines <= FEW {
            return Width::Single(level);
        }
        #[cfg(target_arch = "x86_64")]
        if level == Level::Avx512 && lines <= E::Avx2::N {
            return Width::Whole(Level::Avx2);
        }
        Width::Whole(level)
    }

    /// Lanes of a vector.
    pub(super) fn lanes<E: Float>(self) -> usize {
        match self {
            Width::Single(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Width::Whole(Level::Avx512) => E::Avx512::N,
            #[cfg(target_arch = "x86_64")]
            Width::Whole(Level::Avx2) => E::Avx2::N,
            Width::Whole(_) => E::Portable::N,
        }
    }
}

/// Work on vectors. What `run` calls must be inlined, or it is not compiled for the instruction set.
pub(super) trait Job<E: Float> {
    /// Does the work.
    ///
    /// # Safety
    /// The memory that the job names is valid for what it does, and nothing else uses it meanwhile.
    unsafe fn run<W: V<E = E>>(&self);
}

/// Runs a job on vectors of this kind.
///
/// # Safety
/// That of the job.
pub(super) unsafe fn dispatch<E: Float, J: Job<E>>(width: Width, job: &J) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn single<E: Float, J: Job<E>>(job: &J) {
            // SAFETY: the caller's promise.
            unsafe { job.run::<E::Single>() }
        }
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2<E: Float, J: Job<E>>(job: &J) {
            // SAFETY: the caller's promise.
            unsafe { job.run::<E::Avx2>() }
        }
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
        unsafe fn avx512<E: Float, J: Job<E>>(job: &J) {
            // SAFETY: the caller's promise.
            unsafe { job.run::<E::Avx512>() }
        }
        match width {
            Width::Single(level) if level != Level::Portable => {
                // SAFETY: this machine has the features of its levels; the caller's promise.
                return unsafe { single(job) };
            }
            // SAFETY: as above.
            Width::Whole(Level::Avx2) => return unsafe { avx2(job) },
            // SAFETY: as above.
            Width::Whole(Level::Avx512) => return unsafe { avx512(job) },
            _ => {}
        }
    }
    // SAFETY: the caller's promise.
    match width {
        Width::Single(_) => unsafe { job.run::<E::Single>() },
        Width::Whole(_) => unsafe { job.run::<E::Portable>() },
    }
}
