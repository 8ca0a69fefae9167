//! Lines 1 to 21: the structure of graphs.

use super::extensions::{Fma, SinCos};
use super::*;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::linear_transpose;

#[test]
fn l1_gradient_by_an_unused_input_is_zeros_of_its_type() {
    let f = build([f64s(&[]), f64s(&[2, 3])], |cx, [x, _]| vec![cx.exp(x)]);
    let g = run(
        &grad(&ad(), &f, f.params()).unwrap(),
        &[
            Array::scalar(1.0),
            Array::zeros(DType::F64, [2, 3]).unwrap(),
        ],
    );
    assert!(g[1].shape() == [2, 3] && g[1].to_f64() == [0.0; 6]);
}

#[test]
fn l2_gradient_of_a_constant_is_zero() {
    same(&grad_of([3.0], |cx, [x]| cx.full_like(x, 5.0)), &[0.0]);
}

#[test]
fn l3_to_l8_values_used_more_than_once() {
    close(
        &grad_of([1.0], |cx, [x]| cx.mul(x, cx.exp(x))),
        &[2.0 * 1f64.exp()],
    ); // 3
    same(&grad_of([3.0], |cx, [x]| cx.mul(x, x)), &[6.0]); // 4
    let diamond = |cx: &dyn Emit, [x]: [Val; 1]| {
        let e = cx.exp(x);
        cx.add(e, e)
    };
    close(&grad_of([0.5], diamond), &[2.0 * 0.5f64.exp()]); // 5
    same(&grad_of([3.0], |cx, [x]| cx.mul(cx.add(x, x), x)), &[12.0]); // 7
    same(
        &grad_of([3.0], |cx, [x]| cx.op(Op::extension(Fma), &[x, x, x])),
        &[7.0],
    ); // 8
}

#[test]
fn l6_doubling_sixty_times_takes_sixty_operations() {
    let f = scalars(|cx, [x]| (0..60).fold(x, |y, _| cx.add(y, y)));
    let g = grad(&ad(), &f, f.params()).unwrap();
    same(&flat(run(&g, &at([1.0]))), &[2f64.powi(60)]);
    assert!(
        simplify(&g).eqns().len() <= 61,
        "{} operations",
        simplify(&g).eqns().len()
    );
}

#[test]
fn l9_l10_the_same_value_as_two_outputs() {
    let f = build([f64s(&[])], |cx, [x]| {
        let y = cx.neg(x);
        vec![y, y]
    });
    let back = |f: &Function| {
        flat(run(
            &vjp(&ad(), f, f.params()).unwrap(),
            &at([3.0, 1.0, 10.0]),
        ))
    };
    same(&back(&f), &[-11.0]);
    same(&back(&build([f64s(&[])], |_, [x]| vec![x, x])), &[11.0]);
}

#[test]
fn l11_the_identity_writes_nothing() {
    let f = build([f64s(&[2])], |_, [x]| vec![x]);
    let g = vjp(&ad(), &f, f.params()).unwrap();
    assert!(g.eqns().is_empty());
    same(
        &flat(run(&g, &[vector(&[1.0, 2.0]), vector(&[5.0, 7.0])])),
        &[5.0, 7.0],
    );
}

#[test]
fn l12_wrt_may_list_a_value_twice() {
    let f = scalars(|cx, [x]| cx.mul(x, x));
    let x = f.params()[0];
    same(
        &flat(run(&grad(&ad(), &f, &[x, x]).unwrap(), &at([3.0]))),
        &[6.0, 6.0],
    );
}

#[test]
fn l13_wrt_an_intermediate_value_and_what_it_depends_on() {
    // h = x²; L = h³ + x: dL/dh = 3h², dL/dx = 6x⁵ + 1.
    let f = scalars(|cx, [x]| {
        let h = cx.mul(x, x);
        cx.add(cx.mul(cx.mul(h, h), h), x)
    });
    let (x, h) = (f.params()[0], f.eqns()[0].results().next().unwrap());
    same(
        &flat(run(&grad(&ad(), &f, &[x, h]).unwrap(), &at([2.0]))),
        &[193.0, 48.0],
    );
    same(
        &flat(run(&grad(&ad(), &f, &[h]).unwrap(), &at([2.0]))),
        &[48.0],
    );
    same(
        &flat(run(&hvp(&ad(), &f, &[h]).unwrap(), &at([2.0, 1.0]))),
        &[24.0],
    );
}

#[test]
fn l14_l15_operations_with_several_results() {
    let f = build([f64s(&[])], |cx, [x]| {
        cx.emit(Op::extension(SinCos), &[x]).to_vec()
    });
    let cos = f.clone().with_results(&f.results()[1..]);
    let g = simplify(&grad(&ad(), &cos, cos.params()).unwrap());
    close(&flat(run(&g, &at([1.0]))), &[-(1f64.sin())]);
    // One product: the other result is not computed.
    let products = ops(&g).iter().filter(|n| *n == "mul").count();
    assert!(products <= 1, "{:?}", ops(&g));
    let both = vjp(&ad(), &f, f.params()).unwrap();
    close(
        &flat(run(&both, &at([1.0, 1.0, 1.0]))),
        &[1f64.cos() - 1f64.sin()],
    );
}

#[test]
fn l16_two_adjoints_in_one_program_keep_their_seeds() {
    let f = scalars(|cx, [x]| cx.mul(cx.exp(x), x));
    let g = vjp(&ad(), &f, f.params()).unwrap();
    let both = simplify(&scalars2(|cx, x| {
        let (one, ten) = (cx.full_like(x, 1.0), cx.full_like(x, 10.0));
        [cx.inline(&g, &[x, one])[0], cx.inline(&g, &[x, ten])[0]]
    }));
    let e = 2.0 * 1f64.exp();
    close(&flat(run(&both, &at([1.0]))), &[e, 10.0 * e]);
}

fn scalars2(f: impl Fn(&dyn Emit, Val) -> [Val; 2]) -> Function {
    build([f64s(&[])], |cx, [x]| f(cx, x).to_vec())
}

#[test]
fn l17_l20_derived_functions_are_called_many_times() {
    let f = scalars(|cx, [x]| cx.mul(x, x));
    for derived in [
        vjp(&ad(), &f, f.params()).unwrap(),
        jvp(&ad(), &f, f.params()).unwrap(),
    ] {
        let last = |seed: f64| *flat(run(&derived, &at([3.0, seed]))).last().unwrap();
        assert_eq!((last(1.0), last(2.0)), (6.0, 12.0));
    }
}

#[test]
fn l19_the_transpose_of_the_transpose() {
    let f = scalars(|cx, [x]| cx.mul(cx.add(x, x), x));
    let push = jvp(&ad(), &f, f.params()).unwrap();
    let linear = scalars(|cx, [t]| cx.inline(&push, &[cx.full_like(t, 3.0), t])[1]);
    let once = linear_transpose(&ad(), &linear).unwrap();
    let twice = linear_transpose(&ad(), &once).unwrap();
    for f in [&linear, &once, &twice] {
        same(&flat(run(f, &at([1.0]))), &[12.0]);
    }
}

#[test]
fn l21_values_of_other_graphs_and_unknown_values_are_errors() {
    let other = scalars(|cx, [x]| cx.exp(cx.exp(cx.exp(x))));
    let e = try_build([f64s(&[])], |cx, [x]| vec![cx.add(x, other.results()[0])]).unwrap_err();
    assert!(
        e.code() == Code::ForeignValue && e.message().contains("belongs to another graph"),
        "{e}"
    );
    let f = scalars(|cx, [x]| cx.exp(x));
    let e = grad(&ad(), &f, &[other.results()[0]]).unwrap_err();
    assert_eq!(e.code(), Code::Unbound);
    let e = reference::run(&f, &[]).unwrap_err();
    assert_eq!(e.code(), Code::Arity);
    let unbound = build([], |cx, []| {
        vec![cx.zeros(&Type::new(DType::F64, vec![Dim::sym("n")]))]
    });
    assert_eq!(
        reference::run(&unbound, &[]).unwrap_err().code(),
        Code::Unbound
    );
}
