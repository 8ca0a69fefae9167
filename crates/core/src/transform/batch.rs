//! batch (vmap): maps a function over a new leading axis.

use crate::error::{Code, Error, Result};
use crate::ir::{Batched, Builder, Emit, Function, Session, Val, Vals, Visit, Walk};
use crate::shape::Dim;

/// Batches `f`. Parameters marked `mapped` get a leading axis of extent `size`, and so do results
/// that depend on them. Results marked `force` get it in any case (missing entries are false).
/// Returns the function and a mask of the results with the axis. O(equations).
pub fn batch(
    session: &Session,
    f: &Function,
    mapped: &[bool],
    force: &[bool],
    size: &Dim,
) -> Result<(Function, Vec<bool>)> {
    if mapped.len() != f.params().len() || force.len() > f.results().len() {
        let text = format!(
            "`{}` has {} arguments and {} results, `batch` got flags for {} and {}",
            f.name,
            f.params().len(),
            f.results().len(),
            mapped.len(),
            force.len()
        );
        return Err(Error::new(Code::Arity, text));
    }
    let b = Builder::deriving(&format!("{}_batched", f.name), session, &[f]);
    let args: Vec<Batched> = f
        .params()
        .iter()
        .zip(mapped)
        .map(|(&p, &mapped)| {
            let ty = if mapped {
                f.ty(p).batched(size)
            } else {
                f.ty(p).clone()
            };
            Batched {
                val: b.param_like(ty, f, p),
                mapped,
            }
        })
        .collect();
    let mut outs = batch_into(&b, f, &args, size)?;
    for (o, _) in outs.iter_mut().zip(force).filter(|(_, f)| **f) {
        *o = (&b as &dyn Emit).replicate(*o, size);
    }
    let vals: Vec<Val> = outs.iter().map(|o| o.val).collect();
    Ok((b.finish(&vals)?, outs.iter().map(|o| o.mapped).collect()))
}

/// Writes the batched `f` applied to `args`.
pub fn batch_into(
    cx: &dyn Emit,
    f: &Function,
    args: &[Batched],
    size: &Dim,
) -> Result<Vec<Batched>> {
    let session = cx.session().clone();
    let none = Batched {
        val: Val::POISON,
        mapped: false,
    };
    let mut walk = Walk::new(f, none)
        .only(f.computing(&f.needed(None)))
        .renaming();
    walk.set_params(args.iter().copied());
    while let Some(Visit { eqn: e, op, x, .. }) = walk.next(cx) {
        let y: Vec<Batched> = if x.iter().any(|b| b.mapped) {
            session
                .batch(&op, cx, size, &x)
                .map_err(|err| err.at(e.loc))?
        } else {
            let x: Vals = x.iter().map(|b| b.val).collect();
            cx.emit(op.into_owned(), &x)
                .into_iter()
                .map(|val| Batched { val, mapped: false })
                .collect()
        };
        for (r, y) in e.results().zip(&y) {
            let (got, want) = (cx.ty(y.val), f.ty(r));
            if !cx.failed()
                && (got.dtype != want.dtype || got.rank() != want.rank() + usize::from(y.mapped))
            {
                let text = format!(
                    "batch rule of `{}` produced {got} for a result of type {want}",
                    e.op.name()
                );
                return Err(Error::new(Code::RuleType, text).at(e.loc));
            }
        }
        walk.set_results(e, y);
    }
    Ok(walk.results())
}
