//! Eigenvalues and eigenvectors (`geev`) and Schur forms (`gees`), and injected faults in them.

use super::*;

/// Checks that two lists of eigenvalues are permutations of each other.
fn same_values(a: &[Z], b: &[Z], room: f64, what: &str) {
    let mut left = b.to_vec();
    for z in a {
        let (k, far) = left
            .iter()
            .map(|w| (w - z).norm())
            .enumerate()
            .min_by(|x, y| x.1.total_cmp(&y.1))
            .unwrap();
        assert!(far <= room, "{what}: {z} is none of {b:?}");
        left.swap_remove(k);
    }
}

/// Eigenvalues, left and right eigenvectors.
type Eigen = (Vec<Z>, M, M);

fn geev(of: Of, a: &M) -> Eigen {
    let n = a.n;
    let (v, real) = (
        if of.dtype.real() == DType::F32 {
            "complex<f32>"
        } else {
            "complex<f64>"
        },
        !of.complex(),
    );
    let values: &[&str] = if real {
        &["{n}x{E}", "{n}x{E}"]
    } else {
        &["{n}x{E}"]
    };
    let mut results = square_results(n, values);
    results.extend([format!("{n}x{n}x{v}"), format!("{n}x{n}x{v}"), "i32".into()]);
    let y = call(
        of,
        "geev",
        "compute_left = 86 : ui8, compute_right = 86 : ui8",
        &[of.array(a)],
        &results,
    );
    let (w, rest) = match real {
        true => (
            vector(&y[0])
                .iter()
                .zip(vector(&y[1]))
                .map(|(re, im)| Z::new(re.re, im.re))
                .collect(),
            &y[2..],
        ),
        false => (vector(&y[0]), &y[1..]),
    };
    assert_eq!(rest[2].to_f64(), [0.0]);
    (w, matrix(&rest[0]), matrix(&rest[1]))
}

/// Checks the specification of `geev`.
fn geev_holds(of: Of, name: &str, a: &M, (w, left, right): &Eigen) {
    let what = format!("{}geev of {name}", of.letter);
    let room = 400.0 * of.eps() * a.size().max(f64::MIN_POSITIVE) * a.n as f64;
    for (side, v, m) in [("right", right, a.clone()), ("left", left, a.adjoint())] {
        for (j, &wj) in w.iter().enumerate() {
            let column: Vec<Z> = (0..a.n).map(|i| v.at(i, j)).collect();
            let length = column.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            assert!(
                (length - 1.0).abs() < 40.0 * of.eps(),
                "{what}, {side}: a length of {length}"
            );
            // A largest component is exactly real.
            let most = column.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let largest = column
                .iter()
                .any(|z| z.im == 0.0 && z.norm() >= most * (1.0 - 8.0 * of.eps()));
            assert!(largest, "{what}, {side}: {column:?}");
            let value = if side == "right" { wj } else { wj.conj() };
            for i in 0..a.n {
                let r = (0..a.n).map(|k| m.at(i, k) * column[k]).sum::<Z>() - value * column[i];
                assert!(
                    r.norm() <= room,
                    "{what}, {side}: a residual of {} above {room}",
                    r.norm()
                );
            }
        }
    }
    let mut j = if of.complex() { a.n } else { 0 };
    while j < a.n {
        if w[j].im == 0.0 {
            assert!(
                (0..a.n).all(|i| right.at(i, j).im == 0.0),
                "{what}: a real value has a real vector"
            );
            j += 1;
            continue;
        }
        assert!(w[j].im > 0.0 && w[j + 1] == w[j].conj(), "{what}: {w:?}");
        for v in [left, right] {
            assert!(
                (0..a.n).all(|i| v.at(i, j + 1) == v.at(i, j).conj()),
                "{what}: conjugates"
            );
        }
        j += 2;
    }
}

#[test]
fn geev_has_vectors_of_length_one_with_a_real_largest_component_and_pairs() {
    for of in TYPES {
        for (name, a) in squares(of) {
            geev_holds(of, &name, &a, &geev(of, &a));
        }
    }
}

#[test]
fn eigenvalues_of_triangular_matrices_stand_as_on_the_diagonal() {
    for of in TYPES {
        for (_, a) in squares(of)
            .into_iter()
            .filter(|(n, _)| ["upper triangular", "diagonal"].contains(&n.as_str()))
        {
            let d: Vec<Z> = (0..a.n).map(|i| a.at(i, i)).collect();
            assert_eq!(geev(of, &a).0, d);
            assert_eq!(gees(of, &a).2, d);
        }
    }
}

fn gees(of: Of, a: &M) -> (M, M, Vec<Z>) {
    let real = !of.complex();
    let results: &[&str] = if real {
        &[
            "{n}x{n}x{E}",
            "{n}x{n}x{E}",
            "{n}x{E}",
            "{n}x{E}",
            "i32",
            "i32",
        ]
    } else {
        &["{n}x{n}x{E}", "{n}x{n}x{E}", "{n}x{E}", "i32", "i32"]
    };
    let y = call(
        of,
        "gees",
        "mode = 86 : ui8, sort = 78 : ui8",
        &[of.array(a)],
        &square_results(a.n, results),
    );
    let w = match real {
        true => vector(&y[2])
            .iter()
            .zip(vector(&y[3]))
            .map(|(re, im)| Z::new(re.re, im.re))
            .collect(),
        false => vector(&y[2]),
    };
    (matrix(&y[0]), matrix(&y[1]), w)
}

/// Checks the specification of `gees`.
fn gees_holds(of: Of, name: &str, a: &M, (t, q, w): &(M, M, Vec<Z>)) {
    let (what, n) = (format!("{}gees of {name}", of.letter), a.n);
    q.orthonormal(of.eps() * n as f64, &what);
    let back = q.times(t).times(&q.adjoint());
    let far = back
        .a
        .iter()
        .zip(&a.a)
        .map(|(x, y)| (x - y).norm())
        .fold(0.0, f64::max);
    assert!(far <= 400.0 * of.eps() * a.size(), "{what}: {far}");
    let joined = |i: usize| i + 1 < n && t.at(i + 1, i) != Z::default();
    for i in 0..n {
        assert!(
            (0..i).all(|j| j + 1 == i && !of.complex() || t.at(i, j) == Z::default()),
            "{what}: {t:?}"
        );
        if joined(i) {
            assert!(!joined(i + 1), "{what}: blocks overlap: {t:?}");
            let (b, c) = (t.at(i, i + 1).re, t.at(i + 1, i).re);
            assert_eq!(
                t.at(i, i),
                t.at(i + 1, i + 1),
                "{what}: a block is in standard form"
            );
            assert!(
                b.signum() != c.signum(),
                "{what}: {b} and {c} are of one sign"
            );
            assert!(w[i].im > 0.0 && w[i + 1] == w[i].conj(), "{what}: {w:?}");
            let im = b.abs().sqrt() * c.abs().sqrt();
            assert!(
                (w[i].im - im).abs() <= 8.0 * of.eps() * im && w[i].re == t.at(i, i).re,
                "{what}"
            );
        } else if i == 0 || !joined(i - 1) {
            assert_eq!(w[i], t.at(i, i), "{what}");
        }
    }
}

#[test]
fn gees_has_standard_blocks() {
    for of in TYPES {
        for (name, a) in squares(of) {
            gees_holds(of, &name, &a, &gees(of, &a));
        }
    }
}

/// Injected faults: other phases and norms of vectors, exchanged values, a rotated block, and
/// pivots chosen by modulus.
#[test]
fn what_breaks_a_contract_is_found() {
    let fails = |f: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err();
    let of = TYPES[1];
    let a = M {
        m: 3,
        n: 3,
        a: [0.0, 1.0, 0.0, -2.0, 0.0, 1.0, 1.0, 0.0, 3.0]
            .map(Z::from)
            .to_vec(),
    };
    let right = geev(of, &a);
    assert!(!fails(&|| geev_holds(of, "the example", &a, &right)));
    let faults: [&dyn Fn(&mut Eigen); 5] = [
        // Another component is real.
        &|r| (0..3).for_each(|i| r.2.a[3 * i] *= Z::from_polar(1.0, 0.3)),
        &|r| (0..3).for_each(|i| r.1.a[3 * i] *= Z::from_polar(1.0, 0.3)),
        // Another length.
        &|r| (0..9).for_each(|k| r.2.a[k] *= 1.01),
        // The negative imaginary part first.
        &|r| {
            r.0.iter_mut().for_each(|z| *z = z.conj());
            r.1.a
                .iter_mut()
                .chain(&mut r.2.a)
                .for_each(|z| *z = z.conj());
        },
        // Eigenvalues in another order than the vectors.
        &|r| r.0.rotate_left(1),
    ];
    for (k, fault) in faults.iter().enumerate() {
        let mut wrong = right.clone();
        fault(&mut wrong);
        assert!(
            fails(&|| geev_holds(of, "the example", &a, &wrong)),
            "fault {k} of geev is not found"
        );
    }
    let right = gees(of, &a);
    assert!(!fails(&|| gees_holds(of, "the example", &a, &right)));
    // The block in another basis of its invariant subspace.
    let k = (0..2)
        .find(|&k| right.0.at(k + 1, k) != Z::default())
        .unwrap();
    let (s, c) = 0.1f64.sin_cos();
    let turn = M::new(3, 3, |i, j| match (i, j) {
        (i, j) if i == j && (i == k || i == k + 1) => Z::from(c),
        (i, j) if (i, j) == (k, k + 1) => Z::from(-s),
        (i, j) if (i, j) == (k + 1, k) => Z::from(s),
        (i, j) => Z::from(f64::from(u8::from(i == j))),
    });
    let wrong = (
        turn.adjoint().times(&right.0).times(&turn),
        right.1.times(&turn),
        right.2.clone(),
    );
    assert!(
        fails(&|| gees_holds(of, "the example", &a, &wrong)),
        "a turned block is not found"
    );
}

/// Eigenvalues of `geev` and `gees`: their sums of powers equal the traces of powers.
#[test]
fn eigenvalues_have_the_traces_of_powers() {
    for of in TYPES {
        for (name, a) in squares(of) {
            let (values, (.., w)) = (geev(of, &a).0, gees(of, &a));
            let mut power = M::eye(a.n);
            for k in 1..=3 {
                power = power.times(&a);
                let trace: Z = (0..a.n).map(|i| power.at(i, i)).sum();
                for w in [&values, &w] {
                    let sum: Z = w.iter().map(|z| z.powi(k)).sum();
                    let room = 2000.0 * of.eps() * (a.n as f64 * a.size()).powi(k);
                    assert!((sum - trace).norm() <= room, "{name}: {sum} and {trace}");
                }
            }
            if ["random 3", "random 5", "repeated"].contains(&name.as_str()) {
                same_values(&values, &w, 1e4 * of.eps() * a.size(), &name);
            }
        }
    }
}
