//! `check` at its default points: injected faults are found, correct rules pass, and unchecked laws
//! do not count as passed.

use cotangent_core::check::{Options, Report, check_function, check_points, points};
use cotangent_core::text::Program;
use cotangent_core::{AdContext, Array};

fn checked(text: &str) -> Report {
    let program = Program::parse(text, None).unwrap();
    let f = program.modules().last().unwrap().clone();
    check_points(&AdContext::default(), &f, points(&f), &Options::default()).unwrap()
}

/// A function of `x : tensor<6xf64>` with a rule for its derivative: statements that define `%y`
/// from `%x`, and `%dy` from `%x`, `%y` and `%dx`.
fn with_rule(fun: &str, rule: &str) -> String {
    let ty = "tensor<6xf64>";
    let lines = |s: &str| {
        s.split(';')
            .map(|l| format!("    {}\n", l.trim()))
            .collect::<String>()
    };
    format!(
        "tgraph.module @m {{\n  %x = tgraph.arg : {ty}\n  %y = tgraph.custom_jvp %x body(%x: {ty}) {{\n{}    \
         tgraph.return %y\n  }} rule(%x: {ty}, %y: {ty}, %dx: {ty}) {{\n{}    tgraph.return %dy\n  }}\n  tgraph.return %y\n}}\n",
        lines(fun),
        lines(rule)
    )
}

/// The rule `slope * dx` with an error of `by` where the condition on `%x` holds.
fn wrong_where(condition: &str, by: f64) -> String {
    let rule = format!(
        "%c = tgraph.cos %x; {condition}; %off = tgraph.constant {{value = {by:?}}} : tensor<6xf64>; %bad = tgraph.add %c, %off; \
         %slope = tgraph.select %where, %bad, %c; %dy = tgraph.mul %slope, %dx"
    );
    with_rule("%y = tgraph.sin %x", &rule)
}

fn where_magnitude(op: &str, limit: f64) -> String {
    format!(
        "%a = tgraph.abs %x; %limit = tgraph.constant {{value = {limit:?}}} : tensor<6xf64>; \
         %where = tgraph.{op} %a, %limit"
    )
}

#[test]
fn wrong_rules_are_found_wherever_they_are_wrong() {
    let zero = "%limit = tgraph.constant {value = 0.0} : tensor<6xf64>";
    for (name, condition) in [
        (
            "left of 0",
            format!("{zero}; %where = tgraph.lt %x, %limit"),
        ),
        (
            "right of 0",
            format!("{zero}; %where = tgraph.gt %x, %limit"),
        ),
        ("beyond 2", where_magnitude("gt", 2.0)),
        ("at 1e3", where_magnitude("gt", 200.0)),
        ("at 1e-3", where_magnitude("lt", 0.01)),
    ] {
        let report = checked(&wrong_where(&condition, 0.5));
        assert!(report.violated() > 0, "wrong {name}:\n{report}");
    }
    let right = checked(&wrong_where(&where_magnitude("gt", 2.0), 0.0));
    assert!(right.passed(), "the same rule without the fault:\n{right}");
}

/// Many values are checked in groups. The report names the value with the wrong rule.
#[test]
fn a_wrong_rule_is_found_among_many_values() {
    let n = 100;
    let mut text = String::from("tgraph.module @m {\n");
    (0..n).for_each(|i| text += &format!("  %x{i} = tgraph.arg : f64\n"));
    text += "  %bad = tgraph.custom_jvp %x57 body(%x: f64) {\n    %y = tgraph.sin %x\n    tgraph.return %y\n  } \
             rule(%x: f64, %y: f64, %dx: f64) {\n    tgraph.return %dx\n  }\n  %s0 = tgraph.sin %bad\n";
    (1..n).for_each(|i| {
        text += &format!(
            "  %q{i} = tgraph.cos %x{i}\n  %s{i} = tgraph.add %s{}, %q{i}\n",
            i - 1
        )
    });
    text += &format!("  tgraph.return %s{}\n}}\n", n - 1);
    let report = checked(&text);
    let wrong: Vec<&str> = report
        .rows
        .iter()
        .filter(|r| r.value == "%x57")
        .map(|r| &*r.value)
        .collect();
    assert!(!wrong.is_empty() && report.violated() > 0, "{report}");
    assert!(
        !report.rows.iter().any(|r| r.value == "%x3"),
        "right ones are not looked at one by one:\n{report}"
    );
}

/// First and second derivative are correct, the third one is not.
#[test]
fn a_rule_that_is_wrong_in_the_third_order_alone_is_found() {
    let ty = "tensor<6xf64>";
    let inner = |slope: &str| {
        format!(
            "%c = tgraph.custom_jvp %x body(%x: {ty}) {{\n %c = tgraph.cos %x\n tgraph.return %c\n }} \
             rule(%x: {ty}, %c: {ty}, %dx: {ty}) {{\n {slope}\n %n = tgraph.neg %s\n %dc = tgraph.mul %n, %dx\n \
             tgraph.return %dc\n }}"
        )
    };
    // The derivative of this sine is correct, but its second derivative is 0.
    let flat = format!(
        "%s = tgraph.custom_jvp %x body(%x: {ty}) {{\n %s = tgraph.sin %x\n tgraph.return %s\n }} \
         rule(%x: {ty}, %s: {ty}, %dx: {ty}) {{\n %zero = tgraph.constant {{value = 0.0}} : tensor<6xf64>\n \
         %ds = tgraph.mul %zero, %dx\n tgraph.return %ds\n }}"
    );
    for (slope, wrong) in [("%s = tgraph.sin %x".to_owned(), false), (flat, true)] {
        let report = checked(&with_rule(
            "%y = tgraph.sin %x",
            &format!("{}; %dy = tgraph.mul %c, %dx", inner(&slope)),
        ));
        let third = report
            .rows
            .iter()
            .filter(|r| r.to_string().contains("WRONG"))
            .map(|r| r.law)
            .collect::<Vec<_>>();
        assert_eq!(!third.is_empty(), wrong, "{report}");
        assert!(
            third.iter().all(|l| l.to_string().starts_with("third")),
            "{report}"
        );
    }
}

/// Correct rules at poles, ties, kinks and jumps, and at numbers so large that steps of 1 are near
/// one unit in the last place.
#[test]
fn correct_rules_pass() {
    let unary = |op: &str| {
        format!(
            "tgraph.module @m {{\n %x = tgraph.arg : tensor<6xf64>\n {op}\n tgraph.return %y\n}}\n"
        )
    };
    for op in [
        "%y = tgraph.sin %x",
        "%y = tgraph.cos %x",
        "%y = tgraph.exp %x",
        "%y = tgraph.tanh %x",
        "%y = tgraph.log %x",
        "%y = tgraph.sqrt %x",
        "%y = tgraph.abs %x",
        "%y = tgraph.sign %x",
        "%y = tgraph.floor %x",
        "%y = tgraph.cbrt %x",
        "%y = tgraph.logistic %x",
        "%y = tgraph.erf %x",
        "%y = tgraph.rsqrt %x",
        "%y = tgraph.log1p %x",
        "%y = tgraph.mul %x, %x",
        "%y = tgraph.max %x, %x",
        "%y = tgraph.reduce_max %x {axes = [0]}",
        "%y = tgraph.reduce_prod %x {axes = [0]}",
        "%y = tgraph.softmax %x {axis = 0}",
        "%y = tgraph.sort %x {axis = 0}",
        "%y = tgraph.relu %x",
        "%y = tgraph.softplus %x",
        "%y = tgraph.atan %x",
        "%y = tgraph.asinh %x",
    ] {
        let report = checked(&unary(op));
        assert!(
            report.violated() == 0 && report.skipped() == 0,
            "{op}:\n{report}"
        );
    }
    let program = Program::parse(&unary("%y = tgraph.sin %x"), None).unwrap();
    let f = program.modules().next().unwrap();
    for far in [1e8, -1e8, 3e5, 1e10, 1e-9] {
        let x = Array::vector((0..6).map(|i| far * (1.0 + 0.1 * i as f64)).collect());
        let report = check_function(&AdContext::default(), f, &[x], &Options::default()).unwrap();
        assert!(report.passed(), "{far}:\n{report}");
    }
}

#[test]
fn derivatives_that_are_zero_because_terms_cancel_pass() {
    // Functions whose higher derivatives are zero, or far smaller than the terms they are sums of.
    let functions = [
        "%s = tgraph.sqrt %x; %y = tgraph.mul %s, %s",
        "%e = tgraph.exp %x; %y = tgraph.log %e",
        "%s = tgraph.sinh %x; %y = tgraph.asinh %s",
        "%t = tgraph.tan %x; %y = tgraph.atan %t",
        "%s = tgraph.sin %x; %c = tgraph.cos %x; %a = tgraph.mul %s, %s; %b = tgraph.mul %c, %c; %y = tgraph.add %a, %b",
        "%p = tgraph.softmax %x {axis = 0}; %y = tgraph.reduce_sum %p {axes = [0]}",
    ];
    for (function, dtype) in functions.iter().flat_map(|f| [(f, "f64"), (f, "f32")]) {
        let lines: String = function.split("; ").map(|l| format!("  {l}\n")).collect();
        let text = format!(
            "tgraph.module @m {{\n  %x = tgraph.arg : tensor<3x{dtype}>\n{lines}  tgraph.return %y\n}}\n"
        );
        let report = checked(&text);
        assert_eq!(report.violated(), 0, "{text}\n{report}");
    }
}

#[test]
fn unchecked_laws_do_not_pass() {
    let text = "tgraph.module @m {\n %x = tgraph.arg : f64\n %y = tgraph.custom_vjp %x body(%x: f64) {\n \
                %y = tgraph.sin %x\n tgraph.return %y\n } fwd(%x: f64) {\n \
                %y = tgraph.sin %x\n tgraph.return %y, %x\n } bwd(%x: f64, %ct: f64) {\n %g = tgraph.exp %ct\n \
                tgraph.return %g\n }\n tgraph.return %y\n}\n";
    let Ok(program) = Program::parse(text, None) else {
        panic!("{}", Program::parse(text, None).unwrap_err())
    };
    let f = program.modules().next().unwrap();
    let report = check_points(&AdContext::default(), f, points(f), &Options::default()).unwrap();
    assert!(
        !report.passed() && report.violated() == 0 && report.skipped() > 0,
        "{report}"
    );
    let first = report.to_string().lines().next().unwrap().to_owned();
    assert!(
        first.contains("NOT CHECKED")
            && first.contains(&format!("{} not checked", report.skipped())),
        "{first}"
    );
}

#[test]
fn points_larger_than_memory_are_errors() {
    for extent in ["4000000000", "9000000000000000000", "4000000000x4000000000"] {
        let text = format!(
            "tgraph.module @m {{\n %x = tgraph.arg : tensor<{extent}xf64>\n tgraph.return %x\n}}\n"
        );
        let program = Program::parse(&text, None).unwrap();
        let f = program.modules().next().unwrap();
        // If the memory suffices, there is a point.
        match points(f).next().unwrap() {
            Err(e) => assert_eq!(e.code(), cotangent_core::Code::Limit),
            Ok(_) => assert_eq!(extent, "4000000000"),
        }
    }
}

/// Kepler's equation, the fixed point of `cos(a x)`, a minimum and a linear system, with stopping
/// tolerances far above rounding in the second half.
const ITERATIONS: &str = "
tgraph.module @kepler {
  %x, %e, %m = tgraph.arg, tgraph.arg, tgraph.arg : f64
  %s = tgraph.sin %x
  %p = tgraph.mul %e, %s
  %d = tgraph.sub %x, %p
  %r = tgraph.sub %d, %m
  tgraph.return %r
}
tgraph.module @wave {
  %x, %a = tgraph.arg, tgraph.arg : f64
  %t = tgraph.tanh %a
  %u = tgraph.mul %t, %x
  %y = tgraph.cos %u
  tgraph.return %y
}
tgraph.module @valley {
  %x, %a = tgraph.arg, tgraph.arg : f64
  %d = tgraph.sub %x, %a
  %q = tgraph.mul %d, %d
  %f = tgraph.integer_pow %x {n = 4}
  %l = tgraph.fma %f, 0.1, %q
  tgraph.return %l
}
tgraph.module @scaled {
  %v, %a = tgraph.arg, tgraph.arg : tensor<2xf64>
  %q = tgraph.mul %a, %a
  %s = tgraph.add %q, 2.0
  %p = tgraph.mul %s, %v
  tgraph.return %p
}
tgraph.module @anomaly {
  %e, %m = tgraph.arg, tgraph.arg : f64
  %x = tgraph.root @kepler %m, %e, %m {STOP}
  tgraph.return %x
}
tgraph.module @fixed {
  %a = tgraph.arg : f64
  %one = tgraph.ones_like %a
  %x = tgraph.fixed_point @wave %one, %a {STOP}
  tgraph.return %x
}
tgraph.module @least {
  %a = tgraph.arg : f64
  %one = tgraph.ones_like %a
  %x = tgraph.argmin @valley %one, %a {STOP}
  tgraph.return %x
}
tgraph.module @system {
  %b, %a = tgraph.arg, tgraph.arg : tensor<2xf64>
  %x = tgraph.solve @scaled %b, %a {STOP}
  tgraph.return %x
}
";

#[test]
fn bounds_know_the_stopping_tolerance_of_iterations() {
    for stop in ["", "{tol = 1e-6}"] {
        let program = Program::parse(&ITERATIONS.replace("{STOP}", stop), None).unwrap();
        for name in ["anomaly", "fixed", "least", "system"] {
            let f = program.module(name).unwrap().clone();
            let options = Options {
                directions: 1,
                ..Options::default()
            };
            let report = check_points(&AdContext::default(), &f, points(&f), &options).unwrap();
            assert!(report.passed(), "{name} {stop}\n{report}");
        }
    }
}

/// A tolerance does not hide a wrong rule: the rule of `sin` after an iteration.
#[test]
fn wrong_rules_after_an_iteration_are_found() {
    let module = "
tgraph.module @m {
  %e, %m = tgraph.arg, tgraph.arg : f64
  %x = tgraph.root @kepler %m, %e, %m {STOP}
  %y = tgraph.custom_jvp %x body(%x: f64) {
    %y = tgraph.sin %x
    tgraph.return %y
  } rule(%x: f64, %y: f64, %dx: f64) {
    %c = tgraph.cos %x
    %dy = tgraph.mul %c, %dx
    %off = tgraph.mul %dy, 1.01
    tgraph.return %off
  }
  tgraph.return %y
}
";
    for stop in ["", "{tol = 1e-6}"] {
        let report = checked(&format!("{ITERATIONS}{module}").replace("{STOP}", stop));
        assert!(report.violated() > 0, "{stop}\n{report}");
    }
}
