//! Kernels of integer functions other than sums and products: shifts, bit counts, absolute values,
//! quotients, powers.
//!
//! Every function is total. A shift by at least the width shifts all bits out, and a negative
//! amount counts as a large one. `x / 0 = -1` and `x rem 0 = x`. Results that exceed the type wrap.
//!
//! A quotient of integers of at most 16 bits is computed in `f32` and truncated, one of 32 bits in
//! `f64`. The rounded quotient never reaches the next integer `k > a / b`: `k - a / b >= 1 / |b|`
//! exceeds the rounding error, which is `|a / b| 2^-24` or `|a / b| 2^-53`. Integers of 64 bits use
//! `f64` if both are below `2^51` in magnitude (`Long`).

use super::TileOp;
use super::kernels::{IntegerElement, MAP_BLOCK_ELEMENTS, Map, Zip, map, zip};
use crate::emit::{TraceId, instruction};
use crate::inlined::{each, from_fn};
use crate::simd::{Isa, widest};
use crate::vector::functions::{Function2, pick2, record2};
use crate::vector::{V, VectorFloat};

/// Functions of one integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerUnary {
    /// Absolute value, wrapping.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// The number of set bits.
    CountOnes,
    /// The number of leading zeros.
    LeadingZeros,
}

/// Functions of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerBinary {
    /// Left shift.
    ShiftLeft,
    /// Logical right shift.
    ShiftRightLogical,
    /// Arithmetic right shift.
    ShiftRightArithmetic,
    /// The quotient, truncated.
    Div,
    /// The remainder, with the sign of the first operand.
    Rem,
    /// The power. For a negative exponent it is the exact value, truncated.
    Pow,
}

/// Elements that a kernel computes together.
type Block<T> = [T; MAP_BLOCK_ELEMENTS];

/// Signed or unsigned integers of one width.
pub trait Lane: IntegerElement {
    /// Whether the type is signed.
    const SIGNED: bool;
    /// Absolute value, wrapping.
    fn magnitude(self) -> Self;
    /// -1, 0 or 1.
    fn signum(self) -> Self;
    /// The number of set bits.
    fn ones(self) -> Self;
    /// The number of leading zeros.
    fn zeros_above(self) -> Self;
    /// Left shift.
    fn up(self, n: Self) -> Self;
    /// Logical right shift.
    fn down(self, n: Self) -> Self;
    /// Arithmetic right shift.
    fn down_signed(self, n: Self) -> Self;
    /// The kernel of quotients or remainders.
    fn division(remainder: bool, isa: Isa) -> TileOp;
}

/// Integers of 32 bits or less.
trait Short: Lane {
    /// Quotients, truncated; -1 if the divisor is 0.
    fn quotients(a: &Block<Self>, b: &Block<Self>) -> Block<Self>;
}

/// `1.5 * 2^52`: added to an integer below `2^51` in magnitude, it leaves that in the low bits of
/// the sum.
const SHIFTED: f64 = 6_755_399_441_055_744.0;

macro_rules! lanes {
    ($($t:ty, $unsigned:ty, $signed:ty, $magnitude:expr, $signum:expr, $division:expr;)*) => {$(
        impl Lane for $t {
            const SIGNED: bool = <$t>::MIN != 0;
            #[inline(always)]
            fn magnitude(self) -> $t { $magnitude(self) }
            #[inline(always)]
            fn signum(self) -> $t { $signum(self) }
            #[inline(always)]
            fn ones(self) -> $t { self.count_ones() as $t }
            #[inline(always)]
            fn zeros_above(self) -> $t { self.leading_zeros() as $t }
            #[inline(always)]
            fn up(self, n: $t) -> $t {
                if (n as $unsigned) < <$t>::BITS as $unsigned { self.wrapping_shl(n as u32) } else { 0 }
            }
            #[inline(always)]
            fn down(self, n: $t) -> $t {
                let moved = (self as $unsigned).wrapping_shr(n as u32) as $t;
                if (n as $unsigned) < <$t>::BITS as $unsigned { moved } else { 0 }
            }
            #[inline(always)]
            fn down_signed(self, n: $t) -> $t {
                let n = (n as $unsigned).min(<$t>::BITS as $unsigned - 1);
                (self as $signed).wrapping_shr(n as u32) as $t
            }
            fn division(remainder: bool, isa: Isa) -> TileOp { $division(remainder, isa) }
        }
    )*};
}

/// Number of elements whose quotients are computed together. The compiler does not vectorize larger
/// groups.
const GROUP: usize = 8;

/// Applies a function to every group of two blocks.
#[inline(always)]
fn grouped<T: Lane>(
    a: &Block<T>,
    b: &Block<T>,
    f: impl Fn([T; GROUP], [T; GROUP]) -> [T; GROUP],
) -> Block<T> {
    let mut y = [T::ZERO; MAP_BLOCK_ELEMENTS];
    for g in (0..MAP_BLOCK_ELEMENTS).step_by(GROUP) {
        y[g..g + GROUP].copy_from_slice(&f(from_fn(|k| a[g + k]), from_fn(|k| b[g + k])));
    }
    y
}

/// Quotients of integers of 16 bits or less.
macro_rules! by_f32 {
    ($a:ident, $b:ident, $t:ty) => {
        grouped($a, $b, |a, b| {
            let d = each(&b, |b| f32::from(b | <$t>::from(b == 0)));
            let q: [f32; GROUP] = from_fn(|k| f32::from(a[k]) / d[k]);
            // SAFETY: the quotient is finite and at most 2^16 in magnitude, because the dividend
            // is.
            let q = each(&q, |q| unsafe { q.to_int_unchecked::<i32>() });
            from_fn(|k| if b[k] == 0 { !0 } else { q[k] as $t })
        })
    };
}

/// Quotients of integers of 32 bits.
macro_rules! by_f64 {
    ($a:ident, $b:ident, $t:ty) => {
        grouped($a, $b, |a, b| {
            let d = each(&b, |b| f64::from(b | <$t>::from(b == 0)));
            let q: [f64; GROUP] = from_fn(|k| f64::from(a[k]) / d[k]);
            let q = each(&q, |q| q.trunc() + SHIFTED);
            from_fn(|k| if b[k] == 0 { !0 } else { q[k].to_bits() as $t })
        })
    };
}

lanes! {
    i8, u8, i8, i8::wrapping_abs, |x: i8| x >> (i8::BITS - 1) | i8::from(x != 0), in_blocks::<i8>;
    i16, u16, i16, i16::wrapping_abs, |x: i16| x >> (i16::BITS - 1) | i16::from(x != 0), in_blocks::<i16>;
    i32, u32, i32, i32::wrapping_abs, |x: i32| x >> (i32::BITS - 1) | i32::from(x != 0), in_blocks::<i32>;
    i64, u64, i64, i64::wrapping_abs, |x: i64| x >> (i64::BITS - 1) | i64::from(x != 0), in_floats::<true>;
    u8, u8, i8, |x| x, |x: u8| x.min(1), in_blocks::<u8>;
    u16, u16, i16, |x| x, |x: u16| x.min(1), in_blocks::<u16>;
    u32, u32, i32, |x| x, |x: u32| x.min(1), in_blocks::<u32>;
    u64, u64, i64, |x| x, |x: u64| x.min(1), in_floats::<false>;
}

macro_rules! short_integers {
    ($($quotients:ident: $($t:ty)*;)*) => {$($(
        impl Short for $t {
            #[inline(always)]
            fn quotients(a: &Block<$t>, b: &Block<$t>) -> Block<$t> { $quotients!(a, b, $t) }
        }
    )*)*};
}

short_integers! {
    by_f32: i8 i16 u8 u16;
    by_f64: i32 u32;
}

struct Abs;
struct Sign;
struct CountOnes;
struct LeadingZeros;
struct Left;
struct Right;
struct RightArithmetic;
struct Div;
struct Rem;
struct Pow;
struct FixedPow;

macro_rules! maps {
    ($($name:ident $f:ident)*) => {$(
        impl<T: Lane> Map<T, T> for $name {
            #[inline(always)]
            fn f(a: T) -> T { a.$f() }
        }
    )*};
}

maps!(Abs magnitude Sign signum CountOnes ones LeadingZeros zeros_above);

macro_rules! zips {
    ($($name:ident $f:ident)*) => {$(
        impl<T: Lane> Zip<T, T> for $name {
            #[inline(always)]
            fn f(a: T, b: T) -> T { a.$f(b) }
        }
    )*};
}

zips!(Left up Right down RightArithmetic down_signed);

/// A function of blocks and of the kernel's parameter.
trait Blocks<T, const K: usize> {
    fn f(x: &[Block<T>; K], data: usize) -> Block<T>;
}

impl<T: Short> Blocks<T, 2> for Div {
    #[inline(always)]
    fn f([a, b]: &[Block<T>; 2], _: usize) -> Block<T> {
        T::quotients(a, b)
    }
}

impl<T: Short> Blocks<T, 2> for Rem {
    #[inline(always)]
    fn f([a, b]: &[Block<T>; 2], _: usize) -> Block<T> {
        let q = T::quotients(a, b);
        // With a divisor of 0 the product is 0, so the remainder is the dividend.
        from_fn(|k| a[k].minus(q[k].times(b[k])))
    }
}

/// The integer value of `x^n` for `n < 0`. The unsigned number with all bits set is not -1.
#[inline(always)]
fn reciprocal_power<T: Lane>(x: T, odd: bool) -> T {
    let minus_one = T::ZERO.minus(T::ONE);
    let is_minus_one = (x == minus_one) & (x < T::ZERO);
    let unit = if is_minus_one & odd {
        minus_one
    } else {
        T::ONE
    };
    if (x == T::ONE) | is_minus_one {
        unit
    } else {
        T::ZERO
    }
}

impl<T: Lane> Blocks<T, 2> for Pow {
    /// Repeated squaring, with as many steps as the largest exponent of the block needs.
    #[inline(always)]
    fn f([x, n]: &[Block<T>; 2], _: usize) -> Block<T> {
        let mut left: Block<T> = from_fn(|k| if n[k] < T::ZERO { T::ZERO } else { n[k] });
        let (mut y, mut square) = ([T::ONE; MAP_BLOCK_ELEMENTS], *x);
        while left.iter().fold(T::ZERO, |all, &n| all | n) != T::ZERO {
            y = from_fn(|k| {
                if left[k] & T::ONE == T::ONE {
                    y[k].times(square[k])
                } else {
                    y[k]
                }
            });
            square = from_fn(|k| square[k].times(square[k]));
            left = from_fn(|k| left[k].down(T::ONE));
        }
        if n.iter().fold(false, |any, &n| any | (n < T::ZERO)) {
            let over: Block<T> = from_fn(|k| reciprocal_power(x[k], n[k] & T::ONE == T::ONE));
            y = from_fn(|k| if n[k] < T::ZERO { over[k] } else { y[k] });
        }
        y
    }
}

impl<T: Lane> Blocks<T, 1> for FixedPow {
    #[inline(always)]
    fn f([x]: &[Block<T>; 1], data: usize) -> Block<T> {
        let n = data as i64;
        if n < 0 {
            return from_fn(|k| reciprocal_power(x[k], n & 1 == 1));
        }
        let (mut y, mut square, mut left) = ([T::ONE; MAP_BLOCK_ELEMENTS], *x, n);
        loop {
            if left & 1 == 1 {
                y = from_fn(|k| y[k].times(square[k]));
            }
            left >>= 1;
            if left == 0 {
                return y;
            }
            square = from_fn(|k| square[k].times(square[k]));
        }
    }
}

/// The kernel of a function of blocks. The last block is padded with ones.
fn blocks<T: Lane, const K: usize, F: Blocks<T, K>>() -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with `K` operands and results of `T`.
    unsafe fn run<T: Lane, const K: usize, F: Blocks<T, K>>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        data: usize,
    ) {
        let y = y.cast::<T>();
        widest(
            #[inline(always)]
            || {
                for i in (0..n).step_by(MAP_BLOCK_ELEMENTS) {
                    let few = (n - i).min(MAP_BLOCK_ELEMENTS);
                    let mut from = [[T::ONE; MAP_BLOCK_ELEMENTS]; K];
                    for (block, x) in from.iter_mut().zip(x) {
                        let x = x.cast::<T>().wrapping_add(i);
                        // SAFETY: the caller guarantees the preconditions of `TileFn`. `few`
                        // elements are left of each operand, and they fit a block.
                        unsafe {
                            match few {
                                MAP_BLOCK_ELEMENTS => {
                                    *block = x.cast::<Block<T>>().read_unaligned()
                                }
                                _ => std::ptr::copy_nonoverlapping(x, block.as_mut_ptr(), few),
                            }
                        }
                    }
                    let to = F::f(&from, data);
                    // SAFETY: the caller guarantees the preconditions of `TileFn`, and `few`
                    // elements are left of the output.
                    unsafe {
                        match few {
                            MAP_BLOCK_ELEMENTS => y.add(i).cast::<Block<T>>().write_unaligned(to),
                            _ => std::ptr::copy_nonoverlapping(to.as_ptr(), y.add(i), few),
                        }
                    }
                }
            },
        )
    }
    TileOp::new(run::<T, K, F>)
}

/// Division of integers of 64 bits, in `f64` if both are below `2^51` in magnitude.
struct Long<const SIGNED: bool, const REMAINDER: bool>;

impl<const SIGNED: bool, const REMAINDER: bool> Function2 for Long<SIGNED, REMAINDER> {
    #[inline(always)]
    fn eval<W: V>(x: W, y: W) -> W {
        let number = |x: f64| W::splat(W::E::narrow(x));
        let (shifted, zero) = (number(SHIFTED), number(0.0));
        let (a, b) = (
            x.bits_add(shifted).sub(shifted),
            y.bits_add(shifted).sub(shifted),
        );
        let none = b.eq(zero);
        let q = a.div(W::select(none, number(1.0), b)).trunc();
        let y = match REMAINDER {
            // The remainder has no more bits than the operands, so the product is exact.
            true => q.neg().fma(b, a),
            false => W::select(none, number(-1.0), q),
        };
        y.add(shifted).bits_sub(shifted)
    }

    /// Whether an operand is not representable in 52 bits (signed) or 51 bits (unsigned).
    #[inline(always)]
    fn rare<W: V>(x: W, y: W) -> Option<W::M> {
        let bit = W::splat(W::E::narrow(f64::from_bits(1 << 51)));
        let above = |x: W| {
            let x = if SIGNED {
                x.bits_add(bit)
            } else {
                x.or(x.bits_add(x))
            };
            x.exponent_bits()
        };
        Some(W::not(
            above(x).or(above(y)).eq(W::splat(W::E::narrow(0.0))),
        ))
    }

    fn scalar(x: f64, y: f64) -> f64 {
        let (a, b) = (x.to_bits(), y.to_bits());
        f64::from_bits(match (SIGNED, REMAINDER) {
            (_, false) if b == 0 => u64::MAX,
            (_, true) if b == 0 => a,
            (true, false) => (a as i64).wrapping_div(b as i64) as u64,
            (true, true) => (a as i64).wrapping_rem(b as i64) as u64,
            (false, false) => a / b,
            (false, true) => a % b,
        })
    }
}

fn in_blocks<T: Short>(remainder: bool, _: Isa) -> TileOp {
    match (remainder, T::SIGNED) {
        (false, true) => blocks::<T, 2, Div>().recorded(instruction::signed_div),
        (false, false) => blocks::<T, 2, Div>().recorded(instruction::unsigned_div),
        (true, true) => blocks::<T, 2, Rem>().recorded(instruction::signed_rem),
        (true, false) => blocks::<T, 2, Rem>().recorded(instruction::unsigned_rem),
    }
}

/// Records a division of integers of 64 bits.
fn record_long<const SIGNED: bool, const REMAINDER: bool>(x: [TraceId; 3], data: usize) -> TraceId {
    match instruction::divided_by_constant(x, SIGNED, REMAINDER) {
        Some(y) => y,
        None => record2::<f64, Long<SIGNED, REMAINDER>>(x, data),
    }
}

fn in_floats<const SIGNED: bool>(remainder: bool, isa: Isa) -> TileOp {
    match remainder {
        true => pick2::<f64, Long<SIGNED, true>>(isa).recorded(record_long::<SIGNED, true>),
        false => pick2::<f64, Long<SIGNED, false>>(isa).recorded(record_long::<SIGNED, false>),
    }
}

/// The kernel of a function of one integer.
pub fn unary<T: Lane>(f: IntegerUnary) -> TileOp {
    match f {
        IntegerUnary::Abs if T::SIGNED => map::<T, T, Abs>().recorded(instruction::magnitude),
        IntegerUnary::Abs => map::<T, T, Abs>().recorded(instruction::copy),
        IntegerUnary::Sign if T::SIGNED => map::<T, T, Sign>().recorded(instruction::signed_sign),
        IntegerUnary::Sign => map::<T, T, Sign>().recorded(instruction::unsigned_sign),
        IntegerUnary::CountOnes => map::<T, T, CountOnes>().recorded(instruction::count_ones),
        IntegerUnary::LeadingZeros => {
            map::<T, T, LeadingZeros>().recorded(instruction::leading_zeros)
        }
    }
}

/// The kernel of a function of two integers.
pub fn binary<T: Lane>(f: IntegerBinary, isa: Isa) -> TileOp {
    match f {
        IntegerBinary::ShiftLeft => zip::<T, T, Left>().recorded(instruction::shift_left),
        IntegerBinary::ShiftRightLogical => zip::<T, T, Right>().recorded(instruction::shift_right),
        IntegerBinary::ShiftRightArithmetic => {
            zip::<T, T, RightArithmetic>().recorded(instruction::shift_right_signed)
        }
        IntegerBinary::Div => T::division(false, isa),
        IntegerBinary::Rem => T::division(true, isa),
        IntegerBinary::Pow => blocks::<T, 2, Pow>(),
    }
}

/// The kernel of `x^n`. The exponent is the kernel's parameter, an `i64`.
pub fn fixed_power<T: Lane>() -> TileOp {
    blocks::<T, 1, FixedPow>()
}
