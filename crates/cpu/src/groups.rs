//! Groups: nests that run together over one space, and the schedule of each group.
//!
//! Groups grow from readers: [`group`] visits nests from the last to the first, and a nest joins
//! the group that reads it if that has the nest's rows. `cost` decides which values a group
//! recomputes, `schedule` in which order its indices run for given extents. Groups have a text form
//! and a verifier. A plan has a step for each.

pub(crate) mod access;
mod build;
pub(crate) mod cost;
mod draft;
pub(crate) mod form;
mod order;
mod readers;
pub(crate) mod schedule;
mod text;
mod transfers;
mod verify;

#[cfg(test)]
mod tests;

pub(crate) use build::group;
pub(crate) use text::shown;
pub(crate) use verify::verify;
