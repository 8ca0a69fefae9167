//! Elementwise functions of one operand: a table with a row per function.
//!
//! For holomorphic `f`, `dy = f'(x) dx`, both in real and complex arithmetic. The transpose of a
//! multiplication conjugates. Linear rows have a transpose.

mod methods;
mod table;

pub use table::{UNARY, Unary, UnaryDef, UnaryTranspose};

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, ShiftRule, Val,
    no_rule,
};
use crate::shape::{Dim, Env, Type};

impl Primitive for Unary {
    fn name(&self) -> &str {
        self.def().name
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        match (self.def().types)(x[0].dtype) {
            Some(d) => Ok(vec![x[0].with_dtype(d)]),
            None => bail!(
                DTypeMismatch,
                "`{}` is not defined on {}; convert it first",
                self.name(),
                x[0].dtype
            ),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let d = self.def();
        let out = (d.types)(x[0].dtype()).unwrap_or(x[0].dtype());
        let truth = |v: f64| i128::from(v != 0.0);
        let y = match x[0].wide() {
            Wide::F(v) if out == DType::Bool => {
                Wide::I(v.into_iter().map(|x| truth((d.real)(x))).collect())
            }
            Wide::C(v) if out == DType::Bool => {
                Wide::I(v.into_iter().map(|z| truth((d.complex)(z).re)).collect())
            }
            Wide::F(v) => Wide::F(v.into_iter().map(d.real).collect()),
            Wide::I(v) => Wide::I(v.into_iter().map(|i| (d.int)(i, out)).collect()),
            Wide::C(v) if out.is_complex() => Wide::C(v.into_iter().map(d.complex).collect()),
            Wide::C(v) => Wide::F(v.into_iter().map(|z| (d.complex)(z).re).collect()),
        };
        Ok(vec![y.narrow(out, x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        match self {
            Unary::Neg => Some(ShiftRule::Negate),
            Unary::Abs => Some(ShiftRule::Magnitude),
            Unary::Sign => Some(ShiftRule::Sign),
            Unary::Exp => Some(ShiftRule::Exp),
            Unary::Log => Some(ShiftRule::Log),
            Unary::StopGradient => Some(ShiftRule::Fixed),
            _ => None,
        }
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.def().transpose.is_some()
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let dy = t[0].and_then(|t| (self.def().linearize)(cx, x[0], y, t));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        match (self.def().transpose, &x[0], ct[0]) {
            (Some(f), Arg::L(ty), Some(ct)) => Ok(vec![Some(f(cx, ct, ty))]),
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
    /// Complex conjugate. Writes no operation for a real value.
    pub fn conj(&self, x: Val) -> Val {
        if self.ty(x).dtype.is_complex() {
            self.op(Unary::Conj, &[x])
        } else {
            x
        }
    }

    /// Real part. Writes no operation for a real value.
    pub fn real(&self, x: Val) -> Val {
        if self.ty(x).dtype.is_complex() {
            self.op(Unary::Real, &[x])
        } else {
            x
        }
    }
}

impl dyn Emit + '_ {
    /// Imaginary part. Zero for a real value.
    pub fn imag(&self, x: Val) -> Val {
        let ty = self.ty(x);
        if ty.dtype.is_complex() {
            self.op(Unary::Imag, &[x])
        } else {
            self.zeros(&ty)
        }
    }

    /// `x * x`.
    pub fn square(&self, x: Val) -> Val {
        self.mul(x, x)
    }

    /// `|z|²` without the square root: real, and smooth at zero.
    pub fn abs2(&self, z: Val) -> Val {
        if !self.ty(z).dtype.is_complex() {
            return self.square(z);
        }
        self.add(self.square(self.real(z)), self.square(self.imag(z)))
    }

    /// The angle of a complex number, in `(-pi, pi]`. Its gradient at zero is zero.
    pub fn angle(&self, z: Val) -> Val {
        self.atan2(self.imag(z), self.real(z))
    }

    /// `1 / x`.
    pub fn recip(&self, x: Val) -> Val {
        self.div(self.full_like(x, 1.0), x)
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match UNARY.iter().find(|d| d.name == s.name) {
        Some(d) => Ok(d.op.into()),
        None => bail!(
            UnknownOperation,
            "`{}` is not an elementwise function",
            s.name
        ),
    }
}

/// Points at which derivatives are conventions: zeros of both signs, half-way points, poles,
/// saturation, infinities and NaN.
const NONSMOOTH_POINTS: [f64; 16] = [
    0.0,
    -0.0,
    0.5,
    -2.5,
    1.0,
    -1.0,
    -2.0,
    1e-300,
    1e300,
    -1e300,
    40.0,
    1000.0,
    -1000.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Points of the row's domain, for every element type that it is defined on, and nonsmooth points.
fn samples(name: &str) -> Vec<Sample> {
    let d = UNARY
        .iter()
        .find(|d| d.name == name)
        .expect("called with a name of the table");
    let (lo, hi) = d.domain;
    let at = |i: usize| lo + (hi - lo) * [0.13, 0.41, 0.59, 0.77, 0.92, 0.28][i % 6];
    let types = || DType::ALL.into_iter().filter(|&t| (d.types)(t).is_some());
    let smooth = types().map(|t| {
        let wide = match t.kind() {
            Kind::Float => Wide::F((0..6).map(at).collect()),
            Kind::Complex => Wide::C((0..6).map(|i| C128::new(at(i), 0.3 * at(i + 2))).collect()),
            Kind::Int | Kind::Opaque => Wide::I(vec![3, 0, 1, 7, 2, 5]),
            Kind::Bool => Wide::I(vec![1, 0, 1, 1, 0, 0]),
        };
        let x = wide.narrow(t, [2, 3]).expect("six elements");
        // The derivative of `stop_gradient` is zero by definition, not a limit.
        Sample {
            smooth: d.op != Unary::StopGradient,
            ..Sample::new(d.op, vec![x])
        }
    });
    let rough = types().filter(|t| t.kind() != Kind::Bool).map(|t| {
        let (least, most) = if t.is_int() { t.int_range() } else { (0, 0) };
        let wide = match t.kind() {
            Kind::Float => Wide::F(NONSMOOTH_POINTS.to_vec()),
            Kind::Complex => Wide::C(
                (0..16)
                    .map(|i| C128::new(NONSMOOTH_POINTS[i], NONSMOOTH_POINTS[i * 5 % 16]))
                    .collect(),
            ),
            _ => Wide::I(
                (0..16)
                    .map(|i| [least, most, -1, least + 1, most - 1, 0, 1, 2][i % 8])
                    .collect(),
            ),
        };
        Sample::rough(d.op, vec![wide.narrow(t, [16]).expect("sixteen elements")])
    });
    smooth.chain(rough).collect()
}

pub(super) fn entries() -> Vec<Entry> {
    UNARY
        .iter()
        .map(|d| Entry {
            name: d.name,
            doc: d.doc,
            parse,
            samples,
        })
        .collect()
}
