//! Lines 107 to 120: complex derivatives, in this crate's convention and in JAX's.

use super::*;
use cotangent_core::check::{Options, check_function, check_op, retype};
use cotangent_core::transform::{holomorphic_derivative, to_jax_convention};

fn c(re: f64, im: f64) -> C128 {
    C128::new(re, im)
}

fn complex(n: &[usize]) -> Type {
    Type::new(DType::C128, n)
}

/// A function of one complex number.
fn of_z(f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build([complex(&[])], |cx, [z]| vec![f(cx, z)])
}

fn close_c(got: C128, want: C128) {
    assert!(
        (got - want).norm() <= 1e-5 * want.norm().max(1.0),
        "{got} is not {want}"
    );
}

/// The pullback of the cotangent 1 (a real loss), or of `ct`, in this crate's convention and in
/// JAX's.
fn both(f: &Function, x: Array, ct: Option<Array>) -> [C128; 2] {
    let derived = match ct {
        None => grad(&ad(), f, f.params()).unwrap(),
        Some(_) => vjp(&ad(), f, f.params()).unwrap(),
    };
    let jax = to_jax_convention(&derived, 1).unwrap();
    let args: Vec<Array> = [Some(x), ct].into_iter().flatten().collect();
    [derived, jax].map(|f| run(&f, &args)[0].to_c128()[0])
}

/// Name, function, argument, cotangent, and the derivatives in this crate's and in JAX's
/// convention.
type ConventionRow<'a> = (&'a str, Function, Array, Option<Array>, C128, C128);

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn l107_to_l115_twelve_rows_in_both_conventions() {
    let z = || Array::scalar(c(1.0, 2.0));
    let one = || Some(Array::scalar(c(1.0, 0.0)));
    let i = c(0.0, 1.0);
    let times = |cx: &dyn Emit, z: Val, by: C128| cx.mul(cx.full_like(z, by), z);
    let cube = of_z(|cx, z| cx.mul(cx.mul(z, z), z));
    let lift = build([f64s(&[])], |cx, [x]| {
        vec![cx.complex(x, cx.scale_by(2.0, x))]
    });
    let exp = 1.462094;
    let rows: [ConventionRow<'_>; 12] = [
        (
            "|z|²",
            of_z(|cx, z| cx.abs2(z)),
            z(),
            None,
            c(2.0, 4.0),
            c(2.0, -4.0),
        ),
        (
            "real",
            of_z(|cx, z| cx.real(z)),
            z(),
            None,
            c(1.0, 0.0),
            c(1.0, 0.0),
        ),
        ("imag", of_z(|cx, z| cx.imag(z)), z(), None, i, -i),
        (
            "angle",
            of_z(|cx, z| cx.angle(z)),
            z(),
            None,
            c(-0.4, 0.2),
            c(-0.4, -0.2),
        ),
        (
            "|z| at 0",
            of_z(|cx, z| cx.abs(z)),
            Array::scalar(c(0.0, 0.0)),
            None,
            c(0.0, 0.0),
            c(0.0, 0.0),
        ),
        (
            "|z|",
            of_z(|cx, z| cx.abs(z)),
            Array::scalar(c(3.0, 4.0)),
            None,
            c(0.6, 0.8),
            c(0.6, -0.8),
        ),
        (
            "(2+i)z",
            of_z(|cx, z| times(cx, z, c(2.0, 1.0))),
            z(),
            one(),
            c(2.0, -1.0),
            c(2.0, 1.0),
        ),
        (
            "conj",
            of_z(|cx, z| cx.conj(z)),
            z(),
            Some(Array::scalar(i)),
            -i,
            -i,
        ),
        (
            "exp",
            of_z(|cx, z| cx.exp(z)),
            Array::scalar(c(0.4, -0.2)),
            one(),
            c(exp, 0.296381),
            c(exp, -0.296381),
        ),
        ("z³", cube, z(), one(), c(-9.0, -12.0), c(-9.0, 12.0)),
        (
            "x + 2ix",
            lift,
            Array::scalar(1.0),
            Some(Array::scalar(c(1.0, 1.0))),
            c(3.0, 0.0),
            c(-1.0, 0.0),
        ),
        (
            "z²",
            of_z(|cx, z| cx.mul(z, z)),
            z(),
            Some(Array::scalar(i)),
            c(4.0, 2.0),
            c(-4.0, 2.0),
        ),
    ];
    for (name, f, x, ct, ours, jax) in rows {
        let got = both(&f, x, ct);
        println!("{name}: {got:?}");
        close_c(got[0], ours);
        close_c(got[1], jax);
    }
}

#[test]
fn l114_holomorphic_derivative() {
    let f = of_z(|cx, z| cx.mul(cx.mul(z, z), z));
    let d = holomorphic_derivative(&ad(), &f, f.params()).unwrap();
    close_c(
        run(&d, &[Array::scalar(c(1.0, 2.0))])[0].to_c128()[0],
        c(-9.0, 12.0),
    );
    let real = scalars(|cx, [x]| cx.exp(x));
    assert!(holomorphic_derivative(&ad(), &real, real.params()).is_err());
}

#[test]
fn l116_real_gradients_are_real() {
    let f = scalars(|cx, [x]| {
        cx.abs2(cx.mul(
            cx.convert(x, DType::C128),
            cx.full(&complex(&[]), c(1.0, 2.0)),
        ))
    });
    let g = run(&grad(&ad(), &f, f.params()).unwrap(), &at([3.0]));
    assert_eq!(g[0].dtype(), DType::F64);
    close(&g[0].to_f64(), &[30.0]);
}

#[test]
fn l117_branch_cuts_and_points() {
    let log = of_z(|cx, z| cx.log(z));
    let d = holomorphic_derivative(&ad(), &log, log.params()).unwrap();
    close_c(
        run(&d, &[Array::scalar(c(-1.0, 0.0))])[0].to_c128()[0],
        c(-1.0, 0.0),
    );
    let sqrt = of_z(|cx, z| cx.sqrt(z));
    let d = holomorphic_derivative(&ad(), &sqrt, sqrt.params()).unwrap();
    let at_zero = run(&d, &[Array::scalar(c(0.0, 0.0))])[0].to_c128()[0];
    assert!(!at_zero.is_finite(), "{at_zero}");
}

#[test]
fn l118_a_complex_loss_is_an_error() {
    let f = of_z(|cx, z| cx.exp(z));
    let e = grad(&ad(), &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::ComplexLoss);
    for part in ["c128", "abs2", "vjp", "holomorphic_derivative"] {
        assert!(e.message().contains(part), "`{part}` is missing in: {e}");
    }
}

#[test]
fn l119_every_operation_on_complex_numbers_keeps_the_adjoint_law() {
    let mut checked = 0;
    for entry in cotangent_core::ops::entries() {
        let own = (entry.samples)(entry.name);
        let turned = own
            .iter()
            .filter_map(|s| retype(s, DType::C128))
            .collect::<Vec<_>>();
        for s in own
            .iter()
            .chain(&turned)
            .filter(|s| s.operands.iter().any(|x| x.dtype() == DType::C128))
        {
            check_op(&ad(), s).unwrap();
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked} samples");
}

#[test]
fn l120_forward_over_reverse_of_a_square() {
    // L = Re z²: the gradient is 2 conj(z), its derivative along t is 2 conj(t).
    let f = of_z(|cx, z| cx.real(cx.mul(z, z)));
    let h = run(
        &hvp(&ad(), &f, f.params()).unwrap(),
        &[Array::scalar(c(1.0, 2.0)), Array::scalar(c(1.0, 0.0))],
    );
    close_c(h[0].to_c128()[0], c(2.0, 0.0));
    let report = check_function(
        &ad(),
        &f,
        &[Array::scalar(c(1.0, 2.0))],
        &Options::default(),
    )
    .unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn real_graphs_have_no_conjugates() {
    let f = build([f64s(&[3]), f64s(&[3])], |cx, [x, y]| {
        vec![cx.reduce_sum(cx.div(cx.mul(cx.exp(x), y), cx.cosh(y)), &[0])]
    });
    for g in [
        grad(&ad(), &f, f.params()).unwrap(),
        hvp(&ad(), &f, f.params()).unwrap(),
    ] {
        assert!(
            !ops(&g).iter().any(|n| n == "conj" || n == "real"),
            "{:?}",
            ops(&g)
        );
    }
}
