//! Cumulative operations along an axis: `y[k]` is the reduction of `x[0..=k]`, or of `x[0..k]` if
//! exclusive.
//!
//! With `p[k]` the state before step `k` and `y[k] = f(p[k], x[k])`, the derivative is the linear
//! recurrence `dy[k] = f_1 dy[k-1] + f_2 dx[k]` ([`LinearRecurrence`]):
//!
//! ```text
//! cumprod       f_1 = x              f_2 = p                  never a division by the element
//! cummax        f_1 = 1 - f_2        f_2 = 1/ties so far where x is the maximum, else 0
//! cumlogsumexp  f_1 = exp(p - y)     f_2 = exp(x - y)
//! ```

use super::entry::{Entry, Spelled, arity};
use super::support::{
    check_axis, cost_per_element, counting, lines, mapped, sample_array, take_axis,
};
use super::{Comparison, Factors, LinearRecurrence, Side};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::math::maximum;
use crate::shape::{Dim, Env, Type};

/// The combining function of a cumulative operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Running {
    Sum,
    Prod,
    Max,
    Min,
    LogSumExp,
}

struct CumulativeDef {
    op: Running,
    name: &'static str,
    doc: &'static str,
    types: fn(DType) -> bool,
}

const CUMULATIVE: [CumulativeDef; 5] = [
    CumulativeDef {
        op: Running::Sum,
        name: "cumsum",
        doc: "Cumulative sum along an axis.",
        types: |d| d != DType::Bool,
    },
    CumulativeDef {
        op: Running::Prod,
        name: "cumprod",
        doc: "Cumulative product along an axis.",
        types: |d| d != DType::Bool,
    },
    CumulativeDef {
        op: Running::Max,
        name: "cummax",
        doc: "Cumulative maximum along an axis; NaN from the first NaN on.",
        types: |d| !d.is_complex() && d != DType::Bool,
    },
    CumulativeDef {
        op: Running::Min,
        name: "cummin",
        doc: "Cumulative minimum along an axis; NaN from the first NaN on.",
        types: |d| !d.is_complex() && d != DType::Bool,
    },
    CumulativeDef {
        op: Running::LogSumExp,
        name: "cumlogsumexp",
        doc: "Cumulative log(sum(exp(x))) along an axis; its gradient is zero where the result is -inf.",
        types: DType::is_float,
    },
];

/// A cumulative operation along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulative {
    /// The combining function.
    pub op: Running,
    /// The axis.
    pub axis: usize,
    /// Whether it runs from the last element to the first.
    pub reverse: bool,
    /// Whether element `k` is excluded from result `k`. The first result then is the identity (0,
    /// 1, or the least or greatest value).
    pub exclusive: bool,
}

impl Cumulative {
    /// A forward, inclusive operation.
    pub fn new(op: Running, axis: usize) -> Cumulative {
        Cumulative {
            op,
            axis,
            reverse: false,
            exclusive: false,
        }
    }

    /// Scans every line along the axis. A result is `value` of the state after (or before) a step.
    fn scan<T: Copy + Default, S: Copy>(
        &self,
        v: &[T],
        shape: &[usize],
        start: S,
        step: impl Fn(S, T) -> S,
        value: impl Fn(S) -> T,
    ) -> Vec<T> {
        let mut y = vec![T::default(); v.len()];
        for line in lines(shape, self.axis, self.reverse) {
            let mut state = start;
            for i in line {
                let next = step(state, v[i]);
                y[i] = value(if self.exclusive { state } else { next });
                state = next;
            }
        }
        y
    }

    fn real(&self, v: &[f64], shape: &[usize]) -> Vec<f64> {
        match self.op {
            Running::Sum => self.sums(v, shape),
            Running::Prod => self.scan(v, shape, 1.0, |s, x| s * x, |s| s),
            Running::Max => self.scan(v, shape, f64::NEG_INFINITY, maximum, |s| s),
            Running::Min => self.scan(v, shape, f64::NEG_INFINITY, |s, x| maximum(s, -x), |s| -s),
            // The state is a maximum and the sum of exponentials relative to it.
            Running::LogSumExp => self.scan(
                v,
                shape,
                (f64::NEG_INFINITY, 0.0),
                |(m, s), x| {
                    let to = maximum(m, x);
                    let term = |y: f64| if y == to { 1.0 } else { libm::exp(y - to) };
                    (
                        to,
                        if s == 0.0 {
                            term(x)
                        } else {
                            s * term(m) + term(x)
                        },
                    )
                },
                |(m, s)| m + libm::log(s),
            ),
        }
    }

    /// Compensated (Neumaier) sums, so that every prefix is as accurate as a separate sum.
    fn sums(&self, v: &[f64], shape: &[usize]) -> Vec<f64> {
        let step = |state: Option<(f64, f64)>, x: f64| {
            let Some((s, c)) = state else {
                return Some((x, 0.0));
            };
            let t = s + x;
            Some((
                t,
                c + if s.abs() >= x.abs() {
                    (s - t) + x
                } else {
                    (x - t) + s
                },
            ))
        };
        let value = |(s, c): (f64, f64)| if c.is_finite() && c != 0.0 { s + c } else { s };
        self.scan(v, shape, None, step, |state| state.map_or(0.0, value))
    }

    fn complex(&self, v: &[C128], shape: &[usize]) -> Vec<C128> {
        if self.op == Running::Prod {
            return self.scan(v, shape, C128::ONE, |s, x| s * x, |s| s);
        }
        let re = self.sums(&v.iter().map(|z| z.re).collect::<Vec<_>>(), shape);
        let im = self.sums(&v.iter().map(|z| z.im).collect::<Vec<_>>(), shape);
        re.into_iter()
            .zip(im)
            .map(|(re, im)| C128::new(re, im))
            .collect()
    }

    fn int(&self, v: &[i128], shape: &[usize], dtype: DType) -> Vec<i128> {
        let (least, greatest) = dtype.int_range();
        match self.op {
            Running::Prod => self.scan(v, shape, 1, i128::wrapping_mul, |s| s),
            Running::Max => self.scan(v, shape, least, i128::max, |s| s),
            Running::Min => self.scan(v, shape, greatest, i128::min, |s| s),
            Running::Sum | Running::LogSumExp => self.scan(v, shape, 0, i128::wrapping_add, |s| s),
        }
    }

    fn recurrence(&self, exclusive: bool, factors: Factors) -> LinearRecurrence {
        LinearRecurrence {
            axis: self.axis,
            reverse: self.reverse,
            exclusive,
            factors,
        }
    }

    /// The tangent for factors `f_1`, `f_2`. For extrema they select. On one side of a tie the
    /// first element increases most.
    fn tangent(&self, cx: &Lin<'_>, x: Val, (f1, f2): (Val, Val), t: Lv) -> Lv {
        if !matches!(self.op, Running::Max | Running::Min) {
            let strong = cx.session().numerics().zeros_are_strong();
            let factors = if strong {
                Factors::Strong
            } else {
                Factors::Any
            };
            return cx.apply1(
                self.recurrence(self.exclusive, factors),
                &[f1.into(), cx.scale(f2, t).into()],
            );
        }
        let first = cx.rises(x, None) == (self.op == Running::Max);
        let earlier = first != self.reverse;
        let (f1, factors) = match cx.session().is_one_sided() {
            true => (
                cx.sided(&Side::Share { whole: earlier }, f1),
                Factors::Strong,
            ),
            false => (f1, Factors::Shares { earlier }),
        };
        let mine = cx.at_kink(Side::Share { whole: !earlier }, f2, t);
        cx.apply1(
            self.recurrence(self.exclusive, factors),
            &[f1.into(), mine.into()],
        )
    }

    /// The factors `f_1`, `f_2` for operand `x`, state `p` before and `y` after each step.
    fn factors(&self, cx: &dyn Emit, x: Val, p: Val, y: Val) -> (Val, Val) {
        match self.op {
            Running::Sum => (cx.full_like(x, 1.0), cx.full_like(x, 1.0)),
            Running::Prod => (x, p),
            Running::Max | Running::Min => {
                let dtype = cx.ty(x).dtype;
                let same = |a, b| cx.convert(cx.compare(a, Comparison::Eq, b), counting(dtype));
                let (kept, here) = (same(p, y), same(x, y));
                // Number of ties so far; restarts where the extremum changes. From the first NaN on
                // there are none (0/0).
                let ties = cx.linear_recurrence(kept, here, self.recurrence(false, Factors::Any));
                let before = cx.linear_recurrence(kept, here, self.recurrence(true, Factors::Any));
                let share = |of| cx.convert(cx.div(of, ties), dtype);
                (share(cx.mul(kept, before)), share(here))
            }
            Running::LogSumExp => {
                let nothing = cx.compare(y, Comparison::Eq, cx.full_like(y, f64::NEG_INFINITY));
                let y = cx.select(nothing, cx.full_like(y, 0.0), y);
                (cx.exp(cx.sub(p, y)), cx.exp(cx.sub(x, y)))
            }
        }
    }
}

impl Primitive for Cumulative {
    fn name(&self) -> &str {
        CUMULATIVE[self.op as usize].name
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("axis", self.axis)
            .with_if(self.reverse, "reverse", true)
            .with_if(self.exclusive, "exclusive", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        check_axis(self, &x[0], self.axis)?;
        if !(CUMULATIVE[self.op as usize].types)(x[0].dtype) {
            bail!(
                DTypeMismatch,
                "`{}` is not defined on {}; convert it first",
                self.name(),
                x[0].dtype
            );
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (shape, dtype) = (x[0].shape(), x[0].dtype());
        let y = match x[0].wide() {
            Wide::F(v) => Wide::F(self.real(&v, shape)),
            Wide::C(v) => Wide::C(self.complex(&v, shape)),
            Wide::I(v) => Wide::I(self.int(&v, shape, dtype)),
        };
        Ok(vec![y.narrow(dtype, shape)?])
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.op == Running::Sum
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        if self.op == Running::Sum {
            return Ok(cx.itself(&(*self).into(), x, t));
        }
        let y = cx.op(*self, x);
        let Some(t) = t[0] else {
            return Ok(cx.one(y, None));
        };
        let (before, after) = match self.exclusive {
            true => (
                y,
                cx.op(
                    Cumulative {
                        exclusive: false,
                        ..*self
                    },
                    x,
                ),
            ),
            false => (
                cx.op(
                    Cumulative {
                        exclusive: true,
                        ..*self
                    },
                    x,
                ),
                y,
            ),
        };
        let factors = self.factors(cx.emit(), x[0], before, after);
        Ok(cx.one(y, Some(self.tangent(cx, x[0], factors, t))))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        match (self.op, ct[0]) {
            (Running::Sum, Some(ct)) => Ok(vec![Some(cx.op(
                Cumulative {
                    reverse: !self.reverse,
                    ..*self
                },
                &[ct],
            ))]),
            _ => Err(no_rule(self, "transpose")),
        }
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.op(
            Cumulative {
                axis: self.axis + 1,
                ..*self
            },
            &[x[0].val],
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(
            if self.op == Running::LogSumExp {
                20.0
            } else {
                1.0
            },
            x,
            y,
        )
    }
}

impl dyn Emit + '_ {
    /// The cumulative operation on `x` along an axis, forward and inclusive.
    pub fn cumulative(&self, op: Running, x: Val, axis: usize) -> Val {
        self.op(Cumulative::new(op, axis), &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let Some(row) = CUMULATIVE.iter().find(|r| r.name == s.name) else {
        bail!(UnknownOperation, "`{}` is not a running reduction", s.name)
    };
    let mut flag = |name: &str| Ok(s.attrs.opt(name)?.unwrap_or(false));
    let (reverse, exclusive) = (flag("reverse")?, flag("exclusive")?);
    Ok(Cumulative {
        op: row.op,
        axis: take_axis(s)?,
        reverse,
        exclusive,
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    let row = CUMULATIVE
        .iter()
        .find(|r| r.name == name)
        .expect("called with a name of the table");
    let of = |axis, reverse, exclusive| Cumulative {
        op: row.op,
        axis,
        reverse,
        exclusive,
    };
    let mut out = Vec::new();
    for dtype in [DType::F64, DType::F32, DType::C128, DType::I32, DType::U8] {
        if (row.types)(dtype) {
            let x = |shape: &[usize]| vec![sample_array(dtype, shape, 3)];
            // Exclusive extrema start at infinity, where finite differences do not exist.
            let exclusive = if matches!(row.op, Running::Sum | Running::Prod) {
                Sample::new
            } else {
                Sample::rough
            };
            out.push(Sample::new(of(1, false, false), x(&[2, 4])));
            out.push(Sample::new(of(0, true, false), x(&[3, 2])));
            out.push(exclusive(of(0, false, true), x(&[4])));
            out.push(exclusive(of(1, true, true), x(&[2, 3, 2])));
            out.push(Sample::new(of(0, false, false), x(&[0, 2])));
        }
    }
    if row.op == Running::Prod {
        out.push(Sample::new(
            of(0, false, false),
            vec![Array::vector(vec![2.0, 0.0, 3.0, 0.0, -1.5])],
        ));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    CUMULATIVE
        .iter()
        .map(|r| Entry {
            name: r.name,
            doc: r.doc,
            parse,
            samples,
        })
        .collect()
}
