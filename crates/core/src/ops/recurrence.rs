//! `linear_recurrence`: `y[k] = a[k] y[k-1] + b[k]` along an axis.
//!
//! Every running operation is differentiated through it: if `y[k] = f(y[k-1], x[k])`, then
//! `dy[k] = f_1 dy[k-1] + f_2 dx[k]`, in linear time and without a division. It is linear in `b`, and closed under both
//! rules. Let `R` be the recurrence and `E` the exclusive one, `E[k] = R[k-1]`, which starts from zero:
//!
//! ```text
//! dR = R(a, da E + db)      Rᵀ(ct) = ct + E⁻(ā, ā ct)
//! dE = E(a, da E + db)      Eᵀ(ct) = E⁻(ā, ct)             E⁻: in the other direction
//! ```

use super::support::{batch_elementwise, check_axis, cost_per_element, lines, same_shape, sample_array, take_axis};
use super::{Entry, Op, Spelled, arity};
use crate::array::{Array, Wide};
use crate::attr::Attrs;
use crate::bail;
use crate::dtype::DType;
use crate::emit::Emit;
use crate::error::Result;
use crate::primitive::{Arg, Batched, Cost, Linearized, Primitive, Sample, Val, no_rule};
use crate::shape::{Dim, Env, Type};
use crate::transform::{Lin, Lv};
use std::ops::{Add, Mul};

/// A linear recurrence along an axis, of operands `a`, `b`. The first factor `a[0]` is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinearRecurrence {
    /// The axis.
    pub axis: usize,
    /// From the last element to the first.
    pub reverse: bool,
    /// The state before each step, not after it; before the first it is zero.
    pub exclusive: bool,
}

impl LinearRecurrence {
    fn run<T: Copy + Mul<Output = T> + Add<Output = T>>(&self, a: &[T], b: &[T], shape: &[usize], zero: T) -> Vec<T> {
        let mut y = vec![zero; b.len()];
        for line in lines(shape, self.axis, self.reverse) {
            let mut state = None;
            for i in line {
                let next = state.map_or(b[i], |s| a[i] * s + b[i]);
                y[i] = if self.exclusive { state.unwrap_or(zero) } else { next };
                state = Some(next);
            }
        }
        y
    }
}

impl Primitive for LinearRecurrence {
    fn name(&self) -> &str {
        "linear_recurrence"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("axis", self.axis).with_if(self.reverse, "reverse", true).with_if(
            self.exclusive,
            "exclusive",
            true,
        )
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
        check_axis(self, &x[0], self.axis)?;
        Ok(vec![same_shape(self, x)?.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let shape = x[0].shape();
        let y = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => Wide::F(self.run(&a, &b, shape, 0.0)),
            (Wide::C(a), Wide::C(b)) => Wide::C(self.run(&a, &b, shape, crate::C128::ZERO)),
            _ => unreachable!("the type rule admits no integers"),
        };
        Ok(vec![y.narrow(x[0].dtype(), shape)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let da = t[0].map(|t| {
            let before = if self.exclusive { y } else { cx.op(LinearRecurrence { exclusive: true, ..*self }, x) };
            cx.scale(before, t)
        });
        let dy = cx.sum_opt(da, t[1]).map(|b| cx.apply1(*self, &[x[0].into(), b.into()]));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(a), Some(ct)) = (&x[0], ct[0]) else { return Err(no_rule(self, "transpose")) };
        let a = cx.conj(*a);
        let back = LinearRecurrence { reverse: !self.reverse, exclusive: true, ..*self };
        Ok(vec![
            None,
            Some(match self.exclusive {
                true => cx.op(back, &[a, ct]),
                false => cx.add(ct, cx.op(back, &[a, cx.mul(a, ct)])),
            }),
        ])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_elementwise(cx, LinearRecurrence { axis: self.axis + 1, ..*self }, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(2.0, x, y)
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
    Ok(LinearRecurrence { axis: take_axis(s)?, reverse, exclusive }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let cases = [(DType::F64, vec![2, 4], 1), (DType::F32, vec![3, 2], 0), (DType::C128, vec![4], 0)];
    let mut out: Vec<Sample> = Vec::new();
    for (dtype, shape, axis) in cases {
        for (reverse, exclusive) in [(false, false), (false, true), (true, false), (true, true)] {
            let op = LinearRecurrence { axis, reverse, exclusive };
            out.push(Sample::new(op, vec![sample_array(dtype, &shape, 1), sample_array(dtype, &shape, 9)]));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "y[k] = a[k] y[k-1] + b[k] along an axis; exclusive: the state before each step, from zero.";
    vec![Entry { name: "linear_recurrence", doc, parse, samples }]
}
