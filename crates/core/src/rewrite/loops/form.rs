//! A loop as the pass sees it: `scan` and `while` in one form.

use crate::ir::{Function, Op, Val};

/// A `scan` or a `while` and its operands.
pub(super) struct LoopForm<'a> {
    pub(super) op: &'a Op,
    pub(super) body: &'a Function,
    /// The condition of a `while`, and its constants.
    pub(super) cond: Option<(&'a Function, &'a [Val])>,
    pub(super) consts: &'a [Val],
    pub(super) init: &'a [Val],
    /// Operands that are read row by row.
    pub(super) rows: &'a [Val],
}

impl<'a> LoopForm<'a> {
    /// The form of a loop; `None` for another operation, and for a loop whose regions bind symbols.
    pub(super) fn of(op: &'a Op, x: &'a [Val]) -> Option<LoopForm<'a>> {
        let form = match op {
            Op::Scan(s) => {
                let (consts, rest) = x.split_at(s.consts);
                let (init, rows) = rest.split_at(s.carry);
                LoopForm {
                    op,
                    body: &s.body,
                    cond: None,
                    consts,
                    init,
                    rows,
                }
            }
            Op::While(w) => {
                let (of_cond, rest) = x.split_at(w.cond_consts);
                let (consts, init) = rest.split_at(w.body_consts);
                LoopForm {
                    op,
                    body: &w.body,
                    cond: Some((&w.cond, of_cond)),
                    consts,
                    init,
                    rows: &[],
                }
            }
            _ => return None,
        };
        let open = |f: &Function| !f.bound_syms().is_empty();
        (!open(form.body) && !form.cond.is_some_and(|(f, _)| open(f))).then_some(form)
    }

    /// The parameter of the body that is a carry.
    pub(super) fn carry(&self, k: usize) -> Val {
        self.body.params()[self.consts.len() + k]
    }

    /// The results of the body that are no carries.
    pub(super) fn stacked(&self) -> &'a [Val] {
        &self.body.results()[self.init.len()..]
    }
}
