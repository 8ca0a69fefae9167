//! Operators of `std::ops`.

use super::arguments::{eager, traced};

/// Operators equal the methods, on traced and eager tensors, by reference and by value.
#[test]
fn operators_are_methods() {
    macro_rules! binary {
        ($o:ident $plain:expr; $($x:ident $op:tt $y:ident $method:ident;)*) => {$({
            let want = $o.$x.$method(&$o.$y);
            let want = $plain(want);
            for got in [&$o.$x $op &$o.$y, $o.$x.clone() $op $o.$y.clone(), $o.$x.clone() $op &$o.$y, &$o.$x $op $o.$y.clone()] {
                assert!(got.to_tensor().unwrap().same_bits(&want), stringify!($method));
            }
        })*};
    }
    macro_rules! all {
        ($o:ident $plain:expr, $two:expr) => {
            binary! { $o $plain;
                a + b add; a - b sub; a * b mul; a / b div; a % b rem; a + v add;
                i & j and; i | j or; i ^ j xor; q & q and;
                i << j shift_left; i >> j shift_right_arithmetic;
            }
            assert!((!&$o.q).to_tensor().unwrap().same_bits(&$plain($o.q.not())));
            assert!(
                (-$o.a.clone())
                    .to_tensor()
                    .unwrap()
                    .same_bits(&$plain($o.a.neg()))
            );
            assert!(
                (&$o.a % 2.0)
                    .to_tensor()
                    .unwrap()
                    .same_bits(&$plain($o.a.rem(&$two(&$o.a))))
            );
            assert!(
                (2.0 % &$o.a)
                    .to_tensor()
                    .unwrap()
                    .same_bits(&$plain($two(&$o.a).rem(&$o.a)))
            );
        };
    }
    {
        let o = traced();
        let two = |x: &cotangent::TracedTensor| x.full_like(2.0);
        let plain = |t: cotangent::TracedTensor| t.to_tensor().unwrap();
        all!(o plain, two);
    }
    {
        let o = eager();
        let two = |x: &cotangent::EagerTensor| x.full_like(2.0).unwrap();
        let plain =
            |t: cotangent::ad::Result<cotangent::EagerTensor>| t.unwrap().to_tensor().unwrap();
        all!(o plain, two);
    }
}

#[test]
fn a_failed_operator_carries_its_error() {
    let o = traced();
    let e = (&o.a & &o.b).to_tensor().unwrap_err().to_string();
    assert!(
        e.contains("`and`") && e.contains("names/operators.rs:"),
        "{e}"
    );
    let o = eager();
    let e = (&o.a << &o.b).to_tensor().unwrap_err().to_string();
    assert!(e.contains("`shift_left`"), "{e}");
}
