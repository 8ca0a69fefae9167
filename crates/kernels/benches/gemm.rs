//! How fast are matrix products, compared with `matrixmultiply`, `gemm` and faer?
//!
//! `cargo bench -p cotangent-kernels --bench gemm [filter]` prints GFLOP/s of the fastest run, on
//! one thread, from interleaved runs in one process. Results are compared first. `ratio` compares
//! this crate with the best of the others, for the fastest runs and for the medians. A complex
//! multiply-add counts as 8 operations.

use cotangent_kernels::{Gemm, View, gemm::gemm};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_complex::{Complex, Complex32, Complex64};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A product of `count` matrices. `turned` marks the operands that are stored by columns.
#[derive(Clone, Copy)]
struct Case {
    count: usize,
    sizes: [usize; 3],
    turned: [bool; 2],
}

/// Element type that the other libraries support, too.
trait Peer: Gemm + faer::traits::ComplexField {
    const NAME: &str;
    const OPERATIONS: f64;
    fn number(x: f64, y: f64) -> Self;
    fn size(self) -> f64;
    /// `matrixmultiply` on pointers and strides (rows, columns).
    unsafe fn matrixmultiply(
        sizes: [usize; 3],
        c: *mut Self,
        a: *const Self,
        sa: [isize; 2],
        b: *const Self,
        sb: [isize; 2],
    );
}

macro_rules! peer {
    ($t:ty, $name:literal, $operations:literal, $number:expr, $size:expr, $call:ident($($options:expr),*), $raw:ty, $one:expr, $zero:expr) => {
        impl Peer for $t {
            const NAME: &str = $name;
            const OPERATIONS: f64 = $operations;
            fn number(x: f64, y: f64) -> Self {
                $number(x, y)
            }
            fn size(self) -> f64 {
                $size(self)
            }
            unsafe fn matrixmultiply([m, k, n]: [usize; 3], c: *mut Self, a: *const Self, sa: [isize; 2], b: *const Self, sb: [isize; 2]) {
                // SAFETY: the caller guarantees matrices of these sizes and strides; a complex
                // number has the layout of two floats.
                unsafe {
                    matrixmultiply::$call(
                        $($options,)* m, k, n, $one, a.cast::<$raw>(), sa[0], sa[1], b.cast::<$raw>(), sb[0], sb[1],
                        $zero, c.cast::<$raw>(), n as isize, 1,
                    )
                }
            }
        }
    };
}

use matrixmultiply::CGemmOption::Standard;
peer!(
    f32,
    "f32",
    2.0,
    |x, _| x as f32,
    |x: f32| x.abs().into(),
    sgemm(),
    f32,
    1.0,
    0.0
);
peer!(f64, "f64", 2.0, |x, _| x, f64::abs, dgemm(), f64, 1.0, 0.0);
peer!(
    Complex32,
    "c64",
    8.0,
    |x, y| Complex::new(x as f32, y as f32),
    |x: Complex32| x.norm().into(),
    cgemm(Standard, Standard),
    [f32; 2],
    [1.0, 0.0],
    [0.0, 0.0]
);
peer!(
    Complex64,
    "c128",
    8.0,
    Complex::new,
    |x: Complex64| x.norm(),
    zgemm(Standard, Standard),
    [f64; 2],
    [1.0, 0.0],
    [0.0, 0.0]
);

fn strides(rows: usize, cols: usize, turned: bool) -> [isize; 2] {
    if turned {
        [1, rows as isize]
    } else {
        [cols as isize, 1]
    }
}

/// A run of one library.
type LibraryRun<'a> = Box<dyn FnMut() + 'a>;

/// The fastest and the median of interleaved runs of each contender, in seconds.
fn times(contenders: &mut [LibraryRun<'_>], work: f64) -> Vec<[f64; 2]> {
    // Number of calls such that one measurement takes some microseconds.
    let calls = (2e6 / work).ceil().max(1.0) as usize;
    let mut runs = vec![Vec::new(); contenders.len()];
    let (start, mut turns) = (Instant::now(), 0);
    while turns < 5 || (start.elapsed() < Duration::from_millis(250) && turns < 2000) {
        for (runs, run) in runs.iter_mut().zip(contenders.iter_mut()) {
            let t = Instant::now();
            (0..calls).for_each(|_| run());
            runs.push(t.elapsed().as_secs_f64() / calls as f64);
        }
        turns += 1;
    }
    let sorted = |mut runs: Vec<f64>| {
        runs.sort_by(f64::total_cmp);
        [runs[0], runs[turns / 2]]
    };
    runs.into_iter().map(sorted).collect()
}

/// The libraries on a case, each with a result of its own: this crate, `matrixmultiply`, `gemm` and
/// faer.
fn contenders<'a, T: Peer>(
    case: Case,
    views: [View<'a, T>; 2],
    [a, b]: [&'a [T]; 2],
    c: &'a mut [Vec<T>; 4],
) -> Vec<LibraryRun<'a>> {
    let Case {
        count,
        sizes: [m, k, n],
        turned,
    } = case;
    let (sa, sb) = (strides(m, k, turned[0]), strides(k, n, turned[1]));
    let (pa, pb) = (a.as_ptr(), b.as_ptr());
    let [ours, mm, gm, fr] = c;
    let each = move |f: &mut dyn FnMut(usize, *const T, *const T)| {
        for i in 0..count {
            f(
                i * m * n,
                pa.wrapping_add(i * m * k),
                pb.wrapping_add(i * k * n),
            );
        }
    };
    vec![
        Box::new(move || gemm(black_box(ours), views[0], views[1]).unwrap()),
        Box::new(move || {
            // SAFETY: the buffers have the sizes of these matrices.
            each(&mut |at, a, b| unsafe {
                T::matrixmultiply([m, k, n], mm[at..].as_mut_ptr(), a, sa, b, sb)
            });
        }),
        Box::new(move || {
            each(&mut |at, a, b| {
                let c = gm[at..].as_mut_ptr();
                let no = ::gemm::Parallelism::None;
                let (one, zero) = (T::ONE, T::ZERO);
                // SAFETY: the buffers have the sizes of these matrices.
                unsafe {
                    ::gemm::gemm(
                        m, n, k, c, 1, n as isize, false, a, sa[1], sa[0], b, sb[1], sb[0], zero,
                        one, false, false, false, no,
                    );
                }
            });
        }),
        Box::new(move || {
            each(&mut |at, a, b| {
                // SAFETY: the buffers have the sizes of these matrices.
                unsafe {
                    let c = MatMut::from_raw_parts_mut(fr[at..].as_mut_ptr(), m, n, n as isize, 1);
                    let a = MatRef::from_raw_parts(a, m, k, sa[0], sa[1]);
                    let b = MatRef::from_raw_parts(b, k, n, sb[0], sb[1]);
                    matmul(c, Accum::Replace, a, b, T::ONE, Par::Seq);
                }
            });
        }),
    ]
}

fn measure<T: Peer>(name: &str, case: Case) {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let name = format!("{} {name}", T::NAME);
    if filter.is_some_and(|filter| !name.contains(&filter)) {
        return;
    }
    let Case {
        count,
        sizes: [m, k, n],
        turned,
    } = case;
    let mut state = 1u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    let mut numbers = |len| {
        (0..len)
            .map(|_| T::number(draw(), draw()))
            .collect::<Vec<T>>()
    };
    let (a, b) = (numbers(count * m * k), numbers(count * k * n));
    let mut c: [Vec<T>; 4] = std::array::from_fn(|_| vec![T::ZERO; count * m * n]);
    // A batch has an axis of matrices.
    let batched = |rows: usize, cols: usize, turned: bool| {
        let s = strides(rows, cols, turned);
        match count {
            1 => (vec![rows, cols], s.to_vec()),
            _ => (
                vec![count, rows, cols],
                vec![(rows * cols) as isize, s[0], s[1]],
            ),
        }
    };
    let (of_a, of_b) = (batched(m, k, turned[0]), batched(k, n, turned[1]));
    let views = [
        View::new(&a, 0, &of_a.0, &of_a.1),
        View::new(&b, 0, &of_b.0, &of_b.1),
    ];
    let mut contenders = contenders(case, views, [&a, &b], &mut c);
    contenders.iter_mut().for_each(|run| run());
    let work = T::OPERATIONS * (count * m * k * n) as f64;
    let times = times(&mut contenders, work);
    drop(contenders);
    let [ours, others @ ..] = &c;
    for other in others {
        let close = |(x, y): (&T, &T)| (*x - *y).size() <= 1e-5 * k as f64;
        assert!(ours.iter().zip(other).all(close), "{name}: results differ");
    }
    let rates: Vec<f64> = times.iter().map(|[least, _]| work / least * 1e-9).collect();
    let ratio = |which: usize| {
        times[1..]
            .iter()
            .map(|t| t[which])
            .fold(f64::INFINITY, f64::min)
            / times[0][which]
    };
    println!(
        "{name:28} ours {:7.1}  matrixmultiply {:7.1}  gemm {:7.1}  faer {:7.1}  ratio {:.2}, median {:.2}",
        rates[0],
        rates[1],
        rates[2],
        rates[3],
        ratio(0),
        ratio(1)
    );
}

fn all<T: Peer>() {
    let square = |n| Case {
        count: 1,
        sizes: [n, n, n],
        turned: [false, false],
    };
    for n in [8, 16, 32, 64, 100, 128, 256, 512, 1024, 2048] {
        measure::<T>(&format!("{n}"), square(n));
    }
    for (name, turned) in [
        ("A^T", [true, false]),
        ("B^T", [false, true]),
        ("A^T B^T", [true, true]),
    ] {
        for n in [16, 64, 512] {
            measure::<T>(
                &format!("{n} {name}"),
                Case {
                    turned,
                    ..square(n)
                },
            );
        }
    }
    let case = |count, sizes, turned| Case {
        count,
        sizes,
        turned,
    };
    for [k, n] in [[64, 64], [784, 512], [2048, 2048]] {
        measure::<T>(
            &format!("row {k} x {k},{n}"),
            case(1, [1, k, n], [false, false]),
        );
        measure::<T>(
            &format!("row {k} x ({n},{k})^T"),
            case(1, [1, k, n], [false, true]),
        );
        measure::<T>(
            &format!("{n},{k} x column"),
            case(1, [n, k, 1], [false, false]),
        );
        measure::<T>(
            &format!("({k},{n})^T x column"),
            case(1, [n, k, 1], [true, false]),
        );
    }
    measure::<T>(
        "64 x (128,64 x 64,128)",
        case(64, [128, 64, 128], [false, false]),
    );
    measure::<T>(
        "64 x (128,64 x (128,64)^T)",
        case(64, [128, 64, 128], [false, true]),
    );
    measure::<T>(
        "256,784 x 784,512",
        case(1, [256, 784, 512], [false, false]),
    );
    measure::<T>("256,512 x 512,10", case(1, [256, 512, 10], [false, false]));
    for n in [4, 8, 16] {
        measure::<T>(
            &format!("1000 x ({n},{n} x {n},{n})"),
            case(1000, [n, n, n], [false, false]),
        );
    }
    measure::<T>(
        "1000 x (8,8 x (8,8)^T)",
        case(1000, [8, 8, 8], [false, true]),
    );
}

fn main() {
    all::<f32>();
    all::<f64>();
    all::<Complex32>();
    all::<Complex64>();
}
