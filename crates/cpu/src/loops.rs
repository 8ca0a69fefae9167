//! Kernels of `scan` and `while`.
//!
//! Bodies are compiled once and keep their slots from step to step. Extents are bound again only if
//! an operand changes its shape. A carry whose last use is in the body may be overwritten there.
//! Stacked results are copied into one buffer, allocated at its final size if the number of steps
//! is known, and grown by doubling otherwise.

use crate::axes::rows_of;
use crate::compiler::Compiler;
use crate::element::for_size;
use crate::interrupt::{Pulse, interrupted};
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::plan::nested::RoomFn;
use crate::program::{BodyRun, Program};
use crate::tensor::{Extents, Tensor, copied, volume};
use cotangent_core::ops::{Scan, While};
use cotangent_core::{DType, Dim, Env, Result, Shape, bail};
use cotangent_kernels::copy::copy_into;
use smallvec::smallvec;

/// Estimated work of a step that creates tensors, in elementary operations.
const STEP_WORK: usize = 1024;

/// Results of steps, stacked along a new first axis.
struct StackedResults<'a> {
    /// Elements stacked so far, as a rank-1 tensor with spare capacity.
    data: Tensor,
    /// Shape of one result; set by the first step.
    row: Option<Extents>,
    /// Shape of one result, used if there are no steps.
    shape: &'a Sizes,
    /// Number of steps, if known in advance.
    steps: Option<usize>,
}

/// Writes all elements of `x`, starting at position `at`.
fn write(data: &mut Tensor, at: usize, x: &Tensor) {
    for_size!(x.dtype(), W => {
        let data = data.exclusive_bits::<W>().expect("a stack is not shared");
        copy_into(&mut data[at..][..x.numel()], x.bits());
    });
}

impl<'a> StackedResults<'a> {
    fn new(dtype: DType, shape: &'a Sizes, steps: Option<usize>) -> Result<StackedResults<'a>> {
        Ok(StackedResults {
            data: Tensor::zeros(dtype, smallvec![0])?,
            row: None,
            shape,
            steps,
        })
    }

    /// Stores the result of step `i`.
    fn put(&mut self, i: usize, y: &Tensor) -> Result<()> {
        let row = self.row.get_or_insert_with(|| copied(y.shape()));
        if row.as_slice() != y.shape() {
            bail!(
                ShapeMismatch,
                "steps of a loop gave {} and an array of shape {row:?}",
                y.ty()
            );
        }
        let end = volume(&rows_of(i + 1, row))?;
        self.grow(end)?;
        write(&mut self.data, i * y.numel(), y);
        Ok(())
    }

    /// Grows the buffer to hold at least `end` elements.
    fn grow(&mut self, end: usize) -> Result<()> {
        if end > self.data.numel() {
            let room = match (self.steps, &self.row) {
                (Some(n), Some(row)) => volume(&rows_of(n, row))?,
                _ => end.max(2 * self.data.numel()),
            };
            let data = Tensor::zeros(self.data.dtype(), smallvec![room])?;
            let old = std::mem::replace(&mut self.data, data);
            write(&mut self.data, 0, &old);
        }
        Ok(())
    }

    /// Address for the result of step `i`, which has this shape and number of bytes, and the number
    /// of further results, that one included, for which the buffer has room.
    fn room(&mut self, i: usize, shape: &Extents, bytes: usize) -> Result<(*mut u8, usize)> {
        const MIN_ROWS: usize = 32;
        let row = self.row.get_or_insert_with(|| shape.clone());
        let n = volume(row)?;
        if n == 0 {
            return Ok((self.address_of(0), usize::MAX));
        }
        if (i + 1) * n > self.data.numel() {
            self.grow((i + 1).max(MIN_ROWS) * n)?;
        }
        Ok((self.address_of(i * bytes), self.data.numel() / n - i))
    }

    fn address_of(&mut self, offset: usize) -> *mut u8 {
        let data = self.data.exclusive_ptr().expect("a stack is not shared");
        data.wrapping_add(offset)
    }

    /// The results of all `n` steps as one tensor.
    fn finish(self, n: usize, env: &Env) -> Result<Tensor> {
        let row = match self.row {
            Some(row) => row,
            None => self.shape.at(env)?,
        };
        let shape = rows_of(n, &row);
        self.data.slice(0, 0, volume(&shape)?, 1).reshape(&shape)
    }
}

/// Types and shapes of the results of a body that are stacked.
fn rows(body: &Program, carry: usize) -> Vec<(DType, Sizes)> {
    let types = body.function().result_types().split_off(carry);
    types
        .iter()
        .map(|t| (t.dtype, Sizes::of(&t.shape)))
        .collect()
}

fn stacks(rows: &[(DType, Sizes)], steps: Option<usize>) -> Result<Vec<StackedResults<'_>>> {
    rows.iter()
        .map(|(dtype, shape)| StackedResults::new(*dtype, shape, steps))
        .collect()
}

/// Splits the results of step `i`: stacks the last ones and returns the carries.
fn stack_results(stacks: &mut [StackedResults<'_>], i: usize, mut y: Results) -> Result<Results> {
    let carry = y.len() - stacks.len();
    for (stack, y) in stacks.iter_mut().zip(y.drain(carry..)) {
        stack.put(i, &y)?;
    }
    Ok(y)
}

/// Kernel of a scan: a loop over the first axis of its inputs.
pub(crate) fn scan(cx: &Compiler<'_>, s: &Scan) -> Result<Kernel> {
    let body = cx.body(&s.body)?;
    let (consts, carries, reverse) = (s.consts, s.carry, s.reverse);
    let length = Sizes::of(&Shape::from(vec![s.length.clone()]));
    let rows = rows(&body, carries);
    Ok(Box::new(move |env, mut x: Operands| {
        let n = length.at(env)?[0];
        let xs: Operands = x.drain(consts + carries..).collect();
        let mut carry: Results = x.drain(consts..).collect();
        let (mut running, mut stacks) = (BodyRun::new(&body), stacks(&rows, Some(n))?);
        let mut pulse = Pulse::new(STEP_WORK);
        for step in 0..n {
            if pulse.is_interrupted() {
                return Err(interrupted());
            }
            let i = if reverse { n - 1 - step } else { step };
            let inputs = x
                .iter()
                .cloned()
                .chain(carry.drain(..))
                .chain(xs.iter().map(|x| x.row(i)))
                .collect();
            carry = stack_results(&mut stacks, i, running.step(inputs, env)?)?;
        }
        for stack in stacks {
            carry.push(stack.finish(n, env)?);
        }
        Ok(carry)
    }))
}

/// Kernel of a `while` loop.
pub(crate) fn while_loop(cx: &Compiler<'_>, w: &While) -> Result<Kernel> {
    let (cond, body) = (cx.body(&w.cond)?, cx.body(&w.body)?);
    let (of_cond, of_body, saves) = (w.cond_consts, w.body_consts, w.saves.is_some());
    let rows = rows(&body, w.carry());
    Ok(Box::new(move |env, mut x: Operands| {
        let mut carry: Results = x.drain(of_cond + of_body..).collect();
        let (mut test, mut running) = (BodyRun::new(&cond), BodyRun::new(&body));
        let (mut stacks, mut steps) = (stacks(&rows, None)?, 0);
        let mut pulse = Pulse::new(STEP_WORK);
        loop {
            if pulse.is_interrupted() {
                return Err(interrupted());
            }
            let inputs = x[..of_cond].iter().chain(&carry).cloned().collect();
            if test.step(inputs, env)?[0].as_slice() != Some(&[true]) {
                break;
            }
            let inputs = x[of_cond..]
                .iter()
                .cloned()
                .chain(carry.drain(..))
                .collect();
            carry = stack_results(&mut stacks, steps, running.step(inputs, env)?)?;
            steps += 1;
        }
        for stack in stacks {
            carry.push(stack.finish(steps, env)?);
        }
        if saves {
            carry.push(flags(steps)?);
        }
        Ok(carry)
    }))
}

/// The stacked results of a `while`, and whether it had each step, from a function that runs it
/// with the room of the stacks.
pub(crate) fn stacked(
    rows: &[(DType, Extents)],
    run: impl FnOnce(&mut RoomFn<'_>) -> Result<usize>,
) -> Result<Results> {
    let types = rows.iter().map(|(dtype, shape)| {
        let shape = Shape::from(shape.iter().copied().map(Dim::from).collect::<Vec<_>>());
        (*dtype, Sizes::of(&shape))
    });
    let types: Vec<(DType, Sizes)> = types.collect();
    let mut stacks = stacks(&types, None)?;
    let steps = run(&mut |done, addresses| {
        let mut all = usize::MAX;
        for ((stack, (dtype, shape)), to) in stacks.iter_mut().zip(rows).zip(addresses) {
            let room;
            (*to, room) = stack.room(done, shape, volume(shape)? * dtype.size())?;
            all = all.min(room);
        }
        Ok(all)
    })?;
    let mut y = Results::new();
    for stack in stacks {
        y.push(stack.finish(steps, &Env::default())?);
    }
    y.push(flags(steps)?);
    Ok(y)
}

/// Whether a `while` had each of its steps.
fn flags(steps: usize) -> Result<Tensor> {
    Tensor::build::<bool, _>(smallvec![steps], |dst| dst.fill(true))
}
