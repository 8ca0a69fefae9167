//! Copies with a halo: a value with what reads find around it, so that boxes which differ in where
//! reads lead become one.
//!
//! ```text
//! y[i] = x[(i - 1) mod 4] + x[(i + 1) mod 4]      boxes 0, 1..3 and 3
//! h = [x3 x0 x1 x2 x3 x0]                         x with a halo of one element
//! y[i] = h[i] + h[i + 2]                          one box
//! ```
//! Rolls, pads and windows that leave an array cut a space at its borders. Boxes of borders are
//! thin, and the code runs once for each, on columns. If the array is small, a copy takes less
//! time.
//!
//! Reads of one value with equal strides share a copy, if they overlap. In the largest box they
//! differ by offsets, which place each read in the copy; what they read in the other boxes fills
//! its border. If two reads need different elements at one position, there is no copy.

use super::axes::LoopAxes;
use super::boxes::{Decided, decided};
use super::laid::{Base, HaloCopy, HaloSource, LaidBox, LaidLeaf, NumberBytes};
use super::reads::NumRead;
use crate::axes::positions;
use crate::tensor::{Extents, Strides, row_major};
use smallvec::SmallVec;

/// Largest size of all copies of a phase, in bytes: they stay in the cache of a core.
const MAX_BYTES: usize = 256 << 10;

/// Maximum number of cells of a copy, each of which has one source.
const MAX_CELLS: usize = 4096;

/// Maximum number of rows of a part of a copy.
const MAX_ROWS: usize = 1 << 14;

/// Alignment of a copy, in bytes.
const ALIGNMENT: usize = 64;

/// The reads of a phase as leaves of one box over its whole space, and their copies.
pub(super) struct HaloReads {
    pub(super) leaves: Vec<LaidLeaf>,
    pub(super) copies: Vec<HaloCopy>,
    /// Bytes of all copies.
    pub(super) bytes: usize,
}

/// The elements that a read finds in a box, or in a part of a copy.
#[derive(Clone, PartialEq)]
enum FoundSource {
    Number(Vec<u8>),
    Strided {
        place: u32,
        /// At the first index, in elements.
        offset: i64,
        /// 0 along axes of one index.
        strides: Strides,
    },
}

/// Indices along the axes of a copy that have one source.
#[derive(Clone)]
struct CopyPart {
    low: SmallVec<[usize; 4]>,
    extents: SmallVec<[usize; 4]>,
    source: FoundSource,
}

/// Reads that share a copy, of elements of `size` bytes.
struct Group {
    size: usize,
    place: u32,
    strides: Strides,
    members: Vec<Member>,
}

struct Member {
    leaf: usize,
    /// At the first index of the space, if the largest box is continued to it.
    offset: i64,
    /// In each box.
    sources: Vec<FoundSource>,
}

/// The reads of a phase by copies with halos. `boxes` cut the axes so that each read has one source
/// in every box; `laid` is one of the boxes of the phase, `leaves` are the read and the size of an
/// element of each input. `None` if that is not possible.
pub(super) fn halo_reads(
    axes: &LoopAxes,
    boxes: &[LoopAxes],
    laid: &LaidBox,
    leaves: &[(Option<&NumRead>, usize)],
) -> Option<HaloReads> {
    let volume = |b: &LoopAxes| b.iter().map(|a| a.extent).product::<usize>();
    let main = (0..boxes.len()).max_by_key(|&k| volume(&boxes[k]))?;
    let mut spans = boxes[main].iter().zip(axes);
    let long = spans.all(|(b, a)| b.extent > 1 || a.extent == 1);
    long.then_some(())?;
    let mut out = HaloReads {
        leaves: Vec::with_capacity(leaves.len()),
        copies: Vec::new(),
        bytes: 0,
    };
    let mut groups: Vec<Group> = Vec::new();
    for (leaf, &(read, size)) in leaves.iter().enumerate() {
        let sources: Vec<FoundSource> = match read {
            Some(r) => boxes.iter().map(|b| source(r, b)).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        let Some(FoundSource::Strided {
            place,
            offset,
            strides,
        }) = sources.get(main)
        else {
            let same = sources.iter().all(|s| *s == sources[main]);
            out.leaves.push(fixed(laid, leaf).filter(|_| same)?);
            continue;
        };
        let offset = offset - moved(strides, &boxes[main]);
        out.leaves
            .push(strided(Base::Place(*place), offset, strides.clone()));
        let everywhere =
            |(b, s): (&LoopAxes, &FoundSource)| *s == continued(*place, offset, strides, b);
        if boxes.iter().zip(&sources).all(everywhere) {
            continue;
        }
        let own = |g: &&mut Group| {
            let distance = offset - g.members[0].offset;
            (g.size, g.place, &g.strides) == (size, *place, strides)
                && indices_apart(axes, strides, distance).is_some_and(|i| is_near(axes, &i))
        };
        let member = Member {
            leaf,
            offset,
            sources: sources.clone(),
        };
        match groups.iter_mut().find(own) {
            Some(g) => g.members.push(member),
            None => groups.push(Group {
                size,
                place: *place,
                strides: strides.clone(),
                members: vec![member],
            }),
        }
    }
    for g in groups {
        g.copied(axes, boxes, &mut out)?;
    }
    Some(out)
}

/// The copy that has the elements of a read at all indices, in row-major order.
pub(super) fn whole_copy(
    axes: &LoopAxes,
    boxes: &[LoopAxes],
    read: &NumRead,
    size: usize,
) -> Option<Vec<HaloCopy>> {
    let extents: Extents = axes.iter().map(|a| a.extent).collect();
    let n = extents.iter().try_fold(size, |n, &e| n.checked_mul(e))?;
    let sources: Vec<FoundSource> = boxes
        .iter()
        .map(|b| source(read, b))
        .collect::<Option<_>>()?;
    let strided = sources.iter().find_map(|s| match s {
        FoundSource::Strided { place, strides, .. } => Some((*place, strides.clone())),
        FoundSource::Number(_) => None,
    });
    let (place, strides) = strided.filter(|_| n <= MAX_BYTES)?;
    let by = row_major(&extents);
    let g = Group {
        size,
        place,
        strides,
        members: vec![Member {
            leaf: 0,
            offset: 0,
            sources,
        }],
    };
    let first = SmallVec::from_elem(0, axes.len());
    let parts = g.parts(&[first], boxes, &extents)?;
    parts.iter().map(|p| g.copy(p, 0, &by)).collect()
}

fn strided(base: Base, offset: i64, strides: Strides) -> LaidLeaf {
    LaidLeaf::Strided {
        base,
        offset,
        strides,
        dynamic: SmallVec::new(),
    }
}

/// An input that is the same in every box, over the whole space.
fn fixed(laid: &LaidBox, leaf: usize) -> Option<LaidLeaf> {
    match &laid.leaves[leaf] {
        LaidLeaf::Strided {
            base: base @ (Base::Number(_) | Base::Line(_)),
            offset,
            strides,
            ..
        } => Some(strided(
            *base,
            offset - moved(strides, &laid.axes),
            strides.clone(),
        )),
        _ => None,
    }
}

/// The source of a read in a box that decides it, if no start moves it.
fn source(r: &NumRead, b: &LoopAxes) -> Option<FoundSource> {
    match decided(r, b)? {
        Decided::Number(bytes) => Some(FoundSource::Number(bytes)),
        Decided::Strided(s) if s.dynamic.is_empty() => Some(FoundSource::Strided {
            place: s.place,
            offset: s.offset,
            strides: s.strides,
        }),
        Decided::Strided(_) => None,
    }
}

/// Elements from the first index of a space to that of a box.
fn moved(strides: &[isize], b: &LoopAxes) -> i64 {
    let each = b.iter().zip(strides);
    each.map(|(a, s)| a.low as i64 * *s as i64).sum()
}

/// A strided read of the whole space, in a box.
fn continued(place: u32, offset: i64, strides: &Strides, b: &LoopAxes) -> FoundSource {
    let own = b.iter().zip(strides);
    FoundSource::Strided {
        place,
        offset: offset + moved(strides, b),
        strides: own
            .map(|(a, &s)| if a.extent > 1 { s } else { 0 })
            .collect(),
    }
}

/// The indices between two elements of a strided read, this many elements apart.
fn indices_apart(axes: &LoopAxes, strides: &Strides, distance: i64) -> Option<SmallVec<[i64; 4]>> {
    let mut order: SmallVec<[usize; 4]> = (0..axes.len()).collect();
    order.retain(|a| axes[*a].extent > 1);
    order.sort_by_key(|&a| std::cmp::Reverse(strides[a].abs()));
    let mut rest = distance;
    let mut own: SmallVec<[i64; 4]> = SmallVec::from_elem(0, axes.len());
    for &a in &order {
        let stride = strides[a] as i64;
        (stride != 0).then_some(())?;
        // The nearest multiple of the stride.
        own[a] = (rest + stride.abs() / 2).div_euclid(stride.abs()) * stride.signum();
        rest -= own[a] * stride;
    }
    (rest == 0).then_some(own)
}

/// Whether a read that is moved by these indices overlaps with itself. Others are different parts
/// of a value, such as its components, which have copies of their own.
fn is_near(axes: &LoopAxes, indices: &[i64]) -> bool {
    let mut both = indices.iter().zip(axes);
    both.all(|(i, a)| i.unsigned_abs() < a.extent as u64)
}

impl FoundSource {
    /// The source from this index on, over these extents.
    fn part(&self, from: &[usize], extents: &[usize]) -> FoundSource {
        let FoundSource::Strided {
            place,
            offset,
            strides,
        } = self
        else {
            return self.clone();
        };
        let before = from.iter().zip(strides).map(|(&i, &s)| i as i64 * s as i64);
        let own = extents.iter().zip(strides);
        FoundSource::Strided {
            place: *place,
            offset: offset + before.sum::<i64>(),
            strides: own.map(|(&n, &s)| if n > 1 { s } else { 0 }).collect(),
        }
    }
}

impl Group {
    /// Adds the copy, and its reads.
    fn copied(&self, axes: &LoopAxes, boxes: &[LoopAxes], out: &mut HaloReads) -> Option<()> {
        let at = self.places(axes)?;
        let extents: Extents = (0..axes.len())
            .map(|a| axes[a].extent + at.iter().map(|i| i[a]).max().unwrap_or(0))
            .collect();
        let n = extents.iter().try_fold(1usize, |n, &e| n.checked_mul(e))?;
        let (to, bytes) = (out.bytes, n.checked_mul(self.size)?);
        out.bytes += bytes.next_multiple_of(ALIGNMENT);
        (bytes <= MAX_BYTES && out.bytes <= MAX_BYTES).then_some(())?;
        let by = row_major(&extents);
        for (m, at) in self.members.iter().zip(&at) {
            let first = at.iter().zip(&by).map(|(&i, &s)| i as i64 * s as i64);
            let own = axes.iter().zip(&by);
            let strides = own.map(|(a, &s)| if a.extent > 1 { s } else { 0 });
            out.leaves[m.leaf] = strided(Base::Halo(to), first.sum(), strides.collect());
        }
        let parts = self.parts(&at, boxes, &extents)?;
        for p in &parts {
            out.copies.push(self.copy(p, to, &by)?);
        }
        Some(())
    }

    /// The index in the copy of each read's first element.
    fn places(&self, axes: &LoopAxes) -> Option<Vec<SmallVec<[usize; 4]>>> {
        let mut low: SmallVec<[i64; 4]> = SmallVec::from_elem(0, axes.len());
        let mut at: Vec<SmallVec<[i64; 4]>> = Vec::with_capacity(self.members.len());
        for m in &self.members {
            let distance = m.offset - self.members[0].offset;
            let own = indices_apart(axes, &self.strides, distance)?;
            for (low, i) in low.iter_mut().zip(&own) {
                *low = (*low).min(*i);
            }
            at.push(own);
        }
        let index = |own: &SmallVec<[i64; 4]>| -> SmallVec<[usize; 4]> {
            own.iter()
                .zip(&low)
                .map(|(i, l)| (i - l) as usize)
                .collect()
        };
        Some(at.iter().map(index).collect())
    }

    /// The parts of the copy that reads find something in.
    fn parts(
        &self,
        at: &[SmallVec<[usize; 4]>],
        boxes: &[LoopAxes],
        extents: &[usize],
    ) -> Option<Vec<CopyPart>> {
        let rank = extents.len();
        let mut cuts: Vec<Vec<usize>> = vec![Vec::new(); rank];
        for (at, b) in at.iter().flat_map(|at| boxes.iter().map(move |b| (at, b))) {
            for (cuts, (i, a)) in cuts.iter_mut().zip(at.iter().zip(b)) {
                cuts.extend([i + a.low, i + a.low + a.extent]);
            }
        }
        for cuts in &mut cuts {
            cuts.sort_unstable();
            cuts.dedup();
        }
        let counts: Extents = cuts.iter().map(|c| c.len() - 1).collect();
        let n = counts.iter().try_fold(1usize, |n, &c| n.checked_mul(c))?;
        (n <= MAX_CELLS).then_some(())?;
        let by = row_major(&counts);
        let mut cells: Vec<Option<CopyPart>> = vec![None; n];
        for (m, at) in self.members.iter().zip(at) {
            for (b, source) in boxes.iter().zip(&m.sources) {
                let find = |a: usize, index: usize| cuts[a].partition_point(|&c| c < index);
                let low: SmallVec<[usize; 4]> = (0..rank).map(|a| at[a] + b[a].low).collect();
                let first: SmallVec<[usize; 4]> = (0..rank).map(|a| find(a, low[a])).collect();
                let counts: SmallVec<[usize; 4]> = (0..rank)
                    .map(|a| find(a, low[a] + b[a].extent) - first[a])
                    .collect();
                let origin = first.iter().zip(&by).map(|(&i, &s)| i as isize * s).sum();
                for cell in positions(&counts, &by, origin) {
                    let index = |a: usize| cell as usize / by[a] as usize % (cuts[a].len() - 1);
                    let from: SmallVec<[usize; 4]> = (0..rank).map(|a| cuts[a][index(a)]).collect();
                    let size = |a: usize| cuts[a][index(a) + 1] - cuts[a][index(a)];
                    let extents: SmallVec<[usize; 4]> = (0..rank).map(size).collect();
                    let before: SmallVec<[usize; 4]> =
                        from.iter().zip(&low).map(|(f, l)| f - l).collect();
                    let source = source.part(&before, &extents);
                    match &cells[cell as usize] {
                        Some(known) if known.source != source => return None,
                        Some(_) => {}
                        None => {
                            cells[cell as usize] = Some(CopyPart {
                                low: from,
                                extents,
                                source,
                            });
                        }
                    }
                }
            }
        }
        let mut parts: Vec<CopyPart> = cells.into_iter().flatten().collect();
        (0..rank).rev().for_each(|a| self.join(&mut parts, a));
        Some(parts)
    }

    /// Joins parts that continue one another along an axis.
    fn join(&self, parts: &mut Vec<CopyPart>, axis: usize) {
        let others = |v: &[usize]| -> SmallVec<[usize; 4]> {
            let all = v.iter().enumerate().filter(|(a, _)| *a != axis);
            all.map(|(_, &i)| i).collect()
        };
        parts.sort_by_cached_key(|p| (others(&p.low), p.low[axis]));
        let mut out: Vec<CopyPart> = Vec::with_capacity(parts.len());
        for p in parts.drain(..) {
            match out.last_mut() {
                Some(last)
                    if others(&last.low) == others(&p.low) && self.continues(last, &p, axis) =>
                {
                    last.extents[axis] += p.extents[axis];
                    if let FoundSource::Strided { strides, .. } = &mut last.source {
                        strides[axis] = self.strides[axis];
                    }
                }
                _ => out.push(p),
            }
        }
        *parts = out;
    }

    /// Whether a part begins along an axis where another one ends, in the copy and in the source.
    fn continues(&self, last: &CopyPart, next: &CopyPart, axis: usize) -> bool {
        let sizes = |p: &CopyPart| {
            let mut sizes = p.extents.clone();
            sizes[axis] = 0;
            sizes
        };
        let n = last.extents[axis];
        if last.low[axis] + n != next.low[axis] || sizes(last) != sizes(next) {
            return false;
        }
        match (&last.source, &next.source) {
            (FoundSource::Number(a), FoundSource::Number(b)) => a == b,
            (
                FoundSource::Strided {
                    place: a,
                    offset: from,
                    strides: x,
                },
                FoundSource::Strided {
                    place: b,
                    offset: to,
                    strides: y,
                },
            ) => {
                let step = self.strides[axis];
                let along = |p: &CopyPart, s: &Strides| p.extents[axis] == 1 || s[axis] == step;
                let rest = |(k, (x, y)): (usize, (&isize, &isize))| k == axis || x == y;
                a == b
                    && *to == from + n as i64 * step as i64
                    && along(last, x)
                    && along(next, y)
                    && x.iter().zip(y).enumerate().all(rest)
            }
            _ => false,
        }
    }

    /// The rows of a part of the copy, which begins `to` bytes after the memory of all copies.
    fn copy(&self, p: &CopyPart, to: usize, by: &[isize]) -> Option<HaloCopy> {
        let size = self.size as isize;
        let first = p.low.iter().zip(by).map(|(&i, &s)| i as isize * s).sum();
        let (source, offset, strides) = match &p.source {
            FoundSource::Number(bytes) => (HaloSource::Number(NumberBytes::of(bytes)), 0, None),
            FoundSource::Strided {
                place,
                offset,
                strides,
            } => (HaloSource::Place(*place), *offset as isize, Some(strides)),
        };
        let (mut axes, mut len) = (p.extents.len(), 1);
        // Axes that continue a row in the copy and in the source.
        while let Some(s) = strides.filter(|_| axes > 0) {
            let (a, n) = (axes - 1, p.extents[axes - 1]);
            if n != 1 && [by[a], s[a]] != [len as isize; 2] {
                break;
            }
            (axes, len) = (a, len * n);
        }
        let rows: usize = p.extents[..axes].iter().product();
        (rows <= MAX_ROWS).then_some(())?;
        let to_rows = positions(&p.extents[..axes], &by[..axes], first);
        let none = Strides::from_elem(0, axes);
        let from = positions(
            &p.extents[..axes],
            &strides.unwrap_or(&none)[..axes],
            offset,
        );
        let row = |(row, from): (&isize, &isize)| (to as isize + row * size, from * size);
        Some(HaloCopy {
            source,
            bytes: len * self.size,
            rows: to_rows.iter().zip(&from).map(row).collect(),
        })
    }
}
