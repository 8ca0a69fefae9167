//! Values of composites on numbers and their order: division toward -inf, signs, neighbours,
//! shifted and repeated elements, positions in sorted vectors.

use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, Session, grad};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Type, Val, reference};

fn function(types: &[Type], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = f(&b, &x);
    b.finish(&[y]).unwrap()
}

/// The result, which simplification must not change.
fn value(x: &[Array], f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Array {
    let types: Vec<Type> = x.iter().map(Array::ty).collect();
    let f = function(&types, f);
    let y = reference::run(&f, x).unwrap().remove(0);
    let z = reference::run(&simplify(&f), x).unwrap().remove(0);
    let bits = |a: &Array| a.to_f64().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&y), bits(&z), "simplified");
    y
}

fn same(got: f64, want: f64) -> bool {
    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan()
}

/// All pairs of these numbers.
fn pairs<T: Copy>(v: &[T]) -> (Vec<T>, Vec<T>) {
    v.iter()
        .flat_map(|&x| v.iter().map(move |&y| (x, y)))
        .unzip()
}

#[test]
fn quotients_round_toward_minus_infinity_and_remainders_have_the_sign_of_the_divisor() {
    // Quotients of these numbers are integers, or at least 1/40 away from them.
    let quarters: Vec<f64> = (-20..=20).map(|k| f64::from(k) / 4.0).collect();
    let (x, y) = pairs(&quarters);
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let args = || [Array::vector(x.clone()), Array::vector(y.clone())];
        let of = |op: fn(&dyn Emit, Val, Val) -> Val| {
            value(&args(), |cx, v| {
                let of = |v: Val| cx.convert(v, dtype);
                cx.convert(op(cx, of(v[0]), of(v[1])), DType::F64)
            })
            .to_f64()
        };
        let (q, r) = (
            of(|cx, x, y| cx.floor_divide(x, y)),
            of(|cx, x, y| cx.floor_mod(x, y)),
        );
        for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
            let (want_q, want_r) = match y == 0.0 {
                true => (x / y, f64::NAN),
                false => ((x / y).floor(), x - (x / y).floor() * y),
            };
            let want_r = if want_r == 0.0 {
                want_r.copysign(y)
            } else {
                want_r
            };
            assert!(
                same(q[i], want_q),
                "{dtype}: {x} // {y} = {}, not {want_q}",
                q[i]
            );
            assert!(
                same(r[i], want_r),
                "{dtype}: {x} mod {y} = {}, not {want_r}",
                r[i]
            );
        }
    }
}

#[test]
fn quotients_at_infinities_are_the_array_api_s_and_remainders_numpy_s() {
    let inf = f64::INFINITY;
    for (x, y, q, r) in [
        (inf, 1.0, inf, f64::NAN),
        (-inf, 2.0, -inf, f64::NAN),
        (inf, inf, f64::NAN, f64::NAN),
        (1.0, inf, 0.0, 1.0),
        (-1.0, inf, -0.0, inf),
        (1.0, -inf, -0.0, -inf),
        (-1.0, -inf, 0.0, -1.0),
        (-0.0, 1.0, -0.0, 0.0),
        (0.0, -1.0, -0.0, -0.0),
        (f64::NAN, 1.0, f64::NAN, f64::NAN),
        (1e300, 1e-10, 1e300 / 1e-10, 1e300 % 1e-10),
        // The quotient rounds up to 10, but 10 times 0.1 is more than 1.
        (1.0, 0.1, 9.0, 1.0 % 0.1),
        (-1.0, 0.1, -10.0, 0.1 - 1.0 % 0.1),
    ] {
        let args = [Array::scalar(x), Array::scalar(y)];
        let got = value(&args, |cx, v| cx.floor_divide(v[0], v[1])).to_f64()[0];
        assert!(same(got, q), "{x} // {y} = {got}");
        let got = value(&args, |cx, v| cx.floor_mod(v[0], v[1])).to_f64()[0];
        assert!(same(got, r), "{x} mod {y} = {got}");
    }
}

#[test]
fn integers_divide_toward_minus_infinity() {
    let (x, y) = pairs(&[-128i8, -127, -7, -3, -2, -1, 0, 1, 2, 3, 7, 127]);
    let args = [Array::vector(x.clone()), Array::vector(y.clone())];
    let q = value(&args, |cx, v| cx.floor_divide(v[0], v[1]));
    let r = value(&args, |cx, v| cx.floor_mod(v[0], v[1]));
    for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
        let (want_q, want_r) = match y {
            0 => (-1, x),
            y => {
                let q = (f64::from(x) / f64::from(y)).floor() as i32;
                (q as i8, (i32::from(x) - q * i32::from(y)) as i8)
            }
        };
        assert_eq!(q.as_slice::<i8>().unwrap()[i], want_q, "{x} // {y}");
        assert_eq!(r.as_slice::<i8>().unwrap()[i], want_r, "{x} mod {y}");
    }
    let args = [Array::vector(vec![200u8, 7]), Array::vector(vec![3u8, 9])];
    let q = value(&args, |cx, v| cx.floor_divide(v[0], v[1]));
    assert_eq!(q.as_slice::<u8>().unwrap(), [66, 0]);
}

#[test]
fn derivatives_of_remainders_are_those_of_their_formula() {
    let f = function(
        &[Type::scalar(DType::F64), Type::scalar(DType::F64)],
        |cx, v| cx.floor_mod(v[0], v[1]),
    );
    let g = grad(&AdContext::default(), &f, f.params()).unwrap();
    for (x, y) in [
        (5.5f64, 2.0),
        (-5.5, 2.0),
        (5.5, -2.0),
        (4.0, 2.0),
        (0.0, 3.0),
        (0.0, -3.0),
    ] {
        let d = reference::run(&g, &[Array::scalar(x), Array::scalar(y)]).unwrap();
        let d: Vec<f64> = d.iter().map(|d| d.to_f64()[0]).collect();
        assert_eq!(d, [1.0, -(x / y).floor()], "at {x} mod {y}");
    }
}

#[test]
fn signs_are_copied_also_of_zeros_and_nan() {
    let numbers = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        f64::INFINITY,
        -f64::INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    let (x, y) = pairs(&numbers);
    let args = [Array::vector(x.clone()), Array::vector(y.clone())];
    let got = value(&args, |cx, v| cx.copysign(v[0], v[1])).to_f64();
    for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
        assert_eq!(
            got[i].to_bits(),
            x.copysign(y).to_bits(),
            "{x} with the sign of {y}"
        );
    }
    let bits = value(&args[..1], |cx, v| cx.signbit(v[0]));
    let want: Vec<bool> = x.iter().map(|x| x.is_sign_negative()).collect();
    assert_eq!(bits.as_slice::<bool>().unwrap(), want);
    let ints = value(&[Array::vector(vec![-3i32, 0, 4])], |cx, v| {
        cx.signbit(v[0])
    });
    assert_eq!(ints.as_slice::<bool>().unwrap(), [true, false, false]);
}

fn matrix() -> Array {
    Array::from_vec([2, 3], vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0]).unwrap()
}

#[test]
fn elements_are_rolled_tiled_repeated_and_compared() {
    let rolled = |shift, axis| value(&[matrix()], |cx, v| cx.roll(v[0], shift, axis)).to_f64();
    for shift in -7..=7i64 {
        let x = matrix().to_f64();
        let at = |i: usize, j: usize| x[i * 3 + (j as i64 - shift).rem_euclid(3) as usize];
        let want: Vec<f64> = (0..6).map(|k| at(k / 3, k % 3)).collect();
        assert_eq!(rolled(shift, 1), want, "by {shift}");
    }
    assert_eq!(rolled(1, 0), [8.0, 16.0, 32.0, 1.0, 2.0, 4.0]);
    let empty = value(&[Array::vector(Vec::<f64>::new())], |cx, v| {
        cx.roll(v[0], 1, 0)
    });
    assert_eq!(empty.shape(), [0]);
    let tiled = |counts: &[usize]| {
        let counts: Vec<Dim> = counts.iter().map(|&n| Dim::from(n)).collect();
        value(&[Array::vector(vec![1.0, 2.0])], |cx, v| {
            cx.tile(v[0], &counts)
        })
    };
    assert_eq!(tiled(&[2]).to_f64(), [1.0, 2.0, 1.0, 2.0]);
    assert_eq!(
        (tiled(&[3, 1]).shape(), tiled(&[0]).shape()),
        (&[3, 2][..], &[0][..])
    );
    let rows = value(&[matrix()], |cx, v| cx.tile(v[0], &[Dim::from(2)]));
    assert_eq!(rows.to_f64()[..6], [1.0, 2.0, 4.0, 1.0, 2.0, 4.0]);
    let repeated = value(&[matrix()], |cx, v| cx.repeat(v[0], &Dim::from(2), 1));
    assert_eq!(repeated.to_f64()[..6], [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
    let differences = |n| value(&[matrix()], |cx, v| cx.diff(v[0], n, 1)).to_f64();
    assert_eq!(differences(0), matrix().to_f64());
    assert_eq!(differences(1), [1.0, 2.0, 8.0, 16.0]);
    assert_eq!(differences(2), [1.0, 8.0]);
    assert!(differences(3).is_empty() && differences(5).is_empty());
    let changes = value(&[Array::vector(vec![true, true, false])], |cx, v| {
        cx.diff(v[0], 1, 0)
    });
    assert_eq!(changes.as_slice::<bool>().unwrap(), [false, true]);
    // One program for every extent.
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::new(DType::F64, vec![Dim::sym("n")]), None);
    let cx: &dyn Emit = &b;
    let y = cx.concatenate(&[cx.roll(x, 2, 0), cx.roll(x, -1, 0), cx.diff(x, 1, 0)], 0);
    let f = b.finish(&[y]).unwrap();
    let y = reference::run(&f, &[Array::vector(vec![1.0, 2.0, 4.0])]).unwrap();
    assert_eq!(y[0].to_f64(), [2.0, 4.0, 1.0, 2.0, 4.0, 1.0, 1.0, 2.0]);
}

#[test]
fn a_cross_product_is_that_of_its_determinant() {
    let (x, y) = (vec![1.0, 2.0, 4.0], vec![3.0, -1.0, 5.0]);
    let want = [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ];
    let args = [Array::vector(x.clone()), Array::vector(y.clone())];
    assert_eq!(value(&args, |cx, v| cx.cross(v[0], v[1], 0)).to_f64(), want);
    let column = |v: &[f64]| {
        Array::from_vec([3, 2], v.iter().flat_map(|&x| [x, 2.0 * x]).collect()).unwrap()
    };
    let got = value(&[column(&x), column(&y)], |cx, v| cx.cross(v[0], v[1], 0)).to_f64();
    assert_eq!(got, want.map(|w| [w, 4.0 * w]).concat());
}

#[test]
fn positions_keep_a_vector_sorted() {
    let nan = f64::NAN;
    let rank = |x: f64| if x.is_nan() { (1, 0.0) } else { (0, x) };
    for sorted in [
        vec![],
        vec![1.0],
        vec![1.0, 1.0, 2.0],
        vec![-f64::INFINITY, -1.0, 0.0, 0.0, 3.0, f64::INFINITY, nan, nan],
        (0..100).map(|k| f64::from(k / 3)).collect(),
    ] {
        let v = vec![
            nan,
            -f64::INFINITY,
            -1.0,
            -0.0,
            0.0,
            1.0,
            1.5,
            2.0,
            33.0,
            f64::INFINITY,
        ];
        for right in [false, true] {
            let args = [Array::vector(sorted.clone()), Array::vector(v.clone())];
            let got = value(&args, |cx, x| cx.searchsorted(x[0], x[1], right));
            for (&v, &at) in v.iter().zip(got.as_slice::<i64>().unwrap()) {
                let before = |x: &&f64| match right {
                    true => rank(**x) <= rank(v),
                    false => rank(**x) < rank(v),
                };
                let want = sorted.iter().filter(before).count();
                assert_eq!(at, want as i64, "{v} in {sorted:?}, right: {right}");
            }
        }
    }
    let ints = [
        Array::vector(vec![1u8, 3, 200]),
        Array::from_vec([2, 1], vec![3u8, 255]).unwrap(),
    ];
    let got = value(&ints, |cx, x| cx.searchsorted(x[0], x[1], false));
    assert_eq!(
        (got.shape(), got.as_slice::<i64>().unwrap()),
        (&[2, 1][..], &[1, 3][..])
    );
}

#[test]
fn diagonals_of_booleans_are_booleans() {
    let x = Array::from_vec([2, 3], vec![true, false, false, true, false, true]).unwrap();
    let d = value(std::slice::from_ref(&x), |cx, v| cx.diagonal(v[0]));
    assert_eq!(d.as_slice::<bool>().unwrap(), [true, false]);
    let t = value(&[x], |cx, v| cx.trace(v[0]));
    assert_eq!(t.as_slice::<bool>().unwrap(), [true]);
}
