//! Test support of this crate: random shapes, strides and values, the indices of a shape, a
//! reference implementation of the reduction order, and memory between guard pages.

use crate::tree::{CHUNK, Lanes};
use crate::view::{View, row_major_strides, volume};

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// A random number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    /// A random number in [-1, 1).
    pub(crate) fn float(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// An owned view.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    pub data: Vec<T>,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

impl<T: Copy> Owned<T> {
    pub(crate) fn view(&self) -> View<'_, T> {
        View::new(&self.data, self.offset, &self.shape, &self.strides)
    }

    /// The elements in row-major order, by index.
    pub(crate) fn elements(&self) -> Vec<T> {
        indices(&self.shape).map(|i| self.view().get(&i)).collect()
    }
}

/// A view of the given shape with random permuted, reversed, broadcast or spread axes.
pub(crate) fn layout<T>(
    random: &mut Random,
    shape: &[usize],
    mut value: impl FnMut(&mut Random) -> T,
) -> Owned<T> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    if random.below(4) == 0 {
        order.sort();
    }
    let (mut strides, mut step, mut offset) = (vec![0isize; shape.len()], 1, 0);
    for &d in order.iter().rev() {
        match random.below(8) {
            0 => continue,
            1 => step *= 2,
            _ => {}
        }
        strides[d] = step as isize;
        if random.below(4) == 0 {
            strides[d] = -strides[d];
            offset += step * shape[d].saturating_sub(1);
        }
        step *= shape[d].max(1);
    }
    let data = (0..step + 3).map(|_| value(random)).collect();
    Owned {
        data,
        offset: offset + random.below(3),
        shape: shape.to_vec(),
        strides,
    }
}

/// A shape of rank 0 to 4 with lengths 1 and more, rarely 0.
pub(crate) fn shape(random: &mut Random) -> Vec<usize> {
    let rank = random.below(5);
    let length = |random: &mut Random| match random.below(12) {
        0 => 0,
        1 | 2 => 1,
        3 if rank < 3 => 60 + random.below(90),
        _ => 2 + random.below(7),
    };
    (0..rank).map(|_| length(random)).collect()
}

/// Every index of a shape, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let (strides, shape) = (row_major_strides(shape), shape.to_vec());
    (0..volume(&shape)).map(move |i| {
        (0..shape.len())
            .map(|d| i / strides[d] as usize % shape[d])
            .collect()
    })
}

fn pairwise<A: Copy>(x: &[A], combine: &impl Fn(A, A) -> A) -> A {
    if x.len() == 1 {
        return x[0];
    }
    let (low, high) = x.split_at(x.len().next_power_of_two() / 2);
    combine(pairwise(low, combine), pairwise(high, combine))
}

/// Reference implementation of the reduction tree, from its definition.
pub(crate) fn tree<A: Lanes>(x: &[A], combine: &impl Fn(A, A) -> A) -> A {
    let chunk = |x: &[A]| {
        let lane = |l: usize| {
            pairwise(
                &x[l..].iter().copied().step_by(A::LANES).collect::<Vec<_>>(),
                combine,
            )
        };
        let mut lane: Vec<A> = (0..A::LANES.min(x.len())).map(lane).collect();
        let mut half = A::LANES / 2;
        while half > 0 {
            for l in half..lane.len() {
                lane[l - half] = combine(lane[l - half], lane[l]);
            }
            lane.truncate(half);
            half /= 2;
        }
        lane[0]
    };
    pairwise(&x.chunks(CHUNK).map(chunk).collect::<Vec<_>>(), combine)
}

/// Memory between guard pages.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) struct Guarded {
    page: *mut u8,
    size: usize,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
const PAGE: usize = 4096;

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Guarded {
    pub(crate) fn new(size: usize) -> Guarded {
        let size = size.next_multiple_of(PAGE);
        // SAFETY: the mapping is new, and only its middle becomes accessible.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let all = libc::mmap(
                std::ptr::null_mut(),
                size + 2 * PAGE,
                libc::PROT_NONE,
                flags,
                -1,
                0,
            );
            assert_ne!(all, libc::MAP_FAILED);
            let page = all.cast::<u8>().add(PAGE);
            assert_eq!(
                libc::mprotect(page.cast(), size, libc::PROT_READ | libc::PROT_WRITE),
                0
            );
            Guarded { page, size }
        }
    }

    /// The last bytes of the memory, or the first.
    pub(crate) fn bytes(&self, n: usize, at_end: bool) -> *mut u8 {
        assert!(n <= self.size);
        self.page
            .wrapping_add(if at_end { self.size - n } else { 0 })
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, and nothing refers to it any more.
        unsafe { libc::munmap(self.page.sub(PAGE).cast(), self.size + 2 * PAGE) };
    }
}
