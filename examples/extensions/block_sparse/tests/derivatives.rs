//! Gradients by block-sparse matrices have their blocks, agree with finite differences, exist to
//! second order, on the tape, and in text; the core alone refuses the values.

use block_sparse::{Executor, Matrix, Pattern, SparseOp, Value, operations, types};
use cotangent_core::tape::{Executor as _, Tape};
use cotangent_core::text::{Extensions, Program};
use cotangent_core::transform::{
    AdContext, batch, grad, hvp, hvp_reverse, jvp, linearize, value_and_grad, vjp,
};
use cotangent_core::{
    Array, Builder, Code, DType, Dim, Emit, Function, OpaqueType, Result, Type, Val, verify,
};
use std::process::Command;

/// A matrix of 4 by 6 elements with four blocks of 2 by 2.
fn pattern() -> OpaqueType {
    Pattern::declare(4, 6, 2, &[(0, 0), (0, 2), (1, 1), (1, 2)]).unwrap()
}

fn vector(n: usize) -> Type {
    Type::new(DType::F64, [n])
}

fn function(
    params: &[Type],
    write: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Function> {
    let b = Builder::new("f", Default::default());
    let x: Vec<Val> = params.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = write(&b, &x);
    b.finish(&y)
}

/// `Σ tanh(A x)² + s A · A`, of the matrix, the vector and the number.
fn loss() -> Result<Function> {
    let params = [pattern().into(), vector(6), Type::scalar(DType::F64)];
    function(&params, |cx, x| {
        let y = cx.tanh(cx.op(SparseOp::MATMUL, &x[..2]));
        let norm = cx.op(
            SparseOp::Dot,
            &[x[0], cx.op(SparseOp::Scale, &[x[0], x[2]])],
        );
        vec![cx.add(cx.reduce_sum(cx.square(y), &[0]), norm)]
    })
}

/// The arguments of [`loss`] from their 16 + 6 + 1 coordinates.
fn arguments(x: &[f64]) -> Vec<Value> {
    let a = Matrix::new(pattern(), x[..16].to_vec()).unwrap();
    vec![
        Value::Sparse(a),
        Value::Dense(Array::vector(x[16..22].to_vec())),
        x[22].into(),
    ]
}

fn coordinates(x: &[Value]) -> Vec<f64> {
    let all = x.iter().flat_map(|v| match v {
        Value::Dense(a) => a.to_f64(),
        Value::Sparse(m) => m.elements().to_vec(),
    });
    all.collect()
}

/// Numbers between -1 and 1.
fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n)
        .map(|i| ((i + seed) * 37 % 97) as f64 / 48.5 - 1.0)
        .collect()
}

fn run(f: &Function, x: &[Value]) -> Vec<Value> {
    verify(f).unwrap();
    Executor.run(f, x).unwrap()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-7 * (1.0 + a.abs());
    a.len() == b.len() && a.iter().zip(b).all(near)
}

/// Central differences of `f` in direction `t`.
fn difference(f: impl Fn(&[f64]) -> Vec<f64>, x: &[f64], t: &[f64]) -> Vec<f64> {
    let h = 1e-5;
    let at = |s: f64| {
        f(&x.iter()
            .zip(t)
            .map(|(x, t)| x + s * h * t)
            .collect::<Vec<_>>())
    };
    let ends = at(1.0).into_iter().zip(at(-1.0));
    ends.map(|(up, down)| (up - down) / (2.0 * h)).collect()
}

#[test]
fn a_gradient_has_the_blocks_of_its_matrix() -> Result<()> {
    let (ad, f, x) = (AdContext::default(), loss()?, numbers(23, 1));
    let g = grad(&ad, &f, f.params())?;
    assert_eq!(g.result_types()[0], Type::from(pattern()));
    let gradient = coordinates(&run(&g, &arguments(&x)));
    let value = |x: &[f64]| coordinates(&run(&f, &arguments(x)));
    let unit = |k: usize| {
        (0..23)
            .map(|i| f64::from(u8::from(i == k)))
            .collect::<Vec<_>>()
    };
    let want: Vec<f64> = (0..23)
        .flat_map(|k| difference(value, &x, &unit(k)))
        .collect();
    assert!(close(&gradient, &want), "{gradient:?} {want:?}");
    // No operation of the gradient computes a dense matrix.
    let dense = |v: Val| g.ty(v).rank() >= 2;
    assert!(!g.vals().any(dense), "{g}");
    // Forward mode, and the function linearized once.
    let t = numbers(23, 5);
    let moved = [arguments(&x), arguments(&t)].concat();
    let slope: f64 = gradient.iter().zip(&t).map(|(g, t)| g * t).sum();
    assert!(close(
        &coordinates(&run(&jvp(&ad, &f, f.params())?, &moved)[1..]),
        &[slope]
    ));
    let lin = linearize(&ad, &f, f.params())?;
    let residuals = run(&lin.primal, &arguments(&x)).split_off(1);
    let along = [&residuals[..], &arguments(&t)].concat();
    assert!(close(&coordinates(&run(&lin.tangent, &along)), &[slope]));
    let back = run(
        &lin.transpose(&ad)?,
        &[&residuals[..], &[1.0.into()]].concat(),
    );
    assert!(close(&coordinates(&back), &gradient));
    Ok(())
}

#[test]
fn second_derivatives_agree_with_differences_of_gradients() -> Result<()> {
    let (ad, f) = (AdContext::default(), loss()?);
    let (x, t) = (numbers(23, 1), numbers(23, 5));
    let g = grad(&ad, &f, f.params())?;
    let want = difference(|x| coordinates(&run(&g, &arguments(x))), &x, &t);
    let moved = [arguments(&x), arguments(&t)].concat();
    for h in [hvp(&ad, &f, f.params())?, hvp_reverse(&ad, &f, f.params())?] {
        let got = coordinates(&run(&h, &moved));
        assert!(close(&got, &want), "{got:?} {want:?}");
    }
    Ok(())
}

#[test]
fn dense_operands_may_be_matrices_and_blocks_are_arrays() -> Result<()> {
    let ad = AdContext::default();
    let blocks = Type::new(DType::F64, [4, 2, 2]);
    // The sum of squares of Aᵀ (A X), with A from its blocks.
    let f = function(&[blocks, Type::new(DType::F64, [6, 3])], |cx, x| {
        let a = cx.op(SparseOp::FromBlocks(pattern()), &x[..1]);
        let y = cx.op(SparseOp::MATMUL, &[a, x[1]]);
        let back = cx.op(SparseOp::Matmul { transposed: true }, &[a, y]);
        let size = cx.reduce_sum(cx.square(cx.op(SparseOp::Blocks, &[a])), &[0, 1, 2]);
        vec![cx.add(cx.reduce_sum(cx.square(back), &[0, 1]), size)]
    })?;
    let build = |x: &[f64]| {
        let array = |shape: &[usize], x: &[f64]| Array::from_vec(shape, x.to_vec()).unwrap();
        vec![
            Value::Dense(array(&[4, 2, 2], &x[..16])),
            Value::Dense(array(&[6, 3], &x[16..])),
        ]
    };
    let (x, t) = (numbers(34, 2), numbers(34, 3));
    let gradient = coordinates(&run(&grad(&ad, &f, f.params())?, &build(&x)));
    let slope: f64 = gradient.iter().zip(&t).map(|(g, t)| g * t).sum();
    let want = difference(|x| coordinates(&run(&f, &build(x))), &x, &t);
    assert!(close(&[slope], &want), "{slope} {want:?}");
    let both = run(&value_and_grad(&ad, &f, f.params())?, &build(&x));
    assert_eq!(coordinates(&both[1..]), gradient);
    Ok(())
}

#[test]
fn matrices_are_recorded_on_a_tape() -> Result<()> {
    let (ad, f, x) = (AdContext::default(), loss()?, numbers(23, 1));
    let want = run(&grad(&ad, &f, f.params())?, &arguments(&x));
    let tape = Tape::new(Executor, &ad);
    let variables = (arguments(&x).into_iter())
        .map(|v| tape.variable(v))
        .collect::<Result<Vec<_>>>()?;
    let [a, v, s] = &variables[..] else {
        unreachable!("three arguments")
    };
    let one = |op: SparseOp, x: &[&_]| Ok::<_, cotangent_core::Error>(tape.apply(op, x)?.remove(0));
    let core = |op: cotangent_core::Op, x: &[&_]| {
        Ok::<_, cotangent_core::Error>(tape.apply(op, x)?.remove(0))
    };
    let y = core(
        cotangent_core::ops::Unary::Tanh.into(),
        &[&one(SparseOp::MATMUL, &[a, v])?],
    )?;
    let norm = one(SparseOp::Dot, &[a, &one(SparseOp::Scale, &[a, s])?])?;
    let total = core(SparseOp::dot_of_vectors(), &[&y, &y])?;
    let loss = core(cotangent_core::ops::Binary::Add.into(), &[&total, &norm])?;
    let cotangents = tape.backward(&loss)?;
    for (v, want) in variables.iter().zip(&want) {
        let got = cotangents.get(v).unwrap();
        assert_eq!(std::mem::discriminant(got), std::mem::discriminant(want));
        let (got, want) = ([got.clone()], [want.clone()]);
        assert!(close(&coordinates(&got), &coordinates(&want)));
    }
    // Gradients are recorded: one of their inner products has a gradient.
    let g = tape.grad(&loss, &[a])?.remove(0);
    let size = one(SparseOp::Dot, &[&g, &g])?;
    let second = tape.grad(&size, &[a])?.remove(0);
    // 2 H g.
    let along = vec![g.value().clone()];
    let h = hvp(&ad, &f, &f.params()[..1])?;
    let product = run(&h, &[arguments(&x), along].concat());
    let twice: Vec<f64> = coordinates(&product).iter().map(|h| 2.0 * h).collect();
    assert!(close(&coordinates(&[second.value().clone()]), &twice));
    Ok(())
}

#[test]
fn a_batch_of_vectors_is_multiplied_by_one_matrix() -> Result<()> {
    let ad = AdContext::default();
    let f = function(&[pattern().into(), vector(6)], |cx, x| {
        vec![cx.op(SparseOp::MATMUL, x)]
    })?;
    let (all, mapped) = batch(&ad.session(), &f, &[false, true], &[], &Dim::Const(3))?;
    assert_eq!(mapped, [true]);
    let a = arguments(&numbers(23, 1)).remove(0);
    let rows = numbers(18, 4);
    let x = Value::Dense(Array::from_vec([3, 6], rows.clone())?);
    let y = coordinates(&run(&all, &[a.clone(), x]));
    let each = rows.chunks(6).flat_map(|row| {
        let x = Value::Dense(Array::vector(row.to_vec()));
        coordinates(&run(&f, &[a.clone(), x]))
    });
    assert_eq!(y, each.collect::<Vec<_>>());
    // A batch of matrices does not exist.
    assert!(batch(&ad.session(), &f, &[true, false], &[], &Dim::Const(3)).is_err());
    // A pullback of a vector.
    let back = vjp(&ad, &f, f.params())?;
    assert_eq!(back.result_types(), [pattern().into(), vector(6)]);
    Ok(())
}

const TEXT: &str = "\
tgraph.module @f {
  %a = tgraph.arg : !sparse.matrix<rows = 2, columns = 4, block = 2, blocks = [[0, 1]]>
  %x = tgraph.arg : tensor<4xf64>
  %y = tgraph.sparse.matmul %a, %x : tensor<2xf64>
  %s = tgraph.reduce_sum %y {axes = [0]} : f64
  tgraph.return %s : f64
}
";

#[test]
fn programs_and_their_gradients_have_a_text_form() -> Result<()> {
    let (operations, types) = (operations(), types());
    let extensions = Extensions {
        operations: &operations,
        types: &types,
    };
    let parsed = |text: &str| Program::parse_extended(text, None, extensions);
    assert_eq!(parsed(TEXT)?.to_string(), TEXT);
    let directive = format!("{TEXT}\ntgraph.adjoint @f wrt(%a) -> @g\n");
    let derived = parsed(&directive)?.derive(&AdContext::default())?;
    let text = derived.to_string();
    assert!(text.contains("tgraph.sparse.sampled_outer"), "{text}");
    assert_eq!(parsed(&text)?.to_string(), text);
    let g = parsed(&text)?.module("g").unwrap().clone();
    let ty = Pattern::declare(2, 4, 2, &[(0, 1)])?;
    let a = Value::Sparse(Matrix::new(ty, vec![1.0; 4])?);
    let x = Value::Dense(Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
    let gradient = Value::Sparse(Matrix::new(ty, vec![3.0, 4.0, 3.0, 4.0])?);
    assert_eq!(run(&g, &[a, x]), [gradient]);
    let wrong = TEXT.replace("[[0, 1]]", "[[0, 2]]");
    assert!(parsed(&wrong).is_err());
    // Without the extension the type is unknown.
    assert_eq!(
        Program::parse(TEXT, None).err().map(|e| e.code()),
        Some(Code::UnknownDType)
    );
    Ok(())
}

#[test]
fn operations_of_the_core_and_other_patterns_are_refused() -> Result<()> {
    let refused = |write: &dyn Fn(&dyn Emit, &[Val]) -> Val| {
        let other = Pattern::declare(4, 6, 2, &[(0, 0)]).unwrap();
        function(&[pattern().into(), other.into()], |cx, x| {
            vec![write(cx, x)]
        })
        .unwrap_err()
    };
    let e = refused(&|cx, x| cx.add(x[0], x[0]));
    assert!(
        e.to_string().contains("`add` cannot take !sparse.matrix"),
        "{e}"
    );
    let e = refused(&|cx, x| cx.op(SparseOp::Add, &[x[0], x[1]]));
    assert_eq!(e.code(), Code::ShapeMismatch);
    let e = cotangent_core::reference::run(&loss()?, &[]).unwrap_err();
    assert!(e.to_string().contains("tape::Executor"), "{e}");
    assert!(Pattern::declare(4, 6, 4, &[]).is_err());
    assert!(Matrix::new(pattern(), vec![0.0; 3]).is_err());
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
