//! Errors of eager tensors: errors of their own, and all errors of the core.

use cotangent_core::Code;
use std::fmt;

/// Result with an eager [`Error`].
///
/// ```
/// use cotangent::ad::{EagerRuntime, Result};
/// fn squared(x: f64) -> Result<f64> {
///     let x = EagerRuntime::new().constant_from(cotangent::Tensor::scalar(x))?;
///     x.mul(&x)?.item()
/// }
/// assert_eq!(squared(3.0)?, 9.0);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an eager computation.
///
/// ```
/// use cotangent::ad::{EagerRuntime, Error};
/// use cotangent::{Code, Tensor};
/// let x = EagerRuntime::new().variable_from(Tensor::vector(vec![1.0, 2.0]))?;
/// match x.mul(&x)?.backward() {
///     Err(e @ Error::NonScalarGrad { .. }) => assert_eq!(e.code(), Code::NonScalarOutput),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone)]
pub enum Error {
    /// A `backward` call on a tensor that is not a scalar.
    NonScalarGrad {
        /// Its extents.
        shape: Vec<usize>,
    },
    /// Tensors of two runtimes in one operation.
    ContextMismatch {
        /// The runtime of the first operand.
        lhs: u64,
        /// The runtime of the other.
        rhs: u64,
    },
    /// A pass through an operation whose saved values were released by a pass with
    /// [`free_graph`](super::BackwardOptions::free_graph).
    GraphFreed {
        /// The operation.
        op: String,
    },
    /// An in-place modification of elements that a derivative depends on.
    ModifiedInPlace {
        /// The attempted modification, in words for the message.
        what: String,
    },
    /// Any other error.
    Core(cotangent_core::Error),
}

impl Error {
    /// The stable error code.
    pub fn code(&self) -> Code {
        match self {
            Error::NonScalarGrad { .. } => Code::NonScalarOutput,
            Error::ContextMismatch { .. } => Code::ForeignValue,
            Error::GraphFreed { .. } => Code::GraphFreed,
            Error::ModifiedInPlace { .. } => Code::ModifiedInPlace,
            Error::Core(e) => e.code(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NonScalarGrad { shape } => write!(
                f,
                "backward needs a scalar (rank 0), got shape {shape:?}: reduce it with sum(..), or use vjp with a cotangent"
            ),
            Error::ContextMismatch { lhs, rhs } => {
                write!(
                    f,
                    "tensors of two runtimes (#{lhs} and #{rhs}) in one operation: move one with detach_into"
                )
            }
            Error::GraphFreed { op } => write!(
                f,
                "backward a second time: the values saved for `{op}` were released by a pass with free_graph; keep the graph in that pass"
            ),
            Error::ModifiedInPlace { what } => write!(f, "{what}"),
            Error::Core(e) => e.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NonScalarGrad { .. } => f.write_str("NonScalarGrad: ")?,
            Error::ContextMismatch { .. } => f.write_str("ContextMismatch: ")?,
            Error::GraphFreed { .. } => f.write_str("GraphFreed: ")?,
            Error::ModifiedInPlace { .. } => f.write_str("ModifiedInPlace: ")?,
            Error::Core(_) => {}
        }
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<cotangent_core::Error> for Error {
    fn from(e: cotangent_core::Error) -> Error {
        Error::Core(e)
    }
}

impl From<Error> for cotangent_core::Error {
    fn from(e: Error) -> cotangent_core::Error {
        match e {
            Error::Core(e) => e,
            e => cotangent_core::Error::new(e.code(), e.to_string()),
        }
    }
}
