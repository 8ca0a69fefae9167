//! Texts of errors for typical mistakes: the method that was called, the shapes that were given,
//! and the way out.

use cotangent::ad::{BackwardOptions, EagerRuntime, no_grad};
use cotangent::closures::{cond, fori_loop, grad, jit, scan, switch, while_loop};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::ops::Bounds;
use cotangent::{DType, Tensor, TracedTensor, TracedTensorAdExt};
use std::cell::RefCell;
use std::fmt::Display;

/// Asserts the text of an error up to its location, and that it has one.
fn says<T, E: Display>(result: Result<T, E>, want: &str) {
    let Err(e) = result else {
        panic!("no error instead of {want}")
    };
    let e = e.to_string();
    let text = e.lines().next().unwrap();
    assert_eq!(text, want);
    assert!(e.contains("names/mistakes.rs:"), "no place in {e}");
}

fn v(x: &[f64]) -> TracedTensor {
    TracedTensor::vector(x.to_vec())
}

fn matrix() -> TracedTensor {
    TracedTensor::ones(DType::F64, [2, 3])
}

#[test]
fn operands_of_different_shapes_are_shown_as_given() {
    let rt = EagerRuntime::new();
    let e = |x: &[f64]| rt.vector(x.to_vec()).unwrap();
    let text = "`add` of f64[2] and f64[3]: axis 0 of the result would be 2 and 3. Extents must be equal or 1; \
                reshape or broadcast one of them [ShapeMismatch]";
    says((&e(&[1.0; 2]) + &e(&[1.0; 3])).sum(..), text);
    says((v(&[1.0; 2]) + v(&[1.0; 3])).to_tensor(), text);
    let text = "`cross_entropy` of f64[2,3]: labels are integer classes [2] or probabilities [2, 3], got f64[2] \
                [ShapeMismatch]";
    says(matrix().cross_entropy(&v(&[0.0, 1.0]), 1).to_tensor(), text);
}

#[test]
fn operands_of_different_element_types_are_shown_as_given() {
    let rt = EagerRuntime::new();
    let f32s = TracedTensor::vector(vec![1.0f32, 2.0]);
    let text = "`mul` needs operands of one element type, got f32[2] and f64[]; convert one of them [DTypeMismatch]";
    says((&f32s * &TracedTensor::scalar(2.0)).to_tensor(), text);
    let e = rt.vector(vec![1.0f32, 2.0]).unwrap();
    says((&e * &rt.scalar(2.0).unwrap()).to_tensor(), text);
    let text = "`maximum` needs operands of one element type, got f32[2] and f64[]; convert one of them \
                [DTypeMismatch]";
    says(f32s.maximum(&TracedTensor::scalar(2.0)).to_tensor(), text);
    let text = "`matmul` needs operands of one element type, got f64[2,3] and f32[2,1,3]; convert one of them \
                [DTypeMismatch]";
    let batches = TracedTensor::ones(DType::F32, [2, 1, 3]);
    says(matrix().matmul(&batches), text);
}

#[test]
fn errors_name_the_method_that_was_called() {
    let rt = EagerRuntime::new();
    let text = "`matmul` of f64[2,3] and f64[2]: axis 1 of the first is 3, axis 0 of the second is 2; they must be \
                equal [ShapeMismatch]";
    says(matrix().matmul(&v(&[1.0; 2])), text);
    let (a, b) = (
        rt.ones(DType::F64, [2, 3]).unwrap(),
        rt.ones(DType::F64, [2, 3]).unwrap(),
    );
    let e = a.matmul(&b).unwrap_err().to_string();
    assert!(e.starts_with("`matmul` of f64[2,3] and f64[2,3]: "), "{e}");
    let text = "`softmax`: axis 3 is out of range for rank 2: its axes are 0 to 1, or -2 to -1 [Attribute]";
    says(matrix().softmax(3).to_tensor(), text);
    says(a.softmax(3), text);
    let text = "`stack` takes at least one tensor, got none [Arity]";
    says(TracedTensor::stack(&[], 0).to_tensor(), text);
    let text = "`index` of f64[2]: index 5 of axis 0, which has extent 2 [OutOfBounds]";
    says(v(&[1.0; 2]).index(0, 5).to_tensor(), text);
    says(Tensor::vector(vec![1.0; 2]).index(0, 5), text);
    says(rt.vector(vec![1.0; 2]).unwrap().index(0, 5), text);
    let booleans = TracedTensor::ones(DType::Bool, [2]);
    for (e, name) in [
        (booleans.sinc(), "sinc"),
        (booleans.sigmoid(), "sigmoid"),
        (booleans.less(0.5), "less"),
        (booleans.clip(0.5, 1.0), "clip"),
        (booleans.mean(0), "mean"),
    ] {
        let e = e.to_tensor().unwrap_err().to_string();
        assert!(e.starts_with(&format!("`{name}`")), "{e}");
    }
    let text = "`triangular_solve`";
    let e = v(&[1.0; 2]).triangular_solve(&v(&[1.0; 2]), Default::default());
    assert!(e.unwrap_err().to_string().starts_with(text));
    let index = rt.vector(vec![7i64]).unwrap();
    let e = a.take(&index, 0, Bounds::Error).unwrap_err().to_string();
    assert!(e.starts_with("`take`"), "{e}");
}

#[test]
fn loops_and_branches_name_their_function_and_the_tensor() {
    let zero = || TracedTensor::scalar(0.0);
    let text = "`fori_loop`: the carry is f64[] but the body returns f64[2]: a carry keeps its type; convert or \
                reshape it [CarryMismatch]";
    says(
        fori_loop(
            0,
            3,
            |_, c: TracedTensor| TracedTensor::stack(&[&c, &c], 0),
            zero(),
        ),
        text,
    );
    let text = "`scan`: the carry is f64[] but the body returns f32[]: a carry keeps its type; convert or reshape it \
                [CarryMismatch]";
    let xs = TracedTensor::vector(vec![1.0f32]);
    says(
        scan(
            |c: TracedTensor, x: TracedTensor| (c.astype(DType::F32) + x, ()),
            zero(),
            xs,
        ),
        text,
    );
    type Pair = (TracedTensor, TracedTensor);
    let two = while_loop(
        |_: Pair| TracedTensor::scalar(true),
        |(x, y): Pair| (x, y.sum(..)),
        (zero(), v(&[1.0])),
    );
    let e = two.err().unwrap().to_string();
    assert!(
        e.starts_with("`while_loop`: `.1` of the carry is f64[1] but"),
        "{e}"
    );
    let text = "`cond`: the result is f64[2] from `yes` but f64[] from `no`: both return the same types; convert or \
                reshape one [BranchMismatch]";
    let p = TracedTensor::scalar(true);
    says(
        cond(
            &p,
            v(&[1.0; 2]),
            |x: TracedTensor| x,
            |x: TracedTensor| x.sum(..),
        ),
        text,
    );
    type F = fn(TracedTensor) -> TracedTensor;
    let branches: [F; 2] = [|x| x, |x| x.sum(..)];
    let text = "`switch`: the result is f64[2] from branch 0 but f64[] from branch 1: all return the same types; \
                convert or reshape one [BranchMismatch]";
    says(
        switch(&TracedTensor::scalar(0i64), v(&[1.0; 2]), &branches),
        text,
    );
}

#[test]
fn the_value_of_a_closures_argument_is_not_known_inside() {
    let unknown = "is the argument of a closure that is being traced; its value is not known here. Use cond or select to \
                choose by it; return it to see it [Unbound]";
    let peek = |x: TracedTensor| -> cotangent::Result<TracedTensor> { Ok(x.to_tensor()?.into()) };
    says(
        jit(peek)(v(&[1.0])),
        &format!("TracedTensor(f64[1]) {unknown}"),
    );
    // An argument that left its closure.
    let leak = RefCell::new(None);
    let g = grad(|x: TracedTensor| {
        *leak.borrow_mut() = Some(x.sin());
        x.square().sum(..)
    })(v(&[1.0, 2.0]));
    let escaped = leak.borrow().clone().unwrap() * g.unwrap();
    says(
        escaped.to_tensor(),
        &format!("TracedTensor(f64[2]) {unknown}"),
    );
}

#[test]
fn a_copy_that_was_built_again_has_no_gradient() {
    let (x, copy) = (v(&[1.0, 2.0]), v(&[1.0, 2.0]));
    let y = x.square().sum(..);
    assert_eq!(y.grad(&copy).unwrap().to_vec::<f64>().unwrap(), [0.0; 2]);
    let rt = EagerRuntime::new();
    let [x, copy] = [(); 2].map(|()| rt.variable_from([1.0, 2.0]).unwrap());
    // A gradient that is read before the pass is `None`, or zero.
    assert!(x.grad().unwrap().is_none());
    assert_eq!(x.grad_or_zero().unwrap().to_vec::<f64>().unwrap(), [0.0; 2]);
    let y = x.square().unwrap().sum(..).unwrap();
    let found = y
        .grad_optional(&[&x, &copy], BackwardOptions::keep_graph())
        .unwrap();
    assert!(found[0].is_some() && found[1].is_none());
    y.backward().unwrap();
    assert_eq!(
        x.grad_or_zero().unwrap().to_vec::<f64>().unwrap(),
        [2.0, 4.0]
    );
    assert_eq!(
        copy.grad_or_zero().unwrap().to_vec::<f64>().unwrap(),
        [0.0; 2]
    );
}

#[test]
fn errors_of_eager_tensors_have_a_code_and_a_place() {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::vector(vec![1.0, 2.0])).unwrap();
    let text = "backward needs a scalar (rank 0), got shape [2]: reduce it with sum(..), or use vjp with a cotangent \
                [NonScalarOutput]";
    says(x.square().unwrap().backward(), text);
    let other = EagerRuntime::new().vector(vec![1.0, 2.0]).unwrap();
    let e = x.mul(&other).unwrap_err().to_string();
    assert!(
        e.contains("in one operation: move one with detach_into [ForeignValue]\n  at "),
        "{e}"
    );
    let mut y = x.clone();
    let text = "in-place modification of a variable that requires gradients: do it inside no_grad [ModifiedInPlace]";
    says(y.update(|w: &mut [f64]| w[0] = 0.0), text);
    says(
        no_grad(|| y.update(|w: &mut [f32]| w[0] = 0.0)),
        "the tensor holds f64, not f32; convert it first [DTypeMismatch]",
    );
    says(y.assign(&x), text);
    let e = no_grad(|| y.assign(&other)).unwrap_err().to_string();
    assert!(e.contains("[ForeignValue]\n  at "), "{e}");
    says(
        no_grad(|| y.assign(rt.vector(vec![1.0; 3])?)),
        "`assign` of f64[3] to f64[2]: an assignment keeps the type; convert or reshape it [ShapeMismatch]",
    );
    says(
        no_grad(|| y.assign(rt.vector(vec![1.0f32; 2])?)),
        "`assign` of f32[2] to f64[2]: an assignment keeps the type; convert or reshape it [DTypeMismatch]",
    );
    let loss = x.square().unwrap().sum(..).unwrap();
    let freeing = BackwardOptions {
        keep_graph: false,
        create_graph: false,
    };
    loss.backward_with(freeing).unwrap();
    let e = loss.grad_of(&[&x], freeing).unwrap_err().to_string();
    assert!(
        e.contains("[GraphFreed]\n  at ") && e.contains("names/mistakes.rs:"),
        "{e}"
    );
}
