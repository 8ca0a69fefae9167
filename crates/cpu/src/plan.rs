//! Plans: a function as steps over memory that is laid out before they run.
//!
//! [`groups`](crate::groups) say what is computed together. `build` makes a step of each group: its
//! phases (`stage`), each the `code` of expressions that `compose` puts together, or a call of a
//! kernel on tensors. `resolve` computes, for the extents of a run, what depends on them: the
//! `reads` in numbers, the `axes` of loops and `boxes` in which reads are strided, the number of
//! rows that all phases of a step run on together, and offsets in the `arena`. `run` executes the
//! steps (`execute`, and `folded` for folds); reads that no box decides are packed tile by tile
//! (`pack`), line by line of the loop (`lines`). Extents that data decides end a segment, which is
//! resolved when they are known.
//!
//! Calls run kernels on tensors. Operations with regions run in place (`control`) if their bodies
//! can; a plan knows them as `nested`.

mod arena;
mod axes;
mod blocks;
mod boxes;
mod build;
mod code;
mod compose;
pub(crate) mod control;
mod execute;
mod factors;
mod fastest;
mod folded;
mod gather;
mod halo;
mod laid;
mod levels;
mod lines;
mod memory;
pub(crate) mod nested;
mod pack;
mod ranges;
mod reads;
mod resolve;
mod rows;
mod run;
mod stage;
mod step_info;
mod terms;
mod text;
#[cfg(any(test, debug_assertions))]
mod verify;

#[cfg(test)]
mod tests;

pub(crate) use build::Kernels;
pub use memory::Memory;
pub(crate) use run::{RunObserver, StepTraffic};
pub use step_info::StepInfo;

use crate::kernel::{Operands, Results};
use crate::tensor::{Strides, row_major};
use build::{PlanParts, StepKind, build};
use compose::Planned;
use cotangent_core::{Env, Function, Result};
use laid::{LaidStep, Resolved};
use resolve::Extent;
use run::Runs;
use std::borrow::Cow;
use std::sync::Arc;

/// A function as steps.
pub(crate) struct Plan {
    function: Arc<Function>,
    parts: PlanParts,
    runs: Runs,
}

impl Plan {
    /// The plan of a function, or the reason for which it has none.
    pub(crate) fn new(f: &Arc<Function>, kernels: &Kernels<'_>) -> Result<Planned<Plan>> {
        Ok(build(f, kernels)?.map(|parts| Plan {
            function: f.clone(),
            parts,
            runs: Runs::default(),
        }))
    }

    /// Runs the plan on arguments of the function's types, whose extents are bound in `env`.
    pub(crate) fn run(&self, inputs: Operands, env: Cow<'_, Env>) -> Result<Results> {
        self.run_observed(inputs, env, &mut ())
    }

    /// The numbers of the first segment for arguments of these layouts.
    fn resolved(&self, env: &Env, arguments: &[Strides]) -> Result<Arc<Resolved>> {
        let extent = Extent {
            f: &self.function,
            env,
            arguments,
            by_rows: true,
        };
        self.runs.resolved(&self.parts, &extent, 0)
    }

    /// As [`Plan::run`]; `observer` sees each step.
    pub(crate) fn run_observed(
        &self,
        inputs: Operands,
        mut env: Cow<'_, Env>,
        observer: &mut impl RunObserver,
    ) -> Result<Results> {
        // Symbols that its equations bind may have the names of symbols around a region.
        for s in self.function.bound_syms() {
            if env.contains_key(s) {
                env.to_mut().remove(s);
            }
        }
        self.runs
            .run(&self.parts, &self.function, inputs, env, observer)
    }

    /// Live equations that run without a call of a kernel, and all live equations.
    pub(crate) fn share(&self) -> [usize; 2] {
        let PlanParts {
            equations, called, ..
        } = self.parts;
        [equations - called, equations]
    }

    /// Operations with regions that run in place for these arguments, and all of them, up to the
    /// first extent that data decides.
    pub(crate) fn in_place(&self, arguments: &[Strides], env: &Env) -> Result<[usize; 2]> {
        let (parts, mut count) = (&self.parts, [0, 0]);
        let resolved = self.resolved(env, arguments)?;
        for (step, laid) in parts.steps.iter().zip(&resolved.steps) {
            if let (StepKind::Call(c), LaidStep::Call { operands, .. }) = (&step.kind, laid)
                && let Some(nested) = c.nested.as_ref().filter(|n| !n.stacks())
            {
                let run = nested.at(&c.forms(&resolved.shapes, operands), env);
                count = [count[0] + usize::from(run.is_some()), count[1] + 1];
            }
        }
        Ok(count)
    }

    /// The plan as text, for these extents of symbols and row-major arguments.
    pub(crate) fn text(&self, env: &Env) -> Result<String> {
        let mut resolved = Vec::new();
        let shapes = self.function.params().iter();
        let shapes = shapes.map(|&p| self.function.ty(p).shape.eval(env));
        if let Ok(shapes) = shapes.collect::<Result<Vec<_>>>() {
            let arguments: Vec<Strides> = shapes.iter().map(|s| row_major(s)).collect();
            // Later segments need extents that data decides.
            resolved.push(self.resolved(env, &arguments)?);
        }
        let known: Vec<_> = (0..self.parts.segments.len())
            .map(|k| resolved.get(k).map(|r| &**r))
            .collect();
        Ok(text::text(&self.function, &self.parts, &known, env))
    }
}
