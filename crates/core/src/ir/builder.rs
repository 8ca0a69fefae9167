//! [`Builder`]: a function under construction.

use super::function::PARAM_BIT;
use super::symbols;
use super::{Emit, EmitterStatus, Eqn, Function, MAX_DEPTH, Op, Session, Val, Vals};
use crate::bail;
use crate::error::{Code, Error, Loc, Result};
use crate::shape::{Shape, Sym, Type};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::sync::Arc;

/// A function under construction.
pub struct Builder {
    session: Session,
    status: EmitterStatus,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    f: Function,
    /// Names that no fresh symbol may have: those of the function, of the functions around it, and
    /// of copied ones.
    taken: FxHashSet<Sym>,
    /// Symbols that the copied functions bind: the first equation that binds one keeps its name.
    claimable: FxHashSet<Sym>,
    /// The shape of the last value. Most values have the shape of the preceding one, whose symbols
    /// are recorded already.
    shape: Option<Shape>,
}

impl State {
    /// Records a mentioned symbol.
    fn mention(&mut self, s: &Sym) {
        if self.f.mention(s) {
            self.taken.insert(s.clone());
        }
        self.claimable.remove(s);
    }

    fn push(&mut self, status: &EmitterStatus, ty: Type, def: u32) -> Val {
        if !self.shape.as_ref().is_some_and(|last| last.is(&ty.shape)) {
            ty.syms(&mut |s| self.mention(s));
            self.shape = Some(ty.shape.clone());
        }
        let v = status.val(self.f.types.len());
        self.f.types.push(ty);
        self.f.defs.push(def);
        self.f.names.push(None);
        v
    }

    /// Whether a value belongs to this function.
    fn has(&self, status: &EmitterStatus, v: Val) -> bool {
        v.index() < self.f.types.len() && status.may_own(v)
    }

    /// The error for a value of another function.
    fn foreign(&self, v: Val) -> Error {
        let text = match v == Val::POISON {
            true => "a poison value is used, but no error was reported".to_owned(),
            false => format!(
                "%{} belongs to another graph than `{}`",
                v.index(),
                self.f.name
            ),
        };
        Error::new(Code::ForeignValue, text)
    }

    fn emit(&mut self, status: &EmitterStatus, op: Op, operands: &[Val]) -> Result<Vals> {
        let loc = status.loc();
        if let Some(v) = operands.iter().find(|v| !self.has(status, **v)) {
            return Err(self.foreign(*v).at(loc));
        }
        let types: smallvec::SmallVec<[Type; 4]> = operands
            .iter()
            .map(|v| self.f.types[v.index()].clone())
            .collect();
        let results = op.infer(&types).map_err(|e| e.at(loc))?;
        let depth = op.regions().iter().map(|r| r.depth + 1).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            bail!(
                Limit,
                "bodies nest deeper than {MAX_DEPTH} levels at `{}`",
                op.name()
            );
        }
        self.f.depth = self.f.depth.max(depth);
        for s in op.binds() {
            self.mention(&s);
            if !self.f.bound.insert(s.clone()) {
                bail!(
                    Invalid,
                    "the extent `{s}` is bound twice, the second time by `{}`",
                    op.name()
                );
            }
        }
        op.attr_syms(&mut |s| self.mention(s));
        self.f.pending |= op.pending();
        self.f.kinks |= op.kinks();
        let start = self.f.pool.len() as u32;
        self.f.pool.extend(operands.iter().map(|v| v.of_any()));
        let eqn = self.f.eqns.len() as u32;
        let first = self.f.types.len() as u32;
        let count = results.len() as u32;
        self.f.eqns.push(Eqn {
            op,
            operands: (start, self.f.pool.len() as u32),
            first,
            count,
            loc,
        });
        Ok(results
            .into_iter()
            .map(|t| self.push(status, t, eqn))
            .collect())
    }
}

impl Builder {
    /// A builder for an empty function.
    pub fn new(name: &str, session: Session) -> Builder {
        let f = Function {
            name: name.into(),
            ..Function::default()
        };
        Builder {
            session,
            status: EmitterStatus::default(),
            state: RefCell::new(State {
                f,
                ..State::default()
            }),
        }
    }

    /// A builder for a function that equations of `sources` are copied into. Fresh symbols differ
    /// from all of theirs.
    pub fn deriving(name: &str, session: &Session, sources: &[&Function]) -> Builder {
        let b = Builder::new(name, session.clone());
        {
            let mut s = b.state.borrow_mut();
            for f in sources {
                s.taken.extend(f.syms.iter().cloned());
                s.claimable.extend(f.bound.iter().cloned());
            }
        }
        b
    }

    /// This builder with another session.
    pub(crate) fn under(self, session: Session) -> Builder {
        Builder { session, ..self }
    }

    /// Begins with the name, parameters and equations of a function.
    pub(crate) fn begin_with(&self, f: Function) {
        let mut s = self.state.borrow_mut();
        f.syms.iter().for_each(|sym| s.mention(sym));
        s.f = f;
    }

    /// Reserves memory for a copy of a function.
    pub(crate) fn reserve(&self, f: &Function) {
        let to = &mut self.state.borrow_mut().f;
        to.eqns.reserve(f.eqns.len());
        to.pool.reserve(f.pool.len());
        to.types.reserve(f.types.len());
        to.defs.reserve(f.defs.len());
        to.names.reserve(f.names.len());
    }

    /// Adds a parameter. Parameters may come between equations. An array of opaque values is an
    /// error, which `finish` returns.
    pub fn param(&self, ty: Type, name: Option<&str>) -> Val {
        if let Err(e) = ty.check() {
            self.status.fail(e.at(self.status.loc()));
        }
        let mut s = self.state.borrow_mut();
        let def = PARAM_BIT | s.f.params.len() as u32;
        let v = s.push(&self.status, ty, def);
        s.f.names[v.index()] = name.map(Into::into);
        s.f.params.push(v.of_any());
        v
    }

    /// Adds a parameter of this type, with the name of a parameter of `f`. It is a tangent if that
    /// one is.
    pub(crate) fn param_like(&self, ty: Type, f: &Function, p: Val) -> Val {
        let v = self.param(ty, f.name_of(p).map(|n| &**n));
        if f.is_tangent(p) {
            self.set_tangent(v);
        }
        v
    }

    /// Records that a parameter is a tangent.
    pub(crate) fn set_tangent(&self, p: Val) {
        self.state.borrow_mut().f.tangents.insert(p.of_any());
    }

    /// Names a value, if it has no name. A value of another graph is an error.
    pub fn set_name(&self, v: Val, name: impl Into<Arc<str>>) {
        let mut s = self.state.borrow_mut();
        if s.has(&self.status, v) {
            s.f.names[v.index()].get_or_insert_with(|| name.into());
        } else {
            self.status.fail(s.foreign(v).at(self.status.loc()));
        }
    }

    /// Calls `look` on the operation that defines a value and on its operands. Returns `None` for a
    /// parameter.
    pub fn with_def<R>(&self, v: Val, look: impl FnOnce(&Op, &[Val]) -> R) -> Option<R> {
        let s = self.state.borrow();
        match s.f.defs.get(v.index())? {
            d if d & PARAM_BIT != 0 => None,
            &d => {
                let e = &s.f.eqns[d as usize];
                Some(look(&e.op, s.f.operands(e)))
            }
        }
    }

    /// The values that the equation of `v` defines, `v` among them. None for a parameter.
    pub(crate) fn defined_with(&self, v: Val) -> impl Iterator<Item = Val> + use<> {
        let s = self.state.borrow();
        let eqn = s.f.defs.get(v.index()).filter(|d| **d & PARAM_BIT == 0);
        let all = eqn.map(|d| s.f.eqns[*d as usize].results());
        all.into_iter().flatten()
    }

    /// The number of values so far.
    pub(crate) fn values(&self) -> usize {
        self.state.borrow().f.len()
    }

    /// Removes and returns the first error.
    pub fn take_error(&self) -> Option<Error> {
        self.status.take_error()
    }

    /// Finishes the function with these results. Returns the first error; a result that is not a
    /// value of the function is one.
    pub fn finish(self, results: &[Val]) -> Result<Function> {
        if let Some(e) = self.status.take_error() {
            return Err(e);
        }
        let state = self.state.into_inner();
        if let Some(&v) = results.iter().find(|v| !state.has(&self.status, **v)) {
            let foreign = state.foreign(v).at(self.status.loc());
            return Err(foreign.note("as a result of the function"));
        }
        Ok(Function {
            results: results.iter().map(|v| v.of_any()).collect(),
            ..state.f
        })
    }
}

impl Emit for Builder {
    fn emit(&self, op: Op, operands: &[Val]) -> Vals {
        self.status.results(op.results(), operands, || {
            self.state.borrow_mut().emit(&self.status, op, operands)
        })
    }

    fn ty(&self, v: Val) -> Type {
        let s = self.state.borrow();
        s.f.types
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| Type::scalar(crate::DType::F64))
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
        self.status.set_loc(loc);
    }

    fn loc(&self) -> Loc {
        self.status.loc()
    }

    fn written(&self, v: Val) -> Option<(Op, Vals)> {
        self.with_def(v, |op, x| (op.clone(), Vals::from_slice(x)))
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        symbols::fresh(&mut self.state.borrow_mut().taken, base)
    }

    fn nested(&self, name: &str) -> Builder {
        let b = Builder::new(name, self.session.clone());
        b.state.borrow_mut().taken = self.state.borrow().taken.clone();
        b
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        let mut state = self.state.borrow_mut();
        if state.claimable.remove(s) || state.taken.insert(s.clone()) {
            s.clone()
        } else {
            symbols::fresh(&mut state.taken, s)
        }
    }
}
