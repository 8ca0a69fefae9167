//! Random numbers of the text form: functions of a key, which is their first operand.
//!
//! Shape and element type are given by attributes (`shape`, `dtype`) or by the type after the
//! colon.

use super::entry::{Composite, operands};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Emit, Val};
use crate::ops::entry::Spelled;
use crate::ops::support::take_axis;
use crate::shape::{Dim, Type};

pub(super) static SAMPLERS: &[Composite] = &[
    Composite {
        name: "random_key",
        doc: "The key of a `seed`: u32[2], the first operand of random operations.",
        build: |cx, s, x| {
            let ([], seed) = (operands(s, x)?, s.attrs.get::<i64>("seed")?);
            Ok(vec![cx.random_key(seed as u64)])
        },
    },
    Composite {
        name: "random_split",
        doc: "`n` keys (or keys of a `shape`) that are independent of each other and of the key: u32[n, 2].",
        build: |cx, s, x| {
            let ([key], n) = (operands(s, x)?, s.attrs.opt::<Dim>("n")?);
            let written = s
                .results
                .and_then(|r| r.first())
                .map(|t| t.shape[..t.rank().saturating_sub(1)].to_vec());
            match n.map(|n| vec![n]).or(s.attrs.opt("shape")?).or(written) {
                Some(shape) => Ok(vec![cx.random_split(key, &shape)]),
                None => bail!(
                    Attribute,
                    "`random_split` needs a number of keys: {{n = 2}}"
                ),
            }
        },
    },
    Composite {
        name: "random_fold_in",
        doc: "A key derived from a key and a number (u32), for example of a step or a layer.",
        build: |cx, s, x| operands(s, x).map(|[key, number]| vec![cx.random_fold_in(key, number)]),
    },
    Composite {
        name: "random_bits",
        doc: "Random bits as an unsigned integer type.",
        build: |cx, s, x| {
            let ([key], RandomType { shape, dtype }) =
                (operands(s, x)?, RandomType::take(s, None)?);
            Ok(vec![cx.random_bits(key, &shape, dtype)])
        },
    },
    Composite {
        name: "random_uniform",
        doc: "Uniform numbers in [0, 1), or in [lo, hi) for operands lo and hi, which are broadcast to the shape.",
        build: |cx, s, x| match *x {
            [key] => {
                let RandomType { shape, dtype } = RandomType::take(s, None)?;
                let bound = |c: f64| cx.full(&Type::scalar(dtype), c);
                Ok(vec![cx.random_uniform(key, &shape, bound(0.0), bound(1.0))])
            }
            [key, lo, hi] => {
                let RandomType { shape, dtype } = RandomType::take(s, Some(cx.ty(lo)))?;
                Ok(vec![cx.random_uniform(
                    key,
                    &shape,
                    cx.convert(lo, dtype),
                    cx.convert(hi, dtype),
                )])
            }
            _ => bail!(
                Arity,
                "`random_uniform` takes a key, or a key and two bounds; got {} operands",
                x.len()
            ),
        },
    },
    Composite {
        name: "random_normal",
        doc: "Normal numbers with mean 0 and variance 1; each part of a complex number has variance 1/2.",
        build: |cx, s, x| {
            standard(cx, s, x, |cx, key, shape, dtype| {
                cx.random_normal(key, shape, dtype)
            })
        },
    },
    Composite {
        name: "random_truncated_normal",
        doc: "Normal numbers with mean 0 and variance 1, truncated to the second and the third operand.",
        build: |cx, s, x| {
            let [key, lo, hi] = operands(s, x)?;
            let RandomType { shape, dtype } = RandomType::take(s, Some(cx.ty(lo)))?;
            Ok(vec![cx.random_truncated_normal(
                key,
                &shape,
                cx.convert(lo, dtype),
                cx.convert(hi, dtype),
            )])
        },
    },
    Composite {
        name: "random_bernoulli",
        doc: "Booleans, true with the probability of the second operand, which is broadcast to the shape.",
        build: |cx, s, x| {
            let [key, p] = operands(s, x)?;
            let RandomType { shape, .. } = RandomType::take(s, Some(cx.ty(p)))?;
            Ok(vec![cx.random_bernoulli(key, &shape, p)])
        },
    },
    Composite {
        name: "random_exponential",
        doc: "Exponentially distributed numbers with mean 1.",
        build: |cx, s, x| {
            standard(cx, s, x, |cx, key, shape, dtype| {
                cx.random_exponential(key, shape, dtype)
            })
        },
    },
    Composite {
        name: "random_gumbel",
        doc: "Numbers of the standard Gumbel distribution.",
        build: |cx, s, x| {
            standard(cx, s, x, |cx, key, shape, dtype| {
                cx.random_gumbel(key, shape, dtype)
            })
        },
    },
    Composite {
        name: "random_categorical",
        doc: "Random classes along an axis (the last by default) of the second operand, the logits; the axis is removed.",
        build: |cx, s, x| {
            let [key, logits] = operands(s, x)?;
            let axis = axis_of_second(s, -1)?;
            Ok(vec![cx.random_categorical(key, logits, axis)])
        },
    },
    Composite {
        name: "random_int",
        doc: "Integers in [lo, hi) for scalar operands lo and hi.",
        build: |cx, s, x| {
            let [key, lo, hi] = operands(s, x)?;
            let RandomType { shape, dtype } = RandomType::take(s, Some(cx.ty(lo)))?;
            Ok(vec![cx.random_int(
                key,
                &shape,
                cx.convert(lo, dtype),
                cx.convert(hi, dtype),
            )])
        },
    },
    Composite {
        name: "random_permutation",
        doc: "The second operand with its slices along an axis (the first by default) in random order.",
        build: |cx, s, x| {
            let [key, v] = operands(s, x)?;
            let axis = axis_of_second(s, 0)?;
            Ok(vec![cx.random_permutation(key, v, axis)])
        },
    },
    Composite {
        name: "random_dropout",
        doc: "The second operand divided by 1 - `rate`, or 0 with probability `rate`, independently for each element.",
        build: |cx, s, x| {
            let ([key, v], rate) = (operands(s, x)?, s.attrs.get::<f64>("rate")?);
            Ok(vec![cx.random_dropout(key, v, rate)])
        },
    },
];

/// Shape and element type of a random result.
struct RandomType {
    shape: Vec<Dim>,
    dtype: DType,
}

impl RandomType {
    /// From attributes, else from the type after the colon, else from a parameter of the
    /// distribution.
    fn take(s: &mut Spelled<'_>, parameter: Option<Type>) -> Result<RandomType> {
        let written = s.results.and_then(|r| r.first());
        let of = |t: &Type| t.shape.to_vec();
        let shape = s
            .attrs
            .opt("shape")?
            .or(written.map(of))
            .or(parameter.as_ref().map(of));
        let written = written.map(|t| t.dtype).filter(|&d| d != DType::Bool);
        let dtype = s
            .attrs
            .opt("dtype")?
            .or(written)
            .or(parameter.map(|t| t.dtype));
        match (shape, dtype) {
            (Some(shape), Some(dtype)) => Ok(RandomType { shape, dtype }),
            (None, _) => bail!(
                Attribute,
                "`{}` needs a shape: {{shape = [3, 4]}}, or a type after `:`",
                s.name
            ),
            (_, None) => bail!(
                Attribute,
                "`{}` needs an element type: {{dtype = f32}}, or a type after `:`",
                s.name
            ),
        }
    }
}

/// A distribution without parameters.
type StandardSampler = fn(&dyn Emit, Val, &[Dim], DType) -> Val;

fn standard(cx: &dyn Emit, s: &mut Spelled<'_>, x: &[Val], f: StandardSampler) -> Result<Vec<Val>> {
    let ([key], RandomType { shape, dtype }) = (operands(s, x)?, RandomType::take(s, None)?);
    Ok(vec![f(cx, key, &shape, dtype)])
}

/// The attribute `axis` of the second operand, or `default`.
fn axis_of_second(s: &mut Spelled<'_>, default: i64) -> Result<usize> {
    if !s.attrs.0.iter().any(|(key, _)| key == "axis") {
        s.attrs.0.push(("axis".into(), default.into()));
    }
    let mut of_second = Spelled {
        name: s.name,
        attrs: std::mem::take(&mut s.attrs),
        operands: s.operands.get(1..).unwrap_or(&[]),
        results: s.results,
    };
    let axis = take_axis(&mut of_second);
    s.attrs = of_second.attrs;
    axis
}
