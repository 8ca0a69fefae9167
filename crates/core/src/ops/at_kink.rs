//! `at_kink`: a tangent times the weight that a kink assigns to it. Zero where the weight is zero,
//! for any tangent.
//!
//! ```text
//! |x| at 0, max(a, b) at a = b, ..: y = w t, with the mean of the weights of both sides
//! ```
//! The first derivative uses the mean of both sides. A product of two means is not a derivative:
//! the smooth function `|x| |x|` has a second derivative on either side of the kink, where
//! `sign(x)² = 1`. So second derivatives use the weights of one side ([`Primitive::one_sided`]),
//! the same side of every kink: the side on which the values written first increase (`rises`).

use super::entry::{Entry, Spelled};
use super::side::Side;
use super::support::{batch_leading, cost_per_element, take_axes};
use super::{Binary, Comparison, Constant, Cumulative, Running, Unary, Value};
use crate::array::{Array, Scalar, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Kink, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample,
    Val, no_rule,
};
use crate::shape::{Dim, Env, Type};
use std::collections::BTreeMap;

/// `at_kink(w, t)`: `w t`, zero where either is zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtKink {
    /// The kind of the weight.
    pub side: Side,
}

impl dyn Emit + '_ {
    /// The weights of one side.
    pub(super) fn sided(&self, side: &Side, w: Val) -> Val {
        let cx = self;
        let number = |c: f64| cx.full_like(w, c);
        match side {
            Side::Known => w,
            Side::Sign { up } => cx.select(
                cx.compare(w, Comparison::Eq, number(0.0)),
                number(if *up { 1.0 } else { -1.0 }),
                w,
            ),
            Side::Share { whole } => {
                let more = cx.compare(w, Comparison::Gt, number(0.0));
                let tie = cx.and(more, cx.compare(w, Comparison::Lt, number(1.0)));
                cx.select(tie, number(f64::from(u8::from(*whole))), w)
            }
            Side::Along { axes, last } => {
                let mut mine = cx.compare(w, Comparison::Gt, number(0.0));
                let ty = cx.ty(mine);
                for (k, &axis) in axes.iter().enumerate() {
                    // Along this axis, the first element with a nonzero share along the following
                    // axes.
                    let any = cx.spread(cx.reduce_any(mine, &axes[k + 1..]), &ty, &axes[k + 1..]);
                    let count = Cumulative {
                        reverse: *last,
                        ..Cumulative::new(Running::Sum, axis)
                    };
                    let so_far = cx.op(count, &[cx.convert(any, DType::I64)]);
                    mine = cx.and(
                        mine,
                        cx.compare(so_far, Comparison::Eq, cx.full_like(so_far, 1i64)),
                    );
                }
                let one = cx.select(mine, number(1.0), number(0.0));
                cx.select(cx.is_nan(w), w, one)
            }
        }
    }
}

impl Primitive for AtKink {
    fn name(&self) -> &str {
        "at_kink"
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default();
        match &self.side {
            Side::Known => a,
            Side::Sign { up } => a.with("side", if *up { "up" } else { "down" }),
            Side::Share { whole } => a.with("side", if *whole { "whole" } else { "none" }),
            Side::Along { axes, last } => a
                .with("side", if *last { "last" } else { "first" })
                .with("axes", axes),
        }
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let y = Binary::MulStrongZero.infer(x)?;
        if !y[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`at_kink` is not defined on {}: complex numbers have no sides",
                y[0].dtype
            );
        }
        if let Side::Along { axes, .. } = &self.side
            && (axes.windows(2).any(|w| w[0] >= w[1])
                || axes.last().is_some_and(|&a| a >= y[0].rank()))
        {
            bail!(
                Attribute,
                "`axes` = {axes:?} must be ascending axes of {}",
                y[0]
            );
        }
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        Binary::MulStrongZero.eval(x, env)
    }

    fn class(&self, _: &[DType]) -> OpClass {
        match self.side {
            // The axes refer to the shape of the operands.
            Side::Along { .. } => OpClass::Other,
            _ => OpClass::Elementwise,
        }
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        *mask == [false, true]
    }

    // The weight is constant on each side.
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        let dy = t[1].map(|t| cx.at_kink(Side::Known, cx.sided(&self.side, x[0]), t));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(w), Some(ct)) = (&x[0], ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        Ok(vec![None, Some(cx.op(self.clone(), &[*w, ct]))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let side = match &self.side {
            Side::Along { axes, last } => Side::Along {
                axes: axes.iter().map(|a| a + 1).collect(),
                last: *last,
            },
            side => side.clone(),
        };
        batch_leading(cx, AtKink { side }, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }

    fn kink(&self) -> Option<Kink> {
        Some(if self.side == Side::Known {
            Kink::Side
        } else {
            Kink::Mean
        })
    }

    fn one_sided(&self, cx: &dyn Emit, x: &mut [Option<Val>]) -> Op {
        x[0] = x[0].map(|w| cx.sided(&self.side, w));
        AtKink { side: Side::Known }.into()
    }

    fn turned(&self) -> Op {
        AtKink {
            side: self.side.turned(),
        }
        .into()
    }
}

impl Lin<'_> {
    /// The tangent times a weight that is constant on each side of a kink. In a one-sided session,
    /// the weight of that side.
    pub fn at_kink(&self, side: Side, w: Val, t: Lv) -> Lv {
        let (side, w) = match self.session().is_one_sided() {
            true => (Side::Known, self.sided(&side, w)),
            false => (side, w),
        };
        self.apply1(AtKink { side }, &[w.into(), t.into()])
    }
}

/// Maximum number of values that `rises` expands into linear combinations.
const MAX_FOLLOWED_VALUES: usize = 64;

impl dyn Emit + '_ {
    /// Whether `a - b` (`a` without `b`), where it is zero, is positive on the chosen side of the
    /// kink. On this side values increase, and the value written first dominates: its coefficient
    /// in the linear combination decides.
    pub(super) fn rises(&self, a: Val, b: Option<Val>) -> bool {
        let cx = self;
        // First without following broadcasts and reshapes; if all terms cancel, a second time
        // through them.
        let sign = [true, false].into_iter().find_map(|through| {
            let mut terms = BTreeMap::new();
            let mut left = MAX_FOLLOWED_VALUES;
            collect(cx, a, 1.0, through, &mut left, &mut terms);
            if let Some(b) = b {
                collect(cx, b, -1.0, through, &mut left, &mut terms);
            }
            terms.into_values().find(|&c| c != 0.0)
        });
        sign.is_none_or(|c| c > 0.0)
    }
}

/// Adds the coefficients of `c v` as a linear combination of values. Constants are dropped.
fn collect(
    cx: &dyn Emit,
    v: Val,
    c: f64,
    through: bool,
    left: &mut usize,
    terms: &mut BTreeMap<Val, f64>,
) {
    let mut next = vec![(v, c)];
    while let Some((v, c)) = next.pop() {
        let parts = if *left == 0 {
            None
        } else {
            parts(cx, v, through)
        };
        *left = left.saturating_sub(1);
        match parts {
            Some(parts) => next.extend(parts.into_iter().map(|(v, by)| (v, c * by))),
            None => *terms.entry(v).or_insert(0.0) += c,
        }
    }
}

/// The terms of `v` with their factors, if it is written as a linear combination.
fn parts(cx: &dyn Emit, v: Val, through: bool) -> Option<Vec<(Val, f64)>> {
    let (op, x) = cx.written(v)?;
    let parts = match op {
        Op::Constant(_) => vec![],
        Op::Unary(Unary::Neg) => vec![(x[0], -1.0)],
        Op::Unary(Unary::StopGradient) | Op::Convert(_) | Op::Shard(_) => vec![(x[0], 1.0)],
        Op::Binary(Binary::Add) => vec![(x[0], 1.0), (x[1], 1.0)],
        Op::Binary(Binary::Sub) => vec![(x[0], 1.0), (x[1], -1.0)],
        Op::Binary(Binary::Mul) => match (number(cx, x[0]), number(cx, x[1])) {
            (Some(c), _) => vec![(x[1], c)],
            (None, c) => vec![(x[0], c?)],
        },
        Op::Binary(Binary::Div) => vec![(x[0], number(cx, x[1]).filter(|&c| c != 0.0)?.recip())],
        Op::BroadcastInDim(_) | Op::Reshape(_) if through => vec![(x[0], 1.0)],
        _ => return None,
    };
    parts
        .iter()
        .all(|p| cx.ty(p.0).dtype.is_float())
        .then_some(parts)
}

/// The value of `v`, if it is a constant with all elements equal.
fn number(cx: &dyn Emit, mut v: Val) -> Option<f64> {
    for _ in 0..MAX_FOLLOWED_VALUES {
        let (op, x) = cx.written(v)?;
        v = match op {
            Op::Constant(Constant {
                value: Value::Splat(s),
                ..
            }) => match s.cast(DType::F64) {
                Scalar::F(c) => return Some(c),
                _ => return None,
            },
            Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Convert(_) | Op::Shard(_) => x[0],
            _ => return None,
        };
    }
    None
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let word: Option<String> = s.attrs.opt("side")?;
    let side = match word.as_deref() {
        None => Side::Known,
        Some("up") => Side::Sign { up: true },
        Some("down") => Side::Sign { up: false },
        Some("whole") => Side::Share { whole: true },
        Some("none") => Side::Share { whole: false },
        Some(w @ ("first" | "last")) => Side::Along {
            axes: take_axes(s)?,
            last: w == "last",
        },
        Some(w) => bail!(
            Attribute,
            "`at_kink` has no `side` = {w}; there are up, down, whole, none, first, last"
        ),
    };
    Ok(AtKink { side }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let along = |last| Side::Along {
        axes: vec![0, 1],
        last,
    };
    let sign = |up| Side::Sign { up };
    let share = |whole| Side::Share { whole };
    let sides = [
        Side::Known,
        sign(true),
        sign(false),
        share(true),
        share(false),
        along(false),
        along(true),
    ];
    let mut out = Vec::new();
    for (k, side) in sides.into_iter().enumerate() {
        for dtype in [DType::F64, DType::F32, DType::BF16, DType::F16] {
            let w = if matches!(side, Side::Sign { .. }) {
                [1.0, 0.0, -1.0, 1.0]
            } else {
                [0.5, 0.0, 0.5, 0.0]
            };
            let array = |v: [f64; 4]| {
                Wide::F(v.to_vec())
                    .narrow(dtype, [2, 2])
                    .expect("four elements")
            };
            let t = [0.5 + k as f64, f64::INFINITY, -1.5, 0.0];
            // The weight has no derivative.
            out.push(Sample::rough(
                AtKink { side: side.clone() },
                vec![array(w), array(t)],
            ));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The tangent t times the weight w of a kink, 0 where either is 0; its derivatives are one-sided.";
    vec![Entry {
        name: "at_kink",
        doc,
        parse,
        samples,
    }]
}
