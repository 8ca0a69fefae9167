//! Phases of steps of code, recorded index by index: for reads that no instruction has, such as
//! those at a start of their own for each index, and choices that depend on a start.

use super::frame::FrameAddress;
use super::steps::{Placed, StepRecorder};
use crate::nests::affine::Var;
use crate::plan::axes::indices;
use crate::plan::build::{CodeStep, StepKind};
use crate::plan::code::{Code, ElementSlot, Finish};
use crate::plan::laid::{Base, LaidBox, LaidCode, LaidLeaf, LaidStep};
use crate::plan::reads::{NumBound, NumElement, NumForm, NumRead, NumSource, NumStart};
use cotangent_core::DType;
use cotangent_kernels::tile::StepValue;
use smallvec::SmallVec;

/// A number of a read: known, or computed by the step, with the largest that it can be.
#[derive(Clone, Copy)]
enum Number {
    Known(i64),
    Computed(StepValue, u32),
}

/// A linear form of numbers that the step computes: `Σ value * factor + offset`.
struct Form {
    terms: SmallVec<[(StepValue, u32, i64); 2]>,
    offset: i64,
}

impl Form {
    /// The form at an index of the space; `None` if a computed number is divided.
    fn at(form: &NumForm, index: &[i64], starts: &[Number]) -> Option<Form> {
        let mut out = Form {
            terms: SmallVec::new(),
            offset: form.offset,
        };
        for t in &form.terms {
            let known = |x: i64| x / t.divisor % t.modulus.unwrap_or(i64::MAX) * t.scale;
            match t.var {
                Var::Axis(k) => out.offset += known(index[k]),
                Var::Start(k) => match starts[k] {
                    Number::Known(x) => out.offset += known(x),
                    Number::Computed(x, last) if t.divisor == 1 && t.modulus.is_none() => {
                        out.terms.push((x, last, t.scale));
                    }
                    Number::Computed(..) => return None,
                },
            }
        }
        Some(out)
    }

    /// Lowest and highest value.
    fn interval(&self) -> (i64, i64) {
        let (mut low, mut high) = (self.offset, self.offset);
        for &(_, last, scale) in &self.terms {
            let most = i64::from(last) * scale;
            low += most.min(0);
            high += most.max(0);
        }
        (low, high)
    }
}

impl StepRecorder<'_> {
    /// Records a phase of a step of code.
    pub(super) fn phase(&mut self, p: Placed<'_>, [step, phase]: [usize; 2]) -> Option<()> {
        let StepKind::Code(CodeStep { phases, .. }) = &p.f.plan.parts.steps[step].kind else {
            return None;
        };
        let LaidStep::Code(laid) = &p.f.resolved.steps[step] else {
            return None;
        };
        let (phase, laid) = (&phases[phase], &laid.phases[phase]);
        let all = laid.rows.saturating_mul(laid.len.max(1));
        self.limited(all.saturating_mul(phase.code.body.steps().max(1)))?;
        let starts = self.starts_at(p, &laid.starts, &[])?;
        let mut values: Vec<Vec<Option<StepValue>>> = Vec::new();
        let outputs: usize = phase.code.members.iter().map(|m| m.outputs.len()).sum();
        values.resize(outputs, vec![None; all]);
        for b in &laid.boxes {
            let all = indices(&b.axes, phase.code.space.len());
            for (k, index) in all.iter().enumerate() {
                let mut inputs: SmallVec<[StepValue; 8]> = SmallVec::new();
                for leaf in 0..b.leaves.len() {
                    let read = self.leaf(p, (&phase.code, laid, b), leaf, (k, index), &starts);
                    inputs.push(read?);
                }
                let y = self.b.body(&phase.code.body, &inputs)?;
                let at = position(b, k);
                for (to, y) in values.iter_mut().zip(y) {
                    to[at] = Some(y);
                }
                self.bounded()?;
            }
        }
        let values: Vec<Vec<StepValue>> = values
            .into_iter()
            .map(|v| v.into_iter().collect::<Option<Vec<_>>>())
            .collect::<Option<_>>()?;
        let items = |output: usize, r: usize| folded_to(laid, &values[output], r);
        for (m, &place) in phase.code.members.iter().zip(&phase.places) {
            let y = FrameAddress {
                base: place,
                offset: 0,
            };
            let size = m.dtype.size();
            let ElementSlot {
                before,
                step,
                after,
            } = m.slot;
            match &m.finish {
                Finish::Store => {
                    for (i, &value) in values[m.output].iter().enumerate() {
                        let to = (before * laid.rows + i) * step + after;
                        self.write(p.element(y, to, size), size, value)?;
                    }
                }
                Finish::Fold(f) => {
                    for r in 0..laid.rows {
                        let value = match laid.len {
                            0 => self.b.constant(&f.empty),
                            _ => self.folded(f, &items(m.output, r))?,
                        };
                        self.write(p.element(y, r, size), size, value)?;
                    }
                }
                Finish::Product(product) => {
                    let mut nan = None;
                    for r in 0..laid.rows {
                        let [a, c] = [0, 1].map(|k| items(m.output + k, r));
                        let pairs = a.into_iter().zip(c);
                        let value = self.chain(product, m.dtype, pairs, &mut nan)?;
                        self.write(p.element(y, r, size), size, value)?;
                    }
                    if let Some(nan) = nan {
                        self.b.rare(nan);
                    }
                }
            }
            self.bounded()?;
        }
        Some(())
    }

    /// Starts of a read at an index.
    fn starts_at(
        &mut self,
        p: Placed<'_>,
        starts: &[NumStart],
        index: &[i64],
    ) -> Option<Vec<Number>> {
        let each = starts.iter().map(|s| {
            let last = u32::try_from(s.last).ok().filter(|&l| l < 1 << 31)?;
            if let NumSource::Number(bytes) = &s.read.source {
                return Some(Number::Known(whole(s.read.dtype, bytes).clamp(0, s.last)));
            }
            let x = self.number(p, &s.read, index)?;
            let dtype = s.read.dtype;
            let start = self.b.start(x, dtype.size(), dtype.is_signed(), last);
            Some(Number::Computed(start, last))
        });
        each.collect()
    }

    /// The value of a read at an index.
    fn number(&mut self, p: Placed<'_>, r: &NumRead, index: &[i64]) -> Option<StepValue> {
        let starts = self.starts_at(p, &r.starts, index)?;
        self.source(p, &r.source, r.dtype.size(), index, &starts)
    }

    fn source(
        &mut self,
        p: Placed<'_>,
        s: &NumSource,
        size: usize,
        index: &[i64],
        starts: &[Number],
    ) -> Option<StepValue> {
        match s {
            NumSource::Number(bytes) => Some(self.b.constant(bytes)),
            NumSource::Element(e) => self.number_at(p, e, size, index, starts),
            NumSource::Choice(c) => {
                let mut computed: SmallVec<[StepValue; 2]> = SmallVec::new();
                for b in &c.bounds {
                    match self.holds(b, index, starts)? {
                        Holds::Always => {}
                        Holds::Never => return self.source(p, &c.outside, size, index, starts),
                        Holds::Where(m) => computed.push(m),
                    }
                }
                let mut value = self.source(p, &c.inside, size, index, starts)?;
                if !computed.is_empty() {
                    let outside = self.source(p, &c.outside, size, index, starts)?;
                    for m in computed {
                        value = self.b.select(m, value, outside);
                    }
                }
                Some(value)
            }
        }
    }

    fn holds(&mut self, b: &NumBound, index: &[i64], starts: &[Number]) -> Option<Holds> {
        let form = Form::at(&b.form, index, starts)?;
        let (low, high) = form.interval();
        if form.terms.is_empty() {
            let x = form.offset;
            let holds = b.low <= x && x < b.high && (b.step == 1 || (x - b.low) % b.step == 0);
            return Some(if holds { Holds::Always } else { Holds::Never });
        }
        (b.step == 1).then_some(())?;
        if high < b.low || low >= b.high {
            return Some(Holds::Never);
        }
        let x = self.computed(&form, 1)?;
        let mut out = None;
        if low < b.low {
            let limit = self.b.constant(&(b.low - 1).to_le_bytes());
            out = Some(self.b.less(limit, x));
        }
        if high >= b.high {
            let limit = self.b.constant(&b.high.to_le_bytes());
            let below = self.b.less(x, limit);
            out = Some(out.map_or(below, |m| self.b.both(m, below)));
        }
        Some(out.map_or(Holds::Always, Holds::Where))
    }

    /// A form times a factor, as a lane of 8 bytes.
    fn computed(&mut self, form: &Form, factor: i64) -> Option<StepValue> {
        let mut sum = None;
        for &(x, _, scale) in &form.terms {
            sum = Some(self.b.moved(sum, x, i32::try_from(scale * factor).ok()?));
        }
        let offset = form.offset.checked_mul(factor)?;
        let constant = self.b.constant(&offset.to_le_bytes());
        Some(match sum {
            None => constant,
            Some(x) if offset == 0 => x,
            Some(x) => self.b.plus(x, constant),
        })
    }

    /// An element of a value.
    fn number_at(
        &mut self,
        p: Placed<'_>,
        e: &NumElement,
        size: usize,
        index: &[i64],
        starts: &[Number],
    ) -> Option<StepValue> {
        let form = Form::at(&e.offset, index, starts)?;
        let place = FrameAddress {
            base: e.place,
            offset: 0,
        };
        if form.terms.is_empty() {
            return self.operand(p, place, form.offset as isize, size);
        }
        let (low, high) = form.interval();
        let mut offset = self.computed(&form, size as i64)?;
        // Where a choice does not read the element, its offset may be outside of the value.
        if low < e.span.0 || high > e.span.1 {
            offset = self
                .b
                .clamped(offset, [e.span.0, e.span.1].map(|x| x * size as i64));
        }
        self.read_moved(p.at(place), offset, size)
    }

    /// An input of a phase at an index: the `k`-th of a box.
    fn leaf(
        &mut self,
        p: Placed<'_>,
        (code, laid, b): (&Code, &LaidCode, &LaidBox),
        leaf: usize,
        (k, index): (usize, &[i64]),
        starts: &[Number],
    ) -> Option<StepValue> {
        let size = code.leaves[leaf].dtype.size();
        let (base, offset, strides, dynamic) = match &b.leaves[leaf] {
            LaidLeaf::Packed(r) => return self.number(p, &r.read, index),
            LaidLeaf::Strided {
                base,
                offset,
                strides,
                dynamic,
            } => (base, offset, strides, dynamic),
        };
        let (mut at, mut left) = (*offset, k);
        for (a, &s) in b.axes.iter().zip(strides).rev() {
            at += (left % a.extent) as i64 * s as i64;
            left /= a.extent;
        }
        let place = match base {
            Base::Number(n) => return Some(self.b.constant(&laid.numbers[*n].0[..size])),
            Base::Halo(_) => unreachable!("the boxes of a space read places"),
            Base::Line(n) => {
                let line = &laid.lines[*n];
                let all = line.numel() as i64;
                (line.is_row_major() && (0..all).contains(&at)).then_some(())?;
                // SAFETY: the element is one of the dense line.
                let bytes = unsafe {
                    std::slice::from_raw_parts(
                        line.first_ptr().offset(at as isize * size as isize),
                        size,
                    )
                };
                return Some(self.b.constant(bytes));
            }
            Base::Place(place) => FrameAddress {
                base: *place,
                offset: 0,
            },
        };
        let mut moved = None;
        for &(s, scale) in dynamic {
            match starts[s] {
                Number::Known(x) => at += x * scale,
                Number::Computed(x, _) => {
                    let bytes = i32::try_from(scale * size as i64).ok()?;
                    moved = Some(self.b.moved(moved, x, bytes));
                }
            }
        }
        match moved {
            None => self.operand(p, place, at as isize, size),
            Some(moved) => {
                let mut from = p.at(place);
                from.offset += at as isize * size as isize;
                self.read_moved(from, moved, size)
            }
        }
    }
}

/// Whether a bound holds.
enum Holds {
    Always,
    Never,
    Where(StepValue),
}

/// The position of the `k`-th index of a box in row-major order of the space.
fn position(b: &LaidBox, k: usize) -> usize {
    let (mut at, mut rest) = (b.first + k % b.block, k / b.block);
    for &(count, step) in &b.outer {
        at += rest % count * step;
        rest /= count;
    }
    at
}

/// The values of an output that are folded to a result.
fn folded_to(laid: &LaidCode, values: &[StepValue], result: usize) -> Vec<StepValue> {
    let (first, step) = match laid.columns {
        true => (result, laid.rows),
        false => (result * laid.len, 1),
    };
    let own = values[first..].iter().step_by(step);
    own.take(laid.len).copied().collect()
}

/// The integer of these bytes.
fn whole(dtype: DType, bytes: &[u8]) -> i64 {
    let mut all = [if dtype.is_signed() && bytes[bytes.len() - 1] >> 7 == 1 {
        0xff
    } else {
        0
    }; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(all).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
