//! [`Trace`]: the part of a trace that some tensors need, as a closed function.

use super::TracedTensor;
use super::ancestors::check_ancestors;
use super::node::{TraceNode, TraceNodeKind, ValOf, Visited, has_extent, reached};
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
    ops: Vec<Visited>,
}

impl Trace {
    /// The function of `outputs`, with all placeholders and arrays that `outputs` and `also` need
    /// as parameters. An error if an output was computed from one of `also`, and the operations
    /// between them were released.
    pub(crate) fn of(
        name: &str,
        outputs: &[&TracedTensor],
        also: &[&TracedTensor],
    ) -> Result<Trace> {
        let trace = Trace::cut(name, &[], outputs, also, 0)?;
        check_ancestors(&trace.params, outputs, also)?;
        Ok(trace)
    }

    /// The function of `outputs`, with placeholders and all stored arrays as parameters.
    pub(crate) fn of_arrays(name: &str, outputs: &[&TracedTensor]) -> Result<Trace> {
        Trace::stopped(name, &[], outputs, &[], 0, &|t| t.array().is_some())
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
        Trace::stopped(name, inputs, outputs, also, start, &|t| t.node.id < start)
    }

    /// The function of `outputs`. Its parameters are `inputs`, then the leaves of the trace and the
    /// tensors for which `stop` holds.
    fn stopped(
        name: &str,
        inputs: &[TracedTensor],
        outputs: &[&TracedTensor],
        also: &[&TracedTensor],
        start: u64,
        stop: &dyn Fn(&TracedTensor) -> bool,
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
        let (ops, mut leaves) = reached(&roots, &|t| stop(t) || vals.get(t).is_some());
        // Placeholders that are not read may still define symbolic extents. The region of an
        // operation takes these from the enclosing function.
        if start == 0 {
            for s in ops.iter().flat_map(|v| &v.node.sizes) {
                let dims = || s.node.types[0].shape.iter().filter_map(|d| d.as_sym());
                let has = |t: &TracedTensor, d| has_extent(&t.node.types[t.index as usize], d);
                if dims().any(|d| !leaves.iter().any(|t| has(t, d))) {
                    leaves.push(s.clone());
                }
            }
        }
        leaves.sort_by_key(|t| (t.node.id, t.index));
        leaves.dedup_by_key(|t| (t.node.id, t.index));
        for t in leaves {
            if vals.get(&t).is_none() {
                add(t, &mut vals)?;
            }
        }
        for Visited { node, operands } in &ops {
            if let TraceNodeKind::Op(op) = &node.kind {
                b.set_loc(node.loc);
                let x: Vec<Val> = operands
                    .iter()
                    .map(|t| vals.get(t).unwrap_or(Val::POISON))
                    .collect();
                for (i, y) in b.emit(op.clone(), &x).into_iter().enumerate() {
                    let t = TracedTensor::result(node.clone(), i);
                    // A stored result is a parameter.
                    if vals.get(&t).is_none() {
                        vals.insert(&t, y);
                    }
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
            ops,
        })
    }

    /// The value of a tensor in the function.
    pub(crate) fn val(&self, t: &TracedTensor) -> Result<Val> {
        let missing = || Error::new(Code::ForeignValue, "a tensor belongs to another trace");
        self.vals.get(t).ok_or_else(missing)
    }

    /// The tensors that the operations of the function compute, and their values.
    pub(crate) fn computed(&self) -> impl Iterator<Item = (TracedTensor, Val)> {
        let results = |node: &Arc<TraceNode>| {
            let node = node.clone();
            (0..node.types.len()).map(move |i| TracedTensor::result(node.clone(), i))
        };
        self.ops
            .iter()
            .flat_map(move |v| results(&v.node))
            .filter_map(|t| self.vals.get(&t).map(|v| (t, v)))
    }
}
