//! The check of derivatives with respect to tensors whose operations were released.

use super::TracedTensor;
use super::node::{TraceNodeKind, reached};
use crate::ops::Unary;
use crate::{Code, Error, Op, Result};

/// Whether derivatives do not flow through a tensor.
fn is_constant(t: &TracedTensor) -> bool {
    let op = matches!(
        &t.node.kind,
        TraceNodeKind::Op(Op::Unary(Unary::StopGradient))
    );
    op || !t.node.types[t.index as usize].dtype.has_tangent()
}

/// Returns an error if the leaves of the trace of `outputs` were computed from one of `wrt`.
pub(super) fn check_ancestors(
    leaves: &[TracedTensor],
    outputs: &[&TracedTensor],
    wrt: &[&TracedTensor],
) -> Result<()> {
    let lost = |leaf: &TracedTensor| {
        let from = leaf.node.ancestors()?;
        let x = wrt.iter().find(|x| !x.same(leaf) && from.has(&x.node))?;
        Some((leaf.node.loc, x.described()))
    };
    if wrt.is_empty() || leaves.iter().all(|leaf| lost(leaf).is_none()) {
        return Ok(());
    }
    let (_, leaves) = reached(outputs, &is_constant);
    match leaves.iter().filter(|t| !is_constant(t)).find_map(lost) {
        None => Ok(()),
        Some((loc, x)) => {
            let text = format!(
                "the derivative with respect to {x} passes through an array that was computed at {loc} without \
                 recording its derivative. Differentiate a closure instead (closures::grad), or call \
                 stop_gradient() on the array if it is a constant"
            );
            Err(Error::new(Code::GraphFreed, text))
        }
    }
}
