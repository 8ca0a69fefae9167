//! The promised names of a CUDA backend, on XLA's CPU: `COTANGENT_PJRT_CUDA` names its plugin in a
//! process of its own.

use super::{backend, in_a_process, near};
use cotangent::gpu::{CudaBackend, WebGpuBackend, download_tensor, gpu_available, upload_tensor};
use cotangent::linalg::LinalgBackend;
use cotangent::pjrt::{OptionValue, PjrtBackend, find};
use cotangent::{AdContext, Code, EagerRuntime, EagerTensor, Tensor, ad};

#[test]
fn names_of_cuda_run_on_any_plugin() {
    if backend().is_none() {
        return;
    }
    // Newer builds of XLA's CPU refuse the options of GPUs.
    let library = find("cpu").unwrap();
    let options = [("preallocate", OptionValue::Bool(false))];
    if let Err(why) = PjrtBackend::with_library(&library, &options) {
        assert_eq!(why.code(), Code::Invalid, "{why}");
        println!("skipped: {why}");
        return;
    }
    in_a_process(
        "promised::the_quickstart_of_cuda",
        &[("COTANGENT_PJRT_CUDA", &library)],
    );
}

#[test]
#[ignore = "run by `names_of_cuda_run_on_any_plugin`, in a process whose CUDA plugin is XLA's for CPUs"]
fn the_quickstart_of_cuda() -> ad::Result<()> {
    assert!(gpu_available());
    let mut backend = CudaBackend::new(0)?;
    let host = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 5.0])?;
    let a = upload_tensor(backend.runtime(), &host)?;
    let b = backend.add(&a, &a)?;
    let back = download_tensor(backend.runtime(), &b)?;
    assert_eq!(back.as_slice::<f64>()?, [2.0, 4.0, 6.0, 10.0]);
    let product = download_tensor(backend.runtime(), &backend.matmul(&a, &b)?)?;
    near(
        &product,
        &Tensor::from_vec_col_major([2, 2], vec![14.0, 24.0, 36.0, 62.0])?,
        1e-14,
    );
    // Operands on the host are errors that name the way.
    let error = backend.add(&a, &host).unwrap_err();
    assert_eq!(error.code(), Code::DeviceMismatch);
    assert!(error.to_string().contains("upload_tensor"));
    assert!(download_tensor(backend.runtime(), &host).is_err());
    // Linear algebra.
    let x = LinalgBackend::solve(&mut backend, &a, &b)?;
    near(
        &download_tensor(backend.runtime(), &x)?,
        &Tensor::from_vec_col_major([2, 2], vec![2.0, 0.0, 0.0, 2.0])?,
        1e-12,
    );
    // Eager tensors, with gradients.
    let rt = EagerRuntime::with_cuda_backend(backend.clone());
    let w = EagerTensor::requires_grad_in(a.clone(), &rt)?;
    let loss = w.square()?.sum(..)?;
    loss.backward()?;
    rt.synchronize()?;
    let g = w.grad()?.unwrap();
    assert!(g.as_slice::<f64>().is_err() && g.device().is_some());
    assert!(loss.materialized()?.device().is_some());
    assert_eq!(g.to_vec::<f64>()?, [2.0, 4.0, 6.0, 10.0]);
    let ad = AdContext::default();
    let rt = EagerRuntime::with_cuda_backend_and_ad_context(backend.clone(), &ad);
    assert_eq!(rt.constant_from(a)?.sum(..)?.item::<f64>()?, 11.0);
    assert!(CudaBackend::new(1000).is_err());
    assert_eq!(WebGpuBackend::new().unwrap_err().code(), Code::Unsupported);
    assert!(backend.runtime().cache_stats().misses > 0);
    Ok(())
}
