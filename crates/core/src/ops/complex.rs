//! `complex`: `re + i im` from two real operands. Its adjoint takes the parts: `ct_re = Re ct`,
//! `ct_im = Im ct`.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element, same_shape};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// `complex(re, im)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Complex;

impl Primitive for Complex {
    fn name(&self) -> &str {
        "complex"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        match x[0].dtype.complex() {
            Some(d) if x[0].dtype == x[1].dtype && x[0].dtype.is_float() => {
                Ok(vec![same_shape(self, x)?.with_dtype(d)])
            }
            _ => bail!(
                DTypeMismatch,
                "`complex` needs two operands of type f32 or f64, got {} and {}",
                x[0],
                x[1]
            ),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let to = if x[0].dtype() == DType::F32 {
            DType::C64
        } else {
            DType::C128
        };
        let z = x[0]
            .to_f64()
            .into_iter()
            .zip(x[1].to_f64())
            .map(|(re, im)| C128::new(re, im))
            .collect();
        Ok(vec![Wide::C(z).narrow(to, x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let dy = cx.apply1(
            *self,
            &[
                cx.or_zeros(t[0], x[0]).into(),
                cx.or_zeros(t[1], x[1]).into(),
            ],
        );
        Ok(cx.one(cx.op(*self, x), Some(dy)))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![
            ct[0].map(|ct| cx.real(ct)),
            ct[0].map(|ct| cx.imag(ct)),
        ])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `re + i im`.
    pub fn complex(&self, re: Val, im: Val) -> Val {
        self.op(Complex, &[re, im])
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Complex.into())
}

fn samples(_: &str) -> Vec<Sample> {
    vec![
        Sample::new(
            Complex,
            vec![
                Array::vector(vec![1.5f64, -0.5]),
                Array::vector(vec![2.0f64, 0.25]),
            ],
        ),
        Sample::new(
            Complex,
            vec![
                Array::vector(vec![1.5f32, -0.5]),
                Array::vector(vec![2.0f32, 0.25]),
            ],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "complex",
        doc: "re + i im, from two real operands (f32 or f64).",
        parse,
        samples,
    }]
}
