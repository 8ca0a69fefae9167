//! Formatter of StableHLO text. It changes indentation and white space only: names, functions,
//! attributes and comments are unchanged.

/// The text with each line indented by the number of open brackets at its start. Trailing white
/// space is removed, and consecutive empty lines are merged into one.
pub(crate) fn layout(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len() + 1);
    // The line of each open bracket.
    let mut open: Vec<usize> = Vec::new();
    let mut empty = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            empty = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut empty) {
            out.push('\n');
        }
        let code = code(line);
        let close = |c: &char| matches!(c, '}' | ')' | ']');
        let leading = code.chars().take_while(close).count();
        open.truncate(open.len().saturating_sub(leading));
        // Brackets opened on one line count as one level: `({`.
        let levels = open.chunk_by(|a, b| a == b).count();
        (0..levels).for_each(|_| out.push_str("  "));
        out.push_str(line);
        out.push('\n');
        for c in code.chars().skip(leading) {
            match c {
                '{' | '(' | '[' => open.push(number),
                c if close(&c) => {
                    open.pop();
                }
                _ => {}
            }
        }
    }
    out
}

/// A line without its strings and its comment.
fn code(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    let mut string = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => string = !string,
            '\\' if string => {
                chars.next();
            }
            _ if string => {}
            '/' if chars.peek() == Some(&'/') => break,
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_move_and_nothing_else() {
        let text = "// head\nmodule @m {\nfunc.func private @f(%a: tensor<f64>) -> tensor<f64> { // why {\n\t%0 = \
                    \"stablehlo.reduce\"(%a) ({\n^bb0(%b: tensor<f64>):  \n return\n }) {x = \"}\"} : () -> ()\n\n\n}\n}";
        let once = layout(text);
        assert_eq!(layout(&once), once);
        let words = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&once), words(text));
        assert!(once.contains("\n      ^bb0(%b: tensor<f64>):\n"), "{once}");
        assert!(
            once.contains("\n    }) {x = \"}\"}") && once.ends_with("\n\n  }\n}\n"),
            "{once}"
        );
    }
}
