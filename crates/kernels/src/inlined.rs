//! Array functions that are always inlined.
//!
//! The equivalents in the standard library may become calls. A call is compiled for the baseline
//! features, whatever the features of its caller are, so it is not vectorized. `tests/inlined.py`
//! lists such calls in a binary. Portable vectors ([`portable`](crate::vector)) use the functions
//! of the standard library, because thousands of loops in one function are slow to compile.

/// Returns `[f(0), f(1), ..]`.
#[inline(always)]
pub(crate) fn from_fn<T: Copy, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut y = [f(0); N];
    for (k, y) in y.iter_mut().enumerate() {
        *y = f(k);
    }
    y
}

/// Applies `f` to each element.
#[inline(always)]
pub(crate) fn each<T: Copy, U: Copy, const N: usize>(x: &[T; N], f: impl Fn(T) -> U) -> [U; N] {
    let mut y = [f(x[0]); N];
    for (y, &x) in y.iter_mut().zip(x) {
        *y = f(x);
    }
    y
}
