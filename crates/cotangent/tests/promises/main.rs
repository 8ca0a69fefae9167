//! Promises to users about nested calls, caches, inputs and memory orders, as properties over lists
//! of calls.

mod caches;
mod eager_tensors;
mod inputs;
mod linearize;
mod opaque;
mod orders;
mod reentry;
mod tapes;
