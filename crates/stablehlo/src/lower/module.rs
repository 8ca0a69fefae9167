//! All functions of a text being lowered, and how each is called.

use super::needed::{NeededCallbacks, TextPosition};
use crate::ast::ParsedModule;
use cotangent_core::transform::Session;
use cotangent_core::{Code, Function, Result, bail};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A callee of at most this many equations is written where it is called.
const MAX_INLINED_EQUATIONS: usize = 32;

/// At most so many operations are written where their functions are called because extents are
/// arguments of those.
const MAX_EXPANDED_OPERATIONS: usize = 1 << 17;

/// All functions of a text being lowered.
pub struct ModuleLowering<'t> {
    pub(super) text: &'t ParsedModule<'t>,
    pub(super) by_name: FxHashMap<&'t str, usize>,
    /// How often each is called.
    pub(super) calls: Vec<usize>,
    /// Those that are written where they are called, operation by operation.
    pub(super) within: Vec<bool>,
    pub(super) done: RefCell<Vec<Option<Result<Arc<Function>>>>>,
    pub(super) session: Session,
    pub(super) expanded: Cell<usize>,
    /// Host callbacks that are read, and those that were left out.
    pub(super) needed: NeededCallbacks,
    pub(super) dropped: RefCell<FxHashSet<TextPosition>>,
}

/// How a function is called.
pub enum CalleeForm<'t> {
    /// As a function.
    Call(Arc<Function>),
    /// By its equations.
    Inline(Arc<Function>),
    /// It is given the extents of what it makes: by its operations, where those are known.
    Expand(&'t crate::ast::Function<'t>),
    /// Nobody else calls it: by its operations.
    ExpandOnce(&'t crate::ast::Function<'t>),
}

impl<'t> ModuleLowering<'t> {
    /// Counts operations of functions that are written where they are called.
    pub(super) fn spend(&self, ops: usize) -> Result<()> {
        self.expanded
            .set(self.expanded.get().saturating_add(ops + 1));
        if self.expanded.get() > MAX_EXPANDED_OPERATIONS {
            bail!(
                Limit,
                "functions that take extents as arguments are called too often: more than {MAX_EXPANDED_OPERATIONS} operations"
            );
        }
        Ok(())
    }

    /// The text of the function of this name, if it may be written where it is called.
    pub(super) fn written_here(&self, name: &str) -> Option<&'t crate::ast::Function<'t>> {
        let f = &self.text.functions[*self.by_name.get(name)?];
        let ops = f.body.as_ref()?.ops.len();
        (self.expanded.get().saturating_add(ops + 1) <= MAX_EXPANDED_OPERATIONS).then_some(f)
    }

    /// The function of this name, and how it is called.
    pub(super) fn find(&self, name: &str) -> Result<CalleeForm<'t>> {
        let Some(&i) = self.by_name.get(name) else {
            bail!(UnknownName, "there is no function `@{name}`")
        };
        if self.within[i] {
            return Ok(CalleeForm::ExpandOnce(&self.text.functions[i]));
        }
        match &self.done.borrow()[i] {
            Some(Ok(f)) if f.eqns().len() <= MAX_INLINED_EQUATIONS => {
                Ok(CalleeForm::Inline(f.clone()))
            }
            Some(Ok(f)) => Ok(CalleeForm::Call(f.clone())),
            Some(Err(e)) if e.code() == Code::Unbound => {
                Ok(CalleeForm::Expand(&self.text.functions[i]))
            }
            Some(Err(e)) => Err(e.clone()),
            None if self.text.functions[i].body.is_none() => {
                bail!(
                    UnknownName,
                    "`@{name}` is declared, but the text has no body for it"
                )
            }
            None => bail!(
                Invalid,
                "`@{name}` calls itself: recursion is not supported"
            ),
        }
    }
}
