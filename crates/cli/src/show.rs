//! Printing of arrays and tables, with colour on terminals.

use cotangent::{Array, C128, Wide};
use std::io::IsTerminal;

/// Destination of text.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Colour of text, as an SGR code.
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red = 31,
    Blue = 34,
    Dim = 2,
}

fn colourful(stream: Stream) -> bool {
    let terminal = match stream {
        Stream::Out => std::io::stdout().is_terminal(),
        Stream::Err => std::io::stderr().is_terminal(),
    };
    terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Coloured text on a terminal, plain text elsewhere.
pub(crate) fn paint(text: &str, colour: Colour, stream: Stream) -> String {
    if colourful(stream) {
        format!("\x1b[{}m{text}\x1b[0m", colour as u8)
    } else {
        text.to_owned()
    }
}

/// An array as text: name and type, then the elements, with long axes abridged.
pub(crate) fn array(name: &str, a: &Array) -> String {
    let head = format!(
        "{} {}",
        paint(name, Colour::Blue, Stream::Out),
        paint(&a.ty().to_string(), Colour::Dim, Stream::Out)
    );
    if a.is_empty() {
        return format!("{head}\n  (no elements)\n");
    }
    let shown = elements(a);
    let width = shown.values().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    block(a.shape(), 0, &mut 0, &shown, width, &mut text);
    let body: String = text.lines().map(|l| format!("  {l}\n")).collect();
    format!("{head}\n{body}")
}

/// Number of elements that are shown at each end of a long axis.
const EDGE_ELEMENTS: usize = 3;

/// Positions of an axis that are shown. `None` represents the dots.
fn positions(n: usize) -> Vec<Option<usize>> {
    if n <= 2 * EDGE_ELEMENTS + 1 {
        (0..n).map(Some).collect()
    } else {
        (0..EDGE_ELEMENTS)
            .map(Some)
            .chain([None])
            .chain((n - EDGE_ELEMENTS..n).map(Some))
            .collect()
    }
}

/// The text of each element that is shown, by flat index.
type ShownElements = std::collections::HashMap<usize, String>;

fn elements(a: &Array) -> ShownElements {
    let mut at = vec![0usize];
    for &n in a.shape() {
        at = at
            .iter()
            .flat_map(|&base| {
                positions(n)
                    .into_iter()
                    .flatten()
                    .map(move |i| base * n + i)
            })
            .collect();
    }
    let text: Vec<String> = match a.pick(&at) {
        Wide::F(v) => v.iter().map(|&x| float(x, a.dtype().size())).collect(),
        Wide::C(v) => v
            .iter()
            .map(|z| complex(*z, a.dtype().size() / 2))
            .collect(),
        Wide::I(v) if a.dtype() == cotangent::DType::Bool => {
            v.iter().map(|&x| (x != 0).to_string()).collect()
        }
        Wide::I(v) => v.iter().map(i128::to_string).collect(),
    };
    at.into_iter().zip(text).collect()
}

/// A float with at most six significant digits (four in half precision), without trailing zeros.
fn float(x: f64, size: usize) -> String {
    let digits = if size <= 2 { 4 } else { 6 };
    if !x.is_finite() {
        return if x.is_nan() {
            "nan".into()
        } else {
            x.to_string()
        };
    }
    let magnitude = x.abs();
    if x == 0.0 || (1e-4..1e6).contains(&magnitude) {
        let whole = if magnitude < 1.0 {
            0
        } else {
            magnitude.log10() as usize
        };
        let fixed = format!("{x:.*}", digits - whole.min(digits - 1));
        let trimmed = fixed.trim_end_matches('0');
        if trimmed.ends_with('.') {
            format!("{trimmed}0")
        } else {
            trimmed.to_owned()
        }
    } else {
        format!("{x:.*e}", digits - 1)
    }
}

fn complex(z: C128, size: usize) -> String {
    let im = float(z.im, size);
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("{}{sign}{im}i", float(z.re, size))
}

/// Nested brackets, in NumPy's layout.
fn block(
    shape: &[usize],
    base: usize,
    depth: &mut usize,
    shown: &ShownElements,
    width: usize,
    out: &mut String,
) {
    let Some((&n, rest)) = shape.split_first() else {
        let text = shown.get(&base).map_or("..", String::as_str);
        out.push_str(&format!("{text:>width$}"));
        return;
    };
    out.push('[');
    *depth += 1;
    for (k, p) in positions(n).into_iter().enumerate() {
        if k > 0 {
            let newline = format!("{}{}", "\n".repeat(rest.len().min(2)), " ".repeat(*depth));
            out.push_str(if rest.is_empty() { " " } else { &newline });
        }
        match p {
            Some(i) => block(rest, base * n + i, depth, shown, width, out),
            None => out.push_str("..."),
        }
    }
    *depth -= 1;
    out.push(']');
}

/// A table. The first column is left-aligned, others are right-aligned.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width: Vec<usize> = (0..columns)
        .map(|c| {
            rows.iter()
                .filter_map(|r| r.get(c))
                .map(|t| t.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(c, t)| {
            if c == 0 {
                format!("{t:<w$}", w = width[c])
            } else {
                format!("{t:>w$}", w = width[c])
            }
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// A table with left-aligned columns.
pub(crate) fn left_table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter()
            .filter_map(|r| r.get(c))
            .map(|t| t.chars().count())
            .max()
    };
    let width: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&width).map(|(t, w)| format!("{t:<w$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A number of bytes with a unit: `1.5 KiB`.
pub(crate) fn bytes(n: f64) -> String {
    let (mut n, mut unit) = (n, 0);
    while n >= 1024.0 && unit < 4 {
        n /= 1024.0;
        unit += 1;
    }
    let name = ["B", "KiB", "MiB", "GiB", "TiB"][unit];
    if unit == 0 {
        format!("{n:.0} {name}")
    } else {
        format!("{n:.1} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_print_like_numpy() {
        let a = Array::from_vec([2, 3], vec![1.0, -0.5, 2.25, 1e-9, 0.0, f64::NAN]).unwrap();
        assert_eq!(
            array("x", &a),
            "x f64[2,3]\n  [[       1.0       -0.5       2.25]\n   [1.00000e-9        0.0        nan]]\n"
        );
        assert_eq!(array("n", &Array::scalar(7i32)), "n i32[]\n  7\n");
        assert_eq!(
            array("e", &Array::vector(Vec::<f32>::new())),
            "e f32[0]\n  (no elements)\n"
        );
    }

    #[test]
    fn long_axes_are_abridged() {
        let a = Array::vector((0..100i64).collect());
        assert_eq!(array("x", &a), "x i64[100]\n  [ 0  1  2 ... 97 98 99]\n");
    }

    #[test]
    fn complex_numbers_show_both_parts() {
        assert_eq!(
            array("z", &Array::scalar(C128::new(1.5, -2.0))),
            "z c128[]\n  1.5-2.0i\n"
        );
    }
}
