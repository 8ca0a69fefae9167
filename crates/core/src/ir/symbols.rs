//! Symbols of a function, and capture-avoiding substitution.
//!
//! A symbol is bound by a parameter's type, by an equation ([`binds`](crate::Primitive::binds)), or
//! outside: a region shares the symbols of the enclosing function. An equation binds a symbol once
//! per function. A pass that copies equations renames symbols that are in use already ([`Rename`]).

use super::{Emit, Eqn, Function, Kink, Kinks, LinEqn, LinearProgram, Op, Val};
use crate::shape::{Dim, Sym, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

/// Regions after substitution, by identity: shared regions stay shared.
type SubstitutedRegions = FxHashMap<*const Function, Arc<Function>>;

/// A symbol named after `base` that is not in `used`. It is added to `used`.
pub(super) fn fresh(used: &mut FxHashSet<Sym>, base: &str) -> Sym {
    let base = base.trim_end_matches(|c: char| c.is_ascii_digit());
    let new: Sym = (0..)
        .map(|i| format!("{base}{i}").into())
        .find(|n| !used.contains(n))
        .expect("endless");
    used.insert(new.clone());
    new
}

impl Function {
    /// Symbols that its types, attributes and regions mention.
    pub fn syms(&self) -> &FxHashSet<Sym> {
        &self.syms
    }

    /// The symbols that its parameters' types bind.
    pub fn param_syms(&self) -> FxHashSet<Sym> {
        self.params
            .iter()
            .flat_map(|&p| self.ty(p).shape.iter())
            .filter_map(|d| d.as_sym().cloned())
            .collect()
    }

    /// The symbols that an equation mentions outside its regions.
    pub(crate) fn eqn_syms(&self, e: &Eqn, f: &mut dyn FnMut(&Sym)) {
        for r in e.results() {
            self.ty(r).syms(f);
        }
        e.op.attr_syms(f);
    }

    /// Replaces symbols everywhere, including regions. Symbols that equations bind are not
    /// replaced. They are renamed where a replacement mentions a symbol of the same name.
    pub fn subst(&self, f: &dyn Fn(&Sym) -> Option<Dim>) -> Function {
        self.subst_with(f, &mut SubstitutedRegions::default())
    }

    fn subst_with(
        &self,
        f: &dyn Fn(&Sym) -> Option<Dim>,
        done: &mut SubstitutedRegions,
    ) -> Function {
        if self.bound.is_empty() {
            return self.replace(f, done);
        }
        let mut new = FxHashSet::default();
        for d in self
            .syms
            .iter()
            .filter(|s| !self.bound.contains(*s))
            .filter_map(f)
        {
            d.syms(&mut |s| {
                new.insert(s.clone());
            });
        }
        let mut used: FxHashSet<Sym> = self.syms.union(&new).cloned().collect();
        let renamed: FxHashMap<&Sym, Dim> = self
            .bound
            .intersection(&new)
            .map(|s| (s, Dim::sym(&fresh(&mut used, s))))
            .collect();
        let of = |s: &Sym| {
            if self.bound.contains(s) {
                renamed.get(s).cloned()
            } else {
                f(s)
            }
        };
        self.replace(&of, &mut SubstitutedRegions::default())
    }

    /// The function with its generated symbols numbered in order of appearance: unknown extents
    /// (`?`), and the symbols that its equations bind. Functions that differ in these names alone
    /// become [the same](Function::same).
    pub fn with_numbered_symbols(self) -> Function {
        let is_generated = |s: &Sym| s.starts_with('?') || self.bound.contains(s);
        if !self.syms.iter().any(is_generated) {
            return self;
        }
        let named = self.syms.iter().filter(|s| !is_generated(s));
        let mut used: FxHashSet<Sym> = named.cloned().collect();
        let mut numbered: FxHashMap<Sym, Dim> = FxHashMap::default();
        // Each is an extent of a parameter or of a result.
        for ty in &self.types {
            ty.syms(&mut |s| {
                if is_generated(s) && !numbered.contains_key(s) {
                    numbered.insert(s.clone(), Dim::sym(&fresh(&mut used, s)));
                }
            });
        }
        let of = |s: &Sym| numbered.get(s).cloned();
        self.replace(&of, &mut SubstitutedRegions::default())
    }

    fn replace(&self, f: &dyn Fn(&Sym) -> Option<Dim>, done: &mut SubstitutedRegions) -> Function {
        let set = |old: &FxHashSet<Sym>| {
            let mut new = FxHashSet::default();
            for s in old {
                f(s).unwrap_or_else(|| Dim::sym(s)).syms(&mut |s| {
                    new.insert(s.clone());
                });
            }
            new
        };
        let mut out = Function {
            syms: set(&self.syms),
            bound: set(&self.bound),
            ..self.clone()
        };
        for t in &mut out.types {
            *t = t.subst(f);
        }
        for e in &mut out.eqns {
            e.op = e.op.replace(f, done);
        }
        out
    }
}

impl Op {
    /// Calls `f` with the symbols that its attributes and regions mention.
    pub fn attr_syms(&self, f: &mut dyn FnMut(&Sym)) {
        let seen = std::cell::RefCell::new(Vec::new());
        self.map_dims(&|d| {
            d.syms(&mut |s| seen.borrow_mut().push(s.clone()));
            d.clone()
        });
        seen.into_inner().iter().for_each(&mut *f);
        for r in self.regions() {
            let own = if self.own_syms() {
                r.param_syms()
            } else {
                FxHashSet::default()
            };
            r.syms()
                .iter()
                .filter(|s| !own.contains(*s))
                .for_each(&mut *f);
        }
    }

    /// Whether it, or an operation in its regions, is defined in linear programs only.
    pub(crate) fn pending(&self) -> bool {
        !self.runs() || self.regions().iter().any(|r| r.pending)
    }

    /// The derivatives at kinks that it is or holds in its regions.
    pub(crate) fn kinks(&self) -> Kinks {
        let kink = self.kink();
        let mut all = Kinks {
            any: kink.is_some(),
            mean: kink == Some(Kink::Mean),
        };
        self.regions().iter().for_each(|r| all |= r.kinks);
        all
    }

    fn replace(&self, f: &dyn Fn(&Sym) -> Option<Dim>, done: &mut SubstitutedRegions) -> Op {
        let op = self
            .map_dims(&|d| d.subst(f))
            .unwrap_or_else(|| self.clone());
        let regions = self.regions();
        if regions.is_empty() {
            return op;
        }
        let body = |r: &Arc<Function>, done: &mut SubstitutedRegions| {
            let own = if self.own_syms() {
                r.param_syms()
            } else {
                FxHashSet::default()
            };
            if !r.syms.iter().any(|s| !own.contains(s) && f(s).is_some()) {
                return r.clone();
            }
            if !own.is_empty() {
                return Arc::new(r.subst(&|s| if own.contains(s) { None } else { f(s) }));
            }
            let key = Arc::as_ptr(r);
            if !done.contains_key(&key) {
                let new = Arc::new(r.subst_with(f, done));
                done.insert(key, new);
            }
            done[&key].clone()
        };
        let regions: Vec<Arc<Function>> = regions.into_iter().map(|r| body(r, done)).collect();
        op.with_regions(&regions)
    }
}

impl LinearProgram {
    /// Passes the symbols that an equation mentions to `f`.
    pub(crate) fn eqn_syms(&self, e: &LinEqn, f: &mut dyn FnMut(&Sym)) {
        e.op.attr_syms(f);
        e.results().for_each(|r| self.ty(r).syms(f));
    }
}

/// Adds values to `kept`, so that every symbol in `mentioned`, and in the types of kept values, is
/// an extent of a kept value or of one of the types `others`. `values` is the number of values,
/// `ty` their types.
pub(crate) fn keep_extents(
    kept: &mut Vec<Val>,
    mut mentioned: Vec<Sym>,
    others: &[Type],
    values: usize,
    ty: &dyn Fn(Val) -> Type,
) {
    let extents = |ty: &Type| -> Vec<Sym> {
        let symbols = ty.shape.iter().filter_map(|d| d.as_sym().cloned());
        symbols.collect()
    };
    let mut bound: FxHashSet<Sym> = others.iter().flat_map(extents).collect();
    for &v in kept.iter() {
        bound.extend(extents(&ty(v)));
        ty(v).syms(&mut |s| mentioned.push(s.clone()));
    }
    while let Some(s) = mentioned.pop() {
        let has = |v: &Val| extents(&ty(*v)).contains(&s);
        if !bound.contains(&s)
            && let Some(v) = (0..values).map(Val::from_index).find(has)
        {
            kept.push(v);
            bound.extend(extents(&ty(v)));
            ty(v).syms(&mut |s| mentioned.push(s.clone()));
        }
    }
}

/// The renaming of bound symbols when equations are copied into a function that uses these symbols
/// already.
#[derive(Default)]
pub(crate) struct Rename(FxHashMap<Sym, Dim>);

impl Rename {
    /// The operation with renamed symbols, to be written to `cx`. Must be called on the equations
    /// of a function in order.
    pub(crate) fn op<'a>(&mut self, cx: &dyn Emit, op: &'a Op) -> Cow<'a, Op> {
        for s in op.binds() {
            let new = cx.claim_sym(&s);
            if new != s {
                self.0.insert(s, Dim::sym(&new));
            }
        }
        if self.0.is_empty() {
            return Cow::Borrowed(op);
        }
        Cow::Owned(op.replace(
            &|s| self.0.get(s).cloned(),
            &mut SubstitutedRegions::default(),
        ))
    }
}
