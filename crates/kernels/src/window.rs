//! Reductions and selections over sliding windows.
//!
//! ```text
//! y[p] = fold of x[i] over the elements i of the window p            axis by axis, each in the order of k
//! r[p] = Σ_k t[i] where x[i] = y[p]          r[i] = Σ_{k, p} t[p] where x[i] = y[p]
//! ```
//! Axes before the first with windows only count images, which are shared among threads.

use crate::element::Number;
use crate::parallel;
use crate::simd::widest;
use crate::sliding::{Axis, Run, each_line};

/// Elements of images that are one piece of work.
const PIECE: usize = 1 << 14;

/// `y[p]` = the fold of the elements of each window, one axis after the other; `of_none` where there are none.
///
/// # Panics
/// If the slices do not have the elements that the axes say.
pub fn reduce<T: Copy + Send + Sync, A: Copy + Sync>(
    y: &mut [T],
    x: &[T],
    axes: &[Axis],
    of_none: A,
    lift: impl Fn(T) -> A + Sync,
    fold: impl Fn(A, A) -> A + Sync,
    lower: impl Fn(A) -> T + Sync,
) {
    let Images { axes, n, count, .. } = Images::of(axes, x.len(), y.len());
    let stages: Vec<Stage> = (0..axes.len()).filter(|&k| !axes[k].is_still()).map(|k| Stage::new(axes, k)).collect();
    if stages.is_empty() {
        return y.iter_mut().zip(x).for_each(|(y, &x)| *y = lower(lift(x)));
    }
    let each = (PIECE / n.max(count).max(1)).max(1);
    parallel::chunks(y, each * count.max(1), 2 * x.len() as u64, |chunk, part| {
        let (mut now, mut next) = (Vec::new(), Vec::new());
        for (image, y) in (chunk * each..).zip(part.chunks_exact_mut(count)) {
            let x = &x[image * n..][..n];
            for (k, stage) in stages.iter().enumerate() {
                next.clear();
                next.resize(stage.outer * stage.to * stage.inner, of_none);
                match k {
                    0 => widest(|| stage.fold(&mut next, x, &lift, &fold)),
                    _ => widest(|| stage.fold(&mut next, &now, |a| a, &fold)),
                }
                std::mem::swap(&mut now, &mut next);
            }
            y.iter_mut().zip(&now).for_each(|(y, &a)| *y = lower(a));
        }
    });
}

/// What slides, without the axes in front that do not.
struct Images<'a> {
    axes: &'a [Axis],
    /// Elements of the operand and of the result in an image.
    n: usize,
    count: usize,
}

impl<'a> Images<'a> {
    fn of(axes: &'a [Axis], x: usize, y: usize) -> Self {
        let still = axes.iter().take_while(|a| a.is_still()).count();
        let (front, axes) = axes.split_at(still);
        let images = front.iter().map(|a| a.len).product::<usize>();
        let (n, count) = (axes.iter().map(|a| a.len).product::<usize>(), axes.iter().map(|a| a.count).product());
        assert_eq!((x, y), (images * n, images * count), "the operand and the result of windows {front:?} {axes:?}");
        Images { axes, n, count }
    }
}

/// One axis of an image, when those before it are folded.
struct Stage {
    outer: usize,
    from: usize,
    to: usize,
    inner: usize,
    runs: Vec<Run>,
}

impl Stage {
    fn new(axes: &[Axis], k: usize) -> Stage {
        let axis = &axes[k];
        Stage {
            outer: axes[..k].iter().map(|a| a.count).product(),
            from: axis.len,
            to: axis.count,
            inner: axes[k + 1..].iter().map(|a| a.len).product(),
            runs: (0..axis.window).map(|k| axis.run(k)).collect(),
        }
    }

    #[inline(always)]
    fn fold<S: Copy, A: Copy>(&self, y: &mut [A], x: &[S], lift: impl Fn(S) -> A, fold: impl Fn(A, A) -> A) {
        let inner = self.inner;
        for o in 0..self.outer {
            let x = &x[o * self.from * inner..][..self.from * inner];
            let y = &mut y[o * self.to * inner..][..self.to * inner];
            let step = |y: &mut [A], x: &[S]| y.iter_mut().zip(x).for_each(|(y, &x)| *y = fold(*y, lift(x)));
            for &run in self.runs.iter().filter(|run| run.count > 0) {
                if run.p_step == 1 && run.i_step == 1 {
                    step(&mut y[run.p * inner..(run.p + run.count) * inner], &x[run.i * inner..]);
                } else if inner == 1 {
                    check(run, y.len(), x.len());
                    // SAFETY: the run is inside of both, as was checked.
                    walk(run, |p, i| unsafe {
                        *y.get_unchecked_mut(p) = fold(*y.get_unchecked(p), lift(*x.get_unchecked(i)));
                    });
                } else {
                    walk(run, |p, i| step(&mut y[p * inner..(p + 1) * inner], &x[i * inner..]));
                }
            }
        }
    }
}

/// Calls `f` with the windows of a run and their elements. The usual steps are loops of their own, which the compiler
/// turns into vectors.
#[inline(always)]
fn walk(run: Run, mut f: impl FnMut(usize, usize)) {
    match (run.p_step, run.i_step) {
        (1, 1) => (0..run.count).for_each(|t| f(run.p + t, run.i + t)),
        (1, 2) => (0..run.count).for_each(|t| f(run.p + t, run.i + 2 * t)),
        (1, 3) => (0..run.count).for_each(|t| f(run.p + t, run.i + 3 * t)),
        (p, i) => (0..run.count).for_each(|t| f(run.p + t * p, run.i.wrapping_add_signed(i.wrapping_mul(t as isize)))),
    }
}

/// # Panics
/// If a run, which is not empty, leaves as many windows or elements.
#[inline(always)]
fn check(run: Run, windows: usize, elements: usize) {
    let steps = run.count - 1;
    let last = run.i.wrapping_add_signed(run.i_step.wrapping_mul(steps as isize));
    assert!(run.p + steps * run.p_step < windows && run.i.max(last) < elements, "{run:?}");
}

/// Where element `k` of the windows of an image is: the same run along each of some lines.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    run: Run,
    /// Where lines begin in an image, of the operand and of the windows.
    starts: &'a [(usize, usize)],
    /// Where the image does.
    image: (usize, usize),
}

impl Lines<'_> {
    /// Calls `f` with where each line begins, and the number of flags before it.
    #[inline(always)]
    fn each(self, mut f: impl FnMut(usize, usize, usize)) {
        for (line, (x, y)) in self.starts.iter().enumerate() {
            f(self.image.0 + x, self.image.1 + y, line * self.run.count);
        }
    }

    /// Sets the flags of the windows `y` whose elements of `x` are equal to them.
    pub fn equal<T: PartialEq>(self, flags: &mut [bool], x: &[T], y: &[T]) {
        assert!(flags.len() == self.starts.len() * self.run.count);
        let mut flag = flags.as_mut_ptr();
        widest(
            #[inline(always)]
            || {
                self.each(|from, to, _| {
                    let (x, y) = (&x[from..], &y[to..]);
                    check(self.run, y.len(), x.len());
                    // SAFETY: the run is inside of both, and there is a flag for each window.
                    walk(self.run, |p, i| unsafe {
                        *flag = *x.get_unchecked(i) == *y.get_unchecked(p);
                        flag = flag.add(1);
                    });
                });
            },
        );
    }

    /// Clears the flags of windows that are done, and notes those that are now.
    fn first(self, flags: &mut [bool], done: &mut [bool]) {
        self.each(|_, y, before| {
            let done = done[y - self.image.1 + self.run.p..].iter_mut().step_by(self.run.p_step);
            for (flag, done) in flags[before..before + self.run.count].iter_mut().zip(done) {
                (*flag, *done) = (*flag && !*done, *flag || *done);
            }
        });
    }

    /// Adds to the windows `r` their elements of `t` that are flagged, or to the elements their windows.
    #[inline(always)]
    fn add<T: Number>(self, r: &mut [T], t: &[T], flags: &[bool], gather: bool) {
        assert!(flags.len() == self.starts.len() * self.run.count);
        let mut flag = flags.as_ptr();
        // SAFETY: there is a flag for each window, and what is found by number is there, as is checked.
        let mut one = |r: &mut [T], t: &[T], to: usize, from: usize| unsafe {
            let (add, to) = (*t.get_unchecked(from), r.get_unchecked_mut(to));
            *to = to.plus(if *flag { add } else { T::ZERO });
            flag = flag.add(1);
        };
        let image = self.image;
        match gather {
            true => self.each(|x, y, _| {
                let (r, t) = (&mut r[y - image.1..], &t[x - image.0..]);
                check(self.run, r.len(), t.len());
                walk(self.run, |p, i| one(r, t, p, i));
            }),
            false => self.each(|x, y, _| {
                let (r, t) = (&mut r[x - image.0..], &t[y - image.1..]);
                check(self.run, t.len(), r.len());
                walk(self.run, |p, i| one(r, t, i, p));
            }),
        }
    }
}

/// Sums over elements that are selected: with `gather` `r[p] = Σ t[i]` over those of the window `p`, without it
/// `r[i] = Σ t[p]` over the windows that select it. `select` sets the flags of lines ([`Lines::equal`]); only the first
/// element that it selects in a window counts if `first`.
///
/// # Panics
/// If the slices do not have the elements that the axes say.
pub fn select<T: Number>(
    r: &mut [T],
    t: &[T],
    axes: &[Axis],
    [gather, first]: [bool; 2],
    select: &(dyn Fn(Lines<'_>, &mut [bool]) + Sync),
) {
    let (x, y) = if gather { (t.len(), r.len()) } else { (r.len(), t.len()) };
    let Images { axes, n, count } = Images::of(axes, x, y);
    // The lines of each element of the window.
    let mut elements: Vec<(usize, Run, Vec<(usize, usize)>)> = Vec::new();
    each_line(axes, |k, y, x, run| match elements.last_mut() {
        Some((last, _, starts)) if *last == k => starts.push((x, y)),
        _ => elements.push((k, run, vec![(x, y)])),
    });
    let (size, of_t) = if gather { (count, n) } else { (n, count) };
    let each = (PIECE / n.max(count).max(1)).max(1);
    parallel::chunks(r, each * size.max(1), 4 * x.max(y) as u64, |chunk, part| {
        let (mut flags, mut done) = (vec![false; count], Vec::new());
        for (image, r) in (chunk * each..).zip(part.chunks_exact_mut(size)) {
            done.clear();
            done.resize(if first { count } else { 0 }, false);
            let t = &t[image * of_t..][..of_t];
            r.fill(T::ZERO);
            for (_, run, starts) in &elements {
                let lines = Lines { run: *run, starts, image: (image * n, image * count) };
                let flags = &mut flags[..starts.len() * run.count];
                select(lines, flags);
                if first {
                    lines.first(flags, &mut done);
                }
                widest(
                    #[inline(always)]
                    || lines.add(r, t, flags, gather),
                );
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Ordered;
    use crate::parallel::with_threads;
    use crate::sliding::components;
    use crate::testing::Random;

    /// Pairs of positions of the operand and of windows, by the elements of windows.
    fn pairs(axes: &[Axis]) -> Vec<(usize, usize)> {
        let extents = |f: fn(&Axis) -> usize| axes.iter().map(f).collect::<Vec<_>>();
        let all = |extents: &[usize]| {
            let extents = extents.to_vec();
            (0..extents.iter().product::<usize>()).map(move |e| components(e, extents.iter().copied()))
        };
        let (window, count) = (extents(|a| a.window), extents(|a| a.count));
        let mut out = Vec::new();
        for k in all(&window) {
            for (at, p) in all(&count).enumerate() {
                let i = axes
                    .iter()
                    .enumerate()
                    .try_fold(0, |s, (a, axis)| Some(s * axis.len + axis.run(k[a]).element(p[a])?));
                out.extend(i.map(|i| (i, at)));
            }
        }
        out
    }

    #[test]
    fn every_window_is_folded_and_selects_as_it_says() {
        let mut random = Random(9);
        for case in 0..80 {
            let small = |random: &mut Random, most| 1 + random.below(most);
            let mut axes: Vec<Axis> = (0..random.below(3)).map(|_| Axis::still(small(&mut random, 40))).collect();
            axes.extend((0..random.below(3)).map(|_| Axis {
                len: small(&mut random, 14),
                window: small(&mut random, 4),
                count: small(&mut random, 12),
                stride: [1, 2, 3, -1][random.below(4)],
                dilation: [1, 1, 2, -1][random.below(4)],
                x_dilation: [1, 1, 1, 2][random.below(4)],
                low: random.below(5) as i64 - 2,
            }));
            axes.extend((0..random.below(2)).map(|_| Axis::still(small(&mut random, 20))));
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let (n, count) = (volume(|a| a.len), volume(|a| a.count));
            let mut draw = |n: usize| (0..n).map(|_| random.below(4) as f32).collect::<Vec<_>>();
            let (x, of_windows, of_elements) = (draw(n), draw(count), draw(n));
            let pairs = pairs(&axes);
            let mut greatest = vec![f32::NEG_INFINITY; count];
            pairs.iter().for_each(|&(i, p)| greatest[p] = greatest[p].max(x[i]));
            for threads in [1, 3] {
                with_threads(threads, || {
                    let mut y = vec![7.0; count];
                    reduce(&mut y, &x, &axes, f32::NEG_INFINITY, |x| x, Ordered::maximum, |x| x);
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
                    let equal = |lines: Lines, flags: &mut [bool]| lines.equal(flags, &x, &y);
                    let (mut r, mut s) = (vec![7.0; count], vec![7.0; n]);
                    select(&mut r, &of_elements, &axes, [true, first], &equal);
                    select(&mut s, &of_windows, &axes, [false, first], &equal);
                    assert_eq!((r, s), (gathered, scattered), "{axes:?}");
                });
            }
        }
    }
}
