//! Modules that directives derive: stable forms, poles, many tangents together, tangents in print.

use super::*;

/// `exp(x) / sum(exp(x))`, `log(sum(exp(x)))`, and functions of single elements, written out.
const WRITTEN_OUT: &str = "
tgraph.module @share {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %s = tgraph.reduce %e {op = sum}
  %p = tgraph.div %e, %s
  tgraph.return %p
}
tgraph.module @total {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %s = tgraph.reduce %e {op = sum}
  %l = tgraph.log %s
  tgraph.return %l
}
tgraph.module @rows {
  %x = tgraph.arg : tensor<?x2xf64>
  %e = tgraph.exp %x
  %s = tgraph.reduce_sum %e {axes = [1]}
  %l = tgraph.log %s
  %t = tgraph.reduce %l {op = sum}
  tgraph.return %t
}
tgraph.module @plus {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %l = tgraph.log1p %e
  tgraph.return %l
}
tgraph.module @one_plus {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %s = tgraph.add %e, 1.0
  %l = tgraph.log %s
  tgraph.return %l
}
tgraph.module @odds {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %s = tgraph.add 1.0, %e
  %p = tgraph.div %e, %s
  tgraph.return %p
}
tgraph.module @rest {
  %x = tgraph.arg : tensor<?xf64>
  %e = tgraph.exp %x
  %s = tgraph.add 1.0, %e
  %p = tgraph.div 1.0, %s
  tgraph.return %p
}
tgraph.module @two {
  %x = tgraph.arg : tensor<?xf64>
  %a = tgraph.exp %x
  %n = tgraph.neg %x
  %b = tgraph.exp %n
  %s = tgraph.add %a, %b
  %l = tgraph.log %s
  %p = tgraph.div %a, %s
  %r = tgraph.add %l, %p
  tgraph.return %r
}
";

/// The module, its adjoint and the adjoint of the module as written.
fn derived(name: &str) -> Program {
    program(&format!(
        "{WRITTEN_OUT}tgraph.adjoint @{name} wrt(%x) -> @g\n\
         tgraph.adjoint @{name} wrt(%x) {{raise = false}} -> @as_written\n"
    ))
}

#[test]
fn directives_derive_from_stable_forms_and_the_module_keeps_its_bits() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    type Slope<'a> = &'a dyn Fn(f64) -> f64;
    let bump: Slope<'_> = &|x: f64| sigmoid(x) * sigmoid(-x);
    let cases: [(&str, Slope<'_>); 6] = [
        ("plus", &sigmoid),
        ("one_plus", &sigmoid),
        ("odds", bump),
        ("rest", &|x| -bump(x)),
        // tanh(x) + d/dx sigmoid(2 x)
        ("two", &|x| x.tanh() + 2.0 * bump(2.0 * x)),
        ("share", &|_| 0.0),
    ];
    for (name, slope) in cases {
        let p = derived(name);
        for x in [1000.0, 40.0, 0.3, -2.0, -1000.0] {
            let at = [Array::vector(vec![x]), Array::vector(vec![1.0])];
            near(&run(&p, "g", &at), &[slope(x)], 1e-14);
            if x.abs() < 5.0 {
                near(&run(&p, "as_written", &at), &[slope(x)], 1e-14);
            }
        }
        // The formula as written loses the slope 1 of large operands.
        if name.ends_with("plus") {
            let far = [Array::vector(vec![1000.0]), Array::vector(vec![1.0])];
            assert_ne!(run(&p, "as_written", &far).to_f64(), [1.0]);
        }
        // The module itself is what the text says.
        let f = p.module(name).unwrap();
        let exponentials = f.eqns().iter().filter(|e| e.op.name() == "exp").count();
        assert_eq!(exponentials, if name == "two" { 2 } else { 1 });
    }
    assert!(
        run(&derived("plus"), "plus", &[Array::vector(vec![1000.0])]).to_f64()[0].is_infinite()
    );
    // Softmax over all elements, and over rows.
    let p = derived("total");
    let x = [Array::vector(vec![1000.0, 1001.0, -5000.0])];
    let (a, b) = (sigmoid(-1.0), sigmoid(1.0));
    near(&run(&p, "g", &x), &[a, b, 0.0], 1e-15);
    // The formula as written: zero over infinity, times infinity.
    assert_eq!(run(&p, "as_written", &x).to_f64(), [0.0, 0.0, 0.0]);
    let x = [Array::from_vec([2, 2], vec![1000.0, 1001.0, -7.0, -8.0]).unwrap()];
    near(&run(&derived("rows"), "g", &x), &[a, b, b, a], 1e-15);
}

#[test]
fn the_head_of_a_text_leaves_formulas_as_written() {
    let text = format!("tgraph.numerics {{raise = false}}\n{WRITTEN_OUT}");
    let p = Program::parse(&text, None).unwrap();
    assert!(
        p.to_string()
            .starts_with("tgraph.numerics {raise = false}\n")
    );
    let directive = "tgraph.adjoint @total wrt(%x)";
    let p = program(&format!(
        "{text}{directive} -> @g\n{directive} {{raise = true}} -> @h\n"
    ));
    let x = [Array::vector(vec![1000.0, 1000.0])];
    assert_eq!(run(&p, "g", &x).to_f64(), [0.0, 0.0]);
    near(&run(&p, "h", &x), &[0.5, 0.5], 0.0);
    refused(
        &format!("{WRITTEN_OUT}{directive} {{raise = 1}} -> @g\n"),
        "`raise` is true or false",
    );
}

/// `e / sum(e)` is no softmax for a derivative by `e`.
#[test]
fn values_that_a_directive_differentiates_by_are_not_raised_away() {
    let text = format!(
        "{WRITTEN_OUT}tgraph.adjoint @share wrt(%e, %x, %s) -> @g\n\
         tgraph.adjoint @share wrt(%e, %x, %s) {{raise = false}} -> @as_written\n\
         tgraph.jvp @total wrt(%e) -> @t\n"
    );
    let p = program(&text);
    let x = [
        Array::vector(vec![0.5, -1.0, 2.0]),
        Array::vector(vec![1.0, -0.5, 0.25]),
    ];
    let of = |name: &str| reference::run(p.module(name).unwrap(), &x).unwrap();
    for (got, want) in of("g").iter().zip(of("as_written")) {
        near(got, &want.to_f64(), 1e-14);
    }
    let e: Vec<f64> = x[0].to_f64().iter().map(|x| x.exp()).collect();
    let moved: f64 = e.iter().sum::<f64>().recip() * (1.0 - 0.5 + 0.25);
    near(&of("t")[1], &[moved], 1e-14);
}

#[test]
fn stable_forms_of_a_text_are_left_as_they_are() {
    for line in [
        "tgraph.softmax %x {axis = 0}",
        "tgraph.logsumexp %x",
        "tgraph.softplus %x",
        "tgraph.log_softmax %x {axis = 0}",
        "tgraph.logaddexp %x, 0.5",
        "tgraph.gelu %x",
        "tgraph.logistic %x",
    ] {
        let text = statement(&[("x", "tensor<3xf64>")], line);
        let directive = "tgraph.jvp @m wrt(%x)";
        let p = program(&format!(
            "{text}{directive} -> @a\n{directive} {{raise = false}} -> @b\n"
        ));
        let x = [
            Array::vector(vec![0.5, -1.0, 3.0]),
            Array::vector(vec![1.0, 2.0, -0.5]),
        ];
        let of = |name: &str| reference::run(p.module(name).unwrap(), &x).unwrap();
        for (a, b) in of("a").iter().zip(of("b")) {
            near(a, &b.to_f64(), 1e-15);
        }
        // Nothing is shifted a second time.
        let size = |name: &str| p.module(name).unwrap().eqns().len();
        assert_eq!(size("a"), size("b"), "{line}\n{p}");
    }
}

#[test]
fn nan_covers_every_derivative_with_a_pole_and_guards_inside_or_outside() {
    let poles = [
        ("tgraph.div 3.0, %v", 0.0),
        ("tgraph.rsqrt %v", 0.0),
        ("tgraph.sqrt %v", 0.0),
        ("tgraph.cbrt %v", 0.0),
        ("tgraph.log %v", 0.0),
        ("tgraph.log2 %v", 0.0),
        ("tgraph.log10 %v", 0.0),
        ("tgraph.log1p %v", -1.0),
        ("tgraph.pow %v, -1.0", 0.0),
        ("tgraph.pow %v, 0.5", 0.0),
        ("tgraph.integer_pow %v {n = -2}", 0.0),
    ];
    for (line, at) in poles {
        // Without a guard, with one outside, with one inside.
        let plain = format!("  %v = tgraph.add %x, 0.0\n  %y = {line}\n");
        let outside = format!(
            "  %c = tgraph.gt %x, {at:?}\n  %v = tgraph.add %x, 0.0\n  %f = {line}\n  \
             %y = tgraph.select %c, %f, 0.0\n"
        );
        let inside = format!(
            "  %c = tgraph.gt %x, {at:?}\n  %v = tgraph.select %c, %x, 0.5\n  %f = {line}\n  \
             %y = tgraph.select %c, %f, 0.0\n"
        );
        let slope = |body: &str, choice: &str| {
            let text = format!(
                "tgraph.module @m {{\n  %x = tgraph.arg : f64\n{body}  tgraph.return %y\n}}\n\
                 tgraph.adjoint @m wrt(%x) {choice} -> @g\n"
            );
            run(&program(&text), "g", &[Array::scalar(at)]).to_f64()[0]
        };
        assert!(slope(&plain, "").is_nan(), "{line}");
        assert!(
            slope(&plain, "{zero_division = \"ieee\"}").is_infinite(),
            "{line}"
        );
        for (body, guard) in [(&outside, "outside"), (&inside, "inside")] {
            assert_eq!(slope(body, ""), 0.0, "{line}: {guard}");
        }
    }
}

const CUBE: &str = "
tgraph.module @cube {
  %x = tgraph.arg : tensor<?xf64>
  %w = tgraph.arg : f64
  %y = tgraph.integer_pow %x {n = 3}
  %s = tgraph.reduce %y {op = sum}
  %z = tgraph.mul %s, %w
  tgraph.return %z
}
";

#[test]
fn jvp_and_hvp_take_many_tangents_together() {
    let text = format!(
        "{CUBE}tgraph.jvp @cube wrt(%x) {{columns = 3}} -> @three\n\
         tgraph.jvp @cube wrt(%x, %w) dir(%u, %v) {{columns = k, stable = true}} -> @many\n\
         tgraph.hvp @cube wrt(%x) dir(%d) {{columns = k}} -> @products\n"
    );
    // Directives are printed with it, too.
    let p = Program::parse(&text, None).unwrap();
    let printed = p.to_string();
    assert!(
        printed.contains("dir(%u, %v) {columns = k, stable = true} -> @many"),
        "{printed}"
    );
    assert_eq!(Program::parse(&printed, None).unwrap().to_string(), printed);
    let p = program(&text);
    let (x, w) = (vec![1.0, -2.0], 0.5);
    let at = [Array::vector(x.clone()), Array::scalar(w)];
    let value = w * x.iter().map(|x| x * x * x).sum::<f64>();
    let slope: Vec<f64> = x.iter().map(|x| 3.0 * w * x * x).collect();
    let along = |t: &[f64]| t.iter().zip(&slope).map(|(t, s)| t * s).sum::<f64>();
    let all = |name: &str, rest: &[Array]| {
        let args = [&at[..], rest].concat();
        reference::run(p.module(name).unwrap(), &args).unwrap()
    };
    let t = [1.0, 0.0, 0.0, 1.0, 2.0, -1.0];
    let want: Vec<f64> = t.chunks(2).map(along).collect();
    let y = all("three", &[Array::from_vec([3, 2], t.to_vec()).unwrap()]);
    near(&y[0], &[value], 1e-15);
    near(&y[1], &want, 1e-15);
    // Any number of them: each with its tangent of w.
    for k in [1, 2, 3] {
        let u = Array::from_vec([k, 2], t[..2 * k].to_vec()).unwrap();
        let v = Array::vector((0..k).map(|i| i as f64).collect::<Vec<_>>());
        let want: Vec<f64> = (0..k).map(|i| want[i] + i as f64 * value / w).collect();
        near(&all("many", &[u.clone(), v])[1], &want, 1e-15);
        let second: Vec<f64> = (0..2 * k).map(|i| 6.0 * w * x[i % 2] * t[i]).collect();
        near(&all("products", &[u])[0], &second, 1e-15);
    }
    // A tangent that changes nothing is a zero of every column.
    let constant = "tgraph.module @c {\n  %x = tgraph.arg : f64\n  %o = tgraph.ones_like %x\n  tgraph.return %o\n}\n\
                    tgraph.jvp @c wrt(%x) {columns = 2} -> @t\n";
    let y = program(constant);
    let args = [Array::scalar(1.0), Array::vector(vec![1.0, 1.0])];
    let y = reference::run(y.module("t").unwrap(), &args).unwrap();
    assert_eq!((y[0].shape(), y[1].to_f64()), (&[][..], vec![0.0, 0.0]));
    for (directive, what) in [
        ("adjoint @cube wrt(%x) {columns = 2}", "an adjoint has none"),
        ("jvp @cube wrt(%x) {columns = ?}", "a number or a name"),
        (
            "jvp @cube wrt(%x) {columns = 1.5}",
            "`columns` must be a dimension",
        ),
        ("jvp @cube wrt(%w) dir(%w) {columns = 2}", "use a new name"),
    ] {
        refused(&format!("{CUBE}tgraph.{directive} -> @g\n"), what);
    }
}

#[test]
fn tangents_are_printed_as_tangents_and_both_spellings_are_read() {
    let text =
        format!("{CUBE}tgraph.jvp @cube wrt(%x) -> @t\ntgraph.hvp @cube wrt(%x) dir(%v) -> @h\n");
    let derived = Program::parse(&text, None).unwrap();
    let derived = derived.derive(&AdContext::default()).unwrap();
    let printed = derived.to_string();
    for line in [
        "%x = tgraph.arg : tensor<?axf64>\n  %w = tgraph.arg : f64\n  %t_x = tgraph.tangent : tensor<?axf64>",
        "%v = tgraph.tangent : tensor<?axf64>",
    ] {
        assert!(printed.contains(line), "{line} is not in\n{printed}");
    }
    let read = Program::parse(&printed, None).unwrap();
    assert_eq!(read.to_string(), printed);
    let f = read.module("t").unwrap();
    assert_eq!(
        f.params()
            .iter()
            .map(|&p| f.is_tangent(p))
            .collect::<Vec<_>>(),
        [false, false, true]
    );
    // As an argument it is the same function.
    let other = Program::parse(&printed.replace("tgraph.tangent", "tgraph.arg"), None).unwrap();
    let args = [
        Array::vector(vec![1.0, 2.0]),
        Array::scalar(0.5),
        Array::vector(vec![1.0, -1.0]),
    ];
    assert_eq!(
        reference::run(f, &args).unwrap(),
        reference::run(other.module("t").unwrap(), &args).unwrap()
    );
    // Derivatives of a derived module keep them, and a module may be written with them.
    let again = program(&format!("{printed}\ntgraph.adjoint @h wrt(%x) -> @third\n"));
    assert!(again.to_string().contains("%v = tgraph.tangent"));
    let module = "tgraph.module @m {\n  %x = tgraph.arg : f64\n  %dx = tgraph.tangent : f64\n  \
                  %y = tgraph.mul %x, %dx : f64\n  tgraph.return %y : f64\n}\n";
    let pair = module.replace(
        "%x = tgraph.arg : f64\n  %dx = tgraph.tangent : f64",
        "%x, %dx = tgraph.arg, tgraph.tangent : f64",
    );
    assert_eq!(Program::parse(&pair, None).unwrap().to_string(), module);
}

#[test]
fn a_vector_on_the_right_of_solve_is_a_column() {
    let a = Array::from_vec([2, 2], vec![2.0, 0.0, 1.0, 4.0]).unwrap();
    let b = Array::vector(vec![1.0, 1.0]);
    let args = [("a", "tensor<2x2xf64>"), ("b", "tensor<2xf64>")];
    for (line, want) in [
        ("tgraph.solve %a, %b", [0.5, 0.125]),
        ("tgraph.solve %a, %b : tensor<2xf64>", [0.5, 0.125]),
        ("tgraph.triangular_solve %a, %b", [0.5, 0.125]),
        (
            "tgraph.triangular_solve %a, %b {transpose_a = \"transpose\"}",
            [0.375, 0.25],
        ),
    ] {
        let x = [a.clone(), b.clone()];
        near(&value(&args, line, &x), &want, 1e-15);
        let text = statement(&args, line) + "tgraph.adjoint @m wrt(%b) -> @g\n";
        let ct = Array::vector(vec![1.0, 0.0]);
        let slope = run(&program(&text), "g", &[a.clone(), b.clone(), ct]);
        assert_eq!(slope.shape(), [2]);
    }
    // One vector for a stack of matrices.
    let stack = Array::from_vec([2, 2, 2], vec![2.0, 0.0, 0.0, 4.0, 1.0, 0.0, 0.0, 2.0]).unwrap();
    let args = [("a", "tensor<2x2x2xf64>"), ("b", "tensor<2xf64>")];
    let y = value(&args, "tgraph.solve %a, %b", &[stack, b]);
    assert_eq!(y.shape(), [2, 2]);
    near(&y, &[0.5, 0.25, 1.0, 0.5], 1e-15);
}
