//! [`TensorOps`]: the trait of traced, eager and plain tensors whose operations are emitted.

use crate::here::here;
use crate::{Code, Emit, Error, Val};

/// A tensor whose operations go through the core's emitter. Generic functions over it serve traced,
/// eager and plain tensors. The traits of [`methods`](crate::methods) have its operations as
/// methods.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor, TensorOps, TracedTensor};
/// /// For traced, eager and plain tensors.
/// fn gelu<T: TensorOps>(x: &T) -> Result<T, T::Error> {
///     T::emit_one(&[x], |cx, x| cx.gelu(x[0]))
/// }
/// let traced = gelu(&TracedTensor::scalar(1.0))?.to_tensor()?;
/// let eager = gelu(&EagerRuntime::new().scalar(1.0)?)?.to_tensor()?;
/// let plain = gelu(&Tensor::scalar(1.0))?;
/// assert!(traced.same_bits(&eager) && plain.same_bits(&eager));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait TensorOps: Sized {
    /// The error of an operation.
    type Error: std::fmt::Debug + From<crate::Error>;

    /// Returns the results that `f` emits for these operands. An error if there is no operand.
    #[track_caller]
    fn emit(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Self>, Self::Error>;

    /// As [`emit`](Self::emit), with one result.
    #[track_caller]
    fn emit_one(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
    ) -> Result<Self, Self::Error> {
        Ok(Self::emit(x, |cx, x| vec![f(cx, x)])?.remove(0))
    }
    /// The former name of [`emit`](Self::emit).
    #[deprecated(note = "renamed to emit")]
    #[doc(hidden)]
    #[track_caller]
    fn write(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Self>, Self::Error> {
        Self::emit(x, f)
    }

    /// The former name of [`emit_one`](Self::emit_one).
    #[deprecated(note = "renamed to emit_one")]
    #[doc(hidden)]
    #[track_caller]
    fn write_one(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
    ) -> Result<Self, Self::Error> {
        Self::emit_one(x, f)
    }
}

/// A function that emits results, for code that is not generic: it exists once, not once for each
/// closure.
pub(crate) type EmitFn<'a> = dyn FnMut(&dyn Emit, &[Val]) -> Vec<Val> + 'a;

/// A function that is called once, as one that can be passed as [`EmitFn`].
pub(crate) fn once(
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> impl FnMut(&dyn Emit, &[Val]) -> Vec<Val> {
    let mut f = Some(f);
    move |cx, x| f.take().map(|f| f(cx, x)).unwrap_or_default()
}

/// The results that `f` emits in a call of `method`, which errors name.
#[track_caller]
pub(crate) fn called<T: TensorOps>(
    method: &'static str,
    x: &[&T],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<T>, T::Error> {
    if x.is_empty() {
        let text = format!("`{method}` takes at least one tensor, got none");
        return Err(Error::new(Code::Arity, text).at(here()).into());
    }
    T::emit(x, |cx, x| {
        cx.set_method(method);
        f(cx, x)
    })
}

/// As [`called`], with one result.
#[track_caller]
pub(crate) fn called_one<T: TensorOps>(
    method: &'static str,
    x: &[&T],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
) -> Result<T, T::Error> {
    Ok(called(method, x, |cx, x| vec![f(cx, x)])?.remove(0))
}
