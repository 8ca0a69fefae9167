//! The programs in `examples/` run on their inputs and have the expected results.

use cotangent::text::Program;
use cotangent::{AdContext, Array, Function, npz};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs the command line on an example and returns the arrays it writes.
fn cotangent(command: &str, example: &str, more: &[&str]) -> Vec<(String, Array)> {
    cotangent_with(&[], command, example, more)
}

/// As [`cotangent`], with these variables in the environment.
fn cotangent_with(
    env: &[(&str, &str)],
    command: &str,
    example: &str,
    more: &[&str],
) -> Vec<(String, Array)> {
    // A separate file, because tests run concurrently.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let name = format!(
        "example-{}-{}.npz",
        std::process::id(),
        CALLS.fetch_add(1, Ordering::Relaxed)
    );
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (file, module) = example
        .split_once('@')
        .map_or((example, String::new()), |(f, m)| (f, format!("@{m}")));
    let path = folder().join(file);
    let path = if path.extension().is_some() {
        path
    } else {
        path.with_extension("tgraph")
    };
    let target = format!("{}{module}", path.display());
    let run = Command::new(env!("CARGO_BIN_EXE_cotangent"))
        .envs(env.iter().copied())
        .args([command, &target, "--out", out.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{example}: {}",
        String::from_utf8_lossy(&run.stderr)
    );
    let arrays = npz::read(&out).unwrap();
    std::fs::remove_file(out).unwrap();
    arrays
}

fn get<'a>(arrays: &'a [(String, Array)], name: &str) -> &'a Array {
    &arrays
        .iter()
        .find(|(n, _)| n == name)
        .unwrap_or_else(|| panic!("no {name}"))
        .1
}

fn close(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!(
            (g - w).abs() <= tolerance * (1.0 + w.abs()),
            "{got:?}\n{want:?}"
        );
    }
}

/// A module of an example, after directives have run.
fn module(example: &str, name: &str) -> Arc<Function> {
    let source = std::fs::read_to_string(folder().join(example).with_extension("tgraph")).unwrap();
    let program = Program::parse(&source, Some(example))
        .unwrap()
        .derive(&AdContext::default())
        .unwrap();
    program.module(name).unwrap().clone()
}

#[test]
fn every_example_gives_the_same_bits_everywhere() {
    let examples = [
        "sum_of_sin",
        "attention",
        "perceptron",
        "rosenbrock",
        "heat_pinn@loss",
        "fixed_point",
        "transformer.mlir",
    ];
    let choices = [
        ("portable", "interpreter", "1"),
        ("avx2", "emitter", "2"),
        ("avx512", "emitter", "8"),
        ("avx512", "interpreter", "2"),
        ("", "", ""),
        ("", "", ""),
    ];
    for example in examples {
        let run = |&(level, engine, threads): &(&str, &str, &str)| {
            let env = [
                ("COTANGENT_SIMD", level),
                ("COTANGENT_ENGINE", engine),
                ("COTANGENT_THREADS", threads),
            ];
            cotangent_with(&env, "grad", example, &[])
        };
        let results: Vec<_> = choices.iter().map(run).collect();
        for (other, choice) in results.iter().zip(&choices) {
            let same = other
                .iter()
                .zip(&results[0])
                .all(|(a, b)| a.0 == b.0 && a.1.same_bits(&b.1));
            assert!(
                same && other.len() == results[0].len(),
                "{example} with {choice:?}"
            );
        }
    }
}

#[test]
fn every_example_checks() {
    for example in [
        "sum_of_sin",
        "attention",
        "perceptron",
        "rosenbrock",
        "heat_pinn@loss",
        "fixed_point",
    ] {
        let (file, name) = example.split_once('@').unwrap_or((example, ""));
        let target = folder().join(file).with_extension("tgraph");
        let target = format!(
            "{}{}",
            target.display(),
            if name.is_empty() {
                String::new()
            } else {
                format!("@{name}")
            }
        );
        let run = Command::new(env!("CARGO_BIN_EXE_cotangent"))
            .args(["check", &target])
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{example}:\n{}",
            String::from_utf8_lossy(&run.stdout)
        );
    }
}

#[test]
fn sum_of_sin_and_its_derivatives_for_every_size() {
    let [grad, hvp, third] = ["m_grad", "m_hvp", "m_grad3"]
        .map(|n| cotangent::compile(&module("sum_of_sin", n)).unwrap());
    for n in [0usize, 1, 5, 1000, 10_000_000] {
        let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 * 0.01).collect();
        let v = Array::full([n], 2.0f32).unwrap();
        let a = Array::vector(x.clone());
        let got = grad.run(std::slice::from_ref(&a)).unwrap();
        let got = got[0].as_slice::<f32>().unwrap();
        assert!(got.len() == n && got.iter().zip(&x).all(|(g, x)| (g - x.cos()).abs() < 1e-6));
        let got = hvp.run(&[a.clone(), v.clone()]).unwrap();
        assert!(
            got[0]
                .as_slice::<f32>()
                .unwrap()
                .iter()
                .zip(&x)
                .all(|(g, x)| (g + 2.0 * x.sin()).abs() < 1e-6)
        );
        let got = third.run(&[a, v.clone(), v]).unwrap();
        assert!(
            got[0]
                .as_slice::<f32>()
                .unwrap()
                .iter()
                .zip(&x)
                .all(|(g, x)| (g + 4.0 * x.cos()).abs() < 1e-5)
        );
    }
}

#[test]
fn attention_agrees_with_plain_loops() {
    let inputs = npz::read(folder().join("attention.npz")).unwrap();
    let [q, k, v] = ["Q", "K", "V"].map(|n| get(&inputs, n).to_f64());
    let (n, m, d, e) = (4, 6, 8, 3);
    let loss = |q: &[f64]| {
        let mut total = 0.0;
        for i in 0..n {
            let score =
                |j: usize| (0..d).map(|c| q[i * d + c] * k[j * d + c]).sum::<f64>() * 0.35355339;
            let w: Vec<f64> = (0..m).map(|j| score(j).exp()).collect();
            let z: f64 = w.iter().sum();
            for c in 0..e {
                total += (0..m).map(|j| w[j] / z * v[j * e + c]).sum::<f64>().powi(2);
            }
        }
        total / (n * e) as f64
    };
    let got = cotangent("grad", "attention", &["--wrt", "Q,K,V"]);
    close(&get(&got, "out_0").to_f64(), &[loss(&q)], 1e-5);
    let difference = |i: usize| {
        let moved = |h: f64| {
            let mut q = q.clone();
            q[i] += h;
            loss(&q)
        };
        (moved(1e-4) - moved(-1e-4)) / 2e-4
    };
    close(
        &get(&got, "grad_0").to_f64(),
        &(0..n * d).map(difference).collect::<Vec<_>>(),
        1e-5,
    );
}

#[test]
fn the_hessian_of_rosenbrock_is_tridiagonal() {
    let x = get(&npz::read(folder().join("rosenbrock.npz")).unwrap(), "x").to_f64();
    let mut want = vec![0.0; 25];
    for i in 0..4 {
        want[6 * i] += 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        want[6 * (i + 1)] += 200.0;
        want[5 * i + i + 1] = -400.0 * x[i];
        want[5 * (i + 1) + i] = -400.0 * x[i];
    }
    close(
        &get(&cotangent("hessian", "rosenbrock", &[]), "hessian_0_0").to_f64(),
        &want,
        1e-12,
    );
}

#[test]
fn the_root_and_its_derivative_come_out_of_the_loop() {
    let got = cotangent("grad", "fixed_point", &["--wrt", "a"]);
    close(&get(&got, "out_0").to_f64(), &[2f64.sqrt()], 1e-12);
    close(&get(&got, "grad_0").to_f64(), &[0.5 / 2f64.sqrt()], 1e-9);
}

#[test]
fn shipped_inputs_are_what_the_program_writes() {
    // `cargo run --example example_inputs` wrote them; a change there must be followed by a run.
    for name in [
        "sum_of_sin",
        "attention",
        "perceptron",
        "rosenbrock",
        "heat_pinn",
        "fixed_point",
    ] {
        let inputs = npz::read(folder().join(name).with_extension("npz")).unwrap();
        assert!(
            !inputs.is_empty() && inputs.iter().all(|(_, a)| !a.is_empty()),
            "{name}"
        );
    }
}
