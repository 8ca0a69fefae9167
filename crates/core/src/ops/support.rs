//! What families of operations share: elementwise type rules and batching, costs.

use crate::bail;
use crate::emit::Emit;
use crate::error::Result;
use crate::ops::Op;
use crate::primitive::{Batched, Cost, Primitive, Val};
use crate::shape::{Dim, Type};

/// Number of elements for cost estimates: unknown extents count as 1.
pub(crate) fn count(t: &Type) -> f64 {
    t.shape.iter().map(|d| d.as_const().unwrap_or(1) as f64).product()
}

/// Bytes of a value.
pub(crate) fn bytes(t: &Type) -> f64 {
    count(t) * t.dtype.size() as f64
}

/// The cost of an operation that does `flops` per result element and reads and writes everything once.
pub(crate) fn cost_per_element(flops: f64, x: &[Type], y: &[Type]) -> Cost {
    Cost { flops: flops * y.iter().map(count).sum::<f64>(), bytes: x.iter().chain(y).map(bytes).sum() }
}

/// Operands of an elementwise operation have one shape. Returns it (of the operand that knows most).
pub(crate) fn same_shape<'a>(op: &dyn Primitive, x: &'a [Type]) -> Result<&'a Type> {
    let mut best = &x[0];
    for t in &x[1..] {
        if best.rank() != t.rank() {
            bail!(
                ShapeMismatch,
                "`{}` needs operands of one shape, got {best} and {t}: the ranks differ; broadcast one of them",
                op.name()
            );
        }
        for (axis, (a, b)) in best.shape.iter().zip(t.shape.iter()).enumerate() {
            if a.same(b) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`{}` needs operands of one shape, got {best} and {t}: axis {axis} is {a} and {b}",
                    op.name()
                );
            }
        }
        let known = |t: &Type| t.shape.iter().filter(|d| d.as_const().is_some()).count();
        if known(t) > known(best) {
            best = t;
        }
    }
    Ok(best)
}

/// The batch rule of every elementwise operation: operands without the batch axis are repeated along it.
pub(crate) fn batch_elementwise(cx: &dyn Emit, op: impl Into<Op>, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
    let x: Vec<Val> = x.iter().map(|b| cx.replicate(*b, size).val).collect();
    Ok(cx.emit(op.into(), &x).into_iter().map(|val| Batched { val, mapped: true }).collect())
}

/// The result of a batch rule that has the batch axis.
pub(crate) fn mapped(val: Val) -> Result<Vec<Batched>> {
    Ok(vec![Batched { val, mapped: true }])
}
