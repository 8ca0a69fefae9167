//! [`Loop`]: a scan whose steps are elementwise, compiled to one loop of machine code.
//!
//! If all values of a body (except constant scalars) have the same number of elements, each element
//! is an independent recurrence. The kernel runs all steps for one vector of elements before the
//! next vector ([`Recurrence`]). Operations that only rearrange axes are no-ops. The instructions
//! are those of single-operation groups, so the bits are those of the steps.

use crate::elementwise::{Lowering, Typed, is_elementwise, literal};
use crate::interrupt::{interrupted, is_active, is_interrupted};
use crate::kernel::{Operands, Results};
use crate::loops::shape_of;
use crate::tensor::{Extents, Fresh, Tensor, volume};
use crate::tuning::MIN_COMPILED_STEPS;
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{Constant, Op, Scan, Value};
use cotangent_core::{DType, Env, Function, Result, Type, Val};
use cotangent_kernels::tile::Recurrence;
use smallvec::SmallVec;

/// Elements times steps of a part of a loop after which the hook of the run may be asked: about a
/// millisecond.
const PART_ELEMENT_STEPS: usize = 1 << 18;
/// Minimum number of steps of a part: each part reads all elements again.
const MIN_PART_STEPS: usize = 16;

/// Type and shape of an input or output.
struct Form {
    dtype: DType,
    shape: Extents,
    /// The number of elements.
    n: usize,
}

impl Form {
    /// The form of tensors of a type; `None` if their number of elements is zero or not constant.
    fn of(ty: &Type) -> Option<Form> {
        let shape: Extents = ty
            .shape
            .iter()
            .map(|d| d.as_const())
            .collect::<Option<_>>()?;
        let n = cotangent_core::array::numel(&shape).filter(|&n| n > 0)?;
        n.checked_mul(ty.dtype.size()).map(|_| Form {
            dtype: ty.dtype,
            shape,
            n,
        })
    }

    /// Size of the elements, in bytes.
    fn bytes(&self) -> usize {
        self.n * self.dtype.size()
    }
}

/// A compiled scan.
pub(crate) struct Loop {
    inputs: Vec<Form>,
    outputs: Vec<Form>,
    code: Recurrence,
    consts: usize,
    carries: usize,
    /// Number of elements of each value.
    n: usize,
}

/// A value of a body during lowering.
#[derive(Clone, Copy)]
enum Known {
    Elements(Typed),
    /// A broadcast scalar.
    Number(Typed),
}

impl Known {
    fn typed(self) -> Typed {
        match self {
            Known::Elements(t) | Known::Number(t) => t,
        }
    }
}

/// The value of an equation for operands `x`; `None` if it is not supported.
fn value(f: &Function, e: &Eqn, x: &[Known], lowering: &mut Lowering) -> Option<Known> {
    let y = Form::of(f.ty(e.results().next()?))?;
    match (&e.op, x) {
        (
            Op::Constant(Constant {
                ty,
                value: Value::Splat(s),
            }),
            _,
        ) => Some(Known::Number(literal(lowering, &s.array(ty.dtype)))),
        (Op::Constant(_) | Op::Iota(_), _) if y.n == 1 => {
            let number = e.op.eval(&[], &Env::default()).ok()?.pop()?;
            Some(Known::Number(literal(lowering, &number)))
        }
        (Op::Reshape(_), [x]) => Some(*x),
        (Op::BroadcastInDim(_) | Op::Transpose(_), [Known::Number(x)]) => Some(Known::Number(*x)),
        (Op::BroadcastInDim(_) | Op::Transpose(_), [x]) if y.n == 1 => Some(*x),
        (op, x) => {
            let typed: SmallVec<[Typed; 3]> = x.iter().map(|x| x.typed()).collect();
            let dtypes: SmallVec<[DType; 3]> = typed.iter().map(|x| x.1).collect();
            is_elementwise(op, &dtypes).then(|| Known::Elements(lowering.emit(op, &typed)))
        }
    }
}

impl Loop {
    /// The loop of a scan; `None` if its body is not supported.
    pub(crate) fn of(s: &Scan) -> Option<Loop> {
        let f = &*s.body;
        let forms = |v: &[Val]| {
            v.iter()
                .map(|&v| Form::of(f.ty(v)))
                .collect::<Option<Vec<_>>>()
        };
        let (inputs, outputs) = (forms(f.params())?, forms(f.results())?);
        let n = outputs.first()?.n;
        if inputs.iter().chain(&outputs).any(|x| x.n != n) {
            return None;
        }
        let mut lowering = Lowering::new();
        let mut known: Vec<Option<Known>> = vec![None; f.len()];
        for (&p, form) in f.params().iter().zip(&inputs) {
            known[p.index()] = Some(Known::Elements(lowering.input(form.dtype)));
        }
        let need = f.needed(None);
        for e in f
            .eqns()
            .iter()
            .filter(|e| e.results().any(|r| need[r.index()]))
        {
            let x: Vec<Known> = f
                .operands(e)
                .iter()
                .map(|v| known[v.index()])
                .collect::<Option<_>>()?;
            let y = value(f, e, &x, &mut lowering)?;
            let r = e.results().next()?;
            if matches!(y, Known::Elements(_)) && Form::of(f.ty(r))?.n != n {
                return None;
            }
            known[r.index()] = Some(y);
        }
        let results: Vec<_> = f
            .results()
            .iter()
            .map(|r| Some(known[r.index()]?.typed().0))
            .collect::<Option<_>>()?;
        let code = Recurrence::new(lowering.finish(&results).0, s.consts, s.carry);
        Some(Loop {
            inputs,
            outputs,
            code,
            consts: s.consts,
            carries: s.carry,
            n,
        })
    }

    /// Whether the loop can run these operands, with `steps` rows in each stack. Compiles the code
    /// on first use.
    pub(crate) fn takes(&self, steps: usize, x: &[Tensor]) -> bool {
        let parts = [self.consts, self.consts + self.carries];
        fits(&self.inputs, &self.outputs, steps, parts, x) && self.is_ready(steps)
    }

    /// Whether there is code for a loop of `steps` steps. Compiles it on first use.
    pub(crate) fn is_ready(&self, steps: usize) -> bool {
        steps >= MIN_COMPILED_STEPS && self.code.is_ready()
    }

    /// Runs all steps.
    pub(crate) fn run(&self, steps: usize, reverse: bool, x: Operands) -> Result<Results> {
        let x = x
            .into_iter()
            .map(Tensor::into_packed)
            .collect::<Result<Operands>>()?;
        let shapes = self
            .outputs
            .iter()
            .enumerate()
            .map(|(k, y)| match k < self.carries {
                true => y.shape.clone(),
                false => shape_of(steps, &y.shape),
            });
        let made = shapes
            .clone()
            .zip(&self.outputs)
            .map(|(shape, y)| Fresh::new(y.dtype, volume(&shape)?));
        let made = made.collect::<Result<Vec<Fresh>>>()?;
        let from: Vec<*const u8> = x.iter().map(Tensor::first_ptr).collect();
        let to: Vec<*mut u8> = made.iter().map(Fresh::ptr).collect();
        // SAFETY: the caller checked with `takes` that operands have the body's types, stacks have
        // `steps` rows and `steps` is positive; `into_packed` made operands contiguous. Results
        // have room for all rows.
        unsafe { self.run_parts(steps, reverse, from, to)? };
        // SAFETY: there is at least one step, so every element of the results was written.
        let written = |(y, shape): (Fresh, Extents)| unsafe { y.into_tensor(&shape) };
        Ok(made.into_iter().zip(shapes).map(written).collect())
    }

    /// Runs all steps, if the run has a hook by parts that end when it is asked.
    ///
    /// # Safety
    /// The preconditions of [`Recurrence::run`].
    unsafe fn run_parts(
        &self,
        steps: usize,
        reverse: bool,
        mut from: Vec<*const u8>,
        mut to: Vec<*mut u8>,
    ) -> Result<()> {
        let stacks = self.consts + self.carries;
        let part = match is_active() {
            true => (PART_ELEMENT_STEPS / self.n).max(MIN_PART_STEPS),
            false => steps,
        };
        // Addresses of the rows of a part, from those of the first rows.
        let (first, firsts) = (from.clone(), to.clone());
        let mut done = 0;
        while done < steps {
            let now = part.min(steps - done);
            let row = if reverse { steps - done - now } else { done };
            let bytes = |form: &Form| row * form.bytes();
            for k in stacks..from.len() {
                from[k] = first[k].wrapping_add(bytes(&self.inputs[k]));
            }
            for k in self.carries..to.len() {
                to[k] = firsts[k].wrapping_add(bytes(&self.outputs[k]));
            }
            // SAFETY: the caller guarantees operands and results of all steps (# Safety), of which
            // these are `now`. After the first part, carries are read where the last part wrote
            // them.
            unsafe { self.code.run(self.n, now, reverse, &from, &to) };
            done += now;
            for k in 0..self.carries {
                from[self.consts + k] = to[k].cast_const();
            }
            if done < steps && is_interrupted() {
                return Err(interrupted());
            }
        }
        Ok(())
    }
}

/// Whether operands `x` are constants, carries and stacks of `n` rows of the body's input types,
/// and results have the types of the carries.
fn fits(
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
