//! The fields of a tensor, read in any order.

use super::elements::{Elements, ElementsSeed};
use crate::Tensor;
use cotangent_core::{Array, DType};
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The fields of a tensor, in the order in which they are written.
pub(super) const FIELDS: &[&str] = &["dtype", "shape", "data"];

/// An element type, read from its name.
struct TypeName(DType);

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TypeName, D::Error> {
        let name = String::deserialize(deserializer)?;
        match DType::parse(&name) {
            Some(dtype) => Ok(TypeName(dtype)),
            None => {
                let names = DType::ALL.map(DType::name).join(", ");
                let message = format!("there is no element type `{name}`; there are {names}");
                Err(de::Error::custom(message))
            }
        }
    }
}

/// A field of a tensor as its index in [`FIELDS`], `FIELDS.len()` for any other.
struct Field(usize);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error> {
        struct FieldVisitor;
        impl Visitor<'_> for FieldVisitor {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("dtype, shape or data")
            }

            fn visit_u64<E: de::Error>(self, index: u64) -> Result<Field, E> {
                let index = usize::try_from(index).unwrap_or(FIELDS.len());
                Ok(Field(index.min(FIELDS.len())))
            }

            fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Field, E> {
                let index = FIELDS.iter().position(|f| f.as_bytes() == name);
                Ok(Field(index.unwrap_or(FIELDS.len())))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Field, E> {
                self.visit_bytes(name.as_bytes())
            }
        }
        deserializer.deserialize_identifier(FieldVisitor)
    }
}

/// Reader of a tensor.
pub(super) struct TensorVisitor {
    pub(super) human: bool,
}

impl TensorVisitor {
    /// The reader of `data`, where the element type is read already or comes later.
    fn elements(&self, dtype: Option<DType>) -> ElementsSeed {
        let human = self.human;
        ElementsSeed { dtype, human }
    }
}

/// A row-major tensor; an error if the data does not fill the shape.
fn tensor<E: de::Error>(dtype: DType, shape: Vec<usize>, elements: Elements) -> Result<Tensor, E> {
    let array = Array::from_data(shape, elements.data(dtype)?).map_err(E::custom)?;
    Ok(array.into())
}

impl<'de> Visitor<'de> for TensorVisitor {
    type Value = Tensor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tensor of the fields dtype, shape and data")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tensor, A::Error> {
        let missing = |i: usize| de::Error::invalid_length(i, &self);
        let TypeName(dtype) = seq.next_element()?.ok_or_else(|| missing(0))?;
        let shape = seq.next_element()?.ok_or_else(|| missing(1))?;
        let elements = seq.next_element_seed(self.elements(Some(dtype)))?;
        tensor(dtype, shape, elements.ok_or_else(|| missing(2))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tensor, A::Error> {
        let (mut dtype, mut shape, mut elements) = (None, None, None);
        while let Some(Field(field)) = map.next_key()? {
            let again = match field {
                0 => dtype.replace(map.next_value::<TypeName>()?.0).is_some(),
                1 => shape.replace(map.next_value()?).is_some(),
                2 => {
                    let seed = self.elements(dtype);
                    elements.replace(map.next_value_seed(seed)?).is_some()
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    false
                }
            };
            if again {
                return Err(de::Error::duplicate_field(FIELDS[field]));
            }
        }
        let missing = |field: usize| de::Error::missing_field(FIELDS[field]);
        let dtype = dtype.ok_or_else(|| missing(0))?;
        let shape = shape.ok_or_else(|| missing(1))?;
        tensor(dtype, shape, elements.ok_or_else(|| missing(2))?)
    }
}
