//! Operands of methods for each kind of tensor, and results as lists.

use cotangent::{C128, EagerTensor, Tensor, TracedTensor};
use std::fmt::Display;

/// Operands of one kind.
pub(crate) struct Operands<T> {
    /// Reals of both signs, `f64[2, 3]`, with ties of rounding and an infinity.
    pub a: T,
    /// Reals of at least 1, `f64[2, 3]`, some equal to those of `a`.
    pub b: T,
    /// Numbers in (0, 1), `f64[2, 3]`.
    pub p: T,
    /// A positive definite matrix, `f64[2, 2]`.
    pub s: T,
    /// A row, `f64[1, 3]`.
    pub r: T,
    /// A vector, `f64[3]`.
    pub v: T,
    /// A vector, `f64[2]`.
    pub w: T,
    /// A position, `i64[]`.
    pub c: T,
    /// Complex numbers, `c128[2, 3]`.
    pub z: T,
    /// Integers, `i32[2, 3]`.
    pub i: T,
    /// Small integers, `i32[2, 3]`.
    pub j: T,
    /// Booleans, `i1[2, 3]`.
    pub q: T,
    /// Positions in an axis of extent 3, `i64[2]`.
    pub n: T,
    /// Positions in an axis of extent 3, `i64[2, 3]`.
    pub k: T,
}

/// The operands, row-major, made to tensors of a kind by `f` in the order of the fields.
pub(crate) fn operands<T>(mut f: impl FnMut(Tensor) -> T) -> Operands<T> {
    let reals = |v: [f64; 6]| Tensor::from_vec_row_major([2, 3], v.to_vec()).unwrap();
    let small = |v: [i32; 6]| Tensor::from_vec_row_major([2, 3], v.to_vec()).unwrap();
    let z = (0..6)
        .map(|k| C128::new(f64::from(k) - 2.0, 0.5 * f64::from(k)))
        .collect::<Vec<_>>();
    Operands {
        a: f(reals([0.5, -1.25, 2.5, 1.5, -0.75, 3.0])),
        b: f(reals([1.5, 2.0, 2.5, 1.25, 1.75, 4.0])),
        p: f(reals([0.5, 0.125, 0.25, 0.75, 0.3125, 0.9375])),
        s: f(Tensor::from_vec_row_major([2, 2], vec![4.0, 1.0, 1.0, 3.0]).unwrap()),
        r: f(Tensor::from_vec_row_major([1, 3], vec![0.5, -2.0, 1.0]).unwrap()),
        v: f(Tensor::vector(vec![0.5, -2.0, 1.0])),
        w: f(Tensor::vector(vec![0.5, -2.0])),
        c: f(Tensor::scalar(1i64)),
        z: f(Tensor::from_vec_row_major([2, 3], z).unwrap()),
        i: f(small([5, -3, 12, 7, 0, -1])),
        j: f(small([1, 2, 3, 0, 4, 2])),
        q: f(
            Tensor::from_vec_row_major([2, 3], vec![true, false, true, true, false, false])
                .unwrap(),
        ),
        n: f(Tensor::vector(vec![2i64, 0])),
        k: f(Tensor::from_vec_row_major([2, 3], vec![2i64, 0, 1, 1, 0, 2]).unwrap()),
    }
}

/// A kind of tensors.
pub(crate) trait TensorKind {
    /// The elements, or the text of the error.
    fn to_plain(&self) -> Result<Tensor, String>;
}

impl TensorKind for Tensor {
    fn to_plain(&self) -> Result<Tensor, String> {
        Ok(self.clone())
    }
}

impl TensorKind for EagerTensor {
    fn to_plain(&self) -> Result<Tensor, String> {
        self.to_tensor().map_err(|e| e.to_string())
    }
}

impl TensorKind for TracedTensor {
    fn to_plain(&self) -> Result<Tensor, String> {
        self.to_tensor().map_err(|e| e.to_string())
    }
}

/// Results of a method as plain tensors, or the text of an error.
pub(crate) fn all_plain<T: TensorKind>(y: Result<Vec<T>, String>) -> Result<Vec<Tensor>, String> {
    y?.iter().map(TensorKind::to_plain).collect()
}

/// Results of a method as a list, or the text of an error.
pub(crate) trait Outs {
    /// The kind of the results.
    type One;

    fn outs(self) -> Result<Vec<Self::One>, String>;
}

macro_rules! outs {
    ($($T:ty),*) => {$(
        impl Outs for $T {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self])
            }
        }
        impl Outs for Vec<$T> {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(self)
            }
        }
        impl Outs for ($T, $T) {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self.0, self.1])
            }
        }
        impl Outs for ($T, $T, $T) {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self.0, self.1, self.2])
            }
        }
    )*};
}

outs!(Tensor, EagerTensor, TracedTensor);

impl<T: Outs, E: Display> Outs for Result<T, E> {
    type One = T::One;
    fn outs(self) -> Result<Vec<T::One>, String> {
        self.map_err(|e| e.to_string())?.outs()
    }
}
