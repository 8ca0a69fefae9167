//! Fenced blocks of a page.

use std::ops::Range;

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    /// The word after the fence.
    pub info: &'a str,
    /// The lines between the fences.
    pub body: &'a str,
    /// The bytes of the body.
    pub range: Range<usize>,
    /// The line of the opening fence, from 1.
    pub line: usize,
}

impl Block<'_> {
    /// The name in a first line `// NAME.tgraph`.
    pub(crate) fn file_name(&self) -> Option<&str> {
        let first = self.body.lines().next()?.strip_prefix("// ")?;
        let named = first.ends_with(".tgraph") && !first.contains([' ', '/']);
        (self.info.starts_with("tgraph") && named).then_some(first)
    }

    /// Whether only blank lines are between `before` and this block.
    pub(crate) fn follows(&self, before: &Block<'_>, source: &str) -> bool {
        let between = &source[before.range.end..self.range.start];
        let lines = between.lines().filter(|l| !l.trim().is_empty());
        lines.count() == 2
    }
}

/// The fenced blocks of a page, in order.
pub(crate) fn blocks(source: &str) -> Vec<Block<'_>> {
    let mut out = Vec::new();
    let mut open: Option<(&str, usize, usize)> = None;
    let mut at = 0;
    for (k, line) in source.split_inclusive('\n').enumerate() {
        let next = at + line.len();
        if let Some(rest) = line.strip_prefix("```") {
            open = match open {
                None => Some((rest.trim(), next, k + 1)),
                Some((info, start, line)) => {
                    out.push(Block {
                        info,
                        body: &source[start..at],
                        range: start..at,
                        line,
                    });
                    None
                }
            };
        }
        at = next;
    }
    assert!(open.is_none(), "a fence that is not closed");
    out
}

#[test]
fn blocks_are_found() {
    let source =
        "a\n\n```sh\ncotangent\n```\n\n```text\nout\n```\nb\n```tgraph\n// x.tgraph\n```\n";
    let found = blocks(source);
    let infos: Vec<&str> = found.iter().map(|b| b.info).collect();
    assert_eq!(infos, ["sh", "text", "tgraph"]);
    assert_eq!((found[1].body, found[1].line), ("out\n", 7));
    assert!(found[1].follows(&found[0], source));
    assert!(!found[2].follows(&found[1], source));
    assert_eq!(found[2].file_name(), Some("x.tgraph"));
}
