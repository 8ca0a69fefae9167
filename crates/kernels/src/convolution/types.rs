//! Extents and operands of a convolution.

use crate::view::View;

/// Number of outputs from which a convolution is always computed as a matrix product.
/// It decides the bits of a convolution.
pub(super) const MIN_PRODUCT_OUTPUTS: usize = 4;
/// Maximum number of rows for which a convolution with fewer outputs is summed directly.
/// It decides the bits of a convolution.
pub(super) const MAX_DIRECT_ROWS: usize = 256;

/// Extents of the axes that are not spatial.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Number of groups.
    pub groups: usize,
    /// Number of elements of the batch.
    pub batch: usize,
    /// Number of features that are summed over.
    pub features: usize,
    /// Number of features of the result.
    pub outputs: usize,
    /// Whether the batch is the first axis of the result, and groups the second.
    pub batch_first: bool,
}

impl Channels {
    /// The shape of an operand with planes of `n` elements.
    pub fn operand(&self, n: usize) -> [usize; 4] {
        [self.groups, self.batch, self.features, n]
    }

    /// Returns the indices `(g, b)` of a plane of the result from its position. All outputs of a
    /// plane count as one.
    pub(super) fn plane(&self, place: usize) -> (usize, usize) {
        match self.batch_first {
            true => (place % self.groups, place / self.groups),
            false => (place / self.batch, place % self.batch),
        }
    }

    /// Position of a plane of the result; the inverse of [`plane`](Self::plane).
    pub(super) fn place(&self, g: usize, b: usize) -> usize {
        if self.batch_first {
            b * self.groups + g
        } else {
            g * self.batch + b
        }
    }

    /// Distance of positions from one element of the batch to the next.
    pub(super) fn between(&self) -> usize {
        if self.batch_first { self.groups } else { 1 }
    }
}

/// Planes of an operand. Each is row-major; planes have any strides.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, T> {
    pub(super) data: &'a [T],
    pub(super) offset: usize,
    /// Strides of groups, of the batch and of features.
    pub(super) steps: [isize; 3],
    /// Number of elements of a plane.
    pub(super) size: usize,
}

impl<'a, T: Copy> Planes<'a, T> {
    /// The planes of `x[g, b, f, ..]`, whose elements along the last axis are contiguous.
    ///
    /// # Panics
    /// Unless the view has four axes and, if the last has several elements, a stride of 1 along it.
    pub fn of(x: View<'a, T>) -> Planes<'a, T> {
        assert!(
            x.shape().len() == 4 && (x.stride(3) == 1 || x.shape()[3] <= 1),
            "planes of {:?}",
            x.shape()
        );
        let steps = std::array::from_fn(|axis| x.stride(axis));
        Planes {
            data: x.data(),
            offset: x.offset(),
            steps,
            size: x.shape()[3],
        }
    }

    pub(super) fn plane(&self, g: usize, b: usize, f: usize) -> &'a [T] {
        let at = [g, b, f]
            .iter()
            .zip(self.steps)
            .fold(self.offset, |at, (&i, step)| {
                at.wrapping_add_signed(step.wrapping_mul(i as isize))
            });
        &self.data[at..at + self.size]
    }
}
