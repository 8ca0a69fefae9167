//! First elements of sorts and positions of extrema, against the reference, for every type, axis
//! and layout of the operand.

mod common;

use common::{build, check, numbers};
use cotangent_core::check::Rng;
use cotangent_core::ops::{ArgReduce, Sort};
use cotangent_core::{Array, DType, Val};

const TYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// A random shape whose extent along `axis` is below or above the length of a vector.
fn shape(r: &mut Rng, axis: usize, rank: usize) -> Vec<usize> {
    let length = [1 + r.below(12), 17 + r.below(60), 64 + r.below(300)][r.below(3)];
    (0..rank)
        .map(|d| {
            if d == axis {
                length
            } else {
                1 + r.below([5, 70][usize::from(rank == 2)])
            }
        })
        .collect()
}

/// An operand with ties; in f32 also with NaN and zeros of both signs.
fn operand(r: &mut Rng, dtype: DType, shape: &[usize], seed: u64) -> Array {
    let x = numbers(dtype, shape, seed);
    if dtype != DType::F32 {
        return x;
    }
    let some = x
        .as_slice::<f32>()
        .unwrap()
        .iter()
        .map(|&x| match r.below(12) {
            0 => f32::NAN,
            1 => -0.0,
            2 => 0.0,
            _ => x,
        });
    Array::from_vec(shape.to_vec(), some.collect()).unwrap()
}

#[test]
fn first_elements_and_extrema_are_those_of_the_reference() {
    let mut r = Rng::new(3);
    for (seed, dtype) in TYPES.into_iter().cycle().take(13 * 24).enumerate() {
        let rank = 1 + r.below(3);
        let axis = r.below(rank);
        let shape = shape(&mut r, axis, rank);
        let x = operand(&mut r, dtype, &shape, seed as u64);
        let (down, least, reversed) = (r.chance(0.5), r.chance(0.5), r.chance(0.3));
        let kept = 1 + r.below(shape[axis].div_ceil(3));
        let perm: Vec<usize> = if r.chance(0.5) {
            (0..rank).rev().collect()
        } else {
            (0..rank).collect()
        };
        let f = build(&[x.ty()], |cx, v| {
            // Permutes the axes and back, to build a view that is not row-major.
            let of = cx.transpose(v[0], &perm);
            let mut back = vec![0; rank];
            perm.iter().enumerate().for_each(|(k, &p)| back[p] = k);
            let of = cx.transpose(of, &back);
            let of = if reversed {
                cx.reverse(of, &[axis])
            } else {
                of
            };
            let place = cx.iota(&cx.ty(of).with_dtype(DType::I32), axis);
            let sort = Sort {
                axis,
                operands: 2,
                num_keys: 1,
                descending: down,
            };
            let first = |v: Val| cx.slice_axis(v, axis, 0usize, kept);
            let mut y: Vec<Val> = cx
                .emit(sort.into(), &[of, place])
                .into_iter()
                .map(first)
                .collect();
            let dtype = if reversed { DType::I32 } else { DType::U16 };
            y.extend(
                cx.emit(
                    ArgReduce {
                        min: least,
                        axis,
                        dtype,
                    }
                    .into(),
                    &[of],
                ),
            );
            y
        });
        check(&f, &[x], true);
    }
}
