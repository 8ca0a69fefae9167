//! Feature `serde`: `Serialize` and `Deserialize` for [`Tensor`], [`TypedTensor`] and [`Program`].
//!
//! A tensor has three fields: `dtype` (a name such as `"f64"`), `shape` and `data`. Binary formats
//! get `data` as little-endian bytes, human-readable ones as a list of numbers; both are in
//! row-major order. A program is the text of [`Program::to_tgraph`].
//!
//! Memory of a reader is proportional to the length of its input at most: no allocation has a size
//! that the input only states.

mod elements;
mod fields;
mod number;

use crate::{Program, Tensor, TypedTensor};
use cotangent_core::Element;
use elements::{LittleEndian, Numbers};
use fields::{FIELDS, TensorVisitor};
use serde::de::{self, Deserializer};
use serde::ser::{self, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// A structure of `dtype`, `shape` and `data` (feature `serde`).
///
/// Binary formats get little-endian bytes, so every bit is kept. Human-readable formats get a flat
/// row-major list: numbers, booleans, and pairs `[re, im]` for complex numbers. Floating-point
/// numbers of all types are written as the `f64` of the same value. `"NaN"`, `"inf"` and `"-inf"`
/// are strings; sign and payload of a NaN are not kept there.
///
/// The order of a tensor ([`Tensor::order`]) is no part of its value and is not written.
///
/// ```
/// use cotangent::Tensor;
/// let t = Tensor::from_vec_row_major([2, 2], vec![1.0f32, 0.5, f32::NAN, -2.0])?;
/// let json = serde_json::to_string(&t).unwrap();
/// assert_eq!(json, r#"{"dtype":"f32","shape":[2,2],"data":[1.0,0.5,"NaN",-2.0]}"#);
/// # Ok::<(), cotangent::Error>(())
/// ```
impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let array = self.to_array().map_err(ser::Error::custom)?;
        let human = serializer.is_human_readable();
        let mut out = serializer.serialize_struct("Tensor", FIELDS.len())?;
        out.serialize_field("dtype", self.dtype().name())?;
        out.serialize_field("shape", self.shape())?;
        if human {
            out.serialize_field("data", &Numbers(&array))?;
        } else {
            out.serialize_field("data", &LittleEndian(array.data()))?;
        }
        out.end()
    }
}

/// Reads what `Serialize` writes, as a row-major tensor (feature `serde`).
///
/// Fields may come in any order, and unknown ones are ignored. In human-readable formats a
/// floating-point element may be written as an integer, and is rounded once from `f64`. JSON keeps
/// all bits of floating-point numbers only if its reader rounds correctly: in `serde_json` that is
/// the feature `float_roundtrip`.
///
/// # Errors
/// The data does not fill the shape, or an element is not in the range of the element type.
///
/// ```
/// use cotangent::{DType, Tensor};
/// let json = r#"{"dtype": "c64", "shape": [1], "data": [[1, -2.5]]}"#;
/// let t: Tensor = serde_json::from_str(json).unwrap();
/// assert_eq!((t.dtype(), t.shape()), (DType::C64, &[1][..]));
/// let wrong = r#"{"dtype": "i8", "shape": [4000000000, 4000000000], "data": [1]}"#;
/// assert!(serde_json::from_str::<Tensor>(wrong).is_err());
/// ```
impl<'de> Deserialize<'de> for Tensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tensor, D::Error> {
        let human = deserializer.is_human_readable();
        deserializer.deserialize_struct("Tensor", FIELDS, TensorVisitor { human })
    }
}

/// The same fields as a [`Tensor`] (feature `serde`).
impl<T> Serialize for TypedTensor<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Tensor::serialize(self, serializer)
    }
}

/// Reads a [`Tensor`]; an error for another element type (feature `serde`).
///
/// ```
/// use cotangent::TypedTensor;
/// let json = r#"{"dtype": "f64", "shape": [2], "data": [1.0, 2.0]}"#;
/// assert_eq!(serde_json::from_str::<TypedTensor<f64>>(json).unwrap().as_slice(), [1.0, 2.0]);
/// assert!(serde_json::from_str::<TypedTensor<f32>>(json).is_err());
/// ```
impl<'de, T: Element> Deserialize<'de> for TypedTensor<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TypedTensor<T>, D::Error> {
        TypedTensor::new(&Tensor::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The text of [`Program::to_tgraph`], a string (feature `serde`).
///
/// It has the public functions, those that directives derive included, with the names of functions,
/// parameters and values, and the numerics of derivatives ([`Program::numerics`]). Comments, notes
/// and the name of the file are not kept. A program that was read from StableHLO becomes one in
/// this library's text form.
///
/// ```
/// use cotangent::{Array, Program};
/// let program = Program::from_tgraph("
///     tgraph.module @square {
///       %x = tgraph.arg : f64
///       %y = tgraph.mul %x, %x
///       tgraph.return %y
///     }")?;
/// let json = serde_json::to_string(&program).unwrap();
/// let back: Program = serde_json::from_str(&json).unwrap();
/// assert_eq!(back.run(&[Array::scalar(3.0)])?[0], Array::scalar(9.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
impl Serialize for Program {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_tgraph().map_err(ser::Error::custom)?)
    }
}

/// Reads the text by [`Program::from_tgraph`] (feature `serde`).
impl<'de> Deserialize<'de> for Program {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Program, D::Error> {
        Program::from_tgraph(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
