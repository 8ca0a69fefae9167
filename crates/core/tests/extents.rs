//! Factorizations of matrices with symbolic extents (two symbols, or one extent a multiple of the
//! other). Values, derivatives, batches and text equal those for constant extents, for tall, square
//! and wide matrices.

use cotangent_core::check::{Rng, agree, read_again};
use cotangent_core::transform::{self, AdContext, Session};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Env, Function, Type, Val, reference};

type Write = fn(&dyn Emit, Val) -> Vec<Val>;

type Derive = fn(&AdContext, &Function, &[Val]) -> cotangent_core::Result<Function>;

const ALL: &[(&str, Write)] = &[
    ("qr", |cx, a| cx.qr(a).to_vec()),
    ("svd", |cx, a| cx.svd(a).to_vec()),
    ("svdvals", |cx, a| vec![cx.svdvals(a)]),
    ("svd_truncated", |cx, a| cx.svd_truncated(a, &Dim::Const(1))),
    ("low_rank_approximation", |cx, a| {
        vec![cx.low_rank_approximation(a, &Dim::Const(1))]
    }),
    ("pinv", |cx, a| vec![cx.pinv(a, None)]),
    ("lu", |cx, a| vec![cx.lu(a)[0]]),
    ("lu_unpacked", |cx, a| cx.lu_unpacked(a)[1..].to_vec()),
    ("lstsq", |cx, a| {
        // The right-hand side is computed from the matrix, so that it has the same rows.
        let last = cx.ty(a).rank() - 1;
        let b = cx.add(
            cx.reduce_sum(a, &[last]),
            cx.full(&Type::new(DType::F64, cx.ty(a).shape[..last].to_vec()), 0.5),
        );
        vec![cx.lstsq(a, b, None)]
    }),
    ("nuclear", |cx, a| {
        vec![cx.matrix_norm(a, cotangent_core::ops::MatrixNorm::Nuclear)]
    }),
    ("least singular", |cx, a| {
        vec![cx.matrix_norm(a, cotangent_core::ops::MatrixNorm::LeastSingular)]
    }),
];

fn function(write: Write, shape: Vec<Dim>) -> Function {
    let b = Builder::new("f", Session::default());
    let a = b.param(Type::new(DType::F64, shape), Some("a"));
    let y = write(&b, a);
    b.finish(&y).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn symbolic_extents_agree_with_constant_ones() {
    let (m, n) = (Dim::sym("m"), Dim::sym("n"));
    let twice = n.clone() + n.clone();
    let shapes: [(Vec<Dim>, &[[usize; 2]]); 5] = [
        (
            vec![m.clone(), n.clone()],
            &[[2, 3], [3, 2], [2, 2], [1, 3], [3, 1], [4, 3]],
        ),
        (vec![twice.clone(), n.clone()], &[[2, 1], [4, 2], [6, 3]]),
        (vec![n.clone(), twice], &[[1, 2], [2, 4]]),
        (
            vec![n.clone() + Dim::Const(1), n.clone()],
            &[[2, 1], [3, 2], [4, 3]],
        ),
        (vec![Dim::Const(3), n], &[[3, 1], [3, 3], [3, 5]]),
    ];
    let (ad, mut rng, mut cases) = (AdContext::default(), Rng::new(5), 0);
    for &(name, write) in ALL {
        for (shape, sizes) in &shapes {
            let open = function(write, shape.clone());
            let again = read_again(&open).unwrap_or_else(|e| panic!("{name} of {shape:?}: {e}"));
            let known: [Derive; 2] = [transform::jvp, transform::vjp];
            let derived = known
                .map(|d| d(&ad, &open, open.params()).unwrap_or_else(|e| panic!("{name}: {e}")));
            derived.iter().for_each(|d| {
                drop(read_again(d).unwrap_or_else(|e| panic!("{name} of {shape:?}: {e}")))
            });
            let size = Dim::sym("batch");
            let all = vec![true; open.results().len()];
            let (many, _) = transform::batch(&ad.session(), &open, &[true], &all, &size).unwrap();
            for [rows, columns] in *sizes {
                cases += 1;
                let what = format!("{name} of {shape:?} at {rows} x {columns}");
                let closed = function(write, vec![Dim::Const(*rows), Dim::Const(*columns)]);
                let a = rng
                    .array(&Type::new(DType::F64, [*rows, *columns]), &Env::default())
                    .unwrap();
                let run = |f: &Function, x: &[Array]| {
                    reference::run(f, x).unwrap_or_else(|e| panic!("{what}: {e}"))
                };
                let want = run(&closed, std::slice::from_ref(&a));
                for f in [&open, &again] {
                    agree(&run(f, std::slice::from_ref(&a)), &want, 1e-12)
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                }
                for (k, open) in derived.iter().enumerate() {
                    let closed = known[k](&ad, &closed, closed.params()).unwrap();
                    let types = closed.param_types();
                    let more = types[1..]
                        .iter()
                        .map(|t| rng.array(t, &Env::default()).unwrap());
                    let x: Vec<Array> = std::iter::once(a.clone()).chain(more).collect();
                    // The tolerance is relative to the largest magnitude of all results: values
                    // that are exactly zero for constant extents (the tangent of `U` with one row)
                    // may be rounding errors for symbolic ones.
                    let [got, want] = [run(open, &x), run(&closed, &x)].map(|y| {
                        let all: Vec<f64> = y.iter().flat_map(|y| y.to_f64()).collect();
                        (
                            y.iter().map(Array::ty).collect::<Vec<_>>(),
                            [Array::vector(all)],
                        )
                    });
                    assert_eq!(got.0, want.0, "{what}, derivative {k}");
                    agree(&got.1, &want.1, 1e-9)
                        .unwrap_or_else(|e| panic!("{what}, derivative {k}: {e}"));
                }
                let two = cotangent_core::check::stack(&a, &[&a, &a]).unwrap();
                let pair: Vec<Array> = want
                    .iter()
                    .map(|y| cotangent_core::check::stack(y, &[y, y]).unwrap())
                    .collect();
                agree(&run(&many, &[two]), &pair, 1e-12)
                    .unwrap_or_else(|e| panic!("{what}, in a batch: {e}"));
            }
        }
    }
    assert!(cases > 150, "{cases}");
}

/// The smaller extent does not depend on the order of operands, and is one of them if the order is
/// known.
#[test]
fn the_smaller_of_two_extents() {
    let [m, n] = ["m", "n"].map(Dim::sym);
    let twice = n.clone() + n.clone();
    assert_eq!(m.least(&n), n.least(&m));
    assert_eq!(m.least(&n).to_string(), "m-max(m-n,0)");
    assert_eq!(twice.least(&n), n);
    assert_eq!(n.least(&(n.clone() + Dim::Const(2))), n);
    assert_eq!(Dim::Const(3).least(&Dim::Const(5)), Dim::Const(3));
    for (rows, columns) in [(0, 2), (2, 0), (3, 3), (1, 4), (4, 1)] {
        let env: Env = [("m".into(), rows), ("n".into(), columns)]
            .into_iter()
            .collect();
        assert_eq!(m.least(&n).eval(&env).unwrap(), rows.min(columns));
        // The extent after substitution of a symbol.
        let replaced = m
            .least(&n)
            .subst(&|s| (&**s == "m").then(|| n.clone() + n.clone()));
        assert_eq!(replaced, n);
    }
}
