//! Operands of each kind of tensor, and results as plain tensors.

use cotangent::{C128, DType, EagerRuntime, EagerTensor, Tensor, TracedTensor};
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
        w: f(Tensor::vector(vec![0.5, -2.0])),
        c: f(Tensor::scalar(1i64)),
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

/// Results of a method as plain tensors, or the text of its error.
pub(crate) trait Outs {
    fn outs(self) -> Result<Vec<Tensor>, String>;
}

impl Outs for Tensor {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        Ok(vec![self])
    }
}

impl Outs for EagerTensor {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        self.to_tensor().outs()
    }
}

impl Outs for TracedTensor {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        self.to_tensor().outs()
    }
}

impl<T: Outs, E: Display> Outs for Result<T, E> {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        self.map_err(|e| e.to_string())?.outs()
    }
}

impl<T: Outs> Outs for Vec<T> {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        let all = self.into_iter().map(Outs::outs);
        Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

impl<T: Outs> Outs for (T, T) {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        vec![self.0, self.1].outs()
    }
}

impl<T: Outs> Outs for (T, T, T) {
    fn outs(self) -> Result<Vec<Tensor>, String> {
        vec![self.0, self.1, self.2].outs()
    }
}

/// Whether the tensors have the same types, shapes and bits.
pub(crate) fn same(x: &[Tensor], y: &[Tensor]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same_bits(y))
}
