//! Text tests: files in `tests/graphs`, each a list of cases.
//!
//! ```text
//! // test: fmt            what is done with the source: fmt, derive, error
//! // ==== a name          a case
//! source
//! // ----
//! expected output
//! ```
//! `BLESS=1` rewrites what is expected; read the diff.

use cotangent_core::text::Program;
use cotangent_core::{AdContext, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};

struct Case {
    name: String,
    source: String,
    expected: String,
}

struct File {
    test: String,
    cases: Vec<Case>,
}

fn read(path: &Path) -> File {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.split_inclusive('\n');
    let test = lines.next().and_then(|l| l.strip_prefix("// test: ")).expect("a header").trim().to_owned();
    let mut file = File { test, cases: Vec::new() };
    let mut expected = false;
    for line in lines {
        if let Some(name) = line.strip_prefix("// ==== ") {
            let name = name.trim_end().to_owned();
            file.cases.push(Case { name, source: String::new(), expected: String::new() });
            expected = false;
        } else if line.trim_end() == "// ----" {
            expected = true;
        } else if let Some(case) = file.cases.last_mut() {
            let part = if expected { &mut case.expected } else { &mut case.source };
            part.push_str(line);
        }
    }
    file
}

fn canonical(p: &Program) -> String {
    let text = p.to_string();
    let again = Program::parse(&text, None).unwrap_or_else(|e| panic!("what was printed cannot be read: {e}\n{text}"));
    assert_eq!(again.to_string(), text, "printing is not canonical");
    text
}

fn output(test: &str, source: &str) -> String {
    let parsed = Program::parse(source, Some("in.tgraph"));
    let derived = |p: Program| -> Result<Program> { p.derive(&AdContext::default()) };
    match test {
        "fmt" => canonical(&parsed.unwrap_or_else(|e| panic!("{e}\n{source}"))),
        "derive" => canonical(&derived(parsed.unwrap()).unwrap_or_else(|e| panic!("{e}\n{source}")).only_derived()),
        "error" => match parsed.and_then(derived) {
            Ok(p) => panic!("no error:\n{p}"),
            Err(e) => format!("{e}\n"),
        },
        other => panic!("unknown test `{other}`"),
    }
}

fn graphs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "tgraph"));
    files.sort();
    files
}

#[test]
fn graphs_print_what_is_expected() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for path in graphs() {
        let file = read(&path);
        let mut out = format!("// test: {}\n", file.test);
        for case in &file.cases {
            let got = output(&file.test, &case.source);
            if got != case.expected && !bless {
                let _ =
                    writeln!(wrong, "{} `{}`:\n--- want\n{}--- got\n{got}", path.display(), case.name, case.expected);
            }
            let _ = write!(out, "// ==== {}\n{}// ----\n{got}", case.name, case.source);
        }
        if bless {
            std::fs::write(&path, out).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
