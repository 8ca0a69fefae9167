//! `sort`: sorts operands along an axis by the first ones.
//!
//! The sort is stable, `-0` equals `+0`, and NaN comes last in both directions, so the permutation
//! is unique. The derivative applies the same permutation to the tangents, also at ties.

use super::Gather;
use super::entry::{Entry, Spelled};
use super::support::{batch_leading, count, lines, same_shape, sample_array, take_axis};
use super::windows::{Bounds, Windows};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::support::{bytes, check_axis};
use crate::shape::{Dim, Env, Type};
use std::cmp::Ordering;

/// Sorts all operands by the same permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// The axis.
    pub axis: usize,
    /// Number of operands.
    pub operands: usize,
    /// Number of leading operands that are sort keys, in lexicographic order.
    pub num_keys: usize,
    /// Whether the order is descending.
    pub descending: bool,
}

/// The order of two keys. NaN comes last.
fn order<T: PartialOrd>(a: &T, b: &T, descending: bool) -> Ordering {
    match a.partial_cmp(b) {
        Some(o) if descending => o.reverse(),
        Some(o) => o,
        // Only NaN differs from itself.
        #[allow(clippy::eq_op)]
        None => (a != a).cmp(&(b != b)),
    }
}

impl Sort {
    fn compare(&self, keys: &[Wide], a: usize, b: usize) -> Ordering {
        keys.iter().fold(Ordering::Equal, |o, key| {
            o.then_with(|| match key {
                Wide::F(v) => order(&v[a], &v[b], self.descending),
                Wide::I(v) => order(&v[a], &v[b], self.descending),
                Wide::C(_) => unreachable!("the type rule admits no complex keys"),
            })
        })
    }

    /// The gather that permutes every line by its indices.
    fn permutation(&self, rank: usize) -> Gather {
        let others: Vec<usize> = (0..rank).filter(|&k| k != self.axis).collect();
        let windows = Windows {
            collapsed: vec![self.axis],
            operand_batch: others.clone(),
            index_batch: others,
            axes: vec![self.axis],
            vector: rank,
            ..Windows::default()
        };
        Gather {
            windows,
            sizes: vec![Dim::Const(1); rank],
            bounds: Bounds::Clip,
        }
    }
}

impl Primitive for Sort {
    fn name(&self) -> &str {
        "sort"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("axis", self.axis)
            .with_if(self.num_keys != 1, "num_keys", self.num_keys)
            .with_if(self.descending, "descending", true)
    }

    fn results(&self) -> usize {
        self.operands
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if x.len() != self.operands || x.is_empty() {
            bail!(
                Arity,
                "this `sort` takes {} operands, got {}",
                self.operands.max(1),
                x.len()
            );
        }
        if self.num_keys == 0 || self.num_keys > x.len() {
            bail!(
                Attribute,
                "`sort` of {} operands cannot have {} keys",
                x.len(),
                self.num_keys
            );
        }
        if let Some(t) = x[..self.num_keys].iter().find(|t| t.dtype.is_complex()) {
            bail!(
                DTypeMismatch,
                "`sort` cannot have a key of type {t}: complex numbers have no order"
            );
        }
        check_axis(self, &x[0], self.axis)?;
        let shape = same_shape(self, x)?.shape.clone();
        Ok(x.iter().map(|t| t.with_shape(shape.clone())).collect())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let wide: Vec<Wide> = x.iter().map(Array::wide).collect();
        let shape = x[0].shape();
        let mut from = vec![0; x[0].len()];
        for (to, line) in lines(shape, self.axis, false).zip(lines(shape, self.axis, false)) {
            let mut sorted: Vec<usize> = line.collect();
            sorted.sort_by(|&a, &b| self.compare(&wide[..self.num_keys], a, b));
            for (to, s) in to.zip(sorted) {
                from[to] = s;
            }
        }
        wide.iter()
            .zip(x)
            .map(|(w, x)| w.pick(from.iter().copied()).narrow(x.dtype(), shape))
            .collect()
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let ty = cx.ty(x[0]);
        let position = cx.iota(&ty.with_dtype(DType::I64), self.axis);
        let with = Sort {
            operands: self.operands + 1,
            ..*self
        };
        let mut y = cx.emit().emit(with.into(), &[x, &[position]].concat());
        let from = y.pop().expect("one result per operand");
        let permute = self.permutation(ty.rank());
        let dy = t
            .iter()
            .map(|t| t.map(|t| cx.apply1(permute.clone(), &[t.into(), from.into()])));
        Ok((y, dy.collect()))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(
            cx,
            Sort {
                axis: self.axis + 1,
                ..*self
            },
            size,
            x,
        )
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape[self.axis].as_const().unwrap_or(1).max(2) as f64;
        Cost {
            flops: count(&x[0]) * n.log2(),
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// `x` sorted along an axis.
    pub fn sort(&self, x: Val, axis: usize, descending: bool) -> Val {
        self.op(
            Sort {
                axis,
                operands: 1,
                num_keys: 1,
                descending,
            },
            &[x],
        )
    }

    /// Sorts all of `x` along an axis by the first `num_keys` of them.
    pub fn sort_by(&self, x: &[Val], axis: usize, num_keys: usize, descending: bool) -> Vals {
        self.emit(
            Sort {
                axis,
                operands: x.len(),
                num_keys,
                descending,
            }
            .into(),
            x,
        )
    }

    /// The permutation, as `i64`, that sorts `x`: `sort(x)[i] = x[argsort(x)[i]]`.
    pub fn argsort(&self, x: Val, axis: usize, descending: bool) -> Val {
        let ty = self.ty(x).with_dtype(DType::I64);
        if axis >= ty.rank() {
            // The sort reports the error.
            return self.sort(x, axis, descending);
        }
        self.sort_by(
            &[self.stop_gradient(x), self.iota(&ty, axis)],
            axis,
            1,
            descending,
        )[1]
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let num_keys = s.attrs.opt("num_keys")?.unwrap_or(1);
    let descending = s.attrs.opt("descending")?.unwrap_or(false);
    Ok(Sort {
        axis: take_axis(s)?,
        operands: s.operands.len(),
        num_keys,
        descending,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let of = |axis, operands, num_keys, descending| Sort {
        axis,
        operands,
        num_keys,
        descending,
    };
    let few = |v: &[i32]| Array::vector(v.to_vec());
    vec![
        Sample::new(
            of(1, 1, 1, false),
            vec![sample_array(DType::F64, &[2, 4], 0)],
        ),
        Sample::new(
            of(0, 1, 1, true),
            vec![sample_array(DType::F32, &[4, 2], 0)],
        ),
        Sample::new(
            of(0, 2, 1, false),
            vec![
                sample_array(DType::F64, &[5], 0),
                sample_array(DType::C128, &[5], 0),
            ],
        ),
        Sample::new(
            of(0, 2, 1, true),
            vec![few(&[2, 1, 2, 0]), sample_array(DType::F64, &[4], 0)],
        ),
        Sample::new(
            of(0, 2, 2, false),
            vec![few(&[2, 1, 2, 0]), few(&[4, 3, 1, 2])],
        ),
        Sample::new(of(0, 1, 1, false), vec![sample_array(DType::Bool, &[4], 0)]),
        Sample::new(
            of(0, 1, 1, false),
            vec![sample_array(DType::F64, &[0, 2], 0)],
        ),
        Sample::rough(
            of(0, 1, 1, true),
            vec![Array::vector(vec![-0.0f64, f64::NAN, 0.0, 1.0])],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Sorts all operands along an axis by the first `num_keys` of them: stable, NaN last.";
    vec![Entry {
        name: "sort",
        doc,
        parse,
        samples,
    }]
}
