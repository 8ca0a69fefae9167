//! Builds and runs functions, and compares derivatives with finite differences.

use cotangent_core::transform::{AdContext, Session, grad, hvp, hvp_reverse, jvp, vjp};
use cotangent_core::{Array, Builder, C128, Emit, Function, Val, Wide, reference};
use std::slice::from_ref;

/// The function of arguments with the types of `x`.
pub(crate) fn function(x: &[Array], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let args: Vec<Val> = x.iter().map(|a| b.param(a.ty(), None)).collect();
    let y = f(&b, &args);
    b.finish(&[y]).unwrap()
}

pub(crate) fn run(f: &Function, x: &[Array]) -> Array {
    reference::run(f, x).unwrap().remove(0)
}

/// The value at `x`.
pub(crate) fn value(x: &[Array], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Array {
    run(&function(x, f), x)
}

/// The gradient at the first argument of the sum of the result's elements times `ct`.
pub(crate) fn pull(x: &[Array], ct: &[f64], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Vec<f64> {
    let f = function(x, f);
    let shape = f.ty(f.results()[0]).shape.as_const().unwrap();
    let g = vjp(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    let ct = Wide::F(ct.to_vec())
        .narrow(f.ty(f.results()[0]).dtype, shape)
        .unwrap();
    let args: Vec<Array> = x.iter().cloned().chain([ct]).collect();
    run(&g, &args).to_f64()
}

/// The gradient of a scalar at its first argument.
pub(crate) fn gradient(x: &[Array], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Vec<f64> {
    let f = function(x, f);
    run(
        &grad(&AdContext::default(), &f, &f.params()[..1]).unwrap(),
        x,
    )
    .to_f64()
}

pub(crate) fn vector(v: &[f64]) -> Array {
    Array::vector(v.to_vec())
}

pub(crate) fn matrix(rows: usize, v: &[f64]) -> Array {
    Array::from_vec([rows, v.len() / rows], v.to_vec()).unwrap()
}

/// Pseudorandom numbers between -1 and 1.
pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x1234_5678_9abc_def1);
    (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

pub(crate) fn noise_array(like: &Array, seed: u64) -> Array {
    let n = like.len();
    let wide = match like.wide() {
        Wide::C(_) => {
            let (re, im) = (noise(n, seed), noise(n, seed + 1000));
            Wide::C(
                re.into_iter()
                    .zip(im)
                    .map(|(re, im)| C128::new(re, im))
                    .collect(),
            )
        }
        Wide::F(_) => Wide::F(noise(n, seed)),
        Wide::I(_) => panic!("integers have no tangents"),
    };
    wide.narrow(like.dtype(), like.shape()).unwrap()
}

/// `Re Σ conj(a) b`.
pub(crate) fn inner(a: &Array, b: &Array) -> f64 {
    a.to_c128()
        .iter()
        .zip(b.to_c128())
        .map(|(a, b)| (a.conj() * b).re)
        .sum()
}

pub(crate) fn step(x: &Array, t: &Array, h: f64) -> Array {
    let v = x
        .to_c128()
        .iter()
        .zip(t.to_c128())
        .map(|(x, t)| x + t * h)
        .collect::<Vec<C128>>();
    let wide = match x.wide() {
        Wide::C(_) => Wide::C(v),
        _ => Wide::F(v.into_iter().map(|z| z.re).collect()),
    };
    wide.narrow(x.dtype(), x.shape()).unwrap()
}

pub(crate) fn close(got: &[f64], want: &[f64], tol: f64) {
    assert_eq!(got.len(), want.len(), "{got:?} against {want:?}");
    for (g, w) in got.iter().zip(want) {
        let same = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= tol * (1.0 + w.abs());
        assert!(same, "{got:?} against {want:?}");
    }
}

fn flat(a: &Array) -> Vec<f64> {
    a.to_c128().iter().flat_map(|z| [z.re, z.im]).collect()
}

/// Compares forward and reverse derivatives with each other and with finite differences, up to
/// second order, for every argument.
pub(crate) fn check(x: &[Array], f: impl Fn(&dyn Emit, &[Val]) -> Val) {
    let (f, ad) = (function(x, f), AdContext::default());
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    let active: Vec<usize> = (0..x.len())
        .filter(|&i| x[i].dtype().has_tangent())
        .collect();
    let directions = |seed| {
        active
            .iter()
            .map(|&i| noise_array(&x[i], seed + i as u64))
            .collect::<Vec<_>>()
    };
    let t = directions(1);
    let moved = |h: f64| {
        let mut y = x.to_vec();
        for (&i, t) in active.iter().zip(&t) {
            y[i] = step(&x[i], t, h);
        }
        y
    };
    let difference = |g: &Function, extra: &[Array], k: usize| -> Vec<f64> {
        let h = 1e-4;
        let at =
            |h: f64| flat(&reference::run(g, &[moved(h), extra.to_vec()].concat()).unwrap()[k]);
        let (a, b, c, d) = (at(2.0 * h), at(h), at(-h), at(-2.0 * h));
        (0..a.len())
            .map(|i| (8.0 * (b[i] - c[i]) - a[i] + d[i]) / (12.0 * h))
            .collect()
    };
    let forward = jvp(&ad, &f, &wrt).unwrap();
    let dy = reference::run(&forward, &[x.to_vec(), t.clone()].concat())
        .unwrap()
        .remove(1);
    close(&flat(&dy), &difference(&f, &[], 0), 1e-7);
    let ct = noise_array(&dy, 77);
    let reverse = vjp(&ad, &f, &wrt).unwrap();
    let back = reference::run(&reverse, &[x, from_ref(&ct)].concat()).unwrap();
    let (a, b) = (
        inner(&ct, &dy),
        back.iter().zip(&t).map(|(g, t)| inner(g, t)).sum::<f64>(),
    );
    assert!(
        (a - b).abs() <= 1e-10 * (1.0 + a.abs()),
        "<ct, J t> = {a}, <J* ct, t> = {b}"
    );
    // Second order: forward over reverse against differences of the reverse pass, and against
    // reverse over forward.
    let second = hvp(&ad, &f, &wrt).unwrap();
    let scalar = f.ty(f.results()[0]).rank() == 0 && !f.ty(f.results()[0]).dtype.is_complex();
    let seed: Vec<Array> = if scalar { vec![] } else { vec![ct.clone()] };
    let got = reference::run(&second, &[x.to_vec(), seed.clone(), t.clone()].concat()).unwrap();
    let first = if scalar {
        grad(&ad, &f, &wrt).unwrap()
    } else {
        reverse
    };
    for (k, g) in got.iter().enumerate() {
        close(&flat(g), &difference(&first, &seed, k), 1e-6);
    }
    let other = hvp_reverse(&ad, &f, &wrt).unwrap();
    let order = [x.to_vec(), t, seed].concat();
    for (a, b) in got.iter().zip(&reference::run(&other, &order).unwrap()) {
        close(&flat(a), &flat(b), 1e-9);
    }
}
