//! Tests of nests. An interpreter evaluates them element by element, and results are compared with
//! the reference and with the runtime.

mod calls;
mod errors;
mod interpreter;
pub(crate) mod meaning;

use super::passes;
use cotangent_core::transform::Session;
use cotangent_core::{Builder, DType, Dim, Emit, Function, Type, Val};

/// A function with parameters of these types.
pub(crate) fn function(params: &[Type], f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>) -> Function {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = params
        .iter()
        .enumerate()
        .map(|(i, t)| b.param(t.clone(), Some(&format!("x{i}"))))
        .collect();
    let y = f(&b, &x);
    b.finish(&y).unwrap()
}

/// The nests of a function as text, without the graph.
fn text_of(f: &Function) -> String {
    let text = passes(f).unwrap();
    text.split_once("\nnests\n").unwrap().1.to_owned()
}

#[test]
fn softmax_is_two_folds_and_two_maps() {
    let f = function(&[Type::new(DType::F32, [20000, 4])], |cx, x| {
        let x = x[0];
        let rows = |v| cx.broadcast_in_dim(v, &cx.ty(x).shape, &[0]);
        let m = cx.exp(cx.sub(x, rows(cx.reduce_max(x, &[1]))));
        vec![cx.div(m, rows(cx.reduce_sum(m, &[1])))]
    });
    let want = "\
%1 f32 [i:20000 | j:4] = fold max %x0[i, j] tree
%4 f32 [i:20000 j:4] = exp(sub(%x0[i, j], %1[i]))
%5 f32 [i:20000 | j:4] = fold add %4[i, j] tree
%7 f32 [i:20000 j:4] = div(%4[i, j], %5[i])
results %7[i, j]
";
    assert_eq!(text_of(&f), want);
}

#[test]
fn views_are_accesses_of_their_readers() {
    let (n, five) = (Dim::sym("n"), Type::new(DType::F64, [5]));
    let params = [
        Type::new(DType::F64, [4, 6]),
        five.clone(),
        Type::new(DType::F64, vec![n.clone()]),
        Type::scalar(DType::I32),
    ];
    let f = function(&params, |cx, x| {
        let flat = cx.reshape(cx.transpose(x[0], &[1, 0]), &[24.into()]);
        let padded = cx.pad_zeros(x[1], &[1], &[2], &[1]);
        let joined = cx.concatenate(&[x[1], cx.reverse(x[1], &[0]), x[1]], 0);
        let window = cx.dynamic_slice(x[1], &[x[3]], &[3.into()]);
        let last = cx.slice_axis(x[2], 0, n.clone() - 1.into(), n.clone());
        [flat, padded, joined, window, last]
            .map(|v| cx.exp(v))
            .to_vec()
    });
    let want = "\
%11 f64 [i:24] = exp(%x0[(i mod 4), i/4])
%12 f64 [i:12] = exp(%x1[i/2] if 1 <= i < 10 by 2 else 0.0)
%13 f64 [i:15] = exp(%x1[i] if i < 5 else %x1[-i + 9] if i < 10 else %x1[i - 10])
%14 f64 [i:3] = exp(%x1[i + clamp(%x3, 0, 2)])
%15 f64 [i:1] = exp(%x2[i + n-1])
results %11[i], %12[i], %13[i], %14[i], %15[i]
if nest %15: an index is at least 0: n-1 >= 0
";
    assert_eq!(text_of(&f), want);
}
