//! Options of a compilation: the fields of `CompileOptionsProto` that decide something here.

use crate::failure::{Answer, Failure};

/// A field of a message of protocol buffers.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, in order.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self, len: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => Field::Bytes(self.bytes(8)?),
            2 => {
                let len = self.varint()?;
                Field::Bytes(self.bytes(len)?)
            }
            5 => Field::Bytes(self.bytes(4)?),
            _ => return None,
        };
        Some((key >> 3, field))
    }
}

/// Calls `f` with every field of a message.
fn each<'a>(
    bytes: &'a [u8],
    mut f: impl FnMut(u64, Field<'a>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut fields = Fields(bytes);
    while !fields.0.is_empty() {
        let Some((number, field)) = fields.field() else {
            return Err(Failure::argument(
                "the options of the compilation are malformed",
            ));
        };
        f(number, field)?;
    }
    Ok(())
}

/// Options of a compilation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Number of the device.
    pub(crate) device: i64,
    replicas: u64,
    partitions: u64,
}

/// Numbers of a list, packed or one by one.
fn push(list: &mut Vec<i64>, field: Field<'_>) {
    match field {
        Field::Number(n) => list.push(n as i64),
        Field::Bytes(bytes) => {
            let mut packed = Fields(bytes);
            list.extend(std::iter::from_fn(|| packed.varint()).map(|n| n as i64));
        }
    }
}

impl Options {
    /// Reads a `CompileOptionsProto`.
    ///
    /// # Errors
    /// The message is malformed; there are several devices; an option is unknown.
    pub(crate) fn read(bytes: &[u8]) -> Result<Options, Failure> {
        let mut options = Options {
            device: 0,
            replicas: 1,
            partitions: 1,
        };
        each(bytes, |number, field| match (number, field) {
            (3, Field::Bytes(build)) => options.build(build),
            (7, Field::Bytes(entry)) => check_override(entry),
            _ => Ok(()),
        })?;
        let count = options.replicas.saturating_mul(options.partitions);
        if count > 1 {
            let (r, p) = (options.replicas, options.partitions);
            return Err(Failure::unimplemented(format!(
                "a program for {count} devices ({r} replicas of {p} partitions) is not supported: a program runs on \
                 one device"
            )));
        }
        Ok(options)
    }

    /// Reads `ExecutableBuildOptionsProto`.
    fn build(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut assigned = None;
        each(bytes, |number, field| {
            match (number, field) {
                (1, Field::Number(ordinal)) if (ordinal as i64) >= 0 => {
                    self.device = ordinal as i64;
                }
                (4, Field::Number(n)) => self.replicas = n.max(1),
                (5, Field::Number(n)) => self.partitions = n.max(1),
                (9, Field::Bytes(assignment)) => assigned = Some(assignment),
                _ => {}
            }
            Ok(())
        })?;
        // The assignment has a list of devices for each partition.
        let mut devices = Vec::new();
        each(assigned.unwrap_or_default(), |number, field| {
            match (number, field) {
                (3, Field::Bytes(computation)) => each(computation, |number, field| {
                    if number == 1 {
                        push(&mut devices, field);
                    }
                    Ok(())
                }),
                _ => Ok(()),
            }
        })?;
        if let Some(&device) = devices.first() {
            self.device = device;
        }
        Ok(())
    }
}

/// Refuses an option that is not one of XLA. Options of XLA choose its passes and outputs, which do
/// not exist here, so they are ignored.
fn check_override(entry: &[u8]) -> Answer {
    let mut name = "";
    each(entry, |number, field| {
        if let (1, Field::Bytes(bytes)) = (number, field) {
            name = std::str::from_utf8(bytes).unwrap_or("?");
        }
        Ok(())
    })?;
    match name.starts_with("xla_") {
        true => Ok(()),
        // The wording of XLA, which programs look for.
        false => Err(Failure::argument(format!(
            "No such compile option: '{name}'"
        ))),
    }
}

/// A `DeviceAssignmentProto` of one device.
pub(crate) fn assignment(device: i32) -> Vec<u8> {
    let mut ids = vec![1 << 3];
    let mut id = device as u64;
    while id >= 128 {
        ids.push(id as u8 | 128);
        id >>= 7;
    }
    ids.push(id as u8);
    let head = [1 << 3, 1, 2 << 3, 1, 3 << 3 | 2, ids.len() as u8];
    [&head, &ids[..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_of_an_assignment_takes_precedence() {
        let device = assignment(3);
        let mut build = vec![
            1 << 3,
            0,
            4 << 3,
            1,
            5 << 3,
            1,
            9 << 3 | 2,
            device.len() as u8,
        ];
        build.extend(&device);
        let mut all = vec![3 << 3 | 2, build.len() as u8];
        all.extend(&build);
        assert_eq!(Options::read(&all).unwrap().device, 3);
        assert_eq!(Options::read(&[]).unwrap().device, 0);
        assert!(Options::read(&all[..all.len() - 1]).is_err());
    }

    #[test]
    fn several_devices_and_unknown_options_are_refused() {
        let two = [3 << 3 | 2, 2, 4 << 3, 2];
        let e = Options::read(&two).unwrap_err();
        assert_eq!(e.code, pjrt::code::UNIMPLEMENTED);
        let named = [&[7 << 3 | 2, 5, 1 << 3 | 2, 3][..], b"abc"].concat();
        let e = Options::read(&named).unwrap_err();
        assert_eq!(e.message, "No such compile option: 'abc'");
        let known = [&[7 << 3 | 2, 7, 1 << 3 | 2, 5][..], b"xla_a"].concat();
        assert!(Options::read(&known).is_ok());
    }
}
