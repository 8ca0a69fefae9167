//! Numbers as operands, assignments with an operator, and sums of iterators.

use super::arguments::{eager, plain, traced};
use super::kinds::Outs;
use super::same;
use cotangent::methods::*;
use cotangent::{EagerRuntime, EagerTensor, Tensor, TracedTensor};

/// Operands that are numbers equal scalars of the element type.
#[test]
fn numbers_are_operands_of_comparisons_extrema_and_powers() {
    macro_rules! all {
        ($o:ident) => {{
            let full = |c: f64| $o.a.full_like(c).outs().unwrap();
            let _ = full;
            let mut wrong = Vec::new();
            all! { one $o wrong full: less less_equal greater greater_equal equal not_equal maximum minimum pow }
            assert!(wrong.is_empty(), "{wrong:?}");
        }};
        (one $o:ident $wrong:ident $full:ident: $($method:ident)*) => {$(
            for (got, c) in [
                ($o.a.$method(2.5).outs(), 2.5),
                ($o.a.$method(2.5f32).outs(), 2.5),
                ($o.a.$method(-3).outs(), -3.0),
                ($o.a.$method(2i64).outs(), 2.0),
            ] {
                let x = plain().a;
                let want = x.$method(&Tensor::scalar(c)).outs().unwrap();
                if !same(&got.unwrap(), &want) {
                    $wrong.push((stringify!($method), c));
                }
            }
        )*};
    }
    let o = plain();
    all!(o);
    let o = eager();
    all!(o);
    let o = traced();
    all!(o);
    assert_eq!(
        plain().i.greater(2).unwrap(),
        plain().i.greater(&Tensor::scalar(2)).unwrap()
    );
    let e = traced().i.greater(0.5).to_tensor().unwrap_err().to_string();
    assert!(
        e.contains("`greater` of i32[2,3]: 0.5 is not a number of type i32"),
        "{e}"
    );
    let e = eager().i.greater(0.5).unwrap_err().to_string();
    assert!(
        e.contains("`greater` of i32[2,3]: 0.5 is not a number of type i32"),
        "{e}"
    );
}

#[test]
fn operators_take_numbers_of_several_types() {
    let t = traced();
    let e = eager();
    for (got, want) in [
        (&t.a * 2, &t.a * 2.0),
        (&t.a * 2.0f32, &t.a * 2.0),
        (2 * &t.a, 2.0 * &t.a),
        (&t.a - 3i64, &t.a - 3.0),
        (1 / t.b.clone(), 1.0 / &t.b),
        (t.i.clone() + 2, &t.i + &TracedTensor::scalar(2)),
        // The type of the result is known where the number has no suffix.
        ((&t.a * 2.0).exp() + 1.0, (&t.a + &t.a).exp() + 1.0),
    ] {
        assert!(same(&got.outs().unwrap(), &want.outs().unwrap()));
    }
    for (got, want) in [
        (&e.a * 2, &e.a * 2.0),
        (&e.a * 2.0f32, &e.a * 2.0),
        (2 * &e.a, 2.0 * &e.a),
        (e.i.clone() % 4, &e.i % &e.i.full_like(4.0).unwrap()),
    ] {
        assert!(same(&got.outs().unwrap(), &want.outs().unwrap()));
    }
}

#[test]
fn assignments_with_an_operator_leave_other_handles_alone() {
    macro_rules! all {
        ($o:ident) => {{
            let old = $o.a.clone();
            let mut x = $o.a.clone();
            x += &$o.b;
            x -= 0.5;
            x *= $o.b.clone();
            x /= 2;
            x %= &$o.b;
            let want = ((&old + &$o.b) - 0.5) * &$o.b / 2.0 % &$o.b;
            assert!(same(&x.outs().unwrap(), &want.outs().unwrap()));
            assert!(same(&old.outs().unwrap(), &[plain().a]));
        }};
    }
    let o = traced();
    all!(o);
    let o = eager();
    all!(o);
}

#[test]
fn iterators_of_tensors_have_a_sum() {
    let t = traced();
    let all = [t.a.clone(), t.b.clone(), t.p.clone()];
    let want = (&t.a + &t.b + &t.p).outs().unwrap();
    assert!(same(
        &all.iter().sum::<TracedTensor>().outs().unwrap(),
        &want
    ));
    assert!(same(
        &all.into_iter().sum::<TracedTensor>().outs().unwrap(),
        &want
    ));
    let e = eager();
    let sum: EagerTensor = [&e.a, &e.b, &e.p].into_iter().sum();
    assert!(same(&sum.outs().unwrap(), &want));
    let none: TracedTensor = std::iter::empty::<TracedTensor>().sum();
    let text = none.to_tensor().unwrap_err().to_string();
    assert!(
        text.starts_with("the sum of no tensors has no element type and shape"),
        "{text}"
    );
    let none: EagerTensor = Vec::<EagerTensor>::new().iter().sum();
    assert!(
        none.to_tensor()
            .unwrap_err()
            .to_string()
            .contains("the sum of no tensors")
    );
}

/// Gradients flow through assignments and sums.
#[test]
fn assignments_and_sums_are_differentiated() -> cotangent::ad::Result<()> {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::vector(vec![1.0, 2.0]))?;
    let mut y = x.clone();
    y *= &x;
    y += 1;
    [y.clone(), x.clone()]
        .iter()
        .sum::<EagerTensor>()
        .sum(..)?
        .backward()?;
    assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [3.0, 5.0]);
    Ok(())
}
