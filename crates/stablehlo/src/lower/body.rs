//! Bodies of reductions and scatters: functions of two scalars (or of two tuples). A body that is a
//! single operation is recognised; any other is applied elementwise.

use super::function::FunctionLowering;
use crate::ast::Region;
use cotangent_core::graph::Def;
use cotangent_core::ops::{Binary, Comparison};
use cotangent_core::primitive::Batched;
use cotangent_core::transform::batch_into;
use cotangent_core::{Array, DType, Emit, Function, Op, Result, Val, bail, reference, rewrite};

/// A body over `n` pairs, `a.., b.. -> y..`, and its captured values.
pub(crate) struct Body {
    f: Function,
    captures: Vec<Val>,
    n: usize,
}

/// Action of a body on one of its pairs, if it is a single operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The first element is kept.
    First,
    /// The second element replaces the first.
    Second,
    /// A binary operation of both.
    Binary(Binary),
}

impl FunctionLowering<'_> {
    /// The body of a reduction of `x` (one operand per pair), as a function of scalars.
    pub(crate) fn scalar_body(&self, region: &Region<'_>, x: &[Val]) -> Result<Body> {
        if region.args.len() != 2 * x.len() {
            bail!(
                Arity,
                "this body takes {} arguments for {} operands",
                region.args.len(),
                x.len()
            );
        }
        let types = region
            .args
            .iter()
            .map(|a| self.tensor(&a.ty))
            .collect::<Result<Vec<_>>>()?;
        let f = self.region("body", region, &region.captures, &types)?;
        if f.results().len() != x.len() {
            bail!(
                Arity,
                "this body returns {} values for {} operands",
                f.results().len(),
                x.len()
            );
        }
        if let Some(t) = types.iter().chain(&f.result_types()).find(|t| t.rank() > 0) {
            bail!(
                ShapeMismatch,
                "this body works on single elements: its arguments and results are scalars, not {t}"
            );
        }
        let captures = region
            .captures
            .iter()
            .map(|&c| self.value(c))
            .collect::<Result<Vec<_>>>()?;
        Ok(Body {
            f: rewrite::simplify(&f),
            captures,
            n: x.len(),
        })
    }
}

impl Body {
    /// The action of the body on pair `k`.
    pub(crate) fn fold(&self, k: usize) -> Option<Fold> {
        let f = &self.f;
        let first = f.params()[self.captures.len() + k];
        let second = f.params()[self.captures.len() + self.n + k];
        let r = *f.results().get(k)?;
        if r == first || r == second {
            return Some(if r == first {
                Fold::First
            } else {
                Fold::Second
            });
        }
        let Def::Eqn(i) = f.def(r) else { return None };
        let e = &f.eqns()[i];
        let x = f.operands(e);
        match &e.op {
            Op::Binary(b) if x == [first, second] => Some(Fold::Binary(*b)),
            Op::Binary(b) if x == [second, first] && commutes(*b) => Some(Fold::Binary(*b)),
            _ => None,
        }
    }

    /// The comparison, if the body compares its two parameters and does nothing else.
    pub(crate) fn compares(&self) -> Option<Comparison> {
        let (f, [r]) = (&self.f, self.f.results()) else {
            return None;
        };
        let Def::Eqn(i) = f.def(*r) else { return None };
        let e = &f.eqns()[i];
        match &e.op {
            Op::Compare(c)
                if self.n == 1 && f.operands(e) == &f.params()[self.captures.len()..] =>
            {
                Some(c.0)
            }
            _ => None,
        }
    }

    /// Captured values.
    pub(crate) fn captures(&self) -> &[Val] {
        &self.captures
    }

    /// Emits the body once, for scalars.
    pub(crate) fn inline(&self, cx: &dyn Emit, captures: &[Val], pairs: &[Val]) -> Vec<Val> {
        cx.inline(&self.f, &[captures, pairs].concat())
    }

    /// Whether it only compares its parameters and selects among them. Its results for each order
    /// of the parameters then determine it.
    fn only_chooses(&self) -> bool {
        self.captures.is_empty()
            && self.f.eqns().iter().all(|e| {
                matches!(
                    e.op,
                    Op::Compare(_)
                        | Op::Select(_)
                        | Op::Binary(Binary::And | Binary::Or | Binary::Xor)
                        | Op::Unary(cotangent_core::ops::Unary::Not)
                )
            })
    }

    /// Whether the body folds `(value, index)` pairs to an extremum and its first index:
    /// `Some(true)` for the minimum, `Some(false)` for the maximum.
    pub(crate) fn is_arg_extremum(&self) -> Option<bool> {
        if self.n != 2 || !self.only_chooses() {
            return None;
        }
        let types = self.f.param_types();
        let (value, index) = (types[0].dtype, types[1].dtype);
        if !(value.is_float() || value.is_int()) || !index.is_int() {
            return None;
        }
        let float = value.is_float();
        let numbers: &[f64] = if float {
            &[-1.0, 2.0, f64::NAN]
        } else {
            &[1.0, 2.0]
        };
        [false, true].into_iter().find(|&min| {
            let holds = |a: f64, b: f64, i: i64, j: i64| {
                let wins = a.is_nan() || !b.is_nan() && if min { a < b } else { a > b };
                let expect = if wins || (a == b && i < j) {
                    (a, i)
                } else {
                    (b, j)
                };
                self.pair(a, i, b, j).is_some_and(|(v, k)| {
                    k == expect.1 && (v == expect.0 || v.is_nan() && expect.0.is_nan())
                })
            };
            numbers.iter().all(|&a| {
                numbers
                    .iter()
                    .all(|&b| holds(a, b, 0, 1) && (a.is_nan() || holds(a, b, 1, 0)))
            })
        })
    }

    fn pair(&self, a: f64, i: i64, b: f64, j: i64) -> Option<(f64, i64)> {
        let types = self.f.param_types();
        let number = |x: f64, d: DType| cotangent_core::Scalar::F(x).cast(d).array(d);
        let args: Vec<Array> = [a, i as f64, b, j as f64]
            .into_iter()
            .zip(&types)
            .map(|(x, t)| number(x, t.dtype))
            .collect();
        let y = reference::run(&self.f, &args).ok()?;
        Some((
            *y.first()?.to_f64().first()?,
            *y.get(1)?.to_f64().first()? as i64,
        ))
    }

    /// Whether the body is JAX's `logaddexp`: `log(exp a + exp b)` without overflow, and exact for
    /// infinite operands.
    pub(crate) fn is_logaddexp(&self) -> bool {
        let [x, y] = self.f.params() else {
            return false;
        };
        let b = cotangent_core::Builder::new("expected", Default::default());
        let p = [
            b.param(self.f.ty(*x).clone(), None),
            b.param(self.f.ty(*y).clone(), None),
        ];
        let cx: &dyn Emit = &b;
        let max = cx.maximum(p[0], p[1]);
        let d = cx.sub(p[0], p[1]);
        let nan = cx.compare(d, Comparison::Ne, d);
        let sum = cx.add(p[0], p[1]);
        let stable = cx.add(max, cx.log1p(cx.exp(cx.neg(cx.abs(d)))));
        let r = cx.select(nan, sum, stable);
        b.finish(&[r])
            .is_ok_and(|g| same(&self.f, &rewrite::simplify(&g)))
    }

    /// Applies the body elementwise to arrays of one shape.
    pub(crate) fn apply(&self, cx: &dyn Emit, a: &[Val], b: &[Val]) -> Result<Vec<Val>> {
        let shape = cx.ty(a[0]).shape;
        let n = shape.numel();
        let one = |v: &Val| Batched {
            val: cx.reshape(*v, std::slice::from_ref(&n)),
            mapped: true,
        };
        let shared = self
            .captures
            .iter()
            .map(|&val| Batched { val, mapped: false });
        let args: Vec<Batched> = shared.chain(a.iter().chain(b).map(one)).collect();
        let loc = cx.loc();
        let y = batch_into(cx, &self.f, &args, &n)?;
        cx.set_loc(loc);
        Ok(y.into_iter()
            .map(|r| cx.reshape(cx.replicate(r, &n).val, &shape))
            .collect())
    }
}

fn commutes(b: Binary) -> bool {
    matches!(
        b,
        Binary::Add
            | Binary::Mul
            | Binary::Max
            | Binary::Min
            | Binary::And
            | Binary::Or
            | Binary::Xor
    )
}

/// Whether two functions have the same equations in the same order.
fn same(f: &Function, g: &Function) -> bool {
    f.eqns().len() == g.eqns().len()
        && f.results() == g.results()
        && f.param_types() == g.param_types()
        && f.eqns().iter().zip(g.eqns()).all(|(a, b)| {
            f.operands(a) == g.operands(b) && format!("{:?}", a.op) == format!("{:?}", b.op)
        })
}
