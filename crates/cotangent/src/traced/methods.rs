//! The operations as methods. None of them fails at once, but for the few that say so.

use super::TracedTensor;
use super::node::here;
use super::record::{aligned, record, record_one};
use crate::ops::{Bounds, Comparison, Running};
use crate::{DType, Dim, Op, Result};

/// `x.exp()`: a method per row.
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
    neg abs sign floor ceil trunc round_half_even round_half_away sqrt rsqrt cbrt exp exp2 expm1 log log2 log1p sin cos
    tan asin acos atan sinh cosh tanh asinh acosh atanh logistic erf erfc erf_inv lgamma digamma is_finite is_nan not
    popcnt stop_gradient conj real imag square abs2 angle recip sinc relu gelu gelu_tanh silu softplus diagonal trace
}

/// `x.add(&y)`: a method per row; shapes are aligned as NumPy aligns them.
macro_rules! binary {
    ($($method:ident)*) => {
        impl TracedTensor {
            $(#[doc = concat!("Elementwise `", stringify!($method), "`; extents of 1 and missing leading axes repeat.")]
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
    add sub mul div rem pow atan2 maximum minimum and or xor shift_left shift_right_logical shift_right_arithmetic xlogy
    logaddexp
}

/// `x.lt(&y)`: a method per row.
macro_rules! comparisons {
    ($($method:ident $op:ident $doc:literal),*) => {
        impl TracedTensor {
            $(#[doc = concat!("Where `x ", $doc, " y`, as booleans; shapes are aligned as NumPy aligns them.")]
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

comparisons! { lt Lt "<", le Le "<=", gt Gt ">", ge Ge ">=", equal Eq "==", not_equal Ne "!=" }

/// `x.reduce_sum(&[0])`: a method per row.
macro_rules! reductions {
    ($($method:ident)*) => {
        impl TracedTensor {
            $(#[doc = concat!("`", stringify!($method), "` over axes, in any order, which go.")]
            #[track_caller]
            pub fn $method(&self, axes: &[usize]) -> TracedTensor {
                record_one(here(), &[self], |cx, x| cx.$method(x[0], &ascending(axes)))
            })*
        }
    };
}

reductions! {
    reduce_sum reduce_prod reduce_max reduce_min reduce_any reduce_all reduce_and reduce_or reduce_xor mean norm
    logsumexp
}

fn ascending(axes: &[usize]) -> Vec<usize> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    axes
}

fn dims(shape: &[usize]) -> Vec<Dim> {
    shape.iter().map(|&n| Dim::Const(n)).collect()
}

/// `x.softmax(axis)`: a method per row.
macro_rules! along {
    ($($method:ident $doc:literal),*) => {
        impl TracedTensor {
            $(#[doc = $doc]
            #[track_caller]
            pub fn $method(&self, axis: usize) -> TracedTensor {
                record_one(here(), &[self], |cx, x| cx.$method(x[0], axis))
            })*
        }
    };
}

along! {
    softmax "`exp(x) / sum(exp(x))` along an axis, stable to every order.",
    log_softmax "`x - logsumexp(x)` along an axis, stable to every order.",
    median "The median along an axis, which goes; the mean of the two middle elements of an even number.",
    argmax "The index of the first maximum along an axis, which goes.",
    argmin "The index of the first minimum along an axis, which goes."
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
        record_one(here(), &[self], |cx, x| cx.reduce_sum(x[0], &(0..cx.ty(x[0]).rank()).collect::<Vec<_>>()))
    }

    /// The variance over axes, which go; `ddof` is subtracted from the number of elements.
    #[track_caller]
    pub fn var(&self, axes: &[usize], ddof: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.var(x[0], &ascending(axes), ddof))
    }

    /// The standard deviation over axes, which go.
    #[track_caller]
    pub fn std(&self, axes: &[usize], ddof: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.std(x[0], &ascending(axes), ddof))
    }

    /// The cross-entropy of logits and labels (probabilities) along an axis, which goes.
    #[track_caller]
    pub fn cross_entropy(&self, labels: &TracedTensor, axis: usize) -> TracedTensor {
        record_one(here(), &[self, labels], |cx, x| cx.cross_entropy(x[0], x[1], axis))
    }

    /// Normalised to mean 0 and variance 1 over axes.
    #[track_caller]
    pub fn layer_norm(&self, axes: &[usize], eps: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.layer_norm(x[0], None, None, &ascending(axes), eps))
    }

    /// The same elements, in row-major order, in another shape.
    #[track_caller]
    pub fn reshape(&self, shape: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.reshape(x[0], &dims(shape)))
    }

    /// As [`reshape`](Self::reshape), with symbolic extents.
    #[track_caller]
    pub fn reshape_to(&self, shape: &[Dim]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.reshape(x[0], shape))
    }

    /// Axes permuted: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    pub fn transpose(&self, perm: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.transpose(x[0], perm))
    }

    /// Repeated into `shape`, axis `k` becoming `dims[k]`; only extents of 1 repeat.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: &[usize], dims: &[usize]) -> TracedTensor {
        let shape = self::dims(shape);
        record_one(here(), &[self], |cx, x| cx.broadcast_in_dim(x[0], &shape, dims))
    }

    /// As [`broadcast_in_dim`](Self::broadcast_in_dim), with symbolic extents.
    #[track_caller]
    pub fn broadcast_in_dim_to(&self, shape: &[Dim], dims: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.broadcast_in_dim(x[0], shape, dims))
    }

    /// Repeated along new leading axes and axes of extent 1, as NumPy aligns shapes.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.broadcast_to(x[0], &dims(shape)))
    }

    /// The matrix product of the last two axes; leading axes are batches. An error, at once, if the shapes do not fit.
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

    /// Every element to an integer power.
    #[track_caller]
    pub fn powi(&self, n: i64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.integer_pow(x[0], n))
    }

    /// Every element to a power.
    #[track_caller]
    pub fn powf(&self, c: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.pow_by(x[0], c))
    }

    /// In another element type.
    #[track_caller]
    pub fn convert(&self, to: DType) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.convert(x[0], to))
    }

    /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere.
    #[track_caller]
    pub fn select(&self, yes: &TracedTensor, no: &TracedTensor) -> TracedTensor {
        record_one(here(), &[self, yes, no], |cx, x| {
            let (yes, no) = aligned(cx, "select", x[1], x[2]);
            let shape = cx.ty(yes).shape;
            let p = cx.broadcast_to(x[0], &shape);
            cx.select(p, yes, no)
        })
    }

    /// `min(max(x, lo), hi)`.
    #[track_caller]
    pub fn clip(&self, lo: f64, hi: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.clip(x[0], cx.full_like(x[0], lo), cx.full_like(x[0], hi)))
    }

    /// A tensor of this one's type with a number everywhere.
    #[track_caller]
    pub fn full_like(&self, value: f64) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.full_like(x[0], value))
    }

    /// Complex numbers from real and imaginary parts.
    #[track_caller]
    pub fn complex(&self, im: &TracedTensor) -> TracedTensor {
        record_one(here(), &[self, im], |cx, x| cx.complex(x[0], x[1]))
    }

    /// Elements `start..limit` along one axis.
    #[track_caller]
    pub fn slice_axis(&self, axis: usize, start: usize, limit: usize) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.slice_axis(x[0], axis, start, limit))
    }

    /// Element `i` along one axis, which goes.
    #[track_caller]
    pub fn index_axis(&self, axis: usize, i: usize) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.index_axis(x[0], axis, i))
    }

    /// The elements at `indices` along an axis; `bounds` says what becomes of an index that is out of range.
    #[track_caller]
    pub fn take(&self, indices: &TracedTensor, axis: usize, bounds: Bounds) -> TracedTensor {
        record_one(here(), &[self, indices], |cx, x| cx.take(x[0], x[1], axis, bounds))
    }

    /// Axes in reverse order of their elements.
    #[track_caller]
    pub fn reverse(&self, axes: &[usize]) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.reverse(x[0], axes))
    }

    /// Tensors one after the other along an axis.
    #[track_caller]
    pub fn concatenate(parts: &[&TracedTensor], axis: usize) -> TracedTensor {
        record_one(here(), parts, |cx, x| cx.concatenate(x, axis))
    }

    /// Tensors of one shape along a new axis.
    #[track_caller]
    pub fn stack(parts: &[&TracedTensor], axis: usize) -> TracedTensor {
        record_one(here(), parts, |cx, x| cx.stack(x, axis))
    }

    /// Sorted along an axis; equal elements keep their order.
    #[track_caller]
    pub fn sort(&self, axis: usize, descending: bool) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.sort(x[0], axis, descending))
    }

    /// Running sums along an axis.
    #[track_caller]
    pub fn cumsum(&self, axis: usize) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.cumulative(Running::Sum, x[0], axis))
    }

    /// Running products along an axis.
    #[track_caller]
    pub fn cumprod(&self, axis: usize) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.cumulative(Running::Prod, x[0], axis))
    }
}
