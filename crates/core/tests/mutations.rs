//! Damaged texts, with parts removed, duplicated, moved or replaced. The parser returns a program
//! or an error with a location; it does not panic. A parsed program prints, and the printed text
//! parses to the same program. The files of `tests/regressions` are former failures.

use cotangent_core::check::Rng;
use cotangent_core::text::Program;
use cotangent_core::{AdContext, Loc, verify};
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let all = std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut all: Vec<PathBuf> = all
        .map(|f| f.unwrap().path())
        .filter(|p| p.extension().is_some())
        .collect();
    all.sort();
    all.into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "tgraph"))
        .map(|p| (p.clone(), text(&p)))
        .collect()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Parses, prints, parses again, and differentiates a text.
fn survives(text: &str) -> bool {
    let program = match Program::parse(text, None) {
        Ok(program) => program,
        Err(e) => {
            assert!(
                !matches!(e.loc(), Loc::None),
                "an error without a place: {e}\n{text}"
            );
            return false;
        }
    };
    let once = program.to_string();
    let again = Program::parse(&once, None)
        .unwrap_or_else(|e| panic!("canonical text is not read: {e}\n{once}"));
    assert_eq!(once, again.to_string());
    if let Ok(derived) = program.derive(&AdContext::default()) {
        derived
            .modules()
            .for_each(|f| verify(f).unwrap_or_else(|e| panic!("{e}\n{derived}")));
        let text = derived.to_string();
        Program::parse(&text, None)
            .unwrap_or_else(|e| panic!("derived text is not read: {e}\n{text}"));
    }
    true
}

/// A random range of whole characters, shorter than `longest`.
fn piece(text: &str, r: &mut Rng, longest: usize) -> (usize, usize) {
    let whole = |at: usize| {
        (0..=at)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0)
    };
    let from = whole(r.below(text.len() + 1));
    (from, whole(from + r.below(longest)).max(from))
}

fn damage(text: &str, r: &mut Rng) -> String {
    let bits = "( ) { } [ ] < > , : = -> \" % @ # ? x / * + - . 0 1 -1 9223372036854775807 1e309 nan inf true f32 i64 bool \
                tensor< tgraph.arg tgraph.return tgraph.module tgraph.sum tgraph.call tgraph.while wrt to_apply \u{e9} //";
    let bits: Vec<&str> = bits.split(' ').collect();
    let mut text = text.to_owned();
    for _ in 0..1 + r.below(3) {
        let (from, to) = piece(&text, r, 12);
        match r.below(6) {
            0 => text.replace_range(from..to, ""),
            1 => text.replace_range(from..to, bits[r.below(bits.len())]),
            2 => text.insert_str(from, bits[r.below(bits.len())]),
            3 => {
                let (a, b) = piece(&text, r, 60);
                let copy = text[a..b].to_owned();
                text.insert_str(from, &copy);
            }
            4 => {
                // Swaps two parts.
                let (a, b) = piece(&text, r, 12);
                let (one, two) = (text[from..to].to_owned(), text[a..b].to_owned());
                if !one.is_empty() && !two.is_empty() {
                    text = text.replacen(&one, &two, 1);
                }
            }
            _ => text.truncate(from),
        }
    }
    text
}

#[test]
fn damaged_programs_never_panic() {
    let sources: Vec<(PathBuf, String)> = [files("examples"), files("tests/graphs")].concat();
    assert!(sources.len() > 8);
    let mut r = Rng::new(11);
    let (mut read, mut refused) = (0, 0);
    for (_, source) in &sources {
        for _ in 0..120 {
            match survives(&damage(source, &mut r)) {
                true => read += 1,
                false => refused += 1,
            }
        }
    }
    assert!(
        read > 50 && refused > 50,
        "{read} were read and {refused} refused: too much or too little damage"
    );
}

#[test]
fn texts_that_once_failed() {
    for (path, source) in files("tests/regressions") {
        println!("{}", path.display());
        survives(&source);
    }
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [
        ("[", "]"),
        ("{a = ", "}"),
        ("(", ")"),
        ("{", "}"),
        ("tensor<", ">"),
    ] {
        for depth in [10, 1000, 200_000] {
            let brackets = open.repeat(depth) + &close.repeat(depth);
            for line in [
                format!("%y = tgraph.sin %x {{a = {brackets}}}"),
                format!("%y = tgraph.sin %x : {brackets}"),
                format!("%y = tgraph.constant {{value = {brackets}}} : f32"),
                brackets.clone(),
            ] {
                survives(&format!(
                    "tgraph.module @m {{\n  %x = tgraph.arg : f32\n  {line}\n  tgraph.return %x\n}}\n"
                ));
            }
        }
    }
}
