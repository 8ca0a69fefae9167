//! [`CompileOptions`]: the options of a compilation, encoded as the protocol buffers that plugins
//! read.

use crate::{NamedValue, Pointer, named_value};

/// The value of an option of a client, a topology or a compiler.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A boolean.
    Bool(bool),
    /// A float.
    Float(f32),
}

/// Options as the interface passes them. They borrow names and values.
pub(crate) fn named_values(options: &[(&str, OptionValue)]) -> Vec<NamedValue> {
    let of = |(name, value): &(&str, OptionValue)| {
        let (kind, value, value_size) = match value {
            OptionValue::Text(t) => (named_value::STRING, t.as_ptr() as u64, t.len()),
            OptionValue::Int(n) => (named_value::INT64, *n as u64, 1),
            OptionValue::Ints(n) => (named_value::INT64_LIST, n.as_ptr() as u64, n.len()),
            OptionValue::Bool(b) => (named_value::BOOL, u64::from(*b), 1),
            OptionValue::Float(x) => (named_value::FLOAT, u64::from(x.to_bits()), 1),
        };
        NamedValue {
            struct_size: size_of::<NamedValue>(),
            extensions: Pointer::default(),
            name: name.as_ptr().into(),
            name_size: name.len(),
            kind,
            value,
            value_size,
        }
    };
    options.iter().map(of).collect()
}

/// Options of a compilation.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// Number of devices among which Shardy divides the program.
    pub partitions: usize,
    /// Numbers of the devices on which the program runs, `partitions` of them; empty: the first
    /// ones.
    pub devices: Vec<i32>,
    /// Options of the compiler by name, which override those of this library.
    pub named: Vec<(String, OptionValue)>,
}

impl Default for CompileOptions {
    /// One device, no named options.
    fn default() -> CompileOptions {
        CompileOptions {
            partitions: 1,
            devices: Vec::new(),
            named: Vec::new(),
        }
    }
}

/// Options of XLA under which values are those of IEEE 754.
const XLA_OPTIONS: [(&str, bool); 3] = [
    ("xla_cpu_enable_fast_min_max", false),
    ("xla_cpu_enable_fast_math", false),
    ("xla_allow_excess_precision", false),
];

/// Fields of `CompileOptionsProto`.
mod compile_field {
    pub(super) const BUILD: u64 = 3;
    pub(super) const NAMED: u64 = 7;
}

/// Fields of `ExecutableBuildOptionsProto`.
mod build_field {
    pub(super) const ORDINAL: u64 = 1;
    pub(super) const REPLICAS: u64 = 4;
    pub(super) const PARTITIONS: u64 = 5;
    pub(super) const SPMD: u64 = 6;
    pub(super) const ASSIGNMENT: u64 = 9;
    pub(super) const SHARDY: u64 = 19;
}

impl CompileOptions {
    /// The options as bytes, for a platform.
    pub(crate) fn encode(&self, platform: &str) -> Vec<u8> {
        let mut build = Vec::new();
        integer(&mut build, build_field::ORDINAL, -1i64 as u64);
        integer(&mut build, build_field::REPLICAS, 1);
        integer(&mut build, build_field::PARTITIONS, self.partitions as u64);
        if self.partitions > 1 {
            integer(&mut build, build_field::SPMD, 1);
            integer(&mut build, build_field::SHARDY, 1);
        }
        if !self.devices.is_empty() {
            bytes(&mut build, build_field::ASSIGNMENT, &self.assignment());
        }
        let mut out = Vec::new();
        bytes(&mut out, compile_field::BUILD, &build);
        let ours = XLA_OPTIONS.iter().filter(|_| platform != "cotangent");
        let ours = ours.map(|&(name, on)| (name, OptionValue::Bool(on)));
        let given = self.named.iter().map(|(n, v)| (n.as_str(), v.clone()));
        let ours = ours.filter(|(name, _)| self.named.iter().all(|(n, _)| n != name));
        for (name, value) in ours.chain(given) {
            let mut entry = Vec::new();
            bytes(&mut entry, 1, name.as_bytes());
            bytes(&mut entry, 2, &overridden(&value));
            bytes(&mut out, compile_field::NAMED, &entry);
        }
        out
    }

    /// The devices as `DeviceAssignmentProto`: one replica, a computation for each device.
    fn assignment(&self) -> Vec<u8> {
        let mut out = Vec::new();
        integer(&mut out, 1, 1);
        integer(&mut out, 2, self.devices.len() as u64);
        for &id in &self.devices {
            let mut one = Vec::new();
            integer(&mut one, 1, id as u64);
            bytes(&mut out, 3, &one);
        }
        out
    }
}

/// A value as `OptionOverrideProto`.
fn overridden(value: &OptionValue) -> Vec<u8> {
    let mut out = Vec::new();
    match value {
        OptionValue::Text(t) => bytes(&mut out, 1, t.as_bytes()),
        OptionValue::Bool(b) => integer(&mut out, 2, u64::from(*b)),
        OptionValue::Int(n) => integer(&mut out, 3, *n as u64),
        OptionValue::Ints(n) => {
            let text: Vec<String> = n.iter().map(i64::to_string).collect();
            bytes(&mut out, 1, text.join(",").as_bytes());
        }
        OptionValue::Float(x) => double(&mut out, 4, f64::from(*x)),
    }
    out
}

fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Appends a field of type integer or boolean.
fn integer(out: &mut Vec<u8>, field: u64, n: u64) {
    const VARINT: u64 = 0;
    varint(out, field << 3 | VARINT);
    varint(out, n);
}

/// Appends a field of type double.
fn double(out: &mut Vec<u8>, field: u64, x: f64) {
    const FIXED_64: u64 = 1;
    varint(out, field << 3 | FIXED_64);
    out.extend_from_slice(&x.to_le_bytes());
}

/// Appends a field of type text, bytes or message.
fn bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    const LENGTH_DELIMITED: u64 = 2;
    varint(out, field << 3 | LENGTH_DELIMITED);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_encoded_as_protocol_buffers() {
        let options = CompileOptions {
            partitions: 2,
            devices: vec![1, 300],
            named: vec![("xla_allow_excess_precision".into(), OptionValue::Bool(true))],
        };
        let encoded = options.encode("cotangent");
        let ordinal = [0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        let counts = [0x20, 1, 0x28, 2, 0x30, 1, 0x98, 1, 1];
        let devices = [0x08, 1, 0x10, 2, 0x1a, 2, 0x08, 1, 0x1a, 3, 0x08, 0xac, 2];
        let mut build = [&ordinal[..], &counts].concat();
        build.extend([0x4a, devices.len() as u8]);
        build.extend(devices);
        let mut expected = vec![0x1a, build.len() as u8];
        expected.extend(build);
        expected.extend([0x3a, 32, 0x0a, 26]);
        expected.extend(b"xla_allow_excess_precision");
        expected.extend([0x12, 2, 0x10, 1]);
        assert_eq!(encoded, expected);
    }

    #[test]
    fn a_given_option_takes_the_place_of_one_of_ours() {
        let name = |e: &[u8], name: &str| {
            e.windows(name.len())
                .filter(|w| *w == name.as_bytes())
                .count()
        };
        let mut options = CompileOptions::default();
        let plain = options.encode("cpu");
        for (option, _) in XLA_OPTIONS {
            assert_eq!(name(&plain, option), 1, "{option}");
        }
        options
            .named
            .push((XLA_OPTIONS[0].0.into(), OptionValue::Bool(true)));
        let given = options.encode("cpu");
        assert_eq!(
            (given.len(), name(&given, XLA_OPTIONS[0].0)),
            (plain.len(), 1)
        );
        assert_ne!(given, plain);
    }
}
