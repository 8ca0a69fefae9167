//! Traced tensors: programs that are written lazily, differentiated, compiled and run.
//!
//! A [`TracedTensor`] is a value of a program that nobody has run yet. Operations on it make
//! further values and never fail at once: an error travels with the tensor to
//! [`GraphCompiler::compile`], and names the line that made it.
//!
//! ```
//! use cotangent::runtime::{GraphCompiler, GraphExecutor, TracedTensor};
//! use cotangent::{ad::TracedTensorAdExt, cpu::CpuBackend};
//!
//! let x = TracedTensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0]);
//! let loss = (&x * &x).reduce_sum(&[0]);
//! let g = loss.grad(&x)?;
//! let program = GraphCompiler::new().compile(&g)?;
//! let y = GraphExecutor::new(CpuBackend::new()).run(&program)?;
//! assert_eq!(y.as_slice::<f64>().unwrap(), &[2.0, 4.0, 6.0]);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! Elements of several axes come in either order. A result is column-major when every array of more
//! than one axis that it was computed from is, and row-major otherwise; a derivative is listed as
//! what it was taken by or of.

mod cache;
mod compiler;
mod derive;
mod executor;
mod methods;
mod node;
mod operators;
mod orders;
mod record;
mod trace;

pub(crate) use cache::Cache;
pub use cache::CacheStats;
pub use compiler::{GraphCompiler, GraphProgram};
pub use derive::{AdContext, AdContextBuilder, TracedTensorAdExt};
pub use executor::GraphExecutor;
pub(crate) use node::{Kind, Node, fresh_id};
pub(crate) use orders::Orders;
pub(crate) use record::{aligned, record, record_in, record_one};
pub(crate) use trace::Trace;

use crate::{DType, Dim, Element, Error, Loc, Result, Shape, Tensor, Type};
pub(crate) use node::here;
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::sync::Arc;

/// A value of a program that is being written. Cheap to clone; a clone is the same value.
///
/// ```
/// use cotangent::{DType, Dim, TracedTensor};
/// let x = TracedTensor::input_named("x", DType::F32, vec![Dim::sym("n"), 3.into()]);
/// let y = (x.exp() + 1.0).log().reduce_sum(&[1]);
/// assert_eq!((y.dtype()?, y.rank()?, y.is_concrete()), (DType::F32, 1, false));
/// assert_eq!(y.shape()?[0], x.shape()?[0]);
/// // What is known at once can be asked for.
/// let z = TracedTensor::from_vec_row_major([2], vec![3.0, 4.0]).norm(&[0]);
/// assert_eq!(z.to_tensor()?.item::<f64>()?, 5.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct TracedTensor {
    pub(crate) node: Arc<Node>,
    pub(crate) index: u32,
    /// For a derivative.
    like: Option<Arc<Like>>,
}

/// How a derivative is listed, which need not read what decides that.
pub(crate) struct Like {
    /// As this tensor.
    of: TracedTensor,
    /// Placeholders of what was differentiated: their arrays may be passed, whether or not they are
    /// read.
    from: Vec<TracedTensor>,
}

impl TracedTensor {
    fn of(kind: Kind, types: SmallVec<[Type; 1]>, loc: Loc) -> TracedTensor {
        TracedTensor::result(Node::new(kind, types, loc), 0)
    }

    /// A result of a node.
    pub(crate) fn result(node: Arc<Node>, index: usize) -> TracedTensor {
        TracedTensor {
            node,
            index: index as u32,
            like: None,
        }
    }

    /// The same value, listed as `of` is, which it is a derivative by or of.
    pub(crate) fn listed_as(self, of: &TracedTensor, from: &[TracedTensor]) -> TracedTensor {
        let of = of.like.as_ref().map_or(of, |like| &like.of).clone();
        let from = from
            .iter()
            .filter(|t| matches!(t.node.kind, Kind::Input(_)))
            .cloned()
            .collect();
        TracedTensor {
            like: Some(Arc::new(Like { of, from })),
            ..self
        }
    }

    pub(crate) fn failed(e: Error) -> TracedTensor {
        let loc = e.loc();
        TracedTensor::of(Kind::Failed(e), smallvec![], loc)
    }

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

    pub(crate) fn input_like(ty: Type, loc: Loc) -> TracedTensor {
        TracedTensor::of(Kind::Input(None), smallvec![ty], loc)
    }

    /// An extent that is equal to no other as far as one knows before the program runs.
    pub fn unknown() -> Dim {
        Dim::sym(&format!("?{}", fresh_id()))
    }

    /// Element type and shape, or the error that this tensor carries.
    pub fn ty(&self) -> Result<Type> {
        match &self.node.kind {
            Kind::Failed(e) => Err(e.clone()),
            _ => Ok(self.node.types[self.index as usize].clone()),
        }
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

    /// Node and index, then those of what it is listed as.
    fn ids(&self) -> [(u64, u32); 2] {
        let as_what = self.like.as_ref().map_or(self, |like| &like.of);
        [(self.node.id, self.index), (as_what.node.id, as_what.index)]
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
