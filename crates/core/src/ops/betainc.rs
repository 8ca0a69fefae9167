//! `betainc`: the regularized incomplete beta function `I_x(a, b)`, with all its derivatives in `a`
//! and `b`.
//!
//! ```text
//! ∂/∂x = e^l / (x (1 - x)),    l = a log x + b log(1 - x) - log B(a, b)
//! ```
//! The attribute `orders` holds the orders of derivatives in `a` and `b`. The derivative in `x` is
//! that of `e^l`, by the recurrence for Taylor coefficients of an exponential, written with
//! operations.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element, same_shape};
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

/// A derivative of `I_x(a, b)`, of operands `a`, `b`, `x`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Betainc {
    /// Order of the derivative in `a`.
    pub a: u32,
    /// Order of the derivative in `b`.
    pub b: u32,
}

/// Maximum order. Higher derivatives are not accurate in double precision, and their cost grows
/// with the fourth power of the order.
const MAX_ORDER: u32 = 16;

impl Betainc {
    /// `∂^i ∂^j e^l / (x (1 - x))`.
    fn slope(self, cx: &dyn Emit, a: Val, b: Val, x: Val) -> Val {
        let (m, n) = (self.a as usize, self.b as usize);
        let sum = cx.add(a, b);
        let (log_x, log_y) = (cx.log(x), cx.log1p(cx.neg(x)));
        // Derivatives of l in a and b.
        let l = |i: usize, j: usize| {
            let both = cx.polygamma((i + j - 1) as u32, sum);
            let own = match (i, j) {
                (i, 0) => cx.polygamma(i as u32 - 1, a),
                (0, j) => cx.polygamma(j as u32 - 1, b),
                _ => return both,
            };
            match (i, j) {
                (1, 0) => cx.add(cx.sub(both, own), log_x),
                (0, 1) => cx.add(cx.sub(both, own), log_y),
                _ => cx.sub(both, own),
            }
        };
        let beta = cx.sub(cx.add(cx.lgamma(a), cx.lgamma(b)), cx.lgamma(sum));
        let one = cx.full_like(x, 1.0);
        let powers = cx.add(cx.xlogy(cx.sub(a, one), x), cx.mul(cx.sub(b, one), log_y));
        let mut y = vec![vec![cx.exp(cx.sub(powers, beta)); n + 1]; m + 1];
        let choose =
            |n: usize, k: usize| (1..=k).fold(1.0, |c, i| c * (n + 1 - i) as f64 / i as f64);
        for i in 0..=m {
            for j in (0..=n).filter(|j| i + j > 0) {
                // One derivative of e^l is l' e^l; the others are distributed over both factors.
                let (first, second) = if i > 0 { (i - 1, j) } else { (0, j - 1) };
                let mut total: Option<Val> = None;
                for p in 0..=first {
                    for q in 0..=second {
                        let dl = if i > 0 { l(p + 1, q) } else { l(p, q + 1) };
                        let term = cx.mul(dl, y[first - p][second - q]);
                        let term = cx.scale_by(choose(first, p) * choose(second, q), term);
                        total = Some(total.map_or(term, |t| cx.add(t, term)));
                    }
                }
                y[i][j] = total.expect("there is a term");
            }
        }
        y[m][n]
    }
}

impl Primitive for Betainc {
    fn name(&self) -> &str {
        "betainc"
    }

    fn attrs(&self) -> Attrs {
        let orders = vec![i64::from(self.a), i64::from(self.b)];
        Attrs::default().with_if(self.a + self.b > 0, "orders", &orders)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 3)?;
        if x.iter().any(|t| t.dtype != x[0].dtype) || !x[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`betainc` takes three operands of one float type, got {x:?}"
            );
        }
        if self.a > MAX_ORDER || self.b > MAX_ORDER {
            bail!(
                Limit,
                "`betainc` has orders up to {MAX_ORDER}, got {} and {}",
                self.a,
                self.b
            );
        }
        Ok(vec![same_shape(self, x)?.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let [a, b, at] = [0, 1, 2].map(|k| x[k].to_f64());
        let y = (0..a.len())
            .map(|i| math::betainc((self.a, self.b), a[i], b[i], at[i]))
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let da = t[0].map(|t| {
            cx.scale_at_pole(
                cx.op(
                    Betainc {
                        a: self.a + 1,
                        ..*self
                    },
                    x,
                ),
                t,
            )
        });
        let db = t[1].map(|t| {
            cx.scale_at_pole(
                cx.op(
                    Betainc {
                        b: self.b + 1,
                        ..*self
                    },
                    x,
                ),
                t,
            )
        });
        let dx = t[2].map(|t| cx.scale_at_pole(self.slope(cx.emit(), x[0], x[1], x[2]), t));
        Ok(cx.one(cx.op(*self, x), cx.sum_opt(cx.sum_opt(da, db), dx)))
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
    /// The regularized incomplete beta function `I_x(a, b)`.
    pub fn betainc(&self, a: Val, b: Val, x: Val) -> Val {
        self.op(Betainc::default(), &[a, b, x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let orders: Vec<usize> = s.attrs.opt("orders")?.unwrap_or_else(|| vec![0, 0]);
    let [a, b] = orders[..] else {
        bail!(
            Attribute,
            "`betainc`: `orders` are two numbers, got {orders:?}"
        )
    };
    let number = |n: usize| n.try_into().unwrap_or(u32::MAX / 2);
    Ok(Betainc {
        a: number(a),
        b: number(b),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = Array::vector(vec![0.6f64, 1.7, 12.0, 2.0]);
    let b = Array::vector(vec![2.3f64, 0.8, 9.0, 30.0]);
    let x = Array::vector(vec![0.3f64, 0.6, 0.55, 0.02]);
    let all = vec![a, b, x];
    let mut out: Vec<Sample> = [(0, 0), (1, 0), (1, 1)]
        .map(|(a, b)| Sample::new(Betainc { a, b }, all.clone()))
        .into();
    let corners = [
        vec![1.0, 2.0, -1.0, 0.5],
        vec![1.0, 3.0, 2.0, 0.5],
        vec![0.0, 1.0, 0.5, f64::NAN],
    ];
    out.push(Sample::rough(
        Betainc::default(),
        corners.map(Array::vector).into(),
    ));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Regularized incomplete beta function of a, b and x, differentiated `orders` times in a and b.";
    vec![Entry {
        name: "betainc",
        doc,
        parse,
        samples,
    }]
}
