//! Kernels of complex functions over `V`: two vectors of `f64` hold the real and the
//! imaginary parts. Results for pairs of `f32` are rounded once.
//!
//! The formulas are those of the scalar functions (Kahan 1987), with the vector functions of
//! `math`. The scalar function, which is the kernel's parameter, is called in two
//! cases: a part is not finite or its square is not a normal number, or the argument is a pole or
//! on a cut. It implements Annex G of C17.

pub(crate) mod formulas;

pub use formulas::{ComplexFunction, ComplexFunction2, ComplexPart};

use super::VectorFloat;
use crate::emit::{self, TraceId, TraceVector, complex};
use crate::inlined::{each, from_fn};
use crate::simd::Isa;
use crate::tile::{TileFn, TileOp};
use formulas::{F64Vector, Result, Z, binary, extreme, k, modulus, product, unary};
use num_complex::Complex;

/// Number of elements that are computed together, and an argument without special properties as
/// padding.
const BLOCK: usize = 16;
const FILL: [f64; 2] = [0.75, 0.5];

/// The real and imaginary parts of a block.
type Block = [[f64; BLOCK]; 2];

/// # Safety
/// `x` is valid for reading `few` elements.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators may become calls in vector code"
)]
unsafe fn read<P: ComplexPart>(x: *const Complex<P>, few: usize) -> Block {
    let mut z = [[FILL[0]; BLOCK], [FILL[1]; BLOCK]];
    if few == BLOCK {
        // SAFETY: the caller guarantees `few` elements. A loop of constant length is vectorized.
        let v = unsafe { x.cast::<[Complex<P>; BLOCK]>().read_unaligned() };
        for k in 0..BLOCK {
            (z[0][k], z[1][k]) = (v[k].re.into(), v[k].im.into());
        }
    } else {
        for k in 0..few {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            let v = unsafe { x.add(k).read() };
            (z[0][k], z[1][k]) = (v.re.into(), v.im.into());
        }
    }
    z
}

/// Writes elements from `i` on; if `REAL`, real parts only.
///
/// # Safety
/// `y` is valid for writing `few` elements from `i` on.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators may become calls in vector code"
)]
unsafe fn write<P: ComplexPart, const REAL: bool>(y: *mut u8, i: usize, few: usize, z: &Block) {
    if few == BLOCK {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match REAL {
                true => y
                    .cast::<P>()
                    .add(i)
                    .cast::<[P; BLOCK]>()
                    .write_unaligned(each(&z[0], P::nearest)),
                false => {
                    let all = from_fn(|k| Complex::new(P::nearest(z[0][k]), P::nearest(z[1][k])));
                    y.cast::<Complex<P>>()
                        .add(i)
                        .cast::<[Complex<P>; BLOCK]>()
                        .write_unaligned(all);
                }
            }
        }
        return;
    }
    for k in 0..few {
        let re = P::nearest(z[0][k]);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match REAL {
                true => y.cast::<P>().add(i + k).write(re),
                false => y
                    .cast::<Complex<P>>()
                    .add(i + k)
                    .write(Complex::new(re, P::nearest(z[1][k]))),
            }
        }
    }
}

/// A function of `K` complex vectors and of the kernel's parameter.
trait Function<const K: usize> {
    /// Whether its values are real.
    const REAL: bool = false;
    /// Whether [`Function::eval`] leaves any lanes to [`Function::scalar`].
    const RARE: bool = true;
    fn eval<W: F64Vector, P: ComplexPart>(data: usize, x: [Z<W>; K]) -> Result<W>;
    /// The value in a lane that [`Function::eval`] does not compute.
    ///
    /// # Safety
    /// `data` is the kernel's parameter.
    unsafe fn scalar(data: usize, x: [Complex<f64>; K]) -> Complex<f64>;
}

/// Computes the lanes that need the scalar function.
///
/// # Safety
/// `data` is the kernel's parameter.
#[cold]
#[inline(never)]
unsafe fn patch<F: Function<K>, const K: usize>(
    data: usize,
    x: &[Block; K],
    rare: &[f64; BLOCK],
    y: &mut Block,
) {
    for lane in (0..BLOCK).filter(|&lane| rare[lane] != 0.0) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        let z = unsafe { F::scalar(data, x.map(|x| Complex::new(x[0][lane], x[1][lane]))) };
        (y[0][lane], y[1][lane]) = (z.re, z.im);
    }
}

/// The values of a block.
///
/// # Safety
/// The preconditions of [`Function::scalar`].
#[inline(always)]
unsafe fn block<W: F64Vector, P: ComplexPart, F: Function<K>, const K: usize>(
    data: usize,
    x: &[Block; K],
) -> Block {
    let (mut y, mut flags, mut any) = ([[0.0; BLOCK]; 2], [0.0; BLOCK], false);
    let mut i = 0;
    while i < BLOCK {
        let mut z = [[W::splat(0.0); 2]; K];
        for (z, x) in z.iter_mut().zip(x) {
            // SAFETY: vectors have at most 16 lanes, and their number divides the block length, so
            // `i + W::N <= BLOCK`.
            *z = unsafe { [W::load(x[0].as_ptr().add(i)), W::load(x[1].as_ptr().add(i))] };
        }
        let (v, rare) = F::eval::<_, P>(data, z);
        any |= W::any(rare);
        // SAFETY: `i + W::N <= BLOCK`, as the number of lanes divides the block length.
        unsafe {
            v[0].store(y[0].as_mut_ptr().add(i));
            v[1].store(y[1].as_mut_ptr().add(i));
            W::select(rare, W::splat(1.0), W::splat(0.0)).store(flags.as_mut_ptr().add(i));
        }
        i += W::N;
    }
    if any {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { patch::<F, K>(data, x, &flags, &mut y) };
    }
    y
}

/// # Safety
/// The preconditions of [`TileFn`]; `data` is the scalar function.
#[inline(always)]
unsafe fn run<W: F64Vector, P: ComplexPart, F: Function<K>, const K: usize, const REAL: bool>(
    n: usize,
    y: *mut u8,
    x: [*const u8; 3],
    data: usize,
) {
    let mut i = 0;
    while i < n {
        let few = (n - i).min(BLOCK);
        let mut from = [[[0.0; BLOCK]; 2]; K];
        for (z, x) in from.iter_mut().zip(x) {
            // SAFETY: the caller guarantees the preconditions of `TileFn`, and `few` elements are
            // left of each operand.
            *z = unsafe { read(x.cast::<Complex<P>>().add(i), few) };
        }
        // SAFETY: the caller guarantees the preconditions of `TileFn` and of the scalar function,
        // and `few` elements are left.
        unsafe { write::<P, REAL>(y, i, few, &block::<W, P, F, K>(data, &from)) };
        i += BLOCK;
    }
}

/// Records the values of a function.
#[inline(never)]
fn recorded<P: ComplexPart, F: Function<K>, const K: usize>(
    data: usize,
    x: [Z<TraceVector<f64>>; K],
) -> Z<TraceVector<f64>> {
    let (y, rare) = F::eval::<_, P>(data, x);
    if F::RARE {
        emit::rare(rare);
    }
    y
}

/// The recording function of the kernel.
fn record<P: ComplexPart, F: Function<K>, const K: usize>(x: [TraceId; 3], data: usize) -> TraceId {
    let y = recorded::<P, F, K>(data, from_fn(|k| complex::widened::<Complex<P>>(x[k])));
    if F::REAL {
        complex::part::<Complex<P>>(y[0])
    } else {
        complex::narrowed::<Complex<P>>(y)
    }
}

fn choose<P: ComplexPart, F: Function<K>, const K: usize>(isa: Isa) -> TileOp {
    /// # Safety
    /// The preconditions of [`run`].
    unsafe fn portable<P: ComplexPart, F: Function<K>, const K: usize>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        data: usize,
    ) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match F::REAL {
                true => run::<<f64 as VectorFloat>::Plain, P, F, K, true>(n, y, x, data),
                false => run::<<f64 as VectorFloat>::Plain, P, F, K, false>(n, y, x, data),
            }
        }
    }
    /// # Safety
    /// The preconditions of [`run`]; the CPU supports AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<P: ComplexPart, F: Function<K>, const K: usize>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        data: usize,
    ) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match F::REAL {
                true => run::<<f64 as VectorFloat>::Avx2, P, F, K, true>(n, y, x, data),
                false => run::<<f64 as VectorFloat>::Avx2, P, F, K, false>(n, y, x, data),
            }
        }
    }
    /// # Safety
    /// The preconditions of [`run`]; the CPU supports AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
    unsafe fn avx512<P: ComplexPart, F: Function<K>, const K: usize>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        data: usize,
    ) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match F::REAL {
                true => run::<<f64 as VectorFloat>::Avx512, P, F, K, true>(n, y, x, data),
                false => run::<<f64 as VectorFloat>::Avx512, P, F, K, false>(n, y, x, data),
            }
        }
    }
    let run: TileFn = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<P, F, K>,
        #[cfg(target_arch = "x86_64")]
        isa if isa.has_avx2() => avx2::<P, F, K>,
        _ => portable::<P, F, K>,
    };
    TileOp::new(run).recorded(record::<P, F, K>)
}

/// The type of a scalar function.
type Scalar1 = fn(Complex<f64>) -> Complex<f64>;
type Scalar2 = fn(Complex<f64>, Complex<f64>) -> Complex<f64>;

macro_rules! kernels {
    ($enum:ident, $k:expr, $eval:ident, $scalar:ty, |$f:ident, $x:ident| $call:expr; $($name:ident)*) => {
        impl $enum {
            /// The kernel, and the scalar function as its parameter.
            pub fn kernel<P: ComplexPart>(self, isa: Isa, scalar: $scalar) -> (TileOp, usize) {
                let kernel = match self {
                    $($enum::$name => {
                        struct F;
                        impl Function<$k> for F {
                            #[inline(always)]
                            fn eval<W: F64Vector, P: ComplexPart>(
                                _: usize,
                                x: [Z<W>; $k],
                            ) -> Result<W> {
                                $eval::<_, P>($enum::$name, x)
                            }
                            unsafe fn scalar(data: usize, $x: [Complex<f64>; $k]) -> Complex<f64> {
                                // SAFETY: `data` is the function that `kernel` returned together
                                // with this kernel.
                                let $f: $scalar = unsafe { std::mem::transmute(data) };
                                $call
                            }
                        }
                        choose::<P, F, $k>(isa)
                    })*
                };
                (kernel, scalar as usize)
            }
        }
    };
}

kernels! {
    ComplexFunction, 1, unary, Scalar1, |f, x| f(x[0]);
    Sign Sqrt Rsqrt Exp Exp2 Expm1 Log Log2 Log1p Sin Cos Tan Sinh Cosh Tanh Logistic SechSquare
}

kernels! {
    ComplexFunction2, 2, binary, Scalar2, |f, x| f(x[0], x[1]);
    Div DivStrongZero Pow Xlogy
}

struct Modulus;

impl Function<1> for Modulus {
    const REAL: bool = true;
    #[inline(always)]
    fn eval<W: F64Vector, P: ComplexPart>(_: usize, [z]: [Z<W>; 1]) -> Result<W> {
        ([modulus::<_, P>(z), k(0.0)], extreme::<_, P>(z))
    }
    unsafe fn scalar(_: usize, [z]: [Complex<f64>; 1]) -> Complex<f64> {
        z.norm().into()
    }
}

/// The kernel of absolute values, which are real.
pub fn absolute<P: ComplexPart>(isa: Isa) -> TileOp {
    choose::<P, Modulus, 1>(isa)
}

struct Power;

impl Function<1> for Power {
    const RARE: bool = false;
    /// Repeated squaring, from the lowest bit of the exponent up.
    #[inline(always)]
    fn eval<W: F64Vector, P: ComplexPart>(data: usize, [z]: [Z<W>; 1]) -> Result<W> {
        let (mut left, mut square, mut y) = (data, z, None);
        while left > 0 {
            if left & 1 == 1 {
                y = Some(match y {
                    Some(y) => product(y, square),
                    None => square,
                });
            }
            left >>= 1;
            if left > 0 {
                square = product(square, square);
            }
        }
        let one = [k(1.0), k(0.0)];
        (y.unwrap_or(one), z[0].lt(z[0]))
    }
    unsafe fn scalar(_: usize, [z]: [Complex<f64>; 1]) -> Complex<f64> {
        z
    }
}

/// The kernel of `z^n`; `n` is its parameter.
pub fn power<P: ComplexPart>(isa: Isa) -> TileOp {
    choose::<P, Power, 1>(isa)
}
