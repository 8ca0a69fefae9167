//! Promises about memory orders: every method and every operation, on column-major and row-major
//! copies of the same tensors, returns the same elements by index, in the order of its operands.
//! One rule ([`Order::of_results`]) decides the order of plain, eager and traced results, and a
//! gradient has the order of its variable.

use super::kinds::{Operands, TensorKind, all_plain, operands};
use super::rows::ROWS;
use super::spellings::of_composite;
use cotangent::ad::{EagerRuntime, TracedTensorAdExt};
use cotangent::closures;
use cotangent::einsum::{self, Strategy};
use cotangent::methods::{Elementwise, Reductions};
use cotangent::ops::{composites, entries};
use cotangent::{
    CpuBackend, DType, EagerTensor, Emit, GraphCompiler, GraphExecutor, Op, Tensor, TensorOps,
    TracedTensor, Val, fft, random, tensor::Order,
};
use std::sync::Arc;

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Constructors, whose results have no memory order: on their own they are row-major.
const OF_NOTHING: [&str; 3] = ["zeros_like", "ones_like", "full_like"];

/// The orders of operands.
#[derive(Clone, Copy)]
struct Pattern {
    name: &'static str,
    /// Whether the operand at a position is column-major.
    columns: fn(usize) -> bool,
    /// Whether a vector or a scalar has the order, too.
    vectors: bool,
}

/// All row-major, all column-major, and both mixtures, in which vectors have no order.
const PATTERNS: [Pattern; 4] = [
    Pattern {
        name: "rows",
        columns: |_| false,
        vectors: true,
    },
    Pattern {
        name: "columns",
        columns: |_| true,
        vectors: true,
    },
    Pattern {
        name: "columns and rows",
        columns: |k| k % 2 == 0,
        vectors: false,
    },
    Pattern {
        name: "rows and columns",
        columns: |k| k % 2 == 1,
        vectors: false,
    },
];

impl Pattern {
    /// The operand at a position, in its order.
    fn of(self, k: usize, t: Tensor) -> Tensor {
        match (self.columns)(k) && (self.vectors || t.rank() > 1) {
            true => t.to_order(Order::ColumnMajor).unwrap(),
            false => t,
        }
    }

    /// The operands of methods in these orders.
    fn operands<T>(self, f: impl Fn(Tensor) -> T) -> Operands<T> {
        let mut k = 0;
        operands(|t| {
            k += 1;
            f(self.of(k - 1, t))
        })
    }
}

/// Results through one interface: plain, with a backend, eager, traced, compiled closures.
struct Interface {
    name: &'static str,
    results: Vec<Tensor>,
}

/// Asserts that the results through all interfaces have the bits of `want`, or of the first
/// interface, and one order, which is `order` if it is known. Returns them.
#[track_caller]
fn agreed(
    what: &str,
    interfaces: Vec<Interface>,
    want: Option<&[Tensor]>,
    order: Option<Order>,
) -> Vec<Tensor> {
    let first = interfaces[0].results.clone();
    let want = want.unwrap_or(&first);
    for Interface { name, results } in interfaces {
        assert_eq!(results.len(), want.len(), "{what}, {name}");
        for (k, ((got, want), first)) in results.iter().zip(want).zip(&first).enumerate() {
            let what = format!("result {k} of {what}, {name}");
            assert!(got.same_bits(want), "{what}: {got} is not {want}");
            assert_eq!(
                got.order(),
                order.unwrap_or(first.order()),
                "{what}: {got:?}"
            );
            assert_eq!(got.contiguous().unwrap().order(), got.order(), "{what}");
        }
    }
    first
}

fn run_traced(y: &[TracedTensor]) -> Result<Vec<Tensor>, String> {
    let program = GraphCompiler::new().compile_many(&y.iter().collect::<Vec<_>>());
    let program = program.map_err(|e| e.to_string())?;
    GraphExecutor::default()
        .run_many(&program)
        .map_err(|e| e.to_string())
}

#[test]
fn methods_keep_the_order_of_their_operands_through_every_interface() {
    let (rt, mut ctx) = (EagerRuntime::new(), CpuBackend::new());
    for row in ROWS {
        let fails = |e| panic!("{}: {e}", row.name);
        let mut want: Option<Vec<Tensor>> = None;
        for pattern in PATTERNS {
            let plain = pattern.operands(|t| t);
            let eager = pattern.operands(|t| rt.constant_from(t).unwrap());
            let traced = pattern.operands(TracedTensor::from_tensor);
            let mut interfaces = vec![
                ("plain", (row.plain)(&plain)),
                ("traced", (row.traced)(&traced).and_then(|y| run_traced(&y))),
                ("evaluated", all_plain((row.traced)(&traced))),
            ];
            // The second occurrence is compiled.
            for _ in 0..3 {
                interfaces.push(("with a backend", (row.with_backend)(&plain, &mut ctx)));
                interfaces.push(("eager", all_plain((row.eager)(&eager))));
            }
            let interfaces = interfaces.into_iter().map(|(name, y)| Interface {
                name,
                results: y.unwrap_or_else(fails),
            });
            let order = match pattern.vectors {
                true if OF_NOTHING.contains(&row.name) => Some(Order::RowMajor),
                true => Some(ORDERS[usize::from((pattern.columns)(0))]),
                false => None,
            };
            let what = format!("{} of {}", row.name, pattern.name);
            let got = agreed(&what, interfaces.collect(), want.as_deref(), order);
            want.get_or_insert(got);
        }
    }
}

/// Functions that are written once for every kind of tensors.
type Generic<T> = fn(&Operands<T>, &T) -> Result<T, <T as TensorOps>::Error>;

/// Functions of operands and a key.
fn generic<T: TensorOps>() -> Vec<(&'static str, Generic<T>)> {
    vec![
        ("fft", |o, _| fft::fft(&o.z, 1)),
        ("irfft", |o, _| fft::irfft(&o.z, 4, 1)),
        ("rfftn", |o, _| fft::rfftn(&o.a, ..)),
        ("dropout", |o, key| random::dropout(key, &o.a, 0.5)),
        ("permutation", |o, key| random::permutation(key, &o.a, 0)),
        ("categorical", |o, key| random::categorical(key, &o.a, 1)),
        ("bernoulli", |o, key| random::bernoulli(key, &[2, 3], &o.p)),
        ("einsum", |o, _| {
            T::emit_one(&[&o.a, &o.b], |cx, x| {
                einsum::write(cx, "ij,kj->ik", x, Strategy::default())
            })
        }),
    ]
}

#[test]
fn generic_functions_keep_the_order_of_their_operands_through_every_interface() {
    fn results<T: TensorOps + TensorKind>(
        pattern: Pattern,
        f: impl Fn(Tensor) -> T,
    ) -> Vec<Tensor> {
        let (o, key) = (pattern.operands(&f), f(random::key(7)));
        let y = generic::<T>().into_iter();
        y.map(|(_, call)| call(&o, &key).unwrap().to_plain().unwrap())
            .collect()
    }
    let rt = EagerRuntime::new();
    for pattern in &PATTERNS[..2] {
        let interfaces = vec![
            Interface {
                name: "plain",
                results: results(*pattern, |t| t),
            },
            Interface {
                name: "eager",
                results: results(*pattern, |t| rt.constant_from(t).unwrap()),
            },
            Interface {
                name: "traced",
                results: results(*pattern, TracedTensor::from_tensor),
            },
        ];
        let order = ORDERS[usize::from((pattern.columns)(0))];
        agreed("generic functions", interfaces, None, Some(order));
    }
}

/// The results of what `f` emits through every interface; `None` if plain tensors refuse it.
fn of_every_interface(
    x: &[Tensor],
    f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Option<Vec<Interface>> {
    fn all<T: TensorOps + TensorKind>(
        x: Vec<T>,
        f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Tensor>, String> {
        let y = T::emit(&x.iter().collect::<Vec<_>>(), f).map_err(|e| format!("{e:?}"));
        all_plain(y)
    }
    let plain = all(x.to_vec(), &f).ok()?;
    let (rt, mut ctx) = (EagerRuntime::new(), CpuBackend::new());
    let eager = |t: &Tensor| rt.constant_from(t.clone()).unwrap();
    let mut interfaces = vec![
        ("plain", Ok(plain)),
        (
            "traced",
            all(
                x.iter().cloned().map(TracedTensor::from_tensor).collect(),
                &f,
            ),
        ),
    ];
    for _ in 0..3 {
        interfaces.push(("eager", all(x.iter().map(eager).collect(), &f)));
        let y = ctx.emit(&x.iter().collect::<Vec<_>>(), &f);
        interfaces.push(("with a backend", y.map_err(|e| e.to_string())));
    }
    let all = interfaces.into_iter().map(|(name, y)| Interface {
        name,
        results: y.unwrap_or_else(|e| panic!("{name}: {e}")),
    });
    Some(all.collect())
}

/// Compares all interfaces on operands in every pattern of orders. Returns the number of
/// comparisons.
fn compare(
    what: &str,
    x: &[Tensor],
    has_order: bool,
    f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>,
) -> usize {
    let (mut want, mut count): (Option<Vec<Tensor>>, usize) = (None, 0);
    for pattern in PATTERNS {
        let x = x.iter().enumerate().map(|(k, t)| pattern.of(k, t.clone()));
        let x: Vec<Tensor> = x.collect();
        let Some(interfaces) = of_every_interface(&x, &f) else {
            continue;
        };
        let order = match has_order {
            true => Order::of_results(x.iter().map(|t| (t.order(), t.rank()))),
            false => Order::RowMajor,
        };
        let what = format!("{what} of {}", pattern.name);
        let got = agreed(&what, interfaces, want.as_deref(), Some(order));
        want.get_or_insert(got);
        count += 1;
    }
    count
}

/// On every sample of every operation.
#[test]
fn operations_keep_the_order_of_their_operands_through_every_interface() {
    let mut count = 0;
    for entry in entries() {
        for s in (entry.samples)(entry.name) {
            if s.operands.is_empty() {
                continue;
            }
            let x: Vec<Tensor> = s.operands.iter().map(Tensor::from).collect();
            let op: Op = s.op.clone();
            let what = format!("a sample of `{}`", entry.name);
            count += compare(&what, &x, true, |cx, x| cx.emit(op.clone(), x).to_vec());
        }
    }
    assert!(count > 2000, "{count} comparisons");
}

/// Composites whose results do not depend on the elements of their operands.
const CONSTANT: [&str; 3] = ["full_like", "ones_like", "zeros_like"];

/// On every composite, for all operand types and attributes that it accepts.
#[test]
fn composites_keep_the_order_of_their_operands_through_every_interface() {
    let mut count = 0;
    for c in composites() {
        let samples = of_composite(c).into_iter();
        for s in samples.filter(|s| !s.operands.is_empty()) {
            let x: Vec<Tensor> = s.operands.iter().map(Tensor::from).collect();
            let has_order = !CONSTANT.contains(&c.name);
            count += compare(c.name, &x, has_order, |cx, x| cx.inline(&s.function, x));
        }
    }
    assert!(count > 500, "{count} comparisons");
}

#[test]
fn gradients_of_eager_tensors_have_the_order_of_their_variables() {
    for row in ROWS {
        let mut first: Option<Vec<Option<Tensor>>> = None;
        for pattern in &PATTERNS[..2] {
            let rt = EagerRuntime::new();
            let variable = |t: Tensor| match t.dtype().has_tangent() {
                true => rt.variable_from(t).unwrap(),
                false => rt.constant_from(t).unwrap(),
            };
            let o = pattern.operands(variable);
            let variables = [&o.a, &o.b, &o.p, &o.s, &o.r, &o.v, &o.z];
            // The second occurrence is compiled.
            for _ in 0..3 {
                rt.clear_grads().unwrap();
                let y = (row.eager)(&o).unwrap_or_else(|e| panic!("{}: {e}", row.name));
                let differentiable = |y: &EagerTensor| y.tracks_grad() && !y.dtype().is_complex();
                if !y.first().is_some_and(differentiable)
                    || y[0].sum(..).unwrap().backward().is_err()
                {
                    continue;
                }
                let gradient = |x: &&EagerTensor| {
                    let g = x.grad().unwrap().map(|g| (*g).clone())?;
                    assert_eq!(g.order(), x.order(), "the gradient of {}", row.name);
                    Some(g)
                };
                let got: Vec<Option<Tensor>> = variables.iter().map(gradient).collect();
                let want = first.get_or_insert_with(|| got.clone());
                for (got, want) in got.iter().zip(&*want) {
                    let same = match (got, want) {
                        (Some(got), Some(want)) => got.same_bits(want),
                        (got, want) => got.is_none() && want.is_none(),
                    };
                    assert!(same, "the gradient of {} of {}", row.name, pattern.name);
                }
            }
        }
    }
}

#[test]
fn gradients_of_traced_tensors_have_the_order_of_their_variables() {
    let executor = GraphExecutor::default();
    let compiler = GraphCompiler::new();
    let run = |y: &[&TracedTensor]| {
        executor
            .run_many(&compiler.compile_many(y).unwrap())
            .unwrap()
    };
    for row in ROWS {
        let mut first: Option<Vec<Option<Tensor>>> = None;
        for pattern in &PATTERNS[..2] {
            let o = pattern.operands(TracedTensor::from_tensor);
            let y = (row.traced)(&o).unwrap_or_else(|e| panic!("{}: {e}", row.name));
            if !y[0].dtype().unwrap().is_float() {
                continue;
            }
            let loss = y[0].sum(..);
            let order = ORDERS[usize::from((pattern.columns)(0))];
            let gradient = |x: &TracedTensor| {
                let g = loss.grad(x).ok()?;
                let alone = run(&[&g]).remove(0);
                let others = run(&[&y[0], &g, &o.a]).remove(1);
                assert_eq!(
                    (alone.order(), others.order()),
                    (order, order),
                    "the gradient of {}",
                    row.name
                );
                assert!(alone.same_bits(&others), "{}", row.name);
                Some(alone)
            };
            let got: Vec<Option<Tensor>> = [&o.a, &o.p, &o.s].map(gradient).into();
            let want = first.get_or_insert_with(|| got.clone());
            for (got, want) in got.iter().zip(&*want) {
                let same = match (got, want) {
                    (Some(got), Some(want)) => got.same_bits(want),
                    (got, want) => got.is_none() && want.is_none(),
                };
                assert!(same, "the gradient of {} of {}", row.name, pattern.name);
            }
        }
    }
}

/// Views of plain tensors.
#[test]
fn views_of_plain_tensors_keep_their_order() {
    type View = fn(&Tensor) -> cotangent::Result<Tensor>;
    let views: [(&str, View); 8] = [
        ("reshape", |a| a.reshape([3, 2])),
        ("permute_dims", |a| a.permute_dims([1, 0])),
        ("slice", |a| a.slice(1, 1..3)),
        ("slice_step", |a| a.slice_step(1, 0..3, 2)),
        ("index", |a| a.index(0, 1)),
        ("flip", |a| a.flip(0)),
        ("broadcast_to", |a| a.broadcast_to([2, 2, 3])),
        ("contiguous", |a| a.t()?.contiguous()),
    ];
    for (name, view) in views {
        let of = |pattern: Pattern| view(&pattern.operands(|t| t).a).unwrap();
        let (rows, columns) = (of(PATTERNS[0]), of(PATTERNS[1]));
        assert_eq!(
            (rows.order(), columns.order()),
            (ORDERS[0], ORDERS[1]),
            "{name}"
        );
        assert!(rows.same_bits(&columns), "{name}");
    }
}

/// The results of a tensor in an order with a constructed one, and with a number.
fn met<T: TensorOps + TensorKind>(a: &T, t: &T) -> Vec<Tensor> {
    let exp = |t: &T| Elementwise::mul(&Elementwise::exp(t)?, a);
    [
        Elementwise::add(a, t),
        exp(t),
        Elementwise::maximum(a, t),
        Elementwise::sub(t, a),
        Elementwise::maximum(a, 2.5),
    ]
    .map(|y| y.unwrap().to_plain().unwrap())
    .into()
}

/// Asserts that results of a tensor in these orders with a constructed one have the order of the
/// first.
fn assert_takes_the_order(
    pattern: Pattern,
    rt: &Arc<EagerRuntime>,
    (plain, eager, traced): (&Tensor, &EagerTensor, &TracedTensor),
) {
    let order = ORDERS[usize::from((pattern.columns)(0))];
    let a = pattern.operands(|t| t).s;
    let (x, u) = (
        rt.constant_from(a.clone()).unwrap(),
        TracedTensor::from_tensor(a.clone()),
    );
    let jitted = closures::jit(|(u, v): (TracedTensor, TracedTensor)| {
        [
            u.add(&v),
            v.exp().mul(&u),
            u.maximum(&v),
            v.sub(&u),
            u.maximum(2.5),
        ]
        .to_vec()
    });
    let jitted = jitted((u.clone(), traced.clone())).unwrap();
    let direct = [
        x.add(eager),
        eager.exp().and_then(|y| y.mul(&x)),
        x.maximum(eager),
        eager.sub(&x),
        x.maximum(2.5),
    ];
    let interfaces = [
        ("plain", met(&a, plain)),
        ("eager", met(&x, eager)),
        (
            "eager methods",
            direct.map(|y| y.unwrap().to_plain().unwrap()).into(),
        ),
        ("traced", met(&u, traced)),
        ("compiled closures", all_plain(Ok(jitted)).unwrap()),
    ];
    let interfaces = interfaces.map(|(name, results)| Interface { name, results });
    agreed(
        &format!("{plain} and {a}"),
        interfaces.into(),
        None,
        Some(order),
    );
}

/// A constructed tensor does not affect the order of results, through every interface. On its own
/// it is listed row-major.
#[test]
fn constructed_tensors_have_no_order() {
    let rt = EagerRuntime::new();
    macro_rules! constructed {
        ($($name:ident($($arg:expr),*);)*) => {
            vec![$((
                Tensor::$name($($arg),*).unwrap(),
                rt.$name($($arg),*).unwrap(),
                TracedTensor::$name($($arg),*),
            )),*]
        };
    }
    let mut all = constructed! {
        zeros(DType::F64, [2, 2]);
        ones(DType::F64, [2, 2]);
        full(DType::F64, [2, 2], 2.0);
        eye(DType::F64, 2);
        iota(DType::F64, [2, 2], 1);
        arange(DType::F64, 0.0, 2.0, 1.0);
        linspace(DType::F64, 0.0, 1.0, 2);
    };
    let vector = || Tensor::vector(vec![1.0, 2.0]);
    let number = Tensor::linspace(DType::F64, 0.0, 1.0, 4).unwrap();
    for t in [
        Tensor::scalar(3.0),
        vector(),
        vector().broadcast_to([2, 2]).unwrap(),
        number.reshape([2, 2]).unwrap(),
        Tensor::eye(DType::F64, 3)
            .unwrap()
            .slice(0, 0..2)
            .unwrap()
            .slice(1, 1..3)
            .unwrap(),
    ] {
        let eager = rt.constant_from(t.clone()).unwrap();
        all.push((t.clone(), eager, TracedTensor::from_tensor(t)));
    }
    for (plain, eager, traced) in all {
        assert_eq!(
            (plain.order(), eager.order()),
            (Order::RowMajor, Order::RowMajor)
        );
        assert_eq!(traced.to_tensor().unwrap().order(), Order::RowMajor);
        for pattern in &PATTERNS[..2] {
            assert_takes_the_order(*pattern, &rt, (&plain, &eager, &traced));
        }
    }
}

/// A result with a row-major operand is row-major, through every interface. A gradient has the
/// order of its variable.
#[test]
fn mixed_orders_give_row_major_results() {
    let of = |pattern: Pattern| pattern.operands(|t| t);
    let (rows, columns) = (of(PATTERNS[0]).a, of(PATTERNS[1]).b);
    // A sum of a row-major matrix is a scalar of that order, through every interface.
    let sum = Reductions::sum(&rows, ..).unwrap();
    let product = Elementwise::mul(&sum, &columns).unwrap();
    assert_eq!(product.order(), Order::RowMajor);
    let rt = EagerRuntime::new();
    let (x, y) = (
        rt.variable_from(rows.clone()).unwrap(),
        rt.variable_from(columns.clone()).unwrap(),
    );
    let loss = x.sum(..).unwrap().mul(&y).unwrap();
    assert_eq!(loss.to_tensor().unwrap().order(), Order::RowMajor);
    loss.sum(..).unwrap().backward().unwrap();
    let (u, v) = (
        TracedTensor::from_tensor(rows),
        TracedTensor::from_tensor(columns),
    );
    let traced = u.sum(..).mul(&v);
    assert_eq!(traced.to_tensor().unwrap().order(), Order::RowMajor);
    for (x, u, order) in [(&x, &u, Order::RowMajor), (&y, &v, Order::ColumnMajor)] {
        let (g, h) = (
            x.grad().unwrap().unwrap(),
            traced.sum(..).grad(u).unwrap().to_tensor().unwrap(),
        );
        assert_eq!((g.order(), h.order()), (order, order));
        assert!(g.same_bits(&h));
        let h = closures::grad(|u: TracedTensor| u.sum(..))(u.clone())
            .unwrap()
            .to_tensor()
            .unwrap();
        assert_eq!(h.order(), order);
    }
    // The order of a result does not depend on other results of the program.
    let program = GraphCompiler::new()
        .compile_many(&[&u.exp(), &v.exp(), &u.add(&v)])
        .unwrap();
    let all = GraphExecutor::default().run_many(&program).unwrap();
    let orders: Vec<Order> = all.iter().map(Tensor::order).collect();
    assert_eq!(
        orders,
        [Order::RowMajor, Order::ColumnMajor, Order::RowMajor]
    );
}
