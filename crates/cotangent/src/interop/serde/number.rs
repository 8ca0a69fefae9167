//! [`Number`]: one element of a human-readable list, written and read.

use cotangent_core::math::{nearest_bf16, nearest_f16};
use cotangent_core::{C128, DType};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple, Serializer};
use std::fmt;

/// One element of a human-readable list.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Bool(bool),
    Int(i128),
    Real(f64),
    Complex(C128),
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Bool(x) => serializer.serialize_bool(x),
            // Not every format has 128-bit integers.
            Number::Int(x) => match i64::try_from(x) {
                Ok(x) => serializer.serialize_i64(x),
                Err(_) => serializer.serialize_u64(x as u64),
            },
            Number::Real(x) if x.is_nan() => serializer.serialize_str("NaN"),
            Number::Real(f64::INFINITY) => serializer.serialize_str("inf"),
            Number::Real(f64::NEG_INFINITY) => serializer.serialize_str("-inf"),
            Number::Real(x) => serializer.serialize_f64(x),
            Number::Complex(z) => {
                let mut pair = serializer.serialize_tuple(2)?;
                pair.serialize_element(&Number::Real(z.re))?;
                pair.serialize_element(&Number::Real(z.im))?;
                pair.end()
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Bool(x) => x.fmt(f),
            Number::Int(x) => x.fmt(f),
            Number::Real(x) => x.fmt(f),
            Number::Complex(z) => z.fmt(f),
        }
    }
}

impl Number {
    /// The number as an element of a floating-point type; `None` if it is not real or overflows.
    pub(super) fn real(self, dtype: DType) -> Option<f64> {
        let x = match self {
            Number::Int(x) => x as f64,
            Number::Real(x) => x,
            Number::Bool(_) | Number::Complex(_) => return None,
        };
        let overflows = match dtype.real() {
            DType::F16 => nearest_f16(x).is_infinite(),
            DType::BF16 => nearest_bf16(x).is_infinite(),
            DType::F32 => (x as f32).is_infinite(),
            _ => false,
        };
        (x.is_infinite() || !overflows).then_some(x)
    }

    /// The number as an element of a complex type; `None` if a part overflows.
    pub(super) fn complex(self, dtype: DType) -> Option<C128> {
        let (re, im) = match self {
            Number::Complex(z) => (Number::Real(z.re), Number::Real(z.im)),
            real => (real, Number::Real(0.0)),
        };
        Some(C128::new(re.real(dtype)?, im.real(dtype)?))
    }

    /// The number as an integer or a boolean; `None` if the type has no such value.
    pub(super) fn int(self, dtype: DType) -> Option<i128> {
        let (least, greatest) = dtype.int_range();
        match (self, dtype) {
            (Number::Bool(x), DType::Bool) => Some(x.into()),
            (_, DType::Bool) => None,
            (Number::Int(x), _) => (least..=greatest).contains(&x).then_some(x),
            _ => None,
        }
    }
}

/// Reader of a [`Number`]; the parts of a pair are no pairs.
pub(super) struct NumberSeed {
    pub(super) pairs: bool,
}

impl<'de> DeserializeSeed<'de> for NumberSeed {
    type Value = Number;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumberSeed {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a number, a boolean, "NaN", "inf" or "-inf""#)?;
        f.write_str(if self.pairs {
            ", or a pair [re, im]"
        } else {
            ""
        })
    }

    fn visit_bool<E: de::Error>(self, x: bool) -> Result<Number, E> {
        Ok(Number::Bool(x))
    }

    fn visit_i64<E: de::Error>(self, x: i64) -> Result<Number, E> {
        Ok(Number::Int(x.into()))
    }

    fn visit_u64<E: de::Error>(self, x: u64) -> Result<Number, E> {
        Ok(Number::Int(x.into()))
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Number, E> {
        Ok(Number::Real(x))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        match text {
            "NaN" => Ok(Number::Real(f64::NAN)),
            "inf" => Ok(Number::Real(f64::INFINITY)),
            "-inf" => Ok(Number::Real(f64::NEG_INFINITY)),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
        if !self.pairs {
            return Err(de::Error::invalid_type(de::Unexpected::Seq, &self));
        }
        let mut part = || {
            let number = seq.next_element_seed(NumberSeed { pairs: false })?;
            Ok(number.and_then(|x| x.real(DType::F64)))
        };
        match (part()?, part()?) {
            (Some(re), Some(im)) if seq.next_element::<IgnoredAny>()?.is_none() => {
                Ok(Number::Complex(C128::new(re, im)))
            }
            _ => Err(de::Error::custom(
                "a complex number is a pair of two numbers [re, im]",
            )),
        }
    }
}
