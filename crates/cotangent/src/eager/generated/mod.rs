//! Methods of [`EagerTensor`](super::EagerTensor) that traits and tables list.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

mod elementwise;
mod functions;
mod indexing;
mod keepdims;
mod old_names;
mod products;
mod reductions;
mod shapes;
