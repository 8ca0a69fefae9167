//! `reverse`: reverses the order along some axes, `y[i] = x[n - 1 - i]` along `axes`. It is its own
//! adjoint.

use super::entry::{Entry, Spelled, arity};
use super::moving::{pick, places, shifted};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// Reversal along `axes`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reverse {
    /// The reversed axes, without duplicates.
    pub axes: Vec<usize>,
}

impl Primitive for Reverse {
    fn name(&self) -> &str {
        "reverse"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("axes", &self.axes)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        for (i, a) in self.axes.iter().enumerate() {
            if *a >= x[0].rank() || self.axes[..i].contains(a) {
                bail!(
                    Attribute,
                    "`reverse`: `axes` = {:?} must be different axes of {}",
                    self.axes,
                    x[0]
                );
            }
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let shape = x[0].shape();
        let at = places(shape, shape, |k, i| {
            Some(if self.axes.contains(&k) {
                shape[k] - 1 - i
            } else {
                i
            })
        });
        Ok(vec![pick(&x[0], shape, at)?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![ct[0].map(|ct| cx.reverse(ct, &self.axes))])
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.reverse(x[0].val, &shifted(&self.axes)))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Reverses `x` along `axes`. Writes no operation for no axes.
    pub fn reverse(&self, x: Val, axes: &[usize]) -> Val {
        if axes.is_empty() {
            x
        } else {
            self.op(
                Reverse {
                    axes: axes.to_vec(),
                },
                &[x],
            )
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Reverse {
        axes: s.attrs.get("axes")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let r = |axes: &[usize], dtype, shape: &[usize]| {
        Sample::new(
            Reverse {
                axes: axes.to_vec(),
            },
            vec![sample_array(dtype, shape, 0)],
        )
    };
    vec![
        r(&[1], F64, &[2, 3]),
        r(&[0, 2], F32, &[2, 3, 2]),
        r(&[0], C128, &[3]),
        r(&[1, 0], I32, &[2, 2]),
        r(&[0], Bool, &[4]),
        r(&[], F64, &[]),
        r(&[0, 1], F64, &[0, 3]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Reverses the order along axes: y[i] = x[n - 1 - i].";
    vec![Entry {
        name: "reverse",
        doc,
        parse,
        samples,
    }]
}
