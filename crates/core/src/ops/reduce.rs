//! Reductions over axes: a table of what is folded.

use super::support::{bytes, count, mapped};
use super::{Entry, Op, Spelled, arity};
use crate::array::{Array, Wide};
use crate::attr::Attrs;
use crate::bail;
use crate::dtype::{C128, DType};
use crate::emit::Emit;
use crate::error::Result;
use crate::primitive::{Arg, Batched, Cost, Linearized, Primitive, Sample, Val, no_rule};
use crate::shape::{Dim, Env, Shape, Type};
use crate::transform::{Lin, Lv};

/// What is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reduction {
    Sum,
}

/// Over which elements.
#[derive(Clone, Debug)]
enum Over {
    /// These axes, which go.
    Axes(Vec<usize>),
    /// Axes whose extent here is 1 and was more: decided when it runs.
    To(Shape),
}

/// A reduction.
#[derive(Clone, Debug)]
pub struct Reduce {
    /// What is folded.
    pub op: Reduction,
    over: Over,
    /// Compensated summation.
    pub stable: bool,
}

impl Reduce {
    /// Over these axes (ascending), which go.
    pub fn new(op: Reduction, axes: &[usize], stable: bool) -> Reduce {
        Reduce { op, over: Over::Axes(axes.to_vec()), stable }
    }

    /// The sum over every axis whose extent in `shape` is 1; the rank stays.
    pub fn sum_to(shape: Shape, stable: bool) -> Reduce {
        Reduce { op: Reduction::Sum, over: Over::To(shape), stable }
    }

    /// The axes reduced for an operand of this shape, and whether they stay with extent 1.
    pub fn axes(&self, x: &[usize]) -> (Vec<usize>, bool) {
        match &self.over {
            Over::Axes(a) => (a.clone(), false),
            Over::To(s) => ((0..x.len()).filter(|&a| s[a].is(1) && x[a] != 1).collect(), true),
        }
    }
}

impl Primitive for Reduce {
    fn name(&self) -> &str {
        match self.over {
            Over::Axes(_) => "reduce_sum",
            Over::To(_) => "sum_to",
        }
    }

    fn attrs(&self) -> Attrs {
        let a = match &self.over {
            Over::Axes(axes) => Attrs::default().with("axes", axes),
            Over::To(s) => Attrs::default().with("shape", &s.to_vec()),
        };
        a.with_if(self.stable, "stable", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if x[0].dtype == DType::Bool {
            bail!(DTypeMismatch, "`{}` is not defined on i1; convert it first", self.name());
        }
        let rank = x[0].rank();
        match &self.over {
            Over::Axes(axes) => {
                if axes.windows(2).any(|w| w[0] >= w[1]) || axes.last().is_some_and(|&a| a >= rank) {
                    bail!(Attribute, "`axes` = {axes:?} must be ascending axes of {}", x[0]);
                }
                let keep = (0..rank).filter(|a| !axes.contains(a)).map(|a| x[0].shape[a].clone());
                Ok(vec![x[0].with_shape(keep.collect::<Vec<_>>())])
            }
            Over::To(s) => {
                let fits = |(a, b): (&Dim, &Dim)| b.is(1) || a.same(b) != Some(false);
                if s.rank() != rank || !x[0].shape.iter().zip(s.iter()).all(fits) {
                    bail!(ShapeMismatch, "cannot sum {} to {}", x[0], x[0].with_shape(s.clone()));
                }
                Ok(vec![x[0].with_shape(s.clone())])
            }
        }
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let from = x[0].shape();
        let (axes, keep) = self.axes(from);
        let shape: Vec<usize> = (0..from.len())
            .filter_map(|a| if !axes.contains(&a) { Some(from[a]) } else { keep.then_some(1) })
            .collect();
        let _ = env;
        let n: usize = shape.iter().product();
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); n];
        for i in 0..x[0].len() {
            let (mut rest, mut at, mut stride) = (i, 0, 1);
            for a in (0..from.len()).rev() {
                if !axes.contains(&a) {
                    at += rest % from[a] * stride;
                    stride *= from[a];
                }
                rest /= from[a];
            }
            groups[at].push(i);
        }
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(groups.iter().map(|g| sum_f64(g.iter().map(|&i| v[i]))).collect()),
            Wide::I(v) => Wide::I(groups.iter().map(|g| g.iter().map(|&i| v[i]).sum()).collect()),
            Wide::C(v) => Wide::C(
                groups
                    .iter()
                    .map(|g| C128::new(sum_f64(g.iter().map(|&i| v[i].re)), sum_f64(g.iter().map(|&i| v[i].im))))
                    .collect(),
            ),
        };
        Ok(vec![y.narrow(x[0].dtype(), shape)?])
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.op == Reduction::Sum
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        match self.op {
            Reduction::Sum => Ok(cx.itself(&self.clone().into(), x, t)),
        }
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct), Reduction::Sum) = (&x[0], ct[0], self.op) else {
            return Err(no_rule(self, "transpose"));
        };
        let dims: Vec<usize> = match &self.over {
            Over::Axes(axes) => (0..ty.rank()).filter(|a| !axes.contains(a)).collect(),
            Over::To(_) => (0..ty.rank()).collect(),
        };
        Ok(vec![Some(cx.broadcast_in_dim(ct, &ty.shape, &dims))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let over = match &self.over {
            Over::Axes(axes) => Over::Axes(axes.iter().map(|a| a + 1).collect()),
            Over::To(s) => Over::To(std::iter::once(size).chain(s.iter()).cloned().collect()),
        };
        mapped(cx.op(Reduce { over, ..self.clone() }, &[x[0].val]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        Cost { flops: count(&x[0]), bytes: bytes(&x[0]) + bytes(&y[0]) }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        match &self.over {
            Over::Axes(_) => None,
            Over::To(s) => {
                Some(Reduce { over: Over::To(s.iter().map(f).collect()), op: self.op, stable: self.stable }.into())
            }
        }
    }
}

/// The meaning of a sum: compensated in double precision (Neumaier), so that every faster order is close to it.
fn sum_f64(v: impl Iterator<Item = f64>) -> f64 {
    let (mut s, mut c) = (0.0f64, 0.0f64);
    let mut any = false;
    for x in v {
        let t = s + x;
        c += if s.abs() >= x.abs() { (s - t) + x } else { (x - t) + s };
        s = if any { t } else { x };
        any = true;
    }
    if s.is_finite() && c.is_finite() { if c == 0.0 { s } else { s + c } } else { s }
}

impl dyn Emit + '_ {
    /// The sum over axes, which go; compensated if the session asks for it. Nothing is written for no axes.
    pub fn reduce_sum(&self, x: Val, axes: &[usize]) -> Val {
        if axes.is_empty() {
            return x;
        }
        self.op(Reduce::new(Reduction::Sum, axes, self.session().numerics().stable), &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let stable = s.attrs.opt("stable")?.unwrap_or(false);
    if s.name == "sum_to" {
        let shape: Vec<Dim> = s.attrs.get("shape")?;
        return Ok(Reduce::sum_to(shape.into(), stable).into());
    }
    let rank = s.operands.first().map_or(0, Type::rank);
    let axes: Vec<usize> = s.attrs.opt("axes")?.unwrap_or_else(|| (0..rank).collect());
    Ok(Reduce::new(Reduction::Sum, &axes, stable).into())
}

fn samples(name: &str) -> Vec<Sample> {
    let x = Array::from_vec([2, 3], vec![1.5f64, -0.5, 2.0, 0.25, 3.0, -1.0]).expect("six elements");
    if name == "sum_to" {
        return vec![Sample::new(Reduce::sum_to([2, 1].into(), false), vec![x])];
    }
    vec![
        Sample::new(Reduce::new(Reduction::Sum, &[1], false), vec![x.clone()]),
        Sample::new(Reduce::new(Reduction::Sum, &[0, 1], true), vec![x]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry { name: "reduce_sum", doc: "The sum over axes.", parse, samples },
        Entry { name: "sum_to", doc: "The adjoint of repetition: the sum over axes of extent 1.", parse, samples },
    ]
}
