//! Loops compiled twice: for every x86-64, and for those with 256-bit vectors and fused multiply-add.
//!
//! The compiler turns a loop into vector instructions of the features its function is compiled for. [`widest`] inlines
//! a loop into a function with more of them. Neither version may change a bit of the result: the compiler never fuses
//! a product and a sum on its own, and code that asks for `mul_add` asks [`fused`] first.

/// Runs `f` in a function compiled for the widest vectors this machine has. `f` and what it calls should be
/// `#[inline(always)]`: only inlined code gains.
#[inline(always)]
pub(crate) fn widest<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if fused() {
            // SAFETY: this CPU has the features of `wide`.
            return unsafe { wide(f) };
        }
    }
    f()
}

/// Whether a fused multiply-add is one instruction inside [`widest`].
#[inline(always)]
pub(crate) fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}
