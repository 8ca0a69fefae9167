//! Names: characters, quoting, and suggestions for misspelled names.

use std::borrow::Cow;

/// A character of names: of values, modules and attributes.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// Whether a name can be written without quotes.
pub(crate) fn is_name(s: &str) -> bool {
    !s.is_empty() && s.chars().all(is_name_char)
}

/// The name among these with the smallest edit distance from `name`, if it is close enough.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const MAX_COMPARED_CHARS: usize = 48;
    let n = name.chars().count();
    if n == 0 || n > MAX_COMPARED_CHARS {
        return None;
    }
    // Names of one or two letters are too short for a suggestion.
    let most = if n < 3 { 0 } else { 1 + n / 4 };
    let mut best: Option<((usize, usize), &str)> = None;
    for other in among {
        let m = other.len();
        if m > 2 * MAX_COMPARED_CHARS {
            continue;
        }
        let mut d = distance(name, other);
        // A part of a longer name is a likely slip, too: `reduce` for `reduce_sum`.
        if d > most && n >= 3 && other.split('_').any(|part| part == name) {
            d = most;
        }
        // Among equal distances, the name with the longest common prefix.
        let alike = name
            .bytes()
            .zip(other.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let key = (d, MAX_COMPARED_CHARS - alike);
        if d <= most && best.is_none_or(|(b, _)| key < b) {
            best = Some((key, other));
        }
    }
    best.map(|(_, s)| s)
}

/// The edit distance of two names: insertions, deletions, replacements, swaps of adjacent letters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (
        a.to_lowercase().chars().collect(),
        b.to_lowercase().chars().collect(),
    );
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// `; did you mean X?`, or nothing.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    sigil: &str,
    among: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(name, among).map_or(String::new(), |n| format!("; did you mean `{sigil}{n}`?"))
}

/// `1 result`, `2 results`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A text shortened for a message.
pub(crate) fn clip(s: &str) -> Cow<'_, str> {
    const MAX_CLIPPED_CHARS: usize = 40;
    match s.char_indices().nth(MAX_CLIPPED_CHARS) {
        Some((i, _)) => format!("{}..", &s[..i]).into(),
        None => s.into(),
    }
}

/// A name as printed after its sigil: quoted if necessary.
pub(crate) fn written(name: &str) -> Cow<'_, str> {
    if is_name(name) {
        name.into()
    } else {
        quoted(name).into()
    }
}

/// A string in quotes.
pub(crate) fn quoted(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
