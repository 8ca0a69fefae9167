//! Cumulative operations and linear recurrences on memory.

use super::{Scan, form, into_slice, log_sum_exp};
use crate::element::{PlainElement, for_complex, for_int, pick};
use crate::raw_kernel::{OperandLayout, RawForm, RawKernel};
use cotangent_core::DType;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Cumulative, LinearRecurrence, Running};
use cotangent_kernels::{Ordered, cumulative as kernels};

/// A cumulative operation; `None` for 16-bit floats and booleans, which are converted first.
pub(crate) fn cumulative(c: &Cumulative, x: RawForm<'_>) -> Option<RawKernel> {
    if is_converted(x.dtype) {
        return None;
    }
    let int = x.dtype.kind() == Kind::Int;
    Some(match (c.op, x.dtype.kind()) {
        (Running::Sum, Kind::Float) => {
            pick!(x.dtype, T => running::<T>(c, x, 0.0, kernels::cumsum_reals); F32 f32, F64 f64)
        }
        (Running::Sum, Kind::Complex) => {
            for_complex!(x.dtype, T => running::<T>(c, x, T::ZERO, kernels::cumsum))
        }
        (Running::Sum, _) => for_int!(x.dtype, T => running::<T>(c, x, 0, kernels::cumsum)),
        (Running::Prod, Kind::Float) => {
            pick!(x.dtype, T => running::<T>(c, x, 1.0, kernels::cumprod); F32 f32, F64 f64)
        }
        (Running::Prod, Kind::Complex) => {
            for_complex!(x.dtype, T => running::<T>(c, x, T::ONE, kernels::cumprod))
        }
        (Running::Prod, _) => for_int!(x.dtype, T => running::<T>(c, x, 1, kernels::cumprod)),
        (Running::Max, _) if int => {
            for_int!(x.dtype, T => running::<T>(c, x, T::LOWEST, kernels::cummax))
        }
        (Running::Min, _) if int => {
            for_int!(x.dtype, T => running::<T>(c, x, T::HIGHEST, kernels::cummin))
        }
        (Running::Max, _) => {
            pick!(x.dtype, T => running::<T>(c, x, T::LOWEST, kernels::cummax); F32 f32, F64 f64)
        }
        (Running::Min, _) => {
            pick!(x.dtype, T => running::<T>(c, x, T::HIGHEST, kernels::cummin); F32 f32, F64 f64)
        }
        (Running::LogSumExp, _) => {
            pick!(x.dtype, T => running::<T>(c, x, T::LOWEST, log_sum_exp); F32 f32, F64 f64)
        }
    })
}

/// Whether a kernel converts operands of this type.
fn is_converted(dtype: DType) -> bool {
    dtype == DType::Bool || (dtype.kind() == Kind::Float && dtype.size() < 4)
}

fn running<T: PlainElement>(
    c: &Cumulative,
    x: RawForm<'_>,
    identity: T,
    scan: Scan<T>,
) -> RawKernel {
    let (layout, n) = (OperandLayout::of(x), x.numel());
    let scan = into_slice(*c, identity, scan);
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        // SAFETY: the caller of `RawKernel::run` guarantees the operand and `n` elements of the
        // result, whose type has no invalid values.
        unsafe {
            let y = std::slice::from_raw_parts_mut(y[0].cast::<T>(), n);
            scan(y, layout.view::<T>(x[0]));
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    unsafe { RawKernel::new(run) }
}

/// A linear recurrence; `None` for 16-bit floats.
pub(crate) fn linear_recurrence(
    r: &LinearRecurrence,
    [a, b]: [RawForm<'_>; 2],
) -> Option<RawKernel> {
    if is_converted(a.dtype) {
        return None;
    }
    Some(match a.dtype.kind() {
        Kind::Complex => for_complex!(a.dtype, T => recurrence::<T>(r, [a, b])),
        _ => pick!(a.dtype, T => recurrence::<T>(r, [a, b]); F32 f32, F64 f64),
    })
}

fn recurrence<T: PlainElement>(r: &LinearRecurrence, [a, b]: [RawForm<'_>; 2]) -> RawKernel {
    let (how, n) = (form(r), b.numel());
    let layouts = [a, b].map(OperandLayout::of);
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        // SAFETY: the caller of `RawKernel::run` guarantees the operands and `n` elements of the
        // result, whose type has no invalid values.
        unsafe {
            let y = std::slice::from_raw_parts_mut(y[0].cast::<T>(), n);
            let [a, b] = [0, 1].map(|k| layouts[k].view::<T>(x[k]));
            kernels::recurrence(y, [a, b], how);
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    unsafe { RawKernel::new(run) }
}
