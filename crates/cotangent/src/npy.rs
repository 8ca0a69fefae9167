//! `.npy`: one array in NumPy's format, versions 1 to 3.
//!
//! A header (a Python dictionary of element type, order and shape) and the elements. Big-endian
//! files are converted when read, and column-major ones if the result is an [`Array`]. Files are
//! written little-endian, and row-major unless the tensor is column-major. NumPy has no `bfloat16`:
//! it is written as raw two-byte elements (`V2`), as other libraries do, and read back from them.
//!
//! ```
//! use cotangent::{Array, npy};
//! let a = Array::from_vec([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
//! assert_eq!(npy::from_bytes(&npy::to_bytes(&a))?, a);
//! assert!(npy::from_bytes(b"not an array").is_err());
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::npy_header::{Header, parse};
use cotangent_core::array::numel;
use cotangent_core::{Array, C64, C128, Code, DType, Data, Element, Error, Result, bf16, f16};
use std::io::{self, Read, Write};

/// Magic bytes at the start of a file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

fn bad(what: impl Into<String>) -> Error {
    Error::new(
        Code::Input,
        format!("not a readable .npy array: {}", what.into()),
    )
}

/// The element type's name in a header, little-endian.
fn descr(d: DType) -> &'static str {
    match d {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::BF16 => "|V2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        // Arrays have no elements of opaque types.
        DType::Opaque(t) => t.text(),
    }
}

/// The array as the bytes of a `.npy` file.
pub fn to_bytes(a: &Array) -> Vec<u8> {
    let head = header(a.dtype(), a.shape(), false);
    let mut out = Vec::with_capacity(head.len() + a.len() * a.dtype().size());
    out.extend_from_slice(&head);
    write_elements(a.data(), &mut out).expect("a vector takes all");
    out
}

/// Writes a `.npy` file.
pub(crate) fn write_to(a: &Array, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&header(a.dtype(), a.shape(), false))?;
    write_elements(a.data(), out)
}

/// Writes a `.npy` file with the elements in the order of the file.
pub(crate) fn write_parts(
    (shape, data, column_major): &NpyParts,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&header(data.dtype(), shape, *column_major))?;
    write_elements(data, out)
}

fn header(dtype: DType, extents: &[usize], column_major: bool) -> Vec<u8> {
    let mut shape: String = extents.iter().map(|d| format!("{d}, ")).collect();
    if extents.len() != 1 {
        shape.truncate(shape.len().saturating_sub(2));
    } else {
        shape.truncate(shape.len() - 1);
    }
    let order = if column_major { "True" } else { "False" };
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': {order}, 'shape': ({shape}), }}",
        descr(dtype)
    );
    // Version 1: magic, two version bytes, two length bytes; elements start at a multiple of 64.
    let pad = 64 - (MAGIC.len() + 4 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', pad % 64));
    header.push('\n');
    [
        MAGIC,
        &[1, 0],
        &(header.len() as u16).to_le_bytes(),
        header.as_bytes(),
    ]
    .concat()
}

/// Size of the conversion buffer, in bytes, used in addition to the array that is read or written.
const CONVERT_BUFFER_BYTES: usize = 1 << 14;

/// Writes elements, little-endian.
pub(crate) fn write_elements(data: &Data, out: &mut dyn Write) -> io::Result<()> {
    fn each<T: Copy, const N: usize>(
        v: &[T],
        out: &mut dyn Write,
        f: impl Fn(T) -> [u8; N],
    ) -> io::Result<()> {
        let mut buffer = [0u8; CONVERT_BUFFER_BYTES];
        for part in v.chunks(CONVERT_BUFFER_BYTES / N) {
            for (to, &x) in buffer.chunks_exact_mut(N).zip(part) {
                to.copy_from_slice(&f(x));
            }
            out.write_all(&buffer[..part.len() * N])?;
        }
        Ok(())
    }
    fn pair<const N: usize, const M: usize>(a: [u8; N], b: [u8; N]) -> [u8; M] {
        let mut out = [0; M];
        out[..N].copy_from_slice(&a);
        out[N..].copy_from_slice(&b);
        out
    }
    match data {
        Data::Bool(v) => each(v, out, |x| [x as u8]),
        Data::I8(v) => each(v, out, i8::to_le_bytes),
        Data::I16(v) => each(v, out, i16::to_le_bytes),
        Data::I32(v) => each(v, out, i32::to_le_bytes),
        Data::I64(v) => each(v, out, i64::to_le_bytes),
        Data::U8(v) => each(v, out, u8::to_le_bytes),
        Data::U16(v) => each(v, out, u16::to_le_bytes),
        Data::U32(v) => each(v, out, u32::to_le_bytes),
        Data::U64(v) => each(v, out, u64::to_le_bytes),
        Data::F16(v) => each(v, out, f16::to_le_bytes),
        Data::BF16(v) => each(v, out, bf16::to_le_bytes),
        Data::F32(v) => each(v, out, f32::to_le_bytes),
        Data::F64(v) => each(v, out, f64::to_le_bytes),
        Data::C64(v) => each(v, out, |z| {
            pair::<4, 8>(z.re.to_le_bytes(), z.im.to_le_bytes())
        }),
        Data::C128(v) => each(v, out, |z| {
            pair::<8, 16>(z.re.to_le_bytes(), z.im.to_le_bytes())
        }),
    }
}

/// Shape, elements in the order of the file, and whether this order is column-major.
pub(crate) type NpyParts = (Vec<usize>, Data, bool);

/// Reads the bytes of a `.npy` file. Nothing is allocated beyond the size of the input.
pub fn from_bytes(bytes: &[u8]) -> Result<Array> {
    array(read_from(&mut &bytes[..], bytes.len() as u64)?)
}

/// The row-major array of a file's contents.
pub(crate) fn array((shape, data, column_major): NpyParts) -> Result<Array> {
    if !column_major {
        return Array::from_data(shape, data);
    }
    let back: Vec<usize> = shape.iter().rev().copied().collect();
    let reversed: Vec<usize> = (0..back.len()).rev().collect();
    cotangent_cpu::Tensor::from(Array::from_data(back, data)?)
        .transpose(&reversed)
        .into_array()
}

/// Reads a `.npy` file of this size, in bytes, to its end.
pub(crate) fn read_from(from: &mut dyn Read, size: u64) -> Result<NpyParts> {
    let (h, taken) = read_header(from)?;
    let n = numel(&h.shape).ok_or_else(|| bad(format!("the shape {:?} is too large", h.shape)))?;
    let want = n
        .checked_mul(h.dtype.size())
        .ok_or_else(|| bad("the shape is too large"))?;
    let left = size.saturating_sub(taken);
    if left != want as u64 {
        return Err(bad(format!(
            "{:?} of {} needs {want} bytes, the file has {left}",
            h.shape, h.dtype
        )));
    }
    let data = read_elements(h.dtype, n, h.big_endian, from)?;
    // Archives verify checksums at the end of a member.
    if from.read(&mut [0]).map_err(unread)? != 0 {
        return Err(bad("it has bytes after its elements"));
    }
    let column_major = h.column_major && h.shape.len() > 1;
    Ok((h.shape, data, column_major))
}

fn unread(e: io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => bad("it ends too early"),
        _ => bad(e.to_string()),
    }
}

/// Reads a header. Also returns its length: the number of bytes before the elements.
pub(crate) fn read_header(from: &mut dyn Read) -> Result<(Header, u64)> {
    /// Maximum length of a header, in bytes, against malformed files.
    const MAX_HEADER_BYTES: usize = 1 << 16;
    let short = |e: io::Error| match e.kind() {
        io::ErrorKind::UnexpectedEof => bad("it ends in the header"),
        _ => bad(e.to_string()),
    };
    let mut magic = [0; 6];
    match from.read_exact(&mut magic) {
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(bad(e.to_string())),
        Ok(()) if magic == MAGIC => {}
        _ => return Err(bad("the magic bytes are missing")),
    }
    let mut version = [0; 2];
    from.read_exact(&mut version).map_err(short)?;
    let (len, bytes) = match version {
        [1, 0] => {
            let mut n = [0; 2];
            from.read_exact(&mut n).map_err(short)?;
            (u16::from_le_bytes(n) as usize, 2)
        }
        [2 | 3, 0] => {
            let mut n = [0; 4];
            from.read_exact(&mut n).map_err(short)?;
            (u32::from_le_bytes(n) as usize, 4)
        }
        [v, w] => return Err(bad(format!("version {v}.{w} is not supported"))),
    };
    if len > MAX_HEADER_BYTES {
        return Err(bad(format!("a header of {len} bytes is too long")));
    }
    let mut header = vec![0; len];
    from.read_exact(&mut header).map_err(short)?;
    let header = std::str::from_utf8(&header).map_err(|_| bad("the header is not text"))?;
    Ok((
        parse(header).map_err(bad)?,
        (MAGIC.len() + 2 + bytes + len) as u64,
    ))
}

/// Reads `n` elements.
pub(crate) fn read_elements(
    dtype: DType,
    n: usize,
    big: bool,
    from: &mut dyn Read,
) -> Result<Data> {
    fn each<T: Element, const N: usize>(
        n: usize,
        big: bool,
        from: &mut dyn Read,
        f: impl Fn([u8; N]) -> T,
    ) -> Result<Data> {
        let mut out: Vec<T> = Vec::new();
        out.try_reserve_exact(n).map_err(|_| {
            Error::new(
                Code::Limit,
                format!("there is no memory for an array of {n} elements"),
            )
        })?;
        let mut buffer = [0u8; CONVERT_BUFFER_BYTES];
        while out.len() < n {
            let part = &mut buffer[..(n - out.len()).saturating_mul(N).min(CONVERT_BUFFER_BYTES)];
            from.read_exact(part).map_err(unread)?;
            out.extend(part.chunks_exact_mut(N).map(|c| {
                if big {
                    c.reverse();
                }
                f((&*c).try_into().expect("chunks have this size"))
            }));
        }
        Ok(T::wrap(out))
    }
    fn halves<const N: usize, const M: usize>(c: [u8; M], big: bool) -> [[u8; N]; 2] {
        let half = |at: usize| -> [u8; N] { c[at..at + N].try_into().expect("half of it") };
        // The bytes were reversed as a whole, so the two halves are exchanged.
        if big {
            [half(N), half(0)]
        } else {
            [half(0), half(N)]
        }
    }
    match dtype {
        DType::Bool => each(n, big, from, |[x]| x != 0),
        DType::I8 => each(n, big, from, i8::from_le_bytes),
        DType::I16 => each(n, big, from, i16::from_le_bytes),
        DType::I32 => each(n, big, from, i32::from_le_bytes),
        DType::I64 => each(n, big, from, i64::from_le_bytes),
        DType::U8 => each(n, big, from, u8::from_le_bytes),
        DType::U16 => each(n, big, from, u16::from_le_bytes),
        DType::U32 => each(n, big, from, u32::from_le_bytes),
        DType::U64 => each(n, big, from, u64::from_le_bytes),
        DType::F16 => each(n, big, from, f16::from_le_bytes),
        DType::BF16 => each(n, big, from, bf16::from_le_bytes),
        DType::F32 => each(n, big, from, f32::from_le_bytes),
        DType::F64 => each(n, big, from, f64::from_le_bytes),
        DType::C64 => each(n, big, from, |c: [u8; 8]| {
            let [re, im] = halves::<4, 8>(c, big).map(f32::from_le_bytes);
            C64::new(re, im)
        }),
        DType::C128 => each(n, big, from, |c: [u8; 16]| {
            let [re, im] = halves::<8, 16>(c, big).map(f64::from_le_bytes);
            C128::new(re, im)
        }),
        DType::Opaque(t) => Err(bad(format!("no file holds elements of type {t}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_round_trips() {
        for dtype in DType::ALL {
            for shape in [vec![], vec![0], vec![3], vec![2, 3], vec![1, 0, 2]] {
                let n: usize = shape.iter().product();
                let wide = match dtype.kind() {
                    cotangent_core::dtype::Kind::Float => {
                        cotangent_core::Wide::F((0..n).map(|i| i as f64 * 0.5 - 1.0).collect())
                    }
                    cotangent_core::dtype::Kind::Complex => {
                        cotangent_core::Wide::C((0..n).map(|i| C128::new(i as f64, -0.5)).collect())
                    }
                    _ => cotangent_core::Wide::I((0..n).map(|i| i as i128 * 3).collect()),
                };
                let a = wide.narrow(dtype, shape).unwrap();
                let bytes = to_bytes(&a);
                assert_eq!(
                    (bytes.len() - a.len() * dtype.size()) % 64,
                    0,
                    "elements start aligned"
                );
                assert!(from_bytes(&bytes).unwrap().same_bits(&a), "{dtype}");
            }
        }
    }

    fn file(header: &str, body: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[2, 0]);
        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(body);
        out
    }

    #[test]
    fn big_endian_and_column_major_are_converted() {
        let body: Vec<u8> = (1..=6u16).flat_map(|x| x.to_be_bytes()).collect();
        let a = from_bytes(&file(
            "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}",
            &body,
        ))
        .unwrap();
        assert_eq!(a.shape(), [2, 3]);
        assert_eq!(a.as_slice::<u16>().unwrap(), [1, 3, 5, 2, 4, 6]);
    }

    #[test]
    fn malformed_files_are_errors_that_name_the_defect() {
        let ok = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        for (bytes, what) in [
            (b"hello".to_vec(), "magic"),
            (MAGIC.to_vec(), "ends in the header"),
            (file(ok, &[0; 7]), "needs 8 bytes"),
            (
                file(&ok.replace("(1,)", "(99999999999, 99999999999)"), &[]),
                "too large",
            ),
            (
                file(&ok.replace("<f8", "<U4"), &[]),
                "\"<U4\" is not supported",
            ),
            (
                file(&ok.replace("'<f8'", "[('a', '<f8')]"), &[]),
                "structured",
            ),
            (file(&ok.replace("shape", "shap"), &[]), "\"shap\""),
            (file(&ok.replace("(1,)", "(-1,)"), &[]), "not an extent"),
        ] {
            let e = from_bytes(&bytes).unwrap_err().to_string();
            assert!(e.contains(what), "{e}");
        }
    }
}
