//! `custom_jvp`: a function with a user-defined forward derivative.
//!
//! ```text
//! y = body(x),   dy = rule(x, y, dx)      the rule is linear in dx
//! ```
//! The rule also receives the results, so it need not recompute them. The primal stays this
//! operation, so `y` has this derivative at every order. Only differentiable operands and results
//! have tangents. A zero tangent is a symbolic zero in the rule: equations that depend only on it
//! are not written.

use super::body::{RegionFn, check_rule, differentiable, sample_function, spread};
use super::entry::{Entry, Spelled};
use crate::analysis::trace_linear;
use crate::array::{Array, Scalar};
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Function, Lin, Linearized, Lv, Op, Operand, Primitive, Sample,
    Val, no_rule,
};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use std::sync::Arc;

/// A function and its forward derivative.
#[derive(Clone, Debug)]
pub struct CustomJvp {
    /// `x.. -> y..`.
    pub body: Arc<Function>,
    /// `x.., y.., tangents of differentiable x.. -> tangents of differentiable y..`.
    pub rule: Arc<Function>,
    /// Relative error of the results, if an iteration computes them.
    pub tolerance: Option<f64>,
}

impl Primitive for CustomJvp {
    fn name(&self) -> &str {
        "custom_jvp"
    }

    fn attrs(&self) -> Attrs {
        let attrs = match self.tolerance {
            Some(t) => Attrs::default().with("tolerance", Scalar::F(t)),
            None => Attrs::default(),
        };
        attrs
            .with("body", self.body.clone())
            .with("rule", self.rule.clone())
    }

    fn results(&self) -> usize {
        self.body.results().len()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        super::body::check_operands(self, "the body", &self.body, x)?;
        super::body::check_results(self, "the body", &self.body)?;
        let y = self.body.result_types();
        let of_rule = [x, &y, &differentiable(x)].concat();
        check_rule(self, "rule", &self.rule, &of_rule, &differentiable(&y))?;
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        reference::run_body(&self.body, x, env)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit(self.clone().into(), x);
        let has: Vec<bool> = self
            .body
            .result_types()
            .iter()
            .map(|t| t.dtype.has_tangent())
            .collect();
        let args: Vec<Option<Operand>> = x
            .iter()
            .chain(&y)
            .map(|&v| Some(Operand::R(v)))
            .chain(
                x.iter()
                    .zip(t)
                    .filter(|(x, _)| cx.ty(**x).dtype.has_tangent())
                    .map(|(_, t)| t.map(Operand::L)),
            )
            .collect();
        let dy = trace_linear(
            cx,
            &self.rule,
            &args,
            &vec![true; self.rule.results().len()],
        )
        .map_err(|e| {
            not_linear(
                e,
                Code::NotLinear,
                "the rule of `custom_jvp`",
                &self.rule,
                "tangents",
            )
        })?;
        let dy = spread(&has, &dy).into_iter().map(Option::flatten).collect();
        Ok((y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let session = cx.session();
        let mapped: Vec<bool> = x.iter().map(|b| b.mapped).collect();
        let tangents = x
            .iter()
            .filter(|b| cx.ty(b.val).dtype.has_tangent())
            .map(|b| b.mapped);
        let n = self.results();
        // All results are mapped, because their tangents may be.
        let of_rule: Vec<bool> = mapped
            .iter()
            .copied()
            .chain(vec![true; n])
            .chain(tangents)
            .collect();
        let body = session
            .batch_region(&self.body, &mapped, &vec![true; n], size)?
            .func
            .clone();
        let all = vec![true; self.rule.results().len()];
        let rule = session
            .batch_region(&self.rule, &of_rule, &all, size)?
            .func
            .clone();
        let x: Vec<Val> = x.iter().map(|b| b.val).collect();
        let tolerance = self.tolerance;
        let op = CustomJvp {
            body,
            rule,
            tolerance,
        };
        let y = cx.emit(op.into(), &x);
        Ok(y.into_iter()
            .map(|val| Batched { val, mapped: true })
            .collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        self.body.cost()
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.body, &self.rule]
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        vec![Some(x.to_vec()), None]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        CustomJvp {
            body: regions[0].clone(),
            rule: regions[1].clone(),
            tolerance: self.tolerance,
        }
        .into()
    }

    fn tolerance(&self) -> Option<f64> {
        self.tolerance
    }
}

/// Adds to an error which rule is not linear, and in which values.
pub(super) fn not_linear(e: Error, code: Code, whose: &str, rule: &Function, what: &str) -> Error {
    if e.code() != Code::NotLinear {
        return e;
    }
    let text = format!(
        "{whose}, `{}`, is not linear in the {what}: {}",
        rule.name,
        e.message()
    );
    Error::new(code, text).at(e.loc())
}

impl dyn Emit + '_ {
    /// `body(x)` with the derivative `rule(x, y, dx)`. The rule receives a tangent per operand
    /// (`None`: it has none), and returns one per result (`None`: zero).
    pub fn custom_jvp(
        &self,
        x: &[Val],
        body: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
        rule: impl FnOnce(&dyn Emit, &[Val], &[Val], &[Option<Val>]) -> Vec<Option<Val>>,
    ) -> Vec<Val> {
        self.custom_jvp_within(None, x, body, rule)
    }

    /// As `custom_jvp`, for a body that computes its results up to this relative error.
    pub(super) fn custom_jvp_within(
        &self,
        tolerance: Option<f64>,
        x: &[Val],
        body: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
        rule: impl FnOnce(&dyn Emit, &[Val], &[Val], &[Option<Val>]) -> Vec<Option<Val>>,
    ) -> Vec<Val> {
        let types = self.types(x);
        let body = self.body("body", &types, body);
        let Some(f) = body.func else {
            return vec![Val::POISON; body.results];
        };
        let y = f.result_types();
        let has: Vec<bool> = types.iter().map(|t| t.dtype.has_tangent()).collect();
        let of_rule = [&types[..], &y, &differentiable(&types)].concat();
        let rule = self.body("rule", &of_rule, |cx, p| {
            let (x, rest) = p.split_at(types.len());
            let (ys, t) = rest.split_at(y.len());
            or_zeros(
                cx,
                rule(cx, x, ys, &spread(&has, t)),
                &y,
                "the rule of `custom_jvp`",
            )
        });
        match rule.func {
            Some(rule) => {
                let op = CustomJvp {
                    body: f,
                    rule,
                    tolerance,
                };
                self.emit(op.into(), x).to_vec()
            }
            None => vec![Val::POISON; y.len()],
        }
    }
}

/// The entries of differentiable values, with zeros for missing ones.
pub(super) fn or_zeros(
    cx: &dyn Emit,
    v: Vec<Option<Val>>,
    types: &[Type],
    whose: &str,
) -> Vec<Val> {
    if v.len() != types.len() {
        let text = format!(
            "{whose} returns {} values for {} of types {types:?}",
            v.len(),
            types.len()
        );
        cx.fail(Error::new(Code::RuleArity, text));
    }
    let all = v
        .into_iter()
        .chain(std::iter::repeat(None))
        .zip(types)
        .filter(|(_, t)| t.dtype.has_tangent());
    all.map(|(v, t)| v.unwrap_or_else(|| cx.zeros(&t.tangent())))
        .collect()
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(CustomJvp {
        body: s.attrs.get("body")?,
        rule: s.attrs.get("rule")?,
        tolerance: s.attrs.opt("tolerance")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let sample = |x: Vec<Array>, write: &RegionFn<'_>| {
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        let f = sample_function("sample", &types, write);
        Sample::new(f.eqns()[0].op.clone(), x)
    };
    // These rules are the true derivatives, so that finite differences agree.
    let product = |cx: &dyn Emit, x: &[Val]| {
        cx.custom_jvp(
            x,
            |cx, x| vec![cx.mul(cx.sin(x[0]), x[1]), x[2]],
            |cx, x, _, t| {
                let a = t[0].map(|t| cx.mul(cx.mul(cx.cos(x[0]), x[1]), t));
                let b = t[1].map(|t| cx.mul(cx.sin(x[0]), t));
                vec![a.zip(b).map(|(a, b)| cx.add(a, b)), None]
            },
        )
    };
    let exp = |cx: &dyn Emit, x: &[Val]| {
        cx.custom_jvp(
            x,
            |cx, x| vec![cx.exp(x[0])],
            |cx, _, y, t| vec![t[0].map(|t| cx.mul(y[0], t))],
        )
    };
    let (x, y) = (
        Array::vector(vec![0.4f64, -0.7]),
        Array::vector(vec![1.5f64, 0.3]),
    );
    let z = Array::vector(vec![
        crate::C128::new(0.4, 0.2),
        crate::C128::new(-0.3, 1.1),
    ]);
    vec![
        sample(vec![x.clone(), y, Array::scalar(3i64)], &product),
        sample(vec![x], &exp),
        sample(vec![z], &exp),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "custom_jvp",
        doc: "A function with a user-defined forward derivative.",
        parse,
        samples,
    }]
}
