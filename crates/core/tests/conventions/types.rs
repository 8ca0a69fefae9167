//! Lines 54 to 71: element types, shapes, symbolic extents.

use super::*;
use cotangent_core::check::{Options, check_function};
use cotangent_core::ops::{Bounds, Combine, Scatter, Windows};

fn scalar_of(d: DType) -> Type {
    Type::scalar(d)
}

#[test]
fn l54_l56_integers_and_booleans_as_inputs() {
    for d in [DType::I32, DType::Bool] {
        let f = build([scalar_of(d), f64s(&[])], |cx, [n, x]| {
            vec![cx.mul(cx.convert(n, DType::F64), x)]
        });
        let e = grad(&ad(), &f, f.params()).unwrap_err();
        assert_eq!(e.code(), Code::IntegerInput);
        for part in [
            "#0",
            "%x",
            d.name(),
            "Convert it to a float",
            "leave it out of wrt",
        ] {
            assert!(e.message().contains(part), "`{part}` is missing in: {e}");
        }
        // Together with float inputs they are accepted: they have no cotangent.
        assert!(vjp(&ad(), &f, &f.params()[1..]).is_ok());
    }
}

#[test]
fn l55_l56_integers_and_booleans_as_outputs() {
    for d in [DType::I64, DType::Bool] {
        let f = build([f64s(&[])], |cx, [x]| vec![cx.convert(x, d)]);
        assert_eq!(
            grad(&ad(), &f, f.params()).unwrap_err().code(),
            Code::IntegerOutput
        );
        // Without a differentiable result, every mode is an error.
        assert_eq!(
            vjp(&ad(), &f, f.params()).unwrap_err().code(),
            Code::IntegerOutput
        );
        assert_eq!(
            jvp(&ad(), &f, f.params()).unwrap_err().code(),
            Code::IntegerOutput
        );
        // With a float result, the integer result has no cotangent argument and does not contribute
        // to the gradient.
        let f = build([f64s(&[])], |cx, [x]| vec![cx.convert(x, d), cx.mul(x, x)]);
        let g = vjp(&ad(), &f, f.params()).unwrap();
        assert_eq!(g.params().len(), 2);
        same(&flat(run(&g, &at([2.5, 1.0]))), &[5.0]);
    }
}

#[test]
fn l57_a_cast_to_integers_blocks() {
    let f =
        |cx: &dyn Emit, [x]: [Val; 1]| cx.mul(cx.convert(cx.convert(x, DType::I32), DType::F64), x);
    same(&grad_of([2.7], f), &[2.0]);
}

#[test]
fn l58_gradients_have_the_type_of_their_value() {
    let f = build([scalar_of(DType::F32)], |cx, [x]| {
        let low = cx.convert(cx.sin(x), DType::BF16);
        vec![cx.convert(low, DType::F32)]
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    assert_eq!(g.result_types()[0].dtype, DType::F32);
    assert_eq!(
        run(&g, &[Array::scalar(0f32)])[0].as_slice::<f32>(),
        Some(&[1f32][..])
    );
}

#[test]
fn l59_a_tangent_of_another_type_is_an_error() {
    let f = scalars(|cx, [x]| cx.exp(x));
    let push = jvp(&ad(), &f, f.params()).unwrap();
    let e = reference::run(&push, &[Array::scalar(1.0), Array::scalar(1f32)]).unwrap_err();
    assert!(
        e.message().contains("f64[]") && e.message().contains("f32[]"),
        "{e}"
    );
}

#[test]
fn l60_a_loss_that_is_not_a_scalar() {
    let f = |n: usize| build([f64s(&[n])], |cx, [x]| vec![cx.exp(x)]);
    for (n, hint) in [(3, false), (1, true)] {
        let e = grad(&ad(), &f(n), f(n).params()).unwrap_err();
        assert_eq!(e.code(), Code::NonScalarOutput);
        assert!(
            e.message().contains(&format!("f64[{n}]")) && e.message().contains("sum(..)"),
            "{e}"
        );
        assert_eq!(e.message().contains("reshape it to []"), hint, "{e}");
    }
}

#[test]
fn l61_rank_zero_everywhere() {
    let f = scalars(|cx, [x]| cx.mul(cx.mul(x, x), x));
    same(
        &flat(run(&hvp(&ad(), &f, f.params()).unwrap(), &at([2.0, 1.0]))),
        &[12.0],
    );
    same(
        &flat(run(&hessian(&ad(), &f, f.params()).unwrap(), &at([2.0]))),
        &[12.0],
    );
}

#[test]
fn l62_empty_arrays() {
    let f = build([f64s(&[0, 3])], |cx, [x]| {
        vec![cx.reduce_sum(cx.exp(x), &[0, 1])]
    });
    let empty = Array::zeros(DType::F64, [0, 3]).unwrap();
    assert_eq!(
        run(
            &grad(&ad(), &f, f.params()).unwrap(),
            std::slice::from_ref(&empty)
        )[0]
        .shape(),
        [0, 3]
    );
    same(&flat(run(&f, &[empty])), &[0.0]);
}

#[test]
fn l63_l64_broadcasting() {
    let f = build([f64s(&[3, 1]), f64s(&[1, 4])], |cx, [x, y]| {
        let shape = [3.into(), 4.into()];
        let p = cx.mul(cx.broadcast_to(x, &shape), cx.broadcast_to(y, &shape));
        vec![cx.reduce_sum(p, &[0, 1])]
    });
    let ones = |s: [usize; 2]| Array::full(s, 1.0).unwrap();
    let g = run(
        &grad(&ad(), &f, f.params()).unwrap(),
        &[ones([3, 1]), ones([1, 4])],
    );
    assert_eq!((g[0].shape(), g[1].shape()), (&[3, 1][..], &[1, 4][..]));
    same(&g[0].to_f64(), &[4.0; 3]);
    same(&g[1].to_f64(), &[3.0; 4]);
    // An extent of 1 that is not broadcast stays.
    let f = build([f64s(&[1, 2])], |cx, [x]| {
        let y = cx.broadcast_in_dim(x, &[1.into(), 5.into(), 2.into()], &[0, 2]);
        vec![cx.reduce_sum(y, &[0, 1, 2])]
    });
    let g = run(&grad(&ad(), &f, f.params()).unwrap(), &[ones([1, 2])]);
    assert!(g[0].shape() == [1, 2] && g[0].to_f64() == [5.0, 5.0]);
    let f = build([f64s(&[]), f64s(&[2, 3])], |cx, [x, y]| {
        let sum = cx.add(cx.broadcast_to(x, &cx.ty(y).shape), y);
        vec![cx.reduce_sum(sum, &[0, 1])]
    });
    let g = run(
        &grad(&ad(), &f, f.params()).unwrap(),
        &[Array::scalar(1.0), ones([2, 3])],
    );
    assert!(g[0].to_f64() == [6.0] && g[1].to_f64() == [1.0; 6]);
}

#[test]
fn l65_one_program_for_an_extent_that_may_be_one() {
    // x: [n, 2], y: [4, 2]; x is broadcast to y's shape only if n = 1.
    let n = Dim::sym("n");
    let f = build(
        [Type::new(DType::F64, vec![n, 2.into()]), f64s(&[5, 2])],
        |cx, [x, y]| {
            let x = cx.broadcast_in_dim(x, &[5.into(), 2.into()], &[0, 1]);
            vec![cx.reduce_sum(cx.mul(x, y), &[0, 1])]
        },
    );
    let g = grad(&ad(), &f, &f.params()[..1]).unwrap();
    let y = Array::from_vec([5, 2], (0..10).map(f64::from).collect()).unwrap();
    let one = run(&g, &[Array::zeros(DType::F64, [1, 2]).unwrap(), y.clone()]);
    assert!(one[0].shape() == [1, 2] && one[0].to_f64() == [20.0, 25.0]);
    let five = run(&g, &[Array::zeros(DType::F64, [5, 2]).unwrap(), y.clone()]);
    assert!(five[0].shape() == [5, 2] && five[0].to_f64() == y.to_f64());
    assert!(reference::run(&f, &[Array::zeros(DType::F64, [3, 2]).unwrap(), y]).is_err());
}

#[test]
fn l66_rank_twelve() {
    let shape = [2, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1];
    let f = build([f64s(&shape)], |cx, [x]| {
        let perm: Vec<usize> = (0..12).rev().collect();
        vec![cx.reduce_sum(cx.sin(cx.transpose(x, &perm)), &[0, 3, 4, 11])]
    });
    let x = Array::from_vec(shape, (0..32).map(|i| f64::from(i) * 0.1).collect()).unwrap();
    let report = check_function(&ad(), &f, &[x], &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn l62_empty_products_and_maxima() {
    let empty = Array::vector(Vec::<f64>::new());
    let f = build([f64s(&[0])], |cx, [x]| vec![cx.reduce_prod(x, &[0])]);
    same(&flat(run(&f, std::slice::from_ref(&empty))), &[1.0]);
    assert!(run(&grad(&ad(), &f, f.params()).unwrap(), &[empty])[0].is_empty());
    let e = try_build([f64s(&[0])], |cx, [x]| vec![cx.reduce_max(x, &[0])]).unwrap_err();
    assert!(
        e.message().contains("reduce_max") && e.message().contains("f64[0]"),
        "{e}"
    );
    let f = build([f64s(&[0])], |cx, [x]| vec![cx.mean(x, &[0])]);
    same(
        &flat(run(&f, &[Array::vector(Vec::<f64>::new())])),
        &[f64::NAN],
    );
    assert!(
        run(
            &grad(&ad(), &f, f.params()).unwrap(),
            &[Array::vector(Vec::<f64>::new())]
        )[0]
        .is_empty()
    );
    // The same error at run time.
    let f = build([Type::new(DType::F64, vec![Dim::sym("n")])], |cx, [x]| {
        vec![cx.reduce_max(x, &[0])]
    });
    assert!(reference::run(&f, &[Array::vector(Vec::<f64>::new())]).is_err());
}

#[test]
fn l67_l68_gather() {
    let indices = |i: [i32; 3]| Array::vector(i.to_vec());
    let ints = Type::new(DType::I32, [3]);
    let take = |bounds: Bounds| {
        build([f64s(&[2]), ints.clone()], |cx, [x, i]| {
            let weights = cx.constant(vector(&[1.0, 10.0, 100.0]));
            vec![cx.reduce_sum(cx.mul(cx.take(x, i, 0, bounds), weights), &[0])]
        })
    };
    let slope = |bounds: Bounds, i: [i32; 3]| {
        let f = take(bounds);
        let g = grad(&ad(), &f, &f.params()[..1]).unwrap();
        reference::run(&g, &[vector(&[5.0, 6.0]), indices(i)]).map(flat)
    };
    for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
        same(&slope(bounds, [0, 0, 1]).unwrap(), &[11.0, 100.0]);
    }
    // Out of bounds: the mode is explicit.
    same(&slope(Bounds::Clip, [0, 7, 1]).unwrap(), &[1.0, 110.0]);
    same(&slope(Bounds::Drop, [0, 7, 1]).unwrap(), &[1.0, 100.0]);
    let e = slope(Bounds::Error, [0, 7, 1]).unwrap_err();
    assert!(
        e.code() == Code::OutOfBounds && e.message().contains('7'),
        "{e}"
    );
}

#[test]
fn l69_l70_scatter() {
    // Two updates of one element: the last one remains.
    let write = |combine: Combine| {
        build([f64s(&[2]), f64s(&[2])], |cx, [x, u]| {
            let windows = Windows {
                collapsed: vec![0],
                axes: vec![0],
                vector: 1,
                ..Windows::default()
            };
            let op = Scatter {
                combine,
                windows,
                bounds: Bounds::Drop,
                unique: false,
                stable: false,
            };
            let i = cx.constant(Array::vector(vec![0i32, 0]));
            let weights = cx.constant(vector(&[1.0, 10.0]));
            vec![cx.reduce_sum(cx.mul(cx.op(op, &[x, i, u]), weights), &[0])]
        })
    };
    let f = write(Combine::Set);
    let args = [vector(&[1.0, 2.0]), vector(&[5.0, 6.0])];
    same(&flat(run(&f, &args)), &[26.0]);
    same(
        &flat(run(&grad(&ad(), &f, f.params()).unwrap(), &args)),
        &[0.0, 10.0, 0.0, 1.0],
    );
    // Maxima share ties.
    let f = write(Combine::Max);
    let args = [vector(&[6.0, 2.0]), vector(&[5.0, 6.0])];
    same(
        &flat(run(&grad(&ad(), &f, f.params()).unwrap(), &args)),
        &[0.5, 10.0, 0.0, 0.5],
    );
}

#[test]
fn l71_dynamic_slice_at_a_clamped_start() {
    let f = build([f64s(&[5]), Type::scalar(DType::I32)], |cx, [x, i]| {
        let window = cx.dynamic_slice(x, &[i], &[2.into()]);
        vec![cx.reduce_sum(cx.mul(window, cx.constant(vector(&[1.0, 10.0]))), &[0])]
    });
    let g = grad(&ad(), &f, &f.params()[..1]).unwrap();
    for (i, want) in [
        (9, [0.0, 0.0, 0.0, 1.0, 10.0]),
        (-4, [1.0, 10.0, 0.0, 0.0, 0.0]),
    ] {
        same(
            &flat(run(&g, &[vector(&[0.0; 5]), Array::scalar(i)])),
            &want,
        );
    }
}
