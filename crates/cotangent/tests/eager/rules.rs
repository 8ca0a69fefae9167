//! Rules of a context, run by eager tensors.

use super::*;
use cotangent::ad::{AdContext, Rule, RuleSet};
use cotangent::cpu::CpuBackend;
use cotangent::ops::{Format, RoundTo};
use cotangent::primitive::Arg;
use cotangent::{Emit, Op, Val};

#[test]
fn the_tangent_of_a_result_may_be_that_of_an_operand() {
    let rt = EagerRuntime::new();
    let x = var(&rt, vec![1.3, -0.7]);
    let dx = rt.constant_from(Tensor::vector(vec![1.0, 10.0])).unwrap();
    let round = RoundTo {
        format: Format::parse("f8E4M3FN").unwrap(),
    };
    // By the emitter, by a compiled rule, and as one program for the tape.
    for _ in 0..3 {
        let y = rt.apply(round, &[&x]).unwrap().remove(0);
        let loss = (&y * &y).sum(..).unwrap();
        let y: Vec<f64> = y.to_tensor().unwrap().to_vec().unwrap();
        let twice: Vec<f64> = y.iter().map(|y| 2.0 * y).collect();
        let pushed = loss.jvp(&x, &dx).unwrap().item::<f64>().unwrap();
        assert_eq!(pushed, twice[0] + 10.0 * twice[1]);
        loss.backward().unwrap();
        assert_eq!(grad(&x), twice);
        x.clear_grad().unwrap();
    }
}

/// A transpose rule of `neg`: the cotangent of the result -> the cotangents of the operands.
struct Wrong(fn(&dyn Emit, Val) -> Vec<Option<Val>>);

impl Rule for Wrong {
    fn transpose(
        &self,
        _: &Op,
        cx: &dyn Emit,
        _: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<cotangent::Result<Vec<Option<Val>>>> {
        Some(Ok((self.0)(cx, ct[0]?)))
    }
}

#[test]
fn transpose_rules_that_return_the_wrong_count_or_type_are_named() {
    let summed: fn(&dyn Emit, Val) -> Vec<Option<Val>> =
        |cx, ct| vec![Some(cx.reduce_sum(ct, &[0]))];
    for (rule, code, text) in [
        (
            Wrong(|_, _| vec![]),
            Code::RuleArity,
            "transpose rule of `neg` produced 0 cotangents for 1 operands",
        ),
        (
            Wrong(summed),
            Code::RuleType,
            "transpose rule of `neg` produced f64[] for operand 0 of type f64[2]",
        ),
    ] {
        let ad = AdContext::builder()
            .with_extension_rules(RuleSet::default().with("neg", rule))
            .build()
            .unwrap();
        let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &ad);
        let x = var(&rt, vec![1.0, 2.0]);
        // By the emitter, by a compiled rule, and as one program for the tape.
        for _ in 0..3 {
            let loss = (-&x).sum(..).unwrap();
            let e = loss.backward().unwrap_err();
            assert_eq!(e.code(), code, "{e}");
            assert!(e.to_string().contains(text), "{e}");
        }
    }
}
