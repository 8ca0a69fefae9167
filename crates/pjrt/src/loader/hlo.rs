//! The operations and divisions of a compiled program, read from the protocol buffers of XLA.

use std::collections::BTreeMap;

/// The value of a field: an integer, or bytes with a length.
#[derive(Clone, Copy)]
enum ProtoValue<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
    Other,
}

/// A field of a message: its number and its value.
type ProtoField<'a> = (u64, ProtoValue<'a>);

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
        let value = match key & 7 {
            VARINT => ProtoValue::Integer(self.varint()?),
            FIXED_64 => self.skip(8).map(|_| ProtoValue::Other)?,
            FIXED_32 => self.skip(4).map(|_| ProtoValue::Other)?,
            LENGTH_DELIMITED => {
                let len = usize::try_from(self.varint()?).ok()?;
                ProtoValue::Bytes(self.skip(len)?)
            }
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

/// The messages and texts of a field.
fn of(message: &[u8], field: u64) -> impl Iterator<Item = &[u8]> {
    Fields(message).filter_map(move |(number, value)| match value {
        ProtoValue::Bytes(bytes) if number == field => Some(bytes),
        _ => None,
    })
}

/// The integers of a field, one by one or packed.
fn integers(message: &[u8], field: u64) -> Vec<usize> {
    let mut all = Vec::new();
    for (_, value) in Fields(message).filter(|f| f.0 == field) {
        match value {
            ProtoValue::Integer(n) => all.push(n as usize),
            ProtoValue::Bytes(bytes) => {
                let mut packed = Fields(bytes);
                all.extend(std::iter::from_fn(|| packed.varint()).map(|n| n as usize));
            }
            ProtoValue::Other => {}
        }
    }
    all
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

/// How a tensor is divided among the devices of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Number of parts along each dimension. Empty for a copy on each device.
    pub parts: Vec<usize>,
    /// For each device the index of its part along each dimension.
    pub places: Vec<Vec<usize>>,
}

/// How the arguments and results of a compiled program are divided. `None` for one that is divided
/// otherwise than in equal parts, and for all if the program does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divisions {
    /// Divisions of the arguments.
    pub arguments: Vec<Option<Division>>,
    /// Divisions of the results.
    pub results: Vec<Option<Division>>,
}

/// The divisions of an `HloModuleProtoWithConfig`.
pub(super) fn divisions(module: &[u8]) -> Divisions {
    const MODULE: u64 = 1;
    const RESULT_SHARDING: u64 = 12;
    const PARAMETER_SHARDINGS: u64 = 14;
    const TUPLE_SHARDINGS: u64 = 5;
    let Some(module) = of(module, MODULE).next() else {
        return Divisions::default();
    };
    let mut results = Vec::new();
    for sharding in of(module, RESULT_SHARDING) {
        let mut tuple = of(sharding, TUPLE_SHARDINGS).map(division).peekable();
        match tuple.peek() {
            Some(_) => results.extend(tuple),
            None => results.push(division(sharding)),
        }
    }
    Divisions {
        arguments: of(module, PARAMETER_SHARDINGS).map(division).collect(),
        results,
    }
}

/// The division of an `OpSharding`.
fn division(sharding: &[u8]) -> Option<Division> {
    /// Fields.
    const KIND: u64 = 1;
    const TILES: u64 = 3;
    const DEVICES: u64 = 4;
    const COPIES_ALONG_LAST: u64 = 6;
    const LAST_KINDS: u64 = 8;
    const IOTA_EXTENTS: u64 = 9;
    const IOTA_ORDER: u64 = 10;
    /// Values of `KIND`.
    const REPLICATED: usize = 0;
    const OTHER: usize = 3;
    let flag = |field| integers(sharding, field).last().copied().unwrap_or(0);
    match flag(KIND) {
        REPLICATED => {
            return Some(Division {
                parts: Vec::new(),
                places: Vec::new(),
            });
        }
        OTHER => {}
        _ => return None,
    }
    // The last axes of the grid of devices are those of copies.
    let grid = integers(sharding, TILES);
    let last = integers(sharding, LAST_KINDS);
    if last.iter().any(|&kind| kind != REPLICATED) {
        return None;
    }
    let copies = last.len().max(usize::from(flag(COPIES_ALONG_LAST) != 0));
    let parts = grid[..grid.len().checked_sub(copies)?].to_vec();
    let mut devices = integers(sharding, DEVICES);
    if devices.is_empty() {
        devices = iota(
            &integers(sharding, IOTA_EXTENTS),
            &integers(sharding, IOTA_ORDER),
        )?;
    }
    let count: usize = grid.iter().product();
    if devices.len() != count {
        return None;
    }
    let mut places = vec![Vec::new(); count];
    for (cell, &device) in devices.iter().enumerate() {
        let mut rest = cell;
        let mut at: Vec<usize> = Vec::new();
        for &extent in grid.iter().rev() {
            at.push(rest % extent);
            rest /= extent;
        }
        at.reverse();
        at.truncate(parts.len());
        *places.get_mut(device)? = at;
    }
    Some(Division { parts, places })
}

/// The numbers from 0 on in row-major order of these extents, with their axes in another order.
fn iota(extents: &[usize], order: &[usize]) -> Option<Vec<usize>> {
    const MAX_DEVICES: usize = 1 << 20;
    let count = extents.iter().try_fold(1usize, |n, &e| n.checked_mul(e))?;
    let order = match order.is_empty() {
        true => (0..extents.len()).collect(),
        false => order.to_vec(),
    };
    let fits = order.len() == extents.len() && order.iter().all(|&axis| axis < extents.len());
    if !fits || count > MAX_DEVICES {
        return None;
    }
    let stride = |axis: usize| extents[axis + 1..].iter().product::<usize>();
    let number = |cell: usize| {
        let mut rest = cell;
        let mut number = 0;
        for &axis in order.iter().rev() {
            number += rest % extents[axis] * stride(axis);
            rest /= extents[axis];
        }
        number
    };
    Some((0..count).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_are_those_of_lists_and_of_transposed_iotas() {
        let packed = |field: u8, all: &[u8]| [&[field << 3 | 2, all.len() as u8], all].concat();
        let kind = |n: u8| vec![1 << 3, n];
        // Two parts, each on two devices: [[0, 2], [1, 3]].
        let places = vec![vec![0], vec![1], vec![0], vec![1]];
        let expected = Some(Division {
            parts: vec![2],
            places,
        });
        let list = [
            kind(3),
            packed(3, &[2, 2]),
            packed(4, &[0, 2, 1, 3]),
            vec![6 << 3, 1],
        ];
        assert_eq!(division(&list.concat()), expected);
        let transposed = [
            kind(3),
            packed(3, &[2, 2]),
            packed(9, &[2, 2]),
            packed(10, &[1, 0]),
            packed(8, &[0]),
        ];
        assert_eq!(division(&transposed.concat()), expected);
        let copies = division(&kind(0)).unwrap();
        assert!(copies.parts.is_empty());
        // A program of one argument and of two results.
        let results = [packed(5, &kind(0)), packed(5, &list.concat())].concat();
        let module = [packed(14, &transposed.concat()), packed(12, &results)].concat();
        let all = divisions(&packed(1, &module));
        assert_eq!(all.arguments, std::slice::from_ref(&expected));
        assert_eq!(all.results, [Some(copies), expected]);
        for wrong in [
            vec![kind(1)],
            vec![kind(3), packed(3, &[2, 2]), packed(4, &[0, 1])],
            vec![kind(3), packed(3, &[2]), packed(9, &[2]), packed(10, &[7])],
        ] {
            assert_eq!(division(&wrong.concat()), None);
        }
        for end in 0..module.len() {
            divisions(&packed(1, &module[..end]));
        }
    }

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
