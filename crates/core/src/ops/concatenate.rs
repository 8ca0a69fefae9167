//! `concatenate`: joins operands along an axis. Linear in all operands together. The adjoint
//! slices.

use super::entry::{Entry, Spelled};
use super::moving::{no_axis, overlay_all, places};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::Array;
use crate::bail;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Operand, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// Joining along `axis`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Concatenate {
    /// The axis along which operands are joined. The other extents are equal.
    pub axis: usize,
}

impl Primitive for Concatenate {
    fn name(&self) -> &str {
        "concatenate"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("axis", self.axis)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let Some(first) = x.first() else {
            bail!(Arity, "`concatenate` takes at least one operand, got none")
        };
        if self.axis >= first.rank() {
            return Err(no_axis("concatenate", first, self.axis));
        }
        let mut shape = first.shape.to_vec();
        for (i, t) in x.iter().enumerate().skip(1) {
            if t.dtype != first.dtype {
                bail!(
                    DTypeMismatch,
                    "`concatenate` needs operands of one element type, got {first} and {t}"
                );
            }
            if t.rank() != first.rank() {
                bail!(
                    ShapeMismatch,
                    "`concatenate` needs operands of one rank, got {first} and {t}"
                );
            }
            for (k, (a, b)) in shape.iter_mut().zip(t.shape.iter()).enumerate() {
                if k == self.axis {
                    *a = a.clone() + b.clone();
                } else if a.same(b) == Some(false) {
                    bail!(
                        ShapeMismatch,
                        "cannot concatenate {first} and {t} along axis {}: axis {k} of operand {i} is {b}, not {a}",
                        self.axis
                    );
                } else if b.as_const().is_some() {
                    *a = b.clone();
                }
            }
        }
        Ok(vec![first.with_shape(shape)])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let mut shape = x[0].shape().to_vec();
        shape[self.axis] = x.iter().map(|a| a.shape()[self.axis]).sum();
        let (mut out, mut at) = (Array::zeros(x[0].dtype(), shape.clone())?, 0);
        for a in x {
            let to = places(a.shape(), &shape, |k, i| {
                Some(if k == self.axis { at + i } else { i })
            });
            out = overlay_all(out, a, to)?;
            at += a.shape()[self.axis];
        }
        Ok(vec![out])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask.iter().all(|m| *m)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let t: Vec<Operand> = x
            .iter()
            .zip(t)
            .map(|(&x, &t)| cx.or_zeros(t, x).into())
            .collect();
        Ok(cx.one(cx.op(self.clone(), x), Some(cx.apply1(self.clone(), &t))))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let Some(ct) = ct[0] else {
            return Ok(vec![None; x.len()]);
        };
        let mut at = Dim::Const(0);
        let part = |arg: &Arg| {
            let ty = match arg {
                Arg::L(ty) => ty.clone(),
                Arg::R(v) => cx.ty(*v),
            };
            let start = at.clone();
            at = start.clone() + ty.shape[self.axis].clone();
            arg.is_linear()
                .then(|| cx.slice_axis(ct, self.axis, start, at.clone()))
        };
        Ok(x.iter().map(part).collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let x: Vec<Val> = x.iter().map(|b| cx.replicate(*b, size).val).collect();
        mapped(cx.concatenate(&x, self.axis + 1))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Joins values along `axis`. Writes no operation for a single value.
    pub fn concatenate(&self, x: &[Val], axis: usize) -> Val {
        match x {
            [x] if axis < self.ty(*x).rank() => *x,
            _ => self.op(Concatenate { axis }, x),
        }
    }

    /// Joins values of equal shape along a new axis.
    pub fn stack(&self, x: &[Val], axis: usize) -> Val {
        let parts: Vec<Val> = x.iter().map(|&x| self.insert_axis(x, axis)).collect();
        self.concatenate(&parts, axis)
    }

    /// The value with a new axis of extent 1 at this position.
    pub(super) fn insert_axis(&self, x: Val, axis: usize) -> Val {
        let ty = self.ty(x);
        if axis > ty.rank() {
            let text = format!("a new axis of {ty} cannot be at position {axis}");
            self.fail(Error::new(Code::Attribute, text));
            return x;
        }
        let mut shape = ty.shape.to_vec();
        shape.insert(axis, Dim::Const(1));
        self.reshape(x, &shape)
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Concatenate {
        axis: s.attrs.get("axis")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let c = |axis, dtype, shapes: &[&[usize]]| {
        let x = shapes
            .iter()
            .enumerate()
            .map(|(i, s)| sample_array(dtype, s, 10 * i))
            .collect();
        Sample::new(Concatenate { axis }, x)
    };
    vec![
        c(0, F64, &[&[2], &[3]]),
        c(1, F64, &[&[2, 1], &[2, 3], &[2, 0], &[2, 2]]),
        c(0, F32, &[&[1, 2], &[2, 2]]),
        c(1, C128, &[&[1, 1], &[1, 2]]),
        c(0, I32, &[&[2], &[1]]),
        c(0, Bool, &[&[1], &[2]]),
        c(0, F64, &[&[3]]),
        c(0, F64, &[&[0, 3], &[0, 3]]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Joins operands of one element type along an axis; their other extents are equal.";
    vec![Entry {
        name: "concatenate",
        doc,
        parse,
        samples,
    }]
}
