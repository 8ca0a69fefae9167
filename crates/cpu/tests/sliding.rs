//! Convolutions, windows and Fourier transforms against the reference, at sizes for which kernels
//! use tiles and blocks.

mod common;

use common::{build, check, single};
use cotangent_core::check::Rng;
use cotangent_core::ops::{Convolution, Fft, FftKind, Op, ReduceWindow, Reduction, Sliding};
use cotangent_core::{Array, DType, Dim, Env, Type, Wide};

fn random(dtype: DType, shape: &[usize]) -> Array {
    Rng::new(shape.iter().sum::<usize>() as u64)
        .array(&Type::new(dtype, shape), &Env::default())
        .unwrap()
}

fn dims(v: &[usize]) -> Vec<Dim> {
    v.iter().map(|&d| d.into()).collect()
}

fn convolution(steps: [&[i64]; 4], extents: &[usize]) -> Convolution {
    let [stride, dilation, x_dilation, low] = steps.map(<[i64]>::to_vec);
    Convolution {
        sliding: Sliding {
            stride,
            dilation,
            x_dilation,
            low,
        },
        extents: dims(extents),
        stable: false,
        strong_zero: false,
    }
}

#[test]
fn convolutions_in_tiles() {
    let plain: [&[i64]; 4] = [&[1, 1], &[1, 1], &[1, 1], &[1, 1]];
    let cases = [
        // Many columns; many rows; both, with strides and dilations; few outputs; one element each;
        // a window of the whole operand.
        (
            convolution(plain, &[19, 23]),
            [1, 3, 2, 19, 23].to_vec(),
            [1, 5, 2, 3, 3].to_vec(),
        ),
        (
            convolution(plain, &[3, 3]),
            vec![1, 2, 7, 18, 18],
            vec![1, 4, 7, 18, 18],
        ),
        (
            convolution([&[2, 3], &[3, -2], &[2, 1], &[3, -9]], &[9, 5]),
            vec![2, 2, 3, 9, 14],
            vec![2, 6, 3, 4, 3],
        ),
        (
            convolution([&[1], &[2], &[1], &[4]], &[40]),
            vec![6, 2, 1, 40],
            vec![6, 1, 1, 5],
        ),
        (
            convolution([&[1], &[1], &[1], &[0]], &[30]),
            vec![2, 3, 8, 30],
            vec![2, 5, 8, 1],
        ),
        (
            convolution([&[1], &[1], &[1], &[0]], &[1]),
            vec![1, 2, 3, 700],
            vec![1, 4, 3, 700],
        ),
    ];
    for (op, x, w) in cases {
        for dtype in [DType::F64, DType::F32, DType::BF16, DType::C64, DType::I16] {
            let args = [random(dtype, &x), random(dtype, &w)];
            check(&single(&op.clone().into(), &args), &args, false);
            if !dtype.has_tangent() {
                continue;
            }
            // Zeros in one operand, infinities in the other, NaN in both.
            let strong = Op::from(Convolution {
                strong_zero: true,
                ..op.clone()
            });
            for flip in [false, true] {
                let (zeros, ends) = (
                    with(&args[usize::from(flip)], 3, 0.0),
                    with(&args[usize::from(!flip)], 41, f64::INFINITY),
                );
                let args = if flip { [ends, zeros] } else { [zeros, ends] }
                    .map(|x| with(&x, 97, f64::NAN));
                check(&single(&strong, &args), &args, false);
            }
        }
    }
}

/// Operands whose group axis is inside the batch axis, reversed ones too, in every type. They are
/// read in place, and the result has their layout.
#[test]
fn convolutions_of_transposed_operands() {
    let steps: [[&[i64]; 4]; 3] = [
        [&[1, 1], &[1, 1], &[1, 1], &[1, 1]],
        [&[2, 1], &[1, 2], &[1, 1], &[1, 2]],
        [&[1, 1], &[-1, -1], &[2, 2], &[-1, -1]],
    ];
    for (steps, outputs) in steps.into_iter().flat_map(|steps| [(steps, 1), (steps, 5)]) {
        let op = convolution(steps, &[9, 17]);
        let (x, w) = ([3, 4, 2, 9, 17], [4, outputs, 2, 3, 3]);
        for dtype in DType::ALL.into_iter().filter(|&t| t != DType::Bool) {
            let args = [random(dtype, &x), random(dtype, &w)];
            let f = build(&[args[0].ty(), args[1].ty()], |cx, x| {
                let groups = cx.transpose(x[0], &[1, 0, 2, 3, 4]);
                let backwards = cx.reverse(groups, &[0, 2]);
                let both = [groups, backwards]
                    .map(|groups| cx.emit(op.clone().into(), &[groups, x[1]])[0]);
                both.map(|y| cx.transpose(y, &[1, 0, 2, 3, 4])).to_vec()
            });
            check(&f, &args, false);
        }
    }
}

/// The numbers `x`, every `nth` of them replaced by `by`.
fn with(x: &Array, nth: usize, by: f64) -> Array {
    fn replaced<T>(v: Vec<T>, nth: usize, by: T) -> Vec<T>
    where
        T: Copy,
    {
        v.into_iter()
            .enumerate()
            .map(|(i, x)| if (i + 1).is_multiple_of(nth) { by } else { x })
            .collect()
    }
    let wide = match x.wide() {
        Wide::F(v) => Wide::F(replaced(v, nth, by)),
        Wide::C(v) => Wide::C(replaced(v, nth, by.into())),
        Wide::I(v) => Wide::I(replaced(v, nth, 0)),
    };
    wide.narrow(x.dtype(), x.shape()).expect("the same type")
}

#[test]
fn windows_over_several_axes() {
    for op in [
        Reduction::Sum,
        Reduction::Max,
        Reduction::Min,
        Reduction::Prod,
    ] {
        let sliding = Sliding {
            stride: vec![2, 1, 3],
            dilation: vec![1, 2, 1],
            x_dilation: vec![1, 2, 1],
            low: vec![2, 1, 0],
        };
        let r = ReduceWindow {
            op,
            sliding,
            window: dims(&[3, 2, 5]),
            extents: dims(&[7, 12, 6]),
        };
        for dtype in [DType::F64, DType::F16, DType::I32] {
            let args = [random(dtype, &[11, 8, 20])];
            check(&single(&r.clone().into(), &args), &args, false);
        }
    }
}

#[test]
fn fourier_transforms_of_every_length() {
    for n in (1..20).chain([31, 64, 97, 100]) {
        for (kind, dtype, shape) in [
            (FftKind::Forward, DType::C128, [2, n, 3]),
            (FftKind::Adjoint, DType::C64, [1, n, 2]),
            (FftKind::Real, DType::F64, [2, n, 2]),
            (FftKind::RealAdjoint, DType::C64, [2, n / 2 + 1, 2]),
        ] {
            let length = if kind == FftKind::RealAdjoint { n } else { 0 };
            let args = [random(dtype, &shape)];
            check(
                &single(
                    &Fft {
                        kind,
                        axis: 1,
                        length: length.into(),
                    }
                    .into(),
                    &args,
                ),
                &args,
                false,
            );
        }
    }
}
