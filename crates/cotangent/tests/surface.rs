//! The promised public names: programs of users that are written against them.

use cotangent::cpu::CpuBackend;
use cotangent::runtime::{ExtensionCacheKey, GraphCompiler, GraphExecutor, TracedTensor};
use cotangent::tensor::{Tensor, TypedTensor};
use std::sync::Arc;

mod traced {
    use super::*;
    use cotangent::ad::{AdContext, TracedTensorAdExt};
    use cotangent::{DType, Result};

    #[test]
    fn vjp_of_a_matrix_product() -> Result<()> {
        let a =
            TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b =
            TracedTensor::from_vec_col_major(vec![3, 2], vec![0.5_f64, -1.0, 2.0, 1.5, -0.25, 3.0]);
        let ct = TracedTensor::from_vec_col_major(vec![2, 2], vec![1.0_f64, -0.5, 0.25, 2.0]);
        let y = a.matmul(&b)?;
        let ct_a = y.vjp(&a, &ct)?;
        let compiler = GraphCompiler::new();
        let program = compiler.compile(&ct_a)?;
        let executor = GraphExecutor::new(CpuBackend::new());
        let result = executor.run(&program)?;
        assert_eq!(result.shape(), &[2, 3]);
        assert_eq!(
            result.as_slice::<f64>().unwrap(),
            &[0.875, 2.75, -1.0625, 0.0, 2.75, 5.0]
        );
        Ok(())
    }

    #[test]
    fn jvp_of_a_matrix_product() -> Result<()> {
        let a =
            TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b =
            TracedTensor::from_vec_col_major(vec![3, 2], vec![0.5_f64, -1.0, 2.0, 1.5, -0.25, 3.0]);
        let da =
            TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0_f64, -0.5, 0.25, 0.0, 2.0, -1.0]);
        let ad = AdContext::builder().build()?;
        let dy = ad.jvp(&a.matmul(&b)?, &a, &da)?;
        let mut executor = GraphExecutor::new(CpuBackend::with_threads(1)?);
        executor.register_extension(|_| Ok(()))?;
        let result = executor.run(&GraphCompiler::new().compile(&dy)?)?;
        assert_eq!(
            result.as_slice::<f64>().unwrap(),
            &[4.25, -2.25, 7.4375, -3.75]
        );
        Ok(())
    }

    #[test]
    fn gradients_through_the_root_of_the_crate() -> cotangent::Result<()> {
        use cotangent::TracedTensorAdExt as _;
        let x = cotangent::TracedTensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0]);
        let loss = (&(&x * &x) + &x.exp().tanh()).reduce_sum(&[0]);
        let g = loss.grad(&x)?;
        let (value, gs) = cotangent::AdContext::default().value_and_grad(&loss, &[&x])?;
        let program = cotangent::GraphCompiler::new().compile_many(&[&value, &g, &gs[0]])?;
        let all = cotangent::GraphExecutor::new(cotangent::CpuBackend::new()).run_many(&program)?;
        assert_eq!(all.len(), 3);
        assert!(all[0].shape().is_empty());
        assert!(all[1].same_bits(&all[2]));
        Ok(())
    }

    #[test]
    fn operators_carry_errors_to_compile() {
        let x = TracedTensor::from_vec_col_major(vec![2, 2], vec![1.0; 4]);
        let y = TracedTensor::from_vec_col_major(vec![3], vec![1.0; 3]);
        for bad in [
            &x + &y,
            &x - &y,
            &x * &y,
            &x / &y,
            -(&x + &y),
            x.clone() + y.clone(),
            x.reshape([5]),
        ] {
            let error = GraphCompiler::new().compile(&bad).err().unwrap();
            assert!(error.to_string().contains("surface.rs:"), "{error}");
        }
    }

    #[test]
    fn placeholders_and_shapes() -> Result<()> {
        let x = TracedTensor::input(DType::F32, vec![TracedTensor::unknown(), 3.into()]);
        let y = x.transpose(&[1, 0]).reshape(vec![
            TracedTensor::input(DType::F32, [2]).shape()?[0].clone(),
            3.into(),
        ]);
        let z = TracedTensor::from_vec_row_major(vec![3], vec![1.0f32, 2.0, 3.0])
            .broadcast_in_dim([2, 3], &[1]);
        let program = GraphCompiler::new().compile(&(y + z))?;
        let given = Tensor::ones(DType::F32, [2, 3])?;
        let sum =
            GraphExecutor::new(CpuBackend::new()).run_with_inputs(&program, &[(&x, &given)])?;
        assert_eq!(
            sum.as_slice::<f32>().unwrap(),
            &[2.0, 3.0, 4.0, 2.0, 3.0, 4.0]
        );
        Ok(())
    }
}

mod tensors {
    use super::*;
    use cotangent::{C32, C64, C128, DType, Result};

    #[test]
    fn orders_and_constructors() -> Result<()> {
        let a = Tensor::from_vec_col_major(vec![2, 3], vec![1, 2, 3, 4, 5, 6])?;
        assert_eq!(a.dtype(), DType::I32);
        assert_eq!(a.as_slice::<i32>().unwrap(), &[1, 2, 3, 4, 5, 6]);
        assert_eq!(a.index(1, 1)?.to_vec::<i32>()?, [3, 4]);
        let r = Tensor::from_vec_row_major(vec![2, 3], vec![1.0f32; 6])?;
        assert_eq!(r.shape(), &[2, 3]);
        assert_eq!(
            Tensor::eye(DType::F64, 2)?.to_vec::<f64>()?,
            [1.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(
            Tensor::arange(DType::I64, 0.0, 3.0, 1.0)?.to_vec::<i64>()?,
            [0, 1, 2]
        );
        assert_eq!(
            Tensor::linspace(DType::F64, 0.0, 1.0, 3)?.to_vec::<f64>()?,
            [0.0, 0.5, 1.0]
        );
        assert_eq!(
            Tensor::full(DType::F32, [2], 2.5)?.to_vec::<f32>()?,
            [2.5, 2.5]
        );
        assert_eq!(Tensor::zeros(DType::Bool, [1])?.to_vec::<bool>()?, [false]);
        let t = TypedTensor::<f64>::from_vec_col_major(vec![2, 1], vec![1.0, 2.0])?;
        assert_eq!(t.as_slice(), &[1.0, 2.0]);
        assert_eq!(TypedTensor::<f64>::ones([2])?.to_vec(), [1.0, 1.0]);
        Ok(())
    }

    #[test]
    fn element_types() -> Result<()> {
        for dtype in DType::ALL {
            let t = Tensor::zeros(dtype, [2])?;
            assert_eq!((t.dtype(), t.len()), (dtype, 2));
        }
        // A complex number is named by both its parts; `C32` is the name by one part.
        assert_eq!(Tensor::scalar(C32::new(1.0, 2.0)).dtype(), DType::C32);
        assert_eq!(
            (DType::C32, C64::new(1.0f32, 0.0)),
            (DType::C64, C32::new(1.0, 0.0))
        );
        assert_eq!(Tensor::scalar(C128::new(1.0, 2.0)).dtype().size(), 16);
        Ok(())
    }
}

mod eager {
    use super::*;
    use cotangent::ad::{EagerRuntime, EagerTensor, Error, Result, Tensor};
    use cotangent::{AdContext, EagerRuntime as Root};

    #[test]
    fn runtimes_are_the_callers() -> Result<()> {
        for rt in [
            EagerRuntime::new(),
            EagerRuntime::with_cpu_backend(CpuBackend::with_threads(2)?),
            Root::with_cpu_backend_and_ad_context(
                CpuBackend::new(),
                &AdContext::builder().build()?,
            ),
        ] {
            assert_eq!(Arc::strong_count(&rt), 1);
            let x = rt.variable_from(Tensor::scalar(2.0))?;
            assert_eq!(x.ctx_id(), rt.id());
            assert!(Arc::ptr_eq(x.runtime(), &rt));
            rt.synchronize()?;
        }
        assert_ne!(EagerRuntime::new().id(), EagerRuntime::new().id());
        Ok(())
    }

    #[test]
    fn backward_accumulates() -> Result<()> {
        let ctx = EagerRuntime::new();
        let x = EagerTensor::requires_grad_in(
            Tensor::from_vec_col_major(vec![3], vec![1.0, 2.0, 3.0])?,
            ctx.clone(),
        )?;
        let y = EagerTensor::from_tensor_in(
            Tensor::from_vec_col_major(vec![3], vec![4.0, 8.0, 12.0])?,
            &ctx,
        )?;
        assert!(x.tracks_grad() && !y.tracks_grad() && x.same_context(&y));
        assert_eq!(y.to_tensor()?.as_slice::<f64>().unwrap(), &[4.0, 8.0, 12.0]);
        for n in [1.0, 2.0] {
            let loss = x.mul(&y)?.reduce_sum(&[0])?;
            let cotangents = loss.backward()?;
            assert!(cotangents.get(&x).is_some());
            let grad: Arc<Tensor> = x.grad()?.unwrap();
            assert_eq!(
                grad.as_slice::<f64>().unwrap(),
                &[4.0 * n, 8.0 * n, 12.0 * n]
            );
        }
        x.clear_grad()?;
        assert!(x.grad()?.is_none());
        x.exp()?.reduce_sum(&[0])?.backward()?;
        ctx.clear_grads()?;
        assert!(x.grad()?.is_none());
        let sum = &(&x + &y) - &(&x / &y);
        assert_eq!(
            (sum.shape(), sum.dtype()),
            (&[3][..], cotangent::DType::F64)
        );
        Ok(())
    }

    #[test]
    fn errors_have_names() -> Result<()> {
        let (one, two) = (EagerRuntime::new(), EagerRuntime::new());
        let x = one.variable_from(Tensor::ones(cotangent::DType::F64, [2, 2])?)?;
        let y = two.constant_from(Tensor::ones(cotangent::DType::F64, [2, 2])?)?;
        match x.mul(&x)?.backward() {
            Err(Error::NonScalarGrad { shape }) => assert_eq!(shape, [2, 2]),
            other => panic!("{other:?}"),
        }
        assert!(matches!(x.mul(&y), Err(Error::ContextMismatch { .. })));
        assert!(!x.same_context(&y));
        assert!(x.mul(&y.detach_into(&one)?)?.tracks_grad());
        let d = x.detach();
        assert!(!d.tracks_grad());
        let shared: Arc<Tensor> = d.materialized()?;
        assert_eq!(
            shared.as_slice::<f64>().unwrap(),
            x.tensor_read()?.as_slice::<f64>().unwrap()
        );
        Ok(())
    }

    #[test]
    fn caches_of_extensions() -> Result<()> {
        let ctx = EagerRuntime::new();
        let key = ExtensionCacheKey::new("name.v1", "plans", 1);
        ctx.with_extension_caches_mut(|caches| caches.put(key.clone(), vec![1u8; 64], 64))?;
        assert_eq!(
            (
                ctx.cache_stats()?.extensions.entries,
                ctx.cache_stats()?.extensions.retained_bytes
            ),
            (1, 64)
        );
        let plan = ctx.with_extension_caches_mut(|caches| caches.get::<Vec<u8>>(&key))?;
        assert_eq!(plan.unwrap().len(), 64);
        let other = ExtensionCacheKey::new("name.v1", "plans", 2);
        assert!(
            ctx.with_extension_caches_mut(|caches| caches.get::<Vec<u8>>(&other))?
                .is_none()
        );
        let stats = ctx.cache_stats()?.extensions;
        assert_eq!((stats.hits, stats.misses, stats.evictions), (1, 1, 0));
        let mut limits = ctx.extension_cache_limits()?;
        limits.entries = 0;
        ctx.set_extension_cache_limits(limits)?;
        assert_eq!(
            (
                ctx.cache_stats()?.extensions.entries,
                ctx.cache_stats()?.extensions.evictions
            ),
            (0, 1)
        );
        ctx.clear_extension_caches()?;
        ctx.clear_caches()?;
        assert_eq!(ctx.with_backend_mut(|backend| backend.threads())?, None);
        ctx.register_extension(|_backend| Ok(()))?;
        Ok(())
    }
}

mod einsum {
    use super::*;
    use cotangent::ad::{EagerRuntime, TracedTensorAdExt};
    use cotangent::einsum::{EagerEinsumExt, GraphCompilerEinsumExt};

    #[test]
    fn on_eager_tensors() -> cotangent::ad::Result<()> {
        let ctx = EagerRuntime::new();
        let a = ctx.variable_from(Tensor::from_vec_col_major(
            vec![2, 3],
            vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        )?)?;
        let b = ctx.variable_from(Tensor::from_vec_col_major(
            vec![3, 2],
            vec![0.5, -1.0, 2.0, 1.5, -0.25, 3.0],
        )?)?;
        let c = [&a, &b].einsum("ij,jk->ik")?;
        let d = a.matmul(&b)?;
        assert_eq!(
            c.to_tensor()?.as_slice::<f64>().unwrap(),
            d.to_tensor()?.as_slice::<f64>().unwrap()
        );
        c.reduce_sum(&[0, 1])?.backward()?;
        assert_eq!(
            a.grad()?.unwrap().as_slice::<f64>().unwrap(),
            &[2.0, 2.0, -1.25, -1.25, 5.0, 5.0]
        );
        Ok(())
    }

    #[test]
    fn on_traced_tensors() -> cotangent::Result<()> {
        let a = TracedTensor::from_vec_col_major(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let compiler = GraphCompiler::new();
        let y = compiler.einsum("ij,jk->ik", &[&a, &a])?;
        let g = y.reduce_sum(&[0, 1]).grad(&a)?;
        let executor = GraphExecutor::new(CpuBackend::new());
        let result = executor.run_many(&compiler.compile_many(&[&y, &g])?)?;
        assert_eq!(
            result[0].as_slice::<f64>().unwrap(),
            &[7.0, 10.0, 15.0, 22.0]
        );
        assert_eq!(
            result[1].as_slice::<f64>().unwrap(),
            &[7.0, 11.0, 9.0, 13.0]
        );
        Ok(())
    }
}
