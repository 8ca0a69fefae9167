//! The nodes of a tape that are differentiated on one side of their kinks, and the side.

use super::weights::WeightNodes;
use crate::eager::backward::subgraph::TapeSubgraph;
use crate::eager::tape::{Edge, Node, NodeKind};
use crate::tensor::remote_of;
use cotangent_core::Op;
use cotangent_core::ops::{Binary, Unary};
use cotangent_core::primitive::Kink;
use cotangent_core::tape::{ResidualSource, SavedValue};
use cotangent_core::transform::{Step, on_one_side};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The nodes of a tape as steps, the input of [`on_one_side`].
struct Steps {
    steps: Vec<Step>,
    /// The node of each step.
    of: Vec<Option<usize>>,
    moves: Vec<bool>,
}

impl Steps {
    /// Adds a step without a node. Returns its result.
    fn value(&mut self, operands: SmallVec<[usize; 4]>, weight: Option<usize>) -> usize {
        let v = self.moves.len();
        self.moves.push(false);
        self.steps.push(Step {
            operands,
            results: v..v + 1,
            kinks: weight.is_some(),
            weight,
            mixes: false,
        });
        self.of.push(None);
        v
    }
}

/// Whether each node of a subgraph is differentiated on one side. Empty if the subgraph has no
/// kinks.
pub(in crate::eager) fn one_sided(part: &TapeSubgraph<'_>) -> Vec<bool> {
    let kinks = |node: &Node| match &node.kind {
        NodeKind::Op { derivative, .. } => derivative.kinks || node.kinks.get().is_some(),
        NodeKind::Leaf { .. } => false,
    };
    if !part.nodes.iter().any(|v| kinks(v.node)) {
        return Vec::new();
    }
    let index: FxHashMap<u64, usize> = part
        .nodes
        .iter()
        .enumerate()
        .map(|(i, v)| (v.node.id(), i))
        .collect();
    let nodes = |by: &WeightNodes| by.iter().filter_map(|id| index.get(id).copied()).collect();
    let mut all = Steps {
        steps: Vec::new(),
        of: Vec::new(),
        moves: vec![true; part.nodes.len()],
    };
    for &i in part.order.iter().rev() {
        let (i, visit) = (i as usize, &part.nodes[i as usize]);
        let NodeKind::Op { derivative: d, .. } = &visit.node.kind else {
            continue;
        };
        let mut operands: SmallVec<[usize; 4]> =
            part.inputs_of(visit).iter().map(|&k| k as usize).collect();
        let mut weight = (d.op.kink().is_some() && d.tracked[0]).then(|| operands[0]);
        let mut mixes = d.op.mixes(&d.tracked);
        if let Some(at) = visit.node.kinks.get() {
            // Constant values represent weights, and derivatives that are not in the tape.
            if let Some(by) = at.weights.get() {
                weight = Some(all.value(nodes(by), None));
                operands.extend(weight);
            }
            if let Some((by, mixed)) = at.operands.get() {
                let w = all.value(nodes(by), None);
                operands.push(all.value(smallvec![w], Some(w)));
                mixes |= mixed;
            }
        }
        all.steps.push(Step {
            operands,
            results: i..i + 1,
            kinks: d.kinks,
            weight,
            mixes,
        });
        all.of.push(Some(i));
    }
    let mut sides = vec![false; part.nodes.len()];
    for (sided, i) in on_one_side(&all.steps, &all.moves).into_iter().zip(all.of) {
        i.into_iter().for_each(|i| sides[i] = sided);
    }
    sides
}

/// Maximum number of values that are followed to their operands.
const MAX_FOLLOWED_NODES: usize = 64;

/// A linear combination: values and their factors.
type Terms = SmallVec<[(Edge, f64); 4]>;

/// Whether the kink of a node is taken on the opposite side. The difference of its operands is a
/// linear combination of recorded values. The side is opposite if the first recorded value has a
/// negative factor. As in `ops/at_kink`, broadcasts are followed first. If all factors cancel, they
/// are not followed.
pub(in crate::eager) fn is_flipped(node: &Node) -> bool {
    let NodeKind::Op { derivative, .. } = &node.kind else {
        return false;
    };
    let own = derivative
        .program
        .eqns()
        .iter()
        .any(|e| e.op.kink() == Some(Kink::Mean));
    if !own || derivative.op.kink().is_some() || matches!(derivative.op, Op::Extension(_)) {
        return false;
    }
    let compared: Terms = tracked(node, &derivative.tracked)
        .zip([1.0, -1.0])
        .filter_map(|(e, c)| Some((e?, c)))
        .collect();
    [true, false]
        .into_iter()
        .find_map(|through| leading(compared.clone(), through))
        .is_some_and(|c| c < 0.0)
}

/// The edges of a node's operands; `None`: not tracked.
fn tracked<'n>(node: &'n Node, tracked: &'n [bool]) -> impl Iterator<Item = Option<Edge>> + 'n {
    let mut inputs = node.inputs().iter();
    tracked
        .iter()
        .map(move |&t| if t { inputs.next().cloned() } else { None })
}

/// The factor of the first recorded value of a linear combination.
fn leading(mut next: Terms, through: bool) -> Option<f64> {
    let mut left = MAX_FOLLOWED_NODES;
    let mut terms: SmallVec<[((u64, u32), f64); 8]> = SmallVec::new();
    while let Some((e, c)) = next.pop() {
        let parts = if left == 0 { None } else { parts(&e, through) };
        left = left.saturating_sub(1);
        match parts {
            Some(parts) => next.extend(parts.into_iter().map(|(e, by)| (e, c * by))),
            None => match terms.iter_mut().find(|t| t.0 == e.key()) {
                Some(t) => t.1 += c,
                None => terms.push((e.key(), c)),
            },
        }
    }
    terms
        .into_iter()
        .filter(|t| t.1 != 0.0)
        .min_by_key(|t| t.0)
        .map(|t| t.1)
}

/// The linear combination that computes the value of an edge; `None` if it was computed in another
/// way.
fn parts(e: &Edge, through: bool) -> Option<Terms> {
    let NodeKind::Op { derivative: d, .. } = &e.node.kind else {
        return None;
    };
    let mut x = tracked(&e.node, &d.tracked);
    let mut one = |c: f64| Some(smallvec![(x.next()??, c)]);
    match &d.op {
        Op::Unary(Unary::Neg) => one(-1.0),
        Op::Convert(_) | Op::Shard(_) => one(1.0),
        Op::BroadcastInDim(_) | Op::Reshape(_) if through => one(1.0),
        Op::Binary(f @ (Binary::Add | Binary::Sub)) => {
            let second = if *f == Binary::Add { 1.0 } else { -1.0 };
            Some(
                x.zip([1.0, second])
                    .filter_map(|(e, c)| Some((e?, c)))
                    .collect(),
            )
        }
        Op::Binary(Binary::Mul) => match d.tracked[..] {
            [true, false] => one(number(&e.node, 1)?),
            [false, true] => {
                let c = number(&e.node, 0)?;
                x.next();
                Some(smallvec![(x.next()??, c)])
            }
            _ => None,
        },
        Op::Binary(Binary::Div) if d.tracked[..] == [true, false] => {
            one(number(&e.node, 1).filter(|&c| c != 0.0)?.recip())
        }
        _ => None,
    }
}

/// The constant value of an operand, if the node saved it as a broadcast scalar.
fn number(node: &Node, operand: usize) -> Option<f64> {
    let NodeKind::Op {
        derivative, tape, ..
    } = &node.kind
    else {
        return None;
    };
    let tape = tape.get()?;
    let mut saved = tape.saved.iter();
    for k in &derivative.residuals {
        let ResidualSource::Saved(from) = &k.source else {
            continue;
        };
        let tensor = saved.next()?;
        if matches!(from, SavedValue::Operand(i) if *i == operand) {
            let everywhere = tensor
                .shape()
                .iter()
                .zip(tensor.strides())
                .all(|(&n, &s)| n <= 1 || s == 0);
            let is_here = remote_of(tensor).is_none();
            if !is_here || !everywhere || tensor.numel() == 0 || !tensor.dtype().is_float() {
                return None;
            }
            let first =
                (0..tensor.shape().len()).fold(tensor.clone(), |t, axis| t.slice(axis, 0, 1, 1));
            return first.into_array().ok()?.to_f64().first().copied();
        }
    }
    None
}
