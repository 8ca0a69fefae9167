//! `custom_vjp`: a function with a user-defined reverse derivative.
//!
//! ```text
//! y = body(x);    y, r = fwd(x),   ct_x = bwd(r, ct_y)
//! ```
//! Its derivative is a linear operation that represents the transpose of `bwd` ([`CustomVjpLin`]).
//! Transposed, it calls `bwd`, which need not be linear. In forward mode it calls the transpose of
//! `bwd`, which must be linear. The primal of a derivative is the saving form, which also returns
//! the residuals: `y` has this derivative at every order, and the residuals have that of `fwd`.

use super::body::{
    RegionFn, check_operands, check_results, check_rule, differentiable, mask, params, residuals,
    rewrap, sample_function, some, spread,
};
use super::custom_jvp::{not_linear, or_zeros};
use super::entry::{Entry, Spelled, arity};
use super::{Call, Unary};
use crate::array::Array;
use crate::bail;
use crate::error::{Code, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Function, Lin, Linearized, Lv, Narrow, Op, Operand, Primitive,
    Sample, Session, Val, no_rule,
};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use crate::transform::SavePolicy;
use std::sync::Arc;

/// A function and its reverse derivative.
#[derive(Clone, Debug)]
pub struct CustomVjp {
    /// `x.. -> y..`.
    pub body: Arc<Function>,
    /// `x.. -> y.., residuals..`.
    pub fwd: Arc<Function>,
    /// `residuals.., cotangents of differentiable y.. -> cotangents of differentiable x..`.
    pub bwd: Arc<Function>,
    /// Whether this is the saving form, which runs `fwd` and also returns the residuals.
    pub saves: bool,
}

impl Primitive for CustomVjp {
    fn name(&self) -> &str {
        "custom_vjp"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with_if(self.saves, "saves", true)
            .with("body", self.body.clone())
            .with("fwd", self.fwd.clone())
            .with("bwd", self.bwd.clone())
    }

    fn results(&self) -> usize {
        if self.saves { &self.fwd } else { &self.body }
            .results()
            .len()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        check_operands(self, "the body", &self.body, x)?;
        check_results(self, "the body", &self.body)?;
        check_results(self, "fwd", &self.fwd)?;
        let mut y = self.body.result_types();
        let saved = self.fwd.result_types();
        if saved.len() < y.len() {
            bail!(
                RuleArity,
                "fwd of `custom_vjp` returns {} values, too few for {} results",
                saved.len(),
                y.len()
            );
        }
        let saved = &saved[y.len()..];
        check_rule(self, "fwd", &self.fwd, x, &[&y[..], saved].concat())?;
        check_rule(
            self,
            "bwd",
            &self.bwd,
            &[saved, &differentiable(&y)].concat(),
            &differentiable(x),
        )?;
        if self.saves {
            y.extend_from_slice(saved);
        }
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        reference::run_body(if self.saves { &self.fwd } else { &self.body }, x, env)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let n = self.body.results().len();
        let mut y = cx.emit().emit(
            CustomVjp {
                saves: true,
                ..self.clone()
            }
            .into(),
            x,
        );
        let moving = x
            .iter()
            .zip(t)
            .filter(|(x, _)| cx.ty(**x).dtype.has_tangent());
        let moving: Vec<Operand> = moving
            .map(|(&x, &t)| Operand::L(cx.or_zeros(t, x)))
            .collect();
        let operands: Vec<Operand> = y[n..]
            .iter()
            .map(|&r| Operand::R(r))
            .chain(moving)
            .collect();
        let dy = cx.apply(
            CustomVjpLin {
                bwd: self.bwd.clone(),
                residuals: y.len() - n,
            },
            &operands,
        );
        let has: Vec<bool> = self
            .body
            .result_types()
            .iter()
            .map(|t| t.dtype.has_tangent())
            .collect();
        let mut dy = spread(&has, &dy);
        if self.saves {
            // The residuals are results of this form, with the derivative of `fwd`.
            let f = Arc::new((*self.fwd).clone().with_results(&self.fwd.results()[n..]));
            let lin = cx
                .session()
                .linearize_region(&f, &mask(t), SavePolicy::Residuals)?;
            let mut dr = Vec::new();
            if lin.out_active.contains(&true) {
                let again = cx.call(&lin.forward, x);
                let saved = residuals(&lin, x, &again).into_iter().map(Operand::R);
                let operands: Vec<Operand> =
                    saved.chain(some(t).into_iter().map(Operand::L)).collect();
                dr = cx
                    .apply(
                        Call {
                            callee: lin.linear.clone(),
                            checkpoint: false,
                        },
                        &operands,
                    )
                    .to_vec();
            }
            dy.extend(spread(&lin.out_active, &dr));
        } else {
            y.truncate(n);
        }
        Ok((y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let session = cx.session();
        let mapped: Vec<bool> = x.iter().map(|b| b.mapped).collect();
        let n = self.body.results().len();
        let body = session.batch_region(&self.body, &mapped, &vec![true; n], size)?;
        let mut force = vec![true; n];
        force.resize(self.fwd.results().len(), false);
        let fwd = session.batch_region(&self.fwd, &mapped, &force, size)?;
        let cts = self.bwd.params().len() - (fwd.out_mapped.len() - n);
        let of_bwd: Vec<bool> = fwd.out_mapped[n..]
            .iter()
            .copied()
            .chain(vec![true; cts])
            .collect();
        let all = vec![true; self.bwd.results().len()];
        let each = session
            .batch_region(&self.bwd, &of_bwd, &all, size)?
            .func
            .clone();
        // The cotangent of an operand without a batch axis is summed over the batch.
        let summed: Vec<bool> = x
            .iter()
            .filter(|b| cx.ty(b.val).dtype.has_tangent())
            .map(|b| !b.mapped)
            .collect();
        let bwd = match summed.contains(&true) {
            false => each,
            true => rewrap(session, &self.bwd.name, &[&each], |b| {
                let p = params(b, &each.param_types());
                let cx: &dyn Emit = b;
                let y = cx.inline(&each, &p);
                y.into_iter()
                    .zip(&summed)
                    .map(|(y, &s)| if s { cx.reduce_sum(y, &[0]) } else { y })
                    .collect()
            })?,
        };
        let x: Vec<Val> = x.iter().map(|b| b.val).collect();
        let op = CustomVjp {
            body: body.func.clone(),
            fwd: fwd.func.clone(),
            bwd,
            saves: self.saves,
        };
        let y = cx.emit(op.into(), &x);
        Ok(y.into_iter()
            .zip(&fwd.out_mapped)
            .map(|(val, &mapped)| Batched { val, mapped })
            .collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        if self.saves {
            self.fwd.cost()
        } else {
            self.body.cost()
        }
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.body, &self.fwd, &self.bwd]
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        vec![Some(x.to_vec()), Some(x.to_vec()), None]
    }

    fn with_regions(&self, r: &[Arc<Function>]) -> Op {
        CustomVjp {
            body: r[0].clone(),
            fwd: r[1].clone(),
            bwd: r[2].clone(),
            saves: self.saves,
        }
        .into()
    }

    fn narrow(&self, used: &[bool], _: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        // Without residuals the operation is the plain form.
        let n = self.body.results().len();
        let plain = self.saves && !used[n..].contains(&true);
        plain.then(|| {
            (
                CustomVjp {
                    saves: false,
                    ..self.clone()
                }
                .into(),
                (0..used.len()).map(|k| k < n).collect(),
            )
        })
    }
}

/// The derivative of a `custom_vjp`: residuals, tangents of differentiable operands -> tangents of
/// differentiable results. It is the transpose of `bwd`.
#[derive(Clone, Debug)]
pub struct CustomVjpLin {
    /// `residuals.., ct_y.. -> ct_x..`.
    pub bwd: Arc<Function>,
    /// Number of residuals.
    pub residuals: usize,
}

impl Primitive for CustomVjpLin {
    fn name(&self) -> &str {
        "custom_vjp_lin"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("residuals", self.residuals)
            .with("bwd", self.bwd.clone())
    }

    fn results(&self) -> usize {
        self.bwd.params().len().saturating_sub(self.residuals)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, self.residuals + self.bwd.results().len())?;
        let types = self.bwd.param_types();
        if types.len() < self.residuals {
            bail!(
                RuleArity,
                "bwd of `custom_vjp` takes {} operands, {} are residuals",
                types.len(),
                self.residuals
            );
        }
        let (r, y) = types.split_at(self.residuals);
        check_rule(
            self,
            "bwd",
            &self.bwd,
            &[&x[..r.len()], y].concat(),
            &x[r.len()..],
        )?;
        Ok(y.to_vec())
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        self.legal(&Session::default())?.eval(x, env)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask.iter()
            .enumerate()
            .all(|(i, &m)| m == (i >= self.residuals))
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let session = cx.session();
        session.linearize(&self.legal(session)?, cx, x, t)
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let types = self.bwd.param_types();
        let ct = ct
            .iter()
            .zip(&types[self.residuals..])
            .map(|(c, t)| c.unwrap_or_else(|| cx.zeros(t)));
        let operands: Vec<Val> = x.iter().filter_map(Arg::val).chain(ct).collect();
        let y = cx.call(&self.bwd, &operands);
        Ok(vec![None; self.residuals]
            .into_iter()
            .chain(y.into_iter().map(Some))
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        cx.session().batch(&self.legal(cx.session())?, cx, size, x)
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        self.bwd.cost()
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.bwd]
    }

    fn with_regions(&self, r: &[Arc<Function>]) -> Op {
        CustomVjpLin {
            bwd: r[0].clone(),
            residuals: self.residuals,
        }
        .into()
    }

    fn runs(&self) -> bool {
        false
    }

    fn legal(&self, session: &Session) -> Result<Op> {
        let types = self.bwd.param_types();
        let linear: Vec<bool> = (0..types.len()).map(|i| i >= self.residuals).collect();
        let all = vec![true; self.bwd.results().len()];
        let back = session
            .transpose_region(&self.bwd, &linear, &all)
            .map_err(|e| {
                let whose = "custom_vjp has no forward derivative: its bwd";
                not_linear(e, Code::CustomVjpForward, whose, &self.bwd, "cotangents")
                    .note("use reverse mode only, or give it a bwd that is linear")
            })?;
        let callee = rewrap(session, &back.func.name, &[&back.func], |b| {
            let x = params(b, &back.func.param_types());
            let cx: &dyn Emit = b;
            let y = spread(&back.out_nonzero, &cx.inline(&back.func, &x));
            y.into_iter()
                .zip(&types[self.residuals..])
                .map(|(y, t)| y.unwrap_or_else(|| cx.zeros(t)))
                .collect()
        })?;
        Ok(Call {
            callee,
            checkpoint: false,
        }
        .into())
    }
}

impl dyn Emit + '_ {
    /// `body(x)` with a reverse derivative. `fwd(x)` returns the results and residuals.
    /// `bwd(residuals, ct)` receives a cotangent per result (`None`: it has none), and returns one
    /// per operand (`None`: zero).
    pub fn custom_vjp(
        &self,
        x: &[Val],
        body: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
        fwd: impl FnOnce(&dyn Emit, &[Val]) -> (Vec<Val>, Vec<Val>),
        bwd: impl FnOnce(&dyn Emit, &[Val], &[Option<Val>]) -> Vec<Option<Val>>,
    ) -> Vec<Val> {
        let types = self.types(x);
        let body = self.body("body", &types, body);
        let poison = vec![Val::POISON; body.results];
        let fwd = self.body("fwd", &types, |cx, x| {
            let (y, r) = fwd(cx, x);
            [y, r].concat()
        });
        let (Some(body), Some(fwd)) = (body.func, fwd.func) else {
            return poison;
        };
        let y = body.result_types();
        let saved = fwd
            .result_types()
            .get(y.len()..)
            .unwrap_or_default()
            .to_vec();
        let has: Vec<bool> = y.iter().map(|t| t.dtype.has_tangent()).collect();
        let bwd = self.body(
            "bwd",
            &[&saved[..], &differentiable(&y)].concat(),
            |cx, p| {
                let (r, ct) = p.split_at(saved.len());
                or_zeros(
                    cx,
                    bwd(cx, r, &spread(&has, ct)),
                    &types,
                    "bwd of `custom_vjp`",
                )
            },
        );
        match bwd.func {
            Some(bwd) => self
                .emit(
                    CustomVjp {
                        body,
                        fwd,
                        bwd,
                        saves: false,
                    }
                    .into(),
                    x,
                )
                .to_vec(),
            None => poison,
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let bwd = s.attrs.get("bwd")?;
    if s.name == "custom_vjp_lin" {
        return Ok(CustomVjpLin {
            bwd,
            residuals: s.attrs.get("residuals")?,
        }
        .into());
    }
    let saves = s.attrs.opt("saves")?.unwrap_or(false);
    Ok(CustomVjp {
        body: s.attrs.get("body")?,
        fwd: s.attrs.get("fwd")?,
        bwd,
        saves,
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    let make = |x: &[Array], write: &RegionFn<'_>| {
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        match &sample_function("sample", &types, write).eqns()[0].op {
            Op::CustomVjp(op) => op.clone(),
            _ => unreachable!("the only equation"),
        }
    };
    // Rules that are the true derivative, so that differences agree.
    let product = |cx: &dyn Emit, x: &[Val]| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.sin(x[0]), x[1]), x[2]];
        cx.custom_vjp(
            x,
            body,
            |cx, x| (body(cx, x), vec![x[0], x[1]]),
            |cx, r, ct| {
                // Also conjugated for real types, so that the rule is correct for complex ones.
                let by = |v| ct[0].map(|ct| cx.mul(cx.op(Unary::Conj, &[v]), ct));
                vec![by(cx.mul(cx.cos(r[0]), r[1])), by(cx.sin(r[0])), None]
            },
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
    let mut out = Vec::new();
    for x in [
        vec![x, y, Array::scalar(3i64)],
        vec![z.clone(), z, Array::scalar(3i64)],
    ] {
        let op = make(&x, &product);
        if name == "custom_vjp" {
            out.push(Sample::new(op.clone(), x.clone()));
            out.push(Sample::new(CustomVjp { saves: true, ..op }, x));
        } else {
            let residuals = x[..2].iter().chain(&x[..2]).cloned().collect();
            out.push(Sample::new(
                CustomVjpLin {
                    bwd: op.bwd,
                    residuals: 2,
                },
                residuals,
            ));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "A function with a user-defined reverse derivative.";
    let lin = "The derivative of a custom_vjp: the transpose of its bwd.";
    vec![
        Entry {
            name: "custom_vjp",
            doc,
            parse,
            samples,
        },
        Entry {
            name: "custom_vjp_lin",
            doc: lin,
            parse,
            samples,
        },
    ]
}
