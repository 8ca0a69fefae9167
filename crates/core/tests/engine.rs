//! `linearize` of functions and the tape agree with `jvp` and `vjp` on every operation.

use cotangent_core::ops::{Binary, entries};
use cotangent_core::primitive::callback;
use cotangent_core::tape::{Executor, Tape, TapeValue};
use cotangent_core::transform::{AdContext, jvp, linearize, vjp};
use cotangent_core::{
    Array, Builder, Code, Dim, Emit, Function, Op, Result, Sample, Type, Val, Wide, bail,
    reference, verify,
};
use std::sync::Arc;

/// The reference evaluation as a runtime.
struct Reference;

impl Executor for Reference {
    type Value = Array;

    fn ty(&self, v: &Array) -> Type {
        v.ty()
    }

    fn run(&mut self, f: &Function, x: &[Array]) -> Result<Vec<Array>> {
        verify(f)?;
        reference::run(f, x)
    }
}

/// The samples that can be differentiated, each as a function, with its differentiable parameters.
fn differentiable() -> Vec<(Sample, Function, Vec<usize>)> {
    let samples = entries().into_iter().flat_map(|e| (e.samples)(e.name));
    let with_function = |s: Sample| {
        let b = Builder::new(s.op.name(), Default::default());
        let x: Vec<Val> = s.operands.iter().map(|a| b.param(a.ty(), None)).collect();
        let y = b.emit(s.op.clone(), &x);
        let f = b.finish(&y).ok()?;
        let moves = |i: &usize| s.operands[*i].dtype().has_tangent();
        let wrt: Vec<usize> = (0..x.len()).filter(moves).collect();
        let some = f.result_types().iter().any(|t| t.dtype.has_tangent());
        (some && !wrt.is_empty()).then_some((s, f, wrt))
    };
    samples.filter_map(with_function).collect()
}

/// The elements that have a tangent.
fn moving(a: &[Array]) -> Vec<Array> {
    let moves = |a: &&Array| a.dtype().has_tangent();
    a.iter().filter(moves).cloned().collect()
}

fn assert_close(what: &str, got: &[Array], want: &[Array]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (got, want) in got.iter().zip(want) {
        assert!(!got.ty().differs(&want.ty()), "{what}: {got:?} {want:?}");
        let flat = |a: &Array| match a.wide() {
            Wide::F(v) => v,
            Wide::C(v) => v.into_iter().flat_map(|z| [z.re, z.im]).collect(),
            Wide::I(v) => v.into_iter().map(|n| n as f64).collect(),
        };
        for (a, b) in flat(got).into_iter().zip(flat(want)) {
            let same = a == b || a.is_nan() && b.is_nan();
            let close = (a - b).abs() <= 1e-6 * (1.0 + b.abs());
            assert!(same || close, "{what}: {got:?} instead of {want:?}");
        }
    }
}

#[test]
fn linearized_functions_have_the_tangents_of_jvp_and_the_cotangents_of_vjp() {
    let ad = AdContext::default();
    let mut seen = 0;
    for (s, f, wrt) in differentiable() {
        let what = format!("{} {:?}", s.op.name(), s.operands);
        let values: Vec<Val> = wrt.iter().map(|&i| f.params()[i]).collect();
        let lin = match linearize(&ad, &f, &values) {
            Ok(lin) => lin,
            Err(e) => {
                // Forward mode of the operation is an error, too.
                let want = jvp(&ad, &f, &values).map(|_| ()).unwrap_err();
                assert_eq!(e.code(), want.code(), "{what}: {e}");
                continue;
            }
        };
        verify(&lin.primal).and(verify(&lin.tangent)).unwrap();
        let y = reference::run(&f, &s.operands).unwrap();
        let mut residuals = reference::run(&lin.primal, &s.operands).unwrap();
        assert_close(&what, &residuals[..y.len()], &y);
        residuals.drain(..y.len());
        assert_eq!(residuals.len(), lin.residuals(), "{what}");
        let moved: Vec<Array> = wrt.iter().map(|&i| s.operands[i].clone()).collect();
        let run = |f: &Function, first: &[Array], more: &[Array]| {
            reference::run(f, &[first, more].concat()).unwrap()
        };
        let tangents = run(&lin.tangent, &residuals, &moved);
        let forward = run(&jvp(&ad, &f, &values).unwrap(), &s.operands, &moved);
        assert_close(&what, &tangents, &forward[y.len()..]);
        let (Ok(back), Ok(reverse)) = (lin.transpose(&ad), vjp(&ad, &f, &values)) else {
            continue;
        };
        verify(&back).unwrap();
        let cts = run(&back, &residuals, &moving(&y));
        assert_close(&what, &cts, &run(&reverse, &s.operands, &moving(&y)));
        seen += 1;
    }
    assert!(seen > 150, "{seen}");
}

/// The first differentiable result of a sample on a tape, with its operands.
type OnTape = (TapeValue<Array>, usize, Vec<TapeValue<Array>>);

fn on_tape(tape: &Tape<Reference>, s: &Sample) -> Result<OnTape> {
    let x: Vec<TapeValue<Array>> = s
        .operands
        .iter()
        .map(|a| match a.dtype().has_tangent() {
            true => tape.variable(a.clone()),
            false => Ok(tape.constant(a.clone())),
        })
        .collect::<Result<_>>()?;
    let y = tape.apply(s.op.clone(), &x.iter().collect::<Vec<_>>())?;
    let tracked = y.into_iter().enumerate().find(|(_, y)| y.is_tracked());
    match tracked {
        Some((k, y)) => Ok((y, k, x)),
        None => bail!(Unbound, "no result is tracked"),
    }
}

#[test]
fn a_tape_has_the_cotangents_of_vjp_and_their_cotangents() {
    let ad = AdContext::default();
    let mut seen = 0;
    for (s, f, wrt) in differentiable() {
        let what = format!("{} {:?}", s.op.name(), s.operands);
        let tape = Tape::new(Reference, &ad);
        let Ok((y, k, x)) = on_tape(&tape, &s) else {
            continue;
        };
        let f = f.clone().with_results(&f.results()[k..=k]);
        let values: Vec<Val> = wrt.iter().map(|&i| f.params()[i]).collect();
        let x: Vec<&TapeValue<Array>> = wrt.iter().map(|&i| &x[i]).collect();
        let ct = tape.variable(y.value().clone()).unwrap();
        let back = tape.vjp(&y, &ct, &x);
        let Ok(reverse) = vjp(&ad, &f, &values) else {
            assert!(back.is_err(), "{what}");
            continue;
        };
        let back = back.unwrap_or_else(|e| panic!("{what}: {e}"));
        let args = [&s.operands[..], &[y.value().clone()]].concat();
        let want = reference::run(&reverse, &args).unwrap();
        let got: Vec<Array> = back.iter().map(|v| v.value().clone()).collect();
        assert_close(&what, &got, &want);
        seen += 1;
        // The pass was recorded: its derivative is that of the derived function.
        let Some(first) = back.iter().position(TapeValue::is_tracked) else {
            continue;
        };
        let at: Vec<Val> = wrt.iter().map(|&i| reverse.params()[i]).collect();
        let row = reverse
            .clone()
            .with_results(&reverse.results()[first..=first]);
        let again = tape.vjp(&back[first], &tape.constant(want[first].clone()), &x);
        let (Ok(again), Ok(second)) = (again, vjp(&ad, &row, &at)) else {
            continue;
        };
        let args = [&args[..], &want[first..=first]].concat();
        let got: Vec<Array> = again.iter().map(|v| v.value().clone()).collect();
        if s.smooth {
            assert_close(&what, &got, &reference::run(&second, &args).unwrap());
        }
    }
    assert!(seen > 150, "{seen}");
}

/// An operation that can be evaluated and has no derivative.
fn rounded() -> Op {
    let eval = |x: &[Array]| {
        let y: Vec<f64> = x[0].to_f64().into_iter().map(f64::round).collect();
        Ok(vec![Array::from_vec(x[0].shape(), y)?])
    };
    callback("test.rounded", |x| Ok(x.to_vec()), eval)
}

#[test]
fn a_missing_rule_is_an_error_of_the_pass_with_the_place_of_the_call() -> Result<()> {
    let tape = Tape::new(Reference, &AdContext::default());
    let x = tape.variable(Array::scalar(1.6))?;
    let line = line!() + 1;
    let y = tape.apply(rounded(), &[&x])?.remove(0);
    assert_eq!(y.value(), &Array::scalar(2.0));
    let z = tape.apply(Binary::Mul, &[&y, &x])?.remove(0);
    let e = tape.backward(&z).unwrap_err();
    assert_eq!(e.code(), Code::NoRule);
    let text = e.to_string();
    assert!(text.contains("`test.rounded`"), "{text}");
    assert!(text.contains(&format!("engine.rs:{line}")), "{text}");
    // A loss that does not depend on it has a gradient.
    let z = tape.apply(Binary::Mul, &[&x, &x])?.remove(0);
    assert_eq!(tape.backward(&z)?.get(&x), Some(&Array::scalar(3.2)));
    // Nor has a constant an error.
    let z = tape.apply(Binary::Mul, &[&y.detach(), &x])?.remove(0);
    assert_eq!(tape.backward(&z)?.get(&x), Some(&Array::scalar(2.0)));
    Ok(())
}

#[test]
fn a_tape_is_as_deep_as_memory_allows() {
    let work = || -> Result<()> {
        let tape = Tape::new(Reference, &AdContext::default());
        let x = tape.variable(Array::scalar(1.0))?;
        let mut y = x.clone();
        for _ in 0..20_000 {
            y = tape.apply(Binary::Mul, &[&y, &x])?.remove(0);
        }
        assert_eq!(tape.backward(&y)?.get(&x), Some(&Array::scalar(20_001.0)));
        Ok(())
    };
    let thread = std::thread::Builder::new().stack_size(128 << 10);
    thread.spawn(work).unwrap().join().unwrap().unwrap();
}

#[test]
fn a_function_is_recorded_as_one_operation() -> Result<()> {
    let b = Builder::new("cube", Default::default());
    let x = b.param(Array::scalar(0.0).ty(), Some("x"));
    let cx: &dyn Emit = &b;
    let y = cx.mul(cx.mul(x, x), x);
    let cube = Arc::new(b.finish(&[y])?);
    let mut tape = Tape::new(Reference, &AdContext::default());
    let x = tape.variable(Array::scalar(2.0))?;
    let y = tape.call(&cube, &[&x])?.remove(0);
    let cts = tape.backward(&y)?;
    assert_eq!((cts.get(&x), cts.len()), (Some(&Array::scalar(12.0)), 2));
    let ddy = tape.grad(&tape.grad(&y, &[&x])?[0], &[&x])?.remove(0);
    assert_eq!(ddy.value(), &Array::scalar(12.0));
    assert_eq!(tape.executor().ty(y.value()), Array::scalar(0.0).ty());
    Ok(())
}

#[test]
fn linearize_of_many_sizes_keeps_what_extents_depend_on() -> Result<()> {
    // y = sum(x) broadcast to the extent of another argument.
    let b = Builder::new("f", Default::default());
    let ty = |name: &str| Type::new(cotangent_core::DType::F64, vec![Dim::sym(name)]);
    let (x, z) = (b.param(ty("n"), Some("x")), b.param(ty("m"), Some("z")));
    let cx: &dyn Emit = &b;
    let sum = cx.reduce_sum(cx.mul(x, x), &[0]);
    let y = cx.broadcast_to(sum, &cx.ty(z).shape);
    let unused = cx.sin(z);
    let f = b.finish(&[y, unused])?;
    let ad = AdContext::default();
    let lin = linearize(&ad, &f, &f.params()[..1])?;
    let vector = |v: &[f64]| Array::from_vec([v.len()], v.to_vec());
    let args = [vector(&[1.0, 2.0])?, vector(&[0.0; 3])?];
    let residuals = reference::run(&lin.primal, &args)?.split_off(2);
    let at = |more: &[Array]| [&residuals[..], more].concat();
    let t = reference::run(&lin.tangent, &at(&[vector(&[1.0, 10.0])?]))?;
    assert_eq!(t, [vector(&[42.0; 3])?, vector(&[0.0; 3])?]);
    let cts = at(&[vector(&[1.0, 0.0, 1.0])?, vector(&[5.0; 3])?]);
    let ct = reference::run(&lin.transpose(&ad)?, &cts)?;
    assert_eq!(ct, [vector(&[4.0, 8.0])?]);
    Ok(())
}
