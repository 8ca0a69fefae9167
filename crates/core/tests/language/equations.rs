//! Fixed points, roots, minima and linear systems over modules.

use super::*;
use cotangent_core::transform::batch;

/// Equations over modules: `cos(a x) = x`, `x² = a`, the minimum of `(x - a)² + 0.1 x⁴`,
/// `a x + shift x = b`.
const EQUATIONS: &str = "
tgraph.module @cosine {
  %x, %a = tgraph.arg, tgraph.arg : tensor<?xf64>
  %u = tgraph.mul %a, %x
  %y = tgraph.cos %u
  tgraph.return %y
}
tgraph.module @square {
  %x, %a = tgraph.arg, tgraph.arg : tensor<?xf64>
  %s = tgraph.mul %x, %x
  %r = tgraph.sub %s, %a
  tgraph.return %r
}
tgraph.module @loss {
  %x, %a = tgraph.arg, tgraph.arg : tensor<?xf64>
  %d = tgraph.sub %x, %a
  %d2 = tgraph.mul %d, %d
  %x4 = tgraph.integer_pow %x {n = 4}
  %t = tgraph.fma %x4, 0.1, %d2
  %l = tgraph.reduce %t {op = sum}
  tgraph.return %l
}
tgraph.module @product {
  %u, %v = tgraph.arg, tgraph.arg : tensor<nxf64>
  %p = tgraph.mul %u, %v
  tgraph.return %p
}
tgraph.module @scaled {
  %v, %a = tgraph.arg, tgraph.arg : tensor<?xf64>
  %q = tgraph.call @product %a, %v
  %p = tgraph.add %q, %v
  tgraph.return %p
}
";

/// `@m`, a module of `%a` that returns the solution of the equation.
fn solving(line: &str) -> String {
    format!(
        "{EQUATIONS}tgraph.module @m {{\n  %a = tgraph.arg : tensor<?xf64>\n  %one = tgraph.ones_like %a\n  \
         %y = {line}\n  tgraph.return %y\n}}\n"
    )
}

#[test]
fn equations_over_modules_are_solved_and_differentiated() {
    // Each equation with its solution and the derivative of that, elementwise.
    let dottie = |a: f64| (0..200).fold(0.5, |x: f64, _| (a * x).cos());
    let least = |a: f64| {
        (0..100).fold(a, |x: f64, _| {
            x - (2.0 * (x - a) + 0.4 * x * x * x) / (2.0 + 1.2 * x * x)
        })
    };
    type Scalars<'a> = &'a dyn Fn(f64) -> f64;
    let cases: [(&str, Scalars<'_>, Scalars<'_>); 8] = [
        ("tgraph.fixed_point @cosine %one, %a", &dottie, &|a| {
            let x = dottie(a);
            -x * (a * x).sin() / (1.0 + a * (a * x).sin())
        }),
        ("tgraph.root @square %one, %a", &|a| a.sqrt(), &|a| {
            0.5 / a.sqrt()
        }),
        (
            "tgraph.root @square %a, %a {tol = 1e-12, max_iter = 40} : tensor<?xf64>",
            &|a| a.sqrt(),
            &|a| 0.5 / a.sqrt(),
        ),
        ("tgraph.argmin @loss %one, %a", &least, &|a| {
            2.0 / (2.0 + 1.2 * least(a).powi(2))
        }),
        (
            "tgraph.solve @scaled %one, %a",
            &|a| 1.0 / (1.0 + a),
            &|a| -1.0 / (1.0 + a).powi(2),
        ),
        (
            "tgraph.solve @scaled %one, %a {solver = \"cg\"}",
            &|a| 1.0 / (1.0 + a),
            &|a| -1.0 / (1.0 + a).powi(2),
        ),
        (
            "tgraph.solve @scaled %a, %a {solver = gmres}",
            &|a| a / (1.0 + a),
            &|a| 1.0 / (1.0 + a).powi(2),
        ),
        ("tgraph.root @square, %one, %a", &|a| a.sqrt(), &|a| {
            0.5 / a.sqrt()
        }),
    ];
    for (line, y, dy) in cases {
        let text = format!(
            "{}tgraph.adjoint @m wrt(%a) -> @g\ntgraph.jvp @m wrt(%a) -> @t\n",
            solving(line)
        );
        let p = program(&text);
        for at in [vec![0.9], vec![0.4, 0.7, 0.8]] {
            let of = |f: Scalars<'_>| at.iter().map(|&a| f(a)).collect::<Vec<f64>>();
            let x = Array::vector(at.clone());
            let ones = Array::vector(vec![1.0; at.len()]);
            near(&run(&p, "m", std::slice::from_ref(&x)), &of(y), 1e-9);
            near(&run(&p, "g", &[x.clone(), ones.clone()]), &of(dy), 1e-7);
            let t = reference::run(p.module("t").unwrap(), &[x, ones]).unwrap();
            near(&t[1], &of(dy), 1e-7);
        }
        // The second derivative, against differences of the first.
        let twice = format!("{text}tgraph.adjoint @g wrt(%a) -> @h\n");
        let p = program(&twice);
        let one = Array::vector(vec![1.0]);
        let h = run(&p, "h", &[Array::vector(vec![0.6]), one.clone(), one]).to_f64()[0];
        let differences = (dy(0.6 + 1e-5) - dy(0.6 - 1e-5)) / 2e-5;
        assert!(
            (h - differences).abs() < 1e-5,
            "{line}: {h}, not {differences}"
        );
        // Batched.
        let f = p.module("m").unwrap();
        let (many, _) = batch(&Session::default(), f, &[true], &[], &Dim::Const(2)).unwrap();
        let x = Array::from_vec([2, 1], vec![0.5, 0.9]).unwrap();
        near(
            &reference::run(&many, &[x]).unwrap()[0],
            &[y(0.5), y(0.9)],
            1e-9,
        );
    }
}

#[test]
fn equations_nest_and_say_what_is_wrong() {
    // The root of x² = a inside the fixed point of x -> sqrt(b + x) ... with a = b + x: x² - x - b
    // = 0.
    let nested = format!(
        "{EQUATIONS}tgraph.module @inner {{\n  %x, %b = tgraph.arg, tgraph.arg : tensor<?xf64>\n  \
         %a = tgraph.add %b, %x\n  %one = tgraph.ones_like %x\n  %r = tgraph.root @square %one, %a\n  tgraph.return %r\n}}\n\
         tgraph.module @m {{\n  %b = tgraph.arg : tensor<?xf64>\n  %s = tgraph.ones_like %b\n  \
         %y = tgraph.fixed_point @inner %s, %b\n  tgraph.return %y\n}}\ntgraph.adjoint @m wrt(%b) -> @g\n"
    );
    let p = program(&nested);
    let b = Array::vector(vec![2.0, 3.75]);
    near(&run(&p, "m", std::slice::from_ref(&b)), &[2.0, 2.5], 1e-9);
    near(
        &run(&p, "g", &[b, Array::vector(vec![1.0, 1.0])]),
        &[1.0 / 3.0, 0.25],
        1e-7,
    );
    // Without a module `argmin` and `solve` are the index and the dense solve.
    let x = Array::vector(vec![3.0, -1.0, 2.0]);
    assert_eq!(
        value(&[("x", "tensor<3xf64>")], "tgraph.argmin %x", &[x]).to_f64(),
        [1.0]
    );
    let (a, b) = (
        Array::from_vec([2, 2], vec![2.0, 0.0, 0.0, 4.0]).unwrap(),
        Array::vector(vec![1.0, 1.0]),
    );
    let solve = value(
        &[("a", "tensor<2x2xf64>"), ("b", "tensor<2x1xf64>")],
        "tgraph.solve %a, %b",
        &[a, Array::from_vec([2, 1], b.to_f64()).unwrap()],
    );
    near(&solve, &[0.5, 0.25], 1e-15);
    // Two unknowns of a loss.
    let two = "tgraph.module @l {\n  %x, %y = tgraph.arg, tgraph.arg : f64\n  %a = tgraph.arg : f64\n  \
               %p = tgraph.sub %x, %a\n  %q = tgraph.sub %y, %x\n  %s = tgraph.mul %p, %p\n  %t = tgraph.fma %q, %q, %s\n  \
               tgraph.return %t\n}\ntgraph.module @m {\n  %a = tgraph.arg : f64\n  \
               %u, %v = tgraph.argmin @l 0.0, 0.0, %a {unknowns = 2}\n  %w = tgraph.add %u, %v\n  tgraph.return %w\n}\n\
               tgraph.adjoint @m wrt(%a) -> @g\n";
    let p = program(two);
    near(&run(&p, "m", &[Array::scalar(1.5)]), &[3.0], 1e-9);
    near(&run(&p, "g", &[Array::scalar(1.5)]), &[2.0], 1e-9);
    // Missing convergence is a run-time error.
    let few = program(&solving(
        "tgraph.fixed_point @cosine %one, %a {tol = 1e-12, max_iter = 3}",
    ));
    let e = reference::run(few.module("m").unwrap(), &[Array::vector(vec![0.9])]).unwrap_err();
    assert!(e.message().contains("did not converge"), "{e}");
    for (line, what) in [
        (
            "tgraph.fixed_point %one, %a",
            "`fixed_point` needs a module before its operands",
        ),
        (
            "tgraph.root @square %one",
            "`square` takes 2 operands, got 1",
        ),
        (
            "tgraph.solve @scaled %one, %a {solver = lu}",
            "there are gmres, cg, dense",
        ),
        (
            "tgraph.root @square %one, %a {tol = 0.0}",
            "`tol` must be positive",
        ),
        (
            "tgraph.root @square %one, %a {steps = 3}",
            "no attribute `steps`",
        ),
        ("tgraph.argmin @square %one, %a", "scalar"),
        (
            "tgraph.root @nothing %one, %a",
            "there is no module `@nothing`",
        ),
    ] {
        refused(&solving(line), what);
    }
}
