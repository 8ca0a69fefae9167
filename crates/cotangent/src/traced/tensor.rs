//! Constructors of [`TracedTensor`], its types, and its array.

use super::compiler::GraphCompiler;
use super::executor::GraphExecutor;
use super::node::{TraceNodeKind, TracedTensor, fresh_id};
use crate::here::here;
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

    /// Whether it has an array: it is neither a placeholder nor computed.
    pub fn is_concrete(&self) -> bool {
        matches!(self.node.kind, TraceNodeKind::Value(..))
    }

    /// Whether `other` is the same value of the program, not only equal elements.
    pub fn same(&self, other: &TracedTensor) -> bool {
        self.node.id == other.node.id && self.index == other.index
    }

    /// The only element of the tensor that [`to_tensor`](Self::to_tensor) computes.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.to_tensor()?.item()
    }

    /// Compiles and runs the program of this tensor. Placeholders are an error.
    #[track_caller]
    pub fn to_tensor(&self) -> Result<Tensor> {
        let program = GraphCompiler::new().compile(self)?;
        GraphExecutor::default().run(&program)
    }
}

impl fmt::Debug for TracedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.node.kind, self.ty()) {
            (TraceNodeKind::Op(op, _), Ok(t)) => write!(f, "TracedTensor({} -> {t})", op.name()),
            (TraceNodeKind::Input(Some(n)), Ok(t)) => write!(f, "TracedTensor({n}: {t})"),
            (_, Ok(t)) => write!(f, "TracedTensor({t})"),
            (_, Err(e)) => write!(f, "TracedTensor(error: {e})"),
        }
    }
}

impl From<Tensor> for TracedTensor {
    #[track_caller]
    fn from(t: Tensor) -> TracedTensor {
        TracedTensor::from_tensor(t)
    }
}

impl From<f64> for TracedTensor {
    fn from(x: f64) -> TracedTensor {
        TracedTensor::scalar(x)
    }
}
