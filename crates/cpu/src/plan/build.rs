//! A plan from nests: steps in order, and the place of each value.
//!
//! Each nest is a step. Values that a call reads or computes, and those that leave the run or a
//! segment, are tensors of their own; all others are in the arena.

use super::code::{Code, LeafSource, Planned, code};
use super::laid::LaidView;
use super::nested::Nested;
use crate::checks::{first_read, needs_check};
use crate::kernel::{Kernel, UsedResults};
use crate::nests::access::{self, Read};
use crate::nests::lower::lower;
use crate::nests::nest::{AxisKind, Call, Expr, Nest, Nests, SpaceAxis, What, Why};
use crate::tensor::{Extents, Tensor};
use cotangent_core::graph::Eqn;
use cotangent_core::{DType, Dim, Env, Function, Op, Result, Type, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// Compiles an operation for operands of these types.
type LowerFn<'a> = dyn Fn(&Op, &[Type], UsedResults) -> Result<Kernel> + 'a;

/// The regions of an operation that may run in place.
type NestedFn<'a> = dyn Fn(&Op) -> Result<Option<Arc<dyn Nested>>> + 'a;

/// The executor's part in a plan.
pub(crate) struct Kernels<'a> {
    /// The kernel of an operation for operands of these types.
    pub(crate) lower: &'a LowerFn<'a>,
    /// An operation with regions in place.
    pub(crate) nested: &'a NestedFn<'a>,
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

impl CallStep {
    /// The types of the operands at the extents of a run.
    pub(crate) fn forms(
        &self,
        shapes: &[Option<Extents>],
        laid: &[LaidView],
    ) -> Vec<(DType, Extents)> {
        let form = |(v, laid): (&PlaceView, &LaidView)| {
            let own = || shapes[v.place as usize].clone().unwrap_or_default();
            (v.ty.dtype, laid.as_ref().map_or_else(own, |l| l.1.clone()))
        };
        self.operands.iter().zip(laid).map(form).collect()
    }
}

/// A kernel that computes tensors from tensors.
pub(crate) struct CallStep {
    pub(crate) kernel: Kernel,
    /// The operation in place, if it has regions.
    pub(crate) nested: Option<Arc<dyn Nested>>,
    pub(crate) name: String,
    pub(crate) why: Why,
    pub(crate) operands: Vec<PlaceView>,
    /// The places of results that are read.
    pub(crate) results: Vec<Option<u32>>,
    /// Whether the equation binds symbols.
    pub(crate) binds: bool,
}

pub(crate) enum StepKind {
    Code {
        code: Box<Code>,
        /// The place of each member.
        outputs: Vec<u32>,
        /// A place that the one output may be written over, if it is in memory of the same kind.
        over: Vec<u32>,
    },
    Call(CallStep),
}

pub(crate) struct PlanStep {
    pub(crate) eqn: u32,
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
    /// Types of values that are copies for calls: they are numbered after those of the function.
    copies: Vec<Type>,
    steps: Vec<PlanStep>,
    places: Vec<StoredPlace>,
    place_of: FxHashMap<Val, u32>,
    /// Results of calls that are read.
    read: FxHashSet<Val>,
}

/// The parts of the plan of a function, or the reason for which it has none.
pub(crate) fn build(f: &Arc<Function>, kernels: &Kernels<'_>) -> Result<Planned<PlanParts>> {
    let nests = lower(f);
    #[cfg(any(test, debug_assertions))]
    crate::nests::verify::verify(&nests)?;
    let need = f.needed(None);
    let live: Vec<bool> = f
        .eqns()
        .iter()
        .map(|e| e.results().any(|r| need[r.index()]))
        .collect();
    let mut b = Builder {
        f,
        kernels,
        copies: Vec::new(),
        steps: Vec::new(),
        places: Vec::new(),
        place_of: FxHashMap::default(),
        read: all_reads(&nests),
    };
    for &p in f.params() {
        b.place(p, Home::Argument, None);
    }
    let mut segments = Vec::new();
    let (mut from, mut first) = (0, 0);
    for n in &nests.nests {
        if let Err(why) = b.nest(n, &|e: &Eqn| e.results().any(|r| need[r.index()]))? {
            return Ok(Err(why));
        }
        if f.eqns()[n.eqn as usize].op.binds().is_empty() {
            continue;
        }
        segments.push(Segment {
            steps: from..b.steps.len(),
            eqns: first..n.eqn + 1,
        });
        (from, first) = (b.steps.len(), n.eqn + 1);
    }
    segments.push(Segment {
        steps: from..b.steps.len(),
        eqns: first..f.eqns().len() as u32,
    });
    let results = nests.results.iter().zip(f.results());
    let results: Vec<PlaceView> = results.map(|(r, &v)| b.view(r, f.ty(v).clone())).collect();
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

/// Calls `f` for each value that a read may read.
pub(crate) fn values_read(r: &Read, f: &mut dyn FnMut(Val)) {
    r.starts.iter().for_each(|s| values_read(&s.read, f));
    fn source(s: &access::Source, f: &mut dyn FnMut(Val)) {
        match s {
            access::Source::Number(_) => {}
            access::Source::Element(a) => f(a.of),
            access::Source::Choice(c) => {
                source(&c.inside, f);
                source(&c.outside, f);
            }
        }
    }
    source(&r.source, f);
}

/// All values that nests and results read.
fn all_reads(nests: &Nests<'_>) -> FxHashSet<Val> {
    let mut out = FxHashSet::default();
    let mut add = |r: &Read| {
        values_read(r, &mut |v| {
            out.insert(v);
        });
    };
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

    fn nest(&mut self, n: &Nest, live: &dyn Fn(&Eqn) -> bool) -> Result<Planned<()>> {
        match &n.what {
            What::Map(_) | What::Fold { .. } => Ok(self.code(n)),
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
                    let read = match x.read.is_strided() {
                        true => x.read.clone(),
                        false => match self.copied(&x.read, &x.ty, n.eqn) {
                            Ok(read) => read,
                            Err(why) => return Ok(Err(why)),
                        },
                    };
                    views.push(self.view(&read, x.ty.clone()));
                }
                let e = &self.f.eqns()[n.eqn as usize];
                let values: Vec<Val> = e.results().take(*results).collect();
                let used = UsedResults::of(values.iter().map(|v| self.read.contains(v)));
                let used = first_read(self.f, e, live).map_or(used, |first| used.only(first));
                let types: Vec<Type> = operands.iter().map(|x| x.ty.clone()).collect();
                let kernel = (self.kernels.lower)(op, &types, used).map_err(|err| err.at(e.loc))?;
                let nested = (self.kernels.nested)(op).map_err(|err| err.at(e.loc))?;
                let def = self.steps.len() as u32;
                let results = values
                    .iter()
                    .map(|&v| {
                        let read = self.read.contains(&v);
                        read.then(|| self.place(v, Home::Tensor, Some(def)))
                    })
                    .collect();
                self.steps.push(PlanStep {
                    eqn: n.eqn,
                    kind: StepKind::Call(CallStep {
                        kernel,
                        nested,
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
    fn code(&mut self, n: &Nest) -> Planned<()> {
        let code = code(&n.space, &[&n.what], self.kernels.extension)?;
        let def = self.steps.len() as u32;
        let outputs = vec![self.place(n.value, Home::Arena, Some(def))];
        self.steps.push(PlanStep {
            eqn: n.eqn,
            kind: StepKind::Code {
                code: Box::new(code),
                outputs,
                over: Vec::new(),
            },
            dead: Vec::new(),
        });
        Ok(())
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
        self.code(&Nest {
            value,
            eqn,
            space: ty.shape.iter().map(axis).collect(),
            what: What::Map(expr),
        })?;
        Ok(Read::identity(value, ty.rank()))
    }

    /// A strided read, as a view of a place.
    fn view(&self, read: &Read, ty: Type) -> PlaceView {
        let access::Source::Element(a) = &read.source else {
            unreachable!("a strided read has one source");
        };
        let whole = a.at.iter().enumerate().all(|(k, form)| form.is_axis(k));
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
                StepKind::Code { code, .. } => {
                    for leaf in &code.leaves {
                        if let LeafSource::Read(r) = &leaf.source {
                            values_read(r, &mut |v| read(place_of[&v], false));
                        }
                    }
                }
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
        for (k, step) in steps.iter_mut().enumerate() {
            if let StepKind::Code {
                code,
                outputs,
                over,
            } = &mut step.kind
            {
                *over = candidates(code, outputs[0], k as u32, places, place_of);
            }
        }
    }
}

/// Places that the output of a step may be written over: read for the last time, at the index that
/// is written, before the output is written, and of the same size.
fn candidates(
    code: &Code,
    output: u32,
    step: u32,
    places: &[StoredPlace],
    place_of: &FxHashMap<Val, u32>,
) -> Vec<u32> {
    if code.members.len() != 1 || code.rank != code.space.len() {
        return Vec::new();
    }
    let identity = |r: &Read| match &r.source {
        access::Source::Element(a) => {
            let all = a.at.iter().enumerate().all(|(k, form)| form.is_axis(k));
            (r.starts.is_empty() && all && a.at.len() == code.rank).then(|| place_of[&a.of])
        }
        _ => None,
    };
    let (mut at, mut elsewhere): (Vec<(u32, usize)>, FxHashSet<u32>) = Default::default();
    for (k, leaf) in code.leaves.iter().enumerate() {
        let LeafSource::Read(r) = &leaf.source else {
            continue;
        };
        match identity(r) {
            Some(p) => at.push((p, k)),
            None => values_read(r, &mut |v| {
                elsewhere.insert(place_of[&v]);
            }),
        }
    }
    let own = &places[output as usize];
    let same = |dtype: DType, own: &StoredPlace| match own.home {
        Home::Tensor => dtype == own.ty.dtype,
        _ => dtype.size() == own.ty.dtype.size(),
    };
    at.retain(|&(p, leaf)| {
        let place = &places[p as usize];
        let memory = match place.home {
            Home::Argument | Home::Tensor => matches!(own.home, Home::Tensor),
            Home::Arena => matches!(own.home, Home::Arena),
            Home::Constant(_) => false,
        };
        memory
            && place.last == step
            && place.ty.shape == own.ty.shape
            && same(place.ty.dtype, own)
            && !elsewhere.contains(&p)
            && code.body.may_overwrite(0, leaf)
    });
    at.iter().map(|a| a.0).collect()
}

/// Whether the type rule of an equation is checked at run time.
pub(crate) fn is_checked(f: &Function, e: &Eqn) -> bool {
    let types: Vec<Type> = f.operands(e).iter().map(|&v| f.ty(v).clone()).collect();
    needs_check(f, e, &types)
}

/// The types of the operands of an equation at these extents.
pub(crate) fn operand_types(f: &Function, e: &Eqn, env: &Env) -> Vec<Type> {
    let types = f.operands(e).iter();
    types.map(|&v| f.ty(v).evaluated(env)).collect()
}
