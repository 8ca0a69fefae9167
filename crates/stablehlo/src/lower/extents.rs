//! Integers that are extents: what `get_dimension_size` gives, computed with and put together, is read back as
//! dimensions, so that dynamic shapes become symbolic ones.

use super::frame::Frame;
use cotangent_core::ops::{Binary, Value};
use cotangent_core::{Dim, Op, Scalar, Val};

/// How far definitions are followed.
const DEPTH: usize = 48;
/// Shapes have at most so many axes here.
const LONG: usize = 64;

/// What an operation is to the extents that go through it.
enum Step {
    Known(Vec<Dim>),
    Same,
    Joined,
    Taken(usize, usize, usize),
    Repeated(usize),
    Computed(Binary),
}

impl Frame<'_> {
    /// The elements of an integer value of rank 0 or 1 as dimensions, if they are such.
    pub fn extents(&self, v: Val) -> Option<Vec<Dim>> {
        self.follow(v, DEPTH)
    }

    fn follow(&self, v: Val, depth: usize) -> Option<Vec<Dim>> {
        let ty = self.cx().ty(v);
        let n = ty.shape.numel().as_const().filter(|&n| n <= LONG)?;
        if depth == 0 || !ty.dtype.is_int() || ty.rank() > 1 {
            return None;
        }
        let (step, x) = self.with_def(v, |op, x| (step(op, n), x.to_vec()))?;
        let of = |k: usize| self.follow(*x.get(k)?, depth - 1);
        match step? {
            Step::Known(d) => Some(d),
            Step::Same => of(0),
            Step::Joined => (0..x.len()).map(of).collect::<Option<Vec<_>>>().map(|parts| parts.concat()),
            Step::Taken(from, to, by) => Some(of(0)?.get(from..to)?.iter().step_by(by).cloned().collect()),
            Step::Repeated(n) => match &of(0)?[..] {
                [d] => Some(vec![d.clone(); n]),
                d if d.len() == n => Some(d.to_vec()),
                _ => None,
            },
            Step::Computed(b) => of(0)?.into_iter().zip(of(1)?).map(|(a, c)| compute(b, a, c)).collect(),
        }
    }
}

fn step(op: &Op, n: usize) -> Option<Step> {
    let number = |s: Scalar| if let Scalar::I(i) = s { usize::try_from(i).ok().map(Dim::Const) } else { None };
    Some(match op {
        Op::Constant(c) => Step::Known(match &c.value {
            Value::Splat(s) => vec![number(*s)?; n],
            Value::Extent(d) => vec![d.clone(); n],
            Value::Dense(a) => match a.wide() {
                cotangent_core::Wide::I(v) => v.into_iter().map(|i| number(Scalar::I(i))).collect::<Option<_>>()?,
                _ => return None,
            },
        }),
        Op::Convert(_) | Op::Reshape(_) => Step::Same,
        Op::Concatenate(_) => Step::Joined,
        Op::BroadcastInDim(_) => Step::Repeated(n),
        Op::Slice(s) => match (&s.start[..], &s.limit[..], &s.stride[..]) {
            ([a], [b], [by]) => Step::Taken(a.as_const()?, b.as_const()?, *by),
            _ => return None,
        },
        Op::Binary(b) => Step::Computed(*b),
        _ => return None,
    })
}

fn compute(op: Binary, a: Dim, b: Dim) -> Option<Dim> {
    Some(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a.floor_div(b.as_const().filter(|&d| d > 0)?),
        Binary::Max if a.same(&b)? => a,
        Binary::Max => match (a.as_const(), b.as_const()) {
            (Some(x), Some(y)) => Dim::Const(x.max(y)),
            _ => return None,
        },
        _ => return None,
    })
}
