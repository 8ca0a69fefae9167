//! Operations with regions (call, switch), whose programs are compiled once, and guards.

use crate::compiler::Compiler;
use crate::element::pick;
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::loops;
use crate::movement::integer;
use crate::plan::nested::{Nested, NestedRun};
use crate::program::Program;
use crate::tensor::{Extents, Fresh, Tensor, copied, volume};
use cotangent_core::ops::{Call, Guard, Switch};
use cotangent_core::{C64, C128, DType, Env, Function, Result, Type, bail, bf16, f16};
use smallvec::smallvec;
use std::sync::Arc;

/// The results of an operation whose regions run in place; `None` if they run on tensors only.
pub(crate) fn in_place(nested: &dyn Nested, env: &Env, x: &[Tensor]) -> Result<Option<Results>> {
    let forms: Vec<(DType, Extents)> = x.iter().map(|x| (x.dtype(), x.shape().into())).collect();
    let Some(run) = nested.at(&forms, env) else {
        return Ok(None);
    };
    on_memory(&*run, x).map(Some)
}

/// As [`in_place`], for a loop that runs as machine code; it is compiled if that is not done.
pub(crate) fn as_code(nested: &dyn Nested, env: &Env, x: &[Tensor]) -> Result<Option<Results>> {
    let forms: Vec<(DType, Extents)> = x.iter().map(|x| (x.dtype(), x.shape().into())).collect();
    let Some(run) = nested.at(&forms, env).filter(|run| run.compile()) else {
        return Ok(None);
    };
    Ok(Some(match nested.stacks() {
        true => stacked_on_memory(&*run, x)?,
        false => on_memory(&*run, x)?,
    }))
}

/// As [`on_memory`], for a `while` that is compiled and stacks results.
fn stacked_on_memory(run: &dyn NestedRun, x: &[Tensor]) -> Result<Results> {
    let mut stacks = Results::new();
    let run_stacked = |from: &[*const u8], to: &[*mut u8]| {
        stacks = loops::stacked(&run.stacked_rows(), |room| {
            // SAFETY: as in `on_memory`; `room` gives rows of the types that the run stacks.
            unsafe { run.run_stacked(from, to, room) }
        })?;
        Ok(())
    };
    let mut y = with_memory(run, x, run_stacked)?;
    y.extend(stacks);
    Ok(y)
}

/// The results of a run on operands that have the extents it was made for.
fn on_memory(run: &dyn NestedRun, x: &[Tensor]) -> Result<Results> {
    // SAFETY: operands have the extents that the run was made for, and are contiguous; new buffers
    // have room for the results.
    with_memory(run, x, |from, to| unsafe { run.run(from, to) })
}

/// Results of the types of a run, which `write` writes from contiguous operands.
fn with_memory(
    run: &dyn NestedRun,
    x: &[Tensor],
    write: impl FnOnce(&[*const u8], &[*mut u8]) -> Result<()>,
) -> Result<Results> {
    let packed = x.iter().cloned().map(Tensor::into_packed);
    let x = packed.collect::<Result<Operands>>()?;
    let (mut made, forms) = (Vec::new(), run.results());
    for (dtype, shape) in &forms {
        made.push(Fresh::initialised(*dtype, volume(shape)?)?);
    }
    let from: Vec<*const u8> = x.iter().map(Tensor::first_ptr).collect();
    let to: Vec<*mut u8> = made.iter().map(Fresh::ptr).collect();
    write(&from, &to)?;
    let all = made.into_iter().zip(&forms);
    // SAFETY: the run wrote all elements.
    let y = all.map(|(y, (_, shape))| unsafe { y.into_tensor(shape) });
    Ok(y.collect())
}

/// Kernel of a call. The callee has its own symbols, bound by its arguments.
pub(crate) fn call(cx: &Compiler<'_>, c: &Call) -> Result<Kernel> {
    let callee = cx.body(&c.callee)?;
    Ok(Box::new(move |env, x| callee.call(x, env)))
}

/// Kernel that runs `body` in place of the operation. The body shares the symbols of the enclosing
/// program.
pub(crate) fn inside(cx: &Compiler<'_>, body: &Arc<Function>) -> Result<Kernel> {
    let body = cx.body(body)?;
    Ok(Box::new(move |env, x| body.run_inside(x, env)))
}

/// Kernel that runs one of several branches, chosen by a clamped index.
pub(crate) fn switch(cx: &Compiler<'_>, s: &Switch) -> Result<Kernel> {
    let branches = s
        .branches
        .iter()
        .map(|b| cx.body(b))
        .collect::<Result<Vec<Arc<Program>>>>()?;
    let types: Vec<Type> = s.branches[0].result_types();
    let sizes: Vec<Sizes> = types.iter().map(|t| Sizes::of(&t.shape)).collect();
    Ok(Box::new(move |env, mut x: Operands| {
        let k = integer(&x.remove(0)).clamp(0, branches.len() as i128 - 1) as usize;
        let y = branches[k].run_inside(x, env)?;
        for ((y, sizes), t) in y.iter().zip(&sizes).zip(&types) {
            if !sizes.fits(y.shape(), env) && t.shape.eval(env).is_ok() {
                bail!(
                    BranchMismatch,
                    "branch {k} returned {} but branch 0 returns {t}",
                    y.ty()
                );
            }
        }
        Ok(y)
    }))
}

/// Kernel of a guard: replaces elements by NaN where the condition is false, or fails if the guard
/// always fails.
pub(crate) fn guard(g: &Guard, dtype: DType) -> Kernel {
    let g = g.clone();
    pick!(dtype, T => Box::new(move |_, x: Operands| {
        let mut x = x.into_iter();
        let (x, ok, measure) = (x.next().expect("values"), x.next().expect("a condition"), x.next());
        let flags = ok.into_dense()?;
        let ok = flags.as_slice::<bool>().expect("dense booleans");
        if ok.iter().all(|&ok| ok) {
            return Ok(smallvec![x]);
        }
        if g.raise {
            return Err(g.error(&flags.clone().into_array()?, measure.map(Tensor::into_array).transpose()?.as_ref()));
        }
        let each = (x.numel() / ok.len().max(1)).max(1);
        let x = x.into_dense()?;
        let y = Tensor::build::<T, _>(copied(x.shape()), |y| {
            y.copy_from_slice(x.as_slice().expect("dense, and of this type"));
            let bad = y.chunks_exact_mut(each).zip(ok).filter(|(_, ok)| !**ok);
            bad.for_each(|(part, _)| part.fill(Nan::NAN));
        })?;
        Ok(smallvec![y])
    }); F16 f16, BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128)
}

/// Element types that have a NaN.
trait Nan {
    const NAN: Self;
}

macro_rules! nan {
    ($($t:ty = $nan:expr;)*) => {$(impl Nan for $t { const NAN: $t = $nan; })*};
}

nan! {
    f16 = f16::NAN;
    bf16 = bf16::NAN;
    f32 = f32::NAN;
    f64 = f64::NAN;
    C64 = C64::new(f32::NAN, f32::NAN);
    C128 = C128::new(f64::NAN, f64::NAN);
}
