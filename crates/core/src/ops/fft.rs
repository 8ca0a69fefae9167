//! Discrete Fourier transforms along an axis, without scale factors, and their adjoints.
//!
//! ```text
//! fft           y[k] = Σ_j x[j] e^(-2πi jk/n)                    k < n
//! fft_adjoint   y[j] = Σ_k x[k] e^(+2πi jk/n)                    n times the inverse
//! rfft          as fft, of a real x                              k <= n/2
//! rfft_adjoint  y[j] = Re Σ_k x[k] e^(+2πi jk/n), k <= n/2       real, n elements
//! ```
//! All are linear over the reals. The inverses and transforms over several axes are composites:
//! `irfft` is `rfft_adjoint` of `x` times 1/n at both ends of the spectrum and 2/n between.

use super::Comparison;
use super::entry::{Entry, Spelled, arity};
use super::support::{bytes, check_axis, count, lines, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::math::complex::root_of_unity;
use crate::ops::reduce::sum_c128;
use crate::ops::support::take_axis;
use crate::shape::{Dim, Env, Type};

/// The kinds of transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftKind {
    /// Complex to complex.
    Forward,
    /// The adjoint of `Forward`.
    Adjoint,
    /// Real operand to the first half of the spectrum.
    Real,
    /// The adjoint of `Real`.
    RealAdjoint,
}

/// A transform along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fft {
    /// The kind.
    pub kind: FftKind,
    /// The axis.
    pub axis: usize,
    /// The extent of the result of `rfft_adjoint`. 0 for the other kinds, whose extents follow from
    /// the operand.
    pub length: Dim,
}

/// Number of elements of the first half of a spectrum of `n` elements: `n / 2 + 1`.
fn half(n: &Dim) -> Dim {
    n.floor_div(2) + Dim::Const(1)
}

/// The complex type over a real one.
fn complex_of(d: DType) -> Option<DType> {
    match d {
        DType::F32 => Some(DType::C64),
        DType::F64 => Some(DType::C128),
        _ => None,
    }
}

impl Fft {
    /// A transform of a kind other than `RealAdjoint`.
    pub fn new(kind: FftKind, axis: usize) -> Fft {
        Fft {
            kind,
            axis,
            length: Dim::Const(0),
        }
    }
}

const NAMES: [(FftKind, &str, &str); 4] = [
    (
        FftKind::Forward,
        "fft",
        "Fourier transform along an axis: y[k] = sum x[j] e^(-2 pi i j k / n).",
    ),
    (
        FftKind::Adjoint,
        "fft_adjoint",
        "y[j] = sum x[k] e^(2 pi i j k / n): n times the inverse Fourier transform.",
    ),
    (
        FftKind::Real,
        "rfft",
        "The first n/2 + 1 elements of the Fourier transform of a real x along an axis.",
    ),
    (
        FftKind::RealAdjoint,
        "rfft_adjoint",
        "The real part of sum x[k] e^(2 pi i j k / n) over k <= n/2, n = length.",
    ),
];

impl Primitive for Fft {
    fn name(&self) -> &str {
        NAMES
            .iter()
            .find(|n| n.0 == self.kind)
            .expect("every kind has a name")
            .1
    }

    fn attrs(&self) -> Attrs {
        let a = Attrs::default().with("axis", self.axis);
        a.with_if(
            self.kind == FftKind::RealAdjoint,
            "length",
            self.length.clone(),
        )
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        let x = &x[0];
        check_axis(self, x, self.axis)?;
        let (n, mut shape) = (&x.shape[self.axis], x.shape.to_vec());
        let dtype = match self.kind {
            FftKind::Forward | FftKind::Adjoint => x.dtype.is_complex().then_some(x.dtype),
            FftKind::Real => complex_of(x.dtype),
            FftKind::RealAdjoint => x.dtype.is_complex().then_some(x.dtype.real()),
        };
        let Some(dtype) = dtype else {
            let want = if self.kind == FftKind::Real {
                "f32 or f64"
            } else {
                "complex numbers"
            };
            bail!(
                DTypeMismatch,
                "`{}` takes {want}, got {x}; convert it first",
                self.name()
            )
        };
        match self.kind {
            FftKind::Forward | FftKind::Adjoint => {}
            FftKind::Real => shape[self.axis] = half(n),
            FftKind::RealAdjoint => {
                if half(&self.length).same(n) == Some(false) {
                    bail!(
                        ShapeMismatch,
                        "`rfft_adjoint` to {} elements takes {} along axis {}, got {x}",
                        self.length,
                        half(&self.length),
                        self.axis
                    );
                }
                shape[self.axis] = self.length.clone();
            }
        }
        Ok(vec![Type::new(dtype, shape)])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let from = x[0].shape();
        let (mut shape, m) = (from.to_vec(), from[self.axis]);
        let n = if self.kind == FftKind::RealAdjoint {
            self.length.eval(env)?
        } else {
            m
        };
        shape[self.axis] = if self.kind == FftKind::Real {
            n / 2 + 1
        } else {
            n
        };
        let backward = matches!(self.kind, FftKind::Adjoint | FftKind::RealAdjoint);
        let roots: Vec<C128> = (0..n)
            .map(|t| root_of_unity(if backward { t } else { (n - t) % n }, n))
            .collect();
        let v = x[0].to_c128();
        let mut y = vec![C128::ZERO; shape.iter().product()];
        for (line, to) in lines(from, self.axis, false).zip(lines(&shape, self.axis, false)) {
            let at: Vec<usize> = line.collect();
            for (k, to) in to.enumerate() {
                let turn = |(j, &i): (usize, &usize)| {
                    v[i] * roots
                        .get((j as u128 * k as u128 % n.max(1) as u128) as usize)
                        .copied()
                        .unwrap_or(C128::ONE)
                };
                let terms: Vec<C128> = at.iter().enumerate().map(turn).collect();
                y[to] = sum_c128(&terms);
            }
        }
        let ty = &self.infer(&[x[0].ty()])?[0];
        let y = match ty.dtype.kind() {
            Kind::Float => Wide::F(y.into_iter().map(|z| z.re).collect()),
            _ => Wide::C(y),
        };
        Ok(vec![y.narrow(ty.dtype, shape)?])
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        let back = match self.kind {
            FftKind::Forward => Fft::new(FftKind::Adjoint, self.axis),
            FftKind::Adjoint => Fft::new(FftKind::Forward, self.axis),
            FftKind::Real => Fft {
                kind: FftKind::RealAdjoint,
                axis: self.axis,
                length: ty.shape[self.axis].clone(),
            },
            FftKind::RealAdjoint => Fft::new(FftKind::Real, self.axis),
        };
        Ok(vec![Some(cx.op(back, &[ct]))])
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.op(
            Fft {
                axis: self.axis + 1,
                ..self.clone()
            },
            &[x[0].val],
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let (x, y) = (&x[0], &y[0]);
        let n = [x, y].map(|t| t.shape[self.axis].as_const().unwrap_or(1) as f64);
        let all = count(x).max(count(y));
        Cost {
            flops: 5.0 * all * n[0].max(n[1]).max(2.0).log2(),
            bytes: bytes(x) + bytes(y),
        }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Fft {
                length: f(&self.length),
                ..self.clone()
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// The Fourier transform along an axis. A real operand is converted to complex.
    pub fn fft(&self, x: Val, axis: usize) -> Val {
        self.op(Fft::new(FftKind::Forward, axis), &[self.as_complex(x)])
    }

    /// The inverse Fourier transform along an axis. A real operand is converted to complex.
    pub fn ifft(&self, x: Val, axis: usize) -> Val {
        let y = self.op(Fft::new(FftKind::Adjoint, axis), &[self.as_complex(x)]);
        let ty = self.ty(y);
        let Some(n) = ty.shape.get(axis) else {
            return y;
        };
        self.mul(self.recip(self.extent(&ty, n)), y)
    }

    /// The first half of the Fourier transform of a real operand along an axis.
    pub fn rfft(&self, x: Val, axis: usize) -> Val {
        self.op(Fft::new(FftKind::Real, axis), &[x])
    }

    /// The inverse of `rfft`: real, with `length` elements along `axis`. The
    /// imaginary parts of the first element, and for even `length` of the last one, are ignored.
    pub fn irfft(&self, x: Val, length: impl Into<Dim>, axis: usize) -> Val {
        let (ty, length) = (self.ty(x), length.into());
        let Some(m) = ty.shape.get(axis).filter(|_| ty.dtype.is_complex()) else {
            // The type rule reports the error.
            return self.op(
                Fft {
                    kind: FftKind::RealAdjoint,
                    axis,
                    length,
                },
                &[x],
            );
        };
        let line = Type::new(ty.dtype.real(), vec![m.clone()]);
        let index = self.iota(&line.with_dtype(DType::I64), 0);
        let n = self.extent(&self.ty(index), &length);
        let twice = self.add(index, index);
        let end = self.or(
            self.compare(index, Comparison::Eq, self.full_like(index, 0)),
            self.compare(twice, Comparison::Eq, n),
        );
        let weight = self.select(end, self.full(&line, 1.0), self.full(&line, 2.0));
        let weight = self.div(weight, self.extent(&line, &length));
        let weight = self.broadcast_in_dim(self.convert(weight, ty.dtype), &ty.shape, &[axis]);
        self.op(
            Fft {
                kind: FftKind::RealAdjoint,
                axis,
                length,
            },
            &[self.mul(weight, x)],
        )
    }

    /// The Fourier transform over several axes.
    pub fn fftn(&self, x: Val, axes: &[usize]) -> Val {
        axes.iter()
            .rev()
            .fold(self.as_complex(x), |x, &a| self.fft(x, a))
    }

    /// The inverse Fourier transform over several axes.
    pub fn ifftn(&self, x: Val, axes: &[usize]) -> Val {
        axes.iter()
            .rev()
            .fold(self.as_complex(x), |x, &a| self.ifft(x, a))
    }

    /// The Fourier transform of a real operand over several axes: the first half of the spectrum
    /// along the last of them.
    pub fn rfftn(&self, x: Val, axes: &[usize]) -> Val {
        match axes.split_last() {
            Some((&last, rest)) => self.fftn(self.rfft(x, last), rest),
            None => self.as_complex(x),
        }
    }

    /// The inverse of `rfftn`, with the extent of the last axis.
    pub fn irfftn(&self, x: Val, length: impl Into<Dim>, axes: &[usize]) -> Val {
        match axes.split_last() {
            Some((&last, rest)) => self.irfft(self.ifftn(x, rest), length, last),
            None => self.real(x),
        }
    }

    fn as_complex(&self, x: Val) -> Val {
        let d = self.ty(x).dtype;
        let to = if d == DType::F64 {
            DType::C128
        } else {
            DType::C64
        };
        if d.is_complex() {
            x
        } else {
            self.convert(x, to)
        }
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let kind = NAMES
        .iter()
        .find(|n| n.1 == s.name)
        .map_or(FftKind::Forward, |n| n.0);
    let axis = take_axis(s)?;
    let length = if kind == FftKind::RealAdjoint {
        s.attrs.get("length")?
    } else {
        Dim::Const(0)
    };
    Ok(Fft { kind, axis, length }.into())
}

fn samples(name: &str) -> Vec<Sample> {
    use DType::*;
    let kind = NAMES
        .iter()
        .find(|n| n.1 == name)
        .expect("a name of the table")
        .0;
    let f = |axis: usize, dtype, shape: &[usize]| {
        let mut shape = shape.to_vec();
        let length = if kind == FftKind::RealAdjoint {
            shape[axis]
        } else {
            0
        };
        if kind == FftKind::RealAdjoint {
            shape[axis] = length / 2 + 1;
        }
        let dtype = if kind == FftKind::Real {
            dtype
        } else {
            complex_of(dtype).expect("f32 or f64")
        };
        Sample::new(
            Fft {
                kind,
                axis,
                length: length.into(),
            },
            vec![sample_array(dtype, &shape, 0)],
        )
    };
    vec![
        f(0, F64, &[5]),
        f(1, F64, &[2, 4]),
        f(0, F32, &[3, 2]),
        f(0, F64, &[1]),
        f(1, F64, &[2, 2, 2]),
        f(1, F64, &[0, 3]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    NAMES
        .iter()
        .map(|&(_, name, doc)| Entry {
            name,
            doc,
            parse,
            samples,
        })
        .collect()
}
