//! [`Kernel`]: an operation made ready for the element types of its operands, as a closure over tensors.

use crate::tensor::{Extents, Tensor};
use cotangent_core::{Env, Result, Shape};
use smallvec::{SmallVec, smallvec};

/// The operands of one call, owned: what nobody else refers to may be written over.
pub type Operands = SmallVec<[Tensor; 3]>;
/// The results of one call.
pub type Results = SmallVec<[Tensor; 1]>;

/// What runs when an equation is reached. Operand types have been checked; the extents of symbols
/// come with the call.
pub type Kernel = Box<dyn Fn(&Env, Operands) -> Result<Results> + Send + Sync>;

/// Which results of an equation are read: what a kernel gives in place of the others is not looked
/// at.
#[derive(Clone, Copy)]
pub(crate) struct UsedResults {
    read: u64,
    first: usize,
}

impl UsedResults {
    /// Every one.
    pub(crate) const ALL: UsedResults = UsedResults {
        read: u64::MAX,
        first: usize::MAX,
    };

    /// Those that `read` names; of very many, all that come late.
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

    /// Of all results only the `first` elements along the axis of the operation are read.
    pub(crate) fn only(self, first: usize) -> UsedResults {
        UsedResults { first, ..self }
    }

    /// Whether result `k` is read.
    pub(crate) fn has(self, k: usize) -> bool {
        k >= 64 || self.read >> k & 1 == 1
    }

    /// The number of elements that are read along the axis of the operation, at most.
    pub(crate) fn first(self) -> usize {
        self.first
    }
}

/// A kernel of `N` operands and one result.
pub(crate) fn kernel<const N: usize>(
    f: impl Fn(&Env, [Tensor; N]) -> Result<Tensor> + Send + Sync + 'static,
) -> Kernel {
    Box::new(move |env, x| Ok(smallvec![f(env, operands(x))?]))
}

/// The operands as an array.
pub(crate) fn operands<const N: usize>(x: Operands) -> [Tensor; N] {
    let mut x = x.into_iter();
    std::array::from_fn(|_| {
        x.next()
            .expect("the type rule checked the number of operands")
    })
}

/// Extents of an attribute: known, or evaluated in every call.
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
            Sizes::Known(known) => Ok(known.clone()),
            Sizes::Open(shape) => shape.iter().map(|d| d.eval(env)).collect(),
        }
    }

    pub(crate) fn rank(&self) -> usize {
        match self {
            Sizes::Known(known) => known.len(),
            Sizes::Open(shape) => shape.rank(),
        }
    }

    /// Whether these are the extents.
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
