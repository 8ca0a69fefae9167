//! Errors of eager tensors: errors of their own, and all errors of the core.

use super::context_id::ContextId;
use crate::here::{AtCaller, here};
use cotangent_core::{Code, Loc};
use std::fmt;
use std::ops::Deref;

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
        shape: Located<Vec<usize>>,
    },
    /// Tensors of two runtimes in one operation.
    ContextMismatch {
        /// The runtime of the first operand.
        lhs: Located<ContextId>,
        /// The runtime of the other.
        rhs: Located<ContextId>,
    },
    /// A pass through an operation whose saved values were released by a pass with
    /// [`free_graph`](super::BackwardOptions::free_graph).
    GraphFreed {
        /// The operation.
        op: Located<String>,
    },
    /// An in-place modification of elements that a derivative depends on.
    ModifiedInPlace {
        /// The attempted modification, in words for the message.
        what: Located<String>,
    },
    /// A defect of this library.
    Internal(String),
    /// Any other error.
    Core(cotangent_core::Error),
}

/// A field of an [`Error`], with the source location of the call that failed. It is used as the
/// value itself.
///
/// ```
/// use cotangent::ad::{EagerRuntime, Error, Located};
/// let x = EagerRuntime::new().variable_from(cotangent::Tensor::vector(vec![1.0, 2.0]))?;
/// let error = x.backward().unwrap_err();
/// assert!(error.to_string().contains(".rs:"), "{error}");
/// let Error::NonScalarGrad { shape } = error else { panic!() };
/// assert_eq!((&shape[..], shape.len()), (&[2][..], 1));
/// let shape: Vec<usize> = Located::into_inner(shape);
/// assert_eq!(shape, [2]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone)]
pub struct Located<T> {
    value: T,
    loc: Loc,
}

impl<T> Located<T> {
    /// The value alone.
    pub fn into_inner(this: Located<T>) -> T {
        this.value
    }

    fn set_loc(&mut self, loc: Loc) {
        if self.loc == Loc::None {
            self.loc = loc;
        }
    }
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Located<T> {
        Located {
            value,
            loc: Loc::None,
        }
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq<U>, U> PartialEq<U> for Located<T> {
    fn eq(&self, other: &U) -> bool {
        self.value == *other
    }
}

impl<T: fmt::Debug> fmt::Debug for Located<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Located<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Error {
    /// The stable error code.
    pub fn code(&self) -> Code {
        match self {
            Error::NonScalarGrad { .. } => Code::NonScalarOutput,
            Error::ContextMismatch { .. } => Code::ForeignValue,
            Error::GraphFreed { .. } => Code::GraphFreed,
            Error::ModifiedInPlace { .. } => Code::ModifiedInPlace,
            Error::Internal(_) => Code::Invalid,
            Error::Core(e) => e.code(),
        }
    }

    /// Sets the source location, unless one is already set.
    pub(super) fn at(mut self, loc: Loc) -> Error {
        match &mut self {
            Error::NonScalarGrad { shape } => shape.set_loc(loc),
            Error::ContextMismatch { lhs, rhs } => {
                lhs.set_loc(loc);
                rhs.set_loc(loc);
            }
            Error::GraphFreed { op } => op.set_loc(loc),
            Error::ModifiedInPlace { what } => what.set_loc(loc),
            Error::Internal(_) => {}
            Error::Core(e) => return Error::Core(e.clone().at(loc)),
        }
        self
    }

    /// The message and the source location of an error other than one of the core.
    fn message(&self) -> (String, Loc) {
        match self {
            Error::NonScalarGrad { shape } => (
                format!(
                    "backward needs a scalar (rank 0), got shape {shape:?}: reduce it with sum(..), or use vjp with a cotangent"
                ),
                shape.loc,
            ),
            Error::ContextMismatch { lhs, rhs } => (
                format!(
                    "tensors of two runtimes ({lhs} and {rhs}) in one operation: move one with detach_into"
                ),
                lhs.loc,
            ),
            Error::GraphFreed { op } => (
                format!(
                    "backward a second time: the values saved for `{op}` were released by a pass with free_graph; keep the graph in that pass"
                ),
                op.loc,
            ),
            Error::ModifiedInPlace { what } => (what.to_string(), what.loc),
            Error::Internal(what) => (
                format!("a defect of this library, please report it: {what}"),
                Loc::None,
            ),
            Error::Core(e) => (e.message().to_owned(), e.loc()),
        }
    }
}

impl<T> AtCaller for Result<T> {
    #[track_caller]
    fn at_caller(self) -> Result<T> {
        let loc = here();
        self.map_err(|e| e.at(loc))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cotangent_core::Error::from(self.clone()).fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NonScalarGrad { .. } => f.write_str("NonScalarGrad: ")?,
            Error::ContextMismatch { .. } => f.write_str("ContextMismatch: ")?,
            Error::GraphFreed { .. } => f.write_str("GraphFreed: ")?,
            Error::ModifiedInPlace { .. } => f.write_str("ModifiedInPlace: ")?,
            Error::Internal(_) => f.write_str("Internal: ")?,
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
            e => {
                let (message, loc) = e.message();
                cotangent_core::Error::new(e.code(), message).at(loc)
            }
        }
    }
}
