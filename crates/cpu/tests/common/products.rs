//! Random programs of matrix products of many shapes, layouts and types, and of their consumers.

use super::{build, numbers};
use cotangent_core::ops::{Comparison, DotGeneral, Reduction};
use cotangent_core::{Array, C128, DType, Dim, Emit, Function, Type, Val, Wide};
use std::sync::Arc;

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// An operand of a product, with permuted axes in memory and some broadcast axes.
struct Operand {
    shape: Vec<usize>,
    /// Order of the axes in memory, and the axes that are broadcast from extent 1.
    order: Vec<usize>,
    repeats: Vec<usize>,
}

impl Operand {
    fn new(r: &mut Random, shape: &[usize], batch: usize) -> Operand {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        (1..order.len())
            .for_each(|i| order.swap(i, if r.below(2) == 0 { i } else { r.below(i + 1) }));
        let repeats = (0..shape.len())
            .filter(|&d| r.below(if d < batch { 3 } else { 12 }) == 0)
            .collect();
        Operand {
            shape: shape.to_vec(),
            order,
            repeats,
        }
    }

    fn given(&self, dtype: DType) -> Type {
        let extent = |&d: &usize| {
            if self.repeats.contains(&d) {
                1
            } else {
                self.shape[d]
            }
        };
        Type::new(
            dtype,
            self.order
                .iter()
                .map(extent)
                .collect::<Vec<usize>>()
                .as_slice(),
        )
    }

    fn view(&self, cx: &dyn Emit, x: Val) -> Val {
        let (shape, own): (Vec<Dim>, Vec<usize>) = self
            .shape
            .iter()
            .enumerate()
            .map(|(d, &n)| (n.into(), d))
            .unzip();
        let mut perm = own.clone();
        self.order
            .iter()
            .enumerate()
            .for_each(|(k, &d)| perm[d] = k);
        cx.broadcast_in_dim(cx.transpose(x, &perm), &shape, &own)
    }
}

/// Consumer of a product: a function of the product, another product of its shape, a vector along
/// the last axis, and a transposed value of its shape.
type Then = fn(&dyn Emit, Val, Val, Val, Val) -> Vec<Val>;

const ANY: [Then; 4] = [
    |cx, c, _, bias, _| vec![cx.add(c, bias)],
    |cx, c, _, bias, x| vec![cx.mul(cx.add(c, bias), x)],
    |cx, c, d, bias, _| vec![cx.mul(c, cx.add(d, bias)), cx.sub(c, d)],
    |cx, c, _, bias, x| vec![c, cx.sub(cx.mul(c, bias), x)],
];

const REAL: [Then; 9] = [
    |cx, c, _, bias, _| {
        let y = cx.add(c, bias);
        vec![
            cx.select(cx.compare(y, Comparison::Gt, bias), y, bias),
            cx.tanh(y),
        ]
    },
    |cx, c, _, _, _| vec![cx.softmax(c, last(cx, c))],
    |cx, c, d, _, x| {
        vec![cx.add(
            cx.layer_norm(cx.add(c, x), None, None, &[last(cx, c)], 1e-5),
            d,
        )]
    },
    |cx, c, _, bias, x| vec![cx.reduce_sum(cx.mul(cx.add(c, bias), x), &[last(cx, c)])],
    |cx, c, _, _, _| vec![cx.reduce(Reduction::Prod, c, &[last(cx, c)])],
    // Results of another type than the product.
    |cx, c, d, _, _| vec![cx.compare(c, Comparison::Lt, d)],
    |cx, c, d, bias, _| {
        let wide = |v| {
            cx.convert(
                v,
                if cx.ty(v).dtype == DType::F64 {
                    DType::F32
                } else {
                    DType::F64
                },
            )
        };
        vec![cx.mul(wide(cx.mul(c, bias)), wide(d))]
    },
    // Reductions over rows of two axes.
    |cx, c, _, bias, _| {
        let n = last(cx, c);
        let axes: Vec<usize> = (n.saturating_sub(1)..=n).collect();
        vec![
            cx.reduce_sum(cx.mul(c, bias), &axes),
            cx.exp(cx.neg(cx.mul(c, c))),
        ]
    },
    // The derivative of a softmax.
    |cx, c, d, _, x| {
        let (ty, n) = (cx.ty(c), last(cx, c));
        let p = cx.softmax(x, n);
        let rows = cx.reduce_sum(cx.mul(cx.add(c, d), p), &[n]);
        vec![cx.mul(p, cx.sub(c, cx.spread(rows, &ty, &[n])))]
    },
];

/// The numbers `x`, some of them replaced by zeros and infinities.
fn with_ends(x: &Array, seed: usize) -> Array {
    let mut r = Random(seed as u64);
    let mut end = |v: f64| match r.below(97) {
        0..6 => 0.0,
        6 => f64::INFINITY,
        7 => f64::NEG_INFINITY,
        _ => v,
    };
    let wide = match x.wide() {
        Wide::F(v) => Wide::F(v.into_iter().map(end).collect()),
        Wide::C(v) => Wide::C(
            v.into_iter()
                .map(|z| {
                    if end(1.0) == 0.0 {
                        C128::ZERO
                    } else {
                        C128::new(end(z.re), z.im)
                    }
                })
                .collect(),
        ),
        other => other,
    };
    wide.narrow(x.dtype(), x.shape()).expect("the same type")
}

fn last(cx: &dyn Emit, c: Val) -> usize {
    cx.ty(c).rank() - 1
}

/// Element type and extents of a random program.
struct Extents {
    dtype: DType,
    batch: Vec<usize>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// Steps of the two products.
    depths: [usize; 2],
}

impl Extents {
    fn random(r: &mut Random, large: bool) -> Extents {
        let dtype = match r.below(if large { 8 } else { 12 }) {
            0..=4 => DType::F32,
            5 | 6 => DType::F64,
            7 | 8 => DType::C64,
            9 => DType::C128,
            10 => DType::BF16,
            _ => DType::F16,
        };
        let mut batch: Vec<usize> = (0..r.below(3)).map(|_| r.of(&[1, 2, 3, 5])).collect();
        let sizes = |r: &mut Random, all: &[usize], most: usize| {
            (0..1 + r.below(most))
                .map(|_| r.of(all))
                .collect::<Vec<usize>>()
        };
        let mut rows = sizes(r, &[0, 1, 2, 7, 16, 33, 40], 2);
        let columns = if large {
            sizes(r, &[8, 9, 16, 50], 2)
        } else {
            sizes(r, &[0, 1, 2, 5, 8, 17, 40], 2)
        };
        let steps = |r: &mut Random, most| {
            if large {
                r.of(&[3, 17, 64])
            } else {
                r.of(&[0, 1, 2, 9, 64, 257, 520].map(|k: usize| k.min(most)))
            }
        };
        let depths = [steps(r, 600), steps(r, 300)];
        if large {
            // Products somewhat larger than 1 MiB, in few matrices or many.
            let n: usize = columns.iter().product();
            batch.iter_mut().for_each(|b| *b += 2);
            let some: usize = batch.iter().product();
            let total = ((1 << 20) + (1 << 18)) / (n * dtype.size()) / some;
            rows = vec![total + 1];
            if r.below(2) == 0 && total > 100 {
                let few = r.of(&[7, 33, 100]);
                batch.push(total / few + 1);
                rows = vec![few];
            }
        }
        Extents {
            dtype,
            batch,
            rows,
            columns,
            depths,
        }
    }
}

/// A random program for a seed. Every fourth is large enough to run by blocks. Every third has
/// strong zeros, and zeros that are multiplied by infinities.
pub(crate) fn program(seed: usize) -> (Arc<Function>, Vec<Array>) {
    let mut r = Random(seed as u64 * 7919 + 1);
    (0..4).for_each(|_| _ = r.below(2));
    let (large, strong_zero) = (seed.is_multiple_of(4), seed.is_multiple_of(3));
    let Extents {
        dtype,
        batch,
        rows,
        columns,
        depths,
    } = Extents::random(&mut r, large);
    let shape = [&batch[..], &rows, &columns].concat();
    let two = r.below(2) == 0;
    let operands: Vec<[Operand; 2]> = depths[..1 + usize::from(two)]
        .iter()
        .map(|&k| {
            let a = Operand::new(&mut r, &[&batch[..], &rows, &[k]].concat(), batch.len());
            [
                a,
                Operand::new(&mut r, &[&batch[..], &[k], &columns].concat(), batch.len()),
            ]
        })
        .collect();
    let across = Operand {
        repeats: vec![],
        ..Operand::new(&mut r, &shape, batch.len())
    };
    let then = match dtype {
        DType::F32 | DType::F64 if r.below(4) > 0 => r.of(&REAL),
        _ => r.of(&ANY),
    };
    let bias = Type::new(dtype, &shape[shape.len() - 1..]);
    let mut types: Vec<Type> = operands.iter().flatten().map(|o| o.given(dtype)).collect();
    types.extend([bias, across.given(dtype)]);
    let f = build(&types, |cx, x| {
        let (factors, others) = x.split_at(2 * operands.len());
        let product = |([a, b], x): (&[Operand; 2], &[Val])| {
            let (n, k) = (batch.len(), batch.len() + rows.len());
            let own: Vec<usize> = (0..n).collect();
            let axes = DotGeneral::contract(&[k], &[n]).batched(&own, &own);
            let axes = DotGeneral {
                strong_zero,
                ..axes
            };
            cx.op(axes, &[a.view(cx, x[0]), b.view(cx, x[1])])
        };
        let made: Vec<Val> = operands
            .iter()
            .zip(factors.chunks(2))
            .map(product)
            .collect();
        let all: Vec<Dim> = shape.iter().map(|&n| n.into()).collect();
        let bias = cx.broadcast_in_dim(others[0], &all, &[shape.len() - 1]);
        let x = across.view(cx, others[1]);
        then(
            cx,
            made[0],
            *made.last().expect("there is a product"),
            bias,
            x,
        )
    });
    let args = types.iter().enumerate().map(|(i, t)| {
        let shape = t.shape.as_const().expect("sizes are known");
        let x = numbers(t.dtype, &shape, (seed * 8 + i) as u64);
        if strong_zero {
            with_ends(&x, seed + i)
        } else {
            x
        }
    });
    (f, args.collect())
}
