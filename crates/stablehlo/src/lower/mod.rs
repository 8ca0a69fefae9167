//! The [`ast`](crate::ast) to graphs: one table from operation names to functions, a file per family.
//!
//! Functions are lowered callees first. A small one, or one that is called once, is written where it is called; others
//! stay calls. An operation that is not known is an error of the functions that reach it, not of the text.

mod body;
mod composite;
mod control;
mod determinant;
mod dynamic;
pub mod elementwise;
mod exchanges;
mod extents;
mod factored;
mod frame;
mod householder;
mod indexing;
mod lapack;
mod loops;
mod reduce;
mod shape;
mod sort;
pub mod special;
pub mod table;

use crate::ast::{Module, Operation, Region};
use cotangent_core::transform::Session;
use cotangent_core::{Code, Error, Function, Result, bail};
use frame::Frame;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A callee of at most this many equations is written where it is called.
const SMALL: usize = 32;

/// At most so many operations are written where their functions are called because extents are arguments of those.
const EXPANDED: usize = 1 << 17;

/// All functions of a text being lowered.
struct Lowering<'t> {
    text: &'t Module<'t>,
    by_name: FxHashMap<&'t str, usize>,
    /// How often each is called.
    calls: Vec<usize>,
    done: RefCell<Vec<Option<Result<Arc<Function>>>>>,
    session: Session,
    expanded: Cell<usize>,
}

/// Every function of the text that has a body, by name, in order; and whether it is public.
pub fn lower(text: &Module<'_>) -> Result<Vec<(String, bool, Result<Arc<Function>>)>> {
    let mut by_name = FxHashMap::default();
    for (i, f) in text.functions.iter().enumerate() {
        if by_name.insert(&*f.name, i).is_some() {
            let e = Error::new(Code::DuplicateName, format!("the function `@{}` is defined twice", f.name));
            return Err(e.at(f.pos.into()));
        }
    }
    let mut callees: Vec<Vec<usize>> = Vec::with_capacity(text.functions.len());
    let mut calls = vec![0; text.functions.len()];
    for f in &text.functions {
        let mut to = Vec::new();
        f.body.iter().for_each(|b| called(b, &by_name, &mut to));
        to.iter().for_each(|&c| calls[c] += 1);
        callees.push(to);
    }
    let n = text.functions.len();
    let lowering = Lowering {
        text,
        by_name,
        calls,
        done: RefCell::new(vec![None; n]),
        session: Session::default(),
        expanded: Cell::new(0),
    };
    for i in callees_first(&callees) {
        let f = &text.functions[i];
        if f.body.is_some() {
            let r = Frame::function(&lowering, f);
            lowering.done.borrow_mut()[i] = Some(r);
        }
    }
    let done = lowering.done.into_inner();
    Ok(text.functions.iter().zip(done).filter_map(|(f, r)| Some((f.name.to_string(), f.public, r?))).collect())
}

/// Names of functions that an operation refers to.
fn callee<'o>(op: &'o Operation<'_>) -> Option<&'o str> {
    match op.name {
        "func.call" => op.attr("callee").or_else(|| op.unnamed().next()).and_then(|a| a.word()),
        "stablehlo.composite" => op.attr("decomposition").and_then(|a| a.word()),
        _ => None,
    }
}

fn called(region: &Region<'_>, by_name: &FxHashMap<&str, usize>, out: &mut Vec<usize>) {
    for op in &region.ops {
        out.extend(callee(op).and_then(|c| by_name.get(c)));
        op.regions.iter().for_each(|r| called(r, by_name, out));
    }
}

/// An order in which callees come before callers; in a cycle one of them comes first.
fn callees_first(callees: &[Vec<usize>]) -> Vec<usize> {
    let (mut seen, mut order) = (vec![false; callees.len()], Vec::with_capacity(callees.len()));
    for root in 0..callees.len() {
        let mut stack = vec![(root, 0)];
        while let Some((f, at)) = stack.pop() {
            if at == 0 && std::mem::replace(&mut seen[f], true) {
                continue;
            }
            match callees[f].get(at) {
                Some(&next) => {
                    stack.push((f, at + 1));
                    if !seen[next] {
                        stack.push((next, 0));
                    }
                }
                None => order.push(f),
            }
        }
    }
    order
}

/// How a function is called.
enum Callee<'t> {
    /// As a function.
    Called(Arc<Function>),
    /// By its equations.
    Inlined(Arc<Function>),
    /// It is given the extents of what it makes: by its operations, where those are known.
    Here(&'t crate::ast::Function<'t>),
}

impl<'t> Lowering<'t> {
    /// Counts operations of functions that are written where they are called.
    fn spend(&self, ops: usize) -> Result<()> {
        self.expanded.set(self.expanded.get().saturating_add(ops + 1));
        if self.expanded.get() > EXPANDED {
            bail!(
                Limit,
                "functions that take extents as arguments are called too often: more than {EXPANDED} operations"
            );
        }
        Ok(())
    }

    /// The text of the function of this name, if it may be written where it is called.
    fn written_here(&self, name: &str) -> Option<&'t crate::ast::Function<'t>> {
        let f = &self.text.functions[*self.by_name.get(name)?];
        let ops = f.body.as_ref()?.ops.len();
        (self.expanded.get().saturating_add(ops + 1) <= EXPANDED).then_some(f)
    }

    /// The function of this name, and how it is called.
    fn find(&self, name: &str) -> Result<Callee<'t>> {
        let Some(&i) = self.by_name.get(name) else { bail!(UnknownName, "there is no function `@{name}`") };
        match &self.done.borrow()[i] {
            Some(Ok(f)) if f.eqns().len() <= SMALL || self.calls[i] == 1 => Ok(Callee::Inlined(f.clone())),
            Some(Ok(f)) => Ok(Callee::Called(f.clone())),
            Some(Err(e)) if e.code() == Code::Unbound => Ok(Callee::Here(&self.text.functions[i])),
            Some(Err(e)) => Err(e.clone()),
            None if self.text.functions[i].body.is_none() => {
                bail!(UnknownName, "`@{name}` is declared, but the text has no body for it")
            }
            None => bail!(Invalid, "`@{name}` calls itself: recursion is not supported"),
        }
    }
}
