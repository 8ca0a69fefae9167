//! Derivatives of derivatives at kinks, eagerly: on one side, as [`on_one_side`] has it for every
//! program.
//!
//! A value that holds means of both sides of a kink carries what it is on one side, where that is
//! another value: its twin. Operations on it compute both, and are recorded at the twins, so that a
//! pass over them differentiates the function on one side of all its kinks; what users see are
//! means. Most data meet no kink, so most values have no twin.

pub(super) mod apply;
pub(super) mod sides;
pub(super) mod weights;
