//! Words and names: `words.txt` beside this file says which are not used, and what is written
//! instead.

use crate::source::{Kind, Source, paragraphs};
use crate::{assert_none, pages, sources};
use regex_lite::Regex;
use std::collections::BTreeMap;

/// A rule of `words.txt`.
struct Rule {
    scope: &'static str,
    pattern: Regex,
    instead: &'static str,
    folders: Vec<&'static str>,
}

/// Hits that stay: file, a part of the text. Types that users have, and types of the runtime that
/// its successor replaces.
const PERMITTED: &[(&str, &str)] = &[
    ("core/src/array.rs", "`Wide`"),
    ("core/src/dtype.rs", "`Kind`"),
    ("core/src/ops/entry.rs", "`Spelled`"),
    ("core/src/ops/linalg/triangular_solve.rs", "`Turn`"),
    ("core/src/transform/kinks.rs", "`Step`"),
    ("cpu/src/fuse.rs", "`How`"),
    ("cpu/src/fuse.rs", "`Part`"),
    ("cpu/src/fused.rs", "`Place`"),
    ("cpu/src/memory.rs", "`Made`"),
    ("cpu/src/phases.rs", "`Made`"),
    ("cpu/src/phases.rs", "`Room`"),
    ("cpu/src/phases.rs", "`Passing`"),
    ("cpu/src/phases.rs", "`Run`"),
    ("cpu/src/products.rs", "`Cut`"),
    ("cpu/src/program.rs", "`Step`"),
    ("cpu/src/program.rs", "`Slot`"),
    ("cpu/src/program.rs", "`Slots`"),
    ("cpu/src/recurrence.rs", "`Known`"),
    ("cpu/src/tiny.rs", "`Place`"),
];

fn rules() -> Vec<Rule> {
    let lines = include_str!("words.txt")
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let rule = |line: &'static str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [scope, pattern, instead, folders @ ..] = parts.as_slice() else {
            panic!("three columns: {line}")
        };
        let folders = folders.iter().flat_map(|f| f.split(',')).collect();
        Rule {
            scope,
            pattern: Regex::new(pattern).expect("a regular expression"),
            instead,
            folders,
        }
    };
    lines.map(rule).collect()
}

/// Lines of a file that a rule forbids.
fn hits(rules: &[Rule], file: &str, text: &str) -> Vec<String> {
    let (prose, code) = match file.ends_with(".md") {
        true => (paragraphs(text), String::new()),
        false => {
            let source = Source::of(text);
            (source.prose, source.code)
        }
    };
    let declared = [
        (
            "type",
            Regex::new(
                r"(?m)^(?:\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe )?(?:struct|enum|union|trait)|(?:pub(?:\([^)]*\))?\s+)?type)\s+(\w+)",
            ),
        ),
        (
            "const",
            Regex::new(
                r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:\s*(?:[iu](?:8|16|32|64|size)|f32|f64)\b",
            ),
        ),
    ];
    let mut out = Vec::new();
    for rule in rules
        .iter()
        .filter(|r| r.folders.is_empty() || r.folders.iter().any(|f| file.starts_with(f)))
    {
        let mut hit = |line: usize, what: &str| {
            if !PERMITTED
                .iter()
                .any(|(f, part)| file.ends_with(f) && what.contains(part))
            {
                out.push(format!("{file}:{line}: {what}: write {}", rule.instead));
            }
        };
        for p in &prose {
            let applies = match rule.scope {
                "prose" => true,
                "doc" => p.kind == Kind::Doc,
                "safety" => p.kind == Kind::Comment,
                _ => false,
            };
            for found in rule.pattern.find_iter(&p.text).filter(|_| applies) {
                let around = |at: usize, by: isize| {
                    let mut at = at.saturating_add_signed(by).min(p.text.len());
                    while !p.text.is_char_boundary(at) {
                        at -= 1;
                    }
                    at
                };
                hit(
                    p.line,
                    &format!(
                        "\"{}\"",
                        &p.text[around(found.start(), -30)..around(found.end(), 30)]
                    ),
                );
            }
        }
        for (_, declared) in declared.iter().filter(|(scope, _)| *scope == rule.scope) {
            for found in declared
                .as_ref()
                .expect("a regular expression")
                .captures_iter(&code)
            {
                let name = found.get(1).expect("a name");
                if rule.pattern.is_match(name.as_str()) {
                    let line = code[..name.start()].matches('\n').count() + 1;
                    hit(line, &format!("`{}`", name.as_str()));
                }
            }
        }
    }
    out
}

#[test]
fn words_are_the_fields() {
    let rules = rules();
    let files = sources().into_iter().chain(pages());
    let bad = files
        .filter(|(f, _)| !f.contains("tests/tidy/"))
        .flat_map(|(f, text)| hits(&rules, &f, &text));
    assert_none(
        "words that a reader who never saw this repository stumbles over (words.txt)",
        bad.collect(),
    );
}

#[test]
fn the_rules_for_words_see_what_they_forbid() {
    let text = "/// What is\n/// left.\nstruct Row;\n// SAFETY: as stated.\nconst FEW: usize = 2; // so\n// many\nfn f() { g(\"by turns\") }\n";
    let found = hits(&rules(), "crates/kernels/src/x.rs", text);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(hits(&rules(), "README.md", "```\nat once\n```\n").is_empty());
    assert_eq!(hits(&rules(), "README.md", "All at\nonce.\n").len(), 1);
}

/// What other files of a crate see has a name of its own: two types, or two constants, that several
/// files use are not called the same.
#[test]
fn names_that_files_share_are_unique() {
    let item =
        Regex::new(r"(?m)^pub(?:\([^)]*\))?\s+(?:unsafe )?(?:struct|enum|union|trait|type|const|static)\s+(\w+)")
            .expect("a regular expression");
    let mut all: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (file, text) in sources()
        .into_iter()
        .filter(|(f, _)| f.starts_with("crates/") && f.contains("/src/"))
    {
        let code = Source::of(&text).code;
        let code = code
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default()
            .to_owned();
        for found in item.captures_iter(&code).filter(|f| &f[1] != "_") {
            let name = file.split('/').nth(1).unwrap_or_default().to_owned();
            all.entry((name, found[1].to_owned()))
                .or_default()
                .push(file.clone());
        }
    }
    let twice = all.into_iter().filter(|(_, files)| files.len() > 1);
    assert_none(
        "names declared twice",
        twice
            .map(|((_, name), files)| format!("{name}: {}", files.join(", ")))
            .collect(),
    );
}

/// Comments have at most 100 columns, but for code fences, tables and targets of links. rustfmt
/// sees to code.
#[test]
fn comments_have_at_most_100_columns() {
    let mut bad = Vec::new();
    for (file, text) in sources() {
        let mut fence = false;
        for (i, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            let mark = line
                .trim_start()
                .trim_start_matches(['/', '!'])
                .trim_start();
            fence = comment && (fence != mark.starts_with("```"));
            let whole = mark.starts_with('|') || (mark.starts_with('[') && mark.contains("]: "));
            if comment && !fence && !whole && line.chars().count() > 100 {
                bad.push(format!(
                    "{file}:{}: {} columns",
                    i + 1,
                    line.chars().count()
                ));
            }
        }
    }
    assert_none("comments wider than 100 columns", bad);
}
