//! The graph: a flat arena of equations, ascending ids = topological order.
//!
//! A [`Function`] is closed: bodies of control flow get what they use as operands. Nothing here is
//! recursive but the nesting of bodies, which is limited ([`MAX_DEPTH`]); dropping a function is
//! dropping a few vectors.

mod same;
mod symbols;

pub(crate) use symbols::Rename;

use crate::bail;
use crate::emit::Emit;
use crate::error::{Code, Error, Loc, Result};
use crate::ops::Op;
use crate::primitive::{Cost, Owner, Val, Vals};
use crate::shape::{Dim, Shape, Sym, Type};
use crate::transform::Session;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// How deep bodies may nest: every transform recurses over nesting, with some 6 KiB of stack per
/// level.
pub const MAX_DEPTH: u32 = 64;

/// One equation: `results = op(operands)`.
#[derive(Clone, Debug)]
pub struct Eqn {
    /// The operation.
    pub op: Op,
    operands: (u32, u32),
    first: u32,
    count: u32,
    /// Where it was written.
    pub loc: Loc,
}

impl Eqn {
    /// The values it defines: consecutive.
    pub fn results(
        &self,
    ) -> impl ExactSizeIterator<Item = Val> + DoubleEndedIterator + Clone + use<> {
        (self.first..self.first + self.count).map(Val::at)
    }
}

/// What defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// The parameter at this position.
    Param(usize),
    /// A result of the equation at this position.
    Eqn(usize),
}

/// A closed function: parameters, equations in topological order, results.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name, without `@`.
    pub name: Arc<str>,
    params: Vec<Val>,
    eqns: Vec<Eqn>,
    pool: Vec<Val>,
    types: Vec<Type>,
    /// The defining equation of each value, or `PARAM_BIT | position`.
    defs: Vec<u32>,
    names: Vec<Option<Arc<str>>>,
    results: Vec<Val>,
    depth: u32,
    /// Symbols mentioned anywhere in it: types, attributes, bodies.
    syms: FxHashSet<Sym>,
    /// Those that its equations bind.
    bound: FxHashSet<Sym>,
    /// Some operation in it only means something in a linear program (see
    /// [`Primitive::runs`](crate::Primitive::runs)).
    pending: bool,
    kinks: Kinks,
    facts: Facts,
}

/// Which derivatives at kinks are in a function or an operation, bodies included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinks {
    /// Any: it is a derivative.
    pub any: bool,
    /// Means of both sides.
    pub mean: bool,
}

impl std::ops::BitOrAssign for Kinks {
    fn bitor_assign(&mut self, o: Kinks) {
        *self = Kinks {
            any: self.any | o.any,
            mean: self.mean | o.mean,
        };
    }
}

/// What has been found out about a function; a changed copy starts without.
#[derive(Default)]
struct Facts {
    cost: OnceLock<Cost>,
    linear: Mutex<FxHashMap<Vec<bool>, bool>>,
}

impl Clone for Facts {
    fn clone(&self) -> Facts {
        Facts::default()
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Facts")
    }
}

const PARAM_BIT: u32 = 1 << 31;

impl Function {
    /// Parameters in order.
    pub fn params(&self) -> &[Val] {
        &self.params
    }

    /// Results in order; a value may stand twice.
    pub fn results(&self) -> &[Val] {
        &self.results
    }

    /// Equations in topological order.
    pub fn eqns(&self) -> &[Eqn] {
        &self.eqns
    }

    /// The operands of one of its equations.
    pub fn operands(&self, e: &Eqn) -> &[Val] {
        &self.pool[e.operands.0 as usize..e.operands.1 as usize]
    }

    /// The type of a value.
    pub fn ty(&self, v: Val) -> &Type {
        &self.types[v.index()]
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// No values at all.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// All values, parameters included.
    pub fn vals(&self) -> impl DoubleEndedIterator<Item = Val> + use<> {
        (0..self.types.len() as u32).map(Val::at)
    }

    /// What defines a value.
    pub fn def(&self, v: Val) -> Def {
        match self.defs[v.index()] {
            d if d & PARAM_BIT != 0 => Def::Param((d & !PARAM_BIT) as usize),
            d => Def::Eqn(d as usize),
        }
    }

    /// The name a person gave to a value.
    pub fn name_of(&self, v: Val) -> Option<&Arc<str>> {
        self.names[v.index()].as_ref()
    }

    /// The value of this name (without `%`).
    pub fn find(&self, name: &str) -> Option<Val> {
        self.names
            .iter()
            .position(|n| n.as_deref() == Some(name))
            .map(Val::from_index)
    }

    /// How a message refers to a value: `%x`, or `%7` where it has no name.
    pub fn show(&self, v: Val) -> String {
        self.name_of(v)
            .map_or_else(|| format!("%{}", v.index()), |n| format!("%{n}"))
    }

    /// Types of the parameters.
    pub fn param_types(&self) -> Vec<Type> {
        self.params.iter().map(|&v| self.ty(v).clone()).collect()
    }

    /// Types of the results.
    pub fn result_types(&self) -> Vec<Type> {
        self.results.iter().map(|&v| self.ty(v).clone()).collect()
    }

    /// Whether a value is a constant zero.
    pub fn is_zero(&self, v: Val) -> bool {
        matches!(self.def(v), Def::Eqn(i) if self.eqns[i].op.is_zeros())
    }

    /// The same equations with other results.
    ///
    /// # Panics
    /// A result is not one of its values: [`Builder::finish`] answers that with an error.
    pub fn with_results(mut self, results: &[Val]) -> Function {
        if let Some(&v) = results.iter().find(|v| v.index() >= self.len()) {
            panic!("{}", unbound(&self, v));
        }
        self.results = results.to_vec();
        self.facts = Facts::default();
        self
    }

    /// Operations replaced by others with the same operands and results.
    pub(crate) fn map_ops(&self, f: &mut dyn FnMut(&Op) -> Result<Option<Op>>) -> Result<Function> {
        let mut out = Function {
            pending: false,
            kinks: Kinks::default(),
            ..self.clone()
        };
        for e in &mut out.eqns {
            if let Some(op) = f(&e.op).map_err(|err| err.at(e.loc))? {
                out.depth = out
                    .depth
                    .max(op.regions().iter().map(|r| r.depth + 1).max().unwrap_or(0));
                op.attr_syms(&mut |s| {
                    out.syms.insert(s.clone());
                });
                e.op = op;
            }
            out.pending |= e.op.pending();
            out.kinks |= e.op.kinks();
        }
        Ok(out)
    }

    /// Whether it holds operations that only mean something in a linear program.
    pub fn pending(&self) -> bool {
        self.pending
    }

    /// Which derivatives at kinks it holds.
    pub(crate) fn kinks(&self) -> Kinks {
        self.kinks
    }

    /// Depth of nested bodies: 0 for none.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Which values the results need (of these results, by position; all if `None`).
    pub fn needed(&self, results: Option<&[bool]>) -> Vec<bool> {
        self.needed_for(results, &[])
    }

    /// As [`Function::needed`], and what these values need.
    pub fn needed_for(&self, results: Option<&[bool]>, also: &[Val]) -> Vec<bool> {
        let mut need = vec![false; self.len()];
        for v in also {
            need[v.index()] = true;
        }
        for (i, r) in self.results.iter().enumerate() {
            need[r.index()] |= results.is_none_or(|m| m[i]);
        }
        // What mentions a symbol needs the equation that binds it.
        let mut syms = FxHashSet::default();
        let track = !self.bound.is_empty();
        for e in self.eqns.iter().rev() {
            for s in e.op.binds().iter().filter(|s| track && syms.contains(*s)) {
                let has = |r: &Val| self.ty(*r).shape.iter().any(|d| d.as_sym() == Some(s));
                need[e
                    .results()
                    .rev()
                    .find(has)
                    .map_or(e.first as usize, Val::index)] = true;
            }
            if e.results().any(|r| need[r.index()]) {
                for &x in self.operands(e) {
                    need[x.index()] = true;
                }
                if track {
                    self.eqn_syms(e, &mut |s| {
                        syms.insert(s.clone());
                    });
                }
            }
        }
        need
    }

    /// Symbols that operations of this function decide while running.
    pub fn bound_syms(&self) -> &FxHashSet<Sym> {
        &self.bound
    }

    /// The sum of the costs of its equations; bodies count as their operation says.
    pub fn cost(&self) -> Cost {
        *self.facts.cost.get_or_init(|| {
            let mut total = Cost::default();
            for e in &self.eqns {
                let x: Vec<Type> = self
                    .operands(e)
                    .iter()
                    .map(|&v| self.ty(v).clone())
                    .collect();
                let y: Vec<Type> = e.results().map(|v| self.ty(v).clone()).collect();
                total += e.op.cost(&x, &y);
            }
            total
        })
    }

    /// Masks that [`Function::linear_in`] has answered.
    pub(crate) fn linear_memo(&self) -> &Mutex<FxHashMap<Vec<bool>, bool>> {
        &self.facts.linear
    }

    /// The same function under another name.
    pub fn renamed(mut self, name: &str) -> Function {
        self.name = name.into();
        self
    }

    /// The result types when called with these operand types: symbols of the parameters are bound
    /// to the operands' extents. An error if a type does not fit.
    pub fn apply_types(&self, x: &[Type]) -> Result<Vec<Type>> {
        if x.len() != self.params.len() {
            bail!(
                Arity,
                "`{}` takes {} operands, got {}",
                self.name,
                self.params.len(),
                x.len()
            );
        }
        let bound = self.bind(x);
        let f = |s: &Sym| bound.get(s).cloned();
        for (&p, t) in self.params.iter().zip(x) {
            let want = self.ty(p).subst(&f);
            if want.differs(t) {
                bail!(
                    ShapeMismatch,
                    "`{}` takes {want} for {}, got {t}",
                    self.name,
                    self.show(p)
                );
            }
        }
        Ok(self.results.iter().map(|&r| self.ty(r).subst(&f)).collect())
    }

    /// What the parameters' symbols are for operands of these types.
    pub fn bind(&self, x: &[Type]) -> FxHashMap<Sym, Dim> {
        let mut bound = FxHashMap::default();
        for (&p, t) in self.params.iter().zip(x) {
            for (d, have) in self.ty(p).shape.iter().zip(t.shape.iter()) {
                if let Some(s) = d.as_sym() {
                    bound.entry(s.clone()).or_insert_with(|| have.clone());
                }
            }
        }
        bound
    }
}

/// A function under construction.
pub struct Builder {
    session: Session,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    f: Function,
    loc: Loc,
    error: Option<Error>,
    /// Symbols that a function being copied binds: each may keep its name once.
    claimable: FxHashSet<Sym>,
    /// The shape of the last value: most have that of the one before, whose symbols are known.
    shape: Option<Shape>,
    owner: Owner,
}

impl State {
    /// Takes note of a symbol that something mentions.
    fn mention(&mut self, s: &Sym) {
        if !self.f.syms.contains(s) {
            self.f.syms.insert(s.clone());
        }
        self.claimable.remove(s);
    }

    fn push(&mut self, ty: Type, def: u32) -> Val {
        if !self.shape.as_ref().is_some_and(|last| last.is(&ty.shape)) {
            ty.syms(&mut |s| self.mention(s));
            self.shape = Some(ty.shape.clone());
        }
        let v = self.owner.val(self.f.types.len());
        self.f.types.push(ty);
        self.f.defs.push(def);
        self.f.names.push(None);
        v
    }

    /// Whether a value is one of this function.
    fn has(&self, v: Val) -> bool {
        v.index() < self.f.types.len() && self.owner.may_own(v)
    }

    /// The error of a value that is not.
    fn foreign(&self, v: Val) -> Error {
        let text = match v == Val::POISON {
            true => "poison stands for a value where nothing failed".to_owned(),
            false => format!(
                "%{} belongs to another graph than `{}`",
                v.index(),
                self.f.name
            ),
        };
        Error::new(Code::ForeignValue, text).at(self.loc)
    }

    fn emit(&mut self, op: Op, operands: &[Val]) -> Result<Vals> {
        if let Some(v) = operands.iter().find(|v| !self.has(**v)) {
            return Err(self.foreign(*v));
        }
        let types: smallvec::SmallVec<[Type; 4]> = operands
            .iter()
            .map(|v| self.f.types[v.index()].clone())
            .collect();
        let results = op.infer(&types).map_err(|e| e.at(self.loc))?;
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
                    "the extent `{s}` is decided twice, the second time by `{}`",
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
            loc: self.loc,
        });
        Ok(results.into_iter().map(|t| self.push(t, eqn)).collect())
    }
}

impl Builder {
    /// An empty function.
    pub fn new(name: &str, session: Session) -> Builder {
        let f = Function {
            name: name.into(),
            ..Function::default()
        };
        Builder {
            session,
            state: RefCell::new(State {
                f,
                ..State::default()
            }),
        }
    }

    /// An empty function that equations of `sources` will be copied into: fresh symbols avoid all
    /// of theirs.
    pub fn deriving(name: &str, session: &Session, sources: &[&Function]) -> Builder {
        let b = Builder::new(name, session.clone());
        {
            let mut s = b.state.borrow_mut();
            for f in sources {
                s.f.syms.extend(f.syms.iter().cloned());
                s.claimable.extend(f.bound.iter().cloned());
            }
        }
        b
    }

    /// With another session.
    pub(crate) fn under(self, session: Session) -> Builder {
        Builder { session, ..self }
    }

    /// Makes room for a copy of a function.
    pub(crate) fn reserve(&self, f: &Function) {
        let to = &mut self.state.borrow_mut().f;
        to.eqns.reserve(f.eqns.len());
        to.pool.reserve(f.pool.len());
        to.types.reserve(f.types.len());
        to.defs.reserve(f.defs.len());
        to.names.reserve(f.names.len());
    }

    /// Adds a parameter. Parameters may come between equations.
    pub fn param(&self, ty: Type, name: Option<&str>) -> Val {
        let mut s = self.state.borrow_mut();
        let def = PARAM_BIT | s.f.params.len() as u32;
        let v = s.push(ty, def);
        s.f.names[v.index()] = name.map(Into::into);
        s.f.params.push(v.of_any());
        v
    }

    /// Gives a value a name, if it has none. That of another graph is an error.
    pub fn set_name(&self, v: Val, name: &str) {
        let mut s = self.state.borrow_mut();
        if s.has(v) {
            s.f.names[v.index()].get_or_insert_with(|| name.into());
        } else if s.error.is_none() {
            s.error = Some(s.foreign(v));
        }
    }

    /// Looks at the operation that defines a value, unless it is a parameter.
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

    /// The number of values so far.
    pub(crate) fn values(&self) -> usize {
        self.state.borrow().f.len()
    }

    /// The first error, taken out.
    pub fn take_error(&self) -> Option<Error> {
        self.state.borrow_mut().error.take()
    }

    /// The function with these results, or the first error. A result that the function does not
    /// have is one.
    pub fn finish(self, results: &[Val]) -> Result<Function> {
        let mut state = self.state.into_inner();
        if let Some(e) = state.error.take() {
            return Err(e);
        }
        if let Some(&v) = results.iter().find(|v| !state.has(**v)) {
            return Err(state.foreign(v).note("as a result of the function"));
        }
        Ok(Function {
            results: results.iter().map(|v| v.of_any()).collect(),
            ..state.f
        })
    }
}

impl Emit for Builder {
    fn emit(&self, op: Op, operands: &[Val]) -> Vals {
        let count = op.results();
        if !(operands.contains(&Val::POISON) && self.failed()) {
            let r = self.state.borrow_mut().emit(op, operands);
            match r {
                Ok(v) => return v,
                Err(e) => self.fail(e),
            }
        }
        smallvec::smallvec![Val::POISON; count]
    }

    fn ty(&self, v: Val) -> Type {
        let s = self.state.borrow();
        s.f.types
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| Type::scalar(crate::DType::F64))
    }

    fn fail(&self, e: Error) {
        self.state.borrow_mut().error.get_or_insert(e);
    }

    fn failed(&self) -> bool {
        self.state.borrow().error.is_some()
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_loc(&self, loc: Loc) {
        self.state.borrow_mut().loc = loc;
    }

    fn loc(&self) -> Loc {
        self.state.borrow().loc
    }

    fn written(&self, v: Val) -> Option<(Op, Vals)> {
        self.with_def(v, |op, x| (op.clone(), Vals::from_slice(x)))
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        symbols::fresh(&mut self.state.borrow_mut().f.syms, base)
    }

    fn nested(&self, name: &str) -> Builder {
        let b = Builder::new(name, self.session.clone());
        b.state.borrow_mut().f.syms = self.state.borrow().f.syms.clone();
        b
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        let mut state = self.state.borrow_mut();
        if state.claimable.remove(s) || state.f.syms.insert(s.clone()) {
            s.clone()
        } else {
            symbols::fresh(&mut state.f.syms, s)
        }
    }
}

/// The error of a value that its function does not have.
pub fn unbound(f: &Function, v: Val) -> Error {
    Error::new(
        Code::Unbound,
        format!("%{} is not a value of `{}`", v.index(), f.name),
    )
}
