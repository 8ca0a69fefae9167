//! Many programs: memory stays flat, and nothing is left.

use super::backend;
use cotangent::methods::*;
use cotangent::pjrt::{OptionValue, PjrtBackend};
use cotangent::{Program, Result, Tensor};

/// Bytes of resident memory of this process.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Different programs, by value and by operations that wait, on a client of its own.
fn flat(backend: &PjrtBackend, count: usize) -> Result<Option<u64>> {
    backend.set_cache_limit(16);
    let (mut after_50, mut highest) = (None, None);
    for k in 0..count {
        let (n, c) = (k % 7 + 1, k);
        let text = format!(
            "tgraph.module @f {{ %x = tgraph.arg : tensor<{n}xf64> %c = tgraph.constant {{value = {c}.5}} : tensor<{n}xf64> %y = tgraph.add %x, %c : tensor<{n}xf64> %z = tgraph.exp %y : tensor<{n}xf64> tgraph.return %y, %z : tensor<{n}xf64>, tensor<{n}xf64> }}"
        );
        let program = backend.program(Program::from_tgraph(&text)?.main())?;
        let x = backend.to_device(&Tensor::vector(vec![1.0; n]))?;
        let y = program.run(&[&backend.device_tensor(&x)?])?;
        let twice = backend.tensor(&y[0])?.add(&x)?;
        assert_eq!(twice.to_vec::<f64>()?, vec![k as f64 + 2.5; n]);
        if k == 49 {
            after_50 = resident();
        } else if k % 50 == 49 {
            highest = highest.max(resident());
        }
    }
    backend.clear_caches();
    assert_eq!(backend.live_objects(), [0; 3]);
    Ok(highest.zip(after_50).map(|(a, b)| a.saturating_sub(b)))
}

#[test]
#[ignore = "compiles 1,000 programs: a process of its own, because it measures memory"]
fn a_thousand_different_programs_leave_memory_flat() -> Result<()> {
    if backend().is_none() {
        return Ok(());
    }
    let library = cotangent::pjrt::find("cpu")?;
    let options = [("cpu_device_count", OptionValue::Int(2))];
    let backend = PjrtBackend::with_library(library, &options)?;
    let grown = flat(&backend, 1000)?;
    println!("memory after 50 programs and later: {grown:?} bytes more");
    assert!(grown.is_none_or(|bytes| bytes <= 5 << 20), "{grown:?}");
    Ok(())
}
