//! The geometry of `gather` and `scatter`: windows of an operand, one per index vector.
//!
//! The array of indices has one axis of index vectors ([`Windows::vector`]). Its other axes count
//! the windows. The array of windows has these axes, in order, and the axes of a window at the
//! positions [`Windows::window`]. For the window at `g` and its element `w`:
//!
//! ```text
//! start[axes[c]] = indices[g, c],    start[operand_batch[k]] = g[index_batch[k]],    0 elsewhere
//! windows[g, w]  <->  operand[start + w]
//! ```
//! These are StableHLO's dimension numbers, with common names for both operations. Windows are
//! processed in the order of `g`, and the elements of each in row-major order.

use super::entry::Spelled;
use super::moving::{advance, exceeds, prepend, shifted, strides};
use crate::array::{Array, Wide};
use crate::bail;
use crate::error::{Code, Error, Result};
use crate::ir::{Attrs, Primitive};
use crate::shape::{Dim, Type};

/// Treatment of elements of windows that are outside the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// Starts are clamped so that windows fit.
    Clip,
    /// Elements outside read as zero, and writes to them are skipped.
    Drop,
    /// A run-time error that names the index.
    Error,
}

impl Bounds {
    /// The name in the text form.
    pub(super) fn word(self, reads: bool) -> &'static str {
        match self {
            Bounds::Clip => "clip",
            Bounds::Drop if reads => "fill",
            Bounds::Drop => "drop",
            Bounds::Error => "error",
        }
    }

    /// Takes the attribute `mode`.
    pub(super) fn take(s: &mut Spelled<'_>, default: Bounds) -> Result<Bounds> {
        Ok(match s.attrs.opt::<String>("mode")?.as_deref() {
            None => default,
            Some("clip") => Bounds::Clip,
            Some("drop" | "fill") => Bounds::Drop,
            Some("error") => Bounds::Error,
            Some(m) => bail!(
                Attribute,
                "`{}` has no mode `{m}`; there are clip, fill (drop) and error",
                s.name
            ),
        })
    }
}

/// The roles of axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Windows {
    /// Axes of the array of windows along which a window extends, ascending.
    pub window: Vec<usize>,
    /// Axes of the operand in which windows have extent 1 and no axis, ascending.
    pub collapsed: Vec<usize>,
    /// Batch axes of the operand, ascending.
    pub operand_batch: Vec<usize>,
    /// The batch axes of the indices that are paired with them.
    pub index_batch: Vec<usize>,
    /// The axis of the operand that each component of an index vector indexes.
    pub axes: Vec<usize>,
    /// The axis of index vectors; the rank of the indices if they are scalars.
    pub vector: usize,
}

/// Names of the fields in the text form.
pub(super) type FieldNames = [&'static str; 6];

pub(super) const GATHER_FIELDS: FieldNames = [
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];

pub(super) const SCATTER_FIELDS: FieldNames = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];

/// The function that combines an element with an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Combine {
    /// The update; the last one if there are several.
    Set,
    Add,
    Mul,
    Min,
    Max,
}

impl Windows {
    /// Windows of a `take`: for each index (an array of rank `indices`), the slice of an operand of
    /// rank `rank` at that index along `axis`. The axes of the indices replace `axis`.
    pub fn parts(rank: usize, axis: usize, indices: usize) -> Windows {
        Windows {
            window: (0..axis)
                .chain(axis + indices..(rank + indices).saturating_sub(1))
                .collect(),
            collapsed: vec![axis],
            axes: vec![axis],
            vector: indices,
            ..Windows::default()
        }
    }

    /// Windows of a `take_along_axis`: for each index, the element with that index along `axis` and
    /// the position of the index along the other axes.
    pub fn along(rank: usize, axis: usize) -> Windows {
        let others: Vec<usize> = (0..rank).filter(|&k| k != axis).collect();
        Windows {
            collapsed: vec![axis],
            operand_batch: others.clone(),
            index_batch: others,
            axes: vec![axis],
            vector: rank,
            ..Windows::default()
        }
    }

    /// One window without collapsed axes per row of a matrix of starts. If `batched`, the operand
    /// has the axis of rows, too.
    pub(super) fn at_starts(rank: usize, batched: bool) -> Windows {
        let batch = if batched { vec![0] } else { Vec::new() };
        Windows {
            window: (1..=rank).collect(),
            axes: (0..rank).map(|k| k + batch.len()).collect(),
            operand_batch: batch.clone(),
            index_batch: batch,
            collapsed: Vec::new(),
            vector: 1,
        }
    }

    pub(super) fn attrs(&self, names: FieldNames) -> Attrs {
        let lists = [
            &self.window,
            &self.collapsed,
            &self.operand_batch,
            &self.index_batch,
            &self.axes,
        ];
        let mut a = Attrs::default();
        for (k, list) in lists.into_iter().enumerate() {
            // The batch axes are the exception.
            a = a.with_if(!matches!(k, 2 | 3) || !list.is_empty(), names[k], list);
        }
        a.with(names[5], self.vector)
    }

    pub(super) fn parse(s: &mut Spelled<'_>, names: FieldNames) -> Result<Windows> {
        let mut list = |k: usize| Ok(s.attrs.opt::<Vec<usize>>(names[k])?.unwrap_or_default());
        let lists = [list(0)?, list(1)?, list(2)?, list(3)?, list(4)?];
        Ok(Windows::of(lists, s.attrs.get(names[5])?))
    }

    /// Windows with these lists of axes, in the order of the fields.
    fn of(lists: [Vec<usize>; 5], vector: usize) -> Windows {
        let [window, collapsed, operand_batch, index_batch, axes] = lists;
        Windows {
            window,
            collapsed,
            operand_batch,
            index_batch,
            axes,
            vector,
        }
    }

    /// Extents of the axes that count windows.
    fn outer<T: Clone>(&self, indices: &[T]) -> Vec<T> {
        let keep = |&k: &usize| k != self.vector;
        (0..indices.len())
            .filter(keep)
            .map(|k| indices[k].clone())
            .collect()
    }

    /// Whether windows have an axis for this axis of the operand.
    fn extends(&self, axis: usize) -> bool {
        !self.collapsed.contains(&axis) && !self.operand_batch.contains(&axis)
    }

    /// Extents of a window along the axes of an operand of this rank.
    pub(crate) fn sizes(&self, rank: usize, windows: &[Dim]) -> Vec<Dim> {
        let mut at = self.window.iter();
        let mut size = |k| {
            if self.extends(k) {
                windows[*at.next().expect("checked")].clone()
            } else {
                Dim::Const(1)
            }
        };
        (0..rank).map(&mut size).collect()
    }

    /// Whether windows are certainly disjoint: there is one per index of the batch axes.
    pub(super) fn disjoint(&self, indices: &Type) -> bool {
        let batch = |k: &usize| *k == self.vector || self.index_batch.contains(k);
        (0..indices.rank()).all(|k| batch(&k) || indices.shape[k].is(1))
    }

    /// Checks the axes for an operand and indices of these types.
    fn check(&self, op: &str, names: FieldNames, x: &Type, indices: &Type) -> Result<()> {
        if !indices.dtype.is_int() {
            bail!(DTypeMismatch, "`{op}` needs integer indices, got {indices}");
        }
        if self.vector > indices.rank() {
            bail!(
                Attribute,
                "`{op}`: {} = {}, but the indices are {indices}",
                names[5],
                self.vector
            );
        }
        let windows =
            self.window.len() + indices.rank() - usize::from(self.vector < indices.rank());
        let axes = |k: usize,
                    list: &[usize],
                    rank: usize,
                    ascending: bool,
                    what: &dyn std::fmt::Display| {
            let twice = (1..list.len()).any(|i| list[..i].contains(&list[i]));
            if twice || list.iter().any(|&a| a >= rank) || (ascending && !list.is_sorted()) {
                let order = if ascending { "ascending" } else { "different" };
                bail!(
                    Attribute,
                    "`{op}`: `{}` = {list:?} must be {order} axes of {what}",
                    names[k]
                );
            }
            Ok(())
        };
        axes(
            0,
            &self.window,
            windows,
            true,
            &format!("windows of rank {windows}"),
        )?;
        axes(1, &self.collapsed, x.rank(), true, x)?;
        axes(2, &self.operand_batch, x.rank(), true, x)?;
        axes(3, &self.index_batch, indices.rank(), false, indices)?;
        axes(4, &self.axes, x.rank(), false, x)?;
        self.check_batch(op, names, x, indices)?;
        if self.window.len() + self.collapsed.len() + self.operand_batch.len() != x.rank() {
            bail!(
                Attribute,
                "`{op}`: {} axes of windows, {} collapsed and {} batch axes are not the {} of {x}",
                self.window.len(),
                self.collapsed.len(),
                self.operand_batch.len(),
                x.rank()
            );
        }
        let components = indices
            .shape
            .get(self.vector)
            .cloned()
            .unwrap_or(Dim::Const(1));
        if components.same(&Dim::Const(self.axes.len())) == Some(false) {
            bail!(
                ShapeMismatch,
                "`{op}`: index vectors of {indices} have {components} components, `{}` = {:?}",
                names[4],
                self.axes
            );
        }
        Ok(())
    }

    /// Checks that the batch axes of both operands are paired and have no other use.
    fn check_batch(&self, op: &str, names: FieldNames, x: &Type, indices: &Type) -> Result<()> {
        if self.operand_batch.len() != self.index_batch.len()
            || self.index_batch.contains(&self.vector)
        {
            bail!(
                Attribute,
                "`{op}`: `{}` = {:?} and `{}` = {:?} must pair axes, none of them the axis {} of index vectors",
                names[2],
                self.operand_batch,
                names[3],
                self.index_batch,
                self.vector
            );
        }
        for (&a, &b) in self.operand_batch.iter().zip(&self.index_batch) {
            if x.shape[a].same(&indices.shape[b]) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`{op}`: batch axes {a} of {x} and {b} of the indices {indices} differ"
                );
            }
        }
        if let Some(a) = self
            .operand_batch
            .iter()
            .find(|a| self.collapsed.contains(a) || self.axes.contains(a))
        {
            bail!(
                Attribute,
                "`{op}`: axis {a} of {x} is a batch axis and may not be collapsed or indexed"
            );
        }
        Ok(())
    }

    /// The type of windows of these extents.
    pub(super) fn infer_read(
        &self,
        op: &str,
        names: FieldNames,
        bounds: Bounds,
        x: &[Type],
        sizes: &[Dim],
    ) -> Result<Type> {
        let [x, indices] = x else {
            bail!(
                Arity,
                "`{op}` takes an operand and indices, got {} operands",
                x.len()
            )
        };
        self.check(op, names, x, indices)?;
        if sizes.len() != x.rank() {
            bail!(
                Attribute,
                "`{op}`: `slice_sizes` has {} entries for the {} axes of {x}",
                sizes.len(),
                x.rank()
            );
        }
        let mut inner = Vec::with_capacity(self.window.len());
        for (k, size) in sizes.iter().enumerate() {
            if self.extends(k) {
                inner.push(size.clone());
            } else if size.same(&Dim::Const(1)) == Some(false) {
                bail!(
                    Attribute,
                    "`{op}`: axis {k} of {x} is collapsed or a batch axis: its slice is 1, not {size}"
                );
            }
        }
        let (mut inner, mut outer) = (inner.into_iter(), self.outer(&indices.shape).into_iter());
        let rank = inner.len() + outer.len();
        let next = |k| {
            if self.window.contains(&k) {
                inner.next()
            } else {
                outer.next()
            }
        };
        let y = x.with_shape((0..rank).filter_map(next).collect::<Vec<_>>());
        self.check_sizes(op, bounds, x, sizes, &y)?;
        Ok(y)
    }

    /// Checks windows of this type against the operand and the indices.
    pub(super) fn check_write(
        &self,
        op: &str,
        names: FieldNames,
        bounds: Bounds,
        x: &Type,
        indices: &Type,
        windows: &Type,
    ) -> Result<()> {
        self.check(op, names, x, indices)?;
        let outer = self.outer(&indices.shape);
        if windows.dtype != x.dtype || windows.rank() != outer.len() + self.window.len() {
            bail!(
                ShapeMismatch,
                "`{op}` into {x} at {indices} needs updates of type {} and rank {}, got {windows}",
                x.dtype,
                outer.len() + self.window.len()
            );
        }
        let mut outer = outer.iter();
        for (k, n) in windows
            .shape
            .iter()
            .enumerate()
            .filter(|(k, _)| !self.window.contains(k))
        {
            let want = outer.next().expect("the ranks agree");
            if n.same(want) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`{op}` at {indices}: axis {k} of the updates {windows} must be {want}"
                );
            }
        }
        let sizes = self.sizes(x.rank(), &windows.shape);
        self.check_sizes(op, bounds, x, &sizes, windows)
    }

    /// Checks that a window of these extents fits the operand. Along an axis that windows do not
    /// have, an extent of 0 has no place for one, clamped or at index 0; this is an error if there
    /// is a window. Indices along it that are not clamped are out of bounds in a run.
    fn check_sizes(
        &self,
        op: &str,
        bounds: Bounds,
        x: &Type,
        sizes: &[Dim],
        windows: &Type,
    ) -> Result<()> {
        let some = windows.shape.iter().all(|d| d.as_const() > Some(0));
        let found = |k: usize| bounds == Bounds::Clip || !self.axes.contains(&k);
        for (axis, (size, n)) in sizes.iter().zip(x.shape.iter()).enumerate() {
            let code = match self.extends(axis) {
                true => Code::ShapeMismatch,
                false if some && found(axis) => Code::OutOfBounds,
                false => continue,
            };
            if exceeds(size, n) {
                let text = format!("`{op}`: a window of {size} does not fit axis {axis} of {x}");
                return Err(Error::new(code, text));
            }
        }
        Ok(())
    }

    /// `(flat index in windows, flat index in the operand)` of every element of every window that
    /// is inside the operand, in order.
    pub(super) fn pairs(
        &self,
        op: &dyn Primitive,
        bounds: Bounds,
        x: &[usize],
        indices: &Array,
        windows: &[usize],
    ) -> Result<Vec<(usize, usize)>> {
        let mut out = Vec::new();
        if windows.contains(&0) {
            return Ok(out);
        }
        let Wide::I(values) = indices.wide() else {
            unreachable!("the type rule asks for integers")
        };
        let (windows_by, x_by, index_by) = (strides(windows), strides(x), strides(indices.shape()));
        let outer_axes: Vec<usize> = (0..windows.len())
            .filter(|k| !self.window.contains(k))
            .collect();
        let outer: Vec<usize> = outer_axes.iter().map(|&k| windows[k]).collect();
        let window: Vec<usize> = self.window.iter().map(|&k| windows[k]).collect();
        let extended: Vec<usize> = (0..x.len()).filter(|&k| self.extends(k)).collect();
        let mut size = vec![1; x.len()];
        for (&k, &n) in extended.iter().zip(&window) {
            size[k] = n;
        }
        let mut g = vec![0; outer.len()];
        loop {
            // Start of the index vector: the axes of the indices without that of vectors are those
            // of `g`.
            let other = (0..indices.shape().len()).filter(|&k| k != self.vector);
            let from: usize = other.zip(&g).map(|(k, g)| index_by[k] * g).sum();
            let mut start = vec![0i128; x.len()];
            for (c, &axis) in self.axes.iter().enumerate() {
                let i = values[from + c * index_by.get(self.vector).copied().unwrap_or(0)];
                let last = x[axis] as i128 - size[axis] as i128;
                start[axis] = if bounds == Bounds::Clip {
                    i.min(last).max(0)
                } else {
                    i
                };
                if bounds != Bounds::Drop && !(0..=last).contains(&start[axis]) {
                    let extent = x[axis];
                    bail!(
                        OutOfBounds,
                        "`{}`: index {i} at {g:?} is out of bounds for axis {axis} of extent {extent} (window {})",
                        op.name(),
                        size[axis]
                    );
                }
            }
            for (&axis, &k) in self.operand_batch.iter().zip(&self.index_batch) {
                start[axis] = g[k - usize::from(k > self.vector)] as i128;
            }
            let base: usize = outer_axes
                .iter()
                .zip(&g)
                .map(|(&k, g)| windows_by[k] * g)
                .sum();
            let mut w = vec![0; window.len()];
            loop {
                let mut index = start.clone();
                for (&k, &w) in extended.iter().zip(&w) {
                    index[k] += w as i128;
                }
                let inside = index
                    .iter()
                    .zip(x)
                    .all(|(&i, &n)| (0..n as i128).contains(&i));
                let to = index.iter().zip(&x_by).map(|(&i, &by)| i as usize * by);
                let at = base
                    + self
                        .window
                        .iter()
                        .zip(&w)
                        .map(|(&k, w)| windows_by[k] * w)
                        .sum::<usize>();
                if inside {
                    out.push((at, to.sum()));
                }
                if !advance(&mut w, &window) {
                    break;
                }
            }
            if !advance(&mut g, &outer) {
                return Ok(out);
            }
        }
    }

    /// The geometry for an operand with one more leading axis, which is the first axis of windows.
    pub(super) fn wider(&self) -> Windows {
        Windows {
            window: prepend(0, &shifted(&self.window)),
            collapsed: shifted(&self.collapsed),
            operand_batch: shifted(&self.operand_batch),
            index_batch: self.index_batch.clone(),
            axes: shifted(&self.axes),
            vector: self.vector,
        }
    }

    /// The geometry for indices with one more leading batch axis, and one of the operand if
    /// `operand`.
    pub(super) fn batched(&self, operand: bool) -> Windows {
        let moved = |axes: &[usize]| {
            if operand {
                shifted(axes)
            } else {
                axes.to_vec()
            }
        };
        let first = |axes: Vec<usize>| if operand { prepend(0, &axes) } else { axes };
        Windows {
            window: shifted(&self.window),
            collapsed: moved(&self.collapsed),
            operand_batch: first(moved(&self.operand_batch)),
            index_batch: first(shifted(&self.index_batch)),
            axes: moved(&self.axes),
            vector: self.vector + 1,
        }
    }
}

/// The cost of moving windows: twice the bytes of the windows, plus those of the indices.
pub(super) fn cost(flops: f64, indices: &Type, windows: &Type) -> crate::ir::Cost {
    use super::support::{bytes, count};
    crate::ir::Cost {
        flops: flops * count(windows),
        bytes: 2.0 * bytes(windows) + bytes(indices),
    }
}

/// Window geometries with indices, for the samples of all operations with windows.
pub(super) struct GatherCase {
    pub windows: Windows,
    pub sizes: Vec<usize>,
    pub x: Vec<usize>,
    pub indices: Array,
    /// Whether an index is out of bounds.
    pub outside: bool,
}

impl GatherCase {
    /// Extents of the array of windows.
    pub(super) fn shape(&self) -> Vec<usize> {
        let sizes: Vec<Dim> = self.sizes.iter().map(|&d| Dim::Const(d)).collect();
        let x = Type::new(crate::DType::F64, self.x.as_slice());
        let ty = self.windows.infer_read(
            "gather",
            GATHER_FIELDS,
            Bounds::Drop,
            &[x, self.indices.ty()],
            &sizes,
        );
        ty.ok()
            .and_then(|t| t.shape.as_const())
            .expect("cases are well formed")
    }
}

/// A case. `lists` are the axes of [`Windows`], in the order of its fields.
fn case(
    lists: [&[usize]; 5],
    vector: usize,
    sizes: &[usize],
    x: &[usize],
    indices: Array,
    outside: bool,
) -> GatherCase {
    GatherCase {
        windows: Windows::of(lists.map(<[usize]>::to_vec), vector),
        sizes: sizes.to_vec(),
        x: x.to_vec(),
        indices,
        outside,
    }
}

pub(super) fn cases() -> Vec<GatherCase> {
    let i = |shape: &[usize], v: &[i32]| {
        Array::from_vec(shape, v.to_vec()).expect("as many as the shape has")
    };
    vec![
        // Elements of a vector, one of them repeated.
        case(
            [&[], &[0], &[], &[], &[0]],
            1,
            &[1],
            &[4],
            i(&[3], &[0, 2, 0]),
            false,
        ),
        // Rows of a matrix; out of bounds at both ends.
        case(
            [&[1], &[0], &[], &[], &[0]],
            1,
            &[1, 2],
            &[3, 2],
            i(&[4], &[2, -1, 0, 7]),
            true,
        ),
        // Columns, index vectors along a first axis, overlapping windows.
        case(
            [&[0, 2], &[], &[], &[], &[1]],
            0,
            &[2, 2],
            &[2, 4],
            i(&[1, 3], &[1, 0, 3]),
            true,
        ),
        // Points of a matrix.
        case(
            [&[], &[0, 1], &[], &[], &[1, 0]],
            1,
            &[1, 1],
            &[2, 3],
            i(&[3, 2], &[2, 1, 0, 0, 2, 1]),
            false,
        ),
        // A batch axis in both operands; not the first axis of the indices.
        case(
            [&[2], &[1], &[0], &[1], &[1]],
            2,
            &[1, 1, 2],
            &[2, 3, 2],
            i(&[2, 2], &[1, 0, 1, 2]),
            false,
        ),
        // No windows, and windows without elements.
        case(
            [&[1], &[0], &[], &[], &[0]],
            1,
            &[1, 2],
            &[3, 2],
            i(&[0], &[]),
            false,
        ),
        case(
            [&[1], &[], &[], &[], &[0]],
            1,
            &[0],
            &[3],
            i(&[2], &[1, 2]),
            false,
        ),
        // One window, with index vectors without components.
        case(
            [&[0], &[], &[], &[], &[]],
            0,
            &[2],
            &[2],
            i(&[0], &[]),
            false,
        ),
    ]
}
