//! [`Write`]: the trait of traced and eager tensors whose operations are emitted.

use crate::here::here;
use crate::traced::record;
use crate::{EagerTensor, Emit, TracedTensor, Val};

/// A tensor whose operations go through the core's emitter. Generic functions over it serve traced
/// and eager tensors.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor, TracedTensor, Write};
/// /// For traced and for eager tensors.
/// fn gelu<T: Write>(x: &T) -> Result<T, T::Error> {
///     T::write_one(&[x], |cx, x| cx.gelu(x[0]))
/// }
/// let traced = gelu(&TracedTensor::scalar(1.0))?.to_tensor()?;
/// let eager = gelu(&EagerRuntime::new().constant_from(Tensor::scalar(1.0))?)?.to_tensor()?;
/// assert!(traced.same_bits(&eager));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Write: Sized {
    /// The error of an operation.
    type Error: std::fmt::Debug;

    /// Returns the results that `f` emits for these operands. An error if there is no operand.
    #[track_caller]
    fn write(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Self>, Self::Error>;

    /// As [`write`](Self::write), with one result.
    #[track_caller]
    fn write_one(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
    ) -> Result<Self, Self::Error> {
        Ok(Self::write(x, |cx, x| vec![f(cx, x)])?.remove(0))
    }
}

impl Write for TracedTensor {
    type Error = crate::Error;

    #[track_caller]
    fn write(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> crate::Result<Vec<Self>> {
        record(here(), x, f)
    }
}

impl Write for EagerTensor {
    type Error = crate::eager::Error;

    #[track_caller]
    fn write(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Self>, Self::Error> {
        let Some(first) = x.first() else {
            return Err(crate::Error::new(
                crate::Code::Arity,
                "at least one tensor is needed, got none",
            )
            .at(here())
            .into());
        };
        first.runtime().write(x, f)
    }
}
