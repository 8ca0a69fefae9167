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
pub type Edges = BTreeMap<(String, String), BTreeSet<String>>;

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
pub fn edges(files: &[(String, String)]) -> Edges {
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
pub fn circles(edges: &Edges) -> Vec<BTreeSet<String>> {
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
pub fn arrows(edges: &Edges, circle: &BTreeSet<String>) -> String {
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
/// writes to an emitter that takes operations, and those that are not cut yet. The list may only
/// shrink.
const CIRCLES: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "array.rs",
            "attr.rs",
            "check/mod.rs",
            "check/problem.rs",
            "check/random/mod.rs",
            "check/random/steps.rs",
            "emit.rs",
            "graph.rs",
            "graph/symbols.rs",
            "ops/arg_reduce.rs",
            "ops/at_kink.rs",
            "ops/bessel.rs",
            "ops/betainc.rs",
            "ops/binary/mod.rs",
            "ops/binary/table.rs",
            "ops/bitcast.rs",
            "ops/body.rs",
            "ops/broadcast.rs",
            "ops/call.rs",
            "ops/checkpointing.rs",
            "ops/compare.rs",
            "ops/complex.rs",
            "ops/composite/elementary.rs",
            "ops/composite/fourier.rs",
            "ops/composite/implicit.rs",
            "ops/composite/matrices.rs",
            "ops/composite/mod.rs",
            "ops/composite/nn.rs",
            "ops/composite/products.rs",
            "ops/composite/samplers.rs",
            "ops/composite/spectral.rs",
            "ops/composite/statistics.rs",
            "ops/concatenate.rs",
            "ops/constant.rs",
            "ops/convert.rs",
            "ops/convolution.rs",
            "ops/cumulative.rs",
            "ops/custom_jvp.rs",
            "ops/custom_vjp.rs",
            "ops/dot_general.rs",
            "ops/dynamic_slice.rs",
            "ops/fft.rs",
            "ops/gather.rs",
            "ops/guard.rs",
            "ops/implicit/dense.rs",
            "ops/implicit/iterate.rs",
            "ops/implicit/krylov.rs",
            "ops/implicit/mod.rs",
            "ops/implicit/space.rs",
            "ops/integer_pow.rs",
            "ops/iota.rs",
            "ops/linalg/cholesky.rs",
            "ops/linalg/count.rs",
            "ops/linalg/det.rs",
            "ops/linalg/eig.rs",
            "ops/linalg/eigh.rs",
            "ops/linalg/francis/balance.rs",
            "ops/linalg/francis/complex.rs",
            "ops/linalg/francis/mod.rs",
            "ops/linalg/francis/real.rs",
            "ops/linalg/francis/vectors.rs",
            "ops/linalg/lu.rs",
            "ops/linalg/mod.rs",
            "ops/linalg/qr.rs",
            "ops/linalg/schur.rs",
            "ops/linalg/solve.rs",
            "ops/linalg/spectral.rs",
            "ops/linalg/spectrum.rs",
            "ops/linalg/svd.rs",
            "ops/linalg/triangular_solve.rs",
            "ops/linear_solve.rs",
            "ops/loops.rs",
            "ops/mod.rs",
            "ops/pad.rs",
            "ops/polygamma.rs",
            "ops/recurrence.rs",
            "ops/reduce.rs",
            "ops/reduce_precision.rs",
            "ops/reduce_window.rs",
            "ops/reshape.rs",
            "ops/reverse.rs",
            "ops/round_to.rs",
            "ops/scan.rs",
            "ops/scatter.rs",
            "ops/scatter_recurrence.rs",
            "ops/select.rs",
            "ops/select_window.rs",
            "ops/slice.rs",
            "ops/sliding.rs",
            "ops/sort.rs",
            "ops/special.rs",
            "ops/sums.rs",
            "ops/support.rs",
            "ops/switch.rs",
            "ops/transpose.rs",
            "ops/unary/mod.rs",
            "ops/unary/table.rs",
            "ops/while_loop.rs",
            "ops/windows.rs",
            "primitive.rs",
            "reference.rs",
            "rewrite/algebra.rs",
            "rewrite/dce.rs",
            "rewrite/mod.rs",
            "rewrite/products.rs",
            "rewrite/shifts.rs",
            "rewrite/windows.rs",
            "shape.rs",
            "text/attrs.rs",
            "text/build.rs",
            "text/cursor.rs",
            "text/derive.rs",
            "text/mod.rs",
            "text/names.rs",
            "text/parse.rs",
            "text/print.rs",
            "text/print_attr.rs",
            "text/types.rs",
            "transform/batch.rs",
            "transform/forward.rs",
            "transform/kinks.rs",
            "transform/linear.rs",
            "transform/linearity.rs",
            "transform/linearize.rs",
            "transform/mod.rs",
            "transform/region.rs",
            "transform/session.rs",
            "transform/transpose.rs",
        ],
    ),
    (
        "cpu",
        &[
            "axes.rs",
            "contract.rs",
            "control.rs",
            "convert.rs",
            "elementwise.rs",
            "executor.rs",
            "fuse.rs",
            "fused.rs",
            "linalg.rs",
            "loops.rs",
            "lower.rs",
            "phases.rs",
            "products.rs",
            "program.rs",
            "recurrence.rs",
            "reduce.rs",
            "sliding.rs",
            "sort.rs",
            "tensor.rs",
            "windows.rs",
        ],
    ),
];

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
        let src = format!("crates/{name}/src/");
        let files: Vec<(String, String)> = sources()
            .into_iter()
            .filter(|(f, _)| {
                f.starts_with(&src) && !f.ends_with("tests.rs") && !f.contains("/tests/")
            })
            .map(|(f, text)| (f[src.len()..].to_owned(), text))
            .collect();
        assert!(!files.is_empty(), "{name} has sources");
        let edges = edges(&files);
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
