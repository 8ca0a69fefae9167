//! Pool of small buffers, one per thread. For small tensors, allocating a buffer with its reference
//! count costs several times the arithmetic.
//!
//! A thread keeps at most [`MAX_SPARE_PER_LENGTH`] buffers of each length up to
//! [`MAX_SPARE_ELEMENTS`]. Only `f64` and `f32` are pooled: the element types of most eager
//! gradients.

use crate::element::PlainElement;
use crate::tuning::{MAX_SPARE_ELEMENTS, MAX_SPARE_PER_LENGTH};
use cotangent_core::{Buffer, DType, Data};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Pooled buffers, indexed by length.
type Lengths<T> = [Vec<Buffer<T>>; MAX_SPARE_ELEMENTS + 1];

struct SmallBufferPool {
    f64: Lengths<f64>,
    f32: Lengths<f32>,
}

thread_local! {
    static SMALL_BUFFERS: RefCell<SmallBufferPool> =
        const { RefCell::new(SmallBufferPool { f64: [const { Vec::new() }; MAX_SPARE_ELEMENTS + 1], f32: [const { Vec::new() }; MAX_SPARE_ELEMENTS + 1] }) };
}

/// A pooled buffer of `n` elements that is not shared, and the address of its first element. The
/// elements hold old values.
#[inline]
pub(crate) fn take(dtype: DType, n: usize) -> Option<(Data, NonNull<u8>)> {
    fn of<T: PlainElement>(
        kept: &mut Vec<Buffer<T>>,
        wrap: fn(Buffer<T>) -> Data,
    ) -> Option<(Data, NonNull<u8>)> {
        let mut data = kept.pop()?;
        let at = NonNull::from(data.exclusive()?.as_mut_slice()).cast();
        Some((wrap(data), at))
    }
    if n > MAX_SPARE_ELEMENTS || !matches!(dtype, DType::F64 | DType::F32) {
        return None;
    }
    let found = SMALL_BUFFERS.try_with(|spare| {
        let spare = &mut *spare.try_borrow_mut().ok()?;
        match dtype {
            DType::F64 => of(&mut spare.f64[n], Data::F64),
            _ => of(&mut spare.f32[n], Data::F32),
        }
    });
    found.ok().flatten()
}

/// Frees this thread's pooled buffers.
pub(crate) fn clear() {
    let _ = SMALL_BUFFERS.try_with(|spare| {
        if let Ok(mut spare) = spare.try_borrow_mut() {
            spare.f64.iter_mut().for_each(|kept| *kept = Vec::new());
            spare.f32.iter_mut().for_each(|kept| *kept = Vec::new());
        }
    });
}

/// Returns a buffer to the pool if it is not shared and has at most [`MAX_SPARE_ELEMENTS`]
/// elements.
#[inline]
pub(crate) fn give(data: Data) {
    fn of<T>(lengths: &mut Lengths<T>, data: Buffer<T>) {
        let kept = &mut lengths[data.len()];
        if kept.len() < MAX_SPARE_PER_LENGTH {
            kept.push(data);
        }
    }
    /// Whether it is a short vector that is not shared.
    fn is_spare<T>(data: &Buffer<T>) -> bool {
        let is_short = |v: &Vec<T>| v.capacity() <= MAX_SPARE_ELEMENTS;
        data.as_vec().is_some_and(is_short) && !data.is_shared()
    }
    let last = match &data {
        Data::F64(v) => is_spare(v),
        Data::F32(v) => is_spare(v),
        _ => false,
    };
    if !last {
        return;
    }
    // After the pool of an ending thread is destroyed, the buffer is freed here.
    let _ = SMALL_BUFFERS.try_with(move |spare| {
        let Ok(mut spare) = spare.try_borrow_mut() else {
            return;
        };
        match data {
            Data::F64(v) => of(&mut spare.f64, v),
            Data::F32(v) => of(&mut spare.f32, v),
            _ => {}
        }
    });
}
