//! [`product`]: a product without operations on subnormal numbers, for CPUs on which such an
//! operation takes 100 times as long as another.
//!
//! ```text
//! x ≤ y the magnitudes,  z = x 2^s        exact, because x < 2^t is small
//! x y = (z y) 2^-s                        where that is a normal number
//! x y = (2^(m+s) + z y) - 2^(m+s)         below 2^m, the least normal number: its bits count units of the least number
//! ```
//! Every case rounds once, so the bits are those of the plain product.

use super::{V, VectorFloat};

/// `2^e`
fn two(e: i64) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// `a b`
pub(crate) fn product<W: V>(a: W, b: W) -> W {
    let [least, small, up] = if size_of::<W::E>() == 8 {
        [-1022, -511, 500]
    } else {
        [-126, -63, 60]
    };
    let two = |e: i64| W::splat(W::E::narrow(two(e)));
    let (one, unit) = (two(0), two(least + up));
    let (x, y) = (a.abs(), b.abs());
    let less = x.lt(y);
    let (x, y) = (W::select(less, x, y), W::select(less, y, x));
    let (small, subnormal) = (x.lt(two(small)), x.lt(two(least)));
    // The fraction of a subnormal number with a leading 1, and without it; both are scaled by
    // 2^-least.
    let x = W::select(subnormal, x.or(one).sub(one), x);
    let x = x.mul(W::select(subnormal, unit, W::select(small, two(up), one)));
    let z = x.mul(y);
    let low = W::both(small, z.lt(unit));
    let below = x.fma(y, unit).bits_sub(unit);
    let above = W::select(low, one, z).mul(W::select(small, two(-up), one));
    W::select(low, below, above).or(a.xor(b).sign_of())
}

#[cfg(test)]
mod tests {
    use super::super::{V, VectorFloat};
    use super::product;

    /// Numbers near every bound, with random fractions.
    fn numbers<E: VectorFloat>(exponents: std::ops::RangeInclusive<i32>) -> Vec<E> {
        let mut state = 1u64;
        let mut x = vec![0.0, f64::INFINITY, f64::NAN, 1.0, 2.0 - f64::EPSILON];
        for e in exponents {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            x.extend(
                [1.0, 1.0 + (state >> 12) as f64 / (1u64 << 52) as f64]
                    .map(|f| f * 2f64.powi(e / 2) * 2f64.powi(e - e / 2)),
            );
        }
        x.into_iter()
            .flat_map(|x| [E::narrow(x), E::narrow(-x)])
            .collect()
    }

    fn compare<W: V>(x: &[W::E]) {
        for &a in x {
            for &b in x {
                let (plain, ours) = (
                    W::splat(a).mul(W::splat(b)),
                    product(W::splat(a), W::splat(b)),
                );
                let [plain, ours] = [plain, ours].map(|y| {
                    let mut out = vec![a; W::N];
                    // SAFETY: the array has room for a vector.
                    unsafe { y.store(out.as_mut_ptr()) };
                    out[0]
                });
                let nan = plain.widen().is_nan() && ours.widen().is_nan();
                assert!(
                    nan || plain.bits() == ours.bits(),
                    "{:e} times {:e}",
                    a.widen(),
                    b.widen()
                );
            }
        }
    }

    #[test]
    fn products_have_the_bits_of_products() {
        compare::<<f32 as VectorFloat>::Portable>(&numbers(-150..=127));
        let edges = [-1074..=-1015, -520..=-500, -60..=2, 505..=520, 1018..=1023];
        let x: Vec<f64> = edges.into_iter().flat_map(numbers).collect();
        compare::<<f64 as VectorFloat>::Portable>(&x);
    }
}
