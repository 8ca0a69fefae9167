//! What users were promised of calls inside calls, caches, inputs and orders: properties over lists
//! of calls.

mod caches;
mod inputs;
mod orders;
mod reentry;
