//! Lines 81 to 91 and 97: loops.

use super::*;
use cotangent_core::check::{Options, check_function};
use cotangent_core::transform::batch;

/// `c = c * x` while fewer than `trips` are done; from `c = start`.
fn power(cx: &dyn Emit, x: Val, start: Val, trips: Val) -> Val {
    let zero = cx.full_like(trips, 0i64);
    cx.while_loop(
        &[x, trips],
        &[zero, start],
        |cx, w, c| cx.compare(c[0], Comparison::Lt, w[1]),
        |cx, w, c| vec![cx.add(c[0], cx.full_like(c[0], 1i64)), cx.mul(c[1], w[0])],
    )[1]
}

/// `x * x^trips`, for a data-dependent number of trips.
fn powers() -> Function {
    build([f64s(&[]), Type::scalar(DType::I64)], |cx, [x, n]| {
        vec![power(cx, x, x, n)]
    })
}

fn with_trips(x: f64, n: i64, more: &[f64]) -> Vec<Array> {
    [Array::scalar(x), Array::scalar(n)]
        .into_iter()
        .chain(more.iter().map(|&v| Array::scalar(v)))
        .collect()
}

#[test]
fn l81_l82_while_forward_and_in_reverse() {
    let f = build([f64s(&[]), Type::scalar(DType::I64)], |cx, [x, n]| {
        vec![power(cx, x, cx.full_like(x, 1.0), n)]
    });
    let wrt = &f.params()[..1];
    same(
        &flat(run(
            &jvp(&ad(), &f, wrt).unwrap(),
            &with_trips(2.0, 3, &[1.0]),
        )),
        &[8.0, 12.0],
    );
    same(
        &flat(run(
            &grad(&ad(), &f, wrt).unwrap(),
            &with_trips(2.0, 3, &[]),
        )),
        &[12.0],
    );
    same(
        &flat(run(
            &hvp(&ad(), &f, wrt).unwrap(),
            &with_trips(2.0, 3, &[1.0]),
        )),
        &[12.0],
    );
    // No trips: the carry is returned unchanged, the constant has slope zero.
    let f = build(
        [f64s(&[]), f64s(&[]), Type::scalar(DType::I64)],
        |cx, [x, w, n]| vec![power(cx, w, x, n)],
    );
    let args = |more: &[f64]| -> Vec<Array> {
        let x = [Array::scalar(2.0), Array::scalar(5.0), Array::scalar(0i64)];
        x.into_iter()
            .chain(more.iter().map(|&v| Array::scalar(v)))
            .collect()
    };
    same(
        &flat(run(
            &jvp(&ad(), &f, &f.params()[..2]).unwrap(),
            &args(&[1.0, 1.0]),
        )),
        &[2.0, 1.0],
    );
    same(
        &flat(run(&grad(&ad(), &f, &f.params()[..2]).unwrap(), &args(&[]))),
        &[1.0, 0.0],
    );
}

#[test]
fn l83_trips_that_depend_on_the_argument() {
    // Doubles until 100 is reached: from 3 that takes 6 steps.
    let f = scalars(|cx, [x]| {
        let hundred = |cx: &dyn Emit, c: Val| cx.compare(c, Comparison::Lt, cx.full_like(c, 100.0));
        cx.while_loop(
            &[],
            &[x],
            |cx, _, c| hundred(cx, c[0]),
            |cx, _, c| vec![cx.add(c[0], c[0])],
        )[0]
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    for (x, want) in [(3.0, 64.0), (60.0, 2.0), (200.0, 1.0)] {
        same(&flat(run(&g, &at([x]))), &[want]);
    }
}

#[test]
fn l84_fori_with_a_data_dependent_bound() {
    let step = |cx: &dyn Emit, w: &[Val], _: Val, c: &[Val]| vec![cx.mul(c[0], w[0])];
    let late = build([f64s(&[]), Type::scalar(DType::I64)], |cx, [x, n]| {
        cx.fori(0, n, &[x], &[cx.full_like(x, 1.0)], step)
    });
    same(
        &flat(run(
            &grad(&ad(), &late, &late.params()[..1]).unwrap(),
            &with_trips(2.0, 3, &[]),
        )),
        &[12.0],
    );
    let known = scalars(|cx, [x]| cx.fori(0, 3, &[x], &[cx.full_like(x, 1.0)], step)[0]);
    same(
        &flat(run(
            &grad(&ad(), &known, known.params()).unwrap(),
            &at([2.0]),
        )),
        &[12.0],
    );
}

#[test]
fn l85_while_in_scan_to_second_order() {
    // Steps of 0, 1, 2 trips of c = sin(c w), against the unrolled loops.
    let turn = |cx: &dyn Emit, w: Val, c: Val| cx.sin(cx.mul(c, w));
    let loops = scalars(|cx, [x, w]| {
        let n = cx.iota(&Type::new(DType::I64, [3]), 0);
        let (c, _) = cx.scan(&[w], &[x], &[n], &3.into(), false, |cx, w, c, n| {
            let zero = cx.full_like(n[0], 0i64);
            let inner = cx.while_loop(
                &[w[0], n[0]],
                &[zero, c[0]],
                |cx, w, c| cx.compare(c[0], Comparison::Lt, w[1]),
                |cx, w, c| vec![cx.add(c[0], cx.full_like(c[0], 1i64)), turn(cx, w[0], c[1])],
            );
            (vec![inner[1]], vec![])
        });
        c[0]
    });
    let flatly = scalars(|cx, [x, w]| (0..3).fold(x, |c, _| turn(cx, w, c)));
    for (x, w) in [(0.7, 1.3), (-0.2, 0.4)] {
        let of = |f: &Function| flat(run(&hessian(&ad(), f, f.params()).unwrap(), &at([x, w])));
        close(&of(&loops), &of(&flatly));
    }
    let report = check_function(&ad(), &loops, &at([0.7, 1.3]), &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn l86_to_l88_scans() {
    // Length 0.
    let f = scalars(|cx, [x]| {
        let xs = cx.full(&f64s(&[0]), 1.0);
        cx.scan(&[], &[x], &[xs], &0.into(), false, |cx, _, c, x| {
            (vec![cx.mul(c[0], x[0])], vec![])
        })
        .0[0]
    });
    same(
        &flat(run(&grad(&ad(), &f, f.params()).unwrap(), &at([3.0]))),
        &[1.0],
    );
    // No carry: y = x².
    let squares = |cx: &dyn Emit, x: Val| {
        cx.scan(&[], &[], &[x], &3.into(), false, |cx, _, _, x| {
            (vec![], vec![cx.mul(x[0], x[0])])
        })
        .1[0]
    };
    same(&grad_sum(&[0.0, 1.0, 2.0], squares), &[0.0, 2.0, 4.0]);
    // The constant alone: w⁴.
    let fourth = |cx: &dyn Emit, w: Val| {
        let one = cx.full_like(w, 1.0);
        cx.scan(&[w], &[one], &[], &4.into(), false, |cx, w, c, _| {
            (vec![cx.mul(c[0], w[0])], vec![])
        })
        .0[0]
    };
    assert_eq!(
        (nth_grad(1, 2.0, fourth), nth_grad(2, 2.0, fourth)),
        (32.0, 48.0)
    );
}

#[test]
fn l89_a_carry_that_becomes_active_late() {
    let f = scalars(|cx, [w]| {
        let zero = cx.full_like(w, 0.0);
        let (c, _) = cx.scan(&[w], &[zero, zero], &[], &3.into(), false, |cx, w, c, _| {
            (vec![c[1], cx.add(c[1], w[0])], vec![])
        });
        c[0]
    });
    same(
        &flat(run(&grad(&ad(), &f, f.params()).unwrap(), &at([1.0]))),
        &[2.0],
    );
    same(
        &flat(run(&jvp(&ad(), &f, f.params()).unwrap(), &at([1.0, 1.0]))),
        &[2.0, 2.0],
    );
}

#[test]
fn l90_a_reverse_scan_of_which_only_the_stacked_result_is_seeded() {
    // From the last step: c = c x, y = c. y = [abc, bc, c].
    let f = build([f64s(&[3])], |cx, [x]| {
        let one = cx.full(&f64s(&[]), 1.0);
        let body = |cx: &dyn Emit, _: &[Val], c: &[Val], x: &[Val]| {
            let c = cx.mul(c[0], x[0]);
            (vec![c], vec![c])
        };
        let (c, y) = cx.scan(&[], &[one], &[x], &3.into(), true, body);
        vec![c[0], y[0]]
    });
    let x = vector(&[2.0, 3.0, 5.0]);
    let y = run(&f, std::slice::from_ref(&x));
    same(&y[1].to_f64(), &[30.0, 15.0, 5.0]);
    let stacked = f.clone().with_results(&f.results()[1..]);
    let back = vjp(&ad(), &stacked, stacked.params()).unwrap();
    // 1 * abc + 10 * bc + 100 * c.
    same(
        &flat(run(&back, &[x, vector(&[1.0, 10.0, 100.0])])),
        &[15.0, 60.0, 136.0],
    );
}

#[test]
fn l91_a_scan_with_integers() {
    let f = scalars(|cx, [x]| {
        let zero = cx.full(&Type::scalar(DType::I32), 0i64);
        let (c, y) = cx.scan(&[], &[zero, x], &[], &3.into(), false, |cx, _, c, _| {
            let next = cx.add(c[0], cx.full_like(c[0], 1i64));
            (
                vec![next, cx.mul(c[1], cx.convert(next, DType::F64))],
                vec![next],
            )
        });
        let counts = cx.convert(cx.reduce_sum(y[0], &[0]), DType::F64);
        cx.mul(c[1], counts)
    });
    // x · 3! · (1 + 2 + 3).
    same(
        &flat(run(&grad(&ad(), &f, f.params()).unwrap(), &at([0.5]))),
        &[36.0],
    );
}

#[test]
fn l97_a_batch_of_loops_with_different_trips() {
    let f = powers();
    let session = ad().session();
    // x^(1 + n) at x = 2 would be [2, 16, 4]; from a start of 1 it is [1, 8, 2].
    let one = build([f64s(&[]), Type::scalar(DType::I64)], |cx, [x, n]| {
        vec![power(cx, x, cx.full_like(x, 1.0), n)]
    });
    let trips = Array::vector(vec![0i64, 3, 1]);
    let x = vector(&[2.0, 2.0, 2.0]);
    let (many, _) = batch(&session, &one, &[true, true], &[true], &3.into()).unwrap();
    same(
        &flat(run(&many, &[x.clone(), trips.clone()])),
        &[1.0, 8.0, 2.0],
    );
    let total = build([f64s(&[3]), Type::new(DType::I64, [3])], |cx, x| {
        vec![cx.reduce_sum(cx.inline(&many, &x)[0], &[0])]
    });
    let g = grad(&ad(), &total, &total.params()[..1]).unwrap();
    same(
        &flat(run(&g, &[x.clone(), trips.clone()])),
        &[0.0, 12.0, 1.0],
    );
    // The derivative of each, batched.
    let g = grad(&ad(), &f, &f.params()[..1]).unwrap();
    let (many, _) = batch(&session, &g, &[true, true], &[true], &Dim::sym("n")).unwrap();
    same(&flat(run(&many, &[x, trips])), &[1.0, 32.0, 4.0]);
}
