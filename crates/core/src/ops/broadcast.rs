//! `broadcast_in_dim`: `y[i] = x[i[dims]]`, with index 0 along axes of `x` of extent 1.
//!
//! The adjoint sums over the broadcast axes. Whether an axis of symbolic extent is broadcast is
//! known only at run time. The adjoint then is a data-dependent [`Reduce`]
//! (`sum_to`).

use super::Reduce;
use super::entry::{Entry, Spelled, arity};
use super::support::{cost_per_element, mapped};
use crate::array::{Array, room};
use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample,
    ShiftRule, Val,
};
use crate::shape::{Dim, Env, Shape, Type};

/// A broadcast to `shape`. Axis `k` of the operand becomes axis `dims[k]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BroadcastInDim {
    /// The result's extents.
    pub shape: Shape,
    /// The axis of the result for each axis of the operand, strictly ascending.
    pub dims: Vec<usize>,
}

impl Primitive for BroadcastInDim {
    fn name(&self) -> &str {
        "broadcast_in_dim"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("shape", &self.shape.to_vec())
            .with("dims", &self.dims)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if self.dims.len() != x[0].rank() {
            bail!(
                Attribute,
                "`dims` = {:?} must name an axis for each of the {} of {}",
                self.dims,
                x[0].rank(),
                x[0]
            );
        }
        let ascending = self.dims.windows(2).all(|w| w[0] < w[1]);
        if !ascending || self.dims.last().is_some_and(|&d| d >= self.shape.rank()) {
            bail!(
                Attribute,
                "`dims` = {:?} must be ascending axes of a result of rank {}",
                self.dims,
                self.shape.rank()
            );
        }
        for (axis, (d, &to)) in x[0].shape.iter().zip(&self.dims).enumerate() {
            if !d.is(1) && d.same(&self.shape[to]) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "cannot broadcast {} to {}: axis {axis} is {d}, the result's axis {to} is {}",
                    x[0],
                    x[0].with_shape(self.shape.clone()),
                    self.shape[to]
                );
            }
        }
        Ok(vec![x[0].with_shape(self.shape.clone())])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let shape = self.shape.eval(env)?;
        let n = room(&shape, size_of::<i128>())?;
        let at = (0..n).map(|i| {
            // Converts the flat index in the result to a flat index in the operand.
            let (mut rest, mut index) = (i, vec![0; shape.len()]);
            for (k, &d) in shape.iter().enumerate().rev() {
                index[k] = rest % d;
                rest /= d;
            }
            self.dims
                .iter()
                .zip(x[0].shape())
                .fold(0, |a, (&to, &d)| a * d + if d == 1 { 0 } else { index[to] })
        });
        Ok(vec![
            x[0].wide().pick(at).narrow(x[0].dtype(), shape.clone())?,
        ])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        Some(ShiftRule::Broadcast(&self.dims))
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
        // New axes are summed and removed first. Axes expanded from extent 1 are summed and keep
        // extent 1.
        let new: Vec<usize> = (0..self.shape.rank())
            .filter(|a| !self.dims.contains(a))
            .collect();
        let ct = cx.reduce_sum(ct, &new);
        Ok(vec![Some(cx.sum_to(ct, &ty.shape))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let shape = std::iter::once(size)
            .chain(self.shape.iter())
            .cloned()
            .collect();
        let dims = std::iter::once(0)
            .chain(self.dims.iter().map(|d| d + 1))
            .collect();
        mapped(cx.op(BroadcastInDim { shape, dims }, &[x[0].val]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            BroadcastInDim {
                shape: self.shape.iter().map(f).collect(),
                dims: self.dims.clone(),
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// Broadcasts `x` to `shape`. Axis `k` of `x` becomes axis `dims[k]`. Writes no operation if
    /// nothing changes.
    pub fn broadcast_in_dim(&self, x: Val, shape: &[Dim], dims: &[usize]) -> Val {
        if *self.ty(x).shape == *shape && dims.iter().copied().eq(0..shape.len()) {
            return x;
        }
        self.op(
            BroadcastInDim {
                shape: shape.to_vec().into(),
                dims: dims.to_vec(),
            },
            &[x],
        )
    }

    /// Broadcasts `x` along new leading axes and axes of extent 1, by NumPy's rules.
    pub fn broadcast_to(&self, x: Val, shape: &[Dim]) -> Val {
        let rank = self.ty(x).rank();
        let dims: Vec<usize> = (shape.len().saturating_sub(rank)..shape.len()).collect();
        self.broadcast_in_dim(x, shape, &dims)
    }

    /// The value with a batch axis: broadcast along it if it has none.
    pub fn replicate(&self, x: Batched, size: &Dim) -> Batched {
        if x.mapped {
            return x;
        }
        let ty = self.ty(x.val).batched(size);
        let dims: Vec<usize> = (1..ty.rank()).collect();
        Batched {
            val: self.op(
                BroadcastInDim {
                    shape: ty.shape,
                    dims,
                },
                &[x.val],
            ),
            mapped: true,
        }
    }

    /// The adjoint of a broadcast along axes of extent 1: `x` summed to `shape`, which has the same
    /// rank as `x`.
    pub fn sum_to(&self, x: Val, shape: &Shape) -> Val {
        let ty = self.ty(x);
        if ty.rank() != shape.rank() {
            let text = format!(
                "sum_to of {ty} to {}: the shapes must have equal rank",
                ty.with_shape(shape.clone())
            );
            self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
            return Val::POISON;
        }
        let differ: Vec<usize> = (0..ty.rank())
            .filter(|&a| ty.shape[a].same(&shape[a]) != Some(true))
            .collect();
        if differ.is_empty() {
            x
        } else if differ.iter().all(|&a| shape[a].is(1)) {
            let y = self.reduce_sum(x, &differ);
            self.reshape(y, shape)
        } else {
            self.op(
                Reduce::sum_to(shape.clone(), self.session().numerics().stable),
                &[x],
            )
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let shape: Option<Vec<Dim>> = s.attrs.opt("shape")?;
    let shape: Shape = match (shape, s.results) {
        (Some(d), _) => d.into(),
        (None, Some([t])) => t.shape.clone(),
        _ => bail!(
            Attribute,
            "the attribute `shape`, or the type of the result, is missing"
        ),
    };
    let rank = s.operands.first().map_or(0, Type::rank);
    let dims = match s.attrs.opt("dims")? {
        Some(d) => d,
        None => (shape.rank().saturating_sub(rank)..shape.rank()).collect(),
    };
    Ok(BroadcastInDim { shape, dims }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x = Array::from_vec([2, 1], vec![1.5f64, -0.5]).expect("two elements");
    let b = |shape: &[usize], dims: &[usize]| BroadcastInDim {
        shape: shape.into(),
        dims: dims.to_vec(),
    };
    vec![
        Sample::new(b(&[2, 3], &[0, 1]), vec![x.clone()]),
        Sample::new(b(&[4, 2, 2, 1], &[1, 3]), vec![x]),
        Sample::new(b(&[2, 2], &[]), vec![Array::scalar(2.0f32)]),
        Sample::new(
            b(&[0, 3], &[1]),
            vec![Array::vector(vec![1.0f64, 2.0, 3.0])],
        ),
        Sample::new(b(&[3, 2], &[1]), vec![Array::vector(vec![1i32, 2])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Broadcast: y[i] = x[i[dims]], index 0 along axes of extent 1.";
    vec![Entry {
        name: "broadcast_in_dim",
        doc,
        parse,
        samples,
    }]
}
