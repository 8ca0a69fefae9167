//! The text blocks of the guide, verbatim.

use super::*;

const REVERSE: &str = r#"tgraph.module @m {
  %x = tgraph.arg : tensor<?xf32>
  %y = tgraph.sin %x : tensor<?xf32>
  %z = tgraph.reduce %y {op = "sum"} : tensor<?xf32> -> f32
  tgraph.return %z : f32
}

// Autodiff pass (reverse mode)
tgraph.adjoint @m wrt(%x) -> @m_grad
"#;

const ADJOINT: &str = r#"tgraph.module @m_grad {
  %x = tgraph.arg : tensor<?xf32>
  %dy = tgraph.ones_like %x
  %cosx = tgraph.cos %x
  %dx = tgraph.mul %dy, %cosx
  tgraph.return %dx
}
"#;

const FORWARD: &str = r#"tgraph.module @m {
  %x = tgraph.arg : tensor<?xf32>
  %y = tgraph.exp %x : tensor<?xf32>
  tgraph.return %y : tensor<?xf32>
}

// Forward-mode transform
tgraph.jvp @m wrt(%x) -> @m_jvp
"#;

const TANGENT: &str = r#"tgraph.module @m_jvp {
  %x, %dx = tgraph.arg, tgraph.tangent : tensor<?xf32>
  %y = tgraph.exp %x
  %dy = tgraph.mul %y, %dx
  tgraph.return %y, %dy
}
"#;

const HESSIAN: &str = r#"// Hessian-vector product: ∇²f(x) * v
tgraph.hvp @m wrt(%x) dir(%v) -> @m_hvp
"#;

const SIZES: [usize; 4] = [0, 1, 5, 1000];

fn wave(n: usize, phase: f32) -> Array {
    Array::vector((0..n).map(|i| (0.7 * i as f32 + phase).sin()).collect())
}

fn all(p: &Program, name: &str, x: &[Array]) -> Vec<Array> {
    reference::run(p.module(name).unwrap(), x).unwrap()
}

#[test]
fn reverse_mode_and_the_adjoint_by_hand() {
    let (derived, by_hand) = (program(REVERSE), program(ADJOINT));
    for n in SIZES {
        let x = wave(n, 0.3);
        let sum: f64 = x.to_f64().into_iter().map(f64::sin).sum();
        let value = run(&derived, "m", std::slice::from_ref(&x)).to_f64()[0];
        assert!((value - sum).abs() <= 1e-5 * (1.0 + n as f64));
        let g = run(&derived, "m_grad", std::slice::from_ref(&x));
        near(
            &g,
            &x.to_f64().into_iter().map(f64::cos).collect::<Vec<_>>(),
            4e-7,
        );
        assert!(run(&by_hand, "m_grad", &[x]).same_bits(&g), "n = {n}");
    }
}

#[test]
fn forward_mode_and_the_tangent_by_hand() {
    let (derived, by_hand) = (program(FORWARD), program(TANGENT));
    for n in SIZES {
        let x = [wave(n, 0.3), wave(n, 1.3)];
        let (a, b) = (all(&derived, "m_jvp", &x), all(&by_hand, "m_jvp", &x));
        assert!(
            a.len() == 2 && a.iter().zip(&b).all(|(a, b)| a.same_bits(b)),
            "n = {n}"
        );
        let y: Vec<f64> = x[0].to_f64().into_iter().map(f64::exp).collect();
        near(&a[0], &y, 4e-7);
        near(
            &a[1],
            &y.iter()
                .zip(x[1].to_f64())
                .map(|(y, t)| y * t)
                .collect::<Vec<_>>(),
            8e-7,
        );
    }
}

#[test]
fn products_with_the_hessian() {
    let p = program(&format!("{REVERSE}{HESSIAN}"));
    for n in SIZES {
        let x = [wave(n, 0.3), wave(n, 1.3)];
        let want = x[0]
            .to_f64()
            .into_iter()
            .zip(x[1].to_f64())
            .map(|(x, v)| -x.sin() * v);
        near(&run(&p, "m_hvp", &x), &want.collect::<Vec<_>>(), 8e-7);
    }
}
