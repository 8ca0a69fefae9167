//! Random sliding windows: folds of nests and kernels have the same bits.

use super::grouped::reference_numbers;
use super::{PlannedFunction, layouts};
use crate::nests::lower::{Role, lower, lower_with};
use crate::nests::nest::{Nest, What};
use crate::nests::tests::function;
use cotangent_core::ops::{Convolution, Op, ReduceWindow, Reduction, Sliding};
use cotangent_core::{DType, Dim, Type};

/// Numbers below a bound, the same ones for a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn sliding(&mut self, axes: usize) -> Sliding {
        // Most windows are those of stencils.
        let mut steps = |all: [i64; 6]| (0..axes).map(|_| all[self.below(6)]).collect();
        Sliding {
            stride: steps([1, 1, 1, 1, 2, -1]),
            dilation: steps([1, 1, 1, -1, 2, 3]),
            x_dilation: steps([1, 1, 1, 1, 2, -1]),
            low: steps([0, 1, 1, 2, -1, 3]),
        }
    }

    fn dims(&mut self, axes: usize, most: usize) -> Vec<Dim> {
        (0..axes)
            .map(|_| Dim::Const(1 + self.below(most)))
            .collect()
    }
}

#[test]
fn reductions_of_windows_have_the_bits_of_kernels() {
    let types = [DType::F32, DType::F64, DType::F16, DType::I32, DType::U8];
    let kinds = [
        Reduction::Sum,
        Reduction::Max,
        Reduction::Min,
        Reduction::Prod,
    ];
    let mut folds = 0;
    for seed in 0..400 {
        let mut draws = Draws(seed);
        let axes = 1 + draws.below(3);
        let op = ReduceWindow {
            op: kinds[draws.below(4)],
            sliding: draws.sliding(axes),
            window: draws.dims(axes, [36, 7, 4][axes - 1]),
            extents: draws.dims(axes, [40, 9, 5][axes - 1]),
        };
        let dtype = types[draws.below(5)];
        let ty = Type::new(dtype, draws.dims(axes, [40, 9, 5][axes - 1]));
        folds += usize::from(check(&format!("{seed}: {op:?}"), &[ty], &op.into()));
    }
    assert!(folds > 100, "{folds} folds");
}

#[test]
fn convolutions_have_the_bits_of_kernels() {
    let mut folds = 0;
    for seed in 0..400 {
        let mut draws = Draws(seed);
        let axes = 1 + draws.below(2);
        let dtype = [DType::F32, DType::F64, DType::I32, DType::C64][draws.below(4)];
        let rare = draws.below(8);
        let op = Convolution {
            sliding: draws.sliding(axes),
            extents: draws.dims(axes, [40, 9][axes - 1]),
            stable: rare == 0 && dtype != DType::I32,
            strong_zero: rare == 1 && dtype != DType::I32,
        };
        let [groups, batch, features, outputs] =
            [2, 2, 4, 6].map(|n| Dim::Const(1 + draws.below(n)));
        let x = [groups.clone(), batch, features.clone()].into_iter();
        let x = x.chain(draws.dims(axes, [30, 9][axes - 1]));
        let w = [groups, outputs, features].into_iter();
        let w = w.chain(draws.dims(axes, [9, 4][axes - 1]));
        let types = [x.collect::<Vec<_>>(), w.collect()].map(|shape| Type::new(dtype, shape));
        folds += usize::from(check(&format!("{seed}: {op:?}"), &types, &op.into()));
    }
    assert!(folds > 40, "{folds} folds");
}

/// Few products are a fold, and products of few rows; in a region also those of short rows, which
/// may be instructions of a loop. A kernel computes others.
#[test]
fn convolutions_of_few_products_are_folds() {
    let cases: [(&[usize], &[usize], [bool; 2]); 6] = [
        (&[1, 1, 1, 200], &[1, 1, 1, 7], [true, true]),
        (&[1, 1, 1, 4000], &[1, 1, 1, 7], [false, false]),
        (&[1, 1, 3, 4, 4], &[1, 3, 3, 3, 3], [true, true]),
        (&[1, 2, 3, 12, 12], &[1, 3, 3, 3, 3], [false, false]),
        (&[1, 1, 2, 2, 2], &[1, 20, 2, 3, 3], [false, true]),
        (&[1, 1, 2, 6, 6], &[1, 20, 2, 3, 3], [false, false]),
    ];
    for (x, w, want) in cases {
        let ones = || x[3..].iter().map(|_| 1).collect();
        let op: Op = Convolution {
            sliding: Sliding {
                stride: ones(),
                dilation: ones(),
                x_dilation: ones(),
                low: w[3..].iter().map(|&k| k as i64 / 2).collect(),
            },
            extents: x[3..].iter().copied().map(Dim::Const).collect(),
            stable: false,
            strong_zero: false,
        }
        .into();
        let types = [x, w].map(|shape| Type::new(DType::F32, shape));
        let f = function(&types, |cx, x| cx.emit(op.clone(), x).to_vec());
        let is_fold = |n: &Nest| matches!(n.what, What::Fold { .. });
        let folds = [Role::Whole, Role::Region]
            .map(|role| lower_with(&f, role, &|_| false).nests.iter().any(is_fold));
        assert_eq!(folds, want, "{x:?} {w:?}");
    }
}

/// Compares an operation alone and between elementwise operations, in several layouts. Returns
/// whether it is a fold.
fn check(what: &str, types: &[Type], op: &Op) -> bool {
    let alone = function(types, |cx, x| cx.emit(op.clone(), x).to_vec());
    let between = function(types, |cx, x| {
        let x: Vec<_> = x.iter().map(|&v| cx.add(v, v)).collect();
        let y = cx.emit(op.clone(), &x)[0];
        vec![cx.mul(cx.add(y, y), y)]
    });
    let x: Vec<_> = types
        .iter()
        .map(|ty| {
            let shape: Vec<usize> = ty.shape.iter().filter_map(Dim::as_const).collect();
            layouts(&reference_numbers(ty.dtype, &shape))
        })
        .collect();
    let is_fold = |n: &Nest| matches!(n.what, What::Fold { .. });
    let folds = lower(&alone).nests.iter().any(is_fold);
    for f in [alone, between] {
        let pair = PlannedFunction::new(&f);
        for k in 0..3 {
            let x: Vec<_> = x.iter().map(|x| x[k].clone()).collect();
            pair.check(&format!("{what}, {types:?}, layout {k}"), &x);
        }
    }
    folds
}
