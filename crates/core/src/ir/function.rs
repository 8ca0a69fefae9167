//! The graph: a flat arena of equations, ascending ids = topological order.
//!
//! A [`Function`] is closed: regions of control flow receive the values that they use as operands.
//! The only recursion is the nesting of regions, which is limited ([`MAX_DEPTH`]). A function is a
//! few vectors, so dropping one is not recursive over its equations.

use super::{Cost, Op, Val};
use crate::bail;
use crate::dtype::OpaqueType;
use crate::error::{Code, Error, Loc, Result};
use crate::shape::{Dim, Sym, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Maximum nesting depth of regions. It bounds the stack: every transform recurses over nesting,
/// with about 6 KiB of stack per level.
pub const MAX_DEPTH: u32 = 64;

/// One equation: `results = op(operands)`.
#[derive(Clone, Debug)]
pub struct Eqn {
    /// The operation.
    pub op: Op,
    pub(super) operands: (u32, u32),
    pub(super) first: u32,
    pub(super) count: u32,
    /// Source location.
    pub loc: Loc,
}

impl Eqn {
    /// The values it defines, which are consecutive.
    pub fn results(
        &self,
    ) -> impl ExactSizeIterator<Item = Val> + DoubleEndedIterator + Clone + use<> {
        (self.first..self.first + self.count).map(Val::at)
    }
}

/// The definition of a value.
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
    pub(super) params: Vec<Val>,
    /// Parameters that are tangents.
    pub(super) tangents: FxHashSet<Val>,
    pub(super) eqns: Vec<Eqn>,
    pub(super) pool: Vec<Val>,
    pub(super) types: Vec<Type>,
    /// The defining equation of each value, or `PARAM_BIT | position`.
    pub(super) defs: Vec<u32>,
    pub(super) names: Vec<Option<Arc<str>>>,
    pub(super) results: Vec<Val>,
    pub(super) depth: u32,
    /// Symbols that its types, attributes and regions mention.
    pub(super) syms: FxHashSet<Sym>,
    /// Symbols that its equations bind.
    pub(super) bound: FxHashSet<Sym>,
    /// Whether it holds an operation that is defined in linear programs only (see
    /// [`Primitive::runs`](crate::Primitive::runs)).
    pub(super) pending: bool,
    pub(super) kinks: Kinks,
    pub(super) facts: Facts,
}

/// Derivatives at kinks in a function or an operation, regions included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinks {
    /// Whether there is any: then the function is a derivative.
    pub any: bool,
    /// Whether there are means of both sides.
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

/// Cached facts about a function. A modified copy starts with none.
#[derive(Default)]
pub(super) struct Facts {
    cost: OnceLock<Cost>,
    opaque: OnceLock<Option<OpaqueType>>,
    must_run: OnceLock<bool>,
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

pub(super) const PARAM_BIT: u32 = 1 << 31;

impl Function {
    /// Parameters in order.
    pub fn params(&self) -> &[Val] {
        &self.params
    }

    /// Whether a parameter is a tangent: of a function of forward mode, or as the text specifies
    /// (`tgraph.tangent`).
    pub fn is_tangent(&self, p: Val) -> bool {
        self.tangents.contains(&p)
    }

    /// Results in order. A value may occur more than once.
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

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// All values, parameters included.
    pub fn vals(&self) -> impl DoubleEndedIterator<Item = Val> + use<> {
        (0..self.types.len() as u32).map(Val::at)
    }

    /// The definition of a value.
    pub fn def(&self, v: Val) -> Def {
        match self.defs[v.index()] {
            d if d & PARAM_BIT != 0 => Def::Param((d & !PARAM_BIT) as usize),
            d => Def::Eqn(d as usize),
        }
    }

    /// The operation that defines a value, and its operands. `None` for a parameter.
    pub(crate) fn definition(&self, v: Val) -> Option<(&Op, &[Val])> {
        let Def::Eqn(i) = self.def(v) else {
            return None;
        };
        Some((&self.eqns[i].op, self.operands(&self.eqns[i])))
    }

    /// The name of a value in the source program.
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

    /// A value as error messages print it: `%x`, or `%7` if it has no name.
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

    /// This function with other results.
    ///
    /// # Panics
    /// Panics if a result is not one of its values ([`Builder::finish`](super::Builder::finish)
    /// returns an error instead).
    pub fn with_results(mut self, results: &[Val]) -> Function {
        if let Some(&v) = results.iter().find(|v| v.index() >= self.len()) {
            panic!("{}", unbound(&self, v));
        }
        self.results = results.to_vec();
        self.facts = Facts::default();
        self
    }

    /// A copy with operations replaced by others with the same operands and results.
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

    /// Whether it holds operations that are defined in linear programs only.
    pub fn pending(&self) -> bool {
        self.pending
    }

    /// The derivatives at kinks that it holds.
    pub(crate) fn kinks(&self) -> Kinks {
        self.kinks
    }

    /// Nesting depth of its regions: 0 if there are none.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Mask of the values that the marked results need (all results if `None`).
    pub fn needed(&self, results: Option<&[bool]>) -> Vec<bool> {
        self.needed_for(results, &[])
    }

    /// As [`Function::needed`], including `also` and the values that these need.
    pub fn needed_for(&self, results: Option<&[bool]>, also: &[Val]) -> Vec<bool> {
        self.needed_with(results, also, self.must_run())
    }

    /// Number of uses of each value by the equations of these values, and as a result.
    pub(crate) fn uses(&self, needed: &[bool]) -> Vec<usize> {
        let mut n = vec![0; self.len()];
        let is_needed = |e: &&Eqn| e.results().any(|r| needed[r.index()]);
        let live = self.eqns.iter().filter(is_needed);
        live.flat_map(|e| self.operands(e))
            .chain(&self.results)
            .for_each(|v| n[v.index()] += 1);
        n
    }

    /// Mask of the equations that compute these values, for a copy of them beside the function:
    /// effects stay in the function alone.
    pub(crate) fn computing_alone(&self, values: &[Val]) -> Vec<bool> {
        let none = vec![false; self.results.len()];
        self.computing(&self.needed_with(Some(&none), values, false))
    }

    /// As [`Function::needed_for`], with the operations that must run or without them.
    fn needed_with(&self, results: Option<&[bool]>, also: &[Val], effects: bool) -> Vec<bool> {
        let mut need = vec![false; self.len()];
        for v in also {
            need[v.index()] = true;
        }
        for (i, r) in self.results.iter().enumerate() {
            need[r.index()] |= results.is_none_or(|m| m[i]);
        }
        // A value whose type mentions a symbol needs the equation that binds it.
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
            if effects && e.op.must_run() {
                e.results().for_each(|r| need[r.index()] = true);
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

    /// Mask of the equations that compute a value of this mask.
    pub(crate) fn computing(&self, values: &[bool]) -> Vec<bool> {
        let any = |e: &Eqn| e.results().any(|r| values[r.index()]);
        self.eqns.iter().map(any).collect()
    }

    /// The function with these of its equations, which compute all results, and the new value of
    /// each value (poison: it has none). Parameters stay. O(equations): types are not inferred
    /// again.
    pub(crate) fn with_equations(&self, kept: &[bool]) -> (Function, Vec<Val>) {
        let mut out = Function {
            name: self.name.clone(),
            ..Function::default()
        };
        let count = kept.iter().filter(|kept| **kept).count();
        out.eqns.reserve(count);
        let values = self.params.len() + count;
        out.types.reserve(values);
        out.defs.reserve(values);
        out.names.reserve(values);
        let mut images = vec![Val::POISON; self.len()];
        for (&p, k) in self.params.iter().zip(0..) {
            let v = out.copy_value(self, p, PARAM_BIT | k);
            images[p.index()] = v;
            out.params.push(v);
            if self.is_tangent(p) {
                out.tangents.insert(v);
            }
        }
        for (e, _) in self.eqns.iter().zip(kept).filter(|(_, kept)| **kept) {
            let (start, first) = (out.pool.len() as u32, out.types.len() as u32);
            let operands = self.operands(e).iter();
            out.pool.extend(operands.map(|x| images[x.index()]));
            let eqn = out.eqns.len() as u32;
            for r in e.results() {
                images[r.index()] = out.copy_value(self, r, eqn);
            }
            out.eqns.push(Eqn {
                operands: (start, out.pool.len() as u32),
                first,
                ..e.clone()
            });
            let regions = e.op.regions();
            let depth = regions.iter().map(|r| r.depth + 1).max();
            out.depth = out.depth.max(depth.unwrap_or(0));
            if !self.syms.is_empty() {
                e.op.attr_syms(&mut |s| {
                    out.mention(s);
                });
                for s in e.op.binds() {
                    out.mention(&s);
                    out.bound.insert(s);
                }
            }
            out.pending |= e.op.pending();
            out.kinks |= e.op.kinks();
        }
        out.results = self.results.iter().map(|r| images[r.index()]).collect();
        (out, images)
    }

    /// Appends a value like one of `from`.
    fn copy_value(&mut self, from: &Function, v: Val, def: u32) -> Val {
        if !from.syms.is_empty() {
            from.ty(v).syms(&mut |s| {
                self.mention(s);
            });
        }
        self.types.push(from.ty(v).clone());
        self.defs.push(def);
        self.names.push(from.names[v.index()].clone());
        Val::from_index(self.types.len() - 1)
    }

    /// Records a mentioned symbol. Returns whether it is the first mention.
    pub(super) fn mention(&mut self, s: &Sym) -> bool {
        !self.syms.contains(s) && self.syms.insert(s.clone())
    }

    /// Symbols that equations of this function bind at run time.
    pub fn bound_syms(&self) -> &FxHashSet<Sym> {
        &self.bound
    }

    /// The sum of the costs of its equations. The cost of a region is part of that of its
    /// operation.
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

    /// An opaque type that a value has, regions included.
    pub(super) fn opaque_value(&self) -> Option<OpaqueType> {
        *self.facts.opaque.get_or_init(|| {
            let own = self.types.iter().find_map(|t| t.dtype.opaque());
            let regions = || self.eqns.iter().flat_map(|e| e.op.regions());
            own.or_else(|| regions().find_map(|r| r.opaque_value()))
        })
    }

    /// Whether an operation in it is executed although its results are not needed, regions
    /// included.
    pub(crate) fn must_run(&self) -> bool {
        *self
            .facts
            .must_run
            .get_or_init(|| self.eqns.iter().any(|e| e.op.must_run()))
    }

    /// Memoized results of [`Function::linear_in`], by mask.
    pub(crate) fn linear_memo(&self) -> &Mutex<FxHashMap<Vec<bool>, bool>> {
        &self.facts.linear
    }

    /// This function under another name.
    pub fn renamed(mut self, name: &str) -> Function {
        self.name = name.into();
        self
    }

    /// The result types for these operand types. Symbols of the parameters are bound to the
    /// operands' extents. Returns an error if a type does not fit.
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

    /// Values of the parameters' symbols for operands of these types.
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

/// The error for a value that is not in its function.
pub fn unbound(f: &Function, v: Val) -> Error {
    Error::new(
        Code::Unbound,
        format!("%{} is not a value of `{}`", v.index(), f.name),
    )
}
