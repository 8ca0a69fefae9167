//! Traces of Python functions: their scopes, which end; and what compiled functions capture.
//!
//! A value of a trace belongs to its scope, and is an error after the scope ended. While a compiled
//! function is traced, every array and parameter from outside becomes a placeholder: a hidden
//! argument of the program.

use crate::array::Array;
use crate::error::raise;
use cotangent::{TracedTensor, Type};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A call of a function on placeholders.
pub(crate) struct Scope {
    /// Scopes are numbered in order of their beginning.
    number: u64,
    alive: AtomicBool,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Scope {
    /// An error if the function has returned.
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.alive.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(raise(
            "ForeignValue",
            "a traced value outlived its trace: the function that made it has returned. Return the value from the \
             function instead of storing it",
        ))
    }
}

/// The scope that began last.
pub(crate) fn innermost<'a>(scopes: impl Iterator<Item = &'a Arc<Scope>>) -> Option<Arc<Scope>> {
    scopes.max_by_key(|s| s.number).cloned()
}

/// An array from outside that a compiled function reads.
pub(crate) struct Captured {
    pub array: Py<Array>,
    pub placeholder: TracedTensor,
}

struct Frame {
    scope: Arc<Scope>,
    /// Arrays that a compiled function has captured; `None` in other transforms.
    captured: Option<Vec<Captured>>,
}

thread_local! {
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// Limit of functions that are being traced inside each other: each takes some of the stack.
const MAX_TRACES: usize = 100;

/// An open scope of this thread.
pub(crate) struct Open {
    scope: Arc<Scope>,
    depth: usize,
}

impl Open {
    /// Begins a scope. `compiled`: arrays from outside become placeholders.
    pub(crate) fn new(compiled: bool) -> PyResult<Open> {
        if STACK.with_borrow(|s| s.len() >= MAX_TRACES) {
            return Err(raise(
                "Limit",
                format!(
                    "more than {MAX_TRACES} functions are traced inside each other: a transformed function calls itself \
                     without an end, or loops should take the place of recursion"
                ),
            ));
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let scope = Arc::new(Scope {
            number,
            alive: AtomicBool::new(true),
        });
        let depth = STACK.with_borrow_mut(|s| {
            s.push(Frame {
                scope: scope.clone(),
                captured: compiled.then(Vec::new),
            });
            s.len()
        });
        Ok(Open { scope, depth })
    }

    pub(crate) fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// Ends the scope: what the function captured.
    pub(crate) fn captured(self) -> Vec<Captured> {
        STACK.with_borrow_mut(|s| s[self.depth - 1].captured.take().unwrap_or_default())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.scope.alive.store(false, Ordering::Relaxed);
        let frames = STACK.with_borrow_mut(|s| s.split_off(self.depth - 1));
        drop(frames);
    }
}

/// Whether a function is being traced on this thread.
pub(crate) fn tracing() -> bool {
    STACK.with_borrow(|s| !s.is_empty())
}

/// Whether a compiled function is being traced on this thread: it captures arrays from outside.
pub(crate) fn captures() -> bool {
    STACK.with_borrow(|s| s.iter().any(|f| f.captured.is_some()))
}

/// The innermost scope of this thread.
pub(crate) fn current() -> Option<Arc<Scope>> {
    STACK.with_borrow(|s| s.last().map(|f| f.scope.clone()))
}

/// The placeholder of an array in the innermost compiled function that is being traced, if one is.
pub(crate) fn capture(array: &Bound<'_, Array>, ty: impl FnOnce() -> Type) -> Option<TracedTensor> {
    STACK.with_borrow_mut(|s| {
        let captured = s.iter_mut().rev().find_map(|f| f.captured.as_mut())?;
        if let Some(c) = captured.iter().find(|c| c.array.is(array)) {
            return Some(c.placeholder.clone());
        }
        let ty = ty();
        let placeholder = TracedTensor::input(ty.dtype, ty.shape);
        captured.push(Captured {
            array: array.clone().unbind(),
            placeholder: placeholder.clone(),
        });
        Some(placeholder)
    })
}

thread_local! {
    static LAZY: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Whether results are computed when they are read, as in graph modules.
pub(crate) fn is_lazy() -> bool {
    LAZY.get() > 0
}

/// Enters or leaves a graph module: inside, results of transforms are computed when they are read.
#[pyfunction]
pub(crate) fn lazily(enter: bool) {
    LAZY.set(match enter {
        true => LAZY.get() + 1,
        false => LAZY.get().saturating_sub(1),
    });
}
