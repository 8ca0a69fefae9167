//! Promises about memory orders: every method, on column-major and row-major copies of the same
//! tensors, returns the same elements by index, in the order of its operands. This holds for eager,
//! traced and plain tensors, and for gradients.

use cotangent::ad::{EagerRuntime, TracedTensorAdExt};
use cotangent::closures;
use cotangent::linalg::{LinalgBackend, MatrixNorm, TracedTensorLinalgExt, TriangularSolve};
use cotangent::ops::{Bounds, LossReduction};
use cotangent::tensor::Order;
use cotangent::{
    CpuBackend, DType, EagerTensor, GraphCompiler, GraphExecutor, Tensor, TracedTensor,
};
use std::collections::BTreeSet;
use std::fmt::Display;

/// Operands, each in one order.
struct Ops<T> {
    /// Two matrices of one shape, of numbers between 0 and 1.
    a: T,
    b: T,
    /// Square, symmetric and positive definite; another one.
    m: T,
    n: T,
    /// A matrix of complex numbers, of integers, of booleans.
    z: T,
    i: T,
    p: T,
    /// Labels and indices, which are vectors without a memory order.
    k: T,
}

fn plain(order: Order) -> Ops<Tensor> {
    let of = |t: cotangent::Result<Tensor>| t.unwrap().to_order(order).unwrap();
    let floats = |shape: [usize; 2], f: &dyn Fn(usize) -> f64| {
        of(Tensor::from_vec_row_major(
            shape,
            (0..shape[0] * shape[1]).map(f).collect::<Vec<f64>>(),
        ))
    };
    let spread = |i: usize| (i as f64 * 0.37 + 0.11).fract() * 0.9 + 0.05;
    Ops {
        a: floats([2, 3], &spread),
        b: floats([2, 3], &|i| spread(i + 7)),
        m: floats([3, 3], &|i| {
            [4.0, 1.0, 0.5, 1.0, 5.0, 0.25, 0.5, 0.25, 6.0][i]
        }),
        n: floats([3, 3], &|i| {
            spread(i + 3) + if i % 4 == 0 { 2.0 } else { 0.0 }
        }),
        z: of(Tensor::from_vec_row_major(
            [2, 3],
            (0..6)
                .map(|i| cotangent::C128::new(spread(i), spread(i + 9)))
                .collect::<Vec<_>>(),
        )),
        i: of(Tensor::from_vec_row_major([2, 3], (1..7i64).collect())),
        p: of(Tensor::from_vec_row_major(
            [2, 3],
            vec![true, false, true, true, false, false],
        )),
        k: Tensor::vector(vec![1i64, 0]),
    }
}

fn each<T>(o: Ops<Tensor>, f: impl Fn(Tensor) -> T) -> Ops<T> {
    Ops {
        a: f(o.a),
        b: f(o.b),
        m: f(o.m),
        n: f(o.n),
        z: f(o.z),
        i: f(o.i),
        p: f(o.p),
        k: f(o.k),
    }
}

/// The results of a method, as a list.
trait Outs {
    type One;
    fn outs(self) -> Result<Vec<Self::One>, String>;
}

macro_rules! outs {
    ($($T:ty),*) => {$(
        impl Outs for $T {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self])
            }
        }
        impl Outs for ($T, $T) {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self.0, self.1])
            }
        }
        impl Outs for ($T, $T, $T) {
            type One = $T;
            fn outs(self) -> Result<Vec<$T>, String> {
                Ok(vec![self.0, self.1, self.2])
            }
        }
    )*};
}

outs!(Tensor, EagerTensor, TracedTensor);

impl<T: Outs, E: Display> Outs for Result<T, E> {
    type One = T::One;
    fn outs(self) -> Result<Vec<T::One>, String> {
        self.map_err(|e| e.to_string())?.outs()
    }
}

type MethodRow<T> = (&'static str, fn(&Ops<T>) -> Result<Vec<T>, String>);

/// The methods that eager and traced tensors share, a row for each. A new method needs a row.
macro_rules! rows {
    ($($name:ident |$o:ident| $call:expr;)*) => {
        fn eager_rows() -> Vec<MethodRow<EagerTensor>> {
            type T = EagerTensor;
            let rows: &[MethodRow<T>] = &[$((stringify!($name), |$o: &Ops<T>| Outs::outs($call))),*];
            rows.to_vec()
        }
        fn traced_rows() -> Vec<MethodRow<TracedTensor>> {
            type T = TracedTensor;
            let rows: &[MethodRow<T>] = &[$((stringify!($name), |$o: &Ops<T>| Outs::outs($call))),*];
            rows.to_vec()
        }
    };
}

rows! {
    neg |o| o.a.neg(); abs |o| o.a.abs(); sign |o| o.a.sign(); floor |o| o.a.floor(); ceil |o| o.a.ceil();
    trunc |o| o.a.trunc(); sqrt |o| o.a.sqrt(); rsqrt |o| o.a.rsqrt(); cbrt |o| o.a.cbrt(); exp |o| o.a.exp();
    exp2 |o| o.a.exp2(); expm1 |o| o.a.expm1(); log |o| o.a.log(); log2 |o| o.a.log2(); log1p |o| o.a.log1p();
    sin |o| o.a.sin(); cos |o| o.a.cos(); tan |o| o.a.tan(); asin |o| o.a.asin(); acos |o| o.a.acos();
    atan |o| o.a.atan(); sinh |o| o.a.sinh(); cosh |o| o.a.cosh(); tanh |o| o.a.tanh(); asinh |o| o.a.asinh();
    acosh |o| o.m.acosh(); atanh |o| o.a.atanh(); logistic |o| o.a.logistic(); erf |o| o.a.erf(); erfc |o| o.a.erfc();
    erf_inv |o| o.a.erf_inv(); lgamma |o| o.a.lgamma(); digamma |o| o.a.digamma(); is_finite |o| o.a.is_finite();
    is_nan |o| o.a.is_nan(); not |o| o.p.not(); stop_gradient |o| o.a.stop_gradient();
    add |o| o.a.add(&o.b); sub |o| o.a.sub(&o.b); mul |o| o.a.mul(&o.b); div |o| o.a.div(&o.b); rem |o| o.a.rem(&o.b);
    pow |o| o.a.pow(&o.b); atan2 |o| o.a.atan2(&o.b); maximum |o| o.a.maximum(&o.b); minimum |o| o.a.minimum(&o.b);
    xlogy |o| o.a.xlogy(&o.b); less |o| o.a.less(&o.b); less_equal |o| o.a.less_equal(&o.b); greater |o| o.a.greater(&o.b); greater_equal |o| o.a.greater_equal(&o.b);
    reduce_sum |o| o.a.reduce_sum(&[0]); reduce_prod |o| o.a.reduce_prod(&[1]); reduce_max |o| o.a.reduce_max(&[0]);
    reduce_min |o| o.a.reduce_min(&[1]); sum |o| o.a.sum(..); reshape |o| o.a.reshape([3, 2]);
    transpose |o| o.a.transpose(&[1, 0]); broadcast_in_dim |o| o.a.broadcast_in_dim([2, 2, 3], &[1, 2]);
    broadcast_to |o| o.a.broadcast_to([4, 2, 3]); concat |o| <T>::concat(&[&o.a, &o.b], 1);
    astype |o| o.a.astype(DType::F32); matmul |o| o.a.matmul(&o.m); powi |o| o.a.powi(3);
    round_ties_even |o| o.a.round_ties_even(); round_half_away |o| o.a.round_half_away(); count_ones |o| o.i.count_ones();
    conj |o| o.z.conj(); real |o| o.z.real(); imag |o| o.z.imag(); square |o| o.a.square(); abs2 |o| o.z.abs2();
    angle |o| o.z.angle(); reciprocal |o| o.a.reciprocal(); sinc |o| o.a.sinc(); relu |o| o.a.relu(); gelu |o| o.a.gelu();
    gelu_tanh |o| o.a.gelu_tanh(); silu |o| o.a.silu(); softplus |o| o.a.softplus(); diagonal |o| o.m.diagonal();
    trace |o| o.m.trace(); and |o| o.p.and(&o.p); or |o| o.p.or(&o.p); xor |o| o.i.xor(&o.i);
    shift_left |o| o.i.shift_left(&o.i); shift_right_logical |o| o.i.shift_right_logical(&o.i);
    shift_right_arithmetic |o| o.i.shift_right_arithmetic(&o.i); logaddexp |o| o.a.logaddexp(&o.b);
    reduce_any |o| o.p.reduce_any(&[0]); reduce_all |o| o.p.reduce_all(&[1]); reduce_and |o| o.i.reduce_and(&[0]);
    reduce_or |o| o.i.reduce_or(&[0]); reduce_xor |o| o.i.reduce_xor(&[0]); mean |o| o.a.mean([0]);
    norm |o| o.a.norm([1]); logsumexp |o| o.a.logsumexp([0]); softmax |o| o.a.softmax(0);
    log_softmax |o| o.a.log_softmax(1); median |o| o.a.median(0); argmax |o| o.a.argmax(0); argmin |o| o.a.argmin(1);
    equal |o| o.a.equal(&o.b); not_equal |o| o.a.not_equal(&o.b); select |o| o.p.select(&o.a, &o.b);
    var |o| o.a.var([0], 1.0); std |o| o.a.std([1], 0.0); cross_entropy |o| o.a.cross_entropy(&o.k, 1);
    cross_entropy_with |o| o.a.cross_entropy_with(&o.k, 1, LossReduction::None);
    layer_norm |o| o.a.layer_norm([1], 1e-5); powf |o| o.a.powf(2.5); clip |o| o.a.clip(0.2, 0.6);
    full_like |o| o.a.full_like(2.0); complex |o| o.a.complex(&o.b); slice |o| o.a.slice(1, 1..3);
    index |o| o.a.index(0, 1); take |o| o.a.take(&o.k, 1, Bounds::Clip); flip |o| o.a.flip([1]);
    stack |o| <T>::stack(&[&o.a, &o.b], 1); sort |o| o.a.sort(1, true); cumulative_sum |o| o.a.cumulative_sum(0);
    cumulative_prod |o| o.a.cumulative_prod(1);
    cholesky |o| o.m.cholesky(); cholesky_ex |o| o.m.cholesky_ex();
    triangular_solve |o| o.m.triangular_solve(&o.n, TriangularSolve::default()); lu |o| o.n.lu(); solve |o| o.n.solve(&o.m);
    inv |o| o.n.inv(); det |o| o.n.det(); slogdet |o| o.n.slogdet(); qr |o| o.n.qr(); qr_complete |o| o.n.qr_complete();
    eigh |o| o.m.eigh(); eigvalsh |o| o.m.eigvalsh(); eig |o| o.n.eig(); eigvals |o| o.n.eigvals(); svd |o| o.a.svd();
    svd_full |o| o.n.svd_full(); svdvals |o| o.a.svdvals(); svd_truncated |o| o.a.svd_truncated(1);
    svd_thresholded |o| o.a.svd_thresholded(1e-3); low_rank_approximation |o| o.a.low_rank_approximation(1);
    pinv |o| o.a.pinv(); lstsq |o| o.n.lstsq(&o.m); matrix_norm |o| o.n.matrix_norm(MatrixNorm::Frobenius);
    vector_norm |o| o.a.vector_norm([0], 3.0); matrix_exp |o| o.n.matrix_exp(); matrix_power |o| o.n.matrix_power(-2);
    kron |o| o.a.kron(&o.m); spectral_function |o| o.m.spectral_function(|w| w.sqrt()); adjoint |o| o.z.adjoint();
    tril |o| o.a.tril(0); triu |o| o.a.triu(1);
    prod |o| o.a.prod(0); max |o| o.a.max(1); min |o| o.a.min(-1); any |o| o.p.any(0); all |o| o.p.all(0);
    sum_keepdims |o| o.a.sum_keepdims(0); prod_keepdims |o| o.a.prod_keepdims(0); max_keepdims |o| o.a.max_keepdims(0);
    min_keepdims |o| o.a.min_keepdims(0); any_keepdims |o| o.p.any_keepdims(0); all_keepdims |o| o.p.all_keepdims(0);
    mean_keepdims |o| o.a.mean_keepdims(1); var_keepdims |o| o.a.var_keepdims(1, 1.0);
    std_keepdims |o| o.a.std_keepdims(1, 0.0); norm_keepdims |o| o.a.norm_keepdims(1);
    logsumexp_keepdims |o| o.a.logsumexp_keepdims(0); vector_norm_keepdims |o| o.a.vector_norm_keepdims(0, 3.0);
    log10 |o| o.a.log10(); is_inf |o| o.a.is_inf(); sigmoid |o| o.a.sigmoid(); hypot |o| o.a.hypot(&o.b);
    igamma |o| o.a.igamma(&o.b); igammac |o| o.a.igammac(&o.b); betainc |o| o.a.betainc(&o.b, &o.a);
    polygamma |o| o.a.polygamma(1); bessel_i |o| o.a.bessel_i(0); bessel_ie |o| o.a.bessel_ie(1);
    leading_zeros |o| o.i.leading_zeros(); bitcast |o| o.a.bitcast(DType::I64); expand_dims |o| o.a.expand_dims(0);
    permute_dims |o| o.a.permute_dims([1, 0]); t |o| o.a.t(); matrix_transpose |o| o.a.matrix_transpose();
    squeeze |o| o.a.squeeze([0usize; 0]); pad |o| o.a.pad(&[1, 0], &[0, 1], &[0, 0], 0.5);
    slice_step |o| o.a.slice_step(1, .., 2); argsort |o| o.a.argsort(1, false); tensordot |o| o.a.tensordot(&o.b, 1, 1);
    outer |o| o.a.outer(&o.b); to_jax_convention |o| o.z.to_jax_convention();
    vecdot |o| o.a.vecdot(&o.b, 0); expm |o| o.n.expm(); conj_transpose |o| o.z.conj_transpose();
}

/// Linear algebra on plain tensors, and views.
fn plain_rows() -> Vec<MethodRow<Tensor>> {
    fn cpu() -> CpuBackend {
        CpuBackend::new()
    }
    let rows: &[MethodRow<Tensor>] = &[
        ("inv", |o| LinalgBackend::inv(&mut cpu(), &o.n).outs()),
        ("matrix_exp", |o| {
            LinalgBackend::matrix_exp(&mut cpu(), &o.n).outs()
        }),
        ("matrix_power", |o| {
            LinalgBackend::matrix_power(&mut cpu(), &o.n, -1).outs()
        }),
        ("lu", |o| LinalgBackend::lu(&mut cpu(), &o.n).outs()),
        ("tril", |o| LinalgBackend::tril(&mut cpu(), &o.a, 0).outs()),
        ("triu", |o| LinalgBackend::triu(&mut cpu(), &o.a, 0).outs()),
        ("svd", |o| LinalgBackend::svd(&mut cpu(), &o.a).outs()),
        ("qr", |o| LinalgBackend::qr(&mut cpu(), &o.n).outs()),
        ("pinv", |o| LinalgBackend::pinv(&mut cpu(), &o.a).outs()),
        ("solve by an identity", |o| {
            LinalgBackend::solve(&mut cpu(), &o.n, &Tensor::eye(DType::F64, 3).unwrap()).outs()
        }),
        ("kron with ones", |o| {
            LinalgBackend::kron(&mut cpu(), &Tensor::ones(DType::F64, [2, 2]).unwrap(), &o.a).outs()
        }),
        ("reshape", |o| o.a.reshape([3, 2]).outs()),
        ("permute_dims", |o| o.a.permute_dims([1, 0]).outs()),
        ("t", |o| o.a.t().outs()),
        ("slice", |o| o.a.slice(1, 1..3).outs()),
        ("slice_step", |o| o.a.slice_step(1, 0..3, 2).outs()),
        ("reverse", |o| o.a.flip(0).outs()),
        ("broadcast_to", |o| o.a.broadcast_to([2, 2, 3]).outs()),
        ("contiguous", |o| {
            o.a.t().and_then(|t| t.contiguous()).outs()
        }),
    ];
    rows.to_vec()
}

/// Constructors, whose results have no memory order.
const OF_NOTHING: [&str; 1] = ["full_like"];

fn same(name: &str, order: Order, got: &[Tensor], want: &[Tensor]) {
    assert_eq!(got.len(), want.len(), "{name}");
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            got.same_bits(want),
            "result {k} of {name} in {order:?}: {got} is not {want}"
        );
        let of = if OF_NOTHING.contains(&name) {
            Order::RowMajor
        } else {
            order
        };
        assert_eq!(got.order(), of, "result {k} of {name}: {got:?}");
        assert_eq!(
            got.contiguous().unwrap().order(),
            of,
            "result {k} of {name}"
        );
    }
}

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

fn tensors<T>(y: Result<Vec<T>, String>, name: &str, f: impl Fn(&T) -> Tensor) -> Vec<Tensor> {
    y.unwrap_or_else(|e| panic!("{name}: {e}"))
        .iter()
        .map(f)
        .collect()
}

#[test]
fn eager_methods_keep_the_order_of_their_operands() {
    for (name, row) in eager_rows() {
        let mut first: Option<(Vec<Tensor>, Option<Tensor>)> = None;
        for order in ORDERS {
            let rt = EagerRuntime::new();
            let variable = |t: Tensor| match t.dtype().has_tangent() {
                true => rt.variable_from(t).unwrap(),
                false => rt.constant_from(t).unwrap(),
            };
            let o = each(plain(order), variable);
            // The second occurrence is compiled.
            for _ in 0..3 {
                rt.clear_grads().unwrap();
                let y = row(&o);
                let got = tensors(y.clone(), name, |t| t.to_tensor().unwrap());
                let loss = y.unwrap()[0].clone();
                let mut g = None;
                if loss.tracks_grad()
                    && !loss.dtype().is_complex()
                    && loss.sum(..).unwrap().backward().is_ok()
                {
                    for x in [&o.a, &o.m, &o.n, &o.z] {
                        g = g.or(x.grad().unwrap().map(|g| {
                            assert_eq!(g.order(), order, "the gradient of {name}");
                            (*g).clone()
                        }));
                    }
                }
                let (want, gradient) = first.get_or_insert_with(|| (got.clone(), g.clone()));
                same(name, order, &got, want);
                if let (Some(g), Some(want)) = (&g, &*gradient) {
                    assert!(
                        g.same_bits(want),
                        "the gradient of {name} in {order:?}: {g} is not {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn traced_methods_keep_the_order_of_their_operands() {
    let executor = GraphExecutor::default();
    let compiler = GraphCompiler::new();
    for (name, row) in traced_rows() {
        let mut first: Option<(Vec<Tensor>, Option<Tensor>)> = None;
        for order in ORDERS {
            let o = each(plain(order), TracedTensor::from_tensor);
            let y = row(&o).unwrap_or_else(|e| panic!("{name}: {e}"));
            let got = executor
                .run_many(
                    &compiler
                        .compile_many(&y.iter().collect::<Vec<_>>())
                        .unwrap(),
                )
                .unwrap();
            let dtype = y[0].dtype().unwrap();
            let of = [&o.a, &o.m, &o.n];
            let g = (dtype.is_float()).then(|| {
                let rank = y[0].rank().unwrap();
                let loss = y[0].reduce_sum(&(0..rank).collect::<Vec<_>>());
                let all: Vec<Tensor> = of
                    .iter()
                    .filter_map(|x| {
                        let g = loss.grad(x).ok()?;
                        let alone = executor.run(&compiler.compile(&g).unwrap()).unwrap();
                        let beside = compiler.compile_many(&[&y[0], &g, &o.a]).unwrap();
                        let beside = executor.run_many(&beside).unwrap().remove(1);
                        assert_eq!(
                            (alone.order(), beside.order()),
                            (order, order),
                            "the gradient of {name}"
                        );
                        assert!(alone.same_bits(&beside), "{name}");
                        Some(alone)
                    })
                    .collect();
                all
            });
            let sum = g.map(|all| {
                all.into_iter()
                    .find(|g| g.to_f64().unwrap().iter().any(|x| *x != 0.0))
            });
            let (want, gradient) =
                first.get_or_insert_with(|| (got.clone(), sum.clone().flatten()));
            same(name, order, &got, want);
            if let (Some(g), Some(want)) = (sum.flatten(), &*gradient) {
                assert!(
                    g.same_bits(want),
                    "the gradient of {name} in {order:?}: {g} is not {want}"
                );
            }
        }
    }
}

#[test]
fn plain_tensors_keep_the_order_of_their_operands() {
    for (name, row) in plain_rows() {
        let want = row(&plain(Order::RowMajor)).unwrap();
        for order in ORDERS {
            same(name, order, &row(&plain(order)).unwrap(), &want);
        }
    }
}

/// A constructed tensor does not affect the order of results, through every interface. On its own
/// it is listed row-major.
#[test]
fn constructed_tensors_have_no_order() {
    let made: Vec<Tensor> = vec![
        Tensor::zeros(DType::F64, [2, 3]).unwrap(),
        Tensor::ones(DType::F64, [2, 3]).unwrap(),
        Tensor::full(DType::F64, [2, 3], 2.0).unwrap(),
        Tensor::vector(vec![1.0, 2.0, 3.0]),
        Tensor::vector(vec![1.0, 2.0, 3.0])
            .broadcast_to([2, 3])
            .unwrap(),
        Tensor::linspace(DType::F64, 0.0, 1.0, 6)
            .unwrap()
            .reshape([2, 3])
            .unwrap(),
        Tensor::arange(DType::F64, 0.0, 3.0, 1.0).unwrap(),
        Tensor::scalar(3.0),
        Tensor::eye(DType::F64, 3).unwrap().slice(0, 0..2).unwrap(),
    ];
    for t in made {
        assert_eq!(t.order(), Order::RowMajor);
        for order in ORDERS {
            let a = plain(order).a;
            let rt = EagerRuntime::new();
            let (x, y) = (
                rt.constant_from(a.clone()).unwrap(),
                rt.constant_from(t.clone()).unwrap(),
            );
            let eager = [x.add(&y), y.exp().and_then(|y| y.mul(&x)), x.maximum(&y)];
            let (u, v) = (
                TracedTensor::from_tensor(a.clone()),
                TracedTensor::from_tensor(t.clone()),
            );
            let traced = [u.add(&v), v.exp().mul(&u), u.maximum(&v)];
            let jitted = closures::jit(|(u, v): (TracedTensor, TracedTensor)| u.add(&v));
            assert_eq!(
                jitted((u, v)).unwrap().to_tensor().unwrap().order(),
                order,
                "{t}"
            );
            for (e, t) in eager.into_iter().zip(traced) {
                let (e, t) = (e.unwrap().to_tensor().unwrap(), t.to_tensor().unwrap());
                assert_eq!((e.order(), t.order()), (order, order));
                assert!(e.same_bits(&t));
            }
        }
    }
}

/// A result with a row-major operand is row-major, through every interface. A gradient has the
/// order of its variable.
#[test]
fn mixed_orders_give_row_major_results() {
    let (rows, columns) = (plain(Order::RowMajor).a, plain(Order::ColumnMajor).b);
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

/// Reads the tables of methods in the sources: every method that eager and traced tensors share has
/// a row above.
#[test]
fn every_method_has_a_row() {
    let read = |path: &str| {
        std::fs::read_to_string(format!("{}/src/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let mut names: BTreeSet<String> = BTreeSet::new();
    for file in [
        "elementwise",
        "functions",
        "indexing",
        "keepdims",
        "products",
        "reductions",
        "shapes",
    ] {
        let text = read(&format!("methods/{file}.rs"));
        let (_, methods) = text.split_once("pub trait ").expect("a trait");
        for line in methods.lines() {
            if let Some(rest) = line.strip_prefix("    fn ") {
                names.extend(rest.split(['(', '<']).next().map(str::to_owned));
            }
        }
    }
    let linalg = read("linalg.rs");
    let (_, rest) = linalg
        .split_once("$make! {")
        .expect("the list of linear algebra");
    for line in rest
        .split_once("\n/// The function of a closure")
        .expect("its end")
        .0
        .lines()
    {
        if let Some((name, _)) = line.trim().split_once(" [")
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        {
            names.insert(name.to_owned());
        }
    }
    // Methods with several results, constants, and operands that `names` has.
    for other in [
        "dot_general",
        "dynamic_slice",
        "dynamic_update_slice",
        "gather",
        "one_hot",
        "ones_like",
        "put",
        "put_along_axis",
        "split",
        "take_along_axis",
        "top_k",
        "unstack",
        "zeros_like",
        "zeta",
    ] {
        names.remove(other);
    }
    let rows: BTreeSet<String> = traced_rows().iter().map(|r| r.0.to_owned()).collect();
    let missing: Vec<_> = names.difference(&rows).collect();
    assert!(
        missing.is_empty() && names.len() > 120,
        "{} methods, without a row: {missing:?}",
        names.len()
    );
}
