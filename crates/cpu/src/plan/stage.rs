//! Phases of a group: which members are one code, and in which order codes run.
//!
//! Members of one space are one phase, unless one reads another at other indices. If all axes of
//! rows but those of the lanes are unrolled, the group is one phase over the remaining axes: each
//! index of an unrolled axis has instructions of its own. A sum of many pads has a phase for each
//! term ([`terms`](super::terms)), unless unrolled axes decide where a term is not zero.

use super::code::{Code, CodeRoot, ElementSlot, Region, code};
use super::compose::{Composition, LeafSource, Planned, indices, unrolled_fold};
use super::levels::needed_again;
use super::terms::sum_of_pads;
use crate::groups::access::{MemberOf, accesses};
use crate::groups::cost::{MAX_INSTRUCTIONS, MAX_INTERLEAVED, known_update};
use crate::groups::form::{Member, NestGroup, Storage};
use crate::nests::access::{Bound, IndexMap, Indices, Read, Source, are_own};
use crate::nests::affine::{Affine, Var};
use crate::nests::nest::{AxisKind, Nest, Order, SpaceAxis, What, Why, WindowOrder};
use crate::nests::quantity::Quantity;
use cotangent_core::Val;
use rustc_hash::{FxHashMap, FxHashSet};

/// Code, and the value of each of its members.
pub(crate) struct StagedPhase {
    pub(crate) code: Code,
    pub(crate) values: Vec<Val>,
}

/// The phases of a group.
pub(crate) struct Staged {
    pub(crate) phases: Vec<StagedPhase>,
    /// Number of first axes of every phase that are rows, if all phases may run on a block of rows
    /// before the next.
    pub(crate) rows: Option<usize>,
    /// Values that other groups or results read.
    pub(crate) whole: Vec<Val>,
    /// Values that only other phases read.
    pub(crate) blocks: Vec<Val>,
}

impl Staged {
    /// Gives a value that the phases compute another name.
    pub(crate) fn rename(&mut self, from: Val, to: Val) {
        let own = self.whole.iter_mut().chain(&mut self.blocks);
        let of_phases = self.phases.iter_mut().flat_map(|p| &mut p.values);
        for v in own.chain(of_phases).filter(|v| **v == from) {
            *v = to;
        }
        for leaf in self.phases.iter_mut().flat_map(|p| &mut p.code.leaves) {
            if let LeafSource::Read(read) = &mut leaf.source {
                read.elements_mut(&mut |a| {
                    if a.of == from {
                        a.of = to;
                    }
                });
            }
        }
    }
}

/// The phases of a group, or the reason for which it has no code.
pub(crate) fn staged(cx: &Composition<'_>, g: &NestGroup) -> Planned<Staged> {
    let mut of_starts: FxHashSet<Val> = FxHashSet::default();
    let mut of_updates: FxHashSet<Val> = FxHashSet::default();
    let nest = |m: &Member| &cx.nests.nests[m.nest as usize];
    let nests = || g.members.iter().map(nest);
    of_updates.extend(nests().filter_map(known_update).flatten());
    for r in nests().flat_map(Nest::reads) {
        of_updates.extend(updated(r).into_iter().flatten());
        for s in &r.starts {
            s.read.elements(&mut |a| {
                of_starts.insert(a.of);
            });
        }
    }
    let stage = Stage {
        cx,
        g,
        of_starts,
        of_updates,
    };
    let kept = stage.kept();
    if kept.is_empty()
        && let Some(staged) = stage.summed().or_else(|| stage.unrolled())
    {
        return Ok(staged);
    }
    match stage.phased(&|m| kept.contains(&m.nest)) {
        Err(Why::Reshape | Why::Indices) => stage.phased(&|_| true),
        done => done,
    }
}

/// The operand of an update of a window at starts, and the value in the window, if a read is one.
fn updated(r: &Read) -> Option<[Val; 2]> {
    let Source::Choice(c) = &r.source else {
        return None;
    };
    match (&c.inside, &c.outside) {
        (Source::Element(update), Source::Element(operand)) => {
            let at_starts = c.bounds.iter().any(Bound::mentions_starts);
            at_starts.then_some([operand.of, update.of])
        }
        _ => None,
    }
}

/// The one phase of a nest.
pub(crate) fn alone(cx: &Composition<'_>, nest: u32) -> Planned<Staged> {
    let n = &cx.nests.nests[nest as usize];
    let code = code(cx, &n.space, &[CodeRoot::Nest(nest)], FxHashMap::default())?;
    let whole = vec![n.value];
    Ok(Staged {
        phases: vec![StagedPhase {
            code,
            values: whole.clone(),
        }],
        rows: None,
        whole,
        blocks: Vec::new(),
    })
}

/// A phase that members are added to.
struct Draft {
    /// The member whose space and axes are those of the phase.
    first: usize,
    fold: bool,
    members: Vec<usize>,
}

struct Stage<'a> {
    cx: &'a Composition<'a>,
    g: &'a NestGroup,
    /// Values that starts are read from: they are in memory before the code that reads them.
    of_starts: FxHashSet<Val>,
    /// Operands of updates of windows, and the values in these: both are in memory, so that an
    /// update writes the window alone.
    of_updates: FxHashSet<Val>,
}

impl<'a> Stage<'a> {
    fn nest(&self, m: &Member) -> &'a Nest {
        &self.cx.nests.nests[m.nest as usize]
    }

    /// Inline members that no expression contains: folds without instructions of their bits,
    /// values that starts are read from, those of updates of windows, and gathers that several
    /// phases need.
    fn kept(&self) -> FxHashSet<u32> {
        let function = self.cx.nests.function;
        let is_kept = |m: &&Member| {
            let n = self.nest(m);
            let fold = matches!(n.what, What::Fold { .. });
            let dtype = function.ty(n.value).dtype;
            fold && unrolled_fold(n, dtype).is_none()
                || self.of_starts.contains(&n.value)
                || self.of_updates.contains(&n.value)
        };
        let inline = self.g.members.iter().filter(|m| m.at == Storage::Inline);
        let mut kept = needed_again(self.cx, self.g);
        kept.extend(inline.filter(is_kept).map(|m| m.nest));
        kept
    }

    /// The space of the phase of a member, and the axes of the group that it has.
    fn phase_of<'m>(&self, m: &'m Member) -> (&'a [SpaceAxis], &'m [u8]) {
        let n = self.nest(m);
        let rank = match is_loop_of_fold(n) {
            true => n.space.len(),
            false => self.cx.nests.function.ty(n.value).rank(),
        };
        (&n.space[..rank], &m.axes[..rank])
    }

    /// The nests of values, for members of a kind.
    fn nests_of(&self, members: &[Member], f: impl Fn(&Member) -> bool) -> FxHashMap<Val, u32> {
        let all = members.iter().filter(|m| f(m));
        all.map(|m| (self.nest(m).value, m.nest)).collect()
    }

    /// Phases of members in order; inline members that `keep` names are stored.
    fn phased(&self, keep: &dyn Fn(&Member) -> bool) -> Planned<Staged> {
        let mut members = self.g.members.clone();
        let mut rows = Some(self.g.space.rows);
        for m in members.iter_mut().filter(|m| m.at == Storage::Inline) {
            if keep(m) {
                m.at = Storage::Block;
                rows = None;
            }
        }
        let by_value: MemberOf<'_> = members.iter().map(|m| (self.nest(m).value, m)).collect();
        let (mut drafts, mut phase_of) = (Vec::<Draft>::new(), FxHashMap::<Val, usize>::default());
        let mut elsewhere: FxHashSet<Val> = FxHashSet::default();
        for (k, m) in members.iter().enumerate() {
            if m.at == Storage::Inline {
                continue;
            }
            let n = self.nest(m);
            let fold = is_loop_of_fold(n);
            let all = accesses(self.cx.nests, &by_value, m).ok_or(Why::Reshape)?;
            let mut least = 0;
            for a in &all {
                let Some(&of) = phase_of.get(&a.of) else {
                    continue;
                };
                let plain = a.placement.starts.is_empty() && !self.of_starts.contains(&a.of);
                let same = plain && are_own(&a.placement.at);
                least = least.max(of + usize::from(!same || fold || drafts[of].fold));
            }
            let fits = |d: &&usize| {
                let (d, first) = (&drafts[**d], &members[drafts[**d].first]);
                d.fold == fold && self.phase_of(first) == self.phase_of(m)
            };
            let mut found = least..drafts.len();
            let phase = found.find(|d| fits(&d)).unwrap_or_else(|| {
                drafts.push(Draft {
                    first: k,
                    fold,
                    members: Vec::new(),
                });
                drafts.len() - 1
            });
            drafts[phase].members.push(k);
            phase_of.insert(n.value, phase);
            let others = all
                .iter()
                .filter(|a| phase_of.get(&a.of).is_some_and(|&p| p != phase));
            elsewhere.extend(others.map(|a| a.of));
            let in_order = m.axes.iter().take(self.g.space.rows).enumerate();
            if m.axes.len() < self.g.space.rows
                || in_order.into_iter().any(|(k, &a)| k != a as usize)
            {
                rows = None;
            }
        }
        self.coded(&members, &drafts, &elsewhere, rows)
    }

    fn coded(
        &self,
        members: &[Member],
        drafts: &[Draft],
        elsewhere: &FxHashSet<Val>,
        rows: Option<usize>,
    ) -> Planned<Staged> {
        let mut out = Staged {
            phases: Vec::new(),
            rows: rows.filter(|_| drafts.len() > 1),
            whole: Vec::new(),
            blocks: Vec::new(),
        };
        let inline = self.nests_of(members, |m| m.at == Storage::Inline);
        for d in drafts {
            let own: Vec<&Member> = d.members.iter().map(|&k| &members[k]).collect();
            let mut inlined = inline.clone();
            if !d.fold {
                inlined.extend(own.iter().map(|m| (self.nest(m).value, m.nest)));
            }
            let (mut roots, mut values) = (Vec::new(), Vec::new());
            for m in own {
                let value = self.nest(m).value;
                match m.at {
                    Storage::Whole => out.whole.push(value),
                    _ if elsewhere.contains(&value) => out.blocks.push(value),
                    _ => continue,
                }
                values.push(value);
                roots.push(CodeRoot::Nest(m.nest));
            }
            let space = self.phase_of(&members[d.first]).0.iter().cloned().collect();
            let code = code(self.cx, &space, &roots, inlined)?;
            out.phases.push(StagedPhase { code, values });
        }
        Ok(out)
    }

    /// The phases of a sum of pads: the first term everywhere, then each other one where it is not
    /// zero.
    fn summed(&self) -> Option<Staged> {
        let mut stored = self.g.members.iter().filter(|m| m.at != Storage::Inline);
        let (Some(m), None) = (stored.next(), stored.next()) else {
            return None;
        };
        let inline = self.nests_of(&self.g.members, |m| m.at == Storage::Inline);
        let nests = &self.cx.nests.nests;
        let sum = sum_of_pads(nests, m.nest, &|v| inline.get(&v).copied())?;
        let (n, mut phases) = (self.nest(m), Vec::new());
        // Code with instructions for each index of the unrolled axes has a term only where it is
        // not zero, if these axes decide that.
        let is_whole = |region: &Region| {
            let mut axes = region.iter().zip(n.space.iter()).zip(&m.axes);
            axes.all(|((r, axis), a)| {
                let all = axis.extent.as_const() == Some(r.len());
                all || self.g.schedule.unrolled.contains(a)
            })
        };
        if sum.others.iter().all(|(_, region)| is_whole(region))
            && let Some(unrolled) = self.unrolled()
        {
            return Some(unrolled);
        }
        let first = [(sum.first, None)];
        let others = sum.others.into_iter().map(|(e, region)| (e, Some(region)));
        for (expr, region) in first.into_iter().chain(others) {
            let root = [CodeRoot::Expr(expr)];
            let mut code = code(self.cx, &n.space, &root, inline.clone()).ok()?;
            code.region = region;
            let values = vec![n.value];
            phases.push(StagedPhase { code, values });
        }
        Some(Staged {
            phases,
            rows: None,
            whole: vec![n.value],
            blocks: Vec::new(),
        })
    }

    /// One phase over the axes that are not unrolled, if that saves tests, folds or phases.
    fn unrolled(&self) -> Option<Staged> {
        let (s, space) = (&self.g.schedule, &self.g.space);
        if self.g.members.iter().any(|m| self.needs_starts(m)) || self.reads_rows_at_indices() {
            return None;
        }
        let is_unrolled = |a: &u8| s.unrolled.contains(a);
        let all = 0..space.axes.len() as u8;
        let loops: Vec<u8> = all.clone().filter(|a| !is_unrolled(a)).collect();
        let short = s.lanes.is_some_and(|a| !is_unrolled(&a)) && !s.unrolled.is_empty();
        if !short || loops.iter().any(|&a| a as usize >= space.rows) || !self.gains() {
            return None;
        }
        let axis = |&a: &u8| SpaceAxis {
            extent: space.axes[a as usize].clone(),
            kind: AxisKind::Par,
        };
        let (mut roots, mut values, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        let mut instructions = 0;
        for m in self.g.members.iter().filter(|m| m.at != Storage::Inline) {
            let n = self.nest(m);
            let rank = self.cx.nests.function.ty(n.value).rank();
            let extents: Option<Vec<usize>> = m.axes[..rank]
                .iter()
                .map(|a| match is_unrolled(a) {
                    true => space.axes[*a as usize].as_const(),
                    false => Some(1),
                })
                .collect();
            let extents = extents?;
            let mut folded = n.space[rank..].iter().map(|a| a.extent.as_const());
            let folded = folded.try_fold(1usize, |n, d| n.checked_mul(d?))?;
            let count: usize = extents.iter().product();
            let size = n.what.expr().map_or(0, |e| e.nodes.len());
            instructions += count * folded * size;
            if !self.unrolls(n, folded) {
                return None;
            }
            if instructions > MAX_INSTRUCTIONS || folded * count == 0 {
                return None;
            }
            if m.at == Storage::Block {
                continue;
            }
            // The axes of the loops are adjacent, in their order.
            let labels = &m.axes[..rank];
            let first = labels.iter().position(|a| !is_unrolled(a))?;
            if labels.get(first..first + loops.len()) != Some(&loops[..]) {
                return None;
            }
            let step = extents[first + loops.len()..].iter().product();
            whole.push(n.value);
            for (k, index) in indices(&extents).enumerate() {
                let form = |(i, a): (&usize, &u8)| match loops.iter().position(|b| b == a) {
                    Some(k) => Affine::axis(k),
                    None => Quantity::Number(*i as i64).into(),
                };
                let at: Indices = index.iter().zip(labels).map(form).collect();
                let slot = ElementSlot {
                    before: k / step,
                    step,
                    after: k % step,
                };
                roots.push(CodeRoot::Element {
                    nest: m.nest,
                    at: IndexMap::of(at),
                    slot,
                });
                values.push(n.value);
            }
        }
        let inlined = self.nests_of(&self.g.members, |_| true);
        let space = loops.iter().map(axis).collect();
        let code = code(self.cx, &space, &roots, inlined).ok()?;
        Some(Staged {
            phases: vec![StagedPhase { code, values }],
            rows: None,
            whole,
            blocks: Vec::new(),
        })
    }

    /// Whether a read has rows along an unrolled axis, at indices that differ: these are packed row
    /// by row, not element by element.
    fn reads_rows_at_indices(&self) -> bool {
        let unrolled = &self.g.schedule.unrolled;
        self.g.reads.iter().any(|r| {
            let along = r.unit_axis().is_some_and(|a| unrolled.contains(&a));
            along && r.starts.iter().any(|s| s.read.has_axis())
        })
    }

    /// Whether a member is, or chooses by, starts of windows.
    fn needs_starts(&self, m: &Member) -> bool {
        let n = self.nest(m);
        self.of_starts.contains(&n.value) || n.reads().any(chooses_at_starts)
    }

    /// Whether a fold of this many elements has instructions.
    fn unrolls(&self, n: &Nest, folded: usize) -> bool {
        // A sum of one product is no copy: it has no negative zero.
        let chain = matches!(
            n.what,
            What::Fold {
                order: Order::Chain | Order::Window(WindowOrder::Chain | WindowOrder::Sequence),
                ..
            }
        );
        let dtype = self.cx.nests.function.ty(n.value).dtype;
        folded == 1 && !chain || unrolled_fold(n, dtype).is_some()
    }

    /// Whether a member is a fold or a choice, or is stored for another one and the vectors of the
    /// unrolled axes are transposed in registers.
    fn gains(&self) -> bool {
        let choice = |r: &Read| matches!(r.source, Source::Choice(_));
        let axes = self.g.schedule.unrolled.iter();
        let extent = |&a: &u8| self.g.space.axes[a as usize].as_const();
        let all = axes.map(extent).try_fold(1usize, |n, d| n.checked_mul(d?));
        let few = all.is_some_and(|n| n <= MAX_INTERLEAVED);
        self.g.members.iter().any(|m| {
            let n = self.nest(m);
            let fold = matches!(n.what, What::Fold { .. });
            fold || m.at == Storage::Block && few || n.reads().any(choice)
        })
    }
}

/// Whether a nest is a fold whose phase has a loop over the folded elements.
fn is_loop_of_fold(n: &Nest) -> bool {
    let is_loop = |order: &Order| !matches!(order, Order::Window(_));
    matches!(&n.what, What::Fold { order, .. } if is_loop(order))
}

/// Whether a read is a choice at starts, which is tested for each index: an update of a window is
/// faster by rows.
fn chooses_at_starts(r: &Read) -> bool {
    let Source::Choice(c) = &r.source else {
        return false;
    };
    let mut terms = c.bounds.iter().flat_map(|b| &b.form.terms);
    terms.any(|t| matches!(t.var, Var::Start(_)))
}
