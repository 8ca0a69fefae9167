//! Machine instructions of each cell (operation and element type), counted by callgrind.
//! `tests/cells.py` runs this test and reads the counts.

use super::*;
use std::arch::asm;

/// Callgrind's requests to zero its counters and to dump them.
const ZERO: u64 = 0x4354_0001;
const DUMP: u64 = 0x4354_0003;

/// Sends a client request to valgrind; a no-op without valgrind.
fn request(what: u64, argument: u64) {
    let arguments = [what, argument, 0, 0, 0, 0];
    // SAFETY: the rotations cancel (128 bits in total) and `xchg rbx, rbx` has no effect, so a
    // processor changes no register. Valgrind recognises the sequence and reads the arguments at
    // `rax`, which live until the end of the block.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0u64 => _,
        );
    }
}

/// An operand of numbers that no function handles as a special case.
fn usual(dtype: DType, k: usize, n: usize) -> Array {
    let float = |i: usize| 0.3 + 0.4 * ((i * 37 + k * 11) % 101) as f64 / 101.0;
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..n).map(float).collect()),
        Kind::Complex => Wide::C((0..n).map(|i| C128::new(float(i), float(i + 13))).collect()),
        Kind::Bool => Wide::I((0..n).map(|i| (i * 7 / 3 + k) as i128 & 1).collect()),
        Kind::Int | Kind::Opaque => {
            Wide::I((0..n).map(|i| ((i * 37 + 3 * k) % 5 + 1) as i128).collect())
        }
    };
    wide.narrow(dtype, [n]).unwrap()
}

/// Element counts of the first run, and additional ones of the second. The instructions of
/// compilation and calls cancel in the difference.
const BASE_ELEMENTS: usize = 1 << 10;
const ADDED_ELEMENTS: usize = 1 << 12;

#[test]
#[ignore = "counts instructions under callgrind: tests/cells.py"]
fn instructions_of_every_cell() {
    let Some(isa) = Isa::available().find(|l| l.has_avx2()) else {
        return;
    };
    for op in operations() {
        for dtype in DType::ALL {
            let Some(types) = admitted(&op, dtype) else {
                continue;
            };
            for n in [BASE_ELEMENTS, BASE_ELEMENTS + ADDED_ELEMENTS] {
                let x: Vec<Array> = types
                    .iter()
                    .zip(0..)
                    .map(|(t, k)| usual(t.dtype, k, n))
                    .collect();
                run_watched(&op, &x, isa, &mut |engine, run| {
                    let name = format!(
                        "{} {dtype} {engine:?} {n} {}\0",
                        op.name(),
                        format!("{op:?}").replace(' ', "")
                    );
                    request(ZERO, 0);
                    if run() {
                        request(DUMP, name.as_ptr() as u64);
                    }
                });
            }
        }
    }
}
