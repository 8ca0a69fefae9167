//! Operands of methods: those that most methods accept, of each kind, and wrong ones.

use super::kinds::{Operands, operands};
use cotangent::{DType, EagerRuntime, EagerTensor, Tensor, TracedTensor};

pub(crate) fn of_plain(t: Tensor) -> Tensor {
    t
}

/// Constants of one runtime.
pub(crate) fn of_eager() -> impl Fn(Tensor) -> EagerTensor {
    let rt = EagerRuntime::new();
    move |t| rt.constant_from(t).unwrap()
}

pub(crate) fn plain() -> Operands<Tensor> {
    operands(of_plain)
}

pub(crate) fn eager() -> Operands<EagerTensor> {
    operands(of_eager())
}

pub(crate) fn traced() -> Operands<TracedTensor> {
    operands(TracedTensor::from_tensor)
}

/// Operands that most methods do not accept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wrong {
    /// Booleans of shapes that do not fit together.
    Booleans,
    /// Boolean scalars.
    Scalars,
    /// Floats of shapes that do not fit together.
    Floats,
    /// Complex vectors.
    Complex,
}

impl Wrong {
    pub(crate) const ALL: [Wrong; 4] = [
        Wrong::Booleans,
        Wrong::Scalars,
        Wrong::Floats,
        Wrong::Complex,
    ];

    pub(crate) fn operands<T>(self, f: impl Fn(Tensor) -> T) -> Operands<T> {
        let of = |shape: &[usize]| {
            let (dtype, shape) = match self {
                Wrong::Booleans => (DType::Bool, shape),
                Wrong::Scalars => (DType::Bool, &[][..]),
                Wrong::Floats => (DType::F64, shape),
                Wrong::Complex => (DType::C128, &shape[..1]),
            };
            f(Tensor::ones(dtype, shape).unwrap())
        };
        Operands {
            a: of(&[2, 4]),
            b: of(&[5, 3]),
            p: of(&[6, 4]),
            s: of(&[2, 3]),
            r: of(&[2, 2]),
            v: of(&[7]),
            w: of(&[3]),
            c: of(&[2]),
            z: of(&[3, 5]),
            i: of(&[2, 6]),
            j: of(&[4, 4]),
            q: of(&[3, 3]),
            n: of(&[2]),
            k: of(&[4, 2]),
        }
    }
}
