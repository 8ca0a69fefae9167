//! Cotangent's runtime as a PJRT plugin: the library `libcotangent_pjrt`, which JAX loads by its
//! one exported function, [`GetPjrtApi`].
//!
//! `call` is the boundary: it checks argument structs, and catches panics. `value` and `event` are
//! arrays and the ends of work, `buffer`, `executable` and `client` the objects of the interface,
//! `execute` and `queue` the runs. `slots` is the table of functions.

mod attributes;
mod buffer;
mod call;
mod client;
mod counts;
mod error;
mod event;
mod executable;
mod execute;
mod failure;
mod host_call;
mod layout;
mod options;
mod queue;
mod slots;
mod value;

use pjrt::Api;
use std::sync::OnceLock;

/// The table of functions of the interface, for its whole process.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Api {
    static API: OnceLock<slots::Table> = OnceLock::new();
    API.get_or_init(slots::table).address()
}

/// Numbers of live buffers, events, executables and arrays.
pub fn live() -> [i64; 4] {
    let all = [
        &counts::BUFFERS,
        &counts::EVENTS,
        &counts::EXECUTABLES,
        &counts::ARRAYS,
    ];
    all.map(counts::Count::now)
}
