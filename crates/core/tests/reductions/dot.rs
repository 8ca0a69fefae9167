//! `dot_general` over a grid of dimension numbers.

use crate::support::{check, noise, noise_array, run, value};
use cotangent_core::ops::DotGeneral;
use cotangent_core::transform::{Session, batch};
use cotangent_core::{Array, Builder, C128, DType, Dim, Type, reference};

/// All ways to choose `k` of `axes`, in order.
fn choices(axes: &[usize], k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![vec![]];
    }
    let mut out = Vec::new();
    for &a in axes {
        let rest: Vec<usize> = axes.iter().copied().filter(|&b| b != a).collect();
        out.extend(
            choices(&rest, k - 1)
                .into_iter()
                .map(|c| [vec![a], c].concat()),
        );
    }
    out
}

/// The product by its definition: loops over all indices.
fn naive(x: &Array, y: &Array, d: &DotGeneral) -> Vec<f64> {
    let (xs, ys) = (x.shape(), y.shape());
    let (lf, rf) = (d.lhs_free(xs.len()), d.rhs_free(ys.len()));
    let pick = |s: &[usize], a: &[usize]| a.iter().map(|&a| s[a]).collect::<Vec<_>>();
    let (b, i, j, k) = (
        pick(xs, &d.lhs_batch),
        pick(xs, &lf),
        pick(ys, &rf),
        pick(xs, &d.lhs_contract),
    );
    let all = |e: &[usize]| {
        e.iter().fold(vec![vec![]], |acc: Vec<Vec<usize>>, &n| {
            acc.into_iter()
                .flat_map(|v| (0..n).map(move |i| [v.clone(), vec![i]].concat()))
                .collect()
        })
    };
    let offset = |shape: &[usize], sets: [(&[usize], &[usize]); 3]| {
        let mut index = vec![0; shape.len()];
        for (axes, at) in sets {
            for (&a, &i) in axes.iter().zip(at) {
                index[a] = i;
            }
        }
        index.iter().zip(shape).fold(0, |o, (i, n)| o * n + i)
    };
    let (xv, yv) = (x.to_f64(), y.to_f64());
    let mut out = Vec::new();
    for b in all(&b) {
        for i in all(&i) {
            for j in all(&j) {
                out.push(
                    all(&k)
                        .iter()
                        .map(|k| {
                            let l =
                                offset(xs, [(&d.lhs_batch, &b), (&lf, &i), (&d.lhs_contract, k)]);
                            let r =
                                offset(ys, [(&d.rhs_batch, &b), (&rf, &j), (&d.rhs_contract, k)]);
                            xv[l] * yv[r]
                        })
                        .sum(),
                );
            }
        }
    }
    out
}

/// All dimension numbers for operands of these ranks, with matching operands.
fn grid(ranks: (usize, usize)) -> Vec<(DotGeneral, Array, Array)> {
    let (l, r) = (
        (0..ranks.0).collect::<Vec<_>>(),
        (0..ranks.1).collect::<Vec<_>>(),
    );
    let mut out = Vec::new();
    for nb in 0..=2 {
        for nc in 0..=2 {
            if nb + nc > ranks.0.min(ranks.1) {
                continue;
            }
            for (p, left) in choices(&l, nb + nc).iter().enumerate() {
                for (q, right) in choices(&r, nb + nc).iter().enumerate() {
                    let d = DotGeneral::contract(&left[nb..], &right[nb..])
                        .batched(&left[..nb], &right[..nb]);
                    let xs: Vec<usize> = (0..ranks.0).map(|a| [2, 3, 2][a % 3]).collect();
                    let mut ys: Vec<usize> = (0..ranks.1).map(|a| [3, 1, 2][a % 3]).collect();
                    for (&a, &b) in left.iter().zip(right) {
                        ys[b] = xs[a];
                    }
                    let make = |s: Vec<usize>, seed| {
                        let n = s.iter().product();
                        Array::from_vec(s, noise(n, seed)).unwrap()
                    };
                    out.push((d, make(xs, p as u64), make(ys, 50 + q as u64)));
                }
            }
        }
    }
    out
}

#[test]
fn every_choice_of_axes_is_the_naive_sum() {
    let mut cases = 0;
    for ranks in [(0, 0), (0, 2), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3)] {
        for (d, x, y) in grid(ranks) {
            let got = value(&[x.clone(), y.clone()], |cx, v| {
                cx.dot_general(v[0], v[1], d.clone())
            });
            let want = naive(&x, &y, &d);
            assert!(
                got.to_f64()
                    .iter()
                    .zip(&want)
                    .all(|(a, b)| (a - b).abs() < 1e-13),
                "{d:?}"
            );
            assert_eq!(got.len(), want.len());
            cases += 1;
        }
    }
    assert!(cases > 200, "{cases} cases");
}

#[test]
fn derivatives_over_the_grid() {
    for (i, (d, x, y)) in grid((3, 3)).into_iter().enumerate() {
        if i % 11 == 0 {
            check(&[x, y], |cx, v| cx.dot_general(v[0], v[1], d.clone()));
        }
    }
    for (d, x, y) in grid((2, 2)) {
        check(&[x, y], |cx, v| cx.dot_general(v[0], v[1], d.clone()));
    }
}

#[test]
fn complex_adjoint_conjugates_the_other_operand() {
    let x = noise_array(&Array::full([2, 3], C128::ZERO).unwrap(), 3);
    let y = noise_array(&Array::full([3, 2], C128::ZERO).unwrap(), 4);
    check(&[x, y], |cx, v| {
        cx.dot_general(v[0], v[1], DotGeneral::contract(&[1], &[0]))
    });
}

#[test]
fn batched_over_either_or_both_operands() {
    for (d, x, y) in grid((2, 2)) {
        for mapped in [[true, false], [false, true], [true, true]] {
            let f = crate::support::function(&[x.clone(), y.clone()], |cx, v| {
                cx.dot_general(v[0], v[1], d.clone())
            });
            let (g, outs) =
                batch(&Session::default(), &f, &mapped, &[true], &Dim::Const(3)).unwrap();
            assert_eq!(outs, [true]);
            let stack = |a: &Array, on: bool| {
                let all: Vec<Array> = (0..3).map(|k| noise_array(a, 90 + k)).collect();
                let data: Vec<f64> = all.iter().flat_map(Array::to_f64).collect();
                let joined = Array::from_vec([&[3], a.shape()].concat(), data).unwrap();
                if on {
                    (joined, all)
                } else {
                    (a.clone(), vec![a.clone(); 3])
                }
            };
            let ((xs, xl), (ys, yl)) = (stack(&x, mapped[0]), stack(&y, mapped[1]));
            let got = run(&g, &[xs, ys]).to_f64();
            let want: Vec<f64> = xl
                .iter()
                .zip(&yl)
                .flat_map(|(x, y)| run(&f, &[x.clone(), y.clone()]).to_f64())
                .collect();
            assert_eq!(got, want, "{d:?} {mapped:?}");
        }
    }
}

#[test]
fn integers_wrap_and_booleans_are_logic() {
    let d = DotGeneral::contract(&[0], &[0]);
    let x = Array::vector(vec![100i8, 100]);
    let y = value(&[x.clone(), x], |cx, v| {
        cx.dot_general(v[0], v[1], d.clone())
    });
    assert_eq!(y.as_slice::<i8>().unwrap(), [(20000i32 as i8)]);
    let p = Array::vector(vec![true, true, false]);
    let y = value(&[p.clone(), p], |cx, v| {
        cx.dot_general(v[0], v[1], d.clone())
    });
    assert_eq!(y.as_slice::<bool>().unwrap(), [true]);
}

#[test]
fn symbolic_extents_are_checked_when_it_runs() {
    let b = Builder::new("f", Session::default());
    let x = b.param(
        Type::new(DType::F64, vec![Dim::sym("m"), Dim::sym("k")]),
        Some("x"),
    );
    let y = b.param(
        Type::new(DType::F64, vec![Dim::sym("l"), Dim::sym("n")]),
        Some("y"),
    );
    let z = (&b as &dyn cotangent_core::Emit).dot_general(x, y, DotGeneral::contract(&[1], &[0]));
    let f = b.finish(&[z]).unwrap();
    let of = |s: [usize; 2]| Array::full(s, 1.0f64).unwrap();
    assert_eq!(run(&f, &[of([2, 3]), of([3, 4])]).to_f64(), vec![3.0; 8]);
    assert_eq!(run(&f, &[of([2, 0]), of([0, 1])]).to_f64(), vec![0.0; 2]);
    let e = reference::run(&f, &[of([2, 3]), of([2, 4])]).unwrap_err();
    assert!(e.to_string().contains("dot_general"), "{e}");
}
