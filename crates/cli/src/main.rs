//! The `cotangent` command line.
fn main() {}
