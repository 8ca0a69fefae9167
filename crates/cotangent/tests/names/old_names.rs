//! Former names still work.
#![allow(deprecated)]

use super::arguments::{eager, traced};
use super::kinds::Outs;
use super::same;
use cotangent::{DType, Dim, EagerTensor, TracedTensor, Val, Write};

/// Former names equal the new ones on traced and eager tensors.
#[test]
fn former_names_call_the_new_ones() {
    macro_rules! pairs {
        ($T:ident $o:ident: $($old:expr, $new:expr;)*) => {$(
            assert!(same(&$old.outs().unwrap(), &$new.outs().unwrap()), stringify!($old));
        )*};
    }
    macro_rules! both {
        ($T:ident $o:ident) => {
            pairs! { $T $o:
                $o.a.convert(DType::F32), $o.a.astype(DType::F32);
                $o.a.lt(&$o.b), $o.a.less(&$o.b);
                $o.a.le(&$o.b), $o.a.less_equal(&$o.b);
                $o.a.gt(&$o.b), $o.a.greater(&$o.b);
                $o.a.ge(&$o.b), $o.a.greater_equal(&$o.b);
                $o.a.round_half_even(), $o.a.round_ties_even();
                $o.i.popcnt(), $o.i.count_ones();
                $o.a.recip(), $o.a.reciprocal();
                $o.a.cumsum(1), $o.a.cumulative_sum(1);
                $o.a.cumprod(0), $o.a.cumulative_prod(0);
                $o.a.reverse(&[0, 1]), $o.a.flip([0, 1]);
                $o.a.slice_axis(1, 1, 3), $o.a.slice(1, 1..3);
                $o.a.index_axis(0, 1), $o.a.index(0, 1);
                $o.a.transpose(&[1, 0]), $o.a.permute_dims([1, 0]);
                $T::concatenate(&[&$o.a, &$o.b], 1), $T::concat(&[&$o.a, &$o.b], 1);
            }
        };
    }
    let o = traced();
    both!(TracedTensor o);
    pairs! { TracedTensor o:
        o.a.reshape_to(&[3.into(), Dim::Const(2)]), o.a.reshape([3, 2]);
        o.v.broadcast_in_dim_to(&[3.into(), Dim::Const(2)], &[0]), o.v.broadcast_in_dim([3, 2], &[0]);
    }
    let o = eager();
    both!(EagerTensor o);
    pairs! { EagerTensor o:
        o.a.eq(&o.b), o.a.equal(&o.b);
        o.a.ne(&o.b), o.a.not_equal(&o.b);
        o.a.scale(3.0), &o.a * 3.0;
    }
    let t = super::arguments::plain().a;
    assert_eq!(t.reverse(1).unwrap(), t.flip(1).unwrap());
    let e = o.i.scale(0.5).unwrap_err().to_string();
    assert!(e.contains("`mul` of i32[2,3]"), "{e}");
}

#[test]
fn generic_functions_over_the_former_trait_compile() {
    fn twice<T: Write>(x: &T) -> Result<T, <T as Write>::Error> {
        let y = T::write_one(&[x], |cx, x: &[Val]| cx.add(x[0], x[0]))?;
        Ok(T::write(&[&y], |_, x| x.to_vec())?.remove(0))
    }
    let want = twice(&super::arguments::plain().a).unwrap();
    assert!(same(
        &twice(&traced().a).outs().unwrap(),
        std::slice::from_ref(&want)
    ));
    assert!(same(&twice(&eager().a).outs().unwrap(), &[want]));
}
