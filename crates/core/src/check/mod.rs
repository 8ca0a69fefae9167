//! Checks: is a derivative right? For whole functions ([`check_function`]) and for one operation ([`check_op`]).
//!
//! ```text
//! adjoint       <ct, J t> = <Jᵀ ct, t>                   the real inner product Re Σ conj(a) b
//! difference    J t = d/dh f(x + h t)                    central differences, extrapolated, with an error estimate
//! linear        J (a t + b u) = a J t + b J u
//! second order  forward over reverse = reverse over forward = d/dh grad(x + h t)
//! ```
//! Directions are random with a fixed seed. Differences run on the same graph in double precision ([`widen`]): a
//! derivative in `f16` is checked as sharply as one in `f64`, and its own arithmetic against that by the adjoint law.
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

mod differences;
mod laws;
mod numbers;
mod problem;
pub mod random;
mod report;
mod widen;

pub use laws::{check_op, function_of, read_again, stack};
pub use numbers::{Rng, agree, inner};
pub use report::{Law, Report, Row, Verdict};
pub use widen::{retype, widen};

use crate::array::Array;
use crate::error::Result;
use crate::graph::Function;
use crate::primitive::Val;
use crate::reference;
use crate::transform::AdContext;
use problem::Problem;

/// What to check, and how sharply.
#[derive(Clone, Debug)]
pub struct Options {
    /// Values to differentiate with respect to, arguments or not; every argument that has a tangent if `None`.
    pub wrt: Option<Vec<Val>>,
    /// Random directions per law.
    pub directions: usize,
    /// Relative error that is accepted beside the estimated error of the differences.
    pub tolerance: f64,
    /// Whether second derivatives are checked too.
    pub second_order: bool,
    /// Where the random directions start.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { wrt: None, directions: 2, tolerance: 1e-6, second_order: true, seed: 1 }
    }
}

/// Checks the derivatives of `f` at `args`, for each value of `wrt` alone and for all of them together.
///
/// What fails a law is a row of the report, and so is a derivative that does not exist (an operation without a rule, a
/// `custom_vjp` that has no forward derivative). Errors are a function that does not run, and a rule that is broken.
pub fn check_function(ad: &AdContext, f: &Function, args: &[Array], opts: &Options) -> Result<Report> {
    reference::run(f, args)?;
    let wrt = opts.wrt.clone().unwrap_or_else(|| differentiable(f));
    let mut groups: Vec<Vec<Val>> = wrt.iter().map(|&v| vec![v]).collect();
    if wrt.len() > 1 {
        groups.push(wrt.clone());
    }
    let mut rows = Vec::new();
    for group in groups {
        let value = group.iter().map(|&v| f.show(v)).collect::<Vec<_>>().join(" ");
        Problem::new(ad, f, args, &group, opts)?.rows(&value, &mut rows)?;
    }
    Ok(Report { function: f.name.to_string(), rows })
}

/// The parameters that have tangents.
pub(crate) fn differentiable(f: &Function) -> Vec<Val> {
    f.params().iter().copied().filter(|&p| f.ty(p).dtype.has_tangent()).collect()
}
