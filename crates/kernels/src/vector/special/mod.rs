//! Functions of the gamma family and Bessel functions: kernels over vectors of f64 with branches
//! and loops.
//!
//! A loop runs until all lanes have converged. A lane that has converged keeps its values, so that
//! no lane depends on its neighbours. f32 is computed in f64 and rounded once; its loops may end
//! earlier. These kernels are calls, so they are not [emitted](crate::emit).

mod bessel;
mod beta;
mod call;
mod gamma;
mod incomplete;
mod parts;
mod series;
mod tables;
#[cfg(test)]
mod tests;
mod zeta;

use super::MAX_LANES;
use crate::simd::Isa;
use crate::tile::{TileFn, TileOp};
use call::{Call, D};
use series::{JetSeries, PlainSeries};

/// A function of vectors.
trait Lanes {
    /// The number of operands.
    const OPERANDS: usize;

    fn eval<W: D>(x: [W; 3], call: Call) -> W;
}

/// The kernel on one vector type. Lanes after the end are padded with ones.
///
/// # Safety
/// The preconditions of [`TileFn`], with elements of f64.
#[inline(always)]
unsafe fn run<W: D, F: Lanes>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
    let (y, call) = (y.cast::<f64>(), Call::unpack(data));
    let mut i = 0;
    while i < n {
        let rest = n - i;
        let mut from = [W::splat(1.0); 3];
        for (v, x) in from.iter_mut().zip(x).take(F::OPERANDS) {
            let x = x.cast::<f64>();
            // SAFETY: the caller guarantees `n` elements, and `rest` of them are left.
            *v = unsafe {
                if rest < W::N {
                    W::load_part(x.add(i), rest, 1.0)
                } else {
                    W::load(x.add(i))
                }
            };
        }
        let to = F::eval(from, call);
        // SAFETY: the caller guarantees `n` elements, and `rest` of them are left.
        unsafe {
            if rest < W::N {
                to.store_part(y.add(i), rest)
            } else {
                to.store(y.add(i))
            }
        }
        i += W::N;
    }
}

/// Number of f32 elements that are computed together.
const BLOCK: usize = 8 * MAX_LANES;

/// The kernel for f32, by way of the kernel for f64.
///
/// # Safety
/// The preconditions of [`TileFn`], with elements of f32, and those of `wide`.
#[inline(always)]
unsafe fn run_narrow<F: Lanes>(wide: TileFn, n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
    let y = y.cast::<f32>();
    let (mut from, mut to) = ([[0.0f64; BLOCK]; 3], [0.0f64; BLOCK]);
    for i in (0..n).step_by(BLOCK) {
        let here = BLOCK.min(n - i);
        for (v, x) in from.iter_mut().zip(x).take(F::OPERANDS) {
            for (l, v) in v[..here].iter_mut().enumerate() {
                // SAFETY: `i + l < n`, and the caller guarantees `n` elements.
                *v = unsafe { x.cast::<f32>().add(i + l).read() }.into();
            }
        }
        let operands = [
            from[0].as_ptr().cast(),
            from[1].as_ptr().cast(),
            from[2].as_ptr().cast(),
        ];
        // SAFETY: each array has at least `here` elements, and the caller guarantees the
        // preconditions of `wide`.
        unsafe { wide(here, to.as_mut_ptr().cast(), operands, data | Call::NARROW) };
        for (l, v) in to[..here].iter().enumerate() {
            // SAFETY: `i + l < n`, and the caller guarantees `n` elements.
            unsafe { y.add(i + l).write(*v as f32) };
        }
    }
}

macro_rules! isa {
    ($name:ident, $vector:ty $(, $features:literal)?) => {
        mod $name {
            use super::*;

            /// # Safety
            /// The preconditions of [`TileFn`]; the CPU supports these instructions.
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn wide<F: Lanes>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { run::<$vector, F>(n, y, x, data) }
            }

            /// # Safety
            /// The preconditions of [`TileFn`]; the CPU supports these instructions.
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn narrow<F: Lanes>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
                // SAFETY: the caller guarantees the preconditions of `TileFn` and the instruction
                // set, which is that of `wide`.
                unsafe { run_narrow::<F>(wide::<F>, n, y, x, data) }
            }
        }
    };
}

isa!(portable, <f64 as super::super::VectorFloat>::Plain);
#[cfg(target_arch = "x86_64")]
isa!(avx2, <f64 as super::super::VectorFloat>::Avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
isa!(
    avx512,
    <f64 as super::super::VectorFloat>::Avx512,
    "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl"
);

fn pick<F: Lanes>(isa: Isa, narrow: bool) -> TileOp {
    let run: TileFn = match (isa, narrow) {
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, false) => avx512::wide::<F>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, true) => avx512::narrow::<F>,
        #[cfg(target_arch = "x86_64")]
        (isa, false) if isa.has_avx2() => avx2::wide::<F>,
        #[cfg(target_arch = "x86_64")]
        (isa, true) if isa.has_avx2() => avx2::narrow::<F>,
        (_, false) => portable::wide::<F>,
        (_, true) => portable::narrow::<F>,
    };
    TileOp::new(run)
}

macro_rules! specials {
    (
        complement { $(#[$upper_doc:meta])* $upper:ident of $lower:ident }
        $($(#[$doc:meta])* $name:ident($($x:ident),*; $call:ident) = $value:expr;)*
    ) => {
        /// Special functions of up to three floats. Orders are those of derivatives unless stated
        /// otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Special { $($(#[$doc])* $name,)* $(#[$upper_doc])* $upper }

        impl Special {
            /// All functions.
            pub const ALL: &'static [Special] = &[$(Special::$name,)* Special::$upper];

            /// The number of operands.
            pub const fn operands(self) -> usize {
                match self {
                    $(Special::$name => [$(stringify!($x)),*].len(),)*
                    Special::$upper => Special::$lower.operands(),
                }
            }

            /// The kernel for f64, or for f32 if `narrow`, and its parameter.
            ///
            /// The first order is below 2^16, the second below 2^8.
            pub fn kernel(self, isa: Isa, narrow: bool, orders: (u32, u32)) -> (TileOp, usize) {
                let kernel = match self {
                    $(Special::$name => {
                        struct F;
                        impl Lanes for F {
                            const OPERANDS: usize = Special::$name.operands();
                            #[inline(always)]
                            fn eval<W: D>([$($x),*, ..]: [W; 3], $call: Call) -> W {
                                $value
                            }
                        }
                        pick::<F>(isa, narrow)
                    })*
                    Special::$upper => {
                        let (kernel, data) = Special::$lower.kernel(isa, narrow, orders);
                        return (kernel, data | Call::UPPER);
                    }
                };
                (kernel, Call::pack(orders))
            }
        }
    };
}

specials! {
    complement {
        /// The upper incomplete gamma function `1 - P(a, x)`, differentiated in `a`.
        Igammac of Igamma
    }
    /// `log |gamma(x)|`
    Lgamma(x; _call) = gamma::lgamma(x);
    /// The derivative of `log gamma(x)`.
    Digamma(x; _call) = gamma::digamma(x);
    /// The derivative of digamma of an order of at least 1.
    Polygamma(x; call) = zeta::polygamma(call.orders.0, x, call.least);
    /// `e^-|x| I_n(x)`, where the order is `n`.
    BesselIe(x; call) = bessel::bessel_ie(call.orders.0, x, call.least);
    /// The Hurwitz zeta function `Σ_k (q + k)^-s`, differentiated in `s`.
    Zeta(s, q; call) = if call.is_plain() {
        zeta::zeta::<W, PlainSeries<W>>(call, s, q)
    } else {
        zeta::zeta::<W, JetSeries<W>>(call, s, q)
    };
    /// The lower incomplete gamma function `P(a, x)`, differentiated in `a`.
    Igamma(a, x; call) = if call.is_plain() {
        incomplete::igamma::<W, PlainSeries<W>>(call, a, x)
    } else {
        incomplete::igamma::<W, JetSeries<W>>(call, a, x)
    };
    /// `x^(a - 1) e^-x / gamma(a)`, differentiated in `a`.
    GammaDensity(a, x; call) = if call.is_plain() {
        incomplete::gamma_density::<W, PlainSeries<W>>(call, a, x)
    } else {
        incomplete::gamma_density::<W, JetSeries<W>>(call, a, x)
    };
    /// The incomplete beta function `I_x(a, b)`, differentiated in `a` and `b`.
    Betainc(a, b, x; call) = if call.is_plain() {
        beta::betainc::<W, PlainSeries<W>>(call, a, b, x)
    } else {
        beta::betainc::<W, JetSeries<W>>(call, a, b, x)
    };
}
