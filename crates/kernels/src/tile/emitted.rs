//! A body as machine code: when it is compiled, and how the code meets memory.
//!
//! Dense inputs are read where they lie, and one element for all is part of the code. Inputs that are one of these along long
//! rows are taken row by row; what lies otherwise is packed a tile at a time, as the interpreter does. Elements that
//! the code leaves (see [`Emitted::call`]) are interpreted.

use super::Body;
use super::TILE_BYTES;
use super::body::{Line, Source};
use super::pack::{Layout, fill};
use crate::emit::{Emitted, Id, Program, Recording};
use crate::simd::Level;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// From this many elements on, code is worth its compilation the first time.
const MANY: usize = 1 << 15;

/// Elements that are interpreted around a rare one.
const FEW: usize = 512;

/// Elements of a row that is worth a call.
const LONG: usize = 256;

/// The most inputs and instructions of a body that is compiled.
const MOST_INPUTS: usize = 64;
const MOST_STEPS: usize = 1000;

/// What runs bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// The interpreter at first, if there are few elements, then code.
    Both,
    Interpreter,
    Emitter,
}

impl Engine {
    /// What `COTANGENT_ENGINE` names (`interpreter`, `emitter`), else both. Read once.
    fn chosen() -> Engine {
        static CHOSEN: OnceLock<Engine> = OnceLock::new();
        *CHOSEN.get_or_init(|| match std::env::var("COTANGENT_ENGINE").as_deref() {
            _ if Level::chosen() == Level::Portable => Engine::Interpreter,
            Ok("interpreter") => Engine::Interpreter,
            Ok("emitter") => Engine::Emitter,
            _ => Engine::Both,
        })
    }
}

/// Whether bodies may become code.
pub(super) fn is_wanted() -> bool {
    Engine::chosen() != Engine::Interpreter
}

/// The code of a body, by which inputs are one element for all: compiled when first wanted, kept as long as the body.
#[derive(Default)]
pub(super) struct Variants {
    first: Link,
    runs: AtomicUsize,
}

type Link = OnceLock<Box<Variant>>;

struct Variant {
    splats: u64,
    code: Option<Emitted>,
    next: Link,
}

impl Body {
    /// The code for inputs that lie so, if there is any and it is time for it.
    pub(super) fn emitted(&self, layouts: &[Layout], n: usize) -> Option<&Emitted> {
        let engine = Engine::chosen();
        if engine == Engine::Interpreter || layouts.len() > MOST_INPUTS {
            return None;
        }
        let splats = self.splats(layouts, self.rows(layouts));
        let mut link = &self.emitted.first;
        loop {
            match link.get() {
                Some(v) if v.splats == splats => return v.code.as_ref(),
                Some(v) => link = &v.next,
                None => {
                    // One kernel over memory that needs no packing is as good as code.
                    if engine == Engine::Both {
                        let early = || n < MANY && self.emitted.runs.fetch_add(1, Ordering::Relaxed) == 0;
                        let as_good = || layouts.iter().all(|l| matches!(l, Layout::Dense));
                        if self.steps.len() < 2 && as_good() || early() {
                            return None;
                        }
                    }
                    // Another thread may put another variant here.
                    link.get_or_init(|| {
                        let code = self.compile(Level::chosen(), splats);
                        Box::new(Variant { splats, code, next: OnceLock::new() })
                    });
                }
            }
        }
    }

    /// The length of the rows along which every strided input is dense or one element, if they are long.
    fn rows(&self, layouts: &[Layout]) -> Option<usize> {
        let mut length = None;
        for (layout, &(size, _)) in layouts.iter().zip(&self.inputs) {
            if let Layout::Strided(nest) = layout {
                let (len, step) = nest.inner();
                let fits = step == 1 || step == 0 && size > 1;
                if len < LONG || !fits || length.is_some_and(|l| l != len) {
                    return None;
                }
                length = Some(len);
            }
        }
        length
    }

    /// A bit for every input that is one element for all, or for every row. Truth values are spread out, as vectors of bytes.
    fn splats(&self, layouts: &[Layout], rows: Option<usize>) -> u64 {
        let one = |(k, l): (usize, &Layout)| match l {
            Layout::Splat => self.inputs[k].0 > 1,
            Layout::Strided(nest) => rows.is_some() && nest.inner().1 == 0,
            Layout::Dense => false,
        };
        layouts.iter().enumerate().fold(0, |bits, (k, l)| bits | u64::from(one((k, l))) << k)
    }

    /// The code for a level.
    fn compile(&self, level: Level, splats: u64) -> Option<Emitted> {
        Emitted::compile(&self.program(level == Level::Avx512, false)?, |k| splats >> k & 1 == 1)
    }

    /// What the body computes for one element, if that can be said; `gradual` for numbers of which many are subnormal.
    pub(super) fn program(&self, wide: bool, gradual: bool) -> Option<Program> {
        if self.steps.len() > MOST_STEPS || self.steps.iter().any(|s| s.kernel.record.is_none()) {
            return None;
        }
        let recording = Recording::start(wide);
        let first = self.registers;
        let mut at = vec![Id::MAX; first + self.inputs.len() + self.constants.len() + self.outputs.len()];
        for (k, &(size, _)) in self.inputs.iter().enumerate() {
            at[first + k] = recording.input(size);
        }
        for (k, (bytes, size)) in self.constants.iter().enumerate() {
            at[first + self.inputs.len() + k] = recording.constant(&bytes[..*size]);
        }
        for s in &self.steps {
            let record = s.kernel.record?;
            let x = s.x.map(|x| at[x as usize]);
            let y = record(x);
            at[s.y as usize] = if gradual { recording.gradual(y, &x) } else { y };
        }
        let outputs = at[at.len() - self.outputs.len()..].to_vec();
        Some(recording.finish(outputs))
    }

    /// Runs code over a range.
    ///
    /// # Safety
    /// That of [`Body::run`]; the code is this body's, for inputs that lie so.
    pub(super) unsafe fn run_emitted(
        &self,
        code: &Emitted,
        layouts: &[Layout],
        range: Range<usize>,
        inputs: &[Source<'_>],
        outputs: &[*mut u8],
    ) {
        thread_local! {
            /// Tiles of packed inputs.
            static PACKED: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
        }
        let rows = self.rows(layouts);
        let splats = self.splats(layouts, rows);
        let packed = |k: usize| match layouts[k] {
            Layout::Dense => false,
            Layout::Splat => splats >> k & 1 == 0,
            Layout::Strided(_) => rows.is_none(),
        };
        let count = (0..inputs.len()).filter(|&k| packed(k)).count();
        let tile = if count == 0 { range.len() } else { (TILE_BYTES / self.widest).min(range.len()) };
        PACKED.with_borrow_mut(|memory| {
            let lines = TILE_BYTES / size_of::<Line>();
            if memory.len() < count * lines {
                memory.resize(count * lines, Line([0; 64]));
            }
            let mut table: SmallVec<[*mut u8; 16]> = SmallVec::with_capacity(inputs.len() + outputs.len());
            let mut free = memory.as_mut_ptr().cast::<u8>();
            for (k, source) in inputs.iter().enumerate() {
                table.push(match layouts[k] {
                    Layout::Dense => source.data.cast_mut().wrapping_add(range.start * self.inputs[k].0),
                    _ if !packed(k) => source.data.cast_mut(),
                    _ => {
                        let at = free;
                        free = free.wrapping_add(TILE_BYTES);
                        if matches!(layouts[k], Layout::Splat) {
                            // SAFETY: the source has an element, the tile room for as many.
                            unsafe { fill(self.inputs[k].0, at, source.data, tile) };
                        }
                        at
                    }
                });
            }
            table.extend_from_slice(outputs);
            let mut start = range.start;
            while start < range.end {
                let n = tile.min(range.end - start).min(rows.map_or(usize::MAX, |len| len - start % len));
                for (k, layout) in layouts.iter().enumerate() {
                    let Layout::Strided(nest) = layout else { continue };
                    let size = self.inputs[k].0;
                    if packed(k) {
                        // SAFETY: the caller's promise; n elements fit a tile.
                        unsafe { nest.pack(size, table[k], inputs[k].data, start, n) };
                    } else {
                        let at = nest.offset(start) * size as isize;
                        table[k] = inputs[k].data.cast_mut().wrapping_offset(at);
                    }
                }
                let mut now = table.clone();
                let mut done = 0;
                loop {
                    // SAFETY: n - done elements are left of each.
                    let made = unsafe { code.call(&now, n - done) };
                    self.advance(&mut now, splats, made);
                    done += made;
                    let left = n - done;
                    // SAFETY: as above.
                    if left == 0 || !code.masked && left < code.lanes && unsafe { self.end(code, splats, &now, left) } {
                        break;
                    }
                    let few = left.min(FEW);
                    let from = start + done;
                    // SAFETY: the caller's promise for this part of the range.
                    unsafe { self.interpret(layouts, from..from + few, inputs, &now[inputs.len()..]) };
                    self.advance(&mut now, splats, few);
                    done += few;
                    if done == n {
                        break;
                    }
                }
                start += n;
                for (k, at) in table.iter_mut().enumerate() {
                    let size = match k.checked_sub(inputs.len()) {
                        Some(y) => self.outputs[y].0,
                        None if matches!(layouts[k], Layout::Dense) => self.inputs[k].0,
                        None => 0,
                    };
                    *at = at.wrapping_add(n * size);
                }
            }
        });
    }

    /// Moves addresses on by `n` elements.
    fn advance(&self, table: &mut [*mut u8], splats: u64, n: usize) {
        let (inputs, outputs) = table.split_at_mut(self.inputs.len());
        for (k, (at, (size, _))) in inputs.iter_mut().zip(&self.inputs).enumerate() {
            if splats >> k & 1 == 0 {
                *at = at.wrapping_add(n * size);
            }
        }
        for (at, (size, _)) in outputs.iter_mut().zip(&self.outputs) {
            *at = at.wrapping_add(n * size);
        }
    }

    /// Runs code over `n` elements that do not fill a vector, through copies; whether none was rare.
    ///
    /// # Safety
    /// That of [`Emitted::call`] for these `n`.
    #[cold]
    unsafe fn end(&self, code: &Emitted, splats: u64, table: &[*mut u8], n: usize) -> bool {
        let mut memory: SmallVec<[Line; 8]> = SmallVec::from_elem(Line([0; 64]), table.len());
        let mut copies: SmallVec<[*mut u8; 16]> = SmallVec::new();
        for (k, &at) in table.iter().enumerate() {
            let copy = memory.as_mut_ptr().wrapping_add(k).cast::<u8>();
            if let Some(&(size, _)) = self.inputs.get(k) {
                let elements = if splats >> k & 1 == 1 { 1 } else { n };
                // SAFETY: there is an element, and as many as `n`; a line has room for a vector.
                unsafe {
                    // What no element has is not rare unless the first is.
                    fill(size, copy, at, code.lanes);
                    std::ptr::copy_nonoverlapping(at, copy, elements * size);
                }
            }
            copies.push(copy);
        }
        // SAFETY: every copy is a vector.
        if unsafe { code.call(&copies, code.lanes) } != code.lanes {
            return false;
        }
        let outputs = table.iter().zip(&copies).skip(self.inputs.len());
        for ((&at, &copy), (size, _)) in outputs.zip(&self.outputs) {
            // SAFETY: `n` elements are left of the output.
            unsafe { std::ptr::copy_nonoverlapping(copy, at, n * size) };
        }
        true
    }
}
