//! `scan` and `while`: a body that runs many times.
//!
//! Bodies are compiled once and keep their slots from step to step; extents are bound again only if an operand changes
//! its shape. A carry that dies in the body is written over there. What steps return is copied into one buffer: of the
//! right size where the number of steps is known, else one that doubles.

use crate::element::{Plain, for_any, zeroed};
use crate::executor::Compiler;
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::program::{Program, Running};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{Scan, While};
use cotangent_core::{DType, Env, Result, Shape, bail};
use cotangent_kernels::copy::copy_into;
use smallvec::smallvec;

/// Results of steps along a new first axis.
trait Stack {
    /// Keeps the result of step `i`.
    fn put(&mut self, i: usize, y: &Tensor) -> Result<()>;
    /// All `n` of them.
    fn finish(self: Box<Self>, n: usize, env: &Env) -> Result<Tensor>;
}

struct StackOf<'a, T> {
    data: Vec<T>,
    /// The shape of one result, once it is known.
    row: Option<Extents>,
    /// The shape that it has if there are no steps.
    shape: &'a Sizes,
    /// The number of steps, if it is known.
    steps: Option<usize>,
}

fn stack<'a>(dtype: DType, shape: &'a Sizes, steps: Option<usize>) -> Box<dyn Stack + 'a> {
    for_any!(dtype, T => Box::new(StackOf::<T> { data: Vec::new(), row: None, shape, steps }))
}

fn shape_of(n: usize, row: &[usize]) -> Extents {
    std::iter::once(n).chain(row.iter().copied()).collect()
}

impl<T: Plain> Stack for StackOf<'_, T> {
    fn put(&mut self, i: usize, y: &Tensor) -> Result<()> {
        let row = self.row.get_or_insert_with(|| y.shape().into());
        if row.as_slice() != y.shape() {
            bail!(ShapeMismatch, "steps of a loop gave {} and an array of shape {row:?}", y.ty());
        }
        let len = y.numel();
        let end = crate::tensor::volume(&shape_of(i + 1, row))?;
        if end > self.data.len() {
            match self.steps {
                Some(n) => self.data = zeroed(crate::tensor::volume(&shape_of(n, row))?)?,
                None => {
                    let more = end.max(2 * self.data.len()) - self.data.len();
                    if self.data.try_reserve_exact(more).is_err() {
                        bail!(Limit, "there is no memory for what {} steps of a loop save", i + 1);
                    }
                    self.data.resize(self.data.len() + more, T::default());
                }
            }
        }
        copy_into(&mut self.data[i * len..][..len], y.view::<T>());
        Ok(())
    }

    fn finish(mut self: Box<Self>, n: usize, env: &Env) -> Result<Tensor> {
        let row = match self.row.take() {
            Some(row) => row,
            None => self.shape.at(env)?,
        };
        let shape = shape_of(n, &row);
        self.data.truncate(crate::tensor::volume(&shape)?);
        Ok(Tensor::from_vec(shape, self.data))
    }
}

/// What the results of a body are that are stacked.
fn rows(body: &Program, carry: usize) -> Vec<(DType, Sizes)> {
    let types = body.function().result_types().split_off(carry);
    types.iter().map(|t| (t.dtype, Sizes::of(&t.shape))).collect()
}

fn stacks<'a>(rows: &'a [(DType, Sizes)], steps: Option<usize>) -> Vec<Box<dyn Stack + 'a>> {
    rows.iter().map(|(dtype, shape)| stack(*dtype, shape, steps)).collect()
}

/// Takes the results of step `i` apart: carries, which are returned, and what is stacked.
fn keep(stacks: &mut [Box<dyn Stack + '_>], i: usize, mut y: Results) -> Result<Results> {
    let carry = y.len() - stacks.len();
    for (stack, y) in stacks.iter_mut().zip(y.drain(carry..)) {
        stack.put(i, &y)?;
    }
    Ok(y)
}

/// A loop over the first axis of its inputs.
pub(crate) fn scan(cx: &Compiler<'_>, s: &Scan) -> Result<Kernel> {
    let body = cx.body(&s.body)?;
    let (consts, carries, reverse) = (s.consts, s.carry, s.reverse);
    let length = Sizes::of(&Shape::from(vec![s.length.clone()]));
    let rows = rows(&body, carries);
    Ok(Box::new(move |env, mut x: Operands| {
        let n = length.at(env)?[0];
        let xs: Operands = x.drain(consts + carries..).collect();
        let mut carry: Results = x.drain(consts..).collect();
        let (mut running, mut stacks) = (Running::new(&body), stacks(&rows, Some(n)));
        for step in 0..n {
            let i = if reverse { n - 1 - step } else { step };
            let inputs = x.iter().cloned().chain(carry.drain(..)).chain(xs.iter().map(|x| x.row(i))).collect();
            carry = keep(&mut stacks, i, running.step(inputs, env)?)?;
        }
        for stack in stacks {
            carry.push(stack.finish(n, env)?);
        }
        Ok(carry)
    }))
}

/// A loop while a condition holds.
pub(crate) fn while_loop(cx: &Compiler<'_>, w: &While) -> Result<Kernel> {
    let (cond, body) = (cx.body(&w.cond)?, cx.body(&w.body)?);
    let (of_cond, of_body, saves) = (w.cond_consts, w.body_consts, w.saves.is_some());
    let rows = rows(&body, w.carry());
    Ok(Box::new(move |env, mut x: Operands| {
        let mut carry: Results = x.drain(of_cond + of_body..).collect();
        let (mut test, mut running) = (Running::new(&cond), Running::new(&body));
        let (mut stacks, mut steps) = (stacks(&rows, None), 0);
        loop {
            let inputs = x[..of_cond].iter().chain(&carry).cloned().collect();
            if test.step(inputs, env)?[0].as_slice() != Some(&[true]) {
                break;
            }
            let inputs = x[of_cond..].iter().cloned().chain(carry.drain(..)).collect();
            carry = keep(&mut stacks, steps, running.step(inputs, env)?)?;
            steps += 1;
        }
        for stack in stacks {
            carry.push(stack.finish(steps, env)?);
        }
        if saves {
            carry.push(Tensor::build::<bool>(smallvec![steps], |dst| dst.fill(true))?);
        }
        Ok(carry)
    }))
}
