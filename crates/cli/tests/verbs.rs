//! Derivatives of the command line: the names of results, and numerics.

use cotangent::ad::{self, Numerics};
use cotangent::{Array, Program, npz};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for this test, in the target folder.
fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn cotangent(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cotangent"))
        .args(args)
        .output()
        .unwrap()
}

fn good(args: &[&str]) -> String {
    let out = cotangent(args);
    assert_eq!(
        out.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

/// Results by name of a verb on a file with these inputs.
fn verb(dir: &Path, args: &[&str], x: &[(String, Array)]) -> BTreeMap<String, Array> {
    let (input, output) = (dir.join("in.npz"), dir.join("out.npz"));
    npz::write(&input, x).unwrap();
    good(
        &[
            args,
            &[
                "--in",
                input.to_str().unwrap(),
                "--out",
                output.to_str().unwrap(),
            ],
        ]
        .concat(),
    );
    npz::read(&output).unwrap().into_iter().collect()
}

/// A scalar of a vector, a scalar, an integer and another vector.
const LOSS: &str = "tgraph.module @m {
  %a = tgraph.arg : tensor<2xf64>
  %b = tgraph.arg : f64
  %k = tgraph.arg : i64
  %c = tgraph.arg : tensor<3xf64>
  %ab = tgraph.mul %a, %b
  %s = tgraph.sin %ab
  %p = tgraph.reduce %s {op = sum}
  %e = tgraph.exp %c
  %q = tgraph.reduce %e {op = sum}
  %kf = tgraph.convert %k {to = f64}
  %pq = tgraph.mul %p, %q
  %y = tgraph.mul %pq, %kf
  tgraph.return %y
}
";

fn near(got: &[f64], want: &[f64]) -> bool {
    got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

/// Every verb with every choice and order of values: numbers in names count `--wrt`.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "expected results of every verb, in one loop over choices"
)]
fn names_of_derivatives_count_the_values_of_wrt() {
    let dir = folder("wrt");
    let file = dir.join("m.tgraph");
    std::fs::write(&file, LOSS).unwrap();
    let file = file.to_str().unwrap();
    let program = Program::from_tgraph(LOSS).unwrap();
    let (cx, f) = (program.context().unwrap(), program.main().clone());
    let values = [
        (
            "a",
            Array::vector(vec![0.3, -0.7]),
            Array::vector(vec![1.0, 3.0]),
        ),
        ("b", Array::scalar(1.7), Array::scalar(-2.0)),
        ("k", Array::scalar(3i64), Array::scalar(0i64)),
        (
            "c",
            Array::vector(vec![0.2, 0.4, -0.1]),
            Array::vector(vec![0.5, -1.5, 2.5]),
        ),
    ];
    let at: Vec<Array> = values.iter().map(|v| v.1.clone()).collect();
    let direction: BTreeMap<&str, Vec<f64>> = values.iter().map(|v| (v.0, v.2.to_f64())).collect();
    let names = ["a", "b", "c"];
    let all: Vec<_> = names.iter().map(|n| f.find(n).unwrap()).collect();
    let run = |g: cotangent::Function| -> Vec<Vec<f64>> {
        cotangent::run(&g.into(), &at)
            .unwrap()
            .iter()
            .map(Array::to_f64)
            .collect()
    };
    let gradient: BTreeMap<&str, Vec<f64>> = names
        .into_iter()
        .zip(run(ad::grad(&cx, &f, &all).unwrap()))
        .collect();
    let blocks = run(ad::hessian(&cx, &f, &all).unwrap());
    let block = |i: &str, j: &str| {
        let at = |n: &str| names.iter().position(|m| *m == n).unwrap();
        &blocks[at(i) * 3 + at(j)]
    };
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();

    // By name, by position, and without `--wrt`.
    let choices: [(Option<&str>, &[&str]); 9] = [
        (None, &["a", "b", "c"]),
        (Some("b"), &["b"]),
        (Some("c"), &["c"]),
        (Some("c,a"), &["c", "a"]),
        (Some("b,a"), &["b", "a"]),
        (Some("3,1"), &["c", "b"]),
        (Some("a,b,c"), &["a", "b", "c"]),
        (Some("c,b,a"), &["c", "b", "a"]),
        (Some("b,3,%a"), &["b", "c", "a"]),
    ];
    for (wrt, order) in choices {
        let inputs = |prefix: &str, named: bool| -> Vec<(String, Array)> {
            let given = values.iter().map(|(n, x, _)| (n.to_string(), x.clone()));
            let moves = order.iter().enumerate().map(|(i, n)| {
                let of = values.iter().find(|v| v.0 == *n).unwrap();
                (
                    if named {
                        format!("{prefix}_{n}")
                    } else {
                        format!("{prefix}_{i}")
                    },
                    of.2.clone(),
                )
            });
            given.chain(moves).collect()
        };
        let call = |command: &str, x: &[(String, Array)]| {
            let mut args = vec![command, file];
            args.extend(wrt.iter().flat_map(|w| ["--wrt", w]));
            verb(&dir, &args, x)
        };
        let expect = |got: &BTreeMap<String, Array>, want: BTreeMap<String, Vec<f64>>| {
            assert_eq!(
                got.keys().collect::<Vec<_>>(),
                want.keys().collect::<Vec<_>>(),
                "{wrt:?}"
            );
            for (name, w) in &want {
                assert!(
                    near(&got[name].to_f64(), w),
                    "{wrt:?}: {name} is {:?}, not {w:?}",
                    got[name]
                );
            }
        };
        let value = run((*f).clone())[0].clone();
        let by_place = |verb: &str, of: &dyn Fn(&str) -> Vec<f64>| -> BTreeMap<String, Vec<f64>> {
            order
                .iter()
                .enumerate()
                .map(|(i, n)| (format!("{verb}_{i}"), of(n)))
                .collect()
        };
        let mut want = by_place("grad", &|n| gradient[n].clone());
        want.insert("out_0".into(), value.clone());
        expect(&call("grad", &inputs("t", false)), want);
        expect(
            &call("vjp", &inputs("t", false)),
            by_place("vjp", &|n| gradient[n].clone()),
        );
        expect(
            &call("jacobian", &inputs("t", false)),
            by_place("jacobian_0", &|n| gradient[n].clone()),
        );
        let slope: f64 = order.iter().map(|n| dot(&gradient[n], &direction[n])).sum();
        let bent = by_place("hvp", &|i| {
            let mut sum = vec![0.0; gradient[i].len()];
            for j in order {
                let v = &direction[j];
                let rows = block(i, j).chunks(v.len()).map(|row| dot(row, v));
                sum.iter_mut().zip(rows).for_each(|(s, r)| *s += r);
            }
            sum
        });
        for named in [false, true] {
            let want = BTreeMap::from([
                ("out_0".to_owned(), value.clone()),
                ("jvp_0".to_owned(), vec![slope]),
            ]);
            expect(&call("jvp", &inputs("t", named)), want);
            expect(&call("hvp", &inputs("v", named)), bent.clone());
        }
        let mut want = BTreeMap::new();
        for (i, x) in order.iter().enumerate() {
            for (j, y) in order.iter().enumerate() {
                want.insert(format!("hessian_{i}_{j}"), block(x, y).clone());
            }
        }
        expect(&call("hessian", &inputs("t", false)), want);
    }
    // The error of a missing tangent contains its name and position. The archive has no tangents
    // here.
    let given: Vec<(String, Array)> = values
        .iter()
        .map(|(n, x, _)| (n.to_string(), x.clone()))
        .collect();
    npz::write(dir.join("in.npz"), &given).unwrap();
    let out = cotangent(&[
        "jvp",
        file,
        "--wrt",
        "c,a",
        "--in",
        dir.join("in.npz").to_str().unwrap(),
    ]);
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("an array `t_c` or `t_0`"),
        "{out:?}"
    );
}

/// `x / y` and the square root behind a guard.
const QUOTIENT: &str = "tgraph.module @m {
  %x = tgraph.arg : f64
  %y = tgraph.arg : f64
  %q = tgraph.div %x, %y
  %r = tgraph.sqrt %y
  %zero = tgraph.mul %y, 0.0
  %s = tgraph.mul %r, %zero
  %z = tgraph.add %q, %s
  tgraph.return %z
}
tgraph.adjoint @m wrt(%x, %y) -> @g
tgraph.adjoint @m wrt(%x, %y) {zero_division = \"ieee\", strong_zero = false} -> @plain
";

fn bits(a: &BTreeMap<String, Array>) -> Vec<String> {
    a.values()
        .map(|a| {
            a.to_f64()
                .iter()
                .map(|v| {
                    if v.is_nan() {
                        "nan".into()
                    } else {
                        format!("{v:e}")
                    }
                })
                .collect()
        })
        .collect()
}

/// Numerics of a file apply to directives and verbs, are kept by `convert`, and are replaced by
/// `--numerics`. Those of a directive itself are kept.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "every verb, in one loop over policies"
)]
fn numerics_of_a_file_hold_for_every_verb() {
    let dir = folder("numerics");
    let at = [
        ("x".to_owned(), Array::scalar(1.0)),
        ("y".to_owned(), Array::scalar(0.0)),
    ];
    let heads = [
        "",
        "nan",
        "ieee",
        "ieee,strong_zero",
        "strong_zero=false, zero_division = \"nan\"",
        "ieee,stable",
    ];
    for (i, head) in heads.into_iter().enumerate() {
        let policy: ad::Policy = if head.is_empty() {
            Default::default()
        } else {
            head.parse().unwrap()
        };
        let written = if head.is_empty() {
            String::new()
        } else {
            format!("tgraph.numerics {{{policy}}}\n")
        };
        let source = format!("{written}{QUOTIENT}");
        let path = |ext: &str| dir.join(format!("m{i}.{ext}")).to_str().unwrap().to_owned();
        std::fs::write(path("tgraph"), &source).unwrap();
        let file = path("tgraph");
        assert_eq!(
            Program::from_tgraph(&source).unwrap().numerics(),
            policy.or(Numerics::TGRAPH)
        );
        let reads = |file: &str, verb_args: &[&str]| {
            let mut args = vec![verb_args[0], file];
            args.extend(&verb_args[1..]);
            bits(&verb(&dir, &args, &at))
        };
        let grad = reads(&file, &["vjp"]);
        assert_eq!(
            reads(&format!("{file}@g"), &["run"]),
            grad,
            "{head}: the directive and the verb"
        );
        assert_eq!(reads(&file, &["jacobian"]), grad, "{head}");
        assert_eq!(reads(&file, &["grad"])[..2], grad[..], "{head}");
        let plain = reads(&format!("{file}@plain"), &["run"]);
        // Round trip: both files have the same meaning.
        let (mlir, back, again) = (path("mlir"), path("back.tgraph"), path("again.mlir"));
        for (from, to) in [(&file, &mlir), (&mlir, &back), (&back, &again)] {
            good(&["convert", from, to]);
            assert_eq!(reads(to, &["vjp"]), grad, "{head}: {to}");
            assert_eq!(reads(to, &["grad"])[..2], grad[..], "{head}: {to}");
        }
        // Canonical text, and `derive`, keep it.
        let formatted = path("fmt.tgraph");
        std::fs::write(&formatted, good(&["fmt", &file])).unwrap();
        assert_eq!(good(&["fmt", &formatted]), good(&["fmt", &file]));
        assert_eq!(reads(&formatted, &["vjp"]), grad, "{head}");
        std::fs::write(&formatted, good(&["derive", &file])).unwrap();
        assert_eq!(reads(&formatted, &["vjp"]), grad, "{head}");
        // The option replaces the numerics of the file, also for its directives, but not those of a
        // directive.
        for over in heads.into_iter().filter(|h| !h.is_empty()) {
            let choices: ad::Policy = over.parse().unwrap();
            let numerics = choices.or(policy.or(Numerics::TGRAPH));
            let program = Program::from_tgraph(&source)
                .unwrap()
                .with_numerics(numerics);
            let args = [Array::scalar(1.0), Array::scalar(0.0)];
            let direct = cotangent::run(&program.function("g").unwrap(), &args).unwrap();
            let direct = bits(
                &direct
                    .into_iter()
                    .enumerate()
                    .map(|(k, a)| (format!("out_{k}"), a))
                    .collect(),
            );
            for from in [&file, &mlir, &back] {
                assert_eq!(
                    reads(from, &["vjp", "--numerics", over]),
                    direct,
                    "{head} {over} {from}"
                );
            }
            assert_eq!(
                reads(&format!("{file}@g"), &["run", "--numerics", over]),
                direct,
                "{head} {over}"
            );
            assert_eq!(
                reads(&format!("{file}@plain"), &["run", "--numerics", over]),
                plain,
                "{head} {over}"
            );
            good(&["convert", &file, &again, "--numerics", over]);
            assert_eq!(reads(&again, &["vjp"]), direct, "{head} {over}");
            std::fs::write(&formatted, good(&["derive", &file, "--numerics", over])).unwrap();
            assert_eq!(reads(&formatted, &["vjp"]), direct, "{head} {over}");
            assert_eq!(
                reads(&format!("{formatted}@g"), &["run"]),
                direct,
                "{head} {over}"
            );
        }
    }
}

#[test]
fn wrong_numerics_are_named() {
    let dir = folder("wrong_numerics");
    let file = dir.join("m.tgraph");
    let says = |source: &str, args: &[&str], what: &str| {
        std::fs::write(&file, source).unwrap();
        let out = cotangent(&[&["grad", file.to_str().unwrap()], args].concat());
        let err = String::from_utf8(out.stderr).unwrap();
        assert!(
            out.status.code() == Some(2) && err.contains(what),
            "{args:?}: {err}"
        );
    };
    says(
        QUOTIENT,
        &["--numerics", "zero_division=zero"],
        "`zero_division` is \"nan\" or \"ieee\"",
    );
    says(
        QUOTIENT,
        &["--numerics", "strongzero"],
        "did you mean `strong_zero`?",
    );
    says(
        QUOTIENT,
        &["--numerics", "stable=3"],
        "`stable` is true or false",
    );
    says(
        QUOTIENT,
        &["--numerics", "nan,ieee"],
        "`zero_division` is chosen twice",
    );
    says(
        &format!("tgraph.numerics {{stabel = true}}\n{QUOTIENT}"),
        &[],
        "did you mean `stable`?",
    );
    says(
        &format!("{QUOTIENT}tgraph.numerics {{stable = true}}\n"),
        &[],
        "must be at the head of the text",
    );
    says(
        &format!("tgraph.numerics {{}}\ntgraph.numerics {{}}\n{QUOTIENT}"),
        &[],
        "given twice",
    );
    says(
        &format!("tgraph.numerics\n{QUOTIENT}"),
        &[],
        "expected `{` and the numerics",
    );
}
