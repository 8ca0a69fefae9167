//! Needs of a front end in another language: its places in errors, its errors through every
//! transform as the same objects, and traced closures that threads share.

use cotangent::closures::*;
use cotangent::{Code, DType, EagerRuntime, Error, Loc, Result, Tensor, TracedTensor, Type};
use std::sync::Arc;

type T = TracedTensor;

/// An exception of another language. Its address tells it from copies.
struct Exception(Arc<()>);

fn at(x: f64) -> T {
    T::scalar(x)
}

fn vector(x: &[f64]) -> T {
    T::vector(x.to_vec())
}

/// The error of a call whose closures raise an exception; it must be that exception.
fn raises<R>(name: &str, call: impl FnOnce(&dyn Fn() -> Error) -> Result<R>) {
    let token = Arc::new(());
    let line = Loc::foreign("fit.py", 7, "loss");
    let raise = || Error::foreign(Box::new(Exception(token.clone())));
    let e = match line.scope(|| call(&raise)) {
        Err(e) => e,
        Ok(_) => panic!("{name} does not fail"),
    };
    assert_eq!(e.code(), Code::Foreign, "{name}: {e}");
    let payload = e.clone().take_foreign().expect(name);
    let Ok(exception) = payload.downcast::<Exception>() else {
        panic!("{name}: another object")
    };
    assert!(Arc::ptr_eq(&exception.0, &token), "{name}");
    assert!(e.take_foreign().is_none(), "{name}: it was taken");
}

#[test]
fn an_exception_of_a_closure_passes_every_transform() {
    let x = || vector(&[1.0, 2.0]);
    let one = Type::new(DType::F64, [2]);
    raises("trace", |e| {
        trace(|_: Vec<T>| Err::<T, _>(e()), std::slice::from_ref(&one))
    });
    raises("jit", |e| jit(|_: T| Err::<T, _>(e()))(x()));
    raises("grad", |e| grad(|_: T| Err::<T, _>(e()))(x()));
    raises("grad of grad", |e| {
        grad(|x: T| grad(|_: T| Err::<T, _>(e()))(x))(x())
    });
    raises("jit of grad", |e| jit(grad(|_: T| Err::<T, _>(e())))(x()));
    raises("value_and_grad", |e| {
        value_and_grad(|_: T| Err::<T, _>(e()))(x())
    });
    raises("jvp", |e| jvp(|_: T| Err::<T, _>(e()), x(), x()));
    raises("vjp", |e| vjp(|_: T| Err::<T, _>(e()), x()).map(|_| ()));
    raises("hvp", |e| hvp(|_: T| Err::<T, _>(e()))(x(), x()));
    raises("jacobian", |e| jacobian(|_: T| Err::<T, _>(e()))(x()));
    raises("hessian", |e| hessian(|_: T| Err::<T, _>(e()))(x()));
    raises("vmap", |e| vmap(|_: T| Err::<T, _>(e()))(x()));
    raises("linearize", |e| {
        grad(|x: T| linearize(|_: T| Err::<T, _>(e()))(x).map(|y| y.0))(x())
    });
    raises("checkpoint", |e| checkpoint(|_: T| Err::<T, _>(e()))(x()));
    raises("cond", |e| {
        cond(&T::scalar(true), x(), |_: T| Err::<T, _>(e()), |x: T| x)
    });
    raises("scan", |e| {
        scan(|_: T, _: T| Err::<(T, T), _>(e()), at(0.0), x()).map(|_| ())
    });
    raises("while_loop", |e| {
        while_loop(|x: T| x.less(3.0), |_: T| Err::<T, _>(e()), at(0.0))
    });
    raises("fori_loop", |e| {
        fori_loop(0, 3, |_, _: T| Err::<T, _>(e()), at(0.0))
    });
    raises("root", |e| root(|_: T| Err::<T, _>(e()), at(1.0)));
    raises("fixed_point", |e| {
        fixed_point(|_: T| Err::<T, _>(e()), at(1.0))
    });
    raises("argmin", |e| argmin(|_: T| Err::<T, _>(e()), at(1.0)));
    raises("check", |e| {
        check(|_: T| Err::<T, _>(e()), at(1.0)).map(|_| ())
    });
}

#[test]
fn a_payload_may_be_text() {
    let e = Error::foreign(Box::new("a message".to_owned()));
    assert_eq!(e.message(), "a message");
    assert_eq!(e.to_string(), "a message [Foreign]");
    // The eager error is the same error.
    let e: Error = cotangent::ad::Error::from(e).into();
    assert_eq!(
        *e.take_foreign().unwrap().downcast::<String>().unwrap(),
        "a message"
    );
}

#[test]
fn errors_name_the_line_of_the_other_language() {
    let line = Loc::foreign("model.py", 31, "forward");
    let (x, y) = (vector(&[1.0, 2.0]), vector(&[1.0, 2.0, 3.0]));
    // An operation that cannot be recorded.
    let e = line.scope(|| x.matmul(&y)).unwrap_err();
    assert_eq!(e.loc(), line);
    assert!(
        e.to_string().contains("\n  at model.py:31, in forward"),
        "{e}"
    );
    // An operation that fails when it runs, far from the line that recorded it.
    let no_root = line.scope(|| root(|x: T| &x * &x + 1.0, at(1.0))).unwrap();
    let e = no_root.to_tensor().unwrap_err();
    assert_eq!((e.code(), e.loc()), (Code::NotConverged, line), "{e}");
    // Eager tensors.
    let rt = EagerRuntime::new();
    let (a, b) = (
        rt.variable_from([1.0, 2.0]).unwrap(),
        rt.variable_from([1.0; 3]).unwrap(),
    );
    let e = Error::from(line.scope(|| a.mul(&b)).unwrap_err());
    assert_eq!(e.loc(), line, "{e}");
    // Plain tensors.
    let a = Tensor::vector(vec![1.0, 2.0]);
    let e = line.scope(|| a.index(0, 9)).unwrap_err();
    assert_eq!(e.loc(), line, "{e}");
}

#[test]
fn scopes_nest_and_end_with_a_panic() {
    let (outer, inner) = (Loc::foreign("a.py", 1, ""), Loc::foreign("b.py", 2, ""));
    outer.scope(|| {
        assert_eq!(inner.scope(Loc::caller), inner);
        assert_eq!(Loc::caller(), outer);
        let panic = std::panic::catch_unwind(|| {
            inner.scope(|| std::panic::resume_unwind(Box::new(())));
        });
        assert!(panic.is_err());
        assert_eq!(Loc::caller(), outer);
        // Other threads have their own.
        let other = std::thread::spawn(Loc::caller).join().unwrap();
        assert!(matches!(other, Loc::Rust(_)));
    });
    assert_eq!(outer.to_string(), "a.py:1");
}

fn shared<S: Send + Sync>(x: S) -> S {
    x
}

#[test]
fn threads_share_a_traced_closure() {
    let w = vector(&[2.0, 3.0]);
    let types = [Type::new(DType::F64, [2]), Type::scalar(DType::F64)];
    let f = |x: Vec<T>| {
        Ok::<_, Error>(vec![
            &x[0] * &w * &x[1],
            grad(|t: T| (t * &x[0]).sum(..))(x[1].clone())?,
        ])
    };
    let f = shared(trace(f, &types).unwrap());
    assert_eq!(f.function().result_types(), types);
    assert_eq!(f.captures().len(), 1);
    std::thread::scope(|s| {
        for k in 1..=4 {
            let f = &f;
            s.spawn(move || {
                for _ in 0..20 {
                    let y = f.call(&[vector(&[1.0, 10.0]), at(k as f64)]).unwrap();
                    let y: Vec<Vec<f64>> = y
                        .iter()
                        .map(|y| y.to_tensor().unwrap().to_vec().unwrap())
                        .collect();
                    assert_eq!(y, [vec![2.0 * k as f64, 30.0 * k as f64], vec![11.0]]);
                }
            });
        }
    });
    // Arguments that do not fit.
    let wrong = |x: &[T]| f.call(x).err().unwrap().code();
    assert_eq!(wrong(&[at(1.0)]), Code::Arity);
    assert_eq!(wrong(&[at(1.0), at(1.0)]), Code::ShapeMismatch);
    // A placeholder as argument: it becomes a call, which transforms differentiate.
    let d = grad(|x: T| Ok::<_, Error>(f.call(&[x, at(2.0)])?[0].sum(..)))(vector(&[1.0, 1.0]))
        .unwrap();
    assert_eq!(d.to_tensor().unwrap().to_vec::<f64>().unwrap(), [4.0, 6.0]);
}

#[test]
fn threads_share_a_compiled_closure() {
    let (f, cache) = jit_with_cache(|x: T| x.square().sum(..));
    let (f, cache) = (shared(f), shared(cache));
    std::thread::scope(|s| {
        for n in 1..=4usize {
            let f = &f;
            s.spawn(move || {
                for _ in 0..20 {
                    let y = f(T::vector(vec![1.0; n])).unwrap();
                    assert_eq!(y.item::<f64>().unwrap(), n as f64);
                }
            });
        }
    });
    assert_eq!(cache.stats().entries, 4);
}
