//! What the tests of this crate share: random shapes, strides and values, and every index of a shape.

use crate::view::{View, row_major_strides, volume};

/// A linear congruential generator (Knuth's MMIX constants).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    /// In [-1, 1).
    pub fn float(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// A view's parts, owned.
#[derive(Debug)]
pub struct Owned<T> {
    pub data: Vec<T>,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

impl<T: Copy> Owned<T> {
    pub fn view(&self) -> View<'_, T> {
        View::new(&self.data, self.offset, &self.shape, &self.strides)
    }

    /// The elements in row-major order, by index.
    pub fn elements(&self) -> Vec<T> {
        indices(&self.shape).map(|i| self.view().get(&i)).collect()
    }
}

/// A view of the given shape with axes permuted, reversed, broadcast or spread out at random.
pub fn layout<T>(random: &mut Random, shape: &[usize], mut value: impl FnMut(&mut Random) -> T) -> Owned<T> {
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
    Owned { data, offset: offset + random.below(3), shape: shape.to_vec(), strides }
}

/// A shape of rank 0 to 4 with lengths 0 (rarely), 1 and more.
pub fn shape(random: &mut Random) -> Vec<usize> {
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
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let (strides, shape) = (row_major_strides(shape), shape.to_vec());
    (0..volume(&shape)).map(move |i| (0..shape.len()).map(|d| i / strides[d] as usize % shape[d]).collect())
}
