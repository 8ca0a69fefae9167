//! Transposes of square blocks in registers, of lines to columns and back by such blocks, and
//! reversed rows.
//!
//! Elements are moved as integers of their size, so that every bit is preserved.

use crate::view::ElementRun;

/// Side of a square that is transposed in registers.
pub(crate) const SQUARE: usize = 8;

/// The multiples of this number of lines are transposed in registers, for elements of this size.
#[cfg(target_arch = "x86_64")]
const fn side(size: usize) -> usize {
    if size == 8 { 4 } else { SQUARE }
}

/// Whether squares of elements of this size are transposed in registers by this CPU.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_squares(size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8) && crate::simd::fused()
}

/// Calls a function of `x86` for elements of the size of `T`, which is 1, 2, 4 or 8.
#[cfg(target_arch = "x86_64")]
macro_rules! by_size {
    ($t:ty, [$bytes:ident $halves:ident $words:ident $doubles:ident] $args:tt) => {
        match size_of::<$t>() {
            1 => x86::$bytes $args,
            2 => x86::$halves $args,
            4 => x86::$words $args,
            _ => x86::$doubles $args,
        }
    };
}

/// Evenly spaced lines of elements in a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Index of the first element of the first line.
    pub(crate) start: usize,
    /// Stride of lines.
    pub(crate) next: isize,
    /// Stride of the elements of a line.
    pub(crate) by: isize,
}

impl Lines {
    fn first(self, line: usize) -> usize {
        self.start
            .wrapping_add_signed(self.next.wrapping_mul(line as isize))
    }

    /// Whether `width` lines of `steps` adjacent elements are inside a slice of `len` elements, and
    /// fill squares in registers.
    #[cfg(target_arch = "x86_64")]
    fn are_squares<T>(self, [width, steps]: [usize; 2], len: usize) -> bool {
        let inside = |line: usize| {
            self.first(line)
                .checked_add(steps)
                .is_some_and(|end| end <= len)
        };
        let fill = has_squares(size_of::<T>()) && width >= SQUARE && steps >= SQUARE;
        fill && self.by == 1 && inside(0) && inside(width - 1) && {
            // No offset wraps between the first and the last line.
            self.next
                .unsigned_abs()
                .checked_mul(width - 1)
                .is_some_and(|far| far < len)
        }
    }
}

/// Writes `width` lines to columns.
///
/// # Panics
/// If an element is outside `x`, or there are more lines than columns.
pub(crate) fn to_columns<T: Copy, const W: usize>(
    to: &mut [[T; W]],
    width: usize,
    x: &[T],
    lines: Lines,
) {
    let steps = to.len();
    #[cfg(target_arch = "x86_64")]
    if width <= W && lines.are_squares::<T>([width, steps], x.len()) {
        let (from, next) = (x.as_ptr().wrapping_add(lines.start), lines.next);
        let to = to.as_mut_ptr();
        // SAFETY: `are_squares` checked that the CPU supports AVX2 and that all lines are inside
        // `x`; `to` has `steps` rows of `W` elements.
        return unsafe {
            by_size!(T, [squares_of_bytes squares_of_halves squares_of_words squares_of_doubles](
                from.cast(), [next, 1], to.cast(), [1, W as isize], [width, steps]
            ))
        };
    }
    for l in 0..width {
        match ElementRun::new(x, lines.first(l), steps, lines.by) {
            ElementRun::Dense(x) => to.iter_mut().zip(x).for_each(|(to, &x)| to[l] = x),
            ElementRun::Splat(x) => to.iter_mut().for_each(|to| to[l] = x),
            ElementRun::Strided(x, start, by) => {
                for (i, to) in (0..).zip(&mut *to) {
                    to[l] = x[start.wrapping_add_signed(by.wrapping_mul(i))];
                }
            }
        }
    }
}

/// Writes `width` columns to lines.
///
/// # Panics
/// As [`to_columns`].
pub(crate) fn from_columns<T: Copy, const W: usize>(
    to: &mut [T],
    lines: Lines,
    from: &[[T; W]],
    width: usize,
) {
    let steps = from.len();
    #[cfg(target_arch = "x86_64")]
    if width <= W && lines.are_squares::<T>([width, steps], to.len()) {
        let (to, next, from) = (
            to.as_mut_ptr().wrapping_add(lines.start),
            lines.next,
            from.as_ptr(),
        );
        // SAFETY: `are_squares` checked that the CPU supports AVX2 and that all lines are inside
        // `to`; `from` has `steps` rows of `W` elements.
        return unsafe {
            by_size!(T, [squares_of_bytes squares_of_halves squares_of_words squares_of_doubles](
                from.cast(), [1, W as isize], to.cast(), [next, 1], [width, steps]
            ))
        };
    }
    for l in 0..width {
        let start = lines.first(l);
        if lines.by == 1 {
            let to = &mut to[start..start + steps];
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from[l]);
            continue;
        }
        for (i, from) in (0..).zip(from) {
            to[start.wrapping_add_signed(lines.by.wrapping_mul(i))] = from[l];
        }
    }
}

/// Writes the transpose of `lines` to `dst`: element `c` of line `r` goes to `dst[at + c · stride +
/// r]`. Returns `false`, without writing, if elements have other sizes than 1, 2, 4 or 8 bytes,
/// blocks do not fill registers, or the CPU lacks the instructions.
///
/// # Panics
/// If an element would be outside `dst`.
#[inline]
pub(crate) fn block<T: Copy, const N: usize>(
    dst: &mut [T],
    at: usize,
    stride: isize,
    lines: &[&[T; N]; N],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_squares(size_of::<T>()) && N.is_multiple_of(side(size_of::<T>())) {
        let to: [*mut T; N] = std::array::from_fn(|c| {
            let start = at.wrapping_add_signed(stride.wrapping_mul(c as isize));
            dst[start..][..N].as_mut_ptr()
        });
        let from = lines.map(|l| l.as_ptr());
        // SAFETY: the CPU supports AVX2 (tested above); every line, in and out, has `N` elements of
        // this size.
        unsafe {
            by_size!(T, [bytes halves words doubles](
                &from.map(|p| p.cast()), &to.map(|p| p.cast())
            ))
        }
        return true;
    }
    let _ = (dst, at, stride, lines);
    false
}

/// Transposes a matrix: element `i` of row `r`, at `from + r + i · step`, goes to
/// `to + r · stride + i`. Returns `false`, without writing, if elements have other sizes than 1, 2,
/// 4 or 8 bytes, squares do not fit into the matrix, or the CPU lacks the instructions.
///
/// # Safety
/// All elements are valid for reading and for writing, and `from` and `to` do not overlap.
#[inline]
pub unsafe fn matrix<T: Copy>(
    from: *const T,
    step: isize,
    to: *mut T,
    stride: isize,
    [rows, len]: [usize; 2],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_squares(size_of::<T>()) && rows.min(len) >= SQUARE {
        let (a, b, size) = ([1, step], [stride, 1], [rows, len]);
        // SAFETY: the CPU supports AVX2 (tested above), and there are as many rows and elements as
        // a square has. The caller guarantees the elements (# Safety).
        unsafe {
            by_size!(T, [squares_of_bytes squares_of_halves squares_of_words squares_of_doubles](from.cast(), a, to.cast(), b, size))
        }
        return true;
    }
    let _ = (from, step, to, stride, rows, len);
    false
}

/// Copies rows in reversed order: element `i` of row `r`, at `from + r · apart − i`, goes to
/// `to + r · len + i`. Returns `false`, without writing, if elements have other sizes than 1, 2, 4
/// or 8 bytes, rows do not fill a vector of 16 bytes, or the CPU lacks the instructions.
///
/// # Safety
/// All elements are valid for reading and for writing, and `from` and `to` do not overlap.
#[inline(always)]
pub(crate) unsafe fn reversed<T: Copy>(
    from: *const T,
    apart: isize,
    to: *mut T,
    [rows, len]: [usize; 2],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if len * size_of::<T>() >= 16 && has_squares(size_of::<T>()) {
        // SAFETY: the CPU supports AVX2 (tested above), and rows fill a vector. The caller
        // guarantees the elements (# Safety).
        unsafe { x86::reversed(from, apart, to, [rows, len]) };
        return true;
    }
    let _ = (from, apart, to, rows, len);
    false
}

/// Transposes `count` blocks of `B` by `B`: element `c` of line `r` of block `i`, at
/// `from[r] + i · step + c`, goes to `to[c] + i · stride + r`.
///
/// # Safety
/// All sources are valid for reading and all targets for writing, and they do not overlap.
pub(crate) unsafe fn blocks<T: Copy, const B: usize>(
    from: &[*const T; B],
    step: isize,
    to: &[*mut T; B],
    stride: isize,
    count: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if has_squares(size_of::<T>()) && B.is_multiple_of(side(size_of::<T>())) {
        // SAFETY: the CPU supports AVX2 (tested above); the caller guarantees all blocks (#
        // Safety).
        unsafe {
            by_size!(T, [all_bytes all_halves all_words all_doubles](
                &from.map(|p| p.cast()), step, &to.map(|p| p.cast()), stride, count
            ))
        }
        return;
    }
    for i in 0..count {
        for (r, from) in from.iter().enumerate() {
            for (c, to) in to.iter().enumerate() {
                // SAFETY: the caller guarantees all blocks (# Safety).
                unsafe {
                    *to.offset(i as isize * stride).add(r) = *from.offset(i as isize * step).add(c)
                };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Transposes elements of 8 bytes, four by four.
    ///
    /// # Safety
    /// Each pointer is valid for `N` elements, a multiple of 4, and `to` does not overlap `from`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn doubles<const N: usize>(from: &[*const u64; N], to: &[*mut u64; N]) {
        for c in (0..N).step_by(4) {
            for r in (0..N).step_by(4) {
                // SAFETY: the lines have four elements from `c` on, and from `r` on (# Safety).
                unsafe {
                    let x: [__m256i; 4] =
                        std::array::from_fn(|k| _mm256_loadu_si256(from[r + k].add(c).cast()));
                    let low = [
                        _mm256_unpacklo_epi64(x[0], x[1]),
                        _mm256_unpacklo_epi64(x[2], x[3]),
                    ];
                    let high = [
                        _mm256_unpackhi_epi64(x[0], x[1]),
                        _mm256_unpackhi_epi64(x[2], x[3]),
                    ];
                    let y = [
                        _mm256_permute2x128_si256::<0x20>(low[0], low[1]),
                        _mm256_permute2x128_si256::<0x20>(high[0], high[1]),
                        _mm256_permute2x128_si256::<0x31>(low[0], low[1]),
                        _mm256_permute2x128_si256::<0x31>(high[0], high[1]),
                    ];
                    (0..4).for_each(|k| _mm256_storeu_si256(to[c + k].add(r).cast(), y[k]));
                }
            }
        }
    }

    /// Copies rows in reversed order, as [`super::reversed`]. Neighbouring vectors may overlap.
    ///
    /// # Safety
    /// Elements have 1, 2, 4 or 8 bytes and are valid for reading and for writing, and a row has at
    /// least 16 bytes.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn reversed<T: Copy>(
        from: *const T,
        apart: isize,
        to: *mut T,
        [rows, len]: [usize; 2],
    ) {
        let size = size_of::<T>() as i8;
        // The bytes of 16 whose elements are reversed.
        let bytes: [i8; 16] =
            std::array::from_fn(|k| 16 - size - k as i8 / size * size + k as i8 % size);
        // SAFETY: the array has 16 bytes.
        let order = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        let orders = _mm256_broadcastsi128_si256(order);
        let turned = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        let (half, whole) = (16 / size_of::<T>(), 32 / size_of::<T>());
        for r in 0..rows {
            let (from, to) = (
                from.wrapping_offset(r as isize * apart),
                to.wrapping_add(r * len),
            );
            if len < whole {
                for i in [0, len - half] {
                    // SAFETY: the row has the elements from `i` to `i + half`.
                    unsafe {
                        let x = _mm_loadu_si128(from.wrapping_sub(i + half - 1).cast());
                        _mm_storeu_si128(to.add(i).cast(), _mm_shuffle_epi8(x, order));
                    }
                }
                continue;
            }
            for i in (0..len).step_by(whole) {
                let i = i.min(len - whole);
                // SAFETY: the row has the elements from `i` to `i + whole`.
                unsafe {
                    let x = _mm256_loadu_si256(from.wrapping_sub(i + whole - 1).cast());
                    let y = match size_of::<T>() {
                        4 => _mm256_permutevar8x32_epi32(x, turned),
                        8 => _mm256_permute4x64_epi64::<0x1b>(x),
                        _ => _mm256_permute4x64_epi64::<0x4e>(_mm256_shuffle_epi8(x, orders)),
                    };
                    _mm256_storeu_si256(to.add(i).cast(), y);
                }
            }
        }
    }

    macro_rules! squares {
        ($name:ident, $t:ty, $square:ident) => {
            /// Moves `width` lines of `steps` elements by squares; neighbouring squares may
            /// overlap. Element `i` of line `l` goes from `from + l · a[0] + i · a[1]` to `to + l ·
            /// b[0] + i · b[1]`. In `a` and in `b` one stride is 1, at different positions.
            ///
            /// # Safety
            /// Every element is valid for reading and for writing. There are at least `SQUARE`
            /// lines, and `SQUARE` elements in a line.
            #[target_feature(enable = "avx2")]
            pub(super) unsafe fn $name(
                from: *const $t,
                a: [isize; 2],
                to: *mut $t,
                b: [isize; 2],
                [width, steps]: [usize; 2],
            ) {
                const N: usize = super::SQUARE;
                let (last_line, last_step) = (width - N, steps - N);
                for l in (0..width).step_by(N) {
                    let l = l.min(last_line) as isize;
                    for i in (0..steps).step_by(N) {
                        let i = i.min(last_step) as isize;
                        let from = from.wrapping_offset(l * a[0] + i * a[1]);
                        let to = to.wrapping_offset(l * b[0] + i * b[1]);
                        // Reads along the axis that is contiguous in memory.
                        let (next, other) = if a[1] == 1 {
                            (a[0], b[1])
                        } else {
                            (a[1], b[0])
                        };
                        let mut lines = ([from; N], [to; N]);
                        for k in 0..N {
                            lines.0[k] = from.wrapping_offset(k as isize * next);
                            lines.1[k] = to.wrapping_offset(k as isize * other);
                        }
                        // SAFETY: the square is inside the lines, which the caller guarantees (#
                        // Safety).
                        unsafe { $square(&lines.0, &lines.1) };
                    }
                }
            }
        };
    }

    squares!(squares_of_bytes, u8, bytes);
    squares!(squares_of_halves, u16, halves);
    squares!(squares_of_words, u32, words);
    squares!(squares_of_doubles, u64, doubles);

    macro_rules! blocks {
        ($name:ident, $t:ty, $square:ident) => {
            /// Transposes blocks of `N` by `N`, as [`super::blocks`].
            ///
            /// # Safety
            /// The preconditions of [`super::blocks`], and those of the function that transposes
            /// squares, for each block.
            #[target_feature(enable = "avx2")]
            pub(super) unsafe fn $name<const N: usize>(
                from: &[*const $t; N],
                step: isize,
                to: &[*mut $t; N],
                stride: isize,
                count: usize,
            ) {
                for i in 0..count as isize {
                    let (from, to) = (
                        from.map(|p| p.wrapping_offset(i * step)),
                        to.map(|p| p.wrapping_offset(i * stride)),
                    );
                    // SAFETY: the caller guarantees each block (# Safety).
                    unsafe { $square(&from, &to) };
                }
            }
        };
    }

    blocks!(all_bytes, u8, bytes);
    blocks!(all_halves, u16, halves);
    blocks!(all_words, u32, words);
    blocks!(all_doubles, u64, doubles);

    /// Pairs of lanes of `L` bytes of two vectors, from their low halves and from their high ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn paired<const L: usize>(a: __m128i, b: __m128i) -> [__m128i; 2] {
        match L {
            1 => [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)],
            2 => [_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)],
            4 => [_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)],
            _ => [_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)],
        }
    }

    /// Transposes elements of 2 bytes, eight by eight.
    ///
    /// # Safety
    /// Each pointer is valid for `N` elements, a multiple of 8, and `to` does not overlap `from`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn halves<const N: usize>(from: &[*const u16; N], to: &[*mut u16; N]) {
        for c in (0..N).step_by(8) {
            for r in (0..N).step_by(8) {
                // SAFETY: the lines have eight elements from `c` on, and from `r` on (# Safety).
                unsafe {
                    let x: [__m128i; 8] =
                        std::array::from_fn(|k| _mm_loadu_si128(from[r + k].add(c).cast()));
                    // Of four lines: each vector has two elements of every line.
                    let quad = |k: usize| {
                        let (a, b) = (paired::<2>(x[k], x[k + 1]), paired::<2>(x[k + 2], x[k + 3]));
                        [paired::<4>(a[0], b[0]), paired::<4>(a[1], b[1])]
                    };
                    let (a, b) = (quad(0), quad(4));
                    for k in 0..4 {
                        let y = paired::<8>(a[k / 2][k % 2], b[k / 2][k % 2]);
                        _mm_storeu_si128(to[c + 2 * k].add(r).cast(), y[0]);
                        _mm_storeu_si128(to[c + 2 * k + 1].add(r).cast(), y[1]);
                    }
                }
            }
        }
    }

    /// Transposes elements of 1 byte, eight by eight.
    ///
    /// # Safety
    /// Each pointer is valid for `N` elements, a multiple of 8, and `to` does not overlap `from`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn bytes<const N: usize>(from: &[*const u8; N], to: &[*mut u8; N]) {
        for c in (0..N).step_by(8) {
            for r in (0..N).step_by(8) {
                // SAFETY: the lines have eight elements from `c` on, and from `r` on (# Safety).
                unsafe {
                    let x: [__m128i; 8] =
                        std::array::from_fn(|k| _mm_loadl_epi64(from[r + k].add(c).cast()));
                    let two = |k: usize| paired::<1>(x[k], x[k + 1])[0];
                    let (a, b) = (paired::<2>(two(0), two(2)), paired::<2>(two(4), two(6)));
                    for k in 0..2 {
                        for (l, y) in paired::<4>(a[k], b[k]).into_iter().enumerate() {
                            let at = c + 4 * k + 2 * l;
                            _mm_storel_epi64(to[at].add(r).cast(), y);
                            let high = _mm_unpackhi_epi64(y, y);
                            _mm_storel_epi64(to[at + 1].add(r).cast(), high);
                        }
                    }
                }
            }
        }
    }

    /// Transposes elements of 4 bytes, eight by eight.
    ///
    /// # Safety
    /// Each pointer is valid for `N` elements, a multiple of 8, and `to` does not overlap `from`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn words<const N: usize>(from: &[*const u32; N], to: &[*mut u32; N]) {
        for c in (0..N).step_by(8) {
            for r in (0..N).step_by(8) {
                // SAFETY: the lines have eight elements from `c` on, and from `r` on (# Safety).
                unsafe {
                    let x: [__m256i; 8] =
                        std::array::from_fn(|k| _mm256_loadu_si256(from[r + k].add(c).cast()));
                    // Of lines k to k + 3: the elements 2h and 2h + 1 of each half, line by line.
                    let quad = |k: usize| {
                        let low = [
                            _mm256_unpacklo_epi32(x[k], x[k + 1]),
                            _mm256_unpacklo_epi32(x[k + 2], x[k + 3]),
                        ];
                        let high = [
                            _mm256_unpackhi_epi32(x[k], x[k + 1]),
                            _mm256_unpackhi_epi32(x[k + 2], x[k + 3]),
                        ];
                        [
                            _mm256_unpacklo_epi64(low[0], low[1]),
                            _mm256_unpackhi_epi64(low[0], low[1]),
                            _mm256_unpacklo_epi64(high[0], high[1]),
                            _mm256_unpackhi_epi64(high[0], high[1]),
                        ]
                    };
                    let (a, b) = (quad(0), quad(4));
                    for k in 0..4 {
                        let y = _mm256_permute2x128_si256::<0x20>(a[k], b[k]);
                        _mm256_storeu_si256(to[c + k].add(r).cast(), y);
                        let y = _mm256_permute2x128_si256::<0x31>(a[k], b[k]);
                        _mm256_storeu_si256(to[c + k + 4].add(r).cast(), y);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_comes_to_its_place() {
        fn of<T: Copy + PartialEq + std::fmt::Debug, const N: usize>(number: fn(usize) -> T) {
            let from: Vec<T> = (0..N * N).map(number).collect();
            let lines: [&[T; N]; N] = std::array::from_fn(|r| from[r * N..].first_chunk().unwrap());
            let stride = N + 3;
            let mut dst = vec![number(0); stride * N + 1];
            if !block(&mut dst, 1, stride as isize, &lines) {
                return;
            }
            for (r, c) in (0..N).flat_map(|r| (0..N).map(move |c| (r, c))) {
                assert_eq!(
                    dst[1 + c * stride + r],
                    from[r * N + c],
                    "line {r}, element {c}"
                );
            }
        }
        of::<u8, 8>(|i| i as u8);
        of::<u8, 16>(|i| i as u8);
        of::<u16, 8>(|i| i as u16);
        of::<u16, 16>(|i| i as u16);
        of::<u32, 8>(|i| i as u32);
        of::<u32, 16>(|i| i as u32);
        of::<u64, 8>(|i| i as u64);
        of::<f64, 16>(|i| i as f64);
        assert!(!block(&mut [0u128; 64], 0, 8, &[&[0; 8]; 8]));
    }
}
