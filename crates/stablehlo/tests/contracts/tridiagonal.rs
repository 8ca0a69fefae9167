//! Tridiagonal systems: solutions of regular ones, `info` and finite solutions of singular ones.

use super::*;
use cotangent_core::Code;

/// The routine for singular matrices.
const PERTURBED: &str = "tridiagonal_solve_perturbed_ffi";

/// The three diagonals of a matrix, in the rows of its elements.
struct Tridiagonal([Vec<Z>; 3]);

impl Tridiagonal {
    fn random(of: Of, n: usize, seed: u64) -> Tridiagonal {
        let mut r = Random(seed);
        let mut number = |_| {
            let z = Z::new(r.next(), if of.complex() { r.next() } else { 0.0 });
            matrix(&of.array(&M::new(1, 1, |_, _| z))).at(0, 0)
        };
        Tridiagonal([(); 3].map(|()| (0..n).map(&mut number).collect()))
    }

    fn of_reals(diagonals: [&[f64]; 3]) -> Tridiagonal {
        Tridiagonal(diagonals.map(|d| d.iter().map(|&x| Z::from(x)).collect()))
    }

    fn n(&self) -> usize {
        self.0[0].len()
    }

    fn times(&self, x: &M) -> M {
        let term = |k: usize, i: usize, row: Option<usize>, j: usize| match row {
            Some(row) if row < x.m => self.0[k][i] * x.at(row, j),
            _ => Z::default(),
        };
        M::new(x.m, x.n, |i, j| {
            term(0, i, i.checked_sub(1), j) + term(1, i, Some(i), j) + term(2, i, Some(i + 1), j)
        })
    }

    /// Diagonals as arrays. Elements outside of the matrix are NaN.
    fn arrays(&self, of: Of) -> [Array; 3] {
        let mut all = self.0.clone();
        all[0][0] = Z::from(f64::NAN);
        all[2][self.n() - 1] = Z::from(f64::NAN);
        all.map(|d| {
            let n = d.len();
            of.array(&M { m: 1, n, a: d }).reshape([n]).unwrap()
        })
    }

    /// The solution by `gtsv`, and `info`.
    fn solved(&self, of: Of, b: &M) -> (M, f64) {
        let results = square_results(b.m, &["{n}x{E}", "{n}x{E}", "{n}x{E}"]);
        let results = [
            results,
            vec![format!("{}x{}x{{E}}", b.m, b.n), "i32".into()],
        ]
        .concat();
        let operands = [&self.arrays(of)[..], &[of.array(b)]].concat();
        let y = call(of, "gtsv", "", &operands, &results);
        (matrix(&y[3]), y[4].to_f64()[0])
    }

    fn solved_perturbed(&self, of: Of, b: &M) -> M {
        let operands = [&self.arrays(of)[..], &[of.array(b)]].concat();
        let result = format!("{}x{}x{{E}}", b.m, b.n);
        matrix(&call(of, PERTURBED, "", &operands, &[result])[0])
    }
}

fn right(n: usize) -> M {
    M::new(n, 2, |i, j| Z::from((i % 5) as f64 - 2.0 * j as f64 - 1.0))
}

#[test]
fn regular_systems_are_solved_with_row_swaps() {
    for of in TYPES {
        for n in [1, 2, 3, 8, 40] {
            for seed in 0..4 {
                let mut t = Tridiagonal::random(of, n, seed);
                if seed == 3 && n.is_multiple_of(2) {
                    // Every pivot is a subdiagonal element.
                    t.0[1].fill(Z::default());
                }
                let what = format!("{of:?} {n} {seed}");
                let b = right(n);
                let (x, info) = t.solved(of, &b);
                assert_eq!(info, 0.0, "{what}");
                // The residual of a stable solution, whatever the condition.
                let scale = 1.0 + x.size();
                t.times(&x).near(&b, of.eps() * scale, &what);
                t.times(&t.solved_perturbed(of, &b))
                    .near(&b, of.eps() * scale, &what);
            }
        }
    }
}

#[test]
fn a_system_of_many_rows_is_solved_row_by_row() {
    let of = TYPES[1];
    let n = 4_000;
    let mut t = Tridiagonal::random(of, n, 1);
    t.0[1].iter_mut().for_each(|z| *z += 3.0);
    let b = right(n);
    t.times(&t.solved(of, &b).0)
        .near(&b, of.eps(), "4,000 rows");
}

#[test]
fn batches_are_solved_one_by_one() {
    let (of, n) = (TYPES[1], 5);
    let all = [3, 4].map(|seed| Tridiagonal::random(of, n, seed));
    let joined = |k: usize| {
        let data = all.iter().flat_map(|t| t.0[k].iter().map(|z| z.re));
        Array::from_vec([2, n], data.collect::<Vec<f64>>()).unwrap()
    };
    let b = right(n);
    let twice: Vec<f64> = [&b.a[..], &b.a[..]].concat().iter().map(|z| z.re).collect();
    let b2 = Array::from_vec([2, n, 2], twice).unwrap();
    let operands = [joined(0), joined(1), joined(2), b2];
    let results = ["2x5xf64", "2x5xf64", "2x5xf64", "2x5x2xf64", "2xi32"].map(String::from);
    let y = call(of, "gtsv", "", &operands, &results);
    let perturbed = call(of, PERTURBED, "", &operands, &results[3..4]);
    let expected: Vec<f64> = { all.iter() }
        .flat_map(|t| t.solved(of, &b).0.a)
        .map(|z| z.re)
        .collect();
    assert_eq!(y[3].to_f64(), expected);
    assert_eq!(perturbed[0].to_f64(), expected);
    assert_eq!(y[4].to_f64(), [0.0, 0.0]);
}

#[test]
fn singular_systems_have_an_info_and_finite_perturbed_solutions() {
    let n = 4;
    let cases: [([&[f64]; 3], f64); 4] = [
        ([&[0.0; 4], &[0.0; 4], &[0.0; 4]], 1.0),
        (
            [&[0.0, 1.0, 1.0, 1.0], &[1.0, 1.0, 1.0, 0.0], &[1.0; 4]],
            4.0,
        ),
        (
            [
                &[0.0, 0.0, 1.0, 1.0],
                &[2.0, 0.0, 0.0, 0.0],
                &[1.0, 1.0, 0.0, 0.0],
            ],
            4.0,
        ),
        (
            [
                &[0.0, 0.0, 0.0, 1.0],
                &[2.0, 0.0, 1.0, 1.0],
                &[1.0, 1.0, 1.0, 0.0],
            ],
            2.0,
        ),
    ];
    for of in TYPES {
        for (k, (diagonals, info)) in cases.iter().enumerate() {
            let (t, b) = (
                Tridiagonal::of_reals(*diagonals),
                M::new(n, 1, |i, _| Z::from(1.0 + i as f64)),
            );
            assert_eq!(t.solved(of, &b).1, *info, "{of:?} {k}");
            let x = t.solved_perturbed(of, &b);
            assert!(
                x.a.iter().all(|z| z.re.is_finite() && z.im.is_finite()),
                "{x:?}"
            );
            assert!(x.size() > 1.0 / of.eps().sqrt(), "{x:?}");
            // The matrix that was solved differs from `t` by the precision of its elements.
            if k > 0 {
                let far = M {
                    a: t.times(&x).a.iter().zip(&b.a).map(|(a, b)| a - b).collect(),
                    ..x.clone()
                };
                assert!(far.size() < 100.0 * of.eps() * x.size(), "{far:?} {x:?}");
            }
        }
    }
}

#[test]
fn operands_of_other_shapes_are_errors_and_empty_systems_have_empty_solutions() {
    let program = |d: &str, b: &str| {
        let (d, b) = (format!("tensor<{d}>"), format!("tensor<{b}>"));
        let text = format!(
            "func.func @main(%d: {d}, %b: {b}) -> {b} {{\n  %y = stablehlo.custom_call @{PERTURBED}(%d, %d, %d, %b) \
             : ({d}, {d}, {d}, {b}) -> {b}\n  return %y : {b}\n}}"
        );
        read(&text, None).map(|m| m.main().clone())
    };
    for (d, b) in [
        ("f64", "2xf64"),
        ("3xf64", "3xf64"),
        ("3xf64", "4x1xf64"),
        ("3xf64", "3x1xf32"),
        ("2x3xf64", "3x2x1xf64"),
        ("3xi32", "3x1xi32"),
    ] {
        let e = program(d, b).err().unwrap();
        assert_eq!(e.code(), Code::ShapeMismatch, "{d} {b}: {e}");
    }
    for (d, b, shape) in [("0xf64", "0x2xf64", [0, 2]), ("3xf64", "3x0xf64", [3, 0])] {
        let n = shape[0];
        let given = [
            Array::from_vec([n], vec![1.0; n]).unwrap(),
            Array::from_vec(shape, Vec::<f64>::new()).unwrap(),
        ];
        let y = reference::run(&program(d, b).unwrap(), &given).unwrap();
        assert_eq!(y[0].shape(), shape);
    }
}
