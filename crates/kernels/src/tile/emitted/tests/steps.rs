//! Bodies as the steps of a loop over their elements ([`Steps`]): the interpreter's bits.

use super::{Isa, Type};
use crate::testing::Guarded;
use crate::tile::emitted::tests::Kinds;
use crate::tile::{Body, ElementAddress, StepsBuilder, StepsEnd};
use std::ops::Range;

/// Memory with these bytes, which ends at a page that may not be accessed.
fn guarded(bytes: &[u8]) -> (Guarded, *mut u8) {
    let memory = Guarded::new(bytes.len().max(1));
    let at = memory.bytes(bytes.len(), true);
    // SAFETY: the memory has room for all bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
    (memory, at)
}

/// The elements of operands at positions of a shape of three axes, whose last two have these
/// extents.
pub(super) fn dense(
    [q, r]: [usize; 2],
    range: Range<usize>,
    kinds: &[Type],
    sources: &[*const u8],
    strides: &[[isize; 3]],
) -> Vec<Vec<u8>> {
    let element = |k: usize, position: usize| {
        let index = [position / (q * r), position / r % q, position % r];
        let at: isize = index
            .iter()
            .zip(&strides[k])
            .map(|(&i, s)| i as isize * s)
            .sum();
        let size = kinds[k].size();
        let from = sources[k].wrapping_offset(at * size as isize);
        // SAFETY: the operand has an element at each index of the shape.
        unsafe { std::slice::from_raw_parts(from, size) }
    };
    let of = |k: usize| range.clone().flat_map(|i| element(k, i)).copied().collect();
    (0..sources.len()).map(of).collect()
}

/// Compares a loop over the elements of `dense`, a step for each, with `want`. A step that needs
/// the fallback is interpreted.
pub(super) fn compare_steps(
    body: &Body,
    kinds: &Kinds,
    isa: Isa,
    dense: &[Vec<u8>],
    want: &[Vec<u8>],
) {
    let mut b = StepsBuilder::at(isa).expect("a level with code");
    let at = |entry: usize| ElementAddress {
        entry: entry as u32,
        offset: 0,
    };
    let inputs = kinds[0].iter().enumerate();
    let inputs: Vec<_> = inputs.map(|(k, of)| b.fixed(at(k), of.size())).collect();
    let Some(outputs) = b.body(body, &inputs) else {
        return;
    };
    for (k, (&y, of)) in outputs.iter().zip(&kinds[1]).enumerate() {
        b.store(at(inputs.len() + k), None, of.size(), y);
    }
    let all: Vec<Type> = kinds.iter().flatten().copied().collect();
    let advances = (0u32..).zip(all.iter().map(|of| of.size() as i32));
    let Some(steps) = b
        .finish(advances.collect(), Vec::new(), u32::MAX)
        .compiled()
    else {
        return;
    };
    let blank: Vec<Vec<u8>> = want.iter().map(|w| vec![0x55; w.len()]).collect();
    let memory: Vec<_> = dense.iter().chain(&blank).map(|x| guarded(x)).collect();
    let count = want[0].len() / kinds[1][0].size();
    let mut left = count;
    while left > 0 {
        let row = |k: usize| memory[k].1.wrapping_add((count - left) * all[k].size());
        let mut table: Vec<*mut u8> = (0..all.len()).map(row).collect();
        // SAFETY: each operand has an element for each step that is left.
        match unsafe { steps.run(&mut table, left) } {
            StepsEnd::Done => break,
            StepsEnd::Rare(n) => left = n,
            StepsEnd::Ended => unreachable!("no hook"),
            StepsEnd::Stopped(_) => unreachable!("there is no condition"),
        }
        let row = |k: usize| memory[k].1.wrapping_add((count - left) * all[k].size());
        let x: Vec<*const u8> = (0..dense.len()).map(|k| row(k).cast_const()).collect();
        let y: Vec<*mut u8> = (dense.len()..all.len()).map(row).collect();
        let strides: Vec<&[isize]> = x.iter().map(|_| &[1isize][..]).collect();
        let laid = body.lay(&[1], strides.into_iter(), &[], isa);
        // SAFETY: operands have an element.
        unsafe { body.interpret(&laid.layouts, 0..1, &x, &y) };
        left -= 1;
    }
    for (k, &of) in kinds[1].iter().enumerate() {
        let at = memory[dense.len() + k].1;
        // SAFETY: the output has `count` elements.
        let got = unsafe { std::slice::from_raw_parts(at, count * of.size()) };
        for i in 0..count {
            let at = i * of.size()..(i + 1) * of.size();
            let (x, y) = (of.bits(&got[at.clone()]), of.bits(&want[k][at]));
            assert_eq!(x, y, "step {i}, output {k} at {isa:?}: {x:x} for {y:x}");
        }
    }
}
