//! `bessel_ie`: modified Bessel functions of the first kind, scaled: `e^-|x| I_n(x)`.
//!
//! `2 I_n' = I_(n-1) + I_(n+1)`, so derivatives of every order are again of this form, and regular
//! at 0.

use super::Side;
use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
    no_rule,
};
use crate::math;
use crate::shape::{Dim, Env, Type};

/// `e^-|x| I_n(x)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BesselIe {
    /// The order `n`.
    pub order: u32,
}

/// Maximum order. Higher orders are 0 in double precision for `|x| < 300`.
const MAX_ORDER: u32 = 1000;

impl Primitive for BesselIe {
    fn name(&self) -> &str {
        "bessel_ie"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("order", i64::from(self.order))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !x[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`bessel_ie` is not defined on {}; convert it first",
                x[0].dtype
            );
        }
        if self.order > MAX_ORDER {
            bail!(
                Limit,
                "`bessel_ie` has orders up to {MAX_ORDER}, got {}",
                self.order
            );
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = x[0]
            .to_f64()
            .into_iter()
            .map(|x| math::bessel_ie(self.order, x))
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let slope = t[0].map(|t| {
            let up = cx.bessel_ie(self.order + 1, x[0]);
            let mean = match self.order {
                0 => up,
                n => cx
                    .emit()
                    .scale_by(0.5, cx.add(cx.bessel_ie(n - 1, x[0]), up)),
            };
            // The second term is the derivative of |x| in the scale.
            let side = Side::Sign {
                up: cx.rises(x[0], None),
            };
            cx.sum(
                cx.scale(mean, t),
                cx.lneg(cx.at_kink(side, cx.sign(x[0]), cx.scale(y, t))),
            )
        });
        Ok(cx.one(y, slope))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(40.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `e^-|x| I_n(x)`.
    pub fn bessel_ie(&self, order: u32, x: Val) -> Val {
        self.op(BesselIe { order }, &[x])
    }

    /// The modified Bessel function of the first kind `I_n(x)`.
    pub fn bessel_i(&self, order: u32, x: Val) -> Val {
        self.mul(self.exp(self.abs(x)), self.bessel_ie(order, x))
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let order: usize = s.attrs.opt("order")?.unwrap_or(0);
    Ok(BesselIe {
        order: order.try_into().unwrap_or(u32::MAX),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x = Array::vector(vec![0.3f64, 1.0, 2.5, 12.0, -0.7, -3.2, 45.0]);
    let mut out: Vec<Sample> = [0, 1, 2, 5]
        .map(|order| Sample::new(BesselIe { order }, vec![x.clone()]))
        .into();
    let corners = Array::vector(vec![
        0.0f64,
        -0.0,
        1e300,
        700.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    out.extend([0, 1].map(|order| Sample::rough(BesselIe { order }, vec![corners.clone()])));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Modified Bessel function of the first kind of an order, times e^-|x|.";
    vec![Entry {
        name: "bessel_ie",
        doc,
        parse,
        samples,
    }]
}
