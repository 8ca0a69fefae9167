//! Levels of vector instructions, and loops compiled for them.
//!
//! The compiler turns a loop into vector instructions of the features its function is compiled for.
//! [`widest`] inlines a loop into a function with more of them. No level may change a bit of a
//! result: the compiler never fuses a product and a sum on its own, and code that asks for
//! `mul_add` asks [`fused`] first or is exact at every level.

use crate::environment::chosen;
use std::fmt;
use std::sync::OnceLock;

/// The vector instructions that kernels are chosen for.
///
/// A value is the promise that this machine has them: other crates get one from
/// [`available`](Level::available) and [`chosen`](Level::chosen) alone, or name
/// [`Portable`](Level::Portable).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

#[allow(
    non_upper_case_globals,
    reason = "they are what the variants of an enumeration would be"
)]
impl Level {
    /// What every machine of this architecture has: on AArch64 vectors of 128 bits (NEON) and fused
    /// multiply-add.
    pub const Portable: Level = Level(0);
    /// 256-bit vectors and fused multiply-add. Only for comparisons with a level that was detected.
    pub(crate) const Avx2: Level = Level(1);
    /// 512-bit vectors with masks. Only for comparisons with a level that was detected.
    pub(crate) const Avx512: Level = Level(2);
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["Portable", "Avx2", "Avx512"][usize::from(self.0)])
    }
}

impl Level {
    /// The levels that this machine has, lowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        [Level::Portable, Level::Avx2, Level::Avx512]
            .into_iter()
            .filter(|&l| l <= Level::detected())
    }

    /// The level that runs: the highest there is, or the one that `COTANGENT_SIMD` names
    /// (`portable`, `avx2`, `avx512`) if the machine has it. Read once.
    pub fn chosen() -> Level {
        static CHOSEN: OnceLock<Level> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let level = |text: &str| match text {
                "portable" => Some(Level::Portable),
                "avx2" => Some(Level::Avx2),
                "avx512" => Some(Level::Avx512),
                _ => None,
            };
            let wanted = chosen("COTANGENT_SIMD", "portable, avx2 or avx512", level);
            wanted.unwrap_or(Level::Avx512).min(Level::detected())
        })
    }

    #[cfg(target_arch = "x86_64")]
    fn detected() -> Level {
        static DETECTED: OnceLock<Level> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            if !fused() {
                return Level::Portable;
            }
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if wide { Level::Avx512 } else { Level::Avx2 }
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detected() -> Level {
        Level::Portable
    }
}

/// Runs `f` in a function compiled for 256-bit vectors, if this machine has them. `f` and what it
/// calls should be `#[inline(always)]`: only inlined code gains.
#[inline(always)]
pub(crate) fn widest<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if fused() {
            // SAFETY: this CPU has the features of `wide`.
            return unsafe { wide(f) };
        }
    }
    f()
}

/// Whether a fused multiply-add is one instruction inside [`widest`].
#[cfg(any(test, target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// Whether Intel made this processor: there arithmetic with subnormal numbers takes very long, and
/// so does writing to the last cache, which all cores share.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_intel() -> bool {
    static INTEL: OnceLock<bool> = OnceLock::new();
    *INTEL.get_or_init(|| std::arch::x86_64::__cpuid(0).ebx == u32::from_le_bytes(*b"Genu"))
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_intel() -> bool {
    false
}

/// Asks for some bytes from an address on, wherever it is: they are read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(from: *const T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing and is not refused.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast::<i8>().wrapping_add(line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}
