//! Reductions and selections over sliding windows.

use crate::sliding::{Axis, each_line};

/// `y[p]` = the fold of the elements of each window, one axis after the other; `of_none` where there are none.
///
/// # Panics
/// If the slices do not have the elements that the axes say.
pub fn reduce<T: Copy, A: Copy>(
    y: &mut [T],
    x: &[T],
    axes: &[Axis],
    of_none: A,
    lift: impl Fn(T) -> A,
    fold: impl Fn(A, A) -> A,
    lower: impl Fn(A) -> T,
) {
    let mut now: Vec<A> = x.iter().map(|&x| lift(x)).collect();
    let mut shape: Vec<usize> = axes.iter().map(|a| a.len).collect();
    assert_eq!(now.len(), shape.iter().product::<usize>(), "the operand of windows {axes:?}");
    for (k, axis) in axes.iter().enumerate().filter(|(_, a)| !a.is_still()) {
        let (outer, inner) = (shape[..k].iter().product::<usize>(), shape[k + 1..].iter().product::<usize>());
        let mut next = vec![of_none; outer * axis.count * inner];
        for run in (0..axis.window).map(|k| axis.run(k)) {
            for o in 0..outer {
                let from = &now[o * axis.len * inner..][..axis.len * inner];
                let to = &mut next[o * axis.count * inner..][..axis.count * inner];
                let step = |to: &mut [A], from: &[A]| to.iter_mut().zip(from).for_each(|(y, &x)| *y = fold(*y, x));
                if run.count > 0 && run.p_step == 1 && run.i_step == 1 {
                    step(&mut to[run.p * inner..(run.p + run.count) * inner], &from[run.i * inner..]);
                    continue;
                }
                let (mut p, mut i) = (run.p, run.i);
                if inner == 1 {
                    for _ in 0..run.count {
                        to[p] = fold(to[p], from[i]);
                        p += run.p_step;
                        i = i.wrapping_add_signed(run.i_step);
                    }
                    continue;
                }
                for _ in 0..run.count {
                    step(&mut to[p * inner..(p + 1) * inner], &from[i * inner..]);
                    p += run.p_step;
                    i = i.wrapping_add_signed(run.i_step);
                }
            }
        }
        now = next;
        shape[k] = axis.count;
    }
    assert_eq!(y.len(), now.len(), "the result of windows {axes:?}");
    y.iter_mut().zip(now).for_each(|(y, a)| *y = lower(a));
}

/// For every window and each of its elements at which `x` is `y` (the first one only if `first`): calls
/// `add(position in x, position in y)`.
pub fn select<T: PartialEq>(x: &[T], y: &[T], axes: &[Axis], first: bool, mut add: impl FnMut(usize, usize)) {
    let mut done = vec![false; if first { y.len() } else { 0 }];
    each_line(axes, |_, to, from, run| {
        let (mut p, mut i) = (to + run.p, from.wrapping_add(run.i));
        for _ in 0..run.count {
            if x[i] == y[p] && !(first && std::mem::replace(&mut done[p], true)) {
                add(i, p);
            }
            p += run.p_step;
            i = i.wrapping_add_signed(run.i_step);
        }
    });
}
