//! Elements that are near each other but not in order, by vectors: every third element of a row,
//! rows that become every third element of another one, and short rows in any order.
//!
//! Elements are moved as integers of their size, so that every bit is preserved.

/// Least number of elements of a row that is moved by vectors.
const MIN_ELEMENTS: usize = 16;

/// Largest distance of elements that are read by vectors.
const MAX_STEP: isize = 8;

/// Whether elements of this size are moved by vectors on this CPU.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_vectors(size: usize) -> bool {
    x86::is_moved(size) && crate::simd::fused()
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors(_: usize) -> bool {
    false
}

/// Copies `n` elements, `step` apart, to adjacent ones: by vectors if they have 1 to 8 bytes,
/// `step` is 2 to 8, and the CPU has the instructions. Returns how many are copied, from the first
/// one on.
///
/// # Safety
/// `from` is valid for reading from the first element to the last one, with those between, and
/// `to` for writing `n` elements. They do not overlap.
#[inline(always)]
pub(crate) unsafe fn take<T: Copy>(from: *const T, step: isize, to: *mut T, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if (2..=MAX_STEP).contains(&step) && n >= MIN_ELEMENTS && has_vectors(size_of::<T>()) {
        // SAFETY: the CPU supports AVX2 (tested above), the elements have 1 to 8 bytes, and the
        // caller guarantees them (# Safety).
        return unsafe {
            match step {
                2 => x86::take::<T, 2>(from, to, n),
                3 => x86::take::<T, 3>(from, to, n),
                4 => x86::take::<T, 4>(from, to, n),
                5 => x86::take::<T, 5>(from, to, n),
                6 => x86::take::<T, 6>(from, to, n),
                7 => x86::take::<T, 7>(from, to, n),
                _ => x86::take::<T, 8>(from, to, n),
            }
        };
    }
    let _ = (from, step, to, n);
    0
}

/// Largest number of elements of a [`Pattern`].
const MAX_PATTERN: usize = 32;

/// Elements of one vector in any order, some of them several times, which repeat at a constant
/// distance.
///
/// ```text
/// x0 x1 x2 x3 ..  ->  x0 x0 x0 x1 x1 x1 ..      axes (3, 0), (n, 1): three times each
/// x0 x1 x2 x3 ..  ->  x0 x1 x2 x0 x1 x2 ..      axes (3, 1), (2, 0), (n, 3): rows of three, twice
/// x0 x1 x2 x3 ..  ->  x2 x1 x0 x6 x5 x4 ..      axes (3, -1), (n, 4): the first of four, reversed
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The offset of each element from the first of the vector that has all of them.
    offsets: [u8; MAX_PATTERN],
    len: usize,
    /// The least offset from the first element, in elements.
    low: isize,
    /// The distance from the first of these elements to the one after the last.
    window: usize,
    /// The words of each vector of the elements, by their positions in the vector that has all; the
    /// bytes, if elements are smaller than a word.
    orders: [[u8; VECTOR_BYTES]; MAX_PATTERN / 4],
}

impl Pattern {
    /// The pattern of elements of `size` bytes at these axes, each a length and a stride, innermost
    /// first, as many as one has: their number and the pattern. The next axis, if there is one, is
    /// part of it as far as it fits: the second number says how many of its indices are. `None` if
    /// there are none, or this CPU has no vectors of such elements.
    pub(crate) fn of(axes: &[(usize, isize)], size: usize) -> Option<(Pattern, [usize; 2])> {
        if !has_vectors(size) {
            return None;
        }
        let lanes = vector_bytes(size) / size;
        let fits = |len: usize, low: isize, high: isize| {
            len <= MAX_PATTERN && high.saturating_sub(low) < lanes as isize
        };
        let (mut len, mut low, mut high, mut count) = (1usize, 0isize, 0isize, 0);
        for &(n, step) in axes {
            let last = step.saturating_mul(n as isize - 1);
            let (l, h) = (
                low.saturating_add(last.min(0)),
                high.saturating_add(last.max(0)),
            );
            let all = len.saturating_mul(n);
            if !fits(all, l, h) {
                break;
            }
            (len, low, high, count) = (all, l, h, count + 1);
        }
        if count == 0 || len < 2 {
            return None;
        }
        let mut folds = 1;
        if let Some(&(n, step)) = axes.get(count) {
            let far = |k: usize| step.saturating_mul(k as isize);
            while folds < n
                && fits(
                    len * (folds + 1),
                    low.saturating_add(far(folds).min(0)),
                    high.saturating_add(far(folds).max(0)),
                )
            {
                folds += 1;
            }
            low += far(folds - 1).min(0);
            high += far(folds - 1).max(0);
        }
        let mut offsets = [0; MAX_PATTERN];
        offsets[0] = -low as u8;
        let mut known = 1;
        let next = axes.get(count).map(|a| (folds, a.1));
        for (n, step) in axes[..count].iter().copied().chain(next) {
            for k in known..known * n {
                let by = (k / known) as isize * step;
                offsets[k] = (isize::from(offsets[k % known]) + by) as u8;
            }
            known *= n;
        }
        let pattern = Pattern {
            offsets,
            len: len * folds,
            low,
            window: (high - low) as usize + 1,
            orders: orders(&offsets[..len * folds], size),
        };
        Some((pattern, [count, folds]))
    }

    /// Copies the elements of `n` patterns, `step` apart, to adjacent ones. All sizes are in
    /// elements: `after` of them, counted from the first one of the first pattern, can be read.
    /// There is room for as many as `room`, of which those behind the patterns may be overwritten.
    ///
    /// # Safety
    /// Elements have the size of the pattern. `from`, the first element of the first pattern, is
    /// valid at all offsets of all patterns and between the least and the greatest one, and for
    /// `after` elements; `to` for writing `room` elements. They do not overlap.
    #[inline]
    pub(crate) unsafe fn copy<T: Copy>(
        &self,
        from: *const T,
        step: isize,
        to: *mut T,
        n: usize,
        [after, room]: [usize; 2],
    ) {
        let from = from.wrapping_offset(self.low);
        // A vector may read behind its pattern, and write behind its elements.
        let lanes = vector_bytes(size_of::<T>()) / size_of::<T>();
        let left = after as isize - self.low - lanes as isize;
        let read = match step {
            _ if lanes == self.window => n,
            1.. if left >= 0 && (n as isize - 1) * step > left => (left / step) as usize + 1,
            _ if left >= 0 => n,
            _ => 0,
        };
        let written = match room.checked_sub(self.len.next_multiple_of(lanes)) {
            Some(left) if n.saturating_sub(1) * self.len > left => left / self.len + 1,
            Some(_) => n,
            None => 0,
        };
        let done = read.min(written).min(n);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Pattern::of` tested that the CPU supports AVX2, and the elements that are read
        // and written are those of patterns, as said above (# Safety).
        unsafe {
            x86::patterns(self, from, step, to, done)
        };
        for i in done..n {
            let from = from.wrapping_offset(i as isize * step);
            for (e, &offset) in self.offsets[..self.len].iter().enumerate() {
                // SAFETY: the caller guarantees all elements (# Safety).
                unsafe {
                    to.add(i * self.len + e)
                        .write(from.add(offset.into()).read())
                };
            }
        }
    }
}

/// Size of a vector of words in bytes.
const VECTOR_BYTES: usize = 32;

/// Size of a vector of elements of this size, in bytes. The bytes of smaller ones are put in order
/// in 16 bytes.
const fn vector_bytes(size: usize) -> usize {
    if size < 4 { 16 } else { VECTOR_BYTES }
}

/// The words, or the bytes, of each vector of elements of `size` bytes at these offsets.
fn orders(offsets: &[u8], size: usize) -> [[u8; VECTOR_BYTES]; MAX_PATTERN / 4] {
    let (bytes, unit) = (vector_bytes(size), size.min(4));
    let (lanes, units) = (bytes / size, size / unit);
    let mut all = [[0; VECTOR_BYTES]; MAX_PATTERN / 4];
    for (vector, order) in all.iter_mut().enumerate() {
        for (byte, to) in order[..bytes].iter_mut().enumerate() {
            let (k, rest) = (byte / unit, byte % unit);
            let e = vector * lanes + k / units;
            let offset = usize::from(offsets.get(e).copied().unwrap_or_default());
            *to = match unit {
                4 if rest == 0 => offset * units + k % units,
                4 => 0,
                _ => offset * unit + rest,
            } as u8;
        }
    }
    all
}

/// Writes element `i` of row `k` of `from` to `to[i * from.len() + k]`, for `n` elements of each
/// row.
///
/// # Safety
/// Each row is valid for reading `n` elements, and `to` for writing all of them. They do not
/// overlap.
pub unsafe fn join<T: Copy>(from: &[*const T], to: *mut T, n: usize) {
    let (mut done, count) = (0, from.len());
    #[cfg(target_arch = "x86_64")]
    if n >= MIN_ELEMENTS && has_vectors(size_of::<T>()) {
        // SAFETY: the CPU supports AVX2 (tested above), the elements have 1 to 8 bytes, and the
        // caller guarantees them (# Safety).
        done = unsafe {
            match *from {
                [a, b] => x86::join(&[a, b], to, n),
                [a, b, c] => x86::join(&[a, b, c], to, n),
                [a, b, c, d] => x86::join(&[a, b, c, d], to, n),
                _ => 0,
            }
        };
    }
    for i in done..n {
        for (k, from) in from.iter().enumerate() {
            // SAFETY: the caller guarantees all elements (# Safety).
            unsafe { to.add(i * count + k).write(from.add(i).read()) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Pattern, VECTOR_BYTES as BYTES, vector_bytes};
    use std::arch::x86_64::*;

    /// Whether elements of this size are moved by vectors.
    pub(super) const fn is_moved(size: usize) -> bool {
        matches!(size, 1 | 2 | 4 | 8)
    }

    /// Words of a vector.
    type Words = [i32; BYTES / 4];

    /// The words of a vector in which elements `n` apart are in order, from the words where they
    /// are in memory. `n` is odd, so no two are in one lane. `back` is the inverse order.
    const fn order(n: usize, size: usize, first: usize, back: bool) -> Words {
        let (lanes, words) = (BYTES / size, size.div_ceil(4));
        let (mut order, mut k) = ([0; BYTES / 4], 0);
        while k < BYTES / 4 && size >= 4 {
            let (lane, word) = (k / words, k % words);
            let at = (lane * n + first) % lanes;
            let (to, from) = if back { (at, lane) } else { (lane, at) };
            order[to * words + word] = (from * words + word) as i32;
            k += 1;
        }
        order
    }

    /// The lanes of vector `k` of `n` vectors of adjacent elements that belong to element `first`
    /// of every `n`.
    const fn mask(n: usize, size: usize, k: usize, first: usize) -> Words {
        let (lanes, words) = (BYTES / size, size.div_ceil(4));
        let (mut mask, mut w) = ([0; BYTES / 4], 0);
        while w < BYTES / 4 && size >= 4 {
            mask[w] = -(((k * lanes + w / words) % n == first) as i32);
            w += 1;
        }
        mask
    }

    /// The masks of `n` vectors for element `first`.
    const fn masks<const V: usize>(n: usize, size: usize, first: usize) -> [Words; V] {
        let (mut all, mut k) = ([[0; BYTES / 4]; V], 0);
        while k < V {
            all[k] = mask(n, size, k, first);
            k += 1;
        }
        all
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn vector(words: &Words) -> __m256i {
        // SAFETY: the words are those of a vector.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    /// The bytes of a vector of smaller elements, by their positions in another vector.
    type Bytes = [u8; vector_bytes(1)];

    /// The position of a byte that is 0.
    const NO_BYTE: u8 = 0x80;

    /// For `V` vectors of adjacent elements of `size` bytes: where each has elements that are `n`
    /// apart. `back`: where each vector of adjacent elements has those of a row, the `first` of `n`
    /// rows of which elements take turns.
    const fn bytes<const V: usize>(n: usize, size: usize, first: usize, back: bool) -> [Bytes; V] {
        let lanes = vector_bytes(1) / size;
        let (mut all, mut k) = ([[NO_BYTE; vector_bytes(1)]; V], 0);
        while k < V {
            let mut b = 0;
            while b < vector_bytes(1) {
                let lane = b / size;
                let (from, holds) = match back {
                    false => (lane * n % lanes, lane * n / lanes == k),
                    true => ((k * lanes + lane) / n, (k * lanes + lane) % n == first),
                };
                if holds {
                    all[k][b] = (from * size + b % size) as u8;
                }
                b += 1;
            }
            k += 1;
        }
        all
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn small_vector(bytes: &Bytes) -> __m128i {
        // SAFETY: the bytes are those of a vector.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    /// As [`super::take`] for elements of 1 or 2 bytes, `N` apart. What is read ends before the
    /// last element.
    ///
    /// # Safety
    /// The preconditions of [`super::take`] for such elements.
    #[target_feature(enable = "avx2")]
    unsafe fn take_small<T: Copy, const N: usize>(from: *const T, to: *mut T, n: usize) -> usize {
        let lanes = vector_bytes(1) / size_of::<T>();
        let orders: [Bytes; N] = const { bytes(N, size_of::<T>(), 0, false) };
        let orders = orders.each_ref().map(|b| small_vector(b));
        let mut i = 0;
        while i + lanes < n {
            let mut y = _mm_setzero_si128();
            for (k, &order) in orders.iter().enumerate() {
                // SAFETY: there are elements up to `i + lanes`, and `N` vectors end before that
                // one.
                let x = unsafe { _mm_loadu_si128(from.add(i * N + k * lanes).cast()) };
                y = _mm_or_si128(y, _mm_shuffle_epi8(x, order));
            }
            // SAFETY: `to` has `n` elements.
            unsafe { _mm_storeu_si128(to.add(i).cast(), y) };
            i += lanes;
        }
        i
    }

    /// As [`join`] for elements of 1 or 2 bytes.
    ///
    /// # Safety
    /// The preconditions of [`super::join`] for such elements.
    #[target_feature(enable = "avx2")]
    unsafe fn join_small<T: Copy, const N: usize>(
        from: &[*const T; N],
        to: *mut T,
        n: usize,
    ) -> usize {
        let lanes = vector_bytes(1) / size_of::<T>();
        let orders: [[Bytes; N]; 4] = const {
            let size = size_of::<T>();
            [
                bytes(N, size, 0, true),
                bytes(N, size, 1, true),
                bytes(N, size, 2, true),
                bytes(N, size, 3, true),
            ]
        };
        let mut i = 0;
        while i + lanes <= n {
            // SAFETY: each row has elements up to `i + lanes`.
            let x: [__m128i; N] = std::array::from_fn(|k| unsafe {
                _mm_loadu_si128(from[k].add(i).cast::<__m128i>())
            });
            let y: [__m128i; N] = std::array::from_fn(|v| {
                let part = |c: usize| _mm_shuffle_epi8(x[c], small_vector(&orders[c][v]));
                (1..N).fold(part(0), |y, c| _mm_or_si128(y, part(c)))
            });
            for (v, y) in y.into_iter().enumerate() {
                // SAFETY: `to` has the elements of all rows up to `i + lanes`.
                unsafe { _mm_storeu_si128(to.add(i * N + v * lanes).cast(), y) };
            }
            i += lanes;
        }
        i
    }

    /// As [`patterns`] for elements of 1 or 2 bytes.
    ///
    /// # Safety
    /// The preconditions of [`patterns`] for such elements.
    #[target_feature(enable = "avx2")]
    unsafe fn small_patterns<T: Copy>(
        pattern: &Pattern,
        from: *const T,
        step: isize,
        to: *mut T,
        n: usize,
    ) {
        let lanes = vector_bytes(1) / size_of::<T>();
        let count = pattern.len.div_ceil(lanes);
        // SAFETY: an order has more bytes than the vector.
        let order = |order: &[u8; BYTES]| unsafe { _mm_loadu_si128(order.as_ptr().cast()) };
        let orders = pattern.orders.each_ref().map(order);
        let (mut from, mut to) = (from, to);
        for _ in 0..n {
            // SAFETY: the caller guarantees the vectors (# Safety).
            unsafe {
                let x = _mm_loadu_si128(from.cast());
                for (v, &order) in orders[..count].iter().enumerate() {
                    _mm_storeu_si128(to.add(v * lanes).cast(), _mm_shuffle_epi8(x, order));
                }
            }
            from = from.wrapping_offset(step);
            to = to.wrapping_add(pattern.len);
        }
    }

    /// Every second element of two vectors.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn evens(size: usize, a: __m256i, b: __m256i) -> __m256i {
        let both = match size {
            4 => {
                let [a, b] = [_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)];
                _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b))
            }
            _ => _mm256_unpacklo_epi64(a, b),
        };
        _mm256_permute4x64_epi64::<0xd8>(both)
    }

    /// The odd factor of a distance.
    const fn odd(n: usize) -> usize {
        n >> n.trailing_zeros()
    }

    /// As [`super::take`] for elements `N` apart. What is read ends before the last element.
    ///
    /// # Safety
    /// The preconditions of [`super::take`] for elements of 1, 2, 4 or 8 bytes.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn take<T: Copy, const N: usize>(
        from: *const T,
        to: *mut T,
        n: usize,
    ) -> usize {
        if size_of::<T>() < 4 {
            // SAFETY: the elements have 1 or 2 bytes, and the caller guarantees them (# Safety).
            return unsafe { take_small::<T, N>(from, to, n) };
        }
        let (size, lanes) = (size_of::<T>(), BYTES / size_of::<T>());
        // Powers of two have no use for them.
        let order = vector(&const { order(odd(N), size_of::<T>(), 0, false) });
        let masks: [Words; 7] = const { masks(odd(N), size_of::<T>(), 0) };
        let masks = masks.each_ref().map(|m| vector(m));
        let mut i = 0;
        while i + lanes < n {
            // SAFETY: there are elements up to `i + lanes`, and `N` vectors end before that one.
            let x: [__m256i; N] = std::array::from_fn(|k| unsafe {
                _mm256_loadu_si256(from.add(i * N + k * lanes).cast::<__m256i>())
            });
            let two = |k: usize| evens(size, x[2 * k], x[2 * k + 1]);
            let four = |k: usize| evens(size, two(2 * k), two(2 * k + 1));
            let y = match N {
                2 => two(0),
                4 => four(0),
                8 => evens(size, four(0), four(1)),
                6 => {
                    let y = _mm256_blendv_epi8(two(0), two(1), masks[1]);
                    let y = _mm256_blendv_epi8(y, two(2), masks[2]);
                    _mm256_permutevar8x32_epi32(y, order)
                }
                _ => {
                    let y = (1..N).fold(x[0], |y, k| _mm256_blendv_epi8(y, x[k], masks[k]));
                    _mm256_permutevar8x32_epi32(y, order)
                }
            };
            // SAFETY: `to` has `n` elements.
            unsafe { _mm256_storeu_si256(to.add(i).cast(), y) };
            i += lanes;
        }
        i
    }

    /// As [`super::join`] for `N` rows, which are 2, 3 or 4. Returns how many elements of each row
    /// are written.
    ///
    /// # Safety
    /// The preconditions of [`super::join`] for elements of 1, 2, 4 or 8 bytes.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn join<T: Copy, const N: usize>(
        from: &[*const T; N],
        to: *mut T,
        n: usize,
    ) -> usize {
        if size_of::<T>() < 4 {
            // SAFETY: the elements have 1 or 2 bytes, and the caller guarantees them (# Safety).
            return unsafe { join_small(from, to, n) };
        }
        let (size, lanes) = (size_of::<T>(), BYTES / size_of::<T>());
        let orders = [
            vector(&const { order(3, size_of::<T>(), 0, true) }),
            vector(&const { order(3, size_of::<T>(), 1, true) }),
            vector(&const { order(3, size_of::<T>(), 2, true) }),
        ];
        let masks: [[Words; 3]; 2] =
            const { [masks(3, size_of::<T>(), 1), masks(3, size_of::<T>(), 2)] };
        let masks = masks.map(|all| all.map(|m| vector(&m)));
        let mut i = 0;
        while i + lanes <= n {
            // SAFETY: each row has elements up to `i + lanes`.
            let x: [__m256i; N] = std::array::from_fn(|k| unsafe {
                _mm256_loadu_si256(from[k].add(i).cast::<__m256i>())
            });
            let y: [__m256i; N] = match N {
                2 => {
                    let y = paired(size, x[0], x[1]);
                    std::array::from_fn(|k| y[k])
                }
                4 => {
                    let (a, b) = (paired(size, x[0], x[2]), paired(size, x[1], x[3]));
                    let y = [paired(size, a[0], b[0]), paired(size, a[1], b[1])];
                    std::array::from_fn(|k| y[k / 2][k % 2])
                }
                _ => {
                    let z: [__m256i; N] =
                        std::array::from_fn(|c| _mm256_permutevar8x32_epi32(x[c], orders[c]));
                    std::array::from_fn(|k| {
                        let y = _mm256_blendv_epi8(z[0], z[1], masks[0][k]);
                        _mm256_blendv_epi8(y, z[2], masks[1][k])
                    })
                }
            };
            for (k, y) in y.into_iter().enumerate() {
                // SAFETY: `to` has the elements of all rows up to `i + lanes`.
                unsafe { _mm256_storeu_si256(to.add(i * N + k * lanes).cast(), y) };
            }
            i += lanes;
        }
        i
    }

    /// As [`Pattern::copy`], by whole vectors. `from` is the least element of the first pattern.
    ///
    /// # Safety
    /// A vector may be read at each pattern, and whole vectors written for the elements of each.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn patterns<T: Copy>(
        pattern: &Pattern,
        from: *const T,
        step: isize,
        to: *mut T,
        n: usize,
    ) {
        if size_of::<T>() < 4 {
            // SAFETY: the elements have 1 or 2 bytes, and the caller guarantees them (# Safety).
            return unsafe { small_patterns(pattern, from, step, to, n) };
        }
        let lanes = BYTES / size_of::<T>();
        let count = pattern.len.div_ceil(lanes);
        let (mut from, mut to) = (from, to);
        for _ in 0..n {
            // SAFETY: the caller guarantees the vectors (# Safety); an order has the bytes of one.
            unsafe {
                let x = _mm256_loadu_si256(from.cast());
                for (v, order) in pattern.orders[..count].iter().enumerate() {
                    let order = _mm256_loadu_si256(order.as_ptr().cast());
                    let y = _mm256_permutevar8x32_epi32(x, order);
                    _mm256_storeu_si256(to.add(v * lanes).cast(), y);
                }
            }
            from = from.wrapping_offset(step);
            to = to.wrapping_add(pattern.len);
        }
    }

    /// The elements of two vectors in turn.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn paired(size: usize, a: __m256i, b: __m256i) -> [__m256i; 2] {
        let [low, high] = match size {
            4 => [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)],
            _ => [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)],
        };
        [
            _mm256_permute2x128_si256::<0x20>(low, high),
            _mm256_permute2x128_si256::<0x31>(low, high),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements_come_to_their_places<T: Copy + PartialEq + std::fmt::Debug>(number: fn(u16) -> T) {
        for n in 0..70 {
            for step in 1..=9usize {
                let all = (n * step).saturating_sub(step - 1);
                let from: Vec<T> = (0..all as u16).map(number).collect();
                let mut to = vec![number(9999); n];
                // SAFETY: both have the elements.
                let done = unsafe { take(from.as_ptr(), step as isize, to.as_mut_ptr(), n) };
                let want: Vec<T> = from.iter().step_by(step).copied().collect();
                assert_eq!(to[..done], want[..done], "every {step} of {n}");
                let all = to[done..].iter().all(|x| *x == number(9999));
                assert!(all && done <= n, "{step} {n}");
            }
            for count in 1..6 {
                let rows: Vec<Vec<T>> = (0..count)
                    .map(|k| (0..n as u16).map(|i| number(100 * k + i)).collect())
                    .collect();
                let mut to = vec![number(9999); n * count as usize];
                let from: Vec<*const T> = rows.iter().map(|r| r.as_ptr()).collect();
                // SAFETY: both have the elements.
                unsafe { join(&from, to.as_mut_ptr(), n) };
                for (at, x) in to.iter().enumerate() {
                    let (i, k) = (at / count as usize, at % count as usize);
                    assert_eq!(*x, rows[k][i], "{count} rows of {n}");
                }
            }
        }
    }

    #[test]
    fn elements_of_every_size() {
        elements_come_to_their_places::<u8>(|x| (x % 251) as u8);
        elements_come_to_their_places::<u16>(|x| x);
        elements_come_to_their_places::<u32>(u32::from);
        elements_come_to_their_places::<u64>(u64::from);
    }
}
