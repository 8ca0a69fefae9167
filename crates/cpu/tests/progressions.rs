//! Gathers and scatters at indices that are arithmetic progressions, or nearly.

mod common;

use common::{Draws, build, run, unfused};
use cotangent_core::ops::{Bounds, Combine, Gather, Scatter, Windows};
use cotangent_core::rewrite::simplify;
use cotangent_core::{Array, DType, Dim, Emit, Function, Op, Type, Val, Wide};
use std::sync::Arc;

/// Floats with negative zeros, infinities and NaN among them, or integers.
fn numbers(draws: &mut Draws, dtype: DType, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let all = match dtype.is_float() {
        true => Wide::F((0..n).map(|_| float(draws)).collect()),
        false => Wide::I((0..n).map(|_| draws.below(90) as i128).collect()),
    };
    all.narrow(dtype, shape.to_vec()).unwrap()
}

fn float(draws: &mut Draws) -> f64 {
    match draws.below(12) {
        0 => [0.0, -0.0, f64::NAN, f64::INFINITY][draws.below(4)],
        _ => draws.below(2000) as f64 / 7.0 - 100.0,
    }
}

/// Indices along an axis of an operand.
#[derive(Debug)]
struct Along {
    first: i64,
    step: i64,
    count: usize,
}

impl Along {
    fn draw(draws: &mut Draws, extent: usize) -> Along {
        let step = [1i64, 2, 2, 3, -1, -2, 0][draws.below(7)];
        let most = match step {
            0 => 3,
            s => (extent - 1) / s.unsigned_abs() as usize + 1,
        };
        let count = 1 + draws.below(most);
        let span = step * (count as i64 - 1);
        let room = extent as i64 - span.abs();
        // Some are outside.
        let low = match draws.below(12) {
            0 => draws.below(extent + 2) as i64 - 1,
            _ => draws.below(room.max(1) as usize) as i64,
        };
        let first = if step < 0 { low - span } else { low };
        Along { first, step, count }
    }
}

/// The index vectors of windows at all pairs of indices along the axes, by operations or as a
/// constant. `shape` counts windows.
fn indices(cx: &dyn Emit, all: &[Along], shape: &[usize], how: usize, draws: &mut Draws) -> Val {
    let dtype = [DType::I32, DType::I64][draws.below(2)];
    let places: Vec<Dim> = shape.iter().chain(&[1]).map(|&n| Dim::Const(n)).collect();
    if how > 0 {
        let mut numbers = Vec::new();
        let n: usize = shape.iter().product();
        for at in 0..n {
            let mut rest = at;
            let mut own: Vec<i128> = Vec::new();
            for a in all.iter().rev() {
                own.push((a.first + a.step * (rest % a.count) as i64).into());
                rest /= a.count;
            }
            numbers.extend(own.into_iter().rev());
        }
        if how == 2 {
            let at = draws.below(numbers.len());
            numbers[at] = (numbers[at] + 1).max(0);
        }
        let shape: Vec<usize> = shape.iter().copied().chain([all.len()]).collect();
        return cx.constant(Wide::I(numbers).narrow(dtype, shape).unwrap());
    }
    let components: Vec<Val> = (0..all.len())
        .map(|k| {
            let (a, ty) = (&all[k], Type::new(dtype, [all[k].count]));
            let scaled = cx.mul(cx.iota(&ty, 0), cx.full(&ty, a.step));
            let mut each = cx.add(cx.full(&ty, a.first), scaled);
            if draws.below(2) == 0 {
                each = cx.reshape(each, &[1.into(), a.count.into(), 1.into()]);
                each = cx.reshape(each, &[a.count.into()]);
            }
            cx.broadcast_in_dim(each, &places, &[k])
        })
        .collect();
    match &components[..] {
        [one] => *one,
        _ => cx.concatenate(&components, all.len()),
    }
}

/// Whether an operation of this kind is left after simplification.
fn has(f: &Arc<Function>, is: fn(&Op) -> bool) -> bool {
    simplify(f).eqns().iter().any(|e| is(&e.op))
}

/// An operand of rank 1 or 2, the windows that pair indices along its first axes (as axes of the
/// windows' array before or after those of a window), and the indices along them.
fn draw(draws: &mut Draws) -> (Vec<usize>, Windows, Vec<Along>) {
    let shape: Vec<usize> = (0..1 + draws.below(2))
        .map(|_| 2 + draws.below(30))
        .collect();
    let indexed = 1 + draws.below(shape.len());
    // The last axes are whole windows, or the first ones.
    let axes: Vec<usize> = match draws.below(2) {
        0 => (0..indexed).collect(),
        _ => (shape.len() - indexed..shape.len()).collect(),
    };
    let all: Vec<Along> = axes.iter().map(|&k| Along::draw(draws, shape[k])).collect();
    let windows = Windows {
        window: if axes[0] == 0 {
            (indexed..shape.len()).collect()
        } else {
            (0..shape.len() - indexed).collect()
        },
        collapsed: axes.clone(),
        axes,
        vector: indexed,
        ..Windows::default()
    };
    (shape, windows, all)
}

fn same(f: &Arc<Function>, x: &[Array], what: &str) {
    let (got, want) = (run(f, x), unfused(f, x));
    assert!(
        got[0].same_bits(&want[0]),
        "{what}: {got:?} is not {want:?} of {x:?}\n{f}"
    );
}

#[test]
fn scatters_at_progressions_have_the_bits_of_the_kernel() {
    let (draws, mut rewritten) = (&mut Draws(5), 0);
    for case in 0..600 {
        let (shape, windows, all) = draw(draws);
        let counts: Vec<usize> = all.iter().map(|a| a.count).collect();
        let rest: Vec<usize> = (0..shape.len())
            .filter(|k| !windows.axes.contains(k))
            .collect();
        let rest = rest.iter().map(|&k| shape[k]);
        let updates: Vec<usize> = match windows.window.first() == Some(&0) {
            true => rest.chain(counts.iter().copied()).collect(),
            false => counts.iter().copied().chain(rest).collect(),
        };
        let dtype = [DType::F32, DType::F64, DType::I32, DType::F16, DType::U8][draws.below(5)];
        let repeats = all.iter().any(|a| a.step == 0 && a.count > 1);
        let how = draws.below(6).saturating_sub(3);
        let op = Scatter {
            combine: [
                Combine::Set,
                Combine::Add,
                Combine::Mul,
                Combine::Min,
                Combine::Max,
            ][draws.below(5)],
            bounds: [Bounds::Drop, Bounds::Clip][draws.below(2)],
            unique: !repeats && how < 2 && draws.below(4) > 0,
            stable: false,
            windows,
        };
        let zeros = draws.below(4) == 0;
        let types = [Type::new(dtype, &shape[..]), Type::new(dtype, &updates[..])];
        let seed = draws.below(1 << 20) as u64;
        let f = build(&types, |cx, x| {
            let at = indices(cx, &all, &counts, how, &mut Draws(seed));
            let to = if zeros { cx.zeros(&types[0]) } else { x[0] };
            vec![cx.op(op.clone(), &[to, at, x[1]])]
        });
        let x = [
            numbers(draws, dtype, &shape),
            numbers(draws, dtype, &updates),
        ];
        same(&f, &x, &format!("case {case}: {op:?} at {all:?}"));
        rewritten += usize::from(!has(&f, |op| matches!(op, Op::Scatter(_))));
    }
    assert!(rewritten > 200, "{rewritten} of 600");
}

/// Indices that are those of a matrix, row by row: a progression if its columns are one.
#[test]
fn indices_of_joined_axes_are_read_as_they_are() {
    let draws = &mut Draws(7);
    for case in 0..100 {
        let [rows, columns] = [1 + draws.below(3), 1 + draws.below(4)];
        let (axis, joined) = (draws.below(2), rows * columns);
        let windows = Windows::parts(1, 0, 1);
        let types = [
            Type::new(DType::F32, [9usize]),
            Type::new(DType::F32, [joined]),
        ];
        let add = Scatter {
            combine: Combine::Add,
            windows: windows.clone(),
            bounds: Bounds::Drop,
            unique: false,
            stable: false,
        };
        let f = build(&types, |cx, x| {
            let at = cx.iota(&Type::new(DType::I32, [rows, columns]), axis);
            let at = cx.reshape(at, &[joined.into()]);
            let read = cx.gather(&windows, &[1.into()], Bounds::Clip, x[0], at);
            vec![cx.op(add.clone(), &[x[0], at, cx.mul(read, x[1])])]
        });
        let x = [
            numbers(draws, DType::F32, &[9]),
            numbers(draws, DType::F32, &[joined]),
        ];
        same(
            &f,
            &x,
            &format!("case {case}: {rows} x {columns}, axis {axis}"),
        );
    }
}

#[test]
fn gathers_at_progressions_are_slices() {
    let (draws, mut rewritten) = (&mut Draws(6), 0);
    for case in 0..400 {
        let (shape, windows, all) = draw(draws);
        let counts: Vec<usize> = all.iter().map(|a| a.count).collect();
        let size = |k: usize| {
            if windows.axes.contains(&k) {
                1
            } else {
                shape[k]
            }
        };
        let op = Gather {
            sizes: (0..shape.len()).map(|k| Dim::Const(size(k))).collect(),
            bounds: [Bounds::Drop, Bounds::Clip][draws.below(2)],
            windows: windows.clone(),
        };
        let ty = Type::new([DType::F32, DType::I32][draws.below(2)], &shape[..]);
        let (seed, how) = (
            draws.below(1 << 20) as u64,
            draws.below(6).saturating_sub(3),
        );
        let f = build(std::slice::from_ref(&ty), |cx, x| {
            let at = indices(cx, &all, &counts, how, &mut Draws(seed));
            vec![cx.op(op.clone(), &[x[0], at])]
        });
        let x = [numbers(draws, ty.dtype, &shape)];
        same(&f, &x, &format!("case {case}: {op:?} at {all:?}"));
        rewritten += usize::from(!has(&f, |op| matches!(op, Op::Gather(_))));
    }
    assert!(rewritten > 200, "{rewritten} of 400");
}
