//! [`Axes`] and [`Axis`]: axes as arguments of methods. Negative axes count from the end.

use crate::{Code, Emit, Error, Result, TensorOps, Val};
use smallvec::SmallVec;
use std::ops::{Bound, RangeBounds, RangeFull};

/// One axis: `0` is the first, `-1` the last.
///
/// ```
/// use cotangent::Axis;
/// assert_eq!(Axis::from(-1).of_rank("sum", 3)?, 2);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis(isize);

/// Axes of a tensor: one (`0`, `-1`), a list (`[0, 1]`, `&[0]`, a vector), or all (`..`).
///
/// ```
/// use cotangent::TracedTensor;
/// let x = TracedTensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(x.sum(-1).to_tensor()?.to_vec::<f64>()?, [6.0, 15.0]);
/// assert_eq!(x.sum([0, 1]).to_tensor()?.item::<f64>()?, 21.0);
/// assert_eq!(x.max(..).to_tensor()?.item::<f64>()?, 6.0);
/// assert_eq!(x.mean_keepdims(0).shape()?.as_const(), Some(vec![1, 3]));
/// let error = x.sum(2).to_tensor().unwrap_err().to_string();
/// assert!(error.contains("axis 2 is out of range for rank 2"), "{error}");
/// let error = x.sum([1, -1]).to_tensor().unwrap_err().to_string();
/// assert!(error.contains("axis -1 is repeated"), "{error}");
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Option<SmallVec<[Axis; 4]>>);

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl From<$t> for Axis {
            fn from(axis: $t) -> Axis {
                // A number beyond `isize` is out of range for every rank.
                Axis(isize::try_from(axis).unwrap_or(isize::MAX))
            }
        }

        impl From<$t> for Axes {
            fn from(axis: $t) -> Axes {
                Axes(Some(SmallVec::from_slice(&[axis.into()])))
            }
        }
    )*};
}

integers! { i32 isize usize i64 }

impl From<Axis> for Axes {
    fn from(axis: Axis) -> Axes {
        Axes(Some(SmallVec::from_slice(&[axis])))
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Axes {
        Axes(None)
    }
}

impl<T: Copy + Into<Axis>> From<&[T]> for Axes {
    fn from(axes: &[T]) -> Axes {
        Axes(Some(axes.iter().map(|&a| a.into()).collect()))
    }
}

impl<T: Copy + Into<Axis>, const N: usize> From<[T; N]> for Axes {
    fn from(axes: [T; N]) -> Axes {
        axes.as_slice().into()
    }
}

impl<T: Copy + Into<Axis>, const N: usize> From<&[T; N]> for Axes {
    fn from(axes: &[T; N]) -> Axes {
        axes.as_slice().into()
    }
}

impl<T: Copy + Into<Axis>> From<Vec<T>> for Axes {
    fn from(axes: Vec<T>) -> Axes {
        axes.as_slice().into()
    }
}

impl<T: Copy + Into<Axis>> From<&Vec<T>> for Axes {
    fn from(axes: &Vec<T>) -> Axes {
        axes.as_slice().into()
    }
}

impl Axis {
    /// The axis of a tensor of this rank, counted from the start. `op` names the operation in the
    /// error.
    pub fn of_rank(self, op: &str, rank: usize) -> Result<usize> {
        let from_start = match self.0 {
            k if k < 0 => rank.checked_sub(k.unsigned_abs()),
            k => Some(k.unsigned_abs()),
        };
        from_start.filter(|&k| k < rank).ok_or_else(|| {
            let range = match rank {
                0 => "a scalar has no axes".to_owned(),
                n => format!("its axes are 0 to {}, or -{n} to -1", n - 1),
            };
            let text = format!(
                "`{op}`: axis {} is out of range for rank {rank}: {range}",
                self.0
            );
            Error::new(Code::Attribute, text)
        })
    }
}

impl Axes {
    /// The axes of a tensor of this rank, counted from the start, in the order in which they were
    /// given. `op` names the operation in the error.
    pub fn of_rank(&self, op: &str, rank: usize) -> Result<SmallVec<[usize; 4]>> {
        let Some(given) = &self.0 else {
            return Ok((0..rank).collect());
        };
        let mut axes = SmallVec::new();
        for &axis in given {
            let k = axis.of_rank(op, rank)?;
            if axes.contains(&k) {
                let text = format!("`{op}`: axis {} is repeated", axis.0);
                return Err(Error::new(Code::Attribute, text));
            }
            axes.push(k);
        }
        Ok(axes)
    }
}

/// A range of indices: first, and one past the last if there is an end.
pub(crate) fn ends(range: &impl RangeBounds<usize>) -> (usize, Option<usize>) {
    let start = match range.start_bound() {
        Bound::Included(&i) => i,
        Bound::Excluded(&i) => i.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let stop = match range.end_bound() {
        Bound::Included(&i) => Some(i.saturating_add(1)),
        Bound::Excluded(&i) => Some(i),
        Bound::Unbounded => None,
    };
    (start, stop)
}

/// An axis of a value. An error fails the emitter.
pub(crate) fn axis_of(cx: &dyn Emit, op: &str, x: Val, axis: Axis) -> Option<usize> {
    fails(cx, axis.of_rank(op, cx.ty(x).rank()))
}

/// Axes of a value, as given. An error fails the emitter.
pub(crate) fn axes_of(
    cx: &dyn Emit,
    op: &str,
    x: Val,
    axes: &Axes,
) -> Option<SmallVec<[usize; 4]>> {
    fails(cx, axes.of_rank(op, cx.ty(x).rank()))
}

/// The result, or `None` and a failed emitter.
pub(crate) fn fails<T>(cx: &dyn Emit, r: Result<T>) -> Option<T> {
    r.map_err(|e| cx.fail(e.at(cx.loc()))).ok()
}

/// A function over axes of a tensor, in the order in which they were given.
#[track_caller]
pub(crate) fn over<T: TensorOps>(
    op: &str,
    x: &T,
    axes: Axes,
    f: impl FnOnce(&dyn Emit, Val, &[usize]) -> Val,
) -> std::result::Result<T, T::Error> {
    T::emit_one(&[x], |cx, x| match axes_of(cx, op, x[0], &axes) {
        Some(axes) => f(cx, x[0], &axes),
        None => Val::POISON,
    })
}

/// A function of tensors along an axis of the first.
#[track_caller]
pub(crate) fn along<T: TensorOps>(
    op: &str,
    x: &[&T],
    axis: Axis,
    f: impl FnOnce(&dyn Emit, &[Val], usize) -> Val,
) -> std::result::Result<T, T::Error> {
    T::emit_one(x, |cx, x| match axis_of(cx, op, x[0], axis) {
        Some(axis) => f(cx, x, axis),
        None => Val::POISON,
    })
}
