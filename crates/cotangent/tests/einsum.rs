//! Einstein summation, compared with loops and with other contraction orders, and through every
//! transform.

use cotangent::ad::{EagerRuntime, TracedTensorAdExt};
use cotangent::closures::{grad, hessian, vmap};
use cotangent::einsum::{EagerEinsumExt, Strategy, einsum, einsum_by};
use cotangent::{C128, Code, DType, Dim, GraphCompiler, GraphExecutor, Tensor, TracedTensor};

fn tensor(shape: &[usize], seed: usize) -> TracedTensor {
    let n: usize = shape.iter().product();
    let data = (0..n)
        .map(|k| ((k * 7 + seed * 13) % 19) as f64 / 4.0 - 2.0)
        .collect();
    TracedTensor::from_vec_row_major(shape.to_vec(), data)
}

fn vals(t: &TracedTensor) -> Vec<f64> {
    t.to_tensor().unwrap().to_vec().unwrap()
}

fn close(got: &[f64], want: &[f64]) {
    let near = got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + b.abs()));
    assert!(near, "{got:?} is not {want:?}");
}

/// The reference evaluation: a loop over all indices. Letters only.
fn naive(spec: &str, x: &[(Vec<usize>, Vec<f64>)]) -> Vec<f64> {
    let (inputs, output) = spec.split_once("->").unwrap();
    let inputs: Vec<Vec<char>> = inputs.split(',').map(|t| t.chars().collect()).collect();
    let mut letters: Vec<char> = output.chars().collect();
    let kept = letters.len();
    inputs.iter().flatten().for_each(|c| {
        if !letters.contains(c) {
            letters.push(*c)
        }
    });
    let extent = |c: &char| {
        let of = inputs
            .iter()
            .zip(x)
            .find_map(|(t, x)| t.iter().position(|d| d == c).map(|k| x.0[k]));
        of.unwrap()
    };
    let extents: Vec<usize> = letters.iter().map(extent).collect();
    let mut y = vec![0.0; extents[..kept].iter().product()];
    for flat in 0..extents.iter().product::<usize>() {
        let mut rest = flat;
        let mut at = vec![0; letters.len()];
        for k in (0..letters.len()).rev() {
            (at[k], rest) = (rest % extents[k], rest / extents[k]);
        }
        let index = |c: &char| at[letters.iter().position(|d| d == c).unwrap()];
        let factor = |(t, (shape, data)): (&Vec<char>, &(Vec<usize>, Vec<f64>))| {
            data[t.iter().zip(shape).fold(0, |o, (c, n)| o * n + index(c))]
        };
        let to = (0..kept).fold(0, |o, k| o * extents[k] + at[k]);
        y[to] += inputs.iter().zip(x).map(factor).product::<f64>();
    }
    y
}

#[test]
fn agrees_with_loops() {
    let extent = |c: char| 2 + (c as usize) % 3;
    for spec in [
        "ij,jk->ik",
        "ij,kj->ki",
        "ij->ji",
        "ij->j",
        "ij->",
        "ii->i",
        "ii->",
        "iij->ij",
        "iji->j",
        "iii->i",
        "iijj->ij",
        "i,j->ij",
        "ij,ij->ij",
        "ij,ij->",
        "bij,bjk->bik",
        "bij,bkj->kbi",
        "ijk,jil->kl",
        "i,i,i->i",
        "i,i,i->",
        "ij,jk,kl,lm->im",
        "ab,bc,ca->",
        "abc,cd,dbe,ae->",
        "ij,j->i",
        "i,->i",
        "ii,ij,jj->j",
        "aabb,bc->ac",
    ] {
        let terms: Vec<&str> = spec.split_once("->").unwrap().0.split(',').collect();
        let x: Vec<TracedTensor> = terms
            .iter()
            .enumerate()
            .map(|(k, t)| tensor(&t.chars().map(extent).collect::<Vec<_>>(), k))
            .collect();
        let refs: Vec<&TracedTensor> = x.iter().collect();
        let plain: Vec<(Vec<usize>, Vec<f64>)> = terms
            .iter()
            .zip(&x)
            .map(|(t, x)| (t.chars().map(extent).collect(), vals(x)))
            .collect();
        let want = naive(spec, &plain);
        for strategy in [Strategy::Auto, Strategy::Greedy, Strategy::InOrder] {
            close(&vals(&einsum_by(spec, &refs, strategy).unwrap()), &want);
        }
    }
}

#[test]
fn ellipses_and_extents_of_one() {
    let (a, b) = (tensor(&[2, 1, 3, 4], 1), tensor(&[5, 4, 2], 2));
    let y = einsum("...ij,...jk", &[&a, &b]).unwrap();
    assert_eq!(y.to_tensor().unwrap().shape(), [2, 5, 3, 2]);
    close(&vals(&y), &vals(&a.matmul(&b).unwrap()));
    close(&vals(&einsum("...->", &[&a]).unwrap()), &vals(&a.sum(..)));
    close(
        &vals(&einsum("i...->...i", &[&a]).unwrap()),
        &vals(&a.transpose(&[1, 2, 3, 0])),
    );
    // An extent of 1 is broadcast under a letter, too.
    let (c, d) = (tensor(&[1, 3], 3), tensor(&[4, 3], 4));
    close(
        &vals(&einsum("ij,ij->i", &[&c, &d]).unwrap()),
        &vals(&(&c * &d).reduce_sum(&[1])),
    );
}

#[test]
fn parentheses_fix_the_order() {
    let (a, b, c) = (tensor(&[2, 3], 1), tensor(&[3, 4], 2), tensor(&[4, 2], 3));
    let want = vals(&a.matmul(&b).unwrap().matmul(&c).unwrap());
    close(
        &vals(&einsum("(ij,jk),kl->il", &[&a, &b, &c]).unwrap()),
        &want,
    );
    close(
        &vals(&einsum("ij,(jk,kl)->il", &[&a, &b, &c]).unwrap()),
        &want,
    );
}

#[test]
fn mistakes_are_errors_with_the_line() {
    let a = tensor(&[2, 3], 1);
    let line = line!() + 1;
    let e = einsum("ij,jk->ik", &[&a, &a]).unwrap_err();
    assert!(
        e.to_string()
            .contains("`j` has the extent 3 in operand #0 and 2 in operand #1"),
        "{e}"
    );
    assert!(e.to_string().contains(&format!("einsum.rs:{line}")), "{e}");
    assert_eq!(einsum("", &[]).unwrap_err().code(), Code::Arity);
    assert!(
        einsum("ij", &[&(&a + &tensor(&[4], 1))])
            .unwrap_err()
            .to_string()
            .contains("`add`")
    );
    let (rt, other) = (EagerRuntime::new(), EagerRuntime::new());
    let x = rt.constant_from(Tensor::vector(vec![1.0])).unwrap();
    let y = other.constant_from(Tensor::vector(vec![1.0])).unwrap();
    assert!(matches!(
        [&x, &y].einsum("i,i"),
        Err(cotangent::ad::Error::ContextMismatch { .. })
    ));
    assert!([&x; 0].einsum("").is_err());
}

#[test]
fn derivatives_of_any_order() {
    let (a, x) = (tensor(&[3, 3], 1), tensor(&[3], 2));
    let f = |x: TracedTensor| einsum("i,ij,j->", &[&x, &a, &x]);
    let both = vals(&(&a + &a.transpose(&[1, 0])));
    close(&vals(&hessian(f)(x.clone()).unwrap()), &both);
    let g = grad(f)(x.clone()).unwrap();
    let want = vals(&(&a + &a.transpose(&[1, 0])).matmul(&x).unwrap());
    close(&vals(&g), &want);
    // Third order: the trace of a cube.
    let t = |m: TracedTensor| einsum("ij,jk,ki->", &[&m, &m, &m]);
    let third = |m: TracedTensor| {
        grad(move |m: TracedTensor| Ok::<_, cotangent::Error>(grad(t)(m)?.square().sum(..)))(m)
    };
    let got = vals(&third(a.clone()).unwrap());
    // d/dm |3 (m²)ᵀ|² = 18 (Mᵀ Mᵀ² .. ) by products of matrices.
    let at = a.transpose(&[1, 0]);
    let square = a.matmul(&a).unwrap();
    let want = (square.matmul(&at).unwrap() + at.matmul(&square).unwrap()) * 18.0;
    close(&got, &vals(&want));
    // A batch is a loop.
    let xs = tensor(&[4, 3], 5);
    let many = vals(&vmap(grad(f))(xs.clone()).unwrap());
    for k in 0..4 {
        close(
            &many[3 * k..3 * k + 3],
            &vals(&grad(f)(xs.index(0, k)).unwrap()),
        );
    }
}

#[test]
fn complex_numbers_pull_back_conjugated() {
    let z = |k: f64| {
        TracedTensor::from_vec_row_major(vec![2], vec![C128::new(1.0, k), C128::new(-k, 2.0)])
    };
    let (a, b) = (z(0.5), z(-1.0));
    let y = einsum("i,i->", &[&a, &b]).unwrap();
    let ct = TracedTensor::scalar(C128::new(1.0, 0.0));
    let back = y
        .vjp(&a, &ct)
        .unwrap()
        .to_tensor()
        .unwrap()
        .to_vec::<C128>()
        .unwrap();
    assert_eq!(back, [C128::new(1.0, 1.0), C128::new(1.0, -2.0)]);
}

#[test]
fn unknown_extents_contract() {
    let n = Dim::sym("n");
    let x = TracedTensor::input(DType::F64, vec![n.clone(), Dim::from(2)]);
    let y = TracedTensor::input(DType::F64, vec![Dim::from(2), n]);
    let z = einsum("ij,jk,kl->il", &[&x, &y, &x]).unwrap();
    let g = einsum("ij,ji->", &[&x, &y]).unwrap().grad(&y).unwrap();
    let program = GraphCompiler::new().compile_many(&[&z, &g]).unwrap();
    for n in [1, 3] {
        let (a, b) = (
            tensor(&[n, 2], 1).to_tensor().unwrap(),
            tensor(&[2, n], 2).to_tensor().unwrap(),
        );
        let r = GraphExecutor::default()
            .run_many_with_inputs(&program, &[(&x, &a), (&y, &b)])
            .unwrap();
        let (a, b) = (TracedTensor::from(a), TracedTensor::from(b));
        close(
            &r[0].to_vec().unwrap(),
            &vals(&a.matmul(&b).unwrap().matmul(&a).unwrap()),
        );
        assert_eq!(r[1].shape(), [2, n]);
    }
}

#[test]
fn fifty_tensors_contract() {
    // A ring of 50 small matrices: the trace of their product.
    let letters: Vec<char> = (0..50).filter_map(|k| char::from_u32(0x4e00 + k)).collect();
    let terms: Vec<String> = (0..50)
        .map(|k| format!("{}{}", letters[k], letters[(k + 1) % 50]))
        .collect();
    let x: Vec<TracedTensor> = (0..50).map(|k| tensor(&[3, 3], k)).collect();
    let refs: Vec<&TracedTensor> = x.iter().collect();
    let y = einsum(&(terms.join(",") + "->"), &refs).unwrap();
    let product = x[1..]
        .iter()
        .fold(x[0].clone(), |p, m| p.matmul(m).unwrap());
    close(&vals(&y), &vals(&product.trace()));
    let rt = EagerRuntime::new();
    let eager: Vec<_> = x
        .iter()
        .map(|t| rt.variable_from(t.to_tensor().unwrap()).unwrap())
        .collect();
    let spec = terms.join(",") + "->";
    for _ in 0..2 {
        let z = eager.einsum(&spec).unwrap();
        close(&[z.item::<f64>().unwrap()], &vals(&y));
    }
    // The search for an order ran once.
    let stats = rt.cache_stats().unwrap().extensions;
    assert_eq!((stats.entries, stats.hits), (1, 1));
}
