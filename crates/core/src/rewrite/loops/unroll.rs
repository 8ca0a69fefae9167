//! Scans of few steps: the steps one after the other.

use crate::ir::{Emit, Function, Op, Val, Visit, Walk};
use crate::ops::{Reshape, Scan};
use crate::rewrite::pass::Pass;
use crate::shape::{Dim, Shape};

/// Largest number of steps of a scan that is unrolled.
const MAX_UNROLLED_STEPS: usize = 8;

/// Largest number of equations of all steps of a scan that is unrolled, those of regions included.
const MAX_UNROLLED_EQUATIONS: usize = 2000;

/// The results of a scan, by the equations of its steps. A scan of several steps that reads rows or
/// stacks results stays: slices and concatenations would take longer than its steps.
pub(super) fn steps(pass: &mut Pass, op: &Op, x: &[Val]) -> Option<Vec<Val>> {
    let Op::Scan(s) = op else { return None };
    let n = s.length.as_const().filter(|n| *n > 0)?;
    let alone = x.len() == s.consts + s.carry && s.body.results().len() == s.carry;
    let fits =
        n <= MAX_UNROLLED_STEPS && equations(&s.body).saturating_mul(n) <= MAX_UNROLLED_EQUATIONS;
    if !fits || !(n == 1 || alone) || !is_known(&s.body) {
        return None;
    }
    Some(written(pass, s, n, x))
}

/// Whether a function mentions no symbol, which may be one of its own.
fn is_known(f: &Function) -> bool {
    let mut symbolic = f.vals().any(|v| f.ty(v).shape.as_const().is_none());
    for e in f.eqns() {
        e.op.attr_syms(&mut |_| symbolic = true);
    }
    !symbolic
}

/// Number of equations of a function and of its regions.
fn equations(f: &Function) -> usize {
    let of = |op: &Op| 1 + op.regions().iter().map(|r| equations(r)).sum::<usize>();
    f.eqns().iter().map(|e| of(&e.op)).sum()
}

fn written(pass: &mut Pass, s: &Scan, n: usize, x: &[Val]) -> Vec<Val> {
    let (consts, rest) = x.split_at(s.consts);
    let (init, rows) = rest.split_at(s.carry);
    let mut carry = init.to_vec();
    for _ in 0..n {
        let rows: Vec<Val> = rows
            .iter()
            .map(|&row| {
                let shape: Shape = pass.b.ty(row).shape[1..].iter().cloned().collect();
                pass.one(Reshape { shape }, &[row])
            })
            .collect();
        let args = [consts, &carry, &rows].concat();
        carry = inlined(pass, &s.body, &args);
    }
    let stacked = carry.split_off(s.carry);
    for y in stacked {
        let shape = [&[Dim::Const(1)], &pass.b.ty(y).shape[..]].concat();
        let shape = shape.into();
        carry.push(pass.one(Reshape { shape }, &[y]));
    }
    carry
}

/// The results of a body. Equations of integers and booleans are simplified: a counter becomes a
/// number in each step. Others are not, because a runtime may round functions of constants in
/// another way than the reference, which folds them.
fn inlined(pass: &mut Pass, f: &Function, args: &[Val]) -> Vec<Val> {
    let mut walk = Walk::copying(f);
    walk.set_params(args.iter().copied());
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&pass.b) {
        let exact = |v: Val| !pass.b.ty(v).dtype.has_tangent();
        let simplified =
            x.iter().all(|&v| exact(v)) && eqn.results().all(|r| !f.ty(r).dtype.has_tangent());
        let y = match simplified {
            true => pass.write(op.into_owned(), &x),
            false => pass.b.emit(op.into_owned(), &x),
        };
        walk.set_results(eqn, y);
    }
    walk.results()
}
