//! Raising of graphs: only programs that ask for it, regions included, and loops that count.

use cotangent_core::check::Rng;
use cotangent_core::ops::{Checkpoint, Comparison};
use cotangent_core::rewrite::{raise, simplify};
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Type, Val, reference, verify};

/// A function of operands of these types.
fn build(types: &[Type], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Function {
    let b = Builder::new("f", Default::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = f(&b, &x);
    b.finish(&y).unwrap()
}

fn ops(f: &Function) -> Vec<&str> {
    f.eqns().iter().map(|e| e.op.name()).collect()
}

fn scalar(dtype: DType) -> Type {
    Type::scalar(dtype)
}

/// `1 / (1 + e^-x)`.
fn quotient(cx: &dyn Emit, x: Val) -> Val {
    let one = cx.full_like(x, 1.0);
    cx.div(one, cx.add(one, cx.exp(cx.neg(x))))
}

#[test]
fn a_program_that_does_not_ask_keeps_its_operations() {
    let f = build(&[scalar(DType::F64)], |cx, x| vec![quotient(cx, x[0])]);
    assert!(ops(&simplify(&f)).contains(&"exp"));
    assert_eq!(ops(&raise(&f)), ["logistic"]);
}

#[test]
fn a_program_without_patterns_stays_as_it_is_with_its_dead_code() {
    let f = build(&[scalar(DType::F64)], |cx, x| {
        cx.sin(x[0]);
        vec![cx.cos(x[0])]
    });
    assert!(raise(&f).same(&f));
}

#[test]
fn regions_and_called_functions_are_raised() {
    let ty = scalar(DType::F64);
    let f = build(&[ty.clone(), Type::new(DType::F64, [4])], |cx, x| {
        let n = Dim::Const(4);
        let body = |cx: &dyn Emit, _: &[Val], c: &[Val], x: &[Val]| {
            (vec![quotient(cx, cx.add(c[0], x[0]))], vec![])
        };
        cx.scan(&[], &[x[0]], &[x[1]], &n, false, body).0
    });
    let g = raise(&f);
    verify(&g).unwrap();
    assert_eq!(ops(g.eqns()[0].op.regions()[0]), ["add", "logistic"]);
    let x = [Array::scalar(0.3), Array::vector(vec![1.0, -2.0, 0.5, 4.0])];
    let (a, b) = (
        reference::run(&f, &x).unwrap(),
        reference::run(&g, &x).unwrap(),
    );
    assert!((a[0].to_f64()[0] - b[0].to_f64()[0]).abs() < 1e-15);
}

#[test]
fn patterns_hold_for_every_size_of_a_symbolic_extent() {
    let n = Dim::sym("n");
    let ty = Type::new(DType::F64, vec![n, Dim::Const(3)]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let most = cx.max_or_least(x[0], &[1]);
        let e = cx.exp(cx.sub(x[0], cx.spread(most, &ty, &[1])));
        vec![cx.div(e, cx.spread(cx.reduce_sum(e, &[1]), &ty, &[1]))]
    });
    let g = raise(&f);
    verify(&g).unwrap();
    assert_ne!(ops(&g), ops(&f));
    for rows in [0usize, 1, 5] {
        let x: Vec<f64> = (0..3 * rows).map(|k| (k * k % 7) as f64 - 3.0).collect();
        let x = [Array::from_vec([rows, 3], x).unwrap()];
        let (a, b) = (
            reference::run(&f, &x).unwrap(),
            reference::run(&g, &x).unwrap(),
        );
        let pairs = a[0].to_f64().into_iter().zip(b[0].to_f64());
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-15, "{a} and {b}"));
    }
}

/// A loop over the rows of the first operand: `c = sin(c) x[a i + b]` from `i = first` while
/// `i < last`, with the row of each step stacked.
#[derive(Clone, Copy)]
struct Loop {
    first: i64,
    last: i64,
    step: i64,
    /// The row is `scale i + offset`.
    scale: i64,
    offset: i64,
    counter: DType,
    checkpoint: Checkpoint,
}

const PLAIN: Loop = Loop {
    first: 0,
    last: 5,
    step: 1,
    scale: 1,
    offset: 0,
    counter: DType::I32,
    checkpoint: Checkpoint::Never,
};

/// The loop over `x: f64[5, 2]` from `c: f64[2]`, with another use of the counter.
fn counted(l: Loop) -> Function {
    let types = [Type::new(DType::F64, [5, 2]), Type::new(DType::F64, [2])];
    build(&types, |cx, x| {
        let int = scalar(l.counter);
        let init = [cx.full(&int, l.first), x[1], cx.zeros(&cx.ty(x[0]))];
        let cond = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
            let last = cx.full_like(c[0], l.last);
            cx.compare(
                c[0],
                if l.step > 0 {
                    Comparison::Lt
                } else {
                    Comparison::Gt
                },
                last,
            )
        };
        let body = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
            let number = |n: i64| cx.full_like(c[0], n);
            let row = cx.add(cx.mul(number(l.scale), c[0]), number(l.offset));
            let zero = number(0);
            let size = [Dim::Const(1), Dim::Const(2)];
            let line = cx.reshape(cx.dynamic_slice(w[0], &[row, zero], &size), &size[1..]);
            let state = cx.mul(
                cx.sin(c[1]),
                cx.add(
                    line,
                    cx.convert(cx.broadcast_in_dim(c[0], &size[1..], &[]), DType::F64),
                ),
            );
            let written = cx.reshape(state, &size);
            let stack = cx.dynamic_update_slice(c[2], written, &[row, zero]);
            vec![cx.add(c[0], number(l.step)), state, stack]
        };
        cx.checkpointing(l.checkpoint)
            .while_loop(&[x[0]], &init, cond, body)
    })
}

#[test]
fn a_loop_that_counts_becomes_a_scan_with_equal_bits() {
    let backward = Loop {
        first: 4,
        last: -1,
        step: -1,
        ..PLAIN
    };
    let part = Loop {
        first: 1,
        last: 4,
        ..PLAIN
    };
    let reversed = Loop {
        scale: -1,
        offset: 4,
        ..PLAIN
    };
    let shifted = Loop {
        first: -3,
        last: 0,
        offset: 4,
        ..PLAIN
    };
    let none = Loop { last: 0, ..PLAIN };
    for l in [
        PLAIN,
        backward,
        part,
        reversed,
        shifted,
        none,
        Loop {
            counter: DType::U8,
            ..PLAIN
        },
    ] {
        let f = counted(l);
        let g = raise(&f);
        verify(&g).unwrap();
        assert!(
            ops(&g).contains(&"scan") && !ops(&g).contains(&"while"),
            "{:?}",
            ops(&g)
        );
        let x = [
            Array::from_vec([5, 2], (0..10).map(|k| f64::from(k) * 0.3 - 1.0).collect()).unwrap(),
            Array::vector(vec![0.4, -1.2]),
        ];
        assert_eq!(
            reference::run(&f, &x).unwrap(),
            reference::run(&g, &x).unwrap()
        );
        let back = |f: &Function| {
            let back = vjp(&AdContext::default(), f, f.params()).unwrap();
            let y = reference::run(f, &x).unwrap();
            let seeds = y.into_iter().filter(|y| y.dtype().is_float());
            let all: Vec<Array> = x.iter().cloned().chain(seeds).collect();
            reference::run(&back, &all).unwrap()
        };
        for (a, b) in back(&f).iter().zip(&back(&g)) {
            let pairs = a.to_f64().into_iter().zip(b.to_f64());
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} and {b}"));
        }
    }
}

/// A loop over `n + rows` rows of `x: f64[n + rows]` from `c: f64`, as [`Loop`]: numbers of which
/// the second counts `n`.
#[derive(Clone, Copy, Debug)]
struct SymbolicLoop {
    first: [i64; 2],
    last: [i64; 2],
    step: i64,
    /// The row is `scale i + offset`.
    scale: i64,
    offset: [i64; 2],
    compare: Comparison,
    counter: DType,
    rows: i64,
}

const UP: SymbolicLoop = SymbolicLoop {
    first: [0, 0],
    last: [0, 1],
    step: 1,
    scale: 1,
    offset: [0, 0],
    compare: Comparison::Lt,
    counter: DType::I64,
    rows: 0,
};

fn symbolic(l: SymbolicLoop) -> Function {
    let n = Dim::sym("n");
    let ty = Type::new(DType::F64, vec![n.affine(1, l.rows)]);
    build(
        &[
            ty,
            Type::new(DType::F64, vec![n.clone()]),
            scalar(DType::F64),
        ],
        |cx, x| {
            let int = scalar(l.counter);
            // Sums of numbers and extents, as programs compute them outside of a loop.
            let count = |[number, times]: [i64; 2]| {
                let extent = cx.convert(cx.extent(&scalar(DType::I32), &n), l.counter);
                match times {
                    0 => cx.full(&int, number),
                    1 => cx.add(extent, cx.full(&int, number)),
                    _ => cx.sub(cx.full(&int, number), extent),
                }
            };
            let consts = [x[0], count(l.last), count(l.offset)];
            let init = [count(l.first), x[2], cx.zeros(&cx.ty(x[0]))];
            let cond = |cx: &dyn Emit, w: &[Val], c: &[Val]| cx.compare(c[0], l.compare, w[1]);
            let body = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                let number = |n: i64| cx.full_like(c[0], n);
                let row = cx.add(cx.mul(number(l.scale), c[0]), w[2]);
                // As programs read negative indices.
                let wrapped = cx.add(row, cx.extent(&int, &cx.ty(x[0]).shape[0]));
                let negative = cx.compare(row, Comparison::Lt, number(0));
                let row = cx.select(negative, wrapped, row);
                let one = [Dim::Const(1)];
                let line = cx.reshape(cx.dynamic_slice(w[0], &[row], &one), &[]);
                let state = cx.mul(cx.sin(c[1]), cx.add(line, cx.convert(c[0], DType::F64)));
                let stack = cx.dynamic_update_slice(c[2], cx.reshape(state, &one), &[row]);
                vec![cx.add(c[0], number(l.step)), state, stack]
            };
            cx.while_loop(&consts, &init, cond, body)
        },
    )
}

/// Operands of a symbolic loop over `rows` rows.
fn symbolic_inputs(rows: usize, n: i64) -> [Array; 3] {
    [
        Array::vector((0..rows).map(|k| 1.5 - 0.4 * k as f64).collect::<Vec<_>>()),
        Array::vector(vec![0.0; n as usize]),
        Array::scalar(0.7),
    ]
}

/// Loops that become scans, and whether their rows are scanned.
fn symbolic_loops() -> Vec<(SymbolicLoop, bool)> {
    let narrow = |l: SymbolicLoop| SymbolicLoop {
        counter: DType::I32,
        ..l
    };
    let to = |last: [i64; 2], compare| SymbolicLoop {
        last,
        compare,
        ..UP
    };
    let from = |first: [i64; 2], rows| SymbolicLoop { first, rows, ..UP };
    let at = |scale, offset: [i64; 2]| SymbolicLoop {
        scale,
        offset,
        ..UP
    };
    let by = |step, last: [i64; 2]| SymbolicLoop { step, last, ..UP };
    let down = SymbolicLoop {
        first: [-1, 1],
        step: -1,
        ..to([0, 0], Comparison::Ge)
    };
    let reversed = at(-1, [-1, 1]);
    vec![
        (UP, true),
        (narrow(UP), true),
        (down, true),
        (narrow(down), true),
        (reversed, true),
        (narrow(reversed), true),
        (from([0, 0], 3), true),
        (from([2, 0], 2), true),
        (from([1, 0], 0), true),
        (
            SymbolicLoop {
                rows: 3,
                ..at(1, [3, 0])
            },
            true,
        ),
        (to([-1, 1], Comparison::Lt), true),
        (to([0, 1], Comparison::Ne), true),
        (to([-1, 1], Comparison::Le), true),
        // Rows that are clamped, or of which some are skipped.
        (at(1, [1, 0]), false),
        (to([1, 1], Comparison::Lt), false),
        (by(2, [0, 1]), false),
        (by(3, [2, 1]), false),
    ]
}

#[test]
fn a_loop_that_counts_to_an_extent_becomes_a_scan_with_equal_bits() {
    for (l, scanned) in symbolic_loops() {
        let f = symbolic(l);
        let g = raise(&f);
        verify(&g).unwrap();
        let scan = g.eqns().iter().find(|e| e.op.name() == "scan");
        let scan = scan.unwrap_or_else(|| panic!("{l:?}: {:?}", ops(&g)));
        let reads = ops(scan.op.regions()[0]).contains(&"dynamic_slice");
        assert_eq!(reads, !scanned, "{l:?}");
        for n in 0..6 {
            let rows = (n + l.rows) as usize;
            let x = symbolic_inputs(rows, n);
            let run = |f: &Function| reference::run(f, &x).unwrap();
            // A step that reads a row of none.
            if rows == 0 && [[1, 1], [2, 1]].contains(&l.last) {
                assert!([&f, &g].iter().all(|f| reference::run(f, &x).is_err()));
                continue;
            }
            assert_eq!(run(&f), run(&g), "{l:?} n {n}");
            let back = |f: &Function| {
                let back = vjp(&AdContext::default(), f, f.params()).unwrap();
                let seeds = run(f).into_iter().filter(|y| y.dtype().is_float());
                let all: Vec<Array> = x.iter().cloned().chain(seeds).collect();
                reference::run(&back, &all).unwrap()
            };
            for (a, b) in back(&f).iter().zip(&back(&g)) {
                let pairs = a.to_f64().into_iter().zip(b.to_f64());
                pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{l:?} n {n}: {a} and {b}"));
            }
        }
    }
}

#[test]
fn random_loops_to_extents_keep_their_bits() {
    let mut rng = Rng::new(11);
    let (mut scans, mut scanned) = (0, 0);
    for _ in 0..2000 {
        let mut number = |least: i64, count: usize| least + rng.below(count) as i64;
        let count = |number: &mut dyn FnMut(i64, usize) -> i64| [number(-3, 7), number(0, 2)];
        let up = number(0, 2) == 0;
        let strict = number(0, 2) == 0;
        let l = SymbolicLoop {
            first: count(&mut number),
            last: count(&mut number),
            step: if up { number(1, 3) } else { -number(1, 3) },
            scale: number(-2, 5),
            offset: count(&mut number),
            compare: match (up, strict) {
                (true, true) => Comparison::Lt,
                (true, false) => Comparison::Le,
                (false, true) => Comparison::Gt,
                (false, false) => Comparison::Ge,
            },
            counter: [DType::I32, DType::I64][number(0, 2) as usize],
            rows: number(0, 4),
        };
        let f = symbolic(l);
        let g = raise(&f);
        verify(&g).unwrap();
        let scan = g.eqns().iter().find(|e| e.op.name() == "scan");
        let reads = scan.map(|e| ops(e.op.regions()[0]).contains(&"dynamic_slice"));
        scans += usize::from(scan.is_some());
        scanned += usize::from(reads == Some(false));
        for n in 0..5 {
            let rows = (n + l.rows) as usize;
            let x = symbolic_inputs(rows, n);
            match (reference::run(&f, &x), reference::run(&g, &x)) {
                (Ok(a), Ok(b)) => assert_eq!(a, b, "{l:?} n {n}: {g}"),
                (Err(_), Err(_)) if rows == 0 => {}
                (a, b) => panic!("{l:?} n {n}: {a:?} and {b:?}: {g}"),
            }
        }
    }
    assert!(
        scans > 1000 && scanned > 30,
        "{scans} scans, {scanned} of rows"
    );
}

#[test]
fn rows_out_of_bounds_stay_reads_of_the_whole_array() {
    // Such a loop counts, but its rows are clamped.
    let f = counted(Loop { offset: 1, ..PLAIN });
    let g = raise(&f);
    let scan = g.eqns().iter().find(|e| e.op.name() == "scan").unwrap();
    assert!(ops(scan.op.regions()[0]).contains(&"dynamic_slice"));
}

#[test]
fn a_loop_that_may_not_end_or_that_saves_by_a_policy_stays() {
    for l in [
        // The counter wraps before it reaches the bound.
        Loop {
            first: 250,
            last: 255,
            step: 10,
            counter: DType::U8,
            ..PLAIN
        },
        Loop { step: 0, ..PLAIN },
        Loop {
            checkpoint: Checkpoint::Every(2),
            ..PLAIN
        },
    ] {
        let f = counted(l);
        assert!(raise(&f).same(&f), "{:?}", ops(&raise(&f)));
    }
    // The bound is an operand.
    let f = build(&[scalar(DType::I64), scalar(DType::F64)], |cx, x| {
        let init = [cx.full(&scalar(DType::I64), 0i64), x[1]];
        let less = |cx: &dyn Emit, w: &[Val], c: &[Val]| cx.compare(c[0], Comparison::Lt, w[0]);
        cx.while_loop(&[x[0]], &init, less, |cx, _, c| {
            vec![cx.add(c[0], cx.full_like(c[0], 1i64)), cx.sin(c[1])]
        })
    });
    assert!(raise(&f).same(&f));
}

#[test]
fn long_chains_of_operations_on_constants_take_linear_time() {
    // Every equation ends a pattern that is looked for through the preceding ones.
    let f = build(&[Type::new(DType::F64, [2])], |cx, x| {
        let mut v = x[0];
        for _ in 0..100_000 {
            v = cx.neg(cx.mul(v, cx.full_like(v, 1.0)));
            v = cx.reshape(
                cx.reshape(v, &[Dim::Const(1), Dim::Const(2)]),
                &[Dim::Const(2)],
            );
        }
        vec![v]
    });
    let start = std::time::Instant::now();
    assert!(raise(&f).same(&f));
    assert!(start.elapsed().as_secs() < 20);
}
