//! `argmax`, `argmin`: the position of the extremum along an axis. The first of equal elements is
//! chosen. If there is a NaN, the first NaN is chosen.

use super::entry::{Entry, Spelled, arity};
use super::support::{check_axis, cost_per_element, lines, mapped, sample_array, take_axis};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};

/// The position of the extremum along an axis. The axis is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgReduce {
    /// Whether it is the position of the minimum.
    pub min: bool,
    /// The axis.
    pub axis: usize,
    /// The element type of the result, an integer.
    pub dtype: DType,
}

/// Position of the first extremum in the order `better`.
fn best<T: Copy>(v: &[T], better: impl Fn(T, T) -> bool) -> i128 {
    let mut at = 0;
    for (i, &x) in v.iter().enumerate() {
        if better(x, v[at]) {
            at = i;
        }
    }
    at as i128
}

impl Primitive for ArgReduce {
    fn name(&self) -> &str {
        if self.min { "argmin" } else { "argmax" }
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("axis", self.axis).with_if(
            self.dtype != DType::I64,
            "dtype",
            self.dtype,
        )
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        check_axis(self, &x[0], self.axis)?;
        if x[0].dtype.is_complex() {
            bail!(
                DTypeMismatch,
                "`{}` is not defined on {}: complex numbers have no order",
                self.name(),
                x[0].dtype
            );
        }
        if !self.dtype.is_int() {
            bail!(
                Attribute,
                "`{}`: `dtype` must be an integer type, got {}",
                self.name(),
                self.dtype
            );
        }
        if x[0].shape[self.axis].is(0) {
            bail!(
                ShapeMismatch,
                "`{}` over axis {} of {}: no elements have no extremum",
                self.name(),
                self.axis,
                x[0]
            );
        }
        let kept = (0..x[0].rank())
            .filter(|&a| a != self.axis)
            .map(|a| x[0].shape[a].clone());
        Ok(vec![Type::new(self.dtype, kept.collect::<Vec<_>>())])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let from = x[0].shape();
        let (wide, min) = (x[0].wide(), self.min);
        let positions = lines(from, self.axis, false)
            .map(|line| match wide.pick(line) {
                Wide::F(v) => best(&v, |a, b| {
                    !b.is_nan() && (a.is_nan() || if min { a < b } else { a > b })
                }),
                Wide::I(v) => best(&v, |a, b| if min { a < b } else { a > b }),
                Wide::C(_) => unreachable!("the type rule admits no complex numbers"),
            })
            .collect();
        let kept: Vec<usize> = (0..from.len())
            .filter(|&a| a != self.axis)
            .map(|a| from[a])
            .collect();
        Ok(vec![Wide::I(positions).narrow(self.dtype, kept)?])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(*self, x), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.op(
            ArgReduce {
                axis: self.axis + 1,
                ..*self
            },
            &[x[0].val],
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, &[x, y].concat())
    }
}

impl dyn Emit + '_ {
    /// The position of the maximum along an axis, as `i64`.
    pub fn argmax(&self, x: Val, axis: usize) -> Val {
        self.op(
            ArgReduce {
                min: false,
                axis,
                dtype: DType::I64,
            },
            &[x],
        )
    }

    /// The position of the minimum along an axis, as `i64`.
    pub fn argmin(&self, x: Val, axis: usize) -> Val {
        self.op(
            ArgReduce {
                min: true,
                axis,
                dtype: DType::I64,
            },
            &[x],
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let dtype = s.attrs.opt("dtype")?.unwrap_or(DType::I64);
    Ok(ArgReduce {
        min: s.name == "argmin",
        axis: take_axis(s)?,
        dtype,
    }
    .into())
}

fn samples(name: &str) -> Vec<Sample> {
    let of = |axis, dtype| ArgReduce {
        min: name == "argmin",
        axis,
        dtype,
    };
    let nan = Array::vector(vec![1.0f64, f64::NAN, 3.0]);
    vec![
        Sample::new(
            of(1, DType::I64),
            vec![sample_array(DType::F64, &[2, 3], 0)],
        ),
        Sample::new(
            of(0, DType::I32),
            vec![sample_array(DType::F32, &[3, 2], 0)],
        ),
        Sample::new(
            of(1, DType::U8),
            vec![sample_array(DType::I32, &[2, 3, 2], 0)],
        ),
        Sample::new(of(0, DType::I64), vec![sample_array(DType::Bool, &[4], 0)]),
        Sample::rough(of(0, DType::I64), vec![nan]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let max = "Position of the maximum along an axis, which is removed: the first of equal elements, or the first NaN.";
    let min = "Position of the minimum along an axis, which is removed: the first of equal elements, or the first NaN.";
    vec![
        Entry {
            name: "argmax",
            doc: max,
            parse,
            samples,
        },
        Entry {
            name: "argmin",
            doc: min,
            parse,
            samples,
        },
    ]
}
