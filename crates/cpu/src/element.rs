//! Element types of the runtime: buffer allocation, exclusive access, and conversions to the
//! arithmetic types of the reference.
//!
//! The reference computes floats in `f64`, complex numbers in pairs of `f64` and integers in
//! `i128`, and rounds or wraps once. [`RealElement`], [`IntegerElement`] and [`ComplexElement`]
//! convert in both directions. A kernel without a faster implementation calls the scalar function
//! of the operation's table entry.

use cotangent_core::{C64, C128, Code, DType, Data, Element, Error, Result, bail, bf16, f16, math};
use cotangent_kernels::memory::{Bytes, capacity, take};
use cotangent_kernels::{Fallible, Number, OutOfMemory};
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// An element type of buffers for which all-zero bytes are a value.
///
/// # Safety
/// A value whose bytes are all zero must be valid.
pub(crate) unsafe trait PlainElement: Element + Number {
    /// The vector in `data`, if it has this element type and is not shared.
    fn exclusive(data: &mut Data) -> Option<&mut Vec<Self>>;
}

macro_rules! plain {
    ($($variant:ident $t:ty),*) => {$(
        // SAFETY: zero bytes are `false`, the integer 0, +0.0 or a pair of them.
        unsafe impl PlainElement for $t {
            fn exclusive(data: &mut Data) -> Option<&mut Vec<$t>> {
                match data { Data::$variant(v) => v.exclusive(), _ => None }
            }
        }
    )*};
}

plain!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
    F16 f16, BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128);

/// Converts a kernel's out-of-memory error to the public error.
pub(crate) fn limit(e: OutOfMemory) -> Error {
    Error::new(Code::Limit, e.to_string())
}

/// Return type of functions that fill a buffer: nothing, or a result with an out-of-memory error.
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

/// Collects an iterator of known length into a vector; an error if there is not enough memory.
pub(crate) fn collected<T>(all: impl Iterator<Item = T>) -> Result<Vec<T>> {
    cotangent_kernels::memory::collected(all).map_err(limit)
}

/// A buffer of `n` zeros; an error if there is not enough memory.
pub(crate) fn zeroed<T: PlainElement>(n: usize) -> Result<Vec<T>> {
    // SAFETY: the buffer holds `n` zeroed elements, which `PlainElement` makes valid. It was
    // allocated with this capacity.
    memory::<T>(n, Bytes::Zero)
        .map(|p| unsafe { Vec::from_raw_parts(p.as_ptr(), n, buffer_capacity::<T>(n)) })
}

/// A buffer of `n` elements with unspecified values; an error if there is not enough memory.
pub(crate) fn arbitrary<T: PlainElement>(n: usize) -> Result<Vec<T>> {
    // Bytes of an old buffer are valid numbers but may be invalid booleans.
    if T::DTYPE == DType::Bool {
        return zeroed(n);
    }
    // SAFETY: the buffer has `n` initialised elements and was allocated with this capacity. Any
    // bytes are a value of every type but `bool`, which returned above.
    memory::<T>(n, Bytes::Initialised)
        .map(|p| unsafe { Vec::from_raw_parts(p.as_ptr(), n, buffer_capacity::<T>(n)) })
}

/// An uninitialised buffer for `n` elements, to be freed as a `Vec<T>` of capacity
/// [`buffer_capacity`]; an error if there is not enough memory.
pub(crate) fn uninitialised<T: PlainElement>(n: usize) -> Result<NonNull<T>> {
    memory(n, Bytes::Any)
}

/// Capacity, in elements, of a buffer allocated for `n` elements.
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

/// An untyped element of a given size. Its alignment is at most that of every element type of this
/// size.
///
/// # Safety
/// Any bytes must be a valid value, and the alignment at most that of every element type of this
/// size.
pub(crate) unsafe trait Bits: Copy + Send + Sync {}

// SAFETY: any byte is a `u8`, and its alignment is 1.
unsafe impl Bits for u8 {}
// SAFETY: any two bytes are a `u16`; every element type of 2 bytes is aligned to 2.
unsafe impl Bits for u16 {}
// SAFETY: any four bytes are a `u32`; every element type of 4 bytes is aligned to 4.
unsafe impl Bits for u32 {}
// SAFETY: any bytes are an array of `u32`. Its alignment is 4, and element types of 8 or 16 bytes
// are aligned to at least 4: pairs of `f32` to 4, the others to 8.
unsafe impl<const N: usize> Bits for [u32; N] {}
// SAFETY: `MaybeUninit<W>` has the layout of `W`, and any bytes, even uninitialised ones, are valid
// for it.
unsafe impl<W: Bits> Bits for MaybeUninit<W> {}

/// The type in which arithmetic on elements of `dtype` is done, so that code is compiled for six
/// types instead of fifteen. Conversion to it is exact and conversion back rounds or wraps once, so
/// the bits are those of arithmetic in `dtype`. Booleans become 0 and 1: logical or is their
/// maximum, logical and their minimum.
pub(crate) fn compute(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::I8 | DType::I16 | DType::I32 => DType::I64,
        DType::Bool | DType::U8 | DType::U16 | DType::U32 => DType::U64,
        _ => dtype,
    }
}

/// Like [`compute`], for sums and products that are accumulated in more precision than `dtype`.
pub(crate) fn compute_exact(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F64,
        _ => compute(dtype),
    }
}

/// Real floating-point element: computed in `f64`, rounded once.
pub(crate) trait RealElement: PlainElement {
    fn to(self) -> f64;
    fn of(x: f64) -> Self;
}

/// Integer or boolean element: computed in `i128`, wrapped once.
pub(crate) trait IntegerElement: PlainElement {
    fn to(self) -> i128;
    fn of(x: i128) -> Self;
}

/// Complex element: computed in pairs of `f64`, rounded once.
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

/// Runs a block for the type of the real and imaginary parts of a complex type.
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

/// Runs a block for a type of arithmetic; see [`compute`].
macro_rules! for_compute {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            I64 i64, U64 u64, F32 f32, F64 f64, C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for a type for which products are compiled: all but booleans and 16-bit floats.
macro_rules! for_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64, C64 cotangent_core::C64, C128 cotangent_core::C128)
    };
}

/// Runs a block for an ordered type of arithmetic.
macro_rules! for_compute_ordered {
    ($dtype:expr, $T:ident => $body:expr) => {
        crate::element::pick!($dtype, $T => $body; I64 i64, U64 u64, F32 f32, F64 f64)
    };
}

/// Runs a block for the untyped element with the size of this type, for kernels that only move
/// elements.
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
