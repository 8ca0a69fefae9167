//! Nests: a function as one computation over a space of indices for each value, before anything is
//! said about where and in which order they run.
//!
//! Operations that move elements make no nest: they are accesses of the nests that read them. A
//! nest is an expression for each index, a fold, given elements, or a call of a kernel with the
//! reason for which it is one. Nests have a text form ([`passes`](crate::passes::passes)) and a
//! verifier. Nests that run together are groups.

pub(crate) mod access;
pub(crate) mod affine;
mod intern;
pub(crate) mod lower;
pub(crate) mod nest;
pub(crate) mod quantity;
pub(crate) mod ranges;
mod saved;
mod shared;
mod sliding;
pub(crate) mod text;
pub(crate) mod verify;
pub(crate) mod views;

#[cfg(test)]
pub(crate) mod tests;
