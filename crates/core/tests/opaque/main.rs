//! Opaque types: what a declaration must have, which operations take them, their text form, and
//! derivatives of values of any kind.

mod declared;
mod derivatives;
mod language;
mod refused;
mod regions;
