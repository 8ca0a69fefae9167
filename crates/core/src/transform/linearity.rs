//! Which values of a function are linear in some of its parameters, and splitting a linear function by that.
//!
//! ```text
//! ordinary  does not depend on the linear parameters
//! linear    linear in them jointly
//! zero      linear, and zero whatever they are: a constant zero, or something linear of zeros
//! ```
//! A zero beside a linear operand is linear where the operation needs it to be: `select(p, t, 0)` is linear in `t`.

use super::linear::{Lin, Lv, Operand};
use crate::error::{Code, Error, Result};
use crate::graph::{Eqn, Function, Rename};
use crate::primitive::Val;
use smallvec::SmallVec;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Ordinary,
    Linear,
    Zero,
}

type Mask = SmallVec<[bool; 8]>;

/// The operands that `e` is linear in, given what they are; `None` if it is not linear.
fn linear_operands(f: &Function, e: &Eqn, class: &[Class]) -> Option<Mask> {
    let mask = |zeros| -> Mask {
        let linear = |c: Class| c == Class::Linear || (zeros && c == Class::Zero);
        f.operands(e).iter().map(|v| linear(class[v.index()])).collect()
    };
    [mask(false), mask(true)].into_iter().find(|m| m.contains(&true) && e.op.linear_in(m))
}

/// What every value of `f` is when its parameters are this; an error at the first equation that is not linear (of those
/// that `wanted` results need; all if `None`).
pub(crate) fn classify(f: &Function, params: &[Class], wanted: Option<&[bool]>) -> Result<Vec<Class>> {
    let needed = f.needed(wanted);
    let mut class = vec![Class::Ordinary; f.len()];
    for (p, &c) in f.params().iter().zip(params) {
        class[p.index()] = c;
    }
    for e in f.eqns().iter().filter(|e| e.results().any(|r| needed[r.index()])) {
        let has = |c: Class| f.operands(e).iter().any(|v| class[v.index()] == c);
        let y = if has(Class::Linear) {
            if linear_operands(f, e, &class).is_none() {
                let which: Vec<usize> =
                    (0..f.operands(e).len()).filter(|&i| class[f.operands(e)[i].index()] == Class::Linear).collect();
                let text = format!("`{}` is not linear in operands {which:?}", e.op.name());
                return Err(Error::new(Code::NotLinear, text).at(e.loc));
            }
            Class::Linear
        } else if e.op.is_zeros() || (has(Class::Zero) && linear_operands(f, e, &class).is_some()) {
            Class::Zero
        } else {
            Class::Ordinary
        };
        for r in e.results() {
            class[r.index()] = if f.ty(r).dtype.has_tangent() { y } else { Class::Ordinary };
        }
    }
    Ok(class)
}

/// See [`Function::linear_in`].
pub(crate) fn is_linear(f: &Function, mask: &[bool]) -> bool {
    let params: Vec<Class> = mask.iter().map(|&m| if m { Class::Linear } else { Class::Ordinary }).collect();
    classify(f, &params, None).is_ok_and(|class| f.results().iter().all(|r| class[r.index()] != Class::Ordinary))
}

/// Writes a linear function: what depends on its linear arguments becomes linear equations, the rest ordinary ones.
/// An argument is a value, a linear value, or (`None`) zero. Returns the linear value of each wanted result (`None`: zero).
pub(crate) fn trace_linear(
    lin: &Lin<'_>,
    f: &Function,
    args: &[Option<Operand>],
    wanted: &[bool],
) -> Result<Vec<Option<Lv>>> {
    let params: Vec<Class> = args
        .iter()
        .map(|a| match a {
            Some(Operand::R(_)) => Class::Ordinary,
            Some(Operand::L(_)) => Class::Linear,
            None => Class::Zero,
        })
        .collect();
    let class = classify(f, &params, Some(wanted))?;
    for (i, v) in f.results().iter().enumerate().filter(|(i, _)| wanted[*i]) {
        if class[v.index()] == Class::Ordinary {
            let text = format!("result {i} of `{}` does not depend on its linear arguments: not linear", f.name);
            return Err(Error::new(Code::NotLinear, text));
        }
    }
    let needed = f.needed(Some(wanted));
    let mut map: Vec<Option<Operand>> = vec![None; f.len()];
    for (p, a) in f.params().iter().zip(args) {
        map[p.index()] = *a;
    }
    let mut rename = Rename::default();
    for e in f.eqns().iter().filter(|e| e.results().any(|r| needed[r.index()])) {
        lin.set_loc(e.loc);
        let op = rename.op(lin.emit(), &e.op).into_owned();
        let linear = e.results().any(|r| class[r.index()] == Class::Linear);
        let mask = if linear { linear_operands(f, e, &class) } else { None }.unwrap_or_default();
        let mut x = SmallVec::<[Operand; 4]>::new();
        for (i, v) in f.operands(e).iter().enumerate() {
            let o = map[v.index()].unwrap_or_else(|| lin.emit().zeros(f.ty(*v)).into());
            x.push(match o {
                // A zero that has to be linear here.
                Operand::R(v) if linear && mask[i] => lin.zeros(&lin.ty(v)).into(),
                o => o,
            });
        }
        if linear {
            for (r, y) in e.results().zip(lin.apply(op, &x)) {
                map[r.index()] = Some(y.into());
            }
        } else {
            let x: SmallVec<[Val; 4]> =
                x.iter().filter_map(|o| if let Operand::R(v) = o { Some(*v) } else { None }).collect();
            for (r, y) in e.results().zip(lin.emit().emit(op, &x)) {
                map[r.index()] = Some(y.into());
            }
        }
    }
    let linear = |v: &Val| match map[v.index()] {
        Some(Operand::L(l)) => Some(l),
        _ => None,
    };
    Ok(f.results().iter().zip(wanted).map(|(v, w)| linear(v).filter(|_| *w)).collect())
}
