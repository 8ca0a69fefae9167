//! Elementwise kernels: `dst[i] = f(a[i], b[i], c[i])` with `dst` row-major and the operands any view of its shape.
//!
//! Each kernel compiles to one loop per kind of operand (adjacent, one value, strided) and closure, which the compiler
//! vectorises where the operands are adjacent or one value. `f` is called once per element in no particular order,
//! except that a kernel may call it once for a `dst` that is constant. An operand that would be read in very short
//! runs or across its grain is copied first, so a kernel may allocate as much as its operands.

use crate::copy::{SHORT, copy_into};
use crate::loops::{Axis, Loops};
use crate::simd::widest;
use crate::view::{Lane, Run, Splat, View, row_major_stride};

/// `dst[i] = f(a[i])`. O(n).
///
/// # Panics
/// If `dst` and `a` differ in length.
pub fn map1<A: Copy, U: Copy>(dst: &mut [U], a: View<A>, f: impl Fn(A) -> U) {
    assert_eq!(dst.len(), a.len(), "dst has as many elements as its operand");
    if let Some(a) = a.as_run() {
        return run1(dst, a, &f);
    }
    let mut buffer = Vec::new();
    let a = settle(a, &mut buffer);
    let loops = Loops::new(axes(a.shape(), |d| [a.stride(d)]));
    let [_, step] = loops.inner().strides;
    loops.in_order([0, a.offset()], |[d, s], len| run1(&mut dst[d..d + len], a.run(s, len, step), &f));
}

/// `dst[i] = f(a[i], b[i])`. O(n).
///
/// # Panics
/// If the shapes of `a` and `b` or the length of `dst` differ.
pub fn map2<A: Copy, B: Copy, U: Copy>(dst: &mut [U], a: View<A>, b: View<B>, f: impl Fn(A, B) -> U) {
    assert_eq!(a.shape(), b.shape(), "operands have one shape");
    assert_eq!(dst.len(), a.len(), "dst has as many elements as its operands");
    if let (Some(a), Some(b)) = (a.as_run(), b.as_run()) {
        return run2(dst, a, b, &f);
    }
    let (mut m_a, mut m_b) = (Vec::new(), Vec::new());
    let (a, b) = (settle(a, &mut m_a), settle(b, &mut m_b));
    let loops = Loops::new(axes(a.shape(), |d| [a.stride(d), b.stride(d)]));
    let [_, sa, sb] = loops.inner().strides;
    loops.in_order([0, a.offset(), b.offset()], |[d, at, bt], len| {
        run2(&mut dst[d..d + len], a.run(at, len, sa), b.run(bt, len, sb), &f)
    });
}

/// `dst[i] = f(a[i], b[i], c[i])`. O(n).
///
/// # Panics
/// If the shapes of the operands or the length of `dst` differ.
pub fn map3<A: Copy, B: Copy, C: Copy, U: Copy>(
    dst: &mut [U],
    a: View<A>,
    b: View<B>,
    c: View<C>,
    f: impl Fn(A, B, C) -> U,
) {
    assert!(a.shape() == b.shape() && b.shape() == c.shape(), "operands have one shape");
    assert_eq!(dst.len(), a.len(), "dst has as many elements as its operands");
    if let (Some(a), Some(b), Some(c)) = (a.as_run(), b.as_run(), c.as_run()) {
        return run3(dst, a, b, c, &f);
    }
    let (mut m_a, mut m_b, mut m_c) = (Vec::new(), Vec::new(), Vec::new());
    let (a, b, c) = (settle(a, &mut m_a), settle(b, &mut m_b), settle(c, &mut m_c));
    let loops = Loops::new(axes(a.shape(), |d| [a.stride(d), b.stride(d), c.stride(d)]));
    let [_, sa, sb, sc] = loops.inner().strides;
    loops.in_order([0, a.offset(), b.offset(), c.offset()], |[d, at, bt, ct], len| {
        run3(&mut dst[d..d + len], a.run(at, len, sa), b.run(bt, len, sb), c.run(ct, len, sc), &f)
    });
}

/// `dst[i] = f(dst[i])`. O(n).
pub fn map1_in_place<T: Copy>(dst: &mut [T], f: impl Fn(T) -> T) {
    update(dst, Splat(()), Splat(()), |x, (), ()| f(x));
}

/// `dst[i] = f(dst[i], b[i])`. O(n).
///
/// # Panics
/// If `dst` and `b` differ in length.
pub fn map2_in_place<T: Copy, B: Copy>(dst: &mut [T], b: View<B>, f: impl Fn(T, B) -> T) {
    assert_eq!(dst.len(), b.len(), "dst has as many elements as its operand");
    if let Some(b) = b.as_run() {
        return update1(dst, b, &f);
    }
    let mut buffer = Vec::new();
    let b = settle(b, &mut buffer);
    let loops = Loops::new(axes(b.shape(), |d| [b.stride(d)]));
    let [_, step] = loops.inner().strides;
    loops.in_order([0, b.offset()], |[d, s], len| update1(&mut dst[d..d + len], b.run(s, len, step), &f));
}

/// `dst[i] = f(dst[i], b[i], c[i])`. O(n).
///
/// # Panics
/// If the shapes of `b` and `c` or the length of `dst` differ.
pub fn map3_in_place<T: Copy, B: Copy, C: Copy>(dst: &mut [T], b: View<B>, c: View<C>, f: impl Fn(T, B, C) -> T) {
    assert_eq!(b.shape(), c.shape(), "operands have one shape");
    assert_eq!(dst.len(), b.len(), "dst has as many elements as its operands");
    if let (Some(b), Some(c)) = (b.as_run(), c.as_run()) {
        return update2(dst, b, c, &f);
    }
    let (mut m_b, mut m_c) = (Vec::new(), Vec::new());
    let (b, c) = (settle(b, &mut m_b), settle(c, &mut m_c));
    let loops = Loops::new(axes(b.shape(), |d| [b.stride(d), c.stride(d)]));
    let [_, sb, sc] = loops.inner().strides;
    loops.in_order([0, b.offset(), c.offset()], |[d, bt, ct], len| {
        update2(&mut dst[d..d + len], b.run(bt, len, sb), c.run(ct, len, sc), &f)
    });
}

/// The view, or a row-major copy in `buffer` if loops over it would be short or go across its grain: copying in blocks
/// and looping over adjacent elements is several times faster.
fn settle<'b, T: Copy>(view: View<'b, T>, buffer: &'b mut Vec<T>) -> View<'b, T> {
    let shape = view.shape();
    if view.len() <= 4 * SHORT || view.as_run().is_some() {
        return view;
    }
    let loops = Loops::new(axes(shape, |d| [view.stride(d)]));
    let [_, step] = loops.inner().strides;
    let finer = |axis: &Axis<2>| (1..step.abs()).contains(&axis.strides[1].abs());
    let across = loops.inner().len < SHORT || loops.outer().iter().any(finer);
    if !across {
        return view;
    }
    buffer.resize(view.len(), view.data()[view.offset()]);
    copy_into(buffer, view);
    View::dense(buffer, shape)
}

/// The axes of `shape` with the strides of a row-major `dst` before those of the `N - 1` operands.
fn axes<const M: usize, const N: usize>(
    shape: &[usize],
    strides: impl Fn(usize) -> [isize; M],
) -> impl Iterator<Item = Axis<N>> {
    const { assert!(M + 1 == N) };
    shape.iter().enumerate().map(move |(d, &len)| {
        let (mut all, operands) = ([row_major_stride(shape, d); N], strides(d));
        all[1..].copy_from_slice(&operands);
        Axis { len, strides: all }
    })
}

fn run1<A: Copy, U: Copy>(dst: &mut [U], a: Run<A>, f: &impl Fn(A) -> U) {
    match a {
        Run::Dense(a) => fill(dst, a, Splat(()), Splat(()), |a, _, _| f(a)),
        Run::Splat(a) if !dst.is_empty() => dst.fill(f(a)),
        a => fill(dst, a.any(), Splat(()), Splat(()), |a, _, _| f(a)),
    }
}

fn run2<A: Copy, B: Copy, U: Copy>(dst: &mut [U], a: Run<A>, b: Run<B>, f: &impl Fn(A, B) -> U) {
    let f3 = |a, b, _: ()| f(a, b);
    match (a, b) {
        (Run::Dense(a), Run::Dense(b)) => fill(dst, a, b, Splat(()), f3),
        (Run::Dense(a), Run::Splat(b)) => fill(dst, a, Splat(b), Splat(()), f3),
        (Run::Splat(a), Run::Dense(b)) => fill(dst, Splat(a), b, Splat(()), f3),
        (Run::Splat(a), Run::Splat(b)) if !dst.is_empty() => dst.fill(f(a, b)),
        (a, b) => fill(dst, a.any(), b.any(), Splat(()), f3),
    }
}

fn run3<A: Copy, B: Copy, C: Copy, U: Copy>(dst: &mut [U], a: Run<A>, b: Run<B>, c: Run<C>, f: &impl Fn(A, B, C) -> U) {
    match (a, b, c) {
        (Run::Dense(a), Run::Dense(b), Run::Dense(c)) => fill(dst, a, b, c, f),
        (Run::Dense(a), Run::Dense(b), Run::Splat(c)) => fill(dst, a, b, Splat(c), f),
        (Run::Dense(a), Run::Splat(b), Run::Dense(c)) => fill(dst, a, Splat(b), c, f),
        (Run::Splat(a), Run::Dense(b), Run::Dense(c)) => fill(dst, Splat(a), b, c, f),
        (Run::Dense(a), Run::Splat(b), Run::Splat(c)) => fill(dst, a, Splat(b), Splat(c), f),
        (Run::Splat(a), Run::Dense(b), Run::Splat(c)) => fill(dst, Splat(a), b, Splat(c), f),
        (Run::Splat(a), Run::Splat(b), Run::Dense(c)) => fill(dst, Splat(a), Splat(b), c, f),
        (Run::Splat(a), Run::Splat(b), Run::Splat(c)) if !dst.is_empty() => dst.fill(f(a, b, c)),
        (a, b, c) => fill(dst, a.any(), b.any(), c.any(), f),
    }
}

fn update1<T: Copy, B: Copy>(dst: &mut [T], b: Run<B>, f: &impl Fn(T, B) -> T) {
    let f3 = |x, b, _: ()| f(x, b);
    match b {
        Run::Dense(b) => update(dst, b, Splat(()), f3),
        Run::Splat(b) => update(dst, Splat(b), Splat(()), f3),
        b => update(dst, b.any(), Splat(()), f3),
    }
}

fn update2<T: Copy, B: Copy, C: Copy>(dst: &mut [T], b: Run<B>, c: Run<C>, f: &impl Fn(T, B, C) -> T) {
    match (b, c) {
        (Run::Dense(b), Run::Dense(c)) => update(dst, b, c, f),
        (Run::Dense(b), Run::Splat(c)) => update(dst, b, Splat(c), f),
        (Run::Splat(b), Run::Dense(c)) => update(dst, Splat(b), c, f),
        (b, c) => update(dst, b.any(), c.any(), f),
    }
}

#[inline(always)]
fn fill<A, B, C, U>(dst: &mut [U], a: impl Lane<A>, b: impl Lane<B>, c: impl Lane<C>, f: impl Fn(A, B, C) -> U) {
    widest(
        #[inline(always)]
        move || {
            let n = dst.len();
            let (a, b, c) = (a.first(n), b.first(n), c.first(n));
            for (i, y) in dst.iter_mut().enumerate() {
                *y = f(a.at(i), b.at(i), c.at(i));
            }
        },
    );
}

#[inline(always)]
fn update<T: Copy, B, C>(dst: &mut [T], b: impl Lane<B>, c: impl Lane<C>, f: impl Fn(T, B, C) -> T) {
    widest(
        #[inline(always)]
        move || {
            let n = dst.len();
            let (b, c) = (b.first(n), c.first(n));
            for (i, y) in dst.iter_mut().enumerate() {
                *y = f(*y, b.at(i), c.at(i));
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, layout, shape};

    #[test]
    fn maps_agree_with_elements() {
        let mut random = Random(4);
        for _ in 0..600 {
            let shape = shape(&mut random);
            let [a, b, c] = [0; 3].map(|_| layout(&mut random, &shape, |r| r.next()));
            let (x, y, z) = (a.elements(), b.elements(), c.elements());
            let n = x.len();
            let mut dst = vec![0; n];
            map1(&mut dst, a.view(), |x| x + 1);
            assert!((0..n).all(|i| dst[i] == x[i] + 1));
            map2(&mut dst, a.view(), b.view(), |x, y| x ^ (2 * y));
            assert!((0..n).all(|i| dst[i] == x[i] ^ (2 * y[i])));
            map3(&mut dst, a.view(), b.view(), c.view(), |x, y, z| x + 2 * y + 3 * z);
            assert!((0..n).all(|i| dst[i] == x[i] + 2 * y[i] + 3 * z[i]));
            dst.copy_from_slice(&x);
            map2_in_place(&mut dst, b.view(), |x, y| x ^ (2 * y));
            assert!((0..n).all(|i| dst[i] == x[i] ^ (2 * y[i])));
            dst.copy_from_slice(&x);
            map3_in_place(&mut dst, b.view(), c.view(), |x, y, z| x + 2 * y + 3 * z);
            assert!((0..n).all(|i| dst[i] == x[i] + 2 * y[i] + 3 * z[i]));
        }
    }

    #[test]
    fn every_combination_of_runs() {
        let data: Vec<u64> = (0..40).collect();
        let shape = [10];
        let operands =
            [View::new(&data, 3, &shape, &[1]), View::splat(&data[5], &shape), View::new(&data, 39, &shape, &[-3])];
        for i in 0..27 {
            let [a, b, c] = [operands[i % 3], operands[i / 3 % 3], operands[i / 9]];
            let (mut dst, f) = ([0; 10], |x, y, z| x + 100 * y + 10_000 * z);
            map3(&mut dst, a, b, c, f);
            assert!((0..10).all(|i| dst[i] == f(a.get(&[i]), b.get(&[i]), c.get(&[i]))));
        }
    }

    #[test]
    fn other_types_and_no_elements() {
        let mut dst = [false; 2];
        map2(&mut dst, View::dense(&[1.0, f64::NAN], &[2]), View::splat(&0u8, &[2]), |x, y| x > f64::from(y));
        assert_eq!(dst, [true, false]);
        map1(&mut [0u8; 0], View::splat(&1u8, &[0, 3]), |_| unreachable!("no element to map"));
        let mut x = [1, 2];
        map1_in_place(&mut x, |x| -x);
        assert_eq!(x, [-1, -2]);
    }
}
