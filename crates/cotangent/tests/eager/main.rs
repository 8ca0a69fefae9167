//! Eager tensors: the conventions, the tape, agreement with traced programs to the bit.

mod rules;
mod traced;

use cotangent::Code;
use cotangent::ad::{BackwardOptions, EagerRuntime, EagerTensor, Error, Tensor, no_grad};
use cotangent::runtime::ExtensionCacheKey;
use std::sync::{Arc, Mutex};

fn var(rt: &Arc<EagerRuntime>, x: Vec<f64>) -> EagerTensor {
    rt.variable_from(Tensor::vector(x)).unwrap()
}

fn scalar(rt: &Arc<EagerRuntime>, x: f64) -> EagerTensor {
    rt.variable_from(Tensor::scalar(x)).unwrap()
}

fn grad(x: &EagerTensor) -> Vec<f64> {
    x.grad().unwrap().expect("a gradient").to_vec().unwrap()
}

#[test]
fn operations_and_operators() {
    let rt = EagerRuntime::new();
    let x = var(&rt, vec![1.0, 2.0, 3.0]);
    let y = x.mul(&x).unwrap();
    assert_eq!(
        y.to_tensor().unwrap().as_slice::<f64>().unwrap(),
        &[1.0, 4.0, 9.0]
    );
    let z = (2.0 * &x + &y - 1.0) / &x;
    assert_eq!(
        z.to_tensor().unwrap().as_slice::<f64>().unwrap(),
        &[2.0, 3.5, 14.0 / 3.0]
    );
    let row = rt
        .constant_from(Tensor::from_vec_row_major([2, 1], vec![10.0, 20.0]).unwrap())
        .unwrap();
    let wide = (&x + &row).to_tensor().unwrap();
    assert_eq!(
        wide.as_slice::<f64>().unwrap(),
        &[11.0, 12.0, 13.0, 21.0, 22.0, 23.0]
    );
    // An error is returned when a result is requested.
    let bad = &x + &rt.constant_from(Tensor::vector(vec![1.0, 2.0])).unwrap();
    assert_eq!((bad * 2.0).sum(..).unwrap_err().code(), Code::ShapeMismatch);
    assert_eq!(x.reduce_sum(&[1]).unwrap_err().code(), Code::Attribute);
}

/// A tape that is recorded again is pulled back by one program, with the same gradients (also of
/// live intermediate tensors) and the same errors.
#[test]
fn a_tape_that_is_recorded_again() {
    let rt = EagerRuntime::new();
    let x = var(&rt, vec![0.5, 1.5, -2.0]);
    let mut seen: Vec<Vec<u64>> = Vec::new();
    for pass in 0..6 {
        rt.clear_grads().unwrap();
        let y = x.exp().unwrap().mul(&x).unwrap();
        let z = y.sin().unwrap().mul(&y).unwrap().sum(..).unwrap();
        // Gradients of a pass that keeps the tape and of one that does not are added.
        let kept = z.backward_with(BackwardOptions::keep_graph()).unwrap();
        let all = z.backward_with(BackwardOptions::free_graph()).unwrap();
        let of = |t: &Tensor| {
            t.to_vec::<f64>()
                .unwrap()
                .iter()
                .map(|x| x.to_bits())
                .collect::<Vec<_>>()
        };
        let bits = [
            of(&x.grad().unwrap().unwrap()),
            of(&all.get(&y).unwrap()),
            of(&all.get(&z).unwrap()),
        ]
        .concat();
        assert_eq!(of(&kept.get(&y).unwrap()), of(&all.get(&y).unwrap()));
        seen.push(bits);
        assert_eq!(seen[pass], seen[0], "pass {pass}");
        let e = z.backward().unwrap_err();
        assert!(matches!(e, Error::GraphFreed { .. }), "{e}");
    }
    assert_eq!(rt.cache_stats().unwrap().tapes, 1);
    // A hook receives its cotangent: a tape with hooks is pulled back node by node.
    let (y, calls) = (x.exp().unwrap(), Arc::new(Mutex::new(0)));
    let count = calls.clone();
    y.register_hook(move |_| {
        *count.lock().unwrap() += 1;
        None
    })
    .unwrap();
    y.mul(&x).unwrap().sum(..).unwrap().backward().unwrap();
    assert_eq!(*calls.lock().unwrap(), 1);
}

/// Convention 17.
#[test]
fn backward_a_second_time() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 3.0);
    let y = &x * &x;
    y.backward_with(BackwardOptions::keep_graph()).unwrap();
    assert_eq!(grad(&x), [6.0]);
    y.backward().unwrap();
    assert_eq!(grad(&x), [12.0]);
    y.backward_with(BackwardOptions::free_graph()).unwrap();
    assert_eq!(grad(&x), [18.0]);
    let e = y.backward().unwrap_err();
    assert!(
        matches!(e, Error::GraphFreed { .. }) && e.code() == Code::GraphFreed,
        "{e}"
    );
    assert_eq!(grad(&x), [18.0]);
    let one = rt.constant_from(Tensor::scalar(1.0)).unwrap();
    let y = &x * &x;
    for seed in [1.0, 2.0] {
        assert_eq!(
            y.vjp(&x, &(&one * seed)).unwrap().item::<f64>().unwrap(),
            6.0 * seed
        );
    }
}

/// Convention 18, and variables that are not reached.
#[test]
fn gradients_accumulate() {
    let rt = EagerRuntime::new();
    let (x, unreached) = (scalar(&rt, 2.0), scalar(&rt, 1.0));
    for _ in 0..2 {
        (&x * &x).backward().unwrap();
    }
    assert_eq!(grad(&x), [8.0]);
    assert!(unreached.grad().unwrap().is_none());
    x.clear_grad().unwrap();
    assert!(x.grad().unwrap().is_none());
    (&x * &unreached).backward().unwrap();
    rt.clear_grads().unwrap();
    assert!(x.grad().unwrap().is_none() && unreached.grad().unwrap().is_none());
}

#[test]
fn errors_name_the_mistake() {
    let (rt, other) = (EagerRuntime::new(), EagerRuntime::new());
    assert!(Arc::strong_count(&rt) == 1 && rt.id() != other.id());
    let x = var(&rt, vec![1.0, 2.0]);
    assert!(matches!((&x * &x).backward(), Err(Error::NonScalarGrad { shape }) if shape == [2]));
    let y = var(&other, vec![1.0, 2.0]);
    assert!(matches!(x.mul(&y), Err(Error::ContextMismatch { .. })));
    assert!(!x.same_context(&y) && x.ctx_id() == rt.id());
    let moved = y.detach_into(&rt).unwrap();
    assert!(!moved.tracks_grad() && x.mul(&moved).is_ok());
    assert_eq!(
        rt.variable_from(Tensor::scalar(1i32)).unwrap_err().code(),
        Code::IntegerInput
    );
    assert_eq!(
        x.detach().sum(..).unwrap().backward().unwrap_err().code(),
        Code::Unbound
    );
    let z = rt
        .variable_from(Tensor::scalar(cotangent::C128::new(1.0, 2.0)))
        .unwrap();
    assert_eq!((&z * &z).backward().unwrap_err().code(), Code::ComplexLoss);
    z.abs2().unwrap().backward().unwrap();
    let g = z
        .grad()
        .unwrap()
        .unwrap()
        .item::<cotangent::C128>()
        .unwrap();
    assert_eq!(g, cotangent::C128::new(2.0, 4.0));
    let loss = x.sum(..).unwrap();
    assert_eq!(loss.vjp(&x, &x).unwrap_err().code(), Code::SeedMismatch);
    assert_eq!(
        loss.jvp(&x, &loss).unwrap_err().code(),
        Code::TangentMismatch
    );
}

/// Convention 73.
#[test]
fn in_place_edits() {
    let rt = EagerRuntime::new();
    let mut x = var(&rt, vec![2.0]);
    let y = (&x * &x).sum(..).unwrap();
    let edit = |v: &mut [f64]| v[0] = 100.0;
    assert!(matches!(
        x.update::<f64>(edit),
        Err(Error::ModifiedInPlace { .. })
    ));
    let mut h = &x * 3.0;
    assert!(matches!(
        no_grad(|| h.update::<f64>(edit)),
        Err(Error::ModifiedInPlace { .. })
    ));
    // The step of an optimizer: the tape keeps the old elements.
    no_grad(|| x.update::<f64>(edit)).unwrap();
    assert_eq!(x.item::<f64>().unwrap(), 100.0);
    y.backward().unwrap();
    assert_eq!(grad(&x), [4.0]);
}

#[test]
fn nothing_is_recorded_without_grad() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 2.0);
    assert!(!rt.no_grad(|| &x * &x).tracks_grad());
    assert!((&x * &x).tracks_grad());
    let y = &x.detach() * &x;
    y.backward().unwrap();
    assert_eq!(grad(&x), [2.0]);
}

#[test]
fn column_major_in_column_major_out() {
    let rt = EagerRuntime::new();
    let a = Tensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let b = Tensor::from_vec_col_major(vec![3, 2], vec![0.5, -1.0, 2.0, 1.5, -0.25, 3.0]).unwrap();
    let (a, b) = (rt.variable_from(a).unwrap(), rt.constant_from(b).unwrap());
    let y = a.matmul(&b).unwrap();
    let ct = Tensor::from_vec_col_major(vec![2, 2], vec![1.0, -0.5, 0.25, 2.0]).unwrap();
    let ct = rt.constant_from(ct).unwrap();
    let g = y.vjp(&a, &ct).unwrap().to_tensor().unwrap();
    assert_eq!(
        g.as_slice::<f64>().unwrap(),
        [0.875, 2.75, -1.0625, 0.0, 2.75, 5.0]
    );
    let da = Tensor::from_vec_col_major(vec![2, 3], vec![1.0, -0.5, 0.25, 0.0, 2.0, -1.0]).unwrap();
    let dy = y
        .jvp(&a, &rt.constant_from(da).unwrap())
        .unwrap()
        .to_tensor()
        .unwrap();
    assert_eq!(dy.as_slice::<f64>().unwrap(), [4.25, -2.25, 7.4375, -3.75]);
    (&y * &ct).sum(..).unwrap().backward().unwrap();
    assert_eq!(
        a.grad().unwrap().unwrap().as_slice::<f64>().unwrap(),
        g.as_slice::<f64>().unwrap()
    );
}

#[test]
fn higher_order() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 0.7);
    // Four successive derivatives of sin. The rule of each uses values that were computed from x.
    let mut y = x.sin().unwrap();
    let (s, c) = 0.7f64.sin_cos();
    for want in [c, -s, -c, s] {
        y = y
            .grad_of(&[&x], BackwardOptions::create_graph())
            .unwrap()
            .remove(0);
        assert!((y.item::<f64>().unwrap() - want).abs() < 1e-15);
    }
    // exp(x) * x at 1: 2e, twice differentiated 3e, and so on.
    let x = scalar(&rt, 1.0);
    let mut y = &x.exp().unwrap() * &x;
    for n in 2..6 {
        y = y
            .grad_of(&[&x], BackwardOptions::create_graph())
            .unwrap()
            .remove(0);
        assert!((y.item::<f64>().unwrap() - f64::from(n) * 1f64.exp()).abs() < 1e-13);
    }
    // backward with a graph: the gradient of the gradient accumulates on the leaf.
    let x = scalar(&rt, 3.0);
    (&(&x * &x) * &x)
        .backward_with(BackwardOptions::create_graph())
        .unwrap();
    let g = x.grad_tensor().unwrap().unwrap();
    x.clear_grad().unwrap();
    g.backward().unwrap();
    assert_eq!(grad(&x), [18.0]);
    x.clear_grad().unwrap();
    // Forward over reverse equals reverse over forward.
    let y = (&x.tanh().unwrap() * &x).exp().unwrap();
    let one = rt.constant_from(Tensor::scalar(1.0)).unwrap();
    let g = y
        .grad_of(&[&x], BackwardOptions::create_graph())
        .unwrap()
        .remove(0);
    let fr = g.jvp(&x, &one).unwrap().item::<f64>().unwrap();
    let rf = y
        .jvp(&x, &one)
        .unwrap()
        .grad_of(&[&x], BackwardOptions::default())
        .unwrap();
    assert!((fr / rf[0].item::<f64>().unwrap() - 1.0).abs() < 1e-14);
}

#[test]
fn hooks_see_and_replace_gradients() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 2.0);
    let h = &x * &x;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    h.register_hook(move |g| {
        log.lock().unwrap().push(g.item::<f64>().unwrap());
        Some(g * 10.0)
    })
    .unwrap();
    // With two paths into h, the hook is called once with their sum.
    let cts = (&(&h * 3.0) + &h).backward().unwrap();
    assert_eq!(*seen.lock().unwrap(), [4.0]);
    assert_eq!(grad(&x), [160.0]);
    assert_eq!(cts.get(&h).unwrap().item::<f64>().unwrap(), 40.0);
    assert_eq!(cts.get(&x).unwrap().item::<f64>().unwrap(), 160.0);
}

#[test]
fn anomalies_are_named() {
    let rt = EagerRuntime::new();
    rt.set_anomaly_detection(true);
    let x = scalar(&rt, -1.0);
    let e = x.log().unwrap_err();
    assert!(
        e.code() == Code::CheckFailed && e.to_string().contains("`log`"),
        "{e}"
    );
    let zero = scalar(&rt, 0.0);
    // 0 * inf in the derivative of sqrt(x²) at 0.
    let e = zero
        .square()
        .unwrap()
        .sqrt()
        .unwrap()
        .backward()
        .unwrap_err();
    assert!(e.to_string().contains("in the derivative of `mul`"), "{e}");
    rt.set_anomaly_detection(false);
    assert!(x.log().unwrap().item::<f64>().unwrap().is_nan());
}

/// Convention 135, on a small stack.
#[test]
fn a_million_operations_deep() {
    let work = || {
        let rt = EagerRuntime::new();
        let x = scalar(&rt, 1.0);
        let one = rt.constant_from(Tensor::scalar(1.0)).unwrap();
        let mut y = x.clone();
        for _ in 0..1_000_000 {
            y = &y * &one;
        }
        y.backward_with(BackwardOptions::keep_graph()).unwrap();
        assert_eq!(grad(&x), [1.0]);
        drop(y);
    };
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

/// Convention 2: the derivative by an independent variable is zero.
#[test]
fn constants_have_zero_derivatives() {
    let rt = EagerRuntime::new();
    let x = var(&rt, vec![1.0, 2.0]);
    let g = (&x * 3.0)
        .sum(..)
        .unwrap()
        .grad_of(&[&x], BackwardOptions::create_graph())
        .unwrap()
        .remove(0);
    let s = g.sum(..).unwrap();
    let zero = s
        .grad_of(&[&x], BackwardOptions::default())
        .unwrap()
        .remove(0);
    assert_eq!(
        zero.to_tensor().unwrap().to_vec::<f64>().unwrap(),
        [0.0, 0.0]
    );
    assert!(s.grad_optional(&[&x], BackwardOptions::default()).unwrap()[0].is_none());
    let one = rt.constant_from(Tensor::scalar(1.0)).unwrap();
    assert_eq!(
        s.vjp(&x, &one)
            .unwrap()
            .to_tensor()
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [0.0, 0.0]
    );
    assert_eq!(s.jvp(&x, &x.detach()).unwrap().item::<f64>().unwrap(), 0.0);
    // A loss that does not depend on a variable in a differentiable way is an error.
    let e = x.sign().unwrap().sum(..).unwrap().backward().unwrap_err();
    assert!(e.to_string().contains("in a differentiable way"), "{e}");
}

#[test]
fn hooks_stay_in_their_runtime() {
    let (rt, other) = (EagerRuntime::new(), EagerRuntime::new());
    let x = scalar(&rt, 2.0);
    let foreign = other.constant_from(Tensor::scalar(1.0)).unwrap();
    x.register_hook(move |_| Some(foreign.clone())).unwrap();
    assert!(matches!(
        x.square().unwrap().backward(),
        Err(Error::ContextMismatch { .. })
    ));
}

/// No gradient is lost if several threads add to one variable.
#[test]
fn gradients_of_several_threads_add_up() {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::vector(vec![1.0; 1000])).unwrap();
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..200).for_each(|_| drop(x.sum(..).unwrap().backward().unwrap())));
        }
    });
    assert_eq!(
        x.grad().unwrap().unwrap().to_vec::<f64>().unwrap(),
        vec![800.0; 1000]
    );
}

/// Nodes are visited in the reverse order of recording, for any recording thread.
#[test]
fn a_tape_of_two_threads() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 3.0);
    for _ in 0..4 {
        let square = &x * &x;
        let cube = std::thread::scope(|s| s.spawn(|| &square * &x).join().unwrap());
        (&cube * &square).backward().unwrap();
        assert_eq!(grad(&x), [405.0]);
        x.clear_grad().unwrap();
    }
}

#[test]
fn a_wide_fan_out() {
    let rt = EagerRuntime::new();
    let x = scalar(&rt, 1.0);
    let mut sum = &x * 1.0;
    for _ in 0..10_000 {
        sum = &sum + &x;
    }
    sum.backward().unwrap();
    assert_eq!(grad(&x), [10_001.0]);
}

/// An addition saves nothing, and a product saves its operands without a copy.
#[test]
fn tapes_do_not_copy() {
    let rt = EagerRuntime::new();
    let t = Tensor::vector(vec![1.0f64; 8]);
    let at = t.as_slice::<f64>().unwrap().as_ptr();
    let x = rt.variable_from(t).unwrap();
    assert_eq!(
        x.to_tensor().unwrap().as_slice::<f64>().unwrap().as_ptr(),
        at
    );
    let y = &x * &x;
    drop(y);
    assert_eq!(
        x.materialized()
            .unwrap()
            .as_slice::<f64>()
            .unwrap()
            .as_ptr(),
        at
    );
}

#[test]
fn caches_and_profile() {
    let rt = EagerRuntime::new();
    let key = || ExtensionCacheKey::new("name.v1", "plans", 1);
    rt.with_extension_caches_mut(|c| c.put(key(), vec![1u8; 10], 10))
        .unwrap();
    let found = rt
        .with_extension_caches_mut(|c| c.get::<Vec<u8>>(&key()))
        .unwrap();
    assert_eq!(found.unwrap().len(), 10);
    assert!(
        rt.with_extension_caches_mut(|c| c.get::<String>(&key()))
            .unwrap()
            .is_none()
    );
    let s = rt.cache_stats().unwrap().extensions;
    assert_eq!(
        (s.entries, s.retained_bytes, s.hits, s.misses, s.evictions),
        (1, 10, 1, 1, 0)
    );
    let mut limits = rt.extension_cache_limits().unwrap();
    limits.bytes = 15;
    rt.set_extension_cache_limits(limits).unwrap();
    rt.with_extension_caches_mut(|c| c.put(ExtensionCacheKey::new("name.v1", "plans", 2), 0u8, 10))
        .unwrap();
    let s = rt.cache_stats().unwrap().extensions;
    assert_eq!((s.entries, s.evictions), (1, 1));
    rt.clear_caches().unwrap();
    assert_eq!(rt.cache_stats().unwrap().extensions.entries, 0);
    rt.with_backend_mut(|b| b.threads()).unwrap();
    rt.set_profiling(true);
    let _ = scalar(&rt, 1.0).exp().unwrap();
    assert_eq!(
        (rt.profile()[0].name.as_str(), rt.profile()[0].calls),
        ("exp", 1)
    );
}
