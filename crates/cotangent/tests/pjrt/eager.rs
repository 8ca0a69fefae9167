//! Tensors with a placement: operations wait on their device, and run as few programs.

use super::{backend, eight, near};
use cotangent::ad::{self, EagerRuntime, no_grad};
use cotangent::methods::*;
use cotangent::pjrt::PjrtBackend;
use cotangent::{Code, EagerTensor, Result, Tensor};
use std::sync::Arc;

fn inputs(n: usize, step: usize) -> [Tensor; 2] {
    let x = (0..n * 3).map(|k| ((k * 7 + step * 5) % 11) as f32 / 5.0 - 1.0);
    let y = (0..n).map(|k| ((k + step) % 4) as f32 / 2.0);
    [
        Tensor::from_vec_row_major([n, 3], x.collect()).unwrap(),
        Tensor::from_vec_row_major([n, 1], y.collect()).unwrap(),
    ]
}

/// The parameters of a network of two layers.
fn parameters() -> [Tensor; 3] {
    [&[3, 8][..], &[8], &[8, 1]].map(|shape| {
        let n = shape.iter().product();
        let w = (0..n).map(|k| ((k * 29) % 17) as f32 / 20.0 - 0.4);
        Tensor::from_vec_row_major(shape.to_vec(), w.collect()).unwrap()
    })
}

/// Trains for some steps, with a learning rate that changes and new batches. Returns the losses.
fn train(
    rt: &Arc<EagerRuntime>,
    place: impl Fn(&Tensor) -> Result<Tensor>,
    batches: &[usize],
) -> ad::Result<Vec<f32>> {
    let mut w = parameters()
        .iter()
        .map(|w| rt.variable_from(place(w)?))
        .collect::<ad::Result<Vec<EagerTensor>>>()?;
    let mut losses = Vec::new();
    for (step, &n) in batches.iter().enumerate() {
        let [x, y] = inputs(n, step);
        let (x, y) = (rt.constant_from(place(&x)?)?, rt.constant_from(place(&y)?)?);
        let hidden = x.matmul(&w[0])?.add(&w[1])?.tanh()?;
        let loss = hidden.matmul(&w[2])?.sub(&y)?.square()?.mean(..)?;
        loss.backward()?;
        let rate = 0.1 / (1.0 + 0.01 * step as f64);
        no_grad(|| {
            w.iter_mut()
                .try_for_each(|w| w.assign(&*w - w.grad_or_zero()? * rate))
        })?;
        rt.clear_grads()?;
        losses.push(loss.item::<f32>()?);
    }
    Ok(losses)
}

#[test]
fn a_training_loop_compiles_its_step_once_and_a_shorter_batch_once_more() -> ad::Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    let rt = EagerRuntime::with_backend(device.clone());
    let place = |x: &Tensor| device.to_device(x);
    let mut batches = vec![16; 100];
    let before = device.cache_stats().misses;
    let losses = train(&rt, place, &batches)?;
    let first = device.cache_stats().misses - before;
    let expected = train(&EagerRuntime::new(), |x| Ok(x.clone()), &batches)?;
    for (a, b) in losses.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1e-2), "{a} {b}");
    }
    assert!(expected[99] < expected[0]);
    println!("compilations of 100 steps: {first}");
    assert_eq!(first, 1);
    batches.push(7);
    train(&rt, place, &batches)?;
    assert_eq!(device.cache_stats().misses - before, 2);
    Ok(())
}

#[test]
fn operations_wait_and_results_stay_until_they_are_read() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    let host = Tensor::from_vec_row_major([2, 2], vec![4.0, 1.0, 1.0, 3.0])?;
    let x = device.to_device(&host)?;
    assert_eq!(x.device().as_deref(), Some("cpu:0"));
    let mut y = x.clone();
    for _ in 0..10 {
        y = y.matmul(&x)?.maximum(0.25)?;
    }
    assert_eq!(device.cache_stats().misses, 0);
    let mut expected = host.clone();
    for _ in 0..10 {
        expected = expected.matmul(&host)?.maximum(0.25)?;
    }
    near(&y.to_host()?, &expected, 1e-13);
    assert_eq!(device.cache_stats().misses, 1);
    // The same structure with another number is the same program.
    let mut z = x.clone();
    for _ in 0..10 {
        z = z.matmul(&x)?.maximum(0.5)?;
    }
    assert!(z.sum(..)?.device().is_some());
    assert_eq!(z.shape(), [2, 2]);
    assert!(format!("{z}").contains("f64[2, 2]"));
    assert_eq!(device.cache_stats().misses, 1);
    // Results that nothing reads are not computed.
    drop(x.exp()?);
    device.to_device(&host)?.to_host()?;
    assert_eq!(device.cache_stats().misses, 1);
    // A column-major tensor is listed in its order.
    let columns = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let there = device.to_device(&columns)?;
    assert_eq!(there.add(&there)?.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0]);
    Ok(())
}

#[test]
fn nothing_moves_by_itself() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    let host = Tensor::vector(vec![1.0, 2.0]);
    let there = device.to_device(&host)?;
    let code = |e: cotangent::Error, words: [&str; 2]| {
        let text = e.to_string();
        assert_eq!(e.code(), Code::DeviceMismatch, "{text}");
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    };
    code(there.add(&host).unwrap_err(), ["cpu:0", "upload_tensor"]);
    code(host.add(&there).unwrap_err(), ["cpu:0", "upload_tensor"]);
    code(there.as_slice::<f64>().unwrap_err(), ["cpu:0", "to_host"]);
    code(there.slice(0, 0..1).unwrap_err(), ["cpu:0", "to_host"]);
    let (rt, on) = (
        EagerRuntime::new(),
        EagerRuntime::with_backend(device.clone()),
    );
    let error = rt.constant_from(there.clone()).unwrap_err().to_string();
    assert!(error.contains("download_tensor"), "{error}");
    let error = on.variable_from(host.clone()).unwrap_err().to_string();
    assert!(error.contains("upload_tensor"), "{error}");
    // What the runtime itself creates is there.
    let ones = on.ones(cotangent::DType::F64, [2]).unwrap();
    let sum = ones.add(&on.constant_from(there).unwrap()).unwrap();
    assert_eq!(sum.to_vec::<f64>().unwrap(), [2.0, 3.0]);
    if let Some(many) = eight() {
        let (a, b) = (many.on(1)?.to_device(&host)?, many.on(2)?.to_device(&host)?);
        code(a.add(&b).unwrap_err(), ["cpu:1", "cpu:2"]);
        code(many.on(2)?.to_device(&a).unwrap_err(), ["cpu:1", "cpu:2"]);
    }
    Ok(())
}

#[test]
fn guards_are_errors_at_the_next_read() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    use cotangent::linalg::TensorLinalgExt;
    let good = Tensor::from_vec_row_major([2, 2], vec![4.0, 2.0, 2.0, 10.0])?;
    let l = device.to_device(&good)?.cholesky()?;
    near(&l.to_host()?, &good.cholesky()?, 1e-14);
    let bad = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 2.0, 1.0])?;
    let l = device.to_device(&bad)?.cholesky()?;
    assert_eq!(l.to_host().unwrap_err().code(), Code::NotPositiveDefinite);
    // The error is returned once.
    assert!(device.to_device(&good)?.maximum(1.0)?.to_host().is_ok());
    // What has no form is an error where it is called.
    let e = device.to_device(&good)?.eig().unwrap_err();
    assert!(e.to_string().contains("to_host"), "{e}");
    Ok(())
}

#[test]
fn derivatives_of_any_order_are_those_of_the_host() -> ad::Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    let host = Tensor::vector(vec![0.3, -0.7, 1.1]);
    let on = |rt: Arc<EagerRuntime>, x: Tensor| -> ad::Result<[Tensor; 3]> {
        let x = rt.variable_from(x)?;
        let y = x.sin()?.mul(&x.exp()?)?.abs()?.sum(..)?;
        let g = y
            .grad_of(&[&x], ad::BackwardOptions::create_graph())?
            .remove(0);
        let h = g.square()?.sum(..)?;
        let hg = h
            .grad_of(&[&x], ad::BackwardOptions::keep_graph())?
            .remove(0);
        let v = x.ones_like()?;
        Ok([g.to_tensor()?, hg.to_tensor()?, y.jvp(&x, &v)?.to_tensor()?])
    };
    let rt = EagerRuntime::with_backend(device.clone());
    let a = on(rt, device.to_device(&host)?)?;
    let b = on(EagerRuntime::new(), host)?;
    for (a, b) in a.iter().zip(&b) {
        assert!(a.device().is_some());
        near(&a.to_host()?, b, 1e-12);
    }
    Ok(())
}

#[test]
fn threads_share_a_device() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    std::thread::scope(|s| {
        for t in 0..8 {
            let device: PjrtBackend = device.clone();
            s.spawn(move || {
                for k in 0..20 {
                    let x = Tensor::vector(vec![f64::from(t), f64::from(k)]);
                    let x = device.to_device(&x).unwrap();
                    let y = x.add(&x).unwrap();
                    let expected = [2.0 * f64::from(t), 2.0 * f64::from(k)];
                    assert_eq!(y.to_vec::<f64>().unwrap(), expected);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn compiled_closures_run_on_a_device() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    use cotangent::TracedTensor;
    use cotangent::closures::{grad, jit, on};
    let f = |x: TracedTensor| (x.sin() * &x).sum(..);
    let host = Tensor::vector(vec![0.3, -0.7, 1.1]);
    let (there, here) = (on(&device).jit(grad(f)), jit(grad(f)));
    let expected = here(TracedTensor::from(host.clone()))?.to_tensor()?;
    for _ in 0..2 {
        let y = there(TracedTensor::from(host.clone()))?.to_tensor()?;
        assert!(y.device().is_none());
        near(&y, &expected, 1e-14);
        // An argument on the device leaves the result there.
        let x = TracedTensor::from(device.to_device(&host)?);
        let y = there(x.clone())?.to_tensor()?;
        assert!(y.device().is_some());
        near(&y.to_host()?, &expected, 1e-14);
        assert_eq!(here(x).err().map(|e| e.code()), Some(Code::DeviceMismatch));
    }
    assert_eq!(device.cache_stats().misses, 1);
    Ok(())
}
