//! linearize: one pass over a function that writes a copy of it, and its derivative as a linear
//! program.
//!
//! ```text
//! y = f(x)   =>   y, residuals  and  dy = sum over equations of (op'(x)) dx
//! ```

use super::tangents::{OpTangents, TangentMode, WithTangents, with_tangents};
use crate::error::{Code, Error, Result};
use crate::ir::{Emit, Eqn, Function, Lin, LinearProgram, Lv, Op, Val};
use crate::shape::Type;
use std::cell::RefCell;

/// Tangents that are linear values of a program.
struct LinearTangents<'a> {
    cx: &'a dyn Emit,
    program: &'a RefCell<LinearProgram>,
}

impl TangentMode for LinearTangents<'_> {
    type Tangent = Lv;
    const NAME: &'static str = "linearize";

    fn sum(&self, a: Lv, b: Lv) -> Lv {
        Lin::new(self.cx, self.program).sum(a, b)
    }

    fn write(
        &self,
        cx: &dyn Emit,
        f: &Function,
        e: &Eqn,
        op: &Op,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Result<OpTangents<Lv>> {
        let lin = Lin::new(cx, self.program);
        linearize_op(&lin, f, e, op, x, t)
    }
}

/// Writes `f` applied to `args`, and its derivative. `seeds` assigns tangents to values of `f`. The
/// seed of an intermediate value is added to its own tangent. Only `wanted` results (all if `None`)
/// are differentiated.
///
/// O(equations); one traversal.
pub fn linearize_into(
    cx: &dyn Emit,
    program: &RefCell<LinearProgram>,
    f: &Function,
    args: &[Val],
    seeds: &[(Val, Lv)],
    wanted: Option<&[bool]>,
) -> Result<WithTangents<Lv>> {
    with_tangents(cx, &LinearTangents { cx, program }, f, args, seeds, wanted)
}

/// Linearizes the operation of equation `e` of `f`, and checks what its rule returned.
pub(super) fn linearize_op(
    lin: &Lin<'_>,
    f: &Function,
    e: &Eqn,
    op: &Op,
    x: &[Val],
    t: &[Option<Lv>],
) -> Result<OpTangents<Lv>> {
    let (y, dy) = lin.session().linearize(op, lin, x, t)?;
    check(lin, f, e, &y, &dy)?;
    Ok((y, dy))
}

/// Checks that a rule returned results and tangents of the types of the results.
fn check(lin: &Lin<'_>, f: &Function, e: &Eqn, y: &[Val], dy: &[Option<Lv>]) -> Result<()> {
    let name = e.op.name();
    for (r, (&y, dy)) in e.results().zip(y.iter().zip(dy)) {
        let ty = f.ty(r);
        let tangent = dy.map(|d| (lin.lty(d), ty.tangent()));
        for (pair, what) in [
            (Some((lin.ty(y), ty.clone())), "result"),
            (tangent, "tangent"),
        ] {
            let differ =
                |(got, want): &(Type, Type)| got.dtype != want.dtype || got.rank() != want.rank();
            if let Some((got, _)) = pair.filter(|p| !lin.failed() && differ(p)) {
                let text = format!(
                    "linearize rule of `{name}` produced the {what} {got} for a result of type {ty}"
                );
                return Err(Error::new(Code::RuleType, text).at(e.loc));
            }
        }
    }
    Ok(())
}
