//! Positions of the elements of strided views.

use crate::tensor::row_major;

/// Whether strides are those of contiguous elements.
pub(super) fn is_dense(extents: &[usize], strides: &[isize]) -> bool {
    let dense = row_major(extents);
    let same = |((s, d), n): ((&isize, &isize), &usize)| s == d || *n == 1;
    strides.iter().zip(&dense).zip(extents).all(same)
}

/// The position of each element of a strided view, in row-major order.
pub(super) fn positions(extents: &[usize], strides: &[isize], first: isize) -> Box<[isize]> {
    let mut out = vec![first];
    for (&n, &stride) in extents.iter().zip(strides) {
        let next = |&at: &isize| (0..n as isize).map(move |i| at + i * stride);
        out = out.iter().flat_map(next).collect();
    }
    out.into_boxed_slice()
}
