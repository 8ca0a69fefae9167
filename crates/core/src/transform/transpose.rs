//! transpose: the adjoint of a linear program.
//!
//! ```text
//! dy = A dx   =>   ct_x = Aᵀ ct_y,   <ct_y, A dx> = <Aᵀ ct_y, dx>   (the real inner product Re Σ conj(a) b)
//! ```
//! Cotangents are summed in reverse order of equations, then in the order of operands. The first
//! one is not added to zero. A cotangent that is zeros around a window, which is that of a read at
//! an index, is added in the window:
//!
//! ```text
//! ct + update(0, u, i)   =  update(ct, ct[i] + u, i)
//! ct + scatter(0, i, u)  =  scatter(ct, i, u)             of a scatter that adds
//! ```

use super::linear_map::{LinearMap, PerLinear};
use crate::analysis::trace_linear;
use crate::error::{Code, Error, Result};
use crate::ir::{Arg, Emit, Function, Lin, LinEqn, LinearProgram, Lv, Op, Operand, Val};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Transposes `program`: cotangents of `outs` -> the cotangent of every input in `wanted` (`None`:
/// zero).
///
/// Equations whose results have no cotangent are skipped. O(equations).
pub fn transpose_program(
    cx: &dyn Emit,
    program: &LinearProgram,
    outs: &[(Lv, Val)],
    wanted: &[Lv],
) -> Result<Vec<Option<Val>>> {
    let mut ct: Vec<Option<Val>> = vec![None; program.len()];
    LinearMap::new(cx, program).pull(outs, wanted, &mut |l, v| {
        add(cx, &mut ct[l.index()], v);
        Ok::<(), Error>(())
    })?;
    Ok(wanted.iter().map(|l| ct[l.index()]).collect())
}

/// Adds a cotangent to those that arrived before it. The first one is not added to zero.
fn add(cx: &dyn Emit, sum: &mut Option<Val>, v: Val) {
    let plain = |old: Val| cx.emit(cx.session().sum(&cx.ty(old)), &[old, v])[0];
    *sum = Some(match *sum {
        None => v,
        Some(old) => add_in_window(cx, old, v)
            .or_else(|| add_in_window(cx, v, old))
            .unwrap_or_else(|| plain(old)),
    });
}

/// `to + v`, where `v` is zeros around the window that an operation read.
fn add_in_window(cx: &dyn Emit, to: Val, v: Val) -> Option<Val> {
    let ty = cx.ty(v);
    // Extents that differ are compared when the sum runs.
    if cx.session().has_own_sum() || ty.dtype.opaque().is_some() || cx.ty(to) != ty {
        return None;
    }
    let (op, x) = cx.written(v)?;
    let (first, _) = cx.written(*x.first()?)?;
    match first {
        Op::Constant(c) if c.is_zero() => op.added_to(cx, to, &x),
        _ => None,
    }
}

/// The use of a linear value in a transposition.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// No wanted input determines it.
    Dead,
    /// A wanted input determines it.
    Live,
    /// A wanted input.
    Input,
}

impl LinearMap<'_> {
    /// Passes every cotangent of a `wanted` input to `sink`, in the order of accumulation. `outs`
    /// are cotangents of linear values.
    ///
    /// Equations whose results have no cotangent, or that depend on no wanted input, are skipped.
    /// O(equations). Returns the first error of a rule or of the sink.
    pub fn pull<E: From<Error>>(
        &self,
        outs: &[(Lv, Val)],
        wanted: &[Lv],
        sink: &mut dyn FnMut(Lv, Val) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let role = self.roles(wanted);
        let mut ct: PerLinear<Option<Val>> = smallvec::smallvec![None; self.program.len()];
        let mut give = |ct: &mut PerLinear<Option<Val>>, l: Lv, v: Val| match role.get(l.index()) {
            Some(Role::Input) => sink(l, v),
            Some(Role::Live) => {
                add(self.cx, &mut ct[l.index()], v);
                Ok(())
            }
            // Poison is no value of the program.
            Some(Role::Dead) | None => Ok(()),
        };
        for &(l, v) in outs {
            give(&mut ct, l, v)?;
        }
        let mut args = SmallVec::<[Arg; 4]>::new();
        let mut cts = SmallVec::<[Option<Val>; 4]>::new();
        for e in self.program.eqns().iter().rev() {
            cts.clear();
            cts.extend(e.results().map(|r| ct[r.index()].take()));
            if cts.iter().all(Option::is_none) {
                continue;
            }
            args.clear();
            args.extend(e.operands.iter().map(|o| match o {
                Operand::R(v) => Arg::R((self.residual)(*v)),
                Operand::L(l) => Arg::L(self.ty(*l)),
            }));
            self.cx.set_loc(e.loc);
            let back = (self.cx.session())
                .transpose(&e.op, self.cx, &args, &cts)
                .map_err(|err| err.at(e.loc))?;
            for (i, (o, v)) in e.operands.iter().zip(back).enumerate() {
                if let (Operand::L(l), Some(v)) = (o, v) {
                    self.check(e, i, *l, v)?;
                    give(&mut ct, *l, v)?;
                }
            }
        }
        Ok(())
    }

    /// The use of each linear value.
    fn roles(&self, wanted: &[Lv]) -> PerLinear<Role> {
        let mut role: PerLinear<Role> = smallvec::smallvec![Role::Dead; self.program.len()];
        for l in wanted {
            role[l.index()] = Role::Input;
        }
        for e in self.program.eqns() {
            let is_live = |o: &Operand| matches!(o, Operand::L(l) if role[l.index()] != Role::Dead);
            let live = match e.operands.iter().any(is_live) {
                true => Role::Live,
                false => Role::Dead,
            };
            e.results().for_each(|r| role[r.index()] = live);
        }
        role
    }

    /// Checks the type of the cotangent of operand `i`.
    fn check(&self, e: &LinEqn, i: usize, l: Lv, v: Val) -> Result<()> {
        if self.cx.failed() {
            return Ok(());
        }
        let (got, want) = (self.cx.ty(v), self.program.ty(l));
        if got.dtype == want.dtype && got.rank() == want.rank() {
            return Ok(());
        }
        let text = format!(
            "transpose rule of `{}` produced {got} for operand {i} of type {want}",
            e.op.name()
        );
        Err(Error::new(Code::RuleType, text).at(e.loc))
    }
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
