//! `require`: values that are only given out if a condition holds.
//!
//! ```text
//! y = x   if every element of `ok` is true;   otherwise an error that shows `measure`
//! ```
//! What an iteration returns when it has not converged is not a number to compute with. Derivatives pass through.

use super::{Entry, Op, Spelled};
use crate::array::Array;
use crate::attr::Attrs;
use crate::bail;
use crate::dtype::DType;
use crate::emit::Emit;
use crate::error::Result;
use crate::primitive::{Arg, Batched, Cost, Linearized, Primitive, Sample, Val, no_rule};
use crate::shape::{Dim, Env, Type};
use crate::transform::{Lin, Lv};

/// A condition on values. Operands: the condition, a measure to show, the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Require {
    /// What is wrong if the condition does not hold.
    pub message: String,
    /// How many values.
    pub values: usize,
}

impl Require {
    /// The error, if the condition does not hold.
    pub fn check(&self, ok: &Array, measure: &Array) -> Result<()> {
        if ok.as_slice::<bool>().is_some_and(|ok| ok.iter().all(|b| *b)) {
            return Ok(());
        }
        let shown: Vec<String> = measure.to_f64().iter().take(4).map(|m| format!("{m:.3e}")).collect();
        bail!(NotConverged, "{} (residual {})", self.message, shown.join(", "));
    }
}

impl Primitive for Require {
    fn name(&self) -> &str {
        "require"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("message", &*self.message)
    }

    fn results(&self) -> usize {
        self.values
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if x.len() != self.values + 2 {
            bail!(Arity, "`require` takes a condition, a measure and {} values, got {} operands", self.values, x.len());
        }
        if x[0].dtype != DType::Bool || !x[1].dtype.is_float() {
            bail!(DTypeMismatch, "`require` takes a boolean condition and a real measure, got {} and {}", x[0], x[1]);
        }
        Ok(x[2..].to_vec())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        self.check(&x[0], &x[1])?;
        Ok(x[2..].to_vec())
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok((cx.emit().emit(self.clone().into(), x), t[2..].to_vec()))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let y = cx.emit(self.clone().into(), &x.iter().map(|b| b.val).collect::<Vec<_>>());
        Ok(y.into_iter().zip(&x[2..]).map(|(val, b)| Batched { val, mapped: b.mapped }).collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

impl dyn Emit + '_ {
    /// `values`, if every element of `ok` is true; otherwise running is an error with this message and the measure.
    pub fn require(&self, ok: Val, measure: Val, values: &[Val], message: &str) -> Vec<Val> {
        let op = Require { message: message.into(), values: values.len() };
        self.emit(op.into(), &[&[ok, measure], values].concat()).to_vec()
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let Some(values) = s.operands.len().checked_sub(2) else {
        bail!(Arity, "`require` takes a condition, a measure and values, got {} operands", s.operands.len());
    };
    Ok(Require { message: s.attrs.get("message")?, values }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let (ok, small) = (Array::vector(vec![true, true]), Array::scalar(1e-9f64));
    let (x, n) = (Array::vector(vec![0.4f64, -0.7]), Array::scalar(3i64));
    let z = Array::scalar(crate::C128::new(0.4, 0.2));
    let op = |values| Require { message: "a sample".into(), values };
    vec![
        Sample::new(op(3), vec![ok, small.clone(), x, n, z]),
        Sample::new(op(1), vec![Array::scalar(true), small, Array::scalar(2.0f64)]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry { name: "require", doc: "Values, if a condition holds; an error otherwise.", parse, samples }]
}
