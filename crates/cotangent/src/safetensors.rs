//! `.safetensors`: several named arrays, a format for the weights of machine-learning models.
//!
//! Arrays are row-major and little-endian. The format has no `c128`.
//!
//! ```
//! use cotangent::{Array, safetensors};
//! let all = vec![("w".to_owned(), Array::vector(vec![1.0f32, 2.0]))];
//! assert_eq!(safetensors::from_bytes(&safetensors::to_bytes(&all)?)?, all);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::npz::distinct;
use crate::{files, npy};
use cotangent_core::{Array, Code, DType, Error, Result, bail};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize};
use std::path::Path;

/// Named arrays, in the order of their names.
///
/// ```
/// use cotangent::{Array, safetensors};
/// let all: safetensors::Arrays = vec![("b".into(), Array::scalar(1i64)), ("a".into(), Array::scalar(true))];
/// let names: Vec<_> = safetensors::from_bytes(&safetensors::to_bytes(&all)?)?.into_iter().map(|a| a.0).collect();
/// assert_eq!(names, ["a", "b"]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub use crate::npz::Arrays;

const NAMES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

fn bad(e: impl std::fmt::Display) -> Error {
    Error::new(
        Code::Input,
        format!("not a readable .safetensors file: {e}"),
    )
}

/// Reads the bytes of a file. Nothing is allocated beyond the size of the input.
pub fn from_bytes(bytes: &[u8]) -> Result<Arrays> {
    let file = SafeTensors::deserialize(bytes).map_err(bad)?;
    let mut out = Arrays::new();
    for (name, t) in file.iter() {
        let Some((dtype, _)) = NAMES.iter().find(|n| n.1 == t.dtype()) else {
            bail!(
                Input,
                "the array `{name}` has the element type {:?}, which is not supported",
                t.dtype()
            );
        };
        let n = t.data().len() / dtype.size();
        out.push((
            name.to_owned(),
            Array::from_data(
                t.shape(),
                npy::read_elements(*dtype, n, false, &mut t.data())?,
            )?,
        ));
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(out)
}

/// The bytes of a file. An error for complex numbers in double precision.
pub fn to_bytes(arrays: &[(String, Array)]) -> Result<Vec<u8>> {
    distinct(arrays)?;
    let mut raw = Vec::with_capacity(arrays.len());
    for (name, a) in arrays {
        let Some((_, dtype)) = NAMES.iter().find(|n| n.0 == a.dtype()) else {
            bail!(
                Input,
                "`{name}` is {}: .safetensors has no such element type, convert it first",
                a.ty()
            );
        };
        let mut data = Vec::new();
        let bytes = a.len() * a.dtype().size();
        data.try_reserve_exact(bytes).map_err(|_| {
            Error::new(
                Code::Limit,
                format!("there is no memory for {bytes} more bytes of `{name}`"),
            )
        })?;
        npy::write_elements(a.data(), &mut data).map_err(bad)?;
        raw.push((name, *dtype, a.shape().to_vec(), data));
    }
    let mut views = Vec::with_capacity(raw.len());
    for (name, dtype, shape, data) in &raw {
        views.push((
            name.as_str(),
            TensorView::new(*dtype, shape.clone(), data).map_err(bad)?,
        ));
    }
    serialize(views, None).map_err(bad)
}

/// Reads a file.
pub fn read(path: impl AsRef<Path>) -> Result<Arrays> {
    let path = path.as_ref();
    match std::fs::read(path) {
        Ok(bytes) => from_bytes(&bytes).map_err(|e| e.in_file(&path.display().to_string())),
        Err(e) => bail!(Io, "cannot read {}: {e}", path.display()),
    }
}

/// Writes a file.
pub fn write(path: impl AsRef<Path>, arrays: &[(String, Array)]) -> Result<()> {
    files::write(path, &to_bytes(arrays)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotangent_core::{C64, C128};

    #[test]
    fn every_element_type_comes_back() {
        for (dtype, _) in NAMES {
            let a = cotangent_core::Scalar::I(1)
                .full(dtype, vec![2, 3])
                .unwrap();
            let all = vec![("a".to_owned(), a)];
            let back = from_bytes(&to_bytes(&all).unwrap()).unwrap();
            assert!(back[0].1.same_bits(&all[0].1), "{dtype}");
        }
        let z = Array::vector(vec![C64::new(1.0, -2.0)]);
        let back = from_bytes(
            &to_bytes(&[
                ("z".into(), z.clone()),
                ("empty".into(), Array::vector::<f32>(vec![])),
            ])
            .unwrap(),
        );
        let back = back.unwrap();
        assert_eq!((back[0].0.as_str(), back[0].1.len()), ("empty", 0));
        assert!(back[1].1.same_bits(&z));
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        assert!(to_bytes(&[("z".into(), Array::scalar(C128::new(1.0, 0.0)))]).is_err());
        let good = to_bytes(&[("x".into(), Array::vector(vec![1.0f64, 2.0]))]).unwrap();
        for bytes in [
            &b""[..],
            b"12345678{",
            &good[..good.len() - 1],
            &[255u8; 64],
        ] {
            assert_eq!(from_bytes(bytes).unwrap_err().code(), Code::Input);
        }
        assert_eq!(read("/nowhere/at/all").unwrap_err().code(), Code::Io);
    }
}
