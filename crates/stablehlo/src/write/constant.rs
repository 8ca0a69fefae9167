//! Constants: lists of shortest decimals that parse to the same bits, hexadecimal bits for values
//! without a decimal, and bytes in memory order for large arrays.

use super::text::{TextEmitter, show};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Constant, Value};
use cotangent_core::primitive::Vals;
use cotangent_core::{Array, DType, Dim, Emit, Result, Scalar, Type, Wide, bf16, f16};

/// Maximum number of elements of a constant that is written as a list. Larger ones are written as
/// bytes.
const MAX_LISTED_ELEMENTS: usize = 32;

pub(super) fn write(t: &TextEmitter<'_>, c: &Constant) -> Result<Vals> {
    let Some(text) = literal(c) else {
        return spread(t, &c.value, &c.ty);
    };
    Ok(Vals::from_slice(&[t.constant(
        format!("stablehlo.constant {text} : {}", show(&c.ty)),
        &c.ty,
    )]))
}

/// `dense<..>`, unless the type or the value has a symbol.
pub(super) fn literal(c: &Constant) -> Option<String> {
    let shape = c.ty.shape.as_const();
    match &c.value {
        Value::Dense(a) => Some(dense(a)),
        Value::Splat(_) if shape.as_ref()?.contains(&0) => Some("dense<>".into()),
        Value::Splat(s) => shape.map(|_| format!("dense<{}>", scalar(*s, c.ty.dtype))),
        Value::Extent(_) => None,
    }
}

/// A number or an extent, broadcast to a symbolic shape.
fn spread(t: &TextEmitter<'_>, value: &Value, ty: &Type) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let one = match value {
        Value::Extent(d) => cx.convert(t.extent_value(d)?, ty.dtype),
        Value::Splat(s) => cx.op(Constant::splat(Type::scalar(ty.dtype), *s), &[]),
        Value::Dense(a) => cx.constant(a.clone()),
    };
    let shape: &[Dim] = &ty.shape;
    Ok(Vals::from_slice(&[cx.broadcast_in_dim(one, shape, &[])]))
}

fn scalar(s: Scalar, dtype: DType) -> String {
    match s {
        Scalar::I(i) if dtype == DType::Bool => (i != 0).to_string(),
        Scalar::I(i) => i.to_string(),
        Scalar::F(x) => float(x, dtype),
        Scalar::C(z) => format!(
            "({}, {})",
            float(z.re, dtype.real()),
            float(z.im, dtype.real())
        ),
    }
}

/// A float as a decimal with a point, or its bits in hexadecimal.
pub(super) fn float(x: f64, dtype: DType) -> String {
    if !x.is_finite() {
        return match dtype {
            DType::F16 => format!("0x{:04X}", f16::from_f64(x).to_bits()),
            DType::BF16 => format!("0x{:04X}", bf16::from_f64(x).to_bits()),
            DType::F32 => format!("0x{:08X}", (x as f32).to_bits()),
            _ => format!("0x{:016X}", x.to_bits()),
        };
    }
    let text = if dtype == DType::F64 {
        format!("{x:?}")
    } else {
        format!("{:?}", x as f32)
    };
    match text.split_once('e') {
        Some((mantissa, power)) if !mantissa.contains('.') => format!("{mantissa}.0e{power}"),
        _ => text,
    }
}

fn dense(a: &Array) -> String {
    let (dtype, shape) = (a.dtype(), a.shape());
    if a.is_empty() {
        return "dense<>".into();
    }
    let wide = a.wide();
    if a.len() > MAX_LISTED_ELEMENTS && dtype != DType::Bool {
        let hex: String = bytes(&wide, dtype)
            .iter()
            .map(|b| format!("{b:02X}"))
            .collect();
        return format!("dense<\"0x{hex}\">");
    }
    let at = |k: usize| match &wide {
        Wide::F(v) => scalar(Scalar::F(v[k]), dtype),
        Wide::C(v) => scalar(Scalar::C(v[k]), dtype),
        Wide::I(v) => scalar(Scalar::I(v[k]), dtype),
    };
    format!("dense<{}>", nested(shape, 0, &at))
}

/// Nested lists of the elements that start at index `from`.
fn nested(shape: &[usize], from: usize, at: &dyn Fn(usize) -> String) -> String {
    match shape {
        [] => at(from),
        [n, rest @ ..] => {
            let step: usize = rest.iter().product();
            let parts: Vec<String> = (0..*n).map(|k| nested(rest, from + k * step, at)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// Elements as little-endian bytes.
fn bytes(w: &Wide, dtype: DType) -> Vec<u8> {
    let float = |x: f64| match dtype.real() {
        DType::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        DType::BF16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        DType::F32 => (x as f32).to_le_bytes().to_vec(),
        _ => x.to_le_bytes().to_vec(),
    };
    debug_assert!(dtype.kind() != Kind::Bool);
    match w {
        Wide::F(v) => v.iter().flat_map(|&x| float(x)).collect(),
        Wide::C(v) => v
            .iter()
            .flat_map(|z| [float(z.re), float(z.im)].concat())
            .collect(),
        Wide::I(v) => v
            .iter()
            .flat_map(|i| i.to_le_bytes()[..dtype.size()].to_vec())
            .collect(),
    }
}
