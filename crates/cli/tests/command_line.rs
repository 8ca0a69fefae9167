//! The built binary: every command, its errors and its exit status.

use cotangent::{Array, npz};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SIGMOID: &str = "tgraph.module @m {
  %x = tgraph.arg : f64
  %one = tgraph.constant {value = 1.0} : f64
  %minus = tgraph.neg %x
  %e = tgraph.exp %minus
  %sum = tgraph.add %one, %e
  %y = tgraph.div %one, %sum
  tgraph.return %y
}
";

const SIN: &str = "tgraph.module @m {
  %x = tgraph.arg : tensor<?xf32>
  %y = tgraph.sin %x : tensor<?xf32>
  %z = tgraph.reduce %y {op = \"sum\"} : tensor<?xf32> -> f32
  tgraph.return %z : f32
}
tgraph.adjoint @m wrt(%x) -> @m_grad
";

/// A folder for this test, in the target folder.
fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn cotangent(args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cotangent"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn good(args: &[&str], stdin: &str) -> String {
    let out = cotangent(args, stdin);
    let err = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {err}");
    String::from_utf8(out.stdout).unwrap()
}

/// Checks for status 2 and a message that contains `what`.
fn bad(args: &[&str], stdin: &str, what: &str) {
    let out = cotangent(args, stdin);
    let err = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {err}");
    assert!(err.contains(what), "{args:?} says {err:?}, not {what:?}");
    assert!(
        err.starts_with("error: ") && !err.contains("panicked"),
        "{err}"
    );
}

#[test]
fn help_is_there_for_everything() {
    assert!(good(&[], "").contains("cotangent grad"));
    assert!(good(&["--help"], "").contains("Exit status"));
    for command in [
        "fmt", "derive", "convert", "run", "grad", "vjp", "jvp", "hvp", "jacobian", "hessian",
        "check", "explain", "profile", "compile", "devices", "ops",
    ] {
        let text = good(&[command, "--help"], "");
        assert!(text.starts_with(&format!("cotangent {command}")), "{text}");
        assert_eq!(good(&["help", command], ""), text);
    }
    assert!(good(&["--version"], "").starts_with("cotangent "));
}

#[test]
fn devices_are_listed_and_chosen() {
    let text = good(&["devices"], "");
    assert!(
        text.starts_with("cpu         Cotangent's own runtime"),
        "{text}"
    );
    for name in ["xla", "cuda", "tpu", "cotangent"] {
        assert!(text.contains(name), "{text}");
    }
    let two = "tgraph.module @m {\n  %y = tgraph.constant {value = 2.0} : f64\n  tgraph.return %y : f64\n}\n";
    let plain = good(&["run", "-"], two);
    assert_eq!(good(&["run", "-", "--on", "cpu"], two), plain);
    let npu = ["run", "-", "--on", "npu"];
    bad(&npu, two, "`cotangent devices` lists them");
    bad(&["run", "-", "--on", "xla:x"], two, "as in `cuda:1`");
}

#[test]
fn compile_writes_what_run_runs() {
    let two = "tgraph.module @m {\n  %y = tgraph.constant {value = 2.0} : f64\n  tgraph.return %y : f64\n}\n";
    bad(&["compile", "-"], two, "`--target h200`");
    bad(&["compile", "-", "--target", "h300"], two, "v5e:2x4");
    bad(&["compile", "-", "--target", "h200:9"], two, "1 to 8");
    let folder = folder("compile");
    let (npz, pjrt) = (folder.join("a.npz"), folder.join("a.pjrt"));
    let (npz, pjrt) = (npz.to_str().unwrap(), pjrt.to_str().unwrap());
    let to = |path| ["compile", "-", "--target", "xla", "--out", path];
    bad(&to(npz), two, "writes a .pjrt file");
    std::fs::write(pjrt, "cotangent.pjrt 0\n\n").unwrap();
    bad(&["run", pjrt, "--on", "xla"], "", "another version");
    if good(&["devices"], "").contains("xla:0") {
        let printed = good(&to(pjrt), two);
        assert!(printed.starts_with("xla: "), "{printed}");
        bad(&["run", pjrt], "", "--on");
        let y = good(&["run", pjrt, "--on", "xla"], "");
        assert_eq!(y, good(&["run", "-"], two));
    }
}

#[test]
fn explain_tells_what_a_device_needs() {
    let npu = ["explain", "-", "--on", "npu"];
    bad(&npu, SIN, "`cotangent devices` lists them");
    bad(&["explain", "-", "--mesh", "data=2"], SIN, "`--on`");
    if !good(&["devices"], "").contains("xla:0") {
        return;
    }
    let mesh = ["--mesh", "data=2", "--shard", "x=data"];
    let words = [&["explain", "-", "--on", "xla"][..], &mesh].concat();
    let text = good(&words, &SIN.replace('?', "8"));
    let line = |name: &str| {
        let (_, after) = text.split_once("on cpu:0 and 1 more devices:").unwrap();
        let mut lines = after.lines().filter(|l| l.trim_start().starts_with(name));
        lines.next().unwrap_or_default().to_owned()
    };
    assert!(line("primal").ends_with("1 all-reduce"), "{text}");
    // A whole result of divided cosines.
    assert!(line("adjoint").ends_with("1 all-gather"), "{text}");
    let text = good(&["explain", "-", "--on", "xla"], SIN);
    assert!(text.contains("primal cannot run: "), "{text}");
}

#[test]
fn profile_says_which_operations_take_the_time() {
    let text = good(&["profile", "-", "--grad", "--runs", "3"], SIN);
    assert!(
        text.contains("2 steps") || text.contains("1 steps"),
        "{text}"
    );
    assert!(
        text.contains("sin") && text.contains("cos") && text.contains("GB/s"),
        "{text}"
    );
    let trace = folder("profile").join("t.json");
    good(&["profile", "-", "--trace", trace.to_str().unwrap()], SIN);
    let events = std::fs::read_to_string(&trace).unwrap();
    assert!(
        events.starts_with("{\"traceEvents\": [") && events.contains("\"operations\": \"sin"),
        "{events}"
    );
    bad(
        &["profile", "-", "--runs", "0"],
        SIN,
        "--runs takes a number",
    );
}

#[test]
fn explain_draws_what_runs_at_once() {
    let file = folder("svg").join("g.svg");
    good(&["explain", "-", "--svg", file.to_str().unwrap()], SIN);
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains(">cos") && svg.contains(">%x<"), "{svg}");
}

#[test]
fn fmt_is_idempotent() {
    let once = good(&["fmt", "-"], SIN);
    assert_eq!(good(&["fmt", "-"], &once), once);
    assert_eq!(
        cotangent(&["fmt", "-", "--check"], &once).status.code(),
        Some(0)
    );
    assert_eq!(
        cotangent(&["fmt", "-", "--check"], &SIN.replace("  %y", "\t%y"))
            .status
            .code(),
        Some(1)
    );
    let file = folder("fmt").join("m.tgraph");
    std::fs::write(&file, SIN.replace("  ", "\t")).unwrap();
    good(&["fmt", "--write", file.to_str().unwrap()], "");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), once);
}

#[test]
fn derive_prints_cos_times_the_seed() {
    let text = good(&["derive", "-"], SIN);
    let derived = &text[text.find("@m_grad").unwrap()..];
    assert!(
        derived.contains("tgraph.cos") && derived.contains("tgraph.mul"),
        "{text}"
    );
    assert!(
        !derived.contains("tgraph.sin") && !derived.contains("reduce"),
        "{text}"
    );
}

#[test]
fn arrays_go_in_and_out() {
    let dir = folder("arrays");
    let (input, output) = (dir.join("a.npz"), dir.join("b.npz"));
    let (a, b) = (input.to_str().unwrap(), output.to_str().unwrap());
    let file = dir.join("m.tgraph");
    std::fs::write(&file, SIN).unwrap();
    let file = file.to_str().unwrap();
    for n in [0usize, 1, 5, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.01).collect();
        npz::write(&input, &[("x".into(), Array::vector(x.clone()))]).unwrap();
        good(&["grad", file, "--wrt", "x", "--in", a, "--out", b], "");
        let got = npz::read(&output).unwrap();
        assert_eq!(
            got.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(),
            ["out_0", "grad_0"]
        );
        let grad = got[1].1.as_slice::<f32>().unwrap();
        assert!(grad.len() == n && grad.iter().zip(&x).all(|(g, x)| (g - x.cos()).abs() < 1e-6));
        // The derived module is an ordinary one.
        good(
            &["run", &format!("{file}@m_grad"), "--in", a, "--out", b],
            "",
        );
        assert!(npz::read(&output).unwrap()[0].1.same_bits(&got[1].1));
    }
    // By position, with the other modes.
    let x = Array::vector(vec![0.5f32, 1.0]);
    let v = Array::vector(vec![1.0f32, 2.0]);
    npz::write(
        &input,
        &[
            ("in_0".into(), x),
            ("t_0".into(), v.clone()),
            ("v_0".into(), v),
        ],
    )
    .unwrap();
    good(&["jvp", file, "--wrt", "0", "--in", a, "--out", b], "");
    let got = npz::read(&output).unwrap();
    assert!(
        (got[1].1.to_f64()[0] - (0.5f64.cos() + 2.0 * 1f64.cos())).abs() < 1e-6
            && got[1].0 == "jvp_0"
    );
    good(&["hvp", file, "--wrt", "0", "--in", a, "--out", b], "");
    let got = npz::read(&output).unwrap();
    assert!((got[0].1.to_f64()[1] + 2.0 * 1f64.sin()).abs() < 1e-6 && got[0].0 == "hvp_0");
    good(&["hessian", file, "--in", a, "--out", b], "");
    let got = npz::read(&output).unwrap();
    assert!(got[0].0 == "hessian_0_0" && got[0].1.shape() == [2, 2] && got[0].1.to_f64()[1] == 0.0);
    good(&["vjp", file, "--in", a, "--out", b], "");
    assert_eq!(npz::read(&output).unwrap()[0].0, "vjp_0");
    good(&["jacobian", file, "--in", a, "--out", b], "");
    assert_eq!(npz::read(&output).unwrap()[0].1.shape(), [2]);
}

#[test]
fn results_are_printed_for_people() {
    let dir = folder("print");
    let input = dir.join("a.npz");
    npz::write(&input, &[("x".into(), Array::vector(vec![0.0f32; 1000]))]).unwrap();
    let text = good(&["grad", "-", "--in", input.to_str().unwrap()], SIN);
    assert_eq!(
        text,
        "out_0 f32[]\n  0.0\ngrad_0 (x) f32[1000]\n  [1.0 1.0 1.0 ... 1.0 1.0 1.0]\n"
    );
    // Hessians name both values; tangents and results of `run` have none.
    npz::write(
        &input,
        &[
            ("x".into(), Array::vector(vec![0.0f32])),
            ("t_x".into(), Array::vector(vec![1.0f32])),
        ],
    )
    .unwrap();
    let path = input.to_str().unwrap();
    for (command, want) in [
        ("hessian", "hessian_0_0 (x, x) f32[1,1]\n"),
        ("jacobian", "jacobian_0_0 (x) f32[1]\n"),
        ("vjp", "vjp_0 (x) f32[1]\n"),
        ("jvp", "jvp_0 f32[]\n"),
        ("run", "out_0 f32[]\n"),
    ] {
        let text = good(&[command, "-", "--in", path], SIN);
        assert!(text.contains(want), "{command}: {text}");
    }
}

#[test]
fn check_finds_nothing_wrong_and_explain_says_what_is_saved() {
    let text = good(&["check", "-"], SIN);
    assert!(text.contains("%x"), "{text}");
    let text = good(&["explain", "-"], SIN);
    assert!(
        text.contains("sin")
            && text.contains("adjoint")
            && text.contains("Saved for the backward pass"),
        "{text}"
    );
    // The output is a gradient of a thousand numbers only.
    let text = good(&["explain", "-"], &SIN.replace('?', "1000"));
    let memory = text
        .split("memory")
        .nth(1)
        .unwrap_or_else(|| panic!("{text}"));
    assert!(memory.contains("adjoint  3.9 KiB"), "{text}");
    bad(&["explain", "-", "--in", "nowhere.npz"], SIN, "nowhere.npz");
}

#[test]
fn explain_counts_with_the_extents_of_the_arrays() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/attention.tgraph");
    let example = example.to_str().unwrap();
    let with = good(&["explain", example], "");
    assert!(with.contains("d = 3, m = 6, n = 4.\n"), "{with}");
    assert!(!with.contains("count as 1"), "{with}");
    // Two products of 4 x 6 elements, over 8 and from 6 to 3.
    let flops = 2 * 4 * 6 * 8 + 2 * 4 * 6 * 3;
    let products = with.lines().find(|l| l.starts_with("dot_general"));
    let products: Vec<&str> = products.unwrap().split_whitespace().collect();
    assert_eq!(products[1..3], ["2", &flops.to_string()]);
    // Without arrays they count as 1.
    let source = std::fs::read_to_string(example).unwrap();
    let without = good(&["explain", "-"], &source);
    assert!(
        without.contains("count as 1; arrays (--in A.npz)"),
        "{without}"
    );
    let products = without.lines().find(|l| l.starts_with("dot_general"));
    assert!(products.unwrap().contains(" 18 "), "{without}");
}

#[test]
fn residuals_have_their_names_in_the_adjoint() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut named = 0;
    for name in ["attention.tgraph", "fixed_point.tgraph", "heat_pinn.tgraph"] {
        let source = std::fs::read_to_string(examples.join(name)).unwrap();
        let page = page_of(name, &source);
        let (_, saved) = page.split_once("Saved for the backward pass").unwrap();
        let (saved, rest) = saved.split_once("\n\n").unwrap();
        let (_, derivative) = rest.split_once("<h2>Derivative</h2>").unwrap();
        for line in saved.lines().filter(|l| l.contains(" = ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let defined = |l: &str| {
                let (left, right) = l.trim().split_once(" = tgraph.").unwrap_or_default();
                let is_it = left.split(", ").any(|n| n == words[0]);
                is_it && right.split_whitespace().next() == Some(words[2])
            };
            assert!(derivative.lines().any(defined), "{name}: {line}");
            named += 1;
        }
    }
    assert!(named > 7, "{named} residuals have names");
}

/// Elements that HTML closes.
const CLOSED: [&str; 12] = [
    "html", "head", "title", "style", "body", "h1", "h2", "pre", "details", "svg", "table", "text",
];

/// The page that `explain --html` writes for a program.
fn page_of(name: &str, source: &str) -> String {
    let folder = folder("html");
    let (file, page) = (folder.join(name), folder.join("page.html"));
    std::fs::write(&file, source).unwrap();
    let args = [
        "explain",
        file.to_str().unwrap(),
        "--html",
        page.to_str().unwrap(),
    ];
    let printed = good(&args, "");
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains(&printed.lines().next().unwrap().replace('>', "&gt;")));
    text
}

#[test]
fn a_page_of_explain_refers_to_nothing_outside() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let sized = SIN.replace('?', "1000");
    let programs = [
        ("attention.tgraph", read("attention.tgraph")),
        ("transformer.mlir", read("transformer.mlir")),
        ("fixed_point.tgraph", read("fixed_point.tgraph")),
        ("sin<b>&.tgraph", sized),
    ];
    for (name, source) in &programs {
        let page = page_of(name, source);
        assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
        let inside = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for outside in [
            "http", "src=", "href", "url(", "@import", "<script", "<link", "<iframe",
        ] {
            assert!(!inside.contains(outside), "{name}: {outside}");
        }
        for element in CLOSED {
            let open = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert!(open == closed && open > 0, "{name}: <{element}>");
        }
        for heading in [
            "Graph",
            "Derivative",
            "Steps of the derivative",
            "Memory over time",
        ] {
            assert!(
                page.contains(&format!("<h2>{heading}</h2>")),
                "{name}: {heading}"
            );
        }
        assert!(page.matches("<svg ").count() >= 3, "{name}");
    }
    // Names are text, and a peak of memory is drawn.
    let page = page_of("sin<b>&.tgraph", &programs[3].1);
    assert!(page.contains("sin&lt;b&gt;&amp;.tgraph") && !page.contains("<b>"));
    assert!(page.contains(">3.9 KiB</text>") && page.contains("the peak is red"));
    // Without extents there is no memory to draw, and without a derivative no derivative.
    assert!(page_of("sin.tgraph", SIN).contains("Some extents are not known"));
    let rounded = "tgraph.module @m {
  %x = tgraph.arg : tensor<3xf32>
  %y = tgraph.convert %x {to = i32}
  tgraph.return %y
}";
    assert!(!page_of("rounded.tgraph", rounded).contains("<h2>Derivative</h2>"));
    let own = folder("html").join("own.tgraph");
    std::fs::write(&own, SIN).unwrap();
    let own = own.to_str().unwrap();
    bad(
        &["explain", own, "--html", own],
        "",
        "is the program itself",
    );
}

#[test]
fn ops_lists_the_set_and_one_of_it() {
    assert!(good(&["ops"], "").lines().count() > 70);
    let text = good(&["ops", "mul"], "");
    assert!(
        text.contains("linear in operand 0; in operand 1") && text.contains("batch      yes"),
        "{text}"
    );
    bad(&["ops", "mull"], "", "did you mean `mul`");
    bad(&["ops", "softmx"], "", "did you mean `softmax`");
    bad(&["ops", "zzz"], "", "`cotangent ops` lists all operations");
    let sum = good(&["ops", "reduce_sum"], "");
    assert_eq!(good(&["ops", "tgraph.reduce_sum"], ""), sum);
    assert_eq!(
        good(&["ops", "sum"], ""),
        format!("`sum` is another name of `reduce_sum`.\n\n{sum}")
    );
    assert!(sum.contains("true: sums are compensated"), "{sum}");
    let stopped = good(&["ops", "stop_gradient"], "");
    assert!(
        stopped.contains("adjoint    zero\n") && stopped.contains("tensor<2x3xf64>"),
        "{stopped}"
    );
    let text = good(&["ops", "sin"], "");
    assert!(text.contains("stablehlo  stablehlo.sine\n"), "{text}");
    assert!(text.contains("adjoint    mul(cos(%0), %ct_0)\n"), "{text}");
    assert!(text.contains("= tgraph.sin %"), "{text}");
    let text = good(&["ops", "softmax"], "");
    assert!(text.contains("axis       an integer  -1"), "{text}");
    assert!(text.contains("%y0 f64[2,3]"), "{text}");
}

/// Operations with regions have an example that is read, with every region written out.
#[test]
fn ops_shows_the_syntax_of_operations_with_regions() {
    for (name, regions) in [
        ("cond", &["then(", "else("][..]),
        ("switch", &["branches [("]),
        ("scan", &["body("]),
        ("while", &["cond(", "body("]),
        ("call", &["callee("]),
        ("checkpoint", &["callee("]),
        ("custom_jvp", &["body(", "rule("]),
        ("custom_vjp", &["body(", "fwd(", "bwd("]),
        ("linear_solve", &["matvec(", "solve(", "transpose_solve("]),
        ("root", &["@f"]),
        ("fixed_point", &["@f"]),
        ("argmin", &["@f"]),
    ] {
        // A name without a module may be that of another operation: its page has both.
        let page = good(&["ops", name], "");
        let line = format!("= tgraph.{name} ");
        let at = page.find(&line).unwrap_or_else(|| panic!("{page}"));
        for region in regions {
            assert!(page[at..].contains(&format!(" {region}")), "{name}: {page}");
        }
        let equation = page[..at].rfind("tgraph.module @f");
        let start = equation.or(page.find("tgraph.module")).unwrap();
        let end = at + page[at..].find("\n}\n").unwrap() + 3;
        good(&["fmt", "-"], &page[start..end]);
    }
}

/// A function with the derivative of `sin`, or with a wrong one, in a region.
fn custom_rule(slope: &str) -> String {
    format!(
        "tgraph.module @m {{
  %x = tgraph.arg : tensor<nxf64>
  %y = tgraph.scan %x {{length = n, carry = 0}} body(%x: f64) {{
    %y = tgraph.custom_vjp %x body(%x: f64) {{
      %y = tgraph.sin %x
      tgraph.return %y
    }} fwd(%x: f64) {{
      %y = tgraph.sin %x
      tgraph.return %y, %x
    }} bwd(%x: f64, %ct: f64) {{
      %c = tgraph.{slope} %x
      %g = tgraph.mul %c, %ct
      tgraph.return %g
    }}
    tgraph.return %y
  }}
  tgraph.return %y
}}
tgraph.jvp @m wrt(%x) -> @t
"
    )
}

#[test]
fn derive_check_compares_custom_rules_with_finite_differences() {
    let run = |slope: &str| cotangent(&["derive", "-", "--check"], &custom_rule(slope));
    let right = run("cos");
    assert_eq!(
        right.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&right.stderr)
    );
    assert!(String::from_utf8_lossy(&right.stdout).contains("tgraph.module @t {"));
    let wrong = run("tanh");
    assert_eq!(wrong.status.code(), Some(1));
    let report = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        report.contains("4:10: in `@m`: check of `custom_vjp`: FAILED") && report.contains("WRONG"),
        "{report}"
    );
    // Without the option the rule is taken as it is.
    good(&["derive", "-"], &custom_rule("tanh"));
    good(&["fmt", "-"], &custom_rule("tanh"));
}

#[test]
fn derivatives_on_the_command_line_are_those_of_directives() {
    let dir = folder("stable");
    let input = dir.join("x.npz");
    npz::write(&input, &[("x".into(), Array::scalar(1000.0))]).unwrap();
    let text = "tgraph.module @m {\n  %x = tgraph.arg : f64\n  %e = tgraph.exp %x\n  %y = tgraph.log1p %e\n  \
                tgraph.return %y\n}\ntgraph.adjoint @m wrt(%x) -> @g\n";
    let path = input.to_str().unwrap();
    assert!(good(&["grad", "-", "--in", path], text).contains("grad_0 (x) f64[]\n  1.0"));
    assert!(good(&["run", "-@g", "--in", path], text).contains("out_0 f64[]\n  1.0"));
    assert!(good(&["run", "-@m", "--in", path], text).contains("inf"));
    for choice in ["raise=false", "raise=false,stable"] {
        let wrong = good(&["grad", "-", "--in", path, "--numerics", choice], text);
        assert!(!wrong.contains("grad_0 (x) f64[]\n  1.0"), "{wrong}");
        let wrong = good(&["run", "-@g", "--in", path, "--numerics", choice], text);
        assert!(!wrong.contains("out_0 f64[]\n  1.0"), "{wrong}");
    }
}

const SQUARES: &str = "module @jit_f {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<f64> {jax.result_info = \"result\"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3xf64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
}
";

#[test]
fn stablehlo_is_a_program_like_any_other() {
    let dir = folder("stablehlo");
    let (file, arrays) = (dir.join("squares.mlir"), dir.join("squares.npz"));
    std::fs::write(&file, SQUARES).unwrap();
    let x = || Array::vector(vec![1.0f64, 2.0, -3.0]);
    npz::write(&arrays, &[("in_0".into(), x()), ("t_0".into(), x())]).unwrap();
    let file = file.to_str().unwrap();
    assert!(good(&["run", file], "").contains("14"));
    assert!(good(&["grad", &format!("{file}@main")], "").contains("-6"));
    for command in ["vjp", "jvp", "hvp", "jacobian", "hessian"] {
        assert!(good(&[command, file, "--wrt", "arg0"], "").contains(&format!("{command}_0")));
    }
    assert!(good(&["check", "-"], SQUARES).contains("ok"));
    assert!(good(&["explain", "-"], SQUARES).contains("adjoint"));
    assert!(good(&["derive", "-"], SQUARES).contains("tgraph.reduce_sum"));
    bad(
        &["run", &format!("{file}@jit_f")],
        "",
        "has no module @jit_f; it has @main",
    );
    // Round trip.
    let (there, back) = (dir.join("a.tgraph"), dir.join("b.mlir"));
    let (there, back) = (there.to_str().unwrap(), back.to_str().unwrap());
    good(&["convert", file, there], "");
    good(&["convert", there, back], "");
    assert!(
        std::fs::read_to_string(there)
            .unwrap()
            .contains("tgraph.reduce_sum")
    );
    assert!(
        good(&["fmt", file], "").contains("@jit_f"),
        "`fmt` lowers nothing"
    );
    assert_eq!(
        cotangent(&["fmt", back, "--check"], "").status.code(),
        Some(0)
    );
    assert!(
        good(&["convert", "-@m_grad"], SIN).contains("func.func public @main(%x: tensor<?xf32>)")
    );
    // Patterns stay what they are, unless raising is asked for.
    assert!(good(&["convert", "-"], SIGMOID).contains("stablehlo.exponential"));
    let raised = good(&["convert", "-", "--raise"], SIGMOID);
    assert!(raised.contains("stablehlo.logistic") && !raised.contains("stablehlo.exponential"));
    bad(&["run", "-", "--raise"], SIGMOID, "has no option `--raise`");
    bad(&["convert", file, "x.txt"], "", ".mlir or .tgraph");
    bad(&["convert", file, there, back], "", "unexpected argument");
}

#[test]
fn mistakes_get_one_clear_message() {
    bad(&["gard", "x"], "", "did you mean `grad`");
    bad(&["run"], "", "a FILE is missing");
    bad(
        &["run", "no_such_file.tgraph"],
        "",
        "cannot read no_such_file.tgraph",
    );
    bad(
        &["run", "-@nope"],
        SIN,
        "has no module @nope; it has @m, @m_grad",
    );
    bad(&["grad", "-", "--wrt", "q"], SIN, "%x");
    bad(
        &["run", "-"],
        SIN,
        "argument %x of @m is missing: an array `x` or `in_0` of type f32[",
    );
    bad(
        &["run", "-", "--in", "nowhere.npz"],
        SIN,
        "cannot read nowhere.npz",
    );
    bad(&["run", "-"], "tgraph.module @m {", "1:");
    bad(
        &["run", "-"],
        "func.func @main() {\n  stablehlo.frobnicate\n  return\n}",
        "2:3: the operation `stablehlo.frobnicate`",
    );
    let dir = folder("mistakes");
    let junk = dir.join("junk.npz");
    std::fs::write(&junk, b"not a zip").unwrap();
    bad(
        &["run", "-", "--in", junk.to_str().unwrap()],
        SIN,
        "not a readable .npz archive",
    );
    npz::write(&junk, &[("x".into(), Array::vector(vec![1.0f64]))]).unwrap();
    bad(
        &["run", "-", "--in", junk.to_str().unwrap()],
        SIN,
        "must be f32[",
    );
    std::fs::write(dir.join("latin.tgraph"), b"\xff\xfe").unwrap();
    bad(
        &["fmt", dir.join("latin.tgraph").to_str().unwrap()],
        "",
        "not UTF-8",
    );
}

#[test]
fn a_reader_that_closes_early_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cotangent"))
        .arg("ops")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_variable_that_chooses_nothing_says_so() {
    let said = |name: &str, value: &str| {
        let example = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/attention.tgraph"
        );
        let mut run = Command::new(env!("CARGO_BIN_EXE_cotangent"));
        let out = run
            .args(["run", example])
            .env(name, value)
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(0), "{name}={value}");
        // The source of the inputs is printed, too.
        String::from_utf8(out.stderr)
            .unwrap()
            .lines()
            .filter(|l| !l.starts_with("inputs from"))
            .collect::<String>()
    };
    for (name, good, wrong, known) in [
        ("COTANGENT_THREADS", "2", "0", "1 or more"),
        ("COTANGENT_THREADS", "1", "two", "1 or more"),
        (
            "COTANGENT_SIMD",
            "portable",
            "sse",
            "portable, avx2 or avx512",
        ),
        (
            "COTANGENT_ENGINE",
            "interpreter",
            "",
            "interpreter or emitter",
        ),
    ] {
        assert_eq!(said(name, good), "", "{name}={good}");
        let text = said(name, wrong);
        assert!(
            text.contains(&format!("{name}={wrong} is ignored")) && text.contains(known),
            "{text}"
        );
    }
}

/// The README counts operations and composites as `cotangent ops` lists them.
#[test]
fn the_readme_counts_the_operations() {
    let list = good(&["ops"], "");
    let (composites, operations): (Vec<&str>, Vec<&str>) = list
        .lines()
        .skip(1)
        .partition(|line| line.ends_with("(composite)"));
    let readme = include_str!("../../../README.md");
    let counts = format!(
        "{} operations and {} composites",
        operations.len(),
        composites.len()
    );
    assert!(readme.contains(&counts), "README.md should say: {counts}");
}

#[test]
fn bytecode_is_a_program_like_any_other() {
    let example = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        folder.join(name).to_str().unwrap().to_owned()
    };
    let file = example("export.jax_export");
    let text = good(&["fmt", &file], "");
    assert!(text.contains("func.func public @main"), "{text}");
    let ran = good(&["run", &file], "");
    assert!(ran.contains("out_0 f32[]"), "{ran}");
    bad(&["fmt", &file, "--check"], "", "is bytecode");
    let dir = folder("bytecode");
    let cut = dir.join("cut.jax_export");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&cut, &bytes[..1000]).unwrap();
    bad(
        &["run", cut.to_str().unwrap()],
        "",
        "neither StableHLO text nor bytecode",
    );
}
