//! Safe public functions on slices that are too short: one element short, a tenth as long, and
//! empty, at small and large extents. Each call must panic without reading or writing past its
//! slices, which end at an inaccessible page.
#![cfg(target_os = "linux")]

use cotangent_kernels::convolution::{Channels, Convolve, Planes, convolve};
use cotangent_kernels::fourier::Fourier;
use cotangent_kernels::gemm::gemm;
use cotangent_kernels::linalg::{self, Field, Shape, Triangle, lanes};
use cotangent_kernels::memory::Plain;
use cotangent_kernels::simd::Isa;
use cotangent_kernels::sliding::Axis;
use cotangent_kernels::sort::{argsort, take_along_axis};
use cotangent_kernels::tile::fold::ReduceOp;
use cotangent_kernels::window::{self, Terms};
use cotangent_kernels::{Gemm, View, copy, cumulative, index, reduce};
use num_complex::Complex;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

type C = Complex<f64>;

/// Slice that is followed by an inaccessible page.
struct Guarded<T> {
    base: *mut u8,
    size: usize,
    first: *mut T,
    len: usize,
}

const PAGE: usize = 4096;

fn slice<T: Plain>(len: usize, value: T) -> Guarded<T> {
    let bytes = len * size_of::<T>();
    let size = bytes.next_multiple_of(PAGE) + PAGE;
    // SAFETY: the mapping is new and not shared. Its last page is made inaccessible; the elements
    // before it are initialised here.
    unsafe {
        let (rights, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        let base = libc::mmap(std::ptr::null_mut(), size, rights, kind, -1, 0);
        assert!(
            base != libc::MAP_FAILED
                && libc::mprotect(base.byte_add(size - PAGE), PAGE, libc::PROT_NONE) == 0
        );
        let base = base.cast::<u8>();
        let first = base.add(size - PAGE - bytes).cast::<T>();
        (0..len).for_each(|i| first.add(i).write(value));
        Guarded {
            base,
            size,
            first,
            len,
        }
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `slice` initialised `len` elements, which live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `slice` initialised `len` elements, which live as long as `self`, and `self` is
        // borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was created by `slice` and is not referenced any more.
        unsafe { libc::munmap(self.base.cast(), self.size) };
    }
}

/// Name, valid lengths, and a call with slices of given lengths.
type Case = (String, Vec<usize>, Box<dyn Fn(&[usize])>);

fn case(name: &str, lens: &[usize], call: impl Fn(&[usize]) + 'static) -> Case {
    (name.to_owned(), lens.to_vec(), Box::new(call))
}

/// A diagonally dominant matrix.
fn matrix<T: Field>(len: usize, n: usize) -> Guarded<T> {
    let mut a = slice(len, T::real(1.0));
    a.iter_mut()
        .step_by(n + 1)
        .for_each(|x| *x = T::real(2.0 * n as f64));
    a
}

#[expect(clippy::too_many_lines, reason = "a list of calls")]
fn factorisations<T: Field + 'static>(of: &str, m: usize, n: usize) -> Vec<Case> {
    let (k, zero) = (m.min(n), T::zero());
    let name = |what: &str| format!("{what} of {of} {m}x{n}");
    let how = Triangle {
        left: true,
        lower: true,
        unit: false,
        transposed: false,
        conjugated: false,
    };
    let mut all = vec![
        case(&name("lu"), &[m * n, k, m, m * n], move |l| {
            let (mut pivots, mut perm) = (slice(l[1], 0), slice(l[2], 0));
            linalg::lu(
                &mut slice(l[0], zero),
                &mut pivots,
                &mut perm,
                &matrix::<T>(l[3], n),
                m,
                n,
            )
            .unwrap();
        }),
        case(&name("triangular_solve"), &[m * n, m * m], move |l| {
            linalg::triangular_solve(&mut slice(l[0], zero), &matrix::<T>(l[1], m), m, n, how)
                .unwrap();
        }),
        case(&name("triangular_solve right"), &[m * n, n * n], move |l| {
            let how = Triangle {
                left: false,
                lower: false,
                ..how
            };
            linalg::triangular_solve(&mut slice(l[0], zero), &matrix::<T>(l[1], n), m, n, how)
                .unwrap();
        }),
        case(&name("qr"), &[m * k, k * n, m * n], move |l| {
            let (mut q, mut r) = (slice(l[0], zero), slice(l[1], zero));
            linalg::qr(Some(&mut q[..]), &mut r, &matrix::<T>(l[2], n), m, n, k).unwrap();
        }),
        case(&name("svd"), &[k, m * k, k * n, m * n], move |l| {
            let (mut s, mut u, mut v) = (slice(l[0], 0.0), slice(l[1], zero), slice(l[2], zero));
            let shape = Shape { m, n, p: k, q: k };
            linalg::svd(
                &mut s,
                Some((&mut u[..], &mut v[..])),
                &matrix::<T>(l[3], n),
                shape,
                0.6,
            )
            .unwrap();
        }),
    ];
    if m == n {
        all.extend([
            case(&name("cholesky"), &[n * n; 2], move |l| {
                linalg::cholesky(&mut slice(l[0], zero), &matrix::<T>(l[1], n), n).unwrap();
            }),
            case(&name("inverse_transposed"), &[n * n, n * n, n], move |l| {
                let mut perm = slice(l[2], 0);
                (0..).zip(&mut perm[..]).for_each(|(i, p)| *p = i);
                linalg::inverse_transposed(&mut slice(l[0], zero), &matrix::<T>(l[1], n), &perm, n)
                    .unwrap();
            }),
            case(&name("eigh"), &[n, n * n, n * n], move |l| {
                let mut v = slice(l[1], zero);
                linalg::eigh(
                    &mut slice(l[0], 0.0),
                    Some(&mut v[..]),
                    &matrix::<T>(l[2], n),
                    n,
                    0.6,
                )
                .unwrap();
            }),
            case(&name("eig"), &[n, n * n, n * n], move |l| {
                let (mut w, mut v) = (slice(l[0], C::default()), slice(l[1], C::default()));
                let order = |w: &[C]| (0..w.len()).collect();
                linalg::eig(
                    &mut w,
                    Some(&mut v[..]),
                    &matrix::<T>(l[2], n),
                    n,
                    0.6,
                    order,
                )
                .unwrap();
            }),
        ]);
    }
    all
}

/// Batches of five matrices.
fn batches<T: Field + 'static>(of: &str, n: usize) -> Vec<Case> {
    let (isa, zero, name) = (Isa::chosen(), T::zero(), |what: &str| {
        format!("{what} of 5 {of} {n}x{n}")
    });
    let how = Triangle {
        left: true,
        lower: true,
        unit: false,
        transposed: false,
        conjugated: false,
    };
    let size = 5 * n * n;
    vec![
        case(&name("cholesky"), &[size; 2], move |l| {
            lanes::cholesky(isa, &mut slice(l[0], zero), &slice(l[1], T::real(1.0)), n).unwrap();
        }),
        case(&name("lu"), &[size, 5 * n, 5 * n, size], move |l| {
            let (mut pivots, mut perm) = (slice(l[1], 0), slice(l[2], 0));
            let a = slice(l[3], T::real(1.0));
            lanes::lu(
                isa,
                &mut slice(l[0], zero),
                &mut pivots,
                &mut perm,
                &a,
                n,
                n,
            )
            .unwrap();
        }),
        case(&name("solve"), &[5 * n * 3, size], move |l| {
            lanes::solve(
                isa,
                &mut slice(l[0], zero),
                &slice(l[1], T::real(1.0)),
                n,
                3,
            )
            .unwrap();
        }),
        case(&name("triangular_solve"), &[5 * n * 3, size], move |l| {
            lanes::triangular_solve(
                isa,
                &mut slice(l[0], zero),
                &slice(l[1], T::real(1.0)),
                n,
                3,
                how,
            )
            .unwrap();
        }),
        case(&name("qr"), &[size; 3], move |l| {
            let mut q = slice(l[0], 0.0);
            lanes::qr(
                isa,
                Some(&mut q),
                &mut slice(l[1], 0.0),
                &slice(l[2], 1.0),
                n,
                n,
                n,
            )
            .unwrap();
        }),
        case(&name("eigh"), &[5 * n, size, size], move |l| {
            let mut v = slice(l[1], 0.0);
            lanes::eigh(
                isa,
                &mut slice(l[0], 0.0),
                Some(&mut v),
                &slice(l[2], 1.0),
                n,
                0.6,
            )
            .unwrap();
        }),
    ]
}

fn windows<T: Convolve + Plain>(of: &str, n: usize, one: T) -> Vec<Case> {
    let axis = Axis {
        len: n,
        window: 3,
        count: n - 2,
        stride: 1,
        dilation: 1,
        x_dilation: 1,
        low: 0,
    };
    let mut all = Vec::new();
    for (features, outputs) in [(8, 4 * n), (2, 2)] {
        let c = Channels {
            groups: 1,
            batch: 2,
            features,
            outputs,
            batch_first: true,
        };
        let lens = [
            2 * outputs * (n - 2),
            2 * features * n,
            outputs * features * 3,
        ];
        let slices = move |l: &[usize]| (slice(l[0], one), slice(l[1], one), slice(l[2], one));
        all.push(case(
            &format!("convolve {of} {n} {outputs}"),
            &lens,
            move |l| {
                let (mut y, x, w) = slices(l);
                convolve(&mut y, View::dense(&x, &c.operand(n)), &w, c, &[axis]).unwrap();
            },
        ));
        for isa in Isa::available() {
            all.push(case(
                &format!("slide {of} {n} {outputs} {isa:?}"),
                &lens,
                move |l| {
                    let (mut y, x, w) = slices(l);
                    let shape = c.operand(n);
                    T::slide(
                        isa,
                        &mut y,
                        Planes::of(View::dense(&x, &shape)),
                        &w,
                        c,
                        &[axis],
                    )
                    .unwrap();
                },
            ));
        }
    }
    all
}

fn products<T: Gemm + Plain>(of: &str, n: usize, one: T) -> Case {
    case(&format!("gemm {of} {n}"), &[n * n; 3], move |l| {
        let (a, b) = (slice(l[1], one), slice(l[2], one));
        gemm(
            &mut slice(l[0], one),
            View::dense(&a, &[n, n]),
            View::dense(&b, &[n, n]),
        )
        .unwrap();
    })
}

/// Two windows of `n` elements, each at the place of the other one in the operand.
fn swapped(n: usize) -> index::Starts {
    let mut starts = index::Starts::default();
    starts.extend(2, [0, n], [n as isize, -(n as isize)]);
    starts
}

#[expect(clippy::too_many_lines, reason = "a list of calls")]
fn lines(n: usize) -> Vec<Case> {
    let shape = move || [4, n];
    let mut all = vec![
        case("copy_into", &[4 * n; 2], move |l| {
            copy::copy_into(
                &mut slice(l[0], 0.0),
                View::dense(&slice(l[1], 0.0), &shape()),
            );
        }),
        case("copy_on_threads", &[4 * n; 2], move |l| {
            let x = slice(l[1], 0.0);
            copy::copy_on_threads(
                &mut slice(l[0], 0.0),
                View::new(&x, 0, &[n, 4], &[1, n as isize]),
            );
        }),
        case("copy_region", &[4 * n; 2], move |l| {
            let x = slice(l[1], 0.0);
            copy::copy_region(
                &mut slice(l[0], 0.0),
                0,
                &[1, 4],
                View::new(&x, 0, &shape(), &[n as isize, 1]),
            );
        }),
        case("argsort", &[4 * n; 2], move |l| {
            argsort(
                &mut slice(l[0], 0),
                View::dense(&slice(l[1], 0.0), &shape()),
                1,
                false,
            )
            .unwrap();
        }),
        case("take_along_axis", &[4 * n; 3], move |l| {
            let (x, at) = (slice(l[1], 0.0), slice(l[2], 0usize));
            take_along_axis(&mut slice(l[0], 0.0), View::dense(&x, &shape()), &at, 0).unwrap();
        }),
        case("cumsum", &[4 * n; 2], move |l| {
            cumulative::cumsum(
                &mut slice(l[0], 0.0),
                View::dense(&slice(l[1], 0.0), &shape()),
                0,
                false,
            );
        }),
        case("sum of rows", &[4, 4 * n], move |l| {
            reduce::sum(
                &mut slice(l[0], 0.0),
                View::dense(&slice(l[1], 0.0), &shape()),
                &[1],
                false,
            );
        }),
        case("sum of columns", &[n, 4 * n], move |l| {
            reduce::sum(
                &mut slice(l[0], 0f32),
                View::dense(&slice(l[1], 0f32), &shape()),
                &[0],
                false,
            );
        }),
        case("argmax", &[n, 4 * n], move |l| {
            reduce::argmax(
                &mut slice(l[0], 0i64),
                View::dense(&slice(l[1], 0.0), &shape()),
                &[0],
            );
        }),
        case("gather_windows", &[2 * n; 2], move |l| {
            let x = slice(l[1], 0.0);
            index::gather_windows(&mut slice(l[0], 0.0), &[1], &x, &[1], &[n], &swapped(n));
        }),
        case("scatter_windows", &[2 * n; 2], move |l| {
            let x = slice(l[1], 0.0);
            index::scatter_windows(
                &mut slice(l[0], 0.0),
                &[1],
                &x,
                &[1],
                &[n],
                &swapped(n),
                |a, b: f64| a + b,
            );
        }),
        case("pieces of a row", &[n, 7 * n - 6], |l| {
            ReduceOp::Sum.pieces(&mut slice(l[0], 0.0), &slice(l[1], 1.0), 7)
        }),
        case("real transform", &[4 * (n / 2 + 1), 4 * n], move |l| {
            <f64 as Fourier>::real(
                &mut slice(l[0], C::default()),
                View::dense(&slice(l[1], 1.0), &[4, n, 1]),
            )
            .unwrap();
        }),
        case("adjoint of it", &[4 * n, 4 * (n / 2 + 1)], move |l| {
            let x = slice(l[1], C::default());
            <f64 as Fourier>::real_adjoint(
                &mut slice(l[0], 1.0),
                View::dense(&x, &[4, n / 2 + 1, 1]),
                n,
            )
            .unwrap();
        }),
    ];
    for (stride, x_dilation) in [(1, 1), (2, 1), (1, 2)] {
        let count = (n * x_dilation as usize - 3) / stride as usize + 1;
        let axis = Axis {
            len: n,
            window: 3,
            count,
            stride,
            dilation: 1,
            x_dilation,
            low: 0,
        };
        let axes = move || [Axis::still(2), axis];
        all.push(case("window::reduce", &[2 * count, 2 * n], move |l| {
            let x = slice(l[1], 1.0);
            window::reduce(
                &mut slice(l[0], 0.0),
                &x,
                &axes(),
                0.0,
                |x| x,
                |a, b| a + b,
                |a| a,
            )
            .unwrap();
        }));
        for gather in [false, true] {
            let (to, of) = if gather {
                (2 * count, 2 * n)
            } else {
                (2 * n, 2 * count)
            };
            all.push(case(
                "window::select",
                &[to, of, 2 * n, 2 * count],
                move |l| {
                    let (t, x, y) = (slice(l[1], 1.0), slice(l[2], 1.0), slice(l[3], 1.0));
                    let equal = window::equal(&x, &y);
                    window::select(
                        &mut slice(l[0], 0.0),
                        Terms::Each(&t),
                        &axes(),
                        [gather, true],
                        &*equal,
                    )
                    .unwrap();
                },
            ));
        }
    }
    all
}

#[test]
fn safe_functions_check_their_slices() {
    let mut all = Vec::new();
    for n in [1, 3, 8] {
        all.extend(
            batches::<f64>("f64", n)
                .into_iter()
                .chain(batches::<C>("complex", n)),
        );
    }
    for n in [3, 17, 80] {
        all.extend(lines(n));
        all.extend(
            factorisations::<f64>("f64", n, n)
                .into_iter()
                .chain(factorisations::<C>("complex", n, n)),
        );
        all.extend(
            factorisations::<f64>("f64", n, n + 5)
                .into_iter()
                .chain(factorisations::<C>("complex", n + 5, n)),
        );
        all.extend(
            windows("f64", n, 1.0)
                .into_iter()
                .chain(windows("f32", n, 1f32)),
        );
        all.extend(
            windows("complex", n, C::new(1.0, 0.0))
                .into_iter()
                .chain(windows("i64", n, 1i64)),
        );
        all.extend([
            products("f64", n, 1.0),
            products("c64", n, Complex::new(1f32, 0.0)),
            products("i32", n, 1i32),
        ]);
    }
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let mut bad = Vec::new();
    for (name, lens, call) in &all {
        let panics = |lens: &[usize]| catch_unwind(AssertUnwindSafe(|| call(lens))).is_err();
        if panics(lens) {
            bad.push(format!("{name}: {lens:?} are right"));
        }
        for slot in 0..lens.len() {
            for less in [lens[slot] - 1, lens[slot] / 10, 0] {
                let mut short = lens.clone();
                short[slot] = less;
                if !panics(&short) {
                    bad.push(format!("{name}: {short:?} for {lens:?}"));
                }
            }
        }
    }
    std::panic::set_hook(hook);
    assert!(
        bad.is_empty(),
        "{} of {} functions:\n{}",
        bad.len(),
        all.len(),
        bad.join("\n")
    );
}
