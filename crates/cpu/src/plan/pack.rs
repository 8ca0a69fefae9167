//! Elements of any read, packed for a tile of indices: the way for starts that differ from index to
//! index, and for choices that a box does not decide.
//!
//! Offsets of a tile are computed term by term, then checked against the value's elements, then
//! elements are copied.

use super::reads::{NumBound, NumElement, NumForm, NumRead, NumSource, NumStart};
use crate::element::{IntegerElement, for_integer_or_bool, for_size};
use crate::nests::affine::Var;
use cotangent_core::DType;
use cotangent_kernels::parallel::Shared;
use cotangent_kernels::tile::TileBlock;
use smallvec::SmallVec;

/// The address of the first element of each place.
pub(crate) type Table = [Shared<u8>];

/// The table of a run, and other addresses for some places.
#[derive(Clone, Copy)]
pub(crate) struct Addresses<'a> {
    pub(crate) table: &'a Table,
    /// Places of which a thread has a block of rows, with the address that row 0 would have.
    pub(crate) local: &'a [(u32, Shared<u8>)],
}

impl Addresses<'_> {
    /// The address of the first element of a place.
    pub(crate) fn of(&self, place: u32) -> *mut u8 {
        let local = self.local.iter().find(|l| l.0 == place);
        local.map_or_else(|| self.table[place as usize].get(), |l| l.1.get())
    }
}

/// Indices along the axes of a space, and starts of a read, of a tile.
#[derive(Clone, Copy)]
struct Indices<'a> {
    axes: &'a [Vec<i64>],
    starts: &'a [Vec<i64>],
}

/// Lanes of a tile.
type Lanes = Vec<u32>;

impl NumStart {
    /// The start at each of `n` indices.
    ///
    /// # Safety
    /// The preconditions of [`NumRead::pack`].
    pub(crate) unsafe fn values(
        &self,
        n: usize,
        axes: &[Vec<i64>],
        table: Addresses<'_>,
    ) -> Vec<i64> {
        let size = self.read.dtype.size();
        let mut memory = vec![TileBlock([0; 64]); (n * size).div_ceil(size_of::<TileBlock>())];
        let to = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory has `n` elements. The caller guarantees the rest (# Safety).
        unsafe { self.read.pack(to, n, axes, table) };
        let last = i128::from(self.last);
        let number = |i: usize| {
            for_integer_or_bool!(self.read.dtype, T => {
                // SAFETY: `pack` wrote `n` elements of this type.
                IntegerElement::to(unsafe { to.cast::<T>().add(i).read() })
            })
        };
        (0..n).map(|i| number(i).clamp(0, last) as i64).collect()
    }
}

impl NumRead {
    /// Copies the elements at `n` indices to `to`. `axes` has the index along each axis of the
    /// space, unless the read is fixed.
    ///
    /// # Panics
    /// If an element is outside of its value.
    ///
    /// # Safety
    /// `to` is valid for `n` elements of the read's type. The table has the address of the first
    /// element of each place that is read, and all elements of the place that are read at the
    /// indices are initialised; nothing writes to them.
    pub(crate) unsafe fn pack(
        &self,
        to: *mut u8,
        n: usize,
        axes: &[Vec<i64>],
        table: Addresses<'_>,
    ) {
        let starts: Vec<Vec<i64>> = self
            .starts
            .iter()
            // SAFETY: the caller guarantees the preconditions (# Safety).
            .map(|s| unsafe { s.values(n, axes, table) })
            .collect();
        let at = Indices {
            axes,
            starts: &starts,
        };
        // SAFETY: the caller guarantees the preconditions (# Safety), and the lanes are below `n`.
        unsafe {
            copied(
                &self.source,
                (0..n as u32).collect(),
                at,
                to,
                self.dtype,
                table,
            )
        }
    }
}

/// The value of a form at each lane.
fn values(form: &NumForm, lanes: &[u32], at: Indices<'_>) -> Vec<i64> {
    let mut out = vec![form.offset; lanes.len()];
    for t in &form.terms {
        let index = match t.var {
            Var::Axis(k) => &at.axes[k],
            Var::Start(k) => &at.starts[k],
        };
        let all = out.iter_mut().zip(lanes);
        match (t.divisor, t.modulus) {
            (1, None) => all.for_each(|(y, &l)| *y += index[l as usize] * t.scale),
            (d, None) => all.for_each(|(y, &l)| *y += index[l as usize] / d * t.scale),
            (d, Some(m)) => all.for_each(|(y, &l)| *y += index[l as usize] / d % m * t.scale),
        }
    }
    out
}

/// The lanes where a bound holds, then the others.
fn divided(b: &NumBound, lanes: Lanes, at: Indices<'_>) -> [Lanes; 2] {
    let form = values(&b.form, &lanes, at);
    let holds = |x: i64| b.low <= x && x < b.high && (b.step == 1 || (x - b.low) % b.step == 0);
    let mut out = [Lanes::new(), Lanes::new()];
    for (&l, &x) in lanes.iter().zip(&form) {
        out[usize::from(!holds(x))].push(l);
    }
    out
}

/// Copies the elements of a source to these lanes of `to`.
///
/// # Safety
/// The preconditions of [`NumRead::pack`]; `to` is valid at all lanes.
unsafe fn copied(
    source: &NumSource,
    lanes: Lanes,
    at: Indices<'_>,
    to: *mut u8,
    dtype: DType,
    table: Addresses<'_>,
) {
    match source {
        _ if lanes.is_empty() => {}
        NumSource::Number(bytes) => {
            for l in lanes {
                // SAFETY: the bytes are those of an element, and `to` is valid at the lane.
                unsafe {
                    let to = to.add(l as usize * bytes.len());
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                }
            }
        }
        NumSource::Choice(c) => {
            let (mut inside, mut outside) = (lanes, Lanes::new());
            for b in &c.bounds {
                let [yes, no] = divided(b, inside, at);
                inside = yes;
                outside.extend(no);
            }
            // SAFETY: these are lanes of the caller's, who guarantees the rest (# Safety).
            unsafe {
                copied(&c.inside, inside, at, to, dtype, table);
                copied(&c.outside, outside, at, to, dtype, table);
            }
        }
        NumSource::Element(e) => {
            let offsets = values(&e.offset, &lanes, at);
            check(e, &offsets);
            for_size!(dtype, W => {
                let (from, to) = (table.of(e.place).cast::<W>(), to.cast::<W>());
                for (&l, &offset) in lanes.iter().zip(&offsets) {
                    // SAFETY: the offset is one of an element of the value (checked), and `to` is
                    // valid at the lane.
                    unsafe { to.add(l as usize).write(from.offset(offset as isize).read()) };
                }
            });
        }
    }
}

/// Checks that offsets are between those of the value's elements.
fn check(e: &NumElement, offsets: &[i64]) {
    let (low, high) = e.span;
    let outside = offsets.iter().any(|o| !(low..=high).contains(o));
    assert!(!outside, "an access outside of its value");
}

/// The indices along the axes of a space at positions of a loop.
pub(crate) fn indices(
    axes: &[super::boxes::LoopAxis],
    rank: usize,
    start: usize,
    n: usize,
) -> Vec<Vec<i64>> {
    let mut out = vec![vec![0; n]; rank];
    let mut rest = start;
    let mut at: SmallVec<[usize; 4]> = axes
        .iter()
        .rev()
        .map(|a| {
            let i = rest % a.extent;
            rest /= a.extent;
            i
        })
        .collect();
    at.reverse();
    for lane in 0..n {
        for (a, &index) in axes.iter().zip(&at) {
            let to = &mut out[a.of];
            to[lane] += ((a.low + index) * a.step) as i64;
        }
        for (k, a) in axes.iter().enumerate().rev() {
            at[k] += 1;
            if at[k] < a.extent {
                break;
            }
            at[k] = 0;
        }
    }
    out
}
