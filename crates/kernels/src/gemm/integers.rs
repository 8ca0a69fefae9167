//! Products of integers and booleans. They are exact, so the result depends neither on the order of
//! sums nor on the width of factors.
//!
//! ```text
//! 16 bits suffice for the factors:   sums of 32 bits of pairs  a[i, 2q] b[2q, j] + a[i, 2q+1] b[2q+1, j]   (pmaddwd)
//! else:                              sums of the type itself, step by step
//! ```
//! Elements of 8 and 16 bits always take the first path: bits that it loses are above the bits of
//! the result. Wider elements take it if their magnitudes, which are found first, are small. Lanes
//! are columns; A is read as rows, B is packed in panels.

use super::blocks::panels;
use super::types::{Matrix, TILE_VECTORS};
use crate::element::Number;
use crate::mac::{self, Mac, MacVectors};
use crate::memory::{Fallible, filled, with_scratch};
use crate::parallel::try_chunks;
use crate::simd::{Isa, widest};
use crate::tuning::{INTEGER_CHUNK_ROWS, MAX_UNPACKED_MULTIPLIES};

/// Steps whose products are summed before they are added to C.
const K_BLOCK_STEPS: usize = 512;
/// Maximum number of rows of a tile.
const MAX_TILE_ROWS: usize = 8;

/// Integer or boolean element of a product.
pub(super) trait GemmInteger: Number {
    /// Number of bits of a factor that affect its product.
    const BITS: u32;
    /// The lowest 16 bits.
    fn half(self) -> i16;
    /// The magnitude as a signed number.
    fn magnitude(self) -> u64;
    /// The element that equals a 32-bit sum modulo the type's range.
    fn of_sum(sum: i32) -> Self;
    /// Computes `c = a b` by sums of this type. `narrow`: the values of all factors fit 32 bits.
    /// Types of at most 16 bits are always computed by pairs.
    fn whole(isa: Isa, c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>, narrow: bool) -> Fallible {
        let _ = narrow;
        by_pairs(isa, c, a, b)
    }
}

/// Computes `c = a b` for non-empty matrices.
pub(super) fn product<T: GemmInteger>(
    isa: Isa,
    c: &mut [T],
    a: Matrix<T>,
    b: Matrix<T>,
) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    if m.min(n) == 1 || m.saturating_mul(k).saturating_mul(n) <= MAX_UNPACKED_MULTIPLIES {
        step_by_step(c, a, b);
        return Ok(());
    }
    // Copies with contiguous rows.
    let (of_a, of_b) = (in_rows(a)?, in_rows(b)?);
    let [a, b] = [(&of_a, a), (&of_b, b)].map(|(copy, x)| match copy {
        Some(copy) => Matrix::dense(copy, x.rows, x.cols),
        None => x,
    });
    let (most_a, most_b) = match T::BITS {
        ..=16 => (0, 0),
        _ => (magnitude(a), magnitude(b)),
    };
    // A 64-bit sum equals the 32-bit sum if the latter does not wrap.
    let exact = |most_a: u64, most_b: u64| {
        T::BITS <= 32 || most_a * most_b <= i32::MAX as u64 / K_BLOCK_STEPS as u64
    };
    match most_a.max(most_b) <= i16::MAX as u64 && exact(most_a, most_b) {
        true => by_pairs(isa, c, a, b),
        false => T::whole(isa, c, a, b, most_a.max(most_b) <= i32::MAX as u64),
    }
}

/// Returns a row-major copy, or `None` if the rows are contiguous already.
fn in_rows<T: GemmInteger>(x: Matrix<T>) -> Fallible<Option<Vec<T>>> {
    if x.col_stride == 1 || x.cols == 1 {
        Ok(None)
    } else {
        x.to_vec(T::ZERO).map(Some)
    }
}

/// The elements of a contiguous row.
fn row<'a, T: GemmInteger>(x: &Matrix<'a, T>, i: usize) -> &'a [T] {
    &x.data[x.offset.wrapping_add_signed(i as isize * x.row_stride)..][..x.cols]
}

/// The greatest magnitude of an element.
fn magnitude<T: GemmInteger>(x: Matrix<T>) -> u64 {
    widest(
        #[inline(always)]
        || {
            (0..x.rows).fold(0, |most, i| {
                row(&x, i)
                    .iter()
                    .fold(most, |most, x| most.max(x.magnitude()))
            })
        },
    )
}

/// Computes `c[i, j] = Σ_p a[i, p] b[p, j]`, one row of B at a time, or one element at a time if B
/// has one column.
fn step_by_step<T: GemmInteger>(c: &mut [T], a: Matrix<T>, b: Matrix<T>) {
    if b.cols == 1 && a.row_stride == 1 && a.rows > 1 {
        return step_by_step(c, b.transposed(), a.transposed());
    }
    let at = |x: &Matrix<T>, i: usize, j: usize| {
        x.offset
            .wrapping_add_signed(i as isize * x.row_stride)
            .wrapping_add_signed(j as isize * x.col_stride)
    };
    widest(
        #[inline(always)]
        || {
            for (i, c) in c.chunks_exact_mut(b.cols).enumerate() {
                if b.cols == 1 && a.col_stride == 1 && b.row_stride == 1 {
                    let (x, y) = (
                        &a.data[at(&a, i, 0)..][..a.cols],
                        &b.data[b.offset..][..a.cols],
                    );
                    c[0] = x
                        .iter()
                        .zip(y)
                        .fold(T::ZERO, |sum, (&x, &y)| sum.plus(x.times(y)));
                    continue;
                }
                c.fill(T::ZERO);
                for p in 0..a.cols {
                    let x = a.data[at(&a, i, p)];
                    if b.col_stride == 1 {
                        let y = &b.data[at(&b, p, 0)..][..b.cols];
                        c.iter_mut()
                            .zip(y)
                            .for_each(|(c, &y)| *c = c.plus(x.times(y)));
                    } else {
                        c.iter_mut()
                            .enumerate()
                            .for_each(|(j, c)| *c = c.plus(x.times(b.data[at(&b, p, j)])));
                    }
                }
            }
        },
    );
}

/// Two 16-bit factors in one 32-bit element.
#[inline(always)]
fn pair(low: i16, high: i16) -> i32 {
    i32::from(low as u16) | i32::from(high) << 16
}

/// Computes a product by 32-bit sums of pairs of 16-bit factors. Each pair is stored in one 32-bit
/// element.
fn by_pairs<T: GemmInteger>(isa: Isa, c: &mut [T], a: Matrix<T>, b: Matrix<T>) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let kernels = kernels::<PackPairs>(isa);
    let (steps, wide) = (k.div_ceil(2), n.next_multiple_of(kernels.lanes));
    let count = m * steps + steps * wide;
    with_scratch(count.saturating_mul(size_of::<i32>()), |scratch| {
        // SAFETY: the scratch memory is aligned for an `i32`, has `count` of them, and its bytes
        // are initialised.
        let scratch = unsafe { std::slice::from_raw_parts_mut(scratch.cast::<i32>(), count) };
        let (rows, packed) = scratch.split_at_mut(m * steps);
        widest(
            #[inline(always)]
            || {
                for (i, to) in rows.chunks_exact_mut(steps).enumerate() {
                    let (from, last) = row(&a, i).as_chunks::<2>();
                    to.iter_mut()
                        .zip(from)
                        .for_each(|(to, &[x, y])| *to = pair(x.half(), y.half()));
                    last.iter().for_each(|x| to[steps - 1] = pair(x.half(), 0));
                }
            },
        );
        each_panel(
            &kernels,
            steps,
            wide,
            K_BLOCK_STEPS / 2,
            |q, columns, to| {
                let columns = columns.start..columns.end.min(n);
                let (first, to) = (&row(&b, 2 * q)[columns.clone()], &mut packed[to..]);
                widest(
                    #[inline(always)]
                    || match 2 * q + 1 < k {
                        true => {
                            let both = first.iter().zip(&row(&b, 2 * q + 1)[columns.clone()]);
                            to.iter_mut()
                                .zip(both)
                                .for_each(|(to, (x, y))| *to = pair(x.half(), y.half()));
                        }
                        false => to
                            .iter_mut()
                            .zip(first)
                            .for_each(|(to, x)| *to = pair(x.half(), 0)),
                    },
                );
            },
        );
        let job = Job {
            kernels,
            sizes: [m, steps, n],
            depth: K_BLOCK_STEPS / 2,
            rows,
            row: steps,
            packed,
        };
        job.run(c, |sum| T::of_sum(sum))
    })?
}

/// Computes a product by sums of the type itself.
fn by_elements<T: GemmInteger + MacVectors>(
    kernels: IntegerKernels<T>,
    c: &mut [T],
    a: Matrix<T>,
    b: Matrix<T>,
) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let wide = n.next_multiple_of(kernels.lanes);
    let mut packed = filled(T::ZERO, k * wide)?;
    each_panel(&kernels, k, wide, K_BLOCK_STEPS / 2, |p, columns, to| {
        let from = &row(&b, p)[columns.start..columns.end.min(n)];
        packed[to..to + from.len()].copy_from_slice(from);
    });
    let (rows, step) = match a.row_stride >= 0 {
        true => (None, a.row_stride as usize),
        false => (Some(a.to_vec(T::ZERO)?), k),
    };
    let rows = rows.as_deref().unwrap_or(&a.data[a.offset..]);
    Job {
        kernels,
        sizes: [m, k, n],
        depth: K_BLOCK_STEPS / 2,
        rows,
        row: step,
        packed: &packed,
    }
    .run(c, |sum| sum)
}

/// Calls `f(step, columns, place)` for the parts of rows of B in the order of the packed panels:
/// blocks of steps, and panels of columns within a block. `place` is the offset of the part among
/// `steps` by `wide` elements.
fn each_panel<E>(
    kernels: &IntegerKernels<E>,
    steps: usize,
    wide: usize,
    depth: usize,
    mut f: impl FnMut(usize, std::ops::Range<usize>, usize),
) {
    let lanes = kernels.lanes;
    for block in (0..steps).step_by(depth) {
        let depth = depth.min(steps - block);
        for (v, many) in panels(wide / lanes) {
            for step in 0..depth {
                let place = block * wide + v * lanes * depth + step * many * lanes;
                f(block + step, v * lanes..(v + many) * lanes, place);
            }
        }
    }
}

/// Arguments of a kernel for one tile of sums.
struct IntegerArgs<E> {
    depth: usize,
    /// The first step of the first row of A.
    a: *const E,
    /// From one row of A to the next.
    row: usize,
    /// The panel of B, step by step.
    b: *const E,
    /// Sums of the tile, row-major.
    sums: *mut E,
}

/// Kernel for a number of rows and vectors.
///
/// Safety: the CPU supports the instruction set. A is valid for reading every row and step, B every
/// step and vector. The sums are valid for writing every row and vector.
type Micro<E> = unsafe fn(&IntegerArgs<E>);

/// Kernels of an instruction set, by vectors, then by the logarithm of rows.
pub(super) struct IntegerKernels<E: 'static> {
    lanes: usize,
    /// Maximum number of rows.
    rows: usize,
    of: [[Micro<E>; 4]; TILE_VECTORS],
}

/// Computes the sums of `R` rows and `V` vectors.
///
/// # Safety
/// As [`Micro`].
#[inline(always)]
unsafe fn tile<L: Mac, const R: usize, const V: usize>(t: &IntegerArgs<L::E>) {
    let mut acc = [[L::zero(); V]; R];
    let mut b = t.b;
    for step in 0..t.depth {
        // SAFETY: the caller guarantees that A and B have this step (# Safety).
        unsafe {
            let mut y = [L::zero(); V];
            y.iter_mut()
                .enumerate()
                .for_each(|(v, y)| *y = L::load(b.add(v * L::N)));
            for (r, acc) in acc.iter_mut().enumerate() {
                let x = L::splat(*t.a.add(r * t.row + step));
                acc.iter_mut()
                    .zip(&y)
                    .for_each(|(acc, &y)| *acc = acc.plus_product(x, y));
            }
            b = b.add(V * L::N);
        }
    }
    for (r, acc) in acc.into_iter().enumerate() {
        for (v, sum) in acc.into_iter().enumerate() {
            // SAFETY: the caller guarantees room for these sums (# Safety).
            unsafe { sum.store(t.sums.add((r * V + v) * L::N)) };
        }
    }
}

/// Kernels that are compiled for the features of an instruction set.
macro_rules! isa {
    ($name:ident $(, $feature:literal)?; $most:literal: $($r:literal)*) => {
        mod $name {
            use crate::gemm::integers::{self, IntegerKernels, IntegerArgs};
            use crate::mac::Mac;

            /// # Safety
            /// The preconditions of [`Micro`](super::Micro); the CPU supports these
            /// instructions.
            $(#[target_feature(enable = $feature)])?
            unsafe fn tile<L: Mac, const R: usize, const V: usize>(t: &IntegerArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set
                // ([`Micro`](super::Micro)).
                unsafe { integers::tile::<L, R, V>(t) }
            }

            pub(super) const fn kernels<L: Mac>() -> IntegerKernels<L::E> {
                IntegerKernels {
                    lanes: L::N,
                    rows: $most,
                    of: [[$(tile::<L, $r, 1>),*], [$(tile::<L, $r, 2>),*], [$(tile::<L, $r, 3>),*]],
                }
            }
        }
    };
}

isa!(portable; 4: 1 2 4 4);
#[cfg(target_arch = "x86_64")]
isa!(avx2, "avx2,fma"; 4: 1 2 4 4);
#[cfg(target_arch = "x86_64")]
isa!(avx512, "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"; 8: 1 2 4 8);
#[cfg(target_arch = "x86_64")]
isa!(vnni, "avx512vnni,avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"; 8: 1 2 4 8);

/// Vector types of a packed format, for each instruction set.
trait PackFormat {
    type E: 'static;
    type Portable: Mac<E = Self::E>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Mac<E = Self::E>;
    #[cfg(target_arch = "x86_64")]
    type Avx512: Mac<E = Self::E>;
    /// Vectors that use VNNI, which not every CPU of the instruction set has.
    #[cfg(target_arch = "x86_64")]
    type Vnni: Mac<E = Self::E>;
    /// Whether `Vnni` differs from the plain vectors.
    #[cfg(target_arch = "x86_64")]
    const VNNI: bool = false;
}

/// Pairs of 16-bit factors.
struct PackPairs;

impl PackFormat for PackPairs {
    type E = i32;
    type Portable = mac::MacPairs;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = mac::Pairs256<i32>;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = mac::Pairs512<i32>;
    #[cfg(target_arch = "x86_64")]
    type Vnni = mac::PairsVnni<i32>;
    #[cfg(target_arch = "x86_64")]
    const VNNI: bool = true;
}

/// 64-bit elements whose values fit 32 bits.
struct PackNarrow<T>(std::marker::PhantomData<T>);

/// Elements of full width.
struct PackWhole<T>(std::marker::PhantomData<T>);

impl<T: GemmInteger + MacVectors> PackFormat for PackWhole<T> {
    type E = T;
    type Portable = T::Portable;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = T::Avx2;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = T::Avx512;
    #[cfg(target_arch = "x86_64")]
    type Vnni = T::Avx512;
}

fn kernels<W: PackFormat>(isa: Isa) -> IntegerKernels<W::E> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if W::VNNI && is_x86_feature_detected!("avx512vnni") => {
            vnni::kernels::<W::Vnni>()
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::kernels::<W::Avx512>(),
        #[cfg(target_arch = "x86_64")]
        isa if isa.has_avx2() => avx2::kernels::<W::Avx2>(),
        _ => portable::kernels::<W::Portable>(),
    }
}

/// Product of rows of A and packed panels of B.
struct Job<'a, E: 'static> {
    kernels: IntegerKernels<E>,
    /// Rows, steps and columns.
    sizes: [usize; 3],
    /// Steps of a block.
    depth: usize,
    rows: &'a [E],
    /// From one row to the next.
    row: usize,
    packed: &'a [E],
}

impl<E: Number> Job<'_, E> {
    /// Sets C. `narrow` converts sums to elements of C.
    fn run<T: Number>(&self, c: &mut [T], narrow: impl Fn(E) -> T + Copy + Sync) -> Fallible {
        let [m, steps, n] = self.sizes;
        let nanos = (m * n).saturating_mul(steps) as u64 / 16;
        try_chunks(c, INTEGER_CHUNK_ROWS * n, nanos, |chunk, c| {
            let mut sums = filled(E::ZERO, MAX_TILE_ROWS * TILE_VECTORS * self.kernels.lanes)?;
            for block in (0..steps).step_by(self.depth) {
                let mut first = 0;
                let mut rest = &mut *c;
                while !rest.is_empty() {
                    let left = rest.len() / n;
                    let kind = left.min(self.kernels.rows).ilog2() as usize;
                    let (now, after) = rest.split_at_mut((n << kind).min(rest.len()));
                    self.tiles(
                        chunk * INTEGER_CHUNK_ROWS + first,
                        kind,
                        block,
                        now,
                        &mut sums,
                        narrow,
                    );
                    (first, rest) = (first + (1 << kind), after);
                }
            }
            Ok(())
        })
    }

    /// Computes the tiles of `1 << kind` rows of C from row `first` on, over one block of steps.
    fn tiles<T: Number>(
        &self,
        first: usize,
        kind: usize,
        block: usize,
        c: &mut [T],
        sums: &mut [E],
        narrow: impl Fn(E) -> T + Copy,
    ) {
        let ([_, steps, n], lanes) = (self.sizes, self.kernels.lanes);
        let (depth, wide) = (self.depth.min(steps - block), n.next_multiple_of(lanes));
        for (v, many) in panels(wide / lanes) {
            let b = &self.packed[block * wide + v * lanes * depth..][..many * lanes * depth];
            let a = &self.rows[first * self.row + block..];
            assert!(
                ((1 << kind) - 1) * self.row + depth <= a.len()
                    && (many * lanes) << kind <= sums.len()
            );
            let tile = IntegerArgs {
                depth,
                a: a.as_ptr(),
                row: self.row,
                b: b.as_ptr(),
                sums: sums.as_mut_ptr(),
            };
            // SAFETY: these rows and steps exist and the sums have room (asserted). B is a panel of
            // this width, and the CPU supports the instruction set of `kernels`.
            unsafe { self.kernels.of[many - 1][kind](&tile) };
            widest(
                #[inline(always)]
                || {
                    for (c, sums) in c.chunks_exact_mut(n).zip(sums.chunks_exact(many * lanes)) {
                        let c = c[v * lanes..].iter_mut().zip(sums);
                        match block {
                            0 => c.for_each(|(c, &sum)| *c = narrow(sum)),
                            _ => c.for_each(|(c, &sum)| *c = c.plus(narrow(sum))),
                        }
                    }
                },
            );
        }
    }
}

/// Packed formats of both 64-bit types. A factor of a 32-bit product has the sign of its lower
/// half.
macro_rules! narrow {
    ($($t:ty)*) => {$(
        impl PackFormat for PackNarrow<$t> {
            type E = $t;
            type Portable = <$t as MacVectors>::Portable;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = mac::Narrow256<$t>;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = mac::Narrow512<$t>;
            #[cfg(target_arch = "x86_64")]
            type Vnni = mac::Narrow512<$t>;
        }
    )*};
}

narrow!(i64 u64);

macro_rules! integers {
    ($($t:ty as $signed:ty, $of_sum:expr $(, $narrow:ident)?;)*) => {$(
        impl GemmInteger for $t {
            const BITS: u32 = 8 * size_of::<$t>() as u32;
            #[inline(always)]
            fn half(self) -> i16 {
                self as i16
            }
            #[inline(always)]
            fn magnitude(self) -> u64 {
                (self as $signed).unsigned_abs().into()
            }
            #[inline(always)]
            fn of_sum(sum: i32) -> $t {
                let of_sum: fn(i32) -> $t = $of_sum;
                of_sum(sum)
            }
            $(integers!($narrow $t);)?
        }
    )*};
    (ints $t:ty) => {
        fn whole(isa: Isa, c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>, _: bool) -> Fallible {
            by_elements(kernels::<PackWhole<$t>>(isa), c, a, b)
        }
    };
    (longs $t:ty) => {
        fn whole(isa: Isa, c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>, narrow: bool) -> Fallible {
            let kernels = if narrow { kernels::<PackNarrow<$t>>(isa) } else { kernels::<PackWhole<$t>>(isa) };
            by_elements(kernels, c, a, b)
        }
    };
}

integers! {
    bool as i8, |sum| sum != 0;
    i8 as i8, |sum| sum as i8;
    u8 as i8, |sum| sum as u8;
    i16 as i16, |sum| sum as i16;
    u16 as i16, |sum| sum as u16;
    i32 as i32, |sum| sum, ints;
    u32 as i32, |sum| sum as u32, ints;
    i64 as i64, i64::from, longs;
    u64 as i64, |sum| i64::from(sum) as u64, longs;
}
