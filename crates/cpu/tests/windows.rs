//! Gathers and scatters of every geometry against the reference, with more windows than a block
//! has.

mod common;

use common::{check, exact, numbers, run, single};
use cotangent_core::check::Rng;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Bounds, Combine, Gather, Op, Scatter, Windows};
use cotangent_core::{Array, C128, DType, Dim, Wide};

const TYPES: [DType; 15] = [
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
    DType::C64,
    DType::C128,
];

const INDICES: [DType; 8] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

/// Axis roles, and the shapes of the operand, of the indices and of the array of windows.
struct Geometry {
    windows: Windows,
    sizes: Vec<usize>,
    operand: Vec<usize>,
    indices: Vec<usize>,
    all: Vec<usize>,
}

fn geometry(r: &mut Rng) -> Geometry {
    let operand: Vec<usize> = (0..1 + r.below(4)).map(|_| 1 + r.below(6)).collect();
    let mut w = Windows::default();
    let mut sizes = vec![1; operand.len()];
    let mut outer: Vec<usize> = Vec::new();
    for (axis, &n) in operand.iter().enumerate() {
        match r.below(4) {
            0 => {
                w.operand_batch.push(axis);
                outer.push(n);
            }
            1 => {
                w.collapsed.push(axis);
                w.axes.push(axis);
            }
            _ => {
                sizes[axis] = 1 + r.below(n);
                if r.chance(0.5) {
                    w.axes.push(axis);
                }
            }
        }
    }
    if r.chance(0.5) {
        w.axes.reverse();
    }
    // Batch axes first; then two axes, one of which may be long.
    w.index_batch = (0..outer.len()).collect();
    outer.extend([[3, 1], [300, 2], [2, 270], [600, 1], [0, 4]][r.below(5)]);
    w.vector = if w.axes.len() == 1 && r.chance(0.5) {
        outer.len()
    } else {
        r.below(outer.len() + 1)
    };
    let mut indices = outer.clone();
    if w.vector < outer.len() || w.axes.len() != 1 {
        indices.insert(w.vector, w.axes.len());
    }
    w.index_batch
        .iter_mut()
        .for_each(|k| *k += usize::from(*k >= w.vector));
    let window: Vec<usize> = (0..operand.len())
        .filter(|k| !w.collapsed.contains(k) && !w.operand_batch.contains(k))
        .map(|k| sizes[k])
        .collect();
    // Window axes at random positions among the others.
    let mut places: Vec<usize> = (0..outer.len() + window.len()).collect();
    while places.len() > window.len() {
        places.remove(r.below(places.len()));
    }
    w.window = places;
    let (mut window, mut outer) = (window.into_iter(), outer.into_iter());
    let rank = window.len() + outer.len();
    let all = (0..rank)
        .filter_map(|k| {
            if w.window.contains(&k) {
                window.next()
            } else {
                outer.next()
            }
        })
        .collect();
    Geometry {
        windows: w,
        sizes,
        operand,
        indices,
        all,
    }
}

fn indices(r: &mut Rng, g: &Geometry, bounds: Bounds, dtype: DType) -> Array {
    let vector: usize = g.indices[(g.windows.vector + 1).min(g.indices.len())..]
        .iter()
        .product();
    let number = |r: &mut Rng, k: usize| {
        let axis = g.windows.axes[if g.windows.vector < g.indices.len() {
            k / vector % g.windows.axes.len()
        } else {
            0
        }];
        let last = g.operand[axis] - g.sizes[axis];
        let far = bounds != Bounds::Error && r.chance(0.2);
        // Indices below 0 only for signed types.
        let less = if dtype.int_range().0 < 0 { 2 } else { 0 };
        if far {
            r.below(g.operand[axis] + 4) as i64 - less
        } else {
            r.below(last + 1) as i64
        }
    };
    let n = g.indices.iter().product();
    let numbers: Vec<i64> = (0..n).map(|k| number(r, k)).collect();
    Wide::I(numbers.into_iter().map(i128::from).collect())
        .narrow(dtype, g.indices.clone())
        .unwrap()
}

#[test]
fn every_geometry() {
    let mut r = Rng::new(7);
    for seed in 0..600 {
        let g = geometry(&mut r);
        let bounds = [Bounds::Clip, Bounds::Drop, Bounds::Error][r.below(3)];
        let dtype = TYPES[seed as usize % TYPES.len()];
        let index = INDICES[r.below(INDICES.len())];
        let i = indices(&mut r, &g, bounds, index);
        let (x, u) = (
            numbers(dtype, &g.operand, seed),
            numbers(dtype, &g.all, seed + 1),
        );
        let sizes: Vec<Dim> = g.sizes.iter().map(|&n| n.into()).collect();
        let gather: Op = Gather {
            windows: g.windows.clone(),
            sizes,
            bounds,
        }
        .into();
        check(
            &single(&gather, &[x.clone(), i.clone()]),
            &[x.clone(), i.clone()],
            true,
        );
        // Products of hundreds of numbers overflow in c64; which results are NaN then depends on
        // the order.
        let combines = match dtype {
            DType::C64 => 2,
            DType::C128 => 3,
            _ => 5,
        };
        let all = [
            Combine::Set,
            Combine::Add,
            Combine::Mul,
            Combine::Max,
            Combine::Min,
        ];
        let combine = all[r.below(combines)];
        let scatter: Op = Scatter {
            combine,
            windows: g.windows,
            bounds,
            unique: false,
            stable: r.chance(0.5),
        }
        .into();
        let args = [x, i, u];
        check(&single(&scatter, &args), &args, exact(&scatter));
    }
}

/// Few updates, relative to the operand's elements, are sorted by position. With added
/// out-of-bounds updates, which are dropped, the other algorithm runs.
#[test]
fn few_updates_have_the_bits_of_many() {
    const SIZE: usize = 5000;
    for dtype in [
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ] {
        let mut r = Rng::new(3);
        let few = 3 + r.below(200);
        let zero = |k: usize, x: f64| if k % 9 == 4 { -0.0 } else { x };
        let x = (0..)
            .zip(numbers(dtype, &[SIZE], 1).to_c128())
            .map(|(k, z)| C128::new(zero(k, z.re), zero(k + 1, z.im)));
        let x = match dtype.kind() {
            Kind::Complex => Wide::C(x.collect()),
            _ => Wide::F(x.map(|z| z.re).collect()),
        };
        let x = x.narrow(dtype, [SIZE]).unwrap();
        let updated = |n: usize| {
            let mut r = Rng::new(5);
            let mut at: Vec<i128> = (0..few).map(|_| (r.below(40) * 127) as i128).collect();
            at.resize(n, -1);
            let u = numbers(dtype, &[n], 2);
            let args = [
                x.clone(),
                Wide::I(at).narrow(DType::I32, [n, 1]).unwrap(),
                u,
            ];
            let windows = Windows {
                collapsed: vec![0],
                axes: vec![0],
                vector: 1,
                ..Windows::default()
            };
            let op = Scatter {
                combine: Combine::Add,
                windows,
                bounds: Bounds::Drop,
                unique: false,
                stable: false,
            };
            run(&single(&op.into(), &args), &args)
        };
        let (got, want) = (updated(few), updated(SIZE));
        assert!(got[0].same_bits(&want[0]), "{dtype}");
    }
}
