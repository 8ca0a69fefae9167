//! Checks of derivatives, for whole functions ([`check_function`]) and for one operation
//! ([`check_op`]).
//!
//! ```text
//! adjoint       <ct, J t> = <Jᵀ ct, t>                   the real inner product Re Σ conj(a) b
//! difference    J t = d/dh f(x + h t)                    central differences, extrapolated, with an error estimate
//! linear        J (a t + b u) = a J t + b J u
//! second order  forward over reverse = reverse over forward = d/dh grad(x + h t)
//! ```
//! Bounds include what the stopping tolerances of iterations (`root`, `fixed_point`, `argmin`,
//! `linear_solve`) leave open: the change of both sides if their results change by that much.
//! Directions are random with a fixed seed. Differences use the same graph in double precision
//! ([`widen()`]). So a derivative in `f16` is checked as strictly as one in `f64`; its own
//! arithmetic is checked by the adjoint law.
//!
//! ```
//! use cotangent_core::check::{Options, check_function};
//! use cotangent_core::{AdContext, Array, Builder, DType, Emit, Type};
//! let b = Builder::new("f", Default::default());
//! let x = b.param(Type::scalar(DType::F64), Some("x"));
//! let y = (&b as &dyn Emit).sin(x);
//! let f = b.finish(&[y]).unwrap();
//! let report = check_function(&AdContext::default(), &f, &[Array::scalar(0.5)], &Options::default()).unwrap();
//! assert!(report.passed(), "{report}");
//! ```

mod classes;
mod custom;
mod differences;
mod inexact;
mod laws;
mod numbers;
mod options;
mod perturb;
mod problem;
pub mod random;
mod report;
mod widen;

pub use classes::is_elementwise;
pub use custom::check_custom_rules;
pub use laws::{check_op, check_ops, function_of, read_again, stack};
pub use numbers::{Rng, agree, inner};
pub use options::{Evaluator, Options};
pub use perturb::agree_up_to_rounding;
pub use report::{Law, LawResult, Report, Verdict};
pub use widen::{retype, widen};

use crate::array::{Array, Wide, room};
use crate::dtype::{C128, Kind};
use crate::error::Result;
use crate::ir::{AdContext, Function, Val, unbound};
use crate::shape::{Env, Type};
use problem::CheckedFunction;

/// Maximum number of groups of values. Up to this number each value is its own group. The values of
/// a group that violates a law are checked one by one.
const MAX_GROUPS: usize = 32;
/// Maximum number of values of a group that its rows name.
const MAX_NAMED_VALUES: usize = 8;

/// Checks the derivatives of `f` at `args`, for each value of `wrt` alone and for all of them
/// together. More than 32 values are checked in 32 groups; a group that violates a law is checked
/// value by value. So the time is linear in the size of the function, not quadratic.
///
/// A violated law is a row of the report, and so is a derivative that does not exist (an operation
/// without a rule, a `custom_vjp` without a forward derivative). Returns an error if the function
/// does not run, or if a rule is invalid.
pub fn check_function(
    ad: &AdContext,
    f: &Function,
    args: &[Array],
    opts: &Options,
) -> Result<Report> {
    opts.evaluator.run(f, args)?;
    let wrt = opts.wrt.clone().unwrap_or_else(|| differentiable(f));
    if let Some(&v) = wrt.iter().find(|v| v.index() >= f.len()) {
        return Err(unbound(f, v));
    }
    let check = |group: &[Val], rows: &mut Vec<LawResult>| {
        let mut value = group
            .iter()
            .take(MAX_NAMED_VALUES)
            .map(|&v| f.show(v))
            .collect::<Vec<_>>()
            .join(" ");
        if group.len() > MAX_NAMED_VALUES {
            value += &format!(
                " .. {} ({} values)",
                f.show(group[group.len() - 1]),
                group.len()
            );
        }
        CheckedFunction::new(ad, f, args, group, opts)?.rows(&value, rows)
    };
    let mut rows = Vec::new();
    for group in wrt.chunks(wrt.len().div_ceil(MAX_GROUPS).max(1)) {
        let start = rows.len();
        check(group, &mut rows)?;
        if group.len() > 1
            && rows[start..]
                .iter()
                .any(|r| matches!(r.verdict, Verdict::Fail | Verdict::Skipped(_)))
        {
            for v in group {
                check(std::slice::from_ref(v), &mut rows)?;
            }
        }
    }
    if wrt.len() > 1 {
        check(&wrt, &mut rows)?;
    }
    Ok(Report {
        function: f.name.to_string(),
        rows,
    })
}

/// As [`check_function`], at several points. A law that is violated at one point is violated. A law
/// that is unsure at one point has the verdict of the other points. Points at which the function
/// returns an error are skipped, unless it does so at all of them.
///
/// # Errors
/// Those of [`check_function`] at every point.
pub fn check_points(
    ad: &AdContext,
    f: &Function,
    points: impl IntoIterator<Item = Result<Vec<Array>>>,
    opts: &Options,
) -> Result<Report> {
    let mut all: Option<Report> = None;
    let mut first = None;
    for x in points {
        match (check_function(ad, f, &x?, opts), &mut all) {
            (Ok(r), Some(all)) => all.merge(r),
            (Ok(r), all) => *all = Some(r),
            (Err(e), _) => first = first.or(Some(e)),
        }
    }
    match (all, first) {
        (Some(r), _) => Ok(r),
        (None, Some(e)) => Err(e),
        (None, None) => crate::bail!(Input, "a check needs a point"),
    }
}

/// Default points for [`check_function`]: smooth ones of both signs and several magnitudes, then
/// nonsmooth ones (zeros, ties). Symbols are 3; integers are small. Elements narrower than `f32`
/// stay near 1, where their arithmetic has enough digits.
///
/// A point that does not fit in memory is an error.
pub fn points(f: &Function) -> impl Iterator<Item = Result<Vec<Array>>> + '_ {
    // Signs (0 stands for both), and the magnitude.
    const KINDS: [(f64, f64); 8] = [
        (1.0, 1.0),
        (-1.0, 1.0),
        (0.0, 1.0),
        (0.0, 5.0),
        (0.0, 1e3),
        (0.0, 1e-3),
        (1.0, 0.0),
        (0.0, 0.0),
    ];
    let mut env = Env::default();
    for &p in f.params() {
        f.ty(p).syms(&mut |s| {
            env.insert(s.clone(), 3);
        });
    }
    let mut rng = Rng::new(7);
    KINDS
        .into_iter()
        .map(move |(sign, magnitude)| point(f, &env, &mut rng, sign, magnitude))
}

/// Arguments of this sign (0: both signs) and magnitude (0: nonsmooth points).
fn point(f: &Function, env: &Env, rng: &mut Rng, sign: f64, magnitude: f64) -> Result<Vec<Array>> {
    let mut one = |ty: &Type| -> Result<Array> {
        let shape = ty.shape.eval(env)?;
        // Numbers are drawn in f64 or i128.
        let n = room(&shape, ty.dtype.size().max(16))?;
        let narrow = ty.dtype.size() <= 2;
        let magnitude = if narrow && magnitude != 0.0 {
            magnitude.clamp(0.5, 2.0)
        } else {
            magnitude
        };
        let mut number = |i: usize| {
            let sign = match sign {
                0.0 if i.is_multiple_of(2) == rng.chance(0.8) => -1.0,
                0.0 => 1.0,
                s => s,
            };
            // Ties, or zeros and ones.
            if magnitude == 0.0 {
                f64::max(sign, 0.0)
            } else {
                sign * magnitude * rng.between(0.3, 1.3)
            }
        };
        let wide = match ty.dtype.kind() {
            Kind::Float => Wide::F((0..n).map(&mut number).collect()),
            Kind::Complex => Wide::C(
                (0..n)
                    .map(|i| C128::new(number(i), number(i + 1)))
                    .collect(),
            ),
            Kind::Bool => Wide::I((0..n).map(|i| (i % 2) as i128).collect()),
            Kind::Int | Kind::Opaque => Wide::I((0..n).map(|i| (i % 3) as i128).collect()),
        };
        wide.narrow(ty.dtype, shape)
    };
    f.param_types().iter().map(&mut one).collect()
}

/// The parameters that have tangents, if any result has one.
pub(crate) fn differentiable(f: &Function) -> Vec<Val> {
    if !f.result_types().iter().any(|t| t.dtype.has_tangent()) {
        return Vec::new();
    }
    f.params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect()
}
