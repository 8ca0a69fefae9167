//! Pages: their length, and that what they refer to exists.

use crate::{assert_none, pages, root};
use regex_lite::Regex;

/// Lines of pages, at most.
const LENGTHS: &[(&str, usize)] = &[
    ("README.md", 120),
    ("ARCHITECTURE.md", 200),
    ("CONTRIBUTING.md", 80),
];

/// Lines of a version in the changelog, at most.
const VERSION_LINES: usize = 40;

#[test]
fn pages_are_short() {
    let pages = pages();
    let lines = |name: &str| {
        let page = pages.iter().find(|(n, _)| n == name);
        page.unwrap_or_else(|| panic!("{name} exists")).1.lines()
    };
    let mut bad: Vec<String> = LENGTHS
        .iter()
        .map(|(name, most)| (name, lines(name).count(), most))
        .filter(|(_, n, most)| n > most)
        .map(|(name, n, most)| format!("{name}: {n} lines, at most {most}"))
        .collect();
    let (mut version, mut count) = (String::new(), 0);
    for line in lines("CHANGELOG.md").chain(["## end"]) {
        if let Some(next) = line.strip_prefix("## ") {
            if count > VERSION_LINES {
                bad.push(format!("CHANGELOG.md, {version}: {count} lines"));
            }
            (version, count) = (next.to_owned(), 0);
        }
        count += 1;
    }
    assert_none("pages that are too long", bad);
}

/// Anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut fence = false;
    let heading = |line: &str| {
        fence ^= line.starts_with("```");
        let title = line.trim_start_matches('#').strip_prefix(' ')?;
        (line.starts_with('#') && !fence).then(|| {
            let lower = title.to_lowercase();
            let kept = lower.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            });
            kept.collect()
        })
    };
    text.lines().filter_map(heading).collect()
}

/// Links to a heading, in a page or in another one.
#[test]
fn readme_has_the_commands_that_ci_runs() {
    let read = |name: &str| {
        let path = root().join(name);
        std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name} is read: {e}"))
    };
    let (ci, readme) = (read(".ci/run"), read("README.md"));
    let starts = ci
        .lines()
        .find_map(|line| line.strip_prefix("for start in '"));
    let starts = starts
        .and_then(|line| line.strip_suffix("'; do"))
        .expect("a loop over commands");
    let starts: Vec<&str> = starts.split("' '").collect();
    assert!(starts.contains(&"cargo test"), "{starts:?}");
    let missing = starts
        .into_iter()
        .filter(|start| !readme.lines().any(|l| l.starts_with(start)));
    assert_none(
        "commands of .ci/run that start no line of README.md",
        missing.map(str::to_owned).collect(),
    );
}

#[test]
fn readme_has_each_chapter_for_users_of_another_library() {
    let pages = pages();
    let readme = &pages
        .iter()
        .find(|(name, _)| name == "README.md")
        .expect("a README")
        .1;
    let chapters = pages
        .iter()
        .filter(|(name, _)| name.starts_with("book/src/from-"));
    let chapters: Vec<&String> = chapters.map(|(name, _)| name).collect();
    assert!(chapters.len() >= 4, "{chapters:?}");
    let missing = chapters
        .into_iter()
        .filter(|name| !readme.contains(&format!("({name})")));
    assert_none(
        "chapters that README.md does not link",
        missing.cloned().collect(),
    );
}

#[test]
fn anchors_of_links_exist() {
    let link = Regex::new(r"\]\(([^)#:\s]*)#([^)\s]+)\)").expect("a regular expression");
    let pages = pages();
    let mut bad = Vec::new();
    let mut seen = 0;
    for (name, text) in &pages {
        let folder = root().join(name).parent().expect("a folder").to_owned();
        for found in link.captures_iter(text) {
            seen += 1;
            let path = match &found[1] {
                "" => root().join(name),
                file => folder.join(file),
            };
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if !anchors(&text).iter().any(|a| *a == found[2]) {
                bad.push(format!("{name}: {}#{}", &found[1], &found[2]));
            }
        }
    }
    assert!(seen > 100, "the reference has links to headings");
    assert_none("links to headings that do not exist", bad);
}

#[test]
fn anchors_are_those_of_headings() {
    let text = "# One `two` (3)\n```\n# code\n```\n## The_end: it is\n";
    assert_eq!(anchors(text), ["one-two-3", "the_end-it-is"]);
}

/// Links to files, and paths in code spans that begin with a folder of the repository.
#[test]
fn what_pages_refer_to_exists() {
    let link = Regex::new(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)").expect("a regular expression");
    let path = Regex::new(
        r"`((?:book|crates|docs|examples|benches|tests|fuzz)/[\w./-]+|[A-Z]+\.md|\.ci/run|justfile)`",
    )
    .expect("a regular expression");
    let root = root();
    let mut bad = Vec::new();
    let mut seen = 0;
    for (name, text) in pages().iter().filter(|(n, _)| n != "CHANGELOG.md") {
        let folder = root.join(name).parent().expect("a folder").to_owned();
        let links = link
            .captures_iter(text)
            .map(|l| (folder.join(&l[1]), l[1].to_owned()));
        let paths = path
            .captures_iter(text)
            .map(|p| (root.join(&p[1]), p[1].to_owned()));
        for (to, as_written) in links.chain(paths) {
            seen += 1;
            if !to.exists() {
                bad.push(format!("{name}: {as_written}"));
            }
        }
    }
    assert!(seen > 50, "pages refer to files");
    assert_none("pages that refer to what does not exist", bad);
}
