//! Change of element type, through the arithmetic of the reference.

use crate::element::{Pair, Plain, Real, Whole, for_any, for_pair, for_real, for_whole, pick};
use crate::kernel::{Kernel, kernel};
use crate::tensor::Tensor;
use cotangent_core::dtype::Kind;
use cotangent_core::{C64, C128, DType, Result, bf16, f16};

/// What any number becomes in this type: floats round, integers truncate and saturate, or wrap between integers.
pub(crate) trait Target: Plain {
    fn from_real(x: f64) -> Self;
    fn from_whole(x: i128) -> Self;
    /// The same of what is no larger: most integers are read so, several at once.
    fn from_signed(x: i64) -> Self;
    fn from_pair(z: C128) -> Self;
}

/// Which of the three a number is.
pub(crate) trait Source: Plain {
    fn become_<U: Target>(self) -> U;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Source for $t {
            #[inline(always)]
            fn become_<U: Target>(self) -> U { U::from_real(self.to()) }
        }
        impl Target for $t {
            #[inline(always)]
            fn from_real(x: f64) -> $t { <$t>::of(x) }
            #[inline(always)]
            fn from_whole(x: i128) -> $t { <$t>::of(x as f64) }
            #[inline(always)]
            fn from_signed(x: i64) -> $t { <$t>::of(x as f64) }
            #[inline(always)]
            fn from_pair(z: C128) -> $t { <$t>::of(z.re) }
        }
    )*};
}

real!(f16 bf16 f64);

impl Source for f32 {
    #[inline(always)]
    fn become_<U: Target>(self) -> U {
        U::from_real(self.to())
    }
}

impl Target for f32 {
    #[inline(always)]
    fn from_real(x: f64) -> f32 {
        x as f32
    }
    /// Rounded once, not to `f64` first.
    #[inline(always)]
    fn from_whole(x: i128) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn from_signed(x: i64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn from_pair(z: C128) -> f32 {
        z.re as f32
    }
}

macro_rules! pair {
    ($($t:ty)*) => {$(
        impl Source for $t {
            #[inline(always)]
            fn become_<U: Target>(self) -> U { U::from_pair(self.to()) }
        }
        impl Target for $t {
            #[inline(always)]
            fn from_real(x: f64) -> $t { <$t>::of(C128::new(x, 0.0)) }
            #[inline(always)]
            fn from_whole(x: i128) -> $t { <$t>::of(C128::new(x as f64, 0.0)) }
            #[inline(always)]
            fn from_signed(x: i64) -> $t { <$t>::of(C128::new(x as f64, 0.0)) }
            #[inline(always)]
            fn from_pair(z: C128) -> $t { <$t>::of(z) }
        }
    )*};
}

pair!(C64 C128);

macro_rules! whole {
    ($($t:ty: $from:ident $wide:ty;)*) => {$(
        impl Source for $t {
            #[inline(always)]
            fn become_<U: Target>(self) -> U { U::$from(<$wide>::from(self)) }
        }
        impl Target for $t {
            #[inline(always)]
            fn from_real(x: f64) -> $t { x as $t }
            #[inline(always)]
            fn from_whole(x: i128) -> $t { x as $t }
            #[inline(always)]
            fn from_signed(x: i64) -> $t { x as $t }
            #[inline(always)]
            fn from_pair(z: C128) -> $t { z.re as $t }
        }
    )*};
}

whole! {
    i8: from_signed i64;
    i16: from_signed i64;
    i32: from_signed i64;
    i64: from_signed i64;
    u8: from_signed i64;
    u16: from_signed i64;
    u32: from_signed i64;
    u64: from_whole i128;
}

impl Source for bool {
    #[inline(always)]
    fn become_<U: Target>(self) -> U {
        U::from_signed(self.into())
    }
}

impl Target for bool {
    #[inline(always)]
    fn from_real(x: f64) -> bool {
        x != 0.0
    }
    #[inline(always)]
    fn from_whole(x: i128) -> bool {
        x != 0
    }
    #[inline(always)]
    fn from_signed(x: i64) -> bool {
        x != 0
    }
    #[inline(always)]
    fn from_pair(z: C128) -> bool {
        z != C128::ZERO
    }
}

fn cast<T: Source, U: Target>(src: &[T], dst: &mut [U]) {
    for (y, &x) in dst.iter_mut().zip(src) {
        *y = x.become_();
    }
}

fn dense<T: Plain>(x: &Tensor) -> &[T] {
    x.as_slice().expect("kernels are chosen by element type")
}

/// Between the types that meet most often.
fn direct(from: DType, to: DType) -> Option<fn(&Tensor) -> Result<Tensor>> {
    fn whole<T: Source, U: Target>(x: &Tensor) -> Result<Tensor> {
        Tensor::filled(x.shape().into(), |dst| cast::<T, U>(dense(x), dst))
    }
    Some(match (from, to) {
        (DType::F32, DType::F64) => whole::<f32, f64>,
        (DType::F64, DType::F32) => whole::<f64, f32>,
        (DType::Bool, DType::F32) => whole::<bool, f32>,
        (DType::Bool, DType::F64) => whole::<bool, f64>,
        (DType::U8, DType::F32) => whole::<u8, f32>,
        (DType::I32, DType::F32) => whole::<i32, f32>,
        (DType::I32, DType::F64) => whole::<i32, f64>,
        (DType::F16, DType::F32) => whole::<f16, f32>,
        (DType::F32, DType::F16) => whole::<f32, f16>,
        (DType::BF16, DType::F32) => whole::<bf16, f32>,
        (DType::F32, DType::BF16) => whole::<f32, bf16>,
        (DType::I64, DType::F32) => whole::<i64, f32>,
        (DType::I64, DType::F64) => whole::<i64, f64>,
        (DType::I32, DType::I64) => whole::<i32, i64>,
        (DType::I64, DType::I32) => whole::<i64, i32>,
        _ => return None,
    })
}

/// Elements in the type in which the reference computes, a few at a time: one loop there for each element type and one
/// back for each kind, not one for each pair.
const FEW: usize = 256;

/// Reads the elements of `x` in the wide type of its kind, [`FEW`] at a time.
fn widened<W: Copy + Default>(x: &Tensor, mut f: impl FnMut(&[W]), load: impl Fn(&Tensor, usize, &mut [W])) {
    let (mut buffer, n) = ([W::default(); FEW], x.numel());
    for at in (0..n).step_by(FEW) {
        let few = &mut buffer[..FEW.min(n - at)];
        load(x, at, few);
        f(few);
    }
}

fn load<T: Plain, W>(to: impl Fn(T) -> W) -> impl Fn(&Tensor, usize, &mut [W]) {
    move |x, at, few| few.iter_mut().zip(&dense::<T>(x)[at..]).for_each(|(w, &x)| *w = to(x))
}

/// Runs a block for an integer that an `i64` holds.
macro_rules! signed {
    ($dtype:expr, $T:ident => $body:expr) => {
        pick!($dtype, $T => $body; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32)
    };
}

fn through(x: &Tensor, to: DType) -> Result<Tensor> {
    for_any!(to, U => Tensor::build::<U, _>(x.shape().into(), |dst| {
        let mut dst = dst.iter_mut();
        match x.dtype().kind() {
            Kind::Float => widened(
                x,
                |few| dst.by_ref().zip(few).for_each(|(y, &w)| *y = U::from_real(w)),
                |x, at, few| for_real!(x.dtype(), T => load(T::to)(x, at, few)),
            ),
            Kind::Complex => widened(
                x,
                |few| dst.by_ref().zip(few).for_each(|(y, &w)| *y = U::from_pair(w)),
                |x, at, few| for_pair!(x.dtype(), T => load(T::to)(x, at, few)),
            ),
            _ if x.dtype() != DType::U64 => widened(
                x,
                |few| dst.by_ref().zip(few).for_each(|(y, &w)| *y = U::from_signed(w)),
                |x, at, few| signed!(x.dtype(), T => load(|x| T::to(x) as i64)(x, at, few)),
            ),
            Kind::Int | Kind::Bool => widened(
                x,
                |few| dst.by_ref().zip(few).for_each(|(y, &w)| *y = U::from_whole(w)),
                |x, at, few| for_whole!(x.dtype(), T => load(T::to)(x, at, few)),
            ),
        }
    }))
}

/// The elements in another type.
pub(crate) fn converted(x: Tensor, to: DType) -> Result<Tensor> {
    if x.dtype() == to {
        return Ok(x);
    }
    let cast = direct(x.dtype(), to);
    crate::kernel::once([x], |[x]| {
        let x = x.into_dense()?;
        match cast {
            Some(cast) => cast(&x),
            None => through(&x, to),
        }
    })
}

/// To another element type.
pub(crate) fn convert(to: DType) -> Kernel {
    kernel(move |_, [x]| converted(x, to))
}
