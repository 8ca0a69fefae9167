//! Reductions of rows that are made a block at a time: the tree of [`tree`](crate::tree), so the bits of a reduction of
//! the whole.

use crate::element::{Number, Ordered};
use crate::tree::{CHUNK, Counter, Lanes, fold_chunk};

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Sum; 0 of nothing.
    Sum,
    /// IEEE maximum; the least value of nothing.
    Max,
    /// IEEE minimum; the greatest value of nothing.
    Min,
}

/// Reductions of rows of one length, in order.
pub trait Rows {
    /// Takes the next elements: whole rows, or a piece of one row that is a whole chunk or its end.
    ///
    /// # Safety
    /// `x` is valid for `n` elements, and results are written within the `dst` it was made for.
    unsafe fn take(&mut self, x: *const u8, n: usize);
}

/// The number of elements to make at a time, for rows of a length: whole rows, or a chunk of one.
pub fn block(len: usize) -> usize {
    if len > CHUNK { CHUNK } else { CHUNK / len.max(1) * len }
}

struct Of<T, A, L, C, N> {
    dst: *mut T,
    len: usize,
    /// Elements of the current row that came.
    done: usize,
    rows: Counter<A>,
    chunks: Counter<A>,
    lift: L,
    combine: C,
    lower: N,
}

impl<T: Copy, A: Lanes, L: Fn(T, usize) -> A, C: Fn(A, A) -> A, N: Fn(A) -> T> Rows for Of<T, A, L, C, N> {
    unsafe fn take(&mut self, x: *const u8, n: usize) {
        // SAFETY: the caller's promise.
        let mut x = unsafe { std::slice::from_raw_parts(x.cast::<T>(), n) };
        while !x.is_empty() {
            let (piece, rest) = x.split_at((self.len - self.done).min(CHUNK).min(x.len()));
            x = rest;
            let a = fold_chunk(piece, self.done, &mut self.rows, &self.lift, &self.combine);
            let first = self.done == 0;
            self.done += piece.len();
            let whole = if first && self.done == self.len {
                a
            } else {
                if first {
                    self.chunks.start(1);
                }
                self.chunks.push([a]);
                self.chunks.carry((self.done - 1) / CHUNK, &self.combine);
                if self.done < self.len {
                    continue;
                }
                self.chunks.finish(&self.combine)[0]
            };
            // SAFETY: the caller's promise: as many results as rows were asked for.
            unsafe {
                self.dst.write((self.lower)(whole));
                self.dst = self.dst.add(1);
            }
            self.done = 0;
        }
    }
}

/// Reductions of `count` rows of `len` elements into `dst`, one after another; of rows of no elements at once.
///
/// # Safety
/// `dst` is valid for `count` elements as long as the result takes any.
pub unsafe fn rows<T: Number<Acc: Ordered>>(fold: Fold, dst: *mut T, count: usize, len: usize) -> Box<dyn Rows> {
    if len == 0 {
        let empty = match fold {
            Fold::Sum => T::ZERO,
            Fold::Max => T::narrow(T::Acc::LOWEST),
            Fold::Min => T::narrow(T::Acc::HIGHEST),
        };
        // SAFETY: the caller's promise.
        (0..count).for_each(|i| unsafe { dst.add(i).write(empty) });
    }
    let (done, rows, chunks) = (0, Counter::new(), Counter::new());
    let (lift, lower) = (|x: T, _: usize| x.widen(), T::narrow);
    match fold {
        Fold::Sum => Box::new(Of { dst, len, done, rows, chunks, lift, combine: T::Acc::plus, lower }),
        Fold::Max => Box::new(Of { dst, len, done, rows, chunks, lift, combine: T::Acc::maximum, lower }),
        Fold::Min => Box::new(Of { dst, len, done, rows, chunks, lift, combine: T::Acc::minimum, lower }),
    }
}
