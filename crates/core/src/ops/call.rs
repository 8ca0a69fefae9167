//! `call` and `checkpoint`: a function applied as one operation.
//!
//! ```text
//! y = f(x)   =>   (y, r) = f_forward(x),  dy = f_linear(r; dx)         call
//!                  y = f(x),              dy = f_linear(x; dx)         checkpoint: f_linear computes r again
//! ```
//! Calls are not inlined, so shared callees stay shared: a chain of functions that each call the
//! next one twice is differentiated in linear time. The linear part of a checkpoint and its
//! transpose are checkpoints, too. So higher derivatives also save only inputs.

use super::body::{RegionFn, mask, residuals, sample_function, some, spread};
use super::entry::{Entry, Spelled};
use crate::array::Array;
use crate::bail;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Class, Cost, Emit, Function, Jvp, Lin, Linearized, Lv, Narrow, Op,
    Operand, Primitive, Sample, Session, Val, Vals,
};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use crate::transform::SavePolicy;
use std::sync::Arc;

/// Maximum number of residuals of a call. Above it the call is recomputed: in a chain of functions
/// that each call the next one twice, residuals grow exponentially.
const MAX_SAVED_VALUES: usize = 1024;

/// A function applied to all operands.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function that is called. Symbols that its parameters bind are local to it.
    pub callee: Arc<Function>,
    /// Whether derivatives recompute intermediate values instead of saving them.
    pub checkpoint: bool,
}

impl Call {
    /// A call of another function with the same attributes.
    fn of(&self, callee: Arc<Function>) -> Op {
        Call {
            callee,
            checkpoint: self.checkpoint,
        }
        .into()
    }

    /// The callee with its symbols replaced by the caller's.
    fn specialized(&self, session: &Session, x: &[Type]) -> Arc<Function> {
        session.specialize(&self.callee, x)
    }
}

impl Primitive for Call {
    fn name(&self) -> &str {
        if self.checkpoint {
            "checkpoint"
        } else {
            "call"
        }
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("callee", self.callee.clone())
    }

    fn results(&self) -> usize {
        self.callee.results().len()
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let y = self.callee.apply_types(x)?;
        super::body::check_results(self, "the callee", &self.callee)?;
        Ok(y)
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        reference::run_in(&self.callee, x, env)
    }

    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        self.callee.classes(x)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        self.callee.linear_in(mask)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let session = cx.session();
        let f = self.specialized(session, &cx.types(x));
        let lin = match self.checkpoint {
            true => None,
            false => Some(session.linearize_region(&f, &mask(t), SavePolicy::Residuals)?),
        };
        let (lin, forward) = match lin.filter(|l| l.forward.results().len() <= MAX_SAVED_VALUES) {
            Some(l) => (l.clone(), l.forward.clone()),
            None => (
                session.linearize_region(&f, &mask(t), SavePolicy::Inputs)?,
                f,
            ),
        };
        let y = cx.emit().emit(self.of(forward), x);
        let n = lin.out_active.len();
        let mut dy = Vec::new();
        if lin.out_active.contains(&true) {
            let r = residuals(&lin, x, &y).into_iter().map(Operand::R);
            let operands: Vec<Operand> = r.chain(some(t).into_iter().map(Operand::L)).collect();
            dy = cx.apply(self.of(lin.linear.clone()), &operands).to_vec();
        }
        Ok((Vals::from_slice(&y[..n]), spread(&lin.out_active, &dy)))
    }

    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        let f = self.specialized(cx.session(), &cx.types(x));
        Some(cx.session().jvp_region(&f, &mask(t)).map(|body| {
            let y = cx.emit(self.of(body.func.clone()), &[x, &some(t)].concat());
            let (y, dy) = y.split_at(body.out_active.len());
            (Vals::from_slice(y), spread(&body.out_active, dy))
        }))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let types: Vec<Type> = x.iter().map(|a| a.ty(cx)).collect();
        let linear: Vec<bool> = x.iter().map(Arg::is_linear).collect();
        let f = self.specialized(cx.session(), &types);
        let back = cx.session().transpose_region(&f, &linear, &mask(ct))?;
        let operands: Vec<Val> = x.iter().filter_map(Arg::val).chain(some(ct)).collect();
        let y = cx.emit(self.of(back.func.clone()), &operands);
        let mut y = spread(&back.out_nonzero, &y).into_iter();
        Ok(linear
            .iter()
            .map(|&l| if l { y.next().flatten() } else { None })
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let types: Vec<Type> = x.iter().map(|b| b.element(cx)).collect();
        let mapped: Vec<bool> = x.iter().map(|b| b.mapped).collect();
        let f = self.specialized(cx.session(), &types);
        let body = cx
            .session()
            .batch_region(&f, &mapped, &vec![false; self.results()], size)?;
        let x: Vec<Val> = x.iter().map(|b| b.val).collect();
        let y = cx.emit(self.of(body.func.clone()), &x);
        Ok(y.into_iter()
            .zip(&body.out_mapped)
            .map(|(val, &mapped)| Batched { val, mapped })
            .collect())
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        self.callee.cost()
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.callee]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        self.of(regions[0].clone())
    }

    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        Some((self.of(narrow(&self.callee, used)), used.to_vec()))
    }

    fn own_syms(&self) -> bool {
        true
    }
}

impl dyn Emit + '_ {
    /// Applies a function to `x` without inlining it.
    pub fn call(&self, callee: &Arc<Function>, x: &[Val]) -> Vec<Val> {
        self.emit(
            Call {
                callee: callee.clone(),
                checkpoint: false,
            }
            .into(),
            x,
        )
        .to_vec()
    }

    /// Applies `f` to `x`. Derivatives recompute intermediate values of `f` instead of saving them.
    pub fn checkpoint(&self, x: &[Val], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Vec<Val> {
        let body = self.body("checkpoint", &self.types(x), f);
        body.emit(self, x, |callee| {
            Call {
                callee,
                checkpoint: true,
            }
            .into()
        })
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let callee: Arc<Function> = s.attrs.get("callee")?;
    if callee.pending() {
        bail!(
            Attribute,
            "`{}` cannot be called: it holds operations that are defined in derivatives only",
            callee.name
        );
    }
    Ok(Call {
        callee,
        checkpoint: s.name == "checkpoint",
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    let f = |types: &[Type], write: &RegionFn<'_>| Call {
        callee: sample_function("f", types, write),
        checkpoint: name == "checkpoint",
    };
    let real = Type::new(crate::DType::F64, [2]);
    let symbolic = Type::new(crate::DType::F64, vec![Dim::sym("n")]);
    let complex = Type::new(crate::DType::C128, [2]);
    let (x, y) = (
        Array::vector(vec![0.4f64, -0.7]),
        Array::vector(vec![1.5f64, 0.3]),
    );
    let z = Array::vector(vec![
        crate::C128::new(0.4, 0.2),
        crate::C128::new(-0.3, 1.1),
    ]);
    let chain = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.sin(x[0]))];
    let pair = |cx: &dyn Emit, x: &[Val]| {
        vec![cx.mul(x[0], cx.exp(x[1])), x[0], cx.reduce_sum(x[1], &[0])]
    };
    vec![
        Sample::new(f(std::slice::from_ref(&symbolic), &chain), vec![x.clone()]),
        Sample::new(f(&[real.clone(), real], &pair), vec![x, y]),
        Sample::new(f(&[complex.clone(), complex], &pair), vec![z.clone(), z]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "call",
            doc: "A function applied as one operation.",
            parse,
            samples,
        },
        Entry {
            name: "checkpoint",
            doc: "A function applied as one operation; derivatives recompute its intermediate values.",
            parse,
            samples,
        },
    ]
}
