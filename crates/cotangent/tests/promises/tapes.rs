//! Tapes are kept while tensors are alive, gradients are stored for live tensors, and operations
//! without a rule run.

use cotangent::ad::{
    AdContext, BackwardOptions, EagerRuntime, EagerTensor, Error, Result, Tensor, no_grad,
};
use cotangent::extend::*;
use cotangent::{Array, Code, CpuBackend, Dim, Op, Type};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn number(x: &EagerTensor) -> f64 {
    let g = x.grad().unwrap().expect("a gradient");
    g.item::<f64>().unwrap()
}

fn variable(x: f64) -> (Arc<EagerRuntime>, EagerTensor) {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::scalar(x)).unwrap();
    (rt, x)
}

/// The passes of a tape that is recorded several times: node by node, by compiled rules, and as one
/// program.
const REPEATED: usize = 4;

#[test]
fn every_live_tensor_that_a_pass_reached_has_a_gradient() -> Result<()> {
    let (rt, x) = variable(0.5);
    for pass in 0..REPEATED {
        rt.clear_grads()?;
        let y = x.square()?;
        let z = y.exp()?;
        let unreached = y.sin()?;
        let loss = (&z * &x).sum(..)?;
        y.retain_grad()?;
        assert!(z.grad()?.is_none());
        loss.backward()?;
        let e = 0.25f64.exp();
        assert_eq!(
            (number(&loss), number(&z), number(&y)),
            (1.0, 0.5, 0.5 * e),
            "pass {pass}"
        );
        assert!((number(&x) - 1.5 * e).abs() < 1e-15);
        assert!(unreached.grad()?.is_none());
        // Clones share it, constants have none, and passes add up.
        assert_eq!(number(&z.clone()), 0.5);
        assert!(z.detach().grad()?.is_none() && z.detach().retain_grad().is_err());
        loss.backward()?;
        assert_eq!((number(&z), number(&y)), (1.0, e), "pass {pass}");
        z.clear_grad()?;
        assert!(z.grad()?.is_none());
        loss.backward()?;
        assert_eq!((number(&z), number(&y)), (0.5, 1.5 * e));
    }
    Ok(())
}

#[test]
fn a_gradient_with_a_graph_of_a_live_tensor_is_no_cycle() -> Result<()> {
    let (_, x) = variable(2.0);
    let y = x.square()?;
    let loss = y.square()?;
    loss.backward_with(BackwardOptions::create_graph())?;
    assert_eq!((number(&y), number(&x)), (8.0, 32.0));
    assert!(x.grad_tensor()?.unwrap().tracks_grad());
    assert!(!y.grad_tensor()?.unwrap().tracks_grad());
    let tracked = loss.grad_of(&[&y], BackwardOptions::create_graph())?;
    assert!(tracked[0].tracks_grad());
    Ok(())
}

#[test]
fn two_losses_share_a_tape_and_each_may_be_repeated() -> Result<()> {
    let (rt, x) = variable(3.0);
    for _ in 0..REPEATED {
        x.clear_grad()?;
        let shared = x.square()?;
        let (one, two) = (shared.mul(&x)?, shared.exp()?.log()?);
        one.backward()?;
        two.backward()?;
        assert!((number(&x) - (27.0 + 6.0)).abs() < 1e-12);
        two.backward_with(BackwardOptions::free_graph())?;
        // The shared part was freed with the second loss.
        for loss in [&one, &two, &shared] {
            let e = loss.backward().unwrap_err();
            assert!(matches!(e, Error::GraphFreed { .. }), "{e}");
        }
    }
    assert!(BackwardOptions::default().keep_graph);
    drop(rt);
    Ok(())
}

#[test]
fn cotangents_of_a_pass_are_listed() -> Result<()> {
    let (_, x) = variable(0.5);
    let y = x.square()?;
    let loss = y.exp()?.sin()?;
    let all = loss.backward()?;
    // Of `exp` nothing is alive.
    assert_eq!((all.len(), all.is_empty()), (3, false));
    let keys: Vec<_> = all.keys().collect();
    assert_eq!(keys, [loss.key(), y.key(), x.key()].map(Option::unwrap));
    for ((key, ct), of) in all.iter().zip([&loss, &y, &x]) {
        assert_eq!(Some(key), of.key());
        assert_eq!(ct.item::<f64>()?, number(of));
    }
    assert!(no_grad(|| x.exp())?.key().is_none());
    Ok(())
}

/// An operation that can be evaluated and has no derivative.
fn rounded() -> Op {
    let eval = |x: &[Array]| {
        let y: Vec<f64> = x[0].to_f64().into_iter().map(f64::round).collect();
        Ok(vec![Array::from_vec(x[0].shape(), y)?])
    };
    callback("test.rounded", |x| Ok(x.to_vec()), eval)
}

#[test]
fn an_operation_without_a_rule_runs_and_its_derivative_is_the_error() -> Result<()> {
    let (rt, x) = variable(1.6);
    for _ in 0..REPEATED {
        x.clear_grad()?;
        let line = line!() + 1;
        let y = rt.apply(rounded(), &[&x])?.remove(0);
        assert_eq!((y.item::<f64>()?, y.tracks_grad()), (2.0, true));
        let loss = y.mul(&x)?;
        let one = rt.constant_from(Tensor::scalar(1.0))?;
        for e in [
            loss.backward().unwrap_err(),
            loss.backward_with(BackwardOptions::create_graph())
                .unwrap_err(),
            loss.jvp(&x, &one).unwrap_err(),
            loss.backward_with(BackwardOptions::free_graph())
                .unwrap_err(),
        ] {
            assert_eq!(e.code(), Code::NoRule, "{e}");
            let text = e.to_string();
            assert!(text.contains("`test.rounded`"), "{text}");
            assert!(text.contains(&format!("tapes.rs:{line}")), "{text}");
        }
        // A loss that does not depend on it in a differentiable way has a gradient.
        y.detach().mul(&x)?.backward()?;
        assert_eq!(number(&x), 2.0);
    }
    Ok(())
}

/// A sum that counts its evaluations.
#[derive(Clone, Debug)]
struct CountedSum(Arc<AtomicUsize>);

impl Primitive for CountedSum {
    fn name(&self) -> &str {
        "test.sum"
    }
    fn infer(&self, x: &[Type]) -> cotangent::Result<Vec<Type>> {
        Ok(vec![x[0].clone()])
    }
    fn eval(&self, x: &[Array], env: &Env) -> cotangent::Result<Vec<Array>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Op::from(cotangent::ops::Binary::Add).eval(x, env)
    }
    fn linear_in(&self, mask: &[bool]) -> bool {
        mask == [true, true]
    }
    fn linearize(
        &self,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> cotangent::Result<Linearized> {
        let y = cx.op(Op::extension(self.clone()), x);
        Ok(cx.one(y, cx.sum_opt(t[0], t[1])))
    }
    fn transpose(
        &self,
        _: &dyn Emit,
        _: &[Arg],
        ct: &[Option<Val>],
    ) -> cotangent::Result<Vec<Option<Val>>> {
        Ok(vec![ct[0], ct[0]])
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> cotangent::Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

#[test]
fn the_sum_of_cotangents_is_that_of_the_context() -> Result<()> {
    let count = Arc::new(AtomicUsize::new(0));
    let sum = Op::extension(CountedSum(count.clone()));
    let ad = AdContext::builder().with_sum(sum).build()?;
    let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &ad);
    let x = rt.variable_from(Tensor::scalar(3.0))?;
    for pass in 1..=REPEATED {
        let y = x.square()?;
        y.mul(&x)?.add(&y)?.backward()?;
        assert_eq!(number(&x), 33.0);
        // Of `y`, and of `x`; every pass.
        assert!(count.load(Ordering::Relaxed) >= 2 * pass);
        x.clear_grad()?;
    }
    let traced = cotangent::TracedTensor::scalar(3.0);
    let y = &traced * &traced * &traced;
    let before = count.load(Ordering::Relaxed);
    assert_eq!(ad.grad(&y, &traced)?.to_tensor()?.item::<f64>()?, 27.0);
    assert!(count.load(Ordering::Relaxed) > before);
    Ok(())
}
