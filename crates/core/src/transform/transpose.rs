//! transpose: a linear program run backward.
//!
//! ```text
//! dy = A dx   =>   ct_x = Aᵀ ct_y,   <ct_y, A dx> = <Aᵀ ct_y, dx>   (the real inner product Re Σ conj(a) b)
//! ```
//! Cotangents are folded in reverse equation order, then operand order; the first one is not added to zero.

use super::linear::{Lin, LinearProgram, Lv, Operand};
use crate::emit::Emit;
use crate::error::{Code, Error, Result};
use crate::graph::Function;
use crate::primitive::{Arg, Val};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Transposes `program`: cotangents of `outs` in, the cotangent of every linear value in `wanted` back (`None`: zero).
///
/// Equations that no cotangent reaches are not looked at. O(equations).
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
    // Only equations that depend on a wanted input matter: the rest ends in zeros or in other inputs.
    let mut live = vec![false; program.len()];
    for l in wanted {
        live[l.index()] = true;
    }
    for e in program.eqns() {
        let on = e.operands.iter().any(|o| matches!(o, Operand::L(l) if live[l.index()]));
        for r in e.results() {
            live[r.index()] = on;
        }
    }
    let mut args = SmallVec::<[Arg; 4]>::new();
    let mut cts = SmallVec::<[Option<Val>; 4]>::new();
    for e in program.eqns().iter().rev() {
        cts.clear();
        cts.extend(e.results().map(|r| ct[r.index()].take().filter(|_| live[r.index()])));
        if cts.iter().all(Option::is_none) {
            continue;
        }
        args.clear();
        args.extend(e.operands.iter().map(|o| match o {
            Operand::R(v) => Arg::R(*v),
            Operand::L(l) => Arg::L(program.ty(*l).clone()),
        }));
        cx.set_loc(e.loc);
        let back = session.transpose(&e.op, cx, &args, &cts).map_err(|err| err.at(e.loc))?;
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
                    let text =
                        format!("transpose rule of `{}` produced {got} for operand {i} of type {want}", e.op.name());
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

/// Writes the transpose of `f`, which must be linear in the parameters marked by `linear`: `args` gives the others,
/// `cts` a cotangent per result (`None`: zero). Returns a cotangent per linear parameter, in order.
pub fn transpose_into(
    cx: &dyn Emit,
    f: &Function,
    linear: &[bool],
    args: &[Option<Val>],
    cts: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let program = RefCell::new(LinearProgram::default());
    let (inputs, outs) = trace_linear(cx, &program, f, linear, args, &|i| cts[i].is_some())?;
    let seeds: Vec<(Lv, Val)> = outs.iter().zip(cts).filter_map(|(o, c)| o.zip(*c)).collect();
    transpose_program(cx, &program.into_inner(), &seeds, &inputs)
}

/// Splits a linear function: what depends on linear parameters becomes linear equations, the rest ordinary ones.
/// Returns the linear inputs and the linear value of each wanted result (`None`: a real zero).
pub(super) fn trace_linear(
    cx: &dyn Emit,
    program: &RefCell<LinearProgram>,
    f: &Function,
    linear: &[bool],
    args: &[Option<Val>],
    wanted: &dyn Fn(usize) -> bool,
) -> Result<(Vec<Lv>, Vec<Option<Lv>>)> {
    let lin = Lin::new(cx, program);
    let mask: Vec<bool> = (0..f.results().len()).map(wanted).collect();
    let needed = f.needed(Some(&mask));
    let mut map: Vec<Option<Operand>> = vec![None; f.len()];
    let mut inputs = Vec::new();
    for (i, &p) in f.params().iter().enumerate() {
        map[p.index()] = Some(if linear[i] {
            let l = program.borrow_mut().input(f.ty(p).clone());
            inputs.push(l);
            Operand::L(l)
        } else {
            Operand::R(args[i].expect("an ordinary parameter has an argument"))
        });
    }
    for e in f.eqns() {
        if !e.results().any(|r| needed[r.index()]) {
            continue;
        }
        cx.set_loc(e.loc);
        let x: SmallVec<[Operand; 4]> =
            f.operands(e).iter().map(|v| map[v.index()].expect("operands precede their equation")).collect();
        if x.iter().any(|o| matches!(o, Operand::L(_))) {
            let x = promote_zeros(&lin, f, e, x);
            for (r, y) in e.results().zip(lin.apply(e.op.clone(), &x)) {
                map[r.index()] = Some(Operand::L(y));
            }
        } else {
            let x: SmallVec<[Val; 4]> =
                x.iter().filter_map(|o| if let Operand::R(v) = o { Some(*v) } else { None }).collect();
            for (r, y) in e.results().zip(cx.emit(e.op.clone(), &x)) {
                map[r.index()] = Some(Operand::R(y));
            }
        }
    }
    let mut outs = Vec::new();
    for (i, v) in f.results().iter().enumerate() {
        outs.push(match map[v.index()] {
            Some(Operand::L(l)) => Some(l),
            Some(Operand::R(_)) if mask[i] && !f.is_zero(*v) => {
                let text = format!("result {i} of `{}` does not depend on its linear arguments: not linear", f.name);
                return Err(Error::new(Code::NotLinear, text));
            }
            _ => None,
        });
    }
    Ok((inputs, outs))
}

/// Real zeros beside linear operands are linear too: `select(p, t, 0)` is linear in `t`. A rule wrote them where it
/// needed a real zero, and replay made ordinary constants of them.
fn promote_zeros(
    lin: &Lin<'_>,
    f: &Function,
    e: &crate::graph::Eqn,
    mut x: SmallVec<[Operand; 4]>,
) -> SmallVec<[Operand; 4]> {
    let mask: SmallVec<[bool; 4]> = x.iter().map(|o| matches!(o, Operand::L(_))).collect();
    if !e.op.linear_in(&mask) {
        for (o, &v) in x.iter_mut().zip(f.operands(e)) {
            if matches!(o, Operand::R(_)) && f.is_zero(v) {
                *o = Operand::L(lin.zeros(f.ty(v)));
            }
        }
    }
    x
}
