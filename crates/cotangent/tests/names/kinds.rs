//! Operands of each kind of tensor, and results as plain tensors.

use cotangent::{C128, EagerRuntime, EagerTensor, Tensor, TracedTensor, ad};
use std::fmt::Debug;

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

fn operands<T>(f: impl Fn(Tensor) -> T) -> Operands<T> {
    let reals = |v: [f64; 6]| f(Tensor::from_vec_row_major([2, 3], v.to_vec()).unwrap());
    let small = |v: [i32; 6]| f(Tensor::from_vec_row_major([2, 3], v.to_vec()).unwrap());
    let z = (0..6)
        .map(|k| C128::new(f64::from(k) - 2.0, 0.5 * f64::from(k)))
        .collect::<Vec<_>>();
    Operands {
        a: reals([0.5, -1.25, 2.5, 1.5, -0.75, 3.0]),
        b: reals([1.5, 2.0, 2.5, 1.25, 1.75, 4.0]),
        p: reals([0.5, 0.125, 0.25, 0.75, 0.3125, 0.9375]),
        s: f(Tensor::from_vec_row_major([2, 2], vec![4.0, 1.0, 1.0, 3.0]).unwrap()),
        r: f(Tensor::from_vec_row_major([1, 3], vec![0.5, -2.0, 1.0]).unwrap()),
        v: f(Tensor::vector(vec![0.5, -2.0, 1.0])),
        z: f(Tensor::from_vec_row_major([2, 3], z).unwrap()),
        i: small([5, -3, 12, 7, 0, -1]),
        j: small([1, 2, 3, 0, 4, 2]),
        q: f(
            Tensor::from_vec_row_major([2, 3], vec![true, false, true, true, false, false])
                .unwrap(),
        ),
        n: f(Tensor::vector(vec![2i64, 0])),
        k: f(Tensor::from_vec_row_major([2, 3], vec![2i64, 0, 1, 1, 0, 2]).unwrap()),
    }
}

pub(crate) fn plain() -> Operands<Tensor> {
    operands(|t| t)
}

pub(crate) fn eager() -> Operands<EagerTensor> {
    let rt = EagerRuntime::new();
    operands(|t| rt.constant_from(t).unwrap())
}

pub(crate) fn traced() -> Operands<TracedTensor> {
    operands(TracedTensor::from_tensor)
}

/// Results of a method, as plain tensors.
pub(crate) trait Outs {
    fn outs(self, name: &str) -> Vec<Tensor>;
}

impl Outs for Tensor {
    fn outs(self, _: &str) -> Vec<Tensor> {
        vec![self]
    }
}

impl Outs for EagerTensor {
    fn outs(self, name: &str) -> Vec<Tensor> {
        vec![
            self.to_tensor()
                .unwrap_or_else(|e: ad::Error| panic!("{name}: {e}")),
        ]
    }
}

impl Outs for TracedTensor {
    fn outs(self, name: &str) -> Vec<Tensor> {
        vec![self.to_tensor().unwrap_or_else(|e| panic!("{name}: {e}"))]
    }
}

impl<T: Outs, E: Debug> Outs for Result<T, E> {
    fn outs(self, name: &str) -> Vec<Tensor> {
        self.unwrap_or_else(|e| panic!("{name}: {e:?}")).outs(name)
    }
}

impl<T: Outs> Outs for Vec<T> {
    fn outs(self, name: &str) -> Vec<Tensor> {
        self.into_iter().flat_map(|t| t.outs(name)).collect()
    }
}

impl<T: Outs> Outs for (T, T) {
    fn outs(self, name: &str) -> Vec<Tensor> {
        [self.0.outs(name), self.1.outs(name)].concat()
    }
}

impl<T: Outs> Outs for (T, T, T) {
    fn outs(self, name: &str) -> Vec<Tensor> {
        [self.0.outs(name), self.1.outs(name), self.2.outs(name)].concat()
    }
}

/// Whether the tensors have the same types, shapes and bits.
pub(crate) fn same(x: &[Tensor], y: &[Tensor]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same_bits(y))
}
