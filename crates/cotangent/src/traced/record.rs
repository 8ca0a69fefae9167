//! The recorder: an emitter whose values are traced tensors. Every function over [`Emit`], rules
//! and composites included, can therefore record to a trace.

use super::TracedTensor;
use super::node::{TraceNode, TraceNodeKind, fresh_id, has_extent, sizes};
use crate::here::here;
use crate::tensor_ops::{EmitFn, once};
use crate::{Code, DType, Emit, Error, Loc, Op, Result, Sym, TensorOps, Type, Val, Vals};
use cotangent_core::EmitterStatus;
use cotangent_core::transform::Session;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::LazyLock;

/// The session of operations without derivatives.
static PLAIN: LazyLock<Session> = LazyLock::new(Session::default);

pub(crate) struct Recorder {
    session: Session,
    status: EmitterStatus,
    values: RefCell<Vec<TracedTensor>>,
    /// Whether a value has a symbolic extent.
    open: Cell<bool>,
}

impl Recorder {
    pub(super) fn new(session: Session, loc: Loc) -> Recorder {
        let status = EmitterStatus::default();
        status.set_loc(loc);
        Recorder {
            session,
            status,
            values: RefCell::default(),
            open: Cell::default(),
        }
    }

    /// The emitter's value of `t`.
    pub(super) fn value(&self, t: &TracedTensor) -> Val {
        if let TraceNodeKind::Failed(e) = &t.node.kind {
            self.fail(e.clone());
            return Val::POISON;
        }
        self.push(t.clone())
    }

    fn push(&self, t: TracedTensor) -> Val {
        if t.node.types.iter().any(|ty| ty.shape.as_const().is_none()) {
            self.open.set(true);
        }
        let mut values = self.values.borrow_mut();
        values.push(t);
        self.status.val(values.len() - 1)
    }

    /// The tensors of these values, or the first error of the call on `operands`.
    pub(super) fn finish(
        self,
        operands: &[&TracedTensor],
        results: &[Val],
    ) -> Result<Vec<TracedTensor>> {
        let types = operands.iter().filter_map(|t| t.known_ty());
        if let Some(e) = self.status.take_error_of(types) {
            return Err(e);
        }
        let values = self.values.into_inner();
        results
            .iter()
            .map(
                |v| match values.get(v.index()).filter(|_| self.status.may_own(*v)) {
                    Some(t) => Ok(t.clone()),
                    None => Err(Error::new(
                        Code::ForeignValue,
                        "a result belongs to another graph",
                    )),
                },
            )
            .collect()
    }

    /// Placeholders that define the symbolic extents of an operation and its results.
    fn sizes(&self, op: &Op, operands: &[TracedTensor], results: &[Type]) -> Box<[TracedTensor]> {
        let (own, mut wanted, mut found) = (op.binds(), Vec::new(), Vec::<TracedTensor>::new());
        let mut want = |s: &Sym| {
            if !own.contains(s) && !wanted.contains(s) {
                wanted.push(s.clone());
            }
        };
        results.iter().for_each(|ty| ty.syms(&mut want));
        op.attr_syms(&mut want);
        let values = self.values.borrow();
        for s in wanted {
            let defines = |t: &&TracedTensor| has_extent(&t.node.types[0], &s);
            if !found.iter().any(|t| defines(&t)) {
                found.extend(
                    operands
                        .iter()
                        .chain(&*values)
                        .flat_map(sizes)
                        .find(defines)
                        .cloned(),
                );
            }
        }
        found.into()
    }

    fn try_emit(&self, op: Op, x: &[Val]) -> Result<Vals> {
        let operands: SmallVec<[TracedTensor; 2]> = {
            let values = self.values.borrow();
            let of = |v: &Val| {
                let foreign = || {
                    Error::new(
                        Code::ForeignValue,
                        format!("%{} belongs to another graph", v.index()),
                    )
                };
                values
                    .get(v.index())
                    .filter(|_| self.status.may_own(*v))
                    .cloned()
                    .ok_or_else(foreign)
            };
            x.iter().map(of).collect::<Result<_>>()?
        };
        let types: SmallVec<[Type; 4]> = operands
            .iter()
            .map(|t| t.node.types[t.index as usize].clone())
            .collect();
        let loc = self.status.loc();
        let results = op.infer(&types).map_err(|e| e.at(loc))?;
        let sizes = if self.open.get() {
            self.sizes(&op, &operands, &results)
        } else {
            Box::default()
        };
        let types = results.into_iter().collect();
        let node = TraceNode::op(op, operands, types, sizes, loc);
        Ok((0..node.types.len())
            .map(|i| self.push(TracedTensor::result(node.clone(), i)))
            .collect())
    }
}

impl Emit for Recorder {
    fn emit(&self, op: Op, x: &[Val]) -> Vals {
        self.status
            .results(op.results(), x, || self.try_emit(op, x))
    }

    fn ty(&self, v: Val) -> Type {
        let values = self.values.borrow();
        let ty = values
            .get(v.index())
            .map(|t| t.node.types[t.index as usize].clone());
        ty.unwrap_or_else(|| Type::scalar(DType::F64))
    }

    fn fail(&self, e: Error) {
        self.status.fail(e);
    }

    fn failed(&self) -> bool {
        self.status.failed()
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_loc(&self, loc: Loc) {
        self.status.set_known_loc(loc);
    }

    fn set_method(&self, name: &'static str) {
        self.status.set_method(name);
    }

    fn loc(&self) -> Loc {
        self.status.loc()
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        format!(
            "{}{}",
            base.trim_end_matches(|c: char| c.is_ascii_digit()),
            fresh_id()
        )
        .into()
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        // Values of several traces may be combined, so a bound symbol is unique among all traces.
        self.fresh_sym(s)
    }
}

/// Records `f` of `x` at `loc`. Returns the results, or the first error.
pub(crate) fn record(
    loc: Loc,
    x: &[&TracedTensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<TracedTensor>> {
    record_in(PLAIN.clone(), loc, x, f)
}

/// As [`record`], with these rules in force.
pub(crate) fn record_in(
    session: Session,
    loc: Loc,
    x: &[&TracedTensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Vec<TracedTensor>> {
    record_emitted(session, loc, x, &mut once(f))
}

fn record_emitted(
    session: Session,
    loc: Loc,
    x: &[&TracedTensor],
    f: &mut EmitFn<'_>,
) -> Result<Vec<TracedTensor>> {
    let r = Recorder::new(session, loc);
    let v: SmallVec<[Val; 4]> = x.iter().map(|t| r.value(t)).collect();
    if r.failed() {
        return r.finish(x, &[]);
    }
    let y = f(&r, &v);
    r.finish(x, &y).map_err(|e| e.at(loc))
}

/// As [`record`], with one result. An error is stored in the result.
pub(crate) fn record_one(
    loc: Loc,
    x: &[&TracedTensor],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Val,
) -> TracedTensor {
    match record(loc, x, |cx, x| vec![f(cx, x)]) {
        Ok(mut y) => y.remove(0),
        Err(e) => TracedTensor::failed(e.at(loc)),
    }
}

/// The tensor, or one that carries the error.
#[track_caller]
pub(super) fn carried(r: Result<TracedTensor>) -> TracedTensor {
    match r {
        Ok(t) => t,
        Err(e) => TracedTensor::failed(e.at(here())),
    }
}

/// Both tensors, or two that carry the error.
#[track_caller]
pub(super) fn carried_pair(
    r: Result<(TracedTensor, TracedTensor)>,
) -> (TracedTensor, TracedTensor) {
    match r {
        Ok(pair) => pair,
        Err(e) => {
            let failed = TracedTensor::failed(e.at(here()));
            (failed.clone(), failed)
        }
    }
}

impl TensorOps for TracedTensor {
    type Error = Error;

    #[track_caller]
    fn emit(x: &[&Self], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Result<Vec<Self>> {
        if x.is_empty() {
            let text = "at least one tensor is needed, got none";
            return Err(Error::new(Code::Arity, text).at(here()));
        }
        record(here(), x, f)
    }
}
