//! Compensated sums of values that come one after the other, as the cotangents of a loop's constants do.
//!
//! A sum is held in f64. What is narrower needs no more: each addition rounds to 2^-53, so 2^29 terms of f32 are added with
//! the error of one. Of f64, and of any type where the session asks for stable sums, it is `high + low`:
//!
//! ```text
//! high' = high + x      low' = low + add_error(high, x)      the result is high + low
//! ```
//! The error is two units of rounding of the sum and some squares of them, whatever the number of terms, in flat memory.
//! Everything here is linear in `x`: exactly, `add_error` is 0.

use super::Binary;
use crate::dtype::DType;
use crate::emit::Emit;
use crate::primitive::Val;
use crate::shape::Type;

/// How values of a type are added.
pub(crate) struct Compensated {
    ty: Type,
    /// The errors of `high` are summed beside it.
    twice: bool,
}

impl Compensated {
    /// Of values of a type.
    pub(crate) fn new(cx: &dyn Emit, ty: &Type) -> Compensated {
        let twice = ty.dtype.real() == DType::F64 || cx.session().numerics().stable;
        Compensated { ty: ty.clone(), twice }
    }

    /// The values that hold the sum of one component.
    fn held(&self) -> usize {
        if self.twice { 2 } else { 1 }
    }

    /// The types of the values that hold a sum.
    pub(crate) fn types(&self) -> Vec<Type> {
        let components = if self.ty.dtype.is_complex() { 2 } else { 1 };
        vec![self.ty.with_dtype(DType::F64); components * self.held()]
    }

    /// The sum of `sum` and `x`.
    pub(crate) fn add(&self, cx: &dyn Emit, sum: &[Val], x: Val) -> Vec<Val> {
        let parts = if self.ty.dtype.is_complex() { vec![cx.real(x), cx.imag(x)] } else { vec![x] };
        let mut out = Vec::with_capacity(sum.len());
        for (x, sum) in parts.into_iter().zip(sum.chunks_exact(self.held())) {
            let x = cx.convert(x, DType::F64);
            out.push(cx.add(sum[0], x));
            out.extend(sum[1..].iter().map(|&low| cx.add(low, cx.op(Binary::AddError, &[sum[0], x]))));
        }
        out
    }

    /// The value of a sum.
    pub(crate) fn value(&self, cx: &dyn Emit, sum: &[Val]) -> Val {
        let part = |s: &[Val]| {
            let total = s[1..].iter().fold(s[0], |high, &low| cx.add(high, low));
            cx.convert(total, self.ty.dtype.real())
        };
        let parts: Vec<Val> = sum.chunks_exact(self.held()).map(part).collect();
        if let [re, im] = parts[..] { cx.complex(re, im) } else { parts[0] }
    }
}
