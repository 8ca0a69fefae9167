//! Source locations of the user's calls.

use cotangent_core::Loc;
use std::panic::Location;

/// The source location of the caller of a method that is marked `#[track_caller]`.
#[track_caller]
pub(crate) fn here() -> Loc {
    Loc::Rust(Location::caller())
}
