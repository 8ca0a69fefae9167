//! `constant`: a value known when the program is written, or an extent known when it runs.

use super::entry::{Entry, Spelled, arity};
use super::support::cost_per_element;
use crate::array::{Array, Scalar};
use crate::bail;
use crate::error::{Error, Result};
use crate::ir::{
    Arg, Attr, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, ShiftRule,
    Val, Vals, no_rule,
};
use crate::shape::{Dim, Env, Type};

/// A constant of a type.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Type of the result; a dense value has constant extents.
    pub ty: Type,
    /// The elements.
    pub value: Value,
}

/// How the elements of a constant are given.
#[derive(Clone, Debug)]
pub enum Value {
    /// One value everywhere.
    Splat(Scalar),
    /// Every element.
    Dense(Array),
    /// An extent as a number, everywhere: `n` of the arguments' shapes.
    Extent(Dim),
}

impl Constant {
    /// One value everywhere.
    pub fn splat(ty: Type, value: Scalar) -> Constant {
        Constant {
            value: Value::Splat(value.cast(ty.dtype)),
            ty,
        }
    }

    /// As [`splat`](Self::splat), for a number that somebody wrote: an error, in the name of the
    /// operation that takes it, if the element type has no such number.
    pub fn number(op: &str, ty: &Type, value: Scalar) -> Result<Constant> {
        match value.number(ty.dtype) {
            Ok(s) => Ok(Constant::splat(ty.clone(), s)),
            Err(e) => {
                let to = if matches!(value, Scalar::F(x) if x.fract() != 0.0) {
                    "float"
                } else {
                    "wider type"
                };
                Err(Error::new(
                    e.code(),
                    format!("`{op}` of {ty}: {}; convert to a {to} first", e.message()),
                ))
            }
        }
    }

    /// Every element.
    pub fn dense(value: Array) -> Constant {
        Constant {
            ty: value.ty(),
            value: Value::Dense(value),
        }
    }

    /// The one value, if it is one everywhere.
    pub fn as_splat(&self) -> Option<Scalar> {
        match &self.value {
            Value::Splat(s) => Some(*s),
            _ => None,
        }
    }

    /// `+0` everywhere.
    pub fn is_zero(&self) -> bool {
        self.as_splat() == Some(Scalar::I(0).cast(self.ty.dtype))
    }
}

impl Primitive for Constant {
    fn name(&self) -> &str {
        "constant"
    }

    fn attrs(&self) -> Attrs {
        let value: Attr = match &self.value {
            Value::Splat(Scalar::I(i)) if self.ty.dtype == crate::DType::Bool => (*i != 0).into(),
            Value::Splat(s) => (*s).into(),
            Value::Dense(a) => a.clone().into(),
            Value::Extent(d) => d.clone().into(),
        };
        Attrs::default().with("value", value)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 0)?;
        Ok(vec![self.ty.clone()])
    }

    fn eval(&self, _: &[Array], env: &Env) -> Result<Vec<Array>> {
        let full = |s: Scalar| s.full(self.ty.dtype, self.ty.shape.eval(env)?);
        Ok(vec![match &self.value {
            Value::Splat(s) => full(*s)?,
            Value::Dense(a) => a.clone(),
            Value::Extent(d) => full(Scalar::I(d.eval(env)? as i128))?,
        }])
    }

    fn linearize(&self, cx: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(self.clone(), &[]), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(Vec::new())
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        Some(ShiftRule::Fixed)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let ty = self
            .ty
            .with_shape(self.ty.shape.iter().map(f).collect::<Vec<_>>());
        let value = match &self.value {
            Value::Extent(d) => match f(d) {
                Dim::Const(n) => Value::Splat(Scalar::I(n as i128).cast(ty.dtype)),
                d => Value::Extent(d),
            },
            v => v.clone(),
        };
        Some(Constant { ty, value }.into())
    }
}

impl dyn Emit + '_ {
    /// A value of this type with `value` everywhere; an error if the element type has no such
    /// number.
    pub fn full(&self, ty: &Type, value: impl Into<Scalar>) -> Val {
        self.number_of("full", ty, value.into())
    }

    /// As [`full`](Self::full), of the type of `like`.
    pub fn full_like(&self, like: Val, value: impl Into<Scalar>) -> Val {
        self.number_for("full_like", like, value)
    }

    /// As [`full_like`](Self::full_like), for a number that the operation of this name takes: its
    /// errors say so.
    pub fn number_for(&self, op: &str, like: Val, value: impl Into<Scalar>) -> Val {
        self.number_of(op, &self.ty(like), value.into())
    }

    fn number_of(&self, op: &str, ty: &Type, value: Scalar) -> Val {
        match Constant::number(op, ty, value) {
            Ok(c) => self.op(c, &[]),
            Err(e) => {
                self.fail(e.at(self.loc()));
                Val::POISON
            }
        }
    }

    /// A constant array.
    pub fn constant(&self, value: Array) -> Val {
        self.op(Constant::dense(value), &[])
    }

    /// An extent as a number of this type everywhere.
    pub fn extent(&self, ty: &Type, dim: &Dim) -> Val {
        match dim.as_const() {
            Some(n) => self.full(ty, Scalar::I(n as i128)),
            None => self.op(
                Constant {
                    ty: ty.clone(),
                    value: Value::Extent(dim.clone()),
                },
                &[],
            ),
        }
    }

    /// A value, with nothing done to it, as a list of results.
    pub fn vals(&self, v: Val) -> Vals {
        Vals::from_slice(&[v])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let value: Attr = s.attrs.get("value")?;
    Ok(match (value, s.results) {
        (Attr::Array(a), Some([t])) if a.dtype() == t.dtype && !a.ty().differs(t) => {
            Constant::dense(a).into()
        }
        (Attr::Array(a), None) => Constant::dense(a).into(),
        (Attr::Array(a), Some(t)) => {
            bail!(ShapeMismatch, "the constant has type {}, not {t:?}", a.ty())
        }
        (Attr::Num(v), Some([t])) => Constant::splat(t.clone(), v.exact(t.dtype)?).into(),
        (Attr::Bool(v), Some([t])) => Constant::splat(t.clone(), v.into()).into(),
        (Attr::Dim(d), Some([t])) => Constant {
            ty: t.clone(),
            value: Value::Extent(d),
        }
        .into(),
        // A word is the name of an extent.
        (Attr::Str(s), Some([t])) => Constant {
            ty: t.clone(),
            value: Value::Extent(Dim::sym(&s)),
        }
        .into(),
        (Attr::Bool(v), None) => Constant::splat(Type::scalar(crate::DType::Bool), v.into()).into(),
        (Attr::Num(_) | Attr::Dim(_) | Attr::Str(_), _) => {
            bail!(
                Syntax,
                "a constant number needs its type: `: f64` or `: tensor<2x3xf32>`"
            )
        }
        _ => bail!(
            Attribute,
            "the attribute `value` must be a number, a dimension, or an array as in `dense<[1.0, 2.0]> : tensor<2xf32>`"
        ),
    })
}

fn samples(_: &str) -> Vec<Sample> {
    let ty = Type::new(crate::DType::F64, [2, 3]);
    let dense = Array::vector(vec![1.5f32, -2.0]);
    vec![
        Sample::new(Constant::splat(ty, 2.5.into()), vec![]),
        Sample::new(Constant::dense(dense), vec![]),
        Sample::new(
            Constant::splat(Type::scalar(crate::DType::C64), 1i64.into()),
            vec![],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "constant",
        doc: "A constant: a number, an array, or an extent.",
        parse,
        samples,
    }]
}
