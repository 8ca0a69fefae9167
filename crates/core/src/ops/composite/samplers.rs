//! Random numbers of the text form: functions of a key, which is their first operand.
//!
//! Shape and element type are attributes (`shape`, `dtype`) or those of the type after the colon.

use super::entry::{Composite, operands};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Emit, Val};
use crate::ops::entry::Spelled;
use crate::ops::support::take_axis;
use crate::shape::{Dim, Type};

pub(super) static TABLE: &[Composite] = &[
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
        doc: "`n` keys (or as many as `shape` says) that are independent of each other and of the key: u32[n, 2].",
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
        doc: "The key for a number (u32) under a key: of a step, a layer, an element.",
        build: |cx, s, x| operands(s, x).map(|[key, number]| vec![cx.random_fold_in(key, number)]),
    },
    Composite {
        name: "random_bits",
        doc: "Random bits as an unsigned integer type.",
        build: |cx, s, x| {
            let ([key], Drawn { shape, dtype }) = (operands(s, x)?, Drawn::take(s, None)?);
            Ok(vec![cx.random_bits(key, &shape, dtype)])
        },
    },
    Composite {
        name: "random_uniform",
        doc: "Numbers in [0, 1), or between the second and the third operand, which repeat to the shape.",
        build: |cx, s, x| match *x {
            [key] => {
                let Drawn { shape, dtype } = Drawn::take(s, None)?;
                let bound = |c: f64| cx.full(&Type::scalar(dtype), c);
                Ok(vec![cx.random_uniform(key, &shape, bound(0.0), bound(1.0))])
            }
            [key, lo, hi] => {
                let Drawn { shape, dtype } = Drawn::take(s, Some(cx.ty(lo)))?;
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
        doc: "Normal numbers with mean 0 and variance 1; complex ones have half of it in each part.",
        build: |cx, s, x| {
            standard(cx, s, x, |cx, key, shape, dtype| {
                cx.random_normal(key, shape, dtype)
            })
        },
    },
    Composite {
        name: "random_truncated_normal",
        doc: "Normal numbers with mean 0 and variance 1, given that they lie between the second and the third operand.",
        build: |cx, s, x| {
            let [key, lo, hi] = operands(s, x)?;
            let Drawn { shape, dtype } = Drawn::take(s, Some(cx.ty(lo)))?;
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
        doc: "True with the probability that the second operand says, which repeats to the shape.",
        build: |cx, s, x| {
            let [key, p] = operands(s, x)?;
            let Drawn { shape, .. } = Drawn::take(s, Some(cx.ty(p)))?;
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
        doc: "Classes along an axis (the last by default) of the second operand, with probability softmax of it.",
        build: |cx, s, x| {
            let [key, logits] = operands(s, x)?;
            let axis = axis_of_second(s, -1)?;
            Ok(vec![cx.random_categorical(key, logits, axis)])
        },
    },
    Composite {
        name: "random_int",
        doc: "Integers from the second operand to before the third, which have rank 0.",
        build: |cx, s, x| {
            let [key, lo, hi] = operands(s, x)?;
            let Drawn { shape, dtype } = Drawn::take(s, Some(cx.ty(lo)))?;
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
        doc: "The second operand with its parts along an axis (the first by default) in random order.",
        build: |cx, s, x| {
            let [key, v] = operands(s, x)?;
            let axis = axis_of_second(s, 0)?;
            Ok(vec![cx.random_permutation(key, v, axis)])
        },
    },
    Composite {
        name: "random_dropout",
        doc: "The second operand over 1 - `rate`, or 0 with that probability, each element for itself.",
        build: |cx, s, x| {
            let ([key, v], rate) = (operands(s, x)?, s.attrs.get::<f64>("rate")?);
            Ok(vec![cx.random_dropout(key, v, rate)])
        },
    },
];

/// Shape and element type of what is drawn.
struct Drawn {
    shape: Vec<Dim>,
    dtype: DType,
}

impl Drawn {
    /// From the attributes, else the written result, else a parameter of the distribution.
    fn take(s: &mut Spelled<'_>, parameter: Option<Type>) -> Result<Drawn> {
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
            (Some(shape), Some(dtype)) => Ok(Drawn { shape, dtype }),
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
type Standard = fn(&dyn Emit, Val, &[Dim], DType) -> Val;

fn standard(cx: &dyn Emit, s: &mut Spelled<'_>, x: &[Val], f: Standard) -> Result<Vec<Val>> {
    let ([key], Drawn { shape, dtype }) = (operands(s, x)?, Drawn::take(s, None)?);
    Ok(vec![f(cx, key, &shape, dtype)])
}

/// The attribute `axis` of the second operand, or this one.
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
