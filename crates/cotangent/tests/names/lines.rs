//! Source lines in errors: every error names the line of the user's call.

use super::arguments::{Wrong, of_eager, of_plain};
use super::kinds::all_plain;
use super::rows::{ROWS, Results};
use cotangent::ad::{AdContext, BackwardOptions, no_grad};
use cotangent::closures::{self, cond, fori_loop, grad, scan, switch, vmap, while_loop};
use cotangent::einsum::{EagerEinsumExt, GraphCompilerEinsumExt, einsum};
use cotangent::linalg::LinalgBackend;
use cotangent::ops::Unary;
use cotangent::{
    CpuBackend, DType, EagerRuntime, EagerTensor, GraphCompiler, GraphExecutor, Program, Tensor,
    TensorOpsExt, TracedTensor, TracedTensorAdExt, TypedTensor, fft, random,
};
use std::fmt::Display;

/// Rows that accept every operand.
const TOTAL: &[&str] = &[
    "zeros_like",
    "ones_like",
    "tril",
    "triu",
    "astype",
    "square",
    "conj",
    "to_jax_convention",
    "real",
    "imag",
    "abs2",
    "t",
    "conj_transpose",
    "adjoint",
    "expand_dims",
    "tile",
    "outer",
    "stop_gradient",
];

#[test]
fn every_method_with_wrong_operands_names_the_line_of_its_call() {
    let source: Vec<&str> = include_str!("rows.rs").lines().collect();
    // Calls with a backend are written by a macro, whose line is that of the table.
    let rows = source.iter().position(|l| *l == "rows! {").unwrap();
    let (mut wrong, mut total) = (Vec::new(), Vec::new());
    for row in ROWS {
        // `name |o| ..`, or `name<T> |o| ..`
        let is_head = |l: &&str| {
            let rest = l.trim().strip_prefix(row.name);
            rest.is_some_and(|r| r.starts_with(" |o|") || r.starts_with('<') && r.contains("> |o|"))
        };
        let line = source.iter().position(is_head);
        let line = line.unwrap_or_else(|| panic!("{} has a line", row.name));
        let place = |line: usize| format!("names/rows.rs:{}", line + 1);
        let mut failed = false;
        for operands in Wrong::ALL {
            let plain = operands.operands(of_plain);
            let results: [(&str, usize, Results<Tensor>); 4] = [
                ("plain", line, (row.plain)(&plain)),
                (
                    "with a backend",
                    rows,
                    (row.with_backend)(&plain, &mut CpuBackend::new()),
                ),
                (
                    "eager",
                    line,
                    all_plain((row.eager)(&operands.operands(of_eager()))),
                ),
                (
                    "traced",
                    line,
                    all_plain((row.traced)(&operands.operands(TracedTensor::from_tensor))),
                ),
            ];
            for (kind, line, result) in results {
                let Err(e) = result else { continue };
                failed = true;
                let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
                if !e.split(&place(line)).skip(1).any(ends) {
                    wrong.push(format!("{kind} {} of {operands:?}: {e}", row.name));
                }
            }
        }
        if !failed {
            total.push(row.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(total, TOTAL);
}

/// Asserts that a call fails, with an error that names its line: the call is on the line of this
/// one.
#[track_caller]
fn fails<T, E: Display>(result: Result<T, E>) {
    let line = std::panic::Location::caller().line();
    let Err(e) = result else {
        panic!("line {line}: no error")
    };
    let e = e.to_string();
    assert!(
        e.contains(&format!("names/lines.rs:{line}")),
        "line {line}: {e}"
    );
}

#[test]
fn methods_of_eager_tensors_and_runtimes_name_the_line_of_their_call() {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::vector(vec![1.0, 2.0])).unwrap();
    let ints = Tensor::vector(vec![1, 2]);
    let i = rt.constant_from(ints.clone()).unwrap();
    let other = EagerRuntime::new().vector(vec![1.0, 2.0]).unwrap();
    let mut y = x.clone();
    fails(rt.from_vec_row_major([2], vec![1.0]));
    fails(rt.from_vec_col_major([2, 2], vec![1.0]));
    fails(rt.zeros(DType::F64, [usize::MAX, 4]));
    fails(rt.ones(DType::F64, [usize::MAX, 4]));
    fails(rt.full(DType::U8, [1], 300i64));
    fails(rt.eye(DType::F64, usize::MAX));
    fails(rt.arange(DType::F64, 0.0, 1.0, 0.0));
    fails(rt.iota(DType::I64, [2], 3));
    fails(rt.linspace(DType::Bool, 0.0, 1.0, 2));
    fails(rt.variable_from(ints.clone()));
    fails(EagerTensor::requires_grad_in(ints, &rt));
    fails(rt.apply(Unary::Sin, &[&i]));
    fails(EagerTensor::apply(Unary::Sin, &[]));
    fails(rt.write(&[&other], |_, x| x.to_vec()));
    fails(x.item::<f64>());
    fails(x.to_vec::<f32>());
    fails(x.mul(&other));
    fails((&x * &other).to_tensor());
    fails((&x + &i).sum(..));
    fails((&i * 0.5).to_tensor());
    fails(i.maximum(0.5));
    fails(x.backward());
    fails(x.backward_with(BackwardOptions::default()));
    fails(x.grad_of(&[&x], BackwardOptions::default()));
    fails(x.grads_of(&[&x], BackwardOptions::default()));
    fails(x.grad_optional(&[&x], BackwardOptions::default()));
    fails(x.vjp(&other, &x));
    fails(x.jvp(&x, &rt.scalar(1.0).unwrap()));
    fails(i.register_hook(|_| None));
    fails(y.update(|w: &mut [f64]| w[0] = 0.0));
    fails(no_grad(|| y.update(|w: &mut [f32]| w[0] = 0.0)));
    fails(y.assign(&x));
    fails(no_grad(|| y.assign(&other)));
    fails(no_grad(|| y.assign(rt.scalar(1.0).unwrap())));
    fails([&x, &other].einsum("i,i->"));
    fails([&x].einsum("ij->i"));
    let loss = x.square().unwrap().sum(..).unwrap();
    loss.backward_with(BackwardOptions::default()).unwrap();
    rt.with_backend_mut(|_| fails(rt.with_backend_mut(|_| ())))
        .unwrap();
    rt.with_backend_mut(|_| fails(rt.register_extension(|_| Ok(()))))
        .unwrap();
    rt.with_extension_caches_mut(|_| {
        fails(rt.cache_stats());
        fails(rt.clear_caches());
        fails(rt.clear_extension_caches());
        fails(rt.extension_cache_limits());
        fails(rt.set_extension_cache_limits(Default::default()));
        fails(rt.with_extension_caches_mut(|_| ()));
    })
    .unwrap();
}

#[test]
fn methods_of_traced_tensors_name_the_line_of_their_call() {
    let v = TracedTensor::vector(vec![1.0, 2.0]);
    let m = TracedTensor::ones(DType::F64, [2, 3]);
    let i = TracedTensor::vector(vec![1, 2]);
    let ad = AdContext::default();
    fails(TracedTensor::from_vec_row_major([2], vec![1.0]).to_tensor());
    fails(TracedTensor::from_vec_col_major([2], vec![1.0]).to_tensor());
    fails(TracedTensor::zeros(DType::F64, [usize::MAX, 4]).to_tensor());
    fails(TracedTensor::ones(DType::F64, [usize::MAX, 4]).to_tensor());
    fails(TracedTensor::full(DType::U8, [1], 300i64).to_tensor());
    fails(TracedTensor::eye(DType::F64, usize::MAX).to_tensor());
    fails(TracedTensor::arange(DType::F64, 0.0, 1.0, 0.0).to_tensor());
    fails(TracedTensor::iota(DType::I64, [2], 3).to_tensor());
    fails(TracedTensor::linspace(DType::Bool, 0.0, 1.0, 2).to_tensor());
    fails(TracedTensor::input(DType::F64, [2]).to_tensor());
    fails(TracedTensor::apply(Unary::Sin, &[&i]));
    fails(v.item::<f64>());
    fails((&v + &i).item::<f64>());
    fails((&i * 0.5).to_tensor());
    fails(i.less(0.5).to_tensor());
    fails(v.grad(&v));
    fails(v.vjp(&v, &m));
    fails(v.jvp(&v, &m));
    fails(ad.grad(&v, &v));
    fails(ad.grad_many(&v, &[&v]));
    fails(ad.value_and_grad(&v, &[&v]));
    fails(ad.vjp(&v, &v, &m));
    fails(ad.vjp_many(&[&v], &[&v], &[]));
    fails(ad.jvp(&v, &v, &m));
    fails(ad.jvp_many(&[&v], &[&v], &[]));
    fails(einsum("ij->i", &[&v]));
    fails(GraphCompiler::new().einsum("ij->i", &[&v]));
    fails(GraphCompiler::new().compile(&(&v + &m)));
    let two = GraphCompiler::new().compile_many(&[&v, &m]).unwrap();
    fails(GraphExecutor::default().run(&two));
    let closure = |x: TracedTensor| Ok::<_, cotangent::Error>(x.to_tensor()?.into());
    let inside = grad(closure)(v.clone()).unwrap_err().to_string();
    assert!(inside.contains("names/lines.rs:"), "{inside}");
}

#[test]
fn methods_of_plain_tensors_name_the_line_of_their_call() {
    let t = Tensor::ones(DType::F64, [2, 3]).unwrap();
    fails(Tensor::from_vec_row_major([2], vec![1.0]));
    fails(Tensor::from_vec_col_major([2], vec![1.0]));
    fails(Tensor::zeros(DType::F64, [usize::MAX, 4]));
    fails(Tensor::ones(DType::F64, [usize::MAX, 4]));
    fails(Tensor::full(DType::U8, [1], 300i64));
    fails(Tensor::eye(DType::F64, usize::MAX));
    fails(Tensor::arange(DType::F64, 0.0, 1.0, 0.0));
    fails(Tensor::iota(DType::I64, [2], 3));
    fails(Tensor::linspace(DType::Bool, 0.0, 1.0, 2));
    fails(t.as_slice::<f32>());
    fails(t.t().unwrap().as_slice::<f64>());
    fails(t.to_vec::<f32>());
    fails(t.to_vec_row_major::<f32>());
    fails(t.to_vec_col_major::<f32>());
    fails(t.item::<f64>());
    fails(t.slice(0, 1..5));
    fails(t.slice_step(2, .., 2));
    fails(t.index(0, 5));
    fails(t.flip(2));
    fails(t.permute_dims([0, 0]));
    fails(t.broadcast_to([5]));
    fails(t.reshape([5]));
    fails(Tensor::read_npy("no/such/file.npy"));
    fails(Tensor::read_all("no/such/file.npz"));
    fails(Tensor::read_all("a.npy"));
    fails(t.write_npy("no/such/folder/file.npy"));
    fails(Tensor::write_all("no/such/folder/file.npz", &[("t", &t)]));
    fails(TypedTensor::<f64>::from_vec_row_major([2], vec![1.0]));
    fails(TypedTensor::<f32>::new(&t));
    let mut ctx = CpuBackend::new();
    fails(LinalgBackend::cholesky(&mut ctx, &t));
    fails(t.matmul(&t, &mut ctx));
    fails(ctx.reshape(&t, [5]));
    fails(ctx.concat(&[], 0));
    fails(ctx.emit(&[], |_, _| Vec::new()));
}

#[test]
fn functions_over_tensors_and_closures_name_the_line_of_their_call() {
    let v = || TracedTensor::vector(vec![1.0, 2.0]);
    let s = || TracedTensor::scalar(1.0);
    let p = TracedTensor::scalar(true);
    type T = TracedTensor;
    fails(random::uniform(&v(), &[2], DType::F64));
    fails(fft::fft(&v(), 1));
    fails(grad(|x: T| x.sin())(v()));
    fails(closures::value_and_grad(|x: T| x.sin())(v()));
    fails(closures::hessian(|x: T| x.sin())(v()));
    fails(closures::hvp(|x: T| x.sum(..))(v(), s()));
    fails(closures::jvp(|x: T| x, v(), s()));
    fails((closures::vjp(|x: T| x, v()).unwrap().1)(s()));
    fails(vmap(|x: T| x)(s()));
    fails(closures::vmap_axes(|x: T| x, &[])(v()));
    fails(scan(|c: T, _: T| (c.sum(..), ()), v(), v()));
    fails(fori_loop(0, 3, |_, c: T| T::stack(&[&c, &c], 0), s()));
    fails(while_loop(|_: T| T::scalar(true), |c: T| c.sum(..), v()));
    fails(cond(&p, v(), |x: T| x, |x: T| x.sum(..)));
    fails(switch(&T::scalar(0i64), v(), &[|x: T| x, |x: T| x.sum(..)]));
    fails(closures::root(|x: Vec<T>| vec![x[0].clone(); 2], vec![s()]));
    let program = Program::from_tgraph(
        "tgraph.module @m { %x = tgraph.arg : f64 %y = tgraph.sin %x tgraph.return %y }",
    );
    let program = program.unwrap();
    fails(program.call(&[]));
    fails(program.call(&[v()]));
}
