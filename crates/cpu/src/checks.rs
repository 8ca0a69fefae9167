//! Checks of types that only the extents of a run decide, and facts about equations that every plan
//! of a function needs.

use cotangent_core::graph::Eqn;
use cotangent_core::ops::Op;
use cotangent_core::{Dim, Env, Function, Result, Type, Val};
use smallvec::SmallVec;

/// Whether the sizes of an equation are checked at run time: some extents are not constant and the
/// operation requires them to be equal.
pub(crate) fn needs_check(f: &Function, e: &Eqn) -> bool {
    let x: SmallVec<[&Type; 4]> = f.operands(e).iter().map(|&v| f.ty(v)).collect();
    let open = |t: &Type| t.shape.iter().any(|d| d.as_const().is_none());
    if !x.iter().copied().any(open) && !e.results().any(|r| open(f.ty(r))) {
        return false;
    }
    match e.op {
        Op::AtKink(_) | Op::LinearRecurrence(_) => x.iter().any(|t| t.shape != x[0].shape),
        Op::DotGeneral(ref d) => {
            let pairs = |a: &[usize], b: &[usize]| {
                a.iter()
                    .zip(b)
                    .any(|(&i, &j)| x[0].shape[i] != x[1].shape[j])
            };
            pairs(&d.lhs_batch, &d.rhs_batch) || pairs(&d.lhs_contract, &d.rhs_contract)
        }
        Op::Constant(_) | Op::Iota(_) | Op::Transpose(_) => false,
        ref op if op.is_elementwise(x.iter().copied()) => x.iter().any(|t| t.shape != x[0].shape),
        _ => true,
    }
}

/// The operation with its attribute dimensions evaluated in `env`.
pub(crate) fn resolve(op: &Op, env: &Env) -> Op {
    let known = |d: &Dim| d.eval(env).map_or_else(|_| d.clone(), Dim::Const);
    op.map_dims(&known).unwrap_or_else(|| op.clone())
}

/// Checks the type rule of an equation for operands of these types.
pub(crate) fn check_types(f: &Function, e: &Eqn, types: &[Type], env: &Env) -> Result<()> {
    match resolve(&e.op, env).infer(types) {
        Ok(_) => Ok(()),
        Err(err) => {
            let named: Vec<_> = f
                .operands(e)
                .iter()
                .zip(types)
                .map(|(&v, t)| format!("{}: {t}", f.show(v)))
                .collect();
            Err(err
                .at(e.loc)
                .note(format!("in `{}`: {}", f.name, named.join(", "))))
        }
    }
}

/// Number of elements along the sorted axis that are read, if only slices read the results of the
/// sort.
pub(crate) fn first_read(f: &Function, sort: &Eqn, live: impl Fn(&Eqn) -> bool) -> Option<usize> {
    let Op::Sort(s) = &sort.op else { return None };
    let is_result = |v: &Val| sort.results().any(|r| r == *v);
    if f.results().iter().any(is_result) {
        return None;
    }
    let mut first = 0;
    for e in f
        .eqns()
        .iter()
        .filter(|e| live(e) && f.operands(e).iter().any(is_result))
    {
        let Op::Slice(slice) = &e.op else { return None };
        // A reversed or strided slice still ends at its limit.
        first = first.max(slice.limit[s.axis].as_const()?);
    }
    Some(first)
}
