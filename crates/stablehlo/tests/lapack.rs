//! LAPACK routines whose results are checked by their defining equations.

use cotangent_core::rewrite::simplify;
use cotangent_core::{Array, C128, reference};
use cotangent_stablehlo::read;

/// Calls a routine on a 4×4 matrix and returns its results.
fn call(target: &str, config: &str, element: &str, results: &[&str], a: Array) -> Vec<Array> {
    let ty = format!("tensor<4x4x{element}>");
    let all = results
        .iter()
        .map(|r| format!("tensor<{r}>"))
        .collect::<Vec<_>>()
        .join(", ");
    let names = (0..results.len())
        .map(|k| format!("%y#{k}"))
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!(
        "func.func @main(%a: {ty}) -> ({all}) {{
  %y:{} = stablehlo.custom_call @{target}(%a) {{mhlo.backend_config = {{{config}}}}} : ({ty}) -> ({all})
  return {names} : {all}
}}",
        results.len()
    );
    reference::run(
        read(&text, None)
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
            .main(),
        &[a],
    )
    .unwrap()
}

type Matrix = [[C128; 4]; 4];

fn matrix(a: &Array) -> Matrix {
    let z = a.to_c128();
    std::array::from_fn(|i| std::array::from_fn(|j| z[4 * i + j]))
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

fn adjoint(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i].conj()))
}

fn near(a: &Matrix, b: &Matrix) {
    for (i, j) in (0..16).map(|k| (k / 4, k % 4)) {
        assert!(
            (a[i][j] - b[i][j]).norm() < 1e-10,
            "{i} {j}: {} and {}",
            a[i][j],
            b[i][j]
        );
    }
}

/// Pseudorandom numbers.
fn numbers(n: usize) -> Vec<f64> {
    (0..n)
        .map(|k| ((k * k * 37 + 11 * k + 5) % 23) as f64 / 7.0 - 1.5)
        .collect()
}

#[test]
fn a_schur_form_is_triangular_up_to_pairs() {
    let real = ["4x4xf64", "4x4xf64", "4xf64", "4xf64", "i32", "i32"];
    // A general matrix, and one whose eigenvalues are conjugate pairs with equal real parts.
    let turning = vec![
        0.0, 1.0, 0.3, -2.0, -1.0, 0.0, 0.7, 0.4, -0.3, -0.7, 0.0, 1.1, 2.0, -0.4, -1.1, 0.0,
    ];
    for a in [numbers(16), turning] {
        let a = Array::from_vec([4, 4], a).unwrap();
        let y = call(
            "lapack_dgees_ffi",
            "mode = 86 : ui8, sort = 78 : ui8",
            "f64",
            &real,
            a.clone(),
        );
        let (t, q) = (matrix(&y[0]), matrix(&y[1]));
        near(&times(&times(&q, &t), &adjoint(&q)), &matrix(&a));
        near(
            &times(&q, &adjoint(&q)),
            &std::array::from_fn(|i| std::array::from_fn(|j| C128::from(f64::from(i == j)))),
        );
        let below = |i: usize, j: usize| t[i][j] == C128::default();
        assert!((2..4).all(|i| (0..i - 1).all(|j| below(i, j))), "{t:?}");
        // No two 2×2 blocks overlap.
        assert!((1..3).all(|i| below(i, i - 1) || below(i + 1, i)), "{t:?}");
    }
    let z: Vec<C128> = numbers(32)
        .chunks(2)
        .map(|p| C128::new(p[0], p[1]))
        .collect();
    let a = Array::from_vec([4, 4], z).unwrap();
    let complex = [
        "4x4xcomplex<f64>",
        "4x4xcomplex<f64>",
        "4xcomplex<f64>",
        "i32",
        "i32",
    ];
    let y = call(
        "lapack_zgees_ffi",
        "mode = 86 : ui8, sort = 78 : ui8",
        "complex<f64>",
        &complex,
        a.clone(),
    );
    let (t, q) = (matrix(&y[0]), matrix(&y[1]));
    near(&times(&times(&q, &t), &adjoint(&q)), &matrix(&a));
    assert!(
        (1..4).all(|i| (0..i).all(|j| t[i][j] == C128::default())),
        "{t:?}"
    );
}

/// `A = Q T Qᴴ` with reflectors above the diagonal: `Q = H(3) H(2) H(1)`.
#[test]
fn a_matrix_is_made_tridiagonal_from_either_triangle() {
    let z: Vec<C128> = numbers(32)
        .chunks(2)
        .map(|p| C128::new(p[0], p[1]))
        .collect();
    let a: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| match i.cmp(&j) {
            std::cmp::Ordering::Less => z[4 * i + j],
            std::cmp::Ordering::Equal => C128::from(z[4 * i + i].re),
            std::cmp::Ordering::Greater => z[4 * j + i].conj(),
        })
    });
    // Imaginary parts of the diagonal are not read.
    let given: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| match i == j {
            true => a[i][j] + C128::new(0.0, 1.0 + i as f64),
            false => a[i][j],
        })
    });
    let array = Array::from_vec([4, 4], given.concat()).unwrap();
    let results = [
        "4x4xcomplex<f64>",
        "4xf64",
        "3xf64",
        "3xcomplex<f64>",
        "i32",
    ];
    for (code, upper) in [(76, false), (85, true)] {
        let config = format!("uplo = {code} : ui8");
        let y = call(
            "lapack_zhetrd_ffi",
            &config,
            "complex<f64>",
            &results,
            array.clone(),
        );
        let (packed, d, e, taus) = (matrix(&y[0]), y[1].to_f64(), y[2].to_f64(), y[3].to_c128());
        assert!((0..4).all(|i| packed[i][i] == C128::from(d[i])));
        let mut q: Matrix =
            std::array::from_fn(|i| std::array::from_fn(|j| C128::from(f64::from(i == j))));
        let order: Vec<usize> = if upper { vec![2, 1, 0] } else { vec![0, 1, 2] };
        for k in order {
            let v: [C128; 4] = std::array::from_fn(|i| match (upper, i) {
                (false, i) if i == k + 1 => C128::from(1.0),
                (false, i) if i > k + 1 => packed[i][k],
                (true, i) if i == k => C128::from(1.0),
                (true, i) if i < k => packed[i][k + 1],
                _ => C128::default(),
            });
            let h: Matrix = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    C128::from(f64::from(i == j)) - taus[k] * v[i] * v[j].conj()
                })
            });
            q = times(&q, &h);
        }
        let t: Matrix = std::array::from_fn(|i| {
            std::array::from_fn(|j| match i.abs_diff(j) {
                0 => C128::from(d[i]),
                1 => C128::from(e[i.min(j)]),
                _ => C128::default(),
            })
        });
        near(&times(&times(&q, &t), &adjoint(&q)), &a);
    }
}

/// `jnp.linalg.qr` in JAX's form, of an m×n matrix with m >= n.
fn qr_of(m: usize, n: usize) -> String {
    let (a, q, r) = (
        format!("tensor<{m}x{n}xf64>"),
        format!("tensor<{m}x{n}xf64>"),
        format!("tensor<{n}x{n}xf64>"),
    );
    let (index, mask) = (
        format!("tensor<{n}x{n}xi64>"),
        format!("tensor<{n}x{n}xi1>"),
    );
    format!(
        "func.func @main(%a: {a}) -> ({q}, {r}) {{
  %y:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : ({a}) -> ({a}, tensor<{n}xf64>)
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%y#0, %y#1) : ({a}, tensor<{n}xf64>) -> {q}
  %s = stablehlo.slice %y#0 [0:{n}, 0:{n}] : ({a}) -> {r}
  %i = stablehlo.iota dim = 0 : {index}
  %c = stablehlo.constant dense<-1> : tensor<i64>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> {index}
  %k = stablehlo.add %i, %b : {index}
  %j = stablehlo.iota dim = 1 : {index}
  %p = stablehlo.compare GE, %k, %j, SIGNED : ({index}, {index}) -> {mask}
  %z = stablehlo.constant dense<0.0> : {r}
  %r = stablehlo.select %p, %z, %s : {mask}, {r}
  return %q, %r : {q}, {r}
}}"
    )
}

#[test]
fn factors_are_those_of_one_operation_and_reflectors_give_the_same() {
    for (m, n) in [(4, 4), (6, 4), (1, 1)] {
        let a = Array::from_vec([m, n], numbers(m * n)).unwrap();
        let text = qr_of(m, n);
        let f = read(&text, None).unwrap().main().clone();
        let simple = simplify(&f);
        let names: Vec<&str> = simple.eqns().iter().map(|e| e.op.name()).collect();
        assert!(
            names.contains(&"qr") && !names.contains(&"scan"),
            "{names:?}"
        );
        // Elements below the diagonal come from the reflectors.
        let other = text
            .replace("compare GE", "compare GT")
            .replace("dense<-1>", "dense<0>");
        let g = read(&other, None).unwrap().main().clone();
        assert!(g.eqns().iter().any(|e| e.op.name() == "scan"));
        let (x, y) = (
            reference::run(&f, std::slice::from_ref(&a)).unwrap(),
            reference::run(&g, &[a]).unwrap(),
        );
        for (x, y) in x.iter().zip(&y) {
            for (x, y) in x.to_f64().into_iter().zip(y.to_f64()) {
                assert!((x - y).abs() < 1e-12, "{x} and {y}");
            }
        }
    }
}

#[test]
fn factors_of_a_batch_of_symbolic_extent_are_those_of_one_operation() {
    let text = "func.func @main(%a: tensor<?x4x4xf64>) -> (tensor<?x4x4xf64>, tensor<?x4x4xf64>) {
  %y:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : (tensor<?x4x4xf64>) -> (tensor<?x4x4xf64>, tensor<?x4xf64>)
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%y#0, %y#1) : (tensor<?x4x4xf64>, tensor<?x4xf64>) -> tensor<?x4x4xf64>
  %i = stablehlo.iota dim = 0 : tensor<4x4xi64>
  %c = stablehlo.constant dense<-1> : tensor<4x4xi64>
  %k = stablehlo.add %i, %c : tensor<4x4xi64>
  %j = stablehlo.iota dim = 1 : tensor<4x4xi64>
  %p = stablehlo.compare GE, %k, %j, SIGNED : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4x4xf64>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %four, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %ps = stablehlo.dynamic_broadcast_in_dim %p, %shape, dims = [1, 2] : (tensor<4x4xi1>, tensor<3xi32>) -> tensor<?x4x4xi1>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %zs = stablehlo.dynamic_broadcast_in_dim %z, %shape, dims = [] : (tensor<f64>, tensor<3xi32>) -> tensor<?x4x4xf64>
  %r = stablehlo.select %ps, %zs, %y#0 : tensor<?x4x4xi1>, tensor<?x4x4xf64>
  return %q, %r : tensor<?x4x4xf64>, tensor<?x4x4xf64>
}";
    let f = read(text, None).unwrap().main().clone();
    let names: Vec<&str> = f.eqns().iter().map(|e| e.op.name()).collect();
    assert!(
        names.contains(&"qr") && !names.contains(&"scan"),
        "{names:?}"
    );
    let a = numbers(48);
    let y = reference::run(&f, &[Array::from_vec([3, 4, 4], a.clone()).unwrap()]).unwrap();
    let [q, r] = [0, 1].map(|k| y[k].to_f64());
    for b in 0..3 {
        for (i, j) in (0..16).map(|k| (k / 4, k % 4)) {
            let at = |v: &[f64], i: usize, j: usize| v[16 * b + 4 * i + j];
            let product: f64 = (0..4).map(|k| at(&q, i, k) * at(&r, k, j)).sum();
            assert!((product - at(&a, i, j)).abs() < 1e-12);
            assert!(j >= i || at(&r, i, j) == 0.0);
        }
    }
}
