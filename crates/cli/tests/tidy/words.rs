//! Words and names: `words.txt` beside this file says which are not used, and what is written
//! instead.

use crate::source::{Prose, ProseKind, Source, paragraphs};
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

/// A text or a name that a rule forbids.
struct Hit {
    line: usize,
    what: String,
    instead: &'static str,
}

/// The part of a text around a match, with 30 bytes on each side.
fn around(text: &str, found: std::ops::Range<usize>) -> String {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(found.start.saturating_sub(30));
    let end = boundary((found.end + 30).min(text.len()));
    format!("\"{}\"", &text[start..end])
}

/// Hits of the rules in comments, strings and pages.
fn prose_hits(rules: &[&Rule], prose: &[Prose]) -> Vec<Hit> {
    let mut out = Vec::new();
    for (rule, p) in rules
        .iter()
        .flat_map(|rule| prose.iter().map(move |p| (rule, p)))
    {
        let applies = match rule.scope {
            "prose" => true,
            "doc" => p.kind == ProseKind::Doc,
            "safety" => p.kind == ProseKind::Comment,
            _ => false,
        };
        out.extend(
            rule.pattern
                .find_iter(&p.text)
                .filter(|_| applies)
                .map(|found| Hit {
                    line: p.line,
                    what: around(&p.text, found.range()),
                    instead: rule.instead,
                }),
        );
    }
    out
}

/// Declared names that the rules forbid.
fn name_hits(rules: &[&Rule], code: &str) -> Vec<Hit> {
    let declarations = [
        (
            "type",
            r"(?m)^(?:\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe )?(?:struct|enum|union|trait)|(?:pub(?:\([^)]*\))?\s+)?type)\s+(\w+)",
        ),
        (
            "const",
            r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:\s*(?:[iu](?:8|16|32|64|size)|f32|f64)\b",
        ),
    ];
    let mut out = Vec::new();
    for (scope, declaration) in declarations {
        let declaration = Regex::new(declaration).expect("a regular expression");
        for name in declaration
            .captures_iter(code)
            .filter_map(|found| found.get(1))
        {
            let rules = rules.iter().filter(|rule| rule.scope == scope);
            out.extend(
                rules
                    .filter(|rule| rule.pattern.is_match(name.as_str()))
                    .map(|rule| Hit {
                        line: code[..name.start()].matches('\n').count() + 1,
                        what: format!("`{}`", name.as_str()),
                        instead: rule.instead,
                    }),
            );
        }
    }
    out
}

/// Hits of the rules in a file.
fn hits(rules: &[Rule], file: &str, text: &str) -> Vec<Hit> {
    let here =
        |rule: &&Rule| rule.folders.is_empty() || rule.folders.iter().any(|f| file.starts_with(f));
    let rules: Vec<&Rule> = rules.iter().filter(here).collect();
    if file.ends_with(".md") {
        return prose_hits(&rules, &paragraphs(text));
    }
    let source = Source::of(text);
    let mut out = prose_hits(&rules, &source.prose);
    out.extend(name_hits(&rules, &source.code));
    out
}

#[test]
fn words_are_the_fields() {
    let rules = rules();
    let (mut bad, mut used) = (Vec::new(), vec![false; PERMITTED.len()]);
    // This file has forbidden words in its tests.
    let files = sources().into_iter().chain(pages());
    for (file, text) in files.filter(|(f, _)| !f.ends_with("tests/tidy/words.rs")) {
        for Hit {
            line,
            what,
            instead,
        } in hits(&rules, &file, &text)
        {
            let permitted = |(f, part): &(&str, &str)| file.ends_with(f) && what.contains(part);
            match PERMITTED.iter().position(permitted) {
                Some(i) => used[i] = true,
                None => bad.push(format!("{file}:{line}: {what}: write {instead}")),
            }
        }
    }
    assert_none(
        "words that a reader who never saw this repository stumbles over (words.txt)",
        bad,
    );
    let idle = PERMITTED.iter().zip(used).filter(|(_, used)| !used);
    let idle = idle.map(|((file, part), _)| format!("{file}: {part}"));
    assert_none("exceptions that nothing needs", idle.collect());
}

#[test]
fn the_rules_for_words_see_what_they_forbid() {
    let text = "/// What is\n/// left.\nstruct Row;\n// SAFETY: as stated.\nconst FEW: usize = 2; // so\n// many\nfn f() { g(\"by turns\") }\n";
    let found = hits(&rules(), "crates/kernels/src/x.rs", text);
    let found: Vec<String> = found.into_iter().map(|hit| hit.what).collect();
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(hits(&rules(), "README.md", "```\nat once\n```\n").is_empty());
    assert_eq!(hits(&rules(), "README.md", "All at\nonce.\n").len(), 1);
}

/// Types and constants that several files of a crate use have different names.
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
