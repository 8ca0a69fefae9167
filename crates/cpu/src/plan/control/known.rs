//! Reads and writes of a step of code: elements that are known become values, and others are in
//! memory.

use super::elements::{EntryMemory, RecordedElement, element};
use super::frame::FrameAddress;
use super::in_place::InPlace;
use super::steps::StepRecorder;
use cotangent_kernels::tile::{ElementAddress, StepValue};
use std::ops::Range;

impl StepRecorder<'_> {
    /// Makes an entry another address.
    pub(super) fn alias(&mut self, entry: u32, to: FrameAddress) {
        let to = self.resolved(to);
        self.alias.insert(entry, to);
    }

    pub(super) fn change_in_place(&mut self, entry: u32) {
        self.entries[entry as usize].memory = EntryMemory::Changed;
    }

    pub(super) fn store_at_once(&mut self, entry: u32) {
        let e = &mut self.entries[entry as usize];
        (e.memory, e.has_memory) = (EntryMemory::Stored, true);
    }

    /// Describes an entry as memory of an inner loop, which iterations load and change.
    pub(super) fn load_in_loop(&mut self, entry: u32) {
        let e = &mut self.entries[entry as usize];
        (e.memory, e.has_memory) = (EntryMemory::Inner, true);
        e.known.clear();
    }

    /// Whether a run sets the address of an entry.
    pub(super) fn has_memory(&self, entry: u32) -> bool {
        self.entries[entry as usize].has_memory
    }

    /// Whether an entry is a value of the step, and no other address.
    pub(super) fn is_value(&self, entry: u32) -> bool {
        let own = self.entries[entry as usize].memory == EntryMemory::Written;
        own && !self.alias.contains_key(&entry)
    }

    /// Whether no step writes an entry.
    pub(super) fn is_fixed(&self, entry: u32) -> bool {
        self.entries[entry as usize].memory == EntryMemory::Fixed
    }

    /// Forgets the elements at these offsets of an entry, all of which are in memory.
    pub(super) fn reload(&mut self, entry: u32, bytes: Range<i32>) {
        let e = &mut self.entries[entry as usize];
        e.known.retain(|offset, _| !bytes.contains(offset));
        e.complete = true;
    }

    /// Forgets elements that were read after the first `n` values.
    pub(super) fn forget_after(&mut self, n: usize) {
        for e in &mut self.entries {
            let b = &self.b;
            e.known.retain(|_, k| b.is_among(k.value, n) || !k.stored);
        }
    }

    /// The place of an operand in memory, at a distance that was computed if there is one. Its
    /// elements of `size` bytes are stored there.
    pub(super) fn in_memory(
        &mut self,
        at: FrameAddress,
        size: usize,
        bytes: usize,
    ) -> Option<(ElementAddress, Option<StepValue>)> {
        let at = self.resolved(at);
        if let Some(&moved) = self.moved.get(&at.base) {
            let base = FrameAddress {
                base: moved.at.base,
                offset: moved.at.offset + at.offset,
            };
            let to = element(base)?;
            self.flush(to.entry)?;
            return Some((to, Some(moved.offset)));
        }
        let to = element(at)?;
        if self.is_fixed(to.entry) {
            return Some((to, None));
        }
        self.entries[to.entry as usize].has_memory.then_some(())?;
        for offset in (0..bytes as i32).step_by(size) {
            let to = ElementAddress {
                offset: to.offset + offset,
                ..to
            };
            let known = self.entries[to.entry as usize].known.get_mut(&to.offset);
            if let Some(known) = known.filter(|k| k.size == size && !k.stored) {
                known.stored = true;
                self.b.store(to, None, size, known.value);
            }
        }
        Some((to, None))
    }

    pub(super) fn resolved(&self, mut at: FrameAddress) -> FrameAddress {
        while let Some(to) = self.alias.get(&at.base) {
            at = FrameAddress {
                base: to.base,
                offset: to.offset + at.offset,
            };
        }
        at
    }

    /// Whether iterations of a loop may change the elements of an entry where they are.
    pub(super) fn is_changed_in_place(&self, entry: u32) -> bool {
        let memory = self.entries[entry as usize].memory;
        matches!(memory, EntryMemory::Changed | EntryMemory::Inner)
    }

    /// The value of an element, if it is known.
    pub(super) fn known(&self, at: ElementAddress, size: usize) -> Option<StepValue> {
        let known = self.entries[at.entry as usize].known.get(&at.offset)?;
        (known.size == size).then_some(known.value)
    }

    pub(super) fn remember(
        &mut self,
        at: ElementAddress,
        size: usize,
        value: StepValue,
        stored: bool,
    ) {
        let known = RecordedElement {
            size,
            value,
            stored,
        };
        self.entries[at.entry as usize]
            .known
            .insert(at.offset, known);
    }

    /// The value of an element.
    pub(super) fn read(&mut self, at: FrameAddress, size: usize) -> Option<StepValue> {
        let at = self.resolved(at);
        if let Some(&moved) = self.moved.get(&at.base) {
            let base = FrameAddress {
                base: moved.at.base,
                offset: moved.at.offset + at.offset,
            };
            return self.read_moved(base, moved.offset, size);
        }
        let at = element(at)?;
        if let Some(value) = self.known(at, size) {
            return Some(value);
        }
        if let Some(bytes) = self
            .images
            .get(&at.entry)
            .and_then(|f| f.constant(at.offset, size))
        {
            return Some(self.b.constant(bytes));
        }
        let e = &self.entries[at.entry as usize];
        let value = match e.memory {
            EntryMemory::Fixed => self.b.fixed(at, size),
            EntryMemory::Changed | EntryMemory::Inner => self.b.load(at, None, size),
            EntryMemory::Written | EntryMemory::Stored if e.complete => self.b.load(at, None, size),
            EntryMemory::Written | EntryMemory::Stored => return None,
        };
        self.remember(at, size, value, true);
        Some(value)
    }

    pub(super) fn write(&mut self, at: FrameAddress, size: usize, value: StepValue) -> Option<()> {
        let at = element(self.resolved(at))?;
        let stored = match self.entries[at.entry as usize].memory {
            EntryMemory::Fixed => return None,
            EntryMemory::Written => false,
            EntryMemory::Changed | EntryMemory::Stored | EntryMemory::Inner => {
                self.b.store(at, None, size, value);
                true
            }
        };
        self.remember(at, size, value, stored);
        Some(())
    }

    /// The value of an element at a distance that the step computes.
    pub(super) fn read_moved(
        &mut self,
        at: FrameAddress,
        offset: StepValue,
        size: usize,
    ) -> Option<StepValue> {
        let at = self.resolved(at);
        if let Some(&moved) = self.moved.get(&at.base) {
            let base = FrameAddress {
                base: moved.at.base,
                offset: moved.at.offset + at.offset,
            };
            let offset = self.b.plus(moved.offset, offset);
            return self.read_moved(base, offset, size);
        }
        let from = element(at)?;
        if self.entries[from.entry as usize].memory != EntryMemory::Fixed {
            self.flush(from.entry)?;
        }
        Some(self.b.load(from, Some(offset), size))
    }

    /// Stores the elements of an entry that memory does not have.
    pub(super) fn flush(&mut self, entry: u32) -> Option<()> {
        let e = &mut self.entries[entry as usize];
        e.has_memory.then_some(())?;
        let mut left: Vec<(i32, RecordedElement)> = Vec::new();
        for (&offset, known) in e.known.iter_mut().filter(|(_, k)| !k.stored) {
            known.stored = true;
            left.push((offset, *known));
        }
        left.sort_by_key(|x| x.0);
        for (offset, k) in left {
            self.b
                .store(ElementAddress { entry, offset }, None, k.size, k.value);
        }
        Some(())
    }
}

impl InPlace {
    /// The bytes of an element of a constant in the frame.
    fn constant(&self, offset: i32, size: usize) -> Option<&[u8]> {
        let at = usize::try_from(offset).ok()?;
        let before = self.image.partition_point(|(first, _)| *first <= at);
        let (first, bytes) = self.image.get(before.checked_sub(1)?)?;
        bytes.get(at - first..at - first + size)
    }
}
