//! How fast are factorisations of one f64 matrix, compared with faer?
//!
//! `cargo bench -p cotangent-kernels --bench factorisations [filter [extent]]` prints microseconds
//! of the fastest run and GFLOP/s, on one thread, from interleaved runs in one process. faer works
//! on column-major matrices in a separate buffer, its preferred layout. Each contender copies its
//! input in every run. Errors are norms of residuals, relative to `n ε` and the norm of the matrix.

use cotangent_kernels::gemm::gemm;
use cotangent_kernels::linalg::{self, Shape, Triangle};
use cotangent_kernels::parallel::with_threads;
use cotangent_kernels::view::View;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::lu::partial_pivoting::factor as plu;
use faer::linalg::qr::no_pivoting::factor as pqr;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::linalg::{householder, triangular_solve as tri};
use faer::{Conj, Mat, MatRef, Par};
use std::time::{Duration, Instant};

/// The fastest of interleaved runs of each contender, in seconds.
fn fastest(contenders: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; contenders.len()];
    let (start, mut turns) = (Instant::now(), 0);
    while turns < 5 || (start.elapsed() < Duration::from_millis(500) && turns < 20_000) {
        for (least, run) in least.iter_mut().zip(contenders.iter_mut()) {
            let t = Instant::now();
            run();
            *least = least.min(t.elapsed().as_secs_f64());
        }
        turns += 1;
    }
    least
}

/// Positional argument of the command line.
fn argument(index: usize) -> Option<String> {
    std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .nth(index)
}

/// Runs and prints one line, if its name matches the filter.
fn report(name: &str, operations: f64, ours: &mut dyn FnMut(), faer: &mut dyn FnMut()) {
    if argument(0).is_some_and(|filter| !name.contains(&filter)) {
        return;
    }
    let times = fastest(&mut [ours, faer]);
    let rates: Vec<f64> = times.iter().map(|t| operations / t * 1e-9).collect();
    println!(
        "{name:24} ours {:9.1} us {:6.1}  faer {:9.1} us {:6.1}  ratio of times {:.2}",
        times[0] * 1e6,
        rates[0],
        times[1] * 1e6,
        rates[1],
        times[0] / times[1]
    );
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    gemm(&mut c, View::dense(a, &[n, n]), View::dense(b, &[n, n])).unwrap();
    c
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|e| a[e % n * n + e / n]).collect()
}

/// `|a - b| / (n ε |a|)`.
fn error(a: &[f64], b: &[f64], n: usize) -> f64 {
    let misses: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&misses) / (n as f64 * f64::EPSILON * norm(a))
}

fn rows(m: MatRef<'_, f64>) -> Vec<f64> {
    let n = m.ncols();
    (0..m.nrows() * n).map(|e| m[(e / n, e % n)]).collect()
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn all(n: usize) {
    let mut state = 1u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    let a: Vec<f64> = (0..n * n).map(|_| draw()).collect();
    let mut h = product(&a, &transposed(&a, n), n);
    (0..n).for_each(|i| h[i * n + i] += 1.0);
    let by_columns = |x: &[f64]| Mat::from_fn(n, n, |i, j| x[i * n + j]);
    let (fa, fh) = (by_columns(&a), by_columns(&h));
    let cube = (n * n * n) as f64;

    let (mut l, mut fl) = (vec![0.0; n * n], Mat::zeros(n, n));
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(
        n,
        Par::Seq,
        Default::default(),
    ));
    report(
        &format!("cholesky {n}"),
        cube / 3.0,
        &mut || linalg::cholesky(&mut l, &h, n).unwrap(),
        &mut || {
            fl.copy_from(&fh);
            let stack = MemStack::new(&mut memory);
            llt::cholesky_in_place(
                fl.as_mut(),
                Default::default(),
                Par::Seq,
                stack,
                Default::default(),
            )
            .unwrap();
        },
    );

    let (mut packed, mut pivots, mut perm) = (vec![0.0; n * n], vec![0; n], vec![0; n]);
    let (mut fp, mut order, mut back) = (Mat::zeros(n, n), vec![0usize; n], vec![0usize; n]);
    let mut memory = MemBuffer::new(plu::lu_in_place_scratch::<usize, f64>(
        n,
        n,
        Par::Seq,
        Default::default(),
    ));
    report(
        &format!("lu {n}"),
        cube * 2.0 / 3.0,
        &mut || linalg::lu(&mut packed, &mut pivots, &mut perm, &a, n, n).unwrap(),
        &mut || {
            fp.copy_from(&fa);
            let stack = MemStack::new(&mut memory);
            plu::lu_in_place(
                fp.as_mut(),
                &mut order,
                &mut back,
                Par::Seq,
                stack,
                Default::default(),
            );
        },
    );

    let (mut q, mut r) = (vec![0.0; n * n], vec![0.0; n * n]);
    let (mut fq, mut ff) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let block = pqr::recommended_block_size::<f64>(n, n);
    let mut coefficients = Mat::zeros(block, n);
    let need = pqr::qr_in_place_scratch::<f64>(n, n, block, Par::Seq, Default::default()).or(
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            n, block, n,
        ),
    );
    let mut memory = MemBuffer::new(need);
    report(
        &format!("qr {n}"),
        cube * 8.0 / 3.0,
        &mut || linalg::qr(Some(&mut q), &mut r, &a, n, n, n).unwrap(),
        &mut || {
            ff.copy_from(&fa);
            let stack = MemStack::new(&mut memory);
            pqr::qr_in_place(
                ff.as_mut(),
                coefficients.as_mut(),
                Par::Seq,
                stack,
                Default::default(),
            );
            fq.fill(0.0);
            fq.diagonal_mut().column_vector_mut().fill(1.0);
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                ff.as_ref(),
                coefficients.as_ref(),
                Conj::No,
                fq.as_mut(),
                Par::Seq,
                MemStack::new(&mut memory),
            );
        },
    );

    linalg::cholesky(&mut l, &h, n).unwrap();
    let triangle = by_columns(&l);
    for (left, transposed, count) in [
        (true, false, n),
        (true, true, n),
        (false, true, n),
        (true, false, 1),
    ] {
        let how = Triangle {
            left,
            lower: true,
            unit: false,
            transposed,
            conjugated: false,
        };
        let (rows, columns) = if left { (n, count) } else { (count, n) };
        let (mut x, b) = (vec![0.0; n * count], &a[..n * count]);
        let (mut fx, fb) = (
            Mat::zeros(n, count),
            Mat::from_fn(n, count, |i, j| a[i * count + j]),
        );
        let side = if left { "left" } else { "right" };
        let name = format!(
            "solve {side}{} {n} x {count}",
            if transposed { " transposed" } else { "" }
        );
        report(
            &name,
            (n * n * count) as f64,
            &mut || {
                x.copy_from_slice(b);
                linalg::triangular_solve(&mut x, &l, rows, columns, how).unwrap();
            },
            &mut || {
                fx.copy_from(&fb);
                match transposed && left {
                    false => tri::solve_lower_triangular_in_place(
                        triangle.as_ref(),
                        fx.as_mut(),
                        Par::Seq,
                    ),
                    true => tri::solve_upper_triangular_in_place(
                        triangle.transpose(),
                        fx.as_mut(),
                        Par::Seq,
                    ),
                }
            },
        );
    }

    spectra(n, &a, &h);
    if argument(0).is_some() {
        return;
    }
    linalg::lu(&mut packed, &mut pivots, &mut perm, &a, n, n).unwrap();
    linalg::qr(Some(&mut q), &mut r, &a, n, n, n).unwrap();
    let split = |packed: &[f64]| {
        let part = |e: usize| (e / n).cmp(&(e % n));
        let l: Vec<f64> = (0..n * n)
            .map(|e| match part(e) {
                std::cmp::Ordering::Greater => packed[e],
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Less => 0.0,
            })
            .collect();
        let u: Vec<f64> = (0..n * n)
            .map(|e| if part(e).is_gt() { 0.0 } else { packed[e] })
            .collect();
        product(&l, &u, n)
    };
    let moved = |at: &dyn Fn(usize) -> usize| {
        (0..n * n)
            .map(|e| a[at(e / n) * n + e % n])
            .collect::<Vec<f64>>()
    };
    let lower = |l: &[f64]| {
        (0..n * n)
            .map(|e| if e / n < e % n { 0.0 } else { l[e] })
            .collect::<Vec<f64>>()
    };
    let upper = |r: &[f64]| {
        (0..n * n)
            .map(|e| if e / n > e % n { 0.0 } else { r[e] })
            .collect::<Vec<f64>>()
    };
    let squared = |l: &[f64]| product(l, &transposed(l, n), n);
    println!(
        "errors at {n} (ours, faer): cholesky {:.4} {:.4}, lu {:.4} {:.4}, qr {:.4} {:.4}",
        error(&h, &squared(&l), n),
        error(&h, &squared(&lower(&rows(fl.as_ref()))), n),
        error(&moved(&|i| perm[i] as usize), &split(&packed), n),
        error(&moved(&|i| order[i]), &split(&rows(fp.as_ref())), n),
        error(&a, &product(&q, &r, n), n),
        error(
            &a,
            &product(&rows(fq.as_ref()), &upper(&rows(ff.as_ref())), n),
            n
        ),
    );
}

/// Benchmarks spectra of a general matrix `a` and of a symmetric one `h`.
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn spectra(n: usize, a: &[f64], h: &[f64]) {
    let shape = Shape {
        m: n,
        n,
        p: n,
        q: n,
    };
    let (fa, fh) = (
        Mat::from_fn(n, n, |i, j| a[i * n + j]),
        Mat::from_fn(n, n, |i, j| h[i * n + j]),
    );
    let (mut w, mut u, mut v) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n * n]);
    let (mut d, mut fu, mut fv) = (Diag::<f64>::zeros(n), Mat::zeros(n, n), Mat::zeros(n, n));
    let cube = (n * n * n) as f64;
    for vectors in [true, false] {
        let (name, operations) = if vectors {
            ("vectors", 9.0 * cube)
        } else {
            ("values", 4.0 / 3.0 * cube)
        };
        let want = if vectors {
            ComputeEigenvectors::Yes
        } else {
            ComputeEigenvectors::No
        };
        let need = evd::self_adjoint_evd_scratch::<f64>(n, want, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        report(
            &format!("eigh {name} {n}"),
            operations,
            &mut || linalg::eigh(&mut w, vectors.then_some(&mut v), h, n, 0.61).unwrap(),
            &mut || {
                let (u, stack) = (vectors.then(|| fu.as_mut()), MemStack::new(&mut memory));
                evd::self_adjoint_evd(
                    fh.as_ref(),
                    d.as_mut(),
                    u,
                    Par::Seq,
                    stack,
                    Default::default(),
                )
                .unwrap();
            },
        );
        let (operations, want) = match vectors {
            true => (22.0 * cube, ComputeSvdVectors::Full),
            false => (8.0 / 3.0 * cube, ComputeSvdVectors::No),
        };
        let mut memory = MemBuffer::new(svd::svd_scratch::<f64>(
            n,
            n,
            want,
            want,
            Par::Seq,
            Default::default(),
        ));
        report(
            &format!("svd {name} {n}"),
            operations,
            &mut || {
                linalg::svd(
                    &mut w,
                    vectors.then_some((&mut u[..], &mut v[..])),
                    a,
                    shape,
                    0.61,
                )
                .unwrap()
            },
            &mut || {
                let (u, v) = (vectors.then(|| fu.as_mut()), vectors.then(|| fv.as_mut()));
                let stack = MemStack::new(&mut memory);
                svd::svd(
                    fa.as_ref(),
                    d.as_mut(),
                    u,
                    v,
                    Par::Seq,
                    stack,
                    Default::default(),
                )
                .unwrap();
            },
        );
    }
}

fn main() {
    let asked = argument(1).map(|n| n.parse().expect("an extent"));
    let extents = asked.map_or(vec![8, 24, 32, 48, 64, 128, 256, 512, 1024], |n| vec![n]);
    with_threads(1, || extents.into_iter().for_each(all));
}
