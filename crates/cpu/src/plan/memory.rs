//! The memory of a run of a plan: its arena, tensors from the step that computes them to the last
//! step that reads them, and what operations with regions take while they run.

use super::Plan;
use super::arena::bytes;
use super::build::{CallStep, CodeStep, Home, StepKind};
use super::laid::{LaidGroup, LaidStep, Resolved, writes_over};
use crate::tensor::Strides;
use cotangent_core::{Dim, Env, Op, Result, bail};
use cotangent_kernels::memory::capacity;
use rustc_hash::FxHashMap;

/// Memory requirements of a run. Buffers of 2 MiB and more are counted in whole huge pages, as they
/// are allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Maximum number of bytes that are live at any step, results included and arguments excluded.
    pub peak: usize,
    /// Index in [`steps`](crate::profile::steps) of the step with the peak; `None` if there are no
    /// steps.
    pub step: Option<usize>,
    /// Bytes of results that are not arguments or views of them.
    pub results: usize,
    /// Bytes that are live while each step runs, in execution order.
    pub live: Vec<usize>,
}

/// Tensors that are alive.
struct LiveTensors<'a> {
    plan: &'a Plan,
    resolved: &'a Resolved,
    /// Bytes of each place that the run owns.
    places: FxHashMap<u32, usize>,
    /// Sum of these.
    bytes: usize,
}

impl Plan {
    /// The memory of a run for these extents of symbols and layouts of arguments.
    pub(crate) fn memory(&self, env: &Env, arguments: &[Strides]) -> Result<Memory> {
        let (f, parts) = (&self.function, &self.parts);
        if parts.segments.len() > 1 {
            for s in f.bound_syms() {
                // `env` may have symbols of these names around a region.
                Dim::from(&**s).eval(&Env::default())?;
            }
        }
        let resolved = self.resolved(env, arguments)?;
        if let Some((_, err)) = &resolved.failed {
            return Err(err.clone());
        }
        let arena = capacity(resolved.arena);
        let mut live = LiveTensors {
            plan: self,
            resolved: &resolved,
            places: FxHashMap::default(),
            bytes: 0,
        };
        let mut memory = Memory {
            peak: 0,
            step: None,
            results: 0,
            live: Vec::with_capacity(parts.steps.len()),
        };
        for (k, (step, laid)) in parts.steps.iter().zip(&resolved.steps).enumerate() {
            let inside = match (&step.kind, laid) {
                (StepKind::Code(c), LaidStep::Code(l)) => {
                    live.code(c, l);
                    0
                }
                (StepKind::Call(c), LaidStep::Call { operands, .. }) => {
                    live.call(k, c);
                    match &c.nested {
                        Some(n) => n.memory(&c.forms(&resolved.shapes, operands), env)?,
                        None => 0,
                    }
                }
                _ => bail!(Invalid, "a step that is not laid as what it is"),
            };
            let bytes = arena.saturating_add(live.bytes).saturating_add(inside);
            memory.live.push(bytes);
            if bytes > memory.peak || memory.step.is_none() {
                (memory.peak, memory.step) = (bytes, Some(k));
            }
            step.dead.iter().for_each(|&p| live.free(p));
        }
        memory.results = live.bytes;
        Ok(memory)
    }
}

impl LiveTensors<'_> {
    fn allocate(&mut self, place: u32, n: usize) {
        self.bytes = self.bytes.saturating_add(n);
        self.places.insert(place, n);
    }

    fn free(&mut self, place: u32) {
        self.bytes -= self.places.remove(&place).unwrap_or(0);
    }

    fn size(&self, place: u32) -> usize {
        capacity(bytes(&self.plan.parts, &self.resolved.shapes, place))
    }

    /// Adds the outputs of a step of code that are tensors.
    fn code(&mut self, c: &CodeStep, laid: &LaidGroup) {
        for &p in &c.outputs {
            if !matches!(self.plan.parts.places[p as usize].home, Home::Tensor) {
                continue;
            }
            let over = c.over_of(p).iter().copied();
            let over = over.filter(|o| self.places.contains_key(o) && writes_over(c, laid, *o));
            if let Some(o) = { over }.next() {
                self.free(o);
            }
            self.allocate(p, self.size(p));
        }
    }

    /// Adds the results of a call. An update writes over the array that it changes, if the run owns
    /// it and reads it for the last time.
    fn call(&mut self, k: usize, c: &CallStep) {
        let step = &self.plan.parts.steps[k];
        let op = &self.plan.function.eqns()[step.eqn as usize].op;
        for &p in c.results.iter().flatten() {
            let n = self.size(p);
            if let Op::DynamicUpdateSlice(_) | Op::Scatter(_) | Op::ScatterRecurrence(_) = op
                && let Some(x) = c.operands.first()
                && x.read.is_none()
                && step.dead.contains(&x.place)
                && self.places.get(&x.place) == Some(&n)
            {
                self.free(x.place);
            }
            self.allocate(p, n);
        }
    }
}
