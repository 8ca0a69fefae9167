//! Faults: full disks, closed pipes, little memory, killed processes, plugins that abort, extreme
//! numbers in every operation, and growth of run time.
//!
//! Limits are set with the shell's `ulimit`, so these tests run only on systems that have it.
#![cfg(target_os = "linux")]

use cotangent::check::function_of;
use cotangent::ops::entries;
use cotangent::{Array, npz, text};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Instant;

const SIN: &str = "// licence\ntgraph.module @m {\n\t%x = tgraph.arg : tensor<?xf64>\n\t%y = tgraph.sin %x\n\ttgraph.return %y\n}\n";

fn folder(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("faults")
        .join(test);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("sin.tgraph"), SIN).unwrap();
    npz::write(
        dir.join("x.npz"),
        &[("x".into(), Array::vector(vec![1.0, 2.0]))],
    )
    .unwrap();
    dir
}

/// The binary, started by a shell after these commands.
fn shell(dir: &Path, before: &str, args: &[&str]) -> Command {
    let mut c = Command::new("sh");
    c.current_dir(dir)
        .env("COTANGENT_THREADS", "1")
        .stdin(Stdio::null());
    c.args([
        "-c",
        &format!("{before} exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_cotangent"),
    ])
    .args(args);
    c
}

/// Checks for status 0, 1 or 2, so neither a panic nor an abort. Status 2 requires a message.
fn sound(what: &str, out: &Output) {
    let err = String::from_utf8_lossy(&out.stderr);
    let ok = matches!(out.status.code(), Some(0 | 1))
        || out.status.code() == Some(2) && err.starts_with("error: ");
    assert!(
        ok && err.len() < 20_000,
        "{what}: {:?} {}",
        out.status,
        &err[..err.len().min(500)]
    );
}

#[test]
fn a_plugin_that_ends_the_process_is_an_error_of_an_isolated_command() {
    let dir = folder("isolate");
    let run = |on: &str, more: &[&str]| {
        let args = ["run", "sin.tgraph", "--in", "x.npz", "--on", on];
        let flags = "export XLA_FLAGS=--no_such_flag;";
        let out = shell(&dir, flags, &[&args, more].concat()).output();
        out.unwrap()
    };
    // Output, errors and status are those of the other process.
    for on in ["cpu", "npu"] {
        let (plain, isolated) = (run(on, &[]), run(on, &["--isolate"]));
        assert_eq!(plain, isolated);
        sound(on, &isolated);
    }
    let devices = shell(&dir, "", &["devices"]).output().unwrap();
    if String::from_utf8_lossy(&devices.stdout).contains("xla:0") {
        // XLA ends the process if it does not know a flag.
        assert!(!matches!(run("xla", &[]).status.code(), Some(0 | 2)));
        let out = run("xla", &["--isolate"]);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{errors}");
        assert!(errors.contains("the plugin ended the process"), "{errors}");
    }
}

/// Each command that prints.
const PRINT: &[&[&str]] = &[
    &["run", "sin.tgraph", "--in", "x.npz"],
    &["jacobian", "sin.tgraph", "--in", "x.npz"],
    &["fmt", "sin.tgraph"],
    &["derive", "sin.tgraph"],
    &["convert", "sin.tgraph"],
    &["check", "sin.tgraph", "--in", "x.npz"],
    &["explain", "sin.tgraph"],
    &["ops"],
    &["help"],
];

#[test]
fn what_cannot_be_printed_is_an_error_and_a_closed_pipe_is_none() {
    let dir = folder("print");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for args in PRINT {
        let out = shell(&dir, "", args)
            .stdout(full())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {err}");
        assert!(
            err.contains("error: cannot write standard output"),
            "{args:?}: {err}"
        );
        // A closed pipe.
        let mut child = shell(&dir, "sleep 0.05;", args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(
            child.wait().unwrap().code(),
            Some(0),
            "{args:?} into a closed pipe"
        );
        // Standard error that cannot be written.
        for err in ["2>/dev/full", "2>&-"] {
            let code = shell(&dir, &format!("exec {err};"), args)
                .stdout(Stdio::null())
                .status()
                .unwrap()
                .code();
            assert_eq!(code, Some(0), "{args:?} {err}");
        }
    }
    let out = shell(&dir, "exec 2>/dev/full;", &["run", "nothing.tgraph"])
        .status()
        .unwrap();
    assert_eq!(out.code(), Some(2));
}

/// Each command that writes a file, and the file.
const WRITE: &[(&[&str], &str)] = &[
    (&["fmt", "--write", "long.tgraph"], "long.tgraph"),
    (
        &["run", "sin.tgraph", "--in", "big.npz", "--out", "out.npz"],
        "out.npz",
    ),
    (&["convert", "many.tgraph", "out.mlir"], "out.mlir"),
    (&["explain", "many.tgraph", "--svg", "out.svg"], "out.svg"),
    (
        &[
            "profile",
            "many.tgraph",
            "--runs",
            "1",
            "--trace",
            "out.json",
        ],
        "out.json",
    ),
];

fn long_files(dir: &Path) {
    fs::write(
        dir.join("long.tgraph"),
        SIN.replace("%y", &format!("%y{}", "y".repeat(9000))),
    )
    .unwrap();
    // Each sorts the result of the one before, so no two are equal.
    let of = |i: usize| {
        if i == 0 {
            "%x".to_owned()
        } else {
            format!("%s{}", i - 1)
        }
    };
    let lines: String = (0..200)
        .map(|i| format!("%s{i} = tgraph.sort {} {{axis = 0}}\n", of(i)))
        .collect();
    let all = (0..200)
        .map(|i| format!("%s{i}"))
        .collect::<Vec<_>>()
        .join(", ");
    let many = format!(
        "tgraph.module @m {{\n%x = tgraph.arg : tensor<4xf64>\n{lines}tgraph.return {all}\n}}\n"
    );
    fs::write(dir.join("many.tgraph"), many).unwrap();
    npz::write(
        dir.join("big.npz"),
        &[("x".into(), Array::vector(vec![0.5; 5000]))],
    )
    .unwrap();
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let dir = folder("full");
    long_files(&dir);
    for (args, file) in WRITE {
        let path = dir.join(file);
        if !path.exists() {
            fs::write(&path, "what was there").unwrap();
        }
        let before = fs::read(&path).unwrap();
        for trap in ["trap '' XFSZ;", ""] {
            // Blocks of 512 or of 1024 bytes.
            let out = shell(&dir, &format!("ulimit -c 0; ulimit -f 4; {trap}"), args)
                .output()
                .unwrap();
            assert!(!out.status.success(), "{args:?} wrote past the limit");
            assert_eq!(
                fs::read(&path).unwrap(),
                before,
                "{args:?}: {file} has changed"
            );
            assert!(
                trap.is_empty() || out.status.code() == Some(2),
                "{args:?}: {:?}",
                out.status
            );
            let left = fs::read_dir(&dir).unwrap().flatten();
            let left = left
                .filter(|e| e.file_name().to_string_lossy().starts_with(".cotangent"))
                .collect::<Vec<_>>();
            assert!(
                trap.is_empty() || left.is_empty(),
                "{args:?} leaves a file beside"
            );
            // A process that is ended by the signal cannot remove its file. It is removed before
            // the next command.
            left.iter().for_each(|e| fs::remove_file(e.path()).unwrap());
        }
        let out = shell(&dir, "", args).output().unwrap();
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        assert_ne!(
            fs::read(&path).unwrap(),
            before,
            "{args:?} writes where it can"
        );
    }
}

#[test]
fn a_process_that_is_killed_leaves_a_whole_file() {
    let dir = folder("killed");
    npz::write(
        dir.join("big.npz"),
        &[("x".into(), Array::vector(vec![0.5; 500_000]))],
    )
    .unwrap();
    let args = ["run", "sin.tgraph", "--in", "big.npz", "--out", "out.npz"];
    let start = Instant::now();
    assert!(shell(&dir, "", &args).status().unwrap().success());
    let whole = start.elapsed();
    for k in 0..12u32 {
        let mut child = shell(&dir, "", &args).spawn().unwrap();
        std::thread::sleep(whole * k / 12);
        let _ = child.kill();
        child.wait().unwrap();
        let y =
            npz::read(dir.join("out.npz")).unwrap_or_else(|e| panic!("killed after {k}/12: {e}"));
        assert_eq!(y[0].1.len(), 500_000);
    }
    // A file that exceeds its size limit ends the process during a write.
    let out = shell(&dir, "ulimit -c 0; ulimit -f 64;", &args)
        .output()
        .unwrap();
    assert!(out.status.code() != Some(0));
    let names = fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|n| n.starts_with(".cotangent")).collect();
    assert!(
        !cfg!(target_os = "linux") || left.len() <= 1,
        "what was written is left: {left:?}"
    );
}

#[test]
fn the_program_is_not_written_over() {
    let dir = folder("over");
    let over: [&[&str]; 4] = [
        &[
            "run",
            "sin.tgraph",
            "--in",
            "x.npz",
            "--out",
            "./sin.tgraph",
        ],
        &["convert", "sin.tgraph", "sin.tgraph"],
        &["explain", "sin.tgraph", "--svg", "sin.tgraph"],
        &[
            "profile",
            "sin.tgraph",
            "--in",
            "x.npz",
            "--trace",
            "sin.tgraph",
        ],
    ];
    for args in over {
        let out = shell(&dir, "", args).output().unwrap();
        assert!(
            out.status.code() == Some(2)
                && String::from_utf8_lossy(&out.stderr).contains("program itself")
        );
        assert_eq!(fs::read_to_string(dir.join("sin.tgraph")).unwrap(), SIN);
    }
    // Devices are written in place.
    assert!(
        shell(
            &dir,
            "",
            &["run", "sin.tgraph", "--in", "x.npz", "--out", "/dev/null"]
        )
        .status()
        .unwrap()
        .success()
    );
    let out = shell(
        &dir,
        "",
        &["run", "sin.tgraph", "--in", "x.npz", "--out", "/dev/stdout"],
    )
    .output()
    .unwrap();
    assert!(
        out.stdout.starts_with(b"PK"),
        "an archive goes to standard output"
    );
}

/// Texts with one number replaced by an extreme one.
fn extremes(text: &str, with: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let name = at > 0
            && (bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'x'
                || b"_%@.".contains(&bytes[at - 1]));
        let end = at
            + bytes[at..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
        if end > at && !name {
            out.push(format!("{}{with}{}", &text[..at], &text[end..]));
        }
        at = end.max(at + 1);
    }
    out
}

/// Runs samples of every operation with extreme numbers and little memory. `each` selects the
/// cases.
fn huge(test: &str, each: impl Fn(usize) -> bool) -> usize {
    let dir = folder(test);
    let (mut n, mut tried) = (0, 0);
    for e in entries() {
        for s in (e.samples)(e.name).into_iter().take(2) {
            let Ok(f) = function_of(&s) else { continue };
            let Ok(p) = text::Program::from_modules([Arc::new(f)]) else {
                continue;
            };
            let named = s
                .operands
                .iter()
                .enumerate()
                .map(|(i, a)| (format!("in_{i}"), a.clone()));
            let inputs: npz::Arrays = named.collect();
            for with in [
                "-1",
                "0",
                "2147483648",
                "9223372036854775807",
                "18446744073709551616",
            ] {
                for text in extremes(&p.to_string(), with) {
                    n += 1;
                    if !each(n) {
                        continue;
                    }
                    tried += 1;
                    fs::write(dir.join("m.tgraph"), &text).unwrap();
                    npz::write(dir.join("in.npz"), &inputs).unwrap();
                    for args in [
                        &["run", "m.tgraph", "--in", "in.npz"][..],
                        &["explain", "m.tgraph"],
                    ] {
                        // A loop with many steps is no fault. It is ended after 10 s of processor
                        // time.
                        let out =
                            shell(&dir, "ulimit -c 0; ulimit -v 2000000; ulimit -t 10;", args)
                                .output()
                                .unwrap();
                        let late = std::os::unix::process::ExitStatusExt::signal(&out.status)
                            .is_some_and(|s| s == 9 || s == 24);
                        if !late {
                            sound(&format!("{args:?} of\n{text}"), &out);
                        }
                    }
                }
            }
        }
    }
    assert!(n > 1000, "{n}");
    tried
}

#[test]
fn huge_numbers_in_every_operation_are_errors_or_answers() {
    assert!(huge("huge", |n| n % 61 == 0) > 30);
}

/// All cases. Takes minutes.
#[test]
#[ignore = "minutes"]
fn all_huge_numbers_in_every_operation_are_errors_or_answers() {
    huge("all_huge", |_| true);
}

#[test]
fn little_memory_is_an_answer_or_an_error() {
    let dir = folder("memory");
    npz::write(
        dir.join("big.npz"),
        &[("x".into(), Array::vector(vec![0.5; 2_000_000]))],
    )
    .unwrap();
    for kib in (20..300).step_by(12).map(|mib| mib << 10) {
        for args in [
            &["run", "sin.tgraph", "--in", "big.npz", "--out", "out.npz"][..],
            &["run", "sin.tgraph", "--in", "big.npz"],
        ] {
            let out = shell(&dir, &format!("ulimit -c 0; ulimit -v {kib};"), args)
                .output()
                .unwrap();
            // Below the memory that the program itself needs, the system ends it.
            if kib > 40 << 10 {
                sound(&format!("{args:?} in {kib} KiB"), &out);
            }
        }
    }
}

/// Processor time of a run, in seconds.
fn seconds(dir: &Path, args: &[&str]) -> f64 {
    let out = Command::new("bash")
        .current_dir(dir)
        .env("COTANGENT_THREADS", "1")
        .args([
            "-c",
            "TIMEFORMAT='%U %S'; time \"$0\" \"$@\" > /dev/null",
            env!("CARGO_BIN_EXE_cotangent"),
        ])
        .args(args)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {err}");
    err.lines()
        .last()
        .unwrap()
        .split(' ')
        .map(|t| t.parse::<f64>().unwrap())
        .sum()
}

/// Doubling an input takes at most 2.5 times as long, if the time is long enough to be measured: by
/// the least time of two to ten runs. Other work on the machine adds to a time and takes nothing
/// from it, so more runs bring what is linear to its ratio, and not what grows with the square.
fn doubles(test: &str, n: usize, args: &[&str], write: impl Fn(usize) -> String) {
    const ROUNDS: usize = 10;
    let dir = folder(test);
    let file = args
        .iter()
        .find_map(|a| a.split('@').next().filter(|f| f.starts_with("m.")))
        .unwrap();
    let sizes = [1, n, 2 * n];
    let texts = sizes.map(&write);
    let mut least = [f64::INFINITY; 3];
    for round in 0..ROUNDS {
        for (text, least) in texts.iter().zip(&mut least) {
            fs::write(dir.join(file), text).unwrap();
            *least = least.min(seconds(&dir, args));
        }
        let (one, two) = (least[1] - least[0], least[2] - least[0]);
        if round > 0 && (two < 0.2 || two < 2.5 * one.max(0.02)) {
            return;
        }
    }
    let [base, one, two] = least;
    panic!(
        "{test}: {:.3} s for {n}, {:.3} s for {}",
        one - base,
        two - base,
        2 * n
    );
}

fn module(name: &str, lines: &str) -> String {
    format!("tgraph.module @{name} {{\n{lines}}}\n")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of programs")]
fn time_grows_with_the_program_and_not_with_its_square() {
    let scalars = |n: usize| {
        let mut lines: String = (0..n)
            .map(|i| format!("%x{i} = tgraph.arg : f64\n"))
            .collect();
        lines.extend((0..n).map(|i| format!("%q{i} = tgraph.mul %x{i}, %x{i}\n")));
        lines.push_str("%s0 = tgraph.sin %q0\n");
        lines.extend((1..n).map(|i| format!("%s{i} = tgraph.add %s{}, %q{i}\n", i - 1)));
        module("m", &format!("{lines}tgraph.return %s{}\n", n - 1))
    };
    doubles(
        "parameters",
        1000,
        &["profile", "m.tgraph", "--grad", "--runs", "1"],
        scalars,
    );
    doubles("checked", 50, &["check", "m.tgraph"], scalars);
    let uses = |n: usize| {
        let mut lines =
            String::from("%x = tgraph.arg : f64\n%c = tgraph.sin %x\n%s0 = tgraph.neg %c\n");
        lines.extend((1..n).map(|i| {
            format!(
                "%y{i} = tgraph.pow %c, {i}.5\n%s{i} = tgraph.add %s{}, %y{i}\n",
                i - 1
            )
        }));
        module("m", &format!("{lines}tgraph.return %s{}\n", n - 1))
    };
    doubles("uses", 4000, &["explain", "m.tgraph"], uses);
    let private = |n: usize| {
        let one = "(tensor<f64>) -> tensor<f64>";
        let mut out = format!(
            "module @a {{\nfunc.func public @main(%a: tensor<f64>) -> tensor<f64> {{\n%0 = func.call @f{}(%a) : {one}\nreturn %0 : tensor<f64>\n}}\n",
            n - 1
        );
        for i in (0..n).rev() {
            let inner = if i > 0 {
                format!("func.call @f{}(%a) : {one}", i - 1)
            } else {
                "stablehlo.cosine %a : tensor<f64>".into()
            };
            out.push_str(&format!("func.func private @f{i}(%a: tensor<f64>) -> tensor<f64> {{\n%0 = {inner}\n%1 = stablehlo.sine %0 : tensor<f64>\nreturn %1 : tensor<f64>\n}}\n"));
        }
        out + "}\n"
    };
    doubles("functions", 1000, &["convert", "m.mlir"], private);
    doubles("formatted", 1000, &["fmt", "m.mlir"], private);
    let derived = |n: usize| {
        let mut text = module(
            "other",
            "%a = tgraph.arg : f64\n%b = tgraph.sin %a\ntgraph.return %b\n",
        );
        text += &module(
            "m0",
            "%x = tgraph.arg : f64\n%y = tgraph.tanh %x\n%z = tgraph.exp %y\ntgraph.return %z\n",
        );
        text.extend((0..n).map(|i| format!("tgraph.adjoint @m{i} wrt(%x) -> @m{}\n", i + 1)));
        text
    };
    doubles("directives", 40, &["explain", "m.tgraph@other"], derived);
    let modules = |n: usize| {
        (0..n)
            .map(|i| {
                module(
                    &format!("m{i}"),
                    "%a = tgraph.arg : f64\n%b = tgraph.sin %a\ntgraph.return %b\n",
                )
            })
            .collect()
    };
    doubles(
        "modules",
        1000,
        &["run", "m.tgraph@m0", "--in", "../modules_in.npz"],
        |n| {
            npz::write(
                folder("modules_in").with_extension("npz"),
                &[("a".into(), Array::scalar(1.0))],
            )
            .unwrap();
            modules(n)
        },
    );
    let symbols = |n: usize| {
        let mut lines: String = (0..n)
            .map(|i| format!("%x{i} = tgraph.arg : tensor<n{i}xf64>\n"))
            .collect();
        let all = (0..n)
            .map(|i| format!("%x{i}"))
            .collect::<Vec<_>>()
            .join(", ");
        lines += &format!(
            "%y = tgraph.concatenate {all} {{axis = 0}}\n%w = tgraph.outer %y, %y\n%k = tgraph.kron %w, %w\n"
        );
        module(
            "m",
            &format!("{lines}%z = tgraph.reduce_sum %k\ntgraph.return %z\n"),
        )
    };
    doubles("symbols", 8, &["explain", "m.tgraph"], symbols);
    let comments = |n: usize| "// why\n".repeat(n) + SIN + &"// tail\n".repeat(n);
    doubles("comments", 20_000, &["fmt", "m.tgraph"], comments);
}

#[test]
fn words_of_files_are_short_and_clean_in_messages() {
    let dir = folder("words");
    let long = "x".repeat(1_000_000);
    let hlo = |line: &str| {
        format!(
            "func.func @main(%a: tensor<f64>) -> tensor<f64> {{\n{line}\nreturn %a : tensor<f64>\n}}\n"
        )
    };
    let mut texts = Vec::new();
    for word in [
        long.as_str(),
        &"ab ".repeat(300_000),
        "a\u{1b}[31mb",
        "a\u{202e}b\u{7}",
    ] {
        texts.push((
            "m.mlir",
            hlo(&format!("%0 = stablehlo.{word} %a : tensor<f64>")),
        ));
        texts.push((
            "m.mlir",
            hlo(&format!(
                "%0 = stablehlo.custom_call @\"{word}\"(%a) : (tensor<f64>) -> tensor<f64>"
            )),
        ));
        texts.push((
            "m.mlir",
            hlo(&format!(
                "%0 = func.call @\"{word}\"(%a) : (tensor<f64>) -> tensor<f64>"
            )),
        ));
        texts.push((
            "m.mlir",
            hlo(&format!("%0 = stablehlo.sine %{word} : tensor<f64>")),
        ));
        for line in [
            "tgraph.module @\"W\" {",
            "tgraph.W %x",
            "%z = tgraph.sin %\"W\"",
            "%z = tgraph.reduce %x {op = \"W\"}",
            "%z = tgraph.sin %x {\"W\" = 1}",
        ] {
            texts.push((
                "m.tgraph",
                format!(
                    "tgraph.module @m {{\n%x = tgraph.arg : tensor<?xf64>\n{}\n",
                    line.replace('W', word)
                ),
            ));
        }
    }
    for (file, text) in texts {
        fs::write(dir.join(file), &text).unwrap();
        let out = shell(&dir, "", &["run", file]).output().unwrap();
        let start: String = text.chars().take(200).collect();
        assert_eq!(out.status.code(), Some(2), "{start}");
        let err = String::from_utf8(out.stderr).unwrap();
        assert!(
            err.len() < 4000,
            "a message of {} bytes: {start}",
            err.len()
        );
        assert!(!err.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{err:?}");
    }
}
