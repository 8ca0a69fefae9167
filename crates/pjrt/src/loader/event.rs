//! [`Event`]: the completion of asynchronous work.

use super::client::ClientHandle;
use crate::args::{EventAwait, EventDestroy, EventIsReady, EventOnReady};
use crate::{Arguments, Pointer};
use cotangent_core::Result;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The completion of a run or a transfer.
pub struct Event {
    client: Arc<ClientHandle>,
    event: Pointer,
}

// SAFETY: the interface may be called from any thread, and the handle is owned.
unsafe impl Send for Event {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        let event = self.event;
        self.client.live.events.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the event is alive and owned.
        unsafe {
            self.client.plugin.release(EventDestroy {
                event,
                ..Default::default()
            });
        }
    }
}

/// The argument of a callback of [`Event::keep`]: the client, and the value that is kept.
struct Kept<T> {
    client: Arc<ClientHandle>,
    _kept: T,
}

impl Event {
    /// An event that the caller owns; `None` if the plugin gave none, because nothing is pending.
    ///
    /// # Safety
    /// `event` is null, or an event of this client that the caller owns.
    pub(crate) unsafe fn of(client: &Arc<ClientHandle>, event: Pointer) -> Option<Event> {
        if event.is_null() {
            return None;
        }
        client.live.events.fetch_add(1, Ordering::Relaxed);
        Some(Event {
            client: client.clone(),
            event,
        })
    }

    /// Whether the work is complete.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn is_ready(&self) -> Result<bool> {
        let event = self.event;
        // SAFETY: the event is alive.
        let done = unsafe {
            self.client.plugin.call(EventIsReady {
                event,
                ..Default::default()
            })?
        };
        Ok(done.is_ready != 0)
    }

    /// Waits until the work is complete.
    ///
    /// # Errors
    /// The error of the work.
    pub fn wait(&self) -> Result<()> {
        let event = self.event;
        // SAFETY: the event is alive.
        unsafe {
            self.client.plugin.call(EventAwait {
                event,
                ..Default::default()
            })?;
        }
        Ok(())
    }

    /// Keeps a value alive until the work is complete. It is dropped on any thread.
    ///
    /// # Errors
    /// The plugin's error; then the value is kept forever.
    pub(crate) fn keep<T: Send + 'static>(self, value: T) -> Result<()> {
        unsafe extern "C" fn drop_kept<T>(error: Pointer, kept: *mut c_void) {
            // SAFETY: the pointer is that of `keep`, which the plugin passes once.
            let kept = unsafe { Box::from_raw(kept.cast::<Kept<T>>()) };
            // SAFETY: the callback owns the error. A caller that reads the buffer receives it, too.
            let _ = unsafe { kept.client.plugin.result(error) };
        }
        if !self.client.plugin.has(&EventOnReady::SLOT) {
            let done = self.wait();
            drop(value);
            return done;
        }
        let kept = Box::new(Kept {
            client: self.client.clone(),
            _kept: value,
        });
        let callback: unsafe extern "C" fn(Pointer, *mut c_void) = drop_kept::<T>;
        // SAFETY: the event is alive, and the callback receives the box once, from any thread: what
        // it holds can be sent.
        unsafe {
            self.client.plugin.call(EventOnReady {
                event: self.event,
                callback: Pointer(callback as *mut c_void),
                user_arg: Pointer(Box::into_raw(kept).cast()),
                ..Default::default()
            })?;
        }
        Ok(())
    }
}
