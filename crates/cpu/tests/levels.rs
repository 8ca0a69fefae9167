//! Programs give the same bits with every instruction set, both engines and any number of threads.
//! The process reads these settings once, so each combination runs in a child process. Fused
//! programs give the bits of their equations run one by one, with operands at any alignment.

use cotangent_core::check::random::{Case, graph};
use cotangent_core::ops::{Comparison, Reduction, entries};
use cotangent_core::rewrite::simplify;
use cotangent_core::text::print_function;
use cotangent_core::transform::{AdContext, Session, grad, vjp};
use cotangent_core::{Array, Builder, DType, Emit, Env, Function, Type, Val, Wide};
use cotangent_cpu::{Executor, Tensor, compile};
use std::process::Command;
use std::sync::Arc;

mod common;

/// Hashes an array (FNV-1a over the bits; all NaNs are equal).
fn mix(hash: &mut u64, a: &Array) {
    let mut eat = |x: f64| {
        let bits = if x.is_nan() {
            0x7ff8 << 48
        } else {
            x.to_bits()
        };
        bits.to_le_bytes()
            .iter()
            .for_each(|&b| *hash = (*hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    };
    match a.wide() {
        Wide::F(v) => v.into_iter().for_each(eat),
        Wide::C(v) => v
            .into_iter()
            .for_each(|z| [z.re, z.im].into_iter().for_each(&mut eat)),
        Wide::I(v) => v.into_iter().for_each(|x| eat(x as f64)),
    }
}

fn run(hash: &mut u64, f: Function, args: &[Array]) {
    if let Ok(y) = compile(&Arc::new(f)).and_then(|p| p.run(args)) {
        y.iter().for_each(|y| mix(hash, y));
    }
}

/// Numbers without a short period.
fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let x = (0..n).map(|i| (i * 7919 % n) as f64 / n as f64 * 4.0 - 2.0);
    match dtype {
        DType::F32 => Array::from_vec(shape.to_vec(), x.map(|x| x as f32).collect::<Vec<f32>>()),
        _ => Array::from_vec(shape.to_vec(), x.collect::<Vec<f64>>()),
    }
    .unwrap()
}

/// Programs of one matrix that are large enough to be divided among threads, and their gradients.
fn large() -> Vec<(Function, Vec<Array>)> {
    let bodies: [fn(&dyn Emit, Val) -> Val; 14] = [
        |cx, x| cx.mul(cx.tanh(x), cx.exp(cx.neg(cx.mul(x, x)))),
        |cx, x| cx.softmax(x, 1),
        |cx, x| cx.logsumexp(x, &[1]),
        |cx, x| cx.layer_norm(x, None, None, &[1], 1e-5),
        |cx, x| cx.reduce_sum(cx.exp(x), &[0, 1]),
        |cx, x| cx.reduce_sum(x, &[0, 1]),
        |cx, x| cx.add(cx.reduce_sum(x, &[1]), cx.max_or_least(x, &[1])),
        |cx, x| cx.reduce_sum(x, &[0]),
        |cx, x| cx.softmax(cx.transpose(x, &[1, 0]), 1),
        // Row sums broadcast along columns, and a value read by an operation that is not
        // elementwise.
        |cx, x| {
            let square = cx.mul(x, x);
            let rows = cx.log(cx.reduce_sum(square, &[1]));
            cx.add(
                cx.sub(square, cx.spread(rows, &cx.ty(x), &[1])),
                cx.sort(x, 1, false),
            )
        },
        // A normalisation that keeps the reduced axis with extent 1, with a scale whose gradient is
        // a sum over rows.
        |cx, x| {
            let shape = cx.ty(x).shape;
            let (n, kept) = (shape[0].clone(), [shape[0].clone(), 1.into()]);
            let s = cx.broadcast_in_dim(cx.reduce_sum(cx.mul(x, x), &[1]), &kept, &[0]);
            let norm = cx.rsqrt(cx.div(s, cx.full_like(s, 7.0)));
            let y = cx.mul(
                x,
                cx.broadcast_in_dim(norm, &[n, shape[1].clone()], &[0, 1]),
            );
            let scale = cx.reshape(cx.slice_axis(x, 0, 0, 1), &[shape[1].clone()]);
            cx.mul(y, cx.broadcast_in_dim(scale, &shape, &[1]))
        },
        // Sums of computed columns, in several chunks if they are long.
        |cx, x| cx.reduce_sum(cx.exp(cx.transpose(x, &[1, 0])), &[0]),
        // A transposed operand, packed by blocks of rows.
        |cx, x| cx.sin(cx.transpose(cx.exp(x), &[1, 0])),
        // A triangular mask from a comparison of integers.
        |cx, x| {
            let ty = cx.ty(x);
            let whole = ty.with_dtype(if ty.dtype == DType::F32 {
                DType::I32
            } else {
                DType::I64
            });
            let lower = cx.compare(cx.iota(&whole, 0), Comparison::Ge, cx.iota(&whole, 1));
            cx.select(lower, cx.sin(x), cx.full_like(x, 0.0))
        },
    ];
    let (ad, mut all) = (AdContext::default(), Vec::new());
    for (dtype, shape) in [
        (DType::F32, [257, 1000]),
        (DType::F64, [2, 70_001]),
        (DType::F32, [40, 9_000]),
    ] {
        let x = numbers(dtype, &shape);
        for body in bodies {
            let of = |sum: bool| {
                let b = Builder::new("f", Session::default());
                let x = b.param(Type::new(dtype, shape.as_slice()), None);
                let cx: &dyn Emit = &b;
                let y = body(cx, x);
                let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
                let y = if sum {
                    cx.reduce_sum(cx.mul(y, y), &axes)
                } else {
                    y
                };
                b.finish(&[y]).unwrap()
            };
            let loss = of(true);
            all.push((grad(&ad, &loss, loss.params()).unwrap(), vec![x.clone()]));
            all.push((of(false), vec![x.clone()]));
        }
    }
    all
}

/// Reductions of rows of many lengths, alone and fused with elementwise operations. Some rows
/// contain zeros, infinities or NaN.
fn rows() -> Vec<(Function, Vec<Array>)> {
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let floats: [fn(&dyn Emit, Val) -> Val; 5] = [
        |cx, x| cx.softmax(x, 1),
        |cx, x| cx.logsumexp(x, &[1]),
        |cx, x| cx.layer_norm(x, None, None, &[1], 1e-5),
        |cx, x| cx.reduce_sum(cx.exp(x), &[1]),
        |cx, x| cx.reduce_sum(x, &[0]),
    ];
    let all: [fn(&dyn Emit, Val) -> Val; 4] = [
        |cx, x| cx.reduce_sum(cx.mul(x, x), &[1]),
        |cx, x| cx.sub(cx.max_or_least(cx.add(x, x), &[1]), cx.reduce_sum(x, &[1])),
        |cx, x| {
            cx.mul(
                cx.reduce(Reduction::Prod, x, &[1]),
                cx.reduce_sum(cx.add(x, x), &[1]),
            )
        },
        |cx, x| {
            cx.add(
                cx.max_or_least(x, &[0]),
                cx.neg(cx.max_or_least(cx.neg(x), &[0])),
            )
        },
    ];
    let mut programs = Vec::new();
    for (dtype, n) in [DType::F32, DType::F64, DType::I32]
        .into_iter()
        .flat_map(|t| [0, 1, 7, 63, 64, 65, 127, 1000, 1023, 8193].map(|n| (t, n)))
    {
        let value = |i: usize| match (i / n.max(1), i % 11) {
            (row @ 1..=3, 0) => special[(i / 11 + row) % (1 + 2 * (row - 1))],
            _ => ((i * 7919 % 1009) as f64 / 1009.0 - 0.7) * 4.0,
        };
        let (x, shape) = ((0..5 * n).map(value), vec![5, n]);
        let x = match dtype {
            DType::F32 => Array::from_vec(shape, x.map(|x| x as f32).collect::<Vec<f32>>()),
            DType::F64 => Array::from_vec(shape, x.collect::<Vec<f64>>()),
            _ => Array::from_vec(shape, x.map(|x| (x * 1e5) as i32).collect::<Vec<i32>>()),
        };
        let x = x.unwrap();
        for body in floats.iter().filter(|_| dtype != DType::I32).chain(&all) {
            let b = Builder::new("f", Session::default());
            let p = b.param(Type::new(dtype, [5, n].as_slice()), None);
            let y = body(&b, p);
            programs.push((b.finish(&[y]).unwrap(), vec![x.clone()]));
        }
    }
    programs
}

fn hash(y: &[Array]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    y.iter().for_each(|y| mix(&mut hash, y));
    hash
}

#[test]
fn fused_gives_the_bits_of_the_equations_alone() {
    for (f, args) in large() {
        let program = compile(&Arc::new(f.clone())).unwrap();
        let fused = program.run(&args).unwrap();
        assert_eq!(
            hash(&fused),
            hash(&common::unfused(&f, &args)),
            "{}",
            print_function(&f)
        );
        let simple = simplify(&f);
        let y = compile(&Arc::new(simple.clone()))
            .unwrap()
            .run(&args)
            .unwrap();
        assert_eq!(
            hash(&y),
            hash(&fused),
            "simplified: {}",
            print_function(&simple)
        );
        // The same numbers at an offset of one element.
        let moved = args.iter().map(|x| {
            let n: usize = x.shape().iter().product();
            let one = Tensor::from(numbers(x.dtype(), &[1]));
            let apart = [one.clone(), Tensor::from(x).reshape(&[n]).unwrap(), one];
            let op = cotangent_core::ops::Concatenate { axis: 0 }.into();
            let long = Executor::new()
                .apply(&op, apart.into_iter().collect(), &Env::default())
                .unwrap()
                .remove(0);
            long.slice(0, 1, n, 1).reshape(x.shape()).unwrap()
        });
        let moved = program.run_tensors(moved).unwrap();
        let moved: Vec<Array> = moved.into_iter().map(|y| y.into_array().unwrap()).collect();
        assert_eq!(
            hash(&moved),
            hash(&fused),
            "unaligned: {}",
            print_function(&f)
        );
    }
}

#[test]
fn fused_rows_of_any_length_give_the_bits_of_the_equations_alone() {
    for (f, args) in rows() {
        let program = compile(&Arc::new(f.clone())).unwrap();
        let want = hash(&common::unfused(&f, &args));
        // The second run may use another engine.
        for _ in 0..2 {
            assert_eq!(
                hash(&program.run(&args).unwrap()),
                want,
                "{}",
                print_function(&f)
            );
        }
    }
}

fn everything() -> u64 {
    let (ad, mut hash) = (AdContext::default(), 0xcbf2_9ce4_8422_2325);
    for s in entries().into_iter().flat_map(|e| (e.samples)(e.name)) {
        run(
            &mut hash,
            Function::clone(&common::single(&s.op, &s.operands)),
            &s.operands,
        );
    }
    for seed in 0..150 {
        let Case { function: f, args } = graph(seed, 20).unwrap();
        let wrt: Vec<_> = f
            .params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype.has_tangent())
            .collect();
        if let Ok(g) = vjp(&ad, &f, &wrt) {
            let y = compile(&Arc::new(f.clone())).and_then(|p| p.run(&args));
            let cts = f
                .result_types()
                .into_iter()
                .zip(y.into_iter().flatten())
                .filter(|(t, _)| t.dtype.has_tangent());
            run(
                &mut hash,
                g,
                &args
                    .iter()
                    .cloned()
                    .chain(cts.map(|(_, y)| y))
                    .collect::<Vec<_>>(),
            );
        }
        run(&mut hash, f, &args);
    }
    for (f, args) in large().into_iter().chain(rows()) {
        run(&mut hash, f, &args);
    }
    for (f, args) in (0..40).map(common::products::program) {
        run(&mut hash, Function::clone(&f), &args);
    }
    hash
}

#[test]
fn every_level_engine_and_number_of_threads_gives_the_same_bits() {
    if std::env::var("LEVELS_CHILD").is_ok() {
        println!("hash {:016x}", everything());
        return;
    }
    let of = |level: &str, engine: &str, threads: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "every_level_engine_and_number_of_threads_gives_the_same_bits",
            "--nocapture",
        ]);
        child.env("LEVELS_CHILD", "1").env("COTANGENT_SIMD", level);
        child
            .env("COTANGENT_ENGINE", engine)
            .env("COTANGENT_THREADS", threads);
        let text = String::from_utf8(child.output().unwrap().stdout).unwrap();
        let at = text
            .find("hash ")
            .unwrap_or_else(|| panic!("{level}: {text}"));
        text[at..at + 21].to_string()
    };
    let want = of("portable", "interpreter", "1");
    let choices = [
        ("avx2", "emitter", "2"),
        ("avx2", "interpreter", "1"),
        ("avx512", "emitter", "8"),
        ("avx512", "interpreter", "2"),
        ("avx512", "", "1"),
        ("portable", "interpreter", "2"),
    ];
    for (level, engine, threads) in choices {
        assert_eq!(
            of(level, engine, threads),
            want,
            "{level}, {engine}, {threads} threads"
        );
    }
}
