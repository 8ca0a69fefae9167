//! Elements at computed indices: packed line by line, or on one line where all axes continue one
//! another.

use super::super::build::{PlanStep, StepKind};
use super::super::compose::{Leaf, LeafSource};
use super::memory::parts_of;
use super::{PlannedFunction, layouts};
use crate::nests::tests::function;
use cotangent_core::ops::{Bounds, Comparison, Windows};
use cotangent_core::{Array, DType, Dim, Emit, Env, Function, Type, Val, reference};

/// Rows at computed indices of a concatenation of rows at computed indices: an index is read only
/// where its piece has it.
#[test]
fn elements_of_pieces_at_computed_indices() {
    let (n, m) = (Dim::sym("n"), Dim::from(3));
    let types = [
        Type::new(DType::F64, vec![n, 2.into()]),
        Type::new(DType::I32, vec![m.clone()]),
        Type::new(DType::I32, vec![m]),
    ];
    let f = function(&types, |cx, x| {
        let wide = cx.convert(x[0], DType::BF16);
        let taken = cx.take(wide, x[1], 1, Bounds::Clip);
        let all = cx.concatenate(&[taken, taken, cx.exp(taken)], 1);
        let again = cx.take(all, x[2], 1, Bounds::Clip);
        vec![again, cx.reverse(again, &[0]), cx.sin(all)]
    });
    let planned = PlannedFunction::new(&f);
    for n in [0, 1, 3, 40] {
        let x = (0..2 * n).map(|k| (k % 7) as f64 / 4.0).collect();
        let x = Array::from_vec(vec![n, 2], x).unwrap();
        for [a, b] in [
            [[2, 1, 1], [0, 0, 0]],
            [[0, 1, -1], [8, 3, 5]],
            [[1, 0, 1], [9, 6, -2]],
        ] {
            let i = [a, b].map(|i: [i32; 3]| Array::vector(i.to_vec()));
            let args = [&x, &i[0], &i[1]].map(crate::tensor::Tensor::from);
            planned.check(&format!("{n} rows, {a:?}, {b:?}"), &args);
        }
    }
}

/// Where an index vector is from: how many components it has, and the axes of its array.
#[derive(Clone, Copy, Debug)]
enum Indices {
    /// Of the shape of the results.
    Each,
    /// The same along the last axis.
    Rows,
    /// The same along the first axis.
    Columns,
    /// Every second one of a larger array.
    Spaced,
    /// With the axes exchanged.
    Turned,
}

const ALL: [Indices; 5] = [
    Indices::Each,
    Indices::Rows,
    Indices::Columns,
    Indices::Spaced,
    Indices::Turned,
];

impl Indices {
    fn shape(self, [m, n]: [usize; 2]) -> Vec<usize> {
        match self {
            Indices::Each => vec![m, n],
            Indices::Rows => vec![m],
            Indices::Columns => vec![n],
            Indices::Spaced => vec![m, 2 * n],
            Indices::Turned => vec![n, m],
        }
    }

    /// The indices of an array at each element of the results.
    fn of(self, cx: &dyn Emit, x: Val, [m, n]: [usize; 2]) -> Val {
        let shape = [m, n].map(Dim::from);
        match self {
            Indices::Each => x,
            Indices::Rows => cx.broadcast_in_dim(x, &shape, &[0]),
            Indices::Columns => cx.broadcast_in_dim(x, &shape, &[1]),
            Indices::Spaced => {
                let limit = [m, 2 * n].map(Dim::from);
                cx.slice(x, &[0, 1].map(Dim::from), &limit, &[1, 2])
            }
            Indices::Turned => cx.transpose(x, &[1, 0]),
        }
    }
}

/// Whole numbers from below the first index to above the last one.
fn numbers(dtype: DType, shape: &[usize], seed: usize) -> Array {
    let n: usize = shape.iter().product();
    let wide = (0..n).map(|k| ((k * 37 + seed * 11) % 17) as f64 - 3.0);
    let wide = Array::from_vec(shape, wide.collect::<Vec<f64>>()).unwrap();
    let to = function(&[Type::new(DType::F64, shape)], |cx, x| {
        vec![cx.convert(x[0], dtype)]
    });
    reference::run(&to, &[wide]).unwrap().remove(0)
}

/// `x[i, j] + 2 x[j, i]`, whose indices are computed, too.
fn read(cx: &dyn Emit, x: Val, [i, j]: [Val; 2], bounds: Bounds) -> Val {
    let windows = Windows {
        window: Vec::new(),
        collapsed: vec![0, 1],
        operand_batch: Vec::new(),
        index_batch: Vec::new(),
        axes: vec![0, 1],
        vector: 2,
    };
    let shape: Vec<Dim> = cx
        .ty(i)
        .shape
        .iter()
        .cloned()
        .chain([Dim::from(1)])
        .collect();
    let column = |x: Val| cx.broadcast_in_dim(x, &shape, &[0, 1]);
    let at = |i: Val, j: Val| {
        let vectors = cx.concatenate(&[column(i), column(j)], 2);
        cx.gather(&windows, &[1, 1].map(Dim::from), bounds, x, vectors)
    };
    let one = cx.full_like(i, 1.0);
    let next = at(cx.add(i, one), j);
    let y = at(i, j);
    cx.add(y, cx.add(next, next))
}

#[test]
fn elements_at_two_computed_indices() {
    for (dtype, index) in [
        (DType::F32, DType::I32),
        (DType::F64, DType::I64),
        (DType::C128, DType::U8),
        (DType::I8, DType::I16),
        (DType::BF16, DType::U64),
    ] {
        for (k, [rows, columns]) in ALL.iter().flat_map(|&a| ALL.map(|b| [a, b])).enumerate() {
            let bounds = [Bounds::Clip, Bounds::Drop][k % 2];
            // More results than starts that are read together, rows, and a single one.
            let extents = [[40, 33], [3, 7], [1, 1], [5, 1]][k % 4];
            let shapes = [rows.shape(extents), columns.shape(extents)];
            let ty = |shape: &Vec<usize>| Type::new(index, &shape[..]);
            let types = [Type::new(dtype, [7, 9]), ty(&shapes[0]), ty(&shapes[1])];
            let f = function(&types, |cx, x| {
                let own = [rows.of(cx, x[1], extents), columns.of(cx, x[2], extents)];
                vec![read(cx, x[0], own, bounds)]
            });
            let planned = PlannedFunction::new(&f);
            let x = layouts(&numbers(dtype, &[7, 9], 1));
            let i = layouts(&numbers(index, &shapes[0], 2));
            let j = layouts(&numbers(index, &shapes[1], 3));
            for ((x, i), j) in x.into_iter().zip(i).zip(j) {
                let what = format!("{dtype} at {index}, {rows:?}, {columns:?}, {extents:?}");
                planned.check(&what, &[x, i, j]);
            }
        }
    }
}

/// Elements of each row at computed indices: offsets of rows beside those of elements.
#[test]
fn elements_of_each_row_at_computed_indices() {
    let windows = Windows {
        window: Vec::new(),
        collapsed: vec![1],
        operand_batch: vec![0],
        index_batch: vec![0],
        axes: vec![1],
        vector: 2,
    };
    for (dtype, index) in [
        (DType::F32, DType::I32),
        (DType::C128, DType::I64),
        (DType::I8, DType::U8),
    ] {
        for (k, [own, of_row]) in ALL.iter().flat_map(|&a| ALL.map(|b| [a, b])).enumerate() {
            let bounds = [Bounds::Clip, Bounds::Drop][k % 2];
            let extents = [[40, 33], [3, 7], [1, 1], [300, 1]][k % 4];
            let shapes = [own.shape(extents), of_row.shape(extents)];
            let ty = |shape: &Vec<usize>| Type::new(index, &shape[..]);
            let operand = [extents[0], 9];
            let types = [Type::new(dtype, operand), ty(&shapes[0]), ty(&shapes[1])];
            let f = function(&types, |cx, x| {
                let [i, j] = [own.of(cx, x[1], extents), of_row.of(cx, x[2], extents)];
                let shape = [extents[0], extents[1], 1].map(Dim::from);
                let vectors = |i: Val| cx.broadcast_in_dim(i, &shape, &[0, 1]);
                let sizes = [1, 1].map(Dim::from);
                let at = |i: Val| cx.gather(&windows, &sizes, bounds, x[0], vectors(i));
                let y = at(i);
                vec![cx.add(y, at(cx.add(i, j))), at(j)]
            });
            let planned = PlannedFunction::new(&f);
            let x = layouts(&numbers(dtype, &operand, 1));
            let i = layouts(&numbers(index, &shapes[0], 2));
            let j = layouts(&numbers(index, &shapes[1], 3));
            for ((x, i), j) in x.into_iter().zip(i).zip(j) {
                let what = format!("{dtype} at {index}, {own:?}, {of_row:?}, {extents:?}");
                planned.check(&what, &[x, i, j]);
            }
        }
    }
}

/// Rows at two computed indices: more than there are offsets together, and parts of rows where
/// reads are packed tile by tile.
#[test]
fn rows_at_two_computed_indices() {
    let windows = Windows {
        window: vec![1],
        collapsed: vec![0, 1],
        operand_batch: Vec::new(),
        index_batch: Vec::new(),
        axes: vec![0, 1],
        vector: 1,
    };
    for (dtype, width) in [
        (DType::I8, 3),
        (DType::BF16, 5),
        (DType::F32, 1),
        (DType::F32, 3),
        (DType::F32, 12),
        (DType::F64, 3),
        (DType::F64, 9),
        (DType::C128, 2),
        (DType::C128, 7),
    ] {
        for (n, bounds) in [(1, Bounds::Clip), (7, Bounds::Drop), (1500, Bounds::Clip)] {
            let types = [
                Type::new(dtype, [7, 9, width]),
                Type::new(DType::I32, [n]),
                Type::new(DType::I32, [n]),
            ];
            let f = function(&types, |cx, x| {
                let shape = [n, 1].map(Dim::from);
                let column = |x: Val| cx.broadcast_in_dim(x, &shape, &[0]);
                let rows = |i: Val, j: Val| {
                    let vectors = cx.concatenate(&[column(i), column(j)], 1);
                    let sizes = [1, 1, width].map(Dim::from);
                    cx.gather(&windows, &sizes, bounds, x[0], vectors)
                };
                let one = cx.full_like(x[1], 1.0);
                let (y, next) = (rows(x[1], x[2]), rows(cx.add(x[1], one), x[2]));
                vec![y, cx.add(y, next)]
            });
            let planned = PlannedFunction::new(&f);
            let x = layouts(&numbers(dtype, &[7, 9, width], 1));
            let i = layouts(&numbers(DType::I32, &[n], 2));
            let j = layouts(&numbers(DType::I32, &[n], 3));
            for ((x, i), j) in x.into_iter().zip(i).zip(j) {
                let what = format!("{n} rows of {width} {dtype}, {bounds:?}");
                planned.check(&what, &[x, i, j]);
            }
        }
    }
}

/// An update of a window writes the window alone: its operand, a value that joins others, and what
/// that computes at other rows are in memory.
#[test]
fn values_of_updates_of_windows_are_stored() {
    let types = [
        Type::new(DType::F32, [48, 5]),
        Type::new(DType::F32, [6, 5]),
        Type::new(DType::I32, Vec::<Dim>::new()),
    ];
    let f = function(&types, |cx, x| {
        let doubled = cx.add(x[0], x[0]);
        let (first, zero) = (cx.slice_axis(x[1], 0, 0, 2), cx.sub(x[2], x[2]));
        let joined = cx.concatenate(&[x[1], cx.exp(first)], 0);
        vec![cx.dynamic_update_slice(doubled, joined, &[x[2], zero])]
    });
    let text = crate::plan_text(&f.clone().into(), &Env::default()).unwrap();
    let stored = text
        .lines()
        .filter(|l| l.contains("-> ") && !l.contains("[]"));
    assert_eq!(stored.count(), 4, "{text}");
    let planned = PlannedFunction::new(&f);
    for start in [-3, 0, 7, 40, 90] {
        let args = [
            numbers(DType::F32, &[48, 5], 1),
            numbers(DType::F32, &[6, 5], 2),
            Array::scalar(start),
        ];
        let args = args.each_ref().map(crate::tensor::Tensor::from);
        planned.check(&format!("at {start}"), &args);
    }
}

/// The reads at computed indices in all phases of a function.
fn gathers(f: &Function) -> usize {
    let parts = parts_of(&std::sync::Arc::new(f.clone()));
    let of_step = |s: &PlanStep| match &s.kind {
        StepKind::Code(c) => {
            let leaves = c.phases.iter().flat_map(|p| &p.code.leaves);
            let gather = |l: &&Leaf| match &l.source {
                LeafSource::Read(r) => !r.starts.is_empty(),
                _ => false,
            };
            leaves.filter(gather).count()
        }
        _ => 0,
    };
    parts.steps.iter().map(of_step).sum()
}

/// Walks down a tree: each step gathers a key and compares it. The number of the node is needed as
/// an index, wrapped around, and for the number of the next node, which only the next step reads.
#[test]
fn a_walk_gathers_once_in_each_step() {
    let steps = 5;
    let types = [Type::new(DType::F32, [63]), Type::new(DType::F32, [40])];
    let f = function(&types, |cx, x| {
        let ty = Type::new(DType::I32, [40]);
        let full = |k: i64| cx.full(&ty, k);
        let mut node = cx.zeros(&ty);
        for _ in 0..steps {
            let negative = cx.compare(node, Comparison::Lt, full(0));
            let wrapped = cx.select(negative, cx.add(node, full(63)), node);
            let key = cx.take(x[0], wrapped, 0, Bounds::Clip);
            let right = cx.compare(x[1], Comparison::Gt, key);
            let twice = cx.mul(full(2), node);
            node = cx.select(right, cx.add(twice, full(2)), cx.add(twice, full(1)));
        }
        vec![node]
    });
    assert_eq!(gathers(&f), steps);
    let x = Array::vector((0..63).map(|k| (k * 29 % 63) as f32).collect::<Vec<_>>());
    let q = Array::vector((0..40).map(|k| k as f32 * 1.6 - 1.0).collect::<Vec<_>>());
    for x in layouts(&x) {
        let args = [x, crate::tensor::Tensor::from(&q)];
        PlannedFunction::new(&f).check("a walk", &args);
    }
}

/// Steps of a search by bisection: each gathers once, and what it finds is stored for the next.
#[test]
fn a_search_gathers_once_in_each_step() {
    let steps = 7;
    let types = [Type::new(DType::F32, [100]), Type::new(DType::F32, [40])];
    let f = function(&types, |cx, x| {
        let ty = Type::new(DType::U32, [40]);
        let (mut low, mut high) = (cx.zeros(&ty), cx.full(&ty, 100));
        for _ in 0..steps {
            let half = cx.div(cx.sub(high, low), cx.full(&ty, 2));
            let middle = cx.add(low, half);
            let found = cx.take(x[0], middle, 0, Bounds::Clip);
            let less = cx.compare(x[1], Comparison::Le, found);
            low = cx.select(less, low, middle);
            high = cx.select(less, middle, high);
        }
        vec![high]
    });
    assert_eq!(gathers(&f), steps);
    let x = Array::vector((0..100).map(|k| (k / 2) as f32).collect::<Vec<_>>());
    let q = Array::vector((0..40).map(|k| k as f32 * 1.4 - 2.0).collect::<Vec<_>>());
    for x in layouts(&x) {
        let args = [x, crate::tensor::Tensor::from(&q)];
        PlannedFunction::new(&f).check("a search", &args);
    }
}

/// Blocks at computed indices: their axes are one line, or lines of elements that are apart, whose
/// starts are those of other axes.
#[test]
fn blocks_at_computed_indices_in_any_order_of_axes() {
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for dtype in [DType::F16, DType::F32, DType::F64, DType::C64, DType::C128] {
        let types = [
            Type::new(dtype, [5, 4, 3]),
            Type::new(DType::I32, [6]),
            Type::new(dtype, [6, 4, 3]),
        ];
        let f = function(&types, |cx, x| {
            let taken = cx.take(x[0], x[1], 0, Bounds::Clip);
            let mut out = Vec::new();
            for order in orders {
                let turned = cx.transpose(taken, &order);
                let other = cx.transpose(x[2], &order);
                out.push(cx.add(turned, other));
                out.extend((0..3).map(|k| cx.reduce_sum(cx.mul(turned, other), &[k])));
            }
            out
        });
        let planned = PlannedFunction::new(&f);
        let numbers = |n: usize| (0..n).map(|k| (k * 7 % 23) as f64 / 8.0 - 1.0).collect();
        let [x, y] = [[5, 4, 3], [6, 4, 3]].map(|shape: [usize; 3]| {
            let x = Array::from_vec(shape, numbers(shape.iter().product())).unwrap();
            let to = function(&[x.ty()], |cx, x| vec![cx.convert(x[0], dtype)]);
            reference::run(&to, &[x]).unwrap().remove(0)
        });
        let at = Array::vector(vec![4, 0, -2, 3, 3, 9]);
        for x in layouts(&x) {
            let [at, y] = [&at, &y].map(crate::tensor::Tensor::from);
            planned.check(&format!("blocks of {dtype}"), &[x, at, y]);
        }
    }
}
