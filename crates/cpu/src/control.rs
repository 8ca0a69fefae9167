//! Operations with bodies: programs that are compiled once and run inside.

use crate::executor::Compiler;
use crate::kernel::{Kernel, Operands, Sizes};
use crate::movement::integer;
use crate::program::Program;
use cotangent_core::ops::{Call, Require, Switch};
use cotangent_core::{Function, Result, Type, bail};
use std::sync::Arc;

/// A function applied: the symbols of its parameters are its own.
pub(crate) fn call(cx: &Compiler<'_>, c: &Call) -> Result<Kernel> {
    let callee = cx.body(&c.callee)?;
    Ok(Box::new(move |env, x| callee.call(x, env)))
}

/// A body in place of the operation: it shares the symbols around it.
pub(crate) fn inside(cx: &Compiler<'_>, body: &Arc<Function>) -> Result<Kernel> {
    let body = cx.body(body)?;
    Ok(Box::new(move |env, x| body.run_inside(x, env)))
}

/// One of several bodies.
pub(crate) fn switch(cx: &Compiler<'_>, s: &Switch) -> Result<Kernel> {
    let branches = s.branches.iter().map(|b| cx.body(b)).collect::<Result<Vec<Arc<Program>>>>()?;
    let types: Vec<Type> = s.branches[0].result_types();
    let sizes: Vec<Sizes> = types.iter().map(|t| Sizes::of(&t.shape)).collect();
    Ok(Box::new(move |env, mut x: Operands| {
        let k = integer(&x.remove(0)).clamp(0, branches.len() as i128 - 1) as usize;
        let y = branches[k].run_inside(x, env)?;
        for ((y, sizes), t) in y.iter().zip(&sizes).zip(&types) {
            if !sizes.fits(y.shape(), env) && t.shape.eval(env).is_ok() {
                bail!(BranchMismatch, "branch {k} returned {} but branch 0 returns {t}", y.ty());
            }
        }
        Ok(y)
    }))
}

/// Values, if a condition holds.
pub(crate) fn require(r: &Require) -> Kernel {
    let r = r.clone();
    Box::new(move |_, mut x: Operands| {
        let (ok, measure) = (x.remove(0).into_array()?, x.remove(0).into_array()?);
        r.check(&ok, &measure)?;
        Ok(x.into_iter().collect())
    })
}
