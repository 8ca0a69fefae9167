//! Code of a phase: the expressions of nests of one space, as one program over tiles whose inputs
//! are the reads.
//!
//! Which instructions an operation has is decided in [`elementwise`](crate::elementwise) alone.

use super::compose::{CodeChoice, Composer, Composition, Leaf, Planned};
use crate::elementwise::{Lowering, Typed, literal};
use crate::folds::{RawFold, RawProduct, fold_type};
use crate::nests::access::IndexMap;
use crate::nests::nest::{AxisKind, Expr, ExprOp, Order, Space, What};
use cotangent_core::ops::{Op, Reduce, Reduction};
use cotangent_core::{Array, DType, Dim, Env, Val};
use cotangent_kernels::tile::fold::ReduceOp;
use cotangent_kernels::tile::{Body, Builder, Value};
use cotangent_kernels::tree::Lanes;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// The use of the outputs of the code that belong to a member.
pub(crate) enum Finish {
    /// The output is the value.
    Store,
    /// The output is reduced along the folded axes.
    Fold(FoldCode),
    /// The products of two outputs are added along the folded axes, as matrix products are.
    Product(RawProduct),
}

/// A reduction of an output.
pub(crate) struct FoldCode {
    pub(crate) how: Reduction,
    pub(crate) stable: bool,
    pub(crate) fold: RawFold,
    /// The type of the output and of the result of `fold`.
    pub(crate) dtype: DType,
    /// The conversion of results to the type of the value, if that is another.
    pub(crate) narrow: Option<Box<Body>>,
    /// The fold of rows of at most
    /// [`FOLD_CHUNK_ELEMENTS`](cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS) elements of f32
    /// or f64, if it has one.
    pub(crate) of_short_rows: Option<ReduceOp>,
    /// The bytes of the reduction of no elements.
    pub(crate) empty: Vec<u8>,
}

impl FoldCode {
    /// The number of lanes of the fold's order.
    pub(crate) fn lanes(&self) -> usize {
        match self.dtype {
            DType::F64 | DType::C128 => <f64 as Lanes>::LANES,
            _ => <f32 as Lanes>::LANES,
        }
    }
}

/// Where the elements of an output are in the memory of its value: that of index `i` among `n` is
/// at `(before * n + i) * step + after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementSlot {
    pub(crate) before: usize,
    pub(crate) step: usize,
    pub(crate) after: usize,
}

impl ElementSlot {
    /// Elements in the order of their indices.
    pub(crate) const ROW_MAJOR: ElementSlot = ElementSlot {
        before: 0,
        step: 1,
        after: 0,
    };
}

/// A value that a step computes, or one of its elements for each index.
pub(crate) struct CodeMember {
    /// The type of the value.
    pub(crate) dtype: DType,
    pub(crate) finish: Finish,
    pub(crate) slot: ElementSlot,
    /// The first of its outputs, and their element types.
    pub(crate) output: usize,
    pub(crate) outputs: SmallVec<[DType; 2]>,
    /// The input that each output is a copy of.
    pub(crate) copies: SmallVec<[Option<usize>; 2]>,
}

/// Members that are written together: elements of one row, in order.
pub(crate) type MemberRow = SmallVec<[usize; 1]>;

/// Largest number of members that are written together.
const MAX_ROW_MEMBERS: usize = 4;

/// A range of each axis of a space.
pub(crate) type Region = SmallVec<[Range<usize>; 4]>;

/// The code of nests of one space.
pub(crate) struct Code {
    pub(crate) space: Space,
    /// The range of each axis in which values are computed; `None`: all indices.
    pub(crate) region: Option<Region>,
    /// Number of axes of the result; the others are folded.
    pub(crate) rank: usize,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) body: Body,
    /// Estimated time for each index, in ps.
    pub(crate) cost: u64,
    pub(crate) members: Vec<CodeMember>,
    /// The members, each alone or with those that are the other elements of its short row.
    pub(crate) rows: Vec<MemberRow>,
    /// Choices between values that the code computes, which a box may decide.
    pub(crate) choices: Option<Box<CodeChoices>>,
}

/// The parts of code, which make it anew with fewer choices.
pub(crate) struct CodeChoices {
    pub(crate) builder: Builder,
    pub(crate) results: Vec<Value>,
    pub(crate) of: Vec<CodeChoice>,
}

impl Code {
    /// Whether a member is a matrix product.
    pub(crate) fn has_product(&self) -> bool {
        let is_product = |m: &CodeMember| matches!(m.finish, Finish::Product(_));
        self.members.iter().any(is_product)
    }

    /// Whether the elements of each output are adjacent in the memory of its value, in row-major
    /// order of the space.
    pub(crate) fn stores_in_place(&self) -> bool {
        let in_order = |m: &CodeMember| m.slot.step == 1;
        self.rank == self.space.len() && self.members.iter().all(in_order)
    }
}

/// A value of code.
pub(crate) enum CodeRoot {
    /// A map or a fold over the code's space, by the number of its nest.
    Nest(u32),
    /// An element of a value for each index of a space of fewer axes.
    Element {
        nest: u32,
        at: IndexMap,
        slot: ElementSlot,
    },
    /// An expression for each index.
    Expr(Expr),
}

/// The code of values of a space, in order. The values of `inlined` become part of it. Returns the
/// reason for which there is no code.
pub(crate) fn code(
    cx: &Composition<'_>,
    space: &Space,
    roots: &[CodeRoot],
    inlined: FxHashMap<Val, u32>,
) -> Planned<Code> {
    let rank = space.iter().filter(|a| a.kind == AxisKind::Par).count();
    let extents: Vec<Dim> = space.iter().map(|a| a.extent.clone()).collect();
    let mut b = Composer::new(cx, &extents, inlined);
    let what = |nest: u32| &cx.nests.nests[nest as usize].what;
    let own = IndexMap::identity(rank);
    // A fold without axes in the space has instructions for each element.
    let is_loop = |nest: u32| cx.nests.nests[nest as usize].space.len() == space.len();
    for r in roots {
        match r {
            CodeRoot::Element { nest, at, .. } => b.require(*nest, at.clone())?,
            CodeRoot::Expr(e) => b.require_reads(e)?,
            CodeRoot::Nest(k) => match what(*k) {
                What::Fold { expr, .. } if is_loop(*k) => b.require_reads(expr)?,
                _ => b.require(*k, own.clone())?,
            },
        }
    }
    b.compute()?;
    let (mut results, mut members): (Vec<Value>, Vec<CodeMember>) = (Vec::new(), Vec::new());
    for r in roots {
        let mut place = ElementSlot::ROW_MAJOR;
        let (finish, outputs, dtype) = match r {
            CodeRoot::Element { nest, at, slot } => {
                place = *slot;
                stored(b.value(*nest, at))
            }
            CodeRoot::Expr(e) => {
                let nodes = b.own_nodes(e);
                stored(nodes[nodes.len() - 1])
            }
            CodeRoot::Nest(k) => match what(*k) {
                What::Fold { expr, how, order } if is_loop(*k) => {
                    folded(&mut b, expr, *how, *order, rank)
                }
                _ => stored(b.value(*k, &own)),
            },
        };
        let copies = outputs.iter().map(|&y| b.input_of(y)).collect();
        members.push(CodeMember {
            dtype,
            finish,
            slot: place,
            output: results.len(),
            outputs: outputs.iter().map(|y| y.1).collect(),
            copies,
        });
        results.extend(outputs.iter().map(|y| y.0));
    }
    let of = std::mem::take(&mut b.choices);
    let choices = (!of.is_empty()).then(|| {
        Box::new(CodeChoices {
            builder: b.lowering.builder().clone(),
            results: results.clone(),
            of,
        })
    });
    let (body, cost) = b.lowering.finish(&results);
    let rows = member_rows(roots);
    Ok(Code {
        space: space.clone(),
        region: None,
        rank,
        leaves: b.leaves,
        body,
        cost,
        members,
        rows,
        choices,
    })
}

/// The rows of members: elements of a value whose rows have two to [`MAX_ROW_MEMBERS`].
fn member_rows(roots: &[CodeRoot]) -> Vec<MemberRow> {
    let key = |r: &CodeRoot| match r {
        CodeRoot::Element { nest, slot, .. } => Some((*nest, slot.before, slot.step, slot.after)),
        CodeRoot::Nest(_) | CodeRoot::Expr(_) => None,
    };
    let all = roots.iter().enumerate();
    let by_key: FxHashMap<_, usize> = all.filter_map(|(k, r)| Some((key(r)?, k))).collect();
    // Of the row of a member: all members, if there are as many as it has elements.
    let row = |k: usize| -> Option<MemberRow> {
        let (nest, before, step, _) = key(&roots[k])?;
        let of_row = |after| by_key.get(&(nest, before, step, after)).copied();
        (2..=MAX_ROW_MEMBERS)
            .contains(&step)
            .then(|| (0..step).map(of_row).collect())?
    };
    let own = |k: usize| match row(k) {
        Some(row) => (row[0] == k).then_some(row),
        None => Some(SmallVec::from_elem(k, 1)),
    };
    (0..roots.len()).filter_map(own).collect()
}

/// A value's use, its outputs, and its type.
type Finished = (Finish, SmallVec<[Typed; 2]>, DType);

fn stored(y: Typed) -> Finished {
    (Finish::Store, SmallVec::from_iter([y]), y.1)
}

/// The outputs of a fold of an expression.
fn folded(
    b: &mut Composer<'_>,
    expr: &Expr,
    how: Reduction,
    order: Order,
    rank: usize,
) -> Finished {
    let nodes = b.own_nodes(expr);
    let last = nodes.len() - 1;
    let dtype = expr.nodes[last].dtype;
    match (order, &expr.nodes[last].op) {
        (Order::Chain, ExprOp::Apply { op, operands }) => {
            let product = RawProduct::new(dtype, op.name() != "mul");
            let factors = operands.iter().map(|&x| nodes[x as usize]).collect();
            (Finish::Product(product), factors, dtype)
        }
        (Order::Window(_), _) => unreachable!("a window, which has instructions"),
        // A fold of one element is a copy.
        _ if b.rank() == rank => stored(nodes[last]),
        _ => {
            let stable = order == Order::Exact;
            let to = fold_type(how, stable, dtype);
            let wide = b.lowering.convert(nodes[last], to);
            let fold = FoldCode {
                how,
                stable,
                fold: RawFold::new(how, stable, dtype),
                dtype: to,
                narrow: (to != dtype).then(|| Box::new(conversion(to, dtype))),
                of_short_rows: of_short_rows(how, stable, dtype),
                empty: of_nothing(how, stable, dtype),
            };
            (Finish::Fold(fold), SmallVec::from_iter([wide]), dtype)
        }
    }
}

/// The code that converts elements.
fn conversion(from: DType, to: DType) -> Body {
    let mut lowering = Lowering::new();
    let x = lowering.input(from);
    let y = lowering.convert(x, to);
    lowering.finish(&[y.0]).0
}

fn of_short_rows(how: Reduction, stable: bool, dtype: DType) -> Option<ReduceOp> {
    let fold = match how {
        Reduction::Sum if !stable => ReduceOp::Sum,
        Reduction::Max => ReduceOp::Max,
        Reduction::Min => ReduceOp::Min,
        _ => return None,
    };
    matches!(dtype, DType::F32 | DType::F64).then_some(fold)
}

/// The bytes of a reduction of no elements, by the reference.
fn of_nothing(how: Reduction, stable: bool, dtype: DType) -> Vec<u8> {
    let fold: Op = Reduce::new(how, &[0], stable).or_identity().into();
    let none = Array::zeros(dtype, [0]).expect("no elements fit");
    let y = fold
        .eval(&[none], &Env::default())
        .expect("an identity exists");
    bytes_of(&y[0])
}

/// The bytes of the first element of an array.
pub(crate) fn bytes_of(a: &Array) -> Vec<u8> {
    let mut lowering = Lowering::new();
    let x = literal(&mut lowering, a);
    let body = lowering.finish(&[x.0]).0;
    let bytes = body.constants().next().expect("the literal is used");
    bytes.to_vec()
}
