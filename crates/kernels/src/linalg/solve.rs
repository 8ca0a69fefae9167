//! Large triangular systems: blocks of the triangle by [`Panels`], strips of right-hand sides one
//! after another, and products for the rest.
//!
//! ```text
//! | A     | | X |   | B |        X = A⁻¹ B,   Y = D⁻¹ (E - C X)
//! | C   D | | Y | = | E |
//! ```
//! The rows of an upper triangle are solved from the last to the first. Right-hand sides are
//! independent of each other, so threads may divide them anywhere. Leading zeros of a strip, as in
//! the identity, are skipped unless they would become NaN.

use super::panels::{PANEL_RHS, Panels};
use super::support::{MAX_UNBLOCKED_EXTENT, Triangle};
use crate::gemm::{PackLanes, Strided, Update, transfer, update};
use crate::memory::{Fallible, collected, with_scratch};
use crate::parallel::{Shared, attempt};
use crate::simd::Isa;

/// Number of rows of the triangle that are packed together. The strip beside it stays in the cache.
const BLOCK_ROWS: usize = 256;
/// Minimum number of right-hand sides for which the triangle is packed.
const MIN_PACKED_RHS: usize = 8;

/// Solves with `a` (square) in place of `b` (rows×columns); neither is empty.
pub(super) fn triangular_solve(
    isa: Isa,
    b: &mut [f64],
    a: &[f64],
    rows: usize,
    columns: usize,
    how: Triangle,
) -> Fallible {
    let (n, count) = if how.left {
        (rows, columns)
    } else {
        (columns, rows)
    };
    assert!(
        a.len() == n * n && b.len() == rows * columns,
        "sizes of a triangular system"
    );
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    let turned = how.transposed == how.left;
    let forward = how.lower != turned;
    let (down, across) = if turned {
        (1, n as isize)
    } else {
        (n as isize, 1)
    };
    // Element `i` of right-hand side `j` is `b[i · step + j · next]`.
    let (step, next) = if how.left {
        (columns as isize, 1)
    } else {
        (1, columns as isize)
    };
    // First row of each strip that is not zero, in the order of solution.
    let begin = |strip: usize| {
        let row = |i: usize| if forward { i } else { n - 1 - i };
        let sides = strip * PANEL_RHS..count.min((strip + 1) * PANEL_RHS);
        let some = |&i: &usize| {
            sides
                .clone()
                .any(|j| b[row(i) * step as usize + j * next as usize] != 0.0)
        };
        (0..n).find(some).unwrap_or(n)
    };
    let strips = if count < MIN_PACKED_RHS {
        1
    } else {
        count.div_ceil(PANEL_RHS)
    };
    let mut begins = collected((0..strips).map(|strip| {
        if count < MIN_PACKED_RHS {
            0
        } else {
            begin(strip)
        }
    }))?;
    let divides = || how.unit || (0..n).all(|i| a[i * (n + 1)] != 0.0);
    if begins.iter().any(|&begin| begin > 0) && !(divides() && a.iter().all(|x| x.is_finite())) {
        begins.fill(0);
    }
    let to = Shared(b.as_mut_ptr());
    let block = if count < MIN_PACKED_RHS {
        MAX_UNBLOCKED_EXTENT
    } else {
        BLOCK_ROWS
    };
    for done in (0..n).step_by(block) {
        let size = block.min(n - done);
        let first = if forward { done } else { n - done - size };
        let (corner, end) = (first as isize * (down + across), (first + size) as isize);
        let known = if forward { 0 } else { end };
        // Strips with solved rows that are not zero.
        let begun = |&begin: &usize| begin < done;
        let low = PANEL_RHS * begins.iter().position(begun).unwrap_or(begins.len());
        let high = begins
            .iter()
            .rposition(begun)
            .map_or(low, |last| count.min((last + 1) * PANEL_RHS));
        let at = |i: isize| to.get().wrapping_offset(i * step + low as isize * next);
        let known_sides = high - low;
        // SAFETY: solved rows and remaining rows do not overlap, and all are inside `b`.
        unsafe {
            let c = Strided {
                at: at(first as isize),
                row: step,
                col: next,
            };
            let a = Strided {
                at: a
                    .as_ptr()
                    .wrapping_offset(first as isize * down + known * across),
                row: down,
                col: across,
            };
            let x = Strided {
                at: at(known).cast_const(),
                row: step,
                col: next,
            };
            match how.left {
                true => update(isa, [size, done, known_sides], Update::Minus, c, a, x)?,
                false => {
                    let (c, a, x) = (c.transposed(), a.transposed(), x.transposed());
                    update(isa, [known_sides, done, size], Update::Minus, c, x, a)?
                }
            }
        }
        if count < MIN_PACKED_RHS {
            // SAFETY: the block and its rows are inside the matrices.
            unsafe {
                let a = Strided {
                    at: a.as_ptr().offset(corner),
                    row: down,
                    col: across,
                };
                let x = Strided {
                    at: to.get().offset(first as isize * step),
                    row: step,
                    col: next,
                };
                substitute(x, a, [size, count], forward, how.unit);
            }
            continue;
        }
        // SAFETY: the block is inside A.
        let panels = unsafe {
            match forward {
                true => Panels::new(size, how.unit, a.as_ptr().offset(corner), down, across)?,
                false => {
                    let last = a.as_ptr().offset((end - 1) * (down + across));
                    Panels::new(size, how.unit, last, -down, -across)?
                }
            }
        };
        let rows = panels.rows();
        let nanos = (size * size * count / 40) as u64;
        attempt(count.div_ceil(PANEL_RHS), nanos, |strip| {
            if begins[strip] >= done + size {
                return Ok(());
            }
            let zero = begins[strip].saturating_sub(done);
            let at = to
                .get()
                .wrapping_offset(first as isize * step + (strip * PANEL_RHS) as isize * next);
            let sides = PANEL_RHS.min(count - strip * PANEL_RHS);
            with_scratch(rows * PANEL_RHS * size_of::<f64>(), |scratch| {
                // SAFETY: the scratch memory has room for the rows, is initialised, and is not
                // shared.
                let x = unsafe {
                    if rows > size || sides < PANEL_RHS {
                        scratch.write_bytes(0, rows * PANEL_RHS * size_of::<f64>());
                    }
                    std::slice::from_raw_parts_mut(scratch.cast::<f64>(), rows * PANEL_RHS)
                };
                let own = if forward {
                    0
                } else {
                    (rows - size) * PANEL_RHS
                };
                let there = PackLanes {
                    from: at.cast_const(),
                    lane: next,
                    step,
                    count: sides,
                    depth: size,
                };
                // SAFETY: these rows of these right-hand sides exist, and no two strips share one.
                unsafe { transfer(isa, x[own..].as_mut_ptr(), PANEL_RHS, there) };
                let width = sides.next_multiple_of(8);
                match forward {
                    true => panels.solve(isa, x, PANEL_RHS, width, zero),
                    false => panels.solve_upwards(isa, x, PANEL_RHS, width, zero),
                }
                let (from, apart) = (x[own..].as_ptr(), PANEL_RHS as isize);
                let back = match how.left {
                    true => PackLanes {
                        from,
                        lane: 1,
                        step: apart,
                        count: sides,
                        depth: size,
                    },
                    false => PackLanes {
                        from,
                        lane: apart,
                        step: 1,
                        count: size,
                        depth: sides,
                    },
                };
                // SAFETY: these rows of these right-hand sides exist, and no two strips share one.
                unsafe { transfer(isa, at, columns, back) };
            })
        })?;
    }
    Ok(())
}

/// Solves right-hand sides one after another, in place.
///
/// # Safety
/// A has `size` rows and columns, at most [`MAX_UNBLOCKED_EXTENT`]. The right-hand sides have
/// `size` rows and `count` columns.
unsafe fn substitute(
    x: Strided<*mut f64>,
    a: Strided<*const f64>,
    [size, count]: [usize; 2],
    forward: bool,
    unit: bool,
) {
    let row = |i: usize| if forward { i } else { size - 1 - i } as isize;
    for j in 0..count as isize {
        let mut found = [0.0; MAX_UNBLOCKED_EXTENT];
        for i in 0..size {
            // SAFETY: the caller guarantees these rows and columns (# Safety).
            unsafe {
                let to = x.at.offset(row(i) * x.row + j * x.col);
                let mut rest = *to;
                for (p, &y) in found[..i].iter().enumerate() {
                    rest -= *a.at.offset(row(i) * a.row + row(p) * a.col) * y;
                }
                found[i] = if unit {
                    rest
                } else {
                    rest / *a.at.offset(row(i) * (a.row + a.col))
                };
                *to = found[i];
            }
        }
    }
}
