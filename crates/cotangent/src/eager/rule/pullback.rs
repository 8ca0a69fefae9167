//! Programs that pull cotangents of one node back, by the linear values that have cotangents.

use crate::eager::error;
use cotangent_cpu::{Program, Tensor};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// Pulls cotangents of some linear values back to the inputs of a node.
pub(in crate::eager) struct Pullback {
    /// What is to be computed, if anything is.
    pub program: Option<Program>,
    /// Inputs with the cotangents that belong to them, in the order in which they are to be added.
    pub to: SmallVec<[(u32, InputCotangent); 2]>,
}

/// A cotangent of an input.
pub(in crate::eager) enum InputCotangent {
    /// The next result of the program.
    Computed,
    /// One that was given, as it is.
    Given(usize),
}

/// Pullbacks of a derivative by the linear values that have cotangents: a list that only grows.
#[derive(Default)]
pub(in crate::eager) struct Pullbacks(pub OnceLock<Box<PullbackEntry>>);

pub(in crate::eager) struct PullbackEntry {
    pub slots: SmallVec<[u32; 1]>,
    /// `None`: step by step.
    pub pullback: Option<Pullback>,
    pub next: Pullbacks,
}

impl Pullback {
    /// Gives cotangents with the inputs they belong to.
    pub fn run<'t>(
        &self,
        saved: &'t [Tensor],
        cts: impl Iterator<Item = &'t Tensor>,
        give: &mut dyn FnMut(usize, Tensor) -> error::Result<()>,
    ) -> error::Result<()> {
        let mut x: SmallVec<[&Tensor; 6]> = SmallVec::new();
        saved.iter().for_each(|t| x.push(t));
        cts.for_each(|t| x.push(t));
        let (mut to, mut done) = (self.to.as_slice(), Ok(()));
        // Up to the next one that is computed.
        let mut pass = |mut computed: Option<Tensor>| {
            while let ([(k, back), rest @ ..], Ok(())) = (to, &done) {
                let ct = match back {
                    InputCotangent::Given(i) => x[saved.len() + i].clone(),
                    InputCotangent::Computed => match computed.take() {
                        Some(ct) => ct,
                        None => return,
                    },
                };
                done = give(*k as usize, ct);
                to = rest;
            }
        };
        if let Some(program) = &self.program {
            program.run_each(x.iter().copied(), |ct| pass(Some(ct)))?;
        }
        pass(None);
        done
    }
}
