//! A plan at given extents and layouts of arguments: loops, offsets and memory in numbers.

use super::arena::{MAX_COLUMN_ELEMENTS, allocate, bytes};
use super::axes::{LoopAxes, LoopAxis, by_columns, plain_axes, within};
use super::blocks::{OuterAxes, blocked};
use super::boxes::{Decided, decided};
use super::build::{
    CodeStep, Home, PlaceView, PlacedPhase, PlanParts, PlanStep, StepKind, operand_types,
};
use super::code::{Code, CodeMember, bytes_of};
use super::compose::{CodeChoice, LeafSource};
use super::factors::direct_folds;
use super::fastest::{by_copies, fastest_axes, fastest_boxes, folds_columns, time_of_packing};
use super::laid::{
    Base, DecidedCode, LaidBox, LaidCode, LaidGroup, LaidLeaf, LaidStep, LaidUpdates, LaidView,
    NumberBytes, PackedRead, Resolved, RowBlocks,
};
use super::lines::{LineRead, LineStart};
use super::reads::{NumRead, Numbers, ValueLayout};
#[cfg(any(test, debug_assertions))]
use super::verify::verify;
use crate::checks::{check_types, needs_check};
use crate::generate::iota;
use crate::groups::schedule::rows_that_fit;
use crate::kernel::Operands;
use crate::nests::access::Read;
use crate::nests::lower::MAX_FOLDED_PRODUCT;
use crate::tensor::{Extents, Strides, row_major, volume};
use crate::tuning::{
    CACHED_PRODUCT_BYTES, MAX_CACHED_ROW_ELEMENTS, MEMORY_BYTE_PS, MIN_BLOCK_ROWS,
    MIN_TURNED_ELEMENTS, PRODUCT_BLOCK_BYTES, STORE_PS_PER_BYTE, TARGET_BLOCKS,
};
use cotangent_core::ops::Iota;
use cotangent_core::{DType, Env, Error, Function, Result, Scalar, Shape, Type, Val, bail};
use cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS;
use cotangent_kernels::tile::min_stream_bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Minimum number of results of folds along an outer axis that are computed together.
const MIN_COLUMNS: usize = 256;

/// The extents and layouts that a segment is resolved for.
pub(crate) struct Extent<'a> {
    pub(crate) f: &'a Function,
    pub(crate) env: &'a Env,
    /// Strides of each argument.
    pub(crate) arguments: &'a [Strides],
    /// Whether phases may run on a block of rows before the next.
    pub(crate) by_rows: bool,
}

impl Extent<'_> {
    fn shapes(&self, parts: &PlanParts) -> Vec<Option<Extents>> {
        // Most values have the shape of the one before.
        let mut last: Option<(&Shape, Option<Extents>)> = None;
        let mut shapes = Vec::with_capacity(parts.places.len());
        for p in &parts.places {
            let shape = &p.ty.shape;
            let extents = match &last {
                Some((known, extents)) if *known == shape => extents.clone(),
                _ => shape.iter().map(|d| d.eval(self.env).ok()).collect(),
            };
            last = Some((shape, extents.clone()));
            shapes.push(extents);
        }
        shapes
    }

    /// The first equation of a segment that fails for these extents.
    fn failure(&self, parts: &PlanParts, eqns: std::ops::Range<u32>) -> Option<(u32, Error)> {
        // The last shape whose elements can be counted.
        let mut counted: Option<&Shape> = None;
        for k in eqns {
            if !parts.live[k as usize] {
                continue;
            }
            let e = &self.f.eqns()[k as usize];
            let checked = if needs_check(self.f, e) {
                check_types(self.f, e, &operand_types(self.f, e, self.env), self.env)
            } else {
                Ok(())
            };
            let bound = !e.op.binds().is_empty();
            let sizes = |v: Val| -> Result<()> {
                let shape = &self.f.ty(v).shape;
                if counted != Some(shape) {
                    let extents: Result<Extents> = shape.iter().map(|d| d.eval(self.env)).collect();
                    volume(&extents.map_err(|err| err.at(e.loc))?)?;
                    counted = Some(shape);
                }
                Ok(())
            };
            let done = checked.and_then(|()| match bound {
                true => Ok(()),
                false => e.results().try_for_each(sizes),
            });
            if let Err(err) = done {
                return Some((k, err.at(e.loc)));
            }
        }
        None
    }

    /// Resolves a segment of a plan.
    pub(crate) fn resolve(&self, parts: &PlanParts, segment: usize) -> Result<Resolved> {
        let s = &parts.segments[segment];
        let mut out = Resolved {
            shapes: self.shapes(parts),
            offsets: vec![0; parts.places.len()],
            failed: self.failure(parts, s.eqns.clone()),
            ..Resolved::default()
        };
        let end = out.failed.as_ref().map_or(u32::MAX, |f| f.0);
        let mut skipped: FxHashSet<u32> = FxHashSet::default();
        for step in &parts.steps[s.steps.clone()] {
            let mut late = step.eqn >= end;
            if !skipped.is_empty() {
                step.reads(parts, &mut |p| late |= skipped.contains(&p));
            }
            out.steps.push(match late {
                true => LaidStep::Skipped,
                false => self.step(parts, &out.shapes, step)?,
            });
            if late {
                step.writes(&mut |p| {
                    skipped.insert(p);
                });
            }
        }
        let last = segment + 1 == parts.segments.len();
        if last && out.failed.is_none() {
            let views = parts.results.iter();
            out.results = views
                .map(|v| self.view(parts, &out.shapes, v))
                .collect::<Result<_>>()?;
        }
        allocate(parts, s.steps.clone(), &mut out);
        #[cfg(any(test, debug_assertions))]
        verify(parts, s.steps.clone(), &out)?;
        Ok(out)
    }

    fn step(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        step: &PlanStep,
    ) -> Result<LaidStep> {
        match &step.kind {
            StepKind::Code(c) => self.group(parts, shapes, c),
            StepKind::Call(c) => {
                let views = c.operands.iter();
                let operands = views
                    .map(|v| self.view(parts, shapes, v))
                    .collect::<Result<_>>()?;
                let extents = |p: &Option<u32>| match p {
                    Some(p) => {
                        let shape = parts.places[*p as usize].ty.shape.iter();
                        shape.map(|d| d.eval(self.env).ok()).collect()
                    }
                    None => SmallVec::new(),
                };
                Ok(LaidStep::Call {
                    operands,
                    results: c.results.iter().map(extents).collect(),
                })
            }
        }
    }

    fn layout(&self, parts: &PlanParts, shapes: &[Option<Extents>], v: Val) -> ValueLayout {
        let place = parts.place_of[&v];
        let own = &parts.places[place as usize];
        let shape = shapes[place as usize].clone().unwrap_or_default();
        let strides = match own.home {
            Home::Argument => {
                let at = self.f.params().iter().position(|p| *p == v);
                self.arguments[at.expect("a parameter")].clone()
            }
            _ => row_major(&shape),
        };
        ValueLayout {
            place,
            dtype: own.ty.dtype,
            shape,
            strides,
        }
    }

    /// The reads of a space in numbers.
    fn read(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        r: &Read,
        dtype: DType,
        space: &[usize],
    ) -> Result<NumRead> {
        let layout = |v: Val| self.layout(parts, shapes, v);
        let numbers = Numbers {
            env: self.env,
            layout: &layout,
        };
        numbers.read(r, dtype, space)
    }

    fn view(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        v: &PlaceView,
    ) -> Result<LaidView> {
        let Some(read) = &v.read else {
            return Ok(None);
        };
        let shape: Extents = v.ty.shape.eval(self.env)?.into();
        if shape.contains(&0) {
            let strides = row_major(&shape);
            return Ok(Some((0, shape, strides)));
        }
        let num = self.read(parts, shapes, read, v.ty.dtype, &shape)?;
        match decided(&num, &plain_axes(&shape)) {
            Some(Decided::Strided(s)) => Ok(Some((s.offset as isize, shape, s.strides))),
            _ => bail!(Invalid, "a view is outside of its value"),
        }
    }

    fn group(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        c: &CodeStep,
    ) -> Result<LaidStep> {
        let spaces: Vec<Extents> = (c.phases.iter())
            .map(|p| {
                let extents = p.code.space.iter().map(|a| a.extent.eval(self.env));
                extents.collect::<Result<_>>()
            })
            .collect::<Result<_>>()?;
        for space in &spaces {
            volume(space)?;
        }
        let mut group = self.scheduled(parts, shapes, c, &spaces)?;
        for (phase, laid) in c.phases.iter().zip(&mut group.phases) {
            stream(parts, shapes, phase, laid);
        }
        Ok(LaidStep::Code(group))
    }

    /// The phases of a group, in blocks of rows if that takes less time.
    fn scheduled(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        c: &CodeStep,
        spaces: &[Extents],
    ) -> Result<LaidGroup> {
        let by_rows = match c.rows.filter(|_| self.by_rows) {
            Some(first) => self.by_row_blocks(parts, shapes, c, spaces, first)?,
            None => None,
        };
        let time = |phases: &[LaidCode]| phases.iter().map(time_of_packing).sum::<u64>();
        let whole = || self.phases(parts, shapes, c, spaces, None);
        let Some((group, moved)) = by_rows else {
            return Ok(LaidGroup {
                phases: whole()?,
                rows: None,
            });
        };
        // In blocks of rows, axes of the rows are not cut, so that boxes may not decide which
        // elements are read. Without them, values of rows go through memory.
        let packing = time(&group.phases);
        if packing == 0 {
            return Ok(group);
        }
        let phases = whole()?;
        let moving = moved as u64 * 2 * MEMORY_BYTE_PS;
        match packing <= time(&phases).saturating_add(moving) {
            true => Ok(group),
            false => Ok(LaidGroup { phases, rows: None }),
        }
    }

    /// The phases of a group, by blocks of rows as for [`Extent::code`].
    fn phases(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        c: &CodeStep,
        spaces: &[Extents],
        by_blocks: Option<[usize; 2]>,
    ) -> Result<Vec<LaidCode>> {
        let all = c.phases.iter().zip(spaces);
        all.map(|(p, space)| self.code(parts, shapes, &p.code, space, by_blocks))
            .collect()
    }

    /// A group in blocks of rows, whose indices are the `first` axes, and the bytes of what it
    /// keeps for all rows. `None` if its rows are not suitable.
    fn by_row_blocks(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        c: &CodeStep,
        spaces: &[Extents],
        first: usize,
    ) -> Result<Option<(LaidGroup, usize)>> {
        let Some(mut rows) = row_blocks(parts, shapes, c, spaces, first) else {
            return Ok(None);
        };
        let phases = self.phases(parts, shapes, c, spaces, Some([first, rows.block]))?;
        let columns = phases.iter().filter(|p| p.columns);
        if !columns.clone().all(|p| p.len <= MAX_COLUMN_ELEMENTS) {
            return Ok(None);
        }
        if columns.count() > 0 {
            rows.block = rows.block.max(MIN_COLUMNS).min(rows.count);
        }
        let (bytes, rows) = (rows.bytes(), Some(rows));
        Ok(Some((LaidGroup { phases, rows }, bytes)))
    }

    /// A phase. If it runs by blocks of rows, `by_blocks` is the number of axes of the rows,
    /// which are not cut, and the number of rows of a block.
    fn code(
        &self,
        parts: &PlanParts,
        shapes: &[Option<Extents>],
        code: &Code,
        space: &[usize],
        by_blocks: Option<[usize; 2]>,
    ) -> Result<LaidCode> {
        let (rows, len) = (volume(&space[..code.rank])?, volume(&space[code.rank..])?);
        let mut laid = LaidCode {
            rows,
            len,
            starts: Vec::new(),
            start_reads: Vec::new(),
            numbers: Vec::new(),
            lines: Vec::new(),
            boxes: Vec::new(),
            updates: None,
            direct: None,
            columns: false,
            by_copies: None,
            scratch: None,
        };
        if rows == 0 || len == 0 {
            return Ok(laid);
        }
        let mut reads: Vec<Option<NumRead>> = Vec::with_capacity(code.leaves.len());
        for leaf in &code.leaves {
            reads.push(match &leaf.source {
                LeafSource::Read(r) => Some(self.read(parts, shapes, r, leaf.dtype, space)?),
                LeafSource::Index(_) | LeafSource::Extent(_) => None,
            });
        }
        let all: Vec<&NumRead> = reads.iter().flatten().collect();
        let starts = all.iter().flat_map(|r| &r.starts);
        let starts = starts.filter(|s| s.read.is_fixed());
        laid.starts.extend(starts.cloned());
        let none = LoopAxes::new();
        laid.start_reads = laid
            .starts
            .iter()
            .map(|s| LineStart::of(s, &none))
            .collect();
        // Results of a fold are computed together.
        let first = match code.rank == space.len() {
            true => by_blocks.map_or(0, |[first, _]| first),
            false => code.rank,
        };
        let (axes, parts) = match &code.region {
            None => fastest_axes(code, space, first, &all),
            Some(region) => {
                let axes = plain_axes(space);
                let parts = vec![within(&axes, region)];
                (axes, parts)
            }
        };
        let outer = axes.iter().filter(|a| a.of < first).count();
        self.boxes(code, space, &reads, parts, &mut laid)?;
        laid.updates = updates(code, space, &reads);
        if by_blocks.is_none() {
            laid.by_copies = by_copies(code, &axes, &reads, &laid);
        }
        laid.direct = direct_folds(code, &laid);
        if laid.direct.is_some() {
            return Ok(laid);
        }
        // Folds in place are instructions for rows, but not if a read is packed.
        let packed = || all.iter().any(|r| decided(r, &axes).is_none());
        if (self.by_rows || packed()) && folds_columns(code, &axes, &all) {
            let axes = by_columns(&axes, outer, [rows, len]);
            let parts = fastest_boxes(code, space, &axes, 0..axes.len() - outer, &all);
            laid.columns = true;
            self.boxes(code, space, &reads, parts, &mut laid)?;
        } else if self.by_rows && laid.by_copies.is_none() {
            let parts: Vec<LoopAxes> = laid.boxes.iter().map(|b| b.axes.clone()).collect();
            let sizes = code.leaves.iter().map(|leaf| leaf.dtype.size());
            let sized = reads.iter().zip(sizes);
            let sized: Vec<_> = sized.filter_map(|(r, n)| Some((r.as_ref()?, n))).collect();
            let outer = OuterAxes {
                count: outer,
                block: by_blocks.map(|[_, block]| block),
            };
            if let Some(parts) = blocked(code, &parts, outer, &sized) {
                self.boxes(code, space, &reads, parts, &mut laid)?;
            }
        }
        laid.direct = direct_folds(code, &laid);
        Ok(laid)
    }

    /// Lays out the boxes of a loop.
    fn boxes(
        &self,
        code: &Code,
        space: &[usize],
        reads: &[Option<NumRead>],
        parts: Vec<LoopAxes>,
        laid: &mut LaidCode,
    ) -> Result<()> {
        laid.numbers.clear();
        laid.lines.clear();
        laid.boxes.clear();
        let fixed = self.fixed(code, space, laid)?;
        // The first start of each read among those of the step.
        let (mut starts, mut count) = (Vec::with_capacity(reads.len()), 0);
        for r in reads {
            starts.push(count);
            let own = r.iter().flat_map(|r| &r.starts);
            count += own.filter(|s| s.read.is_fixed()).count();
        }
        let mut known = KnownCodes::default();
        for b in parts {
            let mut leaves = Vec::with_capacity(reads.len());
            for ((r, own), first) in reads.iter().zip(&fixed).zip(&starts) {
                leaves.push(match (r, own) {
                    (Some(r), _) => leaf(r, &b, *first, &mut laid.numbers),
                    (None, Some(own)) => own.leaf(&b),
                    (None, None) => unreachable!("an input is read or fixed"),
                });
            }
            let decided = decided_code(code, &leaves, &laid.numbers, &mut known);
            laid.boxes.push(LaidBox::of(code, b, leaves, decided));
        }
        Ok(())
    }

    /// Inputs that depend on extents alone.
    fn fixed(
        &self,
        code: &Code,
        space: &[usize],
        laid: &mut LaidCode,
    ) -> Result<Vec<Option<FixedInput>>> {
        let mut out = Vec::with_capacity(code.leaves.len());
        for leaf in &code.leaves {
            out.push(match &leaf.source {
                LeafSource::Read(_) => None,
                LeafSource::Extent(d) => {
                    let n = Scalar::I(d.eval(self.env)? as i128);
                    laid.numbers
                        .push(NumberBytes::of(&bytes_of(&n.array(leaf.dtype))));
                    let base = Base::Number(laid.numbers.len() - 1);
                    Some(FixedInput { base, along: None })
                }
                LeafSource::Index(k) => {
                    let line = Iota {
                        ty: Type::new(leaf.dtype, [space[*k]]),
                        axis: 0,
                    };
                    let line = iota(&line)(&Env::default(), Operands::new())?.remove(0);
                    laid.lines.push(line);
                    let base = Base::Line(laid.lines.len() - 1);
                    let along = Some(*k);
                    Some(FixedInput { base, along })
                }
            });
        }
        Ok(out)
    }
}

/// Lets the code of a phase write large results that no step reads by non-temporal stores, if its
/// time is that of memory.
fn stream(parts: &PlanParts, shapes: &[Option<Extents>], phase: &PlacedPhase, laid: &mut LaidCode) {
    let code = &phase.code;
    if code.rank < code.space.len() {
        return;
    }
    let least = min_stream_bytes();
    let is_read = |place: u32| {
        let mut read = false;
        for step in &parts.steps {
            step.reads(parts, &mut |p| read |= p == place);
        }
        read
    };
    let streams = |place: u32| {
        let size = parts.places[place as usize].ty.dtype.size();
        let result = matches!(parts.places[place as usize].home, Home::Tensor);
        let quick = code.cost < STORE_PS_PER_BYTE * size as u64;
        quick && result && bytes(parts, shapes, place) >= least && !is_read(place)
    };
    let members = code.members.iter().zip(&phase.places);
    let outputs = members.filter(|&(_, &p)| streams(p));
    let outputs: SmallVec<[usize; 4]> = outputs
        .flat_map(|(m, _)| m.output..m.output + m.outputs.len())
        .collect();
    let by_copies = laid.by_copies.iter_mut().flat_map(|c| &mut c.boxes);
    for b in laid.boxes.iter_mut().chain(by_copies) {
        b.layouts.stream(outputs.iter().copied());
    }
}

/// The values of a phase as updates of windows, if each is one.
fn updates(code: &Code, space: &[usize], reads: &[Option<NumRead>]) -> Option<Box<LaidUpdates>> {
    let stored = code.rank == space.len() && code.region.is_none();
    let read = |m: &CodeMember| match m.copies[..] {
        [Some(leaf)] => reads[leaf].as_ref().filter(|r| r.updates_few(space)),
        _ => None,
    };
    let all = code.members.iter().map(read).collect::<Option<Vec<_>>>();
    let reads = all.filter(|_| stored)?.into_iter().cloned().collect();
    Some(Box::new(LaidUpdates {
        extents: space.into(),
        reads,
    }))
}

/// An input that depends on extents alone: a number, or the indices along an axis of the space.
struct FixedInput {
    base: Base,
    along: Option<usize>,
}

impl FixedInput {
    /// The input in a box.
    fn leaf(&self, b: &LoopAxes) -> LaidLeaf {
        let step = |a: &LoopAxis| match self.along == Some(a.of) {
            true => a.step as isize,
            false => 0,
        };
        let first = b.iter().map(|a| a.low as i64 * step(a) as i64).sum();
        LaidLeaf::Strided {
            base: self.base,
            offset: first,
            strides: b.iter().map(step).collect(),
            dynamic: SmallVec::new(),
        }
    }
}

/// The rows that all phases run on before the next ones, of which `first` axes are the indices.
/// `None` if rows are too long to stay in the cache, or are too few for several threads.
fn row_blocks(
    parts: &PlanParts,
    shapes: &[Option<Extents>],
    c: &CodeStep,
    spaces: &[Extents],
    first: usize,
) -> Option<RowBlocks> {
    let count: usize = spaces[0][..first].iter().product();
    let products = || c.phases.iter().map(|p| p.code.has_product()).zip(spaces);
    let inner = |(product, s): (bool, &Extents)| {
        let end = s.len() - usize::from(product);
        s[first.min(end)..end].iter().product::<usize>()
    };
    let longest = products().map(inner).max().unwrap_or(0);
    let most = match count {
        1 => FOLD_CHUNK_ELEMENTS,
        _ => MAX_CACHED_ROW_ELEMENTS,
    };
    if count == 0 || longest > most {
        return None;
    }
    let mut used: FxHashSet<u32> = c.outputs.iter().copied().chain(c.blocks.clone()).collect();
    c.reads(&mut |r| {
        r.elements(&mut |a| {
            used.insert(parts.place_of[&a.of]);
        });
    });
    let of_row = |p: u32| bytes(parts, shapes, p) / count;
    let all: usize = used.iter().map(|&p| of_row(p)).sum();
    let mut block = rows_that_fit(all);
    if block >= MIN_TURNED_ELEMENTS {
        // Transposed rows are moved in squares.
        block = block.next_multiple_of(MIN_TURNED_ELEMENTS);
    }
    for (p, space) in c.phases.iter().zip(spaces) {
        if p.code.has_product() {
            let product = product_block(&p.code, space, count, first)?;
            block = block.max(PRODUCT_BLOCK_BYTES / 4 / all.max(1)).max(product);
        }
    }
    Some(RowBlocks {
        count,
        block: block.min(count),
        row_bytes: c.blocks.clone().map(of_row).collect(),
    })
}

/// The least number of `count` rows of a product, whose indices are the `first` axes, that are
/// computed together. `None` if blocks of rows take more time than the whole product, or if that is
/// small.
fn product_block(code: &Code, space: &[usize], count: usize, first: usize) -> Option<usize> {
    let (rows, columns, depth) = match *space {
        [.., m, n, k] => (m, n, k),
        [n, k] => (1, n, k),
        _ => (1, 1, space.iter().product()),
    };
    if rows.saturating_mul(columns).saturating_mul(depth) <= MAX_FOLDED_PRODUCT {
        return Some(1);
    }
    let size = code.members[0].dtype.size();
    let results: usize = space[..code.rank].iter().product();
    let most = PRODUCT_BLOCK_BYTES / ((columns + depth) * size);
    let gains = results * size > CACHED_PRODUCT_BYTES;
    // Rows of the step that are one row of the matrix.
    let unit = if first == code.rank { columns } else { 1 };
    let least = MIN_BLOCK_ROWS.max(depth);
    let block = (most / 2).min(count / unit / TARGET_BLOCKS).max(least);
    (gains && least <= most).then_some(block * unit)
}

/// An input that is a read, in a box. `first` is the number of the read's first fixed start.
fn leaf(r: &NumRead, b: &LoopAxes, first: usize, numbers: &mut Vec<NumberBytes>) -> LaidLeaf {
    match decided(r, b) {
        Some(Decided::Number(bytes)) => {
            numbers.push(NumberBytes::of(&bytes));
            LaidLeaf::Strided {
                base: Base::Number(numbers.len() - 1),
                offset: 0,
                strides: b.iter().map(|_| 0).collect(),
                dynamic: SmallVec::new(),
            }
        }
        Some(Decided::Strided(s)) => {
            // Starts that are not fixed have no number.
            let number = |k: usize| r.starts[..k].iter().filter(|s| s.read.is_fixed()).count();
            LaidLeaf::Strided {
                base: Base::Place(s.place),
                offset: s.offset,
                strides: s.strides,
                dynamic: s
                    .dynamic
                    .iter()
                    .map(|&(k, scale)| (first + number(k), scale))
                    .collect(),
            }
        }
        None => LaidLeaf::Packed(Arc::new(PackedRead {
            read: r.clone(),
            lines: LineRead::of(r, b),
        })),
    }
}

/// Code by the choices that boxes decide.
type KnownCodes = FxHashMap<Vec<Option<bool>>, Arc<DecidedCode>>;

/// The code of a box that decides choices between values that the code computes: what the box does
/// not choose is left out.
fn decided_code(
    code: &Code,
    leaves: &[LaidLeaf],
    numbers: &[NumberBytes],
    known: &mut KnownCodes,
) -> Option<Arc<DecidedCode>> {
    let choices = code.choices.as_ref()?;
    let holds = |leaf: usize| match &leaves[leaf] {
        LaidLeaf::Strided {
            base: Base::Number(n),
            ..
        } => Some(numbers[*n].0[0] != 0),
        _ => None,
    };
    let decided: Vec<Option<bool>> = choices.of.iter().map(|c| holds(c.holds)).collect();
    decided.iter().any(Option::is_some).then_some(())?;
    let own = known.entry(decided).or_insert_with_key(|decided| {
        let each = choices.of.iter().zip(decided);
        let side = |c: &CodeChoice, inside: bool| c.sides[usize::from(!inside)];
        let chosen = each.filter_map(|(c, d)| Some((c.value, side(c, (*d)?))));
        let (body, inputs) = choices
            .builder
            .choosing(&choices.results, &chosen.collect());
        Arc::new(DecidedCode { body, inputs })
    });
    Some(own.clone())
}
