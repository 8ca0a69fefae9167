//! The book's reference of operations, written from the records that `ops NAME` prints.
//! `BLESS=1` writes the pages; otherwise they are compared.

use super::attributes::Attribute;
use super::record::Record;
use cotangent::files;
use cotangent::ops::{applied, composites, entries};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A page of the reference.
struct Page {
    file: &'static str,
    title: &'static str,
    /// Names of operations: an operation is on the page of the last such name before it in the
    /// list, or its own.
    first: &'static [&'static str],
}

static PAGES: &[Page] = &[
    Page {
        file: "unary",
        title: "Functions of one operand",
        first: &["neg"],
    },
    Page {
        file: "binary",
        title: "Functions of two operands",
        first: &["add"],
    },
    Page {
        file: "selection",
        title: "Comparison, selection, element types",
        first: &["eq", "convert"],
    },
    Page {
        file: "special",
        title: "Powers and special functions",
        first: &["integer_pow"],
    },
    Page {
        file: "shapes",
        title: "Constants, shapes, indexing",
        first: &["constant", "reverse"],
    },
    Page {
        file: "reductions",
        title: "Reductions, windows, sorting, running sums",
        first: &["reduce_sum"],
    },
    Page {
        file: "products",
        title: "Products, convolutions, Fourier transforms",
        first: &["dot_general"],
    },
    Page {
        file: "control",
        title: "Calls, control flow, custom rules",
        first: &["call", "scan", "custom_jvp"],
    },
    Page {
        file: "linalg",
        title: "Linear algebra",
        first: &["cholesky"],
    },
    Page {
        file: "composites",
        title: "Composites: statistics, networks, products, elementary functions",
        first: &["reduce"],
    },
    Page {
        file: "composites-matrices",
        title: "Composites: Fourier transforms and matrices",
        first: &["ifft"],
    },
    Page {
        file: "composites-random",
        title: "Composites: random numbers",
        first: &["random_key"],
    },
    Page {
        file: "composites-equations",
        title: "Composites: values defined by equations",
        first: &["fixed_point"],
    },
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/reference")
}

/// The records, which several tests read.
static RECORDS: LazyLock<Vec<(usize, Record)>> = LazyLock::new(records);

/// Every record, each with the position of its page.
fn records() -> Vec<(usize, Record)> {
    let mut page = 0;
    let mut out = Vec::new();
    let mut add = |name: &str, record: Record| {
        if let Some(other) = PAGES.iter().position(|p| p.first.contains(&name)) {
            page = other;
        }
        out.push((page, record));
    };
    for e in entries() {
        let record = Record::of_operation(&e).unwrap_or_else(|err| panic!("{}: {err}", e.name));
        add(e.name, record);
    }
    for (c, reference) in composites()
        .iter()
        .map(|c| (c, ""))
        .chain(applied().iter().map(|c| (c, " @f")))
    {
        let record = Record::of_composite(c, reference);
        add(c.name, record.unwrap_or_else(|e| panic!("{}: {e}", c.name)));
    }
    out
}

/// A table in Markdown.
fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | ").replace("|  |", "| |"));
    }
    out
}

/// A word as code, or nothing.
fn code(text: &str) -> String {
    match text {
        "" | "required" | "all axes" | "zero" => text.to_owned(),
        _ => format!("`{text}`"),
    }
}

/// An attribute as a row of a table.
fn attribute(a: &Attribute) -> [String; 4] {
    let meaning = a.meaning.replace('|', "\\|");
    [code(&a.name), a.kind.clone(), code(&a.default), meaning]
}

/// A record as a section. At most `MAX_TYPES` rows of types are shown.
fn section(r: &Record) -> String {
    const MAX_TYPES: usize = 6;
    let mut out = format!("## `{}`\n\n{}\n\n", r.title, r.doc.replace('|', "\\|"));
    if !r.attributes.is_empty() {
        let rows: Vec<[String; 4]> = r.attributes.iter().map(attribute).collect();
        let head = ["attribute", "type", "without it", "meaning"];
        let _ = writeln!(out, "{}", table(head, &rows));
    }
    for (name, fact) in &r.facts {
        let fact = match *name {
            "adjoint" | "stablehlo" | "written with" => code(fact),
            _ => fact.clone(),
        };
        let _ = writeln!(out, "- {name}: {fact}");
    }
    if !r.types.is_empty() {
        let shown = r.types.iter().take(MAX_TYPES);
        let shown: Vec<String> = shown.map(|[x, y]| format!("`{x} -> {y}`")).collect();
        let more = if r.types.len() > MAX_TYPES {
            ", and others"
        } else {
            ""
        };
        let _ = writeln!(out, "- types: {}{more}", shown.join(", "));
    }
    let _ = write!(
        out,
        "\n```tgraph\n{}```\n\n```text\n{}```\n\n",
        r.example, r.output
    );
    out
}

fn page(k: usize, records: &[(usize, Record)]) -> String {
    let mut out = format!(
        "# {}\n\nThis page is generated: `cotangent ops NAME` prints the same records.\n\n",
        PAGES[k].title
    );
    for (_, r) in records.iter().filter(|(page, _)| *page == k) {
        out.push_str(&section(r));
    }
    out.trim_end().to_owned() + "\n"
}

fn index(records: &[(usize, Record)]) -> String {
    let mut out = String::from(
        "# Operation reference\n\n\
         After this page you can find every operation of the text form, with its attributes and an example.\n\n\
         The pages are generated from the list of operations, and `cotangent ops NAME` prints the same records.\n\
         An example is a module with its arguments and results, computed by the reference evaluation.\n\
         The line `adjoint` is the cotangent of each operand, in terms of operands and cotangents of results.\n\
         Attributes are left out of it; `zero` is that of an operation whose derivative is zero everywhere.\n\
         A composite is expanded into operations, so its derivatives are theirs.\n\n",
    );
    for (k, p) in PAGES.iter().enumerate() {
        let _ = writeln!(out, "## {}\n", p.title);
        let links = records.iter().filter(|(page, _)| *page == k).map(|(_, r)| {
            let anchor = r.title.replace(' ', "-").replace('@', "");
            format!("[`{}`]({}.md#{anchor})", r.title, p.file)
        });
        let _ = writeln!(out, "{}\n", links.collect::<Vec<_>>().join(" "));
    }
    out.trim_end().to_owned() + "\n"
}

#[test]
fn the_reference_is_that_of_the_records() {
    let mut pages: Vec<(String, String)> = (0..PAGES.len())
        .map(|k| (format!("{}.md", PAGES[k].file), page(k, &RECORDS)))
        .collect();
    pages.push(("index.md".into(), index(&RECORDS)));
    let bless = std::env::var_os("BLESS").is_some();
    let mut bad = Vec::new();
    for (name, text) in &pages {
        let path = folder().join(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if bless && old != *text {
            std::fs::create_dir_all(folder()).unwrap();
            files::write(&path, text.as_bytes()).unwrap();
        } else if old != *text {
            let line = old.lines().zip(text.lines()).position(|(a, b)| a != b);
            bad.push(format!("{name}, line {}", line.map_or(0, |k| k + 1)));
        }
    }
    assert!(bad.is_empty(), "BLESS=1 rewrites these pages: {bad:?}");
    let files = std::fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, pages.len(), "pages that nothing writes");
}

#[test]
fn every_attribute_has_a_meaning() {
    let rows = RECORDS.iter().flat_map(|(_, r)| {
        let without = r.attributes.iter().filter(|a| a.meaning.is_empty());
        without.map(|a| format!("{}: {}", r.title, a.name))
    });
    let without: Vec<String> = rows.collect();
    assert!(without.is_empty(), "`MEANINGS` lacks {without:?}");
}

/// Attributes and defaults of operations that are known by hand.
#[test]
fn attributes_are_found() {
    let attribute = |op: &str, name: &str| {
        let records = Record::of(op).unwrap();
        let found = records[0].attributes.iter().find(|a| a.name == name);
        found.map(|a| (a.kind.clone(), a.default.clone()))
    };
    let some = |kind: &str, default: &str| Some((kind.to_owned(), default.to_owned()));
    let list = "a list in brackets, each an integer";
    assert_eq!(attribute("reduce_sum", "axes"), some(list, "all axes"));
    assert_eq!(attribute("softmax", "axis"), some("an integer", "-1"));
    assert_eq!(
        attribute("slice", "stride").map(|a| a.1),
        Some("[1]".into())
    );
    assert_eq!(
        attribute("top_k", "k").map(|a| a.1),
        Some("required".into())
    );
    assert_eq!(
        attribute("mean", "keepdims"),
        some("true or false", "false")
    );
    assert_eq!(attribute("sin", "axis"), None);
}
