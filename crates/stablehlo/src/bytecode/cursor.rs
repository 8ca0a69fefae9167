//! Primitives of MLIR bytecode, read from a range of a file. Every count is compared with the bytes
//! that are left before memory is allocated for it.

use cotangent_core::{Code, Error, Loc, Result};

/// A range of a module's bytes, and the position of the next byte to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    module: &'a [u8],
    at: usize,
    end: usize,
    /// Offset of the module in its file.
    base: usize,
}

impl<'a> Cursor<'a> {
    /// All bytes of a module that starts at the offset `base` of its file.
    pub(super) fn new(module: &'a [u8], base: usize) -> Cursor<'a> {
        Cursor {
            module,
            at: 0,
            end: module.len(),
            base,
        }
    }

    /// The position of the next byte, as an offset in the file.
    pub(super) fn loc(&self) -> Loc {
        Loc::Byte(self.base + self.at)
    }

    /// Number of unread bytes.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// A syntax error at the next byte.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::new(Code::Syntax, message).at(self.loc())
    }

    /// This range from an offset in the file, if it contains that offset.
    pub(super) fn starting_at(mut self, offset: usize) -> Option<Cursor<'a>> {
        let at = offset.checked_sub(self.base)?;
        let inside = (self.at..self.end).contains(&at);
        self.at = at;
        inside.then_some(self)
    }

    /// Reads one byte.
    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// Reads `n` bytes.
    pub(super) fn bytes(&mut self, n: u64) -> Result<&'a [u8]> {
        let part = self.part(n)?;
        Ok(&self.module[part.at..part.end])
    }

    /// Skips `n` bytes and returns their range.
    pub(super) fn part(&mut self, n: u64) -> Result<Cursor<'a>> {
        let n = match usize::try_from(n) {
            Ok(n) if n <= self.left() => n,
            _ => return Err(self.error(format!("expected {n} bytes, found {}", self.left()))),
        };
        let (at, end) = (self.at, self.at + n);
        self.at = end;
        Ok(Cursor { at, end, ..*self })
    }

    /// Reads an unsigned number of up to 64 bits. The trailing zeros of its first byte are the
    /// number of further bytes.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let start = *self;
        let further = self.byte()?.trailing_zeros();
        if further == 8 {
            let all = self.bytes(8)?;
            return Ok(u64::from_le_bytes(all.try_into().expect("eight bytes")));
        }
        *self = start;
        let mut word = [0; 8];
        let bytes = self.bytes(u64::from(further) + 1)?;
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(word) >> (further + 1))
    }

    /// Reads a signed number. The lowest bit is its sign.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let v = self.varint()?;
        Ok((v >> 1) as i64 ^ -((v & 1) as i64))
    }

    /// Reads a number and a flag in its lowest bit.
    pub(super) fn flagged(&mut self) -> Result<(u64, bool)> {
        let v = self.varint()?;
        Ok((v >> 1, v & 1 != 0))
    }

    /// The number `v` as an index below `len`.
    pub(super) fn below(&self, v: u64, what: &str, len: usize) -> Result<usize> {
        match usize::try_from(v) {
            Ok(i) if i < len => Ok(i),
            _ => Err(self.error(format!("there is no {what} {v}: the file has {len}"))),
        }
    }

    /// Reads an index below `len`.
    pub(super) fn index(&mut self, what: &str, len: usize) -> Result<usize> {
        let v = self.varint()?;
        self.below(v, what, len)
    }

    /// The number `v` as a count of items that are still to be read. Each has at least one byte.
    pub(super) fn counted(&self, v: u64) -> Result<usize> {
        match usize::try_from(v) {
            Ok(n) if n <= self.left() => Ok(n),
            _ => Err(self.error(format!("{v} items cannot be in {} bytes", self.left()))),
        }
    }

    /// Reads a count of items that follow.
    pub(super) fn count(&mut self) -> Result<usize> {
        let v = self.varint()?;
        self.counted(v)
    }

    /// Reads a list: a count, then its items.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let n = self.count()?;
        (0..n).map(|_| item(self)).collect()
    }

    /// Reads the bits of a number of this width, the highest ones zero.
    pub(super) fn bits(&mut self, width: u32) -> Result<u128> {
        match width {
            0..=8 => Ok(self.byte()?.into()),
            9..=64 => Ok(u128::from(
                self.signed()? as u64 & (u64::MAX >> (64 - width)),
            )),
            65..=128 => {
                let words = self.list(Cursor::signed)?;
                let word = |k: usize| words.get(k).map_or(0, |&w| u128::from(w as u64));
                Ok((word(0) | word(1) << 64) & (u128::MAX >> (128 - width)))
            }
            _ => Err(self.error(format!("numbers of {width} bits are not supported"))),
        }
    }

    /// Reads a size, then that number of bytes.
    pub(super) fn blob(&mut self) -> Result<&'a [u8]> {
        let n = self.varint()?;
        self.bytes(n)
    }

    /// Reads the bytes before a zero, and the zero.
    pub(super) fn terminated(&mut self) -> Result<&'a [u8]> {
        let n = self.module[self.at..self.end].iter().position(|&b| b == 0);
        let Some(n) = n else {
            return Err(self.error("this string has no end"));
        };
        let text = self.bytes(n as u64)?;
        self.byte()?;
        Ok(text)
    }

    /// Skips bytes `CB` up to a multiple of the alignment in the module.
    pub(super) fn align(&mut self, alignment: u64) -> Result<()> {
        while !(self.at as u64).is_multiple_of(alignment.max(1)) {
            if self.byte()? != 0xCB {
                return Err(self.error("expected padding, bytes CB"));
            }
        }
        Ok(())
    }

    /// An error if bytes are left.
    pub(super) fn finish(&self, what: &str) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            n => Err(self.error(format!("{n} bytes are left after {what}"))),
        }
    }
}
