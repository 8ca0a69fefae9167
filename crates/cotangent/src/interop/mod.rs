//! Conversions between [`Tensor`](crate::Tensor) and types of other crates, one Cargo feature per
//! crate; all are off by default.

#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "serde")]
mod serde;
