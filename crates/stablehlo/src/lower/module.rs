//! State of lowering a module: its functions, and the form of a call to each.

use super::needed::NeededCallbacks;
use crate::ast::ParsedModule;
use cotangent_core::transform::Session;
use cotangent_core::{Code, Function, Loc, Result, bail};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Maximum number of equations of a callee that is inlined.
const MAX_INLINED_EQUATIONS: usize = 32;

/// Maximum number of operations, per text, expanded from functions that take extents as arguments.
const MAX_EXPANDED_OPERATIONS: usize = 1 << 17;

/// State shared by all functions of a text.
pub(super) struct ModuleLowering<'t> {
    pub(super) text: &'t ParsedModule<'t>,
    pub(super) by_name: FxHashMap<&'t str, usize>,
    /// Number of calls of each function.
    pub(super) calls: Vec<usize>,
    /// Functions that are lowered inside their only caller.
    pub(super) called_once: Vec<bool>,
    pub(super) lowered: RefCell<Vec<Option<Result<Arc<Function>>>>>,
    pub(super) session: Session,
    pub(super) expanded: Cell<usize>,
    /// Host callbacks whose results are read.
    pub(super) needed: NeededCallbacks,
    /// Positions of dropped host callbacks.
    pub(super) dropped: RefCell<FxHashSet<Loc>>,
}

/// Form of a call to a function.
pub(super) enum CalleeForm<'t> {
    /// A call of the lowered function.
    Call(Arc<Function>),
    /// The equations of the lowered function.
    Inline(Arc<Function>),
    /// The operations of the text. The function takes extents as arguments, which only the caller
    /// knows.
    Expand(&'t crate::ast::Function<'t>),
    /// The operations of the text: this is the only call.
    ExpandOnce(&'t crate::ast::Function<'t>),
}

impl<'t> ModuleLowering<'t> {
    /// Counts expanded operations, and returns an error above the limit.
    pub(super) fn count_expanded(&self, ops: usize) -> Result<()> {
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

    /// The form of a call to the function of this name.
    pub(super) fn callee_form(&self, name: &str) -> Result<CalleeForm<'t>> {
        let Some(&i) = self.by_name.get(name) else {
            bail!(UnknownName, "there is no function `@{name}`")
        };
        if self.called_once[i] {
            return Ok(CalleeForm::ExpandOnce(&self.text.functions[i]));
        }
        match &self.lowered.borrow()[i] {
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
