//! Sensitivity of results to rounding errors: functions whose intermediate values are perturbed,
//! and a comparison that allows for the perturbed results.
//!
//! Two correct implementations round differently. How far their results may differ depends on the
//! program: a difference of large numbers magnifies rounding errors, and a conversion to integers
//! turns an error of one unit in the last place into a step of 1. So the reference is run several
//! times on functions in which operands of every operation that rounds are multiplied by factors
//! near 1, at most four times the type's epsilon away. The range of their results is the
//! sensitivity (Monte Carlo arithmetic, Parker 1997).

use super::numbers::{Rng, flat};
use super::options::Evaluator;
use super::widen::{copied, dtypes};
use crate::array::Array;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Builder, Emit, Eqn, Function, Sample, Val, Visit};
use crate::ops::{self, Comparison};
use crate::reference;
use crate::shape::{Env, Type};
use rustc_hash::FxHashSet;
use std::sync::{Arc, OnceLock};

/// Number of perturbed runs.
const RUNS: usize = 24;

/// Largest perturbation, in units of the element type's epsilon.
pub(super) const MAX_EPSILONS: f64 = 4.0;

/// Allowed distance to the range of the perturbed results, as a multiple of its width. Sums of many
/// terms have more rounding errors than the single perturbation of their result.
const RANGE_FACTOR: f64 = 100.0;

/// Returns an error unless `got` agrees with the reference results `want` of `f` at `args`. Each
/// number may differ by `tolerance` times the largest magnitude of its array (see
/// [`agree`](super::agree)), plus a multiple of its sensitivity to rounding errors. The error names
/// the first difference.
///
/// A reference that returns an error on a perturbed function does not contribute to the range.
pub fn agree_up_to_rounding(
    f: &Function,
    args: &[Array],
    got: &[Array],
    want: &[Array],
    tolerance: f64,
) -> std::result::Result<(), String> {
    let Err(text) = super::agree(got, want, tolerance) else {
        return Ok(());
    };
    let types = |x: &[Array]| x.iter().map(Array::ty).collect::<Vec<_>>();
    if types(got) != types(want) {
        return Err(text);
    }
    let mut runs = vec![want.to_vec()];
    for run in 0..RUNS {
        let perturbed = perturbed(f, run).map_err(|e| e.to_string())?;
        if let Ok(y) = reference::run(&perturbed, args)
            && types(&y) == types(want)
        {
            runs.push(y);
        }
    }
    let absolute = RANGE_FACTOR * subnormal_spacing(f);
    for (k, got) in got.iter().enumerate() {
        let runs: Vec<Vec<f64>> = runs.iter().map(|y| numbers(&y[k])).collect();
        let (lo, hi) = range(runs[0].iter().copied());
        let margin = match lo <= hi {
            true => absolute + tolerance * lo.abs().max(hi.abs()),
            false => 0.0,
        };
        for (i, got) in numbers(got).into_iter().enumerate() {
            let seen = runs.iter().map(|r| r[i]);
            if !is_in_range(got, margin, seen.clone()) {
                let (lo, hi) = range(seen);
                return Err(format!(
                    "result {k}, number {i}: {got:e} is far from perturbed references, {lo:e} to {hi:e}"
                ));
            }
        }
    }
    Ok(())
}

/// The largest changes of the results of `f` at `args` by rounding errors, by coordinate: those of
/// the perturbed runs. Terms that cancel leave errors that are large relative to their sum.
pub(super) fn rounding_errors(
    evaluator: &Evaluator,
    f: &Function,
    args: &[Array],
) -> Result<Vec<f64>> {
    let at = flat(&evaluator.run(f, args)?);
    let mut most = vec![0.0f64; at.len()];
    for run in 0..RUNS {
        let Ok(y) = evaluator.run(&perturbed(f, run)?, args) else {
            continue;
        };
        for ((most, a), b) in most.iter_mut().zip(&at).zip(flat(&y)) {
            let change = (a - b).abs();
            if change.is_finite() {
                *most = most.max(change);
            }
        }
    }
    Ok(most)
}

/// The largest distance of subnormal numbers of the element types of a function. Perturbations by
/// factors do not change subnormal numbers.
fn subnormal_spacing(f: &Function) -> f64 {
    let spacing = |d: DType| match d.real() {
        DType::F16 => 2f64.powi(-24),
        DType::BF16 => 2f64.powi(-133),
        DType::F32 => 2f64.powi(-149),
        _ => 0.0,
    };
    dtypes(f).into_iter().map(spacing).fold(0.0, f64::max)
}

/// The real coordinates of an array. A complex number of which one part is NaN is NaN: products
/// with numbers that are known to be real may leave out the other part.
fn numbers(x: &Array) -> Vec<f64> {
    let mut all = flat(std::slice::from_ref(x));
    if x.dtype().is_complex() {
        for z in all.chunks_exact_mut(2) {
            if z.iter().any(|part| part.is_nan()) {
                z.fill(f64::NAN);
            }
        }
    }
    all
}

/// The smallest and the largest finite number.
fn range(x: impl Iterator<Item = f64>) -> (f64, f64) {
    x.filter(|x| x.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
            (lo.min(x), hi.max(x))
        })
}

/// Whether a number is among `seen` (as NaN or infinity), or near the range of the finite ones.
fn is_in_range(got: f64, margin: f64, mut seen: impl Iterator<Item = f64> + Clone) -> bool {
    if !got.is_finite() {
        return seen.any(|x| x == got || (x.is_nan() && got.is_nan()));
    }
    let (lo, hi) = range(seen);
    let margin = margin + RANGE_FACTOR * (hi - lo);
    lo <= hi && got >= lo - margin && got <= hi + margin
}

/// The values that a perturbed copy multiplies besides operands of operations that round.
#[derive(Clone, Copy)]
struct Factors {
    /// Whole numbers, too. A power of a negative number is no number if its exponent is not whole.
    whole: bool,
    /// Results as well. Those of factorizations obey relations that rounding errors may break: two
    /// numbers of a rotation are equal, and a comparison decides by them.
    results: bool,
    /// The sign of zeros among results of operations that combine several numbers, if it is not
    /// theirs: the order of sums and of products decides it.
    zeros: Option<f64>,
}

/// The copy number `run` of `f` in which operands of operations that round are multiplied by random
/// factors near 1, regions included.
fn perturbed(f: &Function, run: usize) -> Result<Function> {
    let factors = Factors {
        whole: run & 1 == 0,
        results: run & 2 == 2,
        zeros: [None, Some(0.0), Some(-0.0)][run % 3],
    };
    with_factors(f, factors, &mut Rng::new(run as u64))
}

fn with_factors(f: &Function, factors: Factors, rng: &mut Rng) -> Result<Function> {
    let equation = |b: &Builder, Visit { eqn, op, mut x, .. }: Visit<'_, Val>| {
        let rounded = |r: &Val| rounds(f, eqn, *r);
        if eqn.results().any(|r| rounded(&r)) {
            x.iter_mut()
                .for_each(|x| *x = multiplied(b, *x, factors.whole, rng));
        }
        let regions = op.regions().into_iter();
        let regions: Vec<_> = regions
            .map(|r| Ok(Arc::new(with_factors(r, factors, rng)?)))
            .collect::<Result<_>>()?;
        let op = match regions.is_empty() {
            true => op.into_owned(),
            false => op.with_regions(&regions),
        };
        let combines = !op.is_elementwise(f.operands(eqn).iter().map(|v| f.ty(*v)));
        let mut y = b.emit(op, &x);
        for (y, _) in y.iter_mut().zip(eqn.results()).filter(|(_, r)| rounded(r)) {
            if factors.results {
                *y = multiplied(b, *y, factors.whole, rng);
            }
            if let Some(zero) = factors.zeros.filter(|_| combines) {
                *y = with_zeros(b, *y, zero);
            }
        }
        Ok(y)
    };
    Ok(copied(f, Type::clone, &[], equation)?.0)
}

/// Whether a result may have rounding errors: it is computed from operands, and is not one of them
/// up to its sign. Regions are perturbed inside.
fn rounds(f: &Function, e: &Eqn, r: Val) -> bool {
    f.ty(r).dtype.has_tangent()
        && !f.operands(e).is_empty()
        && e.op.regions().is_empty()
        && !selecting().contains(e.op.name())
}

/// Names of operations whose floating-point results are, in all samples, elements of the operands
/// up to the sign, or 0 or 1: maxima, slices, permutations. Perturbed, they would no longer equal
/// their operands, and conditions of the program could change.
fn selecting() -> &'static FxHashSet<&'static str> {
    static NAMES: OnceLock<FxHashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let selects = |s: &Sample| {
            let from: FxHashSet<u64> = magnitudes(&s.operands).collect();
            let known = |x: u64| {
                let number = f64::from_bits(x);
                from.contains(&x) || [0.0, 1.0].contains(&number) || !number.is_finite()
            };
            s.op.eval(&s.operands, &Env::default())
                .is_ok_and(|y| magnitudes(&y).all(known))
        };
        let entries = ops::entries().into_iter();
        entries
            .filter(|e| (e.samples)(e.name).iter().all(selects))
            .map(|e| e.name)
            .collect()
    })
}

/// The bits of the magnitudes of all real coordinates of floating-point arrays.
fn magnitudes(x: &[Array]) -> impl Iterator<Item = u64> {
    x.iter()
        .filter(|a| a.dtype().has_tangent())
        .flat_map(|a| flat(std::slice::from_ref(a)))
        .map(|x| x.abs().to_bits())
}

/// The value times `1 + MAX_EPSILONS sin(a + Σ b_k i_k) epsilon` with random `a` and `b`, for the
/// element at `i`. Values without rounding errors, as integers, are returned unchanged; unless
/// `whole`, so are elements of other types that are whole numbers.
fn multiplied(cx: &dyn Emit, y: Val, whole: bool, rng: &mut Rng) -> Val {
    let ty = cx.ty(y);
    if !ty.dtype.has_tangent() {
        return y;
    }
    let real = ty.with_dtype(DType::F64);
    let mut angle = cx.full(&real, rng.between(0.0, 10.0));
    for axis in 0..ty.rank() {
        let step = cx.full(&real, rng.between(1.0, 10.0));
        angle = cx.add(angle, cx.mul(step, cx.iota(&real, axis)));
    }
    let size = cx.full(&real, MAX_EPSILONS * ty.dtype.epsilon());
    let factor = cx.add(cx.full(&real, 1.0), cx.mul(size, cx.sin(angle)));
    let product = cx.mul(y, cx.convert(factor, ty.dtype));
    if whole {
        return product;
    }
    let is_whole = |x: Val| cx.compare(x, Comparison::Eq, cx.round_half_even(x));
    let all = match ty.dtype.is_complex() {
        true => cx.and(is_whole(cx.real(y)), is_whole(cx.imag(y))),
        false => is_whole(y),
    };
    cx.select(all, y, product)
}

/// The value with this zero in place of zeros of either sign.
fn with_zeros(cx: &dyn Emit, y: Val, zero: f64) -> Val {
    if cx.ty(y).dtype.is_complex() {
        let [re, im] = [cx.real(y), cx.imag(y)].map(|x| with_zeros(cx, x, zero));
        return cx.complex(re, im);
    }
    let zero = cx.full_like(y, zero);
    cx.select(cx.compare(y, Comparison::Eq, zero), zero, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::C128;
    use crate::ir::Session;

    /// The function of one f64 that `g` emits.
    fn function(g: impl Fn(&dyn Emit, Val) -> Val) -> Function {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::F64), Some("x"));
        let y = g(&b, x);
        b.finish(&[y]).unwrap()
    }

    /// Compares a result moved by `by` with the reference at `x`.
    fn accepts(f: &Function, x: f64, by: f64) -> bool {
        let args = [Array::scalar(x)];
        let want = reference::run(f, &args).unwrap();
        let got = match flat(&want)[0] + by {
            y if want[0].dtype() == DType::I32 => Array::scalar(y as i32),
            y => Array::scalar(y),
        };
        agree_up_to_rounding(f, &args, &[got], &want, 0.0).is_ok()
    }

    #[test]
    fn rounding_is_allowed_as_far_as_the_function_magnifies_it() {
        let well = function(|cx, x| cx.sin(x));
        assert!(accepts(&well, 1.0, 1e-15));
        assert!(!accepts(&well, 1.0, 1e-12));
        // sin² + cos² - 1: rounding errors of 1e-16 in a result of zero.
        let cancelling = function(|cx, x| {
            let squares = cx.add(cx.square(cx.sin(x)), cx.square(cx.cos(x)));
            cx.sub(squares, cx.full_like(x, 1.0))
        });
        assert!(accepts(&cancelling, 1.0, 1e-15));
        assert!(!accepts(&cancelling, 1.0, 1e-12));
    }

    #[test]
    fn subnormal_numbers_differ_by_their_spacing() {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::F32), Some("x"));
        let cx: &dyn Emit = &b;
        let y = cx.convert(cx.mul(x, cx.full_like(x, 1e-30)), DType::F64);
        let f = b.finish(&[y]).unwrap();
        let args = [Array::scalar(1e-12f32)];
        let want = reference::run(&f, &args).unwrap();
        let agrees = |by: f64| {
            let got = [Array::scalar(flat(&want)[0] + by)];
            agree_up_to_rounding(&f, &args, &got, &want, 0.0).is_ok()
        };
        assert!(agrees(2e-45) && !agrees(1e-42));
    }

    #[test]
    fn selections_are_not_perturbed() {
        for name in [
            "reduce_max",
            "cummax",
            "sort",
            "transpose",
            "gather",
            "select",
            "max",
        ] {
            assert!(selecting().contains(name), "{name}");
        }
        for name in [
            "add",
            "mul",
            "exp",
            "reduce_sum",
            "cumsum",
            "dot_general",
            "qr",
        ] {
            assert!(!selecting().contains(name), "{name}");
        }
    }

    #[test]
    fn ties_of_rounded_numbers_may_go_either_way() {
        // The eigenvectors of a symmetric matrix of order 2 are a rotation, with equal numbers.
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::new(DType::F64, [2, 2]), Some("x"));
        let cx: &dyn Emit = &b;
        let compared = |x| cx.compare(x, Comparison::Ge, cx.reverse(x, &[0, 1]));
        let results = [compared(cx.eigh(x)[1]), compared(x)];
        let f = b.finish(&results).unwrap();
        let args = [Array::from_vec([2, 2], vec![1.0, 0.5, 0.5, 1.25]).unwrap()];
        let want = reference::run(&f, &args).unwrap();
        let accepts = |k: usize, i: usize| {
            let mut got = want.clone();
            let mut all = flat(&got[k..=k]);
            all[i] = 1.0 - all[i];
            let all: Vec<bool> = all.into_iter().map(|x| x == 1.0).collect();
            got[k] = Array::from_vec([2, 2], all).unwrap();
            agree_up_to_rounding(&f, &args, &got, &want, 0.0).is_ok()
        };
        assert!(accepts(0, 0) && !accepts(0, 1) && !accepts(1, 1));
    }

    #[test]
    fn the_order_of_a_product_decides_signs_of_zeros() {
        // The imaginary part of a product of real numbers is 0 or -0, which are the two sides of
        // the branch cut of the logarithm; that of one number is its own.
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::new(DType::C128, [3]), Some("x"));
        let cx: &dyn Emit = &b;
        let results = [cx.log(cx.reduce_prod(x, &[0])), cx.log(x)];
        let f = b.finish(&results).unwrap();
        let numbers = [-0.25, -0.5, -2.0].map(|x| C128::new(x, 0.0));
        let args = [Array::from_vec([3], numbers.to_vec()).unwrap()];
        let want = reference::run(&f, &args).unwrap();
        let accepts = |k: usize| {
            let mut got = want.clone();
            let numbers = got[k].as_slice::<C128>().unwrap().iter();
            let conjugates = numbers.map(|z| C128::new(z.re, -z.im)).collect();
            got[k] = Array::from_vec(got[k].shape(), conjugates).unwrap();
            agree_up_to_rounding(&f, &args, &got, &want, 0.0).is_ok()
        };
        assert!(accepts(0) && !accepts(1));
    }

    #[test]
    fn a_part_that_is_nan_makes_a_complex_number_nan() {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::C128), Some("x"));
        let y = (&b as &dyn Emit).conj(x);
        let f = b.finish(&[y]).unwrap();
        let accepts = |got: [f64; 2], x: [f64; 2]| {
            let [got, x, want] = [got, x, [x[0], -x[1]]].map(|[re, im]| C128::new(re, im));
            let [got, x, want] = [got, x, want].map(|z| [Array::scalar(z)]);
            agree_up_to_rounding(&f, &x, &got, &want, 0.0).is_ok()
        };
        assert!(
            accepts([f64::NAN; 2], [f64::NAN, 0.0]) && accepts([0.0, f64::NAN], [f64::NAN, 0.0])
        );
        assert!(!accepts([0.0, 0.0], [f64::NAN, 0.0]) && !accepts([0.0, f64::NAN], [0.0, 0.0]));
    }

    #[test]
    fn exponents_stay_whole() {
        let f = function(|cx, x| {
            let third = cx.div(x, cx.full_like(x, 3.0));
            let cube = cx.pow(third, cx.full_like(x, 3.0));
            cx.sub(cube, cx.full_like(x, -8.0 / 27.0))
        });
        assert!(accepts(&f, -2.0, 1e-15));
        assert!(!accepts(&f, -2.0, 1e-12));
    }

    #[test]
    fn a_step_is_allowed_only_where_rounding_decides_it() {
        // exp(log 3) is 3 up to rounding; its integer part is 2 or 3.
        let step = function(|cx, x| cx.convert(cx.exp(cx.log(x)), DType::I32));
        assert!(accepts(&step, 3.0, -1.0) || accepts(&step, 3.0, 1.0));
        assert!(!accepts(&step, 3.5, 1.0));
        assert!(!accepts(&step, 3.5, -1.0));
    }
}
