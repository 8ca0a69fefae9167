//! [`RawKernel`]: an operation at known extents, on operands and results in memory. It does what
//! the kernel on tensors does, without tensors: a step of a loop allocates nothing.

use crate::axes::positions;
use crate::folds::RawView;
use crate::kernel::UsedResults;
use cotangent_core::{DType, Op};
use cotangent_kernels::View;
use smallvec::SmallVec;

/// Type, extents and strides of an operand, in elements.
#[derive(Clone, Copy)]
pub(crate) struct RawForm<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: &'a [usize],
    pub(crate) strides: &'a [isize],
}

impl RawForm<'_> {
    /// The number of elements.
    pub(crate) fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// The position of each element, in row-major order.
    pub(crate) fn positions(&self) -> Box<[isize]> {
        positions(self.shape, self.strides, 0)
    }
}

/// Extents and strides of an operand.
pub(crate) struct OperandLayout {
    shape: SmallVec<[usize; 4]>,
    strides: SmallVec<[isize; 4]>,
}

impl OperandLayout {
    pub(crate) fn of(x: RawForm<'_>) -> OperandLayout {
        OperandLayout {
            shape: x.shape.into(),
            strides: x.strides.into(),
        }
    }

    /// The elements of the operand.
    ///
    /// # Safety
    /// `first` points to the element at index 0 of an operand of this layout, whose elements are
    /// initialised, have type `T` and do not change during `'a`.
    pub(crate) unsafe fn view<'a, T>(&'a self, first: *const u8) -> View<'a, T> {
        let view = RawView {
            first,
            shape: &self.shape,
            strides: &self.strides,
        };
        // SAFETY: the caller guarantees the operand (# Safety).
        unsafe { view.typed::<T>() }
    }
}

/// Function of a [`RawKernel`].
type RawFn = dyn Fn(&[*mut u8], &[*const u8]) -> bool + Send + Sync;

/// Chooses the kernel of an operation for operands of these forms, which computes the results that
/// are read; `None` if it runs on tensors only.
pub(crate) type RawChoice = fn(&Op, &[RawForm<'_>], UsedResults) -> Option<RawKernel>;

/// A kernel on memory.
pub(crate) struct RawKernel {
    run: Box<RawFn>,
    /// Whether the first result may have the memory of the first operand.
    changes_operand: bool,
}

impl RawKernel {
    /// # Safety
    /// `f` may be called with pointers that meet the preconditions of [`RawKernel::run`] for the
    /// forms of its operands.
    pub(crate) unsafe fn new(
        f: impl Fn(&[*mut u8], &[*const u8]) -> bool + Send + Sync + 'static,
    ) -> RawKernel {
        RawKernel {
            run: Box::new(f),
            changes_operand: false,
        }
    }

    /// This kernel, of which the first result may have the memory of the first operand.
    ///
    /// # Safety
    /// The function may be called with the same pointer for both.
    pub(crate) unsafe fn changing_operand(self) -> RawKernel {
        RawKernel {
            changes_operand: true,
            ..self
        }
    }

    /// Whether the first result may have the memory of the first operand.
    pub(crate) fn changes_operand(&self) -> bool {
        self.changes_operand
    }

    /// Runs. `false`: it could not, and the kernel on tensors returns the error.
    ///
    /// # Safety
    /// Each operand points to its element at index 0, and its elements are initialised. Each result
    /// that is read is valid for its elements, row-major, and overlaps nothing else; the first one
    /// may be the first operand, if the kernel [changes it](RawKernel::changes_operand). Nothing
    /// else accesses them during the call.
    pub(crate) unsafe fn run(&self, y: &[*mut u8], x: &[*const u8]) -> bool {
        (self.run)(y, x)
    }
}
