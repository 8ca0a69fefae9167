//! `check`: the derivatives of a closure against finite differences, and forward against reverse
//! mode.

use super::capture::{Closed, with};
use super::derivatives::ad;
use super::jit::evaluate;
use super::tree::{Returns, Tree};
use crate::check::{Evaluator, Options, Report, check_function};
use crate::here::here;
use crate::{Array, Function, Result, Val, bail};
use cotangent_cpu::Program;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Checks the first, second and third derivatives of a closure at `x`: against finite differences,
/// and forward against reverse mode ([`check`](crate::check) lists the laws). Rows of the report
/// are named by the leaves of `x`. Integers in `x`, and tensors that the closure captures, are
/// constants.
///
/// Time: that of some hundred runs of the compiled program and of its derivatives for each group of
/// leaves (at most 32 groups).
///
/// ```
/// use cotangent::{TracedTensor, closures::check};
/// let x = (TracedTensor::scalar(0.5), TracedTensor::vector(vec![1.0, 2.0]));
/// let report = check(|(a, b): (TracedTensor, TracedTensor)| (&a.sin() * &b).square().sum(..), x)?;
/// assert!(report.passed(), "{report}");
/// assert_eq!(report.rows[0].value, "%.0");
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The closure returns an error, or has nothing to differentiate. A tensor depends on a
/// placeholder.
#[track_caller]
pub fn check<A: Tree, R: Returns>(f: impl FnOnce(A) -> R, x: A) -> Result<Report> {
    check_with(f, x, Options::default())
}

/// As [`check`], with the order of derivatives, the number of directions and the tolerance of
/// `options`. Its `wrt` and `evaluator` are those of `check`.
///
/// ```
/// use cotangent::{TracedTensor, check::Options, closures::check_with};
/// let first = Options { second_order: false, ..Options::default() };
/// let report = check_with(|x: TracedTensor| x.sin(), TracedTensor::scalar(0.5), first)?;
/// assert!(report.passed() && report.rows.len() == 3, "{report}");
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The errors of [`check`].
#[track_caller]
pub fn check_with<A: Tree, R: Returns>(
    f: impl FnOnce(A) -> R,
    x: A,
    options: Options,
) -> Result<Report> {
    let loc = here();
    let (f, captures) = Closed::named("f", &x, f)?.function()?;
    let args = evaluate(with(&x, &captures))?;
    let args: Vec<Array> = args
        .iter()
        .map(|t| t.to_tensor()?.to_array())
        .collect::<Result<_>>()?;
    let moves = |v: &Val| f.ty(*v).dtype.has_tangent();
    let n = args.len() - captures.len();
    let wrt: Vec<Val> = f.params()[..n].iter().copied().filter(moves).collect();
    if wrt.is_empty() || !f.results().iter().any(moves) {
        bail!(
            Input,
            "a check needs a floating-point number in the argument and in the result of the closure"
        );
    }
    let options = Options {
        wrt: Some(wrt),
        evaluator: compiled(),
        ..options
    };
    check_function(&ad(), &f, &args, &options).map_err(|e| e.at(loc))
}

/// An evaluator that compiles each function once.
fn compiled() -> Evaluator {
    type Programs = FxHashMap<u64, Vec<(Arc<Function>, Arc<Program>)>>;
    let programs = Mutex::new(Programs::default());
    let program = move |f: &Function| -> Result<Arc<Program>> {
        let mut programs = programs.lock().unwrap_or_else(PoisonError::into_inner);
        let same = programs.entry(f.fingerprint()).or_default();
        if let Some((_, program)) = same.iter().find(|(g, _)| g.same(f)) {
            return Ok(program.clone());
        }
        let f = Arc::new(f.clone());
        let program = Arc::new(cotangent_cpu::compile(&f)?);
        same.push((f, program.clone()));
        Ok(program)
    };
    Evaluator::new(move |f, args| program(f)?.run(args))
}
