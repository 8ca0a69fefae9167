//! `quantize`: the nearest multiple of a step. Its derivative is zero almost everywhere, so it has
//! no rule. The caller of a derivative chooses one.

use cotangent::extend::{
    Arg, Attrs, Batched, Cost, Emit, Entry, Env, Lin, Linearized, Lv, Op, Primitive, Spelled, Val,
    Wide, bail, no_rule,
};
use cotangent::{Array, Dim, Result, Scalar, Type};

/// The operation.
#[derive(Clone, Copy, Debug)]
pub struct Quantize {
    /// The distance of two values.
    pub step: f64,
}

impl Primitive for Quantize {
    fn name(&self) -> &str {
        "quantize"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("step", Scalar::F(self.step))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        match x {
            [t] if t.dtype.is_float() => Ok(vec![t.clone()]),
            _ => bail!(
                DTypeMismatch,
                "`quantize` takes one real operand, got {x:?}"
            ),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = x[0]
            .to_f64()
            .iter()
            .map(|x| (x / self.step).round_ties_even() * self.step)
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(no_rule(self, "linearize"))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        Ok(vec![Batched {
            val: cx.op(Op::extension(*self), &[x[0].val]),
            mapped: true,
        }])
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

pub(crate) fn entry() -> Entry {
    let parse = |s: &mut Spelled<'_>| {
        let Scalar::F(step) = s.attrs.get::<Scalar>("step")? else {
            bail!(Attribute, "`step` is a float")
        };
        Ok(Op::extension(Quantize { step }))
    };
    Entry {
        name: "quantize",
        doc: "The nearest multiple of a step.",
        parse,
        samples: |_| Vec::new(),
    }
}
