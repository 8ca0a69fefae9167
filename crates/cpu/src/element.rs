//! Element types as the runtime needs them: zeroed buffers, exclusive access, and the arithmetic of
//! the reference.
//!
//! The reference computes floats as `f64`, complex numbers as pairs of them and integers as `i128`,
//! and rounds or wraps once. [`Real`], [`Whole`] and [`Pair`] are the way there and back, so a
//! kernel that has no faster way to the same bits calls the very function that the operation's row
//! holds.

use cotangent_core::{C64, C128, Code, DType, Data, Element, Error, Result, bail, bf16, f16, math};
use cotangent_kernels::memory::{Bytes, capacity, take};
use cotangent_kernels::{Fallible, Number, OutOfMemory};
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

/// An element type that buffers hold: all-zero bytes are a value of it.
///
/// # Safety
/// A value whose bytes are all zero must be valid.
pub(crate) unsafe trait PlainElement: Element + Number {
    /// The vector behind data of this type, if nobody else refers to it.
    fn exclusive(data: &mut Data) -> Option<&mut Vec<Self>>;
}

macro_rules! plain {
    ($($variant:ident $t:ty),*) => {$(
        // SAFETY: zero bytes are `false`, the integer 0, +0.0 or a pair of them.
        unsafe impl PlainElement for $t {
            fn exclusive(data: &mut Data) -> Option<&mut Vec<$t>> {
                match data { Data::$variant(v) => Arc::get_mut(v), _ => None }
            }
        }
    )*};
}

plain!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
    F16 f16, BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128);

/// What kernels return where there is no memory, as users see it.
pub(crate) fn limit(e: OutOfMemory) -> Error {
    Error::new(Code::Limit, e.to_string())
}

/// What writes a buffer returns nothing, or that it had no memory.
pub(crate) trait Done {
    fn done(self) -> Result<()>;
}

impl Done for () {
    #[inline(always)]
    fn done(self) -> Result<()> {
        Ok(())
    }
}

impl Done for Fallible {
    #[inline(always)]
    fn done(self) -> Result<()> {
        self.map_err(limit)
    }
}

/// The elements of an iterator of known length.
pub(crate) fn collected<T>(all: impl Iterator<Item = T>) -> Result<Vec<T>> {
    cotangent_kernels::memory::collected(all).map_err(limit)
}

/// A buffer of `n` zeros; an error if there is no such memory.
pub(crate) fn zeroed<T: PlainElement>(n: usize) -> Result<Vec<T>> {
    // SAFETY: all elements are zero, which makes them valid (`PlainElement`).
    memory::<T>(n, Bytes::Zero)
        .map(|p| unsafe { Vec::from_raw_parts(p.as_ptr(), n, buffer_capacity::<T>(n)) })
}

/// A buffer of `n` elements that are anything, or zero; an error if there is no such memory.
pub(crate) fn arbitrary<T: PlainElement>(n: usize) -> Result<Vec<T>> {
    // Old bytes are numbers, but they may be no truth values.
    if T::DTYPE == DType::Bool {
        return zeroed(n);
    }
    // SAFETY: the buffer is initialised, and any bytes are a value of the types other than `bool`.
    memory::<T>(n, Bytes::Initialised)
        .map(|p| unsafe { Vec::from_raw_parts(p.as_ptr(), n, buffer_capacity::<T>(n)) })
}

/// A buffer for `n` elements, to be freed as a `Vec<T>` of the capacity [`buffer_capacity`]; an error if there
/// is no such memory.
pub(crate) fn uninitialised<T: PlainElement>(n: usize) -> Result<NonNull<T>> {
    memory(n, Bytes::Any)
}

/// The capacity of a buffer for `n` elements.
#[inline]
pub(crate) fn buffer_capacity<T>(n: usize) -> usize {
    match size_of::<T>() {
        0 => n,
        size => capacity(n.saturating_mul(size)) / size,
    }
}

fn memory<T: PlainElement>(n: usize, bytes: Bytes) -> Result<NonNull<T>> {
    let layout = match Layout::array::<T>(n) {
        Ok(layout) if layout.size() > 0 => layout,
        Ok(_) => return Ok(NonNull::dangling()),
        Err(_) => bail!(
            Limit,
            "a buffer of {n} {} elements is larger than the address space",
            T::DTYPE
        ),
    };
    match take(layout, bytes) {
        Some(p) => Ok(p.cast()),
        None => bail!(
            Limit,
            "there is no memory for a buffer of {n} {} elements ({} bytes)",
            T::DTYPE,
            layout.size()
        ),
    }
}

/// An element without its meaning: as many bytes, in units that are aligned no more than any
/// element of that size.
///
/// # Safety
/// Any bytes must be valid, and the alignment at most that of every element type of this size.
pub(crate) unsafe trait Bits: Copy + Send + Sync {}

// SAFETY: unsigned integers. Elements of 8 bytes are `f64`, integers, or pairs of `f32`, which are
// aligned to 4.
unsafe impl Bits for u8 {}
// SAFETY: as above.
unsafe impl Bits for u16 {}
// SAFETY: as above.
unsafe impl Bits for u32 {}
// SAFETY: as above.
unsafe impl<const N: usize> Bits for [u32; N] {}
// SAFETY: as above; memory that has not been written is valid, too.
unsafe impl<W: Bits> Bits for MaybeUninit<W> {}

/// The type in which arithmetic on elements of this type is done: a kernel for each of the fifteen
/// would be fifteen times the code. The conversion there is exact and the one back rounds, or
/// wraps, once, so the bits are those of arithmetic in the type itself. Booleans become 0 and 1: or
/// is their maximum, and is their minimum.
pub(crate) fn compute(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::I8 | DType::I16 | DType::I32 => DType::I64,
        DType::Bool | DType::U8 | DType::U16 | DType::U32 => DType::U64,
        _ => dtype,
    }
}

/// As [`compute`], for sums and products that carry more precision than their type.
pub(crate) fn compute_exact(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F64,
        _ => compute(dtype),
    }
}

/// Real floating point: computed in `f64`, rounded once.
pub(crate) trait RealElement: PlainElement {
    fn to(self) -> f64;
    fn of(x: f64) -> Self;
}

/// Integers and booleans: computed in `i128`, wrapped once.
pub(crate) trait IntegerElement: PlainElement {
    fn to(self) -> i128;
    fn of(x: i128) -> Self;
}

/// Complex numbers: computed in pairs of `f64`, rounded once.
pub(crate) trait ComplexElement: PlainElement {
    fn to(self) -> C128;
    fn of(z: C128) -> Self;
}

macro_rules! ways {
    ($trait:ident $wide:ty: $($t:ty, $to:expr, $of:expr;)*) => {$(
        impl $trait for $t {
            #[inline(always)]
            fn to(self) -> $wide { $to(self) }
            #[inline(always)]
            fn of(x: $wide) -> $t { $of(x) }
        }
    )*};
}

ways! { RealElement f64:
    f16, f16::to_f64, math::nearest_f16;
    bf16, bf16::to_f64, math::nearest_bf16;
    f32, f64::from, |x| x as f32;
    f64, |x| x, |x| x;
}

ways! { IntegerElement i128:
    bool, i128::from, |x| x != 0;
    i8, i128::from, |x| x as i8;
    i16, i128::from, |x| x as i16;
    i32, i128::from, |x| x as i32;
    i64, i128::from, |x| x as i64;
    u8, i128::from, |x| x as u8;
    u16, i128::from, |x| x as u16;
    u32, i128::from, |x| x as u32;
    u64, i128::from, |x| x as u64;
}

ways! { ComplexElement C128:
    C64, |z: C64| C128::new(z.re.into(), z.im.into()), |z: C128| C64::new(z.re as f32, z.im as f32);
    C128, |z| z, |z| z;
}

/// Runs a block for a real floating type: `for_real!(dtype, T => ..)`.
macro_rules! for_real {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body; F16 cotangent_core::f16, BF16 cotangent_core::bf16, F32 f32, F64 f64)
    };
}

/// Runs a block for an integer or boolean type.
macro_rules! for_integer_or_bool {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// Runs a block for an integer type.
macro_rules! for_int {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// Runs a block for a complex type.
macro_rules! for_complex {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body; C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for the type of the parts of a complex type.
macro_rules! for_complex_part {
    ($dtype:expr, $P:ident => $body:expr) => {
        crate::element::pick!($dtype, $P => $body; C64 f32, C128 f64)
    };
}

/// Runs a block for any type.
macro_rules! for_any {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 cotangent_core::f16, BF16 cotangent_core::bf16, F32 f32, F64 f64,
            C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for a type that arithmetic is compiled for; see [`compute`].
macro_rules! for_compute {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            I64 i64, U64 u64, F32 f32, F64 f64, C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for a type with products of its own: all but booleans and floats of 16 bits.
macro_rules! for_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64, C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for a type with an order that arithmetic is compiled for.
macro_rules! for_compute_ordered {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body; I64 i64, U64 u64, F32 f32, F64 f64)
    };
}

/// Runs a block for a type whose elements have the size of this one's: what moves elements need not
/// know more.
macro_rules! for_size {
    ($dtype:expr, $W:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $W = u8;
                $body
            }
            2 => {
                type $W = u16;
                $body
            }
            4 => {
                type $W = u32;
                $body
            }
            8 => {
                type $W = [u32; 2];
                $body
            }
            _ => {
                type $W = [u32; 4];
                $body
            }
        }
    };
}

macro_rules! pick {
    ($dtype:expr, $T:ident => $body:expr; $($variant:ident $t:ty),*) => {
        match $dtype {
            $(cotangent_core::DType::$variant => { type $T = $t; $body })*
            #[allow(unreachable_patterns)]
            other => unreachable!("the type rule admits no {other} here"),
        }
    };
}

pub(crate) use {
    for_any, for_complex, for_complex_part, for_compute, for_compute_ordered, for_int,
    for_integer_or_bool, for_number, for_real, for_size, pick,
};
