//! `slice`: every `stride`-th element from `start` up to `limit` of every axis.
//!
//! ```text
//! y[i] = x[start + i * stride],    extent ceil((limit - start) / stride)
//! ```
//! Bounds are dimensions, such as `n - 1`. Bounds that cannot be compared when the program is built
//! are checked at run time. The adjoint pads with zeros.

use super::entry::{Entry, Spelled, arity};
use super::moving::{exceeds, no_axis, padded, pick, places, prepend};
use super::support::{cost_per_element, mapped, sample_array};
use super::{Concatenate, Pad};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Shape, Type};

/// A strided window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first index of each axis.
    pub start: Vec<Dim>,
    /// Exclusive upper bound of the indices of each axis: at most the extent.
    pub limit: Vec<Dim>,
    /// Steps, positive.
    pub stride: Vec<usize>,
}

impl Slice {
    /// An array of type `ty` whose slice is `part`, of shape `taken`, with zeros at other elements:
    /// by a pad if the numbers of zeros are constants, else by concatenation.
    pub(crate) fn amid_zeros(
        &self,
        ty: &Type,
        (part, taken): (Val, &Shape),
        zeros: impl Fn(&Type) -> Op,
        emit: &mut dyn FnMut(Op, &[Val]) -> Val,
    ) -> Result<Val> {
        let number = |d: &Dim| d.as_const().and_then(|c| i64::try_from(c).ok());
        let (mut pad, mut joined, mut shape) = (Pad::default(), Vec::new(), Vec::new());
        for (k, n) in ty.shape.iter().enumerate() {
            let interior = self.stride[k] - 1;
            let span = padded(&taken[k], 0, 0, interior)?;
            let after = n.clone() - self.start[k].clone() - span;
            let ends = [self.start[k].clone(), after];
            let [low, high] = [0, 1].map(|side| number(&ends[side]).unwrap_or(0));
            shape.push(padded(&taken[k], low, high, interior)?);
            pad.low.push(low);
            pad.high.push(high);
            pad.interior.push(interior);
            joined.push(ends.map(|d| number(&d).is_none().then_some(d)));
        }
        let mut y = match pad.is_none() {
            true => part,
            false => emit(pad.into(), &[part]),
        };
        for (axis, ends) in joined.into_iter().enumerate() {
            let [before, after] = ends.map(|d| {
                let mut shape = shape.clone();
                shape[axis] = d?;
                Some(emit(zeros(&ty.with_shape(shape)), &[]))
            });
            let parts: Vec<Val> = before.into_iter().chain([y]).chain(after).collect();
            if parts.len() > 1 {
                y = emit(Concatenate { axis }.into(), &parts);
            }
            shape[axis] = ty.shape[axis].clone();
        }
        Ok(y)
    }

    /// The bounds of one axis, for error messages.
    fn show(&self, k: usize) -> String {
        match self.stride[k] {
            1 => format!("{}..{}", self.start[k], self.limit[k]),
            s => format!("{}..{} by {s}", self.start[k], self.limit[k]),
        }
    }
}

impl Primitive for Slice {
    fn name(&self) -> &str {
        "slice"
    }

    fn attrs(&self) -> Attrs {
        let strided = self.stride.iter().any(|&s| s != 1);
        let a = Attrs::default()
            .with("start", &self.start)
            .with("limit", &self.limit);
        a.with_if(strided, "stride", &self.stride)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        for (name, n) in [
            ("start", self.start.len()),
            ("limit", self.limit.len()),
            ("stride", self.stride.len()),
        ] {
            if n != x[0].rank() {
                bail!(
                    Attribute,
                    "`slice`: `{name}` has {n} entries for the {} axes of {}",
                    x[0].rank(),
                    x[0]
                );
            }
        }
        let mut shape = Vec::with_capacity(x[0].rank());
        for (k, n) in x[0].shape.iter().enumerate() {
            let (start, limit, stride) = (&self.start[k], &self.limit[k], self.stride[k]);
            if stride == 0 || stride > i64::MAX as usize {
                bail!(
                    Attribute,
                    "`slice`: the stride of axis {k} is {stride}; it must be positive"
                );
            }
            if exceeds(start, limit) || exceeds(limit, n) {
                bail!(
                    Attribute,
                    "`slice` of {}: {} is not within the extent {n} of axis {k}",
                    x[0],
                    self.show(k)
                );
            }
            shape.push(match (start.as_const(), limit.as_const()) {
                (Some(a), Some(b)) => Dim::Const((b - a).div_ceil(stride)),
                _ => (limit.clone() - start.clone() + Dim::Const(stride - 1)).floor_div(stride),
            });
        }
        Ok(vec![x[0].with_shape(shape)])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let start = self
            .start
            .iter()
            .map(|d| d.eval(env))
            .collect::<Result<Vec<_>>>()?;
        let limit = self
            .limit
            .iter()
            .map(|d| d.eval(env))
            .collect::<Result<Vec<_>>>()?;
        let shape: Vec<usize> = (0..start.len())
            .map(|k| limit[k].saturating_sub(start[k]).div_ceil(self.stride[k]))
            .collect();
        let at = places(&shape, x[0].shape(), |k, i| {
            Some(start[k] + i * self.stride[k])
        });
        Ok(vec![pick(&x[0], &shape, at)?])
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

    /// Zeros at elements that were not read.
    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) else {
            return Ok(vec![None]);
        };
        let zeros = |ty: &Type| cx.session().zeros(ty);
        let taken = cx.ty(ct).shape;
        let y = self.amid_zeros(ty, (ct, &taken), zeros, &mut |op, x| cx.op(op, x))?;
        Ok(vec![Some(cx.reshape(y, &ty.shape))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let start = prepend(Dim::Const(0), &self.start);
        mapped(cx.slice(
            x[0].val,
            &start,
            &prepend(size.clone(), &self.limit),
            &prepend(1, &self.stride),
        ))
    }

    fn cost(&self, _: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, y, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let map = |v: &[Dim]| v.iter().map(f).collect();
        Some(
            Slice {
                start: map(&self.start),
                limit: map(&self.limit),
                stride: self.stride.clone(),
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// The elements `start, start + stride, ..` below `limit` of every axis. Writes no operation if
    /// these are all elements.
    pub fn slice(&self, x: Val, start: &[Dim], limit: &[Dim], stride: &[usize]) -> Val {
        let from_all = start.len() == limit.len() && start.iter().all(|d| d.is(0));
        let every = stride.len() == limit.len() && stride.iter().all(|&s| s == 1);
        if from_all && every && *limit == *self.ty(x).shape {
            return x;
        }
        self.op(
            Slice {
                start: start.to_vec(),
                limit: limit.to_vec(),
                stride: stride.to_vec(),
            },
            &[x],
        )
    }

    /// The indices `start..limit` of one axis.
    pub fn slice_axis(
        &self,
        x: Val,
        axis: usize,
        start: impl Into<Dim>,
        limit: impl Into<Dim>,
    ) -> Val {
        let mut to = self.ty(x).shape.to_vec();
        let mut from = vec![Dim::Const(0); to.len()];
        if let (Some(a), Some(b)) = (from.get_mut(axis), to.get_mut(axis)) {
            (*a, *b) = (start.into(), limit.into());
        } else {
            self.fail(no_axis("slice", &self.ty(x), axis));
        }
        self.slice(x, &from, &to, &vec![1; to.len()])
    }

    /// Element `i` of `axis`, which is removed: `x[.., i, ..]`.
    pub fn index_axis(&self, x: Val, axis: usize, i: impl Into<Dim>) -> Val {
        let i = i.into();
        let y = self.slice_axis(x, axis, i.clone(), i + Dim::Const(1));
        self.drop_axis(y, axis)
    }

    /// The value without an axis of extent 1.
    pub(crate) fn drop_axis(&self, x: Val, axis: usize) -> Val {
        let mut shape = self.ty(x).shape.to_vec();
        if axis < shape.len() {
            shape.remove(axis);
        }
        self.reshape(x, &shape)
    }

    /// Consecutive slices of these extents along an axis. Their sum must be the extent of the axis.
    pub fn split(&self, x: Val, axis: usize, sizes: &[Dim]) -> Vec<Val> {
        let (mut at, ty) = (Dim::Const(0), self.ty(x));
        let parts = sizes
            .iter()
            .map(|d| {
                let start = at.clone();
                at = start.clone() + d.clone();
                self.slice_axis(x, axis, start, at.clone())
            })
            .collect();
        match ty.shape.get(axis) {
            Some(n) if n.same(&at) == Some(false) => self.fail(crate::Error::new(
                crate::Code::ShapeMismatch,
                format!(
                    "cannot split axis {axis} of {ty} into parts {sizes:?}: they add up to {at}"
                ),
            )),
            _ => {}
        }
        parts
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let start: Vec<Dim> = s.attrs.get("start")?;
    let stride = s
        .attrs
        .opt("stride")?
        .unwrap_or_else(|| vec![1; start.len()]);
    Ok(Slice {
        start,
        limit: s.attrs.get("limit")?,
        stride,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let dims = |v: &[usize]| v.iter().map(|&d| Dim::Const(d)).collect();
    let s = |start: &[usize], limit: &[usize], stride: &[usize], dtype, shape: &[usize]| {
        let op = Slice {
            start: dims(start),
            limit: dims(limit),
            stride: stride.to_vec(),
        };
        Sample::new(op, vec![sample_array(dtype, shape, 0)])
    };
    vec![
        s(&[1], &[4], &[1], F64, &[5]),
        s(&[1, 0], &[2, 5], &[1, 2], F64, &[3, 5]),
        s(&[0, 1], &[4, 4], &[3, 2], F32, &[4, 6]),
        s(&[2], &[7], &[3], C128, &[8]),
        s(&[1, 1], &[1, 3], &[1, 1], F64, &[2, 3]),
        s(&[0], &[3], &[2], I32, &[3]),
        s(&[1], &[2], &[1], Bool, &[2]),
        s(&[], &[], &[], F64, &[]),
        s(&[0, 0], &[0, 3], &[2, 3], F64, &[0, 3]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "A strided window: y[i] = x[start + i * stride], up to limit.";
    vec![Entry {
        name: "slice",
        doc,
        parse,
        samples,
    }]
}
