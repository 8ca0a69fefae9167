//! `shard`: the division of a value among the devices of a mesh, `y = x`. It is its own adjoint.
//!
//! The operation names axes of a mesh for each dimension. The mesh is given where the program is
//! written for several devices; on one device the operation has no effect.

use super::entry::{Entry, Spelled, arity};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attr, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// The word for a dimension that is not divided.
const NOT_DIVIDED: &str = "none";

/// The word for a dimension that the compiler divides.
const OPEN: &str = "open";

/// The division of a value among the devices of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shard {
    /// For each dimension the axes of the mesh along which it is divided, from the slowest to the
    /// fastest; `None`: the compiler decides. Further dimensions are not divided.
    pub spec: Vec<Option<Vec<String>>>,
}

impl Primitive for Shard {
    fn name(&self) -> &str {
        "shard"
    }

    fn attrs(&self) -> Attrs {
        let word = |s: &str| Attr::Str(s.to_owned());
        let dim = |axes: &Option<Vec<String>>| match axes.as_deref() {
            None => word(OPEN),
            Some([]) => word(NOT_DIVIDED),
            Some([axis]) => word(axis),
            Some(axes) => Attr::List(axes.iter().map(|a| word(a)).collect()),
        };
        Attrs::default().with("spec", Attr::List(self.spec.iter().map(dim).collect()))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if self.spec.len() > x[0].rank() {
            bail!(
                Attribute,
                "`shard`: a division of {} dimensions is given for a tensor of type {}",
                self.spec.len(),
                x[0]
            );
        }
        let axes: Vec<&String> = self.spec.iter().flatten().flatten().collect();
        for (k, axis) in axes.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if axis.is_empty()
                || !axis.chars().all(plain)
                || [NOT_DIVIDED, OPEN].contains(&axis.as_str())
            {
                bail!(
                    Attribute,
                    "`shard`: {axis:?} is no name of an axis of a mesh: it has letters, digits and `_`"
                );
            }
            if axes[..k].contains(axis) {
                bail!(
                    Attribute,
                    "`shard`: the axis `{axis}` divides two dimensions of one tensor"
                );
            }
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok(vec![x[0].clone()])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![ct[0].map(|ct| cx.shard(ct, &self.spec))])
    }

    /// The axis of the batch is divided as the compiler decides.
    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let spec = [&[None], &self.spec[..]].concat();
        mapped(cx.shard(x[0].val, &spec))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `x`, divided along axes of a mesh: those of each dimension, `None` where the compiler
    /// decides.
    pub fn shard(&self, x: Val, spec: &[Option<Vec<String>>]) -> Val {
        let spec = spec.to_vec();
        self.op(Shard { spec }, &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let dim = |a: &Attr| {
        Ok(Some(match a {
            Attr::Str(s) if s == OPEN => return Ok(None),
            Attr::Str(s) if s == NOT_DIVIDED => Vec::new(),
            Attr::Str(s) => vec![s.clone()],
            Attr::Dim(d) if d.as_sym().is_some() => vec![d.to_string()],
            Attr::List(axes) => {
                let name = |a: &Attr| match a {
                    Attr::Str(s) => Ok(s.clone()),
                    Attr::Dim(d) if d.as_sym().is_some() => Ok(d.to_string()),
                    _ => bail!(Attribute, "`shard`: an axis of a mesh is a name"),
                };
                axes.iter().map(name).collect::<Result<_>>()?
            }
            _ => bail!(
                Attribute,
                "`shard`: each dimension of `spec` is the name of an axis of the mesh, a list of names, \"none\" or \
                 \"open\""
            ),
        }))
    };
    let dims: Vec<Attr> = s.attrs.get("spec")?;
    Ok(Shard {
        spec: dims.iter().map(dim).collect::<Result<_>>()?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let s = |spec: &[Option<&[&str]>], dtype, shape: &[usize]| {
        let axes = |axes: &[&str]| axes.iter().map(|&a| a.to_owned()).collect();
        let spec = spec.iter().map(|d| d.map(axes)).collect();
        Sample::new(Shard { spec }, vec![sample_array(dtype, shape, 0)])
    };
    vec![
        s(&[Some(&["data"]), Some(&[])], F64, &[4, 3]),
        s(&[None, Some(&["data", "model"])], F32, &[2, 4]),
        s(&[Some(&["data"])], C128, &[4, 2]),
        s(&[], F64, &[]),
        s(&[Some(&["data"])], I32, &[0]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The same value, divided among the devices of a mesh along named axes.";
    vec![Entry {
        name: "shard",
        doc,
        parse,
        samples,
    }]
}
