//! Gather and scatter: windows of one shape moved between flat offsets.
//!
//! The caller turns index vectors into pairs `(start in dst, start in src)`, clamped or dropped as its mode says, and
//! the kernel moves a window for each pair: `dst[to + Σ w_d · to_strides_d] ⟵ src[from + Σ w_d · from_strides_d]`.
//! Gather writes, scatter combines with what is there. Windows are handled in the order of the pairs and the elements
//! of a window in row-major order, so of two writes to one place the later wins and sums have one order. O(windows ·
//! volume).

use crate::copy::copy_run;
use crate::loops::{Axis, Loops};
use crate::twice::Twofold;
use crate::view::{Run, check_bounds, reach};

/// `dst[to + w] = src[from + w]` for every pair `(to, from)` of `starts` and every index `w` of `window`.
///
/// # Panics
/// If the ranks differ or a window leaves its slice.
pub fn gather_windows<T: Copy>(
    dst: &mut [T],
    to_strides: &[isize],
    src: &[T],
    from_strides: &[isize],
    window: &[usize],
    starts: impl IntoIterator<Item = (usize, usize)>,
) {
    if window.iter().all(|&n| n == 1) {
        return starts.into_iter().for_each(|(d, s)| dst[d] = src[s]);
    }
    let each = Each::new(window, to_strides, from_strides);
    let [to, from] = each.loops.inner().strides;
    each.run([dst.len(), src.len()], starts, |[d, s], len| copy_run(dst, d, to, Run::new(src, s, len, from), len));
}

/// `dst[to + w] = combine(dst[to + w], src[from + w])` for every pair `(to, from)` of `starts` and every index `w` of
/// `window`: `|_, new| new` sets, `|old, new| old + new` adds.
///
/// # Panics
/// If the ranks differ or a window leaves its slice.
pub fn scatter_windows<T: Copy, U: Copy>(
    dst: &mut [T],
    to_strides: &[isize],
    src: &[U],
    from_strides: &[isize],
    window: &[usize],
    starts: impl IntoIterator<Item = (usize, usize)>,
    combine: impl Fn(T, U) -> T,
) {
    if window.iter().all(|&n| n == 1) {
        return starts.into_iter().for_each(|(d, s)| dst[d] = combine(dst[d], src[s]));
    }
    let each = Each::new(window, to_strides, from_strides);
    let [to, from] = each.loops.inner().strides;
    each.run([dst.len(), src.len()], starts, |[mut d, mut s], len| {
        if (to, from) == (1, 1) {
            for (old, &new) in dst[d..d + len].iter_mut().zip(&src[s..s + len]) {
                *old = combine(*old, new);
            }
            return;
        }
        for _ in 0..len {
            dst[d] = combine(dst[d], src[s]);
            (d, s) = (d.wrapping_add_signed(to), s.wrapping_add_signed(from));
        }
    });
}

/// As [`scatter_windows`] with sums, whose rounding errors are kept in `low`, which is as long as `dst` and zero before.
///
/// # Panics
/// As there.
pub fn scatter_sums<T: Twofold>(
    [dst, low]: [&mut [T]; 2],
    to_strides: &[isize],
    src: &[T],
    from_strides: &[isize],
    window: &[usize],
    starts: impl IntoIterator<Item = (usize, usize)>,
) {
    assert_eq!(dst.len(), low.len(), "sums in two parts");
    if window.iter().all(|&n| n == 1) {
        return starts.into_iter().for_each(|(d, s)| (dst[d], low[d]) = T::added(dst[d], low[d], src[s]));
    }
    let each = Each::new(window, to_strides, from_strides);
    let [to, from] = each.loops.inner().strides;
    each.run([dst.len(), src.len()], starts, |[mut d, mut s], len| {
        if (to, from) == (1, 1) {
            let both = dst[d..d + len].iter_mut().zip(&mut low[d..d + len]);
            for ((high, low), &x) in both.zip(&src[s..s + len]) {
                (*high, *low) = T::added(*high, *low, x);
            }
            return;
        }
        for _ in 0..len {
            (dst[d], low[d]) = T::added(dst[d], low[d], src[s]);
            (d, s) = (d.wrapping_add_signed(to), s.wrapping_add_signed(from));
        }
    });
}

/// The loops over one window in both slices.
struct Each<'a> {
    window: &'a [usize],
    strides: [&'a [isize]; 2],
    loops: Loops<2>,
}

impl<'a> Each<'a> {
    fn new(window: &'a [usize], to: &'a [isize], from: &'a [isize]) -> Self {
        assert!(to.len() == window.len() && from.len() == window.len(), "a window has one rank");
        let axes = window.iter().enumerate().map(|(d, &len)| Axis { len, strides: [to[d], from[d]] });
        Each { window, strides: [to, from], loops: Loops::new(axes) }
    }

    /// Calls `f(offsets, len)` for every run of every window.
    fn run(
        &self,
        lens: [usize; 2],
        starts: impl IntoIterator<Item = (usize, usize)>,
        mut f: impl FnMut([usize; 2], usize),
    ) {
        if self.window.contains(&0) {
            return;
        }
        let [to, from] = self.strides.map(|strides| reach(self.window, strides));
        let inside = |reach: Option<(usize, usize)>, start: usize, len: usize| {
            reach.is_some_and(|(below, above)| below <= start && start < len && above < len - start)
        };
        let single = self.loops.outer().is_empty();
        for (d, s) in starts {
            if !inside(to, d, lens[0]) || !inside(from, s, lens[1]) {
                check_bounds(lens[0], d, self.window, self.strides[0]);
                check_bounds(lens[1], s, self.window, self.strides[1]);
            }
            match single {
                true => f([d, s], self.loops.inner().len),
                false => self.loops.in_order([d, s], &mut f),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, indices, layout, shape};
    use crate::view::row_major_strides;

    #[test]
    fn windows_agree_with_elements() {
        let mut random = Random(1);
        for _ in 0..300 {
            let window = shape(&mut random);
            let src = layout(&mut random, &window, |r| r.next());
            let dst = layout(&mut random, &window, |r| r.next());
            if window.contains(&0) {
                continue;
            }
            let top = src.data.len() - 1 - src.offset - reach(&window, &src.strides).unwrap().1;
            let starts: Vec<(usize, usize)> =
                (0..random.below(5)).map(|_| (dst.offset, src.offset + random.below(top + 1))).collect();
            let (mut set, mut add) = (dst.data.clone(), dst.data.clone());
            let (mut set_here, mut add_here) = (set.clone(), add.clone());
            gather_windows(&mut set, &dst.strides, &src.data, &src.strides, &window, starts.iter().copied());
            let sum = |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y);
            scatter_windows(&mut add, &dst.strides, &src.data, &src.strides, &window, starts.iter().copied(), sum);
            for &(to, from) in &starts {
                for index in indices(&window) {
                    let at = |start: usize, strides: &[isize]| {
                        index.iter().zip(strides).fold(start, |at, (&i, &s)| at.wrapping_add_signed(i as isize * s))
                    };
                    let (d, s) = (at(to, &dst.strides), at(from, &src.strides));
                    set_here[d] = src.data[s];
                    add_here[d] = sum(add_here[d], src.data[s]);
                }
            }
            assert_eq!(set, set_here);
            assert_eq!(add, add_here);
        }
    }

    #[test]
    fn the_last_write_wins_and_repeats_add_up() {
        let strides = row_major_strides(&[2]);
        let (rows, mut table) = ([1.0, 2.0, 10.0, 20.0, 100.0, 200.0], [0.0; 4]);
        let starts = [(2, 0), (2, 2), (0, 4)];
        scatter_windows(&mut table, &strides, &rows, &strides, &[2], starts, |_, new| new);
        assert_eq!(table, [100.0, 200.0, 10.0, 20.0]);
        scatter_windows(&mut table, &strides, &rows, &strides, &[2], starts, |old, new| old + new);
        assert_eq!(table, [200.0, 400.0, 21.0, 42.0]);
        scatter_windows(&mut table, &[], &[1000.0], &[], &[], [(1, 0), (1, 0)], f64::max);
        assert_eq!(table, [200.0, 1000.0, 21.0, 42.0]);
    }

    #[test]
    #[should_panic = "leave a slice"]
    fn windows_stay_inside() {
        gather_windows(&mut [0; 4], &[1], &[1; 3], &[1], &[2], [(0, 2)]);
    }
}
