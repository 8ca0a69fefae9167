//! [`TracedTensor`]: how tensors are made, what they say of themselves, and their arrays.

use super::compiler::GraphCompiler;
use super::executor::GraphExecutor;
use super::node::{Kind, TracedTensor, fresh_id};
use crate::here::here;
use crate::{DType, Dim, Element, Result, Shape, Tensor, Type};
use smallvec::smallvec;
use std::fmt;

impl TracedTensor {
    /// An array whose elements are given column by column (the first axis fastest). A wrong number
    /// of elements is an error when the program is compiled.
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

    /// An array whose elements are given row by row (the last axis fastest).
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
                TracedTensor::of(Kind::Value(t), smallvec![ty], here())
            }
            Err(e) => TracedTensor::failed(e.at(here())),
        }
    }

    /// A number, of rank 0.
    #[track_caller]
    pub fn scalar<T: Element>(x: T) -> TracedTensor {
        TracedTensor::given(Ok(Tensor::scalar(x)))
    }

    /// A tensor that is there already.
    #[track_caller]
    pub fn from_tensor(t: Tensor) -> TracedTensor {
        TracedTensor::given(Ok(t))
    }

    /// A tensor that is there already: its extents are known to the program.
    #[track_caller]
    pub fn from_tensor_concrete_shape(t: Tensor) -> Result<TracedTensor> {
        Ok(TracedTensor::from_tensor(t))
    }

    /// A placeholder: its array comes when the program runs. Extents may be numbers, symbols
    /// (`Dim::sym("n")`: the same size wherever it stands) or unknown ([`TracedTensor::unknown`]).
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
            Kind::Input(None),
            smallvec![Type::new(dtype, shape)],
            here(),
        )
    }

    /// A placeholder with a name for messages.
    #[track_caller]
    pub fn input_named(name: &str, dtype: DType, shape: impl Into<Shape>) -> TracedTensor {
        TracedTensor::of(
            Kind::Input(Some(name.into())),
            smallvec![Type::new(dtype, shape)],
            here(),
        )
    }

    /// An extent that is equal to no other as far as one knows before the program runs.
    pub fn unknown() -> Dim {
        Dim::sym(&format!("?{}", fresh_id()))
    }

    /// The extents, or the error that this tensor carries.
    pub fn shape(&self) -> Result<Shape> {
        Ok(self.ty()?.shape)
    }

    /// The element type, or the error that this tensor carries.
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.ty()?.dtype)
    }

    /// Number of axes, or the error that this tensor carries.
    pub fn rank(&self) -> Result<usize> {
        Ok(self.ty()?.rank())
    }

    /// Whether its array is known: it was given, not computed.
    pub fn is_concrete(&self) -> bool {
        matches!(self.node.kind, Kind::Value(..))
    }

    /// Whether `other` is the same value, not merely an equal one.
    pub fn same(&self, other: &TracedTensor) -> bool {
        self.node.id == other.node.id && self.index == other.index
    }

    /// Compiles and runs what this tensor needs; placeholders are an error.
    pub fn to_tensor(&self) -> Result<Tensor> {
        let program = GraphCompiler::new().compile(self)?;
        GraphExecutor::default().run(&program)
    }
}

impl fmt::Debug for TracedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.node.kind, self.ty()) {
            (Kind::Op(op, _), Ok(t)) => write!(f, "TracedTensor({} -> {t})", op.name()),
            (Kind::Input(Some(n)), Ok(t)) => write!(f, "TracedTensor({n}: {t})"),
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
