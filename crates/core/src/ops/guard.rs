//! `guard`: a value where a condition on data holds, NaN where it does not: `y = ok ? x : NaN`.
//!
//! A guard replaces a result that would be wrong: factorisations of matrices that have none,
//! derivatives at degenerate spectra, iterations that have not converged. A program returns NaN
//! there. An eager runtime returns the error that `code` names. With the attribute `raise`, and for
//! missing convergence, it is an error in programs, too. Callers that want to continue read the
//! convergence flag of the iteration instead. Linear in `x`. `ok` has the leading axes of `x`. A
//! third operand, a float of any shape, is a measure that the error prints.

use super::entry::{Entry, Spelled};
use super::linalg::matrix;
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Operand, Primitive, Sample, Val,
    no_rule,
};
use crate::shape::{Dim, Env, Type};

/// A value that is valid under a condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The name of the failure, one of the table `CODES`.
    pub code: String,
    /// An error message that replaces the one of the table.
    pub message: Option<String>,
    /// Whether programs return the error, too.
    pub raise: bool,
}

pub(crate) const NOT_POSITIVE_DEFINITE: &str = "not_positive_definite";
pub(crate) const SINGULAR: &str = "singular";
pub(crate) const RANK_DEFICIENT: &str = "rank_deficient";
pub(crate) const DEGENERATE: &str = "degenerate_spectrum";
const NOT_CONVERGED: &str = "not_converged";

/// Names, codes and error messages.
const CODES: &[(&str, Code, &str)] = &[
    (
        NOT_POSITIVE_DEFINITE,
        Code::NotPositiveDefinite,
        "the Hermitian part of the matrix is not positive definite (or not finite): it has no Cholesky factor. \
         Add a multiple of the identity, use eigh or lu, or cholesky_ex, which returns a flag",
    ),
    (
        SINGULAR,
        Code::Singular,
        "the matrix is singular, and the system has no unique solution, or there is NaN in the matrix or the right-hand \
         side. For singular matrices use lstsq or pinv, or add a multiple of the identity",
    ),
    (
        RANK_DEFICIENT,
        Code::RankDeficient,
        "the matrix does not have full rank: this derivative does not exist. Drop dependent columns, or use \
         low_rank_approximation or pinv",
    ),
    (
        DEGENERATE,
        Code::DegenerateSpectrum,
        "eigenvalues or singular values coincide: their vectors have no derivative. Use a function that does not depend \
         on the choice of vectors: eigvalsh, svdvals, spectral_function, low_rank_approximation",
    ),
    (
        NOT_CONVERGED,
        Code::NotConverged,
        "the iteration did not converge",
    ),
];

impl Guard {
    pub(crate) fn of(code: &str) -> Guard {
        Guard {
            code: code.into(),
            message: None,
            raise: code == NOT_CONVERGED,
        }
    }

    fn row(&self) -> Option<&'static (&'static str, Code, &'static str)> {
        CODES.iter().find(|c| c.0 == self.code)
    }

    /// The error for a violated condition `ok`, with the first index in a batch where it is
    /// violated.
    pub fn error(&self, ok: &Array, measure: Option<&Array>) -> Error {
        let (code, text) = self
            .row()
            .map_or((Code::CheckFailed, &*self.code), |r| (r.1, r.2));
        let text = self.message.as_deref().unwrap_or(text);
        let mut rest = ok
            .as_slice::<bool>()
            .and_then(|ok| ok.iter().position(|&ok| !ok))
            .unwrap_or(0);
        let mut place = vec![0; ok.shape().len()];
        for (p, d) in place.iter_mut().zip(ok.shape()).rev() {
            (*p, rest) = (rest % (*d).max(1), rest / (*d).max(1));
        }
        let text = if place.is_empty() {
            text.to_owned()
        } else {
            format!("{text} (at {place:?} of the batch)")
        };
        match measure {
            None => Error::new(code, text),
            Some(m) => {
                let shown: Vec<String> = m
                    .to_f64()
                    .iter()
                    .take(4)
                    .map(|m| format!("{m:.3e}"))
                    .collect();
                Error::new(code, format!("{text} (residual {})", shown.join(", ")))
            }
        }
    }
}

impl Primitive for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn attrs(&self) -> Attrs {
        let mut attrs = Attrs::default().with("code", &*self.code);
        if let Some(m) = &self.message {
            attrs = attrs.with("message", &**m);
        }
        // Missing convergence is an error without the attribute.
        match self.raise == (self.code == NOT_CONVERGED) {
            true => attrs,
            false => attrs.with("raise", self.raise),
        }
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if !matches!(x.len(), 2 | 3) {
            bail!(
                Arity,
                "`guard` takes values, a condition and perhaps a measure, got {} operands",
                x.len()
            );
        }
        if self.row().is_none() {
            let names: Vec<&str> = CODES.iter().map(|c| c.0).collect();
            bail!(
                Attribute,
                "`guard` has no `code` = {}; there are {}",
                self.code,
                names.join(", ")
            );
        }
        let (v, ok) = (&x[0], &x[1]);
        if !v.dtype.is_inexact() || ok.dtype != DType::Bool {
            bail!(
                DTypeMismatch,
                "`guard` takes floats and a boolean, got {v} and {ok}"
            );
        }
        if let Some(m) = x.get(2).filter(|m| !m.dtype.is_float()) {
            bail!(DTypeMismatch, "the measure of `guard` is a float, got {m}");
        }
        let leads = ok.rank() <= v.rank()
            && ok
                .shape
                .iter()
                .zip(&v.shape[..])
                .all(|(a, b)| a.same(b) != Some(false));
        if !leads {
            bail!(
                ShapeMismatch,
                "`guard` of {v}: the condition, {ok}, must have its leading axes"
            );
        }
        Ok(vec![v.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let ok = x[1].as_slice::<bool>().unwrap_or_default();
        if self.raise && ok.contains(&false) {
            return Err(self.error(&x[1], x.get(2)));
        }
        let each = x[0].len() / ok.len().max(1);
        let nan = |k: usize| !ok[k / each.max(1)];
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(
                v.into_iter()
                    .enumerate()
                    .map(|(k, x)| if nan(k) { f64::NAN } else { x })
                    .collect(),
            ),
            Wide::C(v) => Wide::C(
                v.into_iter()
                    .enumerate()
                    .map(|(k, x)| if nan(k) { matrix::NAN } else { x })
                    .collect(),
            ),
            w => w,
        };
        Ok(vec![y.narrow(x[0].dtype(), x[0].shape())?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] && !mask[1..].contains(&true)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        let of = |t: Lv| {
            std::iter::once(t.into())
                .chain(x[1..].iter().map(|&v| v.into()))
                .collect::<Vec<Operand>>()
        };
        Ok(cx.one(y, t[0].map(|t| cx.apply1(self.clone(), &of(t)))))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let Some(ct) = ct[0] else {
            return Err(no_rule(self, "transpose"));
        };
        let rest = x[1..]
            .iter()
            .map(|a| a.val().ok_or_else(|| no_rule(self, "transpose")));
        let all: Vec<Val> = std::iter::once(Ok(ct)).chain(rest).collect::<Result<_>>()?;
        Ok(std::iter::once(Some(cx.op(self.clone(), &all)))
            .chain(x[1..].iter().map(|_| None))
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let (v, ok) = (cx.replicate(x[0], size).val, cx.replicate(x[1], size).val);
        let measure = x.get(2).map(|m| m.val);
        mapped(cx.op(
            self.clone(),
            &[v, ok].into_iter().chain(measure).collect::<Vec<_>>(),
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `x` where `ok` (with the leading axes of `x`) is true, NaN or an error elsewhere.
    pub(crate) fn guard(&self, x: Val, ok: Val, code: &str) -> Val {
        self.op(Guard::of(code), &[x, ok])
    }

    /// Floating-point `values`, if every element of `ok` is true. Otherwise execution returns an
    /// error with this message and the measure.
    pub fn require(&self, ok: Val, measure: Val, values: &[Val], message: &str) -> Vec<Val> {
        let op = Guard {
            message: Some(message.into()),
            ..Guard::of(NOT_CONVERGED)
        };
        values
            .iter()
            .map(|&x| self.op(op.clone(), &[x, ok, measure]))
            .collect()
    }
}

impl Lin<'_> {
    /// Guards a tangent.
    pub(super) fn lguard(&self, t: Lv, ok: Val, code: &str) -> Lv {
        self.apply1(Guard::of(code), &[t.into(), ok.into()])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let code: String = s.attrs.get("code")?;
    let raise = s.attrs.opt("raise")?;
    Ok(Guard {
        message: s.attrs.opt("message")?,
        raise: raise.unwrap_or(code == NOT_CONVERGED),
        code,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x = sample_array(DType::F64, &[2, 2], 0);
    let both = Array::vector(vec![true, true]);
    let told = Guard {
        message: Some("a sample".into()),
        ..Guard::of(NOT_CONVERGED)
    };
    let raised = Guard {
        raise: true,
        ..Guard::of(NOT_POSITIVE_DEFINITE)
    };
    vec![
        Sample::new(Guard::of(SINGULAR), vec![x.clone(), both.clone()]),
        Sample::new(raised, vec![x.clone(), both.clone()]),
        Sample::new(
            Guard::of(DEGENERATE),
            vec![sample_array(DType::C128, &[3], 0), Array::scalar(true)],
        ),
        Sample::rough(
            Guard::of(RANK_DEFICIENT),
            vec![x.clone(), Array::vector(vec![true, false])],
        ),
        Sample::new(
            told.clone(),
            vec![x.clone(), both.clone(), Array::scalar(1e-9f64)],
        ),
        Sample::new(told, vec![x, both, Array::vector(vec![1e-9f64, 2e-9])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The first operand where the second (with its leading axes) is true, NaN elsewhere; eager execution, and with `raise` programs, return the error `code`.";
    vec![Entry {
        name: "guard",
        doc,
        parse,
        samples,
    }]
}
