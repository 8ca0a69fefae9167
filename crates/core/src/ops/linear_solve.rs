//! `linear_solve`: the solution of a linear system with a matrix given as a function.
//!
//! ```text
//! A(c) x = b        matvec : c, v -> A(c) v      solve : c, b -> x      transpose_solve : c, b -> A(c)* x = b
//! dx = A⁻¹ (db - dA x)                            ct_b = A⁻* ct_x,  ct_A by transposing v -> dA v
//! ```
//! The derivative is this operation with another right-hand side; its transpose is this operation
//! with the two solvers swapped. So the steps of a solver are not differentiated, and reverse mode
//! adds one transposed solve. This holds for every order. `x` and `b` are lists of the same types.

use super::Call;
use super::body::{
    RegionFn, check_operands, mask, params, residuals, rewrap, sample_function, some, spread,
};
use super::entry::{Entry, Spelled};
use crate::array::{Array, Scalar};
use crate::bail;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Function, Lin, Linearized, Lv, Op, Operand, Primitive, Sample,
    Session, Val,
};
use crate::ops::{Binary, Unary};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use crate::transform::SavePolicy;
use std::sync::Arc;

/// A linear system. Operands: the constants of the system, then the right-hand side.
#[derive(Clone, Debug)]
pub struct LinearSolve {
    /// `constants.., v.. -> A v..`, linear in `v`.
    pub matvec: Arc<Function>,
    /// `constants.., b.. -> x..`.
    pub solve: Arc<Function>,
    /// `constants.., b.. -> x..` for the adjoint of `A`.
    pub transpose_solve: Arc<Function>,
    /// Number of constants.
    pub consts: usize,
    /// Relative residual of the solutions, if an iteration computes them.
    pub tolerance: Option<f64>,
}

/// `A*` as a function of `constants.., v..`. Zero results are explicit.
pub(super) fn adjoint(
    session: &Session,
    matvec: &Arc<Function>,
    consts: usize,
) -> Result<Arc<Function>> {
    let types = matvec.param_types();
    let linear: Vec<bool> = (0..types.len()).map(|k| k >= consts).collect();
    let back = session.transpose_region(matvec, &linear, &vec![true; types.len() - consts])?;
    rewrap(session, &back.func.name, &[&back.func], |b| {
        let x = params(b, &back.func.param_types());
        let cx: &dyn Emit = b;
        let y = spread(&back.out_nonzero, &cx.inline(&back.func, &x));
        y.into_iter()
            .zip(&types[consts..])
            .map(|(y, t)| y.unwrap_or_else(|| cx.zeros(t)))
            .collect()
    })
}

impl Primitive for LinearSolve {
    fn name(&self) -> &str {
        "linear_solve"
    }

    fn attrs(&self) -> Attrs {
        let attrs = Attrs::default().with_if(self.consts > 0, "consts", self.consts);
        let attrs = match self.tolerance {
            Some(t) => attrs.with("tolerance", Scalar::F(t)),
            None => attrs,
        };
        attrs
            .with("matvec", self.matvec.clone())
            .with("solve", self.solve.clone())
            .with("transpose_solve", self.transpose_solve.clone())
    }

    fn results(&self) -> usize {
        self.solve.results().len()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if self.consts >= x.len() {
            bail!(
                Arity,
                "`linear_solve` has {} constants and needs a right-hand side, got {} operands",
                self.consts,
                x.len()
            );
        }
        let b = &x[self.consts..];
        let bodies = [
            ("matvec", &self.matvec),
            ("solve", &self.solve),
            ("transpose_solve", &self.transpose_solve),
        ];
        for (what, f) in bodies {
            check_operands(self, what, f, x)?;
            let y = f.result_types();
            if y.len() != b.len() || y.iter().zip(b).any(|(y, b)| y.differs(b)) {
                bail!(
                    ShapeMismatch,
                    "{what} of `linear_solve` returns {} for a right-hand side of types {}: the system must be square",
                    super::body::show_types(&y),
                    super::body::show_types(b)
                );
            }
        }
        if let Some(t) = b.iter().find(|t| !t.dtype.is_inexact()) {
            bail!(
                DTypeMismatch,
                "`linear_solve` of a right-hand side of type {t}: linear systems are of floats"
            );
        }
        Ok(b.to_vec())
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        reference::run_body(&self.solve, x, env)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask.iter()
            .enumerate()
            .all(|(k, &m)| m == (k >= self.consts))
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit(self.clone().into(), x);
        let (consts, b) = x.split_at(self.consts);
        let mut rhs: Vec<Option<Lv>> = t[self.consts..].to_vec();
        let mut active = mask(&t[..self.consts]);
        if active.contains(&true) {
            // dA x, as a linear function of the constants' tangents.
            active.resize(x.len(), false);
            let lin =
                cx.session()
                    .linearize_region(&self.matvec, &active, SavePolicy::Residuals)?;
            if lin.out_active.contains(&true) {
                let at = [consts, &y].concat();
                let again = cx.call(&lin.forward, &at);
                let saved = residuals(&lin, &at, &again).into_iter().map(Operand::R);
                let operands: Vec<Operand> = saved
                    .chain(some(&t[..self.consts]).into_iter().map(Operand::L))
                    .collect();
                let moved = cx.apply(
                    Call {
                        callee: lin.linear.clone(),
                        checkpoint: false,
                    },
                    &operands,
                );
                for (r, d) in rhs.iter_mut().zip(spread(&lin.out_active, &moved)) {
                    *r = match (*r, d) {
                        (Some(r), Some(d)) => Some(cx.apply1(Binary::Sub, &[r.into(), d.into()])),
                        (None, Some(d)) => Some(cx.lneg(d)),
                        (r, None) => r,
                    };
                }
            }
        }
        if rhs.iter().all(Option::is_none) {
            return Ok((y, rhs));
        }
        let rhs = rhs
            .into_iter()
            .zip(b)
            .map(|(r, &b)| Operand::L(cx.or_zeros(r, b)));
        let operands: Vec<Operand> = consts.iter().map(|&c| Operand::R(c)).chain(rhs).collect();
        let dy = cx.apply(self.clone(), &operands);
        Ok((y, dy.into_iter().map(Some).collect()))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let op = LinearSolve {
            matvec: adjoint(cx.session(), &self.matvec, self.consts)?,
            solve: self.transpose_solve.clone(),
            transpose_solve: self.solve.clone(),
            consts: self.consts,
            tolerance: self.tolerance,
        };
        let types: Vec<Type> = x[self.consts..].iter().map(|a| a.ty(cx)).collect();
        let ct = ct
            .iter()
            .zip(&types)
            .map(|(c, t)| c.unwrap_or_else(|| cx.zeros(t)));
        let operands: Vec<Val> = x.iter().filter_map(Arg::val).chain(ct).collect();
        let y = cx.emit(op.into(), &operands);
        Ok(vec![None; self.consts]
            .into_iter()
            .chain(y.into_iter().map(Some))
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let mapped: Vec<bool> = x
            .iter()
            .enumerate()
            .map(|(k, b)| b.mapped || k >= self.consts)
            .collect();
        let all = vec![true; x.len() - self.consts];
        let body = |f| {
            Ok(cx
                .session()
                .batch_region(f, &mapped, &all, size)?
                .func
                .clone())
        };
        let op = LinearSolve {
            matvec: body(&self.matvec)?,
            solve: body(&self.solve)?,
            transpose_solve: body(&self.transpose_solve)?,
            consts: self.consts,
            tolerance: self.tolerance,
        };
        let x: Vec<Val> = x
            .iter()
            .zip(&mapped)
            .map(|(b, &m)| if m { cx.replicate(*b, size).val } else { b.val })
            .collect();
        let y = cx.emit(op.into(), &x);
        Ok(y.into_iter()
            .map(|val| Batched { val, mapped: true })
            .collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        self.solve.cost()
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.matvec, &self.solve, &self.transpose_solve]
    }

    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        vec![Some(x.to_vec()); 3]
    }

    fn with_regions(&self, r: &[Arc<Function>]) -> Op {
        let (matvec, solve, transpose_solve) = (r[0].clone(), r[1].clone(), r[2].clone());
        LinearSolve {
            matvec,
            solve,
            transpose_solve,
            consts: self.consts,
            tolerance: self.tolerance,
        }
        .into()
    }

    fn tolerance(&self) -> Option<f64> {
        self.tolerance
    }
}

/// A linear function of some values: `constants, v -> A v`.
pub type Apply<'a> = dyn Fn(&dyn Emit, &[Val], &[Val]) -> Vec<Val> + 'a;

impl dyn Emit + '_ {
    /// `x` with `matvec(consts, x) = b`. `solver` receives a linear function, `constants` and a
    /// right-hand side, and returns the solution. It is called for the system and, unless the
    /// system is `symmetric`, for its adjoint.
    pub fn linear_solve(
        &self,
        consts: &[Val],
        b: &[Val],
        symmetric: bool,
        matvec: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
        solver: impl Fn(&dyn Emit, &Apply<'_>, &[Val], &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        self.linear_solve_within(None, consts, b, symmetric, matvec, solver)
    }

    /// As `linear_solve`, for a solver whose solutions have this relative residual.
    pub(super) fn linear_solve_within(
        &self,
        tolerance: Option<f64>,
        consts: &[Val],
        b: &[Val],
        symmetric: bool,
        matvec: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
        solver: impl Fn(&dyn Emit, &Apply<'_>, &[Val], &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        let n = consts.len();
        let types = [self.types(consts), self.types(b)].concat();
        let matvec = self.body("matvec", &types, |cx, x| matvec(cx, &x[..n], &x[n..]));
        let poison = vec![Val::POISON; b.len()];
        let Some(matvec) = matvec.func else {
            return poison;
        };
        let body = |name: &str, f: &Arc<Function>| {
            let apply = |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(f, &[w, v].concat());
            self.body(name, &types, |cx, x| solver(cx, &apply, &x[..n], &x[n..]))
                .func
        };
        let Some(solve) = body("solve", &matvec) else {
            return poison;
        };
        let transpose_solve = match symmetric {
            true => Some(solve.clone()),
            false => match adjoint(self.session(), &matvec, n) {
                Ok(back) => body("transpose_solve", &back),
                Err(e) => {
                    self.fail(
                        e.at(self.loc())
                            .note("matvec of `linear_solve` must be linear in its last operands"),
                    );
                    None
                }
            },
        };
        match transpose_solve {
            Some(transpose_solve) => self
                .emit(
                    LinearSolve {
                        matvec,
                        solve,
                        transpose_solve,
                        consts: n,
                        tolerance,
                    }
                    .into(),
                    &[consts, b].concat(),
                )
                .to_vec(),
            None => poison,
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let (matvec, solve) = (s.attrs.get("matvec")?, s.attrs.get("solve")?);
    let consts = s.attrs.opt("consts")?.unwrap_or(0);
    Ok(LinearSolve {
        matvec,
        solve,
        transpose_solve: s.attrs.get("transpose_solve")?,
        consts,
        tolerance: s.attrs.opt("tolerance")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let make = |consts: usize, x: &[Array], bodies: [&RegionFn<'_>; 3]| {
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        let [matvec, solve, transpose_solve] =
            bodies.map(|write| sample_function("body", &types, write));
        LinearSolve {
            matvec,
            solve,
            transpose_solve,
            consts,
            tolerance: None,
        }
    };
    // Also conjugated for real types, so that the sample is correct for complex ones.
    let conj = |cx: &dyn Emit, v: Val| cx.op(Unary::Conj, &[v]);
    // v = (p, q): (p + a q, d q), elementwise over the axes.
    let triangular = |x: &[Array]| {
        let matvec = |cx: &dyn Emit, x: &[Val]| {
            vec![cx.add(x[2], cx.mul(x[0], x[3])), cx.mul(cx.exp(x[1]), x[3])]
        };
        let solve = |cx: &dyn Emit, x: &[Val]| {
            let q = cx.div(x[3], cx.exp(x[1]));
            vec![cx.sub(x[2], cx.mul(x[0], q)), q]
        };
        let back = move |cx: &dyn Emit, x: &[Val]| {
            let right = cx.sub(x[3], cx.mul(conj(cx, x[0]), x[2]));
            vec![x[2], cx.div(right, conj(cx, cx.exp(x[1])))]
        };
        Sample::new(make(2, x, [&matvec, &solve, &back]), x.to_vec())
    };
    let fixed = |x: &[Array]| {
        let double = |cx: &dyn Emit, x: &[Val]| vec![cx.add(x[0], x[0])];
        let half = |cx: &dyn Emit, x: &[Val]| vec![cx.scale_by(0.5, x[0])];
        Sample::new(make(0, x, [&double, &half, &half]), x.to_vec())
    };
    let real = |k: f64| Array::vector(vec![0.4 + k, -0.7 * k]);
    let complex = |k: f64| {
        Array::vector(vec![
            crate::C128::new(0.4, 0.3 * k),
            crate::C128::new(-0.2 * k, 0.9),
        ])
    };
    vec![
        triangular(&[1.0, 0.3, -0.6, 2.0].map(real)),
        triangular(&[1.0, 0.3, -0.6, 2.0].map(complex)),
        fixed(&[real(0.2)]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The solution of a linear system A(c) x = b, with A given as a function.";
    vec![Entry {
        name: "linear_solve",
        doc,
        parse,
        samples,
    }]
}
