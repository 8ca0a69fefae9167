//! [`Rule`]: an operation made ready for operands of given types: a program that computes it and what its derivative
//! refers to, and programs that pull cotangents back.
//!
//! ```text
//! forward : x -> y, residuals        pullback : residuals, ct -> ct_x
//! ```
//! Both are written by the core's rules, once for an operation and the types of its operands, and
//! compiled. They are the operations that [`Exec`](super::exec::Exec) would run one by one, in the
//! same order, so the bits are the same.
//!
//! An operation is made ready when it is seen the second time; only those that compare as they are
//! ([`Plain`](cotangent_core::ops::Plain)), and whose rules write nothing that is decided while
//! running. Every thread has the rules at hand that it used last, so it neither locks nor counts
//! references to find one again.

mod compile;
pub(super) mod pullback;
pub(super) mod table;

pub(super) use compile::compile_static;
