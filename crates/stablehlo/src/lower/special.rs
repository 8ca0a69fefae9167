//! Operations with attributes that have a direct counterpart in the core: special functions, bit
//! casts, Fourier transforms, random bits.

use super::attributes::{attribute, find, sizes};
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule, LoweringRule::Custom};
use crate::ast::{Attr, Operation, Signature, Ty};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Comparison, Unary};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Emit, Op, Result, Scalar, Val, bail};

pub(crate) const SPECIAL_FUNCTIONS: &[LoweringRow] = &[
    ("count_leading_zeros", LoweringRule::Unary(Unary::Clz)),
    ("polygamma", Custom(polygamma)),
    (
        "zeta",
        Custom(|f, op| binary(f, op, |cx, x, y| cx.zeta(x, y))),
    ),
    (
        "next_after",
        Custom(|f, op| binary(f, op, |cx, x, y| cx.next_after(x, y))),
    ),
    (
        "bessel_i0e",
        Custom(|f, op| unary(f, op, |cx, x| cx.bessel_ie(0, x))),
    ),
    (
        "bessel_i1e",
        Custom(|f, op| unary(f, op, |cx, x| cx.bessel_ie(1, x))),
    ),
    (
        "igamma",
        Custom(|f, op| binary(f, op, |cx, x, y| cx.igamma(x, y))),
    ),
    (
        "igammac",
        Custom(|f, op| binary(f, op, |cx, x, y| cx.igammac(x, y))),
    ),
    ("bitcast_convert", Custom(bitcast)),
    ("reduce_precision", Custom(reduce_precision)),
    ("fft", Custom(fft)),
    ("rng_bit_generator", Custom(rng_bit_generator)),
];

fn unary(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    write: fn(&dyn Emit, Val) -> Val,
) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    one(write(f.cx(), x))
}

fn binary(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    write: fn(&dyn Emit, Val, Val) -> Val,
) -> Result<Vals> {
    let [x, y] = f.operand_array(op)?;
    one(write(f.cx(), x, y))
}

/// Lowers `chlo.polygamma`. The order is an operand; unless it is a constant, the zeta function is
/// used.
fn polygamma(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [order, x] = f.operand_array(op)?;
    let cx = f.cx();
    if let Some(Scalar::F(n)) = f.number(order)
        && n >= 0.0
        && n.fract() == 0.0
        && n < 1001.0
    {
        return one(cx.polygamma(n as u32, x));
    }
    // (-1)^(n+1) n! zeta(n + 1, x), and digamma for n = 0.
    use cotangent_core::ops::Comparison::{Eq, Ne};
    let (zero, next) = (
        cx.full_like(order, 0.0),
        cx.add(order, cx.full_like(order, 1.0)),
    );
    let even = cx.compare(cx.rem(order, cx.full_like(order, 2.0)), Eq, zero);
    let sign = cx.select(even, cx.full_like(x, -1.0), cx.full_like(x, 1.0));
    let y = cx.mul(cx.mul(sign, cx.exp(cx.lgamma(next))), cx.zeta(next, x));
    let whole = cx.compare(cx.floor(order), Ne, order);
    let y = cx.select(whole, cx.full_like(x, f64::NAN), y);
    one(cx.select(cx.compare(order, Eq, zero), cx.digamma(x), y))
}

fn bitcast(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let given = if let Signature::Function(types, _) = &op.signature {
        types.first()
    } else {
        None
    };
    let gives = op.result_types().and_then(|t| t.first());
    if [given, gives]
        .into_iter()
        .flatten()
        .any(|t| matches!(t, Ty::Narrow(..)))
    {
        return f.bitcast_narrow(op, x, given, gives);
    }
    let to = f.result(op, 0)?.dtype;
    let y = f.cx().bitcast(x, to);
    one(mantissa_of(f, x, to).map_or(y, |of| scaled(f.cx(), of, y)))
}

/// The float whose exponent bits were replaced to compute `bits`:
/// `(bits of the float & !exponent) | constant`, JAX's form of `frexp`.
fn mantissa_of(f: &FunctionLowering<'_>, bits: Val, to: DType) -> Option<Val> {
    let exponent: i128 = match to {
        DType::F64 => 0x7FF << 52,
        DType::F32 => 0xFF << 23,
        DType::F16 => 0x1F << 10,
        DType::BF16 => 0xFF << 7,
        _ => return None,
    };
    let all = (1i128 << (8 * to.size())) - 1;
    let constant = |v: Val| match f.number(v)? {
        Scalar::I(i) => Some(i & all),
        _ => None,
    };
    // The operand of a bitwise operation with a constant, and the constant.
    let masked = |v: Val, is: Binary| {
        let x = f
            .with_def(v, |op, x| {
                matches!(op, Op::Binary(b) if *b == is).then(|| [x[0], x[1]])
            })
            .flatten()?;
        let [a, b] = x;
        constant(b)
            .map(|c| (a, c))
            .or_else(|| constant(a).map(|c| (b, c)))
    };
    let (rest, set) = masked(bits, Binary::Or)?;
    let (whole, kept) = masked(rest, Binary::And)?;
    if set & !exponent != 0 || kept != all & !exponent {
        return None;
    }
    let of = f
        .with_def(whole, |op, x| matches!(op, Op::Bitcast(_)).then(|| x[0]))
        .flatten()?;
    (f.cx().ty(of).dtype == to).then_some(of)
}

/// `y` expressed as `x` times a power of two, so that it has a derivative. Zeros, infinities and
/// NaN are unchanged.
fn scaled(cx: &dyn Emit, x: Val, y: Val) -> Val {
    let factor = cx.stop_gradient(cx.div(y, x));
    let product = cx.mul(x, factor);
    cx.select(cx.compare(product, Comparison::Eq, y), product, y)
}

/// Lowers `reduce_precision`, with `format = e5m10` or two attributes.
fn reduce_precision(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let wrong = || attribute(op, "format", "a format like e5m10");
    let format = op
        .attr("format")
        .or_else(|| op.unnamed().next())
        .and_then(Attr::word);
    let bits = match format {
        Some(w) => {
            let (e, m) = w
                .strip_prefix('e')
                .and_then(|w| w.split_once('m'))
                .ok_or_else(wrong)?;
            [e.parse().ok(), m.parse().ok()]
        }
        None => ["exponent_bits", "mantissa_bits"].map(|n| {
            op.attr(n)
                .and_then(Attr::int)
                .and_then(|i| i.try_into().ok())
        }),
    };
    let [Some(exponent), Some(mantissa)] = bits else {
        return Err(wrong());
    };
    one(f.cx().reduce_precision(x, exponent, mantissa))
}

/// Lowers `fft`: a transform over the last axes. The last `length` is the extent of the real side.
fn fft(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let cx = f.cx();
    let length = sizes(op, &["fft_length", "length"])?;
    let kind = find(op, &["fft_type", "type"])
        .or_else(|| op.unnamed().next())
        .and_then(Attr::word);
    let ty = cx.ty(x);
    let Some(first) = ty.rank().checked_sub(length.len()) else {
        return Err(attribute(
            op,
            "length",
            "an entry for each of the last axes",
        ));
    };
    let axes: Vec<usize> = (first..ty.rank()).collect();
    // `length` must equal the extents of the operand, except for the last one of IRFFT.
    let whole = if kind == Some("IRFFT") {
        length.len().saturating_sub(1)
    } else {
        length.len()
    };
    if (0..whole).any(|k| ty.shape[first + k].same(&length[k].into()) == Some(false)) {
        return Err(attribute(op, "length", "the extents of the last axes"));
    }
    one(match kind {
        Some("FFT") => cx.fftn(x, &axes),
        Some("IFFT") => cx.ifftn(x, &axes),
        Some("RFFT") => cx.rfftn(x, &axes),
        Some("IRFFT") => cx.irfftn(x, length.last().copied().unwrap_or(1), &axes),
        _ => return Err(attribute(op, "type", "one of FFT, IFFT, RFFT, IRFFT")),
    })
}

/// Lowers `rng_bit_generator`: the new state, and random bits.
fn rng_bit_generator(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [state] = f.operand_array(op)?;
    let (cx, bits) = (f.cx(), f.result(op, 1)?);
    let algorithm = op
        .attr("rng_algorithm")
        .or_else(|| op.attr("algorithm"))
        .or_else(|| op.unnamed().next());
    let philox = match algorithm.and_then(Attr::word) {
        Some("THREE_FRY") => false,
        Some("PHILOX" | "DEFAULT") => true,
        _ => {
            return Err(attribute(
                op,
                "algorithm",
                "one of DEFAULT, THREE_FRY, PHILOX",
            ));
        }
    };
    let Some(shape) = bits.shape.as_const() else {
        bail!(
            UnknownOperation,
            "`{}` of an unknown number of bits ({bits}) is not supported",
            op.name
        )
    };
    if !matches!(bits.dtype.kind(), Kind::Int | Kind::Float)
        || matches!(bits.dtype, DType::F16 | DType::BF16)
    {
        bail!(
            UnknownOperation,
            "`{}` of type {bits} is not supported",
            op.name
        )
    }
    let (state, bits) = cx.rng_bit_generator(philox, state, &shape, bits.dtype);
    Ok([state, bits].into_iter().collect())
}
