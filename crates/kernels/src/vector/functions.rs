//! The elementary functions as kernels on slices, selected by element type and [`Isa`].

use super::{MAX_LANES, V, VectorFloat, inverse, math};
use crate::emit::{self, TraceId, TraceVector};
use crate::simd::Isa;
use crate::tile::{TileFn, TileOp};

/// A function of one operand.
pub(crate) trait Function1 {
    fn eval<W: V>(x: W) -> W;

    /// The lanes whose value is that of [`Function1::scalar`]; `None` if there are never any.
    #[inline(always)]
    fn rare<W: V>(_: W) -> Option<W::M> {
        None
    }

    fn scalar(x: f64) -> f64 {
        x
    }
}

/// A function of two operands.
pub(crate) trait Function2 {
    fn eval<W: V>(x: W, y: W) -> W;

    /// The lanes whose value is that of [`Function2::scalar`]; `None` if there are never any.
    #[inline(always)]
    fn rare<W: V>(_: W, _: W) -> Option<W::M> {
        None
    }

    fn scalar(x: f64, _: f64) -> f64 {
        x
    }
}

/// Runs `step` on vectors. It must be inlined, otherwise it is not compiled for the instruction
/// set. A partial last vector is padded with ones, which need no scalar fallback.
///
/// # Safety
/// `y` and all of `x` are valid for `n` elements. `y` may be equal to one of `x`; otherwise they do
/// not overlap.
#[inline(always)]
unsafe fn each<W: V, const K: usize>(
    n: usize,
    y: *mut W::E,
    x: [*const W::E; K],
    step: impl Fn([W; K]) -> W,
) {
    let mut i = 0;
    while i < n {
        let rest = n - i;
        // SAFETY: the caller guarantees `n` elements, and `rest` of them are left.
        unsafe {
            // A closure would not be compiled for the instruction set.
            let mut from = [W::splat(W::E::narrow(1.0)); K];
            for (v, x) in from.iter_mut().zip(x) {
                *v = if rest < W::N {
                    W::load_part(x.add(i), rest, W::E::narrow(1.0))
                } else {
                    W::load(x.add(i))
                };
            }
            let to = step(from);
            if rest < W::N {
                to.store_part(y.add(i), rest)
            } else {
                to.store(y.add(i))
            }
        }
        i += W::N;
    }
}

/// Replaces the lanes of `rare` by scalar results.
#[cold]
#[inline(never)]
fn lanes<E: VectorFloat, const K: usize>(
    y: &mut [E],
    rare: &[E],
    x: &[[E; MAX_LANES]; K],
    f: impl Fn([f64; K]) -> f64,
) {
    for (i, y) in y.iter_mut().enumerate() {
        if rare[i].widen() != 0.0 {
            *y = E::narrow(f(x.map(|x| x[i].widen())));
        }
    }
}

#[inline(always)]
fn patched<W: V, const K: usize>(
    y: W,
    rare: Option<W::M>,
    x: [W; K],
    f: impl Fn([f64; K]) -> f64,
) -> W {
    match rare {
        Some(m) if W::any(m) => {
            let zero = W::E::narrow(0.0);
            let (mut out, mut flags, mut args) =
                ([zero; MAX_LANES], [zero; MAX_LANES], [[zero; MAX_LANES]; K]);
            // SAFETY: each array has room for a vector.
            unsafe {
                y.store(out.as_mut_ptr());
                W::select(m, W::splat(W::E::narrow(1.0)), W::splat(zero)).store(flags.as_mut_ptr());
                for (x, a) in x.iter().zip(&mut args) {
                    x.store(a.as_mut_ptr());
                }
            }
            lanes(&mut out[..W::N], &flags, &args, f);
            // SAFETY: the array has room for a vector.
            unsafe { W::load(out.as_ptr()) }
        }
        _ => y,
    }
}

/// The kernel on one vector type.
///
/// # Safety
/// The preconditions of [`TileFn`].
#[inline(always)]
unsafe fn run1<W: V, F: Function1>(n: usize, y: *mut u8, x: [*const u8; 3]) {
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe {
        each::<W, 1>(
            n,
            y.cast(),
            [x[0].cast()],
            #[inline(always)]
            |[x]| patched(F::eval(x), F::rare(x), [x], |[x]| F::scalar(x)),
        );
    }
}

/// The kernel on one vector type.
///
/// # Safety
/// The preconditions of [`TileFn`].
#[inline(always)]
unsafe fn run2<W: V, F: Function2>(n: usize, y: *mut u8, x: [*const u8; 3]) {
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe {
        each::<W, 2>(
            n,
            y.cast(),
            [x[0].cast(), x[1].cast()],
            #[inline(always)]
            |[a, b]| {
                patched(F::eval(a, b), F::rare(a, b), [a, b], |[a, b]| {
                    F::scalar(a, b)
                })
            },
        );
    }
}

/// The recording function of the kernel.
fn record1<E: VectorFloat, F: Function1>(x: [TraceId; 3], _: usize) -> TraceId {
    let x = TraceVector::<E>::of(x[0]);
    let y = F::eval(x);
    F::rare(x).into_iter().for_each(emit::rare);
    y.0
}

/// The recording function of the kernel.
pub(crate) fn record2<E: VectorFloat, F: Function2>(x: [TraceId; 3], _: usize) -> TraceId {
    let (a, b) = (TraceVector::<E>::of(x[0]), TraceVector::<E>::of(x[1]));
    let y = F::eval(a, b);
    F::rare(a, b).into_iter().for_each(emit::rare);
    y.0
}

macro_rules! levels {
    ($pick:ident, $trait:ident, $run:ident, $record:ident) => {
        /// The kernel of a function for an instruction set.
        pub(crate) fn $pick<E: VectorFloat, F: $trait>(isa: Isa) -> TileOp {
            /// # Safety
            /// The preconditions of [`TileFn`], with elements of `E`.
            unsafe fn portable<E: VectorFloat, F: $trait>(
                n: usize,
                y: *mut u8,
                x: [*const u8; 3],
                _: usize,
            ) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { $run::<E::Plain, F>(n, y, x) }
            }
            /// # Safety
            /// The preconditions of [`TileFn`], with elements of `E`; the CPU supports AVX2.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2<E: VectorFloat, F: $trait>(
                n: usize,
                y: *mut u8,
                x: [*const u8; 3],
                _: usize,
            ) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { $run::<E::Avx2, F>(n, y, x) }
            }
            /// # Safety
            /// The preconditions of [`TileFn`], with elements of `E`; the CPU supports AVX-512.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
            unsafe fn avx512<E: VectorFloat, F: $trait>(
                n: usize,
                y: *mut u8,
                x: [*const u8; 3],
                _: usize,
            ) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { $run::<E::Avx512, F>(n, y, x) }
            }
            let run: TileFn = match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512::<E, F>,
                #[cfg(target_arch = "x86_64")]
                isa if isa.has_avx2() => avx2::<E, F>,
                _ => portable::<E, F>,
            };
            TileOp::new(run).recorded($record::<E, F>)
        }
    };
}

levels!(pick1, Function1, run1, record1);
levels!(pick2, Function2, run2, record2);

macro_rules! functions1 {
    ($($(#[$doc:meta])* $name:ident = $f:expr $(, rare $rare:ident, $scalar:path)?;)*) => {
        /// A function of one float.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Unary { $($(#[$doc])* $name),* }

        impl Unary {
            /// All functions.
            pub const ALL: &'static [Unary] = &[$(Unary::$name),*];

            pub(crate) fn kernel<E: VectorFloat>(self, isa: Isa) -> TileOp {
                match self {
                    $(Unary::$name => {
                        struct F;
                        impl Function1 for F {
                            #[inline(always)]
                            fn eval<W: V>(x: W) -> W {
                                $f(x)
                            }
                            $(
                                #[inline(always)]
                                fn rare<W: V>(x: W) -> Option<W::M> {
                                    Some(math::$rare(x))
                                }
                                fn scalar(x: f64) -> f64 {
                                    $scalar(x)
                                }
                            )?
                        }
                        pick1::<E, F>(isa)
                    })*
                }
            }
        }
    };
}

macro_rules! functions2 {
    ($($(#[$doc:meta])* $name:ident = $f:expr $(, rare $rare:ident, $scalar:path)?;)*) => {
        /// A function of two floats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Binary { $($(#[$doc])* $name),* }

        impl Binary {
            /// All functions.
            pub const ALL: &'static [Binary] = &[$(Binary::$name),*];

            pub(crate) fn kernel<E: VectorFloat>(self, isa: Isa) -> TileOp {
                match self {
                    $(Binary::$name => {
                        struct F;
                        impl Function2 for F {
                            #[inline(always)]
                            fn eval<W: V>(x: W, y: W) -> W {
                                $f(x, y)
                            }
                            $(
                                #[inline(always)]
                                fn rare<W: V>(x: W, y: W) -> Option<W::M> {
                                    Some(math::$rare(x, y))
                                }
                                fn scalar(x: f64, y: f64) -> f64 {
                                    $scalar(x, y)
                                }
                            )?
                        }
                        pick2::<E, F>(isa)
                    })*
                }
            }
        }
    };
}

functions1! {
    /// `-x`
    Neg = V::neg;
    /// `|x|`
    Abs = V::abs;
    /// -1, 0 or 1; zeros and NaN stay.
    Sign = math::sign;
    /// Rounds down to an integer.
    Floor = V::floor;
    /// Rounds up to an integer.
    Ceil = V::ceil;
    /// Rounds toward zero to an integer.
    Trunc = V::trunc;
    /// Rounds to the nearest integer, ties to even.
    RoundHalfEven = V::round;
    /// Rounds to the nearest integer, ties away from zero.
    RoundHalfAway = math::round_half_away;
    /// `√x`
    Sqrt = V::sqrt;
    /// `1 / √x`
    Rsqrt = math::rsqrt;
    /// `e^x`
    Exp = math::exp;
    /// `2^x`
    Exp2 = math::exp2;
    /// `e^x - 1`
    Expm1 = math::expm1;
    /// `ln x`
    Log = math::log;
    /// `log2 x`
    Log2 = math::log2;
    /// `ln(1 + x)`
    Log1p = math::log1p;
    /// `sin x`
    Sin = math::sin, rare far_angle, libm::sin;
    /// `cos x`
    Cos = math::cos, rare far_angle, libm::cos;
    /// `tan x`
    Tan = math::tan, rare far_angle, libm::tan;
    /// `asin x`
    Asin = math::asin;
    /// `acos x`
    Acos = math::acos;
    /// `atan x`
    Atan = math::atan;
    /// `sinh x`
    Sinh = math::sinh;
    /// `cosh x`
    Cosh = math::cosh;
    /// `tanh x`
    Tanh = math::tanh;
    /// `1 / (1 + e^-x)`
    Logistic = math::logistic;
    /// The error function.
    Erf = math::erf;
    /// `1 - erf x`
    Erfc = math::erfc;
    /// `x^⅓`
    Cbrt = inverse::cbrt;
    /// The inverse of sinh.
    Asinh = inverse::asinh;
    /// The inverse of cosh.
    Acosh = inverse::acosh;
    /// The inverse of tanh.
    Atanh = inverse::atanh;
    /// The inverse of the error function.
    ErfInv = inverse::erf_inv;
    /// `1 - x²`
    OneMinusSquare = math::one_minus_square;
    /// `1 / cosh(x)²`
    SechSquare = math::sech_square;
    /// `1 / (1 + x²)`
    RecipOnePlusSquare = math::recip_one_plus_square;
    /// `x²`
    Square = math::square;
    /// `1 / x`
    Recip = math::recip;
}

functions2! {
    /// `x + y`
    Add = V::add;
    /// `x - y`
    Sub = V::sub;
    /// `x y`
    Mul = V::mul;
    /// `x / y`
    Div = V::div;
    /// IEEE maximum: NaN if either is NaN, `+0 > -0`.
    Max = math::maximum;
    /// IEEE minimum: NaN if either is NaN, `-0 < +0`.
    Min = math::minimum;
    /// `x^y`
    Pow = math::pow;
    /// The angle of `(y, x)`: the first operand is `y`.
    Atan2 = math::atan2;
    /// `x - trunc(x / y) y`, with the sign of `x`.
    Rem = math::rem, rare far_quotient, libm::fmod;
    /// `x log y`, 0 where `x` is 0.
    Xlogy = math::xlogy;
    /// `x y`; 0 if a factor is 0 and the product is NaN.
    MulStrongZero = math::mul_strong_zero;
    /// `x / y`; 0 if `x` is 0 or `y` is infinite and the quotient is NaN.
    DivStrongZero = math::div_strong_zero;
    /// The rounding error of `x + y`.
    AddError = math::add_error;
}
