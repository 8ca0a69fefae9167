//! Methods and operators of eager tensors that are one operation each, applied without an emitter.
//! The methods shared with traced tensors are in `crate::methods`.

use super::error::Result;
use super::tape::{Value, number};
use super::tensor::EagerTensor;
use crate::here::here;
use crate::tensor::Given;
use cotangent_core::ops::{
    Binary, BroadcastInDim, Compare, Comparison, Constant, Convert, DotGeneral, Reduce, Reduction,
    Reshape, Transpose, Unary,
};
use cotangent_core::{Code, DType, Emit, Loc, Op, Val};
use smallvec::SmallVec;
use std::ops::{Add, Div, Mul, Neg, Range, Sub};
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
    fn unary(&self, f: Unary) -> Result<EagerTensor> {
        self.one(f, &[self.value()?])
    }

    /// Applies a binary operation to operands of one shape, or broadcast to one by NumPy's rule.
    /// Incompatible shapes are the operation's error.
    #[track_caller]
    fn pair(&self, op: impl Into<Op>, y: &EagerTensor) -> Result<EagerTensor> {
        y.belongs_to(self.runtime())?;
        let (a, b) = (self.value()?, y.value()?);
        if a.tensor.shape() != b.tensor.shape()
            && let Some(shape) = common_shape(a.tensor.shape(), b.tensor.shape())
        {
            let (a, b) = (self.broadcast_to(&shape)?, y.broadcast_to(&shape)?);
            return self.one(op, &[a.value()?, b.value()?]);
        }
        self.one(op, &[a, b])
    }

    /// Applies an operation to this tensor and a constant of the same type and shape.
    #[track_caller]
    fn number(&self, op: Binary, c: f64, first: bool) -> Result<EagerTensor> {
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

    #[track_caller]
    fn check_axes(&self, axes: &[usize]) -> Result<()> {
        let rank = self.value()?.rank();
        match axes
            .iter()
            .enumerate()
            .find(|&(k, &a)| a >= rank || axes[..k].contains(&a))
        {
            Some((_, a)) => {
                let text =
                    format!("axis {a} is repeated or is not an axis of a tensor of rank {rank}");
                Err(cotangent_core::Error::new(Code::Attribute, text)
                    .at(here())
                    .into())
            }
            None => Ok(()),
        }
    }

    fn all_axes(&self) -> SmallVec<[usize; 4]> {
        (0..self.rank()).collect()
    }

    #[track_caller]
    fn reduce(&self, op: Reduction, axes: &[usize]) -> Result<EagerTensor> {
        self.check_axes(axes)?;
        let mut axes: SmallVec<[usize; 4]> = axes.into();
        axes.sort_unstable();
        let stable = op == Reduction::Sum && self.runtime().session().numerics().stable;
        self.one(Reduce::new(op, &axes, stable), &[self.value()?])
    }

    /// The sum of all elements: a scalar.
    #[track_caller]
    pub fn sum(&self) -> Result<EagerTensor> {
        self.reduce(Reduction::Sum, &self.all_axes())
    }

    /// The elements, in row-major order, in another shape.
    #[track_caller]
    pub fn reshape(&self, shape: &[usize]) -> Result<EagerTensor> {
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

    /// Axes in reverse order: the transpose of a matrix.
    #[track_caller]
    pub fn t(&self) -> Result<EagerTensor> {
        self.transpose(&(0..self.rank()).rev().collect::<Vec<_>>())
    }

    /// A broadcast to `shape`. Axis `k` becomes axis `axes[k]`, and is broadcast if its extent is
    /// 1.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: &[usize], axes: &[usize]) -> Result<EagerTensor> {
        let op = BroadcastInDim {
            shape: shape.into(),
            dims: axes.to_vec(),
        };
        self.one(op, &[self.value()?])
    }

    /// A broadcast to `shape` by NumPy's rule: axes are aligned at the end.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<EagerTensor> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        let skip = shape.len().saturating_sub(self.rank());
        self.broadcast_in_dim(shape, &(skip..skip + self.rank()).collect::<Vec<_>>())
    }

    /// Elements `range` of an axis.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<EagerTensor> {
        self.check_axes(&[axis])?;
        self.through(&[], |cx, v| {
            cx.slice_axis(v[0], axis, range.start, range.end)
        })
    }

    /// Tensors concatenated along an axis.
    #[track_caller]
    pub fn concatenate(parts: &[&EagerTensor], axis: usize) -> Result<EagerTensor> {
        Ok(EagerTensor::apply(cotangent_core::ops::Concatenate { axis }, parts)?.remove(0))
    }

    /// The elements converted to another element type.
    #[track_caller]
    pub fn convert(&self, to: DType) -> Result<EagerTensor> {
        self.one(Convert { to }, &[self.value()?])
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

    /// `c x` for a number.
    #[track_caller]
    pub fn scale(&self, c: f64) -> Result<EagerTensor> {
        self.number(Binary::Mul, c, true)
    }
}

macro_rules! methods {
    (unary: $($u:ident $U:ident),*; binary: $($b:ident $B:ident),*; compare: $($c:ident $C:ident),*;
     reduce: $($r:ident $R:ident),*) => {
        impl EagerTensor {
            $(#[doc = concat!("Elementwise `", stringify!($u), "`.")]
            #[track_caller]
            pub fn $u(&self) -> Result<EagerTensor> {
                self.unary(Unary::$U)
            })*
            $(#[doc = concat!("Elementwise `", stringify!($b), "`, broadcast by NumPy's rule.")]
            #[track_caller]
            pub fn $b(&self, y: &EagerTensor) -> Result<EagerTensor> {
                self.pair(Binary::$B, y)
            })*
            $(#[doc = concat!("Elementwise comparison `", stringify!($c), "`, broadcast by NumPy's rule.")]
            #[track_caller]
            pub fn $c(&self, y: &EagerTensor) -> Result<EagerTensor> {
                self.pair(Compare(Comparison::$C), y)
            })*
            $(#[doc = concat!("The reduction `", stringify!($r), "` over axes, which are removed.")]
            #[track_caller]
            pub fn $r(&self, axes: &[usize]) -> Result<EagerTensor> {
                self.reduce(Reduction::$R, axes)
            })*
        }
    };
}

methods! {
    unary: neg Neg, abs Abs, sign Sign, floor Floor, ceil Ceil, trunc Trunc, sqrt Sqrt, rsqrt Rsqrt, cbrt Cbrt, exp Exp,
        exp2 Exp2, expm1 Expm1, log Log, log2 Log2, log1p Log1p, sin Sin, cos Cos, tan Tan, asin Asin, acos Acos,
        atan Atan, sinh Sinh, cosh Cosh, tanh Tanh, asinh Asinh, acosh Acosh, atanh Atanh, logistic Logistic, erf Erf,
        erfc Erfc, erf_inv ErfInv, lgamma Lgamma, digamma Digamma, is_finite IsFinite, is_nan IsNan, not Not,
        stop_gradient StopGradient;
    binary: add Add, sub Sub, mul Mul, div Div, rem Rem, pow Pow, atan2 Atan2, maximum Max, minimum Min, xlogy Xlogy;
    compare: eq Eq, ne Ne, lt Lt, le Le, gt Gt, ge Ge;
    reduce: reduce_sum Sum, reduce_prod Prod, reduce_max Max, reduce_min Min
}

macro_rules! operators {
    ($($Trait:ident $method:ident),*) => {$(
        impl $Trait<&EagerTensor> for &EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: &EagerTensor) -> EagerTensor {
                EagerTensor::from_result(self.pair(Binary::$Trait, y), self.runtime())
            }
        }
        impl $Trait<EagerTensor> for &EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: EagerTensor) -> EagerTensor {
                $Trait::$method(self, &y)
            }
        }
        impl $Trait<&EagerTensor> for EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: &EagerTensor) -> EagerTensor {
                $Trait::$method(&self, y)
            }
        }
        impl $Trait<EagerTensor> for EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: EagerTensor) -> EagerTensor {
                $Trait::$method(&self, &y)
            }
        }
        impl $Trait<f64> for &EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, c: f64) -> EagerTensor {
                EagerTensor::from_result(self.number(Binary::$Trait, c, false), self.runtime())
            }
        }
        impl $Trait<f64> for EagerTensor {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, c: f64) -> EagerTensor {
                $Trait::$method(&self, c)
            }
        }
        impl $Trait<&EagerTensor> for f64 {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: &EagerTensor) -> EagerTensor {
                EagerTensor::from_result(y.number(Binary::$Trait, self, true), y.runtime())
            }
        }
        impl $Trait<EagerTensor> for f64 {
            type Output = EagerTensor;
            #[track_caller]
            fn $method(self, y: EagerTensor) -> EagerTensor {
                $Trait::$method(self, &y)
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for &EagerTensor {
    type Output = EagerTensor;
    #[track_caller]
    fn neg(self) -> EagerTensor {
        EagerTensor::from_result(self.unary(Unary::Neg), self.runtime())
    }
}

impl Neg for EagerTensor {
    type Output = EagerTensor;
    #[track_caller]
    fn neg(self) -> EagerTensor {
        -&self
    }
}
