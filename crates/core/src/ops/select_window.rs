//! `select_and_gather` and `select_and_scatter`: sums over the elements of sliding windows at which
//! `x` is `y`.
//!
//! ```text
//! gather:   r[p] = Σ_k [x[i] = y[p]] t[i]          scatter:   r[i] = Σ_{p, k} [x[i] = y[p]] t[p]
//! ```
//! with `x_dilation · i = stride · p + dilation · k - low`. They are adjoint to each other. If `y`
//! is the maximum of `x` over windows, they compute its tangents and cotangents. With `first` only
//! the first such element of each window counts. NaN does not equal NaN.

use super::Reduction;
use super::entry::{Entry, Spelled, arity};
use super::moving::prepend;
use super::sliding::{SampleWindow, Sliding, check_windows, elements, indices, sample_windows};
use super::support::{bytes, count, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::reduce::sum_f64;
use crate::shape::{Dim, Env, Type};

/// A sum at selected elements of windows, of operands `x`, `y` and `t`.
#[derive(Clone, Debug)]
pub struct SelectWindow {
    /// Whether it sums elements into windows; otherwise windows into elements.
    pub gather: bool,
    /// Whether only the first such element of each window counts.
    pub first: bool,
    /// Steps along every axis.
    pub sliding: Sliding,
    /// Extents of a window.
    pub window: Vec<Dim>,
}

impl Primitive for SelectWindow {
    fn name(&self) -> &str {
        if self.gather {
            "select_and_gather"
        } else {
            "select_and_scatter"
        }
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default()
            .with("window", &self.window)
            .with_if(self.first, "first", true);
        self.sliding.attrs(a)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 3)?;
        let (x, y, t) = (&x[0], &x[1], &x[2]);
        check_windows(self, &self.sliding, &self.window, x)?;
        if x.dtype != y.dtype || x.rank() != y.rank() || t.dtype == crate::DType::Bool {
            bail!(
                ShapeMismatch,
                "`{}` needs x and y of one type and rank, and numbers, got {x}, {y}, {t}",
                self.name()
            );
        }
        let (own, other) = if self.gather { (x, y) } else { (y, x) };
        if t.shape.differs(&own.shape) {
            bail!(
                ShapeMismatch,
                "`{}` needs a third operand of the shape of {own}, got {t}",
                self.name()
            );
        }
        Ok(vec![t.with_shape(other.shape.clone())])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let window = self
            .window
            .iter()
            .map(|d| d.eval(env))
            .collect::<Result<Vec<_>>>()?;
        let equal = |a: usize, b: usize| match (x[0].wide(), x[1].wide()) {
            (Wide::F(x), Wide::F(y)) => x[a] == y[b],
            (Wide::I(x), Wide::I(y)) => x[a] == y[b],
            (Wide::C(x), Wide::C(y)) => x[a] == y[b],
            _ => unreachable!("the type rule makes both element types one"),
        };
        let result = &x[usize::from(self.gather)];
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); result.len()];
        for (at, p) in indices(x[1].shape()).enumerate() {
            let all = elements(&self.sliding, x[0].shape(), &window, &p).filter(|&i| equal(i, at));
            for i in all.take(if self.first { 1 } else { usize::MAX }) {
                let (from, to) = if self.gather { (i, at) } else { (at, i) };
                groups[to].push(from);
            }
        }
        let y = match x[2].wide() {
            Wide::F(v) => Wide::F(
                groups
                    .iter()
                    .map(|g| sum_f64(g.iter().map(|&i| v[i])))
                    .collect(),
            ),
            Wide::I(v) => Wide::I(
                groups
                    .iter()
                    .map(|g| g.iter().map(|&i| v[i]).sum())
                    .collect(),
            ),
            Wide::C(v) => Wide::C(
                groups
                    .iter()
                    .map(|g| g.iter().map(|&i| v[i]).sum())
                    .collect(),
            ),
        };
        Ok(vec![y.narrow(x[2].dtype(), result.shape())?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        *mask == [false, false, true]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let dy = t[2].map(|t| cx.apply1(self.clone(), &[x[0].into(), x[1].into(), t.into()]));
        Ok(cx.one(cx.op(self.clone(), x), dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(a), Arg::R(b), Arg::L(_), Some(ct)) = (&x[0], &x[1], &x[2], ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        let back = SelectWindow {
            gather: !self.gather,
            ..self.clone()
        };
        Ok(vec![None, None, Some(cx.op(back, &[*a, *b, ct]))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let x: Vec<Val> = x.iter().map(|b| cx.replicate(*b, size).val).collect();
        let window = prepend(Dim::Const(1), &self.window);
        mapped(cx.op(
            SelectWindow {
                sliding: self.sliding.batched(),
                window,
                ..self.clone()
            },
            &x,
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let per: f64 = self
            .window
            .iter()
            .map(|d| d.as_const().unwrap_or(1) as f64)
            .product();
        Cost {
            flops: 2.0 * count(&x[1]) * per,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            SelectWindow {
                window: self.window.iter().map(f).collect(),
                ..self.clone()
            }
            .into(),
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let window: Vec<Dim> = s.attrs.get("window")?;
    let first = s.attrs.opt("first")?.unwrap_or(false);
    let sliding = Sliding::parse(s, window.len())?;
    Ok(SelectWindow {
        gather: s.name == "select_and_gather",
        first,
        sliding,
        window,
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    use crate::DType::*;
    let mut out = Vec::new();
    for (k, sample) in sample_windows().into_iter().enumerate() {
        let extents = sample.extents();
        let extents: Vec<usize> = extents.iter().filter_map(Dim::as_const).collect();
        let SampleWindow {
            sliding,
            window,
            x: shape,
            ..
        } = sample;
        // Integers, so that there are ties.
        let mut x = sample_array(I32, &shape, k);
        if let Wide::I(v) = x.wide() {
            x = Wide::I(v.into_iter().map(|i| i % 3).collect())
                .narrow(I32, shape)
                .expect("as many elements");
        }
        let groups: Vec<Vec<usize>> = indices(&extents)
            .map(|p| elements(&sliding, x.shape(), &window, &p).collect())
            .collect();
        let y = Reduction::Max
            .of_groups(&x, &groups, &extents)
            .expect("a sample");
        let window: Vec<Dim> = window.into_iter().map(Dim::Const).collect();
        for first in [false, true] {
            let op = SelectWindow {
                gather: name == "select_and_gather",
                first,
                sliding: sliding.clone(),
                window: window.clone(),
            };
            let t = sample_array(
                [F64, C128, F32][k % 3],
                if op.gather { x.shape() } else { y.shape() },
                5,
            );
            out.push(Sample::new(op, vec![x.clone(), y.clone(), t]));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "select_and_gather",
            doc: "The sum of t over the elements of each window at which x is y (an extremum of the window).",
            parse,
            samples,
        },
        Entry {
            name: "select_and_scatter",
            doc: "t of each window added to its elements at which x is y: the adjoint of select_and_gather.",
            parse,
            samples,
        },
    ]
}
