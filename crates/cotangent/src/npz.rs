//! `.npz`: several named arrays in a zip archive of `.npy` files, the format of `numpy.savez`.
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

use crate::files::{self, Memory, SeekWrite};
use crate::npy::{self, NpyParts};
use cotangent_core::{Array, Code, Error, Result, Type};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, Write};
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

/// Maximum unpacked size of an archive, in bytes (8 GiB), against small files that claim a huge
/// size.
const MAX_UNPACKED_BYTES: u64 = 8 << 30;

fn bad(e: impl std::fmt::Display) -> Error {
    Error::new(Code::Input, format!("not a readable .npz archive: {e}"))
}

/// An open archive. An array is read when it is requested.
///
/// ```
/// use cotangent::{Array, npz};
/// let file = std::env::temp_dir().join(format!("cotangent_open_{}.npz", std::process::id()));
/// npz::write(&file, &[("x".into(), Array::scalar(1.0)), ("y".into(), Array::scalar(2.0))])?;
/// let mut archive = npz::Archive::open(&file)?;
/// assert_eq!(archive.names().collect::<Vec<_>>(), ["x", "y"]);
/// assert_eq!(archive.read("y")?, Some(Array::scalar(2.0)));
/// assert_eq!(archive.read("z")?, None);
/// # std::fs::remove_file(&file).expect("it was just written");
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Debug)]
pub struct Archive {
    members: Members<BufReader<File>>,
    file: String,
}

impl Archive {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, is no archive, or has two members with one name.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let unreadable =
            |e: std::io::Error| Error::new(Code::Io, format!("cannot read {file}: {e}"));
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        if reader
            .fill_buf()
            .map_err(unreadable)?
            .starts_with(npy::MAGIC)
        {
            let e = Error::new(
                Code::Input,
                "this is one .npy array, and an .npz archive of named arrays is needed",
            );
            return Err(e
                .in_file(&file)
                .note("numpy.savez(\"a.npz\", x=numpy.load(\"x.npy\")) makes one"));
        }
        let members = Members::open(reader).map_err(|e| e.in_file(&file))?;
        Ok(Archive { members, file })
    }

    /// The names of its members, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.names.iter().map(|(name, _)| name.as_str())
    }

    /// Whether there is a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.members.by_name.contains_key(name)
    }

    /// Reads the array of this name; `None` if there is none. Other members are not read.
    ///
    /// # Errors
    /// The member is not a readable array, or memory is exhausted.
    pub fn read(&mut self, name: &str) -> Result<Option<Array>> {
        self.members.named(name).map_err(|e| e.in_file(&self.file))
    }

    /// The type of the array of this name, by its header alone; `None` if there is no such readable
    /// array.
    pub fn ty(&mut self, name: &str) -> Option<Type> {
        self.members.ty(name)
    }
}

/// The members of an archive.
#[derive(Debug)]
struct Members<R> {
    zip: ZipArchive<R>,
    /// Names of arrays and the numbers of their members.
    names: Vec<(String, usize)>,
    /// Index of each name in the list.
    by_name: FxHashMap<String, usize>,
    /// Remaining number of bytes that may be unpacked.
    left: u64,
}

impl<R: Read + Seek> Members<R> {
    fn open(reader: R) -> Result<Members<R>> {
        let zip = ZipArchive::new(reader).map_err(bad)?;
        if zip.has_duplicate_names() {
            return Err(bad("two members have one name"));
        }
        let mut names = Vec::new();
        for (i, name) in zip.file_names().enumerate() {
            let name = name.map_err(bad)?;
            names.push((name.strip_suffix(".npy").unwrap_or(&name).to_owned(), i));
        }
        let mut by_name = FxHashMap::default();
        for (at, (name, _)) in names.iter().enumerate() {
            if by_name.insert(name.clone(), at).is_some() {
                return Err(bad(format!("two members have the name `{name}`")));
            }
        }
        Ok(Members {
            zip,
            names,
            by_name,
            left: MAX_UNPACKED_BYTES,
        })
    }

    fn named(&mut self, name: &str) -> Result<Option<Array>> {
        self.by_name
            .get(name)
            .copied()
            .map(|at| self.at(at))
            .transpose()
    }

    fn at(&mut self, at: usize) -> Result<Array> {
        let parts = self.parts(at)?;
        npy::array(parts).map_err(|e| e.note(format!("in the member `{}`", self.names[at].0)))
    }

    fn parts(&mut self, at: usize) -> Result<NpyParts> {
        let (name, member) = &self.names[at];
        let mut entry = self.zip.by_index(*member).map_err(bad)?;
        let size = entry.size();
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            Error::new(
                Code::Limit,
                format!("the archive unpacks to more than {MAX_UNPACKED_BYTES} bytes"),
            )
        })?;
        npy::read_from(&mut entry, size).map_err(|e| e.note(format!("in the member `{name}`")))
    }

    fn ty(&mut self, name: &str) -> Option<Type> {
        let (_, member) = self.names[*self.by_name.get(name)?];
        let (h, _) = npy::read_header(&mut self.zip.by_index(member).ok()?).ok()?;
        Some(Type::new(h.dtype, h.shape.as_slice()))
    }

    fn all(mut self) -> Result<Arrays> {
        (0..self.names.len())
            .map(|i| Ok((self.names[i].0.clone(), self.at(i)?)))
            .collect()
    }
}

/// Reads an archive from bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Arrays> {
    Members::open(Cursor::new(bytes))?.all()
}

/// Checks that no two arrays have one name.
pub(crate) fn distinct<T>(arrays: &[(String, T)]) -> Result<()> {
    let mut names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(Error::new(
            Code::DuplicateName,
            format!("two arrays have the name `{}`; rename one", w[0]),
        )),
        None => Ok(()),
    }
}

/// The bytes of an uncompressed archive, as `numpy.savez` writes it.
pub fn to_bytes(arrays: &[(String, Array)]) -> Result<Vec<u8>> {
    distinct(arrays)?;
    let mut out = Memory::default();
    write_to(arrays, &mut out, npy::write_to)
        .map_err(|e| Error::new(Code::Io, format!("cannot write the archive: {e}")))?;
    Ok(out.into_bytes())
}

fn write_to<T>(
    arrays: &[(String, T)],
    out: &mut dyn SeekWrite,
    one: fn(&T, &mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for (name, a) in arrays {
        zip.start_file(format!("{name}.npy"), stored)?;
        one(a, &mut zip)?;
    }
    zip.finish()?;
    Ok(())
}

/// Reads a file.
pub fn read(path: impl AsRef<Path>) -> Result<Arrays> {
    let Archive { members, file } = Archive::open(path)?;
    members.all().map_err(|e| e.in_file(&file))
}

/// Writes a file.
pub fn write(path: impl AsRef<Path>, arrays: &[(String, Array)]) -> Result<()> {
    distinct(arrays)?;
    files::write_with(path.as_ref(), &mut |out| {
        write_to(arrays, out, npy::write_to)
    })
}

/// Reads a file, with the elements in the order of the file.
pub(crate) fn read_parts(path: &Path) -> Result<Vec<(String, NpyParts)>> {
    let Archive { mut members, file } = Archive::open(path)?;
    let all = (0..members.names.len()).map(|i| Ok((members.names[i].0.clone(), members.parts(i)?)));
    all.collect::<Result<_>>()
        .map_err(|e: Error| e.in_file(&file))
}

/// Writes a file, with the elements in the given order.
pub(crate) fn write_parts(path: &Path, arrays: &[(String, NpyParts)]) -> Result<()> {
    distinct(arrays)?;
    files::write_with(path, &mut |out| write_to(arrays, out, npy::write_parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> Arrays {
        vec![
            (
                "x".into(),
                Array::from_vec([2, 2], vec![1.5f64, -0.0, f64::NAN, 4.0]).unwrap(),
            ),
            ("labels".into(), Array::vector(vec![3i32, 1])),
            (
                "empty".into(),
                Array::from_vec([0, 3], Vec::<f32>::new()).unwrap(),
            ),
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
        zip.write_all(&npy::to_bytes(&Array::vector(vec![7u8; 1000])))
            .unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert!(bytes.len() < 500);
        assert_eq!(
            from_bytes(&bytes).unwrap()[0].1,
            Array::vector(vec![7u8; 1000])
        );
    }

    #[test]
    fn junk_is_an_error() {
        for bytes in [
            &b""[..],
            b"PK\x03\x04",
            &to_bytes(&arrays()).unwrap()[..200],
        ] {
            assert_eq!(from_bytes(bytes).unwrap_err().code(), Code::Input);
        }
    }
}
