//! A plan from groups: steps in order, and the place of each value.
//!
//! Each group is a step of one or several phases ([`stage`](super::stage)). Values that a call
//! reads or computes, and those that leave the run or a segment, are tensors of their own; values
//! that only their own step reads are in memory of the step; all others are in the arena.

use super::code::{Code, ElementSlot};
use super::compose::{Composition, LeafSource, Planned};
use super::nested::Nested;
use super::stage::{Staged, StagedPhase, staged};
use crate::checks::first_read;
use crate::contract::RawContraction;
use crate::groups::{self, form::NestGroup};
use crate::kernel::{Kernel, UsedResults};
use crate::nests::access::{self, Read, Source, are_own};
use crate::nests::lower::{Role, lower_with};
use crate::nests::nest::{AxisKind, Call, Expr, Nest, Nests, SpaceAxis, What, Why};
use crate::raw_kernel::RawChoice;
use crate::tensor::Tensor;
use cotangent_core::graph::{Def, Eqn};
use cotangent_core::primitive::OpClass;
use cotangent_core::{DType, Dim, Env, Function, Op, Result, Scalar, Type, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Compiles an operation for operands of these types.
type LowerFn<'a> = dyn Fn(&Op, &[Type], UsedResults) -> Result<Kernel> + 'a;

/// The regions of an operation that may run in place.
type NestedFn<'a> = dyn Fn(&Op) -> Result<Option<Arc<dyn Nested>>> + 'a;

/// The contraction that an operation on operands of these types is.
type ProductFn<'a> = dyn Fn(&Op, &[Type]) -> Option<RawContraction> + 'a;

/// The executor's part in a plan.
pub(crate) struct Kernels<'a> {
    /// The part of the function.
    pub(crate) role: Role,
    /// The kernel of an operation for operands of these types.
    pub(crate) lower: &'a LowerFn<'a>,
    /// An operation with regions in place.
    pub(crate) nested: &'a NestedFn<'a>,
    /// An operation as a matrix product on memory.
    pub(crate) product: &'a ProductFn<'a>,
    /// The choice of a kernel on memory.
    pub(crate) raw: RawChoice,
    /// Whether an extension operation has a kernel of its own.
    pub(crate) extension: &'a dyn Fn(&Op) -> bool,
}

/// Where a value is.
pub(crate) enum Home {
    /// An argument, in the layout that it has.
    Argument,
    /// Given elements.
    Constant(Tensor),
    /// A tensor of its own, row-major.
    Tensor,
    /// The arena, row-major.
    Arena,
    /// Memory of the step that computes it: of a block of rows for each thread, or of all rows in
    /// the arena. Row-major.
    Block,
}

/// A value that is stored.
pub(crate) struct StoredPlace {
    pub(crate) value: Val,
    pub(crate) ty: Type,
    pub(crate) home: Home,
    /// The step that writes it.
    pub(crate) def: Option<u32>,
    /// The last step that reads it, or that writes it if none does. The number of steps for results
    /// of the function.
    pub(crate) last: u32,
}

/// An operand of a call, or a result of the function: a place at strided indices.
pub(crate) struct PlaceView {
    pub(crate) place: u32,
    /// `None`: the value itself.
    pub(crate) read: Option<Read>,
    pub(crate) ty: Type,
}

/// A kernel that computes tensors from tensors.
pub(crate) struct CallStep {
    pub(crate) kernel: Kernel,
    /// The operation in place, if it has regions.
    pub(crate) nested: Option<Arc<dyn Nested>>,
    /// The operation on memory, if it is a matrix product.
    pub(crate) product: Option<RawContraction>,
    /// The choice of a kernel on memory.
    pub(crate) raw: RawChoice,
    /// The results that are read.
    pub(crate) used: UsedResults,
    pub(crate) name: String,
    pub(crate) why: Why,
    pub(crate) operands: Vec<PlaceView>,
    /// The places of results that are read.
    pub(crate) results: Vec<Option<u32>>,
    /// Whether the equation binds symbols.
    pub(crate) binds: bool,
}

pub(crate) enum StepKind {
    Code(CodeStep),
    Call(CallStep),
}

/// A phase, and the place of each member of its code.
pub(crate) struct PlacedPhase {
    pub(crate) code: Box<Code>,
    pub(crate) places: Vec<u32>,
    /// Places that neither a later phase nor a later step reads or writes.
    pub(crate) dead: Vec<u32>,
}

/// The phases of a group.
pub(crate) struct CodeStep {
    /// Each after those whose values it reads.
    pub(crate) phases: Vec<PlacedPhase>,
    /// Number of first axes of every phase that are rows, if all phases run on a block of rows
    /// before the next block.
    pub(crate) rows: Option<usize>,
    /// Places that later steps or results read.
    pub(crate) outputs: Vec<u32>,
    /// Places that only this step reads.
    pub(crate) blocks: Range<u32>,
    /// Places that the one output may be written over, if they are in memory of the same kind.
    pub(crate) over: Vec<u32>,
}

pub(crate) struct PlanStep {
    /// The equation of a call, the last equation of a group.
    pub(crate) eqn: u32,
    /// The equations that the step computes, in order; none for a copy that a call reads.
    pub(crate) eqns: Vec<u32>,
    pub(crate) kind: StepKind,
    /// Places that no later step reads.
    pub(crate) dead: Vec<u32>,
}

/// A check of the type rule of an equation, at the extents of a run.
pub(crate) struct Segment {
    pub(crate) steps: Range<usize>,
    pub(crate) eqns: Range<u32>,
}

/// The parts of a plan.
pub(crate) struct PlanParts {
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) places: Vec<StoredPlace>,
    pub(crate) place_of: FxHashMap<Val, u32>,
    pub(crate) results: Vec<PlaceView>,
    pub(crate) segments: Vec<Segment>,
    /// Live equations, and those of them that are a [`CallStep`].
    pub(crate) equations: usize,
    pub(crate) called: usize,
    /// Equations that results depend on.
    pub(crate) live: Vec<bool>,
}

struct Builder<'a> {
    f: &'a Arc<Function>,
    kernels: &'a Kernels<'a>,
    nests: &'a Nests<'a>,
    /// Types of values that are copies and numbers for calls: they are numbered after those of the
    /// function.
    copies: Vec<Type>,
    steps: Vec<PlanStep>,
    places: Vec<StoredPlace>,
    place_of: FxHashMap<Val, u32>,
    /// Values that nests or results read.
    read: Vec<bool>,
    /// Values that are nests, results of calls among them. Others are part of what reads them.
    nest_values: Vec<bool>,
    /// The last step for which [`Builder::computed`] visited each equation.
    visited: Vec<u32>,
}

/// The parts of the plan of a function, or the reason for which it has none.
pub(crate) fn build(f: &Arc<Function>, kernels: &Kernels<'_>) -> Result<Planned<PlanParts>> {
    let nests = lower_with(f, kernels.role, kernels.extension);
    let groups = groups::group(&nests);
    // A bound that the verifier of nests cannot prove refuses no program: offsets are compared with
    // the extents of values when the plan is laid out.
    #[cfg(test)]
    crate::nests::verify::verify(&nests)?;
    #[cfg(any(test, debug_assertions))]
    groups::verify(&nests, &groups)?;
    let need = f.needed(None);
    let live: Vec<bool> = f
        .eqns()
        .iter()
        .map(|e| e.results().any(|r| need[r.index()]))
        .collect();
    let mut b = Builder {
        f,
        kernels,
        nests: &nests,
        copies: Vec::new(),
        steps: Vec::new(),
        places: Vec::new(),
        place_of: FxHashMap::default(),
        read: all_reads(&nests),
        nest_values: all_nests(&nests),
        visited: vec![u32::MAX; f.eqns().len()],
    };
    for &p in f.params() {
        b.place(p, Home::Argument, None);
    }
    let mut segments = Vec::new();
    let (mut from, mut first) = (0, 0);
    for g in &groups {
        if let Err(why) = b.group(g, &|e: &Eqn| e.results().any(|r| need[r.index()]))? {
            return Ok(Err(why));
        }
        let eqn = nests.nests[g.members[0].nest as usize].eqn;
        if f.eqns()[eqn as usize].op.binds().is_empty() {
            continue;
        }
        segments.push(Segment {
            steps: from..b.steps.len(),
            eqns: first..eqn + 1,
        });
        (from, first) = (b.steps.len(), eqn + 1);
    }
    segments.push(Segment {
        steps: from..b.steps.len(),
        eqns: first..f.eqns().len() as u32,
    });
    let results = nests.results.iter().zip(f.results());
    let results = results.map(|(r, &v)| b.result(r, f.ty(v).clone()));
    let results: Vec<PlaceView> = results.collect::<Result<_>>()?;
    b.lifetimes(&results, &segments);
    let called = nests
        .nests
        .iter()
        .filter(|n| matches!(n.what, What::Call { .. }))
        .count();
    Ok(Ok(PlanParts {
        steps: b.steps,
        places: b.places,
        place_of: b.place_of,
        results,
        segments,
        equations: live.iter().filter(|l| **l).count(),
        called,
        live,
    }))
}

/// Whether a value is a nest, or a result of a call that is one.
fn all_nests(nests: &Nests<'_>) -> Vec<bool> {
    let mut out = vec![false; nests.function.len()];
    for n in &nests.nests {
        let results = nests.function.eqns()[n.eqn as usize].results();
        results.for_each(|v| out[v.index()] = true);
    }
    out
}

/// Whether nests or results read a value.
fn all_reads(nests: &Nests<'_>) -> Vec<bool> {
    let mut out = vec![false; nests.function.len()];
    let mut add = |r: &Read| r.elements(&mut |a| out[a.of.index()] = true);
    for n in &nests.nests {
        n.reads().for_each(&mut add);
    }
    nests.results.iter().for_each(add);
    out
}

impl Builder<'_> {
    fn ty(&self, v: Val) -> &Type {
        match v.index().checked_sub(self.f.len()) {
            Some(k) => &self.copies[k],
            None => self.f.ty(v),
        }
    }

    fn place(&mut self, value: Val, home: Home, def: Option<u32>) -> u32 {
        let place = self.places.len() as u32;
        self.places.push(StoredPlace {
            value,
            ty: self.ty(value).clone(),
            home,
            def,
            last: def.unwrap_or(0),
        });
        self.place_of.insert(value, place);
        place
    }

    fn group(&mut self, g: &NestGroup, live: &dyn Fn(&Eqn) -> bool) -> Result<Planned<()>> {
        let n = &self.nests.nests[g.members[0].nest as usize];
        match &n.what {
            What::Map(_) | What::Fold { .. } => Ok(self.code(g)),
            What::Literal(a) => {
                self.place(n.value, Home::Constant(Tensor::from(&**a)), None);
                Ok(Ok(()))
            }
            What::Call(call) => {
                let Call {
                    op,
                    operands,
                    results,
                    why,
                } = &**call;
                let mut views = Vec::with_capacity(operands.len());
                for x in operands {
                    let read = match &x.read.source {
                        _ if x.read.is_strided() => x.read.clone(),
                        // Regions read dense memory.
                        Source::Number(s) if op.regions().is_empty() => self.number(**s, &x.ty)?,
                        _ => match self.copied(&x.read, &x.ty, n.eqn) {
                            Ok(read) => read,
                            Err(why) => return Ok(Err(why)),
                        },
                    };
                    views.push(self.view(&read, x.ty.clone()));
                }
                let e = &self.f.eqns()[n.eqn as usize];
                let values: Vec<Val> = e.results().take(*results).collect();
                let used = UsedResults::of(values.iter().map(|v| self.read[v.index()]));
                let used = first_read(self.f, e, live).map_or(used, |first| used.only(first));
                let types: Vec<Type> = operands.iter().map(|x| x.ty.clone()).collect();
                let kernel = (self.kernels.lower)(op, &types, used).map_err(|err| err.at(e.loc))?;
                let nested = (self.kernels.nested)(op).map_err(|err| err.at(e.loc))?;
                let def = self.steps.len() as u32;
                let results = values
                    .iter()
                    .map(|&v| {
                        let read = self.read[v.index()];
                        read.then(|| self.place(v, Home::Tensor, Some(def)))
                    })
                    .collect();
                self.steps.push(PlanStep {
                    eqn: n.eqn,
                    eqns: vec![n.eqn],
                    kind: StepKind::Call(CallStep {
                        kernel,
                        nested,
                        product: (self.kernels.product)(op, &types),
                        raw: self.kernels.raw,
                        used,
                        name: op.name().to_owned(),
                        why: *why,
                        operands: views,
                        results,
                        binds: !op.binds().is_empty(),
                    }),
                    dead: Vec::new(),
                });
                Ok(Ok(()))
            }
        }
    }

    /// A step of code.
    #[inline(never)] // its frame is large, and `group` recurs through regions
    fn code(&mut self, g: &NestGroup) -> Planned<()> {
        let cx = Composition { nests: self.nests };
        let staged = staged(&cx, g)?;
        let roots = g
            .members
            .iter()
            .map(|m| self.nests.nests[m.nest as usize].eqn);
        let eqns = self.computed(roots.collect());
        self.step(eqns.last().copied().unwrap_or(0), eqns, staged);
        Ok(())
    }

    /// These equations, and those whose operations are part of their expressions, in order.
    fn computed(&mut self, mut open: Vec<u32>) -> Vec<u32> {
        let step = self.steps.len() as u32;
        let mut out = Vec::new();
        while let Some(e) = open.pop() {
            if std::mem::replace(&mut self.visited[e as usize], step) == step {
                continue;
            }
            let eqn = &self.f.eqns()[e as usize];
            let x = self.f.operands(eqn);
            let types: SmallVec<[DType; 4]> = x.iter().map(|&v| self.f.ty(v).dtype).collect();
            if eqn.op.class(&types) != OpClass::View && !matches!(eqn.op, Op::Constant(_)) {
                out.push(e);
            }
            let apart = |v: &Val| self.nest_values[v.index()];
            open.extend(
                x.iter()
                    .filter(|v| !apart(v))
                    .filter_map(|&v| match self.f.def(v) {
                        Def::Eqn(e) => Some(e as u32),
                        _ => None,
                    }),
            );
        }
        out.sort_unstable();
        out
    }

    /// Appends a step of phases.
    fn step(&mut self, eqn: u32, eqns: Vec<u32>, mut staged: Staged) {
        // A value that several steps keep is one of its own in each.
        let is_placed = |v: &Val| self.place_of.contains_key(v);
        let again: Vec<Val> = staged.blocks.iter().copied().filter(is_placed).collect();
        for v in again {
            let own = Val::from_index(self.f.len() + self.copies.len());
            self.copies.push(self.ty(v).clone());
            staged.rename(v, own);
        }
        let def = Some(self.steps.len() as u32);
        let whole = staged.whole.into_iter();
        let outputs = whole.map(|v| self.place(v, Home::Arena, def)).collect();
        let first = self.places.len() as u32;
        for v in staged.blocks {
            self.place(v, Home::Block, def);
        }
        let blocks = first..self.places.len() as u32;
        let placed = |p: StagedPhase| PlacedPhase {
            code: Box::new(p.code),
            places: p.values.iter().map(|v| self.place_of[v]).collect(),
            dead: Vec::new(),
        };
        let phases = staged.phases.into_iter().map(placed).collect();
        let step = CodeStep {
            phases,
            rows: staged.rows,
            outputs,
            blocks,
            over: Vec::new(),
        };
        self.steps.push(PlanStep {
            eqn,
            eqns,
            kind: StepKind::Code(step),
            dead: Vec::new(),
        });
    }

    /// The read of one number at each index of a type.
    fn number(&mut self, number: Scalar, ty: &Type) -> Result<Read> {
        let value = Val::from_index(self.f.len() + self.copies.len());
        self.copies.push(Type::scalar(ty.dtype));
        let x = number.full(ty.dtype, Vec::new())?;
        self.place(value, Home::Constant(Tensor::from(&x)), None);
        Ok(Read::identity(value, 0))
    }

    /// The read of a copy of the elements of another read, at each index of a type.
    fn copied(&mut self, read: &Read, ty: &Type, eqn: u32) -> Planned<Read> {
        let value = Val::from_index(self.f.len() + self.copies.len());
        self.copies.push(ty.clone());
        let mut expr = Expr::default();
        expr.read(read.clone(), ty.dtype);
        let axis = |extent: &Dim| SpaceAxis {
            extent: extent.clone(),
            kind: AxisKind::Par,
        };
        let copy = Nest {
            value,
            eqn,
            space: ty.shape.iter().map(axis).collect(),
            what: What::Map(expr),
        };
        let nests = Nests {
            function: self.f,
            nests: vec![copy],
            saved: FxHashSet::default(),
            results: Vec::new(),
        };
        let cx = Composition { nests: &nests };
        self.step(eqn, Vec::new(), super::stage::alone(&cx, 0)?);
        Ok(Read::identity(value, ty.rank()))
    }

    /// A result of the function, as a view of a place.
    fn result(&mut self, read: &Read, ty: Type) -> Result<PlaceView> {
        Ok(match &read.source {
            Source::Number(s) => {
                let read = self.number(**s, &ty)?;
                self.view(&read, ty)
            }
            _ => self.view(read, ty),
        })
    }

    /// A strided read, as a view of a place.
    fn view(&self, read: &Read, ty: Type) -> PlaceView {
        let access::Source::Element(a) = &read.source else {
            unreachable!("a strided read has one source");
        };
        let whole = are_own(&a.at);
        let same = whole && a.at.len() == ty.rank() && !self.ty(a.of).shape.differs(&ty.shape);
        PlaceView {
            place: self.place_of[&a.of],
            read: (!same || self.ty(a.of).shape != ty.shape).then(|| read.clone()),
            ty,
        }
    }

    /// Sets the last step that reads each place, the dead places of each step, and homes.
    fn lifetimes(&mut self, results: &[PlaceView], segments: &[Segment]) {
        let Builder {
            steps,
            places,
            place_of,
            ..
        } = self;
        let segment = |step: u32| segments.partition_point(|s| s.steps.end <= step as usize);
        let mut tensor = vec![false; places.len()];
        for (k, step) in steps.iter().enumerate() {
            let mut read = |p: u32, call: bool| {
                let place = &mut places[p as usize];
                place.last = place.last.max(k as u32);
                let crosses = place.def.is_some_and(|d| segment(d) != segment(k as u32));
                tensor[p as usize] |= call || crosses;
            };
            match &step.kind {
                StepKind::Code(c) => c.reads(&mut |r| {
                    r.elements(&mut |a| read(place_of[&a.of], false));
                }),
                StepKind::Call(c) => c.operands.iter().for_each(|x| read(x.place, true)),
            }
        }
        for r in results {
            places[r.place as usize].last = steps.len() as u32;
            tensor[r.place as usize] = true;
        }
        for (p, place) in places.iter_mut().enumerate() {
            if tensor[p] && matches!(place.home, Home::Arena) {
                place.home = Home::Tensor;
            }
            if let Some(step) = steps.get_mut(place.last as usize) {
                step.dead.push(p as u32);
            }
        }
        // The last phase of the step at hand that reads or writes each place, and that step.
        let mut uses = vec![(0, u32::MAX); places.len()];
        for (k, step) in (0..).zip(steps.iter_mut()) {
            if let StepKind::Code(c) = &mut step.kind {
                c.over = candidates(c, k, places, place_of);
                for (number, phase) in c.phases.iter().enumerate() {
                    phase.uses(place_of, &mut |p| uses[p as usize] = (number, k));
                }
                for &p in &step.dead {
                    if let (last, step) = uses[p as usize]
                        && step == k
                    {
                        c.phases[last].dead.push(p);
                    }
                }
            }
        }
    }
}

impl PlanStep {
    /// Calls `f` for each place that the step reads, its own among them.
    pub(crate) fn reads(&self, parts: &PlanParts, f: &mut dyn FnMut(u32)) {
        match &self.kind {
            StepKind::Code(c) => c.reads(&mut |r| r.elements(&mut |a| f(parts.place_of[&a.of]))),
            StepKind::Call(c) => c.operands.iter().for_each(|x| f(x.place)),
        }
    }

    /// Calls `f` for each place that the step writes.
    pub(crate) fn writes(&self, f: &mut dyn FnMut(u32)) {
        match &self.kind {
            StepKind::Code(c) => c
                .outputs
                .iter()
                .copied()
                .chain(c.blocks.clone())
                .for_each(f),
            StepKind::Call(c) => c.results.iter().flatten().for_each(|&p| f(p)),
        }
    }
}

impl PlacedPhase {
    /// Calls `f` for each read.
    pub(crate) fn reads(&self, f: &mut dyn FnMut(&Read)) {
        for leaf in &self.code.leaves {
            if let LeafSource::Read(r) = &leaf.source {
                f(r);
            }
        }
    }

    /// Calls `f` for each place that it reads or writes.
    pub(crate) fn uses(&self, place_of: &FxHashMap<Val, u32>, f: &mut dyn FnMut(u32)) {
        self.places.iter().for_each(|&p| f(p));
        self.reads(&mut |r| r.elements(&mut |a| f(place_of[&a.of])));
    }
}

impl CodeStep {
    /// Calls `f` for each read of the phases.
    pub(crate) fn reads(&self, f: &mut dyn FnMut(&Read)) {
        self.phases.iter().for_each(|p| p.reads(f));
    }

    /// Places that a place may be written over: none if it is not the one output.
    pub(crate) fn over_of(&self, place: u32) -> &[u32] {
        match self.outputs == [place] {
            true => &self.over,
            false => &[],
        }
    }

    /// The phase and the member of it that compute the one output.
    pub(crate) fn writer(&self) -> Option<(usize, usize)> {
        let [output] = self.outputs[..] else {
            return None;
        };
        let at = |p: &PlacedPhase| p.places.iter().position(|&q| q == output);
        let found = self
            .phases
            .iter()
            .enumerate()
            .find_map(|(k, p)| Some((k, at(p)?)))?;
        let code = &self.phases[found.0].code;
        let whole =
            code.rank == code.space.len() && code.members[found.1].slot == ElementSlot::ROW_MAJOR;
        whole.then_some(found)
    }
}

/// Places that the output of a step may be written over: read for the last time, in each phase at
/// the index that is written, not after the output is written, and of the same size.
fn candidates(
    step: &CodeStep,
    number: u32,
    places: &[StoredPlace],
    place_of: &FxHashMap<Val, u32>,
) -> Vec<u32> {
    let Some((phase, member)) = step.writer() else {
        return Vec::new();
    };
    let output = step.phases[phase].code.members[member].output;
    let identity = |r: &Read, rank: usize| match &r.source {
        access::Source::Element(a) => {
            (r.starts.is_empty() && a.at.len() == rank && are_own(&a.at)).then(|| place_of[&a.of])
        }
        _ => None,
    };
    let (mut at, mut elsewhere): (Vec<u32>, FxHashSet<u32>) = Default::default();
    for (k, p) in step.phases.iter().enumerate() {
        for (l, leaf) in p.code.leaves.iter().enumerate() {
            let LeafSource::Read(r) = &leaf.source else {
                continue;
            };
            let before = || k < phase || k == phase && p.code.body.may_overwrite(output, l);
            match identity(r, p.code.space.len()) {
                Some(p) if before() => at.push(p),
                _ => r.elements(&mut |a| {
                    elsewhere.insert(place_of[&a.of]);
                }),
            }
        }
    }
    at.sort_unstable();
    at.dedup();
    let own = &places[step.outputs[0] as usize];
    let same = |dtype: DType| match own.home {
        Home::Tensor => dtype == own.ty.dtype,
        _ => dtype.size() == own.ty.dtype.size(),
    };
    at.retain(|&p| {
        let place = &places[p as usize];
        let memory = match place.home {
            Home::Argument | Home::Tensor => matches!(own.home, Home::Tensor),
            Home::Arena => matches!(own.home, Home::Arena),
            Home::Constant(_) | Home::Block => false,
        };
        memory
            && place.last == number
            && place.def != Some(number)
            && place.ty.shape == own.ty.shape
            && same(place.ty.dtype)
            && !elsewhere.contains(&p)
    });
    at
}

/// The types of the operands of an equation at these extents.
pub(crate) fn operand_types(f: &Function, e: &Eqn, env: &Env) -> Vec<Type> {
    let types = f.operands(e).iter();
    types.map(|&v| f.ty(v).evaluated(env)).collect()
}
