//! Elementwise functions of two operands of equal shape and element type: a table with a row per
//! function.

mod methods;
mod table;

use super::entry::{Entry, Spelled, arity};
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, ShiftRule, Val,
    no_rule,
};
pub use table::{BINARY, Binary, BinaryDef, BinaryTranspose};
use table::{BinaryRuleArgs, Linearity};

use super::Comparison;
use super::support::{batch_leading, cost_per_element, same_shape};
use crate::array::{Array, Scalar, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::math;
use crate::shape::{Dim, Env, Type};

impl Primitive for Binary {
    fn name(&self) -> &str {
        self.def().name
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        if x[0].dtype != x[1].dtype {
            bail!(
                DTypeMismatch,
                "`{}` needs operands of one element type, got {} and {}; convert one of them",
                self.name(),
                x[0],
                x[1]
            );
        }
        if !(self.def().types)(x[0].dtype) {
            bail!(
                DTypeMismatch,
                "`{}` is not defined on {}; convert it first",
                self.name(),
                x[0].dtype
            );
        }
        Ok(vec![same_shape(self, x)?.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let d = self.def();
        let out = x[0].dtype();
        let real = match (self, out) {
            // This function must be computed in the precision of its operands.
            (Binary::AddError, DType::F32) => math::add_error_f32,
            _ => d.real,
        };
        let y = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => {
                Wide::F(a.into_iter().zip(b).map(|(a, b)| real(a, b)).collect())
            }
            (Wide::C(a), Wide::C(b)) => Wide::C(
                a.into_iter()
                    .zip(b)
                    .map(|(a, b)| (d.complex)(a, b))
                    .collect(),
            ),
            (Wide::I(a), Wide::I(b)) => Wide::I(
                a.into_iter()
                    .zip(b)
                    .map(|(a, b)| (d.int)(a, b, out))
                    .collect(),
            ),
            _ => unreachable!("the type rule makes both element types one"),
        };
        Ok(vec![y.narrow(out, x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        match self {
            Binary::Add => Some(ShiftRule::Add),
            Binary::Sub => Some(ShiftRule::Subtract),
            Binary::Mul => Some(ShiftRule::Multiply),
            Binary::Div => Some(ShiftRule::Divide),
            _ => None,
        }
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        match self.def().linear {
            Linearity::No => false,
            Linearity::Both => mask[0] && mask[1],
            Linearity::Either => mask[0] != mask[1],
            Linearity::First => mask[0] && !mask[1],
            Linearity::Second => !mask[0] && mask[1],
        }
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let out = cx.op(*self, x);
        let at = BinaryRuleArgs {
            x: x[0],
            y: x[1],
            out,
            tx: t[0],
            ty: t[1],
        };
        Ok(cx.one(out, (self.def().linearize)(cx, &at)))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        match (self.def().transpose, ct[0]) {
            (Some(f), Some(ct)) => Ok(f(cx, x, ct)),
            _ => Err(no_rule(self, "transpose")),
        }
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(self.def().flops, x, y)
    }
}

impl dyn Emit + '_ {
    /// `c x` for a constant `c`.
    pub fn scale_by(&self, c: f64, x: Val) -> Val {
        self.mul(self.number_for("mul", x, c), x)
    }

    /// `min(max(x, lo), hi)`. The gradient is one half where `x` equals a bound; the result is `hi`
    /// where `lo > hi`.
    pub fn clamp(&self, lo: Val, x: Val, hi: Val) -> Val {
        self.minimum(self.maximum(x, lo), hi)
    }
}

impl Lin<'_> {
    /// `a * t`, the derivative of an elementwise function with slope `a`.
    pub fn scale(&self, a: Val, t: Lv) -> Lv {
        let op = if self.session().numerics().zeros_are_strong() {
            Binary::MulStrongZero
        } else {
            Binary::Mul
        };
        self.apply1(op, &[a.into(), t.into()])
    }

    /// `t / a`, with a pole where `a` is zero.
    pub fn unscale(&self, t: Lv, a: Val) -> Lv {
        let numerics = self.session().numerics();
        let op = if numerics.zeros_are_strong() {
            Binary::DivStrongZero
        } else {
            Binary::Div
        };
        let a = match numerics.zero_division_nan {
            true => self.pole(
                self.compare(a, Comparison::Eq, self.full_like(a, Scalar::I(0))),
                a,
            ),
            false => a,
        };
        self.apply1(op, &[t.into(), a.into()])
    }

    /// `a * t` for an `a` that is infinite where the function has a pole.
    pub fn scale_at_pole(&self, a: Val, t: Lv) -> Lv {
        if !self.session().numerics().zero_division_nan {
            return self.scale(a, t);
        }
        let size = self.abs(a);
        let infinite = self.compare(size, Comparison::Eq, self.full_like(size, f64::INFINITY));
        self.scale(self.pole(infinite, a), t)
    }

    /// The factor `a` of a derivative; NaN at a pole (`there`) if `zero_division_nan` is set.
    pub fn pole(&self, there: Val, a: Val) -> Val {
        match self.session().numerics().zero_division_nan {
            true => self.select(there, self.full_like(a, f64::NAN), a),
            false => a,
        }
    }

    /// `-t`.
    pub fn lneg(&self, t: Lv) -> Lv {
        self.apply1(super::Unary::Neg, &[t.into()])
    }

    /// `c * t` for a constant `c`.
    pub fn scale_by(&self, c: f64, t: Lv) -> Lv {
        self.apply1(Binary::Mul, &[self.full(&self.lty(t), c).into(), t.into()])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match BINARY.iter().find(|d| d.name == s.name) {
        Some(d) => Ok(d.op.into()),
        None => bail!(
            UnknownOperation,
            "`{}` is not an elementwise function",
            s.name
        ),
    }
}

/// Points at which derivatives are conventions: ties, zeros of both signs, poles, infinities and
/// NaN.
const NONSMOOTH_POINTS: [(f64, f64); 24] = [
    (1.0, 1.0),
    (0.0, 0.0),
    (0.0, -0.0),
    (-0.0, 0.0),
    (0.0, 1.0),
    (0.0, 2.0),
    (0.0, -1.0),
    (-2.0, 3.0),
    (-2.0, 0.5),
    (2.0, 0.0),
    (7.5, 2.0),
    (-7.5, 2.0),
    (1.0, f64::NAN),
    (f64::NAN, 1.0),
    (f64::NAN, 0.0),
    (f64::INFINITY, 2.0),
    (2.0, f64::INFINITY),
    (f64::NEG_INFINITY, f64::INFINITY),
    (f64::INFINITY, 0.0),
    (0.0, f64::INFINITY),
    (1e-300, 1e-300),
    (1e300, -1e300),
    (1000.0, 0.5),
    (-1.0, 1000.0),
];

/// Points of the row's domain, for every element type that it is defined on, and nonsmooth points.
fn samples(name: &str) -> Vec<Sample> {
    let d = BINARY
        .iter()
        .find(|d| d.name == name)
        .expect("called with a name of the table");
    let at = |k: usize, i: usize| {
        let (lo, hi) = d.domain[k];
        lo + (hi - lo) * [0.13, 0.41, 0.59, 0.77, 0.92, 0.28][(i + 2 * k) % 6]
    };
    let types = || DType::ALL.into_iter().filter(|&t| (d.types)(t));
    let smooth = types().map(|t| {
        let operand = |k: usize| {
            let wide = match t.kind() {
                Kind::Float => Wide::F((0..6).map(|i| at(k, i)).collect()),
                Kind::Complex => Wide::C(
                    (0..6)
                        .map(|i| C128::new(at(k, i), 0.3 * at(k, i + 1)))
                        .collect(),
                ),
                Kind::Int | Kind::Opaque => Wide::I(if k == 0 {
                    vec![3, 0, 100, 7, 2, 5]
                } else {
                    vec![2, 1, 3, 7, 5, 1]
                }),
                Kind::Bool => Wide::I(if k == 0 {
                    vec![1, 0, 1, 1, 0, 0]
                } else {
                    vec![1, 1, 0, 1, 0, 1]
                }),
            };
            wide.narrow(t, [2, 3]).expect("six elements")
        };
        // A rounding error is piecewise constant: its derivative is 0, but finite differences see
        // the steps.
        let smooth = !matches!(d.op, Binary::AddError);
        Sample {
            smooth,
            ..Sample::new(d.op, vec![operand(0), operand(1)])
        }
    });
    let rough = types().filter(|t| t.kind() != Kind::Bool).map(|t| {
        let (least, most) = if t.is_int() { t.int_range() } else { (0, 0) };
        let operand = |k: usize| {
            let pick = |p: (f64, f64)| if k == 0 { p.0 } else { p.1 };
            let wide = match t.kind() {
                Kind::Float => Wide::F(NONSMOOTH_POINTS.map(pick).to_vec()),
                Kind::Complex => Wide::C(
                    (0..24)
                        .map(|i| {
                            C128::new(
                                pick(NONSMOOTH_POINTS[i]),
                                pick(NONSMOOTH_POINTS[i * 7 % 24]),
                            )
                        })
                        .collect(),
                ),
                // Every pair of extreme values of the type.
                _ => {
                    let corners = [least, most, -1, 0, 1, i128::from(t.bits())];
                    Wide::I(
                        (0..36)
                            .map(|i| corners[if k == 0 { i / 6 } else { i % 6 }])
                            .collect(),
                    )
                }
            };
            let n = wide.len();
            wide.narrow(t, [n]).expect("as many elements as there are")
        };
        Sample::rough(d.op, vec![operand(0), operand(1)])
    });
    smooth.chain(rough).collect()
}

pub(super) fn entries() -> Vec<Entry> {
    BINARY
        .iter()
        .map(|d| Entry {
            name: d.name,
            doc: d.doc,
            parse,
            samples,
        })
        .collect()
}
