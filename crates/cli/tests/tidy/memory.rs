//! Memory whose size data decides comes from `kernels/memory`.

use crate::{assert_none, sources};

/// Where the size of a program, the rank of an array or a constant decides how long a vector is,
/// not data: a file, what its line contains (empty: any line), and why.
const BOUNDED: &[(&str, &str, &str)] = &[
    ("kernels/src/memory/", "", "the one place"),
    ("kernels/src/emit/", "", "instructions of a body"),
    (
        "kernels/src/vector/special/zeta.rs",
        "p.len()",
        "the order of a derivative",
    ),
    (
        "kernels/src/tile/",
        "",
        "instructions and operands of a body, tiles of a fixed size",
    ),
    ("kernels/src/view.rs", "shape.len()", "rank"),
    ("kernels/src/copy.rs", "shape", "rank"),
    ("kernels/src/sliding.rs", "extents.len()", "rank"),
    ("kernels/src/sliding.rs", "axes.iter()", "rank"),
    ("kernels/src/window.rs", "moving.map", "rank"),
    ("kernels/src/window/parts.rs", "axes", "rank"),
    ("kernels/src/convolution/layout.rs", "axes", "rank"),
    (
        "kernels/src/convolution/tiles.rs",
        "(0..first.count).step_by(high)",
        "bands that threads share",
    ),
    (
        "kernels/src/reduce/fold.rs",
        "chunks.partial.resize(here",
        "at most OUTPUTS_PER_CALL rows",
    ),
    (
        "kernels/src/reduce/fold.rs",
        "first + width",
        "at most COLUMN_ROW_BYTES of columns",
    ),
    (
        "kernels/src/reduce/best.rs",
        "first + width",
        "at most COLUMN_ROW_BYTES of columns",
    ),
    (
        "kernels/src/linalg/panels.rs",
        "panels.data.resize(end",
        "within its capacity",
    ),
    ("kernels/src/parallel/mod.rs", "CPU_SETSIZE", "cores"),
    ("cpu/src/groups/", "", "equations of a function, and ranks"),
    ("cpu/src/nests/", "", "equations of a function, and ranks"),
    (
        "cpu/src/plan/",
        "",
        "equations of a function, ranks, and tiles of a fixed size",
    ),
    (
        "cpu/src/profile.rs",
        "",
        "equations of a function, and a measurement of a fixed size",
    ),
    ("cpu/src/maps.rs", "to.resize(", "copies of small operands"),
    ("cpu/src/movement.rs", "axes.to_vec()", "rank"),
    ("cpu/src/tensor.rs", "shape().to_vec()", "rank"),
];

/// Whether a statement makes a vector whose length is no constant, and ends the process where there
/// is no memory.
fn allocates(statement: &str, kernels: bool) -> bool {
    let constant = |n: &str| {
        let n = n.trim().trim_end_matches(',');
        n.chars()
            .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '_')
    };
    let lengths = |after: &'static str, end: char| {
        let found = statement.match_indices(after).filter(|(at, _)| {
            let before = statement[..*at].chars().next_back();
            before.is_none_or(|c| c == ' ' || c == '(')
        });
        found.filter_map(move |(at, _)| Some(statement[at + after.len()..].split_once(end)?.0))
    };
    let repeated =
        lengths("vec![", ']').any(|x| x.rsplit_once("; ").is_some_and(|(_, n)| !constant(n)));
    repeated
        || lengths("Vec::with_capacity(", ')').any(|n| !constant(n))
        || statement.contains(".resize(")
        || statement.contains(".to_vec()")
        || (kernels && statement.contains(".collect"))
}

/// The statements of a text without its comments, on one line each, with the number of the first
/// line.
fn statements(text: &str) -> Vec<(usize, String)> {
    let (mut out, mut open) = (Vec::<(usize, String)>::new(), false);
    for (i, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap().trim();
        match out.last_mut().filter(|_| open) {
            Some((_, last)) => {
                if !code.starts_with('.') {
                    last.push(' ');
                }
                last.push_str(code);
            }
            None => out.push((i + 1, code.to_owned())),
        }
        open = !code.is_empty() && !code.ends_with([';', '{', '}']);
    }
    out
}

/// Memory whose size data decides comes from `kernels/memory` and what calls it: it answers that
/// there is none.
#[test]
fn memory_whose_size_data_decides_may_not_be_there() {
    let mut bad = Vec::new();
    let mut used = vec![false; BOUNDED.len()];
    let inside = |n: &str| n.starts_with("crates/kernels/src/") || n.starts_with("crates/cpu/src/");
    for (name, text) in sources()
        .iter()
        .filter(|(n, _)| inside(n) && !n.contains("tests") && !n.ends_with("testing.rs"))
    {
        let own = text.split("\n#[cfg(test)]").next().unwrap();
        for (line, statement) in statements(own)
            .into_iter()
            .filter(|(_, s)| allocates(s, name.contains("kernels")))
        {
            let mut known = false;
            for ((file, what, _), used) in BOUNDED.iter().zip(&mut used) {
                if name["crates/".len()..].starts_with(file) && statement.contains(what) {
                    (known, *used) = (true, true);
                }
            }
            if !known {
                bad.push(format!("{name}:{line}: {statement}"));
            }
        }
    }
    assert_none(
        "vectors that end the process where there is no memory (see kernels/memory)",
        bad,
    );
    let idle = BOUNDED
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .map(|((file, what, _), _)| format!("{file}: {what}"));
    assert_none("exceptions that nothing needs", idle.collect());
}

/// The rule above sees what it is for.
#[test]
fn the_rule_for_memory_sees_what_it_forbids() {
    let forbidden = [
        "let x = vec![0.0; n];",
        "let y = vec![T::ZERO; rows * count];",
        "Vec::with_capacity(n)",
        "x.to_vec()",
    ];
    let caught = |l: &&str| allocates(&format!("    let _ = ({l}"), false);
    assert_eq!(
        forbidden.iter().filter(|l| caught(l)).count(),
        forbidden.len()
    );
    assert!(allocates(
        "        let x: Vec<f64> = x.iter().map(f).collect();",
        true
    ));
    let allowed = [
        "let x = vec![0.0; WIDTH];",
        "let x = vec![0; 16];",
        "zeros(n)?",
        "with_capacity(n)?",
        "vec![a, b]",
    ];
    assert!(!allowed.iter().any(caught));
}
