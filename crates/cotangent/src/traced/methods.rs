//! Operations as methods of traced tensors, in addition to the methods shared with eager tensors.
//! An error is stored in the result, except where a method returns a `Result`.

use super::TracedTensor;
use super::record::{aligned, record, record_one};
use crate::here::here;
use crate::methods::ascending;
use crate::ops::Comparison;
use crate::{DType, Dim, Op, Result};

/// Methods such as `x.exp()`, one per table entry.
macro_rules! unary {
    ($($method:ident)*) => {
        impl TracedTensor {
            $(#[doc = concat!("Elementwise `", stringify!($method), "`.")]
            #[track_caller]
            pub fn $method(&self) -> TracedTensor {
                record_one(here(), &[self], |cx, x| cx.$method(x[0]))
            })*
        }
    };
}

unary! {
    neg abs sign floor ceil trunc sqrt rsqrt cbrt exp exp2 expm1 log log2 log1p sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh logistic erf erfc erf_inv lgamma digamma is_finite is_nan not stop_gradient
}

/// Methods such as `x.add(&y)`, one per table entry. Shapes are broadcast by NumPy's rule.
macro_rules! binary {
    ($($method:ident)*) => {
        impl TracedTensor {
            $(#[doc = concat!("Elementwise `", stringify!($method), "`; extents of 1 and missing leading axes are broadcast.")]
            #[track_caller]
            pub fn $method(&self, y: &TracedTensor) -> TracedTensor {
                record_one(here(), &[self, y], |cx, x| {
                    let (x, y) = aligned(cx, stringify!($method), x[0], x[1]);
                    cx.$method(x, y)
                })
            })*
        }
    };
}

binary! {
    add sub mul div rem pow atan2 maximum minimum xlogy
}

/// Methods such as `x.lt(&y)`, one per table entry.
macro_rules! comparisons {
    ($($method:ident $op:ident $doc:literal),*) => {
        impl TracedTensor {
            $(#[doc = concat!("Elementwise `x ", $doc, " y`, as booleans. Shapes are broadcast by NumPy's rule.")]
            #[track_caller]
            pub fn $method(&self, y: &TracedTensor) -> TracedTensor {
                record_one(here(), &[self, y], |cx, x| {
                    let (x, y) = aligned(cx, stringify!($method), x[0], x[1]);
                    cx.compare(x, Comparison::$op, y)
                })
            })*
        }
    };
}

comparisons! { lt Lt "<", le Le "<=", gt Gt ">", ge Ge ">=" }

/// Methods such as `x.reduce_sum(&[0])`, one per table entry.
macro_rules! reductions {
    ($($method:ident)*) => {
        impl TracedTensor {
            $(#[doc = concat!("`", stringify!($method), "` over axes, in any order. They are removed.")]
            #[track_caller]
            pub fn $method(&self, axes: &[usize]) -> TracedTensor {
                record_one(here(), &[self], |cx, x| cx.$method(x[0], &ascending(axes)))
            })*
        }
    };
}

reductions! {
    reduce_sum reduce_prod reduce_max reduce_min
}

fn dims(shape: &[usize]) -> Vec<Dim> {
    shape.iter().map(|&n| Dim::Const(n)).collect()
}

impl TracedTensor {
    /// Applies any operation, an extension included: a tensor per result.
    #[track_caller]
    pub fn apply(op: impl Into<Op>, operands: &[&TracedTensor]) -> Result<Vec<TracedTensor>> {
        record(here(), operands, |cx, x| cx.emit(op.into(), x).to_vec())
    }

    /// The sum of all elements.
    #[track_caller]
    pub fn sum(&self) -> TracedTensor {
        record_one(here(), &[self], |cx, x| {
            cx.reduce_sum(x[0], &(0..cx.ty(x[0]).rank()).collect::<Vec<_>>())
        })
    }

    /// The elements, in row-major order, in another shape.
    #[track_caller]
    pub fn reshape(&self, shape: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.reshape(x[0], &dims(shape)))
    }

    /// As [`reshape`](Self::reshape), with symbolic extents.
    #[track_caller]
    pub fn reshape_to(&self, shape: &[Dim]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.reshape(x[0], shape))
    }

    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    pub fn transpose(&self, perm: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.transpose(x[0], perm))
    }

    /// A broadcast to `shape`. Axis `k` becomes axis `dims[k]`, and is broadcast if its extent is
    /// 1.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: &[usize], dims: &[usize]) -> TracedTensor {
        let shape = self::dims(shape);
        record_one(here(), &[self], |cx, x| {
            cx.broadcast_in_dim(x[0], &shape, dims)
        })
    }

    /// As [`broadcast_in_dim`](Self::broadcast_in_dim), with symbolic extents.
    #[track_caller]
    pub fn broadcast_in_dim_to(&self, shape: &[Dim], dims: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| {
            cx.broadcast_in_dim(x[0], shape, dims)
        })
    }

    /// A broadcast to `shape` by NumPy's rule: along new leading axes and axes of extent 1.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.broadcast_to(x[0], &dims(shape)))
    }

    /// The matrix product of the last two axes. Leading axes are batches. Returns an error if the
    /// shapes do not match.
    ///
    /// ```
    /// use cotangent::TracedTensor;
    /// let a = TracedTensor::from_vec_row_major(vec![1, 2], vec![1.0, 2.0]);
    /// let b = TracedTensor::from_vec_row_major(vec![2, 1], vec![3.0, 4.0]);
    /// assert_eq!(a.matmul(&b)?.to_tensor()?.as_slice::<f64>().unwrap(), &[11.0]);
    /// assert!(a.matmul(&a).is_err());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul(&self, y: &TracedTensor) -> Result<TracedTensor> {
        Ok(record(here(), &[self, y], |cx, x| vec![cx.matmul(x[0], x[1])])?.remove(0))
    }

    /// Elementwise integer power.
    #[track_caller]
    pub fn powi(&self, n: i64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.integer_pow(x[0], n))
    }

    /// The elements converted to another element type.
    #[track_caller]
    pub fn convert(&self, to: DType) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.convert(x[0], to))
    }

    /// Tensors concatenated along an axis.
    #[track_caller]
    pub fn concatenate(parts: &[&TracedTensor], axis: usize) -> TracedTensor {
        record_one(here(), parts, |cx, x| cx.concatenate(x, axis))
    }
}
