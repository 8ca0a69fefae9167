//! `reshape`: the same elements, in row-major order, in another shape of the same size.

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
use crate::shape::{Dim, Env, Shape, Type};

/// A reshape to `shape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reshape {
    /// The result's extents.
    pub shape: Shape,
}

impl Primitive for Reshape {
    fn name(&self) -> &str {
        "reshape"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("shape", &self.shape.to_vec())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        let y = x[0].with_shape(self.shape.clone());
        let (from, to) = (x[0].shape.numel(), self.shape.numel());
        if from.same(&to) == Some(false) {
            bail!(
                ShapeMismatch,
                "cannot reshape {} to {y}: {from} elements do not fill {to}",
                x[0]
            );
        }
        Ok(vec![y])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        Ok(vec![x[0].clone().reshape(self.shape.eval(env)?)?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        Some(ShiftRule::Reshape)
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) else {
            return Ok(vec![None]);
        };
        Ok(vec![Some(cx.reshape(ct, &ty.shape))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let shape: Shape = std::iter::once(size)
            .chain(self.shape.iter())
            .cloned()
            .collect();
        mapped(cx.reshape(x[0].val, &shape))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Reshape {
                shape: self.shape.iter().map(f).collect(),
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// The same elements in another shape. Writes no operation if the shape does not change.
    pub fn reshape(&self, x: Val, shape: &[Dim]) -> Val {
        if *self.ty(x).shape == *shape {
            return x;
        }
        self.op(
            Reshape {
                shape: shape.to_vec().into(),
            },
            &[x],
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let shape: Option<Vec<Dim>> = s.attrs.opt("shape")?;
    match (shape, s.results) {
        (Some(d), _) => Ok(Reshape { shape: d.into() }.into()),
        (None, Some([t])) => Ok(Reshape {
            shape: t.shape.clone(),
        }
        .into()),
        _ => bail!(
            Attribute,
            "the attribute `shape`, or the type of the result, is missing"
        ),
    }
}

fn samples(_: &str) -> Vec<Sample> {
    let x =
        Array::from_vec([2, 3], vec![1.5f64, -0.5, 2.0, 0.25, 3.0, -1.0]).expect("six elements");
    let r = |shape: &[usize]| Reshape {
        shape: shape.into(),
    };
    vec![
        Sample::new(r(&[3, 2]), vec![x.clone()]),
        Sample::new(r(&[6]), vec![x.clone()]),
        Sample::new(r(&[1, 2, 3, 1]), vec![x]),
        Sample::new(r(&[0, 7]), vec![Array::vector(Vec::<f32>::new())]),
        Sample::new(r(&[]), vec![Array::vector(vec![true])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "reshape",
        doc: "The same elements, in row-major order, in another shape of the same size.",
        parse,
        samples,
    }]
}
