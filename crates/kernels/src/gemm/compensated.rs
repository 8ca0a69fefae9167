//! Compensated products: each element is summed in twice the precision and rounded once.
//!
//! Elements that are NaN because of zero times infinity are recomputed in the same way, without
//! products that have a zero factor.

use super::Number;
use crate::double_double::Compensated;
use crate::element::any_nan;
use crate::loops::{Loops, StridedAxis};
use crate::memory::{Fallible, with_capacity};
use crate::parallel;
use crate::simd::widest;
use crate::view::{View, volume};

/// Computes the products of [`gemm`](fn@super::gemm), with products and sums in twice the precision
/// of `f64`.
///
/// Elements of C are computed one by one, without blocks, which is many times slower.
///
/// # Panics
/// As [`gemm`](fn@super::gemm).
pub fn gemm_compensated<T: Number>(c: &mut [T], a: View<T>, b: View<T>) -> Fallible {
    by_elements::<T, false>(c, a, b)
}

/// Changes the product `c` of `a` and `b` to one in which zero times any value is zero. Elements
/// that are NaN are recomputed without the products that have a zero factor.
///
/// Reads `c` once if no element is NaN.
///
/// # Panics
/// As [`gemm`](fn@super::gemm).
pub fn gemm_leave_out_zeros<T: Number>(c: &mut [T], a: View<T>, b: View<T>) -> Fallible {
    if any_nan(c) {
        by_elements::<T, true>(c, a, b)
    } else {
        Ok(())
    }
}

/// Computes all elements of C, or only those that are NaN, without zero factors (`MEND`).
fn by_elements<T: Number, const MEND: bool>(c: &mut [T], a: View<T>, b: View<T>) -> Fallible {
    let batch = a
        .shape()
        .len()
        .checked_sub(2)
        .expect("operands have rows and columns");
    let (m, k) = (a.shape()[batch], a.shape()[batch + 1]);
    let n = *b.shape().last().expect("operands have rows and columns");
    assert!(
        b.shape().len() == batch + 2
            && a.shape()[..batch] == b.shape()[..batch]
            && b.shape()[batch] == k,
        "the product of shapes {:?} and {:?}",
        a.shape(),
        b.shape()
    );
    assert_eq!(
        c.len(),
        volume(&a.shape()[..batch]) * m * n,
        "c has shape [.., {m}, {n}]"
    );
    if c.is_empty() || k == 0 {
        c.fill(T::ZERO);
        return Ok(());
    }
    let mut starts = with_capacity(c.len() / (m * n))?;
    if batch == 0 {
        starts.push([a.offset(), b.offset()]);
    } else {
        let loops = Loops::new((0..batch).map(|d| StridedAxis {
            len: a.shape()[d],
            strides: [a.stride(d), b.stride(d)],
        }));
        let [by_a, by_b] = loops.inner().strides;
        loops.in_order([a.offset(), b.offset()], |[a, b], len| {
            let at = |start: usize, i: usize, by: isize| start.wrapping_add_signed(i as isize * by);
            starts.extend((0..len).map(|i| [at(a, i, by_a), at(b, i, by_b)]));
        });
    }
    let (x, y) = (a.data(), b.data());
    let steps = [
        a.stride(batch),
        a.stride(batch + 1),
        b.stride(batch),
        b.stride(batch + 1),
    ];
    let nanos = (c.len() as u64).saturating_mul(k as u64).saturating_mul(4);
    parallel::try_chunks(c, n, nanos, |row, c| {
        if MEND && !any_nan(c) {
            return Ok(());
        }
        let mut sums = with_capacity::<T::Compensated>(n)?;
        widest(
            #[inline(always)]
            || {
                let [from_a, from_b] = starts[row / m];
                let from_a = from_a.wrapping_add_signed((row % m) as isize * steps[0]);
                for p in 0..k as isize {
                    let x = x[from_a.wrapping_add_signed(p * steps[1])];
                    let from_b = from_b.wrapping_add_signed(p * steps[2]);
                    for j in 0..n {
                        let y = y[from_b.wrapping_add_signed(j as isize * steps[3])];
                        let product = match MEND && (x == T::ZERO || y == T::ZERO) {
                            true => T::Compensated::of(T::ZERO.wide()),
                            false => T::Compensated::product(x.wide(), y.wide()),
                        };
                        match p {
                            0 => sums.push(product),
                            _ => sums[j] = sums[j].plus(product),
                        }
                    }
                }
                for (c, s) in c.iter_mut().zip(&sums).filter(|(c, _)| !MEND || c.is_nan()) {
                    *c = T::from_wide(s.round());
                }
            },
        );
        Ok(())
    })
}
