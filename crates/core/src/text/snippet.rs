//! Source lines in error messages.

use crate::error::{Error, Loc};
use crate::names::is_name_char;

/// The error with its file, and the line of the text with a mark under the location.
pub fn locate(e: Error, source: &str, file: Option<&str>) -> Error {
    let mut out = Error::new(e.code(), e.message()).at(e.loc());
    if let Some(file) = file {
        out = out.in_file(file);
    }
    if let Loc::Text(line, col) = e.loc()
        && let Some(text) = source.lines().nth(line.saturating_sub(1) as usize)
    {
        let (shown, mark) = excerpt(text, col as usize);
        let number = line.to_string();
        out = out.note(format!("{number} | {shown}"));
        out = out.note(format!("{} | {mark}", " ".repeat(number.len())));
    }
    e.notes().iter().fold(out, |out, n| out.note(n.clone()))
}

/// The part of a line around a column (from 1), and marks under the word there.
fn excerpt(text: &str, col: usize) -> (String, String) {
    const MAX_LINE_CHARS: usize = 100;
    let at = col.saturating_sub(1);
    let from = if at > MAX_LINE_CHARS * 3 / 4 {
        at - MAX_LINE_CHARS / 2
    } else {
        0
    };
    let mut rest = text.chars().skip(from);
    let shown: Vec<char> = rest
        .by_ref()
        .take(MAX_LINE_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let (before, after) = (
        if from > 0 { ".." } else { "" },
        if rest.next().is_some() { ".." } else { "" },
    );
    let at = at - from;
    let sigil = |c: &char| matches!(c, '%' | '@');
    let tail = shown.get(at..).unwrap_or(&[]);
    let head = usize::from(tail.first().is_some_and(sigil));
    let width = head
        + tail
            .iter()
            .skip(head)
            .take_while(|c| is_name_char(**c))
            .count();
    let line: String = shown.iter().collect();
    let mark = format!(
        "{}{}",
        " ".repeat(before.len() + at.min(shown.len())),
        "^".repeat(width.max(1))
    );
    (format!("{before}{}{after}", line.trim_end()), mark)
}
