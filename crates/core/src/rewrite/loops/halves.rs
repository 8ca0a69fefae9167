//! Products of 16-bit floats, which a runtime computes in f32 with one rounding: the conversions
//! become equations, so that those of constants leave the loop.
//!
//! ```text
//! dot(x, w)  =  f16(dot(f32(x), f32(w)))
//! ```
//! The bits are those of the runtime's product. The reference adds in f64, so its result may differ
//! by a second rounding.

use super::total::bytes;
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::ops::DotGeneral;

/// Largest operand that is converted as a whole, in bytes of f32: it stays in the L2 cache.
const MAX_CONVERTED_BYTES: usize = 1 << 20;

/// A product of few 16-bit floats by a product of f32; `None` for others.
pub(super) fn product(cx: &dyn Emit, d: &DotGeneral, x: &[Val]) -> Option<Val> {
    let dtype = cx.ty(x[0]).dtype;
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    if !is_half || d.stable || d.lhs_contract.is_empty() {
        return None;
    }
    for &v in x {
        let mut ty = cx.ty(v);
        ty.dtype = DType::F32;
        bytes(&ty).filter(|n| *n <= MAX_CONVERTED_BYTES)?;
    }
    let wide: Vec<Val> = x.iter().map(|&v| cx.convert(v, DType::F32)).collect();
    let y = cx.op(d.clone(), &wide);
    Some(cx.convert(y, dtype))
}
