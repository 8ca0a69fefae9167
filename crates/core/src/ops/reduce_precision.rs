//! `reduce_precision`: rounding to fewer bits of exponent and mantissa, ties to even, in the same
//! element type.
//!
//! Numbers that are too large become infinite, numbers below the least normal number zero. Tangents
//! and cotangents are rounded the same way, as those of a conversion to a narrower type and back.

use super::entry::{Entry, Spelled, arity};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// Rounding to a number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReducePrecision {
    /// Bits of the exponent, at least 1.
    pub exponent: u32,
    /// Bits of the mantissa.
    pub mantissa: u32,
}

/// Bits of exponent and mantissa of a float type.
fn format(d: DType) -> (u32, u32) {
    match d {
        DType::F16 => (5, 10),
        DType::BF16 => (8, 7),
        DType::F32 => (8, 23),
        _ => (11, 52),
    }
}

impl ReducePrecision {
    /// Rounds `x`, a number of this type.
    pub fn round(self, x: f64, dtype: DType) -> f64 {
        let (exponent, mantissa) = format(dtype);
        if x == 0.0 || !x.is_finite() {
            return x;
        }
        let bias = |bits: u32| (1 << (bits.min(exponent) - 1)) - 1;
        let mut y = x;
        if self.mantissa < mantissa {
            // The spacing of rounded numbers near x. Below the least normal number it is that of
            // the least normal number.
            let e = libm::ilogb(x).max(1 - bias(exponent)) - self.mantissa as i32;
            y = libm::scalbn(libm::scalbn(x, -e).round_ties_even(), e);
        }
        if self.exponent < exponent {
            if y.abs() >= libm::scalbn(1.0, bias(self.exponent) + 1) {
                return f64::INFINITY.copysign(x);
            }
            if y.abs() < libm::scalbn(1.0, 1 - bias(self.exponent)) {
                return 0f64.copysign(x);
            }
        }
        y
    }
}

impl Primitive for ReducePrecision {
    fn name(&self) -> &str {
        "reduce_precision"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("exponent", i64::from(self.exponent))
            .with("mantissa", i64::from(self.mantissa))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !x[0].dtype.is_float() {
            bail!(
                DTypeMismatch,
                "`reduce_precision` is not defined on {}",
                x[0].dtype
            );
        }
        if self.exponent == 0 {
            bail!(
                Attribute,
                "`reduce_precision`: `exponent` must be at least 1"
            );
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let dtype = x[0].dtype();
        let y = x[0]
            .to_f64()
            .into_iter()
            .map(|x| self.round(x, dtype))
            .collect();
        Ok(vec![Wide::F(y).narrow(dtype, x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&(*self).into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![ct[0].map(|ct| cx.op(*self, &[ct]))])
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.op(*self, &[x[0].val]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(4.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Rounds to `exponent` and `mantissa` bits.
    pub fn reduce_precision(&self, x: Val, exponent: u32, mantissa: u32) -> Val {
        self.op(ReducePrecision { exponent, mantissa }, &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let mut bits = |name| Ok(s.attrs.get::<usize>(name)?.try_into().unwrap_or(u32::MAX));
    Ok(ReducePrecision {
        exponent: bits("exponent")?,
        mantissa: bits("mantissa")?,
    }
    .into())
}

/// A format that represents the numbers of every type: rounding is linear only there. Other formats
/// are in the tests of special functions.
fn samples(_: &str) -> Vec<Sample> {
    vec![Sample::new(
        ReducePrecision {
            exponent: 11,
            mantissa: 52,
        },
        vec![sample_array(DType::F64, &[2, 3], 0)],
    )]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Rounding to `exponent` and `mantissa` bits, ties to even.";
    vec![Entry {
        name: "reduce_precision",
        doc,
        parse,
        samples,
    }]
}
