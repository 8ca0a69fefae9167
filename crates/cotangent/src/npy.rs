//! `.npy`: one array in NumPy's format, versions 1 to 3.
//!
//! A header (a Python dictionary of element type, order and shape) and the elements. Big-endian files are converted when
//! read, column-major ones as well where the result is an [`Array`]; files are written little-endian and row-major. NumPy has no `bfloat16`: it is written as
//! raw two-byte elements (`V2`), as other libraries do, and read back from them.
//!
//! ```
//! use cotangent::{Array, npy};
//! let a = Array::from_vec([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
//! assert_eq!(npy::from_bytes(&npy::to_bytes(&a))?, a);
//! assert!(npy::from_bytes(b"not an array").is_err());
//! # Ok::<(), cotangent::Error>(())
//! ```

use cotangent_core::array::numel;
use cotangent_core::{Array, C64, C128, Code, DType, Data, Element, Error, Result, bf16, f16};

const MAGIC: &[u8] = b"\x93NUMPY";

fn bad(what: impl Into<String>) -> Error {
    Error::new(Code::Input, format!("not a readable .npy array: {}", what.into()))
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
    }
}

/// The array as the bytes of a `.npy` file.
pub fn to_bytes(a: &Array) -> Vec<u8> {
    let mut shape: String = a.shape().iter().map(|d| format!("{d}, ")).collect();
    if a.shape().len() != 1 {
        shape.truncate(shape.len().saturating_sub(2));
    } else {
        shape.truncate(shape.len() - 1);
    }
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", descr(a.dtype()));
    // Version 1: magic, two version bytes, two length bytes; elements start at a multiple of 64.
    let pad = 64 - (MAGIC.len() + 4 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', pad % 64));
    header.push('\n');
    let mut out = Vec::with_capacity(MAGIC.len() + 4 + header.len() + a.len() * a.dtype().size());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    write_elements(a.data(), &mut out);
    out
}

pub(crate) fn write_elements(data: &Data, out: &mut Vec<u8>) {
    fn each<T: Copy, const N: usize>(v: &[T], out: &mut Vec<u8>, f: impl Fn(T) -> [u8; N]) {
        v.iter().for_each(|&x| out.extend_from_slice(&f(x)));
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
        Data::C64(v) => v.iter().for_each(|z| each(&[z.re, z.im], out, f32::to_le_bytes)),
        Data::C128(v) => v.iter().for_each(|z| each(&[z.re, z.im], out, f64::to_le_bytes)),
    }
}

/// What a header says.
struct Header {
    dtype: DType,
    big_endian: bool,
    column_major: bool,
    shape: Vec<usize>,
}

/// Reads the bytes of a `.npy` file. Nothing is allocated beyond the size of the input.
pub fn from_bytes(bytes: &[u8]) -> Result<Array> {
    let (shape, data, column_major) = parts(bytes)?;
    if !column_major {
        return Array::from_data(shape, data);
    }
    let back: Vec<usize> = shape.iter().rev().copied().collect();
    let turned: Vec<usize> = (0..back.len()).rev().collect();
    cotangent_cpu::Tensor::from(Array::from_data(back, data)?).transpose(&turned).into_array()
}

/// The shape, the elements in the order of the file, and whether that is column-major.
pub(crate) fn parts(bytes: &[u8]) -> Result<(Vec<usize>, Data, bool)> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| bad("the magic bytes are missing"))?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(|| bad("it ends in the header"))?;
    let (len, rest) = match version[0] {
        1 => rest.split_first_chunk::<2>().map(|(n, r)| (u16::from_le_bytes(*n) as usize, r)),
        2 | 3 => rest.split_first_chunk::<4>().map(|(n, r)| (u32::from_le_bytes(*n) as usize, r)),
        v => return Err(bad(format!("version {v} is not known"))),
    }
    .ok_or_else(|| bad("it ends in the header"))?;
    let (header, body) = rest.split_at_checked(len).ok_or_else(|| bad("it ends in the header"))?;
    let header = std::str::from_utf8(header).map_err(|_| bad("the header is not text"))?;
    let h = parse_header(header)?;
    let n = numel(&h.shape).ok_or_else(|| bad(format!("the shape {:?} is too large", h.shape)))?;
    let want = n.checked_mul(h.dtype.size()).ok_or_else(|| bad("the shape is too large"))?;
    if body.len() != want {
        return Err(bad(format!("{:?} of {} needs {want} bytes, there are {}", h.shape, h.dtype, body.len())));
    }
    let data = read_elements(h.dtype, body, h.big_endian);
    let column_major = h.column_major && h.shape.len() > 1;
    Ok((h.shape, data, column_major))
}

pub(crate) fn read_elements(dtype: DType, body: &[u8], big: bool) -> Data {
    fn each<T: Element, const N: usize>(body: &[u8], big: bool, f: impl Fn([u8; N]) -> T) -> Data {
        let one = |c: &[u8]| {
            let mut c: [u8; N] = c.try_into().expect("chunks have this size");
            if big {
                c.reverse();
            }
            f(c)
        };
        T::wrap(body.chunks_exact(N).map(one).collect())
    }
    match dtype {
        DType::Bool => each(body, big, |[x]| x != 0),
        DType::I8 => each(body, big, i8::from_le_bytes),
        DType::I16 => each(body, big, i16::from_le_bytes),
        DType::I32 => each(body, big, i32::from_le_bytes),
        DType::I64 => each(body, big, i64::from_le_bytes),
        DType::U8 => each(body, big, u8::from_le_bytes),
        DType::U16 => each(body, big, u16::from_le_bytes),
        DType::U32 => each(body, big, u32::from_le_bytes),
        DType::U64 => each(body, big, u64::from_le_bytes),
        DType::F16 => each(body, big, f16::from_le_bytes),
        DType::BF16 => each(body, big, bf16::from_le_bytes),
        DType::F32 => each(body, big, f32::from_le_bytes),
        DType::F64 => each(body, big, f64::from_le_bytes),
        DType::C64 => {
            let parts = f32::take(each(body, big, f32::from_le_bytes)).expect("just wrapped");
            C64::wrap(parts.chunks_exact(2).map(|p| C64::new(p[0], p[1])).collect())
        }
        DType::C128 => {
            let parts = f64::take(each(body, big, f64::from_le_bytes)).expect("just wrapped");
            C128::wrap(parts.chunks_exact(2).map(|p| C128::new(p[0], p[1])).collect())
        }
    }
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`.
fn parse_header(text: &str) -> Result<Header> {
    let field = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|q| text.find(q.as_str()).map(|i| i + q.len()));
        let rest = at.map(|i| text[i..].trim_start()).and_then(|r| r.strip_prefix(':'));
        rest.map(str::trim_start).ok_or_else(|| bad(format!("the header has no `{key}`")))
    };
    let descr = field("descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let name = quote
        .and_then(|q| descr[1..].split(q).next())
        .ok_or_else(|| bad("structured element types are not supported"))?;
    let (order, kind) = match name.split_at_checked(1) {
        Some((o @ ("<" | ">" | "|" | "="), k)) => (o, k),
        _ => ("=", name),
    };
    let dtype = match kind {
        "b1" | "?" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "V2" => DType::BF16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => return Err(bad(format!("the element type {name:?} is not supported"))),
    };
    let column_major = match field("fortran_order")? {
        t if t.starts_with("True") => true,
        t if t.starts_with("False") => false,
        _ => return Err(bad("`fortran_order` must be True or False")),
    };
    let inner = field("shape")?.strip_prefix('(').and_then(|r| r.split_once(')')).ok_or_else(|| bad("no shape"))?.0;
    let shape = inner
        .split(',')
        .map(|d| d.trim().trim_end_matches('L'))
        .filter(|d| !d.is_empty())
        .map(|d| d.parse().map_err(|_| bad(format!("{d:?} is not an extent"))))
        .collect::<Result<Vec<usize>>>()?;
    Ok(Header { dtype, big_endian: order == ">", column_major, shape })
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
                assert_eq!((bytes.len() - a.len() * dtype.size()) % 64, 0, "elements start aligned");
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
        let a = from_bytes(&file("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}", &body)).unwrap();
        assert_eq!(a.shape(), [2, 3]);
        assert_eq!(a.as_slice::<u16>().unwrap(), [1, 3, 5, 2, 4, 6]);
    }

    #[test]
    fn malformed_files_are_errors_that_say_what_is_wrong() {
        let ok = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        for (bytes, what) in [
            (b"hello".to_vec(), "magic"),
            (MAGIC.to_vec(), "ends in the header"),
            (file(ok, &[0; 7]), "needs 8 bytes"),
            (file(&ok.replace("(1,)", "(99999999999, 99999999999)"), &[]), "too large"),
            (file(&ok.replace("<f8", "<U4"), &[]), "\"<U4\" is not supported"),
            (file(&ok.replace("'<f8'", "[('a', '<f8')]"), &[]), "structured"),
            (file(&ok.replace("shape", "shap"), &[]), "no `shape`"),
            (file(&ok.replace("(1,)", "(-1,)"), &[]), "not an extent"),
        ] {
            let e = from_bytes(&bytes).unwrap_err().to_string();
            assert!(e.contains(what), "{e}");
        }
    }
}
