//! The house rules that a program can see: import arrows, file sizes, headers, where `unsafe` may
//! stand.

mod book;
mod imports;
mod memory;
mod pages;
mod source;
mod tuning;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every Rust file of the workspace, with its path from the root.
fn sources() -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("fuzz")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|n| n != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(out.len() > 50, "the workspace has sources");
    out.sort();
    out
}

/// The pages that people read: every Markdown file but those of dependencies and build outputs.
fn pages() -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "corpus"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    out.sort();
    out
}

fn assert_none(what: &str, bad: Vec<String>) {
    assert!(bad.is_empty(), "{what}:\n  {}", bad.join("\n  "));
}

#[test]
fn every_file_opens_with_what_it_is() {
    let bad = sources()
        .into_iter()
        .filter(|(_, s)| !s.starts_with("//!") && !s.starts_with("#!"))
        .map(|f| f.0)
        .collect();
    assert_none("files without a `//!` header", bad);
}

#[test]
fn files_stay_readable() {
    let long = |(name, s): (String, String)| {
        let n = s.lines().count();
        (n > 800).then(|| format!("{name}: {n} lines"))
    };
    assert_none(
        "files over 800 lines",
        sources().into_iter().filter_map(long).collect(),
    );
}

#[test]
fn arrows_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("core", &[]),
        ("kernels", &[]),
        ("cpu", &["core", "kernels"]),
        ("stablehlo", &["core"]),
        ("einsum", &[]),
        ("derive", &[]),
        (
            "cotangent",
            &["core", "cpu", "derive", "einsum", "pjrt", "stablehlo"],
        ),
        ("cli", &["cotangent"]),
        ("python", &["cotangent", "cli"]),
        ("pjrt", &["core"]),
        ("pjrt-plugin", &["cotangent", "pjrt"]),
    ];
    let mut bad = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        let Some((_, may)) = allowed.iter().find(|(n, _)| *n == name) else {
            bad.push(format!("{name}: not in the table of this test"));
            continue;
        };
        // Only what the library itself needs: tests may look anywhere.
        let needs = manifest.split("[dev-dependencies]").next().unwrap();
        for line in needs.lines().filter(|l| l.starts_with("cotangent")) {
            let dep = line.split(['.', ' ', '=']).next().unwrap();
            let dep = dep.strip_prefix("cotangent-").unwrap_or("cotangent");
            if dep != name && !may.contains(&dep) {
                bad.push(format!("{name} imports {dep}"));
            }
        }
    }
    assert_none("imports against the arrows", bad);
}

/// Where `unsafe` may stand: kernels, the runtime, the plugin that other programs call through
/// addresses, and the files of the Python extension that share memory with other libraries.
const UNSAFE: &[&str] = &[
    "crates/kernels/",
    "crates/cpu/",
    "crates/pjrt/src/loader/",
    "crates/pjrt/src/loader.rs",
    "crates/pjrt-plugin/",
    "crates/python/src/buffer.rs",
    "crates/python/src/dlpack.rs",
    "crates/python/src/numpy.rs",
    "crates/python/src/xla.rs",
];

#[test]
fn unsafe_stands_in_kernels_and_cpu_with_its_reason() {
    let mut bad = Vec::new();
    for (name, text) in sources().iter().filter(|(n, _)| !n.contains("tests/tidy/")) {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // Without `pub` a function is one of a trait or a type of functions, where the promise
            // is stated.
            let states = code.contains("unsafe {")
                || code.contains("unsafe impl")
                || code.contains("pub unsafe fn ")
                || code.contains(") unsafe fn ");
            let uses = code.contains("unsafe fn");
            if !(states || uses) {
                continue;
            }
            if !UNSAFE.iter().any(|place| name.starts_with(place)) {
                bad.push(format!("{name}:{}: unsafe outside kernels and cpu", i + 1));
            }
            let reason = |l: &&str| l.contains("SAFETY") || l.contains("# Safety");
            if states && !lines[i.saturating_sub(8)..=i].iter().any(reason) {
                bad.push(format!("{name}:{}: no SAFETY comment", i + 1));
            }
        }
    }
    assert_none("unsafe", bad);
}

/// Files are written whole or not at all by one module, and standard output and error by another,
/// so that no failure of a disk or a pipe is lost or is a panic.
#[test]
fn one_place_writes_files_and_one_the_terminal() {
    let files = ["fs::write(", "File::create(", "fs::copy(", "fs::rename("];
    let streams = ["println!(", "print!(", "stdout()", "stderr()"];
    let mut bad = Vec::new();
    for (name, text) in sources()
        .iter()
        .filter(|(n, _)| n.starts_with("crates/") && n.contains("/src/") && !n.contains("/tests/"))
    {
        let own = text.split("#[cfg(test)]").next().unwrap();
        for (i, line) in own
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim_start().starts_with("//"))
        {
            let writes =
                files.iter().any(|w| line.contains(w)) && name != "crates/cotangent/src/files.rs";
            let speaks = streams.iter().any(|w| line.contains(w));
            let may = [
                "crates/cli/src/streams.rs",
                "crates/cli/src/show.rs",
                "crates/cotangent/src/report.rs",
                "crates/kernels/src/environment.rs",
            ];
            if writes || speaks && !may.contains(&name.as_str()) && !name.contains("/tests") {
                bad.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert_none("writing past `files` and `streams`", bad);
}

/// Of a type the example stands in its own documentation; of a function there, or in that of its
/// module. Methods are shown by their type's.
#[test]
fn what_users_import_has_an_example() {
    let mut bad = Vec::new();
    let kinds = [
        "pub struct ",
        "pub enum ",
        "pub trait ",
        "pub type ",
        "pub fn ",
    ];
    for (name, text) in sources()
        .iter()
        .filter(|(n, _)| n.starts_with("crates/cotangent/src/"))
    {
        let module = text
            .lines()
            .take_while(|l| l.starts_with("//!"))
            .any(|l| l.contains("```"));
        let mut shown = false;
        for line in text.lines() {
            if line.starts_with("///") {
                shown |= line.contains("```");
            } else if !line.starts_with("#[") {
                let function = module && line.starts_with("pub fn ");
                if kinds.iter().any(|k| line.starts_with(k)) && !shown && !function {
                    bad.push(format!("{name}: {line}"));
                }
                shown = false;
            }
        }
    }
    assert_none("public items without an example", bad);
}

#[test]
fn nothing_is_left_for_later_without_an_owner() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("unimpl", "emented!"),
        concat!("to", "do!("),
    ];
    let mut bad = Vec::new();
    for (name, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            if words.iter().any(|w| line.contains(w)) {
                bad.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert_none("left for later", bad);
}
