//! Imports between the files of one crate: circles among them, and layers.
//!
//! An import is a `use` declaration, a path that begins with `crate`, `super`, `self` or a child
//! module, or a name that a file re-exports and uses itself. A `pub use` is followed to the
//! defining file. Tests, comments and `lib.rs` are not read.

use crate::source::without_comments;
use crate::{assert_none, sources};
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// A module path, without the crate.
type Path = Vec<String>;

/// The names that one file imports from another, by both files (from `src/`).
pub(crate) type Edges = BTreeMap<(String, String), BTreeSet<String>>;

fn module(file: &str) -> Path {
    let mut parts: Path = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

/// `a::{b, c::{d, e}}` as a list of paths.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, list)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let (mut parts, mut depth, mut last) = (Vec::new(), 0, String::new());
    for c in list.chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut last));
        } else {
            last.push(c);
        }
    }
    let parts = parts.iter().filter(|p| !p.trim().is_empty());
    parts
        .flat_map(|p| expanded(&format!("{head}{}", p.trim())))
        .collect()
}

/// The modules of a crate and what they re-export.
struct Crate {
    modules: BTreeMap<Path, String>,
    reexports: BTreeMap<Path, Path>,
}

impl Crate {
    /// The path that `path` means in the module `me`; `None` for another crate's.
    fn absolute(&self, path: &str, me: &Path) -> Option<Path> {
        let parts: Path = path
            .split("::")
            .map(|p| {
                p.trim()
                    .split(" as ")
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            })
            .collect();
        let first = parts[0].as_str();
        if first == "crate" {
            return Some(parts[1..].to_vec());
        }
        let supers = parts.iter().take_while(|p| *p == "super").count();
        if supers > 0 {
            let base = &me[..me.len().saturating_sub(supers)];
            return Some([base, &parts[supers..]].concat());
        }
        if first == "self" {
            return Some([me, &parts[1..]].concat());
        }
        let child = [me.as_slice(), &parts[..1]].concat();
        self.modules
            .contains_key(&child)
            .then(|| [me.as_slice(), &parts].concat())
    }

    /// The file that defines what a path names, and the name.
    fn resolved(&self, path: &Path, depth: usize) -> Option<(String, String)> {
        let follow = |path: &Path, rest: &[String]| {
            let to = self
                .reexports
                .get(path)
                .filter(|to| *to != path && depth < 8)?;
            self.resolved(&[to.as_slice(), rest].concat(), depth + 1)
        };
        if let Some(found) = follow(path, &[]) {
            return Some(found);
        }
        for k in (0..=path.len()).rev() {
            let Some(file) = self.modules.get(&path[..k]) else {
                continue;
            };
            let Some(name) = path.get(k) else {
                return Some((file.clone(), "*".to_owned()));
            };
            let through = follow(&path[..=k].to_vec(), &path[k + 1..]);
            return Some(through.unwrap_or_else(|| (file.clone(), name.clone())));
        }
        None
    }
}

/// The imports between the files of a crate: `files` are names from `src/` and texts.
pub(crate) fn edges(files: &[(String, String)]) -> Edges {
    let declaration =
        Regex::new(r"(?:^|\n)\s*(pub(?:\([^)]*\))? )?use ([^;]+);").expect("a regular expression");
    let absolute = Regex::new(r"\b((?:crate|super)(?:::\w+)+)").expect("a regular expression");
    let child = Regex::new(r"\b([a-z_]\w*)::(\w+)").expect("a regular expression");
    let modules = files.iter().map(|(f, _)| (module(f), f.clone())).collect();
    let mut all = Crate {
        modules,
        reexports: BTreeMap::new(),
    };
    let mut paths: Vec<(&String, Path, bool)> = Vec::new();
    for (file, text) in files {
        let (me, text) = (module(file), without_comments(text));
        let text = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let mut own = Vec::new();
        for found in declaration.captures_iter(text) {
            let public = found.get(1).is_some();
            for path in expanded(&found[2].replace('\n', " ")) {
                let Some(to) = all.absolute(&path, &me) else {
                    continue;
                };
                if let Some(name) = to.last().filter(|_| public) {
                    let alias = [me.as_slice(), std::slice::from_ref(name)].concat();
                    own.push((alias.clone(), to.clone()));
                    all.reexports.insert(alias, to.clone());
                }
                paths.push((file, to, public));
            }
        }
        let body = declaration.replace_all(text, "\n");
        let inside =
            |at: usize| body[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        for found in absolute.captures_iter(&body) {
            paths.extend(all.absolute(&found[1], &me).map(|to| (file, to, false)));
        }
        for found in child
            .captures_iter(&body)
            .filter(|f| !inside(f.get(0).expect("the whole").start()))
        {
            let to = [me.as_slice(), &[found[1].to_owned()]].concat();
            if all.modules.contains_key(&to)
                && !["crate", "super", "self", "std"].contains(&&found[1])
            {
                paths.push((
                    file,
                    [to.as_slice(), &[found[2].to_owned()]].concat(),
                    false,
                ));
            }
        }
        for (alias, to) in own {
            let name = alias.last().expect("a name");
            let word = Regex::new(&format!(r"\b{name}\b")).expect("a name is a regular expression");
            if word.find_iter(&body).any(|m| !inside(m.start())) {
                paths.push((file, to, false));
            }
        }
    }
    let mut edges = Edges::new();
    for (file, mut to, public) in paths {
        if to.last().is_some_and(|last| last == "*") {
            to.pop();
        }
        let Some((target, name)) = all.resolved(&to, 0) else {
            continue;
        };
        let child = module(&target).starts_with(&module(file));
        if target != *file && !(public && child) && target != "lib.rs" && file != "lib.rs" {
            edges
                .entry((file.clone(), target))
                .or_default()
                .insert(name);
        }
    }
    edges
}

/// Sets of files that import each other, the smallest first.
pub(crate) fn circles(edges: &Edges) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            for ((_, to), _) in edges
                .range((file.clone(), String::new())..)
                .take_while(|((a, _), _)| a == file)
            {
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        seen
    };
    let files: BTreeSet<&String> = edges.keys().flat_map(|(a, b)| [a, b]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        files.iter().map(|f| (*f, reach(f))).collect();
    let mut out: Vec<BTreeSet<String>> = Vec::new();
    for file in &files {
        if !reached[file].contains(*file) || out.iter().any(|c| c.contains(*file)) {
            continue;
        }
        out.push(
            files
                .iter()
                .filter(|f| reached[file].contains(**f) && reached[**f].contains(*file))
                .map(|f| f.to_string())
                .collect(),
        );
    }
    out.sort_by_key(BTreeSet::len);
    out
}

/// The imports inside a circle, a line each.
pub(crate) fn arrows(edges: &Edges, circle: &BTreeSet<String>) -> String {
    let inside = edges
        .iter()
        .filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
    let line = |((a, b), names): (&(String, String), &BTreeSet<String>)| {
        format!(
            "    {a} -> {b} : {}\n",
            names.iter().cloned().collect::<Vec<_>>().join(", ")
        )
    };
    inside.map(line).collect()
}

/// Files that may stand in circles of imports, by crate: `ir/` of the core, because an operation
/// writes to an emitter that takes operations. The list may only shrink.
const CIRCLES: &[(&str, &[&str])] = &[(
    "core",
    &[
        "ir/attr.rs",
        "ir/builder.rs",
        "ir/context.rs",
        "ir/emit.rs",
        "ir/function.rs",
        "ir/linear.rs",
        "ir/op.rs",
        "ir/primitive.rs",
        "ir/symbols.rs",
    ],
)];

/// The one file of `ir/` that imports operations: a closed sum lists its parts.
const OP: &str = "ir/op.rs";

/// Layers of the core, from the lowest. A file imports its own layer and lower ones. The longest
/// name that a path begins with decides.
const LAYERS: &[&[&str]] = &[
    &["loc.rs"],
    &["error.rs", "names.rs", "dtype.rs", "math/"],
    &["shape.rs", "shape/", "buffer.rs", "array.rs"],
    &["ir/"],
    &["analysis/"],
    &["transform/", "verify.rs", "reference.rs"],
    &["tape/"],
    &[
        "ops/entry.rs",
        "ops/support.rs",
        "ops/moving.rs",
        "ops/side.rs",
        "ops/windows.rs",
        "ops/sliding.rs",
        "ops/body.rs",
        "ops/checkpoint.rs",
    ],
    &["ops/"],
    &[
        "ops/mod.rs",
        "ops/composite/",
        "ops/plain.rs",
        "ops/literal.rs",
    ],
    &["rewrite/"],
    &["text/", "directive.rs"],
    &["check/"],
];

/// The files of a crate, named from `src/`, without tests.
fn library(name: &str) -> Vec<(String, String)> {
    let src = format!("crates/{name}/src/");
    let inside =
        |f: &str| f.starts_with(&src) && !f.ends_with("tests.rs") && !f.contains("/tests/");
    let files = sources().into_iter().filter(|(f, _)| inside(f));
    files
        .map(|(f, text)| (f[src.len()..].to_owned(), text))
        .collect()
}

/// The imports of a crate, without those of the operations by [`OP`].
fn imports_of(name: &str) -> Edges {
    let files = library(name);
    assert!(!files.is_empty(), "{name} has sources");
    let mut edges = edges(&files);
    edges.retain(|(from, to), _| !(name == "core" && from == OP && to.starts_with("ops/")));
    edges
}

#[test]
fn files_import_without_circles() {
    let mut bad = Vec::new();
    for name in [
        "cli",
        "core",
        "cotangent",
        "cpu",
        "derive",
        "einsum",
        "kernels",
        "stablehlo",
    ] {
        let edges = imports_of(name);
        let permitted: BTreeSet<&str> = CIRCLES
            .iter()
            .filter(|(n, _)| *n == name)
            .flat_map(|(_, f)| f.iter().copied())
            .collect();
        let circles = circles(&edges);
        let mut idle = permitted.clone();
        for circle in &circles {
            circle.iter().for_each(|f| _ = idle.remove(f.as_str()));
            if !circle.iter().all(|f| permitted.contains(f.as_str())) {
                bad.push(format!(
                    "{name}: {} files\n{}",
                    circle.len(),
                    arrows(&edges, circle)
                ));
            }
        }
        bad.extend(
            idle.iter()
                .map(|f| format!("{name}: {f} stands in no circle and needs no exception")),
        );
    }
    assert_none("circles of imports, the smallest of a crate first", bad);
}

/// The layer of a file of the core; `None`: it is in no layer.
fn layer(file: &str) -> Option<usize> {
    let names = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(i, names)| names.iter().map(move |n| (i, *n)));
    let found = names.filter(|(_, name)| file.starts_with(name));
    found.max_by_key(|(_, name)| name.len()).map(|(i, _)| i)
}

#[test]
fn core_is_layered() {
    let files = library("core");
    let unknown = files
        .iter()
        .filter(|(f, _)| f != "lib.rs" && layer(f).is_none());
    let mut bad: Vec<String> = unknown
        .map(|(f, _)| format!("{f} is in no layer"))
        .collect();
    for ((from, to), names) in &imports_of("core") {
        if layer(from) < layer(to) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            bad.push(format!("{from} -> {to} : {}", names.join(", ")));
        }
    }
    assert_none("imports of a higher layer", bad);
}

#[test]
fn imports_are_followed_to_the_defining_file() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "a.rs",
            "use crate::b::{One, c::Two as Other};\nfn f() { crate::b::three() }\n",
        ),
        file(
            "b/mod.rs",
            "pub mod c;\npub use c::One;\npub fn three() {}\n",
        ),
        file(
            "b/c.rs",
            "use super::three; // use crate::a::f;\npub struct One;\npub struct Two;\n",
        ),
    ];
    let edges = edges(&files);
    let found: Vec<String> = edges
        .iter()
        .map(|((a, b), names)| format!("{a} -> {b}: {names:?}"))
        .collect();
    let wanted = [
        "a.rs -> b/c.rs: {\"One\", \"Two\"}",
        "a.rs -> b/mod.rs: {\"three\"}",
        "b/c.rs -> b/mod.rs: {\"three\"}",
    ];
    assert_eq!(found, wanted);
    assert!(circles(&edges).is_empty());
}
