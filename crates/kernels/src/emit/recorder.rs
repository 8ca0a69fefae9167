//! The program under construction on this thread, and the operations that it takes.
//!
//! What vectors write down, apart from their types: every function on vectors calls these, none
//! should hold them.

use super::program::{Id, Kind, One, Program, Two};
use std::cell::RefCell;

thread_local! {
    static RECORDING: RefCell<Program> = RefCell::default();
}

pub(super) fn with<R>(f: impl FnOnce(&mut Program) -> R) -> R {
    RECORDING.with_borrow_mut(f)
}

#[inline(never)]
pub(super) fn operand(x: Id, size: usize) -> Id {
    with(|p| {
        if Some(p.kind(x)) == Kind::of_size(size) {
            x
        } else {
            p.fail()
        }
    })
}
#[inline(never)]
pub(super) fn constant(bits: u64, wide: bool) -> Id {
    with(|p| p.constant(bits, if wide { 8 } else { 4 }))
}
#[inline(never)]
pub(super) fn one(f: One, a: Id) -> Id {
    with(|p| p.one(f, a))
}
#[inline(never)]
pub(super) fn two(f: Two, a: Id, b: Id) -> Id {
    with(|p| p.two(f, a, b))
}
#[inline(never)]
pub(super) fn fma(a: Id, b: Id, c: Id) -> Id {
    with(|p| p.fma(a, b, c))
}
#[inline(never)]
pub(super) fn compare(f: u8, a: Id, b: Id) -> Id {
    with(|p| p.compare(f, a, b))
}
#[inline(never)]
pub(super) fn both(a: Id, b: Id) -> Id {
    with(|p| p.both(a, b))
}
#[inline(never)]
pub(super) fn either(a: Id, b: Id) -> Id {
    with(|p| p.either(a, b))
}
#[inline(never)]
pub(super) fn not(a: Id) -> Id {
    with(|p| p.not(a))
}
#[inline(never)]
pub(super) fn select(m: Id, a: Id, b: Id) -> Id {
    with(|p| p.select(m, a, b))
}
#[inline(never)]
pub(super) fn is_wide() -> bool {
    with(|p: &mut Program| p.wide)
}
