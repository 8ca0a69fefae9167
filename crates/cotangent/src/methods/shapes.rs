//! [`Shapes`]: element types, shapes, and the order of axes and elements.

use crate::axes::{along, axes_of, axis_of, fails, over};
use crate::tensor_ops::{called, called_one};
use crate::{Axes, Axis, Code, DType, Dim, Emit, Error, Shape, TensorOps, Val};

/// The position of a new axis: of the axes of the result, whose rank is one more.
fn new_axis(cx: &dyn Emit, op: &str, x: Val, axis: Axis) -> Option<usize> {
    fails(cx, axis.of_rank(op, cx.ty(x).rank() + 1))
}

/// Fails the emitter.
fn attribute(cx: &dyn Emit, text: String) -> Val {
    cx.fail(Error::new(Code::Attribute, text).at(cx.loc()));
    Val::POISON
}

/// Element types, shapes, and the order of axes and elements.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::vector(vec![1.0, 2.0]);
/// let y = Tensor::stack(&[&x, &x], -1)?.astype(cotangent::DType::F32)?;
/// assert_eq!(y.expand_dims(0)?.shape(), [1, 2, 2]);
/// assert_eq!(y.unstack(0)?[1].to_vec::<f32>()?, [2.0, 2.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Shapes: TensorOps {
    /// The elements converted to another element type.
    #[track_caller]
    fn astype(&self, dtype: DType) -> Result<Self, Self::Error> {
        called_one("astype", &[self], |cx, x| cx.convert(x[0], dtype))
    }

    /// The bits of the elements as another element type. Bits that are split or joined have a last
    /// axis.
    #[track_caller]
    fn bitcast(&self, dtype: DType) -> Result<Self, Self::Error> {
        called_one("bitcast", &[self], |cx, x| cx.bitcast(x[0], dtype))
    }

    /// The elements, in row-major order, in another shape of numbers and symbols.
    #[track_caller]
    fn reshape(&self, shape: impl Into<Shape>) -> Result<Self, Self::Error> {
        let shape = shape.into();
        called_one("reshape", &[self], |cx, x| cx.reshape(x[0], &shape))
    }

    /// Permuted axes: axis `k` of the result is axis `axes[k]`.
    #[track_caller]
    fn permute_dims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        over("permute_dims", self, axes.into(), |cx, x, axes| {
            cx.transpose(x, axes)
        })
    }

    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    fn transpose(&self, perm: &[usize]) -> Result<Self, Self::Error> {
        called_one("transpose", &[self], |cx, x| cx.transpose(x[0], perm))
    }

    /// Axes in reverse order: the transpose of a matrix.
    #[track_caller]
    fn t(&self) -> Result<Self, Self::Error> {
        called_one("t", &[self], |cx, x| {
            let perm: Vec<usize> = (0..cx.ty(x[0]).rank()).rev().collect();
            cx.transpose(x[0], &perm)
        })
    }

    /// The transpose of the last two axes.
    #[track_caller]
    fn matrix_transpose(&self) -> Result<Self, Self::Error> {
        called_one("matrix_transpose", &[self], |cx, x| {
            let ty = cx.ty(x[0]);
            match ty.rank() {
                0 | 1 => attribute(cx, format!("`matrix_transpose` of {ty}: it takes two axes")),
                _ => cx.matrix_transpose(x[0]),
            }
        })
    }

    /// A broadcast to a shape of numbers and symbols by NumPy's rule: axes are aligned at the end.
    #[track_caller]
    fn broadcast_to(&self, shape: impl Into<Shape>) -> Result<Self, Self::Error> {
        let shape = shape.into();
        called_one("broadcast_to", &[self], |cx, x| {
            cx.broadcast_to(x[0], &shape)
        })
    }

    /// A broadcast to a shape of numbers and symbols. Axis `k` becomes axis `axes[k]`, and is
    /// broadcast if its extent is 1.
    #[track_caller]
    fn broadcast_in_dim(
        &self,
        shape: impl Into<Shape>,
        axes: &[usize],
    ) -> Result<Self, Self::Error> {
        let shape = shape.into();
        called_one("broadcast_in_dim", &[self], |cx, x| {
            cx.broadcast_in_dim(x[0], &shape, axes)
        })
    }

    /// A new axis of extent 1 at this position of the result.
    #[track_caller]
    fn expand_dims(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        let axis = axis.into();
        called_one("expand_dims", &[self], |cx, x| {
            let Some(axis) = new_axis(cx, "expand_dims", x[0], axis) else {
                return Val::POISON;
            };
            let mut shape = cx.ty(x[0]).shape.to_vec();
            shape.insert(axis, Dim::Const(1));
            cx.reshape(x[0], &shape)
        })
    }

    /// The tensor without axes of extent 1. An axis of another extent is an error.
    #[track_caller]
    fn squeeze(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        called_one("squeeze", &[self], |cx, x| {
            let (ty, Some(axes)) = (cx.ty(x[0]), axes_of(cx, "squeeze", x[0], &axes)) else {
                return Val::POISON;
            };
            if let Some(&a) = axes.iter().find(|&&a| !ty.shape[a].is(1)) {
                let text = format!(
                    "`squeeze` of {ty}: axis {a} has extent {}, not 1",
                    ty.shape[a]
                );
                return attribute(cx, text);
            }
            let kept = (0..ty.rank()).filter(|a| !axes.contains(a));
            cx.reshape(x[0], &kept.map(|a| ty.shape[a].clone()).collect::<Vec<_>>())
        })
    }

    /// The elements in reverse order along axes.
    #[track_caller]
    fn flip(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        called_one("flip", &[self], |cx, x| {
            match axes_of(cx, "flip", x[0], &axes) {
                Some(mut axes) => {
                    axes.sort_unstable();
                    cx.reverse(x[0], &axes)
                }
                None => Val::POISON,
            }
        })
    }

    /// The elements moved by `shift` along an axis; those past the end come first.
    #[track_caller]
    fn roll(&self, shift: i64, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("roll", &[self], axis.into(), |cx, x, axis| {
            cx.roll(x[0], shift, axis)
        })
    }

    /// The whole tensor several times along each axis: `counts` for the last axes. With more counts
    /// than axes, leading axes are added.
    #[track_caller]
    fn tile(&self, counts: impl Into<Shape>) -> Result<Self, Self::Error> {
        let counts = counts.into();
        called_one("tile", &[self], |cx, x| cx.tile(x[0], &counts))
    }

    /// Each element `count` times along an axis.
    #[track_caller]
    fn repeat(&self, count: impl Into<Dim>, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        let count = count.into();
        along("repeat", &[self], axis.into(), |cx, x, axis| {
            cx.repeat(x[0], &count, axis)
        })
    }

    /// Differences of neighbours along an axis, taken `n` times; of booleans, whether they differ.
    #[track_caller]
    fn diff(&self, axis: impl Into<Axis>, n: usize) -> Result<Self, Self::Error> {
        along("diff", &[self], axis.into(), |cx, x, axis| {
            cx.diff(x[0], n, axis)
        })
    }

    /// The elements with `value` around and between them: `low` and `high` are counts per axis
    /// (negative ones remove elements), `interior` counts between neighbours.
    #[track_caller]
    fn pad(
        &self,
        low: &[i64],
        high: &[i64],
        interior: &[usize],
        value: f64,
    ) -> Result<Self, Self::Error> {
        called_one("pad", &[self], |cx, x| {
            let scalar = cx.ty(x[0]).with_shape(Shape::scalar());
            let value = cx.full(&scalar, value);
            cx.pad(x[0], value, low, high, interior)
        })
    }

    /// The elements `x[.., i, i]` of the last two axes.
    #[track_caller]
    fn diagonal(&self) -> Result<Self, Self::Error> {
        called_one("diagonal", &[self], |cx, x| cx.diagonal(x[0]))
    }

    /// The sum of the diagonal of the last two axes.
    #[track_caller]
    fn trace(&self) -> Result<Self, Self::Error> {
        called_one("trace", &[self], |cx, x| cx.trace(x[0]))
    }

    /// Tensors joined along an axis.
    #[track_caller]
    fn concat(parts: &[&Self], axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("concat", parts, axis.into(), |cx, x, axis| {
            cx.concatenate(x, axis)
        })
    }

    /// Tensors of one shape, stacked along a new axis of the result.
    #[track_caller]
    fn stack(parts: &[&Self], axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        let axis = axis.into();
        called_one("stack", parts, |cx, x| {
            match new_axis(cx, "stack", x[0], axis) {
                Some(axis) => cx.stack(x, axis),
                None => Val::POISON,
            }
        })
    }

    /// The slices of extent 1 along an axis, which is removed. The extent must be a number.
    #[track_caller]
    fn unstack(&self, axis: impl Into<Axis>) -> Result<Vec<Self>, Self::Error> {
        let axis = axis.into();
        called("unstack", &[self], |cx, x| {
            let Some(axis) = axis_of(cx, "unstack", x[0], axis) else {
                return Vec::new();
            };
            let ty = cx.ty(x[0]);
            let Some(n) = ty.shape[axis].as_const() else {
                let text = format!("`unstack` of {ty}: the extent of axis {axis} is not a number");
                attribute(cx, text);
                return Vec::new();
            };
            (0..n).map(|i| cx.index_axis(x[0], axis, i)).collect()
        })
    }

    /// Consecutive slices of these extents along an axis. Their sum is the extent of the axis.
    #[track_caller]
    fn split(&self, axis: impl Into<Axis>, sizes: &[usize]) -> Result<Vec<Self>, Self::Error> {
        let axis = axis.into();
        let sizes: Shape = sizes.into();
        called("split", &[self], |cx, x| {
            match axis_of(cx, "split", x[0], axis) {
                Some(axis) => cx.split(x[0], axis, &sizes),
                None => Vec::new(),
            }
        })
    }
}

impl<T: TensorOps> Shapes for T {}
