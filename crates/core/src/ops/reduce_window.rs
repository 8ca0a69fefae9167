//! `reduce_window`: a reduction over windows that slide over the operand.
//!
//! ```text
//! y[p] = fold over k of x[i],        x_dilation · i = stride · p + dilation · k - low
//! d sum  = sum of dx                 its adjoint is a sum over windows, p and i exchanged
//! d max  = Σ_k w dx                  w = 1 / ties where x[i] = y[p]: `select_and_gather`
//! d prod = Σ_k e_k dx_k              e_k = product of the others, from both sides, never a division
//! ```
//! Elements outside the operand are skipped. The result of an empty window is that of the reduction
//! of no elements.

use super::entry::{Entry, Spelled, arity};
use super::moving::prepend;
use super::sliding::{Sliding, check_windows, elements, indices, sample_windows};
use super::support::{bytes, count, counting, mapped, sample_array};
use super::{Comparison, REDUCTIONS, Reduction};
use crate::array::Array;
use crate::bail;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};

/// A reduction over windows.
#[derive(Clone, Debug)]
pub struct ReduceWindow {
    /// The combining function.
    pub op: Reduction,
    /// Steps along every axis.
    pub sliding: Sliding,
    /// Extents of a window.
    pub window: Vec<Dim>,
    /// Extents of the result: the number of windows along every axis.
    pub extents: Vec<Dim>,
}

impl ReduceWindow {
    /// The operation with windows of one element: element `k` of every window, or the reduction of
    /// no elements.
    fn element(&self, op: Reduction, k: &[usize]) -> ReduceWindow {
        let mut one = ReduceWindow {
            op,
            window: vec![Dim::Const(1); k.len()],
            ..self.clone()
        };
        for (a, &k) in k.iter().enumerate() {
            let step = one.sliding.dilation[a].saturating_mul(k.try_into().unwrap_or(i64::MAX));
            one.sliding.low[a] = one.sliding.low[a].saturating_sub(step);
        }
        one
    }

    /// The tangent of an extremum: the mean of the tangents at the elements equal to it; NaN if the
    /// extremum is NaN.
    fn by_location(&self, cx: &Lin<'_>, x: Val, y: Val, t: Lv) -> Lv {
        let at = super::SelectWindow {
            gather: true,
            first: false,
            sliding: self.sliding.clone(),
            window: self.window.clone(),
        };
        let ty = cx.ty(x);
        let ones = cx.full(&ty.with_dtype(counting(ty.dtype)), 1.0);
        let ties = cx.op(at.clone(), &[x, y, ones]);
        // A window without elements has no tangent.
        let number = cx.compare(y, Comparison::Eq, y);
        let ties = cx.select(number, cx.maximum(ties, cx.full_like(ties, 1.0)), ties);
        let share = cx.convert(cx.div(cx.full_like(ties, 1.0), ties), ty.dtype);
        cx.scale(share, cx.apply1(at, &[x.into(), y.into(), t.into()]))
    }

    /// The tangent of a product: the sum of every element's tangent times the product of the
    /// others.
    fn by_others(&self, cx: &Lin<'_>, x: Val, t: Lv) -> Result<Lv> {
        let Some(window) = self
            .window
            .iter()
            .map(Dim::as_const)
            .collect::<Option<Vec<usize>>>()
        else {
            bail!(
                NoRule,
                "the derivative of a product over windows needs windows of constant extents, not {:?}",
                self.window
            )
        };
        let places: Vec<Vec<usize>> = indices(&window).collect();
        let part = |k: &Vec<usize>| cx.op(self.element(Reduction::Prod, k), &[x]);
        let parts: Vec<Val> = if places.len() > 1 {
            places.iter().map(part).collect()
        } else {
            Vec::new()
        };
        // Products of all elements after each one.
        let mut after: Vec<Option<Val>> = vec![None; places.len()];
        for k in (1..parts.len()).rev() {
            after[k - 1] = Some(after[k].map_or(parts[k], |a| cx.mul(parts[k], a)));
        }
        let (mut before, mut sum): (Option<Val>, Option<Lv>) = (None, None);
        for (k, at) in places.iter().enumerate() {
            let dx = cx.apply1(self.element(Reduction::Sum, at), &[t.into()]);
            let others = match (before, after[k]) {
                (Some(b), Some(a)) => Some(cx.mul(b, a)),
                (b, a) => b.or(a),
            };
            sum = cx.sum_opt(sum, Some(others.map_or(dx, |o| cx.scale(o, dx))));
            before = parts.get(k).map(|&p| before.map_or(p, |b| cx.mul(b, p)));
        }
        Ok(sum.unwrap_or_else(|| cx.zeros(&cx.lty(t).with_shape(self.extents.clone()))))
    }
}

impl Primitive for ReduceWindow {
    fn name(&self) -> &str {
        "reduce_window"
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default()
            .with("reduce", self.word())
            .with("window", &self.window);
        self.sliding.attrs(a.with("extents", &self.extents))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !(self.op.def().types)(x[0].dtype) {
            bail!(
                DTypeMismatch,
                "`reduce_window` of {}: `{}` is not defined there",
                x[0],
                self.word()
            );
        }
        check_windows(self, &self.sliding, &self.window, &x[0])?;
        if self.extents.len() != x[0].rank() {
            bail!(
                Attribute,
                "`reduce_window`: `extents` = {:?} has no entry for each axis of {}",
                self.extents,
                x[0]
            );
        }
        Ok(vec![x[0].with_shape(self.extents.clone())])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let known = |v: &[Dim]| v.iter().map(|d| d.eval(env)).collect::<Result<Vec<_>>>();
        let (window, extents) = (known(&self.window)?, known(&self.extents)?);
        let groups: Vec<Vec<usize>> = indices(&extents)
            .map(|p| elements(&self.sliding, x[0].shape(), &window, &p).collect())
            .collect();
        Ok(vec![self.op.of_groups(&x[0], &groups, &extents)?])
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.op == Reduction::Sum
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        if self.op == Reduction::Sum {
            return Ok(cx.itself(&self.clone().into(), x, t));
        }
        let y = cx.op(self.clone(), x);
        let dy = match (self.op, t[0]) {
            (Reduction::Max | Reduction::Min, Some(t)) => Some(self.by_location(cx, x[0], y, t)),
            (Reduction::Prod, Some(t)) => Some(self.by_others(cx, x[0], t)?),
            _ => None,
        };
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct), Reduction::Sum) = (&x[0], ct[0], self.op) else {
            return Err(no_rule(self, "transpose"));
        };
        let op = ReduceWindow {
            sliding: self.sliding.inverse(),
            extents: ty.shape.to_vec(),
            ..self.clone()
        };
        Ok(vec![Some(cx.op(op, &[ct]))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let op = ReduceWindow {
            op: self.op,
            sliding: self.sliding.batched(),
            window: prepend(Dim::Const(1), &self.window),
            extents: prepend(size.clone(), &self.extents),
        };
        mapped(cx.op(op, &[x[0].val]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let per: f64 = self
            .window
            .iter()
            .map(|d| d.as_const().unwrap_or(1) as f64)
            .product();
        Cost {
            flops: count(&y[0]) * per,
            bytes: bytes(&x[0]) + bytes(&y[0]),
        }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let map = |v: &[Dim]| v.iter().map(f).collect();
        Some(
            ReduceWindow {
                window: map(&self.window),
                extents: map(&self.extents),
                ..self.clone()
            }
            .into(),
        )
    }
}

impl ReduceWindow {
    /// The reduction's name without `reduce_`.
    fn word(&self) -> &'static str {
        self.op.def().name.trim_start_matches("reduce_")
    }
}

impl dyn Emit + '_ {
    /// A reduction over windows of `x`, padded by `sliding.low` and `high` with the identity of the
    /// reduction.
    pub fn reduce_window(
        &self,
        op: Reduction,
        x: Val,
        window: &[Dim],
        sliding: &Sliding,
        high: &[i64],
    ) -> Val {
        if self.failed() {
            return Val::POISON;
        }
        let n = self.ty(x).shape;
        let fits = n.rank() == window.len() && n.rank() == high.len();
        let extents = match sliding.check("reduce_window", n.rank()) {
            Ok(()) if fits => (0..n.rank())
                .map(|k| sliding.count(k, &n[k], &window[k], high[k]))
                .collect(),
            Ok(()) => Err(Error::new(
                Code::Attribute,
                format!("`reduce_window`: {window:?} over {}", self.ty(x)),
            )),
            Err(e) => Err(e),
        };
        match extents {
            Ok(extents) => self.op(
                ReduceWindow {
                    op,
                    sliding: sliding.clone(),
                    window: window.to_vec(),
                    extents,
                },
                &[x],
            ),
            Err(e) => {
                self.fail(e.at(self.loc()));
                Val::POISON
            }
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let word: String = s.attrs.get("reduce")?;
    let Some(d) = REDUCTIONS
        .iter()
        .find(|d| d.name.strip_prefix("reduce_") == Some(&word))
    else {
        bail!(
            Attribute,
            "`reduce_window` has no `reduce` = {word}; there are sum, prod, max, min, any, all, and, or, xor"
        )
    };
    let window: Vec<Dim> = s.attrs.get("window")?;
    let x: Vec<Dim> = s
        .operands
        .first()
        .map(|t| t.shape.to_vec())
        .unwrap_or_default();
    let sliding = Sliding::parse(s, window.len())?;
    let extents = sliding.take_extents(s, &x, &window)?;
    Ok(ReduceWindow {
        op: d.op,
        sliding,
        window,
        extents,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let mut out = Vec::new();
    for d in REDUCTIONS {
        let types: Vec<_> = [F64, F32, BF16, C128, I32, Bool]
            .into_iter()
            .filter(|&t| (d.types)(t))
            .collect();
        for (k, sample) in sample_windows().into_iter().enumerate() {
            let dtype = types[k % types.len()];
            let x = sample_array(dtype, &sample.x, k);
            let op = ReduceWindow {
                op: d.op,
                extents: sample.extents(),
                window: sample.window.into_iter().map(Dim::Const).collect(),
                sliding: sample.sliding,
            };
            out.push(Sample::new(op, vec![x]));
        }
    }
    let ties = Array::vector(vec![1.0, 3.0, 3.0, f64::NAN, 2.0, 0.0, 0.0, 0.0]);
    for op in [Reduction::Max, Reduction::Prod] {
        let window = vec![Dim::Const(3)];
        let op = ReduceWindow {
            op,
            sliding: Sliding::plain(1),
            window,
            extents: vec![Dim::Const(6)],
        };
        out.push(Sample::rough(op, vec![ties.clone()]));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "A reduction (sum, prod, max, min, ..) over sliding windows: x_dilation i = stride p + dilation k - low.";
    vec![Entry {
        name: "reduce_window",
        doc,
        parse,
        samples,
    }]
}
