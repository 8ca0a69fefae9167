//! Jobs over the vectors of a level in which each lane is a line or a matrix of its own, and panels
//! of such lanes.

pub(crate) mod lines;

use crate::memory::{Fallible, with_room};
use crate::parallel::attempt;
use crate::simd::Level;
use crate::vector::{Float, V};

/// The kind of vectors that a job runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// One lane, with the instructions of the level.
    Single(Level),
    /// All lanes of the level's vectors.
    Whole(Level),
}

impl Width {
    /// The vectors for a number of lines: not more lanes than are used, where a level has narrower
    /// vectors.
    pub(crate) fn of<E: Float>(level: Level, lines: usize) -> Width {
        /// Lines that take as long one by one as in lanes that are mostly idle.
        const MAX_SINGLE_LINES: usize = 1;
        if lines <= MAX_SINGLE_LINES {
            return Width::Single(level);
        }
        #[cfg(target_arch = "x86_64")]
        if level == Level::Avx512 && lines <= E::Avx2::N {
            return Width::Whole(Level::Avx2);
        }
        Width::Whole(level)
    }

    /// Lanes of a vector.
    pub(crate) fn lanes<E: Float>(self) -> usize {
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

/// Work on vectors. What `run` calls must be inlined, or it is not compiled for the instruction
/// set.
pub(crate) trait Job<E: Float> {
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
pub(crate) unsafe fn dispatch<E: Float, J: Job<E>>(width: Width, job: &J) {
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

/// Calls `f` with the vectors, the first line and the number of lines of every panel, and room for
/// so many elements of each lane. All of it takes about `nanos` on one thread.
pub(crate) fn over_panels<E: Float>(
    level: Level,
    lines: usize,
    elements: usize,
    nanos: u64,
    f: impl Fn(Width, usize, usize, *mut E) + Sync,
) -> Fallible {
    let lanes = Width::of::<E>(level, lines).lanes::<E>();
    let panels = lines.div_ceil(lanes);
    // Panels of a claim: about 20 microseconds.
    let group = (20_000 * panels as u64 / nanos.max(1)).clamp(1, 1 << 20) as usize;
    attempt(panels.div_ceil(group), nanos, |chunk| {
        with_room(elements * lanes * size_of::<E>(), |room| {
            for panel in chunk * group..panels.min((chunk + 1) * group) {
                let first = panel * lanes;
                let count = lanes.min(lines - first);
                let width = Width::of::<E>(level, if count == lanes { lines } else { count });
                f(width, first, count, room.cast());
            }
        })
    })
}
