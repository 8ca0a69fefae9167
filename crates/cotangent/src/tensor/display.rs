//! Printing of tensors: nested brackets in NumPy's format, abridged above a number of elements.
//!
//! ```text
//! [[1., 2.5],
//!  [3., 4. ]] f64[2, 2]
//! ```

use super::Tensor;
use cotangent_core::dtype::Kind;
use cotangent_core::{Result, Wide};
use std::fmt;

/// Maximum number of elements that are printed unabridged.
const MAX_UNABRIDGED_ELEMENTS: usize = 1000;
/// Maximum number of elements that are printed unabridged on one line.
const MAX_LINE_ELEMENTS: usize = 24;
/// Number of elements printed at either end of an abridged axis.
const EDGE_ELEMENTS: usize = 3;

/// Whether a tensor is abridged: by its number of elements or, if an extent is 0, by its number of
/// brackets.
fn is_long(shape: &[usize], limit: usize) -> bool {
    shape
        .iter()
        .map(|&n| n.max(1))
        .try_fold(1, usize::checked_mul)
        .is_none_or(|n| n > limit)
}

/// The indices of an axis that are printed; `None` marks the omitted ones.
fn shown(n: usize, abridged: bool) -> Vec<Option<usize>> {
    match abridged && n > 2 * EDGE_ELEMENTS {
        true => (0..EDGE_ELEMENTS)
            .map(Some)
            .chain([None])
            .chain((n - EDGE_ELEMENTS..n).map(Some))
            .collect(),
        false => (0..n).map(Some).collect(),
    }
}

/// The text of a number: at most eight digits after the point, and a point in every float.
fn real(x: f64, f: &fmt::Formatter<'_>) -> String {
    let magnitude = x.abs();
    let mut text = match f.precision() {
        Some(p) => format!("{x:.p$}"),
        None if !x.is_finite() => return format!("{x}"),
        None if x != 0.0 && !(1e-4..1e8).contains(&magnitude) => return format!("{x:e}"),
        None => format!("{x:.8}"),
    };
    if f.precision().is_none() {
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

/// The text of one element.
fn element(x: &Tensor, f: &fmt::Formatter<'_>) -> Result<String> {
    let array = x.to_array()?;
    Ok(match array.wide() {
        Wide::F(v) => real(v[0], f),
        Wide::C(v) => format!(
            "{}{}{}i",
            real(v[0].re, f),
            if v[0].im < 0.0 { "" } else { "+" },
            real(v[0].im, f)
        ),
        Wide::I(v) if x.dtype().kind() == Kind::Bool => (v[0] != 0).to_string(),
        Wide::I(v) => v[0].to_string(),
    })
}

/// The texts of the printed elements, in row-major order.
fn elements(
    x: &Tensor,
    abridged: bool,
    f: &fmt::Formatter<'_>,
    out: &mut Vec<String>,
) -> Result<()> {
    if x.rank() == 0 {
        out.push(element(x, f)?);
        return Ok(());
    }
    for i in shown(x.shape()[0], abridged).into_iter().flatten() {
        elements(&x.index(0, i)?, abridged, f, out)?;
    }
    Ok(())
}

/// The format of the elements of a tensor.
#[derive(Clone, Copy)]
struct Brackets {
    abridged: bool,
    one_line: bool,
}

impl Brackets {
    /// Prints brackets around the elements, which are the next ones of `texts`.
    fn nested(
        self,
        shape: &[usize],
        depth: usize,
        texts: &mut impl Iterator<Item = String>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let Some((&n, inner)) = shape.split_first() else {
            return f.write_str(&texts.next().unwrap_or_default());
        };
        f.write_str("[")?;
        for (k, i) in shown(n, self.abridged).into_iter().enumerate() {
            if k > 0 && (self.one_line || inner.is_empty()) {
                f.write_str(", ")?;
            } else if k > 0 {
                write!(f, ",{}{}", "\n".repeat(inner.len()), " ".repeat(depth + 1))?;
            }
            match i {
                Some(_) => self.nested(inner, depth + 1, texts, f)?,
                None => f.write_str("...")?,
            }
        }
        f.write_str("]")
    }

    /// Prints the elements of a tensor.
    fn print(self, x: &Tensor, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut texts = Vec::new();
        let x = &x.to_host().map_err(|_| fmt::Error)?;
        // Indexing is in bounds, and the number of printed elements is bounded. The only possible
        // failure is a lack of memory.
        elements(x, self.abridged, f, &mut texts).map_err(|_| fmt::Error)?;
        let width = match self.one_line || x.rank() == 0 {
            true => 0,
            false => texts.iter().map(String::len).max().unwrap_or(0),
        };
        let mut padded = texts.into_iter().map(|t| format!("{t:>width$}"));
        self.nested(x.shape(), 0, &mut padded, f)
    }
}

impl fmt::Display for Tensor {
    /// Prints the elements in nested brackets, then the type. A precision (`{:.3}`) sets the number
    /// of digits after the point of floats.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = Brackets {
            abridged: is_long(self.shape(), MAX_UNABRIDGED_ELEMENTS),
            one_line: false,
        };
        brackets.print(self, f)?;
        write!(f, " {}{:?}", self.dtype(), self.shape())
    }
}

/// The elements of a tensor on one line, with long axes abridged.
pub(crate) struct OneLine<'t>(pub &'t Tensor);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = Brackets {
            abridged: is_long(self.0.shape(), MAX_LINE_ELEMENTS),
            one_line: true,
        };
        brackets.print(self.0, f)
    }
}

impl fmt::Debug for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Tensor {
    /// Prints the elements on one line, with long axes abridged, then the type and the order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tensor(")?;
        fmt::Display::fmt(&OneLine(self), f)?;
        write!(
            f,
            " {}{:?}, {:?})",
            self.dtype(),
            self.shape(),
            self.order()
        )
    }
}
