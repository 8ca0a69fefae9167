//! Axes as arguments.

use super::arguments::{eager, plain, traced};
use cotangent::methods::*;
use cotangent::{Axes, Axis, Code, DType, Dim, Shape, Tensor, TracedTensor};

#[test]
fn axes_are_given_as_one_as_lists_or_as_all() -> cotangent::Result<()> {
    let x = Tensor::arange(DType::F64, 0.0, 24.0, 1.0)?.reshape([2, 3, 4])?;
    let sums = |axes: Axes| -> cotangent::Result<Vec<usize>> { Ok(x.sum(axes)?.shape().to_vec()) };
    let k: usize = 1;
    let list: Vec<usize> = vec![0, 1];
    for (axes, shape) in [
        (Axes::from(0), vec![3, 4]),
        ((-1).into(), vec![2, 3]),
        (k.into(), vec![2, 4]),
        ([0, 2].into(), vec![3]),
        ((&[0, -1]).into(), vec![3]),
        ((&list).into(), vec![4]),
        (list.as_slice().into(), vec![4]),
        (list.clone().into(), vec![4]),
        ((..).into(), vec![]),
        (Axis::from(-3).into(), vec![3, 4]),
        ([0usize; 0].into(), vec![2, 3, 4]),
    ] {
        assert_eq!(sums(axes.clone())?, shape, "{axes:?}");
    }
    // The order of axes matters where it has a meaning.
    assert_eq!(x.permute_dims([-1, 0, 1])?.shape(), [4, 2, 3]);
    Ok(())
}

#[test]
fn wrong_axes_are_errors_that_say_which_are_right() {
    let o = traced();
    let text = |t: TracedTensor| t.to_tensor().unwrap_err().to_string();
    for (got, want) in [
        (
            text(o.a.sum(2)),
            "`sum`: axis 2 is out of range for rank 2: its axes are 0 to 1, or -2 to -1",
        ),
        (text(o.a.sum(-3)), "axis -3 is out of range"),
        (text(o.a.max([1, -1])), "`max`: axis -1 is repeated"),
        (text(o.a.softmax(5)), "`softmax`: axis 5"),
        (text(o.a.sum(..).sum(0)), "a scalar has no axes"),
        (text(o.a.sum(usize::MAX)), "is out of range"),
        (text(o.a.squeeze(0)), "axis 0 has extent 2, not 1"),
        (
            text(o.a.expand_dims(4)),
            "axis 4 is out of range for rank 3",
        ),
        (text(o.v.matrix_transpose()), "it takes two axes"),
        (
            text(o.a.slice(1, 2..5)),
            "is not within the extent 3 of axis 1",
        ),
        (
            text(TracedTensor::concat(&[], 0)),
            "`concat` takes at least one tensor, got none",
        ),
    ] {
        assert!(got.contains(want), "{got}");
        assert!(got.contains("axes.rs:"), "{got} has no place");
    }
    let e = eager().a.mean([0, 0]).unwrap_err();
    assert_eq!(e.code(), Code::Attribute);
    assert!(e.to_string().contains("`mean`: axis 0 is repeated"), "{e}");
    let e = eager().a.sum(7).unwrap_err().to_string();
    assert!(
        e.contains("axis 7 is out of range") && e.contains("axes.rs:"),
        "{e}"
    );
    let e = plain().a.argmax(9).unwrap_err().to_string();
    assert!(
        e.contains("`argmax`: axis 9") && e.contains("axes.rs:"),
        "{e}"
    );
    let e = plain().a.flip(9).unwrap_err().to_string();
    assert!(e.contains("`flip`: axis 9"), "{e}");
}

#[test]
fn extents_are_numbers_and_symbols() -> cotangent::Result<()> {
    let x = TracedTensor::input(DType::F32, vec![Dim::sym("n"), 3.into()]);
    let shape: Shape = x.permute_dims([1, 0]).shape()?;
    assert_eq!(x.t().shape()?, shape);
    assert_eq!(x.reshape(vec![3.into(), Dim::sym("n")]).shape()?, shape);
    assert_eq!(x.reshape(&shape).shape()?, shape);
    let y = TracedTensor::vector(vec![1.0f32, 2.0, 3.0]).broadcast_in_dim(&shape, &[0]);
    assert_eq!(y.shape()?, shape);
    assert_eq!(TracedTensor::scalar(2.0).reshape([]).rank()?, 0);
    let e = plain()
        .a
        .reshape(vec![Dim::sym("n")])
        .unwrap_err()
        .to_string();
    assert!(e.contains("its extents are numbers"), "{e}");
    let e = x.unstack(0).unwrap_err().to_string();
    assert!(e.contains("the extent of axis 0 is not a number"), "{e}");
    Ok(())
}

/// Constructors have one name on a runtime, traced tensors and plain tensors.
#[test]
fn constructors_agree() -> cotangent::Result<()> {
    let rt = cotangent::EagerRuntime::new();
    macro_rules! agree {
        ($($name:ident($($arg:expr),*);)*) => {$({
            let want = agree!(plain $name Tensor::$name($($arg),*));
            assert!(rt.$name($($arg),*)?.to_tensor()?.same_bits(&want), stringify!($name));
            assert!(TracedTensor::$name($($arg),*).to_tensor()?.same_bits(&want), stringify!($name));
        })*};
        (plain scalar $t:expr) => { $t };
        (plain vector $t:expr) => { $t };
        (plain $name:ident $t:expr) => { $t? };
    }
    agree! {
        scalar(2.5f32);
        vector(vec![1i64, 2]);
        from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        zeros(DType::I32, [2, 3]);
        ones(DType::F64, [3]);
        full(DType::F64, [2], 0.5);
        eye(DType::F32, 3);
        arange(DType::F64, 0.0, 2.0, 0.5);
        iota(DType::I32, [2, 3], -1);
        linspace(DType::F64, 0.0, 1.0, 5);
    }
    assert_eq!(
        (
            rt.zeros(DType::F64, [2, 3])?.len(),
            rt.vector(vec![1, 2])?.to_vec::<i32>()?
        ),
        (6, vec![1, 2])
    );
    assert_eq!(TracedTensor::scalar(2.0).exp().log().item::<f64>()?, 2.0);
    Ok(())
}
