//! The type `!sparse.matrix`, and its values.

use crate::SparseOp;
use cotangent_core::{Attr, Attrs, Code, Cotangent, Error, Op, Opaque, OpaqueType, Result};
use std::sync::Arc;

/// Returns an error of this kind.
pub(crate) fn error<T>(code: Code, text: String) -> Result<T> {
    Err(Error::new(code, text))
}

/// The parameters of the type: extents, and which blocks may differ from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    rows: usize,
    columns: usize,
    block: usize,
    blocks: Vec<(usize, usize)>,
}

impl Opaque for Pattern {
    fn name(&self) -> &str {
        "sparse.matrix"
    }

    fn parameters(&self) -> Attrs {
        let pair = |&(i, j): &(usize, usize)| Attr::List(vec![i.into(), j.into()]);
        Attrs::default()
            .with("rows", self.rows)
            .with("columns", self.columns)
            .with("block", self.block)
            .with("blocks", Attr::List(self.blocks.iter().map(pair).collect()))
    }

    /// Matrices of one pattern are a vector space.
    fn cotangent(&self) -> Cotangent {
        Cotangent::Own
    }

    fn zero(&self, own: OpaqueType) -> Option<Op> {
        Some(SparseOp::Zero(own).into())
    }

    fn sum(&self, _: OpaqueType) -> Option<Op> {
        Some(SparseOp::Add.into())
    }
}

impl Pattern {
    /// The type of matrices of `rows` by `columns` elements with these blocks of `block` by `block`
    /// elements, as (row, column) of blocks. Other elements are zero.
    pub fn declare(
        rows: usize,
        columns: usize,
        block: usize,
        blocks: &[(usize, usize)],
    ) -> Result<OpaqueType> {
        let mut blocks = blocks.to_vec();
        blocks.sort_unstable();
        blocks.dedup();
        let divides = |n: usize| block > 0 && n.is_multiple_of(block);
        let inside = |&(i, j): &(usize, usize)| i < rows / block && j < columns / block;
        if !divides(rows) || !divides(columns) || !blocks.iter().all(inside) {
            return error(
                Code::Attribute,
                format!(
                    "blocks of {block} by {block} elements do not fit a matrix of {rows} by {columns}"
                ),
            );
        }
        OpaqueType::declare(Pattern {
            rows,
            columns,
            block,
            blocks,
        })
    }

    /// The pattern of a type, if it is one of block-sparse matrices.
    pub fn of(ty: OpaqueType) -> Option<&'static Pattern> {
        ty.get()
    }

    /// Numbers of rows and columns.
    pub fn extents(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// Number of blocks, and of rows and columns of each: the shape of their elements.
    pub fn shape(&self) -> [usize; 3] {
        [self.blocks.len(), self.block, self.block]
    }

    /// Calls `f` with the position of each stored element, its row and its column.
    pub fn each(&self, mut f: impl FnMut(usize, usize, usize)) {
        let n = self.block;
        for (k, (i, j)) in self.blocks.iter().enumerate() {
            for e in 0..n * n {
                f(k * n * n + e, i * n + e / n, j * n + e % n);
            }
        }
    }
}

/// A value of the type: the elements of its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    ty: OpaqueType,
    elements: Arc<Vec<f64>>,
}

impl Matrix {
    /// The matrix of this type with these elements: block after block, each in row-major order.
    pub fn new(ty: OpaqueType, elements: Vec<f64>) -> Result<Matrix> {
        match Pattern::of(ty) {
            Some(p) if p.shape().iter().product::<usize>() == elements.len() => Ok(Matrix {
                ty,
                elements: Arc::new(elements),
            }),
            Some(p) => error(
                Code::ShapeMismatch,
                format!(
                    "{} elements do not fill {:?} blocks",
                    elements.len(),
                    p.shape()
                ),
            ),
            None => error(
                Code::DTypeMismatch,
                format!("{ty} is no block-sparse matrix"),
            ),
        }
    }

    /// The type.
    pub fn ty(&self) -> OpaqueType {
        self.ty
    }

    /// The pattern.
    pub fn pattern(&self) -> &'static Pattern {
        Pattern::of(self.ty).expect("checked by `new`")
    }

    /// The elements of the blocks.
    pub fn elements(&self) -> &[f64] {
        &self.elements
    }
}
