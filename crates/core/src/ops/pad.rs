//! `pad`: elements added at the ends of every axis and between its elements.
//!
//! ```text
//! y[low + i * (interior + 1)] = x[i],    the padding value (0 without one) elsewhere
//! ```
//! Negative `low` and `high` remove elements. With one operand the padding is zero, and the
//! operation is linear in it. With a padding value it is linear in both operands together. The
//! adjoint slices.

use super::entry::{Entry, Spelled};
use super::moving::{overlay_all, padded, places, prepend};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::for_dtype;
use crate::ir::{Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val};
use crate::shape::{Dim, Env, Shape, Type};

/// Padding of every axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pad {
    /// Elements added (negative: removed) before the first.
    pub low: Vec<i64>,
    /// Elements added (negative: removed) after the last.
    pub high: Vec<i64>,
    /// Elements added between each two.
    pub interior: Vec<usize>,
}

impl Pad {
    /// Whether nothing is added to any axis, or removed.
    pub(super) fn is_none(&self) -> bool {
        let mut edges = self.low.iter().chain(&self.high);
        edges.all(|&p| p == 0) && self.interior.iter().all(|&p| p == 0)
    }
}

impl Pad {
    fn shape(&self, x: &Type) -> Result<Shape> {
        let extent = |(k, n): (usize, &Dim)| {
            padded(n, self.low[k], self.high[k], self.interior[k])
                .map_err(|e| e.note(format!("in `pad` of axis {k} of {x}")))
        };
        x.shape.iter().enumerate().map(extent).collect()
    }

    /// True at elements of the operand, false at padding.
    fn mask(&self, cx: &dyn Emit, shape: &Shape) -> Val {
        let yes = cx.full(&Type::new(DType::Bool, shape.clone()), true);
        cx.pad_zeros(yes, &self.low, &self.high, &self.interior)
    }
}

impl Primitive for Pad {
    fn name(&self) -> &str {
        "pad"
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default()
            .with("low", &self.low)
            .with("high", &self.high);
        a.with_if(
            self.interior.iter().any(|&i| i != 0),
            "interior",
            &self.interior,
        )
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if x.is_empty() || x.len() > 2 {
            bail!(
                Arity,
                "`pad` takes an operand and perhaps a padding value, got {} operands",
                x.len()
            );
        }
        if let Some(v) = x.get(1).filter(|v| v.rank() != 0 || v.dtype != x[0].dtype) {
            bail!(
                ShapeMismatch,
                "`pad` of {} needs a padding value of type {}[], got {v}",
                x[0],
                x[0].dtype
            );
        }
        for (name, n) in [
            ("low", self.low.len()),
            ("high", self.high.len()),
            ("interior", self.interior.len()),
        ] {
            if n != x[0].rank() {
                bail!(
                    Attribute,
                    "`pad`: `{name}` has {n} entries for the {} axes of {}",
                    x[0].rank(),
                    x[0]
                );
            }
        }
        Ok(vec![x[0].with_shape(self.shape(&x[0])?)])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let shape = self.shape(&x[0].ty())?.eval(env)?;
        let base = for_dtype!(x[0].dtype(), T => {
            let value = x.get(1).and_then(|v| v.as_slice::<T>()).map_or(T::default(), |v| v[0]);
            Array::full(shape.clone(), value)?
        });
        let to = places(x[0].shape(), &shape, |k, i| {
            let p = i128::from(self.low[k]) + i as i128 * (self.interior[k] as i128 + 1);
            usize::try_from(p).ok().filter(|&p| p < shape[k])
        });
        Ok(vec![overlay_all(base, &x[0], to)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask.iter().all(|m| *m)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        let dx = cx.or_zeros(t[0], x[0]);
        Ok(cx.one(
            y,
            Some(match t.get(1) {
                Some(Some(dv)) => cx.apply1(self.clone(), &[dx.into(), (*dv).into()]),
                _ => cx.apply1(self.clone(), &[dx.into()]),
            }),
        ))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) else {
            return Ok(vec![None; x.len()]);
        };
        // Removed elements become zeros, added ones are removed.
        let cut = |v: &[i64]| {
            v.iter()
                .map(|l| l.saturating_neg().max(0))
                .collect::<Vec<_>>()
        };
        let back = cx.pad_zeros(ct, &cut(&self.low), &cut(&self.high), &vec![0; ty.rank()]);
        let added = |v: i64| Dim::Const(v.max(0) as usize);
        let start: Vec<Dim> = self.low.iter().map(|&l| added(l)).collect();
        let all = cx.ty(back).shape;
        let limit: Vec<Dim> = self
            .high
            .iter()
            .zip(all.iter())
            .map(|(&h, n)| n.clone() - added(h))
            .collect();
        let stride: Vec<usize> = self.interior.iter().map(|i| i.saturating_add(1)).collect();
        let ct_x = cx.reshape(cx.slice(back, &start, &limit, &stride), &ty.shape);
        let ct_value = x.get(1).map(|_| {
            let rest = cx.select(self.mask(cx, &ty.shape), cx.zeros(&cx.ty(ct)), ct);
            cx.reduce_sum(rest, &(0..ty.rank()).collect::<Vec<_>>())
        });
        Ok(std::iter::once(Some(ct_x))
            .chain(x.get(1).map(|_| ct_value))
            .collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let op = Pad {
            low: prepend(0, &self.low),
            high: prepend(0, &self.high),
            interior: prepend(0, &self.interior),
        };
        match x.get(1).filter(|v| v.mapped) {
            None => {
                let x: Vec<Val> = x.iter().map(|b| b.val).collect();
                mapped(cx.op(op, &x))
            }
            // A padding value per batch element: pads with zeros first, then selects the values at
            // the padding.
            Some(value) => {
                let x = cx.replicate(x[0], size).val;
                let y = cx.op(op.clone(), &[x]);
                let value = cx.broadcast_in_dim(value.val, &cx.ty(y).shape, &[0]);
                mapped(cx.select(op.mask(cx, &cx.ty(x).shape), y, value))
            }
        }
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// `x` with the scalar `value` around and between its elements.
    pub fn pad(&self, x: Val, value: Val, low: &[i64], high: &[i64], interior: &[usize]) -> Val {
        self.op(
            Pad {
                low: low.to_vec(),
                high: high.to_vec(),
                interior: interior.to_vec(),
            },
            &[x, value],
        )
    }

    /// `x` with zeros around and between its elements. Writes no operation if none are added.
    pub fn pad_zeros(&self, x: Val, low: &[i64], high: &[i64], interior: &[usize]) -> Val {
        let rank = self.ty(x).rank();
        let pad = Pad {
            low: low.to_vec(),
            high: high.to_vec(),
            interior: interior.to_vec(),
        };
        let whole = [low.len(), high.len(), interior.len()] == [rank; 3];
        match whole && pad.is_none() {
            true => x,
            false => self.op(pad, &[x]),
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let low: Vec<i64> = s.attrs.get("low")?;
    let interior = s
        .attrs
        .opt("interior")?
        .unwrap_or_else(|| vec![0; low.len()]);
    Ok(Pad {
        low,
        high: s.attrs.get("high")?,
        interior,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let p = |low: &[i64], high: &[i64], interior: &[usize], dtype, shape: &[usize], value: bool| {
        let op = Pad {
            low: low.to_vec(),
            high: high.to_vec(),
            interior: interior.to_vec(),
        };
        let x = sample_array(dtype, shape, 0);
        let value = value.then(|| sample_array(dtype, &[], 50));
        Sample::new(op, std::iter::once(x).chain(value).collect())
    };
    vec![
        p(&[1], &[2], &[0], F64, &[3], true),
        p(&[1, -1], &[0, 2], &[0, 1], F64, &[2, 3], true),
        p(&[-1, 0], &[-1, 3], &[2, 0], F64, &[3, 2], false),
        p(&[-4], &[2], &[0], F64, &[3], true),
        p(&[0], &[1], &[1], F32, &[3], false),
        p(&[2], &[-1], &[1], C128, &[2], true),
        p(&[1], &[1], &[0], I32, &[2], true),
        p(&[0], &[2], &[0], Bool, &[2], false),
        p(&[2, 1], &[1, 0], &[3, 0], F64, &[0, 2], true),
        p(&[], &[], &[], F64, &[], true),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Elements added around and between: y[low + i * (interior + 1)] = x[i]; zeros, or a second operand.";
    vec![Entry {
        name: "pad",
        doc,
        parse,
        samples,
    }]
}
