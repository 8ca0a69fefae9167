//! Constant folding, where it does not make the program larger.

use crate::array::{Array, Scalar, Wide};
use crate::ir::{Builder, Emit, Op, Val};
use crate::ops::{Constant, Value};
use crate::shape::{Env, Type};

/// Maximum number of elements of a folded constant.
const MAX_FOLDED_ELEMENTS: usize = 64;

/// The constant that an operation on constants computes.
pub(super) fn constant(b: &Builder, op: &Op, x: &[Val]) -> Option<Constant> {
    if !is_folded(op, x) {
        return None;
    }
    let is_constant = |op: &Op, _: &[Val]| matches!(op, Op::Constant(_) | Op::BroadcastInDim(_));
    if !x.iter().all(|&v| b.with_def(v, is_constant) == Some(true)) {
        return None;
    }
    // Numbers in constants and broadcasts of them.
    let numbers: Option<Vec<Scalar>> = x.iter().map(|&v| number_everywhere(b, v)).collect();
    let types = || -> Vec<Type> { x.iter().map(|&v| b.ty(v)).collect() };
    if let Some(numbers) = numbers
        && let types = types()
        && op.is_elementwise(&types)
        && (x.iter().all(|&v| as_constant(b, v).is_some()) || is_exact(op, &types))
    {
        let ty = op.infer(&types).ok()?.pop()?;
        if ty.dtype.opaque().is_some() {
            return None;
        }
        // They are folded as scalars, also for symbolic shapes.
        let each = numbers.iter().zip(&types);
        let x: Vec<Array> = each.map(|(s, t)| s.array(t.dtype)).collect();
        let y = op.eval(&x, &Env::default()).ok()?.pop()?;
        return Some(Constant::splat(ty, first(&y)));
    }
    let operands: Vec<Constant> = x
        .iter()
        .map(|&v| as_constant(b, v))
        .collect::<Option<_>>()?;
    let ty = op.infer(&types()).ok()?.pop()?;
    if ty.dtype.opaque().is_some() {
        return None;
    }
    let n = ty
        .shape
        .as_const()?
        .iter()
        .try_fold(1usize, |a, &d| a.checked_mul(d))?;
    let dense: Vec<Array> = operands
        .iter()
        .map(|c| match &c.value {
            Value::Dense(a) if a.len() <= MAX_FOLDED_ELEMENTS => Some(a.clone()),
            Value::Splat(s) if c.ty.rank() == 0 => Some(s.array(c.ty.dtype)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    // A broadcast of a constant is not folded: it is smaller, and the seed of a derivative stays
    // recognizable.
    if n > MAX_FOLDED_ELEMENTS || matches!(op, Op::BroadcastInDim(_)) {
        return None;
    }
    let y = op.eval(&dense, &Env::default()).ok()?.pop()?;
    Some(if y.shape().is_empty() {
        Constant::splat(ty, first(&y))
    } else {
        Constant::dense(y)
    })
}

/// The constant that an operation on integers and booleans computes, which has the same bits in
/// every arithmetic.
pub(super) fn exact_constant(b: &Builder, op: &Op, x: &[Val]) -> Option<Constant> {
    if x.iter().any(|&v| b.ty(v).dtype.has_tangent()) {
        return None;
    }
    constant(b, op, x)
        .or_else(|| of_few(b, op, x))
        .filter(|c| !c.ty.dtype.has_tangent())
}

/// The constant that an operation computes from few elements, each of which is known: those of
/// constants, and of broadcasts of numbers.
fn of_few(b: &Builder, op: &Op, x: &[Val]) -> Option<Constant> {
    let few = |t: &Type| {
        let extents = t.shape.as_const()?;
        let n = extents.iter().try_fold(1usize, |a, &d| a.checked_mul(d))?;
        (n <= MAX_FOLDED_ELEMENTS && t.dtype.opaque().is_none()).then_some(())
    };
    let array = |&v: &Val| {
        let ty = b.ty(v);
        few(&ty)?;
        if let Some(s) = number_everywhere(b, v) {
            return s.full(ty.dtype, ty.shape.as_const()?).ok();
        }
        match as_constant(b, v)?.value {
            Value::Dense(a) => Some(a),
            Value::Splat(_) | Value::Extent(_) => None,
        }
    };
    if !is_folded(op, x) || matches!(op, Op::BroadcastInDim(_)) {
        return None;
    }
    let arrays: Vec<Array> = x.iter().map(array).collect::<Option<_>>()?;
    let types: Vec<Type> = x.iter().map(|&v| b.ty(v)).collect();
    few(&op.infer(&types).ok()?.pop()?)?;
    Some(Constant::dense(
        op.eval(&arrays, &Env::default()).ok()?.pop()?,
    ))
}

/// Whether an operation is on integers and booleans, of which no derivative has a seed.
fn is_exact(op: &Op, x: &[Type]) -> bool {
    let exact = |t: &Type| !t.dtype.has_tangent();
    let all = |y: Vec<Type>| y.iter().all(exact);
    x.iter().all(exact) && op.infer(x).is_ok_and(all)
}

/// Whether the result of an operation may be a constant.
fn is_folded(op: &Op, x: &[Val]) -> bool {
    !x.is_empty() && op.results() == 1 && op.regions().is_empty() && !keeps(op)
}

/// Operations that later derivatives depend on, or that have an effect when they run.
fn keeps(op: &Op) -> bool {
    op.name() == "stop_gradient" || op.has_effect()
}

/// The constant that defines a value.
pub(super) fn as_constant(b: &Builder, v: Val) -> Option<Constant> {
    b.with_def(v, |op, _| match op {
        Op::Constant(c) => Some(c.clone()),
        _ => None,
    })?
}

/// The value of a constant with all elements equal.
pub(super) fn as_splat(b: &Builder, v: Val) -> Option<Scalar> {
    b.with_def(v, |op, _| match op {
        Op::Constant(c) => c.as_splat(),
        _ => None,
    })?
}

/// The number that is every element of a value: of a constant, or of a broadcast of one.
pub(super) fn number_everywhere(b: &Builder, v: Val) -> Option<Scalar> {
    let whole = b.with_def(v, |op, x| matches!(op, Op::BroadcastInDim(_)).then(|| x[0]));
    as_splat(b, whole.flatten().unwrap_or(v))
}

/// Whether every element of a value is a number, `+0`.
pub(super) fn is_positive_zero(b: &Builder, v: Val) -> bool {
    number_everywhere(b, v).is_some_and(is_zero)
}

/// Whether a number is zero, and not `-0`.
pub(super) fn is_zero(s: Scalar) -> bool {
    match s {
        Scalar::F(x) => x.to_bits() == 0,
        Scalar::C(z) => z.re.to_bits() == 0 && z.im.to_bits() == 0,
        Scalar::I(x) => x == 0,
    }
}

/// Whether a number, or a part of a complex one, is `-0`.
pub(super) fn has_negative_zero(s: Scalar) -> bool {
    let negative = |x: f64| x == 0.0 && x.is_sign_negative();
    match s {
        Scalar::I(_) => false,
        Scalar::F(x) => negative(x),
        Scalar::C(z) => negative(z.re) || negative(z.im),
    }
}

fn first(a: &Array) -> Scalar {
    match a.wide() {
        Wide::F(v) => Scalar::F(v[0]),
        Wide::I(v) => Scalar::I(v[0]),
        Wide::C(v) => Scalar::C(v[0]),
    }
}
