//! [`Orders`]: the memory orders of a program's results as a function of the orders of its arrays.
//!
//! The order of a result depends only on the arrays that it was computed from, not on other results
//! of the program. A gradient has the order of the tensor that it was taken by, and a tangent that
//! of the differentiated tensor. The program need not read that tensor.

use super::node::{Like, TraceNode, TraceNodeKind, TracedTensor};
use crate::tensor::Given;
use crate::{Result, Tensor, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// A tensor by node and index.
type Id = (u64, u32);

fn id(t: &TracedTensor) -> Id {
    (t.node.id, t.index)
}

/// An array that affects the order of a result.
enum Leaf {
    /// The parameter at this position.
    Param(u32),
    /// An array that is no parameter, by its index in `Orders::others`.
    Other(u32),
}

/// An array that the program does not read. Callers may pass it anyway.
struct Other {
    id: Id,
    ty: Type,
    /// The order of the array in the trace.
    given: Given,
}

/// The order of a value: the order of an array, or the common order of earlier steps.
enum OrderStep {
    Leaf(Leaf),
    Join(SmallVec<[u32; 2]>),
}

/// The last arguments of [`Orders::results`], and its result.
struct LastOrders {
    arrays: Vec<Given>,
    results: Arc<[Given]>,
}

/// A program for the orders of results, given those of arrays.
pub(crate) struct Orders {
    steps: Vec<OrderStep>,
    /// The step of each result; `None`: no array affects its order.
    results: Vec<Option<u32>>,
    others: Vec<Other>,
    last: Mutex<Option<LastOrders>>,
}

/// The tensor that determines the order of a tensor.
fn sources(t: &TracedTensor) -> &TracedTensor {
    t.like.as_deref().map_or(t, |like| &like.of)
}

struct Walk {
    steps: Vec<OrderStep>,
    of_params: FxHashMap<Id, u32>,
    others: Vec<Other>,
    /// The step of each visited node. Parameters are present from the start.
    known: FxHashMap<u64, Option<u32>>,
    of_others: FxHashMap<Id, u32>,
}

impl Walk {
    fn other(&mut self, t: &TracedTensor) -> u32 {
        if let Some(&k) = self.of_others.get(&id(t)) {
            return k;
        }
        let given = t.array().map_or(Given::Nothing, Tensor::given);
        let k = self.others.len() as u32;
        self.others.push(Other {
            id: id(t),
            ty: t.node.types[t.index as usize].clone(),
            given,
        });
        self.of_others.insert(id(t), k);
        k
    }

    fn step(&mut self, step: OrderStep) -> u32 {
        self.steps.push(step);
        self.steps.len() as u32 - 1
    }

    /// The step of a tensor, if its node was visited.
    fn find(&self, t: &TracedTensor) -> Option<Option<u32>> {
        let t = sources(t);
        match self.of_params.get(&id(t)) {
            Some(&step) => Some(Some(step)),
            None => self.known.get(&t.node.id).copied(),
        }
    }

    /// Visits a node whose operands were visited.
    fn visit(&mut self, t: &TracedTensor) {
        let node: &TraceNode = &t.node;
        let step = match (&node.kind, node.operands()) {
            (TraceNodeKind::Op(_), Some(operands)) => {
                let mut from: SmallVec<[u32; 2]> = operands
                    .iter()
                    .filter_map(|x| self.find(x).flatten())
                    .collect();
                from.sort_unstable();
                from.dedup();
                match from[..] {
                    [] => None,
                    [one] => Some(one),
                    _ => Some(self.step(OrderStep::Join(from))),
                }
            }
            (TraceNodeKind::Failed(_), _) => None,
            _ => {
                let k = self.other(t);
                Some(self.step(OrderStep::Leaf(Leaf::Other(k))))
            }
        };
        self.known.insert(node.id, step);
    }
}

impl Orders {
    /// The orders of the results `outputs` of a program with these parameters.
    pub(crate) fn of(outputs: &[&TracedTensor], params: &[TracedTensor]) -> Orders {
        let mut walk = Walk {
            steps: Vec::new(),
            of_params: FxHashMap::default(),
            others: Vec::new(),
            known: FxHashMap::default(),
            of_others: FxHashMap::default(),
        };
        for (k, p) in params.iter().enumerate() {
            let step = walk.step(OrderStep::Leaf(Leaf::Param(k as u32)));
            walk.of_params.insert(id(p), step);
        }
        let mut stack: Vec<TracedTensor> = outputs.iter().map(|t| sources(t).clone()).collect();
        let mut accepted: Vec<Arc<Like>> = outputs.iter().filter_map(|t| t.like.clone()).collect();
        while let Some(t) = stack.last().cloned() {
            if walk.find(&t).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            for x in t.node.operands().iter().flat_map(|x| x.iter()) {
                if walk.find(x).is_none() {
                    stack.push(sources(x).clone());
                }
                accepted.extend(x.like.clone());
            }
            if stack.len() == before {
                walk.visit(&t);
                stack.pop();
            }
        }
        for t in accepted.iter().flat_map(|like| &like.from) {
            if !walk.of_params.contains_key(&id(t)) {
                walk.other(t);
            }
        }
        let results = outputs.iter().map(|t| walk.find(t).flatten()).collect();
        Orders {
            steps: walk.steps,
            results,
            others: walk.others,
            last: Mutex::default(),
        }
    }

    /// The index of a tensor that callers may pass although the program does not read it. An error
    /// if the array has another type.
    pub(crate) fn accepts(&self, t: &TracedTensor, array: &Tensor) -> Option<Result<usize>> {
        let k = self.others.iter().position(|o| o.id == id(t))?;
        let (want, got) = (&self.others[k].ty, array.ty());
        if want.differs(&got) {
            let text = format!("{} takes {want}, got {got}", t.described());
            return Some(Err(crate::Error::new(crate::Code::ShapeMismatch, text)));
        }
        Some(Ok(k))
    }

    /// The orders of the results, given the orders of the parameters' arrays and of other arrays
    /// that were passed.
    pub(crate) fn results(
        &self,
        params: impl Iterator<Item = Given>,
        passed: &[(usize, Given)],
    ) -> Arc<[Given]> {
        let mut arrays: Vec<Given> = params.collect();
        let n = arrays.len();
        arrays.extend(self.others.iter().map(|o| o.given));
        for &(k, given) in passed {
            arrays[n + k] = given;
        }
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(last) = &*last
            && last.arrays == arrays
        {
            return last.results.clone();
        }
        let mut of: Vec<Given> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            of.push(match step {
                OrderStep::Leaf(Leaf::Param(k)) => arrays[*k as usize],
                OrderStep::Leaf(Leaf::Other(k)) => arrays[n + *k as usize],
                OrderStep::Join(from) => Given::of_results(from.iter().map(|&s| of[s as usize])),
            });
        }
        let results: Arc<[Given]> = self
            .results
            .iter()
            .map(|s| s.map_or(Given::Nothing, |s| of[s as usize]))
            .collect();
        *last = Some(LastOrders {
            arrays,
            results: results.clone(),
        });
        results
    }
}
