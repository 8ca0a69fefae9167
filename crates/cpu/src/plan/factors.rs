//! The factors of a product as batches of matrices `a[.., m, k]` and `b[.., k, n]`.
//!
//! The last axes of the result along which `a` is the same are columns `n`, those before along
//! which `b` is the same are rows `m`, and all others are batch axes. Several axes are one axis of
//! a matrix where one stride covers them. Where it does not, the factor is copied first, if it is
//! small.

use super::code::{Code, CodeMember, Finish};
use super::laid::{DirectFold, Factor, FactorView, LaidBox, LaidCode, strides};
use smallvec::SmallVec;

/// Largest number of elements of a factor that is copied.
const MAX_COPIED_ELEMENTS: usize = 4096;

/// Number of elements that are copied in the time that a small matrix product takes besides its
/// elements.
const ELEMENTS_OF_A_CALL: usize = 64;

/// An axis, with the strides of both factors along it.
type FactorAxis = (usize, [isize; 2]);

impl FactorView {
    fn push(&mut self, (n, stride): (usize, isize)) {
        self.shape.push(n);
        self.strides.push(stride);
    }

    pub(crate) fn volume(&self) -> usize {
        self.shape.iter().product()
    }
}

type FactorAxes = SmallVec<[FactorAxis; 4]>;

/// The axes of a product.
struct ProductAxes {
    batch: FactorAxes,
    rows: FactorAxes,
    columns: FactorAxes,
    folded: FactorAxes,
}

/// The factors of a product over these extents of a box, if they are strided: where they are, or
/// one of them or both copied, if that makes larger matrices.
fn factors(code: &Code, b: &LaidBox, m: &CodeMember, extents: &[usize]) -> Option<[Factor; 2]> {
    let axes = ProductAxes::of(code, b, m, extents)?;
    let in_place = axes.in_place();
    let batch = |f: &[Factor; 2]| f[0].matrices.shape.len() - 2;
    if in_place
        .as_ref()
        .is_some_and(|own| batch(own) == axes.batch.len())
    {
        return in_place;
    }
    let copied = axes.copied();
    let [x, y] = [0, 1].map(|k: usize| copied[k].copied.as_ref().map_or(0, FactorView::volume));
    let gains = in_place.as_ref().is_none_or(|own| {
        let calls: usize = own[0].matrices.shape[..batch(own)].iter().product();
        x + y <= calls.saturating_mul(ELEMENTS_OF_A_CALL)
    });
    match gains && x.max(y) <= MAX_COPIED_ELEMENTS {
        true => Some(copied),
        false => in_place,
    }
}

/// The factors of a product over these extents of a box, if they are matrices where they are.
pub(crate) fn factors_in_place(
    code: &Code,
    b: &LaidBox,
    m: &CodeMember,
    extents: &[usize],
) -> Option<[FactorView; 2]> {
    let own = ProductAxes::of(code, b, m, extents)?.in_place()?;
    Some(own.map(|f| f.matrices))
}

/// How the members of a step fold their inputs where they are, if all do.
pub(crate) fn direct_folds(code: &Code, laid: &LaidCode) -> Option<Vec<DirectFold>> {
    let [b] = &laid.boxes[..] else {
        return None;
    };
    if code.rank == code.space.len() {
        return None;
    }
    let folded = || (0..b.axes.len()).filter(|&k| b.axes[k].of >= code.rank);
    let direct = |m: &CodeMember| match &m.finish {
        Finish::Product(_) => Some(DirectFold::Product(Box::new(factors(
            code, b, m, &b.extents,
        )?))),
        Finish::Fold(f) if f.narrow.is_none() => {
            strides(b, m, 0).map(|_| DirectFold::Fold(folded().collect()))
        }
        Finish::Fold(_) | Finish::Store => None,
    };
    code.members.iter().map(direct).collect()
}

/// The number of inner axes that one stride covers.
fn covered(axes: &[FactorAxis], factor: usize) -> usize {
    let continues = |pair: &&[FactorAxis]| {
        let [(_, outer), (n, inner)] = pair else {
            return false;
        };
        outer[factor] == inner[factor] * *n as isize
    };
    let all = axes.windows(2).rev().take_while(continues).count();
    axes.len().min(1 + all)
}

/// One axis for axes that one stride of a factor covers.
fn merged(axes: &[FactorAxis], factor: usize) -> (usize, isize) {
    let stride = axes.last().map_or(0, |a| a.1[factor]);
    (axes.iter().map(|a| a.0).product(), stride)
}

impl ProductAxes {
    fn of(code: &Code, b: &LaidBox, m: &CodeMember, extents: &[usize]) -> Option<ProductAxes> {
        let (x, y) = (strides(b, m, 0)?, strides(b, m, 1)?);
        let (mut batch, mut folded) = (FactorAxes::new(), FactorAxes::new());
        for (k, (axis, &n)) in b.axes.iter().zip(extents).enumerate() {
            if n > 1 {
                let own = if axis.of < code.rank {
                    &mut batch
                } else {
                    &mut folded
                };
                own.push((n, [x[k], y[k]]));
            }
        }
        let mut last = |factor: usize| {
            let same = batch.iter().rev().take_while(|a| a.1[factor] == 0).count();
            FactorAxes::from_iter(batch.drain(batch.len() - same..))
        };
        let columns = last(0);
        let rows = last(1);
        Some(ProductAxes {
            batch,
            rows,
            columns,
            folded,
        })
    }

    /// The matrices where the factors are. Axes that no stride covers are batch axes.
    fn in_place(&self) -> Option<[Factor; 2]> {
        let is_one = |factor: usize| covered(&self.folded, factor) == self.folded.len();
        if !is_one(0) || !is_one(1) {
            return None;
        }
        let (outer, columns) = self
            .columns
            .split_at(self.columns.len() - covered(&self.columns, 1));
        // Rows precede all columns.
        let rows = match outer.is_empty() {
            true => covered(&self.rows, 0),
            false => 0,
        };
        let (before, rows) = self.rows.split_at(self.rows.len() - rows);
        let batch = || self.batch.iter().chain(before).chain(outer);
        let matrices = |factor: usize, inner: [&[FactorAxis]; 2]| {
            let mut all = FactorView::default();
            batch().for_each(|&(n, strides)| all.push((n, strides[factor])));
            inner.iter().for_each(|axes| all.push(merged(axes, factor)));
            Factor {
                matrices: all,
                copied: None,
            }
        };
        Some([
            matrices(0, [rows, &self.folded]),
            matrices(1, [&self.folded, columns]),
        ])
    }

    /// The largest matrices: factors that strides do not cover are copied.
    fn copied(&self) -> [Factor; 2] {
        let matrices = |factor: usize, inner: [&[FactorAxis]; 2]| {
            let is_covered = inner.iter().all(|axes| covered(axes, factor) == axes.len());
            let mut all = FactorView::default();
            if is_covered {
                let batch = self.batch.iter();
                batch.for_each(|&(n, strides)| all.push((n, strides[factor])));
                inner.iter().for_each(|axes| all.push(merged(axes, factor)));
                return Factor {
                    matrices: all,
                    copied: None,
                };
            }
            let (mut own, mut step) = (FactorView::default(), 1);
            let mut dense = |n: usize| {
                let stride = step as isize;
                step *= n;
                (n, stride)
            };
            // Innermost first.
            for axes in inner.iter().rev() {
                all.push(dense(axes.iter().map(|a| a.0).product()));
            }
            for &(n, strides) in self.batch.iter().rev() {
                all.push(match strides[factor] {
                    0 => (n, 0),
                    _ => dense(n),
                });
            }
            all.shape.reverse();
            all.strides.reverse();
            let moving = self.batch.iter().filter(|a| a.1[factor] != 0);
            for &(n, strides) in moving.chain(inner.into_iter().flatten()) {
                own.push((n, strides[factor]));
            }
            Factor {
                matrices: all,
                copied: Some(own),
            }
        };
        [
            matrices(0, [&self.rows, &self.folded]),
            matrices(1, [&self.folded, &self.columns]),
        ]
    }
}
