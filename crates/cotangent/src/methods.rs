//! Methods that traced and eager tensors share, each implemented once on the core's emitter.
//!
//! A method of a traced tensor stores its error in the result. A method of an eager tensor returns
//! a `Result`. Frequent methods with a single operation are implemented separately for each kind of
//! tensor, without an emitter.

use crate::eager::EagerTensor;
use crate::here::here;
use crate::ops::{Bounds, Comparison, Running};
use crate::traced::{TracedTensor, aligned, record_one};
use crate::{Emit, Val};

impl TracedTensor {
    #[track_caller]
    fn written(x: &[&TracedTensor], f: impl FnOnce(&dyn Emit, &[Val]) -> Val) -> TracedTensor {
        record_one(here(), x, f)
    }
}

impl EagerTensor {
    #[track_caller]
    fn written(
        x: &[&EagerTensor],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
    ) -> crate::eager::Result<EagerTensor> {
        <EagerTensor as crate::Write>::write_one(x, f)
    }
}

/// Axes in ascending order, as reductions require.
pub(crate) fn ascending(axes: &[usize]) -> Vec<usize> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    axes
}

/// The methods of the tensor `$T`, which return a `$R`.
macro_rules! methods {
    ($T:ident, $R:ty; unary: $($unary:ident)*; binary: $($binary:ident)*; reductions: $($reduction:ident)*;
     along: $($along:ident $doc:literal),*) => {
        impl $T {
            $(#[doc = concat!("Elementwise `", stringify!($unary), "`.")]
            #[track_caller]
            pub fn $unary(&self) -> $R {
                Self::written(&[self], |cx, x| cx.$unary(x[0]))
            })*

            $(#[doc = concat!("Elementwise `", stringify!($binary), "`; extents of 1 and missing leading axes are broadcast.")]
            #[track_caller]
            pub fn $binary(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, stringify!($binary), x[0], x[1]);
                    cx.$binary(x, y)
                })
            })*

            $(#[doc = concat!("`", stringify!($reduction), "` over axes, in any order. They are removed.")]
            #[track_caller]
            pub fn $reduction(&self, axes: &[usize]) -> $R {
                Self::written(&[self], |cx, x| cx.$reduction(x[0], &ascending(axes)))
            })*

            $(#[doc = $doc]
            #[track_caller]
            pub fn $along(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.$along(x[0], axis))
            })*

            /// Elementwise `x == y`, as booleans. Shapes are broadcast by NumPy's rule.
            #[track_caller]
            pub fn equal(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, "equal", x[0], x[1]);
                    cx.compare(x, Comparison::Eq, y)
                })
            }

            /// Elementwise `x != y`, as booleans. Shapes are broadcast by NumPy's rule.
            #[track_caller]
            pub fn not_equal(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, "not_equal", x[0], x[1]);
                    cx.compare(x, Comparison::Ne, y)
                })
            }

            /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere. Shapes are
            /// broadcast by NumPy's rule.
            #[track_caller]
            pub fn select(&self, yes: &$T, no: &$T) -> $R {
                Self::written(&[self, yes, no], |cx, x| {
                    let (yes, no) = aligned(cx, "select", x[1], x[2]);
                    let p = x[0];
                    if cx.ty(p).rank() == 0 {
                        return cx.select(p, yes, no);
                    }
                    let (p, yes) = aligned(cx, "select", p, yes);
                    let no = cx.broadcast_to(no, &cx.ty(yes).shape);
                    cx.select(p, yes, no)
                })
            }

            /// The variance over axes, which are removed. `ddof` is subtracted from the number of
            /// elements.
            #[track_caller]
            pub fn var(&self, axes: &[usize], ddof: f64) -> $R {
                Self::written(&[self], |cx, x| cx.var(x[0], &ascending(axes), ddof))
            }

            /// The standard deviation over axes, which are removed. `ddof` is subtracted from the
            /// number of elements.
            #[track_caller]
            pub fn std(&self, axes: &[usize], ddof: f64) -> $R {
                Self::written(&[self], |cx, x| cx.std(x[0], &ascending(axes), ddof))
            }

            /// The cross-entropy of logits and labels (probabilities or classes) along an axis,
            /// which is removed.
            #[track_caller]
            pub fn cross_entropy(&self, labels: &$T, axis: usize) -> $R {
                Self::written(&[self, labels], |cx, x| cx.cross_entropy(x[0], x[1], axis))
            }

            /// The elements normalized to mean 0 and variance 1 over axes.
            #[track_caller]
            pub fn layer_norm(&self, axes: &[usize], eps: f64) -> $R {
                Self::written(&[self], |cx, x| cx.layer_norm(x[0], None, None, &ascending(axes), eps))
            }

            /// Elementwise power with a constant exponent.
            #[track_caller]
            pub fn powf(&self, c: f64) -> $R {
                Self::written(&[self], |cx, x| cx.pow_by(x[0], c))
            }

            /// `min(max(x, lo), hi)`.
            #[track_caller]
            pub fn clip(&self, lo: f64, hi: f64) -> $R {
                Self::written(&[self], |cx, x| {
                    let bound = |c: f64| cx.number_for("clip", x[0], c);
                    cx.clip(x[0], bound(lo), bound(hi))
                })
            }

            /// A tensor of the same type and shape with one value in every element.
            #[track_caller]
            pub fn full_like(&self, value: f64) -> $R {
                Self::written(&[self], |cx, x| cx.full_like(x[0], value))
            }

            /// Complex numbers from real and imaginary parts.
            #[track_caller]
            pub fn complex(&self, im: &$T) -> $R {
                Self::written(&[self, im], |cx, x| cx.complex(x[0], x[1]))
            }

            /// Elements `start..limit` along one axis.
            #[track_caller]
            pub fn slice_axis(&self, axis: usize, start: usize, limit: usize) -> $R {
                Self::written(&[self], |cx, x| cx.slice_axis(x[0], axis, start, limit))
            }

            /// Element `i` along one axis, which is removed.
            #[track_caller]
            pub fn index_axis(&self, axis: usize, i: usize) -> $R {
                Self::written(&[self], |cx, x| cx.index_axis(x[0], axis, i))
            }

            /// The elements at `indices` along an axis. `bounds` specifies the result for an index
            /// out of range.
            #[track_caller]
            pub fn take(&self, indices: &$T, axis: usize, bounds: Bounds) -> $R {
                Self::written(&[self, indices], |cx, x| cx.take(x[0], x[1], axis, bounds))
            }

            /// The elements in reverse order along axes.
            #[track_caller]
            pub fn reverse(&self, axes: &[usize]) -> $R {
                Self::written(&[self], |cx, x| cx.reverse(x[0], axes))
            }

            /// Tensors of one shape, stacked along a new axis.
            #[track_caller]
            pub fn stack(parts: &[&$T], axis: usize) -> $R {
                Self::written(parts, |cx, x| cx.stack(x, axis))
            }

            /// The elements sorted along an axis. The sort is stable.
            #[track_caller]
            pub fn sort(&self, axis: usize, descending: bool) -> $R {
                Self::written(&[self], |cx, x| cx.sort(x[0], axis, descending))
            }

            /// Cumulative sums along an axis.
            #[track_caller]
            pub fn cumsum(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.cumulative(Running::Sum, x[0], axis))
            }

            /// Cumulative products along an axis.
            #[track_caller]
            pub fn cumprod(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.cumulative(Running::Prod, x[0], axis))
            }
        }
    };
}

/// Instantiates the table for both kinds of tensors.
macro_rules! both {
    ($($rows:tt)*) => {
        methods! { TracedTensor, TracedTensor; $($rows)* }
        methods! { EagerTensor, crate::eager::Result<EagerTensor>; $($rows)* }
    };
}

both! {
    unary: round_half_even round_half_away popcnt conj real imag square abs2 angle recip sinc relu gelu gelu_tanh silu
        softplus diagonal trace;
    binary: and or xor shift_left shift_right_logical shift_right_arithmetic logaddexp;
    reductions: reduce_any reduce_all reduce_and reduce_or reduce_xor mean norm logsumexp;
    along:
        softmax "`exp(x) / sum(exp(x))` along an axis, without overflow in derivatives of any order.",
        log_softmax "`x - logsumexp(x)` along an axis, without overflow in derivatives of any order.",
        median "The median along an axis, which is removed. For an even count it is the mean of the two middle elements.",
        argmax "The index of the first maximum along an axis, which is removed.",
        argmin "The index of the first minimum along an axis, which is removed."
}
