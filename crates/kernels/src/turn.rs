//! Transposes of square blocks in registers, and of lines to columns and back by such blocks.
//!
//! Elements are moved as integers of their size, so that every bit is preserved.

use crate::view::ElementRun;

/// Side of a square that is transposed in registers.
#[cfg(target_arch = "x86_64")]
const SQUARE: usize = 8;

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
        let fill = matches!(size_of::<T>(), 4 | 8) && width >= SQUARE && steps >= SQUARE;
        fill && self.by == 1 && crate::simd::fused() && inside(0) && inside(width - 1) && {
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
            match size_of::<T>() {
                4 => x86::squares_of_words(
                    from.cast(),
                    [next, 1],
                    to.cast(),
                    [1, W as isize],
                    [width, steps],
                ),
                _ => x86::squares_of_doubles(
                    from.cast(),
                    [next, 1],
                    to.cast(),
                    [1, W as isize],
                    [width, steps],
                ),
            }
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
            match size_of::<T>() {
                4 => x86::squares_of_words(
                    from.cast(),
                    [1, W as isize],
                    to.cast(),
                    [next, 1],
                    [width, steps],
                ),
                _ => x86::squares_of_doubles(
                    from.cast(),
                    [1, W as isize],
                    to.cast(),
                    [next, 1],
                    [width, steps],
                ),
            }
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
/// r]`. Returns `false`, without writing, if elements have not 4 or 8 bytes, blocks do not fill
/// registers, or the CPU lacks the instructions.
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
    if matches!(size_of::<T>(), 4 | 8)
        && N.is_multiple_of(32 / size_of::<T>())
        && crate::simd::fused()
    {
        let to: [*mut T; N] = std::array::from_fn(|c| {
            let start = at.wrapping_add_signed(stride.wrapping_mul(c as isize));
            dst[start..][..N].as_mut_ptr()
        });
        let from = lines.map(|l| l.as_ptr());
        // SAFETY: the CPU supports AVX2 (tested above); every line, in and out, has `N` elements of
        // this size.
        unsafe {
            match size_of::<T>() {
                4 => x86::words(&from.map(|p| p.cast()), &to.map(|p| p.cast())),
                _ => x86::doubles(&from.map(|p| p.cast()), &to.map(|p| p.cast())),
            }
        }
        return true;
    }
    let _ = (dst, at, stride, lines);
    false
}

/// Transposes a matrix: element `i` of row `r`, at `from + r + i · step`, goes to
/// `to + r · stride + i`. Returns `false`, without writing, if elements have not 4 or 8 bytes,
/// squares do not fit into the matrix, or the CPU lacks the instructions.
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
    if matches!(size_of::<T>(), 4 | 8) && rows.min(len) >= SQUARE && crate::simd::fused() {
        let (a, b, size) = ([1, step], [stride, 1], [rows, len]);
        // SAFETY: the CPU supports AVX2 (tested above), and there are as many rows and elements as
        // a square has. The caller guarantees the elements (# Safety).
        unsafe {
            match size_of::<T>() {
                4 => x86::squares_of_words(from.cast(), a, to.cast(), b, size),
                _ => x86::squares_of_doubles(from.cast(), a, to.cast(), b, size),
            }
        }
        return true;
    }
    let _ = (from, step, to, stride, rows, len);
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
    if matches!(size_of::<T>(), 4 | 8)
        && B.is_multiple_of(32 / size_of::<T>())
        && crate::simd::fused()
    {
        // SAFETY: the CPU supports AVX2 (tested above); the caller guarantees all blocks (#
        // Safety).
        unsafe {
            match size_of::<T>() {
                4 => x86::all_words(
                    &from.map(|p| p.cast()),
                    step,
                    &to.map(|p| p.cast()),
                    stride,
                    count,
                ),
                _ => x86::all_doubles(
                    &from.map(|p| p.cast()),
                    step,
                    &to.map(|p| p.cast()),
                    stride,
                    count,
                ),
            }
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

    squares!(squares_of_words, u32, words);
    squares!(squares_of_doubles, u64, doubles);

    /// Transposes blocks of elements of 8 bytes.
    ///
    /// # Safety
    /// As for [`doubles`], for each block.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn all_doubles<const N: usize>(
        from: &[*const u64; N],
        step: isize,
        to: &[*mut u64; N],
        stride: isize,
        count: usize,
    ) {
        for i in 0..count as isize {
            let (from, to) = (
                from.map(|p| p.wrapping_offset(i * step)),
                to.map(|p| p.wrapping_offset(i * stride)),
            );
            // SAFETY: the caller guarantees each block (# Safety).
            unsafe { doubles(&from, &to) };
        }
    }

    /// Transposes blocks of elements of 4 bytes.
    ///
    /// # Safety
    /// As for [`words`], for each block.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn all_words<const N: usize>(
        from: &[*const u32; N],
        step: isize,
        to: &[*mut u32; N],
        stride: isize,
        count: usize,
    ) {
        for i in 0..count as isize {
            let (from, to) = (
                from.map(|p| p.wrapping_offset(i * step)),
                to.map(|p| p.wrapping_offset(i * stride)),
            );
            // SAFETY: the caller guarantees each block (# Safety).
            unsafe { words(&from, &to) };
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
        of::<u32, 8>(|i| i as u32);
        of::<u32, 16>(|i| i as u32);
        of::<u64, 8>(|i| i as u64);
        of::<f64, 16>(|i| i as f64);
        assert!(!block(&mut [0u8; 64], 0, 8, &[&[0; 8]; 8]));
    }
}
