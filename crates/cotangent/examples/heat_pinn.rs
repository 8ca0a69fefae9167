//! A neural network that learns the heat equation u_t = u_xx on [0, 1] from the equation alone.
//!
//! The residual holds a first and a second derivative of the network; the loss is a sum of squared
//! residuals over many points; training differentiates the loss again, by the network's weights.
//! Each step is a transform of a graph:
//!
//! ```text
//! u(w, t, x)  --grad t-->  u_t        --grad x, grad x-->  u_xx
//! (u_t - u_xx)²  --batch over points-->  loss(w)  --grad w-->  what Adam needs
//! ```
//! The exact solution is exp(-π² t) sin(π x); it gives the initial and boundary values.

use cotangent::ad::{AdContext, batch, grad, value_and_grad};
use cotangent::rewrite::simplify;
use cotangent::{Array, Builder, DType, Dim, Emit, Function, Result, Type, Val};
use std::f64::consts::PI;
use std::sync::Arc;

const HIDDEN: usize = 12;
const POINTS: usize = 64;

/// Weights of the network: two layers with tanh.
fn weights() -> [Type; 4] {
    let f = |shape: &[usize]| Type::new(DType::F64, shape);
    [f(&[2, HIDDEN]), f(&[HIDDEN]), f(&[HIDDEN, 1]), f(&[1])]
}

/// u(w.., t, x): one number for one point.
fn network() -> Result<Function> {
    let b = Builder::new("u", Default::default());
    let w: Vec<Val> = weights()
        .into_iter()
        .enumerate()
        .map(|(i, t)| b.param(t, Some(&format!("w{i}"))))
        .collect();
    let t = b.param(Type::scalar(DType::F64), Some("t"));
    let p = b.param(Type::scalar(DType::F64), Some("p"));
    let cx: &dyn Emit = &b;
    let one = [Dim::Const(1)];
    let point = cx.concatenate(&[cx.reshape(t, &one), cx.reshape(p, &one)], 0);
    let h = cx.tanh(cx.add(cx.matmul(point, w[0]), w[1]));
    let u = cx.add(cx.matmul(h, w[2]), w[3]);
    let u = cx.reshape(u, &[]);
    b.finish(&[u])
}

/// The mean over points of the squared residual, and of the squared error at known points.
fn loss(ad: &AdContext) -> Result<Function> {
    let u = network()?;
    let (t, x) = (u.params()[4], u.params()[5]);
    let u_t = grad(ad, &u, &[t])?;
    let u_x = grad(ad, &u, &[x])?;
    let u_xx = grad(ad, &u_x, &[u_x.params()[5]])?;

    // The squared residual at one point, then at many: points have a leading axis, weights do not.
    let b = Builder::new("residual", Default::default());
    let a: Vec<Val> = u
        .params()
        .iter()
        .map(|&p| b.param(u.ty(p).clone(), None))
        .collect();
    let cx: &dyn Emit = &b;
    let r = cx.sub(cx.inline(&u_t, &a)[0], cx.inline(&u_xx, &a)[0]);
    let squared = cx.mul(r, r);
    let residual = b.finish(&[squared])?;
    let n = Dim::Const(POINTS);
    let mapped = [false, false, false, false, true, true];
    let (residuals, _) = batch(&ad.session(), &residual, &mapped, &[true], &n)?;
    let (values, _) = batch(&ad.session(), &u, &mapped, &[true], &n)?;

    let b = Builder::new("loss", Default::default());
    let w: Vec<Val> = weights().into_iter().map(|t| b.param(t, None)).collect();
    let points = Type::new(DType::F64, [POINTS]);
    let rest: Vec<Val> = ["t", "x", "kt", "kx", "known"]
        .iter()
        .map(|n| b.param(points.clone(), Some(n)))
        .collect();
    let cx: &dyn Emit = &b;
    let inside = cx.inline(&residuals, &[&w[..], &rest[..2]].concat())[0];
    let at = cx.inline(&values, &[&w[..], &rest[2..4]].concat())[0];
    let e = cx.sub(at, rest[4]);
    let known = cx.mul(cx.mul(e, e), cx.full_like(e, 20.0));
    let total = cx.reduce_sum(cx.add(inside, known), &[0]);
    let mean = cx.div(total, cx.full_like(total, POINTS as f64));
    b.finish(&[mean])
}

/// Evenly spread numbers in [0, 1).
fn spread(n: usize, step: f64) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * step).fract()).collect()
}

/// The points at which the equation holds, the points with known values, and these values.
fn points() -> Vec<Array> {
    let (t, x) = (
        spread(POINTS, 0.618_034).iter().map(|t| 0.2 * t).collect(),
        spread(POINTS, 0.754_878),
    );
    // Known points: the initial values, and both ends.
    let kt: Vec<f64> = (0..POINTS)
        .map(|i| {
            if i % 2 == 0 {
                0.0
            } else {
                0.2 * i as f64 / POINTS as f64
            }
        })
        .collect();
    let kx: Vec<f64> = (0..POINTS)
        .map(|i| {
            if i % 2 == 0 {
                i as f64 / POINTS as f64
            } else {
                f64::from(i % 4 == 1)
            }
        })
        .collect();
    let exact = |t: f64, x: f64| (-PI * PI * t).exp() * (PI * x).sin();
    let known: Vec<f64> = kt.iter().zip(&kx).map(|(&t, &x)| exact(t, x)).collect();
    [t, x, kt, kx, known].map(Array::vector).into()
}

fn initial_weights() -> Vec<Vec<f64>> {
    weights()
        .iter()
        .enumerate()
        .map(|(k, ty)| {
            let n: usize = ty
                .shape
                .as_const()
                .expect("weights have known sizes")
                .iter()
                .product();
            (0..n)
                .map(|i| 1.5 * ((i * 7 + k * 3) as f64 * 1.7).sin())
                .collect()
        })
        .collect()
}

fn main() -> Result<()> {
    let ad = AdContext::default();
    let loss = loss(&ad)?;
    let step = Arc::new(simplify(&value_and_grad(&ad, &loss, &loss.params()[..4])?));
    println!(
        "the loss has {} equations, its value and gradient {}",
        loss.eqns().len(),
        step.eqns().len()
    );

    let data = points();
    let mut w = initial_weights();
    let (mut m, mut v): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (
        w.iter().map(|w| vec![0.0; w.len()]).collect(),
        w.iter().map(|w| vec![0.0; w.len()]).collect(),
    );
    let program = cotangent::compile(&step)?;
    let (mut first, mut last) = (None, 0.0);
    for k in 1..=400 {
        let mut args = Vec::new();
        for (w, ty) in w.iter().zip(weights()) {
            args.push(Array::from_vec(
                ty.shape.as_const().expect("known"),
                w.clone(),
            )?);
        }
        args.extend(data.iter().cloned());
        let out = program.run(&args)?;
        last = out[0].to_f64()[0];
        first.get_or_insert(last);
        if k % 100 == 0 {
            println!("step {k:4}  loss {last:.6}");
        }
        for (j, g) in out[1..].iter().enumerate() {
            for (i, g) in g.to_f64().into_iter().enumerate() {
                m[j][i] = 0.9 * m[j][i] + 0.1 * g;
                v[j][i] = 0.999 * v[j][i] + 0.001 * g * g;
                let (mh, vh) = (
                    m[j][i] / (1.0 - 0.9f64.powi(k)),
                    v[j][i] / (1.0 - 0.999f64.powi(k)),
                );
                w[j][i] -= 0.01 * mh / (vh.sqrt() + 1e-8);
            }
        }
    }
    assert!(
        last < 0.05 * first.expect("at least one step"),
        "training makes the residual small: {first:?} -> {last}"
    );
    Ok(())
}
