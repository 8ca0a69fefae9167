//! Lists of arrays as one real vector: random vectors, inner products, comparison.

use crate::array::{Array, Wide, room};
use crate::dtype::{C128, Kind};
use crate::error::Result;
use crate::shape::{Env, Type};

/// A deterministic random number generator (SplitMix64), so that checks are reproducible.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n = 0`.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.bits() % n as u64) as usize
        }
    }

    /// A number between `lo` and `hi`.
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// True with this probability.
    pub fn chance(&mut self, p: f64) -> bool {
        self.between(0.0, 1.0) < p
    }

    /// An array of a type: floats and both parts of complex numbers between -1 and 1, integers 0 to
    /// 3.
    pub fn array(&mut self, ty: &Type, env: &Env) -> Result<Array> {
        let shape = ty.shape.eval(env)?;
        // Numbers are drawn in f64 or i128.
        let n = room(&shape, ty.dtype.size().max(16))?;
        let mut one = || self.between(-1.0, 1.0);
        let wide = match ty.dtype.kind() {
            Kind::Float => Wide::F((0..n).map(|_| one()).collect()),
            Kind::Complex => Wide::C((0..n).map(|_| C128::new(one(), one())).collect()),
            Kind::Int | Kind::Opaque => Wide::I((0..n).map(|_| self.below(4) as i128).collect()),
            Kind::Bool => Wide::I((0..n).map(|_| self.below(2) as i128).collect()),
        };
        wide.narrow(ty.dtype, shape)
    }

    /// A direction of the type of each of these arrays.
    pub(super) fn like(&mut self, x: &[Array]) -> Result<Vec<Array>> {
        x.iter()
            .map(|a| self.array(&a.ty(), &Env::default()))
            .collect()
    }
}

/// The real coordinates of arrays. A complex number has two.
pub(super) fn flat(x: &[Array]) -> Vec<f64> {
    x.iter()
        .flat_map(|a| match a.wide() {
            Wide::F(v) => v,
            Wide::C(v) => v.into_iter().flat_map(|z| [z.re, z.im]).collect(),
            Wide::I(v) => v.into_iter().map(|i| i as f64).collect(),
        })
        .collect()
}

/// The real inner product `Re Σ conj(a) b`, and the sum of the magnitudes of its terms.
pub fn inner(a: &[Array], b: &[Array]) -> (f64, f64) {
    let products = flat(a).into_iter().zip(flat(b)).map(|(a, b)| a * b);
    products.fold((0.0, 0.0), |(s, size), p| (s + p, size + p.abs()))
}

/// `a x + b y` of arrays of the same types.
pub(super) fn combine(a: f64, x: &[Array], b: f64, y: &[Array]) -> Result<Vec<Array>> {
    x.iter()
        .zip(y)
        .map(|(x, y)| {
            let wide = match (x.wide(), y.wide()) {
                (Wide::F(x), Wide::F(y)) => {
                    Wide::F(x.iter().zip(&y).map(|(x, y)| a * x + b * y).collect())
                }
                (Wide::C(x), Wide::C(y)) => {
                    Wide::C(x.iter().zip(&y).map(|(x, y)| x * a + y * b).collect())
                }
                (x, _) => x,
            };
            wide.narrow(x.dtype(), x.shape())
        })
        .collect()
}

/// Compares two lists of arrays: equal types, and elements that agree to a tolerance relative to
/// the largest magnitude of each array. NaN agrees with NaN, an infinity with itself. The error
/// names the first difference.
pub fn agree(got: &[Array], want: &[Array], tolerance: f64) -> std::result::Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} results against {}", got.len(), want.len()));
    }
    for (k, (a, b)) in got.iter().zip(want).enumerate() {
        if a.ty() != b.ty() {
            return Err(format!("result {k} is {}, not {}", a.ty(), b.ty()));
        }
        let (x, y) = (flat(std::slice::from_ref(a)), flat(std::slice::from_ref(b)));
        let scale = y
            .iter()
            .filter(|v| v.is_finite())
            .fold(0.0f64, |m, v| m.max(v.abs()));
        for (i, (x, y)) in x.iter().zip(&y).enumerate() {
            let same = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * scale;
            if !same {
                return Err(format!("result {k}, number {i}: {x:e} is not {y:e}"));
            }
        }
    }
    Ok(())
}
