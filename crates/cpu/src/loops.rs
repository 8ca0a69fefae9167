//! `scan` and `while`: a body that runs many times.
//!
//! Bodies are compiled once and keep their slots from step to step; extents are bound again only if
//! an operand changes its shape. A carry that dies in the body is written over there. What steps
//! return is copied into one buffer: of the right size where the number of steps is known, else one
//! that doubles. A scan of elementwise steps is one loop of machine code
//! ([`recurrence`](crate::recurrence)). Another over a few elements ([`tiny`](crate::tiny)) runs
//! without a tensor per step: its results are written where they go.

use crate::element::{for_size, limit};
use crate::executor::Compiler;
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::program::{BodyRun, Program};
use crate::recurrence::Loop;
use crate::tensor::{Extents, Fresh, Tensor, volume};
use crate::tiny::{Form, Tiny};
use cotangent_core::ops::{Scan, While};
use cotangent_core::{DType, Env, Result, Shape, bail};
use cotangent_kernels::Fallible;
use cotangent_kernels::copy::copy_into;
use smallvec::smallvec;

/// Results of steps along a new first axis.
struct StackedResults<'a> {
    /// All elements so far, of rank 1, and room for more.
    data: Tensor,
    /// The shape of one result, once it is known.
    row: Option<Extents>,
    /// The shape that it has if there are no steps.
    shape: &'a Sizes,
    /// The number of steps, if it is known.
    steps: Option<usize>,
}

/// The shape of `n` rows.
pub(crate) fn shape_of(n: usize, row: &[usize]) -> Extents {
    std::iter::once(n).chain(row.iter().copied()).collect()
}

/// Writes all elements of `x` from position `at` on.
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

    /// Keeps the result of step `i`.
    fn put(&mut self, i: usize, y: &Tensor) -> Result<()> {
        let row = self.row.get_or_insert_with(|| y.shape().into());
        if row.as_slice() != y.shape() {
            bail!(
                ShapeMismatch,
                "steps of a loop gave {} and an array of shape {row:?}",
                y.ty()
            );
        }
        let end = volume(&shape_of(i + 1, row))?;
        self.grow(end)?;
        write(&mut self.data, i * y.numel(), y);
        Ok(())
    }

    /// Room for so many elements.
    fn grow(&mut self, end: usize) -> Result<()> {
        if end > self.data.numel() {
            let room = match (self.steps, &self.row) {
                (Some(n), Some(row)) => volume(&shape_of(n, row))?,
                _ => end.max(2 * self.data.numel()),
            };
            let data = Tensor::zeros(self.data.dtype(), smallvec![room])?;
            let old = std::mem::replace(&mut self.data, data);
            write(&mut self.data, 0, &old);
        }
        Ok(())
    }

    /// Where the result of step `i` goes, which has this form.
    fn place(&mut self, i: usize, form: &Form) -> Result<*mut u8> {
        self.row.get_or_insert_with(|| form.shape.clone());
        self.grow((i + 1) * form.n)?;
        let data = self.data.exclusive_ptr().expect("a stack is not shared");
        Ok(data.wrapping_add(i * form.bytes()))
    }

    /// All `n` of them.
    fn finish(self, n: usize, env: &Env) -> Result<Tensor> {
        let row = match self.row {
            Some(row) => row,
            None => self.shape.at(env)?,
        };
        let shape = shape_of(n, &row);
        self.data.slice(0, 0, volume(&shape)?, 1).reshape(&shape)
    }
}

/// What the results of a body are that are stacked.
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

/// Takes the results of step `i` apart: carries, which are returned, and what is stacked.
fn stack_results(stacks: &mut [StackedResults<'_>], i: usize, mut y: Results) -> Result<Results> {
    let carry = y.len() - stacks.len();
    for (stack, y) in stacks.iter_mut().zip(y.drain(carry..)) {
        stack.put(i, &y)?;
    }
    Ok(y)
}

/// A loop over the first axis of its inputs.
pub(crate) fn scan(cx: &Compiler<'_>, s: &Scan) -> Result<Kernel> {
    let body = cx.looped(&s.body, s.consts)?;
    let (consts, carries, reverse) = (s.consts, s.carry, s.reverse);
    let length = Sizes::of(&Shape::from(vec![s.length.clone()]));
    let rows = rows(&body, carries);
    let elements = if cx.executor.is_stepwise() {
        None
    } else {
        Loop::of(s)
    };
    Ok(Box::new(move |env, mut x: Operands| {
        let n = length.at(env)?[0];
        if let Some(elements) = elements.as_ref().filter(|e| e.takes(n, &x)) {
            return elements.run(n, reverse, x);
        }
        if let Some(tiny) = body.tiny().filter(|tiny| {
            n > 0
                && fits(
                    tiny.inputs(),
                    tiny.outputs(),
                    n,
                    [consts, consts + carries],
                    &x,
                )
        }) {
            return scan_tiny(tiny, n, reverse, [consts, consts + carries], x);
        }
        let xs: Operands = x.drain(consts + carries..).collect();
        let mut carry: Results = x.drain(consts..).collect();
        let (mut running, mut stacks) = (BodyRun::new(&body), stacks(&rows, Some(n))?);
        for step in 0..n {
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

/// Whether a body takes constants, carries and `n` rows of each stack, and gives the carries back.
pub(crate) fn fits(
    inputs: &[Form],
    outputs: &[Form],
    n: usize,
    [consts, stacks]: [usize; 2],
    x: &[Tensor],
) -> bool {
    let fits = |(i, (form, x)): (usize, (&Form, &Tensor))| {
        let row = if i < stacks {
            Some(x.shape())
        } else {
            x.shape().strip_prefix(&[n])
        };
        form.dtype == x.dtype() && row == Some(&form.shape)
    };
    let same = |(a, b): (&Form, &Form)| a.dtype == b.dtype && a.shape == b.shape;
    inputs.len() == x.len()
        && inputs.iter().zip(x).enumerate().all(fits)
        && inputs[consts..stacks].iter().zip(outputs).all(same)
}

/// A loop over few elements: a step is told where its operands and results lie, and nothing else.
/// Carries live in two buffers; a step reads one and writes the other. `x` is what the body takes,
/// rows in place of each stack's first axis.
fn scan_tiny(
    tiny: &Tiny,
    n: usize,
    reverse: bool,
    [consts, stacks]: [usize; 2],
    x: Operands,
) -> Result<Results> {
    let carries = stacks - consts;
    let x = x
        .into_iter()
        .map(Tensor::into_packed)
        .collect::<Result<Operands>>()?;
    let (inputs, outputs) = (tiny.inputs(), tiny.outputs());
    let buffers = || {
        outputs[..carries]
            .iter()
            .map(|y| Fresh::new(y.dtype, y.n))
            .collect::<Result<Vec<_>>>()
    };
    let (mut old, mut new) = (buffers()?, buffers()?);
    let stacked = |y: &Form| Fresh::new(y.dtype, volume(&shape_of(n, &y.shape))?);
    let made: Vec<Fresh> = outputs[carries..]
        .iter()
        .map(stacked)
        .collect::<Result<_>>()?;
    let first: Vec<*const u8> = x.iter().map(Tensor::first_ptr).collect();
    let (mut from, sizes) = (
        first.clone(),
        inputs.iter().map(Form::bytes).collect::<Vec<_>>(),
    );
    let done: Fallible = tiny.with_memory(|memory| {
        for step in 0..n {
            let i = if reverse { n - 1 - step } else { step };
            for k in stacks..first.len() {
                from[k] = first[k].wrapping_add(i * sizes[k]);
            }
            let rows = made
                .iter()
                .zip(&outputs[carries..])
                .map(|(y, form)| y.ptr().wrapping_add(i * form.bytes()));
            let to = new.iter().map(Fresh::ptr).chain(rows);
            // SAFETY: operands have the types that the body takes, stacks `n` rows of them, and lie
            // packed; the carries of the last step are of the types of its results. Buffers for
            // results have room for them, `made` for `n` rows. Nobody else has the memory between
            // steps.
            unsafe {
                match step {
                    0 => tiny.execute(memory, from.iter().copied(), to)?,
                    _ => tiny.execute_again(memory, from.iter().copied(), to)?,
                }
            }
            std::mem::swap(&mut old, &mut new);
            from[consts..stacks]
                .iter_mut()
                .zip(&old)
                .for_each(|(from, carry)| *from = carry.ptr());
        }
        Ok(())
    });
    done.map_err(limit)?;
    // SAFETY: there was a step, so every carry was written, and every row of what was stacked.
    unsafe {
        let carry = old
            .into_iter()
            .zip(outputs)
            .map(|(y, form)| y.into_tensor(&form.shape));
        let stack = made.into_iter().zip(&outputs[carries..]);
        Ok(carry
            .chain(stack.map(|(y, form)| y.into_tensor(&shape_of(n, &form.shape))))
            .collect())
    }
}

/// A loop while a condition holds.
pub(crate) fn while_loop(cx: &Compiler<'_>, w: &While) -> Result<Kernel> {
    let (cond, body) = (cx.looped(&w.cond, 0)?, cx.looped(&w.body, 0)?);
    let (of_cond, of_body, saves) = (w.cond_consts, w.body_consts, w.saves.is_some());
    let rows = rows(&body, w.carry());
    Ok(Box::new(move |env, mut x: Operands| {
        if let (Some(test), Some(step)) = (cond.tiny(), body.tiny())
            && test.takes(x[..of_cond].iter().chain(&x[of_cond + of_body..]))
            && fits(
                step.inputs(),
                step.outputs(),
                0,
                [of_body, step.inputs().len()],
                &x[of_cond..],
            )
        {
            return while_tiny(
                [test, step],
                [of_cond, of_body],
                stacks(&rows, None)?,
                saves,
                x,
            );
        }
        let mut carry: Results = x.drain(of_cond + of_body..).collect();
        let (mut test, mut running) = (BodyRun::new(&cond), BodyRun::new(&body));
        let (mut stacks, mut steps) = (stacks(&rows, None)?, 0);
        loop {
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
            carry.push(Tensor::build::<bool, _>(smallvec![steps], |dst| {
                dst.fill(true)
            })?);
        }
        Ok(carry)
    }))
}

/// A loop over few elements while a condition over few holds: as [`scan_tiny`], with stacks that
/// grow.
fn while_tiny(
    [test, step]: [&Tiny; 2],
    [of_cond, of_body]: [usize; 2],
    mut stacks: Vec<StackedResults<'_>>,
    saves: bool,
    x: Operands,
) -> Result<Results> {
    let x = x
        .into_iter()
        .map(Tensor::into_packed)
        .collect::<Result<Operands>>()?;
    let outputs = step.outputs();
    let carries = outputs.len() - stacks.len();
    let buffers = || {
        outputs[..carries]
            .iter()
            .map(|y| Fresh::new(y.dtype, y.n))
            .collect::<Result<Vec<_>>>()
    };
    let (mut old, mut new) = (buffers()?, buffers()?);
    let first: Vec<*const u8> = x.iter().map(Tensor::first_ptr).collect();
    let mut asked = [&first[..of_cond], &first[of_cond + of_body..]].concat();
    let mut from = first[of_cond..].to_vec();
    let (mut steps, mut holds, mut rows) = (0, false, Vec::with_capacity(stacks.len()));
    loop {
        // SAFETY: operands have the types that the condition takes, carries those of its results,
        // and lie packed; the condition is one truth value.
        let done = test.with_memory(|memory| unsafe {
            test.execute(
                memory,
                asked.iter().copied(),
                [(&raw mut holds).cast::<u8>()],
            )
        });
        done.map_err(limit)?;
        if !holds {
            break;
        }
        rows.clear();
        for (stack, form) in stacks.iter_mut().zip(&outputs[carries..]) {
            rows.push(stack.place(steps, form)?);
        }
        let to = new.iter().map(Fresh::ptr).chain(rows.iter().copied());
        // SAFETY: as above, of the body; buffers for results have room for them.
        let done =
            step.with_memory(|memory| unsafe { step.execute(memory, from.iter().copied(), to) });
        done.map_err(limit)?;
        std::mem::swap(&mut old, &mut new);
        for (k, carry) in old.iter().enumerate() {
            from[of_body + k] = carry.ptr();
            asked[of_cond + k] = carry.ptr();
        }
        steps += 1;
    }
    let made = old.into_iter().zip(outputs);
    let mut y: Results = match steps {
        0 => x[of_cond + of_body..].iter().cloned().collect(),
        // SAFETY: there was a step, so every carry was written.
        _ => made
            .map(|(y, form)| unsafe { y.into_tensor(&form.shape) })
            .collect(),
    };
    for stack in stacks {
        y.push(stack.finish(steps, &Env::default())?);
    }
    if saves {
        y.push(Tensor::build::<bool, _>(smallvec![steps], |dst| {
            dst.fill(true)
        })?);
    }
    Ok(y)
}
