//! `convert`: change of element type. Between floats it rounds. To integers it truncates and
//! saturates. To booleans it is `x != 0`. From complex to real it takes the real part. It has a
//! derivative between floats and complex numbers only.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample,
    ShiftRule, Val,
};
use crate::shape::{Dim, Env, Type};

/// Conversion to an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convert {
    /// The result's element type.
    pub to: DType,
}

impl Primitive for Convert {
    fn name(&self) -> &str {
        "convert"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("to", self.to)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        Ok(vec![x[0].with_dtype(self.to)])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (lo, hi) = if self.to.is_int() {
            self.to.int_range()
        } else {
            (0, 1)
        };
        let y = match (x[0].wide(), self.to.kind()) {
            (Wide::F(v), Kind::Int) => {
                Wide::I(v.into_iter().map(|x| (x as i128).clamp(lo, hi)).collect())
            }
            (Wide::F(v), Kind::Bool) => {
                Wide::I(v.into_iter().map(|x| (x != 0.0) as i128).collect())
            }
            (Wide::F(v), Kind::Complex) => {
                Wide::C(v.into_iter().map(|x| C128::new(x, 0.0)).collect())
            }
            (Wide::C(v), Kind::Float) => Wide::F(v.into_iter().map(|z| z.re).collect()),
            (Wide::C(v), Kind::Int) => Wide::I(
                v.into_iter()
                    .map(|z| (z.re as i128).clamp(lo, hi))
                    .collect(),
            ),
            (Wide::C(v), Kind::Bool) => {
                Wide::I(v.into_iter().map(|z| (z != C128::ZERO) as i128).collect())
            }
            (Wide::I(v), Kind::Float) if self.to == DType::F32 => {
                Wide::F(v.into_iter().map(|i| f64::from(i as f32)).collect())
            }
            (Wide::I(v), Kind::Float) => Wide::F(v.into_iter().map(|i| i as f64).collect()),
            (Wide::I(v), Kind::Complex) => {
                Wide::C(v.into_iter().map(|i| C128::new(i as f64, 0.0)).collect())
            }
            (same, _) => same,
        };
        Ok(vec![y.narrow(self.to, x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        self.to.is_float().then_some(ShiftRule::Convert)
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.to.has_tangent()
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        if self.to.has_tangent() {
            Ok(cx.itself(&(*self).into(), x, t))
        } else {
            Ok(cx.one(cx.op(*self, x), None))
        }
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) else {
            return Ok(vec![None]);
        };
        // The conversion from real to complex and the real part are adjoint to each other.
        Ok(vec![Some(cx.convert(ct, ty.dtype))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Converts `x` to another element type. Writes no operation if it has that type.
    pub fn convert(&self, x: Val, to: DType) -> Val {
        if self.ty(x).dtype == to {
            x
        } else {
            self.op(Convert { to }, &[x])
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match (s.attrs.opt("to")?, s.results) {
        (Some(to), _) => Ok(Convert { to }.into()),
        (None, Some([t])) => Ok(Convert { to: t.dtype }.into()),
        _ => bail!(
            Attribute,
            "the attribute `to`, or the type of the result, is missing"
        ),
    }
}

fn samples(_: &str) -> Vec<Sample> {
    let f = Array::vector(vec![1.5f64, -2.25, 0.0]);
    let c = Array::vector(vec![C128::new(1.5, 0.5), C128::new(-2.0, 1.0)]);
    let i = Array::vector(vec![3i32, -1, 300]);
    let mut out = Vec::new();
    for to in DType::ALL {
        out.push(Sample {
            smooth: to.size() >= 4,
            ..Sample::new(Convert { to }, vec![f.clone()])
        });
        out.push(Sample::new(Convert { to }, vec![i.clone()]));
        out.push(Sample {
            smooth: to.size() >= 4,
            ..Sample::new(Convert { to }, vec![c.clone()])
        });
        out.push(Sample::new(
            Convert { to },
            vec![Array::vector(vec![true, false])],
        ));
        out.push(Sample::rough(
            Convert { to },
            vec![Array::vector(vec![
                1e300,
                -1e300,
                f64::NAN,
                f64::INFINITY,
                -0.5,
            ])],
        ));
    }
    out.push(Sample::new(
        Convert { to: DType::F64 },
        vec![Array::vector(vec![1.5f32, -2.25])],
    ));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "convert",
        doc: "Change of element type.",
        parse,
        samples,
    }]
}
