//! The printer preserves comments at every position.

use cotangent_core::text::Program;

/// A text with comments at every kind of position.
const TEXT: &str = "// head

// of the first
tgraph.module @m { // opens
  %x = tgraph.arg : tensor<?xf32> // the argument
  // above
  %y, %n = tgraph.sin %x, tgraph.neg %x // two of them
  %s = tgraph.softmax %y {axis = 0} : tensor<?xf32>
  %z = tgraph.reduce %s {op = \"sum\"}
  %a, %b = tgraph.while %z, %z cond(%p: f32, %q: f32) { // until
    %big = tgraph.lt %p, %q
    tgraph.return %big // says so
    // last of cond
  } body(%p: f32, %q: f32) {
    // inside
    %t = tgraph.add %p, %q
    tgraph.return %t, %q
  } // after the loop
  tgraph.return %a, %n : f32, tensor<?xf32> // result
  // before the end
} // closed
tgraph.jvp @m wrt(%x) dir(%v) -> @m_tangent // derived

// between
tgraph.adjoint @m wrt(%x) {zero_division = \"ieee\"} -> @m_grad
// tail
";

fn print(text: &str) -> String {
    Program::parse(text, None)
        .unwrap_or_else(|e| panic!("{text}\n{e}"))
        .to_string()
}

/// Everything between `//` and the ends of lines, sorted.
fn comments(text: &str) -> Vec<String> {
    let mut out: Vec<String> = text
        .lines()
        .filter_map(|l| l.split_once("//"))
        .map(|(_, c)| c.trim().to_owned())
        .collect();
    out.sort();
    out
}

fn without(text: &str) -> String {
    let lines = text
        .lines()
        .map(|l| l.split("//").next().unwrap().trim_end())
        .filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn comments_stay_where_they_were() {
    let text = print(TEXT);
    assert_eq!(print(&text), text, "printing is canonical");
    assert_eq!(comments(&text), comments(TEXT));
    assert!(
        text.starts_with("// head\n\n// of the first\ntgraph.module @m { // opens\n"),
        "{text}"
    );
    for line in [
        "// the argument\n  // above\n",
        "{ // until\n",
        " // says so\n    // last of cond\n  } body",
        "{\n    // inside\n",
        "// after the loop\n  tgraph.return",
        "// result\n  // before the end\n} // closed\n\ntgraph.jvp",
        "-> @m_tangent // derived\n",
        "// between\ntgraph.adjoint",
        "-> @m_grad\n\n// tail\n",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
}

/// A comment between any two tokens is preserved a single time, and nothing else changes.
#[test]
fn a_comment_between_any_two_tokens_is_carried() {
    let mut texts = vec![without(TEXT)];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(root)
        .unwrap()
        .flatten()
        .filter(|e| e.path().extension().is_some_and(|e| e == "tgraph"))
    {
        texts.push(without(&std::fs::read_to_string(entry.path()).unwrap()));
    }
    let mut carried = 0;
    for text in &texts {
        let plain = print(text);
        let class = |c: char| {
            if c.is_alphanumeric() || "_.$\"%@?".contains(c) {
                0
            } else {
                c as u32
            }
        };
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let edges = chars
            .windows(2)
            .filter(|w| class(w[0].1) != class(w[1].1))
            .map(|w| w[1].0);
        for at in [0].into_iter().chain(edges).chain([text.len()]) {
            let with = format!("{} // here\n{}", &text[..at], &text[at..]);
            // Comments are not possible inside an arrow or a number.
            let inside = [at.wrapping_sub(1), at]
                .iter()
                .any(|&i| matches!(text.as_bytes().get(i), Some(b'-' | b'+')));
            let program = match Program::parse(&with, None) {
                Ok(p) => p,
                Err(_) if inside => continue,
                Err(e) => panic!("{with}\n{e}"),
            };
            let printed = program.to_string();
            assert_eq!(
                comments(&printed),
                ["here"],
                "at {at} of\n{with}\nprinted\n{printed}"
            );
            assert_eq!(without(&printed), without(&plain), "{with}");
            assert_eq!(print(&printed), printed, "printing is canonical\n{with}");
            carried += 1;
        }
    }
    assert!(carried > 1000, "only {carried} places were tried");
}

#[test]
fn a_text_of_comments_alone_is_one() {
    assert_eq!(print("// one\n\n\n// two\n"), "// one\n\n// two\n");
    assert_eq!(
        print("tgraph.module @\"a // b\" { tgraph.return }"),
        "tgraph.module @\"a // b\" {\n  tgraph.return\n}\n"
    );
}
