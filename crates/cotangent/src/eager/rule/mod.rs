//! Compiled rules: for an operation on operands of given types, a program that computes its results
//! and the residuals of its derivative, and programs that pull cotangents back.
//!
//! ```text
//! forward : x -> y, residuals        pullback : residuals, ct -> ct_x
//! ```
//! Both are emitted by the core's rules and compiled, once for an operation and the types of its
//! operands. They contain the operations that [`Exec`](super::exec::Exec) would run one by one, in
//! the same order, so the bits are the same.
//!
//! An operation is compiled when it occurs the second time. It must have a hashable key
//! ([`OpKey`](cotangent_core::OpKey)), and its rules must emit no data-dependent shapes. Every
//! thread caches its most recently used rules, so a hit takes no lock and changes no reference
//! count.

mod compile;
mod find;
pub(super) mod table;
mod transposed;

pub(super) use compile::compile_static;
