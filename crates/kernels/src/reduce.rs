//! Reductions of a view over any set of axes, in the order of [`tree`](crate::tree).
//!
//! `dst[j] = lower(x_0 ∘ x_1 ∘ … ∘ x_{n-1})`, where `j` runs over the kept axes (row-major). The
//! `x_i` are the lifted elements of the reduced axes, numbered in row-major order for all strides.
//! So a transposed view reduces to the same bits as its contiguous copy.
//!
//! Two strategies give those bits. **Rows** reduce one output at a time, for long reductions along
//! contiguous axes. **Columns** reduce a block of adjacent outputs side by side, for reductions
//! across contiguous axes and for short ones. Both are O(elements). The working memory is at most a
//! chunk and a logarithmic number of rows. Threads share outputs, or the chunks of a single one.

mod best;
mod fold;

use crate::double_double::Compensated;
use crate::element::{Index, Number, Ordered};
use crate::tree::{General, Lanes, Named, ReduceOp};
use crate::view::View;
use best::arg;
use fold::fold;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Computes sums; 0 over an empty set. f16 and bf16 accumulate in f32, integers wrap, `bool` is
/// "any".
///
/// `stable` sums floats in twice the precision and rounds once ([`twice`](crate::double_double)).
pub fn sum<T: Number>(dst: &mut [T], src: View<T>, axes: &[usize], stable: bool) {
    // A sum of integers is exact: it has one form.
    if stable && size_of::<T::Compensated>() > size_of::<T>() {
        let of = |x: T, _| T::Compensated::of(x.wide());
        fold(
            dst,
            src,
            axes,
            T::ZERO,
            &General(of, T::Compensated::plus),
            |s| T::from_wide(s.round()),
        );
    } else {
        fold(
            dst,
            src,
            axes,
            T::ZERO,
            &Named(ReduceOp::Sum, T::Acc::plus),
            T::narrow,
        );
    }
}

/// Computes products; 1 over an empty set. f16 and bf16 accumulate in f32, integers wrap, `bool` is
/// "all".
pub fn prod<T: Number>(dst: &mut [T], src: View<T>, axes: &[usize]) {
    fold(
        dst,
        src,
        axes,
        T::ONE,
        &Named(ReduceOp::Product, T::Acc::times),
        T::narrow,
    );
}

/// Computes IEEE maxima: NaN wins, `+0 > -0`. [`Ordered::LOWEST`] over an empty set.
pub fn max<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axes: &[usize]) {
    fold(
        dst,
        src,
        axes,
        T::narrow(T::Acc::LOWEST),
        &Named(ReduceOp::Max, T::Acc::maximum),
        T::narrow,
    );
}

/// Computes IEEE minima: NaN wins, `-0 < +0`. [`Ordered::HIGHEST`] over an empty set.
pub fn min<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axes: &[usize]) {
    fold(
        dst,
        src,
        axes,
        T::narrow(T::Acc::HIGHEST),
        &Named(ReduceOp::Min, T::Acc::minimum),
        T::narrow,
    );
}

/// Whether any element is true; false over an empty set.
pub fn any(dst: &mut [bool], src: View<bool>, axes: &[usize]) {
    bit_or(dst, src, axes);
}

/// Whether all elements are true; true over an empty set.
pub fn all(dst: &mut [bool], src: View<bool>, axes: &[usize]) {
    bit_and(dst, src, axes);
}

/// Computes the bitwise AND of integers or `bool`s; all ones over an empty set.
pub fn bit_and<T>(dst: &mut [T], src: View<T>, axes: &[usize])
where
    T: Number<Acc = T> + Lanes + BitAnd<Output = T> + Not<Output = T>,
{
    fold(
        dst,
        src,
        axes,
        !T::ZERO,
        &General(|x, _| x, T::bitand),
        |x| x,
    );
}

/// Computes the bitwise OR of integers or `bool`s; 0 over an empty set.
pub fn bit_or<T: Number<Acc = T> + Lanes + BitOr<Output = T>>(
    dst: &mut [T],
    src: View<T>,
    axes: &[usize],
) {
    fold(dst, src, axes, T::ZERO, &General(|x, _| x, T::bitor), |x| x);
}

/// Computes the bitwise XOR of integers or `bool`s; 0 over an empty set.
pub fn bit_xor<T: Number<Acc = T> + Lanes + BitXor<Output = T>>(
    dst: &mut [T],
    src: View<T>,
    axes: &[usize],
) {
    fold(
        dst,
        src,
        axes,
        T::ZERO,
        &General(|x, _| x, T::bitxor),
        |x| x,
    );
}

/// Computes positions of the maxima among the reduced elements in row-major order: the first of
/// equal elements, or the first NaN (`-0` equals `+0`). 0 over an empty set.
pub fn argmax<T: Number<Acc: Ordered>, I: Index>(dst: &mut [I], src: View<T>, axes: &[usize]) {
    arg(dst, src, axes, false);
}

/// Computes positions of the minima; see [`argmax`].
pub fn argmin<T: Number<Acc: Ordered>, I: Index>(dst: &mut [I], src: View<T>, axes: &[usize]) {
    arg(dst, src, axes, true);
}

#[cfg(test)]
mod tests;
