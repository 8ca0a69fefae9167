//! [`Completion`]: the end of work that may still run, with its error; and the slots of events.

use crate::call::{Call, as_handle, give, release};
use crate::counts::{self, Counted};
use crate::failure::{Answer, Failure};
use pjrt::{Pointer, args, code};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// A function that is called at the end of work.
type Listener = Box<dyn FnOnce(&Answer) + Send>;

/// The end of work.
pub(crate) struct Completion {
    outcome: OnceLock<Answer>,
    waiting: Mutex<Vec<Listener>>,
    changed: Condvar,
    /// The process that does the work.
    process: u32,
}

impl Completion {
    /// The end of work that is done.
    pub(crate) fn done() -> Arc<Completion> {
        static DONE: OnceLock<Arc<Completion>> = OnceLock::new();
        let made = || Completion::with(OnceLock::from(Ok(())));
        DONE.get_or_init(made).clone()
    }

    /// The end of work that failed.
    pub(crate) fn failed(failure: Failure) -> Arc<Completion> {
        Completion::with(OnceLock::from(Err(failure)))
    }

    /// The end of work that this process will do.
    pub(crate) fn pending() -> Arc<Completion> {
        Completion::with(OnceLock::new())
    }

    fn with(outcome: OnceLock<Answer>) -> Arc<Completion> {
        Arc::new(Completion {
            outcome,
            waiting: Mutex::default(),
            changed: Condvar::new(),
            process: std::process::id(),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcome, if the work has ended.
    pub(crate) fn outcome(&self) -> Option<&Answer> {
        self.outcome.get()
    }

    /// Ends the work. The first outcome counts.
    pub(crate) fn complete(&self, outcome: Answer) {
        let listeners = {
            let mut waiting = self.waiting();
            let _ = self.outcome.set(outcome);
            self.changed.notify_all();
            std::mem::take(&mut *waiting)
        };
        let outcome = self.outcome.get().expect("it was set");
        listeners.into_iter().for_each(|f| f(outcome));
    }

    /// The error of work that a fork separated from its process.
    fn separated(&self) -> Option<Failure> {
        let text = "the process was forked while its parent computed this array";
        (self.process != std::process::id()).then(|| Failure::new(code::ABORTED, text))
    }

    /// Calls `f` once, at the end of the work.
    pub(crate) fn then(&self, f: impl FnOnce(&Answer) + Send + 'static) {
        let mut waiting = self.waiting();
        if let Some(outcome) = self.outcome.get() {
            drop(waiting);
            return f(outcome);
        }
        if let Some(failure) = self.separated() {
            drop(waiting);
            return f(&Err(failure));
        }
        waiting.push(Box::new(f));
    }

    /// Waits for the end of the work.
    pub(crate) fn wait(&self) -> Answer {
        if let Some(outcome) = self.outcome.get() {
            return outcome.clone();
        }
        if let Some(failure) = self.separated() {
            return Err(failure);
        }
        let mut waiting = self.waiting();
        loop {
            match self.outcome.get() {
                Some(outcome) => return outcome.clone(),
                None => {
                    let woken = self.changed.wait(waiting);
                    waiting = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// The object of an event.
pub(crate) struct Event {
    completion: Arc<Completion>,
    _counted: Counted,
}

/// An event at the end of work.
pub(crate) fn event(completion: Arc<Completion>) -> Pointer {
    give(Event {
        completion,
        _counted: Counted::new(&counts::EVENTS),
    })
}

pub(crate) fn destroy(call: &mut Call<args::EventDestroy>) -> Answer {
    release::<Event>(call.event);
    Ok(())
}

pub(crate) fn is_ready(call: &mut Call<args::EventIsReady>) -> Answer {
    let event = call.handle::<Event>(call.event)?;
    call.is_ready = event.completion.outcome().is_some().into();
    Ok(())
}

pub(crate) fn error(call: &mut Call<args::EventError>) -> Answer {
    let event = call.handle::<Event>(call.event)?;
    match event.completion.outcome() {
        Some(outcome) => outcome.clone(),
        None => Err(Failure::new(
            code::FAILED_PRECONDITION,
            "the event is not ready",
        )),
    }
}

pub(crate) fn wait(call: &mut Call<args::EventAwait>) -> Answer {
    call.handle::<Event>(call.event)?.completion.wait()
}

/// The function and argument of a caller of `OnReady`.
struct ReadyCallback {
    callback: extern "C" fn(Pointer, Pointer),
    argument: Pointer,
}

// SAFETY: the interface lets the callback be called from any thread.
unsafe impl Send for ReadyCallback {}

impl ReadyCallback {
    fn call(self, outcome: &Answer) {
        (self.callback)(as_handle(outcome.clone()), self.argument);
    }
}

pub(crate) fn on_ready(call: &mut Call<args::EventOnReady>) -> Answer {
    let event = call.handle::<Event>(call.event)?;
    if call.callback.is_null() {
        return Err(Failure::argument("PJRT_Event_OnReady: a null callback"));
    }
    let ready = ReadyCallback {
        // SAFETY: the field is the address of a function of this type.
        callback: unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn(Pointer, Pointer)>(
                call.callback.0,
            )
        },
        argument: call.user_arg,
    };
    event.completion.then(move |outcome| ready.call(outcome));
    Ok(())
}
