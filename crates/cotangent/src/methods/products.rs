//! [`Products`]: products summed over axes.

use super::broadcast::aligned;
use crate::axes::{axes_of, axis_of};
use crate::ops::DotGeneral;
use crate::tensor_ops::called_one;
use crate::{Axes, Axis, TensorOps, Val};

/// Products summed over axes.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let a = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// assert_eq!(a.matmul(&Tensor::vector(vec![1.0, 1.0]))?.to_vec::<f64>()?, [3.0, 7.0]);
/// assert_eq!(a.tensordot(&a, [0, 1], [0, 1])?.item::<f64>()?, 30.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Products: TensorOps {
    /// The matrix product of the last two axes, batched over leading axes.
    #[track_caller]
    fn matmul(&self, y: &Self) -> Result<Self, Self::Error> {
        called_one("matmul", &[self, y], |cx, x| cx.matmul(x[0], x[1]))
    }

    /// The outer product: every element of this tensor times every element of `y`, in the shape of
    /// this tensor followed by that of `y`.
    #[track_caller]
    fn outer(&self, y: &Self) -> Result<Self, Self::Error> {
        called_one("outer", &[self, y], |cx, x| {
            cx.dot_general(x[0], x[1], DotGeneral::default())
        })
    }

    /// Products summed over pairs of axes, with batch axes.
    #[track_caller]
    fn dot_general(&self, y: &Self, d: DotGeneral) -> Result<Self, Self::Error> {
        called_one("dot_general", &[self, y], |cx, x| {
            cx.dot_general(x[0], x[1], d)
        })
    }

    /// Products summed over axes of this tensor, each with an axis of `y`.
    #[track_caller]
    fn tensordot(
        &self,
        y: &Self,
        axes: impl Into<Axes>,
        axes_of_y: impl Into<Axes>,
    ) -> Result<Self, Self::Error> {
        let (left, right) = (axes.into(), axes_of_y.into());
        called_one("tensordot", &[self, y], |cx, v| {
            let left = axes_of(cx, "tensordot", v[0], &left);
            match (left, axes_of(cx, "tensordot", v[1], &right)) {
                (Some(left), Some(right)) => {
                    cx.dot_general(v[0], v[1], DotGeneral::contract(&left, &right))
                }
                _ => Val::POISON,
            }
        })
    }

    /// The cross product of vectors of three elements along an axis. Shapes are broadcast by
    /// NumPy's rule, and the axis is one of the result.
    #[track_caller]
    fn cross(&self, y: &Self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        let axis = axis.into();
        called_one("cross", &[self, y], |cx, v| {
            let (x, y) = aligned(cx, "cross", v[0], v[1]);
            match axis_of(cx, "cross", x, axis) {
                Some(axis) => cx.cross(x, y, axis),
                None => Val::POISON,
            }
        })
    }

    /// The sum of `conj(x) y` along an axis. Shapes are broadcast by NumPy's rule, and the axis is
    /// one of the result of the broadcast.
    #[track_caller]
    fn vecdot(&self, y: &Self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        let axis = axis.into();
        called_one("vecdot", &[self, y], |cx, v| {
            let (x, y) = aligned(cx, "vecdot", v[0], v[1]);
            match axis_of(cx, "vecdot", x, axis) {
                Some(axis) => cx.reduce_sum(cx.mul(cx.conj(x), y), &[axis]),
                None => Val::POISON,
            }
        })
    }
}

impl<T: TensorOps> Products for T {}
