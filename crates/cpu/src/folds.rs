//! Kernels of reductions and of small products by element type, for tensors and for memory of a
//! plan: the one place that chooses them.

use crate::element::{
    PlainElement, compute, compute_exact, for_any, for_compute, for_compute_ordered, for_size, pick,
};
use cotangent_core::DType;
use cotangent_core::ops::Reduction;
use cotangent_kernels::copy::copy_into;
use cotangent_kernels::gemm::{gemm, gemm_leave_out_zeros};
use cotangent_kernels::{Fallible, View, reduce as fold};

/// A reduction of a view over axes into a row-major slice.
pub(crate) type Fold<T> = fn(&mut [T], View<'_, T>, &[usize]);

/// A use of the kernel of a reduction.
pub(crate) trait FoldUse {
    type Output;

    /// The result, for the kernel of elements of `T`.
    fn of<T: PlainElement>(self, fold: Fold<T>) -> Self::Output;
}

/// The type in which elements of `dtype` are reduced. Conversion to it is exact.
pub(crate) fn fold_type(op: Reduction, stable: bool, dtype: DType) -> DType {
    use Reduction::*;
    match (op, dtype) {
        // `i32` and `u8`, frequent types of labels and pixels, are reduced without widening.
        (Sum | Max | Min, DType::I32 | DType::U8) => dtype,
        (Any | Sum | Max | Or | All | Prod | Min | And, DType::Bool) => dtype,
        _ if stable => compute_exact(dtype),
        _ => compute(dtype),
    }
}

/// Passes the kernel that reduces elements of `dtype`, in their [`fold_type`], to `user`.
pub(crate) fn with_fold<U: FoldUse>(
    op: Reduction,
    stable: bool,
    dtype: DType,
    user: U,
) -> U::Output {
    use Reduction::*;
    let to = fold_type(op, stable, dtype);
    match (op, dtype) {
        (Sum, DType::I32 | DType::U8) => {
            pick!(to, T => user.of::<T>(|y, x, axes| fold::sum(y, x, axes, false)); I32 i32, U8 u8)
        }
        (Max, DType::I32 | DType::U8) => pick!(to, T => user.of::<T>(fold::max); I32 i32, U8 u8),
        (Min, DType::I32 | DType::U8) => pick!(to, T => user.of::<T>(fold::min); I32 i32, U8 u8),
        (Any | Sum | Max | Or, DType::Bool) => user.of(fold::any),
        (All | Prod | Min | And, DType::Bool) => user.of(fold::all),
        (Sum, _) if stable => {
            for_compute!(to, T => user.of::<T>(|y, x, axes| fold::sum(y, x, axes, true)))
        }
        (Sum, _) => for_compute!(to, T => user.of::<T>(|y, x, axes| fold::sum(y, x, axes, false))),
        (Prod, _) => for_compute!(to, T => user.of::<T>(fold::prod)),
        (Max, _) => for_compute_ordered!(to, T => user.of::<T>(fold::max)),
        (Min, _) => for_compute_ordered!(to, T => user.of::<T>(fold::min)),
        (And, _) => pick!(to, T => user.of::<T>(fold::bit_and); I64 i64, U64 u64),
        (Or, _) => pick!(to, T => user.of::<T>(fold::bit_or); I64 i64, U64 u64),
        (Xor, _) => pick!(to, T => user.of::<T>(fold::bit_xor); I64 i64, U64 u64),
        (Any | All, _) => unreachable!("the type rule admits booleans only"),
    }
}

/// A strided view of memory: the address of the element at index 0, extents, and strides in
/// elements.
#[derive(Clone, Copy)]
pub(crate) struct RawView<'a> {
    pub(crate) first: *const u8,
    pub(crate) shape: &'a [usize],
    pub(crate) strides: &'a [isize],
}

impl<'a> RawView<'a> {
    /// The view of elements of `T`.
    ///
    /// # Safety
    /// All elements of `T` between the lowest and the highest address of the view are initialised,
    /// and nothing writes to them during `'a`.
    pub(crate) unsafe fn typed<T>(self) -> View<'a, T> {
        if self.shape.contains(&0) {
            return View::new(&[], 0, self.shape, self.strides);
        }
        let (mut low, mut high) = (0, 0);
        for (&n, &s) in self.shape.iter().zip(self.strides) {
            let last = (n - 1) as isize * s;
            low += last.min(0);
            high += last.max(0);
        }
        // SAFETY: the caller guarantees these elements (# Safety).
        let data = unsafe {
            let first = self.first.cast::<T>().offset(low);
            std::slice::from_raw_parts(first, (high - low) as usize + 1)
        };
        View::new(data, -low as usize, self.shape, self.strides)
    }
}

impl RawView<'_> {
    /// Copies the elements, of a type of this size, in row-major order.
    ///
    /// # Safety
    /// All elements between the lowest and the highest address of the view are initialised, and
    /// nothing writes to them. `to` is valid for as many elements as the view has, and aligned to
    /// them.
    pub(crate) unsafe fn copy_to(self, to: *mut u8, dtype: DType) {
        let n: usize = self.shape.iter().product();
        for_size!(dtype, W => {
            // SAFETY: the caller guarantees both operands (# Safety); any bytes are a `W`.
            unsafe {
                let to = std::slice::from_raw_parts_mut(to.cast::<W>(), n);
                copy_into(to, self.typed::<W>());
            }
        });
    }
}

/// Function of a [`RawFold`].
type FoldFn = dyn Fn(*mut u8, usize, RawView<'_>, &[usize]) + Send + Sync;

/// The kernel of a reduction, on memory.
pub(crate) struct RawFold(Box<FoldFn>);

struct OnMemory;

impl FoldUse for OnMemory {
    type Output = RawFold;

    fn of<T: PlainElement>(self, fold: Fold<T>) -> RawFold {
        RawFold(Box::new(move |y, n, x, axes| {
            // SAFETY: the caller of `RawFold::run` guarantees both operands.
            unsafe {
                fold(
                    std::slice::from_raw_parts_mut(y.cast::<T>(), n),
                    x.typed(),
                    axes,
                )
            }
        }))
    }
}

impl RawFold {
    /// The kernel for elements of `dtype`. It reads and writes their [`fold_type`].
    pub(crate) fn new(op: Reduction, stable: bool, dtype: DType) -> RawFold {
        with_fold(op, stable, dtype, OnMemory)
    }

    /// Reduces `x` over axes to `n` elements.
    ///
    /// # Safety
    /// `y` is valid for `n` initialised elements of the fold's type, which nothing else accesses.
    /// All elements of that type between the lowest and the highest address of `x` are initialised,
    /// and nothing writes to them.
    pub(crate) unsafe fn run(&self, y: *mut u8, n: usize, x: RawView<'_>, axes: &[usize]) {
        (self.0)(y, n, x, axes);
    }
}

/// The kernel of matrix products, on memory. With `strong_zero` a product is 0 if a factor is.
#[derive(Clone, Copy)]
pub(crate) struct RawProduct {
    run: unsafe fn(*mut u8, usize, [RawView<'_>; 2], bool) -> Fallible,
    strong_zero: bool,
}

impl RawProduct {
    /// Whether a product is 0 if a factor is.
    pub(crate) fn has_strong_zero(&self) -> bool {
        self.strong_zero
    }

    pub(crate) fn new(dtype: DType, strong_zero: bool) -> RawProduct {
        /// # Safety
        /// The preconditions of [`RawProduct::run`], for elements of `T`.
        unsafe fn product<T: PlainElement + cotangent_kernels::gemm::Gemm>(
            c: *mut u8,
            n: usize,
            [a, b]: [RawView<'_>; 2],
            strong_zero: bool,
        ) -> Fallible {
            // SAFETY: the caller guarantees the operands (# Safety).
            let (c, a, b) = unsafe {
                (
                    std::slice::from_raw_parts_mut(c.cast::<T>(), n),
                    a.typed(),
                    b.typed(),
                )
            };
            gemm::<T>(c, a, b)?;
            match strong_zero {
                true => gemm_leave_out_zeros::<T>(c, a, b),
                false => Ok(()),
            }
        }
        let run = for_any!(dtype, T => product::<T> as unsafe fn(_, _, [RawView<'_>; 2], _) -> _);
        RawProduct { run, strong_zero }
    }

    /// The products of `a[.., m, k]` and `b[.., k, n]`, as row-major `c[.., m, n]`.
    ///
    /// # Safety
    /// `c` is valid for `n` initialised elements, which nothing else accesses. All elements between
    /// the lowest and the highest address of each factor are initialised, and nothing writes to
    /// them.
    pub(crate) unsafe fn run(&self, c: *mut u8, n: usize, factors: [RawView<'_>; 2]) -> Fallible {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { (self.run)(c, n, factors, self.strong_zero) }
    }
}
