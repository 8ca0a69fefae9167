//! Vectors of every instruction set against the definition of the tree, bit for bit, with guard
//! pages after all memory.

use super::*;
use crate::testing::{Random, tree};

const FOLDS: [ReduceOp; 4] = [
    ReduceOp::Sum,
    ReduceOp::Product,
    ReduceOp::Max,
    ReduceOp::Min,
];

const LENGTHS: [usize; 30] = [
    1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 511, 512, 513,
    1000, 1023, 1024, 1100, 5000, 8191, 8192,
];

fn combine<E: Ordered<Acc = E>>(how: ReduceOp) -> fn(E, E) -> E {
    match how {
        ReduceOp::Sum => E::plus,
        ReduceOp::Product => E::times,
        ReduceOp::Max => E::maximum,
        ReduceOp::Min => E::minimum,
    }
}

/// Bits; all NaNs give the same value.
fn bits<E: Ordered + VectorFloat>(x: E) -> u64 {
    if x.is_nan() { 1 } else { VectorFloat::bits(x) }
}

fn value<E: VectorFloat>(random: &mut Random, special: usize) -> E {
    let all = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    // Often no special values, so that sums are informative.
    let x = if special > 0 && random.below(40) == 0 {
        all[random.below(special)]
    } else {
        random.float() * 1.5
    };
    <E as VectorFloat>::narrow(x)
}

/// Calls `f` with a copy of some elements that ends, or begins, at a guard page.
fn guarded<E: Copy>(x: &[E], at_end: bool, f: impl FnOnce(&mut [E])) {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    {
        let memory = crate::testing::Guarded::new(size_of_val(x).max(1));
        let at = memory.bytes(size_of_val(x), at_end).cast::<E>();
        // SAFETY: the memory has room for the elements with their alignment, and nothing else
        // refers to it.
        let copy = unsafe {
            std::ptr::copy_nonoverlapping(x.as_ptr(), at, x.len());
            std::slice::from_raw_parts_mut(at, x.len())
        };
        f(copy);
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
    {
        let _ = at_end;
        f(&mut x.to_vec());
    }
}

fn check<E: VectorFloat + Ordered<Acc = E> + Lanes>(isa: Isa) {
    let random = &mut Random(11);
    for (how, len) in FOLDS.into_iter().flat_map(|f| LENGTHS.map(|n| (f, n))) {
        for special in [0, 2, 4, 6] {
            // Three rows and a part of another.
            let x: Vec<E> = (0..3 * len + len / 2)
                .map(|_| value(random, special))
                .collect();
            let want: Vec<u64> = x
                .chunks(len)
                .map(|x| bits(tree(x, &combine(how))))
                .collect();
            for from in [ChunkLocation::Cache, ChunkLocation::Memory] {
                guarded(&x, random.below(3) > 0, |x| {
                    let mut got = vec![<E as VectorFloat>::narrow(0.0); want.len()];
                    dispatch(
                        isa,
                        how,
                        Chunks {
                            dst: &mut got,
                            x,
                            len,
                            from,
                        },
                    );
                    let got: Vec<u64> = got.into_iter().map(bits).collect();
                    assert_eq!(got, want, "{how:?} of {len} at {isa:?}");
                });
            }
        }
    }
}

fn check_beside<E: VectorFloat + Ordered<Acc = E> + Lanes>(isa: Isa) {
    let random = &mut Random(12);
    for (how, len) in FOLDS
        .into_iter()
        .flat_map(|f| LENGTHS.map(|n| (f, n.min(200))))
    {
        let rows: [Vec<E>; 8] =
            std::array::from_fn(|_| (0..len).map(|_| value(random, 6)).collect());
        let column = |c: usize| rows.each_ref().map(|x| x[c]);
        guarded(&rows[0], true, |first| {
            let mut x = rows.each_ref().map(|x| &x[..]);
            x[0] = first;
            let mut got = vec![<E as VectorFloat>::narrow(0.0); len];
            dispatch(isa, how, Eight { dst: &mut got, x });
            // Eight items of one lane.
            let f = combine::<E>(how);
            let want = |c: usize| {
                let x = column(c);
                f(
                    f(f(x[0], x[1]), f(x[2], x[3])),
                    f(f(x[4], x[5]), f(x[6], x[7])),
                )
            };
            assert!(
                (0..len).all(|c| bits(got[c]) == bits(want(c))),
                "{how:?} of {len} at {isa:?}"
            );
        });
        guarded(&rows[1], true, |low| {
            dispatch(
                isa,
                how,
                Join {
                    low,
                    high: &rows[2],
                },
            );
            let want = |c: usize| combine::<E>(how)(rows[1][c], rows[2][c]);
            assert!(
                (0..len).all(|c| bits(low[c]) == bits(want(c))),
                "{how:?} of {len} at {isa:?}"
            );
        });
    }
}

#[test]
fn every_level_follows_the_tree() {
    for isa in Isa::available() {
        check::<f32>(isa);
        check::<f64>(isa);
    }
}

#[test]
fn every_level_reduces_side_by_side() {
    for isa in Isa::available() {
        check_beside::<f32>(isa);
        check_beside::<f64>(isa);
    }
}
