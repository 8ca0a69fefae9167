//! The rules of an operation, determined by applying them to its samples.

use cotangent::ad::{self, AdContext};
use cotangent::check::function_of;
use cotangent::{Dim, Result, Sample};

/// Whether an operation has a derivative and a batch rule, and in which operands it is linear.
pub(super) fn facts(samples: &[Sample]) -> Result<Vec<(&'static str, String)>> {
    let cx = AdContext::default();
    let (mut linearize, mut batch) = (false, false);
    let mut linear: Vec<String> = Vec::new();
    for s in samples {
        let f = function_of(s)?;
        let n = f.params().len();
        let floats: Vec<_> = f
            .params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype.has_tangent())
            .collect();
        let active = f.result_types().iter().any(|t| t.dtype.has_tangent()) && !floats.is_empty();
        linearize |= active && ad::jvp(&cx, &f, &floats).is_ok();
        batch |= n > 0 && ad::batch(&cx.session(), &f, &vec![true; n], &[], &Dim::Const(2)).is_ok();
        // Linearity in one operand, or in all operands jointly.
        for i in 0..n.min(8) {
            let mask: Vec<bool> = (0..n).map(|k| k == i).collect();
            if active && floats.contains(&f.params()[i]) && s.op.linear_in(&mask) {
                linear.push(format!("operand {i}"));
            }
        }
        if active && n > 1 && s.op.linear_in(&vec![true; n]) {
            linear.push("all operands together".into());
        }
    }
    linear.sort();
    linear.dedup();
    let yes = |b: bool| if b { "yes" } else { "no" };
    let transpose = if linear.is_empty() {
        "not linear".to_owned()
    } else {
        format!("linear in {}", linear.join("; in "))
    };
    Ok(vec![
        ("linearize", yes(linearize).into()),
        ("transpose", transpose),
        ("batch", yes(batch).into()),
    ])
}
