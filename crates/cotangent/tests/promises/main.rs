//! Promises to users about nested calls, caches, inputs and memory orders, as properties over lists
//! of calls.

mod backend;
mod backends;
mod caches;
mod eager_tensors;
mod inputs;
#[path = "../names/kinds.rs"]
mod kinds;
mod linearize;
mod opaque;
mod orders;
mod reentry;
#[path = "../names/rows.rs"]
mod rows;
#[path = "../../../core/tests/laws/spellings.rs"]
mod spellings;
mod tapes;
