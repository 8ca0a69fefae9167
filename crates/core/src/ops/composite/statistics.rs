//! Means, variances, norms, log-sum-exp, order statistics.

use super::entry::{Composite, extent, in_f32, operands, option, reduced};
use crate::array::Scalar;
use crate::bail;
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::ops::support::take_axis;
use crate::ops::{Bounds, Comparison, Reduce, Reduction};
use crate::shape::Dim;

pub(super) static STATISTICS: &[Composite] = &[
    Composite {
        name: "reduce",
        doc: "The reduction named by `op`: sum, mean, prod, max, min, any, all, and, or, xor; `stable` compensates sums.",
        build: |cx, s, x| {
            let (op, stable): (String, bool) = (s.attrs.get("op")?, option(s, "stable", false)?);
            let op = match op.as_str() {
                "sum" => Reduction::Sum,
                "prod" => Reduction::Prod,
                "max" => Reduction::Max,
                "min" => Reduction::Min,
                "any" => Reduction::Any,
                "all" => Reduction::All,
                "and" => Reduction::And,
                "or" => Reduction::Or,
                "xor" => Reduction::Xor,
                "mean" => return reduced(cx, s, x, |x, axes| cx.mean_of(x, axes, stable)),
                _ => bail!(
                    Attribute,
                    "`reduce` has no `op` = {op}; there are sum, mean, prod, max, min, any, all, and, or, xor"
                ),
            };
            reduced(cx, s, x, |x, axes| match stable {
                true => cx.emit(Reduce::new(op, axes, true).into(), &[x])[0],
                false => cx.reduce(op, x, axes),
            })
        },
    },
    Composite {
        name: "mean",
        doc: "The mean over axes.",
        build: |cx, s, x| reduced(cx, s, x, |x, axes| cx.mean(x, axes)),
    },
    Composite {
        name: "var",
        doc: "The variance over axes: sum |x - mean|² / (n - ddof).",
        build: |cx, s, x| {
            let ddof = option(s, "ddof", 0.0)?;
            reduced(cx, s, x, |x, axes| cx.var(x, axes, ddof))
        },
    },
    Composite {
        name: "std",
        doc: "The standard deviation over axes: the square root of the variance; its gradient is 0 where all elements are equal.",
        build: |cx, s, x| {
            let ddof = option(s, "ddof", 0.0)?;
            reduced(cx, s, x, |x, axes| cx.std(x, axes, ddof))
        },
    },
    Composite {
        name: "norm",
        doc: "The 2-norm over axes, sqrt(sum |x|²), without overflow; its gradient is 0 at 0.",
        build: |cx, s, x| reduced(cx, s, x, |x, axes| cx.norm(x, axes)),
    },
    Composite {
        name: "logsumexp",
        doc: "log(sum(exp(x))) over axes.",
        build: |cx, s, x| reduced(cx, s, x, |x, axes| cx.logsumexp(x, axes)),
    },
    Composite {
        name: "masked_logsumexp",
        doc: "log(sum(exp(x))) over axes, of the elements where the mask (the second operand) is true; -inf with gradient 0 if there are none.",
        build: |cx, s, x| {
            let [x, mask] = operands(s, x)?;
            reduced(cx, s, &[x], |x, axes| cx.masked_logsumexp(x, mask, axes))
        },
    },
    Composite {
        name: "median",
        doc: "The median along an axis: the middle element, or the mean of the middle two.",
        build: |cx, s, x| {
            let axis = take_axis(s)?;
            s.attrs.0.push(("axis".into(), axis.into()));
            reduced(cx, s, x, |x, _| cx.median(x, axis))
        },
    },
    Composite {
        name: "max_with_index",
        doc: "The maximum along an axis and its position: the first of equal elements, which receives the whole gradient.",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            let i = cx.argmax(x, axis);
            Ok(vec![cx.pick_along(x, i, axis), i])
        },
    },
    Composite {
        name: "min_with_index",
        doc: "The minimum along an axis and its position: the first of equal elements, which receives the whole gradient.",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            let i = cx.argmin(x, axis);
            Ok(vec![cx.pick_along(x, i, axis), i])
        },
    },
    Composite {
        name: "argsort",
        doc: "The permutation, as i64 indices, that sorts along an axis.",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            Ok(vec![cx.argsort(x, axis, option(s, "descending", false)?)])
        },
    },
    Composite {
        name: "top_k",
        doc: "The `k` greatest elements along an axis, greatest first, and their positions.",
        build: |cx, s, x| {
            let ([x], axis, k) = (operands(s, x)?, take_axis(s)?, s.attrs.get::<Dim>("k")?);
            let (values, positions) = cx.top_k(x, axis, &k);
            Ok(vec![values, positions])
        },
    },
];

/// A shift such as `max |x|`, replaced by zero where it is not finite.
fn finite_or_zero(cx: &dyn Emit, m: Val) -> Val {
    cx.select(cx.is_finite(m), m, cx.full_like(m, 0.0))
}

impl dyn Emit + '_ {
    /// The mean over `axes`, which are removed. NaN if there are no elements.
    pub fn mean(&self, x: Val, axes: &[usize]) -> Val {
        self.mean_of(x, axes, false)
    }

    /// As `mean`, with a compensated sum if `stable`.
    fn mean_of(&self, x: Val, axes: &[usize], stable: bool) -> Val {
        in_f32(self, "mean", x, |x| {
            let n = extent(&self.ty(x), axes);
            let y = match stable {
                true => self.emit(Reduce::new(Reduction::Sum, axes, true).into(), &[x])[0],
                false => self.reduce_sum(x, axes),
            };
            self.div(y, self.extent(&self.ty(y), &n))
        })
    }

    /// `max(n - ddof, 0)` for `n` elements over axes, of the type of `like`.
    fn degrees(&self, x: Val, axes: &[usize], ddof: f64, like: Val) -> Val {
        let (n, ty) = (extent(&self.ty(x), axes), self.ty(like));
        match n.as_const() {
            Some(n) => self.full(&ty, (n as f64 - ddof).max(0.0)),
            None => self.maximum(
                self.sub(self.extent(&ty, &n), self.full(&ty, ddof)),
                self.full(&ty, 0.0),
            ),
        }
    }

    /// The variance over `axes`, which are removed: `sum |x - mean|² / (n - ddof)`. Real, also for
    /// complex operands.
    pub fn var(&self, x: Val, axes: &[usize], ddof: f64) -> Val {
        in_f32(self, "var", x, |x| {
            let d = self.sub(x, self.spread(self.mean(x, axes), &self.ty(x), axes));
            let y = self.reduce_sum(self.abs2(d), axes);
            self.div(y, self.degrees(x, axes, ddof, y))
        })
    }

    /// The standard deviation over `axes`, which are removed. If all elements are equal it is 0,
    /// with gradient 0.
    pub fn std(&self, x: Val, axes: &[usize], ddof: f64) -> Val {
        in_f32(self, "std", x, |x| {
            let ty = self.ty(x);
            let centre = |x: Val| self.sub(x, self.spread(self.mean(x, axes), &ty, axes));
            // Centred twice, the first time by a constant shift. If all elements are equal, their
            // differences from the rounded mean are equal and tiny, so their mean is exact and the
            // result is 0.
            let shift = self.stop_gradient(self.mean(self.stop_gradient(x), axes));
            let d = centre(self.sub(x, self.spread(shift, &ty, axes)));
            let y = self.norm(d, axes);
            self.div(y, self.sqrt(self.degrees(x, axes, ddof, y)))
        })
    }

    /// The 2-norm over `axes`, which are removed: `sqrt(sum |x|²)`, real. At 0 its gradient is 0.
    pub fn norm(&self, x: Val, axes: &[usize]) -> Val {
        in_f32(self, "norm", x, |x| {
            let ty = self.ty(x);
            if axes.is_empty() {
                return self.abs(x);
            }
            // A power of two near the greatest element: scaling by it is exact, and squares do not
            // overflow.
            let greatest = self.max_or_least(self.abs(self.stop_gradient(x)), axes);
            let scale = self.exp2(self.floor(self.log2(greatest)));
            let (zero, one) = (self.full_like(scale, 0.0), self.full_like(scale, 1.0));
            let usable = self.and(
                self.is_finite(scale),
                self.compare(scale, Comparison::Gt, zero),
            );
            let scale = self.stop_gradient(self.select(usable, scale, one));
            let z = self.div(
                x,
                self.convert(
                    self.spread(scale, &ty.with_dtype(ty.dtype.real()), axes),
                    ty.dtype,
                ),
            );
            let sum = self.reduce_sum(self.abs2(z), axes);
            let at_zero = self.compare(sum, Comparison::Eq, zero);
            let root = self.sqrt(self.select(at_zero, one, sum));
            self.mul(scale, self.select(at_zero, zero, root))
        })
    }

    /// The greatest real part over axes, the shift of exponentials.
    pub(super) fn exponent_shift(&self, x: Val, axes: &[usize]) -> Val {
        let m = finite_or_zero(
            self,
            self.max_or_least(self.real(self.stop_gradient(x)), axes),
        );
        self.convert(self.stop_gradient(m), self.ty(x).dtype)
    }

    /// `log(sum(exp(x)))` over `axes`, which are removed. If all elements are -inf the result is
    /// -inf, with gradient NaN.
    pub fn logsumexp(&self, x: Val, axes: &[usize]) -> Val {
        in_f32(self, "logsumexp", x, |x| {
            let ty = self.ty(x);
            let m = self.exponent_shift(x, axes);
            let e = self.exp(self.sub(x, self.spread(m, &ty, axes)));
            self.add(self.log(self.reduce_sum(e, axes)), m)
        })
    }

    /// `log(sum(exp(x)))` over axes, of the elements where `mask` is true. If there are none: -inf,
    /// with gradient 0.
    pub fn masked_logsumexp(&self, x: Val, mask: Val, axes: &[usize]) -> Val {
        in_f32(self, "masked_logsumexp", x, |x| {
            let ty = self.ty(x);
            let least = self.full_like(x, f64::NEG_INFINITY);
            let m = self.exponent_shift(self.select(mask, x, least), axes);
            let shift = self.spread(m, &ty, axes);
            // Masked elements are replaced by the shift, so that their exponentials are finite, and
            // then removed.
            let e = self.exp(self.sub(self.select(mask, x, shift), shift));
            let sum = self.reduce_sum(self.select(mask, e, self.full_like(e, 0.0)), axes);
            let none = self.compare(sum, Comparison::Eq, self.full_like(sum, 0.0));
            let log = self.log(self.select(none, self.full_like(sum, 1.0), sum));
            self.select(
                none,
                self.full_like(sum, f64::NEG_INFINITY),
                self.add(log, m),
            )
        })
    }

    /// The median along `axis`, which is removed: the middle element, or the mean of the middle
    /// two. NaN if an element is NaN.
    pub fn median(&self, x: Val, axis: usize) -> Val {
        let sorted = self.sort(x, axis, false);
        let Some(n) = self.ty(x).shape.get(axis).cloned() else {
            return sorted;
        };
        let one = Dim::Const(1);
        let (low, high) = ((n.clone() - one.clone()).floor_div(2), n.floor_div(2));
        let at = |i: Dim| self.index_axis(sorted, axis, i);
        let middle = match low.same(&high) {
            Some(true) => at(low),
            _ => {
                let half = |v: Val| self.mul(v, self.number_for("median", v, 0.5));
                self.add(half(at(low)), half(at(high)))
            }
        };
        // NaN is sorted last.
        let last = at(n - one);
        self.select(self.compare(last, Comparison::Eq, last), middle, last)
    }

    /// `x[.., i, ..]` with an index for every line along `axis`, which is removed.
    pub fn pick_along(&self, x: Val, indices: Val, axis: usize) -> Val {
        let ty = self.ty(indices);
        let mut shape = ty.shape.to_vec();
        shape.insert(axis.min(shape.len()), Dim::Const(1));
        let y = self.take_along_axis(x, self.reshape(indices, &shape), axis, Bounds::Clip);
        self.reshape(y, &ty.shape)
    }

    /// The `k` greatest elements along an axis, greatest first (NaN last), and their positions as
    /// `i64`.
    pub fn top_k(&self, x: Val, axis: usize, k: &Dim) -> (Val, Val) {
        let ty = self.ty(x);
        if axis >= ty.rank() {
            let bad = self.sort(x, axis, true);
            return (bad, bad);
        }
        let sorted = self.sort_by(
            &[x, self.iota(&ty.with_dtype(DType::I64), axis)],
            axis,
            1,
            true,
        );
        let first = |v: Val| self.slice_axis(v, axis, 0, k.clone());
        (first(sorted[0]), first(sorted[1]))
    }

    /// A constant of the type of `like` with all elements equal to `c`.
    pub(super) fn number(&self, like: Val, c: f64) -> Val {
        self.full_like(like, Scalar::F(c))
    }
}
