//! Micro-kernels: a tile of C in registers, over one block of `k`.
//!
//! ```text
//! c[i, j] (+)= fma(a[i, d-1], b[d-1, j], .. fma(a[i, 0], b[0, j], 0))        i < R, j < V · N
//! ```
//! Lanes are columns of C, never steps of `k`, so every element is one chain whatever the width. A complex product runs
//! on the same chains: rows of A are real and imaginary parts in turn, columns of B likewise, and the tile is put
//! together at the end, `(Σ re re - Σ im im, Σ re im + Σ im re)`.

use super::lanes::{Lanes, Turn};
use crate::element::Number;
use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

/// What a micro-kernel works on. Strides of A and B count floats, those of C its elements.
pub(super) struct Tile<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_col: isize,
    pub b: *const T,
    pub b_row: isize,
    pub c: *mut T,
    pub c_row: isize,
    pub c_col: isize,
    /// Rows of floats that there are, at most R: packed tiles are padded.
    pub rows: usize,
    /// Lanes of the last vector that there are, at least one.
    pub last: usize,
    /// To add to C, not to set it.
    pub add: bool,
}

/// A micro-kernel.
///
/// Safety: the level is there; A and B are valid for reading at every row (all R in packed tiles), step and lane that the
/// tile has, and C for writing at every row and lane.
pub(super) type Micro<T> = unsafe fn(&Tile<T>);

/// Most vectors in a row of a tile.
pub(super) const VECTORS: usize = 3;
/// Vectors in the row of a matrix times which one row is multiplied: it must keep the multipliers busy alone.
pub(super) const LONG: usize = 8;

/// Most rows of a tile.
const MOST: usize = 8;

/// The micro-kernels of a type at a level.
pub(super) struct Kernels<T: 'static> {
    /// Lanes of a vector.
    pub lanes: usize,
    /// Rows of a tile.
    pub rows: usize,
    /// By vectors, then rows: A with any strides.
    pub direct: [&'static [Micro<T>]; VECTORS],
    /// By vectors, for half and for all rows: A is packed, `a[p, i]` with all rows of a tile.
    pub packed: [[Micro<T>; 2]; VECTORS],
    /// As `packed`, for complex numbers.
    pub complex: [[Micro<T>; 2]; VECTORS],
    /// One row and `LONG` vectors.
    pub long: Micro<T>,
    /// `N` elements `c[i] = Σ_p a[i, p] b[p]`, where the rows of A are adjacent along `k`; `LONG` fields of a tile apart.
    pub dots: Micro<T>,
    /// Transposes blocks: `dst[c · width + r] = src[r · stride + c]` for `rows` by `cols`, `rows` below `turn`.
    pub turn: unsafe fn(*const T, isize, *mut T, usize, usize),
    /// Rows of a block of `turn`.
    pub side: usize,
}

/// A float with micro-kernels.
pub(super) trait Real: Number {
    fn kernels(level: Level) -> &'static Kernels<Self>;
}

/// The tile of `R` rows and `V` vectors; of A packed or not, of real or complex numbers.
///
/// # Safety
/// As [`Micro`].
#[inline(always)]
unsafe fn tile<L: Lanes, const R: usize, const V: usize, const PACKED: bool, const FULL: usize, const COMPLEX: bool>(
    t: &Tile<L::E>,
) {
    let mut acc = [[L::zero(); V]; R];
    let (mut a, mut b) = (t.a, t.b);
    // Every other row of A. The compiler is not to know how they are related: it would find each from the one before,
    // which takes longer than the products of one vector.
    let mut pairs = [a; MOST / 2];
    if !PACKED {
        for (r, pair) in pairs.iter_mut().enumerate().take(R.div_ceil(2)) {
            *pair = a.wrapping_offset(2 * r as isize * t.a_row);
        }
        pairs = std::hint::black_box(pairs);
    }
    for _ in 0..t.depth {
        let mut y = [L::zero(); V];
        for (v, y) in y.iter_mut().enumerate() {
            // SAFETY: B has these lanes.
            *y = unsafe {
                match v + 1 < V {
                    true => L::load(b.add(v * L::N)),
                    false => L::load_first(b.add(v * L::N), t.last),
                }
            };
        }
        for (r, acc) in acc.iter_mut().enumerate() {
            // SAFETY: A has these rows.
            let x = L::splat(unsafe {
                match PACKED {
                    true => *a.add(r),
                    false => *pairs[r / 2].offset((r % 2) as isize * t.a_row),
                }
            });
            for (acc, &y) in acc.iter_mut().zip(&y) {
                *acc = x.fma(y, *acc);
            }
        }
        match PACKED {
            true => a = a.wrapping_add(FULL),
            false => pairs.iter_mut().for_each(|pair| *pair = pair.wrapping_offset(t.a_col)),
        }
        b = b.wrapping_offset(t.b_row);
    }
    // A copy, element by element: rows that are found by number would keep `acc` itself in memory during the loop above.
    let mut sums = [[L::zero(); V]; R];
    for (sums, acc) in sums.iter_mut().zip(&acc) {
        for (sum, &acc) in sums.iter_mut().zip(acc) {
            *sum = acc;
        }
    }
    let rows = if PACKED { t.rows } else { R };
    for r in (0..rows).step_by(if COMPLEX { 2 } else { 1 }) {
        let mut row = sums[r];
        if COMPLEX {
            for (x, &y) in row.iter_mut().zip(&sums[r + 1]) {
                *x = x.add(y.times_i());
            }
            // SAFETY: C has this row.
            unsafe { put::<L, V, 2>(t, t.c.offset((r as isize / 2) * t.c_row * 2), row) };
        } else {
            // SAFETY: C has this row.
            unsafe { put::<L, V, 1>(t, t.c.offset(r as isize * t.c_row), row) };
        }
    }
}

/// A row of the tile to where it belongs, in elements of `W` floats.
///
/// # Safety
/// C has the lanes of the tile from `c` on.
#[inline(always)]
unsafe fn put<L: Lanes, const V: usize, const W: usize>(t: &Tile<L::E>, c: *mut L::E, row: [L; V]) {
    for (v, x) in row.into_iter().enumerate() {
        let n = if v + 1 < V { L::N } else { t.last };
        // SAFETY: these lanes of C exist.
        unsafe {
            if t.c_col != 1 {
                return scatter::<L, V, W>(t, c, row);
            }
            let c = c.add(v * L::N);
            match (n == L::N, t.add) {
                (true, true) => L::load(c).add(x).store(c),
                (true, false) => x.store(c),
                (false, true) => L::load_first(c, n).add(x).store_first(c, n),
                (false, false) => x.store_first(c, n),
            }
        }
    }
}

/// As [`put`], where the columns of C are apart.
///
/// # Safety
/// As [`put`].
#[inline(never)]
unsafe fn scatter<L: Lanes, const V: usize, const W: usize>(t: &Tile<L::E>, c: *mut L::E, row: [L; V]) {
    for e in 0..(V - 1) * L::N + t.last {
        // SAFETY: a vector is its lanes in order, and this lane of C exists.
        unsafe {
            let lane = *row.as_ptr().cast::<L::E>().add(e);
            one::<L>(c.offset((e / W) as isize * t.c_col * W as isize).add(e % W), lane, t.add);
        }
    }
}

/// One element of C.
///
/// # Safety
/// It exists.
#[inline(always)]
unsafe fn one<L: Lanes>(c: *mut L::E, x: L::E, add: bool) {
    // SAFETY: as stated.
    unsafe {
        let sum = if add { L::load_first(c, 1).add(L::splat(x)) } else { L::splat(x) };
        sum.store_first(c, 1);
    }
}

/// Chains of products of `GROUPS · S` rows of A, adjacent along `k`, with a vector: blocks are turned in registers.
///
/// # Safety
/// As [`Micro`]; `t.b` steps by `t.b_row`, and results go to `c[i · c_row]`.
#[inline(always)]
unsafe fn dots<L: Turn, const S: usize, const GROUPS: usize>(t: &Tile<L::E>) {
    let mut acc = [L::zero(); GROUPS];
    // Groups past the last row read rows that exist; what they give is dropped.
    let groups: [isize; GROUPS] = std::array::from_fn(|g| (g * S).min(t.rows.saturating_sub(S)) as isize);
    let whole = if t.rows < S { 0 } else { t.depth - t.depth % S };
    // As in `tile`: the compiler would keep an address for each row.
    let mut rows = std::hint::black_box(groups.map(|first| t.a.wrapping_offset(first * t.a_row)));
    for p in (0..whole).step_by(S) {
        for g in 0..GROUPS {
            // SAFETY: S rows from the group's first exist, and S steps from p on.
            unsafe {
                let columns = L::columns::<S>(rows[g], t.a_row);
                for (q, &x) in columns.iter().enumerate() {
                    acc[g] = x.fma(L::splat(*t.b.offset((p + q) as isize * t.b_row)), acc[g]);
                }
            }
            rows[g] = rows[g].wrapping_add(S);
        }
    }
    for p in whole..t.depth {
        for g in 0..GROUPS {
            let mut column = [L::zero(); 1];
            // SAFETY: rows that exist; a vector is its lanes in order.
            unsafe {
                let lanes = column.as_mut_ptr().cast::<L::E>();
                for r in 0..S {
                    let row = (groups[g] + r as isize).min(t.rows as isize - 1);
                    *lanes.add(r) = *t.a.offset(row * t.a_row).add(p);
                }
                acc[g] = column[0].fma(L::splat(*t.b.offset(p as isize * t.b_row)), acc[g]);
            }
        }
    }
    for (g, x) in acc.iter().enumerate() {
        // The last group may begin before its place, beside the end.
        let (skip, to) = (g * S - groups[g] as usize, g * S);
        if to >= t.rows {
            break;
        }
        for e in skip..S.min(t.rows - groups[g] as usize) {
            // SAFETY: row `groups[g] + e` of C exists.
            unsafe {
                let lane = *std::ptr::from_ref(x).cast::<L::E>().add(e);
                one::<L>(t.c.offset((groups[g] + e as isize) * t.c_row), lane, t.add);
            }
        }
    }
}

/// Blocks of `S` rows: `dst[c · width + r] = src[r · stride + c]` for `c` in whole blocks of `cols`.
///
/// # Safety
/// `src` is valid for reading `cols` elements of `S` rows, and `dst` for writing `S` elements of `cols` rows.
#[inline(always)]
unsafe fn turn<L: Turn, const S: usize>(src: *const L::E, stride: isize, dst: *mut L::E, width: usize, cols: usize) {
    for c in (0..cols - cols % S).step_by(S) {
        // SAFETY: as stated.
        unsafe {
            for (q, x) in L::columns::<S>(src.add(c), stride).into_iter().enumerate() {
                x.store(dst.add((c + q) * width));
            }
        }
    }
    for c in cols - cols % S..cols {
        for r in 0..S {
            // SAFETY: as stated.
            unsafe { *dst.add(c * width + r) = *src.offset(r as isize * stride).add(c) };
        }
    }
}

/// The kernels of a level: functions compiled for its features, over vectors of `$l`, and half vectors `$h` to turn.
macro_rules! level {
    ($name:ident $(, $feature:literal)?; $full:literal: $($r:literal)*; half $half:literal) => {
        mod $name {
            use super::{Kernels, Lanes, LONG, Micro, Tile, Turn};

            $(#[target_feature(enable = $feature)])?
            unsafe fn direct<L: Lanes, const R: usize, const V: usize>(t: &Tile<L::E>) {
                // SAFETY: as stated.
                unsafe { super::tile::<L, R, V, false, 0, false>(t) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn packed<L: Lanes, const R: usize, const V: usize>(t: &Tile<L::E>) {
                // SAFETY: as stated.
                unsafe { super::tile::<L, R, V, true, $full, false>(t) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn complex<L: Lanes, const R: usize, const V: usize>(t: &Tile<L::E>) {
                // SAFETY: as stated.
                unsafe { super::tile::<L, R, V, true, $full, true>(t) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn dots<L: Turn, const S: usize>(t: &Tile<L::E>) {
                // SAFETY: as stated.
                unsafe { super::dots::<L, S, 4>(t) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn turn<L: Turn, const S: usize>(
                src: *const L::E, stride: isize, dst: *mut L::E, width: usize, cols: usize,
            ) {
                // SAFETY: as stated.
                unsafe { super::turn::<L, S>(src, stride, dst, width, cols) }
            }

            const fn by_rows<L: Lanes, const V: usize>() -> [Micro<L::E>; $full] {
                [$(direct::<L, $r, V>),*]
            }

            pub(super) const fn kernels<L, H, const S: usize>(rows: [&'static [Micro<L::E>]; 3]) -> Kernels<L::E>
            where
                L: Lanes,
                H: Turn<E = L::E>,
            {
                Kernels {
                    lanes: L::N,
                    rows: $full,
                    direct: rows,
                    packed: [
                        [packed::<L, $half, 1>, packed::<L, $full, 1>],
                        [packed::<L, $half, 2>, packed::<L, $full, 2>],
                        [packed::<L, $half, 3>, packed::<L, $full, 3>],
                    ],
                    complex: [
                        [complex::<L, $half, 1>, complex::<L, $full, 1>],
                        [complex::<L, $half, 2>, complex::<L, $full, 2>],
                        [complex::<L, $half, 3>, complex::<L, $full, 3>],
                    ],
                    long: direct::<L, 1, LONG>,
                    dots: dots::<H, S>,
                    turn: turn::<H, S>,
                    side: S,
                }
            }

            /// The kernels with A as it lies, by rows.
            pub(super) struct Rows<L>(std::marker::PhantomData<L>);

            impl<L: Lanes + 'static> Rows<L> {
                pub(super) const ONE: &'static [Micro<L::E>] = &by_rows::<L, 1>();
                pub(super) const TWO: &'static [Micro<L::E>] = &by_rows::<L, 2>();
                pub(super) const THREE: &'static [Micro<L::E>] = &by_rows::<L, 3>();
                pub(super) const ALL: [&'static [Micro<L::E>]; 3] = [Self::ONE, Self::TWO, Self::THREE];
            }
        }
    };
}

level!(portable; 4: 1 2 3 4; half 2);
#[cfg(target_arch = "x86_64")]
level!(scalar, "avx2,fma"; 4: 1 2 3 4; half 2);
#[cfg(target_arch = "x86_64")]
level!(avx2, "avx2,fma"; 4: 1 2 3 4; half 2);
#[cfg(target_arch = "x86_64")]
level!(avx512, "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"; 8: 1 2 3 4 5 6 7 8; half 4);

macro_rules! real {
    ($t:ty, $n:literal, $avx2:ty, $avx512:ty) => {
        impl Real for $t {
            fn kernels(level: Level) -> &'static Kernels<$t> {
                static PORTABLE: Kernels<$t> =
                    portable::kernels::<[$t; $n], [$t; $n], $n>(portable::Rows::<[$t; $n]>::ALL);
                #[cfg(target_arch = "x86_64")]
                {
                    // The portable code where a fused multiply-add is one instruction.
                    static SCALAR: Kernels<$t> =
                        scalar::kernels::<[$t; $n], [$t; $n], $n>(scalar::Rows::<[$t; $n]>::ALL);
                    static AVX2: Kernels<$t> = avx2::kernels::<$avx2, $avx2, $n>(avx2::Rows::<$avx2>::ALL);
                    static AVX512: Kernels<$t> = avx512::kernels::<$avx512, $avx2, $n>(avx512::Rows::<$avx512>::ALL);
                    match level {
                        Level::Avx512 => return &AVX512,
                        Level::Avx2 => return &AVX2,
                        Level::Portable if crate::simd::fused() => return &SCALAR,
                        Level::Portable => {}
                    }
                }
                let _ = level;
                &PORTABLE
            }
        }
    };
}

real!(f32, 8, __m256, __m512);
real!(f64, 4, __m256d, __m512d);
