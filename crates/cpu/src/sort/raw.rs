//! Sorts on memory.

use super::selects;
use crate::element::{for_size, pick};
use crate::kernel::UsedResults;
use crate::raw_kernel::{OperandLayout, RawForm, RawKernel};
use crate::tensor::row_major;
use cotangent_core::DType;
use cotangent_core::ops::Sort;
use cotangent_kernels::sort::{argsort, argsort_first};
use smallvec::{SmallVec, smallvec};

/// Number of positions in stack memory.
const STACK_ELEMENTS: usize = 128;

/// A sort by the first operand, for the results that are read. If few elements of them are, the
/// others are not written.
pub(crate) fn sorting(s: &Sort, x: &[RawForm<'_>], used: UsedResults) -> Option<RawKernel> {
    let (&key, axis, descending) = (x.first()?, s.axis, s.descending);
    let other = matches!(key.dtype, DType::Bool | DType::F16 | DType::BF16);
    if s.num_keys != 1 || other || key.dtype.is_complex() {
        return None;
    }
    let layout = OperandLayout::of(key);
    let step = row_major(key.shape)[axis] as usize;
    let (n, extent, dtype) = (key.numel(), key.shape[axis], key.dtype);
    let kept = match selects(used, extent) {
        true => used.first(),
        false => extent,
    };
    let count = n / extent * kept;
    // The number, the type and the positions of each operand whose result is read.
    let operands = x.iter().enumerate().filter(|(k, _)| used.has(*k));
    let operands: Vec<(usize, DType, Box<[isize]>)> =
        operands.map(|(k, x)| (k, x.dtype, x.positions())).collect();
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        let mut order: SmallVec<[usize; STACK_ELEMENTS]> = smallvec![0; count];
        // SAFETY: the caller of `RawKernel::run` guarantees the key.
        let sorted = ordered!(dtype, T => unsafe {
            let x = layout.view::<T>(x[0]);
            match kept == extent {
                true => argsort(&mut order, x, axis, descending),
                false => argsort_first(&mut order, x, axis, kept, descending),
            }
        });
        if sorted.is_err() {
            return false;
        }
        for ((k, dtype, positions), &y) in operands.iter().zip(y) {
            for_size!(dtype, W => for (i, &at) in order.iter().enumerate() {
                let line = i / (kept * step) * extent * step + i % step;
                let (to, from) = (line + i / step % kept * step, positions[line + at * step]);
                // SAFETY: the caller of `RawKernel::run` guarantees operands and results, whose
                // elements have the size of `W`.
                unsafe { *y.cast::<W>().add(to) = *x[*k].cast::<W>().offset(from) };
            });
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    Some(unsafe { RawKernel::new(run) })
}
