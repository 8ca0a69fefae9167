//! The laws of derivatives of one function at one point, for some of its values.

use super::differences::{Curve, Estimate, derivative, exact, kink};
use super::inexact::{Iterations, changes, iterates};
use super::numbers::{Rng, combine, flat, inner};
use super::options::Options;
use super::perturb::{MAX_EPSILONS, rounding_errors};
use super::report::{Law, LawResult, Verdict};
use super::widen::{double_args, dtypes, open};
use crate::array::{Array, Wide};
use crate::dtype::{C128, DType};
use crate::error::{Code, Result};
use crate::ir::{AdContext, Builder, Emit, Function, Session, Val};
use crate::transform::{self};

/// Tolerance of third derivatives, relative to that of first ones: second derivatives have larger
/// rounding errors.
const THIRD_ORDER_TOLERANCE_FACTOR: f64 = 32.0;
/// Largest magnitude of the arguments at which third derivatives are compared with differences.
const MAX_THIRD_ORDER_ARGUMENT: f64 = 1e7;

/// Tolerance, in double precision, of laws without finite differences, relative to the magnitudes
/// of the summands.
const EXACT_LAW_TOLERANCE: f64 = 1e-9;

type DerivativeLawFn<'a> =
    fn(&CheckedFunction<'a>, &str, &mut Rng, &mut Vec<LawResult>) -> Result<()>;

/// A function with one zero parameter added to each value to differentiate with respect to.
pub(super) struct CheckedFunction<'a> {
    ad: &'a AdContext,
    opts: &'a Options,
    f: Function,
    args: Vec<Array>,
    wrt: Vec<Val>,
    zeros: Vec<Array>,
    /// The values at the point, and their largest magnitude.
    at: Vec<Array>,
    far: f64,
    /// Relative precision of the arithmetic.
    eps: f64,
    /// The largest magnitude among arguments and results.
    size: f64,
    /// The function in its own element types, if they differ from double precision.
    own: Option<Box<CheckedFunction<'a>>>,
}

impl<'a> CheckedFunction<'a> {
    pub(super) fn new(
        ad: &'a AdContext,
        f: &Function,
        args: &[Array],
        wrt: &[Val],
        opts: &'a Options,
    ) -> Result<CheckedFunction<'a>> {
        let narrow = |d: DType| d.has_tangent() && !matches!(d, DType::F64 | DType::C128);
        let at = opts.evaluator.run(&f.clone().with_results(wrt), args)?;
        let make = |wide: bool| -> Result<CheckedFunction<'a>> {
            let (f, wrt) = open(f, wrt, wide)?;
            let args = if wide {
                double_args(args)?
            } else {
                args.to_vec()
            };
            let at = if wide { double_args(&at)? } else { at.clone() };
            let zeros = at
                .iter()
                .map(|x| Array::zeros(x.dtype(), x.shape()))
                .collect::<Result<_>>()?;
            let eps = dtypes(&f)
                .into_iter()
                .map(DType::epsilon)
                .fold(f64::EPSILON, f64::max);
            let eps = if wide { f64::EPSILON } else { eps };
            let far = largest(&flat(&at));
            let mut p = CheckedFunction {
                ad,
                opts,
                f,
                args,
                wrt,
                zeros,
                at,
                far,
                eps,
                size: 0.0,
                own: None,
            };
            p.size = largest(&flat(&p.value(&p.zeros)?)).max(far);
            Ok(p)
        };
        let own = make(false)?;
        if !dtypes(f).into_iter().any(narrow) {
            return Ok(own);
        }
        match make(true) {
            Ok(wide) => Ok(CheckedFunction {
                own: Some(Box::new(own)),
                ..wide
            }),
            Err(_) => Ok(own),
        }
    }

    /// A row per law.
    pub(super) fn rows(&self, value: &str, out: &mut Vec<LawResult>) -> Result<()> {
        if !self.f.result_types().iter().any(|t| t.dtype.has_tangent()) {
            return Ok(());
        }
        let mut rng = Rng::new(self.opts.seed);
        if let Some(own) = &self.own {
            own.try_law(Law::Adjoint, CheckedFunction::adjoint, value, &mut rng, out)?;
        }
        self.try_law(Law::Adjoint, CheckedFunction::adjoint, value, &mut rng, out)?;
        if let Some(own) = &self.own {
            for (row, f) in out.iter_mut().rev().zip([self, own]) {
                row.dtype = f.narrowest();
            }
        }
        self.try_law(Law::Linear, CheckedFunction::linear, value, &mut rng, out)?;
        self.try_law(
            Law::Difference,
            CheckedFunction::differences,
            value,
            &mut rng,
            out,
        )?;
        if self.opts.second_order {
            self.try_law(
                Law::Orders,
                CheckedFunction::second_order,
                value,
                &mut rng,
                out,
            )?;
            if self.opts.third_order {
                self.try_law(
                    Law::ThirdDifference,
                    CheckedFunction::third_order,
                    value,
                    &mut rng,
                    out,
                )?;
            }
        }
        Ok(())
    }

    /// The type with the greatest rounding errors.
    fn narrowest(&self) -> Option<DType> {
        let floats = dtypes(&self.f).into_iter().filter(|d| d.has_tangent());
        floats.max_by(|a, b| a.epsilon().total_cmp(&b.epsilon()))
    }

    /// Checks a law. A missing derivative gives a row with the verdict `Skipped`. Other errors are
    /// returned.
    fn try_law(
        &self,
        law: Law,
        check: DerivativeLawFn<'a>,
        value: &str,
        rng: &mut Rng,
        out: &mut Vec<LawResult>,
    ) -> Result<()> {
        match check(self, value, rng, out) {
            Err(e) if matches!(e.code(), Code::NoRule | Code::CustomVjpForward) => {
                let row = WorstComparison::default().row(value, law);
                out.push(LawResult {
                    verdict: Verdict::Skipped(e.message().to_owned()),
                    ..row
                });
                Ok(())
            }
            done => done.map_err(|e| e.note(format!("while checking: {law}"))),
        }
    }

    /// The results that have tangents, with `by` added to the values.
    fn value(&self, by: &[Array]) -> Result<Vec<Array>> {
        Ok(tangible(
            self.opts
                .evaluator
                .run(&self.f, &[&self.args[..], by].concat())?,
        ))
    }

    /// The random directions: for complex values also along the real and the imaginary axis alone.
    fn directions(&self, rng: &mut Rng) -> Result<Vec<Vec<Array>>> {
        let mut out: Vec<_> = (0..self.opts.directions)
            .map(|_| rng.like(&self.zeros))
            .collect::<Result<_>>()?;
        if self.zeros.iter().any(|z| z.dtype().is_complex()) {
            for (re, im) in [(1.0, 0.0), (0.0, 1.0)] {
                let part = |a: Array| match a.wide() {
                    Wide::C(v) => {
                        Wide::C(v.iter().map(|z| C128::new(re * z.re, im * z.im)).collect())
                            .narrow(a.dtype(), a.shape())
                    }
                    _ => Ok(a),
                };
                out.push(
                    rng.like(&self.zeros)?
                        .into_iter()
                        .map(part)
                        .collect::<Result<_>>()?,
                );
            }
        }
        Ok(out)
    }

    /// The tangents of the results for a tangent of the values.
    fn push(&self, jvp: &Function, t: &[Array]) -> Result<Vec<Array>> {
        let mut y = self
            .opts
            .evaluator
            .run(jvp, &[&self.args[..], &self.zeros, t].concat())?;
        Ok(y.split_off(self.f.results().len()))
    }

    /// Errors that iterations leave in the results of a derived function that have tangents, by
    /// coordinate, without the first `skip` results. None if there are no iterations.
    fn errors(
        &self,
        f: &Function,
        skip: usize,
        rest: &[Array],
        of: Iterations,
    ) -> Result<Option<Vec<f64>>> {
        if !iterates(f) {
            return Ok(None);
        }
        changes(
            &self.opts.evaluator,
            &with_tangents(f, skip),
            &self.arguments(rest),
            of,
        )
    }

    /// Rounding errors in the results of a derived function that have tangents, by coordinate,
    /// without the first `skip` results.
    fn rounding(&self, f: &Function, skip: usize, rest: &[Array]) -> Result<Vec<f64>> {
        rounding_errors(
            &self.opts.evaluator,
            &with_tangents(f, skip),
            &self.arguments(rest),
        )
    }

    /// The arguments of a derived function at the point.
    fn arguments(&self, rest: &[Array]) -> Vec<Array> {
        [&self.args[..], &self.zeros, rest].concat()
    }

    fn adjoint(&self, value: &str, rng: &mut Rng, out: &mut Vec<LawResult>) -> Result<()> {
        let jvp = transform::jvp(self.ad, &self.f, &self.wrt)?;
        let vjp = transform::vjp(self.ad, &self.f, &self.wrt)?;
        let mut worst = WorstComparison::default();
        for t in self.directions(rng)? {
            let dy = self.push(&jvp, &t)?;
            let ct = rng.like(&dy)?;
            let back = self
                .opts
                .evaluator
                .run(&vjp, &[&self.args[..], &self.zeros, &ct].concat())?;
            let ((a, p), (b, q)) = (inner(&ct, &dy), inner(&back, &t));
            let n = self.f.results().len();
            let left = weighted(self.errors(&jvp, n, &t, Iterations::Linear)?, &ct)
                + weighted(self.errors(&vjp, 0, &ct, Iterations::Linear)?, &t);
            worst.exact(a, b, self.exact(p + q) + left);
        }
        out.push(worst.row(value, Law::Adjoint));
        Ok(())
    }

    fn linear(&self, value: &str, rng: &mut Rng, out: &mut Vec<LawResult>) -> Result<()> {
        let jvp = transform::jvp(self.ad, &self.f, &self.wrt)?;
        let (t, u) = (rng.like(&self.zeros)?, rng.like(&self.zeros)?);
        let (a, b) = (0.75, -1.5);
        let want = combine(a, &self.push(&jvp, &t)?, b, &self.push(&jvp, &u)?)?;
        let got = flat(&self.push(&jvp, &combine(a, &t, b, &u)?)?);
        let want = flat(&want);
        let size = largest(&want);
        let mut left = 0.0;
        for (scale, t) in [(1.0, &combine(a, &t, b, &u)?), (a.abs(), &t), (b.abs(), &u)] {
            let n = self.f.results().len();
            left += scale * worst_of(self.errors(&jvp, n, t, Iterations::Linear)?);
        }
        let mut worst = WorstComparison::default();
        for (got, want) in got.into_iter().zip(want) {
            worst.exact(got, want, self.exact(size) + left);
        }
        out.push(worst.row(value, Law::Linear));
        Ok(())
    }

    /// The direction with components rounded so that steps are exact ([`exact`]).
    fn steady(&self, t: Vec<Array>) -> Result<Vec<Array>> {
        let one = |(t, x): (Array, &Array)| {
            let wide = match (t.wide(), x.wide()) {
                (Wide::F(t), Wide::F(x)) => {
                    Wide::F(t.iter().zip(&x).map(|(t, x)| exact(*t, *x)).collect())
                }
                (Wide::C(t), Wide::C(x)) => {
                    let part =
                        |(t, x): (&C128, &C128)| C128::new(exact(t.re, x.re), exact(t.im, x.im));
                    Wide::C(t.iter().zip(&x).map(part).collect())
                }
                (t, _) => t,
            };
            wide.narrow(t.dtype(), t.shape())
        };
        t.into_iter().zip(&self.at).map(one).collect()
    }

    fn differences(&self, value: &str, rng: &mut Rng, out: &mut Vec<LawResult>) -> Result<()> {
        let jvp = transform::jvp(self.ad, &self.f, &self.wrt)?;
        let mut worst = WorstComparison::default();
        for t in self.directions(rng)? {
            let t = self.steady(t)?;
            let n = self.f.results().len();
            let got = Derivative {
                values: flat(&self.push(&jvp, &t)?),
                errors: self.errors(&jvp, n, &t, Iterations::All)?,
                of_curve: self.errors(&self.f, 0, &[], Iterations::All)?,
                rounding: &|| Ok([self.rounding(&jvp, n, &t)?, self.rounding(&self.f, 0, &[])?]),
            };
            let mut curve = |h: f64| Some(flat(&self.value(&scaled(h, &t).ok()?).ok()?));
            self.compare(&got, self.size, &mut curve, self.opts.tolerance, &mut worst)?;
        }
        out.push(worst.row(value, Law::Difference));
        Ok(())
    }

    fn second_order(&self, value: &str, rng: &mut Rng, out: &mut Vec<LawResult>) -> Result<()> {
        let loss = self.loss(rng)?;
        let grad = transform::grad(self.ad, &loss, &self.wrt)?;
        let hvp = transform::hvp(self.ad, &loss, &self.wrt)?;
        let reverse = transform::hvp_reverse(self.ad, &loss, &self.wrt)?;
        let run = |f: &Function, v: &[Array]| {
            self.opts
                .evaluator
                .run(f, &[&self.args[..], &self.zeros, v].concat())
        };
        let (mut orders, mut symmetric, mut against) = (
            WorstComparison::default(),
            WorstComparison::default(),
            WorstComparison::default(),
        );
        let size = largest(&flat(&run(&grad, &[])?));
        let of_curve = self.errors(&grad, 0, &[], Iterations::All)?;
        for v in self.directions(rng)? {
            let v = self.steady(v)?;
            let hv = run(&hvp, &v)?;
            let (a, b) = (flat(&hv), flat(&run(&reverse, &v)?));
            let scale = largest(&b);
            let left = self.errors(&hvp, 0, &v, Iterations::Linear)?;
            let both = worst_of(left.clone())
                + worst_of(self.errors(&reverse, 0, &v, Iterations::Linear)?);
            for (&a, &b) in a.iter().zip(&b) {
                orders.exact(a, b, self.exact_second(scale) + both);
            }
            let u = rng.like(&self.zeros)?;
            let ((x, p), (y, q)) = (inner(&u, &hv), inner(&v, &run(&hvp, &u)?));
            let both =
                weighted(left, &u) + weighted(self.errors(&hvp, 0, &u, Iterations::Linear)?, &v);
            symmetric.exact(x, y, self.exact_second(p + q) + both);
            let mut curve = |h: f64| {
                let by = scaled(h, &v).ok()?;
                Some(flat(
                    &self
                        .opts
                        .evaluator
                        .run(&grad, &[&self.args[..], &by].concat())
                        .ok()?,
                ))
            };
            let got = Derivative {
                values: a,
                errors: self.errors(&hvp, 0, &v, Iterations::All)?,
                of_curve: of_curve.clone(),
                rounding: &|| Ok([self.rounding(&hvp, 0, &v)?, self.rounding(&grad, 0, &[])?]),
            };
            self.compare(&got, size, &mut curve, self.opts.tolerance, &mut against)?;
        }
        out.push(orders.row(value, Law::Orders));
        out.push(symmetric.row(value, Law::Symmetry));
        out.push(against.row(value, Law::SecondDifference));
        Ok(())
    }

    /// The derivative of `H v` for a fixed `v`. For large arguments the verdict is `Unsure`: no
    /// step is both small enough for differences of second derivatives and large compared with the
    /// spacing of floating-point numbers.
    fn third_order(&self, value: &str, rng: &mut Rng, out: &mut Vec<LawResult>) -> Result<()> {
        if self.far > MAX_THIRD_ORDER_ARGUMENT {
            let worst = WorstComparison {
                unsure: true,
                ..WorstComparison::default()
            };
            out.push(worst.row(value, Law::ThirdDifference));
            return Ok(());
        }
        let loss = self.loss(rng)?;
        let hvp = transform::hvp(self.ad, &loss, &self.wrt)?;
        let at = self.args.len();
        let wrt: Vec<Val> = hvp.params()[at..at + self.zeros.len()].to_vec();
        let third = transform::jvp(self.ad, &hvp, &wrt)?;
        let mut worst = WorstComparison::default();
        let (t, v) = (self.steady(rng.like(&self.zeros)?)?, rng.like(&self.zeros)?);
        let mut y = self
            .opts
            .evaluator
            .run(&third, &[&self.args[..], &self.zeros, &v, &t].concat())?;
        let got = Derivative {
            values: flat(&y.split_off(hvp.results().len())),
            errors: self.errors(
                &third,
                hvp.results().len(),
                &[&v[..], &t].concat(),
                Iterations::All,
            )?,
            of_curve: self.errors(&hvp, 0, &v, Iterations::All)?,
            rounding: &|| {
                let n = hvp.results().len();
                let of_third = self.rounding(&third, n, &[&v[..], &t].concat())?;
                Ok([of_third, self.rounding(&hvp, 0, &v)?])
            },
        };
        let size = largest(&flat(&y));
        let mut curve = |h: f64| {
            let by = scaled(h, &t).ok()?;
            Some(flat(
                &self
                    .opts
                    .evaluator
                    .run(&hvp, &[&self.args[..], &by, &v].concat())
                    .ok()?,
            ))
        };
        self.compare(
            &got,
            size,
            &mut curve,
            THIRD_ORDER_TOLERANCE_FACTOR * self.opts.tolerance,
            &mut worst,
        )?;
        out.push(worst.row(value, Law::ThirdDifference));
        Ok(())
    }

    /// The bound of laws without finite differences for numbers of this magnitude. Cancellation
    /// leaves rounding errors of the magnitude of the function's values.
    fn exact(&self, of: f64) -> f64 {
        EXACT_LAW_TOLERANCE.max(32.0 * self.eps) * of + 64.0 * self.eps * self.size
    }

    /// As [`CheckedFunction::exact`], for second derivatives: terms that cancel may have been
    /// divided by small numbers twice.
    fn exact_second(&self, of: f64) -> f64 {
        self.exact(of) + 1024.0 * self.eps * self.size
    }

    /// Compares a directional derivative with the differences of its curve. `size` is the magnitude
    /// of the curve's values.
    ///
    /// Where they differ, rounding errors are estimated and permitted, too: a derivative that is
    /// zero because its terms cancel has errors as large as those of the terms.
    fn compare(
        &self,
        got: &Derivative,
        size: f64,
        curve: Curve<'_>,
        tolerance: f64,
        worst: &mut WorstComparison,
    ) -> Result<()> {
        let none = || vec![0.0; got.values.len()];
        let mut of_curve = got.of_curve.clone().unwrap_or_else(none);
        let mut errors = got.errors.clone().unwrap_or_else(none);
        let mut sizes = vec![size; got.values.len()];
        let mut seen = self.comparison(&got.values, [&errors, &of_curve, &sizes], curve, tolerance);
        if seen.fails {
            let [of_values, of_points] = (got.rounding)()?;
            let add = |to: &mut [f64], by: &[f64]| to.iter_mut().zip(by).for_each(|(a, b)| *a += b);
            add(&mut errors, &of_values);
            add(&mut of_curve, &of_points);
            // The magnitude of the terms that have these rounding errors.
            let of_terms = |e: &f64| e / (MAX_EPSILONS * self.eps);
            for (size, terms) in sizes.iter_mut().zip(of_points.iter().map(of_terms)) {
                *size = size.max(terms);
            }
            seen = self.comparison(&got.values, [&errors, &of_curve, &sizes], curve, tolerance);
        }
        if seen.fails && kink(got.values.len(), curve) {
            seen.fails = false;
            seen.unsure = true;
        }
        worst.merge(seen);
        Ok(())
    }

    /// Compares values with the differences of a curve, given the errors of the values, the errors
    /// of the curve's coordinates and their magnitudes.
    fn comparison(
        &self,
        values: &[f64],
        [errors, of_curve, sizes]: [&[f64]; 3],
        curve: Curve<'_>,
        tolerance: f64,
    ) -> WorstComparison {
        let estimates = derivative(of_curve, self.eps, self.far, curve);
        let largest = estimates
            .iter()
            .filter(|e| e.error.is_finite())
            .fold(0.0f64, |m, e| m.max(e.value.abs()));
        let mut seen = WorstComparison::default();
        let here = curve(0.0);
        for (k, (&value, e)) in values.iter().zip(&estimates).enumerate() {
            // Where the function itself is not finite it has no derivative, even if the slopes on
            // both sides agree.
            if !here.as_ref().is_some_and(|y| y[k].is_finite()) {
                seen.unsure = true;
                continue;
            }
            let got_size = if value.is_finite() { value.abs() } else { 0.0 };
            let scale = e.value.abs() + got_size + 1e-3 * largest + 1e-4 * sizes[k];
            let slack = tolerance.max(1e3 * self.eps) * scale + 10.0 * errors[k];
            seen.difference(value, e, scale, slack);
        }
        seen
    }

    /// A real scalar that depends on every differentiable result: `Re Σ conj(c) y` for random `c`.
    fn loss(&self, rng: &mut Rng) -> Result<Function> {
        let weights = rng.like(&self.value(&self.zeros)?)?;
        let f = &self.f;
        let b = Builder::new(&f.name, Session::default());
        let cx: &dyn Emit = &b;
        let args: Vec<Val> = f
            .params()
            .iter()
            .map(|&p| b.param(f.ty(p).clone(), None))
            .collect();
        let mut sum = None;
        let results = cx
            .inline(f, &args)
            .into_iter()
            .filter(|&y| cx.ty(y).dtype.has_tangent());
        for (y, c) in results.zip(weights) {
            let product = cx.convert(cx.real(cx.mul(cx.conj(cx.constant(c)), y)), DType::F64);
            let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
            let term = cx.reduce_sum(product, &axes);
            sum = Some(sum.map_or(term, |s| cx.add(s, term)));
        }
        b.finish(&[sum.expect("a result has a tangent")])
    }
}

/// A directional derivative by the rules, to be compared with the differences of a curve.
struct Derivative<'a> {
    /// By coordinate.
    values: Vec<f64>,
    /// Errors that iterations leave in them.
    errors: Option<Vec<f64>>,
    /// Errors that iterations leave in the coordinates of the curve.
    of_curve: Option<Vec<f64>>,
    /// Rounding errors in the values, and in the coordinates of the curve.
    rounding: &'a dyn Fn() -> Result<[Vec<f64>; 2]>,
}

/// A function with its results from `skip` on that have tangents.
fn with_tangents(f: &Function, skip: usize) -> Function {
    let kept: Vec<Val> = f.results()[skip..]
        .iter()
        .copied()
        .filter(|&r| f.ty(r).dtype.has_tangent())
        .collect();
    f.clone().with_results(&kept)
}

/// The largest error in `Re Σ conj(w) y` for errors of the coordinates of `y`.
fn weighted(errors: Option<Vec<f64>>, w: &[Array]) -> f64 {
    let all = errors.into_iter().flatten().zip(flat(w));
    all.map(|(e, w)| e * w.abs()).sum()
}

fn worst_of(errors: Option<Vec<f64>>) -> f64 {
    errors.into_iter().flatten().fold(0.0, f64::max)
}

fn tangible(y: Vec<Array>) -> Vec<Array> {
    y.into_iter().filter(|a| a.dtype().has_tangent()).collect()
}

fn scaled(h: f64, t: &[Array]) -> Result<Vec<Array>> {
    combine(h, t, 0.0, t)
}

fn largest(x: &[f64]) -> f64 {
    x.iter()
        .filter(|v| v.is_finite())
        .fold(0.0, |m, v| m.max(v.abs()))
}

/// The comparison with the largest error relative to its bound.
#[derive(Default)]
struct WorstComparison {
    sides: (f64, f64),
    error: f64,
    bound: f64,
    estimate: f64,
    ratio: f64,
    fails: bool,
    unsure: bool,
}

impl WorstComparison {
    fn keep(&mut self, sides: (f64, f64), bound: f64, estimate: f64) {
        let error = (sides.0 - sides.1).abs();
        let ratio = if error == 0.0 {
            0.0
        } else if error.is_nan() {
            f64::INFINITY
        } else {
            error / bound
        };
        if ratio >= self.ratio {
            *self = WorstComparison {
                sides,
                error,
                bound,
                estimate,
                ratio,
                ..*self
            };
        }
    }

    /// Adds a comparison of two numbers that are equal up to rounding. Non-finite numbers give no
    /// verdict.
    fn exact(&mut self, a: f64, b: f64, bound: f64) {
        if !(a.is_finite() && b.is_finite()) {
            self.unsure |= !(a == b || (a.is_nan() && b.is_nan()));
            return;
        }
        self.keep((a, b), bound, 0.0);
        self.fails |= (a - b).abs() > bound;
    }

    /// Adds a comparison of a derivative with its estimate.
    fn difference(&mut self, got: f64, e: &Estimate, scale: f64, slack: f64) {
        if !e.error.is_finite() {
            self.unsure = true;
            return;
        }
        let bound = slack + 10.0 * e.error;
        let settled = e.error <= 1e-3 * scale;
        self.unsure |= !settled;
        if settled || got.is_finite() {
            self.keep((got, e.value), bound, e.error);
            self.fails |= !got.is_finite() || (got - e.value).abs() > bound;
        }
    }

    fn merge(&mut self, o: WorstComparison) {
        let (fails, unsure) = (self.fails | o.fails, self.unsure | o.unsure);
        if o.ratio >= self.ratio {
            *self = o;
        }
        (self.fails, self.unsure) = (fails, unsure);
    }

    fn row(self, value: &str, law: Law) -> LawResult {
        let verdict = if self.fails {
            Verdict::Fail
        } else if self.unsure {
            Verdict::Unsure
        } else {
            Verdict::Pass
        };
        let WorstComparison {
            sides,
            error,
            bound,
            estimate,
            ..
        } = self;
        LawResult {
            dtype: None,
            value: value.to_owned(),
            law,
            sides,
            error,
            bound,
            estimate,
            verdict,
        }
    }
}
