//! [`Turns`]: a value that foreign code works on, one call at a time.
//!
//! No lock is held while that code runs. A call that needs the value inside the code that has it,
//! on the same thread, would wait for itself: it is an error that names both calls. Other threads
//! wait.

use cotangent_core::{Code, Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::ThreadId;

pub(super) struct Turns<T> {
    state: Mutex<State<T>>,
    free: Condvar,
}

struct State<T> {
    /// `None` while a call has it.
    value: Option<T>,
    holder: Option<(ThreadId, &'static str)>,
}

/// Gives the value back, also when foreign code panics.
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
    pub fn new(value: T) -> Turns<T> {
        Turns {
            state: Mutex::new(State {
                value: Some(value),
                holder: None,
            }),
            free: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Lets `f` work on the value; `call` is the name of the public call that does so.
    pub fn with<R>(&self, call: &'static str, f: impl FnOnce(&mut T) -> R) -> Result<R> {
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
