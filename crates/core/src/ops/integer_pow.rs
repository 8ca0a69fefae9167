//! `integer_pow`: `x^n` for a constant integer `n`, by repeated squaring. `dy = n x^(n-1) dx`,
//! without a logarithm. `x^0` has derivative zero everywhere.

use super::Comparison;
use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element};
use crate::array::{Array, Scalar, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
    no_rule,
};
use crate::math;
use crate::shape::{Dim, Env, Type};

/// `x^n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntegerPow {
    /// The exponent.
    pub n: i64,
}

impl Primitive for IntegerPow {
    fn name(&self) -> &str {
        "integer_pow"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("n", self.n)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if x[0].dtype == DType::Bool {
            bail!(
                DTypeMismatch,
                "`integer_pow` is not defined on i1; convert it first"
            );
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(v.into_iter().map(|x| math::powi(x, self.n)).collect()),
            Wide::C(v) => Wide::C(
                v.into_iter()
                    .map(|z| math::complex::powi(z, self.n))
                    .collect(),
            ),
            Wide::I(v) => Wide::I(
                v.into_iter()
                    .map(|i| math::pow_int(i, self.n.into()))
                    .collect(),
            ),
        };
        Ok(vec![y.narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let dy = t[0].and_then(|t| match self.n {
            0 => None,
            1 => Some(t),
            n => {
                let slope = cx
                    .emit()
                    .scale_by(n as f64, cx.integer_pow(x[0], n.saturating_sub(1)));
                let pole = (n < 0)
                    .then(|| cx.compare(x[0], Comparison::Eq, cx.full_like(x[0], Scalar::I(0))));
                Some(cx.scale(pole.map_or(slope, |there| cx.pole(there, slope)), t))
            }
        });
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = self.n.unsigned_abs();
        let products = (n.max(1).ilog2() + n.count_ones().saturating_sub(1)) as f64;
        cost_per_element(products + if self.n < 0 { 4.0 } else { 0.0 }, x, y)
    }
}

impl dyn Emit + '_ {
    /// `x^n`. Writes no operation for `n = 1`.
    pub fn integer_pow(&self, x: Val, n: i64) -> Val {
        if n == 1 && self.ty(x).dtype != DType::Bool {
            x
        } else {
            self.op(IntegerPow { n }, &[x])
        }
    }

    /// `x^c` for a constant `c`: an integer power if `c` is an integer, which needs no logarithm.
    pub fn pow_by(&self, x: Val, c: f64) -> Val {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if c.trunc() == c && c.abs() <= EXACT {
            return self.integer_pow(x, c as i64);
        }
        self.pow(x, self.number_for("pow", x, c))
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(IntegerPow {
        n: s.attrs.get("n")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let f = Array::vector(vec![1.5f64, -0.5, 0.75]);
    let z = Array::vector(vec![C128::new(1.5, -0.5), C128::new(-0.25, 1.0)]);
    let i = Array::vector(vec![3i32, -1, 1, 1000]);
    let corners = Array::vector(vec![
        0.0f64,
        -0.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    let mut out = Vec::new();
    for n in [-3, -1, 0, 1, 2, 3, 10] {
        out.push(Sample::new(IntegerPow { n }, vec![f.clone()]));
        out.push(Sample::new(IntegerPow { n }, vec![z.clone()]));
        out.push(Sample::new(IntegerPow { n }, vec![i.clone()]));
        out.push(Sample::rough(IntegerPow { n }, vec![corners.clone()]));
    }
    out.push(Sample::new(
        IntegerPow { n: 3 },
        vec![Array::vector(vec![1.5f32, -0.5])],
    ));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "integer_pow",
        doc: "x^n for a constant integer n.",
        parse,
        samples,
    }]
}
