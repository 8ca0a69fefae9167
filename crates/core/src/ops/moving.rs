//! Shared code of operations that only move elements: index maps, and overwriting some elements
//! with others.

use crate::array::{Array, Element};
use crate::bail;
use crate::error::{Code, Error, Result};
use crate::for_dtype;
use crate::shape::{Dim, Type};

/// Row-major strides.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut s = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        s[k - 1] = s[k] * shape[k];
    }
    s
}

/// Advances to the next index of `shape` in row-major order. Returns `false` after the last one.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for (i, &n) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < n {
            return true;
        }
        *i = 0;
    }
    false
}

/// For every index of `from` in row-major order, the flat index in `to` of the index with the
/// components `at(axis, i)`. `None` if a component is `None`.
pub(crate) fn places(
    from: &[usize],
    to: &[usize],
    at: impl Fn(usize, usize) -> Option<usize>,
) -> impl Iterator<Item = Option<usize>> {
    let mut index = vec![0; from.len()];
    let mut more = !from.contains(&0);
    std::iter::from_fn(move || {
        if !more {
            return None;
        }
        let place = (0..from.len()).try_fold(0, |p, k| Some(p * to[k] + at(k, index[k])?));
        more = advance(&mut index, from);
        Some(place)
    })
}

/// The elements of `x` at the flat indices `at`, in this order, in a new shape.
pub(crate) fn pick(
    x: &Array,
    shape: &[usize],
    at: impl Iterator<Item = Option<usize>>,
) -> Result<Array> {
    x.wide()
        .pick(at.map(|p| p.expect("every element has a source")))
        .narrow(x.dtype(), shape)
}

/// `base` with element `i` of `patch` written at `p`, for every `(i, p)` in order. The last write
/// remains.
pub(crate) fn overlay(
    base: Array,
    patch: &Array,
    to: impl Iterator<Item = (usize, usize)>,
) -> Result<Array> {
    for_dtype!(patch.dtype(), T => {
        let shape = base.shape().to_vec();
        let new = patch.as_slice::<T>().unwrap_or_default();
        let mut out = T::take(base.into_data()).unwrap_or_default();
        for (i, p) in to {
            out[p] = new[i];
        }
        Array::from_vec(shape, out)
    })
}

/// `overlay` with element `i` written at the `i`-th flat index, or skipped (`None`).
pub(crate) fn overlay_all(
    base: Array,
    patch: &Array,
    to: impl Iterator<Item = Option<usize>>,
) -> Result<Array> {
    overlay(
        base,
        patch,
        to.enumerate().filter_map(|(i, p)| Some((i, p?))),
    )
}

/// The error for an axis that a value does not have.
pub(super) fn no_axis(op: &str, ty: &Type, axis: usize) -> Error {
    Error::new(Code::Attribute, format!("`{op}`: {ty} has no axis {axis}"))
}

/// Whether `a > b` for all values of the symbols.
pub(crate) fn exceeds(a: &Dim, b: &Dim) -> bool {
    (a.clone() - b.clone()).as_const().is_some_and(|d| d > 0)
}

/// The extent of a padded axis: `n + low + high + interior * max(n - 1, 0)`. Returns an error if it
/// is negative or too large.
pub(crate) fn padded(n: &Dim, low: i64, high: i64, interior: usize) -> Result<Dim> {
    let edges = i128::from(low) + i128::from(high);
    if let Some(n) = n.as_const() {
        let all = n as i128 + edges + (interior as i128) * (n.saturating_sub(1) as i128);
        return match usize::try_from(all) {
            Ok(d) if d <= isize::MAX as usize => Ok(Dim::Const(d)),
            Ok(_) => bail!(Limit, "an extent of {all} is too large"),
            Err(_) => bail!(
                Attribute,
                "{n} elements, {low} before them and {high} after them are fewer than none"
            ),
        };
    }
    let inner = n.clone() + n.affine(1, -1) * Dim::Const(interior);
    let edge = Dim::Const(edges.unsigned_abs().try_into().unwrap_or(usize::MAX));
    Ok(if edges < 0 {
        inner - edge
    } else {
        inner + edge
    })
}

/// A list with one more element in front.
pub(crate) fn prepend<T: Clone>(first: T, rest: &[T]) -> Vec<T> {
    std::iter::once(first).chain(rest.iter().cloned()).collect()
}

/// Axes after one more leading axis is added.
pub(crate) fn shifted(axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|a| a + 1).collect()
}
