//! replay: a linear program written as ordinary equations (forward mode).

use super::linear_map::{LinearMap, PerLinear};
use crate::ir::{Emit, LinearProgram, Lv, Operand, Val};
use smallvec::SmallVec;

/// Writes a linear program as ordinary equations (forward mode): tangents for `inputs` -> the
/// values of `outs`. Only equations that `outs` need are written. `residual` maps each ordinary
/// value to its new value.
pub fn replay(
    cx: &dyn Emit,
    program: &LinearProgram,
    inputs: &[(Lv, Val)],
    outs: &[Lv],
    residual: &dyn Fn(Val) -> Val,
) -> Vec<Val> {
    let mut tangents: PerLinear<Option<Val>> = smallvec::smallvec![None; program.len()];
    for &(l, v) in inputs {
        tangents[l.index()] = Some(v);
    }
    let map = LinearMap::new(cx, program).with_residuals(residual);
    map.push(&mut tangents, Some(&reaching(program, outs)));
    let value = |l: &Lv| match tangents.get(l.index()) {
        Some(t) => t.unwrap_or_else(|| cx.zeros(program.ty(*l))),
        None => Val::POISON,
    };
    outs.iter().map(value).collect()
}

impl LinearMap<'_> {
    /// Writes the equations whose results are marked in `need` (all if `None`).
    /// `tangents` are the values of the linear values (`None`: zero): those of inputs are given,
    /// those of results are set. An equation whose linear operands are all zero is not written.
    pub fn push(&self, tangents: &mut [Option<Val>], need: Option<&[bool]>) {
        for e in self.program.eqns() {
            if need.is_some_and(|need| !e.results().any(|r| need[r.index()])) {
                continue;
            }
            let moves = |o: &Operand| matches!(o, Operand::L(l) if tangents[l.index()].is_some());
            if !e.operands.is_empty() && !e.operands.iter().any(moves) {
                continue;
            }
            self.cx.set_loc(e.loc);
            let x: SmallVec<[Val; 4]> = (e.operands.iter())
                .map(|o| match o {
                    Operand::R(v) => (self.residual)(*v),
                    Operand::L(l) => {
                        tangents[l.index()].unwrap_or_else(|| self.cx.zeros(&self.ty(*l)))
                    }
                })
                .collect();
            for (r, y) in e.results().zip(self.cx.emit(e.op.clone(), &x)) {
                tangents[r.index()] = Some(y);
            }
        }
    }
}

/// Mask of the linear values that `outs` need.
pub(super) fn reaching(program: &LinearProgram, outs: &[Lv]) -> Vec<bool> {
    let mut need = vec![false; program.len()];
    for o in outs.iter().filter(|&&o| o != Lv::POISON) {
        need[o.index()] = true;
    }
    for e in program.eqns().iter().rev() {
        if e.results().any(|r| need[r.index()]) {
            for o in &e.operands {
                if let Operand::L(v) = o {
                    need[v.index()] = true;
                }
            }
        }
    }
    need
}
