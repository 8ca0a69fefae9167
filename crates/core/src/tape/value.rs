//! Values of a tape, and cotangents.

use super::derivative::OpDerivative;
use super::node::{Edge, NodeData};
use crate::error::{Error, Loc, Result};
use crate::ir::{Function, Lin, Linearized, Lv, Op, Val};
use crate::transform::linearize_into;
use std::sync::Arc;

/// The recorded computation of a node.
pub(super) enum Recorded {
    Op(Op),
    Function(Arc<Function>),
}

impl Recorded {
    pub(super) fn name(&self) -> &str {
        match self {
            Recorded::Op(op) => op.name(),
            Recorded::Function(f) => &f.name,
        }
    }

    /// Writes the computation, and its tangents.
    pub(super) fn write(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let constant = t.iter().all(Option::is_none);
        match self {
            Recorded::Op(op) if constant => {
                Ok((cx.emit().emit(op.clone(), x), vec![None; op.results()]))
            }
            Recorded::Op(op) => cx.session().linearize(op, cx, x, t),
            Recorded::Function(f) => {
                let seeds: Vec<(Val, Lv)> = f
                    .params()
                    .iter()
                    .zip(t)
                    .filter_map(|(&p, t)| Some((p, (*t)?)))
                    .collect();
                let y = linearize_into(cx.emit(), cx.program(), f, x, &seeds, None)?;
                Ok((y.outs.into(), y.tangents))
            }
        }
    }
}

/// The data of a node.
pub(super) enum Record<V> {
    Leaf,
    Op(Box<OpRecord<V>>),
}

/// A recorded operation.
pub(super) struct OpRecord<V> {
    pub what: Recorded,
    pub loc: Loc,
    /// The error of the operation's rule, if it has none.
    pub derivative: Result<OpDerivative>,
    pub saved: Vec<V>,
}

impl<V> NodeData for Record<V> {
    fn is_leaf(&self) -> bool {
        matches!(self, Record::Leaf)
    }

    fn released(&self) -> bool {
        false
    }
}

impl<V> OpRecord<V> {
    /// An error of its derivative, with the place of the call.
    pub(super) fn error(&self, e: Error) -> Error {
        e.at(self.loc)
            .note(format!("in the derivative of `{}`", self.what.name()))
    }
}

/// A value of a [`Tape`](super::Tape), with its tangent in the record if it is tracked. Cloning is
/// as cheap as cloning the value.
pub struct TapeValue<V> {
    pub(super) value: V,
    pub(super) tape: u64,
    pub(super) edge: Option<Edge<Record<V>>>,
}

impl<V: Clone> Clone for TapeValue<V> {
    fn clone(&self) -> TapeValue<V> {
        TapeValue {
            value: self.value.clone(),
            tape: self.tape,
            edge: self.edge.clone(),
        }
    }
}

impl<V> TapeValue<V> {
    /// The value of the runtime.
    pub fn value(&self) -> &V {
        &self.value
    }

    /// Whether it depends on a variable, so that it has a gradient.
    pub fn is_tracked(&self) -> bool {
        self.edge.is_some()
    }

    /// The same value as a constant.
    pub fn detach(self) -> TapeValue<V> {
        TapeValue { edge: None, ..self }
    }
}

impl<V: std::fmt::Debug> std::fmt::Debug for TapeValue<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TapeValue")
            .field("value", &self.value)
            .field("tracked", &self.is_tracked())
            .finish()
    }
}

/// The cotangents that a reverse pass computed: of variables, and of every intermediate value that
/// is still alive.
#[derive(Clone, Debug)]
pub struct Cotangents<V>(pub(super) Vec<((u64, u32), V)>);

impl<V> Cotangents<V> {
    /// The cotangent of a value; `None` if the pass did not reach it.
    pub fn get(&self, x: &TapeValue<V>) -> Option<&V> {
        let key = x.edge.as_ref()?.key();
        self.0.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// Number of values with a cotangent.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no value has a cotangent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
