//! A closure is linearized once, and its derivative is applied often, transposed, nested and
//! differentiated.

use cotangent::closures::{grad, jvp, linearize, vjp, vmap};
use cotangent::{Code, Result, Tensor, TracedTensor as T};
use std::cell::Cell;

fn vector(v: &[f64]) -> T {
    T::vector(v.to_vec())
}

fn values(t: &T) -> Vec<f64> {
    t.to_tensor().unwrap().to_vec().unwrap()
}

fn f((x, n): (T, T)) -> Result<(T, T)> {
    Ok((
        (&x * &x).sin(),
        (x * n.astype(cotangent::DType::F64)).sum(..),
    ))
}

fn point() -> (T, T) {
    let n = Tensor::vector(vec![2i64, 3]);
    (vector(&[0.5, -1.0]), T::from_tensor(n))
}

#[test]
fn a_linear_map_is_that_of_jvp_and_its_transpose_that_of_vjp() -> Result<()> {
    let calls = Cell::new(0);
    let counted = |x| {
        calls.set(calls.get() + 1);
        f(x)
    };
    let (y, map) = linearize(counted)(point())?;
    let back = map.transpose();
    // An integer has no tangent: that of the argument is ignored.
    for dx in [[1.0, 0.0], [0.25, -4.0]] {
        let (want, dy) = jvp(f, point(), (vector(&dx), point().1))?;
        let got = map((vector(&dx), point().1))?;
        assert_eq!(
            (values(&y.0), values(&y.1)),
            (values(&want.0), values(&want.1))
        );
        assert_eq!(
            (values(&got.0), values(&got.1)),
            (values(&dy.0), values(&dy.1))
        );
        let ct = || (vector(&dx), T::scalar(dx[1]));
        let (_, pull) = vjp(f, point())?;
        assert_eq!(values(&back(ct())?.0), values(&pull(ct())?.0));
        assert_eq!(
            values(&back(ct())?.1.astype(cotangent::DType::F64)),
            [0.0, 0.0]
        );
        // The transpose of the transpose is the map.
        assert_eq!(
            values(&back.transpose()((vector(&dx), point().1))?.0),
            values(&dy.0)
        );
    }
    assert_eq!(calls.get(), 1);
    Ok(())
}

#[test]
fn linear_maps_nest_in_transforms_and_keep_captures() -> Result<()> {
    // The derivative of the derivative in direction a, by the point and by what it captures.
    let slope = |(x, a): (T, T)| {
        let (_, map) = linearize(|x: T| (&x * &a).sin())(x.clone())?;
        map(x.ones_like())
    };
    let (x, a) = (0.3f64, 1.7f64);
    let (dx, da) = grad(slope)((T::scalar(x), T::scalar(a)))?;
    let close = |t: &T, want: f64| (values(t)[0] - want).abs() < 1e-14;
    assert!(close(&dx, -a * a * (a * x).sin()));
    assert!(close(&da, (a * x).cos() - a * x * (a * x).sin()));
    let batch = vmap(|x: T| {
        let (_, map) = linearize(|x: T| x.powi(3))(x.clone())?;
        map.transpose()(x)
    });
    assert_eq!(values(&batch(vector(&[1.0, 2.0]))?), [3.0, 24.0]);
    // A map applied to a point is linear: its derivative is the map.
    let (_, map) = linearize(|x: T| x.powi(3))(T::scalar(2.0))?;
    assert_eq!(values(&grad(|t: T| map(t))(T::scalar(9.0))?), [12.0]);
    Ok(())
}

#[test]
fn a_direction_of_another_type_is_an_error() -> Result<()> {
    let (_, map) = linearize(|x: T| x.exp())(vector(&[0.0, 1.0]))?;
    let code = |r: Result<T>| r.map(|_| ()).unwrap_err().code();
    assert_eq!(code(map(vector(&[1.0]))), Code::TangentMismatch);
    assert_eq!(code(map.transpose()(T::scalar(1.0))), Code::SeedMismatch);
    Ok(())
}
