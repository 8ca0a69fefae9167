//! `linear_recurrence`: `y[k] = a[k] y[k-1] + b[k]` along an axis.
//!
//! It is the derivative of every cumulative operation: if `y[k] = f(y[k-1], x[k])`, then
//! `dy[k] = f_1 dy[k-1] + f_2 dx[k]`, in linear time and without a division. It is linear in `b`,
//! and closed under linearization and transposition. Let `R` be the recurrence and `E` the
//! exclusive one, `E[k] = R[k-1]`, which starts from zero:
//!
//! ```text
//! dR = R(a, da E + db)      Rᵀ(ct) = R⁻(ā moved, ct)       R⁻, E⁻: in the other direction
//! dE = E(a, da E + db)      Eᵀ(ct) = E⁻(ā, ct)             moved: ā[k + 1] at k
//! ```

use super::entry::{Entry, Spelled, arity};
use super::support::{
    batch_leading, check_axis, cost_per_element, lines, same_shape, sample_array, take_axis,
};
use super::{Binary, Side};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Kink, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::math::{Twofold, TwofoldComplex};
use crate::shape::{Dim, Env, Type};

/// The kind of the factors of a recurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Factors {
    /// Ordinary factors.
    #[default]
    Any,
    /// Factors with strong zeros: zero times any state is zero.
    Strong,
    /// Shares of the earlier elements in a tie; the later element has the rest. With strong zeros.
    /// On one side of the tie the share of the earlier elements is 1 (`earlier`) or 0.
    Shares {
        /// Whether the share of the earlier elements becomes 1.
        earlier: bool,
    },
}

/// A linear recurrence along an axis, of operands `a`, `b`. The first factor `a[0]` is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinearRecurrence {
    /// The axis.
    pub axis: usize,
    /// Whether it runs from the last element to the first.
    pub reverse: bool,
    /// Whether results are the states before each step instead of after it. The first one is zero.
    pub exclusive: bool,
    /// The kind of the factors.
    pub factors: Factors,
}

impl LinearRecurrence {
    /// Runs the recurrence on every line. `step(None, i)` is the state after the first element of a
    /// line, at `i`; `step(Some(s), i)` the state after a later element.
    fn run<T: Copy, S: Copy>(
        &self,
        shape: &[usize],
        zero: T,
        step: impl Fn(Option<S>, usize) -> S,
        value: impl Fn(S) -> T,
    ) -> Vec<T> {
        let mut y = vec![zero; shape.iter().product()];
        for line in lines(shape, self.axis, self.reverse) {
            let mut state = None;
            for i in line {
                let next = step(state, i);
                y[i] = if self.exclusive {
                    state.map_or(zero, &value)
                } else {
                    value(next)
                };
                state = Some(next);
            }
        }
        y
    }

    /// The product of a factor and the state: by IEEE rules or with strong zeros.
    fn product(&self) -> Binary {
        if self.factors == Factors::Any {
            Binary::Mul
        } else {
            Binary::MulStrongZero
        }
    }

    /// The rule for the factors on one side of a kink.
    fn side(&self) -> Side {
        match self.factors {
            Factors::Shares { earlier } => Side::Share { whole: earlier },
            _ => Side::Known,
        }
    }

    /// The operation for factors of one side.
    fn at_one_side(&self) -> LinearRecurrence {
        let factors = if self.factors == Factors::Any {
            Factors::Any
        } else {
            Factors::Strong
        };
        LinearRecurrence { factors, ..*self }
    }
}

impl Primitive for LinearRecurrence {
    fn name(&self) -> &str {
        "linear_recurrence"
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default()
            .with("axis", self.axis)
            .with_if(self.reverse, "reverse", true);
        let a = a.with_if(self.exclusive, "exclusive", true);
        match self.factors {
            Factors::Any => a,
            Factors::Strong => a.with("factors", "strong"),
            Factors::Shares { earlier } => {
                a.with("factors", if earlier { "earlier" } else { "later" })
            }
        }
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        if x[0].dtype != x[1].dtype || !x[0].dtype.has_tangent() {
            bail!(
                DTypeMismatch,
                "`linear_recurrence` needs floats or complex numbers of one type, got {} and {}",
                x[0],
                x[1]
            );
        }
        // Ties need ordered numbers.
        if matches!(self.factors, Factors::Shares { .. }) && x[0].dtype.is_complex() {
            bail!(
                DTypeMismatch,
                "`linear_recurrence` of shares in a tie needs floats, got {}",
                x[0]
            );
        }
        check_axis(self, &x[0], self.axis)?;
        Ok(vec![same_shape(self, x)?.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let shape = x[0].shape();
        let product = self.product().def();
        let y = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => {
                let next = |s: Twofold, i: usize| s.step(a[i], b[i], product.real);
                let step =
                    |s: Option<Twofold>, i: usize| s.map_or(Twofold::of(b[i]), |s| next(s, i));
                Wide::F(self.run(shape, 0.0, step, Twofold::value))
            }
            (Wide::C(a), Wide::C(b)) => {
                let strong = self.factors != Factors::Any;
                let step = |s: Option<TwofoldComplex>, i: usize| {
                    s.map_or(TwofoldComplex::of(b[i]), |s| s.step(a[i], b[i], strong))
                };
                Wide::C(self.run(shape, C128::ZERO, step, TwofoldComplex::value))
            }
            _ => unreachable!("the type rule admits no integers"),
        };
        Ok(vec![y.narrow(x[0].dtype(), shape)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let shares = matches!(self.factors, Factors::Shares { .. });
        // Shares are constant on each side of a tie.
        let da = t[0].filter(|_| !shares).map(|t| {
            let before = if self.exclusive {
                y
            } else {
                cx.op(
                    LinearRecurrence {
                        exclusive: true,
                        ..*self
                    },
                    x,
                )
            };
            match self.factors {
                Factors::Any => cx.scale(before, t),
                _ => cx.apply1(Binary::MulStrongZero, &[before.into(), t.into()]),
            }
        });
        let a = if shares {
            cx.sided(&self.side(), x[0])
        } else {
            x[0]
        };
        let dy = cx
            .sum_opt(da, t[1])
            .map(|b| cx.apply1(self.at_one_side(), &[a.into(), b.into()]));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(a), Some(ct)) = (&x[0], ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        let a = cx.conj(*a);
        let back = LinearRecurrence {
            reverse: !self.reverse,
            ..*self
        };
        if self.exclusive {
            return Ok(vec![None, Some(cx.op(back, &[a, ct]))]);
        }
        // The factors are shifted by one step. The first factor of the reverse direction is not
        // used.
        let (mut low, mut high) = (vec![0; cx.ty(a).rank()], vec![0; cx.ty(a).rank()]);
        let by = if self.reverse { 1 } else { -1 };
        (low[self.axis], high[self.axis]) = (by, -by);
        let none = vec![0; low.len()];
        let moved = if cx.ty(a).shape[self.axis].is(0) {
            a
        } else {
            cx.pad_zeros(a, &low, &high, &none)
        };
        Ok(vec![None, Some(cx.op(back, &[moved, ct]))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(
            cx,
            LinearRecurrence {
                axis: self.axis + 1,
                ..*self
            },
            size,
            x,
        )
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(2.0, x, y)
    }

    fn kink(&self) -> Option<Kink> {
        matches!(self.factors, Factors::Shares { .. }).then_some(Kink::Mean)
    }

    fn one_sided(&self, cx: &dyn Emit, x: &mut [Option<Val>]) -> Op {
        x[0] = x[0].map(|a| cx.sided(&self.side(), a));
        self.at_one_side().into()
    }

    fn turned(&self) -> Op {
        let factors = match self.factors {
            Factors::Shares { earlier } => Factors::Shares { earlier: !earlier },
            factors => factors,
        };
        LinearRecurrence { factors, ..*self }.into()
    }
}

impl dyn Emit + '_ {
    /// `y[k] = a[k] y[k-1] + b[k]` along an axis.
    pub fn linear_recurrence(&self, a: Val, b: Val, of: LinearRecurrence) -> Val {
        self.op(of, &[a, b])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let mut flag = |name: &str| Ok(s.attrs.opt(name)?.unwrap_or(false));
    let (reverse, exclusive) = (flag("reverse")?, flag("exclusive")?);
    let word: Option<String> = s.attrs.opt("factors")?;
    let factors = match word.as_deref() {
        None => Factors::Any,
        Some("strong") => Factors::Strong,
        Some("earlier") => Factors::Shares { earlier: true },
        Some("later") => Factors::Shares { earlier: false },
        Some(w) => bail!(
            Attribute,
            "`linear_recurrence` has no `factors` = {w}; there are strong, earlier, later"
        ),
    };
    Ok(LinearRecurrence {
        axis: take_axis(s)?,
        reverse,
        exclusive,
        factors,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let cases = [
        (DType::F64, vec![2, 4], 1),
        (DType::F32, vec![3, 2], 0),
        (DType::C128, vec![4], 0),
    ];
    let mut out: Vec<Sample> = Vec::new();
    for (dtype, shape, axis) in cases {
        for (reverse, exclusive) in [(false, false), (false, true), (true, false), (true, true)] {
            for factors in [Factors::Any, Factors::Strong] {
                let op = LinearRecurrence {
                    axis,
                    reverse,
                    exclusive,
                    factors,
                };
                out.push(Sample::new(
                    op,
                    vec![
                        sample_array(dtype, &shape, 1),
                        sample_array(dtype, &shape, 9),
                    ],
                ));
            }
        }
    }
    let a = Array::vector(vec![1.0, 0.5, 0.0, 1.0, 0.5]);
    let b = Array::vector(vec![1.5, f64::INFINITY, -1.0, 0.0, 2.0]);
    for (factors, exclusive) in [
        (Factors::Strong, true),
        (Factors::Shares { earlier: true }, false),
        (Factors::Shares { earlier: false }, true),
    ] {
        let op = LinearRecurrence {
            axis: 0,
            reverse: exclusive,
            exclusive,
            factors,
        };
        out.push(Sample::rough(op, vec![a.clone(), b.clone()]));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "y[k] = a[k] y[k-1] + b[k] along an axis; exclusive: the state before each step, from zero.";
    vec![Entry {
        name: "linear_recurrence",
        doc,
        parse,
        samples,
    }]
}
