//! Every public call that takes a closure, with every public call of the same object inside that
//! closure. The inner call works, or is an error that names the outer call. It never deadlocks.

use cotangent::ad::{AdContext, BackwardOptions, EagerRuntime, EagerTensor, ExtensionCaches};
use cotangent::cpu::Results;
use cotangent::einsum::EagerEinsumExt;
use cotangent::primitive::{Cost, Linearized};
use cotangent::runtime::ExtensionCacheKey;
use cotangent::transform::{Lin, Lv, Rule, RuleSet};
use cotangent::{
    Arg, Array, Batched, CpuBackend, Dim, Emit, Env, GraphCompiler, GraphExecutor, Op, Primitive,
    Result, Tensor, TracedTensor, Type, Val, closures,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

/// Runs `f` on a separate thread. Panics if it does not end in time.
fn in_time(what: &str, f: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        f();
        let _ = done.send(());
    });
    match is_done.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} does not end"),
        _ => thread
            .join()
            .unwrap_or_else(|e| std::panic::resume_unwind(e)),
    }
}

type Answer = std::result::Result<(), String>;

fn text<T, E: std::fmt::Display>(r: std::result::Result<T, E>) -> Answer {
    r.map(drop).map_err(|e| e.to_string())
}

/// The objects of the calls: a runtime, a variable of it, and a loss with a tape.
#[derive(Clone)]
struct Objects {
    rt: Arc<EagerRuntime>,
    x: EagerTensor,
    loss: EagerTensor,
}

/// A reverse pass, if the tensor is tracked: inside `no_grad` it is not.
fn back(y: EagerTensor) -> cotangent::ad::Result<()> {
    if y.tracks_grad() {
        y.backward().map(drop)
    } else {
        Ok(())
    }
}

type Call = (&'static str, fn(&Objects) -> Answer);

/// Every public call of a runtime and its tensors that uses the state of the runtime.
const CALLS: &[Call] = &[
    ("an operation", |o| text(o.x.exp())),
    ("the same operation again and again", |o| {
        (0..4).try_for_each(|_| text(o.x.sin().and_then(back)))
    }),
    ("write", |o| {
        text(o.rt.write(&[&o.x], |cx, x| vec![cx.gelu(x[0])]))
    }),
    ("apply", |o| {
        text(EagerTensor::apply(cotangent::ops::Unary::Exp, &[&o.x]))
    }),
    ("constant_from", |o| {
        text(o.rt.constant_from(Tensor::scalar(1.0)))
    }),
    ("variable_from", |o| {
        text(o.rt.variable_from(Tensor::scalar(1.0)))
    }),
    ("backward", |o| {
        text(o.loss.backward_with(BackwardOptions::keep_graph()))
    }),
    ("backward that creates a graph", |o| {
        text(o.loss.backward_with(BackwardOptions::create_graph()))
    }),
    ("grad_of", |o| {
        text(o.loss.grad_of(&[&o.x], BackwardOptions::keep_graph()))
    }),
    ("jvp", |o| {
        text(o.x.zeros_like().and_then(|t| o.loss.jvp(&o.x, &t)))
    }),
    ("vjp", |o| {
        text(
            o.rt.constant_from(Tensor::scalar(1.0))
                .and_then(|c| o.loss.vjp(&o.x, &c)),
        )
    }),
    ("grad", |o| text(o.x.grad())),
    ("clear_grad", |o| text(o.x.clear_grad())),
    ("clear_grads", |o| text(o.rt.clear_grads())),
    ("register_hook", |o| {
        text(o.x.register_hook(|_| None).map(|h| h.remove()))
    }),
    ("update", |o| {
        o.rt.no_grad(|| text(o.x.clone().update(|x: &mut [f64]| x[0] += 1.0)))
    }),
    ("einsum", |o| {
        let v =
            o.rt.constant_from(Tensor::vector(vec![1.0, 2.0]))
                .map_err(|e| e.to_string())?;
        text([&v, &v, &v].einsum("i,i,i->"))
    }),
    ("cache_stats", |o| text(o.rt.cache_stats())),
    ("clear_caches", |o| text(o.rt.clear_caches())),
    ("clear_extension_caches", |o| {
        text(o.rt.clear_extension_caches())
    }),
    ("extension_cache_limits", |o| {
        text(o.rt.extension_cache_limits())
    }),
    ("set_extension_cache_limits", |o| {
        text(o.rt.set_extension_cache_limits(Default::default()))
    }),
    ("with_extension_caches_mut", |o| {
        text(o.rt.with_extension_caches_mut(|c| c.stats()))
    }),
    ("with_backend_mut", |o| {
        text(o.rt.with_backend_mut(|b| b.threads()))
    }),
    ("register_extension", |o| {
        text(o.rt.register_extension(|_| Ok(())))
    }),
    ("synchronize", |o| text(o.rt.synchronize())),
    ("profile", |o| {
        o.rt.set_profiling(true);
        text(o.x.exp())?;
        o.rt.profile();
        o.rt.set_profiling(false);
        Ok(())
    }),
    ("anomaly detection", |o| {
        o.rt.set_anomaly_detection(true);
        let done = text(o.x.exp().and_then(back));
        o.rt.set_anomaly_detection(false);
        done
    }),
    ("detach and Debug", |o| {
        let _ = format!("{:?} {:?}", o.rt, o.x.detach());
        text(o.x.to_tensor())
    }),
    ("dropping a runtime", |_| {
        text(EagerRuntime::new().variable_from(Tensor::scalar(1.0)))
    }),
];

/// Calls inside a closure, and their answers by name.
#[derive(Clone, Default)]
struct Inside(
    Arc<OnceLock<Objects>>,
    Arc<Mutex<Vec<(&'static str, Answer)>>>,
    Arc<Mutex<Option<Call>>>,
);

impl Inside {
    /// Makes the call, the first time that the closure runs.
    fn run(&self) {
        let call = self.2.lock().unwrap().take();
        if let (Some((name, call)), Some(objects)) = (call, self.0.get()) {
            let answer = call(objects);
            self.1.lock().unwrap().push((name, answer));
        }
    }
}

/// An extension operation whose evaluation and rules call back.
struct Calls(Inside);

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Calls")
    }
}

impl Primitive for Calls {
    fn name(&self) -> &str {
        "calls.v1"
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(x.to_vec())
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        self.0.run();
        Ok(x.to_vec())
    }
    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        self.0.run();
        Ok(cx.itself(&Op::extension(Calls(self.0.clone())), x, t))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        self.0.run();
        Ok(ct.to_vec())
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        Ok(x.to_vec())
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// A rule that calls back.
struct Asks(Inside);

impl Rule for Asks {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        self.0.run();
        Some(op.linearize(cx, x, t))
    }
    fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<Result<Vec<Option<Val>>>> {
        self.0.run();
        Some(op.transpose(cx, x, ct))
    }
}

/// A value whose drop calls back.
struct AtTheEnd(Inside);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.0.run();
    }
}

type Holder = (&'static str, fn(&Objects, &Inside) -> Answer);

/// Every public call that runs user code: closures, hooks, rules, kernels, and drops of values.
const HOLDERS: &[Holder] = &[
    ("with_backend_mut", |o, i| {
        text(o.rt.with_backend_mut(|_| i.run()))
    }),
    ("register_extension", |o, i| {
        text(o.rt.register_extension(|_| {
            i.run();
            Ok(())
        }))
    }),
    ("with_extension_caches_mut", |o, i| {
        text(o.rt.with_extension_caches_mut(|_: &mut ExtensionCaches| i.run()))
    }),
    ("no_grad", |o, i| {
        o.rt.no_grad(|| i.run());
        Ok(())
    }),
    ("write", |o, i| {
        text(o.rt.write(&[&o.x], |cx, x| {
            i.run();
            vec![cx.exp(x[0])]
        }))
    }),
    ("update", |o, i| {
        text(o.rt.no_grad(|| o.x.clone().update(|_: &mut [f64]| i.run())))
    }),
    ("a hook", |o, i| {
        let i = i.clone();
        let hook = o.x.register_hook(move |_| {
            i.run();
            None
        });
        let done = text(o.loss.backward_with(BackwardOptions::keep_graph()));
        text(hook.map(|h| h.remove()))?;
        done
    }),
    ("eval and rules of an extension", |o, i| {
        let y = EagerTensor::apply(Op::extension(Calls(i.clone())), &[&o.x])
            .map_err(|e| e.to_string())?;
        text(y[0].backward_with(BackwardOptions::keep_graph()))?;
        text(y[0].backward())
    }),
    ("a kernel", |o, i| {
        let inside = i.clone();
        let kernel = move |b: &mut CpuBackend| {
            let inside = inside.clone();
            b.replace_kernel("calls.v1", move |_, _| {
                let inside = inside.clone();
                inside.run();
                Ok(Box::new(move |_, x| {
                    inside.run();
                    Ok(x.into_iter().collect::<Results>())
                }))
            });
            Ok(())
        };
        text(o.rt.register_extension(kernel))?;
        text(EagerTensor::apply(
            Op::extension(Calls(Inside::default())),
            &[&o.x],
        ))
    }),
    ("a rule", |o, _| {
        (0..4).try_for_each(|_| {
            text(
                o.x.cos()
                    .and_then(|y| y.square())
                    .and_then(|y| y.backward()),
            )
        })
    }),
    ("the end of a cached value", |o, i| {
        let key = ExtensionCacheKey::new("end.v1", "values", 1);
        text(o.rt.with_extension_caches_mut(|c| c.put(key, AtTheEnd(i.clone()), 1)))?;
        text(o.rt.clear_caches())
    }),
];

/// A runtime whose rule for cosines calls back.
fn objects(inside: &Inside) -> Objects {
    let rules = RuleSet::default().with("cos", Asks(inside.clone()));
    let ad = AdContext::builder()
        .with_extension_rules(rules)
        .build()
        .unwrap();
    let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &ad);
    let x = rt.variable_from(Tensor::scalar(0.5)).unwrap();
    let loss = x.exp().unwrap().sin().unwrap();
    Objects { rt, x, loss }
}

#[test]
fn every_call_inside_every_closure_of_a_runtime() {
    let mut refused = 0;
    for &(holder, hold) in HOLDERS {
        for &call in CALLS {
            let inside = Inside::default();
            let o = objects(&inside);
            let _ = inside.0.set(o.clone());
            let (seen, name) = (inside.1.clone(), call.0);
            in_time(&format!("`{name}` inside `{holder}`"), move || {
                *inside.2.lock().unwrap() = Some(call);
                hold(&o, &inside).unwrap_or_else(|e| panic!("`{holder}` around `{name}`: {e}"));
                // The runtime works as before.
                o.rt.clear_grads().unwrap();
                assert!(o.x.exp().unwrap().item::<f64>().unwrap() > 1.0);
            });
            let seen = seen.lock().unwrap();
            assert_eq!(seen.len(), 1, "`{holder}` did not run `{name}`");
            if let Err(e) = &seen[0].1 {
                assert!(
                    e.contains(&format!("{holder} is running on this thread")),
                    "`{name}` in `{holder}`: {e}"
                );
                refused += 1;
            }
        }
    }
    // Only nested uses of the closure's own object are errors: changes of the backend, and uses of
    // the caches of extensions.
    assert!((5..=20).contains(&refused), "{refused} calls are refused");
}

/// Calls of an executor inside a kernel, which runs while a program is compiled and while it runs.
#[test]
fn every_call_inside_a_kernel_of_an_executor() {
    type Call = fn(&GraphExecutor);
    let calls: [(&str, Call); 5] = [
        ("run", |e| {
            let p = GraphCompiler::new()
                .compile(&TracedTensor::scalar(1.0).exp())
                .unwrap();
            e.run(&p).unwrap();
        }),
        ("cache_stats", |e| assert!(e.cache_stats().limit > 0)),
        ("clear_caches", |e| e.clear_caches()),
        ("set_cache_limit", |e| e.set_cache_limit(1)),
        ("backend", |e| assert!(e.backend().check().is_ok())),
    ];
    for (name, call) in calls {
        in_time(name, move || {
            let cell: Arc<OnceLock<Arc<GraphExecutor>>> = Arc::default();
            let (inner, asked) = (cell.clone(), Arc::new(Mutex::new(0)));
            let count = asked.clone();
            let ask = move || {
                if let Some(e) = inner.get() {
                    *count.lock().unwrap() += 1;
                    call(e);
                }
            };
            let mut executor = GraphExecutor::default();
            executor
                .register_extension(move |b| {
                    let ask = ask.clone();
                    b.register_kernel("calls.v1", move |_, _| {
                        let ask = ask.clone();
                        ask();
                        Ok(Box::new(move |_, x| {
                            ask();
                            Ok(x.into_iter().collect::<Results>())
                        }))
                    });
                    Ok(())
                })
                .unwrap();
            let executor = Arc::new(executor);
            let _ = cell.set(executor.clone());
            let x = TracedTensor::scalar(1.0);
            let y = TracedTensor::apply(Op::extension(Calls(Inside::default())), &[&x])
                .unwrap()
                .remove(0);
            let p = GraphCompiler::new().compile(&y).unwrap();
            assert_eq!(executor.run(&p).unwrap().item::<f64>().unwrap(), 1.0);
            assert!(*asked.lock().unwrap() >= 2, "{name}");
        });
    }
}

/// Calls inside a compiled closure: of itself at other types, and of its cache.
#[test]
fn every_call_inside_a_compiled_closure() {
    in_time("jit", || {
        type F = Rc<RefCell<Option<Box<dyn Fn(TracedTensor) -> Result<TracedTensor>>>>>;
        type Cache = Rc<RefCell<Option<closures::JitCache<TracedTensor>>>>;
        let (this, cache): (F, Cache) = (Rc::default(), Rc::default());
        let (inner, kept) = (this.clone(), cache.clone());
        let (f, all) = closures::jit_with_cache(move |x: TracedTensor| -> Result<TracedTensor> {
            if let Some(cache) = &*kept.borrow() {
                cache.set_limit(3);
                cache.clear();
                assert_eq!(cache.stats().entries, 0);
            }
            match (x.shape()?.as_const(), &*inner.borrow()) {
                (Some(shape), Some(f)) if shape[0] > 1 => {
                    Ok(f(x.slice(0, 0..shape[0] - 1))?.sum(..) + x.sum(..))
                }
                _ => Ok(x.sum(..)),
            }
        });
        *cache.borrow_mut() = Some(all);
        *this.borrow_mut() = Some(Box::new(f));
        let x = TracedTensor::from_vec_row_major([3], vec![1.0, 10.0, 100.0]);
        let y = this.borrow().as_ref().unwrap()(x).unwrap();
        assert_eq!(
            y.to_tensor().unwrap().item::<f64>().unwrap(),
            1.0 + 11.0 + 111.0
        );
    });
}

/// Calls that clear something, after every kind of pass, with the variable dropped before. No call
/// deadlocks.
#[test]
fn clearing_after_every_kind_of_pass() {
    type Pass = fn(&EagerTensor, &EagerTensor);
    let passes: [(&str, Pass); 6] = [
        ("backward", |_, y| drop(y.backward().unwrap())),
        ("keep_graph", |_, y| {
            drop(y.backward_with(BackwardOptions::keep_graph()).unwrap())
        }),
        ("create_graph", |_, y| {
            drop(y.backward_with(BackwardOptions::create_graph()).unwrap())
        }),
        ("create_graph twice", |_, y| {
            (0..2).for_each(|_| drop(y.backward_with(BackwardOptions::create_graph()).unwrap()));
        }),
        ("of the gradient", |x, y| {
            y.backward_with(BackwardOptions::create_graph()).unwrap();
            let g = x.grad_tensor().unwrap().unwrap();
            g.backward_with(BackwardOptions::create_graph()).unwrap();
        }),
        ("with a hook that holds the variable", |x, y| {
            let held = x.clone();
            let h = x
                .register_hook(move |g| held.exp().ok().and(Some(g.clone())))
                .unwrap();
            y.backward_with(BackwardOptions::create_graph()).unwrap();
            h.remove();
        }),
    ];
    type Forget = fn(&Arc<EagerRuntime>, Option<&EagerTensor>);
    let forgets: [(&str, Forget); 6] = [
        ("clear_grads", |rt, _| rt.clear_grads().unwrap()),
        ("clear_grad", |_, x| {
            x.into_iter().for_each(|x| x.clear_grad().unwrap())
        }),
        ("clear_caches", |rt, _| rt.clear_caches().unwrap()),
        ("update", |rt, x| {
            rt.no_grad(|| {
                x.into_iter()
                    .for_each(|x| x.clone().update(|x: &mut [f64]| x[0] = 1.0).unwrap())
            })
        }),
        ("another variable", |rt, _| {
            drop(rt.variable_from(Tensor::scalar(1.0)).unwrap())
        }),
        ("nothing", |_, _| {}),
    ];
    for (pass_name, pass) in passes {
        for (forget_name, forget) in forgets {
            for dropped in 0..4 {
                in_time(
                    &format!("{forget_name} after {pass_name}, {dropped}"),
                    move || {
                        let rt = EagerRuntime::new();
                        let x = rt.variable_from(Tensor::scalar(2.0)).unwrap();
                        let y = x.powi(3).unwrap();
                        pass(&x, &y);
                        let (mut x, mut y) = (Some(x), Some(y));
                        if dropped & 1 > 0 {
                            x = None;
                        }
                        if dropped & 2 > 0 {
                            y = None;
                        }
                        forget(&rt, x.as_ref());
                        drop((rt, x, y));
                    },
                );
            }
        }
    }
}
