//! The memory of a body that runs in place: a table of addresses, and a block that most of them
//! lead into.

use crate::element::{IntegerElement, for_integer_or_bool};
use crate::folds::RawView;
use crate::plan::arena::Arena;
use crate::tensor::Extents;
use cotangent_core::DType;
use cotangent_kernels::parallel::Shared;
use smallvec::SmallVec;

/// An address: an entry of the table, and a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameAddress {
    pub(super) base: u32,
    pub(super) offset: isize,
}

impl FrameAddress {
    /// The address after this number of bytes.
    pub(super) fn moved(self, bytes: usize) -> FrameAddress {
        FrameAddress {
            offset: self.offset + bytes as isize,
            ..self
        }
    }
}

/// Entry of the table with the address of the frame.
pub(super) fn frame_entry(places: usize) -> usize {
    places + 1
}

/// A strided operand: extents and strides, in elements.
pub(super) struct StridedOperand {
    pub(super) at: FrameAddress,
    pub(super) shape: SmallVec<[usize; 4]>,
    pub(super) strides: SmallVec<[isize; 4]>,
}

/// An input or a result: its type at the extents of the run.
#[derive(Clone)]
pub(crate) struct InPlaceForm {
    pub(crate) dtype: DType,
    pub(crate) shape: Extents,
    pub(crate) bytes: usize,
}

/// The memory of a run.
pub(super) struct State {
    pub(super) frame: Arena,
    pub(super) table: Vec<Shared<u8>>,
    pub(super) starts: Vec<i64>,
}

impl State {
    /// The address of an operand.
    #[inline(always)] // one addition
    pub(super) fn at(&self, o: FrameAddress) -> *mut u8 {
        self.table[o.base as usize].get().wrapping_offset(o.offset)
    }

    /// A strided operand.
    pub(super) fn view<'a>(&self, x: &'a StridedOperand) -> RawView<'a> {
        RawView {
            first: self.at(x.at).cast_const(),
            shape: &x.shape,
            strides: &x.strides,
        }
    }
}

/// The integer at an address, as a start of windows of at most `last`.
///
/// # Safety
/// The address is one of an element of this type.
pub(super) unsafe fn start(dtype: DType, x: *const u8, last: i64) -> i64 {
    let number = for_integer_or_bool!(dtype, T => {
        // SAFETY: the caller guarantees the element (# Safety).
        IntegerElement::to(unsafe { x.cast::<T>().read() })
    });
    number.clamp(0, i128::from(last)) as i64
}
