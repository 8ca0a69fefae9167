//! Special functions `f(a, x)` with their derivatives in the parameter `a`. The attribute `order`
//! is the order of the derivative.
//!
//! ```text
//! p(a, x) = x^(a-1) e^-x / gamma(a)              ∂p/∂x = p(a - 1, x) - p(a, x)
//! igamma  = ∫_0^x p(a, t) dt                     ∂/∂x = p,        igammac = 1 - igamma
//! zeta    = Σ_k (x + k)^-a                       ∂/∂x = -a zeta(a + 1, x)
//! ```
//! Derivatives in `x` commute with those in `a`, so the set is closed under both.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element, same_shape, sample_array};
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

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialFn {
    /// The regularized lower incomplete gamma function.
    Igamma,
    /// The regularized upper incomplete gamma function.
    Igammac,
    /// The density of the gamma distribution.
    GammaDensity,
    /// The Hurwitz zeta function.
    Zeta,
}

/// A derivative of a special function in its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Special {
    /// The function.
    pub f: SpecialFn,
    /// Order of the derivative in the first operand.
    pub order: u32,
}

/// Maximum order. Higher derivatives are not accurate in double precision.
const MAX_ORDER: u32 = 64;

const NAMES: [(SpecialFn, &str, &str); 4] = [
    (
        SpecialFn::Igamma,
        "igamma",
        "Regularized lower incomplete gamma function P(a, x), differentiated `order` times in a.",
    ),
    (
        SpecialFn::Igammac,
        "igammac",
        "Regularized upper incomplete gamma function 1 - P(a, x), `order` times in a.",
    ),
    (
        SpecialFn::GammaDensity,
        "gamma_density",
        "x^(a-1) e^-x / gamma(a), differentiated `order` times in a.",
    ),
    (
        SpecialFn::Zeta,
        "zeta",
        "Hurwitz zeta function, the sum of (x + k)^-a over k, differentiated `order` times in a.",
    ),
];

impl Special {
    /// The function itself.
    pub fn new(f: SpecialFn) -> Special {
        Special { f, order: 0 }
    }

    /// Its derivative in `x`.
    fn slope(self, cx: &dyn Emit, a: Val, x: Val) -> Val {
        let at = |f, order, a| cx.op(Special { f, order }, &[a, x]);
        let one = cx.full_like(a, 1.0);
        match self.f {
            SpecialFn::Igamma => at(SpecialFn::GammaDensity, self.order, a),
            SpecialFn::Igammac => cx.neg(at(SpecialFn::GammaDensity, self.order, a)),
            SpecialFn::GammaDensity => cx.sub(
                at(self.f, self.order, cx.sub(a, one)),
                at(self.f, self.order, a),
            ),
            SpecialFn::Zeta => {
                let next = cx.add(a, one);
                let y = cx.neg(cx.mul(a, at(self.f, self.order, next)));
                match self.order {
                    0 => y,
                    m => cx.sub(y, cx.scale_by(m.into(), at(self.f, m - 1, next))),
                }
            }
        }
    }
}

impl Primitive for Special {
    fn name(&self) -> &str {
        NAMES
            .iter()
            .find(|n| n.0 == self.f)
            .expect("every function has a name")
            .1
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with_if(self.order > 0, "order", i64::from(self.order))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        if x[0].dtype != x[1].dtype || !x[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`{}` takes two operands of one float type, got {} and {}",
                self.name(),
                x[0],
                x[1]
            );
        }
        if self.order > MAX_ORDER {
            bail!(
                Limit,
                "`{}` has orders up to {MAX_ORDER}, got {}",
                self.name(),
                self.order
            );
        }
        Ok(vec![same_shape(self, x)?.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let f = |a: f64, x: f64| match self.f {
            SpecialFn::Igamma => math::igamma(false, self.order, a, x),
            SpecialFn::Igammac => math::igamma(true, self.order, a, x),
            SpecialFn::GammaDensity => math::gamma_density(self.order, a, x),
            SpecialFn::Zeta => math::zeta(self.order, a, x),
        };
        let y = x[0]
            .to_f64()
            .into_iter()
            .zip(x[1].to_f64())
            .map(|(a, x)| f(a, x))
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let next = Special {
            order: self.order + 1,
            ..*self
        };
        let da = t[0].map(|t| cx.scale_at_pole(cx.op(next, x), t));
        let dx = t[1].map(|t| cx.scale_at_pole(self.slope(cx.emit(), x[0], x[1]), t));
        Ok(cx.one(cx.op(*self, x), cx.sum_opt(da, dx)))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(100.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// The regularized lower incomplete gamma function `P(a, x)`.
    pub fn igamma(&self, a: Val, x: Val) -> Val {
        self.op(Special::new(SpecialFn::Igamma), &[a, x])
    }

    /// The regularized upper incomplete gamma function `1 - P(a, x)`.
    pub fn igammac(&self, a: Val, x: Val) -> Val {
        self.op(Special::new(SpecialFn::Igammac), &[a, x])
    }

    /// The Hurwitz zeta function `Σ_k (q + k)^-s`.
    pub fn zeta(&self, s: Val, q: Val) -> Val {
        self.op(Special::new(SpecialFn::Zeta), &[s, q])
    }

    /// The derivative in `a` of a sample `x` of the gamma distribution at a fixed quantile
    /// (implicit reparameterization).
    pub fn random_gamma_grad(&self, a: Val, x: Val) -> Val {
        let by_a = self.op(
            Special {
                f: SpecialFn::Igamma,
                order: 1,
            },
            &[a, x],
        );
        self.neg(self.div(
            by_a,
            self.op(Special::new(SpecialFn::GammaDensity), &[a, x]),
        ))
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let f = NAMES
        .iter()
        .find(|n| n.1 == s.name)
        .map_or(SpecialFn::Igamma, |n| n.0);
    let order: usize = s.attrs.opt("order")?.unwrap_or(0);
    Ok(Special {
        f,
        order: order.try_into().unwrap_or(u32::MAX),
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    let f = NAMES
        .iter()
        .find(|n| n.1 == name)
        .expect("a name of the table")
        .0;
    let array = |v: Vec<f64>| Array::vector(v);
    let a = if f == SpecialFn::Zeta {
        array(vec![1.7, 2.3, 4.1, 3.2])
    } else {
        array(vec![0.6, 1.7, 12.0, 0.3])
    };
    let x = array(vec![0.9, 2.5, 11.0, 0.2]);
    let mut out: Vec<Sample> = [0, 1, 2]
        .map(|order| Sample::new(Special { f, order }, vec![a.clone(), x.clone()]))
        .into();
    let corners = array(vec![0.0, 1.0, 1.0, -1.5, 2.0, f64::INFINITY, 3.0, f64::NAN]);
    let at = array(vec![1.0, 0.0, 2.0, 3.0, f64::INFINITY, 1.0, -1.0, 1.0]);
    out.push(Sample::rough(Special::new(f), vec![corners, at]));
    out.push(Sample::new(
        Special::new(f),
        vec![sample_array(DType::F64, &[0], 0); 2],
    ));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    NAMES
        .iter()
        .map(|&(_, name, doc)| Entry {
            name,
            doc,
            parse,
            samples,
        })
        .collect()
}
