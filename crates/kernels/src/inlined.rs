//! Functions of arrays that are always inlined.
//!
//! Those of the standard library may become calls, and a call has no vectors: it is compiled for
//! the features that every machine has, whatever those of its caller are. `tests/inlined.py` lists
//! such calls in a binary. Vectors without features ([`portable`](crate::vector)) use those of the
//! standard library: thousands of loops in one function are slow to compile.

/// `[f(0), f(1), ..]`
#[inline(always)]
pub(crate) fn from_fn<T: Copy, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut y = [f(0); N];
    for (k, y) in y.iter_mut().enumerate() {
        *y = f(k);
    }
    y
}

/// `f` of each element.
#[inline(always)]
pub(crate) fn each<T: Copy, U: Copy, const N: usize>(x: &[T; N], f: impl Fn(T) -> U) -> [U; N] {
    let mut y = [f(x[0]); N];
    for (y, &x) in y.iter_mut().zip(x) {
        *y = f(x);
    }
    y
}
