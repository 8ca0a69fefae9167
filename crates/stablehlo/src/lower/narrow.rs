//! Narrow element types: floats of 8, 6 and 4 bits are stored in `f32`, integers of 4 and 2 bits in
//! `i8` and `ui8`.
//!
//! Arithmetic is done in the wider type. Its results are then converted to the narrow type: floats
//! are rounded (`round_to` of the core), and integers keep their lowest bits. A conversion rounds
//! once, from the source type; from floats to integers it saturates. Operations that depend on the
//! width of an element (bit counts, logical shifts, high halves, bit casts) use the bits of the
//! narrow type. Tangents have the wider type, and rounding has the derivative 1.

use super::function::{FunctionLowering, one};
use crate::ast::{Narrow, Operation, Ty};
use cotangent_core::ops::{Binary, Bounds, Comparison, Constant, Reduction, Unary};
use cotangent_core::primitive::Vals;
use cotangent_core::{Array, DType, Dim, Emit, Result, Val, bail};

impl FunctionLowering<'_> {
    /// Converts to a narrow type.
    pub(crate) fn to_narrow(&self, x: Val, ty: &Ty) -> Val {
        let (cx, from) = (self.cx(), self.cx().ty(x).dtype);
        let Ty::Narrow(wide, narrow) = ty else {
            return x;
        };
        match narrow {
            Narrow::Float(format) => {
                // Rounding is done in a type that represents all values of the format: `f16` has a
                // smaller exponent range than some formats.
                let within = match from {
                    DType::F64 | DType::C128 => DType::F64,
                    d if d.is_int() => DType::F64,
                    _ => DType::F32,
                };
                cx.convert(cx.round_to(cx.convert(x, within), *format), wide.dtype)
            }
            Narrow::Int(bits, signed) if from.is_float() || from.is_complex() => {
                let (least, most) = if *signed {
                    (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
                } else {
                    (0, (1 << bits) - 1)
                };
                let whole = cx.convert(x, wide.dtype);
                cx.clamp(cx.full_like(whole, least), whole, cx.full_like(whole, most))
            }
            Narrow::Int(..) => self.to_narrow_value(cx.convert(x, wide.dtype), ty),
        }
    }

    /// Lowers an operation on narrow integers whose result depends on the element width; `None` for
    /// any other operation.
    pub(super) fn lower_narrow(&self, op: &Operation<'_>) -> Result<Option<Vals>> {
        let ty = op.result_types().and_then(|t| t.first());
        let Some(Ty::Narrow(wide, Narrow::Int(bits, _))) = ty else {
            return Ok(None);
        };
        let (cx, name) = (self.cx(), op.name.split_once('.').map_or("", |n| n.1));
        let code = |v: Val| without_sign(cx, v, *bits);
        let y = match name {
            "popcnt" => {
                let [x] = self.operand_array(op)?;
                cx.op(Unary::Popcnt, &[code(x)])
            }
            "count_leading_zeros" => {
                let [x] = self.operand_array(op)?;
                let zeros = cx.op(Unary::Clz, &[code(x)]);
                cx.sub(zeros, cx.full_like(zeros, i64::from(8 - bits)))
            }
            "shift_right_logical" => {
                let [x, by] = self.operand_array(op)?;
                cx.op(Binary::ShiftRightLogical, &[code(x), code(by)])
            }
            // The highest bit is replicated, also for unsigned types. It is first shifted to the
            // highest bit of a byte.
            "shift_right_arithmetic" => {
                let [x, by] = self.operand_array(op)?.map(code);
                let up = cx.full_like(x, i64::from(8 - bits));
                let high = cx.bitcast(cx.op(Binary::ShiftLeft, &[x, up]), DType::I8);
                cx.op(
                    Binary::ShiftRightArithmetic,
                    &[high, cx.bitcast(cx.add(by, up), DType::I8)],
                )
            }
            "mulhi" => {
                let [x, y] = self.operand_array(op)?.map(|v| cx.convert(v, DType::I32));
                let product = cx.mul(x, y);
                let high = cx.op(
                    Binary::ShiftRightArithmetic,
                    &[product, cx.full_like(product, i64::from(*bits))],
                );
                return one(cx.convert(high, wide.dtype)).map(Some);
            }
            _ => return Ok(None),
        };
        one(cx.bitcast(y, wide.dtype)).map(Some)
    }

    /// Lowers `bitcast_convert` from or to a narrow type. An element of the wider type corresponds
    /// to an axis of narrower elements, lowest bits first.
    pub(super) fn bitcast_narrow(
        &self,
        op: &Operation<'_>,
        x: Val,
        from: Option<&Ty>,
        to: Option<&Ty>,
    ) -> Result<Vals> {
        let sizes = (from.and_then(width), to.and_then(width));
        let (Some(from), Some(to), (Some(a), Some(b))) = (from, to, sizes) else {
            bail!(
                UnknownOperation,
                "`{}` of these element types is not supported",
                op.name
            )
        };
        if from == to {
            return one(x);
        }
        if a.max(b) % a.min(b) != 0 {
            bail!(
                UnknownOperation,
                "`{}` from {a} to {b} bits is not supported",
                op.name
            );
        }
        let codes = self.codes(x, from);
        one(self.decoded(regrouped(self.cx(), codes, a, b)?, to))
    }

    /// The bits of elements, as unsigned integers.
    fn codes(&self, x: Val, ty: &Ty) -> Val {
        let cx = self.cx();
        match ty {
            Ty::Narrow(_, Narrow::Int(bits, _)) => without_sign(cx, x, *bits),
            Ty::Narrow(_, Narrow::Float(f)) => {
                // The largest code whose value is equal. All NaN get the largest NaN code.
                let index = cx.ty(x).with_dtype(DType::I32);
                let mut code = cx.zeros(&index);
                let minus = cx.compare(cx.bitcast(x, DType::I32), Comparison::Lt, cx.zeros(&index));
                let nan = cx.is_nan(x);
                for b in 0..1u32 << f.bits() {
                    let y = f.decode(b) as f32;
                    let matches = if y.is_nan() {
                        nan
                    } else {
                        let same = cx.compare(x, Comparison::Eq, cx.full_like(x, f64::from(y)));
                        let sign = cx.compare(
                            minus,
                            Comparison::Eq,
                            cx.full_like(minus, y.is_sign_negative()),
                        );
                        cx.and(same, sign)
                    };
                    code = cx.select(matches, cx.full(&index, i64::from(b)), code);
                }
                cx.convert(code, DType::U8)
            }
            Ty::Tensor(t) => cx.bitcast(x, unsigned(8 * t.dtype.size() as u32)),
            _ => x,
        }
    }

    /// Elements of this type from their bits.
    fn decoded(&self, codes: Val, ty: &Ty) -> Val {
        let cx = self.cx();
        match ty {
            Ty::Narrow(wide, Narrow::Int(..)) => {
                self.to_narrow_value(cx.bitcast(codes, wide.dtype), ty)
            }
            Ty::Narrow(wide, Narrow::Float(f)) => {
                let all: Vec<f32> = (0..1u32 << f.bits()).map(|b| f.decode(b) as f32).collect();
                let table = cx.op(Constant::dense(Array::vector(all)), &[]);
                cx.convert(
                    cx.take(table, cx.convert(codes, DType::I32), 0, Bounds::Clip),
                    wide.dtype,
                )
            }
            Ty::Tensor(t) => cx.bitcast(codes, t.dtype),
            _ => codes,
        }
    }
}

/// The bits of a narrow integer, as an unsigned byte.
fn without_sign(cx: &dyn Emit, v: Val, bits: u32) -> Val {
    let byte = cx.bitcast(v, DType::U8);
    cx.and(byte, cx.full_like(byte, (1i64 << bits) - 1))
}

/// Width of an element, in bits.
fn width(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Narrow(_, Narrow::Int(bits, _)) => Some(*bits),
        Ty::Narrow(_, Narrow::Float(f)) => Some(f.bits()),
        Ty::Tensor(t) if t.dtype.is_int() || t.dtype.is_float() => Some(8 * t.dtype.size() as u32),
        _ => None,
    }
}

/// The smallest unsigned integer type with at least this many bits.
fn unsigned(bits: u32) -> DType {
    match bits {
        0..=8 => DType::U8,
        9..=16 => DType::U16,
        17..=32 => DType::U32,
        _ => DType::U64,
    }
}

/// Regroups codes of `from` bits into codes of `to` bits.
fn regrouped(cx: &dyn Emit, codes: Val, from: u32, to: u32) -> Result<Val> {
    let ty = cx.ty(codes);
    let shift = |x: Val, by: Binary, step: u32| {
        let ty = cx.ty(x);
        let place = cx.iota(&ty, ty.rank() - 1);
        cx.op(
            by,
            &[x, cx.mul(place, cx.full_like(place, i64::from(step)))],
        )
    };
    if from > to {
        let mut shape = ty.shape.to_vec();
        shape.push(Dim::Const((from / to) as usize));
        let dims: Vec<usize> = (0..ty.rank()).collect();
        let parts = shift(
            cx.broadcast_in_dim(codes, &shape, &dims),
            Binary::ShiftRightLogical,
            to,
        );
        return Ok(cx.convert(
            cx.and(parts, cx.full_like(parts, (1i64 << to) - 1)),
            unsigned(to),
        ));
    }
    if from == to {
        return Ok(codes);
    }
    let parts = (to / from) as usize;
    match ty.shape.last() {
        Some(n) if n.is(parts) => {
            let wide = shift(cx.convert(codes, unsigned(to)), Binary::ShiftLeft, from);
            Ok(cx.reduce(Reduction::Or, wide, &[ty.rank() - 1]))
        }
        _ => bail!(
            ShapeMismatch,
            "`bitcast_convert` from {from} to {to} bits needs a last axis of {parts}, got {ty}"
        ),
    }
}
