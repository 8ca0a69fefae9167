//! Rust files as comments, strings and code.

/// A run of comment lines of one kind, or a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prose {
    /// The line on which it begins, from 1.
    pub line: usize,
    pub kind: ProseKind,
    /// Without the marks of comments, lines joined by spaces; code fences left out.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProseKind {
    /// `///` or `//!`.
    Doc,
    /// `//`.
    Comment,
    /// A string literal.
    Text,
}

/// A file in parts.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub prose: Vec<Prose>,
    /// The code with spaces for comments and for what strings hold.
    pub code: String,
}

/// The code of a file with spaces for its comments.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    scan(text, |part, kind| match kind {
        Some(ProseKind::Doc | ProseKind::Comment) => {
            out.extend(part.chars().filter(|c| *c == '\n'))
        }
        _ => out.push_str(part),
    });
    out
}

/// Splits a text into comments, strings and code, in order.
fn scan<'a>(text: &'a str, mut f: impl FnMut(&'a str, Option<ProseKind>)) {
    let bytes = text.as_bytes();
    let (mut at, mut code) = (0, 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let quoted = |from: &str| {
            let mut escaped = false;
            let end = from.bytes().position(|b| {
                let ends = b == b'"' && !escaped;
                escaped = b == b'\\' && !escaped;
                ends
            });
            end.map_or(from.len(), |end| end + 1)
        };
        let word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let raw = rest
            .strip_prefix('b')
            .unwrap_or(rest)
            .strip_prefix('r')
            .filter(|_| !word)
            .and_then(|r| {
                let marks = r.len() - r.trim_start_matches('#').len();
                r[marks..]
                    .starts_with('"')
                    .then(|| format!("\"{}", "#".repeat(marks)))
            });
        let (len, kind) = if rest.starts_with("//") {
            let len = rest.find('\n').unwrap_or(rest.len());
            let doc =
                (rest.starts_with("///") && !rest.starts_with("////")) || rest.starts_with("//!");
            (
                len,
                Some(if doc {
                    ProseKind::Doc
                } else {
                    ProseKind::Comment
                }),
            )
        } else if rest.starts_with("/*") {
            (
                rest.find("*/").map_or(rest.len(), |end| end + 2),
                Some(ProseKind::Comment),
            )
        } else if let Some(end) = raw {
            let open = rest.find('"').map_or(0, |q| q + 1);
            (
                rest[open..]
                    .find(&end)
                    .map_or(rest.len(), |e| open + e + end.len()),
                Some(ProseKind::Text),
            )
        } else if let Some(inside) = rest.strip_prefix('"') {
            (1 + quoted(inside), Some(ProseKind::Text))
        } else if let Some(inside) = rest.strip_prefix('\'') {
            // A character, not a lifetime.
            let end = match inside.chars().next() {
                Some('\\') => {
                    let mut after = inside.char_indices().skip(2);
                    after.find(|(_, c)| *c == '\'').map(|(i, _)| i + 2)
                }
                Some(c) if inside[c.len_utf8()..].starts_with('\'') => Some(2 + c.len_utf8()),
                _ => None,
            };
            (end.unwrap_or(1), None)
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), None)
        };
        if kind.is_some() {
            if code < at {
                f(&text[code..at], None);
            }
            f(&text[at..at + len], kind);
            code = at + len;
        }
        at += len;
    }
    if code < text.len() {
        f(&text[code..], None);
    }
}

impl Source {
    pub(crate) fn of(text: &str) -> Source {
        let mut out = Source::default();
        let (mut line, mut fence, mut open) = (1, false, false);
        scan(text, |part, kind| {
            match kind {
                None => {
                    // Comments on adjacent lines are one.
                    open &= part.trim().is_empty() && part.matches('\n').count() <= 1;
                    out.code.push_str(part);
                }
                Some(kind) => {
                    out.code
                        .extend(part.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
                    let body = match kind {
                        ProseKind::Text => part,
                        _ => part.trim_start_matches('/').trim_start_matches('!').trim(),
                    };
                    if kind == ProseKind::Text {
                        open = false;
                        out.prose.push(Prose {
                            line,
                            kind,
                            text: body.replace("\\n", " "),
                        });
                    } else {
                        let joins = open && out.prose.last().is_some_and(|last| last.kind == kind);
                        if !joins {
                            fence = false;
                        }
                        if body.starts_with("```") {
                            fence = !fence;
                        } else if !fence {
                            match out.prose.last_mut().filter(|_| joins && !body.is_empty()) {
                                Some(last) if !last.text.is_empty() => {
                                    last.text.push(' ');
                                    last.text.push_str(body);
                                }
                                _ => out.prose.push(Prose {
                                    line,
                                    kind,
                                    text: body.to_owned(),
                                }),
                            }
                        }
                        open = true;
                    }
                }
            }
            line += part.matches('\n').count();
        });
        out
    }
}

/// The paragraphs of a Markdown file outside of code.
pub(crate) fn paragraphs(text: &str) -> Vec<Prose> {
    let (mut out, mut fence, mut open) = (Vec::<Prose>::new(), false, false);
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            (fence, open) = (!fence, false);
        } else if line.trim().is_empty() {
            open = false;
        } else if !fence {
            match out.last_mut().filter(|_| open) {
                Some(last) => {
                    last.text.push(' ');
                    last.text.push_str(line.trim());
                }
                None => out.push(Prose {
                    line: i + 1,
                    kind: ProseKind::Comment,
                    text: line.trim().to_owned(),
                }),
            }
            open = true;
        }
    }
    out
}

#[test]
fn comments_strings_and_code_are_told_apart() {
    let text = "//! A file\n//! of two lines.\nlet a = \"x // y\"; // why\nlet c = '\"'; let l: &'a str = r#\"raw \"q\" \"#;\n";
    let source = Source::of(text);
    let found: Vec<(usize, ProseKind, &str)> = source
        .prose
        .iter()
        .map(|p| (p.line, p.kind, p.text.as_str()))
        .collect();
    let wanted = [
        (1, ProseKind::Doc, "A file of two lines."),
        (3, ProseKind::Text, "\"x // y\""),
        (3, ProseKind::Comment, "why"),
        (4, ProseKind::Text, "r#\"raw \"q\" \"#"),
    ];
    assert_eq!(found, wanted);
    assert!(source.code.contains("let c = '\"'; let l: &'a str ="));
    assert_eq!(source.code.len(), text.len());
}
