//! Higher derivatives of eager tensors at kinks: derivatives of first derivatives are taken on one
//! side, by the same rule as for programs
//! ([`on_one_side`](cotangent_core::transform::on_one_side)).
//!
//! A first derivative at a kink is the mean of both sides. A value computed from such means has a
//! twin if it differs on one side: its value there. Operations on it compute both values and are
//! recorded at the twins. A later pass therefore differentiates the function on one side of all its
//! kinks, and users see the means. Most values have no twin.

pub(super) mod apply;
pub(super) mod sides;
pub(super) mod weights;
