//! Out-of-memory behaviour: every operation returns its result or an error, whichever allocation
//! fails.

mod common;

use common::{build, single};
use cotangent_core::ops::entries;
use cotangent_core::transform::{Session, batch};
use cotangent_core::{Array, Code, DType, Dim, Emit, Function, Sample, Type, Val, for_dtype};
use cotangent_cpu::Executor;
use cotangent_kernels::memory::with_allocations;
use cotangent_kernels::parallel::with_threads;
use std::process::Command;
use std::sync::Arc;

fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

/// Runs a program with a growing number of allocations that succeed, until all do. Every run but
/// the last must return an out-of-memory error. Returns the last number of allocations.
fn starve(what: &str, f: &Arc<Function>, x: &[Array]) -> u64 {
    let program = Executor::new().compile(f).unwrap();
    let Ok(want) = with_threads(1, || program.run(x)) else {
        return 0;
    };
    // Every count below 40, then every 29th.
    let counts = (0..40).chain((0..).map(|k| 40 + k * 29)).take(400);
    for count in counts {
        match with_threads(1, || with_allocations(count, || program.run(x))) {
            Ok(y) => {
                assert!(
                    y.iter().zip(&want).all(|(a, b)| a.same_bits(b)),
                    "{what} after {count} allocations"
                );
                return count;
            }
            Err(e) => assert!(
                e.code() == Code::Limit,
                "{what} after {count} allocations: {e}"
            ),
        }
    }
    panic!("{what} never has enough")
}

#[test]
fn any_allocation_of_any_operation_may_fail() {
    let (mut runs, mut all) = (0, 0);
    for s in samples() {
        all += 1;
        runs += starve(s.op.name(), &single(&s.op, &s.operands), &s.operands);
    }
    assert!(
        all > 100 && runs > all,
        "{runs} failed runs of {all} samples"
    );
}

/// Numbers in no particular order.
fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>();
    let x: Vec<f64> = (0..n)
        .map(|i| ((i * 7919 + 13) % 1009) as f64 / 1009.0 - 0.4)
        .collect();
    match dtype {
        DType::C128 => {
            let z = x
                .iter()
                .map(|&x| cotangent_core::C128::new(x, 0.3 - x * x))
                .collect();
            Array::from_vec::<cotangent_core::C128>(shape, z).unwrap()
        }
        _ => Array::from_vec(shape, x).unwrap(),
    }
}

type Build = fn(&dyn Emit, &[Val]) -> Vec<Val>;

/// As above, at extents for which factorisations use blocks, panels and divide and conquer.
#[test]
fn any_allocation_of_a_large_factorisation_may_fail() {
    let programs: &[(&str, Build)] = &[
        ("cholesky", |cx, x| {
            let transposed = cx.transpose(x[0], &[1, 0]);
            vec![cx.cholesky(cx.matmul(x[0], transposed))]
        }),
        ("lu", |cx, x| cx.lu(x[0]).to_vec()),
        ("qr", |cx, x| cx.qr(x[0]).to_vec()),
        ("eigh", |cx, x| cx.eigh(x[0]).to_vec()),
        ("svd", |cx, x| cx.svd(x[0]).to_vec()),
        ("eig", |cx, x| cx.eig(x[0]).to_vec()),
        ("solve", |cx, x| vec![cx.solve(x[0], x[0])]),
    ];
    for dtype in [DType::F64, DType::C128] {
        for (name, f) in programs {
            let x = [numbers(dtype, &[75, 75])];
            let f = build(&[x[0].ty()], f);
            let failed = starve(name, &f, &x);
            assert!(failed > 3, "{name} of {dtype} allocates {failed} times");
        }
    }
}

/// A sample batched so that its operands together take about `bytes` bytes.
fn repeated(s: &Sample, bytes: usize) -> Option<(Arc<Function>, Vec<Array>)> {
    let f = single(&s.op, &s.operands);
    let size = s
        .operands
        .iter()
        .map(|x| x.len() * x.dtype().size())
        .sum::<usize>();
    let n = bytes / size.max(8);
    let (mapped, force) = (vec![true; f.params().len()], vec![true; f.results().len()]);
    let (g, _) = batch(&Session::default(), &f, &mapped, &force, &Dim::Const(n)).ok()?;
    let repeat = |x: &Array| {
        let shape: Vec<usize> = [n].into_iter().chain(x.shape().iter().copied()).collect();
        for_dtype!(x.dtype(), T => Array::from_vec(shape, x.as_slice::<T>()?.repeat(n)).ok())
    };
    Some((
        Arc::new(g),
        s.operands.iter().map(repeat).collect::<Option<_>>()?,
    ))
}

/// Environment variable with the index of the sample that `child` runs.
const WHICH: &str = "COTANGENT_SHORT_SAMPLE";

/// Runs one sample, batched to 10 MB, in a child process whose memory is limited by the parent.
#[test]
#[ignore = "run by the tests below"]
fn child() {
    let Ok(which) = std::env::var(WHICH) else {
        return;
    };
    let s = samples().nth(which.parse().unwrap()).unwrap();
    let Some((f, x)) = repeated(&s, 10 << 20) else {
        return println!("left out");
    };
    match Executor::new().compile(&f).and_then(|p| p.run(&x)) {
        Ok(_) => println!("done"),
        Err(e) if e.code() == Code::Limit => println!("short"),
        Err(e) => println!("refused: {e}"),
    }
}

/// Runs samples under limits of address space in MiB. Returns the numbers of results and of
/// out-of-memory errors.
fn limited(which: impl Iterator<Item = usize>, limits: &[usize]) -> [usize; 2] {
    let names: Vec<String> = samples().map(|s| s.op.name().to_owned()).collect();
    let (mut counts, mut bad) = ([0; 2], Vec::new());
    for k in which {
        for &limit in limits {
            let script = format!(
                "ulimit -c 0; ulimit -v {}; exec \"$0\" --exact child --ignored --nocapture",
                limit << 10
            );
            let mut child = Command::new("sh");
            child
                .args(["-c", &script])
                .arg(std::env::current_exe().unwrap())
                .env(WHICH, k.to_string());
            let out = child
                .env("RUST_BACKTRACE", "0")
                .env("COTANGENT_THREADS", "2")
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&out.stdout);
            counts[0] += usize::from(text.contains("done"));
            counts[1] += usize::from(text.contains("short"));
            // Failures to allocate the operands are the test's and do not count.
            let own = String::from_utf8_lossy(&out.stderr).contains("capacity")
                || !text.contains("running 1 test");
            if !out.status.success() && !own {
                let text = String::from_utf8_lossy(&out.stderr);
                bad.push(format!(
                    "sample {k} ({}) in {limit} MiB: {} {text}",
                    names[k], out.status
                ));
            }
        }
    }
    assert!(
        bad.is_empty(),
        "{} of {counts:?}:\n{}",
        bad.len(),
        bad.join("\n")
    );
    counts
}

#[test]
#[cfg(target_os = "linux")]
fn some_samples_with_little_memory() {
    let all = samples().count();
    let [done, _] = limited((0..all).step_by(all / 6), &[150, 2048]);
    assert!(done >= 6, "{done} of 6 samples have an answer in 2 GiB");
}

/// All samples under all limits; takes minutes, so it runs in `just short` only.
#[test]
#[ignore = "takes minutes"]
#[cfg(target_os = "linux")]
fn every_sample_with_little_memory() {
    let limits = [90, 100, 110, 120, 130, 150, 170, 200, 250, 400, 2048];
    let [done, short] = limited(0..samples().count(), &limits);
    assert!(
        done > 100 && short > 100,
        "{done} answers, {short} times no memory"
    );
}

/// A result that exceeds the memory is an error, for every kind of operation that computes it.
#[test]
fn results_larger_than_memory_are_errors() {
    let programs: &[(&str, Build)] = &[
        ("sort", |cx, x| vec![cx.sort(x[0], 0, false)]),
        ("exp", |cx, x| vec![cx.exp(x[0])]),
    ];
    for (name, f) in programs {
        let f = build(&[Type::scalar(DType::F64)], |cx, x| {
            let wide = cx.broadcast_in_dim(x[0], &[Dim::Const(1 << 40)], &[]);
            f(cx, &[wide])
        });
        let y = Executor::new()
            .compile(&f)
            .and_then(|p| p.run(&[Array::scalar(1.0)]));
        assert!(y.is_err_and(|e| e.code() == Code::Limit), "{name}");
    }
}
