//! Constructors of [`TracedTensor`], its types, and its array.

use super::Orders;
use super::evaluate::evaluate_all;
use super::node::{TraceNodeKind, TracedTensor, fresh_id};
use crate::here::{AtCaller, here};
use crate::tensor::OneLine;
use crate::{Axis, DType, Dim, Element, Result, Scalar, Shape, Tensor, Type};
use smallvec::smallvec;
use std::fmt;

impl TracedTensor {
    /// A tensor from elements in column-major order (the first axis fastest). A wrong number of
    /// elements is an error when the program is compiled.
    ///
    /// ```
    /// use cotangent::TracedTensor;
    /// let a = TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(a.to_tensor()?.as_slice::<f64>().unwrap(), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(a.reduce_sum(&[0]).to_tensor()?.as_slice::<f64>().unwrap(), &[3.0, 7.0, 11.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn from_vec_col_major<T: Element>(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> TracedTensor {
        TracedTensor::given(Tensor::from_vec_col_major(shape, data))
    }

    /// A tensor from elements in row-major order (the last axis fastest). A wrong number of
    /// elements is an error when the program is compiled.
    ///
    /// ```
    /// use cotangent::TracedTensor;
    /// let a = TracedTensor::from_vec_row_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(a.reduce_sum(&[0]).to_tensor()?.as_slice::<f64>().unwrap(), &[5.0, 7.0, 9.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn from_vec_row_major<T: Element>(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> TracedTensor {
        TracedTensor::given(Tensor::from_vec_row_major(shape, data))
    }

    #[track_caller]
    fn given(t: Result<Tensor>) -> TracedTensor {
        match t {
            Ok(t) => {
                let ty = t.ty();
                TracedTensor::of(TraceNodeKind::Value(t), smallvec![ty], here())
            }
            Err(e) => TracedTensor::failed(e.at(here())),
        }
    }

    /// A scalar.
    #[track_caller]
    pub fn scalar<T: Element>(x: T) -> TracedTensor {
        TracedTensor::given(Ok(Tensor::scalar(x)))
    }

    /// A vector.
    #[track_caller]
    pub fn vector<T: Element>(data: Vec<T>) -> TracedTensor {
        TracedTensor::given(Ok(Tensor::vector(data)))
    }

    /// Zeros (false for booleans).
    #[track_caller]
    pub fn zeros(dtype: DType, shape: impl Into<Vec<usize>>) -> TracedTensor {
        TracedTensor::given(Tensor::zeros(dtype, shape))
    }

    /// Ones (true for booleans).
    #[track_caller]
    pub fn ones(dtype: DType, shape: impl Into<Vec<usize>>) -> TracedTensor {
        TracedTensor::given(Tensor::ones(dtype, shape))
    }

    /// A tensor with one value in every element.
    #[track_caller]
    pub fn full(
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        value: impl Into<Scalar>,
    ) -> TracedTensor {
        TracedTensor::given(Tensor::full(dtype, shape, value))
    }

    /// The `n` by `n` identity matrix.
    #[track_caller]
    pub fn eye(dtype: DType, n: usize) -> TracedTensor {
        TracedTensor::given(Tensor::eye(dtype, n))
    }

    /// The vector `start, start + step, ..` below `stop` (above it for a negative step).
    #[track_caller]
    pub fn arange(dtype: DType, start: f64, stop: f64, step: f64) -> TracedTensor {
        TracedTensor::given(Tensor::arange(dtype, start, stop, step))
    }

    /// The index of each element along an axis.
    #[track_caller]
    pub fn iota(dtype: DType, shape: impl Into<Vec<usize>>, axis: impl Into<Axis>) -> TracedTensor {
        TracedTensor::given(Tensor::iota(dtype, shape, axis))
    }

    /// `num` evenly spaced numbers, both ends included.
    #[track_caller]
    pub fn linspace(dtype: DType, start: f64, stop: f64, num: usize) -> TracedTensor {
        TracedTensor::given(Tensor::linspace(dtype, start, stop, num))
    }

    /// A traced tensor with the value of this tensor.
    #[track_caller]
    pub fn from_tensor(t: Tensor) -> TracedTensor {
        TracedTensor::given(Ok(t))
    }

    /// As [`TracedTensor::from_tensor`]: the extents are constants of the program. Never an error.
    #[track_caller]
    pub fn from_tensor_concrete_shape(t: Tensor) -> Result<TracedTensor> {
        Ok(TracedTensor::from_tensor(t))
    }

    /// A placeholder, whose array is passed when the program runs. Extents are numbers, symbols
    /// (`Dim::sym("n")`: the same extent at every occurrence) or unknown
    /// ([`TracedTensor::unknown`]).
    ///
    /// ```
    /// use cotangent::runtime::{GraphCompiler, GraphExecutor, TracedTensor};
    /// use cotangent::{DType, Dim, Tensor, cpu::CpuBackend};
    ///
    /// let x = TracedTensor::input(DType::F64, vec![Dim::sym("n")]);
    /// let program = GraphCompiler::new().compile(&(&x * &x).reduce_sum(&[0]))?;
    /// let executor = GraphExecutor::new(CpuBackend::new());
    /// for n in [1, 4] {
    ///     let ones = Tensor::from_vec_col_major(vec![n], vec![1.0; n])?;
    ///     let y = executor.run_with_inputs(&program, &[(&x, &ones)])?;
    ///     assert_eq!(y.as_slice::<f64>().unwrap(), &[n as f64]);
    /// }
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn input(dtype: DType, shape: impl Into<Shape>) -> TracedTensor {
        TracedTensor::of(
            TraceNodeKind::Input(None),
            smallvec![Type::new(dtype, shape)],
            here(),
        )
    }

    /// A placeholder with a name, used in messages.
    #[track_caller]
    pub fn input_named(name: &str, dtype: DType, shape: impl Into<Shape>) -> TracedTensor {
        TracedTensor::of(
            TraceNodeKind::Input(Some(name.into())),
            smallvec![Type::new(dtype, shape)],
            here(),
        )
    }

    /// An unknown extent: a fresh symbol, distinct from all other extents until the program runs.
    pub fn unknown() -> Dim {
        Dim::sym(&format!("?{}", fresh_id()))
    }

    /// The extents, or the error that this tensor carries.
    #[track_caller]
    pub fn shape(&self) -> Result<Shape> {
        Ok(self.ty()?.shape)
    }

    /// The element type, or the error that this tensor carries.
    #[track_caller]
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.ty()?.dtype)
    }

    /// Number of axes, or the error that this tensor carries.
    #[track_caller]
    pub fn rank(&self) -> Result<usize> {
        Ok(self.ty()?.rank())
    }

    /// Whether its array is stored: it was made from an array, or was computed.
    pub fn is_concrete(&self) -> bool {
        self.array().is_some()
    }

    /// Whether its array can be computed: it carries no error, and depends on no placeholder.
    ///
    /// ```
    /// use cotangent::{DType, TracedTensor};
    /// let x = TracedTensor::vector(vec![3.0, 4.0]);
    /// let y = x.norm(&[0]);
    /// assert!(y.is_known() && !y.is_concrete());
    /// assert_eq!(y.item::<f64>()?, 5.0);
    /// assert!(y.is_concrete()); // it is not computed again
    /// assert!(!TracedTensor::input(DType::F64, [2]).exp().is_known());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn is_known(&self) -> bool {
        !self.node.open && !matches!(self.node.kind, TraceNodeKind::Failed(_))
    }

    /// The tensor as an array, which is a constant of programs that read it. `self` stores the
    /// array, as in [`to_tensor`](Self::to_tensor), and remains differentiable. An error if it is
    /// not [known](Self::is_known).
    ///
    /// ```
    /// use cotangent::{TracedTensor, TracedTensorAdExt};
    /// let x = TracedTensor::scalar(3.0);
    /// let y = x.square();
    /// let array = y.evaluate()?;
    /// // The array is a constant of a derivative, the tensor is not.
    /// assert_eq!((&array * &x).grad(&x)?.item::<f64>()?, 9.0);
    /// assert_eq!((&y * &x).grad(&x)?.item::<f64>()?, 27.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn evaluate(&self) -> Result<TracedTensor> {
        Ok(TracedTensor::from_tensor(self.to_tensor()?))
    }

    /// Whether `other` is the same value of the program, not only equal elements.
    pub fn same(&self, other: &TracedTensor) -> bool {
        self.node.id == other.node.id && self.index == other.index
    }

    /// The array. It is computed by the first call, together with intermediate tensors that the
    /// program still refers to, and stored. Placeholders are an error.
    #[track_caller]
    pub fn to_tensor(&self) -> Result<Tensor> {
        evaluate_all(&[self]).at_caller()?;
        let array = self.array().expect("it was evaluated");
        match self.like {
            None => Ok(array.clone()),
            Some(_) => {
                let order = Orders::of(&[self], &[]).results(std::iter::empty(), &[]);
                Tensor::computed(array.view().clone(), order[0])
            }
        }
    }

    /// The only element, as [`to_tensor`](Self::to_tensor) computes it.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.to_tensor()?.item()
    }

    /// The elements in the tensor's memory order, as [`to_tensor`](Self::to_tensor) computes them.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.to_tensor()?.to_vec()
    }

    /// Operation or name, and type.
    pub(crate) fn described(&self) -> String {
        match (&self.node.kind, self.ty()) {
            (TraceNodeKind::Op(op), Ok(t)) => format!("TracedTensor({} -> {t})", op.name()),
            (TraceNodeKind::Input(Some(n)), Ok(t)) => format!("TracedTensor({n}: {t})"),
            (_, Ok(t)) => format!("TracedTensor({t})"),
            (_, Err(e)) => format!("TracedTensor(error: {e})"),
        }
    }

    /// The array to print, unless it cannot be computed.
    fn printed(&self) -> Option<Tensor> {
        self.is_known().then(|| self.to_tensor().ok()).flatten()
    }
}

impl fmt::Display for TracedTensor {
    /// Prints the elements in the format of [`Tensor`], computing them first; of a tensor that is
    /// not known, its operation or name, and its type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.printed() {
            Some(t) => fmt::Display::fmt(&t, f),
            None => f.write_str(&self.described()),
        }
    }
}

impl fmt::Debug for TracedTensor {
    /// Prints the elements on one line, computing them first, with long axes abridged; of a tensor
    /// that is not known, its operation or name, and its type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.printed() {
            Some(t) => {
                f.write_str("TracedTensor(")?;
                fmt::Display::fmt(&OneLine(&t), f)?;
                write!(f, " {}{:?})", t.dtype(), t.shape())
            }
            None => f.write_str(&self.described()),
        }
    }
}

impl From<Tensor> for TracedTensor {
    #[track_caller]
    fn from(t: Tensor) -> TracedTensor {
        TracedTensor::from_tensor(t)
    }
}

impl<T: Element> From<Vec<T>> for TracedTensor {
    /// A vector.
    #[track_caller]
    fn from(data: Vec<T>) -> TracedTensor {
        TracedTensor::vector(data)
    }
}

impl<T: Element, const N: usize> From<[T; N]> for TracedTensor {
    /// A vector.
    #[track_caller]
    fn from(data: [T; N]) -> TracedTensor {
        TracedTensor::vector(data.into())
    }
}

macro_rules! scalars {
    ($($t:ty)*) => { $(
        impl From<$t> for TracedTensor {
            /// A scalar.
            #[track_caller]
            fn from(x: $t) -> TracedTensor {
                TracedTensor::scalar(x)
            }
        }
    )* };
}

scalars! { f32 f64 i32 i64 }
