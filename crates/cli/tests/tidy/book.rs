//! The book: its table of contents, the form of its chapters, links inside it, and that its
//! programs are tests.

use crate::{assert_none, pages, root};
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::fs;

/// Lines of a chapter, at most. The reference of operations is generated and not limited.
const CHAPTER_LINES: usize = 250;

/// Chapters without a program.
const WITHOUT_PROGRAM: &[&str] = &["introduction", "glossary"];

/// Pages of the book but its table of contents: name without folder and extension, and text.
fn chapters() -> Vec<(String, String)> {
    let name = |file: &str| {
        let name = file.strip_prefix("book/src/")?.strip_suffix(".md")?;
        (name != "SUMMARY").then(|| name.to_owned())
    };
    let all: Vec<(String, String)> = pages()
        .into_iter()
        .filter_map(|(file, text)| Some((name(&file)?, text)))
        .collect();
    assert!(all.len() > 20, "the book has chapters");
    all
}

/// Chapters that a person wrote.
fn written() -> impl Iterator<Item = (String, String)> {
    chapters()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("reference/"))
}

/// Fenced blocks of a language.
fn programs<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let mut parts = text.split("\n```");
    parts.next();
    parts
        .step_by(2)
        .filter_map(|b| b.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

/// Fenced blocks of Rust.
fn rust(text: &str) -> Vec<&str> {
    programs(text, "rust")
}

/// Whether a page has sessions of Python: `python/tests/test_book.py` runs them, and compares what
/// they print.
fn has_sessions(text: &str) -> bool {
    programs(text, "python")
        .iter()
        .any(|b| b.starts_with(">>> "))
}

#[test]
fn the_contents_list_every_page_once() {
    let summary = fs::read_to_string(root().join("book/src/SUMMARY.md")).unwrap();
    let link = Regex::new(r"\]\(([^)]+)\.md\)").unwrap();
    let listed: Vec<String> = link
        .captures_iter(&summary)
        .map(|l| l[1].to_owned())
        .collect();
    let set: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice");
    let chapters = chapters();
    let there: BTreeSet<&String> = chapters.iter().map(|c| &c.0).collect();
    let difference = there.symmetric_difference(&set).map(|n| n.to_string());
    assert_none(
        "pages that are not listed, or not there",
        difference.collect(),
    );
}

#[test]
fn chapters_have_their_form() {
    let mut bad = Vec::new();
    for (name, text) in written() {
        let mut say = |what: &str| bad.push(format!("{name}.md: {what}"));
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > CHAPTER_LINES {
            say(&format!("{} lines, at most {CHAPTER_LINES}", lines.len()));
        }
        let opens = ["After this chapter", "After this page"];
        if !lines[0].starts_with("# ") || !opens.iter().any(|o| lines[2].starts_with(o)) {
            say("does not open with what the reader can do after it");
        }
        let end = text.split("\n## Next\n").nth(1).unwrap_or_default();
        let links = end.lines().filter(|l| l.starts_with("- [")).count();
        if links != 3 || end.lines().filter(|l| !l.is_empty()).count() != 3 {
            say("does not end with three links under `## Next`");
        }
        let asserts = rust(&text).iter().any(|b| b.contains("assert")) || has_sessions(&text);
        if !asserts && !WITHOUT_PROGRAM.contains(&name.as_str()) {
            say("has no program with an assertion");
        }
    }
    assert_none("chapters", bad);
}

/// Prose of the book has a sentence on each line, and a line for each sentence.
#[test]
fn the_book_has_one_sentence_per_line() {
    let code = Regex::new(r"`[^`]*`").unwrap();
    let two = Regex::new(r"[.!?]\)? +[A-Z(]").unwrap();
    let item = Regex::new(r"^\s*(?:-|\d+\.) ").unwrap();
    let mut bad = Vec::new();
    for (name, text) in written() {
        let (mut fence, mut last) = (false, String::new());
        for (k, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                (fence, last) = (!fence, String::new());
                continue;
            }
            let other = line.is_empty() || line.starts_with(['#', '|', '{']);
            if fence || other {
                last.clear();
                continue;
            }
            let begins = item.is_match(line);
            let plain = code.replace_all(line, "x").into_owned();
            let plain = item.replace(&plain, "").trim().to_owned();
            if two.is_match(&plain) {
                bad.push(format!("{name}.md:{}: two sentences", k + 1));
            }
            if !last.is_empty() && !begins && !last.ends_with(['.', ':', '?', '!', ')']) {
                bad.push(format!("{name}.md:{k}: a sentence on two lines"));
            }
            last = plain;
        }
    }
    assert_none("lines of the book", bad);
}

/// The built book has no other files, so links of its pages stay inside.
#[test]
fn links_of_the_book_stay_inside() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut bad = Vec::new();
    for (name, text) in chapters() {
        for to in link.captures_iter(&text).map(|l| l[1].to_owned()) {
            if to.contains("..") && !name.contains('/') {
                bad.push(format!("{name}.md: {to}"));
            }
        }
    }
    assert_none("links that leave the book", bad);
}

/// A chapter with Rust programs is included as documentation of a crate, or compared with a test.
#[test]
fn programs_of_the_book_are_tests() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let libraries = read("crates/cotangent/src/lib.rs") + &read("crates/core/src/lib.rs");
    let tour = tour();
    let without = |(name, text): (String, String)| {
        let included = libraries.contains(&format!("\"{name}.md\""))
            || libraries.contains(&format!("book/src/{name}.md\""));
        let tested = included || tour.contains(&name.as_str());
        (!rust(&text).is_empty() && !tested).then_some(name)
    };
    let bad = chapters().into_iter().filter_map(without).collect();
    assert_none("chapters whose programs no test runs", bad);
}

/// The chapters of the tour, in order.
fn tour() -> [&'static str; 3] {
    ["tour", "tour-linearize", "tour-transpose"]
}

/// The tour is one program in three chapters. `BLESS=1` writes the test that runs it.
#[test]
fn the_tour_is_its_test() {
    let all = chapters();
    let text = |name: &str| {
        all.iter()
            .find(|c| c.0 == name)
            .expect("a chapter")
            .1
            .as_str()
    };
    let blocks: Vec<&str> = tour().iter().flat_map(|name| rust(text(name))).collect();
    let text = blocks.join("\n\n") + "\n";
    let path = root().join("crates/core/tests/tour.rs");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let same = fs::read_to_string(path).unwrap_or_default() == text;
    assert!(
        same,
        "crates/core/tests/tour.rs differs from the tour: BLESS=1 writes it"
    );
}

/// The page of conventions names each test of a convention, and no other.
#[test]
fn the_page_of_conventions_names_its_tests() {
    let test = Regex::new(r"\bl\d+_\w+").unwrap();
    let names = |text: &str| -> BTreeSet<String> {
        test.find_iter(text)
            .map(|m| m.as_str().to_owned())
            .collect()
    };
    let mut tests = BTreeSet::new();
    let function = Regex::new(r"fn (l\d+_\w+)").unwrap();
    for entry in fs::read_dir(root().join("crates/core/tests/conventions"))
        .unwrap()
        .flatten()
    {
        let text = fs::read_to_string(entry.path()).unwrap();
        tests.extend(function.captures_iter(&text).map(|f| f[1].to_owned()));
    }
    let page = fs::read_to_string(root().join("book/src/conventions.md")).unwrap();
    let difference = names(&page).symmetric_difference(&tests).cloned().collect();
    assert_none("tests without a row, and rows without a test", difference);
}

#[test]
fn programs_of_the_book_take_the_short_way() {
    let mut bad = Vec::new();
    for (name, text) in written() {
        for program in rust(&text) {
            // A known tensor is read by itself, and a closure of a transform returns a plain `Ok`.
            for detour in [
                "to_tensor()?.item",
                "to_tensor()?.to_vec",
                "TracedTensor| Ok::<",
            ] {
                if program.contains(detour) {
                    bad.push(format!("{name}.md: {detour}"));
                }
            }
        }
    }
    assert_none("detours", bad);
}

#[test]
fn the_first_pages_begin_with_closures_and_eager_tensors() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    for file in [
        "README.md",
        "book/src/first-steps.md",
        "crates/cotangent/src/lib.rs",
    ] {
        let text = read(file).to_lowercase();
        let at = |what: &str| text.find(what).unwrap_or(usize::MAX);
        let first = at("closures").max(at("eager"));
        assert!(first < at("builder").min(at("tgraph.module")), "{file}");
    }
    let profile = "[profile.dev.package.\"*\"]\nopt-level = 3\n";
    assert!(read("book/src/first-steps.md").contains(profile));
    let page = read("crates/cotangent/src/lib.rs");
    let table = page.find("| interface | tensor | error |");
    assert!(table.is_some_and(|t| t < page.find("pub mod").unwrap()));
}
