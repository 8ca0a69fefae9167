//! Kernels of conversions between f32 and f16 or bf16: exact in one direction, rounded to nearest
//! (ties to even) in the other.

use super::TileOp;
use super::kernels::{MAP_BLOCK_ELEMENTS, Map, map};
use crate::emit::instruction;
use crate::halves::{Float16, rounded_bf16, rounded_to_odd};
use crate::inlined::from_fn;
use crate::simd::widest;
use half::{bf16, f16};

/// Conversions of a 16-bit float as kernels.
pub trait Half: Float16 {
    /// The kernel of [`Float16::widened`].
    fn widen() -> TileOp;
    /// The kernel of [`Float16::nearest`].
    fn narrow() -> TileOp;
    /// The kernel that rounds f32 to the numbers of this type: [`Float16::nearest`], then
    /// [`Float16::widened`].
    fn round() -> TileOp;
}

impl Half for bf16 {
    fn widen() -> TileOp {
        map::<bf16, f32, Widen>().recorded(instruction::bf16_widen)
    }

    fn narrow() -> TileOp {
        map::<f32, bf16, Narrow>().recorded(instruction::bf16_narrow)
    }

    fn round() -> TileOp {
        map::<f32, f32, RoundBf16>().recorded(instruction::bf16_round)
    }
}

impl Half for f16 {
    fn widen() -> TileOp {
        #[cfg(target_arch = "x86_64")]
        if machine::is_there() {
            return TileOp::new(machine::widen).recorded(instruction::f16_widen);
        }
        map::<f16, f32, Widen>().recorded(instruction::f16_widen)
    }

    fn narrow() -> TileOp {
        #[cfg(target_arch = "x86_64")]
        if machine::is_there() {
            return TileOp::new(machine::narrow).recorded(instruction::f16_narrow);
        }
        map::<f32, f16, Narrow>().recorded(instruction::f16_narrow)
    }

    fn round() -> TileOp {
        #[cfg(target_arch = "x86_64")]
        if machine::is_there() {
            return TileOp::new(machine::round).recorded(instruction::f16_round);
        }
        map::<f32, f32, RoundF16>().recorded(instruction::f16_round)
    }
}

struct Widen;
struct Narrow;
struct RoundBf16;
struct RoundF16;

impl<T: Half> Map<T, f32> for Widen {
    #[inline(always)]
    fn f(x: T) -> f32 {
        x.widened()
    }
}

impl<T: Half> Map<f32, T> for Narrow {
    #[inline(always)]
    fn f(x: f32) -> T {
        T::nearest(x)
    }
}

impl Map<f32, f32> for RoundBf16 {
    #[inline(always)]
    fn f(x: f32) -> f32 {
        f32::from_bits(rounded_bf16(x.to_bits()))
    }
}

impl Map<f32, f32> for RoundF16 {
    #[inline(always)]
    fn f(x: f32) -> f32 {
        f16::nearest(x).widened()
    }
}

/// The kernel of f64 to f32 that precedes f32 to a 16-bit float. Together they round once.
pub fn to_odd() -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with an operand of f64 and results of f32.
    unsafe fn run(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        const ROUND_BLOCK_ELEMENTS: usize = MAP_BLOCK_ELEMENTS / 4;
        let (y, x) = (y.cast::<f32>(), x[0].cast::<f64>());
        widest(
            #[inline(always)]
            || {
                let whole = n - n % ROUND_BLOCK_ELEMENTS;
                for i in (0..whole).step_by(ROUND_BLOCK_ELEMENTS) {
                    // SAFETY: i + ROUND_BLOCK_ELEMENTS <= n, and the caller guarantees the
                    // preconditions of `TileFn`.
                    unsafe {
                        let a = x
                            .add(i)
                            .cast::<[f64; ROUND_BLOCK_ELEMENTS]>()
                            .read_unaligned();
                        y.add(i)
                            .cast::<[f32; ROUND_BLOCK_ELEMENTS]>()
                            .write_unaligned(from_fn(|k| rounded_to_odd(a[k])));
                    }
                }
                for i in whole..n {
                    // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                    unsafe { y.add(i).write(rounded_to_odd(x.add(i).read())) };
                }
            },
        )
    }
    TileOp::new(run).recorded(instruction::round_to_odd)
}

/// Conversions by the F16C instructions.
#[cfg(target_arch = "x86_64")]
mod machine {
    use crate::halves::f16c;
    pub(super) use crate::halves::f16c::is_there;

    /// # Safety
    /// The preconditions of [`TileFn`](super::super::TileFn), with an operand of f16 and results of
    /// f32. The CPU has the instructions ([`is_there`]).
    pub(super) unsafe fn widen(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        // SAFETY: the caller guarantees the preconditions of `TileFn` (# Safety).
        unsafe { f16c::widen(n, y.cast(), x[0].cast()) }
    }

    /// # Safety
    /// The preconditions of [`TileFn`](super::super::TileFn), with an operand of f32 and results of
    /// f16. The CPU has the instructions ([`is_there`]).
    pub(super) unsafe fn narrow(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        // SAFETY: the caller guarantees the preconditions of `TileFn` (# Safety).
        unsafe { f16c::narrow(n, y.cast(), x[0].cast()) }
    }

    /// # Safety
    /// The preconditions of [`TileFn`](super::super::TileFn), with an operand and results of f32.
    /// The CPU has the instructions ([`is_there`]).
    pub(super) unsafe fn round(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        // SAFETY: the caller guarantees the preconditions of `TileFn` (# Safety).
        unsafe { f16c::round(n, y.cast(), x[0].cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::TileFn;

    /// The result of a kernel on all of `x`: whole vectors and a remainder.
    fn run<A: Copy, B: Copy>(kernel: TileOp, x: &[A], zero: B) -> Vec<B> {
        let (run, mut y): (TileFn, _) = (kernel.run, vec![zero; x.len()]);
        let from = [x.as_ptr().cast(), std::ptr::null(), std::ptr::null()];
        // SAFETY: `x` and `y` have the same number of elements, and callers pass the kernel's
        // types.
        unsafe { run(x.len(), y.as_mut_ptr().cast(), from, 0) };
        y
    }

    /// Every number of the type, the midpoints between neighbours with their own neighbours, and
    /// pseudorandom bits.
    fn numbers<T: Half>(of: impl Fn(u16) -> T) -> Vec<f32> {
        let exact = (0..=u16::MAX)
            .map(|b| of(b).widened())
            .collect::<Vec<f32>>();
        let next = exact[1..]
            .iter()
            .zip(&exact)
            .map(|(a, b)| (f64::from(*a) / 2.0 + f64::from(*b) / 2.0) as f32);
        let odd = (0..1 << 16).map(|i: u32| f32::from_bits(i.wrapping_mul(0x9e37_79b1)));
        let near = |x: f32| [x, x.next_up(), x.next_down()];
        exact
            .iter()
            .copied()
            .chain(next)
            .flat_map(near)
            .chain(odd)
            .collect()
    }

    fn compare<T: Half>(
        of: fn(u16) -> T,
        bits: fn(T) -> u16,
        to: fn(T) -> f32,
        nearest: fn(f32) -> T,
    ) {
        let all: Vec<T> = (0..=u16::MAX).map(of).chain([of(1)]).collect();
        for (x, y) in all.iter().zip(run(T::widen(), &all, 0f32)) {
            assert_eq!(y.to_bits(), to(*x).to_bits(), "{:#x}", bits(*x));
            assert_eq!(x.widened().to_bits(), y.to_bits(), "{:#x}", bits(*x));
        }
        let x = numbers(of);
        let (narrow, round) = (run(T::narrow(), &x, of(0)), run(T::round(), &x, 0f32));
        for ((x, y), z) in x.iter().zip(narrow).zip(round) {
            assert_eq!(bits(y), bits(nearest(*x)), "{x:e}");
            assert_eq!(bits(T::nearest(*x)), bits(y), "{x:e}");
            assert_eq!(z.to_bits(), y.widened().to_bits(), "{x:e}");
        }
    }

    #[test]
    fn halves_widen_and_round_as_their_definition_says() {
        compare(f16::from_bits, f16::to_bits, f16::to_f32, f16::from_f32);
        compare(bf16::from_bits, bf16::to_bits, bf16::to_f32, bf16::from_f32);
    }

    /// A number between two neighbours is rounded to the nearer one, however close to the midpoint
    /// it is.
    #[test]
    fn f64_is_rounded_once() {
        fn check<T: Half>(of: fn(u16) -> T, bits: fn(T) -> u16, finite: u16) {
            for low in 0..finite {
                let (a, b) = (
                    f64::from(of(low).widened()),
                    f64::from(of(low + 1).widened()),
                );
                let (middle, even) = (a / 2.0 + b / 2.0, if low % 2 == 0 { low } else { low + 1 });
                let want = [
                    (middle, even),
                    (middle.next_up(), low + 1),
                    (middle.next_down(), low),
                    (a, low),
                ];
                let x = want.map(|w| w.0);
                for (y, (x, want)) in run(to_odd(), &x, 0f32).into_iter().zip(want) {
                    assert_eq!(bits(T::nearest(y)), want, "{x:e}");
                    assert_eq!(rounded_to_odd(-x).to_bits(), (-y).to_bits(), "{x:e}");
                }
            }
        }
        check(f16::from_bits, f16::to_bits, 0x7bff);
        check(bf16::from_bits, bf16::to_bits, 0x7f7f);
        for x in [f64::INFINITY, f64::MAX, f64::NAN] {
            assert!(f16::nearest(rounded_to_odd(x)).is_nan() == x.is_nan());
            assert!(x.is_nan() || f16::nearest(rounded_to_odd(-x)) == f16::NEG_INFINITY);
        }
    }
}
