//! Conversion of constants from their text to arrays.
//!
//! Floats are decimal, or their bits in hexadecimal. Blobs are little-endian bytes in memory order.
//! Booleans have one byte each, or one bit each in older texts.

use crate::ast::{Dense, Elements, Narrow, Number, ParsedModule, booleans};
use crate::lexer::syntax;
use cotangent_core::array::numel;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::Constant;
use cotangent_core::{
    Array, C128, Code, DType, Element, Error, Loc, Result, Scalar, Type, bf16, f16, for_dtype,
};
use std::borrow::Cow;

/// The constant of type `ty`. With `narrow`, its elements are of that narrow type, stored in `ty`.
pub(crate) fn constant(
    module: &ParsedModule<'_>,
    d: &Dense<'_>,
    ty: &Type,
    narrow: Option<Narrow>,
) -> Result<Constant> {
    let Some(shape) = ty.shape.as_const() else {
        return Err(syntax(
            d.pos,
            format!("a constant cannot have the type {ty}: its extents must be numbers"),
        ));
    };
    let Some(count) = numel(&shape) else {
        return Err(
            Error::new(Code::Limit, format!("a constant of type {ty} is too large")).at(d.pos),
        );
    };
    match &d.elements {
        Elements::Splat(n) => Ok(Constant::splat(
            ty.clone(),
            element(n, ty.dtype, narrow, d.pos)?,
        )),
        Elements::List(l, extents) => {
            // `dense<>` stands for any shape with no elements.
            if l.len() != count || (count != 0 && *extents != shape) {
                let text = format!(
                    "a constant of type {ty} cannot have the elements of shape {extents:?}"
                );
                return Err(syntax(d.pos, text));
            }
            let values = l
                .iter()
                .map(|n| element(n, ty.dtype, narrow, d.pos))
                .collect::<Result<Vec<Scalar>>>()?;
            Ok(Constant::dense(from_scalars(values, ty.dtype, shape)?))
        }
        Elements::Bytes(b) => raw(b, ty, narrow, shape, count, d.pos),
        Elements::Hex(text) => blob(
            &widened(&bytes(text, d.pos)?, narrow),
            ty,
            shape,
            count,
            d.pos,
        ),
        Elements::Resource(name) => {
            let Some((_, text)) = module.resources.iter().find(|(n, _)| n == name) else {
                return Err(syntax(
                    d.pos,
                    format!("the text has no resource `{name}`: print the text with its resources"),
                ));
            };
            // The first four bytes are the alignment.
            let all = bytes(text, d.pos)?;
            blob(
                &widened(all.get(4..).unwrap_or(&[]), narrow),
                ty,
                shape,
                count,
                d.pos,
            )
        }
    }
}

fn from_scalars(values: Vec<Scalar>, dtype: DType, shape: Vec<usize>) -> Result<Array> {
    use cotangent_core::Wide;
    let wide = match dtype.kind() {
        Kind::Float => Wide::F(
            values
                .iter()
                .map(|s| if let Scalar::F(x) = s { *x } else { 0.0 })
                .collect(),
        ),
        Kind::Complex => Wide::C(
            values
                .iter()
                .map(|s| {
                    if let Scalar::C(z) = s {
                        *z
                    } else {
                        C128::default()
                    }
                })
                .collect(),
        ),
        Kind::Int | Kind::Bool | Kind::Opaque => Wide::I(
            values
                .iter()
                .map(|s| if let Scalar::I(i) = s { *i } else { 0 })
                .collect(),
        ),
    };
    wide.narrow(dtype, shape)
}

/// Bytes of the wide type, from one byte per element of the narrow type.
fn widened(bytes: &[u8], narrow: Option<Narrow>) -> Cow<'_, [u8]> {
    match narrow {
        None => bytes.into(),
        Some(Narrow::Float(f)) => bytes
            .iter()
            .flat_map(|&b| (f.decode(b.into()) as f32).to_le_bytes())
            .collect(),
        Some(Narrow::Int(bits, signed)) => bytes
            .iter()
            .map(|&b| wrapped(b.into(), bits, signed) as u8)
            .collect(),
    }
}

/// The lowest `bits` bits of `i` as an integer.
fn wrapped(i: i128, bits: u32, signed: bool) -> i128 {
    let low = i & ((1 << bits) - 1);
    if signed && low >> (bits - 1) != 0 {
        low - (1 << bits)
    } else {
        low
    }
}

/// One element, converted to the kind of its type.
fn element(n: &Number<'_>, dtype: DType, narrow: Option<Narrow>, pos: Loc) -> Result<Scalar> {
    let wrong = |text: &str| syntax(pos, format!("`{text}` is not an element of type {dtype}"));
    match (narrow, n.im) {
        (Some(Narrow::Float(f)), None) => {
            let x = match n.re.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16)
                    .ok()
                    .filter(|&b| b < 256)
                    .map(|b| f.decode(b)),
                None => n.re.parse().ok().map(|x: f64| f.round(x)),
            };
            return x.map(Scalar::F).ok_or_else(|| wrong(n.re));
        }
        (Some(Narrow::Int(bits, signed)), None) => {
            let all = -(1i128 << (bits - 1))..1i128 << bits;
            let i = integer(n.re)
                .filter(|i| all.contains(i))
                .map(|i| wrapped(i, bits, signed));
            return i.map(Scalar::I).ok_or_else(|| wrong(n.re));
        }
        _ => {}
    }
    match (dtype.kind(), n.im) {
        (Kind::Complex, im) => {
            let part = if dtype == DType::C64 {
                DType::F32
            } else {
                DType::F64
            };
            let re = real(n.re, part).ok_or_else(|| wrong(n.re))?;
            let im = im
                .map_or(Some(0.0), |t| real(t, part))
                .ok_or_else(|| wrong(n.re))?;
            Ok(Scalar::C(C128::new(re, im)))
        }
        (_, Some(_)) => Err(wrong("(..)")),
        (Kind::Opaque, None) => Err(wrong(n.re)),
        (Kind::Float, None) => real(n.re, dtype).map(Scalar::F).ok_or_else(|| wrong(n.re)),
        (Kind::Bool, None) => match n.re {
            "true" => Ok(Scalar::I(1)),
            "false" => Ok(Scalar::I(0)),
            t => integer(t)
                .map(|i| Scalar::I((i != 0).into()))
                .ok_or_else(|| wrong(t)),
        },
        (Kind::Int, None) => {
            let bits = 8 * dtype.size() as u32;
            integer(n.re)
                .filter(|i| (-(1i128 << (bits - 1))..1i128 << bits).contains(i))
                .map(Scalar::I)
                .ok_or_else(|| wrong(n.re))
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A float of this type, from a decimal (rounded once) or from its bits in hexadecimal.
fn real(text: &str, dtype: DType) -> Option<f64> {
    let Some(hex) = text.strip_prefix("0x") else {
        return match dtype {
            DType::F32 => text.parse::<f32>().ok().map(f64::from),
            _ => text.parse().ok(),
        };
    };
    let bits = u64::from_str_radix(hex, 16).ok()?;
    match dtype {
        DType::F16 => u16::try_from(bits).ok().map(|b| f16::from_bits(b).to_f64()),
        DType::BF16 => u16::try_from(bits)
            .ok()
            .map(|b| bf16::from_bits(b).to_f64()),
        DType::F32 => u32::try_from(bits).ok().map(|b| f32::from_bits(b).into()),
        _ => Some(f64::from_bits(bits)),
    }
}

/// The bytes of `"0x.."`.
fn bytes(text: &str, pos: Loc) -> Result<Vec<u8>> {
    let digits = text
        .trim_matches('"')
        .strip_prefix("0x")
        .map(str::as_bytes)
        .filter(|d| d.len() % 2 == 0);
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    let all: Option<Vec<u8>> = digits.and_then(|d| {
        d.chunks_exact(2)
            .map(|p| Some(digit(p[0])? << 4 | digit(p[1])?))
            .collect()
    });
    all.ok_or_else(|| {
        syntax(
            pos,
            "expected the bytes of a constant, `\"0x..\"` with two digits for each",
        )
    })
}

/// A constant from the bytes of its elements. The bytes of a single element are a splat.
fn blob(bytes: &[u8], ty: &Type, shape: Vec<usize>, count: usize, pos: Loc) -> Result<Constant> {
    let size = ty.dtype.size();
    if ty.dtype == DType::Bool && bytes.len() != count && bytes.len() == count.div_ceil(8) {
        let bits = (0..count)
            .map(|i| bytes[i / 8] >> (i % 8) & 1 != 0)
            .collect::<Vec<bool>>();
        return Ok(Constant::dense(Array::from_vec(shape, bits)?));
    }
    let splat = bytes.len() == size && count != 1;
    if !splat && !is_whole(bytes, size, count) {
        return Err(syntax(
            pos,
            format!("a constant of type {ty} cannot have {} bytes", bytes.len()),
        ));
    }
    let data = for_dtype!(ty.dtype, T => T::wrap(bytes.chunks_exact(size).map(<T as FromBytes>::read).collect()));
    if splat {
        let one = Array::from_data(Vec::new(), data)?;
        return Ok(Constant::splat(ty.clone(), scalar(&one)));
    }
    Ok(Constant::dense(Array::from_data(shape, data)?))
}

/// A constant from [`Elements::Bytes`]. Equal elements are a splat, as in the text form.
fn raw(
    bytes: &[u8],
    ty: &Type,
    narrow: Option<Narrow>,
    shape: Vec<usize>,
    count: usize,
    pos: Loc,
) -> Result<Constant> {
    let unpacked = match ty.dtype {
        // A splat of any count is one byte.
        DType::Bool if bytes.len() > 1 || count <= 8 => booleans(bytes, count),
        _ => None,
    };
    let bytes = match unpacked {
        Some(all) => all.into_iter().map(u8::from).collect(),
        None => widened(bytes, narrow),
    };
    let size = ty.dtype.size();
    let equal = |first: &[u8]| bytes.chunks(size).all(|b| b == first);
    match bytes.get(..size) {
        Some(one)
            if count > 0
                && (bytes.len() == size || is_whole(&bytes, size, count) && equal(one)) =>
        {
            let data = for_dtype!(ty.dtype, T => T::wrap(vec![<T as FromBytes>::read(one)]));
            let one = Array::from_data(Vec::new(), data)?;
            Ok(Constant::splat(ty.clone(), scalar(&one)))
        }
        _ => blob(&bytes, ty, shape, count, pos),
    }
}

/// Whether bytes are those of `count` elements of this size.
fn is_whole(bytes: &[u8], size: usize, count: usize) -> bool {
    count.checked_mul(size) == Some(bytes.len())
}

/// The first element of an array.
pub(crate) fn scalar(a: &Array) -> Scalar {
    use cotangent_core::Wide;
    match a.wide() {
        Wide::F(v) => Scalar::F(v.first().copied().unwrap_or_default()),
        Wide::C(v) => Scalar::C(v.first().copied().unwrap_or_default()),
        Wide::I(v) => Scalar::I(v.first().copied().unwrap_or_default()),
    }
}

/// Elements from little-endian bytes. The slice has the length of the type.
trait FromBytes: Element {
    fn read(b: &[u8]) -> Self;
}

macro_rules! from_bytes {
    ($($t:ty),*) => {
        $(impl FromBytes for $t {
            fn read(b: &[u8]) -> $t {
                <$t>::from_le_bytes(b.try_into().unwrap_or_default())
            }
        })*
    };
}

from_bytes!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, f16, bf16);

impl FromBytes for bool {
    fn read(b: &[u8]) -> bool {
        b[0] != 0
    }
}

impl<T: FromBytes> FromBytes for num_complex::Complex<T>
where
    num_complex::Complex<T>: Element,
{
    fn read(b: &[u8]) -> Self {
        let (re, im) = b.split_at(b.len() / 2);
        num_complex::Complex::new(T::read(re), T::read(im))
    }
}
