//! Pulling cotangents back through a linear program.

use super::error;
use cotangent_core::transform::{LinearProgram, Lv, Operand};
use cotangent_core::{Arg, Code, Dim, Emit, Env, Error, Type, Val};
use smallvec::SmallVec;

/// Pulls cotangents of linear values back through a linear program. `give` receives every cotangent
/// of an input, in order. `residual` maps ordinary values of the program to values of `cx`.
pub(super) fn transpose(
    cx: &dyn Emit,
    program: &LinearProgram,
    inputs: usize,
    ct: &mut [Option<Val>],
    env: &Env,
    residual: &dyn Fn(Val) -> Val,
    give: &mut dyn FnMut(Lv, Val) -> error::Result<()>,
) -> error::Result<()> {
    let mut args = SmallVec::<[Arg; 4]>::new();
    let mut cts = SmallVec::<[Option<Val>; 4]>::new();
    for e in program.eqns().iter().rev() {
        cts.clear();
        cts.extend(e.results().map(|r| ct[r.index()].take()));
        if cts.iter().all(Option::is_none) {
            continue;
        }
        args.clear();
        args.extend(e.operands.iter().map(|o| match o {
            Operand::R(v) => Arg::R(residual(*v)),
            Operand::L(l) => Arg::L(concrete(program.ty(*l), env)),
        }));
        let back = cx.session().transpose(&e.op, cx, &args, &cts)?;
        for (o, v) in e.operands.iter().zip(back) {
            let (Operand::L(l), Some(v)) = (o, v) else {
                continue;
            };
            if l.index() >= inputs {
                let slot = &mut ct[l.index()];
                *slot = Some(match *slot {
                    None => v,
                    Some(old) => cx.emit(cx.session().sum(), &[old, v])[0],
                });
                continue;
            }
            if cx.failed() {
                continue;
            }
            let (got, want) = (cx.ty(v), program.ty(*l));
            if got.dtype != want.dtype || got.rank() != want.rank() {
                let text = format!(
                    "transpose rule of `{}` produced {got} for {want}",
                    e.op.name()
                );
                return Err(Error::new(Code::RuleType, text).into());
            }
            give(*l, v)?;
        }
    }
    Ok(())
}

/// A type with its symbolic extents evaluated.
pub(super) fn concrete(ty: &Type, env: &Env) -> Type {
    if ty.shape.iter().all(|d| d.as_const().is_some()) {
        return ty.clone();
    }
    ty.with_shape(
        ty.shape
            .iter()
            .map(|d| d.eval(env).map_or_else(|_| d.clone(), Dim::Const))
            .collect::<Vec<_>>(),
    )
}
