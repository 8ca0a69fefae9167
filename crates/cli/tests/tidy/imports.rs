//! Imports between the files of one crate: circles among them, and layers.
//!
//! An import is a `use` declaration, a path that begins with `crate`, `super`, `self` or a child module, or a name that a file
//! re-exports and uses itself. A `pub use` is followed to the defining file. Tests, comments and `lib.rs` are not read.

use crate::source::without_comments;
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// A module path, without the crate.
type Path = Vec<String>;

/// The names that one file imports from another, by both files (from `src/`).
pub type Edges = BTreeMap<(String, String), BTreeSet<String>>;

fn module(file: &str) -> Path {
    let mut parts: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// `a::{b, c::{d, e}}` as a list of paths.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, list)) = tree.split_once('{') else { return vec![tree.to_owned()] };
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
    parts.flat_map(|p| expanded(&format!("{head}{}", p.trim()))).collect()
}

/// The modules of a crate and what they re-export.
struct Crate {
    modules: BTreeMap<Path, String>,
    reexports: BTreeMap<Path, Path>,
}

impl Crate {
    /// The path that `path` means in the module `me`; `None` for another crate's.
    fn absolute(&self, path: &str, me: &Path) -> Option<Path> {
        let parts: Path =
            path.split("::").map(|p| p.trim().split(" as ").next().unwrap_or_default().trim().to_owned()).collect();
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
        self.modules.contains_key(&child).then(|| [me.as_slice(), &parts].concat())
    }

    /// The file that defines what a path names, and the name.
    fn resolved(&self, path: &Path, depth: usize) -> Option<(String, String)> {
        let follow = |path: &Path, rest: &[String]| {
            let to = self.reexports.get(path).filter(|to| *to != path && depth < 8)?;
            self.resolved(&[to.as_slice(), rest].concat(), depth + 1)
        };
        if let Some(found) = follow(path, &[]) {
            return Some(found);
        }
        for k in (0..=path.len()).rev() {
            let Some(file) = self.modules.get(&path[..k]) else { continue };
            let Some(name) = path.get(k) else { return Some((file.clone(), "*".to_owned())) };
            let through = follow(&path[..=k].to_vec(), &path[k + 1..]);
            return Some(through.unwrap_or_else(|| (file.clone(), name.clone())));
        }
        None
    }
}

/// The imports between the files of a crate: `files` are names from `src/` and texts.
pub fn edges(files: &[(String, String)]) -> Edges {
    let declaration = Regex::new(r"(?:^|\n)\s*(pub(?:\([^)]*\))? )?use ([^;]+);").expect("a regular expression");
    let absolute = Regex::new(r"\b((?:crate|super)(?:::\w+)+)").expect("a regular expression");
    let child = Regex::new(r"\b([a-z_]\w*)::(\w+)").expect("a regular expression");
    let modules = files.iter().map(|(f, _)| (module(f), f.clone())).collect();
    let mut all = Crate { modules, reexports: BTreeMap::new() };
    let mut paths: Vec<(&String, Path, bool)> = Vec::new();
    for (file, text) in files {
        let (me, text) = (module(file), without_comments(text));
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut own = Vec::new();
        for found in declaration.captures_iter(text) {
            let public = found.get(1).is_some();
            for path in expanded(&found[2].replace('\n', " ")) {
                let Some(to) = all.absolute(&path, &me) else { continue };
                if let Some(name) = to.last().filter(|_| public) {
                    let alias = [me.as_slice(), std::slice::from_ref(name)].concat();
                    own.push((alias.clone(), to.clone()));
                    all.reexports.insert(alias, to.clone());
                }
                paths.push((file, to, public));
            }
        }
        let body = declaration.replace_all(text, "\n");
        let inside = |at: usize| body[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        for found in absolute.captures_iter(&body) {
            paths.extend(all.absolute(&found[1], &me).map(|to| (file, to, false)));
        }
        for found in child.captures_iter(&body).filter(|f| !inside(f.get(0).expect("the whole").start())) {
            let to = [me.as_slice(), &[found[1].to_owned()]].concat();
            if all.modules.contains_key(&to) && !["crate", "super", "self", "std"].contains(&&found[1]) {
                paths.push((file, [to.as_slice(), &[found[2].to_owned()]].concat(), false));
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
        let Some((target, name)) = all.resolved(&to, 0) else { continue };
        let child = module(&target).starts_with(&module(file));
        if target != *file && !(public && child) && target != "lib.rs" && file != "lib.rs" {
            edges.entry((file.clone(), target)).or_default().insert(name);
        }
    }
    edges
}

/// Sets of files that import each other, the smallest first.
pub fn circles(edges: &Edges) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            for ((_, to), _) in edges.range((file.clone(), String::new())..).take_while(|((a, _), _)| a == file) {
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        seen
    };
    let files: BTreeSet<&String> = edges.keys().flat_map(|(a, b)| [a, b]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> = files.iter().map(|f| (*f, reach(f))).collect();
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
    let inside = edges.iter().filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
    let line = |((a, b), names): (&(String, String), &BTreeSet<String>)| {
        format!("    {a} -> {b} : {}\n", names.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    inside.map(line).collect()
}
