//! Code of a step: the expressions of nests of one space, as one program over tiles whose inputs
//! are the reads.
//!
//! Which instructions an operation has is decided in [`elementwise`](crate::elementwise) alone.

use crate::elementwise::{Lowering, Typed, is_elementwise};
use crate::folds::{RawFold, RawProduct, fold_type};
use crate::fused::literal;
use crate::nests::access::Read;
use crate::nests::nest::{AxisKind, Expr, ExprOp, Order, Space, What, Why};
use cotangent_core::ops::{Op, Reduce, Reduction};
use cotangent_core::{Array, DType, Dim, Env};
use cotangent_kernels::tile::fold::ReduceOp;
use cotangent_kernels::tile::{Body, Value};
use smallvec::SmallVec;

/// A result, or the reason for which there is none.
pub(crate) type Planned<T> = std::result::Result<T, Why>;

/// An input of the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeafSource {
    Read(Read),
    /// The index along an axis of the space.
    Index(usize),
    Extent(Dim),
}

/// An input of the code, and its element type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) source: LeafSource,
    pub(crate) dtype: DType,
}

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
    pub(crate) fold: RawFold,
    /// The type of the output and of the result of `fold`.
    pub(crate) dtype: DType,
    /// The conversion of results to the type of the value, if that is another.
    pub(crate) narrow: Option<Box<Body>>,
    /// The fold of rows of at most [`FOLD_CHUNK_ELEMENTS`](cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS) elements of f32 or f64, if it has one.
    pub(crate) of_short_rows: Option<ReduceOp>,
    /// The bytes of the reduction of no elements.
    pub(crate) empty: Vec<u8>,
}

/// A value that a step computes.
pub(crate) struct CodeMember {
    /// The type of the value.
    pub(crate) dtype: DType,
    pub(crate) finish: Finish,
    /// The first of its outputs, and their element types.
    pub(crate) output: usize,
    pub(crate) outputs: SmallVec<[DType; 2]>,
    /// The input that each output is a copy of.
    pub(crate) copies: SmallVec<[Option<usize>; 2]>,
}

/// The code of nests of one space.
pub(crate) struct Code {
    pub(crate) space: Space,
    /// Number of axes of the result; the others are folded.
    pub(crate) rank: usize,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) body: Body,
    /// Estimated time for each index, in ps.
    pub(crate) cost: u64,
    pub(crate) members: Vec<CodeMember>,
}

/// Expressions that become code.
struct CodeBuilder {
    lowering: Lowering,
    leaves: Vec<Leaf>,
    inputs: Vec<Typed>,
}

/// The code of nests of a space, which are maps or folds, in order. `kernel`
/// says whether an extension operation has a kernel of its own. Returns the reason for which there
/// is no code.
pub(crate) fn code(space: &Space, nests: &[&What], kernel: &dyn Fn(&Op) -> bool) -> Planned<Code> {
    let rank = space.iter().filter(|a| a.kind == AxisKind::Par).count();
    let mut b = CodeBuilder {
        lowering: Lowering::new(),
        leaves: Vec::new(),
        inputs: Vec::new(),
    };
    let (mut results, mut members): (Vec<Value>, Vec<CodeMember>) = (Vec::new(), Vec::new());
    for what in nests {
        let (expr, fold) = match what {
            What::Map(e) => (e, None),
            What::Fold { expr, how, order } => (expr, Some((*how, *order))),
            What::Literal(_) | What::Call { .. } => unreachable!("neither a map nor a fold"),
        };
        let nodes = b.nodes(expr, kernel)?;
        let last = nodes.len() - 1;
        let dtype = expr.nodes[last].dtype;
        // A fold of one element is a copy.
        let fold = fold.filter(|(_, order)| *order == Order::Chain || rank < space.len());
        let (finish, outputs): (Finish, SmallVec<[Typed; 2]>) = match (fold, &expr.nodes[last].op) {
            (None, _) => (Finish::Store, SmallVec::from_iter([nodes[last]])),
            (Some((_, Order::Chain)), ExprOp::Apply { op, operands }) => {
                let product = RawProduct::new(dtype, op.name() != "mul");
                let factors = operands.iter().map(|&x| nodes[x as usize]).collect();
                (Finish::Product(product), factors)
            }
            (Some((how, order)), _) => {
                let stable = order == Order::Exact;
                let to = fold_type(how, stable, dtype);
                let wide = b.lowering.convert(nodes[last], to);
                let fold = FoldCode {
                    fold: RawFold::new(how, stable, dtype),
                    dtype: to,
                    narrow: (to != dtype).then(|| Box::new(conversion(to, dtype))),
                    of_short_rows: of_short_rows(how, stable, dtype),
                    empty: of_nothing(how, stable, dtype),
                };
                (Finish::Fold(fold), SmallVec::from_iter([wide]))
            }
        };
        let copies = outputs
            .iter()
            .map(|y| b.inputs.iter().position(|x| x == y))
            .collect();
        members.push(CodeMember {
            dtype,
            finish,
            output: results.len(),
            outputs: outputs.iter().map(|y| y.1).collect(),
            copies,
        });
        results.extend(outputs.iter().map(|y| y.0));
    }
    let (body, cost) = b.lowering.finish(&results);
    Ok(Code {
        space: space.clone(),
        rank,
        leaves: b.leaves,
        body,
        cost,
        members,
    })
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

impl CodeBuilder {
    /// The input of a source; equal sources are one input.
    fn leaf(&mut self, source: LeafSource, dtype: DType) -> Typed {
        let leaf = Leaf { source, dtype };
        if let Some(k) = self.leaves.iter().position(|x| *x == leaf) {
            return self.inputs[k];
        }
        self.leaves.push(leaf);
        self.inputs.push(self.lowering.input(dtype));
        self.inputs[self.inputs.len() - 1]
    }

    /// The values of all operations of an expression.
    fn nodes(&mut self, e: &Expr, kernel: &dyn Fn(&Op) -> bool) -> Planned<Vec<Typed>> {
        let mut nodes: Vec<Typed> = Vec::with_capacity(e.nodes.len());
        for node in &e.nodes {
            nodes.push(match &node.op {
                ExprOp::Read(r) => self.leaf(LeafSource::Read(r.clone()), node.dtype),
                ExprOp::Index(k) => self.leaf(LeafSource::Index(*k), node.dtype),
                ExprOp::Extent(d) => self.leaf(LeafSource::Extent(d.clone()), node.dtype),
                ExprOp::Number(s) => literal(&mut self.lowering, &s.array(node.dtype)),
                ExprOp::Apply { op, operands } => {
                    let x: SmallVec<[Typed; 3]> =
                        operands.iter().map(|&x| nodes[x as usize]).collect();
                    let dtypes: SmallVec<[DType; 3]> = x.iter().map(|x| x.1).collect();
                    if matches!(**op, Op::Extension(_))
                        && (kernel(op) || !is_elementwise(op, &dtypes))
                    {
                        return Err(Why::Extension);
                    }
                    self.lowering.emit(op, &x)
                }
            });
        }
        Ok(nodes)
    }
}
