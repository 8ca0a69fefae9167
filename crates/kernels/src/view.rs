//! A read-only strided view of a slice: the operand of every kernel.
//!
//! Element `i` of a view is `data[offset + Σ_d i_d · strides_d]`. A stride of 0 broadcasts an
//! element along its axis, a negative one reverses it. Shape and strides are borrowed. The two
//! commonest layouts ([`View::dense`], [`View::splat`]) need no strides.
//!
//! Invariant: every element of a view is inside `data`. The constructors check it once, in O(rank).

use std::mem::MaybeUninit;

/// Strided view of `data`; see the module's page for the address of an element.
#[derive(Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    offset: usize,
    shape: &'a [usize],
    strides: Strides<'a>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
enum Strides<'a> {
    RowMajor,
    Zero,
    Given(&'a [isize]),
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<'a, T> View<'a, T> {
    /// Returns the view of `data` from `offset` with the given shape and strides (counted in
    /// elements).
    ///
    /// # Panics
    /// If the ranks differ or an element would be outside `data`.
    pub fn new(data: &'a [T], offset: usize, shape: &'a [usize], strides: &'a [isize]) -> Self {
        assert_eq!(shape.len(), strides.len(), "a view has one stride per axis");
        check_bounds(data.len(), offset, shape, strides);
        View {
            data,
            offset,
            shape,
            strides: Strides::Given(strides),
            len: volume(shape),
        }
    }

    /// Returns the row-major view of all of `data`.
    ///
    /// # Panics
    /// If `data.len()` is not the product of `shape`.
    pub fn dense(data: &'a [T], shape: &'a [usize]) -> Self {
        let len = volume(shape);
        assert_eq!(
            data.len(),
            len,
            "a dense view covers its slice, shape {shape:?}"
        );
        View {
            data,
            offset: 0,
            shape,
            strides: Strides::RowMajor,
            len,
        }
    }

    /// Returns a view with one value at every index of `shape`.
    pub fn splat(value: &'a T, shape: &'a [usize]) -> Self {
        let (data, len) = (std::slice::from_ref(value), volume(shape));
        View {
            data,
            offset: 0,
            shape,
            strides: Strides::Zero,
            len,
        }
    }

    /// The elements as memory.
    ///
    /// # Safety
    /// `T` has the size of `M`, and at least its alignment.
    pub(crate) unsafe fn as_memory<M>(self) -> View<'a, MaybeUninit<M>> {
        let (first, len) = (self.data.as_ptr(), self.data.len());
        View {
            // SAFETY: the caller guarantees size and alignment (# Safety), and memory that may be
            // uninitialized has no other invariant.
            data: unsafe { std::slice::from_raw_parts(first.cast(), len) },
            offset: self.offset,
            shape: self.shape,
            strides: self.strides,
            len: self.len,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element: an axis has length 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length of every axis.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The whole slice, not only the elements of the view.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Index in [`View::data`] of the element at index 0.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The stride of one axis.
    pub fn stride(&self, axis: usize) -> isize {
        match self.strides {
            Strides::RowMajor => row_major_stride(self.shape, axis),
            Strides::Zero => 0,
            Strides::Given(strides) => strides[axis],
        }
    }

    /// Whether the elements are contiguous in row-major order.
    pub fn is_contiguous(&self) -> bool {
        match self.strides {
            Strides::RowMajor => true,
            Strides::Zero => self.len <= 1,
            Strides::Given(strides) => {
                let mut next = 1;
                self.is_empty()
                    || self.shape.iter().zip(strides).rev().all(|(&len, &stride)| {
                        let fits = len == 1 || stride == next;
                        next *= len as isize;
                        fits
                    })
            }
        }
    }

    /// Elements in row-major order, if the view is contiguous.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        match self.len {
            0 => Some(&[]),
            len if self.is_contiguous() => Some(&self.data[self.offset..self.offset + len]),
            _ => None,
        }
    }
}

impl<'a, T: Copy> View<'a, T> {
    /// The whole view as one [`ElementRun`], if its elements in row-major order are evenly spaced.
    /// A view without elements is a dense run of length 0.
    pub fn as_run(&self) -> Option<ElementRun<'a, T>> {
        if let Some(slice) = self.as_slice() {
            return Some(ElementRun::Dense(slice));
        }
        let (mut len, mut step) = (1, 0);
        for (d, &n) in self
            .shape
            .iter()
            .enumerate()
            .rev()
            .filter(|&(_, &n)| n != 1)
        {
            match self.stride(d) {
                stride if len == 1 => step = stride,
                stride if stride == step.wrapping_mul(len as isize) => {}
                _ => return None,
            }
            len *= n;
        }
        Some(self.run(self.offset, len, step))
    }

    /// Returns the run of `len >= 1` elements from `data[start]` on, `stride` apart.
    pub fn run(&self, start: usize, len: usize, stride: isize) -> ElementRun<'a, T> {
        ElementRun::new(self.data, start, len, stride)
    }

    /// Returns the element at a multi-index, in O(rank): for tests and single look-ups.
    pub fn get(&self, index: &[usize]) -> T {
        assert_eq!(
            index.len(),
            self.shape.len(),
            "an index has one entry per axis of the view"
        );
        let mut at = self.offset as isize;
        for (axis, &i) in index.iter().enumerate() {
            assert!(
                i < self.shape[axis],
                "index {index:?} is outside the shape {:?}",
                self.shape
            );
            at += i as isize * self.stride(axis);
        }
        self.data[at as usize]
    }
}

/// Evenly spaced elements, distinguished by how fast a loop over them is.
#[derive(Clone, Copy, Debug)]
pub enum ElementRun<'a, T> {
    /// Adjacent elements.
    Dense(&'a [T]),
    /// One element, broadcast.
    Splat(T),
    /// `data[start + i · stride]`.
    Strided(&'a [T], usize, isize),
}

impl<'a, T: Copy> ElementRun<'a, T> {
    /// Returns the run of `len >= 1` elements from `data[start]` on, `stride` apart.
    pub fn new(data: &'a [T], start: usize, len: usize, stride: isize) -> Self {
        match stride {
            1 => ElementRun::Dense(&data[start..start + len]),
            0 => ElementRun::Splat(data[start]),
            _ => ElementRun::Strided(data, start, stride),
        }
    }
}

/// Product of the lengths; 1 for rank 0.
///
/// # Panics
/// If it overflows `usize`. If any length is zero, the result is 0 whatever the others are.
pub fn volume(shape: &[usize]) -> usize {
    volume_of(shape.iter().copied())
}

/// Product of the lengths of some axes, as [`volume`].
pub(crate) fn volume_of(shape: impl Iterator<Item = usize>) -> usize {
    let (mut product, mut empty) = (Some(1usize), false);
    for len in shape {
        empty |= len == 0;
        product = product.and_then(|n| n.checked_mul(len));
    }
    if empty {
        0
    } else {
        product.expect("the number of elements fits a usize")
    }
}

/// The stride of one axis of a row-major array: the product of the lengths after it.
pub fn row_major_stride(shape: &[usize], axis: usize) -> isize {
    shape[axis + 1..]
        .iter()
        .fold(1, |n, &len| n.wrapping_mul(len as isize))
}

/// The strides of a row-major array.
pub fn row_major_strides(shape: &[usize]) -> Vec<isize> {
    (0..shape.len())
        .map(|axis| row_major_stride(shape, axis))
        .collect()
}

/// Distances below and above 0 of the lowest and highest element that strides reach. `None` if the
/// arithmetic overflows. No length is zero.
pub(crate) fn reach(shape: &[usize], strides: &[isize]) -> Option<(usize, usize)> {
    let (mut below, mut above) = (0usize, 0usize);
    for (&len, &stride) in shape.iter().zip(strides) {
        let far = (len - 1).checked_mul(stride.unsigned_abs())?;
        let side = if stride < 0 { &mut below } else { &mut above };
        *side = side.checked_add(far)?;
    }
    Some((below, above))
}

/// Panics unless every element that a shape and strides address from `offset` on is inside a slice
/// of `len`.
pub(crate) fn check_bounds(len: usize, offset: usize, shape: &[usize], strides: &[isize]) {
    if shape.contains(&0) {
        return;
    }
    let fits = reach(shape, strides).is_some_and(|(below, above)| {
        below <= offset && offset.checked_add(above).is_some_and(|last| last < len)
    });
    assert!(
        fits,
        "shape {shape:?}, strides {strides:?} from {offset} leave a slice of {len} elements"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, layout, shape};

    #[test]
    fn runs_agree_with_elements() {
        let mut random = Random(1);
        for _ in 0..500 {
            let shape = shape(&mut random);
            let owned = layout(&mut random, &shape, |r| r.next());
            let (view, elements) = (owned.view(), owned.elements());
            if let Some(slice) = view.as_slice() {
                assert_eq!(slice, elements);
            }
            if let Some(run) = view.as_run() {
                let at = |i: usize| match run {
                    ElementRun::Dense(x) => x[i],
                    ElementRun::Splat(x) => x,
                    ElementRun::Strided(x, start, step) => {
                        x[start.wrapping_add_signed(i as isize * step)]
                    }
                };
                assert_eq!((0..view.len()).map(at).collect::<Vec<_>>(), elements);
            }
        }
    }

    #[test]
    fn rank_zero_and_empty() {
        assert_eq!(
            View::new(&[1, 2, 3], 2, &[], &[]).as_slice(),
            Some(&[3][..])
        );
        assert_eq!(
            View::new(&[1u8; 0], 9, &[2, 0], &[5, 5]).as_slice(),
            Some(&[][..])
        );
        assert_eq!(View::dense(&[0u8; 0], &[usize::MAX, 3, 0]).len(), 0);
        assert!(matches!(
            View::splat(&7, &[2, 3]).as_run(),
            Some(ElementRun::Splat(7))
        ));
        assert!(matches!(
            View::new(&[1, 2, 3], 2, &[3], &[-1]).as_run(),
            Some(ElementRun::Strided(_, 2, -1))
        ));
    }

    #[test]
    #[should_panic = "leave a slice"]
    fn below_the_slice() {
        View::new(&[1, 2, 3], 1, &[3], &[-1]);
    }

    #[test]
    #[should_panic = "leave a slice"]
    fn overflowing_strides() {
        View::new(&[1, 2, 3], 0, &[3, 2], &[isize::MAX, 1]);
    }
}
