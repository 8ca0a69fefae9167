//! Elementwise operations: the reader's table in reverse, and formulas for operations that
//! StableHLO lacks.

use super::text::{TextEmitter, show};
use crate::lower::elementwise::ELEMENTWISE;
use crate::lower::row::LoweringRule;
use crate::lower::special;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Comparison, Polygamma, Unary};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Emit, Result, Type, bail};

/// Operations of the dialect `chlo`.
const CHLO: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "conj",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "lgamma",
    "next_after",
    "polygamma",
    "sinh",
    "zeta",
    "bessel_i1e",
];

/// A name with its dialect.
fn full(name: &str) -> String {
    if CHLO.contains(&name) {
        format!("chlo.{name}")
    } else {
        format!("stablehlo.{name}")
    }
}

fn named(how: impl Fn(&LoweringRule) -> bool) -> Option<String> {
    ELEMENTWISE
        .iter()
        .chain(special::SPECIAL_FUNCTIONS)
        .find(|(_, h)| how(h))
        .map(|(n, _)| full(n))
}

pub(super) fn unary(t: &TextEmitter<'_>, op: Unary, x: Val, y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let dtype = cx.ty(x).dtype;
    let number = |v: f64| cx.full_like(x, v);
    let written = match op {
        Unary::StopGradient => x,
        Unary::Conj | Unary::Real if !dtype.is_complex() => x,
        Unary::Imag if !dtype.is_complex() => number(0.0),
        Unary::Conj => cx.complex(cx.real(x), cx.neg(cx.imag(x))),
        Unary::Trunc => cx.select(
            cx.compare(x, Comparison::Lt, number(0.0)),
            cx.ceil(x),
            cx.floor(x),
        ),
        Unary::Real => return Ok(t.plain("stablehlo.real", &[x], y)),
        Unary::Imag => return Ok(t.plain("stablehlo.imag", &[x], y)),
        // By real and imaginary part: a complex product would make NaN of infinite parts.
        Unary::Exp2 if dtype.is_complex() => cx.exp(by_parts(cx, x, |cx, v| {
            cx.scale_by(std::f64::consts::LN_2, v)
        })),
        Unary::Log2 if dtype.is_complex() => by_parts(cx, cx.log(x), |cx, v| {
            cx.scale_by(std::f64::consts::LOG2_E, v)
        }),
        Unary::Exp2 => cx.op(Binary::Pow, &[number(2.0), x]),
        Unary::Log2 => cx.div(cx.log(x), number(std::f64::consts::LN_2)),
        Unary::OneMinusSquare => cx.mul(cx.sub(number(1.0), x), cx.add(number(1.0), x)),
        Unary::SechSquare => {
            let tail = |c: f64| cx.logistic(cx.scale_by(c, x));
            cx.mul(cx.scale_by(4.0, tail(2.0)), tail(-2.0))
        }
        Unary::RecipOnePlusSquare => {
            let near = cx.compare(cx.abs(x), Comparison::Le, number(1.0));
            let far = cx.select(near, number(1.0), x);
            let r = cx.recip(far);
            let small = cx.select(near, x, number(0.0));
            cx.select(
                near,
                cx.recip(cx.add(number(1.0), cx.square(small))),
                cx.div(r, cx.add(far, r)),
            )
        }
        Unary::IsNan if dtype.is_complex() => cx.or(cx.is_nan(cx.real(x)), cx.is_nan(cx.imag(x))),
        Unary::IsNan => cx.compare(x, Comparison::Ne, x),
        Unary::IsFinite if dtype.is_complex() => {
            let finite = |v: Val| cx.op(Unary::IsFinite, &[v]);
            cx.and(finite(cx.real(x)), finite(cx.imag(x)))
        }
        _ => match named(|h| matches!(h, LoweringRule::Unary(u) if *u == op)) {
            Some(name) => return Ok(t.plain(&name, &[x], y)),
            None => bail!(Unsupported, "`{}` has no StableHLO form", op.def().name),
        },
    };
    Ok(Vals::from_slice(&[written]))
}

/// Applies a function to the real and the imaginary part.
fn by_parts(cx: &dyn Emit, x: Val, f: fn(&dyn Emit, Val) -> Val) -> Val {
    cx.complex(f(cx, cx.real(x)), f(cx, cx.imag(x)))
}

pub(super) fn binary(t: &TextEmitter<'_>, op: Binary, x: &[Val], y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let zero_where = |v: Val, other: Val| {
        let zero = cx.full_like(v, 0i64);
        cx.select(cx.compare(v, Comparison::Eq, zero), zero, other)
    };
    let written = match op {
        Binary::Xlogy => zero_where(x[0], cx.mul(x[0], cx.log(x[1]))),
        Binary::MulStrongZero => strong_zero(
            cx,
            cx.or(is_number(cx, x[0], 0.0), is_number(cx, x[1], 0.0)),
            cx.mul(x[0], x[1]),
        ),
        Binary::DivStrongZero => {
            let [re, im] =
                [cx.real(x[1]), cx.imag(x[1])].map(|v| is_number(cx, cx.abs(v), f64::INFINITY));
            let infinite = if cx.ty(x[1]).dtype.is_complex() {
                cx.or(re, im)
            } else {
                re
            };
            strong_zero(
                cx,
                cx.or(is_number(cx, x[0], 0.0), infinite),
                cx.div(x[0], x[1]),
            )
        }
        Binary::AddError => {
            let sum = cx.add(x[0], x[1]);
            let part = cx.sub(sum, x[0]);
            let error = cx.add(cx.sub(x[0], cx.sub(sum, part)), cx.sub(x[1], part));
            cx.select(
                cx.op(Unary::IsFinite, &[sum]),
                error,
                cx.full_like(sum, 0.0),
            )
        }
        _ => match named(|h| matches!(h, LoweringRule::Binary(b) if *b == op)) {
            Some(name) => return Ok(t.plain(&name, x, y)),
            None => bail!(Unsupported, "`{}` has no StableHLO form", op.def().name),
        },
    };
    Ok(Vals::from_slice(&[written]))
}

fn is_number(cx: &dyn Emit, x: Val, c: f64) -> Val {
    cx.compare(x, Comparison::Eq, cx.full_like(x, c))
}

/// `y`, or 0 where `y` is NaN and a factor is zero.
fn strong_zero(cx: &dyn Emit, factor: Val, y: Val) -> Val {
    cx.select(cx.and(factor, cx.is_nan(y)), cx.full_like(y, 0i64), y)
}

/// A contraction with strong zeros: zero times any value is zero. If a result is NaN, the
/// contraction is computed again: from finite factors, and from masks of infinite and NaN terms.
/// Complex products have ordinary zeros.
pub(super) fn with_strong_zeros(
    cx: &dyn Emit,
    x: [Val; 2],
    product: &dyn Fn(&dyn Emit, [Val; 2]) -> Val,
) -> Vals {
    let plain = product(cx, x);
    let ty = cx.ty(plain);
    if !ty.dtype.is_float() {
        return Vals::from_slice(&[plain]);
    }
    let axes: Vec<usize> = (0..ty.rank()).collect();
    let any = cx.reduce_any(cx.is_nan(plain), &axes);
    let recomputed = |cx: &dyn Emit, v: &[Val]| {
        let number = |v: Val, c: f64| cx.full_like(v, c);
        let is = |v: Val, how: Comparison, c: f64| cx.compare(v, how, number(v, c));
        let one_where = |v: Val, occurs: Val| cx.select(occurs, number(v, 1.0), number(v, 0.0));
        // Masks of factors: infinite with this sign, of this sign, NaN, and nonzero.
        let infinite =
            |v: Val, sign: f64| one_where(v, is(v, Comparison::Eq, sign * f64::INFINITY));
        let signed = |v: Val, sign: f64| {
            one_where(
                v,
                is(
                    v,
                    if sign > 0.0 {
                        Comparison::Gt
                    } else {
                        Comparison::Lt
                    },
                    0.0,
                ),
            )
        };
        let undefined = |v: Val| one_where(v, cx.is_nan(v));
        let not_zero = |v: Val| one_where(v, is(v, Comparison::Ne, 0.0));
        let [a, b] = [v[0], v[1]];
        let terms = |sign: f64| {
            let of = |s: f64| {
                let first = product(cx, [infinite(a, s), signed(b, sign * s)]);
                cx.add(first, product(cx, [signed(a, sign * s), infinite(b, s)]))
            };
            cx.add(of(1.0), of(-1.0))
        };
        let nan = cx.add(
            product(cx, [undefined(a), not_zero(b)]),
            product(cx, [not_zero(a), undefined(b)]),
        );
        let finite = |v: Val| cx.select(cx.op(Unary::IsFinite, &[v]), v, number(v, 0.0));
        let mut y = product(cx, [finite(a), finite(b)]);
        for (count, term) in [
            (terms(1.0), f64::INFINITY),
            (terms(-1.0), f64::NEG_INFINITY),
            (nan, f64::NAN),
        ] {
            let occurs = is(count, Comparison::Gt, 0.0);
            y = cx.add(y, cx.select(occurs, number(y, term), number(y, 0.0)));
        }
        vec![cx.select(cx.is_nan(v[2]), y, v[2])]
    };
    cx.cond(any, &[x[0], x[1], plain], recomputed, |_, v| vec![v[2]])
        .into()
}

/// The comparison type of `compare` for an element type.
fn kind(d: DType) -> &'static str {
    match d.kind() {
        Kind::Float | Kind::Complex => "FLOAT",
        Kind::Int if d.is_signed() => "SIGNED",
        _ => "UNSIGNED",
    }
}

fn word(c: Comparison) -> &'static str {
    ["EQ", "NE", "LT", "LE", "GT", "GE"][c as usize]
}

pub(super) fn compare(t: &TextEmitter<'_>, c: Comparison, x: &[Val], y: Vec<Type>) -> Vals {
    compare_as(t, c, x, y, kind(t.ty(x[0]).dtype))
}

/// A comparison in total order for floats, an ordinary one for other types.
pub(super) fn total(t: &TextEmitter<'_>, c: Comparison, a: Val, b: Val) -> Val {
    let ty = t.ty(a);
    let kind = if ty.dtype.is_float() {
        "TOTALORDER"
    } else {
        kind(ty.dtype)
    };
    compare_as(t, c, &[a, b], vec![ty.with_dtype(DType::Bool)], kind)[0]
}

fn compare_as(t: &TextEmitter<'_>, c: Comparison, x: &[Val], y: Vec<Type>, kind: &str) -> Vals {
    let text = format!(
        "stablehlo.compare {}, {}, {kind} : {}",
        word(c),
        t.list(x),
        t.signature(x, &y)
    );
    t.line(&text, y)
}

pub(super) fn select(t: &TextEmitter<'_>, x: &[Val], y: Vec<Type>) -> Vals {
    let text = format!(
        "stablehlo.select {} : {}, {}",
        t.list(x),
        show(&t.ty(x[0])),
        show(&y[0])
    );
    t.line(&text, y)
}

/// Writes `x^n` by repeated squaring.
pub(super) fn integer_pow(t: &TextEmitter<'_>, x: Val, n: i64) -> Vals {
    let cx: &dyn Emit = t;
    let (mut power, mut left, mut y) = (x, n.unsigned_abs(), None);
    while left > 0 {
        if left & 1 == 1 {
            y = Some(y.map_or(power, |y| cx.mul(y, power)));
        }
        left >>= 1;
        if left > 0 {
            power = cx.mul(power, power);
        }
    }
    let one = || cx.full_like(x, 1i64);
    let y = y.unwrap_or_else(one);
    Vals::from_slice(&[if n < 0 { cx.div(one(), y) } else { y }])
}

pub(super) fn polygamma(t: &TextEmitter<'_>, p: &Polygamma, x: Val, y: Vec<Type>) -> Vals {
    let cx: &dyn Emit = t;
    if p.order == 0 {
        return Vals::from_slice(&[cx.op(Unary::Digamma, &[x])]);
    }
    let order = cx.full_like(x, f64::from(p.order));
    t.plain("chlo.polygamma", &[order, x], y)
}

/// Writes a conversion. Complex to real takes the real part; to boolean compares with zero.
pub(super) fn convert(t: &TextEmitter<'_>, x: Val, y: Vec<Type>) -> Vals {
    let cx: &dyn Emit = t;
    let (from, to) = (cx.ty(x).dtype, y[0].dtype);
    if from == to {
        return Vals::from_slice(&[x]);
    }
    if from.is_complex() && to == DType::Bool {
        return Vals::from_slice(&[cx.compare(x, Comparison::Ne, cx.full_like(x, 0.0))]);
    }
    let x = if from.is_complex() && !to.is_complex() {
        cx.real(x)
    } else {
        x
    };
    if cx.ty(x).dtype == to {
        return Vals::from_slice(&[x]);
    }
    let text = format!(
        "stablehlo.convert {} : {}",
        t.name(x),
        t.signature(&[x], &y)
    );
    t.line(&text, y)
}
