//! `.npz`: several named arrays, a zip archive of `.npy` files, as `numpy.savez` writes them.
//!
//! ```
//! use cotangent::{Array, npz};
//! let all = vec![("x".to_owned(), Array::vector(vec![1.0, 2.0]))];
//! let file = std::env::temp_dir().join(format!("cotangent_{}.npz", std::process::id()));
//! npz::write(&file, &all)?;
//! assert_eq!(npz::read(&file)?, all);
//! # std::fs::remove_file(&file).expect("it was just written");
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::npy;
use cotangent_core::{Array, Code, Error, Result};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Named arrays, in the order of the file.
///
/// ```
/// use cotangent::{Array, npz};
/// let all: npz::Arrays = vec![("x".into(), Array::vector(vec![1.0, 2.0])), ("n".into(), Array::scalar(3i64))];
/// assert_eq!(npz::from_bytes(&npz::to_bytes(&all)?)?, all);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub type Arrays = Vec<(String, Array)>;

/// An archive may not unpack to more than this many bytes (8 GiB): a small file could claim anything.
const MAX_BYTES: u64 = 8 << 30;

fn bad(e: impl std::fmt::Display) -> Error {
    Error::new(Code::Input, format!("not a readable .npz archive: {e}"))
}

/// Reads an archive from bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Arrays> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(bad)?;
    let mut out = Arrays::new();
    let mut left = MAX_BYTES;
    for i in 0..zip.len() {
        let entry = zip.by_index(i).map_err(bad)?;
        let name = entry.name().map_err(bad)?.trim_end_matches(".npy").to_owned();
        let mut body = Vec::new();
        // Read one byte more than allowed, to see whether there is one.
        entry.take(left + 1).read_to_end(&mut body).map_err(bad)?;
        left = left
            .checked_sub(body.len() as u64)
            .ok_or_else(|| Error::new(Code::Limit, format!("the archive unpacks to more than {MAX_BYTES} bytes")))?;
        let array = npy::from_bytes(&body).map_err(|e| e.note(format!("in the member `{name}`")))?;
        out.push((name, array));
    }
    Ok(out)
}

/// No two arrays have one name.
pub(crate) fn distinct(arrays: &[(String, Array)]) -> Result<()> {
    let mut names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(Error::new(Code::DuplicateName, format!("two arrays have the name `{}`; rename one", w[0]))),
        None => Ok(()),
    }
}

/// The bytes of an archive, uncompressed as `numpy.savez` writes it.
pub fn to_bytes(arrays: &[(String, Array)]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let io = |e: &dyn std::fmt::Display| Error::new(Code::Io, format!("cannot write the archive: {e}"));
    distinct(arrays)?;
    for (name, a) in arrays {
        zip.start_file(format!("{name}.npy"), stored).map_err(|e| io(&e))?;
        zip.write_all(&npy::to_bytes(a)).map_err(|e| io(&e))?;
    }
    Ok(zip.finish().map_err(|e| io(&e))?.into_inner())
}

/// Reads a file.
pub fn read(path: impl AsRef<Path>) -> Result<Arrays> {
    let path = path.as_ref();
    let bytes =
        std::fs::read(path).map_err(|e| Error::new(Code::Io, format!("cannot read {}: {e}", path.display())))?;
    from_bytes(&bytes).map_err(|e| e.in_file(&path.display().to_string()))
}

/// Writes a file.
pub fn write(path: impl AsRef<Path>, arrays: &[(String, Array)]) -> Result<()> {
    let path = path.as_ref();
    let bytes = to_bytes(arrays)?;
    std::fs::write(path, bytes).map_err(|e| Error::new(Code::Io, format!("cannot write {}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> Arrays {
        vec![
            ("x".into(), Array::from_vec([2, 2], vec![1.5f64, -0.0, f64::NAN, 4.0]).unwrap()),
            ("labels".into(), Array::vector(vec![3i32, 1])),
            ("empty".into(), Array::from_vec([0, 3], Vec::<f32>::new()).unwrap()),
        ]
    }

    #[test]
    fn archives_round_trip() {
        let back = from_bytes(&to_bytes(&arrays()).unwrap()).unwrap();
        assert_eq!(back.len(), 3);
        for ((a, x), (b, y)) in arrays().iter().zip(&back) {
            assert!(a == b && x.same_bits(y), "{a}");
        }
    }

    #[test]
    fn compressed_archives_are_read() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file("x.npy", deflated).unwrap();
        zip.write_all(&npy::to_bytes(&Array::vector(vec![7u8; 1000]))).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert!(bytes.len() < 500);
        assert_eq!(from_bytes(&bytes).unwrap()[0].1, Array::vector(vec![7u8; 1000]));
    }

    #[test]
    fn junk_is_an_error() {
        for bytes in [&b""[..], b"PK\x03\x04", &to_bytes(&arrays()).unwrap()[..200]] {
            assert_eq!(from_bytes(bytes).unwrap_err().code(), Code::Input);
        }
    }
}
