//! `polygamma`: the derivative of [digamma](super::Unary::Digamma) of a constant order. Its
//! derivative is that of the next order.

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

/// `(d/dx)^order digamma(x)`; order 1 is trigamma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Polygamma {
    /// The order; 0 is digamma itself.
    pub order: u32,
}

/// Maximum order. Higher orders overflow unless `x` is large, and their cost grows with the square
/// of the order.
const MAX_ORDER: u32 = 1000;

impl Primitive for Polygamma {
    fn name(&self) -> &str {
        "polygamma"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("order", i64::from(self.order))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !x[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`polygamma` is not defined on {}; convert it first",
                x[0].dtype
            );
        }
        if self.order > MAX_ORDER {
            bail!(
                Limit,
                "`polygamma` has orders up to {MAX_ORDER}, got {}",
                self.order
            );
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = x[0]
            .to_f64()
            .into_iter()
            .map(|x| math::polygamma(self.order, x))
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let slope = t[0].map(|t| cx.scale_at_pole(cx.polygamma(self.order + 1, x[0]), t));
        Ok(cx.one(cx.op(*self, x), slope))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(60.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// The derivative of digamma of this order.
    pub fn polygamma(&self, order: u32, x: Val) -> Val {
        if order == 0 {
            self.digamma(x)
        } else {
            self.op(Polygamma { order }, &[x])
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let order: usize = s.attrs.get("order")?;
    Ok(Polygamma {
        order: order.try_into().unwrap_or(u32::MAX),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x = Array::vector(vec![0.3f64, 1.0, 2.5, 12.0, -0.7, -3.2]);
    let mut out: Vec<Sample> = [0, 1, 2, 5]
        .map(|order| Sample::new(Polygamma { order }, vec![x.clone()]))
        .into();
    out.push(Sample::new(
        Polygamma { order: 1 },
        vec![Array::vector(vec![0.3f32, 1.0, 2.5])],
    ));
    let corners = Array::vector(vec![
        0.0f64,
        -0.0,
        -2.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    out.push(Sample::rough(Polygamma { order: 1 }, vec![corners]));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "polygamma",
        doc: "Derivative of digamma of a constant order.",
        parse,
        samples,
    }]
}
