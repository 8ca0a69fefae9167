//! [`Trace`]: the part of a trace that some tensors need, as a closed function.

use super::TracedTensor;
use super::node::{TraceNode, TraceNodeKind, ValOf, has_extent, reached};
use crate::{Builder, Code, Emit, Error, Function, Result, Val};
use cotangent_core::transform::Session;
use std::sync::Arc;

/// A function extracted from a trace.
pub(crate) struct Trace {
    /// The function.
    pub function: Function,
    /// The tensors of its parameters.
    pub params: Vec<TracedTensor>,
    vals: ValOf,
    nodes: Vec<Arc<TraceNode>>,
}

impl Trace {
    /// The function of `outputs`, with all placeholders and arrays that `outputs` and `also` need
    /// as parameters.
    pub(crate) fn of(
        name: &str,
        outputs: &[&TracedTensor],
        also: &[&TracedTensor],
    ) -> Result<Trace> {
        Trace::cut(name, &[], outputs, also, 0)
    }

    /// The function of `outputs`. Its parameters are `inputs`, then the tensors that are older than
    /// `start` or not computed.
    pub(crate) fn cut(
        name: &str,
        inputs: &[TracedTensor],
        outputs: &[&TracedTensor],
        also: &[&TracedTensor],
        start: u64,
    ) -> Result<Trace> {
        let mut vals = ValOf::default();
        let b = Builder::new(name, Session::default());
        let mut params = Vec::new();
        let mut add = |t: TracedTensor, vals: &mut ValOf| -> Result<()> {
            let name = match &t.node.kind {
                TraceNodeKind::Input(Some(n)) => Some(n.clone()),
                _ => None,
            };
            vals.insert(&t, b.param(t.ty()?, name.as_deref()));
            params.push(t);
            Ok(())
        };
        for t in inputs {
            add(t.clone(), &mut vals)?;
        }
        let roots: Vec<&TracedTensor> = outputs.iter().chain(also).copied().collect();
        let nodes = reached(&roots, &|n| n.id < start || vals.contains(n));
        // Of an older node with several results only the used ones become parameters.
        let old =
            |t: &TracedTensor| t.node.id < start || !matches!(t.node.kind, TraceNodeKind::Op(..));
        let used = nodes
            .iter()
            .filter(|n| n.id >= start)
            .flat_map(|n| n.operands())
            .chain(roots.iter().copied());
        let mut leaves: Vec<&TracedTensor> = used.filter(|t| old(t)).collect();
        // Placeholders that are not read may still define symbolic extents. The region of an
        // operation takes these from the enclosing function.
        if start == 0 {
            let mut known: Vec<&TracedTensor> = leaves.clone();
            for s in nodes.iter().flat_map(|n| &n.sizes) {
                let dims = || s.node.types[0].shape.iter().filter_map(|d| d.as_sym());
                if dims().any(|d| {
                    !known
                        .iter()
                        .any(|t| has_extent(&t.node.types[t.index as usize], d))
                }) {
                    known.push(s);
                }
            }
            leaves = known;
        }
        leaves.sort_by_key(|t| (t.node.id, t.index));
        leaves.dedup_by_key(|t| (t.node.id, t.index));
        for t in leaves {
            if vals.get(t).is_none() {
                add(t.clone(), &mut vals)?;
            }
        }
        for n in nodes.iter().filter(|n| n.id >= start) {
            if let TraceNodeKind::Op(op, x) = &n.kind {
                b.set_loc(n.loc);
                let x: Vec<Val> = x
                    .iter()
                    .map(|t| vals.get(t).unwrap_or(Val::POISON))
                    .collect();
                for (i, y) in b.emit(op.clone(), &x).into_iter().enumerate() {
                    vals.insert(&TracedTensor::result(n.clone(), i), y);
                }
            }
        }
        let results: Vec<Val> = outputs
            .iter()
            .map(|t| vals.get(t).unwrap_or(Val::POISON))
            .collect();
        let function = b.finish(&results)?;
        Ok(Trace {
            function,
            params,
            vals,
            nodes,
        })
    }

    /// The value of a tensor in the function.
    pub(crate) fn val(&self, t: &TracedTensor) -> Result<Val> {
        let missing = || Error::new(Code::ForeignValue, "a tensor belongs to another trace");
        self.vals.get(t).ok_or_else(missing)
    }

    /// The tensors that the operations of the function compute, and their values.
    pub(crate) fn computed(&self) -> impl Iterator<Item = (TracedTensor, Val)> {
        let all = self
            .nodes
            .iter()
            .filter(|n| matches!(n.kind, TraceNodeKind::Op(..)));
        all.flat_map(|n| (0..n.types.len()).map(|i| TracedTensor::result(n.clone(), i)))
            .filter_map(|t| self.vals.get(&t).map(|v| (t, v)))
    }
}
