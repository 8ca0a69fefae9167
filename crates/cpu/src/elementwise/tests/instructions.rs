//! Instructions of each cell of the walk, counted by callgrind: `tests/cells.py` runs this and
//! reads the counts.

use super::*;
use std::arch::asm;

/// Requests of callgrind.
const ZERO: u64 = 0x4354_0001;
const DUMP: u64 = 0x4354_0003;

/// Asks valgrind for something; without valgrind nothing happens.
fn request(what: u64, argument: u64) {
    let arguments = [what, argument, 0, 0, 0, 0];
    // SAFETY: rotations that cancel and an exchange of a register with itself: valgrind takes them
    // for a request, whose arguments `rax` points to, and a processor does nothing.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0u64 => _,
        );
    }
}

/// Numbers that no function treats in a special way.
fn usual(dtype: DType, k: usize, n: usize) -> Array {
    let float = |i: usize| 0.3 + 0.4 * ((i * 37 + k * 11) % 101) as f64 / 101.0;
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..n).map(float).collect()),
        Kind::Complex => Wide::C((0..n).map(|i| C128::new(float(i), float(i + 13))).collect()),
        Kind::Bool => Wide::I((0..n).map(|i| (i * 7 / 3 + k) as i128 & 1).collect()),
        Kind::Int => Wide::I((0..n).map(|i| ((i * 37 + 3 * k) % 5 + 1) as i128).collect()),
    };
    wide.narrow(dtype, [n]).unwrap()
}

/// The least number of elements, and how many more: counts of compiling and calling cancel in the
/// difference.
const BASE_ELEMENTS: usize = 1 << 10;
const ADDED_ELEMENTS: usize = 1 << 12;

#[test]
#[ignore = "counts instructions under callgrind: tests/cells.py"]
fn instructions_of_every_cell() {
    let Some(level) = Level::available().find(|&l| l > Level::Portable) else {
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
                run_watched(&op, &x, level, &mut |engine, run| {
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
