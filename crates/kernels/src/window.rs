//! Reductions and selections over sliding windows.
//!
//! ```text
//! y[p] = fold of x[i] over the elements i of the window p            axis by axis, each in the order of k
//! r[p] = Σ_k t[i] where x[i] = y[p]          r[i] = Σ_{k, p} t[p] where x[i] = y[p]
//! ```
//! Leading axes without windows count images, which threads share. In an image, the elements of
//! windows at one place `k` are in lines ([`WindowParts`]).

mod parts;

use crate::double_double::Compensated;
use crate::element::Number;
use crate::memory::{Fallible, refill, zeros};
use crate::parallel;
use crate::sliding::Axis;
use crate::tuning::WINDOW_PIECE_ELEMENTS;
pub use parts::{WindowLines, WindowParts};
use std::borrow::Cow;

/// Computes the fold `y[p]` of the elements of each window, one axis after the other; `of_none` for
/// windows without elements.
///
/// # Panics
/// If the slices do not have the lengths that the axes specify.
pub fn reduce<T: Copy + Send + Sync, A: Copy + Sync>(
    y: &mut [T],
    x: &[T],
    axes: &[Axis],
    of_none: A,
    lift: impl Fn(T) -> A + Sync,
    fold: impl Fn(A, A) -> A + Sync,
    lower: impl Fn(A) -> T + Sync,
) -> Fallible {
    let Images { axes, n, count, .. } = Images::of(axes, x.len(), y.len());
    let moving = (0..axes.len()).filter(|&k| !axes[k].is_still());
    let stages = moving
        .map(|k| stage(axes, k))
        .collect::<Fallible<Vec<WindowParts>>>()?;
    if stages.is_empty() {
        y.iter_mut().zip(x).for_each(|(y, &x)| *y = lower(lift(x)));
        return Ok(());
    }
    let each = (WINDOW_PIECE_ELEMENTS / n.max(count).max(1)).max(1);
    parallel::try_chunks(y, each * count.max(1), 2 * x.len() as u64, |chunk, part| {
        let (mut now, mut next) = (Vec::new(), Vec::new());
        for (image, y) in (chunk * each..).zip(part.chunks_exact_mut(count)) {
            let x = &x[image * n..][..n];
            for (k, stage) in stages.iter().enumerate() {
                refill(&mut next, stage.y.size, of_none)?;
                match k {
                    0 => fold_parts(stage, &mut next, &stage.x.reorder(x)?, &lift, &fold),
                    _ => fold_parts(stage, &mut next, &stage.x.reorder(&now)?, |a| a, &fold),
                }
                if stage.y.is_same() {
                    std::mem::swap(&mut now, &mut next);
                } else {
                    refill(&mut now, stage.y.len(), of_none)?;
                    stage.y.restore(&mut now, &next);
                }
            }
            y.iter_mut().zip(&now).for_each(|(y, &a)| *y = lower(a));
        }
        Ok(())
    })
}

/// Computes the sum `y[p]` of the elements of each window, in the order of a reduction of at most
/// as many elements as it has lanes ([`tree`](mod@crate::tree)): elements that do not exist are 0,
/// and the upper half of the elements is added to the lower half until one is left. It is meant for
/// a few elements: O(elements of all windows) time.
///
/// # Panics
/// If the slices do not have the lengths that the axes specify.
pub fn sum_in_tree_order<T: Number>(y: &mut [T], x: &[T], axes: &[Axis]) -> Fallible {
    let (Some(last), terms) = (axes.len().checked_sub(1), volume(axes, |a| a.window)) else {
        y.copy_from_slice(x);
        return Ok(());
    };
    assert_eq!(
        [x.len(), y.len()],
        [volume(axes, |a| a.len), volume(axes, |a| a.count)],
        "windows of {axes:?}"
    );
    let (count, outer) = (axes[last].count, &axes[..last]);
    let row_elements = count * terms;
    let each = (WINDOW_PIECE_ELEMENTS / row_elements.max(1)).max(1);
    let nanos = (y.len() * terms) as u64;
    parallel::try_chunks(y, each * count.max(1), nanos, |chunk, part| {
        let mut rows = Vec::new();
        for (r, y) in (chunk * each..).zip(part.chunks_exact_mut(count)) {
            refill(&mut rows, row_elements, T::ZERO)?;
            for (k, row) in rows.chunks_exact_mut(count).enumerate() {
                let (mut window, mut windows) = (k / axes[last].window, r);
                let (mut at, mut stride) = (0, axes[last].len);
                // The row of the operand, if the windows have one.
                let found = outer.iter().rev().try_for_each(|a| {
                    let (own, p) = (window % a.window, windows % a.count);
                    (window, windows) = (window / a.window, windows / a.count);
                    at += a.run(own).element(p)? * stride;
                    stride *= a.len;
                    Some(())
                });
                let run = axes[last].run(k % axes[last].window);
                if found.is_some() {
                    for t in 0..run.count {
                        let i = run.i.wrapping_add_signed(t as isize * run.i_step);
                        row[run.p + t * run.p_step] = x[at + i];
                    }
                }
            }
            let mut left = terms;
            while left > 1 {
                let half = left.next_power_of_two() / 2;
                let (low, high) = rows[..left * count].split_at_mut(half * count);
                low.iter_mut().zip(high).for_each(|(a, b)| *a = a.plus(*b));
                left = half;
            }
            y.copy_from_slice(&rows[..count]);
        }
        Ok(())
    })
}

/// The product of extents of axes.
fn volume(axes: &[Axis], of: impl Fn(&Axis) -> usize) -> usize {
    axes.iter().map(of).product()
}

/// Sliding axes of an image, without leading axes that do not slide.
struct Images<'a> {
    axes: &'a [Axis],
    /// Number of elements of the operand and of the result in an image.
    n: usize,
    count: usize,
}

impl<'a> Images<'a> {
    fn of(axes: &'a [Axis], x: usize, y: usize) -> Self {
        let still = axes.iter().take_while(|a| a.is_still()).count();
        let (front, axes) = axes.split_at(still);
        let images = front.iter().map(|a| a.len).product::<usize>();
        let (n, count) = (
            axes.iter().map(|a| a.len).product::<usize>(),
            axes.iter().map(|a| a.count).product(),
        );
        assert_eq!(
            (x, y),
            (images * n, images * count),
            "the operand and the result of windows {front:?} {axes:?}"
        );
        Images { axes, n, count }
    }
}

/// Windows along axis `k` of an image, after the axes before it were folded.
fn stage(axes: &[Axis], k: usize) -> Fallible<WindowParts> {
    let outer = axes[..k].iter().map(|a| a.count).product();
    let inner = axes[k + 1..].iter().map(|a| a.len).product();
    WindowParts::new(&[Axis::still(outer), axes[k], Axis::still(inner)])
}

/// Folds all parts of an image, in order.
fn fold_parts<S: Copy, A: Copy>(
    stage: &WindowParts,
    y: &mut [A],
    x: &[S],
    lift: impl Fn(S) -> A,
    fold: impl Fn(A, A) -> A,
) {
    for part in &stage.parts {
        part.each_line(
            #[inline(always)]
            |p, i, n| {
                for (y, &x) in y[p..p + n].iter_mut().zip(&x[i..i + n]) {
                    *y = fold(*y, lift(x));
                }
            },
        );
    }
}

/// Terms of a selection.
#[derive(Clone, Copy)]
pub enum Terms<'a, T> {
    /// One term for each element, or each window.
    Each(&'a [T]),
    /// One broadcast term.
    Same(T),
}

/// Returns the function that selects elements of an image.
pub type Selection<'a> = dyn Fn(&WindowParts, usize) -> Fallible<Box<Select<'a>>> + Sync + 'a;

/// Clears the flags of windows of a part that do not select their element.
pub type Select<'a> = dyn Fn(&WindowLines, &mut [bool]) + 'a;

/// Selects the elements of `x` that are equal to their windows in `y`.
pub fn equal<'a, T: PartialEq + Copy + Sync>(x: &'a [T], y: &'a [T]) -> Box<Selection<'a>> {
    Box::new(move |parts, image| {
        let (n, count) = (parts.x.len(), parts.y.len());
        let x: Cow<[T]> = parts.x.reorder(&x[image * n..][..n])?;
        let y: Cow<[T]> = parts.y.reorder(&y[image * count..][..count])?;
        Ok(Box::new(move |part, flags| {
            part.each_flagged(
                flags,
                #[inline(always)]
                |flags, p, i| {
                    let n = flags.len();
                    for (flag, (x, y)) in flags.iter_mut().zip(x[i..i + n].iter().zip(&y[p..p + n]))
                    {
                        *flag = x == y;
                    }
                },
            );
        }))
    })
}

/// Clears the flags of windows that have selected an element before, and records those that select
/// one now.
fn first(part: &WindowLines, flags: &mut [bool], done: &mut [bool]) {
    part.each_flagged(
        flags,
        #[inline(always)]
        |flags, p, _| {
            let n = flags.len();
            for (flag, done) in flags.iter_mut().zip(&mut done[p..p + n]) {
                (*flag, *done) = (*flag && !*done, *flag || *done);
            }
        },
    );
}

/// Adds the flagged terms: those of elements to their windows `r` if `gather`, else those of
/// windows to their elements.
fn add<T: Number, A: Copy>(
    part: &WindowLines,
    r: &mut [A],
    t: Terms<'_, T>,
    flags: &mut [bool],
    gather: bool,
    plus: impl Fn(A, T) -> A,
) {
    part.each_flagged(
        flags,
        #[inline(always)]
        |flags, p, i| {
            let ((to, of), n) = (if gather { (p, i) } else { (i, p) }, flags.len());
            let r = &mut r[to..to + n];
            match t {
                Terms::Each(t) => {
                    for (r, (&t, &flag)) in r.iter_mut().zip(t[of..of + n].iter().zip(&*flags)) {
                        *r = plus(*r, if flag { t } else { T::ZERO });
                    }
                }
                Terms::Same(t) => {
                    for (r, &flag) in r.iter_mut().zip(&*flags) {
                        *r = plus(*r, if flag { t } else { T::ZERO });
                    }
                }
            }
        },
    );
}

/// Sums terms of selected elements. With `gather`, `r[p] = Σ t[i]` over the selected elements of
/// the window `p`; otherwise `r[i] = Σ t[p]` over the windows that select it. `select` determines
/// the elements ([`equal`]). With `only_first`, only the first selected element of a window counts.
/// Sums are compensated if windows have more than [`PLAIN`] elements.
///
/// # Panics
/// If the slices do not have the lengths that the axes specify.
pub fn select<T: Number>(
    r: &mut [T],
    t: Terms<'_, T>,
    axes: &[Axis],
    how: [bool; 2],
    select: &Selection<'_>,
) -> Fallible {
    match axes.iter().map(|a| a.window).product::<usize>() <= PLAIN {
        true => sums(r, t, axes, how, select, T::ZERO, T::plus, |x| x),
        false => {
            let none = T::Compensated::of(T::ZERO.wide());
            let plus = |s: T::Compensated, x: T| s.plus(T::Compensated::of(x.wide()));
            sums(r, t, axes, how, select, none, plus, |s| {
                T::from_wide(s.round())
            })
        }
    }
}

/// Maximum number of elements of a window for which sums are not compensated.
/// It decides the bits of a sum.
pub const PLAIN: usize = 4;

/// Runs [`select`] with given accumulators.
#[allow(clippy::too_many_arguments)]
fn sums<T: Number, A: Copy + Send + Sync>(
    r: &mut [T],
    t: Terms<'_, T>,
    axes: &[Axis],
    [gather, only_first]: [bool; 2],
    select: &Selection<'_>,
    none: A,
    plus: impl Fn(A, T) -> A + Sync,
    lower: impl Fn(A) -> T + Sync,
) -> Fallible {
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (x, y) = (volume(|a| a.len), volume(|a| a.count));
    let (sums, terms) = if gather { (y, x) } else { (x, y) };
    assert!(
        r.len() == sums && !matches!(t, Terms::Each(t) if t.len() != terms),
        "sums and terms of {axes:?}"
    );
    let Images { axes, n, count } = Images::of(axes, x, y);
    let parts = WindowParts::new(axes)?;
    let (to, of) = if gather {
        (&parts.y, &parts.x)
    } else {
        (&parts.x, &parts.y)
    };
    let each = (WINDOW_PIECE_ELEMENTS / n.max(count).max(1)).max(1);
    parallel::try_chunks(
        r,
        each * to.len().max(1),
        4 * x.max(y) as u64,
        |chunk, piece| {
            let (mut flags, mut done) = (zeros(count)?, Vec::new());
            let (mut scratch, mut all) = (Vec::new(), Vec::new());
            for (image, r) in (chunk * each..).zip(piece.chunks_exact_mut(to.len())) {
                let select = select(&parts, image)?;
                let own = match t {
                    Terms::Each(t) => of.reorder(&t[image * of.len()..][..of.len()])?,
                    Terms::Same(_) => Cow::Borrowed(&[][..]),
                };
                let t = if let Terms::Each(_) = t {
                    Terms::Each(&own[..])
                } else {
                    t
                };
                refill(&mut done, if only_first { parts.y.size } else { 0 }, false)?;
                refill(&mut scratch, to.size, none)?;
                for part in &parts.parts {
                    select(part, &mut flags);
                    if only_first {
                        first(part, &mut flags, &mut done);
                    }
                    add(part, &mut scratch, t, &mut flags, gather, &plus);
                }
                match to.is_same() {
                    true => r.iter_mut().zip(&scratch).for_each(|(r, &s)| *r = lower(s)),
                    false => {
                        refill(&mut all, to.len(), none)?;
                        to.restore(&mut all, &scratch);
                        r.iter_mut().zip(&all).for_each(|(r, &s)| *r = lower(s));
                    }
                }
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Ordered;
    use crate::parallel::with_threads;
    use crate::sliding::components;
    use crate::testing::Random;

    /// Pairs of positions of the operand and of windows, ordered by the place in the window.
    fn pairs(axes: &[Axis]) -> Vec<(usize, usize)> {
        let extents = |f: fn(&Axis) -> usize| axes.iter().map(f).collect::<Vec<_>>();
        let all = |extents: &[usize]| {
            let extents = extents.to_vec();
            (0..extents.iter().product::<usize>())
                .map(move |e| components(e, extents.iter().copied()))
        };
        let (window, count) = (extents(|a| a.window), extents(|a| a.count));
        let mut out = Vec::new();
        for k in all(&window) {
            for (at, p) in all(&count).enumerate() {
                let i = axes.iter().enumerate().try_fold(0, |s, (a, axis)| {
                    Some(s * axis.len + axis.run(k[a]).element(p[a])?)
                });
                out.extend(i.map(|i| (i, at)));
            }
        }
        out
    }

    fn random_axes(random: &mut Random) -> Vec<Axis> {
        let small = |random: &mut Random, most| 1 + random.below(most);
        let mut axes: Vec<Axis> = (0..random.below(3))
            .map(|_| Axis::still(small(random, 40)))
            .collect();
        axes.extend((0..random.below(3)).map(|_| Axis {
            len: small(random, 14),
            window: small(random, 4),
            count: small(random, 12),
            stride: [1, 2, 3, -1, 1 << 40][random.below(5)],
            dilation: [1, 1, 2, -1][random.below(4)],
            x_dilation: [1, 1, 1, 2][random.below(4)],
            low: random.below(5) as i64 - 2,
        }));
        axes.extend((0..random.below(2)).map(|_| Axis::still(small(random, 20))));
        axes
    }

    #[test]
    fn every_window_is_folded_and_selects_as_it_says() {
        let mut random = Random(9);
        for case in 0..120 {
            let axes = random_axes(&mut random);
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let (n, count) = (volume(|a| a.len), volume(|a| a.count));
            let mut draw = |n: usize| (0..n).map(|_| random.below(4) as f32).collect::<Vec<_>>();
            let (x, of_windows, of_elements) = (draw(n), draw(count), draw(n));
            let pairs = pairs(&axes);
            let mut greatest = vec![f32::NEG_INFINITY; count];
            pairs
                .iter()
                .for_each(|&(i, p)| greatest[p] = greatest[p].max(x[i]));
            for threads in [1, 3] {
                with_threads(threads, || {
                    let mut y = vec![7.0; count];
                    reduce(
                        &mut y,
                        &x,
                        &axes,
                        f32::NEG_INFINITY,
                        |x| x,
                        Ordered::maximum,
                        |x| x,
                    )
                    .unwrap();
                    assert_eq!(y, greatest, "{axes:?}");
                    let first = case % 2 == 0;
                    let mut done = vec![false; count];
                    let chosen = |&&(i, p): &&(usize, usize)| {
                        x[i] == greatest[p] && !(first && std::mem::replace(&mut done[p], true))
                    };
                    let (mut gathered, mut scattered) = (vec![0.0; count], vec![0.0; n]);
                    for &(i, p) in pairs.iter().filter(chosen) {
                        gathered[p] += of_elements[i];
                        scattered[i] += of_windows[p];
                    }
                    let (equal, mut r, mut s) = (equal(&x, &y), vec![7.0; count], vec![7.0; n]);
                    select(
                        &mut r,
                        Terms::Each(&of_elements),
                        &axes,
                        [true, first],
                        &equal,
                    )
                    .unwrap();
                    select(
                        &mut s,
                        Terms::Each(&of_windows),
                        &axes,
                        [false, first],
                        &equal,
                    )
                    .unwrap();
                    assert_eq!((&r, &s), (&gathered, &scattered), "{axes:?}");
                    for (gather, r, terms) in [(true, &mut r, n), (false, &mut s, count)] {
                        let mut same = r.clone();
                        select(
                            r,
                            Terms::Each(&vec![3.0; terms]),
                            &axes,
                            [gather, first],
                            &equal,
                        )
                        .unwrap();
                        select(&mut same, Terms::Same(3.0), &axes, [gather, first], &equal)
                            .unwrap();
                        assert_eq!(&same, r, "{axes:?}");
                    }
                });
            }
        }
    }
}
