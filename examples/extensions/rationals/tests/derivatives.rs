//! Derivatives of programs over rational numbers are exact, by every transform and on the tape, and
//! hold only operations of this language.

use cotangent_core::tape::{Executor as _, Tape};
use cotangent_core::transform::{AdContext, grad, hessian, hvp, jvp, linearize, linear_transpose_in};
use cotangent_core::{Builder, Code, Emit, Function, Result, Val};
use rationals::{Arithmetic, Executor, Ratio, context, ratio};
use std::process::Command;

fn whole(n: i128) -> Ratio {
    Ratio::new(n, 1)
}

fn run(f: &Function, x: &[Ratio]) -> Vec<Ratio> {
    for e in f.eqns() {
        assert!(e.op.name().starts_with("ratio."), "{}", e.op.name());
    }
    Executor.run(f, x).unwrap()
}

/// `x² y + 1/x`.
fn program() -> Result<Function> {
    let b = Builder::new("f", context()?.session());
    let (x, y) = (b.param(ratio(), Some("x")), b.param(ratio(), Some("y")));
    let cx: &dyn Emit = &b;
    let square: Val = cx.op(Arithmetic::Product, &[x, x]);
    let product = cx.op(Arithmetic::Product, &[square, y]);
    let inverse = cx.op(Arithmetic::Inverse, &[x]);
    let sum = cx.op(Arithmetic::Sum, &[product, inverse]);
    b.finish(&[sum])
}

#[test]
fn derivatives_are_exact_and_of_this_language() -> Result<()> {
    let (f, ad, at) = (program()?, context()?, [whole(2), whole(3)]);
    assert_eq!(run(&f, &at), [Ratio::new(25, 2)]);
    // 2 x y - 1/x², x².
    let gradient = [Ratio::new(47, 4), whole(4)];
    assert_eq!(run(&grad(&ad, &f, f.params())?, &at), gradient);
    let tangent = run(&jvp(&ad, &f, f.params())?, &[at[0], at[1], whole(4), whole(-1)]);
    assert_eq!(tangent[1], whole(47 - 4));
    // 2 y + 2/x³, 2 x; 2 x, 0.
    let product = run(&hvp(&ad, &f, f.params())?, &[at[0], at[1], whole(4), whole(1)]);
    assert_eq!(product, [whole(25 + 4), whole(16)]);
    // A gradient by a value that the result does not depend on is a zero of this language.
    let twice = grad(&ad, &grad(&ad, &f, &f.params()[1..])?, &f.params()[1..])?;
    assert_eq!(run(&twice, &at), [whole(0)]);
    // Batches need axes, which these values do not have.
    assert!(hessian(&ad, &f, f.params()).is_err());
    Ok(())
}

#[test]
fn a_function_is_linearized_once_and_applied_often() -> Result<()> {
    let (f, ad) = (program()?, context()?);
    let lin = linearize(&ad, &f, f.params())?;
    let mut residuals = run(&lin.primal, &[whole(2), whole(3)]);
    assert_eq!(residuals.remove(0), Ratio::new(25, 2));
    assert_eq!(residuals.len(), lin.residuals());
    let at = |more: &[Ratio]| [&residuals[..], more].concat();
    for (dx, dy) in [(1, 0), (0, 1), (4, -1)] {
        let want = Ratio::new(47, 4) * whole(dx) + whole(4 * dy);
        assert_eq!(run(&lin.tangent, &at(&[whole(dx), whole(dy)])), [want]);
    }
    let mut linear = vec![false; lin.residuals()];
    linear.extend([true, true]);
    for back in [lin.transpose(&ad)?, linear_transpose_in(&ad, &lin.tangent, &linear)?] {
        assert_eq!(run(&back, &at(&[whole(2)])), [Ratio::new(47, 2), whole(8)]);
    }
    // The tangent of a result that does not depend on `y` is a zero, which is linear.
    let (b, by_y) = (Builder::new("g", ad.session()), &f.params()[1..]);
    let (x, y) = (b.param(ratio(), Some("x")), b.param(ratio(), Some("y")));
    let inverse = b.emit(Arithmetic::Inverse.into(), &[x])[0];
    let lin = linearize(&ad, &b.finish(&[inverse, y])?, by_y)?;
    let back = linear_transpose_in(&ad, &lin.tangent, &[true])?;
    assert_eq!(run(&back, &[whole(5), whole(7)]), [whole(7)]);
    Ok(())
}

#[test]
fn values_run_and_are_recorded_on_a_tape() -> Result<()> {
    let tape = Tape::new(Executor, &context()?);
    let (x, y) = (tape.variable(whole(2))?, tape.variable(whole(3))?);
    let one = |op: Arithmetic, x: &[&_]| Ok::<_, cotangent_core::Error>(tape.apply(op, x)?.remove(0));
    let square = one(Arithmetic::Product, &[&x, &x])?;
    let product = one(Arithmetic::Product, &[&square, &y])?;
    let z = one(Arithmetic::Sum, &[&product, &one(Arithmetic::Inverse, &[&x])?])?;
    assert_eq!(z.value(), &Ratio::new(25, 2));
    // A pass can be repeated.
    for _ in 0..2 {
        let cts = tape.backward(&z)?;
        assert_eq!(cts.get(&x), Some(&Ratio::new(47, 4)));
        assert_eq!(cts.get(&y), Some(&whole(4)));
        // An intermediate value that is alive.
        assert_eq!(cts.get(&square), Some(&whole(3)));
        assert_eq!(cts.len(), 5);
    }
    // Gradients are recorded: rows of the Hessian, and its product with a direction.
    let g = tape.grad(&z, &[&x, &y])?;
    assert_eq!(g[0].value(), &Ratio::new(47, 4));
    let row = tape.grad(&g[0], &[&x, &y])?;
    assert_eq!((row[0].value(), row[1].value()), (&Ratio::new(25, 4), &whole(4)));
    let third = tape.grad(&row[0], &[&x])?;
    assert_eq!(third[0].value(), &Ratio::new(-6, 16));
    assert!(tape.grad(&g[1], &[&y])?[0].value() == &whole(0));
    Ok(())
}

#[test]
fn errors_of_the_tape_name_the_way_out() -> Result<()> {
    let tape = Tape::new(Executor, &context()?);
    let zero = tape.variable(whole(0))?;
    let e = tape.apply(Arithmetic::Inverse, &[&zero]).unwrap_err();
    assert!(e.to_string().contains("derivatives.rs"), "{e}");
    let other = Tape::new(Executor, &context()?);
    let e = other.apply(Arithmetic::Inverse, &[&zero]).unwrap_err();
    assert_eq!(e.code(), Code::ForeignValue);
    let e = tape.backward(&tape.constant(whole(1))).unwrap_err();
    assert_eq!(e.code(), Code::Unbound);
    let e = AdContext::builder().with_sum(Arithmetic::Product).build();
    assert_eq!(e.err().map(|e| e.code()), Some(Code::NotLinear));
    Ok(())
}

#[test]
fn the_core_is_the_only_crate_of_cotangent() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix", "none", "--edges", "normal"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&tree.stdout);
    let ours: Vec<&str> = text
        .lines()
        .filter_map(|l| l.split(' ').next())
        .filter(|name| name.starts_with("cotangent"))
        .collect();
    assert_eq!(ours, ["cotangent-core"], "{text}");
}
