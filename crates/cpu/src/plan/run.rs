//! Runs of a plan: a state from the plan's list, a table of addresses, and the steps in order.

use super::arena::Arena;
use super::build::{CallStep, CodeStep, Home, PlaceView, PlanParts, PlanStep, StepKind};
use super::execute::GroupRun;
use super::laid::{Base, LaidGroup, LaidLeaf, LaidStep, LaidView, Resolved, writes_over};
use super::nested::Nested;
use super::resolve::Extent;
use crate::element::limit;
use crate::interrupt::watched;
use crate::kernel::{Operands, Results, elements};
use crate::tensor::{Fresh, Strides, Tensor};
use cotangent_core::{Env, Error, Function, Result, bail};
use cotangent_kernels::parallel::Shared;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of sets of extents for which a plan keeps its numbers.
const KEPT_EXTENTS: usize = 4;

/// Largest arena that stays with the plan between runs, in bytes. Larger ones come from the pool of
/// the process.
const MAX_KEPT_ARENA_BYTES: usize = cotangent_kernels::memory::MIN_POOLED_BYTES - 1;

/// A plan at some extents: one part for each segment that was reached.
struct KnownSegment {
    segment: usize,
    env: Env,
    arguments: Vec<Strides>,
    by_rows: bool,
    resolved: Arc<Resolved>,
}

/// An observer of the steps of a run.
pub(crate) trait RunObserver {
    /// A step begins.
    fn before(&mut self, step: usize);

    /// A step ended, with these extents.
    fn after(&mut self, step: usize, env: &Env, traffic: &mut dyn FnMut() -> StepTraffic);
}

/// No observer.
impl RunObserver for () {
    fn before(&mut self, _: usize) {}

    fn after(&mut self, _: usize, _: &Env, _: &mut dyn FnMut() -> StepTraffic) {}
}

/// The memory traffic of a step.
pub(crate) struct StepTraffic {
    /// Bytes of distinct elements of other steps that it read, and of those that it wrote for
    /// others.
    pub(crate) bytes: f64,
    /// How an operation with regions runs.
    pub(crate) how: Option<String>,
}

/// The memory of a run.
#[derive(Default)]
struct State {
    tensors: Vec<Option<Tensor>>,
    table: Vec<Shared<u8>>,
    arena: Arena,
}

/// Extents that are known, and states that no run uses.
#[derive(Default)]
pub(crate) struct Runs {
    known: Mutex<Vec<KnownSegment>>,
    states: Mutex<Vec<State>>,
}

/// A lock whose holder panicked has complete data: nothing is changed half.
fn locked<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// The numbers of a segment for these extents.
    pub(crate) fn resolved(
        &self,
        parts: &PlanParts,
        extent: &Extent<'_>,
        segment: usize,
    ) -> Result<Arc<Resolved>> {
        let same = |k: &KnownSegment| {
            k.segment == segment
                && k.env == *extent.env
                && k.arguments == extent.arguments
                && k.by_rows == extent.by_rows
        };
        if let Some(k) = locked(&self.known).iter().find(|k| same(k)) {
            return Ok(k.resolved.clone());
        }
        let resolved = Arc::new(extent.resolve(parts, segment)?);
        let mut known = locked(&self.known);
        known.insert(
            0,
            KnownSegment {
                segment,
                env: extent.env.clone(),
                arguments: extent.arguments.to_vec(),
                by_rows: extent.by_rows,
                resolved: resolved.clone(),
            },
        );
        known.truncate(KEPT_EXTENTS * parts.segments.len());
        Ok(resolved)
    }

    /// Runs a plan on arguments, whose extents are bound in `env`.
    pub(crate) fn run(
        &self,
        parts: &PlanParts,
        f: &Function,
        inputs: Operands,
        env: Cow<'_, Env>,
        observer: &mut impl RunObserver,
    ) -> Result<Results> {
        let mut state = locked(&self.states).pop().unwrap_or_default();
        let results = state.run(self, parts, f, inputs, env, observer);
        state.tensors.clear();
        state.table.clear();
        if state.arena.bytes() > MAX_KEPT_ARENA_BYTES {
            state.arena = Arena::default();
        }
        locked(&self.states).push(state);
        results
    }
}

impl State {
    fn run(
        &mut self,
        runs: &Runs,
        parts: &PlanParts,
        f: &Function,
        inputs: Operands,
        mut env: Cow<'_, Env>,
        observer: &mut impl RunObserver,
    ) -> Result<Results> {
        let arguments: Vec<Strides> = inputs.iter().map(|x| x.strides().into()).collect();
        self.tensors.resize(parts.places.len(), None);
        let null = || Shared(std::ptr::null_mut());
        self.table.resize_with(parts.places.len(), null);
        // Places of arguments are first, in order.
        for (place, x) in inputs.into_iter().enumerate() {
            self.set(place, x);
        }
        for (k, p) in parts.places.iter().enumerate() {
            if let Home::Constant(t) = &p.home {
                self.set(k, t.clone());
            }
        }
        let mut results = Results::new();
        for (segment, s) in parts.segments.iter().enumerate() {
            let extent = Extent {
                f,
                env: &env,
                arguments: &arguments,
                by_rows: true,
            };
            let resolved = runs.resolved(parts, &extent, segment)?;
            self.memory(parts, &resolved)?;
            for (k, laid) in s.steps.clone().zip(&resolved.steps) {
                let step = &parts.steps[k];
                observer.before(k);
                match (&step.kind, laid) {
                    (_, LaidStep::Skipped) => continue,
                    (StepKind::Code(c), LaidStep::Code(l)) => {
                        let at = |err: Error| err.at(f.eqns()[step.eqn as usize].loc);
                        watched(l.work(), || self.code(parts, &resolved, c, l)).map_err(at)?;
                    }
                    (StepKind::Call(c), LaidStep::Call { operands, results }) => {
                        let e = &f.eqns()[step.eqn as usize];
                        let x = self.operands(parts, k, c, operands);
                        let work = elements(&x);
                        let y =
                            watched(work, || (c.kernel)(&env, x)).map_err(|err| err.at(e.loc))?;
                        if c.binds {
                            bind(f, step.eqn as usize, &y, env.to_mut());
                        }
                        self.results(c, y, results).map_err(|err| err.at(e.loc))?;
                    }
                    _ => unreachable!("code is laid as code, a call as a call"),
                }
                observer.after(k, &env, &mut || {
                    self.traffic(parts, &resolved, (step, laid), &env)
                });
                for &p in &step.dead {
                    self.tensors[p as usize] = None;
                }
            }
            if let Some((_, err)) = &resolved.failed {
                return Err(err.clone());
            }
            let views = parts.results.iter().zip(&resolved.results);
            results.extend(views.map(|(v, laid)| self.view(v, laid, false)));
        }
        Ok(results)
    }

    /// The memory traffic of a step that ended.
    fn traffic(
        &self,
        parts: &PlanParts,
        resolved: &Resolved,
        (step, laid): (&PlanStep, &LaidStep),
        env: &Env,
    ) -> StepTraffic {
        let size = |p: u32| parts.places[p as usize].ty.dtype.size();
        // A tensor that the step computed, or known extents.
        let whole = |p: u32| match (&self.tensors[p as usize], &resolved.shapes[p as usize]) {
            (Some(x), _) => x.numel() * size(p),
            (None, Some(shape)) => shape.iter().product::<usize>() * size(p),
            (None, None) => 0,
        };
        let mut read: FxHashMap<u32, usize> = FxHashMap::default();
        let mut add = |p: u32, elements: usize| {
            let sum = read.entry(p).or_insert(0);
            *sum = sum.saturating_add(elements.saturating_mul(size(p)));
        };
        let distinct = |extents: &[usize], strides: &[isize]| -> usize {
            let moved = extents.iter().zip(strides).filter(|(_, s)| **s != 0);
            moved.map(|(n, _)| *n).fold(1, usize::saturating_mul)
        };
        let mut how = None;
        match (&step.kind, laid) {
            (StepKind::Code(_), LaidStep::Code(l)) => {
                let boxes = l.phases.iter().flat_map(|p| &p.boxes);
                for (b, leaf) in boxes.flat_map(|b| b.leaves.iter().map(move |l| (b, l))) {
                    match leaf {
                        LaidLeaf::Strided {
                            base: Base::Place(p),
                            strides,
                            ..
                        } => add(*p, distinct(&b.extents, strides)),
                        LaidLeaf::Strided { .. } => {}
                        LaidLeaf::Packed(r) => r.read.places(&mut |p| add(p, b.volume)),
                    }
                }
            }
            (StepKind::Call(c), LaidStep::Call { operands, .. }) => {
                for (v, laid) in c.operands.iter().zip(operands) {
                    match laid {
                        None => add(v.place, whole(v.place) / size(v.place).max(1)),
                        Some((_, shape, strides)) => add(v.place, distinct(shape, strides)),
                    }
                }
                let text = |n: &Arc<dyn Nested>| n.text(&c.forms(&resolved.shapes, operands), env);
                how = c.nested.as_ref().map(text);
            }
            _ => {}
        }
        // Values of the step count as written if later steps or the caller read them.
        let mut bytes = 0;
        step.writes(&mut |p| {
            read.remove(&p);
            if !step.dead.contains(&p) {
                bytes += whole(p);
            }
        });
        let read = read.iter().map(|(&p, &n)| n.min(whole(p)));
        StepTraffic {
            bytes: read.sum::<usize>().saturating_add(bytes) as f64,
            how,
        }
    }

    fn set(&mut self, place: usize, x: Tensor) {
        self.table[place] = Shared(x.first_ptr().cast_mut());
        self.tensors[place] = Some(x);
    }

    /// Provides the arena of a segment.
    fn memory(&mut self, parts: &PlanParts, resolved: &Resolved) -> Result<()> {
        if self.arena.bytes() < resolved.arena {
            self.arena = Arena::default();
            self.arena = Arena::new(resolved.arena)?;
        }
        for (k, p) in parts.places.iter().enumerate() {
            if matches!(p.home, Home::Arena | Home::Block) {
                self.table[k] = Shared(self.arena.ptr().wrapping_add(resolved.offsets[k]));
            }
        }
        Ok(())
    }

    /// A view of a tensor, which is moved out if `take`.
    fn view(&mut self, v: &PlaceView, laid: &LaidView, take: bool) -> Tensor {
        let own = &mut self.tensors[v.place as usize];
        let x = if take { own.take() } else { own.clone() };
        let x = x.expect("a value is read after it is written and before its last use");
        match laid {
            Some((offset, shape, strides)) => x.viewed(*offset, shape, strides),
            None => x,
        }
    }

    fn operands(
        &mut self,
        parts: &PlanParts,
        step: usize,
        c: &CallStep,
        laid: &[LaidView],
    ) -> Operands {
        let dead = &parts.steps[step].dead;
        let mut out = Operands::new();
        for (k, (v, l)) in c.operands.iter().zip(laid).enumerate() {
            let again = c.operands[k + 1..].iter().any(|w| w.place == v.place);
            out.push(self.view(v, l, !again && dead.contains(&v.place)));
        }
        out
    }

    /// Stores the results of a call.
    fn results(
        &mut self,
        c: &CallStep,
        y: Results,
        extents: &[SmallVec<[Option<usize>; 4]>],
    ) -> Result<()> {
        for ((y, place), extents) in y.into_iter().zip(&c.results).zip(extents) {
            let Some(place) = place else { continue };
            let fits = |(n, want): (&usize, &Option<usize>)| want.is_none_or(|want| want == *n);
            if y.shape().len() != extents.len() || !y.shape().iter().zip(extents).all(fits) {
                bail!(
                    ShapeMismatch,
                    "`{}` gave {} where its type rule promises extents {extents:?}",
                    c.name,
                    y.ty()
                );
            }
            self.set(*place as usize, y.into_packed()?);
        }
        Ok(())
    }

    /// Runs a step of code.
    fn code(
        &mut self,
        parts: &PlanParts,
        resolved: &Resolved,
        step: &CodeStep,
        laid: &LaidGroup,
    ) -> Result<()> {
        let mut fresh: SmallVec<[(u32, Memory); 1]> = SmallVec::new();
        for &p in &step.outputs {
            let place = &parts.places[p as usize];
            if matches!(place.home, Home::Arena) {
                continue;
            }
            let shape = resolved.shapes[p as usize].as_deref().unwrap_or(&[]);
            let memory = match self.over(step, laid) {
                Some(t) => Memory::Over(t),
                None => {
                    // Kernels of folds receive their results as slices.
                    let mut phases = step.phases.iter().filter(|s| s.places.contains(&p));
                    let fold = phases.any(|s| s.code.rank < s.code.space.len());
                    let new = if fold { Fresh::initialised } else { Fresh::new };
                    Memory::Fresh(new(place.ty.dtype, shape.iter().product())?)
                }
            };
            fresh.push((p, memory));
        }
        for (p, memory) in &mut fresh {
            self.table[*p as usize] = Shared(match memory {
                Memory::Over(t) => t.exclusive_ptr().expect("checked by `over`"),
                Memory::Fresh(f) => f.ptr(),
            });
        }
        let run = GroupRun {
            step,
            laid,
            table: &self.table,
            arena: Shared(self.arena.ptr()),
        };
        // SAFETY: the table has the address of each argument, of each tensor that a step wrote, of
        // the outputs, and of the values in the arena, at the offsets for these extents. Steps
        // before have written all that this one reads, and nothing that a later step reads shares
        // its memory: the verifier checks both. The one output that is written over an operand is
        // allowed by `writes_over`, and tensors that are written over are not shared.
        unsafe { run.run() }.map_err(limit)?;
        for (p, memory) in fresh {
            let shape = resolved.shapes[p as usize].clone().unwrap_or_default();
            let y = match memory {
                Memory::Over(t) => t,
                // SAFETY: the step has written all elements; there are none if it is empty.
                Memory::Fresh(f) => unsafe { f.into_tensor(&shape) },
            };
            self.set(p as usize, y);
        }
        Ok(())
    }

    /// The tensor that the one output of a step may be written over, if the run owns it. It stays
    /// in the table as an operand.
    fn over(&mut self, step: &CodeStep, laid: &LaidGroup) -> Option<Tensor> {
        for &o in &step.over {
            let mut x = self.tensors[o as usize].take()?;
            if writes_over(step, laid, o)
                && let Some(at) = x.exclusive_ptr()
            {
                self.table[o as usize] = Shared(at);
                return Some(x);
            }
            self.tensors[o as usize] = Some(x);
        }
        None
    }
}

/// Memory of an output.
enum Memory {
    Over(Tensor),
    Fresh(Fresh),
}

/// Binds the symbols that an equation defines.
fn bind(f: &Function, eqn: usize, y: &[Tensor], env: &mut Env) {
    let e = &f.eqns()[eqn];
    for (r, y) in e.results().zip(y) {
        for (d, &n) in f.ty(r).shape.iter().zip(y.shape()) {
            if let Some(s) = d.as_sym().filter(|s| e.op.binds().contains(s)) {
                env.insert(s.clone(), n);
            }
        }
    }
}
