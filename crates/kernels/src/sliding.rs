//! Sliding windows along an axis: their elements as arithmetic progressions.
//!
//! Element `k` of the window at `p` is the operand's element `i` with `x_dilation · i = stride · p
//! + dilation · k - low`. For a fixed `k`, the windows with such an element, and these elements,
//! are evenly spaced: a [`WindowRun`].

use crate::memory::{Fallible, push, reserve};

/// Windows along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of elements of the operand.
    pub len: usize,
    /// Number of elements of a window.
    pub window: usize,
    /// Number of windows.
    pub count: usize,
    /// Stride of windows; not 0.
    pub stride: i64,
    /// Distance of the elements of a window.
    pub dilation: i64,
    /// Distance of the elements of the dilated operand; positive.
    pub x_dilation: i64,
    /// Padding before the operand's first element.
    pub low: i64,
}

/// Windows `p, p + p_step, ..` and their elements `i, i + i_step, ..`; `count` of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRun {
    /// First window.
    pub p: usize,
    /// Step of windows.
    pub p_step: usize,
    /// Element of the first window.
    pub i: usize,
    /// Step of elements.
    pub i_step: isize,
    /// Number of windows.
    pub count: usize,
}

impl Axis {
    /// Axis along which window `i` is element `i`.
    pub fn still(len: usize) -> Axis {
        Axis {
            len,
            window: 1,
            count: len,
            stride: 1,
            dilation: 1,
            x_dilation: 1,
            low: 0,
        }
    }

    /// Whether window `i` is element `i` for all windows.
    pub fn is_still(&self) -> bool {
        self.window == 1
            && self.count == self.len
            && self.stride == self.x_dilation
            && self.low == 0
    }

    /// Returns the windows that have an element `k`.
    pub fn run(&self, k: usize) -> WindowRun {
        self.progression(
            i128::from(self.dilation) * k as i128 - i128::from(self.low),
            self.count,
        )
    }

    /// Returns the places `k` at which some window has an element of the operand, ascending, and
    /// their runs. Time and memory depend on the number of elements and windows, not on the extent
    /// of a window.
    pub fn runs(&self) -> Fallible<Vec<(usize, WindowRun)>> {
        let mut runs = Vec::new();
        let [len, count] = [self.len, self.count].map(|n| n as i128);
        if len == 0 || count == 0 || self.window == 0 {
            return Ok(runs);
        }
        let [stride, step, low, by] =
            [self.stride, self.x_dilation, self.low, self.dilation].map(i128::from);
        assert!(by != 0, "a dilation of {self:?}");
        // dilation · k = x_dilation · i - stride · p + low, of some i and p.
        let ends = |last: i128| [last.min(0), last.max(0)];
        let ([x_low, x_high], [p_low, p_high]) =
            (ends(step * (len - 1)), ends(-stride * (count - 1)));
        let (least, most) = (x_low + p_low + low, x_high + p_high + low);
        let (least, most) = if by > 0 {
            (least, most)
        } else {
            (-most, -least)
        };
        let first = (-(-least).div_euclid(by.abs())).max(0);
        let last = most.div_euclid(by.abs()).min(self.window as i128 - 1);
        let mut place = |k: i128| match self.run(k as usize) {
            run if run.count > 0 => push(&mut runs, (k as usize, run)),
            _ => Ok(()),
        };
        if last - first < len.saturating_mul(count) {
            (first..=last).try_for_each(place)?;
            return Ok(runs);
        }
        // Few elements and windows, far apart: all pairs are tried.
        let mut places = Vec::new();
        for p in 0..count {
            for i in 0..len {
                let at = step * i - stride * p + low;
                if at % by == 0 && (first..=last).contains(&(at / by)) {
                    push(&mut places, at / by)?;
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().try_for_each(&mut place)?;
        Ok(runs)
    }

    /// Step from a window to the next one with an element at the same place, and the step of that
    /// element.
    pub fn steps(&self) -> (usize, isize) {
        let [stride, step] = [self.stride, self.x_dilation].map(i128::from);
        assert!(stride != 0 && step > 0, "steps of {self:?}");
        let common = gcd(stride.abs(), step);
        ((step / common) as usize, (stride / common) as isize)
    }

    /// Returns the windows `p` below `count` with elements at `stride · p + shift`.
    pub(crate) fn progression(&self, shift: i128, count: usize) -> WindowRun {
        let [stride, step] = [self.stride, self.x_dilation].map(i128::from);
        let at = |p: i128| stride * p + shift;
        // The solutions are one solution plus multiples of `p_step`.
        let (p_step, i_step) = self.steps();
        let (p_step, i_step) = (p_step as i128, i_step as i128);
        let Some(first) = (0..p_step.min(count as i128)).find(|&p| at(p) % step == 0) else {
            return WindowRun::NONE;
        };
        let i = at(first) / step;
        // Steps t with 0 <= i + t i_step < len, and within the windows.
        let last = self.len as i128 - 1;
        let size = i_step.abs();
        let (before, after) = if i_step > 0 {
            (-i, last - i)
        } else {
            (i - last, i)
        };
        let from = before.div_euclid(size) + i128::from(before.rem_euclid(size) != 0);
        let to = after.div_euclid(size);
        let from = from.max(0);
        let to = to.min((count as i128 - 1 - first).div_euclid(p_step));
        if from > to || last < 0 {
            return WindowRun::NONE;
        }
        WindowRun {
            p: (first + from * p_step) as usize,
            p_step: p_step as usize,
            i: (i + from * i_step) as usize,
            i_step: i_step as isize,
            count: (to - from + 1) as usize,
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl WindowRun {
    /// A run without windows.
    const NONE: WindowRun = WindowRun {
        p: 0,
        p_step: 1,
        i: 0,
        i_step: 1,
        count: 0,
    };

    /// The element of the window at `p`.
    #[inline]
    pub fn element(&self, p: usize) -> Option<usize> {
        let t = p.checked_sub(self.p)?;
        let t = if self.p_step == 1 {
            t
        } else {
            if t % self.p_step != 0 {
                return None;
            } else {
                t / self.p_step
            }
        };
        (t < self.count).then(|| {
            self.i
                .wrapping_add_signed(self.i_step.wrapping_mul(t as isize))
        })
    }
}

/// Components of a row-major index over axes with these extents.
pub fn components(
    mut index: usize,
    extents: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
) -> Vec<usize> {
    let mut out = vec![0; extents.len()];
    for (o, n) in out.iter_mut().zip(extents).rev() {
        *o = index % n.max(1);
        index /= n.max(1);
    }
    out
}

/// Calls `f(k, p, x, run)` for every element `k` of the window in row-major order and every line of
/// windows along the last axis. `p` and `x` are the offsets of the line in the result and in the
/// operand.
pub fn each_line(axes: &[Axis], mut f: impl FnMut(usize, usize, usize, WindowRun)) -> Fallible {
    let Some((last, outer)) = axes.split_last() else {
        return each_line(&[Axis::still(1)], f);
    };
    let runs = axes.iter().map(Axis::runs).collect::<Fallible<Vec<_>>>()?;
    let (runs, along) = runs.split_at(outer.len());
    let extents = || runs.iter().map(Vec::len);
    let (mut starts, mut next, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..extents().product::<usize>() {
        let at = components(at, extents());
        let chosen = || runs.iter().zip(&at).map(|(runs, &j)| runs[j]);
        let k = chosen()
            .zip(outer)
            .fold(0, |k, ((place, _), axis)| k * axis.window + place);
        // Offsets of lines in the operand, from the outermost axis to the innermost one.
        starts.clear();
        push(&mut starts, Some(0))?;
        for ((_, run), axis) in chosen().zip(outer) {
            elements.clear();
            reserve(&mut elements, axis.count)?;
            elements.extend((0..axis.count).map(|p| run.element(p)));
            next.clear();
            reserve(&mut next, starts.len().saturating_mul(axis.count))?;
            for s in &starts {
                next.extend(
                    elements
                        .iter()
                        .map(|&i: &Option<usize>| Some(s.as_ref()? * axis.len + i?)),
                );
            }
            std::mem::swap(&mut starts, &mut next);
        }
        for &(j, run) in &along[0] {
            for (line, start) in starts.iter().enumerate() {
                if let Some(x) = start {
                    f(k * last.window + j, line * last.count, x * last.len, run);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places that meet the operand are found whether there are few or many, near or far apart.
    #[test]
    fn runs_are_those_of_places_that_meet_the_operand() {
        for stride in [-3, -1, 1, 2, 1 << 40] {
            for (x_dilation, dilation) in
                [(1, 1), (2, -1), (1, 3), (3, -2), (1 << 20, 1), (1, 1 << 20)]
            {
                for (len, count, low) in [
                    (5, 7, 0),
                    (1, 3, 4),
                    (4, 1, -9),
                    (0, 2, 0),
                    (4, 0, 1),
                    (6, 6, 30),
                ] {
                    for window in [0, 1, 5, 40] {
                        let a = Axis {
                            len,
                            window,
                            count,
                            stride,
                            dilation,
                            x_dilation,
                            low,
                        };
                        let all = (0..window)
                            .map(|k| (k, a.run(k)))
                            .filter(|(_, run)| run.count > 0);
                        assert_eq!(a.runs().unwrap(), all.collect::<Vec<_>>(), "{a:?}");
                        // A longer window meets at least the same places, and at most one per pair.
                        let far = Axis {
                            window: usize::MAX,
                            ..a
                        }
                        .runs()
                        .unwrap();
                        assert!(
                            far.len() <= len * count && far.starts_with(&a.runs().unwrap()),
                            "{a:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn runs_are_what_the_equation_says() {
        for stride in [-3, -2, -1, 1, 2, 4] {
            for x_dilation in [1, 2, 3, 6] {
                for dilation in [-2, 1, 3] {
                    for low in [-4, 0, 5] {
                        for (len, count) in [(5, 7), (1, 3), (0, 2), (4, 0)] {
                            let a = Axis {
                                len,
                                window: 3,
                                count,
                                stride,
                                dilation,
                                x_dilation,
                                low,
                            };
                            for k in 0..a.window {
                                let run = a.run(k);
                                for p in 0..count {
                                    let at = stride * p as i64 + dilation * k as i64 - low;
                                    let i = at / x_dilation;
                                    let want = at % x_dilation == 0 && (0..len as i64).contains(&i);
                                    assert_eq!(
                                        run.element(p),
                                        want.then_some(i as usize),
                                        "{a:?} {k} {p}"
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
