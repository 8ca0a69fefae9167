//! The programs of the book: commands run and print what the page shows, `.tgraph` programs are
//! parsed, derived and run. `BLESS=1` rewrites the outputs; review the diff.
//!
//! A block `tgraph` whose first line is `// NAME.tgraph` is a file of that name for the commands
//! below it; `tgraph-error` is one that cannot be read. A block `sh` that calls `cotangent` is run
//! by a shell in a folder with these files and with the examples, and compared with the block
//! `text` that follows it.
#![cfg(unix)]

mod block;

use block::{Block, blocks};
use cotangent::check::points;
use cotangent::{AdContext, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folder of the programs of a page, with a copy of the examples.
fn workplace(page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{page}"));
    let examples = folder.join("examples");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&examples).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), examples.join(entry.file_name())).unwrap();
        }
    }
    folder
}

/// Runs commands in a shell whose path has this command line. Returns output and errors together.
fn shell(folder: &Path, commands: &str) -> (String, bool) {
    let bin = Path::new(env!("CARGO_BIN_EXE_cotangent")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("COTANGENT_") {
            command.env_remove(name);
        }
    }
    let run = command
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", bin.display()))
        .args(["-c", &format!("exec 2>&1\nset -e\n{commands}")])
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    (text, run.status.success())
}

/// Parses a program, derives its directives, and runs each module on a generated point.
fn run_program(name: &str, source: &str) {
    let program = text::Program::parse(source, Some(name))
        .and_then(|p| p.derive(&AdContext::default()))
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    for f in program.modules() {
        // A point may be outside of the domain of a solver: one of them is enough.
        let runs = |x: cotangent::Result<Vec<_>>| cotangent::run(f, &x?);
        let mut first = None;
        let ran = points(f).any(|x| match runs(x) {
            Ok(_) => true,
            Err(e) => {
                first.get_or_insert(e);
                false
            }
        });
        assert!(ran, "{name}: @{} runs at no point: {first:?}", f.name);
    }
}

/// Whether a block `sh` is run.
fn calls_the_command_line(b: &Block) -> bool {
    b.info == "sh" && b.body.split_whitespace().any(|w| w == "cotangent")
}

/// Runs the programs of a page. Returns its text with the outputs of this run.
fn run_page(page: &str, source: &str) -> String {
    let folder = workplace(page);
    let all = blocks(source);
    let mut out = source.to_owned();
    let mut replaced: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for (k, b) in all.iter().enumerate() {
        if let Some(name) = b.file_name() {
            fs::write(folder.join(name), b.body).unwrap();
        }
        match b.info {
            "tgraph" => run_program(b.file_name().unwrap_or(page), b.body),
            "tgraph-error" => assert!(
                text::Program::parse(b.body, None).is_err(),
                "{page}: line {}: the program is right",
                b.line
            ),
            _ => {}
        }
        if calls_the_command_line(b) {
            let (text, good) = shell(&folder, b.body);
            let fails = text.lines().any(|l| l.starts_with("error: "));
            assert!(good || fails, "{page}, line {}: {text}", b.line);
            if let Some(next) = all
                .get(k + 1)
                .filter(|n| n.info == "text" && n.follows(b, source))
            {
                replaced.push((next.range.clone(), text));
            } else {
                assert!(good, "{page}, line {}: {text}", b.line);
            }
        }
    }
    for (range, text) in replaced.into_iter().rev() {
        out.replace_range(range, &text);
    }
    fs::remove_dir_all(folder).unwrap();
    out
}

#[test]
fn commands_print_what_the_book_shows() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut bad = Vec::new();
    let mut commands = 0;
    for entry in fs::read_dir(root().join("book/src")).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        let page = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).unwrap();
        commands += blocks(&source)
            .iter()
            .filter(|b| calls_the_command_line(b))
            .count();
        let now = run_page(&page, &source);
        if bless && now != source {
            fs::write(&path, now).unwrap();
        } else if now != source {
            let lines = source.lines().zip(now.lines());
            let (k, (was, is)) = lines
                .enumerate()
                .find(|(_, (a, b))| a != b)
                .unwrap_or((0, ("", "")));
            bad.push(format!("{page}.md:{}: {was:?} is now {is:?}", k + 1));
        }
    }
    assert!(commands > 15, "the book has commands");
    assert!(
        bad.is_empty(),
        "BLESS=1 rewrites these outputs:\n{}",
        bad.join("\n")
    );
}

/// Each row of "Find your way" that names a command: it runs, on an example.
#[test]
fn the_commands_of_the_readmes_table_run() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let table = readme.split("## Find your way").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let folder = workplace("readme");
    let mut seen = 0;
    for code in table
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|c| c.starts_with("cotangent "))
    {
        let command = code
            .replace("FILE", "examples/attention.tgraph")
            .replace("NAME", "sin");
        let (text, good) = shell(&folder, &command);
        assert!(good && !text.is_empty(), "{code}: {text}");
        seen += 1;
    }
    assert!(seen >= 3, "the table names commands");
    fs::remove_dir_all(folder).unwrap();
}

/// The page of the command line lists the options of `--help`.
#[test]
fn the_page_of_the_command_line_has_every_option() {
    let page = fs::read_to_string(root().join("book/src/command-line.md")).unwrap();
    let folder = workplace("help");
    let words = |text: &str, from: &str| {
        let mut out: Vec<String> = text
            .split(|c: char| c.is_whitespace() || "[]|`,".contains(c))
            .filter(|w| w.starts_with(from))
            .map(str::to_owned)
            .collect();
        out.sort();
        out.dedup();
        out
    };
    let mut rows = 0;
    for row in page
        .lines()
        .filter(|l| l.starts_with("| `") && l.matches('|').count() == 3)
    {
        let command = row.split('`').nth(1).unwrap();
        let (help, good) = shell(&folder, &format!("cotangent {command} --help"));
        if !good || command.contains(|c: char| !c.is_ascii_lowercase()) {
            continue;
        }
        rows += 1;
        let usage = help.lines().next().unwrap();
        assert_eq!(words(usage, "--"), words(row, "--"), "{command}");
        for option in words(usage, "--") {
            assert!(page.contains(&format!("`{option}")), "{option}");
        }
    }
    assert_eq!(rows, 16, "a row per command");
    fs::remove_dir_all(folder).unwrap();
}
