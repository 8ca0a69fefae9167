//! Calls of slots: the one place that reads what a caller passes as addresses.
//!
//! A slot is a function of a [`Call`]. Only the table of functions makes one, from the argument
//! struct of a caller, who promises what the interface requires: each address is null, or that of
//! what its field names, valid during the call.

use crate::failure::{Answer, Failure};
use pjrt::{Arguments, Pointer};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The arguments of a call, copied from the caller. Fields that the caller does not know are zero.
pub(crate) struct Call<A> {
    args: A,
}

impl<A> Deref for Call<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.args
    }
}

impl<A> DerefMut for Call<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.args
    }
}

/// Calls a slot with the arguments of a caller. Returns null, or the handle of an error.
///
/// # Safety
/// `args` is null, or the address of an argument struct of `A`, as large as its first word states,
/// which nothing else accesses; its addresses are as the interface requires.
pub(crate) unsafe fn enter<A: Arguments>(
    args: *mut A,
    serve: fn(&mut Call<A>) -> Answer,
) -> Pointer {
    let slot = A::SLOT;
    if args.is_null() {
        let text = format!("{}: the arguments are null", slot.name);
        return as_handle(Err(Failure::argument(text)));
    }
    // SAFETY: the struct starts with its size (# Safety).
    let given = unsafe { args.cast::<usize>().read() };
    if given < slot.required {
        let text = format!(
            "{}: the arguments have {given} bytes, {} are required",
            slot.name, slot.required
        );
        return as_handle(Err(Failure::argument(text)));
    }
    let size = given.min(size_of::<A>());
    let mut call = Call { args: A::default() };
    let own = (&raw mut call.args).cast::<u8>();
    // SAFETY: both structs have `size` bytes, and any bytes are a value of plain data.
    unsafe { std::ptr::copy_nonoverlapping(args.cast::<u8>(), own, size) };
    let answer = catch_unwind(AssertUnwindSafe(|| serve(&mut call)))
        .unwrap_or_else(|payload| Err(Failure::panicked(&*payload)));
    let own = (&raw const call.args).cast::<u8>();
    // SAFETY: both structs have `size` bytes, and nothing else accesses that of the caller
    // (# Safety).
    unsafe { std::ptr::copy_nonoverlapping(own, args.cast::<u8>(), size) };
    as_handle(answer)
}

impl<A: Arguments> Call<A> {
    /// The object of a handle in the arguments.
    pub(crate) fn handle<'h, T>(&self, p: Pointer) -> Result<&'h T, Failure> {
        self.record(p)
    }

    /// A record at an address in the arguments.
    pub(crate) fn record<'h, T>(&self, p: Pointer) -> Result<&'h T, Failure> {
        // SAFETY: the address is null, or that of what its field names (the promise to `enter`).
        unsafe { p.0.cast::<T>().as_ref() }
            .ok_or_else(|| Failure::argument(format!("{}: a null handle", A::SLOT.name)))
    }

    /// A list at an address in the arguments.
    pub(crate) fn list<'h, T: Copy>(&self, p: Pointer, len: usize) -> Result<&'h [T], Failure> {
        if len == 0 {
            return Ok(&[]);
        }
        if p.is_null() {
            return Err(Failure::argument(format!("{}: a null list", A::SLOT.name)));
        }
        // SAFETY: the address is that of a list of this length (the promise to `enter`).
        Ok(unsafe { std::slice::from_raw_parts(p.0.cast::<T>(), len) })
    }

    /// A text at an address in the arguments.
    pub(crate) fn text<'h>(&self, p: Pointer, len: usize) -> Result<&'h str, Failure> {
        std::str::from_utf8(self.list(p, len)?)
            .map_err(|_| Failure::argument(format!("{}: a text that is not UTF-8", A::SLOT.name)))
    }

    /// Writes an element of a list of the caller.
    pub(crate) fn write<T: Copy>(&self, list: Pointer, at: usize, value: T) {
        // SAFETY: the list is one of results that the caller passes with room for this element.
        unsafe { list.0.cast::<T>().add(at).write(value) }
    }

    /// Copies bytes to memory of the caller.
    pub(crate) fn copy(&self, to: Pointer, bytes: &[u8]) {
        if !bytes.is_empty() {
            // SAFETY: the memory is one of results, with room for the bytes, and not ours.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.0.cast::<u8>(), bytes.len()) }
        }
    }
}

/// A value as a handle, which [`release`] frees.
pub(crate) fn give<T>(value: T) -> Pointer {
    Pointer(Box::into_raw(Box::new(value)).cast())
}

/// Frees the value of a handle of [`give`]. Null is no handle.
pub(crate) fn release<T>(p: Pointer) {
    if !p.is_null() {
        // SAFETY: callers pass a handle of this type that they own, once.
        drop(unsafe { Box::from_raw(p.0.cast::<T>()) });
    }
}

/// The handle of an error, or null.
pub(crate) fn as_handle(outcome: Answer) -> Pointer {
    outcome.map_or_else(give, |()| Pointer::default())
}
