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
use crate::memory::{Fallible, collected, filled, with_scratch};
use crate::parallel::attempt;
use crate::simd::Isa;

/// Number of rows of the triangle that are packed together. The strip beside it stays in the cache.
/// It decides the bits of the solutions.
const BLOCK_ROWS: usize = 256;
/// Minimum number of right-hand sides for which the triangle is packed.
/// It decides the bits of the solutions.
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
    let stored = n as isize;
    let mut system = System {
        isa,
        how,
        forward: how.lower != turned,
        n,
        count,
        a: Strided {
            at: a.as_ptr(),
            row: if turned { 1 } else { stored },
            col: if turned { stored } else { 1 },
        },
        x: Strided {
            at: b.as_mut_ptr(),
            row: if how.left { columns as isize } else { 1 },
            col: if how.left { 1 } else { columns as isize },
        },
        begins: Vec::new(),
    };
    system.begins = system.begins(a, b)?;
    system.x.at = b.as_mut_ptr();
    let block = if system.is_packed() {
        BLOCK_ROWS
    } else {
        MAX_UNBLOCKED_EXTENT
    };
    for done in (0..n).step_by(block) {
        let size = block.min(n - done);
        // SAFETY: `a` and `b` have the sizes of the system by the assertion, are borrowed for the
        // call, and `b` mutably.
        unsafe {
            system.subtract(done, size)?;
            if system.is_packed() {
                system.solve_packed(done, size)?;
            } else {
                system.solve_in_place(done, size);
            }
        }
    }
    Ok(())
}

/// A triangular system with right-hand sides as columns, whichever side the triangle is on.
struct System {
    isa: Isa,
    how: Triangle,
    /// Whether rows are solved from the first to the last.
    forward: bool,
    /// Number of rows.
    n: usize,
    /// Number of right-hand sides.
    count: usize,
    a: Strided<*const f64>,
    /// The right-hand sides, which are replaced by the solutions.
    x: Strided<*mut f64>,
    /// First row of each strip that is not zero, in the order of solution.
    begins: Vec<usize>,
}

// SAFETY: the methods that access memory are unsafe; their callers guarantee exclusive access, and
// no two threads of `solve_packed` access a right-hand side of the same strip.
unsafe impl Sync for System {}

impl System {
    /// Whether the triangle is packed.
    fn is_packed(&self) -> bool {
        self.count >= MIN_PACKED_RHS
    }

    /// First row of the block that follows `done` solved rows.
    fn first(&self, done: usize, size: usize) -> usize {
        if self.forward {
            done
        } else {
            self.n - done - size
        }
    }

    /// Returns [`System::begins`]: 0 unless leading zeros may be skipped.
    fn begins(&self, a: &[f64], b: &[f64]) -> Fallible<Vec<usize>> {
        let n = self.n;
        let begin = |strip: usize| {
            let row = |i: usize| if self.forward { i } else { n - 1 - i };
            let sides = strip * PANEL_RHS..self.count.min((strip + 1) * PANEL_RHS);
            let some = |&i: &usize| {
                let at = |j: usize| row(i) * self.x.row as usize + j * self.x.col as usize;
                sides.clone().any(|j| b[at(j)] != 0.0)
            };
            (0..n).find(some).unwrap_or(n)
        };
        if !self.is_packed() {
            return filled(0, 1);
        }
        let mut begins = collected((0..self.count.div_ceil(PANEL_RHS)).map(begin))?;
        let divides = || self.how.unit || (0..n).all(|i| a[i * (n + 1)] != 0.0);
        if begins.iter().any(|&begin| begin > 0) && !(divides() && a.iter().all(|x| x.is_finite()))
        {
            begins.fill(0);
        }
        Ok(begins)
    }

    /// Subtracts the product of `done` solved rows from the next `size` rows.
    ///
    /// # Safety
    /// `a` and `x` are valid for all their rows and columns, which nothing else accesses.
    unsafe fn subtract(&self, done: usize, size: usize) -> Fallible {
        let (isa, first, x) = (self.isa, self.first(done, size) as isize, self.x);
        let known = if self.forward {
            0
        } else {
            first + size as isize
        };
        // Strips with solved rows that are not zero.
        let begun = |&begin: &usize| begin < done;
        let low = PANEL_RHS
            * self
                .begins
                .iter()
                .position(begun)
                .unwrap_or(self.begins.len());
        let high = self
            .begins
            .iter()
            .rposition(begun)
            .map_or(low, |last| self.count.min((last + 1) * PANEL_RHS));
        let at = |i: isize| x.at.wrapping_offset(i * x.row + low as isize * x.col);
        let sides = high - low;
        let c = Strided { at: at(first), ..x };
        let a = Strided {
            at: (self.a.at).wrapping_offset(first * self.a.row + known * self.a.col),
            ..self.a
        };
        let x = Strided {
            at: at(known).cast_const(),
            row: x.row,
            col: x.col,
        };
        // SAFETY: solved rows and remaining rows do not overlap, and the caller guarantees access
        // to them.
        unsafe {
            match self.how.left {
                true => update(isa, [size, done, sides], Update::Minus, c, a, x),
                false => {
                    let (c, a, x) = (c.transposed(), a.transposed(), x.transposed());
                    update(isa, [sides, done, size], Update::Minus, c, x, a)
                }
            }
        }
    }

    /// Solves the `size` rows that follow `done` solved rows, without packing.
    ///
    /// # Safety
    /// The preconditions of [`System::subtract`].
    unsafe fn solve_in_place(&self, done: usize, size: usize) {
        let first = self.first(done, size) as isize;
        // SAFETY: the block and its rows are inside the matrices, to which the caller guarantees
        // access.
        unsafe {
            let a = Strided {
                at: self.a.at.offset(first * (self.a.row + self.a.col)),
                ..self.a
            };
            let x = Strided {
                at: self.x.at.offset(first * self.x.row),
                ..self.x
            };
            substitute(x, a, [size, self.count], self.forward, self.how.unit);
        }
    }

    /// Solves the `size` rows that follow `done` solved rows, strip by strip.
    ///
    /// # Safety
    /// The preconditions of [`System::subtract`].
    unsafe fn solve_packed(&self, done: usize, size: usize) -> Fallible {
        let (unit, row, col) = (self.how.unit, self.a.row, self.a.col);
        let first = self.first(done, size) as isize;
        // SAFETY: the block is inside the triangle, to which the caller guarantees access.
        let panels = unsafe {
            match self.forward {
                true => Panels::new(size, unit, self.a.at.offset(first * (row + col)), row, col)?,
                false => {
                    let last = self.a.at.offset((first + size as isize - 1) * (row + col));
                    Panels::new(size, unit, last, -row, -col)?
                }
            }
        };
        let nanos = (size * size * self.count / 40) as u64;
        attempt(self.count.div_ceil(PANEL_RHS), nanos, |strip| {
            let begin = self.begins[strip];
            if begin >= done + size {
                return Ok(());
            }
            // SAFETY: the caller guarantees access to the right-hand sides, and each strip is
            // solved once.
            unsafe { self.solve_strip(strip, first, size, begin.saturating_sub(done), &panels) }
        })
    }

    /// Solves `size` rows from `first` on of a strip, whose first `zero` rows in the order of
    /// solution are zero.
    ///
    /// # Safety
    /// `x` is valid for these rows of these right-hand sides, which nothing else accesses.
    unsafe fn solve_strip(
        &self,
        strip: usize,
        first: isize,
        size: usize,
        zero: usize,
        panels: &Panels,
    ) -> Fallible {
        let (rows, isa, all) = (panels.rows(), self.isa, self.x);
        let at = all
            .at
            .wrapping_offset(first * all.row + (strip * PANEL_RHS) as isize * all.col);
        let sides = PANEL_RHS.min(self.count - strip * PANEL_RHS);
        with_scratch(rows * PANEL_RHS * size_of::<f64>(), |scratch| {
            // SAFETY: the scratch memory has room for the rows, is initialised, and is not shared.
            let x = unsafe {
                if rows > size || sides < PANEL_RHS {
                    scratch.write_bytes(0, rows * PANEL_RHS * size_of::<f64>());
                }
                std::slice::from_raw_parts_mut(scratch.cast::<f64>(), rows * PANEL_RHS)
            };
            let own = if self.forward {
                0
            } else {
                (rows - size) * PANEL_RHS
            };
            let there = PackLanes {
                from: at.cast_const(),
                lane: all.col,
                step: all.row,
                count: sides,
                depth: size,
            };
            // SAFETY: the caller guarantees access to these rows of these right-hand sides.
            unsafe { transfer(isa, x[own..].as_mut_ptr(), PANEL_RHS, there) };
            let width = sides.next_multiple_of(8);
            match self.forward {
                true => panels.solve(isa, x, PANEL_RHS, width, zero),
                false => panels.solve_upwards(isa, x, PANEL_RHS, width, zero),
            }
            let (from, apart) = (x[own..].as_ptr(), PANEL_RHS as isize);
            let (back, columns) = match self.how.left {
                true => (
                    PackLanes {
                        from,
                        lane: 1,
                        step: apart,
                        count: sides,
                        depth: size,
                    },
                    all.row,
                ),
                false => (
                    PackLanes {
                        from,
                        lane: apart,
                        step: 1,
                        count: size,
                        depth: sides,
                    },
                    all.col,
                ),
            };
            // SAFETY: the caller guarantees access to these rows of these right-hand sides.
            unsafe { transfer(isa, at, columns as usize, back) };
        })
    }
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
