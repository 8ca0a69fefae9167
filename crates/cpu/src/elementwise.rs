//! Elementwise kernels: a closure per operation and element type, and one loop over it.
//!
//! The functions are those of the operations' rows, called through a pointer; arithmetic and comparisons of the common
//! types have closures of their own, with the same bits, that the compiler turns into vector loops.
//!
//! A result is written over an operand that dies here. Axes along which every operand repeats are computed once.

use crate::element::{Pair, Plain, Real, Whole, for_any, for_ordered, for_pair, for_real, for_whole};
use crate::kernel::{Kernel, kernel};
use crate::tensor::{Extents, Tensor};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Comparison, Unary};
use cotangent_core::{C64, C128, DType, Result, math};
use cotangent_kernels::Ordered;
use cotangent_kernels::map::{map1, map1_in_place, map2, map2_in_place, map3, map3_in_place};
use smallvec::SmallVec;

/// Runs `f` on one index of every axis along which all operands repeat, and repeats its result there.
pub(crate) fn once<const N: usize>(x: [Tensor; N], f: impl FnOnce([Tensor; N]) -> Result<Tensor>) -> Result<Tensor> {
    let shape = Extents::from_slice(x[0].shape());
    debug_assert!(x.iter().all(|t| t.shape() == shape.as_slice()), "operands of one shape");
    let repeats = |d: usize| shape[d] > 1 && x.iter().all(|t| t.strides()[d] == 0);
    let repeated: SmallVec<[bool; 8]> = (0..shape.len()).map(repeats).collect();
    if !repeated.contains(&true) {
        return f(x);
    }
    Ok(f(x.map(|t| t.narrowed(|d| repeated[d])))?.widened(&shape))
}

/// `y = f(x)` of one element type.
pub(crate) fn map<T: Plain>(f: impl Fn(T) -> T + Send + Sync + 'static) -> Kernel {
    kernel(move |_, x| {
        once(x, |[mut x]| {
            if let Some(data) = x.exclusive::<T>() {
                map1_in_place(data, &f);
                return Ok(x);
            }
            Tensor::build(x.shape().into(), |dst| map1(dst, x.view::<T>(), &f))
        })
    })
}

/// `y = f(x)` into another element type.
pub(crate) fn map_to<T: Plain, U: Plain>(f: impl Fn(T) -> U + Send + Sync + 'static) -> Kernel {
    kernel(move |_, x| once(x, |[x]| Tensor::build(x.shape().into(), |dst| map1(dst, x.view::<T>(), &f))))
}

/// `z = f(x, y)` of one element type.
pub(crate) fn zip<T: Plain>(f: impl Fn(T, T) -> T + Send + Sync + 'static) -> Kernel {
    kernel(move |_, x| {
        once(x, |[mut x, mut y]| {
            if let Some(data) = x.exclusive::<T>() {
                map2_in_place(data, y.view::<T>(), &f);
                return Ok(x);
            }
            if let Some(data) = y.exclusive::<T>() {
                map2_in_place(data, x.view::<T>(), |y, x| f(x, y));
                return Ok(y);
            }
            Tensor::build(x.shape().into(), |dst| map2(dst, x.view::<T>(), y.view::<T>(), &f))
        })
    })
}

/// `z = f(x, y)` into another element type.
pub(crate) fn zip_to<T: Plain, U: Plain>(f: impl Fn(T, T) -> U + Send + Sync + 'static) -> Kernel {
    kernel(move |_, x| {
        once(x, |[x, y]| Tensor::build(x.shape().into(), |dst| map2(dst, x.view::<T>(), y.view::<T>(), &f)))
    })
}

/// A function of one operand. The result has its type, is real for a complex one, or is a truth value.
pub(crate) fn unary(op: Unary, dtype: DType) -> Kernel {
    let def = op.def();
    let to = (def.types)(dtype).expect("the type rule checked it");
    match (op, dtype) {
        (Unary::StopGradient, _) => return kernel(|_, [x]| Ok(x)),
        (Unary::Neg, DType::F32) => return map(|x: f32| -x),
        (Unary::Neg, DType::F64) => return map(|x: f64| -x),
        (Unary::Abs, DType::F32) => return map(f32::abs),
        (Unary::Abs, DType::F64) => return map(f64::abs),
        (Unary::Sqrt, DType::F32) => return map(f32::sqrt),
        (Unary::Sqrt, DType::F64) => return map(f64::sqrt),
        _ => {}
    }
    let same = to == dtype;
    match (dtype.kind(), to) {
        (Kind::Float, _) if same => for_real!(dtype, T => map(move |x: T| T::of((def.real)(x.to())))),
        (Kind::Float, _) => for_real!(dtype, T => map_to(move |x: T| (def.real)(x.to()) != 0.0)),
        (Kind::Complex, _) if same => for_pair!(dtype, T => map(move |z: T| T::of((def.complex)(z.to())))),
        (Kind::Complex, DType::F32) => map_to(move |z: C64| (def.complex)(z.to()).re as f32),
        (Kind::Complex, DType::F64) => map_to(move |z: C128| (def.complex)(z).re),
        (Kind::Complex, _) => for_pair!(dtype, T => map_to(move |z: T| (def.complex)(z.to()).re != 0.0)),
        (_, _) if same => for_whole!(dtype, T => map(move |x: T| T::of((def.int)(x.to(), to)))),
        (_, _) => for_whole!(dtype, T => map_to(move |x: T| (def.int)(x.to(), to) != 0)),
    }
}

/// A function of two operands.
pub(crate) fn binary(op: Binary, dtype: DType) -> Kernel {
    if let Some(fast) = arithmetic(op, dtype) {
        return fast;
    }
    let def = op.def();
    match dtype.kind() {
        Kind::Float => for_real!(dtype, T => zip(move |x: T, y: T| T::of((def.real)(x.to(), y.to())))),
        Kind::Complex => for_pair!(dtype, T => zip(move |x: T, y: T| T::of((def.complex)(x.to(), y.to())))),
        Kind::Int | Kind::Bool => {
            for_whole!(dtype, T => zip(move |x: T, y: T| T::of((def.int)(x.to(), y.to(), dtype))))
        }
    }
}

/// The common arithmetic, as closures that compile to vector loops.
fn arithmetic(op: Binary, dtype: DType) -> Option<Kernel> {
    macro_rules! rows {
        ($($float:ident $f:ty),*; $($int:ident $i:ty),*) => {
            match (op, dtype) {
                $((Binary::Add, DType::$float) => zip(|x: $f, y: $f| x + y),
                (Binary::Sub, DType::$float) => zip(|x: $f, y: $f| x - y),
                (Binary::Mul, DType::$float) => zip(|x: $f, y: $f| x * y),
                (Binary::Div, DType::$float) => zip(|x: $f, y: $f| x / y),
                (Binary::Max, DType::$float) => zip(<$f as Ordered>::maximum),
                (Binary::Min, DType::$float) => zip(<$f as Ordered>::minimum),)*
                $((Binary::Add, DType::$int) => zip(<$i>::wrapping_add),
                (Binary::Sub, DType::$int) => zip(<$i>::wrapping_sub),
                (Binary::Mul, DType::$int) => zip(<$i>::wrapping_mul),)*
                (Binary::Add, DType::C64) => zip(|x: C64, y: C64| x + y),
                (Binary::Add, DType::C128) => zip(|x: C128, y: C128| x + y),
                (Binary::Mul, DType::C64) => zip(|x: C64, y: C64| C64::of(x.to() * y.to())),
                (Binary::Mul, DType::C128) => zip(|x: C128, y: C128| x * y),
                _ => return None,
            }
        };
    }
    Some(rows!(F32 f32, F64 f64; I32 i32, I64 i64))
}

/// A power with a fixed exponent.
pub(crate) fn integer_pow(n: i64, dtype: DType) -> Kernel {
    match (n, dtype) {
        (2, DType::F32) => return map(|x: f32| x * x),
        (2, DType::F64) => return map(|x: f64| x * x),
        _ => {}
    }
    match dtype.kind() {
        Kind::Float => for_real!(dtype, T => map(move |x: T| T::of(math::powi(x.to(), n)))),
        Kind::Complex => for_pair!(dtype, T => map(move |z: T| T::of(math::complex::powi(z.to(), n)))),
        Kind::Int | Kind::Bool => for_whole!(dtype, T => map(move |x: T| T::of(math::pow_int(x.to(), n.into())))),
    }
}

/// A derivative of digamma.
pub(crate) fn polygamma(order: u32, dtype: DType) -> Kernel {
    for_real!(dtype, T => map(move |x: T| T::of(math::polygamma(order, x.to()))))
}

/// Complex numbers from parts of this type.
pub(crate) fn complex(part: DType) -> Kernel {
    match part {
        DType::F32 => zip_to(|re: f32, im: f32| C64::new(re, im)),
        _ => zip_to(|re: f64, im: f64| C128::new(re, im)),
    }
}

/// A choice between elements of this type. One predicate for all elements chooses an operand as it is.
pub(crate) fn select(dtype: DType) -> Kernel {
    for_any!(dtype, T => kernel(move |_, [p, x, y]| {
        if p.shape().is_empty() {
            return Ok(if p.view::<bool>().get(&[]) { x } else { y });
        }
        once([p, x, y], |[p, mut x, mut y]| {
            if let Some(data) = x.exclusive::<T>() {
                map3_in_place(data, p.view(), y.view::<T>(), |x, p, y| if p { x } else { y });
                return Ok(x);
            }
            if let Some(data) = y.exclusive::<T>() {
                map3_in_place(data, p.view(), x.view::<T>(), |y, p, x| if p { x } else { y });
                return Ok(y);
            }
            let choose = |p: bool, x: T, y: T| if p { x } else { y };
            Tensor::build(x.shape().into(), |dst| map3(dst, p.view(), x.view(), y.view(), choose))
        })
    }))
}

/// A comparison.
pub(crate) fn compare(c: Comparison, dtype: DType) -> Kernel {
    macro_rules! rows {
        ($($variant:ident $t:ty),*) => {
            match (c, dtype) {
                $((Comparison::Eq, DType::$variant) => zip_to(|x: $t, y: $t| x == y),
                (Comparison::Ne, DType::$variant) => zip_to(|x: $t, y: $t| x != y),
                (Comparison::Lt, DType::$variant) => zip_to(|x: $t, y: $t| x < y),
                (Comparison::Le, DType::$variant) => zip_to(|x: $t, y: $t| x <= y),
                (Comparison::Gt, DType::$variant) => zip_to(|x: $t, y: $t| x > y),
                (Comparison::Ge, DType::$variant) => zip_to(|x: $t, y: $t| x >= y),)*
                (Comparison::Eq, _) => for_any!(dtype, T => zip_to(|x: T, y: T| x == y)),
                (Comparison::Ne, _) => for_any!(dtype, T => zip_to(|x: T, y: T| x != y)),
                _ => for_ordered!(dtype, T => zip_to(move |x: T, y: T| c.holds(x.partial_cmp(&y)))),
            }
        };
    }
    rows!(F32 f32, F64 f64, I64 i64)
}
