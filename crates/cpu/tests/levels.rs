//! Whole programs give the same bits at every vector level: the level is read once, so each runs in a process of its own.

use cotangent_core::check::random::{Case, graph};
use cotangent_core::ops::entries;
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Array, Function, Wide};
use cotangent_cpu::compile;
use std::process::Command;
use std::sync::Arc;

mod common;

/// A hash of all results (FNV-1a over their bits; a NaN is a NaN).
fn mix(hash: &mut u64, a: &Array) {
    let mut eat = |x: f64| {
        let bits = if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
        bits.to_le_bytes().iter().for_each(|&b| *hash = (*hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    };
    match a.wide() {
        Wide::F(v) => v.into_iter().for_each(eat),
        Wide::C(v) => v.into_iter().for_each(|z| [z.re, z.im].into_iter().for_each(&mut eat)),
        Wide::I(v) => v.into_iter().for_each(|x| eat(x as f64)),
    }
}

fn run(hash: &mut u64, f: Function, args: &[Array]) {
    if let Ok(y) = compile(&Arc::new(f)).and_then(|p| p.run(args)) {
        y.iter().for_each(|y| mix(hash, y));
    }
}

fn everything() -> u64 {
    let (ad, mut hash) = (AdContext::default(), 0xcbf2_9ce4_8422_2325);
    for s in entries().into_iter().flat_map(|e| (e.samples)(e.name)) {
        run(&mut hash, Function::clone(&common::single(&s.op, &s.operands)), &s.operands);
    }
    for seed in 0..150 {
        let Case { function: f, args } = graph(seed, 20).unwrap();
        let wrt: Vec<_> = f.params().iter().copied().filter(|&p| f.ty(p).dtype.has_tangent()).collect();
        if let Ok(g) = vjp(&ad, &f, &wrt) {
            let y = compile(&Arc::new(f.clone())).and_then(|p| p.run(&args));
            let cts = f.result_types().into_iter().zip(y.into_iter().flatten()).filter(|(t, _)| t.dtype.has_tangent());
            run(&mut hash, g, &args.iter().cloned().chain(cts.map(|(_, y)| y)).collect::<Vec<_>>());
        }
        run(&mut hash, f, &args);
    }
    hash
}

#[test]
fn every_level_gives_the_same_bits() {
    if std::env::var("LEVELS_CHILD").is_ok() {
        println!("bits {:016x}", everything());
        return;
    }
    let of = |level: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "every_level_gives_the_same_bits", "--nocapture"]);
        let out = child.env("LEVELS_CHILD", "1").env("COTANGENT_SIMD", level).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let at = text.find("bits ").unwrap_or_else(|| panic!("{level}: {text}"));
        text[at..at + 21].to_string()
    };
    let want = of("portable");
    for level in ["avx2", "avx512"] {
        assert_eq!(of(level), want, "{level}");
    }
}
