//! [`Exec`]: the emitter that computes immediately. Rules that build graphs with other emitters run kernels with this one.

use super::ids::next_id;
use super::kinks::weights::WeightNodes;
use super::runtime::EagerRuntime;
use super::tape::{Value, Values};
use cotangent_core::transform::Session;
use cotangent_core::{
    Code, DType, Emit, EmitterStatus, Env, Error, Loc, Op, Result, Sym, Type, Val,
};
use cotangent_core::{Vals, ops::Unary};
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;

/// A function that runs one operation, and records it or not.
pub(super) type Apply = fn(&EagerRuntime, &Op, &[&Value], Loc, &mut Env) -> Result<Values>;

/// An emitter whose values are tensors.
pub(super) struct Exec<'r> {
    rt: &'r EagerRuntime,
    /// Runs the emitted operations, with or without recording.
    apply: Apply,
    status: EmitterStatus,
    state: RefCell<State>,
    /// The nodes that the weights of emitted derivatives at kinks were computed from.
    weights: Option<WeightNodes>,
}

struct State {
    values: ExecSlots,
    env: Env,
}

/// The values of an emitter.
pub(super) type ExecSlots = SmallVec<[ExecSlot; 4]>;

/// A value of an emitter; empty if the derivative does not refer to it.
#[derive(Default)]
pub(super) struct ExecSlot {
    pub value: Option<Value>,
    /// Whether it depends on tracked values in a differentiable way.
    pub depends: bool,
}

impl ExecSlot {
    pub(super) fn new(value: Value) -> ExecSlot {
        ExecSlot {
            depends: value.edge.is_some(),
            value: Some(value),
        }
    }
}

impl<'r> Exec<'r> {
    pub(super) fn new(rt: &'r EagerRuntime, apply: Apply, values: ExecSlots, env: Env) -> Exec<'r> {
        Exec {
            rt,
            apply,
            status: EmitterStatus::default(),
            state: RefCell::new(State { values, env }),
            weights: None,
        }
    }

    /// The emitter for a derivative at kinks. Recorded nodes refer to the nodes that its weights
    /// were computed from.
    pub(super) fn with_weights(self, weights: WeightNodes) -> Exec<'r> {
        Exec {
            weights: Some(weights),
            ..self
        }
    }

    /// Adds a value.
    pub(super) fn push(&self, held: ExecSlot) -> Val {
        let mut s = self.state.borrow_mut();
        s.values.push(held);
        self.status.val(s.values.len() - 1)
    }

    /// The initial values.
    pub(super) fn initial_values(&self) -> SmallVec<[Val; 4]> {
        (0..self.state.borrow().values.len())
            .map(|i| self.status.val(i))
            .collect()
    }

    /// A copy of a value; `None` for poison.
    pub(super) fn get(&self, v: Val) -> Option<Value> {
        self.state
            .borrow()
            .values
            .get(v.index())
            .filter(|_| self.status.may_own(v))
            .and_then(|h| h.value.clone())
    }

    /// Removes and returns the first error.
    pub(super) fn take_error(&self) -> Option<Error> {
        self.status.take_error()
    }

    /// All values and the extents of symbols.
    pub(super) fn into_parts(self) -> (ExecSlots, Env) {
        let s = self.state.into_inner();
        (s.values, s.env)
    }
}

/// Sets the nodes that the weights of a derivative at a kink were computed from.
fn set_weights(v: &mut Value, weights: &WeightNodes) {
    match &v.edge {
        Some(e) => {
            let _ = e
                .node
                .kinks
                .get_or_init(Box::default)
                .weights
                .set(weights.clone());
        }
        None => v.sides.get_or_insert_default().weights = Some(weights.clone()),
    }
}

/// The error for a value of another emitter.
pub(super) fn unknown(v: Val) -> Error {
    let what = if v == Val::POISON {
        "poison".to_owned()
    } else {
        format!("%{}", v.index())
    };
    Error::new(
        Code::ForeignValue,
        format!("{what} is not a value of this emitter"),
    )
}

impl Emit for Exec<'_> {
    fn emit(&self, op: Op, operands: &[Val]) -> Vals {
        let count = op.results();
        let mut env = std::mem::take(&mut self.state.borrow_mut().env);
        let loc = self.status.loc();
        let (mut y, depends) = {
            let s = self.state.borrow();
            let held = |v: &Val| {
                s.values
                    .get(v.index())
                    .filter(|h| h.value.is_some() && self.status.may_own(*v))
            };
            let x: SmallVec<[&Value; 4]> = operands
                .iter()
                .filter_map(held)
                .filter_map(|h| h.value.as_ref())
                .collect();
            let depends = operands.iter().filter_map(held).any(|h| h.depends);
            let y = match operands.iter().find(|v| held(v).is_none()) {
                None => (self.apply)(self.rt, &op, &x, loc, &mut env),
                Some(v) => Err(unknown(*v)),
            };
            (y, depends && !matches!(op, Op::Unary(Unary::StopGradient)))
        };
        let mut s = self.state.borrow_mut();
        s.env = env;
        if let (Some(weights), Ok(y)) = (&self.weights, &mut y)
            && op.kink().is_some()
        {
            y.iter_mut().for_each(|v| set_weights(v, weights));
        }
        match y {
            Ok(y) => {
                let first = s.values.len();
                s.values.extend(y.into_iter().map(|value| ExecSlot {
                    depends: depends && value.tensor.dtype().has_tangent(),
                    value: Some(value),
                }));
                (first..s.values.len())
                    .map(|i| self.status.val(i))
                    .collect()
            }
            Err(e) => {
                self.status.fail(e.at(loc));
                smallvec![Val::POISON; count]
            }
        }
    }

    fn ty(&self, v: Val) -> Type {
        let s = self.state.borrow();
        match s.values.get(v.index()) {
            Some(ExecSlot { value: Some(v), .. }) => v.ty().clone(),
            _ => Type::scalar(DType::F64),
        }
    }

    fn fail(&self, e: Error) {
        self.status.fail(e);
    }

    fn failed(&self) -> bool {
        self.status.failed()
    }

    fn session(&self) -> &Session {
        self.rt.session()
    }

    /// An unknown location does not replace that of the caller: the equations of a compiled rule
    /// have none.
    fn set_loc(&self, loc: Loc) {
        self.status.set_known_loc(loc);
    }

    fn loc(&self) -> Loc {
        self.status.loc()
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        format!("{base}_{}", next_id()).into()
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        let taken = self.state.borrow().env.contains_key(s);
        if taken { self.fresh_sym(s) } else { s.clone() }
    }
}
