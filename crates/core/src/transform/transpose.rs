//! transpose: the adjoint of a linear program.
//!
//! ```text
//! dy = A dx   =>   ct_x = Aᵀ ct_y,   <ct_y, A dx> = <Aᵀ ct_y, dx>   (the real inner product Re Σ conj(a) b)
//! ```
//! Cotangents are summed in reverse order of equations, then in the order of operands. The first
//! one is not added to zero.

use crate::analysis::trace_linear;
use crate::error::{Code, Error, Result};
use crate::ir::{Arg, Emit, Function, Lin, LinearProgram, Lv, Operand, Val};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Transposes `program`: cotangents of `outs` -> the cotangent of every linear value in `wanted`
/// (`None`: zero).
///
/// Equations whose results have no cotangent are skipped. O(equations).
pub fn transpose_program(
    cx: &dyn Emit,
    program: &LinearProgram,
    outs: &[(Lv, Val)],
    wanted: &[Lv],
) -> Result<Vec<Option<Val>>> {
    let session = cx.session().clone();
    let mut ct: Vec<Option<Val>> = vec![None; program.len()];
    let add = |ct: &mut Vec<Option<Val>>, l: Lv, v: Val| {
        if l == Lv::POISON {
            return;
        }
        let slot = &mut ct[l.index()];
        *slot = Some(match *slot {
            None => v,
            Some(old) => cx.emit(session.sum(), &[old, v])[0],
        });
    };
    for &(l, v) in outs {
        add(&mut ct, l, v);
    }
    // Only equations that depend on a wanted input are transposed.
    let mut live = vec![false; program.len()];
    for l in wanted {
        live[l.index()] = true;
    }
    for e in program.eqns() {
        let on = e
            .operands
            .iter()
            .any(|o| matches!(o, Operand::L(l) if live[l.index()]));
        for r in e.results() {
            live[r.index()] = on;
        }
    }
    let mut args = SmallVec::<[Arg; 4]>::new();
    let mut cts = SmallVec::<[Option<Val>; 4]>::new();
    for e in program.eqns().iter().rev() {
        cts.clear();
        cts.extend(
            e.results()
                .map(|r| ct[r.index()].take().filter(|_| live[r.index()])),
        );
        if cts.iter().all(Option::is_none) {
            continue;
        }
        args.clear();
        args.extend(e.operands.iter().map(|o| match o {
            Operand::R(v) => Arg::R(*v),
            Operand::L(l) => Arg::L(program.ty(*l).clone()),
        }));
        cx.set_loc(e.loc);
        let back = session
            .transpose(&e.op, cx, &args, &cts)
            .map_err(|err| err.at(e.loc))?;
        if back.len() != args.len() {
            let text = format!(
                "transpose rule of `{}` produced {} cotangents for {} operands",
                e.op.name(),
                back.len(),
                args.len()
            );
            return Err(Error::new(Code::RuleArity, text).at(e.loc));
        }
        for (i, (o, v)) in e.operands.iter().zip(back).enumerate() {
            if let (Operand::L(l), Some(v)) = (o, v) {
                let (got, want) = (cx.ty(v), program.ty(*l));
                if !cx.failed() && (got.dtype != want.dtype || got.rank() != want.rank()) {
                    let text = format!(
                        "transpose rule of `{}` produced {got} for operand {i} of type {want}",
                        e.op.name()
                    );
                    return Err(Error::new(Code::RuleType, text).at(e.loc));
                }
                if live[l.index()] {
                    add(&mut ct, *l, v);
                }
            }
        }
    }
    Ok(wanted.iter().map(|l| ct[l.index()]).collect())
}

/// Writes the transpose of `f`, which must be linear in the parameters marked by `linear`. `args`
/// are the other arguments, `cts` the cotangents of the results (`None`: zero). Returns the
/// cotangents of the linear parameters, in order.
pub fn transpose_into(
    cx: &dyn Emit,
    f: &Function,
    linear: &[bool],
    args: &[Option<Val>],
    cts: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let program = RefCell::new(LinearProgram::default());
    let mut inputs = Vec::new();
    let args: Vec<Option<Operand>> = f
        .params()
        .iter()
        .zip(linear.iter().zip(args))
        .map(|(&p, (&linear, a))| {
            if !linear {
                return a.map(Operand::R);
            }
            inputs.push(program.borrow_mut().input(f.ty(p).clone()));
            inputs.last().copied().map(Operand::L)
        })
        .collect();
    let wanted: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let outs = trace_linear(&Lin::new(cx, &program), f, &args, &wanted)?;
    let seeds: Vec<(Lv, Val)> = outs
        .iter()
        .zip(cts)
        .filter_map(|(o, c)| o.zip(*c))
        .collect();
    transpose_program(cx, &program.into_inner(), &seeds, &inputs)
}
