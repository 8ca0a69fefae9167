//! Lists of tensors as vectors of one space: inner products, norms, linear combinations.
//!
//! ```text
//! <x, y> = Σ conj(x) y      over all elements of all tensors; its real part if they are not of one element type
//! ```
//! Measures (norms, tolerances) are scalars of type `f64`. Norms do not overflow or underflow if
//! they can be represented. Inner products may, so they take vectors that were scaled by powers of
//! two ([`Space::exponent`]).

use super::stopping::Stopping;
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::ops::{Comparison, DotGeneral};
use crate::shape::{Dim, Type};

/// The type of measures.
pub(super) fn measure() -> Type {
    Type::scalar(DType::F64)
}

/// The space of lists of tensors of these types.
#[derive(Clone)]
pub(super) struct Space {
    types: Vec<Type>,
    /// Element type of coefficients.
    coefficient: DType,
    /// Half a unit in the last place, relative.
    epsilon: f64,
    /// Largest exponent of numbers whose squares are in range, also after scaling by 2^±40.
    tame: f64,
}

/// Largest difference of the exponents of rows that are not scaled. Random cancellation does not
/// cause larger differences.
pub(super) const COMPARABLE_EXPONENTS: f64 = 26.0;

/// Largest default tolerance, for types of low precision.
const MAX_DEFAULT_TOLERANCE: f64 = 0.03125;

impl Space {
    pub(super) fn of(types: &[Type]) -> Space {
        let first = types.first().map_or(DType::F64, |t| t.dtype);
        let one = types.iter().all(|t| t.dtype == first);
        let coefficient = if !one {
            DType::F64
        } else if narrow(first) {
            DType::F32
        } else {
            first
        };
        let epsilon = |d: DType| match d.real() {
            DType::F64 => f64::EPSILON,
            DType::F32 => f64::from(f32::EPSILON),
            DType::F16 => 2f64.powi(-10),
            _ => 2f64.powi(-7),
        };
        let epsilon = types
            .iter()
            .map(|t| epsilon(t.dtype))
            .fold(f64::EPSILON, f64::max);
        let tame = match types {
            _ if types.iter().any(|t| narrow(t.dtype)) => 0.0,
            _ if types.iter().all(|t| t.dtype.real() == DType::F64) => 128.0,
            _ => 16.0,
        };
        Space {
            types: types.to_vec(),
            coefficient,
            epsilon,
            tame,
        }
    }

    /// The requested tolerance, or by default `roundings` rounding errors.
    pub(super) fn tolerance(&self, stop: Stopping, roundings: f64) -> f64 {
        stop.tolerance
            .unwrap_or((roundings * self.epsilon).min(MAX_DEFAULT_TOLERANCE))
    }

    /// Relative size of a step after which Newton's method reaches the level of rounding.
    pub(super) fn newton_tolerance(&self, stop: Stopping) -> f64 {
        stop.tolerance
            .unwrap_or(self.epsilon.powf(2.0 / 3.0).min(MAX_DEFAULT_TOLERANCE))
    }

    /// Curvature, relative to the largest, below which its sign is determined by rounding.
    pub(super) fn flat(&self) -> f64 {
        self.epsilon.sqrt()
    }

    /// Number of unknowns, if it is a constant.
    pub(super) fn dimension(&self) -> Option<usize> {
        self.types.iter().map(|t| t.shape.numel().as_const()).sum()
    }

    pub(super) fn zeros(&self, cx: &dyn Emit) -> Vec<Val> {
        self.types.iter().map(|t| cx.zeros(t)).collect()
    }

    /// Zeros for `rows` vectors.
    pub(super) fn stack(&self, cx: &dyn Emit, rows: usize) -> Vec<Val> {
        self.types
            .iter()
            .map(|t| cx.zeros(&t.batched(&Dim::Const(rows))))
            .collect()
    }

    fn all_axes(t: &Type, skip: usize) -> Vec<usize> {
        (skip..t.rank() + skip).collect()
    }

    fn conj(cx: &dyn Emit, x: Val) -> Val {
        if cx.ty(x).dtype.is_complex() {
            cx.conj(x)
        } else {
            x
        }
    }

    fn total(&self, cx: &dyn Emit, parts: Vec<Val>) -> Val {
        let sum = parts.into_iter().reduce(|a, b| cx.add(a, b));
        sum.unwrap_or_else(|| cx.zeros(&Type::scalar(self.coefficient)))
    }

    /// Converts an inner product to the type of coefficients.
    fn as_coefficient(&self, cx: &dyn Emit, x: Val) -> Val {
        let real = cx.ty(x).dtype.is_complex() && !self.coefficient.is_complex();
        let x = if real { cx.real(x) } else { x };
        if cx.ty(x).dtype == self.coefficient {
            x
        } else {
            cx.convert(x, self.coefficient)
        }
    }

    /// `<x, y>`, a coefficient.
    pub(super) fn dot(&self, cx: &dyn Emit, x: &[Val], y: &[Val]) -> Val {
        let one = |((&x, &y), t): ((&Val, &Val), &Type)| {
            let [x, y] = [x, y].map(|v| {
                if narrow(t.dtype) {
                    cx.convert(v, DType::F32)
                } else {
                    v
                }
            });
            let sum = cx.reduce_sum(cx.mul(Self::conj(cx, x), y), &Self::all_axes(t, 0));
            self.as_coefficient(cx, sum)
        };
        self.total(cx, x.iter().zip(y).zip(&self.types).map(one).collect())
    }

    /// The real part of `<x, y>`, a measure.
    pub(super) fn real_dot(&self, cx: &dyn Emit, x: &[Val], y: &[Val]) -> Val {
        let d = self.dot(cx, x, y);
        let d = if self.coefficient.is_complex() {
            cx.real(d)
        } else {
            d
        };
        if cx.ty(d).dtype == DType::F64 {
            d
        } else {
            cx.convert(d, DType::F64)
        }
    }

    /// `|x|`, a measure, of vectors whose squares are in range.
    pub(super) fn length(&self, cx: &dyn Emit, x: &[Val]) -> Val {
        cx.sqrt(self.real_dot(cx, x, x))
    }

    /// `|x|`, a measure, of any vector.
    pub(super) fn norm(&self, cx: &dyn Emit, x: &[Val]) -> Val {
        let one = |(&x, t): (&Val, &Type)| {
            let (wide, axes) = (wide(cx, x), Self::all_axes(t, 0));
            // Squares of converted narrower numbers are in range.
            if wide == x {
                cx.norm(x, &axes)
            } else {
                cx.sqrt(cx.reduce_sum(cx.abs2(wide), &axes))
            }
        };
        let parts: Vec<Val> = x.iter().zip(&self.types).map(one).collect();
        if let [only] = parts[..] {
            return only;
        }
        let rows: Vec<Val> = parts
            .into_iter()
            .map(|p| cx.broadcast_in_dim(p, &[Dim::Const(1)], &[]))
            .collect();
        if rows.is_empty() {
            number(cx, 0.0)
        } else {
            cx.norm(cx.concatenate(&rows, 0), &[0])
        }
    }

    /// The exponent, a measure, of the largest element. 0 if squares are in range without scaling.
    pub(super) fn exponent(&self, cx: &dyn Emit, x: &[Val]) -> Val {
        let one =
            |(&x, t): (&Val, &Type)| wide(cx, cx.max_or_least(cx.abs(x), &Self::all_axes(t, 0)));
        let most = x
            .iter()
            .zip(&self.types)
            .map(one)
            .reduce(|a, b| cx.maximum(a, b));
        let zero = number(cx, 0.0);
        let e = cx.floor(cx.log2(most.unwrap_or(zero)));
        let wild = cx.compare(cx.abs(e), Comparison::Gt, number(cx, self.tame));
        cx.select(cx.and(wild, cx.is_finite(e)), e, zero)
    }

    /// `2^e x`: exact where the result is a normal number.
    pub(super) fn shift(&self, cx: &dyn Emit, e: Val, x: &[Val]) -> Vec<Val> {
        let half = cx.floor(cx.scale_by(0.5, e));
        let (p, q) = (cx.exp2(half), cx.exp2(cx.sub(e, half)));
        let one = |(&x, t): (&Val, &Type)| {
            let v = wide(cx, x);
            let ty = cx.ty(v);
            let v = cx.mul(
                Self::spread(cx, q, &ty),
                cx.mul(Self::spread(cx, p, &ty), v),
            );
            if ty.dtype == t.dtype {
                v
            } else {
                cx.convert(v, t.dtype)
            }
        };
        x.iter().zip(&self.types).map(one).collect()
    }

    /// Powers of two that make the rows of a matrix comparable. `q` is its product with
    /// [`Space::probe`]. They are 1 if exponents differ by at most `apart`, or if a row of `q` is
    /// zero or not finite. With `half`, their square roots.
    pub(super) fn row_scales(&self, cx: &dyn Emit, q: &[Val], half: bool, apart: f64) -> Vec<Val> {
        let exponents: Vec<Val> = q
            .iter()
            .map(|&q| cx.floor(cx.log2(wide(cx, cx.abs(q)))))
            .collect();
        let Some(most) = self.largest(cx, &exponents) else {
            return exponents;
        };
        let one = |(&e, t): (&Val, &Type)| {
            let ty = Type::new(DType::F64, t.shape.clone());
            let full = |x: f64| cx.full(&ty, x);
            let below = cx.sub(Self::spread(cx, most, &ty), e);
            let far = cx.compare(below, Comparison::Gt, full(apart));
            let e = cx.select(cx.and(far, cx.is_finite(below)), below, full(0.0));
            let e = if half {
                cx.floor(cx.scale_by(0.5, e))
            } else {
                e
            };
            let largest = match t.dtype.real() {
                DType::F64 => 1000.0,
                DType::F16 => 14.0,
                _ => 120.0,
            };
            let scale = cx.exp2(cx.minimum(e, full(largest)));
            if t.dtype == DType::F64 {
                scale
            } else {
                cx.convert(scale, t.dtype)
            }
        };
        exponents.iter().zip(&self.types).map(one).collect()
    }

    /// The largest element of real tensors, ignoring NaN. `None` if there are no tensors.
    fn largest(&self, cx: &dyn Emit, x: &[Val]) -> Option<Val> {
        let one = |(&x, t): (&Val, &Type)| cx.max_or_least(x, &Self::all_axes(t, 0));
        x.iter()
            .zip(&self.types)
            .map(one)
            .reduce(|a, b| cx.maximum(a, b))
    }

    /// Whether scales are not all 1.
    pub(super) fn any_scaled(&self, cx: &dyn Emit, scales: &[Val]) -> Val {
        let wide: Vec<Val> = scales.iter().map(|&d| wide(cx, cx.abs(d))).collect();
        let most = self.largest(cx, &wide).unwrap_or_else(|| number(cx, 1.0));
        cx.compare(most, Comparison::Gt, number(cx, 1.0))
    }

    /// Elementwise products.
    pub(super) fn times(&self, cx: &dyn Emit, x: &[Val], y: &[Val]) -> Vec<Val> {
        x.iter().zip(y).map(|(&x, &y)| cx.mul(x, y)).collect()
    }

    /// A generic vector, which is also not a single frequency.
    pub(super) fn probe(&self, cx: &dyn Emit) -> Vec<Val> {
        let one = |(k, t): (usize, &Type)| {
            let flat = Type::new(DType::F64, vec![t.shape.numel()]);
            let k = cx.full(&flat, 0.3 + k as f64);
            let i = cx.add(cx.iota(&flat, 0), k);
            let at = cx.add(cx.scale_by(1.7, i), cx.mul(i, cx.sqrt(i)));
            let v = cx.reshape(cx.cos(at), &t.shape);
            if t.dtype == DType::F64 {
                v
            } else {
                cx.convert(v, t.dtype)
            }
        };
        self.types.iter().enumerate().map(one).collect()
    }

    fn spread(cx: &dyn Emit, c: Val, like: &Type) -> Val {
        let c = if cx.ty(c).dtype == like.dtype {
            c
        } else {
            cx.convert(c, like.dtype)
        };
        cx.broadcast_in_dim(c, &like.shape, &[])
    }

    /// `c x` for a coefficient or a measure.
    pub(super) fn scale(&self, cx: &dyn Emit, c: Val, x: &[Val]) -> Vec<Val> {
        x.iter()
            .zip(&self.types)
            .map(|(&x, t)| cx.mul(Self::spread(cx, c, t), x))
            .collect()
    }

    pub(super) fn add(&self, cx: &dyn Emit, x: &[Val], y: &[Val]) -> Vec<Val> {
        x.iter().zip(y).map(|(&x, &y)| cx.add(x, y)).collect()
    }

    pub(super) fn sub(&self, cx: &dyn Emit, x: &[Val], y: &[Val]) -> Vec<Val> {
        x.iter().zip(y).map(|(&x, &y)| cx.sub(x, y)).collect()
    }

    /// `<rows, x>` for every row of a stack.
    pub(super) fn project(&self, cx: &dyn Emit, stack: &[Val], x: &[Val]) -> Val {
        let one = |((&q, &x), t): ((&Val, &Val), &Type)| {
            let d = DotGeneral::contract(&Self::all_axes(t, 1), &Self::all_axes(t, 0));
            let [q, x] = [q, x].map(|v| {
                if narrow(t.dtype) {
                    cx.convert(v, DType::F32)
                } else {
                    v
                }
            });
            self.as_coefficient(cx, cx.dot_general(Self::conj(cx, q), x, d))
        };
        self.total(cx, stack.iter().zip(x).zip(&self.types).map(one).collect())
    }

    /// `Σ_k c[k] stack[k]`.
    pub(super) fn combine(&self, cx: &dyn Emit, c: Val, stack: &[Val]) -> Vec<Val> {
        let one = |(&q, t): (&Val, &Type)| {
            let c = if cx.ty(c).dtype == t.dtype {
                c
            } else {
                cx.convert(c, t.dtype)
            };
            cx.dot_general(c, q, DotGeneral::contract(&[0], &[0]))
        };
        stack.iter().zip(&self.types).map(one).collect()
    }

    /// `x` if the scalar predicate is true, else `y`.
    pub(super) fn select(&self, cx: &dyn Emit, p: Val, x: &[Val], y: &[Val]) -> Vec<Val> {
        let wide = |t: &Type| cx.broadcast_in_dim(p, &t.shape, &[]);
        x.iter()
            .zip(y)
            .zip(&self.types)
            .map(|((&x, &y), t)| cx.select(wide(t), x, y))
            .collect()
    }
}

fn narrow(d: DType) -> bool {
    matches!(d, DType::F16 | DType::BF16)
}

/// Converts to the widest type of the same family.
fn wide(cx: &dyn Emit, x: Val) -> Val {
    let d = cx.ty(x).dtype;
    let to = if d.is_complex() {
        DType::C128
    } else {
        DType::F64
    };
    if d == to { x } else { cx.convert(x, to) }
}

/// A constant measure.
pub(super) fn number(cx: &dyn Emit, x: f64) -> Val {
    cx.full(&measure(), x)
}

/// A constant scalar of type `i64`.
pub(super) fn count(cx: &dyn Emit, n: i64) -> Val {
    cx.full(&Type::scalar(DType::I64), n)
}
