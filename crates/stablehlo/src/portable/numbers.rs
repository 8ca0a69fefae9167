//! Arithmetic on values of one real type, with operators, and loops over such values.

use cotangent_core::ops::{Comparison, Unary};
use cotangent_core::primitive::Val;
use cotangent_core::{DType, Emit, Type};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value of a real type.
#[derive(Clone, Copy)]
pub(super) struct RealValue<'a> {
    pub cx: &'a dyn Emit,
    pub v: Val,
}

/// A mask of the shape of numbers.
pub(super) type Mask = Val;

impl<'a> RealValue<'a> {
    pub(super) fn new(cx: &'a dyn Emit, v: Val) -> RealValue<'a> {
        RealValue { cx, v }
    }

    /// A constant of the same type and shape.
    pub(super) fn number(self, c: f64) -> RealValue<'a> {
        self.of(self.cx.full_like(self.v, c))
    }

    pub(super) fn of(self, v: Val) -> RealValue<'a> {
        RealValue { cx: self.cx, v }
    }

    fn unary(self, op: Unary) -> RealValue<'a> {
        self.of(self.cx.op(op, &[self.v]))
    }

    fn compare(self, c: Comparison, other: impl Operand<'a>) -> Mask {
        self.cx.compare(self.v, c, other.number(self).v)
    }

    pub(super) fn less(self, other: impl Operand<'a>) -> Mask {
        self.compare(Comparison::Lt, other)
    }

    pub(super) fn most(self, other: impl Operand<'a>) -> Mask {
        self.compare(Comparison::Le, other)
    }

    pub(super) fn above(self, other: impl Operand<'a>) -> Mask {
        self.compare(Comparison::Gt, other)
    }

    pub(super) fn least(self, other: impl Operand<'a>) -> Mask {
        self.compare(Comparison::Ge, other)
    }

    pub(super) fn is(self, other: impl Operand<'a>) -> Mask {
        self.compare(Comparison::Eq, other)
    }

    pub(super) fn is_nan(self) -> Mask {
        self.compare(Comparison::Ne, self)
    }

    /// `self` where the mask is true, else `other`.
    pub(super) fn or_where(self, mask: Mask, other: impl Operand<'a>) -> RealValue<'a> {
        self.of(self.cx.select(mask, self.v, other.number(self).v))
    }

    pub(super) fn max(self, other: impl Operand<'a>) -> RealValue<'a> {
        self.of(self.cx.maximum(self.v, other.number(self).v))
    }

    pub(super) fn min(self, other: impl Operand<'a>) -> RealValue<'a> {
        self.of(self.cx.minimum(self.v, other.number(self).v))
    }

    pub(super) fn pow(self, other: RealValue<'a>) -> RealValue<'a> {
        self.of(self.cx.pow(self.v, other.v))
    }

    pub(super) fn atan2(self, other: RealValue<'a>) -> RealValue<'a> {
        self.of(self.cx.atan2(self.v, other.v))
    }

    pub(super) fn square(self) -> RealValue<'a> {
        self * self
    }

    pub(super) fn recip(self) -> RealValue<'a> {
        self.number(1.0) / self
    }

    /// `self` with the sign of a number that is not zero; `self` times ±0 for a zero.
    pub(super) fn signed_as(self, x: RealValue<'a>) -> RealValue<'a> {
        self * x.sign()
    }

    /// A polynomial with coefficients from the lowest order up.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> RealValue<'a> {
        let mut all = coefficients.iter().rev();
        let first = self.number(*all.next().expect("a polynomial has coefficients"));
        all.fold(first, |y, &c| y * self + c)
    }
}

macro_rules! functions {
    ($($name:ident $op:ident),* $(,)?) => {
        impl<'a> RealValue<'a> {
            $(pub(super) fn $name(self) -> RealValue<'a> {
                self.unary(Unary::$op)
            })*
        }
    };
}

functions! {
    abs Abs, sign Sign, floor Floor, sqrt Sqrt, exp Exp, expm1 Expm1, log Log, log1p Log1p, sin Sin, cos Cos, tan Tan,
    cbrt Cbrt, asinh Asinh, sinh Sinh, cosh Cosh, lgamma Lgamma, digamma Digamma, erf Erf, erfc Erfc,
    round RoundHalfEven,
}

/// A number, or a constant.
pub(super) trait Operand<'a> {
    fn number(self, like: RealValue<'a>) -> RealValue<'a>;
}

impl<'a> Operand<'a> for RealValue<'a> {
    fn number(self, _: RealValue<'a>) -> RealValue<'a> {
        self
    }
}

impl<'a> Operand<'a> for f64 {
    fn number(self, like: RealValue<'a>) -> RealValue<'a> {
        like.number(self)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {
        $(impl<'a, T: Operand<'a>> $trait<T> for RealValue<'a> {
            type Output = RealValue<'a>;
            fn $method(self, other: T) -> RealValue<'a> {
                self.of(self.cx.$method(self.v, other.number(self).v))
            }
        })*
    };
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl<'a> Neg for RealValue<'a> {
    type Output = RealValue<'a>;
    fn neg(self) -> RealValue<'a> {
        self.of(self.cx.neg(self.v))
    }
}

/// Runs `step` until no element is active, at most `limit` times. An element whose mask becomes
/// false keeps the state that this step computed.
pub(super) fn iterate<'a>(
    limit: i64,
    active: Mask,
    consts: &[RealValue<'a>],
    state: &[RealValue<'a>],
    step: impl FnOnce(&[RealValue<'_>], &[RealValue<'_>]) -> (Vec<Val>, Mask),
) -> Vec<RealValue<'a>> {
    let cx = state[0].cx;
    let count = Type::scalar(DType::I32);
    let values = |x: &[RealValue<'a>]| x.iter().map(|n| n.v).collect::<Vec<_>>();
    let init = [vec![cx.full(&count, 0i64), active], values(state)].concat();
    let y = cx.while_loop(
        &values(consts),
        &init,
        |cx, _, c| {
            let axes: Vec<usize> = (0..cx.ty(c[1]).rank()).collect();
            let more = cx.compare(c[0], Comparison::Lt, cx.full(&count, limit));
            cx.and(cx.reduce_any(c[1], &axes), more)
        },
        |cx, w, c| {
            let numbers = |x: &[Val]| x.iter().map(|&v| RealValue::new(cx, v)).collect::<Vec<_>>();
            let (next, more) = step(&numbers(w), &numbers(&c[2..]));
            let kept = next
                .iter()
                .zip(&c[2..])
                .map(|(&new, &old)| cx.select(c[1], new, old));
            let kept: Vec<Val> = kept.collect();
            let counted = cx.add(c[0], cx.full(&count, 1i64));
            [vec![counted, cx.and(c[1], more)], kept].concat()
        },
    );
    y[2..].iter().map(|&v| RealValue::new(cx, v)).collect()
}

/// Values of numbers.
pub(super) fn values(x: &[RealValue<'_>]) -> Vec<Val> {
    x.iter().map(|n| n.v).collect()
}
