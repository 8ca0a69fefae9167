//! Offsets of indices of every type, windows against their elements, rows against windows one after
//! the other.

use super::*;
use crate::double_double::Summed;
use crate::parallel::with_threads;
use crate::testing::{Random, indices, layout, shape};
use crate::view::row_major_strides;

fn starts(pairs: &[(usize, usize)]) -> Starts {
    let mut starts = Starts::default();
    pairs
        .iter()
        .for_each(|&(w, x)| starts.extend(1, [w, x], [0, 0]));
    starts
}

#[test]
fn windows_agree_with_elements() {
    let mut random = Random(1);
    for _ in 0..600 {
        let window = shape(&mut random);
        let src = layout(&mut random, &window, |r| r.next());
        let dst = layout(&mut random, &window, |r| r.next());
        if window.contains(&0) {
            continue;
        }
        let top = |x: usize, len: usize, strides: &[isize]| {
            len - 1 - x - reach(&window, strides).unwrap().1
        };
        let top = [
            top(dst.offset, dst.data.len(), &dst.strides),
            top(src.offset, src.data.len(), &src.strides),
        ];
        let pairs: Vec<(usize, usize)> = (0..random.below(5))
            .map(|_| {
                (
                    dst.offset + random.below(top[0] + 1),
                    src.offset + random.below(top[1] + 1),
                )
            })
            .collect();
        let shift = [random.below(3), random.below(3)];
        let mut all = Starts::default();
        pairs.iter().for_each(|&(w, x)| {
            all.extend(
                1,
                [w.wrapping_sub(shift[0]), x.wrapping_sub(shift[1])],
                [0, 0],
            )
        });
        all.shift(shift);
        let (mut set, mut add) = (dst.data.clone(), dst.data.clone());
        let (mut set_here, mut add_here) = (set.clone(), add.clone());
        gather_windows(
            &mut set,
            &dst.strides,
            &src.data,
            &src.strides,
            &window,
            &all,
        );
        let sum = |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y);
        let turned = starts(&pairs.iter().map(|&(w, x)| (x, w)).collect::<Vec<_>>());
        scatter_windows(
            &mut add,
            &dst.strides,
            &src.data,
            &src.strides,
            &window,
            &turned,
            sum,
        );
        for &(to, from) in &pairs {
            for index in indices(&window) {
                let at = |start: usize, strides: &[isize]| {
                    index
                        .iter()
                        .zip(strides)
                        .fold(start, |at, (&i, &s)| at.wrapping_add_signed(i as isize * s))
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
    let pairs = starts(&[(0, 2), (2, 2), (4, 0)]);
    scatter_windows(
        &mut table,
        &strides,
        &rows,
        &strides,
        &[2],
        &pairs,
        |_, new| new,
    );
    assert_eq!(table, [100.0, 200.0, 10.0, 20.0]);
    scatter_windows(
        &mut table,
        &strides,
        &rows,
        &strides,
        &[2],
        &pairs,
        |old, new| old + new,
    );
    assert_eq!(table, [200.0, 400.0, 21.0, 42.0]);
    scatter_windows(
        &mut table,
        &[],
        &[1000.0],
        &[],
        &[],
        &starts(&[(0, 1), (0, 1)]),
        f64::max,
    );
    assert_eq!(table, [200.0, 1000.0, 21.0, 42.0]);
}

#[test]
#[should_panic = "leave a slice"]
fn windows_stay_inside() {
    gather_windows(&mut [0; 4], &[1], &[1; 3], &[1], &[2], &starts(&[(0, 2)]));
}

#[test]
#[should_panic = "leave a slice"]
fn indexed_windows_stay_inside() {
    let mut starts = Starts::default();
    starts.extend(2, [0, 0], [1, 0]);
    starts.index(Numbers {
        numbers: &[0u8, 4],
        at: 0,
        by: 1,
        axis: Indexed {
            last: 4,
            stride: 1,
            clip: false,
        },
    });
    gather_windows(&mut [0; 4], &[], &[1; 4], &[], &[], &starts);
}

#[test]
#[should_panic = "removed first"]
fn windows_outside_are_not_read() {
    let mut starts = Starts::default();
    starts.extend(2, [0, 0], [1, 0]);
    starts.index(Numbers {
        numbers: &[0i8, -1],
        at: 0,
        by: 1,
        axis: Indexed {
            last: 3,
            stride: 1,
            clip: false,
        },
    });
    gather_windows(&mut [0; 4], &[], &[1; 4], &[], &[], &starts);
}

/// Every type of index, layout of numbers and stride, clamped or dropped, in parts of every length.
#[test]
fn indices_move_offsets() {
    fn of<I: Position>(random: &mut Random, number: impl Fn(i64) -> I) {
        for _ in 0..200 {
            let stride = [1, -1, 0, 3, -7, 1 << 31][random.below(6)];
            let axis = Indexed {
                last: [0, 5, 100, 1 << 20, i64::from(i32::MAX), 1 << 31, -1][random.below(7)],
                stride,
                clip: random.below(2) == 0,
            };
            let n = 1 + random.below(40);
            let by = [1isize, 0, 2, -1][random.below(4)];
            let first = if by < 0 { n - 1 } else { 0 };
            let numbers: Vec<I> = (0..2 * n)
                .map(|_| match random.below(20) {
                    0 => number(
                        [i64::MIN, i64::MAX, i64::from(i32::MAX), i64::from(u32::MAX)]
                            [random.below(4)],
                    ),
                    _ => number(random.below(130) as i64 - 8),
                })
                .collect();
            let apart = [5, 0][random.below(2)];
            let (mut starts, mut wanted) = (Starts::default(), Vec::new());
            for part in 0..2 {
                let one = Numbers {
                    numbers: &numbers,
                    at: first,
                    by,
                    axis,
                };
                if random.below(2) == 0 {
                    starts.extend(n, [part * n, 1000], [1, apart as isize]);
                    starts.index(one);
                } else {
                    starts.extend_indexed(n, [part * n, 1000], [1, apart as isize], one);
                }
                for i in 0..n {
                    let x = numbers[first.wrapping_add_signed(i as isize * by)].signed();
                    let x = if axis.clip {
                        x.min(axis.last).max(0)
                    } else {
                        x
                    };
                    if (0..=axis.last).contains(&x) {
                        let moved =
                            (1000 + apart * i as i64).wrapping_add(x.wrapping_mul(stride as i64));
                        wanted.push((part * n + i, moved as usize));
                    }
                }
            }
            assert_eq!(starts.outside(), wanted.len() < 2 * n);
            starts.retain();
            assert_eq!(starts.pairs().collect::<Vec<_>>(), wanted);
            let [windows, operand] = starts.bounds();
            let inside =
                |Interval(least, most): Interval, x: usize| least <= x as i64 && x as i64 <= most;
            assert!(
                wanted
                    .iter()
                    .all(|&(w, x)| inside(windows, w) && inside(operand, x))
            );
        }
    }
    let random = &mut Random(2);
    of(random, |x| x as i8);
    of(random, |x| x as i16);
    of(random, |x| x as i32);
    of(random, |x| x);
    of(random, |x| x as u8);
    of(random, |x| x as u16);
    of(random, |x| x as u32);
    of(random, |x| x as u64);
    of(random, |x| x > 0);
}

/// Sorted rows have the bits of windows that are added one after the other, for any number of
/// threads.
#[test]
fn rows_are_summed_in_order() {
    fn of<T: Summed>(random: &mut Random, value: impl Fn(&mut Random) -> T) {
        for (len, rows, updates) in [
            (4, 5, 3),
            (5, 300, 700),
            (16, 40, 2000),
            (21, 1, 90),
            (67, 300, 900),
            (2, 7, 0),
        ] {
            let distance = len + random.below(2) * 3;
            let src: Vec<T> = (0..updates * (len + 1)).map(|_| value(random)).collect();
            let dst: Vec<T> = (0..(rows - 1) * distance + len)
                .map(|_| value(random))
                .collect();
            let pairs: Vec<_> = (0..updates)
                .map(|i| (i * (len + 1), random.below(rows) * distance))
                .collect();
            let mut wanted: Vec<_> = dst.iter().map(|&y| y.sum()).collect();
            for pairs in pairs.chunks(BLOCK_WINDOWS) {
                scatter_windows(
                    &mut wanted,
                    &[1],
                    &src,
                    &[1],
                    &[len],
                    &starts(pairs),
                    T::more,
                );
            }
            let wanted: Vec<T> = wanted.into_iter().map(T::nearest).collect();
            let wanted = format!("{wanted:?}");
            for threads in [1, 3] {
                let mut sums = dst.clone();
                let mut rows = OperandRows::new(dst.len(), distance, src.len())
                    .unwrap()
                    .unwrap();
                pairs
                    .chunks(BLOCK_WINDOWS)
                    .for_each(|pairs| rows.count(&starts(pairs)));
                rows.reserve().unwrap();
                pairs
                    .chunks(BLOCK_WINDOWS)
                    .for_each(|pairs| rows.place(&starts(pairs)));
                with_threads(threads, || rows.sum(&mut sums, &src, len));
                assert_eq!(
                    format!("{sums:?}"),
                    wanted,
                    "{updates} rows of {len} into {}",
                    dst.len()
                );
            }
        }
    }
    let random = &mut Random(3);
    let float = |r: &mut Random| match r.below(50) {
        0 => [f64::NAN, f64::INFINITY, -0.0, 1e30][r.below(4)],
        _ => r.float() * 10f64.powi(r.below(12) as i32 - 6),
    };
    of(random, |r| float(r) as f32);
    of(random, float);
    of(random, |r| {
        num_complex::Complex::new(float(r) as f32, float(r) as f32)
    });
    of(random, |r| num_complex::Complex::new(float(r), float(r)));
}

#[test]
#[should_panic = "rows of 4 every 3"]
fn rows_that_overlap_are_refused() {
    let mut rows = OperandRows::new(12, 3, 12).unwrap().unwrap();
    rows.count(&starts(&[(0, 0), (4, 3)]));
    rows.reserve().unwrap();
    rows.place(&starts(&[(0, 0), (4, 3)]));
    rows.sum(&mut [0.0f32; 12], &[1.0; 12], 4);
}
