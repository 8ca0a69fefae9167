//! The methods that traced and eager tensors share, each written once for the core's emitter.
//!
//! A traced tensor carries its error along, an eager one gives a `Result`; that is all the
//! difference. What runs often and is one operation stands beside each of the two instead, without
//! an emitter in between.

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

/// Axes in the order in which reductions name them.
pub(crate) fn ascending(axes: &[usize]) -> Vec<usize> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    axes
}

/// The methods of the tensor `$T`, which give a `$R`.
macro_rules! methods {
    ($T:ident, $R:ty; unary: $($unary:ident)*; binary: $($binary:ident)*; reductions: $($reduction:ident)*;
     along: $($along:ident $doc:literal),*) => {
        impl $T {
            $(#[doc = concat!("Elementwise `", stringify!($unary), "`.")]
            #[track_caller]
            pub fn $unary(&self) -> $R {
                Self::written(&[self], |cx, x| cx.$unary(x[0]))
            })*

            $(#[doc = concat!("Elementwise `", stringify!($binary), "`; extents of 1 and missing leading axes repeat.")]
            #[track_caller]
            pub fn $binary(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, stringify!($binary), x[0], x[1]);
                    cx.$binary(x, y)
                })
            })*

            $(#[doc = concat!("`", stringify!($reduction), "` over axes, in any order, which go.")]
            #[track_caller]
            pub fn $reduction(&self, axes: &[usize]) -> $R {
                Self::written(&[self], |cx, x| cx.$reduction(x[0], &ascending(axes)))
            })*

            $(#[doc = $doc]
            #[track_caller]
            pub fn $along(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.$along(x[0], axis))
            })*

            /// Where `x == y`, as booleans; shapes are aligned as NumPy aligns them.
            #[track_caller]
            pub fn equal(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, "equal", x[0], x[1]);
                    cx.compare(x, Comparison::Eq, y)
                })
            }

            /// Where `x != y`, as booleans; shapes are aligned as NumPy aligns them.
            #[track_caller]
            pub fn not_equal(&self, y: &$T) -> $R {
                Self::written(&[self, y], |cx, x| {
                    let (x, y) = aligned(cx, "not_equal", x[0], x[1]);
                    cx.compare(x, Comparison::Ne, y)
                })
            }

            /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere; shapes are
            /// aligned as NumPy aligns them.
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

            /// The variance over axes, which go; `ddof` is subtracted from the number of elements.
            #[track_caller]
            pub fn var(&self, axes: &[usize], ddof: f64) -> $R {
                Self::written(&[self], |cx, x| cx.var(x[0], &ascending(axes), ddof))
            }

            /// The standard deviation over axes, which go.
            #[track_caller]
            pub fn std(&self, axes: &[usize], ddof: f64) -> $R {
                Self::written(&[self], |cx, x| cx.std(x[0], &ascending(axes), ddof))
            }

            /// The cross-entropy of logits and labels (probabilities or classes) along an axis,
            /// which goes.
            #[track_caller]
            pub fn cross_entropy(&self, labels: &$T, axis: usize) -> $R {
                Self::written(&[self, labels], |cx, x| cx.cross_entropy(x[0], x[1], axis))
            }

            /// Normalised to mean 0 and variance 1 over axes.
            #[track_caller]
            pub fn layer_norm(&self, axes: &[usize], eps: f64) -> $R {
                Self::written(&[self], |cx, x| cx.layer_norm(x[0], None, None, &ascending(axes), eps))
            }

            /// Every element to a power.
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

            /// A tensor of this one's type with a number everywhere.
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

            /// Element `i` along one axis, which goes.
            #[track_caller]
            pub fn index_axis(&self, axis: usize, i: usize) -> $R {
                Self::written(&[self], |cx, x| cx.index_axis(x[0], axis, i))
            }

            /// The elements at `indices` along an axis; `bounds` says what becomes of an index that
            /// is out of range.
            #[track_caller]
            pub fn take(&self, indices: &$T, axis: usize, bounds: Bounds) -> $R {
                Self::written(&[self, indices], |cx, x| cx.take(x[0], x[1], axis, bounds))
            }

            /// Axes in reverse order of their elements.
            #[track_caller]
            pub fn reverse(&self, axes: &[usize]) -> $R {
                Self::written(&[self], |cx, x| cx.reverse(x[0], axes))
            }

            /// Tensors of one shape along a new axis.
            #[track_caller]
            pub fn stack(parts: &[&$T], axis: usize) -> $R {
                Self::written(parts, |cx, x| cx.stack(x, axis))
            }

            /// Sorted along an axis; equal elements keep their order.
            #[track_caller]
            pub fn sort(&self, axis: usize, descending: bool) -> $R {
                Self::written(&[self], |cx, x| cx.sort(x[0], axis, descending))
            }

            /// Running sums along an axis.
            #[track_caller]
            pub fn cumsum(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.cumulative(Running::Sum, x[0], axis))
            }

            /// Running products along an axis.
            #[track_caller]
            pub fn cumprod(&self, axis: usize) -> $R {
                Self::written(&[self], |cx, x| cx.cumulative(Running::Prod, x[0], axis))
            }
        }
    };
}

/// The same rows for both.
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
        softmax "`exp(x) / sum(exp(x))` along an axis, stable to every order.",
        log_softmax "`x - logsumexp(x)` along an axis, stable to every order.",
        median "The median along an axis, which goes; the mean of the two middle elements of an even number.",
        argmax "The index of the first maximum along an axis, which goes.",
        argmin "The index of the first minimum along an axis, which goes."
}
