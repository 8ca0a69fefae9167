//! Extents and operands of a convolution.

use crate::view::View;

/// With fewer outputs and no more rows than these a matrix does not pay.
pub(super) const MIN_PRODUCT_OUTPUTS: usize = 4;
pub(super) const MAX_DIRECT_ROWS: usize = 256;

/// Extents of the axes that are not spatial.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Groups.
    pub groups: usize,
    /// Elements of the batch.
    pub batch: usize,
    /// Features that are summed over.
    pub features: usize,
    /// Features of the result.
    pub outputs: usize,
    /// Whether the batch is the first axis of the result, and groups the second.
    pub batch_first: bool,
}

impl Channels {
    /// The shape of an operand with planes of `n` elements.
    pub fn operand(&self, n: usize) -> [usize; 4] {
        [self.groups, self.batch, self.features, n]
    }

    /// The plane `(g, b)` of the result by its position, which counts all outputs as one.
    pub(super) fn plane(&self, place: usize) -> (usize, usize) {
        match self.batch_first {
            true => (place % self.groups, place / self.groups),
            false => (place / self.batch, place % self.batch),
        }
    }

    /// The position of a plane of the result.
    pub(super) fn place(&self, g: usize, b: usize) -> usize {
        if self.batch_first {
            b * self.groups + g
        } else {
            g * self.batch + b
        }
    }

    /// From a position to that of the next element of the batch.
    pub(super) fn between(&self) -> usize {
        if self.batch_first { self.groups } else { 1 }
    }
}

/// The planes of an operand, row-major each, and any number of elements apart.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, T> {
    pub(super) data: &'a [T],
    pub(super) offset: usize,
    /// From one group, element of the batch and feature to the next.
    pub(super) steps: [isize; 3],
    /// Elements of a plane.
    pub(super) size: usize,
}

impl<'a, T: Copy> Planes<'a, T> {
    /// The planes of `x[g, b, f, ..]`, whose elements along the last axis are adjacent.
    ///
    /// # Panics
    /// Unless the view has four axes, and a step of 1 along the last one if there are several
    /// elements.
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
