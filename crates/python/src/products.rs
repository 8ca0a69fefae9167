//! Sums of products in Einstein's notation, convolutions, and systems of linear equations.

use crate::array::Array;
use crate::error::{OrRaise, raise};
use crate::ops::emit_one;
use cotangent::einsum as notation;
use cotangent::ops::ConvolutionSpec;
use pyo3::prelude::*;

fn strategy(name: &str) -> PyResult<notation::Strategy> {
    Ok(match name {
        "auto" | "True" => notation::Strategy::Auto,
        "greedy" => notation::Strategy::Greedy,
        "optimal" => notation::Strategy::Exhaustive,
        "in-order" => notation::Strategy::InOrder,
        other => {
            return Err(raise(
                "Attribute",
                format!("optimize is 'auto', 'greedy', 'optimal' or 'in-order', not {other:?}"),
            ));
        }
    })
}

/// The sum of products of arrays of one type.
#[pyfunction]
pub(crate) fn einsum<'py>(
    py: Python<'py>,
    spec: &str,
    operands: Vec<Bound<'py, Array>>,
    optimize: &str,
) -> PyResult<Bound<'py, Array>> {
    let strategy = strategy(optimize)?;
    let weak = !operands.is_empty() && operands.iter().all(|a| a.get().weak);
    emit_one(py, &operands, weak, |cx, x| {
        notation::write(cx, spec, x, strategy)
    })
}

/// The order of products for operands of these shapes, and its cost.
#[pyfunction]
pub(crate) fn einsum_path(
    py: Python<'_>,
    spec: &str,
    shapes: Vec<Vec<usize>>,
    optimize: &str,
) -> PyResult<String> {
    let refs: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let path = notation::einsum_path(spec, &refs, strategy(optimize)?).or_raise(py)?;
    Ok(path.to_string())
}

/// Sliding products: settings are lists with a number for each spatial axis.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "settings of a convolution")]
pub(crate) fn convolution<'py>(
    py: Python<'py>,
    x: Bound<'py, Array>,
    w: Bound<'py, Array>,
    stride: Vec<usize>,
    low: Vec<i64>,
    high: Vec<i64>,
    x_dilation: Vec<usize>,
    w_dilation: Vec<usize>,
    groups: usize,
) -> PyResult<Bound<'py, Array>> {
    let spec = ConvolutionSpec {
        stride,
        padding: low.into_iter().zip(high).collect(),
        x_dilation,
        w_dilation,
        feature_groups: groups,
        batch_groups: 1,
    };
    emit_one(py, &[x, w], false, |cx, v| {
        cx.convolution(v[0], v[1], &spec)
    })
}

/// The solution of `a x = b`; leading axes broadcast. A singular matrix is an error eagerly, NaN in
/// a program.
#[pyfunction]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    a: Bound<'py, Array>,
    b: Bound<'py, Array>,
) -> PyResult<Bound<'py, Array>> {
    emit_one(py, &[a, b], false, |cx, x| {
        cx.set_method("solve");
        cx.solve(x[0], x[1])
    })
}
