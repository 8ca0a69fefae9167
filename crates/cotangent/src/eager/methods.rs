//! Frequent methods of eager tensors that are one operation each, applied without an emitter. The
//! other methods are in `generated`.

use super::error::Result;
use super::tape::{Value, number};
use super::tensor::EagerTensor;
use crate::Axes;
use crate::here::here;
use crate::tensor::Given;
use cotangent_core::ops::{
    Binary, BroadcastInDim, Constant, Convert, DotGeneral, Reduce, Reduction, Reshape, Transpose,
    Unary,
};
use cotangent_core::{DType, Dim, Emit, Loc, Op, Shape, Val};
use smallvec::SmallVec;
use std::panic::Location;

/// The shape of an elementwise result by NumPy's rule.
fn common_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], k: usize| (k + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .map(|k| match (at(a, k), at(b, k)) {
            (m, n) if m == n || n == 1 => Some(m),
            (1, n) => Some(n),
            _ => None,
        })
        .collect()
}

impl EagerTensor {
    /// Runs the operations that `f` emits. `self` is value 0, and `others` follow.
    #[track_caller]
    fn through(
        &self,
        others: &[&EagerTensor],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
    ) -> Result<EagerTensor> {
        let mut x = vec![self];
        x.extend(others);
        Ok(self.runtime().write(&x, |cx, v| vec![f(cx, v)])?.remove(0))
    }

    #[track_caller]
    pub(super) fn unary(&self, f: Unary) -> Result<EagerTensor> {
        self.one(f, &[self.value()?])
    }

    /// This tensor, broadcast to a shape if it has another.
    #[track_caller]
    fn widened(&self, shape: &[usize]) -> Result<EagerTensor> {
        match self.shape() == shape {
            true => Ok(self.clone()),
            false => self.broadcast_to(shape),
        }
    }

    /// Applies a binary operation to operands of one shape, or broadcast to one by NumPy's rule.
    /// Incompatible shapes are the operation's error.
    #[track_caller]
    pub(super) fn pair(&self, op: impl Into<Op>, y: &EagerTensor) -> Result<EagerTensor> {
        y.belongs_to(self.runtime())?;
        let (a, b) = (self.value()?, y.value()?);
        if a.tensor.shape() != b.tensor.shape()
            && let Some(shape) = common_shape(a.tensor.shape(), b.tensor.shape())
        {
            let (a, b) = (self.widened(&shape)?, y.widened(&shape)?);
            return self.one(op, &[a.value()?, b.value()?]);
        }
        self.one(op, &[a, b])
    }

    /// Applies an operation to this tensor and a constant of the same type and shape.
    #[track_caller]
    pub(super) fn number(&self, op: Binary, c: f64, first: bool) -> Result<EagerTensor> {
        let x = self.value()?;
        if !x.tensor.dtype().is_float() {
            let loc = Loc::Rust(Location::caller());
            Constant::number(op.def().name, x.ty(), c.into()).map_err(|e| e.at(loc))?;
        }
        let dims: Vec<usize> = Vec::new();
        let tensor = number(x.tensor.dtype(), c).broadcast(x.tensor.shape(), &dims)?;
        let c = &Value::new(tensor, Given::Nothing);
        self.one(op, &if first { [c, x] } else { [x, c] })
    }

    /// The axes, ascending.
    #[track_caller]
    fn sorted_axes(&self, op: Reduction, axes: &Axes) -> Result<SmallVec<[usize; 4]>> {
        let (rank, loc) = (self.value()?.rank(), here());
        let name = op.def().name;
        let mut axes = axes.of_rank(name, rank).map_err(|e| e.at(loc))?;
        axes.sort_unstable();
        Ok(axes)
    }

    #[track_caller]
    fn reduce(&self, op: Reduction, axes: impl Into<Axes>) -> Result<EagerTensor> {
        let axes = self.sorted_axes(op, &axes.into())?;
        let stable = op == Reduction::Sum && self.runtime().session().numerics().stable;
        self.one(Reduce::new(op, &axes, stable), &[self.value()?])
    }

    /// The sum over axes, which are removed.
    #[track_caller]
    pub fn sum(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce(Reduction::Sum, axes)
    }

    /// The sum over axes, which are removed.
    #[track_caller]
    pub fn reduce_sum(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce(Reduction::Sum, axes)
    }

    /// The product over axes, which are removed.
    #[track_caller]
    pub fn prod(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce(Reduction::Prod, axes)
    }

    /// The product over axes, which are removed.
    #[track_caller]
    pub fn reduce_prod(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce(Reduction::Prod, axes)
    }

    /// The maximum over axes, which are removed.
    #[track_caller]
    pub fn max(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce(Reduction::Max, axes)
    }

    /// The maximum over axes, which are removed.
    #[track_caller]
    pub fn reduce_max(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce(Reduction::Max, axes)
    }

    /// The minimum over axes, which are removed.
    #[track_caller]
    pub fn min(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce(Reduction::Min, axes)
    }

    /// The minimum over axes, which are removed.
    #[track_caller]
    pub fn reduce_min(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce(Reduction::Min, axes)
    }

    /// The elements, in row-major order, in another shape.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<EagerTensor> {
        self.one(
            Reshape {
                shape: shape.into(),
            },
            &[self.value()?],
        )
    }

    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    pub fn transpose(&self, perm: &[usize]) -> Result<EagerTensor> {
        self.one(
            Transpose {
                perm: perm.to_vec(),
            },
            &[self.value()?],
        )
    }

    /// Permuted axes: axis `k` of the result is axis `axes[k]`.
    #[track_caller]
    pub fn permute_dims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        let (rank, loc) = (self.value()?.rank(), here());
        let axes = axes.into().of_rank("permute_dims", rank);
        self.transpose(&axes.map_err(|e| e.at(loc))?)
    }

    /// Axes in reverse order: the transpose of a matrix.
    #[track_caller]
    pub fn t(&self) -> Result<EagerTensor> {
        self.transpose(&(0..self.rank()).rev().collect::<Vec<_>>())
    }

    /// A broadcast to `shape`. Axis `k` becomes axis `axes[k]`, and is broadcast if its extent is
    /// 1.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: impl Into<Shape>, axes: &[usize]) -> Result<EagerTensor> {
        let op = BroadcastInDim {
            shape: shape.into(),
            dims: axes.to_vec(),
        };
        self.one(op, &[self.value()?])
    }

    /// A broadcast to `shape` by NumPy's rule: axes are aligned at the end.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Result<EagerTensor> {
        let shape = shape.into();
        let same = |(d, &n): (&Dim, &usize)| d.is(n);
        if shape.len() == self.rank() && shape.iter().zip(self.shape()).all(same) {
            return Ok(self.clone());
        }
        let skip = shape.len().saturating_sub(self.rank());
        self.broadcast_in_dim(shape, &(skip..skip + self.rank()).collect::<Vec<_>>())
    }

    /// The elements converted to another element type.
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> Result<EagerTensor> {
        self.one(Convert { to: dtype }, &[self.value()?])
    }

    /// The matrix product, batched over leading axes.
    #[track_caller]
    pub fn matmul(&self, y: &EagerTensor) -> Result<EagerTensor> {
        y.belongs_to(self.runtime())?;
        if self.rank() == 2 && y.rank() == 2 {
            return self.dot_general(y, DotGeneral::contract(&[1], &[0]));
        }
        self.through(&[y], |cx, v| cx.matmul(v[0], v[1]))
    }

    /// Products summed over pairs of axes. The sums are compensated if the runtime's numerics
    /// specify stable sums.
    #[track_caller]
    pub fn dot_general(&self, y: &EagerTensor, d: DotGeneral) -> Result<EagerTensor> {
        y.belongs_to(self.runtime())?;
        let d = if self.runtime().session().numerics().stable {
            d.compensated()
        } else {
            d
        };
        self.one(d, &[self.value()?, y.value()?])
    }

    /// A power with a fixed integer exponent.
    #[track_caller]
    pub fn powi(&self, n: i64) -> Result<EagerTensor> {
        self.one(cotangent_core::ops::IntegerPow { n }, &[self.value()?])
    }
}
