//! Frequent methods of eager tensors that are one operation each, applied without an emitter. The
//! other methods are in `generated`.

use super::error::{Error, Result};
use super::tape::Value;
use super::tensor::{EagerTensor, core};
use crate::here::{AtCaller, here};
use crate::methods::{Operand, Products, different_dtypes, different_extents};
use crate::tensor::Given;
use crate::{Axes, Scalar};
use cotangent_core::ops::{
    BroadcastInDim, Constant, Convert, DotGeneral, Reduce, Reduction, Reshape, Transpose, Unary,
};
use cotangent_core::{Array, Code, DType, Dim, Loc, Op, Primitive, Shape};
use smallvec::SmallVec;

/// Maximum number of elements of a tensor beside which a number is stored once for each: a run of
/// an operation on few elements copies an operand that is broadcast.
const MAX_STORED_NUMBERS: usize = 64;

/// A number as a tensor of this shape.
fn number(dtype: DType, c: f64, shape: &[usize]) -> cotangent_core::Result<cotangent_cpu::Tensor> {
    let numbers = match dtype {
        DType::F64 => Array::full(shape, c),
        DType::F32 => Array::full(shape, c as f32),
        dtype => Scalar::F(c).full(dtype, shape.to_vec()),
    };
    numbers.map(Into::into)
}

/// Adds a location to an error of the core.
fn at(loc: Loc) -> impl FnOnce(cotangent_core::Error) -> Error {
    move |e| e.at(loc).into()
}

/// The shape of an elementwise result by NumPy's rule, or the first axis whose extents differ, with
/// these.
fn common_shape(a: &[usize], b: &[usize]) -> Result<Vec<usize>, (usize, usize, usize)> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], k: usize| (k + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .map(|k| match (at(a, k), at(b, k)) {
            (m, n) if m == n || n == 1 => Ok(m),
            (1, n) => Ok(n),
            (m, n) => Err((k, m, n)),
        })
        .collect()
}

impl EagerTensor {
    #[track_caller]
    pub(super) fn unary(&self, f: Unary) -> Result<EagerTensor> {
        let def = f.def();
        let method = if def.tensor.is_empty() {
            def.name
        } else {
            def.tensor
        };
        self.one(method, f, &[self.value()?])
    }

    /// This tensor, broadcast to a shape if it has another.
    #[track_caller]
    fn widened(&self, shape: &[usize]) -> Result<EagerTensor> {
        match self.shape() == shape {
            true => Ok(self.clone()),
            false => self.broadcast_to(shape),
        }
    }

    /// Applies a binary operation to operands of one element type, broadcast to one shape by
    /// NumPy's rule.
    #[track_caller]
    pub(super) fn pair(
        &self,
        method: &str,
        op: impl Into<Op>,
        y: &EagerTensor,
    ) -> Result<EagerTensor> {
        y.belongs_to(self.runtime()).at_caller()?;
        let (a, b) = (self.value()?, y.value()?);
        if a.tensor.dtype() != b.tensor.dtype() {
            return Err(different_dtypes(method, a.ty(), b.ty()).at(here()).into());
        }
        // Compared inline: a call to `memcmp` takes longer for a few extents.
        let (own, other) = (a.tensor.shape(), b.tensor.shape());
        if own.len() == other.len() && own.iter().zip(other).all(|(m, n)| m == n) {
            return self.one(method, op, &[a, b]);
        }
        let shape = common_shape(a.tensor.shape(), b.tensor.shape()).map_err(|(k, m, n)| {
            let types = (a.ty(), b.ty());
            different_extents(method, types, k, (&m.into(), &n.into()))
        });
        let shape = shape.map_err(at(here()))?;
        let (a, b) = (self.widened(&shape)?, y.widened(&shape)?);
        self.one(method, op, &[a.value()?, b.value()?])
    }

    /// As [`pair`](Self::pair), with a tensor or a number.
    #[track_caller]
    pub(super) fn operand(
        &self,
        method: &str,
        op: impl Into<Op>,
        y: Operand<'_, EagerTensor>,
    ) -> Result<EagerTensor> {
        match y {
            Operand::Tensor(y) => self.pair(method, op, y),
            Operand::Number(c) => self.number(method, op, c, false),
        }
    }

    /// Applies an operation of one operand and one result.
    ///
    /// ```
    /// use cotangent::{EagerRuntime, EagerTensor, ops::Unary};
    /// let x = EagerRuntime::new().from_vec_row_major([2], vec![1.0, 4.0])?;
    /// assert_eq!(EagerTensor::apply_one(Unary::Sqrt, &x)?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_one(op: impl Primitive + Copy + Into<Op>, x: &EagerTensor) -> Result<EagerTensor> {
        x.one(op.name(), op, &[x.value()?])
    }

    /// Applies an elementwise operation to two operands of one element type, broadcast to one shape
    /// by NumPy's rule. A number, as the first or the second operand, takes the element type of the
    /// tensor.
    ///
    /// ```
    /// use cotangent::{EagerRuntime, EagerTensor};
    /// use cotangent::ops::{Binary, Compare, Comparison};
    /// let x = EagerRuntime::new().from_vec_row_major([2], vec![1.0, 4.0])?;
    /// let y = EagerTensor::apply_pair(Binary::Sub, 2.0, &x)?;
    /// assert_eq!(y.to_vec::<f64>()?, [1.0, -2.0]);
    /// let less = EagerTensor::apply_pair(Compare(Comparison::Lt), 2.0, &x)?;
    /// assert_eq!(less.to_vec::<bool>()?, [false, true]);
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_pair<'a>(
        op: impl Primitive + Copy + Into<Op>,
        x: impl Into<Operand<'a, EagerTensor>>,
        y: impl Into<Operand<'a, EagerTensor>>,
    ) -> Result<EagerTensor> {
        match (x.into(), y.into()) {
            (Operand::Tensor(x), y) => x.operand(op.name(), op, y),
            (Operand::Number(c), Operand::Tensor(y)) => y.number(op.name(), op, c, true),
            (Operand::Number(_), Operand::Number(_)) => {
                let text = format!(
                    "`{}` of two numbers has no runtime: make one of them a tensor",
                    op.name()
                );
                core(Code::Arity, text)
            }
        }
    }

    /// Applies an operation to this tensor and a constant of the same type and shape.
    #[track_caller]
    pub(super) fn number(
        &self,
        method: &str,
        op: impl Into<Op>,
        c: Scalar,
        first: bool,
    ) -> Result<EagerTensor> {
        let x = self.value()?;
        let (dtype, shape) = (x.tensor.dtype(), x.tensor.shape());
        let stored = match x.tensor.numel() <= MAX_STORED_NUMBERS {
            true => shape,
            false => &[],
        };
        let c: cotangent_cpu::Tensor = match c {
            Scalar::F(c) if dtype.is_float() => number(dtype, c, stored)?,
            c => {
                Constant::number(method, x.ty(), c).map_err(at(here()))?;
                c.full(dtype, stored.to_vec())?.into()
            }
        };
        let c = match c.shape() == shape {
            true => c,
            false => c.broadcast(shape, &[])?,
        };
        let c = &Value::new(c, Given::Nothing);
        self.one(method, op, &if first { [c, x] } else { [x, c] })
    }

    /// The axes, ascending.
    #[track_caller]
    fn sorted_axes(&self, method: &str, axes: &Axes) -> Result<SmallVec<[usize; 4]>> {
        let rank = self.value()?.rank();
        let mut axes = axes.of_rank(method, rank).map_err(at(here()))?;
        axes.sort_unstable();
        Ok(axes)
    }

    #[track_caller]
    fn reduce(&self, method: &str, op: Reduction, axes: impl Into<Axes>) -> Result<EagerTensor> {
        let axes = self.sorted_axes(method, &axes.into())?;
        let stable = op == Reduction::Sum && self.runtime().session().numerics().stable;
        self.one(method, Reduce::new(op, &axes, stable), &[self.value()?])
    }

    /// The sum over axes, which are removed.
    #[track_caller]
    pub fn sum(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce("sum", Reduction::Sum, axes)
    }

    /// The sum over axes, which are removed.
    #[track_caller]
    pub fn reduce_sum(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce("reduce_sum", Reduction::Sum, axes)
    }

    /// The product over axes, which are removed.
    #[track_caller]
    pub fn prod(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce("prod", Reduction::Prod, axes)
    }

    /// The product over axes, which are removed.
    #[track_caller]
    pub fn reduce_prod(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce("reduce_prod", Reduction::Prod, axes)
    }

    /// The maximum over axes, which are removed.
    #[track_caller]
    pub fn max(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce("max", Reduction::Max, axes)
    }

    /// The maximum over axes, which are removed.
    #[track_caller]
    pub fn reduce_max(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce("reduce_max", Reduction::Max, axes)
    }

    /// The minimum over axes, which are removed.
    #[track_caller]
    pub fn min(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        self.reduce("min", Reduction::Min, axes)
    }

    /// The minimum over axes, which are removed.
    #[track_caller]
    pub fn reduce_min(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.reduce("reduce_min", Reduction::Min, axes)
    }

    /// The elements, in row-major order, in another shape.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<EagerTensor> {
        self.one(
            "reshape",
            Reshape {
                shape: shape.into(),
            },
            &[self.value()?],
        )
    }

    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    pub fn transpose(&self, perm: &[usize]) -> Result<EagerTensor> {
        self.permuted("transpose", perm.to_vec())
    }

    #[track_caller]
    fn permuted(&self, method: &str, perm: Vec<usize>) -> Result<EagerTensor> {
        self.one(method, Transpose { perm }, &[self.value()?])
    }

    /// Permuted axes: axis `k` of the result is axis `axes[k]`.
    #[track_caller]
    pub fn permute_dims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        let rank = self.value()?.rank();
        let perm = axes
            .into()
            .of_rank("permute_dims", rank)
            .map_err(at(here()))?;
        self.permuted("permute_dims", perm.to_vec())
    }

    /// Axes in reverse order: the transpose of a matrix.
    #[track_caller]
    pub fn t(&self) -> Result<EagerTensor> {
        self.permuted("t", (0..self.rank()).rev().collect())
    }

    /// A broadcast to `shape`. Axis `k` becomes axis `axes[k]`, and is broadcast if its extent is
    /// 1.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: impl Into<Shape>, axes: &[usize]) -> Result<EagerTensor> {
        self.broadcast("broadcast_in_dim", shape.into(), axes.to_vec())
    }

    #[track_caller]
    fn broadcast(&self, method: &str, shape: Shape, dims: Vec<usize>) -> Result<EagerTensor> {
        self.one(method, BroadcastInDim { shape, dims }, &[self.value()?])
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
        self.broadcast("broadcast_to", shape, (skip..skip + self.rank()).collect())
    }

    /// The elements converted to another element type.
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> Result<EagerTensor> {
        self.one("astype", Convert { to: dtype }, &[self.value()?])
    }

    /// The matrix product, batched over leading axes.
    #[track_caller]
    pub fn matmul(&self, y: &EagerTensor) -> Result<EagerTensor> {
        y.belongs_to(self.runtime()).at_caller()?;
        if self.rank() == 2 && y.rank() == 2 {
            return self.product("matmul", y, DotGeneral::contract(&[1], &[0]));
        }
        Products::matmul(self, y)
    }

    /// Products summed over pairs of axes. The sums are compensated if the runtime's numerics
    /// specify stable sums.
    #[track_caller]
    pub fn dot_general(&self, y: &EagerTensor, d: DotGeneral) -> Result<EagerTensor> {
        self.product("dot_general", y, d)
    }

    #[track_caller]
    fn product(&self, method: &str, y: &EagerTensor, d: DotGeneral) -> Result<EagerTensor> {
        y.belongs_to(self.runtime()).at_caller()?;
        let d = if self.runtime().session().numerics().stable {
            d.compensated()
        } else {
            d
        };
        self.one(method, d, &[self.value()?, y.value()?])
    }

    /// A power with a fixed integer exponent.
    #[track_caller]
    pub fn powi(&self, n: i64) -> Result<EagerTensor> {
        self.one(
            "powi",
            cotangent_core::ops::IntegerPow { n },
            &[self.value()?],
        )
    }
}
