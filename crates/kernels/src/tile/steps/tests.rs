//! Loops against the same steps in Rust, for each level with code.

use super::*;
use crate::interrupt::{Hook, guarded, scope};
use crate::testing::Random;
use crate::tile::kernels::{self, Arithmetic, Comparison};
use crate::tile::{Builder, TileFloat, TileOp};
use crate::vector::functions::{Binary, Unary};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

mod rows;

fn levels() -> impl Iterator<Item = Isa> {
    let with_code = |l: &Isa| l.has_avx2();
    Isa::available().filter(with_code)
}

fn at(entry: u32, offset: i32) -> ElementAddress {
    ElementAddress { entry, offset }
}

/// The body of one kernel on operands of these sizes.
fn of(kernel: TileOp, sizes: &[usize], to: usize) -> Body {
    let mut b = Builder::new();
    let x: Vec<_> = sizes.iter().map(|&size| b.input(size)).collect();
    // SAFETY: callers pass the sizes of the kernel.
    let y = unsafe { b.step(kernel, to, &x, 0) };
    b.finish(&[y])
}

fn two(isa: Isa, f: Binary) -> Body {
    of(<f64 as TileFloat>::binary(f, isa), &[8, 8], 8)
}

fn bytes<T: Copy>(x: &mut [T]) -> *mut u8 {
    x.as_mut_ptr().cast()
}

#[test]
fn kept_values_change_places_together() {
    for isa in levels() {
        let mut random = Random(1);
        for n in [1, 2, 3, 9, 40, 100] {
            // Each carry becomes another one, or the sum of two.
            let from: Vec<[usize; 2]> =
                (0..n).map(|_| [random.below(n), random.below(n)]).collect();
            let sums: Vec<bool> = (0..n).map(|_| random.below(3) == 0).collect();
            let mut b = StepsBuilder::at(isa).expect("a level with code");
            let add = two(isa, Binary::Add);
            let old: Vec<StepValue> = (0..n).map(|k| b.fixed(at(0, 8 * k as i32), 8)).collect();
            for k in 0..n {
                let [i, j] = from[k];
                let new = match sums[k] {
                    true => b.body(&add, &[old[i], old[j]]).expect("recorded")[0],
                    false => old[i],
                };
                b.keep(at(0, 8 * k as i32), 8, new);
            }
            let steps = b
                .finish(Vec::new(), Vec::new(), u32::MAX)
                .compiled()
                .expect("compiled");
            let first: Vec<f64> = (0..n).map(|_| random.float()).collect();
            let (mut got, mut want) = (first.clone(), first);
            for _ in 0..7 {
                let old = want.clone();
                for k in 0..n {
                    let [i, j] = from[k];
                    want[k] = if sums[k] { old[i] + old[j] } else { old[i] };
                }
            }
            // SAFETY: the table leads to `n` carries.
            let end = unsafe { steps.run(&mut [bytes(&mut got)], 7) };
            assert_eq!(end, StepsEnd::Done);
            assert_eq!(got, want, "{n} carries at {isa:?}");
        }
    }
}

#[test]
fn more_values_than_registers_and_more_addresses_than_pointers() {
    for isa in levels() {
        // Rows of 14 tables; each is summed with all values of the step, which are all alive.
        let (tables, steps) = (14u32, 5);
        let add = two(isa, Binary::Add);
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        let mut values = Vec::new();
        for t in 0..tables {
            for k in 0..4 {
                values.push(b.fixed(at(t, 8 * k), 8));
            }
        }
        let squares: Vec<StepValue> = values
            .iter()
            .map(|&x| b.body(&add, &[x, x]).expect("recorded")[0])
            .collect();
        let mut sum = b.constant(&0.0f64.to_le_bytes());
        for &x in squares.iter().chain(&values) {
            sum = b.body(&add, &[sum, x]).expect("recorded")[0];
        }
        b.store(at(tables, 0), None, 8, sum);
        let mut advances: Vec<(u32, i32)> = (0..tables).map(|t| (t, 32)).collect();
        advances.push((tables, -8));
        let code = b
            .finish(advances, Vec::new(), u32::MAX)
            .compiled()
            .expect("compiled");
        let mut rows: Vec<Vec<f64>> = (0..tables)
            .map(|t| {
                (0..4 * steps)
                    .map(|k| f64::from(t) * 100.0 + k as f64)
                    .collect()
            })
            .collect();
        let want: Vec<f64> = (0..steps)
            .map(|s| {
                let x: Vec<f64> = rows
                    .iter()
                    .flat_map(|r| &r[4 * s..4 * s + 4])
                    .copied()
                    .collect();
                x.iter()
                    .map(|x| x + x)
                    .chain(x.iter().copied())
                    .fold(0.0, |a, b| a + b)
            })
            .collect();
        let mut got = vec![0.0f64; steps];
        let mut table: Vec<*mut u8> = rows.iter_mut().map(|r| bytes(r)).collect();
        table.push(bytes(&mut got[steps - 1..]));
        // SAFETY: each table has four elements for each step.
        assert_eq!(unsafe { code.run(&mut table, steps) }, StepsEnd::Done);
        got.reverse();
        assert_eq!(got, want, "at {isa:?}");
    }
}

/// `memory[start] += 1.5` at starts that are read and clamped, then a read of another start.
#[test]
fn elements_at_computed_distances() {
    fn check<T: Copy + Into<i128>>(isa: Isa, signed: bool, starts: &[T]) {
        let add = two(isa, Binary::Add);
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        let x = b.fixed(at(0, 0), size_of::<T>());
        let start = b.start(x, size_of::<T>(), signed, 5);
        let offset = b.moved(None, start, 16);
        let back = b.moved(Some(offset), start, -8);
        let old = b.load(at(1, 8), Some(back), 8);
        let more = b.constant(&1.5f64.to_le_bytes());
        let new = b.body(&add, &[old, more]).expect("recorded")[0];
        b.store(at(1, 8), Some(back), 8, new);
        let first = b.load(at(1, 8), None, 8);
        b.store(at(2, 0), None, 8, first);
        let advances = vec![(0, size_of::<T>() as i32), (2, 8)];
        let code = b
            .finish(advances, vec![1], u32::MAX)
            .compiled()
            .expect("compiled");
        let mut starts = starts.to_vec();
        let mut memory = [0.0f64; 8];
        let mut firsts = vec![0.0f64; starts.len()];
        let (mut want, mut want_firsts) = (memory, Vec::new());
        for &s in &starts {
            want[1 + s.into().clamp(0, 5) as usize] += 1.5;
            want_firsts.push(want[1]);
        }
        let n = starts.len();
        let mut table = [bytes(&mut starts), bytes(&mut memory), bytes(&mut firsts)];
        // SAFETY: starts and results have an element for each step, and distances are clamped.
        assert_eq!(unsafe { code.run(&mut table, n) }, StepsEnd::Done);
        assert_eq!((memory, firsts), (want, want_firsts), "{signed} at {isa:?}");
    }
    for isa in levels() {
        check::<i64>(isa, true, &[0, 3, -7, i64::MAX, 5, 6, i64::MIN, 1 << 33]);
        check::<u64>(isa, false, &[0, 3, u64::MAX, 5, 6, 1 << 63]);
        check::<i32>(isa, true, &[0, 3, -7, i32::MAX, 5, 6, i32::MIN]);
        check::<u32>(isa, false, &[0, 3, u32::MAX, 5, 6]);
        check::<i16>(isa, true, &[0, 3, -7, i16::MAX, 5, 6]);
        check::<u16>(isa, false, &[0, 3, u16::MAX, 5, 6]);
        check::<i8>(isa, true, &[0, 3, -7, i8::MAX, 5, 6]);
        check::<u8>(isa, false, &[0, 3, 255, 5, 6]);
    }
}

#[test]
fn a_loop_ends_when_its_condition_is_false_and_before_a_rare_step() {
    for isa in levels() {
        // `while i < limit { x = sin(x * x); i += 1 }`: a large argument needs the fallback.
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        let less = of(kernels::compare::<i32>(Comparison::Lt), &[4, 4], 1);
        let plus = of(kernels::integers::<i32>(Arithmetic::Add), &[4, 4], 4);
        let (i, limit) = (b.fixed(at(0, 0), 4), b.fixed(at(1, 0), 4));
        let more = b.body(&less, &[i, limit]).expect("recorded")[0];
        b.continue_if(more);
        let one = b.constant(&1i32.to_le_bytes());
        let next = b.body(&plus, &[i, one]).expect("recorded")[0];
        b.keep(at(0, 0), 4, next);
        let x = b.fixed(at(2, 0), 8);
        let square = b.body(&two(isa, Binary::Mul), &[x, x]).expect("recorded")[0];
        let sine = of(<f64 as TileFloat>::unary(Unary::Sin, isa), &[8], 8);
        let y = b.body(&sine, &[square]).expect("recorded")[0];
        b.keep(at(2, 0), 8, y);
        let code = b
            .finish(Vec::new(), Vec::new(), u32::MAX)
            .compiled()
            .expect("compiled");
        let run = |i: i32, limit: i32, x: f64, steps: usize| {
            let (mut i, mut limit, mut x) = ([i], [limit], [x]);
            let mut table = [bytes(&mut i), bytes(&mut limit), bytes(&mut x)];
            // SAFETY: the table leads to the three numbers.
            let end = unsafe { code.run(&mut table, steps) };
            (end, i[0], x[0])
        };
        let (end, i, _) = run(3, 10, 0.5, 100);
        assert_eq!((end, i), (StepsEnd::Stopped(93), 10), "at {isa:?}");
        let (end, i, _) = run(3, 10, 0.5, 4);
        assert_eq!((end, i), (StepsEnd::Done, 7), "at {isa:?}");
        let (end, i, x) = run(3, 10, 1e100, 5);
        assert_eq!((end, i, x), (StepsEnd::Rare(5), 3, 1e100), "at {isa:?}");
        let (end, i, x) = run(10, 10, 1e100, 5);
        assert_eq!((end, i, x), (StepsEnd::Stopped(5), 10, 1e100), "at {isa:?}");
    }
}

#[test]
fn rare_values_are_computed_before_changes_that_they_do_not_read() {
    for isa in levels() {
        let sine = of(<f64 as TileFloat>::unary(Unary::Sin, isa), &[8], 8);
        // `y[0] = x; y[1] = sin(x * x)`: a large argument needs the fallback.
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        let x = b.fixed(at(0, 0), 8);
        b.store(at(1, 0), None, 8, x);
        let square = b.body(&two(isa, Binary::Mul), &[x, x]).expect("recorded")[0];
        let y = b.body(&sine, &[square]).expect("recorded")[0];
        b.store(at(1, 8), None, 8, y);
        let code = b.finish(Vec::new(), vec![1], u32::MAX).compiled();
        let code = code.expect("compiled");
        for (x, end) in [(0.5, StepsEnd::Done), (1e100, StepsEnd::Rare(1))] {
            let (mut x, mut y) = ([x], [-1.0f64, -2.0]);
            let mut table = [bytes(&mut x), bytes(&mut y)];
            // SAFETY: the table leads to the operand and to both results.
            assert_eq!(unsafe { code.run(&mut table, 1) }, end, "at {isa:?}");
            let unchanged = end != StepsEnd::Done;
            assert_eq!(y[0], if unchanged { -1.0 } else { x[0] }, "at {isa:?}");
            assert_eq!(y[1] == -2.0, unchanged, "at {isa:?}");
        }
        // `y[0] = x; y[1] = sin(y[0])`: the step would end after it changed `y`.
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        let x = b.fixed(at(0, 0), 8);
        b.store(at(1, 0), None, 8, x);
        let own = b.load(at(1, 0), None, 8);
        let y = b.body(&sine, &[own]).expect("recorded")[0];
        b.store(at(1, 8), None, 8, y);
        assert!(b.finish(Vec::new(), vec![1], u32::MAX).compiled().is_none());
    }
}

/// Numbers of columns and of rows.
const COLUMNS: usize = 5;
const STEPS: usize = 4;

/// Each step sums a row by a loop, which stacks the sums so far, and counts in another loop, in
/// every iteration, until a limit is reached. Values of the step are alive across both.
fn sums_and_counts(isa: Isa) -> Steps {
    let (add, times) = (two(isa, Binary::Add), two(isa, Binary::Mul));
    let less = of(<f64 as TileFloat>::compare(Comparison::Lt), &[8, 8], 1);
    let mut b = StepsBuilder::at(isa).expect("a level with code");
    let number = |b: &mut StepsBuilder, x: f64| b.constant(&x.to_le_bytes());
    let op = |b: &mut StepsBuilder, f: &Body, x: [StepValue; 2]| b.body(f, &x).unwrap()[0];
    // Entry 0: rows. 1: limits. 2: stacks. 3: sums of steps. 4: carries. 5, 6: inner rows and
    // stacks. 7: a carry of the step.
    let first = b.fixed(at(0, 0), 8);
    let mut alive = vec![first];
    for k in 1..40 {
        let more = number(&mut b, k as f64);
        let last = alive[k - 1];
        alive.push(op(&mut b, &add, [last, more]));
    }
    let zero = number(&mut b, 0.0);
    b.store(at(4, 0), None, 8, zero);
    b.store(at(4, 8), None, 8, zero);
    b.point(5, at(0, 0), None);
    b.point(6, at(2, 8 * (COLUMNS as i32 - 1)), None);
    let before = b.recorded();
    b.begin(Some(COLUMNS as u32)).unwrap();
    let sum = b.load(at(4, 0), None, 8);
    let x = b.load(at(5, 0), None, 8);
    // No iteration changes it.
    let scale = op(&mut b, &times, [first, first]);
    let part = op(&mut b, &times, [x, scale]);
    let part = op(&mut b, &add, [part, alive[7]]);
    let sum = op(&mut b, &add, [sum, part]);
    b.store(at(6, 0), None, 8, sum);
    b.begin(None).unwrap();
    let count = b.load(at(4, 8), None, 8);
    let limit = b.fixed(at(1, 0), 8);
    let more = op(&mut b, &less, [count, limit]);
    b.leave_unless(more);
    let next = op(&mut b, &add, [count, alive[2]]);
    b.store(at(4, 8), None, 8, next);
    b.end(Vec::new());
    b.store(at(4, 0), None, 8, sum);
    assert!(b.is_among(first, before) && !b.is_among(sum, before));
    b.end(vec![(5, 8), (6, -8)]);
    let sum = b.load(at(4, 0), None, 8);
    let count = b.load(at(4, 8), None, 8);
    let mut all = op(&mut b, &add, [sum, count]);
    for x in alive.iter().chain([&scale]) {
        all = op(&mut b, &add, [all, *x]);
    }
    let carry = b.fixed(at(7, 0), 8);
    let carry = op(&mut b, &add, [carry, all]);
    b.store(at(3, 0), None, 8, carry);
    b.keep(at(7, 0), 8, carry);
    let stride = 8 * COLUMNS as i32;
    let advances = vec![(0, stride), (1, 8), (2, stride), (3, 8)];
    b.finish(advances, Vec::new(), 7)
        .compiled()
        .expect("compiled")
}

/// Stacks, sums and the last carry of [`sums_and_counts`]; limits that are infinite count as 0.
fn sums_and_counts_in_rust(rows: &[f64], limits: [f64; STEPS]) -> (Vec<f64>, Vec<f64>, f64) {
    let (mut stacks, mut sums, mut total) = (vec![0.0; rows.len()], vec![0.0; STEPS], 0.0);
    for (s, row) in rows.chunks_exact(COLUMNS).enumerate() {
        let alive: Vec<f64> = (0..40).map(|k| row[0] + (k * (k + 1) / 2) as f64).collect();
        let (mut sum, mut count) = (0.0, 0.0);
        let scale = row[0] * row[0];
        for (k, x) in row.iter().enumerate() {
            sum += x * scale + alive[7];
            stacks[s * COLUMNS + COLUMNS - 1 - k] = sum;
            while limits[s].is_finite() && count < limits[s] {
                count += alive[2];
            }
        }
        let all = alive.iter().chain([&scale]).fold(sum + count, |a, x| a + x);
        total += all;
        sums[s] = total;
    }
    (stacks, sums, total)
}

/// Runs [`sums_and_counts`], whose results are those in Rust unless it is interrupted.
fn run_sums_and_counts(code: &Steps, limits: [f64; STEPS], interrupted: bool) {
    let mut rows: Vec<f64> = (0..COLUMNS * STEPS).map(|k| 1.0 + k as f64 / 8.0).collect();
    let want = sums_and_counts_in_rust(&rows, limits);
    let (mut stacks, mut sums) = (vec![0.0; rows.len()], vec![0.0; STEPS]);
    let (mut limits, mut carries, mut carry) = (limits, [0.0f64; 2], [0.0f64]);
    let mut table = [
        bytes(&mut rows),
        bytes(&mut limits),
        bytes(&mut stacks),
        bytes(&mut sums),
        bytes(&mut carries),
        std::ptr::null_mut(),
        std::ptr::null_mut(),
        bytes(&mut carry),
    ];
    // SAFETY: rows, limits and results have elements for each step.
    let end = unsafe { code.run(&mut table, STEPS) };
    match interrupted {
        true => assert_eq!(end, StepsEnd::Ended),
        false => assert_eq!((end, (stacks, sums, carry[0])), (StepsEnd::Done, want)),
    }
}

#[test]
fn loops_in_a_step() {
    for isa in levels() {
        let code = sums_and_counts(isa);
        let run = |limits: [f64; STEPS], interrupted: bool| {
            run_sums_and_counts(&code, limits, interrupted);
        };
        run([20.0, 0.0, 3.0, 30.0], false);
        run([20.0, 0.0, 1000.0, 30.0], false);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let hook: Hook = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) == 2);
        scope(&hook, || run([20.0, 0.0, f64::INFINITY, 30.0], true));
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        let panics: Hook = Arc::new(|| panic!("the hook"));
        let runs = || scope(&panics, || run([f64::INFINITY, 0.0, 0.0, 0.0], true));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(runs));
        let payload = caught.expect_err("a panic");
        assert_eq!(payload.downcast_ref(), Some(&"the hook"));
    }
}

#[test]
fn loops_that_are_too_deep_and_values_that_leave_their_loop() {
    for isa in levels() {
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        assert!(b.begin(Some(2)).is_some() && b.begin(Some(2)).is_some());
        assert!(b.begin(Some(2)).is_none());
        let x = b.load(at(0, 0), None, 8);
        b.end(vec![(0, 8)]);
        b.end(Vec::new());
        b.store(at(1, 0), None, 8, x);
        assert!(
            b.finish(Vec::new(), Vec::new(), u32::MAX)
                .compiled()
                .is_none()
        );
    }
}

/// Adds the number at entry 0 to `n` numbers at entry 1, and counts calls at entry 2. It changes
/// every register that a function may change. It fails where the number is negative.
unsafe extern "C" fn adds(table: *const *mut u8, context: *const u8) -> u64 {
    // SAFETY: the test records this call with a number of elements and entries of `f64`.
    unsafe {
        let n = *context.cast::<usize>();
        let [row, sums, count] = [0, 1, 2].map(|k| (*table.add(k)).cast::<f64>());
        for k in 0..n {
            *sums.add(k) += *row;
        }
        *count += 1.0;
        let x = std::hint::black_box([*row; 64]).map(f64::sin);
        std::hint::black_box(x);
        u64::from(*row < 0.0)
    }
}

#[test]
fn functions_are_called_between_the_stores_and_loads_around_them() {
    for isa in levels() {
        for n in [
            1usize, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 28, 32, 40,
        ] {
            for pointers in [3u32, 14] {
                let (add, less) = (
                    two(isa, Binary::Add),
                    of(<f64 as TileFloat>::compare(Comparison::Lt), &[8, 8], 1),
                );
                let mut b = StepsBuilder::at(isa).expect("a level with code");
                let row = b.fixed(at(0, 0), 8);
                // Values and comparisons that are read after the call, and entries that are read
                // more often than those of the function.
                let old: Vec<StepValue> = (0..n).map(|k| b.fixed(at(3, 8 * k as i32), 8)).collect();
                let sum = |b: &mut StepsBuilder, x, y| b.body(&add, &[x, y]).expect("recorded")[0];
                let more: Vec<StepValue> = old.iter().map(|&x| sum(&mut b, x, row)).collect();
                let smaller: Vec<StepValue> = (0..n)
                    .map(|k| {
                        b.body(&less, &[old[k], more[(k + 1) % n]])
                            .expect("recorded")[0]
                    })
                    .collect();
                for (k, &x) in more.iter().enumerate() {
                    b.store(at(1, 8 * k as i32), None, 8, x);
                }
                let context: &'static usize = Box::leak(Box::new(n));
                b.call(adds, std::ptr::from_ref(context).cast(), false);
                for k in 0..n {
                    let called = b.load(at(1, 8 * k as i32), None, 8);
                    let chosen = b.select(smaller[k], called, more[k]);
                    let next = sum(&mut b, chosen, row);
                    b.keep(at(3, 8 * k as i32), 8, next);
                }
                let mut last = row;
                for p in 4..pointers {
                    for k in 0..3 {
                        let x = b.fixed(at(p, 8 * k), 8);
                        last = sum(&mut b, last, x);
                    }
                }
                b.store(at(2, 8), None, 8, last);
                let code = b
                    .finish(vec![(0, 8)], Vec::new(), u32::MAX)
                    .compiled()
                    .expect("compiled");
                let first: Vec<f64> = (0..n).map(|k| k as f64 * 0.7 - 3.0).collect();
                let rows = [0.5, -0.0, 2.5, 1.25, -1.0, 3.0];
                let (mut carry, mut calls, mut want) = (first.clone(), [0.0, 0.0], first);
                let (mut sums, mut others) = (vec![0.0f64; n], vec![1.0f64; 3]);
                for row in &rows[..4] {
                    let more: Vec<f64> = want.iter().map(|x| x + row).collect();
                    want = (0..n)
                        .map(|k| match want[k] < more[(k + 1) % n] {
                            true => more[k] + row + row,
                            false => more[k] + row,
                        })
                        .collect();
                }
                let mut own = rows;
                let mut table = vec![
                    bytes(&mut own),
                    bytes(&mut sums),
                    bytes(&mut calls),
                    bytes(&mut carry),
                ];
                table.resize(pointers.max(4) as usize, bytes(&mut others));
                // SAFETY: the entries have the elements that were recorded.
                let end = unsafe { code.run(&mut table, 4) };
                assert_eq!(end, StepsEnd::Done, "{n} values at {isa:?}");
                assert_eq!((&carry, calls[0]), (&want, 4.0), "{n} values at {isa:?}");
                let others = f64::from(3 * (pointers - 4.min(pointers)));
                assert_eq!(calls[1], rows[3] + others, "{n} values at {isa:?}");
                table[0] = bytes(&mut own[4..]);
                // SAFETY: the table is that of the next step.
                let end = unsafe { code.run(&mut table, 2) };
                assert_eq!(
                    (end, calls[0]),
                    (StepsEnd::Ended, 5.0),
                    "{n} values at {isa:?}"
                );
            }
        }
    }
}

/// Panics where entry 0 leads to 2, and ends the run where it leads to 4.
unsafe extern "C" fn panics(table: *const *mut u8, _: *const u8) -> u64 {
    // SAFETY: the test records this call with entries of `f64`.
    let x = unsafe { *(*table).cast::<f64>() };
    let done = guarded(|| {
        assert!(x != 2.0, "two");
        if x == 4.0 { 2 } else { 0 }
    });
    done.unwrap_or(2)
}

#[test]
fn a_function_ends_the_run_and_its_panic_continues() {
    for isa in levels() {
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        b.call(panics, std::ptr::null(), false);
        let x = b.load(at(0, 0), None, 8);
        b.store(at(1, 0), None, 8, x);
        let code = b.finish(vec![(0, 8)], Vec::new(), u32::MAX).compiled();
        let code = code.expect("compiled");
        let mut rows: Vec<f64> = (0..6).map(f64::from).collect();
        let mut last = [f64::NAN];
        let mut run = |first: usize, steps| {
            let row = rows[first..].as_mut_ptr().cast();
            let mut table = [row, last.as_mut_ptr().cast()];
            // SAFETY: the table has the rows and the number that the step stores.
            let run = || unsafe { code.run(&mut table, steps) };
            (std::panic::catch_unwind(AssertUnwindSafe(run)), last[0])
        };
        assert!(matches!(run(0, 2), (Ok(StepsEnd::Done), 1.0)));
        let (panic, stored) = run(0, 6);
        let panic = panic.expect_err("two panics");
        assert_eq!(panic.downcast_ref(), Some(&"two"));
        assert_eq!(stored, 1.0);
        assert!(matches!(run(3, 3), (Ok(StepsEnd::Ended), 3.0)));
        assert!(matches!(run(5, 1), (Ok(StepsEnd::Done), 5.0)));
    }
}
