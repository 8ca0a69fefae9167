//! [`ElementLoop`]: a scan whose steps compute each element from elements at the same index.
//!
//! The plan of its body is one box of code that reads carries and rows at the index of the element
//! that it computes. Each element has a loop of its own then: one call of machine code runs all
//! steps for some vectors of elements before the next ones ([`VectorLoop`]). The instructions are
//! those of the box, so the bits are those of the steps.

use super::frame::InPlaceForm;
use super::in_place::InPlace;
use super::views::is_dense;
use crate::interrupt::{interrupted, is_active, is_interrupted};
use crate::plan::arena::{Arena, padded};
use crate::plan::build::{CodeStep, Home, StepKind};
use crate::plan::code::{CodeMember, ElementSlot, Finish};
use crate::plan::laid::{Base, LaidBox, LaidCode, LaidLeaf, LaidStep};
use cotangent_core::Result;
use cotangent_kernels::tile::{Builder, Value, VectorLoop};
use std::sync::Arc;

/// Elements times steps of a part of a loop after which the hook of the run may be asked: about a
/// millisecond.
const PART_ELEMENT_STEPS: usize = 1 << 18;
/// Minimum number of steps of a part: each part reads all elements again.
const MIN_PART_STEPS: usize = 16;

/// The first element of an input that is the same in all steps.
#[derive(Clone, Copy, PartialEq)]
enum FixedBase {
    Place(u32),
    /// The numbers 0, 1, 2, .. along an axis.
    Line(usize),
}

/// An input that is the same in all steps.
#[derive(Clone, Copy, PartialEq)]
struct Fixed {
    base: FixedBase,
    /// In bytes.
    offset: isize,
    /// Whether all indices have one element.
    is_number: bool,
    /// Size of an element, in bytes.
    size: usize,
}

/// An input of the box, or a result of the body.
enum LoopValue {
    Fixed(Fixed),
    Carry(usize),
    /// The operand whose rows it reads.
    Row(usize),
    Number([u8; 16], usize),
    /// An output of the box.
    Output(usize),
}

/// The code of a scan for each vector of elements.
pub(super) struct ElementLoop {
    body: Arc<InPlace>,
    code: VectorLoop,
    /// Inputs of the code before the carries, and the operands that are rows.
    fixed: Vec<Fixed>,
    rows: Vec<usize>,
    consts: usize,
    carry: usize,
    /// Number of elements of each value.
    n: usize,
}

/// The one phase of a body, at its extents.
fn phase_of(f: &InPlace) -> Option<(&CodeStep, &LaidCode)> {
    let ([step], [laid]) = (&f.plan.parts.steps[..], &f.resolved.steps[..]) else {
        return None;
    };
    match (&step.kind, laid) {
        (StepKind::Code(c), LaidStep::Code(laid)) if c.phases.len() == 1 => {
            Some((c, &laid.phases[0]))
        }
        _ => None,
    }
}

/// The box that is all of a phase, if the phase stores every value at the index of its elements.
fn box_of<'a>(c: &CodeStep, laid: &'a LaidCode) -> Option<&'a LaidBox> {
    let code = &c.phases[0].code;
    let in_order =
        |m: &CodeMember| matches!(m.finish, Finish::Store) && m.slot == ElementSlot::ROW_MAJOR;
    let fits = code.rank == code.space.len()
        && code.members.iter().all(in_order)
        && laid.starts.is_empty()
        && laid.by_copies.is_none();
    match &laid.boxes[..] {
        [b] if fits && b.volume == laid.rows => Some(b),
        _ => None,
    }
}

impl ElementLoop {
    /// The loop of a scan with this body; `None` if there is no such code.
    pub(super) fn of(body: &Arc<InPlace>, [consts, carry]: [usize; 2]) -> Option<ElementLoop> {
        let (c, laid) = phase_of(body)?;
        let (b, phase, n) = (box_of(c, laid)?, &c.phases[0], laid.rows);
        (n > 0).then_some(())?;
        let mut inputs = Vec::new();
        for k in b.inputs() {
            let size = phase.code.leaves[k].dtype.size();
            inputs.push(input(body, [consts, carry], (laid, b), &b.leaves[k], size)?);
        }
        let whole = |f: &InPlaceForm| f.bytes == n * f.dtype.size();
        let carries = &body.inputs[consts..consts + carry];
        (carries.iter().chain(&body.outputs).all(whole)).then_some(())?;
        let mut results = Vec::new();
        for (v, view) in body.plan.parts.results.iter().zip(&body.resolved.results) {
            if let Some((offset, shape, strides)) = view {
                (*offset == 0 && is_dense(shape, strides)).then_some(())?;
            }
            results.push(match phase.places.iter().position(|&p| p == v.place) {
                Some(k) => LoopValue::Output(phase.code.members[k].output),
                None => of_place(body, [consts, carry], v.place, v.ty.dtype.size())?,
            });
        }
        // The inputs of the code: values of all steps, carries, rows.
        let (mut fixed, mut rows) = (Vec::new(), Vec::new());
        for x in inputs.iter().chain(&results) {
            match x {
                LoopValue::Fixed(f) if !fixed.contains(f) => fixed.push(*f),
                LoopValue::Row(k) if !rows.contains(k) => rows.push(*k),
                _ => {}
            }
        }
        let mut builder = Builder::new();
        let of_rows = rows.iter().map(|&k: &usize| body.inputs[k].dtype.size());
        let sizes = carries.iter().map(|f| f.dtype.size());
        let sizes = fixed.iter().map(|f| f.size).chain(sizes).chain(of_rows);
        let own: Vec<Value> = sizes.map(|size| builder.input(size)).collect();
        let value = |builder: &mut Builder, outputs: &[Value], x: &LoopValue| {
            let position = match x {
                LoopValue::Output(k) => return outputs[*k],
                LoopValue::Number(bytes, size) => return builder.constant(&bytes[..*size]),
                LoopValue::Fixed(f) => fixed.iter().position(|g| g == f),
                LoopValue::Carry(k) => Some(fixed.len() + k),
                LoopValue::Row(k) => {
                    let at = rows.iter().position(|r| r == k);
                    at.map(|at| fixed.len() + carry + at)
                }
            };
            own[position.expect("an input of the code")]
        };
        let of_box = inputs.iter().map(|x| value(&mut builder, &[], x));
        let of_box: Vec<Value> = of_box.collect();
        let code = b.decided.as_ref().map_or(&phase.code.body, |d| &d.body);
        let outputs = builder.append(code, &of_box);
        let results = results.iter().map(|x| value(&mut builder, &outputs, x));
        let results: Vec<Value> = results.collect();
        let code = VectorLoop::new(builder.finish(&results), fixed.len(), carry);
        code.is_ready(n).then(|| ElementLoop {
            body: body.clone(),
            code,
            fixed,
            rows,
            consts,
            carry,
            n,
        })
    }

    /// Number of elements.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// Bytes that a run takes besides its operands and results.
    pub(super) fn memory(&self) -> usize {
        let numbers = self.fixed.iter().filter(|f| f.is_number);
        numbers.map(|f| padded(self.n * f.size)).sum()
    }

    /// Runs all steps.
    ///
    /// # Safety
    /// The preconditions of [`NestedRun::run`](crate::plan::nested::NestedRun::run), for a scan of
    /// this body.
    pub(super) unsafe fn run(
        &self,
        steps: usize,
        reverse: bool,
        x: &[*const u8],
        y: &[*mut u8],
    ) -> Result<()> {
        let memory = Arena::new(self.memory())?;
        // SAFETY: the caller guarantees the operands, of which constants are some (# Safety).
        let mut from = unsafe { self.fixed_inputs(x, memory.ptr()) };
        from.extend_from_slice(&x[self.consts..self.consts + self.carry]);
        let stacks = from.len();
        from.extend(self.rows.iter().map(|&k| x[k]));
        let mut to = y.to_vec();
        // Bytes of a row of each input and of each result.
        let inputs = self.rows.iter().map(|&k| self.body.inputs[k].bytes);
        let inputs: Vec<usize> = inputs.collect();
        let outputs = self.body.outputs[self.carry..].iter().map(|f| f.bytes);
        let outputs: Vec<usize> = outputs.collect();
        let part = match is_active() {
            true => (PART_ELEMENT_STEPS / self.n).max(MIN_PART_STEPS),
            false => steps,
        };
        let mut done = 0;
        while done < steps {
            let now = part.min(steps - done);
            // The first row in memory of the steps of this part.
            let row = if reverse { steps - done - now } else { done };
            for (k, bytes) in inputs.iter().enumerate() {
                from[stacks + k] = x[self.rows[k]].wrapping_add(row * bytes);
            }
            for (k, bytes) in outputs.iter().enumerate() {
                to[self.carry + k] = y[self.carry + k].wrapping_add(row * bytes);
            }
            // SAFETY: operands and results are valid for all steps (# Safety), of which these are
            // `now`. After the first part, carries are read where the last part wrote them.
            unsafe { self.code.run(self.n, now, reverse, &from, &to) };
            done += now;
            for k in 0..self.carry {
                from[stacks - self.carry + k] = to[k].cast_const();
            }
            if done < steps && is_interrupted() {
                return Err(interrupted());
            }
        }
        Ok(())
    }

    /// Addresses of the inputs that are the same in all steps. Numbers are repeated in `memory`.
    ///
    /// # Safety
    /// `x` has the operands, and `memory` the bytes of [`ElementLoop::memory`].
    unsafe fn fixed_inputs(&self, x: &[*const u8], memory: *mut u8) -> Vec<*const u8> {
        let mut used = 0;
        let mut at = |f: &Fixed| {
            let first = match f.base {
                FixedBase::Place(p) => match &self.body.plan.parts.places[p as usize].home {
                    Home::Constant(t) => t.first_ptr(),
                    _ => x[p as usize],
                },
                FixedBase::Line(k) => {
                    let (_, laid) = phase_of(&self.body).expect("one phase");
                    laid.lines[k].first_ptr()
                }
            };
            let first = first.wrapping_offset(f.offset);
            if !f.is_number {
                return first;
            }
            let to = memory.wrapping_add(used);
            used += padded(self.n * f.size);
            for i in 0..self.n {
                let to = to.wrapping_add(i * f.size);
                // SAFETY: the caller guarantees the operand and the memory (# Safety).
                unsafe { to.copy_from_nonoverlapping(first, f.size) };
            }
            to.cast_const()
        };
        self.fixed.iter().map(&mut at).collect()
    }
}

/// The value that a box reads, if carries and rows are read at the index of each element.
fn input(
    f: &InPlace,
    counts: [usize; 2],
    (laid, b): (&LaidCode, &LaidBox),
    leaf: &LaidLeaf,
    size: usize,
) -> Option<LoopValue> {
    let LaidLeaf::Strided {
        base,
        offset,
        strides,
        dynamic,
    } = leaf
    else {
        return None;
    };
    dynamic.is_empty().then_some(())?;
    let is_dense = is_dense(&b.extents, strides);
    let is_number = !is_dense && strides.iter().all(|&s| s == 0);
    (is_dense || is_number).then_some(())?;
    let fixed = |base| {
        LoopValue::Fixed(Fixed {
            base,
            offset: *offset as isize * size as isize,
            is_number,
            size,
        })
    };
    Some(match *base {
        Base::Number(k) => LoopValue::Number(laid.numbers[k].0, size),
        Base::Line(k) => {
            laid.lines[k].is_row_major().then_some(())?;
            fixed(FixedBase::Line(k))
        }
        Base::Halo(_) => unreachable!("the boxes of a space read places"),
        Base::Place(p) => match of_place(f, counts, p, size)? {
            LoopValue::Fixed(_) => fixed(FixedBase::Place(p)),
            own => (is_dense && *offset == 0).then_some(own)?,
        },
    })
}

/// All elements of an operand or of a constant; `None` for rows with other elements than the box
/// has, and for values of the step.
fn of_place(
    f: &InPlace,
    [consts, carry]: [usize; 2],
    place: u32,
    size: usize,
) -> Option<LoopValue> {
    let k = place as usize;
    let fixed = || {
        LoopValue::Fixed(Fixed {
            base: FixedBase::Place(place),
            offset: 0,
            is_number: false,
            size,
        })
    };
    match f.plan.parts.places[k].home {
        Home::Constant(_) => Some(fixed()),
        Home::Argument if k < consts => Some(fixed()),
        Home::Argument if k < consts + carry => Some(LoopValue::Carry(k - consts)),
        Home::Argument => {
            let rows = phase_of(f)?.1.rows;
            (f.inputs[k].bytes == rows * size).then_some(LoopValue::Row(k))
        }
        Home::Tensor | Home::Arena | Home::Block => None,
    }
}
