//! `constant`: a value that is part of the program, or a symbolic extent as an integer.

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

/// The elements of a constant.
#[derive(Clone, Debug)]
pub enum Value {
    /// All elements equal.
    Splat(Scalar),
    /// An array of all elements.
    Dense(Array),
    /// All elements equal to a symbolic extent.
    Extent(Dim),
}

impl Constant {
    /// A constant with all elements equal.
    pub fn splat(ty: Type, value: Scalar) -> Constant {
        Constant {
            value: Value::Splat(value.cast(ty.dtype)),
            ty,
        }
    }

    /// Checked form of [`splat`](Self::splat) for a number from program text. Returns an error that
    /// names the operation `op` if the element type cannot represent the number.
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

    /// A constant with these elements.
    pub fn dense(value: Array) -> Constant {
        Constant {
            ty: value.ty(),
            value: Value::Dense(value),
        }
    }

    /// The value, if all elements are equal.
    pub fn as_splat(&self) -> Option<Scalar> {
        match &self.value {
            Value::Splat(s) => Some(*s),
            _ => None,
        }
    }

    /// Whether all elements are `+0`.
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

    fn is_zeros(&self) -> bool {
        self.is_zero()
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
    /// A constant of this type with all elements equal to `value`. An error if the element type
    /// cannot represent the number.
    pub fn full(&self, ty: &Type, value: impl Into<Scalar>) -> Val {
        self.number_of("full", ty, value.into())
    }

    /// As `full`, with the type of `like`.
    pub fn full_like(&self, like: Val, value: impl Into<Scalar>) -> Val {
        self.number_for("full_like", like, value)
    }

    /// As `full_like`, for a number that is an argument of the operation `op`,
    /// which errors name.
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

    /// A constant of this type with all elements equal to an extent.
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

    /// A value as a list of results.
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
        // A word is a symbol.
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
