//! [`EmitterStatus`]: the state of every emitter besides its values.

use super::{Owner, Val, Vals};
use crate::error::{Error, Loc, Result};
use crate::shape::Type;
use std::cell::{Cell, RefCell};

/// The state of every emitter besides its values: the source location, the method that is called,
/// the first error, and its identity.
#[derive(Default)]
pub struct EmitterStatus {
    loc: Cell<Loc>,
    method: Cell<Option<&'static str>>,
    error: RefCell<Option<Error>>,
    owner: Owner,
}

impl EmitterStatus {
    /// Sets the source location of the next operations.
    pub fn set_loc(&self, loc: Loc) {
        self.loc.set(loc);
    }

    /// Sets the source location of the next operations, unless `loc` is unknown.
    pub fn set_known_loc(&self, loc: Loc) {
        if loc != Loc::None {
            self.set_loc(loc);
        }
    }

    /// The current source location.
    pub fn loc(&self) -> Loc {
        self.loc.get()
    }

    /// Sets the name of the method that is called.
    pub fn set_method(&self, name: &'static str) {
        self.method.set(Some(name));
    }

    /// Removes and returns the first error of a call on operands of these types. It names the
    /// method that was called, if that is known.
    pub fn take_error_of<'a>(&self, operands: impl IntoIterator<Item = &'a Type>) -> Option<Error> {
        let e = self.take_error()?;
        Some(match self.method.get() {
            Some(method) => e.of_call(method, operands),
            None => e,
        })
    }

    /// Stores an error, unless one is stored already.
    pub fn fail(&self, e: Error) {
        self.error.borrow_mut().get_or_insert(e);
    }

    /// Whether an error is stored.
    pub fn failed(&self) -> bool {
        self.error.borrow().is_some()
    }

    /// Removes and returns the first error.
    pub fn take_error(&self) -> Option<Error> {
        self.error.borrow_mut().take()
    }

    /// The value of this emitter with this index.
    pub fn val(&self, i: usize) -> Val {
        self.owner.val(i)
    }

    /// Whether a value may belong to this emitter. False only if it is known to belong to another
    /// one.
    pub fn may_own(&self, v: Val) -> bool {
        self.owner.may_own(v)
    }

    /// The results that `write` returns. After a failure, `count` poison values: an error of
    /// `write` is stored, and `write` is not called for operands that an earlier failure poisoned.
    #[inline(always)] // every operation of a function comes here
    pub fn results(
        &self,
        count: usize,
        operands: &[Val],
        write: impl FnOnce() -> Result<Vals>,
    ) -> Vals {
        if !(operands.contains(&Val::POISON) && self.failed()) {
            match write() {
                Ok(y) => return y,
                Err(e) => self.fail(e),
            }
        }
        smallvec::smallvec![Val::POISON; count]
    }
}
