//! Caches of extensions and of compilers, against models.

use cotangent::ad::{ExtensionCacheLimits, ExtensionCaches};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::runtime::ExtensionCacheKey;
use cotangent::{
    Array, DType, GraphCompiler, GraphExecutor, Result, Tensor, TensorOps, TracedTensor,
    TracedTensorAdExt, closures,
};

/// A model of a cache: keys with sizes, the most recently used last.
struct Model {
    entries: Vec<(u64, usize)>,
    limits: ExtensionCacheLimits,
    evictions: u64,
}

impl Model {
    fn shrink(&mut self) {
        let bytes = |all: &[(u64, usize)]| all.iter().map(|e| e.1 as u128).sum::<u128>();
        while self.entries.len() > self.limits.entries
            || bytes(&self.entries) > self.limits.bytes as u128
        {
            self.entries.remove(0);
            self.evictions += 1;
        }
    }

    fn put(&mut self, key: u64, bytes: usize) {
        self.entries.retain(|e| e.0 != key);
        if bytes <= self.limits.bytes && self.limits.entries > 0 {
            self.entries.push((key, bytes));
            self.shrink();
        }
    }

    fn get(&mut self, key: u64) -> bool {
        let Some(k) = self.entries.iter().position(|e| e.0 == key) else {
            return false;
        };
        let e = self.entries.remove(k);
        self.entries.push(e);
        true
    }
}

fn key(id: u64) -> ExtensionCacheKey {
    ExtensionCacheKey::new("model.v1", "plans", id)
}

/// 20,000 random calls, sizes and limits at every edge.
#[test]
fn a_cache_of_extensions_does_what_its_model_does() {
    let mut state = 1u64;
    let mut next = move |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..200 {
        let mut caches = ExtensionCaches::default();
        let mut model = Model {
            entries: Vec::new(),
            limits: caches.limits(),
            evictions: 0,
        };
        for _ in 0..100 {
            let limit = model.limits.bytes;
            let sizes = [
                0,
                1,
                7,
                limit / 3,
                limit,
                limit.saturating_add(1),
                usize::MAX,
            ];
            match next(8) {
                0 => {
                    let of = [0, 1, 3, 100, 1 << 20, usize::MAX - 1, usize::MAX];
                    let limits = ExtensionCacheLimits {
                        entries: of[next(of.len())],
                        bytes: of[next(of.len())],
                    };
                    caches.set_limits(limits);
                    model.limits = limits;
                    model.shrink();
                }
                1 => {
                    caches.clear();
                    model.entries.clear();
                }
                2 => {
                    let k = next(6) as u64;
                    assert_eq!(
                        caches.remove(&key(k)),
                        model.entries.iter().any(|e| e.0 == k)
                    );
                    model.entries.retain(|e| e.0 != k);
                }
                3 => {
                    let k = next(6) as u64;
                    assert_eq!(caches.get::<usize>(&key(k)).is_some(), model.get(k));
                }
                _ => {
                    let (k, bytes) = (next(6) as u64, sizes[next(sizes.len())]);
                    caches.put(key(k), bytes, bytes);
                    model.put(k, bytes);
                }
            }
            let stats = caches.stats();
            let bytes: u128 = model.entries.iter().map(|e| e.1 as u128).sum();
            assert_eq!(stats.entries, model.entries.len());
            assert_eq!(
                (stats.retained_bytes as u128, stats.evictions),
                (bytes, model.evictions)
            );
            assert!(
                stats.entries <= model.limits.entries && stats.retained_bytes <= model.limits.bytes
            );
        }
    }
}

fn program(k: usize, n: usize) -> TracedTensor {
    let x = TracedTensor::from_tensor(Tensor::full(DType::F64, [n], k as f64).unwrap());
    (&x * &x).sin().reduce_sum(&[0])
}

/// The same expression, traced again over other arrays, is compiled once. Another shape, constant
/// or line is another expression.
#[test]
fn a_compiler_knows_expressions_by_structure() {
    let (compiler, executor) = (GraphCompiler::new(), GraphExecutor::default());
    for k in 0..10 {
        let y = executor
            .run(&compiler.compile(&program(k, 3)).unwrap())
            .unwrap();
        assert!((y.item::<f64>().unwrap() - 3.0 * ((k * k) as f64).sin()).abs() < 1e-14);
    }
    let stats = compiler.cache_stats();
    assert_eq!((stats.misses, stats.hits, stats.entries), (1, 9, 1));
    assert_eq!(
        (executor.cache_stats().misses, executor.cache_stats().hits),
        (1, 9)
    );
    compiler.compile(&program(0, 4)).unwrap();
    for c in [1.0, 2.0] {
        let y = compiler.compile(&(program(0, 3) * c)).unwrap();
        assert_eq!(executor.run(&y).unwrap().item::<f64>().unwrap(), 0.0);
    }
    assert_eq!(compiler.cache_stats().misses, 4);
    // The same tensor again.
    let y = program(5, 3);
    let before = compiler.cache_stats().hits;
    for _ in 0..3 {
        compiler.compile(&y).unwrap();
    }
    assert_eq!(compiler.cache_stats().hits, before + 3);
    compiler.set_cache_limit(2);
    assert_eq!(compiler.cache_stats().entries, 2);
    compiler.clear_caches();
    assert_eq!(compiler.cache_stats().entries, 0);
}

/// Loop bodies are compared by structure.
#[test]
fn loops_over_different_bodies_are_different_programs() {
    let compiler = GraphCompiler::new();
    let of = |c: f64| {
        let x = TracedTensor::scalar(2.0);
        closures::fori_loop(0, 3, |_, y: TracedTensor| &y * c, x).unwrap()
    };
    for (c, want) in [(1.0, 2.0), (2.0, 16.0), (1.0, 2.0)] {
        let y = GraphExecutor::default()
            .run(&compiler.compile(&of(c)).unwrap())
            .unwrap();
        assert_eq!(y.item::<f64>().unwrap(), want);
    }
    assert_eq!(
        (compiler.cache_stats().misses, compiler.cache_stats().hits),
        (2, 1)
    );
}

/// Misses and hits of a compiler and of an executor for an expression that is built ten times, and
/// run on the tensors that it returns first.
fn of_ten(
    build: impl Fn(usize) -> Result<(Vec<(TracedTensor, Tensor)>, TracedTensor)>,
) -> Result<[(u64, u64); 2]> {
    let (compiler, executor) = (GraphCompiler::new(), GraphExecutor::default());
    for k in 0..10 {
        let (x, y) = build(k)?;
        let x: Vec<_> = x.iter().map(|(x, a)| (x, a)).collect();
        executor.run_with_inputs(&compiler.compile(&y)?, &x)?;
    }
    let [a, b] = [compiler.cache_stats(), executor.cache_stats()];
    Ok([(a.misses, a.hits), (b.misses, b.hits)])
}

#[test]
fn the_same_expression_built_ten_times_is_one_miss_and_nine_hits() -> Result<()> {
    let once = [(1, 9), (1, 9)];
    let vector = |k: usize| TracedTensor::vector(vec![k as f64 + 1.0, 2.0]);
    let of_value = |f: &dyn Fn(TracedTensor) -> Result<TracedTensor>| {
        of_ten(|k| Ok((Vec::new(), f(vector(k))?)))
    };
    assert_eq!(of_value(&|x| Ok((&x * 2.0).exp()))?, once);
    assert_eq!(of_value(&|x| x.square().sum(..).grad(&x))?, once);
    let step = |_, c: TracedTensor| c.sin() * 2.0;
    assert_eq!(of_value(&|x| closures::fori_loop(0, 3, step, x))?, once);
    let tangent = |x: TracedTensor| {
        let loss = |x: TracedTensor| x.powi(3).sum(..);
        closures::hvp(loss)(x.clone(), x)
    };
    assert_eq!(of_value(&tangent)?, once);
    // A data-dependent extent has another name in each trace.
    let rank = |x: TracedTensor| {
        let a = x.reshape([2, 1]).broadcast_to([2, 2]);
        let (_, s, _) = a.svd_thresholded(1e-3)?;
        s.sum(..).grad(&x)
    };
    assert_eq!(of_value(&rank)?, once);
    // So has an unknown extent.
    let unknown = |k: usize| {
        let x = TracedTensor::input(DType::F64, vec![TracedTensor::unknown()]);
        let y = (&x + &x).sum(..);
        Ok((vec![(x, Tensor::vector(vec![1.0; k]))], y))
    };
    assert_eq!(of_ten(unknown)?, once);
    // Two unknown extents are not one.
    let (compiler, n) = (GraphCompiler::new(), TracedTensor::unknown);
    let of = |a, b| {
        let x = TracedTensor::input(DType::F64, vec![a]);
        let y = TracedTensor::input(DType::F64, vec![b]);
        compiler.compile(&(x.sum(..) + y.sum(..)))
    };
    let a = n();
    for (a, b) in [(a.clone(), a), (n(), n()), (n(), n())] {
        of(a, b)?;
    }
    let stats = compiler.cache_stats();
    assert_eq!((stats.misses, stats.hits), (2, 1));
    Ok(())
}

#[test]
fn programs_differ_by_everything_that_changes_a_result() -> Result<()> {
    let compiler = GraphCompiler::new();
    let x = || TracedTensor::vector(vec![1.0, 2.0]);
    let array = |v: [f64; 2]| Array::vector(v.to_vec());
    let plus =
        |c: &Array| TracedTensor::emit_one(&[&x()], |cx, x| cx.add(x[0], cx.constant(c.clone())));
    // Constants are compared by their bits.
    let shared = array([0.5, 0.0]);
    for (c, misses) in [
        (&shared, 1),
        (&shared, 1),
        (&array([0.5, 0.0]), 1),
        (&array([0.5, -0.0]), 2),
        (&array([f64::NAN, 0.0]), 3),
        (&array([-f64::NAN, 0.0]), 3),
    ] {
        compiler.compile(&plus(c)?)?;
        assert_eq!(compiler.cache_stats().misses, misses, "{c:?}");
    }
    // The order of operands, and of results.
    let compiler = GraphCompiler::new();
    let binary = |swapped: bool| {
        let (a, b) = (x(), x());
        let (l, r) = if swapped { (&b, &a) } else { (&a, &b) };
        l - r
    };
    for swapped in [false, true] {
        compiler.compile(&binary(swapped))?;
    }
    assert_eq!(compiler.cache_stats().misses, 2);
    let two = |swapped: bool| {
        let (y, z) = (x().exp(), x().sin());
        match swapped {
            true => compiler.compile_many(&[&z, &y]),
            false => compiler.compile_many(&[&y, &z]),
        }
    };
    for swapped in [false, true, false] {
        two(swapped)?;
    }
    let stats = compiler.cache_stats();
    assert_eq!((stats.misses, stats.hits), (4, 1));
    Ok(())
}

/// A loop that builds its expression anew at each step holds at most the limit of programs.
#[test]
fn a_cache_of_programs_is_bounded() -> Result<()> {
    let compiler = GraphCompiler::new();
    compiler.set_cache_limit(8);
    for n in 1..100 {
        compiler.compile(&program(1, n))?;
    }
    let stats = compiler.cache_stats();
    assert_eq!((stats.entries, stats.evictions), (8, 91));
    Ok(())
}
