//! `select`: `y = p ? a : b`, elementwise. A scalar predicate applies to all elements.
//!
//! ```text
//! dy = p ? da : db,    ct_a = p ? ct : 0,    ct_b = p ? 0 : ct
//! ```
//! Linear in `(a, b)` together. The tangent of a side without one is an explicit zero.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element, mapped, same_shape};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, ShiftRule, Val,
    no_rule,
};
use crate::shape::{Dim, Env, Type};

/// `select(p, a, b)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Select;

impl Primitive for Select {
    fn name(&self) -> &str {
        "select"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 3)?;
        if x[0].dtype != DType::Bool {
            bail!(
                DTypeMismatch,
                "`select` needs a predicate of type i1, got {}; compare it with something",
                x[0]
            );
        }
        if x[1].dtype != x[2].dtype {
            bail!(
                DTypeMismatch,
                "`select` needs sides of one element type, got {} and {}; convert one",
                x[1],
                x[2]
            );
        }
        let sides = same_shape(self, &x[1..])?;
        if x[0].rank() == 0 {
            return Ok(vec![sides.clone()]);
        }
        Ok(vec![
            same_shape(self, &[x[0].with_dtype(sides.dtype), sides.clone()])?.clone(),
        ])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        fn pick<T: Copy>(p: impl Iterator<Item = bool>, a: &[T], b: &[T]) -> Vec<T> {
            p.zip(a.iter().zip(b))
                .map(|(p, (&a, &b))| if p { a } else { b })
                .collect()
        }
        let p = x[0].as_slice::<bool>().unwrap_or(&[]);
        let all = x[0].shape().is_empty();
        let p = (0..x[1].len()).map(|i| p[if all { 0 } else { i }]);
        let y = match (x[1].wide(), x[2].wide()) {
            (Wide::F(a), Wide::F(b)) => Wide::F(pick(p, &a, &b)),
            (Wide::C(a), Wide::C(b)) => Wide::C(pick(p, &a, &b)),
            (Wide::I(a), Wide::I(b)) => Wide::I(pick(p, &a, &b)),
            _ => unreachable!("the type rule makes both element types one"),
        };
        Ok(vec![y.narrow(x[1].dtype(), x[1].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        Some(ShiftRule::Choose)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && mask[1] && mask[2]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let dy = cx.lselect(x[0], cx.or_zeros(t[1], x[1]), cx.or_zeros(t[2], x[2]));
        Ok(cx.one(y, Some(dy)))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(p), Some(ct)) = (&x[0], ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        let zero = cx.zeros(&cx.ty(ct));
        let side = |k: usize| {
            x[k].is_linear().then(|| {
                if k == 1 {
                    cx.select(*p, ct, zero)
                } else {
                    cx.select(*p, zero, ct)
                }
            })
        };
        Ok(vec![None, side(1), side(2)])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        if cx.ty(x[0].val).rank() > usize::from(x[0].mapped) {
            return batch_leading(cx, *self, size, x);
        }
        // A scalar predicate stays a scalar, or becomes one per batch element, broadcast over its
        // elements.
        let a = cx.replicate(x[1], size).val;
        let b = cx.replicate(x[2], size).val;
        let p = if x[0].mapped {
            cx.broadcast_in_dim(x[0].val, &cx.ty(a).shape, &[0])
        } else {
            x[0].val
        };
        mapped(cx.select(p, a, b))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `p ? a : b`, elementwise; `p` has the shape of the sides or rank 0.
    pub fn select(&self, p: Val, a: Val, b: Val) -> Val {
        self.op(Select, &[p, a, b])
    }
}

impl Lin<'_> {
    /// `p ? a : b` of tangents.
    pub fn lselect(&self, p: Val, a: Lv, b: Lv) -> Lv {
        self.apply1(Select, &[p.into(), a.into(), b.into()])
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Select.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let p = Array::vector(vec![true, false, true, false]);
    let mut out: Vec<Sample> = DType::ALL
        .into_iter()
        .map(|t| {
            let side = |v: [f64; 4]| {
                let wide = match t.kind() {
                    crate::dtype::Kind::Float => Wide::F(v.to_vec()),
                    crate::dtype::Kind::Complex => {
                        Wide::C(v.map(|x| C128::new(x, 1.0 - x)).to_vec())
                    }
                    _ => Wide::I(v.map(|x| x as i128).to_vec()),
                };
                wide.narrow(t, [4]).expect("four elements")
            };
            Sample::new(
                Select,
                vec![
                    p.clone(),
                    side([1.5, 2.0, -3.0, 0.0]),
                    side([0.5, -1.0, 4.0, 1.0]),
                ],
            )
        })
        .collect();
    let (a, b) = (
        Array::vector(vec![1.5f64, -0.5]),
        Array::vector(vec![0.25f64, 3.0]),
    );
    out.push(Sample::new(
        Select,
        vec![Array::scalar(true), a.clone(), b.clone()],
    ));
    out.push(Sample::new(Select, vec![Array::scalar(false), a, b]));
    out
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "select",
        doc: "p ? a : b, elementwise; a scalar predicate p applies to all elements.",
        parse,
        samples,
    }]
}
