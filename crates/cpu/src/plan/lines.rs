//! Reads in the axes of a loop: the form in which reads that no box decides are packed.
//!
//! A line is a run of positions along the innermost axis of a loop. On it a form of indices is
//! linear, up to terms of starts and of quotients that the loop's axes do not divide, so a choice
//! divides a line into few runs, and the elements of a run have a stride.

use super::axes::{LoopAxes, LoopForm, line_axis};
use super::reads::{NumRead, NumSource, NumStart, NumTerm};
use super::rows::rows_time;
use crate::nests::affine::Var;
use crate::tuning::MOVE_PS;
use cotangent_core::DType;
use smallvec::SmallVec;

/// An element of a value.
#[derive(Clone, Debug)]
pub(crate) struct LineElement {
    pub(crate) place: u32,
    /// The offset from the first element, in elements.
    pub(crate) offset: LoopForm,
    /// Lowest and highest offset of an element of the value.
    pub(crate) span: (i64, i64),
}

/// The condition `low <= form < high` and `form ≡ low (mod step)`.
#[derive(Clone, Debug)]
pub(crate) struct LineBound {
    pub(crate) form: LoopForm,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) step: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct LineChoice {
    pub(crate) bounds: SmallVec<[LineBound; 2]>,
    pub(crate) inside: LineSource,
    pub(crate) outside: LineSource,
}

#[derive(Clone, Debug)]
pub(crate) enum LineSource {
    /// The bytes of a number.
    Number(SmallVec<[u8; 16]>),
    Element(LineElement),
    Choice(Box<LineChoice>),
}

/// A start that is read: `clamp(read, 0, last)`.
#[derive(Clone, Debug)]
pub(crate) struct LineStart {
    pub(crate) read: LineRead,
    pub(crate) last: i64,
    /// Whether it differs from position to position of a line. Otherwise the axis along a line has
    /// one index in its read.
    pub(crate) varies: bool,
}

/// A read at each position of a loop.
#[derive(Clone, Debug)]
pub(crate) struct LineRead {
    pub(crate) dtype: DType,
    /// Axes with the positions of the loop. Two of them are one where all elements are as far apart
    /// across both as along the inner one: then lines are longer.
    pub(crate) axes: LoopAxes,
    pub(crate) starts: Vec<LineStart>,
    pub(crate) source: LineSource,
    /// Whether it is copied box by box ([`ranges`](super::ranges)).
    pub(super) by_ranges: bool,
}

impl LineRead {
    pub(crate) fn of(r: &NumRead, axes: &LoopAxes) -> LineRead {
        let mut out = LineRead::apart(r, axes);
        let Some(inner) = line_axis(axes) else {
            return out;
        };
        let mut of_lines = axes.clone();
        of_lines[inner].extent = 1;
        for outer in (0..inner).rev().filter(|&k| axes[k].extent > 1) {
            if !out.merges(outer, inner, out.axes[inner].extent) {
                break;
            }
            out.merge(outer, inner);
            of_lines[outer].extent = 1;
        }
        out.read_starts(r, axes, &of_lines);
        out
    }

    /// Gives starts that are the same along a line the axes of lines, and others their own lines.
    fn read_starts(&mut self, r: &NumRead, axes: &LoopAxes, of_lines: &LoopAxes) {
        for (s, own) in self.starts.iter_mut().zip(&r.starts) {
            s.read = LineRead::of(&own.read, if s.varies { axes } else { of_lines });
        }
    }

    /// The read in all axes of the loop.
    fn apart(r: &NumRead, axes: &LoopAxes) -> LineRead {
        let starts: Vec<LineStart> = r.starts.iter().map(|s| LineStart::of(s, axes)).collect();
        let source = source(r, &r.source, axes);
        LineRead {
            dtype: r.dtype,
            axes: axes.clone(),
            by_ranges: is_by_ranges(&source, &starts),
            starts,
            source,
        }
    }

    /// Estimated time to pack it at all positions, without that of its choices, in ps.
    pub(crate) fn time(&self) -> usize {
        let along = line_axis(&self.axes);
        let len = along.map_or(1, |k| self.axes[k].extent);
        let positions: usize = self.axes.iter().map(|a| a.extent).product();
        let lines = positions / len.max(1);
        let is_adjacent = |f: &LoopForm| along.is_some_and(|k| f.scales[k] == 1);
        let adjacent = self.source.all(&|e| is_adjacent(&e.offset), &|_| true);
        let rows = rows_time(len * self.dtype.size(), lines);
        let start = |s: &LineStart| {
            let numbers = if s.varies { positions } else { lines };
            numbers * MOVE_PS + s.read.time()
        };
        if self.by_ranges {
            return self.starts.len() * MOVE_PS + if adjacent { rows } else { positions * MOVE_PS };
        }
        let by_rows = adjacent && self.starts.iter().all(|s| !s.varies);
        let starts: usize = self.starts.iter().map(start).sum();
        starts + if by_rows { rows } else { positions * MOVE_PS }
    }

    /// Whether an axis continues the one inside of it, of this extent, in every form. Starts that
    /// vary along lines are read at each position, so these may be read in other lines.
    fn merges(&self, outer: usize, inner: usize, extent: usize) -> bool {
        let continues = |f: &LoopForm| {
            let is_start = |t: &NumTerm| matches!(t.var, Var::Start(_));
            let step = f.scales[inner].checked_mul(extent as i64);
            step == Some(f.scales[outer]) && f.terms.iter().all(is_start)
        };
        let mut of_lines = self.starts.iter().filter(|s| !s.varies);
        !any_form(&self.source, &|f| !continues(f))
            && of_lines.all(|s| s.read.merges(outer, inner, extent))
    }

    fn merge(&mut self, outer: usize, inner: usize) {
        self.axes[inner].extent *= std::mem::replace(&mut self.axes[outer].extent, 1);
        for_each_form(&mut self.source, &mut |f| f.scales[outer] = 0);
    }

    /// Whether it differs from position to position of a line.
    fn varies(&self, axes: &LoopAxes) -> bool {
        let line = line_axis(axes);
        let form = |f: &LoopForm| {
            line.is_some_and(|k| f.scales[k] != 0)
                || f.terms.iter().any(|t| match t.var {
                    Var::Axis(k) => line.is_some_and(|line| axes[line].of == k),
                    Var::Start(s) => self.starts[s].varies,
                })
        };
        any_form(&self.source, &form)
    }
}

impl LineStart {
    pub(crate) fn of(s: &NumStart, axes: &LoopAxes) -> LineStart {
        let read = LineRead::apart(&s.read, axes);
        LineStart {
            varies: read.varies(axes),
            read,
            last: s.last,
        }
    }
}

/// Whether starts are the same at all positions, and each bound is one on the index of one axis.
fn is_by_ranges(source: &LineSource, starts: &[LineStart]) -> bool {
    let of_starts = |f: &LoopForm| f.terms.iter().all(|t| matches!(t.var, Var::Start(_)));
    let of_one_axis = |b: &LineBound| {
        of_starts(&b.form) && b.form.scales.iter().filter(|s| **s != 0).count() <= 1
    };
    starts.iter().all(|s| s.read.is_fixed()) && source.all(&|e| of_starts(&e.offset), &of_one_axis)
}

impl LineSource {
    /// Whether all elements and all bounds are such ones.
    fn all(
        &self,
        element: &dyn Fn(&LineElement) -> bool,
        bound: &dyn Fn(&LineBound) -> bool,
    ) -> bool {
        match self {
            LineSource::Number(_) => true,
            LineSource::Element(e) => element(e),
            LineSource::Choice(c) => {
                c.bounds.iter().all(bound)
                    && c.inside.all(element, bound)
                    && c.outside.all(element, bound)
            }
        }
    }
}

impl LineRead {
    /// Whether it is the same element at all positions.
    fn is_fixed(&self) -> bool {
        let of_axes = |f: &LoopForm| {
            let is_axis = |v: Var| matches!(v, Var::Axis(_));
            f.scales.iter().any(|s| *s != 0) || f.terms.iter().any(|t| is_axis(t.var))
        };
        !any_form(&self.source, &of_axes) && self.starts.iter().all(|s| s.read.is_fixed())
    }
}

fn any_form(s: &LineSource, f: &dyn Fn(&LoopForm) -> bool) -> bool {
    match s {
        LineSource::Number(_) => false,
        LineSource::Element(e) => f(&e.offset),
        LineSource::Choice(c) => {
            c.bounds.iter().any(|b| f(&b.form)) || any_form(&c.inside, f) || any_form(&c.outside, f)
        }
    }
}

/// The source of a read in the axes of a loop, without choices that are the same everywhere in it.
fn source(r: &NumRead, s: &NumSource, axes: &LoopAxes) -> LineSource {
    let c = match s {
        NumSource::Number(bytes) => return LineSource::Number(SmallVec::from_slice(bytes)),
        NumSource::Element(e) => {
            return LineSource::Element(LineElement {
                place: e.place,
                offset: LoopForm::of(&e.offset, axes),
                span: e.span,
            });
        }
        NumSource::Choice(c) => c,
    };
    let mut bounds: SmallVec<[LineBound; 2]> = SmallVec::new();
    for b in &c.bounds {
        let bound = LineBound {
            form: LoopForm::of(&b.form, axes),
            low: b.low,
            high: b.high,
            step: b.step,
        };
        let start = |s: usize| 0..r.starts[s].last + 1;
        let (least, most) = bound.form.interval(axes, &start);
        match bound.step == 1 || least == most {
            true if most < bound.low || bound.high <= least => {
                return source(r, &c.outside, axes);
            }
            true if bound.holds(least) && bound.holds(most) => {}
            _ => bounds.push(bound),
        }
    }
    if bounds.is_empty() {
        return source(r, &c.inside, axes);
    }
    LineSource::Choice(Box::new(LineChoice {
        bounds,
        inside: source(r, &c.inside, axes),
        outside: source(r, &c.outside, axes),
    }))
}

fn for_each_form(s: &mut LineSource, f: &mut dyn FnMut(&mut LoopForm)) {
    match s {
        LineSource::Number(_) => {}
        LineSource::Element(e) => f(&mut e.offset),
        LineSource::Choice(c) => {
            c.bounds.iter_mut().for_each(|b| f(&mut b.form));
            for_each_form(&mut c.inside, f);
            for_each_form(&mut c.outside, f);
        }
    }
}
