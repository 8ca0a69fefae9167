//! Softmax, losses, activations, layer normalization.

use super::entry::{Composite, in_f32, operands, option};
use crate::array::Scalar;
use crate::bail;
use crate::dtype::{DType, Kind};
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::Comparison;
use crate::ops::support::{take_axes, take_axis};
use crate::shape::{Dim, Shape};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

pub(super) static NN: &[Composite] = &[
    Composite {
        name: "softmax",
        doc: "exp(x) / sum(exp(x)) along an axis.",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            Ok(vec![cx.softmax(x, axis)])
        },
    },
    Composite {
        name: "log_softmax",
        doc: "x - log(sum(exp(x))) along an axis.",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            Ok(vec![cx.log_softmax(x, axis)])
        },
    },
    Composite {
        name: "cross_entropy",
        doc: "-log softmax(x) at the labels: classes, or probabilities in the shape of x; `reduction` mean, sum or none.",
        build: |cx, s, x| {
            let ([x, labels], axis) = (operands(s, x)?, take_axis(s)?);
            let reduction: String = option(s, "reduction", "mean".into())?;
            let reduction = match reduction.as_str() {
                "mean" => LossReduction::Mean,
                "sum" => LossReduction::Sum,
                "none" => LossReduction::None,
                _ => bail!(
                    Attribute,
                    "`cross_entropy` has no `reduction` = {reduction}; there are mean, sum, none"
                ),
            };
            Ok(vec![cx.cross_entropy_with(x, labels, axis, reduction)])
        },
    },
    Composite {
        name: "layer_norm",
        doc: "(x - mean) / sqrt(var + eps) over axes (the last by default), times a scale and plus a bias if given.",
        build: |cx, s, x| {
            let axes = if s.attrs.0.iter().any(|(n, _)| n == "axes") {
                take_axes(s)?
            } else {
                vec![take_axis(s)?]
            };
            let eps = option(s, "eps", 1e-5)?;
            match *x {
                [x] => Ok(vec![cx.layer_norm(x, None, None, &axes, eps)]),
                [x, scale] => Ok(vec![cx.layer_norm(x, Some(scale), None, &axes, eps)]),
                [x, scale, bias] => Ok(vec![cx.layer_norm(x, Some(scale), Some(bias), &axes, eps)]),
                _ => bail!(
                    Arity,
                    "`layer_norm` takes 1 to 3 operands (x, scale, bias), got {}",
                    x.len()
                ),
            }
        },
    },
    Composite {
        name: "relu",
        doc: "max(x, 0), with derivative 0 at 0.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.relu(x)]),
    },
    Composite {
        name: "gelu",
        doc: "x times the normal distribution function of x; `approximate = \"tanh\"` for the usual approximation.",
        build: |cx, s, x| {
            let [x] = operands(s, x)?;
            let approximate: String = option(s, "approximate", "none".into())?;
            Ok(vec![match approximate.as_str() {
                "none" => cx.gelu(x),
                "tanh" => cx.gelu_tanh(x),
                _ => bail!(
                    Attribute,
                    "`gelu` has no `approximate` = {approximate}; there are none, tanh"
                ),
            }])
        },
    },
    Composite {
        name: "silu",
        doc: "x / (1 + e^-x).",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.silu(x)]),
    },
    Composite {
        name: "softplus",
        doc: "log(1 + e^x).",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.softplus(x)]),
    },
    Composite {
        name: "one_hot",
        doc: "1 where the index along a new last axis of extent `depth` is the operand, else 0.",
        build: |cx, s, x| {
            let [x] = operands(s, x)?;
            let (depth, dtype) = (
                s.attrs.get::<Dim>("depth")?,
                option(s, "dtype", DType::F32)?,
            );
            Ok(vec![cx.one_hot(x, &depth, dtype)])
        },
    },
];

/// How the losses of rows become the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LossReduction {
    /// Their mean, a scalar.
    #[default]
    Mean,
    /// Their sum, a scalar.
    Sum,
    /// One loss for each row.
    None,
}

impl dyn Emit + '_ {
    /// `exp(x) / sum(exp(x))` along an axis.
    pub fn softmax(&self, x: Val, axis: usize) -> Val {
        self.softmax_over(x, &[axis])
    }

    /// `exp(x) / sum(exp(x))` over axes.
    pub(crate) fn softmax_over(&self, x: Val, axes: &[usize]) -> Val {
        in_f32(self, "softmax", x, |x| {
            let ty = self.ty(x);
            let m = self.exponent_shift(x, axes);
            let e = self.exp(self.sub(x, self.spread(m, &ty, axes)));
            self.div(e, self.spread(self.reduce_sum(e, axes), &ty, axes))
        })
    }

    /// `x - log(sum(exp(x)))` along an axis.
    pub fn log_softmax(&self, x: Val, axis: usize) -> Val {
        in_f32(self, "log_softmax", x, |x| {
            let ty = self.ty(x);
            let m = self.exponent_shift(x, &[axis]);
            let shifted = self.sub(x, self.spread(m, &ty, &[axis]));
            let sum = self.reduce_sum(self.exp(shifted), &[axis]);
            self.sub(shifted, self.spread(self.log(sum), &ty, &[axis]))
        })
    }

    /// The mean of `-log softmax(logits)` at the labels, along `axis`, over all rows. Labels are
    /// classes (integers, of the shape without the axis; the result is NaN where a label is out of
    /// range) or probabilities (of the shape of `logits`).
    pub fn cross_entropy(&self, logits: Val, labels: Val, axis: usize) -> Val {
        self.cross_entropy_with(logits, labels, axis, LossReduction::Mean)
    }

    /// As `cross_entropy`, with another reduction. [`LossReduction::None`] returns the losses of
    /// rows, of the shape without the axis.
    pub fn cross_entropy_with(
        &self,
        logits: Val,
        labels: Val,
        axis: usize,
        reduction: LossReduction,
    ) -> Val {
        let rows = self.cross_entropy_of_rows(logits, labels, axis);
        let all: Vec<usize> = (0..self.ty(rows).rank()).collect();
        match reduction {
            LossReduction::Mean => self.mean(rows, &all),
            LossReduction::Sum => self.reduce_sum(rows, &all),
            LossReduction::None => rows,
        }
    }

    fn cross_entropy_of_rows(&self, logits: Val, labels: Val, axis: usize) -> Val {
        in_f32(self, "cross_entropy", logits, |x| {
            let (ty, of) = (self.ty(x), self.ty(labels));
            let mut classes = ty.shape.to_vec();
            if axis < classes.len() {
                classes.remove(axis);
            }
            let classes = Shape::from(classes);
            let fits = match of.dtype.kind() {
                Kind::Int => !of.shape.differs(&classes),
                _ => !of.shape.differs(&ty.shape),
            };
            if !fits {
                let text = format!(
                    "`cross_entropy` of {}: labels are integer classes {:?} or probabilities {:?}, got {of}",
                    self.ty(logits),
                    classes,
                    ty.shape
                );
                self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
                return Val::POISON;
            }
            let log_p = self.log_softmax(x, axis);
            let zero = self.number(log_p, 0.0);
            if of.dtype.kind() != Kind::Int {
                // A class of probability zero with logit -inf contributes zero.
                let p = self.convert(labels, ty.dtype);
                let nothing = self.and(
                    self.compare(p, Comparison::Eq, zero),
                    self.compare(log_p, Comparison::Eq, self.number(log_p, f64::NEG_INFINITY)),
                );
                let term = self.mul(p, self.select(nothing, zero, log_p));
                return self.neg(self.reduce_sum(term, &[axis]));
            }
            let class = self.iota(&ty.with_dtype(DType::I64), axis);
            let labels = self.convert(labels, DType::I64);
            let here = self.compare(self.spread(labels, &ty, &[axis]), Comparison::Eq, class);
            let known = self.reduce_any(here, &[axis]);
            let one = self.spread(self.convert(known, ty.dtype), &ty, &[axis]);
            // For a label out of range all classes are read, times 0 / 0: result and gradient are
            // NaN.
            let read = self.or(here, self.compare(one, Comparison::Eq, zero));
            let term = self.mul(self.select(read, log_p, zero), self.div(one, one));
            self.neg(self.reduce_sum(term, &[axis]))
        })
    }

    /// `(x - mean) / sqrt(var + eps)` over axes, times `scale` and plus `bias`, which have the
    /// shape of these axes.
    pub fn layer_norm(
        &self,
        x: Val,
        scale: Option<Val>,
        bias: Option<Val>,
        axes: &[usize],
        eps: f64,
    ) -> Val {
        in_f32(self, "layer_norm", x, |x| {
            let ty = self.ty(x);
            // Large numbers are divided by a power of two, which is exact, so that squares do not
            // overflow.
            let down = self.power_of_two_down(x, axes, eps == 0.0);
            let x = self.mul(
                x,
                self.convert(
                    self.spread(down, &ty.with_dtype(ty.dtype.real()), axes),
                    ty.dtype,
                ),
            );
            let d = self.sub(x, self.spread(self.mean(x, axes), &ty, axes));
            let var = self.mean(self.abs2(d), axes);
            let mut least = self.mul(self.mul(self.number(var, eps), down), down);
            if eps > 0.0 {
                // Distinguishes an underflowing variance from that of a constant, which is zero.
                let tiny = if self.ty(var).dtype == DType::F64 {
                    f64::MIN_POSITIVE
                } else {
                    f32::MIN_POSITIVE.into()
                };
                least = self.maximum(least, self.number(var, tiny));
            }
            let rate = self.convert(self.rsqrt(self.add(var, least)), ty.dtype);
            let mut y = self.mul(d, self.spread(rate, &ty, axes));
            let along = |v: Val| self.broadcast_in_dim(self.convert(v, ty.dtype), &ty.shape, axes);
            if let Some(scale) = scale {
                y = self.mul(y, along(scale));
            }
            if let Some(bias) = bias {
                y = self.add(y, along(bias));
            }
            y
        })
    }

    /// A power of two that scales the greatest magnitude over `axes` (which are removed) to about
    /// 1. Unless `up`, small numbers are not scaled up. It is a constant in derivatives.
    fn power_of_two_down(&self, x: Val, axes: &[usize], up: bool) -> Val {
        let most = self.max_or_least(self.abs(self.stop_gradient(x)), axes);
        let (zero, one) = (self.number(most, 0.0), self.number(most, 1.0));
        let down = self.exp2(self.neg(self.floor(self.log2(if up {
            most
        } else {
            self.maximum(most, one)
        }))));
        let usable = self.and(
            self.is_finite(down),
            self.compare(down, Comparison::Gt, zero),
        );
        self.stop_gradient(self.select(usable, down, one))
    }

    /// `max(x, 0)`, with derivative 0 at 0. NaN stays NaN.
    pub fn relu(&self, x: Val) -> Val {
        let zero = self.full_like(x, Scalar::I(0));
        self.select(self.compare(x, Comparison::Le, zero), zero, x)
    }

    /// `x Φ(x)` with the normal distribution function, by `erfc`: no cancellation for negative `x`.
    pub fn gelu(&self, x: Val) -> Val {
        in_f32(self, "gelu", x, |x| {
            let tail = self.erfc(self.scale_by(-FRAC_1_SQRT_2, x));
            self.mul(self.scale_by(0.5, x), tail)
        })
    }

    /// The approximation `x (1 + tanh u) / 2` with `u = sqrt(2/π) (x + 0.044715 x³)`, which is
    /// `x / (1 + e^-2u)`.
    pub fn gelu_tanh(&self, x: Val) -> Val {
        in_f32(self, "gelu_tanh", x, |x| {
            let c = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
            // For larger |x| the logistic function is 0 or 1, and the cube may overflow.
            let far = |c: f64| self.number(x, c);
            let low = self.select(self.compare(x, Comparison::Lt, far(-100.0)), far(-100.0), x);
            let z = self.select(
                self.compare(low, Comparison::Gt, far(100.0)),
                far(100.0),
                low,
            );
            let poly = self.add(
                self.number(x, 2.0 * c),
                self.scale_by(2.0 * c * 0.044715, self.square(z)),
            );
            self.mul(x, self.logistic(self.mul(z, poly)))
        })
    }

    /// `x / (1 + e^-x)`.
    pub fn silu(&self, x: Val) -> Val {
        self.mul(x, self.logistic(x))
    }

    /// `log(1 + e^x)`.
    pub fn softplus(&self, x: Val) -> Val {
        in_f32(self, "softplus", x, |x| {
            let zero = self.number(x, 0.0);
            let positive = self.compare(x, Comparison::Gt, zero);
            // log1p(e^-|x|), with an analytic form for each sign.
            let tail = self.log1p(self.exp(self.select(positive, self.neg(x), x)));
            self.add(self.select(positive, x, zero), tail)
        })
    }
}
