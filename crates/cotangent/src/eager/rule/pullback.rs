//! Programs that pull the cotangents of one node back, one per set of linear values with
//! cotangents.

use crate::eager::error;
use cotangent_cpu::{Program, Tensor};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// A program from the cotangents of some linear values of a node to those of its inputs.
pub(in crate::eager) struct Pullback {
    /// `None`: no cotangent needs a computation.
    pub program: Option<Program>,
    /// Inputs and their cotangents, in the order of accumulation.
    pub to: SmallVec<[(u32, InputCotangent); 2]>,
}

/// A cotangent of an input.
pub(in crate::eager) enum InputCotangent {
    /// The next result of the program.
    Computed,
    /// One of the given cotangents, unchanged.
    Given(usize),
}

/// A linked list of the pullbacks of a derivative, by the linear values that have cotangents.
/// Entries are never removed.
#[derive(Default)]
pub(in crate::eager) struct Pullbacks(pub OnceLock<Box<PullbackEntry>>);

pub(in crate::eager) struct PullbackEntry {
    pub slots: SmallVec<[u32; 1]>,
    /// `None`: cotangents are pulled back by the emitter, operation by operation.
    pub pullback: Option<Pullback>,
    pub next: Pullbacks,
}

impl Pullback {
    /// Passes the index and the cotangent of each input to `give`.
    pub(crate) fn run<'t>(
        &self,
        saved: &'t [Tensor],
        cts: impl Iterator<Item = &'t Tensor>,
        give: &mut dyn FnMut(usize, Tensor) -> error::Result<()>,
    ) -> error::Result<()> {
        let mut x: SmallVec<[&Tensor; 6]> = SmallVec::new();
        saved.iter().for_each(|t| x.push(t));
        cts.for_each(|t| x.push(t));
        let (mut to, mut done) = (self.to.as_slice(), Ok(()));
        // Passes cotangents up to the next one that is computed.
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
