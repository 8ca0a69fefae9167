//! Compensated sums of values that are added one at a time, such as the cotangents of a loop's
//! constants.
//!
//! A sum consists of two values per component, `high + low`:
//!
//! ```text
//! s = high + x      l = low + add_error(high, x)                      in f64: high' = s, low' = l; the result is s + l
//! high' = s + l     low' = add_error(s, l)                            in f32, where errors of errors matter, too
//! ```
//! The error is two rounding errors of the sum, plus terms of second order, for any number of terms
//! and in constant memory. The sum is linear in `x`: in exact arithmetic `add_error` is 0.

use super::Binary;
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::shape::Type;

/// A compensated sum of values of a type.
pub(crate) struct Compensated {
    ty: Type,
    /// The type of `high` and `low`. `None`: the sum is one value, to which values are added by the
    /// sum of the context or of the opaque type.
    part: Option<DType>,
}

impl Compensated {
    /// A sum of values of a type; in f64 for any type if the session's `stable` is set. Values of
    /// opaque types, and those of a context with a sum of its own, are not compensated.
    pub(crate) fn new(cx: &dyn Emit, ty: &Type) -> Compensated {
        let narrow = ty.dtype.real() != DType::F64 && !cx.session().numerics().stable;
        let plain = ty.dtype.opaque().is_some() || cx.session().has_own_sum();
        let part = if narrow { DType::F32 } else { DType::F64 };
        Compensated {
            ty: ty.clone(),
            part: (!plain).then_some(part),
        }
    }

    /// Whether the sum is one value, which is not compensated.
    pub(crate) fn is_plain(&self) -> bool {
        self.part.is_none()
    }

    /// The types of the values that represent a sum.
    pub(crate) fn types(&self) -> Vec<Type> {
        match self.part {
            Some(part) => {
                vec![self.ty.with_dtype(part); if self.ty.dtype.is_complex() { 4 } else { 2 }]
            }
            None => vec![self.ty.clone()],
        }
    }

    /// The sum of `sum` and `x`.
    pub(crate) fn add(&self, cx: &dyn Emit, sum: &[Val], x: Val) -> Vec<Val> {
        let Some(part) = self.part else {
            return vec![cx.op(cx.session().sum(&self.ty), &[sum[0], x])];
        };
        let parts = if self.ty.dtype.is_complex() {
            vec![cx.real(x), cx.imag(x)]
        } else {
            vec![x]
        };
        let error = |a: Val, b: Val| cx.op(Binary::AddError, &[a, b]);
        let mut out = Vec::with_capacity(sum.len());
        for (x, sum) in parts.into_iter().zip(sum.chunks_exact(2)) {
            let x = cx.convert(x, part);
            let (high, low) = (cx.add(sum[0], x), cx.add(sum[1], error(sum[0], x)));
            match part {
                DType::F64 => out.extend([high, low]),
                _ => out.extend([cx.add(high, low), error(high, low)]),
            }
        }
        out
    }

    /// The value of a sum.
    pub(crate) fn value(&self, cx: &dyn Emit, sum: &[Val]) -> Val {
        if self.part.is_none() {
            return sum[0];
        }
        let to = self.ty.dtype.real();
        let part = |s: &[Val]| {
            cx.convert(
                if self.part == Some(DType::F64) {
                    cx.add(s[0], s[1])
                } else {
                    s[0]
                },
                to,
            )
        };
        let parts: Vec<Val> = sum.chunks_exact(2).map(part).collect();
        if let [re, im] = parts[..] {
            cx.complex(re, im)
        } else {
            parts[0]
        }
    }
}
