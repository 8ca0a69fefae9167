//! Elementwise functions of one operand: a table, a row per function.
//!
//! For holomorphic `f`, `dy = f'(x) dx`, in real and complex arithmetic alike; `transpose` of a multiplication
//! conjugates. Rows that are linear say how they are transposed.

use super::support::{batch_elementwise, cost_per_element};
use super::{Entry, Op, Spelled, arity};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::emit::Emit;
use crate::error::Result;
use crate::primitive::{Arg, Batched, Cost, Linearized, Primitive, Sample, Val, no_rule};
use crate::shape::{Dim, Env, Type};
use crate::transform::{Lin, Lv};

/// The functions; [`Unary::def`] says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Exp,
    Log,
    Sin,
    Cos,
    Tanh,
    Conj,
    Real,
    StopGradient,
}

/// What a row says of its function.
pub struct UnaryDef {
    /// The function.
    pub op: Unary,
    /// Its name in the text form.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The result's element type for the operand's, `None` where it is not defined.
    pub types: fn(DType) -> Option<DType>,
    /// Its value on reals.
    pub real: fn(f64) -> f64,
    /// Its value on complex numbers (the real part counts where the result is real).
    pub complex: fn(C128) -> C128,
    /// Its value on integers and booleans; the result is wrapped to the type.
    pub int: fn(i128, DType) -> i128,
    /// An interval where it is smooth, for samples.
    pub domain: (f64, f64),
    /// Work per element, in additions.
    pub flops: f64,
    /// The derivative: operand, result, tangent.
    pub linearize: fn(&Lin<'_>, Val, Val, Lv) -> Option<Lv>,
    /// The adjoint, for linear rows: cotangent and the operand's type.
    pub transpose: Option<fn(&dyn Emit, Val, &Type) -> Val>,
}

fn float_or_complex(d: DType) -> Option<DType> {
    matches!(d.kind(), Kind::Float | Kind::Complex).then_some(d)
}

fn any(d: DType) -> Option<DType> {
    Some(d)
}

fn signed(d: DType) -> Option<DType> {
    (d != DType::Bool).then_some(d)
}

fn to_real(d: DType) -> Option<DType> {
    float_or_complex(d).map(DType::real)
}

fn no_int(_: i128, _: DType) -> i128 {
    unreachable!("the type rule admits no integers")
}

/// A row with the parts that most share.
const fn row(op: Unary, name: &'static str, doc: &'static str) -> UnaryDef {
    UnaryDef {
        op,
        name,
        doc,
        types: float_or_complex,
        real: |x| x,
        complex: |z| z,
        int: no_int,
        domain: (-2.0, 2.0),
        flops: 1.0,
        linearize: |_, _, _, _| None,
        transpose: None,
    }
}

/// The table, in the order of the enum.
pub static UNARY: &[UnaryDef] = &[
    UnaryDef {
        types: signed,
        real: |x| -x,
        complex: |z| -z,
        int: |i, _| -i,
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Neg, &[t.into()])),
        transpose: Some(|cx, ct, _| cx.neg(ct)),
        ..row(Unary::Neg, "neg", "-x")
    },
    UnaryDef {
        real: libm::exp,
        complex: |z| z.exp(),
        flops: 10.0,
        linearize: |cx, _, y, t| Some(cx.scale(y, t)),
        ..row(Unary::Exp, "exp", "e^x")
    },
    UnaryDef {
        real: libm::log,
        complex: |z| z.ln(),
        flops: 10.0,
        domain: (0.2, 3.0),
        linearize: |cx, x, _, t| Some(cx.unscale(t, x)),
        ..row(Unary::Log, "log", "natural logarithm; the principal branch on complex numbers")
    },
    UnaryDef {
        real: libm::sin,
        complex: |z| z.sin(),
        flops: 10.0,
        linearize: |cx, x, _, t| Some(cx.scale(cx.cos(x), t)),
        ..row(Unary::Sin, "sin", "sine")
    },
    UnaryDef {
        real: libm::cos,
        complex: |z| z.cos(),
        flops: 10.0,
        linearize: |cx, x, _, t| Some(cx.scale(cx.neg(cx.sin(x)), t)),
        ..row(Unary::Cos, "cos", "cosine")
    },
    UnaryDef {
        real: libm::tanh,
        complex: |z| z.tanh(),
        flops: 10.0,
        // 1 - y² as (1 - y)(1 + y): no cancellation of the square near saturation.
        linearize: |cx, _, y, t| {
            let one = cx.full_like(y, 1.0);
            Some(cx.scale(cx.mul(cx.sub(one, y), cx.add(one, y)), t))
        },
        ..row(Unary::Tanh, "tanh", "hyperbolic tangent")
    },
    UnaryDef {
        complex: |z| z.conj(),
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Conj, &[t.into()])),
        transpose: Some(|cx, ct, _| cx.conj(ct)),
        ..row(Unary::Conj, "conj", "complex conjugate")
    },
    UnaryDef {
        types: to_real,
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Real, &[t.into()])),
        transpose: Some(|cx, ct, ty| cx.convert(ct, ty.dtype)),
        ..row(Unary::Real, "real", "real part")
    },
    UnaryDef {
        types: any,
        int: |i, _| i,
        flops: 0.0,
        ..row(Unary::StopGradient, "stop_gradient", "the identity, with derivative zero")
    },
];

impl Unary {
    /// Its row.
    pub fn def(self) -> &'static UnaryDef {
        &UNARY[self as usize]
    }
}

impl Primitive for Unary {
    fn name(&self) -> &str {
        self.def().name
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        match (self.def().types)(x[0].dtype) {
            Some(d) => Ok(vec![x[0].with_dtype(d)]),
            None => bail!(DTypeMismatch, "`{}` is not defined on {}; convert it first", self.name(), x[0].dtype),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let d = self.def();
        let out = (d.types)(x[0].dtype()).unwrap_or(x[0].dtype());
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(v.into_iter().map(d.real).collect()),
            Wide::I(v) => Wide::I(v.into_iter().map(|i| (d.int)(i, out)).collect()),
            Wide::C(v) if out.is_complex() => Wide::C(v.into_iter().map(d.complex).collect()),
            Wide::C(v) => Wide::F(v.into_iter().map(|z| (d.complex)(z).re).collect()),
        };
        Ok(vec![y.narrow(out, x[0].shape())?])
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
        batch_elementwise(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(self.def().flops, x, y)
    }
}

/// `cx.exp(x)`: a method per row.
macro_rules! methods {
    ($($method:ident $op:ident),* $(,)?) => {
        impl dyn Emit + '_ {
            $(#[doc = concat!("Elementwise `", stringify!($method), "`.")]
            pub fn $method(&self, x: Val) -> Val {
                self.op(Unary::$op, &[x])
            })*
        }
    };
}

methods! { neg Neg, exp Exp, log Log, sin Sin, cos Cos, tanh Tanh, stop_gradient StopGradient }

impl dyn Emit + '_ {
    /// Complex conjugate; nothing is written for a real value, so that real graphs stay clean.
    pub fn conj(&self, x: Val) -> Val {
        if self.ty(x).dtype.is_complex() { self.op(Unary::Conj, &[x]) } else { x }
    }

    /// Real part; nothing is written for a real value.
    pub fn real(&self, x: Val) -> Val {
        if self.ty(x).dtype.is_complex() { self.op(Unary::Real, &[x]) } else { x }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match UNARY.iter().find(|d| d.name == s.name) {
        Some(d) => Ok(d.op.into()),
        None => bail!(UnknownOperation, "`{}` is not an elementwise function", s.name),
    }
}

/// Points of the row's domain, for every element type that it is defined on.
fn samples(name: &str) -> Vec<Sample> {
    let d = UNARY.iter().find(|d| d.name == name).expect("called with a name of the table");
    let (lo, hi) = d.domain;
    let at = |i: usize| lo + (hi - lo) * [0.13, 0.41, 0.59, 0.77, 0.92, 0.28][i % 6];
    DType::ALL
        .into_iter()
        .filter(|&t| (d.types)(t).is_some())
        .map(|t| {
            let wide = match t.kind() {
                Kind::Float => Wide::F((0..6).map(at).collect()),
                Kind::Complex => Wide::C((0..6).map(|i| C128::new(at(i), 0.3 * at(i + 2))).collect()),
                Kind::Int => Wide::I(vec![3, 0, 1, 7, 2, 5]),
                Kind::Bool => Wide::I(vec![1, 0, 1, 1, 0, 0]),
            };
            Sample::new(d.op, vec![wide.narrow(t, [2, 3]).expect("six elements")])
        })
        .collect()
}

pub(super) fn entries() -> Vec<Entry> {
    UNARY.iter().map(|d| Entry { name: d.name, doc: d.doc, parse, samples }).collect()
}
