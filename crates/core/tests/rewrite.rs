//! Rewrites: equations that they remove, and equations that they must not change.

use cotangent_core::ops::{Binary, Bounds, Comparison, DotGeneral, Slice, Unary, Windows};
use cotangent_core::rewrite::{dce, simplify};
use cotangent_core::transform::{AdContext, Session, grad};
use cotangent_core::{
    Array, Builder, C128, DType, Dim, Emit, Function, Op, Type, Val, Wide, reference,
};

fn build(ty: Type, f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x = b.param(ty, Some("x"));
    let y = f(&b, x);
    b.finish(&[y]).unwrap()
}

fn scalar() -> Type {
    Type::scalar(DType::F64)
}

/// Names of the operations, in order.
fn ops(f: &Function) -> Vec<String> {
    f.eqns().iter().map(|e| e.op.name().to_owned()).collect()
}

fn simple(ty: Type, f: impl Fn(&dyn Emit, Val) -> Val) -> Vec<String> {
    ops(&simplify(&build(ty, f)))
}

#[test]
fn dead_code_is_removed_and_parameters_stay() {
    let f = build(scalar(), |cx, x| {
        cx.exp(x);
        cx.full_like(x, 2.0)
    });
    let g = dce(&f);
    assert_eq!(ops(&g), ["constant"]);
    assert_eq!(g.params().len(), 1);
}

#[test]
fn equal_operations_on_equal_operands_are_one() {
    assert_eq!(
        simple(scalar(), |cx, x| cx.mul(cx.exp(x), cx.exp(x))),
        ["exp", "mul"]
    );
    // Addition is commutative in its bits, subtraction is not.
    let both = |cx: &dyn Emit, x: Val| {
        let y = cx.sin(x);
        cx.mul(cx.add(x, y), cx.add(y, x))
    };
    assert_eq!(simple(scalar(), both), ["sin", "add", "mul"]);
    let f = |cx: &dyn Emit, x: Val| {
        let y = cx.sin(x);
        cx.mul(cx.sub(x, y), cx.sub(y, x))
    };
    assert_eq!(simple(scalar(), f), ["sin", "sub", "sub", "mul"]);
}

#[test]
fn constants_that_differ_in_one_element_are_not_merged() {
    let f = build(Type::new(DType::F64, [200]), |cx, x| {
        let mut v = vec![1.0; 200];
        let a = cx.constant(Array::vector(v.clone()));
        v[150] = 2.0;
        let b = cx.constant(Array::vector(v));
        cx.add(cx.mul(x, a), cx.mul(x, b))
    });
    let x = Array::vector(vec![1.0; 200]);
    let y = reference::run(&simplify(&f), &[x]).unwrap()[0].to_f64();
    assert_eq!((y[0], y[150]), (2.0, 3.0));
}

#[test]
fn constants_fold_for_every_size() {
    let ty = Type::new(DType::F32, vec![Dim::sym("n")]);
    let f = build(ty.clone(), |cx, x| {
        let c = cx.mul(cx.full_like(x, 2.0), cx.full_like(x, 3.0));
        cx.mul(x, cx.exp(cx.sub(c, c)))
    });
    let g = simplify(&f);
    assert_eq!(ops(&g), Vec::<String>::new(), "x * exp(6 - 6) is x");
    assert_eq!(g.results(), g.params());
}

#[test]
fn integers_in_broadcasts_fold_and_floats_stay_recognisable() {
    let wide = |cx: &dyn Emit, dtype: DType, x: f64| {
        let number = cx.full(&Type::scalar(dtype), x);
        cx.broadcast_in_dim(number, &[Dim::sym("n")], &[])
    };
    let sum = |dtype: DType| {
        simple(Type::new(dtype, vec![Dim::sym("n")]), |cx, x| {
            cx.add(x, cx.sub(wide(cx, dtype, 100.0), wide(cx, dtype, 40.0)))
        })
    };
    assert_eq!(sum(DType::I32), ["constant", "add"]);
    assert!(sum(DType::F32).contains(&"sub".to_owned()));
}

#[test]
fn identities_that_hold_for_every_bit_apply_and_others_do_not() {
    let none: [&str; 0] = [];
    assert_eq!(simple(scalar(), |cx, x| cx.neg(cx.neg(x))), none);
    assert_eq!(
        simple(scalar(), |cx, x| cx.mul(cx.full_like(x, 1.0), x)),
        none
    );
    assert_eq!(
        simple(scalar(), |cx, x| cx.sub(x, cx.full_like(x, 0.0))),
        none
    );
    assert_eq!(
        simple(scalar(), |cx, x| cx.add(x, cx.neg(cx.sin(x)))),
        ["sin", "sub"]
    );
    // -0 + 0 is +0; infinity * 0 is NaN.
    assert_eq!(
        simple(scalar(), |cx, x| cx.add(x, cx.full_like(x, 0.0))),
        ["constant", "add"]
    );
    assert_eq!(
        simple(scalar(), |cx, x| cx.mul(x, cx.full_like(x, 0.0))),
        ["constant", "mul"]
    );
}

/// Choices that constants decide, on all values: the same bits, and no comparison, choice or
/// logical operation if constants decide.
#[test]
fn constants_decide_choices_and_comparisons() {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let compared: [(Comparison, bool); 6] = [
        (Lt, true),
        (Gt, false),
        (Ge, true),
        (Le, false),
        (Eq, false),
        (Ne, true),
    ];
    for shape in [vec![], vec![3usize]] {
        let ty = |dtype| Type::new(dtype, &shape[..]);
        let array = |wide: &[i128], dtype: DType| {
            let n: usize = shape.iter().product();
            Wide::I(wide[..n].to_vec())
                .narrow(dtype, shape.clone())
                .unwrap()
        };
        let check =
            |dtype: DType, wide: &[i128], f: &dyn Fn(&dyn Emit, Val) -> Val, left: &[&str]| {
                let f = build(ty(dtype), f);
                let g = simplify(&f);
                assert_eq!(ops(&g), left, "{f}");
                let x = [array(wide, dtype)];
                let (want, got) = (
                    reference::run(&f, &x).unwrap(),
                    reference::run(&g, &x).unwrap(),
                );
                assert!(want[0].same_bits(&got[0]), "{f}");
            };
        for truth in [false, true] {
            let fixed = |cx: &dyn Emit| {
                let all: Vec<Dim> = shape.iter().map(|&n| n.into()).collect();
                let one = cx.full(&Type::scalar(DType::Bool), truth);
                cx.broadcast_in_dim(one, &all, &[])
            };
            let left: &[&str] = if truth { &[] } else { &["sin"] };
            let select = |cx: &dyn Emit, x: Val| cx.select(fixed(cx), x, cx.sin(x));
            let f = build(ty(DType::F64), select);
            assert_eq!(ops(&simplify(&f)), left, "{f}");
            for (op, c) in [(Binary::And, truth), (Binary::Or, !truth)] {
                for swapped in [false, true] {
                    let f = |cx: &dyn Emit, x: Val| {
                        let mut pair = [x, fixed(cx)];
                        if swapped {
                            pair.reverse();
                        }
                        cx.op(op, &pair)
                    };
                    // The other operand, or the constant.
                    let constant: &[&str] = match shape.len() {
                        0 => &["constant"],
                        _ => &["constant", "broadcast_in_dim"],
                    };
                    check(DType::Bool, &[0, 1, 1], &f, if c { &[] } else { constant });
                }
            }
            let same =
                |cx: &dyn Emit, x: Val| cx.compare(x, if truth { Eq } else { Ne }, fixed(cx));
            check(DType::Bool, &[1, 0, 1], &same, &[]);
        }
        for (c, first) in compared {
            let f = |cx: &dyn Emit, x: Val| {
                let zero = cx.full_like(x, 0.0);
                let (a, b) = if first { (x, zero) } else { (zero, x) };
                cx.compare(a, c, b)
            };
            let decided = !matches!(c, Eq | Ne);
            let name = ["eq", "ne", "lt", "le", "gt", "ge"];
            let at = [Eq, Ne, Lt, Le, Gt, Ge]
                .iter()
                .position(|&d| d == c)
                .unwrap();
            let whole = ["constant", name[at]];
            let left = if decided { &whole[..1] } else { &whole[..] };
            check(DType::U32, &[0, 7, 1 << 31], &f, left);
            check(DType::I32, &[0, 7, -3], &f, &whole);
        }
    }
}

#[test]
fn products_of_all_pairs_are_elementwise_to_the_bit() {
    let f = build(Type::new(DType::F64, [5]), |cx, x| {
        let all = cx.op(DotGeneral::default(), &[x, cx.exp(x)]);
        cx.transpose(all, &[1, 0])
    });
    let g = simplify(&f);
    assert_eq!(
        ops(&g),
        ["exp", "broadcast_in_dim", "broadcast_in_dim", "mul"]
    );
    let x = Array::vector(vec![-0.0, 0.0, f64::NAN, f64::NEG_INFINITY, -1e-320]);
    let [want, got] = [&f, &g].map(|f| {
        reference::run(f, std::slice::from_ref(&x))
            .unwrap()
            .remove(0)
    });
    assert!(got.same_bits(&want), "{got:?}\n{want:?}");
}

#[test]
fn a_transposed_product_is_the_product_of_the_exchanged_factors() {
    let contract = |batch: &[usize], left: usize, right: usize| DotGeneral {
        lhs_batch: batch.to_vec(),
        rhs_batch: batch.to_vec(),
        lhs_contract: vec![left],
        rhs_contract: vec![right],
        ..DotGeneral::default()
    };
    let product = |dtype: DType, d: DotGeneral, perm: &[usize], twice: bool| {
        let [mut a, mut c] = [vec![3, 4], vec![4, 5]];
        if !d.lhs_batch.is_empty() {
            a.insert(0, 2);
            c.insert(0, 2);
        }
        let b = Builder::new("f", Session::default());
        let x = [a, c].map(|shape| b.param(Type::new(dtype, &shape[..]), None));
        let y = (&b as &dyn Emit).dot_general(x[0], x[1], d);
        let turned = (&b as &dyn Emit).transpose(y, perm);
        let results = [turned, y];
        b.finish(&results[..1 + usize::from(twice)]).unwrap()
    };
    let f64 = DType::F64;
    let cases = [
        (product(f64, contract(&[], 1, 0), &[1, 0], false), true),
        (product(f64, contract(&[0], 2, 1), &[0, 2, 1], false), true),
        (
            product(DType::I32, contract(&[], 1, 0), &[1, 0], false),
            true,
        ),
        // Other axes, a product that is read again, and complex numbers.
        (product(f64, contract(&[0], 2, 1), &[2, 0, 1], false), false),
        (product(f64, contract(&[], 1, 0), &[1, 0], true), false),
        (
            product(DType::C128, contract(&[], 1, 0), &[1, 0], false),
            false,
        ),
    ];
    for (f, exchanged) in cases {
        let g = simplify(&f);
        let want: &[&str] = match exchanged {
            true => &["dot_general"],
            false => &["dot_general", "transpose"],
        };
        assert_eq!(ops(&g), want, "{f}");
        let x = f.params().iter().map(|&p| {
            let ty = f.ty(p);
            let shape = ty.shape.as_const().unwrap();
            let n: usize = shape.iter().product();
            let v = (0..n).map(|k| (1.7 * k as f64).sin() * 9.0);
            match ty.dtype {
                DType::I32 => Array::from_vec(shape, v.map(|x| x as i32).collect()),
                DType::C128 => Array::from_vec(shape, v.map(|x| C128::new(x, 1.0 - x)).collect()),
                _ => Array::from_vec(shape, v.collect()),
            }
            .unwrap()
        });
        let x: Vec<Array> = x.collect();
        let [want, got] = [&f, &g].map(|f| reference::run(f, &x).unwrap().remove(0));
        assert!(got.same_bits(&want), "{f}\n{got:?}\n{want:?}");
    }
}

#[test]
fn views_compose() {
    let ty = Type::new(DType::F64, [2, 3, 4]);
    let f = |cx: &dyn Emit, x: Val| cx.transpose(cx.transpose(x, &[1, 2, 0]), &[2, 0, 1]);
    assert!(simple(ty.clone(), f).is_empty());
    let f = |cx: &dyn Emit, x: Val| cx.reshape(cx.reshape(x, &[24.into()]), &[2.into(), 12.into()]);
    assert_eq!(simple(ty, f), ["reshape"]);
    let f = |cx: &dyn Emit, x: Val| {
        let y = cx.op(Op::from(Unary::Sin), &[x]);
        let y = cx.broadcast_in_dim(y, &[3.into(), 2.into()], &[0]);
        cx.broadcast_in_dim(y, &[3.into(), 4.into(), 2.into()], &[0, 2])
    };
    assert_eq!(
        simple(Type::new(DType::F64, [3]), f),
        ["sin", "broadcast_in_dim"]
    );
}

#[test]
fn per_row_values_are_computed_per_row() {
    let ty = Type::new(DType::F64, [3, 4]);
    // The reduced axis is kept with length 1, and broadcast again.
    let f = |cx: &dyn Emit, x: Val| {
        let s = cx.broadcast_in_dim(cx.reduce_sum(x, &[1]), &[3.into(), 1.into()], &[0]);
        let number = cx.broadcast_in_dim(
            cx.full_like(cx.reduce_sum(x, &[0, 1]), 4.0),
            &[3.into(), 1.into()],
            &[],
        );
        let mean = cx.div(s, number);
        let y = cx.sub(x, cx.broadcast_in_dim(mean, &[3.into(), 4.into()], &[0, 1]));
        cx.reduce_sum(
            cx.reshape(cx.reduce_sum(y, &[1]), &[3.into(), 1.into()]),
            &[1],
        )
    };
    let g = simplify(&build(ty.clone(), f));
    let names = [
        "reduce_sum",
        "constant",
        "broadcast_in_dim",
        "div",
        "broadcast_in_dim",
        "sub",
        "reduce_sum",
    ];
    assert_eq!(ops(&g), names);
    let x = Array::from_vec(
        vec![3, 4],
        (0..12).map(|i| f64::from(i * i) / 7.0).collect(),
    )
    .unwrap();
    let both = [&build(ty.clone(), f), &g]
        .map(|f| reference::run(f, std::slice::from_ref(&x)).unwrap()[0].to_f64());
    assert_eq!(both[0], both[1]);
    // A quotient of two per-row values is computed per row; a quotient with another value is not.
    let f = |cx: &dyn Emit, x: Val| {
        let s = cx.broadcast_in_dim(cx.reduce_sum(x, &[0]), &[3.into(), 4.into()], &[1]);
        cx.mul(x, cx.div(cx.full_like(s, 1.0), s))
    };
    assert_eq!(
        simple(ty.clone(), f),
        ["reduce_sum", "constant", "div", "broadcast_in_dim", "mul"]
    );
    let f =
        |cx: &dyn Emit, x: Val| cx.reduce_sum(cx.reshape(x, &[3.into(), 1.into(), 4.into()]), &[1]);
    assert!(simple(ty, f).is_empty());
}

#[test]
fn derivative_of_sum_of_sin_reads_as_cos_times_the_broadcast_seed() {
    let f = build(Type::new(DType::F32, vec![Dim::sym("?a")]), |cx, x| {
        cx.reduce_sum(cx.sin(x), &[0])
    });
    let g = simplify(&grad(&AdContext::default(), &f, f.params()).unwrap());
    assert_eq!(ops(&g), ["cos", "constant", "broadcast_in_dim", "mul"]);
}

#[test]
fn stop_gradient_stays() {
    let f = build(scalar(), |cx, x| {
        cx.op(Binary::Mul, &[x, cx.stop_gradient(x)])
    });
    let g = simplify(&grad(&AdContext::default(), &f, f.params()).unwrap());
    let h = grad(&AdContext::default(), &g, g.params()).unwrap();
    assert_eq!(
        reference::run(&h, &[Array::scalar(3.0)]).unwrap()[0].to_f64(),
        [0.0]
    );
}

#[test]
fn a_doubling_chain_has_a_linear_gradient() {
    let f = build(scalar(), |cx, x| (0..60).fold(x, |y, _| cx.add(y, y)));
    let g = simplify(&grad(&AdContext::default(), &f, f.params()).unwrap());
    assert!(g.eqns().len() <= 62, "{} operations", g.eqns().len());
    assert_eq!(
        reference::run(&g, &[Array::scalar(1.0)]).unwrap()[0].to_f64(),
        [2f64.powi(60)]
    );
}

/// A gather of rows, elements or columns of `x`, with its indices as an array.
fn gathers() -> Vec<(Windows, Vec<usize>, Array)> {
    let indices = |shape: &[usize], v: &[i32]| Array::from_vec(shape, v.to_vec()).unwrap();
    vec![
        (
            Windows::parts(2, 0, 1),
            vec![1, 5],
            indices(&[6], &[3, 0, 9, 3, -1, 2]),
        ),
        (
            Windows::parts(2, 1, 1),
            vec![4, 1],
            indices(&[6], &[3, 0, 9, 3, -1, 2]),
        ),
        (
            Windows::parts(2, 0, 2),
            vec![1, 5],
            indices(&[3, 2], &[3, 0, 9, 3, -1, 2]),
        ),
        (
            Windows::along(2, 1),
            vec![1, 1],
            indices(&[4, 3], &[4, 0, 9, 3, -1, 2, 2, 2, 2, 0, 1, 0]),
        ),
        (
            Windows::along(2, 0),
            vec![1, 1],
            indices(&[3, 5], &[3, 0, 9, 3, -1, 2, 2, 2, 2, 0, 1, 0, 3, 3, 1]),
        ),
    ]
}

/// Slices of one axis, and of all axes.
fn cuts(shape: &[usize]) -> Vec<Slice> {
    let whole = |n: &usize| (0, *n, 1);
    let mut all: Vec<Vec<(usize, usize, usize)>> =
        vec![shape.iter().map(|&n| (n / 2, n, 2)).collect()];
    for (k, &n) in shape.iter().enumerate() {
        for cut in [(0, 1, 1), (1, 1, 1), (n - 1, n, 1), (0, n, 3), (1, n, 1)] {
            let mut axes: Vec<_> = shape.iter().map(whole).collect();
            axes[k] = cut;
            all.push(axes);
        }
    }
    let slice = |axes: Vec<(usize, usize, usize)>| Slice {
        start: axes.iter().map(|a| Dim::Const(a.0)).collect(),
        limit: axes.iter().map(|a| Dim::Const(a.1)).collect(),
        stride: axes.iter().map(|a| a.2).collect(),
    };
    all.into_iter().map(slice).collect()
}

/// A window without elements may be read at an axis of extent 0, which has no slice of extent 1.
#[test]
fn windows_without_elements_stay_gathers() {
    let x = Array::zeros(DType::F64, [0, 0]).unwrap();
    for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
        let sizes = [Dim::Const(1), Dim::Const(0)];
        let f = build(x.ty(), |cx, x| {
            let indices = cx.constant(Array::from_vec([1], vec![0i32]).unwrap());
            cx.gather(&Windows::parts(2, 0, 1), &sizes, bounds, x, indices)
        });
        let simple = simplify(&f);
        assert_eq!(ops(&simple), ["constant", "gather"]);
        let y = reference::run(&simple, std::slice::from_ref(&x)).unwrap();
        assert_eq!(y[0].shape(), [1, 0]);
    }
}

#[test]
fn parts_of_gathers_and_their_adjoints_have_fewer_indices_and_the_same_bits() {
    let x = Array::from_vec(
        [4, 5],
        (0..20).map(|i| 1.0 / f64::from(i - 7)).collect::<Vec<_>>(),
    )
    .unwrap();
    let mut fewer = 0;
    for (windows, sizes, indices) in gathers() {
        for bounds in [Bounds::Clip, Bounds::Drop, Bounds::Error] {
            let sizes: Vec<Dim> = sizes.iter().map(|&n| Dim::Const(n)).collect();
            let read = |cx: &dyn Emit, x: Val| {
                cx.gather(&windows, &sizes, bounds, x, cx.constant(indices.clone()))
            };
            let shape = build(x.ty(), read).result_types()[0]
                .shape
                .as_const()
                .unwrap();
            for cut in cuts(&shape) {
                let f = build(x.ty(), |cx, x| cx.op(cut.clone(), &[read(cx, x)]));
                let weights = |cx: &dyn Emit, y: Val| cx.mul(y, cx.full_like(y, -0.3));
                let sum = build(x.ty(), |cx, x| {
                    let y = weights(cx, cx.op(cut.clone(), &[read(cx, x)]));
                    cx.reduce_sum(cx.mul(y, y), &(0..shape.len()).collect::<Vec<_>>())
                });
                let derived = grad(&AdContext::default(), &sum, &[sum.params()[0]]).unwrap();
                for f in [f, derived] {
                    let (whole, simple) =
                        (reference::run(&f, std::slice::from_ref(&x)), simplify(&f));
                    match (whole, reference::run(&simple, std::slice::from_ref(&x))) {
                        (Ok(a), Ok(b)) => {
                            assert!(a[0].same_bits(&b[0]), "{cut:?} of {f}\nbecomes {simple}")
                        }
                        (Err(_), Err(_)) => assert_eq!(bounds, Bounds::Error),
                        (a, b) => panic!("{a:?} and {b:?} of {f}\nand {simple}"),
                    }
                    let names = ops(&simple);
                    fewer +=
                        usize::from(!names.iter().any(|n| n == "pad") && bounds != Bounds::Error);
                    assert!(
                        bounds != Bounds::Error
                            || names.iter().any(|n| n == "slice" || n == "pad")
                            || cut.limit.iter().zip(&shape).all(|(l, &n)| l.is(n)),
                        "{simple}"
                    );
                }
            }
        }
    }
    assert!(fewer > 100, "{fewer} have fewer indices");
}

#[test]
fn the_gradient_of_first_elements_reads_first_elements() {
    let ty = Type::new(DType::F64, [3, 100]);
    let f = build(ty, |cx, x| {
        let sorted = cx.sort(x, 1, true);
        let first = Slice {
            start: vec![Dim::Const(0); 2],
            limit: vec![3.into(), 10.into()],
            stride: vec![1; 2],
        };
        cx.reduce_sum(cx.exp(cx.op(first, &[sorted])), &[0, 1])
    });
    let g = simplify(&grad(&AdContext::default(), &f, &[f.params()[0]]).unwrap());
    assert!(!ops(&g).iter().any(|name| name == "pad"), "{g}");
    let widest = g
        .eqns()
        .iter()
        .filter(|e| e.op.name() == "scatter")
        .map(|e| g.ty(g.operands(e)[2]).shape.clone());
    assert_eq!(widest.collect::<Vec<_>>(), [[3, 10].as_slice().into()]);
}

/// Numbers of both signs, zeros of both, and infinities, in an order by this seed.
fn special(shape: &[usize], seed: usize) -> Array {
    let all = [0.0, -0.0, 1.5, -2.5, f64::INFINITY, f64::NEG_INFINITY, 0.1];
    let n: usize = shape.iter().product();
    let x = (0..n).map(|k| all[(k * 5 + seed + k / 7) % all.len()]);
    Array::from_vec(shape.to_vec(), x.collect::<Vec<f64>>()).unwrap()
}

#[test]
fn sums_of_padded_arrays_that_fill_a_shape_are_concatenations_to_the_bit() {
    let parts = |cx: &dyn Emit, x: Val, axis: usize, at: i64, gap: i64| {
        let n = cx.ty(x).shape[axis].as_const().unwrap() as i64;
        let pad = |v: Val, low: i64, high: i64| {
            let along =
                |k: i64| -> Vec<i64> { (0..2).map(|a| if a == axis { k } else { 0 }).collect() };
            cx.pad_zeros(v, &along(low), &along(high), &[0, 0])
        };
        let first = pad(cx.slice_axis(x, axis, 0, at as usize), 0, n - at);
        let second = pad(
            cx.slice_axis(x, axis, (at + gap) as usize, n as usize),
            at + gap,
            0,
        );
        [first, second]
    };
    // The factors, the order of the terms, and the number of pads that are left.
    for (axis, gap, swapped, rest, left) in [
        (0, 0, false, true, 0),
        (1, 0, false, true, 0),
        (1, 0, true, true, 0),
        (0, 0, false, false, 0),
        // The middle terms fill the shape, the others do not.
        (1, 1, false, true, 1),
    ] {
        let f = build(Type::new(DType::F64, [6, 5]), |cx, x| {
            let mut y = if rest { cx.neg(cx.neg(cx.sin(x))) } else { x };
            for k in 0..2 {
                let [a, b] = parts(cx, cx.mul(x, x), axis, 2 + k, gap);
                let [a, b] = if swapped { [b, a] } else { [a, b] };
                y = match (rest, k) {
                    (false, 0) => cx.add(a, b),
                    _ => cx.add(cx.add(y, a), b),
                };
            }
            y
        });
        let g = simplify(&f);
        let what = format!("axis {axis}, gap {gap}, {swapped}, {rest}\n{g}");
        let pads = ops(&g).iter().filter(|n| *n == "pad").count();
        assert_eq!(pads, 2 * left, "{what}");
        for seed in 0..7 {
            let x = special(&[6, 5], seed);
            let run = |f: &Function| reference::run(f, std::slice::from_ref(&x)).unwrap();
            let (want, got) = (&run(&f)[0], &run(&g)[0]);
            // NaN has no sign.
            let bits = |a: &Array| -> Vec<u64> {
                let bits = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
                a.to_f64().into_iter().map(bits).collect()
            };
            assert_eq!(bits(want), bits(got), "{what}");
        }
    }
}

#[test]
fn the_gradient_of_a_roll_is_a_roll() {
    let f = build(Type::new(DType::F64, [6, 5]), |cx, x| {
        let roll = |axis: usize, n: usize, by: usize| {
            let [a, b] = [(n - by, n), (0, n - by)].map(|(i, j)| cx.slice_axis(x, axis, i, j));
            cx.concatenate(&[a, b], axis)
        };
        let y = cx.add(
            cx.mul(x, roll(0, 6, 1)),
            cx.mul(roll(1, 5, 2), roll(1, 5, 4)),
        );
        cx.reduce_sum(y, &[0, 1])
    });
    let g = simplify(&grad(&AdContext::default(), &f, f.params()).unwrap());
    let count = |name: &str| ops(&g).iter().filter(|n| *n == name).count();
    assert_eq!((count("pad"), count("concatenate")), (0, 6), "{g}");
}
