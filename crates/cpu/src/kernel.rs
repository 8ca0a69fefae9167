//! [`Kernel`]: an operation compiled for the element types of its operands, as a closure over
//! tensors.

use crate::tensor::{Extents, Tensor, copied};
use cotangent_core::{Env, Result, Shape};
use smallvec::{SmallVec, smallvec};

/// Operands of one call, owned. A kernel may overwrite a buffer that is not shared.
pub type Operands = SmallVec<[Tensor; 3]>;
/// Results of one call.
pub type Results = SmallVec<[Tensor; 1]>;

/// Compiled form of an equation. Operand types have been checked; the extents of symbols are passed
/// with each call.
pub type Kernel = Box<dyn Fn(&Env, Operands) -> Result<Results> + Send + Sync>;

/// Mask of the results of an equation that are read. A kernel may return anything in place of the
/// others.
#[derive(Clone, Copy)]
pub(crate) struct UsedResults {
    read: u64,
    first: usize,
}

impl UsedResults {
    /// All results, with all their elements.
    pub(crate) const ALL: UsedResults = UsedResults {
        read: u64::MAX,
        first: usize::MAX,
    };

    /// Results for which `read` is true. Results from the 65th on always count as read.
    pub(crate) fn of(read: impl Iterator<Item = bool>) -> UsedResults {
        let bits =
            read.take(64).enumerate().fold(
                u64::MAX,
                |all, (k, read)| if read { all } else { all & !(1 << k) },
            );
        UsedResults {
            read: bits,
            ..UsedResults::ALL
        }
    }

    /// Restricts the elements that are read to the `first` ones along the axis of the operation.
    pub(crate) fn only(self, first: usize) -> UsedResults {
        UsedResults { first, ..self }
    }

    /// Whether result `k` is read.
    pub(crate) fn has(self, k: usize) -> bool {
        k >= 64 || self.read >> k & 1 == 1
    }

    /// Maximum number of elements that are read along the axis of the operation.
    pub(crate) fn first(self) -> usize {
        self.first
    }
}

/// Builds a kernel of `N` operands and one result.
pub(crate) fn kernel<const N: usize>(
    f: impl Fn(&Env, [Tensor; N]) -> Result<Tensor> + Send + Sync + 'static,
) -> Kernel {
    Box::new(move |env, x| Ok(smallvec![f(env, operands(x))?]))
}

/// The operands as an array. Not inlined: every kernel would have a copy.
#[inline(never)]
pub(crate) fn operands<const N: usize>(x: Operands) -> [Tensor; N] {
    let mut x = x.into_iter();
    std::array::from_fn(|_| {
        x.next()
            .expect("the type rule checked the number of operands")
    })
}

/// Extents of an attribute: constant, or evaluated in every call.
pub(crate) enum Sizes {
    Known(Extents),
    Open(Shape),
}

impl Sizes {
    pub(crate) fn of(shape: &Shape) -> Sizes {
        match shape.as_const() {
            Some(known) => Sizes::Known(known.into()),
            None => Sizes::Open(shape.clone()),
        }
    }

    pub(crate) fn at(&self, env: &Env) -> Result<Extents> {
        match self {
            Sizes::Known(known) => Ok(copied(known)),
            Sizes::Open(shape) => shape.iter().map(|d| d.eval(env)).collect(),
        }
    }

    pub(crate) fn rank(&self) -> usize {
        match self {
            Sizes::Known(known) => known.len(),
            Sizes::Open(shape) => shape.rank(),
        }
    }

    /// Whether `extents` equal the evaluated extents.
    pub(crate) fn fits(&self, extents: &[usize], env: &Env) -> bool {
        match self {
            Sizes::Known(known) => known.as_slice() == extents,
            Sizes::Open(shape) => shape
                .iter()
                .zip(extents)
                .all(|(d, n)| d.eval(env).ok() == Some(*n)),
        }
    }
}

/// The number of elements of operands.
pub(crate) fn elements(x: &[Tensor]) -> usize {
    x.iter().map(Tensor::numel).fold(0, usize::saturating_add)
}
