//! Groups: nests that run together over one space, and the schedule of each group.
//!
//! Groups grow from readers: [`group`] visits nests from the last to the first, and a nest joins
//! the group that reads it if that has the nest's rows. `cost` decides which values a group
//! recomputes, `schedule` in which order its indices run for given extents. Groups have a text form
//! and a verifier. The plan that runs does not use them yet.

mod access;
mod build;
mod cost;
mod draft;
pub(crate) mod form;
mod order;
mod readers;
mod schedule;
mod text;
mod transfers;
mod verify;

#[cfg(test)]
mod tests;

pub(crate) use build::group;
pub(crate) use text::shown;
pub(crate) use verify::verify;
