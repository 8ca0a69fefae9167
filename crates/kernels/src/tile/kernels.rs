//! Kernels of operations with one instruction per element: integers, booleans, complex numbers,
//! comparisons, selection, conversion.
//!
//! A block of elements is read into arrays before any element is written. So the compiler can
//! vectorize the loop even if a result aliases an operand.

use super::TileOp;
use crate::element::{Number, Ordered};
use crate::emit::{Record, complex, instruction};
use crate::inlined::from_fn;
use crate::simd::{Fused, widest};
use num_complex::Complex;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Number of elements that are read before they are written.
pub(super) const MAP_BLOCK_ELEMENTS: usize = 32;

/// A function of one element.
pub trait Map<A, B> {
    /// Its value.
    fn f(a: A) -> B;
}

/// A function of two elements.
pub trait Zip<A, B> {
    /// Its value.
    fn f(a: A, b: A) -> B;
}

/// The kernel of a function of one element.
pub fn map<A: Copy, B: Copy, F: Map<A, B>>() -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with an operand of `A` and results of `B`.
    unsafe fn run<A: Copy, B: Copy, F: Map<A, B>>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        _: usize,
    ) {
        let (y, x) = (y.cast::<B>(), x[0].cast::<A>());
        widest(
            #[inline(always)]
            || {
                let whole = n - n % MAP_BLOCK_ELEMENTS;
                for i in (0..whole).step_by(MAP_BLOCK_ELEMENTS) {
                    // SAFETY: i + MAP_BLOCK_ELEMENTS <= n, and the caller guarantees the
                    // preconditions of `TileFn`.
                    unsafe {
                        let a = x.add(i).cast::<[A; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        y.add(i)
                            .cast::<[B; MAP_BLOCK_ELEMENTS]>()
                            .write_unaligned(from_fn(|k| F::f(a[k])));
                    }
                }
                for i in whole..n {
                    // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                    unsafe { y.add(i).write(F::f(x.add(i).read())) };
                }
            },
        )
    }
    TileOp::new(run::<A, B, F>)
}

/// The kernel of a function of two elements.
pub fn zip<A: Copy, B: Copy, F: Zip<A, B>>() -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with two operands of `A` and results of `B`.
    unsafe fn run<A: Copy, B: Copy, F: Zip<A, B>>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        _: usize,
    ) {
        let (y, a, b) = (y.cast::<B>(), x[0].cast::<A>(), x[1].cast::<A>());
        widest(
            #[inline(always)]
            || {
                let whole = n - n % MAP_BLOCK_ELEMENTS;
                for i in (0..whole).step_by(MAP_BLOCK_ELEMENTS) {
                    // SAFETY: i + MAP_BLOCK_ELEMENTS <= n, and the caller guarantees the
                    // preconditions of `TileFn`.
                    unsafe {
                        let a = a.add(i).cast::<[A; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        let b = b.add(i).cast::<[A; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        y.add(i)
                            .cast::<[B; MAP_BLOCK_ELEMENTS]>()
                            .write_unaligned(from_fn(|k| F::f(a[k], b[k])));
                    }
                }
                for i in whole..n {
                    // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                    unsafe { y.add(i).write(F::f(a.add(i).read(), b.add(i).read())) };
                }
            },
        )
    }
    TileOp::new(run::<A, B, F>)
}

/// The kernel that selects the second operand where the first (a `bool`) is true, otherwise the
/// third. `size` is the element size in bytes.
pub fn select(size: usize) -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with operands of `bool`, `T` and `T`, and
    /// results of `T`.
    unsafe fn run<T: Copy>(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        let (y, p, a, b) = (
            y.cast::<T>(),
            x[0].cast::<u8>(),
            x[1].cast::<T>(),
            x[2].cast::<T>(),
        );
        widest(
            #[inline(always)]
            || {
                let whole = n - n % MAP_BLOCK_ELEMENTS;
                for i in (0..whole).step_by(MAP_BLOCK_ELEMENTS) {
                    // SAFETY: i + MAP_BLOCK_ELEMENTS <= n, and the caller guarantees the
                    // preconditions of `TileFn`.
                    unsafe {
                        let p = p.add(i).cast::<[u8; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        let a = a.add(i).cast::<[T; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        let b = b.add(i).cast::<[T; MAP_BLOCK_ELEMENTS]>().read_unaligned();
                        let pick = from_fn(|k| if p[k] != 0 { a[k] } else { b[k] });
                        y.add(i)
                            .cast::<[T; MAP_BLOCK_ELEMENTS]>()
                            .write_unaligned(pick);
                    }
                }
                for i in whole..n {
                    // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                    unsafe {
                        let from = if p.add(i).read() != 0 { a } else { b };
                        y.add(i).write_unaligned(from.add(i).read_unaligned());
                    }
                }
            },
        )
    }
    /// Pairs of 64 bits. A pair fills a vector, so the condition selects the address that is read.
    ///
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with an operand of `bool`, and two operands
    /// and results of 16 bytes.
    unsafe fn pairs(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        let (y, p, a, b) = (
            y.cast::<[u64; 2]>(),
            x[0].cast::<u8>(),
            x[1].cast(),
            x[2].cast(),
        );
        for i in 0..n {
            // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
            unsafe {
                let from: *const [u64; 2] = if p.add(i).read() != 0 { a } else { b };
                y.add(i).write_unaligned(from.add(i).read_unaligned());
            }
        }
    }
    match size {
        1 => TileOp::new(run::<u8>).recorded(instruction::select),
        2 => TileOp::new(run::<u16>).recorded(instruction::select),
        4 => TileOp::new(run::<u32>).recorded(instruction::select),
        8 => TileOp::new(run::<u64>).recorded(instruction::select),
        _ => TileOp::new(pairs).recorded(instruction::select),
    }
}

/// The kernel `a · b + c` of floats of `size` bytes, 4 or 8, rounded once.
pub fn fma(size: usize) -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with elements of `T`.
    unsafe fn run<T: Fused>(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        let (y, [a, b, c]) = (y.cast::<T>(), x.map(|x| x.cast::<T>()));
        widest(
            #[inline(always)]
            || {
                for i in 0..n {
                    // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                    unsafe {
                        let [a, b, c] = [a, b, c].map(|x| x.add(i).read_unaligned());
                        y.add(i).write_unaligned(a.fma(b, c));
                    }
                }
            },
        )
    }
    match size {
        4 => TileOp::new(run::<f32>).recorded(instruction::fma),
        _ => TileOp::new(run::<f64>).recorded(instruction::fma),
    }
}

/// The kernel that copies elements of `size` bytes.
pub fn copy(size: usize) -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with an operand and results of `T`.
    unsafe fn run<T>(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        // SAFETY: the caller guarantees the preconditions of `TileFn`; `copy` allows overlap.
        unsafe { std::ptr::copy(x[0].cast::<T>(), y.cast::<T>(), n) };
    }
    TileOp::new(by_size!(size, run)).recorded(instruction::copy)
}

/// Gathers `y[i] = x[at[i]]`, for elements of `size` bytes.
///
/// # Safety
/// `y` is valid for `at.len()` elements, `x` is valid at each index in `at`, and the two do not
/// overlap.
pub unsafe fn pick(size: usize, y: *mut u8, x: *const u8, at: &[u32]) {
    /// # Safety
    /// The preconditions of [`pick`], where `size` is the size of `T`.
    unsafe fn run<T: Copy>(y: *mut u8, x: *const u8, at: &[u32]) {
        for (i, &k) in at.iter().enumerate() {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            unsafe {
                y.cast::<T>()
                    .add(i)
                    .write(x.cast::<T>().add(k as usize).read())
            };
        }
    }
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe { by_size!(size, run)(y, x, at) }
}

/// The instance of a function for elements of 1, 2, 4, 8 or 16 bytes. Its type needs at most the
/// alignment of any element type of that size.
macro_rules! by_size {
    ($size:expr, $run:ident) => {
        match $size {
            1 => $run::<u8>,
            2 => $run::<u16>,
            4 => $run::<u32>,
            8 => $run::<[u32; 2]>,
            16 => $run::<[u32; 4]>,
            n => unreachable!("elements have no {n} bytes"),
        }
    };
}
pub(super) use by_size;

/// Functions of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Wrapping sum; or.
    Add,
    /// Wrapping difference.
    Sub,
    /// Wrapping product; and.
    Mul,
    /// The larger.
    Max,
    /// The smaller.
    Min,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
}

struct Plus;
struct Minus;
struct Multiply;
struct Max;
struct Min;
struct And;
struct Or;
struct Xor;
struct Invert;
struct Eq;
struct Ne;
struct Lt;
struct Le;

impl<T: Number> Zip<T, T> for Plus {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a.plus(b)
    }
}

impl<T: Number> Zip<T, T> for Multiply {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a.times(b)
    }
}

impl<T: Ordered> Zip<T, T> for Max {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a.maximum(b)
    }
}

impl<T: Ordered> Zip<T, T> for Min {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a.minimum(b)
    }
}

impl<T: BitAnd<Output = T>> Zip<T, T> for And {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a & b
    }
}

impl<T: BitOr<Output = T>> Zip<T, T> for Or {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a | b
    }
}

impl<T: BitXor<Output = T>> Zip<T, T> for Xor {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a ^ b
    }
}

impl<T: Not<Output = T>> Map<T, T> for Invert {
    #[inline(always)]
    fn f(a: T) -> T {
        !a
    }
}

impl<T: PartialEq> Zip<T, bool> for Eq {
    #[inline(always)]
    fn f(a: T, b: T) -> bool {
        a == b
    }
}

impl<T: PartialEq> Zip<T, bool> for Ne {
    #[inline(always)]
    fn f(a: T, b: T) -> bool {
        a != b
    }
}

impl<T: PartialOrd> Zip<T, bool> for Lt {
    #[inline(always)]
    fn f(a: T, b: T) -> bool {
        a < b
    }
}

impl<T: PartialOrd> Zip<T, bool> for Le {
    #[inline(always)]
    fn f(a: T, b: T) -> bool {
        a <= b
    }
}

/// Integers and booleans.
pub trait IntegerElement:
    Ordered
    + PartialOrd
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// `self - rhs`, wrapping; exclusive or of booleans.
    fn minus(self, rhs: Self) -> Self;

    /// The recording function of an arithmetic function, if it can be emitted.
    #[doc(hidden)]
    fn record(f: Arithmetic) -> Option<Record>;

    /// The recording function of a comparison, if it can be emitted.
    #[doc(hidden)]
    fn record_comparison(c: Comparison) -> Option<Record>;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl IntegerElement for $t {
            #[inline(always)]
            fn minus(self, rhs: $t) -> $t { self.wrapping_sub(rhs) }

            fn record(f: Arithmetic) -> Option<Record> {
                let signed = <$t>::MIN != 0;
                Some(match f {
                    Arithmetic::Add => instruction::whole_add,
                    Arithmetic::Sub => instruction::whole_sub,
                    Arithmetic::Mul => instruction::whole_mul,
                    Arithmetic::Max if signed => instruction::signed_max,
                    Arithmetic::Max => instruction::unsigned_max,
                    Arithmetic::Min if signed => instruction::signed_min,
                    Arithmetic::Min => instruction::unsigned_min,
                    Arithmetic::And => instruction::and,
                    Arithmetic::Or => instruction::or,
                    Arithmetic::Xor => instruction::xor,
                })
            }

            fn record_comparison(c: Comparison) -> Option<Record> {
                let signed = <$t>::MIN != 0;
                Some(match c {
                    Comparison::Eq => instruction::whole_eq,
                    Comparison::Ne => instruction::whole_ne,
                    Comparison::Lt if signed => instruction::signed_lt,
                    Comparison::Lt => instruction::unsigned_lt,
                    Comparison::Le if signed => instruction::signed_le,
                    Comparison::Le => instruction::unsigned_le,
                })
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl IntegerElement for bool {
    #[inline(always)]
    fn minus(self, rhs: bool) -> bool {
        self ^ rhs
    }

    fn record(f: Arithmetic) -> Option<Record> {
        Some(match f {
            Arithmetic::Add | Arithmetic::Max | Arithmetic::Or => instruction::either,
            Arithmetic::Mul | Arithmetic::Min | Arithmetic::And => instruction::both,
            Arithmetic::Sub | Arithmetic::Xor => instruction::unlike,
        })
    }

    fn record_comparison(c: Comparison) -> Option<Record> {
        Some(match c {
            Comparison::Eq => instruction::alike,
            Comparison::Ne => instruction::unlike,
            Comparison::Lt => instruction::less,
            Comparison::Le => instruction::implies,
        })
    }
}

impl<T: IntegerElement> Zip<T, T> for Minus {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        a.minus(b)
    }
}

/// The kernel of a function of two integers.
pub fn integers<T: IntegerElement>(f: Arithmetic) -> TileOp {
    let kernel = match f {
        Arithmetic::Add => zip::<T, T, Plus>(),
        Arithmetic::Sub => zip::<T, T, Minus>(),
        Arithmetic::Mul => zip::<T, T, Multiply>(),
        Arithmetic::Max => zip::<T, T, Max>(),
        Arithmetic::Min => zip::<T, T, Min>(),
        Arithmetic::And => zip::<T, T, And>(),
        Arithmetic::Or => zip::<T, T, Or>(),
        Arithmetic::Xor => zip::<T, T, Xor>(),
    };
    TileOp {
        record: T::record(f),
        ..kernel
    }
}

/// The kernel of the bitwise complement of integers.
pub fn invert<T: IntegerElement>() -> TileOp {
    map::<T, T, Invert>().recorded(instruction::invert)
}

/// The kernel of the negation of booleans.
pub fn not() -> TileOp {
    map::<bool, bool, Invert>().recorded(instruction::not)
}

/// The kernel of a comparison of integers.
pub fn compare<T: IntegerElement>(c: Comparison) -> TileOp {
    TileOp {
        record: T::record_comparison(c),
        ..ordered::<T>(c)
    }
}

fn ordered<T: Copy + PartialOrd>(c: Comparison) -> TileOp {
    match c {
        Comparison::Eq => zip::<T, bool, Eq>(),
        Comparison::Ne => zip::<T, bool, Ne>(),
        Comparison::Lt => zip::<T, bool, Lt>(),
        Comparison::Le => zip::<T, bool, Le>(),
    }
}

/// The kernel of a comparison of floats.
pub(super) fn comparison<T: Copy + PartialOrd>(c: Comparison) -> TileOp {
    ordered::<T>(c).recorded(match c {
        Comparison::Eq => instruction::eq,
        Comparison::Ne => instruction::ne,
        Comparison::Lt => instruction::lt,
        Comparison::Le => instruction::le,
    })
}

/// The kernel of equality of complex numbers, or of inequality.
pub fn complex_equal<T: Copy + PartialEq>(equal: bool) -> TileOp {
    match equal {
        true => zip::<T, bool, Eq>().recorded(complex::equal::<T>),
        false => zip::<T, bool, Ne>().recorded(complex::unequal::<T>),
    }
}

/// The kernel of the sum of complex numbers.
pub fn complex_add<T: Number>() -> TileOp {
    zip::<T, T, Plus>().recorded(complex::sum::<T>)
}

pub(super) struct OfBool;

impl<T: From<bool>> Map<bool, T> for OfBool {
    #[inline(always)]
    fn f(x: bool) -> T {
        x.into()
    }
}

struct ComplexOf;

impl<T> Zip<T, Complex<T>> for ComplexOf {
    #[inline(always)]
    fn f(a: T, b: T) -> Complex<T> {
        Complex::new(a, b)
    }
}

/// The kernel of complex numbers from their parts.
pub fn complex<T: Copy>() -> TileOp {
    zip::<T, Complex<T>, ComplexOf>().recorded(complex::pair)
}
