//! Factorisations and solves of batches of row-major matrices. Single precision is computed in
//! double precision.

use crate::element::{PlainElement, collected, limit, pick, zeroed};
use crate::kernel::{Kernel, Operands, Results, UsedResults, kernel};
use crate::maps::converted;
use crate::tensor::{Extents, Tensor, copied};
use cotangent_core::ops::{ANCHOR, Eig, Eigh, Qr, Slogdet, Svd, TriangularSolve, Turn, eig_order};
use cotangent_core::{C128, DType, Result};
use cotangent_kernels::Fallible;
use cotangent_kernels::linalg::{self, Field, Shape, Triangle, lanes};
use cotangent_kernels::parallel::{Shared, attempt, try_chunks};
use cotangent_kernels::simd::Isa;
use smallvec::smallvec;

pub(crate) mod raw;

/// Runs a block for an element type of linear algebra.
macro_rules! for_field {
    ($dtype:expr, $T:ident => $body:expr) => {
        in_double($dtype, pick!(double($dtype), $T => $body; F64 f64, C128 C128))
    };
}

/// The type in which matrices of type `dtype` are factored.
fn double(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::F64,
        DType::C64 => DType::C128,
        d => d,
    }
}

/// Wraps a double-precision kernel for single-precision operands; results are rounded.
fn in_double(dtype: DType, kernel: Kernel) -> Kernel {
    if double(dtype) == dtype {
        return kernel;
    }
    Box::new(move |env, x: Operands| {
        let wide = x
            .into_iter()
            .map(|x| converted(x, double(dtype)))
            .collect::<Result<Operands>>()?;
        let round = |y: Tensor| match y.dtype() {
            DType::F64 => converted(y, DType::F32),
            DType::C128 => converted(y, DType::C64),
            _ => Ok(y),
        };
        kernel(env, wide)?.into_iter().map(round).collect()
    })
}

/// Batch extents of an operand, and rows and columns of its matrices.
fn split(x: &Tensor) -> (Extents, usize, usize) {
    let &[ref lead @ .., m, n] = x.shape() else {
        unreachable!("the type rule requires matrices")
    };
    (lead.into(), m, n)
}

fn count(lead: &[usize]) -> usize {
    lead.iter().product()
}

fn ending(lead: &[usize], last: &[usize]) -> Extents {
    lead.iter().chain(last).copied().collect()
}

/// The operand with all matrices contiguous and row-major.
fn dense<T: PlainElement>(x: Tensor) -> Result<Tensor> {
    debug_assert_eq!(x.dtype(), T::DTYPE);
    x.into_dense()
}

fn slice<T: PlainElement>(x: &Tensor) -> &[T] {
    x.as_slice().expect("dense, and of this type")
}

/// The `size` elements of matrix `b`.
fn part<T>(all: &[T], b: usize, size: usize) -> &[T] {
    &all[b * size..(b + 1) * size]
}

fn part_mut<T>(all: &mut [T], b: usize, size: usize) -> &mut [T] {
    &mut all[b * size..(b + 1) * size]
}

/// Calls `f(b, part)` for the `size` elements of every matrix `b`, on several threads if the total
/// work is large.
fn each<T: Send>(
    all: &mut [T],
    size: usize,
    f: impl Fn(usize, &mut [T]) -> Fallible + Sync,
) -> Fallible {
    // Estimate: 1 ns for each of n³ operations. A chunk has as many matrices as take about 20 us.
    let nanos = ((size as f64).powf(1.5) as u64).max(1);
    let group = (20_000 / nanos).max(1) as usize;
    let total = nanos.saturating_mul((all.len() / size.max(1)) as u64);
    try_chunks(all, group * size, total, |c, part| {
        part.chunks_mut(size)
            .enumerate()
            .try_for_each(|(k, part)| f(c * group + k, part))
    })
}

/// Like [`each`] for three slices with their element counts per matrix. There are `count` matrices
/// of about `nanos` ns each.
fn each_of<X: Send, Y: Send, Z: Send>(
    [count, nanos]: [usize; 2],
    (x, y, z): (&mut [X], &mut [Y], &mut [Z]),
    [of_x, of_y, of_z]: [usize; 3],
    f: impl Fn(usize, &mut [X], &mut [Y], &mut [Z]) -> Fallible + Sync,
) -> Result<()> {
    assert!(
        [x.len(), y.len(), z.len()] == [of_x, of_y, of_z].map(|size| count * size),
        "slices hold the given number of elements per matrix"
    );
    let (x, y, z) = (
        Shared(x.as_mut_ptr()),
        Shared(y.as_mut_ptr()),
        Shared(z.as_mut_ptr()),
    );
    let group = (20_000 / nanos.max(1)).max(1);
    let done = attempt(
        count.div_ceil(group),
        nanos.saturating_mul(count) as u64,
        |c| {
            for b in c * group..count.min((c + 1) * group) {
                // SAFETY: the assertion above makes the parts of matrix `b` in bounds. Parts of
                // different matrices are disjoint, each `b` is visited once, and the slices stay
                // borrowed during the call.
                let (x, y, z) = unsafe {
                    (
                        std::slice::from_raw_parts_mut(x.get().add(b * of_x), of_x),
                        std::slice::from_raw_parts_mut(y.get().add(b * of_y), of_y),
                        std::slice::from_raw_parts_mut(z.get().add(b * of_z), of_z),
                    )
                };
                f(b, x, y, z)?;
            }
            Ok(())
        },
    );
    done.map_err(limit)
}

/// Whether `all` holds more than one matrix of `size` elements.
fn several<T>(all: &[T], size: usize) -> bool {
    all.len() > size && size > 0
}

/// The elements as `f64`, if `T` is `f64`.
fn real<T: PlainElement>(x: &Tensor) -> Option<&[f64]> {
    if T::DTYPE == DType::F64 {
        x.as_slice()
    } else {
        None
    }
}

/// Estimated time, in ns, of an eigenvalue or singular value decomposition of a small matrix.
fn spectral(m: usize, n: usize) -> usize {
    10 * m * n * m.min(n)
}

pub(crate) fn cholesky(dtype: DType) -> Kernel {
    for_field!(dtype, T => kernel(move |_, [x]| {
        let (_, _, n) = split(&x);
        let x = dense::<T>(x)?;
        Tensor::build::<T, _>(copied(x.shape()), |l| {
            if several(l, n * n) && lanes::fits(n, n) {
                return lanes::cholesky(Isa::chosen(), l, slice(&x), n);
            }
            each(l, n * n, |b, l| linalg::cholesky(l, part(slice(&x), b, n * n), n))
        })
    }))
}

/// With more than this many identical right-hand sides of a real system, only this many are solved
/// and the result is broadcast.
const REPEATED_RHS_COLUMNS: usize = 8;

pub(crate) fn triangular_solve(s: &TriangularSolve, dtype: DType) -> Kernel {
    let how = Triangle {
        left: s.left,
        lower: s.lower,
        unit: s.unit,
        transposed: s.turn != Turn::None,
        conjugated: s.turn == Turn::Adjoint,
    };
    for_field!(dtype, T => kernel(move |_, [a, b]| {
        let shape = Extents::from_slice(b.shape());
        // A broadcast right-hand side, as in the derivative of a sum. Solving this many columns
        // gives the same bits as solving all.
        let side = shape.len() - if how.left { 1 } else { 2 };
        let few = !T::COMPLEX && shape[side] > REPEATED_RHS_COLUMNS && b.strides()[side] == 0;
        let b = if few {
            let mut less = shape.clone();
            less[side] = REPEATED_RHS_COLUMNS;
            b.narrowed(|d| d == side).widened(&less)
        } else {
            b
        };
        let (_, m, n) = split(&b);
        let k = if how.left { m } else { n };
        let (a, b) = (dense::<T>(a)?, dense::<T>(b)?);
        let x = Tensor::filled::<T, _>(copied(b.shape()), |x| {
            x.copy_from_slice(slice(&b));
            if several(x, m * n) && lanes::solves(k, m * n) {
                return lanes::triangular_solve(Isa::chosen(), x, slice(&a), m, n, how);
            }
            each(x, m * n, |b, x| linalg::triangular_solve(x, part(slice(&a), b, k * k), m, n, how))
        })?;
        Ok(if few { x.narrowed(|d| d == side).widened(&shape) } else { x })
    }))
}

/// Packed LU factors, row swaps and permutations of all matrices.
struct Factors<T> {
    packed: Vec<T>,
    pivots: Vec<i32>,
    perms: Vec<i32>,
}

fn factors<T: PlainElement + Field>(x: &Tensor) -> Result<Factors<T>> {
    let (lead, m, n) = split(x);
    let (all, k) = (count(&lead), m.min(n));
    let mut f = Factors {
        packed: zeroed(all * m * n)?,
        pivots: zeroed(all * k)?,
        perms: zeroed(all * m)?,
    };
    if all > 1 && lanes::fits(m, n) {
        let x = slice::<T>(x);
        lanes::lu(
            Isa::chosen(),
            &mut f.packed,
            &mut f.pivots,
            &mut f.perms,
            x,
            m,
            n,
        )
        .map_err(limit)?;
        return Ok(f);
    }
    let slices = (&mut f.packed[..], &mut f.pivots[..], &mut f.perms[..]);
    each_of(
        [all, m * n * k],
        slices,
        [m * n, k, m],
        |b, packed, pivots, perm| {
            linalg::lu(packed, pivots, perm, part(slice::<T>(x), b, m * n), m, n)
        },
    )?;
    Ok(f)
}

pub(crate) fn lu(dtype: DType) -> Kernel {
    for_field!(dtype, T => one(|x| {
        let (lead, m, n) = split(&x);
        let f = factors::<T>(&dense::<T>(x)?)?;
        Ok(smallvec![
            Tensor::from_vec(ending(&lead, &[m, n]), f.packed),
            Tensor::from_vec(ending(&lead, &[m.min(n)]), f.pivots),
            Tensor::from_vec(ending(&lead, &[m]), f.perms),
        ])
    }))
}

pub(crate) fn solve(dtype: DType) -> Kernel {
    for_field!(dtype, T => kernel(move |_, [a, b]| {
        let (_, n, k) = split(&b);
        let (a, b) = (dense::<T>(a)?, dense::<T>(b)?);
        if several(slice::<T>(&b), n * k) && lanes::solves(n, n * k) {
            return Tensor::filled::<T, _>(copied(b.shape()), |x| {
                x.copy_from_slice(slice(&b));
                lanes::solve(Isa::chosen(), x, slice(&a), n, k)
            });
        }
        let f = factors::<T>(&a)?;
        Tensor::filled::<T, _>(copied(b.shape()), |x| {
            each(x, n * k, |m, x| {
                let packed = part(&f.packed, m, n * n);
                for (row, &p) in x.chunks_exact_mut(k.max(1)).zip(part(&f.perms, m, n)) {
                    row.copy_from_slice(part(part(slice(&b), m, n * k), p as usize, k));
                }
                solve_factored(x, packed, n, k)
            })
        })
    }))
}

/// Solves a system with packed LU factors in place of its permuted right-hand sides.
fn solve_factored<T: Field>(x: &mut [T], packed: &[T], n: usize, k: usize) -> Fallible {
    let lower = Triangle {
        left: true,
        lower: true,
        unit: true,
        transposed: false,
        conjugated: false,
    };
    let upper = Triangle {
        lower: false,
        unit: false,
        ..lower
    };
    linalg::triangular_solve(x, packed, n, k, lower)?;
    linalg::triangular_solve(x, packed, n, k, upper)
}

impl<T: PlainElement + Field> Factors<T> {
    /// Sign of the permutation of the `n` by `n` matrix `b`, and its pivots.
    fn pivots(&self, b: usize, n: usize) -> (T, impl Iterator<Item = T> + Clone) {
        let odd = part(&self.pivots, b, n)
            .iter()
            .enumerate()
            .filter(|&(k, &p)| k as i32 != p)
            .count()
            % 2
            == 1;
        let packed = part(&self.packed, b, n * n);
        (
            T::real(if odd { -1.0 } else { 1.0 }),
            (0..n).map(move |k| packed[k * n + k]),
        )
    }
}

pub(crate) fn det(dtype: DType) -> Kernel {
    for_field!(dtype, T => kernel(move |_, [x]| {
        let (lead, n, _) = split(&x);
        let f = factors::<T>(&dense::<T>(x)?)?;
        let product = |b: usize| {
            let (start, pivots) = f.pivots(b, n);
            pivots.fold(start, |d, z| d * z)
        };
        let d = collected((0..count(&lead)).map(product))?;
        Ok(Tensor::from_vec(lead, d))
    }))
}

pub(crate) fn slogdet(s: &Slogdet, used: UsedResults, dtype: DType) -> Kernel {
    let (inverse, wanted) = (s.inverse, used.has(2));
    for_field!(dtype, T => one(move |x| {
        let (lead, n, _) = split(&x);
        let all = count(&lead);
        let f = factors::<T>(&dense::<T>(x)?)?;
        let zero = <T as Field>::zero();
        let phase = |z: T| if z == zero { zero } else { z.phase() };
        let pivots = || (0..all).map(|b| f.pivots(b, n));
        let signs = collected(pivots().map(|(start, pivots)| pivots.fold(start, |s, z| s * phase(z))))?;
        let logs = collected(pivots().map(|(_, pivots)| pivots.map(|z| libm::log(z.size())).sum::<f64>()))?;
        let mut y: Results = smallvec![Tensor::from_vec(lead.clone(), signs), Tensor::from_vec(lead.clone(), logs)];
        if inverse {
            let shape = ending(&lead, &[if wanted { n } else { 0 }, n]);
            y.push(Tensor::build::<T, _>(shape, |z| {
                each(z, n * n, |b, z| {
                    linalg::inverse_transposed(z, part(&f.packed, b, n * n), part(&f.perms, b, n), n)
                })
            })?);
        }
        Ok(y)
    }))
}

pub(crate) fn qr(f: &Qr, used: UsedResults, dtype: DType) -> Kernel {
    let (complete, orthogonal) = (f.complete, used.has(0));
    for_field!(dtype, T => one(move |x| {
        let (lead, m, n) = split(&x);
        let (all, k) = (count(&lead), if complete { m } else { m.min(n) });
        let x = dense::<T>(x)?;
        let columns = if orthogonal { k } else { 0 };
        if let Some(a) = real::<T>(&x).filter(|_| lanes::fits(m, n)) {
            let (mut q, mut r) = (zeroed::<f64>(all * m * columns)?, zeroed::<f64>(all * k * n)?);
            lanes::qr(Isa::chosen(), orthogonal.then_some(&mut q[..]), &mut r, a, m, n, k).map_err(limit)?;
            let (q, r) = (Tensor::from_vec(ending(&lead, &[m, columns]), q), Tensor::from_vec(ending(&lead, &[k, n]), r));
            return Ok(smallvec![q, r]);
        }
        let (mut q, mut r) = (zeroed::<T>(all * m * columns)?, zeroed::<T>(all * k * n)?);
        for b in 0..all {
            let q = orthogonal.then(|| part_mut(&mut q, b, m * k));
            linalg::qr(q, part_mut(&mut r, b, k * n), part(slice::<T>(&x), b, m * n), m, n, k).map_err(limit)?;
        }
        Ok(smallvec![Tensor::from_vec(ending(&lead, &[m, columns]), q), Tensor::from_vec(ending(&lead, &[k, n]), r)])
    }))
}

/// Maximum rows of a single matrix for which vectorised Jacobi rotations are as fast as tridiagonal
/// reduction. It decides the bits of eigenvalues.
const MAX_SINGLE_MATRIX_ROWS: usize = 4;
/// Number of matrices from which one matrix per vector lane is faster, for every number of rows
/// that `lanes` supports. It decides the bits of eigenvalues.
const MIN_LANE_MATRICES: usize = 4;

pub(crate) fn eigh(f: &Eigh, dtype: DType) -> Kernel {
    let vectors = f.vectors;
    for_field!(dtype, T => one(move |x| {
        let (lead, n, _) = split(&x);
        let all = count(&lead);
        let x = dense::<T>(x)?;
        let size = if vectors { n * n } else { 0 };
        if let Some(a) = real::<T>(&x).filter(|_| lanes::fits(n, n) && (n <= MAX_SINGLE_MATRIX_ROWS || all >= MIN_LANE_MATRICES)) {
            let (mut w, mut v) = (zeroed::<f64>(all * n)?, zeroed::<f64>(all * size)?);
            lanes::eigh(Isa::chosen(), &mut w, vectors.then_some(&mut v[..]), a, n, ANCHOR).map_err(limit)?;
            let mut y: Results = smallvec![Tensor::from_vec(ending(&lead, &[n]), w)];
            if vectors {
                y.push(Tensor::from_vec(ending(&lead, &[n, n]), v));
            }
            return Ok(y);
        }
        let (mut w, mut v) = (zeroed::<f64>(all * n)?, zeroed::<T>(all * size)?);
        each_of([all, spectral(n, n)], (&mut w[..], &mut v[..], &mut [(); 0]), [n, size, 0], |b, w, v, _| {
            linalg::eigh(w, vectors.then_some(v), part(slice::<T>(&x), b, n * n), n, ANCHOR)
        })?;
        let mut y: Results = smallvec![Tensor::from_vec(ending(&lead, &[n]), w)];
        if vectors {
            y.push(Tensor::from_vec(ending(&lead, &[n, n]), v));
        }
        Ok(y)
    }))
}

pub(crate) fn svd(f: &Svd, dtype: DType) -> Kernel {
    let Svd { vectors, full } = *f;
    for_field!(dtype, T => one(move |x| {
        let (lead, m, n) = split(&x);
        let (all, k) = (count(&lead), m.min(n));
        let (p, q) = if full { (m, n) } else { (k, k) };
        let x = dense::<T>(x)?;
        let [left, right] = if vectors { [m * p, q * n] } else { [0; 2] };
        let (mut s, mut u, mut v) = (zeroed::<f64>(all * k)?, zeroed::<T>(all * left)?, zeroed::<T>(all * right)?);
        let slices = (&mut s[..], &mut u[..], &mut v[..]);
        each_of([all, spectral(m, n)], slices, [k, left, right], |b, s, u, v| {
            let a = part(slice::<T>(&x), b, m * n);
            linalg::svd(s, vectors.then_some((u, v)), a, Shape { m, n, p, q }, ANCHOR)
        })?;
        let s = Tensor::from_vec(ending(&lead, &[k]), s);
        if !vectors {
            return Ok(smallvec![s]);
        }
        let (u, v) = (Tensor::from_vec(ending(&lead, &[m, p]), u), Tensor::from_vec(ending(&lead, &[q, n]), v));
        Ok(Results::from_vec(vec![u, s, v]))
    }))
}

pub(crate) fn eig(f: &Eig, dtype: DType) -> Kernel {
    let vectors = f.vectors;
    for_field!(dtype, T => one(move |x| {
        let (lead, n, _) = split(&x);
        let all = count(&lead);
        let x = dense::<T>(x)?;
        let size = if vectors { n * n } else { 0 };
        let (mut w, mut v) = (zeroed::<C128>(all * n)?, zeroed::<C128>(all * size)?);
        each_of([all, spectral(n, n)], (&mut w[..], &mut v[..], &mut [(); 0]), [n, size, 0], |b, w, v, _| {
            let (v, a) = (vectors.then_some(v), part(slice::<T>(&x), b, n * n));
            linalg::eig(w, v, a, n, ANCHOR, |w| eig_order(w, dtype.epsilon()))
        })?;
        let mut y: Results = smallvec![Tensor::from_vec(ending(&lead, &[n]), w)];
        if vectors {
            y.push(Tensor::from_vec(ending(&lead, &[n, n]), v));
        }
        Ok(y)
    }))
}

/// Builds a kernel of one operand and several results.
fn one(f: impl Fn(Tensor) -> Result<Results> + Send + Sync + 'static) -> Kernel {
    Box::new(move |_, x: Operands| {
        f(x.into_iter()
            .next()
            .expect("the type rule requires an operand"))
    })
}
