//! `guard`: a value where a condition on data holds, NaN where it does not: `y = ok ? x : NaN`.
//!
//! This is how an answer that would be wrong is refused: factorisations of matrices that have none, derivatives at
//! spectra where there is none. A program returns NaN there; an eager runtime, which can say what was wrong at once,
//! returns the error that `code` names. Linear in `x`; `ok` has the leading axes of `x`.

use super::super::support::{cost_per_element, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::attr::Attrs;
use crate::bail;
use crate::dtype::DType;
use crate::emit::Emit;
use crate::error::{Code, Error, Result};
use crate::ops::{Entry, Op, Spelled, arity};
use crate::primitive::{Arg, Batched, Cost, Linearized, Primitive, Sample, Val, no_rule};
use crate::shape::{Dim, Env, Type};
use crate::transform::{Lin, Lv};

/// A value that holds under a condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// What is wrong where the condition does not hold: a name of the table.
    pub code: String,
}

pub(crate) const NOT_POSITIVE_DEFINITE: &str = "not_positive_definite";
pub(crate) const SINGULAR: &str = "singular";
pub(crate) const RANK_DEFICIENT: &str = "rank_deficient";
pub(crate) const DEGENERATE: &str = "degenerate_spectrum";

/// Names, codes and texts.
const CODES: &[(&str, Code, &str)] = &[
    (
        NOT_POSITIVE_DEFINITE,
        Code::NotPositiveDefinite,
        "the Hermitian part of the matrix is not positive definite (or not finite): it has no Cholesky factor. \
         Add a multiple of the identity, or use eigh or lu",
    ),
    (
        SINGULAR,
        Code::Singular,
        "the matrix is singular: the system has no unique solution. Use lstsq or pinv, or add a multiple of the identity",
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
];

impl Guard {
    fn row(&self) -> Option<&'static (&'static str, Code, &'static str)> {
        CODES.iter().find(|c| c.0 == self.code)
    }

    /// The error of an eager runtime where the condition does not hold.
    pub fn error(&self) -> Error {
        match self.row() {
            Some((_, code, text)) => Error::new(*code, *text),
            None => Error::new(Code::CheckFailed, self.code.clone()),
        }
    }
}

impl Primitive for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("code", &*self.code)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        if self.row().is_none() {
            let names: Vec<&str> = CODES.iter().map(|c| c.0).collect();
            bail!(Attribute, "`guard` has no `code` = {}; there are {}", self.code, names.join(", "));
        }
        let (v, ok) = (&x[0], &x[1]);
        if !v.dtype.has_tangent() || ok.dtype != DType::Bool {
            bail!(DTypeMismatch, "`guard` takes floats and a boolean, got {v} and {ok}");
        }
        let leads = ok.rank() <= v.rank() && ok.shape.iter().zip(&v.shape[..]).all(|(a, b)| a.same(b) != Some(false));
        if !leads {
            bail!(ShapeMismatch, "`guard` of {v}: the condition, {ok}, must have its leading axes");
        }
        Ok(vec![v.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let ok = x[1].as_slice::<bool>().unwrap_or_default();
        let each = x[0].len() / ok.len().max(1);
        let nan = |k: usize| !ok[k / each.max(1)];
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(v.into_iter().enumerate().map(|(k, x)| if nan(k) { f64::NAN } else { x }).collect()),
            Wide::C(v) => {
                Wide::C(v.into_iter().enumerate().map(|(k, x)| if nan(k) { super::matrix::NAN } else { x }).collect())
            }
            w => w,
        };
        Ok(vec![y.narrow(x[0].dtype(), x[0].shape())?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] && !mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        Ok(cx.one(y, t[0].map(|t| cx.apply1(self.clone(), &[t.into(), x[1].into()]))))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Some(ok), Some(ct)) = (x[1].val(), ct[0]) else { return Err(no_rule(self, "transpose")) };
        Ok(vec![Some(cx.op(self.clone(), &[ct, ok])), None])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let (v, ok) = (cx.replicate(x[0], size).val, cx.replicate(x[1], size).val);
        mapped(cx.op(self.clone(), &[v, ok]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `x` where `ok` (of the leading axes of `x`) holds, NaN or an error elsewhere.
    pub(crate) fn guard(&self, x: Val, ok: Val, code: &str) -> Val {
        self.op(Guard { code: code.into() }, &[x, ok])
    }
}

impl Lin<'_> {
    /// The same for a tangent.
    pub(super) fn lguard(&self, t: Lv, ok: Val, code: &str) -> Lv {
        self.apply1(Guard { code: code.into() }, &[t.into(), ok.into()])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Guard { code: s.attrs.get("code")? }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let x = sample_array(DType::F64, &[2, 2], 0);
    let of = |code: &str| Guard { code: code.into() };
    vec![
        Sample::new(of(SINGULAR), vec![x.clone(), Array::vector(vec![true, true])]),
        Sample::new(of(DEGENERATE), vec![sample_array(DType::C128, &[3], 0), Array::scalar(true)]),
        Sample::rough(of(RANK_DEFICIENT), vec![x, Array::vector(vec![true, false])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc =
        "The first operand where the second (of its leading axes) is true, NaN elsewhere; eagerly, the error `code`.";
    vec![Entry { name: "guard", doc, parse, samples }]
}
