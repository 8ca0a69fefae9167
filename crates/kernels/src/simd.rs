//! Detection of instruction sets, and loops compiled for them.
//!
//! The compiler vectorizes a loop with the features that its function is compiled for. `widest`
//! inlines a loop into a function with more features. All instruction sets give the same bits: the
//! compiler never fuses a product and a sum by itself. Code with `mul_add` checks `fused` first
//! or is exact on every instruction set.

use crate::environment::chosen;
use crate::inlined::from_fn;
use std::fmt;
use std::sync::OnceLock;

/// A vector instruction set.
///
/// A value guarantees that the CPU supports the instruction set. Other crates obtain one only from
/// [`available`](Isa::available) and [`chosen`](Isa::chosen), or use
/// [`Portable`](Isa::Portable).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isa(u8);

/// Whether every CPU that this build is for has 256-bit vectors and fused multiply-add.
const BASELINE_HAS_AVX2: bool = cfg!(all(target_feature = "avx2", target_feature = "fma"));

#[allow(
    non_upper_case_globals,
    reason = "they are what the variants of an enumeration would be"
)]
impl Isa {
    /// The baseline of the build. On AArch64 it has 128-bit vectors (NEON) and fused multiply-add.
    /// In a build for x86-64 CPUs that all have them (`-C target-cpu=x86-64-v3`), it has 256-bit
    /// vectors, and no code for less is built.
    pub const Portable: Isa = Isa(BASELINE_HAS_AVX2 as u8);
    /// 256-bit vectors and fused multiply-add. Use it only in comparisons with a detected value.
    pub(crate) const Avx2: Isa = Isa(1);
    /// 512-bit vectors with masks. Use it only in comparisons with a detected value.
    pub(crate) const Avx512: Isa = Isa(2);
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["Portable", "Avx2", "Avx512"][usize::from(self.0)])
    }
}

impl Isa {
    /// The instruction sets that the CPU supports, in ascending order.
    pub fn available() -> impl Iterator<Item = Isa> {
        (Isa::Portable.0..=Isa::detected().0).map(Isa)
    }

    /// The instruction set in use: the highest available one, or the one that `COTANGENT_SIMD`
    /// selects (`portable`, `avx2`, `avx512`) if the CPU supports it. The variable is read once.
    pub fn chosen() -> Isa {
        static CHOSEN: OnceLock<Isa> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let isa = |text: &str| match text {
                "portable" => Some(Isa::Portable),
                "avx2" => Some(Isa::Avx2),
                "avx512" => Some(Isa::Avx512),
                _ => None,
            };
            let wanted = chosen("COTANGENT_SIMD", "portable, avx2 or avx512", isa);
            wanted.unwrap_or(Isa::Avx512).min(Isa::detected())
        })
    }

    /// Whether it has 256-bit vectors and fused multiply-add: a constant where the baseline has, so
    /// that code for less is left out.
    #[inline(always)]
    pub fn has_avx2(self) -> bool {
        BASELINE_HAS_AVX2 || self >= Isa::Avx2
    }

    #[cfg(target_arch = "x86_64")]
    fn detected() -> Isa {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            if !fused() {
                return Isa::Portable;
            }
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if wide { Isa::Avx512 } else { Isa::Avx2 }
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detected() -> Isa {
        Isa::Portable
    }
}

/// Runs `f` in a function compiled for 256-bit vectors, if the CPU supports them. `f` and its
/// callees should be `#[inline(always)]`: only inlined code is compiled for these vectors.
#[inline(always)]
pub(crate) fn widest<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        // A function of its own where the baseline has the features, too: some loops are vectorized
        // only there.
        #[inline(never)]
        #[target_feature(enable = "avx2,fma")]
        fn wide<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if fused() {
            // SAFETY: `fused` has detected the features of `wide`.
            return unsafe { wide(f) };
        }
    }
    f()
}

/// A float with a fused multiply-add.
pub(crate) trait Fused: Copy {
    /// `self · b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
}

impl Fused for f32 {
    #[inline(always)]
    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
}

impl Fused for f64 {
    #[inline(always)]
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
}

/// `a · b + c` for each lane, rounded once. It is one call for all lanes where the baseline has no
/// such instruction and each lane would be a call: portable kernels are smaller, and on a CPU that
/// has the instruction, this function uses it.
#[cfg_attr(target_arch = "x86_64", inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(crate) fn fma_lanes<T: Fused, const N: usize>(a: &[T; N], b: &[T; N], c: &[T; N]) -> [T; N] {
    widest(
        #[inline(always)]
        || {
            from_fn(
                #[inline(always)]
                |i| a[i].fma(b[i], c[i]),
            )
        },
    )
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

/// Whether this is an Intel CPU. On these, arithmetic with subnormal numbers and stores to the
/// shared last-level cache are slow.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_intel() -> bool {
    static INTEL: OnceLock<bool> = OnceLock::new();
    // Newer versions of Rust declare it safe.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has the instruction, and leaf 0 exists.
    let maker = || unsafe { std::arch::x86_64::__cpuid(0) }.ebx;
    *INTEL.get_or_init(|| maker() == u32::from_le_bytes(*b"Genu"))
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_intel() -> bool {
    false
}

/// Prefetches `bytes` bytes from an address on. The address need not be valid.
#[inline(always)]
pub(crate) fn prefetch<T>(from: *const T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that accesses no memory and accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast::<i8>().wrapping_add(line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// Type of an operand of an intrinsic: a register or a number, but no pointer.
#[cfg(target_arch = "x86_64")]
pub(crate) trait RegisterOperand {}

#[cfg(target_arch = "x86_64")]
macro_rules! register_operands {
    ($($t:ty)*) => {$(
        impl RegisterOperand for $t {}
    )*};
}

#[cfg(target_arch = "x86_64")]
register_operands! {
    std::arch::x86_64::__m128 std::arch::x86_64::__m128d std::arch::x86_64::__m256
    std::arch::x86_64::__m256d std::arch::x86_64::__m256i std::arch::x86_64::__m512
    std::arch::x86_64::__m512d std::arch::x86_64::__m512i
    u8 u16 i8 i16 i32 i64 f32 f64
}

/// Fails to compile for a pointer.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn on_registers<T: RegisterOperand>(_: &T) {}

/// Calls an intrinsic of x86-64 on registers and numbers. It accesses no memory, so its only
/// precondition is that the CPU supports the instruction.
///
/// The precondition is guaranteed by the functions that are compiled for an instruction set
/// (`#[target_feature]`): the vector types whose methods use this macro are named only by them.
/// Such a function is called in a match on an [`Isa`], whose values are those that the CPU
/// supports, or after `is_x86_feature_detected`.
#[cfg(target_arch = "x86_64")]
macro_rules! intrinsic {
    ($f:ident($($x:literal),* $(,)?)) => {
        // SAFETY: operands are numbers, so the instruction set is the only precondition. It is
        // detected before the function that names the vector type is called.
        unsafe { $f($($x),*) }
    };
    ($f:ident $(::<$imm:tt>)?($x:expr $(,)?)) => {{
        let x = $x;
        crate::simd::on_registers(&x);
        // SAFETY: no operand is a pointer, so the instruction set is the only precondition. It is
        // detected before the function that names the vector type is called.
        unsafe { $f$(::<$imm>)?(x) }
    }};
    ($f:ident $(::<$imm:tt>)?($x:expr, $y:expr $(,)?)) => {{
        let (x, y) = ($x, $y);
        crate::simd::on_registers(&x);
        crate::simd::on_registers(&y);
        // SAFETY: no operand is a pointer, so the instruction set is the only precondition. It is
        // detected before the function that names the vector type is called.
        unsafe { $f$(::<$imm>)?(x, y) }
    }};
    ($f:ident $(::<$imm:tt>)?($x:expr, $y:expr, $z:expr $(,)?)) => {{
        let (x, y, z) = ($x, $y, $z);
        crate::simd::on_registers(&x);
        crate::simd::on_registers(&y);
        crate::simd::on_registers(&z);
        // SAFETY: no operand is a pointer, so the instruction set is the only precondition. It is
        // detected before the function that names the vector type is called.
        unsafe { $f$(::<$imm>)?(x, y, z) }
    }};
}

#[cfg(target_arch = "x86_64")]
pub(crate) use intrinsic;
