//! Cumulative operations on memory.

use crate::element::{PlainElement, pick};
use crate::folds::RawView;
use crate::raw_kernel::{RawForm, RawKernel};
use cotangent_core::DType;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Cumulative, Running};
use cotangent_core::{C64, C128};
use cotangent_kernels::cumulative as kernels;
use smallvec::SmallVec;

/// A cumulative operation in its own type; `None` for one in another type or an exclusive one.
pub(crate) fn cumulative(c: &Cumulative, x: RawForm<'_>) -> Option<RawKernel> {
    let real = x.dtype.kind() == Kind::Float;
    if c.exclusive || x.dtype.size() < 4 {
        return None;
    }
    match (c.op, x.dtype) {
        (Running::Sum, DType::F32 | DType::F64) if real => {
            pick!(x.dtype, T => running::<T>(c, x, kernels::cumsum_reals); F32 f32, F64 f64)
        }
        (Running::Sum, DType::I64 | DType::U64 | DType::C64 | DType::C128) => {
            pick!(x.dtype, T => running::<T>(c, x, kernels::cumsum);
                I64 i64, U64 u64, C64 C64, C128 C128)
        }
        (
            Running::Prod,
            DType::I64 | DType::U64 | DType::F32 | DType::F64 | DType::C64 | DType::C128,
        ) => {
            pick!(x.dtype, T => running::<T>(c, x, kernels::cumprod);
                I64 i64, U64 u64, F32 f32, F64 f64, C64 C64, C128 C128)
        }
        (Running::Max, DType::I64 | DType::U64 | DType::F32 | DType::F64) => {
            pick!(x.dtype, T => running::<T>(c, x, kernels::cummax);
                I64 i64, U64 u64, F32 f32, F64 f64)
        }
        (Running::Min, DType::I64 | DType::U64 | DType::F32 | DType::F64) => {
            pick!(x.dtype, T => running::<T>(c, x, kernels::cummin);
                I64 i64, U64 u64, F32 f32, F64 f64)
        }
        _ => None,
    }
}

fn running<T: PlainElement>(
    c: &Cumulative,
    x: RawForm<'_>,
    scan: super::Scan<T>,
) -> Option<RawKernel> {
    let (axis, reverse, n) = (c.axis, c.reverse, x.numel());
    let (shape, strides): (SmallVec<[usize; 4]>, SmallVec<[isize; 4]>) =
        (x.shape.into(), x.strides.into());
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        let view = RawView {
            first: x[0],
            shape: &shape,
            strides: &strides,
        };
        // SAFETY: the caller of `RawKernel::run` guarantees the operand and `n` elements of the
        // result, whose type has no invalid values.
        unsafe {
            let y = std::slice::from_raw_parts_mut(y[0].cast::<T>(), n);
            scan(y, view.typed::<T>(), axis, reverse);
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    Some(unsafe { RawKernel::new(run) })
}
