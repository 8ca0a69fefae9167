//! Random well-typed graphs, for property tests and fuzzing.
//!
//! A graph is grown one operation at a time beside the values that it computes at random arguments;
//! an operation whose result would be huge or not finite is not taken, so most graphs stay where
//! their operations are smooth. Extents are small, 0 and 1 among them, and some are symbols. Some
//! operations are drawn with what they work on, bodies of control flow included; the others are
//! samples of any operation ([`entries`](crate::ops::entries)), with operands moved a little by
//! other values.

mod grower;
mod steps;

pub use grower::Case;

use super::numbers::Rng;
use crate::error::Result;
use crate::shape::{Dim, Env, Sym};
use grower::Grower;

/// Grows a graph of about this many operations. The same seed gives the same graph.
///
/// The error is a bug of an operation: a type rule that accepts extents in one place and refuses
/// them in another.
pub fn graph(seed: u64, steps: usize) -> Result<Case> {
    let mut g = Grower::new(
        &format!("random{seed}"),
        Rng::new(seed),
        Env::default(),
        Vec::new(),
    );
    for k in 0..4 {
        let n = [2, 3, 2, 3, 4, 1, 1, 0][g.rng.below(8)];
        if g.rng.chance(0.3) {
            let name: Sym = format!("n{k}").into();
            g.env.insert(name.clone(), n);
            g.dims.push(Dim::sym(&name));
        } else {
            g.dims.push(n.into());
        }
    }
    for _ in 0..1 + g.rng.below(3) {
        g.param()?;
    }
    g.grow(steps);
    g.finish()
}
