//! Methods that are written from lists: those of the emitter and of tensors, from the tables of the
//! core and from the traits in `crates/cotangent/src/methods`. `BLESS=1` writes the files.

mod parse;
mod write;

use parse::{Method, methods_of, public_methods};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The text as `rustfmt` writes it.
fn formatted(text: &str) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is installed: `rustup component add rustfmt`");
    let mut input = rustfmt.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let done = rustfmt.wait_with_output().unwrap();
    assert!(done.status.success(), "rustfmt refuses {text}");
    String::from_utf8(done.stdout).unwrap()
}

/// Traits of methods, with the files that list them.
const TRAITS: [(&str, &str); 7] = [
    ("Elementwise", "elementwise"),
    ("Functions", "functions"),
    ("Indexing", "indexing"),
    ("KeepDims", "keepdims"),
    ("Products", "products"),
    ("Reductions", "reductions"),
    ("Shapes", "shapes"),
];

/// Names of hand-written methods of a kind of tensors.
fn by_hand(kind: &str) -> Vec<String> {
    let folder = format!("crates/cotangent/src/{kind}");
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join(&folder)).unwrap().flatten() {
        if entry.path().extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(entry.path()).unwrap();
            names.extend(public_methods(&text, write::tensor_of(kind)));
        }
    }
    names
}

/// Every generated file.
fn files() -> Vec<(String, String)> {
    let mut files = vec![
        (
            "crates/core/src/ops/unary/methods.rs".into(),
            write::emitter_unary(),
        ),
        (
            "crates/core/src/ops/binary/methods.rs".into(),
            write::emitter_binary(),
        ),
        (
            "crates/cotangent/src/methods/elementwise.rs".into(),
            write::elementwise(),
        ),
    ];
    let reductions = methods_of(&read("crates/cotangent/src/methods/reductions.rs"));
    let keepdims = write::keepdims(&reductions);
    files.push((
        "crates/cotangent/src/methods/keepdims.rs".into(),
        keepdims.clone(),
    ));
    let methods = TRAITS.map(|(name, file)| {
        methods_of(&match name {
            "Elementwise" => files[2].1.clone(),
            "KeepDims" => keepdims.clone(),
            _ => read(&format!("crates/cotangent/src/methods/{file}.rs")),
        })
    });
    let linear_algebra = parse::linear_algebra(&read("crates/cotangent/src/linalg.rs"));
    files.push((
        "crates/cotangent/src/plain/operations.rs".into(),
        write::operations(&[methods.concat(), linear_algebra].concat()),
    ));
    for kind in ["traced", "eager"] {
        let skip = by_hand(kind);
        let folder = format!("crates/cotangent/src/{kind}/generated");
        for ((name, file), methods) in TRAITS.iter().zip(&methods) {
            let methods: Vec<Method> = methods
                .iter()
                .filter(|m| !skip.contains(&m.name))
                .cloned()
                .collect();
            files.push((
                format!("{folder}/{file}.rs"),
                write::inherent(kind, name, &methods),
            ));
        }
        files.push((format!("{folder}/old_names.rs"), write::old_names(kind)));
        files.push((
            format!("{folder}/mod.rs"),
            write::generated_mod(kind, &TRAITS),
        ));
    }
    files
}

#[test]
fn methods_of_tables_and_traits_are_written_in_files() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut stale = Vec::new();
    for (path, text) in files() {
        let file = root().join(&path);
        // A file of modules is written as it is: `rustfmt` would follow them.
        let text = match path.ends_with("mod.rs") {
            true => text,
            false => formatted(&text),
        };
        if fs::read_to_string(&file).unwrap_or_default() == text {
            continue;
        }
        if bless {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
        } else {
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "run this test with BLESS=1 to write {stale:?}"
    );
}

/// A trait of methods has a file for each kind of tensors, and no kind misses a method.
#[test]
fn traced_and_eager_tensors_have_every_method_of_the_traits() {
    for kind in ["traced", "eager"] {
        let mut have = by_hand(kind);
        for (_, file) in TRAITS {
            let path = format!("crates/cotangent/src/{kind}/generated/{file}.rs");
            have.extend(public_methods(&read(&path), write::tensor_of(kind)));
        }
        for (_, file) in TRAITS {
            for m in methods_of(&read(&format!("crates/cotangent/src/methods/{file}.rs"))) {
                let times = have.iter().filter(|n| **n == m.name).count();
                assert_eq!(times, 1, "`{}` of {kind} tensors", m.name);
            }
        }
    }
}

/// Files of public methods and functions on tensors, and folders of such files.
const CALLED: [&str; 9] = [
    "closures",
    "eager",
    "traced",
    "tensor",
    "methods",
    "fft.rs",
    "linalg.rs",
    "random.rs",
    "windows.rs",
];

/// Files there whose public functions are private to the crate.
const INTERNAL: [&str; 6] = [
    "closures/capture.rs",
    "eager/backward/subgraph.rs",
    "eager/gradient.rs",
    "eager/turns.rs",
    "traced/record.rs",
    "traced/trace.rs",
];

/// Functions that return a `Result` and never fail.
const INFALLIBLE: [&str; 2] = ["ad_rules", "register_runtime"];

/// Errors name the line of the user's call if every public function that the call passes is marked
/// so.
#[test]
fn every_public_method_that_may_fail_is_marked_track_caller() {
    let mut files = Vec::new();
    let mut rest: Vec<PathBuf> = CALLED
        .iter()
        .map(|name| root().join("crates/cotangent/src").join(name))
        .collect();
    while let Some(path) = rest.pop() {
        match path.is_dir() {
            true => rest.extend(fs::read_dir(path).unwrap().flatten().map(|e| e.path())),
            false => files.push(path),
        }
    }
    let (mut unmarked, mut marked) = (Vec::new(), 0);
    for path in files {
        if INTERNAL.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (name, is_marked) in parse::fallible(&text) {
            match is_marked || INFALLIBLE.contains(&name.as_str()) {
                true => marked += 1,
                false => unmarked.push(format!("{}: {name}", path.display())),
            }
        }
    }
    assert!(
        unmarked.is_empty(),
        "without #[track_caller]: {unmarked:#?}"
    );
    assert!(marked > 350, "{marked} functions");
}
