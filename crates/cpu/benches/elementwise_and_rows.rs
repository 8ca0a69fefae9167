//! How fast are chains of elementwise operations and row reductions, forward and backward?
//!
//! `cargo bench -p cotangent-cpu --bench elementwise_and_rows [filter]`: medians, one thread. The
//! workloads are `c` and `d` of the project's comparison with other libraries:
//! `y = tanh(1.3 x + 0.2) e^(-x²) / (1 + x²)` with the gradient of its sum, and reductions of the
//! rows of a 1024 x 1024 f32 matrix. Inputs are created outside of the timed part; results are
//! dropped inside.

use cotangent_core::transform::{AdContext, Session, grad};
use cotangent_core::{Array, Builder, DType, Emit, Function, Type, Val, rewrite::simplify};
use cotangent_cpu::{Tensor, compile};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn build(types: &[Type], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = f(&b, &x);
    b.finish(&[y]).expect("a bench builds what it runs")
}

fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let x = (0..n).map(|i| (i * 7919 % n) as f64 / n as f64 * 4.0 - 2.0);
    match dtype {
        DType::F32 => Array::from_vec(shape.to_vec(), x.map(|x| x as f32).collect::<Vec<f32>>()),
        _ => Array::from_vec(shape.to_vec(), x.collect::<Vec<f64>>()),
    }
    .expect("as many numbers as the shape has")
}

fn measure(name: &str, f: Function, x: &[Array]) {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    if filter.is_some_and(|filter| !name.contains(&filter)) {
        return;
    }
    let program = compile(&Arc::new(f)).expect("a bench compiles");
    let x: Vec<Tensor> = x.iter().map(Tensor::from).collect();
    let run = || {
        drop(black_box(
            program
                .run_tensors(x.iter().cloned())
                .expect("a bench runs"),
        ))
    };
    run();
    let (mut times, start) = (Vec::new(), Instant::now());
    while times.len() < 5 || (start.elapsed() < Duration::from_millis(400) && times.len() < 20_000)
    {
        let t = Instant::now();
        run();
        times.push(t.elapsed());
    }
    times.sort_unstable();
    let micros = |t: Duration| t.as_secs_f64() * 1e6;
    println!(
        "{name:32} median {:10.2} us   least {:10.2} us",
        micros(times[times.len() / 2]),
        micros(times[0])
    );
}

fn chain(cx: &dyn Emit, x: Val) -> Val {
    let (square, number) = (cx.mul(x, x), |c| cx.full_like(x, c));
    let t = cx.tanh(cx.add(cx.mul(x, number(1.3)), number(0.2)));
    cx.div(
        cx.mul(t, cx.exp(cx.neg(square))),
        cx.add(number(1.0), square),
    )
}

/// A function of a matrix.
type RowFunction = fn(&dyn Emit, Val) -> Val;

fn main() {
    let ad = AdContext::default();
    let gradient = |f: &Function| simplify(&grad(&ad, f, f.params()).expect("a bench derives"));
    for dtype in [DType::F32, DType::F64] {
        for n in [1usize, 100, 10_000, 1_000_000, 10_000_000] {
            let ty = [Type::new(dtype, [n].as_slice())];
            let (x, name) = ([numbers(dtype, &[n])], |what: &str| {
                format!("{what} {dtype} {n}")
            });
            measure(
                &name("copy (x + 1)"),
                build(&ty, |cx, x| cx.add(x[0], cx.full_like(x[0], 1.0))),
                &x,
            );
            measure(
                &name("chain"),
                simplify(&build(&ty, |cx, x| chain(cx, x[0]))),
                &x,
            );
            let loss = build(&ty, |cx, x| cx.reduce_sum(chain(cx, x[0]), &[0]));
            measure(&name("chain grad"), gradient(&loss), &x);
        }
    }
    let (matrix, row) = (
        Type::new(DType::F32, [1024, 1024].as_slice()),
        Type::new(DType::F32, [1024].as_slice()),
    );
    let (x, w) = (
        numbers(DType::F32, &[1024, 1024]),
        numbers(DType::F32, &[1024]),
    );
    let rows: [(&str, RowFunction); 6] = [
        ("sum", |cx, x| cx.reduce_sum(x, &[0, 1])),
        ("sum rows", |cx, x| cx.reduce_sum(x, &[1])),
        ("sum columns", |cx, x| cx.reduce_sum(x, &[0])),
        ("softmax", |cx, x| cx.softmax(x, 1)),
        ("logsumexp", |cx, x| cx.logsumexp(x, &[1])),
        ("layer norm", |cx, x| {
            cx.layer_norm(x, None, None, &[1], 1e-5)
        }),
    ];
    for (name, f) in rows {
        measure(
            name,
            simplify(&build(std::slice::from_ref(&matrix), |cx, x| f(cx, x[0]))),
            std::slice::from_ref(&x),
        );
        let types = [matrix.clone(), row.clone()];
        let loss = build(&types, |cx, x| {
            let y = f(cx, x[0]);
            let rank = cx.ty(y).rank();
            if rank == 0 {
                return y;
            }
            let weighted = cx.mul(y, cx.broadcast_in_dim(x[1], &cx.ty(y).shape, &[rank - 1]));
            cx.reduce_sum(weighted, &(0..rank).collect::<Vec<_>>())
        });
        let g = grad(&ad, &loss, &loss.params()[..1]).expect("a bench derives");
        measure(
            &format!("{name} grad"),
            simplify(&g),
            &[x.clone(), w.clone()],
        );
    }
}
