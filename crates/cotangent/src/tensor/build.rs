//! Constructors of [`Tensor`] and its files.

use super::{Given, Order, Tensor, reversed, zero_array};
use crate::here::{AtCaller, bail_here};
use crate::{Axis, files, npy, npz, safetensors};
use cotangent_core::dtype::Kind;
use cotangent_core::{Array, Code, DType, Data, Element, Error, Result, Scalar, Wide, bail};
use std::path::Path;

impl Tensor {
    /// A tensor from elements in row-major order, without a copy. An error unless their number is
    /// the product of the extents.
    #[track_caller]
    pub fn from_vec_row_major<T: Element>(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<Tensor> {
        Ok(Array::from_vec(shape, data).at_caller()?.into())
    }

    /// A tensor from elements in column-major order, without a copy. An error unless their number
    /// is the product of the extents.
    #[track_caller]
    pub fn from_vec_col_major<T: Element>(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<Tensor> {
        Tensor::from_data_col_major(shape.into(), T::wrap(data)).at_caller()
    }

    /// A view of a buffer, listed row-major: element `i` is `buffer[offset + Σ i_d · strides_d]`.
    /// O(rank), without a copy. The buffer may be the memory of another owner
    /// ([`Buffer::of_owner`](crate::Buffer::of_owner)), which lives as long as tensors that share
    /// it.
    ///
    /// ```
    /// use cotangent::{Buffer, Element, Elements, Tensor};
    /// use std::sync::Arc;
    /// /// A page of another library.
    /// struct Page(Arc<[f64; 4]>);
    /// impl Elements<f64> for Page {
    ///     fn elements(&self) -> &[f64] {
    ///         &self.0[..]
    ///     }
    /// }
    /// let page = Arc::new([1.0, 2.0, 3.0, 4.0]);
    /// let buffer = f64::share(Buffer::of_owner(Page(page.clone())));
    /// let t = Tensor::from_parts(buffer, 0, &[2, 2], &[1, 2])?;
    /// assert_eq!(t.to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(t.as_ptr(), page.as_ptr().cast());
    /// drop(t);
    /// assert_eq!(Arc::strong_count(&page), 1);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// The numbers of extents and strides differ; an element is outside of the buffer; there are
    /// too many elements.
    #[track_caller]
    pub fn from_parts(
        buffer: Data,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Tensor> {
        let view = cotangent_cpu::Tensor::from_parts(buffer, offset, shape, strides).at_caller()?;
        Ok(Tensor::from_view(view, Order::RowMajor))
    }

    /// As [`from_vec_col_major`](Self::from_vec_col_major), for elements of a type known at run
    /// time.
    fn from_data_col_major(shape: Vec<usize>, data: Data) -> Result<Tensor> {
        let (rank, back) = (shape.len(), shape.iter().rev().copied().collect::<Vec<_>>());
        match Array::from_data(back, data) {
            Ok(a) => {
                let view = cotangent_cpu::Tensor::from(a).transpose(&reversed(rank));
                Ok(Tensor::from_view(view, Order::ColumnMajor))
            }
            Err(e) => bail!(
                ShapeMismatch,
                "{} (extents given as {shape:?})",
                e.message()
            ),
        }
    }

    /// A tensor without a user-given memory order.
    fn unordered(a: Array) -> Tensor {
        Tensor {
            view: a.into(),
            given: Given::Nothing,
        }
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Array::scalar(value).into()
    }

    /// A vector, without a copy.
    pub fn vector<T: Element>(data: Vec<T>) -> Tensor {
        Array::vector(data).into()
    }

    /// A tensor of zeros (false for booleans).
    #[track_caller]
    pub fn zeros(dtype: DType, shape: impl Into<Vec<usize>>) -> Result<Tensor> {
        Ok(Tensor::unordered(
            zero_array(dtype, shape.into()).at_caller()?,
        ))
    }

    /// A tensor of ones (true for booleans).
    #[track_caller]
    pub fn ones(dtype: DType, shape: impl Into<Vec<usize>>) -> Result<Tensor> {
        Tensor::full(dtype, shape, 1.0)
    }

    /// Zeros of the element type and shape of this tensor (false for booleans).
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Tensor> {
        Tensor::zeros(self.dtype(), self.shape())
    }

    /// Ones of the element type and shape of this tensor (true for booleans).
    #[track_caller]
    pub fn ones_like(&self) -> Result<Tensor> {
        Tensor::ones(self.dtype(), self.shape())
    }

    /// A tensor with one value in every element. An error if the element type cannot represent the
    /// value.
    #[track_caller]
    pub fn full(
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        value: impl Into<Scalar>,
    ) -> Result<Tensor> {
        let value = value.into().number(dtype).at_caller()?;
        let full = value.full(dtype, shape.into()).at_caller()?;
        Ok(Tensor::unordered(full))
    }

    /// The `n` by `n` identity matrix.
    #[track_caller]
    pub fn eye(dtype: DType, n: usize) -> Result<Tensor> {
        let Some(len) = n.checked_mul(n) else {
            bail_here!(Limit, "an identity of {n} rows is too large")
        };
        cotangent_core::array::room(&[n, n], dtype.size()).at_caller()?;
        let at = |i: usize| i.is_multiple_of(n + 1);
        let wide = match dtype.kind() {
            Kind::Float => Wide::F((0..len).map(|i| f64::from(u8::from(at(i)))).collect()),
            Kind::Complex => Wide::C(
                (0..len)
                    .map(|i| f64::from(u8::from(at(i))).into())
                    .collect(),
            ),
            Kind::Int | Kind::Bool | Kind::Opaque => {
                Wide::I((0..len).map(|i| at(i).into()).collect())
            }
        };
        Ok(Tensor::unordered(wide.narrow(dtype, [n, n]).at_caller()?))
    }

    /// The vector `start, start + step, ..` below `stop` (above it for a negative step). An error
    /// if the element type cannot represent one of these numbers.
    #[track_caller]
    pub fn arange(dtype: DType, start: f64, stop: f64, step: f64) -> Result<Tensor> {
        let n = ((stop - start) / step).ceil();
        if !n.is_finite() {
            bail_here!(
                Attribute,
                "arange from {start} to {stop} by {step} has no end"
            );
        }
        count(dtype, n.max(0.0) as usize, |i| start + step * i as f64).at_caller()
    }

    /// The index of each element along an axis. An error if there is no such axis, or if the
    /// element type cannot represent an index.
    ///
    /// ```
    /// use cotangent::{DType, Tensor};
    /// let x = Tensor::iota(DType::I64, [2, 3], 1)?;
    /// assert_eq!(x.to_vec::<i64>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn iota(
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        axis: impl Into<Axis>,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let axis = axis.into().of_rank("iota", shape.len()).at_caller()?;
        let along = count(dtype, shape[axis], |i| i as f64).at_caller()?;
        let view = along.into_view().broadcast(&shape, &[axis]).at_caller()?;
        let given = Given::Nothing;
        Tensor { view, given }.contiguous()
    }

    /// The vector of `num` evenly spaced numbers from `start` to `stop`, both included. It is
    /// monotone, and exact at both ends.
    #[track_caller]
    pub fn linspace(dtype: DType, start: f64, stop: f64, num: usize) -> Result<Tensor> {
        let last = num.saturating_sub(1);
        count(dtype, num, |i| match i {
            0 => start,
            i if i == last => stop,
            i => {
                let (w, gap) = (i as f64 / last as f64, stop - start);
                // The difference of two finite ends may overflow.
                if gap.is_infinite() {
                    start * (1.0 - w) + stop * w
                } else {
                    start + gap * w
                }
            }
        })
        .at_caller()
    }

    /// Reads a `.npy` file. An array in Fortran order becomes a column-major tensor, without
    /// reordering of elements.
    #[track_caller]
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Tensor> {
        let path = path.as_ref();
        let open = || {
            let file = std::fs::File::open(path)?;
            let size = file.metadata()?.len();
            Ok::<_, std::io::Error>((std::io::BufReader::new(file), size))
        };
        let (mut file, size) = open()
            .map_err(|e| Error::new(Code::Io, format!("cannot read {}: {e}", path.display())))
            .at_caller()?;
        let parts =
            npy::read_from(&mut file, size).map_err(|e| e.in_file(&path.display().to_string()));
        parts.and_then(Tensor::from_npy_parts).at_caller()
    }

    fn from_npy_parts((shape, data, column_major): npy::NpyParts) -> Result<Tensor> {
        match column_major {
            true => Tensor::from_data_col_major(shape, data),
            false => Ok(Array::from_data(shape, data)?.into()),
        }
    }

    /// Shape, elements in the tensor's order, and whether that is column-major.
    fn to_parts(&self) -> Result<npy::NpyParts> {
        let column_major = self.order() == Order::ColumnMajor && self.rank() > 1;
        let view = self.view.clone();
        let a = if column_major {
            view.transpose(&reversed(self.rank()))
        } else {
            view
        }
        .into_array()?;
        Ok((self.shape().to_vec(), a.data().clone(), column_major))
    }

    /// Writes a `.npy` file: in Fortran order if the tensor is column-major.
    #[track_caller]
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        let parts = self.to_parts().at_caller()?;
        files::write_with(path.as_ref(), &mut |out| npy::write_parts(&parts, out)).at_caller()
    }

    /// Reads all tensors of an `.npz` archive or a `.safetensors` file, chosen by the extension.
    /// Arrays in Fortran order are column-major.
    ///
    /// ```
    /// use cotangent::{DType, Tensor};
    /// let path = std::env::temp_dir().join(format!("cotangent_{}.npz", std::process::id()));
    /// Tensor::write_all(&path, &[("x", &Tensor::eye(DType::F64, 2)?)])?;
    /// let back = Tensor::read_all(&path)?;
    /// assert_eq!((back[0].0.as_str(), back[0].1.shape()), ("x", &[2, 2][..]));
    /// # std::fs::remove_file(&path).expect("it was just written");
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn read_all(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
        let path = path.as_ref();
        check_not_npy(path, "read_npy").at_caller()?;
        if has_extension(path, "safetensors") {
            return Ok(safetensors::read(path)
                .at_caller()?
                .into_iter()
                .map(|(name, a)| (name, a.into()))
                .collect());
        }
        npz::read_parts(path)
            .at_caller()?
            .into_iter()
            .map(|(name, parts)| Ok((name, Tensor::from_npy_parts(parts)?)))
            .collect::<Result<_>>()
            .at_caller()
    }

    /// Writes named tensors to an `.npz` archive or a `.safetensors` file, chosen by the extension.
    /// An `.npz` archive stores column-major tensors in Fortran order; a `.safetensors` file is
    /// always row-major.
    #[track_caller]
    pub fn write_all(path: impl AsRef<Path>, tensors: &[(&str, &Tensor)]) -> Result<()> {
        let path = path.as_ref();
        check_not_npy(path, "write_npy").at_caller()?;
        if has_extension(path, "safetensors") {
            let all = tensors
                .iter()
                .map(|(name, t)| Ok(((*name).to_owned(), t.to_array()?)));
            let all = all.collect::<Result<Vec<_>>>().at_caller()?;
            return safetensors::write(path, &all).at_caller();
        }
        let all = tensors
            .iter()
            .map(|(name, t)| Ok(((*name).to_owned(), t.to_parts()?)));
        let all = all.collect::<Result<Vec<_>>>().at_caller()?;
        npz::write_parts(path, &all).at_caller()
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Returns an error for a `.npy` file, which holds one array, and names the method `instead`.
fn check_not_npy(path: &Path, instead: &str) -> Result<()> {
    if has_extension(path, "npy") {
        bail!(
            Input,
            "{}: a .npy file holds one array; use Tensor::{instead}, or an .npz file",
            path.display()
        );
    }
    Ok(())
}

/// The vector `at(0), at(1), ..`, converted to an element type.
fn count(dtype: DType, n: usize, at: impl Fn(usize) -> f64) -> Result<Tensor> {
    cotangent_core::array::room(&[n], dtype.size().max(8))?;
    let whole = |i: usize| match Scalar::F(at(i)).number(dtype)? {
        Scalar::I(i) => Ok(i),
        other => bail!(DTypeMismatch, "{other:?} is not a number of type {dtype}"),
    };
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..n).map(at).collect()),
        Kind::Complex => Wide::C((0..n).map(|i| at(i).into()).collect()),
        Kind::Int | Kind::Opaque => Wide::I((0..n).map(whole).collect::<Result<_>>()?),
        Kind::Bool => bail!(
            DTypeMismatch,
            "a range of booleans does not exist: use a number type"
        ),
    };
    Ok(wide.narrow(dtype, [n])?.into())
}

impl<T: Element> From<Vec<T>> for Tensor {
    /// A vector, without a copy.
    fn from(data: Vec<T>) -> Tensor {
        Tensor::vector(data)
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Tensor {
    /// A vector.
    fn from(data: [T; N]) -> Tensor {
        Tensor::vector(data.into())
    }
}

macro_rules! scalars {
    ($($t:ty)*) => { $(
        impl From<$t> for Tensor {
            /// A scalar.
            fn from(x: $t) -> Tensor {
                Tensor::scalar(x)
            }
        }
    )* };
}

scalars! { f32 f64 i32 i64 }
