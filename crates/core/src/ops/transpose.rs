//! `transpose`: permutation of axes. Axis `k` of the result is axis `perm[k]` of the operand.

use super::entry::{Entry, Spelled, arity};
use super::support::{cost_per_element, mapped};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample,
    ShiftRule, Val,
};
use crate::shape::{Dim, Env, Type};

/// Permutation of axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transpose {
    /// Axis of the operand for each axis of the result.
    pub perm: Vec<usize>,
}

impl Primitive for Transpose {
    fn name(&self) -> &str {
        "transpose"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("perm", &self.perm)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        let mut sorted = self.perm.clone();
        sorted.sort_unstable();
        if sorted.len() != x[0].rank() || sorted.iter().enumerate().any(|(i, &p)| i != p) {
            bail!(
                Attribute,
                "`perm` = {:?} is not a permutation of the {} axes of {}",
                self.perm,
                x[0].rank(),
                x[0]
            );
        }
        Ok(vec![
            x[0].with_shape(
                self.perm
                    .iter()
                    .map(|&p| x[0].shape[p].clone())
                    .collect::<Vec<_>>(),
            ),
        ])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let from = x[0].shape();
        let shape: Vec<usize> = self.perm.iter().map(|&p| from[p]).collect();
        let mut strides = vec![1; from.len()];
        for k in (1..from.len()).rev() {
            strides[k - 1] = strides[k] * from[k];
        }
        let at = (0..x[0].len()).map(|i| {
            let mut rest = i;
            let mut at = 0;
            for (&d, &p) in shape.iter().zip(&self.perm).rev() {
                at += rest % d * strides[p];
                rest /= d;
            }
            at
        });
        Ok(vec![
            x[0].wide().pick(at).narrow(x[0].dtype(), shape.clone())?,
        ])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        Some(ShiftRule::Permute(&self.perm))
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let mut inverse = vec![0; self.perm.len()];
        for (k, &p) in self.perm.iter().enumerate() {
            inverse[p] = k;
        }
        Ok(vec![ct[0].map(|ct| cx.transpose(ct, &inverse))])
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let perm: Vec<usize> = std::iter::once(0)
            .chain(self.perm.iter().map(|p| p + 1))
            .collect();
        mapped(cx.transpose(x[0].val, &perm))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Permutes axes: axis `k` of the result is axis `perm[k]` of `x`. Writes no operation for the
    /// identity.
    pub fn transpose(&self, x: Val, perm: &[usize]) -> Val {
        if perm.iter().copied().eq(0..self.ty(x).rank()) {
            return x;
        }
        self.op(
            Transpose {
                perm: perm.to_vec(),
            },
            &[x],
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let rank = s.operands.first().map_or(0, Type::rank);
    let perm = s
        .attrs
        .opt("perm")?
        .unwrap_or_else(|| (0..rank).rev().collect());
    Ok(Transpose { perm }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x =
        Array::from_vec([2, 3, 1], vec![1.5f64, -0.5, 2.0, 0.25, 3.0, -1.0]).expect("six elements");
    let t = |perm: &[usize]| Transpose {
        perm: perm.to_vec(),
    };
    vec![
        Sample::new(t(&[1, 0, 2]), vec![x.clone()]),
        Sample::new(t(&[2, 1, 0]), vec![x]),
        Sample::new(t(&[]), vec![Array::scalar(1.0f32)]),
        Sample::new(
            t(&[1, 0]),
            vec![Array::from_vec([0, 2], Vec::<u8>::new()).expect("empty")],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "transpose",
        doc: "Permutation of axes; without `perm`, their reversal.",
        parse,
        samples,
    }]
}
