//! Facts about functions that transforms and rewrites use.

mod cancelling;
mod dead_code;
mod linearity;

pub(crate) use cancelling::cancelling;
pub use dead_code::dce;
pub(crate) use dead_code::{dce_keeping, without_dead};
pub(crate) use linearity::trace_linear;
