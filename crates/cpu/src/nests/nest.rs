//! Nests: the computations of a function, each of one value over a space of indices.

use super::access::{IndexMap, Read};
use super::shared::Shared;
use cotangent_core::ops::Reduction;
use cotangent_core::{Array, DType, Dim, Function, Op, Scalar, Type, Val};
use rustc_hash::FxHashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The role of an axis of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AxisKind {
    /// An axis of the result.
    Par,
    /// An axis that is folded.
    Fold,
}

/// An axis of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpaceAxis {
    pub extent: Dim,
    pub kind: AxisKind,
}

/// The indices of a nest: first the axes of the result, then those that are folded. Nests share
/// equal spaces.
pub(crate) type Space = Shared<SpaceAxis>;

/// Maximum number of operands of an operation of one element.
pub(crate) const MAX_OPERANDS: usize = 3;

/// Numbers of the operations whose results are the operands of another one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExprOperands {
    count: u32,
    at: [u32; MAX_OPERANDS],
}

impl ExprOperands {
    /// Appends an operand. There are at most [`MAX_OPERANDS`].
    pub(crate) fn push(&mut self, x: u32) {
        self.at[self.count as usize] = x;
        self.count += 1;
    }
}

impl Deref for ExprOperands {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.at[..self.count as usize]
    }
}

impl DerefMut for ExprOperands {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.at[..self.count as usize]
    }
}

/// An operation of one element.
#[derive(Clone, Debug)]
pub(crate) enum ExprOp {
    Read(Read),
    Number(Box<Scalar>),
    /// The index along an axis.
    Index(usize),
    Extent(Dim),
    /// An elementwise operation of the results of earlier operations. Expressions share equal
    /// operations.
    Apply {
        op: Arc<Op>,
        operands: ExprOperands,
    },
}

/// An operation of an expression, and the type of its result.
#[derive(Clone, Debug)]
pub(crate) struct ExprNode {
    pub op: ExprOp,
    pub dtype: DType,
}

/// A scalar expression: single assignments, of which the last is the result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expr {
    pub nodes: Vec<ExprNode>,
}

impl Expr {
    /// Appends an operation, and returns its number.
    pub(crate) fn push(&mut self, op: ExprOp, dtype: DType) -> u32 {
        self.nodes.push(ExprNode { op, dtype });
        self.nodes.len() as u32 - 1
    }

    /// Appends a read.
    pub(crate) fn read(&mut self, read: Read, dtype: DType) -> u32 {
        match read.as_number() {
            Some(s) => self.push(ExprOp::Number(Box::new(s)), dtype),
            None => self.push(ExprOp::Read(read), dtype),
        }
    }

    /// Appends another expression, and returns the number of its result.
    pub(crate) fn splice(&mut self, other: Expr) -> u32 {
        if self.nodes.is_empty() {
            self.nodes = other.nodes;
            return self.nodes.len() as u32 - 1;
        }
        let base = self.nodes.len() as u32;
        // One more, which uses the result.
        self.nodes.reserve(other.nodes.len() + 1);
        for mut node in other.nodes {
            if let ExprOp::Apply { operands, .. } = &mut node.op {
                operands.iter_mut().for_each(|x| *x += base);
            }
            self.nodes.push(node);
        }
        self.nodes.len() as u32 - 1
    }

    /// Its reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Read> {
        self.nodes.iter().filter_map(|n| match &n.op {
            ExprOp::Read(r) => Some(r),
            ExprOp::Number(_) | ExprOp::Index(_) | ExprOp::Extent(_) | ExprOp::Apply { .. } => None,
        })
    }

    /// Its reads, to change them.
    pub(crate) fn reads_mut(&mut self) -> impl Iterator<Item = &mut Read> {
        self.nodes.iter_mut().filter_map(|n| match &mut n.op {
            ExprOp::Read(r) => Some(r),
            ExprOp::Number(_) | ExprOp::Index(_) | ExprOp::Extent(_) | ExprOp::Apply { .. } => None,
        })
    }

    /// The expression at mapped indices; as [`Read::through`]. An index must become another one.
    pub(crate) fn through(&self, map: &IndexMap, space: &[Dim]) -> Option<Expr> {
        if map.is_identity() {
            return Some(self.clone());
        }
        let node = |n: &ExprNode| {
            let op = match &n.op {
                ExprOp::Read(r) => ExprOp::Read(r.through(map, space)?),
                ExprOp::Index(k) => ExprOp::Index(map.at[*k].as_axis()?),
                other => other.clone(),
            };
            Some(ExprNode { op, ..n.clone() })
        };
        let nodes = self.nodes.iter().map(node).collect::<Option<_>>()?;
        Some(Expr { nodes })
    }
}

/// The order in which a fold combines elements. Elements are numbered in row-major order of the
/// folded axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The tree of [`cotangent_kernels::tree`].
    Tree,
    /// A compensated sum.
    Exact,
    /// Chains of fused multiplications and additions, as in matrix products. The products that are
    /// added are not rounded.
    Chain,
    /// The elements of a small sliding window, for each of which phases have instructions.
    Window(WindowOrder),
}

/// The order of the elements of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowOrder {
    /// As [`Order::Tree`].
    Tree,
    /// As [`Order::Chain`].
    Chain,
    /// Rounded products that are added in sequence, as in convolutions with few outputs.
    Sequence,
}

/// The reason for which an equation is a [`What::Call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// A reshape of which an index is not affine.
    Reshape,
    /// A concatenation of more operands than a read chooses from.
    Pieces,
    /// A matrix product that is large, compensated, or of symbolic extents.
    Product,
    /// A reduction over axes that extents decide.
    Axes,
    /// The position of an extremum.
    Position,
    /// Running results along an axis.
    Prefix,
    /// A gather of checked or discarded indices.
    Indices,
    /// Updates at indices.
    Scatter,
    /// Sums and products over sliding windows.
    Window,
    /// A bitcast that changes the number of elements.
    Bits,
    Sort,
    Fourier,
    /// A factorization, or a solution by one.
    Matrix,
    /// A loop.
    Loop,
    /// A choice of a region.
    Branch,
    /// A region that is called.
    Region,
    /// A condition that is checked at run time.
    Check,
    /// A result whose extent depends on data.
    Length,
    /// An extension operation without a function of one element.
    Extension,
}

impl Why {
    /// A noun phrase that follows "because".
    pub(crate) fn text(self) -> &'static str {
        match self {
            Why::Reshape => "reshape of axes that do not divide",
            Why::Pieces => "concatenation of many operands",
            Why::Product => "large product",
            Why::Axes => "folded axes depend on extents",
            Why::Position => "position of an extremum",
            Why::Prefix => "running results",
            Why::Indices => "checked indices",
            Why::Scatter => "scatter",
            Why::Window => "sliding windows",
            Why::Bits => "bitcast of another size",
            Why::Sort => "sort",
            Why::Fourier => "Fourier transform",
            Why::Matrix => "factorization",
            Why::Loop => "loop",
            Why::Branch => "branch",
            Why::Region => "region",
            Why::Check => "check at run time",
            Why::Length => "length depends on data",
            Why::Extension => "extension operation",
        }
    }
}

/// An operand of a call: its elements, at each index of its type.
#[derive(Clone, Debug)]
pub(crate) struct CallOperand {
    pub read: Read,
    pub ty: Type,
}

/// The computation of a nest.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// An expression for each index.
    Map(Expr),
    /// The reduction of an expression over the folded axes.
    Fold {
        expr: Expr,
        how: Reduction,
        order: Order,
    },
    /// Given elements.
    Literal(Box<Array>),
    /// A kernel that computes whole results, of which the value of the nest is the first.
    Call(Box<Call>),
}

/// A kernel that computes whole results.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub op: Op,
    pub operands: Vec<CallOperand>,
    /// Number of results.
    pub results: usize,
    pub why: Why,
}

/// The number of indices of axes of known extents.
pub(crate) fn known_volume<'a>(extents: impl IntoIterator<Item = &'a Dim>) -> Option<usize> {
    let mut extents = extents.into_iter();
    extents.try_fold(1usize, |n, d| n.checked_mul(d.as_const()?))
}

/// The computation of one value, or of the results of one call.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    /// The (first) result.
    pub value: Val,
    /// The equation that defines the value.
    pub eqn: u32,
    pub space: Space,
    pub what: What,
}

/// The computations of a function in order, and its results.
#[derive(Clone, Debug)]
pub(crate) struct Nests<'a> {
    pub function: &'a Function,
    pub nests: Vec<Nest>,
    /// Values of nests that are groups of their own, so that they are computed before later nests
    /// change what they read ([`saved`](super::saved)).
    pub saved: FxHashSet<Val>,
    /// Each result of the function, at each index of its type.
    pub results: Vec<Read>,
}

impl What {
    /// The expression of a map or a fold.
    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            What::Map(expr) | What::Fold { expr, .. } => Some(expr),
            What::Literal(_) | What::Call(_) => None,
        }
    }
}

impl Nest {
    /// The values that it computes.
    pub(crate) fn values(&self) -> impl Iterator<Item = Val> + use<> {
        let count = match &self.what {
            What::Call(c) => c.results,
            What::Map(_) | What::Fold { .. } | What::Literal(_) => 1,
        };
        let first = self.value.index();
        (first..first + count).map(Val::from_index)
    }

    /// The reads of its expression or its call.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Read> {
        let operands = match &self.what {
            What::Call(c) => &c.operands[..],
            What::Map(_) | What::Fold { .. } | What::Literal(_) => &[],
        };
        let of_expr = self.what.expr().into_iter().flat_map(Expr::reads);
        of_expr.chain(operands.iter().map(|x| &x.read))
    }

    /// Extents of the space.
    pub(crate) fn extents(&self) -> Vec<Dim> {
        self.space.iter().map(|a| a.extent.clone()).collect()
    }
}
