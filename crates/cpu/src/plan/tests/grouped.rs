//! Steps of groups: how many there are, and the memory that they need.

use super::super::arena::ARENA_BYTES;
use super::super::build::{PlanParts, StepKind};
use super::super::laid::{LaidStep, Resolved};
use super::PlannedFunction;
use super::memory::resolved;
use crate::executor::Executor;
use crate::nests::tests::function;
use crate::tensor::Tensor;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{Array, DType, Dim, Emit, Env, Function, Type, Val, reference};
use std::sync::Arc;

fn rows(cx: &dyn Emit, v: Val, of: Val) -> Val {
    cx.broadcast_in_dim(v, &cx.ty(of).shape, &[0])
}

fn softmax(cx: &dyn Emit, x: Val) -> Val {
    let e = cx.exp(cx.sub(x, rows(cx, cx.reduce_max(x, &[1]), x)));
    cx.div(e, rows(cx, cx.reduce_sum(e, &[1]), x))
}

fn layer_norm(cx: &dyn Emit, x: Val) -> Val {
    let mean = |v| {
        let n = cx.ty(x).shape[1].as_const().unwrap() as f64;
        let s = cx.reduce_sum(v, &[1]);
        cx.div(s, cx.full_like(s, n))
    };
    let c = cx.sub(x, rows(cx, mean(x), x));
    let variance = mean(cx.mul(c, c));
    let small = cx.full_like(variance, 1e-5);
    let scale = cx.rsqrt(cx.add(variance, small));
    cx.mul(c, rows(cx, scale, x))
}

fn log_sum_exp(cx: &dyn Emit, x: Val) -> Val {
    let m = cx.reduce_max(x, &[1]);
    let e = cx.exp(cx.sub(x, rows(cx, m, x)));
    cx.add(m, cx.log(cx.reduce_sum(e, &[1])))
}

fn numbers(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let x = (0..n).map(|i| (i * 7919 % 1009) as f32 / 250.0 - 2.0);
    Array::from_vec(shape.to_vec(), x.collect::<Vec<f32>>()).unwrap()
}

/// The number of phases of each step.
fn phases(parts: &PlanParts) -> Vec<usize> {
    let count = |kind: &StepKind| match kind {
        StepKind::Code(c) => c.phases.len(),
        StepKind::Call(_) => 0,
    };
    parts.steps.iter().map(|s| count(&s.kind)).collect()
}

/// Whether all phases of the one step run on a block of rows before the next.
fn by_rows(r: &Resolved) -> bool {
    matches!(&r.steps[..], [LaidStep::Code(l)] if l.rows.is_some())
}

type Body = fn(&dyn Emit, Val) -> Val;

#[test]
fn functions_of_rows_are_one_step_without_an_arena() {
    let all: [(&str, Body); 3] = [
        ("softmax", softmax),
        ("layer norm", layer_norm),
        ("log-sum-exp", log_sum_exp),
    ];
    for (name, body) in all {
        for shape in [[200, 256], [500, 4]] {
            let ty = Type::new(DType::F32, shape);
            let f = Arc::new(function(&[ty], |cx, x| vec![body(cx, x[0])]));
            let (parts, r) = resolved(&f);
            let count = phases(&parts);
            assert_eq!(count.len(), 1, "{name} of {shape:?}");
            // Rows of four are unrolled: there is one phase.
            assert_eq!(count[0] == 1, shape[1] == 4, "{name} of {shape:?}");
            assert_eq!((r.arena, by_rows(&r)), (0, shape[1] > 4), "{name}");
            PlannedFunction::new(&f).check(name, &[Tensor::from(numbers(&shape))]);
        }
    }
}

#[test]
fn long_rows_run_phase_after_phase_in_the_arena() {
    let shape = [3, 40_000];
    let ty = Type::new(DType::F32, shape);
    let f = Arc::new(function(&[ty], |cx, x| vec![softmax(cx, x[0])]));
    let (parts, r) = resolved(&f);
    assert!(phases(&parts).len() == 1 && !by_rows(&r));
    // The exponentials, and the greatest numbers of rows, then their sums.
    assert_eq!(r.arena, 3 * 40_000 * 4 + 64);
    PlannedFunction::new(&f).check("softmax", &[Tensor::from(numbers(&shape))]);
}

#[test]
fn a_chain_of_elementwise_operations_is_one_phase_without_an_arena() {
    let f = Arc::new(function(&[Type::new(DType::F32, [100, 100])], |cx, x| {
        let mut y = x[0];
        for _ in 0..10 {
            let z = cx.mul(cx.sin(y), y);
            y = cx.add(cx.transpose(cx.exp(z), &[1, 0]), z);
        }
        vec![y]
    }));
    let (parts, r) = resolved(&f);
    assert_eq!(r.arena % 40_000, 0, "{}", r.arena);
    let one = Arc::new(function(&[Type::new(DType::F32, [100, 100])], |cx, x| {
        let y = (0..100).fold(x[0], |y, _| cx.mul(cx.sin(y), y));
        vec![y, cx.exp(y)]
    }));
    drop(parts);
    let (parts, r) = resolved(&one);
    assert_eq!((phases(&parts), r.arena), (vec![1], 0));
    for f in [f, one] {
        PlannedFunction::new(&f).check("a chain", &[Tensor::from(numbers(&[100, 100]))]);
    }
}

fn cross(cx: &dyn Emit, a: Val, b: Val) -> Val {
    let part = |v, k: usize| cx.slice_axis(v, 1, k, k + 1);
    let term = |i, j| {
        cx.sub(
            cx.mul(part(a, i), part(b, j)),
            cx.mul(part(a, j), part(b, i)),
        )
    };
    cx.concatenate(&[term(1, 2), term(2, 0), term(0, 1)], 1)
}

/// The derivative of a sum of squares of vector products.
fn cross_gradient(n: usize) -> Function {
    let ty = Type::new(DType::F32, [n, 3]);
    let f = function(&[ty.clone(), ty], |cx, x| {
        let y = cross(cx, x[0], x[1]);
        vec![cx.reduce_sum(cx.mul(y, y), &[0, 1])]
    });
    simplify(&grad(&AdContext::default(), &f, f.params()).unwrap())
}

#[test]
fn the_gradient_of_a_vector_product_is_one_phase_without_an_arena() {
    let f = Arc::new(cross_gradient(1000));
    let (parts, r) = resolved(&f);
    let text = crate::plan_text(&f, &Env::default()).unwrap();
    assert_eq!((phases(&parts), r.arena), (vec![1], 0), "{text}");
    let x = numbers(&[1000, 3]);
    PlannedFunction::new(&f).check("cross", &[Tensor::from(&x), Tensor::from(x)]);
}

/// A run takes the arena that its plan prints from the pool.
#[test]
fn the_printed_arena_is_what_is_allocated() {
    let f = Arc::new(function(&[Type::new(DType::F32, [600, 500])], |cx, x| {
        let both = |y| cx.add(y, cx.reverse(y, &[0, 1]));
        let y = softmax(cx, both(cx.exp(x[0])));
        vec![cx.reduce_sum(both(cx.sin(cx.transpose(both(y), &[1, 0]))), &[0])]
    }));
    let (_, r) = resolved(&f);
    let text = crate::plan_text(&f, &Env::default()).unwrap();
    assert!(text.contains(&format!("arena {} B", r.arena)), "{text}");
    assert!(r.arena >= 1_200_000, "{text}");
    let program = Executor::new().stepwise().compile(&f).unwrap();
    ARENA_BYTES.set(0);
    program.run(&[numbers(&[600, 500])]).unwrap();
    assert_eq!(ARENA_BYTES.get(), r.arena);
}

/// The gradient of a sum of products of all numbers of a vector, each taken by a slice.
#[test]
fn a_sum_of_pads_adds_each_term_where_it_is_not_zero() {
    let n = 40;
    for dtype in [DType::F32, DType::F64] {
        let f = function(&[Type::new(dtype, [n, 1])], |cx, x| {
            let part = |k| cx.slice_axis(x[0], 0, k, k + 1);
            let terms = (0..n).map(|k| cx.mul(part(k), cx.sin(part((k * 7 + 3) % n))));
            let sum = terms.reduce(|s, t| cx.add(s, t)).unwrap();
            vec![cx.reduce_sum(sum, &[0, 1])]
        });
        let g = simplify(&grad(&AdContext::default(), &f, f.params()).unwrap());
        let g = Arc::new(g);
        let (parts, r) = resolved(&g);
        let mut elements = 0;
        for step in &r.steps {
            if let LaidStep::Code(l) = step {
                let boxes = l.phases.iter().flat_map(|p| &p.boxes);
                elements += boxes.map(|b| b.volume * b.leaves.len()).sum::<usize>();
            }
        }
        assert!(
            elements < 20 * n,
            "{elements} reads in {:?}",
            phases(&parts)
        );
        let x = numbers(&[n, 1]);
        let x = cotangent_core::reference::run(&convert(dtype, n), &[x]).unwrap();
        PlannedFunction::new(&g).check("a sum of pads", &[Tensor::from(&x[0])]);
        // Signs of zeros.
        let zeros = Array::zeros(dtype, vec![n, 1]).unwrap();
        PlannedFunction::new(&g).check("zeros", &[Tensor::from(zeros)]);
    }
}

/// The conversion of a column of numbers.
fn convert(to: DType, n: usize) -> Function {
    function(&[Type::new(DType::F32, [n, 1])], |cx, x| {
        vec![cx.convert(x[0], to)]
    })
}

/// Sums and differences of neighbours, side by side, of the sums again and again.
fn haar(cx: &dyn Emit, x: Val, levels: usize) -> Val {
    let n = cx.ty(x).shape[0].clone();
    let part = |i: usize, j: usize| {
        let first = [i, j].map(Dim::from);
        cx.slice(x, &first, &[n.clone(), n.clone()], &[2, 2])
    };
    let [a, b, c, d] = [part(0, 0), part(0, 1), part(1, 0), part(1, 1)];
    // The sum and the difference along the second axis, of both rows.
    let rows = [[a, b], [c, d]].map(|[p, q]| [cx.add(p, q), cx.sub(p, q)]);
    let [low, across] = [0, 1].map(|k| cx.add(rows[0][k], rows[1][k]));
    let [down, both] = [0, 1].map(|k| cx.sub(rows[0][k], rows[1][k]));
    let low = match levels {
        1 => low,
        _ => haar(cx, low, levels - 1),
    };
    let [top, bottom] = [[low, across], [down, both]].map(|x| cx.concatenate(&x, 1));
    cx.concatenate(&[top, bottom], 0)
}

#[test]
fn a_box_computes_the_pieces_that_it_chooses() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I16, DType::C64] {
        let ty = Type::new(dtype, [32, 32]);
        let f = Arc::new(function(&[ty], |cx, x| {
            let y = haar(cx, x[0], 3);
            vec![y, cx.reduce_sum(cx.mul(y, y), &[0, 1])]
        }));
        let (parts, r) = resolved(&f);
        let mut least = usize::MAX;
        for (step, laid) in parts.steps.iter().zip(&r.steps) {
            let (StepKind::Code(c), LaidStep::Code(l)) = (&step.kind, laid) else {
                continue;
            };
            for (p, l) in c.phases.iter().zip(&l.phases) {
                let decided = l.boxes.iter().filter_map(|b| b.decided.as_ref());
                let share = |n: usize| 100 * n / p.code.body.steps();
                least = decided
                    .map(|d| share(d.body.steps()))
                    .fold(least, usize::min);
            }
        }
        assert!(least < 50, "{dtype}: at least {least} % of the operations");
        let x = reference_numbers(dtype, &[32, 32]);
        for x in super::layouts(&x) {
            PlannedFunction::new(&f).check("pieces", &[x]);
        }
    }
}

#[test]
fn outputs_that_are_equally_far_apart_are_one_run() {
    let ty = Type::new(DType::F32, [32, 32]);
    let f = Arc::new(function(&[ty], |cx, x| {
        let y = haar(cx, x[0], 3);
        vec![cx.reduce_sum(cx.mul(y, y), &[0, 1])]
    }));
    let g = grad(&AdContext::default(), &f, f.params()).unwrap();
    let g = Arc::new(simplify(&g));
    let (_, r) = resolved(&g);
    let mut apart = 0;
    for laid in &r.steps {
        let LaidStep::Code(l) = laid else { continue };
        for b in l.phases.iter().flat_map(|p| &p.boxes) {
            // An axis that is split by steps of two is one loop again.
            assert!(b.outer.len() <= 2, "{:?}", b.outer);
            apart += usize::from(b.block == 1 && b.outer.len() == 2);
        }
    }
    assert!(apart > 0, "no box has outputs that are apart");
}

/// Boxes of all stored values of a function.
fn boxes_of(f: &Arc<Function>) -> Vec<usize> {
    let (_, r) = resolved(f);
    let counts = r.steps.iter().map(|laid| match laid {
        LaidStep::Code(l) => l.phases.iter().map(|p| p.boxes.len()).collect(),
        _ => Vec::new(),
    });
    counts.flatten().collect()
}

/// A border is cut along one axis only, and pieces are cut where they differ.
#[test]
fn boxes_are_cut_where_reads_are_not_decided() {
    for dtype in [DType::F32, DType::C128, DType::I8] {
        let ty = Type::new(dtype, [20, 20, 20]);
        let padded = Arc::new(function(&[ty], |cx, x| {
            let y = cx.pad_zeros(x[0], &[1, 1, 1], &[1, 1, 1], &[0, 0, 0]);
            vec![cx.mul(y, cx.full_like(y, 3.0))]
        }));
        assert_eq!(boxes_of(&padded).iter().max(), Some(&7), "{dtype}");
        // More pieces than an axis has ranges, each rolled along two axes.
        let ty = Type::new(dtype, [12, 19, 23]);
        let rolled = Arc::new(function(&[ty], |cx, x| {
            let roll = |y: Val, axis: usize, by: usize| {
                let n = cx.ty(y).shape[axis].as_const().unwrap();
                let [low, high] = [(0, by), (by, n)].map(|(a, b)| cx.slice_axis(y, axis, a, b));
                cx.concatenate(&[high, low], axis)
            };
            let piece = |k: usize| {
                let own = cx.slice_axis(x[0], 0, k, k + 1);
                roll(roll(own, 1, k + 2), 2, 2 * k + 1)
            };
            let all: Vec<Val> = (0..12).map(piece).collect();
            let y = cx.concatenate(&all, 0);
            vec![cx.mul(y, cx.full_like(y, 3.0))]
        }));
        let most = boxes_of(&rolled).into_iter().max().unwrap();
        assert!(most <= 12 * 4, "{dtype}: {most} boxes");
        for (f, shape) in [(padded, vec![20, 20, 20]), (rolled, vec![12, 19, 23])] {
            let x = reference_numbers(dtype, &shape);
            for x in super::layouts(&x) {
                PlannedFunction::new(&f).check("boxes", &[x]);
            }
        }
    }
}

pub(super) fn reference_numbers(dtype: DType, shape: &[usize]) -> Array {
    let to = function(&[Type::new(DType::F32, shape)], |cx, x| {
        vec![cx.convert(cx.mul(x[0], cx.full_like(x[0], 50.0)), dtype)]
    });
    reference::run(&to, &[numbers(shape)]).unwrap().remove(0)
}
