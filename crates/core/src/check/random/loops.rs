//! Random loops: carries that are constant, equal, swapped, counters, or not used; rows read and
//! written at the counter.

use super::grower::Grower;
use crate::array::Scalar;
use crate::dtype::DType;
use crate::ir::{Emit, Function, Val};
use crate::ops::Comparison;
use crate::shape::{Dim, Type};

/// The use of the second of two carries that begin with one value.
#[derive(Clone, Copy)]
enum Second {
    /// It is updated as the first.
    Equal,
    Fixed,
    /// The first is the second of the step before.
    Swapped,
    /// Only itself depends on it.
    Own,
    Other,
}

/// A loop of 0 to 12 steps over two carries of one type, a counter and the rows of a value: a scan,
/// or a `while` to a constant or to a bound that is an argument. `None`: the graph was not changed.
pub(super) fn carried(g: &mut Grower) -> Option<()> {
    let (w, c) = (g.pick(), g.pick());
    let rows = g.another_with_rows()?;
    let length = g.ty(rows).shape[0].clone();
    let first = g.write(&[rows], |cx, x| cx.index_axis(x[0], 0, 0))?;
    let zero = g.given(&Scalar::I(0).array(DType::I64), true)?;
    let at = |g: &Grower, k: usize| (g.ty(k), g.values[k].now.clone());
    let params = [w, c, first, zero].map(|k| at(g, k)).to_vec();
    let state = g.ty(c);
    let mut inner = g.inside(params)?;
    if inner.rng.chance(0.3) {
        carried(&mut inner);
    }
    let next = match inner.rng.chance(0.5) {
        true => inner.write(&[1, 3], |cx, x| shifted(cx, x[0], x[1]))?,
        false => inner.another(&state, usize::MAX)?,
    };
    let (next, last) = (inner.values[next].val, inner.values.last()?.val);
    let body = inner.b.finish(&[next, last]).ok()?;
    let all = [
        Second::Equal,
        Second::Fixed,
        Second::Swapped,
        Second::Own,
        Second::Other,
    ];
    let second = all[g.rng.below(all.len())];
    let reverse = g.rng.chance(0.5);
    let step = |cx: &dyn Emit, w: Val, c: &[Val], row: Val| stepped(cx, &body, second, w, c, row);
    match g.rng.below(3) {
        0 => g.write(&[w, c, zero, rows], |cx, x| {
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], row: &[Val]| {
                let mut y = step(cx, w[0], c, row[0]);
                let stacked = y.split_off(3);
                (y, stacked)
            };
            let init = [x[1], x[1], x[2]];
            cx.scan(&x[..1], &init, &x[3..], &length, reverse, step).0[0]
        }),
        kind => {
            let trips = Scalar::I(g.rng.below(13) as i128).array(DType::I64);
            let trips = g.given(&trips, kind == 1)?;
            g.write(&[w, c, zero, rows, trips], |cx, x| {
                let more =
                    |cx: &dyn Emit, w: &[Val], c: &[Val]| cx.compare(c[2], Comparison::Lt, w[2]);
                let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                    let mut y = step(cx, w[0], c, row_at(cx, w[1], c[2]));
                    y.truncate(3);
                    y
                };
                let consts = [x[0], x[3], x[4]];
                cx.while_loop(&consts, &[x[1], x[1], x[2]], more, step)[0]
            })
        }
    }
    .map(drop)
}

/// The carries after a step, and a stacked value.
fn stepped(
    cx: &dyn Emit,
    body: &Function,
    second: Second,
    w: Val,
    c: &[Val],
    row: Val,
) -> Vec<Val> {
    let of = |c0: Val| cx.inline(body, &[w, c0, row, c[2]]);
    let y = of(c[0]);
    let pair = match second {
        Second::Equal => [y[0], of(c[1])[0]],
        Second::Fixed => [y[0], c[1]],
        Second::Swapped => [c[1], y[0]],
        Second::Own => [y[0], of(c[1])[0]],
        Second::Other => [y[0], of(cx.inline(body, &[w, c[1], row, c[2]])[0])[0]],
    };
    let one = cx.full_like(c[2], 1i64);
    vec![pair[0], pair[1], cx.add(c[2], one), y[1]]
}

/// Row `i` of an array, clamped.
fn row_at(cx: &dyn Emit, x: Val, i: Val) -> Val {
    cx.dynamic_index_axis(x, 0, i)
}

/// The array with row `i` replaced by the one before it.
fn shifted(cx: &dyn Emit, x: Val, i: Val) -> Val {
    if cx.ty(x).rank() == 0 {
        return x;
    }
    let before = cx.sub(i, cx.full_like(i, 1i64));
    let (starts, sizes) = window(cx, x, before);
    let row = cx.dynamic_slice(x, &starts, &sizes);
    let (starts, _) = window(cx, x, i);
    cx.dynamic_update_slice(x, row, &starts)
}

/// Starts and sizes of the window of row `i`.
fn window(cx: &dyn Emit, x: Val, i: Val) -> (Vec<Val>, Vec<Dim>) {
    let ty = cx.ty(x);
    let zero = cx.full(&Type::scalar(DType::I64), 0i64);
    let mut starts = vec![zero; ty.rank()];
    starts[0] = i;
    let mut sizes = ty.shape.to_vec();
    sizes[0] = 1.into();
    (starts, sizes)
}
