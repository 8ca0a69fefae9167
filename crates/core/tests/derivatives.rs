//! Derivatives of small programs against closed forms, through every transform.

use cotangent_core::transform::{AdContext, Direction, Session, grad, hessian, hvp, hvp_reverse, jacobian, jvp, vjp};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Type, Val, reference};

fn build(ty: Type, f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x = b.param(ty, Some("x"));
    let y = f(&b, x);
    b.finish(&[y]).unwrap()
}

fn scalar(f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build(Type::scalar(DType::F64), f)
}

fn run1(f: &Function, x: &[Array]) -> Vec<f64> {
    reference::run(f, x).unwrap()[0].to_f64()
}

#[test]
fn product_with_exp_is_not_keyed_by_structure() {
    let f = scalar(|cx, x| cx.mul(cx.exp(x), x));
    let ad = AdContext::default();
    let g = grad(&ad, &f, f.params()).unwrap();
    assert!((run1(&g, &[Array::scalar(1.0)])[0] - 2.0 * 1f64.exp()).abs() < 1e-12);
}

#[test]
fn third_derivative_by_deriving_derived() {
    let ad = AdContext::default();
    let mut f = scalar(|cx, x| cx.sin(x));
    for want in [0.5f64.cos(), -0.5f64.sin(), -0.5f64.cos()] {
        f = grad(&ad, &f, f.params()).unwrap();
        assert!((run1(&f, &[Array::scalar(0.5)])[0] - want).abs() < 1e-12);
    }
}

#[test]
fn sum_of_sin_for_every_size() {
    let f = build(Type::new(DType::F64, vec![Dim::sym("n")]), |cx, x| cx.reduce_sum(cx.sin(x), &[0]));
    let ad = AdContext::default();
    let g = grad(&ad, &f, f.params()).unwrap();
    for n in [0, 1, 5, 1000] {
        let x: Vec<f64> = (0..n).map(|i| i as f64 * 0.01).collect();
        let got = run1(&g, &[Array::vector(x.clone())]);
        assert_eq!(got.len(), n);
        assert!(got.iter().zip(&x).all(|(g, x)| (g - x.cos()).abs() < 1e-14));
    }
}

#[test]
fn modes_agree() {
    let f = build(Type::new(DType::F64, [3]), |cx, x| {
        let y = cx.tanh(cx.mul(x, cx.exp(x)));
        cx.reduce_sum(cx.mul(y, cx.cos(x)), &[0])
    });
    let ad = AdContext::default();
    let x = Array::vector(vec![0.3, -0.2, 0.9]);
    let v = Array::vector(vec![1.0, 2.0, -0.5]);
    let a = run1(&hvp(&ad, &f, f.params()).unwrap(), &[x.clone(), v.clone()]);
    let b = run1(&hvp_reverse(&ad, &f, f.params()).unwrap(), &[x.clone(), v.clone()]);
    let h = run1(&hessian(&ad, &f, f.params()).unwrap(), std::slice::from_ref(&x));
    for i in 0..3 {
        let hv: f64 = (0..3).map(|j| h[3 * i + j] * v.to_f64()[j]).sum();
        assert!((a[i] - b[i]).abs() < 1e-12 && (a[i] - hv).abs() < 1e-12);
    }
    let g = build(Type::new(DType::F64, [3]), |cx, x| cx.mul(x, cx.sin(x)));
    let f = run1(&jacobian(&ad, &g, g.params(), Direction::Forward).unwrap(), std::slice::from_ref(&x));
    let r = run1(&jacobian(&ad, &g, g.params(), Direction::Reverse).unwrap(), std::slice::from_ref(&x));
    assert_eq!(f, r);
    let t = reference::run(&jvp(&ad, &g, g.params()).unwrap(), &[x.clone(), v.clone()]).unwrap();
    let c = run1(&vjp(&ad, &g, g.params()).unwrap(), &[x, v]);
    assert!(t[1].to_f64().iter().zip(&c).all(|(a, b)| (a - b).abs() < 1e-12));
}
