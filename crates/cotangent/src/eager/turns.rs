//! [`Turns`]: exclusive access to a value for user code, without a lock.
//!
//! No lock is held while user code runs. A nested call on the same thread that needs the value
//! would deadlock: it is an error that names both calls. Other threads wait.

use cotangent_core::{Code, Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::ThreadId;

pub(super) struct Turns<T> {
    state: Mutex<State<T>>,
    free: Condvar,
}

struct State<T> {
    /// `None` while a call uses it.
    value: Option<T>,
    holder: Option<(ThreadId, &'static str)>,
}

/// Puts the value back when dropped, also if user code panics.
struct Holding<'t, T> {
    turns: &'t Turns<T>,
    value: Option<T>,
}

impl<T> Drop for Holding<'_, T> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.value = self.value.take();
        state.holder = None;
        drop(state);
        self.turns.free.notify_one();
    }
}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Turns<T> {
        Turns {
            state: Mutex::new(State {
                value: Some(value),
                holder: None,
            }),
            free: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.state)
    }

    /// Whether a call uses the value.
    pub(super) fn is_held(&self) -> bool {
        self.state().holder.is_some()
    }

    /// Calls `f` with exclusive access to the value. `call` is the name of the public function, for
    /// errors.
    pub(super) fn with<R>(&self, call: &'static str, f: impl FnOnce(&mut T) -> R) -> Result<R> {
        let this = std::thread::current().id();
        let mut state = self.state();
        let value = loop {
            match (state.value.take(), state.holder) {
                (Some(value), _) => break value,
                (None, Some((thread, holder))) if thread == this => {
                    let text = format!(
                        "{holder} is running on this thread: {call} inside it would wait for ever"
                    );
                    return Err(Error::new(Code::Busy, text));
                }
                (None, _) => state = self.free.wait(state).unwrap_or_else(|e| e.into_inner()),
            }
        };
        state.holder = Some((this, call));
        drop(state);
        let mut held = Holding {
            turns: self,
            value: Some(value),
        };
        Ok(f(held.value.as_mut().expect("it was just put there")))
    }
}

pub(super) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
