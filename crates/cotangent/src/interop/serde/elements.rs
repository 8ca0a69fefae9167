//! The field `data` of a tensor: little-endian bytes in binary formats, numbers in others.

use super::number::{Number, NumberSeed};
use crate::npy;
use cotangent_core::dtype::Kind;
use cotangent_core::{Array, DType, Data, Wide};
use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::ser::{self, Serialize, Serializer};
use std::fmt;

/// The elements as bytes.
pub(super) struct LittleEndian<'a>(pub(super) &'a Data);

impl Serialize for LittleEndian<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n = self.0.len() * self.0.dtype().size();
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(n).is_err() {
            let message = format!("there is no memory for {n} bytes of a tensor");
            return Err(ser::Error::custom(message));
        }
        npy::write_elements(self.0, &mut bytes).map_err(ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

/// The elements as a list of [`Number`].
pub(super) struct Numbers<'a>(pub(super) &'a Array);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.wide() {
            Wide::F(v) => serializer.collect_seq(v.into_iter().map(Number::Real)),
            Wide::C(v) => serializer.collect_seq(v.into_iter().map(Number::Complex)),
            Wide::I(v) if self.0.dtype() == DType::Bool => {
                serializer.collect_seq(v.into_iter().map(|x| x != 0))
            }
            Wide::I(v) => serializer.collect_seq(v.into_iter().map(Number::Int)),
        }
    }
}

/// The elements of this type that `next` lists, until it returns `Ok(None)`.
fn listed<E: de::Error>(
    dtype: DType,
    mut next: impl FnMut() -> Result<Option<Number>, E>,
) -> Result<Data, E> {
    let mut wide = match dtype.kind() {
        Kind::Float => Wide::F(Vec::new()),
        Kind::Complex => Wide::C(Vec::new()),
        Kind::Int | Kind::Bool | Kind::Opaque => Wide::I(Vec::new()),
    };
    let mut n = 0usize;
    while let Some(number) = next()? {
        let pushed = match &mut wide {
            Wide::F(v) => number.real(dtype).map(|x| v.push(x)),
            Wide::C(v) => number.complex(dtype).map(|x| v.push(x)),
            Wide::I(v) => number.int(dtype).map(|x| v.push(x)),
        };
        if pushed.is_none() {
            let message = format!("element {n} (`{number}`) is not a number of type {dtype}");
            return Err(E::custom(message));
        }
        n += 1;
    }
    let array = wide.narrow(dtype, [n]).map_err(E::custom)?;
    Ok(array.into_data())
}

/// The elements of this type that little-endian bytes hold.
fn decoded<E: de::Error>(dtype: DType, mut bytes: &[u8]) -> Result<Data, E> {
    if !bytes.len().is_multiple_of(dtype.size()) {
        let message = format!(
            "{} bytes are no whole number of elements of type {dtype}, of {} bytes each",
            bytes.len(),
            dtype.size()
        );
        return Err(E::custom(message));
    }
    if dtype == DType::Bool && bytes.iter().any(|&b| b > 1) {
        return Err(E::custom("a boolean is the byte 0 or 1"));
    }
    npy::read_elements(dtype, bytes.len() / dtype.size(), false, &mut bytes).map_err(E::custom)
}

/// The field `data`: converted if the element type was read before it, else as it was read.
pub(super) enum Elements {
    Data(Data),
    Numbers(Vec<Number>),
    Bytes(Vec<u8>),
}

impl Elements {
    /// The elements as data of this type.
    pub(super) fn data<E: de::Error>(self, dtype: DType) -> Result<Data, E> {
        match self {
            Elements::Data(data) => Ok(data),
            Elements::Bytes(bytes) => decoded(dtype, &bytes),
            Elements::Numbers(numbers) => {
                let mut numbers = numbers.into_iter();
                listed(dtype, || Ok(numbers.next()))
            }
        }
    }
}

/// Reader of the field `data`.
pub(super) struct ElementsSeed {
    pub(super) dtype: Option<DType>,
    pub(super) human: bool,
}

impl<'de> DeserializeSeed<'de> for ElementsSeed {
    type Value = Elements;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Elements, D::Error> {
        if self.human {
            // Adapters such as `#[serde(flatten)]` call themselves human-readable and may still
            // hold bytes.
            deserializer.deserialize_any(self)
        } else {
            deserializer.deserialize_bytes(self)
        }
    }
}

impl<'de> Visitor<'de> for ElementsSeed {
    type Value = Elements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the elements of a tensor: a list of numbers, or bytes in a binary format")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Elements, E> {
        match self.dtype {
            Some(dtype) => decoded(dtype, bytes).map(Elements::Data),
            None => Ok(Elements::Bytes(bytes.to_vec())),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Elements, A::Error> {
        if !self.human {
            let mut bytes = Vec::new();
            while let Some(byte) = seq.next_element::<u8>()? {
                bytes.push(byte);
            }
            return self.visit_bytes(&bytes);
        }
        let mut next = || seq.next_element_seed(NumberSeed { pairs: true });
        match self.dtype {
            Some(dtype) => listed(dtype, next).map(Elements::Data),
            None => {
                let mut numbers = Vec::new();
                while let Some(number) = next()? {
                    numbers.push(number);
                }
                Ok(Elements::Numbers(numbers))
            }
        }
    }
}
