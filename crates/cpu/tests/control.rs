//! Operations with bodies: loops of every length, nesting on a small stack, sizes known only at run
//! time.

mod common;

use common::{build, check, run};
use cotangent_core::ops::Comparison;
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{
    Array, Builder, Code, DType, Dim, Emit, Function, Type, Val, transform::Session,
};
use cotangent_cpu::compile;
use std::sync::Arc;

fn scalar() -> Type {
    Type::scalar(DType::F64)
}

/// `x * x` through `levels` nested calls. With `twice`, each level calls twice and adds.
fn tower(levels: usize, twice: bool) -> Arc<Function> {
    let mut f = build(&[scalar()], |cx, x| vec![cx.mul(x[0], x[0])]);
    for _ in 0..levels {
        f = build(&[scalar()], |cx, x| {
            let y = cx.call(&f, x)[0];
            vec![if twice {
                cx.add(y, cx.call(&f, x)[0])
            } else {
                y
            }]
        });
    }
    f
}

#[test]
fn deep_nesting_on_a_small_stack() {
    let f = tower(64, false);
    let g = Arc::new(
        grad(
            &AdContext::default(),
            &tower(60, false),
            &[Val::from_index(0)],
        )
        .unwrap(),
    );
    let loops = (0..31).fold(
        build(&[scalar()], |cx, x| vec![cx.add(x[0], x[0])]),
        |f, _| {
            build(&[scalar()], |cx, x| {
                cx.scan(&[], x, &[], &Dim::from(1), false, |cx, _, c, _| {
                    (cx.call(&f, c), vec![])
                })
                .0
            })
        },
    );
    let work = move || {
        assert_eq!(run(&f, &[Array::scalar(3.0)])[0].to_f64(), [9.0]);
        assert_eq!(run(&g, &[Array::scalar(3.0)])[0].to_f64(), [6.0]);
        assert_eq!(run(&loops, &[Array::scalar(3.0)])[0].to_f64(), [6.0]);
    };
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_shared_body_is_compiled_once() {
    // There would be 2^24 calls if each were compiled separately.
    let program = compile(&tower(24, true)).unwrap();
    assert_eq!(program.function().eqns().len(), 3);
    assert_eq!(
        run(&tower(10, true), &[Array::scalar(1.0)])[0].to_f64(),
        [1024.0]
    );
}

#[test]
fn scans_of_every_length() {
    let n = Dim::sym("n");
    let f = build(
        &[scalar(), Type::new(DType::F64, vec![n.clone()])],
        |cx, x| {
            let (c, y) = cx.scan(&[], &x[..1], &x[1..], &n, true, |cx, _, c, x| {
                let c = cx.add(cx.mul(c[0], cx.full_like(c[0], 0.5)), x[0]);
                (vec![c], vec![cx.mul(c, c)])
            });
            vec![c[0], y[0]]
        },
    );
    let program = compile(&f).unwrap();
    for len in [0, 1, 5, 1000, 100_000] {
        let x = Array::vector((0..len).map(|i| (i % 7) as f64).collect::<Vec<_>>());
        let y = program.run(&[Array::scalar(2.0), x.clone()]).unwrap();
        let (mut c, mut want) = (2.0, vec![0.0; len]);
        for i in (0..len).rev() {
            c = c * 0.5 + x.to_f64()[i];
            want[i] = c * c;
        }
        assert!(y[0].to_f64() == [c] && y[1].to_f64() == want);
    }
}

/// Halves `x` until it is below 1, and returns the product of the values of `x` before each
/// halving.
fn halving() -> Arc<Function> {
    build(&[scalar()], |cx, x| {
        let one = cx.full(&scalar(), 1.0);
        let y = cx.while_loop(
            &[],
            &[x[0], one],
            |cx, _, c| cx.compare(c[0], Comparison::Ge, cx.full_like(c[0], 1.0)),
            |cx, _, c| vec![cx.mul(c[0], cx.full_like(c[0], 0.5)), cx.mul(c[0], c[1])],
        );
        vec![y[1]]
    })
}

#[test]
fn loops_of_data_dependent_length_have_gradients() {
    let f = halving();
    let g = Arc::new(grad(&AdContext::default(), &f, f.params()).unwrap());
    let h = Arc::new(grad(&AdContext::default(), &g, g.params()).unwrap());
    for x in [0.5, 3.0, 1000.0] {
        for f in [&f, &g, &h] {
            check(f, &[Array::scalar(x)], false);
        }
    }
    // The product has k factors x/2^i, so its derivative is k/x times the product.
    let (y, dy) = (
        run(&f, &[Array::scalar(20.0)]),
        run(&g, &[Array::scalar(20.0)]),
    );
    assert!((dy[0].to_f64()[0] - 5.0 / 20.0 * y[0].to_f64()[0]).abs() < 1e-9);
}

#[test]
fn a_million_steps() {
    let n = Dim::from(1_000_000);
    let f = build(&[scalar()], |cx, x| {
        let one = cx.full(&scalar(), 1.0);
        cx.scan(&[one], x, &[], &n, false, |cx, w, c, _| {
            (vec![cx.add(c[0], w[0])], vec![])
        })
        .0
    });
    assert_eq!(run(&f, &[Array::scalar(0.5)])[0].to_f64(), [1_000_000.5]);
}

#[test]
fn branches_must_agree_on_sizes_at_run_time() {
    let open = |s: &str| Type::new(DType::F64, vec![Dim::sym(s)]);
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let p = b.param(Type::scalar(DType::Bool), None);
    let (x, y) = (b.param(open("n"), None), b.param(open("m"), None));
    let z = cx.cond(p, &[x, y], |_, x| vec![x[0]], |_, x| vec![x[1]]);
    let f = Arc::new(b.finish(&z).unwrap());
    let of = |n: usize| Array::vector(vec![1.0; n]);
    for p in [false, true] {
        check(&f, &[Array::scalar(p), of(3), of(3)], true);
        let got = compile(&f).unwrap().run(&[Array::scalar(p), of(3), of(4)]);
        let want = cotangent_core::reference::run(&f, &[Array::scalar(p), of(3), of(4)]);
        match (got, want) {
            (Ok(g), Ok(w)) => assert!(g[0].same_bits(&w[0])),
            (Err(g), Err(w)) => assert!(g.code() == w.code() && g.code() == Code::BranchMismatch),
            (g, w) => panic!("{g:?} is not {w:?}"),
        }
    }
}
