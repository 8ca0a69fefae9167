//! Element types of few bits: floats of 8, 6 and 4 bits are held in `f32`, integers of 4 and 2 bits in `i8` and `ui8`.
//!
//! Arithmetic is that of the wider type, and its results are made numbers of the narrow one: floats are rounded (the core's
//! `round_to`), integers keep their lowest bits. A conversion rounds once, in the type that it comes from; from floats to
//! integers it stops at the ends of the range. Tangents are those of the wider type: what is rounded counts as itself.

use super::frame::{Frame, one};
use crate::ast::{Narrow, Operation, Ty};
use cotangent_core::ops::{Binary, Bounds, Comparison, Constant};
use cotangent_core::primitive::Vals;
use cotangent_core::{Array, DType, Result, Val, bail};

/// Operations that give numbers of the type if they are given such: they move elements, or have made sure of it.
pub fn keeps(name: &str) -> bool {
    const MOVES: [&str; 32] = [
        "constant",
        "convert",
        "reshape",
        "dynamic_reshape",
        "broadcast",
        "broadcast_in_dim",
        "dynamic_broadcast_in_dim",
        "transpose",
        "reverse",
        "slice",
        "dynamic_slice",
        "real_dynamic_slice",
        "dynamic_update_slice",
        "pad",
        "dynamic_pad",
        "concatenate",
        "gather",
        "dynamic_gather",
        "select",
        "sort",
        "top_k",
        "clamp",
        "maximum",
        "minimum",
        "case",
        "if",
        "while",
        "composite",
        "optimization_barrier",
        "bitcast_convert",
        "call",
        "torch_index_select",
    ];
    name.split_once('.').is_some_and(|(_, n)| MOVES.contains(&n))
}

impl Frame<'_> {
    /// A value of the wide type as one of the narrow type.
    pub fn narrowed(&self, v: Val, ty: &Ty) -> Val {
        let cx = self.cx();
        match ty {
            Ty::Narrow(_, Narrow::Float(format)) => cx.round_to(v, *format),
            Ty::Narrow(_, Narrow::Int(bits, true)) => {
                let by = cx.full_like(v, i64::from(8 - bits));
                let high = cx.op(Binary::ShiftLeft, &[v, by]);
                cx.op(Binary::ShiftRightArithmetic, &[high, by])
            }
            Ty::Narrow(_, Narrow::Int(bits, false)) => cx.and(v, cx.full_like(v, (1i64 << bits) - 1)),
            _ => v,
        }
    }

    /// `convert` to a narrow type.
    pub fn to_narrow(&self, x: Val, ty: &Ty) -> Val {
        let (cx, from) = (self.cx(), self.cx().ty(x).dtype);
        let Ty::Narrow(wide, narrow) = ty else { return x };
        match narrow {
            Narrow::Float(format) => {
                // The type that is rounded in holds what is rounded: `f16` has fewer exponents than some formats.
                let within = match from {
                    DType::F64 | DType::C128 => DType::F64,
                    d if d.is_int() => DType::F64,
                    _ => DType::F32,
                };
                cx.convert(cx.round_to(cx.convert(x, within), *format), wide.dtype)
            }
            Narrow::Int(bits, signed) if from.is_float() || from.is_complex() => {
                let (least, most) =
                    if *signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
                let whole = cx.convert(x, wide.dtype);
                cx.clamp(cx.full_like(whole, least), whole, cx.full_like(whole, most))
            }
            Narrow::Int(..) => self.narrowed(cx.convert(x, wide.dtype), ty),
        }
    }

    /// `bitcast_convert` between a narrow type and integers of as many bits.
    pub fn recoded(&self, op: &Operation<'_>, x: Val, from: Option<&Ty>, to: Option<&Ty>) -> Result<Vals> {
        let cx = self.cx();
        match (from, to) {
            (Some(a), Some(b)) if a == b => one(x),
            (Some(Ty::Tensor(t)), Some(Ty::Narrow(wide, Narrow::Float(f)))) if is_byte(t.dtype) && f.bits() == 8 => {
                let all: Vec<f32> = (0..256).map(|b| f.decode(b) as f32).collect();
                let table = cx.op(Constant::dense(Array::vector(all)), &[]);
                let at = cx.convert(cx.bitcast(x, DType::U8), DType::I32);
                one(cx.convert(cx.take(table, at, 0, Bounds::Clip), wide.dtype))
            }
            (Some(Ty::Narrow(_, Narrow::Float(f))), Some(Ty::Tensor(t))) if is_byte(t.dtype) && f.bits() == 8 => {
                // The last of 256 numbers that is this one; NaN is the last NaN.
                let (ty, shape) = (cx.ty(x), cx.ty(x).shape);
                let index = ty.with_dtype(DType::I32);
                let mut code = cx.zeros(&index);
                let minus = cx.compare(cx.bitcast(x, DType::I32), Comparison::Lt, cx.zeros(&index));
                let nan = cx.is_nan(x);
                for b in 0..256u32 {
                    let y = f.decode(b) as f32;
                    let here = if y.is_nan() {
                        nan
                    } else {
                        let same = cx.compare(x, Comparison::Eq, cx.full_like(x, f64::from(y)));
                        let sign = cx.compare(minus, Comparison::Eq, cx.full_like(minus, y.is_sign_negative()));
                        cx.and(same, sign)
                    };
                    code = cx.select(here, cx.full(&index.with_shape(shape.clone()), i64::from(b)), code);
                }
                one(cx.bitcast(cx.convert(code, DType::U8), t.dtype))
            }
            (Some(Ty::Narrow(_, Narrow::Int(a, _))), Some(b @ Ty::Narrow(wide, Narrow::Int(c, _)))) if a == c => {
                one(self.narrowed(cx.bitcast(x, wide.dtype), b))
            }
            _ => bail!(UnknownOperation, "`{}` between types of other numbers of bits is not supported", op.name),
        }
    }
}

fn is_byte(d: DType) -> bool {
    matches!(d, DType::I8 | DType::U8)
}
