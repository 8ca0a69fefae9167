//! Change of element type: a loop for every pair of types, through the arithmetic of the reference.

use crate::element::{Pair, Plain, Real, Whole, for_any};
use crate::kernel::{Kernel, kernel};
use crate::tensor::Tensor;
use cotangent_core::{C64, C128, DType, bf16, f16};

/// What any number becomes in this type: floats round, integers truncate and saturate, or wrap between integers.
trait Target: Plain {
    fn from_real(x: f64) -> Self;
    fn from_whole(x: i128) -> Self;
    fn from_pair(z: C128) -> Self;
}

/// Which of the three a number is.
trait Source: Plain {
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
            fn from_pair(z: C128) -> $t { <$t>::of(z) }
        }
    )*};
}

pair!(C64 C128);

macro_rules! whole {
    ($($t:ty)*) => {$(
        impl Source for $t {
            #[inline(always)]
            fn become_<U: Target>(self) -> U { U::from_whole(self.to()) }
        }
        impl Target for $t {
            #[inline(always)]
            fn from_real(x: f64) -> $t { x as $t }
            #[inline(always)]
            fn from_whole(x: i128) -> $t { x as $t }
            #[inline(always)]
            fn from_pair(z: C128) -> $t { z.re as $t }
        }
    )*};
}

whole!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Source for bool {
    #[inline(always)]
    fn become_<U: Target>(self) -> U {
        U::from_whole(self.to())
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
    fn from_pair(z: C128) -> bool {
        z != C128::ZERO
    }
}

fn cast<T: Source, U: Target>(x: Tensor) -> cotangent_core::Result<Tensor> {
    let x = x.into_dense()?;
    let src = x.as_slice::<T>().expect("kernels are chosen by element type");
    Tensor::build(x.shape().into(), |dst| {
        for (y, &x) in dst.iter_mut().zip(src) {
            *y = T::become_::<U>(x);
        }
    })
}

/// From one element type to another.
pub(crate) fn convert(from: DType, to: DType) -> Kernel {
    if from == to {
        return kernel(|_, [x]| Ok(x));
    }
    let cast = for_any!(from, T => for_any!(to, U => cast::<T, U>));
    kernel(move |_, x| crate::elementwise::once(x, |[x]| cast(x)))
}
