//! [`Axes`]: extents and strides of a tensor, stored inline for at most two axes.
//!
//! Small tensors are created, copied and dropped more often than they are computed with, so a
//! tensor fits one cache line. Whether it is row-major and contiguous is the most frequent query,
//! so the flag is stored.

use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Extents of the axes.
pub type Extents = SmallVec<[usize; 4]>;
/// Strides of the axes, in elements.
pub type Strides = SmallVec<[isize; 4]>;

/// The elements of a slice in a vector of their own. O(bytes), where `clone` and `into` of a
/// `SmallVec` call an iterator for each element.
#[inline]
pub(crate) fn copied<T: Copy>(elements: &[T]) -> SmallVec<[T; 4]> {
    SmallVec::from_slice(elements)
}

/// The shape of `n` stacked values of shape `row`.
pub(crate) fn rows_of(n: usize, row: &[usize]) -> Extents {
    std::iter::once(n).chain(row.iter().copied()).collect()
}

/// Maximum rank whose extents and strides are stored inline.
const INLINE_AXES: usize = 2;

/// Extents and strides, in elements, of the same length.
#[derive(Clone)]
pub(crate) enum Axes {
    Few {
        row_major: bool,
        rank: u8,
        extents: [usize; INLINE_AXES],
        steps: [isize; INLINE_AXES],
    },
    Many(Arc<Many>),
}

pub(crate) struct Many {
    row_major: bool,
    extents: Extents,
    steps: Strides,
}

/// Strides, in elements, of a row-major buffer.
pub(crate) fn row_major(extents: &[usize]) -> Strides {
    let mut steps: Strides = smallvec![1; extents.len()];
    for d in (1..extents.len()).rev() {
        steps[d - 1] = steps[d].wrapping_mul(extents[d] as isize);
    }
    steps
}

/// The position of each element of a strided view, in row-major order.
pub(crate) fn positions(extents: &[usize], strides: &[isize], first: isize) -> Box<[isize]> {
    let mut out = vec![first];
    for (&n, &stride) in extents.iter().zip(strides) {
        let next = |&at: &isize| (0..n as isize).map(move |i| at + i * stride);
        out = out.iter().flat_map(next).collect();
    }
    out.into_boxed_slice()
}

/// Whether the elements are contiguous in row-major order.
fn is_row_major(extents: &[usize], steps: &[isize]) -> bool {
    let mut step = 1isize;
    extents.iter().zip(steps).rev().all(|(&n, &s)| {
        let fits = n == 1 || s == step;
        step = step.wrapping_mul(n as isize);
        fits
    }) || extents.contains(&0)
}

impl Axes {
    /// Axes with arbitrary strides.
    pub(crate) fn new(extents: &[usize], steps: &[isize]) -> Axes {
        Axes::of(extents, steps, is_row_major(extents, steps))
    }

    /// Axes of a row-major buffer.
    #[inline]
    pub(crate) fn row_major(extents: &[usize]) -> Axes {
        match *extents {
            [] => Axes::Few {
                row_major: true,
                rank: 0,
                extents: [0; INLINE_AXES],
                steps: [0; INLINE_AXES],
            },
            [n] => Axes::Few {
                row_major: true,
                rank: 1,
                extents: [n, 0],
                steps: [1, 0],
            },
            [m, n] => Axes::Few {
                row_major: true,
                rank: 2,
                extents: [m, n],
                steps: [n as isize, 1],
            },
            _ => Axes::of(extents, &row_major(extents), true),
        }
    }

    fn of(extents: &[usize], steps: &[isize], row_major: bool) -> Axes {
        let rank = extents.len();
        assert_eq!(rank, steps.len(), "a step for each axis");
        if rank > INLINE_AXES {
            return Axes::Many(Arc::new(Many {
                row_major,
                extents: copied(extents),
                steps: copied(steps),
            }));
        }
        let (mut few, mut few_steps) = ([0; INLINE_AXES], [0; INLINE_AXES]);
        few[..rank].copy_from_slice(extents);
        few_steps[..rank].copy_from_slice(steps);
        Axes::Few {
            row_major,
            rank: rank as u8,
            extents: few,
            steps: few_steps,
        }
    }

    /// Extents of the axes.
    #[inline]
    pub(crate) fn extents(&self) -> &[usize] {
        match self {
            Axes::Few { rank, extents, .. } => &extents[..usize::from(*rank)],
            Axes::Many(many) => &many.extents,
        }
    }

    /// Strides of the axes, in elements.
    #[inline]
    pub(crate) fn steps(&self) -> &[isize] {
        match self {
            Axes::Few { rank, steps, .. } => &steps[..usize::from(*rank)],
            Axes::Many(many) => &many.steps,
        }
    }

    /// Whether the elements are contiguous in row-major order.
    #[inline]
    pub(crate) fn is_row_major(&self) -> bool {
        match self {
            Axes::Few { row_major, .. } => *row_major,
            Axes::Many(many) => many.row_major,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_major_axes_are_recognised() {
        let shapes: [&[usize]; 8] = [
            &[],
            &[3],
            &[2, 3],
            &[1, 3],
            &[2, 1],
            &[0, 3],
            &[2, 3, 4],
            &[2, 1, 1, 5],
        ];
        for extents in shapes {
            let (made, steps) = (Axes::row_major(extents), row_major(extents));
            assert_eq!((made.extents(), made.steps()), (extents, &steps[..]));
            assert!(
                made.is_row_major() && Axes::new(extents, &steps).is_row_major(),
                "{extents:?}"
            );
        }
        let lies = |extents: &[usize], steps: &[isize]| Axes::new(extents, steps).is_row_major();
        assert!(lies(&[1], &[7]) && lies(&[2, 1], &[1, 9]) && lies(&[0, 2], &[5, 5]));
        assert!(
            !lies(&[2], &[0])
                && !lies(&[2, 3], &[1, 2])
                && !lies(&[2, 2, 2], &[4, 1, 2])
                && !lies(&[3], &[-1])
        );
    }
}
