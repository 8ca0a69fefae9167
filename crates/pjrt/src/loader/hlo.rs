//! The operations of a compiled program, read from the protocol buffers of XLA.

use std::collections::BTreeMap;

/// A field of a message: its number, and its bytes if it has a length.
type ProtoField<'a> = (u64, Option<&'a [u8]>);

/// The fields of a message, until its end or until bytes that are none.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(n);
            }
        }
        None
    }

    fn skip(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(field)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = ProtoField<'a>;

    fn next(&mut self) -> Option<ProtoField<'a>> {
        const VARINT: u64 = 0;
        const FIXED_64: u64 = 1;
        const LENGTH_DELIMITED: u64 = 2;
        const FIXED_32: u64 = 5;
        let key = self.varint()?;
        let bytes = match key & 7 {
            VARINT => self.varint().map(|_| None)?,
            FIXED_64 => self.skip(8).map(|_| None)?,
            FIXED_32 => self.skip(4).map(|_| None)?,
            LENGTH_DELIMITED => {
                let len = usize::try_from(self.varint()?).ok()?;
                Some(self.skip(len)?)
            }
            _ => return None,
        };
        Some((key >> 3, bytes))
    }
}

/// The messages and texts of a field.
fn of(message: &[u8], field: u64) -> impl Iterator<Item = &[u8]> {
    Fields(message)
        .filter(move |f| f.0 == field)
        .filter_map(|f| f.1)
}

/// Number of instructions of each opcode, in all computations of an `HloModuleProtoWithConfig`.
pub(super) fn opcodes(module: &[u8]) -> BTreeMap<String, usize> {
    const MODULE: u64 = 1;
    const COMPUTATIONS: u64 = 3;
    const INSTRUCTIONS: u64 = 2;
    const OPCODE: u64 = 2;
    let mut count = BTreeMap::new();
    let computations = of(module, MODULE).flat_map(|m| of(m, COMPUTATIONS));
    for opcode in computations
        .flat_map(|c| of(c, INSTRUCTIONS))
        .flat_map(|i| of(i, OPCODE))
    {
        let name = String::from_utf8_lossy(opcode).into_owned();
        *count.entry(name).or_insert(0) += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_of_nested_messages_are_counted() {
        let message =
            |field: u8, bytes: &[u8]| [&[field << 3 | 2, bytes.len() as u8], bytes].concat();
        let instruction =
            |name: &str| message(2, &[message(1, b"x"), message(2, name.as_bytes())].concat());
        let computation = message(
            3,
            &[
                instruction("add"),
                vec![0x28, 0x96, 1],
                instruction("all-reduce"),
                instruction("add"),
            ]
            .concat(),
        );
        let module = message(1, &[message(1, b"name"), computation].concat());
        let expected = BTreeMap::from([("add".to_owned(), 2), ("all-reduce".to_owned(), 1)]);
        assert_eq!(opcodes(&module), expected);
        for end in 0..module.len() {
            opcodes(&module[..end]);
        }
    }
}
