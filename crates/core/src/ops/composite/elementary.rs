//! Elementwise functions with several analytic forms, and evenly spaced numbers.

use super::entry::{Composite, in_f32, operands, option};
use crate::array::Scalar;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Emit, Val};
use crate::ops::entry::Spelled;
use crate::ops::{Comparison, Constant};
use crate::shape::{Dim, Type};
use std::f64::consts::PI;

pub(super) static ELEMENTARY: &[Composite] = &[
    Composite {
        name: "logaddexp",
        doc: "log(e^x + e^y).",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.logaddexp(x, y)]),
    },
    Composite {
        name: "sinc",
        doc: "sin(pi x) / (pi x), 1 at 0.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.sinc(x)]),
    },
    Composite {
        name: "log10",
        doc: "Logarithm to base 10.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.log10(x)]),
    },
    Composite {
        name: "hypot",
        doc: "sqrt(x² + y²) without overflow; derivative 0 where both are 0.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.hypot(x, y)]),
    },
    Composite {
        name: "is_inf",
        doc: "Whether x, or a part of a complex x, is infinite.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.is_inf(x)]),
    },
    Composite {
        name: "clip",
        doc: "min(max(x, lo), hi); lo and hi are operands two and three, or attributes.",
        build: |cx, s, x| {
            let (lo, hi) = (s.attrs.opt::<Scalar>("lo")?, s.attrs.opt::<Scalar>("hi")?);
            let Some((&x, bounds)) = x.split_first() else {
                bail!(Arity, "`clip` takes 1 to 3 operands, got 0")
            };
            let mut bounds = bounds.iter().copied();
            let like = |v: Val| cx.broadcast_to(v, &cx.ty(x).shape);
            let lo = bounds.next().map(like).or(lo.map(|c| cx.full_like(x, c)));
            let hi = bounds.next().map(like).or(hi.map(|c| cx.full_like(x, c)));
            if bounds.next().is_some() {
                bail!(Arity, "`clip` takes 1 to 3 operands");
            }
            let y = lo.map_or(x, |lo| cx.maximum(x, lo));
            Ok(vec![hi.map_or(y, |hi| cx.minimum(y, hi))])
        },
    },
    Composite {
        name: "square",
        doc: "x * x.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.square(x)]),
    },
    Composite {
        name: "fma",
        doc: "x * y + z, rounded after each step.",
        build: |cx, s, x| operands(s, x).map(|[x, y, z]| vec![cx.add(cx.mul(x, y), z)]),
    },
    Composite {
        name: "zeros_like",
        doc: "Zeros of the shape of x, and of its element type or `dtype`.",
        build: |cx, s, x| filled(cx, s, x, Scalar::I(0)),
    },
    Composite {
        name: "ones_like",
        doc: "Ones of the shape of x, and of its element type or `dtype`.",
        build: |cx, s, x| filled(cx, s, x, Scalar::I(1)),
    },
    Composite {
        name: "full_like",
        doc: "An array filled with `value`, of the shape of x, and of its element type or `dtype`.",
        build: |cx, s, x| {
            let value = s.attrs.get("value")?;
            filled(cx, s, x, value)
        },
    },
    Composite {
        name: "linspace",
        doc: "`num` numbers from the first operand to the second, evenly spaced, both ends included; of type `dtype`.",
        build: |cx, s, x| {
            let ([a, b], num) = (operands(s, x)?, s.attrs.get::<Dim>("num")?);
            let dtype = option(s, "dtype", cx.ty(a).dtype)?;
            Ok(vec![cx.linspace(
                cx.convert(a, dtype),
                cx.convert(b, dtype),
                &num,
            )])
        },
    },
    Composite {
        name: "arange",
        doc: "`num` numbers `start + step i` (start 0 and step 1 by default) of type `dtype`.",
        build: |cx, s, x| {
            let [] = operands(s, x)?;
            let (num, dtype) = (s.attrs.get::<Dim>("num")?, option(s, "dtype", DType::I64)?);
            let (start, step) = (
                option(s, "start", Scalar::I(0))?,
                option(s, "step", Scalar::I(1))?,
            );
            let i = cx.iota(&Type::new(dtype, vec![num]), 0);
            Ok(vec![cx.add(
                cx.full_like(i, start),
                cx.mul(cx.full_like(i, step), i),
            )])
        },
    },
];

/// A constant with all elements equal, of the shape of the operand.
fn filled(cx: &dyn Emit, s: &mut Spelled<'_>, x: &[Val], value: Scalar) -> Result<Vec<Val>> {
    let [x] = operands(s, x)?;
    let ty = cx.ty(x);
    let ty = ty.with_dtype(option(s, "dtype", ty.dtype)?);
    Ok(vec![
        cx.emit(Constant::number(s.name, &ty, value)?.into(), &[])[0],
    ])
}

/// Coefficients of `sin(u)/u` in `u²`: `(-1)^k / (2k+1)!`. Their number is large enough for
/// accurate derivatives for `|u| < 1`.
fn sinc_series() -> Vec<f64> {
    let mut c = 1.0;
    (0..14)
        .map(|k| {
            let now = c;
            c /= -f64::from((2 * k + 2) * (2 * k + 3));
            now
        })
        .collect()
}

impl dyn Emit + '_ {
    /// The logarithm to base 10.
    pub fn log10(&self, x: Val) -> Val {
        in_f32(self, "log10", x, |x| {
            self.scale_by(std::f64::consts::LOG10_2, self.log2(x))
        })
    }

    /// `sqrt(x² + y²)` of real operands without overflow. The gradient is 0 where both are 0.
    pub fn hypot(&self, x: Val, y: Val) -> Val {
        match self.ty(x).dtype {
            d if d.is_float() && d.size() < 4 => {
                let wide = |v: Val| self.convert(v, DType::F32);
                self.convert(self.abs(self.complex(wide(x), wide(y))), d)
            }
            _ => self.abs(self.complex(x, y)),
        }
    }

    /// Whether `x`, or a part of a complex `x`, is infinite.
    pub fn is_inf(&self, x: Val) -> Val {
        let size = self.abs(x);
        self.compare(
            size,
            Comparison::Eq,
            self.number_for("is_inf", size, f64::INFINITY),
        )
    }

    /// `log(e^x + e^y)` without overflow.
    pub fn logaddexp(&self, x: Val, y: Val) -> Val {
        let first = self.compare(x, Comparison::Gt, y);
        // The smaller minus the greater operand, and the greater one. Each order has its own
        // analytic form.
        let d = self.select(first, self.sub(y, x), self.sub(x, y));
        let most = self.select(first, x, y);
        // The difference of equal infinities is undefined; NaN stays.
        let sum = self.add(most, self.log1p(self.exp(d)));
        self.select(self.is_nan(d), self.add(x, y), sum)
    }

    /// `sin(πx) / (πx)`, 1 at 0.
    pub fn sinc(&self, x: Val) -> Val {
        in_f32(self, "sinc", x, |x| {
            let u = self.scale_by(PI, x);
            let size = self.abs(u);
            let near = self.compare(size, Comparison::Lt, self.full_like(size, 1.0));
            let square = self.square(self.select(near, u, self.full_like(u, 0.0)));
            let c = sinc_series();
            let (last, rest) = c.split_last().expect("there are coefficients");
            let series = rest.iter().rev().fold(self.full_like(u, *last), |sum, &c| {
                self.add(self.full_like(u, c), self.mul(square, sum))
            });
            let far = self.select(near, self.full_like(u, 1.0), u);
            self.select(near, series, self.div(self.sin(far), far))
        })
    }

    /// `min(max(x, lo), hi)`, with derivative 1 inside, 0 outside and 1/2 at both bounds.
    pub fn clip(&self, x: Val, lo: Val, hi: Val) -> Val {
        self.minimum(self.maximum(x, lo), hi)
    }

    /// `num` evenly spaced numbers from `a` to `b` (scalars), both included.
    pub fn linspace(&self, a: Val, b: Val, num: &Dim) -> Val {
        let ty = self.ty(a).with_shape(vec![num.clone()]);
        let real = ty.with_dtype(ty.dtype.real());
        let one = self.full(&real, 1.0);
        let steps = self.maximum(self.sub(self.extent(&real, num), one), one);
        let w = self.div(self.iota(&real, 0), steps);
        let (v, w) = (
            self.convert(self.sub(one, w), ty.dtype),
            self.convert(w, ty.dtype),
        );
        let all = |v: Val| self.broadcast_in_dim(v, &ty.shape, &[]);
        self.add(self.mul(all(a), v), self.mul(all(b), w))
    }
}
