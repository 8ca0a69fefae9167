//! Values against loops.

use super::*;
use cotangent_core::check::Rng;
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{Bounds, Combine, Windows};
use cotangent_core::rewrite::simplify;
use cotangent_core::{C128, Dim, Op};

/// Every index of a shape, row-major.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &n| {
        all.into_iter()
            .flat_map(|i| (0..n).map(move |k| [i.as_slice(), &[k]].concat()))
            .collect()
    })
}

fn flat(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |a, (i, n)| a * n + i)
}

fn dims(v: &[usize]) -> Vec<Dim> {
    v.iter().map(|&d| Dim::Const(d)).collect()
}

fn below(rng: &mut Rng, n: usize) -> usize {
    if n == 0 { 0 } else { rng.below(n) }
}

/// Compares a slice with the elements that its definition selects.
fn compare_slice(rng: &mut Rng, shape: &[usize]) {
    let (rank, x) = (shape.len(), counting(shape));
    let (v, ty) = (x.to_f64(), f64s(shape));
    let start: Vec<usize> = shape.iter().map(|&n| rng.below(n + 1)).collect();
    let limit: Vec<usize> = shape
        .iter()
        .zip(&start)
        .map(|(&n, &s)| s + rng.below(n - s + 1))
        .collect();
    let stride: Vec<usize> = shape.iter().map(|_| 1 + rng.below(3)).collect();
    let f = build([ty], |cx, [x]| {
        vec![cx.slice(x, &dims(&start), &dims(&limit), &stride)]
    });
    let want: Vec<f64> = indices(shape)
        .iter()
        .filter(|i| {
            (0..rank).all(|k| {
                i[k] >= start[k] && i[k] < limit[k] && (i[k] - start[k]).is_multiple_of(stride[k])
            })
        })
        .map(|i| v[flat(i, shape)])
        .collect();
    assert_eq!(run(&f, std::slice::from_ref(&x))[0], want);
}

/// Compares a reversal with the elements at the mirrored positions.
fn compare_reversal(rng: &mut Rng, shape: &[usize]) {
    let (rank, x) = (shape.len(), counting(shape));
    let (v, ty) = (x.to_f64(), f64s(shape));
    let axes: Vec<usize> = (0..rank).filter(|_| rng.chance(0.5)).collect();
    let f = build([ty], |cx, [x]| vec![cx.reverse(x, &axes)]);
    let turned = |i: &Vec<usize>| -> Vec<usize> {
        (0..rank)
            .map(|k| {
                if axes.contains(&k) {
                    shape[k] - 1 - i[k]
                } else {
                    i[k]
                }
            })
            .collect()
    };
    let want: Vec<f64> = indices(shape)
        .iter()
        .map(|i| v[flat(&turned(i), shape)])
        .collect();
    assert_eq!(run(&f, std::slice::from_ref(&x))[0], want);
}

/// Compares a pad with the elements at the positions from which they come.
fn compare_pad(rng: &mut Rng, shape: &[usize]) {
    let (rank, x) = (shape.len(), counting(shape));
    let (v, ty) = (x.to_f64(), f64s(shape));
    let interior: Vec<usize> = (0..rank).map(|_| rng.below(3)).collect();
    let span: Vec<i64> = (0..rank)
        .map(|k| (shape[k] + shape[k].saturating_sub(1) * interior[k]) as i64)
        .collect();
    let low: Vec<i64> = (0..rank)
        .map(|k| rng.below(4) as i64 - (span[k] / 2).min(2))
        .collect();
    let high: Vec<i64> = (0..rank)
        .map(|k| rng.below(4) as i64 - (span[k] - span[k] / 2).min(2))
        .collect();
    let to: Vec<usize> = (0..rank)
        .map(|k| usize::try_from(span[k] + low[k] + high[k]).unwrap())
        .collect();
    let f = build([ty, f64s(&[])], |cx, [x, p]| {
        vec![
            cx.pad(x, p, &low, &high, &interior),
            cx.pad_zeros(x, &low, &high, &interior),
        ]
    });
    let source = |i: &[usize]| -> Option<f64> {
        let at: Option<Vec<usize>> = (0..rank)
            .map(|k| {
                let p = i[k] as i64 - low[k];
                let step = interior[k] as i64 + 1;
                (p >= 0 && p % step == 0 && p / step < shape[k] as i64)
                    .then_some((p / step) as usize)
            })
            .collect();
        Some(v[flat(&at?, shape)])
    };
    let got = reference::run(&f, &[x, Array::scalar(-7.0)]).unwrap();
    assert_eq!(got[0].shape(), to);
    for (i, (a, b)) in indices(&to)
        .iter()
        .zip(got[0].to_f64().into_iter().zip(got[1].to_f64()))
    {
        assert_eq!(
            (a, b),
            (source(i).unwrap_or(-7.0), source(i).unwrap_or(0.0))
        );
    }
}

#[test]
fn slices_reversals_and_pads_of_random_shapes() {
    let mut rng = Rng::new(11);
    for _ in 0..200 {
        let rank = rng.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| rng.below(5)).collect();
        compare_slice(&mut rng, &shape);
        compare_reversal(&mut rng, &shape);
        compare_pad(&mut rng, &shape);
    }
}

#[test]
fn concatenate_stack_split_and_index() {
    let f = build([f64s(&[2, 1]), f64s(&[2, 2])], |cx, [x, y]| {
        let z = cx.concatenate(&[x, y], 1);
        let mut out = vec![
            z,
            cx.stack(&[y, y], 1),
            cx.index_axis(z, 0, 1),
            cx.slice_axis(z, 1, 1, 2),
        ];
        out.extend(cx.split(z, 1, &dims(&[1, 0, 2])));
        out
    });
    let y = run(
        &f,
        &[
            floats(&[1.0, 2.0]).reshape([2, 1]).unwrap(),
            counting(&[2, 2]),
        ],
    );
    assert_eq!(y[0], [1.0, 1.0, 2.0, 2.0, 3.0, 4.0]);
    assert_eq!(y[1], [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    assert_eq!(y[2], [2.0, 3.0, 4.0]);
    assert_eq!(y[3], [1.0, 3.0]);
    assert_eq!(
        (&*y[4], &*y[5], &*y[6]),
        (&[1.0, 2.0][..], &[][..], &[1.0, 2.0, 3.0, 4.0][..])
    );
}

#[test]
fn dynamic_windows_are_clamped() {
    let f = build([f64s(&[4]), f64s(&[2]), i64s(&[])], |cx, [x, u, i]| {
        let row = cx.dynamic_index_axis(x, 0, i);
        vec![
            cx.dynamic_slice(x, &[i], &dims(&[3])),
            cx.dynamic_update_slice(x, u, &[i]),
            row,
            cx.dynamic_update_index_axis(x, row, 0, cx.zeros(&i64s(&[]))),
        ]
    });
    let at = |i: i64| {
        run(
            &f,
            &[counting(&[4]), floats(&[-1.0, -2.0]), Array::scalar(i)],
        )
    };
    assert_eq!(
        at(1),
        [
            &[2.0, 3.0, 4.0][..],
            &[1.0, -1.0, -2.0, 4.0],
            &[2.0],
            &[2.0, 2.0, 3.0, 4.0]
        ]
    );
    assert_eq!(
        at(-9),
        [
            &[1.0, 2.0, 3.0][..],
            &[-1.0, -2.0, 3.0, 4.0],
            &[1.0],
            &[1.0, 2.0, 3.0, 4.0]
        ]
    );
    assert_eq!(
        at(i64::MAX),
        [
            &[2.0, 3.0, 4.0][..],
            &[1.0, 2.0, -1.0, -2.0],
            &[4.0],
            &[4.0, 2.0, 3.0, 4.0]
        ]
    );
    // Unsigned starts above the signed range are clamped to the end, not to the beginning.
    let f = build([f64s(&[4]), Type::scalar(DType::U64)], |cx, [x, i]| {
        vec![cx.dynamic_slice(x, &[i], &dims(&[3]))]
    });
    assert_eq!(
        run(&f, &[counting(&[4]), Array::scalar(u64::MAX)])[0],
        [2.0, 3.0, 4.0]
    );
}

/// A random geometry: windows, extents of operand, of a window, of the indices.
fn geometry(rng: &mut Rng) -> (Windows, Vec<usize>, Vec<usize>, Vec<usize>) {
    let rank = 1 + rng.below(3);
    let shape: Vec<usize> = (0..rank).map(|_| 1 + rng.below(4)).collect();
    let mut w = Windows::default();
    let (mut sizes, mut index_shape) = (vec![1; rank], Vec::new());
    for k in 0..rank {
        match rng.below(3) {
            0 => w.collapsed.push(k),
            1 => w.operand_batch.push(k),
            _ => sizes[k] = rng.below(shape[k] + 1),
        }
    }
    w.axes = (0..rank)
        .filter(|k| !w.operand_batch.contains(k) && rng.chance(0.7))
        .collect();
    if rng.chance(0.5) {
        w.axes.reverse();
    }
    // Axes that count windows: batch axes in any order, and at most one more.
    let own = rng.below(2);
    let mut outer: Vec<Option<usize>> = w.operand_batch.iter().map(|&k| Some(k)).collect();
    outer.extend((0..own).map(|_| None));
    if rng.chance(0.5) {
        outer.reverse();
    }
    let implicit = w.axes.len() == 1 && rng.chance(0.5);
    w.vector = if implicit {
        outer.len()
    } else {
        rng.below(outer.len() + 1)
    };
    for (i, axis) in outer.iter().enumerate() {
        if i == w.vector && !implicit {
            index_shape.push(w.axes.len());
        }
        index_shape.push(axis.map_or_else(|| rng.below(4), |k| shape[k]));
    }
    if index_shape.len() == outer.len() && !implicit {
        index_shape.push(w.axes.len());
    }
    let place = |i: usize| i + usize::from(!implicit && i >= w.vector);
    w.index_batch = w
        .operand_batch
        .iter()
        .map(|&k| place(outer.iter().position(|o| *o == Some(k)).unwrap()))
        .collect();
    let inner = rank - w.collapsed.len() - w.operand_batch.len();
    let mut places: Vec<usize> = (0..outer.len() + inner).collect();
    while places.len() > inner {
        places.remove(below(rng, places.len()));
    }
    w.window = places;
    (w, shape, sizes, index_shape)
}

/// The element of the operand for each element of the windows, by StableHLO's definition.
fn sources(
    w: &Windows,
    x: &[usize],
    sizes: &[usize],
    indices_: &Array,
    windows: &[usize],
    clip: bool,
) -> Vec<Option<usize>> {
    let s = indices_.shape();
    let values = indices_.to_f64();
    let element = |at: &Vec<usize>| -> Option<usize> {
        let g: Vec<usize> = (0..windows.len())
            .filter(|k| !w.window.contains(k))
            .map(|k| at[k])
            .collect();
        let offset: Vec<usize> = w.window.iter().map(|&k| at[k]).collect();
        let mut inner = offset.into_iter();
        let full: Vec<i64> = (0..x.len())
            .map(|k| {
                let mut p = 0;
                if let Some(c) = w.axes.iter().position(|&a| a == k) {
                    let mut index = g.clone();
                    if w.vector < s.len() {
                        index.insert(w.vector, c);
                    }
                    p = values[flat(&index, s)] as i64;
                    if clip {
                        p = p.clamp(0, (x[k] - sizes[k]) as i64);
                    }
                }
                if let Some(b) = w.operand_batch.iter().position(|&a| a == k) {
                    let d = w.index_batch[b];
                    p += g[d - usize::from(d > w.vector)] as i64;
                } else if !w.collapsed.contains(&k) {
                    p += inner.next().unwrap() as i64;
                }
                p
            })
            .collect();
        let inside = full.iter().zip(x).all(|(&p, &n)| p >= 0 && p < n as i64);
        inside.then(|| flat(&full.iter().map(|&p| p as usize).collect::<Vec<_>>(), x))
    };
    indices(windows).iter().map(element).collect()
}

#[test]
fn gathers_and_scatters_of_random_geometries() {
    let mut rng = Rng::new(5);
    for _ in 0..400 {
        let (w, shape, sizes, index_shape) = geometry(&mut rng);
        let n: usize = index_shape.iter().product();
        let index: Vec<i64> = (0..n).map(|_| rng.below(7) as i64 - 1).collect();
        let index = Array::from_vec(index_shape.clone(), index).unwrap();
        let x = counting(&shape);
        for (bounds, clip) in [(Bounds::Clip, true), (Bounds::Drop, false)] {
            let f = build([f64s(&shape), i64s(&index_shape)], |cx, [x, i]| {
                vec![cx.gather(&w, &dims(&sizes), bounds, x, i)]
            });
            let y = reference::run(&f, &[x.clone(), index.clone()])
                .unwrap()
                .remove(0);
            let from = sources(&w, &shape, &sizes, &index, y.shape(), clip);
            let v = x.to_f64();
            assert_eq!(
                y.to_f64(),
                from.iter()
                    .map(|p| p.map_or(0.0, |p| v[p]))
                    .collect::<Vec<_>>(),
                "{w:?}"
            );

            let u = Array::from_vec(
                y.shape(),
                (0..y.len()).map(|i| (i * 5 % 13) as f64 - 4.5).collect(),
            )
            .unwrap();
            for (combine, op) in [
                (Combine::Add, (|a, b| a + b) as fn(f64, f64) -> f64),
                (Combine::Mul, |a, b| a * b),
                (Combine::Min, f64::min),
                (Combine::Max, f64::max),
            ] {
                let f = build(
                    [f64s(&shape), i64s(&index_shape), f64s(y.shape())],
                    |cx, [x, i, u]| vec![cx.scatter(combine, &w, bounds, x, i, u)],
                );
                let got = run(&f, &[x.clone(), index.clone(), u.clone()]).remove(0);
                let mut want = v.clone();
                for (p, u) in from.iter().zip(u.to_f64()) {
                    if let Some(p) = p {
                        want[*p] = op(want[*p], u);
                    }
                }
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
                assert!(
                    got.iter().zip(&want).all(close),
                    "{combine:?} {w:?}: {got:?} is not {want:?}"
                );
            }
        }
    }
}

#[test]
fn one_window_at_constant_indices_is_a_slice() {
    let mut rng = Rng::new(7);
    let signs = |n: usize| {
        let number = |i: usize| [0.0, -0.0, 1.5, -2.5, 0.1, 7.0][i * 5 % 6];
        (0..n).map(number).collect::<Vec<f64>>()
    };
    let (mut slices, mut kept) = (0, 0);
    for round in 0..1500 {
        let (w, shape, sizes, mut index_shape) = geometry(&mut rng);
        let counted =
            (0..index_shape.len()).filter(|k| *k != w.vector && !w.index_batch.contains(k));
        for k in counted.collect::<Vec<_>>() {
            index_shape[k] = index_shape[k].min(1 + round % 2);
        }
        let n: usize = index_shape.iter().product();
        let index: Vec<i64> = (0..n).map(|_| rng.below(5) as i64 - 1).collect();
        let index = Array::from_vec(index_shape.clone(), index).unwrap();
        let x = Array::from_vec(shape.clone(), signs(shape.iter().product())).unwrap();
        // Vectors of indices are sometimes joined from numbers.
        let constant = |cx: &dyn Emit| match (round % 3, index_shape.as_slice()) {
            (0, &[n]) if n > 0 => {
                let number = |i: &f64| cx.full(&i64s(&[1]), *i as i64);
                let all: Vec<Val> = index.to_f64().iter().map(number).collect();
                cx.concatenate(&all, 0)
            }
            _ => cx.constant(index.clone()),
        };
        for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
            let gather = build([f64s(&shape)], |cx, [x]| {
                vec![cx.gather(&w, &dims(&sizes), bounds, x, constant(cx))]
            });
            let windows = gather.result_types()[0].shape.as_const().unwrap();
            let u = Array::from_vec(windows.clone(), signs(windows.iter().product())).unwrap();
            let mut functions = vec![gather];
            for combine in [
                Combine::Set,
                Combine::Add,
                Combine::Mul,
                Combine::Min,
                Combine::Max,
            ] {
                for zero in [false, true] {
                    functions.push(build([f64s(&shape)], |cx, [x]| {
                        let x = if zero { cx.zeros(&f64s(&shape)) } else { x };
                        let (i, u) = (constant(cx), cx.constant(u.clone()));
                        vec![cx.scatter(combine, &w, bounds, x, i, u)]
                    }));
                }
            }
            for f in functions {
                let simple = simplify(&f);
                let args = std::slice::from_ref(&x);
                match (reference::run(&f, args), reference::run(&simple, args)) {
                    (Ok(a), Ok(b)) => assert!(a[0].same_bits(&b[0]), "{f} becomes {simple}"),
                    (Err(_), Err(_)) => assert_eq!(bounds, Bounds::Error),
                    (a, b) => panic!("{a:?} and {b:?} of {f} and {simple}"),
                }
                let name = |e: &Eqn| matches!(e.op.name(), "gather" | "scatter");
                match simple.eqns().iter().any(name) {
                    true => kept += 1,
                    false => slices += 1,
                }
            }
        }
    }
    assert!(slices > 2000 && kept > 5000, "{slices} slices, {kept} kept");
}

#[test]
fn one_window_of_every_type_at_constant_indices_is_a_slice() {
    let windows = Windows::parts(1, 0, 1);
    let empty = |cx: &dyn Emit| {
        let none = cx.constant(Array::zeros(DType::I64, [0]).unwrap());
        (0..12).fold(none, |v, _| cx.concatenate(&[v; 40], 0))
    };
    for dtype in DType::ALL {
        let ty = Type::new(dtype, [4]);
        let one = [Dim::Const(1)];
        for combine in [Combine::Set, Combine::Add] {
            let f = build([ty.clone(), Type::new(dtype, [1])], |cx, [x, u]| {
                // Vectors without elements are joined in no time.
                let i = cx.concatenate(&[cx.full(&i64s(&[1]), 2), empty(cx)], 0);
                let read = cx.gather(&windows, &one, Bounds::Clip, x, i);
                let zeros = cx.zeros(&ty);
                vec![
                    read,
                    cx.scatter(combine, &windows, Bounds::Clip, zeros, i, u),
                ]
            });
            let simple = simplify(&f);
            let kept = |e: &Eqn| matches!(e.op.name(), "gather" | "scatter");
            assert!(!simple.eqns().iter().any(kept), "{dtype} {simple}");
            for one in [0, 1] {
                let number = cotangent_core::Scalar::I(one).cast(dtype);
                let args = [4, 1].map(|n| number.full(dtype, vec![n]).unwrap());
                let [a, b] = [&f, &simple].map(|f| reference::run(f, &args).unwrap());
                assert!(a.iter().zip(&b).all(|(a, b)| a.same_bits(b)), "{dtype}");
            }
        }
    }
}

#[test]
fn take_and_take_along_axis() {
    let f = build([f64s(&[2, 3]), i64s(&[2, 2])], |cx, [x, i]| {
        vec![
            cx.take(x, i, 1, Bounds::Error),
            cx.take(x, i, 0, Bounds::Clip),
            cx.take(x, i, 0, Bounds::Drop),
        ]
    });
    let index = ints(&[0, 2, 1, 1]).reshape([2, 2]).unwrap();
    let y = reference::run(&f, &[counting(&[2, 3]), index]).unwrap();
    assert_eq!(
        (y[0].shape(), y[0].to_f64()),
        (&[2, 2, 2][..], vec![1.0, 3.0, 2.0, 2.0, 4.0, 6.0, 5.0, 5.0])
    );
    assert_eq!(
        y[1].to_f64(),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
    );
    assert_eq!(
        y[2].to_f64(),
        [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0]
    );

    let f = build([f64s(&[2, 3]), i64s(&[2, 1])], |cx, [x, i]| {
        vec![cx.take_along_axis(x, i, 1, Bounds::Error)]
    });
    let y = reference::run(
        &f,
        &[counting(&[2, 3]), ints(&[2, 0]).reshape([2, 1]).unwrap()],
    )
    .unwrap();
    assert_eq!((y[0].shape(), y[0].to_f64()), (&[2, 1][..], vec![3.0, 4.0]));
    // An index row for all rows of the operand.
    let f = build([f64s(&[2, 3]), i64s(&[1, 2])], |cx, [x, i]| {
        vec![cx.take_along_axis(x, i, 1, Bounds::Error)]
    });
    let y = run(
        &f,
        &[counting(&[2, 3]), ints(&[2, 0]).reshape([1, 2]).unwrap()],
    );
    assert_eq!(y[0], [3.0, 1.0, 6.0, 4.0]);
}

#[test]
fn take_from_an_empty_operand() {
    let f = build([f64s(&[0, 2]), i64s(&[0])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Clip)]
    });
    let empty = || Array::from_vec([0, 2], Vec::<f64>::new()).unwrap();
    assert_eq!(
        reference::run(&f, &[empty(), ints(&[])]).unwrap()[0].shape(),
        [0, 2]
    );
    let f = build([f64s(&[0, 2]), i64s(&[1])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Drop)]
    });
    assert_eq!(run(&f, &[empty(), ints(&[0])])[0], [0.0, 0.0]);
}

#[test]
fn other_element_types_move_bit_by_bit() {
    let nan = f64::from_bits(0x7ff8_0000_dead_beef);
    let f = build([f64s(&[2])], |cx, [x]| {
        vec![cx.pad_zeros(cx.reverse(x, &[0]), &[1], &[0], &[1])]
    });
    let y = reference::run(&f, &[floats(&[nan, -0.0])])
        .unwrap()
        .remove(0);
    let bits: Vec<u64> = y
        .as_slice::<f64>()
        .unwrap()
        .iter()
        .map(|x| x.to_bits())
        .collect();
    assert_eq!(bits, [0, (-0.0f64).to_bits(), 0, nan.to_bits()]);

    let f = build([Type::new(DType::C128, [3]), i64s(&[2])], |cx, [x, i]| {
        vec![cx.take(x, i, 0, Bounds::Clip), cx.concatenate(&[x, x], 0)]
    });
    let z: Vec<C128> = (0..3).map(|k| C128::new(k as f64, -1.0)).collect();
    let y = reference::run(&f, &[Array::vector(z.clone()), ints(&[2, 1])]).unwrap();
    assert_eq!(
        (y[0].to_c128(), y[1].to_c128()),
        (vec![z[2], z[1]], [z.clone(), z].concat())
    );
}

#[test]
fn batching_writes_no_loop() {
    use cotangent_core::transform::batch;
    let f = build([f64s(&[4]), i64s(&[]), f64s(&[2])], |cx, [x, i, u]| {
        vec![
            cx.dynamic_slice(x, &[i], &dims(&[2])),
            cx.dynamic_update_slice(x, u, &[i]),
        ]
    });
    let (g, _) = batch(
        &Session::default(),
        &f,
        &[true; 3],
        &[true; 2],
        &Dim::sym("b"),
    )
    .unwrap();
    let names: Vec<String> = g.eqns().iter().map(|e| e.op.name().to_owned()).collect();
    assert_eq!(names, ["reshape", "gather", "reshape", "scatter"]);
    let ops: Vec<&Op> = g.eqns().iter().map(|e| &e.op).collect();
    assert!(matches!(ops[1], Op::Gather(g) if g.windows.operand_batch == [0]));
}

#[test]
fn one_hot_rows() {
    let f = build([Type::new(DType::I8, [3])], |cx, [i]| {
        vec![cx.one_hot(i, &Dim::Const(300), DType::F32)]
    });
    let y = reference::run(&f, &[Array::vector(vec![1i8, -1, 127])])
        .unwrap()
        .remove(0);
    assert_eq!((y.shape(), y.dtype()), (&[3, 300][..], DType::F32));
    let ones: Vec<usize> = y
        .to_f64()
        .iter()
        .enumerate()
        .filter(|(_, v)| **v != 0.0)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(ones, [1, 727]);
}
