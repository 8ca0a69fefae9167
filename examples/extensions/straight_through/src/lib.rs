//! Rules and a kernel for an operation of another crate: straight-through gradients of `quantize`.
//!
//! Networks with quantized weights are trained in this way: the forward pass quantizes, and the
//! reverse pass is that of the identity. This is a choice of the training program, not of the
//! operation, so the rules belong to a context.

use cotangent::cpu::CpuBackend;
use cotangent::extend::{Lin, Linearized, Lv, Op, Rule, RuleSet, Val, bail};
use cotangent::{DType, Result, Scalar};

struct StraightThrough;

impl Rule for StraightThrough {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        let y = cx.op(op.clone(), x);
        Some(Ok(cx.one(y, t[0])))
    }
}

/// The rules, an argument of `AdContext::builder().with_extension_rules`.
pub fn rules() -> RuleSet {
    RuleSet::default().with("quantize", StraightThrough)
}

/// A kernel of `quantize` on `f64`, an argument of `register_extension`.
pub fn register(backend: &mut CpuBackend) -> Result<()> {
    backend.register_kernel("quantize", |op, x| {
        if x[0].dtype != DType::F64 {
            bail!(
                DTypeMismatch,
                "this kernel quantises f64, not {}",
                x[0].dtype
            );
        }
        let Scalar::F(step) = op.attrs().get::<Scalar>("step")? else {
            bail!(Attribute, "`step` is a float")
        };
        Ok(Box::new(move |_, x| {
            let array = x.into_iter().next().expect("one operand").into_array()?;
            let y: Vec<f64> = array
                .to_f64()
                .iter()
                .map(|x| (x / step).round_ties_even() * step)
                .collect();
            Ok([cotangent::Array::from_vec(array.shape(), y)?.into()]
                .into_iter()
                .collect())
        }))
    });
    Ok(())
}
