//! The trace under construction on this thread, and functions that append operations to it.
//!
//! The functions do not depend on vector types and are never inlined: all functions on vectors
//! share one copy of them.

use super::trace::{BinaryInst, LaneType, Trace, TraceId, UnaryInst};
use std::cell::RefCell;

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}

pub(super) fn with<R>(f: impl FnOnce(&mut Trace) -> R) -> R {
    TRACE.with_borrow_mut(f)
}

#[inline(never)]
pub(super) fn operand(x: TraceId, size: usize) -> TraceId {
    with(|p| {
        if Some(p.kind(x)) == LaneType::of_size(size) {
            x
        } else {
            p.fail()
        }
    })
}
#[inline(never)]
pub(super) fn constant(bits: u64, wide: bool) -> TraceId {
    with(|p| p.constant(bits, if wide { 8 } else { 4 }))
}
#[inline(never)]
pub(super) fn one(f: UnaryInst, a: TraceId) -> TraceId {
    with(|p| p.one(f, a))
}
#[inline(never)]
pub(super) fn two(f: BinaryInst, a: TraceId, b: TraceId) -> TraceId {
    with(|p| p.two(f, a, b))
}
#[inline(never)]
pub(super) fn fma(a: TraceId, b: TraceId, c: TraceId) -> TraceId {
    with(|p| p.fma(a, b, c))
}
#[inline(never)]
pub(super) fn compare(f: u8, a: TraceId, b: TraceId) -> TraceId {
    with(|p| p.compare(f, a, b))
}
#[inline(never)]
pub(super) fn both(a: TraceId, b: TraceId) -> TraceId {
    with(|p| p.both(a, b))
}
#[inline(never)]
pub(super) fn either(a: TraceId, b: TraceId) -> TraceId {
    with(|p| p.either(a, b))
}
#[inline(never)]
pub(super) fn not(a: TraceId) -> TraceId {
    with(|p| p.not(a))
}
#[inline(never)]
pub(super) fn select(m: TraceId, a: TraceId, b: TraceId) -> TraceId {
    with(|p| p.select(m, a, b))
}
#[inline(never)]
pub(super) fn is_wide() -> bool {
    with(|p: &mut Trace| p.wide)
}
