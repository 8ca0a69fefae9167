//! Conversion of element types: the sequence of kernels for each pair of types, used by fused
//! groups and by single operations.
//!
//! Conversions to floats round. Floats to integers truncate and saturate; integers to integers
//! wrap. Complex numbers to real types give their real part. A pair without a direct kernel is
//! converted through a type that holds every value of the source type, so it rounds once.

use cotangent_core::dtype::Kind;
use cotangent_core::{C64, C128, DType, bf16, f16};
use cotangent_kernels::tile::convert::cast;
use cotangent_kernels::tile::halves::{self, Half};
use cotangent_kernels::tile::{TileFloat, TileOp};
use smallvec::{SmallVec, smallvec};

/// Kernels to run in sequence, with the result type of each.
pub(crate) type Path = SmallVec<[(TileOp, DType); 4]>;

/// Kernels of a conversion. Empty if the elements of both types have the same bits.
pub(crate) fn path(from: DType, to: DType) -> Path {
    use DType::*;
    let kernel = match (from.kind(), to.kind()) {
        _ if from == to => return Path::new(),
        (Kind::Int | Kind::Bool, Kind::Int) if from.size() == to.size() => return Path::new(),
        (Kind::Int | Kind::Bool, Kind::Int) => resized(from, to.size()),
        (Kind::Int, Kind::Bool) => nonzero(from.size()),
        // Values that f32 represents exactly are converted through f32.
        (Kind::Int, _) if from.size() <= 2 && to != F32 && to != F64 => return by(from, F32, to),
        (Kind::Bool, _) if to != F32 && to != F64 => return by(from, F32, to),
        (Kind::Int, Kind::Float) if to.size() == 2 => return by(from, F64, to),
        (Kind::Int, Kind::Complex) => return by(from, F64, to),
        (Kind::Float, _) if from.size() == 2 && to != F32 => return by(from, F32, to),
        (Kind::Complex, Kind::Int | Kind::Float) if to != from.real() => {
            return by(from, from.real(), to);
        }
        _ => match (from, to) {
            (F64, F16 | BF16) => return smallvec![(halves::to_odd(), F32), (narrow(to), to)],
            (F64, C64) => return by(from, F32, to),
            (F32, C128) => return by(from, F64, to),
            _ => direct(from, to),
        },
    };
    smallvec![(kernel, to)]
}

/// Kernels of a conversion through `middle`.
fn by(from: DType, middle: DType, to: DType) -> Path {
    path(from, middle)
        .into_iter()
        .chain(path(middle, to))
        .collect()
}

/// Instruction from f32 to a 16-bit float type.
fn narrow(to: DType) -> TileOp {
    if to == DType::F16 {
        f16::narrow()
    } else {
        bf16::narrow()
    }
}

/// Instruction that resizes integers to `bytes` bytes. The signedness of the source matters only if
/// the result is wider.
fn resized(from: DType, bytes: usize) -> TileOp {
    use DType::*;
    match (from, bytes) {
        (I8, 2) => cast::<i8, i16>(),
        (I8, 4) => cast::<i8, i32>(),
        (I8, _) => cast::<i8, i64>(),
        (U8 | Bool, 2) => cast::<u8, i16>(),
        (U8 | Bool, 4) => cast::<u8, i32>(),
        (U8 | Bool, _) => cast::<u8, i64>(),
        (I16 | U16, 1) => cast::<i16, i8>(),
        (I16, 4) => cast::<i16, i32>(),
        (I16, _) => cast::<i16, i64>(),
        (U16, 4) => cast::<u16, i32>(),
        (U16, _) => cast::<u16, i64>(),
        (I32 | U32, 1) => cast::<i32, i8>(),
        (I32 | U32, 2) => cast::<i32, i16>(),
        (U32, _) => cast::<u32, i64>(),
        (I32, _) => cast::<i32, i64>(),
        (_, 1) => cast::<i64, i8>(),
        (_, 2) => cast::<i64, i16>(),
        _ => cast::<i64, i32>(),
    }
}

/// Instruction that tests integers of `bytes` bytes for being nonzero.
fn nonzero(bytes: usize) -> TileOp {
    match bytes {
        1 => cast::<u8, bool>(),
        2 => cast::<u16, bool>(),
        4 => cast::<u32, bool>(),
        _ => cast::<u64, bool>(),
    }
}

/// Direct kernel between two types, one of which is f32 or f64.
fn direct(from: DType, to: DType) -> TileOp {
    macro_rules! table {
        ($($a:ident $t:ty => $($b:ident $u:ty),*;)*) => {
            match (from, to) {
                (DType::Bool, DType::F32) => <f32 as TileFloat>::of_truth(),
                (DType::Bool, DType::F64) => <f64 as TileFloat>::of_truth(),
                (DType::F16, DType::F32) => f16::widen(),
                (DType::BF16, DType::F32) => bf16::widen(),
                (DType::F32, DType::F16 | DType::BF16) => narrow(to),
                $($((DType::$a, DType::$b) => cast::<$t, $u>(),)*)*
                _ => unreachable!("{from} to {to} is converted through another type"),
            }
        };
    }
    table! {
        I8 i8 => F32 f32, F64 f64;
        I16 i16 => F32 f32, F64 f64;
        I32 i32 => F32 f32, F64 f64;
        I64 i64 => F32 f32, F64 f64;
        U8 u8 => F32 f32, F64 f64;
        U16 u16 => F32 f32, F64 f64;
        U32 u32 => F32 f32, F64 f64;
        U64 u64 => F32 f32, F64 f64;
        F32 f32 => Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F64 f64, C64 C64;
        F64 f64 => Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, C128 C128;
        C64 C64 => Bool bool, F32 f32, C128 C128;
        C128 C128 => Bool bool, F64 f64, C64 C64;
    }
}
