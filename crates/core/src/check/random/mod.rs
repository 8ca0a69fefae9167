//! Random well-typed graphs, for property tests and fuzzing.
//!
//! A graph is extended by one operation at a time, together with its values at random arguments.
//! Operations whose results would be large or not finite are rejected, so most graphs stay where
//! their operations are smooth. Extents are small (0 and 1 included), and some are symbols. Some
//! operations are drawn together with their operands and regions. The others are samples of any
//! operation ([`entries`](crate::ops::entries)), with operands perturbed by other values.

mod grower;
mod loops;
mod steps;

pub use grower::Case;

use super::numbers::Rng;
use crate::error::Result;
use crate::shape::{Dim, Env, Sym};
use grower::Grower;

/// A random graph of about `steps` operations. The same seed gives the same graph.
///
/// # Errors
/// An error is a bug of an operation: a type rule that accepts extents in one place and rejects
/// them in another.
pub fn graph(seed: u64, steps: usize) -> Result<Case> {
    let mut g = started(seed)?;
    g.grow(steps);
    g.finish()
}

/// A random graph with loops whose carries are constant, equal, swapped, counters, or not used, and
/// that read and write rows at their counters. The same seed gives the same graph.
///
/// # Errors
/// As [`graph`].
pub fn loop_graph(seed: u64) -> Result<Case> {
    let mut g = started(seed)?;
    g.grow(3);
    let mut loops = 0;
    for _ in 0..8 {
        loops += usize::from(loops::carried(&mut g).is_some());
        if loops == 2 {
            break;
        }
    }
    g.grow(2);
    g.finish()
}

/// A graph of some parameters.
fn started(seed: u64) -> Result<Grower> {
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
    Ok(g)
}
